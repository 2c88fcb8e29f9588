//! A system compiled for taking random concrete steps.

use std::sync::Arc;

use gander_system::{Effect, NodeId, StartId, State, StateVar, System, TransitionId};
use gander_term::{Op, Pool, SymbolId, TermId, Value};
use rustc_hash::FxHashSet;

use super::super::limits::LIMITS;
use super::formula::{Formula, Moment, Scope, Workspace};
use super::order::order;
use super::random::Random;
use super::sample::{Constants, Source};

/// A compiled transition.
struct Move {
    target: NodeId,
    params: Vec<Source>,
    guard: Option<Formula>,
    /// Variables that are assigned, and their values.
    assigned: Vec<usize>,
    values: Option<Formula>,
    /// Variables that are neither assigned nor kept.
    open: Vec<(usize, Source)>,
    /// The constraints over both states; `None` if there are none.
    relation: Option<Formula>,
    /// False if some formula could not be compiled; then the transition is never taken.
    usable: bool,
}

struct Beginning {
    target: NodeId,
    /// In the order in which values are chosen.
    sources: Vec<(usize, Source)>,
    constraint: Option<Formula>,
}

/// See the module's documentation.
pub(crate) struct Machine {
    pub system: Arc<System>,
    moves: Vec<Move>,
    beginnings: Vec<Beginning>,
    /// By node: the assumptions, if there are any.
    assumptions: Vec<Option<Formula>>,
    constants: Constants,
    work: Workspace,
}

/// A step that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub transition: TransitionId,
    pub params: Vec<Value>,
    pub state: State,
}

impl Machine {
    pub(crate) fn new(system: &Arc<System>, scope: &Scope) -> Machine {
        let mut pool = Pool::fork(system.pool());
        let mut roots: Vec<TermId> = Vec::new();
        for t in system.transition_ids() {
            roots.extend([system.guard_term(&mut pool, t), system.effect_term(&mut pool, t)]);
        }
        let starts: Vec<TermId> = (0..system.starts().len())
            .map(|s| system.start_term(&mut pool, StartId::from(s)))
            .collect();
        roots.extend(&starts);
        let constants = Constants::of(system, &pool, &roots);
        let moves =
            system.transition_ids().map(|t| compile_move(system, scope, &mut pool, t)).collect();
        let beginnings = starts
            .into_iter()
            .zip(system.starts())
            .map(|(term, start)| {
                let mut conjuncts: Vec<TermId> =
                    start.constraint.iter().map(|c| c.term.term()).collect();
                conjuncts.push(system.assumption_term(&mut pool, start.target));
                let conjuncts = flatten(&pool, &conjuncts);
                let symbols: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
                let sources = sources_in_order(&mut pool, scope, &symbols, &conjuncts);
                Beginning {
                    target: start.target,
                    sources,
                    constraint: Formula::new(scope, &pool, &[term]),
                }
            })
            .collect();
        let mut assumptions = Vec::new();
        for n in system.node_ids() {
            let term = system.assumption_term(&mut pool, n);
            let some = pool.as_bool(term) != Some(true);
            assumptions.push(if some { Formula::new(scope, &pool, &[term]) } else { None });
        }
        Machine {
            system: Arc::clone(system),
            moves,
            beginnings,
            assumptions,
            constants,
            work: Workspace::default(),
        }
    }

    /// A start state of this start, if sampling finds one.
    pub(crate) fn start(&mut self, s: StartId, random: &mut Random) -> Option<State> {
        let beginning = &self.beginnings[s.index()];
        let node = beginning.target;
        for _ in 0..LIMITS.start_tries {
            random.change_bias();
            // Initial values, which no source reads before they are replaced.
            let any = |v: &StateVar, random: &mut Random| {
                self.constants.pick(self.system.pool(), v.sort, random)
            };
            let mut values: Vec<Value> =
                self.system.vars().iter().map(|v| any(v, random)).collect();
            for (i, source) in &beginning.sources {
                let at = Moment { node, current: &values, params: &[], next: &[] };
                values[*i] = source.pick(&self.system, &self.constants, at, random, &mut self.work);
            }
            let at = Moment { node, current: &values, params: &[], next: &[] };
            let fits = beginning.constraint.as_ref()?.truth(at, &mut self.work) == Some(true);
            if fits && admissible(&self.assumptions, node, &values, &mut self.work) {
                return Some(State { node, values });
            }
        }
        None
    }

