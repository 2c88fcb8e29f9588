//! Compares closed forms with single rounds, and checks the lengths of runs with loops.

use std::sync::Arc;

use gander_smt::Solvers;
use gander_system::{
    ClaimId, ClaimKind, ClaimOrigin, Evidence, NodeId, Role, State, System, SystemBuilder,
    TransitionId, Verdict,
};
use gander_term::{Pool, Sort, SymbolId, TermId, Value, evaluate, parse_term};
use rustc_hash::FxHashMap;

use crate::{Cancellation, CheckConfig, NullObserver, check};

use super::closed_form::binomials;
use super::loops::{Loop, LoopLibrary, Taken};

/// One node; a transition with this guard and these values of `x`, `y`, `z`, and the parameter `p`.
fn system(guard: &str, values: [&str; 3]) -> Arc<System> {
    let mut b = SystemBuilder::new("s", Pool::new(), &[("N", None)]).unwrap();
    let vars = ["x", "y", "z"].map(|v| b.var(v, Sort::Int, Role::State, None, None).unwrap());
    b.start("go", NodeId(0), &[], None).unwrap();
    let mut draft = b.transition("step", None, NodeId(0), NodeId(0), None).unwrap();
    let p = b.param(&mut draft, "p", Sort::Int, None).unwrap();
    let named = b.pool.symbol(p).name.clone();
    let read = |b: &mut SystemBuilder, text: &str| {
        let text = text.replace('p', &named);
        parse_term(&mut b.pool, &text).unwrap_or_else(|e| panic!("{text}: {e:?}"))
    };
    let g = read(&mut b, guard);
    b.guard(&mut draft, g, None).unwrap();
    for (v, text) in vars.into_iter().zip(values) {
        let value = read(&mut b, text);
        b.assign(&mut draft, v, value, None).unwrap();
    }
    b.add(draft).unwrap();
    Arc::new(b.finish())
}

fn state(values: [i64; 3]) -> State {
    State { node: NodeId(0), values: values.map(Value::int).to_vec() }
}

/// A step from a state, if the guard holds.
fn step(w: &mut LoopLibrary, from: &State, p: i64) -> Option<State> {
    let functional_step = w.functional_step(0);
    let symbols: Vec<SymbolId> =
        w.system.vars().iter().map(|v| v.current).chain(functional_step.params).collect();
    let values: Vec<Value> = from.values.iter().cloned().chain([Value::int(p)]).collect();
    let model: FxHashMap<SymbolId, Value> = symbols.into_iter().zip(values).collect();
    let value = |t: TermId| evaluate(&w.pool, t, &|s| model.get(&s).cloned()).unwrap();
    (value(functional_step.guard) == Value::Bool(true)).then(|| State {
        node: NodeId(0),
        values: functional_step.values.iter().map(|&t| value(t)).collect(),
    })
}

/// The loops of a step from this state.
fn close(w: &mut LoopLibrary, from: [i64; 3], p: i64) -> Vec<Loop> {
    let from = state(from);
    let Some(to) = step(w, &from, p) else { return Vec::new() };
    let taken: Taken = w.taken_step(TransitionId(0), &[Value::int(p)], &from, &to);
    let Some(cube) = w.cube(&taken) else { return Vec::new() };
    w.accelerate(&[taken], &[cube])
}

