//! Which chosen values of a run do not matter.
//!
//! Every chosen value gets a *freedom*: fixed, an interval around it, or any value of its sort (of its declared range, if it has one).
//! Freedoms are *jointly valid*: whatever values are chosen within them, all at the same time, and with everything else
//! computed from them, the same transitions make a run of the model, and it ends alike. One refutation shows that ([`super::fixed`]).
//! They are *maximal* if no single one can be widened: first as many values as possible are set free with the help of cores,
//! then bounds are moved outwards, guided by counterexamples.

use gander_smt::Literal;
use gander_system::Range;
use gander_term::{IBig, RBig, Sort, Value};

use super::choices::Choice;
use super::fixed::Fixed;
use super::flat::FlatRun;
use super::smooth::value_of;

/// How often a bound is moved by counterexamples, and then by halving.
const BY_EXAMPLE: usize = 12;
const BY_HALVING: usize = 70;

/// An end of an interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Where it is.
    pub value: Value,
    /// The end itself does not belong to the interval.
    pub open: bool,
}

/// Which values do as well as the one that a run has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Freedom {
    /// Only this one, or no other is known to.
    #[default]
    Fixed,
    /// All within these bounds; where there is no bound, without an end.
    Within {
        /// The least.
        low: Option<Bound>,
        /// The greatest.
        high: Option<Bound>,
    },
    /// All of its sort; all of its declared range if it has one.
    Any,
}

impl Freedom {
    /// True if the value is one of those.
    pub fn allows(&self, own: &Value, value: &Value) -> bool {
        match self {
            Freedom::Fixed => own == value,
            Freedom::Any => true,
            Freedom::Within { low, high } => {
                low.as_ref().is_none_or(|b| if b.open { *value > b.value } else { *value >= b.value })
                    && high.as_ref().is_none_or(|b| if b.open { *value < b.value } else { *value <= b.value })
            }
        }
    }
}

/// The freedoms of the choices of a run.
pub(crate) struct Freedoms {
    /// By choice.
    pub list: Vec<(Choice, Freedom)>,
    /// No single one can be widened.
    pub maximal: bool,
    /// What holds the choices within them.
    pub assumptions: Vec<Literal>,
}

/// A choice with the literals that hold it where it is.
struct Held {
    choice: Choice,
    own: Value,
    equal: Literal,
    range: Vec<Literal>,
    declared: Option<(Value, Value)>,
    freedom: Freedom,
    bounds: Vec<Literal>,
}

impl Held {
    fn assumptions(&self) -> Vec<Literal> {
        match self.freedom {
            Freedom::Fixed => vec![self.equal],
            Freedom::Any => self.range.clone(),
            Freedom::Within { .. } => self.bounds.iter().chain(&self.range).copied().collect(),
        }
    }
}

/// Finds out how free each choice is; none if the run itself cannot be shown to be one.
pub(crate) fn freedoms(fixed: &mut Fixed, choices: &[Choice], run: &FlatRun) -> Option<Freedoms> {
    let mut held: Vec<Held> = choices.iter().map(|&c| hold(fixed, c, run)).collect();
    let all = assumptions(&held);
    if fixed.all_alike(&all) != Some(true) {
        return None;
    }
    let core = fixed.core()?;
    let mut needed: Vec<usize> = (0..held.len()).filter(|&i| core.contains(&held[i].equal)).collect();
    set_free(&mut held, &needed);
    let mut maximal = true;
    // Late choices are set free first: what comes early is what the reader begins with.
    let mut at = needed.len();
    while at > 0 {
        at -= 1;
        if fixed.is_late() {
            maximal = false;
            break;
        }
        let one = needed[at];
        held[one].freedom = Freedom::Any;
        match fixed.all_alike(&assumptions(&held)) {
            Some(true) => {
                let core = fixed.core()?;
                needed.retain(|&i| i != one && core.contains(&held[i].equal));
                set_free(&mut held, &needed);
                at = at.min(needed.len());
            }
            answer => {
                maximal &= answer.is_some();
                held[one].freedom = Freedom::Fixed;
            }
        }
    }
    for &one in &needed {
        if !matches!(held[one].own.sort(), Sort::Int | Sort::Real) {
            continue;
        }
        if fixed.is_late() {
            maximal = false;
            break;
        }
        for side in [Side::High, Side::Low] {
            maximal &= widen(fixed, &mut held, one, side);
        }
        let h = &mut held[one];
        if let Freedom::Within { low: Some(low), high: Some(high) } = &h.freedom
            && low.value == h.own
            && high.value == h.own
        {
            h.freedom = Freedom::Fixed;
        }
    }
    // What stands in the end is asked once more, all at once.
    if fixed.all_alike(&assumptions(&held)) != Some(true) {
        return None;
    }
    let assumptions = assumptions(&held);
    let list = held.into_iter().map(|h| (h.choice, within_range(h.freedom, h.declared))).collect();
    Some(Freedoms { list, maximal, assumptions })
}