    /// Tries to take a transition with sampled parameters.
    pub(crate) fn take(
        &mut self,
        t: TransitionId,
        from: &State,
        random: &mut Random,
    ) -> Option<Taken> {
        let system = Arc::clone(&self.system);
        let step = &self.moves[t.index()];
        if !step.usable {
            return None;
        }
        let tries = if step.params.is_empty() { 1 } else { LIMITS.param_tries };
        for _ in 0..tries {
            let mut params = Vec::with_capacity(step.params.len());
            for source in &step.params {
                let at =
                    Moment { node: from.node, current: &from.values, params: &params, next: &[] };
                let value = source.pick(&system, &self.constants, at, random, &mut self.work);
                params.push(value);
            }
            let at = Moment { node: from.node, current: &from.values, params: &params, next: &[] };
            if let Some(guard) = &step.guard
                && guard.truth(at, &mut self.work) != Some(true)
            {
                continue;
            }
            let mut next = from.values.clone();
            if let Some(values) = &step.values {
                let Some(values) = values.values(at, &mut self.work) else { continue };
                for (&i, v) in step.assigned.iter().zip(values) {
                    next[i] = v.clone();
                }
            }
            let tries = if step.open.is_empty() { 1 } else { LIMITS.next_tries };
            for _ in 0..tries {
                random.change_bias();
                for (i, source) in &step.open {
                    let at = Moment {
                        node: from.node,
                        current: &from.values,
                        params: &params,
                        next: &next,
                    };
                    next[*i] = source.pick(&system, &self.constants, at, random, &mut self.work);
                }
                let at =
                    Moment { node: from.node, current: &from.values, params: &params, next: &next };
                let related = step
                    .relation
                    .as_ref()
                    .is_none_or(|r| r.truth(at, &mut self.work) == Some(true));
                if related && admissible(&self.assumptions, step.target, &next, &mut self.work) {
                    let state = State { node: step.target, values: next };
                    return Some(Taken { transition: t, params, state });
                }
            }
        }
        None
    }
}

impl Machine {
    /// Takes the same transition with the same parameters from another state; values that the
    /// effect leaves open are those of the given step. `None` if that is not possible.
    pub(crate) fn repeat(&mut self, taken: &Taken, from: &State) -> Option<State> {
        let step = &self.moves[taken.transition.index()];
        let source = self.system.transition(taken.transition).source;
        if !step.usable || source != from.node {
            return None;
        }
        let (node, current, params) = (from.node, &from.values[..], &taken.params[..]);
        let at = Moment { node, current, params, next: &[] };
        if let Some(guard) = &step.guard
            && guard.truth(at, &mut self.work) != Some(true)
        {
            return None;
        }
        let mut next = from.values.clone();
        if let Some(values) = &step.values {
            let values = values.values(at, &mut self.work)?;
            for (&i, v) in step.assigned.iter().zip(values) {
                next[i] = v.clone();
            }
        }
        for (i, _) in &step.open {
            next[*i] = taken.state.values[*i].clone();
        }
        let at = Moment { node, current, params, next: &next };
        let related =
            step.relation.as_ref().is_none_or(|r| r.truth(at, &mut self.work) == Some(true));
        let fits = related && admissible(&self.assumptions, step.target, &next, &mut self.work);
        fits.then_some(State { node: step.target, values: next })
    }
}

fn admissible(
    assumptions: &[Option<Formula>],
    node: NodeId,
    values: &[Value],
    work: &mut Workspace,
) -> bool {
    let at = Moment { node, current: values, params: &[], next: &[] };
    assumptions[node.index()].as_ref().is_none_or(|a| a.truth(at, work) == Some(true))
}

