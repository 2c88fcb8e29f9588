//! Translates modules to one machine: instances, definitions, assignments, properties.

use super::assignments::{Assignments, mentions};
use super::syntax::*;
use super::values::{self, Value};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::machine::{Machine, Property, PropertyKind, Variable};
use gander_term::{IBig, Pool, Sort, SymbolId, TermId, Width};
use rustc_hash::{FxHashMap, FxHashSet};

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// A variable, by its index.
    Var(usize),
    /// A definition, or a parameter, by its index.
    Define(usize),
    Instance(usize),
    /// An array, by its index.
    Array(usize),
}

pub(super) struct Instance<'a> {
    pub(super) prefix: String,
    pub(super) module: &'a Module,
    pub(super) names: FxHashMap<String, (Entity, Span)>,
}

pub(super) struct Define {
    pub(super) instance: usize,
    pub(super) value: Expr,
    pub(super) span: Span,
    pub(super) made: Option<Option<Value>>,
}

/// An array: its elements, variables or arrays, starting at the least index.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub low: IBig,
    pub elements: Vec<Entity>,
}

pub(super) struct Elaborate<'a> {
    pub(super) file: &'a File,
    pub(super) source: &'a str,
    pub(super) pool: Pool,
    pub(super) report: &'a mut Report,
    pub(super) instances: Vec<Instance<'a>>,
    pub(super) defines: Vec<Define>,
    pub(super) variables: Vec<(Variable, bool)>,
    pub(super) arrays: Vec<Array>,
    /// Maps current symbols to next values.
    pub(super) primes: FxHashMap<SymbolId, TermId>,
    /// The symbols of enumerations.
    pub(super) literals: FxHashSet<String>,
    pub(super) assignments: Assignments,
    pub(super) machine: Machine,
}

/// The machine of the module `main`.
pub(super) fn machine(
    file: &File,
    source: &str,
    name: String,
    report: &mut Report,
) -> Option<Machine> {
    let Some(main) = file.modules.iter().find(|m| m.name == "main") else {
        report.error(Code::E0701, Span::at(0), "there is no `MODULE main`");
        return None;
    };
    let machine = Machine {
        name,
        pool: Pool::new(),
        variables: Vec::new(),
        init: Vec::new(),
        trans: Vec::new(),
        invariant: Vec::new(),
        properties: Vec::new(),
    };
    let mut all = Elaborate {
        file,
        source,
        pool: Pool::new(),
        report,
        instances: Vec::new(),
        defines: Vec::new(),
        variables: Vec::new(),
        arrays: Vec::new(),
        primes: FxHashMap::default(),
        literals: FxHashSet::default(),
        assignments: Assignments::default(),
        machine,
    };
    for m in &file.modules {
        for (_, _, of) in &m.vars {
            let mut of = of;
            while let Type::Array(_, _, inner) = of {
                of = inner;
            }
            if let Type::Values(values) = of {
                all.literals.extend(values.iter().cloned());
            }
        }
    }
    all.instances.push(Instance {
        prefix: String::new(),
        module: main,
        names: FxHashMap::default(),
    });
    let mut next = 0;
    while next < all.instances.len() {
        all.declare(next)?;
        next += 1;
    }
    for i in 0..all.instances.len() {
        all.formulas(i);
    }
    all.check_cycles();
    if all.machine.properties.is_empty() {
        all.report.add(Diagnostic::new(
            Code::W0803,
            Span::at(0),
            "this file has no specification to check",
        ));
    }
    let mut machine = all.machine;
    machine.pool = all.pool;
    machine.variables = all.variables.into_iter().map(|(v, _)| v).collect();
    Some(machine)
}

impl<'a> Elaborate<'a> {
    fn problem(&mut self, span: Span, message: String) {
        let code = if message.ends_with("not supported") { Code::E0510 } else { Code::E0302 };
        self.report.error(code, span, message);
    }

    /// The meaning of a dotted name in an instance.
    fn find(&self, i: usize, name: &str) -> Option<Entity> {
        let mut at = i;
        let mut parts = name.split('.').peekable();
        while let Some(part) = parts.next() {
            if part == "self" {
                continue;
            }
            let (entity, _) = self.instances[at].names.get(part)?;
            match entity {
                Entity::Instance(inner) => at = *inner,
                Entity::Define(d) if parts.peek().is_some() => {
                    // A parameter that denotes an instance.
                    let define = &self.defines[*d];
                    let (Part::Name(text), _) = &self.file.parts[define.value.root as usize] else {
                        return None;
                    };
                    match self.instances[define.instance].names.get(text) {
                        Some((Entity::Instance(inner), _)) => at = *inner,
                        _ => return None,
                    }
                }
                other => return parts.peek().is_none().then(|| other.clone()),
            }
        }
        Some(Entity::Instance(at))
    }

