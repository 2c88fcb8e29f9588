//! Cubes: an implicant of a step that is true in a model, and the values that the step assigns.
//!
//! One true disjunct of a disjunction suffices, and of an `if` the condition and the branch that
//! the model selects; `min`, `max`, `abs`, and `div` and `mod` by constants are resolved in the
//! same way. The result is a conjunction of literals and a value for each variable, without
//! alternatives.

use gander_term::eval::apply;
use gander_term::{IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::functional_step::FunctionalStep;
use super::literal::Literal;
use crate::arith::linear::{LinearForm, Relation};
use crate::arith::number::rational;

/// A value: a linear form if it is numeric, otherwise a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) enum Expr {
    Number(LinearForm),
    Other(TermId),
}

/// See the module's documentation. Literals are sorted and distinct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cube {
    pub literals: Vec<Literal>,
    /// By variable.
    pub values: Vec<Expr>,
}

/// The cube of a functional step in a model; `None` if a term cannot be evaluated.
pub(super) fn cube(
    pool: &mut Pool,
    functional_step: &FunctionalStep,
    model: &FxHashMap<SymbolId, Value>,
) -> Option<Cube> {
    let mut roots = functional_step.values.clone();
    roots.push(functional_step.guard);
    let values = values_of(pool, &roots, model)?;
    if values.get(&functional_step.guard) != Some(&Value::Bool(true)) {
        return None;
    }
    let mut resolver = Resolver {
        pool,
        values,
        literals: Vec::new(),
        formulas: vec![(functional_step.guard, true)],
        seen: FxHashSet::default(),
        numbers: FxHashMap::default(),
    };
    let mut exprs = Vec::with_capacity(functional_step.values.len());
    for &t in &functional_step.values {
        exprs.push(resolver.value(t)?);
    }
    resolver.work()?;
    let mut literals = resolver.literals;
    literals.sort();
    literals.dedup();
    Some(Cube { literals, values: exprs })
}

/// The values of all subterms of the roots.
fn values_of(
    pool: &Pool,
    roots: &[TermId],
    model: &FxHashMap<SymbolId, Value>,
) -> Option<FxHashMap<TermId, Value>> {
    let mut values: FxHashMap<TermId, Value> = FxHashMap::default();
    for t in pool.postorder(roots) {
        let value = match pool.op(t) {
            Op::Symbol(s) => model.get(&s)?.clone(),
            Op::Bool(b) => Value::Bool(b),
            Op::Const(v) => pool.value(v).clone(),
            Op::Forall | Op::Exists => return None,
            op => {
                let args: Vec<Value> =
                    pool.args(t).iter().map(|a| values.get(a).cloned()).collect::<Option<_>>()?;
                apply(op, &args).ok()?
            }
        };
        values.insert(t, value);
    }
    Some(values)
}

struct Resolver<'p> {
    pool: &'p mut Pool,
    values: FxHashMap<TermId, Value>,
    literals: Vec<Literal>,
    /// Formulas still to decompose, with their truth values.
    formulas: Vec<(TermId, bool)>,
    seen: FxHashSet<TermId>,
    numbers: FxHashMap<TermId, LinearForm>,
}

