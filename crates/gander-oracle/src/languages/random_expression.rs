//! Random expressions over the operators of a language.

use super::expression::{Expr, Op, Sort};
use crate::random::Random;

/// The grammar of random expressions: their operators and leaves.
#[derive(Clone, Debug)]
pub(crate) struct Grammar {
    /// Variables and other leaves.
    pub leaves: Vec<Expr>,
    /// Operators on truth values with two arguments.
    pub logic: Vec<Op>,
    /// Operators on ints with two int arguments and an int result.
    pub arithmetic: Vec<Op>,
    /// Quotients and remainders of ints, with divisors that are constants from 1.
    pub division: Vec<Op>,
    /// Operators on ints with one argument.
    pub arithmetic_one: Vec<Op>,
    /// Comparisons of ints.
    pub order: Vec<Op>,
    /// Operators on bit-vectors with two arguments of the width of the result.
    pub bits: Vec<Op>,
    /// Operators on bit-vectors with one argument of the width of the result.
    pub bits_one: Vec<Op>,
    /// Comparisons of bit-vectors and the like; the result is of the sort `truth`.
    pub bits_order: Vec<Op>,
    /// Reductions of bit-vectors to one bit; the result is of the sort `truth`.
    pub reductions: Vec<Op>,
    /// True if there are concatenation, extraction and extension.
    pub slices: bool,
    /// The sort of truth values: `Bool`, or a bit.
    pub truth: Sort,
    /// Widths of bit-vectors that comparisons are made at.
    pub widths: Vec<u32>,
    /// Largest absolute value of int constants.
    pub largest: i64,
    /// True if equality may compare truth values.
    pub equal_truth: bool,
}

impl Default for Grammar {
    fn default() -> Grammar {
        Grammar {
            leaves: Vec::new(),
            logic: vec![Op::And, Op::Or, Op::Xor, Op::Implies],
            arithmetic: vec![Op::Add, Op::Sub, Op::Mul],
            division: Vec::new(),
            arithmetic_one: vec![Op::Neg],
            order: vec![Op::Lt, Op::Le, Op::Gt, Op::Ge],
            bits: Vec::new(),
            bits_one: Vec::new(),
            bits_order: Vec::new(),
            reductions: Vec::new(),
            slices: false,
            truth: Sort::Bool,
            widths: Vec::new(),
            largest: 3,
            equal_truth: true,
        }
    }
}

impl Grammar {
    /// The grammar with other leaves.
    pub fn over(&self, leaves: Vec<Expr>) -> Grammar {
        Grammar { leaves, ..self.clone() }
    }

    /// A random expression of a sort, with a nesting of at most `depth`.
    pub fn make(&self, random: &mut Random, sort: Sort, depth: usize) -> Expr {
        if depth == 0 || random.chance(12) {
            return self.leaf(random, sort);
        }
        match sort {
            _ if sort == self.truth => self.formula(random, depth),
            Sort::Bool => self.formula(random, depth),
            Sort::Int => self.int(random, depth),
            Sort::Bits { width, signed } => self.bits(random, sort, width, signed, depth),
            Sort::Symbol { .. } => {
                if random.chance(40) {
                    self.choice(random, sort, depth)
                } else {
                    self.leaf(random, sort)
                }
            }
            Sort::Array { index, element } => match random.below(3) {
                0 => self.choice(random, sort, depth),
                1 => {
                    let array = self.make(random, sort, depth - 1);
                    let place = self.make(random, Sort::bits(index), depth - 1);
                    let value = self.make(random, Sort::bits(element), depth - 1);
                    Expr::Op(sort, Op::Write, vec![array, place, value])
                }
                _ => self.leaf(random, sort),
            },
        }
    }

    fn choice(&self, random: &mut Random, sort: Sort, depth: usize) -> Expr {
        let condition = self.make(random, self.truth, depth - 1);
        let (a, b) = (self.make(random, sort, depth - 1), self.make(random, sort, depth - 1));
        Expr::Op(sort, Op::Ite, vec![condition, a, b])
    }

