//! What a run must show, for each claim and direction. See docs/semantics.md, section 5.

use gander_system::{ClaimKind, Goal, Run, State, StateTerm, TransitionId};
use gander_term::{SymbolId, TermId, Value};

use crate::discharge::CheckContext;
use crate::evidence::replay::{NullObserver, Observer, replay};
use crate::evidence::{Direction, unfit};
use crate::formula::eliminate;
use crate::formula::relation::{Relation, has_step, state_values};
use crate::formula::{Compiled, Situation};
use crate::rejection::{Rejection, wrong};

/// The number of parameter values that are tried before a quantified query is asked.
const PARAMETERS_TRIED: usize = 4;

/// Checks that a run shows that a claim holds, or that it fails.
pub(crate) fn check_run(
    cx: &mut CheckContext<'_>,
    kind: &ClaimKind,
    direction: Direction,
    run: &Run,
) -> Result<(), Rejection> {
    match (kind, direction) {
        (ClaimKind::Always(p), Direction::Fails) => {
            let end = replay(cx, run, &mut NullObserver)?;
            if Formula::of(cx, *p)?.holds(cx, &end)? {
                return Err(wrong(
                    "the last state of the run satisfies what is claimed of all states",
                ));
            }
            warn_if_stuck(cx, &end)
        }
        (ClaimKind::Reachable(goals), Direction::Holds) => {
            let mut observer = GoalObserver::new(cx, goals)?;
            let end = replay(cx, run, &mut observer)?;
            if observer.met(cx, &end)? {
                Ok(())
            } else {
                Err(wrong("the run does not end by meeting its goal"))
            }
        }
        (ClaimKind::CanEnable(t), Direction::Holds) => {
            let end = replay(cx, run, &mut NullObserver)?;
            expect_source(cx, &end, *t)?;
            if is_enabled(cx, &end, *t)? {
                Ok(())
            } else {
                Err(wrong("the transition is not enabled in the last state of the run"))
            }
        }
        (ClaimKind::NoSinkhole(n), Direction::Fails) => {
            let end = replay(cx, run, &mut NullObserver)?;
            if end.node != *n {
                return Err(wrong("the run does not end at the node of the claim"));
            }
            for &t in cx.system.leaving(*n) {
                if is_enabled(cx, &end, t)? {
                    let name = &cx.system.transition(t).name;
                    return Err(wrong(format!("`{name}` is enabled in the last state of the run")));
                }
            }
            Ok(())
        }
        (ClaimKind::StartSatisfiable(s), Direction::Holds) => {
            if run.start != *s || !run.legs.is_empty() {
                return Err(wrong("the run is not of length 0 with the start of the claim"));
            }
            replay(cx, run, &mut NullObserver).map(drop)
        }
        (ClaimKind::Completable(t), Direction::Fails) => {
            let end = replay(cx, run, &mut NullObserver)?;
            expect_source(cx, &end, *t)?;
            expect_incomplete(cx, &end, *t)
        }
        (ClaimKind::NoDeadlock, Direction::Fails) => {
            let end = replay(cx, run, &mut NullObserver)?;
            if cx.system.node(end.node).is_final {
                return Err(wrong("the run ends at a final node"));
            }
            expect_maximal(cx, &end)
        }
        (ClaimKind::Eventually { goal, .. }, Direction::Fails) => {
            let mut observer =
                Throughout { formula: Formula::of(cx, *goal)?, wanted: false, broken: false };
            let end = replay(cx, run, &mut observer)?;
            if observer.broken {
                return Err(wrong("some state of the run satisfies the formula"));
            }
            expect_maximal(cx, &end)
        }
        (ClaimKind::ExistsAlways(p), Direction::Holds) => {
            let mut observer =
                Throughout { formula: Formula::of(cx, *p)?, wanted: true, broken: false };
            let end = replay(cx, run, &mut observer)?;
            if observer.broken {
                return Err(wrong("some state of the run does not satisfy the formula"));
            }
            expect_maximal(cx, &end)
        }
        (ClaimKind::AlwaysEventually { goal, .. }, Direction::Fails) => {
            let end = replay(cx, run, &mut NullObserver)?;
            if Formula::of(cx, *goal)?.holds(cx, &end)? {
                return Err(wrong(
                    "the last state of the run, which repeats forever, satisfies the formula",
                ));
            }
            expect_maximal(cx, &end)
        }
        (ClaimKind::LeadsTo { from, to, .. }, Direction::Fails) => {
            let (from, to) = (Formula::of(cx, *from)?, Formula::of(cx, *to)?);
            let mut observer = Pending { from, to, pending: false };
            let end = replay(cx, run, &mut observer)?;
            if !observer.pending {
                return Err(wrong("nothing is left without its answer at the end of the run"));
            }
            expect_maximal(cx, &end)
        }
        _ => Err(unfit("a run", kind, direction)),
    }
}

