//! Resolves the names of a script (constants, variables, instances, states), then builds its
//! systems.
//!
//! `MAXSTEPS` bounds only `REACH` and `SAFE`, so a script with such goals and others becomes two
//! systems: one counts its steps and stops, the other does not.

use super::lower;
use super::program::{Part, Program};
use super::syntax::*;
use super::terms::{self, Place};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use gander_system::{Range, System};
use gander_term::{IBig, Pool, Sort, Value};
use rustc_hash::FxHashMap;

/// The number of processes of a program.
const MAX_PROCESSES: usize = 100;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    Const(Value),
    /// A variable, an index into [`Model::vars`].
    Var(usize),
    /// `state` of an instance that declares states.
    Location(usize),
    /// A state of an instance.
    State(usize, u32),
    /// `steps`, the number of steps so far.
    Steps,
    /// An instance of a process.
    Instance,
    /// Its declaration was reported.
    Broken,
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Var {
    /// `x`, or `P.x` for a variable of an instance.
    pub name: String,
    pub sort: Sort,
    pub nondet: bool,
    pub range: Option<Range>,
    pub span: Span,
}

/// The names of a block, with the places of their declarations.
pub(super) type Scope = FxHashMap<String, (Entity, Span)>;

/// An instance of a process; in a script without processes, the only one has an empty name.
pub(super) struct Instance<'a> {
    pub name: String,
    pub block: &'a Block,
    pub scope: Scope,
    /// Its possible initial states; one dummy state if it declares none.
    pub starts: Vec<u16>,
}

/// A script with resolved declarations.
pub(super) struct Model<'a> {
    pub script: &'a Script,
    pub source: &'a str,
    pub name: String,
    pub global: Scope,
    pub vars: Vec<Var>,
    pub instances: Vec<Instance<'a>>,
    pub program: Program,
    pub max_steps: Option<IBig>,
}

/// The systems of a script; reports errors.
pub(super) fn check(
    script: &Script,
    source: &str,
    file_name: &str,
    report: &mut Report,
) -> Vec<System> {
    let stem = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    let name = stem.rsplit_once('.').map_or(stem, |(name, _)| name);
    let mut model = Model {
        script,
        source,
        name: if name.is_empty() { "script".to_string() } else { name.to_string() },
        global: Scope::default(),
        vars: Vec::new(),
        instances: Vec::new(),
        program: Program::default(),
        max_steps: None,
    };
    model.declare_all(report);
    if report.has_errors() {
        return Vec::new();
    }
    let (bounded, free): (Vec<usize>, Vec<usize>) = (0..script.goals.len()).partition(|&g| {
        model.max_steps.is_some()
            && matches!(script.goals[g].kind, GoalKind::Reach(_) | GoalKind::Safe(_))
    });
    if script.goals.is_empty() {
        let diagnostic = Diagnostic::new(
            Code::W0803,
            Span::at(0),
            "this script has no goal, so there is nothing to check",
        );
        report.add(diagnostic.help("add for example `SAFE: formula` or `REACH: formula`"));
    }
    let mut systems = Vec::new();
    if !bounded.is_empty() {
        systems.extend(lower::lower(&model, &bounded, model.max_steps.as_ref(), report));
    }
    if !free.is_empty() || bounded.is_empty() {
        systems.extend(lower::lower(&model, &free, None, report));
    }
    systems
}

