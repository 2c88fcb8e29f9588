//! Closed forms: what a loop body does when it is done n times over with the same choices.
//!
//! The value of a variable before round i (counted from 0) is a polynomial in i, kept in the binomial basis: `a0 + a1 * C(i, 1) + a2 *
//! C(i, 2) + ...`, where a0 is a form over the state at the loop's head and the others are numbers. With `x' = x + d`, the
//! coefficients of d are those of x but the first. With `x' = d` (a reset, a copy, a delay), x is what d was a round before,
//! from the second round on; the loop is restricted to states in which that is so in the first round already. A coefficient
//! that is not a number is restricted to its value in the model. So closed forms are linear but for the binomials of n, which are
//! parameters of their own.
//!
//! A literal must hold in rounds 0 to n - 1. If it is `p(i) <= 0` and no coefficient of p but the first is negative, p grows, and the
//! last round is enough; if none is positive, the first is; if p is convex, both together are. Otherwise the loop is
//! declined. This is the monotonicity of Frohn's acceleration calculus (*A calculus for modular loop acceleration*, 2020), decided
//! without a solver.
//!
//! All restrictions make the result smaller: each step of it is a number of rounds of the loop.

use gander_term::{Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::Expr;
use super::linear::{Linear, Literal, Relation};
use super::proof::Hints;

/// The greatest degree of a closed form.
const MAX_DEGREE: usize = 3;

/// A loop body over the state at its head and what is chosen in it.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub literals: Vec<Literal>,
    /// By variable.
    pub values: Vec<Expr>,
}

/// A body done n times over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Closed {
    /// What must hold at the head, `n >= 1` included.
    pub guard: Vec<TermId>,
    /// By variable: the value behind the last round.
    pub values: Vec<TermId>,
    /// The number of rounds, and its binomials C(n, 2), C(n, 3) as far as they are used.
    pub counts: Vec<SymbolId>,
    /// What it suggests for proofs.
    pub hints: Hints,
    /// Coefficients that are restricted to their values in the model.
    pub restricted: Vec<Linear>,
}

/// Why there is no closed form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Declined {
    /// A variable changes in a way that is not covered.
    Change,
    /// A literal does not hold in all rounds for a reason that is covered.
    Literal,
    /// Nothing changes.
    Idle,
}

type Poly = Vec<Linear>;

/// What a closed form is made with.
pub(super) struct Closing<'c> {
    pub pool: &'c mut Pool,
    /// The symbols and sorts of the variables.
    pub vars: &'c [(SymbolId, Sort)],
    /// Values behind the first round, and of what is chosen.
    pub model: &'c FxHashMap<SymbolId, Value>,
    /// The symbols for n, C(n, 2), C(n, 3).
    pub counts: [SymbolId; MAX_DEGREE],
    #[cfg(test)]
    pub bug: Option<crate::seeded_bugs::SeededBug>,
}

