//! Narrowing: substitutes values for the constants that bound quantifiers, so that quantifiers over
//! few ints become conjunctions.
//!
//! The result is equivalent in states in which the constants have these values. Quantifiers without
//! known bounds stay.

use gander_system::{Effect, System, VarId};
use gander_term::{IBig, Op, Pool, Simplifier, Sort, Substitution, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use crate::encode::encoding::Encoding;

/// The variables that no step changes and that occur in the bounds of a quantifier. Empty for
/// systems without arrays, where solvers handle such quantifiers well.
pub(crate) fn sizes(system: &System) -> Vec<VarId> {
    if !system.vars().iter().any(|v| matches!(v.sort, Sort::Array(_))) {
        return Vec::new();
    }
    let mut roots: Vec<TermId> =
        system.starts().iter().flat_map(|s| s.constraint.iter().map(|c| c.term.term())).collect();
    roots.extend(system.assumptions().iter().map(|a| a.term.term()));
    for t in system.transitions() {
        roots.extend(t.effect.iter().filter_map(|effect| match effect {
            Effect::Constrain { relation, .. } => Some(relation.term()),
            _ => None,
        }));
    }
    let pool: &Pool = system.pool();
    let mut in_bounds: FxHashSet<SymbolId> = FxHashSet::default();
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    let mut stack = roots;
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        let args = pool.args(t);
        if matches!(pool.op(t), Op::Forall | Op::Exists)
            && let Some((&body, bound)) = args.split_last()
        {
            for guard in guards(pool, body, pool.op(t) == Op::Exists) {
                // The variable may have a constant offset.
                let shifted = |a: TermId| match pool.args(a) {
                    &[x, y] => {
                        bound.contains(&x) && is_number(pool, y)
                            || bound.contains(&y) && is_number(pool, x)
                    }
                    _ => false,
                };
                let has_variable = |a: &TermId| bound.contains(a) || shifted(*a);
                if pool.args(guard).iter().any(has_variable) {
                    in_bounds.extend(pool.free_symbols(&[guard]));
                }
            }
        }
        stack.extend_from_slice(args);
    }
    let kept = |v: usize| {
        let keeps = |e: &Effect| matches!(e, Effect::Keep { var, .. } if var.index() == v);
        system.transitions().iter().all(|t| t.effect.iter().any(keeps))
    };
    // Skip constants with a given value.
    let conjuncts = system.starts().iter().flat_map(|s| &s.constraint).map(|c| c.term.term());
    let mut given: FxHashSet<TermId> = FxHashSet::default();
    for t in conjuncts {
        match (pool.op(t), pool.args(t)) {
            (Op::Eq, &[a, b]) if is_number(pool, b) => given.insert(a),
            (Op::Eq, &[a, b]) if is_number(pool, a) => given.insert(b),
            _ => false,
        };
    }
    let given: FxHashSet<SymbolId> = given.into_iter().filter_map(|t| pool.as_symbol(t)).collect();
    let kept = |v: usize| kept(v) && !given.contains(&system.vars()[v].current);
    let is_size = |&v: &usize| {
        system.vars()[v].sort == Sort::Int
            && in_bounds.contains(&system.vars()[v].current)
            && kept(v)
    };
    (0..system.vars().len()).filter(is_size).map(VarId::from).collect()
}

fn is_number(pool: &Pool, t: TermId) -> bool {
    matches!(pool.as_constant(t), Some(Value::Int(_)))
}

