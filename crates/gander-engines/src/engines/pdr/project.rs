//! Model-based projection: computes a cube over the state variables from an implicant.
//!
//! Given literals `L` over state variables `s` and other variables `y`, all true in a model, it
//! returns literals `C` over `s`, true in the model, with `C -> exists y. L`. The variables of `y`
//! are eliminated one by one: by an equation if there is one, otherwise by the bound that is
//! tightest in the model, which is substituted into all other constraints. On reals this is the
//! method of Loos and Weispfenning. On ints it is Cooper's, where the distance of the variable from
//! the bound is the distance in the model, modulo the period of the divisibility constraints.
//!
//! After Komuravelli, Gurfinkel and Chaki, *SMT-based model checking for recursive programs*
//! (2014), and Bjorner and Janota, *Playing with quantified satisfaction* (2015).

use std::collections::BTreeMap;

use dashu_base::{Abs, Signed};
use gander_term::{IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::implicant::{Implicant, Model, NotProjectable};
use super::limits::LIMITS;
use crate::arith::linear::{Constraint, LinearForm, Relation};
use crate::arith::number::{lcm, rational, remainder};

/// A cube: all literals, and the linear ones as constraints.
#[derive(Clone, Debug, Default)]
pub(super) struct Projected {
    pub literals: Vec<TermId>,
    pub constraints: Vec<(TermId, Constraint)>,
}

/// Projects the implicant to the `kept` symbols. The model must have values for all its symbols
/// except quotients.
pub(super) fn project(
    pool: &mut Pool,
    model: &Model,
    kept: &FxHashSet<SymbolId>,
    implicant: Implicant,
) -> Result<Projected, NotProjectable> {
    let Implicant { constraints, literals, mut fixed, quotients } = implicant;
    let quotients: FxHashMap<SymbolId, Value> = quotients.into_iter().collect();
    let mut work = Work::new(pool);
    // The values of all atoms, and the atoms to eliminate.
    let mut eliminated: Vec<(SymbolId, TermId)> = Vec::new();
    for c in &constraints {
        for &atom in c.form.terms.keys() {
            if work.values.contains_key(&atom) {
                continue;
            }
            let value = atom_value(work.pool, atom, &|s| {
                quotients.get(&s).or_else(|| model.get(&s)).cloned()
            })?;
            work.values.insert(atom, value);
            match (work.pool.op(atom), work.pool.args(atom)) {
                (Op::Symbol(s), _) if !kept.contains(&s) => eliminated.push((s, atom)),
                (Op::ToReal, &[inner]) => {
                    if let Some(s) = work.pool.as_symbol(inner).filter(|s| !kept.contains(s)) {
                        // An int in a constraint over reals.
                        fixed.insert(s);
                        eliminated.push((s, atom));
                    }
                }
                _ => {}
            }
        }
    }
    let many = constraints.len() > LIMITS.constraints;
    constraints.into_iter().for_each(|c| work.push(c));
    let mut rest = Vec::new();
    for (s, atom) in eliminated {
        if fixed.contains(&s) || many {
            let value = quotients.get(&s).or_else(|| model.get(&s)).and_then(rational);
            work.fix(atom, &value.ok_or(NotProjectable("a variable without a value"))?);
        } else {
            rest.push(atom);
        }
    }
    while let Some(at) = work.next(&rest) {
        let atom = rest.swap_remove(at);
        if work.pool.sort(atom) == Sort::Int {
            work.eliminate_int(atom)
        } else {
            work.eliminate_real(atom)
        }
    }
    Ok(work.finish(literals))
}

/// The value of an atom in the model.
fn atom_value(
    pool: &Pool,
    atom: TermId,
    model: &dyn Fn(SymbolId) -> Option<Value>,
) -> Result<RBig, NotProjectable> {
    let value = gander_term::evaluate(pool, atom, model)
        .map_err(|_| NotProjectable("a term without a value"))?;
    rational(&value).ok_or(NotProjectable("a number of no known kind"))
}

struct Work<'a> {
    pool: &'a mut Pool,
    /// In normal form. `None` if removed.
    constraints: Vec<Option<Constraint>>,
    /// For each atom, the positions of constraints that may mention it.
    places: FxHashMap<TermId, Vec<usize>>,
    /// For each sum, the position of its bound. Only the tightest bound of a sum is kept.
    bounds: BTreeMap<BTreeMap<TermId, RBig>, usize>,
    values: FxHashMap<TermId, RBig>,
}

