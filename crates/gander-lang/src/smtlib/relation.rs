//! Splits a formula over two states into assignments, guards and constraints.
//!
//! In a conjunction, `x' = e` with `e` over one state is an assignment; `e` replaces `x'` in the
//! other conjuncts, which may turn them into assignments. A conjunct without next values is then a
//! guard; the others are constraints. A variable without an assignment is restricted only by the
//! constraints.

use gander_runtime::check_cancelled;
use gander_system::{BuildError, SystemBuilder, TransitionDraft, VarId};
use gander_term::{Op, Pool, Substitution, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The parts of a relation.
#[derive(Debug, Default)]
pub(crate) struct Relation {
    pub assignments: Vec<(VarId, TermId)>,
    pub guards: Vec<TermId>,
    pub constraints: Vec<TermId>,
}

/// The number of substitution rounds; further rounds would only make the relation simpler to read.
const ROUNDS: usize = 60;

/// The conjuncts of terms.
pub(crate) fn conjuncts(pool: &Pool, terms: &[TermId]) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack: Vec<TermId> = terms.iter().rev().copied().collect();
    while let Some(t) = stack.pop() {
        check_cancelled();
        if !seen.insert(t) {
            continue;
        }
        match pool.op(t) {
            Op::And => stack.extend(pool.args(t).iter().rev()),
            Op::Bool(true) => {}
            _ => found.push(t),
        }
    }
    found
}

/// Which terms mention an unknown; cached per term.
struct Unknowns<'a> {
    symbols: &'a FxHashSet<SymbolId>,
    known: FxHashMap<TermId, bool>,
}

impl Unknowns<'_> {
    fn in_term(&mut self, pool: &Pool, t: TermId) -> bool {
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            check_cancelled();
            if self.known.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(pool.args(top).iter().filter(|a| !self.known.contains_key(a)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let found = match pool.op(top) {
                Op::Symbol(s) => self.symbols.contains(&s),
                _ => pool.args(top).iter().any(|a| self.known[a]),
            };
            self.known.insert(top, found);
        }
        self.known[&t]
    }

    fn as_unknown(&self, pool: &Pool, t: TermId) -> Option<SymbolId> {
        pool.as_symbol(t).filter(|s| self.symbols.contains(s))
    }

    /// The unknown and the term that it equals, if a conjunct is such an equation.
    fn equation(&mut self, pool: &mut Pool, t: TermId) -> Option<(SymbolId, TermId)> {
        match pool.op(t) {
            Op::Eq => {
                let (a, b) = (pool.args(t)[0], pool.args(t)[1]);
                let (left, right) = (self.as_unknown(pool, a), self.as_unknown(pool, b));
                match (left, right) {
                    (Some(s), _) if !self.in_term(pool, b) => Some((s, b)),
                    (_, Some(s)) if !self.in_term(pool, a) => Some((s, a)),
                    _ => None,
                }
            }
            Op::Symbol(_) => {
                let s = self.as_unknown(pool, t)?;
                Some((s, pool.tt()))
            }
            Op::Not => {
                let s = self.as_unknown(pool, pool.args(t)[0])?;
                Some((s, pool.ff()))
            }
            _ => None,
        }
    }
}

/// Values of unknowns, without unknowns in them, and the remaining conjuncts with these values
/// substituted.
#[derive(Debug, Default)]
pub(crate) struct Solved {
    pub values: FxHashMap<SymbolId, TermId>,
    pub rest: Vec<TermId>,
}

/// Solves a conjunction for unknowns by its equations.
pub(crate) fn solve(pool: &mut Pool, terms: &[TermId], symbols: &FxHashSet<SymbolId>) -> Solved {
    let mut values: FxHashMap<SymbolId, TermId> = FxHashMap::default();
    let mut unknowns = Unknowns { symbols, known: FxHashMap::default() };
    let mut rest = conjuncts(pool, terms);
    for _ in 0..ROUNDS {
        let before = values.len();
        let waiting = std::mem::take(&mut rest);
        for t in waiting {
            match unknowns.equation(pool, t) {
                Some((symbol, value)) if !values.contains_key(&symbol) => {
                    values.insert(symbol, value);
                }
                _ => rest.push(t),
            }
        }
        if values.len() == before {
            break;
        }
        let mut substitution = Substitution::new(pool, &values);
        rest = rest.into_iter().map(|t| substitution.apply(pool, t)).collect();
        rest = conjuncts(pool, &rest);
    }
    Solved { values, rest }
}

/// The number of disjuncts that become separate steps.
const MAX_WAYS: usize = 64;

/// The disjuncts of a relation: if one conjunct is a disjunction whose parts each mention most next
/// values, one for each part; otherwise the relation itself. Their disjunction is equivalent to the
/// relation.
pub(crate) fn ways(
    pool: &Pool,
    terms: &[TermId],
    next: &FxHashMap<SymbolId, VarId>,
) -> Vec<Vec<TermId>> {
    let all = conjuncts(pool, terms);
    let determines = |t: TermId| {
        let mentioned =
            pool.free_symbols(&[t]).into_iter().filter(|s| next.contains_key(s)).count();
        10 * mentioned >= 7 * next.len()
    };
    let is_choice = |t: &TermId| {
        let args = pool.args(*t);
        pool.op(*t) == Op::Or
            && (2..=MAX_WAYS).contains(&args.len())
            && args.iter().all(|a| determines(*a))
    };
    let Some(at) = all.iter().position(is_choice) else { return vec![all] };
    let rest: Vec<TermId> =
        all.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, t)| *t).collect();
    pool.args(all[at]).iter().map(|a| rest.iter().copied().chain([*a]).collect()).collect()
}

/// Splits the conjunction of some terms; `next` has the symbols of next values.
pub(crate) fn split(
    pool: &mut Pool,
    terms: &[TermId],
    next: &FxHashMap<SymbolId, VarId>,
) -> Relation {
    let symbols: FxHashSet<SymbolId> = next.keys().copied().collect();
    let solved = solve(pool, terms, &symbols);
    let assignments = solved.values.iter().map(|(s, value)| (next[s], *value)).collect();
    let mut relation = Relation { assignments, ..Relation::default() };
    relation.assignments.sort_by_key(|(var, _)| *var);
    let mut unknowns = Unknowns { symbols: &symbols, known: FxHashMap::default() };
    for t in solved.rest {
        if unknowns.in_term(pool, t) {
            relation.constraints.push(t);
        } else if pool.as_bool(t) != Some(true) {
            relation.guards.push(t);
        }
    }
    relation
}

impl Relation {
    /// Adds the relation to a transition; variables that it does not determine are free, except
    /// those in `kept`.
    pub(crate) fn write(
        &self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        kept: impl Fn(VarId) -> bool,
    ) -> Result<(), BuildError> {
        for &t in &self.guards {
            builder.guard(draft, t, None)?;
        }
        let mut assigned = FxHashSet::default();
        for &(var, value) in &self.assignments {
            builder.assign(draft, var, value, None)?;
            assigned.insert(var);
        }
        for &t in &self.constraints {
            builder.constrain(draft, t, None)?;
        }
        for var in builder.so_far().var_ids() {
            check_cancelled();
            if !assigned.contains(&var) && !kept(var) {
                builder.free(draft, var);
            }
        }
        Ok(())
    }
}
