//! Slicing: the cone of influence of a claim.
//!
//! A variable is *kept* if it occurs in the claim (or its fairness constraints), in an assumption, in a guard or in a
//! constraint of an effect, or if the value assigned to a kept variable mentions it, or if a conjunct of a start
//! mentions it together with a kept one. All others are dropped, with their assignments and frames and the start conjuncts
//! about them alone.
//!
//! Guards, assumptions and constraints stay as they are, so what can block a step is all there: deadlocks, sinkholes and
//! completions are not affected. What is dropped only follows along, with one exception: start conjuncts about dropped
//! variables may be unsatisfiable, in which case the slice has start states that the system has not. So
//!
//! - the slice has every run of the system, projected: an invariant of the slice is an invariant of the system;
//! - a run of the slice is a run of the system if first values of the dropped variables can be found; the map back looks for
//!   them by evaluation, and gives up (no run) if that does not succeed;
//! - states that differ in dropped variables only are one state of the slice, so arguments from distinct states or from
//!   states that are no start do not carry over (docs/semantics.md, kind 3), nor do diameters.

use gander_term::{Op, Pool, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::builder::BuildError;
use crate::claim::{ClaimId, ClaimKind, FairnessId, FairnessKind, Goal};
use crate::evidence::{Leg, NodeFormulas, Run, State, Step};
use crate::origin::ElementId;
use crate::passes::Restore;
use crate::passes::constants::equation;
use crate::passes::copying::{ClaimCopy, Copying, ParamSymbols, Placement};
use crate::system::{Effect, StartId, System, Transition, VarId};

/// Runs longer than this are lifted only if every step is a function of state and parameters.
const LONGEST_REPLAY: u64 = 200_000;

/// A system with the variables that matter for one claim; made by [`slice`].
#[derive(Clone, Debug)]
pub struct Slice {
    /// The new system: same nodes, starts and transitions; its only claim is the one it was made for.
    pub system: System,
    /// The system that was sliced.
    old: System,
    /// By old variable: is it kept?
    kept: Vec<bool>,
    origins: Vec<Option<ElementId>>,
}

/// The slice of a system for one of its claims.
pub fn slice(system: &System, claim: ClaimId) -> Result<Slice, BuildError> {
    let c = &system.claims[claim.index()];
    let used = fairness_of(&c.kind);
    let kept = cone(system, &c.kind, &used);
    let is_kept = |symbols: Vec<SymbolId>, by_symbol: &FxHashMap<SymbolId, VarId>| {
        symbols.iter().filter_map(|s| by_symbol.get(s)).all(|v| kept[v.index()])
    };
    let by_symbol = variables_by_symbol(system);
    let nodes: Vec<(&str, _)> = system.nodes.iter().map(|n| (n.name.as_str(), n.span)).collect();
    let mut copy = Copying::new(system, &nodes)?;
    copy.copy_vars(|v| kept[v.index()])?;
    copy.copy_assumptions(|_, t| t)?;
    // What speaks of a dropped variable becomes true, which is then left out.
    let weaken = |pool: &mut Pool, t: TermId| {
        if is_kept(pool.free_symbols(&[t]), &by_symbol) { t } else { pool.tt() }
    };
    for n in system.node_ids() {
        if system.node(n).is_final {
            copy.to.set_final(n);
        }
        copy.copy_hints(n, n, weaken)?;
    }
    for (i, s) in system.starts.iter().enumerate() {
        copy.copy_start(StartId::from(i), s.target, weaken)?;
    }
    for t in system.transition_ids() {
        let old = system.transition(t);
        let at = Placement { name: &old.name, source: old.source, target: old.target, symbols: ParamSymbols::Same };
        let (mut draft, mut renaming) = copy.begin(t, &at, |_, t| t)?;
        copy.copy_effect(t, &mut draft, &mut renaming, |_, t| t)?;
        copy.end(draft)?;
    }
    let transitions: Vec<_> = system.transition_ids().map(Some).collect();
    let mut fairness = vec![None; system.fairness.len()];
    for f in used {
        if fairness[f.index()].is_none() {
            fairness[f.index()] = Some(copy.copy_fairness(f, &mut |_, t| t, &transitions)?);
        }
    }
    let mut with =
        ClaimCopy { state: &mut |_, t| t, step: &mut |_, t| t, transitions: &transitions, fairness: &fairness };
    let kind = copy.copy_kind(&c.kind, &mut with)?;
    copy.add_claim(c, kind)?;
    Ok(Slice { old: system.clone(), origins: copy.origins, system: copy.to.finish(), kept })
}

fn fairness_of(kind: &ClaimKind) -> Vec<FairnessId> {
    match kind {
        ClaimKind::Eventually { under, .. }
        | ClaimKind::AlwaysEventually { under, .. }
        | ClaimKind::LeadsTo { under, .. } => under.clone(),
        _ => Vec::new(),
    }
}

/// The variable of each symbol, current or next.
fn variables_by_symbol(system: &System) -> FxHashMap<SymbolId, VarId> {
    system.var_ids().flat_map(|v| [(system.var(v).current, v), (system.var(v).next, v)]).collect()
}

/// By variable: does it matter for the claim?
fn cone(system: &System, claim: &ClaimKind, fairness: &[FairnessId]) -> Vec<bool> {
    let by_symbol = variables_by_symbol(system);
    let variables = |terms: &[TermId]| -> Vec<VarId> {
        system.pool.free_symbols(terms).iter().filter_map(|s| by_symbol.get(s).copied()).collect()
    };
    let mut roots = claim_terms(system, claim);
    for f in fairness {
        if let FairnessKind::Justice(p) = &system.fairness[f.index()].kind {
            roots.push(p.term());
        }
    }
    roots.extend(system.assumptions.iter().map(|a| a.term.term()));
    let mut assigned: Vec<FxHashSet<TermId>> = vec![FxHashSet::default(); system.vars.len()];
    for t in &system.transitions {
        roots.extend(t.guard.iter().map(|g| g.term.term()));
        for e in &t.effect {
            match *e {
                Effect::Assign { var, value, .. } => {
                    assigned[var.index()].insert(value.term());
                }
                Effect::Constrain { relation, .. } => roots.push(relation.term()),
                Effect::Keep { .. } => {}
            }
        }
    }
    // Variables that a start conjunct ties together.
    let mut tied: Vec<Vec<VarId>> = vec![Vec::new(); system.vars.len()];
    for e in system.starts.iter().flat_map(|s| &s.constraint) {
        let together = variables(&[e.term.term()]);
        for &v in &together {
            tied[v.index()].extend(together.iter().copied());
        }
    }
    let mut kept = vec![false; system.vars.len()];
    let mut open = variables(&roots);
    while let Some(v) = open.pop() {
        if std::mem::replace(&mut kept[v.index()], true) {
            continue;
        }
        open.append(&mut tied[v.index()]);
        let values: Vec<TermId> = std::mem::take(&mut assigned[v.index()]).into_iter().collect();
        open.extend(variables(&values));
    }
    kept
}

/// The formulas that a claim speaks with. Guards and constraints are kept anyway.
fn claim_terms(system: &System, claim: &ClaimKind) -> Vec<TermId> {
    match claim {
        ClaimKind::Always(p) | ClaimKind::AlwaysPossible(p) | ClaimKind::ExistsAlways(p) => vec![p.term()],
        ClaimKind::Eventually { goal, .. } | ClaimKind::AlwaysEventually { goal, .. } => vec![goal.term()],
        ClaimKind::LeadsTo { from, to, .. } => vec![from.term(), to.term()],
        ClaimKind::StartSatisfiable(s) => system.starts[s.index()].constraint.iter().map(|e| e.term.term()).collect(),
        ClaimKind::Reachable(goals) => goals
            .iter()
            .flat_map(|g| match g {
                Goal::State(p) => vec![p.term()],
                Goal::Step { choices, .. } => choices.iter().map(|c| c.1.term()).collect(),
            })
            .collect(),
        ClaimKind::CanEnable(_)
        | ClaimKind::NoSinkhole(_)
        | ClaimKind::Completable(_)
        | ClaimKind::NoDeadlock
        | ClaimKind::InfiniteRun => Vec::new(),
    }
}

impl Slice {
    /// The dropped variables.
    pub fn dropped(&self) -> impl Iterator<Item = VarId> + '_ {
        self.old.var_ids().filter(|v| !self.kept[v.index()])
    }

    /// Values of all old variables: those of the slice, and for the others what `dropped` gives.
    fn merge(&self, new: &[Value], dropped: &[Value]) -> Option<Vec<Value>> {
        let mut new = new.iter();
        let all: Option<Vec<Value>> = self
            .kept
            .iter()
            .zip(dropped)
            .map(|(&k, d)| if k { new.next().cloned() } else { Some(d.clone()) })
            .collect();
        all.filter(|_| new.next().is_none())
    }

    /// A first state of the old system over a first state of the slice.
    fn first(&self, start: StartId, new: &State) -> Option<State> {
        let system = &self.old;
        let start = system.starts.get(start.index())?;
        let defaults: Vec<Value> = system.vars.iter().map(|v| Sort::first_value(v.sort)).collect();
        let mut values = self.merge(&new.values, &defaults)?;
        let by_symbol = variables_by_symbol(system);
        let conjuncts = conjuncts(&system.pool, start.constraint.iter().map(|e| e.term.term()));
        // First what is said outright, then what follows from it by evaluation, then a few guesses.
        let mut found: Vec<bool> = self.kept.clone();
        for &t in &conjuncts {
            if let Some((s, value)) = equation(&system.pool, t)
                && let Some(&v) = by_symbol.get(&s)
                && !found[v.index()]
            {
                values[v.index()] = value;
                found[v.index()] = true;
            }
        }
        let mut progress = true;
        while progress {
            progress = false;
            for &t in &conjuncts {
                if let Some((v, value)) = solve(system, &by_symbol, t, &values, &found) {
                    values[v.index()] = value;
                    found[v.index()] = true;
                    progress = true;
                }
            }
        }
        for v in self.dropped() {
            if !found[v.index()] {
                values[v.index()] = guess(system, v, &conjuncts, &values)?;
            }
        }
        let holds = |t: &TermId| is_true(system, *t, &values);
        conjuncts.iter().all(holds).then_some(State { node: new.node, values })
    }

    /// Every step is a function of state and parameters, so next values need not be given.
    fn is_functional(&self, legs: &[Leg]) -> bool {
        legs.iter().all(|leg| match leg {
            Leg::Repeat { body, .. } => self.is_functional(body),
            Leg::Step(s) => {
                self.old.transitions.get(s.transition.index()).is_some_and(|t: &Transition| t.is_functional(&self.old))
            }
        })
    }

    fn replay(&self, first: &State, legs: &[Leg]) -> Option<Vec<Leg>> {
        let mut values = first.values.clone();
        let mut steps = Vec::new();
        self.replay_legs(legs, &mut values, &mut steps)?;
        Some(steps)
    }

    fn replay_legs(&self, legs: &[Leg], values: &mut Vec<Value>, steps: &mut Vec<Leg>) -> Option<()> {
        for leg in legs {
            match leg {
                Leg::Repeat { times, body } => {
                    for _ in 0..*times {
                        self.replay_legs(body, values, steps)?;
                    }
                }
                Leg::Step(s) => {
                    *values = self.next_values(s, values)?;
                    steps.push(Leg::Step(Step { next: Some(values.clone()), ..s.clone() }));
                }
            }
        }
        Some(())
    }

    fn next_values(&self, step: &Step, now: &[Value]) -> Option<Vec<Value>> {
        let system = &self.old;
        let t = system.transitions.get(step.transition.index())?;
        let params: FxHashMap<SymbolId, &Value> = t.params.iter().map(|p| p.symbol).zip(&step.params).collect();
        let by_symbol = variables_by_symbol(system);
        let look = |s: SymbolId| match params.get(&s) {
            Some(&v) => Some(v.clone()),
            None => by_symbol.get(&s).map(|v| now[v.index()].clone()),
        };
        // A variable that is free keeps its value: any will do, as nothing that matters mentions it.
        let mut next = now.to_vec();
        for e in &t.effect {
            if let Effect::Assign { var, value, .. } = *e {
                next[var.index()] = evaluate(&system.pool, value.term(), &look).ok()?;
            }
        }
        match &step.next {
            Some(new) => self.merge(new, &next),
            None => Some(next),
        }
    }
}

