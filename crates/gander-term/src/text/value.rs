//! Values in their display form: `3` also for the real 3 and for bit-vectors, `1/3`, `"text"`, an
//! unqualified variant, `{1: 5, else: 0}` for arrays. Parsing needs the sort.

use crate::array::{ArraySort, ArrayValue};
use crate::bits::BitVec;
use crate::pool::Pool;
use crate::sort::Sort;
use crate::value::{IBig, RBig, Value};

use super::ParseError;
use super::lexer::{Kind, Lexer, Token};
use super::names::{is_plain, write_quoted};

impl Pool {
    /// The display form of a value; [`parse_value`] reads it back.
    pub fn show_value(&self, v: &Value) -> String {
        match v {
            Value::Bool(b) => b.to_string(),
            Value::Int(i) => i.to_string(),
            Value::Real(r) => r.to_string(),
            Value::Str(s) => quoted(s, '"'),
            Value::BitVec(v) => v.bits().to_string(),
            Value::Enum(e, i) => {
                self.enumeration(*e).variants.get(*i as usize).cloned().unwrap_or_default()
            }
            Value::Array(a) => {
                let mut out = String::from("{");
                for (i, v) in a.exceptions() {
                    out += &self.show_inside(i);
                    out += ": ";
                    out += &self.show_inside(v);
                    out += ", ";
                }
                out + "else: " + &self.show_inside(a.default()) + "}"
            }
        }
    }

    /// [`Pool::show_value`] for people: real numbers are decimals where these end.
    pub fn show_decimal(&self, v: &Value) -> String {
        match v {
            Value::Real(r) => decimal(r).unwrap_or_else(|| r.to_string()),
            Value::Array(a) => {
                let mut out = String::from("{");
                for (i, v) in a.exceptions() {
                    out += &format!("{}: {}, ", self.inside_decimal(i), self.inside_decimal(v));
                }
                out + "else: " + &self.inside_decimal(a.default()) + "}"
            }
            _ => self.show_value(v),
        }
    }

    /// [`Pool::show_inside`] with decimals.
    fn inside_decimal(&self, v: &Value) -> String {
        match v {
            Value::Enum(..) => self.show_inside(v),
            _ => self.show_decimal(v),
        }
    }

    /// A value inside an array: variants that are not plain names are quoted. Recurses over nested
    /// arrays only, whose depth is limited.
    fn show_inside(&self, v: &Value) -> String {
        let shown = self.show_value(v);
        match v {
            Value::Enum(..) if !is_plain(&shown) => quoted(&shown, '`'),
            _ => shown,
        }
    }
}

fn quoted(s: &str, quote: char) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_quoted(&mut out, s, quote);
    out
}

/// Digits behind the point of a decimal at most.
const MAX_DECIMALS: usize = 12;

/// A number as a decimal, if that ends after a few digits; `3` for a whole number.
pub(super) fn decimal(r: &RBig) -> Option<String> {
    let mut scaled = r.clone();
    let mut digits = 0;
    while !scaled.is_int() {
        digits += 1;
        if digits > MAX_DECIMALS {
            return None;
        }
        scaled *= RBig::from(10);
    }
    let text = scaled.numerator().to_string();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.as_str()),
    };
    if digits == 0 {
        return Some(format!("{sign}{text}"));
    }
    let text = format!("{text:0>width$}", width = digits + 1);
    let (whole, fraction) = text.split_at(text.len() - digits);
    Some(format!("{sign}{whole}.{fraction}"))
}

/// Reads a value of `sort`: exactly what [`Pool::show_value`] prints, plus decimals such as `0.5`
/// for reals, and negative numbers, in two's complement, for bit-vectors.
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
    let token = lexer.next()?;
    let value = read(pool, sort, token, &mut lexer)?;
    let end = lexer.next()?;
    match end.kind {
        Kind::End => Ok(value),
        _ => Err(ParseError::new(end.start, "nothing may follow the value")),
    }
}

/// The value that starts with `token`. Recurses over nested arrays only, whose depth is limited.
fn read(pool: &Pool, sort: Sort, token: Token, lexer: &mut Lexer<'_>) -> Result<Value, ParseError> {
    let mut token = token;
    if let Sort::Array(array) = sort {
        return read_array(pool, array, &token, lexer);
    }
    let negative = token.kind == Kind::Word("-");
    if negative {
        token = lexer.next()?;
    }
    let value = match (sort, token.kind, negative) {
        (Sort::Bool, Kind::Word("true"), false) => Value::Bool(true),
        (Sort::Bool, Kind::Word("false"), false) => Value::Bool(false),
        (Sort::String, Kind::Literal(v @ Value::Str(_)), false) => v,
        (Sort::Int, Kind::Literal(Value::Int(i)), _) => Value::Int(signed(i, negative)),
        (Sort::Enum(e), Kind::Name(name) | Kind::Quoted(name), false) => {
            match pool.enumeration(e).position(&name) {
                Some(i) => Value::Enum(e, i),
                None => {
                    let message = format!("a variant of {} was expected", pool.enumeration(e).name);
                    return Err(ParseError::new(token.start, message));
                }
            }
        }
        (Sort::BitVec(width), Kind::Literal(Value::Int(i)), _) => {
            match BitVec::exact(width, signed(i, negative)) {
                Some(v) => Value::BitVec(v),
                None => {
                    let message = format!("the number does not fit into {} bits", width.bits());
                    return Err(ParseError::new(token.start, message));
                }
            }
        }
        (Sort::BitVec(_), Kind::Literal(v), false) if v.sort() == sort => v,
        (Sort::Real, Kind::Literal(Value::Int(i)), _) => Value::whole(signed(i, negative)),
        (Sort::Real, Kind::Literal(Value::Real(r)), _) => {
            Value::Real(if negative { -r } else { r })
        }
        _ => {
            let message = format!("a value of sort {} was expected", sort.name(pool));
            return Err(ParseError::new(token.start, message));
        }
    };
    Ok(value)
}

/// `{1: 5, 2: 6, else: 0}`
fn read_array(
    pool: &Pool,
    sort: ArraySort,
    open: &Token,
    lexer: &mut Lexer<'_>,
) -> Result<Value, ParseError> {
    let expected = |token: &Token, word: &'static str| match token.kind {
        Kind::Word(w) if w == word => Ok(()),
        _ => Err(ParseError::new(token.start, format!("`{word}` was expected"))),
    };
    expected(open, "{")?;
    let mut elements = Vec::new();
    let default = loop {
        let token = lexer.next()?;
        let last = token.kind == Kind::Word("else");
        let index = if last { None } else { Some(read(pool, sort.index(), token, lexer)?) };
        expected(&lexer.next()?, ":")?;
        let token = lexer.next()?;
        let element = read(pool, sort.element(), token, lexer)?;
        let Some(index) = index else { break element };
        expected(&lexer.next()?, ",")?;
        elements.push((index, element));
    };
    expected(&lexer.next()?, "}")?;
    match ArrayValue::new(sort, default, elements) {
        Some(a) => Ok(Value::array(a)),
        // `None` means too large: the parts have the right sorts.
        None => Err(ParseError::new(open.start, "this array is too large")),
    }
}

fn signed(i: IBig, negative: bool) -> IBig {
    if negative { -i } else { i }
}