impl Resolver<'_> {
    fn value(&mut self, t: TermId) -> Option<Expr> {
        match self.pool.sort(t) {
            Sort::Int | Sort::Real => self.number(t).map(Expr::Number),
            Sort::Bool => {
                let truth = self.truth(t)?;
                self.formulas.push((t, truth));
                Some(Expr::Other(self.pool.constant(Value::Bool(truth))))
            }
            _ => self.resolve(t).map(Expr::Other),
        }
    }

    fn truth(&self, t: TermId) -> Option<bool> {
        self.values.get(&t)?.as_bool()
    }

    /// Decomposes all formulas.
    fn work(&mut self) -> Option<()> {
        while let Some((t, truth)) = self.formulas.pop() {
            if !self.seen.insert(t) {
                continue;
            }
            let args = self.pool.args(t).to_vec();
            match self.pool.op(t) {
                Op::Bool(_) => {}
                Op::Symbol(_) => self.other(t, truth),
                Op::Not => self.formulas.push((args[0], !truth)),
                Op::And | Op::Or => {
                    let every = (self.pool.op(t) == Op::And) == truth;
                    let deciding: Vec<TermId> =
                        args.into_iter().filter(|a| self.truth(*a) == Some(truth)).collect();
                    let many = if every { deciding.len() } else { 1 };
                    self.formulas.extend(deciding.into_iter().take(many).map(|a| (a, truth)));
                }
                Op::Implies => match (truth, self.truth(args[0])?) {
                    (true, false) => self.formulas.push((args[0], false)),
                    (true, true) => self.formulas.push((args[1], true)),
                    (false, _) => self.formulas.extend([(args[0], true), (args[1], false)]),
                },
                Op::Ite => {
                    let condition = self.truth(args[0])?;
                    self.formulas.push((args[0], condition));
                    self.formulas.push((if condition { args[1] } else { args[2] }, truth));
                }
                Op::Eq if self.pool.sort(args[0]) == Sort::Bool => {
                    for a in args {
                        let value = self.truth(a)?;
                        self.formulas.push((a, value));
                    }
                }
                Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge
                    if is_numeric(self.pool.sort(args[0])) =>
                {
                    self.compare(t, args[0], args[1], truth)?;
                }
                Op::Forall | Op::Exists => return None,
                Op::Eq => {
                    let (a, b) = (self.resolve(args[0])?, self.resolve(args[1])?);
                    let atom = self.pool.eq(a, b);
                    self.other(atom, truth);
                }
                _ => self.other(t, truth),
            }
        }
        Some(())
    }

    fn other(&mut self, atom: TermId, truth: bool) {
        let literal = if truth { atom } else { self.pool.not(atom) };
        if self.pool.as_bool(literal) != Some(true) {
            self.literals.push(Literal::Other(literal));
        }
    }

    fn compare(&mut self, t: TermId, a: TermId, b: TermId, truth: bool) -> Option<()> {
        let (left, right) = (self.number(a)?, self.number(b)?);
        let difference = left.minus(&right);
        let less = self.values.get(&a)? < self.values.get(&b)?;
        let minus = difference.scaled(&-RBig::ONE);
        let (form, relation) = match (self.pool.op(t), truth) {
            (Op::Eq, true) => (difference, Relation::Equal),
            // Choose the side of the inequality that holds in the model.
            (Op::Eq, false) if less => (difference, Relation::Below),
            (Op::Eq, false) => (minus, Relation::Below),
            (Op::Lt, true) | (Op::Ge, false) => (difference, Relation::Below),
            (Op::Le, true) | (Op::Gt, false) => (difference, Relation::AtMost),
            (Op::Gt, true) | (Op::Le, false) => (minus, Relation::Below),
            _ => (minus, Relation::AtMost),
        };
        self.demand(form, relation);
        Some(())
    }

    fn demand(&mut self, form: LinearForm, relation: Relation) {
        // A constant condition is true in the model, so always.
        if form.as_number().is_none() {
            self.literals.push(Literal::number(self.pool, form, relation));
        }
    }

    /// Resolves `if` at the top of a non-numeric term by the model.
    fn resolve(&mut self, t: TermId) -> Option<TermId> {
        let mut t = t;
        while self.pool.op(t) == Op::Ite {
            let [condition, yes, no] = self.pool.args(t)[..] else { return None };
            let truth = self.truth(condition)?;
            self.formulas.push((condition, truth));
            t = if truth { yes } else { no };
        }
        Some(t)
    }

    /// A numeric term as a linear form, built bottom up.
    fn number(&mut self, t: TermId) -> Option<LinearForm> {
        let mut stack = vec![t];
        while let Some(&u) = stack.last() {
            if self.numbers.contains_key(&u) {
                stack.pop();
                continue;
            }
            let parts = self.parts(u)?;
            let missing: Vec<TermId> =
                parts.iter().copied().filter(|p| !self.numbers.contains_key(p)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let form = self.combine(u, &parts)?;
            self.numbers.insert(u, form);
            stack.pop();
        }
        self.numbers.get(&t).cloned()
    }

    /// The numeric subterms that determine a term in the model.
    fn parts(&mut self, t: TermId) -> Option<Vec<TermId>> {
        let args = self.pool.args(t).to_vec();
        Some(match self.pool.op(t) {
            Op::Ite => {
                let condition = self.truth(args[0])?;
                self.formulas.push((args[0], condition));
                vec![if condition { args[1] } else { args[2] }]
            }
            Op::Bv(_) | Op::Select => Vec::new(),
            _ => args,
        })
    }

    fn combine(&mut self, t: TermId, parts: &[TermId]) -> Option<LinearForm> {
        let forms: Vec<LinearForm> = parts.iter().map(|p| self.numbers[p].clone()).collect();
        let mut sum = LinearForm::number(RBig::ZERO);
        match self.pool.op(t) {
            Op::Symbol(_) | Op::Bv(_) | Op::Select => return Some(LinearForm::atom(t)),
            Op::Const(v) => return rational(self.pool.value(v)).map(LinearForm::number),
            Op::Ite | Op::ToReal => return forms.into_iter().next(),
            Op::Neg => sum.add(&-RBig::ONE, &forms[0]),
            Op::Add => forms.iter().for_each(|f| sum.add(&RBig::ONE, f)),
            Op::Sub => sum = forms[0].minus(&forms[1]),
            Op::Mul => return self.product(t, &forms),
            Op::Div => match forms[1].as_number() {
                Some(by) if *by != RBig::ZERO => sum.add(&(RBig::ONE / by), &forms[0]),
                _ => return self.opaque(t, &forms),
            },
            Op::IntDiv | Op::Mod => match forms[1].as_number() {
                Some(by) if *by != RBig::ZERO => {
                    return self.division(t, parts, &forms[0], &by.clone());
                }
                _ => return self.opaque(t, &forms),
            },
            Op::ToInt => {
                let floor = rational(self.values.get(&t)?)?;
                let rest = forms[0].minus(&LinearForm::number(floor.clone()));
                self.demand(rest.scaled(&-RBig::ONE), Relation::AtMost);
                self.demand(rest.minus(&LinearForm::number(RBig::ONE)), Relation::Below);
                return Some(LinearForm::number(floor));
            }
            Op::Abs => {
                let negative = rational(self.values.get(&parts[0])?)? < RBig::ZERO;
                let sign = if negative { -RBig::ONE } else { RBig::ONE };
                sum.add(&sign, &forms[0]);
                self.demand(sum.scaled(&-RBig::ONE), Relation::AtMost);
            }
            Op::Min | Op::Max => {
                let value = self.values.get(&t)?;
                let at = parts.iter().position(|p| self.values.get(p) == Some(value))?;
                let sign = if self.pool.op(t) == Op::Min { RBig::ONE } else { -RBig::ONE };
                for form in &forms {
                    self.demand(forms[at].minus(form).scaled(&sign), Relation::AtMost);
                }
                return forms.into_iter().nth(at);
            }
            _ => return self.opaque(t, &forms),
        }
        Some(sum)
    }

    fn product(&mut self, t: TermId, forms: &[LinearForm]) -> Option<LinearForm> {
        let mut factor = RBig::ONE;
        let mut rest = None;
        for form in forms {
            match form.as_number() {
                Some(c) => factor *= c,
                None if rest.is_none() => rest = Some(form),
                None => return self.opaque(t, forms),
            }
        }
        Some(match rest {
            Some(form) => form.scaled(&factor),
            None => LinearForm::number(factor),
        })
    }

    /// The quotient or remainder by a constant: fixes the quotient to its value in the model, with
    /// the conditions for it.
    fn division(
        &mut self,
        t: TermId,
        parts: &[TermId],
        form: &LinearForm,
        by: &RBig,
    ) -> Option<LinearForm> {
        let quotient = apply(
            Op::IntDiv,
            &[self.values.get(&parts[0])?.clone(), self.values.get(&parts[1])?.clone()],
        );
        let quotient = rational(&quotient.ok()?)?;
        let rest = form.minus(&LinearForm::number(by * &quotient));
        self.demand(rest.scaled(&-RBig::ONE), Relation::AtMost);
        let size = if *by < RBig::ZERO { -by.clone() } else { by.clone() };
        self.demand(rest.minus(&LinearForm::number(size)), Relation::Below);
        Some(if self.pool.op(t) == Op::Mod { rest } else { LinearForm::number(quotient) })
    }

    /// A non-linear term as an atom.
    fn opaque(&mut self, t: TermId, forms: &[LinearForm]) -> Option<LinearForm> {
        let args = self.pool.args(t).to_vec();
        let mut new = Vec::with_capacity(args.len());
        for (form, a) in forms.iter().zip(args) {
            let sort = self.pool.sort(a);
            new.push(form.mixed_term(self.pool, sort)?);
        }
        let op = self.pool.op(t);
        Some(LinearForm::atom(self.pool.mk(op, &new).ok()?))
    }
}

fn is_numeric(sort: Sort) -> bool {
    matches!(sort, Sort::Int | Sort::Real)
}

/// A positive number of rounds.
pub(super) fn as_count(value: &Value) -> Option<u64> {
    let Value::Int(i) = value else { return None };
    (*i >= IBig::ONE).then(|| u64::try_from(i.clone()).ok())?
}
