//! Parsing after a value inside brackets: lists, indices, updates, records.

use super::expressions::{Frame, Machine, Next, RecordHead};
use super::{K, Parser};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::lustre::ast::{ExprId, ExprKind, Selector};

impl Parser<'_> {
    pub(super) fn expect_else(&mut self, start: u32) -> Option<()> {
        if self.eat_word("else") {
            return Some(());
        }
        let diagnostic = self
            .expected("`else`")
            .label(Span::new(start, start + 2), "for this `if`")
            .note("an `if` in an expression always has an `else`: a stream has a value at every instant");
        let diagnostic = match self.word(0) {
            "elsif" | "elseif" | "elif" => {
                let span = self.span(0);
                diagnostic.help("in an expression it is written `else if`").fix(span, "else if")
            }
            _ => diagnostic,
        };
        self.report(diagnostic);
        None
    }

    pub(super) fn after_paren(
        &mut self,
        machine: &mut Machine,
        start: u32,
        mut items: Vec<ExprId>,
        value: ExprId,
    ) -> Option<Next> {
        if self.eat(K::Comma) {
            items.push(value);
            machine.push(Frame::Paren(start, items));
            return Some(Next::Operand);
        }
        if items.is_empty() && self.at_word("with") {
            self.bump();
            return self.with_path(machine, start, value, Vec::new());
        }
        let opened = Span::new(start, start + 1);
        if items.is_empty() && self.at(K::Colon) {
            let colon = self.span(0);
            self.bump();
            self.type_expr()?;
            self.expect_close(K::RParen, "`)`", opened)?;
            self.report_unsupported("type ascriptions `(e: T)`", colon);
            return Some(Next::Operator(value));
        }
        self.expect_close(K::RParen, "`)`", opened)?;
        if items.is_empty() {
            self.file.exprs[value.0 as usize].span = self.since(start);
            return Some(Next::Operator(value));
        }
        items.push(value);
        Some(Next::Operator(self.add_since(ExprKind::List(items), start)))
    }

    pub(super) fn after_index(
        &mut self,
        machine: &mut Machine,
        base: ExprId,
        opened: u32,
        index: ExprId,
    ) -> Option<Next> {
        let start = self.span_of(base).start;
        match self.kind(0) {
            K::Assign => {
                self.bump();
                machine.push(Frame::IndexUpdate(base, index, opened));
                Some(Next::Operand)
            }
            K::DotDot | K::Colon => {
                let construct = if self.at(K::Colon) {
                    "bit extraction `x[7:0]`"
                } else {
                    "array slices `a[0..3]`"
                };
                let span = self.span(0);
                self.bump();
                // Go on as if it were a separate index.
                self.report_unsupported(construct, span);
                machine.push(Frame::Index(base, opened));
                Some(Next::Operand)
            }
            _ => {
                self.expect_close(K::RBracket, "`]`", Span::new(opened, opened + 1))?;
                Some(Next::Operator(self.add_since(ExprKind::Index(base, index), start)))
            }
        }
    }

    /// `(e with f = v)`, `(e with [i].g = v)`, after `with` or a part of the path
    pub(super) fn with_path(
        &mut self,
        machine: &mut Machine,
        start: u32,
        base: ExprId,
        mut path: Vec<Selector>,
    ) -> Option<Next> {
        loop {
            match self.kind(0) {
                K::LBracket => {
                    self.bump();
                    machine.push(Frame::WithIndex(start, base, path));
                    return Some(Next::Operand);
                }
                K::DotPercent => {
                    let dot = self.start();
                    self.bump();
                    let component = self.component()?;
                    path.push(Selector::Component(component, self.since(dot)));
                }
                K::Dot => self.bump(),
                K::Word => path.push(Selector::Field(self.name("a field")?)),
                K::Equals if !path.is_empty() => {
                    self.bump();
                    machine.push(Frame::WithValue(start, base, path));
                    return Some(Next::Operand);
                }
                _ => {
                    self.report_expected("`[i]`, a field, or `=` and the new value");
                    return None;
                }
            }
        }
    }

    pub(super) fn after_field(
        &mut self,
        machine: &mut Machine,
        mut head: Box<RecordHead>,
        value: ExprId,
    ) -> Option<Next> {
        head.fields.push((head.field, value));
        // A comma is a common mistake, and has no other meaning here.
        let comma = self.at(K::Comma) && self.kind(1) == K::Word && self.kind(2) == K::Equals;
        if comma {
            let span = self.span(0);
            let message = "the fields of a record are separated by `;`";
            self.report(
                Diagnostic::new(Code::E0132, span, message).help("write `;`").fix(span, ";"),
            );
            self.bump();
        }
        if (comma || self.eat(K::Semicolon)) && !self.at(K::RBrace) {
            head.field = self.name("the name of a field")?;
            if self.at(K::Assign) || self.at(K::Colon) {
                self.foreign_in_record();
            } else {
                self.expect(K::Equals, "`=` and the value of the field")?;
            }
            machine.push(Frame::Record(head));
            return Some(Next::Operand);
        }
        if !self.eat(K::RBrace) {
            self.report_unclosed("`;` or `}`", head.name.span);
            self.open_braces += 1;
            return None;
        }
        let RecordHead { start, name, ty, fields, .. } = *head;
        let kind = match ty {
            Some(ty) => ExprKind::RecordOf(ty, fields),
            None => ExprKind::Record(name, fields),
        };
        Some(Next::Operator(self.add_since(kind, start)))
    }

    pub(super) fn foreign_in_record(&mut self) {
        let span = self.span(0);
        let wrong = &self.text[span.range()];
        let message = format!("the fields of a record are given with `=`, not `{wrong}`");
        let diagnostic =
            Diagnostic::new(Code::E0131, span, message).help("write `=`").fix(span, "=");
        self.report(diagnostic);
        self.bump();
    }
}
