//! Random Lustre programs with unguarded `pre`, beside an explicit search in both readings of the
//! language (docs/lustre.md).
//!
//! In Kind 2 every `pre` has its own arbitrary first value. In JKind the variables have arbitrary
//! values before the first instant, and `pre e` is `e` of these, unless `e` has `pre` or `->` in
//! it, or stands in a node under `condact`: then it is a variable of its own. What holds in both
//! readings holds, what fails in both fails, the rest is unknown.
//!
//! `GANDER_PRE_PROGRAMS` sets how many programs; without it there are a few seconds' worth.

use std::collections::BTreeSet;
use std::fmt;

use gander::{CheckOptions, check_source};
use gander_runtime::Random;

/// An expression over bools, as written. Variables of the root are `a b u v ok`, those of `sub` are
/// `s t`.
#[derive(Clone)]
enum Expr {
    Const(bool),
    Var(usize),
    Not(Box<Expr>),
    Both(&'static str, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Pre(Box<Expr>),
    Arrow(Box<Expr>, Box<Expr>),
    Call(Box<Expr>),
    Condact(Box<Expr>, Box<Expr>, bool),
}

const ROOT: [&str; 5] = ["a", "b", "u", "v", "ok"];
const SUB: [&str; 2] = ["s", "t"];

/// Where an expression stands: the variables that may be read now and under `pre`, and what else
/// may be in it.
#[derive(Clone, Copy)]
struct Place {
    now: usize,
    before: usize,
    calls: bool,
    /// No `pre` or `->`.
    plain: bool,
}

impl Expr {
    fn random(random: &mut Random, at: Place, depth: usize) -> Expr {
        if depth == 0 || random.chance(15) {
            return match random.below(8) {
                0 => Expr::Const(random.chance(50)),
                _ => Expr::Var(random.below(at.now)),
            };
        }
        let part = |random: &mut Random| Box::new(Expr::random(random, at, depth - 1));
        match random.below(12) {
            0 | 1 => Expr::Not(part(random)),
            2..=4 => {
                let op = ["and", "or", "xor", "=", "=>"][random.below(5)];
                Expr::Both(op, part(random), part(random))
            }
            5 => Expr::If(part(random), part(random), part(random)),
            6 if !at.plain => Expr::Arrow(part(random), part(random)),
            7..=9 if !at.plain => {
                // In a node under `condact`, JKind does not run what is nested under `pre` by the
                // clock.
                let inner = Place { now: at.before, plain: !at.calls, ..at };
                Expr::Pre(Box::new(Expr::random(random, inner, depth - 1)))
            }
            10 if at.calls => Expr::Call(part(random)),
            11 if at.calls => {
                let clock = Expr::Both("or", Box::new(Expr::Var(random.below(2))), part(random));
                Expr::Condact(Box::new(clock), part(random), random.chance(50))
            }
            _ => Expr::Not(part(random)),
        }
    }

    fn text(&self, names: &[&str]) -> String {
        let of = |e: &Expr| e.text(names);
        match self {
            Expr::Const(b) => b.to_string(),
            Expr::Var(v) => names[*v].to_string(),
            Expr::Not(a) => format!("(not {})", of(a)),
            Expr::Both(op, a, b) => format!("({} {op} {})", of(a), of(b)),
            Expr::If(a, b, c) => format!("(if {} then {} else {})", of(a), of(b), of(c)),
            Expr::Pre(a) => format!("(pre {})", of(a)),
            Expr::Arrow(a, b) => format!("({} -> {})", of(a), of(b)),
            Expr::Call(a) => format!("sub({})", of(a)),
            Expr::Condact(c, a, d) => format!("condact({}, sub({}), {d})", of(c), of(a)),
        }
    }
}

struct Program {
    u: Expr,
    v: Expr,
    ok: Expr,
    sub: Expr,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "node sub(s: bool) returns (t: bool);\nlet\n  t = {};\ntel",
            self.sub.text(&SUB)
        )?;
        writeln!(f, "node top(a, b: bool) returns (ok: bool);\nvar u, v: bool;\nlet\n  --%MAIN;")?;
        let (u, v, ok) = (self.u.text(&ROOT), self.v.text(&ROOT), self.ok.text(&ROOT));
        writeln!(f, "  u = {u};\n  v = {v};\n  ok = {ok};\n  --%PROPERTY ok;\ntel")
    }
}

impl Program {
    fn random(random: &mut Random) -> Program {
        let place = |now| Place { now, before: 5, calls: true, plain: false };
        let sub = Place { now: 1, before: 2, calls: false, plain: false };
        Program {
            u: Expr::random(random, place(2), 3),
            v: Expr::random(random, place(3), 3),
            ok: Expr::random(random, place(4), 3),
            sub: Expr::random(random, sub, 3),
        }
    }
}

