//! Conjunctions of literals that can be compared without a solver: bounds of the same sum, and
//! values of the same term.
//!
//! A comparison is read as a bound on a form: a sum of terms whose first coefficient is 1. Bounds
//! on the same form can be compared. This finds redundant conjuncts, and conjunctions that
//! contradict or imply each other syntactically; everything else is left to a solver.

use dashu_base::Signed;
use gander_term::{Op, Pool, RBig, Sort, TermId, Value};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use crate::arith::interval::{End, Interval};
use crate::arith::linear::{Comparison, LinearForm, Opaque, Relation};
use crate::arith::number;

/// A sum of terms with coefficients, the first of which is 1.
type Form = Vec<(TermId, RBig)>;

/// What is known of a form.
type Span = Interval<RBig>;

/// The meaning of a literal.
#[derive(Clone, Debug)]
enum Meaning {
    Bound(Form, Span),
    /// A term has this value.
    Is(TermId, Value),
    Other,
}

fn meaning(pool: &Pool, literal: TermId) -> Meaning {
    let (atom, positive) = match pool.op(literal) {
        Op::Not => (pool.args(literal)[0], false),
        _ => (literal, true),
    };
    if pool.as_symbol(atom).is_some() {
        return Meaning::Is(atom, Value::Bool(positive));
    }
    let Some(Comparison { small, large, relation }) = Comparison::of(pool, literal) else {
        return match (pool.op(atom), pool.args(atom)) {
            (Op::Eq, &[a, b]) if positive => match (pool.as_constant(a), pool.as_constant(b)) {
                (None, Some(v)) => Meaning::Is(a, v),
                (Some(v), None) => Meaning::Is(b, v),
                _ => Meaning::Other,
            },
            _ => Meaning::Other,
        };
    };
    let read = |t: TermId| LinearForm::read(pool, t, Opaque::Keep);
    let (Some(small), Some(large)) = (read(small), read(large)) else { return Meaning::Other };
    let form = small.minus(&large);
    if form.terms.len() > LIMITS.sum_terms {
        return Meaning::Other;
    }
    let Some(first) = form.terms.values().next().cloned() else { return Meaning::Other };
    let value = -form.constant / &first;
    let sum: Form = form.terms.into_iter().map(|(t, c)| (t, c / &first)).collect();
    if relation == Relation::Equal {
        return Meaning::Bound(sum, Span::point(value));
    }
    // `form` is at most 0, or below 0. Dividing by a negative number reverses the comparison.
    let end = End { value, strict: relation == Relation::Below };
    Meaning::Bound(sum, if first.is_negative() { Span::from(end) } else { Span::to(end) })
}

/// The bounds and values that a conjunction states.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    spans: FxHashMap<Form, Span>,
    values: FxHashMap<TermId, Value>,
    contradictory: bool,
}

impl Facts {
    pub(super) fn of(pool: &Pool, conjuncts: &[TermId]) -> Facts {
        let mut facts = Facts::default();
        facts.add(pool, conjuncts);
        facts
    }

    pub(super) fn add(&mut self, pool: &Pool, conjuncts: &[TermId]) {
        for &c in conjuncts {
            if pool.as_bool(c) == Some(false) {
                self.contradictory = true;
            }
            match meaning(pool, c) {
                Meaning::Bound(form, span) => {
                    let known = self.spans.entry(form).or_default();
                    *known = std::mem::take(known).meet(&span);
                    self.contradictory |= known.is_empty();
                }
                Meaning::Is(t, v) => {
                    let known = self.values.entry(t).or_insert_with(|| v.clone());
                    self.contradictory |= *known != v;
                }
                Meaning::Other => {}
            }
        }
    }

    /// True if some conjunct contradicts these facts syntactically.
    pub(super) fn excludes(&self, pool: &Pool, conjuncts: &[TermId]) -> bool {
        self.contradictory
            || conjuncts.iter().any(|&c| match meaning(pool, c) {
                Meaning::Bound(form, span) => {
                    self.spans.get(&form).is_some_and(|known| known.clone().meet(&span).is_empty())
                }
                Meaning::Is(t, v) => self.values.get(&t).is_some_and(|known| *known != v),
                Meaning::Other => pool.as_bool(c) == Some(false),
            })
    }

    /// True if the bounds or values imply the literal.
    fn implies(&self, pool: &Pool, literal: TermId) -> bool {
        match meaning(pool, literal) {
            Meaning::Bound(form, span) => {
                self.spans.get(&form).is_some_and(|known| known.is_within(&span))
            }
            Meaning::Is(t, v) => self.values.get(&t) == Some(&v),
            Meaning::Other => false,
        }
    }
}