fn assumptions(held: &[Held]) -> Vec<Literal> {
    held.iter().flat_map(Held::assumptions).collect()
}

fn set_free(held: &mut [Held], needed: &[usize]) {
    for (i, h) in held.iter_mut().enumerate() {
        h.freedom = if needed.contains(&i) { Freedom::Fixed } else { Freedom::Any };
    }
}

fn hold(fixed: &mut Fixed, choice: Choice, run: &FlatRun) -> Held {
    let own = value_of(run, choice);
    let symbol = fixed.symbol(choice);
    let (var, constant) = (fixed.pool.var(symbol), fixed.pool.constant(own.clone()));
    let equal = fixed.pool.eq(var, constant);
    let equal = fixed.literal(equal, choice.at());
    let mut range = Vec::new();
    let declared = declared_range(fixed, choice, run).map(|Range { low, high }| {
        let number = |n: IBig| match own {
            Value::Real(_) => Value::Real(RBig::from(n)),
            _ => Value::Int(n),
        };
        (number(low), number(high))
    });
    if let Some((low, high)) = &declared {
        let (low, high) = (fixed.pool.constant(low.clone()), fixed.pool.constant(high.clone()));
        let (above, below) = (fixed.pool.le(low, var), fixed.pool.le(var, high));
        range = vec![fixed.literal(above, choice.at()), fixed.literal(below, choice.at())];
    }
    Held { choice, own, equal, range, declared, freedom: Freedom::Fixed, bounds: Vec::new() }
}

/// Where a declared range is the bound, it is said.
fn within_range(freedom: Freedom, declared: Option<(Value, Value)>) -> Freedom {
    match (freedom, declared) {
        (Freedom::Within { low, high }, Some((least, greatest))) => {
            let closed = |value| Some(Bound { value, open: false });
            Freedom::Within { low: low.or(closed(least)), high: high.or(closed(greatest)) }
        }
        (freedom, _) => freedom,
    }
}

/// The declared range of an input or a parameter; a range of a state variable is a claim and limits nothing.
pub(crate) fn declared_range(fixed: &Fixed, choice: Choice, run: &FlatRun) -> Option<Range> {
    let range = match choice {
        Choice::Var(_, v) if fixed.system.var(v).role == gander_system::Role::Input => {
            fixed.system.var(v).range.clone()
        }
        Choice::Var(..) => None,
        Choice::Param(i, p) => {
            let t = run.steps[i as usize].0;
            fixed.system.transition(t).params[p as usize].range.clone()
        }
    };
    range.filter(|_| matches!(value_of(run, choice).sort(), Sort::Int | Sort::Real))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Low,
    High,
}

/// Moves a bound outwards as far as it goes; false if that may not be as far as possible.
fn widen(fixed: &mut Fixed, held: &mut [Held], one: usize, side: Side) -> bool {
    let own = held[one].own.clone();
    let closed = |value: Value| Some(Bound { value, open: false });
    let (mut low, mut high) = match &held[one].freedom {
        Freedom::Within { low, high } => (low.clone(), high.clone()),
        _ => (closed(own.clone()), closed(own.clone())),
    };
    let before = (low.clone(), high.clone());
    let attempt = |fixed: &mut Fixed, held: &mut [Held], bound: Option<Bound>| -> Option<bool> {
        let mut tried = before.clone();
        *(if side == Side::High { &mut tried.1 } else { &mut tried.0 }) = bound;
        set_bounds(fixed, &mut held[one], tried.0, tried.1);
        fixed.all_alike(&assumptions(held))
    };
    // Without a bound first (the declared range is one).
    let mut best = Some(Bound { value: own.clone(), open: false });
    let mut exact = false;
    let mut broken_at: Option<Value> = None;
    match attempt(fixed, held, None) {
        Some(true) => {
            best = None;
            exact = true;
        }
        Some(false) => broken_at = fixed.found(held[one].choice),
        None => {}
    }
    let mut rounds = 0;
    while let Some(worst) = broken_at.take() {
        rounds += 1;
        if rounds > BY_EXAMPLE + BY_HALVING || fixed.is_late() {
            break;
        }
        let reached = best.as_ref().map_or(&own, |b| &b.value).clone();
        let Some(next) = between(&reached, &worst, side, rounds > BY_EXAMPLE) else {
            exact = true;
            break;
        };
        match attempt(fixed, held, Some(next.clone())) {
            Some(true) => {
                // Behind a bound that a counterexample gave there is nothing to gain.
                let halved = rounds > BY_EXAMPLE;
                best = Some(next);
                if halved {
                    broken_at = Some(worst);
                } else {
                    exact = true;
                }
            }
            Some(false) => broken_at = fixed.found(held[one].choice),
            None => {}
        }
    }
    if side == Side::High {
        high = best;
    } else {
        low = best;
    }
    // A bound that is the own value moved nowhere.
    set_bounds(fixed, &mut held[one], low, high);
    exact
}

