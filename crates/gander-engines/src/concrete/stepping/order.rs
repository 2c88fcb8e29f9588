//! The order in which values are chosen: a symbol that an equation determines comes after the
//! symbols of its other side.

use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A symbol in the order.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// Its index among the symbols to choose.
    pub at: usize,
    /// The conjuncts that restrict its value: the equation that determines it if there is one,
    /// otherwise all that mention it.
    pub conjuncts: Vec<TermId>,
}

/// An order of `symbols` in which as many as possible are determined by conjuncts `x == e`, `x` or
/// `not x` over earlier symbols.
pub(crate) fn order(pool: &Pool, symbols: &[SymbolId], conjuncts: &[TermId]) -> Vec<Placed> {
    let position: FxHashMap<SymbolId, usize> =
        symbols.iter().enumerate().map(|(i, &s)| (s, i)).collect();
    let mut mentions: Vec<Vec<TermId>> = vec![Vec::new(); symbols.len()];
    // Equations: the symbol that they may define, and the number of symbols on the other side that
    // are not chosen yet.
    let mut equations: Vec<(usize, TermId, usize)> = Vec::new();
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); symbols.len()];
    for &c in conjuncts {
        let of = |t: TermId| -> Vec<usize> {
            pool.free_symbols(&[t]).iter().filter_map(|s| position.get(s).copied()).collect()
        };
        for i in of(c) {
            mentions[i].push(c);
        }
        for (symbol, rest) in sides(pool, c) {
            let Some(&defined) = position.get(&symbol) else { continue };
            let others = rest.map(of).unwrap_or_default();
            if others.contains(&defined) {
                continue;
            }
            for &o in &others {
                waiting[o].push(equations.len());
            }
            equations.push((defined, c, others.len()));
        }
    }
    let mut placed: Vec<Placed> = Vec::new();
    let mut done = vec![false; symbols.len()];
    let mut used: FxHashSet<TermId> = FxHashSet::default();
    let mut determined = vec![false; symbols.len()];
    equations.iter().for_each(|e| determined[e.0] = true);
    // Symbols that no equation determines come first, then the others in order.
    let mut free: Vec<usize> = (0..symbols.len()).filter(|&i| !determined[i]).collect();
    free.extend((0..symbols.len()).filter(|&i| determined[i]));
    let mut free = free.into_iter();
    let mut ready: Vec<usize> =
        (0..equations.len()).filter(|&q| equations[q].2 == 0).rev().collect();
    loop {
        let next = match ready.pop() {
            Some(q) => {
                let (i, c, _) = equations[q];
                if done[i] || !used.insert(c) {
                    continue;
                }
                Placed { at: i, conjuncts: vec![c] }
            }
            None => match free.find(|&i| !done[i]) {
                Some(i) => Placed { at: i, conjuncts: mentions[i].clone() },
                None => return placed,
            },
        };
        done[next.at] = true;
        for &q in &waiting[next.at] {
            equations[q].2 -= 1;
            if equations[q].2 == 0 {
                ready.push(q);
            }
        }
        placed.push(next);
    }
}

/// The symbols that a conjunct may determine, with the terms that they equal; `None` for `x` and
/// `not x`.
fn sides(pool: &Pool, c: TermId) -> Vec<(SymbolId, Option<TermId>)> {
    let args = pool.args(c);
    match pool.op(c) {
        Op::Symbol(s) => vec![(s, None)],
        Op::Not => pool.as_symbol(args[0]).map(|s| (s, None)).into_iter().collect(),
        Op::Eq => {
            let (a, b) = (args[0], args[1]);
            [(a, b), (b, a)]
                .iter()
                .filter_map(|&(x, e)| Some((pool.as_symbol(x)?, Some(e))))
                .collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::{Sort, parse_term};

    #[test]
    fn determined_symbols_come_after_their_dependencies() {
        let mut pool = Pool::new();
        let symbols: Vec<SymbolId> =
            ["a", "b", "c", "d"].iter().map(|n| pool.declare(n, Sort::Int).unwrap()).collect();
        let conjuncts: Vec<TermId> = ["a == b + c", "b == d * 2", "c >= d"]
            .iter()
            .map(|text| parse_term(&mut pool, text).unwrap())
            .collect();
        let order = order(&pool, &symbols, &conjuncts);
        let at: Vec<usize> = order.iter().map(|p| p.at).collect();
        assert_eq!(at, [2, 3, 1, 0]);
        assert_eq!(order[3].conjuncts, [conjuncts[0]]);
        assert_eq!(order[0].conjuncts, [conjuncts[0], conjuncts[2]]);
    }

    #[test]
    fn cyclic_equations_are_broken() {
        let mut pool = Pool::new();
        let symbols: Vec<SymbolId> =
            ["a", "b"].iter().map(|n| pool.declare(n, Sort::Bool).unwrap()).collect();
        let circle = parse_term(&mut pool, "a <-> b").unwrap();
        let order = order(&pool, &symbols, &[circle]);
        assert_eq!(order.iter().map(|p| p.at).collect::<Vec<_>>(), [0, 1]);
    }
}
