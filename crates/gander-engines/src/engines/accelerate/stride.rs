//! Strides: choices that make a loop advance as far as possible in one round.
//!
//! A closed form restricts coefficients that depend on choices to their values in a model, and the
//! model may have a small step where a large one is allowed. To get shorter runs, the choices in
//! each such coefficient are moved away from zero, up to the bounds that literals over unchanged
//! symbols impose. The result is only a suggestion for another model: the closed form states all
//! conditions, whatever the model.

use gander_term::{Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::closed_form::Body;
use super::cube::Expr;
use super::literal::Literal;
use crate::arith::linear::{LinearForm, Relation};
use crate::arith::number::rational;

/// A loop body, and the symbols of the variables in order.
pub(super) struct Striding<'s> {
    pub pool: &'s mut Pool,
    pub vars: &'s [(SymbolId, Sort)],
    pub body: &'s Body,
}

impl Striding<'_> {
    /// The model with the choices in these coefficients moved away from zero; `None` if nothing
    /// changes.
    pub(super) fn farthest(
        &mut self,
        coefficients: &[LinearForm],
        model: &FxHashMap<SymbolId, Value>,
    ) -> Option<FxHashMap<SymbolId, Value>> {
        let mut moving: FxHashSet<SymbolId> = FxHashSet::default();
        for (&(s, _), value) in self.vars.iter().zip(&self.body.values) {
            let x = self.pool.var(s);
            let stays = match value {
                Expr::Number(form) => *form == LinearForm::atom(x),
                Expr::Other(t) => *t == x,
            };
            if !stays {
                moving.insert(s);
            }
        }
        let mut result = model.clone();
        let mut settled: FxHashSet<SymbolId> = self.vars.iter().map(|v| v.0).collect();
        for form in coefficients {
            let Some(now) = self.value(form, &result) else { continue };
            if now == RBig::ZERO {
                continue;
            }
            for (&t, c) in &form.terms {
                let Some(s) = self.pool.as_symbol(t).filter(|s| settled.insert(*s)) else {
                    continue;
                };
                let up = (now > RBig::ZERO) == (*c > RBig::ZERO);
                if let Some(value) =
                    self.limit(t, if up { Side::Above } else { Side::Below }, &moving, &result)
                {
                    result.insert(s, value);
                }
            }
        }
        (result != *model).then_some(result)
    }

    fn value(&self, form: &LinearForm, model: &FxHashMap<SymbolId, Value>) -> Option<RBig> {
        form.value(|t| {
            let value = gander_term::evaluate(self.pool, t, &|s| model.get(&s).cloned()).ok()?;
            rational(&value)
        })
    }

    /// The extreme value of a choice on one side, if there is one.
    fn limit(
        &self,
        t: TermId,
        side: Side,
        moving: &FxHashSet<SymbolId>,
        model: &FxHashMap<SymbolId, Value>,
    ) -> Option<Value> {
        let mut tightest: Option<(RBig, Relation)> = None;
        for literal in &self.body.literals {
            let Literal::Number { form, relation } = literal else { continue };
            let factor = form.coefficient(t);
            let mut rest = form.clone();
            rest.terms.remove(&t);
            let symbols = self.pool.free_symbols(&rest.terms.keys().copied().collect::<Vec<_>>());
            let bounds_side =
                (factor > RBig::ZERO) == (side == Side::Above) || *relation == Relation::Equal;
            if factor == RBig::ZERO || !bounds_side || symbols.iter().any(|s| moving.contains(s)) {
                continue;
            }
            let limit = -self.value(&rest, model)? / factor;
            let closer = tightest.as_ref().is_none_or(|(known, strictly)| {
                let tighter = if side == Side::Above { limit < *known } else { limit > *known };
                tighter || limit == *known && *strictly != Relation::Below
            });
            if closer {
                tightest = Some((limit, relation.clone()));
            }
        }
        let (limit, relation) = tightest?;
        let strictly = relation == Relation::Below;
        match (self.pool.sort(t), side) {
            // A strict bound on reals has no extreme value.
            (Sort::Real, _) => (!strictly).then_some(Value::Real(limit)),
            (Sort::Int, Side::Above) if strictly => Some(Value::int(limit.ceil() - 1)),
            (Sort::Int, Side::Above) => Some(Value::int(limit.floor())),
            (Sort::Int, Side::Below) if strictly => Some(Value::int(limit.floor() + 1)),
            (Sort::Int, Side::Below) => Some(Value::int(limit.ceil())),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Above,
    Below,
}
