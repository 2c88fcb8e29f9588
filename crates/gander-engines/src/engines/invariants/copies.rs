//! Candidates for systems that copy values: equalities of variables under control conditions.
//!
//! A protocol copies a value from variable to variable, and guards determine when a copy is fresh.
//! Its invariant is an equality of two variables under a condition on control variables:
//! `received > 3 -> got3 == sent3`, or a guard that implies `data == sent3`. The values themselves
//! do not matter, so the cost of such candidates does not depend on the sort.
//!
//! - Control variables are those that guards mention, apart from range checks of assigned values.
//! - Conditions are conjunctions of conjuncts of a guard; `x <= c` and `x > c` for control ints and
//!   the constants that they are compared with; and `x == y`, `x != y` for control bools that are
//!   compared or copied.
//! - Conclusions are equalities of variables that are copied or compared; for control bools also
//!   inequalities, and for control ints constant differences.
//!
//! Candidates hold in all sampled states; for each conclusion, the weakest conditions are taken.
//! Few samples satisfy some conditions, so the equalities that a claim needs before and after a
//! copying transition are proposed in any case.

use gander_system::{Effect, NodeId, State, System};
use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::truths::{Signature, complement, included, ones, signature};
use crate::arith::pieces::flatten;
use crate::candidates::candidate::Evaluator;
use crate::encode::encoding::Encoding;

/// True if some node has several transitions and one transition copies a variable.
pub(super) fn has_copies(system: &System) -> bool {
    let competing = system.node_ids().any(|n| system.leaving(n).len() > 1);
    competing
        && system
            .transitions()
            .iter()
            .any(|t| t.effect.iter().any(|part| copied(system, part).is_some()))
}

/// The target and the source of an effect that copies a variable.
fn copied(system: &System, part: &Effect) -> Option<(SymbolId, SymbolId)> {
    let Effect::Assign { var, value, .. } = *part else { return None };
    let pool = system.pool();
    let value = match pool.op(value.term()) {
        Op::Not => pool.args(value.term())[0],
        _ => value.term(),
    };
    let from = pool.as_symbol(value)?;
    let to = system.vars()[var.index()].current;
    (from != to && system.vars().iter().any(|v| v.current == from)).then_some((to, from))
}

/// Two variables.
pub(super) type Pair = (SymbolId, SymbolId);

/// The parts that conditions and conclusions are built from.
pub(super) struct Control {
    /// By transition from the node: the conjuncts of its guard, and its copies (target first).
    pub(super) guards: Vec<(Vec<TermId>, Vec<Pair>)>,
    pub(super) ints: Vec<SymbolId>,
    pub(super) bools: Vec<SymbolId>,
    /// Variables that are copied or compared, sorted.
    pub(super) related: Vec<(SymbolId, SymbolId)>,
    /// Those that claims compare.
    pub(super) claimed: FxHashSet<(SymbolId, SymbolId)>,
    /// Constants that control ints are compared with.
    constants: Vec<(SymbolId, IBig)>,
}

pub(super) struct Condition {
    pub(super) term: TermId,
    pub(super) signature: Signature,
}

/// The candidates at a node.
pub(super) fn candidates(
    e: &mut Encoding,
    node: NodeId,
    claimed: &[TermId],
    states: &[State],
) -> Vec<TermId> {
    let control = Control::of(e, node, claimed);
    let conditions = conditions(e, &control, states);
    let columns = Columns::of(&e.system, states);
    let mut found = Vec::new();
    let conclusions = conclusions(e, &control, &columns);
    for (term, signature) in &conclusions {
        let mut kept: Vec<&Condition> = Vec::new();
        for condition in &conditions {
            let often = ones(&condition.signature) >= LIMITS.rare_states;
            if often && included(&condition.signature, signature) {
                let weaker =
                    kept.iter().filter(|k| included(&condition.signature, &k.signature)).count();
                if weaker < LIMITS.chain {
                    found.push(e.pool.implies(condition.term, *term));
                    kept.push(condition);
                }
            }
        }
    }
    found.extend(differences(e, &control, &conditions, states));
    let mut all = needed(e, &control, states);
    all.extend(found);
    all.truncate(LIMITS.copy_candidates);
    all
}