/// The comparisons that restrict a bound variable: in the premise of an implication (`forall`), or
/// among the conjuncts (`exists`).
fn guards(pool: &Pool, body: TermId, exists: bool) -> Vec<TermId> {
    let mut stack = match (pool.op(body), pool.args(body)) {
        (Op::Implies, [guard, _]) if !exists => vec![*guard],
        _ if exists => vec![body],
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    while let Some(t) = stack.pop() {
        match pool.op(t) {
            Op::And => stack.extend_from_slice(pool.args(t)),
            Op::Lt | Op::Le | Op::Gt | Op::Ge => found.push(t),
            _ => {}
        }
    }
    found
}

/// The values of the constants.
#[derive(Debug)]
pub(crate) struct Narrowing {
    values: Substitution,
    /// That the constants have these values, before and after a step.
    pub(crate) now: TermId,
    pub(crate) then: TermId,
    simplifier: Simplifier,
    memo: FxHashMap<TermId, TermId>,
    instances: usize,
    /// Whether a quantifier is left.
    pub(crate) left: bool,
}

impl Narrowing {
    pub(crate) fn new(e: &mut Encoding, sizes: &[VarId], value: i64) -> Narrowing {
        let system = std::sync::Arc::clone(&e.system);
        let (mut map, mut now, mut then) = (FxHashMap::default(), Vec::new(), Vec::new());
        let constant = e.pool.int(value);
        for &v in sizes {
            let var = system.var(v);
            for (symbol, parts) in [(var.current, &mut now), (var.next, &mut then)] {
                map.insert(symbol, constant);
                let term = e.pool.var(symbol);
                parts.push(e.pool.eq(term, constant));
            }
        }
        let (now, then) = (e.pool.and(now), e.pool.and(then));
        Narrowing {
            values: Substitution::new(&mut e.pool, &map),
            now,
            then,
            simplifier: Simplifier::new(),
            memo: FxHashMap::default(),
            instances: 0,
            left: false,
        }
    }

    /// The formula with the constants replaced by their values.
    pub(crate) fn apply(&mut self, pool: &mut Pool, term: TermId) -> TermId {
        let term = self.values.apply(pool, term);
        let term = self.instantiated(pool, term);
        let term = self.simplifier.simplify(pool, term);
        self.left |= pool.has_quantifier(term);
        term
    }

    /// Replaces quantifiers with known bounds, innermost first. Not recursive.
    fn instantiated(&mut self, pool: &mut Pool, root: TermId) -> TermId {
        let mut stack = vec![(root, false)];
        while let Some((t, ready)) = stack.pop() {
            if self.memo.contains_key(&t) {
                continue;
            }
            if !pool.has_quantifier(t) {
                self.memo.insert(t, t);
                continue;
            }
            let args = pool.args(t).to_vec();
            if !ready {
                stack.push((t, true));
                stack.extend(args.iter().map(|&a| (a, false)));
                continue;
            }
            let new: Vec<TermId> =
                args.iter().map(|a| self.memo.get(a).copied().unwrap_or(*a)).collect();
            let op = pool.op(t);
            let result = match op {
                Op::Forall | Op::Exists => self.instances_of(pool, op, &new),
                _ => None,
            };
            let result = result
                .unwrap_or_else(|| if new == args { t } else { pool.mk(op, &new).unwrap_or(t) });
            self.memo.insert(t, result);
        }
        self.memo.get(&root).copied().unwrap_or(root)
    }

    fn instances_of(&mut self, pool: &mut Pool, op: Op, args: &[TermId]) -> Option<TermId> {
        let (&body, bound) = args.split_last()?;
        let guards = guards(pool, body, op == Op::Exists);
        let mut choices: Vec<FxHashMap<TermId, TermId>> = vec![FxHashMap::default()];
        for &variable in bound {
            let (mut low, mut high): (Option<IBig>, Option<IBig>) = (None, None);
            for &guard in &guards {
                match bounds(pool, guard, variable) {
                    Some((Some(l), _)) => low = low.max(Some(l)),
                    Some((_, Some(h))) => high = Some(high.map_or(h.clone(), |old| old.min(h))),
                    _ => {}
                }
            }
            let (low, high) = (low?, high?);
            let mut more = Vec::new();
            let mut i = low;
            while i <= high {
                let value = pool.int(i.clone());
                for chosen in &choices {
                    let mut chosen = chosen.clone();
                    chosen.insert(variable, value);
                    more.push(chosen);
                }
                self.instances += more.len();
                if self.instances > LIMITS.instances {
                    return None;
                }
                i += IBig::ONE;
            }
            choices = more;
        }
        let parts: Vec<TermId> =
            choices.into_iter().map(|map| with_values(pool, body, map)).collect();
        let all = op == Op::Forall;
        Some(if all { pool.and(parts) } else { pool.or(parts) })
    }
}

/// The formula with values for bound variables. Each variable is bound by only one quantifier.
fn with_values(pool: &mut Pool, root: TermId, mut done: FxHashMap<TermId, TermId>) -> TermId {
    let mut stack = vec![(root, false)];
    while let Some((t, ready)) = stack.pop() {
        if done.contains_key(&t) {
            continue;
        }
        let args = pool.args(t).to_vec();
        if args.is_empty() {
            done.insert(t, t);
        } else if !ready {
            stack.push((t, true));
            stack.extend(args.into_iter().map(|a| (a, false)));
        } else {
            let new: Vec<TermId> =
                args.iter().map(|a| done.get(a).copied().unwrap_or(*a)).collect();
            let op = pool.op(t);
            let result = if new == args { t } else { pool.mk(op, &new).unwrap_or(t) };
            done.insert(t, result);
        }
    }
    done.get(&root).copied().unwrap_or(root)
}

/// The lower or upper bound that a comparison gives for a variable.
fn bounds(pool: &Pool, guard: TermId, variable: TermId) -> Option<(Option<IBig>, Option<IBig>)> {
    let &[a, b] = pool.args(guard) else { return None };
    let (left, right) = (linear(pool, a, variable)?, linear(pool, b, variable)?);
    let op = pool.op(guard);
    // The variable with an offset on one side, a constant on the other.
    let (limit, below, strict) = match (left, right) {
        ((true, c), (false, d)) => {
            (d - c, matches!(op, Op::Lt | Op::Le), matches!(op, Op::Lt | Op::Gt))
        }
        ((false, d), (true, c)) => {
            (d - c, matches!(op, Op::Gt | Op::Ge), matches!(op, Op::Lt | Op::Gt))
        }
        _ => return None,
    };
    let one = if strict { IBig::ONE } else { IBig::ZERO };
    Some(if below { (None, Some(limit - one)) } else { (Some(limit + one), None) })
}

/// Whether a term contains the variable (once), and its constant part.
fn linear(pool: &Pool, term: TermId, variable: TermId) -> Option<(bool, IBig)> {
    let number = |t: TermId| match pool.as_constant(t) {
        Some(Value::Int(i)) => Some(i),
        _ => None,
    };
    if term == variable {
        return Some((true, IBig::ZERO));
    }
    if let Some(i) = number(term) {
        return Some((false, i));
    }
    match (pool.op(term), pool.args(term)) {
        (Op::Add, &[a, b]) if a == variable => number(b).map(|i| (true, i)),
        (Op::Add, &[a, b]) if b == variable => number(a).map(|i| (true, i)),
        (Op::Sub, &[a, b]) if a == variable => number(b).map(|i| (true, -i)),
        (Op::Add, &[a, b]) => Some((false, number(a)? + number(b)?)),
        (Op::Sub, &[a, b]) => Some((false, number(a)? - number(b)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(pool: &mut Pool, op: Op, name: &str) -> (SymbolId, TermId, TermId) {
        let i = pool.declare_bound(name, Sort::Int);
        let term = pool.var(i);
        let (zero, three) = (pool.int(0), pool.int(3));
        let (low, high) =
            (pool.mk(Op::Le, &[zero, term]).unwrap(), pool.mk(op, &[term, three]).unwrap());
        (i, term, pool.and([low, high]))
    }

    fn narrowing(pool: &mut Pool) -> Narrowing {
        let tt = pool.tt();
        Narrowing {
            values: Substitution::new(pool, &FxHashMap::default()),
            now: tt,
            then: tt,
            simplifier: Simplifier::new(),
            memo: FxHashMap::default(),
            instances: 0,
            left: false,
        }
    }

    #[test]
    fn bounded_quantifiers_become_conjunctions() {
        for (op, last) in [(Op::Lt, 2), (Op::Le, 3)] {
            let mut pool = Pool::new();
            let x = pool.variable("x", Sort::Int);
            let (i, term, guard) = over(&mut pool, op, "i");
            let below = pool.lt(term, x);
            let body = pool.implies(guard, below);
            let all = pool.forall(&[i], body);
            let mut narrowing = narrowing(&mut pool);
            let result = narrowing.apply(&mut pool, all);
            assert!(!pool.has_quantifier(result) && !narrowing.left);
            for (value, truth) in [(last, false), (last + 1, true), (0, false)] {
                let found =
                    gander_term::evaluate(&pool, result, &|_| Some(Value::int(value))).unwrap();
                assert_eq!(found, Value::Bool(truth), "{op:?}, x = {value}");
            }
            let both = pool.and([guard, below]);
            let some = pool.exists(&[i], both);
            let result = narrowing.apply(&mut pool, some);
            for (value, truth) in [(0, false), (1, true)] {
                let found =
                    gander_term::evaluate(&pool, result, &|_| Some(Value::int(value))).unwrap();
                assert_eq!(found, Value::Bool(truth), "{op:?}, x = {value}");
            }
        }
    }

    #[test]
    fn quantifiers_without_bounds_stay() {
        let mut pool = Pool::new();
        let x = pool.variable("x", Sort::Int);
        let i = pool.declare_bound("i", Sort::Int);
        let (term, zero) = (pool.var(i), pool.int(0));
        let (low, below) = (pool.le(zero, term), pool.lt(x, term));
        let body = pool.implies(low, below);
        let all = pool.forall(&[i], body);
        let mut narrowing = narrowing(&mut pool);
        let result = narrowing.apply(&mut pool, all);
        assert!(pool.has_quantifier(result) && narrowing.left);
    }
}