/// The conjuncts of a conjunction.
fn conjuncts(pool: &Pool, terms: impl Iterator<Item = TermId>) -> Vec<TermId> {
    let mut stack: Vec<TermId> = terms.collect();
    let mut found = Vec::new();
    while let Some(t) = stack.pop() {
        match pool.op(t) {
            Op::And => stack.extend_from_slice(pool.args(t)),
            _ => found.push(t),
        }
    }
    found
}

fn is_true(system: &System, t: TermId, values: &[Value]) -> bool {
    let look = |s: SymbolId| system.vars.iter().position(|v| v.current == s).map(|i| values[i].clone());
    matches!(evaluate(&system.pool, t, &look), Ok(Value::Bool(true)))
}

/// `x` and the value of `e` if the term is `x == e`, only `x` is not known.
fn solve(
    system: &System,
    by_symbol: &FxHashMap<SymbolId, VarId>,
    t: TermId,
    values: &[Value],
    found: &[bool],
) -> Option<(VarId, Value)> {
    let pool = &system.pool;
    let &[a, b] = pool.args(t) else { return None };
    if pool.op(t) != Op::Eq {
        return None;
    }
    let look = |s: SymbolId| by_symbol.get(&s).filter(|v| found[v.index()]).map(|v| values[v.index()].clone());
    let side = |x: TermId, e: TermId| {
        let v = *by_symbol.get(&pool.as_symbol(x)?)?;
        if found[v.index()] { None } else { Some((v, evaluate(pool, e, &look).ok()?)) }
    };
    side(a, b).or_else(|| side(b, a))
}

