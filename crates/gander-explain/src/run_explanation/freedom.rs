//! Finds which chosen values of a run do not matter.
//!
//! Every chosen value gets a *freedom*: fixed, an interval around it, or any value of its sort (or
//! of its declared range). Freedoms are *jointly valid*: for all values within them, chosen
//! independently, the same transitions make a run of the model with the same end. One refutation
//! shows this ([`super::fixed`]). Freedoms are *maximal* if no single one can be widened. First as
//! many values as possible are freed with the help of unsatisfiable cores; then bounds are moved
//! outwards, guided by counterexamples.

use gander_smt::Literal;
use gander_system::Range;
use gander_term::{IBig, RBig, Sort, Value};

use super::choices::Choice;
use super::fixed::Fixed;
use super::flat::FlatRun;
use super::smooth::value_of;

/// Limits the moves of one bound: first to counterexamples, then by bisection.
const MAX_EXAMPLES: usize = 12;
const MAX_HALVINGS: usize = 70;
/// Digits behind the point of a bound that is preferred to a simpler fraction.
const MAX_DECIMALS: usize = 6;

/// An end of an interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Its value.
    pub value: Value,
    /// True if the interval does not contain the value.
    pub open: bool,
}

/// The values that a choice may have without changing the end of the run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Freedom {
    /// Only its own value, or no other value is known.
    #[default]
    Fixed,
    /// All values within these bounds; `None` means unbounded.
    Within {
        /// The least.
        low: Option<Bound>,
        /// The greatest.
        high: Option<Bound>,
    },
    /// All values of its sort, or of its declared range if it has one.
    Any,
}

impl Freedom {
    /// True if the value is within the freedom.
    pub fn allows(&self, own: &Value, value: &Value) -> bool {
        match self {
            Freedom::Fixed => own == value,
            Freedom::Any => true,
            Freedom::Within { low, high } => {
                low.as_ref()
                    .is_none_or(|b| if b.open { *value > b.value } else { *value >= b.value })
                    && high
                        .as_ref()
                        .is_none_or(|b| if b.open { *value < b.value } else { *value <= b.value })
            }
        }
    }
}

/// The freedoms of the choices of a run.
pub(crate) struct Freedoms {
    /// The freedom of each choice.
    pub list: Vec<(Choice, Freedom)>,
    /// True if no single freedom can be widened.
    pub maximal: bool,
    /// The assumptions that restrict the choices to their freedoms.
    pub assumptions: Vec<Literal>,
}

/// A choice, its current freedom, and the literals that enforce it.
struct ChoiceState {
    choice: Choice,
    own: Value,
    equal: Literal,
    range: Vec<Literal>,
    declared: Option<(Value, Value)>,
    freedom: Freedom,
    bounds: Vec<Literal>,
}

impl ChoiceState {
    fn assumptions(&self) -> Vec<Literal> {
        match self.freedom {
            Freedom::Fixed => vec![self.equal],
            Freedom::Any => self.range.clone(),
            Freedom::Within { .. } => self.bounds.iter().chain(&self.range).copied().collect(),
        }
    }
}

