//! Conjunctions of literals that can be told apart without a solver: bounds of the same sum, values of the same term.
//!
//! A comparison is read as a bound of a *form*, a sum of terms in which the first has coefficient 1. Two bounds of one form
//! can be compared: so redundant conjuncts are dropped, and conjunctions that plainly exclude or imply each other are seen.
//! What is not seen here a solver has to find out.

use dashu_base::Signed;
use gander_term::{Op, Pool, RBig, Sort, TermId, Value};
use rustc_hash::FxHashMap;

/// A sum of terms with coefficients, the first of which is 1.
type Form = Vec<(TermId, RBig)>;

/// Sums of more terms are not looked at.
const LONGEST_SUM: usize = 32;

/// One end of what a form can be.
#[derive(Clone, PartialEq, Eq, Debug)]
struct End {
    value: RBig,
    strict: bool,
}

/// What is known of a form.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Span {
    lower: Option<End>,
    upper: Option<End>,
}

impl Span {
    fn meet(&mut self, other: &Span) {
        if tighter_lower(&other.lower, &self.lower) {
            self.lower.clone_from(&other.lower);
        }
        if tighter_upper(&other.upper, &self.upper) {
            self.upper.clone_from(&other.upper);
        }
    }

    fn is_empty(&self) -> bool {
        match (&self.lower, &self.upper) {
            (Some(l), Some(u)) => l.value > u.value || (l.value == u.value && (l.strict || u.strict)),
            _ => false,
        }
    }

    /// Everything in here is in the other.
    fn lies_in(&self, other: &Span) -> bool {
        !tighter_lower(&other.lower, &self.lower) && !tighter_upper(&other.upper, &self.upper)
    }
}

fn tighter_lower(a: &Option<End>, b: &Option<End>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.value > b.value || (a.value == b.value && a.strict && !b.strict),
        (Some(_), None) => true,
        _ => false,
    }
}

fn tighter_upper(a: &Option<End>, b: &Option<End>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.value < b.value || (a.value == b.value && a.strict && !b.strict),
        (Some(_), None) => true,
        _ => false,
    }
}

/// What a literal says.
#[derive(Clone, Debug)]
enum Meaning {
    Bound(Form, Span),
    /// A term has this value.
    Is(TermId, Value),
    Other,
}

fn number(value: &Value) -> Option<RBig> {
    match value {
        Value::Int(i) => Some(RBig::from(i.clone())),
        Value::Real(r) => Some(r.clone()),
        _ => None,
    }
}

/// Adds `factor * t` to a sum; false if it becomes too long. Sums are in normal form, so they are shallow.
fn add(pool: &Pool, t: TermId, factor: &RBig, sum: &mut Form, constant: &mut RBig) -> bool {
    let mut stack = vec![(t, factor.clone())];
    while let Some((t, factor)) = stack.pop() {
        if sum.len() > LONGEST_SUM {
            return false;
        }
        if let Some(c) = pool.as_constant(t).as_ref().and_then(number) {
            *constant += factor * c;
            continue;
        }
        let args = pool.args(t);
        match pool.op(t) {
            Op::Add => stack.extend(args.iter().map(|&a| (a, factor.clone()))),
            Op::Sub => {
                stack.push((args[0], factor.clone()));
                stack.push((args[1], -factor));
            }
            Op::Neg => stack.push((args[0], -factor)),
            Op::Mul if args.len() == 2 => match pool.as_constant(args[0]).as_ref().and_then(number) {
                Some(c) => stack.push((args[1], factor * c)),
                None => merge(sum, t, factor),
            },
            _ => merge(sum, t, factor),
        }
    }
    true
}

fn merge(sum: &mut Form, t: TermId, factor: RBig) {
    match sum.iter_mut().find(|(u, _)| *u == t) {
        Some((_, c)) => *c += factor,
        None => sum.push((t, factor)),
    }
}