fn expect_source(cx: &CheckContext<'_>, state: &State, t: TransitionId) -> Result<(), Rejection> {
    let transition = cx.system.transition(t);
    if state.node == transition.source {
        Ok(())
    } else {
        Err(wrong(format!("the run does not end at the node that `{}` leaves", transition.name)))
    }
}

/// True if the guard holds in the state for some parameters.
fn is_enabled(
    cx: &mut CheckContext<'_>,
    state: &State,
    t: TransitionId,
) -> Result<bool, Rejection> {
    let guard = cx.system.guard_term(&mut cx.pool, t);
    let map = state_values(cx, state);
    let guard = cx.pool.substitute(guard, &map);
    let name = &cx.system.transition(t).name;
    Ok(cx.find(guard, &format!("whether `{name}` is enabled in the last state"))?.is_some())
}

/// Checks that for some parameters the transition is enabled in the state and its effect has no
/// solution.
fn expect_incomplete(
    cx: &mut CheckContext<'_>,
    state: &State,
    t: TransitionId,
) -> Result<(), Rejection> {
    let relation = Relation::new(cx, t);
    let map = state_values(cx, state);
    let guard = cx.pool.substitute(relation.guard, &map);
    let effect = cx.pool.substitute(relation.effect, &map);
    let mut tried = guard;
    for _ in 0..PARAMETERS_TRIED {
        let what = "whether the transition is enabled in the last state";
        let Some(model) = cx.solve(tried, what)? else {
            return Err(wrong(
                "the effect has a solution for all parameters with which the transition is enabled",
            ));
        };
        let params = with_all(cx, &relation.params, model);
        if !effect_has_solution(cx, effect, &params)? {
            return Ok(());
        }
        if params.is_empty() {
            return Err(wrong("the effect has a solution in the last state of the run"));
        }
        let other = different(cx, &params);
        tried = cx.pool.and([tried, other]);
    }
    let completed = eliminate::exists(&mut cx.pool, &relation.open, effect);
    let stuck = cx.pool.not(completed);
    let question = cx.pool.and([guard, stuck]);
    match cx.solve(question, "parameters for which the effect has no solution")? {
        None => Err(wrong(
            "the effect has a solution for all parameters with which the transition is enabled",
        )),
        Some(model) => {
            let params = with_all(cx, &relation.params, model);
            let at = fill(cx, &params);
            let enabled = cx.pool.substitute(guard, &at);
            if cx.solve(enabled, "whether the parameters enable the transition")?.is_none()
                || effect_has_solution(cx, effect, &params)?
            {
                return Err(crate::rejection::undecided(
                    "the parameters that a solver gave do not show the failure",
                ));
            }
            Ok(())
        }
    }
}

type Choice = Vec<(SymbolId, Value)>;

