//! The unrolling of the system with learned loops, and the queries to it.
//!
//! There are two kinds of queries: for a run of a given depth that meets a target, and for a tidy
//! path of a given depth. A path is tidy if it takes no loop twice in succession and no sequence of
//! steps that is one round of a loop. These are the blocking clauses of Frohn and Giesl, which
//! direct the search to new behaviour. A tidy path may be required to end with a step unlike all
//! recorded ones.

mod shorten;

use std::sync::Arc;

use gander_smt::{Answer, Limits, Literal, Reason, Solver};
use gander_system::passes::with_shortcuts;
use gander_system::{ClaimId, TransitionId};
use gander_term::{Importer, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::core::{EngineContext, Purpose};
use crate::encode::encoding::Encoding;
use crate::encode::forward_search::system_features;
use crate::encode::question::{Place, Question, QuestionBuilder, Target};
use crate::encode::unrolling::{Origin, Path, Unrolling};

use super::loops::{LoopLibrary, Part};
use shorten::Query;

/// A recorded step: a transition and the formula of its cube, over the library's symbols.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub transition: usize,
    pub formula: TermId,
}

/// The kind of tidy path to search for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    /// The last step is a transition of the system and unlike all recorded steps.
    Fresh,
    /// Any tidy path.
    Any,
}

/// See the module's documentation.
pub(super) struct Front {
    encoding: Encoding,
    questions: Vec<Question>,
    targets: Vec<Target>,
    owners: Vec<usize>,
    unrolling: Unrolling,
    prepared: FxHashSet<u32>,
    tidy: Literal,
    /// Formulas of untidy steps, and the number of steps at which they are excluded.
    untidy: Vec<TermId>,
    tidied: u32,
    /// The formulas of recorded steps that are translated already.
    seen: Vec<TermId>,
    /// For each loop, the parameters that count rounds; its own is the first.
    counts: Vec<Vec<SymbolId>>,
    /// For each loop, the steps of a round; `None` if it contains a loop.
    round: Vec<Option<u64>>,
    first_loop: usize,
}

/// The claims and the solver to use.
pub(super) struct Setting<'s> {
    pub context: &'s EngineContext,
    pub claims: &'s [ClaimId],
    /// The number of solvers that have failed.
    pub failed: usize,
}

impl Front {
    /// Unrolls the library's system with its loops. `claims` are claims of that system.
    pub(super) fn new(library: &mut LoopLibrary, setting: &Setting<'_>) -> Result<Front, Reason> {
        let broken = |e: &dyn std::fmt::Display| {
            Reason::Incomplete(format!("a loop could not be added: {e}"))
        };
        let system = if library.learned.is_empty() {
            Arc::clone(&library.system)
        } else {
            let made = with_shortcuts(&library.system, &library.pool, library.shortcuts());
            Arc::new(made.map_err(|e| broken(&e))?)
        };
        let mut encoding = Encoding::new(&system);
        let mut question_builder = QuestionBuilder::without_shortcuts(library.transition_count());
        let mut questions = Vec::new();
        for &claim in setting.claims {
            let question = question_builder.question(&mut encoding, claim);
            questions
                .push(question.ok_or_else(|| Reason::Incomplete("not a claim about runs".into()))?);
        }
        let (mut targets, mut owners) = (Vec::new(), Vec::new());
        for (i, q) in questions.iter().enumerate() {
            targets.extend_from_slice(&q.targets);
            owners.resize(targets.len(), i);
        }
        let formulas: Vec<TermId> = targets.iter().map(|t| t.formula).collect();
        let features = system_features(&mut encoding).join(encoding.pool.features(&formulas));
        let solvers: Vec<Solver> =
            setting.context.config().solvers.candidates(features).into_iter().cloned().collect();
        let Some(solver) = solvers.get(setting.failed) else {
            return Err(Reason::NotStarted("no further solver for this was found".into()));
        };
        let purpose = Purpose { part: "runs", claims: setting.claims.to_vec() };
        let session = setting.context.session(solver, &purpose);
        let mut unrolling = Unrolling::new(&mut encoding, session, Origin::Starts);
        let tidy = unrolling.session.literal();
        let mut front = Front {
            encoding,
            questions,
            targets,
            owners,
            unrolling,
            prepared: FxHashSet::default(),
            tidy,
            untidy: Vec::new(),
            tidied: 0,
            seen: Vec::new(),
            counts: Vec::new(),
            round: Vec::new(),
            first_loop: library.transition_count(),
        };
        front.prepare(library).map_err(|e| broken(&e))?;
        Ok(front)
    }

