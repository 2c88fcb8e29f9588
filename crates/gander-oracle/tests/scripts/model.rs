//! The abstract syntax of scripts, and their text.

use std::fmt::Write as _;

/// An expression over the variables of a script.
#[derive(Clone, Debug)]
pub enum Expr {
    Int(i64),
    Bool(bool),
    /// A variable, by its index.
    Var(usize),
    /// `state == S` of a process, by the state's index.
    In(usize, usize),
    Steps,
    Not(Box<Expr>),
    Both(&'static str, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug)]
pub struct Var {
    /// The process that owns it; `None` for a global variable.
    pub owner: Option<usize>,
    pub name: String,
    /// The range of an int; `None` for a bool.
    pub range: Option<(i64, i64)>,
    pub nondet: bool,
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub guard: Option<Expr>,
    pub states: Option<(usize, usize)>,
    pub updates: Vec<(usize, Expr)>,
    /// True if the guard is written before the states.
    pub guard_in_front: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Process {
    pub states: usize,
    /// The initial state; `None` means any.
    pub first_state: Option<usize>,
    pub inits: Vec<(usize, Option<i64>, Expr)>,
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    Leaf(usize),
    Both(&'static str, Box<Program>, Box<Program>),
}

#[derive(Clone, Debug)]
pub enum Goal {
    Reach(Expr),
    Safe(Expr),
    Inf,
    Deadlock,
    Live(Expr),
    LeadsTo(Expr, Expr),
    ExistsAlways(Expr),
    Eventually(Expr),
}

#[derive(Clone, Debug)]
pub struct Script {
    pub max_steps: Option<i64>,
    pub vars: Vec<Var>,
    /// The processes; a script without processes has one without a name.
    pub processes: Vec<Process>,
    pub with_processes: bool,
    pub program: Program,
    pub goals: Vec<Goal>,
    /// Initial values of global variables.
    pub inits: Vec<(usize, Option<i64>, Expr)>,
}

impl Script {
    fn name(&self, var: usize, inside: Option<usize>) -> String {
        let v = &self.vars[var];
        match v.owner {
            Some(p) if self.with_processes && inside != Some(p) => format!("P{p}.{}", v.name),
            _ => v.name.clone(),
        }
    }

    pub fn show(&self, e: &Expr, inside: Option<usize>) -> String {
        match e {
            Expr::Int(i) => i.to_string(),
            Expr::Bool(b) => b.to_string(),
            Expr::Var(v) => self.name(*v, inside),
            Expr::Steps => "steps".to_string(),
            Expr::In(p, s) if self.with_processes && inside != Some(*p) => {
                format!("(P{p}.state == P{p}.S{s})")
            }
            Expr::In(_, s) => format!("(state == S{s})"),
            Expr::Not(a) => format!("!({})", self.show(a, inside)),
            Expr::Both(op, a, b) => {
                format!("({} {op} {})", self.show(a, inside), self.show(b, inside))
            }
        }
    }

    fn declarations(&self, out: &mut String, owner: Option<usize>) {
        for v in self.vars.iter().filter(|v| v.owner == owner) {
            let nondet = if v.nondet { "nondet " } else { "" };
            match v.range {
                Some((low, high)) => writeln!(out, "  {nondet}int {} : {low}..{high};", v.name),
                None => writeln!(out, "  {nondet}bool {};", v.name),
            }
            .unwrap();
        }
    }

    fn initial(
        &self,
        out: &mut String,
        inits: &[(usize, Option<i64>, Expr)],
        inside: Option<usize>,
    ) {
        for (var, value, constraint) in inits {
            match value {
                Some(value) if self.vars[*var].range.is_some() => {
                    writeln!(out, "  {} = {value};", self.name(*var, inside)).unwrap();
                }
                Some(value) => {
                    writeln!(out, "  {} = {};", self.name(*var, inside), *value == 1).unwrap()
                }
                None => writeln!(out, "  {};", self.show(constraint, inside)).unwrap(),
            }
        }
    }

    fn body(&self, out: &mut String, p: usize) {
        let process = &self.processes[p];
        let owner = if self.with_processes { Some(p) } else { None };
        out.push_str("VARS:\n");
        self.declarations(out, owner);
        if process.states > 0 {
            let names: Vec<String> = (0..process.states).map(|s| format!("S{s}")).collect();
            writeln!(out, "  state {};", names.join(", ")).unwrap();
        }
        out.push_str("INIT:\n");
        if let Some(s) = process.first_state {
            writeln!(out, "  state = S{s};").unwrap();
        }
        if !self.with_processes {
            self.initial(out, &self.inits, owner);
        }
        self.initial(out, &process.inits, owner);
        out.push_str("TRANS:\n");
        for rule in &process.rules {
            let names: Vec<String> =
                rule.updates.iter().map(|(v, _)| self.name(*v, owner)).collect();
            let values: Vec<String> =
                rule.updates.iter().map(|(_, e)| self.show(e, owner)).collect();
            let updates = format!("{} = {}", names.join(", "), values.join(", "));
            let guard = rule.guard.as_ref().map(|g| self.show(g, owner));
            match (&rule.states, guard) {
                (Some((a, b)), Some(guard)) if rule.guard_in_front => {
                    writeln!(out, "  ? {guard} : S{a} -> S{b} {{ {updates} }};")
                }
                (Some((a, b)), Some(guard)) => {
                    writeln!(out, "  S{a} -> S{b} {{ ? {guard} -> {updates} }};")
                }
                (Some((a, b)), None) => writeln!(out, "  S{a} -> S{b} {{ {updates} }};"),
                (None, Some(guard)) => writeln!(out, "  ? {guard} -> {updates};"),
                (None, None) => writeln!(out, "  {updates};"),
            }
            .unwrap();
        }
    }

    /// The script as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if let Some(n) = self.max_steps {
            writeln!(out, "MAXSTEPS: {n}").unwrap();
        }
        if self.with_processes {
            out.push_str("VARS:\n");
            self.declarations(&mut out, None);
            for p in 0..self.processes.len() {
                writeln!(out, "  proc P{p} = process{p};").unwrap();
            }
            out.push_str("INIT:\n");
            self.initial(&mut out, &self.inits, None);
            writeln!(out, "PROGRAM:\n  {}", program(&self.program)).unwrap();
        } else {
            self.body(&mut out, 0);
        }
        for (i, goal) in self.goals.iter().enumerate() {
            let show = |e| self.show(e, None);
            match goal {
                Goal::Reach(p) if i % 2 == 0 => writeln!(out, "REACH g{i}: {}", show(p)),
                Goal::Reach(p) => writeln!(out, "CHECK g{i}: E<> {}", show(p)),
                Goal::Safe(p) if i % 2 == 0 => writeln!(out, "SAFE g{i}: {};", show(p)),
                Goal::Safe(p) => writeln!(out, "CHECK g{i}: A[] {};", show(p)),
                Goal::Inf => writeln!(out, "INF g{i}:"),
                Goal::Deadlock => writeln!(out, "DEADLOCK g{i}:"),
                Goal::Live(p) => writeln!(out, "LIVENESS g{i}: {}", show(p)),
                Goal::LeadsTo(p, q) => writeln!(out, "LIVENESS g{i}: {} ~> {}", show(p), show(q)),
                Goal::ExistsAlways(p) => writeln!(out, "CHECK g{i}: E[] {}", show(p)),
                Goal::Eventually(p) => writeln!(out, "CHECK g{i}: A<> {}", show(p)),
            }
            .unwrap();
        }
        if self.with_processes {
            for p in 0..self.processes.len() {
                writeln!(out, "PROCESS process{p}:").unwrap();
                self.body(&mut out, p);
            }
        }
        out
    }
}

fn program(p: &Program) -> String {
    match p {
        Program::Leaf(i) => format!("P{i}"),
        Program::Both(op, a, b) => format!("({} {op} {})", program(a), program(b)),
    }
}
