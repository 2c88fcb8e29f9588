//! Unfolding: a predicate in a body is replaced by what defines it.

use super::clauses::{Applied, Clause};
use crate::smtlib::terms::Terms;
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// More clauses are not made.
const MAX_CLAUSES: usize = 20_000;

/// Unfolds until every body has at most one predicate, and queries speak of predicates with arguments; removes what no query
/// depends on.
pub(super) fn linear(terms: &mut Terms<'_, '_>, clauses: &mut Vec<Clause>) {
    let recursive = recursive(terms.predicates.len(), clauses);
    let mut at = 0;
    while at < clauses.len() {
        let clause = &clauses[at];
        let target = match &clause.body[..] {
            [] => None,
            [(p, args)] => (clause.head.is_none() && args.is_empty() && !recursive[*p]).then_some(0),
            several => match several.iter().position(|(p, _)| !recursive[*p]) {
                Some(found) => Some(found),
                None => {
                    let names: Vec<&str> = several.iter().map(|(p, _)| terms.predicates[*p].0.as_str()).collect();
                    let what = format!("a clause that is not linear (it has {})", names.join(" and "));
                    let span = clause.span;
                    terms.unsupported(span, &what);
                    return;
                }
            },
        };
        let Some(target) = target else {
            at += 1;
            continue;
        };
        let clause = clauses.swap_remove(at);
        let (predicate, _) = clause.body[target];
        let definitions: Vec<Clause> =
            clauses.iter().filter(|c| c.head.as_ref().is_some_and(|(p, _)| *p == predicate)).cloned().collect();
        for definition in definitions {
            let made = resolve(&mut terms.pool, &clause, target, &definition);
            clauses.push(made);
        }
        if clauses.len() > MAX_CLAUSES {
            terms.unsupported(clause.span, "a system that has so many clauses when it is made linear");
            return;
        }
    }
    clauses.sort_by_key(|c| c.span.start);
    // What no query depends on.
    let mut needed: FxHashSet<usize> = FxHashSet::default();
    loop {
        let before = needed.len();
        for c in clauses.iter() {
            if c.head.as_ref().is_none_or(|(p, _)| needed.contains(p)) {
                needed.extend(c.body.iter().map(|(p, _)| *p));
            }
        }
        if needed.len() == before {
            break;
        }
    }
    clauses.retain(|c| c.head.as_ref().is_none_or(|(p, _)| needed.contains(p)));
}

/// Which predicates depend on themselves.
fn recursive(count: usize, clauses: &[Clause]) -> Vec<bool> {
    let mut uses: Vec<FxHashSet<usize>> = vec![FxHashSet::default(); count];
    for c in clauses {
        if let Some((head, _)) = &c.head {
            uses[*head].extend(c.body.iter().map(|(p, _)| *p));
        }
    }
    (0..count)
        .map(|p| {
            let mut seen: FxHashSet<usize> = FxHashSet::default();
            let mut stack: Vec<usize> = uses[p].iter().copied().collect();
            while let Some(q) = stack.pop() {
                if seen.insert(q) {
                    stack.extend(uses[q].iter().copied());
                }
            }
            seen.contains(&p)
        })
        .collect()
}

/// A clause with one predicate of its body replaced by a definition of it, whose variables get new names.
fn resolve(pool: &mut Pool, clause: &Clause, at: usize, definition: &Clause) -> Clause {
    let args = clause.body[at].1.clone();
    let Some((_, formal)) = &definition.head else { return clause.clone() };
    let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
    let mut equations: Vec<(TermId, TermId)> = Vec::new();
    for (formal, actual) in formal.iter().zip(args) {
        match pool.as_symbol(*formal) {
            Some(s) if !map.contains_key(&s) => {
                map.insert(s, actual);
            }
            _ => equations.push((*formal, actual)),
        }
    }
    for s in pool.free_symbols(&definition.terms()) {
        map.entry(s).or_insert_with(|| {
            let symbol = pool.symbol(s).clone();
            let fresh = pool.declare_fresh(&symbol.name, symbol.sort);
            pool.var(fresh)
        });
    }
    let mut made = clause.clone();
    made.body.remove(at);
    for (p, args) in &definition.body {
        let args = args.iter().map(|t| pool.substitute(*t, &map)).collect();
        let applied: Applied = (*p, args);
        made.body.push(applied);
    }
    for t in &definition.constraint {
        made.constraint.push(pool.substitute(*t, &map));
    }
    for (formal, actual) in equations {
        let formal = pool.substitute(formal, &map);
        made.constraint.push(pool.eq(formal, actual));
    }
    made
}
