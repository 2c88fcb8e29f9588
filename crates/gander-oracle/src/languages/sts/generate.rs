//! Random `.sts` models.

use super::{Claim, Fairness, Goal, Part, Start, Sts, Transition, Variable};
use crate::languages::expression::{Expr, Op, Sort};
use crate::languages::random_expression::Grammar;
use crate::random::Random;

fn grammar() -> Grammar {
    Grammar {
        logic: vec![Op::And, Op::Or, Op::Implies, Op::Iff],
        arithmetic: vec![Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::DivEuclid, Op::ModEuclid],
        division: vec![Op::DivEuclid, Op::ModEuclid],
        arithmetic_one: vec![Op::Neg, Op::Abs],
        bits: vec![
            Op::BvAnd,
            Op::BvOr,
            Op::BvXor,
            Op::BvAdd,
            Op::BvSub,
            Op::BvMul,
            Op::BvUdiv,
            Op::BvUrem,
            Op::BvSdiv,
            Op::BvSrem,
            Op::BvSmod,
            Op::BvShl,
            Op::BvLshr,
            Op::BvAshr,
        ],
        bits_one: vec![Op::BvNot, Op::BvNeg],
        bits_order: vec![Op::Ult, Op::Ule, Op::Ugt, Op::Uge, Op::Slt, Op::Sle, Op::Sgt, Op::Sge],
        slices: true,
        ..Grammar::default()
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    sts: Sts,
    room: usize,
}

impl Maker<'_> {
    fn variable(&mut self, name: String, is_input: bool, is_parameter: bool) -> Option<Variable> {
        let mut range = None;
        let room = if is_parameter { 4 } else { self.room };
        let (sort, domain): (Sort, Vec<i64>) = match self.random.below(7) {
            0..=2 if room >= 3 => {
                let low = self.random.between(-1, 1);
                let high = low + self.random.between(1, (room as i64 - 1).min(3));
                if is_input || is_parameter {
                    range = Some((low, high));
                } else if self.random.chance(40) {
                    range = Some((low, high - i64::from(self.random.chance(25))));
                }
                (Sort::Int, (low..=high).collect())
            }
            3 if room >= 3 => {
                let number = self.random.below(self.sts.enumerations.len());
                let count = self.sts.enumerations[number].len() as i64;
                (Sort::Symbol { number, count }, (0..count).collect())
            }
            4 if room >= 4 => {
                let width = if room >= 8 { self.random.between(1, 3) } else { 2 } as u32;
                (Sort::bits(width), (0..1 << width).collect())
            }
            _ if room >= 2 => (Sort::Bool, vec![0, 1]),
            _ => return None,
        };
        if !is_parameter {
            self.room /= domain.len();
        }
        Some(Variable { name, sort, domain, is_input, range })
    }

    /// Variables, and on request their next values and formulas about the node.
    fn leaves(&self, with_node: bool, next: bool) -> Vec<Expr> {
        let mut leaves = Vec::new();
        for (i, v) in self.sts.variables.iter().enumerate() {
            leaves.push(Expr::Var(v.sort, i));
            if next && !v.is_input {
                leaves.push(Expr::Next(v.sort, i));
            }
        }
        if with_node && self.sts.with_nodes {
            let sort = self.sts.node_sort();
            for n in 0..self.sts.nodes.len() as i64 {
                let here = Expr::two(
                    Sort::Bool,
                    Op::Eq,
                    Expr::Var(sort, self.sts.node()),
                    Expr::Const(sort, n),
                );
                leaves.push(here);
            }
        }
        leaves
    }

    fn make(&mut self, leaves: Vec<Expr>, sort: Sort, depth: usize) -> Expr {
        let mut grammar = grammar().over(leaves);
        let all =
            self.sts.variables.iter().map(|v| v.sort).filter(|s| matches!(s, Sort::Bits { .. }));
        grammar.widths = all.map(Sort::width).collect();
        grammar.make(self.random, sort, depth)
    }

    /// A value within the domain.
    fn value(&mut self, v: &Variable, leaves: Vec<Expr>) -> Expr {
        let depth = self.random.between(0, 3) as usize;
        let e = self.make(leaves, v.sort, depth);
        if v.sort != Sort::Int {
            return e;
        }
        let (low, high) = (v.domain[0], v.domain[v.domain.len() - 1]);
        if low == 0 && self.random.chance(40) {
            return Expr::two(Sort::Int, Op::ModEuclid, e, Expr::int(high + 1));
        }
        Expr::Op(
            Sort::Int,
            Op::Ite,
            vec![Expr::within(&e, low, high), e, Expr::int(*self.random.pick(&v.domain))],
        )
    }

    fn transition(&mut self, number: usize) -> Transition {
        let nodes = self.sts.nodes.len();
        let mut parameters = Vec::new();
        if self.random.chance(30) {
            parameters.extend(self.variable(format!("q{number}"), false, true));
        }
        let mut leaves = self.leaves(false, false);
        let mut both = self.leaves(false, true);
        for (k, p) in parameters.iter().enumerate() {
            leaves.push(Expr::Var(p.sort, self.sts.node() + 1 + k));
            both.push(Expr::Var(p.sort, self.sts.node() + 1 + k));
        }
        let guard = self.random.chance(60).then(|| self.make(leaves.clone(), Sort::Bool, 3));
        let mut effect = Vec::new();
        let mut assigned = Vec::new();
        for i in 0..self.sts.variables.len() {
            let v = self.sts.variables[i].clone();
            if v.is_input || !self.random.chance(60) {
                continue;
            }
            assigned.push(i);
            if v.sort != Sort::Int && self.random.chance(10) {
                effect.push(Part::Any(i));
            } else {
                effect.push(Part::Assign(i, self.value(&v, leaves.clone())));
            }
        }
        if self.random.chance(25) {
            both.retain(|e| !matches!(e, Expr::Next(_, i) if assigned.contains(i)));
            let e = self.make(both, Sort::Bool, 2);
            for (i, v) in self.sts.variables.iter().enumerate() {
                // Bound the primed ints.
                if v.sort == Sort::Int && e.any(&|e| matches!(e, Expr::Next(_, k) if *k == i)) {
                    let (low, high) = (v.domain[0], v.domain[v.domain.len() - 1]);
                    effect.push(Part::Constraint(Expr::within(
                        &Expr::Next(Sort::Int, i),
                        low,
                        high,
                    )));
                }
            }
            effect.push(Part::Constraint(e));
        }
        let gate = if self.random.chance(80) { number } else { self.random.below(number + 1) };
        let (source, target) = (self.random.below(nodes), self.random.below(nodes));
        Transition { gate, source, target, parameters, guard, effect }
    }

    fn claim(&mut self) -> Claim {
        let leaves = self.leaves(true, false);
        let p = self.make(leaves.clone(), Sort::Bool, 3);
        match self.random.below(15) {
            0 | 1 => Claim::Always(p),
            2 => Claim::Reachable(vec![Goal::State(p)]),
            3 => {
                let mut goals = Vec::new();
                for _ in 0..self.random.between(1, 3) {
                    if self.random.chance(50) || self.sts.transitions.is_empty() {
                        let p = self.make(leaves.clone(), Sort::Bool, 2);
                        goals.push(Goal::State(p));
                        continue;
                    }
                    let gate = self.random.pick(&self.sts.transitions).gate;
                    let with = self.random.chance(50).then(|| {
                        let mut leaves = self.leaves(false, false);
                        let of: Vec<&Transition> =
                            self.sts.transitions.iter().filter(|t| t.gate == gate).collect();
                        if let [only] = of[..] {
                            for (k, p) in only.parameters.iter().enumerate() {
                                leaves.push(Expr::Var(p.sort, self.sts.node() + 1 + k));
                            }
                        }
                        self.make(leaves, Sort::Bool, 2)
                    });
                    goals.push(Goal::Step(gate, with));
                }
                Claim::Reachable(goals)
            }
            4 | 5 => Claim::Eventually(p),
            6 | 7 => Claim::Recurs(p),
            8 | 9 => Claim::LeadsTo(p, self.make(leaves, Sort::Bool, 2)),
            10 => Claim::Possible(p),
            11 => Claim::ExistsAlways(p),
            12 => Claim::NoDeadlock,
            13 => Claim::InfiniteRun,
            _ if self.sts.transitions.is_empty() => Claim::Always(p),
            _ => {
                let t = self.random.below(self.sts.transitions.len());
                let constrained =
                    self.sts.transitions[t].effect.iter().any(|p| matches!(p, Part::Constraint(_)));
                if constrained { Claim::Completable(t) } else { Claim::CanEnable(t) }
            }
        }
    }
}