impl Control {
    pub(super) fn of(e: &mut Encoding, node: NodeId, claimed: &[TermId]) -> Control {
        let system = std::sync::Arc::clone(&e.system);
        let is_var: FxHashMap<SymbolId, Sort> =
            system.vars().iter().map(|v| (v.current, v.sort)).collect();
        let leaving = system.leaving(node);
        let mut guards: Vec<(Vec<TermId>, Vec<Pair>)> = Vec::new();
        let mut everywhere: FxHashMap<TermId, usize> = FxHashMap::default();
        for &t in leaving {
            let transition = system.transition(t);
            let assigned: FxHashSet<TermId> = transition
                .effect
                .iter()
                .filter_map(|part| match part {
                    Effect::Assign { value, .. } => Some(value.term()),
                    _ => None,
                })
                .collect();
            let guard = system.guard_term(&mut e.pool, t);
            let mut parts = flatten(&e.pool, &[guard]);
            parts.retain(|&p| {
                let checks = is_comparison(&e.pool, p)
                    && e.pool.args(p).iter().any(|a| assigned.contains(a));
                !checks && e.pool.free_symbols(&[p]).iter().all(|s| is_var.contains_key(s))
            });
            parts.iter().for_each(|&p| *everywhere.entry(p).or_default() += 1);
            let copies =
                transition.effect.iter().filter_map(|part| copied(&system, part)).collect();
            guards.push((parts, copies));
        }
        // Drop conjuncts that occur in every guard, such as a limit on steps.
        for (parts, _) in &mut guards {
            parts.retain(|p| everywhere[p] < leaving.len() || leaving.len() < 2);
        }
        let parts: Vec<TermId> = guards.iter().flat_map(|g| g.0.clone()).collect();
        let mentioned = e.pool.free_symbols(&parts);
        let of_sort = |sort: Sort| -> Vec<SymbolId> {
            let all =
                system.vars().iter().filter(|v| v.sort == sort && mentioned.contains(&v.current));
            all.map(|v| v.current).take(LIMITS.copy_control).collect()
        };
        let (ints, bools) = (of_sort(Sort::Int), of_sort(Sort::Bool));
        let mut related: FxHashSet<(SymbolId, SymbolId)> = FxHashSet::default();
        let ordered = |a: SymbolId, b: SymbolId| if a < b { (a, b) } else { (b, a) };
        for part in system.transitions().iter().flat_map(|t| &t.effect) {
            related.extend(copied(&system, part).map(|(a, b)| ordered(a, b)));
        }
        let (mut of_claims, mut constants) = (FxHashSet::default(), Vec::new());
        for (terms, is_claim) in [(parts.as_slice(), false), (claimed, true)] {
            for t in e.pool.postorder(terms) {
                let &[a, b] = e.pool.args(t) else { continue };
                if !is_comparison(&e.pool, t) {
                    continue;
                }
                let (a, b) = if e.pool.as_constant(a).is_some() { (b, a) } else { (a, b) };
                let Some(x) = e.pool.as_symbol(a).filter(|x| is_var.contains_key(x)) else {
                    continue;
                };
                match (e.pool.as_symbol(b), e.pool.as_constant(b)) {
                    (Some(y), _) if e.pool.op(t) == Op::Eq && is_var.contains_key(&y) => {
                        related.insert(ordered(x, y));
                        if is_claim {
                            of_claims.insert(ordered(x, y));
                        }
                    }
                    (_, Some(Value::Int(i))) if ints.contains(&x) => constants.push((x, i)),
                    _ => {}
                }
            }
        }
        constants.sort();
        constants.dedup();
        // Control bools that are related to the same bool are related.
        let of_control: Vec<(SymbolId, SymbolId)> = related
            .iter()
            .filter(|(a, b)| bools.contains(a) && bools.contains(b))
            .copied()
            .collect();
        for &(a, b) in &of_control {
            for &(c, d) in &of_control {
                for (x, y) in [(a, c), (a, d), (b, c), (b, d)] {
                    let shared = [a, b].iter().any(|s| *s == c || *s == d);
                    if shared && x != y {
                        related.insert(ordered(x, y));
                    }
                }
            }
        }
        let mut related: Vec<_> =
            related.into_iter().filter(|(a, b)| is_var[a] == is_var[b]).collect();
        related.sort_unstable();
        Control { guards, ints, bools, related, claimed: of_claims, constants }
    }

    pub(super) fn both_of_control(&self, (a, b): (SymbolId, SymbolId)) -> bool {
        self.bools.contains(&a) && self.bools.contains(&b)
    }
}

fn is_comparison(pool: &Pool, t: TermId) -> bool {
    matches!(pool.op(t), Op::Eq | Op::Le | Op::Lt | Op::Ge | Op::Gt)
}

