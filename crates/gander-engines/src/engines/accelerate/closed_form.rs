//! Closed forms: the effect of n rounds of a loop body with the same choices.
//!
//! The value of a variable before round i (counted from 0) is a polynomial in i, in the binomial
//! basis: `a0 + a1 * C(i, 1) + a2 * C(i, 2) + ...`. Here a0 is a form over the state at the loop's
//! head, and the other coefficients are numbers. For `x' = x + d`, the coefficients of d are those
//! of x without the first. For `x' = d` (a reset, a copy, a delay), x is the value of d one round
//! before, from the second round on; the loop is restricted to states where this also holds in the
//! first round. A coefficient that is not a number is restricted to its value in the model. So
//! closed forms are linear except for the binomials of n, which are separate parameters.
//!
//! A literal must hold in rounds 0 to n - 1. For a literal `p(i) <= 0`: if no coefficient of p
//! after the first is negative, p is increasing and the last round suffices; if none is positive,
//! the first round suffices; if p is convex, both together suffice. Otherwise the loop is declined.
//! This is the monotonicity of Frohn's calculus (*A calculus for modular loop acceleration*, 2020),
//! decided without a solver.
//!
//! Invariant: every restriction only removes steps, so each remaining step is a number of rounds of
//! the loop.

use gander_term::{Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::Expr;
use super::limits::LIMITS;
use super::literal::Literal;
use super::proof::Hints;
use crate::arith::linear::{LinearForm, Relation};
use crate::arith::number::rational;

/// A loop body over the state at its head and its choices.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub literals: Vec<Literal>,
    /// By variable.
    pub values: Vec<Expr>,
}

/// The effect of n rounds of a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Closed {
    /// The conditions at the head, including `n >= 1`.
    pub guard: Vec<TermId>,
    /// By variable: its value after the last round.
    pub values: Vec<TermId>,
    /// The symbols for n, C(n, 2) and C(n, 3), as far as they are used.
    pub counts: Vec<SymbolId>,
    /// Suggestions for proofs.
    pub hints: Hints,
    /// Coefficients that are restricted to their values in the model.
    pub restricted: Vec<LinearForm>,
}

/// Why there is no closed form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Declined {
    /// A variable changes in an unsupported way.
    Change,
    /// A literal cannot be shown to hold in all rounds.
    Literal,
    /// Nothing changes.
    Idle,
}

type Poly = Vec<LinearForm>;

/// The inputs of a closed form.
pub(super) struct Closing<'c> {
    pub pool: &'c mut Pool,
    /// The symbols and sorts of the variables.
    pub vars: &'c [(SymbolId, Sort)],
    /// The values after the first round, and of the choices.
    pub model: &'c FxHashMap<SymbolId, Value>,
    /// The symbols for n, C(n, 2), C(n, 3).
    pub counts: [SymbolId; LIMITS.degree],
}

