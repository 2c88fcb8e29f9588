//! The oracle on systems built by hand, with answers derived from docs/semantics.md.

mod data;
mod fairness;
mod liveness;
mod safety;

use gander_oracle::{Answer, Limits, Refusal, decide};
use gander_system::{
    ClaimKind, ClaimOrigin, FairnessId, FairnessKind, Goal, NodeId, Role, StateTerm, SystemBuilder,
    TransitionId, VarId,
};
use gander_term::{Op, Pool, Sort, TermId};

/// A system builder with abbreviations for these tests.
struct Model {
    builder: SystemBuilder,
}

impl Model {
    /// Nodes 0 to `nodes - 1` and transitions `t0`, `t1`, ... between them, without data; starts at
    /// node 0.
    fn graph(nodes: usize, edges: &[(usize, usize)]) -> Model {
        let mut model = Model::nodes(nodes);
        model.start(0, &[]);
        for &(from, to) in edges {
            model.step(from, to, |_, _| {});
        }
        model
    }

    /// Nodes without starts and transitions.
    fn nodes(nodes: usize) -> Model {
        let names: Vec<String> = (0..nodes).map(|n| format!("N{n}")).collect();
        let names: Vec<(&str, _)> = names.iter().map(|n| (n.as_str(), None)).collect();
        Model { builder: SystemBuilder::new("hand", Pool::new(), &names).unwrap() }
    }

    /// One node, an int `n` that starts at 0 and is counted up while below `last`.
    fn counter(last: i64) -> Model {
        let mut model = Model::nodes(1);
        let n = model.int("n");
        let zero = model.is(n, 0);
        model.start(0, &[zero]);
        model.step(0, 0, |m, t| {
            let guard = m.compare(Op::Lt, n, last);
            m.builder.guard(t, guard, None).unwrap();
            let up = m.plus(n, 1);
            m.builder.assign(t, n, up, None).unwrap();
        });
        model
    }

    fn int(&mut self, name: &str) -> VarId {
        self.builder.var(name, Sort::Int, Role::State, None, None).unwrap()
    }

    fn bool(&mut self, name: &str, role: Role) -> VarId {
        self.builder.var(name, Sort::Bool, role, None, None).unwrap()
    }

    fn now(&mut self, v: VarId) -> TermId {
        let s = self.builder.so_far().var(v).current;
        self.builder.pool.var(s)
    }

    fn next(&mut self, v: VarId) -> TermId {
        let s = self.builder.so_far().var(v).next;
        self.builder.pool.var(s)
    }

    fn compare(&mut self, op: Op, v: VarId, k: i64) -> TermId {
        let (x, k) = (self.now(v), self.builder.pool.constant(gander_term::Value::int(k)));
        self.mk(op, &[x, k])
    }

    fn is(&mut self, v: VarId, k: i64) -> TermId {
        self.compare(Op::Eq, v, k)
    }

    fn plus(&mut self, v: VarId, k: i64) -> TermId {
        let (x, k) = (self.now(v), self.builder.pool.constant(gander_term::Value::int(k)));
        self.mk(Op::Add, &[x, k])
    }

    fn mk(&mut self, op: Op, args: &[TermId]) -> TermId {
        self.builder.pool.mk(op, args).unwrap()
    }

    fn truth(&mut self, b: bool) -> TermId {
        self.builder.pool.constant(gander_term::Value::Bool(b))
    }

    fn start(&mut self, node: u32, conjuncts: &[TermId]) {
        let conjuncts: Vec<_> = conjuncts.iter().map(|&c| (c, None)).collect();
        let name = format!("start{}", self.builder.so_far().starts().len());
        self.builder.start(&name, NodeId(node), &conjuncts, None).unwrap();
    }

    fn step(
        &mut self,
        from: usize,
        to: usize,
        fill: impl FnOnce(&mut Model, &mut gander_system::TransitionDraft),
    ) -> TransitionId {
        let name = format!("t{}", self.builder.so_far().transitions().len());
        let mut draft = self
            .builder
            .transition(&name, None, NodeId::from(from), NodeId::from(to), None)
            .unwrap();
        fill(self, &mut draft);
        self.builder.add(draft).unwrap()
    }

    fn assume(&mut self, t: TermId) {
        let formula = self.formula(t);
        self.builder.assumption("assumption", formula, None);
    }

    fn formula(&mut self, t: TermId) -> StateTerm {
        self.builder.state_formula(t, "test").unwrap()
    }

    /// `@node == node`
    fn node_is(&mut self, node: u32) -> TermId {
        let location = self.builder.so_far().location();
        let Sort::Enum(e) = self.builder.pool.symbol(location).sort else {
            panic!("@node is of an enumeration")
        };
        let here = self.builder.pool.var(location);
        let there = self.builder.pool.constant(gander_term::Value::Enum(e, node));
        self.mk(Op::Eq, &[here, there])
    }

    fn at(&mut self, node: u32) -> StateTerm {
        let t = self.node_is(node);
        self.formula(t)
    }

    fn not_at(&mut self, node: u32) -> StateTerm {
        let t = self.node_is(node);
        let t = self.mk(Op::Not, &[t]);
        self.formula(t)
    }

    fn fair(&mut self, kind: FairnessKind) -> FairnessId {
        let name = format!("fair{}", self.builder.so_far().fairness().len());
        self.builder.fairness(&name, kind, None).unwrap()
    }

    fn step_goal(&mut self, choices: &[(TransitionId, TermId)]) -> Goal {
        self.builder.step_goal(None, choices, "test").unwrap()
    }

    /// A step goal for any step of a transition.
    fn taken(&mut self, t: u32) -> Goal {
        let any = self.truth(true);
        self.step_goal(&[(TransitionId(t), any)])
    }

    /// The oracle's answers to these claims.
    fn answers(mut self, claims: Vec<ClaimKind>) -> Vec<Answer> {
        for (i, c) in claims.into_iter().enumerate() {
            self.builder.claim(&format!("claim{i}"), c, ClaimOrigin::Written, "", None).unwrap();
        }
        let system = self.builder.finish();
        decide(&system, Limits::default()).unwrap().into_iter().map(Result::unwrap).collect()
    }

    /// The oracle's reason to refuse a claim.
    fn refusal(mut self, claim: ClaimKind) -> Refusal {
        self.builder.claim("claim", claim, ClaimOrigin::Written, "", None).unwrap();
        let system = self.builder.finish();
        match decide(&system, Limits { states: 100, work: 1_000_000 }) {
            Err(refusal) => refusal,
            Ok(answers) => answers[0].clone().unwrap_err(),
        }
    }
}

const HOLDS: Answer = Answer { holds: true, length: None };
const FAILS: Answer = Answer { holds: false, length: None };

fn holds_by(length: u64) -> Answer {
    Answer { holds: true, length: Some(length) }
}

fn fails_by(length: u64) -> Answer {
    Answer { holds: false, length: Some(length) }
}
