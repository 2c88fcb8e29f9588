//! What runs have shown: visited nodes, and states that refute candidates without a query.

use gander_engines::CheckReport;
use gander_system::{
    Condition, Effect, Evidence, Leg, LintCandidate, Run, State, StateTerm, Step, System, Verdict,
};
use gander_term::{Pool, TermId, Value, evaluate};

use crate::decide::RunExistence;

/// States of known runs that conditions are evaluated in.
const MAX_STATES: usize = 2000;

/// What the runs of a report have shown.
pub(super) struct Known {
    /// By node: some run visits it.
    visited: Vec<bool>,
    /// States of runs, a limited number.
    states: Vec<State>,
}

impl Known {
    pub(super) fn of(system: &System, report: &CheckReport, runs: &RunExistence) -> Known {
        let mut known = Known { visited: vec![false; system.nodes().len()], states: Vec::new() };
        if let ([start], RunExistence::Exists) = (system.starts(), runs) {
            known.visited[start.target.index()] = true;
        }
        known.visit(system, report);
        known
    }

    /// Adds the runs of a report.
    pub(super) fn visit(&mut self, system: &System, report: &CheckReport) {
        for outcome in &report.outcomes {
            let run = match &outcome.verdict {
                Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run)) => run,
                Verdict::Holds(Evidence::Lasso { run, .. } | Evidence::Recurrent { run, .. })
                | Verdict::Fails(Evidence::Lasso { run, .. } | Evidence::Recurrent { run, .. }) => {
                    run
                }
                _ => continue,
            };
            self.add(system, run);
        }
    }

    fn add(&mut self, system: &System, run: &Run) {
        self.visited[run.first.node.index()] = true;
        self.states.push(run.first.clone());
        let mut values = Some(run.first.values.clone());
        let mut open: Vec<std::slice::Iter<'_, Leg>> = vec![run.legs.iter()];
        while let Some(legs) = open.last_mut() {
            match legs.next() {
                None => drop(open.pop()),
                Some(Leg::Repeat { body, .. }) => {
                    // The values of a single round are unknown.
                    values = None;
                    open.push(body.iter());
                }
                Some(Leg::Step(step)) => {
                    let node = system.transition(step.transition).target;
                    self.visited[node.index()] = true;
                    values =
                        step.next.clone().or_else(|| next_values(system, step, values.as_deref()?));
                    if let Some(values) = values.as_ref().filter(|_| self.states.len() < MAX_STATES)
                    {
                        self.states.push(State { node, values: values.clone() });
                    }
                }
            }
        }
    }

    /// True if a run has shown a state in which a transition with the condition may be enabled.
    pub(super) fn has_been_at(&self, system: &System, pool: &Pool, condition: &Condition) -> bool {
        match condition.place {
            None => self.visited[condition.node.index()],
            Some(place) => self
                .states
                .iter()
                .any(|s| s.node == condition.node && has_value(system, pool, place, s, true)),
        }
    }

    /// False if a run has shown that the candidate is wrong.
    pub(super) fn leaves_open(
        &self,
        system: &System,
        pool: &Pool,
        candidate: &LintCandidate,
    ) -> bool {
        match candidate {
            LintCandidate::NeverReached { node, instances, .. } => {
                let shows = |at: &StateTerm, s: &State| has_value(system, pool, at.term(), s, true);
                !node.is_some_and(|n| self.visited[n.index()])
                    && !instances.iter().any(|at| self.states.iter().any(|s| shows(at, s)))
            }
            LintCandidate::AlwaysTrue { cases, .. } => {
                let refuted = |c: &Condition| {
                    let conditions = || std::iter::once(&c.term).chain(&c.samples);
                    let here = self.states.iter().filter(|s| s.node == c.node);
                    let at =
                        |s: &&State| c.place.is_none_or(|p| has_value(system, pool, p, s, true));
                    let mut here = here.filter(at);
                    here.any(|s| conditions().any(|&t| has_value(system, pool, t, s, false)))
                };
                !cases.iter().any(refuted)
            }
            LintCandidate::NeverProvided(number) => {
                let condition = system.conditions()[*number].condition.term();
                !self.states.iter().any(|s| has_value(system, pool, condition, s, true))
            }
            _ => true,
        }
    }
}

/// The values after a step, if its effect assigns all of them.
pub(crate) fn next_values(system: &System, step: &Step, before: &[Value]) -> Option<Vec<Value>> {
    let transition = system.transition(step.transition);
    let mut after: Vec<Option<Value>> = vec![None; system.vars().len()];
    let look = |s| {
        let var = system.vars().iter().position(|v| v.current == s).map(|i| &before[i]);
        let param = || {
            transition.params.iter().position(|p| p.symbol == s).and_then(|i| step.params.get(i))
        };
        var.or_else(param).cloned()
    };
    for effect in &transition.effect {
        match *effect {
            Effect::Assign { var, value, .. } => {
                after[var.index()] = evaluate(system.pool(), value.term(), &look).ok();
            }
            Effect::Keep { var, .. } => after[var.index()] = before.get(var.index()).cloned(),
            Effect::Constrain { .. } => {}
        }
    }
    after.into_iter().collect()
}

/// True if a condition evaluates to `value` in a state.
fn has_value(system: &System, pool: &Pool, condition: TermId, state: &State, value: bool) -> bool {
    let look =
        |s| system.vars().iter().position(|v| v.current == s).map(|i| state.values[i].clone());
    evaluate(pool, condition, &look) == Ok(Value::Bool(value))
}
