//! BTOR2: word-level transition systems of hardware, a numbered line for each node.
//!
//! A vector of one bit is a bool here. A `state` without `next` has any value at each instant, like an input. `bad` lines are
//! claims that it never happens, `constraint` lines assumptions.
//! Niemetz, Preiner, Wolf, Biere: Btor2, BtorMC and Boolector 3.0, CAV 2018.

mod operators;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::language::Loaded;
use crate::machine::{Asked, Machine, Property, Variable, file_stem};
use crate::report::Report;
use crate::span::Span;
use gander_system::Numerals;
use gander_term::{IBig, Pool, Sort, SymbolId, TermId, Width};
use rustc_hash::FxHashMap;

/// Reads a BTOR2 file.
pub fn load(source: &str, file_name: &str) -> Loaded {
    let mut report = Report::default();
    if let Some(diagnostic) = crate::sts::unreadable(source) {
        report.add(diagnostic);
        return report.loaded(Vec::new());
    }
    let mut file = File::default();
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let span = Span::new(at as u32, (at + line.trim_end().len()) as u32);
        at += line.len();
        let words: Vec<&str> = line.split_whitespace().take_while(|w| !w.starts_with(';')).collect();
        if words.is_empty() {
            continue;
        }
        if let Err(problem) = file.line(&words, span) {
            let (code, message) = match problem {
                Problem::Unsupported(what) => (Code::E0510, format!("{what} is not supported")),
                Problem::Wrong(message) => (Code::E0110, message),
            };
            // What depends on this line would be reported for nothing.
            report.add(Diagnostic::new(code, span, message));
            break;
        }
    }
    let mut systems = Vec::new();
    if !report.has_errors() {
        if file.properties.is_empty() {
            let diagnostic = Diagnostic::new(Code::W0803, Span::at(0), "this file has no `bad` line to check");
            report.add(diagnostic);
        }
        match file.machine(file_stem(file_name)).build() {
            Ok(system) => systems.push(system),
            Err(error) => report.error(Code::E0901, Span::at(0), format!("this cannot be built: {error}")),
        }
    }
    report.loaded(systems)
}

/// Why a line cannot be read.
pub(crate) enum Problem {
    Unsupported(String),
    Wrong(String),
}

fn wrong<T>(message: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Wrong(message.into()))
}

/// The value of a node: one bit as a bool, more as a vector.
#[derive(Clone, Copy, Debug)]
struct Node {
    term: TermId,
    width: Width,
}

struct State {
    name: String,
    width: Width,
    current: SymbolId,
    next: Option<(SymbolId, TermId)>,
    span: Span,
    /// A `state` line, not an `input`.
    is_state: bool,
}

#[derive(Default)]
struct File {
    pool: Pool,
    sorts: FxHashMap<i64, Width>,
    nodes: FxHashMap<i64, Node>,
    states: Vec<State>,
    state_of: FxHashMap<i64, usize>,
    init: Vec<TermId>,
    constraints: Vec<TermId>,
    properties: Vec<Property>,
}

fn sort(width: Width) -> Sort {
    if width == Width::W1 { Sort::Bool } else { Sort::BitVec(width) }
}

