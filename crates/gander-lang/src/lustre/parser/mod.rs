//! Parses tokens to abstract syntax: all of JKind's language, and the part of Kind 2's that public
//! model sets use.
//!
//! Invariants:
//! - The parser never fails: it returns a file and errors. Parts with errors are missing in the
//!   file.
//! - Expressions are parsed with an explicit stack (see `expressions`), so their depth costs
//!   memory, not call stack. Types and imperative blocks may be nested [`MAX_DEPTH`] deep.
//! - At most one error per statement or declaration, `MAX_ERRORS` in all, and one for each
//!   construct that is not supported.
//! - Words of Kind 2 (`mode`, `check`, `any`, `in`, `set` and so on) are keywords only where the
//!   grammar expects them and they are not declared as names: hundreds of public models have
//!   variables called `mode`. The words that JKind reserves ([`is_reserved`]) are never names.
//!
//! A parsing function returns `None` after it has reported an error; the caller then skips to a
//! place where parsing can continue.

mod brackets;
mod calls;
mod contracts;
mod datatypes;
mod declarations;
mod expressions;
mod operands;
mod statements;
mod types;

use super::ast::{Expr, ExprId, ExprKind, File, Name, Type, TypeId, TypeKind, Word};
use super::lexer::{Kind as K, Token, lex};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Limited;
use crate::diagnostics::span::Span;
use gander_runtime::check_cancelled;
use rustc_hash::{FxHashMap, FxHashSet};

/// The nesting depth of types and imperative blocks.
pub const MAX_DEPTH: u32 = 64;
/// The size of a text; larger texts are refused.
pub const MAX_BYTES: usize = crate::sts::MAX_BYTES;

/// The syntax of a text, and its errors.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The declarations that could be parsed.
    pub file: File,
    /// The errors, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a text.
pub fn parse(text: &str) -> Parsed {
    if let Some(diagnostic) = crate::sts::unreadable(text) {
        return Parsed { file: File::default(), diagnostics: vec![diagnostic] };
    }
    let (tokens, diagnostics) = lex(text);
    let mut parser = Parser::new(text, tokens, diagnostics);
    parser.items();
    parser.finish()
}

