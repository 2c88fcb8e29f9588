//! The formatter: one layout for every file; it changes only layout.
//!
//! It walks the tokens of the lossless tree in order and decides what separates each two: nothing,
//! a space, or a line end with an indentation. Comments are tokens like any other, so none is lost.
//! The author's line ends inside a formula are kept; of consecutive blank lines one is kept. Blocks
//! written on one line stay on one line. Separators in effects become commas on one line and line
//! ends otherwise, and `-2^2` becomes `(-2)^2`, which is its meaning.
//!
//! Formatting is idempotent.

use super::parser::parse;
use super::syntax::{SyntaxElement, SyntaxKind as K, SyntaxNode, SyntaxToken};
use super::tree;
use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use rowan::{NodeOrToken, WalkEvent};

/// Formats a text; for a text with syntax errors, returns the errors.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    if let Some(diagnostic) = super::unreadable(source) {
        return Err(vec![diagnostic]);
    }
    let parsed = parse(source);
    if parsed.diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error) {
        return Err(parsed.diagnostics);
    }
    Ok(format_tree(&parsed.root()))
}

const INDENT: usize = 2;
const CONTINUATION: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    OneLine,
    Lines,
}

/// The last written token, as far as spacing depends on it.
#[derive(Clone, Copy)]
struct Last {
    kind: K,
    parent: K,
}

struct Printer {
    out: String,
    last: Option<Last>,
    /// The author's line ends since the last token.
    newlines: usize,
    /// The next token starts an item or an element, or closes a block.
    structural: bool,
    /// A line end must come before the next token.
    must_break: bool,
    /// Blank lines are dropped here: right after an opening brace.
    no_blank: bool,
    blocks: Vec<Layout>,
}

/// The text of a node as the formatter would write it on one line, without comments, truncated
/// after about `limit` bytes. So names derived from a text do not depend on its layout.
pub(super) fn one_line(node: &SyntaxNode, limit: usize) -> String {
    let mut printer = Printer::new();
    for event in node.preorder_with_tokens() {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) if needs_parentheses(&node) => {
                printer.write("(", K::LParen, K::ParenExpr);
            }
            WalkEvent::Leave(NodeOrToken::Node(node)) if needs_parentheses(&node) => {
                printer.write(")", K::RParen, K::ParenExpr);
            }
            WalkEvent::Enter(NodeOrToken::Token(token)) if !token.kind().is_trivia() => {
                printer.token(&token)
            }
            _ => {}
        }
        if printer.out.len() > limit {
            let end = (0..=limit).rev().find(|&at| printer.out.is_char_boundary(at)).unwrap_or(0);
            printer.out.truncate(end);
            printer.out.push('…');
            break;
        }
    }
    printer.out
}

fn format_tree(root: &SyntaxNode) -> String {
    let mut printer = Printer::new();
    for event in root.preorder_with_tokens() {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) => printer.enter(&node),
            WalkEvent::Enter(NodeOrToken::Token(token)) => printer.token(&token),
            WalkEvent::Leave(NodeOrToken::Node(node)) => printer.leave(&node),
            WalkEvent::Leave(NodeOrToken::Token(_)) => {}
        }
    }
    if !printer.out.is_empty() {
        printer.out.push('\n');
    }
    printer.out
}

fn is_block(kind: K) -> bool {
    matches!(kind, K::NodeBody | K::EffectBlock | K::MatchExpr) || is_listing(kind)
}

/// True for declarations that list their parts in braces.
fn is_listing(kind: K) -> bool {
    matches!(kind, K::EnumDecl | K::RecordDecl | K::DataDecl)
}

/// True if the children of such a node are items or elements.
fn holds_elements(kind: K) -> bool {
    is_block(kind) || kind == K::SourceFile
}

fn is_element(node: &SyntaxNode) -> bool {
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        K::SourceFile | K::NodeBody | K::EffectBlock => true,
        K::MatchExpr => node.kind() == K::MatchArm,
        kind if is_listing(kind) => inside_braces(node),
        _ => false,
    }
}

