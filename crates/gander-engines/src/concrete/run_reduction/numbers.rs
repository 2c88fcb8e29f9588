//! Simple numbers in place of long ones.
//!
//! A solver answers with some number that satisfies its constraints, perhaps one with dozens of
//! digits. In its place are tried: 0 and 1, constants of the model that are near, whole numbers and
//! short decimals around it, and the convergents of its continued fraction, which are the simplest
//! fractions near it.

use std::sync::Arc;
use std::time::Instant;

use gander_system::{StartId, System};
use gander_term::{IBig, RBig, TermId, Value};

use super::end::End;
use super::machine::{Entering, Machine};
use super::{Effort, Flat};
use crate::concrete::limits::LIMITS;

/// The numbers in a model, in ascending order.
pub(super) struct Constants(Vec<RBig>);

impl Constants {
    pub(super) fn of(system: &System) -> Constants {
        let mut pool = gander_term::Pool::fork(system.pool());
        let mut roots: Vec<TermId> = Vec::new();
        for t in system.transition_ids() {
            roots.extend([system.guard_term(&mut pool, t), system.effect_term(&mut pool, t)]);
        }
        for s in 0..system.starts().len() {
            roots.push(system.start_term(&mut pool, StartId::from(s)));
        }
        roots.extend(system.assumptions().iter().map(|a| a.term.term()));
        for claim in system.claims() {
            if let gander_system::ClaimKind::Always(p) = &claim.kind {
                roots.push(p.term());
            }
        }
        let constant = |t: TermId| number(&pool.as_constant(t)?);
        let mut all: Vec<RBig> = pool.postorder(&roots).into_iter().filter_map(constant).collect();
        all.sort_unstable();
        all.dedup();
        Constants(all)
    }

    /// The constants less than 1 away from a number, the nearest first.
    fn near(&self, n: &RBig) -> Vec<RBig> {
        let distance = |c: &RBig| if c < n { n - c } else { c - n };
        let from = self.0.partition_point(|c| c < n && distance(c) >= RBig::ONE);
        let near = self.0[from..].iter().take_while(|c| distance(c) < RBig::ONE);
        let mut near: Vec<RBig> = near.take(LIMITS.near_constants).cloned().collect();
        near.sort_by_key(distance);
        near
    }
}

fn number(v: &Value) -> Option<RBig> {
    match v {
        Value::Int(i) => Some(RBig::from(i.clone())),
        Value::Real(r) => Some(r.clone()),
        _ => None,
    }
}

/// True for a number that is long to write.
pub(super) fn is_long(v: &Value) -> bool {
    match v {
        Value::Int(i) => size(i) >= IBig::from(LIMITS.long_number),
        Value::Real(r) => {
            size(r.numerator()) * IBig::from(r.denominator().clone())
                >= IBig::from(LIMITS.long_number)
        }
        _ => false,
    }
}

fn size(i: &IBig) -> IBig {
    if *i < IBig::ZERO { -i } else { i.clone() }
}

/// Where a chosen value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// A variable in the state after this many steps.
    Var(usize, usize),
    /// A parameter of this step.
    Param(usize, usize),
}

/// The run with simple numbers where possible; `None` if nothing changes.
pub(super) fn simplify(
    machine: &mut Machine,
    end: &mut End,
    constants: &Constants,
    flat: &Flat,
    effort: Effort,
) -> Option<Flat> {
    let mut best: Option<Flat> = None;
    let mut groups = chosen(machine, flat, constants);
    groups.truncate(LIMITS.long_numbers);
    for (value, places) in groups {
        // The same number in several places is often the same quantity, so it is replaced in all
        // of them first.
        let alone = places.iter().map(|p| vec![*p]).filter(|_| places.len() > 1);
        for places in std::iter::once(places.clone()).chain(alone) {
            if machine.work_done > effort.values && Instant::now() >= effort.until {
                return best;
            }
            let run = best.as_ref().unwrap_or(flat);
            let tried = candidates(&value, constants);
            let found = tried.iter().find_map(|new| replaced(machine, end, run, &places, new));
            if let Some(found) = found {
                let done = places.len() > 1;
                best = Some(found);
                if done {
                    break;
                }
            }
        }
    }
    best
}

/// The chosen long numbers that are no constants of the model, each with its places.
fn chosen(machine: &mut Machine, flat: &Flat, constants: &Constants) -> Vec<(Value, Vec<Place>)> {
    let mut groups: Vec<(Value, Vec<Place>)> = Vec::new();
    let mut add = |v: &Value, place| {
        let known = || number(v).is_some_and(|n| constants.0.binary_search(&n).is_ok());
        if !is_long(v) || known() {
            return;
        }
        match groups.iter_mut().find(|(w, _)| w == v) {
            Some((_, places)) => places.push(place),
            None => groups.push((v.clone(), vec![place])),
        }
    };
    for (i, state) in flat.states.iter().enumerate() {
        let by = match i.checked_sub(1) {
            None => Entering::Start(flat.start),
            Some(step) => Entering::Step(flat.steps[step].0),
        };
        for (v, value) in state.values.iter().enumerate() {
            if is_long(value) && machine.chooses(by, v) {
                add(value, Place::Var(i, v));
            }
        }
        if let Some((_, params)) = flat.steps.get(i) {
            params.iter().enumerate().for_each(|(p, v)| add(v, Place::Param(i, p)));
        }
    }
    groups
}

