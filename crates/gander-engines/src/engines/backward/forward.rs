//! Runs along paths that the backward search found, and the visited states.
//!
//! A path is `t1 ... tk` with cubes `c0 ... ck`: `c0` contains a visited state, and from every
//! state of `c(i-1)` a step of `ti` leads into `ci`. So the values are found from the front, with
//! one query per step. Visited states and their steps are kept, so that other runs reuse them.

use std::sync::Arc;
use std::time::Duration;

use gander_smt::Reason;
use gander_system::{NodeId, StartId, State, System, TransitionId};
use gander_term::{Pool, Simplifier, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::cube::{CubeId, Cubes};
use super::preimage::PreImages;
use crate::core::EngineContext;
use crate::encode::encoding::Encoding;
use crate::encode::query::{Query, Solved, first_value};
use crate::encode::unrolling::Path;

/// The target of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Into {
    Cube(CubeId),
    /// Any state; the state before the step and its parameters satisfy the formula.
    Anything(TermId),
}

/// The context for computing steps.
pub(super) struct Tools<'a> {
    pub context: &'a EngineContext,
    pub e: &'a mut Encoding,
    pub query: &'a mut Query,
    pub cubes: &'a Cubes,
    pub pre: &'a mut PreImages,
    /// Time limit for the values of one step.
    pub time_limit: Duration,
}

/// The origin of a visited state.
enum Origin {
    Start(StartId),
    Step(usize, TransitionId, Vec<Value>),
}

/// A reachable state.
struct Visited {
    state: State,
    origin: Origin,
    /// The length of the shortest known run to it.
    depth: u32,
    /// Known steps: transition, parameters and the visited target.
    steps: Vec<(TransitionId, Vec<Value>, usize)>,
}

/// See the module's documentation.
pub(super) struct Forward {
    system: Arc<System>,
    position: FxHashMap<SymbolId, usize>,
    visited: Vec<Visited>,
    by_state: FxHashMap<State, usize>,
    by_node: Vec<Vec<usize>>,
}

impl Forward {
    pub(super) fn new(system: &Arc<System>) -> Forward {
        let position = system.vars().iter().enumerate().map(|(i, v)| (v.current, i)).collect();
        Forward {
            system: Arc::clone(system),
            position,
            visited: Vec::new(),
            by_state: FxHashMap::default(),
            by_node: vec![Vec::new(); system.nodes().len()],
        }
    }

    /// The number of visited states.
    pub(super) fn len(&self) -> usize {
        self.visited.len()
    }

    /// The visited states at a node.
    pub(super) fn at_node(&self, n: NodeId) -> &[usize] {
        &self.by_node[n.index()]
    }

    pub(super) fn state(&self, at: usize) -> &State {
        &self.visited[at].state
    }

    pub(super) fn depth(&self, at: usize) -> u32 {
        self.visited[at].depth
    }

    fn visit(&mut self, node: NodeId, values: Vec<Value>, origin: Origin, depth: u32) -> usize {
        let state = State { node, values };
        if let Some(&known) = self.by_state.get(&state) {
            if depth < self.visited[known].depth {
                self.visited[known].depth = depth;
                self.visited[known].origin = origin;
            }
            return known;
        }
        let at = self.visited.len();
        self.by_state.insert(state.clone(), at);
        self.by_node[node.index()].push(at);
        self.visited.push(Visited { state, origin, depth, steps: Vec::new() });
        at
    }

    /// Adds a start state.
    pub(super) fn begin(&mut self, s: StartId, values: Vec<Value>) -> usize {
        self.visit(self.system.starts()[s.index()].target, values, Origin::Start(s), 0)
    }

    /// The visited state of least depth at the node that is in the cube.
    pub(super) fn nearest(
        &self,
        pool: &Pool,
        cubes: &Cubes,
        node: NodeId,
        c: CubeId,
    ) -> Option<usize> {
        let here = self.by_node[node.index()].iter().copied();
        here.filter(|&at| cubes.holds(pool, c, &self.visited[at].state.values) == Some(true))
            .min_by_key(|&at| self.visited[at].depth)
    }

