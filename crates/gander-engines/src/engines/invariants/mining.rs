//! Mining: candidates from candidate terms and sampled states.

use std::sync::Arc;

use gander_system::{NodeId, State};
use gander_term::{Sort, TermId, Value};
use rustc_hash::FxHashSet;

use crate::encode::encoding::Encoding;

use super::copies;
use super::limits::LIMITS;
use super::numbers::{Columns, Templates};
use super::phases;
use super::truths::{Literal, Order, Signature, included, ones, signature};
use crate::candidates::candidate::{Candidate, Evaluator};
use crate::candidates::candidate_terms::{CandidateTerms, MaxTerms};

/// The extent of the search. Each level has more terms and wider templates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    /// Equalities of copied variables, under conditions on control variables.
    Copies,
    /// The same in phases: under bounds on differences of control variables.
    Phases,
    /// Boolean terms, constants, bounds, orders, equalities.
    Plain,
    /// Octagons, by abstract interpretation.
    Octagons,
    /// Also bounds of differences and sums, and all numeric templates under one condition.
    Guarded,
    /// Also clauses of three literals.
    Wide,
}

/// The limits of a level.
struct Volume {
    max_terms: MaxTerms,
    implications: usize,
    numbers: Templates,
    conditions: usize,
    guarded: usize,
    clauses: usize,
}

impl Level {
    fn volume(self) -> Volume {
        let templates = |thresholds, octagons| Templates { thresholds, octagons };
        match self {
            Level::Copies | Level::Phases | Level::Plain | Level::Octagons => Volume {
                max_terms: MaxTerms { truths: 150, numbers: 24 },
                implications: 800,
                numbers: templates(2, false),
                conditions: 0,
                guarded: 0,
                clauses: 0,
            },
            Level::Guarded => Volume {
                max_terms: MaxTerms { truths: 250, numbers: 40 },
                implications: 1600,
                numbers: templates(4, true),
                conditions: 40,
                guarded: 2500,
                clauses: 0,
            },
            Level::Wide => Volume {
                max_terms: MaxTerms { truths: 400, numbers: 60 },
                implications: 3000,
                numbers: templates(6, true),
                conditions: 80,
                guarded: 2500,
                clauses: 3000,
            },
        }
    }
}

/// The candidates of a level that hold in all sampled states. `claimed` are the formulas of the
/// claims, which determine the candidate terms.
pub(super) fn mine(
    e: &mut Encoding,
    nodes: &[NodeId],
    claimed: &[TermId],
    samples: &dyn Fn(NodeId) -> Vec<State>,
    level: Level,
) -> Vec<Candidate> {
    let volume = level.volume();
    let candidate_terms = match level {
        Level::Copies | Level::Phases => CandidateTerms::default(),
        _ => words(e, claimed, level),
    };
    let mut found: Vec<Candidate> = Vec::new();
    let mut seen: FxHashSet<Candidate> = FxHashSet::default();
    for &node in nodes {
        let states = samples(node);
        let formulas = match level {
            _ if states.is_empty() => vec![e.pool.ff()],
            Level::Copies => copies::candidates(e, node, claimed, &states),
            Level::Phases => phases::candidates(e, node, claimed, &states),
            _ => at_node(e, &candidate_terms, &states, &volume, nodes.len()),
        };
        for formula in formulas {
            let candidate = Candidate { node, formula };
            if e.pool.as_bool(formula) != Some(true) && seen.insert(candidate) {
                found.push(candidate);
            }
        }
    }
    found
}

/// The candidate terms of a level.
pub(super) fn words(e: &mut Encoding, claimed: &[TermId], level: Level) -> CandidateTerms {
    CandidateTerms::of(e, claimed, level.volume().max_terms)
}