impl<'a> Work<'a> {
    fn new(pool: &'a mut Pool) -> Work<'a> {
        let (constraints, bounds) = (Vec::new(), BTreeMap::new());
        Work {
            pool,
            constraints,
            places: FxHashMap::default(),
            bounds,
            values: FxHashMap::default(),
        }
    }

    fn value(&self, form: &LinearForm) -> RBig {
        form.value(|atom| Some(self.values.get(&atom).cloned().unwrap_or(RBig::ZERO)))
            .unwrap_or(RBig::ZERO)
    }

    /// Adds a constraint, in normal form.
    fn push(&mut self, constraint: Constraint) {
        let Some(c) = constraint.normal() else { return };
        if matches!(c.relation, Relation::AtMost | Relation::Below) {
            if let Some(&at) = self.bounds.get(&c.form.terms)
                && let Some(known) = &mut self.constraints[at]
            {
                let key = |c: &Constraint| (c.form.constant.clone(), c.relation == Relation::Below);
                if key(&c) > key(known) {
                    *known = c;
                }
                return;
            }
            self.bounds.insert(c.form.terms.clone(), self.constraints.len());
        } else if self.with(c.form.terms.keys().next().copied()).any(|known| *known == c) {
            return;
        }
        for &atom in c.form.terms.keys() {
            self.places.entry(atom).or_default().push(self.constraints.len());
        }
        self.constraints.push(Some(c));
    }

    /// The constraints that mention an atom.
    fn with(&self, atom: Option<TermId>) -> impl Iterator<Item = &Constraint> {
        let places = atom.and_then(|a| self.places.get(&a));
        places.into_iter().flatten().filter_map(|&at| self.constraints[at].as_ref())
    }

    fn fix(&mut self, atom: TermId, value: &RBig) {
        for mut c in self.take(atom) {
            c.form.fix(atom, value);
            self.push(c);
        }
    }

    /// The position of the atom to eliminate next: one that an equation defines, or else the one
    /// with the fewest occurrences.
    fn next(&self, rest: &[TermId]) -> Option<usize> {
        let cost = |atom: TermId| {
            let mut solved = false;
            let mut count = 0;
            for c in self.with(Some(atom)) {
                count += 1;
                solved |=
                    c.relation == Relation::Equal && c.form.terms[&atom].clone().abs() == RBig::ONE;
            }
            (!solved, count)
        };
        (0..rest.len()).min_by_key(|&i| cost(rest[i]))
    }

    /// Removes and returns the constraints that mention an atom.
    fn take(&mut self, atom: TermId) -> Vec<Constraint> {
        let places = self.places.remove(&atom).unwrap_or_default();
        let taken: Vec<Constraint> =
            places.into_iter().filter_map(|at| self.constraints[at].take()).collect();
        for c in &taken {
            self.bounds.remove(&c.form.terms);
        }
        taken
    }

    /// Eliminates the atom from `others` by the equation `a * atom + rest = 0`.
    fn solve(&mut self, atom: TermId, equation: &LinearForm, others: Vec<Constraint>, sort: Sort) {
        let a = equation.coefficient(atom);
        let size = a.clone().abs();
        for mut c in others {
            let k = c.form.coefficient(atom);
            // size * form - k * sign(a) * equation: the atom cancels out.
            c.form.scale(&size);
            let sign = if a.is_negative() { RBig::ONE } else { -RBig::ONE };
            c.form.add(&(k * sign), equation);
            c.form.terms.remove(&atom);
            if let Relation::Multiple(m) = &mut c.relation {
                *m *= size.numerator().clone();
            }
            self.push(c);
        }
        if sort == Sort::Int && size != RBig::ONE {
            let (form, relation) =
                (equation.without(atom), Relation::Multiple(size.numerator().clone()));
            self.push(Constraint { form, relation, sort });
        }
    }

    fn eliminate_real(&mut self, x: TermId) {
        let mut with = self.take(x);
        if let Some(at) = with.iter().position(|c| c.relation == Relation::Equal) {
            let equation = with.swap_remove(at);
            return self.solve(x, &equation.form, with, Sort::Real);
        }
        let (lower, upper): (Vec<Constraint>, Vec<Constraint>) =
            with.into_iter().partition(|c| c.form.coefficient(x).is_negative());
        if lower.is_empty() || upper.is_empty() {
            return;
        }
        // The bounds as forms: x > l, x >= l, x < u, x <= u.
        let bound = |c: &Constraint| {
            let k = c.form.coefficient(x);
            (c.form.without(x).scaled(&(-RBig::ONE / k)), c.relation == Relation::Below)
        };
        let lower: Vec<_> = lower.iter().map(bound).collect();
        let upper: Vec<_> = upper.iter().map(bound).collect();
        let from_below = lower.len() <= upper.len();
        let (near, far) = if from_below { (&lower, &upper) } else { (&upper, &lower) };
        let sign = if from_below { RBig::ONE } else { -RBig::ONE };
        // The bound that is tightest in the model; a strict one if several are equal.
        let key = |b: &(LinearForm, bool)| (self.value(&b.0) * sign.clone(), b.1);
        let Some(best) = near.iter().max_by_key(|b| key(b)).cloned() else { return };
        for other in near.iter().filter(|b| **b != best) {
            // `best` is at least as tight as `other`.
            let mut form = other.0.minus(&best.0);
            form.scale(&sign);
            let relation = if other.1 && !best.1 { Relation::Below } else { Relation::AtMost };
            self.push(Constraint { form, relation, sort: Sort::Real });
        }
        for other in far {
            let mut form = best.0.minus(&other.0);
            form.scale(&sign);
            let relation = if other.1 || best.1 { Relation::Below } else { Relation::AtMost };
            self.push(Constraint { form, relation, sort: Sort::Real });
        }
    }

    fn eliminate_int(&mut self, x: TermId) {
        let mut with = self.take(x);
        let equations = with.iter().enumerate().filter(|(_, c)| c.relation == Relation::Equal);
        if let Some((at, _)) = equations.min_by_key(|(_, c)| c.form.coefficient(x).abs()) {
            let equation = with.swap_remove(at);
            return self.solve(x, &equation.form, with, Sort::Int);
        }
        let (periodic, bounds): (Vec<Constraint>, Vec<Constraint>) =
            with.into_iter().partition(|c| matches!(c.relation, Relation::Multiple(_)));
        let period = periodic.iter().fold(IBig::ONE, |acc, c| match &c.relation {
            Relation::Multiple(m) => lcm(&acc, m),
            _ => acc,
        });
        let (lower, upper): (Vec<&Constraint>, Vec<&Constraint>) =
            bounds.iter().partition(|c| c.form.coefficient(x).is_negative());
        if lower.is_empty() || upper.is_empty() {
            // A value far enough in one direction satisfies all bounds.
            let value = remainder(self.values[&x].numerator(), &period);
            for mut c in periodic {
                c.form.fix(x, &RBig::from(value.clone()));
                self.push(c);
            }
            return;
        }
        // The tightest bound of a side: the one with the least distance from x in the model.
        let tightest = |side: &[&Constraint]| -> Option<Constraint> {
            let distance = |c: &&&Constraint| -self.value(&c.form) / c.form.coefficient(x).abs();
            side.iter().min_by_key(distance).map(|c| (*c).clone())
        };
        let (Some(low), Some(high)) = (tightest(&lower), tightest(&upper)) else { return };
        let (low_unit, high_unit) = (low.form.coefficient(x).abs(), high.form.coefficient(x).abs());
        let use_low = (low_unit, lower.len()) <= (high_unit, upper.len());
        let best = if use_low { low } else { high };
        // Of `a * x + rest <= 0`, the slack in the model, modulo `|a| * period`.
        let size = best.form.coefficient(x).abs().numerator().clone();
        let slack = -self.value(&best.form);
        let slack = remainder(slack.numerator(), &(size * period));
        let mut equation = best.form.clone();
        equation.constant += RBig::from(slack);
        let others = bounds.into_iter().filter(|c| *c != best).chain(periodic).collect();
        self.solve(x, &equation, others, Sort::Int);
    }

    fn finish(self, literals: Vec<TermId>) -> Projected {
        let mut result = Projected { literals, constraints: Vec::new() };
        let mut constraints: Vec<Constraint> = Vec::new();
        for c in self.constraints.into_iter().flatten() {
            if c.relation == Relation::Equal {
                // Split into two literals, so that generalisation can drop one of them.
                let opposite = c.form.scaled(&-RBig::ONE);
                let halves = [c.form, opposite];
                let halves = halves.map(|form| {
                    Constraint { form, relation: Relation::AtMost, sort: c.sort }.normal()
                });
                constraints.extend(halves.into_iter().flatten());
            } else {
                constraints.push(c);
            }
        }
        for c in constraints {
            let term = c.term(self.pool);
            result.literals.push(term);
            result.constraints.push((term, c));
        }
        result.literals.sort_unstable();
        result.literals.dedup();
        result
    }
}

#[cfg(test)]
mod tests;
