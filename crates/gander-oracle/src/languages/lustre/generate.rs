//! Random Lustre programs.

use super::{Equation, Node, Program, Rhs, Stream, TEMPORAL, Temporal};
use crate::languages::expression::{Expr, Op, Sort};
use crate::languages::random_expression::Grammar;
use crate::random::Random;

/// The least and the greatest value of ints.
const LOW: i64 = -1;
const HIGH: i64 = 2;

fn grammar() -> Grammar {
    Grammar {
        logic: vec![Op::And, Op::Or, Op::Xor, Op::Implies],
        division: vec![Op::DivEuclid, Op::ModEuclid],
        arithmetic_one: vec![Op::Neg],
        ..Grammar::default()
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    program: Program,
    node: Node,
    /// True if `pre` may be unguarded.
    unguarded: bool,
    delays: usize,
}

impl Maker<'_> {
    fn sort(&mut self) -> Sort {
        match self.random.below(6) {
            0..=2 => Sort::Bool,
            3 | 4 => Sort::Int,
            _ => Sort::Symbol { number: 0, count: self.program.enumerations[0].len() as i64 },
        }
    }

    fn stream(&mut self, name: String, sort: Sort) {
        let domain = match sort {
            Sort::Int => (0..=self.random.between(1, 2)).collect(),
            _ => (0..sort.count().unwrap_or(1)).collect(),
        };
        self.node.streams.push(Stream { name, sort, domain });
    }

    fn streams(&self, below: usize) -> Vec<Expr> {
        self.node.streams[..below].iter().enumerate().map(|(i, s)| Expr::Var(s.sort, i)).collect()
    }

    fn plain(&mut self, leaves: Vec<Expr>, sort: Sort, depth: usize) -> Expr {
        grammar().over(leaves).make(self.random, sort, depth)
    }

    /// An operand of `pre`: any streams and operators with memory.
    fn operand(&mut self, sort: Sort) -> Expr {
        let mut leaves = self.streams(self.node.streams.len());
        if self.random.chance(20) {
            leaves.extend(self.node.temporals.iter().enumerate().filter_map(
                |(k, (sort, t))| match t {
                    Temporal::Delay(..) => Some(Expr::Var(*sort, TEMPORAL + k)),
                    _ => None,
                },
            ));
        }
        let depth = usize::from(self.random.chance(35));
        let e = self.plain(leaves, sort, depth);
        if sort == Sort::Int { clamp(e) } else { e }
    }

    fn temporal(&mut self, sort: Sort, t: Temporal) -> Expr {
        self.delays += usize::from(t.operand().is_some());
        self.node.temporals.push((sort, t));
        Expr::Var(sort, TEMPORAL + self.node.temporals.len() - 1)
    }

    /// An expression over streams with smaller numbers, and operators with memory.
    fn expression(&mut self, below: usize, sort: Sort, depth: usize) -> Expr {
        let mut leaves = self.streams(below);
        for _ in 0..2 {
            if self.delays >= 4 || self.random.chance(45) {
                continue;
            }
            let of = if self.random.chance(60) { sort } else { self.sort() };
            let streams = self.streams(below);
            let leaf = match self.random.below(10) {
                0..=3 => {
                    let (first, operand) = (self.plain(streams, of, 1), self.operand(of));
                    self.temporal(of, Temporal::Delay(first, operand))
                }
                4..=6 if self.unguarded => {
                    // Booleans only, so that all first values can be tried.
                    let streams: Vec<Expr> = self
                        .streams(self.node.streams.len())
                        .into_iter()
                        .filter(|e| e.sort() == Sort::Bool)
                        .collect();
                    let depth = self.random.below(2);
                    let grammar = Grammar { order: Vec::new(), ..grammar() };
                    let operand = grammar.over(streams).make(self.random, Sort::Bool, depth);
                    self.temporal(Sort::Bool, Temporal::Unguarded(operand))
                }
                _ => {
                    let first = self.plain(streams.clone(), of, 1);
                    let operand = self.operand(of);
                    let mut right = streams;
                    right.push(self.temporal(of, Temporal::Guarded(operand)));
                    let later = self.plain(right, of, 2);
                    self.temporal(of, Temporal::Arrow(first, later))
                }
            };
            leaves.push(leaf.clone());
            leaves.push(leaf);
        }
        self.plain(leaves, sort, depth)
    }

    fn definition(&mut self, below: usize, sort: Sort) -> Expr {
        let depth = self.random.between(1, 3) as usize;
        let e = self.expression(below, sort, depth);
        if sort == Sort::Int { clamp(e) } else { e }
    }

    fn arguments(&mut self, node: usize, below: usize) -> Vec<Expr> {
        let of = self.program.nodes[node].clone();
        of.streams[..of.inputs].iter().map(|s| self.definition(below, s.sort)).collect()
    }

    /// Declares and defines the streams after the inputs: those with these sorts, then others.
    fn body(&mut self, outputs: &[Sort], locals: usize, may_call: bool) {
        // Declare all streams first, as operands of `pre` may be any streams.
        let mut kinds: Vec<(usize, Option<usize>, usize)> = Vec::new();
        for (k, sort) in outputs.iter().enumerate() {
            kinds.push((self.node.streams.len(), None, 1));
            self.stream(format!("y{k}"), *sort);
        }
        self.node.outputs = outputs.len();
        for k in 0..locals {
            let at = self.node.streams.len();
            if may_call && !self.program.nodes.is_empty() && self.random.chance(55) {
                let callee = self.random.below(self.program.nodes.len());
                let of = self.program.nodes[callee].clone();
                kinds.push((at, Some(callee), of.outputs));
                for (i, s) in of.streams[of.inputs..of.inputs + of.outputs].iter().enumerate() {
                    self.stream(format!("v{k}_{i}"), s.sort);
                }
            } else if self.random.chance(12) {
                kinds.push((at, None, 2));
                let sort = self.sort();
                self.stream(format!("w{k}[0]"), sort);
                self.stream(format!("w{k}[1]"), sort);
            } else {
                kinds.push((at, None, 1));
                let sort = self.sort();
                self.stream(format!("v{k}"), sort);
            }
        }
        for (at, callee, count) in kinds {
            let sort = self.node.streams[at].sort;
            let rhs = match callee {
                Some(node) => {
                    let arguments = self.arguments(node, at);
                    match self.random.below(4) {
                        0 => {
                            let clock = self.definition(at, Sort::Bool);
                            let of = self.program.nodes[node].clone();
                            let defaults = of.streams[of.inputs..of.inputs + of.outputs]
                                .iter()
                                .map(|s| self.plain(Vec::new(), s.sort, 0))
                                .collect();
                            Rhs::Condact(clock, node, arguments, defaults)
                        }
                        1 if self.program.only_kind2 => {
                            Rhs::Restart(self.definition(at, Sort::Bool), node, arguments)
                        }
                        _ => Rhs::Call(node, arguments),
                    }
                }
                None if count == 2 => {
                    Rhs::Aggregate((0..2).map(|_| self.definition(at, sort)).collect())
                }
                None => Rhs::Expr(self.definition(at, sort)),
            };
            self.node.equations.push(Equation { target: at, rhs });
        }
    }
}