/// Asserts that a closed form has the effect of its rounds. Returns how often its guard held.
fn agrees(w: &mut LoopLibrary, found: &Loop) -> usize {
    let mut taken = 0;
    for case in 0..4000i64 {
        let from = [case % 7 - 3, case / 7 % 8 - 2, case / 56 % 9 - 4];
        let (p, n) = (case % 5 - 1, 1 + (case / 504) as u64);
        let mut model: FxHashMap<SymbolId, Value> =
            w.system.vars().iter().map(|v| v.current).zip(state(from).values).collect();
        model.insert(found.parts[0].choices[0], Value::int(p));
        let counts = binomials(n, found.closed.counts.len()).unwrap();
        model.extend(found.closed.counts.iter().copied().zip(counts));
        let value = |t: TermId| evaluate(&w.pool, t, &|s| model.get(&s).cloned()).unwrap();
        if found.closed.guard.iter().any(|&g| value(g) != Value::Bool(true)) {
            continue;
        }
        let end: Vec<Value> = found.closed.values.iter().map(|&t| value(t)).collect();
        let mut now = state(from);
        for round in 0..n {
            now = step(w, &now, p)
                .unwrap_or_else(|| panic!("round {round} of {n} from {from:?} cannot be done"));
        }
        assert_eq!(now.values, end, "{n} rounds from {from:?} with {p}");
        taken += 1;
    }
    taken
}

#[test]
fn closed_forms_agree_with_single_rounds() {
    let loops = [
        ("x < 4", ["x + 1", "y", "z"]),
        ("x < 4 and y > -2", ["x + 2", "y - 1", "z"]),
        ("x <= y", ["x + 1", "y", "3"]),
        ("x <= y", ["x + 1", "y", "x"]),
        ("true", ["x + y", "y + 1", "z"]),
        ("x < 6", ["x + y", "y + 1", "z + x"]),
        ("z >= 0", ["x + p", "p", "z - 1"]),
        ("y == 2 or x < 3", ["x + 1", "y", "z + p"]),
        ("x != 2", ["x + 1", "x", "y"]),
        ("true", ["if x < 2 then x + 1 else 0", "if x < 2 then y else y + 1", "z"]),
        ("true", ["(x + 1) mod 5", "y + (x div 3)", "z"]),
        ("max(x, y) < 5", ["x + 1", "y + 1", "abs(z)"]),
        ("p < 3 and p > 0", ["x + p", "y", "z - p"]),
        ("p <= y and x < 9", ["x + p", "y", "z + 1"]),
        ("x - y < 3 and p > 0", ["x + p", "y + p", "z + y"]),
    ];
    for (guard, values) in loops {
        let system = system(guard, values);
        let mut w = LoopLibrary::new(&system);
        let (mut found, mut taken) = (0, 0);
        for case in 0..60i64 {
            let from = [case % 4 - 1, case / 4 % 4, case / 16 - 1];
            for closed in close(&mut w, from, case % 3) {
                found += 1;
                taken += agrees(&mut w, &closed);
            }
        }
        assert!(found > 0, "no loop for {guard}, {values:?}");
        assert!(taken > 3, "the loops for {guard}, {values:?} can be done {taken} times only");
    }
}

#[test]
fn unsupported_loops_are_declined() {
    for (guard, values) in
        [("true", ["2 * x", "y", "z"]), ("true", ["y", "x", "z"]), ("true", ["x", "y", "z"])]
    {
        let mut w = LoopLibrary::new(&system(guard, values));
        assert!(close(&mut w, [1, 2, 3], 1).is_empty(), "{values:?}");
    }
}

/// If the model has a small step, there is also a loop with the largest step.
#[test]
fn strides_are_as_large_as_the_guard_allows() {
    let cases = [
        ("p > 0 and p <= 50", "x + p", 1, Some(50)),
        ("p > 0 and p < 50", "x + p", 1, Some(49)),
        ("p > 0 and 3 * p <= 50", "x + p", 1, Some(16)),
        ("p > 0 and p <= 50", "x - 2 * p", 1, Some(50)),
        ("p > -7 and p < 0", "x + p", -1, Some(-6)),
        ("p > 0 and p <= y", "x + p", 1, Some(9)),
        ("p > 0 and p <= 50", "x + p", 50, None),
        ("p > 0", "x + p", 1, None),
    ];
    for (guard, value, p, farthest) in cases {
        let mut w = LoopLibrary::new(&system(guard, [value, "y", "z"]));
        let loops = close(&mut w, [0, 9, 0], p);
        let stride = |w: &mut LoopLibrary, l: &Loop, p: i64| {
            let mut model: FxHashMap<SymbolId, Value> =
                w.system.vars().iter().map(|v| v.current).zip(state([0, 9, 0]).values).collect();
            model.insert(l.parts[0].choices[0], Value::int(p));
            model.insert(l.closed.counts[0], Value::int(2));
            let holds = |&g: &TermId| {
                evaluate(&w.pool, g, &|s| model.get(&s).cloned()).unwrap() == Value::Bool(true)
            };
            l.closed.guard.iter().all(holds)
        };
        assert_eq!(loops.len(), 1 + usize::from(farthest.is_some()), "{guard}, {value}");
        assert!(stride(&mut w, &loops[0], p), "{guard}, {value}");
        if let Some(farthest) = farthest {
            assert!(stride(&mut w, &loops[1], farthest), "{guard}, {value}");
        }
    }
}

