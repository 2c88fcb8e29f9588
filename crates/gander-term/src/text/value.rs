//! Values for people: `3` also for the real 3 and for bit-vectors, `1/3`, `"text"`, a bare variant. The sort must be
//! known to read them.

use crate::bits::BitVec;
use crate::pool::Pool;
use crate::sort::Sort;
use crate::value::{IBig, Value};

use super::ParseError;
use super::lexer::{Kind, Lexer};
use super::names::write_quoted;

impl Pool {
    /// A value for people; [`parse_value`] reads it back.
    pub fn show_value(&self, v: &Value) -> String {
        match v {
            Value::Bool(b) => b.to_string(),
            Value::Int(i) => i.to_string(),
            Value::Real(r) => r.to_string(),
            Value::Str(s) => {
                let mut out = String::new();
                // Writing to a string cannot fail.
                let _ = write_quoted(&mut out, s, '"');
                out
            }
            Value::BitVec(v) => v.bits().to_string(),
            Value::Enum(e, i) => self.enumeration(*e).variants.get(*i as usize).cloned().unwrap_or_default(),
        }
    }
}

/// Reads a value of `sort`: exactly what [`Pool::show_value`] prints, decimals such as `0.5` for reals, and
/// negative numbers, in two's complement, for bit-vectors.
pub fn parse_value(pool: &Pool, sort: Sort, text: &str) -> Result<Value, ParseError> {
    if let Sort::Enum(e) = sort {
        let enumeration = pool.enumeration(e);
        return match enumeration.position(text).or_else(|| enumeration.position(text.trim())) {
            Some(i) => Ok(Value::Enum(e, i)),
            None => {
                let message = format!("one of {} was expected", enumeration.variants.join(", "));
                Err(ParseError::new(0, message))
            }
        };
    }
    let mut lexer = Lexer::new(text);
    let mut token = lexer.next()?;
    let negative = token.kind == Kind::Word("-");
    if negative {
        token = lexer.next()?;
    }
    let value = match (sort, token.kind, negative) {
        (Sort::Bool, Kind::Word("true"), false) => Value::Bool(true),
        (Sort::Bool, Kind::Word("false"), false) => Value::Bool(false),
        (Sort::String, Kind::Literal(v @ Value::Str(_)), false) => v,
        (Sort::Int, Kind::Literal(Value::Int(i)), _) => Value::Int(signed(i, negative)),
        (Sort::BitVec(width), Kind::Literal(Value::Int(i)), _) => match BitVec::exact(width, signed(i, negative)) {
            Some(v) => Value::BitVec(v),
            None => {
                let message = format!("the number does not fit into {} bits", width.bits());
                return Err(ParseError::new(token.start, message));
            }
        },
        (Sort::BitVec(_), Kind::Literal(v), false) if v.sort() == sort => v,
        (Sort::Real, Kind::Literal(Value::Int(i)), _) => Value::whole(signed(i, negative)),
        (Sort::Real, Kind::Literal(Value::Real(r)), _) => Value::Real(if negative { -r } else { r }),
        _ => {
            let message = format!("a value of sort {} was expected", sort.name(pool));
            return Err(ParseError::new(token.start, message));
        }
    };
    let end = lexer.next()?;
    match end.kind {
        Kind::End => Ok(value),
        _ => Err(ParseError::new(end.start, "nothing may follow the value")),
    }
}

fn signed(i: IBig, negative: bool) -> IBig {
    if negative { -i } else { i }
}