/// The bound to try: just before a value that is known to break it, or half the way to it. None if there is no value
/// between.
fn between(reached: &Value, worst: &Value, side: Side, halfway: bool) -> Option<Bound> {
    match (reached, worst) {
        (Value::Int(a), Value::Int(b)) => {
            let one = IBig::from(1);
            let gap = if side == Side::High { b - a } else { a - b };
            if gap <= one {
                return None;
            }
            let far = if halfway { gap.clone() / IBig::from(2) } else { gap - one };
            let value = if side == Side::High { a + far } else { a - far };
            Some(Bound { value: Value::Int(value), open: false })
        }
        (Value::Real(a), Value::Real(b)) if !halfway => {
            (a != b).then(|| Bound { value: Value::Real(b.clone()), open: true })
        }
        (Value::Real(a), Value::Real(b)) => {
            let middle = (a.clone() + b.clone()) / RBig::from(2);
            Some(Bound { value: Value::Real(middle), open: false })
        }
        _ => None,
    }
}

fn set_bounds(fixed: &mut Fixed, held: &mut Held, low: Option<Bound>, high: Option<Bound>) {
    let mut bounds = Vec::new();
    let symbol = fixed.symbol(held.choice);
    let at = held.choice.at();
    for (bound, side) in [(&low, Side::Low), (&high, Side::High)] {
        let Some(bound) = bound else { continue };
        let (var, value) = (fixed.pool.var(symbol), fixed.pool.constant(bound.value.clone()));
        let (a, b) = if side == Side::Low { (value, var) } else { (var, value) };
        let term = if bound.open { fixed.pool.lt(a, b) } else { fixed.pool.le(a, b) };
        bounds.push(fixed.literal(term, at));
    }
    held.bounds = bounds;
    held.freedom = match (&low, &high) {
        (None, None) => Freedom::Any,
        _ => Freedom::Within { low, high },
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_move_towards_what_breaks() {
        let at = |a: i32, b: i32, side, halfway| between(&Value::int(a), &Value::int(b), side, halfway);
        let closed = |n: i32| Some(Bound { value: Value::int(n), open: false });
        assert_eq!(at(3, 10, Side::High, false), closed(9));
        assert_eq!(at(3, 10, Side::High, true), closed(6));
        assert_eq!(at(3, 4, Side::High, true), None);
        assert_eq!(at(3, -5, Side::Low, false), closed(-4));
        assert_eq!(at(3, -5, Side::Low, true), closed(-1));
        let real = between(&Value::whole(0), &Value::whole(1), Side::High, false);
        assert_eq!(real, Some(Bound { value: Value::whole(1), open: true }));
    }

    #[test]
    fn freedoms_allow_what_they_say() {
        let own = Value::int(3);
        let within = |low, high| Freedom::Within { low, high };
        let bound = |n: i32, open| Some(Bound { value: Value::int(n), open });
        assert!(within(bound(1, false), None).allows(&own, &Value::int(1)));
        assert!(!within(bound(1, true), None).allows(&own, &Value::int(1)));
        assert!(!within(None, bound(5, true)).allows(&own, &Value::int(5)));
        assert!(Freedom::Any.allows(&own, &Value::int(-7)) && !Freedom::Fixed.allows(&own, &Value::int(4)));
    }
}
