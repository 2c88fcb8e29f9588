//! Declarations at the top level of a file.

use super::Parser;
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::sts::syntax::SyntaxKind as K;

/// The words that start an item.
const ITEM_WORDS: &[&str] = &[
    "spec",
    "system",
    "enum",
    "record",
    "data",
    "const",
    "var",
    "input",
    "define",
    "assume",
    "start",
    "node",
    "final",
    "step",
    "always",
    "reachable",
    "eventually",
    "possible",
    "exists",
    "no",
    "infinite",
    "can",
    "satisfiable",
    "completable",
    "fair",
    "weakly",
    "strongly",
    "allow",
];

/// The items of a file, for messages.
const ITEMS: &str = "a file is made of `spec`, `enum`, `record`, `data`, `const`, `var`, `input`, `define`, `start`, `node`, `step`, and claims such as `always` and `reachable`";

/// Words of other languages, and their equivalents here.
const FOREIGN_WORDS: &[(&str, &str)] = &[
    ("module", "spec"),
    ("process", "spec"),
    ("type", "enum"),
    ("struct", "record"),
    ("datatype", "data"),
    ("variable", "var"),
    ("let", "define"),
    ("state", "node"),
    ("location", "node"),
    ("init", "start"),
    ("initial", "start"),
    ("transition", "step"),
    ("rule", "step"),
    ("invariant", "always"),
    ("property", "always"),
    ("assert", "always"),
    ("safety", "always"),
    ("assumption", "assume"),
    ("macro", "define"),
];

/// Words of other languages that begin a claim.
const FOREIGN_CLAIMS: &[&str] = &[
    "invariant",
    "property",
    "assert",
    "safety",
    "never",
    "liveness",
    "check",
    "ltlspec",
    "spec:",
];

/// The kinds of claims, for messages.
const CLAIMS: &str = "the claims are `always p`, `reachable p`, `eventually p`, `always eventually p`, `p leads to q`, \
                      `always possible p`, `exists always p`, `no deadlock` and `no sinkhole Node`";

/// Sorts, which begin a declaration in other languages.
const SORTS: &[&str] = &["int", "bool", "real", "string", "boolean", "integer", "float", "double"];

