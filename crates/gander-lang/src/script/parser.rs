//! Parses tokens to syntax: blocks, declarations, rules, goals. After an error the parser continues
//! after the next `;` or at the next block, so one mistake causes one message.

use gander_runtime::check_cancelled;

use super::lexer::{Kind, Token, lex};
use super::syntax::*;
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;

/// The words that start a block.
pub(crate) const HEADERS: &[&str] = &[
    "MAXSTEPS", "VARS", "INIT", "TRANS", "PROGRAM", "PROCESS", "REACH", "INF", "SAFE", "LIVENESS",
    "POSSIBLE", "DEADLOCK", "CHECK",
];
const GOALS: &[&str] = &["REACH", "INF", "SAFE", "LIVENESS", "POSSIBLE", "DEADLOCK", "CHECK"];
/// The nesting depth of brackets in a program.
const MAX_PROGRAM_DEPTH: usize = 100;

pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    report: &'a mut Report,
    pub(super) script: Script,
    /// True if `=` after the current expression is a mistake.
    pub(super) formula_expected: bool,
    /// The process whose blocks are being parsed.
    process: Option<usize>,
}

/// Parses a script.
pub(crate) fn parse(text: &str, report: &mut Report) -> Script {
    let tokens = lex(text, report);
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        report,
        script: Script::default(),
        formula_expected: false,
        process: None,
    };
    parser.blocks();
    parser.script
}

