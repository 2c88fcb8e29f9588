//! What a run must show, for each claim and direction. See docs/semantics.md, section 5.

use gander_system::{ClaimKind, Goal, Run, State, StateTerm, TransitionId};
use gander_term::{SymbolId, TermId, Value};

use crate::case::Case;
use crate::eliminate;
use crate::formula::{Compiled, Situation};
use crate::rejection::{Rejection, wrong};
use crate::relation::{Relation, filled, has_step};
use crate::replay::{Blind, Watch, replay};
use crate::{Direction, unfit};

/// How many parameters of a transition are tried before a quantified question is asked.
const PARAMETERS_TRIED: usize = 4;

/// Checks that a run shows that a claim holds, or that it fails.
pub(crate) fn check_run(
    case: &mut Case<'_>,
    kind: &ClaimKind,
    direction: Direction,
    run: &Run,
) -> Result<(), Rejection> {
    match (kind, direction) {
        (ClaimKind::Always(p), Direction::Fails) => {
            let end = replay(case, run, &mut Blind)?;
            if Formula::of(case, *p)?.holds(case, &end)? {
                return Err(wrong("the last state of the run satisfies what is claimed of all states"));
            }
            warn_if_stuck(case, &end)
        }
        (ClaimKind::Reachable(goals), Direction::Holds) => {
            let mut watch = GoalWatch::new(case, goals)?;
            let end = replay(case, run, &mut watch)?;
            if watch.met(case, &end)? { Ok(()) } else { Err(wrong("the run does not end by meeting its goal")) }
        }
        (ClaimKind::CanEnable(t), Direction::Holds) => {
            let end = replay(case, run, &mut Blind)?;
            expect_source(case, &end, *t)?;
            if is_enabled(case, &end, *t)? {
                Ok(())
            } else {
                Err(wrong("the transition is not enabled in the last state of the run"))
            }
        }
        (ClaimKind::NoSinkhole(n), Direction::Fails) => {
            let end = replay(case, run, &mut Blind)?;
            if end.node != *n {
                return Err(wrong("the run does not end at the node of the claim"));
            }
            for &t in case.system.leaving(*n) {
                if is_enabled(case, &end, t)? {
                    let name = &case.system.transition(t).name;
                    return Err(wrong(format!("`{name}` is enabled in the last state of the run")));
                }
            }
            Ok(())
        }
        (ClaimKind::StartSatisfiable(s), Direction::Holds) => {
            if run.start != *s || !run.legs.is_empty() {
                return Err(wrong("the run is not of length 0 with the start of the claim"));
            }
            replay(case, run, &mut Blind).map(drop)
        }
        (ClaimKind::Completable(t), Direction::Fails) => {
            let end = replay(case, run, &mut Blind)?;
            expect_source(case, &end, *t)?;
            expect_incomplete(case, &end, *t)
        }
        (ClaimKind::NoDeadlock, Direction::Fails) => {
            let end = replay(case, run, &mut Blind)?;
            if case.system.node(end.node).is_final {
                return Err(wrong("the run ends at a final node"));
            }
            expect_maximal(case, &end)
        }
        (ClaimKind::Eventually { goal, .. }, Direction::Fails) => {
            let mut watch = Throughout { formula: Formula::of(case, *goal)?, wanted: false, broken: false };
            let end = replay(case, run, &mut watch)?;
            if watch.broken {
                return Err(wrong("some state of the run satisfies the formula"));
            }
            expect_maximal(case, &end)
        }
        (ClaimKind::ExistsAlways(p), Direction::Holds) => {
            let mut watch = Throughout { formula: Formula::of(case, *p)?, wanted: true, broken: false };
            let end = replay(case, run, &mut watch)?;
            if watch.broken {
                return Err(wrong("some state of the run does not satisfy the formula"));
            }
            expect_maximal(case, &end)
        }
        (ClaimKind::AlwaysEventually { goal, .. }, Direction::Fails) => {
            let end = replay(case, run, &mut Blind)?;
            if Formula::of(case, *goal)?.holds(case, &end)? {
                return Err(wrong("the last state of the run, which repeats forever, satisfies the formula"));
            }
            expect_maximal(case, &end)
        }
        (ClaimKind::LeadsTo { from, to, .. }, Direction::Fails) => {
            let (from, to) = (Formula::of(case, *from)?, Formula::of(case, *to)?);
            let mut watch = Pending { from, to, pending: false };
            let end = replay(case, run, &mut watch)?;
            if !watch.pending {
                return Err(wrong("nothing is left without its answer at the end of the run"));
            }
            expect_maximal(case, &end)
        }
        _ => Err(unfit("a run", kind, direction)),
    }
}

fn expect_source(case: &Case<'_>, state: &State, t: TransitionId) -> Result<(), Rejection> {
    let transition = case.system.transition(t);
    if state.node == transition.source {
        Ok(())
    } else {
        Err(wrong(format!("the run does not end at the node that `{}` leaves", transition.name)))
    }
}

