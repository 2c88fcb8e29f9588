//! Datatypes: their declarations, `match`, patterns.

use super::expressions::{Frame, Machine, MatchHead, Next};
use super::{K, Parser};
use crate::lustre::ast::{ExprId, ExprKind, Item, Name, Pattern, PatternKind, TypeId, TypeKind};

impl Parser<'_> {
    /// `datatype T<A> = C(f: U, …) | D;`
    pub(super) fn datatype(&mut self) -> Option<()> {
        let start = self.start();
        self.bump();
        let name = self.declare("the name of a type")?;
        let type_params = self.type_params()?;
        self.expect(K::Equals, "`=` and the constructors")?;
        self.eat(K::Bar);
        let mut constructors = Vec::new();
        loop {
            let constructor = self.declare("a constructor")?;
            constructors.push((constructor, self.constructor_fields()?));
            if !self.eat(K::Bar) {
                break;
            }
        }
        let span = self.since(start);
        self.expect(K::Semicolon, "`|` or `;`")?;
        // A datatype without fields is an enumeration.
        let plain =
            type_params.is_empty() && constructors.iter().all(|(_, fields)| fields.is_empty());
        let kind = if plain {
            TypeKind::Enum(constructors.into_iter().map(|(constructor, _)| constructor).collect())
        } else {
            TypeKind::Data(constructors)
        };
        let definition = Some(self.add_type(kind, span));
        self.file.items.push(Item::Type { name, type_params, definition });
        Some(())
    }

    fn constructor_fields(&mut self) -> Option<Vec<(Name, TypeId)>> {
        let mut fields = Vec::new();
        let opened = self.span(0);
        if !self.eat(K::LParen) {
            return Some(fields);
        }
        while !self.at(K::RParen) {
            let mut names = vec![self.declare("a field")?];
            while self.eat(K::Comma) {
                names.push(self.declare("a field")?);
            }
            self.expect(K::Colon, "`:` and a type")?;
            let ty = self.type_expr()?;
            fields.extend(names.into_iter().map(|name| (name, ty)));
            if !self.eat(K::Comma) && !self.eat(K::Semicolon) {
                break;
            }
        }
        self.expect_close(K::RParen, "`,` or `)`", opened)?;
        Some(fields)
    }

    /// Parses the pattern of the next arm; the expression machine parses the value after it.
    pub(super) fn match_arm(
        &mut self,
        machine: &mut Machine,
        start: u32,
        scrutinee: ExprId,
        arms: Vec<(Pattern, ExprId)>,
    ) -> Option<Next> {
        let pattern = self.pattern()?;
        self.expect(K::Colon, "`:` and the value of this arm")?;
        machine.push(Frame::MatchArm(Box::new(MatchHead { start, scrutinee, arms, pattern })));
        Some(Next::Operand)
    }

    pub(super) fn after_match_arm(
        &mut self,
        machine: &mut Machine,
        head: MatchHead,
        value: ExprId,
    ) -> Option<Next> {
        let MatchHead { start, scrutinee, mut arms, pattern } = head;
        arms.push((pattern, value));
        if self.eat(K::Bar) {
            return self.match_arm(machine, start, scrutinee, arms);
        }
        self.expect_word("end")?;
        Some(Next::Operator(self.add_since(ExprKind::Match(scrutinee, arms), start)))
    }

    /// A pattern; the nesting depth is limited like that of types.
    fn pattern(&mut self) -> Option<Pattern> {
        self.enter()?;
        let start = self.start();
        let pattern = self.pattern_here();
        self.leave();
        pattern.map(|kind| Pattern { kind, span: self.since(start) })
    }

    fn pattern_here(&mut self) -> Option<PatternKind> {
        let name = self.name("a pattern: a constructor, a name or `_`")?;
        if !self.at(K::LParen) {
            return Some(if &self.text[name.span.range()] == "_" {
                PatternKind::Any
            } else {
                PatternKind::Name(name)
            });
        }
        let opened = self.span(0);
        self.bump();
        let mut parts = Vec::new();
        while !self.at(K::RParen) {
            parts.push(self.pattern()?);
            if !self.eat(K::Comma) {
                break;
            }
        }
        self.expect_close(K::RParen, "`,` or `)`", opened)?;
        Some(PatternKind::Constructor(name, parts))
    }
}
