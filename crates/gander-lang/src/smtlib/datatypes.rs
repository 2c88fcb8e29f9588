//! Datatypes whose constructors have no fields, as enumerations.
//!
//! Read are `(declare-datatypes () ((Colour red green)))`, the older form that Z3 still accepts,
//! `(declare-datatypes ((Colour 0)) (((red) (green))))` and `(declare-datatype Colour ((red)
//! (green)))` of SMT-LIB 2.6.

use super::terms::{Spans, Terms};
use crate::diagnostics::codes::Code;
use gander_runtime::check_cancelled;
use gander_term::Value;
use gander_term::smtlib::{Id, Kind, Meaning};
use rustc_hash::FxHashSet;

/// Limits the datatypes of a file: the pool searches enumerations one by one.
const MAX_DATATYPES: usize = 10_000;

impl<'a> Terms<'_, 'a> {
    /// Declares the datatypes of a command; `None` once something was reported.
    pub(crate) fn datatypes(&mut self, command: Id) -> Option<()> {
        let tree = self.tree;
        let span = tree.span(command);
        let declared: Vec<(Id, Vec<Id>)> = match tree.list(command)[..] {
            [_, name, constructors] if tree.head(command) == Some("declare-datatype") => {
                vec![(name, tree.list(constructors))]
            }
            [_, names, bodies] => {
                let (names, bodies) = (tree.list(names), tree.list(bodies));
                if names.iter().any(|n| tree.kind(*n) == Kind::Symbol) {
                    self.unsupported(span, "a datatype with parameters");
                    return None;
                }
                if names.is_empty() {
                    let split = |body: &Id| {
                        let parts = tree.list(*body);
                        parts.split_first().map(|(name, rest)| (*name, rest.to_vec()))
                    };
                    bodies.iter().filter_map(split).collect()
                } else if names.len() == bodies.len() {
                    let mut found = Vec::new();
                    for (name, body) in names.into_iter().zip(bodies) {
                        let [name, arity] = tree.list(name)[..] else {
                            self.expected(name, "a name and a number of parameters");
                            return None;
                        };
                        if tree.text(arity) != "0" || tree.head(body) == Some("par") {
                            self.unsupported(span, "a datatype with parameters");
                            return None;
                        }
                        found.push((name, tree.list(body)));
                    }
                    found
                } else {
                    self.expected(command, "constructors for each datatype");
                    return None;
                }
            }
            _ => {
                self.expected(command, "`(declare-datatypes () ((Name constructor ...)))`");
                return None;
            }
        };
        for (name, constructors) in declared {
            check_cancelled();
            self.enumeration(name, &constructors)?;
        }
        Some(())
    }

    fn enumeration(&mut self, name: Id, constructors: &[Id]) -> Option<()> {
        let tree = self.tree;
        let Some(text) = tree.symbol(name) else {
            self.expected(name, "the name of a datatype");
            return None;
        };
        let mut variants: Vec<&'a str> = Vec::new();
        let mut seen = FxHashSet::default();
        for &c in constructors {
            let word = match (tree.symbol(c), &tree.list(c)[..]) {
                (Some(word), _) => word,
                (None, [inner]) if tree.symbol(*inner).is_some() => tree.text(*inner),
                (None, [_, _, ..]) => {
                    self.unsupported(tree.span(c), "a datatype with fields");
                    return None;
                }
                _ => {
                    self.expected(c, "a constructor");
                    return None;
                }
            };
            if !seen.insert(word) || self.reader.scope.contains_key(word) {
                let message = format!("`{word}` is declared twice");
                self.report.error(Code::E0201, tree.span(c), message);
                return None;
            }
            variants.push(word);
        }
        if variants.is_empty() {
            self.expected(name, "a datatype with constructors");
            return None;
        }
        if self.reader.sorts.len() >= MAX_DATATYPES {
            let what = format!("a file with more than {MAX_DATATYPES} datatypes");
            self.unsupported(tree.span(name), &what);
            return None;
        }
        let known = matches!(text, "Bool" | "Int" | "Real" | "Array" | "String");
        let declared = self.pool.declare_enum(text, &variants);
        let (false, false, Ok(id)) = (known, self.reader.sorts.contains_key(text), declared) else {
            let message = format!("the sort `{text}` is declared twice");
            self.report.error(Code::E0201, tree.span(name), message);
            return None;
        };
        self.reader.sorts.insert(text, gander_term::Sort::Enum(id));
        for (k, word) in (0..).zip(variants) {
            let constant = self.pool.constant(Value::Enum(id, k));
            self.reader.scope.insert(word, Meaning::Term(constant));
        }
        Some(())
    }
}
