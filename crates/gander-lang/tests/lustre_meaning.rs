//! Compares the systems of random Lustre programs with an interpreter that follows the definition
//! of streams: it computes the value of an expression at an instant by recursion, and shares no
//! code with the front-end.

use std::fmt::Write;

use gander_lang::lustre;
use gander_runtime::Random;
use gander_system::Dataflow;
use gander_term::{Sort, Value};

/// An expression of sort int or bool.
#[derive(Clone, Debug)]
enum E {
    Int(i64),
    /// A variable of the node, by number: inputs, then locals.
    Var(usize),
    Add(Box<E>, Box<E>),
    Sub(Box<E>, Box<E>),
    Mod(Box<E>, i64),
    Less(Box<E>, Box<E>),
    Equal(Box<E>, Box<E>),
    Not(Box<E>),
    And(Box<E>, Box<E>),
    Implies(Box<E>, Box<E>),
    If(Box<E>, Box<E>, Box<E>),
    /// `a -> pre b`
    Fby(Box<E>, Box<E>),
    /// `a -> b`
    Arrow(Box<E>, Box<E>),
    /// `step(int, bool)`, another node
    Call(Box<E>, Box<E>),
    /// `condact(c, step(int, bool), constant)`
    Condact(Box<E>, Box<E>, Box<E>, i64),
    /// `(restart step every c)(int, bool)`
    Restart(Box<E>, Box<E>, Box<E>),
    /// `merge v (true -> (activate (restart step every c) every v)(int, bool)) (false -> constant)`
    Activate(usize, Box<E>, Box<E>, Box<E>, i64),
    /// `merge v (true -> (constant -> pre (int when v))) (false -> constant)`
    Sampled(usize, Box<E>, i64, i64),
}

/// A node: the first two variables are its inputs (an int, a truth value), the others are defined;
/// variables with even numbers are ints.
struct Node {
    locals: Vec<E>,
}

/// A random expression. Variables below `now` may be read at this instant, those below `all` by
/// `pre`.
fn random(r: &mut Random, int: bool, depth: u32, now: usize, all: usize, calls: bool) -> E {
    let var = |r: &mut Random, below: usize| {
        let parity = usize::from(!int);
        let count = (below + 1 - parity) / 2;
        E::Var(2 * r.below(count) + parity)
    };
    if depth == 0 {
        return if int && r.below(2) == 0 { E::Int(r.below(7) as i64 - 3) } else { var(r, now) };
    }
    let sub = |r: &mut Random, int: bool| Box::new(random(r, int, depth - 1, now, all, calls));
    match r.below(if calls && int { 13 } else { 8 }) {
        0 => E::If(sub(r, false), sub(r, int), sub(r, int)),
        1 | 2 => {
            let first = sub(r, int);
            let before = if r.below(2) == 0 { Box::new(var(r, all)) } else { sub(r, int) };
            E::Fby(first, before)
        }
        3 => E::Arrow(sub(r, int), sub(r, int)),
        n if int && n < 8 => match n {
            4 | 5 => E::Add(sub(r, true), sub(r, true)),
            6 => E::Sub(sub(r, true), sub(r, true)),
            _ => E::Mod(sub(r, true), 2 + r.below(5) as i64),
        },
        4 => E::Less(sub(r, true), sub(r, true)),
        5 => E::Equal(sub(r, true), sub(r, true)),
        6 => E::Not(sub(r, false)),
        7 if r.below(2) == 0 => E::Implies(sub(r, false), sub(r, false)),
        7 => E::And(sub(r, false), sub(r, false)),
        8 => E::Call(sub(r, true), sub(r, false)),
        9 => E::Condact(sub(r, false), sub(r, true), sub(r, false), r.below(9) as i64),
        10 => E::Restart(sub(r, false), sub(r, true), sub(r, false)),
        n => {
            let clock = 2 * r.below(now / 2) + 1;
            let (a, b) = (r.below(9) as i64, r.below(9) as i64 + 10);
            if n == 11 {
                E::Activate(clock, sub(r, false), sub(r, true), sub(r, false), a)
            } else {
                E::Sampled(clock, sub(r, true), a, b)
            }
        }
    }
}

fn node(r: &mut Random, count: usize, depth: u32, calls: bool) -> Node {
    let all = 2 + count;
    Node {
        locals: (2..all).map(|v| random(r, v.is_multiple_of(2), depth, v, all, calls)).collect(),
    }
}