    /// The question of the claim at this position.
    pub(super) fn question(&self, at: usize) -> &Question {
        &self.questions[at]
    }

    /// Prepares the formulas of untidy steps and the counters.
    fn prepare(&mut self, library: &mut LoopLibrary) -> Result<(), gander_term::NameClash> {
        for l in 0..library.learned.len() {
            let id = TransitionId::from(self.first_loop + l);
            let now = self.encoding.take_symbol(id);
            let next = self.encoding.later(now, 1);
            let pool = &mut self.encoding.pool;
            let (now, next) = (pool.var(now), pool.var(next));
            self.untidy.push(pool.and([now, next]));
            let learned = library.learned[l].clone();
            let once = self.placed(library, learned.once, &learned.parts)?;
            self.untidy.push(once);
            let params = self.encoding.params(id);
            self.round.push(library.steps_in_round(l));
            let positions = library.count_positions(l);
            self.counts
                .push(positions.into_iter().filter_map(|p| params.get(p).copied()).collect());
        }
        Ok(())
    }

    /// The formula "these functional steps are taken in succession, and `formula` holds at the
    /// first".
    fn placed(
        &mut self,
        library: &mut LoopLibrary,
        formula: TermId,
        parts: &[Part],
    ) -> Result<TermId, gander_term::NameClash> {
        let mut importer = Importer::new();
        let formula = importer.import(&mut self.encoding.pool, &library.pool, formula)?;
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut takes = Vec::new();
        for (k, part) in parts.iter().enumerate() {
            let k = k as u32;
            let id = TransitionId::from(part.functional_step);
            let functional_step = library.functional_step(part.functional_step);
            let take = self.encoding.take_symbol(id);
            let take = self.encoding.later(take, k);
            takes.push(self.encoding.pool.var(take));
            let shared = self.encoding.params(id);
            let vars = library.system.vars();
            let free = functional_step.free.iter().map(|&v| (vars[v].current, k + 1));
            let places = shared.into_iter().map(|s| (s, k)).chain(free);
            for (&choice, (symbol, distance)) in part.choices.iter().zip(places) {
                let choice = importer.symbol(&mut self.encoding.pool, &library.pool, choice)?;
                let symbol = self.encoding.later(symbol, distance);
                map.insert(choice, self.encoding.pool.var(symbol));
            }
        }
        let formula = self.encoding.pool.substitute(formula, &map);
        Ok(self.encoding.pool.and(takes.into_iter().chain([formula])))
    }

    fn unroll(&mut self, depth: u32) {
        while self.unrolling.length() < depth {
            self.unrolling.extend(&mut self.encoding);
        }
    }

    /// True if the control graph has no path of that many steps.
    pub(super) fn is_beyond(&mut self, depth: u32) -> bool {
        self.unroll(depth);
        self.unrolling.nodes(depth).is_empty()
    }

    /// A run of `depth` steps to a target of an open claim, with the position of the claim. The run
    /// is shortened, possibly with one more step in the unrolling.
    pub(super) fn ask(
        &mut self,
        context: &EngineContext,
        open: &[bool],
        depth: u32,
        limits: Limits,
    ) -> Result<Option<(usize, Path)>, Reason> {
        let Some((query, possible)) = self.query(open, depth) else { return Ok(None) };
        let Some((met, path)) = self.met(&possible, &[query], depth, limits)? else {
            return Ok(None);
        };
        self.shortened(context, Query { possible, query, depth, limits }, (met, path)).map(Some)
    }

