//! Reduction of liveness claims to safety: the liveness-to-safety systems of a claim.
//!
//! A claim about maximal runs is decided by a run that reaches a certain state and from there on
//! *stays* in states with a formula ([`DecidingRuns`]). The liveness-to-safety system follows such
//! a run of the old system. Its nodes are `n/free` (before the run stays; only if it need not stay
//! from the beginning) and `n/pending` (the run stays). A run enters pending with a start or a step
//! from free, into a state that satisfies the condition of [`DecidingRuns::begin`]. Pending states
//! satisfy the formula: this is an assumption of the new system. Every step of the new system is a
//! step of the old one.
//!
//! Infinite runs must be fair. A step by `t` from a pending state `s` *hits* a constraint
//! - *justice P* if P holds in `s`;
//! - *weak T* if `t` is in T, or no step of T can be completed in `s`;
//! - *strong T* if `t` is in T, or `@never` holds in `s`: a variable per constraint that may become
//!   true at any time and remains true. While it is true, no step of T can be completed: this is an
//!   assumption.
//!
//! A *round* is complete when every constraint has been hit since the round before; without
//! constraints every pending step is a round. Fair infinite runs that stay correspond to runs of
//! the new system with infinitely many rounds. So no run as described by [`DecidingRuns`] exists
//! iff
//! - no pending state is stuck, unless finite runs do not count. [`Aspect::Stuck`] makes this a
//!   claim *no deadlock*, with further nodes `n/answered` that every step from a pending state may
//!   enter; and
//! - no run of the new system has infinitely many rounds. This follows from each of these:
//!   - no run has more than k rounds ([`Aspect::AtMost`]; Claessen and Sörensson, *A liveness
//!     checking algorithm that counts*, 2012); this is sound for all systems;
//!   - a rank decreases with every round ([`Aspect::Rounds`]);
//!   - no pending state is repeated after a round, and there are finitely many
//!     ([`Aspect::Repetition`]; Biere, Artho and Schuppan, *Liveness checking as safety checking*,
//!     2002). A copy of every variable holds a state that one step saves. The claim includes that
//!     ints stay within given bounds. For a variable without bounds a run to a repetition is still
//!     a lasso, but the absence of such runs shows nothing.

mod deciding_runs;
mod monitor;
#[cfg(test)]
mod tests;

use std::fmt;

use gander_term::{IBig, Pool, Sort, TermId, Value};
use rustc_hash::FxHashMap;

use crate::builder::BuildError;
use crate::claim::{ClaimId, ClaimKind, ClaimOrigin};
use crate::evidence::{Leg, Run, State, Step};
use crate::passes::copying::{Copying, ParamSymbols, Placement, rename};
use crate::passes::relocate::Relocation;
use crate::system::{Effect, NodeId, StartId, System, TransitionId};

pub use deciding_runs::{Begin, DecidingRuns, Finding};
use monitor::{Monitor, StepKind};

/// The claim of a liveness-to-safety system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Aspect {
    /// No pending state is stuck.
    Stuck,
    /// No claim: for ranks.
    Rounds,
    /// No run has more than this many rounds.
    AtMost(u32),
    /// No pending state is repeated after a round, and pending states are within bounds: by
    /// variable of the old system, the least and the greatest value of an int, if it has bounds.
    Repetition(Vec<Option<(IBig, IBig)>>),
}

/// Why there is no liveness-to-safety system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LivenessToSafetyError {
    /// The claim is not about maximal runs.
    NotAboutRuns,
    /// Names clash.
    Build(BuildError),
}

impl fmt::Display for LivenessToSafetyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LivenessToSafetyError::NotAboutRuns => {
                write!(f, "only a claim about maximal runs has a liveness-to-safety system")
            }
            LivenessToSafetyError::Build(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for LivenessToSafetyError {}

impl From<BuildError> for LivenessToSafetyError {
    fn from(e: BuildError) -> LivenessToSafetyError {
        LivenessToSafetyError::Build(e)
    }
}

/// The stage of a node of a liveness-to-safety system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Before the run stays.
    Free,
    /// The run stays.
    Pending,
    /// The run has left its pending states.
    Answered,
}

