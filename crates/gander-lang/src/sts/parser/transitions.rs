//! Nodes, transitions and effects.

use super::Parser;
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::sts::syntax::{SyntaxKind as K, is_reserved};

impl Parser<'_> {
    /// `{ transitions and invariants }`
    pub(super) fn node_body(&mut self) {
        self.start(K::NodeBody);
        let opened = self.span(0);
        self.bump();
        while !self.at_end() && !self.at(K::RBrace) {
            if self.at_item_line() {
                break;
            }
            let before = self.at;
            if self.at_invariant() {
                self.invariant();
            } else if self.at_allow() {
                self.allow();
            } else if !self.transition() {
                self.skip_until(|parser| {
                    parser.at(K::RBrace) || (parser.newline_before(0) && parser.at(K::Ident))
                });
            }
            while self.at(K::Semicolon) || self.at(K::Comma) {
                self.bump();
            }
            if self.at == before {
                self.error_token();
            }
        }
        self.expect_close(K::RBrace, opened);
        self.end();
    }

    fn at_invariant(&self) -> bool {
        let gate = matches!(self.kind(1), K::Arrow | K::LBrace | K::RBrace)
            || self.word(1) == "when"
            || (self.kind(1) == K::LParen && self.kind(2) == K::Ident && self.kind(3) == K::Colon);
        self.at_word("invariant") && !gate
    }

    fn invariant(&mut self) {
        self.start(K::Invariant);
        self.bump();
        self.optional_name();
        self.expression();
        self.end();
    }

    /// `label: gate(params) -> Target when guard { effect }`
    pub(super) fn transition(&mut self) -> bool {
        if !self.at(K::Ident) {
            self.report_expected("a transition");
            return false;
        }
        self.start(K::Transition);
        let mut good = true;
        if self.kind(1) == K::Colon {
            self.start(K::TransitionLabel);
            self.name("a label");
            self.bump();
            self.end();
        }
        good &= self.name("the gate of a transition");
        if good && self.at(K::LParen) {
            good = self.param_list();
        }
        if good && self.at(K::Arrow) {
            good = self.target();
        }
        if good && self.at_word("if") && !self.newline_before(0) {
            let span = self.span(0);
            let diagnostic = Diagnostic::new(Code::E0110, span, "a guard begins with `when`")
                .help("write `when`")
                .fix(span, "when");
            self.report(diagnostic);
            self.start(K::Guard);
            self.bump();
            self.expression();
            self.end();
        }
        if good && self.at_word("when") {
            self.start(K::Guard);
            self.bump();
            self.expression();
            self.end();
        }
        if good && self.at(K::LBrace) {
            self.effect_block();
        }
        let separated = self.newline_before(0)
            || matches!(
                self.kind(0),
                K::RBrace | K::Semicolon | K::Comma | K::EndOfFile | K::Ident
            );
        if good && !separated {
            self.report_expected("`->`, `when`, `{` or another transition");
            good = false;
        }
        self.end();
        good
    }

    pub(super) fn target(&mut self) -> bool {
        self.start(K::Target);
        self.bump();
        let good = self.name_ref("the name of a node");
        self.end();
        good
    }

    /// `(a: int 1..10, b: real)`
    pub(super) fn param_list(&mut self) -> bool {
        self.start(K::ParamList);
        let opened = self.span(0);
        self.bump();
        let mut good = true;
        while good && !self.at(K::RParen) && !self.at_end() {
            good = self.param();
            if !self.eat(K::Comma) {
                break;
            }
        }
        good = good && self.expect_close(K::RParen, opened);
        self.end();
        good
    }

    /// `a, b: int 1..10`; the names share the sort.
    pub(super) fn param(&mut self) -> bool {
        self.start(K::Param);
        let mut good = self.name("the name of a parameter");
        while good && self.at(K::Comma) && self.kind(1) == K::Ident && self.kind(2) != K::Dot {
            self.bump();
            good = self.name("the name of a parameter");
        }
        good = good && self.sort_annotation();
        if good && self.at(K::LBracket) {
            good = self.range_in_brackets();
        } else if good && self.may_begin_expression() {
            good = self.range_bounds();
        }
        self.end();
        good
    }

    /// `{ x := e, y' == y + 1, any z }`
    pub(super) fn effect_block(&mut self) {
        self.start(K::EffectBlock);
        let opened = self.span(0);
        self.bump();
        while !self.at_end() && !self.at(K::RBrace) {
            if self.at_item_line() {
                break;
            }
            let before = self.at;
            self.effect_element();
            let separated = self.at(K::Comma) || self.at(K::Semicolon);
            while self.at(K::Comma) || self.at(K::Semicolon) {
                self.bump();
            }
            if self.at == before
                || !(separated
                    || self.at(K::RBrace)
                    || self.newline_before(0)
                    || self.may_begin_expression())
            {
                self.report_expected("`,` or `}`");
                self.skip_until(|parser| {
                    matches!(parser.kind(0), K::RBrace | K::Comma | K::Semicolon)
                        || parser.newline_before(0)
                });
                if self.at == before {
                    self.error_token();
                }
            }
        }
        self.expect_close(K::RBrace, opened);
        self.end();
    }

    /// The number of tokens of `name.field.field`.
    fn path_length(&self) -> usize {
        let mut length = 1;
        while self.kind(length) == K::Dot && self.kind(length + 1) == K::Ident {
            length += 2;
        }
        length
    }

    /// `name.field.field`: a variable, or a field of one.
    fn path(&mut self, what: &str) -> bool {
        let length = self.path_length();
        if length == 1 {
            return self.name_ref(what);
        }
        self.start(K::NameRef);
        for _ in 0..length {
            self.bump();
        }
        self.end();
        true
    }

    fn effect_element(&mut self) {
        if self.at(K::Ident) && self.kind(self.path_length()) == K::Assign {
            self.start(K::Assignment);
            self.path("a variable");
            self.bump();
            self.expression();
            self.end();
        } else if self.at(K::Ident) && self.kind(1) == K::Prime && self.kind(2) == K::Assign {
            let name = self.word(0);
            let span = self.span(1);
            let diagnostic = Diagnostic::new(
                Code::E0114,
                span,
                format!(
                    "the left side of `:=` has no prime: it always means the next value of `{name}`"
                ),
            )
            .help(format!("write `{name} := …`, or the constraint `{name}' == …`"))
            .fix(span, "");
            self.report(diagnostic);
            self.start(K::Assignment);
            self.name_ref("a variable");
            self.bump();
            self.bump();
            self.expression();
            self.end();
        } else if self.at_word("any")
            && self.kind(1) == K::Ident
            && !self.newline_before(1)
            && !is_reserved(self.word(1))
        {
            self.start(K::Release);
            self.bump();
            self.path("a variable");
            self.end();
        } else {
            self.start(K::Constraint);
            let element = (self.at(K::Ident) && self.kind(1) == K::LBracket)
                .then(|| (self.word(0), self.span(1).end as usize));
            self.expression();
            if self.at(K::Assign) {
                let index = element.and_then(|(name, from)| {
                    let text = self.text.get(from..self.end_of_last() as usize)?;
                    Some((name, text.strip_suffix(']')?.trim()))
                });
                let help = match index {
                    Some((name, index)) if !index.contains(['[', ']']) => {
                        format!("write `{name} := {name}[{index} := …]`")
                    }
                    _ => "write `x := value`, or a constraint with `==` over primed variables"
                        .to_string(),
                };
                let diagnostic = Diagnostic::new(
                    Code::E0114,
                    self.span(0),
                    "`:=` needs the name of a variable on its left",
                )
                .help(help);
                self.report(diagnostic);
                self.bump();
                self.expression();
            }
            self.end();
        }
    }
}
