//! Candidates for ranks and supporting invariants: the comparisons in the system's formulas.

use gander_system::{Effect, System};
use gander_term::{Op, Pool, RBig, Simplifier, Sort, SymbolId, TermId, Value};

use super::limits::LIMITS;
use crate::arith::number;

/// Comparisons over state variables in the system, their negations, and related inequalities.
pub(super) fn formulas(system: &System, pool: &mut Pool) -> Vec<TermId> {
    let mut found = Vec::new();
    for atom in atoms(system, pool) {
        add(&mut found, atom);
        let opposite = pool.not(atom);
        add(&mut found, opposite);
        if pool.op(atom) == Op::Eq {
            let [a, b] = *pool.args(atom) else { continue };
            if pool.sort(a).is_numeric() {
                for (x, y) in [(a, b), (b, a)] {
                    let (le, lt) = (pool.le(x, y), pool.lt(x, y));
                    add(&mut found, le);
                    add(&mut found, lt);
                }
            }
        }
    }
    for v in system.vars() {
        if v.sort.is_numeric() {
            let (x, zero) = (pool.var(v.current), zero(pool, v.sort));
            let (a, b) = (pool.le(zero, x), pool.lt(zero, x));
            add(&mut found, a);
            add(&mut found, b);
        }
    }
    found.truncate(LIMITS.formulas);
    found
}

/// Comparisons of variables with their start values.
pub(super) fn start_formulas(system: &System, pool: &mut Pool) -> Vec<TermId> {
    let mut found = Vec::new();
    for constraint in system.starts().iter().flat_map(|s| &s.constraint) {
        let term = constraint.term.term();
        let [a, b] = *pool.args(term) else { continue };
        if pool.op(term) != Op::Eq {
            continue;
        }
        add(&mut found, term);
        if pool.sort(a).is_numeric() {
            let (le, ge) = (pool.le(a, b), pool.le(b, a));
            add(&mut found, le);
            add(&mut found, ge);
        }
    }
    found
}

fn add(list: &mut Vec<TermId>, t: TermId) {
    if !list.contains(&t) {
        list.push(t);
    }
}

/// Candidate rank terms: distances in comparisons, variables, and Boolean terms as numbers.
pub(super) fn ranks(system: &System, pool: &mut Pool) -> Vec<TermId> {
    let mut found = Vec::new();
    for atom in atoms(system, pool) {
        let args = pool.args(atom).to_vec();
        match (pool.op(atom), &args[..]) {
            (Op::Lt | Op::Le | Op::Gt | Op::Ge, &[a, b]) => {
                let (ab, ba) = (pool.sub(a, b), pool.sub(b, a));
                add(&mut found, ba);
                add(&mut found, ab);
            }
            (Op::Eq, &[a, b]) if pool.sort(a).is_numeric() => {
                let (ab, ba) = (pool.sub(a, b), pool.sub(b, a));
                let order = pool.le(a, b);
                let distance = pool.ite(order, ba, ab);
                add(&mut found, distance);
                add(&mut found, ba);
                add(&mut found, ab);
            }
            _ => {
                let (one, zero) = (pool.int(1), pool.int(0));
                let (on, off) = (pool.ite(atom, one, zero), pool.ite(atom, zero, one));
                add(&mut found, on);
                add(&mut found, off);
            }
        }
    }
    for v in system.vars() {
        let x = pool.var(v.current);
        match v.sort {
            Sort::Int | Sort::Real => {
                let zero = zero(pool, v.sort);
                let minus = pool.sub(zero, x);
                add(&mut found, x);
                add(&mut found, minus);
                if let Some(range) = &v.range {
                    let bound = |pool: &mut Pool, i: &gander_term::IBig| {
                        number::constant(pool, v.sort, RBig::from(i.clone()))
                    };
                    let (low, high) = (bound(pool, &range.low), bound(pool, &range.high));
                    let (above, below) = (pool.sub(x, low), pool.sub(high, x));
                    add(&mut found, below);
                    add(&mut found, above);
                }
            }
            Sort::Bool => {
                let (one, zero) = (pool.int(1), pool.int(0));
                let (on, off) = (pool.ite(x, one, zero), pool.ite(x, zero, one));
                add(&mut found, on);
                add(&mut found, off);
            }
            Sort::Enum(id) => {
                for i in 0..pool.enumeration(id).variants.len().min(8) as u32 {
                    let value = pool.constant(Value::Enum(id, i));
                    let is = pool.eq(x, value);
                    let (one, zero) = (pool.int(1), pool.int(0));
                    let (on, off) = (pool.ite(is, one, zero), pool.ite(is, zero, one));
                    add(&mut found, on);
                    add(&mut found, off);
                }
            }
            Sort::String | Sort::BitVec(_) | Sort::Array(_) => {}
        }
    }
    let mut simplifier = Simplifier::default();
    let mut simple = Vec::new();
    for t in found {
        let t = simplifier.simplify(pool, t);
        add(&mut simple, t);
    }
    let mut found = simple;
    found.truncate(LIMITS.ranks);
    // Steps of a real variable may be smaller than 1.
    let real: Vec<TermId> = found.iter().copied().filter(|&t| pool.sort(t) == Sort::Real).collect();
    for scale in [10, 1000] {
        for &t in &real {
            let scale = pool.real(RBig::from(scale));
            let scaled = pool.mul(scale, t);
            add(&mut found, scaled);
        }
    }
    found
}

