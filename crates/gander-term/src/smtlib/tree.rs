//! S-expressions: a flat list of nodes, each with its first child and its next sibling.
//!
//! [`Tree::read`] is total: any text gives a tree and errors. White space is what SMT-LIB says:
//! space, tab and line ends.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use gander_runtime::check_cancelled;
use gander_text::{Cursor, visible};

/// A node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u32);

const NONE: u32 = u32::MAX;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `( ... )`
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
    start: u32,
    end: u32,
    first: u32,
    next: u32,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// A `)` that closes nothing.
    Unopened,
    /// The outermost `(` that is never closed.
    Unclosed,
    /// A quoted symbol without its second `|`.
    UnclosedSymbol,
    /// A string without its second `"`.
    UnclosedText,
    /// Lists within lists beyond the limit; the rest is not read.
    TooDeep,
}

/// Something wrong, and the place of the byte that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// The offset of one byte.
    pub at: u32,
}

/// How a text is read.
#[derive(Clone, Copy, Debug)]
pub struct TreeConfig {
    /// The number of lists that may be open at the same place.
    pub max_depth: usize,
    /// Whether reading checks for cancellation, which unwinds.
    pub cancellable: bool,
}

impl TreeConfig {
    /// For files: nesting is limited by memory only.
    pub const FILE: TreeConfig = TreeConfig { max_depth: usize::MAX, cancellable: true };
    /// For the output of solvers. An array with n elements is printed as n nested `store`s. Not
    /// cancellable, because a process may serve another session after its answer was read.
    pub const SOLVER: TreeConfig = TreeConfig { max_depth: 1000, cancellable: false };
}

/// The S-expressions of a text.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    source: Cow<'a, str>,
    nodes: Vec<Node>,
    roots: Vec<Id>,
}

/// What a text is that is not one S-expression, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed(pub &'static str);

impl Tree<'static> {
    /// Reads one expression with nothing but space around it.
    pub fn parse_one(bytes: &[u8], config: TreeConfig) -> Result<Tree<'static>, Malformed> {
        let text = std::str::from_utf8(bytes).map_err(|_| Malformed("text that is not UTF-8"))?;
        if u32::try_from(text.len()).is_err() {
            return Err(Malformed("more text than can be read"));
        }
        let mut first = None;
        let tree = Tree::read(text.to_owned(), config, |error| first = first.or(Some(error.kind)));
        match first {
            Some(SyntaxErrorKind::Unopened) => Err(Malformed("a closing parenthesis too many")),
            Some(SyntaxErrorKind::Unclosed) => Err(Malformed("an unfinished expression")),
            Some(SyntaxErrorKind::UnclosedSymbol) => Err(Malformed("an unfinished quoted symbol")),
            Some(SyntaxErrorKind::UnclosedText) => Err(Malformed("an unfinished string")),
            Some(SyntaxErrorKind::TooDeep) => Err(Malformed("an expression that nests too deep")),
            None => match tree.roots.len() {
                0 => Err(Malformed("nothing")),
                1 => Ok(tree),
                _ => Err(Malformed("more than one expression")),
            },
        }
    }
}

/// The bytes that end a symbol or number.
pub(super) fn is_delimiter(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'(' | b')' | b';' | b'"' | b'|')
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// What a word is that is neither quoted nor a string.
fn word_kind(first: u8, word: &[u8]) -> Kind {
    match first {
        b'0'..=b'9' if word.iter().all(u8::is_ascii_digit) => Kind::Numeral,
        b'0'..=b'9' if word.iter().all(|b| b.is_ascii_digit() || *b == b'.') => Kind::Decimal,
        b'#' => Kind::Bits,
        _ => Kind::Symbol,
    }
}

