//! Completes the trace of a tool to a run of the system.
//!
//! A trace has values of variables, sometimes not of all, and rarely the transition and its
//! parameters. So the run is searched step by step: a start, then a transition whose guard and
//! effect the values satisfy. If all values are known this is evaluation; otherwise a solver
//! completes them. The result is not trusted: `gander-certify` checks it.

use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_smt::{Answer, Limits, Session, SessionConfig, Solvers, StepSymbol};
use gander_system::{Leg, NodeId, Run, StartId, State, Step, System, TransitionId, VarId};
use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::trace::{Moment, Trace};

/// Steps of a trace that is completed at most.
const MAX_STEPS: usize = 200_000;
/// Time for one solver query.
const QUERY_TIME: Duration = Duration::from_secs(5);

/// A completed run.
pub(crate) struct Rebuilt {
    /// The run.
    pub run: Run,
    /// The run ends in a state that the trace repeats for ever, because no step leaves it: SMV
    /// requires a step in every state.
    pub stays: bool,
}

/// Completes traces.
pub(crate) struct Rebuilder<'a> {
    system: &'a System,
    solvers: &'a Solvers,
    cancellation: &'a Cancellation,
    /// The deadline.
    end: Option<Instant>,
    pool: Pool,
    /// Kept from query to query.
    session: Option<Session>,
    /// By transition: guard, effect, and assumptions on the next state.
    steps: FxHashMap<TransitionId, TermId>,
}

type Values = FxHashMap<SymbolId, Value>;

impl<'a> Rebuilder<'a> {
    pub(crate) fn new(
        system: &'a System,
        solvers: &'a Solvers,
        cancellation: &'a Cancellation,
        end: Option<Instant>,
    ) -> Rebuilder<'a> {
        let pool = Pool::fork(system.pool());
        Rebuilder {
            system,
            solvers,
            cancellation,
            end,
            pool,
            session: None,
            steps: FxHashMap::default(),
        }
    }

    /// The time limit of the next query.
    fn query_time(&self) -> Result<Duration, String> {
        let left = self.end.map_or(QUERY_TIME, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Err("its trace could not be completed: time is over".to_string());
        }
        Ok(left.min(QUERY_TIME))
    }

    /// A run with these moments.
    pub(crate) fn run(&mut self, trace: &Trace) -> Result<Rebuilt, String> {
        let (first, rest) = trace.moments.split_first().ok_or("its trace is empty")?;
        if rest.len() > MAX_STEPS {
            return Err(format!("its trace has more than {MAX_STEPS} steps"));
        }
        let (start, first) = self.first(first)?;
        let (mut state, mut legs) = (first.clone(), Vec::with_capacity(rest.len()));
        for (i, moment) in rest.iter().enumerate() {
            if self.cancellation.is_cancelled() {
                return Err("its trace was not looked at, as it is not needed any more".to_string());
            }
            let Some((step, next)) = self.step(&state, moment)? else {
                if trace.back_to.is_some() && agrees(&state, moment) {
                    return Ok(Rebuilt {
                        run: Run { start, first, legs: legs.into() },
                        stays: true,
                    });
                }
                return Err(format!("no step leads from state {i} of its trace to the next"));
            };
            legs.push(Leg::Step(step));
            state = next;
        }
        Ok(Rebuilt { run: Run { start, first, legs: legs.into() }, stays: false })
    }

    /// A start state with these values.
    fn first(&mut self, moment: &Moment) -> Result<(StartId, State), String> {
        let system = self.system;
        for (i, s) in system
            .starts()
            .iter()
            .enumerate()
            .filter(|(_, s)| moment.node.is_none_or(|n| n == s.target))
        {
            let constraint = system.start_term(&mut self.pool, StartId::from(i));
            let assumption = system.assumption_term(&mut self.pool, s.target);
            let formula = self.pool.and([constraint, assumption]);
            let known =
                moment.values.iter().map(|(v, x)| (system.var(*v).current, x.clone())).collect();
            let wanted: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
            if let Some(values) = self.find(formula, known, &wanted)? {
                return Ok((StartId::from(i), State { node: s.target, values }));
            }
        }
        Err("its trace does not begin in a start state".to_string())
    }

    /// A step to these values.
    fn step(&mut self, state: &State, moment: &Moment) -> Result<Option<(Step, State)>, String> {
        let system = self.system;
        let mut known: Values =
            system.vars().iter().map(|v| v.current).zip(state.values.iter().cloned()).collect();
        known.extend(moment.values.iter().map(|(v, x)| (system.var(*v).next, x.clone())));
        for &t in system.leaving(state.node) {
            let transition = system.transition(t);
            if moment.node.is_some_and(|n| n != transition.target) {
                continue;
            }
            let params = transition.params.iter().enumerate().filter_map(|(i, p)| {
                let value = moment.params.get(&(t, i))?;
                Some((p.symbol, value.clone()))
            });
            let mut here = known.clone();
            here.extend(params);
            let formula = self.step_formula(t);
            let wanted: Vec<SymbolId> = transition
                .params
                .iter()
                .map(|p| p.symbol)
                .chain(system.vars().iter().map(|v| v.next))
                .collect();
            if let Some(mut values) = self.find(formula, here, &wanted)? {
                let next = values.split_off(transition.params.len());
                let state = State { node: transition.target, values: next.clone() };
                return Ok(Some((Step { transition: t, params: values, next: Some(next) }, state)));
            }
        }
        Ok(None)
    }

    fn step_formula(&mut self, t: TransitionId) -> TermId {
        if let Some(known) = self.steps.get(&t) {
            return *known;
        }
        let (system, pool) = (self.system, &mut self.pool);
        let (guard, effect) = (system.guard_term(pool, t), system.effect_term(pool, t));
        let assumption = system.assumption_term(pool, system.transition(t).target);
        let mut primed = FxHashMap::default();
        for v in system.vars() {
            primed.insert(v.current, pool.var(v.next));
        }
        let assumption = pool.substitute(assumption, &primed);
        let formula = pool.and([guard, effect, assumption]);
        self.steps.insert(t, formula);
        formula
    }

    /// Values of `wanted` that satisfy the formula and extend the known ones; `None` if there are
    /// none.
    fn find(
        &mut self,
        formula: TermId,
        known: Values,
        wanted: &[SymbolId],
    ) -> Result<Option<Vec<Value>>, String> {
        self.query_time()?;
        let all: Option<Vec<Value>> = wanted.iter().map(|s| known.get(s).cloned()).collect();
        let look = |s| known.get(&s).cloned();
        if let Some(values) = all
            && let Some(truth) = evaluate(&self.pool, formula, &look).ok().and_then(|v| v.as_bool())
        {
            return Ok(truth.then_some(values));
        }
        let mut constants = FxHashMap::default();
        for (symbol, value) in &known {
            constants.insert(*symbol, self.pool.constant(value.clone()));
        }
        let question = self.pool.substitute(formula, &constants);
        if self.pool.as_bool(question) == Some(false) {
            return Ok(None);
        }
        let open: Vec<SymbolId> =
            wanted.iter().copied().filter(|s| !known.contains_key(s)).collect();
        let solver = self
            .solvers
            .choose(self.pool.features(&[question]))
            .ok_or("no solver for its trace")?;
        let mut session = match self.session.take() {
            Some(mut session) if session.solver() == solver => {
                session.reset();
                session
            }
            other => {
                other.into_iter().for_each(|session| self.solvers.end(session));
                let config = SessionConfig {
                    cancellation: self.cancellation.clone(),
                    ..SessionConfig::default()
                };
                self.solvers.session(solver, config)
            }
        };
        let symbols: Vec<StepSymbol> = open.iter().map(|&s| StepSymbol::rigid(s)).collect();
        for &s in &symbols {
            session.declare(&self.pool, s);
        }
        session.assert(&self.pool, question);
        let undecided =
            |reason: gander_smt::Reason| format!("its trace could not be completed: {reason}");
        let query_time = self.query_time()?;
        let found = match session.check(&[], Limits::time(query_time)) {
            Answer::Unsat => Ok(None),
            Answer::Unknown(reason) => Err(undecided(reason)),
            Answer::Sat => self.query_time().and_then(|query_time| {
                session
                    .values(&self.pool, &symbols, Limits::time(query_time))
                    .map(Some)
                    .map_err(undecided)
            }),
        };
        self.session = Some(session);
        let Some(values) = found? else { return Ok(None) };
        let mut known = known;
        known.extend(open.into_iter().zip(values));
        Ok(wanted.iter().map(|s| known.get(s).cloned()).collect())
    }
}

