//! What the end of a run shows: goals met in order, a sinkhole or a deadlock.

use gander_system::{ClaimKind, Effect, Goal, NodeId, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::flat::FlatRun;

/// What the end of a run shows.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    /// The run meets these goals in order, the last of them at its end.
    Goals(Vec<Stage>),
    /// The run ends at this node, and no transition is enabled there.
    Sinkhole(NodeId),
    /// The run ends at a node that is not final, and no step can be completed.
    Deadlock,
}

/// A goal of a run.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// A state that satisfies the formula.
    State(TermId),
    /// A step of one of these transitions that satisfies its formula over state and parameters.
    Step(Vec<(TransitionId, TermId)>),
}

impl Ending {
    /// What a run that decides a claim of this kind shows; `None` for claims about infinite runs,
    /// and for those whose end depends on all parameters of a transition at once.
    pub(crate) fn of(system: &System, pool: &mut Pool, kind: &ClaimKind) -> Option<Ending> {
        Some(match kind {
            ClaimKind::Always(p) => Ending::Goals(vec![Stage::State(pool.not(p.term()))]),
            ClaimKind::Reachable(goals) => Ending::Goals(goals.iter().map(stage).collect()),
            ClaimKind::CanEnable(t) if system.transition(*t).params.is_empty() => {
                let guard = system.guard_term(pool, *t);
                let at = at_node(system, pool, system.transition(*t).source);
                Ending::Goals(vec![Stage::State(pool.and([at, guard]))])
            }
            ClaimKind::NoSinkhole(n) => Ending::Sinkhole(*n),
            ClaimKind::NoDeadlock => Ending::Deadlock,
            _ => return None,
        })
    }

    /// The goals for a search. Parameters and next values are quantified where the end is about all
    /// of them.
    pub(crate) fn stages(&self, system: &System, pool: &mut Pool) -> Vec<Stage> {
        match self {
            Ending::Goals(stages) => stages.clone(),
            Ending::Sinkhole(n) => {
                let at = at_node(system, pool, *n);
                let mut parts = vec![at];
                for &t in system.leaving(*n) {
                    let enabled = step_possible(system, pool, t, Extent::Enabled);
                    parts.push(pool.not(enabled));
                }
                vec![Stage::State(pool.and(parts))]
            }
            Ending::Deadlock => {
                let mut parts = Vec::new();
                for n in system.node_ids() {
                    let at = at_node(system, pool, n);
                    let not_here = pool.not(at);
                    if system.node(n).is_final {
                        parts.push(not_here);
                        continue;
                    }
                    for &t in system.leaving(n) {
                        let step = step_possible(system, pool, t, Extent::Completed);
                        let stuck = pool.not(step);
                        parts.push(pool.or([not_here, stuck]));
                    }
                }
                vec![Stage::State(pool.and(parts))]
            }
        }
    }

    /// The earliest positions at which a run meets each goal in order; `None` if it does not.
    pub(crate) fn places(&self, system: &System, pool: &Pool, run: &FlatRun) -> Option<Vec<Place>> {
        let Ending::Goals(stages) = self else { return Some(Vec::new()) };
        let last = run.states.len() - 1;
        let mut places = Vec::new();
        let mut from = 0;
        for stage in stages {
            let place = match stage {
                Stage::State(f) => {
                    let state = (from..=last).find(|&i| is_true(system, pool, run, i, *f))?;
                    from = state;
                    Place { at: state as u32, formula: *f }
                }
                Stage::Step(choices) => {
                    let met = |i: usize| {
                        let taken = run.steps.get(i)?.0;
                        let (_, f) = choices.iter().find(|(t, _)| *t == taken)?;
                        is_true(system, pool, run, i, *f).then_some((i, *f))
                    };
                    let (step, formula) = (from..last).find_map(met)?;
                    from = step + 1;
                    Place { at: step as u32, formula }
                }
            };
            places.push(place);
        }
        Some(places)
    }
}

/// A formula that holds of the state after `at` steps, and of the step that leaves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub at: u32,
    pub formula: TermId,
}

