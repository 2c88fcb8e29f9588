//! Closed forms against doing the rounds one by one.

use std::sync::Arc;

use gander_system::{NodeId, Role, State, System, SystemBuilder, TransitionId};
use gander_term::{Pool, Sort, SymbolId, TermId, Value, evaluate, parse_term};
use rustc_hash::FxHashMap;

use super::closed_form::binomials;
use super::workshop::{Loop, Taken, Workshop};

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
fn step(w: &mut Workshop, from: &State, p: i64) -> Option<State> {
    let passage = w.passage(0);
    let symbols: Vec<SymbolId> = w.system.vars.iter().map(|v| v.current).chain(passage.params).collect();
    let values: Vec<Value> = from.values.iter().cloned().chain([Value::int(p)]).collect();
    let model: FxHashMap<SymbolId, Value> = symbols.into_iter().zip(values).collect();
    let value = |t: TermId| evaluate(&w.pool, t, &|s| model.get(&s).cloned()).unwrap();
    (value(passage.guard) == Value::Bool(true))
        .then(|| State { node: NodeId(0), values: passage.values.iter().map(|&t| value(t)).collect() })
}

/// The loop of a step from this state.
fn close(w: &mut Workshop, from: [i64; 3], p: i64) -> Option<Loop> {
    let from = state(from);
    let to = step(w, &from, p)?;
    let taken: Taken = w.taken(TransitionId(0), &[Value::int(p)], &from, &to);
    let cube = w.cube(&taken)?;
    w.accelerate(&[taken], &[cube])
}

/// Where the closed form can be taken it leads where the rounds lead; gives how often it could be taken.
fn agrees(w: &mut Workshop, found: &Loop) -> usize {
    let mut taken = 0;
    for case in 0..4000i64 {
        let from = [case % 7 - 3, case / 7 % 8 - 2, case / 56 % 9 - 4];
        let (p, n) = (case % 5 - 1, 1 + (case / 504) as u64);
        let mut model: FxHashMap<SymbolId, Value> =
            w.system.vars.iter().map(|v| v.current).zip(state(from).values).collect();
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
            now = step(w, &now, p).unwrap_or_else(|| panic!("round {round} of {n} from {from:?} cannot be done"));
        }
        assert_eq!(now.values, end, "{n} rounds from {from:?} with {p}");
        taken += 1;
    }
    taken
}

#[test]
fn closed_forms_are_what_the_rounds_do() {
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
        ("x - y < 3 and p > 0", ["x + p", "y + p", "z + y"]),
    ];
    for (guard, values) in loops {
        let system = system(guard, values);
        let mut w = Workshop::new(&system);
        let (mut found, mut taken) = (0, 0);
        for case in 0..60i64 {
            let from = [case % 4 - 1, case / 4 % 4, case / 16 - 1];
            if let Some(closed) = close(&mut w, from, case % 3) {
                found += 1;
                taken += agrees(&mut w, &closed);
            }
        }
        assert!(found > 0, "no loop for {guard}, {values:?}");
        assert!(taken > 3, "the loops for {guard}, {values:?} can be done {taken} times only");
    }
}

#[test]
fn what_is_not_covered_is_declined() {
    for (guard, values) in [("true", ["2 * x", "y", "z"]), ("true", ["y", "x", "z"]), ("true", ["x", "y", "z"])] {
        let mut w = Workshop::new(&system(guard, values));
        assert!(close(&mut w, [1, 2, 3], 1).is_none(), "{values:?}");
    }
}
