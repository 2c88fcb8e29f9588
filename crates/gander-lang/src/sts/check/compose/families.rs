//! Formulas about families of instances: `forall i, j in f where i != j. P`, `count i in f. P`.
//!
//! They are expanded: an index is a constant in each copy of the body.

use super::super::data::Val;
use super::super::{Checker, Place};
use super::plan::{Ranges, member_name, mentions, outside};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_term::{IBig, Op, Sort, TermId, Value, evaluate};

/// The largest number of copies of bodies in all formulas of a system.
const MAX_COPIES: usize = 1_000_000;

impl Checker {
    /// `forall i in f. P`, `exists i in f. P`, `count i in f. P`, `sum i in f. e`
    pub(in crate::sts::check) fn family_expression(&mut self, node: &SyntaxNode) -> Option<TermId> {
        if self.sized.is_some() {
            return self.sized_family_expression(node);
        }
        let word = tree::ident(node)?;
        let expressions: Vec<SyntaxNode> = tree::expressions(node).collect();
        let body = expressions.last()?.clone();
        let selected = |index: &str| selected_family(&body, index);
        let ranges = match Ranges::of(node, &self.families, &selected) {
            Ok(ranges) => ranges,
            Err(diagnostic) => {
                self.report(*diagnostic);
                return None;
            }
        };
        let total = ranges.count().unwrap_or(usize::MAX);
        self.copies = self.copies.saturating_add(total);
        if self.copies > MAX_COPIES {
            let message = format!(
                "the quantifiers over families make more than {MAX_COPIES} copies of formulas"
            );
            self.report(Diagnostic::new(Code::E0704, tree::span(node), message));
            return None;
        }
        let scope = self.indices.len();
        let mut parts = Vec::new();
        for choice in ranges.all().filter(|choice| ranges.differ(choice)) {
            self.indices.truncate(scope);
            self.indices.extend(choice);
            let place = self.place;
            let wanted = match &ranges.condition {
                None => Some(true),
                Some(condition) => self.constant_truth(condition),
            };
            self.place = place;
            let term = wanted.map(|wanted| wanted.then(|| self.family_body(&body, word.text())));
            match term {
                Some(None) => {}
                Some(Some(Some(term))) => parts.push(term),
                // Errors are the same in all copies.
                Some(Some(None)) | None => {
                    self.indices.truncate(scope);
                    return None;
                }
            }
        }
        self.indices.truncate(scope);
        let pool = self.pool();
        Some(match word.text() {
            "forall" => pool.and(parts),
            "exists" => pool.or(parts),
            "count" => {
                let (zero, one) = (pool.int(0), pool.int(1));
                let numbers: Vec<TermId> =
                    parts.into_iter().map(|p| pool.ite(p, one, zero)).collect();
                sum(pool, numbers)
            }
            _ => sum(pool, parts),
        })
    }

    pub(super) fn family_body(&mut self, body: &SyntaxNode, word: &str) -> Option<TermId> {
        if word == "count" {
            let term = self.expression(body, Some(Sort::Bool))?;
            let sort = self.builder.pool.sort(term);
            if sort == Sort::Bool {
                return Some(term);
            }
            let found = self.a_sort(sort);
            let message = format!("`count` takes truth values, but this is {found}");
            self.report(
                Diagnostic::new(Code::E0302, tree::span(body), message)
                    .here(format!("this is {found}"))
                    .help("the formula ends before a comparison; in parentheses it goes on: `count i. (…)`"),
            );
            return None;
        }
        if word != "sum" {
            return self.bool_operand(body, word);
        }
        let term = self.expression(body, None)?;
        let sort = self.builder.pool.sort(term);
        if sort.is_numeric() {
            return Some(term);
        }
        let found = self.a_sort(sort);
        let message = format!("`sum` adds numbers, but this is {found}");
        self.report(Diagnostic::new(Code::E0302, tree::span(body), message));
        None
    }

