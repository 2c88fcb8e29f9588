//! Numbers: linear forms over variables, and bounds of such forms. Trusted.

use std::collections::BTreeMap;

use dashu_base::{Abs, Gcd, Signed};
use dashu_int::UBig;
use gander_term::{IBig, RBig};
use rustc_hash::FxHashMap;

use super::circuit::{Circuit, truth};
use crate::literal::Literal;

/// A number that counts as a variable.
pub(crate) type Number = u32;

/// A bound of a linear form over numbers: `form <= bound`, or `form < bound` if it is strict.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Atom {
    /// Numbers with their factors, in order, none of them zero.
    pub form: Vec<(u32, IBig)>,
    /// The bound.
    pub bound: RBig,
    /// True for `<`.
    pub strict: bool,
}

/// A linear form that is at least zero, or positive if it is strict.
pub(crate) struct Row {
    pub(crate) form: Vec<(Number, RBig)>,
    pub(crate) constant: RBig,
    pub(crate) strict: bool,
}

/// A linear form with a constant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    pub(crate) of: BTreeMap<Number, RBig>,
    pub(crate) constant: RBig,
}

impl Linear {
    pub(crate) fn number(n: Number) -> Linear {
        Linear { of: BTreeMap::from([(n, RBig::ONE)]), constant: RBig::ZERO }
    }

    pub(crate) fn constant(constant: RBig) -> Linear {
        Linear { of: BTreeMap::new(), constant }
    }

    pub(crate) fn add(&mut self, other: &Linear, factor: &RBig) {
        self.constant += &other.constant * factor;
        for (n, c) in &other.of {
            let sum = self.of.entry(*n).or_insert(RBig::ZERO);
            *sum += c * factor;
            if *sum == RBig::ZERO {
                self.of.remove(n);
            }
        }
    }

    pub(crate) fn minus(&self, other: &Linear) -> Linear {
        let mut difference = self.clone();
        difference.add(other, &-RBig::ONE);
        difference
    }
}

/// Which numbers are ints, and what bounds mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    is_int: Vec<bool>,
}

impl Bounds {
    pub(crate) fn new_number(&mut self, is_int: bool) -> Number {
        self.is_int.push(is_int);
        (self.is_int.len() - 1) as Number
    }

    pub(crate) fn is_int(&self, n: Number) -> bool {
        self.is_int[n as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.is_int.len()
    }

    /// True if the numbers of the atom exist and are in order, with factors other than zero.
    pub(crate) fn is_well_formed(&self, atom: &Atom) -> bool {
        atom.form.iter().all(|(n, c)| (*n as usize) < self.is_int.len() && *c != IBig::ZERO)
            && atom.form.windows(2).all(|w| w[0].0 < w[1].0)
    }

    /// True if all values of the form are integers: it is over ints, and its factors are integers.
    fn is_integral(&self, form: &[(Number, IBig)]) -> bool {
        form.iter().all(|(n, _)| self.is_int(*n))
    }

    /// The row of an atom with this truth value, rounded if the form is integral.
    pub(crate) fn row(&self, atom: &Atom, holds: bool) -> Row {
        let integral = self.is_integral(&atom.form);
        let bound = &atom.bound;
        // An upper bound if it holds, a lower one if not.
        let (limit, strict) = match (integral, holds, atom.strict) {
            (false, holds, strict) => (bound.clone(), strict == holds),
            (true, true, false) => (RBig::from(bound.floor()), false),
            (true, true, true) => (RBig::from(bound.ceil() - IBig::ONE), false),
            (true, false, false) => (RBig::from(bound.floor() + IBig::ONE), false),
            (true, false, true) => (RBig::from(bound.ceil()), false),
        };
        let sign = if holds { -RBig::ONE } else { RBig::ONE };
        let form = atom.form.iter().map(|(n, c)| (*n, RBig::from(c.clone()) * &sign)).collect();
        Row { form, constant: -(limit * sign), strict }
    }

    /// True if the sum of the rows with these positive factors is false for all numbers.
    pub(crate) fn is_contradiction(&self, rows: &[(Row, &RBig)]) -> bool {
        let mut sum = Linear::default();
        let mut strict = false;
        for (row, factor) in rows {
            let linear =
                Linear { of: row.form.iter().cloned().collect(), constant: row.constant.clone() };
            sum.add(&linear, factor);
            strict |= row.strict;
        }
        sum.of.is_empty() && (sum.constant.is_negative() || (strict && sum.constant == RBig::ZERO))
    }
}

/// A bound of a form: the number, whether it may be reached, and the variable of the atom.
type FormBound = (RBig, bool, usize);

/// The atoms; each is a variable of the circuit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atoms {
    by_form: BTreeMap<Vec<(Number, IBig)>, Vec<FormBound>>,
    known: FxHashMap<Atom, usize>,
    pub(crate) by_variable: BTreeMap<usize, Atom>,
}