    /// A literal for "a target of an open claim is met after `depth` steps", and the targets that
    /// are possible there.
    fn query(&mut self, open: &[bool], depth: u32) -> Option<(Literal, Vec<usize>)> {
        self.unroll(depth);
        let fresh = self.prepared.insert(depth);
        let e = &mut self.encoding;
        let (mut flags, mut possible) = (Vec::new(), Vec::new());
        for (i, target) in self.targets.iter().enumerate() {
            let step = match target.place {
                Place::Anywhere | Place::At(_) => depth,
                Place::Taking(_) if depth > 0 => depth - 1,
                Place::Beginning(_) if depth == 0 => 0,
                _ => continue,
            };
            let nodes = self.unrolling.nodes(step).to_vec();
            let Some(meaning) = target.meaning(e, &nodes) else { continue };
            if fresh {
                self.unrolling.assert_at(e, meaning, step);
            }
            if open[self.owners[i]] {
                flags.push(e.pool.var(target.flag));
                possible.push(i);
            }
        }
        if flags.is_empty() {
            return None;
        }
        let some = e.pool.or(flags);
        let query = self.unrolling.session.literal();
        self.unrolling.assert_if_at(e, query, some, depth);
        Some((query, possible))
    }

    fn met(
        &mut self,
        possible: &[usize],
        assumptions: &[Literal],
        depth: u32,
        limits: Limits,
    ) -> Result<Option<(usize, Path)>, Reason> {
        match self.unrolling.check(assumptions, limits) {
            Answer::Unsat => Ok(None),
            Answer::Unknown(reason) => Err(reason),
            Answer::Sat => {
                let symbols: Vec<SymbolId> =
                    possible.iter().map(|&i| self.targets[i].flag).collect();
                let truths = self.unrolling.truths(&self.encoding, &symbols, depth)?;
                let met = possible.iter().zip(truths).find(|(_, t)| *t).map(|(i, _)| *i);
                let met =
                    met.ok_or_else(|| Reason::Garbage("a model that meets no target".into()))?;
                let path =
                    self.unrolling.path(&mut self.encoding, self.targets[met].place, depth)?;
                Ok(Some((self.owners[met], path)))
            }
        }
    }

    /// A tidy path of `depth` steps.
    pub(super) fn explore(
        &mut self,
        library: &mut LoopLibrary,
        seen: &[Seen],
        depth: u32,
        wanted: Wanted,
        limits: Limits,
    ) -> Result<Option<Path>, Reason> {
        self.unroll(depth);
        while self.tidied < depth {
            for i in 0..self.untidy.len() {
                let not = self.encoding.pool.not(self.untidy[i]);
                self.unrolling.assert_if_at(&self.encoding, self.tidy, not, self.tidied);
            }
            self.tidied += 1;
        }
        let at_some_node = self.unrolling.at_some_node(&mut self.encoding, depth);
        let query = self.unrolling.session.literal();
        self.unrolling.assert_if_at(&self.encoding, query, at_some_node, depth);
        if wanted == Wanted::Fresh {
            let last = depth - 1;
            for s in &seen[self.seen.len().min(seen.len())..] {
                let choices = library.functional_step(s.transition).params;
                let part = Part { functional_step: s.transition, choices };
                let broken = |_| Reason::Incomplete("a step could not be described".into());
                let formula = self.placed(library, s.formula, &[part]).map_err(broken)?;
                self.seen.push(formula);
            }
            for i in 0..self.seen.len() {
                let not = self.encoding.pool.not(self.seen[i]);
                self.unrolling.assert_if_at(&self.encoding, query, not, last);
            }
            for l in 0..self.counts.len() {
                let take = self.encoding.take(TransitionId::from(self.first_loop + l));
                let not = self.encoding.pool.not(take);
                self.unrolling.assert_if_at(&self.encoding, query, not, last);
            }
        }
        match self.unrolling.check(&[self.tidy, query], limits) {
            Answer::Unsat => Ok(None),
            Answer::Unknown(reason) => Err(reason),
            Answer::Sat => {
                self.unrolling.path(&mut self.encoding, Place::Anywhere, depth).map(Some)
            }
        }
    }
}
