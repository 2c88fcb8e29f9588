//! Runs within freedoms, by evaluation: a check that shares nothing with the solver, and what varies between them.

use gander_system::{Param, TransitionId, VarId};
use gander_term::{IBig, RBig, Sort, SymbolId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::choices::{Choice, Gives, Giving};
use super::fixed::Fixed;
use super::flat::FlatRun;
use super::freedom::{Bound, Freedom, Freedoms, declared_range};
use super::smooth::value_of;

/// How many runs are tried.
const TRIED: u64 = 12;
/// How many of them go to the checker as well.
pub(crate) const CERTIFIED: usize = 2;
/// How many computed values solvers are asked about.
const ASKED: usize = 300;

/// Runs with values within the freedoms; none where a value could not be computed.
pub(crate) fn samples(
    fixed: &Fixed,
    giving: &Giving,
    run: &FlatRun,
    freedoms: &[(Choice, Freedom)],
) -> Vec<Option<FlatRun>> {
    if freedoms.iter().all(|(_, f)| *f == Freedom::Fixed) {
        return Vec::new();
    }
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut runs = Vec::new();
    for round in 0..TRIED {
        let mut changed: FxHashMap<Choice, Value> = FxHashMap::default();
        for (choice, freedom) in freedoms {
            if *freedom == Freedom::Fixed {
                continue;
            }
            let own = value_of(run, *choice);
            changed.insert(*choice, pick(fixed, &mut dice, round, *choice, run, (freedom, &own)));
        }
        runs.push(giving.rerun(&fixed.system, &fixed.pool, run, &changed));
    }
    runs
}

/// Some value within a freedom: the ends at first, then at random.
fn pick(
    fixed: &Fixed,
    dice: &mut Dice,
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
    let random = dice.next();
    let value = match own.sort() {
        Sort::Bool => Value::Bool(random & 1 == 0),
        Sort::Enum(e) => {
            let count = fixed.system.pool.enumeration(e).variants.len().max(1) as u64;
            Value::Enum(e, (random % count) as u32)
        }
        Sort::BitVec(width) => Value::bits(width, IBig::from(random)),
        Sort::String => Value::str(["", "a", "gander", "\u{1F986}"][(random % 4) as usize]),
        Sort::Array(_) => own.clone(),
        Sort::Int | Sort::Real => {
            let end = |b: &Option<Bound>| b.as_ref().map(|b| rational(&b.value));
            let far = RBig::from(IBig::from(random % 2_000_003));
            let (from, to) = match (end(&low), end(&high)) {
                (Some(a), Some(b)) => (a, b),
                (Some(a), None) => (a.clone(), a + far),
                (None, Some(b)) => (b.clone() - far, b),
                (None, None) => (-far.clone(), far),
            };
            let part = match round {
                0 => RBig::from(0),
                1 => RBig::from(1),
                _ => RBig::from(IBig::from(dice.next() % 1001)) / RBig::from(1000),
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

/// Computed values that are not the same in all runs within the freedoms. Where nobody could find out, they are
/// taken to vary.
pub(crate) fn varying(
    fixed: &mut Fixed,
    giving: &Giving,
    run: &FlatRun,
    found: &Freedoms,
    tried: &[Option<FlatRun>],
) -> Vec<(u32, VarId)> {
    let free: FxHashSet<Choice> = found.list.iter().filter(|(_, f)| *f != Freedom::Fixed).map(|(c, _)| *c).collect();
    if free.is_empty() {
        return Vec::new();
    }
    let follows = touched(fixed, giving, run, &free);
    let mut varying = Vec::new();
    let mut open: Vec<(u32, VarId)> = Vec::new();
    for (i, v) in follows {
        let differs = |r: &FlatRun| r.states[i as usize][v.index()] != run.states[i as usize][v.index()];
        if tried.iter().flatten().any(differs) {
            varying.push((i, v));
        } else {
            open.push((i, v));
        }
    }
    if open.len() > ASKED {
        varying.extend(open.split_off(ASKED));
    }
    for (i, v) in open {
        let value = run.states[i as usize][v.index()].clone();
        let symbol = fixed.system.var(v).current;
        let (var, value) = (fixed.pool.var(symbol), fixed.pool.constant(value));
        let same = fixed.pool.eq(var, value);
        if fixed.is_late() || !fixed.always(&found.assumptions, same, i) {
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

/// By what a start or transition gives: the variable, and what its value is computed from.
fn sources(fixed: &Fixed, giving: &Giving, by: Option<TransitionId>, start: usize) -> Vec<(usize, Vec<Source>)> {
    let (gives, params): (&Gives, &[Param]) = match by {
        None => (&giving.starts[start], &[]),
        Some(t) => (&giving.transitions[t.index()], &fixed.system.transition(t).params),
    };
    let source = |s: SymbolId| match (giving.next.get(&s), giving.current.get(&s)) {
        (Some(&v), _) => Some(Source::Here(v)),
        (_, Some(&v)) if by.is_none() => Some(Source::Here(v)),
        (_, Some(&v)) => Some(Source::Before(v)),
        _ => params.iter().position(|p| p.symbol == s).map(Source::Param),
    };
    let of = |t| fixed.pool.free_symbols(&[t]).into_iter().filter_map(source).collect();
    gives.given.iter().map(|g| (g.var, of(g.value))).collect()
}

/// Computed values that depend on some of the choices, as far as formulas say.
fn touched(fixed: &Fixed, giving: &Giving, run: &FlatRun, free: &FxHashSet<Choice>) -> Vec<(u32, VarId)> {
    let mut known: FxHashMap<Option<TransitionId>, Vec<(usize, Vec<Source>)>> = FxHashMap::default();
    let mut found = Vec::new();
    let mut before: Vec<bool> = vec![false; fixed.system.vars.len()];
    for i in 0..run.states.len() {
        let step = i.checked_sub(1).map(|s| (s as u32, run.steps[s].0));
        let by = step.map(|s| s.1);
        let given = known.entry(by).or_insert_with(|| sources(fixed, giving, by, run.start.index()));
        let mut now: Vec<bool> = fixed.system.var_ids().map(|v| free.contains(&Choice::Var(i as u32, v))).collect();
        for (var, sources) in given {
            let depends = sources.iter().any(|s| match s {
                Source::Here(v) => now[*v],
                Source::Before(v) => before[*v],
                Source::Param(p) => step.is_some_and(|(s, _)| free.contains(&Choice::Param(s, *p as u32))),
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

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }
}
