//! Tokens of the text form.

use std::str::FromStr;

use gander_text::Cursor;

use crate::bits::{BitVec, Width};
use crate::value::{IBig, RBig, Value};

use super::ParseError;
use super::names::{KEYWORDS, plain_name_len, read_quoted, starts_name};

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    /// A keyword or a symbol such as `<=`.
    Word(&'static str),
    /// A plain name.
    Name(String),
    /// A name in backquotes.
    Quoted(String),
    /// A number or a string.
    Literal(Value),
    End,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

/// Longer symbols before their prefixes.
const SYMBOLS: &[(&str, &str)] = &[
    ("<->", "<->"),
    ("->", "->"),
    ("<=", "<="),
    (">=", ">="),
    ("==", "=="),
    ("!=", "!="),
    ("&&", "and"),
    ("||", "or"),
    ("++", "++"),
    ("<", "<"),
    (">", ">"),
    ("=", "=="),
    ("!", "not"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("%", "mod"),
    ("^", "^"),
    ("(", "("),
    (")", ")"),
    (",", ","),
    ("[", "["),
    ("]", "]"),
    ("{", "{"),
    ("}", "}"),
    (":=", ":="),
    (":", ":"),
    (".", "."),
];

/// Numbers with more digits are refused: reading them takes time that grows faster than their
/// length.
const MAX_DIGITS: usize = 1_000_000;

pub(super) struct Lexer<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { cursor: Cursor::new(text) }
    }

    pub(super) fn next(&mut self) -> Result<Token, ParseError> {
        self.cursor.bump(self.cursor.run(0, char::is_whitespace));
        let (start, rest) = (self.cursor.position(), self.cursor.rest());
        let (kind, len) = match self.cursor.peek() {
            None => (Kind::End, 0),
            Some(c) if c.is_ascii_digit() => number(rest).map_err(|m| ParseError::new(start, m))?,
            Some('"') => {
                let (s, len) = read_quoted(rest).map_err(|(i, m)| ParseError::new(start + i, m))?;
                (Kind::Literal(Value::str(&s)), len)
            }
            Some('`') => {
                let (s, len) = read_quoted(rest).map_err(|(i, m)| ParseError::new(start + i, m))?;
                (Kind::Quoted(s), len)
            }
            Some(c) if starts_name(c) => {
                let len = plain_name_len(rest);
                let name = &rest[..len];
                match KEYWORDS.iter().find(|k| **k == name) {
                    Some(&k) => (Kind::Word(if k == "implies" { "->" } else { k }), len),
                    None => (Kind::Name(name.to_string()), len),
                }
            }
            Some(c) => match SYMBOLS.iter().find(|(s, _)| self.cursor.starts_with(s)) {
                Some(&(s, word)) => (Kind::Word(word), s.len()),
                None => {
                    return Err(ParseError::new(
                        start,
                        format!("`{}` means nothing here", c.escape_default()),
                    ));
                }
            },
        };
        self.cursor.bump(len);
        Ok(Token { kind, start, end: start + len })
    }
}

/// `12` is an int; `1.5` and `1/3` are reals; `5u8` is a bit-vector.
fn number(text: &str) -> Result<(Kind, usize), String> {
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let rest = &text[whole..];
    let after = |mark| rest.strip_prefix(mark).map_or(0, digits);
    let (fraction, denominator) = (after('.'), after('/'));
    if whole + fraction + denominator > MAX_DIGITS {
        return Err(format!("numbers have at most {MAX_DIGITS} digits"));
    }
    let int = |s: &str| IBig::from_str(s).map_err(|e| e.to_string());
    if fraction > 0 {
        let len = whole + 1 + fraction;
        let n = int(&format!("{}{}", &text[..whole], &text[whole + 1..len]))?;
        let value = RBig::from(n) / RBig::from(IBig::from(10).pow(fraction));
        return Ok((Kind::Literal(Value::Real(value)), len));
    }
    let n = int(&text[..whole])?;
    if denominator > 0 {
        let len = whole + 1 + denominator;
        let d = int(&text[whole + 1..len])?;
        if d.is_zero() {
            return Err("a fraction cannot have the denominator 0".to_string());
        }
        return Ok((Kind::Literal(Value::Real(RBig::from(n) / RBig::from(d))), len));
    }
    if let Some(width) = rest.strip_prefix('u').map(digits).filter(|&w| w > 0) {
        let len = whole + 1 + width;
        let width = text[whole + 1..len].parse().ok().and_then(Width::new);
        let width = width.ok_or_else(|| format!("bit-vectors have 1 to {} bits", Width::MAX))?;
        let Some(v) = BitVec::exact(width, n) else {
            return Err(format!("the number does not fit into {} bits", width.bits()));
        };
        return Ok((Kind::Literal(Value::BitVec(v)), len));
    }
    Ok((Kind::Literal(Value::Int(n)), whole))
}
