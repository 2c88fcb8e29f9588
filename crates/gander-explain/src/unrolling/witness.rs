//! Runs of relaxations that violate the claim: they show that a set of parts is inadequate.
//!
//! A solver's path is checked by evaluation: it counts only if the kept parts hold along it and the
//! claim is false at its end. Evaluation also finds the other parts that hold along the run. These
//! can be added to the set, and it is still inadequate; this grows an inadequate set without
//! another query.

use gander_smt::StepSymbol;
use gander_system::{
    ClaimId, ClaimKind, Effect, ElementKind, Goal, Leg, Run, StartId, State, Step, System,
    TransitionId, Verdict,
};
use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::parts::Parts;
use crate::parts::set::PartSet;
use crate::unrolling::path::Values;

/// A run of a relaxation that violates the claim.
#[derive(Clone, Debug)]
pub(crate) struct Witness {
    pub run: Run,
}

/// What holds along a run.
#[derive(Clone, Debug)]
pub(crate) struct Satisfied {
    /// Parts all of whose elements hold wherever they apply.
    pub parts: PartSet,
    /// True if all elements that belong to no part hold as well.
    pub rest: bool,
}

impl Witness {
    /// Reads a path of this many steps.
    pub(crate) fn read(system: &System, values: &Values, steps: u32) -> Option<Witness> {
        let start = values.starts.iter().position(|&s| values.is_true(s, 0))?;
        let state = |i: u32| -> Option<Vec<Value>> {
            system
                .vars()
                .iter()
                .map(|v| values.values.get(&StepSymbol::at(v.current, i)).cloned())
                .collect()
        };
        let target = system.starts()[start].target;
        let first = State { node: target, values: state(0)? };
        let mut node = target;
        let mut legs = Vec::new();
        for i in 0..steps {
            let takes = values.takes.iter().enumerate();
            let taken = takes
                .filter(|(t, s)| values.is_true(**s, i) && system.transitions()[*t].source == node)
                .map(|(t, _)| t)
                .next()?;
            let transition = &system.transitions()[taken];
            let params: Option<Vec<Value>> = transition
                .params
                .iter()
                .map(|p| values.values.get(&StepSymbol::at(p.symbol, i)).cloned())
                .collect();
            node = transition.target;
            legs.push(Leg::Step(Step {
                transition: TransitionId::from(taken),
                params: params?,
                next: Some(state(i + 1)?),
            }));
        }
        Some(Witness { run: Run { start: StartId::from(start), first, legs: legs.into() } })
    }

    /// The states of the run; `None` if the run is compressed or omits values.
    fn states(&self, system: &System) -> Option<Vec<State>> {
        let mut states = vec![self.run.first.clone()];
        for leg in &self.run.legs {
            let Leg::Step(step) = leg else { return None };
            let node = system.transition(step.transition).target;
            states.push(State { node, values: step.next.clone()? });
        }
        Some(states)
    }

    /// Evaluates which parts hold along the run.
    pub(crate) fn satisfied(
        &self,
        system: &System,
        pool: &Pool,
        parts: &Parts,
    ) -> Option<Satisfied> {
        let states = self.states(system)?;
        let mut satisfied = Satisfied { parts: PartSet::all(parts.len()), rest: true };
        let mut look = |e: gander_system::ElementId, holds: bool| {
            if !holds {
                match parts.part_of(e) {
                    Some(p) => satisfied.parts.remove(p),
                    None => satisfied.rest = false,
                }
            }
        };
        for s in &states {
            let env = of_state(system, s);
            for a in system.assumptions() {
                look(a.id, is_true(pool, a.term.term(), &env));
            }
        }
        let env = of_state(system, &states[0]);
        for e in &system.starts()[self.run.start.index()].constraint {
            look(e.id, is_true(pool, e.term.term(), &env));
        }
        for (i, leg) in self.run.legs.iter().enumerate() {
            let Leg::Step(step) = leg else { return None };
            let transition = system.transition(step.transition);
            let mut env = of_state(system, &states[i]);
            env.extend(
                transition.params.iter().zip(&step.params).map(|(p, v)| (p.symbol, v.clone())),
            );
            env.extend(
                system
                    .vars()
                    .iter()
                    .zip(&states[i + 1].values)
                    .map(|(v, value)| (v.next, value.clone())),
            );
            for e in &transition.guard {
                look(e.id, is_true(pool, e.term.term(), &env));
            }
            for e in &transition.effect {
                match *e {
                    Effect::Assign { id, var, value } => {
                        let next = env.get(&system.var(var).next);
                        let value = evaluate(pool, value.term(), &|s| env.get(&s).cloned()).ok();
                        look(id, value.is_some() && value.as_ref() == next);
                    }
                    Effect::Keep { id, var } => {
                        look(
                            id,
                            env.get(&system.var(var).next) == env.get(&system.var(var).current),
                        );
                    }
                    Effect::Constrain { id, relation } => {
                        look(id, is_true(pool, relation.term(), &env))
                    }
                }
            }
        }
        Some(satisfied)
    }

