//! Finds shorter and smoother runs: fewest steps, then fewest changes of choices, then small
//! values.

use std::sync::Arc;

use gander_smt::{Answer, Literal, Template};
use gander_term::{IBig, RBig, SymbolId, TermId, Value};

use super::choices::{Choice, DefinitionTable};
use super::flat::FlatRun;
use super::maxsat::{Optimum, maximise};
use super::search::Search;

/// Numbers tried in place of larger ones, the simplest first.
const SMALL: [i32; 8] = [0, 1, -1, 2, 3, 5, 10, 100];
/// Limits the bisection steps towards a target number.
const MAX_HALVINGS: usize = 40;

/// The result of a search for shorter runs.
pub(crate) struct Shorter {
    pub run: Option<FlatRun>,
    /// True if no run is shorter than `run`, or than the given run if that is `None`.
    pub least: bool,
}

/// Searches for the shortest run of fewer than `than` steps.
pub(crate) fn shorter(search: &mut Search, than: u32) -> Shorter {
    let mut least = true;
    for steps in 0..than {
        let Some(assumptions) = search.ending(steps) else { continue };
        if search.deadline_passed() || !search.is_alive() {
            return Shorter { run: None, least: false };
        }
        match search.check(&assumptions) {
            Answer::Unsat => {}
            Answer::Sat => match search.read(steps) {
                Some(run) => return Shorter { run: Some(run), least },
                None => least = false,
            },
            Answer::Unknown(_) => least = false,
        }
    }
    Shorter { run: None, least }
}

/// A run with the fewest changes found.
pub(crate) struct Smoother {
    pub run: FlatRun,
    /// True if no run of this length has fewer.
    pub least: bool,
}

/// Searches for a run of the same length with the fewest changes, and among these for one with
/// small values.
pub(crate) fn smoother(
    search: &mut Search,
    table: &DefinitionTable,
    steps: u32,
) -> Option<Smoother> {
    let hard = search.ending(steps)?;
    smooth_towards(search, table, hard, steps)
}

/// Searches for the smoothest run of this length that satisfies the hard literals.
pub(crate) fn smooth_towards(
    search: &mut Search,
    table: &DefinitionTable,
    hard: Vec<Literal>,
    steps: u32,
) -> Option<Smoother> {
    let soft = soft(search, table, steps);
    let Optimum::Best(best) = maximise(search, &hard, &soft) else { return None };
    let run = search.read(steps)?;
    let mut assumptions = hard;
    assumptions.extend(best.assumptions);
    let run = smaller_values(search, table, assumptions, run);
    Some(Smoother { run, least: best.least })
}

/// One soft literal for each possible change in a run of this length: the change does not happen.
fn soft(search: &mut Search, table: &DefinitionTable, steps: u32) -> Vec<Literal> {
    let system = Arc::clone(&search.system);
    let mut templates: Vec<(Template, u32)> = Vec::new();
    for (v, var) in system.vars().iter().enumerate() {
        let open: Vec<usize> =
            (0..system.transitions().len()).filter(|&t| table.transitions[t].chosen[v]).collect();
        if open.is_empty() {
            continue;
        }
        let pool = &mut search.pool;
        let (now, next) = (pool.var(var.current), pool.var(var.next));
        let mut stays = pool.eq(now, next);
        if open.len() < system.transitions().len() {
            let takes: Vec<TermId> = open.iter().map(|&t| pool.var(search.takes[t])).collect();
            let taken = pool.or(takes);
            stays = pool.implies(taken, stays);
        }
        templates.push((search.compile(stays), steps));
    }
    let takes = search.takes.clone();
    let later: Vec<_> = takes.iter().map(|&t| search.later(t, 1)).collect();
    if takes.len() > 1 {
        let pool = &mut search.pool;
        let mut same = Vec::new();
        for (&a, &b) in takes.iter().zip(&later) {
            let (a, b) = (pool.var(a), pool.var(b));
            same.push(pool.and([a, b]));
        }
        let same = pool.or(same);
        templates.push((search.compile(same), steps.saturating_sub(1)));
    }
    for (t, transition) in system.transitions().iter().enumerate() {
        for p in &transition.params {
            let next = search.later(p.symbol, 1);
            let pool = &mut search.pool;
            let (now, next) = (pool.var(p.symbol), pool.var(next));
            let stays = pool.eq(now, next);
            let (a, b) = (pool.var(takes[t]), pool.var(later[t]));
            let both = pool.and([a, b]);
            let stays = pool.implies(both, stays);
            templates.push((search.compile(stays), steps.saturating_sub(1)));
        }
    }
    let mut soft = Vec::new();
    for (template, count) in templates {
        for i in 0..count {
            soft.push(search.literal_at(&template, i));
        }
    }
    soft
}