impl<'a> Model<'a> {
    fn declare_all(&mut self, report: &mut Report) {
        let script = self.script;
        let mut global = Scope::default();
        self.declare(&script.block, "", None, &mut global, report);
        self.global = global;
        if let Some(bound) = script.max_steps {
            self.max_steps =
                self.constant(bound, None, Sort::Int, report).and_then(|v| v.as_int().cloned());
            if let Some(n) = &self.max_steps
                && *n < IBig::ZERO
            {
                report.error(Code::E0308, script.span(bound), "`MAXSTEPS` is negative");
            }
            let clash =
                self.global.insert("steps".to_string(), (Entity::Steps, script.span(bound)));
            if let Some((_, span)) = clash {
                let diagnostic = Diagnostic::new(
                    Code::E0113,
                    span,
                    "`steps` counts the steps of a script with `MAXSTEPS`",
                );
                report.add(diagnostic.help("call the variable something else"));
            }
        }
        if script.processes.is_empty() && script.block.procs.is_empty() && script.program.is_empty()
        {
            self.only_block(report);
        } else {
            self.processes(report);
        }
        for g in &script.goals {
            if let Some(name) = &g.name
                && let Some(first) = script
                    .goals
                    .iter()
                    .filter_map(|o| o.name.as_ref())
                    .find(|o| o.text == name.text)
                && first.span != name.span
            {
                let diagnostic = Diagnostic::new(
                    Code::E0201,
                    name.span,
                    format!("two goals are called `{}`", name.text),
                );
                report.add(diagnostic.label(first.span, "the first one"));
            }
        }
    }

    /// A script without processes is one instance with the global names.
    fn only_block(&mut self, report: &mut Report) {
        let block = &self.script.block;
        if block.rules.is_empty() {
            let span = block.trans.unwrap_or(Span::at(0));
            let message = if block.trans.is_some() {
                "this block has no rule"
            } else {
                "there is no `TRANS` block"
            };
            let diagnostic = Diagnostic::new(Code::E0110, span, message);
            report.add(diagnostic.help("write `TRANS:` and rules like `? x < 9 -> x = x + 1;`"));
        }
        let starts = self.first_states(block, report);
        self.declare_states(block, 0, None, report);
        self.instances.push(Instance {
            name: String::new(),
            block,
            scope: Scope::default(),
            starts,
        });
        self.program = Program::new(vec![Part::Instance(0)]);
    }

    fn processes(&mut self, report: &mut Report) {
        let script = self.script;
        if let Some(span) = script.block.trans {
            let diagnostic = Diagnostic::new(
                Code::E0506,
                span,
                "a script with processes has its rules in the processes",
            );
            report.add(diagnostic.help("move these rules into a `PROCESS`"));
        }
        if let Some(state) = script.block.states.first() {
            let diagnostic = Diagnostic::new(Code::E0506, state.span, "states belong to a process");
            report.add(diagnostic.help("move this line into the `VARS` of a `PROCESS`"));
        }
        for (i, p) in script.processes.iter().enumerate() {
            if let Some(first) = script.processes[..i].iter().find(|o| o.name.text == p.name.text) {
                let message = format!("there are two processes `{}`", p.name.text);
                let diagnostic = Diagnostic::new(Code::E0201, p.name.span, message);
                report.add(diagnostic.label(first.name.span, "the first one"));
            }
            if let Some((name, _)) = p.block.procs.first() {
                report.error(Code::E0506, name.span, "instances are declared in the global `VARS`");
            }
        }
        if script.program.is_empty() {
            let diagnostic =
                Diagnostic::new(Code::E0110, Span::at(0), "there is no `PROGRAM` block");
            report.add(diagnostic.help("say which instances run: `PROGRAM: P || Q`"));
            return;
        }
        let mut parts = Vec::new();
        for part in &script.program {
            parts.push(match part {
                ProgramPart::Process(name) => Part::Instance(self.instance(name, report)),
                ProgramPart::Both(how, a, b) => Part::Both(*how, *a, *b),
            });
        }
        for (name, _) in &script.block.procs {
            if !self.instances.iter().any(|i| i.name == name.text) {
                let message = format!("the instance `{}` is not part of the program", name.text);
                report.add(Diagnostic::new(Code::W0801, name.span, message));
            }
        }
        if self.instances.len() > MAX_PROCESSES {
            let span = script.program_span.unwrap_or(Span::at(0));
            let message = format!(
                "{} processes are too many: the limit is {MAX_PROCESSES}",
                self.instances.len()
            );
            report.error(Code::E0704, span, message);
            return;
        }
        self.program = Program::new(parts);
    }

