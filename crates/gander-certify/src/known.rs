//! What checks about one system have established, for later checks about it.
//!
//! Thousands of claims (dead transitions, sinkholes, relations) often come with one invariant, or with invariants that are
//! the same at most nodes, and their runs are beginnings of each other. What was shown once is not asked again:
//!
//! - a formula without solution stays one ([`Known::refuted`]);
//! - a transition that leads from `I` to `J` does so whatever is said of other nodes ([`Known::kept`]);
//! - a run that was replayed need not be replayed as the beginning of a longer one, or a part of it ([`Known::runs`]).
//!
//! Everything is keyed by terms of one pool, which is kept along, and belongs to one system: whoever keeps it sees to it
//! that the system is the same one in memory. Nothing comes in but what this crate has shown itself.

use std::sync::Arc;
use std::time::Duration;

use gander_smt::{Session, Solver};
use gander_system::{NodeFormulas, Run, StartId, State, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::basis::{Basis, Ground, Support};
use crate::case::Model;
use crate::eliminate::Eliminated;
use crate::relation::Relation;

/// Lists of formulas that are kept, and runs.
const MOST_LISTS: usize = 64;
const MOST_RUNS: usize = 16;

/// Terms beyond those of the system after which all is forgotten.
const MOST_TERMS: usize = 20_000_000;

/// The work that goes into formulas that no solver is asked about, all together: some milliseconds for linear ones, and
/// up to a tenth of a second for clause learning. Models with more than that need a solver in any case, and it is quick
/// once it runs.
const LINEAR_WORK: u64 = 400_000;
const CLAUSAL_WORK: u64 = 8_000_000;

/// See the module's documentation.
pub(crate) struct Known {
    /// Formulas that were shown to have no solution, and what shows it.
    pub refuted: FxHashMap<TermId, Support>,
    /// Formulas that were tried without a solver and not refuted, with a solution if one was found, and the work that may
    /// still go into that.
    pub alone: FxHashMap<TermId, Option<Model>>,
    pub linear_work: u64,
    pub clausal_work: u64,
    /// Quantified formulas and what they are without quantifiers.
    pub eliminated: Eliminated,
    /// Transitions that lead from states of the first formula to states of the second only.
    pub kept: FxHashMap<(TransitionId, TermId, TermId), Support>,
    /// Starts whose states satisfy the formula.
    pub begun: FxHashMap<(StartId, TermId), Support>,
    /// Lists, one formula a node, for which all of that was shown.
    inductive: FxHashMap<Arc<[TermId]>, Support>,
    /// The one of them that was asked about last.
    last_inductive: Option<(Arc<[TermId]>, Support)>,
    /// Terms that speak of state variables only.
    pub fit: FxHashSet<TermId>,
    /// The state variables.
    pub variables: FxHashSet<SymbolId>,
    pub relations: FxHashMap<TransitionId, Arc<Relation>>,
    /// Formulas of evidence, and what they are in the pool.
    pub lists: Vec<(NodeFormulas, Arc<[TermId]>)>,
    pub runs: Vec<Replayed>,
    /// Sessions about terms of the pool, with no scope open; and those of second solvers.
    pub sessions: Vec<Session>,
    pub seconds: Vec<Session>,
    /// Solvers that ran out of time where another one had an answer.
    pub late: Vec<Solver>,
    /// The solvers that were asked for any of this; supports name them by their position.
    pub asked: Vec<Arc<str>>,
    /// Why something rests on one solver only.
    pub why_one: Option<String>,
    /// The time that second solvers took.
    pub second_time: Duration,
}

/// A run without repetitions, as far as it was replayed.
pub(crate) struct Replayed {
    run: Run,
    /// The first state, and the state behind each step.
    states: Vec<State>,
}

impl Replayed {
    /// One is the beginning of the other.
    fn is_about(&self, run: &Run) -> bool {
        self.run.legs.is_of_same_run(&run.legs) && self.run.start == run.start && self.run.first == run.first
    }
}

impl Known {
    /// Nothing yet.
    pub(crate) fn of(system: &System) -> Known {
        Known {
            refuted: FxHashMap::default(),
            alone: FxHashMap::default(),
            linear_work: LINEAR_WORK,
            clausal_work: CLAUSAL_WORK,
            eliminated: Eliminated::default(),
            kept: FxHashMap::default(),
            begun: FxHashMap::default(),
            inductive: FxHashMap::default(),
            last_inductive: None,
            fit: FxHashSet::default(),
            variables: system.vars.iter().map(|v| v.current).collect(),
            relations: FxHashMap::default(),
            lists: Vec::new(),
            runs: Vec::new(),
            sessions: Vec::new(),
            seconds: Vec::new(),
            late: Vec::new(),
            asked: Vec::new(),
            why_one: None,
            second_time: Duration::ZERO,
        }
    }

    /// True if so much has come together in the pool that beginning again is better.
    pub(crate) fn is_too_much(system: &System, pool: &Pool) -> bool {
        pool.len().saturating_sub(system.pool.len()) > MOST_TERMS
    }

    /// What shows that starts satisfy the formulas and every transition keeps them, if that was shown.
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

    /// Starts satisfy the formulas and every transition keeps them.
    pub(crate) fn keep_inductive(&mut self, by_node: &Arc<[TermId]>, support: Support) {
        if self.inductive.len() == MOST_LISTS {
            self.inductive.clear();
        }
        self.inductive.insert(Arc::clone(by_node), support);
        self.last_inductive = Some((Arc::clone(by_node), support));
    }

    /// The support by solvers with this ground; they are added to those that were asked.
    pub(crate) fn support_by(&mut self, ground: Ground, solvers: &[&Solver]) -> Support {
        let mut bits = 0;
        for solver in solvers {
            bits |= 1 << self.position(&solver.name).min(15);
        }
        Support { ground, solvers: bits }
    }

    /// The position of a solver among those that were asked.
    pub(crate) fn position(&mut self, name: &Arc<str>) -> usize {
        self.asked.iter().position(|asked| asked == name).unwrap_or_else(|| {
            self.asked.push(Arc::clone(name));
            self.asked.len() - 1
        })
    }

    /// A support for other code to read.
    pub(crate) fn basis(&self, support: Support) -> Basis {
        let named = |(i, name): (usize, &Arc<str>)| (support.solvers >> i.min(15) & 1 == 1).then(|| name.to_string());
        let mut solvers: Vec<String> = self.asked.iter().enumerate().filter_map(named).collect();
        solvers.sort();
        let why_one = self.why_one.clone().filter(|_| support.ground == Ground::OneSolver);
        Basis { ground: support.ground, solvers, why_one }
    }

    /// What formulas of evidence are in the pool, if they were met before.
    pub(crate) fn list(&self, formulas: &NodeFormulas) -> Option<Arc<[TermId]>> {
        self.lists.iter().rev().find(|(f, _)| f.is_copy_of(formulas)).map(|(_, list)| Arc::clone(list))
    }

    /// Keeps what formulas of evidence are in the pool.
    pub(crate) fn keep_list(&mut self, formulas: &NodeFormulas, list: &Arc<[TermId]>) {
        if self.lists.len() == MOST_LISTS {
            self.lists.remove(0);
        }
        self.lists.push((formulas.clone(), Arc::clone(list)));
    }

    /// The state behind a run that is the beginning of one that was replayed.
    pub(crate) fn end_of(&self, run: &Run) -> Option<&State> {
        self.runs.iter().rev().find(|r| r.is_about(run)).and_then(|r| r.states.get(run.legs.len()))
    }

    /// Gives out the states of the beginning of a run, if it was replayed.
    pub(crate) fn take_run(&mut self, run: &Run) -> Option<Vec<State>> {
        let at = self.runs.iter().position(|r| r.is_about(run))?;
        Some(self.runs.remove(at).states)
    }

    /// Keeps the states of a run without repetitions.
    pub(crate) fn keep_run(&mut self, run: &Run, states: Vec<State>) {
        if self.runs.len() == MOST_RUNS {
            self.runs.remove(0);
        }
        self.runs.push(Replayed { run: run.clone(), states });
    }
}