fn stage(goal: &Goal) -> Stage {
    match goal {
        Goal::State(f) => Stage::State(f.term()),
        Goal::Step { choices, .. } => {
            Stage::Step(choices.iter().map(|(t, f)| (*t, f.term())).collect())
        }
    }
}

/// `@node == n`
pub(crate) fn at_node(system: &System, pool: &mut Pool, n: NodeId) -> TermId {
    let (here, node) = (pool.var(system.location()), system.node_constant(pool, n));
    pool.eq(here, node)
}

/// How much of a transition is required.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Its guard holds.
    Enabled,
    /// Its effect can be completed as well, and the next state satisfies the assumptions.
    Completed,
}

/// The transition is enabled (or can be completed) for some parameters and next values.
fn step_possible(system: &System, pool: &mut Pool, id: TransitionId, how: Extent) -> TermId {
    let t = system.transition(id);
    let body = step_formula(system, pool, id, how);
    let mut map = FxHashMap::default();
    if how == Extent::Completed {
        for e in &t.effect {
            let (v, value) = match *e {
                Effect::Assign { var, value, .. } => (var, value.term()),
                Effect::Keep { var, .. } => (var, pool.var(system.var(var).current)),
                Effect::Constrain { .. } => continue,
            };
            map.insert(system.var(v).next, value);
        }
    }
    let body = pool.substitute(body, &map);
    let open: Vec<SymbolId> =
        t.params.iter().map(|p| p.symbol).chain(system.vars().iter().map(|v| v.next)).collect();
    let free = pool.free_symbols(&[body]);
    let mut bound = Vec::new();
    let mut renamed = FxHashMap::default();
    for s in open.into_iter().filter(|s| free.contains(s)) {
        let (name, sort) = (pool.symbol(s).name.clone(), pool.symbol(s).sort);
        let b = pool.declare_bound(&name, sort);
        bound.push(b);
        let var = pool.var(b);
        renamed.insert(s, var);
    }
    let body = pool.substitute(body, &renamed);
    pool.exists(&bound, body)
}

/// The transition is enabled (or completed) with these parameters and next values.
pub(crate) fn step_formula(
    system: &System,
    pool: &mut Pool,
    id: TransitionId,
    how: Extent,
) -> TermId {
    let t = system.transition(id);
    let guard = system.guard_term(pool, id);
    if how == Extent::Enabled {
        return guard;
    }
    let effect = system.effect_term(pool, id);
    let admissible = system.assumption_term(pool, t.target);
    let primed: FxHashMap<SymbolId, TermId> =
        system.vars().iter().map(|v| (v.current, pool.var(v.next))).collect();
    let admissible = pool.substitute(admissible, &primed);
    pool.and([guard, effect, admissible])
}

/// The values of symbols in a state of a run and in the step that leaves it.
pub(crate) fn look_up<'a>(
    system: &'a System,
    run: &'a FlatRun,
    state: usize,
) -> impl Fn(SymbolId) -> Option<Value> + use<'a> {
    let mut at: FxHashMap<SymbolId, Value> = FxHashMap::default();
    for (v, value) in system.vars().iter().zip(&run.states[state]) {
        at.insert(v.current, value.clone());
    }
    if let Some(next) = run.states.get(state + 1) {
        at.extend(system.vars().iter().zip(next).map(|(v, value)| (v.next, value.clone())));
    }
    if let Some((t, params)) = run.steps.get(state) {
        at.extend(
            system
                .transition(*t)
                .params
                .iter()
                .zip(params)
                .map(|(p, value)| (p.symbol, value.clone())),
        );
    }
    if let gander_term::Sort::Enum(id) = system.pool().symbol(system.location()).sort {
        at.insert(system.location(), Value::Enum(id, run.node(system, state).0));
    }
    move |s| at.get(&s).cloned()
}

/// True if the formula holds in a state of a run and for the step that leaves it.
pub(crate) fn is_true(
    system: &System,
    pool: &Pool,
    run: &FlatRun,
    state: usize,
    formula: TermId,
) -> bool {
    evaluate(pool, formula, &look_up(system, run, state)) == Ok(Value::Bool(true))
}
