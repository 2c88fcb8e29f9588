//! Enumeration of all solutions of formulas for some unknowns.
//!
//! An unknown that a formula equates with a term over known symbols is replaced by that term. The
//! other unknowns are enumerated one after the other: over their finite sort, or over a
//! [`CandidateSet`]. A formula is evaluated as soon as all its symbols have values. So the search
//! finds exactly the solutions; it is undecided where an unknown may have infinitely many values.

use gander_term::{EvalError, Op, Pool, Program, Scratch, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::candidates::{CandidateSet, candidates};
use crate::formula::{conjuncts, fold_closed};
use crate::rejection::{Rejection, undecided};

/// Finite sorts with more values are not enumerated.
const MAX_VALUES: u32 = 1 << 16;

/// Candidate sets with more ints are not enumerated.
const MAX_INTS: usize = 1 << 22;

/// Terms that are evaluated over known values.
#[derive(Debug)]
pub(super) struct Compute {
    program: Program,
    inputs: Vec<usize>,
    values: Vec<Value>,
    scratch: Scratch,
}

impl Compute {
    pub(super) fn new(
        pool: &Pool,
        roots: &[TermId],
        places: &FxHashMap<SymbolId, usize>,
    ) -> Result<Compute, Rejection> {
        let program = Program::compile(pool, roots);
        let place = |s: &SymbolId| {
            let missing = || undecided(format!("`{}` has no value here", pool.symbol(*s).name));
            places.get(s).copied().ok_or_else(missing)
        };
        let inputs = program.inputs().iter().map(place).collect::<Result<_, _>>()?;
        Ok(Compute { program, inputs, values: Vec::new(), scratch: Scratch::new() })
    }

    pub(super) fn run(&mut self, env: &[Value]) -> Result<&[Value], Rejection> {
        self.values.clear();
        self.values.extend(self.inputs.iter().map(|&i| env[i].clone()));
        self.program.run(&self.values, &mut self.scratch).map_err(|e| match e {
            EvalError::Unbounded => undecided("a quantifier ranges over too many values to try"),
            other => undecided(other.to_string()),
        })
    }
}

#[derive(Debug)]
enum Values {
    Listed(Vec<Value>),
    Filtered { candidates: CandidateSet, sort: Sort, all: Option<Vec<Value>> },
}

#[derive(Debug)]
struct Stage {
    /// The formulas, then the terms that the candidate set needs.
    compute: Compute,
    formulas: usize,
    /// The unknown that is enumerated next and its values; `None` at the end.
    choice: Option<(usize, Values, String)>,
}

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Search {
    stages: Vec<Stage>,
    outputs: Compute,
    /// Known values first, then those of the enumerated unknowns.
    env: Vec<Value>,
    known: usize,
    left: Vec<Vec<Value>>,
}

impl Search {
    /// A search for the values of `unknowns` with which all formulas hold, given values of the
    /// `known` symbols. `outputs` are terms over both, evaluated for each solution.
    pub(super) fn new(
        pool: &mut Pool,
        known: &[SymbolId],
        unknowns: &[SymbolId],
        formulas: &[TermId],
        outputs: &[TermId],
    ) -> Result<Search, Rejection> {
        let mut places: FxHashMap<SymbolId, usize> =
            known.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        let mut open: FxHashSet<SymbolId> = unknowns.iter().copied().collect();
        let mut rest: Vec<(TermId, Vec<SymbolId>)> = Vec::new();
        for part in formulas.iter().flat_map(|&f| conjuncts(pool, f)) {
            let mentions =
                pool.free_symbols(&[part]).into_iter().filter(|s| open.contains(s)).collect();
            rest.push((part, mentions));
        }
        let mut defined = gander_term::Substitution::new(pool, &FxHashMap::default());
        let mut stages = Vec::new();
        let mut is_false;
        loop {
            solve_equations(pool, &mut rest, &mut open, &mut defined);
            let (ready, later): (Vec<_>, Vec<_>) = rest
                .into_iter()
                .partition(|(_, mentions)| !mentions.iter().any(|s| open.contains(s)));
            rest = later;
            let mut roots: Vec<TermId> =
                ready.into_iter().map(|(t, _)| defined.apply(pool, t)).collect();
            let formulas = roots.len();
            // A false formula: no later stage is reached.
            is_false = roots.iter().any(|&t| {
                let folded = fold_closed(pool, t);
                pool.as_bool(folded) == Some(false)
            });
            let mut choice = None;
            if !open.is_empty() && !is_false {
                let (x, values, terms) = next_choice(pool, unknowns, &rest, &open)?;
                roots.extend(terms.into_iter().map(|t| defined.apply(pool, t)));
                let at = places.len();
                places.insert(x, at);
                open.remove(&x);
                choice = Some((at, values, pool.symbol(x).name.clone()));
            }
            let done = choice.is_none();
            stages.push(Stage { compute: Compute::new(pool, &roots, &places)?, formulas, choice });
            if done {
                break;
            }
        }
        let outputs = if is_false { &[] } else { outputs };
        let outputs: Vec<TermId> = outputs.iter().map(|&t| defined.apply(pool, t)).collect();
        let outputs = Compute::new(pool, &outputs, &places)?;
        let left = vec![Vec::new(); stages.len()];
        Ok(Search {
            stages,
            outputs,
            env: vec![Value::Bool(false); places.len()],
            known: known.len(),
            left,
        })
    }

    /// Calls `found` with the values of the outputs for every solution, until it returns true.
    pub(super) fn run(
        &mut self,
        known: &[Value],
        found: &mut dyn FnMut(&[Value]) -> Result<bool, Rejection>,
    ) -> Result<(), Rejection> {
        if known.len() != self.known {
            return Err(undecided("a search was given the wrong number of values"));
        }
        self.env[..known.len()].clone_from_slice(known);
        let mut depth = 0;
        if !self.enter(0)? {
            return Ok(());
        }
        loop {
            match &self.stages[depth].choice {
                None => {
                    if found(self.outputs.run(&self.env)?)? {
                        return Ok(());
                    }
                }
                Some((at, _, _)) => {
                    if let Some(value) = self.left[depth].pop() {
                        self.env[*at] = value;
                        if self.enter(depth + 1)? {
                            depth += 1;
                        }
                        continue;
                    }
                }
            }
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Ok(()),
            }
        }
    }

    /// True if the formulas of a stage hold; then `left` gets the values of its unknown, in reverse
    /// order.
    fn enter(&mut self, depth: usize) -> Result<bool, Rejection> {
        let stage = &mut self.stages[depth];
        let results = stage.compute.run(&self.env)?;
        let (truths, terms) = results.split_at(stage.formulas);
        if truths.iter().any(|v| *v != Value::Bool(true)) {
            return Ok(false);
        }
        let Some((_, values, name)) = &stage.choice else { return Ok(true) };
        let values = match values {
            Values::Listed(all) => Some(all.clone()),
            Values::Filtered { candidates, sort: Sort::Int, .. } => {
                candidates.ints(terms, MAX_INTS)
            }
            Values::Filtered { candidates, all, .. } => {
                candidates.points(terms).or_else(|| all.clone())
            }
        };
        let Some(mut values) = values else {
            return Err(undecided(format!(
                "`{name}` can have infinitely many values, or too many to be tried"
            )));
        };
        values.reverse();
        self.left[depth] = values;
        Ok(true)
    }
}