/// Drops conjuncts that others imply syntactically; `None` if they contradict each other.
pub(super) fn tidy(pool: &mut Pool, conjuncts: &[TermId]) -> Option<Vec<TermId>> {
    let facts = Facts::of(pool, conjuncts);
    if facts.contradictory {
        return None;
    }
    let mut kept: Vec<TermId> = Vec::with_capacity(conjuncts.len());
    let mut done: FxHashMap<Form, ()> = FxHashMap::default();
    for &c in conjuncts {
        let Meaning::Bound(form, own) = meaning(pool, c) else {
            if !kept.contains(&c) {
                kept.push(c);
            }
            continue;
        };
        let span = &facts.spans[&form];
        let equal = span.lower.is_some()
            && span.lower.as_ref().map(|e| &e.value) == span.upper.as_ref().map(|e| &e.value);
        let tight = own.lower.is_some() && own.lower == span.lower
            || own.upper.is_some() && own.upper == span.upper;
        if !tight {
            continue;
        }
        if equal {
            // Two equal bounds are an equation.
            if done.contains_key(&form) {
                continue;
            }
            if own.lower.is_some() && own.upper.is_some() {
                kept.push(c);
            } else {
                kept.push(equation(pool, c));
            }
            done.insert(form, ());
        } else if !kept.contains(&c) {
            kept.push(c);
        }
    }
    Some(kept)
}

/// A comparison as an equation of its two sides.
fn equation(pool: &mut Pool, literal: TermId) -> TermId {
    let atom = match pool.op(literal) {
        Op::Not => pool.args(literal)[0],
        _ => literal,
    };
    let (a, b) = (pool.args(atom)[0], pool.args(atom)[1]);
    // In normal form, ints have no strict comparisons.
    if pool.sort(a) == Sort::Int && matches!(pool.op(atom), Op::Lt | Op::Gt) {
        return literal;
    }
    pool.eq(a, b)
}

/// True if a conjunction implies another one syntactically.
pub(super) fn implies(pool: &Pool, facts: &Facts, stronger: &[TermId], weaker: &[TermId]) -> bool {
    facts.contradictory || weaker.iter().all(|w| stronger.contains(w) || facts.implies(pool, *w))
}

/// Joins two conjunctions that differ only in the bounds of one form, if their union has no gap.
pub(super) fn join(pool: &mut Pool, a: &[TermId], b: &[TermId]) -> Option<Vec<TermId>> {
    let (only_a, only_b): (Vec<TermId>, Vec<TermId>) = (
        a.iter().copied().filter(|c| !b.contains(c)).collect(),
        b.iter().copied().filter(|c| !a.contains(c)).collect(),
    );
    let mut common: Vec<TermId> = a.iter().copied().filter(|c| b.contains(c)).collect();
    let read = |pool: &Pool, only: &[TermId]| -> Option<(Form, Span)> {
        let mut result: Option<(Form, Span)> = None;
        for &c in only {
            let Meaning::Bound(form, span) = meaning(pool, c) else { return None };
            match &mut result {
                None => result = Some((form, span)),
                Some((known, all)) if *known == form => *all = std::mem::take(all).meet(&span),
                _ => return None,
            }
        }
        result
    };
    let ((form_a, mut span_a), (form_b, mut span_b)) = (read(pool, &only_a)?, read(pool, &only_b)?);
    if form_a != form_b {
        return None;
    }
    // Common bounds of the form belong to both.
    let mut shared = Vec::new();
    common.retain(|&c| match meaning(pool, c) {
        Meaning::Bound(form, span) if form == form_a => {
            shared.push((c, span));
            false
        }
        _ => true,
    });
    for (_, span) in &shared {
        span_a = span_a.meet(span);
        span_b = span_b.meet(span);
    }
    let whole = form_a.iter().all(|(t, c)| pool.sort(*t) == Sort::Int && c.is_int());
    let touches = |left: &Span, right: &Span| match (&left.upper, &right.lower) {
        (Some(u), Some(l)) => {
            u.value > l.value
                || (u.value == l.value && !(u.strict && l.strict))
                || (whole && !u.strict && !l.strict && u.value.clone() + RBig::ONE >= l.value)
        }
        _ => true,
    };
    if !touches(&span_a, &span_b) || !touches(&span_b, &span_a) {
        return None;
    }
    let Span { lower, upper } = span_a.hull(&span_b);
    if let Some(end) = lower {
        common.push(written(pool, &form_a, &end, Side::Lower)?);
    }
    if let Some(end) = upper {
        common.push(written(pool, &form_a, &end, Side::Upper)?);
    }
    Some(common)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Lower,
    Upper,
}

