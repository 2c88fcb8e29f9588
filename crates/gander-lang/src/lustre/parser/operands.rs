//! Parsing at the start of an operand: literals, names, calls, and keywords that open a construct.

use super::expressions::{Frame, Head, MACHINE_CAST, Machine, Next, PREFIX, RecordHead};
use super::types::machine_type;
use super::{K, Parser, is_reserved};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::lustre::ast::{Branches, CastTo, ExprKind, QuantifierKind, TypeKind, Unary};
use gander_term::{IBig, RBig};

/// The largest exponent of a literal.
const MAX_EXPONENT: i64 = 10_000;

impl Parser<'_> {
    /// Parses an operand, or opens the construct that it starts with.
    pub(super) fn operand(&mut self, machine: &mut Machine) -> Option<Next> {
        let start = self.start();
        match self.kind(0) {
            K::Int => self.integer(),
            K::Real => self.decimal(),
            K::Word => self.word_operand(machine),
            K::LParen if self.at_activate() => self.activate(machine),
            K::LParen => self.open(machine, Frame::Paren(start, Vec::new())),
            K::LBracket => self.open(machine, Frame::Array(start, Vec::new())),
            K::Minus => self.open(machine, Frame::Unary(Unary::Neg, start)),
            K::Bang => self.open(machine, Frame::Unary(Unary::BitNot, start)),
            K::Tick if self.kind(1) == K::LParen => {
                self.bump();
                self.open(machine, Frame::Tuple(start, Vec::new()))
            }
            K::Hash if self.kind(1) == K::LParen => {
                self.bump();
                self.open(machine, Frame::AtMostOne(start, Vec::new()))
            }
            K::ColonColon => self.mode_reference(),
            K::LBrace => {
                self.skip_brackets();
                if self.eat(K::At) {
                    self.type_args()?;
                }
                self.unsupported_operand("sets", start)
            }
            _ => {
                self.report_expected("an expression");
                None
            }
        }
    }

    fn open(&mut self, machine: &mut Machine, frame: Frame) -> Option<Next> {
        self.bump();
        machine.push(frame);
        Some(Next::Operand)
    }

    /// A leaf of one token.
    fn leaf(&mut self, kind: ExprKind) -> Option<Next> {
        let span = self.span(0);
        self.bump();
        Some(Next::Operator(self.add(kind, span)))
    }

    fn unsupported_operand(&mut self, construct: &'static str, start: u32) -> Option<Next> {
        let span = self.since(start);
        self.report_unsupported(construct, span);
        Some(Next::Operator(self.add(ExprKind::Unsupported(construct), span)))
    }

    fn integer(&mut self) -> Option<Next> {
        let text = self.text_of(self.at);
        let (digits, radix) = match text.as_bytes() {
            [b'0', b'x', ..] => (&text[2..], 16),
            [b'0', b'b', ..] => (&text[2..], 2),
            _ => (text, 10),
        };
        match IBig::from_str_radix(digits, radix) {
            Ok(value) => self.leaf(ExprKind::Int(value)),
            Err(_) => self.no_number(),
        }
    }

    fn no_number(&mut self) -> Option<Next> {
        let shown: String = self.text_of(self.at).chars().take(40).collect();
        let diagnostic =
            Diagnostic::new(Code::E0107, self.span(0), format!("`{shown}` is not a number"))
                .help("digits fit the base, and exponents are at most 10000");
        self.report(diagnostic);
        self.leaf(ExprKind::Error)
    }

    fn decimal(&mut self) -> Option<Next> {
        match decimal_value(self.text_of(self.at)) {
            Some(value) => self.leaf(ExprKind::Real(value)),
            None => self.no_number(),
        }
    }

    /// `::mode`, `::contract::mode`
    fn mode_reference(&mut self) -> Option<Next> {
        let start = self.start();
        let mut path = Vec::new();
        while self.eat(K::ColonColon) {
            path.push(self.name("the name of a mode")?);
        }
        Some(Next::Operator(self.add_since(ExprKind::Mode(path), start)))
    }

    fn word_operand(&mut self, machine: &mut Machine) -> Option<Next> {
        let start = self.start();
        let word = self.word(0);
        match word {
            "true" => return self.leaf(ExprKind::Bool(true)),
            "false" => return self.leaf(ExprKind::Bool(false)),
            "if" => return self.open(machine, Frame::Condition(Branches::Strict, start)),
            "not" => return self.open(machine, Frame::Unary(Unary::Not, start)),
            "pre" => return self.open(machine, Frame::Unary(Unary::Pre, start)),
            "int" => return self.open(machine, Frame::Cast(CastTo::Int, start, PREFIX)),
            "real" => return self.open(machine, Frame::Cast(CastTo::Real, start, PREFIX)),
            "condact" => {
                self.bump();
                self.expect(K::LParen, "`(`")?;
                machine.push(Frame::CondactCondition(start));
                return Some(Next::Operand);
            }
            _ if is_reserved(word) => {
                self.report_expected("an expression");
                return None;
            }
            _ => {}
        }
        if !self.is_declared(word)
            && let Some(next) = self.keyword_operand(machine, word, start)
        {
            return next;
        }
        self.named_operand(machine)
    }

    /// Parses a construct that starts with a word that may also be a name; `None` if it is a name
    /// here.
    fn keyword_operand(
        &mut self,
        machine: &mut Machine,
        word: &str,
        start: u32,
    ) -> Option<Option<Next>> {
        let next = match word {
            "floor" if self.kind(1) == K::LParen => {
                self.open(machine, Frame::Cast(CastTo::Int, start, PREFIX))
            }
            "current" if self.operand_follows() => {
                self.open(machine, Frame::Unary(Unary::Current, start))
            }
            "when" if self.operand_follows() => {
                self.open(machine, Frame::Condition(Branches::Lazy, start))
            }
            "last" if self.at_name(1) => {
                self.bump();
                let name = self.take_name();
                Some(Next::Operator(self.add_since(ExprKind::Last(name), start)))
            }
            "forall" | "exists" if self.kind(1) == K::LParen && self.declares_after_paren() => {
                self.quantifier(machine, word == "forall")
            }
            "any" | "choose"
                if matches!(self.kind(1), K::At | K::LBrace | K::Word) && !self.infix_follows() =>
            {
                self.any(word == "choose")
            }
            "merge" if self.kind(1) == K::LParen && self.kind(3) == K::Semicolon => {
                self.bump();
                self.bump();
                self.merge_pair(machine, start)
            }
            "merge" if self.at_name(1) && self.kind(2) == K::LParen => {
                self.bump();
                let clock = self.take_name();
                self.merge_arm(machine, start, clock, Vec::new())
            }
            "map" if self.kind(1) == K::LBracket => {
                self.bump();
                self.skip_brackets();
                if self.eat(K::At) && self.type_args().is_none() {
                    return Some(None);
                }
                self.unsupported_operand("maps", start)
            }
            "match" if self.operand_follows() && self.kind(1) != K::LBracket => {
                self.open(machine, Frame::Scrutinee(start))
            }
            "cond" if self.kind(1) == K::Bar => {
                self.skip_to_end();
                self.unsupported_operand("`cond` expressions", start)
            }
            "with" if self.operand_follows() => {
                self.report_unsupported(
                    "recursive nodes (`with … then … else`)",
                    Span::new(start, start + 4),
                );
                self.open(machine, Frame::Condition(Branches::Strict, start))
            }
            "sint" | "uint" if self.kind(1) == K::At && self.kind(2) == K::Less => {
                self.bump();
                self.bump();
                let Some(width) = self.angle_width() else { return Some(None) };
                machine.push(Frame::Cast(
                    CastTo::Machine { signed: word == "sint", width },
                    start,
                    MACHINE_CAST,
                ));
                Some(Next::Operand)
            }
            _ => {
                let (signed, width) = machine_type(word).filter(|_| self.operand_follows())?;
                self.open(
                    machine,
                    Frame::Cast(CastTo::Machine { signed, width }, start, MACHINE_CAST),
                )
            }
        };
        Some(next)
    }

    /// True if the next word is an operator or ends an operand.
    fn infix_follows(&self) -> bool {
        matches!(
            self.word(1),
            "and"
                | "or"
                | "xor"
                | "div"
                | "mod"
                | "then"
                | "else"
                | "when"
                | "fby"
                | "lsh"
                | "rsh"
                | "in"
                | "every"
                | "initial"
                | "provided"
                | "with"
                | "tel"
        )
    }

    /// True if an operand starts after the next token.
    fn operand_follows(&self) -> bool {
        match self.kind(1) {
            K::Int
            | K::Real
            | K::LParen
            | K::LBracket
            | K::Bang
            | K::Tick
            | K::Hash
            | K::ColonColon
            | K::Minus => true,
            K::Word => !self.infix_follows(),
            _ => false,
        }
    }

    /// True if `( x, y :` follows: declared variables, not arguments.
    fn declares_after_paren(&self) -> bool {
        let mut ahead = 2;
        while self.kind(ahead) == K::Word && self.kind(ahead + 1) == K::Comma {
            ahead += 2;
        }
        self.kind(ahead) == K::Word && self.kind(ahead + 1) == K::Colon
    }

    fn quantifier(&mut self, machine: &mut Machine, all: bool) -> Option<Next> {
        let start = self.start();
        self.bump();
        let opened = self.span(0);
        self.bump();
        let mut declared = Vec::new();
        while !self.at(K::RParen) {
            self.variable_group(&mut declared)?;
            if !self.eat(K::Semicolon) {
                break;
            }
        }
        self.expect_close(K::RParen, "`;` or `)`", opened)?;
        let mut variables = Vec::with_capacity(declared.len());
        for variable in declared {
            let ty = match variable.refinement {
                Some(predicate) => {
                    let kind =
                        TypeKind::Subtype { variable: variable.name, base: variable.ty, predicate };
                    self.add_type(kind, variable.name.span)
                }
                None => variable.ty,
            };
            variables.push((variable.name, ty));
        }
        let kind = if all { QuantifierKind::Forall } else { QuantifierKind::Exists };
        machine.push(Frame::Quantifier(kind, start, variables));
        Some(Next::Operand)
    }

    /// `any@<T>`, `any T`, `any {x: T | p}`
    fn any(&mut self, deterministic: bool) -> Option<Next> {
        let start = self.start();
        self.bump();
        let (ty, such_that) = if self.at(K::LBrace) {
            let (variable, ty, predicate) = self.such_that()?;
            (ty, Some((variable, predicate)))
        } else if self.eat(K::At) {
            self.expect(K::Less, "`<`")?;
            let ty = self.type_expr()?;
            self.expect(K::Greater, "`>`")?;
            (ty, None)
        } else {
            (self.type_expr()?, None)
        };
        Some(Next::Operator(self.add_since(ExprKind::Any { ty, such_that, deterministic }, start)))
    }

    // Names and calls.

    fn named_operand(&mut self, machine: &mut Machine) -> Option<Next> {
        let start = self.start();
        let dotted = self.dotted_length();
        if dotted > 0 {
            let name = self.take_dotted(dotted);
            return Some(Next::Operator(self.add(ExprKind::Name(name), name.span)));
        }
        let name = self.take_name();
        let typed = self.at(K::At) && self.kind(1) == K::Less;
        let type_args = if typed {
            self.bump();
            self.type_args()?
        } else {
            Vec::new()
        };
        if self.at(K::LParen) {
            let head = Head {
                start,
                callee: name,
                type_args,
                activation: None,
                restart: None,
                condact: false,
            };
            return self.open_arguments(machine, Box::new(head));
        }
        if self.at(K::LBrace)
            && self.kind(1) == K::Word
            && matches!(self.kind(2), K::Equals | K::Colon)
        {
            let ty = match typed {
                true => {
                    let span = self.since(start);
                    Some(self.add_type(TypeKind::Named(name, type_args), span))
                }
                false => None,
            };
            self.bump();
            let field = self.take_name();
            if self.at(K::Colon) {
                let span = self.span(0);
                let message = "the fields of a record are given with `=`, not `:`";
                self.report(
                    Diagnostic::new(Code::E0131, span, message).help("write `=`").fix(span, "="),
                );
            }
            self.bump();
            machine.push(Frame::Record(Box::new(RecordHead {
                start,
                name,
                ty,
                fields: Vec::new(),
                field,
            })));
            return Some(Next::Operand);
        }
        if typed {
            return Some(Next::Operator(
                self.add_since(ExprKind::Constructor(name, type_args), start),
            ));
        }
        if self.at(K::Question) && self.kind(1) == K::LParen {
            self.bump();
            return self.open(machine, Frame::Tester(start, name));
        }
        Some(Next::Operator(self.add(ExprKind::Name(name), name.span)))
    }

    /// Skips `match … end`, with nested ones.
    pub(super) fn skip_to_end(&mut self) {
        let mut open = 0usize;
        let mut brackets = 0usize;
        while !self.at(K::End) && !self.at_item() && !matches!(self.word(0), "tel" | "let") {
            match self.kind(0) {
                K::LParen | K::LBracket | K::LBrace => brackets += 1,
                K::RParen | K::RBracket | K::RBrace if brackets == 0 => return,
                K::RParen | K::RBracket | K::RBrace => brackets -= 1,
                _ => match self.word(0) {
                    "match" | "cond" => open += 1,
                    "end" => open = open.saturating_sub(1),
                    _ => {}
                },
            }
            let closes = open == 0;
            self.bump();
            if closes {
                return;
            }
        }
    }
}

/// The value of a decimal or hexadecimal literal.
fn decimal_value(text: &str) -> Option<RBig> {
    let hexadecimal = text.starts_with("0x");
    let (digits, radix, base) = if hexadecimal { (&text[2..], 16, 2) } else { (text, 10, 10) };
    let marks: &[char] = if hexadecimal { &['p', 'P'] } else { &['e', 'E'] };
    let (mantissa, exponent) = match digits.split_once(marks) {
        Some((mantissa, exponent)) => {
            (mantissa, exponent.trim_start_matches('+').parse::<i64>().ok()?)
        }
        None => (digits, 0),
    };
    if exponent.abs() > MAX_EXPONENT {
        return None;
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let number =
        if digits.is_empty() { IBig::ZERO } else { IBig::from_str_radix(&digits, radix).ok()? };
    let scale = IBig::from(radix).pow(fraction.len());
    let power = IBig::from(base).pow(exponent.unsigned_abs() as usize);
    let value = RBig::from(number) / RBig::from(scale);
    Some(if exponent < 0 { value / RBig::from(power) } else { value * RBig::from(power) })
}
