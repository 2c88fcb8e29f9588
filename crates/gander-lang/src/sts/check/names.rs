//! The names of a specification and their meaning.

use super::data::{TypeDecl, Val};
use super::{Checker, Place};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use gander_system::{Shape, VarId};
use gander_term::{EnumId, Sort};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum NameKind {
    /// A state variable or an input.
    Var(VarId),
    /// A state variable or an input of several parts, and the first of the variables that hold it.
    Aggregate(Shape, VarId),
    /// A constant: its value.
    Const(Val),
    /// A definition.
    Define(Definition),
    /// An enumeration.
    Sort(EnumId),
    /// A value of one or several enumerations.
    Values(Vec<(EnumId, u32)>),
    /// A record or data sort.
    Type(Arc<TypeDecl>),
    /// A constructor of a data sort, and its position.
    Constructor(Arc<TypeDecl>, usize),
    /// Declared, but its value is not known yet; used only while constants are evaluated.
    Pending,
    /// Its declaration was reported; uses cause no further errors.
    Broken,
}

/// A translated definition.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub body: Val,
    /// The parameters: values of symbols.
    pub params: Vec<Val>,
    /// True if it refers to the current node.
    pub mentions_node: bool,
}

/// A declared name.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub kind: NameKind,
    pub span: Span,
    pub used: bool,
}

/// The declared names of a specification.
#[derive(Default)]
pub(super) struct Names {
    /// An enumeration without values was reported: unknown names may be intended as its values.
    pub values_unknown: bool,
    by_text: FxHashMap<String, Name>,
}

impl Names {
    pub fn get(&self, name: &str) -> Option<&Name> {
        self.by_text.get(name)
    }

    /// Looks up a name for use in a formula, and marks it as used.
    pub fn use_of(&mut self, name: &str) -> Option<&Name> {
        let found = self.by_text.get_mut(name)?;
        found.used = true;
        Some(found)
    }

    pub fn set(&mut self, name: &str, kind: NameKind) {
        if let Some(entry) = self.by_text.get_mut(name) {
            entry.kind = kind;
        }
    }

    /// Forgets a name whose declaration failed.
    pub fn remove_broken(&mut self, name: &str) {
        if self.by_text.get(name).is_some_and(|known| matches!(known.kind, NameKind::Broken)) {
            self.by_text.remove(name);
        }
    }

    pub fn insert(&mut self, name: String, kind: NameKind, span: Span) {
        self.by_text.insert(name, Name { kind, span, used: false });
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Name)> {
        self.by_text.iter().map(|(text, name)| (text.as_str(), name))
    }