impl Closing<'_> {
    /// The closed form of a body.
    pub(super) fn close(&mut self, body: &Body) -> Result<Closed, Declined> {
        // What must hold at the head only.
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
                // What has no polynomial does not change.
                None => self.pool.var(symbol),
                Some(p) => {
                    let behind = self.at(p, Round::Behind);
                    behind.build(self.pool, sort).ok_or(Declined::Change)?
                }
            });
        }
        let degree = polys.iter().flatten().map(|p| p.len() - 1).max().unwrap_or(0).max(1);
        let hints = self.hints(body, &polys, &head);
        Ok(Closed { guard, values, counts: self.counts[..degree].to_vec(), hints, restricted })
    }

    /// What the loop suggests: how variables grow, and bounds on them.
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
        let lookup = |s: SymbolId| self.vars.iter().position(|v| v.0 == s).and_then(|v| polys[v].clone());
        for literal in &body.literals {
            let Literal::Number { form, relation } = literal else {
                literals.push(literal.clone());
                continue;
            };
            match &self.polynomial(form, &lookup)[..] {
                // One round behind the last in which it was looked at.
                [_, d] if d.constant > RBig::ZERO => {
                    literals.push(Literal::number(self.pool, form.minus(d), *relation));
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

    /// By variable: its values round by round; none for what is no number, which does not change.
    fn solve(
        &mut self,
        body: &Body,
        head: &mut Vec<Literal>,
        restricted: &mut Vec<Linear>,
    ) -> Result<Vec<Option<Poly>>, Declined> {
        let index: FxHashMap<SymbolId, usize> = self.vars.iter().enumerate().map(|(i, v)| (v.0, i)).collect();
        let mut solved: Vec<Option<Option<Poly>>> = vec![None; self.vars.len()];
        loop {
            let before = solved.iter().filter(|s| s.is_some()).count();
            for v in 0..self.vars.len() {
                if solved[v].is_none() {
                    solved[v] = self.solve_one(v, &body.values[v], &index, &solved, (head, restricted))?;
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

    /// The values of one variable, if those that it depends on are known.
    #[allow(clippy::type_complexity)]
    fn solve_one(
        &mut self,
        v: usize,
        value: &Expr,
        index: &FxHashMap<SymbolId, usize>,
        solved: &[Option<Option<Poly>>],
        (head, restricted): (&mut Vec<Literal>, &mut Vec<Linear>),
    ) -> Result<Option<Option<Poly>>, Declined> {
        let symbol = self.vars[v].0;
        let x = self.pool.var(symbol);
        // A symbol that is no variable was chosen once for all rounds.
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
        let ready = rest.terms.keys().all(|&t| match self.pool.as_symbol(t).map(|s| index.get(&s)) {
            Some(None) => true,
            Some(Some(&u)) => solved[u].is_some(),
            None => self.pool.free_symbols(&[t]).iter().all(constant),
        });
        if !ready {
            return Ok(None);
        }
        let lookup = |s: SymbolId| index.get(&s).and_then(|&u| solved[u].clone()).flatten();
        let rest = self.polynomial(&rest, &lookup);
        let mut poly = vec![Linear::term(x)];
        if own == RBig::ONE {
            poly.extend(rest);
            trim(&mut poly);
        } else if own == RBig::ZERO {
            let before = self.round_before(&rest);
            head.push(Literal::number(self.pool, Linear::term(x).minus(&before[0]), Relation::Equal));
            poly.extend(before.into_iter().skip(1));
        } else {
            return Err(Declined::Change);
        }
        if poly.len() > MAX_DEGREE + 1 {
            return Err(Declined::Change);
        }
        // Only the model's value of a coefficient that is not a number.
        for a in poly.iter_mut().skip(1) {
            if a.as_number().is_none() {
                let number = a.value(|t| self.value_of(t)).ok_or(Declined::Change)?;
                let number = Linear::number(number);
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

    /// A form in each round. Terms that have no polynomial do not change.
    fn polynomial(&self, form: &Linear, of: &dyn Fn(SymbolId) -> Option<Poly>) -> Poly {
        let mut sum = vec![Linear::number(form.constant.clone())];
        for (&t, c) in &form.terms {
            let poly = self.pool.as_symbol(t).and_then(of).unwrap_or_else(|| vec![Linear::term(t)]);
            if sum.len() < poly.len() {
                sum.resize(poly.len(), Linear::number(RBig::ZERO));
            }
            for (s, p) in sum.iter_mut().zip(&poly) {
                s.add(c, p);
            }
        }
        trim(&mut sum);
        sum
    }

    /// The polynomial whose value in a round is that of `poly` in the round before: `C(i - 1, k)` is
    /// `C(i, k) - C(i, k - 1) + C(i, k - 2) - ...`.
    fn round_before(&self, poly: &[Linear]) -> Poly {
        #[cfg(test)]
        if self.bug == Some(crate::seeded_bugs::SeededBug::DelayForgotten) {
            return poly.to_vec();
        }
        let mut result = vec![Linear::number(RBig::ZERO); poly.len()];
        for (k, a) in poly.iter().enumerate() {
            for (m, r) in result.iter_mut().enumerate().take(k + 1) {
                let sign = if (k - m) % 2 == 0 { RBig::ONE } else { -RBig::ONE };
                r.add(&sign, a);
            }
        }
        result
    }

    /// The value of a polynomial in a round.
    fn at(&mut self, poly: &[Linear], round: Round) -> Linear {
        #[cfg(test)]
        let round = match self.bug {
            Some(crate::seeded_bugs::SeededBug::OneRoundLess) if round == Round::Behind => Round::Last,
            _ => round,
        };
        let poly = match round {
            Round::First => return poly[0].clone(),
            Round::Last => self.round_before(poly),
            Round::Behind => poly.to_vec(),
        };
        let mut sum = poly[0].clone();
        for (a, s) in poly[1..].iter().zip(self.counts) {
            let count = Linear::term(self.pool.var(s));
            // The coefficients but the first are numbers.
            sum.add(&a.constant, &count);
        }
        sum
    }

    /// What makes a literal hold in all rounds.
    fn for_all_rounds(
        &mut self,
        literal: &Literal,
        polys: &[Option<Poly>],
        demands: &mut Vec<Literal>,
    ) -> Result<(), Declined> {
        let place = |s: SymbolId| self.vars.iter().position(|v| v.0 == s);
        let changes = |s: SymbolId| place(s).is_some_and(|v| polys[v].as_ref().is_some_and(|p| p.len() > 1));
        let (form, relation) = match literal {
            Literal::Other(t) => {
                if self.pool.free_symbols(&[*t]).into_iter().any(changes) {
                    return Err(Declined::Literal);
                }
                demands.push(literal.clone());
                return Ok(());
            }
            Literal::Number { form, relation } => (form, *relation),
        };
        let opaque = |&t: &TermId| self.pool.as_symbol(t).is_none();
        if form.terms.keys().filter(|t| opaque(t)).any(|&t| self.pool.free_symbols(&[t]).into_iter().any(changes)) {
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
            // Nothing that moves is zero twice, but for one round it may be.
            Relation::Equal => return Err(Declined::Literal),
            _ if falls => &[Round::First],
            _ if grows => &[Round::Last],
            _ if convex => &[Round::First, Round::Last],
            _ => return Err(Declined::Literal),
        };
        #[cfg(test)]
        let rounds = match self.bug {
            Some(crate::seeded_bugs::SeededBug::OnlyTheFirstRound) => &[Round::First][..],
            _ => rounds,
        };
        for &round in rounds {
            let form = self.at(&poly, round);
            demands.push(Literal::number(self.pool, form, relation));
        }
        Ok(())
    }

    /// `n >= 1`, and what the binomials of n are.
    fn count_terms(&mut self, polys: &[Option<Poly>]) -> Vec<TermId> {
        let degree = polys.iter().flatten().map(|p| p.len() - 1).max().unwrap_or(0);
        let pool = &mut *self.pool;
        let [n, pairs, triples] = self.counts.map(|s| pool.var(s));
        let least = pool.int(1);
        #[cfg(test)]
        let least = if self.bug == Some(crate::seeded_bugs::SeededBug::NoRounds) { pool.int(-100) } else { least };
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
    /// Behind the last.
    Behind,
}

fn trim(poly: &mut Poly) {
    while poly.len() > 1 && poly.last().is_some_and(Linear::is_zero) {
        poly.pop();
    }
}

/// The binomials of a number of rounds, as the counts of a closed form.
pub(super) fn binomials(n: u64, how_many: usize) -> Option<Vec<Value>> {
    let n = i128::from(n);
    let pairs = n.checked_mul(n - 1)? / 2;
    let triples = if how_many >= 3 { pairs.checked_mul(n - 2)? / 3 } else { 0 };
    Some([n, pairs, triples].iter().take(how_many).map(|&c| Value::int(c)).collect())
}
