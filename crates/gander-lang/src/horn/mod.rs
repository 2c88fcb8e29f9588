//! Constrained Horn clauses: `(set-logic HORN)` with assertions, and the older dialect with `(rule
//! …)` and `(query P)`.
//!
//! A linear system is a transition system whose nodes are the predicates: a fact is a start, a
//! clause from one predicate to another is a transition, a clause with head false is a claim
//! (Bjørner, Gurfinkel, McMillan, Rybalchenko: Horn clause solvers for program verification, 2015).
//! The clauses are satisfiable iff all claims hold. In the rule dialect a query asks whether its
//! predicate can be derived, and the claim is that it cannot. Clauses with several predicates are
//! made linear by unfolding non-recursive predicates; clauses that stay non-linear are rejected.

mod clauses;
mod control;
mod unfold;

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::language::Loaded;
use crate::machine::file_stem;
use crate::smtlib::terms::{Spans, Terms, read_tree};
use crate::vmt::define;
use clauses::Clause;
use gander_term::Sort;
use gander_term::smtlib::{Id, Kind, Meaning};

/// Reads Horn clauses.
pub fn load(source: &str, file_name: &str) -> Loaded {
    let mut report = Report::default();
    if let Some(diagnostic) = crate::sts::unreadable(source) {
        report.add(diagnostic);
        return report.loaded(Vec::new());
    }
    let tree = read_tree(source, &mut report);
    let mut file = File { terms: Terms::new(&tree, &mut report), clauses: Vec::new() };
    for &command in tree.roots() {
        file.command(command);
    }
    let File { mut terms, mut clauses } = file;
    let mut systems = Vec::new();
    if !terms.report.has_errors() {
        unfold::linear(&mut terms, &mut clauses);
    }
    if !terms.report.has_errors() && clauses.iter().all(|c| c.head.is_some()) {
        let diagnostic = Diagnostic::new(
            Code::W0803,
            Span::at(0),
            "no clause leads to false, so nothing is asked",
        );
        terms.report.add(diagnostic);
    }
    if !terms.report.has_errors() {
        let (pool, predicates) = (terms.pool, terms.reader.predicates);
        match control::system(&file_stem(file_name), pool, &predicates, &clauses) {
            Ok(system) => systems.push(system),
            Err(error) => {
                report.error(Code::E0901, Span::at(0), format!("this cannot be built: {error}"))
            }
        }
    }
    report.loaded(systems)
}

struct File<'t, 'a> {
    terms: Terms<'t, 'a>,
    clauses: Vec<Clause>,
}

impl File<'_, '_> {
    fn command(&mut self, command: Id) -> Option<()> {
        let terms = &mut self.terms;
        let tree = terms.tree;
        let parts = tree.list(command);
        match (tree.head(command), &parts[..]) {
            (Some("set-logic"), [_, logic]) if tree.text(*logic) != "HORN" => {
                let message = format!(
                    "the logic is `{}`: gander reads Horn clauses (`HORN`)",
                    tree.text(*logic)
                );
                terms.report.error(Code::E0510, tree.span(command), message);
            }
            (
                Some(
                    "set-logic" | "set-info" | "set-option" | "check-sat" | "get-model" | "exit"
                    | "get-info" | "get-proof",
                ),
                _,
            ) => {}
            (Some("declare-datatypes" | "declare-datatype"), _) => terms.datatypes(command)?,
            (Some("declare-rel"), [_, name, sorts]) => self.declare(*name, *sorts)?,
            (Some("declare-fun"), [_, name, sorts, sort]) => {
                if terms.sort(*sort)? != Sort::Bool {
                    let what = format!("the function `{}`", tree.text(*name));
                    terms.unsupported(tree.span(command), &what);
                    return None;
                }
                self.declare(*name, *sorts)?;
            }
            // A constant shared by all clauses: a predicate without arguments.
            (Some("declare-const"), [_, name, sort]) if terms.sort(*sort)? == Sort::Bool => {
                self.declare_with(*name, Vec::new())
            }
            (Some("declare-const"), [_, name, _]) => {
                let what = format!(
                    "the constant `{}`, which is the same in all clauses,",
                    tree.text(*name)
                );
                terms.unsupported(tree.span(command), &what);
                return None;
            }
            (Some("declare-var"), [_, name, sort]) => self.declare_variable(*name, *sort)?,
            (Some("define-fun"), _) => {
                terms.reader.atoms.clear();
                define(terms, command)?;
                if let Some(atom) = terms.reader.atoms.first() {
                    let what = format!(
                        "the predicate `{}` within a definition",
                        terms.reader.predicates[atom.predicate].0
                    );
                    terms.unsupported(tree.span(command), &what);
                    return None;
                }
            }
            (Some("assert"), [_, _, more, ..]) => terms.expected(*more, "one formula"),
            (Some("assert" | "rule"), [_, formula, ..]) => {
                // A rule may be `(! formula :named name)`.
                let span = tree.span(command);
                let made = clauses::read(terms, *formula, span)?;
                self.clauses.push(made);
            }
            (Some("query"), [_, goal, ..]) => self.query(*goal, tree.span(command))?,
            (Some(word), _) => {
                let what = format!("the command `{word}`");
                terms.unsupported(tree.span(command), &what);
            }
            (None, _) => terms.expected(command, "a command"),
        }
        Some(())
    }

    /// A variable of the clauses that follow.
    fn declare_variable(&mut self, name: Id, sort: Id) -> Option<()> {
        let terms = &mut self.terms;
        let sort = terms.sort(sort)?;
        let text = terms.tree.text(name);
        let symbol = terms.fresh(text, sort);
        let term = terms.pool.var(symbol);
        // A variable may be declared again, since clauses do not share variables.
        if let Some(before) = terms.reader.scope.insert(text, Meaning::Term(term))
            && !matches!(before, Meaning::Term(t) if terms.pool.sort(t) == sort)
        {
            let message = format!("`{text}` is declared twice");
            terms.report.error(Code::E0201, terms.tree.span(name), message);
        }
        Some(())
    }

    /// The clause of a query in the rule dialect.
    fn query(&mut self, goal: Id, span: Span) -> Option<()> {
        let terms = &mut self.terms;
        let tree = terms.tree;
        let mut made = match clauses::any_member(terms, goal, span) {
            Some(made) => made,
            None => clauses::read(terms, goal, span)?,
        };
        // The goal was parsed as a fact.
        match made.head.take() {
            Some(head) if made.body.is_empty() && made.constraint.is_empty() => {
                made.body.push(head)
            }
            _ => {
                terms.expected(goal, "a predicate");
                return None;
            }
        }
        made.name = (tree.kind(goal) == Kind::Symbol).then(|| tree.text(goal).to_string());
        self.clauses.push(made);
        Some(())
    }

    fn declare(&mut self, name: Id, sorts: Id) -> Option<()> {
        let terms = &mut self.terms;
        let mut args = Vec::new();
        for s in terms.tree.list(sorts) {
            args.push(terms.sort(s)?);
        }
        self.declare_with(name, args);
        Some(())
    }

    fn declare_with(&mut self, name: Id, args: Vec<Sort>) {
        let terms = &mut self.terms;
        let text = terms.tree.text(name);
        if terms.reader.scope.contains_key(text) {
            terms.report.error(
                Code::E0201,
                terms.tree.span(name),
                format!("`{text}` is declared twice"),
            );
            return;
        }
        terms.reader.scope.insert(text, Meaning::Predicate(terms.reader.predicates.len()));
        terms.reader.predicates.push((text.to_string(), args));
    }
}
