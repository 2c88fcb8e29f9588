//! Outlines: generalisations of formulas without nested conditions.
//!
//! In programs of many connected parts, a value is `if c then .. else ..`, where `c` compares a
//! value of another part, which is again such a term, and so on. A proof about one part mostly
//! needs nothing of the others. The outline of a formula has a new symbol in place of each
//! condition that compares terms with conditions of their own. If the outline has no solution, the
//! formula has none: every solution of it gives one of the outline.

use gander_runtime::check_cancelled;
use gander_term::{Op, Pool, Sort, TermId};
use rustc_hash::FxHashMap;

/// Where a term occurs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    /// In the Boolean structure of the formula, outside of its atoms.
    Outside,
    /// In an argument of an atom.
    Inside,
    /// In the condition of such an argument.
    Condition,
}

/// True for operators of Boolean structure; the others of sort bool are atoms.
fn is_connective(pool: &Pool, t: TermId) -> bool {
    match pool.op(t) {
        Op::Not | Op::And | Op::Or | Op::Implies => true,
        Op::Eq => pool.args(t).iter().all(|&a| pool.sort(a) == Sort::Bool),
        Op::Ite => pool.sort(t) == Sort::Bool,
        _ => false,
    }
}

/// The outline of a formula; none if it has no nested conditions, or quantifiers.
pub(super) fn outline(pool: &mut Pool, formula: TermId) -> Option<TermId> {
    let mut with_conditions: FxHashMap<TermId, bool> = FxHashMap::default();
    let mut is_nested = false;
    for t in pool.postorder(&[formula]) {
        if matches!(pool.op(t), Op::Forall | Op::Exists) {
            return None;
        }
        let below = |a: &TermId| with_conditions.get(a).copied().unwrap_or(false);
        let any = pool.args(t).iter().any(below);
        is_nested |= any && pool.op(t) == Op::Ite && pool.sort(t) != Sort::Bool;
        with_conditions.insert(t, any || (pool.op(t) == Op::Ite && pool.sort(t) != Sort::Bool));
    }
    if !is_nested {
        return None;
    }
    let mut done: FxHashMap<(TermId, Place), TermId> = FxHashMap::default();
    let mut new_symbols: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut stack = vec![(formula, Place::Outside)];
    let mut children = Vec::new();
    while let Some(&(t, place)) = stack.last() {
        check_cancelled();
        if done.contains_key(&(t, place)) {
            stack.pop();
            continue;
        }
        let is_atom = pool.sort(t) == Sort::Bool && !is_connective(pool, t);
        if place == Place::Condition && is_atom && with_conditions[&t] {
            let symbol = *new_symbols.entry(t).or_insert_with(|| {
                let symbol = pool.declare_fresh("condition", Sort::Bool);
                pool.var(symbol)
            });
            done.insert((t, place), symbol);
            stack.pop();
            continue;
        }
        let inner = match place {
            Place::Outside if is_atom => Place::Inside,
            place => place,
        };
        children.clear();
        children.extend(pool.args(t).iter().enumerate().map(|(i, &a)| {
            let is_condition = place != Place::Outside && pool.op(t) == Op::Ite && i == 0;
            (a, if is_condition { Place::Condition } else { inner })
        }));
        let before = stack.len();
        stack.extend(children.iter().filter(|child| !done.contains_key(child)));
        if stack.len() > before {
            continue;
        }
        stack.pop();
        let args: Vec<TermId> = children.iter().map(|child| done[child]).collect();
        let same = args == pool.args(t);
        // Only terms of sort bool are replaced, by terms of sort bool, so the sorts fit.
        let new = if same { t } else { pool.mk(pool.op(t), &args).ok()? };
        done.insert((t, place), new);
    }
    let found = done[&(formula, Place::Outside)];
    (!new_symbols.is_empty() && found != formula).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::parse_term;

    fn outlined(text: &str) -> Option<String> {
        let mut pool = Pool::new();
        for name in ["x", "y", "z"] {
            pool.variable(name, Sort::Int);
        }
        for name in ["p", "q"] {
            pool.variable(name, Sort::Bool);
        }
        let formula = parse_term(&mut pool, text).unwrap();
        outline(&mut pool, formula).map(|t| pool.display(t).to_string())
    }

    #[test]
    fn only_conditions_over_terms_with_conditions_are_replaced() {
        assert_eq!(outlined("x < y and p"), None);
        assert_eq!(outlined("(if p then x else y) < 3"), None);
        assert_eq!(outlined("(if x < y and p then x else y) < 3"), None);
        let nested = "(if q or (if p then x else y) > 2 then x else z) < 3";
        let found = outlined(nested).unwrap();
        assert!(found.starts_with("(if q or condition"), "{found}");
        // The atom itself stays, whatever its arguments are.
        assert_eq!(outlined("(if p then x else y) < 3 or (if q then x else z) > 2"), None);
    }

    #[test]
    fn equal_conditions_get_equal_symbols() {
        let c = "(if p then x else y) > 2";
        let text = format!("(if {c} then x else z) < (if {c} then x else z)");
        let found = outlined(&text).unwrap();
        let (left, right) = found.split_once('<').unwrap();
        assert_eq!(left.trim(), right.trim(), "{found}");
    }
}