/// True if a child of an `enum` is one of its values, not its name.
fn inside_braces(node: &SyntaxNode) -> bool {
    node.siblings_with_tokens(rowan::Direction::Prev).any(|sibling| sibling.kind() == K::LBrace)
}

fn layout(block: &SyntaxNode) -> Layout {
    let open = block.children_with_tokens().find(|child| child.kind() == K::LBrace);
    let start = open.map_or(block.text_range().start(), |brace| brace.text_range().start());
    let inner = block.text().slice(start - block.text_range().start()..);
    let members = block.children().filter(is_element).count();
    let crowded = block.kind() == K::NodeBody && members > 1;
    if inner.contains_char('\n') || crowded { Layout::Lines } else { Layout::OneLine }
}

impl Printer {
    fn new() -> Printer {
        Printer {
            out: String::new(),
            last: None,
            newlines: 0,
            structural: true,
            must_break: false,
            no_blank: true,
            blocks: Vec::new(),
        }
    }

    fn enter(&mut self, node: &SyntaxNode) {
        if is_element(node) {
            self.structural = true;
            let top = node.parent().is_some_and(|parent| parent.kind() == K::SourceFile);
            self.must_break |= self.last.is_some() && (top || self.in_lines());
        }
        if needs_parentheses(node) {
            self.write("(", K::LParen, K::ParenExpr);
        }
    }

    fn leave(&mut self, node: &SyntaxNode) {
        if needs_parentheses(node) {
            self.write(")", K::RParen, K::ParenExpr);
        }
        if is_element(node) && self.separator_after(node) {
            self.out.push(',');
            self.last = Some(Last { kind: K::Comma, parent: K::EffectBlock });
        }
    }

    fn separator_after(&self, node: &SyntaxNode) -> bool {
        let Some(parent) = node.parent() else { return false };
        let next = node.next_sibling().filter(is_element);
        match (parent.kind(), self.in_lines()) {
            (K::MatchExpr, true) => true,
            (kind, true) if is_listing(kind) => true,
            (K::EffectBlock | K::MatchExpr, false) => next.is_some(),
            (kind, false) if is_listing(kind) => next.is_some(),
            // Without a separator, the next element would continue this formula.
            (K::EffectBlock, true) => next.is_some_and(|next| may_continue(&next)),
            _ => false,
        }
    }

    fn in_lines(&self) -> bool {
        self.blocks.last() == Some(&Layout::Lines)
    }

    fn token(&mut self, token: &SyntaxToken) {
        let parent = token.parent().map_or(K::SourceFile, |parent| parent.kind());
        match token.kind() {
            K::Whitespace => {
                self.newlines += token.text().bytes().filter(|byte| *byte == b'\n').count();
            }
            K::LineComment | K::BlockComment => self.comment(token, parent),
            K::Comma | K::Semicolon if holds_elements(parent) => {}
            K::RBrace if is_block(parent) => {
                self.structural = true;
                self.no_blank = true;
                let lines = self.blocks.pop();
                self.must_break |= lines == Some(Layout::Lines) && !self.just_opened();
                self.write("}", K::RBrace, parent);
            }
            K::LBrace if is_block(parent) => {
                self.write("{", K::LBrace, parent);
                self.blocks.extend(token.parent().map(|block| layout(&block)));
            }
            // `1/3` is written without spaces, like a number.
            K::Slash if token.parent().is_some_and(|node| tree::is_literal_quotient(&node)) => {
                self.write("/", K::Slash, K::Literal);
            }
            kind => self.write(token.text(), kind, parent),
        }
    }

    fn just_opened(&self) -> bool {
        self.last.is_some_and(|last| last.kind == K::LBrace && is_block(last.parent))
    }

    fn comment(&mut self, token: &SyntaxToken, parent: K) {
        let between = holds_elements(parent);
        let own_line = self.newlines > 0 || self.last.is_none();
        if own_line && between {
            self.structural = true;
        }
        let (structural, must_break) = (self.structural, self.must_break);
        if own_line {
            self.must_break |= self.last.is_some();
        } else {
            // Beside the last token, regardless of the next one.
            self.must_break = false;
        }
        let text = token.text().trim_end().replace("\r\n", "\n");
        let opened = self.no_blank && !own_line;
        self.write(&text, token.kind(), parent);
        self.no_blank = opened;
        self.structural = between || (structural && own_line);
        self.must_break = token.kind() == K::LineComment || (must_break && !own_line);
    }

