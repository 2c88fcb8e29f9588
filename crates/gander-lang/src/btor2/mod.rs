//! BTOR2: word-level transition systems of hardware, a numbered line for each node.
//!
//! A vector of one bit becomes a bool, also as an index or element of an array. An array that is
//! initialised with a vector has that vector at every index. A `state` without `next` has an
//! arbitrary value at each instant, like an input. A `bad` line becomes the claim that it never
//! holds; `constraint` lines become assumptions. A `justice` line becomes the claim that no
//! infinite run satisfies all its conditions, and those of the `fair` lines, infinitely often.
//! Niemetz, Preiner, Wolf, Biere: Btor2, BtorMC and Boolector 3.0, CAV 2018.

mod operators;
mod words;

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::language::Loaded;
use crate::machine::{Machine, Property, PropertyKind, Variable, file_stem};
use gander_runtime::check_cancelled;
use gander_system::Numerals;
use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Width};
use rustc_hash::{FxHashMap, FxHashSet};
use words::{argument, constant_value, identifier, plain_number};

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
        check_cancelled();
        let span = Span::new(at as u32, (at + line.trim_end().len()) as u32);
        at += line.len();
        let words: Vec<&str> =
            line.split_whitespace().take_while(|w| !w.starts_with(';')).collect();
        // A truncated line may still be well-formed with another meaning. Lines after a comment
        // without line end are lost.
        let complete = line.ends_with('\n') || line.trim().is_empty();
        if words.is_empty() && complete {
            continue;
        }
        let read = if complete { file.line(&words, span) } else { Err(Problem::CutOff) };
        if let Err(problem) = read {
            // Stop here: lines that depend on this one would cause follow-up errors.
            report.add(problem.diagnostic(span));
            break;
        }
    }
    let mut systems = Vec::new();
    if !report.has_errors() {
        if file.properties.is_empty() {
            let diagnostic = Diagnostic::new(
                Code::W0803,
                Span::at(0),
                "this file has no `bad` or `justice` line to check",
            );
            report.add(diagnostic);
        }
        match file.machine(file_stem(file_name)).build() {
            Ok(built) => systems.extend(built),
            Err(error) => {
                report.error(Code::E0901, Span::at(0), format!("this cannot be built: {error}"))
            }
        }
    }
    report.loaded(systems)
}

/// The reason why a line cannot be read.
pub(crate) enum Problem {
    Unsupported(String),
    Wrong(String),
    /// A message with advice.
    Helped(String, &'static str),
    /// The line is truncated.
    CutOff,
}

impl Problem {
    fn diagnostic(self, span: Span) -> Diagnostic {
        match self {
            Problem::Unsupported(what) => Diagnostic::new(Code::E0510, span, format!("{what} is not supported")),
            Problem::Wrong(message) => Diagnostic::new(Code::E0110, span, message),
            Problem::Helped(message, help) => Diagnostic::new(Code::E0110, span, message).help(help),
            Problem::CutOff => Diagnostic::new(Code::E0110, span, "the last line has no line end")
                .help("the file may have been cut off here; if it is complete, end it with a new line"),
        }
    }
}

fn helped<T>(message: impl Into<String>, help: &'static str) -> Result<T, Problem> {
    Err(Problem::Helped(message.into(), help))
}

fn wrong<T>(message: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Wrong(message.into()))
}

/// The sort of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A vector: a bool for one bit, otherwise a bit-vector.
    Bits(Width),
    /// An array of vectors over vectors.
    Array { index: Width, element: Width },
}

impl Kind {
    /// The sort in words.
    fn shown(self) -> String {
        match self {
            Kind::Bits(width) => format!("{} bits", width.bits()),
            Kind::Array { index, element } => {
                format!("an array of {} bits over {} bits", element.bits(), index.bits())
            }
        }
    }
}

/// The value of a node that is not an array.
#[derive(Clone, Copy, Debug)]
struct Node {
    term: TermId,
    width: Width,
}

struct State {
    name: String,
    kind: Kind,
    current: SymbolId,
    /// An `init` line gives the initial value.
    is_initialised: bool,
    next: Option<(SymbolId, TermId)>,
    span: Span,
    /// True for a `state` line, false for an `input` line.
    is_state: bool,
}

