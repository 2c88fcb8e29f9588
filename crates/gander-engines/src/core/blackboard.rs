//! The blackboard: facts that engines share.
//!
//! A fact is about the reduced system and portable: its formulas live in a fork of the system's
//! pool that belongs to the fact alone, and a reader imports them into its own fork. Facts are
//! never removed; a reader keeps a cursor and asks for new ones.
//!
//! Facts are not certified, and soundness does not depend on them: an engine that uses a fact
//! includes it in its evidence, which is checked as a whole. A wrong fact can only lead to a
//! rejected answer.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use gander_runtime::lock;
use gander_system::{ClaimId, NodeFormulas, State, System};
use gander_term::{Importer, NameClash, Pool, TermId};

use super::limits::LIMITS;

/// A fact that one engine found.
#[derive(Clone, Debug)]
pub enum Fact {
    /// Formulas that hold in every reachable state, with the argument that shows it.
    Invariant(ProvedInvariant),
    /// A state that some run visits.
    Reachable(State),
}

/// A formula per node that was shown by `k`-induction (`k == 1`: inductive).
#[derive(Clone, Debug)]
pub struct ProvedInvariant {
    /// The formulas.
    pub formulas: NodeFormulas,
    /// The depth of the induction.
    pub k: u32,
    /// The step case assumed pairwise distinct states.
    pub loop_free: bool,
    /// The step case assumed that only the first state may be a start state.
    pub no_restart: bool,
    /// The engine that found it.
    pub engine: String,
}

/// The position of a reader.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor(usize);

/// See the module's documentation.
#[derive(Debug)]
pub struct Blackboard {
    facts: Mutex<Vec<Arc<Fact>>>,
    /// Number of [`Fact::Reachable`]. They only guide searches, so few are kept.
    states: AtomicU32,
    /// Per claim: one more than the number of steps within which nothing decides it; 0 if nothing
    /// is known.
    bounds: Vec<AtomicU32>,
    /// Per claim: some run decides it.
    runs: Vec<AtomicBool>,
}

impl Blackboard {
    /// An empty blackboard for a system.
    pub fn new(system: &System) -> Blackboard {
        Blackboard {
            facts: Mutex::default(),
            states: AtomicU32::new(0),
            bounds: system.claims().iter().map(|_| AtomicU32::new(0)).collect(),
            runs: system.claims().iter().map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Adds a fact.
    pub fn publish(&self, fact: Fact) {
        if matches!(fact, Fact::Reachable(_))
            && self.states.fetch_add(1, Ordering::Relaxed) as usize >= LIMITS.states_kept
        {
            return;
        }
        lock(&self.facts).push(Arc::new(fact));
    }

    /// The facts after the cursor, which moves to the end.
    pub fn facts_since(&self, cursor: &mut Cursor) -> Vec<Arc<Fact>> {
        let facts = lock(&self.facts);
        let new_facts = facts[cursor.0.min(facts.len())..].to_vec();
        cursor.0 = facts.len();
        new_facts
    }

    /// Records that some run decides the claim; a shorter one may exist.
    pub fn found_run(&self, claim: ClaimId) {
        if let Some(found) = self.runs.get(claim.index()) {
            found.store(true, Ordering::SeqCst);
        }
    }

    /// True if some run decides the claim.
    pub fn has_run(&self, claim: ClaimId) -> bool {
        self.runs.get(claim.index()).is_some_and(|r| r.load(Ordering::SeqCst))
    }

    /// No run of at most `depth` steps decides the claim.
    pub fn raise_bound(&self, claim: ClaimId, depth: u32) {
        if let Some(bound) = self.bounds.get(claim.index()) {
            bound.fetch_max(depth.saturating_add(1), Ordering::SeqCst);
        }
    }

    /// The greatest number of steps for which it is known that no run of at most that many decides
    /// the claim.
    pub fn bound(&self, claim: ClaimId) -> Option<u32> {
        self.bounds.get(claim.index()).and_then(|b| b.load(Ordering::SeqCst).checked_sub(1))
    }
}

/// Copies an engine's formulas, one per node, into a pool that the fact owns.
pub fn portable(
    system: &System,
    pool: &Pool,
    by_node: &[TermId],
) -> Result<NodeFormulas, NameClash> {
    let mut own = Pool::fork(system.pool());
    let mut importer = Importer::new();
    let by_node =
        by_node.iter().map(|&t| importer.import(&mut own, pool, t)).collect::<Result<_, _>>()?;
    Ok(NodeFormulas { pool: own.freeze(), by_node })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::SystemBuilder;

    fn system() -> System {
        SystemBuilder::new("s", Pool::new(), &[("N", None)]).unwrap().finish()
    }

    #[test]
    fn readers_see_what_is_new_to_them() {
        let system = system();
        let blackboard = Blackboard::new(&system);
        let mut pool = Pool::fork(system.pool());
        let tt = pool.tt();
        let formulas = portable(&system, &pool, &[tt]).unwrap();
        let invariant = ProvedInvariant {
            formulas,
            k: 1,
            loop_free: false,
            no_restart: false,
            engine: "test".into(),
        };
        let (mut early, mut late) = (Cursor::default(), Cursor::default());
        assert!(blackboard.facts_since(&mut early).is_empty());
        blackboard.publish(Fact::Invariant(invariant));
        assert_eq!(blackboard.facts_since(&mut early).len(), 1);
        assert!(blackboard.facts_since(&mut early).is_empty());
        assert_eq!(blackboard.facts_since(&mut late).len(), 1);
    }

    #[test]
    fn published_states_are_limited() {
        let system = system();
        let blackboard = Blackboard::new(&system);
        for _ in 0..2 * LIMITS.states_kept {
            blackboard.publish(Fact::Reachable(State { node: 0.into(), values: Vec::new() }));
        }
        assert_eq!(blackboard.facts_since(&mut Cursor::default()).len(), LIMITS.states_kept);
    }
}
