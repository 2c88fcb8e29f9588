//! Operators of terms, and which sorts they take.

use std::fmt;

use crate::array::ArraySort;
use crate::bits::BvOp;
use crate::pool::{SymbolId, ValueId};
use crate::sort::Sort;

/// A leaf, or the operator that a term applies to its arguments.
///
/// Arities: `Not Neg Abs ToReal ToInt ConstArray` take one argument; `Implies Eq Sub Div IntDiv Mod
/// Pow Lt Le Gt Ge Select` two; `Ite Store` three; `And Or Add Mul Min Max Concat` two or more;
/// `Bv` as [`BvOp`] says; `Forall Exists` their bound symbols, then the body. docs/semantics.md
/// defines each operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Op {
    /// A free or bound variable.
    Symbol(SymbolId),
    /// A truth value.
    Bool(bool),
    /// A constant of any other sort.
    Const(ValueId),
    /// Negation.
    Not,
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Implication, `->`.
    Implies,
    /// Equality on any sort; on bool it is "if and only if".
    Eq,
    /// If-then-else on any sort.
    Ite,
    /// Unary minus.
    Neg,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient of reals, `x / 0 = 0`.
    Div,
    /// Euclidean quotient of ints, `x div 0 = 0`.
    IntDiv,
    /// Euclidean remainder of ints, `x mod 0 = x`. Also written `%`.
    Mod,
    /// Power with an int exponent; a negative exponent counts as 0.
    Pow,
    /// Absolute value.
    Abs,
    /// Least argument.
    Min,
    /// Greatest argument.
    Max,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Ge,
    /// An int as a real.
    ToReal,
    /// The greatest int that is at most a real (floor).
    ToInt,
    /// Concatenation of strings, `++`.
    Concat,
    /// An operator on bit-vectors, or a conversion from or to int.
    Bv(BvOp),
    /// The element of an array at an index, `a[i]`.
    Select,
    /// An array with another element at one index, `a[i := v]`.
    Store,
    /// The array of this sort that has one element everywhere.
    ConstArray(ArraySort),
    /// For all values of the bound symbols.
    Forall,
    /// For some values of the bound symbols.
    Exists,
}