/// Replaces unknowns that formulas equate with terms over known symbols, as long as there are any.
fn solve_equations(
    pool: &mut Pool,
    rest: &mut Vec<(TermId, Vec<SymbolId>)>,
    open: &mut FxHashSet<SymbolId>,
    defined: &mut gander_term::Substitution,
) {
    let mut candidates: Vec<(usize, SymbolId, TermId, Vec<SymbolId>)> = Vec::new();
    for (i, (t, mentions)) in rest.iter().enumerate() {
        for (x, e) in equations(pool, *t) {
            if mentions.contains(&x) && open.contains(&x) {
                let needs: Vec<SymbolId> =
                    pool.free_symbols(&[e]).into_iter().filter(|s| open.contains(s)).collect();
                if !needs.contains(&x) {
                    candidates.push((i, x, e, needs));
                }
            }
        }
    }
    let mut used = FxHashSet::default();
    loop {
        let before = used.len();
        for (i, x, e, needs) in &candidates {
            if open.contains(x) && !used.contains(i) && needs.iter().all(|s| !open.contains(s)) {
                let e = defined.apply(pool, *e);
                defined.also(pool, *x, e);
                open.remove(x);
                used.insert(*i);
            }
        }
        if used.len() == before {
            break;
        }
    }
    let mut i = 0;
    rest.retain(|_| {
        i += 1;
        !used.contains(&(i - 1))
    });
}

/// `x == e`, `e == x`, `x`, `not x`, each as a symbol and the term that it equals.
fn equations(pool: &mut Pool, t: TermId) -> Vec<(SymbolId, TermId)> {
    match (pool.op(t), pool.args(t)) {
        (Op::Symbol(s), _) => vec![(s, pool.tt())],
        (Op::Not, &[a]) => match pool.as_symbol(a) {
            Some(s) => vec![(s, pool.ff())],
            None => Vec::new(),
        },
        (Op::Eq, &[a, b]) => {
            let mut found = Vec::new();
            found.extend(pool.as_symbol(a).map(|s| (s, b)));
            found.extend(pool.as_symbol(b).map(|s| (s, a)));
            found
        }
        _ => Vec::new(),
    }
}

/// The unknown to enumerate next, its values, and the terms that they depend on.
fn next_choice(
    pool: &mut Pool,
    unknowns: &[SymbolId],
    rest: &[(TermId, Vec<SymbolId>)],
    open: &FxHashSet<SymbolId>,
) -> Result<(SymbolId, Values, Vec<TermId>), Rejection> {
    // The smallest sort first: its value may bound the others.
    let mut order: Vec<(u32, SymbolId)> = unknowns
        .iter()
        .filter(|s| open.contains(s))
        .map(|&s| (pool.symbol(s).sort.size_within(pool, MAX_VALUES).unwrap_or(u32::MAX), s))
        .collect();
    order.sort_by_key(|o| o.0);
    for &(size, x) in &order {
        let sort = pool.symbol(x).sort;
        let all = sort.values_within(pool, MAX_VALUES);
        if size <= 2
            && let Some(all) = all
        {
            return Ok((x, Values::Listed(all), Vec::new()));
        }
        let about: Vec<TermId> =
            rest.iter().filter(|(_, m)| m.contains(&x)).map(|(t, _)| *t).collect();
        let (candidates, terms) = candidates(pool, x, &about, open);
        if all.is_some() || candidates.is_finite(sort) {
            return Ok((x, Values::Filtered { candidates, sort, all }, terms));
        }
    }
    let name = order.last().map_or("", |(_, x)| &pool.symbol(*x).name);
    Err(undecided(format!("`{name}` can have infinitely many values, or too many to be tried")))
}
