//! Subterms with the condition that their value matters: divisors that are zero, and values of
//! operations that are not defined.

use gander_term::{Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The divisors of a term that are no literals, each with the formula that its value matters and is
/// zero.
///
/// A subterm matters unless the parts before it decide the value of the whole: in `d != 0 and e`,
/// `e` matters where `d != 0`; a branch of an `if` matters where it is taken. Below a quantifier,
/// the divisor is zero for some value of the bound variable.
pub(super) fn zero_divisors(pool: &mut Pool, root: TermId) -> Vec<(TermId, TermId)> {
    cases_of(pool, root, |pool, t| {
        if !is_division(pool.op(t)) {
            return None;
        }
        let divisor = pool.args(t)[1];
        if pool.as_constant(divisor).is_some() {
            return None;
        }
        let zero = match pool.sort(divisor) {
            Sort::Real => pool.constant(Value::Real(0.into())),
            _ => pool.int(0),
        };
        Some((divisor, pool.eq(divisor, zero)))
    })
}

/// The formula that the value of a symbol matters for a term.
pub(super) fn matters(pool: &mut Pool, root: TermId, wanted: SymbolId) -> TermId {
    let cases =
        cases_of(pool, root, |pool, t| (symbol(pool, t) == Some(wanted)).then(|| (t, pool.tt())));
    let cases: Vec<TermId> = cases.into_iter().map(|(_, case)| case).collect();
    pool.or(cases)
}

/// The subterms that `find` maps to a key and a condition: by key, the formula that such a subterm
/// matters and its condition holds.
fn cases_of(
    pool: &mut Pool,
    root: TermId,
    mut find: impl FnMut(&mut Pool, TermId) -> Option<(TermId, TermId)>,
) -> Vec<(TermId, TermId)> {
    let parts = pool.postorder(&[root]);
    let wanted: FxHashMap<TermId, (TermId, TermId)> =
        parts.iter().filter_map(|&t| find(pool, t).map(|found| (t, found))).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut matters: FxHashMap<TermId, TermId> = FxHashMap::default();
    let always = pool.tt();
    matters.insert(root, always);
    let mut found: Vec<(TermId, TermId, FxHashSet<SymbolId>)> = Vec::new();
    // By subterm: the variables of the enclosing quantifiers.
    let mut bound: FxHashMap<TermId, FxHashSet<SymbolId>> = FxHashMap::default();
    for &t in parts.iter().rev() {
        let Some(&here) = matters.get(&t) else { continue };
        let args = pool.args(t).to_vec();
        let op = pool.op(t);
        if let Some(&(key, condition)) = wanted.get(&t) {
            let case = pool.and([here, condition]);
            let below = bound.get(&t).cloned().unwrap_or_default();
            match found.iter_mut().find(|(k, ..)| *k == key) {
                Some((_, other, all)) => {
                    *other = pool.or([*other, case]);
                    all.extend(below);
                }
                None => found.push((key, case, below)),
            }
        }
        if matches!(op, Op::Forall | Op::Exists) {
            let (body, variables) = (args[args.len() - 1], &args[..args.len() - 1]);
            let mut below = bound.get(&t).cloned().unwrap_or_default();
            below.extend(variables.iter().filter_map(|&v| symbol(pool, v)));
            bound.entry(body).or_default().extend(below);
            let all = match matters.get(&body) {
                Some(&known) => pool.or([known, here]),
                None => here,
            };
            matters.insert(body, all);
            continue;
        }
        for (i, &arg) in args.iter().enumerate() {
            let edge = edge_condition(pool, op, &args, i);
            let there = pool.and([here, edge]);
            let all = match matters.get(&arg) {
                Some(&known) => pool.or([known, there]),
                None => there,
            };
            matters.insert(arg, all);
            if let Some(below) = bound.get(&t).cloned() {
                bound.entry(arg).or_default().extend(below);
            }
        }
    }
    let mut cases: Vec<(TermId, TermId)> = Vec::new();
    for (divisor, case, below) in found {
        let inside: FxHashSet<SymbolId> =
            pool.postorder(&[case]).into_iter().filter_map(|part| symbol(pool, part)).collect();
        let mut some: Vec<SymbolId> = below.into_iter().filter(|s| inside.contains(s)).collect();
        some.sort_unstable();
        cases.push((divisor, pool.exists(&some, case)));
    }
    cases.retain(|(_, case)| pool.as_bool(*case) != Some(false));
    cases
}

fn symbol(pool: &Pool, t: TermId) -> Option<SymbolId> {
    match pool.op(t) {
        Op::Symbol(s) => Some(s),
        _ => None,
    }
}

fn is_division(op: Op) -> bool {
    matches!(op, Op::Div | Op::IntDiv | Op::Mod)
}

/// The condition that an argument matters for the value of an operator.
fn edge_condition(pool: &mut Pool, op: Op, args: &[TermId], at: usize) -> TermId {
    match (op, at) {
        (Op::Ite, 1) => args[0],
        (Op::Ite, 2) => pool.not(args[0]),
        (Op::Implies, 1) => args[0],
        // Only the arguments before it guard it.
        (Op::And, _) => pool.and(args[..at].to_vec()),
        (Op::Or, _) => {
            let before: Vec<TermId> = args[..at].iter().map(|&a| pool.not(a)).collect();
            pool.and(before)
        }
        _ => pool.tt(),
    }
}

#[cfg(test)]
mod tests {
    use crate::LintCandidate;
    use crate::testing::account;

    fn cases(formula: &str) -> Vec<(String, String)> {
        let mut m = account();
        m.always(formula);
        let s = m.finish();
        let found = s.candidates();
        found
            .list
            .iter()
            .filter_map(|f| match f {
                LintCandidate::DivisionInClaim { divisor, case, .. } => {
                    Some((divisor.clone(), found.pool().display(*case).to_string()))
                }
                _ => None,
            })
            .collect()
    }

    fn pair(a: &str, b: &str) -> (String, String) {
        (a.to_string(), b.to_string())
    }

    #[test]
    fn a_divisor_counts_where_it_matters() {
        assert_eq!(cases("100 div balance > 1"), [pair("balance", "balance == 0")]);
        assert_eq!(cases("100 div 7 > 1"), []);
        assert_eq!(
            cases("balance != 0 and 100 div balance > 1"),
            [pair("balance", "balance != 0 and balance == 0")]
        );
        assert_eq!(
            cases("(if fee > 0 then balance mod fee else 0) >= 0"),
            [pair("fee", "fee > 0 and fee == 0")]
        );
        let below = cases("forall k: int. balance < k implies 1 div k >= 0");
        assert_eq!(below, [pair("k", "exists k: int. balance < k and k == 0")]);
        assert_eq!(cases("exists k: int. k == 1 div balance").len(), 1);
    }
}
