//! Normal forms of terms. Two terms have the same normal form if they differ only in the order of
//! arguments of commutative operators, in the nesting of associative operators, or in the names of
//! bound symbols.
//!
//! A term is equivalent to its normal form. Equivalent terms may have different normal forms.

use gander_runtime::check_cancelled;
use gander_term::{Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

/// Nested sums, products, conjunctions and disjunctions are flattened up to this many arguments:
/// long chains of binary operators would otherwise take quadratic time.
const MAX_FLAT: usize = 4096;

/// Computes normal forms of the terms of one pool.
#[derive(Default)]
pub(super) struct Normal {
    done: FxHashMap<TermId, TermId>,
    /// By term: how deep its quantifiers are nested.
    heights: FxHashMap<TermId, u32>,
    /// By bound symbol: the one that replaces it.
    bound: FxHashMap<SymbolId, SymbolId>,
    /// The symbols that quantifiers of this height bind, by position and sort.
    canonical: FxHashMap<(u32, usize, Sort), SymbolId>,
    /// Some symbol is bound by quantifiers of different heights, so normal forms could be wrong.
    confused: bool,
}

impl Normal {
    /// False if normal forms cannot be relied on.
    pub(super) fn is_reliable(&self) -> bool {
        !self.confused
    }

    /// The normal form of a term.
    pub(super) fn of(&mut self, pool: &mut Pool, t: TermId) -> TermId {
        if let Some(&known) = self.done.get(&t) {
            return known;
        }
        self.see_quantifiers(pool, t);
        let mut stack = vec![t];
        let mut args = Vec::new();
        while let Some(&top) = stack.last() {
            check_cancelled();
            if self.done.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(pool.args(top).iter().filter(|a| !self.done.contains_key(a)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            args.clear();
            args.extend(pool.args(top).iter().map(|a| self.done[a]));
            let new = self.node(pool, top, &mut args);
            self.done.insert(top, new);
            self.done.insert(new, new);
        }
        self.done[&t]
    }

    /// The normal form of a term with these arguments in normal form.
    fn node(&self, pool: &mut Pool, t: TermId, args: &mut Vec<TermId>) -> TermId {
        let op = pool.op(t);
        match op {
            Op::Symbol(s) => return self.bound.get(&s).map_or(t, |&b| pool.var(b)),
            Op::And | Op::Or | Op::Add | Op::Mul | Op::Min | Op::Max => {
                if args.iter().any(|&a| pool.op(a) == op) {
                    let flat: Vec<TermId> = args
                        .iter()
                        .flat_map(|&a| match pool.op(a) == op && pool.args(a).len() <= MAX_FLAT {
                            true => pool.args(a).to_vec(),
                            false => vec![a],
                        })
                        .collect();
                    *args = flat;
                }
                args.sort_unstable();
                if matches!(op, Op::And | Op::Or | Op::Min | Op::Max) {
                    args.dedup();
                }
                if let [one] = args[..] {
                    return one;
                }
            }
            Op::Eq => args.sort_unstable(),
            _ => {}
        }
        if *args == pool.args(t) {
            return t;
        }
        // Arguments keep their sorts, so the term is well-sorted.
        pool.mk(op, args).unwrap_or(t)
    }

    /// Chooses the symbols for all quantifiers of a term.
    fn see_quantifiers(&mut self, pool: &mut Pool, t: TermId) {
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            check_cancelled();
            if self.heights.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(pool.args(top).iter().filter(|a| !self.heights.contains_key(a)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let inside = pool.args(top).iter().map(|a| self.heights[a]).max().unwrap_or(0);
            let quantifies = matches!(pool.op(top), Op::Forall | Op::Exists);
            if quantifies {
                let bound: Vec<SymbolId> = match pool.args(top).split_last() {
                    Some((_, bound)) => bound.iter().filter_map(|&b| pool.as_symbol(b)).collect(),
                    None => Vec::new(),
                };
                for (i, s) in bound.into_iter().enumerate() {
                    self.bind(pool, s, (inside + 1, i));
                }
            }
            self.heights.insert(top, inside + u32::from(quantifies));
        }
    }

    fn bind(&mut self, pool: &mut Pool, s: SymbolId, (height, position): (u32, usize)) {
        let sort = pool.symbol(s).sort;
        let canonical = *self
            .canonical
            .entry((height, position, sort))
            .or_insert_with(|| pool.declare_bound(&format!("bound {height}.{position}"), sort));
        self.confused |= *self.bound.entry(s).or_insert(canonical) != canonical;
        self.confused |= *self.bound.entry(canonical).or_insert(canonical) != canonical;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::random::{Shape, TermGenerator};
    use gander_term::{Value, evaluate, parse_term};

    fn pool() -> Pool {
        let mut pool = Pool::new();
        for x in ["a", "b", "c"] {
            pool.variable(x, Sort::Int);
        }
        pool
    }

    #[test]
    fn order_nesting_and_bound_names_do_not_matter() {
        for (one, other, same) in [
            ("a + b + c == 3", "3 == c + (b + a)", true),
            ("a < b and b < c", "b < c and (a < b and b < c)", true),
            ("a < b", "b < a", false),
            ("a - b", "b - a", false),
            ("exists x: int. x > a and x < b", "exists y: int. y < b and y > a", true),
            ("exists x: int. x > a and x < b", "exists y: int. y < b and y >= a", false),
            (
                "forall x: int. exists y: int. x + y == a",
                "forall p: int. exists q: int. a == q + p",
                true,
            ),
            ("forall x: int. exists y: int. x < y", "forall x: int. exists y: int. y < x", false),
        ] {
            let mut pool = pool();
            let mut normal = Normal::default();
            let parse = |pool: &mut Pool, t: &str| parse_term(pool, t).unwrap();
            let (p, q) = (parse(&mut pool, one), parse(&mut pool, other));
            let (n, m) = (normal.of(&mut pool, p), normal.of(&mut pool, q));
            assert_eq!(n == m, same, "{one} and {other}");
            assert_eq!(normal.of(&mut pool, n), n, "{one}");
            assert!(normal.is_reliable());
        }
    }

    #[test]
    fn a_normal_form_has_the_value_of_its_term() {
        for seed in 0..400 {
            let mut pool = Pool::new();
            let shape = Shape { depth: 4, ..Shape::default() };
            let mut generator = TermGenerator::new(&mut pool, seed, shape);
            let t = generator.any_term(&mut pool);
            let mut normal = Normal::default();
            let n = normal.of(&mut pool, t);
            for _ in 0..3 {
                let values: FxHashMap<SymbolId, Value> =
                    generator.assignment(&pool).into_iter().collect();
                let value = |s: SymbolId| values.get(&s).cloned();
                if let (Ok(a), Ok(b)) = (evaluate(&pool, t, &value), evaluate(&pool, n, &value)) {
                    assert_eq!(a, b, "seed {seed}: {}", pool.display(t));
                }
            }
        }
    }
}
