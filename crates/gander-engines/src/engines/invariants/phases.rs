//! Candidates for systems that copy values in phases of two counters.
//!
//! A protocol counts what it sent and what it received. How far the counters are apart is its
//! phase, and a copy is the right one only in some phases: `received > 3 && sending - received <= 0
//! -> got3 == sent3`. Bools that alternate show whether a counter is odd. The candidates are
//!
//! - the equalities that [`copies`] proposes before and after a copying transition, also under a
//!   bound on the difference of two control ints;
//! - bounds on such differences under the conditions of [`copies`], from the samples;
//! - `b == (x mod 2 == 1)` and `b == (x mod 2 == 0)` for a control int and a bool that is a control
//!   variable, or is copied to or compared with one.
//!
//! They hold in all sampled states.

use gander_system::{NodeId, State};
use gander_term::{IBig, Op, Sort, TermId, Value};
use rustc_hash::FxHashMap;

use super::copies::{self, Condition, Control, claimed_copies, conditions, equation, held};
use super::limits::LIMITS;
use super::truths::{included, ones};
use crate::encode::encoding::Encoding;

/// The candidates at a node; none if fewer than two control ints exist there.
pub(super) fn candidates(
    e: &mut Encoding,
    node: NodeId,
    claimed: &[TermId],
    states: &[State],
) -> Vec<TermId> {
    let control = Control::of(e, node, claimed);
    let differences = differences(e, &control, states);
    if differences.is_empty() {
        return Vec::new();
    }
    let conditions = conditions(e, &control, states);
    let mut found = parities(e, &control);
    found.extend(bounds(e, &differences, &conditions));
    found.extend(copies_in_phases(e, &control, &differences));
    let mut found = held(e, found, states);
    found.truncate(LIMITS.copy_candidates);
    found
}

/// The difference of two control ints.
struct Difference {
    term: TermId,
    /// By sampled state; none if it is too large.
    values: Vec<Option<i64>>,
}

/// The differences of control ints that are small in some sampled state.
fn differences(e: &mut Encoding, control: &Control, states: &[State]) -> Vec<Difference> {
    let at: FxHashMap<_, usize> =
        e.system.vars().iter().enumerate().map(|(i, v)| (v.current, i)).collect();
    let value = |i: usize, state: &State| match &state.values[i] {
        Value::Int(i) => i64::try_from(i.clone()).ok(),
        _ => None,
    };
    let mut found = Vec::new();
    for (i, x) in control.ints.iter().enumerate() {
        for y in &control.ints[i + 1..] {
            if found.len() >= LIMITS.phase_pairs {
                return found;
            }
            let values: Vec<Option<i64>> =
                states.iter().map(|s| value(at[x], s)?.checked_sub(value(at[y], s)?)).collect();
            if values.iter().flatten().any(|d| d.abs() <= LIMITS.phase_bound) {
                let (x, y) = (e.pool.var(*x), e.pool.var(*y));
                found.push(Difference { term: e.pool.sub(x, y), values });
            }
        }
    }
    found
}

/// A bool that is true while an int is odd, or while it is even.
fn parities(e: &mut Encoding, control: &Control) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut bools = control.bools.clone();
    for &(a, b) in &control.related {
        if e.pool.symbol(a).sort == Sort::Bool && (bools.contains(&a) || bools.contains(&b)) {
            bools.extend([a, b]);
        }
    }
    bools.sort_unstable();
    bools.dedup();
    bools.truncate(2 * LIMITS.copy_control);
    for &x in &control.ints {
        let (x, two) = (e.pool.var(x), e.pool.int(2));
        let Ok(rest) = e.pool.mk(Op::Mod, &[x, two]) else { continue };
        for remainder in [0, 1] {
            let remainder = e.pool.int(remainder);
            let is = e.pool.eq(rest, remainder);
            for &b in &bools {
                let b = e.pool.var(b);
                found.push(e.pool.eq(b, is));
            }
        }
    }
    found
}

/// Bounds of the differences in the sampled states that satisfy a condition; the weakest conditions
/// for each bound.
fn bounds(e: &mut Encoding, differences: &[Difference], conditions: &[Condition]) -> Vec<TermId> {
    let mut found = Vec::new();
    for difference in differences {
        let mut kept: Vec<(bool, i64, &Condition)> = Vec::new();
        for condition in conditions {
            if ones(&condition.signature) < LIMITS.rare_states {
                continue;
            }
            let marked = |i: &usize| condition.signature[i / 64] >> (i % 64) & 1 == 1;
            let values: Option<Vec<i64>> =
                (0..difference.values.len()).filter(marked).map(|i| difference.values[i]).collect();
            let Some(values) = values else { continue };
            let (Some(&least), Some(&greatest)) = (values.iter().min(), values.iter().max()) else {
                continue;
            };
            for (is_upper, bound) in [(false, least), (true, greatest)] {
                let weaker = |k: &&(bool, i64, &Condition)| {
                    k.0 == is_upper
                        && k.1 == bound
                        && included(&condition.signature, &k.2.signature)
                };
                if bound.abs() > LIMITS.phase_bound
                    || kept.iter().filter(weaker).count() >= LIMITS.chain
                {
                    continue;
                }
                kept.push((is_upper, bound, condition));
                let bound = e.pool.int(IBig::from(bound));
                let holds = match is_upper {
                    true => e.pool.le(difference.term, bound),
                    false => e.pool.le(bound, difference.term),
                };
                found.push(e.pool.implies(condition.term, holds));
            }
        }
    }
    found
}

/// The equalities before and after copies, under a bound on a difference.
fn copies_in_phases(
    e: &mut Encoding,
    control: &Control,
    differences: &[Difference],
) -> Vec<TermId> {
    let mut phases = Vec::new();
    for difference in differences {
        let known = || difference.values.iter().flatten().copied();
        let (Some(least), Some(greatest)) = (known().min(), known().max()) else { continue };
        for bound in -LIMITS.phase_bound..=LIMITS.phase_bound {
            let constant = e.pool.int(IBig::from(bound));
            if (least..greatest).contains(&bound) {
                phases.push(e.pool.le(difference.term, constant));
            }
            if (least + 1..=greatest).contains(&bound) {
                phases.push(e.pool.le(constant, difference.term));
            }
        }
    }
    let mut found = Vec::new();
    for copy in claimed_copies(e, control) {
        for &phase in &phases {
            let when = e.pool.and(copy.guard.iter().copied().chain([phase]));
            found.push(e.pool.implies(when, copy.before));
            for &part in &copy.guard {
                let Some((v, c)) = equation(&e.pool, part) else { continue };
                let others: Vec<TermId> =
                    copy.guard.iter().copied().filter(|&other| other != part).collect();
                for side in [e.pool.lt(c, v), e.pool.lt(v, c)] {
                    let short = e.pool.and([side, phase]);
                    let long = e.pool.and(others.iter().copied().chain([side, phase]));
                    found.push(e.pool.implies(short, copy.after));
                    found.push(e.pool.implies(long, copy.after));
                }
            }
        }
    }
    found
}

/// True if phases can exist: some transition copies a variable, and there are two ints.
pub(super) fn has_phases(system: &gander_system::System) -> bool {
    let ints = system.vars().iter().filter(|v| v.sort == Sort::Int).count();
    ints >= 2 && copies::has_copies(system)
}