/// The formulas for the states of one of `nodes` nodes, which share the limits.
fn at_node(
    e: &mut Encoding,
    candidate_terms: &CandidateTerms,
    states: &[State],
    volume: &Volume,
    nodes: usize,
) -> Vec<TermId> {
    let share = |most: usize| most.div_ceil(nodes.min(20));
    let count = states.len();
    let system = Arc::clone(&e.system);
    let terms: Vec<TermId> =
        candidate_terms.truths.iter().chain(&candidate_terms.numbers).copied().collect();
    let mut evaluator = Evaluator::new(&system, &e.pool, terms.clone());
    let mut columns: Vec<(TermId, Vec<Option<Value>>)> =
        terms.iter().map(|&t| (t, Vec::new())).collect();
    for state in states {
        for (column, value) in columns.iter_mut().zip(evaluator.values(&e.pool, state)) {
            column.1.push(value);
        }
    }
    let numbers = columns.split_off(candidate_terms.truths.len());
    let is_true = |v: &Option<Value>| *v == Some(Value::Bool(true));
    let mut truths: Vec<(TermId, Signature)> =
        columns.iter().map(|(t, values)| (*t, signature(values.iter().map(is_true)))).collect();
    truths.extend(modes(e, &numbers));
    let order = Order::new(&mut e.pool, &truths, count);
    let mut found: Vec<TermId> = order.constant.clone();
    for &(a, b) in &order.equal {
        let (forth, back) = (e.pool.implies(a, b), e.pool.implies(b, a));
        found.extend([forth, back]);
    }
    let everything: Vec<usize> = (0..count).collect();
    let mut tables = Vec::new();
    for sort in [Sort::Int, Sort::Real] {
        let of_sort: Vec<_> =
            numbers.iter().filter(|(t, _)| e.pool.sort(*t) == sort).cloned().collect();
        let table = Columns::new(sort, &of_sort);
        found.extend(table.formulas(&mut e.pool, candidate_terms, &everything, volume.numbers));
        found.extend(table.equalities(&mut e.pool));
        tables.push(table);
    }
    for (a, b) in order.implications(share(volume.implications)) {
        found.push(e.pool.implies(order.literals[a].term, order.literals[b].term));
    }
    let plain: FxHashSet<TermId> = found.iter().copied().collect();
    found.extend(guarded(
        e,
        candidate_terms,
        &order,
        &tables,
        &plain,
        volume,
        share(volume.guarded),
    ));
    found.extend(clauses(e, &order.literals, share(volume.clauses)));
    found
}

/// `x == v` for variables with few values.
fn modes(e: &mut Encoding, numbers: &[(TermId, Vec<Option<Value>>)]) -> Vec<(TermId, Signature)> {
    let mut found = Vec::new();
    for &(term, ref values) in numbers {
        if e.pool.as_symbol(term).is_none() {
            continue;
        }
        let mut different: Vec<&Value> = Vec::new();
        for value in values.iter().flatten() {
            if !different.contains(&value) {
                different.push(value);
            }
            if different.len() > LIMITS.mode_values {
                break;
            }
        }
        if different.len() < 2 || different.len() > LIMITS.mode_values {
            continue;
        }
        for value in different {
            let constant = e.pool.constant(value.clone());
            let equal = e.pool.eq(term, constant);
            found.push((equal, signature(values.iter().map(|v| v.as_ref() == Some(value)))));
        }
    }
    found
}

/// Numeric formulas that hold in the states that satisfy a literal, but not in all.
fn guarded(
    e: &mut Encoding,
    candidate_terms: &CandidateTerms,
    order: &Order,
    tables: &[Columns],
    plain: &FxHashSet<TermId>,
    volume: &Volume,
    most: usize,
) -> Vec<TermId> {
    let mut found = Vec::new();
    let templates = Templates { thresholds: 0, octagons: false };
    for literal in order.literals.iter().take(2 * volume.conditions) {
        if ones(&literal.signature) < 3 {
            continue;
        }
        let states = positions(&literal.signature);
        for table in tables {
            for formula in table.formulas(&mut e.pool, candidate_terms, &states, templates) {
                if !plain.contains(&formula) && found.len() < most {
                    found.push(e.pool.implies(literal.term, formula));
                }
            }
        }
    }
    found
}

fn positions(signature: &[u64]) -> Vec<usize> {
    let bit = |i: usize| signature[i / 64] >> (i % 64) & 1 == 1;
    (0..signature.len() * 64).filter(|&i| bit(i)).collect()
}

/// Clauses `a and b -> c` that hold in all states, where none of `a -> c`, `b -> c` and `a -> not
/// b` does.
fn clauses(e: &mut Encoding, literals: &[Literal], most: usize) -> Vec<TermId> {
    let mut found = Vec::new();
    if most == 0 {
        return found;
    }
    let literals = &literals[..literals.len().min(2 * LIMITS.clause_literals)];
    let n = literals.len();
    for a in 0..n {
        for b in (a + 1..n).filter(|b| b / 2 != a / 2) {
            let both: Signature = literals[a]
                .signature
                .iter()
                .zip(&literals[b].signature)
                .map(|(x, y)| x & y)
                .collect();
            if ones(&both) == 0 {
                continue;
            }
            // Enumerate every clause once: its least two literals, negated, are the premises.
            for c in (0..n).filter(|c| c / 2 != a / 2 && c / 2 != b / 2 && (c ^ 1) > b) {
                let conclusion = &literals[c].signature;
                let weak = included(&literals[a].signature, conclusion)
                    || included(&literals[b].signature, conclusion);
                if !weak && included(&both, conclusion) {
                    let premise = e.pool.and([literals[a].term, literals[b].term]);
                    found.push(e.pool.implies(premise, literals[c].term));
                    if found.len() >= most {
                        return found;
                    }
                }
            }
        }
    }
    found
}