    /// Creates an instance for a name of the program.
    fn instance(&mut self, name: &Name, report: &mut Report) -> usize {
        let script = self.script;
        let at = self.instances.len();
        let mut found = Instance {
            name: name.text.clone(),
            block: &script.block,
            scope: Scope::default(),
            starts: vec![0],
        };
        let declared = script.block.procs.iter().find(|(p, _)| p.text == name.text);
        if self.instances.iter().any(|i| i.name == name.text) {
            let message = format!("`{}` takes part in the program twice", name.text);
            let help = "declare another instance of the same process: `proc Q = process;`";
            report.add(Diagnostic::new(Code::E0201, name.span, message).help(help));
        } else if let Some((declared_name, of)) = declared {
            self.global.insert(name.text.clone(), (Entity::Instance, declared_name.span));
            match script.processes.iter().find(|p| p.name.text == of.text) {
                Some(process) => {
                    found.block = &process.block;
                    let mut scope = Scope::default();
                    self.declare(
                        &process.block,
                        &format!("{}.", name.text),
                        Some(&self.global.clone()),
                        &mut scope,
                        report,
                    );
                    self.declare_states(&process.block, at, Some(&mut scope), report);
                    found.starts = self.first_states(&process.block, report);
                    found.scope = scope;
                    if process.block.rules.is_empty() {
                        let message = format!("the process `{}` has no rule", of.text);
                        report.error(Code::E0110, process.name.span, message);
                    }
                }
                None => {
                    let near =
                        nearest(&of.text, script.processes.iter().map(|p| p.name.text.as_str()));
                    let message = format!("there is no process `{}`", of.text);
                    report.add(Diagnostic::new(Code::E0701, of.span, message).did_you_mean(near));
                }
            }
        } else {
            let near = nearest(&name.text, script.block.procs.iter().map(|(p, _)| p.text.as_str()));
            let diagnostic = Diagnostic::new(
                Code::E0702,
                name.span,
                format!("there is no instance `{}`", name.text),
            );
            let is_process = script.processes.iter().any(|p| p.name.text == name.text);
            report.add(if is_process {
                diagnostic.help(format!(
                    "`{0}` is a process: declare an instance, `proc P = {0};`",
                    name.text
                ))
            } else {
                diagnostic.did_you_mean(near)
            });
        }
        self.instances.push(found);
        at
    }

    /// The possible initial states of an instance: those of `state = S;`, or all.
    fn first_states(&self, block: &Block, report: &mut Report) -> Vec<u16> {
        if block.states.is_empty() {
            return vec![0];
        }
        let mut all = block.inits.iter().filter_map(|init| match init {
            Init::Assign { name, value } if name.text == "state" => {
                Some((self.script.as_name(*value), *value))
            }
            _ => None,
        });
        let given = all.next();
        if let Some((_, again)) = all.next() {
            report.error(
                Code::E0201,
                self.script.span(again),
                "`state` has its first value already",
            );
        }
        match given {
            None => (0..block.states.len() as u16).collect(),
            Some((Some(name), value)) => {
                match block.states.iter().position(|s| s.text == name.text) {
                    Some(at) => vec![at as u16],
                    None => {
                        let near =
                            nearest(&name.text, block.states.iter().map(|s| s.text.as_str()));
                        let message = format!("there is no state `{}`", name.text);
                        report.add(
                            Diagnostic::new(Code::E0203, self.script.span(value), message)
                                .did_you_mean(near),
                        );
                        vec![0]
                    }
                }
            }
            Some((None, value)) => {
                report.error(
                    Code::E0203,
                    self.script.span(value),
                    "`state` begins as one of the declared states",
                );
                vec![0]
            }
        }
    }

    fn declare_states(
        &mut self,
        block: &Block,
        instance: usize,
        scope: Option<&mut Scope>,
        report: &mut Report,
    ) {
        if block.states.is_empty() {
            return;
        }
        let scope = scope.unwrap_or(&mut self.global);
        let mut add = |text: &str, entity: Entity, span: Span| {
            if let Some((_, first)) = scope.insert(text.to_string(), (entity, span)) {
                let diagnostic =
                    Diagnostic::new(Code::E0201, span, format!("`{text}` is declared twice"));
                report.add(diagnostic.label(first, "first declared here"));
            }
        };
        for (k, s) in block.states.iter().enumerate() {
            add(&s.text, Entity::State(instance, k as u32), s.span);
        }
        add("state", Entity::Location(instance), block.states[0].span);
    }

