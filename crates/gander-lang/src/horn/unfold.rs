//! Unfolding: replaces a predicate in a body by the bodies of its definitions.

use super::clauses::{Applied, Clause};
use crate::smtlib::terms::Terms;
use gander_runtime::{check_cancelled, check_cancelled_now};
use gander_system::strongly_connected_components;
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of clauses that unfolding may add.
const MAX_CLAUSES: usize = 20_000;

/// Unfolds until every body has at most one predicate and no query is written as the name of a
/// non-recursive predicate; then removes clauses that no query depends on.
pub(super) fn linear(terms: &mut Terms<'_, '_>, clauses: &mut Vec<Clause>) {
    let recursive = recursive(terms.reader.predicates.len(), clauses);
    let most = clauses.len() + MAX_CLAUSES;
    // Queries that are the name of a predicate, not unfolded yet.
    let named = clauses.iter().filter(|c| c.name.is_some());
    let mut by_name: FxHashSet<u32> = named.map(|c| c.span.start).collect();
    let mut at = 0;
    while at < clauses.len() {
        check_cancelled();
        let clause = &clauses[at];
        let target = match &clause.body[..] {
            [] => None,
            [(p, args)] => {
                let whole = args.is_empty() || by_name.contains(&clause.span.start);
                (clause.head.is_none() && whole && !recursive[*p]).then_some(0)
            }
            several => match several.iter().position(|(p, _)| !recursive[*p]) {
                Some(found) => Some(found),
                None => {
                    let names: Vec<&str> = several
                        .iter()
                        .map(|(p, _)| terms.reader.predicates[*p].0.as_str())
                        .collect();
                    let what =
                        format!("a clause that is not linear (it has {})", names.join(" and "));
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
        // The search for definitions reads all clauses, so check for cancellation each time.
        check_cancelled_now();
        let clause = clauses.swap_remove(at);
        // What the predicate stands for is not unfolded further.
        by_name.remove(&clause.span.start);
        let (predicate, _) = clause.body[target];
        let definitions: Vec<Clause> = clauses
            .iter()
            .filter(|c| c.head.as_ref().is_some_and(|(p, _)| *p == predicate))
            .cloned()
            .collect();
        for definition in definitions {
            let made = resolve(&mut terms.pool, &clause, target, &definition);
            clauses.push(made);
        }
        if clauses.len() > most {
            terms.unsupported(
                clause.span,
                "a system with this many clauses after it is made linear",
            );
            return;
        }
    }
    clauses.sort_by_key(|c| c.span.start);
    // Remove the clauses that no query depends on.
    let mut by_head: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (k, c) in clauses.iter().enumerate() {
        if let Some((p, _)) = &c.head {
            by_head.entry(*p).or_default().push(k);
        }
    }
    let mut needed: FxHashSet<usize> = FxHashSet::default();
    let mut stack: Vec<usize> = (0..clauses.len()).filter(|&k| clauses[k].head.is_none()).collect();
    while let Some(k) = stack.pop() {
        for (p, _) in &clauses[k].body {
            if needed.insert(*p) {
                stack.extend(by_head.get(p).into_iter().flatten());
            }
        }
    }
    clauses.retain(|c| c.head.as_ref().is_none_or(|(p, _)| needed.contains(p)));
}

/// The recursive predicates: those in a strongly connected component with an edge.
fn recursive(count: usize, clauses: &[Clause]) -> Vec<bool> {
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); count];
    for c in clauses {
        if let Some((head, _)) = &c.head {
            uses[*head].extend(c.body.iter().map(|(p, _)| *p));
        }
    }
    let component = strongly_connected_components(count, 0..count, |p, k| uses[p].get(k).copied());
    // A predicate in a component with others uses one of them.
    (0..count).map(|p| uses[p].iter().any(|&q| component[q] == component[p])).collect()
}

/// A clause with one predicate of its body replaced by a definition, whose variables are renamed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::span::Span;

    #[test]
    fn predicates_on_cycles_depend_on_themselves() {
        let clause = |body: &[usize], head: usize| Clause {
            body: body.iter().map(|&p| (p, Vec::new())).collect(),
            head: Some((head, Vec::new())),
            constraint: Vec::new(),
            span: Span::at(0),
            name: None,
        };
        // 0 → 1 ⇄ 2 → 3, 4 → 4, 5 uses all.
        let clauses = [
            clause(&[0], 1),
            clause(&[1], 2),
            clause(&[2], 1),
            clause(&[2], 3),
            clause(&[4], 4),
            clause(&[0, 3, 4], 5),
        ];
        assert_eq!(recursive(6, &clauses), [false, true, true, false, true, false]);
        let chain: Vec<Clause> = (0..100_000).map(|k| clause(&[k], k + 1)).collect();
        assert!(recursive(100_001, &chain).iter().all(|r| !r));
    }
}