/// The value if it is small, else a constant. Streams are already small.
fn clamp(e: Expr) -> Expr {
    match e {
        Expr::Var(_, i) if i < TEMPORAL => e,
        Expr::Const(..) => e,
        e => Expr::Op(Sort::Int, Op::Ite, vec![Expr::within(&e, LOW, HIGH), e, Expr::int(0)]),
    }
}

pub(super) fn generate(random: &mut Random) -> Program {
    let only_kind2 = random.chance(25);
    let program = Program {
        nodes: Vec::new(),
        enumerations: vec![vec!["Red".into(), "Green".into()]],
        only_kind2,
    };
    let unguarded = random.chance(30);
    let mut maker = Maker { random, program, node: Node::default(), unguarded: false, delays: 0 };
    for _ in 0..maker.random.below(3) {
        for k in 0..maker.random.between(1, 2) {
            let sort = maker.sort();
            maker.stream(format!("a{k}"), sort);
        }
        maker.node.inputs = maker.node.streams.len();
        maker.delays = 2;
        let outputs: Vec<Sort> = (0..maker.random.between(1, 2)).map(|_| maker.sort()).collect();
        let locals = maker.random.below(2);
        maker.body(&outputs, locals, maker.program.nodes.len() == 1);
        if maker.random.chance(10) {
            let below = maker.node.streams.len();
            let e = maker.expression(below, Sort::Bool, 1);
            maker.node.asserts.push(e);
        }
        let made = std::mem::take(&mut maker.node);
        maker.program.nodes.push(made);
    }
    maker.delays = 0;
    maker.unguarded = unguarded;
    for k in 0..maker.random.between(1, 2) {
        let sort = maker.sort();
        maker.stream(format!("i{k}"), sort);
    }
    maker.node.inputs = maker.node.streams.len();
    let output = maker.sort();
    let locals = maker.random.between(1, 3) as usize;
    maker.body(&[output], locals, true);
    let below = maker.node.streams.len();
    if maker.random.chance(25) {
        let e = maker.expression(below, Sort::Bool, 2);
        maker.node.asserts.push(e);
    }
    for k in 0..maker.random.between(1, 3) {
        let at = maker.node.streams.len();
        maker.stream(format!("p{k}"), Sort::Bool);
        let e = maker.expression(at, Sort::Bool, 3);
        maker.node.equations.push(Equation { target: at, rhs: Rhs::Expr(e) });
        maker.node.properties.push(at);
    }
    if maker.program.only_kind2 && maker.random.chance(50) {
        let inputs: Vec<Expr> = maker.streams(maker.node.inputs);
        if maker.random.chance(50) {
            let e = maker.plain(inputs, Sort::Bool, 2);
            maker.node.assumes.push(e);
        }
        // Guarantees may mention inputs and outputs only.
        let visible = maker.streams(maker.node.inputs + maker.node.outputs);
        let e = maker.plain(visible, Sort::Bool, 2);
        maker.node.guarantees.push(e);
    }
    let made = std::mem::take(&mut maker.node);
    maker.program.nodes.push(made);
    maker.program
}
