//! Candidate terms: the terms that candidates are built from. They are state variables, and terms
//! over a single state in guards, effects, starts, assumptions and claims.
//!
//! A subterm of an effect over next variables only is renamed to current variables. Terms are taken
//! only if they are over variables that the claims depend on; smaller terms come first.

use std::sync::Arc;

use gander_system::{Effect, StartId, System};
use gander_term::{IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use crate::encode::encoding::Encoding;

/// Maximum numbers of candidate terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxTerms {
    pub truths: usize,
    pub numbers: usize,
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub(crate) struct CandidateTerms {
    /// Terms of sort bool, without negations and constants.
    pub truths: Vec<TermId>,
    /// Terms of sort int or real.
    pub numbers: Vec<TermId>,
    /// Bit-vector variables.
    pub bits: Vec<TermId>,
    /// The int and the real constants of the model, sorted.
    pub ints: Vec<IBig>,
    pub reals: Vec<RBig>,
}

/// Which symbols a term mentions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mentions {
    Nothing,
    Current,
    Next,
    Other,
}

impl Mentions {
    fn join(self, other: Mentions) -> Mentions {
        match (self, other) {
            (Mentions::Nothing, m) | (m, Mentions::Nothing) => m,
            (a, b) if a == b => a,
            _ => Mentions::Other,
        }
    }
}

impl CandidateTerms {
    /// The candidate terms of a system and of formulas about its states.
    pub(crate) fn of(e: &mut Encoding, claimed: &[TermId], max_terms: MaxTerms) -> CandidateTerms {
        let system = Arc::clone(&e.system);
        let cone = cone(&system, &mut e.pool, claimed);
        let mut roots: Vec<TermId> = claimed.to_vec();
        for t in system.transition_ids() {
            roots.push(system.guard_term(&mut e.pool, t));
            for part in &system.transition(t).effect {
                match *part {
                    Effect::Assign { value, .. } => roots.push(value.term()),
                    Effect::Constrain { relation, .. } => roots.push(relation.term()),
                    Effect::Keep { .. } => {}
                }
            }
        }
        for s in 0..system.starts().len() {
            roots.push(system.start_term(&mut e.pool, StartId::from(s)));
        }
        for n in system.node_ids() {
            roots.push(system.assumption_term(&mut e.pool, n));
        }
        TermCollector::new(&system, &mut e.pool, cone).gather(&mut e.pool, &roots, max_terms)
    }
}

struct TermCollector<'s> {
    system: &'s System,
    cone: FxHashSet<SymbolId>,
    /// Next variables to current ones.
    back: FxHashMap<SymbolId, TermId>,
}