impl<'a> Tree<'a> {
    /// Reads a text of less than 4 GB. `on_error` gets the errors in the order of the text; the
    /// list that is never closed comes last.
    pub fn read(
        source: impl Into<Cow<'a, str>>,
        config: TreeConfig,
        mut on_error: impl FnMut(SyntaxError),
    ) -> Tree<'a> {
        let source = source.into();
        let mut nodes: Vec<Node> = Vec::with_capacity(source.len() / 4);
        let mut roots = Vec::new();
        // The open lists, each with its last child.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut cursor = Cursor::new(&source);
        let mut error = |kind, at: u32| on_error(SyntaxError { kind, at });
        while !cursor.is_at_end() {
            if config.cancellable {
                check_cancelled();
            }
            let start = cursor.position() as u32;
            let (kind, length) = match cursor.byte(0) {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    cursor.bump(1);
                    continue;
                }
                b';' => {
                    cursor.bump(cursor.line());
                    continue;
                }
                b')' => {
                    cursor.bump(1);
                    match open.pop() {
                        Some((list, _)) => nodes[list as usize].end = start + 1,
                        None => error(SyntaxErrorKind::Unopened, start),
                    }
                    continue;
                }
                b'(' => {
                    if open.len() >= config.max_depth {
                        error(SyntaxErrorKind::TooDeep, start);
                        break;
                    }
                    (Kind::List, 1)
                }
                b'|' => {
                    let end = cursor.run_bytes(1, |b| b != b'|');
                    let closed = cursor.byte(end) == b'|';
                    if !closed {
                        error(SyntaxErrorKind::UnclosedSymbol, start);
                    }
                    (Kind::Symbol, end + usize::from(closed))
                }
                b'"' => {
                    let mut end = cursor.run_bytes(1, |b| b != b'"');
                    // A quote is written twice within a string.
                    while cursor.byte(end) == b'"' && cursor.byte(end + 1) == b'"' {
                        end = cursor.run_bytes(end + 2, |b| b != b'"');
                    }
                    let closed = cursor.byte(end) == b'"';
                    if !closed {
                        error(SyntaxErrorKind::UnclosedText, start);
                    }
                    (Kind::Text, end + usize::from(closed))
                }
                first => {
                    let length = cursor.run_bytes(1, |b| !is_delimiter(b));
                    (word_kind(first, cursor.bytes(length)), length)
                }
            };
            cursor.bump(length);
            let id = nodes.len() as u32;
            let end = cursor.position() as u32;
            nodes.push(Node { kind, start, end, first: NONE, next: NONE });
            match open.last_mut() {
                Some((parent, last)) => {
                    if *last == NONE {
                        nodes[*parent as usize].first = id;
                    } else {
                        nodes[*last as usize].next = id;
                    }
                    *last = id;
                }
                None => roots.push(Id(id)),
            }
            if kind == Kind::List {
                open.push((id, NONE));
            }
        }
        if let Some((list, _)) = open.first() {
            error(SyntaxErrorKind::Unclosed, nodes[*list as usize].start);
        }
        Tree { source, nodes, roots }
    }

    /// The outermost expressions.
    pub fn roots(&self) -> &[Id] {
        &self.roots
    }

    /// What a node is.
    pub fn kind(&self, id: Id) -> Kind {
        self.nodes[id.0 as usize].kind
    }

    /// Where a node is in the text.
    pub fn range(&self, id: Id) -> Range<u32> {
        let node = &self.nodes[id.0 as usize];
        node.start..node.end
    }

    /// The text of a node, a quoted symbol without its bars.
    pub fn text(&self, id: Id) -> &str {
        let node = &self.nodes[id.0 as usize];
        let text = &self.source[node.start as usize..node.end as usize];
        match text.strip_prefix('|') {
            Some(rest) => rest.strip_suffix('|').unwrap_or(rest),
            None => text,
        }
    }

    /// The symbol that a node is, if it is one.
    pub fn symbol(&self, id: Id) -> Option<&str> {
        (self.kind(id) == Kind::Symbol).then(|| self.text(id))
    }

    /// The contents of a string literal, with `""` read as `"` and other escapes as they stand.
    pub fn string(&self, id: Id) -> Option<String> {
        let inside = (self.kind(id) == Kind::Text).then(|| self.text(id).strip_prefix('"'))??;
        Some(inside.strip_suffix('"').unwrap_or(inside).replace("\"\"", "\""))
    }

    /// The children of a list, in their order.
    pub fn children(&self, id: Id) -> impl Iterator<Item = Id> {
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
    pub fn list(&self, id: Id) -> Vec<Id> {
        self.children(id).collect()
    }

    /// True if two nodes are written alike, but for layout.
    pub fn is_same(&self, a: Id, b: Id) -> bool {
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
    pub fn head(&self, id: Id) -> Option<&str> {
        if self.kind(id) != Kind::List {
            return None;
        }
        self.children(id).next().and_then(|first| self.symbol(first))
    }

    /// The first expression.
    ///
    /// # Panics
    /// If there is none; a tree of [`Tree::parse_one`] has one.
    pub fn root(&self) -> Sexpr<'_> {
        Sexpr { tree: self, id: self.roots[0] }
    }
}