#[derive(Default)]
struct File {
    pool: Pool,
    /// The numbers of the lines so far, in increasing order.
    lines: Vec<i64>,
    /// Nodes that depend on inputs.
    on_inputs: FxHashSet<i64>,
    /// The numbers of lines with constants.
    constants: FxHashSet<i64>,
    sorts: FxHashMap<i64, Kind>,
    nodes: FxHashMap<i64, (TermId, Kind)>,
    states: Vec<State>,
    state_of: FxHashMap<i64, usize>,
    init: Vec<TermId>,
    constraints: Vec<TermId>,
    /// The conditions that every run relevant to `justice` satisfies infinitely often.
    fair: Vec<TermId>,
    properties: Vec<Property>,
}

fn sort(width: Width) -> Sort {
    if width == Width::W1 { Sort::Bool } else { Sort::BitVec(width) }
}

fn kind_sort(pool: &Pool, kind: Kind) -> Result<Sort, Problem> {
    match kind {
        Kind::Bits(width) => Ok(sort(width)),
        Kind::Array { index, element } => match pool.array_sort(sort(index), sort(element)) {
            Some(sort) => Ok(sort),
            None => wrong("there are no such arrays"),
        },
    }
}

impl File {
    fn line(&mut self, words: &[&str], span: Span) -> Result<(), Problem> {
        let id = identifier(words[0])?;
        if let Some(&last) = self.lines.last().filter(|last| id <= **last) {
            let message = match self.lines.binary_search(&id) {
                Ok(_) => format!("the number {id} is defined twice"),
                Err(_) => format!("the number {id} is out of order: the line before has {last}"),
            };
            return helped(message, "the numbers of lines increase");
        }
        let Some(&word) = words.get(1) else {
            return wrong("expected an operator behind the number");
        };
        let used = self.meaning(id, word, words, span)?;
        self.ends(word, words, used)?;
        self.lines.push(id);
        Ok(())
    }

    /// Checks that at most a name follows after `used` words, and nothing after a constant.
    fn ends(&self, word: &str, words: &[&str], used: usize) -> Result<(), Problem> {
        let allowed = used + usize::from(!matches!(word, "const" | "constd" | "consth"));
        match words.get(allowed) {
            None => Ok(()),
            Some(more) if allowed == used => {
                wrong(format!("`{more}` does not belong behind a constant"))
            }
            Some(more) => helped(
                format!("`{more}` does not belong here: the line is complete before it"),
                "a line ends with at most one name; comments begin with `;`",
            ),
        }
    }

    /// Reads a line; returns the number of its words without the name.
    fn meaning(
        &mut self,
        id: i64,
        word: &str,
        words: &[&str],
        span: Span,
    ) -> Result<usize, Problem> {
        let number = |k: usize| argument(words, k);
        match word {
            "sort" => return self.sort_line(id, words),
            "input" | "state" => return self.input_or_state(id, word, words, span),
            "init" | "next" => {
                self.init_or_next(word, words)?;
                return Ok(5);
            }
            "bad" | "constraint" => {
                let formula = self.one_bit(number(2)?, word)?;
                if word == "constraint" {
                    self.constraints.push(formula);
                } else {
                    let given = words.get(3).map(|w| w.to_string());
                    let name = given.unwrap_or_else(|| format!("bad {}", self.properties.len()));
                    let never = self.pool.not(formula);
                    let (kind, text) = (PropertyKind::Always(never), format!("never {name}"));
                    self.properties.push(Property { name, kind, text, span: Some(span) });
                }
                return Ok(3);
            }
            "output" => {
                self.any_node(number(2)?)?;
                return Ok(3);
            }
            "fair" => {
                let formula = self.one_bit(number(2)?, word)?;
                self.fair.push(formula);
                return Ok(3);
            }
            "justice" => return self.justice(word, words, span),
            "zero" | "one" | "ones" | "const" | "constd" | "consth" => {
                let width = self.sort(number(2)?)?;
                let value = constant_value(word, words.get(3).copied(), width)?;
                let term = self.constant(width, value);
                self.nodes.insert(id, (term, Kind::Bits(width)));
                self.constants.insert(id);
                return Ok(if word.starts_with("const") { 4 } else { 3 });
            }
            _ => {}
        }
        let kind = self.kind(number(2)?)?;
        let (term, found) = self.operator(word, words)?;
        if found != kind {
            return wrong(format!("`{word}` gives {} here, not {}", found.shown(), kind.shown()));
        }
        self.nodes.insert(id, (term, kind));
        let (operands, numbers) = words::arity(word);
        for k in 3..3 + operands {
            if self.on_inputs.contains(&number(k)?.abs()) {
                self.on_inputs.insert(id);
            }
        }
        Ok(3 + operands + numbers)
    }

