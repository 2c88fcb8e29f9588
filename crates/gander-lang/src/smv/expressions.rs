//! Parses expressions, with the precedences of NuSMV.

use super::lexer::Kind;
use super::parser::Parser;
use super::syntax::{Expr, Part};
use super::words;
use crate::diagnostics::codes::Code;
use crate::diagnostics::span::Span;
use gander_term::{IBig, RBig};

const MAX_DEPTH: usize = 150;

/// The binding strength of an operator; `->` is the weakest and groups to the right.
fn binds(text: &str) -> Option<(&'static str, u8)> {
    Some(match text {
        "->" => ("->", 1),
        "<->" => ("<->", 2),
        "|" => ("|", 4),
        "xor" => ("xor", 4),
        "xnor" => ("xnor", 4),
        "&" => ("&", 5),
        "=" => ("=", 6),
        "!=" => ("!=", 6),
        "<" => ("<", 6),
        "<=" => ("<=", 6),
        ">" => (">", 6),
        ">=" => (">=", 6),
        "in" => ("in", 7),
        "union" => ("union", 8),
        "<<" => ("<<", 9),
        ">>" => (">>", 9),
        "+" => ("+", 10),
        "-" => ("-", 10),
        "*" => ("*", 11),
        "/" => ("/", 11),
        "mod" => ("mod", 11),
        "::" => ("::", 13),
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Option<Expr> {
        let first = self.file.parts.len() as u32;
        let root = self.climb(0, 0)?;
        Some(Expr { root, first })
    }

    fn part(&mut self, part: Part, span: Span) -> u32 {
        self.file.parts.push((part, span));
        self.file.parts.len() as u32 - 1
    }

    fn span_of(&self, part: u32) -> Span {
        self.file.parts[part as usize].1
    }

    fn climb(&mut self, least: u8, depth: usize) -> Option<u32> {
        if depth > MAX_DEPTH {
            self.report.error(Code::E0111, self.span(), "this is nested too deeply");
            return None;
        }
        let mut left = self.operand(depth)?;
        loop {
            if least <= 3 && self.at("?") {
                self.bump();
                let yes = self.climb(0, depth + 1)?;
                self.need(":")?;
                let no = self.climb(3, depth + 1)?;
                let span = self.span_of(left).cover(self.span_of(no));
                left = self.part(Part::Ite(left, yes, no), span);
                continue;
            }
            if least <= 12 && self.at("..") {
                self.bump();
                let high = self.climb(10, depth + 1)?;
                let span = self.span_of(left).cover(self.span_of(high));
                left = self.part(Part::Range(left, high), span);
                continue;
            }
            let Some((op, tight)) = binds(self.text()).filter(|(_, t)| *t >= least) else {
                return Some(left);
            };
            if self.kind() == Kind::End {
                return Some(left);
            }
            self.bump();
            let right = if op == "->" {
                self.climb(tight, depth + 1)?
            } else {
                self.climb(tight + 1, depth + 1)?
            };
            let span = self.span_of(left).cover(self.span_of(right));
            left = self.part(Part::Binary(op, left, right), span);
        }
    }

    fn operand(&mut self, depth: usize) -> Option<u32> {
        let start = self.span();
        let unary = match self.text() {
            "!" => Some(("!", 14)),
            // Tighter than `::`: NuSMV reads `-a :: b` as `(-a) :: b`, contrary to its manual.
            "-" => Some(("-", 14)),
            "G" if self.temporal => Some(("G", 6)),
            "F" if self.temporal => Some(("F", 6)),
            "X" if self.temporal => Some(("X", 6)),
            "AG" if self.temporal => Some(("G", 6)),
            _ => None,
        };
        if let Some((op, tight)) = unary {
            self.bump();
            let inner = self.climb(tight, depth + 1)?;
            let span = start.cover(self.span_of(inner));
            return Some(self.part(Part::Unary(op, inner), span));
        }
        let mut made = match self.kind() {
            Kind::Number => {
                let value = self.text().parse::<IBig>().unwrap_or_default();
                self.bump();
                self.part(Part::Int(value), start)
            }
            Kind::Fraction => {
                let mut numbers =
                    self.text()[2..].split('/').map(|n| n.parse::<IBig>().unwrap_or(IBig::ZERO));
                let (top, bottom) =
                    (numbers.next().unwrap_or_default(), numbers.next().unwrap_or(IBig::ONE));
                if bottom == IBig::ZERO {
                    self.report.error(Code::E0107, start, "this fraction is not a number");
                    return None;
                }
                self.bump();
                self.part(Part::Real(RBig::from(top) / RBig::from(bottom)), start)
            }
            Kind::Word => {
                let Some((signed, bits, value)) = words::literal(self.text()) else {
                    self.report.error(
                        Code::E0107,
                        start,
                        format!("`{}` is not a word", self.text()),
                    );
                    return None;
                };
                self.bump();
                self.part(Part::Word(signed, bits, value), start)
            }
            Kind::Sign("(") => {
                self.bump();
                let inner = self.climb(0, depth + 1)?;
                self.need(")")?;
                inner
            }
            Kind::Sign("{") => {
                self.bump();
                let mut values = vec![self.climb(0, depth + 1)?];
                while self.eat(",") {
                    values.push(self.climb(0, depth + 1)?);
                }
                self.need("}")?;
                self.part(Part::Set(values), start)
            }
            Kind::Ident => self.named(depth)?,
            _ => {
                self.expected("an expression");
                return None;
            }
        };
        while self.at("[") {
            self.bump();
            let high = self.climb(0, depth + 1)?;
            if !self.at(":") {
                self.need("]")?;
                let span = start.cover(self.span_of(high));
                made = self.part(Part::Index(made, high), span);
                continue;
            }
            self.bump();
            let low = self.climb(0, depth + 1)?;
            self.need("]")?;
            let span = start.cover(self.span());
            made = self.part(Part::Bits(made, high, low), span);
        }
        Some(made)
    }

    fn named(&mut self, depth: usize) -> Option<u32> {
        let start = self.span();
        let mut text = self.text().to_string();
        self.bump();
        match text.as_str() {
            "TRUE" => return Some(self.part(Part::Bool(true), start)),
            "FALSE" => return Some(self.part(Part::Bool(false), start)),
            "case" => {
                let mut branches = Vec::new();
                while self.text() != "esac" {
                    branches.push(self.climb(0, depth + 1)?);
                    self.need(":")?;
                    branches.push(self.climb(0, depth + 1)?);
                    self.need(";")?;
                }
                self.bump();
                if branches.is_empty() {
                    self.report.error(Code::E0110, start, "this `case` has no branch");
                    return None;
                }
                return Some(self.part(Part::Case(branches), start));
            }
            "A" | "E" | "U" | "V" | "AF" | "AX" | "EF" | "EG" | "EX" | "O" | "H" | "Y" | "S"
            | "T"
                if self.temporal =>
            {
                self.unsupported(start, &format!("the temporal operator `{text}`"));
                return None;
            }
            _ => {}
        }
        while self.at(".") {
            self.bump();
            text.push('.');
            text.push_str(self.text());
            self.bump();
        }
        if self.eat("(") {
            let mut args = Vec::new();
            while !self.at(")") {
                args.push(self.climb(0, depth + 1)?);
                if !self.eat(",") {
                    break;
                }
            }
            self.need(")")?;
            return Some(self.part(Part::Call(text, args), start));
        }
        Some(self.part(Part::Name(text), start))
    }
}