fn meaning(pool: &Pool, literal: TermId) -> Meaning {
    let (atom, positive) = match pool.op(literal) {
        Op::Not => (pool.args(literal)[0], false),
        _ => (literal, true),
    };
    if pool.as_symbol(atom).is_some() {
        return Meaning::Is(atom, Value::Bool(positive));
    }
    let &[a, b] = pool.args(atom) else { return Meaning::Other };
    let op = pool.op(atom);
    if !matches!(op, Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge) {
        return Meaning::Other;
    }
    if !pool.sort(a).is_numeric() {
        return match (op, positive, pool.as_constant(a), pool.as_constant(b)) {
            (Op::Eq, true, None, Some(v)) => Meaning::Is(a, v),
            (Op::Eq, true, Some(v), None) => Meaning::Is(b, v),
            _ => Meaning::Other,
        };
    }
    if !positive && op == Op::Eq {
        return Meaning::Other;
    }
    let (mut sum, mut constant) = (Form::new(), RBig::ZERO);
    if !add(pool, a, &RBig::ONE, &mut sum, &mut constant) || !add(pool, b, &-RBig::ONE, &mut sum, &mut constant) {
        return Meaning::Other;
    }
    sum.retain(|(_, c)| *c != RBig::ZERO);
    sum.sort_unstable_by_key(|(t, _)| *t);
    let Some(first) = sum.first().map(|(_, c)| c.clone()) else { return Meaning::Other };
    for (_, c) in &mut sum {
        *c /= &first;
    }
    let value = -constant / &first;
    // `sum op 0`, turned round if it was divided by something negative.
    let (below, strict) = match (op, positive) {
        (Op::Lt, true) | (Op::Ge, false) => (true, true),
        (Op::Le, true) | (Op::Gt, false) => (true, false),
        (Op::Gt, true) | (Op::Le, false) => (false, true),
        (Op::Ge, true) | (Op::Lt, false) => (false, false),
        _ => {
            let end = Some(End { value, strict: false });
            return Meaning::Bound(sum, Span { lower: end.clone(), upper: end });
        }
    };
    let end = Some(End { value, strict });
    let span =
        if below != first.is_negative() { Span { lower: None, upper: end } } else { Span { lower: end, upper: None } };
    Meaning::Bound(sum, span)
}

/// What a conjunction says, as far as it is seen.
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
                    known.meet(&span);
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

    /// Some conjunct plainly contradicts it.
    pub(super) fn excludes(&self, pool: &Pool, conjuncts: &[TermId]) -> bool {
        self.contradictory
            || conjuncts.iter().any(|&c| match meaning(pool, c) {
                Meaning::Bound(form, span) => self.spans.get(&form).is_some_and(|known| {
                    let mut both = known.clone();
                    both.meet(&span);
                    both.is_empty()
                }),
                Meaning::Is(t, v) => self.values.get(&t).is_some_and(|known| *known != v),
                Meaning::Other => pool.as_bool(c) == Some(false),
            })
    }

    /// The bounds of a form say so, or the value of a term.
    fn implies(&self, pool: &Pool, literal: TermId) -> bool {
        match meaning(pool, literal) {
            Meaning::Bound(form, span) => self.spans.get(&form).is_some_and(|known| known.lies_in(&span)),
            Meaning::Is(t, v) => self.values.get(&t) == Some(&v),
            Meaning::Other => false,
        }
    }
}

/// Conjuncts without those that others of them plainly imply; `None` if they plainly contradict each other.
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
        let equal =
            span.lower.is_some() && span.lower.as_ref().map(|e| &e.value) == span.upper.as_ref().map(|e| &e.value);
        let tight = own.lower.is_some() && own.lower == span.lower || own.upper.is_some() && own.upper == span.upper;
        if !tight {
            continue;
        }
        if equal {
            // Two bounds that meet are an equation.
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
    // On ints a strict comparison is in normal form not there.
    if pool.sort(a) == Sort::Int && matches!(pool.op(atom), Op::Lt | Op::Gt) {
        return literal;
    }
    pool.eq(a, b)
}