/// The guard holds in the state for some parameters.
fn is_enabled(case: &mut Case<'_>, state: &State, t: TransitionId) -> Result<bool, Rejection> {
    let guard = case.system.guard_term(&mut case.pool, t);
    let map = filled(case, state);
    let guard = case.pool.substitute(guard, &map);
    let name = &case.system.transition(t).name;
    Ok(case.find(guard, &format!("whether `{name}` is enabled in the last state"))?.is_some())
}

/// There are parameters with which the transition is enabled in the state and its effect has no solution.
fn expect_incomplete(case: &mut Case<'_>, state: &State, t: TransitionId) -> Result<(), Rejection> {
    let relation = Relation::new(case, t);
    let map = filled(case, state);
    let guard = case.pool.substitute(relation.guard, &map);
    let effect = case.pool.substitute(relation.effect, &map);
    let mut tried = guard;
    for _ in 0..PARAMETERS_TRIED {
        let what = "whether the transition is enabled in the last state";
        let Some(model) = case.solve(tried, what)? else {
            return Err(wrong("the effect has a solution for all parameters with which the transition is enabled"));
        };
        let params = with_all(case, &relation.params, model);
        if !effect_has_solution(case, effect, &params)? {
            return Ok(());
        }
        if params.is_empty() {
            return Err(wrong("the effect has a solution in the last state of the run"));
        }
        let other = different(case, &params);
        tried = case.pool.and([tried, other]);
    }
    let completed = eliminate::exists(&mut case.pool, &relation.open, effect);
    let stuck = case.pool.not(completed);
    let question = case.pool.and([guard, stuck]);
    match case.solve(question, "parameters for which the effect has no solution")? {
        None => Err(wrong("the effect has a solution for all parameters with which the transition is enabled")),
        Some(model) => {
            let params = with_all(case, &relation.params, model);
            let at = fill(case, &params);
            let enabled = case.pool.substitute(guard, &at);
            if case.solve(enabled, "whether the parameters enable the transition")?.is_none()
                || effect_has_solution(case, effect, &params)?
            {
                return Err(crate::rejection::undecided("the parameters that a solver gave do not show the failure"));
            }
            Ok(())
        }
    }
}

type Choice = Vec<(SymbolId, Value)>;

/// The values of `params` in a model; those that it does not mention can be anything.
fn with_all(case: &Case<'_>, params: &[SymbolId], model: Choice) -> Choice {
    params
        .iter()
        .map(|&p| {
            let found = model.iter().find(|(s, _)| *s == p).map(|(_, v)| v.clone());
            (p, found.unwrap_or_else(|| case.any_value(p)))
        })
        .collect()
}

fn fill(case: &mut Case<'_>, values: &[(SymbolId, Value)]) -> rustc_hash::FxHashMap<SymbolId, TermId> {
    values.iter().map(|(s, v)| (*s, case.pool.constant(v.clone()))).collect()
}

fn different(case: &mut Case<'_>, values: &[(SymbolId, Value)]) -> TermId {
    let mut parts = Vec::new();
    for (s, v) in values {
        let (s, v) = (case.pool.var(*s), case.pool.constant(v.clone()));
        parts.push(case.pool.ne(s, v));
    }
    case.pool.or(parts)
}

fn effect_has_solution(case: &mut Case<'_>, effect: TermId, params: &[(SymbolId, Value)]) -> Result<bool, Rejection> {
    let at = fill(case, params);
    let effect = case.pool.substitute(effect, &at);
    Ok(case.find(effect, "whether the effect has a solution")?.is_some())
}

fn expect_maximal(case: &mut Case<'_>, state: &State) -> Result<(), Rejection> {
    if has_step(case, state)? { Err(wrong("a step leaves the last state of the run")) } else { Ok(()) }
}

/// What leaves no way out of a state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stuck {
    /// A step is possible, or no assumption is to blame.
    No,
    ByAssumptions,
    /// By equations of a dataflow program that go round in a circle.
    ByEquations,
}

/// A state that assumptions leave no way out of deserves a remark: perhaps they are too strong. So does one that
/// constraining equations leave none; transitions of a control graph have a claim of their own for that.
fn warn_if_stuck(case: &mut Case<'_>, state: &State) -> Result<(), Rejection> {
    let who = match stuck(case, state) {
        Ok(Stuck::ByAssumptions) => "assumptions",
        Ok(Stuck::ByEquations) => "equations",
        // Only a remark: nothing depends on it.
        Ok(Stuck::No) | Err(Rejection::Undecided(_)) => return Ok(()),
        Err(other) => return Err(other),
    };
    case.warnings.push(format!("the {who} leave no step from the last state of the run"));
    Ok(())
}

