//! Parses tokens to a lossless syntax tree: error-tolerant recursive descent, Pratt parsing for
//! expressions.
//!
//! Invariants:
//! - The parser never fails. It returns a tree whose text is the source, and errors.
//! - Chains of one operator level are one flat node, so the depth of the tree is the depth of the
//!   author's parentheses, not the length of a formula.
//! - Recursion is at most [`MAX_DEPTH`] expressions deep. Deeper nesting is one error, and its
//!   tokens become children of one flat error node. If there is no error, no expression of the tree
//!   is higher than [`MAX_DEPTH`].
//! - At most one error is reported per token, and `MAX_ERRORS` in all.
//! - Keywords are names wherever a name fits, so a gate may be called `start`. A line that starts
//!   with such a word ends an unfinished formula at the top level; inside braces it does so only if
//!   the braces of the file do not match, see `Parser::at_item_line`.

mod claims;
mod data;
mod expressions;
mod items;
mod transitions;

use super::lexer::{Token, lex};
use super::syntax::{Sts, SyntaxKind as K, SyntaxNode, is_reserved};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Limited;
use crate::diagnostics::span::Span;
use gander_runtime::check_cancelled;
use rowan::{Checkpoint, GreenNode, GreenNodeBuilder, Language};

/// The nesting depth of expressions.
pub const MAX_DEPTH: u32 = 256;

/// A syntax tree and its errors.
#[derive(Clone, Debug)]
pub struct Parse {
    green: GreenNode,
    /// The errors, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parse {
    /// The root of the tree, a [`K::SourceFile`].
    pub fn root(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }
}

/// Parses a text.
pub fn parse(text: &str) -> Parse {
    let (raw, lex_errors) = lex(text);
    let mut parser = Parser::new(text, &raw, lex_errors);
    parser.source_file();
    parser.finish()
}

/// A token that is not layout.
#[derive(Clone, Copy)]
struct Significant {
    kind: K,
    /// The index among all tokens, including layout.
    raw: u32,
    start: u32,
    newline_before: bool,
}

struct Parser<'a> {
    text: &'a str,
    raw: &'a [Token],
    tokens: Vec<Significant>,
    /// The index of the next significant token.
    at: usize,
    /// The index of the next token that is not in the tree yet.
    flushed: u32,
    flushed_offset: u32,
    builder: GreenNodeBuilder<'static>,
    diagnostics: Limited,
    /// The token for which the last error was reported.
    last_error: Option<usize>,
    depth: u32,
    too_deep: bool,
    /// The number of open braces.
    braces: u32,
    /// True if all braces of the text match.
    balanced: bool,
    /// Inside the items of a `system`, where `a in Open` means that instance a is at node Open.
    composed: bool,
    /// In a specification: the names of the instances that it reads, of which `a in Open` may be
    /// said as well.
    referred: Vec<&'a str>,
    /// Inside the bounds of a quantifier, where a dot ends the bounds.
    dot_ends: bool,
}