    /// Declares constants first, in dependency order, then variables, whose ranges may mention
    /// them.
    fn declare(
        &mut self,
        block: &Block,
        prefix: &str,
        outer: Option<&Scope>,
        scope: &mut Scope,
        report: &mut Report,
    ) {
        for d in &block.declarations {
            let text = &d.name.text;
            let first = scope.get(text).or_else(|| outer.and_then(|o| o.get(text)));
            if let Some((_, first)) = first {
                let diagnostic = Diagnostic::new(
                    Code::E0201,
                    d.name.span,
                    format!("`{text}` is declared twice"),
                )
                .here("declared again here")
                .label(*first, "first declared here");
                report.add(diagnostic.help("rename one of them, or remove it"));
                continue;
            }
            scope.insert(text.clone(), (Entity::Broken, d.name.span));
        }
        let mut waiting: Vec<&Declaration> = block
            .declarations
            .iter()
            .filter(|d| matches!(d.what, Declared::Const { .. }))
            .collect();
        let mut known: Scope = outer.cloned().unwrap_or_default();
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|d| {
                let Declared::Const { value } = d.what else { return false };
                let blocked = terms::names(self.script, value)
                    .any(|n| !known.contains_key(n) && scope.contains_key(n));
                if blocked {
                    return true;
                }
                let sort = sort_of(d.sort);
                if let Some(value) = self.constant(value, Some(&known), sort, report) {
                    known.insert(d.name.text.clone(), (Entity::Const(value.clone()), d.name.span));
                    scope.insert(d.name.text.clone(), (Entity::Const(value), d.name.span));
                } else {
                    known.insert(d.name.text.clone(), (Entity::Broken, d.name.span));
                }
                false
            });
            if waiting.len() == before {
                for d in waiting.drain(..) {
                    let message = format!("the value of `{}` is not a constant", d.name.text);
                    let diagnostic = Diagnostic::new(Code::E0307, d.name.span, message);
                    report.add(
                        diagnostic
                            .help("it may mention numbers and other constants, but not itself"),
                    );
                }
            }
        }
        for d in &block.declarations {
            let Declared::Variable { nondet, range } = d.what else { continue };
            let sort = sort_of(d.sort);
            let range = range.and_then(|(low, high)| {
                let low_value =
                    self.constant(low, Some(&known), Sort::Int, report)?.as_int()?.clone();
                let high_value =
                    self.constant(high, Some(&known), Sort::Int, report)?.as_int()?.clone();
                if sort == Sort::Bool {
                    report.error(Code::E0306, self.script.span(low), "only an int has a range");
                } else if low_value > high_value {
                    let span = self.script.span(low).cover(self.script.span(high));
                    report.error(
                        Code::E0308,
                        span,
                        format!("the range {low_value}..{high_value} is empty"),
                    );
                }
                Some(Range { low: low_value, high: high_value })
            });
            let var = Var {
                name: format!("{prefix}{}", d.name.text),
                sort,
                nondet,
                range,
                span: d.name.span,
            };
            if scope.get(&d.name.text).is_some_and(|(_, span)| *span == d.name.span) {
                scope.insert(d.name.text.clone(), (Entity::Var(self.vars.len()), d.name.span));
            }
            self.vars.push(var);
        }
    }

    /// The value of a constant expression.
    fn constant(
        &self,
        e: Expr,
        scope: Option<&Scope>,
        sort: Sort,
        report: &mut Report,
    ) -> Option<Value> {
        let scope = scope.unwrap_or(&self.global);
        let mut pool = Pool::new();
        let mut place = Place::constant(scope);
        let term = terms::term(self.script, e, &mut pool, &mut place, report)?;
        if !terms::expect_sort(&pool, term, sort, self.script.span(e), report) {
            return None;
        }
        let simple = pool.simplify(term);
        let value = pool.as_constant(simple);
        if value.is_none() {
            report.error(Code::E0307, self.script.span(e), "this is not a constant");
        }
        value
    }
}

fn sort_of(t: Type) -> Sort {
    match t {
        Type::Int => Sort::Int,
        Type::Bool => Sort::Bool,
    }
}