/// Computes the freedom of each choice; `None` if the solver does not confirm the run itself.
pub(crate) fn freedoms(fixed: &mut Fixed, choices: &[Choice], run: &FlatRun) -> Option<Freedoms> {
    let mut held: Vec<ChoiceState> = choices.iter().map(|&c| choice_state(fixed, c, run)).collect();
    let all = assumptions(&held);
    if fixed.all_end_alike(&all) != Some(true) {
        return None;
    }
    let core = fixed.core()?;
    let mut needed: Vec<usize> =
        (0..held.len()).filter(|&i| core.contains(&held[i].equal)).collect();
    set_free(&mut held, &needed);
    let mut maximal = true;
    // Free late choices first, as the reader begins with the early ones.
    let mut at = needed.len();
    while at > 0 {
        at -= 1;
        if fixed.deadline_passed() {
            maximal = false;
            break;
        }
        let one = needed[at];
        held[one].freedom = Freedom::Any;
        match fixed.all_end_alike(&assumptions(&held)) {
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
        if fixed.deadline_passed() {
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
    // Check the final freedoms once more, all together.
    if fixed.all_end_alike(&assumptions(&held)) != Some(true) {
        return None;
    }
    let assumptions = assumptions(&held);
    let list = held.into_iter().map(|h| (h.choice, within_range(h.freedom, h.declared))).collect();
    Some(Freedoms { list, maximal, assumptions })
}

fn assumptions(held: &[ChoiceState]) -> Vec<Literal> {
    held.iter().flat_map(ChoiceState::assumptions).collect()
}

fn set_free(held: &mut [ChoiceState], needed: &[usize]) {
    for (i, h) in held.iter_mut().enumerate() {
        h.freedom = if needed.contains(&i) { Freedom::Fixed } else { Freedom::Any };
    }
}

fn choice_state(fixed: &mut Fixed, choice: Choice, run: &FlatRun) -> ChoiceState {
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
    ChoiceState { choice, own, equal, range, declared, freedom: Freedom::Fixed, bounds: Vec::new() }
}

/// Replaces missing bounds by those of the declared range.
fn within_range(freedom: Freedom, declared: Option<(Value, Value)>) -> Freedom {
    match (freedom, declared) {
        (Freedom::Within { low, high }, Some((least, greatest))) => {
            let closed = |value| Some(Bound { value, open: false });
            Freedom::Within { low: low.or(closed(least)), high: high.or(closed(greatest)) }
        }
        (freedom, _) => freedom,
    }
}

/// The declared range of an input or a parameter. The range of a state variable is a claim and
/// restricts nothing.
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

/// Moves a bound outwards as far as possible; false if it may not be maximal.
fn widen(fixed: &mut Fixed, held: &mut [ChoiceState], one: usize, side: Side) -> bool {
    let own = held[one].own.clone();
    let closed = |value: Value| Some(Bound { value, open: false });
    let (mut low, mut high) = match &held[one].freedom {
        Freedom::Within { low, high } => (low.clone(), high.clone()),
        _ => (closed(own.clone()), closed(own.clone())),
    };
    let before = (low.clone(), high.clone());
    let attempt =
        |fixed: &mut Fixed, held: &mut [ChoiceState], bound: Option<Bound>| -> Option<bool> {
            let mut tried = before.clone();
            *(if side == Side::High { &mut tried.1 } else { &mut tried.0 }) = bound;
            set_bounds(fixed, &mut held[one], tried.0, tried.1);
            fixed.all_end_alike(&assumptions(held))
        };
    // Try no bound first, apart from the declared range.
    let mut best = Some(Bound { value: own.clone(), open: false });
    let mut exact = false;
    let mut violated_at: Option<Value> = None;
    match attempt(fixed, held, None) {
        Some(true) => {
            best = None;
            exact = true;
        }
        Some(false) => violated_at = fixed.found(held[one].choice),
        None => {}
    }
    let mut rounds = 0;
    while let Some(worst) = violated_at.take() {
        rounds += 1;
        if rounds > MAX_EXAMPLES + MAX_HALVINGS || fixed.deadline_passed() {
            break;
        }
        let reached = best.as_ref().map_or(&own, |b| &b.value).clone();
        let halved = rounds > MAX_EXAMPLES;
        // A limit that an author wrote is mostly the simplest number near it.
        let simple = match rounds % 4 {
            0 if halved => shortest_decimal(&reached, &worst),
            2 if halved => simplest(&reached, &worst),
            _ => None,
        };
        if let Some(simple) = simple {
            let at = |open| Some(Bound { value: simple.clone(), open });
            match attempt(fixed, held, at(true)) {
                Some(true) => {
                    best = at(true);
                    match attempt(fixed, held, at(false)) {
                        Some(true) => (best, violated_at) = (at(false), Some(worst)),
                        Some(false) => exact = true,
                        None => {}
                    }
                }
                Some(false) => violated_at = fixed.found(held[one].choice),
                None => {}
            }
            continue;
        }
        let Some(next) = between(&reached, &worst, side, halved) else {
            exact = true;
            break;
        };
        match attempt(fixed, held, Some(next.clone())) {
            Some(true) => {
                // A bound just before a counterexample is maximal.
                best = Some(next);
                if halved {
                    violated_at = Some(worst);
                } else {
                    exact = true;
                }
            }
            Some(false) => violated_at = fixed.found(held[one].choice),
            None => {}
        }
    }
    if !exact && let Some(bound) = &mut best {
        shorten(bound, &own);
    }
    if side == Side::High {
        high = best;
    } else {
        low = best;
    }
    set_bounds(fixed, &mut held[one], low, high);
    exact
}

/// The simplest rational strictly between two reals.
fn simplest(a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) if a != b => {
            Some(Value::Real(RBig::simplest_in(a.min(b).clone(), a.max(b).clone())))
        }
        _ => None,
    }
}

/// A decimal with the fewest digits strictly between two reals; `None` if it has many.
fn shortest_decimal(a: &Value, b: &Value) -> Option<Value> {
    let (Value::Real(a), Value::Real(b)) = (a, b) else { return None };
    let (low, high) = (a.min(b), a.max(b));
    let mut power = IBig::ONE;
    for _ in 0..=MAX_DECIMALS {
        let unit = RBig::from(power.clone());
        let next = RBig::from((low * &unit).floor() + IBig::ONE) / &unit;
        if next < *high {
            return Some(Value::Real(next));
        }
        power *= IBig::from(10);
    }
    None
}

/// Replaces a bound that is not maximal by a simple number near it, on the side of the choice's own
/// value. All values up to the bound are allowed, so all values up to the new one are.
fn shorten(bound: &mut Bound, own: &Value) {
    if let (Value::Real(value), Value::Real(own)) = (&bound.value, own) {
        let near = value.clone() - (value.clone() - own.clone()) / RBig::from(1000);
        let near = Value::Real(near);
        let simple = shortest_decimal(&bound.value, &near);
        if let Some(simple) = simple.or_else(|| simplest(&bound.value, &near)) {
            *bound = Bound { value: simple, open: false };
        }
    }
}

/// The next bound to try: just before a value known to violate a condition, or halfway to it;
/// `None` if there is no value between.
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

fn set_bounds(fixed: &mut Fixed, held: &mut ChoiceState, low: Option<Bound>, high: Option<Bound>) {
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
    fn the_next_bound_is_before_the_counterexample() {
        let at =
            |a: i32, b: i32, side, halfway| between(&Value::int(a), &Value::int(b), side, halfway);
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
    fn a_bound_that_is_not_maximal_is_a_simple_number() {
        let real = |n: i64, d: u64| Value::Real(RBig::from_parts(n.into(), d.into()));
        assert_eq!(simplest(&real(899_999, 1000), &real(900_001, 1000)), Some(real(900, 1)));
        assert_eq!(simplest(&real(1, 2), &real(1, 2)), None);
        let mut bound = Bound { value: real(1_414_213_562, 1_000_000_000), open: true };
        shorten(&mut bound, &real(1, 1));
        assert_eq!(bound, Bound { value: real(707, 500), open: false });
        // A short decimal is preferred to a fraction with a smaller denominator.
        let (low, high) = (real(99_690, 1000), real(99_735, 1000));
        assert_eq!(shortest_decimal(&low, &high), Some(real(997, 10)));
        assert_eq!(shortest_decimal(&real(1, 3), &real(1, 3)), None);
    }

    #[test]
    fn open_bounds_exclude_their_value() {
        let own = Value::int(3);
        let within = |low, high| Freedom::Within { low, high };
        let bound = |n: i32, open| Some(Bound { value: Value::int(n), open });
        assert!(within(bound(1, false), None).allows(&own, &Value::int(1)));
        assert!(!within(bound(1, true), None).allows(&own, &Value::int(1)));
        assert!(!within(None, bound(5, true)).allows(&own, &Value::int(5)));
        assert!(
            Freedom::Any.allows(&own, &Value::int(-7))
                && !Freedom::Fixed.allows(&own, &Value::int(4))
        );
    }
}
