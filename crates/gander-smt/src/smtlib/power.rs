//! Powers in SMT-LIB text, which has no operator with the required meaning.
//!
//! A constant exponent is unfolded. Otherwise exponents up to a bound are cases, and beyond it the
//! value is an unconstrained constant. So `unsat` is right, because the constant can have the true
//! value. A model in which the exponent is beyond the bound is not used (see
//! [`crate::smtlib::template::PowerGuard`]).

use gander_term::smtlib;
use gander_term::{IBig, Sort, TermId, Value};

use crate::smtlib::print::Printer;
use crate::smtlib::template::{Holed, PowerGuard};

/// Exponents up to this are written out as cases if the base is a constant.
const CONSTANT_BASE_CASES: u32 = 64;

/// Exponents up to this are written out as cases otherwise.
const VARIABLE_BASE_CASES: u32 = 12;

/// Constant exponents up to this are unfolded.
const MAX_EXPONENT: u32 = 1000;

impl Printer<'_> {
    /// Writes the definition of a power.
    pub(crate) fn define_power(&mut self, t: TermId, position: u32, sort: &str) {
        let (base, exponent) = (self.pool.args(t)[0], self.pool.args(t)[1]);
        let base_value = self.pool.as_constant(base);
        let last = match self.pool.as_constant(exponent) {
            Some(Value::Int(e)) if e <= IBig::from(MAX_EXPONENT) => u32::try_from(&e).unwrap_or(0),
            Some(_) => {
                self.unsupported = Some(format!("exponents above {MAX_EXPONENT}"));
                return;
            }
            None if self.parameters.contains_key(&t) => {
                self.unsupported =
                    Some("exponents that are not constant, under a quantifier".into());
                return;
            }
            None if base_value.is_some() => CONSTANT_BASE_CASES,
            None => VARIABLE_BASE_CASES,
        };
        let mut base_text = Holed::default();
        self.write(&mut base_text, base);
        let constant_exponent = self.pool.as_constant(exponent).is_some();
        // Auxiliary definition i is the base to the power i; a constant base gives literals.
        let powers: Vec<Holed> = match &base_value {
            Some(value) => powers_of(value, last, self.pool.sort(t)),
            None => self.define_products(t, position, sort, last, &base_text),
        };
        if constant_exponent {
            self.open_definition(t, position, None, sort);
            let result = powers.last().cloned().unwrap_or_default();
            self.definitions.append(&result);
            self.close_definition();
            return;
        }
        let mut exponent_text = Holed::default();
        self.write(&mut exponent_text, exponent);
        let beyond_value = last + 1;
        self.definitions.push("(declare-fun ");
        let mut out = std::mem::take(&mut self.definitions);
        self.push_name(&mut out, position, Some(beyond_value));
        self.definitions = out;
        self.definitions.push(&format!(" () {sort})\n"));
        self.open_definition(t, position, None, sort);
        let mut out = std::mem::take(&mut self.definitions);
        for (i, power) in powers.iter().enumerate() {
            out.push(if i == 0 { "(ite (<= " } else { "(ite (= " });
            out.append(&exponent_text);
            out.push(&format!(" {i}) "));
            out.append(power);
            out.push(" ");
        }
        self.push_name(&mut out, position, Some(beyond_value));
        out.push(&")".repeat(powers.len()));
        self.definitions = out;
        self.close_definition();
        let mut beyond = Holed::default();
        beyond.push("(> ");
        beyond.append(&exponent_text);
        beyond.push(&format!(" {last})"));
        self.powers.push(PowerGuard { beyond });
    }

    /// The powers 0 to `last` of a base that is not constant, each defined from the one before.
    fn define_products(
        &mut self,
        t: TermId,
        position: u32,
        sort: &str,
        last: u32,
        base: &Holed,
    ) -> Vec<Holed> {
        let mut one = Holed::default();
        one.push(if self.pool.sort(t) == Sort::Int { "1" } else { "1.0" });
        let mut powers = vec![one];
        for i in 1..=last {
            if i == 1 {
                powers.push(base.clone());
                continue;
            }
            self.open_definition(t, position, Some(i), sort);
            let out = &mut self.definitions;
            out.push("(* ");
            out.append(&powers[i as usize - 1]);
            out.push(" ");
            out.append(base);
            out.push(")");
            self.close_definition();
            let mut name = Holed::default();
            self.push_use(&mut name, t, position, Some(i));
            powers.push(name);
        }
        powers
    }
}

/// The powers 0 to `last` of a number, as literals.
fn powers_of(base: &Value, last: u32, sort: Sort) -> Vec<Holed> {
    let mut literals = Vec::new();
    let mut power = if sort == Sort::Int { Value::int(1) } else { Value::whole(1) };
    for _ in 0..=last {
        let mut literal = Holed::default();
        power = match (power, base) {
            (Value::Int(p), Value::Int(b)) => {
                smtlib::push_int(literal.text_mut(), &p);
                Value::Int(p * b)
            }
            (Value::Real(p), Value::Real(b)) => {
                smtlib::push_real(literal.text_mut(), &p);
                Value::Real(p * b)
            }
            (other, _) => other,
        };
        literals.push(literal);
    }
    literals
}