impl Parser<'_> {
    pub(super) fn source_file(&mut self) {
        self.builder
            .start_node(<crate::sts::syntax::Sts as rowan::Language>::kind_to_raw(K::SourceFile));
        while !self.at_end() {
            let before = self.at;
            self.braces = 0;
            self.item();
            if self.at == before {
                // Nothing was recognised: consume the token into an error node.
                self.error_token();
            }
        }
        self.flush_layout();
        self.end();
    }

    /// True if the next line starts an item, although a formula or a block may be unfinished.
    ///
    /// Inside braces a declaration can only start if a brace is missing. If the braces of the text
    /// match, none is missing; otherwise an unindented line indicates it. So the layout of a text
    /// without errors never decides between a name and an item there.
    pub(super) fn at_item_line(&self) -> bool {
        let Some(token) = self.tokens.get(self.at).filter(|token| token.newline_before) else {
            return false;
        };
        if self.braces > 0 {
            let indented =
                token.start > 0 && self.text.as_bytes()[token.start as usize - 1] != b'\n';
            if self.balanced || indented {
                return false;
            }
        }
        self.at_item()
    }

    /// True if an item of the top level starts here, judged by the next two tokens.
    fn at_item(&self) -> bool {
        let word = self.word(0);
        let next = self.kind(1);
        // A brace may be on the next line.
        if !ITEM_WORDS.contains(&word) || (self.newline_before(1) && next != K::LBrace) {
            return false;
        }
        match word {
            "exists" => self.word(1) == "always",
            "start" => matches!(next, K::Arrow | K::LBrace | K::Ident),
            "no" => matches!(self.word(1), "deadlock" | "sinkhole"),
            "final" => matches!(self.word(1), "node" | "when"),
            "can" => self.word(1) == "enable",
            "infinite" => self.word(1) == "run",
            "allow" => self.at_allow(),
            "always" | "reachable" | "eventually" | "possible" | "assume" | "fair" => {
                matches!(next, K::Ident | K::Colon | K::Int | K::LParen | K::Bang)
                    && !matches!(self.word(1), "when" | "and" | "or")
            }
            _ => next == K::Ident && self.word(1) != "when",
        }
    }

    fn item(&mut self) {
        match self.word(0) {
            "spec" => self.spec_header(),
            "system" => self.system_decl(),
            "enum" => self.enum_decl(),
            "record" => self.record_decl(),
            "data" => self.data_decl(),
            "const" => self.const_decl(),
            "var" => self.variables(K::VarDecl),
            "input" => self.variables(K::InputDecl),
            "define" => self.define_decl(),
            "assume" => self.assume_decl(),
            "start" => self.start_decl(),
            "final" if self.word(1) == "when" => self.final_decl(),
            "node" | "final" => self.node_decl(),
            "step" => self.step_decl(),
            "fair" | "weakly" | "strongly" => self.fair_decl(),
            "allow" if self.at_allow() => self.allow(),
            "always" | "reachable" | "eventually" | "possible" | "exists" | "no" | "infinite"
            | "can" | "satisfiable" | "completable" => self.claim(),
            _ if self.at(K::Ident) && self.kind(1) == K::Colon => self.named_leads_to(),
            _ => self.unknown_item(),
        }
        // Items need no separator, but a semicolon is accepted.
        while self.at(K::Semicolon) {
            self.bump();
        }
    }

    fn unknown_item(&mut self) {
        let word = self.word(0);
        if word.is_empty() {
            // A comment in the syntax of another language.
            let comment =
                self.kind(0) == K::Minus && self.kind(1) == K::Minus || self.kind(0) == K::Percent;
            let help = if comment { "comments begin with `//`" } else { ITEMS };
            let diagnostic = Diagnostic::new(
                Code::E0116,
                self.span(0),
                format!("expected a declaration or a claim, found {}", self.token_name()),
            )
            .help(help);
            self.report(diagnostic);
        } else {
            let foreign = FOREIGN_WORDS.iter().find(|(theirs, _)| *theirs == word);
            let ours = foreign.map(|(_, ours)| *ours);
            let declared = SORTS.contains(&word) && self.kind(1) == K::Ident;
            let diagnostic = Diagnostic::new(
                Code::E0116,
                self.span(0),
                format!("`{word}` does not begin a declaration or a claim"),
            );
            let diagnostic = match ours {
                _ if word == "never" => {
                    diagnostic.help(format!("here this is written `always not p`; {CLAIMS}"))
                }
                Some("always") => {
                    let span = diagnostic.primary.span;
                    let help = format!("here this is written `always`; {CLAIMS}");
                    diagnostic.help(help).fix(span, "always")
                }
                Some(ours) => {
                    let span = diagnostic.primary.span;
                    diagnostic.help(format!("here this is written `{ours}`")).fix(span, ours)
                }
                None if declared => {
                    let (name, sort) = (self.word(1), word);
                    diagnostic.help(format!(
                        "write `var {name}: {sort}`, and its first value in a start: `start {{ {name} == … }}`"
                    ))
                }
                None if FOREIGN_CLAIMS.contains(&word) => diagnostic.help(CLAIMS),
                None => diagnostic.did_you_mean(nearest(word, ITEM_WORDS.iter().copied())),
            };
            self.report(diagnostic);
        }
        self.error_token();
        self.recover();
    }

    fn token_name(&self) -> String {
        format!("`{}`", self.token_text(0).chars().take(40).collect::<String>())
    }

    /// After an error in an item: skips to the next line that starts an item, or would in another
    /// language.
    pub(super) fn recover(&mut self) {
        self.skip_until(|parser| parser.at_item_line() || parser.at_foreign_line());
    }

    /// True if the next line starts with a word that starts an item in another language.
    fn at_foreign_line(&self) -> bool {
        let word = self.word(0);
        let foreign = FOREIGN_CLAIMS.contains(&word)
            || SORTS.contains(&word)
            || FOREIGN_WORDS.iter().any(|(theirs, _)| *theirs == word);
        let begins = matches!(self.kind(1), K::Ident | K::LParen | K::Bang);
        foreign && begins && self.braces == 0 && self.newline_before(0) && !self.newline_before(1)
    }

    fn spec_header(&mut self) {
        self.composed = false;
        self.referred.clear();
        self.start(K::SpecHeader);
        self.bump();
        let good = self.name("the name of the specification");
        if good && self.at(K::LParen) && !self.newline_before(0) && !self.references() {
            self.recover();
        }
        self.end();
    }

    /// `(account: BankAccount, id: int)`: other instances that the specification reads, and
    /// constants.
    fn references(&mut self) -> bool {
        let opened = self.span(0);
        self.bump();
        let mut good = true;
        while good && !self.at(K::RParen) {
            self.start(K::Reference);
            self.referred.push(self.word(0));
            good = self.name("a name for the other instance")
                && self.expect(K::Colon)
                && self.name_ref("the name of its specification, or a sort");
            self.end();
            if !self.eat(K::Comma) {
                break;
            }
        }
        good && self.expect_close(K::RParen, opened)
    }

    /// True at `allow CODE`, as opposed to a gate named `allow`.
    pub(super) fn at_allow(&self) -> bool {
        self.at_word("allow")
            && self.kind(1) == K::Ident
            && self.word(1) != "when"
            && !self.newline_before(1)
    }

    /// `allow W0812, W0814`
    pub(super) fn allow(&mut self) {
        self.start(K::Allow);
        self.bump();
        let mut good = true;
        while good {
            good = self.name_ref("the code of a warning") && self.eat(K::Comma);
        }
        self.end();
    }

    /// `system S = a: Account || b: Account[4]  sync transfer(n) (a.withdraw, b[0].deposit)`
    fn system_decl(&mut self) {
        self.composed = true;
        self.referred.clear();
        self.start(K::SystemDecl);
        self.bump();
        let mut good = self.name("the name of the system") && self.expect(K::Equals);
        while good {
            self.start(K::Instance);
            good = self.name("the name of an instance")
                && self.expect(K::Colon)
                && self.name_ref("the name of a specification")
                && self.family_size()
                && self.arguments();
            self.end();
            if !good || !self.eat(K::BarBar) {
                break;
            }
        }
        while good && self.at_clause("sync") {
            good = self.sync();
        }
        if !good {
            self.recover();
        }
        self.end();
    }

    /// `[4]` or `[i: 4]` after the specification of a family: its size, and a name for the index
    /// in the arguments.
    fn family_size(&mut self) -> bool {
        if !self.at(K::LBracket) || self.newline_before(0) {
            return true;
        }
        let opened = self.span(0);
        self.start(K::FamilySize);
        self.bump();
        if self.at(K::Ident) && self.kind(1) == K::Colon {
            self.name("a name for the index");
            self.bump();
        }
        self.expression();
        let good = self.expect_close(K::RBracket, opened);
        self.end();
        good
    }

    /// `(a, ring[i + 1], 5)` after the specification of an instance: its arguments.
    fn arguments(&mut self) -> bool {
        if !self.at(K::LParen) || self.newline_before(0) {
            return true;
        }
        let opened = self.span(0);
        self.bump();
        while !self.at(K::RParen) && !self.at_end() {
            self.start(K::Argument);
            self.expression();
            self.end();
            if !self.eat(K::Comma) {
                break;
            }
        }
        self.expect_close(K::RParen, opened)
    }

    /// `sync name(shared) forall i, j where i != j (a.pay, b[i].get) to (c.hear) when P`
    fn sync(&mut self) -> bool {
        self.start(K::Sync);
        self.bump();
        let mut good = self.name("the name of the common gate");
        if good && self.at_shared_params() {
            good = self.shared_params();
        }
        if good && self.at_clause("forall") {
            self.start(K::SyncIndices);
            self.bump();
            good = self.indices_of_families();
            self.end();
        }
        good = good && self.sync_members();
        if good && self.at_clause("to") {
            self.start(K::Receivers);
            self.bump();
            good = self.sync_members();
            self.end();
        }
        if good && self.at_word("when") {
            self.start(K::SyncCondition);
            self.bump();
            self.expression();
            self.end();
        }
        self.end();
        good
    }

    /// True at `(names)` before the members of a synchronisation: names without a dot, and then
    /// another parenthesis or `forall`.
    fn at_shared_params(&self) -> bool {
        if !self.at(K::LParen) {
            return false;
        }
        let mut ahead = 1;
        while matches!(self.kind(ahead), K::Ident | K::Comma) {
            ahead += 1;
        }
        self.kind(ahead) == K::RParen
            && (self.kind(ahead + 1) == K::LParen || self.word(ahead + 1) == "forall")
    }

    fn shared_params(&mut self) -> bool {
        self.start(K::SharedParams);
        let opened = self.span(0);
        self.bump();
        let mut good = true;
        while good && !self.at(K::RParen) {
            good = self.name("the name of a common parameter");
            if !self.eat(K::Comma) {
                break;
            }
        }
        good = good && self.expect_close(K::RParen, opened);
        self.end();
        good
    }

    /// `(a.pay, b[i].get)`
    fn sync_members(&mut self) -> bool {
        let opened = self.span(0);
        let mut good = self.expect(K::LParen);
        while good && !self.at(K::RParen) {
            self.start(K::SyncMember);
            good = self.name_ref("an instance");
            if good && self.at(K::LBracket) {
                let bracket = self.span(0);
                self.bump();
                self.expression();
                good = self.expect_close(K::RBracket, bracket);
            }
            good = good && self.expect(K::Dot) && self.name_ref("a gate of that instance");
            self.end();
            if !self.eat(K::Comma) {
                break;
            }
        }
        good && self.expect_close(K::RParen, opened)
    }

    fn enum_decl(&mut self) {
        self.start(K::EnumDecl);
        self.bump();
        let good = self.name("the name of the enumeration");
        self.braced_list(good, |p| p.name("a value of the enumeration"));
        self.end();
    }

    /// `record Point { x: int, y: int 0..10 }`
    fn record_decl(&mut self) {
        self.start(K::RecordDecl);
        self.bump();
        let good = self.name("the name of the record");
        self.braced_list(good, Parser::param);
        self.end();
    }

    /// `data Shape { Circle(radius: real), Square(side: real), Empty }`
    fn data_decl(&mut self) {
        self.start(K::DataDecl);
        self.bump();
        let good = self.name("the name of the sort");
        self.braced_list(good, Parser::constructor);
        self.end();
    }

    fn constructor(&mut self) -> bool {
        self.start(K::Constructor);
        let mut good = self.name("the name of a constructor");
        if good && self.at(K::LParen) && !self.newline_before(0) {
            good = self.param_list();
        }
        self.end();
        good
    }

    /// `{ a, b }`; elements may also be separated by `;` or lines. With `good` false the rest of
    /// the item is skipped, as after an error in an element.
    fn braced_list(&mut self, mut good: bool, element: impl Fn(&mut Self) -> bool) {
        let opened = self.span(0);
        good = good && self.expect(K::LBrace);
        while good && !self.at(K::RBrace) && !self.at_end() {
            good = element(self);
            if !self.eat(K::Comma) && !self.eat(K::Semicolon) && !self.newline_before(0) {
                break;
            }
        }
        if !good || !self.expect_close(K::RBrace, opened) {
            self.recover();
        }
    }

    fn const_decl(&mut self) {
        self.start(K::ConstDecl);
        self.bump();
        let mut good = self.name("the name of the constant");
        let has_sort = good && self.at(K::Colon);
        if has_sort {
            good = self.sort_annotation();
        }
        // `const N: int`, `const N: int 2..` and `const N: int 2..10` have no value.
        if good && has_sort && !self.at(K::Equals) {
            if !self.newline_before(0) && self.may_begin_expression() && !self.at_item() {
                good = self.size_range();
            }
            if good && (self.newline_before(0) || self.at_item()) {
                self.end();
                return;
            }
        }
        good = good && self.expect(K::Equals);
        if good {
            self.expression();
        } else {
            self.recover();
        }
        self.end();
    }

    /// `low..` or `low..high`
    fn size_range(&mut self) -> bool {
        self.start(K::RangeBounds);
        self.bound();
        let good = self.expect(K::DotDot);
        if good && !self.newline_before(0) && self.may_begin_expression() && !self.at_item() {
            self.bound();
        }
        self.end();
        good
    }

    /// `var a, b: int 0..10` and `input a: bool`
    fn variables(&mut self, kind: K) {
        self.start(kind);
        self.bump();
        let mut good = self.name("the name of the variable");
        while good && self.eat(K::Comma) {
            good = self.name("the name of another variable");
        }
        good = good && self.sort_annotation();
        if good && !self.newline_before(0) && self.at(K::LBracket) {
            good = self.range_in_brackets();
        } else if good && !self.newline_before(0) && self.may_begin_expression() && !self.at_item()
        {
            good = self.range_bounds();
        }
        if good && !self.newline_before(0) && (self.at(K::Equals) || self.at(K::Assign)) {
            let span = self.span(0);
            let diagnostic = Diagnostic::new(Code::E0110, span, "a variable gets its first value in a `start`").help(
                "remove the value here and write `start { name == value }`; a value that never changes is a `const`",
            );
            self.report(diagnostic);
            good = false;
        }
        if !good {
            self.recover();
        }
        self.end();
    }

    /// `: sort`
    pub(super) fn sort_annotation(&mut self) -> bool {
        if !self.expect(K::Colon) {
            return false;
        }
        self.start(K::SortRef);
        let good = self.sort_words();
        self.end();
        good
    }

    /// `int`, or `array[int] of list[4] of real`: for each array a name for its index, for each
    /// list a node, and a name for the elements.
    fn sort_words(&mut self) -> bool {
        loop {
            let list = self.at_word("list")
                && (self.kind(1) == K::LBracket || self.word(1) == "of")
                && !self.newline_before(1);
            if list {
                self.start(K::ListOf);
                self.bump();
                let opened = self.span(0);
                if self.eat(K::LBracket) {
                    self.expression();
                    self.expect_close(K::RBracket, opened);
                }
                self.end();
            } else if self.at_word("array") && self.kind(1) == K::LBracket {
                self.bump();
                if !self.index_sort() {
                    return false;
                }
            } else {
                break;
            }
            if !self.at_word("of") {
                self.report_expected("`of` and the sort of the elements");
                return false;
            }
            self.bump();
        }
        self.name_ref("a sort: `bool`, `int`, `real`, `string`, a declared one, an array or a list")
    }

    /// `[int]`
    pub(super) fn index_sort(&mut self) -> bool {
        let opened = self.span(0);
        self.bump();
        let good = self.name_ref("the sort of the indices");
        self.expect_close(K::RBracket, opened);
        good
    }

    /// `[low..high]`, which is written without brackets.
    pub(super) fn range_in_brackets(&mut self) -> bool {
        let opened = self.span(0);
        let start = self.at;
        self.start(K::Error);
        self.bump();
        self.bound();
        let good = self.expect(K::DotDot);
        if good {
            self.bound();
            self.expect_close(K::RBracket, opened);
            let whole = Span::new(opened.start, self.end_of_last());
            let range = &self.text[opened.end as usize..whole.end as usize];
            let range = range.trim_end_matches(']').trim();
            let space = if self.text[..whole.start as usize].ends_with(' ') { "" } else { " " };
            let diagnostic =
                Diagnostic::new(Code::E0110, opened, "a range is written without brackets")
                    .help(format!("write `int {range}`"))
                    .fix(whole, format!("{space}{range}"));
            self.last_error = Some(start);
            self.diagnostics.push(diagnostic);
        }
        self.end();
        good
    }

    /// `low..high`
    pub(super) fn range_bounds(&mut self) -> bool {
        self.start(K::RangeBounds);
        self.bound();
        let good = self.expect(K::DotDot);
        if good {
            self.bound();
        }
        self.end();
        good
    }

    fn define_decl(&mut self) {
        self.start(K::DefineDecl);
        self.bump();
        let mut good = self.name("the name of the definition");
        if good && self.at(K::LParen) {
            good = self.param_list();
        }
        if good && self.at(K::Colon) {
            good = self.sort_annotation();
        }
        if good && self.at(K::Assign) {
            let span = self.span(0);
            let diagnostic = Diagnostic::new(Code::E0114, span, "a definition is written with `=`")
                .help("write `define name = formula`")
                .fix(span, "=");
            self.report(diagnostic);
            self.bump();
        } else {
            good = good && self.expect(K::Equals);
        }
        if good {
            self.expression();
        } else {
            self.recover();
        }
        self.end();
    }

    fn assume_decl(&mut self) {
        self.start(K::AssumeDecl);
        self.bump();
        self.optional_name();
        self.expression();
        self.end();
    }

    /// True if a word continues the item; followed by a colon it is the name of the next item.
    pub(super) fn at_clause(&self, word: &str) -> bool {
        self.at_word(word) && self.kind(1) != K::Colon
    }

    /// `NAME :`, or `:` alone, or nothing.
    pub(super) fn optional_name(&mut self) {
        if self.at(K::Ident) && self.kind(1) == K::Colon {
            self.name("a name");
        }
        self.eat(K::Colon);
    }

    /// `start NAME? -> Node { constraints }`
    fn start_decl(&mut self) {
        self.start(K::StartDecl);
        self.bump();
        if self.at(K::Ident) && !self.newline_before(0) {
            self.name("the name of the start");
        }
        if self.at(K::Arrow) {
            self.target();
        }
        if self.at(K::LBrace) {
            self.effect_block();
        } else if !self.newline_before(0) && !self.at_item() {
            self.report_expected("`-> Node` or `{`");
            self.recover();
        }
        self.end();
    }

    /// `final node A, B` or `node A { … }`
    fn node_decl(&mut self) {
        self.start(K::NodeDecl);
        if self.at_word("final") {
            self.bump();
        }
        if self.at_word("node") {
            self.bump();
        } else {
            self.report_expected("`node`");
        }
        let mut good = self.name("the name of the node");
        while good && self.eat(K::Comma) {
            good = self.name("the name of another node");
        }
        if !good {
            self.recover();
        } else if self.at(K::LBrace) {
            self.node_body();
        } else if !self.newline_before(0) && !self.at(K::Semicolon) && !self.at_item() {
            self.report_expected("`{`");
            self.recover();
        }
        self.end();
    }

    /// `final when P`: runs may end where P holds.
    fn final_decl(&mut self) {
        self.start(K::FinalDecl);
        self.bump();
        self.bump();
        self.expression();
        self.end();
    }

    fn step_decl(&mut self) {
        self.start(K::StepDecl);
        self.bump();
        if !self.transition() {
            self.recover();
        }
        self.end();
    }
}