impl File {
    fn line(&mut self, words: &[&str], span: Span) -> Result<(), Problem> {
        let number = |k: usize| -> Result<i64, Problem> {
            match words.get(k).and_then(|w| w.parse::<i64>().ok()) {
                Some(n) => Ok(n),
                None => wrong(format!("expected a number as word {} of this line", k + 1)),
            }
        };
        let id = number(0)?;
        let Some(&word) = words.get(1) else { return wrong("expected an operator behind the number") };
        match word {
            "sort" => {
                match words.get(2) {
                    Some(&"bitvec") => {}
                    Some(&"array") => return Err(Problem::Unsupported("the sort `array`".to_string())),
                    _ => return wrong("expected `bitvec` or `array`"),
                }
                match u32::try_from(number(3)?).ok().and_then(Width::new) {
                    Some(width) => self.sorts.insert(id, width),
                    None => return wrong("a vector has at least one bit"),
                };
            }
            "input" | "state" => {
                let width = self.sort(number(2)?)?;
                let given = words.get(3).map(|w| w.to_string());
                let name = given.unwrap_or_else(|| format!("{word}{id}"));
                let current = self.pool.declare_fresh(&name, sort(width));
                let term = self.pool.var(current);
                self.nodes.insert(id, Node { term, width });
                self.state_of.insert(id, self.states.len());
                self.states.push(State { name, width, current, next: None, span, is_state: word == "state" });
            }
            "init" | "next" => {
                let width = self.sort(number(2)?)?;
                let state = number(3)?;
                let Some(&at) = self.state_of.get(&state).filter(|at| self.states[**at].is_state) else {
                    return wrong(format!("{state} is not a state"));
                };
                let value = self.node(number(4)?)?;
                if self.states[at].width != width || value.width != width {
                    return wrong("state and value have different sorts");
                }
                if word == "init" {
                    let x = self.pool.var(self.states[at].current);
                    let equation = self.pool.eq(x, value.term);
                    self.init.push(equation);
                } else {
                    let name = format!("next.{}", self.states[at].name);
                    let next = self.pool.declare_fresh(&name, sort(width));
                    self.states[at].next = Some((next, value.term));
                }
            }
            "bad" | "constraint" => {
                let node = self.node(number(2)?)?;
                if node.width != Width::W1 {
                    return wrong(format!("`{word}` takes one bit"));
                }
                if word == "constraint" {
                    self.constraints.push(node.term);
                } else {
                    let given = words.get(3).map(|w| w.to_string());
                    let name = given.unwrap_or_else(|| format!("bad {}", self.properties.len()));
                    let never = self.pool.not(node.term);
                    let (asked, text) = (Asked::Always(never), format!("never {name}"));
                    self.properties.push(Property { name, asked, text, span: Some(span) });
                }
            }
            "output" => {
                self.node(number(2)?)?;
            }
            "fair" | "justice" => return Err(Problem::Unsupported(format!("`{word}`"))),
            "zero" | "one" | "ones" | "const" | "constd" | "consth" => {
                let width = self.sort(number(2)?)?;
                let digits = words.get(3).copied().unwrap_or("");
                let value = match word {
                    "zero" => Some(IBig::ZERO),
                    "one" => Some(IBig::ONE),
                    "ones" => Some(IBig::from(-1)),
                    "const" => IBig::from_str_radix(digits, 2).ok(),
                    "constd" => digits.parse().ok(),
                    _ => IBig::from_str_radix(digits, 16).ok(),
                };
                let Some(value) = value else { return wrong(format!("`{digits}` is not a number")) };
                let term = self.constant(width, value);
                self.nodes.insert(id, Node { term, width });
            }
            _ => {
                let width = self.sort(number(2)?)?;
                let node = self.operator(word, width, words)?;
                if node.width != width {
                    return wrong(format!("`{word}` gives {} bits here, not {}", node.width.bits(), width.bits()));
                }
                self.nodes.insert(id, node);
            }
        }
        Ok(())
    }

    fn sort(&self, id: i64) -> Result<Width, Problem> {
        match self.sorts.get(&id) {
            Some(width) => Ok(*width),
            None => wrong(format!("there is no sort {id}")),
        }
    }

    fn constant(&mut self, width: Width, value: IBig) -> TermId {
        if width == Width::W1 {
            let odd = &value % IBig::from(2) != IBig::ZERO;
            return if odd { self.pool.tt() } else { self.pool.ff() };
        }
        self.pool.bits(width, value)
    }

    /// A node; a negative number stands for its bits inverted.
    fn node(&mut self, id: i64) -> Result<Node, Problem> {
        let positive = id.checked_abs().and_then(|n| self.nodes.get(&n));
        let Some(&node) = positive else { return wrong(format!("there is no node {}", id.unsigned_abs())) };
        Ok(if id < 0 { self.inverted(node) } else { node })
    }

    fn machine(mut self, name: String) -> Machine {
        let mut trans = Vec::new();
        let mut variables = Vec::new();
        for s in &self.states {
            if let Some((next, value)) = s.next {
                let next = self.pool.var(next);
                trans.push(self.pool.eq(next, value));
            }
            variables.push(Variable {
                name: s.name.clone(),
                sort: sort(s.width),
                current: s.current,
                next: s.next.map(|(next, _)| next),
                numerals: Numerals::Unsigned,
                span: Some(s.span),
            });
        }
        let (pool, init, invariant, properties) = (self.pool, self.init, self.constraints, self.properties);
        Machine { name, pool, variables, init, trans, invariant, properties }
    }
}
