//! Accessors for the syntax tree.

use super::syntax::{Sts, SyntaxKind, SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::diagnostics::span::Span;
use rowan::{GreenNodeData, Language, NodeOrToken};

/// The span of a node, without surrounding layout.
pub fn span(node: &SyntaxNode) -> Span {
    let range = node.text_range();
    Span::new(range.start().into(), range.end().into())
}

/// The span of a token.
pub fn token_span(token: &SyntaxToken) -> Span {
    let range = token.text_range();
    Span::new(range.start().into(), range.end().into())
}

/// The first child node of a kind.
pub fn child(node: &SyntaxNode, kind: K) -> Option<SyntaxNode> {
    node.first_child_by_kind(&|found| found == kind)
}

/// The child nodes of a kind.
pub fn children(node: &SyntaxNode, kind: K) -> impl Iterator<Item = SyntaxNode> {
    node.children().by_kind(move |found| found == kind)
}

/// The child expressions, in order.
pub fn expressions(node: &SyntaxNode) -> impl Iterator<Item = SyntaxNode> {
    node.children().by_kind(SyntaxKind::is_expression)
}

/// The first child expression.
pub fn expression(node: &SyntaxNode) -> Option<SyntaxNode> {
    node.first_child_by_kind(&SyntaxKind::is_expression)
}

/// The tokens directly below a node that are not layout.
pub fn tokens(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> {
    node.children_with_tokens()
        .by_kind(|kind| kind.is_token() && !kind.is_trivia())
        .filter_map(|child| child.into_token())
}

/// A token of the green tree; reading it does not allocate.
#[derive(Clone, Copy)]
pub struct Leaf<'a> {
    /// Its kind.
    pub kind: K,
    /// Its text.
    pub text: &'a str,
    /// Where it is.
    pub span: Span,
}

/// The tokens directly below a green node that are not layout; the node starts at `start`.
pub fn leaves(green: &GreenNodeData, start: u32) -> impl Iterator<Item = Leaf<'_>> {
    let mut at = start;
    green.children().filter_map(move |child| {
        let begin = at;
        match child {
            NodeOrToken::Node(node) => {
                at += u32::from(node.text_len());
                None
            }
            NodeOrToken::Token(token) => {
                at += u32::from(token.text_len());
                let kind = Sts::kind_from_raw(token.kind());
                (!kind.is_trivia()).then(|| Leaf {
                    kind,
                    text: token.text(),
                    span: Span::new(begin, at),
                })
            }
        }
    })
}

/// The first name token directly below a node.
pub fn ident(node: &SyntaxNode) -> Option<SyntaxToken> {
    node.first_child_or_token_by_kind(&|kind| kind == K::Ident).and_then(|found| found.into_token())
}

/// The name that a node declares.
pub fn name(node: &SyntaxNode) -> Option<SyntaxToken> {
    child(node, K::Name).and_then(|name| ident(&name))
}

/// The names that a node declares.
pub fn names(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> {
    children(node, K::Name).filter_map(|name| ident(&name))
}

/// The names that a node refers to. A dotted one has two tokens; see [`dotted`].
pub fn references(node: &SyntaxNode) -> impl Iterator<Item = SyntaxNode> {
    children(node, K::NameRef)
}

/// The first name that a node refers to.
pub fn reference(node: &SyntaxNode) -> Option<SyntaxToken> {
    child(node, K::NameRef).and_then(|name| ident(&name))
}

/// The parts of `a` or `a.b`.
pub fn dotted(node: &SyntaxNode) -> (Option<SyntaxToken>, Option<SyntaxToken>) {
    let mut names = tokens(node).filter(|token| token.kind() == K::Ident);
    (names.next(), names.next())
}

/// An expression without its outer parentheses.
pub fn without_parentheses(node: &SyntaxNode) -> SyntaxNode {
    let mut node = node.clone();
    while node.kind() == K::ParenExpr {
        match expression(&node) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// The conjuncts of a formula: the operands of its topmost `and`.
pub fn conjuncts(node: &SyntaxNode) -> Vec<SyntaxNode> {
    if node.kind() == K::AndExpr { expressions(node).collect() } else { vec![node.clone()] }
}

/// True if an expression is a quotient of whole literals, such as `1/3`: a number where a real is
/// expected.
pub fn is_literal_quotient(node: &SyntaxNode) -> bool {
    let node = without_parentheses(node);
    let whole = |operand: SyntaxNode| {
        let operand =
            if operand.kind() == K::NegExpr { expression(&operand) } else { Some(operand) };
        operand.is_some_and(|operand| {
            tokens(&operand).next().is_some_and(|token| token.kind() == K::Int)
        })
    };
    node.kind() == K::MulExpr
        && tokens(&node).all(|token| token.kind() == K::Slash)
        && expressions(&node).all(whole)
}