/// The lengths of the runs that violate claims about an account that begins with 50 and changes by
/// up to 50 per step. A `~` is replaced by the suffix of the sort's numbers.
fn lengths(sort: Sort, claims: &[String]) -> Vec<Option<u64>> {
    let mut b = SystemBuilder::new("account", Pool::new(), &[("Open", None)]).unwrap();
    let balance = b.var("balance", sort, Role::State, None, None).unwrap();
    let unit = if sort == Sort::Real { ".0" } else { "" };
    let read = |b: &mut SystemBuilder, text: &str| {
        parse_term(&mut b.pool, &text.replace('~', unit)).unwrap()
    };
    let first = read(&mut b, "balance == 50~");
    b.start("go", NodeId(0), &[(first, None)], None).unwrap();
    for (name, sign) in [("deposit", "+"), ("withdraw", "-")] {
        let mut draft = b.transition(name, None, NodeId(0), NodeId(0), None).unwrap();
        let a = b.param(&mut draft, "a", sort, None).unwrap();
        let a = format!("`{}`", b.pool.symbol(a).name);
        let guard = read(&mut b, &format!("{a} > 0~ and {a} <= 50~ and balance {sign} {a} >= 0~"));
        b.guard(&mut draft, guard, None).unwrap();
        let value = read(&mut b, &format!("balance {sign} {a}"));
        b.assign(&mut draft, balance, value, None).unwrap();
        b.add(draft).unwrap();
    }
    for text in claims {
        let formula = read(&mut b, text);
        let formula = b.state_formula(formula, "claim").unwrap();
        b.claim(text, ClaimKind::Always(formula), ClaimOrigin::Written, text, None).unwrap();
    }
    let system = Arc::new(b.finish());
    let claims = (0..system.claims().len()).map(ClaimId::from).collect();
    let mut config = CheckConfig::new(Arc::new(Solvers::from_environment()), claims);
    config.engines = Some(vec!["accelerate".into()]);
    let report = check(&system, &config, &Cancellation::new(), &NullObserver);
    assert!(report.internal_errors.is_empty(), "{:?}", report.internal_errors);
    let length = |verdict: &Verdict| match verdict {
        Verdict::Fails(Evidence::Run(run)) => Some(run.length()),
        _ => None,
    };
    report.outcomes.iter().map(|o| length(&o.verdict)).collect()
}

#[test]
fn runs_with_loops_are_shortest() {
    for sort in [Sort::Int, Sort::Real] {
        for max in [100u64, 1_000, 1_010, 100_000, 1_000_000] {
            let expected = (max - 50).div_ceil(50);
            assert_eq!(lengths(sort, &[format!("balance < {max}~")]), [Some(expected)], "{max}");
        }
        // The last step is shorter.
        assert_eq!(lengths(sort, &["balance != 1015~".into()]), [Some(20)]);
        let both = ["balance < 1000~".into(), "balance < 100000~".into()];
        assert_eq!(lengths(sort, &both), [Some(19), Some(1999)]);
    }
}
