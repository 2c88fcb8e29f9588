//! Arrays: `array[int] of bool`, `a[i]`, `a[i := v]`, `array[int](v)`.

use super::Checker;
use super::data::{Ty, Val};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::syntax::SyntaxNode;
use crate::sts::tree;
use gander_system::Shape;
use gander_term::{ArraySort, Op, Sort};

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
    pub(super) fn index(&mut self, node: &SyntaxNode, expected: Option<&Ty>) -> Option<Val> {
        let parts: Vec<SyntaxNode> = tree::expressions(node).collect();
        let (base, index, value) = (parts.first()?, parts.get(1)?, parts.get(2));
        if value.is_none() && self.is_indexed_instance(node) {
            let instance = self.indexed_instance(node)?;
            return self.location_of(&instance, tree::span(node)).map(Val::Term);
        }
        let array = self.value(base, value.and(expected))?;
        if let Val::Parts(shape, _) = &array {
            return match (shape, value) {
                (Shape::Record { .. } | Shape::Data { .. }, Some(new)) => {
                    self.with_field(&array, index, new)
                }
                (Shape::Record { .. } | Shape::Data { .. }, None) => {
                    let ty = self.ty(&array);
                    let message = format!("{} has no elements", self.a_type(&ty));
                    let help = "a field is read with a dot: `p.x`";
                    let diagnostic = Diagnostic::new(Code::E0302, tree::span(base), message);
                    self.report(diagnostic.help(help));
                    None
                }
                _ => self.element_of_parts(&array, index, value),
            };
        }
        let array = array.term()?;
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
        let Some(value) = value else {
            return self.pool().mk(Op::Select, &[array, at?]).ok().map(Val::Term);
        };
        let new = self.expression(value, Some(sort.element()));
        let new = new.and_then(|term| self.expect_sort(term, sort.element(), value));
        self.pool().mk(Op::Store, &[array, at?, new?]).ok().map(Val::Term)
    }

    /// `a[i]` and `a[i := v]` for a list, or an array of elements of several parts.
    fn element_of_parts(
        &mut self,
        array: &Val,
        index: &SyntaxNode,
        value: Option<&SyntaxNode>,
    ) -> Option<Val> {
        let Val::Parts(shape, parts) = array else { return None };
        let element = self.ty(array).element()?;
        let index_sort = match self.builder.pool.sort(parts[0]) {
            Sort::Array(sort) => sort.index(),
            _ => Sort::Int,
        };
        let at = self.expression(index, Some(index_sort));
        let at = at.and_then(|term| self.expect_sort(term, index_sort, index));
        let new = match value {
            Some(value) => Some(self.typed(value, &element)?),
            None => None,
        };
        let at = at?;
        if !matches!(shape, Shape::Array(_)) {
            return Some(match &new {
                Some(new) => self.with_element(array, at, new),
                None => self.element_or_default(array, at),
            });
        }
        let mut result = Vec::new();
        for (k, &part) in parts.iter().enumerate() {
            let term = match &new {
                Some(new) => self.pool().mk(Op::Store, &[part, at, new.parts()[k]]),
                None => self.pool().mk(Op::Select, &[part, at]),
            };
            result.push(term.ok()?);
        }
        let shape = if new.is_some() { shape.clone() } else { element.shape() };
        Some(Val::of(&shape, &result))
    }

    /// `array[int](v)`
    pub(super) fn fill(&mut self, node: &SyntaxNode, expected: Option<&Ty>) -> Option<Val> {
        let token = tree::reference(node)?;
        let index = self.sort_named(token.text(), tree::token_span(&token))?;
        let value = tree::expression(node)?;
        let wanted = match expected {
            Some(Ty::Sort(Sort::Array(array))) if array.index() == index => {
                Some(Ty::Sort(array.element()))
            }
            Some(ty @ Ty::Parts(Shape::Array(_), _)) => ty.element(),
            _ => None,
        };
        let element = match &wanted {
            Some(wanted) => self.typed(&value, wanted)?,
            None => self.value(&value, None)?,
        };
        let ty = self.ty(&element);
        let array = self.array_type(index, &ty, tree::span(node))?;
        let mut parts = Vec::new();
        for (&part, &sort) in element.parts().iter().zip(array.sorts()) {
            let Sort::Array(sort) = sort else { return None };
            parts.push(self.pool().mk(Op::ConstArray(sort), &[part]).ok()?);
        }
        Some(Val::of(&array.shape(), &parts))
    }
}