impl Op {
    /// The name used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Op::Symbol(_) => "variable",
            Op::Bool(_) | Op::Const(_) => "constant",
            Op::Not => "not",
            Op::And => "and",
            Op::Or => "or",
            Op::Implies => "->",
            Op::Eq => "==",
            Op::Ite => "if",
            Op::Neg | Op::Sub => "-",
            Op::Add => "+",
            Op::Mul => "*",
            Op::Div => "/",
            Op::IntDiv => "div",
            Op::Mod => "mod",
            Op::Pow => "^",
            Op::Abs => "abs",
            Op::Min => "min",
            Op::Max => "max",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
            Op::ToReal => "to_real",
            Op::ToInt => "to_int",
            Op::Concat => "++",
            Op::Bv(op) => op.name(),
            Op::Select => "a[i]",
            Op::Store => "a[i := v]",
            Op::ConstArray(_) => "array",
            Op::Forall => "forall",
            Op::Exists => "exists",
        }
    }

    /// Two numbers that identify the operator: its kind and its parameter.
    #[inline]
    pub(crate) fn code(self) -> (u32, u32) {
        match self {
            Op::Symbol(s) => (1, s.0),
            Op::Bool(b) => (2, u32::from(b)),
            Op::Const(v) => (3, v.0),
            Op::Bv(op) => {
                let (kind, parameter) = op.code();
                (64 + kind, parameter)
            }
            Op::Not => (4, 1),
            Op::And => (4, 2),
            Op::Or => (4, 3),
            Op::Implies => (4, 4),
            Op::Eq => (4, 5),
            Op::Ite => (4, 6),
            Op::Neg => (4, 7),
            Op::Add => (4, 8),
            Op::Sub => (4, 9),
            Op::Mul => (4, 10),
            Op::Div => (4, 11),
            Op::IntDiv => (4, 12),
            Op::Mod => (4, 13),
            Op::Pow => (4, 14),
            Op::Abs => (4, 15),
            Op::Min => (4, 16),
            Op::Max => (4, 17),
            Op::Lt => (4, 18),
            Op::Le => (4, 19),
            Op::Gt => (4, 20),
            Op::Ge => (4, 21),
            Op::ToReal => (4, 22),
            Op::ToInt => (4, 23),
            Op::Concat => (4, 24),
            Op::Forall => (4, 25),
            Op::Exists => (4, 26),
            Op::Select => (4, 27),
            Op::Store => (4, 28),
            Op::ConstArray(sort) => (5, sort.code()),
        }
    }

    /// True for leaves.
    pub fn is_leaf(self) -> bool {
        matches!(self, Op::Symbol(_) | Op::Bool(_) | Op::Const(_))
    }

    /// The sort of `self` applied to arguments of these sorts. The pool itself handles leaves and
    /// quantifiers.
    pub(crate) fn result_sort(self, args: &[Sort]) -> Result<Sort, SortError> {
        let wrong =
            |expected: &'static str| Err(SortError { op: self, found: args.to_vec(), expected });
        let all = |s: Sort| args.iter().all(|&a| a == s);
        let same = args.windows(2).all(|w| w[0] == w[1]);
        match self {
            Op::Not if args.len() == 1 && all(Sort::Bool) => Ok(Sort::Bool),
            Op::Not => wrong("one bool"),
            Op::And | Op::Or if args.len() >= 2 && all(Sort::Bool) => Ok(Sort::Bool),
            Op::And | Op::Or => wrong("two or more bools"),
            Op::Implies if args.len() == 2 && all(Sort::Bool) => Ok(Sort::Bool),
            Op::Implies => wrong("two bools"),
            Op::Eq if args.len() == 2 && same => Ok(Sort::Bool),
            Op::Eq => wrong("two arguments of one sort"),
            Op::Ite if args.len() == 3 && args[0] == Sort::Bool && args[1] == args[2] => {
                Ok(args[1])
            }
            Op::Ite => wrong("a bool and two arguments of one sort"),
            Op::Neg | Op::Abs if args.len() == 1 && args[0].is_numeric() => Ok(args[0]),
            Op::Neg | Op::Abs => wrong("one number"),
            Op::Add | Op::Mul | Op::Min | Op::Max
                if args.len() >= 2 && same && args[0].is_numeric() =>
            {
                Ok(args[0])
            }
            Op::Add | Op::Mul | Op::Min | Op::Max => {
                wrong("two or more ints, or two or more reals")
            }
            Op::Sub if args.len() == 2 && same && args[0].is_numeric() => Ok(args[0]),
            Op::Sub => wrong("two ints, or two reals"),
            Op::Div if args.len() == 2 && all(Sort::Real) => Ok(Sort::Real),
            Op::Div => wrong("two reals"),
            Op::IntDiv | Op::Mod if args.len() == 2 && all(Sort::Int) => Ok(Sort::Int),
            Op::IntDiv | Op::Mod => wrong("two ints"),
            Op::Pow if args.len() == 2 && args[0].is_numeric() && args[1] == Sort::Int => {
                Ok(args[0])
            }
            Op::Pow => wrong("a number and an int exponent"),
            Op::Lt | Op::Le | Op::Gt | Op::Ge
                if args.len() == 2 && same && args[0].is_numeric() =>
            {
                Ok(Sort::Bool)
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge => wrong("two ints, or two reals"),
            Op::ToReal if args.len() == 1 && all(Sort::Int) => Ok(Sort::Real),
            Op::ToReal => wrong("one int"),
            Op::ToInt if args.len() == 1 && all(Sort::Real) => Ok(Sort::Int),
            Op::ToInt => wrong("one real"),
            Op::Concat if args.len() >= 2 && all(Sort::String) => Ok(Sort::String),
            Op::Concat => wrong("two or more strings"),
            Op::Bv(op) => op.result_sort(args),
            Op::Select => match args {
                &[Sort::Array(a), i] if i == a.index() => Ok(a.element()),
                _ => wrong("an array and an index of its index sort"),
            },
            Op::Store => match args {
                &[Sort::Array(a), i, v] if i == a.index() && v == a.element() => Ok(args[0]),
                _ => {
                    wrong("an array, an index of its index sort and an element of its element sort")
                }
            },
            Op::ConstArray(a) if args.len() == 1 && args[0] == a.element() => Ok(Sort::Array(a)),
            Op::ConstArray(_) => wrong("one element of the element sort"),
            Op::Symbol(_) | Op::Bool(_) | Op::Const(_) | Op::Forall | Op::Exists => {
                wrong("no arguments here")
            }
        }
    }
}

/// Operators are stored with every term, so their size matters.
const _: () = assert!(size_of::<Op>() == 8);

/// An operator was given arguments of the wrong number or sorts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SortError {
    /// The operator.
    pub op: Op,
    /// The sorts of the arguments.
    pub found: Vec<Sort>,
    /// The arguments that the operator takes, in words.
    pub expected: &'static str,
}

impl fmt::Display for SortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` takes {}", self.op.name(), self.expected)
    }
}

impl std::error::Error for SortError {}