/// An expression with calls replaced by variables, `pre` by a memory, and arrows by the clock that
/// they count.
#[derive(Clone)]
enum Flat {
    Const(bool),
    Var(usize),
    Not(Box<Flat>),
    Both(&'static str, Box<Flat>, Box<Flat>),
    If(Box<Flat>, Box<Flat>, Box<Flat>),
    Memory(usize),
    Arrow(usize, Box<Flat>, Box<Flat>),
}

impl Flat {
    fn is_temporal(&self) -> bool {
        match self {
            Flat::Const(_) | Flat::Var(_) => false,
            Flat::Not(a) => a.is_temporal(),
            Flat::Both(_, a, b) => a.is_temporal() || b.is_temporal(),
            Flat::If(a, b, c) => a.is_temporal() || b.is_temporal() || c.is_temporal(),
            Flat::Memory(_) | Flat::Arrow(..) => true,
        }
    }
}

#[derive(Clone)]
enum Definition {
    Input,
    Is(Flat),
    /// The output of `condact`: its clock, the variable that it holds, the default.
    Held(usize, usize, bool),
}

/// The program as one node.
#[derive(Default)]
struct Whole {
    variables: Vec<Definition>,
    /// What each `pre` remembers, and on which clock.
    memories: Vec<(Flat, usize)>,
    /// When each clock is on; the first is the root's.
    clocks: Vec<Option<Flat>>,
}

impl Whole {
    fn of(program: &Program) -> Whole {
        let mut whole =
            Whole { clocks: vec![None], variables: vec![Definition::Input; 5], ..Whole::default() };
        let names = [0, 1, 2, 3, 4];
        for (v, e) in [(2, &program.u), (3, &program.v), (4, &program.ok)] {
            let flat = whole.flat(e, &names, 0, &program.sub);
            whole.variables[v] = Definition::Is(flat);
        }
        whole
    }

    fn flat(&mut self, e: &Expr, names: &[usize], clock: usize, sub: &Expr) -> Flat {
        let mut of = |e: &Expr| Box::new(self.flat(e, names, clock, sub));
        match e {
            Expr::Const(b) => Flat::Const(*b),
            Expr::Var(v) => Flat::Var(names[*v]),
            Expr::Not(a) => Flat::Not(of(a)),
            Expr::Both(op, a, b) => Flat::Both(op, of(a), of(b)),
            Expr::If(a, b, c) => Flat::If(of(a), of(b), of(c)),
            Expr::Arrow(a, b) => Flat::Arrow(clock, of(a), of(b)),
            Expr::Pre(a) => {
                let remembered = *of(a);
                self.memories.push((remembered, clock));
                Flat::Memory(self.memories.len() - 1)
            }
            Expr::Call(a) => {
                let argument = *of(a);
                Flat::Var(self.instance(argument, clock, sub))
            }
            Expr::Condact(c, a, default) => {
                let (on, argument) = (*of(c), *of(a));
                self.clocks.push(Some(on));
                let inner = self.clocks.len() - 1;
                let output = self.instance(argument, inner, sub);
                self.variables.push(Definition::Held(inner, output, *default));
                Flat::Var(self.variables.len() - 1)
            }
        }
    }

    /// An instance of `sub`; its output.
    fn instance(&mut self, argument: Flat, clock: usize, sub: &Expr) -> usize {
        let s = self.variables.len();
        self.variables.extend([Definition::Is(argument), Definition::Input]);
        let body = self.flat(sub, &[s, s + 1], clock, sub);
        self.variables[s + 1] = Definition::Is(body);
        s + 1
    }
}

/// What is known between two instants.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    first: bool,
    memories: Vec<bool>,
    /// By clock: it was never on.
    fresh: Vec<bool>,
    /// The last values of variables.
    held: Vec<bool>,
}

struct Instant<'a> {
    whole: &'a Whole,
    state: &'a State,
    inputs: [bool; 2],
    known: Vec<Option<bool>>,
}

impl Instant<'_> {
    fn variable(&mut self, v: usize) -> bool {
        if let Some(value) = self.known[v] {
            return value;
        }
        let value = match &self.whole.variables[v] {
            Definition::Input => self.inputs[v],
            Definition::Is(e) => self.value(e),
            Definition::Held(clock, of, default) => match (self.is_on(*clock), self.state.first) {
                (true, _) => self.variable(*of),
                (false, true) => *default,
                (false, false) => self.state.held[v],
            },
        };
        self.known[v] = Some(value);
        value
    }

    fn is_on(&mut self, clock: usize) -> bool {
        let whole = self.whole;
        whole.clocks[clock].as_ref().is_none_or(|on| self.value(on))
    }

    fn value(&mut self, e: &Flat) -> bool {
        match e {
            Flat::Const(b) => *b,
            Flat::Var(v) => self.variable(*v),
            Flat::Not(a) => !self.value(a),
            Flat::Both(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                match *op {
                    "and" => a && b,
                    "or" => a || b,
                    "=" => a == b,
                    "=>" => !a || b,
                    _ => a != b,
                }
            }
            Flat::If(c, a, b) => {
                if self.value(c) {
                    self.value(a)
                } else {
                    self.value(b)
                }
            }
            Flat::Memory(m) => self.state.memories[*m],
            Flat::Arrow(clock, a, b) => {
                if self.state.fresh[*clock] {
                    self.value(a)
                } else {
                    self.value(b)
                }
            }
        }
    }
}