    /// True if the formula is false in the last state.
    pub(crate) fn violates(&self, system: &System, pool: &Pool, formula: TermId) -> bool {
        let Some(last) = self.states(system).and_then(|mut s| s.pop()) else { return false };
        let env = of_state(system, &last);
        evaluate(pool, formula, &|s| env.get(&s).cloned()) == Ok(Value::Bool(false))
    }
}

/// By formula: true if it is false, or has no value, at a step of a path.
pub(crate) fn violated_at(
    system: &System,
    pool: &Pool,
    values: &Values,
    step: u32,
    formulas: &[TermId],
) -> Vec<bool> {
    let mut env: FxHashMap<SymbolId, Value> = FxHashMap::default();
    for v in system.vars().iter().map(|v| v.current).chain([system.location()]) {
        if let Some(value) = values.values.get(&StepSymbol::at(v, step)) {
            env.insert(v, value.clone());
        }
    }
    formulas.iter().map(|&f| !is_true(pool, f, &env)).collect()
}

fn of_state(system: &System, state: &State) -> FxHashMap<SymbolId, Value> {
    let mut env: FxHashMap<SymbolId, Value> = system
        .vars()
        .iter()
        .zip(&state.values)
        .map(|(v, value)| (v.current, value.clone()))
        .collect();
    if let gander_term::Sort::Enum(id) = system.pool().symbol(system.location()).sort {
        env.insert(system.location(), Value::Enum(id, state.node.0));
    }
    env
}

fn is_true(pool: &Pool, t: TermId, env: &FxHashMap<SymbolId, Value>) -> bool {
    evaluate(pool, t, &|s| env.get(&s).cloned()) == Ok(Value::Bool(true))
}

/// The invariant that proves the claim; `None` if the claim is not about single states.
pub(crate) fn invariant_of(system: &System, pool: &mut Pool, claim: ClaimId) -> Option<TermId> {
    match &system.claims().get(claim.index())?.kind {
        ClaimKind::Always(p) => Some(p.term()),
        ClaimKind::Reachable(goals) => match &goals[..] {
            [Goal::State(g)] => Some(pool.not(g.term())),
            _ => None,
        },
        _ => None,
    }
}

/// True if the verdict says that no run of some kind exists. Only such a verdict can rest on
/// elements; the others are shown by a run.
pub fn is_proof(kind: &ClaimKind, verdict: &Verdict) -> bool {
    match kind {
        ClaimKind::Always(_)
        | ClaimKind::NoSinkhole(_)
        | ClaimKind::NoDeadlock
        | ClaimKind::Completable(_)
        | ClaimKind::Eventually { .. }
        | ClaimKind::AlwaysEventually { .. }
        | ClaimKind::LeadsTo { .. } => matches!(verdict, Verdict::Holds(_)),
        ClaimKind::Reachable(_)
        | ClaimKind::CanEnable(_)
        | ClaimKind::StartSatisfiable(_)
        | ClaimKind::InfiniteRun
        | ClaimKind::ExistsAlways(_) => matches!(verdict, Verdict::Fails(_)),
        ClaimKind::AlwaysPossible(_) => false,
    }
}

/// True if a proof about such a claim shows that it fails: the claim says that some run exists.
pub fn proof_shows_failure(kind: &ClaimKind) -> bool {
    matches!(
        kind,
        ClaimKind::Reachable(_)
            | ClaimKind::CanEnable(_)
            | ClaimKind::StartSatisfiable(_)
            | ClaimKind::InfiniteRun
            | ClaimKind::ExistsAlways(_)
    )
}

/// True if the claim depends on guards and effects only through the set of runs, so that additional
/// runs can only invalidate its proof. For other claims a formula is kept fixed while elements are
/// removed (docs/semantics.md, validity cores).
pub fn rests_on_runs_alone(kind: &ClaimKind) -> bool {
    matches!(
        kind,
        ClaimKind::Always(_)
            | ClaimKind::Reachable(_)
            | ClaimKind::CanEnable(_)
            | ClaimKind::StartSatisfiable(_)
            | ClaimKind::InfiniteRun
    )
}

/// Why claims of this kind have no cores; `None` if they can have some.
pub fn why_no_core(system: &System, claim: ClaimId) -> Option<&'static str> {
    if system.elements().iter().any(|e| e.kind == ElementKind::Count) {
        return Some(
            "not for a count over a family of any size, as it stands for elements of all instances; give the size a value (--const)",
        );
    }
    match system.claims().get(claim.index())?.kind {
        ClaimKind::AlwaysPossible(_) => Some(
            "not for this kind: more runs can make it true as well as false, so that what is enough is not defined",
        ),
        _ => None,
    }
}
