//! Simplification of arrays: `select` over `store` and `store` over `store` (McCarthy's axioms).

use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;

/// The number of nested `store`s that a `select` looks through; if it needs more, it stays
/// unchanged.
const MAX_WRITINGS: usize = 256;

/// `a[i]`, both in normal form, not both constant.
pub(super) fn select(pool: &mut Pool, sort: Sort, a: TermId, i: TermId) -> TermId {
    let mut array = a;
    for _ in 0..MAX_WRITINGS {
        match (pool.op(array), pool.args(array)) {
            (Op::Store, &[_, j, v]) if i == j => return v,
            (Op::Store, &[rest, j, _]) if different_constants(pool, i, j) => array = rest,
            (Op::ConstArray(_), &[v]) => return v,
            (Op::Const(c), _) => {
                let Some(value) = pool.value(c).as_array() else { break };
                let known = match pool.as_constant(i) {
                    Some(index) => value.get(&index).clone(),
                    None if value.exceptions().is_empty() => value.default().clone(),
                    None => return pool.intern(Op::Select, sort, &[array, i]),
                };
                return pool.constant(known);
            }
            _ => return pool.intern(Op::Select, sort, &[array, i]),
        }
    }
    pool.intern(Op::Select, sort, &[a, i])
}

/// `a[i := v]`, all in normal form, not all constant.
pub(super) fn store(pool: &mut Pool, sort: Sort, a: TermId, i: TermId, v: TermId) -> TermId {
    let rest = match (pool.op(a), pool.args(a)) {
        (Op::Store, &[rest, j, _]) if i == j => rest,
        _ => a,
    };
    if pool.op(v) == Op::Select && *pool.args(v) == [rest, i] {
        return rest;
    }
    // Without the overwritten `store`, all arguments may be constant.
    super::fold(pool, Op::Store, &[rest, i, v])
        .unwrap_or_else(|| pool.intern(Op::Store, sort, &[rest, i, v]))
}

/// True for two constants with different values.
fn different_constants(pool: &Pool, i: TermId, j: TermId) -> bool {
    let constant = |t| matches!(pool.op(t), Op::Const(_) | Op::Bool(_));
    i != j && constant(i) && constant(j)
}
