//! Expressions, by operator precedence (Pratt).
//!
//! From tight to loose: an index `a[i]`; unary `-`; `^`; `* / % div mod`; `+ - ++`; `!`; `< <= > >=`;
//! `== !=`; `not`; `and &&`; `or ||`; `implies ->`; `iff <->`. A chain of operators of
//! one level is one node.

use super::{MAX_DEPTH, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::sts::syntax::{SyntaxKind as K, is_reserved};

/// How tight an operator binds; larger is tighter.
type Level = u8;

const ANY: Level = 0;
const NOT: Level = 5;
const EQUALITY: Level = 6;
const BANG: Level = 8;
const SUM: Level = 9;
const TIGHT: Level = 12;

/// Height of an expression in the tree.
type Height = u32;

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expression(&mut self) {
        self.too_deep = false;
        self.operand(ANY);
    }

    /// One bound of a range: at most sums, so that what follows is not swallowed.
    pub(super) fn bound(&mut self) {
        self.too_deep = false;
        self.operand(SUM);
    }

    pub(super) fn may_begin_expression(&self) -> bool {
        match self.kind(0) {
            K::Ident => {
                let word = self.word(0);
                !is_reserved(word) || matches!(word, "not" | "if" | "true" | "false" | "forall" | "exists" | "in")
            }
            K::Int | K::Decimal | K::Text | K::LParen | K::Minus | K::Bang => true,
            _ => false,
        }
    }

    /// The operator at the next token: how tight it binds and the node of its chains.
    fn operator(&self) -> Option<(Level, K)> {
        Some(match self.kind(0) {
            K::DoubleArrow => (1, K::IffExpr),
            K::Arrow => (2, K::ImpliesExpr),
            K::BarBar => (3, K::OrExpr),
            K::AndAnd => (4, K::AndExpr),
            K::EqEq | K::NotEq | K::Equals => (EQUALITY, K::EqExpr),
            K::Less | K::LessEq | K::Greater | K::GreaterEq => (7, K::RelExpr),
            K::Plus | K::Minus | K::PlusPlus => (SUM, K::AddExpr),
            K::Star | K::Slash | K::Percent => (10, K::MulExpr),
            K::Caret => (11, K::PowerExpr),
            K::Ident => match self.word(0) {
                "iff" => (1, K::IffExpr),
                "implies" => (2, K::ImpliesExpr),
                "or" => (3, K::OrExpr),
                "and" => (4, K::AndExpr),
                "div" | "mod" => (10, K::MulExpr),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// An expression whose operators all bind at least as tight as `least`.
    fn operand(&mut self, least: Level) -> Height {
        if self.depth >= MAX_DEPTH {
            return self.nested_too_deeply();
        }
        self.depth += 1;
        let checkpoint = self.checkpoint();
        let mut height = self.prefix();
        if self.at_index() {
            height = self.indices(checkpoint, height);
        }
        loop {
            if self.at(K::Stray) {
                // A character that is no operator, where one was meant; however many there are, one node.
                self.start_at(checkpoint, K::Error);
                while self.eat(K::Stray) {}
                if self.may_begin_expression() {
                    self.operand(least);
                }
                self.end();
                continue;
            }
            let Some((level, kind)) = self.operator().filter(|(level, _)| *level >= least) else {
                break;
            };
            self.start_at(checkpoint, kind);
            while self.operator().is_some_and(|(next, _)| next == level) {
                if self.at(K::Equals) {
                    self.single_equals();
                }
                self.bump();
                height = height.max(self.operand(level + 1));
            }
            self.end();
            height += 1;
        }
        self.depth -= 1;
        if height > MAX_DEPTH {
            self.report_too_deep();
            height = 0;
        }
        height
    }

    fn single_equals(&mut self) {
        let span = self.span(0);
        let diagnostic = Diagnostic::new(Code::E0112, span, "equality is written `==`")
            .here("a single `=` only defines constants, definitions and systems")
            .help("write `==`; to give a variable a new value write `:=`")
            .fix(span, "==");
        self.report(diagnostic);
    }

    fn report_too_deep(&mut self) {
        if !self.too_deep {
            self.too_deep = true;
            let span = if self.at_end() { self.missing_span() } else { self.span(0) };
            let diagnostic = Diagnostic::new(Code::E0111, span, "this expression is nested too deeply")
                .here(format!("more than {MAX_DEPTH} levels here"))
                .help("give parts of it names with `define`");
            self.report(diagnostic);
        }
    }

    /// Takes everything up to the bracket that closes this level into one flat node.
    fn nested_too_deeply(&mut self) -> Height {
        self.report_too_deep();
        self.start(K::Error);
        let mut open = 0usize;
        while !self.at_end() {
            match self.kind(0) {
                K::LParen | K::LBracket => open += 1,
                K::RParen | K::RBracket if open == 0 => break,
                K::RParen | K::RBracket => open -= 1,
                K::LBrace | K::RBrace => break,
                K::Ident if self.at_item_line() => break,
                _ => {}
            }
            self.bump();
        }
        // Whatever is missing now is missing because of this.
        self.last_error = Some(self.at);
        self.end();
        1
    }

    fn prefix(&mut self) -> Height {
        match self.kind(0) {
            K::Minus => self.unary(K::NegExpr, TIGHT),
            K::Bang => self.unary(K::NotExpr, BANG),
            K::Ident if self.at_word("not") => self.unary(K::NotExpr, NOT),
            _ => self.primary(),
        }
    }

    fn unary(&mut self, kind: K, least: Level) -> Height {
        self.start(kind);
        self.bump();
        let height = self.operand(least);
        self.end();
        height + 1
    }

    fn primary(&mut self) -> Height {
        match self.kind(0) {
            K::Int | K::Decimal | K::Text => {
                self.start(K::Literal);
                self.bump();
                self.end();
                1
            }
            K::LParen => self.parenthesised(),
            K::Ident if !self.at_item_line() => self.named_expression(),
            K::Stray => {
                self.start(K::Error);
                self.bump();
                self.end();
                if self.may_begin_expression() { self.operand(TIGHT) } else { 1 }
            }
            _ => self.no_expression(),
        }
    }

    fn no_expression(&mut self) -> Height {
        self.report_expected("an expression");
        // Keeps the place of the operand in the tree.
        self.start(K::Error);
        self.end();
        1
    }

    fn parenthesised(&mut self) -> Height {
        self.start(K::ParenExpr);
        let opened = self.span(0);
        self.bump();
        let dot_ends = std::mem::replace(&mut self.dot_ends, false);
        let height = self.operand(ANY);
        self.dot_ends = dot_ends;
        self.expect_close(K::RParen, opened);
        self.end();
        height + 1
    }

    fn named_expression(&mut self) -> Height {
        match self.word(0) {
            "true" | "false" => {
                self.start(K::Literal);
                self.bump();
                self.end();
                1
            }
            "if" => self.if_expression(),
            "forall" | "exists" => self.quantified(),
            "in" => {
                self.start(K::InExpr);
                self.bump();
                self.node_set();
                self.end();
                1
            }
            word if is_reserved(word) => self.no_expression(),
            _ if self.at_fill() => self.fill(),
            _ if self.kind(1) == K::LParen && !self.newline_before(1) => self.call(),
            _ => {
                let checkpoint = self.checkpoint();
                let field = !self.dot_ends && self.kind(1) == K::Dot && self.kind(2) == K::Ident;
                self.bump();
                if field {
                    self.bump();
                    self.bump();
                }
                if self.composed && !field && self.at_word("in") {
                    self.start_at(checkpoint, K::InExpr);
                    self.bump();
                    self.node_set();
                } else {
                    self.start_at(checkpoint, if field { K::FieldExpr } else { K::NameExpr });
                    self.primes();
                }
                self.end();
                1
            }
        }
    }

    fn primes(&mut self) {
        if self.eat(K::Prime) && self.at(K::Prime) {
            self.report_expected("at most one prime");
            while self.eat(K::Prime) {}
        }
    }

    /// Whether what stands before is an array: an index follows on the same line.
    fn at_index(&self) -> bool {
        self.at(K::LBracket) && !self.newline_before(0)
    }

    /// `a[i]`, `a[i := v]`, and more of them behind. Each is a node around all before it, so their number is bounded; after
    /// an expression that is too deep no more are nested, since heights are not known any more.
    fn indices(&mut self, checkpoint: rowan::Checkpoint, height: Height) -> Height {
        let mut height = height;
        while self.at_index() {
            if self.too_deep || height >= MAX_DEPTH {
                self.nested_too_deeply();
                break;
            }
            self.start_at(checkpoint, K::IndexExpr);
            let opened = self.span(0);
            self.bump();
            let dot_ends = std::mem::replace(&mut self.dot_ends, false);
            height = height.max(self.operand(ANY));
            if self.eat(K::Assign) {
                height = height.max(self.operand(ANY));
            }
            self.dot_ends = dot_ends;
            self.expect_close(K::RBracket, opened);
            self.end();
            height += 1;
        }
        height
    }

    /// `array[int](v)`: an array that is the same everywhere
    fn at_fill(&self) -> bool {
        let kinds = [K::LBracket, K::Ident, K::RBracket, K::LParen];
        self.word(0) == "array" && kinds.iter().enumerate().all(|(k, kind)| self.kind(k + 1) == *kind)
    }

    fn fill(&mut self) -> Height {
        self.start(K::FillExpr);
        self.bump();
        self.index_sort();
        let opened = self.span(0);
        self.bump();
        let dot_ends = std::mem::replace(&mut self.dot_ends, false);
        let height = self.operand(ANY);
        self.dot_ends = dot_ends;
        self.expect_close(K::RParen, opened);
        self.end();
        height + 1
    }

    fn call(&mut self) -> Height {
        self.start(K::CallExpr);
        self.bump();
        let opened = self.span(0);
        self.bump();
        let dot_ends = std::mem::replace(&mut self.dot_ends, false);
        let mut height = 0;
        while !self.at(K::RParen) && !self.at_end() {
            height = height.max(self.operand(ANY));
            if !self.eat(K::Comma) {
                break;
            }
        }
        self.dot_ends = dot_ends;
        self.expect_close(K::RParen, opened);
        self.end();
        height + 1
    }

    /// `if c then a else if d then b else e`, all in one node
    fn if_expression(&mut self) -> Height {
        self.start(K::IfExpr);
        let mut height = 0;
        loop {
            self.bump();
            height = height.max(self.operand(ANY));
            if !self.word_inside("then") {
                break;
            }
            height = height.max(self.operand(ANY));
            if !self.word_inside("else") {
                break;
            }
            if !self.at_word("if") {
                height = height.max(self.operand(ANY));
                break;
            }
        }
        self.end();
        height + 1
    }

    fn word_inside(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.bump();
        } else {
            self.report_expected(&format!("`{word}`"));
        }
        there
    }

    /// `forall x: int 0..3, y: bool. P`
    fn quantified(&mut self) -> Height {
        self.start(K::QuantExpr);
        self.bump();
        let dot_ends = std::mem::replace(&mut self.dot_ends, true);
        let mut good = self.param();
        while good && self.eat(K::Comma) {
            good = self.param();
        }
        self.dot_ends = dot_ends;
        let height = if good && self.expect(K::Dot) { self.operand(ANY) } else { 1 };
        self.end();
        height + 1
    }
}
