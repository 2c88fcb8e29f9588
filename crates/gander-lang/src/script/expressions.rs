//! Parsing of expressions, by precedence: `|`, `&`, `==` and `!=`, comparisons, `+ -`, `* /`, `!
//! -`.

use super::lexer::Kind;
use super::parser::Parser;
use super::syntax::{Binary, Expr, Name, Part};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use gander_term::IBig;

/// The nesting depth of brackets and negations.
const MAX_DEPTH: usize = 200;

/// The operators and their binding strength.
fn binary(sign: &str) -> Option<(Binary, u8)> {
    Some(match sign {
        "|" | "||" => (Binary::Or, 1),
        "&" | "&&" => (Binary::And, 2),
        "==" => (Binary::Equal, 3),
        "!=" => (Binary::Unequal, 3),
        "<" => (Binary::Less, 4),
        "<=" => (Binary::LessEqual, 4),
        ">" => (Binary::Greater, 4),
        ">=" => (Binary::GreaterEqual, 4),
        "+" => (Binary::Add, 5),
        "-" => (Binary::Subtract, 5),
        "*" => (Binary::Multiply, 6),
        "/" => (Binary::Divide, 6),
        "%" => (Binary::Remainder, 6),
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression; `None` after an error was reported.
    pub(super) fn expression(&mut self) -> Option<Expr> {
        let first = self.script.expressions.len() as u32;
        let root = self.climb(1, 0)?;
        // `a => b` where a formula is expected.
        if self.at("=") && self.formula_expected && self.ahead(1).kind == Kind::Sign(">") {
            self.no_implication(self.span().cover(self.ahead(1).span));
            return None;
        }
        // `x = 5` where a formula is expected.
        if self.at("=") && self.formula_expected {
            let span = self.span();
            let diagnostic =
                Diagnostic::new(Code::E0112, span, "`=` updates a variable; `==` compares");
            self.fail(diagnostic.help("write `==`").fix(span, "=="));
            return None;
        }
        Some(Expr { root, first })
    }

    /// A formula: an expression that `=` cannot follow.
    pub(super) fn formula(&mut self) -> Option<Expr> {
        let before = std::mem::replace(&mut self.formula_expected, true);
        let found = self.expression();
        self.formula_expected = before;
        found
    }

    /// Reports an implication, which the language does not have.
    pub(super) fn no_implication(&mut self, span: Span) {
        let diagnostic = Diagnostic::new(Code::E0110, span, "there is no implication here");
        self.fail(diagnostic.help("write `!a | b` for \"a implies b\""));
    }

    /// The operator for a word of other languages, and its binding strength.
    fn word_operator(&self) -> Option<(&'static str, Binary, u8)> {
        if self.kind() != Kind::Ident {
            return None;
        }
        match self.text().to_ascii_lowercase().as_str() {
            "and" => Some(("&", Binary::And, 2)),
            "or" => Some(("|", Binary::Or, 1)),
            _ => None,
        }
    }

    fn part(&mut self, part: Part, span: Span) -> u32 {
        self.script.expressions.push((part, span));
        self.script.expressions.len() as u32 - 1
    }

    fn climb(&mut self, least: u8, depth: usize) -> Option<u32> {
        let mut left = self.operand(depth)?;
        loop {
            let word = self.word_operator();
            let found = match (self.kind(), word) {
                (Kind::Sign(sign), _) => binary(sign),
                (_, Some((_, operator, binds))) => Some((operator, binds)),
                _ => None,
            };
            let Some((operator, binds)) = found.filter(|(_, binds)| *binds >= least) else {
                break;
            };
            if let Some((ours, ..)) = word {
                let span = self.span();
                let message = format!("`{}` is not an operator here", self.text());
                let diagnostic = Diagnostic::new(Code::E0110, span, message);
                self.fail(diagnostic.help(format!("write `{ours}`")).fix(span, ours));
            }
            self.bump();
            let right = self.climb(binds + 1, depth)?;
            let span = self.span_of(left).cover(self.span_of(right));
            left = self.part(Part::Binary(operator, left, right), span);
        }
        Some(left)
    }

    fn span_of(&self, part: u32) -> Span {
        self.script.expressions[part as usize].1
    }

    fn operand(&mut self, depth: usize) -> Option<u32> {
        let start = self.span();
        if depth > MAX_DEPTH {
            self.fail(Diagnostic::new(Code::E0111, start, "this is nested too deeply"));
            return None;
        }
        match self.kind() {
            Kind::Sign("(") => {
                self.bump();
                let inner = self.climb(1, depth + 1)?;
                if !self.at(")") {
                    let diagnostic =
                        Diagnostic::new(Code::E0115, self.span(), "`)` is missing here");
                    self.fail(diagnostic.label(start, "opened here"));
                    return None;
                }
                self.bump();
                Some(inner)
            }
            Kind::Sign("!") => {
                self.bump();
                let inner = self.operand(depth + 1)?;
                let span = start.cover(self.span_of(inner));
                Some(self.part(Part::Not(inner), span))
            }
            Kind::Sign("-") => {
                self.bump();
                let inner = self.operand(depth + 1)?;
                let span = start.cover(self.span_of(inner));
                Some(self.part(Part::Negative(inner), span))
            }
            Kind::Number => {
                // The lexer reports numbers with other characters than digits.
                let value = self.text().parse::<IBig>().unwrap_or_default();
                self.bump();
                Some(self.part(Part::Int(value), start))
            }
            Kind::Ident
                if self.text().eq_ignore_ascii_case("not")
                    && matches!(self.ahead(1).kind, Kind::Ident | Kind::Number) =>
            {
                let message = format!("`{}` is not an operator here", self.text());
                let diagnostic = Diagnostic::new(Code::E0110, start, message);
                self.fail(diagnostic.help("write `!`").fix(start, "!"));
                self.bump();
                let inner = self.operand(depth + 1)?;
                let span = start.cover(self.span_of(inner));
                Some(self.part(Part::Not(inner), span))
            }
            Kind::Ident if self.header().is_none() => {
                let text = self.text().to_string();
                self.bump();
                let part = match text.as_str() {
                    "true" => Part::Bool(true),
                    "false" => Part::Bool(false),
                    _ if self.at(".") => {
                        self.bump();
                        let member = self.name("the name of a variable of the process")?;
                        let span = start.cover(member.span);
                        return Some(
                            self.part(Part::Member(Name { text, span: start }, member), span),
                        );
                    }
                    _ => Part::Name(text),
                };
                Some(self.part(part, start))
            }
            _ => {
                self.expected("a number, a name, `(`, `!` or `-`");
                None
            }
        }
    }
}
