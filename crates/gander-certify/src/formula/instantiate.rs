//! Instances of quantified formulas: a formula without quantifiers that has a solution if the given
//! one has.
//!
//! An existential quantifier (`exists` in a positive place, `forall` in a negative one) is replaced
//! by its body for a fresh symbol: the value that it claims to exist. A universal one is replaced
//! by its body for some ground terms, which says less. So if the result has no solution, neither
//! has the given formula. (This is Herbrand's theorem in one direction; which terms are chosen
//! matters only for what is proved. As in Bradley, Manna and Sipma, *What's decidable about
//! arrays?* (VMCAI 2006), these are the terms at which arrays are read or written and the symbols
//! of existential quantifiers.)
//!
//! Only int symbols are instantiated; other universal quantifiers count as true.

use gander_term::{Op, Pool, Sort, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Ground terms for one formula.
const MAX_TERMS: usize = 14;
/// Instances of one quantifier.
const MAX_INSTANCES: usize = 400;
/// Terms of the result.
const MAX_SIZE: usize = 200_000;
/// Connectives and quantifiers above a quantifier: the depth of the recursion.
const MAX_DEPTH: usize = 200;
/// Rounds in which symbols of existential quantifiers below universal ones become ground terms.
const ROUNDS: usize = 2;

/// A formula without quantifiers that has a solution if `formula` has one; `None` if it would be
/// too large.
pub(crate) fn instances(pool: &mut Pool, formula: TermId) -> Option<TermId> {
    let mut ground: Vec<TermId> = Vec::new();
    let mut result = formula;
    let mut names = FxHashMap::default();
    for _ in 0..ROUNDS {
        let mut work = Instantiation::new(&ground, names);
        // The first pass replaces existential quantifiers; its result has the index terms.
        result = work.formula(pool, formula, true)?;
        let mut found: FxHashSet<TermId> = ground.iter().copied().collect();
        let mut add = |t: TermId| {
            if found.insert(t) {
                ground.push(t);
            }
        };
        work.skolems.iter().for_each(|&t| add(t));
        index_terms(pool, result).into_iter().for_each(&mut add);
        ground.truncate(MAX_TERMS);
        work = Instantiation::new(&ground, work.names);
        result = work.formula(pool, formula, true)?;
        work.skolems.retain(|t| !ground.contains(t));
        if work.skolems.is_empty() {
            break;
        }
        ground.extend(work.skolems);
        ground.truncate(MAX_TERMS);
        names = work.names;
    }
    Some(result)
}

/// The ints at which arrays are read or written.
fn index_terms(pool: &Pool, formula: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    for t in pool.postorder(&[formula]) {
        if matches!(pool.op(t), Op::Select | Op::Store) {
            let index = pool.args(t)[1];
            if pool.sort(index) == Sort::Int && !found.contains(&index) {
                found.push(index);
            }
        }
    }
    found
}

struct Instantiation {
    ground: Vec<TermId>,
    /// The symbols of existential quantifiers.
    skolems: Vec<TermId>,
    /// The symbols that stand for the bound ones of a quantifier, by its polarity.
    names: FxHashMap<(TermId, bool), Vec<TermId>>,
    size: usize,
    depth: usize,
    known: FxHashMap<(TermId, bool), TermId>,
}

impl Instantiation {
    fn new(ground: &[TermId], names: FxHashMap<(TermId, bool), Vec<TermId>>) -> Instantiation {
        Instantiation {
            ground: ground.to_vec(),
            skolems: Vec::new(),
            names,
            size: 0,
            depth: 0,
            known: FxHashMap::default(),
        }
    }

    /// The formula without quantifiers. In a positive place the result is true in every model of
    /// `t`, extended by values of fresh symbols; in a negative place it is false in every
    /// extension of a model in which `t` is false. Recurses over the connectives above quantifiers.
    fn formula(&mut self, pool: &mut Pool, t: TermId, positive: bool) -> Option<TermId> {
        if !pool.has_quantifier(t) {
            return Some(t);
        }
        if let Some(&known) = self.known.get(&(t, positive)) {
            return Some(known);
        }
        self.size += 1;
        if self.size > MAX_SIZE || self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = self.connective(pool, t, positive);
        self.depth -= 1;
        let result = result?;
        self.known.insert((t, positive), result);
        Some(result)
    }

    fn connective(&mut self, pool: &mut Pool, t: TermId, positive: bool) -> Option<TermId> {
        let args = pool.args(t).to_vec();
        Some(match pool.op(t) {
            Op::Not => {
                let inner = self.formula(pool, args[0], !positive)?;
                pool.not(inner)
            }
            Op::And | Op::Or => {
                let mut parts = Vec::with_capacity(args.len());
                for a in args {
                    parts.push(self.formula(pool, a, positive)?);
                }
                if pool.op(t) == Op::And { pool.and(parts) } else { pool.or(parts) }
            }
            Op::Implies => {
                let premise = self.formula(pool, args[0], !positive)?;
                let conclusion = self.formula(pool, args[1], positive)?;
                pool.implies(premise, conclusion)
            }
            Op::Eq if pool.sort(args[0]) == Sort::Bool => {
                // `(a -> b) and (b -> a)`
                let there = pool.implies(args[0], args[1]);
                let back = pool.implies(args[1], args[0]);
                let there = self.formula(pool, there, positive)?;
                let back = self.formula(pool, back, positive)?;
                pool.and([there, back])
            }
            Op::Ite if pool.sort(t) == Sort::Bool => {
                let not = pool.not(args[0]);
                let (yes, no) = (pool.implies(args[0], args[1]), pool.implies(not, args[2]));
                let yes = self.formula(pool, yes, positive)?;
                let no = self.formula(pool, no, positive)?;
                pool.and([yes, no])
            }
            Op::Forall if positive => self.universal(pool, &args, true)?,
            Op::Exists if !positive => self.universal(pool, &args, false)?,
            Op::Forall | Op::Exists => self.existential(pool, t, &args, positive)?,
            // A quantifier inside of a term that is no connective: any truth value.
            _ => {
                if pool.sort(t) != Sort::Bool {
                    return None;
                }
                if positive { pool.tt() } else { pool.ff() }
            }
        })
    }

    /// The body for a fresh symbol.
    fn existential(
        &mut self,
        pool: &mut Pool,
        t: TermId,
        args: &[TermId],
        positive: bool,
    ) -> Option<TermId> {
        let (&body, bound) = args.split_last()?;
        let fresh = match self.names.get(&(t, positive)) {
            Some(fresh) => fresh.clone(),
            None => {
                let mut fresh = Vec::new();
                for &b in bound {
                    let symbol = pool.as_symbol(b)?;
                    let (name, sort) = (pool.symbol(symbol).name.clone(), pool.symbol(symbol).sort);
                    let new = pool.declare_fresh(&name, sort);
                    fresh.push(pool.var(new));
                }
                self.names.insert((t, positive), fresh.clone());
                fresh
            }
        };
        let ints = fresh.iter().copied().filter(|&f| pool.sort(f) == Sort::Int);
        self.skolems.extend(ints);
        let body = replaced(pool, body, bound, &fresh)?;
        self.formula(pool, body, positive)
    }

    /// The conjunction of instances of `forall`, or the disjunction of those of `exists`.
    fn universal(&mut self, pool: &mut Pool, args: &[TermId], forall: bool) -> Option<TermId> {
        let (&body, bound) = args.split_last()?;
        let weakest = |pool: &mut Pool| if forall { pool.tt() } else { pool.ff() };
        let count = u32::try_from(bound.len()).ok().and_then(|n| self.ground.len().checked_pow(n));
        let fits = count.is_some_and(|n| n <= MAX_INSTANCES);
        if !fits || bound.iter().any(|&b| pool.sort(b) != Sort::Int) {
            return Some(weakest(pool));
        }
        let mut parts = Vec::new();
        for number in 0..count.unwrap_or(0) {
            let mut rest = number;
            let mut terms = Vec::with_capacity(bound.len());
            for _ in bound {
                terms.push(self.ground[rest % self.ground.len()]);
                rest /= self.ground.len();
            }
            let instance = replaced(pool, body, bound, &terms)?;
            let instance = pool.simplify(instance);
            parts.push(self.formula(pool, instance, forall)?);
            self.size += 1;
            if self.size > MAX_SIZE {
                return None;
            }
        }
        Some(if forall { pool.and(parts) } else { pool.or(parts) })
    }
}

/// The term with bound symbols replaced. Quantifiers inside bind other symbols.
fn replaced(pool: &mut Pool, body: TermId, bound: &[TermId], by: &[TermId]) -> Option<TermId> {
    let map: FxHashMap<TermId, TermId> = bound.iter().copied().zip(by.iter().copied()).collect();
    let mut done: FxHashMap<TermId, TermId> = map;
    for t in pool.postorder(&[body]) {
        if done.contains_key(&t) {
            continue;
        }
        let args = pool.args(t).to_vec();
        let is_quantifier = matches!(pool.op(t), Op::Forall | Op::Exists);
        if is_quantifier && args[..args.len() - 1].iter().any(|a| bound.contains(a)) {
            return None;
        }
        let new: Vec<TermId> = args.iter().map(|a| done.get(a).copied().unwrap_or(*a)).collect();
        let rebuilt = if new == args { t } else { pool.mk(pool.op(t), &new).ok()? };
        done.insert(t, rebuilt);
    }
    done.get(&body).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_linear::Budget;
    use gander_term::parse_term;

    fn pool() -> Pool {
        let mut pool = Pool::new();
        let array = pool.array_sort(Sort::Int, Sort::Bool).unwrap();
        pool.declare("a", array).unwrap();
        for name in ["i", "n", "c"] {
            pool.declare(name, Sort::Int).unwrap();
        }
        pool
    }

    fn is_free_of_quantifiers(pool: &Pool, t: TermId) -> bool {
        let all = pool.postorder(&[t]);
        let mut symbols = all.iter().filter_map(|&t| pool.as_symbol(t));
        !pool.has_quantifier(t) && !symbols.any(|s| pool.symbol(s).bound)
    }

    fn refuted(pool: &mut Pool, text: &str) -> bool {
        let formula = parse_term(pool, text).unwrap();
        let without = instances(pool, formula).unwrap();
        assert!(is_free_of_quantifiers(pool, without), "{}", pool.display(without));
        let budget = Budget { terms: 10_000, work: 10_000_000 };
        match pool.as_bool(without) {
            Some(value) => !value,
            None => {
                matches!(
                    gander_proof::decide(pool, without, budget).0,
                    gander_proof::Answer::Refuted(_)
                )
            }
        }
    }

    #[test]
    fn contradictions_between_quantifiers_are_refuted() {
        let mut pool = pool();
        for text in [
            "(forall x: int. a[x]) and not a[i]",
            "(forall x: int. 0 <= x and x < n -> a[x]) and (exists y: int. 0 <= y and y < n and not a[y])",
            "(forall x: int. 0 <= x and x < n -> not a[x]) and not (forall y: int. 0 <= y and y < n -> not a[i := false][y])",
            "(forall x: int, y: int. not (a[x] and a[y]) or x == y) and a[i] and a[n] and i < n",
            "(forall x: int. a[x]) == false and (forall x: int. a[x])",
            "(forall x: int. exists y: int. y > x and a[y]) and (forall z: int. not a[z]) and a[i]",
        ] {
            assert!(refuted(&mut pool, text), "{text}");
        }
    }

    #[test]
    fn deep_formulas_are_left_alone() {
        let mut pool = pool();
        let mut formula = parse_term(&mut pool, "forall x: int. a[x]").unwrap();
        let c = parse_term(&mut pool, "c > 0").unwrap();
        for _ in 0..100_000 {
            let not = pool.mk(Op::Not, &[formula]).unwrap();
            formula = pool.mk(Op::And, &[c, not]).unwrap();
        }
        assert_eq!(instances(&mut pool, formula), None);
    }

    #[test]
    fn formulas_with_a_solution_are_not_refuted() {
        let mut pool = pool();
        for text in [
            "(forall x: int. a[x]) and a[i]",
            "(exists x: int. a[x]) and (exists y: int. not a[y])",
            "not (forall x: int. a[x]) and a[i]",
            "(forall x: int. exists y: int. y > x and a[y]) and a[i]",
            "(exists x: int. forall y: int. y >= x -> not a[y]) and a[i]",
            "(if (forall x: int. a[x]) then i > 0 else i < 0) and not a[n] and i < 0",
            "(forall x: int. a[x] == (x < c)) and a[i] and not a[n]",
        ] {
            assert!(!refuted(&mut pool, text), "{text}");
        }
    }
}