/// Sums of two terms.
pub(super) fn pairs(pool: &mut Pool, singles: &[TermId]) -> Vec<TermId> {
    let plain: Vec<TermId> = singles
        .iter()
        .copied()
        .filter(|&t| pool.op(t) != Op::Ite)
        .take(LIMITS.paired_ranks)
        .collect();
    let mut found = Vec::new();
    for (i, &a) in plain.iter().enumerate() {
        for &b in &plain[i + 1..] {
            if pool.sort(a) == pool.sort(b) {
                let sum = pool.add(a, b);
                add(&mut found, sum);
                let twice = pool.add(sum, a);
                add(&mut found, twice);
                let twice = pool.add(sum, b);
                add(&mut found, twice);
            }
        }
    }
    found
}

pub(super) fn zero(pool: &mut Pool, sort: Sort) -> TermId {
    match sort {
        Sort::Real => pool.real(RBig::ZERO),
        _ => pool.int(0),
    }
}

/// The atoms over state variables in all formulas of a system.
fn atoms(system: &System, pool: &mut Pool) -> Vec<TermId> {
    let mut roots = Vec::new();
    for t in system.transitions() {
        roots.extend(t.guard.iter().map(|g| g.term.term()));
    }
    for n in system.node_ids() {
        let assumption = system.assumption_term(pool, n);
        roots.push(assumption);
    }
    for s in system.starts() {
        roots.extend(s.constraint.iter().map(|c| c.term.term()));
    }
    for t in system.transitions() {
        for effect in &t.effect {
            match effect {
                Effect::Assign { value, .. } => roots.push(value.term()),
                Effect::Constrain { relation, .. } => roots.push(relation.term()),
                Effect::Keep { .. } => {}
            }
        }
    }
    let known: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
    let mut found = Vec::new();
    for root in roots {
        for t in pool.postorder(&[root]) {
            let is_atom = pool.sort(t) == Sort::Bool
                && !matches!(
                    pool.op(t),
                    Op::And | Op::Or | Op::Not | Op::Implies | Op::Ite | Op::Forall | Op::Exists
                )
                && !(pool.op(t) == Op::Eq && pool.sort(pool.args(t)[0]) == Sort::Bool);
            if !is_atom || pool.as_bool(t).is_some() || found.contains(&t) {
                continue;
            }
            let symbols = pool.free_symbols(&[t]);
            if !symbols.is_empty()
                && symbols.iter().all(|s| known.contains(s))
                && !pool.has_quantifier(t)
            {
                found.push(t);
            }
        }
    }
    found
}
