//! Bit-vectors: `+ - *`, unsigned comparisons, numbers as constants, and the SMT-LIB functions by
//! name.

use super::Checker;
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::syntax::SyntaxNode;
use crate::sts::tree;
use gander_term::{BitVec, BvOp, Op, Sort, TermId, Value, Width};

/// Functions whose first arguments are numbers, and how many.
const WITH_PARAMETERS: [(&str, usize); 4] =
    [("extract", 2), ("zero_extend", 1), ("sign_extend", 1), ("int_to_bv", 1)];

/// The sort that `bits8` denotes.
pub(super) fn sort_named(name: &str) -> Option<Sort> {
    let digits = name
        .strip_prefix("bits")
        .filter(|d| !d.starts_with('0') && d.bytes().all(|b| b.is_ascii_digit()))?;
    digits.parse().ok().and_then(Width::new).map(Sort::BitVec)
}

/// True for functions on bit-vectors.
pub(super) fn is_function(name: &str) -> bool {
    BvOp::from_name(name).is_some() || WITH_PARAMETERS.iter().any(|(known, _)| *known == name)
}

/// True for numeric operators that also apply to bit-vectors.
pub(super) fn has_operator(operator: &str) -> bool {
    matches!(operator, "+" | "-" | "*" | "<" | "<=" | ">" | ">=")
}

/// The corresponding operator on bit-vectors, which are compared as unsigned numbers.
fn counterpart(op: Op) -> Option<BvOp> {
    Some(match op {
        Op::Neg => BvOp::Neg,
        Op::Add => BvOp::Add,
        Op::Sub => BvOp::Sub,
        Op::Mul => BvOp::Mul,
        Op::Lt => BvOp::Ult,
        Op::Le => BvOp::Ule,
        Op::Gt => BvOp::Ugt,
        Op::Ge => BvOp::Uge,
        _ => return None,
    })
}

impl Checker {
    /// A constant number as a bit-vector, if it fits; any other term unchanged.
    pub(super) fn as_bits(&mut self, term: TermId, width: Width) -> TermId {
        let fitting = match self.builder.pool.as_constant(term) {
            Some(Value::Int(i)) => BitVec::exact(width, i),
            _ => None,
        };
        match fitting {
            Some(v) => self.pool().constant(Value::BitVec(v)),
            None => term,
        }
    }

    /// If some operand is a bit-vector, converts numbers to bit-vectors.
    pub(super) fn among_bits(&mut self, terms: &mut [TermId]) {
        let width = terms.iter().find_map(|term| match self.builder.pool.sort(*term) {
            Sort::BitVec(width) => Some(width),
            _ => None,
        });
        if let Some(width) = width {
            for term in terms {
                *term = self.as_bits(*term, width);
            }
        }
    }

    /// `op` on numbers or on bit-vectors; more than two operands are combined from left to right.
    pub(super) fn arithmetic(
        &mut self,
        op: Op,
        terms: &[TermId],
        operator: &str,
        span: Span,
    ) -> Option<TermId> {
        let sorts: Vec<Sort> = terms.iter().map(|term| self.builder.pool.sort(*term)).collect();
        if !sorts.iter().any(|sort| matches!(sort, Sort::BitVec(_))) {
            return self.pool().mk(op, terms).ok();
        }
        let bits = counterpart(op)?;
        if let Some(other) = sorts.iter().find(|sort| **sort != sorts[0]) {
            let (left, right) = (self.a_sort(sorts[0]), self.a_sort(*other));
            let message = format!(
                "`{operator}` takes bit-vectors of one width, but these are {left} and {right}"
            );
            let help = "`zero_extend(n, x)` and `extract(high, low, x)` change the width, `int_to_bv(w, n)` the sort";
            self.report(Diagnostic::new(Code::E0302, span, message).help(help));
            return None;
        }
        let (&first, rest) = terms.split_first()?;
        if rest.is_empty() {
            return self.pool().mk(Op::Bv(bits), &[first]).ok();
        }
        let mut result = first;
        for &next in rest {
            result = self.pool().mk(Op::Bv(bits), &[result, next]).ok()?;
        }
        Some(result)
    }

    /// A call of a function on bit-vectors.
    pub(super) fn bit_function(
        &mut self,
        name: &str,
        args: &[SyntaxNode],
        span: Span,
    ) -> Option<TermId> {
        let parameters =
            WITH_PARAMETERS.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
        if args.len() < parameters {
            return self.wrong_function(name, span, "more arguments");
        }
        let mut numbers = Vec::new();
        for arg in &args[..parameters] {
            let term = self.expression(arg, Some(Sort::Int))?;
            let number = self
                .builder
                .pool
                .as_constant(term)
                .and_then(|v| v.as_int().and_then(|i| u32::try_from(i).ok()));
            match number {
                Some(number) => numbers.push(number),
                None => return self.wrong_function(name, tree::span(arg), "a number here"),
            }
        }
        let terms: Vec<Option<TermId>> =
            args[parameters..].iter().map(|arg| self.expression(arg, None)).collect();
        let mut terms: Vec<TermId> = terms.into_iter().collect::<Option<_>>()?;
        self.among_bits(&mut terms);
        let small = |n: u32| u16::try_from(n).ok();
        let op = match (name, &numbers[..]) {
            ("extract", &[high, low]) => {
                small(high).zip(small(low)).map(|(high, low)| BvOp::Extract { high, low })
            }
            ("zero_extend", &[n]) => Some(BvOp::ZeroExtend(n)),
            ("sign_extend", &[n]) => Some(BvOp::SignExtend(n)),
            ("int_to_bv", &[w]) => Width::new(w).map(BvOp::FromInt),
            _ => BvOp::from_name(name),
        };
        let Some(op) = op else { return self.wrong_function(name, span, "1 to 65536 bits") };
        match self.pool().mk(Op::Bv(op), &terms) {
            Ok(term) => Some(term),
            Err(error) => self.wrong_function(name, span, error.expected),
        }
    }

    fn wrong_function(&mut self, name: &str, span: Span, wanted: &str) -> Option<TermId> {
        self.report(Diagnostic::new(Code::E0302, span, format!("`{name}` takes {wanted}")));
        None
    }
}