/// No step leaves the state; but one would if next states did not have to be admissible, or equations were causal.
fn stuck(case: &mut Case<'_>, state: &State) -> Result<Stuck, Rejection> {
    let system = case.system;
    let cyclic = system.vars.iter().any(|v| v.stream.is_some()) && system.transitions.iter().any(|t| !t.causal);
    if (system.assumptions.is_empty() && !cyclic) || has_step(case, state)? {
        return Ok(Stuck::No);
    }
    let map = filled(case, state);
    for &t in system.leaving(state.node) {
        let relation = Relation::new(case, t);
        let formula = case.pool.and([relation.guard, relation.effect]);
        let formula = case.pool.substitute(formula, &map);
        if case.solve(formula, "whether a step is possible without assumptions")?.is_some() {
            return Ok(Stuck::ByAssumptions);
        }
    }
    Ok(if cyclic { Stuck::ByEquations } else { Stuck::No })
}

/// A formula over one state.
pub(crate) struct Formula(Compiled);

impl Formula {
    pub(crate) fn of(case: &Case<'_>, formula: StateTerm) -> Result<Formula, Rejection> {
        Compiled::new(case, &[], &[formula.term()]).map(Formula)
    }

    pub(crate) fn holds(&mut self, case: &mut Case<'_>, state: &State) -> Result<bool, Rejection> {
        self.0.all_true(case, Situation::of(state))
    }
}

/// Every state has the wanted truth value.
struct Throughout {
    formula: Formula,
    wanted: bool,
    broken: bool,
}

impl Watch for Throughout {
    fn state(&mut self, case: &mut Case<'_>, state: &State) -> Result<(), Rejection> {
        self.broken |= self.formula.holds(case, state)? != self.wanted;
        Ok(())
    }

    fn step(&mut self, _: &mut Case<'_>, _: &State, _: TransitionId, _: &[Value]) -> Result<(), Rejection> {
        Ok(())
    }
}

/// `from` was met, and since then, at the same state or later, `to` was not.
struct Pending {
    from: Formula,
    to: Formula,
    pending: bool,
}

impl Watch for Pending {
    fn state(&mut self, case: &mut Case<'_>, state: &State) -> Result<(), Rejection> {
        self.pending = !self.to.holds(case, state)? && (self.pending || self.from.holds(case, state)?);
        Ok(())
    }

    fn step(&mut self, _: &mut Case<'_>, _: &State, _: TransitionId, _: &[Value]) -> Result<(), Rejection> {
        Ok(())
    }
}

enum Stage {
    State(Box<Formula>),
    Step(Vec<(TransitionId, Compiled)>),
}

/// Goals in order: all but the last as early as possible, the last one at the end of the run.
struct GoalWatch {
    stages: Vec<Stage>,
    /// How many of the goals before the last have been met.
    met: usize,
    last_step_meets: bool,
}

impl GoalWatch {
    fn new(case: &Case<'_>, goals: &[Goal]) -> Result<GoalWatch, Rejection> {
        let mut stages = Vec::new();
        for goal in goals {
            stages.push(match goal {
                Goal::State(p) => Stage::State(Box::new(Formula::of(case, *p)?)),
                Goal::Step { choices, .. } => {
                    let mut compiled = Vec::new();
                    for (t, formula) in choices {
                        let params: Vec<SymbolId> =
                            case.system.transition(*t).params.iter().map(|p| p.symbol).collect();
                        compiled.push((*t, Compiled::new(case, &params, &[formula.term()])?));
                    }
                    Stage::Step(compiled)
                }
            });
        }
        if stages.is_empty() {
            return Err(wrong("the claim has no goal"));
        }
        Ok(GoalWatch { stages, met: 0, last_step_meets: false })
    }

    fn last(&self) -> usize {
        self.stages.len() - 1
    }

    fn met(&mut self, case: &mut Case<'_>, end: &State) -> Result<bool, Rejection> {
        let last = self.last();
        if self.met < last {
            return Ok(false);
        }
        match &mut self.stages[last] {
            Stage::State(formula) => formula.holds(case, end),
            Stage::Step(_) => Ok(self.last_step_meets),
        }
    }
}

impl Watch for GoalWatch {
    fn state(&mut self, case: &mut Case<'_>, state: &State) -> Result<(), Rejection> {
        while self.met < self.last() {
            let Stage::State(formula) = &mut self.stages[self.met] else { break };
            if !formula.holds(case, state)? {
                break;
            }
            self.met += 1;
        }
        Ok(())
    }

    fn step(
        &mut self,
        case: &mut Case<'_>,
        from: &State,
        transition: TransitionId,
        params: &[Value],
    ) -> Result<(), Rejection> {
        self.last_step_meets = false;
        let (stage, last) = (self.met, self.last());
        let Stage::Step(choices) = &mut self.stages[stage] else { return Ok(()) };
        let at = Situation { node: from.node, current: &from.values, params, next: &[] };
        for (_, formula) in choices.iter_mut().filter(|(t, _)| *t == transition) {
            if formula.all_true(case, at)? {
                if stage == last {
                    self.last_step_meets = true;
                } else {
                    self.met += 1;
                }
                return Ok(());
            }
        }
        Ok(())
    }
}