impl Drop for Rebuilder<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.solvers.end(session);
        }
    }
}

/// Whether the state has all values of the moment.
fn agrees(state: &State, moment: &Moment) -> bool {
    let equal = |(v, x): (&VarId, &Value)| state.values.get(v.index()) == Some(x);
    moment.node.is_none_or(|n: NodeId| n == state.node) && moment.values.iter().all(equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_completed_by_one_session_until_time_is_over() {
        let text = "spec S var x: int 0..9 start { x == 0 } step s { x := x + 1 } always p: x < 9";
        let language = gander_lang::language_of("s.sts").expect("a language");
        let system = (language.load)(text, "s.sts").system.expect("it loads");
        let (solvers, cancellation) = (Solvers::from_environment(), Cancellation::new());
        // No values are known, so a solver completes every state.
        let trace =
            |steps: usize| Trace { moments: vec![Moment::default(); steps + 1], back_to: None };
        let mut rebuilder = Rebuilder::new(&system, &solvers, &cancellation, None);
        assert!(rebuilder.run(&trace(1)).is_ok());
        let process = rebuilder.session.as_ref().and_then(Session::process_id);
        assert!(process.is_some());
        assert!(rebuilder.run(&trace(3)).is_ok_and(|rebuilt| rebuilt.run.legs.len() == 3));
        assert_eq!(rebuilder.session.as_ref().and_then(Session::process_id), process);
        rebuilder.end = Some(Instant::now());
        let Err(why) = rebuilder.run(&trace(3)) else { panic!("there is no time") };
        assert!(why.ends_with("time is over"), "{why}");
        // The deadline also applies to traces that need no solver.
        let complete = (0..3).map(|i| Moment {
            values: [(VarId::from(0), Value::Int(i.into()))].into_iter().collect(),
            ..Moment::default()
        });
        let complete = Trace { moments: complete.collect(), back_to: None };
        assert!(rebuilder.run(&complete).is_err());
        rebuilder.end = None;
        assert!(rebuilder.run(&complete).is_ok());
    }
}
