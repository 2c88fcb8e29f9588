//! VMT-LIB: transition systems as annotated SMT-LIB definitions (`:next`, `:init`, `:trans`,
//! `:invar-property`, `:live-property`, which says that its formula holds from some time on in
//! every infinite run).
//!
//! A variable with `:next` is a state variable, another one is an input. `|x|` and `x` are the same
//! symbol. Cimatti, Griggio, Tonetta: The VMT-LIB language and tools, SMT 2022.

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::language::Loaded;
use crate::machine::{Machine, Property, PropertyKind, Variable, file_stem};
use crate::smtlib::terms::{Spans, Terms, read_tree};
use gander_system::Numerals;
use gander_term::smtlib::{Id, Meaning, Mention};
use gander_term::{Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads a VMT file.
pub fn load(source: &str, file_name: &str) -> Loaded {
    let mut report = Report::default();
    if let Some(diagnostic) = crate::sts::unreadable(source) {
        report.add(diagnostic);
        return report.loaded(Vec::new());
    }
    let tree = read_tree(source, &mut report);
    let mut file = File {
        terms: Terms::new(&tree, &mut report),
        declared: Vec::new(),
        next: FxHashMap::default(),
        nexts: FxHashSet::default(),
        init: Vec::new(),
        trans: Vec::new(),
        properties: Vec::new(),
        defined_by: Vec::new(),
        mentioned: FxHashMap::default(),
        numbers: FxHashSet::default(),
    };
    for &command in tree.roots() {
        file.command(command);
    }
    let machine = file.machine(file_stem(file_name));
    let mut systems = Vec::new();
    if !report.has_errors() {
        match machine.build() {
            Ok(built) => systems.extend(built),
            Err(error) => {
                report.error(Code::E0901, Span::at(0), format!("this cannot be built: {error}"))
            }
        }
    }
    report.loaded(systems)
}

struct File<'t, 'a> {
    terms: Terms<'t, 'a>,
    declared: Vec<(&'a str, SymbolId, Span)>,
    /// The next value of each state variable.
    next: FxHashMap<SymbolId, SymbolId>,
    /// The symbols for next values.
    nexts: FxHashSet<SymbolId>,
    init: Vec<(TermId, Span)>,
    trans: Vec<TermId>,
    properties: Vec<Property>,
    /// The definition of each property.
    defined_by: Vec<&'a str>,
    /// The names that each definition mentions.
    mentioned: FxHashMap<&'a str, Vec<Mention<'a>>>,
    /// The numbers of the properties so far.
    numbers: FxHashSet<&'a str>,
}

/// The supported annotations.
const ANNOTATIONS: [&str; 5] = [":next", ":init", ":trans", ":invar-property", ":live-property"];

/// Reads `(define-fun name (params) sort body)` and adds it to the scope; its annotations are
/// collected in `terms`.
pub(crate) fn define<'a>(terms: &mut Terms<'_, 'a>, command: Id) -> Option<(&'a str, TermId)> {
    let parts = terms.tree.list(command);
    let [_, name, params, sort, body] = parts[..] else {
        terms.expected(command, "`(define-fun name (parameters) sort body)`");
        return None;
    };
    let params = terms.sorted_names(params)?;
    let sort = terms.sort(sort)?;
    let mut symbols = Vec::new();
    let mut hidden = Vec::new();
    for (text, sort, _) in params {
        let symbol = terms.fresh(text, sort);
        let term = terms.pool.var(symbol);
        symbols.push(symbol);
        hidden.push((text, terms.reader.scope.insert(text, Meaning::Term(term))));
    }
    let body = terms.term_of(body, sort);
    for (text, before) in hidden.into_iter().rev() {
        match before {
            Some(meaning) => terms.reader.scope.insert(text, meaning),
            None => terms.reader.scope.remove(text),
        };
    }
    let at = name;
    let name = terms.tree.text(name);
    if terms.reader.scope.contains_key(name) {
        terms.report.error(Code::E0201, terms.tree.span(at), format!("`{name}` is defined twice"));
    }
    let Some(body) = body else {
        // Define it anyway, so that uses cause no follow-up errors.
        let unknown = terms.fresh(name, sort);
        let body = terms.pool.var(unknown);
        terms.reader.scope.insert(name, Meaning::Function { params: symbols, body });
        return None;
    };
    terms.reader.scope.insert(name, Meaning::Function { params: symbols, body });
    Some((name, body))
}

impl<'a> File<'_, 'a> {
    fn command(&mut self, command: Id) -> Option<()> {
        let terms = &mut self.terms;
        let parts = terms.tree.list(command);
        match terms.tree.head(command) {
            Some(
                "set-info" | "set-logic" | "set-option" | "check-sat" | "exit" | "push" | "pop",
            ) => {}
            Some("declare-fun" | "declare-const") => {
                let (name, sort) = match parts[..] {
                    [_, name, sort] => (name, sort),
                    [_, name, params, sort] if terms.tree.children(params).next().is_none() => {
                        (name, sort)
                    }
                    [_, name, _, _] => {
                        let what =
                            format!("the uninterpreted function `{}`", terms.tree.text(name));
                        terms.unsupported(terms.tree.span(command), &what);
                        return None;
                    }
                    _ => {
                        terms.expected(command, "`(declare-fun name () sort)`");
                        return None;
                    }
                };
                let sort = terms.sort(sort)?;
                let text = terms.tree.text(name);
                let symbol = terms.fresh(text, sort);
                let term = terms.pool.var(symbol);
                if terms.reader.scope.insert(text, Meaning::Term(term)).is_some() {
                    terms.report.error(
                        Code::E0201,
                        terms.tree.span(name),
                        format!("`{text}` is declared twice"),
                    );
                }
                self.declared.push((text, symbol, terms.tree.span(name)));
            }
            Some("define-fun") => {
                terms.reader.annotations.clear();
                terms.reader.mentioned.clear();
                let (name, _) = define(terms, command)?;
                let span = terms.tree.span(command);
                let mut mentioned = std::mem::take(&mut terms.reader.mentioned);
                mentioned.sort_unstable();
                mentioned.dedup();
                self.mentioned.insert(name, mentioned);
                for a in std::mem::take(&mut terms.reader.annotations) {
                    self.annotation(name, a.term, a.key, a.value, span);
                }
            }
            Some("assert") => {
                let body = parts.get(1).copied()?;
                if terms.tree.symbol(body) != Some("true") {
                    terms.unsupported(
                        terms.tree.span(command),
                        "an assertion beside `:init` and `:trans`",
                    );
                }
            }
            Some(word) => {
                let what = format!("the command `{word}`");
                terms.unsupported(terms.tree.span(command), &what);
            }
            None => terms.expected(command, "a command"),
        }
        Some(())
    }

    fn annotation(
        &mut self,
        name: &'a str,
        term: TermId,
        key: &str,
        value: Option<Id>,
        span: Span,
    ) {
        let tree = self.terms.tree;
        let about_states = matches!(key, ":init" | ":trans" | ":invar-property" | ":live-property");
        if about_states && self.terms.pool.sort(term) != Sort::Bool {
            self.terms.report.error(
                Code::E0301,
                span,
                format!("`{key}` stands at a formula, and this is not one"),
            );
            return;
        }
        match key {
            // The language allows one formula of each kind; a second one may be another version, or
            // a mistake.
            ":init" if !self.init.is_empty() => self.second(key, span),
            ":trans" if !self.trans.is_empty() => self.second(key, span),
            ":init" => self.init.push((term, span)),
            ":trans" => self.trans.push(term),
            ":invar-property" => {
                let number = self.number(key, value, span);
                let text = format!("invar-property {number} `{name}`");
                let kind = PropertyKind::Always(term);
                self.defined_by.push(name);
                let name = if name.starts_with('.') {
                    format!("property {number}")
                } else {
                    name.to_string()
                };
                self.properties.push(Property { name, kind, text, span: Some(span) });
            }
            ":live-property" => {
                // The formula holds from some time on: its negation does not hold infinitely often.
                let number = self.number(key, value, span);
                let text = format!("live-property {number} `{name}`");
                let kind = PropertyKind::NotInfinitelyOften(vec![self.terms.pool.not(term)]);
                self.defined_by.push(name);
                let name = if name.starts_with('.') {
                    format!("property {number}")
                } else {
                    name.to_string()
                };
                self.properties.push(Property { name, kind, text, span: Some(span) });
            }
            ":next" => {
                let next = value.and_then(|v| match self.terms.reader.scope.get(tree.text(v)) {
                    Some(Meaning::Term(t)) => self.terms.pool.as_symbol(*t),
                    _ => None,
                });
                match (self.terms.pool.as_symbol(term), next) {
                    (Some(current), Some(next)) => {
                        let sorts = (
                            self.terms.pool.symbol(current).sort,
                            self.terms.pool.symbol(next).sort,
                        );
                        let taken = next == current || !self.nexts.insert(next);
                        if sorts.0 != sorts.1 || taken || self.next.insert(current, next).is_some()
                        {
                            let message =
                                "a variable has one next value, of its sort, that is no other's";
                            self.terms.report.error(Code::E0301, span, message);
                        }
                    }
                    _ => self.terms.report.error(
                        Code::E0202,
                        span,
                        "`:next` relates two declared variables",
                    ),
                }
            }
            // Other annotations may be for other tools, but a misspelt one would drop a property.
            _ => {
                if let Some(near) = nearest(key, ANNOTATIONS) {
                    let message =
                        format!("the annotation `{key}` has no meaning here and is skipped");
                    let diagnostic = Diagnostic::new(Code::W0820, span, message);
                    self.terms.report.add(diagnostic.did_you_mean(Some(near)));
                }
            }
        }
    }

    /// Variables without a next value.
    fn inputs(&self) -> FxHashSet<SymbolId> {
        let inputs = self
            .declared
            .iter()
            .filter(|(_, s, _)| !self.nexts.contains(s) && !self.next.contains_key(s));
        inputs.map(|(_, s, _)| *s).collect()
    }

    /// Invariants whose text mentions inputs are about steps, even if their truth does not depend
    /// on the inputs.
    fn find_properties_of_steps(&mut self) {
        let inputs = self.inputs();
        for (property, of) in self.properties.iter_mut().zip(&self.defined_by) {
            let PropertyKind::Always(t) = property.kind else { continue };
            let mut seen: FxHashSet<&str> = FxHashSet::default();
            let mut open: Vec<&str> = vec![*of];
            while let Some(definition) = open.pop() {
                if !seen.insert(definition) {
                    continue;
                }
                for mention in self.mentioned.get(definition).into_iter().flatten() {
                    match mention {
                        Mention::Symbol(s) if inputs.contains(s) => {
                            property.kind = PropertyKind::EveryStep(t)
                        }
                        Mention::Symbol(_) => {}
                        Mention::Function(name) => open.push(name),
                    }
                }
            }
        }
    }

    /// Reports inputs and next values in `:init`.
    fn check_init(&mut self) {
        let inputs = self.inputs();
        for &(t, span) in &self.init {
            let free = self.terms.pool.free_symbols(&[t]);
            let Some(found) = free.iter().find(|s| inputs.contains(s) || self.nexts.contains(s))
            else {
                continue;
            };
            let name = &self.terms.pool.symbol(*found).name;
            let (code, what) = if inputs.contains(found) {
                (Code::E0406, "an input (it has no `:next`), which belongs to a step")
            } else {
                (Code::E0404, "a next value")
            };
            let message = format!("`:init` is about states, and `{name}` is {what}");
            self.terms.report.error(code, span, message);
        }
    }

    fn second(&mut self, key: &str, span: Span) {
        let message = format!("a file has one formula with `{key}`, and this is a second one");
        let diagnostic = Diagnostic::new(Code::E0201, span, message);
        self.terms.report.add(diagnostic.help("if both are meant, write one formula: `(and a b)`"));
    }

    /// The number of a property; reports a repeated one.
    fn number(&mut self, key: &str, value: Option<Id>, span: Span) -> &'a str {
        let number = value.map_or("", |v| self.terms.tree.text(v));
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            let message = format!("expected the number of the property behind `{key}`");
            self.terms.report.error(Code::E0110, span, message);
        } else if !self.numbers.insert(number) {
            self.terms.report.error(
                Code::E0201,
                span,
                format!("two properties have the number {number}"),
            );
        }
        number
    }

    fn machine(mut self, name: String) -> Machine {
        self.check_init();
        self.find_properties_of_steps();
        if self.properties.is_empty() && !self.terms.report.has_errors() {
            let diagnostic =
                Diagnostic::new(Code::W0803, Span::at(0), "this file has no property to check");
            self.terms.report.add(diagnostic.help("annotate a formula with `:invar-property 0`"));
        }
        let pool = self.terms.pool;
        let variables = self
            .declared
            .iter()
            .filter(|(_, s, _)| !self.nexts.contains(s))
            .map(|&(name, current, span)| Variable {
                name: name.to_string(),
                sort: pool.symbol(current).sort,
                current,
                next: self.next.get(&current).copied(),
                numerals: Numerals::Unsigned,
                span: Some(span),
            })
            .collect();
        let init = self.init.into_iter().map(|(t, _)| t).collect();
        let (trans, properties) = (self.trans, self.properties);
        Machine { name, pool, variables, init, trans, invariant: Vec::new(), properties }
    }
}
