//! Rows: comparisons as linear forms in exact arithmetic. Trusted.

use dashu_base::{Abs, Gcd, Signed};
use dashu_int::UBig;
use gander_term::{IBig, Op, Pool, RBig, Sort, TermId, Value};

use crate::facts::{Facts, is_number};
use crate::proof::Fact;

/// The number of terms visited for one row; a shared term counts each time.
const MAX_VISITED: usize = 10_000;

/// The sign of a linear form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    NotNegative,
    Positive,
    Zero,
}

/// A linear form over terms that count as variables, and its sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    /// Sorted by term, without zeros.
    pub(crate) coefficients: Vec<(TermId, RBig)>,
    pub(crate) constant: RBig,
    pub(crate) sign: Sign,
}

impl Row {
    /// True if it has no variables and is false.
    pub(crate) fn is_wrong(&self) -> bool {
        self.coefficients.is_empty()
            && match self.sign {
                Sign::NotNegative => self.constant < RBig::ZERO,
                Sign::Positive => self.constant <= RBig::ZERO,
                Sign::Zero => self.constant != RBig::ZERO,
            }
    }

    /// True if all variables are ints.
    pub(crate) fn is_about_ints(&self, pool: &Pool) -> bool {
        self.coefficients.iter().all(|(t, _)| pool.sort(*t) == Sort::Int)
    }

    /// The strongest row over ints that follows with the same direction: coefficients become
    /// integers without a common divisor, so the form without its constant has integral values, and
    /// the constant is rounded. `None` if it is not over ints.
    pub(crate) fn rounded(&self, pool: &Pool) -> Option<Row> {
        if self.coefficients.is_empty() || !self.is_about_ints(pool) {
            return None;
        }
        let mut denominator = UBig::ONE;
        for (_, c) in &self.coefficients {
            let common = denominator.clone().gcd(c.denominator());
            denominator = denominator / common * c.denominator();
        }
        let scale = RBig::from(IBig::from(denominator));
        let mut divisor = UBig::ZERO;
        for (_, c) in &self.coefficients {
            divisor =
                divisor.gcd((c * &scale).numerator().clone().abs().try_into().unwrap_or(UBig::ONE));
        }
        let scale = scale / RBig::from(IBig::from(divisor));
        let coefficients = self.coefficients.iter().map(|(t, c)| (*t, c * &scale)).collect();
        let constant = &self.constant * &scale;
        let (constant, sign) = match self.sign {
            Sign::NotNegative => (RBig::from(constant.floor()), Sign::NotNegative),
            Sign::Positive => (RBig::from(constant.ceil() - IBig::ONE), Sign::NotNegative),
            Sign::Zero if constant.is_int() => (constant, Sign::Zero),
            // An integral form is never equal to a fraction.
            Sign::Zero => {
                return Some(Row {
                    coefficients: Vec::new(),
                    constant: RBig::ONE,
                    sign: Sign::Zero,
                });
            }
        };
        Some(Row { coefficients, constant, sign })
    }

    /// The sum of rows with factors; `None` if an inequality has a negative factor.
    pub(crate) fn sum<'r>(parts: impl Iterator<Item = (&'r Row, &'r RBig)>) -> Option<Row> {
        let mut all: Vec<(TermId, RBig)> = Vec::new();
        let (mut constant, mut sign) = (RBig::ZERO, Sign::Zero);
        for (row, factor) in parts {
            if *factor == RBig::ZERO {
                continue;
            }
            sign = match (row.sign, sign) {
                (Sign::Zero, sign) => sign,
                _ if factor.is_negative() => return None,
                (Sign::Positive, _) | (_, Sign::Positive) => Sign::Positive,
                _ => Sign::NotNegative,
            };
            constant += &row.constant * factor;
            all.extend(row.coefficients.iter().map(|(t, c)| (*t, c * factor)));
        }
        Some(Row { coefficients: collected(all), constant, sign })
    }
}

/// Like terms added up, in order, without zeros.
fn collected(mut all: Vec<(TermId, RBig)>) -> Vec<(TermId, RBig)> {
    all.sort_unstable_by_key(|(t, _)| *t);
    let mut coefficients: Vec<(TermId, RBig)> = Vec::with_capacity(all.len());
    for (t, c) in all {
        match coefficients.last_mut() {
            Some((last, sum)) if *last == t => *sum += c,
            _ => coefficients.push((t, c)),
        }
    }
    coefficients.retain(|(_, c)| *c != RBig::ZERO);
    coefficients
}

