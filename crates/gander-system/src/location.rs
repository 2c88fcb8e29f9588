//! Formulas about the node of a state, specialised to a given node.

use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

/// `t` with the constant `value` for `symbol`, folded. Only terms that contain the symbol are
/// rebuilt, so the rest stays as the author wrote it.
pub(crate) fn fold_symbol(pool: &mut Pool, t: TermId, symbol: SymbolId, value: TermId) -> TermId {
    let mut new: FxHashMap<TermId, TermId> = FxHashMap::default();
    for part in pool.postorder(&[t]) {
        if pool.as_symbol(part) == Some(symbol) {
            new.insert(part, value);
            continue;
        }
        if !pool.args(part).iter().any(|a| new.contains_key(a)) {
            continue;
        }
        let args: Vec<TermId> =
            pool.args(part).iter().map(|a| new.get(a).copied().unwrap_or(*a)).collect();
        let folded = match (pool.op(part), &args[..]) {
            (Op::Not, &[a]) => pool.not(a),
            (Op::And, _) => pool.and(args),
            (Op::Or, _) => pool.or(args),
            (Op::Implies, &[a, b]) => pool.implies(a, b),
            (Op::Eq, &[a, b]) => pool.eq(a, b),
            (Op::Ite, &[c, a, b]) => pool.ite(c, a, b),
            (Op::Forall | Op::Exists, &[.., body]) if pool.as_bool(body).is_some() => body,
            (op, _) => pool.mk(op, &args).expect("a constant has the sort of its symbol"),
        };
        new.insert(part, folded);
    }
    new.get(&t).copied().unwrap_or(t)
}

#[cfg(test)]
mod tests {
    use crate::NodeId;
    use crate::testing::account;
    use gander_term::Pool;

    #[test]
    fn formulas_are_folded_at_a_node() {
        let mut m = account();
        m.always("@node == @Node.Open -> balance + 0 >= 1");
        m.always("(if @node == @Node.Open then balance else fee) > 0");
        m.always("exists k: int. @node == @Node.Open or k == balance");
        let s = m.finish();
        let mut pool = Pool::fork(&s.pool);
        let mut shown = |claim: usize, n: u32| {
            let crate::ClaimKind::Always(p) = s.claims[claim].kind else { panic!("always") };
            let t = s.at_node(&mut pool, p, NodeId(n));
            pool.display(t).to_string()
        };
        assert_eq!(shown(0, 0), "balance + 0 >= 1");
        assert_eq!(shown(0, 1), "true");
        assert_eq!(shown(1, 0), "balance > 0");
        assert_eq!(shown(1, 2), "fee > 0");
        assert_eq!(shown(2, 0), "true");
        assert_eq!(shown(2, 1), "exists k: int. k == balance");
    }
}