/// Replaces the values of choices by simpler ones, one after the other, without more changes.
fn smaller_values(
    search: &mut Search,
    table: &DefinitionTable,
    mut assumptions: Vec<Literal>,
    run: FlatRun,
) -> FlatRun {
    let system = Arc::clone(&search.system);
    assumptions.extend(search.same_transitions(&run));
    let mut best = run;
    for choice in table.choices(&system, &best) {
        let mut value = value_of(&best, choice);
        for wanted in candidates(&value) {
            if search.deadline_passed() || !search.is_alive() {
                return best;
            }
            // The choice has this value already.
            if wanted == value {
                break;
            }
            let literal = equals(search, choice, &best, &wanted);
            assumptions.push(literal);
            let found = match search.check(&assumptions) {
                Answer::Sat => search.read(best.len()),
                _ => None,
            };
            assumptions.pop();
            if let Some(run) = found {
                best = run;
                value = value_of(&best, choice);
                break;
            }
        }
        if let Value::Int(_) = &value {
            let zero = Target { number: IBig::from(0), enough: IBig::from(SMALL[SMALL.len() - 1]) };
            towards(search, choice, &mut assumptions, &mut best, &zero);
            value = value_of(&best, choice);
        }
        let literal = equals(search, choice, &best, &value);
        assumptions.push(literal);
    }
    best
}

/// A number to approach, and the distance that is close enough.
pub(crate) struct Target {
    pub number: IBig,
    pub enough: IBig,
}

/// Moves a choice towards a number by bisection.
pub(crate) fn towards(
    search: &mut Search,
    choice: Choice,
    assumptions: &mut Vec<Literal>,
    best: &mut FlatRun,
    target: &Target,
) {
    let one = IBig::from(1);
    // The largest distance for which no run was found.
    let mut refused = IBig::from(0);
    for _ in 0..MAX_HALVINGS {
        let Value::Int(value) = value_of(best, choice) else { return };
        let below = value < target.number;
        let distance = size(&(value - target.number.clone()));
        let gap = distance.clone() - refused.clone();
        if distance <= target.enough || gap <= one || search.deadline_passed() || !search.is_alive()
        {
            return;
        }
        let middle = refused.clone() + gap / IBig::from(2);
        let (low, high) = match below {
            true => (target.number.clone() - middle.clone(), target.number.clone()),
            false => (target.number.clone(), target.number.clone() + middle.clone()),
        };
        let symbol = symbol_of(search, choice, best);
        let pool = &mut search.pool;
        let (symbol, low, high) = (pool.var(symbol), pool.int(low), pool.int(high));
        let (above, below) = (pool.le(low, symbol), pool.le(symbol, high));
        let between = pool.and([above, below]);
        let template = search.compile(between);
        let literal = search.literal_at(&template, choice.at());
        assumptions.push(literal);
        let found = match search.check(assumptions) {
            Answer::Sat => search.read(best.len()),
            _ => None,
        };
        assumptions.pop();
        match found {
            Some(run) => *best = run,
            None => refused = middle,
        }
    }
}

fn symbol_of(search: &Search, choice: Choice, run: &FlatRun) -> SymbolId {
    match choice {
        Choice::Var(_, v) => search.system.var(v).current,
        Choice::Param(i, p) => {
            search.system.transition(run.steps[i as usize].0).params[p as usize].symbol
        }
    }
}

/// The value of a choice in a run.
pub(crate) fn value_of(run: &FlatRun, choice: Choice) -> Value {
    match choice {
        Choice::Var(i, v) => run.states[i as usize][v.index()].clone(),
        Choice::Param(i, p) => run.steps[i as usize].1[p as usize].clone(),
    }
}

/// A literal that requires the choice to have this value.
pub(crate) fn equals(search: &mut Search, choice: Choice, run: &FlatRun, value: &Value) -> Literal {
    let symbol = symbol_of(search, choice, run);
    let (symbol, value) = (search.pool.var(symbol), search.pool.constant(value.clone()));
    let same = search.pool.eq(symbol, value);
    let template = search.compile(same);
    search.literal_at(&template, choice.at())
}

/// Simpler values than this one, the simplest first.
fn candidates(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(true) => vec![Value::Bool(false)],
        Value::Bool(false) => Vec::new(),
        Value::Enum(e, i) => (0..*i).map(|j| Value::Enum(*e, j)).take(8).collect(),
        Value::Int(i) => {
            let small = SMALL.map(IBig::from);
            small.into_iter().filter(|n| n == i || size(n) < size(i)).map(Value::Int).collect()
        }
        Value::Real(r) => {
            let zero = RBig::from(0);
            let size = |n: &RBig| if *n < zero { -n.clone() } else { n.clone() };
            let keep = |n: &RBig| n == r || size(n) < size(r) || !r.is_int();
            let mut all: Vec<RBig> = SMALL.map(RBig::from).into_iter().filter(keep).collect();
            if !r.is_int() {
                all.extend([RBig::from(r.floor()), RBig::from(r.ceil())]);
            }
            all.into_iter().map(Value::Real).collect()
        }
        Value::BitVec(v) => {
            let zero = Value::bits(v.width(), 0);
            let one = Value::bits(v.width(), 1);
            [zero, one].into_iter().collect()
        }
        Value::Str(s) if s.is_empty() => Vec::new(),
        Value::Str(_) => vec![Value::str("")],
        Value::Array(_) => Vec::new(),
    }
}

fn size(n: &IBig) -> IBig {
    if *n < IBig::from(0) { -n.clone() } else { n.clone() }
}
