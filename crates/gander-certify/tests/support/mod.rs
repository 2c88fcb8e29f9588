//! Small systems written as text, and evidence about them.
#![allow(dead_code)]

use std::sync::Arc;

use gander_certify::{Budget, Certified, CheckLimits, Checker, Rejection};
use gander_smt::Solvers;
use gander_system::{
    ClaimId, ClaimKind, ClaimOrigin, Evidence, Goal, Leg, NodeFormulas, NodeId, Role, Run, StartId,
    State, Step, System, SystemBuilder, TransitionId, Verdict,
};
use gander_term::{Pool, Sort, TermId, Value, parse_term};

/// A system under construction. Formulas are texts; a parameter `p` of `t` is written `t.p`.
pub struct Model {
    pub builder: SystemBuilder,
    claims: u32,
}

impl Model {
    /// Nodes; a name that ends in `!` is that of a final node.
    pub fn new(nodes: &[&str]) -> Model {
        let names: Vec<(&str, _)> = nodes.iter().map(|n| (n.trim_end_matches('!'), None)).collect();
        let mut builder = SystemBuilder::new("test", Pool::new(), &names).unwrap();
        for (i, n) in nodes.iter().enumerate().filter(|(_, n)| n.ends_with('!')) {
            let _ = n;
            builder.set_final(NodeId::from(i));
        }
        Model { builder, claims: 0 }
    }

