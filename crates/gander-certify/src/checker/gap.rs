//! Counterexamples to induction: steps that leave a candidate invariant.
//!
//! With `I` the formulas and `A` the assumptions, a *gap* of a goal `G` at a node is a step from a
//! state that satisfies `I` and `A` to a state at the node that satisfies `A` and not `G`. The
//! first state need not be reachable.

use std::time::Instant;

use gander_system::{NodeFormulas, NodeId, State, System, TransitionId};
use gander_term::{Importer, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::Checker;
use crate::discharge::CheckContext;
use crate::evidence::import_formulas;
use crate::formula::relation::{Relation, admissible};
use crate::rejection::{Rejection, undecided};

/// A step from a state that satisfies formulas to one that does not satisfy a goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The transition.
    pub transition: TransitionId,
    /// Its parameters.
    pub params: Vec<Value>,
    /// The state before the step.
    pub before: State,
    /// The state after the step.
    pub after: State,
}

impl Checker {
    /// A gap of `goal` at `node`, or `None` if every step into the node establishes the goal. The
    /// goal is a term of the pool of `formulas`.
    pub fn gap(
        &mut self,
        system: &System,
        formulas: &NodeFormulas,
        node: NodeId,
        goal: TermId,
    ) -> Result<Option<Gap>, Rejection> {
        let deadline = self.tools.limits.total.and_then(|t| Instant::now().checked_add(t));
        let mut cx = CheckContext::new(system, &self.tools, deadline);
        cx.reuse(std::mem::take(&mut self.idle));
        let found = search(&mut cx, formulas, node, goal);
        if found.is_ok() && self.tools.log.is_none() {
            self.idle = cx.into_sessions();
        }
        found
    }
}

fn search(
    cx: &mut CheckContext<'_>,
    formulas: &NodeFormulas,
    node: NodeId,
    goal: TermId,
) -> Result<Option<Gap>, Rejection> {
    let by_node = import_formulas(cx, formulas)?;
    let goal = Importer::new()
        .import(&mut cx.pool, &formulas.pool, goal)
        .map_err(|e| undecided(format!("the goal cannot be read: {e}")))?;
    let system = cx.system;
    for &t in system.entering(node) {
        let transition = system.transition(t);
        let source = transition.source;
        let relation = Relation::new(cx, t);
        let broken = cx.pool.not(goal);
        let broken = relation.after_step(cx, broken);
        let before = admissible(cx, source);
        let formula = cx.pool.and([by_node[source.index()], before, relation.formula, broken]);
        let what = format!("whether `{}` keeps the invariant", transition.name);
        let Some(model) = cx.find(formula, &what)? else { continue };
        let next: Vec<TermId> =
            system.vars().iter().map(|v| relation.next_value(cx, v.current)).collect();
        let known: FxHashMap<SymbolId, Value> = model.into_iter().collect();
        let value = |s: SymbolId| known.get(&s).cloned().unwrap_or_else(|| cx.any_value(s));
        let params: Vec<Value> = transition.params.iter().map(|p| value(p.symbol)).collect();
        let values: Vec<Value> = system.vars().iter().map(|v| value(v.current)).collect();
        let look = |s: SymbolId| Some(value(s));
        let after: Result<Vec<Value>, _> =
            next.into_iter().map(|t| evaluate(&cx.pool, t, &look)).collect();
        let after =
            after.map_err(|e| undecided(format!("the next state cannot be worked out: {e:?}")))?;
        let (before, after) = (State { node: source, values }, State { node, values: after });
        return Ok(Some(Gap { transition: t, params, before, after }));
    }
    Ok(None)
}