/// The row of a fact that is a comparison of numbers. Conditional terms whose condition is decided
/// are replaced by their branch.
pub(crate) fn row_of(facts: &Facts<'_>, fact: &Fact) -> Option<Row> {
    let pool = facts.pool;
    let sides = |t: TermId| match *pool.args(t) {
        [a, b] if is_number(pool.sort(a)) && is_number(pool.sort(b)) => Some((a, b)),
        _ => None,
    };
    // The row is `greater - less`, with the sign.
    let ((greater, less), sign) = match *fact {
        Fact::Holds(t) | Fact::Fails(t) => {
            let (a, b) = sides(t)?;
            match (pool.op(t), matches!(fact, Fact::Holds(_))) {
                (Op::Lt, true) | (Op::Ge, false) => ((b, a), Sign::Positive),
                (Op::Le, true) | (Op::Gt, false) => ((b, a), Sign::NotNegative),
                (Op::Gt, true) | (Op::Le, false) => ((a, b), Sign::Positive),
                (Op::Ge, true) | (Op::Lt, false) => ((a, b), Sign::NotNegative),
                (Op::Eq, true) => ((a, b), Sign::Zero),
                _ => return None,
            }
        }
        Fact::Less(t) => {
            let (a, b) = sides(t)?;
            ((b, a), Sign::Positive)
        }
        Fact::Greater(t) => (sides(t)?, Sign::Positive),
        Fact::AtMost(t, ref k) => return bound(facts, (t, -1), -RBig::from(k.clone())),
        Fact::AtLeast(t, ref k) => return bound(facts, (t, 1), RBig::from(k.clone())),
    };
    let mut sum = Sum::default();
    sum.add(facts, greater, RBig::ONE)?;
    sum.add(facts, less, -RBig::ONE)?;
    Some(Row { coefficients: collected(sum.all), constant: sum.constant, sign })
}

/// The row that the term times the factor is at least the bound.
fn bound(facts: &Facts<'_>, (t, factor): (TermId, i32), least: RBig) -> Option<Row> {
    let mut sum = Sum::default();
    sum.add(facts, t, RBig::from(IBig::from(factor)))?;
    Some(Row {
        coefficients: collected(sum.all),
        constant: sum.constant - least,
        sign: Sign::NotNegative,
    })
}

/// A linear form under construction.
#[derive(Default)]
struct Sum {
    all: Vec<(TermId, RBig)>,
    constant: RBig,
    visited: usize,
}

impl Sum {
    /// Adds a multiple of a term; `None` if it is too large.
    fn add(&mut self, facts: &Facts<'_>, t: TermId, factor: RBig) -> Option<()> {
        let pool = facts.pool;
        let mut stack = vec![(t, factor)];
        while let Some((t, factor)) = stack.pop() {
            self.visited += 1;
            if self.visited > MAX_VISITED {
                return None;
            }
            match (pool.op(t), pool.args(t)) {
                (Op::Const(_), _) => self.constant += factor * number(pool, t)?,
                (Op::Add, args) => stack.extend(args.iter().map(|&a| (a, factor.clone()))),
                (Op::Sub, &[a, b]) => {
                    stack.push((b, -factor.clone()));
                    stack.push((a, factor));
                }
                (Op::Neg, &[a]) => stack.push((a, -factor)),
                // The value of an int as a real is that of the int.
                (Op::ToReal, &[a]) => stack.push((a, factor)),
                (Op::Mul, args) => match product(pool, args) {
                    Some((scale, Some(a))) => stack.push((a, factor * scale)),
                    Some((scale, None)) => self.constant += factor * scale,
                    None => self.all.push((t, factor)),
                },
                (Op::Div, &[a, b]) => match number(pool, b) {
                    Some(by) if by != RBig::ZERO => stack.push((a, factor / by)),
                    _ => self.all.push((t, factor)),
                },
                (Op::Ite, &[c, a, b]) => match facts.value(c) {
                    Some(truth) => stack.push((if truth { a } else { b }, factor)),
                    None => self.all.push((t, factor)),
                },
                _ => self.all.push((t, factor)),
            }
        }
        Some(())
    }
}

/// The product of the constant factors, and the only other factor if there is one; `None` if there
/// are more.
fn product(pool: &Pool, args: &[TermId]) -> Option<(RBig, Option<TermId>)> {
    let (mut scale, mut other) = (RBig::ONE, None);
    for &a in args {
        match number(pool, a) {
            Some(c) => scale *= c,
            None if other.is_none() => other = Some(a),
            None => return None,
        }
    }
    Some((scale, other))
}

/// The value of a constant number.
fn number(pool: &Pool, t: TermId) -> Option<RBig> {
    match pool.op(t) {
        Op::Const(v) => match pool.value(v) {
            Value::Int(i) => Some(RBig::from(i.clone())),
            Value::Real(r) => Some(r.clone()),
            _ => None,
        },
        _ => None,
    }
}
