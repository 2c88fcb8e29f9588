//! Random claims and fairness constraints.
//!
//! A coin selects the wanted answer, and another whether the run that shows it must be long. A
//! claim is drawn up to [`DRAWS`] times until the oracle's answer fits; otherwise the last draw is
//! used.

use gander_system::{
    ClaimKind, ClaimOrigin, FairnessId, FairnessKind, Goal, NodeId, StateTerm, TransitionId,
};
use gander_term::{Op, TermId, Value};

use super::{Emphasis, Maker};
use crate::{Limits, Reachable, Refusal, decide_claim};

const DRAWS: usize = 8;
/// Runs with at least this many steps count as long.
const LONG: u64 = 4;

impl Maker {
    /// Adds fairness constraints and this many claims, without the named kinds of
    /// docs/semantics.md.
    pub(super) fn claims(
        &mut self,
        written: usize,
        graph: &Reachable,
        limits: Limits,
    ) -> Result<(), Refusal> {
        self.fairness_constraints(graph);
        for i in 0..written {
            let kind = match self.settings.emphasis {
                Emphasis::Everything => self.random.weighted(&[22, 14, 14, 6, 4, 8, 8, 8, 8, 8]),
                Emphasis::FiveChecks => self.random.weighted(&[50, 30, 10, 10]),
            };
            let wanted = self.random.chance(50);
            let long = self.random.chance(65);
            let mut drawn = None;
            for _ in 0..DRAWS {
                let claim = self.claim(kind, graph);
                let answer =
                    decide_claim(self.builder.so_far(), &self.builder.pool, graph, &claim, limits)?;
                let enough =
                    answer.holds == wanted && (!long || answer.length.is_none_or(|n| n >= LONG));
                drawn = Some(claim);
                if enough {
                    break;
                }
            }
            if let Some(claim) = drawn {
                self.builder
                    .claim(&format!("claim{i}"), claim, ClaimOrigin::Written, "", None)
                    .expect("names are fresh");
            }
        }
        Ok(())
    }

    fn fairness_constraints(&mut self, graph: &Reachable) {
        let count = self.random.weighted(&[40, 35, 25]);
        for i in 0..count {
            let kind = match (self.random.below(3), self.transitions.is_empty()) {
                (0, _) | (_, true) => FairnessKind::Justice(self.state_formula(graph)),
                (1, _) => FairnessKind::Weak(self.some_transitions()),
                _ => FairnessKind::Strong(self.some_transitions()),
            };
            self.builder.fairness(&format!("fair{i}"), kind, None).expect("names are fresh");
        }
    }

    fn some_transitions(&mut self) -> Vec<TransitionId> {
        let mut chosen = vec![*self.random.pick(&self.transitions)];
        if self.random.chance(30) {
            chosen.push(*self.random.pick(&self.transitions));
        }
        chosen.sort();
        chosen.dedup();
        chosen
    }

    fn under(&mut self) -> Vec<FairnessId> {
        let all = self.builder.so_far().fairness().len();
        (0..all).filter(|_| self.random.chance(70)).map(FairnessId::from).collect()
    }

    fn claim(&mut self, kind: usize, graph: &Reachable) -> ClaimKind {
        match kind {
            0 => ClaimKind::Always(self.state_formula(graph)),
            1 => ClaimKind::Reachable(vec![self.goal(graph)]),
            2 => {
                let n = 2 + self.random.below(2);
                ClaimKind::Reachable((0..n).map(|_| self.goal(graph)).collect())
            }
            3 => ClaimKind::NoDeadlock,
            4 => ClaimKind::InfiniteRun,
            5 => ClaimKind::Eventually { goal: self.state_formula(graph), under: self.under() },
            6 => {
                ClaimKind::AlwaysEventually { goal: self.state_formula(graph), under: self.under() }
            }
            7 => {
                let (from, to) = (self.state_formula(graph), self.state_formula(graph));
                ClaimKind::LeadsTo { from, to, under: self.under() }
            }
            8 => ClaimKind::AlwaysPossible(self.state_formula(graph)),
            _ => ClaimKind::ExistsAlways(self.state_formula(graph)),
        }
    }

    fn goal(&mut self, graph: &Reachable) -> Goal {
        if self.transitions.is_empty() || self.random.chance(60) {
            return Goal::State(self.state_formula(graph));
        }
        let gates = self.builder.so_far().gates().len();
        let (gate, transitions) = if gates > 0 && self.random.chance(60) {
            let gate = gander_system::GateId::from(self.random.below(gates));
            let all = self.transitions.iter().copied();
            (
                Some(gate),
                all.filter(|t| self.builder.so_far().transition(*t).gate == Some(gate)).collect(),
            )
        } else {
            (None, self.some_transitions())
        };
        let mut choices: Vec<(TransitionId, TermId)> = Vec::new();
        for t in transitions {
            let formula = if self.random.chance(40) {
                let mut symbols = self.readable();
                symbols.extend(self.builder.so_far().transition(t).params.iter().map(|p| p.symbol));
                self.terms(symbols).boolean(1)
            } else {
                self.builder.pool.constant(Value::Bool(true))
            };
            choices.push((t, formula));
        }
        self.builder.step_goal(gate, &choices, "goal").expect("over state and parameters")
    }

    fn state_formula(&mut self, graph: &Reachable) -> StateTerm {
        let t = match self.random.weighted(&[30, 20, 10, 40]) {
            0 => {
                let symbols = self.readable();
                self.terms(symbols).boolean(1)
            }
            1 => {
                let symbols = self.readable();
                self.terms(symbols).boolean(2)
            }
            2 => {
                let symbols = self.readable();
                let node = NodeId::from(self.random.below(self.nodes));
                let here = self.node_is(node);
                let mut terms = self.terms(symbols);
                let other = terms.boolean(1);
                let op = *terms.random.pick(&[Op::And, Op::Or, Op::Implies]);
                terms.mk(op, &[here, other])
            }
            _ => self.some_states(graph),
        };
        let t = if self.random.chance(30) { self.terms(Vec::new()).mk(Op::Not, &[t]) } else { t };
        self.builder.state_formula(t, "claim").expect("over one state")
    }

    /// A formula that holds in some reachable state, more likely in a distant one.
    fn some_states(&mut self, graph: &Reachable) -> TermId {
        let count = graph.states.len();
        if count == 0 {
            return self.builder.pool.constant(Value::Bool(true));
        }
        let n = self.random.below(count).max(self.random.below(count));
        let (node, values) = graph.states[n].clone();
        let mut parts = Vec::new();
        if self.nodes > 1 && self.random.chance(50) {
            parts.push(self.node_is(node));
        }
        for (v, value) in self.variables.clone().into_iter().zip(values) {
            if self.random.chance(60) {
                let x = self.builder.pool.var(v.current);
                let value = self.builder.pool.constant(value);
                let op = if v.sort.is_numeric() {
                    *self.random.pick(&[Op::Eq, Op::Ge, Op::Eq, Op::Le])
                } else {
                    Op::Eq
                };
                parts.push(self.terms(Vec::new()).mk(op, &[x, value]));
            }
        }
        match parts[..] {
            [] => self.node_is(node),
            [only] => only,
            _ => self.terms(Vec::new()).mk(Op::And, &parts),
        }
    }
}
