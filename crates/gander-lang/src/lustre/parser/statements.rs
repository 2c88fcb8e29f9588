//! The bodies of nodes: equations, assertions, annotations, imperative blocks.

use super::{K, Parser};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::{
    Branches, Equation, Name, Property, PropertyKind, Reach, Selector, Statement, Target,
};

/// What a body may contain, for messages.
const STATEMENT: &str = "an equation, `assert`, a property, or `tel`";

impl Parser<'_> {
    /// The statements after `let`, and `tel`.
    pub(super) fn body(&mut self) -> Vec<Statement> {
        let statements = self.statements(&["tel"]);
        if !self.eat_tel() {
            let diagnostic = Diagnostic { code: Code::E0134, ..self.expected("`tel`") };
            self.report(
                diagnostic.help("the body of a node begins with `let` and ends with `tel`"),
            );
        }
        statements
    }

    /// Parses statements up to one of these words, or to a token that cannot be in a body.
    fn statements(&mut self, ends: &[&str]) -> Vec<Statement> {
        let mut statements = Vec::new();
        loop {
            let ended = self.at(K::Word) && ends.contains(&self.word(0)) && !self.defines();
            // The end of an outer block also ends this one: its own end is missing.
            let outer = self.depth > 0
                && !self.defines()
                && matches!(self.word(0), "elsif" | "else" | "fi" | "end");
            if ended
                || outer
                || self.at(K::End)
                || self.at(K::Bar)
                || self.at_item()
                || self.at_word("tel")
            {
                return statements;
            }
            let before = self.at;
            if self.statement(&mut statements).is_none() {
                self.skip_statement();
            }
            if self.at == before {
                self.report_unexpected(STATEMENT);
                self.bump();
            }
        }
    }

    /// True if a word of Kind 2 is a variable being defined here. After an undeclared word, `[`
    /// starts an array: in `assert [x, 2] = a` as in `check [x, 2] = a`.
    fn defines(&self) -> bool {
        match self.kind(1) {
            K::Equals | K::Comma | K::Assign | K::Dot | K::EqEq => true,
            K::LBracket => self.is_declared(self.word(0)),
            _ => false,
        }
    }

    fn statement(&mut self, into: &mut Vec<Statement>) -> Option<()> {
        let start = self.start();
        let statement = match self.kind(0) {
            K::Property | K::OpenProperty => self.property()?,
            K::Main | K::OpenMain => {
                if let Some(main) = self.main()? {
                    into.push(main);
                }
                return Some(());
            }
            K::Ivc => self.ivc()?,
            K::Realizable => self.realizable()?,
            K::Semicolon => {
                // An empty statement, which JKind and Kind 2 do not allow either.
                self.report_unexpected(STATEMENT);
                return None;
            }
            K::Word if !self.defines() => match self.word(0) {
                "assert" => {
                    self.bump();
                    let expr = self.expression()?;
                    self.end_statement();
                    Statement::Assert { expr, span: self.since(start) }
                }
                "if" => self.if_block("fi")?,
                "check" => self.property()?,
                "frame" if self.kind(1) == K::LParen => self.frame_block()?,
                "when" => self.if_block("end")?,
                "cond" if self.kind(1) == K::Bar => self.cond_block()?,
                "match" => {
                    self.skip_to_end();
                    self.report_unsupported("`match`", self.since(start));
                    return Some(());
                }
                "automaton" => {
                    while !self.at(K::End) && !self.at_word("returns") && !self.at_item() {
                        self.bump();
                    }
                    self.report_unsupported("automata", self.since(start));
                    self.skip_returns();
                    return Some(());
                }
                "var" | "const" => {
                    let message = "local variables and constants are declared before `let`";
                    let diagnostic = Diagnostic::new(Code::E0110, self.span(0), message)
                        .help("move the declaration between the header and `let`");
                    self.report(diagnostic);
                    self.bump();
                    return None;
                }
                _ => Statement::Equation(self.equation()?),
            },
            _ => Statement::Equation(self.equation()?),
        };
        into.push(statement);
        Some(())
    }

    fn skip_returns(&mut self) {
        self.eat_word("returns");
        while self.at_name(0) || matches!(self.kind(0), K::Comma | K::DotDot | K::Dot) {
            self.bump();
        }
        self.eat(K::Semicolon);
    }

    /// Expects the semicolon of a statement. If it is missing, parsing continues at the next line
    /// or after the next semicolon.
    fn end_statement(&mut self) {
        if !self.semicolon() && !self.newline_before() {
            self.skip_statement();
        }
    }

    fn equation(&mut self) -> Option<Equation> {
        let start = self.start();
        let opened = self.span(0);
        let mut left = Vec::new();
        let inside = self.eat(K::LParen);
        if !(inside && self.at(K::RParen)) {
            loop {
                left.push(self.target()?);
                if !self.eat(K::Comma) {
                    break;
                }
            }
        }
        if inside {
            self.expect_close(K::RParen, "`,` or `)`", opened)?;
        }
        if self.at(K::Assign) || self.at(K::EqEq) {
            self.wrong_equals();
        } else if !self.eat(K::Equals) {
            if left.len() == 1 && self.at(K::LParen) {
                let diagnostic = self
                    .expected("`=`")
                    .help("the outputs of a call are given to variables: `x, y = N(…);`, without outputs `() = N(…);`");
                self.report(diagnostic);
            } else {
                self.report_expected("`=`");
            }
            return None;
        }
        let right = self.expression()?;
        self.end_statement();
        Some(Equation { left, right, span: self.since(start) })
    }

    fn target(&mut self) -> Option<Target> {
        if !self.at(K::Word) {
            self.report_unexpected(STATEMENT);
            return None;
        }
        let dotted = self.dotted_length();
        let name = if dotted > 0 && self.at_name(0) {
            self.take_dotted(dotted)
        } else {
            self.name(STATEMENT)?
        };
        let mut path = Vec::new();
        loop {
            let at = self.start();
            match self.kind(0) {
                K::LBracket => {
                    let opened = self.span(0);
                    self.bump();
                    let index = self.expression()?;
                    self.expect_close(K::RBracket, "`]`", opened)?;
                    path.push(Selector::Index(index));
                }
                K::Dot => {
                    self.bump();
                    path.push(Selector::Field(self.name("a field")?));
                }
                K::DotPercent => {
                    self.bump();
                    let number =
                        if self.at(K::Int) { self.text_of(self.at).parse().ok() } else { None };
                    let Some(number) = number else {
                        self.report_expected("the number of a component");
                        return None;
                    };
                    self.bump();
                    path.push(Selector::Component(number, self.since(at)));
                }
                _ => return Some(Target { name, path, span: self.since(name.span.start) }),
            }
        }
    }

    // Annotations.

    /// `--%PROPERTY …;`, `(*%PROPERTY … *)`, `check …;`
    fn property(&mut self) -> Option<Statement> {
        let start = self.start();
        let block = self.at(K::OpenProperty);
        self.bump();
        let reachable = self.at_keyword("reachable") && !self.alone();
        if reachable || self.at_keyword("invariant") && !self.alone() {
            self.bump();
        }
        let name = self.label();
        self.eat(K::Colon);
        let expr = self.expression()?;
        let mut provided = None;
        let mut reach = Reach::default();
        if reachable {
            self.reach(&mut reach)?;
        } else if self.eat_word("provided") {
            provided = Some(self.expression()?);
        }
        if block {
            self.eat(K::Semicolon);
            self.expect(K::CloseAnnotation, "`;` and `*)`")?;
        } else {
            self.end_statement();
        }
        let kind = if reachable { PropertyKind::Reachable(reach) } else { PropertyKind::Always };
        Some(Statement::Property(Property { name, expr, provided, kind, span: self.since(start) }))
    }

    /// True if the next word is a whole expression: a variable of that name.
    fn alone(&self) -> bool {
        !matches!(
            self.kind(1),
            K::Text
                | K::Word
                | K::Int
                | K::Real
                | K::LParen
                | K::LBracket
                | K::Minus
                | K::Tick
                | K::Bang
                | K::ColonColon
                | K::Hash
                | K::Colon
        )
    }

    fn reach(&mut self, reach: &mut Reach) -> Option<()> {
        loop {
            let word = self.word(0);
            let slot = match word {
                "from" => &mut reach.from,
                "within" => &mut reach.within,
                "at" => &mut reach.at,
                _ => return Some(()),
            };
            let number =
                if self.kind(1) == K::Int { self.text_of(self.at + 1).parse().ok() } else { None };
            *slot = number;
            self.bump();
            if number.is_none() {
                self.report_expected("a number of steps");
                return None;
            }
            self.bump();
        }
    }

    /// `--%MAIN`, `--!MAIN : true;`, `(*!MAIN : false; *)`
    fn main(&mut self) -> Option<Option<Statement>> {
        let start = self.start();
        let block = self.at(K::OpenMain);
        self.bump();
        let mut chosen = true;
        if self.at(K::Colon) {
            self.bump();
            if self.eat_word("false") {
                chosen = false;
            } else {
                self.expect_word("true")?;
            }
        }
        self.eat(K::Semicolon);
        if block {
            self.expect(K::CloseAnnotation, "`*)`")?;
        }
        Some(chosen.then(|| Statement::Main(self.since(start))))
    }

    fn ivc(&mut self) -> Option<Statement> {
        self.bump();
        let mut elements = Vec::new();
        while !self.at(K::Semicolon) {
            let expr = self.expression()?;
            elements.push((expr, self.span_of(expr)));
            if !self.eat(K::Comma) {
                break;
            }
        }
        self.end_statement();
        Some(Statement::Ivc(elements))
    }

    fn realizable(&mut self) -> Option<Statement> {
        let start = self.start();
        self.bump();
        let names = if self.at(K::Semicolon) { Vec::new() } else { self.names()? };
        self.end_statement();
        Some(Statement::Realizable(names, self.since(start)))
    }

    fn names(&mut self) -> Option<Vec<Name>> {
        let mut names = vec![self.name("the name of a variable")?];
        while self.eat(K::Comma) {
            names.push(self.name("the name of a variable")?);
        }
        Some(names)
    }

    // Imperative blocks.

    /// `if c then … elsif d then … else … fi`; `when c then … else … end` is lazy.
    fn if_block(&mut self, end: &str) -> Option<Statement> {
        self.enter()?;
        let found = self.if_arms(end);
        self.leave();
        found
    }

    fn if_arms(&mut self, end: &str) -> Option<Statement> {
        let start = self.start();
        let mut arms = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            self.bump();
            let condition = self.expression()?;
            self.expect_word("then")?;
            let statements = self.statements(&["elsif", "else", end]);
            arms.push((condition, statements));
            if !self.at_word("elsif") {
                break;
            }
        }
        if self.eat_word("else") {
            otherwise = self.statements(&[end]);
        }
        if !self.eat_word(end) {
            let opened = crate::diagnostics::span::Span::new(start, start + 2);
            let diagnostic = self.expected(&format!("`{end}`")).label(opened, "to end this block");
            self.report(diagnostic);
            return None;
        }
        self.eat(K::Semicolon);
        let branches = if end == "fi" { Branches::Strict } else { Branches::Lazy };
        Some(Statement::If { branches, arms, otherwise, span: self.since(start) })
    }

    /// `cond | c: … | d: … otherwise: … end`
    fn cond_block(&mut self) -> Option<Statement> {
        self.enter()?;
        let found = self.cond_arms();
        self.leave();
        found
    }

    fn cond_arms(&mut self) -> Option<Statement> {
        let start = self.start();
        let opened = self.span(0);
        self.bump();
        let mut arms = Vec::new();
        while self.eat(K::Bar) {
            let condition = self.expression()?;
            self.expect(K::Colon, "`:` and statements")?;
            arms.push((condition, self.statements(&["otherwise", "end"])));
        }
        let mut otherwise = Vec::new();
        if self.eat_word("otherwise") {
            self.expect(K::Colon, "`:` and statements")?;
            otherwise = self.statements(&["end"]);
        }
        if !self.eat_word("end") {
            let diagnostic =
                self.expected("`|`, `otherwise` or `end`").label(opened, "to end this block");
            self.report(diagnostic);
            return None;
        }
        self.eat(K::Semicolon);
        Some(Statement::If { branches: Branches::Lazy, arms, otherwise, span: self.since(start) })
    }

    /// `frame (x, y) x = 0; let … tel`
    fn frame_block(&mut self) -> Option<Statement> {
        self.enter()?;
        let found = self.frame();
        self.leave();
        found
    }

    fn frame(&mut self) -> Option<Statement> {
        let start = self.start();
        self.bump();
        let opened = self.span(0);
        self.bump();
        let vars = self.names()?;
        self.expect_close(K::RParen, "`,` or `)`", opened)?;
        let mut initial = Vec::new();
        while self.at(K::LParen) || self.at_name(0) {
            initial.push(self.equation()?);
        }
        if !self.eat_word("let") {
            self.report_expected("`let` and the body of the frame");
            return None;
        }
        let body = self.statements(&["tel"]);
        if !self.eat_tel() {
            let diagnostic = Diagnostic { code: Code::E0134, ..self.expected("`tel`") };
            self.report(diagnostic.label(opened, "to end this frame"));
            return None;
        }
        Some(Statement::Frame { vars, initial, body, span: self.since(start) })
    }
}
