//! What the end of a run must be like to decide a claim.

use std::sync::Arc;

use gander_system::{ClaimKind, Goal, Run, State, TransitionId};
use gander_term::Value;

use super::super::stepping::formula::Formula;
use super::Flat;
use super::machine::Machine;

/// A compiled goal.
pub(super) enum Stage {
    /// A state in which the formula has this value.
    State(Formula, bool),
    /// A step of one of these transitions with its formula.
    Step(Vec<(TransitionId, Formula)>),
}

/// See the module's documentation.
pub(super) enum End {
    /// Goals that are met in order, the last one at the end.
    Goals(Vec<Stage>),
    /// The last state of the given run, once it is known.
    Same { last: Option<State>, others: Others },
}

/// What a claim that is decided by a last state says about the states before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// Nothing.
    Free,
    /// That each of them, or none, satisfies a formula: they may be left out but not replaced.
    Fixed,
    /// That they come in an order.
    Ordered,
}

impl End {
    /// For runs that decide a claim of this kind; `None` if its formulas cannot be compiled.
    pub(super) fn of(machine: &mut Machine, kind: &ClaimKind, run: &Run) -> Option<End> {
        let others = match kind {
            ClaimKind::Always(p) => {
                let stage = Stage::State(machine.compile(p.term())?, false);
                return Some(End::Goals(vec![stage]));
            }
            ClaimKind::Reachable(goals) => {
                let stage = |goal: &Goal| match goal {
                    Goal::State(p) => Some(Stage::State(machine.compile(p.term())?, true)),
                    Goal::Step { choices, .. } => {
                        let choice = |(t, f): &(TransitionId, gander_system::ChoiceTerm)| {
                            Some((*t, machine.compile(f.term())?))
                        };
                        choices.iter().map(choice).collect::<Option<_>>().map(Stage::Step)
                    }
                };
                return goals.iter().map(stage).collect::<Option<_>>().map(End::Goals);
            }
            ClaimKind::CanEnable(_)
            | ClaimKind::NoSinkhole(_)
            | ClaimKind::Completable(_)
            | ClaimKind::NoDeadlock
            | ClaimKind::InfiniteRun
            | ClaimKind::AlwaysEventually { .. } => Others::Free,
            ClaimKind::Eventually { .. } | ClaimKind::ExistsAlways(_) => Others::Fixed,
            _ => Others::Ordered,
        };
        let last = run.legs.is_empty().then(|| run.first.clone());
        Some(End::Same { last, others })
    }

    /// True if a run with other states on the way decides the claim, too.
    pub(super) fn allows_other_states(&self) -> bool {
        matches!(self, End::Goals(_) | End::Same { others: Others::Free, .. })
    }

    /// True if a run with fewer of its states decides the claim, too.
    pub(super) fn allows_cuts(&self) -> bool {
        !matches!(self, End::Same { others: Others::Ordered, .. })
    }

    /// Records the last state of the given run.
    pub(super) fn settle(&mut self, flat: &Flat) {
        if let End::Same { last, .. } = self {
            *last = flat.states.last().cloned();
        }
    }

    /// The number of goals that the first state meets.
    pub(super) fn start(&self, machine: &mut Machine, first: &State) -> Option<usize> {
        self.enter(machine, first, 0)
    }

    /// Adds a step to a run; `None` if a formula cannot be evaluated.
    pub(super) fn advance(
        &self,
        machine: &mut Machine,
        flat: &mut Flat,
        t: TransitionId,
        params: Arc<Vec<Value>>,
        to: State,
    ) -> Option<()> {
        let (from, mut met) = (flat.states.last()?, *flat.met.last()?);
        if let End::Goals(stages) = self
            && let Some(Stage::Step(choices)) = stages.get(met)
        {
            for (_, formula) in choices.iter().filter(|(mine, _)| *mine == t) {
                if machine.truth(formula, from, &params)? {
                    met += 1;
                    break;
                }
            }
        }
        let met = self.enter(machine, &to, met)?;
        flat.push(t, params, to, met);
        Some(())
    }

    /// True if the run may end in its state at this position.
    pub(super) fn is_met(&self, flat: &Flat, at: usize) -> bool {
        match self {
            End::Goals(stages) => flat.met[at] == stages.len(),
            End::Same { last, .. } => last.as_ref() == Some(&flat.states[at]),
        }
    }

    fn enter(&self, machine: &mut Machine, state: &State, mut met: usize) -> Option<usize> {
        if let End::Goals(stages) = self {
            while let Some(Stage::State(formula, wanted)) = stages.get(met) {
                if machine.truth(formula, state, &[])? != *wanted {
                    break;
                }
                met += 1;
            }
        }
        Some(met)
    }
}
