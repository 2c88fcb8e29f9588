//! Checks of assignments, as in NuSMV: a variable is assigned at most once per time, and no
//! variable depends on itself at one instant. Otherwise equations could contradict each other, and
//! every property would hold vacuously.

use super::syntax::When;
use super::values::Value;
use crate::diagnostics::span::Span;
use gander_term::{Pool, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

/// An assignment to a variable, by its index.
struct Assignment {
    when: When,
    variable: usize,
    /// The symbols in its value.
    mentions: Vec<SymbolId>,
    span: Span,
}

/// The assignments so far.
#[derive(Default)]
pub(super) struct Assignments {
    all: Vec<Assignment>,
    /// By variable: its assignments.
    of: FxHashMap<usize, Vec<usize>>,
}

/// The symbols of a variable: its current value, and its next value unless it is an input.
pub(super) type Symbols = (SymbolId, Option<SymbolId>);

impl Assignments {
    /// Adds an assignment; an error if the variable is already assigned for that time.
    pub(super) fn add(
        &mut self,
        when: When,
        variable: usize,
        mentions: Vec<SymbolId>,
        span: Span,
    ) -> Result<(), Span> {
        let known = self.of.entry(variable).or_default();
        let clash =
            |old: &&Assignment| old.when == when || old.when == When::Now || when == When::Now;
        let before = known.iter().map(|&i| &self.all[i]).find(clash).map(|old| old.span);
        known.push(self.all.len());
        self.all.push(Assignment { when, variable, mentions, span });
        before.map_or(Ok(()), Err)
    }

    /// Variables that depend on each other in a cycle at one instant, if there are any.
    pub(super) fn cycle(&self, symbols: &[Symbols]) -> Option<(Vec<usize>, Span)> {
        let mut now: FxHashMap<SymbolId, usize> = FxHashMap::default();
        let mut next: FxHashMap<SymbolId, usize> = FxHashMap::default();
        for (v, (current, primed)) in symbols.iter().enumerate() {
            now.insert(*current, v);
            next.extend(primed.map(|p| (p, v)));
        }
        // An assignment for every instant holds at the first instant and after every step.
        self.cycle_among(symbols.len(), |a| match a.when {
            When::Init | When::Now => Some(&now),
            When::Next => None,
        })
        .or_else(|| {
            self.cycle_among(symbols.len(), |a| match a.when {
                When::Next => Some(&next),
                When::Now => Some(&now),
                When::Init => None,
            })
        })
    }

    fn cycle_among<'a>(
        &self,
        variables: usize,
        read: impl Fn(&Assignment) -> Option<&'a FxHashMap<SymbolId, usize>>,
    ) -> Option<(Vec<usize>, Span)> {
        let mut leads: Vec<Vec<usize>> = vec![Vec::new(); variables];
        let mut spans: FxHashMap<usize, Span> = FxHashMap::default();
        for a in &self.all {
            let Some(meant) = read(a) else { continue };
            leads[a.variable].extend(a.mentions.iter().filter_map(|s| meant.get(s)));
            spans.insert(a.variable, a.span);
        }
        let mut done: FxHashSet<usize> = FxHashSet::default();
        for begin in 0..variables {
            // A path, with the index of the next neighbour to try for each vertex.
            let mut path: Vec<(usize, usize)> = vec![(begin, 0)];
            let mut on_path: FxHashSet<usize> = FxHashSet::from_iter([begin]);
            while let Some((v, tried)) = path.last_mut() {
                let v = *v;
                let Some(&to) = leads[v].get(*tried).filter(|_| !done.contains(&v)) else {
                    done.insert(v);
                    on_path.remove(&v);
                    path.pop();
                    continue;
                };
                *tried += 1;
                if on_path.contains(&to) {
                    let from = path.iter().position(|(p, _)| *p == to).unwrap_or(0);
                    let cycle: Vec<usize> = path[from..].iter().map(|(p, _)| *p).collect();
                    let span = spans.get(&cycle[0]).copied().unwrap_or(Span::at(0));
                    return Some((cycle, span));
                }
                if !done.contains(&to) {
                    on_path.insert(to);
                    path.push((to, 0));
                }
            }
        }
        None
    }
}

/// The symbols in a value.
pub(super) fn mentions(pool: &Pool, value: &Value) -> Vec<SymbolId> {
    let mut terms = Vec::new();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        match value {
            Value::Term(t, _) => terms.push(*t),
            Value::Literal(_) => {}
            Value::Set(all) | Value::Array(_, all) => stack.extend(all),
            Value::Range(low, high) => terms.extend([*low, *high]),
            Value::Cases(cases) => {
                for (condition, value) in cases {
                    terms.push(*condition);
                    stack.push(value);
                }
            }
        }
    }
    pool.free_symbols(&terms)
}
