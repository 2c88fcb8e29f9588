//! Candidate invariants: the clauses of at most three predicates that no sample violates.
//!
//! A *valuation* gives the truth values of the predicates for a sampled state and one or two of its
//! instances. A clause is a candidate if every valuation satisfies it and none of its proper parts
//! (indexed predicates: Lahiri and Bryant, VMCAI 2004).

use gander_term::{Pool, TermId};
use rustc_hash::FxHashSet;

use super::limits::LIMITS;
use super::predicates::Predicate;

/// The truth values of a list of predicates.
pub(super) type Valuation = Vec<bool>;

/// A predicate of a clause: its position and its sign.
type Signed = (usize, bool);

/// Whether a predicate is about the first instance, the second, both or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum About {
    None,
    First,
    Second,
    Both,
}

/// The clauses over predicates that all valuations satisfy. With `two`, only clauses about both
/// instances.
pub(super) fn clauses(
    predicates: &[(Predicate, About)],
    valuations: &FxHashSet<Valuation>,
    two: bool,
) -> Vec<Vec<Signed>> {
    if valuations.is_empty() {
        return Vec::new();
    }
    // By literal: the valuations in which it is false.
    let words = valuations.len().div_ceil(64);
    let mut literals: Vec<(Signed, Vec<u64>)> = Vec::new();
    for at in 0..predicates.len() {
        for sign in [true, false] {
            let mut set = vec![0u64; words];
            for (number, valuation) in valuations.iter().enumerate() {
                if valuation[at] != sign {
                    set[number / 64] |= 1 << (number % 64);
                }
            }
            literals.push(((at, sign), set));
        }
    }
    let is_about_both = |clause: &[Signed]| {
        let about = |wanted: About| {
            clause.iter().any(|(at, _)| [wanted, About::Both].contains(&predicates[*at].1))
        };
        !two || about(About::First) && about(About::Second)
    };
    let empty =
        |sets: &[&Vec<u64>]| (0..words).all(|w| sets.iter().fold(u64::MAX, |a, s| a & s[w]) == 0);
    // Two predicates of a group exclude each other.
    let sensible = |a: Signed, b: Signed| {
        let (p, q) = (predicates[a.0], predicates[b.0]);
        a.0 != b.0 && (p.0.group.is_none() || p.0.group != q.0.group || p.1 != q.1 || (a.1 && b.1))
    };
    let mut found: Vec<Vec<Signed>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, (literal, set)) in literals.iter().enumerate() {
        if empty(&[set]) {
            found.push(vec![*literal]);
        } else {
            open.push(at);
        }
    }
    let mut done: FxHashSet<(usize, usize)> = FxHashSet::default();
    for (k, &a) in open.iter().enumerate() {
        for &b in &open[k + 1..] {
            let (x, y) = (&literals[a], &literals[b]);
            if !sensible(x.0, y.0) {
                done.insert((a, b));
            } else if empty(&[&x.1, &y.1]) {
                done.insert((a, b));
                found.push(vec![x.0, y.0]);
            }
        }
    }
    'all: for (k, &a) in open.iter().enumerate() {
        for (l, &b) in open.iter().enumerate().skip(k + 1) {
            if done.contains(&(a, b)) {
                continue;
            }
            for &c in &open[l + 1..] {
                if done.contains(&(a, c)) || done.contains(&(b, c)) {
                    continue;
                }
                let (x, y, z) = (&literals[a], &literals[b], &literals[c]);
                if empty(&[&x.1, &y.1, &z.1]) {
                    found.push(vec![x.0, y.0, z.0]);
                    if found.len() >= 4 * LIMITS.candidates {
                        break 'all;
                    }
                }
            }
        }
    }
    found.retain(|clause| is_about_both(clause));
    found.truncate(LIMITS.candidates);
    found
}

/// The clause as a formula.
pub(super) fn formula(
    pool: &mut Pool,
    predicates: &[(Predicate, About)],
    terms: &[TermId],
    clause: &[Signed],
) -> TermId {
    debug_assert_eq!(predicates.len(), terms.len());
    let parts: Vec<TermId> = clause
        .iter()
        .map(|&(at, sign)| if sign { terms[at] } else { pool.not(terms[at]) })
        .collect();
    pool.or(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::Sort;

    fn predicates(pool: &mut Pool, count: usize) -> Vec<(Predicate, About)> {
        (0..count)
            .map(|n| {
                let term = pool.variable(&format!("p{n}"), Sort::Bool);
                (Predicate { term, group: None }, About::None)
            })
            .collect()
    }

    #[test]
    fn clauses_are_minimal_and_true_of_all_valuations() {
        let mut pool = Pool::new();
        let predicates = predicates(&mut pool, 3);
        // p0 -> p1, and not all three.
        let valuations: FxHashSet<Valuation> = (0..8)
            .map(|n| (0..3).map(|k| n >> k & 1 == 1).collect::<Vec<bool>>())
            .filter(|v| (!v[0] || v[1]) && v.iter().any(|&value| !value))
            .collect();
        let found = clauses(&predicates, &valuations, false);
        let holds = |c: &[Signed], v: &Valuation| c.iter().any(|&(at, sign)| v[at] == sign);
        assert!(found.iter().all(|c| valuations.iter().all(|v| holds(c, v))));
        assert!(found.contains(&vec![(0, false), (1, true)]));
        // `p0 -> p1` makes the third clause smaller.
        assert!(found.contains(&vec![(0, false), (2, false)]));
        assert!(!found.iter().any(|c| c.len() == 3));
    }
}