/// A conjunction plainly implies another one.
pub(super) fn implies(pool: &Pool, facts: &Facts, stronger: &[TermId], weaker: &[TermId]) -> bool {
    facts.contradictory || weaker.iter().all(|w| stronger.contains(w) || facts.implies(pool, *w))
}

/// Two conjunctions that differ in the bounds of one form only, as one, if their union has no gap.
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
                Some((known, all)) if *known == form => all.meet(&span),
                _ => return None,
            }
        }
        result
    };
    let ((form_a, mut span_a), (form_b, mut span_b)) = (read(pool, &only_a)?, read(pool, &only_b)?);
    if form_a != form_b {
        return None;
    }
    // What both say of the form belongs to both.
    let mut shared = Vec::new();
    common.retain(|&c| match meaning(pool, c) {
        Meaning::Bound(form, span) if form == form_a => {
            shared.push((c, span));
            false
        }
        _ => true,
    });
    for (_, span) in &shared {
        span_a.meet(span);
        span_b.meet(span);
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
    let lower = if tighter_lower(&span_a.lower, &span_b.lower) { span_b.lower } else { span_a.lower };
    let upper = if tighter_upper(&span_a.upper, &span_b.upper) { span_b.upper } else { span_a.upper };
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
fn written(pool: &mut Pool, form: &Form, end: &End, side: Side) -> Option<TermId> {
    let sort = form.first().map(|(t, _)| pool.sort(*t))?;
    let constant = |pool: &mut Pool, r: &RBig| match sort {
        Sort::Int => r.is_int().then(|| pool.constant(Value::Int(r.numerator().clone()))),
        _ => Some(pool.constant(Value::Real(r.clone()))),
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
        for (name, sort) in
            [("i", Sort::Int), ("j", Sort::Int), ("x", Sort::Real), ("y", Sort::Real), ("b", Sort::Bool)]
        {
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
    fn only_the_tightest_stay() {
        let mut p = pool();
        let all = conjuncts(&mut p, &["i >= 1", "i >= 3", "i <= 7", "i < 6", "x < 1.0", "x <= 1.0"]);
        let kept = conjuncts(&mut p, &["i >= 3", "i <= 5", "x < 1.0"]);
        assert_eq!(tidy(&mut p, &all), Some(kept));
        let point = conjuncts(&mut p, &["i >= 3", "i <= 3", "b"]);
        let kept = conjuncts(&mut p, &["i == 3", "b"]);
        assert_eq!(tidy(&mut p, &point), Some(kept));
        // The looser bound does not become an equation.
        let point = conjuncts(&mut p, &["i >= 1", "i >= 3", "i <= 3"]);
        let kept = conjuncts(&mut p, &["i == 3"]);
        assert_eq!(tidy(&mut p, &point), Some(kept));
        let none = conjuncts(&mut p, &["i >= 3", "i <= 2"]);
        assert_eq!(tidy(&mut p, &none), None);
    }

    #[test]
    fn neighbours_become_one() {
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
        assert_eq!(joined(&mut p, &["b", "i >= 1", "i <= 4"], &["b", "i >= 5", "i <= 9"]), Some(all));
        assert_eq!(joined(&mut p, &["b", "i >= 1", "i <= 4"], &["b", "i >= 6", "i <= 9"]), None);
        assert_eq!(joined(&mut p, &["x < 1.0"], &["x > 1.0"]), None);
        let all = sorted(&mut p, &["x >= 1.0"]);
        assert_eq!(joined(&mut p, &["x == 1.0"], &["x > 1.0"]), Some(all));
        // They differ in two forms.
        assert_eq!(joined(&mut p, &["i >= 1", "j >= 1"], &["i >= 2", "j >= 0"]), None);
    }
}
