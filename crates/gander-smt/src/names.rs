//! Names and literals in SMT-LIB text.
//!
//! User names are mapped injectively to solver names that cannot clash with what a solver defines: a rigid symbol `x`
//! is `x@`, its copy at step 3 is `x@3`, our own helpers have `@!` inside. `@`, `%`, and what SMT-LIB cannot quote,
//! are written as `%` and hexadecimal digits.

use std::fmt::Write as _;

use gander_term::{Enumeration, IBig, RBig};

/// Encodes a user's name.
pub(crate) fn encode(name: &str) -> Encoded {
    let mut text = String::with_capacity(name.len() + 1);
    let mut quoted = !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if name.is_empty() {
        text.push_str("%%");
    }
    for (i, c) in name.chars().enumerate() {
        match c {
            '@' | '%' | '|' | '\\' => {
                let _ = write!(text, "%{:x}%", c as u32);
            }
            // Names that start with a dot are reserved.
            '.' if i == 0 => text.push_str("%2e%"),
            c if c.is_ascii_alphanumeric() || "~!$^&*_-+=<>.?/".contains(c) => text.push(c),
            ' '..='~' => {
                quoted = true;
                text.push(c);
            }
            c => {
                let _ = write!(text, "%{:x}%", c as u32);
            }
        }
    }
    Encoded { text, quoted }
}

/// An encoded name, before its suffix.
pub(crate) struct Encoded {
    pub text: String,
    pub quoted: bool,
}

impl Encoded {
    /// The name of the rigid symbol.
    pub(crate) fn rigid(&self) -> String {
        if self.quoted { format!("|{}@|", self.text) } else { format!("{}@", self.text) }
    }

    /// The name of the copy at a step.
    pub(crate) fn at(&self, step: u32) -> String {
        if self.quoted { format!("|{}@{step}|", self.text) } else { format!("{}@{step}", self.text) }
    }
}

/// The name of the sort of an enumeration.
pub(crate) fn enum_sort(name: &str) -> String {
    let e = encode(name);
    if e.quoted { format!("|{}@!e|", e.text) } else { format!("{}@!e", e.text) }
}

/// The name of a variant: enumerations may share variant names, solvers' constructors may not.
pub(crate) fn enum_variant(name: &str, variant: &str) -> String {
    let (e, v) = (encode(name), encode(variant));
    // `@` occurs in neither part, so the pair can be read back.
    if e.quoted || v.quoted { format!("|{}@!v@{}|", e.text, v.text) } else { format!("{}@!v@{}", e.text, v.text) }
}

/// The declaration of an enumeration as a datatype.
pub(crate) fn declare_enum(e: &Enumeration) -> String {
    let mut out = format!("(declare-datatypes (({} 0)) ((", enum_sort(&e.name));
    for variant in &e.variants {
        let _ = write!(out, "({})", enum_variant(&e.name, variant));
    }
    out.push_str(")))\n");
    out
}

/// An integer literal.
pub(crate) fn push_int(out: &mut String, i: &IBig) {
    use dashu_base::Signed;
    if i.is_negative() {
        let _ = write!(out, "(- {})", -i.clone());
    } else {
        let _ = write!(out, "{i}");
    }
}

/// A real literal.
pub(crate) fn push_real(out: &mut String, r: &RBig) {
    use dashu_base::Signed;
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

/// A string literal; false if it has a character that SMT-LIB strings have not.
#[must_use]
pub(crate) fn push_string(out: &mut String, text: &str) -> bool {
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

/// The text that a solver's string literal stands for; `None` if it is no sequence of Unicode scalar values.
pub(crate) fn unescape(text: &str) -> Option<String> {
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

/// The code point and length of the escape that `text` starts with: `\ud3d2d1d0` or `\u{d..d}` with up to five digits.
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
    fn names_are_injective_and_never_a_solvers_own() {
        assert_eq!(encode("x").rigid(), "x@");
        assert_eq!(encode("x").at(3), "x@3");
        assert_eq!(encode("x@3").rigid(), "x%40%3@");
        assert_eq!(encode("a b").at(0), "|a b@0|");
        assert_eq!(encode("a|b").rigid(), "a%7c%b@");
        assert_eq!(encode("ä").rigid(), "|%e4%@|");
        assert_eq!(encode("1x").rigid(), "|1x@|");
        assert_ne!(enum_variant("a.b", "c"), enum_variant("a", "b.c"));
    }

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
        assert_eq!(unescape("\\u0041\\u{1f600}\\u{}\\x41").as_deref(), Some("A\u{1f600}\\u{}\\x41"));
        assert_eq!(unescape("\\ud800"), None);
    }
}
