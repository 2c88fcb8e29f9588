//! The tree of control paths.

use std::sync::Arc;

use gander_smt::Reason;
use gander_system::{NodeId, StartId, State, TransitionId};
use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::encode::unrolling::Path;

/// Values of choices.
pub(super) type Model = FxHashMap<SymbolId, Value>;

/// The last step of a path.
#[derive(Clone, Debug)]
pub(super) enum Last {
    Start(StartId),
    /// A step from this path, with the values of its parameters.
    Step(usize, TransitionId, Vec<TermId>),
}

/// A path and the symbolic state after it.
#[derive(Debug)]
pub(super) struct Branch {
    pub last: Last,
    pub node: NodeId,
    pub depth: u32,
    /// By variable, over choices.
    pub values: Vec<TermId>,
    /// All conditions of the path.
    pub conditions: Arc<Vec<TermId>>,
    /// A model of the conditions.
    pub model: Arc<Model>,
    /// The number of the next unused choice.
    pub next: u32,
}

/// The value of a term over choices. Choices outside the model get a default value.
pub(super) fn value_of(pool: &Pool, t: TermId, model: &Model) -> Option<Value> {
    evaluate(pool, t, &|s| {
        let any = || crate::encode::query::first_value(pool.symbol(s).sort);
        Some(model.get(&s).cloned().unwrap_or_else(any))
    })
    .ok()
}

/// The run along a path, with the values of a model.
pub(super) fn run(pool: &Pool, tree: &[Branch], end: usize, model: &Model) -> Result<Path, Reason> {
    let value = |t: &TermId| {
        value_of(pool, *t, model)
            .ok_or_else(|| Reason::Incomplete("a value of the run cannot be computed".into()))
    };
    let (mut states, mut steps) = (Vec::new(), Vec::new());
    let mut at = end;
    let start = loop {
        let branch = &tree[at];
        let values = branch.values.iter().map(value).collect::<Result<Vec<Value>, Reason>>()?;
        states.push(State { node: branch.node, values });
        match &branch.last {
            Last::Start(s) => break *s,
            Last::Step(before, t, params) => {
                steps.push((*t, params.iter().map(value).collect::<Result<Vec<Value>, Reason>>()?));
                at = *before;
            }
        }
    };
    states.reverse();
    steps.reverse();
    Ok(Path { start: Some(start), states, steps })
}