    /// A variable or a constant.
    pub fn leaf(&self, random: &mut Random, sort: Sort) -> Expr {
        let fitting: Vec<&Expr> = self.leaves.iter().filter(|l| l.sort() == sort).collect();
        if !fitting.is_empty() && random.chance(82) {
            return (*random.pick(&fitting)).clone();
        }
        match sort.count() {
            Some(_) if matches!(sort, Sort::Array { .. }) => match fitting.first() {
                Some(leaf) => (*leaf).clone(),
                None => Expr::Const(sort, 0),
            },
            Some(count) => Expr::Const(sort, random.below(count as usize) as i64),
            None => Expr::int(random.between(-1, self.largest)),
        }
    }

    fn formula(&self, random: &mut Random, depth: usize) -> Expr {
        let truth = self.truth;
        let has = |is: fn(Sort) -> bool| self.leaves.iter().any(|l| is(l.sort()));
        // Sorts without variables have constants only.
        let ints = match has(|s| s == Sort::Int) {
            _ if self.order.is_empty() => 0,
            true => 8,
            false => 1,
        };
        let bits = usize::from(!self.bits_order.is_empty() && !self.widths.is_empty());
        let arrays: Vec<Sort> = self
            .leaves
            .iter()
            .map(Expr::sort)
            .filter(|s| matches!(s, Sort::Array { .. }))
            .collect();
        let symbols: Vec<Sort> = self
            .leaves
            .iter()
            .map(Expr::sort)
            .filter(|s| matches!(s, Sort::Symbol { .. }))
            .collect();
        let weights = [
            8,
            5,
            2,
            ints,
            6 * bits,
            3 * usize::from(!self.reductions.is_empty() && bits > 0),
            2 * usize::from(!arrays.is_empty()),
            6 * usize::from(!symbols.is_empty()),
            2 * usize::from(self.equal_truth),
        ];
        match random.weighted(&weights) {
            0 => {
                let op = *random.pick(&self.logic);
                let (a, b) =
                    (self.make(random, truth, depth - 1), self.make(random, truth, depth - 1));
                Expr::two(truth, op, a, b)
            }
            1 => {
                let a = self.make(random, truth, depth - 1);
                let op = if truth == Sort::Bool { Op::Not } else { Op::BvNot };
                Expr::Op(truth, op, vec![a])
            }
            2 => self.choice(random, truth, depth),
            3 => {
                let op = if random.chance(40) {
                    *random.pick(&[Op::Eq, Op::Neq])
                } else {
                    *random.pick(&self.order)
                };
                let (a, b) = (
                    self.make(random, Sort::Int, depth - 1),
                    self.make(random, Sort::Int, depth - 1),
                );
                Expr::two(truth, op, a, b)
            }
            4 => {
                let width = *random.pick(&self.widths);
                let signed = random.chance(50) && self.leaves.iter().any(|l| is_signed(l.sort()));
                let sort = Sort::Bits { width, signed };
                let op = if random.chance(30) {
                    *random.pick(&[Op::Eq, Op::Neq])
                } else {
                    as_signed(*random.pick(&self.bits_order), signed)
                };
                let (a, b) =
                    (self.make(random, sort, depth - 1), self.make(random, sort, depth - 1));
                Expr::two(truth, op, a, b)
            }
            5 => {
                let width = *random.pick(&self.widths);
                let a = self.make(random, Sort::bits(width), depth - 1);
                Expr::Op(truth, *random.pick(&self.reductions), vec![a])
            }
            n @ (6 | 7) => {
                let sort = *random.pick(if n == 6 { &arrays } else { &symbols });
                let op = *random.pick(&[Op::Eq, Op::Neq]);
                let (a, b) =
                    (self.make(random, sort, depth - 1), self.make(random, sort, depth - 1));
                Expr::two(truth, op, a, b)
            }
            _ => {
                let op = *random.pick(&[Op::Eq, Op::Neq]);
                let (a, b) =
                    (self.make(random, truth, depth - 1), self.make(random, truth, depth - 1));
                Expr::two(truth, op, a, b)
            }
        }
    }