impl Parser<'_> {
    pub(crate) fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    pub(crate) fn text(&self) -> &str {
        &self.text[self.span().range()]
    }

    pub(crate) fn bump(&mut self) {
        check_cancelled();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(crate) fn at(&self, sign: &str) -> bool {
        matches!(self.kind(), Kind::Sign(s) if s == sign)
    }

    fn at_word(&self, word: &str) -> bool {
        self.kind() == Kind::Ident && self.text() == word
    }

    pub(crate) fn ahead(&self, distance: usize) -> Token {
        self.tokens[(self.at + distance).min(self.tokens.len() - 1)]
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.at(sign);
        if found {
            self.bump();
        }
        found
    }

    pub(crate) fn fail(&mut self, diagnostic: Diagnostic) {
        self.report.add(diagnostic);
    }

    /// The found token, for messages.
    fn found(&self) -> String {
        match self.kind() {
            Kind::End => "the end of the file".to_string(),
            _ => format!("`{}`", self.text().chars().take(30).collect::<String>()),
        }
    }

    pub(crate) fn expected(&mut self, what: &str) {
        let message = format!("expected {what}, but found {}", self.found());
        self.fail(Diagnostic::new(Code::E0110, self.span(), message));
    }

    pub(crate) fn name(&mut self, what: &str) -> Option<Name> {
        if self.kind() != Kind::Ident || self.header().is_some() {
            self.expected(what);
            return None;
        }
        let name = Name { text: self.text().to_string(), span: self.span() };
        if matches!(
            name.text.as_str(),
            "true" | "false" | "const" | "nondet" | "proc" | "int" | "bool"
        ) {
            let message = format!("`{}` is a word of the language and cannot be a name", name.text);
            self.fail(Diagnostic::new(Code::E0113, name.span, message));
            return None;
        }
        self.bump();
        Some(name)
    }

    /// The keyword that starts a block here, if any.
    pub(crate) fn header(&self) -> Option<&'static str> {
        if self.kind() != Kind::Ident {
            return None;
        }
        let text = self.text();
        HEADERS.iter().copied().find(|h| *h == text)
    }

    /// A misspelt word before a colon: `SAFETY:`, `VARs:`.
    fn misspelt_header(&self) -> Option<&'static str> {
        if self.kind() != Kind::Ident || self.ahead(1).kind != Kind::Sign(":") {
            return None;
        }
        let text = self.text();
        let upper = text.to_ascii_uppercase();
        let other = match upper.as_str() {
            "SAFETY" | "INVARIANT" | "ALWAYS" => Some("SAFE"),
            "LIVE" | "EVENTUALLY" => Some("LIVENESS"),
            "REACHABLE" | "REACHABILITY" => Some("REACH"),
            "INFINITE" | "LOOP" | "INFINITY" => Some("INF"),
            "VARIABLES" | "VAR" => Some("VARS"),
            "TRANSITIONS" | "RULES" => Some("TRANS"),
            "INITIAL" => Some("INIT"),
            _ => None,
        };
        let letters = text.chars().filter(|c| c.is_ascii_uppercase()).count();
        other
            .or_else(|| HEADERS.iter().copied().find(|h| *h == upper))
            .or_else(|| if letters > 2 { nearest(&upper, HEADERS.iter().copied()) } else { None })
    }

    /// Skips past the next `;`, or to the next block.
    fn recover(&mut self) {
        while self.kind() != Kind::End
            && self.header().is_none()
            && self.misspelt_header().is_none()
        {
            if self.eat(";") {
                return;
            }
            self.bump();
        }
    }

    fn at_block_end(&self) -> bool {
        self.kind() == Kind::End || self.header().is_some() || self.misspelt_header().is_some()
    }

    fn block(&mut self) -> &mut Block {
        match self.process {
            Some(p) => &mut self.script.processes[p].block,
            None => &mut self.script.block,
        }
    }

    fn blocks(&mut self) {
        if self.kind() == Kind::End {
            let diagnostic = Diagnostic::new(Code::E0505, Span::at(0), "this script is empty");
            self.fail(diagnostic.help("begin with `VARS:`"));
        }
        while self.kind() != Kind::End && !self.report.is_full() {
            let start = self.span();
            let word = match (self.header(), self.misspelt_header()) {
                (Some(word), _) => word,
                (None, Some(word)) => {
                    let message = format!("there is no block `{}`", self.text());
                    let diagnostic = Diagnostic::new(Code::E0116, start, message);
                    self.fail(diagnostic.did_you_mean(Some(word)));
                    word
                }
                (None, None) => {
                    let message =
                        format!("expected the beginning of a block, but found {}", self.found());
                    let diagnostic = Diagnostic::new(Code::E0116, start, message);
                    self.fail(diagnostic.help(format!("the blocks are {}", HEADERS.join(", "))));
                    self.bump();
                    self.recover();
                    continue;
                }
            };
            self.bump();
            match word {
                "PROCESS" => {
                    if let Some(name) = self.name("the name of the process") {
                        self.process = Some(self.script.processes.len());
                        self.script.processes.push(Process { name, block: Block::default() });
                    }
                    self.colon(word);
                }
                _ if GOALS.contains(&word) => self.goal(word, start),
                "PROGRAM" => {
                    self.colon(word);
                    self.process = None;
                    if let Some(first) = self.script.program_span {
                        let diagnostic =
                            Diagnostic::new(Code::E0201, start, "there are two programs");
                        self.fail(diagnostic.label(first, "the first one"));
                    }
                    self.script.program_span = Some(start);
                    self.script.program.clear();
                    if self.program(0, 0).is_none() {
                        self.recover();
                    }
                    self.eat(";");
                }
                "MAXSTEPS" => {
                    self.colon(word);
                    self.process = None;
                    match self.expression() {
                        Some(_) if self.script.max_steps.is_some() => {
                            self.fail(Diagnostic::new(
                                Code::E0201,
                                start,
                                "`MAXSTEPS` is given twice",
                            ));
                        }
                        found => self.script.max_steps = found,
                    }
                    self.eat(";");
                }
                "VARS" => self.statements(word, Parser::declaration),
                "INIT" => self.statements(word, Parser::init),
                _ => {
                    self.block().trans = Some(start);
                    self.statements(word, Parser::rule);
                }
            }
        }
    }

    fn colon(&mut self, word: &str) {
        if !self.eat(":") {
            let place = Span::at(self.tokens[self.at.saturating_sub(1)].span.end);
            let diagnostic =
                Diagnostic::new(Code::E0110, place, format!("`:` is missing behind `{word}`"));
            self.fail(diagnostic.help("write `:`").fix(place, ":"));
        }
    }

    fn statements(&mut self, word: &str, one: fn(&mut Self) -> Option<()>) {
        self.colon(word);
        while !self.at_block_end() {
            if self.eat(";") {
                continue;
            }
            let before = self.at;
            if one(self).is_none() {
                if self.at == before {
                    self.bump();
                }
                self.recover();
                continue;
            }
            if !self.eat(";") && !self.at_block_end() {
                let place = Span::at(self.tokens[self.at - 1].span.end);
                let message = format!("`;` is missing before {}", self.found());
                self.fail(
                    Diagnostic::new(Code::E0110, place, message).help("write `;`").fix(place, ";"),
                );
                self.recover();
            }
        }
    }

    fn declaration(&mut self) -> Option<()> {
        if self.at_word("proc") {
            self.bump();
            let name = self.name("the name of an instance")?;
            if !self.eat("=") {
                self.expected("`=` and the name of a process");
                return None;
            }
            let of = self.name("the name of a process")?;
            self.block().procs.push((name, of));
            return Some(());
        }
        if self.at_word("state") {
            self.bump();
            loop {
                let name = self.name("the name of a state")?;
                self.block().states.push(name);
                if !self.eat(",") {
                    return Some(());
                }
            }
        }
        let constant = self.at_word("const");
        let nondet = self.at_word("nondet");
        if constant || nondet {
            self.bump();
        }
        let sort = match self.text() {
            "int" => Type::Int,
            "bool" => Type::Bool,
            other => {
                let near = nearest(other, ["int", "bool", "const", "nondet", "proc", "state"]);
                let message = format!("expected `int` or `bool`, but found {}", self.found());
                let help = "a declaration is `int x;`, `int x : 0..9;`, `nondet bool b;`, `const int N = 3;`, \
                            `proc P = process;` or `state A, B;`";
                let diagnostic = Diagnostic::new(Code::E0110, self.span(), message);
                self.fail(if near.is_some() {
                    diagnostic.did_you_mean(near)
                } else {
                    diagnostic.help(help)
                });
                return None;
            }
        };
        self.bump();
        let name = self.name("a name")?;
        let what = if constant {
            if !self.eat("=") {
                let message = format!("the constant `{}` needs a value", name.text);
                let diagnostic = Diagnostic::new(Code::E0110, self.span(), message);
                self.fail(diagnostic.help(format!("write `const int {} = 1;`", name.text)));
                return None;
            }
            Declared::Const { value: self.expression()? }
        } else {
            if self.at("=") {
                let diagnostic = Diagnostic::new(
                    Code::E0110,
                    self.span(),
                    "a variable gets its first value in `INIT`",
                )
                .help(format!(
                    "write `{} = …;` in the `INIT` block, or declare a `const`",
                    name.text
                ));
                self.fail(diagnostic);
                return None;
            }
            if matches!(self.kind(), Kind::Number | Kind::Sign("-"))
                || self.ahead(1).kind == Kind::Sign("..")
            {
                let place = Span::at(self.span().start);
                let message = format!("`:` is missing between `{}` and its range", name.text);
                self.fail(
                    Diagnostic::new(Code::E0110, place, message).help("write `:`").fix(place, ": "),
                );
                self.range()?;
                return Some(());
            }
            let range = if self.eat(":") { Some(self.range()?) } else { None };
            Declared::Variable { nondet, range }
        };
        self.block().declarations.push(Declaration { name, sort, what });
        self.further_names(sort, nondet)
    }

    /// Names after a comma, which the language does not allow: declare them anyway, so that there
    /// is one message.
    fn further_names(&mut self, sort: Type, nondet: bool) -> Option<()> {
        if self.at(",") {
            let word = if sort == Type::Int { "int" } else { "bool" };
            let word = if nondet { format!("nondet {word}") } else { word.to_string() };
            let diagnostic = Diagnostic::new(
                Code::E0110,
                self.span(),
                "every variable has a declaration of its own",
            );
            self.fail(
                diagnostic.help(format!("write `; {word}`")).fix(self.span(), format!("; {word}")),
            );
        }
        while self.eat(",") {
            let name = self.name("a name")?;
            let range = if self.eat(":") { Some(self.range()?) } else { None };
            let what = Declared::Variable { nondet, range };
            self.block().declarations.push(Declaration { name, sort, what });
        }
        Some(())
    }

    fn range(&mut self) -> Option<(Expr, Expr)> {
        let low = self.expression()?;
        if !self.eat("..") {
            self.expected("`..` and the greatest value");
            return None;
        }
        Some((low, self.expression()?))
    }

    fn init(&mut self) -> Option<()> {
        if self.kind() == Kind::Ident && self.ahead(1).kind == Kind::Sign("=") {
            let name = self.name("a variable")?;
            self.bump();
            let value = self.formula()?;
            self.block().inits.push(Init::Assign { name, value });
            return Some(());
        }
        let formula = self.formula()?;
        self.block().inits.push(Init::Constraint(formula));
        Some(())
    }

    /// `[? guard ->] x, y = e, f`, `[? guard :] S -> A { [? guard ->] x = e }`
    fn rule(&mut self) -> Option<()> {
        let start = self.span();
        let number = self.block().rules.len() + 1;
        let mut rule =
            Rule { number, guards: Vec::new(), states: None, updates: Vec::new(), span: start };
        let mut stated = false;
        if self.eat("?") {
            rule.guards.push(self.formula()?);
            if self.eat(":") {
                stated = true;
            } else if !self.eat("->") {
                self.expected("`->` behind the guard");
                return None;
            }
        }
        let is_states = self.kind() == Kind::Ident
            && self.ahead(1).kind == Kind::Sign("->")
            && self.ahead(2).kind == Kind::Ident
            && matches!(self.ahead(3).kind, Kind::Sign("{" | ";"));
        if stated || is_states {
            let from = self.name("the state that the rule leaves")?;
            if !self.eat("->") {
                self.expected("`->` and the state that the rule enters");
                return None;
            }
            let to = self.name("the state that the rule enters")?;
            rule.states = Some((from, to));
            if self.eat("{") {
                if self.eat("?") {
                    rule.guards.push(self.formula()?);
                    if !self.eat("->") {
                        self.expected("`->` behind the guard");
                        return None;
                    }
                }
                if !self.at("}") {
                    self.updates(&mut rule)?;
                    self.eat(";");
                }
                if !self.eat("}") {
                    let message = format!("expected `}}`, but found {}", self.found());
                    let diagnostic = Diagnostic::new(Code::E0115, self.span(), message);
                    self.fail(
                        diagnostic.help("a rule has one list of updates: write `a, b = e, f`"),
                    );
                    return None;
                }
            }
        } else {
            self.updates(&mut rule)?;
        }
        rule.span = start.cover(self.tokens[self.at - 1].span);
        self.block().rules.push(rule);
        Some(())
    }

    fn updates(&mut self, rule: &mut Rule) -> Option<()> {
        let start = self.span();
        let plain =
            self.kind() == Kind::Ident && matches!(self.ahead(1).kind, Kind::Sign("," | "="));
        if !plain && rule.guards.is_empty() && self.guard_without_question() {
            let place = Span::at(start.start);
            let diagnostic = Diagnostic::new(Code::E0110, place, "a guard begins with `?`");
            self.fail(diagnostic.help("write `? guard -> x = value;`").fix(place, "? "));
            return None;
        }
        let mut names = vec![self.name("the variable that is updated")?];
        while self.eat(",") {
            names.push(self.name("the variable that is updated")?);
        }
        if !self.eat("=") {
            if self.at("==") {
                let span = self.span();
                let diagnostic = Diagnostic::new(Code::E0110, span, "`==` compares; `=` updates");
                self.fail(diagnostic.help("write `=`").fix(span, "="));
            } else if self.at(":") && self.text[self.span().range().end..].starts_with('=') {
                let span = Span::new(self.span().start, self.span().end + 1);
                let message = "`:=` is not an operator of scripts";
                let diagnostic = Diagnostic::new(Code::E0110, span, message);
                self.fail(diagnostic.help("write `=`").fix(span, "="));
            } else {
                self.expected("`=` and the new values");
            }
            return None;
        }
        let mut values = vec![self.formula()?];
        while self.eat(",") {
            values.push(self.formula()?);
        }
        if names.len() != values.len() {
            let span = start.cover(self.tokens[self.at - 1].span);
            let message =
                format!("{} variables are updated with {} values", names.len(), values.len());
            let diagnostic = Diagnostic::new(Code::E0304, span, message);
            self.fail(diagnostic.help("write as many values as variables, in the same order"));
        }
        rule.updates = names.into_iter().zip(values).collect();
        Some(())
    }

    /// True if an arrow occurs before the end of the statement.
    fn guard_without_question(&self) -> bool {
        self.tokens[self.at..]
            .iter()
            .take_while(|t| !matches!(t.kind, Kind::Sign(";" | "?" | ":") | Kind::End))
            .any(|t| t.kind == Kind::Sign("->"))
    }

    fn goal(&mut self, word: &'static str, start: Span) {
        self.process = None;
        let named = self.kind() == Kind::Ident
            && self.header().is_none()
            && self.ahead(1).kind == Kind::Sign(":");
        let name = if named { self.name("a name for the goal") } else { None };
        self.colon(word);
        let kind = match word {
            "INF" => Some(GoalKind::Infinite),
            "DEADLOCK" => Some(GoalKind::Deadlock),
            "REACH" => self.formula().map(GoalKind::Reach),
            "SAFE" => self.formula().map(GoalKind::Safe),
            "POSSIBLE" => self.formula().map(GoalKind::AlwaysPossible),
            _ => self.temporal(word),
        };
        let Some(kind) = kind else { return self.recover() };
        let span = start.cover(self.tokens[self.at - 1].span);
        self.script.goals.push(Goal { word, name, kind, span });
        while self.eat(";") {}
        if !self.at_block_end() {
            if self.at("->") || self.at("implies") {
                self.no_implication(self.span());
            } else {
                let message = format!("expected the end of the goal, but found {}", self.found());
                self.fail(Diagnostic::new(Code::E0110, self.span(), message));
            }
            self.recover();
        }
    }

    /// `E<> p`, `A[] p`, `A[] E<> p`, `E[] p`, `A<> p`, `p ~> q`, and for `LIVENESS` plain `p`.
    fn temporal(&mut self, word: &str) -> Option<GoalKind> {
        let quantifier = match (self.text(), self.ahead(1).kind, self.ahead(2).kind) {
            ("E", Kind::Sign("<"), Kind::Sign(">")) => {
                Some(GoalKind::Reach as fn(Expr) -> GoalKind)
            }
            ("E", Kind::Sign("["), Kind::Sign("]")) => {
                Some(GoalKind::ExistsAlways as fn(Expr) -> GoalKind)
            }
            ("A", Kind::Sign("<"), Kind::Sign(">")) => {
                Some(GoalKind::Eventually as fn(Expr) -> GoalKind)
            }
            ("A", Kind::Sign("["), Kind::Sign("]")) => Some(GoalKind::Safe as fn(Expr) -> GoalKind),
            _ => None,
        };
        if let Some(quantifier) = quantifier {
            let is_always = self.text() == "A" && self.ahead(1).kind == Kind::Sign("[");
            (0..3).for_each(|_| self.bump());
            let possible = is_always
                && self.text() == "E"
                && self.ahead(1).kind == Kind::Sign("<")
                && self.ahead(2).kind == Kind::Sign(">");
            if possible {
                (0..3).for_each(|_| self.bump());
                return self.formula().map(GoalKind::AlwaysPossible);
            }
            return self.formula().map(quantifier);
        }
        let from = self.formula()?;
        if self.eat("~>") {
            return Some(GoalKind::LeadsTo(from, self.formula()?));
        }
        if word == "LIVENESS" {
            return Some(GoalKind::Live(from));
        }
        self.expected(
            "`~>`: `CHECK` takes `E<> p`, `A[] p`, `A[] E<> p`, `E[] p`, `A<> p` or `p ~> q`",
        );
        None
    }

    fn program(&mut self, least: u8, depth: usize) -> Option<usize> {
        if depth > MAX_PROGRAM_DEPTH {
            self.fail(Diagnostic::new(Code::E0111, self.span(), "this is nested too deeply"));
            return None;
        }
        let mut left = if self.eat("(") {
            let inner = self.program(0, depth + 1)?;
            if !self.eat(")") {
                self.expected("`)`");
                return None;
            }
            inner
        } else {
            let name = self.name("the name of an instance: `proc P = process;` declares one")?;
            self.script.program.push(ProgramPart::Process(name));
            self.script.program.len() - 1
        };
        loop {
            let (how, binds) = match self.kind() {
                Kind::Sign("||") => (Composition::Parallel, 0),
                Kind::Sign("|") => (Composition::Choice, 1),
                Kind::Sign(">:") => (Composition::Sequence, 2),
                _ => return Some(left),
            };
            if binds < least {
                return Some(left);
            }
            self.bump();
            let right = self.program(binds + 1, depth + 1)?;
            self.script.program.push(ProgramPart::Both(how, left, right));
            left = self.script.program.len() - 1;
        }
    }
}
