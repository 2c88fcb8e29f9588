//! Small systems for tests, built by hand.
#![allow(dead_code)]

use std::sync::Arc;

use gander_engines::{Cancellation, CheckConfig, CheckReport, NullObserver, check};
use gander_smt::Solvers;
use gander_system::{
    ClaimId, ClaimKind, ClaimOrigin, Goal, NodeId, StateTerm, System, SystemBuilder, VarId,
};
use gander_term::{Pool, Sort, TermId};

/// A builder that panics on errors, with shorthands for tests.
pub struct Model {
    pub b: SystemBuilder,
}

impl Model {
    pub fn new(nodes: &[&str]) -> Model {
        let nodes: Vec<_> = nodes.iter().map(|n| (*n, None)).collect();
        Model { b: SystemBuilder::new("test", Pool::new(), &nodes).unwrap() }
    }

    pub fn int(&mut self, name: &str) -> VarId {
        self.b.var(name, Sort::Int, gander_system::Role::State, None, None).unwrap()
    }

    pub fn bool(&mut self, name: &str) -> VarId {
        self.b.var(name, Sort::Bool, gander_system::Role::State, None, None).unwrap()
    }

    pub fn cur(&mut self, name: &str) -> TermId {
        self.b.pool.variable(name, Sort::Int)
    }

    pub fn num(&mut self, i: i64) -> TermId {
        self.b.pool.int(i)
    }

    /// A term in the text form; `in N` abbreviates being at node `N`.
    pub fn term(&mut self, text: &str) -> TermId {
        let mut text = text.to_string();
        for n in self.b.so_far().nodes() {
            text = text
                .replace(&format!("in {}", n.name), &format!("`@node` == `@Node`.`{}`", n.name));
        }
        gander_term::parse_term(&mut self.b.pool, &text).unwrap()
    }

    pub fn state(&mut self, text: &str) -> StateTerm {
        let t = self.term(text);
        self.b.state_formula(t, "test").unwrap()
    }

    pub fn start(&mut self, name: &str, target: u32, text: &str) {
        let t = self.term(text);
        self.b.start(name, NodeId(target), &[(t, None)], None).unwrap();
    }

    /// A transition; `effects` are `x := e` or a relation over next variables.
    pub fn step(
        &mut self,
        name: &str,
        from: u32,
        to: u32,
        params: &[&str],
        guard: &str,
        effects: &[&str],
    ) {
        let gate = self.b.gate(name);
        let mut d = self.b.transition(name, Some(gate), NodeId(from), NodeId(to), None).unwrap();
        for p in params {
            self.b.param(&mut d, p, Sort::Int, None).unwrap();
        }
        let g = self.term(guard);
        self.b.guard(&mut d, g, None).unwrap();
        for e in effects {
            if let Some((x, value)) = e.split_once(":=") {
                let var = self.b.so_far().vars().iter().position(|v| v.name == x.trim()).unwrap();
                let value = self.term(value);
                self.b.assign(&mut d, VarId::from(var), value, None).unwrap();
            } else {
                let r = self.term(e);
                self.b.constrain(&mut d, r, None).unwrap();
            }
        }
        self.b.add(d).unwrap();
    }

    pub fn always(&mut self, name: &str, text: &str) {
        let p = self.state(text);
        self.b.claim(name, ClaimKind::Always(p), ClaimOrigin::Written, name, None).unwrap();
    }

    pub fn reachable(&mut self, name: &str, goals: &[&str]) {
        let goals = goals.iter().map(|g| Goal::State(self.state(g))).collect();
        self.b.claim(name, ClaimKind::Reachable(goals), ClaimOrigin::Written, name, None).unwrap();
    }

    pub fn claim(&mut self, name: &str, kind: ClaimKind) {
        self.b.claim(name, kind, ClaimOrigin::Written, name, None).unwrap();
    }

    pub fn finish(self) -> Arc<System> {
        Arc::new(self.b.finish())
    }
}

pub fn solvers() -> Arc<Solvers> {
    Arc::new(Solvers::from_environment())
}

pub fn config(system: &System) -> CheckConfig {
    let claims = (0..system.claims().len()).map(ClaimId::from).collect();
    CheckConfig::new(solvers(), claims)
}

pub fn run(system: &Arc<System>, config: &CheckConfig) -> CheckReport {
    let report = check(system, config, &Cancellation::new(), &NullObserver);
    if let Some(e) = report.internal_errors.first() {
        panic!(
            "internal error: {} on {:?}: {}",
            e.engine,
            system.claims()[e.claim.index()].name,
            e.problem
        );
    }
    report
}