impl<'s> TermCollector<'s> {
    fn new(system: &'s System, pool: &mut Pool, cone: FxHashSet<SymbolId>) -> TermCollector<'s> {
        let back = system.vars().iter().map(|v| (v.next, pool.var(v.current))).collect();
        TermCollector { system, cone, back }
    }

    fn gather(&self, pool: &mut Pool, roots: &[TermId], max_terms: MaxTerms) -> CandidateTerms {
        let mut candidate_terms = CandidateTerms::default();
        let mut terms: Vec<(u32, TermId)> = Vec::new();
        for v in self.system.vars().iter().filter(|v| self.cone.contains(&v.current)) {
            terms.push((0, pool.var(v.current)));
        }
        let current: FxHashSet<SymbolId> = self.system.vars().iter().map(|v| v.current).collect();
        let mut seen: FxHashMap<TermId, (Mentions, u32)> = FxHashMap::default();
        for t in pool.postorder(roots) {
            let op = pool.op(t);
            let (mut mentions, mut size) = match op {
                Op::Symbol(s) if current.contains(&s) => (Mentions::Current, 1),
                Op::Symbol(s) if self.back.contains_key(&s) => (Mentions::Next, 1),
                Op::Symbol(_) | Op::Forall | Op::Exists => (Mentions::Other, 1),
                _ => (Mentions::Nothing, 1),
            };
            for a in pool.args(t) {
                let (of_arg, size_of_arg) = seen[a];
                mentions = mentions.join(of_arg);
                size = size_of_arg.saturating_add(size);
            }
            seen.insert(t, (mentions, size));
            match pool.as_constant(t) {
                Some(Value::Int(i)) => candidate_terms.ints.push(i),
                Some(Value::Real(r)) => candidate_terms.reals.push(r),
                _ => {}
            }
            let alone = matches!(mentions, Mentions::Current | Mentions::Next);
            if alone && size <= LIMITS.term_depth && !matches!(op, Op::Not | Op::Neg) {
                let term =
                    if mentions == Mentions::Next { pool.substitute(t, &self.back) } else { t };
                let free = pool.free_symbols(&[term]);
                if free.iter().all(|s| self.cone.contains(s)) {
                    terms.push((size, term));
                }
            }
        }
        candidate_terms.ints.extend([IBig::ZERO, IBig::ONE]);
        candidate_terms.ints.sort_unstable();
        candidate_terms.ints.dedup();
        candidate_terms.reals.push(RBig::ZERO);
        candidate_terms.reals.sort_unstable();
        candidate_terms.reals.dedup();
        terms.sort_by_key(|w| w.0);
        let mut taken = FxHashSet::default();
        for (_, term) in terms {
            if !taken.insert(term) {
                continue;
            }
            match pool.sort(term) {
                Sort::Bool
                    if candidate_terms.truths.len() < max_terms.truths
                        && is_literal_atom(pool, term) =>
                {
                    candidate_terms.truths.push(term);
                }
                Sort::Int | Sort::Real
                    if candidate_terms.numbers.len() < max_terms.numbers
                        && !is_shift(pool, term) =>
                {
                    candidate_terms.numbers.push(term);
                }
                Sort::Enum(id) if pool.as_symbol(term).is_some() => {
                    for variant in 0..pool.enumeration(id).variants.len() as u32 {
                        let constant = pool.constant(Value::Enum(id, variant));
                        let equal = pool.eq(term, constant);
                        if taken.insert(equal) && candidate_terms.truths.len() < max_terms.truths {
                            candidate_terms.truths.push(equal);
                        }
                    }
                }
                Sort::BitVec(_) if pool.as_symbol(term).is_some() => {
                    candidate_terms.bits.push(term)
                }
                _ => {}
            }
        }
        candidate_terms
    }
}

fn is_literal_atom(pool: &Pool, t: TermId) -> bool {
    pool.as_bool(t).is_none() && pool.op(t) != Op::Not
}

/// A sum or difference with a constant: its bounds are bounds of the rest.
fn is_shift(pool: &Pool, t: TermId) -> bool {
    matches!(pool.op(t), Op::Add | Op::Sub)
        && pool.args(t).iter().any(|&a| pool.as_constant(a).is_some())
}

/// The cone of influence of some formulas: the current symbols of the variables that they depend
/// on. All variables if there are no formulas.
fn cone(system: &System, pool: &mut Pool, formulas: &[TermId]) -> FxHashSet<SymbolId> {
    let all: FxHashSet<SymbolId> = system.vars().iter().map(|v| v.current).collect();
    if formulas.is_empty() {
        return all;
    }
    let of: FxHashMap<SymbolId, usize> =
        system.vars().iter().enumerate().flat_map(|(i, v)| [(v.current, i), (v.next, i)]).collect();
    let mentioned = |pool: &Pool, terms: &[TermId]| -> Vec<usize> {
        pool.free_symbols(terms).iter().filter_map(|s| of.get(s).copied()).collect()
    };
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); system.vars().len()];
    let mut always: Vec<usize> = mentioned(pool, formulas);
    for t in system.transition_ids() {
        let guard = system.guard_term(pool, t);
        always.extend(mentioned(pool, &[guard]));
        for part in &system.transition(t).effect {
            match *part {
                Effect::Assign { var, value, .. } => {
                    edges[var.index()].extend(mentioned(pool, &[value.term()]))
                }
                Effect::Keep { .. } => {}
                Effect::Constrain { relation, .. } => {
                    let term = relation.term();
                    let related = mentioned(pool, &[term]);
                    match defined(system, pool, term) {
                        Some(v) => edges[v].extend(related),
                        None => related.iter().for_each(|&v| edges[v].extend(&related)),
                    }
                }
            }
        }
    }
    for n in system.node_ids() {
        let assumption = system.assumption_term(pool, n);
        let related = mentioned(pool, &[assumption]);
        related.iter().for_each(|&v| edges[v].extend(&related));
    }
    let mut inside = vec![false; system.vars().len()];
    let mut stack = always;
    while let Some(v) = stack.pop() {
        if !std::mem::replace(&mut inside[v], true) {
            stack.extend_from_slice(&edges[v]);
        }
    }
    system.vars().iter().zip(inside).filter(|(_, inside)| *inside).map(|(v, _)| v.current).collect()
}

/// The variable whose next value a constraint `x' == e`, `x'` or `not x'` defines.
fn defined(system: &System, pool: &Pool, t: TermId) -> Option<usize> {
    let next =
        |t: TermId| pool.as_symbol(t).and_then(|s| system.vars().iter().position(|v| v.next == s));
    match (pool.op(t), pool.args(t)) {
        (Op::Eq, &[a, b]) => next(a).or_else(|| next(b)),
        (Op::Not, &[a]) => next(a),
        (Op::Symbol(_), _) => next(t),
        _ => None,
    }
}