/// A liveness-to-safety system; see the module's documentation.
#[derive(Clone, Debug)]
pub struct LivenessToSafety {
    /// The system. Its only claim, if the aspect has one, is the first.
    pub system: System,
    /// The variable that is true after a step that completes a round; `None` if every pending step
    /// is a round.
    pub round: Option<gander_term::SymbolId>,
    /// By fairness constraint of the claim: the variable that is true if it was hit in this round.
    /// Empty if there are fewer than two.
    pub seen: Vec<gander_term::SymbolId>,
    /// The variable that is true once a state was saved ([`Aspect::Repetition`]).
    pub saved: Option<gander_term::SymbolId>,
    /// True if pending states have finitely many values when the claim holds
    /// ([`Aspect::Repetition`]).
    pub finite: bool,
    nodes: usize,
    stages: Vec<Stage>,
    starts: Vec<StartId>,
    transitions: Vec<TransitionId>,
    vars: usize,
    saving: std::ops::Range<usize>,
}

/// The liveness-to-safety system of the claim `of` of `system`. The same arguments always give the
/// same system.
pub fn liveness_to_safety(
    system: &System,
    of: ClaimId,
    aspect: &Aspect,
) -> Result<LivenessToSafety, LivenessToSafetyError> {
    let claim = system.claims.get(of.index()).ok_or(LivenessToSafetyError::NotAboutRuns)?;
    let asked = DecidingRuns::of(&claim.kind).ok_or(LivenessToSafetyError::NotAboutRuns)?;
    let mut stages = Vec::new();
    if asked.begin != Begin::AtStart {
        stages.push(Stage::Free);
    }
    stages.push(Stage::Pending);
    if *aspect == Aspect::Stuck {
        stages.push(Stage::Answered);
    }
    let mut work = Work::new(system, asked, stages)?;
    work.assumptions()?;
    let monitor = Monitor::new(&mut work, aspect)?;
    let starts = work.starts(&monitor)?;
    let transitions = work.transitions(&monitor)?;
    let kind = work.claim(&monitor, aspect)?;
    if let Some(kind) = kind {
        work.copy.to.claim(&claim.name, kind, ClaimOrigin::Written, &claim.text, claim.span)?;
    }
    let symbol = |v: Option<crate::system::VarId>| v.map(|v| work.copy.to.so_far().var(v).current);
    let (round, saved) = (symbol(monitor.round), symbol(monitor.memory.as_ref().map(|m| m.saved)));
    let seen = monitor.seen.iter().filter_map(|&v| symbol(Some(v))).collect();
    let finite = system.vars.iter().enumerate().all(|(i, v)| {
        let bounded = matches!(aspect, Aspect::Repetition(bounds) if bounds.get(i).is_some_and(Option::is_some));
        v.sort.is_finite() || (v.sort == Sort::Int && bounded)
    });
    let count = system.transitions.len();
    // The copies that save come last.
    let saving = if saved.is_some() { transitions.len() - count..transitions.len() } else { 0..0 };
    Ok(LivenessToSafety {
        saving,
        seen,
        round,
        saved,
        finite,
        nodes: system.nodes.len(),
        stages: work.stages,
        starts,
        transitions,
        vars: system.vars.len(),
        system: work.copy.to.finish(),
    })
}

/// A liveness-to-safety system under construction.
struct Work<'a> {
    copy: Copying<'a>,
    asked: DecidingRuns,
    stages: Vec<Stage>,
}

