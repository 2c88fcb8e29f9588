//! Parsing of expressions, by precedence: `|`, `&`, `==` and `!=`, comparisons, `+ -`, `* /`, `! -`.

use super::lexer::Kind;
use super::parser::Parser;
use super::syntax::{Binary, Expr, Name, Part};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use gander_term::IBig;

/// Brackets and negations within each other.
const MAX_DEPTH: usize = 200;

/// The operators, and how tightly they bind.
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
    /// An expression; `None` once an error was reported.
    pub(super) fn expression(&mut self) -> Option<Expr> {
        let first = self.script.expressions.len() as u32;
        let root = self.climb(1, 0)?;
        // `x = 5` where a formula is meant.
        if self.at("=") && self.formula_expected {
            let span = self.span();
            let diagnostic = Diagnostic::new(Code::E0112, span, "`=` updates a variable; `==` compares");
            self.fail(diagnostic.help("write `==`").fix(span, "=="));
            return None;
        }
        Some(Expr { root, first })
    }

    /// A formula: an expression in which `=` cannot follow.
    pub(super) fn formula(&mut self) -> Option<Expr> {
        let before = std::mem::replace(&mut self.formula_expected, true);
        let found = self.expression();
        self.formula_expected = before;
        found
    }

    fn part(&mut self, part: Part, span: Span) -> u32 {
        self.script.expressions.push((part, span));
        self.script.expressions.len() as u32 - 1
    }

    fn climb(&mut self, least: u8, depth: usize) -> Option<u32> {
        let mut left = self.operand(depth)?;
        while let Kind::Sign(sign) = self.kind()
            && let Some((operator, binds)) = binary(sign)
            && binds >= least
        {
            self.bump();
            let right = self.climb(binds + 1, depth)?;
            let span = self.place(left).cover(self.place(right));
            left = self.part(Part::Binary(operator, left, right), span);
        }
        Some(left)
    }

    fn place(&self, part: u32) -> Span {
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
                    let diagnostic = Diagnostic::new(Code::E0115, self.span(), "`)` is missing here");
                    self.fail(diagnostic.label(start, "opened here"));
                    return None;
                }
                self.bump();
                Some(inner)
            }
            Kind::Sign("!") => {
                self.bump();
                let inner = self.operand(depth + 1)?;
                let span = start.cover(self.place(inner));
                Some(self.part(Part::Not(inner), span))
            }
            Kind::Sign("-") => {
                self.bump();
                let inner = self.operand(depth + 1)?;
                let span = start.cover(self.place(inner));
                Some(self.part(Part::Negative(inner), span))
            }
            Kind::Number => {
                // The lexer reports what is not made of digits.
                let value = self.text().parse::<IBig>().unwrap_or_default();
                self.bump();
                Some(self.part(Part::Int(value), start))
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
                        return Some(self.part(Part::Member(Name { text, span: start }, member), span));
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
