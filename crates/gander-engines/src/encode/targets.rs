//! Targets of searches over concrete states or sets of states, by state and by step.

use std::sync::Arc;

use gander_system::{ClaimKind, NodeId, StateTerm, TransitionId};
use gander_term::{SymbolId, TermId};

use crate::encode::question::{Place, Question};
use crate::encode::view::View;

/// A target state.
#[derive(Clone, Debug)]
pub(crate) struct StateTarget {
    /// The index of the goal, chosen by the caller.
    pub goal: usize,
    /// The node; `None` means any.
    pub node: Option<NodeId>,
    /// A formula over the state and `choices`; met if some values of the choices satisfy it.
    pub formula: TermId,
    pub choices: Vec<SymbolId>,
}

/// A target step.
#[derive(Clone, Debug)]
pub(crate) struct StepTarget {
    pub goal: usize,
    pub transition: TransitionId,
    /// Over the state before the step and the transition's parameters.
    pub formula: TermId,
}

/// All targets of a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    pub states: Vec<StateTarget>,
    pub steps: Vec<StepTarget>,
    /// Goals that are met by a state without an outgoing step, at a node that is not final.
    pub stuck: Vec<usize>,
}

/// Adds the states that satisfy a formula.
pub(crate) fn state_targets(view: &mut View, p: StateTerm, goal: usize, targets: &mut Targets) {
    let e = &mut view.encoding;
    let system = Arc::clone(&e.system);
    for n in system.node_ids() {
        let formula = system.at_node(&mut e.pool, p, n);
        targets.states.push(StateTarget { goal, node: Some(n), formula, choices: Vec::new() });
    }
}

pub(crate) fn question_targets(
    view: &mut View,
    kind: &ClaimKind,
    q: &Question,
    goal: usize,
    targets: &mut Targets,
) {
    if matches!(kind, ClaimKind::NoDeadlock) {
        // The search detects stuck states without a formula.
        targets.stuck.push(goal);
        return;
    }
    for target in &q.targets {
        let node = match target.place {
            Place::Anywhere => None,
            Place::At(n) => Some(n),
            Place::Taking(transition) => {
                let formula = own_params(view, transition, target.formula);
                targets.steps.push(StepTarget { goal, transition, formula });
                continue;
            }
            Place::Beginning(_) => continue,
        };
        let choices = choices(view, target.formula);
        targets.states.push(StateTarget { goal, node, formula: target.formula, choices });
    }
}

/// Replaces shared parameters in a formula by the parameters of the transition.
fn own_params(view: &mut View, t: TransitionId, formula: TermId) -> TermId {
    let e = &mut view.encoding;
    let system = Arc::clone(&e.system);
    let shared = e.params(t);
    let own = system.transition(t).params.iter();
    let map = own.zip(shared).map(|(p, s)| (s, e.pool.var(p.symbol))).collect();
    e.pool.substitute(formula, &map)
}

/// The symbols of a formula that are not state variables.
fn choices(view: &View, formula: TermId) -> Vec<SymbolId> {
    let e = &view.encoding;
    let is_var = |s: SymbolId| e.system.vars().iter().any(|v| v.current == s);
    e.pool.free_symbols(&[formula]).into_iter().filter(|&s| !is_var(s)).collect()
}