impl<'a> Work<'a> {
    fn new(
        system: &'a System,
        asked: DecidingRuns,
        stages: Vec<Stage>,
    ) -> Result<Work<'a>, LivenessToSafetyError> {
        let word = |s: &Stage| match s {
            Stage::Free => "free",
            Stage::Pending => "pending",
            Stage::Answered => "answered",
        };
        let names: Vec<(String, _)> = stages
            .iter()
            .flat_map(|s| {
                system.nodes.iter().map(move |n| (format!("{}/{}", n.name, word(s)), n.span))
            })
            .collect();
        let nodes: Vec<(&str, _)> = names.iter().map(|(n, span)| (n.as_str(), *span)).collect();
        let mut copy = Copying::new(system, &nodes)?;
        copy.copy_vars(|_| true)?;
        Ok(Work { copy, asked, stages })
    }

    /// The copy of an old node in a stage that the system has.
    fn at(&self, n: NodeId, stage: Stage) -> NodeId {
        let stage = self.stages.iter().position(|s| *s == stage).unwrap_or(0);
        NodeId::from(stage * self.copy.from.nodes.len() + n.index())
    }

    fn has(&self, stage: Stage) -> bool {
        self.stages.contains(&stage)
    }

    /// The formula that the node is this one.
    fn is_at(&mut self, n: NodeId) -> TermId {
        let location = self.copy.to.so_far().location;
        is_node(&mut self.copy.to.pool, location, n)
    }

    fn is_pending(&mut self) -> TermId {
        let parts: Vec<TermId> = self
            .copy
            .from
            .node_ids()
            .map(|n| {
                let here = self.at(n, Stage::Pending);
                self.is_at(here)
            })
            .collect();
        self.copy.to.pool.or(parts)
    }

    /// The old assumptions in every stage, and the formula of pending states.
    fn assumptions(&mut self) -> Result<(), BuildError> {
        let system = self.copy.from;
        let location = self.copy.to.so_far().location;
        let (count, stages) = (system.nodes.len(), self.stages.len());
        let mut relocation = Relocation::new(system, move |pool: &mut Pool, n: NodeId| {
            let parts: Vec<TermId> = (0..stages)
                .map(|i| is_node(pool, location, NodeId::from(i * count + n.index())))
                .collect();
            pool.or(parts)
        });
        self.copy.copy_assumptions(|pool, t| relocation.apply(pool, t))?;
        for n in system.node_ids() {
            for i in 0..stages {
                let new = NodeId::from(i * count + n.index());
                self.copy.copy_hints(n, new, |pool, t| relocation.apply(pool, t))?;
                // A claim `no deadlock` of the liveness-to-safety system is about pending states
                // only.
                if self.stages[i] != Stage::Pending {
                    self.copy.to.set_final(new);
                }
            }
            let stay = self.asked.stay_at(system, &mut self.copy.to.pool, n);
            self.assume_pending(n, stay, "staying")?;
        }
        Ok(())
    }

    /// Assumes that pending states at `n` satisfy the formula.
    fn assume_pending(&mut self, n: NodeId, formula: TermId, why: &str) -> Result<(), BuildError> {
        if self.copy.to.pool.as_bool(formula) == Some(true) {
            return Ok(());
        }
        let here = self.at(n, Stage::Pending);
        let here = self.is_at(here);
        let formula = self.copy.to.pool.implies(here, formula);
        let name = format!("@{why} {}", self.copy.from.node(n).name);
        let formula = self.copy.to.state_formula(formula, &name)?;
        self.copy.to.assumption(&name, formula, None);
        self.copy.came_from(None);
        Ok(())
    }

    /// The starts, with the old one for each.
    fn starts(&mut self, monitor: &Monitor) -> Result<Vec<StartId>, BuildError> {
        let system = self.copy.from;
        let mut old = Vec::new();
        for (i, s) in system.starts.iter().enumerate() {
            for stage in [Stage::Free, Stage::Pending] {
                if !self.has(stage) {
                    continue;
                }
                let mut conjuncts: Vec<(TermId, _)> =
                    s.constraint.iter().map(|e| (e.term.term(), None)).collect();
                if stage == Stage::Pending {
                    let begin = self.asked.begin_at(system, &mut self.copy.to.pool, s.target);
                    conjuncts.push((begin, None));
                }
                let target = self.at(s.target, stage);
                conjuncts.extend(monitor.start(self, stage, target).into_iter().map(|t| (t, None)));
                let name = format!("{}/{stage:?}", s.name);
                self.copy.to.start(&name, target, &conjuncts, s.span)?;
                self.copy.came_from(None);
                old.push(StartId::from(i));
            }
        }
        Ok(old)
    }

    /// The transitions, with the old one for each.
    fn transitions(&mut self, monitor: &Monitor) -> Result<Vec<TransitionId>, BuildError> {
        let mut old = Vec::new();
        let mut kinds = Vec::new();
        if self.has(Stage::Free) {
            kinds.extend([StepKind::Free, StepKind::Begin]);
        }
        kinds.push(StepKind::Stay);
        if monitor.memory.is_some() {
            kinds.push(StepKind::Save);
        }
        if self.has(Stage::Answered) {
            kinds.push(StepKind::Answer);
        }
        for (i, &kind) in kinds.iter().enumerate() {
            let symbols = if i == 0 { ParamSymbols::Same } else { ParamSymbols::Fresh };
            for t in self.copy.from.transition_ids() {
                self.transition(monitor, t, kind, symbols)?;
                old.push(t);
            }
        }
        Ok(old)
    }

    fn transition(
        &mut self,
        monitor: &Monitor,
        t: TransitionId,
        kind: StepKind,
        symbols: ParamSymbols,
    ) -> Result<(), BuildError> {
        let system = self.copy.from;
        let transition = system.transition(t);
        let (from, to) = kind.stages();
        let name = format!("{}/{kind:?}", transition.name);
        let (source, target) = (self.at(transition.source, from), self.at(transition.target, to));
        let at = Placement { name: &name, source, target, symbols };
        let (mut draft, mut renaming) = self.copy.begin(t, &at, |_, t| t)?;
        let mut begin = None;
        if kind == StepKind::Begin {
            // The condition on the next state, over the values that the effect determines.
            let formula = self.asked.begin_at(system, &mut self.copy.to.pool, transition.target);
            let after = next_values(system, &mut self.copy.to.pool, t);
            let formula = self.copy.to.pool.substitute(formula, &after);
            let formula = rename(&mut renaming, &mut self.copy.to.pool, formula);
            let open = self.copy.to.pool.free_symbols(&[formula]);
            if system.vars.iter().any(|v| open.contains(&v.next)) {
                begin = Some(formula);
            } else if self.copy.to.pool.as_bool(formula) != Some(true) {
                self.copy.to.guard(&mut draft, formula, None)?;
                self.copy.came_from(None);
            }
        }
        monitor.guard(self, kind, &mut draft)?;
        self.copy.copy_effect(t, &mut draft, &mut renaming, |_, t| t)?;
        if let Some(formula) = begin {
            self.copy.to.constrain(&mut draft, formula, None)?;
        }
        monitor.step(self, kind, t, &mut draft)?;
        self.copy.came_from(None);
        self.copy.end(draft)?;
        Ok(())
    }

    fn claim(
        &mut self,
        monitor: &Monitor,
        aspect: &Aspect,
    ) -> Result<Option<ClaimKind>, BuildError> {
        let formula = match aspect {
            Aspect::Stuck => return Ok(Some(ClaimKind::NoDeadlock)),
            Aspect::Rounds => return Ok(None),
            Aspect::AtMost(k) => monitor.at_most(self, *k),
            Aspect::Repetition(bounds) => {
                let met = monitor.repeats(self);
                let pending = self.is_pending();
                let pool = &mut self.copy.to.pool;
                let never = pool.not(met);
                let mut within = vec![];
                for (v, bounds) in self.copy.from.vars.iter().zip(bounds) {
                    if let (Some((low, high)), Sort::Int) = (bounds, v.sort) {
                        let x = pool.var(v.current);
                        let (low, high) = (pool.int(low.clone()), pool.int(high.clone()));
                        within.push(pool.le(low, x));
                        within.push(pool.le(x, high));
                    }
                }
                let within = pool.and(within);
                let within = pool.implies(pending, within);
                pool.and([never, within])
            }
        };
        Ok(Some(ClaimKind::Always(self.copy.to.state_formula(formula, "claim")?)))
    }
}