    pub fn term(&mut self, text: &str) -> TermId {
        parse_term(&mut self.builder.pool, text).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    pub fn var(mut self, name: &str, sort: Sort) -> Model {
        self.builder.var(name, sort, Role::State, None, None).unwrap();
        self
    }

    pub fn input(mut self, name: &str, sort: Sort) -> Model {
        self.builder.var(name, sort, Role::Input, None, None).unwrap();
        self
    }

    pub fn assume(mut self, text: &str) -> Model {
        let t = self.term(text);
        let formula = self.builder.state_formula(t, "assumption").unwrap();
        self.builder.assumption("assumption", formula, None);
        self
    }

    pub fn start(mut self, node: u32, text: &str) -> Model {
        let t = self.term(text);
        let name = format!("start {}", self.builder.so_far().starts().len());
        self.builder.start(&name, NodeId(node), &[(t, None)], None).unwrap();
        self
    }

    /// A transition; effects are `x := e`, `any x` or constraints.
    pub fn step(self, name: &str, from: u32, to: u32, guard: &str, effect: &[&str]) -> Model {
        self.step_with(name, from, to, &[], guard, effect)
    }

    pub fn step_with(
        mut self,
        name: &str,
        from: u32,
        to: u32,
        params: &[(&str, Sort)],
        guard: &str,
        effect: &[&str],
    ) -> Model {
        let mut draft =
            self.builder.transition(name, None, NodeId(from), NodeId(to), None).unwrap();
        for (p, sort) in params {
            self.builder.param(&mut draft, p, *sort, None).unwrap();
        }
        let guard = self.term(guard);
        self.builder.guard(&mut draft, guard, None).unwrap();
        let find = |b: &SystemBuilder, name: &str| {
            b.so_far()
                .var_ids()
                .find(|&v| b.so_far().var(v).name == name.trim())
                .expect("a variable")
        };
        for e in effect {
            if let Some((x, value)) = e.split_once(":=") {
                let (x, value) = (find(&self.builder, x), self.term(value));
                self.builder.assign(&mut draft, x, value, None).unwrap();
            } else if let Some(x) = e.strip_prefix("any ") {
                let x = find(&self.builder, x);
                self.builder.free(&mut draft, x);
            } else {
                let relation = self.term(e);
                self.builder.constrain(&mut draft, relation, None).unwrap();
            }
        }
        self.builder.add(draft).unwrap();
        self
    }

    pub fn claim(mut self, kind: impl FnOnce(&mut Model) -> ClaimKind) -> System {
        self.add_claim(kind);
        self.builder.finish()
    }

    pub fn add_claim(&mut self, kind: impl FnOnce(&mut Model) -> ClaimKind) {
        let kind = kind(self);
        let name = format!("claim {}", self.claims);
        self.claims += 1;
        self.builder.claim(&name, kind, ClaimOrigin::Written, "", None).unwrap();
    }

    pub fn formula(&mut self, text: &str) -> gander_system::StateTerm {
        let t = self.term(text);
        self.builder.state_formula(t, "claim").unwrap()
    }

    pub fn always(self, text: &str) -> System {
        self.claim(|m| ClaimKind::Always(m.formula(text)))
    }

    pub fn reachable(self, text: &str) -> System {
        self.claim(|m| ClaimKind::Reachable(vec![m.goal(text)]))
    }

    /// A state goal, or `t: formula` for a step goal of the transition with number `t`.
    pub fn goal(&mut self, text: &str) -> Goal {
        match text.split_once(": ") {
            Some((t, formula)) => {
                let formula = self.term(formula);
                let t = TransitionId(t.parse().unwrap());
                self.builder.step_goal(None, &[(t, formula)], "goal").unwrap()
            }
            None => Goal::State(self.formula(text)),
        }
    }
}

pub fn int(i: i64) -> Value {
    Value::int(i)
}

/// A run from start 0 at `node` with these first values.
pub fn run(node: u32, first: &[i64], legs: Vec<Leg>) -> Run {
    let first = State { node: NodeId(node), values: first.iter().map(|&i| int(i)).collect() };
    Run { start: StartId(0), first, legs: legs.into() }
}

/// A step whose next values are computed.
pub fn go(t: u32) -> Leg {
    go_with(t, &[])
}

pub fn go_with(t: u32, params: &[i64]) -> Leg {
    let params = params.iter().map(|&i| int(i)).collect();
    Leg::Step(Step { transition: TransitionId(t), params, next: None })
}

/// A step with its next values.
pub fn to(t: u32, params: &[i64], next: &[i64]) -> Leg {
    let params = params.iter().map(|&i| int(i)).collect();
    let next = Some(next.iter().map(|&i| int(i)).collect());
    Leg::Step(Step { transition: TransitionId(t), params, next })
}

pub fn times(times: u64, body: Vec<Leg>) -> Leg {
    Leg::Repeat { times, body }
}

/// Formulas by node.
pub fn formulas(system: &System, texts: &[&str]) -> NodeFormulas {
    let mut pool = Pool::fork(system.pool());
    let by_node = texts
        .iter()
        .map(|t| parse_term(&mut pool, t).unwrap_or_else(|e| panic!("{t}: {e}")))
        .collect();
    NodeFormulas { pool: Arc::new(pool), by_node }
}

pub fn invariant(system: &System, texts: &[&str]) -> Evidence {
    Evidence::Invariant(formulas(system, texts))
}

pub fn k_inductive(system: &System, k: u32, texts: &[&str]) -> Evidence {
    Evidence::KInductive {
        k,
        invariant: formulas(system, texts),
        loop_free: false,
        no_restart: false,
    }
}

pub fn checker() -> Checker {
    Checker::new(&Arc::new(Solvers::from_environment()), CheckLimits::default())
}

/// A checker that decides nothing without a solver.
pub fn solver_checker() -> Checker {
    let limits = CheckLimits { linear: Budget::NONE, ..CheckLimits::default() };
    Checker::new(&Arc::new(Solvers::from_environment()), limits)
}

pub fn check(system: &System, verdict: &Verdict) -> Result<Certified, Rejection> {
    checker().check(system, ClaimId(0), verdict)
}

#[track_caller]
pub fn accepts(system: &System, verdict: Verdict) -> Certified {
    check(system, &verdict).unwrap_or_else(|e| panic!("{e}\n{verdict:?}"))
}

/// Asserts that the verdict is rejected as wrong, with a message that contains `why`.
#[track_caller]
pub fn refuses(system: &System, verdict: Verdict, why: &str) {
    match check(system, &verdict) {
        Err(Rejection::Wrong(message)) => {
            assert!(message.contains(why), "{message} does not say {why}")
        }
        other => panic!("{other:?} for {verdict:?}"),
    }
}

pub fn holds(e: Evidence) -> Verdict {
    Verdict::Holds(e)
}

pub fn fails(e: Evidence) -> Verdict {
    Verdict::Fails(e)
}

pub fn holds_run(r: Run) -> Verdict {
    Verdict::Holds(Evidence::Run(r))
}

pub fn fails_run(r: Run) -> Verdict {
    Verdict::Fails(Evidence::Run(r))
}

/// Records that a test was skipped, and why.
#[allow(clippy::print_stderr)]
pub fn skip(why: &str) {
    use std::io::Write;
    eprintln!("SKIPPED {why}");
    if let Some(path) = std::env::var_os("GANDER_SKIP_LOG")
        && let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path)
    {
        let _ = writeln!(file, "{why}");
    }
}