/// Numbers to try in place of a long one, the simplest first.
fn candidates(value: &Value, constants: &Constants) -> Vec<Value> {
    let Some(n) = number(value) else { return Vec::new() };
    let mut numbers = vec![RBig::ZERO, RBig::ONE];
    numbers.extend(constants.near(&n));
    numbers.extend([n.ceil(), n.floor()].map(RBig::from));
    if let Value::Int(_) = value {
        // Fewer leading digits, then those of the number.
        let mut power = IBig::from(10);
        while power < size(&n.floor()) {
            let scaled = &n / RBig::from(power.clone());
            numbers.extend([scaled.floor(), scaled.ceil()].map(|d| RBig::from(d * &power)));
            power *= 10;
        }
        numbers.retain(|n| n.is_int());
        numbers.sort_by_key(|n| trimmed(&size(&n.floor())));
    } else {
        let mut power = IBig::from(10);
        for _ in 0..LIMITS.tried_decimals {
            let scaled = &n * RBig::from(power.clone());
            let unit = RBig::from(power.clone());
            numbers.extend([scaled.floor(), scaled.ceil()].map(|d| RBig::from(d) / &unit));
            power *= 10;
        }
        numbers.extend(convergents(&n));
    }
    let mut unique: Vec<RBig> = Vec::new();
    for c in numbers {
        if c != n && !unique.contains(&c) {
            unique.push(c);
        }
    }
    let as_value = |c: RBig| match value {
        Value::Int(_) => Value::Int(c.floor()),
        _ => Value::Real(c),
    };
    let shorter = |v: &Value| !is_long(v) || constants_have(constants, v);
    unique.into_iter().map(as_value).filter(shorter).collect()
}

fn constants_have(constants: &Constants, v: &Value) -> bool {
    number(v).is_some_and(|n| constants.0.binary_search(&n).is_ok())
}

/// The number without the zeros at its end.
fn trimmed(i: &IBig) -> IBig {
    let ten = IBig::from(10);
    let mut rest = i.clone();
    while rest != IBig::ZERO && &rest % &ten == IBig::ZERO {
        rest /= &ten;
    }
    rest
}

/// The convergents of the continued fraction of a number, without the number itself.
fn convergents(n: &RBig) -> Vec<RBig> {
    let mut found = Vec::new();
    let (mut p, mut q) = ((IBig::ONE, IBig::ZERO), (IBig::ZERO, IBig::ONE));
    let mut rest = n.clone();
    for _ in 0..LIMITS.tried_convergents {
        let whole = rest.floor();
        p = (&whole * &p.0 + &p.1, p.0);
        q = (&whole * &q.0 + &q.1, q.0);
        let fraction = rest - RBig::from(whole);
        if fraction == RBig::ZERO {
            break;
        }
        if q.0 > IBig::ZERO {
            found.push(RBig::from(p.0.clone()) / RBig::from(q.0.clone()));
        }
        rest = RBig::ONE / fraction;
    }
    found
}

/// The run with another value in these places, up to where it decides the claim; `None` if it does
/// not.
fn replaced(
    machine: &mut Machine,
    end: &mut End,
    flat: &Flat,
    places: &[Place],
    new: &Value,
) -> Option<Flat> {
    let chosen = |i: usize| {
        let mut values = flat.states[i].values.clone();
        for place in places {
            if let Place::Var(at, v) = *place
                && at == i
            {
                values[v] = new.clone();
            }
        }
        values
    };
    let first = machine.start(flat.start, &chosen(0))?;
    let mut run = Flat::begin(flat.start, first);
    run.met[0] = end.start(machine, &run.states[0])?;
    for (i, (t, params)) in flat.steps.iter().enumerate() {
        let mut params = Arc::clone(params);
        for place in places {
            if let Place::Param(at, p) = *place
                && at == i
            {
                Arc::make_mut(&mut params)[p] = new.clone();
            }
        }
        let to = machine.step(&run.states[i], *t, &params, &chosen(i + 1))?;
        end.advance(machine, &mut run, *t, params, to)?;
        if end.is_met(&run, i + 1) {
            break;
        }
    }
    // A simple choice may make computed numbers long; then nothing is gained.
    (end.is_met(&run, run.steps.len()) && long_numbers(&run) <= long_numbers(flat)).then_some(run)
}

/// How many long numbers are in a run, chosen or computed. A number that is kept counts once.
fn long_numbers(run: &Flat) -> usize {
    let computed = run.states.iter().flat_map(|s| s.values.iter());
    let chosen = run.steps.iter().flat_map(|(_, params)| params.iter());
    let mut found: Vec<&Value> = Vec::new();
    for value in computed.chain(chosen) {
        if is_long(value) && !found.contains(&value) {
            found.push(value);
        }
    }
    found.len()
}
