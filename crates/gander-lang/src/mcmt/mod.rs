//! MCMT, the input language of sally: state types, sets of states, transitions, systems, queries.
//!
//! In a transition `x` (or `state.x`) is the current and `x'` (or `next.x`) the next value,
//! `input.x` an input. The other language of this name gets an error that says so. Jovanović,
//! Dutertre: Property-directed k-induction, FMCAD 2016 (the language is described with the tool).

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::language::Loaded;
use crate::machine::{Machine, Property, PropertyKind, Variable, file_stem};
use crate::smtlib::terms::{Spans, Terms, read_tree};
use gander_system::Numerals;
use gander_term::smtlib::{Id, Meaning};
use gander_term::{Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads an MCMT file: one system for each transition system that is queried.
pub fn load(source: &str, file_name: &str) -> Loaded {
    let mut report = Report::default();
    if let Some(diagnostic) = crate::sts::unreadable(source) {
        report.add(diagnostic);
        return report.loaded(Vec::new());
    }
    if let Some(diagnostic) = array_based(source) {
        report.add(diagnostic);
        return report.loaded(Vec::new());
    }
    let tree = read_tree(source, &mut report);
    let mut file = File {
        terms: Terms::new(&tree, &mut report),
        types: FxHashMap::default(),
        states: FxHashMap::default(),
        transitions: FxHashMap::default(),
        systems: Vec::new(),
    };
    for &command in tree.roots() {
        file.command(command);
    }
    let machines = file.machines(&file_stem(file_name));
    let mut systems = Vec::new();
    if !report.has_errors() {
        for machine in machines {
            match machine.build() {
                Ok(built) => systems.extend(built),
                Err(error) => {
                    report.error(Code::E0901, Span::at(0), format!("this cannot be built: {error}"))
                }
            }
        }
        if systems.is_empty() && !report.has_errors() {
            let diagnostic =
                Diagnostic::new(Code::E0505, Span::at(0), "this file defines no transition system");
            report.add(
                diagnostic
                    .help("define one: `(define-transition-system T type initial transition)`"),
            );
        }
    }
    report.loaded(systems)
}

/// The commands of the other language called MCMT.
const ARRAY_BASED: &[&str] = &[
    ":abs_heuristics",
    ":comment",
    ":dynamic_predicates",
    ":eevar",
    ":global",
    ":index",
    ":inf_neg_invariants",
    ":initial",
    ":key_search",
    ":local",
    ":max_transitions_number",
    ":smt",
    ":suggested_negated_invariants",
    ":system_axiom",
    ":transition",
    ":unsafe",
    ":var",
];

/// An error if the text is in the other language called MCMT: that of the model checker of Ghilardi
/// and Ranise for array-based systems (MCMT: a model checker modulo theories, IJCAR 2010). There
/// the first word of a line is a command such as `:initial`.
fn array_based(source: &str) -> Option<Diagnostic> {
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let words = line.trim_start();
        let begin = at + line.len() - words.len();
        at += line.len();
        let word = words.split_whitespace().next().unwrap_or("");
        if word.is_empty() || word.starts_with(';') {
            continue;
        }
        if !ARRAY_BASED.contains(&word) {
            return None;
        }
        let message = "this is the MCMT of Ghilardi and Ranise, for array-based systems, which \
                       gander does not read";
        let span = Span::new(begin as u32, (begin + word.len()) as u32);
        return Some(Diagnostic::new(Code::E0510, span, message).help(
            "gander reads the MCMT of sally, whose commands are S-expressions, such as \
             `(define-state-type ...)`",
        ));
    }
    None
}

#[derive(Clone)]
struct StateType<'a> {
    /// Name, current value, next value.
    variables: Vec<(&'a str, Sort, SymbolId, SymbolId, Span)>,
    inputs: Vec<(&'a str, Sort, SymbolId, Span)>,
}

struct Described<'a> {
    name: &'a str,
    of: &'a str,
    init: TermId,
    trans: TermId,
    assumed: Vec<TermId>,
    queries: Vec<(TermId, Span)>,
}

struct File<'t, 'a> {
    terms: Terms<'t, 'a>,
    types: FxHashMap<&'a str, StateType<'a>>,
    /// Sets of states, each with its state type.
    states: FxHashMap<&'a str, (&'a str, TermId)>,
    transitions: FxHashMap<&'a str, (&'a str, TermId)>,
    systems: Vec<Described<'a>>,
}