    fn input_or_state(
        &mut self,
        id: i64,
        word: &str,
        words: &[&str],
        span: Span,
    ) -> Result<usize, Problem> {
        let kind = self.kind(argument(words, 2)?)?;
        let given = words.get(3).map(|w| w.to_string());
        let name = given.unwrap_or_else(|| format!("{word}{id}"));
        let sort = kind_sort(&self.pool, kind)?;
        let current = self.pool.declare_fresh(&name, sort);
        let term = self.pool.var(current);
        self.nodes.insert(id, (term, kind));
        self.state_of.insert(id, self.states.len());
        let is_state = word == "state";
        if !is_state {
            self.on_inputs.insert(id);
        }
        self.states.push(State {
            name,
            kind,
            current,
            is_initialised: false,
            next: None,
            span,
            is_state,
        });
        Ok(3)
    }

    fn justice(&mut self, word: &str, words: &[&str], span: Span) -> Result<usize, Problem> {
        let count = plain_number(words, 2)? as usize;
        if count == 0 {
            return wrong("`justice` takes at least one condition");
        }
        let mut conditions = Vec::new();
        for k in 0..count.min(words.len()) {
            conditions.push(self.one_bit(argument(words, 3 + k)?, word)?);
        }
        let given = words.get(3 + count).map(|w| w.to_string());
        let name = given.unwrap_or_else(|| format!("justice {}", self.properties.len()));
        let kind = PropertyKind::NotInfinitelyOften(conditions);
        let text = format!("never for ever {name}");
        self.properties.push(Property { name, kind, text, span: Some(span) });
        Ok(3 + count)
    }

    fn sort_line(&mut self, id: i64, words: &[&str]) -> Result<usize, Problem> {
        match words.get(2) {
            Some(&"bitvec") => match Width::new(plain_number(words, 3)?) {
                Some(width) => {
                    self.sorts.insert(id, Kind::Bits(width));
                    Ok(4)
                }
                None => wrong("a vector has 1 to 65536 bits"),
            },
            Some(&"array") => {
                let (index, element) =
                    (self.kind(argument(words, 3)?)?, self.kind(argument(words, 4)?)?);
                let (Kind::Bits(index), Kind::Bits(element)) = (index, element) else {
                    return Err(Problem::Unsupported("an array of or over arrays".to_string()));
                };
                self.sorts.insert(id, Kind::Array { index, element });
                Ok(5)
            }
            _ => wrong("expected `bitvec` or `array`"),
        }
    }