fn is_node(pool: &mut Pool, location: gander_term::SymbolId, n: NodeId) -> TermId {
    let Sort::Enum(sort) = pool.symbol(location).sort else {
        unreachable!("a location is of an enumeration")
    };
    let (place, here) = (pool.var(location), pool.constant(Value::Enum(sort, n.0)));
    pool.eq(place, here)
}

/// By current symbol: the value after a step, which is assigned or kept, else the primed variable.
fn next_values(
    system: &System,
    pool: &mut Pool,
    t: TransitionId,
) -> FxHashMap<gander_term::SymbolId, TermId> {
    let mut values: FxHashMap<_, _> =
        system.vars.iter().map(|v| (v.current, pool.var(v.next))).collect();
    for e in &system.transition(t).effect {
        match *e {
            Effect::Assign { var, value, .. } => {
                values.insert(system.var(var).current, value.term());
            }
            Effect::Keep { var, .. } => {
                let current = system.var(var).current;
                values.insert(current, pool.var(current));
            }
            Effect::Constrain { .. } => {}
        }
    }
    values
}

impl LivenessToSafety {
    /// The old node that a node is a copy of.
    pub fn old_node(&self, n: NodeId) -> NodeId {
        NodeId::from(n.index() % self.nodes)
    }

    /// The stage of a node.
    pub fn stage(&self, n: NodeId) -> Stage {
        self.stages.get(n.index() / self.nodes).copied().unwrap_or(Stage::Answered)
    }

