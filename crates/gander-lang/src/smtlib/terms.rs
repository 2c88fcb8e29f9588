//! Terms of a file, with diagnostics for what cannot be read.

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use gander_runtime::check_cancelled;
use gander_term::smtlib::{
    Id, Problem, ProblemKind, Reading, SyntaxErrorKind, TermReader, Tree, TreeConfig,
};
use gander_term::{Pool, Sort, SymbolId, TermId};

/// Reads a text; brackets that do not match are reported.
pub(crate) fn read_tree<'a>(source: &'a str, report: &mut Report) -> Tree<'a> {
    Tree::read(source, TreeConfig::FILE, |error| {
        let span = Span::new(error.at, error.at + 1);
        match error.kind {
            SyntaxErrorKind::Unopened => {
                report.error(Code::E0115, span, "this `)` closes nothing");
            }
            SyntaxErrorKind::UnclosedSymbol => {
                report.error(Code::E0104, span, "this `|` is never closed");
            }
            SyntaxErrorKind::UnclosedText => {
                report.error(Code::E0104, span, "this string is never closed");
            }
            SyntaxErrorKind::Unclosed | SyntaxErrorKind::TooDeep => {
                let diagnostic = Diagnostic::new(Code::E0115, span, "this `(` is never closed");
                report.add(diagnostic.help("`)` is missing somewhere behind it"));
            }
        }
    })
}

/// Where nodes are.
pub(crate) trait Spans {
    fn span(&self, id: Id) -> Span;
}

impl Spans for Tree<'_> {
    fn span(&self, id: Id) -> Span {
        let range = self.range(id);
        Span::new(range.start, range.end)
    }
}

/// Reads terms in a scope; problems are reported.
pub(crate) struct Terms<'r, 'a> {
    pub tree: &'a Tree<'a>,
    pub pool: Pool,
    pub report: &'r mut Report,
    pub reader: TermReader<'a>,
}

impl<'r, 'a> Terms<'r, 'a> {
    pub(crate) fn new(tree: &'a Tree<'a>, report: &'r mut Report) -> Terms<'r, 'a> {
        let reader = TermReader::new(tree, Reading::File);
        Terms { tree, pool: Pool::new(), report, reader }
    }

    /// Reports a construct that has no meaning here.
    pub(crate) fn unsupported(&mut self, span: Span, what: &str) {
        self.report.error(Code::E0510, span, format!("{what} is not supported"));
    }

    /// Reports something that was expected.
    pub(crate) fn expected(&mut self, at: Id, what: &str) {
        self.report.error(Code::E0110, self.tree.span(at), format!("expected {what}"));
    }

    /// The sort that a node names; `None` once something was reported.
    pub(crate) fn sort(&mut self, id: Id) -> Option<Sort> {
        let read = self.reader.sort(&mut self.pool, id);
        self.reported(read)
    }

    /// The list `((x Int) (y Bool))`; `None` once something was reported.
    pub(crate) fn sorted_names(&mut self, id: Id) -> Option<Vec<(&'a str, Sort, Id)>> {
        let read = self.reader.sorted_names(&mut self.pool, id);
        self.reported(read)
    }

    /// A term of a sort, or `None` once something was reported; an int where a real is needed
    /// becomes one.
    pub(crate) fn term_of(&mut self, id: Id, sort: Sort) -> Option<TermId> {
        let read = self.reader.term_of(&mut self.pool, id, sort);
        self.reported(read)
    }

    /// The term of a node; `None` once something was reported.
    pub(crate) fn term(&mut self, root: Id) -> Option<TermId> {
        let read = self.reader.term(&mut self.pool, root);
        self.reported(read)
    }

    /// The different words below a node.
    pub(crate) fn words(&self, id: Id) -> Vec<&'a str> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = Vec::new();
        let mut stack = vec![id];
        while let Some(top) = stack.pop() {
            check_cancelled();
            match self.tree.symbol(top) {
                Some(word) if seen.insert(word) => found.push(word),
                _ => stack.extend(self.tree.children(top)),
            }
        }
        found
    }

    /// A fresh symbol with about this name.
    pub(crate) fn fresh(&mut self, name: &str, sort: Sort) -> SymbolId {
        self.pool.declare_fresh(name, sort)
    }

    fn reported<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.problem(problem)).ok()
    }

    fn problem(&mut self, problem: Problem) {
        let code = match problem.kind {
            ProblemKind::Syntax => Code::E0110,
            ProblemKind::Literal => Code::E0107,
            ProblemKind::UnknownName => Code::E0202,
            ProblemKind::Sort => Code::E0301,
            ProblemKind::Operator => Code::E0302,
            ProblemKind::Arguments => Code::E0304,
            ProblemKind::Unsupported => Code::E0510,
        };
        let diagnostic = Diagnostic::new(code, self.tree.span(problem.at), problem.message);
        if problem.kind != ProblemKind::UnknownName {
            self.report.add(diagnostic);
            return;
        }
        let scope = &self.reader.scope;
        let mut near = None;
        if scope.len() < 10_000 && !self.report.is_full() {
            let mut known: Vec<&str> = scope.keys().copied().collect();
            known.sort_unstable();
            near = nearest(self.tree.text(problem.at), known);
        }
        self.report.add(diagnostic.did_you_mean(near));
    }
}