/// A bound of a form as a term; none for coefficients that are not whole, which are rare.
fn written(pool: &mut Pool, form: &Form, end: &End<RBig>, side: Side) -> Option<TermId> {
    let sort = form.first().map(|(t, _)| pool.sort(*t))?;
    let constant = |pool: &mut Pool, r: &RBig| {
        (sort != Sort::Int || r.is_int()).then(|| number::constant(pool, sort, r.clone()))
    };
    let mut sum: Option<TermId> = None;
    for (t, c) in form {
        if !c.is_int() {
            return None;
        }
        let part = if *c == RBig::ONE {
            *t
        } else {
            let c = constant(pool, c)?;
            pool.mul(c, *t)
        };
        sum = Some(match sum {
            Some(sum) => pool.add(sum, part),
            None => part,
        });
    }
    let (sum, value) = (sum?, constant(pool, &end.value)?);
    Some(match (side, end.strict) {
        (Side::Lower, false) => pool.le(value, sum),
        (Side::Lower, true) => pool.lt(value, sum),
        (Side::Upper, false) => pool.le(sum, value),
        (Side::Upper, true) => pool.lt(sum, value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::{Simplifier, parse_term};

    fn conjuncts(pool: &mut Pool, text: &[&str]) -> Vec<TermId> {
        let mut simplifier = Simplifier::new();
        let mut read = |t: &&str| {
            let t = parse_term(pool, t).unwrap();
            simplifier.simplify(pool, t)
        };
        text.iter().map(&mut read).collect()
    }

    fn pool() -> Pool {
        let mut pool = Pool::new();
        for (name, sort) in [
            ("i", Sort::Int),
            ("j", Sort::Int),
            ("x", Sort::Real),
            ("y", Sort::Real),
            ("b", Sort::Bool),
        ] {
            pool.declare(name, sort).unwrap();
        }
        pool
    }

    #[test]
    fn bounds_of_one_form_are_compared() {
        let mut p = pool();
        let weak = conjuncts(&mut p, &["i - j <= 5", "i >= 1", "x < 3.0", "b"]);
        let strong = conjuncts(&mut p, &["j >= i - 3", "i >= 2", "x <= 2.5", "b"]);
        let facts = Facts::of(&p, &strong);
        assert!(implies(&p, &facts, &strong, &weak));
        let facts = Facts::of(&p, &weak);
        assert!(!implies(&p, &facts, &weak, &strong));
        let strict = Facts::of(&p, &strong);
        let no = conjuncts(&mut p, &["i - j >= 4"]);
        assert!(strict.excludes(&p, &no));
        let yes = conjuncts(&mut p, &["i - j >= 3", "x <= 0.0"]);
        assert!(!strict.excludes(&p, &yes));
    }

    #[test]
    fn only_the_tightest_bounds_are_kept() {
        let mut p = pool();
        let all =
            conjuncts(&mut p, &["i >= 1", "i >= 3", "i <= 7", "i < 6", "x < 1.0", "x <= 1.0"]);
        let kept = conjuncts(&mut p, &["i >= 3", "i <= 5", "x < 1.0"]);
        assert_eq!(tidy(&mut p, &all), Some(kept));
        let point = conjuncts(&mut p, &["i >= 3", "i <= 3", "b"]);
        let kept = conjuncts(&mut p, &["i == 3", "b"]);
        assert_eq!(tidy(&mut p, &point), Some(kept));
        // A looser bound does not become an equation.
        let point = conjuncts(&mut p, &["i >= 1", "i >= 3", "i <= 3"]);
        let kept = conjuncts(&mut p, &["i == 3"]);
        assert_eq!(tidy(&mut p, &point), Some(kept));
        let none = conjuncts(&mut p, &["i >= 3", "i <= 2"]);
        assert_eq!(tidy(&mut p, &none), None);
    }

    #[test]
    fn adjacent_conjunctions_are_joined() {
        let mut p = pool();
        let mut simplifier = Simplifier::new();
        let mut joined = |p: &mut Pool, a: &[&str], b: &[&str]| {
            let (a, b) = (conjuncts(p, a), conjuncts(p, b));
            let all = join(p, &a, &b)?;
            let mut all: Vec<TermId> = all.into_iter().map(|t| simplifier.simplify(p, t)).collect();
            all.sort_unstable();
            Some(all)
        };
        let sorted = |p: &mut Pool, text: &[&str]| {
            let mut all = conjuncts(p, text);
            all.sort_unstable();
            all
        };
        let all = sorted(&mut p, &["b", "i >= 1", "i <= 9"]);
        assert_eq!(
            joined(&mut p, &["b", "i >= 1", "i <= 4"], &["b", "i >= 5", "i <= 9"]),
            Some(all)
        );
        assert_eq!(joined(&mut p, &["b", "i >= 1", "i <= 4"], &["b", "i >= 6", "i <= 9"]), None);
        assert_eq!(joined(&mut p, &["x < 1.0"], &["x > 1.0"]), None);
        let all = sorted(&mut p, &["x >= 1.0"]);
        assert_eq!(joined(&mut p, &["x == 1.0"], &["x > 1.0"]), Some(all));
        // They differ in two forms.
        assert_eq!(joined(&mut p, &["i >= 1", "j >= 1"], &["i >= 2", "j >= 0"]), None);
    }
}
