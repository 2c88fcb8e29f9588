//! Formulas as unions of polyhedra, and transitions as moves between them.
//!
//! Every symbol is an int: a truth value is 0 or 1, a variant of an enumeration its position. A
//! *move* is a case of a transition: rows over the state that it leaves and what it chooses, and
//! for every variable its next value as a sum.

use gander_system::{Effect, System, TransitionId};
use gander_term::{Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::super::limits::LIMITS;
use super::super::step::Steps;
use crate::arith::polyhedron::{Outcome, Polyhedron, Row};

/// The symbols of some formulas, each with a dimension.
#[derive(Clone, Debug)]
pub(super) struct Space {
    place: FxHashMap<SymbolId, usize>,
    sorts: Vec<Sort>,
}

impl Space {
    pub(super) fn of(pool: &Pool, symbols: impl IntoIterator<Item = SymbolId>) -> Option<Space> {
        let (mut place, mut sorts) = (FxHashMap::default(), Vec::new());
        for s in symbols {
            let sort = pool.symbol(s).sort;
            if !matches!(sort, Sort::Bool | Sort::Int | Sort::Enum(_)) {
                return None;
            }
            place.insert(s, sorts.len());
            sorts.push(sort);
        }
        Some(Space { place, sorts })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.sorts.len()
    }

    fn constant(&self, constant: i64) -> Row {
        Row { coefficients: vec![0; self.dimensions()], constant }
    }

    pub(super) fn unit(&self, d: usize) -> Row {
        let mut row = self.constant(0);
        row.coefficients[d] = 1;
        row
    }

    /// That every symbol has a value of its sort.
    fn sorts(&self, pool: &Pool) -> Option<Vec<Row>> {
        let mut rows = Vec::new();
        for (d, sort) in self.sorts.iter().enumerate() {
            let greatest = match sort {
                Sort::Bool => 1,
                Sort::Enum(id) => i64::try_from(pool.enumeration(*id).variants.len()).ok()? - 1,
                _ => continue,
            };
            rows.push(self.unit(d));
            rows.push(self.constant(greatest).plus(1, &self.unit(d), -1)?);
        }
        Some(rows)
    }

    /// A formula as the union of these conjunctions; none if it is not linear, or too much.
    pub(super) fn cases(&self, pool: &Pool, formula: TermId) -> Option<Vec<Vec<Row>>> {
        let mut cases = self.disjuncts(pool, formula, true, LIMITS.eg_depth)?;
        let sorts = self.sorts(pool)?;
        cases.iter_mut().for_each(|c| c.extend(sorts.iter().cloned()));
        cases.retain(|c| !matches!(Polyhedron::of(c.clone()), Outcome::Empty));
        Some(cases)
    }

    /// Recursion is bounded by `depth`.
    fn disjuncts(
        &self,
        pool: &Pool,
        t: TermId,
        positive: bool,
        depth: u32,
    ) -> Option<Vec<Vec<Row>>> {
        let depth = depth.checked_sub(1)?;
        if let Some(truth) = pool.as_bool(t) {
            return Some(if truth == positive { vec![Vec::new()] } else { Vec::new() });
        }
        let args = pool.args(t);
        let all = |parts: &[(TermId, bool)]| {
            let mut all = vec![Vec::new()];
            for &(part, positive) in parts {
                all = product(&all, &self.disjuncts(pool, part, positive, depth)?)?;
            }
            Some(all)
        };
        let any = |ways: &[&[(TermId, bool)]]| {
            let mut any = Vec::new();
            for way in ways {
                any.extend(all(way)?);
            }
            (any.len() <= LIMITS.eg_cases).then_some(any)
        };
        let signed: Vec<(TermId, bool)> = args.iter().map(|&a| (a, positive)).collect();
        let of_bools = args.first().is_some_and(|&a| pool.sort(a) == Sort::Bool);
        match (pool.op(t), positive) {
            (Op::Not, _) => self.disjuncts(pool, args[0], !positive, depth),
            (Op::And, true) | (Op::Or, false) => all(&signed),
            (Op::Or, true) | (Op::And, false) => {
                let ways: Vec<&[(TermId, bool)]> = signed.chunks(1).collect();
                any(&ways)
            }
            (Op::Implies, true) => any(&[&[(args[0], false)], &[(args[1], true)]]),
            (Op::Implies, false) => all(&[(args[0], true), (args[1], false)]),
            (Op::Ite, _) => any(&[
                &[(args[0], true), (args[1], positive)],
                &[(args[0], false), (args[2], positive)],
            ]),
            (Op::Eq, _) if of_bools => any(&[
                &[(args[0], true), (args[1], positive)],
                &[(args[0], false), (args[1], !positive)],
            ]),
            (Op::Symbol(_), _) => {
                // At least 1, or at most 0.
                let unit = self.unit(*self.place.get(&pool.as_symbol(t)?)?);
                Some(vec![vec![if positive {
                    unit.plus(1, &self.constant(-1), 1)?
                } else {
                    self.constant(0).plus(1, &unit, -1)?
                }]])
            }
            (op @ (Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge), _) => {
                let mut cases = Vec::new();
                for (left, here) in self.sums(pool, args[0], depth)? {
                    for (right, there) in self.sums(pool, args[1], depth)? {
                        let difference = left.plus(1, &right, -1)?;
                        let less = |strict: i64| self.constant(-strict).plus(1, &difference, -1);
                        let more = |strict: i64| self.constant(-strict).plus(1, &difference, 1);
                        let rows = match (op, positive) {
                            (Op::Eq, true) => vec![vec![less(0)?, more(0)?]],
                            (Op::Eq, false) => vec![vec![less(1)?], vec![more(1)?]],
                            (Op::Lt, true) | (Op::Ge, false) => vec![vec![less(1)?]],
                            (Op::Le, true) | (Op::Gt, false) => vec![vec![less(0)?]],
                            (Op::Gt, true) | (Op::Le, false) => vec![vec![more(1)?]],
                            _ => vec![vec![more(0)?]],
                        };
                        cases.extend(product(&product(&here, &there)?, &rows)?);
                    }
                }
                (cases.len() <= LIMITS.eg_cases).then_some(cases)
            }
            _ => None,
        }
    }

    /// A term as a sum, with where it is that one.
    fn sums(&self, pool: &Pool, t: TermId, depth: u32) -> Option<Vec<(Row, Vec<Vec<Row>>)>> {
        let depth = depth.checked_sub(1)?;
        if let Some(value) = pool.as_constant(t) {
            let value = match value {
                Value::Int(i) => i64::try_from(i).ok()?,
                Value::Bool(b) => i64::from(b),
                Value::Enum(_, i) => i64::from(i),
                _ => return None,
            };
            return Some(vec![(self.constant(value), vec![Vec::new()])]);
        }
        let args = pool.args(t);
        match pool.op(t) {
            Op::Symbol(s) => Some(vec![(self.unit(*self.place.get(&s)?), vec![Vec::new()])]),
            Op::Ite => {
                let mut cases = Vec::new();
                for (test, branch) in [(true, args[1]), (false, args[2])] {
                    let when = self.disjuncts(pool, args[0], test, depth)?;
                    for (sum, also) in self.sums(pool, branch, depth)? {
                        cases.push((sum, product(&when, &also)?));
                    }
                }
                (cases.len() <= LIMITS.eg_cases).then_some(cases)
            }
            op @ (Op::Neg | Op::Add | Op::Sub | Op::Mul) => {
                let mut cases: Option<Vec<(Row, Vec<Vec<Row>>)>> = None;
                for &a in args {
                    let parts = self.sums(pool, a, depth)?;
                    cases = Some(match cases {
                        None if op == Op::Neg => {
                            let minus = |(sum, when): (Row, _)| {
                                Some((self.constant(0).plus(1, &sum, -1)?, when))
                            };
                            parts.into_iter().map(minus).collect::<Option<_>>()?
                        }
                        None => parts,
                        Some(before) => {
                            let mut both = Vec::new();
                            for (left, here) in &before {
                                for (right, there) in &parts {
                                    let sum = match op {
                                        Op::Add => left.plus(1, right, 1)?,
                                        Op::Sub => left.plus(1, right, -1)?,
                                        _ => times(left, right)?,
                                    };
                                    both.push((sum, product(here, there)?));
                                }
                            }
                            both
                        }
                    });
                    if cases.as_ref().is_some_and(|c| c.len() > LIMITS.eg_cases) {
                        return None;
                    }
                }
                cases
            }
            _ => None,
        }
    }
}

/// The product of two sums, one of which is a constant.
fn times(a: &Row, b: &Row) -> Option<Row> {
    let constant = |r: &Row| r.coefficients.iter().all(|&c| c == 0).then_some(r.constant);
    let (factor, of) = match (constant(a), constant(b)) {
        (Some(c), _) => (c, b),
        (_, Some(c)) => (c, a),
        _ => return None,
    };
    of.plus(factor, of, 0)
}

fn product(a: &[Vec<Row>], b: &[Vec<Row>]) -> Option<Vec<Vec<Row>>> {
    if a.len().saturating_mul(b.len()) > LIMITS.eg_cases {
        return None;
    }
    Some(a.iter().flat_map(|x| b.iter().map(move |y| [x.as_slice(), y].concat())).collect())
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub transition: TransitionId,
    pub target: usize,
    pub rows: Vec<Row>,
    /// By variable its next value.
    pub next: Vec<Row>,
    /// The dimensions of parameters, in their order.
    pub params: Vec<usize>,
    pub dimensions: usize,
}

/// The moves of a transition from states with `base`; none if it is not linear.
pub(super) fn moves(
    system: &System,
    pool: &mut Pool,
    t: TransitionId,
    base: TermId,
) -> Option<Vec<Move>> {
    let steps = Steps::of(system, pool, t);
    let mut symbols: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
    let first = symbols.len();
    let params = system.transition(t).params.len();
    symbols.extend(&steps.chosen);
    // What is no sum becomes a dimension of its own.
    let mut parts = vec![base, steps.formula];
    let mut given: Vec<Option<TermId>> = Vec::new();
    let plain = Space::of(pool, symbols.iter().copied())?;
    for v in system.vars() {
        let behind = pool.var(v.current);
        let value = steps.behind(pool, behind);
        let sums = if pool.sort(value) == Sort::Bool && pool.args(value).len() > 1 {
            None
        } else {
            plain.sums(pool, value, LIMITS.eg_depth)
        };
        if sums.is_some_and(|s| s.len() == 1) {
            given.push(Some(value));
        } else {
            let next = pool.var(v.next);
            parts.push(pool.eq(next, value));
            given.push(None);
            symbols.push(v.next);
        }
    }
    let space = Space::of(pool, symbols.iter().copied())?;
    let mut next = Vec::new();
    for (v, value) in system.vars().iter().zip(given) {
        let value = match value {
            Some(value) => value,
            None => pool.var(v.next),
        };
        next.push(space.sums(pool, value, LIMITS.eg_depth)?.pop()?.0);
    }
    let formula = pool.and(parts);
    let params: Vec<usize> = (first..first + params).collect();
    let (target, dimensions) = (system.transition(t).target.index(), space.dimensions());
    let new = |rows| Move {
        transition: t,
        target,
        rows,
        next: next.clone(),
        params: params.clone(),
        dimensions,
    };
    Some(space.cases(pool, formula)?.into_iter().map(new).collect())
}

/// The variables that every step may change to whatever the assumptions allow: what comes after
/// does not depend on them.
pub(super) fn inputs(system: &System, pool: &Pool) -> Vec<usize> {
    let is_open = |v: &gander_system::StateVar| {
        system.transitions().iter().all(|t| {
            t.effect.iter().all(|e| match e {
                Effect::Assign { var, .. } | Effect::Keep { var, .. } => {
                    system.var(*var).next != v.next
                }
                Effect::Constrain { relation, .. } => {
                    !pool.free_symbols(&[relation.term()]).contains(&v.next)
                }
            })
        })
    };
    (0..system.vars().len()).filter(|&i| is_open(&system.vars()[i])).collect()
}
