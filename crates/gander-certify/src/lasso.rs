//! Runs that go on for ever: around a loop, or within a set of states.
//!
//! What an infinite run must be like, for each claim and direction, is derived here from docs/semantics.md, section 3, and
//! nowhere else: the passes that engines use are not asked.

use std::collections::HashSet;

use gander_system::{Choices, NodeId};
use gander_system::{ClaimKind, FairnessId, FairnessKind, NodeFormulas, Run, State, StateTerm, TransitionId};
use gander_term::Value;

use crate::case::Case;
use crate::choices::{Aim, check_choices};
use crate::ends::Formula;
use crate::formula::{Compiled, Situation};
use crate::invariant::bring;
use crate::rejection::{Rejection, undecided, wrong};
use crate::relation::{Relation, admissible, can_step};
use crate::replay::{Watch, replay};
use crate::{Direction, eliminate, unfit};

/// More states of a loop are not looked at for fairness.
const MOST_STATES: usize = 1 << 20;

/// When a run has to keep a formula.
enum Keeps {
    /// In all of its states.
    Throughout,
    /// In all states of the part that is repeated.
    AtLast,
    /// From some state with this formula on.
    Since(StateTerm),
}

/// What an infinite run must be like to decide a claim.
struct Wanted<'k> {
    /// A formula, and the truth value that it has where the run keeps it.
    formula: Option<(StateTerm, bool)>,
    keeps: Keeps,
    under: &'k [FairnessId],
}

impl<'k> Wanted<'k> {
    fn of(kind: &'k ClaimKind, direction: Direction) -> Option<Wanted<'k>> {
        let (formula, keeps, under) = match (kind, direction) {
            (ClaimKind::InfiniteRun, Direction::Holds) => (None, Keeps::Throughout, &[][..]),
            (ClaimKind::ExistsAlways(p), Direction::Holds) => (Some((*p, true)), Keeps::Throughout, &[][..]),
            (ClaimKind::Eventually { goal, under }, Direction::Fails) => {
                (Some((*goal, false)), Keeps::Throughout, &under[..])
            }
            (ClaimKind::AlwaysEventually { goal, under }, Direction::Fails) => {
                (Some((*goal, false)), Keeps::AtLast, &under[..])
            }
            (ClaimKind::LeadsTo { from, to, under }, Direction::Fails) => {
                (Some((*to, false)), Keeps::Since(*from), &under[..])
            }
            _ => return None,
        };
        Some(Wanted { formula, keeps, under })
    }
}

/// Watches a run whose states from number `back_to` on are repeated.
struct Loop {
    formula: Option<(Formula, bool)>,
    trigger: Option<Formula>,
    back_to: u64,
    position: u64,
    /// The number of the last state that does not keep the formula.
    broken: Option<u64>,
    /// Some state since then had the trigger.
    triggered: bool,
    home: Option<State>,
    /// States and transitions of the part that is repeated.
    states: HashSet<State>,
    taken: HashSet<TransitionId>,
    keep_states: bool,
}

impl Loop {
    fn new(case: &Case<'_>, wanted: &Wanted<'_>, back_to: u64) -> Result<Loop, Rejection> {
        let formula = match wanted.formula {
            Some((f, truth)) => Some((Formula::of(case, f)?, truth)),
            None => None,
        };
        let trigger = match wanted.keeps {
            Keeps::Since(f) => Some(Formula::of(case, f)?),
            Keeps::Throughout | Keeps::AtLast => None,
        };
        Ok(Loop {
            formula,
            trigger,
            back_to,
            position: 0,
            broken: None,
            triggered: false,
            home: None,
            states: HashSet::new(),
            taken: HashSet::new(),
            keep_states: !wanted.under.is_empty(),
        })
    }

    /// The run keeps what it has to.
    fn expect_kept(&self, keeps: &Keeps) -> Result<(), Rejection> {
        let kept = match keeps {
            Keeps::Throughout => self.broken.is_none(),
            Keeps::AtLast => self.broken.is_none_or(|b| b < self.back_to),
            Keeps::Since(_) => self.broken.is_none_or(|b| b < self.back_to) && self.triggered,
        };
        if kept { Ok(()) } else { Err(wrong("the run does not stay where it would have to")) }
    }
}

impl Watch for Loop {
    fn state(&mut self, case: &mut Case<'_>, state: &State) -> Result<(), Rejection> {
        let kept = match &mut self.formula {
            Some((f, truth)) => f.holds(case, state)? == *truth,
            None => true,
        };
        if !kept {
            self.broken = Some(self.position);
            self.triggered = false;
        } else if let Some(trigger) = &mut self.trigger {
            self.triggered |= trigger.holds(case, state)?;
        }
        if self.position == self.back_to {
            self.home = Some(state.clone());
        }
        if self.position >= self.back_to && self.keep_states {
            if self.states.len() >= MOST_STATES {
                return Err(undecided("the loop has too many states to look at"));
            }
            self.states.insert(state.clone());
        }
        self.position += 1;
        Ok(())
    }

