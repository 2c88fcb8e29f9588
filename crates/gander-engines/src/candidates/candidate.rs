//! Candidates: formulas about the states at a node that may be invariant.

use std::sync::Arc;

use gander_system::{NodeId, State, System};
use gander_term::{Pool, Program, Scratch, SymbolId, TermId, Value, evaluate};

/// A formula that may hold in every reachable state at a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Candidate {
    pub node: NodeId,
    pub formula: TermId,
}

/// Terms compiled for evaluation on states.
pub(crate) struct Evaluator {
    system: Arc<System>,
    terms: Vec<TermId>,
    program: Program,
    /// By input of the program: the index of its variable.
    inputs: Option<Vec<usize>>,
    scratch: Scratch,
}

impl Evaluator {
    /// Compiles terms over the variables of a system.
    pub(crate) fn new(system: &Arc<System>, pool: &Pool, terms: Vec<TermId>) -> Evaluator {
        let program = Program::compile(pool, &terms);
        let position = |s: &SymbolId| system.vars().iter().position(|v| v.current == *s);
        let inputs = program.inputs().iter().map(position).collect();
        Evaluator { system: Arc::clone(system), terms, program, inputs, scratch: Scratch::new() }
    }

    /// The values of the terms in a state; `None` for those without one.
    pub(crate) fn values(&mut self, pool: &Pool, state: &State) -> Vec<Option<Value>> {
        if let Some(inputs) = &self.inputs {
            let inputs: Vec<Value> = inputs.iter().map(|&i| state.values[i].clone()).collect();
            if let Ok(values) = self.program.run(&inputs, &mut self.scratch) {
                return values.iter().cloned().map(Some).collect();
            }
        }
        let value = |s| {
            self.system.vars().iter().position(|v| v.current == s).map(|i| state.values[i].clone())
        };
        self.terms.iter().map(|&t| evaluate(pool, t, &value).ok()).collect()
    }
}
