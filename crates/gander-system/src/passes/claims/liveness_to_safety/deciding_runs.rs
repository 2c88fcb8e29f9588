//! The runs that decide a liveness claim.

use gander_term::{Pool, TermId};

use crate::claim::{ClaimKind, FairnessId};
use crate::formula::StateTerm;
use crate::system::{NodeId, System};

/// The states in which a run may begin to stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// In its first state.
    AtStart,
    /// In any state.
    Anywhere,
    /// In a state with the formula.
    Where(StateTerm),
}

/// What every state satisfies from then on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stay {
    /// No condition.
    Free,
    /// The formula.
    With(StateTerm),
    /// The negation of the formula.
    Without(StateTerm),
}

/// What a run of this kind means for the claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// It shows that the claim holds.
    Shows,
    /// It shows that the claim fails.
    Breaks,
}

/// The runs that decide a claim: those that reach a state of [`DecidingRuns::begin`], stay from
/// there on in states with [`DecidingRuns::stay_at`], and are infinite and fair to
/// [`DecidingRuns::under`], or finite and maximal if those count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecidingRuns {
    /// Where it begins.
    pub begin: Begin,
    stay: Stay,
    /// The fairness constraints of infinite runs.
    pub under: Vec<FairnessId>,
    /// True if finite maximal runs count too.
    pub finite: bool,
    /// What such a run means for the claim.
    pub finding: Finding,
}

impl DecidingRuns {
    /// The runs that decide a claim; `None` if it is not about maximal runs.
    pub fn of(kind: &ClaimKind) -> Option<DecidingRuns> {
        let (begin, stay, under, finite, finding) = match kind {
            ClaimKind::InfiniteRun => (Begin::AtStart, Stay::Free, &[][..], false, Finding::Shows),
            ClaimKind::ExistsAlways(p) => {
                (Begin::AtStart, Stay::With(*p), &[][..], true, Finding::Shows)
            }
            ClaimKind::Eventually { goal, under } => {
                (Begin::AtStart, Stay::Without(*goal), &under[..], true, Finding::Breaks)
            }
            ClaimKind::AlwaysEventually { goal, under } => {
                (Begin::Anywhere, Stay::Without(*goal), &under[..], true, Finding::Breaks)
            }
            ClaimKind::LeadsTo { from, to, under } => {
                (Begin::Where(*from), Stay::Without(*to), &under[..], true, Finding::Breaks)
            }
            ClaimKind::Always(_)
            | ClaimKind::Reachable(_)
            | ClaimKind::CanEnable(_)
            | ClaimKind::NoSinkhole(_)
            | ClaimKind::StartSatisfiable(_)
            | ClaimKind::Completable(_)
            | ClaimKind::NoDeadlock
            | ClaimKind::AlwaysPossible(_) => return None,
        };
        Some(DecidingRuns { begin, stay, under: under.to_vec(), finite, finding })
    }

    /// What a state at `n` satisfies while the run stays.
    pub fn stay_at(&self, system: &System, pool: &mut Pool, n: NodeId) -> TermId {
        match self.stay {
            Stay::Free => pool.tt(),
            Stay::With(p) => system.at_node(pool, p, n),
            Stay::Without(p) => {
                let p = system.at_node(pool, p, n);
                pool.not(p)
            }
        }
    }

    /// What a state at `n` satisfies where the run may begin to stay.
    pub fn begin_at(&self, system: &System, pool: &mut Pool, n: NodeId) -> TermId {
        match self.begin {
            Begin::AtStart | Begin::Anywhere => pool.tt(),
            Begin::Where(p) => system.at_node(pool, p, n),
        }
    }
}