    /// Evaluates the definitions that an expression mentions, dependencies first.
    fn prepare(&mut self, i: usize, e: Expr) {
        let mut stack: Vec<usize> = self.mentioned(i, e);
        let mut open: FxHashSet<usize> = FxHashSet::default();
        while let Some(&top) = stack.last() {
            if self.defines[top].made.is_some() {
                stack.pop();
                continue;
            }
            let (instance, value, span) =
                (self.defines[top].instance, self.defines[top].value, self.defines[top].span);
            let waiting: Vec<usize> = self
                .mentioned(instance, value)
                .into_iter()
                .filter(|d| self.defines[*d].made.is_none())
                .collect();
            if waiting.is_empty() {
                let made = self.evaluate(instance, value);
                self.defines[top].made = Some(made);
                stack.pop();
            } else if !open.insert(top) {
                self.report.error(Code::E0207, span, "this definition depends on itself");
                self.defines[top].made = Some(None);
                stack.pop();
            } else {
                stack.extend(waiting);
            }
        }
    }

    fn mentioned(&self, i: usize, e: Expr) -> Vec<usize> {
        let mut found = Vec::new();
        for (part, _) in &self.file.parts[e.first as usize..=e.root as usize] {
            if let Part::Name(name) = part
                && let Some(Entity::Define(d)) = self.find(i, name)
            {
                found.push(d);
            }
        }
        found
    }

    fn value(&mut self, i: usize, e: Expr) -> Option<Value> {
        self.prepare(i, e);
        self.evaluate(i, e)
    }

    pub(super) fn term(&mut self, i: usize, e: Expr, sort: Sort) -> Option<TermId> {
        let value = self.value(i, e)?;
        let span = self.file.span(e);
        match value.term() {
            Ok(t) if self.pool.sort(t) == sort => Some(t),
            Ok(t) => {
                let (found, wanted) = (
                    self.pool.sort(t).name(&self.pool).into_owned(),
                    sort.name(&self.pool).into_owned(),
                );
                self.report.error(
                    Code::E0301,
                    span,
                    format!("this has sort {found}, and {wanted} is needed"),
                );
                None
            }
            Err(message) => {
                self.problem(span, message);
                None
            }
        }
    }

    /// The value of an expression whose definitions are evaluated.
    fn evaluate(&mut self, i: usize, e: Expr) -> Option<Value> {
        let first = e.first as usize;
        let mut built: Vec<Option<Value>> = Vec::new();
        for k in first..=e.root as usize {
            let (part, span) = &self.file.parts[k];
            let of = |at: &u32| built[*at as usize - first].clone();
            let made = match part {
                Part::Int(v) => Ok(Some(Value::Term(self.pool.int(v.clone()), false))),
                Part::Bool(b) => {
                    Ok(Some(Value::Term(if *b { self.pool.tt() } else { self.pool.ff() }, false)))
                }
                Part::Real(r) => Ok(Some(Value::Term(self.pool.real(r.clone()), false))),
                Part::Word(signed, bits, v) => match Width::new(*bits) {
                    Some(width) => Ok(Some(Value::Term(self.pool.bits(width, v.clone()), *signed))),
                    None => Err(format!("a word of {bits} bits is not possible")),
                },
                Part::Name(name) => Ok(self.named(i, name, *span)),
                Part::Unary(op @ ("!" | "-"), a) => match of(a) {
                    Some(a) => values::unary(&mut self.pool, op, &a).map(Some),
                    None => Ok(None),
                },
                Part::Unary(op, _) => {
                    Err(format!("the temporal operator `{op}` at this place is not supported"))
                }
                Part::Binary(op, a, b) => match (of(a), of(b)) {
                    (Some(a), Some(b)) => values::binary(&mut self.pool, op, &a, &b).map(Some),
                    _ => Ok(None),
                },
                Part::Ite(c, a, b) => match (of(c), of(a), of(b)) {
                    (Some(c), Some(a), Some(b)) => c.term().and_then(|c| {
                        let otherwise = self.pool.tt();
                        values::cases(&mut self.pool, vec![(c, a), (otherwise, b)]).map(Some)
                    }),
                    _ => Ok(None),
                },
                Part::Case(branches) => {
                    let mut list = Vec::new();
                    for pair in branches.chunks(2) {
                        if let [c, v] = pair
                            && let (Some(c), Some(v)) = (of(c), of(v))
                            && let Ok(c) = c.term()
                            && self.pool.sort(c) == Sort::Bool
                        {
                            list.push((c, v));
                        }
                    }
                    if 2 * list.len() == branches.len() {
                        values::cases(&mut self.pool, list).map(Some)
                    } else {
                        Err("the conditions of a `case` are formulas".to_string())
                    }
                }
                Part::Set(parts) => {
                    Ok(parts.iter().map(of).collect::<Option<Vec<Value>>>().map(Value::Set))
                }
                Part::Range(a, b) => match (of(a), of(b)) {
                    (Some(a), Some(b)) => {
                        a.term().and_then(|a| Ok(Some(Value::Range(a, b.term()?))))
                    }
                    _ => Ok(None),
                },
                Part::Bits(w, h, l) => match (of(w), of(h), of(l)) {
                    (Some(w), Some(h), Some(l)) => {
                        values::bits(&mut self.pool, &w, &h, &l).map(Some)
                    }
                    _ => Ok(None),
                },
                Part::Index(array, at) => match (of(array), of(at)) {
                    (Some(array), Some(at)) => {
                        values::element(&mut self.pool, &array, &at).map(Some)
                    }
                    _ => Ok(None),
                },
                Part::Call(name, args) => match args.iter().map(of).collect::<Option<Vec<Value>>>()
                {
                    Some(args) if name == "next" => self.next(&args).map(Some),
                    Some(args) => values::call(&mut self.pool, name, &args).map(Some),
                    None => Ok(None),
                },
            };
            match made {
                Ok(made) => built.push(made),
                Err(message) => {
                    self.problem(*span, message);
                    return None;
                }
            }
        }
        built.pop().flatten()
    }

