//! Type expressions and declared variables.

use super::expressions::SUM;
use super::{K, Parser};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::{Clock, ClockValue, ExprId, Name, TypeId, TypeKind, VarDecl};

/// Sign and width of the machine integers that have a keyword.
pub(super) fn machine_type(word: &str) -> Option<(bool, u32)> {
    Some(match word {
        "int8" => (true, 8),
        "int16" => (true, 16),
        "int32" => (true, 32),
        "int64" => (true, 64),
        "uint8" => (false, 8),
        "uint16" => (false, 16),
        "uint32" => (false, 32),
        "uint64" => (false, 64),
        _ => return None,
    })
}

impl Parser<'_> {
    /// A type.
    pub(super) fn type_expr(&mut self) -> Option<TypeId> {
        self.enter()?;
        let found = self.type_with_sizes();
        self.leave();
        found
    }

    /// A type followed by `^n` and `[n]`: `int^2^3` is an array of three arrays of two.
    fn type_with_sizes(&mut self) -> Option<TypeId> {
        let start = self.start();
        let mut ty = self.plain_type()?;
        loop {
            let opened = self.span(0);
            let size = if self.eat(K::Caret) {
                self.expression_of(SUM)?
            } else if self.eat(K::LBracket) {
                let size = self.expression()?;
                self.expect_close(K::RBracket, "`]`", opened)?;
                size
            } else {
                return Some(ty);
            };
            ty = self.add_type(TypeKind::Array { element: ty, size }, self.since(start));
        }
    }

    fn plain_type(&mut self) -> Option<TypeId> {
        let start = self.start();
        let kind = match self.kind(0) {
            K::LBracket => {
                let opened = self.span(0);
                self.bump();
                let mut parts = vec![self.type_expr()?];
                while self.eat(K::Comma) {
                    parts.push(self.type_expr()?);
                }
                self.expect_close(K::RBracket, "`,` or `]`", opened)?;
                TypeKind::Tuple(parts)
            }
            K::LBrace if self.at_name(1) => self.record_type()?,
            K::Word => self.word_type()?,
            _ => {
                self.report_expected("a type");
                return None;
            }
        };
        Some(self.add_type(kind, self.since(start)))
    }

    fn word_type(&mut self) -> Option<TypeKind> {
        let word = self.word(0);
        let declared = self.is_declared(word);
        let kind = match word {
            "bool" => TypeKind::Bool,
            "int" => TypeKind::Int,
            "real" => TypeKind::Real,
            "subrange" => return self.subrange(),
            "struct" => {
                self.bump();
                return self.record_type();
            }
            "enum" => return self.enumeration(),
            "subtype" if self.kind(1) == K::LBrace => {
                self.bump();
                let (variable, base, predicate) = self.such_that()?;
                return Some(TypeKind::Subtype { variable, base, predicate });
            }
            "sint" | "uint" if self.kind(1) == K::Less => {
                self.bump();
                let width = self.angle_width()?;
                return Some(TypeKind::Machine { signed: word == "sint", width });
            }
            "set" | "map" if self.kind(1) == K::Less => {
                let span = self.span(0);
                let construct = if word == "set" { "sets" } else { "maps" };
                self.bump();
                self.type_args()?;
                self.report_unsupported(construct, span);
                return Some(TypeKind::Unsupported(construct));
            }
            "history" if self.kind(1) == K::LParen => {
                let span = self.span(0);
                self.bump();
                self.skip_brackets();
                self.report_unsupported("`history` types", span);
                return Some(TypeKind::Unsupported("`history` types"));
            }
            _ => match machine_type(word).filter(|_| !declared) {
                Some((signed, width)) => TypeKind::Machine { signed, width },
                None => {
                    let name = self.name("a type")?;
                    let args = if self.at(K::Less) { self.type_args()? } else { Vec::new() };
                    return Some(TypeKind::Named(name, args));
                }
            },
        };
        self.bump();
        Some(kind)
    }

    /// `<n>`, a number of bits.
    pub(super) fn angle_width(&mut self) -> Option<u32> {
        self.expect(K::Less, "`<`")?;
        let width = match self.kind(0) {
            K::Int => {
                self.text_of(self.at).parse().ok().filter(|width| (1..=65536).contains(width))
            }
            _ => None,
        };
        let Some(width) = width else {
            self.report_expected("a number of bits from 1 to 65536");
            return None;
        };
        self.bump();
        self.expect(K::Greater, "`>`")?;
        Some(width)
    }

    /// `<T, U>`; the separator may be a semicolon.
    pub(super) fn type_args(&mut self) -> Option<Vec<TypeId>> {
        self.expect(K::Less, "`<`")?;
        let mut args = Vec::new();
        while !self.at(K::Greater) {
            args.push(self.type_expr()?);
            if !self.eat(K::Comma) && !self.eat(K::Semicolon) {
                break;
            }
        }
        self.expect(K::Greater, "`,` or `>`")?;
        Some(args)
    }

    fn subrange(&mut self) -> Option<TypeKind> {
        self.bump();
        let opened = self.span(0);
        self.expect(K::LBracket, "`[`")?;
        let low = self.bound()?;
        self.expect(K::Comma, "`,` and the upper bound")?;
        let high = self.bound()?;
        self.expect_close(K::RBracket, "`]`", opened)?;
        self.expect_word("of")?;
        let base = self.type_expr()?;
        Some(TypeKind::Subrange { low, high, base })
    }

    fn bound(&mut self) -> Option<Option<ExprId>> {
        if self.at(K::Star) && matches!(self.kind(1), K::Comma | K::RBracket) {
            self.bump();
            return Some(None);
        }
        self.expression().map(Some)
    }

    fn enumeration(&mut self) -> Option<TypeKind> {
        self.bump();
        let opened = self.span(0);
        self.expect(K::LBrace, "`{`")?;
        let mut names = vec![self.declare("the name of a value")?];
        while self.eat(K::Comma) {
            names.push(self.declare("the name of a value")?);
        }
        self.expect_close(K::RBrace, "`,` or `}`", opened)?;
        Some(TypeKind::Enum(names))
    }

    /// `{ f, g: T; h: U }`
    fn record_type(&mut self) -> Option<TypeKind> {
        let opened = self.span(0);
        self.expect(K::LBrace, "`{`")?;
        let mut fields = Vec::new();
        while !self.at(K::RBrace) {
            let mut names = vec![self.name("the name of a field")?];
            while self.eat(K::Comma) {
                names.push(self.name("the name of a field")?);
            }
            self.expect(K::Colon, "`:` and a type")?;
            let ty = self.type_expr()?;
            fields.extend(names.into_iter().map(|name| (name, ty)));
            if !self.eat(K::Semicolon) {
                break;
            }
        }
        self.expect_close(K::RBrace, "`;` or `}`", opened)?;
        Some(TypeKind::Record(fields))
    }

    /// `{ x: T | predicate }`
    pub(super) fn such_that(&mut self) -> Option<(Name, TypeId, ExprId)> {
        let opened = self.span(0);
        self.expect(K::LBrace, "`{`")?;
        let variable = self.variable_name()?;
        self.expect(K::Colon, "`:` and a type")?;
        let base = self.type_expr()?;
        self.expect(K::Bar, "`|` and a condition")?;
        let predicate = self.expression()?;
        self.expect_close(K::RBrace, "`}`", opened)?;
        Some((variable, base, predicate))
    }

    /// `when c`, `when not c`, `when Variant(c)`, after `when`. `when true` gives no clock.
    pub(super) fn clock(&mut self) -> Option<Option<Clock>> {
        if self.eat_word("true") {
            return Some(None);
        }
        if self.eat_word("not") {
            let opened = self.span(0);
            let inside = self.eat(K::LParen);
            let variable = self.name("a clock")?;
            if inside {
                self.expect_close(K::RParen, "`)`", opened)?;
            }
            return Some(Some(Clock { variable, value: ClockValue::False }));
        }
        let first = self.name("a clock")?;
        let opened = self.span(0);
        if !self.eat(K::LParen) {
            return Some(Some(Clock { variable: first, value: ClockValue::True }));
        }
        let variable = self.name("a clock")?;
        self.expect_close(K::RParen, "`)`", opened)?;
        Some(Some(Clock { variable, value: ClockValue::Variant(first) }))
    }

    /// `x, y: T`, with an optional clock or refinement.
    pub(super) fn variable_group(&mut self, into: &mut Vec<VarDecl>) -> Option<()> {
        let constant = self.eat_word("const");
        let mut names = vec![self.variable_name()?];
        while self.eat(K::Comma) {
            names.push(self.variable_name()?);
        }
        self.expect(K::Colon, "`:` and a type")?;
        let ty = self.type_expr()?;
        let bar = self.span(0);
        let refinement = if self.eat(K::Bar) { Some(self.expression()?) } else { None };
        if refinement.is_some() && names.len() > 1 {
            let message = "a condition behind `|` belongs to one variable";
            self.diagnostics.push(
                Diagnostic::new(Code::E0110, bar, message)
                    .help("declare the variables one by one: `x: T | …; y: T | …`"),
            );
        }
        let clock = if self.eat_word("when") { self.clock()? } else { None };
        into.extend(names.into_iter().map(|name| VarDecl {
            name,
            ty,
            constant,
            clock,
            refinement,
        }));
        Some(())
    }

    /// A declared name. In files flattened by JKind, `a~0.b` and `a[0]` are names.
    fn variable_name(&mut self) -> Option<Name> {
        let mut more = 0;
        while let Some(part) = self.dotted_part(more + 1) {
            more += part;
        }
        if more == 0 || !self.at_name(0) {
            let name = self.name("the name of a variable")?;
            self.local.insert(&self.text[name.span.range()]);
            return Some(name);
        }
        let name = self.take_dotted(more);
        self.dotted.insert(self.text[name.span.range()].to_owned());
        Some(name)
    }

    /// `( x, y: T; z: U ) when c`: declared variables that share a clock; or a group without
    /// parentheses.
    pub(super) fn clocked_group(&mut self, into: &mut Vec<VarDecl>) -> Option<()> {
        let opened = self.span(0);
        if !self.eat(K::LParen) {
            return self.variable_group(into);
        }
        let first = into.len();
        while !self.at(K::RParen) {
            self.variable_group(into)?;
            if !self.eat(K::Semicolon) {
                break;
            }
        }
        self.expect_close(K::RParen, "`;` or `)`", opened)?;
        self.expect_word("when")?;
        let clock = self.clock()?;
        for declared in &mut into[first..] {
            declared.clock = clock;
        }
        Some(())
    }
}
