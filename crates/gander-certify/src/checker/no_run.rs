//! Whether a system has a run at all.
//!
//! A system has a run iff some start has a start state: a state at its target that satisfies its
//! constraint and all assumptions (docs/semantics.md, section 2). If the target is the entry node
//! that a front-end has added (the facts of Horn clauses are steps from it), a step has to leave
//! it. Most starts consist of equations that give every variable a value: one evaluation finds the
//! start state. All others are obligations.

use std::time::Instant;

use gander_system::{StartId, System};
use gander_term::{Op, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::discharge::CheckContext;
use crate::formula::relation::{Relation, start_formula};
use crate::rejection::{Rejection, wrong};
use crate::{Certified, Checker};

/// The number of passes over the equations of a start. An equation may need the value that a later
/// one gives.
const PASSES: usize = 4;

impl Checker {
    /// Checks that the system has no run; [`Rejection::Wrong`] if it has one.
    pub fn check_no_run(&mut self, system: &System) -> Result<Certified, Rejection> {
        let deadline = self.tools.limits.total.and_then(|t| Instant::now().checked_add(t));
        let cancellation = self.tools.until(deadline);
        let checked = cancellation.run_cancellable(|| {
            let mut cx = CheckContext::new(system, &self.tools, deadline);
            cx.reuse(std::mem::take(&mut self.idle));
            let outcome = refute_starts(&mut cx);
            let certified = Certified {
                queries: cx.queries,
                certificates: cx.certificates,
                basis: cx.basis(),
                warnings: std::mem::take(&mut cx.warnings),
            };
            if !matches!(outcome, Err(Rejection::Undecided(_))) && self.tools.log.is_none() {
                self.idle = cx.into_sessions();
            }
            outcome.map(|()| certified)
        });
        checked.unwrap_or_else(|stopped| Err(self.tools.when_stopped(stopped)))
    }
}

fn refute_starts(cx: &mut CheckContext<'_>) -> Result<(), Rejection> {
    let system = cx.system;
    let mut formulas: Vec<(TermId, String)> = Vec::new();
    for (i, start) in system.starts().iter().enumerate() {
        let first = start_formula(cx, StartId::from(i));
        if system.entry() != Some(start.target) {
            formulas.push((first, format!("`{}` has a start state", start.name)));
            continue;
        }
        for &t in system.leaving(start.target) {
            let relation = Relation::new(cx, t);
            let step = cx.pool.and([first, relation.formula]);
            formulas.push((step, format!("a run begins with `{}`", system.transition(t).name)));
        }
    }
    if let Some((_, found)) = formulas.iter().find(|(f, _)| is_satisfied_by_its_equations(cx, *f)) {
        return Err(wrong(found));
    }
    // One run refutes the claim, so continue after a formula that no solver decides.
    let mut open = None;
    for (formula, found) in formulas {
        match cx.refute(formula, &found) {
            Ok(()) => {}
            Err(Rejection::Undecided(why)) => open = Some(Rejection::Undecided(why)),
            Err(found) => return Err(found),
        }
    }
    open.map_or(Ok(()), Err)
}

/// True if the formula evaluates to true when variables have the values that its equations give
/// them, and a default value otherwise.
fn is_satisfied_by_its_equations(cx: &CheckContext<'_>, formula: TermId) -> bool {
    let pool = &cx.pool;
    let mut parts = Vec::new();
    let mut stack = vec![formula];
    while let Some(t) = stack.pop() {
        match pool.op(t) {
            Op::And => stack.extend(pool.args(t).iter().rev()),
            _ => parts.push(t),
        }
    }
    let mut known: FxHashMap<SymbolId, Value> = FxHashMap::default();
    for _ in 0..PASSES {
        let before = known.len();
        parts.retain(|&part| !take_equation(cx, part, &mut known));
        if known.len() == before {
            break;
        }
    }
    let look = |s: SymbolId| Some(known.get(&s).cloned().unwrap_or_else(|| cx.any_value(s)));
    evaluate(pool, formula, &look) == Ok(Value::Bool(true))
}

/// Records the value that an equation gives a variable. True if that was done.
fn take_equation(
    cx: &CheckContext<'_>,
    part: TermId,
    known: &mut FxHashMap<SymbolId, Value>,
) -> bool {
    let pool = &cx.pool;
    let (symbol, value) = match (pool.op(part), pool.args(part)) {
        (Op::Symbol(s), _) => (s, Some(Value::Bool(true))),
        (Op::Not, &[inner]) => match pool.as_symbol(inner) {
            Some(s) => (s, Some(Value::Bool(false))),
            None => return false,
        },
        (Op::Eq, &[a, b]) => {
            let sides = [(pool.as_symbol(a), b), (pool.as_symbol(b), a)];
            let open = sides
                .into_iter()
                .find_map(|(s, t)| s.filter(|s| !known.contains_key(s)).map(|s| (s, t)));
            let Some((s, term)) = open else { return false };
            (s, evaluate(pool, term, &|s| known.get(&s).cloned()).ok())
        }
        _ => return false,
    };
    match value {
        Some(value) if !known.contains_key(&symbol) => known.insert(symbol, value).is_none(),
        _ => false,
    }
}