/// The values of `params` in a model; a default value for those that it does not mention.
fn with_all(cx: &CheckContext<'_>, params: &[SymbolId], model: Choice) -> Choice {
    params
        .iter()
        .map(|&p| {
            let found = model.iter().find(|(s, _)| *s == p).map(|(_, v)| v.clone());
            (p, found.unwrap_or_else(|| cx.any_value(p)))
        })
        .collect()
}

fn fill(
    cx: &mut CheckContext<'_>,
    values: &[(SymbolId, Value)],
) -> rustc_hash::FxHashMap<SymbolId, TermId> {
    values.iter().map(|(s, v)| (*s, cx.pool.constant(v.clone()))).collect()
}

fn different(cx: &mut CheckContext<'_>, values: &[(SymbolId, Value)]) -> TermId {
    let mut parts = Vec::new();
    for (s, v) in values {
        let (s, v) = (cx.pool.var(*s), cx.pool.constant(v.clone()));
        parts.push(cx.pool.ne(s, v));
    }
    cx.pool.or(parts)
}

fn effect_has_solution(
    cx: &mut CheckContext<'_>,
    effect: TermId,
    params: &[(SymbolId, Value)],
) -> Result<bool, Rejection> {
    let at = fill(cx, params);
    let effect = cx.pool.substitute(effect, &at);
    Ok(cx.find(effect, "whether the effect has a solution")?.is_some())
}

fn expect_maximal(cx: &mut CheckContext<'_>, state: &State) -> Result<(), Rejection> {
    if has_step(cx, state)? {
        Err(wrong("a step leaves the last state of the run"))
    } else {
        Ok(())
    }
}

/// Why no step leaves a state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stuck {
    /// A step is possible, or neither assumptions nor equations are the cause.
    No,
    ByAssumptions,
    /// By cyclic equations of a dataflow program.
    ByEquations,
}

/// Warns if assumptions, or cyclic equations, exclude every step from the state: perhaps they are
/// too strong. Transitions of a control graph have a structural claim for that.
fn warn_if_stuck(cx: &mut CheckContext<'_>, state: &State) -> Result<(), Rejection> {
    let cause = match stuck(cx, state) {
        Ok(Stuck::ByAssumptions) => "assumptions",
        Ok(Stuck::ByEquations) => "equations",
        // No verdict depends on the warning.
        Ok(Stuck::No) | Err(Rejection::Undecided(_)) => return Ok(()),
        Err(other) => return Err(other),
    };
    cx.warnings.push(format!("the {cause} leave no step from the last state of the run"));
    Ok(())
}

/// Why no step leaves the state, where one would without assumptions or with causal equations.
fn stuck(cx: &mut CheckContext<'_>, state: &State) -> Result<Stuck, Rejection> {
    let system = cx.system;
    let cyclic = system.vars().iter().any(|v| v.stream.is_some())
        && system.transitions().iter().any(|t| !t.causal);
    if (system.assumptions().is_empty() && !cyclic) || has_step(cx, state)? {
        return Ok(Stuck::No);
    }
    let map = state_values(cx, state);
    for &t in system.leaving(state.node) {
        let relation = Relation::new(cx, t);
        let formula = cx.pool.and([relation.guard, relation.effect]);
        let formula = cx.pool.substitute(formula, &map);
        if cx.solve(formula, "whether a step is possible without assumptions")?.is_some() {
            return Ok(Stuck::ByAssumptions);
        }
    }
    Ok(if cyclic { Stuck::ByEquations } else { Stuck::No })
}

/// A formula over one state.
pub(crate) struct Formula(Compiled);

impl Formula {
    pub(crate) fn of(cx: &CheckContext<'_>, formula: StateTerm) -> Result<Formula, Rejection> {
        Compiled::new(cx, &[], &[formula.term()]).map(Formula)
    }

    pub(crate) fn holds(
        &mut self,
        cx: &mut CheckContext<'_>,
        state: &State,
    ) -> Result<bool, Rejection> {
        self.0.all_true(cx, Situation::of(state))
    }
}