    fn init_or_next(&mut self, word: &str, words: &[&str]) -> Result<(), Problem> {
        let kind = self.kind(argument(words, 2)?)?;
        let state = argument(words, 3)?;
        let Some(&at) = self.state_of.get(&state).filter(|at| self.states[**at].is_state) else {
            return wrong(format!("{state} is not a state"));
        };
        let source = argument(words, 4)?;
        let (value, found) = self.any_node(source)?;
        if word == "init" {
            if self.states[at].is_initialised {
                return helped(
                    format!("the state {state} is initialised twice"),
                    "two values would contradict each other, and no run would exist",
                );
            }
            if source.abs() > state {
                return helped(
                    format!(
                        "the state {state} is initialised with {}, which is defined behind it",
                        source.abs()
                    ),
                    "a first value is defined before its state, so that first values do not depend on each other in a circle",
                );
            }
            if self.on_inputs.contains(&source.abs()) {
                return helped(
                    format!("the first value of the state {state} depends on an input"),
                    "a state without `init` has an arbitrary first value, too",
                );
            }
            self.states[at].is_initialised = true;
        } else if self.states[at].next.is_some() {
            return helped(
                format!("the state {state} has two `next` lines"),
                "only one of them can be meant",
            );
        }
        let value = match (kind, found) {
            // The element at every index.
            (Kind::Array { element, .. }, Kind::Bits(width))
                if word == "init" && element == width =>
            {
                if source < 0 || !self.constants.contains(&source) {
                    return wrong("an array is initialised with a constant, or with another array");
                }
                let Sort::Array(array) = kind_sort(&self.pool, kind)? else {
                    return wrong("no array");
                };
                self.made_of(Op::ConstArray(array), &[value])?
            }
            _ if found == kind => value,
            _ => return wrong("state and value have different sorts"),
        };
        if self.states[at].kind != kind {
            return wrong("state and value have different sorts");
        }
        if word == "init" {
            let x = self.pool.var(self.states[at].current);
            let equation = self.pool.eq(x, value);
            self.init.push(equation);
        } else {
            let name = format!("next.{}", self.states[at].name);
            let sort = kind_sort(&self.pool, kind)?;
            let next = self.pool.declare_fresh(&name, sort);
            self.states[at].next = Some((next, value));
        }
        Ok(())
    }

    fn kind(&self, id: i64) -> Result<Kind, Problem> {
        match self.sorts.get(&id) {
            Some(kind) => Ok(*kind),
            None => wrong(format!("there is no sort {id}")),
        }
    }

    /// The width of a vector sort.
    fn sort(&self, id: i64) -> Result<Width, Problem> {
        match self.kind(id)? {
            Kind::Bits(width) => Ok(width),
            Kind::Array { .. } => {
                wrong(format!("the sort {id} is one of arrays, and vectors are needed here"))
            }
        }
    }

    fn made_of(&mut self, op: Op, args: &[TermId]) -> Result<TermId, Problem> {
        self.pool.mk(op, args).or_else(|error| wrong(error.to_string()))
    }

    fn constant(&mut self, width: Width, value: IBig) -> TermId {
        if width == Width::W1 {
            let odd = &value % IBig::from(2) != IBig::ZERO;
            return if odd { self.pool.tt() } else { self.pool.ff() };
        }
        self.pool.bits(width, value)
    }

    /// The value of a node; a negative number means the inverted bits.
    fn any_node(&mut self, id: i64) -> Result<(TermId, Kind), Problem> {
        let positive = id.checked_abs().and_then(|n| self.nodes.get(&n));
        let Some(&(term, kind)) = positive else {
            return wrong(format!("there is no node {}", id.unsigned_abs()));
        };
        match kind {
            _ if id >= 0 => Ok((term, kind)),
            Kind::Bits(width) => Ok((self.inverted(Node { term, width }).term, kind)),
            Kind::Array { .. } => wrong("an array has no bits to invert"),
        }
    }

    /// A node of one bit.
    fn one_bit(&mut self, id: i64, word: &str) -> Result<TermId, Problem> {
        let node = self.node(id)?;
        if node.width == Width::W1 {
            Ok(node.term)
        } else {
            wrong(format!("`{word}` takes one bit"))
        }
    }

    /// The value of a node that is not an array.
    fn node(&mut self, id: i64) -> Result<Node, Problem> {
        match self.any_node(id)? {
            (term, Kind::Bits(width)) => Ok(Node { term, width }),
            (_, Kind::Array { .. }) => {
                wrong(format!("{} is an array, and a vector is needed here", id.unsigned_abs()))
            }
        }
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
                sort: self.pool.symbol(s.current).sort,
                current: s.current,
                next: s.next.map(|(next, _)| next),
                numerals: Numerals::Unsigned,
                span: Some(s.span),
            });
        }
        for property in &mut self.properties {
            if let PropertyKind::NotInfinitelyOften(conditions) = &mut property.kind {
                conditions.extend(&self.fair);
            }
        }
        let (pool, init, invariant, properties) =
            (self.pool, self.init, self.constraints, self.properties);
        Machine { name, pool, variables, init, trans, invariant, properties }
    }
}