/// The conjuncts, with nested conjunctions flattened.
fn flatten(pool: &Pool, terms: &[TermId]) -> Vec<TermId> {
    let mut flat = Vec::new();
    let mut stack: Vec<TermId> = terms.iter().rev().copied().collect();
    while let Some(t) = stack.pop() {
        if pool.op(t) == Op::And {
            stack.extend(pool.args(t).iter().rev());
        } else {
            flat.push(t);
        }
    }
    flat
}

/// The value sources of symbols, in the order in which they are chosen. All other symbols are
/// known.
fn sources_in_order(
    pool: &mut Pool,
    scope: &Scope,
    symbols: &[SymbolId],
    conjuncts: &[TermId],
) -> Vec<(usize, Source)> {
    let mut later: FxHashSet<SymbolId> = symbols.iter().copied().collect();
    let mut sources = Vec::new();
    for placed in order(pool, symbols, conjuncts) {
        let symbol = symbols[placed.at];
        sources.push((
            placed.at,
            Source::new(pool, scope, symbol, &placed.conjuncts, |s| !later.contains(&s)),
        ));
        later.remove(&symbol);
    }
    sources
}

fn compile_move(system: &System, scope: &Scope, pool: &mut Pool, t: TransitionId) -> Move {
    let transition = system.transition(t);
    let guard = system.guard_term(pool, t);
    let guards: Vec<TermId> = flatten(pool, &[guard]);
    let params: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
    let is_current = |s: SymbolId| system.vars().iter().any(|v| v.current == s);
    let sources = (0..params.len())
        .map(|i| {
            let earlier = |s: SymbolId| is_current(s) || params[..i].contains(&s);
            Source::new(pool, scope, params[i], &guards, earlier)
        })
        .collect();
    let (mut assigned, mut values, mut relations) = (Vec::new(), Vec::new(), Vec::new());
    let mut fixed = vec![false; system.vars().len()];
    for part in &transition.effect {
        match *part {
            Effect::Assign { var, value, .. } => {
                assigned.push(var.index());
                values.push(value.term());
                fixed[var.index()] = true;
            }
            Effect::Keep { var, .. } => fixed[var.index()] = true,
            Effect::Constrain { relation, .. } => relations.push(relation.term()),
        }
    }
    let open_vars: Vec<usize> = (0..system.vars().len()).filter(|&i| !fixed[i]).collect();
    let mut open = Vec::new();
    if !open_vars.is_empty() {
        let mut conjuncts = relations.clone();
        let assumption = system.assumption_term(pool, transition.target);
        let primed = system.vars().iter().map(|v| (v.current, pool.var(v.next))).collect();
        conjuncts.push(pool.substitute(assumption, &primed));
        let conjuncts = flatten(pool, &conjuncts);
        let symbols: Vec<SymbolId> = open_vars.iter().map(|&i| system.vars()[i].next).collect();
        let sources = sources_in_order(pool, scope, &symbols, &conjuncts);
        open.extend(sources.into_iter().map(|(at, source)| (open_vars[at], source)));
    }
    let relation = pool.and(relations.iter().copied());
    let is_true = |pool: &Pool, t: TermId| pool.as_bool(t) == Some(true);
    let guard_formula =
        if is_true(pool, guard) { None } else { Formula::new(scope, pool, &[guard]) };
    let relation_formula =
        if is_true(pool, relation) { None } else { Formula::new(scope, pool, &[relation]) };
    let values_formula = if values.is_empty() { None } else { Formula::new(scope, pool, &values) };
    let usable = (is_true(pool, guard) || guard_formula.is_some())
        && (is_true(pool, relation) || relation_formula.is_some())
        && (values.is_empty() || values_formula.is_some());
    Move {
        target: transition.target,
        params: sources,
        guard: guard_formula,
        assigned,
        values: values_formula,
        open,
        relation: relation_formula,
        usable,
    }
}