    fn next(&mut self, args: &[Value]) -> Result<Value, String> {
        let [Value::Term(t, signed)] = args else {
            return Err("`next` of this is not supported".to_string());
        };
        if self.input_in(&self.pool.free_symbols(&[*t])).is_some() {
            return Err("`next` of an input variable is not supported".to_string());
        }
        Ok(Value::Term(self.pool.substitute(*t, &self.primes), *signed))
    }

    fn named(&mut self, i: usize, name: &str, span: Span) -> Option<Value> {
        match self.find(i, name) {
            Some(Entity::Var(v)) => {
                let (variable, signed) = &self.variables[v];
                let (symbol, signed) = (variable.current, *signed);
                Some(Value::Term(self.pool.var(symbol), signed))
            }
            Some(Entity::Define(d)) => self.defines[d].made.clone().flatten(),
            Some(Entity::Array(a)) => Some(self.array(a)),
            Some(Entity::Instance(_)) => {
                self.report.error(
                    Code::E0208,
                    span,
                    format!("`{name}` is a module instance, not a value"),
                );
                None
            }
            None if self.literals.contains(name) => Some(Value::Literal(name.to_string())),
            None => {
                let mut known: Vec<&str> =
                    self.instances[i].names.keys().map(String::as_str).collect();
                known.sort_unstable();
                let near = nearest(name, known);
                let diagnostic =
                    Diagnostic::new(Code::E0202, span, format!("there is no `{name}` here"));
                self.report.add(diagnostic.did_you_mean(near));
                None
            }
        }
    }

    /// Reports a cycle of assignments.
    fn check_cycles(&mut self) {
        let symbols: Vec<_> = self.variables.iter().map(|(v, _)| (v.current, v.next)).collect();
        let Some((cycle, span)) = self.assignments.cycle(&symbols) else { return };
        let names: Vec<&str> =
            cycle.iter().chain(cycle.first()).map(|&v| &*self.variables[v].0.name).collect();
        let message =
            format!("the value of `{}` depends on itself: {}", names[0], names.join(" -> "));
        let advice =
            "constraints that go round in a circle can be written with INVAR, INIT and TRANS";
        self.report.add(Diagnostic::new(Code::E1504, span, message).help(advice));
    }

