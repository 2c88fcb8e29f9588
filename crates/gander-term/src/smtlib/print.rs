//! Sorts, values and operators as SMT-LIB text.
//!
//! Every operator is printed with the meaning of docs/semantics.md, also where SMT-LIB leaves it
//! open: division by zero is a case. This module prints single operators. The callers print
//! symbols, quantifiers and definitions: sessions in templates, exports in files.

use std::fmt::Write as _;

use super::literal::{push_int, push_real, push_string};
use super::names;
use crate::{BvOp, Op, Pool, Sort, TermId, Value};

/// How enumerations are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EnumStyle {
    /// As data types.
    Datatypes,
    /// As ints below the number of variants.
    Ints,
}

/// Which names of functions are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// For solvers: the names of conversions that old and new versions of Z3 and cvc5 accept, and
    /// only functions that all solvers have.
    Solver,
    /// For files: the names of SMT-LIB 2.7.
    File,
}

/// What cannot be printed, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unprintable(pub String);

/// A part of the text of an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Fixed text.
    Text(&'static str),
    /// Text with a number in it.
    Owned(String),
    /// The argument at this position.
    Argument(usize),
}

/// The name of a sort.
pub fn sort_name(pool: &Pool, enums: EnumStyle, sort: Sort) -> String {
    match (sort, enums) {
        (Sort::Bool, _) => "Bool".into(),
        (Sort::Int, _) | (Sort::Enum(_), EnumStyle::Ints) => "Int".into(),
        (Sort::Real, _) => "Real".into(),
        (Sort::String, _) => "String".into(),
        (Sort::Enum(id), EnumStyle::Datatypes) => names::enum_sort(&pool.enumeration(id).name),
        (Sort::BitVec(width), _) => format!("(_ BitVec {})", width.bits()),
        // Bounded by the nesting of arrays.
        (Sort::Array(array), _) => {
            format!(
                "(Array {} {})",
                sort_name(pool, enums, array.index()),
                sort_name(pool, enums, array.element())
            )
        }
    }
}

/// Writes a value.
pub fn push_value(
    out: &mut String,
    pool: &Pool,
    enums: EnumStyle,
    value: &Value,
) -> Result<(), Unprintable> {
    match value {
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(i) => push_int(out, i),
        Value::Real(r) => push_real(out, r),
        Value::Str(s) => {
            if !push_string(out, s) {
                return Err(Unprintable("characters beyond U+2FFFF".into()));
            }
        }
        Value::BitVec(v) => {
            // Writing to a string cannot fail.
            let _ = write!(out, "(_ bv{} {})", v.bits(), v.width().bits());
        }
        // Recurses over nested arrays only, whose depth is limited.
        Value::Array(a) => {
            for _ in a.exceptions() {
                out.push_str("(store ");
            }
            let _ = write!(out, "((as const {}) ", sort_name(pool, enums, value.sort()));
            push_value(out, pool, enums, a.default())?;
            out.push(')');
            for (i, v) in a.exceptions() {
                out.push(' ');
                push_value(out, pool, enums, i)?;
                out.push(' ');
                push_value(out, pool, enums, v)?;
                out.push(')');
            }
        }
        Value::Enum(_, position) if enums == EnumStyle::Ints => {
            let _ = write!(out, "{position}");
        }
        Value::Enum(id, position) => {
            let e = pool.enumeration(*id);
            match e.variants.get(*position as usize) {
                Some(variant) => out.push_str(&names::enum_variant(&e.name, variant)),
                None => return Err(Unprintable(format!("variant {position} of {}", e.name))),
            }
        }
    }
    Ok(())
}

/// Adds the pieces of an application of an operator.
///
/// # Panics
/// If `t` is a symbol, a constant or a quantifier.
pub fn push_operator(
    pieces: &mut Vec<Piece>,
    pool: &Pool,
    (enums, dialect): (EnumStyle, Dialect),
    t: TermId,
) -> Result<(), Unprintable> {
    use Piece::{Argument, Owned, Text};
    let args = pool.args(t);
    let op = pool.op(t);
    let name = match op {
        Op::Not => "not",
        Op::And => "and",
        Op::Or => "or",
        Op::Implies => "=>",
        Op::Eq => "=",
        Op::Ite => "ite",
        Op::Neg | Op::Sub => "-",
        Op::Add => "+",
        Op::Mul => "*",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::ToReal => "to_real",
        Op::ToInt => "to_int",
        Op::Concat => "str.++",
        Op::Select => "select",
        Op::Store => "store",
        Op::Abs if dialect == Dialect::File && pool.sort(t) == Sort::Int => "abs",
        Op::Abs => {
            let zero = if pool.sort(t) == Sort::Int { " 0) " } else { " 0.0) " };
            pieces.extend([Text("(ite (>= "), Argument(0), Text(zero), Argument(0)]);
            pieces.extend([Text(" (- "), Argument(0), Text("))")]);
            return Ok(());
        }
        Op::Min | Op::Max => {
            push_extremum(pieces, if op == Op::Min { "(<= " } else { "(>= " }, args.len());
            return Ok(());
        }
        Op::Div | Op::IntDiv | Op::Mod => {
            push_division(pieces, pool, op, args[1]);
            return Ok(());
        }
        Op::ConstArray(_) => {
            let open = format!("((as const {}) ", sort_name(pool, enums, pool.sort(t)));
            pieces.extend([Owned(open), Argument(0), Text(")")]);
            return Ok(());
        }
        Op::Bv(BvOp::Extract { high, low }) => {
            pieces.extend([Owned(format!("((_ extract {high} {low}) ")), Argument(0), Text(")")]);
            return Ok(());
        }
        Op::Bv(BvOp::ZeroExtend(n)) => {
            pieces.extend([Owned(format!("((_ zero_extend {n}) ")), Argument(0), Text(")")]);
            return Ok(());
        }
        Op::Bv(BvOp::SignExtend(n)) => {
            pieces.extend([Owned(format!("((_ sign_extend {n}) ")), Argument(0), Text(")")]);
            return Ok(());
        }
        Op::Bv(BvOp::FromInt(width)) => {
            let name = match dialect {
                Dialect::Solver => "int2bv",
                Dialect::File => "int_to_bv",
            };
            let open = format!("((_ {name} {}) ", width.bits());
            pieces.extend([Owned(open), Argument(0), Text(")")]);
            return Ok(());
        }
        Op::Bv(BvOp::ToInt) if dialect == Dialect::Solver => "bv2nat",
        Op::Bv(BvOp::ToSignedInt) if dialect == Dialect::Solver => {
            push_signed_int(pieces, pool, args[0]);
            return Ok(());
        }
        Op::Bv(op) => op.name(),
        Op::Pow => return Err(Unprintable("a power".into())),
        Op::Symbol(_) | Op::Bool(_) | Op::Const(_) | Op::Forall | Op::Exists => {
            unreachable!("not an operator")
        }
    };
    pieces.extend([Text("("), Text(name)]);
    for i in 0..args.len() {
        pieces.extend([Text(" "), Argument(i)]);
    }
    pieces.push(Text(")"));
    Ok(())
}

