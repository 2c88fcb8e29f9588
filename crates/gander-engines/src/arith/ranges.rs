//! Ranges that the formulas of a system keep its ints in, as far as that is cheap to see.
//!
//! A range contains the value of the variable in every reachable state. Ranges begin with what
//! starts say; every assignment widens them by the interval of the assigned value, under the bounds
//! that the guard gives to it or to its parts. An end that still moves after a few rounds is let
//! go, and limited again by what guards say (widening and narrowing; Cousot and Cousot 1977).
//! Languages with declared ranges, whose rules are disabled where they would leave them, are
//! lowered to guards of this kind.

use gander_system::{Effect, System};
use gander_term::{IBig, Op, Pool, Sort, TermId, Value};
use rustc_hash::FxHashMap;

use crate::arith::interval::{End, Interval};
use crate::arith::limits::LIMITS;
use crate::arith::linear::{Comparison, Relation};
use crate::arith::pieces::flatten;

/// An interval of ints; no end is strict.
type Span = Interval<IBig>;

/// The least and the greatest value of each variable, by position; none for those without, and for
/// other sorts than int.
pub(crate) fn ranges(system: &System) -> Vec<Option<(IBig, IBig)>> {
    let mut pool = Pool::fork(system.pool());
    let current: Vec<TermId> = system.vars().iter().map(|v| pool.var(v.current)).collect();
    let next: Vec<TermId> = system.vars().iter().map(|v| pool.var(v.next)).collect();
    let is_int: Vec<bool> = system.vars().iter().map(|v| v.sort == Sort::Int).collect();
    let assumed = bounds(&pool, system.assumptions().iter().map(|a| a.term.term()));
    let assumed: Vec<Span> =
        current.iter().map(|t| assumed.get(t).cloned().unwrap_or_default()).collect();
    let guards: Vec<FxHashMap<TermId, Span>> = system
        .transitions()
        .iter()
        .map(|t| bounds(&pool, t.guard.iter().map(|g| g.term.term())))
        .collect();
    // What starts give, and steps if variables are in their ranges before; nothing where nothing
    // does. Who keeps a variable gives it nothing new.
    let given = |known: Option<&[Option<Span>]>| -> Vec<Option<Span>> {
        let mut all: Vec<Option<Span>> = vec![None; current.len()];
        for start in system.starts() {
            let said = bounds(&pool, start.constraint.iter().map(|c| c.term.term()));
            for v in (0..current.len()).filter(|&v| is_int[v]) {
                let span = said.get(&current[v]).cloned().unwrap_or_default();
                widen(&mut all[v], span.meet(&assumed[v]));
            }
        }
        let Some(known) = known else { return all };
        let ends: FxHashMap<TermId, Span> =
            current.iter().zip(known).filter_map(|(t, k)| Some((*t, k.clone()?))).collect();
        for (transition, guard) in system.transitions().iter().zip(&guards) {
            let relations = transition.effect.iter().filter_map(|part| match part {
                Effect::Constrain { relation, .. } => Some(relation.term()),
                _ => None,
            });
            let said = bounds(&pool, relations);
            let values = transition.effect.iter().filter_map(|part| match part {
                Effect::Assign { var, value, .. } if is_int[var.index()] => Some(value.term()),
                _ => None,
            });
            let intervals = intervals(&pool, &values.collect::<Vec<_>>(), guard, &ends);
            let mut open = is_int.clone();
            for part in &transition.effect {
                match *part {
                    Effect::Keep { var, .. } => open[var.index()] = false,
                    Effect::Assign { var, value, .. } if is_int[var.index()] => {
                        let v = var.index();
                        open[v] = false;
                        let span = intervals.get(&value.term()).cloned().unwrap_or_default();
                        widen(&mut all[v], span.meet(&assumed[v]));
                    }
                    _ => {}
                }
            }
            for v in (0..current.len()).filter(|&v| open[v]) {
                let span = said.get(&next[v]).cloned().unwrap_or_default();
                widen(&mut all[v], span.meet(&assumed[v]));
            }
        }
        all
    };
    let mut known = given(None);
    for round in 0.. {
        let mut wider = known.clone();
        for (wide, more) in wider.iter_mut().zip(given(Some(&known))) {
            if let Some(more) = more {
                widen(wide, more);
            }
        }
        if wider == known {
            break;
        }
        if round >= LIMITS.range_rounds {
            return vec![None; current.len()];
        }
        if round >= LIMITS.range_exact_rounds {
            // An end that moved has no limit.
            for (wide, old) in wider.iter_mut().zip(&known).filter(|(wide, old)| wide != old) {
                if let (Some(wide), Some(old)) = (wide, old) {
                    wide.lower = wide.lower.take().filter(|l| Some(l) == old.lower.as_ref());
                    wide.upper = wide.upper.take().filter(|u| Some(u) == old.upper.as_ref());
                }
            }
        }
        known = wider;
    }
    // What contains every reachable state is still so after another step, and guards limit again
    // what was let go.
    for _ in 0..2 {
        known = given(Some(&known))
            .into_iter()
            .zip(known)
            .map(|(new, old)| Some(new?.meet(&old?)))
            .collect();
    }
    let ends = |s: Span| s.lower.zip(s.upper).map(|(l, u)| (l.value, u.value));
    known.into_iter().map(|span| span.and_then(ends)).collect()
}

