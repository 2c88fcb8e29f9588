//! Expressions, by operator precedence (Pratt).
//!
//! From tight to loose: an index `a[i]`; unary `-`; `^`; `* / % div mod`; `+ - ++`; `!`;
//! `< <= > >=`; `== !=`; `not`; `and &&`; `or ||`; `implies ->`; `iff <->`. A chain of operators
//! of one level is one node.

use super::{MAX_DEPTH, Parser};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::syntax::{SyntaxKind as K, is_reserved};

/// Binding strength of an operator; larger is tighter.
pub(super) type Level = u8;

pub(super) const ANY: Level = 0;
const NOT: Level = 5;
const EQUALITY: Level = 6;
const COMPARISON: Level = 7;
const BANG: Level = 8;
const SUM: Level = 9;
const TIGHT: Level = 12;

/// Height of an expression in the tree.
pub(super) type Height = u32;

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expression(&mut self) {
        self.too_deep = false;
        self.operand(ANY);
    }

    /// One bound of a range: sums and tighter operators only, so that it ends before the next
    /// clause.
    pub(super) fn bound(&mut self) {
        self.too_deep = false;
        self.operand(SUM);
    }

    pub(super) fn may_begin_expression(&self) -> bool {
        match self.kind(0) {
            K::Ident => {
                let word = self.word(0);
                !is_reserved(word)
                    || matches!(word, "not" | "if" | "true" | "false" | "forall" | "exists" | "in")
            }
            K::Int | K::Decimal | K::Text | K::LParen | K::LBracket | K::Minus | K::Bang => true,
            _ => false,
        }
    }

    /// The operator at the next token: its binding strength and the node kind of its chains.
    fn operator(&self) -> Option<(Level, K)> {
        Some(match self.kind(0) {
            K::DoubleArrow => (1, K::IffExpr),
            K::Arrow => (2, K::ImpliesExpr),
            K::BarBar => (3, K::OrExpr),
            K::AndAnd => (4, K::AndExpr),
            K::EqEq | K::NotEq | K::Equals => (EQUALITY, K::EqExpr),
            K::Less | K::LessEq | K::Greater | K::GreaterEq => (COMPARISON, K::RelExpr),
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

    /// An expression whose operators all bind at least as tightly as `least`.
    pub(super) fn operand(&mut self, least: Level) -> Height {
        if self.depth >= MAX_DEPTH {
            return self.nested_too_deeply();
        }
        self.depth += 1;
        let checkpoint = self.checkpoint();
        let literal = matches!(self.kind(0), K::Int | K::Decimal | K::Text);
        let mut height = self.prefix();
        if self.at_index() {
            height = self.indices(checkpoint, height);
            height = self.of_instance(checkpoint, height);
        }
        if !literal {
            height = self.selections(checkpoint, height);
        }
        loop {
            if least <= COMPARISON && self.at_tester() {
                self.start_at(checkpoint, K::IsExpr);
                self.bump();
                self.name_ref("a constructor");
                self.end();
                height += 1;
                continue;
            }
            if self.at(K::Stray) {
                // Characters that are no operator where one is expected; consecutive ones form one
                // error node.
                self.start_at(checkpoint, K::Error);
                let choice = self.token_text(0) == "?";
                while self.eat(K::Stray) {}
                if self.may_begin_expression() {
                    self.operand(least);
                }
                // `c ? a : b`
                if choice && self.eat(K::Colon) && self.may_begin_expression() {
                    self.operand(least);
                }
                self.end();
                continue;
            }
            if let Some(ours) = self.capital_operator() {
                self.report_capitals(ours);
                self.start_at(checkpoint, K::Error);
                self.bump();
                self.operand(least);
                self.end();
                continue;
            }
            if self.at_increment() {
                self.increment(checkpoint);
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

    /// At `AND`, `Or` and the like between two operands: the operator in lower case. Such a word
    /// may also be the gate of the next transition.
    fn capital_operator(&self) -> Option<&'static str> {
        let word = self.word(0);
        let ours = ["and", "or", "implies", "iff", "div", "mod"];
        let ours = ours.into_iter().find(|w| word != *w && word.eq_ignore_ascii_case(w))?;
        let gate = matches!(self.word(1), "when" | "in")
            || matches!(self.kind(1), K::Arrow | K::LBrace | K::Colon)
            || (self.kind(1) == K::LParen && self.kind(2) == K::Ident && self.kind(3) == K::Colon);
        let operand = matches!(
            self.kind(1),
            K::Ident | K::Int | K::Decimal | K::Text | K::LParen | K::Minus | K::Bang
        );
        let apart = self.newline_before(0) || self.newline_before(1);
        (operand && !gate && !apart).then_some(ours)
    }

    fn report_capitals(&mut self, ours: &str) {
        let span = self.span(0);
        let message = format!("`{}` is not an operator", self.word(0));
        let diagnostic = Diagnostic::new(Code::E0110, span, message)
            .help(format!("words are written in lower case: `{ours}`"))
            .fix(span, ours);
        self.report(diagnostic);
    }

    /// True at `x++` or `x--`, behind the name.
    fn at_increment(&self) -> bool {
        let (length, ends) = match (self.kind(0), self.kind(1)) {
            (K::PlusPlus, _) => (1, self.kind(1)),
            (K::Minus, K::Minus) => (2, self.kind(2)),
            _ => return false,
        };
        self.newline_before(length)
            || matches!(ends, K::RBrace | K::Comma | K::Semicolon | K::EndOfFile)
    }

    fn increment(&mut self, checkpoint: rowan::Checkpoint) {
        let sign = if self.at(K::PlusPlus) { "+" } else { "-" };
        let before = self.at.checked_sub(1).and_then(|last| self.tokens.get(last));
        let name = before.filter(|token| token.kind == K::Ident).map(|token| {
            let place = Span::new(token.start, self.end_of(token));
            (place, &self.text[place.range()])
        });
        let sign_end = self.span(if self.at(K::PlusPlus) { 0 } else { 1 }).end;
        let fix = name.map(|(place, name)| {
            (Span::new(place.start, sign_end), format!("{name} := {name} {sign} 1"))
        });
        let name = name.map_or("x", |(_, name)| name);
        let message = format!("`{sign}{sign}` does not change a variable");
        let diagnostic = Diagnostic::new(Code::E0110, self.span(0), message)
            .help(format!("write `{name} := {name} {sign} 1`"));
        let diagnostic = match fix {
            Some((span, text)) => diagnostic.fix(span, text),
            None => diagnostic,
        };
        self.report(diagnostic);
        self.start_at(checkpoint, K::Error);
        if !self.eat(K::PlusPlus) {
            self.bump();
            self.bump();
        }
        self.end();
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
            let diagnostic =
                Diagnostic::new(Code::E0111, span, "this expression is nested too deeply")
                    .here(format!("more than {MAX_DEPTH} levels here"))
                    .help("give parts of it names with `define`");
            self.report(diagnostic);
        }
    }

    /// Consumes everything up to the bracket that closes this level into one flat error node.
    pub(super) fn nested_too_deeply(&mut self) -> Height {
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
        // Suppress follow-up errors about missing tokens.
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
            K::LBracket => self.list(),
            K::Prime if matches!(self.kind(1), K::Ident | K::Int | K::Prime) => self.quoted(),
            K::Ident if !self.at_item_line() => self.named_expression(),
            K::Stray => {
                self.error_token();
                if self.may_begin_expression() { self.operand(TIGHT) } else { 1 }
            }
            _ => self.no_expression(),
        }
    }

    fn no_expression(&mut self) -> Height {
        self.report_expected("an expression");
        // An empty node for the missing operand.
        self.start(K::Error);
        self.end();
        1
    }

    /// `'abc'`, which is no string here.
    fn quoted(&mut self) -> Height {
        let start = self.span(0).start;
        let mut length = 1;
        while self.kind(length) != K::Prime {
            if self.kind(length) == K::EndOfFile || self.newline_before(length) {
                return self.no_expression();
            }
            length += 1;
        }
        let span = Span::new(start, self.span(length).end);
        let inner = &self.text[start as usize + 1..span.end as usize - 1];
        let ours = format!("\"{inner}\"");
        let diagnostic =
            Diagnostic::new(Code::E0103, span, "a string is written with double quotes")
                .help(format!("write `{ours}`"))
                .fix(span, ours);
        self.report(diagnostic);
        self.start(K::Error);
        for _ in 0..=length {
            self.bump();
        }
        self.end();
        1
    }

    fn parenthesised(&mut self) -> Height {
        self.start(K::ParenExpr);
        self.operand_in_parentheses()
    }

    /// `(a)`, at the end of a node.
    fn operand_in_parentheses(&mut self) -> Height {
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
            "match" if self.at_match() => self.match_expression(),
            "forall" | "exists" if self.at_family_quantifier() => self.over_family(),
            "count" | "sum" if self.at_family_quantifier() => self.over_family(),
            "forall" | "exists" => self.quantified(),
            "in" => {
                self.start(K::InExpr);
                self.bump();
                self.node_set();
                self.end();
                1
            }
            word if is_reserved(word) => self.no_expression(),
            "NOT" | "Not" if self.kind(1) == K::Ident && !self.newline_before(1) => {
                self.report_capitals("not");
                self.unary(K::NotExpr, NOT)
            }
            _ if self.at_fill() => self.fill(),
            _ if self.at_record() => self.record(),
            _ if self.kind(1) == K::LParen && !self.newline_before(1) => self.call(),
            _ => {
                let checkpoint = self.checkpoint();
                let field = !self.dot_ends && self.kind(1) == K::Dot && self.kind(2) == K::Ident;
                let is_instance = self.composed || self.referred.contains(&self.word(0));
                self.bump();
                if field {
                    self.bump();
                    self.bump();
                }
                if is_instance && !field && self.at_word("in") {
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

    pub(super) fn primes(&mut self) {
        if self.eat(K::Prime) && self.at(K::Prime) {
            self.report_expected("at most one prime");
            while self.eat(K::Prime) {}
        }
    }

    /// True if an index follows on the same line.
    pub(super) fn at_index(&self) -> bool {
        self.at(K::LBracket) && !self.newline_before(0)
    }

    /// `a[i]`, `a[i := v]`, and further indices. Each wraps all before it, so their number is
    /// bounded. After an expression that is too deep no more are nested, since heights are unknown
    /// then.
    pub(super) fn indices(&mut self, checkpoint: rowan::Checkpoint, height: Height) -> Height {
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

    /// `accounts[i].balance` and `accounts[i] in Open`, behind the index.
    fn of_instance(&mut self, checkpoint: rowan::Checkpoint, height: Height) -> Height {
        if !self.composed {
            return height;
        }
        if !self.dot_ends && self.at(K::Dot) && self.kind(1) == K::Ident {
            self.start_at(checkpoint, K::MemberExpr);
            self.bump();
            self.bump();
            self.end();
            let indexed = self.at_index();
            return if indexed { self.indices(checkpoint, height + 1) } else { height + 1 };
        }
        if self.at_word("in") && !self.newline_before(0) {
            self.start_at(checkpoint, K::InExpr);
            self.bump();
            self.node_set();
            self.end();
            return height + 1;
        }
        height
    }

    /// True at `forall i in f`, `exists i, j in f`, `count i.`, `sum i != j`: indices of families
    /// of instances. Bound variables of the other quantifiers have a sort.
    fn at_family_quantifier(&self) -> bool {
        if !self.composed || self.kind(1) != K::Ident {
            return false;
        }
        let mut ahead = 2;
        while matches!(self.kind(ahead), K::Comma | K::NotEq) && self.kind(ahead + 1) == K::Ident {
            ahead += 2;
        }
        match self.kind(ahead) {
            K::Dot => true,
            // `forall k in 0..3` is a mistake that has its own message.
            K::Ident => match self.word(ahead) {
                "in" => self.kind(ahead + 1) == K::Ident,
                word => word == "where",
            },
            _ => false,
        }
    }

    /// `forall i, j in f where i != j. P`, `exists i in f, j in g. P`
    fn over_family(&mut self) -> Height {
        let is_number = matches!(self.word(0), "count" | "sum");
        self.start(K::FamilyExpr);
        self.bump();
        let dot_ends = std::mem::replace(&mut self.dot_ends, true);
        let mut good = self.indices_of_families();
        self.dot_ends = dot_ends;
        good = good && self.expect(K::Dot);
        // `count i. a[i] in Open <= 1` compares the number.
        let height = match good {
            true => self.operand(if is_number { BANG } else { ANY }),
            false => 1,
        };
        self.end();
        height + 1
    }

    /// `i, j in f where i != j`, `i != j in f`, or `i in f, j in g`
    pub(super) fn indices_of_families(&mut self) -> bool {
        let mut good = self.index_name();
        while good {
            if self.at(K::Comma) || self.at(K::NotEq) {
                self.bump();
                good = self.index_name();
            } else if self.at_word("in") {
                self.bump();
                good = self.name_ref("the name of a family");
                if !self.at(K::Comma) {
                    break;
                }
            } else {
                break;
            }
        }
        if good && self.at_word("where") {
            self.bump();
            self.too_deep = false;
            self.operand(ANY);
        }
        good
    }

    fn index_name(&mut self) -> bool {
        self.named(K::Index, "a name for an index")
    }

    /// True at `array[int](v)`, a constant array
    fn at_fill(&self) -> bool {
        let kinds = [K::LBracket, K::Ident, K::RBracket, K::LParen];
        self.word(0) == "array"
            && kinds.iter().enumerate().all(|(k, kind)| self.kind(k + 1) == *kind)
    }

    fn fill(&mut self) -> Height {
        self.start(K::FillExpr);
        self.bump();
        self.index_sort();
        self.operand_in_parentheses()
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
        let foreign = self.word(1) == "in";
        let mut good = self.bound_variable();
        while good && self.eat(K::Comma) {
            good = self.bound_variable();
        }
        self.dot_ends = dot_ends;
        if good && foreign && self.at(K::Colon) {
            self.bump();
        } else if good && self.at(K::Colon) {
            let span = self.span(0);
            let diagnostic = Diagnostic::new(Code::E0110, span, "a dot ends the bounds")
                .help("write `forall k: int 0..3. p`")
                .fix(span, ".");
            self.report(diagnostic);
            self.bump();
        } else {
            good = good && self.expect(K::Dot);
        }
        let height = if good { self.operand(ANY) } else { 1 };
        self.end();
        height + 1
    }

    /// `x: int 0..3`; `x in 0..3` is reported.
    fn bound_variable(&mut self) -> bool {
        if !self.at(K::Ident) || self.word(1) != "in" {
            return self.param();
        }
        let name = self.word(0);
        let span = self.span(1);
        self.start(K::Error);
        self.bump();
        self.last_error = None;
        let from = self.span(1).start as usize;
        let diagnostic =
            Diagnostic::new(Code::E0110, span, "the variable of a quantifier has a sort");
        self.bump();
        self.bound();
        if self.eat(K::DotDot) {
            self.bound();
        }
        let range = self.text.get(from..self.end_of_last() as usize).unwrap_or("0..3");
        let help = format!("write `forall {name}: int {range}. p`");
        self.diagnostics.push(diagnostic.help(help));
        self.end();
        true
    }
}