/// `min` or `max`: the first argument if it bounds all others, otherwise that of the others.
fn push_extremum(pieces: &mut Vec<Piece>, relation: &'static str, count: usize) {
    use Piece::{Argument, Text};
    for i in 0..count.saturating_sub(1) {
        let others = i + 1..count;
        let several = others.len() > 1;
        pieces.push(Text(if several { "(ite (and" } else { "(ite" }));
        for other in others {
            pieces.extend([Text(" "), Text(relation), Argument(i)]);
            pieces.extend([Text(" "), Argument(other), Text(")")]);
        }
        pieces.extend([Text(if several { ") " } else { " " }), Argument(i), Text(" ")]);
    }
    pieces.push(Argument(count - 1));
    pieces.extend((1..count).map(|_| Text(")")));
}

/// The number that a bit-vector is in two's complement: `2^w` less if the sign bit is set.
fn push_signed_int(pieces: &mut Vec<Piece>, pool: &Pool, x: TermId) {
    use Piece::{Argument, Owned, Text};
    let Sort::BitVec(width) = pool.sort(x) else { return };
    pieces.extend([
        Text("(ite (bvslt "),
        Argument(0),
        Owned(format!(" (_ bv0 {})) (- (bv2nat ", width.bits())),
        Argument(0),
        Owned(format!(") {}) (bv2nat ", width.size())),
        Argument(0),
        Text("))"),
    ]);
}

/// Division with its value at zero: `x / 0 = 0`, `x div 0 = 0`, `x mod 0 = x`.
fn push_division(pieces: &mut Vec<Piece>, pool: &Pool, op: Op, divisor: TermId) {
    use Piece::{Argument, Text};
    let (open, zero_test, zero) = match op {
        Op::Div => ("(/ ", " 0.0) ", "0.0"),
        Op::IntDiv => ("(div ", " 0) ", "0"),
        _ => ("(mod ", " 0) ", "0"),
    };
    let quotient = [Text(open), Argument(0), Text(" "), Argument(1), Text(")")];
    let at_zero = if op == Op::Mod { Argument(0) } else { Text(zero) };
    match pool.as_constant(divisor) {
        Some(Value::Int(i)) if i.is_zero() => pieces.push(at_zero),
        Some(Value::Real(r)) if r.is_zero() => pieces.push(at_zero),
        Some(_) => pieces.extend(quotient),
        None => {
            pieces.extend([Text("(ite (= "), Argument(1), Text(zero_test), at_zero, Text(" ")]);
            pieces.extend(quotient);
            pieces.push(Text(")"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;

    #[test]
    fn the_least_of_many_is_written_without_doubling() {
        let mut pool = Pool::new();
        let args: Vec<TermId> =
            ["a", "b", "c"].iter().map(|n| pool.variable(n, Sort::Int)).collect();
        let text = |pool: &Pool, t: TermId| {
            let mut pieces = Vec::new();
            push_operator(&mut pieces, pool, (EnumStyle::Ints, Dialect::File), t).unwrap();
            let part = |p: &Piece| match p {
                Piece::Text(t) => (*t).to_string(),
                Piece::Owned(t) => t.clone(),
                Piece::Argument(i) => pool.display(pool.args(t)[*i]).to_string(),
            };
            pieces.iter().map(part).collect::<String>()
        };
        let two = pool.mk(Op::Min, &args[..2]).unwrap();
        assert_eq!(text(&pool, two), "(ite (<= a b) a b)");
        let three = pool.mk(Op::Max, &args).unwrap();
        assert_eq!(text(&pool, three), "(ite (and (>= a b) (>= a c)) a (ite (>= b c) b c))");
    }

    #[test]
    fn signs_stand_around_fractions() {
        let mut pool = Pool::new();
        let (a, b) = (pool.constant(Value::whole(-1)), pool.constant(Value::whole(3)));
        let third = pool.mk(Op::Div, &[a, b]).unwrap();
        let value = evaluate(&pool, third, &|_| None).unwrap();
        let mut out = String::new();
        push_value(&mut out, &pool, EnumStyle::Ints, &value).unwrap();
        assert_eq!(out, "(- (/ 1.0 3.0))");
    }
}