impl Atoms {
    /// The literal for `linear <= 0`, or `linear < 0` if it is strict.
    pub(crate) fn at_most_zero(
        &mut self,
        circuit: &mut Circuit,
        bounds: &Bounds,
        linear: &Linear,
        strict: bool,
    ) -> Literal {
        let Some((_, first)) = linear.of.first_key_value() else {
            let zero = RBig::ZERO;
            return truth(if strict { linear.constant < zero } else { linear.constant <= zero });
        };
        let scale = scale_of(linear);
        let scale = if first.is_negative() { -scale } else { scale };
        let form: Vec<(Number, IBig)> =
            linear.of.iter().map(|(n, c)| (*n, (c * &scale).numerator().clone())).collect();
        // An upper bound of the form, or a lower bound if the scale is negative.
        let bound = -(&linear.constant * &scale);
        let upper = !scale.is_negative();
        let integral = bounds.is_integral(&form);
        // `form >= b` is the negation of `form < b`, `form > b` that of `form <= b`.
        let (bound, strict, positive) = match (integral, upper, strict) {
            (false, true, strict) => (bound, strict, true),
            (false, false, strict) => (bound, !strict, false),
            (true, true, false) => (RBig::from(bound.floor()), false, true),
            (true, true, true) => (RBig::from(bound.ceil() - IBig::ONE), false, true),
            (true, false, false) => (RBig::from(bound.ceil() - IBig::ONE), false, false),
            (true, false, true) => (RBig::from(bound.floor()), false, false),
        };
        let literal = self.atom(circuit, Atom { form, bound, strict });
        if positive { literal } else { !literal }
    }

    fn atom(&mut self, circuit: &mut Circuit, atom: Atom) -> Literal {
        if let Some(&variable) = self.known.get(&atom) {
            return Literal::new(variable, true);
        }
        let literal = circuit.fresh();
        let variable = literal.variable();
        self.by_form.entry(atom.form.clone()).or_default().push((
            atom.bound.clone(),
            !atom.strict,
            variable,
        ));
        self.known.insert(atom.clone(), variable);
        self.by_variable.insert(variable, atom);
        literal
    }

    /// Adds that, for bounds of one form, each implies the next higher one.
    pub(crate) fn order(&mut self, circuit: &mut Circuit) {
        for bounds in self.by_form.values_mut() {
            bounds.sort();
            for pair in bounds.windows(2) {
                circuit.require(&[Literal::new(pair[0].2, false), Literal::new(pair[1].2, true)]);
            }
        }
    }
}

/// The positive factor that makes all factors of a form integers without common divisor.
fn scale_of(linear: &Linear) -> RBig {
    let mut denominator = UBig::ONE;
    for c in linear.of.values() {
        let common = denominator.clone().gcd(c.denominator());
        denominator = denominator / common * c.denominator();
    }
    let scale = RBig::from(IBig::from(denominator));
    let mut divisor = UBig::ZERO;
    for c in linear.of.values() {
        let whole: UBig = (c * &scale).numerator().clone().abs().try_into().unwrap_or(UBig::ONE);
        divisor = if divisor == UBig::ZERO { whole } else { divisor.gcd(whole) };
    }
    scale / RBig::from(IBig::from(divisor))
}
