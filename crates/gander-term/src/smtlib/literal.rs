//! Literals of SMT-LIB.

use std::fmt::Write as _;

use dashu_base::Signed;

use crate::value::{IBig, RBig};
use crate::{BitVec, Width};

/// `12` or `12.50`: digits, with a point between them if at all.
pub fn rational(text: &str) -> Option<RBig> {
    let plain = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let Some((whole, fraction)) = text.split_once('.') else {
        return plain(text).then(|| text.parse::<IBig>().ok().map(RBig::from))?;
    };
    if !plain(whole) || !plain(fraction) {
        return None;
    }
    let digits: IBig = format!("{whole}{fraction}").parse().ok()?;
    Some(RBig::from(digits) / RBig::from(IBig::from(10).pow(fraction.len())))
}

/// `#b01` or `#x1f`.
pub fn bits(text: &str) -> Option<BitVec> {
    let (radix, digits, each) = match text.get(..2)? {
        "#b" => (2, &text[2..], 1),
        "#x" => (16, &text[2..], 4),
        _ => return None,
    };
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let width = Width::new(u32::try_from(digits.len()).ok()?.checked_mul(each)?)?;
    BitVec::exact(width, IBig::from_str_radix(digits, radix).ok()?)
}

/// An integer literal.
pub fn push_int(out: &mut String, i: &IBig) {
    if i.is_negative() {
        let _ = write!(out, "(- {})", -i.clone());
    } else {
        let _ = write!(out, "{i}");
    }
}

/// A real literal.
pub fn push_real(out: &mut String, r: &RBig) {
    let negative = r.is_negative();
    let numerator = if negative { -r.numerator().clone() } else { r.numerator().clone() };
    if negative {
        out.push_str("(- ");
    }
    if r.is_int() {
        let _ = write!(out, "{numerator}.0");
    } else {
        let _ = write!(out, "(/ {numerator}.0 {}.0)", r.denominator());
    }
    if negative {
        out.push(')');
    }
}

/// The largest code point that SMT-LIB strings have.
const LAST_CODE_POINT: u32 = 0x2ffff;

/// A string literal; false if it has a character that SMT-LIB strings cannot have.
#[must_use]
pub fn push_string(out: &mut String, text: &str) -> bool {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\"\""),
            '\\' => out.push_str("\\u{5c}"),
            ' '..='~' => out.push(c),
            c if c as u32 > LAST_CODE_POINT => return false,
            c => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
        }
    }
    out.push('"');
    true
}

/// The text of a solver's string literal; `None` if it is not a sequence of Unicode scalar values.
pub fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match escape(rest) {
            Some((code, length)) => {
                out.push(char::from_u32(code)?);
                rest = &rest[length..];
            }
            None => {
                out.push('\\');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// The code point and length of the escape that `text` starts with: `\ud3d2d1d0` or `\u{d..d}` with
/// up to five digits.
fn escape(text: &str) -> Option<(u32, usize)> {
    let after = text.strip_prefix("\\u")?;
    let (digits, length) = match after.strip_prefix('{') {
        Some(inner) => {
            let end = inner.find('}')?;
            (&inner[..end], end + 4)
        }
        None => (after.get(..4)?, 6),
    };
    let short = (1..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let code = short.then(|| u32::from_str_radix(digits, 16).ok())??;
    (code <= LAST_CODE_POINT).then_some((code, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_survive_escaping() {
        for text in ["", "plain", "\"", "\\u{41}", "back\\slash", "ä\u{1F600}\n\0", "\\"] {
            let mut literal = String::new();
            assert!(push_string(&mut literal, text));
            let inner = literal[1..literal.len() - 1].replace("\"\"", "\"");
            assert_eq!(unescape(&inner).as_deref(), Some(text));
            assert!(literal.is_ascii());
        }
        assert!(!push_string(&mut String::new(), "\u{10FFFF}"));
        assert_eq!(
            unescape("\\u0041\\u{1f600}\\u{}\\x41").as_deref(),
            Some("A\u{1f600}\\u{}\\x41")
        );
        assert_eq!(unescape("\\ud800"), None);
    }
}
