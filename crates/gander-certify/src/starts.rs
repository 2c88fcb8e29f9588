//! Whether a system has a run at all.
//!
//! A system has a run iff some start has a start state: a state at its target that satisfies its constraint and all
//! assumptions (docs/semantics.md, section 2). Where a front-end has put a node before the first states (the facts of
//! Horn clauses are steps from such a node), a step has to leave it. Most starts are equations that give every variable its value, so that one
//! evaluation shows a start state; otherwise it is an obligation like any other.

use std::time::Instant;

use gander_system::{StartId, System};
use gander_term::{Op, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::case::Case;
use crate::rejection::{Rejection, wrong};
use crate::{Certified, Checker, relation};

/// How often the equations of a start are gone through: one may need the value that a later one gives.
const PASSES: usize = 4;

impl Checker {
    /// Checks that the system has no run: [`Rejection::Wrong`] if it has one.
    pub fn check_no_run(&mut self, system: &System) -> Result<Certified, Rejection> {
        let deadline = self.tools.limits.total.and_then(|t| Instant::now().checked_add(t));
        let sign = self.tools.until(deadline);
        let checked = sign.run_cancellable(|| {
            let mut case = Case::new(system, &self.tools, deadline);
            case.reuse(std::mem::take(&mut self.idle));
            let outcome = refute_starts(&mut case);
            let certified = Certified {
                queries: case.queries,
                certificates: case.certificates,
                basis: case.basis(),
                warnings: std::mem::take(&mut case.warnings),
            };
            if !matches!(outcome, Err(Rejection::Undecided(_))) && self.tools.log.is_none() {
                self.idle = case.into_sessions();
            }
            outcome.map(|()| certified)
        });
        checked.unwrap_or_else(|stopped| Err(self.tools.when_stopped(stopped)))
    }
}

fn refute_starts(case: &mut Case<'_>) -> Result<(), Rejection> {
    let system = case.system;
    let mut formulas: Vec<(TermId, String)> = Vec::new();
    for (i, start) in system.starts.iter().enumerate() {
        let first = start_formula(case, StartId::from(i));
        if system.entry != Some(start.target) {
            formulas.push((first, format!("`{}` has a start state", start.name)));
            continue;
        }
        for &t in system.leaving(start.target) {
            let relation = relation::Relation::new(case, t);
            let step = case.pool.and([first, relation.formula]);
            formulas.push((step, format!("a run begins with `{}`", system.transition(t).name)));
        }
    }
    if let Some((_, found)) = formulas.iter().find(|(f, _)| is_satisfied_by_its_equations(case, *f)) {
        return Err(wrong(found));
    }
    // One run is enough: continue after a formula that no solver decides.
    let mut open = None;
    for (formula, found) in formulas {
        match case.refute(formula, &found) {
            Ok(()) => {}
            Err(Rejection::Undecided(why)) => open = Some(Rejection::Undecided(why)),
            Err(found) => return Err(found),
        }
    }
    open.map_or(Ok(()), Err)
}

/// What a start state satisfies.
pub(crate) fn start_formula(case: &mut Case<'_>, s: StartId) -> TermId {
    let constraint = case.system.start_term(&mut case.pool, s);
    let assumptions = relation::admissible(case, case.system.starts[s.index()].target);
    case.pool.and([constraint, assumptions])
}

/// Gives variables the values that equations of the formula state, all others some value, and evaluates.
fn is_satisfied_by_its_equations(case: &Case<'_>, formula: TermId) -> bool {
    let pool = &case.pool;
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
        parts.retain(|&part| !take_equation(case, part, &mut known));
        if known.len() == before {
            break;
        }
    }
    let look = |s: SymbolId| Some(known.get(&s).cloned().unwrap_or_else(|| case.any_value(s)));
    evaluate(pool, formula, &look) == Ok(Value::Bool(true))
}

/// Takes down the value that an equation gives a variable. True if the equation has nothing more to say.
fn take_equation(case: &Case<'_>, part: TermId, known: &mut FxHashMap<SymbolId, Value>) -> bool {
    let pool = &case.pool;
    let (symbol, value) = match (pool.op(part), pool.args(part)) {
        (Op::Symbol(s), _) => (s, Some(Value::Bool(true))),
        (Op::Not, &[inner]) => match pool.as_symbol(inner) {
            Some(s) => (s, Some(Value::Bool(false))),
            None => return false,
        },
        (Op::Eq, &[a, b]) => {
            let sides = [(pool.as_symbol(a), b), (pool.as_symbol(b), a)];
            let open = sides.into_iter().find_map(|(s, t)| s.filter(|s| !known.contains_key(s)).map(|s| (s, t)));
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
