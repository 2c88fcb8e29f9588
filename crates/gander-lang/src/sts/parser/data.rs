//! Expressions about values of several parts: `p.x`, `Point{x: 1}`, `[a, b]`, `s is Circle`,
//! `match s { Circle(r) -> r, Empty -> 0 }`.

use super::expressions::{ANY, Height};
use super::{MAX_DEPTH, Parser};
use crate::sts::syntax::{SyntaxKind as K, is_reserved};

/// Words that follow a name `match` instead of beginning the value of a `match`.
const AFTER_NAME: &[&str] = &["leads", "under", "with", "is", "where"];

/// The tokens of a value in parentheses behind `match` that are looked at.
const MAX_LOOKAHEAD: usize = 200;

impl Parser<'_> {
    /// `.field` and further indices behind an expression. Each wraps all before it, so their number
    /// is bounded.
    pub(super) fn selections(&mut self, checkpoint: rowan::Checkpoint, height: Height) -> Height {
        let mut height = height;
        while !self.dot_ends && self.at(K::Dot) && self.kind(1) == K::Ident {
            if self.too_deep || height >= MAX_DEPTH {
                return self.nested_too_deeply();
            }
            self.start_at(checkpoint, K::SelectExpr);
            self.bump();
            self.bump();
            self.primes();
            self.end();
            height += 1;
            if self.at_index() {
                height = self.indices(checkpoint, height);
            }
        }
        height
    }

    /// True at `is Constructor` behind a value.
    pub(super) fn at_tester(&self) -> bool {
        self.at_word("is")
            && self.kind(1) == K::Ident
            && !self.newline_before(0)
            && !self.newline_before(1)
    }

    /// True at `Point{x: 1}`. An effect begins with a brace, too, but not with a name and a colon.
    pub(super) fn at_record(&self) -> bool {
        let kinds = [K::LBrace, K::Ident, K::Colon];
        kinds.iter().enumerate().all(|(k, kind)| self.kind(k + 1) == *kind)
            && !self.newline_before(1)
    }

    pub(super) fn record(&mut self) -> Height {
        self.start(K::RecordExpr);
        self.name_ref("a record");
        let opened = self.span(0);
        self.bump();
        let dot_ends = std::mem::replace(&mut self.dot_ends, false);
        let mut height = 1;
        while self.at(K::Ident) {
            self.start(K::FieldValue);
            let good = self.name("a field") && self.expect(K::Colon);
            if good {
                height = height.max(self.operand(ANY));
            }
            self.end();
            if !good || !self.eat(K::Comma) {
                break;
            }
        }
        self.dot_ends = dot_ends;
        self.expect_close(K::RBrace, opened);
        self.end();
        height + 1
    }

    /// `[a, b]`
    pub(super) fn list(&mut self) -> Height {
        self.start(K::ListExpr);
        let opened = self.span(0);
        self.bump();
        let dot_ends = std::mem::replace(&mut self.dot_ends, false);
        let mut height = 1;
        while !self.at(K::RBracket) && !self.at_end() {
            height = height.max(self.operand(ANY));
            if !self.eat(K::Comma) {
                break;
            }
        }
        self.dot_ends = dot_ends;
        self.expect_close(K::RBracket, opened);
        self.end();
        height + 1
    }

    /// True at `match` before a value, as opposed to something with the name `match`. Behind a
    /// value in parentheses a case must follow, as `match(x) { x := 1 }` may be a guard with an
    /// effect.
    pub(super) fn at_match(&self) -> bool {
        if self.kind(1) == K::LParen {
            return self.cases_behind_parentheses();
        }
        let next = self.word(1);
        self.kind(1) == K::Ident
            && !self.newline_before(1)
            && !is_reserved(next)
            && !AFTER_NAME.contains(&next)
    }

    fn cases_behind_parentheses(&self) -> bool {
        let mut open = 0usize;
        for ahead in 1..MAX_LOOKAHEAD {
            match self.kind(ahead) {
                K::LParen => open += 1,
                K::RParen if open == 1 => {
                    let begins = self.kind(ahead + 1) == K::LBrace
                        && self.kind(ahead + 2) == K::Ident
                        && !self.newline_before(ahead + 1);
                    return begins
                        && (matches!(self.kind(ahead + 3), K::LParen | K::Arrow)
                            || self.word(ahead + 2) == "else");
                }
                K::RParen => open -= 1,
                K::EndOfFile => return false,
                _ => {}
            }
        }
        false
    }

    /// `match s { Circle(r) -> r, Empty -> 0 }`
    pub(super) fn match_expression(&mut self) -> Height {
        self.start(K::MatchExpr);
        self.bump();
        let dot_ends = std::mem::replace(&mut self.dot_ends, false);
        let mut height = self.operand(ANY);
        let opened = self.span(0);
        if self.expect(K::LBrace) {
            while self.at(K::Ident) {
                self.start(K::MatchArm);
                let good = self.pattern() && self.expect(K::Arrow);
                if good {
                    height = height.max(self.operand(ANY));
                }
                self.end();
                let separated = self.eat(K::Comma) || self.eat(K::Semicolon);
                if !good || !(separated || self.newline_before(0)) {
                    break;
                }
            }
            self.expect_close(K::RBrace, opened);
        }
        self.dot_ends = dot_ends;
        self.end();
        height + 1
    }

    /// `Circle(r)`, `Empty` or `else`
    fn pattern(&mut self) -> bool {
        self.start(K::Pattern);
        let mut good = true;
        if self.at_word("else") {
            self.bump();
        } else {
            good = self.name_ref("a constructor, or `else`");
            let opened = self.span(0);
            if good && self.at(K::LParen) && !self.newline_before(0) {
                self.bump();
                while good && !self.at(K::RParen) {
                    good = self.name("a name for the field, or `_`");
                    if !self.eat(K::Comma) {
                        break;
                    }
                }
                good = good && self.expect_close(K::RParen, opened);
            }
        }
        self.end();
        good
    }
}