    fn constant_truth(&mut self, condition: &SyntaxNode) -> Option<bool> {
        let term = self.formula(condition, Place::Constant)?;
        match evaluate(&self.builder.pool, term, &|_| None) {
            Ok(value) => Some(value == Value::Bool(true)),
            Err(error) => {
                let why = error.describe(&self.builder.pool);
                let message = "the condition after `where` is about the indices only";
                let diagnostic =
                    Diagnostic::new(Code::E0307, tree::span(condition), message).here(why);
                self.report(diagnostic);
                None
            }
        }
    }

    /// The name of the instance `f[i]`.
    pub(in crate::sts::check) fn indexed_instance(&mut self, node: &SyntaxNode) -> Option<String> {
        if self.sized.is_some() {
            return self.sized_instance(node);
        }
        let parts: Vec<SyntaxNode> = tree::expressions(node).collect();
        let (base, index) = (parts.first()?, parts.get(1)?);
        let token = tree::ident(base).filter(|_| base.kind() == K::NameExpr)?;
        let size = *self.families.get(token.text())?;
        let place = std::mem::replace(&mut self.place, Place::Constant);
        let term = self.expression(index, Some(Sort::Int));
        self.place = place;
        let value = evaluate(&self.builder.pool, term?, &|_| None).ok();
        let Some(Value::Int(at)) = value else {
            let message = format!(
                "the index of `{}` must be a constant, or an index of a quantifier over the family",
                token.text()
            );
            self.report(Diagnostic::new(Code::E0307, tree::span(index), message));
            return None;
        };
        match i64::try_from(&at) {
            Ok(at) if at >= 0 && at < size as i64 => Some(member_name(token.text(), at)),
            other => {
                let at = other.unwrap_or(i64::MAX);
                self.report(outside(token.text(), at, size, tree::span(index)));
                None
            }
        }
    }

    /// True if an expression is `f[i]` for a family `f`.
    pub(in crate::sts::check) fn is_indexed_instance(&self, node: &SyntaxNode) -> bool {
        let base = tree::expression(node).filter(|_| node.kind() == K::IndexExpr);
        let token = base.filter(|b| b.kind() == K::NameExpr).and_then(|b| tree::ident(&b));
        token.is_some_and(|token| {
            self.families.contains_key(token.text())
                || self.sized.as_ref().is_some_and(|s| s.is_family(token.text()))
        })
    }

    /// An index of a quantifier over a family, as a constant.
    pub(in crate::sts::check) fn index_value(&mut self, name: &str) -> Option<TermId> {
        if let Some(sized) = &self.sized {
            return sized.index_term(name);
        }
        let (_, value) = self.indices.iter().rev().find(|(known, _)| known == name)?;
        let value = Value::Int(IBig::from(*value));
        Some(self.pool().constant(value))
    }

    /// `f[i].x`
    pub(in crate::sts::check) fn member_expression(&mut self, node: &SyntaxNode) -> Option<Val> {
        let base = tree::expression(node)?;
        let member = tree::ident(node)?;
        if !self.is_indexed_instance(&base) {
            return self.select(node);
        }
        let instance = self.indexed_instance(&base)?;
        self.member_of_instance(&instance, tree::span(&base), &member, tree::span(node))
    }
}

/// The family that an index selects from in a formula.
pub(super) fn selected_family(body: &SyntaxNode, index: &str) -> Option<SyntaxToken> {
    body.descendants().filter(|node| node.kind() == K::IndexExpr).find_map(|node| {
        let parts: Vec<SyntaxNode> = tree::expressions(&node).collect();
        let (base, at) = (parts.first()?, parts.get(1)?);
        let is_family = base.kind() == K::NameExpr && mentions(at, index);
        if is_family { tree::ident(base) } else { None }
    })
}

fn sum(pool: &mut gander_term::Pool, parts: Vec<TermId>) -> TermId {
    match parts[..] {
        [] => pool.int(0),
        [one] => one,
        _ => pool.mk(Op::Add, &parts).expect("the terms are numbers of one sort"),
    }
}