/// A value with which every conjunct about the variable is true: the default, a constant of these conjuncts, or the
/// number next to one.
fn guess(system: &System, v: VarId, conjuncts: &[TermId], values: &[Value]) -> Option<Value> {
    let pool = &system.pool;
    let symbol = system.var(v).current;
    let about: Vec<TermId> = conjuncts.iter().copied().filter(|&t| pool.free_symbols(&[t]).contains(&symbol)).collect();
    let mut candidates = vec![Sort::first_value(system.var(v).sort)];
    for t in pool.postorder(&about) {
        match pool.as_constant(t) {
            Some(Value::Int(i)) => {
                candidates.extend([i.clone(), i.clone() + 1, i - 1].map(Value::Int));
            }
            Some(Value::Real(r)) => {
                let one = gander_term::RBig::from(1);
                candidates.extend([r.clone(), &r + &one, &r - &one].map(Value::Real));
            }
            Some(other) => candidates.push(other),
            None => {}
        }
    }
    if system.var(v).sort == Sort::Bool {
        candidates.push(Value::Bool(true));
    }
    let mut values = values.to_vec();
    candidates.into_iter().filter(|c| c.sort() == system.var(v).sort).find(|c| {
        values[v.index()] = c.clone();
        about.iter().all(|&t| is_true(system, t, &values))
    })
}

impl Restore for Slice {
    fn run(&self, run: &Run) -> Option<Run> {
        let first = self.first(run.start, &run.first)?;
        let legs = if self.is_functional(&run.legs) {
            without_next(&run.legs)
        } else if run.length() <= LONGEST_REPLAY {
            self.replay(&first, &run.legs)?
        } else {
            return None;
        };
        Some(Run { start: run.start, first, legs: legs.into() })
    }

    fn invariant(&self, invariant: &NodeFormulas) -> Option<NodeFormulas> {
        Some(invariant.clone())
    }

    fn is_exact(&self) -> bool {
        self.kept.iter().all(|&k| k)
    }

    fn element(&self, element: ElementId) -> Option<ElementId> {
        self.origins.get(element.index()).copied().flatten()
    }
}

fn without_next(legs: &[Leg]) -> Vec<Leg> {
    legs.iter()
        .map(|leg| match leg {
            Leg::Repeat { times, body } => Leg::Repeat { times: *times, body: without_next(body) },
            Leg::Step(s) => Leg::Step(Step { next: None, ..s.clone() }),
        })
        .collect()
}

#[cfg(test)]
#[path = "slice_tests.rs"]
mod tests;