    /// The old transition that a transition is a copy of.
    pub fn old_transition(&self, t: TransitionId) -> TransitionId {
        self.transitions.get(t.index()).copied().unwrap_or(t)
    }

    /// True for a step from a pending state to a pending state.
    pub fn stays(&self, t: TransitionId) -> bool {
        let t = self.system.transition(t);
        self.stage(t.source) == Stage::Pending && self.stage(t.target) == Stage::Pending
    }

    /// True for a step that saves the state it leaves ([`Aspect::Repetition`]).
    pub fn saves(&self, t: TransitionId) -> bool {
        self.saving.contains(&t.index())
    }

    /// The number of the old system's variables: they are the first ones.
    pub fn old_vars(&self) -> usize {
        self.vars
    }

    /// The old values of a state: those of the old system's variables.
    fn old_values(&self, values: &[Value]) -> Option<Vec<Value>> {
        values.get(..self.vars).map(<[Value]>::to_vec)
    }

    /// The old run of a run.
    pub fn run(&self, run: &Run) -> Option<Run> {
        let first = State {
            node: self.old_node(run.first.node),
            values: self.old_values(&run.first.values)?,
        };
        let start = *self.starts.get(run.start.index())?;
        // One open list for every enclosing repetition.
        let mut open: Vec<(u64, std::slice::Iter<'_, Leg>, Vec<Leg>)> =
            vec![(1, run.legs.iter(), Vec::new())];
        loop {
            let (_, rest, done) = open.last_mut()?;
            match rest.next() {
                Some(Leg::Step(step)) => {
                    let transition = *self.transitions.get(step.transition.index())?;
                    let next = match &step.next {
                        Some(next) => Some(self.old_values(next)?),
                        None => None,
                    };
                    done.push(Leg::Step(Step { transition, params: step.params.clone(), next }));
                }
                Some(Leg::Repeat { times, body }) => open.push((*times, body.iter(), Vec::new())),
                None => {
                    let (times, _, done) = open.pop()?;
                    let Some((_, _, outer)) = open.last_mut() else {
                        return Some(Run { start, first, legs: done.into() });
                    };
                    outer.push(Leg::Repeat { times, body: done });
                }
            }
        }
    }
}
