//! Prints expressions as SMT-LIB terms.

use super::expression::{Expr, Op, Sort};
use crate::random::Random;

/// The name of a sort.
pub(super) fn sort(sort: Sort) -> String {
    match sort {
        Sort::Bool | Sort::Symbol { .. } => "Bool".to_string(),
        Sort::Int => "Int".to_string(),
        Sort::Bits { width, .. } => format!("(_ BitVec {width})"),
        Sort::Array { index, element } => {
            format!("(Array (_ BitVec {index}) (_ BitVec {element}))")
        }
    }
}

/// Prints terms; `names` maps a variable, current or next, to its name.
pub(super) struct Terms<'a, N: Fn(&Expr) -> String> {
    pub random: &'a mut Random,
    pub names: N,
    pub lets: usize,
}

impl<N: Fn(&Expr) -> String> Terms<'_, N> {
    fn constant(&mut self, sort: Sort, value: i64) -> String {
        match sort {
            Sort::Bool | Sort::Symbol { .. } => (value != 0).to_string(),
            Sort::Int if value < 0 => format!("(- {})", -value),
            Sort::Int => value.to_string(),
            Sort::Bits { width, .. } => match self.random.below(3) {
                0 => format!("(_ bv{value} {width})"),
                1 if width % 4 == 0 => format!("#x{value:0digits$x}", digits = width as usize / 4),
                _ => format!("#b{value:0digits$b}", digits = width as usize),
            },
            Sort::Array { element, .. } => {
                let value = self.constant(Sort::bits(element), value & ((1 << element) - 1));
                format!("((as const {}) {value})", self::sort(sort))
            }
        }
    }

    /// The text of a term.
    pub fn term(&mut self, e: &Expr) -> String {
        match e {
            Expr::Const(sort, value) => self.constant(*sort, *value),
            Expr::Var(..) | Expr::Next(..) => (self.names)(e),
            Expr::Op(_, op, args) if args.len() == 2 && self.random.chance(6) => {
                self.lets += 1;
                let name = format!("?v{}", self.lets);
                let (a, b) = (self.term(&args[0]), self.term(&args[1]));
                format!("(let (({name} {a})) ({} {name} {b}))", word(*op))
            }
            // Merge nested applications of the same associative operator.
            Expr::Op(
                sort,
                op @ (Op::And | Op::Or | Op::Add | Op::Mul | Op::BvAdd | Op::BvAnd),
                args,
            ) if matches!(&args[0], Expr::Op(s, o, _) if s == sort && o == op)
                && self.random.chance(50) =>
            {
                let Expr::Op(_, _, inner) = &args[0] else { return String::new() };
                let all: Vec<String> =
                    inner.iter().chain(&args[1..]).map(|a| self.term(a)).collect();
                format!("({} {})", word(*op), all.join(" "))
            }
            Expr::Op(_, op, args) => {
                let all: Vec<String> = args.iter().map(|a| self.term(a)).collect();
                format!("({} {})", word(*op), all.join(" "))
            }
        }
    }
}

fn word(op: Op) -> String {
    let plain = match op {
        Op::Not => "not",
        Op::And => "and",
        Op::Or => "or",
        Op::Xor => "xor",
        Op::Implies => "=>",
        Op::Ite => "ite",
        Op::Eq | Op::Iff => "=",
        Op::Neq => "distinct",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::Neg | Op::Sub => "-",
        Op::Add => "+",
        Op::Mul => "*",
        Op::Abs => "abs",
        Op::DivEuclid => "div",
        Op::ModEuclid => "mod",
        Op::BvNot => "bvnot",
        Op::BvNeg => "bvneg",
        Op::BvAnd => "bvand",
        Op::BvOr => "bvor",
        Op::BvXor => "bvxor",
        Op::BvNand => "bvnand",
        Op::BvNor => "bvnor",
        Op::BvXnor => "bvxnor",
        Op::BvAdd => "bvadd",
        Op::BvSub => "bvsub",
        Op::BvMul => "bvmul",
        Op::BvUdiv => "bvudiv",
        Op::BvUrem => "bvurem",
        Op::BvSdiv => "bvsdiv",
        Op::BvSrem => "bvsrem",
        Op::BvSmod => "bvsmod",
        Op::BvShl => "bvshl",
        Op::BvLshr => "bvlshr",
        Op::BvAshr => "bvashr",
        Op::Ult => "bvult",
        Op::Ule => "bvule",
        Op::Ugt => "bvugt",
        Op::Uge => "bvuge",
        Op::Slt => "bvslt",
        Op::Sle => "bvsle",
        Op::Sgt => "bvsgt",
        Op::Sge => "bvsge",
        Op::Concat => "concat",
        Op::Read => "select",
        Op::Write => "store",
        Op::Extract(high, low) => return format!("(_ extract {high} {low})"),
        Op::ZeroExtend(n) => return format!("(_ zero_extend {n})"),
        Op::SignExtend(n) => return format!("(_ sign_extend {n})"),
        // Not generated for these languages.
        _ => "invalid",
    };
    plain.to_string()
}

/// The operators of SMT-LIB.
pub(super) fn grammar() -> super::random_expression::Grammar {
    super::random_expression::Grammar {
        division: vec![Op::DivEuclid, Op::ModEuclid],
        arithmetic_one: vec![Op::Neg, Op::Abs],
        bits: vec![
            Op::BvAnd,
            Op::BvOr,
            Op::BvXor,
            Op::BvNand,
            Op::BvNor,
            Op::BvXnor,
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
        ..super::random_expression::Grammar::default()
    }
}
