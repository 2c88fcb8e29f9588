//! Printing terms with as few parentheses as parsing allows.

use std::fmt::{self, Display, Write};

use crate::bits::BvOp;
use crate::eval::is_negative;
use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;
use crate::value::Value;
use gander_runtime::check_cancelled;

use super::names::{is_indexed, write_enum_constant, write_quoted, write_sort, write_symbol};
use super::value::decimal;

/// Binding strength of operators; `text` documents the precedence.
pub(super) mod level {
    pub const OPEN: u8 = 0;
    pub const IFF: u8 = 1;
    pub const IMPLIES: u8 = 2;
    pub const OR: u8 = 3;
    pub const AND: u8 = 4;
    pub const EQUAL: u8 = 5;
    pub const COMPARE: u8 = 6;
    pub const NOT: u8 = 7;
    pub const SUM: u8 = 8;
    pub const PRODUCT: u8 = 9;
    pub const POWER: u8 = 10;
    pub const MINUS: u8 = 11;
    pub const ATOM: u8 = 12;
}

impl Pool {
    /// The text form of a term. A shared subterm is printed at each occurrence: use
    /// [`Pool::display_bounded`] where the text may become too long.
    pub fn display(&self, t: TermId) -> impl Display + '_ {
        Printed { pool: self, term: t, max_chars: usize::MAX }
    }

    /// The text form of a term for people, truncated with `…` after `max_chars` characters. It
    /// cannot always be parsed: names such as `a[0].x` are not quoted, and nodes of instances
    /// (values of enumerations named `Specification.Node`) have no prefix. Reals are decimals where
    /// these end.
    pub fn display_bounded(&self, t: TermId, max_chars: usize) -> impl Display + '_ {
        Printed { pool: self, term: t, max_chars }
    }
}

struct Printed<'a> {
    pool: &'a Pool,
    term: TermId,
    max_chars: usize,
}

