//! Closed sets: all reachable states, enumerated by the checker itself.
//!
//! Evidence of this kind is the number of reachable states. The checker enumerates them from the
//! system alone, with its own search ([`search`]), compares their number, and decides the claim on
//! them. The search works on exact values with the evaluator of terms, and is undecided where it
//! cannot be complete. It shares no code with the explicit-state engines. The states are kept for
//! further claims about the same system.

mod candidates;
mod search;
mod states;

use std::sync::Arc;

use gander_system::{ClaimKind, Effect, NodeId, StartId, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::discharge::CheckContext;
use crate::evidence::{Direction, unfit};
use crate::formula::bad::Bad;
use crate::formula::eliminate;
use crate::formula::relation::Relation;
use crate::formula::{Compiled, Situation};
use crate::rejection::{Rejection, undecided, wrong};

use search::{Compute, Search};
use states::States;

/// The number of states between two checks for cancellation.
const STATES_BETWEEN_CHECKS: u32 = 256;

/// All reachable states of a system.
#[derive(Debug)]
pub(crate) struct Explored {
    /// Everything that the reachable states depend on, in terms of the pool.
    signature: Vec<u32>,
    pool: Arc<Pool>,
    states: States,
    /// States that no step leaves.
    stuck: Vec<u32>,
}

/// Checks that the system has this number of reachable states and that they decide the claim in
/// this direction.
pub(crate) fn check_closed_set(
    cx: &mut CheckContext<'_>,
    kind: &ClaimKind,
    direction: Direction,
    states: u64,
) -> Result<(), Rejection> {
    let fits = match (kind, direction) {
        (ClaimKind::NoDeadlock, Direction::Holds) | (ClaimKind::AlwaysPossible(_), _) => true,
        _ => Bad::of(cx, kind, direction).is_ok(),
    };
    if !fits {
        return Err(unfit("a closed set", kind, direction));
    }
    if states > cx.limits.states {
        return Err(undecided(format!(
            "there are more than {} states to be enumerated",
            cx.limits.states
        )));
    }
    let explored = explored(cx, states)?;
    let result = if explored.states.len() as u64 == states {
        decide(cx, &explored, kind, direction)
    } else {
        Err(wrong(format!("there are {} reachable states, not {states}", explored.states.len())))
    };
    cx.explored = Some(explored);
    result
}

/// The reachable states, from an earlier check if that was about the same system.
fn explored(cx: &mut CheckContext<'_>, expected: u64) -> Result<Explored, Rejection> {
    let signature = signature(cx.system);
    match cx.explored.take() {
        Some(known)
            if known.signature == signature && Arc::ptr_eq(&known.pool, cx.system.pool()) =>
        {
            Ok(known)
        }
        _ => explore(cx, signature, expected),
    }
}

/// Everything that the reachable states depend on: two systems over one pool with the same
/// signature have the same reachable states.
fn signature(system: &System) -> Vec<u32> {
    let mut s: Vec<u32> = vec![system.nodes().len() as u32, system.vars().len() as u32];
    let term = |t: TermId| t.index() as u32;
    s.extend(system.vars().iter().flat_map(|v| [v.current.index() as u32, v.next.index() as u32]));
    s.push(system.starts().len() as u32);
    for start in system.starts() {
        s.extend([start.target.0, start.constraint.len() as u32]);
        s.extend(start.constraint.iter().map(|c| term(c.term.term())));
    }
    s.push(system.transitions().len() as u32);
    for t in system.transitions() {
        s.extend([
            t.source.0,
            t.target.0,
            t.params.len() as u32,
            t.guard.len() as u32,
            t.effect.len() as u32,
        ]);
        s.extend(t.params.iter().map(|p| p.symbol.index() as u32));
        s.extend(t.guard.iter().map(|g| term(g.term.term())));
        for part in &t.effect {
            match *part {
                Effect::Assign { var, value, .. } => s.extend([0, var.0, term(value.term())]),
                Effect::Constrain { relation, .. } => s.extend([1, 0, term(relation.term())]),
                Effect::Keep { var, .. } => s.extend([2, var.0, 0]),
            }
        }
    }
    s.push(system.assumptions().len() as u32);
    s.extend(system.assumptions().iter().map(|a| term(a.term.term())));
    s
}

fn explore(
    cx: &mut CheckContext<'_>,
    signature: Vec<u32>,
    expected: u64,
) -> Result<Explored, Rejection> {
    let system = cx.system;
    let mut states = States::new(system.vars().len());
    for (i, start) in system.starts().iter().enumerate() {
        let formulas = [
            system.start_term(&mut cx.pool, StartId::from(i)),
            crate::formula::relation::admissible(cx, start.target),
        ];
        let vars: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
        let outputs: Vec<TermId> = vars.iter().map(|&s| cx.pool.var(s)).collect();
        let mut search = Search::new(&mut cx.pool, &[], &vars, &formulas, &outputs)?;
        search.run(&[], &mut |values| {
            states.insert(start.target, values)?;
            too_many(&states, expected)
        })?;
    }
    let mut moves: Vec<Option<Search>> = system.transitions().iter().map(|_| None).collect();
    let mut guards: Vec<Option<Guards>> = system.nodes().iter().map(|_| None).collect();
    let mut stuck = Vec::new();
    let mut i = 0;
    while i < states.len() {
        if i % STATES_BETWEEN_CHECKS == 0 {
            cx.check_cancelled()?;
        }
        let (node, values) = states.get(i);
        let mut some = false;
        if guards[node.index()].is_none() {
            guards[node.index()] = Some(Guards::new(cx, node)?);
        }
        let Some(guards) = &mut guards[node.index()] else { continue };
        for t in guards.open(&values)? {
            if moves[t.index()].is_none() {
                moves[t.index()] = Some(steps(cx, t, &[])?);
            }
            let Some(search) = &mut moves[t.index()] else { continue };
            search.run(&values, &mut |next| {
                some = true;
                states.insert(system.transition(t).target, next)?;
                too_many(&states, expected)
            })?;
        }
        if !some {
            stuck.push(i);
        }
        i += 1;
    }
    Ok(Explored { signature, pool: Arc::clone(system.pool()), states, stuck })
}

/// The conjuncts of guards that depend on the state alone, for all transitions that leave a node.
/// They are evaluated together: of hundreds of transitions most are disabled, and only the others
/// are searched for steps.
struct Guards {
    leaving: Vec<TransitionId>,
    demands: Compute,
}

impl Guards {
    fn new(cx: &mut CheckContext<'_>, node: NodeId) -> Result<Guards, Rejection> {
        let system = cx.system;
        let places: FxHashMap<SymbolId, usize> =
            system.vars().iter().enumerate().map(|(i, v)| (v.current, i)).collect();
        let leaving = system.leaving(node).to_vec();
        let mut demands = Vec::with_capacity(leaving.len());
        for &t in &leaving {
            let guard = system.guard_term(&mut cx.pool, t);
            let mut of_state = crate::formula::conjuncts(&cx.pool, guard);
            of_state.retain(|&part| {
                cx.pool.free_symbols(&[part]).iter().all(|s| places.contains_key(s))
            });
            demands.push(cx.pool.and(of_state));
        }
        Ok(Guards { leaving, demands: Compute::new(&cx.pool, &demands, &places)? })
    }

    /// The transitions that may be enabled in a state.
    fn open(&mut self, values: &[Value]) -> Result<Vec<TransitionId>, Rejection> {
        let met = self.demands.run(values)?;
        Ok(self
            .leaving
            .iter()
            .zip(met)
            .filter(|(_, v)| **v != Value::Bool(false))
            .map(|(&t, _)| t)
            .collect())
    }
}

/// An error if there are more states than the evidence says; there may be infinitely many.
fn too_many(states: &States, expected: u64) -> Result<bool, Rejection> {
    if states.len() as u64 > expected {
        return Err(wrong(format!("there are more than {expected} reachable states")));
    }
    Ok(false)
}

/// A search for the steps of a transition that satisfy further formulas over state and parameters;
/// its outputs are the next values.
fn steps(
    cx: &mut CheckContext<'_>,
    t: TransitionId,
    further: &[TermId],
) -> Result<Search, Rejection> {
    let relation = Relation::new(cx, t);
    let known: Vec<SymbolId> = cx.system.vars().iter().map(|v| v.current).collect();
    let mut outputs = Vec::new();
    for v in cx.system.vars() {
        let now = cx.pool.var(v.current);
        outputs.push(relation.after_step(cx, now));
    }
    let mut formulas = vec![relation.formula];
    formulas.extend(further);
    Search::new(&mut cx.pool, &known, &relation.choices(), &formulas, &outputs)
}

fn decide(
    cx: &mut CheckContext<'_>,
    all: &Explored,
    kind: &ClaimKind,
    direction: Direction,
) -> Result<(), Rejection> {
    let system = cx.system;
    match kind {
        ClaimKind::NoDeadlock => {
            let bad = |&i: &u32| !system.node(all.states.get(i).0).is_final;
            if all.stuck.iter().any(bad) {
                Err(wrong("no step leaves some reachable state"))
            } else {
                Ok(())
            }
        }
        ClaimKind::AlwaysPossible(p) => {
            let mut goal = Vec::new();
            let mut formula = Compiled::new(cx, &[], &[p.term()])?;
            for i in 0..all.states.len() {
                let (node, values) = all.states.get(i);
                let at = Situation { node, current: &values, params: &[], next: &[] };
                goal.push(formula.all_true(cx, at)?);
            }
            let possible = always_reachable(cx, all, goal)?;
            match (possible, direction) {
                (true, Direction::Holds) | (false, Direction::Fails) => Ok(()),
                (true, Direction::Fails) => Err(wrong("it is possible from every reachable state")),
                (false, Direction::Holds) => {
                    Err(wrong("it is not possible from some reachable state"))
                }
            }
        }
        _ => {
            let bad = Bad::of(cx, kind, direction)?;
            for &(n, formula) in &bad.states {
                no_state(cx, all, n, formula)?;
            }
            for &(t, formula) in &bad.steps {
                no_step(cx, all, t, formula)?;
            }
            Ok(())
        }
    }
}

/// Checks that no state at the node satisfies the formula with any parameters.
fn no_state(
    cx: &mut CheckContext<'_>,
    all: &Explored,
    n: NodeId,
    formula: TermId,
) -> Result<(), Rejection> {
    let known: Vec<SymbolId> = cx.system.vars().iter().map(|v| v.current).collect();
    let choices: Vec<SymbolId> =
        cx.pool.free_symbols(&[formula]).into_iter().filter(|s| !known.contains(s)).collect();
    let met = || {
        wrong(format!(
            "a reachable state at node `{}` meets what must not be met",
            cx.system.node(n).name
        ))
    };
    let tried = if choices.is_empty() || cx.pool.has_quantifier(formula) {
        None
    } else {
        Search::new(&mut cx.pool, &known, &choices, &[formula], &[]).ok()
    };
    let mut solved = match tried {
        Some(_) => None,
        None => {
            let without = eliminate::exists(&mut cx.pool, &choices, formula);
            Some(Compiled::new(cx, &[], &[without])?)
        }
    };
    let mut tried = tried;
    for i in 0..all.states.len() {
        if i % STATES_BETWEEN_CHECKS == 0 {
            cx.check_cancelled()?;
        }
        let (node, values) = all.states.get(i);
        if node != n {
            continue;
        }
        let mut yes = false;
        if let Some(search) = &mut tried {
            search.run(&values, &mut |_| {
                yes = true;
                Ok(true)
            })?;
        }
        if let Some(formula) = &mut solved {
            yes |= formula
                .all_true(cx, Situation { node, current: &values, params: &[], next: &[] })?;
        }
        if yes {
            return Err(met());
        }
    }
    Ok(())
}

/// Checks that no step of the transition from a reachable state satisfies the formula.
fn no_step(
    cx: &mut CheckContext<'_>,
    all: &Explored,
    t: TransitionId,
    formula: TermId,
) -> Result<(), Rejection> {
    let transition = cx.system.transition(t);
    let mut search = steps(cx, t, &[formula])?;
    for i in 0..all.states.len() {
        if i % STATES_BETWEEN_CHECKS == 0 {
            cx.check_cancelled()?;
        }
        let (node, values) = all.states.get(i);
        if node != transition.source {
            continue;
        }
        let mut yes = false;
        search.run(&values, &mut |_| {
            yes = true;
            Ok(true)
        })?;
        if yes {
            return Err(wrong(format!(
                "a step of `{}` meets what must not be met",
                transition.name
            )));
        }
    }
    Ok(())
}

/// True if from every state one of the marked states is reachable.
fn always_reachable(
    cx: &mut CheckContext<'_>,
    all: &Explored,
    marked: Vec<bool>,
) -> Result<bool, Rejection> {
    let system = cx.system;
    let mut sources: Vec<Vec<u32>> = vec![Vec::new(); marked.len()];
    let mut moves: Vec<Search> = Vec::new();
    for t in system.transition_ids() {
        moves.push(steps(cx, t, &[])?);
    }
    for i in 0..all.states.len() {
        if i % STATES_BETWEEN_CHECKS == 0 {
            cx.check_cancelled()?;
        }
        let (node, values) = all.states.get(i);
        for &t in system.leaving(node) {
            moves[t.index()].run(&values, &mut |next| {
                match all.states.find(system.transition(t).target, next) {
                    Some(to) => sources[to as usize].push(i),
                    None => return Err(undecided("a state was met that was not there before")),
                }
                Ok(false)
            })?;
        }
    }
    let mut reach = marked;
    let mut stack: Vec<usize> = (0..reach.len()).filter(|&i| reach[i]).collect();
    while let Some(i) = stack.pop() {
        for &source in &sources[i] {
            if !std::mem::replace(&mut reach[source as usize], true) {
                stack.push(source as usize);
            }
        }
    }
    Ok(reach.into_iter().all(|r| r))
}

/// Values of a state, in the order of the variables.
type Values = Vec<Value>;
