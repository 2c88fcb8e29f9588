//! Ranges of variables that assumptions imply. They hold in every state of every run, so they can
//! be the variable's type.

use gander_system::{Role, StateTerm, System, VarId};
use gander_term::{IBig, Op, Pool, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

/// By variable: the range that the conjuncts `x <= c`, `c < x` and so on imply, if both ends are
/// bounded.
pub(crate) fn assumed(pool: &Pool, assumptions: &[TermId]) -> FxHashMap<SymbolId, (IBig, IBig)> {
    let mut lows: FxHashMap<SymbolId, IBig> = FxHashMap::default();
    let mut highs: FxHashMap<SymbolId, IBig> = FxHashMap::default();
    let mut open: Vec<TermId> = assumptions.to_vec();
    while let Some(t) = open.pop() {
        // Normalise to `a <= b` or `a < b`.
        let (a, b, strict) = match (pool.op(t), pool.args(t)) {
            (Op::And, args) => {
                open.extend(args);
                continue;
            }
            (Op::Le, [a, b]) => (*a, *b, 0),
            (Op::Lt, [a, b]) => (*a, *b, 1),
            (Op::Ge, [a, b]) => (*b, *a, 0),
            (Op::Gt, [a, b]) => (*b, *a, 1),
            _ => continue,
        };
        let constant = |t: TermId| match pool.as_constant(t) {
            Some(Value::Int(i)) => Some(i),
            _ => None,
        };
        if let (Some(x), Some(c)) = (pool.as_symbol(a), constant(b)) {
            let c = c - IBig::from(strict);
            highs.entry(x).and_modify(|h| *h = h.clone().min(c.clone())).or_insert(c);
        } else if let (Some(c), Some(x)) = (constant(a), pool.as_symbol(b)) {
            let c = c + IBig::from(strict);
            lows.entry(x).and_modify(|l| *l = l.clone().max(c.clone())).or_insert(c);
        }
    }
    let both = |(x, low): (SymbolId, IBig)| {
        let high = highs.get(&x)?.clone();
        (low <= high).then_some((x, (low, high)))
    };
    lows.into_iter().filter_map(both).collect()
}

/// The input whose declared range an assumption is, if it is one and the range is not empty.
pub(crate) fn input_range(system: &System, t: StateTerm) -> Option<VarId> {
    let pool = system.pool();
    let symbols = pool.free_symbols(&[t.term()]);
    let [symbol] = symbols[..] else { return None };
    let v = system.var_ids().find(|v| system.var(*v).current == symbol)?;
    let range = system.var(v).range.as_ref().filter(|_| system.var(v).role == Role::Input)?;
    let [low, high] = pool.args(t.term()) else { return None };
    let is = |t: TermId, i: &IBig| pool.as_constant(t).is_some_and(|c| c.as_int() == Some(i));
    let le = |t: TermId| (pool.op(t) == Op::Le).then(|| (pool.args(t)[0], pool.args(t)[1]));
    let declared = pool.op(t.term()) == Op::And
        && range.low <= range.high
        && le(*low).is_some_and(|(a, b)| is(a, &range.low) && pool.as_symbol(b) == Some(symbol))
        && le(*high).is_some_and(|(a, b)| pool.as_symbol(a) == Some(symbol) && is(b, &range.high));
    declared.then_some(v)
}