/// An expression of a tree.
#[derive(Clone, Copy)]
pub struct Sexpr<'t> {
    tree: &'t Tree<'t>,
    id: Id,
}

impl<'t> Sexpr<'t> {
    /// The tree that it is in.
    pub fn tree(self) -> &'t Tree<'t> {
        self.tree
    }

    /// Its node.
    pub fn id(self) -> Id {
        self.id
    }

    /// The symbol (without its bars), keyword or number, if it is one.
    pub fn atom(self) -> Option<&'t str> {
        match self.tree.kind(self.id) {
            Kind::List | Kind::Text => None,
            _ => Some(self.tree.text(self.id)),
        }
    }

    /// The contents of the string literal, if it is one.
    pub fn string(self) -> Option<String> {
        self.tree.string(self.id)
    }

    /// The elements, if it is a list.
    pub fn list(self) -> Option<Vec<Sexpr<'t>>> {
        let tree = self.tree;
        (tree.kind(self.id) == Kind::List)
            .then(|| tree.children(self.id).map(|id| Sexpr { tree, id }).collect())
    }

    /// The elements, if it is a list of exactly `N`.
    pub fn elements<const N: usize>(self) -> Option<[Sexpr<'t>; N]> {
        self.list()?.try_into().ok()
    }
}

impl fmt::Debug for Sexpr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Sexpr<'_> {
    /// Shortened for messages. Recurses over lists: only for trees whose depth is limited.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(atom) = self.atom() {
            return write!(f, "{}", shortened(atom));
        }
        if let Some(text) = self.string() {
            return write!(f, "\"{}\"", shortened(&text));
        }
        let items = self.list().unwrap_or_default();
        write!(f, "(")?;
        for (i, item) in items.iter().take(8).enumerate() {
            write!(f, "{}{item}", if i == 0 { "" } else { " " })?;
        }
        write!(f, "{})", if items.len() > 8 { " ..." } else { "" })
    }
}

/// A text cut to what a message can hold.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 160;
    let cut = text.char_indices().nth(LONGEST);
    let head = visible(cut.map_or(text, |(end, _)| &text[..end]));
    if cut.is_some() { format!("{head}...") } else { head.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, Malformed> {
        let tree = Tree::parse_one(text.as_bytes(), TreeConfig::SOLVER)?;
        Ok(tree.root().to_string())
    }

    #[test]
    fn reads_nested_lists_texts_and_bars() {
        let tree = Tree::parse_one(b" (a |b c| \"x\"\"y\" (1.5)) ; comment\n", TreeConfig::SOLVER)
            .unwrap();
        let [a, b, text, list] = tree.root().elements().unwrap();
        assert_eq!((a.atom(), b.atom(), text.atom()), (Some("a"), Some("b c"), None));
        assert_eq!(text.string().as_deref(), Some("x\"y"));
        assert_eq!(list.elements::<1>().unwrap()[0].atom(), Some("1.5"));
        assert_eq!(parse("(a\t(b) \"\" )").unwrap(), "(a (b) \"\")");
    }

    #[test]
    fn malformed_expressions_are_errors() {
        let deep = "(".repeat(100_000) + &")".repeat(100_000);
        for bad in ["", ")", "(", "\"abc", "\"abc\"\"", "|abc", "|", "a b", &deep] {
            assert!(parse(bad).is_err(), "{bad:.20}");
        }
        assert!(Tree::parse_one(&[0xff, 0xfe], TreeConfig::SOLVER).is_err());
    }

    #[test]
    fn every_error_has_its_place() {
        let errors = |text: &str| {
            let mut found = Vec::new();
            Tree::read(text, TreeConfig::FILE, |e| found.push((e.kind, e.at)));
            found
        };
        use SyntaxErrorKind::*;
        assert_eq!(errors("a) (b"), [(Unopened, 1), (Unclosed, 3)]);
        assert_eq!(errors("((a \"x"), [(UnclosedText, 4), (Unclosed, 0)]);
        assert_eq!(errors("x |é"), [(UnclosedSymbol, 2)]);
        assert_eq!(errors("(é |ü| \"ö\") ; )"), []);
    }
}
