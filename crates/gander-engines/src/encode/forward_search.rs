//! Forward search: does a run of exactly `depth` steps meet one of the targets?
//!
//! All depths use one unrolling. If a solver fails, the search continues at the same depth with the
//! next solver that supports the system.

use gander_smt::{Answer, Limits, Reason, Solver};
use gander_term::{Features, TermId};
use rustc_hash::FxHashSet;

use crate::core::{EngineContext, Purpose};
use crate::encode::encoding::Encoding;
use crate::encode::question::{Place, Target};
use crate::encode::unrolling::{Origin, Path, Unrolling};

/// The result of a search at one depth.
#[derive(Debug)]
pub(crate) enum Found {
    /// A run meets the target with this index.
    Met(usize, Path),
    /// No run does.
    Nothing,
    /// No solver could decide it.
    Unknown(Reason),
}

/// See the module's documentation.
pub(crate) struct Search {
    purpose: Purpose,
    features: Features,
    /// Selected when first needed.
    solvers: Option<Vec<Solver>>,
    /// The index of the solver in use, and its unrolling.
    current: usize,
    unrolling: Option<Unrolling>,
    /// Depths at which the meanings of target flags are asserted.
    prepared: FxHashSet<u32>,
}

impl Search {
    /// A search in a system, for targets with these features.
    pub(crate) fn new(features: Features, purpose: Purpose) -> Search {
        Search {
            purpose,
            features,
            solvers: None,
            current: 0,
            unrolling: None,
            prepared: FxHashSet::default(),
        }
    }

    fn solvers(&mut self, context: &EngineContext) -> &[Solver] {
        let features = self.features;
        self.solvers.get_or_insert_with(|| {
            context.config().solvers.candidates(features).into_iter().cloned().collect()
        })
    }

    /// Searches for a run of `depth` steps to one of the targets. `all` are all targets that will
    /// ever be searched for; `now` are the indices of the current ones, sorted.
    pub(crate) fn ask(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        all: &[Target],
        now: &[usize],
        depth: u32,
        limits: Limits,
    ) -> Found {
        let solvers = self.solvers(context).len();
        if solvers == 0 {
            return Found::Unknown(Reason::NotStarted("no solver for this was found".into()));
        }
        let mut tried = 0;
        loop {
            let reason = match self.try_ask(e, context, all, now, depth, limits) {
                Ok(found) => return found,
                Err(reason) => reason,
            };
            // Open a new session next time, whatever the failure.
            self.unrolling = None;
            tried += 1;
            if reason == Reason::Interrupted || context.is_cancelled() || tried >= solvers {
                self.current = 0;
                return Found::Unknown(reason);
            }
            self.current = (self.current + 1) % solvers;
        }
    }

    /// The unrolling, with at least `depth` steps.
    fn unrolled(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        depth: u32,
    ) -> &mut Unrolling {
        let current = self.current;
        if self.unrolling.is_none() {
            let solver = self.solvers(context)[current].clone();
            let session = context.session(&solver, &self.purpose);
            self.unrolling = Some(Unrolling::new(e, session, Origin::Starts));
            self.prepared.clear();
        }
        let unrolling = self.unrolling.as_mut().expect("it was made above");
        while unrolling.length() < depth {
            unrolling.extend(e);
        }
        unrolling
    }

    /// True if the control graph has no path of that many steps.
    pub(crate) fn is_beyond(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        depth: u32,
    ) -> bool {
        !self.solvers(context).is_empty()
            && self.unrolled(e, context, depth).nodes(depth).is_empty()
    }

    fn try_ask(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        all: &[Target],
        now: &[usize],
        depth: u32,
        limits: Limits,
    ) -> Result<Found, Reason> {
        self.unrolled(e, context, depth);
        let fresh = self.prepared.insert(depth);
        let Some(unrolling) = self.unrolling.as_mut() else {
            return Err(Reason::NotStarted("no session".into()));
        };
        let mut flags: Vec<TermId> = Vec::new();
        let mut possible: Vec<usize> = Vec::new();
        for (i, target) in all.iter().enumerate() {
            let asked = now.binary_search(&i).is_ok();
            if !(fresh || asked) {
                continue;
            }
            let Some(step) = asserted_at(target.place, depth) else { continue };
            let nodes = unrolling.nodes(step).to_vec();
            let Some(meaning) = target.meaning(e, &nodes) else { continue };
            if fresh {
                unrolling.assert_at(e, meaning, step);
            }
            if asked {
                flags.push(e.pool.var(target.flag));
                possible.push(i);
            }
        }
        if flags.is_empty() {
            return Ok(Found::Nothing);
        }
        let some = e.pool.or(flags);
        let query = unrolling.session.literal();
        unrolling.assert_if_at(e, query, some, depth);
        match unrolling.check(&[query], limits) {
            Answer::Unsat => Ok(Found::Nothing),
            Answer::Unknown(reason) => Err(reason),
            Answer::Sat => {
                let symbols: Vec<_> = possible.iter().map(|&i| all[i].flag).collect();
                let truths = unrolling.truths(e, &symbols, depth)?;
                let met = possible.iter().zip(truths).find(|(_, t)| *t).map(|(i, _)| *i);
                let Some(met) = met else {
                    return Err(Reason::Garbage("a model that meets no target".into()));
                };
                let path = unrolling.path(e, all[met].place, depth)?;
                Ok(Found::Met(met, path))
            }
        }
    }
}

/// The step at which the meaning of a target's flag is asserted for `depth`; `None` if no run of
/// that length can meet it.
fn asserted_at(place: Place, depth: u32) -> Option<u32> {
    match place {
        Place::Anywhere | Place::At(_) => Some(depth),
        Place::Taking(_) => depth.checked_sub(1),
        Place::Beginning(_) => (depth == 0).then_some(0),
    }
}

/// The features that a solver must support for the system, without targets.
pub(crate) fn system_features(e: &mut Encoding) -> Features {
    let system = std::sync::Arc::clone(&e.system);
    let mut terms: Vec<TermId> = Vec::new();
    for t in system.transition_ids() {
        terms.extend(system.transition(t).guard.iter().map(|g| g.term.term()));
        for part in &system.transition(t).effect {
            match *part {
                gander_system::Effect::Assign { value, .. } => terms.push(value.term()),
                gander_system::Effect::Constrain { relation, .. } => terms.push(relation.term()),
                gander_system::Effect::Keep { .. } => {}
            }
        }
    }
    terms.extend(system.starts().iter().flat_map(|s| s.constraint.iter().map(|c| c.term.term())));
    terms.extend(system.assumptions().iter().map(|a| a.term.term()));
    let mut features = e.pool.features(&terms);
    for v in system.vars() {
        features.see(v.sort);
    }
    features
}