/// Observes whether every state has the wanted truth value.
struct Throughout {
    formula: Formula,
    wanted: bool,
    broken: bool,
}

impl Observer for Throughout {
    fn state(&mut self, cx: &mut CheckContext<'_>, state: &State) -> Result<(), Rejection> {
        self.broken |= self.formula.holds(cx, state)? != self.wanted;
        Ok(())
    }

    fn step(
        &mut self,
        _: &mut CheckContext<'_>,
        _: &State,
        _: TransitionId,
        _: &[Value],
    ) -> Result<(), Rejection> {
        Ok(())
    }
}

/// Observes whether `from` was met and since then, in that state or later, `to` was not.
struct Pending {
    from: Formula,
    to: Formula,
    pending: bool,
}

impl Observer for Pending {
    fn state(&mut self, cx: &mut CheckContext<'_>, state: &State) -> Result<(), Rejection> {
        self.pending =
            !self.to.holds(cx, state)? && (self.pending || self.from.holds(cx, state)?);
        Ok(())
    }

    fn step(
        &mut self,
        _: &mut CheckContext<'_>,
        _: &State,
        _: TransitionId,
        _: &[Value],
    ) -> Result<(), Rejection> {
        Ok(())
    }
}

enum Stage {
    State(Box<Formula>),
    Step(Vec<(TransitionId, Compiled)>),
}

/// Observes goals in order: all but the last as early as possible, the last one at the end of the
/// run.
struct GoalObserver {
    stages: Vec<Stage>,
    /// The number of goals before the last that have been met.
    met: usize,
    last_step_meets: bool,
}

impl GoalObserver {
    fn new(cx: &CheckContext<'_>, goals: &[Goal]) -> Result<GoalObserver, Rejection> {
        let mut stages = Vec::new();
        for goal in goals {
            stages.push(match goal {
                Goal::State(p) => Stage::State(Box::new(Formula::of(cx, *p)?)),
                Goal::Step { choices, .. } => {
                    let mut compiled = Vec::new();
                    for (t, formula) in choices {
                        let params: Vec<SymbolId> =
                            cx.system.transition(*t).params.iter().map(|p| p.symbol).collect();
                        compiled.push((*t, Compiled::new(cx, &params, &[formula.term()])?));
                    }
                    Stage::Step(compiled)
                }
            });
        }
        if stages.is_empty() {
            return Err(wrong("the claim has no goal"));
        }
        Ok(GoalObserver { stages, met: 0, last_step_meets: false })
    }

    fn last(&self) -> usize {
        self.stages.len() - 1
    }

    fn met(&mut self, cx: &mut CheckContext<'_>, end: &State) -> Result<bool, Rejection> {
        let last = self.last();
        if self.met < last {
            return Ok(false);
        }
        match &mut self.stages[last] {
            Stage::State(formula) => formula.holds(cx, end),
            Stage::Step(_) => Ok(self.last_step_meets),
        }
    }
}

impl Observer for GoalObserver {
    fn state(&mut self, cx: &mut CheckContext<'_>, state: &State) -> Result<(), Rejection> {
        while self.met < self.last() {
            let Stage::State(formula) = &mut self.stages[self.met] else { break };
            if !formula.holds(cx, state)? {
                break;
            }
            self.met += 1;
        }
        Ok(())
    }

    fn step(
        &mut self,
        cx: &mut CheckContext<'_>,
        from: &State,
        transition: TransitionId,
        params: &[Value],
    ) -> Result<(), Rejection> {
        self.last_step_meets = false;
        let (stage, last) = (self.met, self.last());
        let Stage::Step(choices) = &mut self.stages[stage] else { return Ok(()) };
        let at = Situation { node: from.node, current: &from.values, params, next: &[] };
        for (_, formula) in choices.iter_mut().filter(|(t, _)| *t == transition) {
            if formula.all_true(cx, at)? {
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