    /// Translates the formulas of an instance.
    fn formulas(&mut self, i: usize) {
        let module = self.instances[i].module;
        for (when, name, value) in &module.assigns {
            let v = match self.find(i, &name.text) {
                Some(Entity::Var(v)) => v,
                Some(Entity::Array(_)) => {
                    let message = format!(
                        "`{}` is an array: its elements are assigned one by one",
                        name.text
                    );
                    self.report.error(Code::E0208, name.span, message);
                    continue;
                }
                _ => {
                    self.named(i, &name.text, name.span);
                    continue;
                }
            };
            let (variable, signed) = self.variables[v].clone();
            let text = *value;
            let Some(value) = self.value(i, text) else { continue };
            if variable.next.is_none() {
                let message =
                    format!("`{}` is an input variable: it cannot be assigned", variable.name);
                let help = "restrict it with TRANS, or declare it with VAR";
                self.report.add(Diagnostic::new(Code::E0403, name.span, message).help(help));
                continue;
            }
            let mentioned = mentions(&self.pool, &value);
            if *when != When::Next
                && let Some(input) = self.input_mentioned(i, text)
            {
                let place = if *when == When::Init {
                    "an assignment to `init`"
                } else {
                    "an assignment of all instants"
                };
                self.input_out_of_step(&input, place, name.span);
                continue;
            }
            if let Err(first) = self.assignments.add(*when, v, mentioned, name.span) {
                let message = format!("`{}` is given a value that it has already", variable.name);
                let diagnostic = Diagnostic::new(Code::E0401, name.span, message);
                let advice = "`:=` gives the values of all instants, `init` the first one, `next` the others: each at most once";
                self.report.add(diagnostic.label(first, "assigned here first").help(advice));
                continue;
            }
            let symbol = match (when, variable.next) {
                (When::Next, Some(next)) => next,
                _ => variable.current,
            };
            let left = Value::Term(self.pool.var(symbol), signed);
            match values::equal(&mut self.pool, &left, &value) {
                Ok(t) => match when {
                    When::Init => self.machine.init.push(t),
                    When::Next => self.machine.trans.push(t),
                    When::Now => self.machine.invariant.push(t),
                },
                Err(message) => self.problem(name.span, message),
            }
        }
        for &e in &module.init {
            let made = self.without_inputs(i, e, "INIT");
            self.machine.init.extend(made);
        }
        for &e in &module.trans {
            let made = self.term(i, e, Sort::Bool);
            self.machine.trans.extend(made);
        }
        for &e in &module.invar {
            let made = self.without_inputs(i, e, "INVAR");
            self.machine.invariant.extend(made);
        }
        for (k, (spec, name, formula, span)) in module.specs.iter().enumerate() {
            let kind = match spec {
                Spec::Invariant => self.invariant(i, *formula, "INVARSPEC"),
                _ => self.temporal(i, *formula, *spec),
            };
            let Some(kind) = kind else { continue };
            let word = match spec {
                Spec::Invariant => "INVARSPEC",
                Spec::Linear => "LTLSPEC",
                Spec::Branching => "CTLSPEC",
            };
            let prefix = self.instances[i].prefix.clone();
            let name = match name {
                Some(name) => format!("{prefix}{}", name.text),
                None if module.specs.len() == 1 => format!("{prefix}{word}"),
                None => format!("{prefix}{word} {}", k + 1),
            };
            let text = self.source[span.range()].split_whitespace().collect::<Vec<_>>().join(" ");
            self.machine.properties.push(Property { name, kind, text, span: Some(*span) });
        }
    }

    /// A formula about one state; reports a `next`.
    fn about_state(&mut self, i: usize, e: Expr, place: &str) -> Option<TermId> {
        let made = self.term(i, e, Sort::Bool)?;
        let next: FxHashSet<SymbolId> = self.variables.iter().filter_map(|(v, _)| v.next).collect();
        if self.pool.free_symbols(&[made]).iter().any(|s| next.contains(s)) {
            let message = format!("`next` cannot stand in {place}: it speaks of one state");
            let help = "keep the value in a variable: `ASSIGN next(before) := x;`, and speak of `before` and `x`";
            self.report.add(Diagnostic::new(Code::E0403, self.file.span(e), message).help(help));
            return None;
        }
        Some(made)
    }

    /// An invariant: about every step if its text mentions inputs, even if its truth does not
    /// depend on them.
    fn invariant(&mut self, i: usize, e: Expr, place: &str) -> Option<PropertyKind> {
        let made = self.about_state(i, e, place)?;
        let is_of_steps = self.input_mentioned(i, e).is_some();
        Some(if is_of_steps { PropertyKind::EveryStep(made) } else { PropertyKind::Always(made) })
    }

