//! S-expressions: a flat list of nodes, each with its first child and its next sibling.

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::report::Report;
use crate::span::Span;
use gander_runtime::check_cancelled;

/// A node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(u32);

const NONE: u32 = u32::MAX;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    List,
    /// A symbol, `:keyword`s and quoted symbols included.
    Symbol,
    /// `12`
    Numeral,
    /// `1.5`
    Decimal,
    /// `#b01` or `#x1f`
    Bits,
    /// `"text"`
    Text,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    span: Span,
    first: u32,
    next: u32,
}

/// The S-expressions of a text.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    source: &'a str,
    nodes: Vec<Node>,
    roots: Vec<Id>,
}

impl<'a> Tree<'a> {
    /// Reads a text; brackets that do not match are reported.
    pub(crate) fn parse(source: &'a str, report: &mut Report) -> Tree<'a> {
        let mut tree = Tree { source, nodes: Vec::with_capacity(source.len() / 4), roots: Vec::new() };
        // The open lists, each with its last child.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let bytes = source.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            check_cancelled();
            let start = at;
            let kind = match bytes[at] {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    at += 1;
                    continue;
                }
                b';' => {
                    at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at);
                    continue;
                }
                b')' => {
                    at += 1;
                    match open.pop() {
                        Some((list, _)) => tree.nodes[list as usize].span.end = at as u32,
                        None => {
                            let span = Span::new(start as u32, at as u32);
                            report.error(Code::E0115, span, "this `)` closes nothing");
                        }
                    }
                    continue;
                }
                b'(' => {
                    at += 1;
                    Kind::List
                }
                b'|' => {
                    at += 1;
                    match bytes[at..].iter().position(|b| *b == b'|') {
                        Some(length) => at += length + 1,
                        None => {
                            let span = Span::new(start as u32, start as u32 + 1);
                            report.error(Code::E0104, span, "this `|` is never closed");
                            at = bytes.len();
                        }
                    }
                    Kind::Symbol
                }
                b'"' => {
                    at += 1;
                    match bytes[at..].iter().position(|b| *b == b'"') {
                        Some(length) => at += length + 1,
                        None => {
                            let span = Span::new(start as u32, start as u32 + 1);
                            report.error(Code::E0104, span, "this string is never closed");
                            at = bytes.len();
                        }
                    }
                    Kind::Text
                }
                first => {
                    let ends = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' | b';' | b'"' | b'|');
                    at += bytes[at..].iter().position(ends).unwrap_or(bytes.len() - at);
                    let word = &bytes[start..at];
                    match first {
                        b'0'..=b'9' if word.iter().all(u8::is_ascii_digit) => Kind::Numeral,
                        b'0'..=b'9' if word.iter().all(|b| b.is_ascii_digit() || *b == b'.') => Kind::Decimal,
                        b'#' => Kind::Bits,
                        _ => Kind::Symbol,
                    }
                }
            };
            let id = tree.nodes.len() as u32;
            tree.nodes.push(Node { kind, span: Span::new(start as u32, at as u32), first: NONE, next: NONE });
            match open.last_mut() {
                Some((parent, last)) => {
                    if *last == NONE {
                        tree.nodes[*parent as usize].first = id;
                    } else {
                        tree.nodes[*last as usize].next = id;
                    }
                    *last = id;
                }
                None => tree.roots.push(Id(id)),
            }
            if kind == Kind::List {
                open.push((id, NONE));
            }
        }
        if let Some((list, _)) = open.first() {
            let start = tree.nodes[*list as usize].span.start;
            let diagnostic = Diagnostic::new(Code::E0115, Span::new(start, start + 1), "this `(` is never closed");
            report.add(diagnostic.help("`)` is missing somewhere behind it"));
        }
        tree
    }

    pub(crate) fn roots(&self) -> &[Id] {
        &self.roots
    }

    pub(crate) fn kind(&self, id: Id) -> Kind {
        self.nodes[id.0 as usize].kind
    }

    pub(crate) fn span(&self, id: Id) -> Span {
        self.nodes[id.0 as usize].span
    }

    /// The text of a leaf, a quoted symbol without its bars.
    pub(crate) fn text(&self, id: Id) -> &'a str {
        let text = &self.source[self.span(id).range()];
        match text.strip_prefix('|') {
            Some(rest) => rest.strip_suffix('|').unwrap_or(rest),
            None => text,
        }
    }

    /// The symbol that a node is, if it is one.
    pub(crate) fn symbol(&self, id: Id) -> Option<&'a str> {
        (self.kind(id) == Kind::Symbol).then(|| self.text(id))
    }

    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        let mut at = self.nodes[id.0 as usize].first;
        std::iter::from_fn(move || {
            if at == NONE {
                return None;
            }
            let here = at;
            at = self.nodes[here as usize].next;
            Some(Id(here))
        })
    }

    /// The children of a list, all of them.
    pub(crate) fn list(&self, id: Id) -> Vec<Id> {
        self.children(id).collect()
    }

    /// True if two nodes are written alike, but for layout.
    pub(crate) fn is_same(&self, a: Id, b: Id) -> bool {
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            if self.kind(a) != self.kind(b) {
                return false;
            }
            if self.kind(a) == Kind::List {
                let (a, b) = (self.list(a), self.list(b));
                if a.len() != b.len() {
                    return false;
                }
                open.extend(a.into_iter().zip(b));
            } else if self.text(a) != self.text(b) {
                return false;
            }
        }
        true
    }

    /// The word that a list begins with.
    pub(crate) fn head(&self, id: Id) -> Option<&'a str> {
        if self.kind(id) != Kind::List {
            return None;
        }
        self.children(id).next().and_then(|first| self.symbol(first))
    }
}
