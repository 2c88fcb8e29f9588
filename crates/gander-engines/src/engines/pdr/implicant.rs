//! Implicants: literals that are true in a model and together imply a formula.
//!
//! The formula is traversed from its roots. The model decides every `or` (one true disjunct
//! suffices), every `if` (the condition and the selected branch) and every `!=` on numbers. The
//! result is a set of literals: linear constraints, Boolean variables and other atoms. Symbols are
//! of three kinds:
//!
//! - kept (the state variables): literals may mention them;
//! - defined (next values that an effect assigns): they are replaced by their definitions;
//! - all others: they are eliminated. Boolean variables among them need no literal, because the
//!   model decides them. A variable in a term that projection does not support (non-linear terms,
//!   bit-vectors, strings, enumerations) is fixed: it is replaced by its value in the model
//!   everywhere.
//!
//! A quotient by a constant `k` becomes a fresh variable `q` with `k q <= t < k q + k`.

use gander_term::{Op, Pool, RBig, Sort, SymbolId, TermId, Value, eval};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arith::linear::{Constraint, LinearForm, Opaque, Relation};
use crate::arith::number::rational;

/// Values of symbols.
pub(super) type Model = FxHashMap<SymbolId, Value>;

/// The kind of each symbol (see the module's documentation), shared by many implicants.
#[derive(Debug, Default)]
pub(super) struct CandidateTerms {
    pub kept: FxHashSet<SymbolId>,
    pub definitions: FxHashMap<SymbolId, TermId>,
    /// The approximate number of occurrences of kept symbols in a term.
    weights: FxHashMap<TermId, u32>,
    /// The fresh variable of each quotient.
    quotients: FxHashMap<TermId, SymbolId>,
}

impl CandidateTerms {
    pub(super) fn new(
        kept: FxHashSet<SymbolId>,
        definitions: FxHashMap<SymbolId, TermId>,
    ) -> CandidateTerms {
        CandidateTerms { kept, definitions, ..CandidateTerms::default() }
    }

    /// The weight of a term. Of several sufficient disjuncts the lightest is chosen, because it
    /// constrains the state least.
    fn weight(&mut self, pool: &Pool, root: TermId) -> u32 {
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.weights.contains_key(&t) {
                stack.pop();
                continue;
            }
            let definition = match pool.op(t) {
                Op::Symbol(s) => self.definitions.get(&s).copied(),
                _ => None,
            };
            let parts: Vec<TermId> = pool.args(t).iter().copied().chain(definition).collect();
            let before = stack.len();
            stack.extend(parts.iter().filter(|p| !self.weights.contains_key(p)));
            if stack.len() > before {
                continue;
            }
            let own = u32::from(pool.as_symbol(t).is_some_and(|s| self.kept.contains(&s)));
            let weight = parts.iter().fold(own, |sum, p| (sum + self.weights[p]).min(1 << 20));
            self.weights.insert(t, weight);
            stack.pop();
        }
        self.weights[&root]
    }
}

/// The feature that has no implicant or projection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct NotProjectable(pub &'static str);

/// The literals of an implicant, before projection.
#[derive(Debug, Default)]
pub(super) struct Implicant {
    pub constraints: Vec<Constraint>,
    /// Over kept symbols only.
    pub literals: Vec<TermId>,
    /// Symbols that are replaced by their values in the model.
    pub fixed: FxHashSet<SymbolId>,
    /// The values of the quotient variables.
    pub quotients: Vec<(SymbolId, Value)>,
}

/// Literals that imply all roots. The roots must be true in the model.
pub(super) fn implicant(
    pool: &mut Pool,
    candidate_terms: &mut CandidateTerms,
    model: &Model,
    roots: &[TermId],
) -> Result<Implicant, NotProjectable> {
    let mut walk = Walk {
        pool,
        candidate_terms,
        model,
        values: FxHashMap::default(),
        forms: FxHashMap::default(),
        rebuilt: FxHashMap::default(),
        todo: Vec::new(),
        seen: FxHashSet::default(),
        found: Implicant::default(),
    };
    walk.imply(roots.iter().map(|&t| (t, true)));
    while let Some((t, positive)) = walk.todo.pop() {
        walk.visit(t, positive)?;
    }
    Ok(walk.found)
}

