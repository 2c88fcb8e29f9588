//! `allow CODE`: warnings that the author allows.
//!
//! Inside a node it applies to the node and its transitions; at the top level, to the enclosing
//! specification or system. Errors cannot be allowed.

use super::syntax::{SyntaxKind as K, SyntaxNode};
use super::tree;
use crate::diagnostics::codes::{CATALOGUE, Code};
use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::language::Allowance;

/// The allowances of a file, and errors about unknown codes.
pub(super) fn allowances(root: &SyntaxNode) -> (Vec<Allowance>, Vec<Diagnostic>) {
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    let mut read = |allow: &SyntaxNode, region: Span| {
        for reference in tree::references(allow) {
            let Some(token) = tree::ident(&reference) else { continue };
            match Code::find(token.text()).filter(|code| code.severity() == Severity::Warning) {
                Some(code) => found.push(Allowance { code, region }),
                None => unknown.push(no_warning(token.text(), tree::token_span(&token))),
            }
        }
    };
    let mut part = Span::new(0, u32::from(root.text_range().end()));
    for item in root.children() {
        match item.kind() {
            K::SpecHeader | K::SystemDecl => {
                let next = item.siblings(rowan::Direction::Next).skip(1);
                let next = next
                    .into_iter()
                    .find(|other| matches!(other.kind(), K::SpecHeader | K::SystemDecl));
                let end = next.map_or(root.text_range().end(), |next| next.text_range().start());
                part = Span::new(item.text_range().start().into(), end.into());
            }
            K::Allow => read(&item, part),
            K::NodeDecl => {
                let body = tree::child(&item, K::NodeBody);
                for allow in body.iter().flat_map(|body| tree::children(body, K::Allow)) {
                    read(&allow, tree::span(&item));
                }
            }
            _ => {}
        }
    }
    (found, unknown)
}

fn no_warning(code: &str, span: Span) -> Diagnostic {
    let warnings =
        CATALOGUE.iter().map(|entry| entry.code.as_str()).filter(|code| code.starts_with('W'));
    let message = match Code::find(code) {
        Some(_) => format!("`{code}` is an error, which cannot be allowed"),
        None => format!("there is no warning `{code}`"),
    };
    Diagnostic::new(Code::E0211, span, message)
        .did_you_mean(nearest(code, warnings))
        .help("`gander explain` lists all codes")
}