    /// The run to a visited state, continued along the path.
    pub(super) fn path(
        &mut self,
        tools: &mut Tools<'_>,
        from: usize,
        path: &[(TransitionId, Into)],
    ) -> Result<Path, Reason> {
        let (mut states, mut steps) = (Vec::new(), Vec::new());
        let mut at = from;
        let start = loop {
            states.push(self.visited[at].state.clone());
            match &self.visited[at].origin {
                Origin::Start(s) => break *s,
                Origin::Step(before, t, params) => {
                    steps.push((*t, params.clone()));
                    at = *before;
                }
            }
        };
        states.reverse();
        steps.reverse();
        at = from;
        for &(t, into) in path {
            let (params, next) = self.step(tools, at, t, into)?;
            steps.push((t, params));
            states.push(self.visited[next].state.clone());
            at = next;
        }
        Ok(Path { start: Some(start), states, steps })
    }

    /// True if a step of the transition from the state is known.
    pub(super) fn has_left(&self, at: usize, t: TransitionId) -> bool {
        self.visited[at].steps.iter().any(|(taken, ..)| *taken == t)
    }

    /// The target of some step of the transition, if it is found within the time limit.
    pub(super) fn probe(
        &mut self,
        tools: &mut Tools<'_>,
        at: usize,
        t: TransitionId,
    ) -> Option<usize> {
        let any = tools.e.pool.tt();
        self.step(tools, at, t, Into::Anything(any)).ok().map(|(_, next)| next)
    }

    fn step(
        &mut self,
        tools: &mut Tools<'_>,
        at: usize,
        t: TransitionId,
        into: Into,
    ) -> Result<(Vec<Value>, usize), Reason> {
        let Tools { context, e, query, cubes, pre, time_limit } = tools;
        if let Into::Cube(c) = into {
            for (taken, params, next) in &self.visited[at].steps {
                if *taken == t
                    && cubes.holds(&e.pool, c, &self.visited[*next].state.values) == Some(true)
                {
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
        for (v, value) in system.vars().iter().zip(&values) {
            map.insert(v.current, e.pool.constant(value.clone()));
        }
        let body = e.pool.substitute(body, &map);
        let body = Simplifier::new().simplify(&mut e.pool, body);
        let chosen = match e.pool.as_bool(body) {
            Some(true) => back.chosen.iter().map(|&s| first_value(e.pool.symbol(s).sort)).collect(),
            Some(false) => return Err(lost()),
            None => match query.solve(context, &e.pool, &[body], &back.chosen, *time_limit) {
                Solved::Model(values) => values,
                Solved::Nothing => return Err(lost()),
                Solved::Unknown(reason) => return Err(reason),
            },
        };
        let choice: FxHashMap<SymbolId, &Value> =
            back.chosen.iter().copied().zip(&chosen).collect();
        let value = |s: SymbolId| match self.position.get(&s) {
            Some(&i) => Some(values[i].clone()),
            None => choice.get(&s).map(|v| (*v).clone()),
        };
        let mut next = Vec::with_capacity(system.vars().len());
        for &n in &back.next {
            let v = evaluate(&e.pool, n, &value)
                .map_err(|error| Reason::Incomplete(error.describe(&e.pool)))?;
            next.push(v);
        }
        let params: Vec<Value> = chosen[..system.transition(t).params.len()].to_vec();
        let (origin, depth) = (Origin::Step(at, t, params.clone()), self.visited[at].depth + 1);
        let to = self.visit(system.transition(t).target, next, origin, depth);
        self.visited[at].steps.push((t, params.clone(), to));
        Ok((params, to))
    }
}

fn lost() -> Reason {
    Reason::Incomplete("the path that was found has no run".into())
}
