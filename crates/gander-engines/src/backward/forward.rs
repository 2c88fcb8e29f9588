//! Runs along a path of transitions that a search backwards has found.
//!
//! The path is `t1 ... tk` with cubes `c0 ... ck`: `c0` has a start state, and from every state of `c(i-1)` a step of `ti`
//! leads into `ci`. So values are found step by step, from the front, by questions about one step each. States and
//! steps are kept: another run that begins in the same way takes the same ones.

use std::sync::Arc;
use std::time::Duration;

use gander_smt::Reason;
use gander_system::{NodeId, StartId, State, System, TransitionId};
use gander_term::{Pool, Simplifier, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::cube::{CubeId, Cubes};
use super::preimage::PreImages;
use crate::consult::{Consult, Solved, first_value};
use crate::encoding::Encoding;
use crate::engine::Desk;
use crate::unrolling::Path;

/// Time for the values of one step.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a step leads into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Into {
    Cube(CubeId),
    /// Any state, if the state before the step and its parameters satisfy the formula.
    Anything(TermId),
}

/// What steps are found with.
pub(super) struct Kit<'a> {
    pub desk: &'a Desk,
    pub e: &'a mut Encoding,
    pub consult: &'a mut Consult,
    pub cubes: &'a Cubes,
    pub pre: &'a mut PreImages,
}

/// A state that some run visits.
struct Visited {
    state: State,
    /// By transition: parameters and the state behind.
    steps: Vec<(TransitionId, Vec<Value>, usize)>,
}

/// See the module's documentation.
pub(super) struct Forward {
    system: Arc<System>,
    position: FxHashMap<SymbolId, usize>,
    visited: Vec<Visited>,
    by_state: FxHashMap<State, usize>,
    /// Start states that runs began in.
    starts: Vec<(StartId, usize)>,
}

impl Forward {
    pub(super) fn new(system: &Arc<System>) -> Forward {
        let position = system.vars.iter().enumerate().map(|(i, v)| (v.current, i)).collect();
        Forward {
            system: Arc::clone(system),
            position,
            visited: Vec::new(),
            by_state: FxHashMap::default(),
            starts: Vec::new(),
        }
    }

    fn visit(&mut self, node: NodeId, values: Vec<Value>) -> usize {
        let state = State { node, values };
        if let Some(&known) = self.by_state.get(&state) {
            return known;
        }
        let at = self.visited.len();
        self.by_state.insert(state.clone(), at);
        self.visited.push(Visited { state, steps: Vec::new() });
        at
    }

    /// Remembers a start state.
    pub(super) fn begin(&mut self, s: StartId, values: Vec<Value>) -> usize {
        let at = self.visit(self.system.starts[s.index()].target, values);
        if !self.starts.contains(&(s, at)) {
            self.starts.push((s, at));
        }
        at
    }

    /// A start state in the cube that is known already.
    pub(super) fn begun(&self, pool: &Pool, cubes: &Cubes, node: NodeId, c: CubeId) -> Option<(StartId, usize)> {
        self.starts.iter().copied().find(|&(_, at)| {
            let state = &self.visited[at].state;
            state.node == node && cubes.holds(pool, c, &state.values) == Some(true)
        })
    }

    /// The run from a start state along the path.
    pub(super) fn path(
        &mut self,
        kit: &mut Kit<'_>,
        from: (StartId, usize),
        path: &[(TransitionId, Into)],
    ) -> Result<Path, Reason> {
        let mut at = from.1;
        let mut states = vec![self.visited[at].state.clone()];
        let mut steps = Vec::new();
        for &(t, into) in path {
            let (params, next) = self.step(kit, at, t, into)?;
            steps.push((t, params));
            states.push(self.visited[next].state.clone());
            at = next;
        }
        Ok(Path { start: Some(from.0), states, steps })
    }

    fn step(
        &mut self,
        kit: &mut Kit<'_>,
        at: usize,
        t: TransitionId,
        into: Into,
    ) -> Result<(Vec<Value>, usize), Reason> {
        let Kit { desk, e, consult, cubes, pre } = kit;
        if let Into::Cube(c) = into {
            for (taken, params, next) in &self.visited[at].steps {
                if *taken == t && cubes.holds(&e.pool, c, &self.visited[*next].state.values) == Some(true) {
                    return Ok((params.clone(), *next));
                }
            }
        }
        let system = Arc::clone(&self.system);
        let back = pre.back(e, t);
        let (also, behind) = match into {
            Into::Cube(c) => (e.pool.tt(), pre.before(e, t, cubes.get(c).term)),
            Into::Anything(formula) => {
                let assumption = pre.assumption(e, system.transition(t).target);
                (formula, pre.before(e, t, assumption))
            }
        };
        let body = e.pool.and([back.condition, also, behind]);
        let values = self.visited[at].state.values.clone();
        let mut map = FxHashMap::default();
        for (v, value) in system.vars.iter().zip(&values) {
            map.insert(v.current, e.pool.constant(value.clone()));
        }
        let body = e.pool.substitute(body, &map);
        let body = Simplifier::new().simplify(&mut e.pool, body);
        let chosen = match e.pool.as_bool(body) {
            Some(true) => back.chosen.iter().map(|&s| first_value(e.pool.symbol(s).sort)).collect(),
            Some(false) => return Err(lost()),
            None => match consult.solve(desk, &e.pool, &[body], &back.chosen, PATIENCE) {
                Solved::Model(values) => values,
                Solved::Nothing => return Err(lost()),
                Solved::Unknown(reason) => return Err(reason),
            },
        };
        let choice: FxHashMap<SymbolId, &Value> = back.chosen.iter().copied().zip(&chosen).collect();
        let value = |s: SymbolId| match self.position.get(&s) {
            Some(&i) => Some(values[i].clone()),
            None => choice.get(&s).map(|v| (*v).clone()),
        };
        let mut next = Vec::with_capacity(system.vars.len());
        for &n in &back.next {
            let v = evaluate(&e.pool, n, &value).map_err(|error| Reason::Incomplete(error.describe(&e.pool)))?;
            next.push(v);
        }
        let params: Vec<Value> = chosen[..system.transition(t).params.len()].to_vec();
        let to = self.visit(system.transition(t).target, next);
        self.visited[at].steps.push((t, params.clone(), to));
        Ok((params, to))
    }
}

fn lost() -> Reason {
    Reason::Incomplete("the path that was found has no run".into())
}