    /// The names in alphabetical order, so that "did you mean" is reproducible.
    pub fn sorted(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.by_text.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

impl Checker {
    /// Declares a name; a second declaration is reported and ignored.
    pub(super) fn declare(&mut self, name: &str, kind: NameKind, span: Span) -> bool {
        if let Some(earlier) = self.names.get(name) {
            let first = earlier.span;
            self.duplicate(name, span, first);
            return false;
        }
        self.names.insert(name.to_owned(), kind, span);
        true
    }

    pub(super) fn duplicate(&mut self, name: &str, span: Span, first: Span) {
        let diagnostic = Diagnostic::new(Code::E0201, span, format!("`{name}` is declared twice"))
            .here("declared again here")
            .label(first, "first declared here")
            .help("rename one of them, or remove it");
        self.report(diagnostic);
    }

    /// Reports an unknown name.
    pub(super) fn unknown_name(&mut self, name: &str, span: Span) {
        if let Some(gate) = self.graph.params.get(name).cloned() {
            let diagnostic = Diagnostic::new(
                Code::E0406,
                span,
                format!(
                    "`{name}` is a parameter of `{gate}`, which has a value during that step only"
                ),
            )
            .here(format!("{} cannot mention it", self.place.noun()))
            .help(format!("to ask for such a step write `reachable NAME: {gate} with {name} > 0`"))
            .help("to speak of it later, store it in a variable in the effect");
            self.report(diagnostic);
            return;
        }
        if self.graph.nodes.contains_key(name)
            && !self.locals.iter().any(|local| local.name == name)
        {
            if self.place == Place::Guard {
                return self.target_after_guard(name, span);
            }
            let mut diagnostic =
                Diagnostic::new(Code::E0208, span, format!("`{name}` is a node, not a value"));
            if self.place.may_mention_node() {
                diagnostic = diagnostic
                    .help(format!("write `in {name}` to ask whether the system is there"))
                    .fix(span, format!("in {name}"));
            }
            self.report(diagnostic);
            return;
        }
        if self.graph.gates.contains_key(name) {
            let diagnostic = Diagnostic::new(
                Code::E0208,
                span,
                format!("`{name}` is a gate, not a value"),
            )
            .help(format!(
                "a gate stands alone in `reachable NAME: {name}`, with a condition behind `with`"
            ));
            self.report(diagnostic);
            return;
        }
        if self.names.values_unknown || self.is_full() {
            return;
        }
        let locals = self.locals.iter().map(|local| local.name.as_str());
        let near = nearest(name, locals.chain(self.names.sorted())).map(str::to_owned);
        let unknown = near.is_none();
        let mut diagnostic =
            Diagnostic::new(Code::E0202, span, format!("there is no `{name}` here"))
                .here("not a variable, constant, definition, parameter or enumeration value")
                .did_you_mean(near.as_deref());
        if unknown {
            diagnostic =
                diagnostic.help(format!("declare it: `var {name}: int`, or with another sort"));
        }
        self.report(diagnostic);
    }

    /// Reports `when guard -> Node`: in a guard, the arrow is an implication.
    pub(super) fn target_after_guard(&mut self, name: &str, span: Span) {
        let diagnostic = Diagnostic::new(
            Code::E0119,
            span,
            format!("`{name}` is a node, and in a guard `->` means \"implies\""),
        )
        .help(format!(
            "the target comes before the guard: `gate -> {name} when guard {{ effect }}`"
        ));
        self.report(diagnostic);
    }

    /// The sort with this name.
    pub(super) fn sort_named(&mut self, name: &str, span: Span) -> Option<Sort> {
        match name {
            "bool" => return Some(Sort::Bool),
            "int" => return Some(Sort::Int),
            "real" => return Some(Sort::Real),
            "string" => return Some(Sort::String),
            _ => {}
        }
        match self.names.use_of(name).map(|found| found.kind.clone()) {
            Some(NameKind::Sort(id)) => return Some(Sort::Enum(id)),
            Some(NameKind::Broken) => return None,
            Some(NameKind::Type(_)) => {
                let message = format!("a value of `{name}` has several parts");
                let help = "here a sort of one part is needed, such as `int` or an enumeration";
                self.report(Diagnostic::new(Code::E0204, span, message).help(help));
                return None;
            }
            Some(_) => {
                self.report(
                    Diagnostic::new(Code::E0204, span, format!("`{name}` is not a sort"))
                        .help(SORTS),
                );
                return None;
            }
            None => {}
        }
        if let Some(sort) = super::bits::sort_named(name) {
            return Some(sort);
        }
        if self.is_full() {
            return None;
        }
        let known = match name.to_ascii_lowercase().as_str() {
            "integer" | "nat" | "natural" | "long" | "number" => Some("int"),
            "boolean" | "logical" => Some("bool"),
            "float" | "double" | "decimal" | "rational" => Some("real"),
            "str" | "text" => Some("string"),
            _ => None,
        };
        let enums: Vec<String> = self
            .names
            .sorted()
            .into_iter()
            .filter(|name| matches!(self.names.get(name), Some(found) if matches!(found.kind, NameKind::Sort(_) | NameKind::Type(_))))
            .map(str::to_owned)
            .collect();
        let candidates =
            ["bool", "int", "real", "string"].into_iter().chain(enums.iter().map(String::as_str));
        let near = known.or_else(|| nearest(name, candidates));
        let mut diagnostic =
            Diagnostic::new(Code::E0204, span, format!("there is no sort `{name}`"));
        diagnostic =
            if near.is_some() { diagnostic.did_you_mean(near) } else { diagnostic.help(SORTS) };
        self.report(diagnostic);
        None
    }
}

const SORTS: &str =
    "the sorts are `bool`, `int`, `real`, `string`, `bits8` and so on, and the declared ones";
