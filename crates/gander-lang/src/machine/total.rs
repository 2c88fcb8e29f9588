//! A syntactic test for total relations: from every state, for all inputs, there is a step.
//!
//! The test is sound: if it succeeds, every state that satisfies the invariants has a step to a
//! state that satisfies them. It succeeds if each conjunct of the relation determines or restricts
//! one next value that no other conjunct mentions, and some value satisfies the conjunct and the
//! invariants about that variable, which mention no other variable.

use super::Machine;
use crate::smtlib::relation::conjuncts;
use gander_runtime::check_cancelled;
use gander_term::{Op, Pool, Simplifier, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// True if the form of the formulas shows that every state has a step for all inputs.
pub(super) fn is_total(machine: &Machine) -> bool {
    let Some(mut form) = Form::of(machine) else { return false };
    let mut of_next: FxHashMap<SymbolId, Vec<TermId>> = FxHashMap::default();
    for t in conjuncts(&form.pool, &machine.trans) {
        check_cancelled();
        match form.primed(t)[..] {
            [next] => of_next.entry(next).or_default().push(t),
            _ => return false,
        }
    }
    machine.variables.iter().all(|v| {
        match v.next.and_then(|next| Some((next, of_next.get(&next)?))) {
            Some((next, formulas)) => form.has_value(v.current, next, formulas),
            None => form.has_any_value(v.current),
        }
    })
}

/// The nesting depth of formulas that are examined.
const MAX_DEPTH: usize = 200;

/// A variable for which a next value is searched.
struct SearchedVariable {
    variable: SymbolId,
    next: SymbolId,
}

struct Form {
    pool: Pool,
    nexts: FxHashSet<SymbolId>,
    /// The invariants about each variable.
    about: FxHashMap<SymbolId, Vec<TermId>>,
}

impl Form {
    /// `None` if some invariant relates several variables.
    fn of(machine: &Machine) -> Option<Form> {
        let pool = machine.pool.clone();
        let nexts = machine.variables.iter().filter_map(|v| v.next).collect();
        let mut about: FxHashMap<SymbolId, Vec<TermId>> = FxHashMap::default();
        for t in conjuncts(&pool, &machine.invariant) {
            match pool.free_symbols(&[t])[..] {
                [symbol] => about.entry(symbol).or_default().push(t),
                _ => return None,
            }
        }
        Some(Form { pool, nexts, about })
    }

    fn primed(&self, t: TermId) -> Vec<SymbolId> {
        let mut found = self.pool.free_symbols(&[t]);
        found.retain(|s| self.nexts.contains(s));
        found
    }

    /// True if the formulas hold with this value for the only symbol in them.
    fn are_true(&mut self, formulas: &[TermId], symbol: SymbolId, value: TermId) -> bool {
        let map = FxHashMap::from_iter([(symbol, value)]);
        formulas.iter().all(|t| {
            let t = self.pool.substitute(*t, &map);
            let t = Simplifier::new().simplify(&mut self.pool, t);
            self.pool.as_bool(t) == Some(true)
        })
    }

    /// The constants in formulas.
    fn constants(&self, formulas: &[TermId]) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut stack = formulas.to_vec();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            if self.pool.as_constant(t).is_some() {
                found.push(t);
            }
            stack.extend(self.pool.args(t));
        }
        found
    }

    /// True if the invariants allow some value of the variable.
    fn has_any_value(&mut self, variable: SymbolId) -> bool {
        let Some(formulas) = self.about.get(&variable).cloned() else { return true };
        let sort = self.pool.symbol(variable).sort;
        let values = self.constants(&formulas);
        values
            .into_iter()
            .any(|v| self.pool.sort(v) == sort && self.are_true(&formulas, variable, v))
    }

    /// True if some next value of the variable satisfies these formulas in every state, and the
    /// invariants.
    fn has_value(&mut self, variable: SymbolId, next: SymbolId, formulas: &[TermId]) -> bool {
        let sort = self.pool.symbol(next).sort;
        if formulas.iter().all(|t| self.pool.free_symbols(&[*t]) == [next]) {
            let mut values = self.constants(formulas);
            values.extend([self.pool.tt(), self.pool.ff()]);
            return values.into_iter().any(|v| {
                self.pool.sort(v) == sort
                    && self.are_true(formulas, next, v)
                    && self.is_allowed(variable, v)
            });
        }
        match formulas {
            [one] => self.satisfiable(
                &SearchedVariable { variable, next },
                *one,
                0,
                &mut FxHashMap::default(),
            ),
            _ => false,
        }
    }

    /// True if some next value satisfies a formula in every state; `known` caches results.
    fn satisfiable(
        &mut self,
        of: &SearchedVariable,
        formula: TermId,
        depth: usize,
        known: &mut FxHashMap<TermId, bool>,
    ) -> bool {
        check_cancelled();
        if let Some(&answer) = known.get(&formula) {
            return answer;
        }
        if depth > MAX_DEPTH {
            return false;
        }
        let args: Vec<TermId> = self.pool.args(formula).to_vec();
        let is_next = |pool: &Pool, t: TermId| pool.as_symbol(t) == Some(of.next);
        let restricted = self.about.contains_key(&of.variable);
        let answer = match (self.pool.op(formula), &args[..]) {
            (Op::Symbol(s), _) => s == of.next && !restricted,
            (Op::Not, [a]) if is_next(&self.pool, *a) => !restricted,
            (Op::Eq, [a, b]) => [(*a, *b), (*b, *a)].into_iter().any(|(left, right)| {
                is_next(&self.pool, left)
                    && self.primed(right).is_empty()
                    && self.is_allowed(of.variable, right)
            }),
            (Op::Or, _) => args.iter().any(|a| self.satisfiable(of, *a, depth + 1, known)),
            (Op::Ite, [c, a, b]) => {
                self.primed(*c).is_empty()
                    && self.satisfiable(of, *a, depth + 1, known)
                    && self.satisfiable(of, *b, depth + 1, known)
            }
            _ if self.pool.free_symbols(&[formula]) == [of.next] => {
                self.has_value(of.variable, of.next, &[formula])
            }
            _ => false,
        };
        known.insert(formula, answer);
        answer
    }

    /// True if the invariants allow this value of the variable in every state.
    fn is_allowed(&mut self, variable: SymbolId, value: TermId) -> bool {
        let Some(formulas) = self.about.get(&variable).cloned() else { return true };
        let mut stack = vec![value];
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        while let Some(t) = stack.pop() {
            check_cancelled();
            if !seen.insert(t) {
                continue;
            }
            match self.pool.op(t) {
                Op::Ite => stack.extend(&self.pool.args(t)[1..]),
                Op::Symbol(s) if s == variable => {}
                Op::Symbol(s) => {
                    // Another variable with the same invariants.
                    let other = FxHashMap::from_iter([(variable, t)]);
                    let said = self.about.get(&s).cloned().unwrap_or_default();
                    if !formulas.iter().all(|f| said.contains(&self.pool.substitute(*f, &other))) {
                        return false;
                    }
                }
                _ if self.pool.as_constant(t).is_some()
                    && self.are_true(&formulas, variable, t) => {}
                _ => return false,
            }
        }
        true
    }
}