    fn write(&mut self, text: &str, kind: K, parent: K) {
        if let Some(last) = self.last {
            let brace = kind == K::LBrace && is_block(parent);
            let kept = self.newlines > 0
                && !brace
                && (!self.structural || self.in_lines() || self.blocks.is_empty());
            if self.must_break
                || (kept && last.kind != K::Comma)
                || (kept && !is_block(last.parent))
            {
                self.line_end(kind);
            } else if spaced(last, Last { kind, parent }) {
                self.out.push(' ');
            }
        }
        self.out.push_str(text);
        self.last = Some(Last { kind, parent });
        self.newlines = 0;
        self.must_break = false;
        self.structural = false;
        self.no_blank = kind == K::LBrace && is_block(parent);
    }

    fn line_end(&mut self, kind: K) {
        if self.structural && self.newlines > 1 && !self.no_blank {
            self.out.push('\n');
        }
        self.out.push('\n');
        let depth = self.blocks.iter().filter(|layout| **layout == Layout::Lines).count();
        let closing = matches!(kind, K::RParen | K::RBracket);
        let extra = if self.structural || closing { 0 } else { CONTINUATION };
        self.out.extend(std::iter::repeat_n(' ', depth * INDENT + extra));
    }
}

/// `-2^2` means `(-2)^2`: make it explicit.
fn needs_parentheses(node: &SyntaxNode) -> bool {
    node.kind() == K::NegExpr
        && node.parent().is_some_and(|parent| parent.kind() == K::PowerExpr)
        && node.next_sibling().is_some()
}

/// True if an element could be read as the continuation of a formula: it starts with a minus, or
/// with `in`, which can follow an instance.
fn may_continue(node: &SyntaxNode) -> bool {
    let mut element = Some(SyntaxElement::Node(node.clone()));
    while let Some(NodeOrToken::Node(inner)) = element {
        element = inner.children_with_tokens().find(|child| !child.kind().is_trivia());
        if needs_parentheses(&inner) {
            return false;
        }
    }
    let Some(NodeOrToken::Token(token)) = element else { return false };
    token.kind() == K::Minus || token.text() == "in"
}

fn spaced(last: Last, next: Last) -> bool {
    use K::*;
    let quantifier_dot =
        |token: Last| token.kind == Dot && matches!(token.parent, QuantExpr | FamilyExpr);
    let set_brace = |token: Last| matches!(token.parent, InExpr | InNodes);
    if next.kind.is_comment() || last.kind.is_comment() {
        return true;
    }
    if quantifier_dot(last) {
        return true;
    }
    match (last.kind, next.kind) {
        (LBrace, _) if last.parent == RecordExpr => false,
        (_, LBrace | RBrace) if next.parent == RecordExpr => false,
        // `q == [a, b]`, but `a[i]`.
        (LBracket, _) | (_, RBracket) => false,
        (_, LBracket) if next.parent == ListExpr => last.kind != LParen,
        (_, LBracket) => false,
        (LParen, _) | (_, RParen | Comma | Semicolon | Prime | Colon) => false,
        (Dot | DotDot, _) | (_, Dot | DotDot) => false,
        (Caret, _) | (_, Caret) => false,
        (Slash, _) if last.parent == Literal => false,
        (_, Slash) if next.parent == Literal => false,
        (Minus, _) if last.parent == NegExpr => false,
        (Bang, _) => false,
        (LBrace, RBrace) => false,
        (LBrace, _) if set_brace(last) => false,
        (_, RBrace) if set_brace(next) => false,
        // `sync s(a.x, b.y)`, and a space behind shared parameters or indices.
        (_, LParen) if next.parent == Sync => last.parent != Name,
        (_, LParen) => !matches!(
            next.parent,
            CallExpr | FillExpr | ParamList | Pattern | SharedParams | SpecHeader | Instance
        ),
        _ => true,
    }
}
