//! A cache of what checks about one system have shown, for later checks about it.
//!
//! Thousands of claims (dead transitions, sinkholes, relations) often share one invariant, or
//! invariants that agree at most nodes, and their runs are often prefixes of each other. So the
//! cache has:
//!
//! - formulas without a solution ([`Known::refuted`]);
//! - transitions that lead from `I` to `J`, whatever the formulas of other nodes
//!   ([`Known::kept`]);
//! - the states of replayed runs, for runs with a common prefix ([`Known::runs`]).
//!
//! Invariants: all terms are in one pool, which is kept with the cache; the cache belongs to one
//! system, which the checker compares by address; only this crate adds to it, after it has checked
//! the fact.

use std::sync::Arc;
use std::time::Duration;

use gander_smt::{Session, Solver};
use gander_system::{NodeFormulas, Run, StartId, State, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::basis::{Basis, Ground, Support};
use crate::discharge::Model;
use crate::discharge::refutations::SharedTerms;
use crate::formula::eliminate::Eliminated;
use crate::formula::relation::Relation;

/// The number of formula lists that are kept.
const MAX_LISTS: usize = 64;

/// The number of replayed runs that are kept.
const MAX_RUNS: usize = 16;

/// The cache is dropped when the pool has this many terms beyond those of the system.
const MAX_TERMS: usize = 20_000_000;

/// The total work of linear proofs about one system: some milliseconds.
const LINEAR_WORK: u64 = 400_000;

/// The total work of clause learning about one system: up to a tenth of a second. Systems that need
/// more need a solver anyway.
const CLAUSAL_WORK: u64 = 8_000_000;

/// See the module's documentation.
pub(crate) struct Known {
    /// Formulas without a solution, and what that rests on.
    pub refuted: FxHashMap<TermId, Support>,
    /// Formulas that were tried in this process and not refuted, with a model if one was found.
    pub in_process: FxHashMap<TermId, Option<Model>>,
    /// The terms of the shared refutations.
    pub shared_terms: SharedTerms,
    /// The work left for linear proofs, and for clause learning.
    pub linear_work: u64,
    pub clausal_work: u64,
    /// Quantified formulas, and their equivalents without quantifiers.
    pub eliminated: Eliminated,
    /// Transitions that lead from every state of the first formula to a state of the second.
    pub kept: FxHashMap<(TransitionId, TermId, TermId), Support>,
    /// Starts whose states satisfy the formula.
    pub starts_within: FxHashMap<(StartId, TermId), Support>,
    /// Inductive invariants, one formula per node.
    inductive: FxHashMap<Arc<[TermId]>, Support>,
    /// The one of them that was looked up last.
    last_inductive: Option<(Arc<[TermId]>, Support)>,
    /// Terms of evidence that were found to be over state variables only.
    pub fit: FxHashSet<TermId>,
    /// The state variables.
    pub variables: FxHashSet<SymbolId>,
    pub relations: FxHashMap<TransitionId, Arc<Relation>>,
    /// Formulas of evidence, and their terms in the pool.
    pub lists: Vec<(NodeFormulas, Arc<[TermId]>)>,
    pub runs: Vec<Replayed>,
    /// Sessions that have the terms of the pool, with no scope open.
    pub sessions: Vec<Session>,
    /// The same with second solvers.
    pub second_sessions: Vec<Session>,
    /// Solvers that timed out where another one answered.
    pub timed_out: Vec<Solver>,
    /// The names of the solvers that any [`Support`] rests on; it refers to them by position.
    pub solver_names: Vec<Arc<str>>,
    /// Why an obligation rests on one solver only.
    pub why_one: Option<String>,
    /// The time that second solvers took.
    pub second_time: Duration,
}

/// A replayed run without repetitions.
pub(crate) struct Replayed {
    run: Run,
    /// The first state, and the state after each step.
    states: Vec<State>,
}

impl Replayed {
    /// True if one of the runs is a prefix of the other.
    fn shares_prefix(&self, run: &Run) -> bool {
        self.run.legs.is_of_same_run(&run.legs)
            && self.run.start == run.start
            && self.run.first == run.first
    }
}

impl Known {
    /// An empty cache.
    pub(crate) fn new(system: &System) -> Known {
        Known {
            refuted: FxHashMap::default(),
            in_process: FxHashMap::default(),
            shared_terms: SharedTerms::default(),
            linear_work: LINEAR_WORK,
            clausal_work: CLAUSAL_WORK,
            eliminated: Eliminated::default(),
            kept: FxHashMap::default(),
            starts_within: FxHashMap::default(),
            inductive: FxHashMap::default(),
            last_inductive: None,
            fit: FxHashSet::default(),
            variables: system.vars().iter().map(|v| v.current).collect(),
            relations: FxHashMap::default(),
            lists: Vec::new(),
            runs: Vec::new(),
            sessions: Vec::new(),
            second_sessions: Vec::new(),
            timed_out: Vec::new(),
            solver_names: Vec::new(),
            why_one: None,
            second_time: Duration::ZERO,
        }
    }

    /// True if the pool has become too large to be kept.
    pub(crate) fn is_too_large(system: &System, pool: &Pool) -> bool {
        pool.len().saturating_sub(system.pool().len()) > MAX_TERMS
    }

    /// The support of an inductive invariant, if it is known to be one.
    pub(crate) fn is_inductive(&mut self, by_node: &Arc<[TermId]>) -> Option<Support> {
        if let Some((last, support)) = &self.last_inductive
            && Arc::ptr_eq(last, by_node)
        {
            return Some(*support);
        }
        let support = *self.inductive.get(by_node)?;
        self.last_inductive = Some((Arc::clone(by_node), support));
        Some(support)
    }

    /// Records an inductive invariant.
    pub(crate) fn keep_inductive(&mut self, by_node: &Arc<[TermId]>, support: Support) {
        if self.inductive.len() == MAX_LISTS {
            self.inductive.clear();
        }
        self.inductive.insert(Arc::clone(by_node), support);
        self.last_inductive = Some((Arc::clone(by_node), support));
    }

    /// The support by these solvers.
    pub(crate) fn support_by(&mut self, ground: Ground, solvers: &[&Solver]) -> Support {
        let mut bits = 0;
        for solver in solvers {
            bits |= 1 << self.position(&solver.name).min(15);
        }
        Support { ground, solvers: bits }
    }

    /// The support that a basis describes.
    pub(crate) fn support_of(&mut self, basis: &Basis) -> Support {
        let mut solvers = 0;
        for name in &basis.solvers {
            solvers |= 1 << self.position(&Arc::from(name.as_str())).min(15);
        }
        Support { ground: basis.ground, solvers }
    }

    /// The position of a solver in the list of names; added if it is new.
    pub(crate) fn position(&mut self, name: &Arc<str>) -> usize {
        self.solver_names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.solver_names.push(Arc::clone(name));
            self.solver_names.len() - 1
        })
    }

    /// The public form of a support.
    pub(crate) fn basis(&self, support: Support) -> Basis {
        let named = |(i, name): (usize, &Arc<str>)| {
            (support.solvers >> i.min(15) & 1 == 1).then(|| name.to_string())
        };
        let mut solvers: Vec<String> =
            self.solver_names.iter().enumerate().filter_map(named).collect();
        solvers.sort();
        let why_one = self.why_one.clone().filter(|_| support.ground == Ground::OneSolver);
        Basis { ground: support.ground, solvers, why_one }
    }

    /// The terms in the pool of formulas of evidence, if these were imported before.
    pub(crate) fn list(&self, formulas: &NodeFormulas) -> Option<Arc<[TermId]>> {
        self.lists
            .iter()
            .rev()
            .find(|(f, _)| f.is_copy_of(formulas))
            .map(|(_, list)| Arc::clone(list))
    }

    /// Records the terms in the pool of formulas of evidence.
    pub(crate) fn keep_list(&mut self, formulas: &NodeFormulas, list: &Arc<[TermId]>) {
        if self.lists.len() == MAX_LISTS {
            self.lists.remove(0);
        }
        self.lists.push((formulas.clone(), Arc::clone(list)));
    }

    /// The last state of a run that is a prefix of a replayed one.
    pub(crate) fn end_of(&self, run: &Run) -> Option<&State> {
        self.runs
            .iter()
            .rev()
            .find(|r| r.shares_prefix(run))
            .and_then(|r| r.states.get(run.legs.len()))
    }

    /// Takes the states of a replayed prefix of the run out of the cache.
    pub(crate) fn take_run(&mut self, run: &Run) -> Option<Vec<State>> {
        let at = self.runs.iter().position(|r| r.shares_prefix(run))?;
        Some(self.runs.remove(at).states)
    }

    /// Records the states of a run without repetitions.
    pub(crate) fn keep_run(&mut self, run: &Run, states: Vec<State>) {
        if self.runs.len() == MAX_RUNS {
            self.runs.remove(0);
        }
        self.runs.push(Replayed { run: run.clone(), states });
    }
}