    fn int(&self, random: &mut Random, depth: usize) -> Expr {
        let one = usize::from(!self.arithmetic_one.is_empty());
        let weights = [5, 2 * one, 2 * usize::from(!self.division.is_empty()), 2];
        match random.weighted(&weights) {
            0 => {
                let op = *random.pick(&self.arithmetic);
                let (a, b) = (
                    self.make(random, Sort::Int, depth - 1),
                    self.make(random, Sort::Int, depth - 1),
                );
                Expr::two(Sort::Int, op, a, b)
            }
            1 => {
                let a = self.make(random, Sort::Int, depth - 1);
                Expr::Op(Sort::Int, *random.pick(&self.arithmetic_one), vec![a])
            }
            2 => {
                let a = self.make(random, Sort::Int, depth - 1);
                Expr::two(
                    Sort::Int,
                    *random.pick(&self.division),
                    a,
                    Expr::int(random.between(1, 4)),
                )
            }
            _ => self.choice(random, Sort::Int, depth),
        }
    }

    fn bits(
        &self,
        random: &mut Random,
        sort: Sort,
        width: u32,
        is_signed: bool,
        depth: usize,
    ) -> Expr {
        let arrays: Vec<Sort> = self
            .leaves
            .iter()
            .map(Expr::sort)
            .filter(|s| matches!(s, Sort::Array { element, .. } if *element == width))
            .collect();
        let slices = usize::from(self.slices && !is_signed);
        let weights = [
            6,
            2 * usize::from(!self.bits_one.is_empty()),
            2,
            2 * slices,
            slices * usize::from(width > 1),
            slices * usize::from(width > 1),
            3 * usize::from(!arrays.is_empty() && !is_signed),
        ];
        match random.weighted(&weights) {
            0 => {
                let op = as_signed(*random.pick(&self.bits), is_signed);
                let (a, b) =
                    (self.make(random, sort, depth - 1), self.make(random, sort, depth - 1));
                Expr::two(sort, op, a, b)
            }
            1 => {
                let a = self.make(random, sort, depth - 1);
                Expr::Op(sort, *random.pick(&self.bits_one), vec![a])
            }
            2 => self.choice(random, sort, depth),
            3 => {
                let more = random.below(3) as u32;
                let low = random.below(more as usize + 1) as u32;
                let a = self.make(random, Sort::bits(width + more), depth - 1);
                Expr::Op(sort, Op::Extract(low + width - 1, low), vec![a])
            }
            4 => {
                let below = 1 + random.below(width as usize - 1) as u32;
                let high = self.make(random, Sort::bits(width - below), depth - 1);
                let low = self.make(random, Sort::bits(below), depth - 1);
                Expr::two(sort, Op::Concat, high, low)
            }
            5 => {
                let more = 1 + random.below(width as usize - 1) as u32;
                let a = self.make(random, Sort::bits(width - more), depth - 1);
                let op =
                    if random.chance(50) { Op::ZeroExtend(more) } else { Op::SignExtend(more) };
                Expr::Op(sort, op, vec![a])
            }
            _ => {
                let array = *random.pick(&arrays);
                let Sort::Array { index, .. } = array else { return self.leaf(random, sort) };
                let a = self.make(random, array, depth - 1);
                let i = self.make(random, Sort::bits(index), depth - 1);
                Expr::two(sort, Op::Read, a, i)
            }
        }
    }
}

fn is_signed(sort: Sort) -> bool {
    matches!(sort, Sort::Bits { signed: true, .. })
}

/// The operator with the same symbol on signed vectors.
fn as_signed(op: Op, signed: bool) -> Op {
    match op {
        _ if !signed => op,
        Op::Ult => Op::Slt,
        Op::Ule => Op::Sle,
        Op::Ugt => Op::Sgt,
        Op::Uge => Op::Sge,
        Op::BvUdiv => Op::BvSdiv,
        Op::BvUrem => Op::BvSrem,
        Op::BvLshr => Op::BvAshr,
        other => other,
    }
}