/// The conditions, those that hold in most states first.
pub(super) fn conditions(e: &mut Encoding, control: &Control, states: &[State]) -> Vec<Condition> {
    let mut made: Vec<Vec<TermId>> = vec![Vec::new()];
    for (parts, _) in &control.guards {
        if parts.len() <= LIMITS.guard_parts {
            for chosen in 1..1usize << parts.len() {
                made.push(
                    (0..parts.len()).filter(|i| chosen >> i & 1 == 1).map(|i| parts[i]).collect(),
                );
            }
        } else {
            made.extend(parts.iter().map(|&p| vec![p]));
            made.push(parts.clone());
        }
    }
    for &pair in control.related.iter().filter(|&&p| control.both_of_control(p)) {
        let (x, y) = (e.pool.var(pair.0), e.pool.var(pair.1));
        let (equal, different) = (e.pool.eq(x, y), e.pool.ne(x, y));
        made.extend([vec![equal], vec![different]]);
    }
    for (x, c) in control.constants.iter().take(LIMITS.copy_constants) {
        let (x, c) = (e.pool.var(*x), e.pool.int(c.clone()));
        let (below, above) = (e.pool.le(x, c), e.pool.lt(c, x));
        made.extend([vec![below], vec![above]]);
    }
    made.truncate(LIMITS.copy_conditions);
    let mut parts: Vec<TermId> = made.iter().flatten().copied().collect();
    parts.sort_unstable();
    parts.dedup();
    let mut evaluator = Evaluator::new(&e.system, &e.pool, parts.clone());
    let mut truths: Vec<Vec<bool>> = vec![Vec::with_capacity(states.len()); parts.len()];
    for state in states {
        for (column, value) in truths.iter_mut().zip(evaluator.values(&e.pool, state)) {
            column.push(value == Some(Value::Bool(true)));
        }
    }
    let of_part: FxHashMap<TermId, Signature> =
        parts.iter().zip(truths).map(|(&p, t)| (p, signature(t.into_iter()))).collect();
    let mut found: FxHashSet<TermId> = FxHashSet::default();
    let mut all: Vec<Condition> = Vec::new();
    for parts in made {
        let mut signature = signature(states.iter().map(|_| true));
        for part in &parts {
            signature.iter_mut().zip(&of_part[part]).for_each(|(word, more)| *word &= more);
        }
        let term = e.pool.and(parts);
        if found.insert(term) {
            all.push(Condition { term, signature });
        }
    }
    all.sort_by_key(|c| std::cmp::Reverse(ones(&c.signature)));
    all
}

/// Values by variable and state, as small numbers.
struct Columns {
    ranks: FxHashMap<SymbolId, Vec<u32>>,
    count: usize,
}

impl Columns {
    fn of(system: &System, states: &[State]) -> Columns {
        let mut seen: FxHashMap<&Value, u32> = FxHashMap::default();
        let mut ranks = FxHashMap::default();
        for (i, v) in system.vars().iter().enumerate() {
            let mut column = Vec::with_capacity(states.len());
            for state in states {
                let next = seen.len() as u32;
                column.push(*seen.entry(&state.values[i]).or_insert(next));
            }
            ranks.insert(v.current, column);
        }
        Columns { ranks, count: states.len() }
    }

    fn equal(&self, (x, y): (SymbolId, SymbolId)) -> Signature {
        signature(self.ranks[&x].iter().zip(&self.ranks[&y]).map(|(a, b)| a == b))
    }
}

/// Equalities of related variables, and inequalities of control bools.
fn conclusions(e: &mut Encoding, control: &Control, columns: &Columns) -> Vec<(TermId, Signature)> {
    let mut all = Vec::new();
    for &pair in &control.related {
        let (x, y) = (e.pool.var(pair.0), e.pool.var(pair.1));
        let equal = columns.equal(pair);
        if control.both_of_control(pair) {
            let different = e.pool.ne(x, y);
            all.push((different, complement(&equal, columns.count)));
        }
        let term = e.pool.eq(x, y);
        all.push((term, equal));
    }
    all
}

/// `x - y == c` under conditions, for control ints.
fn differences(
    e: &mut Encoding,
    control: &Control,
    conditions: &[Condition],
    states: &[State],
) -> Vec<TermId> {
    let mut found = Vec::new();
    let at: FxHashMap<SymbolId, usize> =
        e.system.vars().iter().enumerate().map(|(i, v)| (v.current, i)).collect();
    let value = |x: SymbolId, state: &State| match &state.values[at[&x]] {
        Value::Int(i) => i64::try_from(i.clone()).ok(),
        _ => None,
    };
    for (i, &x) in control.ints.iter().enumerate() {
        for &y in &control.ints[i + 1..] {
            let difference = |s: &State| value(x, s)?.checked_sub(value(y, s)?);
            let all: Vec<Option<i64>> = states.iter().map(difference).collect();
            let mut kept: Vec<(i64, &Condition)> = Vec::new();
            for condition in conditions {
                let Some(c) = constant_where(&all, &condition.signature) else { continue };
                if ones(&condition.signature) < LIMITS.rare_states
                    || c.abs() > LIMITS.copy_difference
                {
                    continue;
                }
                let weaker = |k: &&(i64, &Condition)| {
                    k.0 == c && included(&condition.signature, &k.1.signature)
                };
                if kept.iter().filter(weaker).count() < LIMITS.chain {
                    kept.push((c, condition));
                    let (x, y, c) = (e.pool.var(x), e.pool.var(y), e.pool.int(IBig::from(c)));
                    let minus = e.pool.sub(x, y);
                    let equal = e.pool.eq(minus, c);
                    found.push(e.pool.implies(condition.term, equal));
                }
            }
        }
    }
    found
}

