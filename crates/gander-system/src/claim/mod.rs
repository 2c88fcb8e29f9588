//! Claims: what is to be decided about a system. docs/semantics.md says when each holds.

mod structural;

pub use structural::is_run_claim;

use gander_term::TermId;

use crate::formula::{ChoiceTerm, StateTerm};
use crate::origin::Span;
use crate::system::{GateId, NodeId, StartId, TransitionId, VarId, index_type};

index_type! {
    /// A claim, an index into [`crate::System::claims`].
    ClaimId
}
index_type! {
    /// A fairness constraint, an index into [`crate::System::fairness`].
    FairnessId
}

/// A goal of a run: a state, or a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// A state that satisfies the formula (which may mention `@node`).
    State(StateTerm),
    /// A completed step of one of these transitions whose state and parameters satisfy the
    /// transition's formula. One formula for each transition, as each has its own parameters.
    Step {
        /// The gate, if the goal was written as one.
        gate: Option<GateId>,
        /// The transitions, each with the formula that must hold when it is taken.
        choices: Vec<(TransitionId, ChoiceTerm)>,
    },
}

impl Goal {
    fn terms(&self) -> Vec<TermId> {
        match self {
            Goal::State(p) => vec![p.term()],
            Goal::Step { choices, .. } => choices.iter().map(|c| c.1.term()).collect(),
        }
    }
}

/// What a claim says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClaimKind {
    /// Every reachable state satisfies the formula.
    Always(StateTerm),
    /// Some run meets the goals one after the other; a single goal is plain reachability.
    Reachable(Vec<Goal>),
    /// The guard of the transition holds in some reachable state for some parameters.
    CanEnable(TransitionId),
    /// In every reachable state at the node some leaving transition's guard holds for some
    /// parameters.
    NoSinkhole(NodeId),
    /// Some state satisfies the start transition (and the assumptions).
    StartSatisfiable(StartId),
    /// Wherever the guard holds in a reachable state, the effect has a solution.
    Completable(TransitionId),
    /// In every reachable state of a non-final node some step can be completed.
    NoDeadlock,
    /// Some run is infinite.
    InfiniteRun,
    /// Every maximal (fair) run satisfies the formula at some time.
    Eventually {
        /// The formula.
        goal: StateTerm,
        /// Only runs fair to these count.
        under: Vec<FairnessId>,
    },
    /// Every maximal (fair) run satisfies the formula infinitely often; a finite run stutters in
    /// its last state.
    AlwaysEventually {
        /// The formula.
        goal: StateTerm,
        /// Only runs fair to these count.
        under: Vec<FairnessId>,
    },
    /// On every maximal (fair) run, `from` is followed, at once or later, by `to`.
    LeadsTo {
        /// The trigger.
        from: StateTerm,
        /// The response.
        to: StateTerm,
        /// Only runs fair to these count.
        under: Vec<FairnessId>,
    },
    /// From every reachable state some run reaches a state with the formula.
    AlwaysPossible(StateTerm),
    /// Some maximal run satisfies the formula in all its states.
    ExistsAlways(StateTerm),
}

impl ClaimKind {
    /// The word for the kind in JSON and messages.
    pub fn word(&self) -> &'static str {
        match self {
            ClaimKind::Always(_) => "always",
            ClaimKind::Reachable(goals) if goals.len() > 1 => "chain",
            ClaimKind::Reachable(_) => "reachable",
            ClaimKind::CanEnable(_) => "can-enable",
            ClaimKind::NoSinkhole(_) => "no-sinkhole",
            ClaimKind::StartSatisfiable(_) => "start-satisfiable",
            ClaimKind::Completable(_) => "completable",
            ClaimKind::NoDeadlock => "no-deadlock",
            ClaimKind::InfiniteRun => "infinite-run",
            ClaimKind::Eventually { .. } => "eventually",
            ClaimKind::AlwaysEventually { .. } => "always-eventually",
            ClaimKind::LeadsTo { .. } => "leads-to",
            ClaimKind::AlwaysPossible(_) => "always-possible",
            ClaimKind::ExistsAlways(_) => "exists-always",
        }
    }
}

/// Where a claim comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimOrigin {
    /// The author wrote it.
    Written,
    /// The declared range of a variable.
    Range(VarId),
    /// A structural claim, added to every control graph.
    Structural,
}

/// A claim with its name and place.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The name, unique among claims.
    pub name: String,
    /// What it says.
    pub kind: ClaimKind,
    /// Where it comes from.
    pub origin: ClaimOrigin,
    /// The claim as written, or in words; for display.
    pub text: String,
    /// Where it was written.
    pub span: Option<Span>,
}

impl Claim {
    /// The formulas of the claim, without those of the transitions and starts that it refers to.
    pub fn terms(&self) -> Vec<TermId> {
        match &self.kind {
            ClaimKind::Always(p) | ClaimKind::AlwaysPossible(p) | ClaimKind::ExistsAlways(p) => {
                vec![p.term()]
            }
            ClaimKind::Eventually { goal, .. } | ClaimKind::AlwaysEventually { goal, .. } => {
                vec![goal.term()]
            }
            ClaimKind::LeadsTo { from, to, .. } => vec![from.term(), to.term()],
            ClaimKind::Reachable(goals) => goals.iter().flat_map(Goal::terms).collect(),
            ClaimKind::StartSatisfiable(_)
            | ClaimKind::CanEnable(_)
            | ClaimKind::NoSinkhole(_)
            | ClaimKind::Completable(_)
            | ClaimKind::NoDeadlock
            | ClaimKind::InfiniteRun => Vec::new(),
        }
    }
}

/// A fairness constraint.
#[derive(Clone, Debug)]
pub struct Fairness {
    /// The name, unique among fairness constraints.
    pub name: String,
    /// What it requires of a run.
    pub kind: FairnessKind,
    /// Where it was written.
    pub span: Option<Span>,
}

/// What a fairness constraint requires of an infinite run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FairnessKind {
    /// The formula holds infinitely often.
    Justice(StateTerm),
    /// If from some time on one of the transitions can always be completed, one of them is taken
    /// infinitely often.
    Weak(Vec<TransitionId>),
    /// If infinitely often one of the transitions can be completed, one of them is taken infinitely
    /// often.
    Strong(Vec<TransitionId>),
}
