//! Arrays: `array[int] of bool`, `a[i]`, `a[i := v]`, `array[int](v)`.

use super::Checker;
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::syntax::SyntaxNode;
use crate::sts::tree;
use gander_term::{ArraySort, Op, Sort, TermId};

impl Checker {
    /// The sort of arrays from `index` to `element`.
    pub(super) fn array_sort(&mut self, index: Sort, element: Sort, span: Span) -> Option<Sort> {
        let sort = self.builder.pool.array_sort(index, element);
        if sort.is_none() {
            let message = format!("arrays of arrays go at most {} deep", ArraySort::MAX_NESTING);
            self.report(Diagnostic::new(Code::E0302, span, message));
        }
        sort
    }

    /// `a[i]` and `a[i := v]`
    pub(super) fn index(&mut self, node: &SyntaxNode, expected: Option<Sort>) -> Option<TermId> {
        let parts: Vec<SyntaxNode> = tree::expressions(node).collect();
        let (base, index, value) = (parts.first()?, parts.get(1)?, parts.get(2));
        let array = self.expression(base, value.and(expected))?;
        let sort = self.builder.pool.sort(array);
        let Sort::Array(sort) = sort else {
            let found = self.a_sort(sort);
            let diagnostic = Diagnostic::new(
                Code::E0302,
                tree::span(base),
                format!("only arrays have elements, but this is {found}"),
            )
            .here(format!("this is {found}"))
            .help("an array is declared like this: `var a: array[int] of bool`");
            self.report(diagnostic);
            return None;
        };
        let at = self.expression(index, Some(sort.index()));
        let at = at.and_then(|term| self.expect_sort(term, sort.index(), index));
        let Some(value) = value else { return self.pool().mk(Op::Select, &[array, at?]).ok() };
        let new = self.expression(value, Some(sort.element()));
        let new = new.and_then(|term| self.expect_sort(term, sort.element(), value));
        self.pool().mk(Op::Store, &[array, at?, new?]).ok()
    }

    /// `array[int](v)`
    pub(super) fn fill(&mut self, node: &SyntaxNode, expected: Option<Sort>) -> Option<TermId> {
        let token = tree::reference(node)?;
        let index = self.sort_named(token.text(), tree::token_span(&token))?;
        let value = tree::expression(node)?;
        let wanted = match expected {
            Some(Sort::Array(array)) if array.index() == index => Some(array.element()),
            _ => None,
        };
        let mut element = self.expression(&value, wanted)?;
        if let Some(wanted) = wanted {
            element = self.expect_sort(element, wanted, &value)?;
        }
        let sort = self.builder.pool.sort(element);
        let Sort::Array(sort) = self.array_sort(index, sort, tree::span(node))? else {
            return None;
        };
        self.pool().mk(Op::ConstArray(sort), &[element]).ok()
    }
}