/// The common value at all marked positions.
fn constant_where(values: &[Option<i64>], signature: &[u64]) -> Option<i64> {
    let mut marked =
        (0..values.len()).filter(|i| signature[i / 64] >> (i % 64) & 1 == 1).map(|i| values[i]);
    let first = marked.next()??;
    marked.all(|v| v == Some(first)).then_some(first)
}

/// The formulas that an equality `x == z` of a claim needs, unless a sampled state violates them. A
/// transition that copies `y` to `x` needs `y == z` under its guard. If the guard contains `v ==
/// c`, then `x == z` is also proposed for `v` above or below `c`, and for `v == c` while two
/// control bools are equal or while they differ: the copy was made, and `v` did not change yet.
fn needed(e: &mut Encoding, control: &Control, states: &[State]) -> Vec<TermId> {
    let phases: Vec<TermId> = control
        .related
        .iter()
        .filter(|&&p| control.both_of_control(p))
        .flat_map(|&(a, b)| {
            let (a, b) = (e.pool.var(a), e.pool.var(b));
            [e.pool.eq(a, b), e.pool.ne(a, b)]
        })
        .collect();
    let mut found = Vec::new();
    for copy in claimed_copies(e, control) {
        let guard = e.pool.and(copy.guard.iter().copied());
        found.push(e.pool.implies(guard, copy.before));
        for &part in &copy.guard {
            let Some((v, c)) = equation(&e.pool, part) else { continue };
            let (above, below) = (e.pool.lt(c, v), e.pool.lt(v, c));
            found.extend([above, below].map(|when| e.pool.implies(when, copy.after)));
            for &phase in &phases {
                let when = e.pool.and([part, phase]);
                found.push(e.pool.implies(when, copy.after));
            }
        }
    }
    held(e, found, states)
}

/// A transition that copies a variable `y` to `x`, where a claim compares `x` with `z`.
pub(super) struct ClaimedCopy {
    /// The conjuncts of its guard.
    pub(super) guard: Vec<TermId>,
    /// `y == z`.
    pub(super) before: TermId,
    /// `x == z`.
    pub(super) after: TermId,
}

/// The copies that make equalities of claims true.
pub(super) fn claimed_copies(e: &mut Encoding, control: &Control) -> Vec<ClaimedCopy> {
    let mut found = Vec::new();
    let mut claimed: Vec<Pair> = control.claimed.iter().copied().collect();
    claimed.sort_unstable();
    for (a, b) in claimed {
        for (x, z) in [(a, b), (b, a)] {
            for (parts, copies) in &control.guards {
                let Some(&(_, y)) = copies.iter().find(|(to, _)| *to == x) else { continue };
                let (x, y, z) = (e.pool.var(x), e.pool.var(y), e.pool.var(z));
                let (before, after) = (e.pool.eq(y, z), e.pool.eq(x, z));
                found.push(ClaimedCopy { guard: parts.clone(), before, after });
            }
        }
    }
    found
}

/// The formulas that no sampled state violates, each once.
pub(super) fn held(e: &Encoding, mut found: Vec<TermId>, states: &[State]) -> Vec<TermId> {
    found.sort_unstable();
    found.dedup();
    let mut evaluator = Evaluator::new(&e.system, &e.pool, found.clone());
    let mut held = vec![true; found.len()];
    for state in states {
        for (held, value) in held.iter_mut().zip(evaluator.values(&e.pool, state)) {
            *held &= value == Some(Value::Bool(true));
        }
    }
    found.into_iter().zip(held).filter(|(_, held)| *held).map(|(t, _)| t).collect()
}

/// The sides of an equation of an int variable and a constant.
pub(super) fn equation(pool: &Pool, t: TermId) -> Option<(TermId, TermId)> {
    let &[a, b] = pool.args(t) else { return None };
    let (v, c) = if pool.as_constant(a).is_some() { (b, a) } else { (a, b) };
    let fits = pool.op(t) == Op::Eq && pool.sort(v) == Sort::Int && pool.as_symbol(v).is_some();
    (fits && pool.as_constant(c).is_some()).then_some((v, c))
}
