//! Why formulas are no inductive invariant: a step that leaves them.
//!
//! With `I` the formulas and `A` the assumptions, a *gap* of a goal `G` at a node is a step from a state that satisfies
//! `I` and `A` to one at the node that satisfies `A` and not `G`. No run has to lead to the first state.

use gander_system::{NodeFormulas, NodeId, State, System, TransitionId};
use gander_term::{Importer, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::case::Case;
use crate::invariant::bring;
use crate::rejection::{Rejection, undecided};
use crate::relation::{Relation, admissible};
use crate::{Checker, Instant};

/// A step from a state that satisfies formulas to one that does not satisfy a goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// What is taken.
    pub transition: TransitionId,
    /// With which parameters.
    pub params: Vec<Value>,
    /// From where.
    pub before: State,
    /// To where.
    pub after: State,
}

impl Checker {
    /// A gap of `goal` at `node`, or nothing if every step keeps it. Formulas and goal are in the pool of `formulas`.
    pub fn gap(
        &mut self,
        system: &System,
        formulas: &NodeFormulas,
        node: NodeId,
        goal: TermId,
    ) -> Result<Option<Gap>, Rejection> {
        let deadline = self.tools.limits.total.and_then(|t| Instant::now().checked_add(t));
        let mut case = Case::new(system, &self.tools, deadline);
        case.reuse(std::mem::take(&mut self.idle));
        let found = search(&mut case, formulas, node, goal);
        if found.is_ok() && self.tools.log.is_none() {
            self.idle = case.into_sessions();
        }
        found
    }
}

fn search(case: &mut Case<'_>, formulas: &NodeFormulas, node: NodeId, goal: TermId) -> Result<Option<Gap>, Rejection> {
    let by_node = bring(case, formulas)?;
    let goal = Importer::new()
        .import(&mut case.pool, &formulas.pool, goal)
        .map_err(|e| undecided(format!("the goal cannot be read: {e}")))?;
    let system = case.system;
    for &t in system.entering(node) {
        let transition = system.transition(t);
        let source = transition.source;
        let relation = Relation::new(case, t);
        let broken = case.pool.not(goal);
        let broken = relation.behind(case, broken);
        let before = admissible(case, source);
        let formula = case.pool.and([by_node[source.index()], before, relation.formula, broken]);
        let what = format!("whether `{}` keeps the invariant", transition.name);
        let Some(model) = case.find(formula, &what)? else { continue };
        let known: FxHashMap<SymbolId, Value> = model.into_iter().collect();
        let value = |s: SymbolId| known.get(&s).cloned().unwrap_or_else(|| case.any_value(s));
        let params: Vec<Value> = transition.params.iter().map(|p| value(p.symbol)).collect();
        let values: Vec<Value> = system.vars.iter().map(|v| value(v.current)).collect();
        let look = |s: SymbolId| Some(value(s));
        let after: Result<Vec<Value>, _> =
            system.vars.iter().map(|v| evaluate(&case.pool, relation.next_value(v.current), &look)).collect();
        let after = after.map_err(|e| undecided(format!("the next state cannot be worked out: {e:?}")))?;
        let (before, after) = (State { node: source, values }, State { node, values: after });
        return Ok(Some(Gap { transition: t, params, before, after }));
    }
    Ok(None)
}