impl Printed<'_> {
    fn for_people(&self) -> bool {
        self.max_chars < usize::MAX
    }

    /// A real that is not whole, as a decimal if that ends.
    fn decimal(&self, t: TermId) -> Option<String> {
        match self.pool.op(t) {
            Op::Const(v) => match self.pool.value(v) {
                Value::Real(r) if !r.is_int() => decimal(r),
                _ => None,
            },
            _ => None,
        }
    }

    /// The name of a part of an instance of a family, or of a node of an instance.
    fn simple_name(&self, t: TermId) -> Option<&str> {
        match self.pool.op(t) {
            Op::Symbol(s) => {
                let name: &str = &self.pool.symbol(s).name;
                is_indexed(name).then_some(name)
            }
            Op::Const(v) => match *self.pool.value(v) {
                Value::Enum(e, i) => {
                    let enumeration = self.pool.enumeration(e);
                    let is_node = enumeration.name.ends_with(".Node");
                    enumeration.variants.get(i as usize).filter(|_| is_node).map(String::as_str)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// An item still to be written.
enum Item {
    /// A term, in parentheses if it binds less tightly than this level.
    Term(TermId, u8),
    Text(&'static str),
}

impl Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Bounded { inner: f, left: self.max_chars, cut: false };
        let mut stack = vec![Item::Term(self.term, level::OPEN)];
        while let Some(item) = stack.pop() {
            check_cancelled();
            let result = match item {
                Item::Text(s) => out.write_str(s),
                Item::Term(t, _) if self.for_people() && self.simple_name(t).is_some() => {
                    out.write_str(self.simple_name(t).unwrap_or_default())
                }
                Item::Term(t, at_least) if self.for_people() && self.decimal(t).is_some() => {
                    let text = self.decimal(t).unwrap_or_default();
                    match text.starts_with('-') && level::MINUS < at_least {
                        true => write!(out, "({text})"),
                        false => out.write_str(&text),
                    }
                }
                Item::Term(t, at_least) => print(self.pool, t, at_least, &mut out, &mut stack),
            };
            if out.cut {
                return f.write_str("…");
            }
            result?;
        }
        Ok(())
    }
}

/// Stops with an error after `left` characters.
struct Bounded<'a, 'f> {
    inner: &'a mut fmt::Formatter<'f>,
    left: usize,
    cut: bool,
}

impl Write for Bounded<'_, '_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        if s.len() <= self.left {
            self.left -= s.chars().count();
            return self.inner.write_str(s);
        }
        let count = s.chars().count();
        if count <= self.left {
            self.left -= count;
            return self.inner.write_str(s);
        }
        for c in s.chars().take(self.left) {
            self.inner.write_char(c)?;
        }
        self.left = 0;
        self.cut = true;
        Err(fmt::Error)
    }
}

fn print(
    pool: &Pool,
    t: TermId,
    at_least: u8,
    out: &mut dyn Write,
    stack: &mut Vec<Item>,
) -> fmt::Result {
    let args = pool.args(t);
    let own = level_of(pool, t);
    if own < at_least {
        out.write_str("(")?;
        stack.push(Item::Text(")"));
    }
    match pool.op(t) {
        Op::Symbol(s) => write_symbol(out, pool, s)?,
        Op::Bool(b) => out.write_str(if b { "true" } else { "false" })?,
        Op::Const(v) => write_constant(out, pool, pool.value(v))?,
        Op::Not => match pool.op(args[0]) {
            Op::Eq if shown_as_not_equal(pool, t) => {
                let e = pool.args(args[0]);
                infix(stack, e, " != ", level::COMPARE, level::COMPARE);
            }
            Op::Not if !shown_as_not_equal(pool, args[0]) => {
                prefix(stack, "not ", args[0], level::NOT)
            }
            _ => prefix(stack, "not ", args[0], level::ATOM),
        },
        Op::And => chain(pool, stack, t, " and "),
        Op::Or => chain(pool, stack, t, " or "),
        Op::Add => chain(pool, stack, t, " + "),
        Op::Mul => chain(pool, stack, t, " * "),
        Op::Concat => chain(pool, stack, t, " ++ "),
        Op::Implies => infix(stack, args, " -> ", own + 1, own),
        Op::Eq => {
            infix(stack, args, if own == level::IFF { " <-> " } else { " == " }, own + 1, own + 1)
        }
        Op::Lt => infix(stack, args, " < ", own + 1, own + 1),
        Op::Le => infix(stack, args, " <= ", own + 1, own + 1),
        Op::Gt => infix(stack, args, " > ", own + 1, own + 1),
        Op::Ge => infix(stack, args, " >= ", own + 1, own + 1),
        Op::Sub => infix(stack, args, " - ", own, own + 1),
        Op::Div => infix(stack, args, " / ", own, own + 1),
        Op::IntDiv => infix(stack, args, " div ", own, own + 1),
        Op::Mod => infix(stack, args, " mod ", own, own + 1),
        // `-x ^ 2` would be correct but is easily misread.
        Op::Pow => infix(stack, args, " ^ ", level::ATOM, level::ATOM),
        // `-3` would be parsed as the constant.
        Op::Neg if matches!(pool.op(args[0]), Op::Const(_)) => {
            out.write_str("-(")?;
            stack.push(Item::Text(")"));
            stack.push(Item::Term(args[0], level::OPEN));
        }
        Op::Neg => prefix(stack, "-", args[0], level::ATOM),
        Op::Abs => call(stack, "abs(", args),
        Op::Min => call(stack, "min(", args),
        Op::Max => call(stack, "max(", args),
        Op::ToReal => call(stack, "to_real(", args),
        Op::ToInt => call(stack, "to_int(", args),
        Op::Bv(op) => {
            write!(out, "{}(", op.name())?;
            match op {
                BvOp::Extract { high, low } => write!(out, "{high}, {low}, ")?,
                BvOp::ZeroExtend(n) | BvOp::SignExtend(n) => write!(out, "{n}, ")?,
                BvOp::FromInt(width) => write!(out, "{}, ", width.bits())?,
                _ => {}
            }
            call(stack, "", args);
        }
        Op::Select => {
            stack.push(Item::Text("]"));
            stack.push(Item::Term(args[1], level::OPEN));
            stack.push(Item::Text("["));
            stack.push(Item::Term(args[0], level::ATOM));
        }
        Op::Store => {
            stack.push(Item::Text("]"));
            stack.push(Item::Term(args[2], level::OPEN));
            stack.push(Item::Text(" := "));
            stack.push(Item::Term(args[1], level::OPEN));
            stack.push(Item::Text("["));
            stack.push(Item::Term(args[0], level::ATOM));
        }
        Op::ConstArray(sort) => {
            out.write_str("array[")?;
            write_sort(out, pool, sort.index())?;
            call(stack, "](", args);
        }
        Op::Ite => {
            stack.push(Item::Term(args[2], level::OPEN));
            stack.push(Item::Text(" else "));
            stack.push(Item::Term(args[1], level::IFF));
            stack.push(Item::Text(" then "));
            stack.push(Item::Term(args[0], level::IFF));
            out.write_str("if ")?;
        }
        op @ (Op::Forall | Op::Exists) => {
            out.write_str(op.name())?;
            let (&body, bound) = args.split_last().expect("a quantifier has a body");
            for (i, &b) in bound.iter().enumerate() {
                out.write_str(if i == 0 { " " } else { ", " })?;
                if let Op::Symbol(s) = pool.op(b) {
                    write_symbol(out, pool, s)?;
                }
                out.write_str(": ")?;
                write_sort(out, pool, pool.sort(b))?;
            }
            out.write_str(". ")?;
            stack.push(Item::Term(body, level::OPEN));
        }
    }
    Ok(())
}

/// `not (a == b)` on any sort except bool is printed as `a != b`.
fn shown_as_not_equal(pool: &Pool, t: TermId) -> bool {
    pool.op(t) == Op::Not && {
        let inner = pool.args(t)[0];
        pool.op(inner) == Op::Eq && pool.sort(pool.args(inner)[0]) != Sort::Bool
    }
}

fn level_of(pool: &Pool, t: TermId) -> u8 {
    match pool.op(t) {
        Op::Symbol(_)
        | Op::Bool(_)
        | Op::Abs
        | Op::Min
        | Op::Max
        | Op::ToReal
        | Op::ToInt
        | Op::Bv(_) => level::ATOM,
        Op::Select | Op::Store | Op::ConstArray(_) => level::ATOM,
        Op::Const(v) => match pool.value(v) {
            // Not required, but `x * (1/3)` and `(-2) ^ 2` are easier to read.
            Value::Real(r) if !r.is_int() => level::PRODUCT,
            v if is_negative(v) => level::MINUS,
            _ => level::ATOM,
        },
        Op::Not if shown_as_not_equal(pool, t) => level::EQUAL,
        Op::Not => level::NOT,
        Op::And => level::AND,
        Op::Or => level::OR,
        Op::Implies => level::IMPLIES,
        Op::Eq if pool.sort(pool.args(t)[0]) == Sort::Bool => level::IFF,
        Op::Eq => level::EQUAL,
        Op::Lt | Op::Le | Op::Gt | Op::Ge => level::COMPARE,
        Op::Add | Op::Sub | Op::Concat => level::SUM,
        Op::Mul | Op::Div | Op::IntDiv | Op::Mod => level::PRODUCT,
        Op::Pow => level::POWER,
        Op::Neg => level::MINUS,
        Op::Ite | Op::Forall | Op::Exists => level::OPEN,
    }
}

fn infix(stack: &mut Vec<Item>, args: &[TermId], op: &'static str, left: u8, right: u8) {
    stack.push(Item::Term(args[1], right));
    stack.push(Item::Text(op));
    stack.push(Item::Term(args[0], left));
}

/// All arguments in one row. The first argument needs no parentheses if it is a different operator
/// of the same level.
fn chain(pool: &Pool, stack: &mut Vec<Item>, t: TermId, op: &'static str) {
    let (own, args) = (level_of(pool, t), pool.args(t));
    for (i, &a) in args.iter().enumerate().rev() {
        let joins = i == 0 && pool.op(a) != pool.op(t);
        stack.push(Item::Term(a, if joins { own } else { own + 1 }));
        if i > 0 {
            stack.push(Item::Text(op));
        }
    }
}

fn prefix(stack: &mut Vec<Item>, op: &'static str, arg: TermId, at_least: u8) {
    stack.push(Item::Term(arg, at_least));
    stack.push(Item::Text(op));
}

fn call(stack: &mut Vec<Item>, open: &'static str, args: &[TermId]) {
    stack.push(Item::Text(")"));
    for (i, &a) in args.iter().enumerate().rev() {
        stack.push(Item::Term(a, level::OPEN));
        stack.push(Item::Text(if i == 0 { open } else { ", " }));
    }
}

fn write_constant(out: &mut dyn Write, pool: &Pool, v: &Value) -> fmt::Result {
    match v {
        Value::Bool(b) => write!(out, "{b}"),
        Value::Int(i) => write!(out, "{i}"),
        Value::Real(r) if r.is_int() => write!(out, "{}.0", r.numerator()),
        Value::Real(r) => write!(out, "{}/{}", r.numerator(), r.denominator()),
        Value::Str(s) => write_quoted(out, s, '"'),
        Value::Enum(e, i) => write_enum_constant(out, pool, *e, *i),
        Value::BitVec(v) => write!(out, "{}u{}", v.bits(), v.width().bits()),
        Value::Array(a) => {
            // Recurses over nested arrays only, whose depth is limited.
            out.write_str("array[")?;
            write_sort(out, pool, a.sort().index())?;
            out.write_str("]{")?;
            for (i, v) in a.exceptions() {
                write_constant(out, pool, i)?;
                out.write_str(": ")?;
                write_constant(out, pool, v)?;
                out.write_str(", ")?;
            }
            out.write_str("else: ")?;
            write_constant(out, pool, a.default())?;
            out.write_str("}")
        }
    }
}
