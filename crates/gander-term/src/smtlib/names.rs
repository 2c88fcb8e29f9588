//! Names in SMT-LIB text that goes to solvers.
//!
//! User names are mapped injectively to solver names that cannot clash with names of the solver: a
//! rigid symbol `x` is `x@`, its copy at step 3 is `x@3`, auxiliary names contain `@!`. `@`, `%`,
//! and characters that SMT-LIB cannot quote are written as `%` and hexadecimal digits.

use std::fmt::Write as _;

use crate::Enumeration;

/// Encodes a user's name.
pub fn encode(name: &str) -> Encoded {
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
pub struct Encoded {
    /// The characters.
    pub text: String,
    /// Whether the name has to stand between bars.
    pub quoted: bool,
}

impl Encoded {
    /// The name of the rigid symbol.
    pub fn rigid(&self) -> String {
        if self.quoted { format!("|{}@|", self.text) } else { format!("{}@", self.text) }
    }

    /// The name of the copy at a step.
    pub fn at(&self, step: u32) -> String {
        if self.quoted {
            format!("|{}@{step}|", self.text)
        } else {
            format!("{}@{step}", self.text)
        }
    }
}

/// The name of the sort of an enumeration.
pub fn enum_sort(name: &str) -> String {
    let e = encode(name);
    if e.quoted { format!("|{}@!e|", e.text) } else { format!("{}@!e", e.text) }
}

/// The name of a variant. It contains that of the enumeration, because constructors of different
/// data types must differ.
pub fn enum_variant(name: &str, variant: &str) -> String {
    let (e, v) = (encode(name), encode(variant));
    // `@` occurs in neither part, so the name is unique.
    if e.quoted || v.quoted {
        format!("|{}@!v@{}|", e.text, v.text)
    } else {
        format!("{}@!v@{}", e.text, v.text)
    }
}

/// The declaration of an enumeration as a datatype.
pub fn declare_enum(e: &Enumeration) -> String {
    let mut out = format!("(declare-datatypes (({} 0)) ((", enum_sort(&e.name));
    for variant in &e.variants {
        let _ = write!(out, "({})", enum_variant(&e.name, variant));
    }
    out.push_str(")))\n");
    out
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
}