fn widen(known: &mut Option<Span>, by: Span) {
    *known = Some(match known.take() {
        Some(old) => old.hull(&by),
        None => by,
    });
}

/// What conjunctions say about terms by comparing them with constants.
pub(crate) fn bounds(
    pool: &Pool,
    formulas: impl Iterator<Item = TermId>,
) -> FxHashMap<TermId, Span> {
    let mut found: FxHashMap<TermId, Span> = FxHashMap::default();
    let formulas: Vec<TermId> = formulas.collect();
    for literal in flatten(pool, &formulas) {
        let Some(Comparison { small, large, relation }) = Comparison::of(pool, literal) else {
            continue;
        };
        if [small, large].iter().any(|&t| pool.sort(t) != Sort::Int) {
            continue;
        }
        let strict = IBig::from(i32::from(relation == Relation::Below));
        let (term, span) = match (int(pool, small), int(pool, large)) {
            (None, Some(c)) if relation == Relation::Equal => (small, Span::point(c)),
            (Some(c), None) if relation == Relation::Equal => (large, Span::point(c)),
            (None, Some(c)) => (small, Span::to(End::closed(c - strict))),
            (Some(c), None) => (large, Span::from(End::closed(c + strict))),
            _ => continue,
        };
        let old = found.remove(&term).unwrap_or_default();
        found.insert(term, old.meet(&span));
    }
    found
}

/// The value of an int constant.
fn int(pool: &Pool, t: TermId) -> Option<IBig> {
    match pool.as_constant(t) {
        Some(Value::Int(i)) => Some(i),
        _ => None,
    }
}

/// Where the values of terms and of their parts lie, if what a guard says is true and variables are
/// in their ranges.
fn intervals(
    pool: &Pool,
    terms: &[TermId],
    guard: &FxHashMap<TermId, Span>,
    ends: &FxHashMap<TermId, Span>,
) -> FxHashMap<TermId, Span> {
    let sum = |a: Option<End<IBig>>, b: Option<End<IBig>>| {
        a.zip(b).map(|(a, b)| End::closed(a.value + b.value))
    };
    let plus =
        |a: Span, b: Span| Span { lower: sum(a.lower, b.lower), upper: sum(a.upper, b.upper) };
    let minus = |end: Option<End<IBig>>| end.map(|e| End::closed(-e.value));
    let negated = |s: Span| Span { lower: minus(s.upper), upper: minus(s.lower) };
    let mut found: FxHashMap<TermId, Span> = FxHashMap::default();
    for t in pool.postorder(terms).into_iter().filter(|&t| pool.sort(t) == Sort::Int) {
        let args = pool.args(t);
        let of = |i: usize| found.get(&args[i]).cloned().unwrap_or_default();
        let computed = match pool.op(t) {
            Op::Const(_) => int(pool, t).map_or_else(Span::default, Span::point),
            Op::Symbol(_) => ends.get(&t).cloned().unwrap_or_default(),
            Op::Neg => negated(of(0)),
            Op::Add => (1..args.len()).fold(of(0), |all, i| plus(all, of(i))),
            Op::Sub => plus(of(0), negated(of(1))),
            Op::Ite => of(1).hull(&of(2)),
            _ => Span::default(),
        };
        let said = guard.get(&t).cloned().unwrap_or_default();
        found.insert(t, said.meet(&computed));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::{NodeId, Role, SystemBuilder};
    use gander_term::parse_term;

    /// One variable `x` from 0 on, one rule.
    fn range_of(guard: &str, value: &str) -> Option<(i32, i32)> {
        let mut b = SystemBuilder::new("s", Pool::new(), &[("N", None)]).unwrap();
        let x = b.var("x", Sort::Int, Role::State, None, None).unwrap();
        let zero = parse_term(&mut b.pool, "x == 0").unwrap();
        b.start("go", NodeId(0), &[(zero, None)], None).unwrap();
        let mut rule = b.transition("rule", None, NodeId(0), NodeId(0), None).unwrap();
        let guard = parse_term(&mut b.pool, guard).unwrap();
        let value = parse_term(&mut b.pool, value).unwrap();
        b.guard(&mut rule, guard, None).unwrap();
        b.assign(&mut rule, x, value, None).unwrap();
        b.add(rule).unwrap();
        let number = |i: &IBig| i.to_string().parse::<i32>().unwrap();
        ranges(&b.finish())[0].as_ref().map(|(low, high)| (number(low), number(high)))
    }

    #[test]
    fn guards_about_the_value_and_about_its_parts_bound_it() {
        assert_eq!(range_of("0 <= x + 2 and x + 2 <= 9", "x + 2"), Some((0, 9)));
        assert_eq!(range_of("x < 7", "x + 2"), Some((0, 8)));
        assert_eq!(range_of("not (x >= 7)", "if x > 3 then 12 else 5"), Some((0, 12)));
        assert_eq!(range_of("x > -3", "x - 1"), Some((-3, 0)));
        assert_eq!(range_of("x < 90", "x + 1"), Some((0, 90)));
    }

    #[test]
    fn values_that_grow_without_bound_have_no_range() {
        assert_eq!(range_of("x != 5", "x + 1"), None);
        assert_eq!(range_of("x > 0", "x - 1"), Some((0, 0)));
        assert_eq!(range_of("x < 100", "x * 2"), None);
    }
}