/// The symbols that a formula may mention.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    State,
    Step,
}

impl<'a> File<'_, 'a> {
    fn command(&mut self, command: Id) -> Option<()> {
        let tree = self.terms.tree;
        let parts = tree.list(command);
        let text = |k: usize| parts.get(k).map_or("", |id| tree.text(*id));
        if let (Some(word), Some(&name)) =
            (tree.head(command).filter(|w| w.starts_with("define-")), parts.get(1))
        {
            self.define(word, name);
        }
        match (tree.head(command), &parts[..]) {
            (Some("define-state-type"), [_, _, variables, rest @ ..]) => {
                let mut made = StateType { variables: Vec::new(), inputs: Vec::new() };
                for (name, sort, id) in self.variables(*variables)? {
                    let current = self.terms.fresh(name, sort);
                    let next = self.terms.fresh(&format!("next.{name}"), sort);
                    made.variables.push((name, sort, current, next, tree.span(id)));
                }
                if let Some(inputs) = rest.first() {
                    for (name, sort, id) in self.variables(*inputs)? {
                        let symbol = self.terms.fresh(name, sort);
                        made.inputs.push((name, sort, symbol, tree.span(id)));
                    }
                }
                self.types.insert(text(1), made);
            }
            (Some("define-constant"), [_, _, value]) => {
                let value = self.terms.term(*value)?;
                self.terms.reader.scope.insert(text(1), Meaning::Term(value));
            }
            (Some("define-states"), [_, _, of, formula]) => {
                let (at, of) = (*of, tree.text(*of));
                let formula = self.formula(at, of, *formula, Scope::State)?;
                self.states.insert(text(1), (of, formula));
            }
            (Some("define-transition"), [_, _, of, formula]) => {
                let (at, of) = (*of, tree.text(*of));
                let formula = self.formula(at, of, *formula, Scope::Step)?;
                self.transitions.insert(text(1), (of, formula));
            }
            (Some("define-transition-system"), [_, _, of, init, trans]) => {
                let (at, of) = (*of, tree.text(*of));
                let init = self.formula(at, of, *init, Scope::State)?;
                let trans = self.formula(at, of, *trans, Scope::Step)?;
                let (assumed, queries) = (Vec::new(), Vec::new());
                self.systems.push(Described { name: text(1), of, init, trans, assumed, queries });
            }
            (Some(word @ ("query" | "assume")), [_, system, formula]) => {
                let name = tree.text(*system);
                let Some(at) = self.systems.iter().position(|s| s.name == name) else {
                    let near = nearest(name, self.systems.iter().map(|s| s.name));
                    let message = format!("there is no transition system `{name}`");
                    self.terms.report.add(
                        Diagnostic::new(Code::E0202, tree.span(*system), message)
                            .did_you_mean(near),
                    );
                    return None;
                };
                let of = self.systems[at].of;
                let formula_term = self.formula(*system, of, *formula, Scope::State)?;
                if word == "query" {
                    self.systems[at].queries.push((formula_term, tree.span(command)));
                } else {
                    self.systems[at].assumed.push(formula_term);
                }
            }
            (Some("set-info" | "set-logic" | "set-option"), _) => {}
            (Some(word), _) => {
                let what = format!(
                    "the command `{word}` with {} arguments",
                    parts.len().saturating_sub(1)
                );
                self.terms.unsupported(tree.span(command), &what);
            }
            (None, _) => self.terms.expected(command, "a command"),
        }
        Some(())
    }

    /// The variables of a state type; reports repeated names.
    fn variables(&mut self, list: Id) -> Option<Vec<(&'a str, Sort, Id)>> {
        let found = self.terms.sorted_names(list)?;
        let mut names = FxHashSet::default();
        for (name, _, id) in &found {
            if !names.insert(*name) {
                let message = format!("`{name}` is declared twice");
                self.terms.report.error(Code::E0201, self.terms.tree.span(*id), message);
            }
        }
        Some(found)
    }

    /// Reports a name that is defined twice.
    fn define(&mut self, word: &str, name: Id) {
        let text = self.terms.tree.text(name);
        let taken = match word {
            "define-state-type" => self.types.contains_key(text),
            "define-transition-system" => self.systems.iter().any(|s| s.name == text),
            _ => {
                self.states.contains_key(text)
                    || self.transitions.contains_key(text)
                    || self.terms.reader.scope.contains_key(text)
            }
        };
        if taken {
            self.terms.report.error(
                Code::E0201,
                self.terms.tree.span(name),
                format!("`{text}` is defined twice"),
            );
        }
    }

    /// A formula over a state type, or the name of a defined formula.
    fn formula(&mut self, at: Id, of: &'a str, id: Id, scope: Scope) -> Option<TermId> {
        let type_name = of;
        let Some(of) = self.types.get(of).cloned() else {
            let near = nearest(of, self.types.keys().copied());
            let diagnostic = Diagnostic::new(
                Code::E0204,
                self.terms.tree.span(at),
                format!("there is no state type `{of}`"),
            );
            self.terms.report.add(diagnostic.did_you_mean(near));
            return None;
        };
        let mut bound: Vec<(String, SymbolId)> = Vec::new();
        for (name, _, current, next, _) in &of.variables {
            bound.push((name.to_string(), *current));
            bound.push((format!("state.{name}"), *current));
            if scope == Scope::Step {
                bound.push((format!("{name}'"), *next));
                bound.push((format!("next.{name}"), *next));
            }
        }
        for (name, _, symbol, _) in of.inputs.iter().filter(|_| scope == Scope::Step) {
            bound.push((format!("input.{name}"), *symbol));
        }
        let same =
            |(n, (of, t)): (&&'a str, &(&'a str, TermId))| (*of == type_name).then_some((*n, *t));
        let mut named: Vec<(&'a str, TermId)> = self.states.iter().filter_map(same).collect();
        if scope == Scope::Step {
            named.extend(self.transitions.iter().filter_map(same));
        }
        // Names with a prime or a prefix are looked up as slices of the text, so that they live
        // long enough.
        let words = self.terms.words(id);
        let by_name: FxHashMap<&str, SymbolId> =
            bound.iter().map(|(n, s)| (n.as_str(), *s)).collect();
        let mut hidden: Vec<(&'a str, Option<Meaning>)> = Vec::new();
        for word in words {
            if let Some(symbol) = by_name.get(word) {
                let term = self.terms.pool.var(*symbol);
                hidden.push((word, self.terms.reader.scope.insert(word, Meaning::Term(term))));
            } else if let Some((_, term)) = named.iter().find(|(n, _)| *n == word) {
                hidden.push((word, self.terms.reader.scope.insert(word, Meaning::Term(*term))));
            }
        }
        let made = self.terms.term_of(id, Sort::Bool);
        for (word, before) in hidden.into_iter().rev() {
            match before {
                Some(meaning) => self.terms.reader.scope.insert(word, meaning),
                None => self.terms.reader.scope.remove(word),
            };
        }
        made
    }

    fn machines(self, file: &str) -> Vec<Machine> {
        let several = self.systems.len() > 1;
        let mut machines = Vec::new();
        let base = self.terms.pool.freeze();
        for s in self.systems {
            let Some(of) = self.types.get(s.of) else { continue };
            let mut variables = Vec::new();
            let numerals = Numerals::Unsigned;
            for &(name, sort, current, next, span) in &of.variables {
                let (name, next, span) = (name.to_string(), Some(next), Some(span));
                variables.push(Variable { name, sort, current, next, numerals, span });
            }
            for &(name, sort, current, span) in &of.inputs {
                let (name, span) = (format!("input.{name}"), Some(span));
                variables.push(Variable { name, sort, current, next: None, numerals, span });
            }
            let count = s.queries.len();
            let properties = s
                .queries
                .iter()
                .enumerate()
                .map(|(k, (t, span))| Property {
                    name: if count == 1 { "query".to_string() } else { format!("query {}", k + 1) },
                    kind: PropertyKind::Always(*t),
                    text: format!("query of {}", s.name),
                    span: Some(*span),
                })
                .collect();
            machines.push(Machine {
                name: if several { s.name.to_string() } else { file.to_string() },
                pool: gander_term::Pool::fork(&base),
                variables,
                init: vec![s.init],
                trans: vec![s.trans],
                invariant: s.assumed,
                properties,
            });
        }
        machines
    }
}