    /// The name of an input that the text of an expression mentions, directly or through a
    /// definition or argument.
    fn input_mentioned(&self, i: usize, e: Expr) -> Option<String> {
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut open = vec![(i, e)];
        while let Some((i, e)) = open.pop() {
            for (part, _) in &self.file.parts[e.first as usize..=e.root as usize] {
                let Part::Name(name) = part else { continue };
                let mut entities: Vec<Entity> = self.find(i, name).into_iter().collect();
                while let Some(entity) = entities.pop() {
                    match entity {
                        Entity::Var(v) if self.variables[v].0.next.is_none() => {
                            return Some(self.variables[v].0.name.clone());
                        }
                        Entity::Define(d) if seen.insert(d) => {
                            open.push((self.defines[d].instance, self.defines[d].value));
                        }
                        Entity::Array(a) => {
                            entities.extend(self.arrays[a].elements.iter().cloned())
                        }
                        Entity::Var(_) | Entity::Define(_) | Entity::Instance(_) => {}
                    }
                }
            }
        }
        None
    }

    /// A formula about one state that mentions no input.
    fn without_inputs(&mut self, i: usize, e: Expr, place: &str) -> Option<TermId> {
        let made = self.about_state(i, e, place)?;
        match self.input_mentioned(i, e) {
            None => Some(made),
            Some(input) => {
                self.input_out_of_step(&input, place, self.file.span(e));
                None
            }
        }
    }

    /// The name of an input among the symbols.
    fn input_in(&self, symbols: &[SymbolId]) -> Option<String> {
        let symbols: FxHashSet<SymbolId> = symbols.iter().copied().collect();
        let is_input = |v: &&(Variable, bool)| v.0.next.is_none() && symbols.contains(&v.0.current);
        self.variables.iter().find(is_input).map(|(v, _)| v.name.clone())
    }

    fn input_out_of_step(&mut self, input: &str, place: &str, span: Span) {
        let message = format!(
            "`{input}` is an input variable: it belongs to a step and cannot stand in {place}"
        );
        let help =
            "an input variable has its place in TRANS, `next(x) := …`, INVARSPEC and LTLSPEC";
        self.report.add(Diagnostic::new(Code::E0406, span, message).help(help));
    }

    /// `G p`, `F p`, `G F p`, `G (p -> F q)`; for a branching-time property only the first.
    fn temporal(&mut self, i: usize, e: Expr, spec: Spec) -> Option<PropertyKind> {
        let file = self.file;
        let part = |at: u32| &file.parts[at as usize].0;
        let kind = match part(e.root) {
            Part::Unary("G", inner) => match part(*inner) {
                Part::Unary("F", p) if spec == Spec::Linear => {
                    let p = self.below(*p);
                    PropertyKind::AlwaysEventually(self.about_state(i, p, "a property")?)
                }
                Part::Binary("->", p, q)
                    if spec == Spec::Linear && matches!(part(*q), Part::Unary("F", _)) =>
                {
                    let Part::Unary(_, q) = part(*q) else { return None };
                    let (p, q) = (self.below(*p), self.below(*q));
                    PropertyKind::LeadsTo(
                        self.about_state(i, p, "a property")?,
                        self.about_state(i, q, "a property")?,
                    )
                }
                _ => {
                    let p = self.below(*inner);
                    match spec {
                        Spec::Branching => {
                            PropertyKind::Always(self.without_inputs(i, p, "a CTL property")?)
                        }
                        _ => self.invariant(i, p, "a property")?,
                    }
                }
            },
            Part::Unary("F", p) if spec == Spec::Linear => {
                let p = self.below(*p);
                PropertyKind::Eventually(self.about_state(i, p, "a property")?)
            }
            _ => {
                let span = file.span(e);
                self.report.error(
                    Code::E0510,
                    span,
                    "a temporal formula of this shape is not supported",
                );
                return None;
            }
        };
        Some(kind)
    }

    /// The expression with this root.
    fn below(&self, root: u32) -> Expr {
        let mut first = root;
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            first = first.min(at);
            match &self.file.parts[at as usize].0 {
                Part::Int(_) | Part::Bool(_) | Part::Real(_) | Part::Word(..) | Part::Name(_) => {}
                Part::Unary(_, a) => stack.push(*a),
                Part::Binary(_, a, b) | Part::Range(a, b) | Part::Index(a, b) => {
                    stack.extend([*a, *b])
                }
                Part::Ite(a, b, c) | Part::Bits(a, b, c) => stack.extend([*a, *b, *c]),
                Part::Case(parts) | Part::Set(parts) | Part::Call(_, parts) => stack.extend(parts),
            }
        }
        Expr { root, first }
    }
}