/// The text of an expression, and of the calls in it of the node with this name.
fn text(e: &E, step: &str) -> String {
    let text = |e: &E| text(e, step);
    match e {
        E::Int(n) => format!("({n})"),
        E::Var(v) => format!("v{v}"),
        E::Add(a, b) => format!("({} + {})", text(a), text(b)),
        E::Sub(a, b) => format!("({} - {})", text(a), text(b)),
        E::Mod(a, n) => format!("({} mod {n})", text(a)),
        E::Less(a, b) => format!("({} < {})", text(a), text(b)),
        E::Equal(a, b) => format!("({} = {})", text(a), text(b)),
        E::Not(a) => format!("(not {})", text(a)),
        E::And(a, b) => format!("({} and {})", text(a), text(b)),
        E::Implies(a, b) => format!("({} => {})", text(a), text(b)),
        E::If(c, a, b) => format!("(if {} then {} else {})", text(c), text(a), text(b)),
        E::Fby(a, b) => format!("({} -> pre {})", text(a), text(b)),
        E::Arrow(a, b) => format!("({} -> {})", text(a), text(b)),
        E::Call(a, b) => format!("{step}({}, {})", text(a), text(b)),
        E::Condact(c, a, b, d) => {
            format!("condact({}, {step}({}, {}), {d})", text(c), text(a), text(b))
        }
        E::Restart(c, a, b) => {
            format!("(restart {step} every {})({}, {})", text(c), text(a), text(b))
        }
        E::Activate(v, c, a, b, d) => {
            let call = format!(
                "(activate (restart {step} every {}) every v{v})({}, {})",
                text(c),
                text(a),
                text(b)
            );
            format!("(merge v{v} (true -> {call}) (false -> {d}))")
        }
        E::Sampled(v, e, first, d) => {
            format!(
                "(merge v{v} (true -> ({first} -> pre ({} when v{v}))) (false -> {d}))",
                text(e)
            )
        }
    }
}

fn declaration(name: &str, node: &Node, callee: &str) -> String {
    let ty = |v: usize| if v.is_multiple_of(2) { "int" } else { "bool" };
    let mut out = format!("node {name}(v0: int; v1: bool) returns (v2: int);\n");
    for v in 3..node.locals.len() + 2 {
        let _ = write!(out, "{} v{v}: {};", if v == 3 { "var" } else { "" }, ty(v));
    }
    out.push_str("\nlet\n");
    for (i, e) in node.locals.iter().enumerate() {
        let _ = writeln!(out, "  v{} = {};", i + 2, text(e, callee));
    }
    out.push_str("tel\n");
    out
}

/// A run of a node, with the inputs at its own instants. Truth values are 0 and 1.
struct Run<'a> {
    node: &'a Node,
    /// The node that it calls, the node that this one calls, and so on.
    callees: &'a [Node],
    inputs: &'a [(i64, i64)],
}

impl Run<'_> {
    fn var(&self, v: usize, t: usize) -> i64 {
        match v {
            0 => self.inputs[t].0,
            1 => self.inputs[t].1,
            _ => self.value(&self.node.locals[v - 2], t),
        }
    }

    /// The output of the callee at its last instant, given its inputs so far.
    fn called(&self, inputs: &[(i64, i64)]) -> i64 {
        let run = Run { node: &self.callees[0], callees: &self.callees[1..], inputs };
        run.var(2, inputs.len() - 1)
    }

    fn value(&self, e: &E, t: usize) -> i64 {
        let at = |e: &E| self.value(e, t);
        let args = |a: &E, b: &E, when: &[usize]| -> Vec<(i64, i64)> {
            when.iter().map(|&i| (self.value(a, i), self.value(b, i))).collect()
        };
        match e {
            E::Int(n) => *n,
            E::Var(v) => self.var(*v, t),
            E::Add(a, b) => at(a) + at(b),
            E::Sub(a, b) => at(a) - at(b),
            E::Mod(a, n) => at(a).rem_euclid(*n),
            E::Less(a, b) => i64::from(at(a) < at(b)),
            E::Equal(a, b) => i64::from(at(a) == at(b)),
            E::Not(a) => 1 - at(a),
            E::And(a, b) => at(a) * at(b),
            E::Implies(a, b) => i64::from(at(a) == 0 || at(b) == 1),
            E::If(c, a, b) => at(if at(c) == 1 { a } else { b }),
            E::Fby(a, b) => {
                if t == 0 {
                    at(a)
                } else {
                    self.value(b, t - 1)
                }
            }
            E::Arrow(a, b) => at(if t == 0 { a } else { b }),
            E::Call(a, b) => self.called(&args(a, b, &(0..=t).collect::<Vec<_>>())),
            E::Condact(c, a, b, default) => {
                let on: Vec<usize> = (0..=t).filter(|&i| self.value(c, i) == 1).collect();
                if on.is_empty() { *default } else { self.called(&args(a, b, &on)) }
            }
            E::Activate(v, c, a, b, default) => {
                if self.var(*v, t) == 0 {
                    return *default;
                }
                // The restart condition is evaluated at the instants of the clock.
                let on: Vec<usize> = (0..=t).filter(|&i| self.var(*v, i) == 1).collect();
                let from = on.iter().rposition(|&i| self.value(c, i) == 1).unwrap_or(0);
                self.called(&args(a, b, &on[from..]))
            }
            E::Sampled(v, e, first, default) => {
                if self.var(*v, t) == 0 {
                    return *default;
                }
                (0..t).rev().find(|&i| self.var(*v, i) == 1).map_or(*first, |i| self.value(e, i))
            }
            E::Restart(c, a, b) => {
                let from = (0..=t).rev().find(|&i| self.value(c, i) == 1).unwrap_or(0);
                self.called(&args(a, b, &(from..=t).collect::<Vec<_>>()))
            }
        }
    }
}