/// More bits are not enumerated.
const MAX_BITS: usize = 13;

/// Whether `ok` is true at every instant of all runs from these values of memories.
fn holds(whole: &Whole, begin: BTreeSet<Vec<bool>>) -> bool {
    let fresh = vec![true; whole.clocks.len()];
    let held = vec![false; whole.variables.len()];
    let start =
        |memories| State { first: true, memories, fresh: fresh.clone(), held: held.clone() };
    let mut stack: Vec<State> = begin.into_iter().map(start).collect();
    let mut seen: BTreeSet<State> = stack.iter().cloned().collect();
    while let Some(state) = stack.pop() {
        for inputs in [[false, false], [false, true], [true, false], [true, true]] {
            let mut now =
                Instant { whole, state: &state, inputs, known: vec![None; whole.variables.len()] };
            if !now.variable(4) {
                return false;
            }
            let mut next = State { first: false, ..state.clone() };
            for (m, (e, clock)) in whole.memories.iter().enumerate() {
                if now.is_on(*clock) {
                    next.memories[m] = now.value(e);
                }
            }
            for (v, definition) in whole.variables.iter().enumerate() {
                if matches!(definition, Definition::Held(..)) {
                    next.held[v] = now.variable(v);
                }
            }
            for clock in 0..whole.clocks.len() {
                next.fresh[clock] &= !now.is_on(clock);
            }
            if seen.insert(next.clone()) {
                stack.push(next);
            }
        }
    }
    true
}

fn bits(n: usize, count: usize) -> Vec<bool> {
    (0..count).map(|k| n >> k & 1 == 1).collect()
}

/// The verdict in Kind 2's reading and in JKind's; none if there is too much to enumerate.
fn readings(whole: &Whole) -> Option<(bool, bool)> {
    let (memories, variables) = (whole.memories.len(), whole.variables.len());
    let own: Vec<usize> = (0..memories)
        .filter(|&m| whole.memories[m].1 != 0 || whole.memories[m].0.is_temporal())
        .collect();
    if memories > MAX_BITS || variables + own.len() > MAX_BITS {
        return None;
    }
    let each = (0..1 << memories).map(|n| bits(n, memories)).collect();
    let mut shared = BTreeSet::new();
    let nothing = State { first: true, memories: Vec::new(), fresh: Vec::new(), held: Vec::new() };
    for n in 0..1 << variables {
        let before = bits(n, variables).into_iter().map(Some).collect();
        let mut instant = Instant { whole, state: &nothing, inputs: [false; 2], known: before };
        let mut values = vec![false; memories];
        for m in (0..memories).filter(|m| !own.contains(m)) {
            values[m] = instant.value(&whole.memories[m].0);
        }
        for n in 0..1 << own.len() {
            for (m, b) in own.iter().zip(bits(n, own.len())) {
                values[*m] = b;
            }
            shared.insert(values.clone());
        }
    }
    Some((holds(whole, each), holds(whole, shared)))
}

#[test]
fn verdicts_are_right_in_both_readings() {
    let setting = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let many: usize = setting("GANDER_PRE_PROGRAMS").unwrap_or(120) as usize;
    let mut random = Random::new(setting("GANDER_PRE_SEED").unwrap_or(1));
    let mut counts = [0usize; 3];
    let mut done = 0;
    while done < many {
        let program = Program::random(&mut random);
        let whole = Whole::of(&program);
        if whole.memories.is_empty() {
            continue;
        }
        let Some(readings) = readings(&whole) else { continue };
        let (k, expected) = match readings {
            (true, _) => (0, "holds"),
            (false, false) => (1, "fails"),
            (false, true) => (2, "unknown"),
        };
        // Most programs fail in both readings: a third of those that are looked at.
        if counts[k] * 3 > many {
            continue;
        }
        counts[k] += 1;
        done += 1;
        let text = program.to_string();
        let view = check_source(&text, "m.lus", &CheckOptions::default());
        assert!(view.internal_errors.is_empty(), "{text}");
        let claim = view.claims.iter().find(|c| c.name == "ok");
        let claim = claim.unwrap_or_else(|| panic!("{text}{:?}", view.diagnostics));
        assert_eq!(claim.verdict.word(), expected, "in {text}");
    }
    assert!(counts.iter().all(|n| *n > 0), "the programs are too much alike: {counts:?}");
}
