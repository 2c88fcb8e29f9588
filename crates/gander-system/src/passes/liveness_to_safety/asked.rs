//! Which runs a liveness claim asks about.

use gander_term::{Pool, TermId};

use crate::claim::{ClaimKind, FairnessId};
use crate::formula::StateTerm;
use crate::system::{NodeId, System};

/// Where a run must be when it begins to stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// In its first state.
    AtStart,
    /// In any state.
    Anywhere,
    /// In a state with the formula.
    Where(StateTerm),
}

/// What every state has from then on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stay {
    /// Nothing in particular.
    Free,
    /// The formula.
    With(StateTerm),
    /// Not the formula.
    Without(StateTerm),
}

/// What a maximal run that is found says of the claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// It shows the claim.
    Shows,
    /// It breaks the claim.
    Breaks,
}

/// The runs that decide a claim: those that reach a state of [`Asked::begin`], stay from there on in states with
/// [`Asked::stay_at`], and are infinite and fair to [`Asked::under`], or finite and maximal if those count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Where it begins.
    pub begin: Begin,
    stay: Stay,
    /// What infinite runs must be fair to.
    pub under: Vec<FairnessId>,
    /// Finite maximal runs count as well.
    pub finite: bool,
    /// What such a run means.
    pub finding: Finding,
}

impl Asked {
    /// The runs that a claim asks about; none if it is not a claim about maximal runs.
    pub fn by(kind: &ClaimKind) -> Option<Asked> {
        let (begin, stay, under, finite, finding) = match kind {
            ClaimKind::InfiniteRun => (Begin::AtStart, Stay::Free, &[][..], false, Finding::Shows),
            ClaimKind::ExistsAlways(p) => (Begin::AtStart, Stay::With(*p), &[][..], true, Finding::Shows),
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
        Some(Asked { begin, stay, under: under.to_vec(), finite, finding })
    }

    /// What a state at `n` has where the run stays.
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

    /// What a state at `n` has where the run may begin to stay.
    pub fn begin_at(&self, system: &System, pool: &mut Pool, n: NodeId) -> TermId {
        match self.begin {
            Begin::AtStart | Begin::Anywhere => pool.tt(),
            Begin::Where(p) => system.at_node(pool, p, n),
        }
    }
}