impl Closing<'_> {
    /// The closed form of a body.
    pub(super) fn close(&mut self, body: &Body) -> Result<Closed, Declined> {
        // Conditions at the head only.
        let mut demands: Vec<Literal> = Vec::new();
        let mut restricted = Vec::new();
        let polys = self.solve(body, &mut demands, &mut restricted)?;
        let head = demands.clone();
        let moves = |p: &Option<Poly>| p.as_ref().is_some_and(|p| p.len() > 1);
        if !polys.iter().any(moves) {
            return Err(Declined::Idle);
        }
        let mut seen = FxHashSet::default();
        for literal in &body.literals {
            self.for_all_rounds(literal, &polys, &mut demands)?;
        }
        let mut guard = self.count_terms(&polys);
        for demand in demands {
            let term = demand.build(self.pool).ok_or(Declined::Literal)?;
            if seen.insert(term) && self.pool.as_bool(term) != Some(true) {
                guard.push(term);
            }
        }
        let mut values = Vec::with_capacity(polys.len());
        for (poly, (symbol, sort)) in polys.iter().zip(self.vars.to_vec()) {
            values.push(match poly {
                // A variable without a polynomial does not change.
                None => self.pool.var(symbol),
                Some(p) => {
                    let behind = self.at(p, Round::Behind);
                    behind.mixed_term(self.pool, sort).ok_or(Declined::Change)?
                }
            });
        }
        let degree = polys.iter().flatten().map(|p| p.len() - 1).max().unwrap_or(0).max(1);
        let hints = self.hints(body, &polys, &head);
        Ok(Closed { guard, values, counts: self.counts[..degree].to_vec(), hints, restricted })
    }

    /// Suggestions for invariants: how variables grow, and bounds on them.
    fn hints(&mut self, body: &Body, polys: &[Option<Poly>], head: &[Literal]) -> Hints {
        let mut hints = Hints::default();
        for (v, poly) in polys.iter().enumerate() {
            match poly.as_deref() {
                Some([_, d]) => hints.growth.push((v, d.constant.clone())),
                Some([_, _, _, ..]) => hints.growth.push((v, RBig::ZERO)),
                _ => {}
            }
        }
        let of_vars = |s: &SymbolId| self.vars.iter().any(|v| v.0 == *s);
        let mut literals: Vec<Literal> = head.to_vec();
        let lookup =
            |s: SymbolId| self.vars.iter().position(|v| v.0 == s).and_then(|v| polys[v].clone());
        for literal in &body.literals {
            let Literal::Number { form, relation } = literal else {
                literals.push(literal.clone());
                continue;
            };
            match &self.polynomial(form, &lookup)[..] {
                // Allow one round beyond the last at which the bound is tested.
                [_, d] if d.constant > RBig::ZERO => {
                    literals.push(Literal::number(self.pool, form.minus(d), relation.clone()));
                }
                [_] | [_, _] => literals.push(literal.clone()),
                _ => {}
            }
        }
        for literal in literals {
            if let Some(term) = literal.build(self.pool)
                && self.pool.free_symbols(&[term]).iter().all(of_vars)
                && !hints.bounds.contains(&term)
            {
                hints.bounds.push(term);
            }
        }
        hints
    }

    /// By variable: its polynomial; `None` for a non-numeric variable, which does not change.
    fn solve(
        &mut self,
        body: &Body,
        head: &mut Vec<Literal>,
        restricted: &mut Vec<LinearForm>,
    ) -> Result<Vec<Option<Poly>>, Declined> {
        let index: FxHashMap<SymbolId, usize> =
            self.vars.iter().enumerate().map(|(i, v)| (v.0, i)).collect();
        let mut solved: Vec<Option<Option<Poly>>> = vec![None; self.vars.len()];
        loop {
            let before = solved.iter().filter(|s| s.is_some()).count();
            for v in 0..self.vars.len() {
                if solved[v].is_none() {
                    solved[v] =
                        self.solve_one(v, &body.values[v], &index, &solved, (head, restricted))?;
                }
            }
            let after = solved.iter().filter(|s| s.is_some()).count();
            if after == self.vars.len() {
                return Ok(solved.into_iter().flatten().collect());
            }
            if after == before {
                return Err(Declined::Change);
            }
        }
    }

    /// The polynomial of a variable, if those that it depends on are solved.
    #[allow(clippy::type_complexity)]
    fn solve_one(
        &mut self,
        v: usize,
        value: &Expr,
        index: &FxHashMap<SymbolId, usize>,
        solved: &[Option<Option<Poly>>],
        (head, restricted): (&mut Vec<Literal>, &mut Vec<LinearForm>),
    ) -> Result<Option<Option<Poly>>, Declined> {
        let symbol = self.vars[v].0;
        let x = self.pool.var(symbol);
        // A symbol that is not a variable is a choice, constant over all rounds.
        let constant = |s: &SymbolId| match index.get(s) {
            None => true,
            Some(&u) => solved[u].as_ref().is_some_and(|p| p.as_ref().is_none_or(|p| p.len() == 1)),
        };
        let form = match value {
            Expr::Other(t) if *t == x => return Ok(Some(None)),
            Expr::Other(t) => {
                if !self.pool.free_symbols(&[*t]).iter().all(constant) {
                    return Ok(None);
                }
                let reset = self.pool.eq(x, *t);
                head.push(Literal::Other(reset));
                return Ok(Some(None));
            }
            Expr::Number(form) => form,
        };
        let own = form.coefficient(x);
        let mut rest = form.clone();
        rest.terms.remove(&x);
        let ready =
            rest.terms.keys().all(|&t| match self.pool.as_symbol(t).map(|s| index.get(&s)) {
                Some(None) => true,
                Some(Some(&u)) => solved[u].is_some(),
                None => self.pool.free_symbols(&[t]).iter().all(constant),
            });
        if !ready {
            return Ok(None);
        }
        let lookup = |s: SymbolId| index.get(&s).and_then(|&u| solved[u].clone()).flatten();
        let rest = self.polynomial(&rest, &lookup);
        let mut poly = vec![LinearForm::atom(x)];
        if own == RBig::ONE {
            poly.extend(rest);
            trim(&mut poly);
        } else if own == RBig::ZERO {
            let before = self.round_before(&rest);
            head.push(Literal::number(
                self.pool,
                LinearForm::atom(x).minus(&before[0]),
                Relation::Equal,
            ));
            poly.extend(before.into_iter().skip(1));
        } else {
            return Err(Declined::Change);
        }
        if poly.len() > LIMITS.degree + 1 {
            return Err(Declined::Change);
        }
        // Restrict a non-constant coefficient to its value in the model.
        for a in poly.iter_mut().skip(1) {
            if a.as_number().is_none() {
                let number = a.value(|t| rational(&self.value_of(t)?)).ok_or(Declined::Change)?;
                let number = LinearForm::number(number);
                head.push(Literal::number(self.pool, a.minus(&number), Relation::Equal));
                restricted.push(std::mem::replace(a, number));
            }
        }
        trim(&mut poly);
        Ok(Some(Some(poly)))
    }

    fn value_of(&self, t: TermId) -> Option<Value> {
        gander_term::evaluate(self.pool, t, &|s| self.model.get(&s).cloned()).ok()
    }

    /// The polynomial of a form. Terms without a polynomial do not change.
    fn polynomial(&self, form: &LinearForm, of: &dyn Fn(SymbolId) -> Option<Poly>) -> Poly {
        let mut sum = vec![LinearForm::number(form.constant.clone())];
        for (&t, c) in &form.terms {
            let poly =
                self.pool.as_symbol(t).and_then(of).unwrap_or_else(|| vec![LinearForm::atom(t)]);
            if sum.len() < poly.len() {
                sum.resize(poly.len(), LinearForm::number(RBig::ZERO));
            }
            for (s, p) in sum.iter_mut().zip(&poly) {
                s.add(c, p);
            }
        }
        trim(&mut sum);
        sum
    }

    /// The polynomial whose value in round i is that of `poly` in round i - 1: `C(i - 1, k)` is
    /// `C(i, k) - C(i, k - 1) + C(i, k - 2) - ...`.
    fn round_before(&self, poly: &[LinearForm]) -> Poly {
        let mut result = vec![LinearForm::number(RBig::ZERO); poly.len()];
        for (k, a) in poly.iter().enumerate() {
            for (m, r) in result.iter_mut().enumerate().take(k + 1) {
                let sign = if (k - m) % 2 == 0 { RBig::ONE } else { -RBig::ONE };
                r.add(&sign, a);
            }
        }
        result
    }

    /// The value of a polynomial in a round.
    fn at(&mut self, poly: &[LinearForm], round: Round) -> LinearForm {
        let poly = match round {
            Round::First => return poly[0].clone(),
            Round::Last => self.round_before(poly),
            Round::Behind => poly.to_vec(),
        };
        let mut sum = poly[0].clone();
        for (a, s) in poly[1..].iter().zip(self.counts) {
            let count = LinearForm::atom(self.pool.var(s));
            // All coefficients after the first are numbers.
            sum.add(&a.constant, &count);
        }
        sum
    }

    /// Adds the conditions under which a literal holds in all rounds.
    fn for_all_rounds(
        &mut self,
        literal: &Literal,
        polys: &[Option<Poly>],
        demands: &mut Vec<Literal>,
    ) -> Result<(), Declined> {
        let place = |s: SymbolId| self.vars.iter().position(|v| v.0 == s);
        let changes =
            |s: SymbolId| place(s).is_some_and(|v| polys[v].as_ref().is_some_and(|p| p.len() > 1));
        let (form, relation) = match literal {
            Literal::Other(t) => {
                if self.pool.free_symbols(&[*t]).into_iter().any(changes) {
                    return Err(Declined::Literal);
                }
                demands.push(literal.clone());
                return Ok(());
            }
            Literal::Number { form, relation } => (form, relation),
        };
        let opaque = |&t: &TermId| self.pool.as_symbol(t).is_none();
        if form
            .terms
            .keys()
            .filter(|t| opaque(t))
            .any(|&t| self.pool.free_symbols(&[t]).into_iter().any(changes))
        {
            return Err(Declined::Literal);
        }
        let lookup = |s: SymbolId| place(s).and_then(|v| polys[v].clone());
        let poly = self.polynomial(form, &lookup);
        let signs: Vec<&RBig> = poly[1..].iter().map(|a| &a.constant).collect();
        let grows = signs.iter().all(|c| **c >= RBig::ZERO);
        let falls = signs.iter().all(|c| **c <= RBig::ZERO);
        let convex = poly.len() == 3 && *signs[1] >= RBig::ZERO;
        let rounds: &[Round] = match relation {
            _ if poly.len() == 1 => &[Round::First],
            // A changing value is not zero in two successive rounds.
            Relation::Equal => return Err(Declined::Literal),
            _ if falls => &[Round::First],
            _ if grows => &[Round::Last],
            _ if convex => &[Round::First, Round::Last],
            _ => return Err(Declined::Literal),
        };
        for &round in rounds {
            let form = self.at(&poly, round);
            demands.push(Literal::number(self.pool, form, relation.clone()));
        }
        Ok(())
    }

    /// `n >= 1`, and the definitions of the binomials of n.
    fn count_terms(&mut self, polys: &[Option<Poly>]) -> Vec<TermId> {
        let degree = polys.iter().flatten().map(|p| p.len() - 1).max().unwrap_or(0);
        let pool = &mut *self.pool;
        let [n, pairs, triples] = self.counts.map(|s| pool.var(s));
        let least = pool.int(1);
        let mut terms = vec![pool.le(least, n)];
        let one = pool.int(1);
        let before = pool.sub(n, one);
        if degree >= 2 {
            let (product, two) = (pool.mul(n, before), pool.int(2));
            let twice = pool.mul(two, pairs);
            terms.push(pool.eq(twice, product));
        }
        if degree >= 3 {
            let (two, three) = (pool.int(2), pool.int(3));
            let (less, thrice) = (pool.sub(n, two), pool.mul(three, triples));
            let product = pool.mul(pairs, less);
            terms.push(pool.eq(thrice, product));
        }
        terms
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Round {
    First,
    Last,
    /// After the last round.
    Behind,
}

fn trim(poly: &mut Poly) {
    while poly.len() > 1 && poly.last().is_some_and(LinearForm::is_zero) {
        poly.pop();
    }
}

/// The binomials of a number of rounds: the values of a closed form's counts.
pub(super) fn binomials(n: u64, how_many: usize) -> Option<Vec<Value>> {
    let n = i128::from(n);
    let pairs = n.checked_mul(n - 1)? / 2;
    let triples = if how_many >= 3 { pairs.checked_mul(n - 2)? / 3 } else { 0 };
    Some([n, pairs, triples].iter().take(how_many).map(|&c| Value::int(c)).collect())
}