pub(super) fn generate(random: &mut Random) -> Sts {
    let enumerations =
        vec![vec!["Red".into(), "Green".into(), "Blue".into()], vec!["Up".into(), "Down".into()]];
    let with_nodes = random.chance(70);
    let nodes: Vec<bool> = if with_nodes {
        (0..random.between(1, 3)).map(|_| random.chance(25)).collect()
    } else {
        vec![false]
    };
    let sts = Sts {
        variables: Vec::new(),
        enumerations,
        nodes,
        with_nodes,
        starts: Vec::new(),
        assumptions: Vec::new(),
        transitions: Vec::new(),
        fairness: Vec::new(),
        claims: Vec::new(),
    };
    let mut maker = Maker { random, sts, room: 48 };
    for i in 0..maker.random.between(1, 3) {
        let is_input = i > 0 && maker.random.chance(25);
        let variable = maker.variable(format!("x{i}"), is_input, false);
        maker.sts.variables.extend(variable);
    }
    for _ in 0..maker.random.between(1, 2) {
        let mut constraints = Vec::new();
        for i in 0..maker.sts.variables.len() {
            let v = maker.sts.variables[i].clone();
            let var = Expr::Var(v.sort, i);
            if maker.random.chance(60) && !v.is_input {
                let value = Expr::Const(v.sort, *maker.random.pick(&v.domain));
                constraints.push(Expr::two(Sort::Bool, Op::Eq, var, value));
            } else if v.sort == Sort::Int && !v.is_input {
                constraints.push(Expr::within(&var, v.domain[0], v.domain[v.domain.len() - 1]));
            }
        }
        if maker.random.chance(25) {
            let leaves = maker.leaves(false, false);
            constraints.push(maker.make(leaves, Sort::Bool, 2));
        }
        let target = maker.random.below(maker.sts.nodes.len());
        maker.sts.starts.push(Start { target, constraints });
    }
    if maker.random.chance(20) {
        let leaves = maker.leaves(true, false);
        let e = maker.make(leaves, Sort::Bool, 2);
        maker.sts.assumptions.push(e);
    }
    for number in 0..maker.random.between(1, 5) as usize {
        let t = maker.transition(number);
        maker.sts.transitions.push(t);
    }
    if !maker.sts.with_nodes {
        // Without nodes, every step has a distinct name.
        maker.sts.transitions.iter_mut().enumerate().for_each(|(i, t)| t.gate = i);
    }
    if maker.random.chance(40) {
        for _ in 0..maker.random.between(1, 2) {
            let gate = maker.random.pick(&maker.sts.transitions).gate;
            let leaves = maker.leaves(true, false);
            let fairness = match maker.random.below(3) {
                0 => Fairness::Justice(maker.make(leaves, Sort::Bool, 2)),
                1 => Fairness::Weak(gate),
                _ => Fairness::Strong(gate),
            };
            maker.sts.fairness.push(fairness);
        }
    }
    for _ in 0..maker.random.between(2, 5) {
        let claim = maker.claim();
        let all_runs =
            matches!(claim, Claim::Eventually(_) | Claim::Recurs(_) | Claim::LeadsTo(..));
        let number = maker.sts.fairness.len();
        let under = match number {
            0 => Vec::new(),
            _ if !all_runs || maker.random.chance(30) => Vec::new(),
            _ if maker.random.chance(50) => (0..number).collect(),
            _ => vec![maker.random.below(number)],
        };
        maker.sts.claims.push((claim, under));
        // Claims without a name occur once at most.
        let last = maker.sts.claims.len() - 1;
        let name = maker.sts.claim_name(last);
        if (0..last).any(|i| maker.sts.claim_name(i) == name) {
            maker.sts.claims.pop();
        }
    }
    maker.sts
}
