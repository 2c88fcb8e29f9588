//! Samples runs within freedoms by evaluation: an independent check of the solver's answer. Also
//! finds the computed values that vary within the freedoms.

use gander_runtime::Random;
use gander_system::{Param, TransitionId, VarId};
use gander_term::{IBig, RBig, Sort, SymbolId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::choices::{Choice, DefinitionTable, Definitions};
use super::fixed::Fixed;
use super::flat::FlatRun;
use super::freedom::{Bound, Freedom, Freedoms, declared_range};
use super::smooth::value_of;

/// Number of sampled runs.
const SAMPLES: u64 = 12;
/// Number of samples that are also passed to the checker.
pub(crate) const CERTIFIED_SAMPLES: usize = 2;
/// Limits the computed values for which a solver is queried.
const MAX_QUERIES: usize = 300;

/// Runs with values within the freedoms; `None` where a value could not be computed.
pub(crate) fn samples(
    fixed: &Fixed,
    table: &DefinitionTable,
    run: &FlatRun,
    freedoms: &[(Choice, Freedom)],
) -> Vec<Option<FlatRun>> {
    if freedoms.iter().all(|(_, f)| *f == Freedom::Fixed) {
        return Vec::new();
    }
    let mut random = Random::new(0);
    let mut runs = Vec::new();
    for round in 0..SAMPLES {
        let mut changed: FxHashMap<Choice, Value> = FxHashMap::default();
        for (choice, freedom) in freedoms {
            if *freedom == Freedom::Fixed {
                continue;
            }
            let own = value_of(run, *choice);
            changed.insert(*choice, pick(fixed, &mut random, round, *choice, run, (freedom, &own)));
        }
        runs.push(table.rerun(&fixed.system, &fixed.pool, run, &changed));
    }
    runs
}

/// A value within a freedom: the ends in the first two rounds, then random ones.
fn pick(
    fixed: &Fixed,
    random: &mut Random,
    round: u64,
    choice: Choice,
    run: &FlatRun,
    (freedom, own): (&Freedom, &Value),
) -> Value {
    let closed = |value: Value| Some(Bound { value, open: false });
    let (mut low, mut high) = match freedom {
        Freedom::Within { low, high } => (low.clone(), high.clone()),
        _ => (None, None),
    };
    if let Some(range) = declared_range(fixed, choice, run) {
        let number = |n: IBig| match own {
            Value::Real(_) => Value::Real(RBig::from(n)),
            _ => Value::Int(n),
        };
        low = low.or(closed(number(range.low)));
        high = high.or(closed(number(range.high)));
    }
    let bits = random.next_u64();
    let value = match own.sort() {
        Sort::Bool => Value::Bool(bits & 1 == 0),
        Sort::Enum(e) => {
            let count = fixed.system.pool().enumeration(e).variants.len().max(1) as u64;
            Value::Enum(e, (bits % count) as u32)
        }
        Sort::BitVec(width) => Value::bits(width, IBig::from(bits)),
        Sort::String => Value::str(["", "a", "gander", "\u{1F986}"][(bits % 4) as usize]),
        Sort::Array(_) => own.clone(),
        Sort::Int | Sort::Real => {
            let end = |b: &Option<Bound>| b.as_ref().map(|b| rational(&b.value));
            let far = RBig::from(IBig::from(bits % 2_000_003));
            let (from, to) = match (end(&low), end(&high)) {
                (Some(a), Some(b)) => (a, b),
                (Some(a), None) => (a.clone(), a + far),
                (None, Some(b)) => (b.clone() - far, b),
                (None, None) => (-far.clone(), far),
            };
            let part = match round {
                0 => RBig::from(0),
                1 => RBig::from(1),
                _ => RBig::from(IBig::from(random.next_u64() % 1001)) / RBig::from(1000),
            };
            let found = from.clone() + (to - from) * part;
            match own {
                Value::Int(_) => Value::Int(found.floor()),
                _ => Value::Real(found),
            }
        }
    };
    let inside = Freedom::Within { low, high };
    if inside.allows(own, &value) { value } else { own.clone() }
}

fn rational(value: &Value) -> RBig {
    match value {
        Value::Int(i) => RBig::from(i.clone()),
        Value::Real(r) => r.clone(),
        _ => RBig::from(0),
    }
}

/// The computed values that are not the same in all runs within the freedoms. Undecided values are
/// included.
pub(crate) fn varying(
    fixed: &mut Fixed,
    table: &DefinitionTable,
    run: &FlatRun,
    found: &Freedoms,
    tried: &[Option<FlatRun>],
) -> Vec<(u32, VarId)> {
    let free: FxHashSet<Choice> =
        found.list.iter().filter(|(_, f)| *f != Freedom::Fixed).map(|(c, _)| *c).collect();
    if free.is_empty() {
        return Vec::new();
    }
    let follows = touched(fixed, table, run, &free);
    let mut varying = Vec::new();
    let mut open: Vec<(u32, VarId)> = Vec::new();
    for (i, v) in follows {
        let differs =
            |r: &FlatRun| r.states[i as usize][v.index()] != run.states[i as usize][v.index()];
        if tried.iter().flatten().any(differs) {
            varying.push((i, v));
        } else {
            open.push((i, v));
        }
    }
    if open.len() > MAX_QUERIES {
        varying.extend(open.split_off(MAX_QUERIES));
    }
    for (i, v) in open {
        let value = run.states[i as usize][v.index()].clone();
        let symbol = fixed.system.var(v).current;
        let (var, value) = (fixed.pool.var(symbol), fixed.pool.constant(value));
        let same = fixed.pool.eq(var, value);
        if fixed.deadline_passed() || !fixed.always(&found.assumptions, same, i) {
            varying.push((i, v));
        }
    }
    varying.sort_by_key(|(i, v)| (*i, v.index()));
    varying
}

/// What the value of a variable is computed from.
enum Source {
    /// A variable in the same state.
    Here(usize),
    /// A variable in the state before.
    Before(usize),
    /// A parameter of the step.
    Param(usize),
}

/// The variables that a start or transition defines, and what their values are computed from.
fn sources(
    fixed: &Fixed,
    table: &DefinitionTable,
    by: Option<TransitionId>,
    start: usize,
) -> Vec<(usize, Vec<Source>)> {
    let (definitions, params): (&Definitions, &[Param]) = match by {
        None => (&table.starts[start], &[]),
        Some(t) => (&table.transitions[t.index()], &fixed.system.transition(t).params),
    };
    let source = |s: SymbolId| match (table.next.get(&s), table.current.get(&s)) {
        (Some(&v), _) => Some(Source::Here(v)),
        (_, Some(&v)) if by.is_none() => Some(Source::Here(v)),
        (_, Some(&v)) => Some(Source::Before(v)),
        _ => params.iter().position(|p| p.symbol == s).map(Source::Param),
    };
    let of = |t| fixed.pool.free_symbols(&[t]).into_iter().filter_map(source).collect();
    definitions.defined.iter().map(|g| (g.var, of(g.value))).collect()
}

/// Computed values whose formulas depend on some of the choices.
fn touched(
    fixed: &Fixed,
    table: &DefinitionTable,
    run: &FlatRun,
    free: &FxHashSet<Choice>,
) -> Vec<(u32, VarId)> {
    let mut known: FxHashMap<Option<TransitionId>, Vec<(usize, Vec<Source>)>> =
        FxHashMap::default();
    let mut found = Vec::new();
    let mut before: Vec<bool> = vec![false; fixed.system.vars().len()];
    for i in 0..run.states.len() {
        let step = i.checked_sub(1).map(|s| (s as u32, run.steps[s].0));
        let by = step.map(|s| s.1);
        let given = known.entry(by).or_insert_with(|| sources(fixed, table, by, run.start.index()));
        let mut now: Vec<bool> =
            fixed.system.var_ids().map(|v| free.contains(&Choice::Var(i as u32, v))).collect();
        for (var, sources) in given {
            let depends = sources.iter().any(|s| match s {
                Source::Here(v) => now[*v],
                Source::Before(v) => before[*v],
                Source::Param(p) => {
                    step.is_some_and(|(s, _)| free.contains(&Choice::Param(s, *p as u32)))
                }
            });
            if depends {
                now[*var] = true;
                found.push((i as u32, VarId::from(*var)));
            }
        }
        before = now;
    }
    found
}