    fn step(&mut self, _: &mut Case<'_>, _: &State, t: TransitionId, _: &[Value]) -> Result<(), Rejection> {
        // The position is that of the state behind the step.
        if self.position > self.back_to {
            self.taken.insert(t);
        }
        Ok(())
    }
}

/// Checks that a run around a loop decides a claim.
pub(crate) fn check_lasso(
    case: &mut Case<'_>,
    kind: &ClaimKind,
    direction: Direction,
    run: &Run,
    back_to: u64,
) -> Result<(), Rejection> {
    let Some(wanted) = Wanted::of(kind, direction) else { return Err(unfit("a lasso", kind, direction)) };
    let mut watch = Loop::new(case, &wanted, back_to)?;
    let end = replay(case, run, &mut watch)?;
    // The last state has number `position - 1`.
    if watch.position.saturating_sub(1) <= back_to {
        return Err(wrong("the loop has no step"));
    }
    if watch.home.as_ref() != Some(&end) {
        return Err(wrong("the last state of the run is not the one that it is said to come back to"));
    }
    watch.expect_kept(&wanted.keeps)?;
    for f in wanted.under {
        expect_fair(case, &watch, *f)?;
    }
    Ok(())
}

fn expect_fair(case: &mut Case<'_>, watch: &Loop, f: FairnessId) -> Result<(), Rejection> {
    let Some(fairness) = case.system.fairness.get(f.index()) else {
        return Err(wrong("the claim refers to a fairness constraint that the system has not got"));
    };
    let fair = match &fairness.kind {
        FairnessKind::Justice(p) => {
            let mut formula = Compiled::new(case, &[], &[p.term()])?;
            let mut met = false;
            for state in &watch.states {
                met = met || formula.all_true(case, Situation::of(state))?;
            }
            met
        }
        FairnessKind::Weak(set) => {
            let mut met = set.iter().any(|t| watch.taken.contains(t));
            for state in &watch.states {
                met = met || !some_can_step(case, state, set)?;
            }
            met
        }
        FairnessKind::Strong(set) => {
            let mut met = true;
            if !set.iter().any(|t| watch.taken.contains(t)) {
                for state in &watch.states {
                    met = met && !some_can_step(case, state, set)?;
                }
            }
            met
        }
    };
    if fair { Ok(()) } else { Err(wrong(format!("the loop is not fair to `{}`", fairness.name))) }
}

fn some_can_step(case: &mut Case<'_>, state: &State, set: &[TransitionId]) -> Result<bool, Rejection> {
    for &t in set {
        if case.system.transition(t).source == state.node && can_step(case, state, t)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks that a run into a set of states, and choices by which another run stays there, decide a claim.
pub(crate) fn check_recurrent(
    case: &mut Case<'_>,
    kind: &ClaimKind,
    direction: Direction,
    run: &Run,
    set: &NodeFormulas,
    choices: &Choices,
) -> Result<(), Rejection> {
    let Some(wanted) = Wanted::of(kind, direction) else { return Err(unfit("a recurrent set", kind, direction)) };
    let mut watch = Loop::new(case, &wanted, run.length())?;
    let end = replay(case, run, &mut watch)?;
    watch.expect_kept(&wanted.keeps)?;
    let set = bring(case, set)?;
    let mut here = Compiled::new(case, &[], &[set[end.node.index()]])?;
    if !here.all_true(case, Situation::of(&end))? {
        return Err(wrong("the run does not end in the set"));
    }
    let mut obligations = Vec::new();
    if let Some((formula, truth)) = wanted.formula {
        for n in case.system.node_ids() {
            let formula = case.system.at_node(&mut case.pool, formula, n);
            let broken = if truth { case.pool.not(formula) } else { formula };
            let inside = within(case, &set, n);
            let outside = case.pool.and([inside, broken]);
            let node = &case.system.node(n).name;
            obligations.push((outside, format!("the set has states at node `{node}` where the run must not be")));
        }
    }
    case.refute_all(&obligations)?;
    check_choices(case, choices, &Aim::Stay(&set))?;
    for f in wanted.under {
        expect_always_fair(case, &set, choices, *f)?;
    }
    Ok(())
}

fn within(case: &mut Case<'_>, set: &[gander_term::TermId], n: NodeId) -> gander_term::TermId {
    let assumptions = admissible(case, n);
    case.pool.and([assumptions, set[n.index()]])
}

/// Whatever a run does that stays in the set by these choices, it is fair.
fn expect_always_fair(
    case: &mut Case<'_>,
    set: &[gander_term::TermId],
    choices: &Choices,
    f: FairnessId,
) -> Result<(), Rejection> {
    let system = case.system;
    let Some(fairness) = system.fairness.get(f.index()) else {
        return Err(wrong("the claim refers to a fairness constraint that the system has not got"));
    };
    let unfair = format!("a run that stays in the set need not be fair to `{}`", fairness.name);
    let mut obligations = Vec::new();
    match &fairness.kind {
        FairnessKind::Justice(p) => {
            for n in system.node_ids() {
                let p = system.at_node(&mut case.pool, *p, n);
                let broken = case.pool.not(p);
                let inside = within(case, set, n);
                obligations.push((case.pool.and([inside, broken]), unfair.clone()));
            }
        }
        FairnessKind::Weak(list) | FairnessKind::Strong(list) => {
            if choices.list.iter().all(|c| list.contains(&c.transition)) {
                return Ok(());
            }
            for &t in list {
                let relation = Relation::new(case, t);
                let symbols = relation.choices();
                let possible = eliminate::exists(&mut case.pool, &symbols, relation.formula);
                let inside = within(case, set, system.transition(t).source);
                obligations.push((case.pool.and([inside, possible]), unfair.clone()));
            }
        }
    }
    case.refute_all(&obligations)
}