fn braces_match(tokens: &[Significant]) -> bool {
    let mut open = 0u32;
    for token in tokens {
        match token.kind {
            K::LBrace => open += 1,
            K::RBrace if open == 0 => return false,
            K::RBrace => open -= 1,
            _ => {}
        }
    }
    open == 0
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, raw: &'a [Token], diagnostics: Vec<Diagnostic>) -> Parser<'a> {
        let mut tokens =
            Vec::with_capacity(raw.iter().filter(|token| !token.kind.is_trivia()).count());
        let (mut offset, mut newline_before) = (0, true);
        for (index, token) in raw.iter().enumerate() {
            let end = offset + token.length;
            if token.kind.is_trivia() {
                newline_before |= token.kind == K::Whitespace
                    && text.as_bytes()[offset as usize..end as usize].contains(&b'\n');
            } else {
                tokens.push(Significant {
                    kind: token.kind,
                    raw: index as u32,
                    start: offset,
                    newline_before,
                });
                newline_before = false;
            }
            offset = end;
        }
        let balanced = braces_match(&tokens);
        Parser {
            text,
            raw,
            tokens,
            at: 0,
            flushed: 0,
            flushed_offset: 0,
            builder: GreenNodeBuilder::new(),
            diagnostics: Limited::new(diagnostics),
            last_error: None,
            depth: 0,
            too_deep: false,
            braces: 0,
            balanced,
            composed: false,
            referred: Vec::new(),
            dot_ends: false,
        }
    }

    fn finish(self) -> Parse {
        Parse { green: self.builder.finish(), diagnostics: self.diagnostics.finish() }
    }

    fn end_of(&self, token: &Significant) -> u32 {
        token.start + self.raw[token.raw as usize].length
    }

    // Lookahead.

    fn kind(&self, ahead: usize) -> K {
        self.tokens.get(self.at + ahead).map_or(K::EndOfFile, |token| token.kind)
    }

    fn at(&self, kind: K) -> bool {
        self.kind(0) == kind
    }

    fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn token_text(&self, ahead: usize) -> &'a str {
        match self.tokens.get(self.at + ahead) {
            Some(token) => &self.text[token.start as usize..self.end_of(token) as usize],
            None => "",
        }
    }

    /// The text of a name; empty for any other token.
    fn word(&self, ahead: usize) -> &'a str {
        if self.kind(ahead) == K::Ident { self.token_text(ahead) } else { "" }
    }

    fn at_word(&self, word: &str) -> bool {
        self.word(0) == word
    }

    fn newline_before(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_none_or(|token| token.newline_before)
    }

    fn span(&self, ahead: usize) -> Span {
        match self.tokens.get(self.at + ahead) {
            Some(token) => Span::new(token.start, self.end_of(token)),
            None => Span::at(self.end_of_last()),
        }
    }

    /// The end of the last consumed token.
    fn end_of_last(&self) -> u32 {
        match self.at.checked_sub(1).and_then(|last| self.tokens.get(last)) {
            Some(token) => self.end_of(token),
            None => 0,
        }
    }

    // Building the tree.

    /// Adds the layout before the next significant token to the tree.
    fn flush_layout(&mut self) {
        let until = self.tokens.get(self.at).map_or(self.raw.len() as u32, |token| token.raw);
        self.flush(until);
    }

    fn flush(&mut self, until: u32) {
        while self.flushed < until {
            let token = self.raw[self.flushed as usize];
            let end = self.flushed_offset + token.length;
            let text = &self.text[self.flushed_offset as usize..end as usize];
            self.builder.token(Sts::kind_to_raw(token.kind), text);
            self.flushed += 1;
            self.flushed_offset = end;
        }
    }

    fn bump(&mut self) {
        check_cancelled();
        if let Some(token) = self.tokens.get(self.at) {
            match token.kind {
                K::LBrace => self.braces += 1,
                K::RBrace => self.braces = self.braces.saturating_sub(1),
                _ => {}
            }
            self.flush(token.raw + 1);
            self.at += 1;
        }
    }

    fn start(&mut self, kind: K) {
        self.flush_layout();
        self.builder.start_node(Sts::kind_to_raw(kind));
    }

    fn checkpoint(&mut self) -> Checkpoint {
        self.flush_layout();
        self.builder.checkpoint()
    }

    fn start_at(&mut self, checkpoint: Checkpoint, kind: K) {
        self.builder.start_node_at(checkpoint, Sts::kind_to_raw(kind));
    }

    fn end(&mut self) {
        self.builder.finish_node();
    }

    /// Consumes a token into an error node.
    fn error_token(&mut self) {
        self.start(K::Error);
        self.bump();
        self.end();
    }

    fn eat(&mut self, kind: K) -> bool {
        let there = self.at(kind);
        if there {
            self.bump();
        }
        there
    }

    // Errors.

    fn report(&mut self, diagnostic: Diagnostic) {
        // The lexer has already reported a stray character.
        if self.at(K::Stray) || self.last_error == Some(self.at) || self.after_open_string() {
            return;
        }
        self.last_error = Some(self.at);
        self.diagnostics.push(diagnostic);
    }

    /// True if the last token is an unclosed string, which contains the token that is now missing.
    fn after_open_string(&self) -> bool {
        let Some(last) = self.at.checked_sub(1).and_then(|last| self.tokens.get(last)) else {
            return false;
        };
        let text = &self.text[last.start as usize..self.end_of(last) as usize];
        let Some(inner) = text.strip_prefix('"').filter(|_| last.kind == K::Text) else {
            return false;
        };
        let Some(inner) = inner.strip_suffix('"') else { return true };
        let backslashes = inner.len() - inner.trim_end_matches('\\').len();
        backslashes % 2 == 1
    }

    /// The place to report a missing token: the token found instead, or the end of the last token
    /// if the next one is on another line.
    fn missing_span(&self) -> Span {
        if self.newline_before(0) { Span::at(self.end_of_last()) } else { self.span(0) }
    }

    fn found(&self) -> String {
        match self.kind(0) {
            K::EndOfFile => "the end of the file".to_owned(),
            _ if self.newline_before(0) && self.at > 0 => "the end of the line".to_owned(),
            K::Text => "a string".to_owned(),
            _ => format!("`{}`", self.token_text(0).chars().take(40).collect::<String>()),
        }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let span = self.missing_span();
        Diagnostic::new(Code::E0110, span, format!("expected {what}, found {}", self.found()))
            .here(format!("expected {what}"))
    }

    fn report_expected(&mut self, what: &str) {
        let diagnostic = self.expected(what);
        self.report(diagnostic);
    }

    fn expect(&mut self, kind: K) -> bool {
        let there = self.eat(kind);
        if !there {
            self.report_expected(kind.describe());
        }
        there
    }

    /// Expects the closing partner of an opening bracket.
    fn expect_close(&mut self, kind: K, opened: Span) -> bool {
        let there = self.eat(kind);
        if !there {
            let diagnostic = self.expected(kind.describe());
            let diagnostic = Diagnostic { code: Code::E0115, ..diagnostic };
            self.report(diagnostic.label(opened, "to close this"));
        }
        there
    }

    /// A name that is declared here.
    fn name(&mut self, what: &str) -> bool {
        self.named(K::Name, what)
    }

    /// A name that is declared elsewhere.
    fn name_ref(&mut self, what: &str) -> bool {
        self.named(K::NameRef, what)
    }

    fn named(&mut self, kind: K, what: &str) -> bool {
        if !self.at(K::Ident) || self.at_item_line() {
            self.report_expected(what);
            return false;
        }
        if is_reserved(self.word(0)) {
            let word = self.word(0);
            let diagnostic = Diagnostic::new(
                Code::E0113,
                self.span(0),
                format!("`{word}` is a reserved word and cannot be a name"),
            )
            .here(format!("expected {what}"))
            .help(format!("choose another name, for example `{word}_`"));
            self.report(diagnostic);
        }
        self.start(kind);
        self.bump();
        self.end();
        true
    }

    /// `name` or `name.name`, a reference.
    fn dotted_ref(&mut self, what: &str) -> bool {
        if !self.at(K::Ident) || self.kind(1) != K::Dot || self.kind(2) != K::Ident {
            return self.name_ref(what);
        }
        self.start(K::NameRef);
        self.bump();
        self.bump();
        self.bump();
        self.end();
        true
    }

    /// Consumes tokens into an error node until `stop` holds. Balanced braces and parentheses are
    /// skipped as a whole.
    fn skip_until(&mut self, stop: impl Fn(&Self) -> bool) {
        if self.at_end() || stop(self) {
            return;
        }
        self.start(K::Error);
        let mut open = 0u32;
        while !self.at_end() && (open > 0 || !stop(self)) {
            match self.kind(0) {
                K::LBrace | K::LParen => open += 1,
                K::RBrace | K::RParen => open = open.saturating_sub(1),
                // An item at the start of a line shows that a bracket is missing.
                K::Ident if open > 0 && self.at_item_line() => open = 0,
                _ => {}
            }
            if open == 0 && self.kind(0) == K::Ident && self.newline_before(0) && stop(self) {
                break;
            }
            self.bump();
        }
        self.end();
    }
}
