//! Test support: small systems written as text, and a simple replay of runs.

use gander_term::{Pool, Sort, SymbolId, TermId, Value, evaluate, parse_term};

use crate::{
    ClaimKind, ClaimOrigin, Effect, Goal, Leg, NodeId, Role, Run, State, Step, System,
    SystemBuilder, TransitionId, VarId,
};

/// A builder whose terms are written as text.
pub(crate) struct Model {
    pub(crate) builder: SystemBuilder,
}

impl Model {
    pub(crate) fn new(name: &str, nodes: &[&str]) -> Model {
        let nodes: Vec<(&str, _)> = nodes.iter().map(|n| (*n, None)).collect();
        Model { builder: SystemBuilder::new(name, Pool::new(), &nodes).unwrap() }
    }

    pub(crate) fn node(&self, name: &str) -> NodeId {
        NodeId::from(self.builder.so_far().nodes().iter().position(|n| n.name == name).unwrap())
    }

    pub(crate) fn var(&mut self, name: &str, sort: Sort) -> VarId {
        self.builder.var(name, sort, Role::State, None, None).unwrap()
    }

    pub(crate) fn input(&mut self, name: &str, sort: Sort) -> VarId {
        self.builder.var(name, sort, Role::Input, None, None).unwrap()
    }

    pub(crate) fn term(&mut self, text: &str) -> TermId {
        let quoted = text.replace("@node", "`@node`").replace("@Node", "`@Node`");
        parse_term(&mut self.builder.pool, &quoted).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    pub(crate) fn start(&mut self, target: &str, constraints: &[&str]) {
        let target = self.node(target);
        let terms: Vec<_> = constraints.iter().map(|c| (self.term(c), None)).collect();
        let name = format!("start {}", self.builder.so_far().starts().len());
        self.builder.start(&name, target, &terms, None).unwrap();
    }

    /// A transition `Source.gate`; `effect` has `x := e`, `any x`, or constraints.
    pub(crate) fn step(
        &mut self,
        source: &str,
        gate: &str,
        target: &str,
        params: &[(&str, Sort)],
        guard: &[&str],
        effect: &[&str],
    ) -> TransitionId {
        let name = format!("{source}.{gate}");
        let (source, target) = (self.node(source), self.node(target));
        let gate = self.builder.gate(gate);
        let mut draft = self.builder.transition(&name, Some(gate), source, target, None).unwrap();
        for (p, sort) in params {
            self.builder.param(&mut draft, p, *sort, None).unwrap();
        }
        for g in guard {
            let g = self.term(g);
            self.builder.guard(&mut draft, g, None).unwrap();
        }
        for e in effect {
            if let Some(x) = e.strip_prefix("any ") {
                let x = self.var_named(x);
                self.builder.free(&mut draft, x);
            } else if let Some((x, value)) = e.split_once(":=") {
                let (x, value) = (self.var_named(x.trim()), self.term(value));
                self.builder.assign(&mut draft, x, value, None).unwrap();
            } else {
                let e = self.term(e);
                self.builder.constrain(&mut draft, e, None).unwrap();
            }
        }
        self.builder.add(draft).unwrap()
    }

    fn var_named(&self, name: &str) -> VarId {
        VarId::from(self.builder.so_far().vars().iter().position(|v| v.name == name).unwrap())
    }

    pub(crate) fn assume(&mut self, text: &str) {
        let t = self.term(text);
        let t = self.builder.state_formula(t, text).unwrap();
        self.builder.assumption(text, t, None);
    }

    pub(crate) fn claim(&mut self, name: &str, kind: ClaimKind) {
        self.builder.claim(name, kind, ClaimOrigin::Written, name, None).unwrap();
    }

    pub(crate) fn always(&mut self, text: &str) {
        let t = self.term(text);
        let t = self.builder.state_formula(t, text).unwrap();
        self.claim(&format!("always {text}"), ClaimKind::Always(t));
    }

    pub(crate) fn state_goal(&mut self, text: &str) -> Goal {
        let t = self.term(text);
        Goal::State(self.builder.state_formula(t, text).unwrap())
    }

    pub(crate) fn step_goal(&mut self, t: TransitionId, text: &str) -> Goal {
        let formula = self.term(text);
        self.builder.step_goal(None, &[(t, formula)], text).unwrap()
    }

    pub(crate) fn finish(self) -> System {
        self.builder.finish()
    }
}

/// An account with nodes Open, Frozen and Closed, a parameter, a constraint and an input.
pub(crate) fn account() -> Model {
    let mut m = Model::new("Account", &["Open", "Frozen", "Closed"]);
    let closed = m.node("Closed");
    m.builder.set_final(closed);
    m.var("balance", Sort::Int);
    m.var("fee", Sort::Int);
    m.input("day", Sort::Int);
    m.start("Open", &["balance == 50", "fee == 1"]);
    m.step(
        "Open",
        "deposit",
        "Open",
        &[("amount", Sort::Int)],
        &["Open.deposit.amount > 0"],
        &["balance := balance + Open.deposit.amount"],
    );
    m.step("Open", "freeze", "Frozen", &[], &[], &[]);
    m.step("Frozen", "charge", "Frozen", &[], &["balance >= fee"], &["balance' <= balance - fee"]);
    m.step("Frozen", "unfreeze", "Open", &[], &["day mod 2 == 0"], &[]);
    m.step("Open", "close", "Closed", &[], &["balance == 0"], &[]);
    m
}

fn value_of(
    s: &System,
    x: SymbolId,
    now: &State,
    next: Option<&State>,
    step: Option<&Step>,
) -> Option<Value> {
    if let Some(i) = s.vars().iter().position(|v| v.current == x) {
        return Some(now.values[i].clone());
    }
    if let Some(i) = s.vars().iter().position(|v| v.next == x) {
        return next.map(|n| n.values[i].clone());
    }
    let step = step?;
    let i = s.transition(step.transition).params.iter().position(|p| p.symbol == x)?;
    step.params.get(i).cloned()
}

fn is_true(
    s: &System,
    t: TermId,
    what: &str,
    value: &dyn Fn(SymbolId) -> Option<Value>,
) -> Result<(), String> {
    match evaluate(s.pool(), t, value) {
        Ok(Value::Bool(true)) => Ok(()),
        Ok(_) => Err(format!("{what} is false")),
        Err(e) => Err(format!("{what}: {}", e.describe(s.pool()))),
    }
}

fn admissible(s: &System, state: &State) -> Result<(), String> {
    let mut pool = Pool::fork(s.pool());
    for a in s.assumptions() {
        let t = s.at_node(&mut pool, a.term, state.node);
        match evaluate(&pool, t, &|x| value_of(s, x, state, None, None)) {
            Ok(Value::Bool(true)) => {}
            other => return Err(format!("assumption at {}: {other:?}", s.node(state.node).name)),
        }
    }
    Ok(())
}

/// The states of a run, checked by evaluation, or why it is wrong.
pub(crate) fn replay(s: &System, run: &Run) -> Result<Vec<State>, String> {
    let start = &s.starts()[run.start.index()];
    if run.first.node != start.target || run.first.values.len() != s.vars().len() {
        return Err("wrong first state".into());
    }
    for e in &start.constraint {
        is_true(s, e.term.term(), "start", &|x| value_of(s, x, &run.first, None, None))?;
    }
    admissible(s, &run.first)?;
    let mut states = vec![run.first.clone()];
    take(s, &run.legs, &mut states)?;
    Ok(states)
}

fn take(s: &System, legs: &[Leg], states: &mut Vec<State>) -> Result<(), String> {
    for leg in legs {
        match leg {
            Leg::Repeat { times, body } => {
                for _ in 0..*times {
                    take(s, body, states)?;
                }
            }
            Leg::Step(step) => {
                let t = s.transition(step.transition);
                let now = states.last().unwrap().clone();
                if now.node != t.source {
                    return Err(format!("{} does not leave {}", t.name, s.node(now.node).name));
                }
                for g in &t.guard {
                    is_true(s, g.term.term(), &t.name, &|x| {
                        value_of(s, x, &now, None, Some(step))
                    })?;
                }
                let next = State { node: t.target, values: next_values(s, step, &now)? };
                let mut pool = Pool::fork(s.pool());
                let effect = s.effect_term(&mut pool, step.transition);
                let value = |x| value_of(s, x, &now, Some(&next), Some(step));
                match evaluate(&pool, effect, &value) {
                    Ok(Value::Bool(true)) => {}
                    other => return Err(format!("effect of {}: {other:?}", t.name)),
                }
                admissible(s, &next)?;
                states.push(next);
            }
        }
    }
    Ok(())
}

fn next_values(s: &System, step: &Step, now: &State) -> Result<Vec<Value>, String> {
    if let Some(values) = &step.next {
        return Ok(values.clone());
    }
    let mut values = vec![None; s.vars().len()];
    for e in &s.transition(step.transition).effect {
        match *e {
            Effect::Keep { var, .. } => values[var.index()] = Some(now.values[var.index()].clone()),
            Effect::Assign { var, value, .. } => {
                let v =
                    evaluate(s.pool(), value.term(), &|x| value_of(s, x, now, None, Some(step)));
                values[var.index()] = v.ok();
            }
            Effect::Constrain { .. } => {}
        }
    }
    values.into_iter().collect::<Option<_>>().ok_or_else(|| "next values are missing".to_string())
}

pub(crate) fn ints(values: &[i64]) -> Vec<Value> {
    values.iter().map(|&i| Value::int(i)).collect()
}

pub(crate) fn step(transition: TransitionId, params: &[i64], next: &[i64]) -> Leg {
    Leg::Step(Step { transition, params: ints(params), next: Some(ints(next)) })
}

/// The transition with this name.
pub(crate) fn named(s: &System, name: &str) -> TransitionId {
    TransitionId::from(
        s.transitions().iter().position(|t| t.name == name).unwrap_or_else(|| panic!("no {name}")),
    )
}