/// The words that cannot be names.
pub fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "node"
            | "function"
            | "returns"
            | "var"
            | "let"
            | "tel"
            | "const"
            | "type"
            | "assert"
            | "if"
            | "then"
            | "else"
            | "not"
            | "and"
            | "or"
            | "xor"
            | "div"
            | "mod"
            | "pre"
            | "true"
            | "false"
            | "int"
            | "bool"
            | "real"
            | "subrange"
            | "of"
            | "struct"
            | "enum"
            | "condact"
    )
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The index of the next token.
    at: usize,
    file: File,
    words: FxHashMap<&'a str, Word>,
    /// Words declared as names so far; nodes, functions and types count from the start of the file.
    declared: FxHashSet<&'a str>,
    /// Words that the current node or contract declares as variables.
    local: FxHashSet<&'a str>,
    /// Names such as `a~0.b` and `a[0]` that the current node declares; JKind's flattened files
    /// contain them.
    dotted: FxHashSet<String>,
    diagnostics: Limited,
    /// True if an unclosed comment extends to the end of the text.
    open_comment: bool,
    /// The token for which the last error was reported.
    last_error: Option<usize>,
    /// Constructs already reported as not supported.
    unsupported: FxHashSet<&'static str>,
    /// The number of open types and blocks.
    depth: u32,
    /// The number of open braces where parsing an expression failed: a semicolon inside them does
    /// not end the statement.
    open_braces: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>, diagnostics: Vec<Diagnostic>) -> Parser<'a> {
        let open_comment = diagnostics.iter().any(|diagnostic| diagnostic.code == Code::E0105);
        let mut parser = Parser {
            text,
            tokens,
            at: 0,
            file: File::default(),
            words: FxHashMap::default(),
            declared: FxHashSet::default(),
            local: FxHashSet::default(),
            dotted: FxHashSet::default(),
            diagnostics: Limited::new(diagnostics),
            open_comment,
            last_error: None,
            unsupported: FxHashSet::default(),
            depth: 0,
            open_braces: 0,
        };
        for at in 1..parser.tokens.len() {
            if parser.tokens[at].kind == K::Word
                && parser.tokens[at - 1].kind == K::Word
                && matches!(
                    parser.text_of(at - 1),
                    "node" | "function" | "type" | "imported" | "rec"
                )
            {
                parser.declared.insert(parser.text_of(at));
            }
        }
        // `node imported N`, `function rec f`
        parser.declared.remove("imported");
        parser.declared.remove("rec");
        parser
    }

    fn finish(self) -> Parsed {
        Parsed { file: self.file, diagnostics: self.diagnostics.finish() }
    }

    // Lookahead.

    fn kind(&self, ahead: usize) -> K {
        self.tokens.get(self.at + ahead).map_or(K::End, |token| token.kind)
    }

    fn at(&self, kind: K) -> bool {
        self.kind(0) == kind
    }

    fn text_of(&self, index: usize) -> &'a str {
        let token = self.tokens[index];
        &self.text[token.start as usize..token.end as usize]
    }

    /// The text of a word; empty for any other token.
    fn word(&self, ahead: usize) -> &'a str {
        if self.kind(ahead) == K::Word { self.text_of(self.at + ahead) } else { "" }
    }

    fn at_word(&self, word: &str) -> bool {
        self.word(0) == word
    }

    /// True if the token is a word that can be a name.
    fn at_name(&self, ahead: usize) -> bool {
        self.kind(ahead) == K::Word && !is_reserved(self.word(ahead))
    }

    /// True at a word of Kind 2 that the file does not declare as a name.
    fn at_keyword(&self, word: &str) -> bool {
        self.word(0) == word && !self.is_declared(word)
    }

    fn is_declared(&self, word: &str) -> bool {
        self.local.contains(word) || self.declared.contains(word)
    }

    fn span(&self, ahead: usize) -> Span {
        match self.tokens.get(self.at + ahead) {
            Some(token) => Span::new(token.start, token.end),
            None => Span::at(self.text.trim_end().len() as u32),
        }
    }

    /// The start of the next token.
    fn start(&self) -> u32 {
        self.span(0).start
    }

    /// The end of the last consumed token.
    fn end(&self) -> u32 {
        self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.end)
    }

    fn since(&self, start: u32) -> Span {
        Span::new(start, self.end())
    }

    fn newline_before(&self) -> bool {
        let end = self.end() as usize;
        let start = self.tokens.get(self.at).map_or(self.text.len(), |token| token.start as usize);
        self.at >= self.tokens.len() || self.text[end..start.max(end)].contains('\n')
    }

    // Consuming tokens.

    fn bump(&mut self) {
        check_cancelled();
        self.at = (self.at + 1).min(self.tokens.len());
    }

    fn eat(&mut self, kind: K) -> bool {
        let there = self.at(kind);
        if there {
            self.bump();
        }
        there
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.bump();
        }
        there
    }

    fn expect(&mut self, kind: K, what: &str) -> Option<()> {
        if self.eat(kind) {
            return Some(());
        }
        self.report_expected(what);
        None
    }

    fn expect_word(&mut self, word: &str) -> Option<()> {
        if self.eat_word(word) {
            return Some(());
        }
        self.report_expected(&format!("`{word}`"));
        None
    }

    fn expect_close(&mut self, kind: K, what: &str, opened: Span) -> Option<()> {
        if self.eat(kind) {
            return Some(());
        }
        self.report_unclosed(what, opened);
        None
    }

    fn intern(&mut self, text: &'a str) -> Word {
        let next = Word(self.file.words.len() as u32);
        let word = *self.words.entry(text).or_insert(next);
        if word == next {
            self.file.words.push(text.into());
        }
        word
    }

    /// The number of tokens after the next one that belong to a declared dotted name starting with
    /// it.
    fn dotted_length(&self) -> usize {
        if self.dotted.is_empty() {
            return 0;
        }
        let mut longest = 0;
        let mut ahead = 1;
        let mut text = self.word(0).to_owned();
        while let Some(more) = self.dotted_part(ahead) {
            for index in ahead..ahead + more {
                text.push_str(self.text_of(self.at + index));
            }
            ahead += more;
            if self.dotted.contains(&text) {
                longest = ahead - 1;
            }
        }
        longest
    }

    /// The number of tokens of `.f` or `[0]`, without blanks.
    fn dotted_part(&self, ahead: usize) -> Option<usize> {
        let length = match (self.kind(ahead), self.kind(ahead + 1), self.kind(ahead + 2)) {
            (K::Dot, K::Word, _) => 2,
            (K::LBracket, K::Int, K::RBracket) => 3,
            _ => return None,
        };
        let first = self.at + ahead - 1;
        let together =
            self.tokens[first..=first + length].windows(2).all(|pair| pair[0].end == pair[1].start);
        together.then_some(length)
    }

    /// Consumes the current word as a name. The caller has checked that it is one.
    fn take_name(&mut self) -> Name {
        let span = self.span(0);
        let word = self.intern(&self.text[span.range()]);
        self.bump();
        Name { word, span }
    }

    /// Consumes the current word and `more` further tokens as one name.
    fn take_dotted(&mut self, more: usize) -> Name {
        let start = self.start();
        for _ in 0..=more {
            self.bump();
        }
        let span = self.since(start);
        Name { word: self.intern(&self.text[span.range()]), span }
    }

    /// A name.
    fn name(&mut self, what: &str) -> Option<Name> {
        if !self.at(K::Word) {
            self.report_expected(what);
            return None;
        }
        if is_reserved(self.word(0)) {
            let word = self.word(0);
            if self.newline_before() && !matches!(self.kind(1), K::Comma | K::Colon | K::Equals) {
                // The word starts another construct: the name is missing.
                self.report_expected(what);
            } else {
                let message = format!("`{word}` is a word of Lustre and cannot be a name");
                let diagnostic = Diagnostic::new(Code::E0133, self.span(0), message)
                    .here(format!("expected {what}"))
                    .help(format!("choose another name, for example `{word}_`"));
                self.report(diagnostic);
                // The intended name is clear, so accept it to avoid follow-up errors.
                return Some(self.take_name());
            }
            return None;
        }
        Some(self.take_name())
    }

    /// A name that is declared here.
    fn declare(&mut self, what: &str) -> Option<Name> {
        let name = self.name(what)?;
        self.declared.insert(&self.text[name.span.range()]);
        Some(name)
    }

    fn add(&mut self, kind: ExprKind, span: Span) -> ExprId {
        let id = ExprId(self.file.exprs.len() as u32);
        self.file.exprs.push(Expr { kind, span });
        id
    }

    fn add_type(&mut self, kind: TypeKind, span: Span) -> TypeId {
        let id = TypeId(self.file.types.len() as u32);
        self.file.types.push(Type { kind, span });
        id
    }

    // Errors.

    fn report(&mut self, diagnostic: Diagnostic) {
        // The lexer has already reported a stray character, also one that was just skipped.
        let after_stray =
            self.at.checked_sub(1).is_some_and(|last| self.tokens[last].kind == K::Stray);
        let swallowed = self.open_comment && self.at(K::End);
        if swallowed || self.at(K::Stray) || after_stray || self.last_error == Some(self.at) {
            return;
        }
        self.last_error = Some(self.at);
        self.diagnostics.push(diagnostic);
    }

    /// The place to report a missing token: the token found instead, or the end of the last token
    /// if the next one is on another line.
    fn missing_span(&self) -> Span {
        if self.newline_before() { Span::at(self.end()) } else { self.span(0) }
    }

    fn found(&self) -> String {
        match self.kind(0) {
            K::End => "the end of the file".to_owned(),
            K::Text => "a string".to_owned(),
            _ => format!("`{}`", self.text_of(self.at).chars().take(40).collect::<String>()),
        }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::new(Code::E0110, self.missing_span(), message).here(format!("expected {what}"))
    }

    fn report_expected(&mut self, what: &str) {
        let diagnostic = self.expected(what);
        self.report(diagnostic);
    }

    /// Like `report_expected`, but the found token is wrong rather than something missing before
    /// it.
    fn report_unexpected(&mut self, what: &str) {
        let message = format!("expected {what}, found {}", self.found());
        let diagnostic =
            Diagnostic::new(Code::E0110, self.span(0), message).here(format!("expected {what}"));
        self.report(diagnostic);
    }

    fn report_unclosed(&mut self, what: &str, opened: Span) {
        let diagnostic = Diagnostic { code: Code::E0115, ..self.expected(what) };
        self.report(diagnostic.label(opened, "to close this"));
    }

    /// Reports once per construct that it is not supported.
    fn report_unsupported(&mut self, construct: &'static str, span: Span) {
        if self.unsupported.insert(construct) {
            let message = format!("gander does not support {construct}");
            let diagnostic =
                Diagnostic::new(Code::E0510, span, message).here("the first one is here");
            self.diagnostics.push(match instead_of(construct) {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            });
        }
    }

    fn enter(&mut self) -> Option<()> {
        if self.depth >= MAX_DEPTH {
            let message = "types and blocks are nested too deeply here";
            let diagnostic = Diagnostic::new(Code::E0111, self.span(0), message)
                .here(format!("more than {MAX_DEPTH} levels"))
                .help("give inner types a name with `type`");
            self.report(diagnostic);
            return None;
        }
        self.depth += 1;
        Some(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    // Error recovery.

    /// True at a word that can only start a declaration. (`const` may be local.)
    fn at_item(&self) -> bool {
        match self.word(0) {
            "node" | "function" | "type" => true,
            "contract" | "datatype" | "lemma" => {
                self.newline_before() && self.at_name(1) && self.kind(2) != K::Equals
            }
            _ => false,
        }
    }

    fn at_annotation(&self) -> bool {
        matches!(
            self.kind(0),
            K::Property | K::Main | K::Ivc | K::Realizable | K::OpenProperty | K::OpenMain
        )
    }

    /// Skips past the next semicolon that ends a statement, or to a token that cannot be inside
    /// one.
    fn skip_statement(&mut self) {
        let mut open = std::mem::take(&mut self.open_braces);
        while !self.at(K::End) {
            match self.kind(0) {
                K::Semicolon if open == 0 => return self.bump(),
                K::LBrace => open += 1,
                K::RBrace => open = open.saturating_sub(1),
                K::Word
                    if self.at_item()
                        || matches!(self.word(0), "tel" | "let" | "var" | "assert" | "returns") =>
                {
                    return;
                }
                K::OpenContract | K::CloseAnnotation => return,
                _ if self.at_annotation() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips balanced brackets, starting at the opening one. An unclosed bracket ends with the
    /// statement.
    fn skip_brackets(&mut self) {
        let mut open = 0usize;
        loop {
            match self.kind(0) {
                K::LParen | K::LBracket | K::LBrace => open += 1,
                K::RParen | K::RBracket | K::RBrace => open -= 1,
                K::End | K::CloseAnnotation | K::OpenContract => return,
                K::Word if matches!(self.word(0), "tel" | "let" | "node" | "function") => return,
                _ => {}
            }
            self.bump();
            if open == 0 {
                return;
            }
        }
    }
}

/// What to write instead of an unsupported construct.
fn instead_of(construct: &str) -> Option<&'static str> {
    match construct {
        "sets" => {
            Some("a set of few values can be an array of bools, `bool^n`, with `s[i]` for `i in s`")
        }
        "maps" => Some(
            "a map with few keys can be two arrays, one of bools for the keys that are there and one of values",
        ),
        "automata" => Some(
            "an `enum` for the state, `state = First -> if … then … else pre state`, and `if` or `merge` for what each \
             state defines; `restart N every c` begins a node anew",
        ),
        "lemmas" => Some(
            "state it as a property of a node (`check`); what is proved there is not used elsewhere",
        ),
        _ => None,
    }
}
