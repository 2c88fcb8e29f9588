//! Clauses: a formula as body, constraint and head.

use crate::diagnostics::span::Span;
use crate::smtlib::terms::Terms;
use gander_term::smtlib::{Id, Meaning};
use gander_term::{Op, SymbolId, TermId};
use rustc_hash::FxHashMap;

/// A predicate with arguments.
pub(super) type Applied = (usize, Vec<TermId>);

/// `body and constraint => head`; without a head, `=> false`. Free symbols are universally
/// quantified.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub body: Vec<Applied>,
    pub constraint: Vec<TermId>,
    pub head: Option<Applied>,
    /// The name of a query.
    pub name: Option<String>,
    pub span: Span,
}

impl Clause {
    /// All terms of the clause.
    pub(super) fn terms(&self) -> Vec<TermId> {
        let applied = self.body.iter().chain(&self.head).flat_map(|(_, args)| args.iter().copied());
        applied.chain(self.constraint.iter().copied()).collect()
    }
}

/// Reads `(forall (…) matrix)`, `(not (exists (…) body))` or a matrix with declared variables.
pub(super) fn read(terms: &mut Terms<'_, '_>, formula: Id, span: Span) -> Option<Clause> {
    let tree = terms.tree;
    let mut at = formula;
    let mut negative = false;
    let mut hidden = Vec::new();
    loop {
        let parts = tree.list(at);
        match (tree.head(at), &parts[..]) {
            (Some(word @ ("forall" | "exists")), [_, names, body])
                if (word == "exists") == negative =>
            {
                for (text, sort, _) in terms.sorted_names(*names)? {
                    let symbol = terms.fresh(text, sort);
                    let term = terms.pool.var(symbol);
                    hidden.push((text, terms.reader.scope.insert(text, Meaning::Term(term))));
                }
                at = *body;
            }
            (Some("not"), [_, inner]) if tree.head(*inner) == Some("exists") => {
                negative = !negative;
                at = *inner;
            }
            (Some("!"), [_, inner, ..])
                if matches!(tree.head(*inner), Some("forall" | "=>" | "not")) =>
            {
                at = *inner
            }
            _ => break,
        }
    }
    terms.reader.atoms.clear();
    let matrix = terms.term_of(at, gander_term::Sort::Bool);
    for (text, before) in hidden.into_iter().rev() {
        match before {
            Some(meaning) => terms.reader.scope.insert(text, meaning),
            None => terms.reader.scope.remove(text),
        };
    }
    clause(terms, matrix?, negative, span)
}

/// The fact that a predicate holds for variables, if a formula is the name of a predicate with
/// arguments: a query may omit them.
pub(super) fn any_member(terms: &mut Terms<'_, '_>, formula: Id, span: Span) -> Option<Clause> {
    let Meaning::Predicate(p) = *terms.reader.scope.get(terms.tree.symbol(formula)?)? else {
        return None;
    };
    let (name, sorts) = terms.reader.predicates[p].clone();
    let mut args = Vec::new();
    for (i, sort) in sorts.into_iter().enumerate() {
        let symbol = terms.fresh(&format!("{name}.{i}"), sort);
        args.push(terms.pool.var(symbol));
    }
    let (body, constraint) = (Vec::new(), Vec::new());
    Some(Clause { body, constraint, head: Some((p, args)), name: None, span })
}

/// Splits a matrix into the literals of a clause: a disjunction in which implications and negations
/// are expanded.
fn clause(terms: &mut Terms<'_, '_>, matrix: TermId, negative: bool, span: Span) -> Option<Clause> {
    let atoms: FxHashMap<SymbolId, Applied> =
        terms.reader.atoms.drain(..).map(|a| (a.symbol, (a.predicate, a.args))).collect();
    let pool = &mut terms.pool;
    let mut made =
        Clause { body: Vec::new(), constraint: Vec::new(), head: None, name: None, span };
    let mut stack = vec![(matrix, !negative)];
    let mut heads = 0;
    while let Some((t, positive)) = stack.pop() {
        let args = pool.args(t).to_vec();
        match (pool.op(t), positive) {
            (Op::Symbol(s), _) if atoms.contains_key(&s) => {
                let applied = atoms[&s].clone();
                if positive {
                    heads += 1;
                    made.head = Some(applied);
                } else {
                    made.body.push(applied);
                }
            }
            (Op::Implies, true) => stack.extend([(args[1], true), (args[0], false)]),
            (Op::Or, true) => stack.extend(args.iter().rev().map(|a| (*a, true))),
            (Op::And, false) => stack.extend(args.iter().rev().map(|a| (*a, false))),
            (Op::Not, _) => stack.push((args[0], !positive)),
            (_, true) => made.constraint.push(pool.not(t)),
            (_, false) => made.constraint.push(t),
        }
    }
    if heads > 1 {
        terms.unsupported(span, "a clause with two heads (it is not a Horn clause)");
        return None;
    }
    let inside = terms.pool.free_symbols(&made.terms());
    if let Some(s) = inside.into_iter().find(|s| atoms.contains_key(s)) {
        let name = terms.reader.predicates[atoms[&s].0].0.clone();
        terms.unsupported(
            span,
            &format!(
                "the predicate `{name}` within another operator than `and`, `or`, `=>` and `not`"
            ),
        );
        return None;
    }
    Some(made)
}