struct Walk<'a> {
    pool: &'a mut Pool,
    candidate_terms: &'a mut CandidateTerms,
    model: &'a Model,
    values: FxHashMap<TermId, Value>,
    forms: FxHashMap<TermId, LinearForm>,
    rebuilt: FxHashMap<TermId, TermId>,
    /// Formulas still to visit, each with the truth value to imply.
    todo: Vec<(TermId, bool)>,
    seen: FxHashSet<(TermId, bool)>,
    found: Implicant,
}

impl Walk<'_> {
    /// Adds formulas to imply, each with its truth value.
    fn imply(&mut self, formulas: impl IntoIterator<Item = (TermId, bool)>) {
        for formula in formulas {
            if self.seen.insert(formula) {
                self.todo.push(formula);
            }
        }
    }

    /// The value of a term in the model.
    fn value(&mut self, root: TermId) -> Result<Value, NotProjectable> {
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.values.contains_key(&t) {
                stack.pop();
                continue;
            }
            let value = match self.pool.op(t) {
                Op::Symbol(s) => self
                    .model
                    .get(&s)
                    .cloned()
                    .ok_or(NotProjectable("a variable without a value"))?,
                Op::Bool(b) => Value::Bool(b),
                Op::Const(v) => self.pool.value(v).clone(),
                Op::Forall | Op::Exists => return Err(NotProjectable("a quantifier")),
                op => {
                    let before = stack.len();
                    let args = self.pool.args(t);
                    stack.extend(args.iter().filter(|a| !self.values.contains_key(a)));
                    if stack.len() > before {
                        continue;
                    }
                    let args: Vec<Value> = args.iter().map(|a| self.values[a].clone()).collect();
                    eval::apply(op, &args).map_err(|_| NotProjectable("a term without a value"))?
                }
            };
            self.values.insert(t, value);
            stack.pop();
        }
        Ok(self.values[&root].clone())
    }

    fn truth(&mut self, t: TermId) -> Result<bool, NotProjectable> {
        Ok(self.value(t)? == Value::Bool(true))
    }

    /// Adds literals that imply that `t` has the truth value `positive`.
    fn visit(&mut self, t: TermId, positive: bool) -> Result<(), NotProjectable> {
        if self.truth(t)? != positive {
            return Err(NotProjectable("a model that is none"));
        }
        let args = self.pool.args(t).to_vec();
        match self.pool.op(t) {
            Op::Bool(_) => {}
            Op::Symbol(s) => {
                if let Some(&definition) = self.candidate_terms.definitions.get(&s) {
                    self.imply([(definition, positive)]);
                } else if self.candidate_terms.kept.contains(&s) {
                    let literal = if positive { t } else { self.pool.not(t) };
                    self.found.literals.push(literal);
                }
            }
            Op::Not => self.imply([(args[0], !positive)]),
            Op::And if positive => self.imply(args.into_iter().map(|a| (a, true))),
            Op::Or if !positive => self.imply(args.into_iter().map(|a| (a, false))),
            Op::And | Op::Or => {
                let parts: Vec<(TermId, bool)> = args.into_iter().map(|a| (a, positive)).collect();
                self.choose(&parts)?;
            }
            Op::Implies if positive => self.choose(&[(args[0], false), (args[1], true)])?,
            Op::Implies => self.imply([(args[0], true), (args[1], false)]),
            Op::Ite => {
                let condition = self.truth(args[0])?;
                let branch = if condition { args[1] } else { args[2] };
                self.imply([(args[0], condition), (branch, positive)]);
            }
            Op::Eq if self.pool.sort(args[0]) == Sort::Bool => {
                for a in args {
                    let value = self.truth(a)?;
                    self.imply([(a, value)]);
                }
            }
            Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge if self.pool.sort(args[0]).is_numeric() => {
                self.compare(t, positive, args[0], args[1])?;
            }
            _ => {
                let atom = self.rebuild(t)?;
                if self.pool.as_bool(atom).is_none() {
                    let literal = if positive { atom } else { self.pool.not(atom) };
                    self.found.literals.push(literal);
                }
            }
        }
        Ok(())
    }

    /// Selects one disjunct with the required truth value: one that is implied already, or else the
    /// lightest.
    fn choose(&mut self, parts: &[(TermId, bool)]) -> Result<(), NotProjectable> {
        let mut best: Option<(u32, (TermId, bool))> = None;
        for &(t, positive) in parts {
            if self.truth(t)? != positive {
                continue;
            }
            if self.seen.contains(&(t, positive)) {
                return Ok(());
            }
            let weight = self.candidate_terms.weight(self.pool, t);
            if best.is_none_or(|(w, _)| weight < w) {
                best = Some((weight, (t, positive)));
            }
        }
        self.imply(best.map(|(_, part)| part));
        Ok(())
    }

    /// Adds the constraint of a comparison of numbers.
    fn compare(
        &mut self,
        t: TermId,
        positive: bool,
        a: TermId,
        b: TermId,
    ) -> Result<(), NotProjectable> {
        let sort = self.pool.sort(a);
        let (x, y) = (self.form(a)?, self.form(b)?);
        let (form, relation) = match (self.pool.op(t), positive) {
            (Op::Eq, true) => (x.minus(&y), Relation::Equal),
            (Op::Eq, false) => {
                let (va, vb) = (self.value(a)?, self.value(b)?);
                let below = rational(&va) < rational(&vb);
                (if below { x.minus(&y) } else { y.minus(&x) }, Relation::Below)
            }
            (Op::Lt, true) | (Op::Ge, false) => (x.minus(&y), Relation::Below),
            (Op::Le, true) | (Op::Gt, false) => (x.minus(&y), Relation::AtMost),
            (Op::Gt, true) | (Op::Le, false) => (y.minus(&x), Relation::Below),
            _ => (y.minus(&x), Relation::AtMost),
        };
        self.found.constraints.push(Constraint { form, relation, sort });
        Ok(())
    }

    /// A numeric term as a linear form, valid under the literals implied so far.
    fn form(&mut self, root: TermId) -> Result<LinearForm, NotProjectable> {
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.forms.contains_key(&t) {
                stack.pop();
                continue;
            }
            let needed = self.needed(t)?;
            let before = stack.len();
            stack.extend(needed.iter().filter(|n| !self.forms.contains_key(n)));
            if stack.len() > before {
                continue;
            }
            let form = self.combine(t, &needed)?;
            self.forms.insert(t, form);
            stack.pop();
        }
        Ok(self.forms[&root].clone())
    }

    /// The subterms whose linear forms determine that of `t`.
    fn needed(&mut self, t: TermId) -> Result<Vec<TermId>, NotProjectable> {
        let args = self.pool.args(t).to_vec();
        Ok(match self.pool.op(t) {
            Op::Symbol(s) => {
                self.candidate_terms.definitions.get(&s).copied().into_iter().collect()
            }
            Op::Ite => vec![if self.truth(args[0])? { args[1] } else { args[2] }],
            Op::Neg | Op::Add | Op::Sub | Op::Mul | Op::Abs | Op::Min | Op::Max | Op::ToReal => {
                args
            }
            Op::Div | Op::IntDiv | Op::Mod if self.divisor(args[1]).is_some() => vec![args[0]],
            _ => Vec::new(),
        })
    }

    /// The value of a non-zero constant.
    fn divisor(&self, t: TermId) -> Option<RBig> {
        self.pool.as_constant(t).and_then(|v| rational(&v)).filter(|r| *r != RBig::ZERO)
    }

    fn combine(&mut self, t: TermId, needed: &[TermId]) -> Result<LinearForm, NotProjectable> {
        let parts: Vec<LinearForm> = needed.iter().map(|n| self.forms[n].clone()).collect();
        let args = self.pool.args(t).to_vec();
        match self.pool.op(t) {
            Op::Const(_) => {
                let value = self.value(t)?;
                return rational(&value)
                    .map(LinearForm::number)
                    .ok_or(NotProjectable("a number of no known kind"));
            }
            Op::Symbol(_) => {
                return Ok(parts.into_iter().next().unwrap_or_else(|| LinearForm::atom(t)));
            }
            Op::Ite => {
                let condition = self.truth(args[0])?;
                self.imply([(args[0], condition)]);
                return Ok(parts.into_iter().next().unwrap_or_default());
            }
            Op::Neg => return Ok(parts[0].scaled(&-RBig::ONE)),
            Op::Add => {
                let mut sum = LinearForm::default();
                parts.iter().for_each(|p| sum.add(&RBig::ONE, p));
                return Ok(sum);
            }
            Op::Sub => return Ok(parts[0].minus(&parts[1])),
            Op::Mul => {
                let mut factor = RBig::ONE;
                let mut rest: Option<LinearForm> = None;
                let mut linear = true;
                for p in parts {
                    match p.as_number() {
                        Some(c) => factor *= c.clone(),
                        None if rest.is_none() => rest = Some(p),
                        None => linear = false,
                    }
                }
                if linear {
                    return Ok(rest.map_or_else(
                        || LinearForm::number(factor.clone()),
                        |r| r.scaled(&factor),
                    ));
                }
            }
            Op::Abs => {
                let negative = rational(&self.value(args[0])?) < Some(RBig::ZERO);
                let sign = if negative { RBig::ONE } else { -RBig::ONE };
                let (form, sort) = (parts[0].scaled(&sign), self.pool.sort(t));
                self.found.constraints.push(Constraint { form, relation: Relation::AtMost, sort });
                return Ok(parts[0].scaled(&-sign));
            }
            Op::Min | Op::Max => {
                let least = self.pool.op(t) == Op::Min;
                let result = self.value(t)?;
                let mut chosen = 0;
                for (i, &a) in args.iter().enumerate() {
                    if self.value(a)? == result {
                        chosen = i;
                    }
                }
                let sort = self.pool.sort(t);
                for (_, p) in parts.iter().enumerate().filter(|(i, _)| *i != chosen) {
                    let form = if least { parts[chosen].minus(p) } else { p.minus(&parts[chosen]) };
                    self.found.constraints.push(Constraint {
                        form,
                        relation: Relation::AtMost,
                        sort,
                    });
                }
                return Ok(parts[chosen].clone());
            }
            Op::Div if !parts.is_empty() => {
                let by = self.divisor(args[1]).unwrap_or(RBig::ONE);
                return Ok(parts[0].scaled(&(RBig::ONE / by)));
            }
            Op::IntDiv | Op::Mod if !parts.is_empty() => return self.quotient(t, &args, &parts[0]),
            Op::ToReal => {
                let mut form = LinearForm::number(parts[0].constant.clone());
                for (&atom, c) in &parts[0].terms {
                    let real = self
                        .pool
                        .mk(Op::ToReal, &[atom])
                        .map_err(|_| NotProjectable("a conversion"))?;
                    form.terms.insert(real, c.clone());
                }
                return Ok(form);
            }
            _ => {}
        }
        let atom = self.rebuild(t)?;
        // It may be linear now that symbols are fixed.
        Ok(LinearForm::read(self.pool, atom, Opaque::Refuse)
            .unwrap_or_else(|| LinearForm::atom(atom)))
    }

    /// True if no atom is a symbol to eliminate.
    fn is_kept(&self, form: &LinearForm) -> bool {
        form.terms.keys().all(|&atom| {
            self.pool.as_symbol(atom).is_none_or(|s| self.candidate_terms.kept.contains(&s))
        })
    }

    /// The linear form of `t div k` or `t mod k`.
    fn quotient(
        &mut self,
        t: TermId,
        args: &[TermId],
        dividend: &LinearForm,
    ) -> Result<LinearForm, NotProjectable> {
        let k = self.divisor(args[1]).unwrap_or(RBig::ONE);
        if k == RBig::ONE {
            return Ok(if self.pool.op(t) == Op::Mod {
                LinearForm::default()
            } else {
                dividend.clone()
            });
        }
        if self.is_kept(dividend) {
            // Keep the quotient as an atom about the state: bounds on it are more informative than
            // a congruence.
            let dividend = dividend.term(self.pool, Sort::Int);
            let term = self
                .pool
                .mk(self.pool.op(t), &[dividend, args[1]])
                .map_err(|_| NotProjectable("a quotient"))?;
            return Ok(match self.pool.as_constant(dividend) {
                Some(_) => {
                    let value = self.value(term)?;
                    LinearForm::number(rational(&value).unwrap_or(RBig::ZERO))
                }
                None => LinearForm::atom(term),
            });
        }
        let term = self.pool.mk(Op::IntDiv, args).map_err(|_| NotProjectable("a quotient"))?;
        let value = self.value(term)?;
        let symbol = match self.candidate_terms.quotients.get(&term) {
            Some(&s) => s,
            None => {
                let s = self.pool.declare_fresh("quotient", Sort::Int);
                self.candidate_terms.quotients.insert(term, s);
                s
            }
        };
        let q = self.pool.var(symbol);
        // The remainder is from 0 to |k| - 1.
        let mut remainder = dividend.clone();
        remainder.add(&-k.clone(), &LinearForm::atom(q));
        if self.values.insert(q, value.clone()).is_none() {
            self.found.quotients.push((symbol, value));
            let size = if k < RBig::ZERO { -k.clone() } else { k.clone() };
            let mut below = remainder.clone();
            below.constant -= size;
            let not_negative = remainder.scaled(&-RBig::ONE);
            let sort = Sort::Int;
            self.found.constraints.push(Constraint {
                form: not_negative,
                relation: Relation::AtMost,
                sort,
            });
            self.found.constraints.push(Constraint {
                form: below,
                relation: Relation::Below,
                sort,
            });
        }
        Ok(if self.pool.op(t) == Op::Mod { remainder } else { LinearForm::atom(q) })
    }

    /// The term over kept symbols: inserts definitions, resolves `if` by the model, and fixes all
    /// other symbols.
    fn rebuild(&mut self, root: TermId) -> Result<TermId, NotProjectable> {
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.rebuilt.contains_key(&t) {
                stack.pop();
                continue;
            }
            let args = self.pool.args(t).to_vec();
            let op = self.pool.op(t);
            let needed: Vec<TermId> = match op {
                Op::Symbol(s) => {
                    self.candidate_terms.definitions.get(&s).copied().into_iter().collect()
                }
                Op::Ite => vec![if self.truth(args[0])? { args[1] } else { args[2] }],
                Op::Forall | Op::Exists => return Err(NotProjectable("a quantifier")),
                _ => args.clone(),
            };
            let before = stack.len();
            stack.extend(needed.iter().filter(|n| !self.rebuilt.contains_key(n)));
            if stack.len() > before {
                continue;
            }
            let parts: Vec<TermId> = needed.iter().map(|n| self.rebuilt[n]).collect();
            let new = match op {
                Op::Symbol(s) if parts.is_empty() && !self.candidate_terms.kept.contains(&s) => {
                    self.found.fixed.insert(s);
                    let value = self.value(t)?;
                    self.pool.constant(value)
                }
                Op::Symbol(_) => parts.first().copied().unwrap_or(t),
                Op::Ite => {
                    let condition = self.truth(args[0])?;
                    self.imply([(args[0], condition)]);
                    parts[0]
                }
                Op::Bool(_) | Op::Const(_) => t,
                _ if parts.iter().all(|&p| self.pool.as_constant(p).is_some()) => {
                    let value = self.value(t)?;
                    self.pool.constant(value)
                }
                Op::Eq => self.pool.eq(parts[0], parts[1]),
                _ if parts == args => t,
                _ => self
                    .pool
                    .mk(op, &parts)
                    .map_err(|_| NotProjectable("a term of the wrong sort"))?,
            };
            self.rebuilt.insert(t, new);
            stack.pop();
        }
        Ok(self.rebuilt[&root])
    }
}
