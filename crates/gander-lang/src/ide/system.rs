//! Outlines of languages without a module here: what a system says of its source.

use gander_system::{Role, System};

use super::build::{Builder, New};
use super::{DefinitionKind as D, Outline};
use crate::Span;

/// The variables, transitions and claims of a system that were written at a known place of this
/// text. There are no uses and no tokens.
pub fn outline_of_system(system: &System, text: &str) -> Outline {
    let mut builder = Builder::new(text);
    let scope = builder.file();
    let mut add = |kind: D, name: &str, span: Option<Span>| {
        let fits = |span: &Span| text.get(span.range()).is_some_and(|t| !t.is_empty());
        if let Some(whole) = span.filter(fits) {
            let new = New { kind, name: whole, whole, scope, parent: None };
            builder.define_unnamed(new, name.to_string());
        }
    };
    for var in system.vars() {
        let kind = if var.role == Role::Input { D::Input } else { D::Variable };
        add(kind, &var.name, var.span);
    }
    for transition in system.transitions() {
        add(D::Transition, &transition.name, transition.span);
    }
    for claim in system.claims() {
        add(D::Claim, &claim.name, claim.span);
    }
    builder.finish(Vec::new(), &[])
}