const INSTANTS: usize = 4;

/// `GANDER_LUSTRE_PROGRAMS` sets the number of programs.
fn programs() -> u64 {
    std::env::var("GANDER_LUSTRE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

#[test]
fn systems_agree_with_the_interpreter() {
    let mut compared = 0;
    for seed in 0..programs() {
        let mut r = Random::new(seed);
        // Every third program has two levels of calls and nested clocks.
        let deep = seed.is_multiple_of(3);
        let mut callees = vec![node(&mut r, 2, 3, false)];
        if deep {
            callees.insert(0, node(&mut r, 1, 2, true));
        }
        let main = node(&mut r, 3, if deep { 2 } else { 3 }, true);
        let names = ["n0", "n1", "n2"];
        let mut source = declaration("main", &main, names[0]);
        for (i, callee) in callees.iter().enumerate() {
            source.push_str(&declaration(names[i], callee, names[i + 1]));
        }
        let loaded = lustre::load(&source, "random.lus");
        assert!(loaded.system.is_some(), "{source}\n{:?}", loaded.diagnostics);
        // A `pre` of a later variable cannot close a cycle, but a variable on the right of an arrow
        // can. The interpreter does not support equations that are constraints.
        if loaded.diagnostics.iter().any(|d| d.code.as_str() == "W1704") {
            continue;
        }
        // A node that is not called is a separate root.
        let mut roots = loaded.system.into_iter().chain(loaded.others);
        let system =
            roots.find(|s| s.name() == "main").unwrap_or_else(|| panic!("main is lost\n{source}"));
        let flow =
            Dataflow::of(&system).unwrap_or_else(|| panic!("no dataflow program:\n{source}"));
        let inputs: Vec<(i64, i64)> =
            (0..INSTANTS).map(|_| (r.below(9) as i64 - 4, r.below(2) as i64)).collect();
        let run = Run { node: &main, callees: &callees, inputs: &inputs };
        let mut before: Option<Vec<Value>> = None;
        for (t, &(int, truth)) in inputs.iter().enumerate() {
            let free = |v| match system.var(v).name.as_str() {
                "v0" => Some(Value::int(int)),
                "v1" => Some(Value::Bool(truth == 1)),
                // Values before the first instant: every `pre` is guarded, so they must not matter.
                _ => Some(if system.var(v).sort == Sort::Bool {
                    Value::Bool(seed.is_multiple_of(2))
                } else {
                    Value::int(77)
                }),
            };
            let values = flow.values(before.as_deref(), free);
            let values =
                values.unwrap_or_else(|v| panic!("{} has no value\n{source}", system.var(v).name));
            for v in 2..main.locals.len() + 2 {
                let name = format!("v{v}");
                let at = system.vars().iter().position(|var| var.name == name);
                let at = at.unwrap_or_else(|| panic!("{name} is lost\n{source}"));
                let expected = run.var(v, t);
                let expected = if v.is_multiple_of(2) {
                    Value::int(expected)
                } else {
                    Value::Bool(expected == 1)
                };
                assert_eq!(
                    values[at], expected,
                    "seed {seed}: {name} at {t}, inputs {inputs:?}\n{source}"
                );
                compared += 1;
            }
            before = Some(values);
        }
    }
    assert!(compared > 2_000, "only {compared} values compared");
}
