//! S-expressions to terms, with an explicit stack: `let`s nested a hundred thousand deep are common in these languages.
//!
//! Ints become reals where an operator has arguments of both sorts, as printers of these languages are careless about it.
//! A quotient whose divisor is not a constant other than zero is refused, as SMT-LIB lets a quotient by zero be anything,
//! unless its value is not used then: `(ite (= d 0) e (div a d))`.

use super::functions;
use super::tree::{Id, Kind, Tree};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::report::Report;
use crate::span::Span;
use crate::suggest::nearest;
use gander_runtime::check_cancelled;
use gander_term::{ArraySort, IBig, Pool, Sort, SymbolId, TermId, Value, Width};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Term(TermId),
    /// A defined function.
    Function {
        params: Vec<SymbolId>,
        body: TermId,
    },
    /// An unknown predicate of a Horn system.
    Predicate(usize),
}

/// An occurrence of an unknown predicate; in terms a fresh symbol stands for it.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub predicate: usize,
    pub args: Vec<TermId>,
    pub symbol: SymbolId,
}

/// An annotation: the term, the keyword, its value.
#[derive(Clone, Debug)]
pub(crate) struct Annotation<'a> {
    pub term: TermId,
    pub key: &'a str,
    pub value: Option<Id>,
}

/// What a term mentions by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Mention<'a> {
    Symbol(SymbolId),
    /// A defined function.
    Function(&'a str),
}

/// Reads terms in a scope.
pub(crate) struct Terms<'t, 'a> {
    pub tree: &'t Tree<'a>,
    pub pool: Pool,
    pub report: &'t mut Report,
    pub scope: FxHashMap<&'a str, Meaning>,
    /// The sorts of the arguments of each predicate.
    pub predicates: Vec<(String, Vec<Sort>)>,
    pub atoms: Vec<Atom>,
    /// The annotations of the terms read since the list was last emptied.
    pub annotations: Vec<Annotation<'a>>,
    /// What the terms mention that were read since the list was last emptied, even if nothing of it is left in their values.
    pub mentioned: Vec<Mention<'a>>,
    /// Quotients whose value is used only where the divisor is not zero.
    guarded: FxHashSet<Id>,
}

/// What is still to be done.
enum Task<'a> {
    Visit(Id),
    /// Apply the head of a list to so many values.
    Apply(Id, usize),
    /// Bind the names of a `let` to the values behind this position.
    Bind(Id),
    Unbind(Vec<(&'a str, Option<Meaning>)>),
    Annotate(Id),
    /// `cond` of so many branches with a default.
    Cond(Id, usize),
}

impl<'t, 'a> Terms<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>, report: &'t mut Report) -> Terms<'t, 'a> {
        Terms {
            tree,
            pool: Pool::new(),
            report,
            scope: FxHashMap::default(),
            predicates: Vec::new(),
            atoms: Vec::new(),
            annotations: Vec::new(),
            mentioned: Vec::new(),
            guarded: FxHashSet::default(),
        }
    }

    /// Reports a construct that has no meaning here.
    pub(crate) fn unsupported(&mut self, span: Span, what: &str) {
        self.report.error(Code::E0510, span, format!("{what} is not supported"));
    }

    /// Reports something that was expected.
    pub(crate) fn expected(&mut self, at: Id, what: &str) {
        self.report.error(Code::E0110, self.tree.span(at), format!("expected {what}"));
    }

    /// The sort that a node names.
    pub(crate) fn sort(&mut self, id: Id) -> Option<Sort> {
        match self.tree.symbol(id) {
            Some("Bool" | "bool") => return Some(Sort::Bool),
            Some("Int" | "int") => return Some(Sort::Int),
            Some("Real" | "real") => return Some(Sort::Real),
            _ => {}
        }
        let parts = self.tree.list(id);
        if let [underscore, word, width] = parts[..]
            && self.tree.symbol(underscore) == Some("_")
            && self.tree.symbol(word) == Some("BitVec")
        {
            let bits = self.tree.text(width).parse().ok().and_then(Width::new);
            if bits.is_none() {
                self.expected(width, "a number of bits");
            }
            return bits.map(Sort::BitVec);
        }
        if let [word, index, element] = parts[..]
            && self.tree.symbol(word) == Some("Array")
        {
            return self.array_sort(id, index, element);
        }
        let name = self.tree.head(id).or_else(|| self.tree.symbol(id)).unwrap_or("this");
        self.unsupported(self.tree.span(id), &format!("the sort `{name}`"));
        None
    }

    /// `(Array Int (Array Int Bool))`; goes along the elements with a stack of its own.
    fn array_sort(&mut self, id: Id, index: Id, element: Id) -> Option<Sort> {
        let mut indices = Vec::new();
        let (mut index, mut element) = (index, element);
        let mut sort = loop {
            if self.tree.head(index) == Some("Array") {
                self.unsupported(self.tree.span(index), "an array as an index");
                return None;
            }
            indices.push(self.sort(index)?);
            match self.tree.list(element)[..] {
                [word, i, e] if self.tree.symbol(word) == Some("Array") => (index, element) = (i, e),
                _ => break self.sort(element)?,
            }
        };
        while let Some(index) = indices.pop() {
            let Some(array) = self.pool.array_sort(index, sort) else {
                let deep = format!("arrays nested more than {} deep", ArraySort::MAX_NESTING);
                self.unsupported(self.tree.span(id), &deep);
                return None;
            };
            sort = array;
        }
        Some(sort)
    }

    /// The sort in `(as const (Array Int Int))`; nothing once something was reported.
    fn const_array(&mut self, head: Id) -> Option<ArraySort> {
        let [_, name, sort] = self.tree.list(head)[..] else {
            self.expected(head, "`(as const SORT)`");
            return None;
        };
        if self.tree.symbol(name) != Some("const") {
            self.unsupported(self.tree.span(head), &format!("`as {}`", self.tree.text(name)));
            return None;
        }
        match self.sort(sort)? {
            Sort::Array(array) => Some(array),
            _ => {
                self.expected(sort, "a sort of arrays");
                None
            }
        }
    }

    /// The list `((x Int) (y Bool))`.
    pub(crate) fn sorted_names(&mut self, id: Id) -> Option<Vec<(&'a str, Sort, Id)>> {
        let mut found = Vec::new();
        for pair in self.tree.list(id) {
            let [name, sort] = self.tree.list(pair)[..] else {
                self.expected(pair, "a name and a sort");
                return None;
            };
            let Some(text) = self.tree.symbol(name) else {
                self.expected(name, "a name");
                return None;
            };
            found.push((text, self.sort(sort)?, name));
        }
        Some(found)
    }

    /// The different words below a node.
    pub(crate) fn words(&self, id: Id) -> Vec<&'a str> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = Vec::new();
        let mut stack = vec![id];
        while let Some(top) = stack.pop() {
            check_cancelled();
            match self.tree.symbol(top) {
                Some(word) if seen.insert(word) => found.push(word),
                _ => stack.extend(self.tree.children(top)),
            }
        }
        found
    }

    /// A fresh symbol with about this name.
    pub(crate) fn fresh(&mut self, name: &str, sort: Sort) -> SymbolId {
        self.pool.declare_fresh(name, sort)
    }

    /// A term of a sort; an int where a real is needed becomes one.
    pub(crate) fn term_of(&mut self, id: Id, sort: Sort) -> Option<TermId> {
        let t = self.term(id)?;
        let found = self.pool.sort(t);
        if found == Sort::Int && sort == Sort::Real {
            return Some(functions::to_real(&mut self.pool, t));
        }
        if found != sort {
            let (found, wanted) = (found.name(&self.pool).into_owned(), sort.name(&self.pool).into_owned());
            let message = format!("this has sort {found}, and {wanted} is needed");
            self.report.error(Code::E0301, self.tree.span(id), message);
            return None;
        }
        Some(t)
    }

    /// The term of a node; `None` once something was reported.
    pub(crate) fn term(&mut self, root: Id) -> Option<TermId> {
        let mut tasks: Vec<Task<'a>> = vec![Task::Visit(root)];
        let mut values: Vec<TermId> = Vec::new();
        while let Some(task) = tasks.pop() {
            check_cancelled();
            let done = match task {
                Task::Visit(id) => self.visit(id, &mut tasks, &mut values),
                Task::Apply(id, count) => self.apply(id, values.len() - count, &mut values),
                Task::Bind(id) => {
                    let names: Vec<Id> = self.tree.list(id);
                    let from = values.len() - names.len();
                    let mut hidden = Vec::new();
                    for (k, pair) in names.into_iter().enumerate() {
                        let name = self.tree.children(pair).next().map_or("", |n| self.tree.text(n));
                        hidden.push((name, self.scope.insert(name, Meaning::Term(values[from + k]))));
                    }
                    values.truncate(from);
                    // The body is next, what ends the scope lies below it.
                    if let Some(Task::Unbind(slot)) = tasks.iter_mut().rev().nth(1) {
                        *slot = hidden;
                    }
                    Some(())
                }
                Task::Unbind(hidden) => {
                    self.unbind(hidden);
                    Some(())
                }
                Task::Annotate(id) => {
                    let parts = self.tree.list(id);
                    if let Some(&term) = values.last() {
                        let mut rest = parts[2..].iter().copied().peekable();
                        while let Some(key) = rest.next() {
                            let is_key = |id: Id| self.tree.symbol(id).is_some_and(|s| s.starts_with(':'));
                            let value = rest.next_if(|v| !is_key(*v));
                            self.annotations.push(Annotation { term, key: self.tree.text(key), value });
                        }
                    }
                    Some(())
                }
                Task::Cond(id, branches) => self.cond(id, branches, &mut values),
            };
            if done.is_none() {
                // Names that a `let` has hidden must be found again.
                while let Some(task) = tasks.pop() {
                    if let Task::Unbind(hidden) = task {
                        self.unbind(hidden);
                    }
                }
                return None;
            }
        }
        values.pop()
    }

    fn unbind(&mut self, hidden: Vec<(&'a str, Option<Meaning>)>) {
        for (name, before) in hidden.into_iter().rev() {
            match before {
                Some(meaning) => self.scope.insert(name, meaning),
                None => self.scope.remove(name),
            };
        }
    }

    fn visit(&mut self, id: Id, tasks: &mut Vec<Task<'a>>, values: &mut Vec<TermId>) -> Option<()> {
        match self.tree.kind(id) {
            Kind::List => self.visit_list(id, tasks),
            _ => {
                let leaf = self.leaf(id)?;
                values.push(leaf);
                Some(())
            }
        }
    }

    fn visit_list(&mut self, id: Id, tasks: &mut Vec<Task<'a>>) -> Option<()> {
        let span = self.tree.span(id);
        let mut children = self.tree.children(id);
        let Some(head) = children.next() else {
            self.report.error(Code::E0110, span, "expected a term, found `()`");
            return None;
        };
        match self.tree.symbol(head) {
            Some("let") => {
                let (Some(bindings), Some(body), None) = (children.next(), children.next(), children.next()) else {
                    self.report.error(Code::E0110, span, "`let` has bindings and a body");
                    return None;
                };
                tasks.push(Task::Unbind(Vec::new()));
                tasks.push(Task::Visit(body));
                tasks.push(Task::Bind(bindings));
                let from = tasks.len();
                for pair in self.tree.children(bindings) {
                    let mut parts = self.tree.children(pair);
                    let (Some(_), Some(value), None) = (parts.next(), parts.next(), parts.next()) else {
                        self.report.error(Code::E0110, self.tree.span(pair), "expected a name and a term");
                        return None;
                    };
                    tasks.push(Task::Visit(value));
                }
                tasks[from..].reverse();
            }
            Some("!") => {
                let Some(body) = children.next() else {
                    self.report.error(Code::E0110, span, "`!` has a term and annotations");
                    return None;
                };
                tasks.push(Task::Annotate(id));
                tasks.push(Task::Visit(body));
            }
            Some("cond") => {
                let branches: Vec<Id> = children.collect();
                tasks.push(Task::Cond(id, branches.len()));
                let from = tasks.len();
                for (k, branch) in branches.iter().enumerate() {
                    let [condition, value] = self.tree.list(*branch)[..] else {
                        self.report.error(Code::E0110, self.tree.span(*branch), "expected a condition and a term");
                        return None;
                    };
                    let is_else = self.tree.symbol(condition) == Some("else");
                    if is_else != (k + 1 == branches.len()) {
                        self.report.error(Code::E0110, self.tree.span(*branch), "`else` is the last branch of `cond`");
                        return None;
                    }
                    if !is_else {
                        tasks.push(Task::Visit(condition));
                    }
                    tasks.push(Task::Visit(value));
                }
                tasks[from..].reverse();
            }
            Some(word @ ("forall" | "exists" | "match" | "lambda" | "par")) => {
                self.unsupported(span, &format!("`{word}`"));
                return None;
            }
            Some("_") => {
                tasks.push(Task::Apply(id, 0));
            }
            word => {
                if word == Some("ite") {
                    self.guarded.extend(self.guarded_quotient(id));
                }
                let from = tasks.len();
                tasks.extend(children.map(Task::Visit));
                let count = tasks.len() - from;
                tasks[from..].reverse();
                tasks.insert(from, Task::Apply(id, count));
            }
        }
        Some(())
    }

    /// The quotient in `(ite (= d 0) e (div a d))`.
    fn guarded_quotient(&self, id: Id) -> Option<Id> {
        let [_, condition, _, quotient] = self.tree.list(id)[..] else { return None };
        let ([equals, left, zero], [_, _, divisor]) = (&self.tree.list(condition)[..], &self.tree.list(quotient)[..])
        else {
            return None;
        };
        let is_quotient = matches!(self.tree.head(quotient), Some("div" | "mod" | "/"));
        let is_zero = matches!(self.tree.text(*zero), "0" | "0.0");
        let applies = is_quotient && is_zero && self.tree.symbol(*equals) == Some("=");
        (applies && self.tree.is_same(*left, *divisor)).then_some(quotient)
    }

    fn leaf(&mut self, id: Id) -> Option<TermId> {
        let text = self.tree.text(id);
        let span = self.tree.span(id);
        match self.tree.kind(id) {
            Kind::Numeral => Some(self.pool.int(text.parse::<IBig>().unwrap_or_default())),
            Kind::Decimal => {
                let value = functions::decimal(text);
                if value.is_none() {
                    self.report.error(Code::E0107, span, format!("`{text}` is not a number"));
                }
                value.map(|v| self.pool.constant(Value::Real(v)))
            }
            Kind::Bits => {
                let value = functions::bits(text);
                if value.is_none() {
                    self.report.error(Code::E0107, span, format!("`{text}` is not a bit-vector"));
                }
                value.map(|v| self.pool.constant(v))
            }
            Kind::Text => {
                self.unsupported(span, "a string");
                None
            }
            _ => match (self.scope.get(text).cloned(), text) {
                (Some(Meaning::Term(t)), _) => {
                    self.mentioned.extend(self.pool.as_symbol(t).map(Mention::Symbol));
                    Some(t)
                }
                (Some(Meaning::Function { params, body }), _) if params.is_empty() => {
                    self.mentioned.push(Mention::Function(text));
                    Some(body)
                }
                (Some(Meaning::Predicate(p)), _) => self.atom(p, Vec::new(), span),
                (Some(Meaning::Function { .. }), _) => {
                    self.report.error(Code::E0304, span, format!("the function `{text}` needs arguments"));
                    None
                }
                (None, "true") => Some(self.pool.tt()),
                (None, "false") => Some(self.pool.ff()),
                (None, _) => {
                    self.unknown(text, span);
                    None
                }
            },
        }
    }

    fn unknown(&mut self, name: &str, span: Span) {
        let mut near = None;
        if self.scope.len() < 10_000 && !self.report.is_full() {
            let mut known: Vec<&str> = self.scope.keys().copied().collect();
            known.sort_unstable();
            near = nearest(name, known);
        }
        let diagnostic = Diagnostic::new(Code::E0202, span, format!("there is no `{name}` here"));
        self.report.add(diagnostic.did_you_mean(near));
    }

    fn atom(&mut self, predicate: usize, mut args: Vec<TermId>, span: Span) -> Option<TermId> {
        let (name, sorts) = self.predicates[predicate].clone();
        for (arg, sort) in args.iter_mut().zip(&sorts) {
            if self.pool.sort(*arg) == Sort::Int && *sort == Sort::Real {
                *arg = functions::to_real(&mut self.pool, *arg);
            }
        }
        let found: Vec<Sort> = args.iter().map(|a| self.pool.sort(*a)).collect();
        if found != sorts {
            self.report.error(Code::E0304, span, format!("the arguments of `{name}` do not fit its declaration"));
            return None;
        }
        let symbol = self.pool.declare_fresh(&format!("@{name}"), Sort::Bool);
        self.atoms.push(Atom { predicate, args, symbol });
        Some(self.pool.var(symbol))
    }

    fn apply(&mut self, id: Id, from: usize, values: &mut Vec<TermId>) -> Option<()> {
        let args = values.split_off(from);
        let span = self.tree.span(id);
        let head = self.tree.children(id).next()?;
        let made = match self.tree.symbol(head) {
            Some("_") => {
                let indexed = self.indexed(id);
                functions::indexed_constant(&mut self.pool, &indexed)
                    .or_else(|| self.refuse(span, &format!("`{}`", indexed.join(" "))))
            }
            Some(name) => match self.scope.get(name).cloned() {
                Some(Meaning::Predicate(p)) => self.atom(p, args, span),
                Some(Meaning::Function { params, body }) => {
                    self.mentioned.push(Mention::Function(name));
                    self.call(name, &params, body, args, span)
                }
                Some(Meaning::Term(_)) => {
                    self.report.error(Code::E0304, span, format!("`{name}` is not a function"));
                    None
                }
                None if self.guarded.contains(&id) => match functions::quotient(&mut self.pool, name, &args) {
                    Ok(made) => Some(made),
                    Err(_) => self.refuse(span, &format!("`{name}` of these")),
                },
                None => match functions::apply(&mut self.pool, name, &args) {
                    Ok(made) => Some(made),
                    Err(functions::Refused::Unknown) => self.refuse(span, &format!("the function `{name}`")),
                    Err(functions::Refused::Because(why)) => {
                        self.report.error(Code::E0302, span, why);
                        None
                    }
                    Err(functions::Refused::Unsupported(what)) => self.refuse(span, what),
                },
            },
            None if self.tree.head(head) == Some("as") => match (self.const_array(head)?, &args[..]) {
                (array, &[element]) => match functions::everywhere(&mut self.pool, array, element) {
                    Ok(made) => Some(made),
                    Err(functions::Refused::Because(why)) => {
                        self.report.error(Code::E0302, span, why);
                        None
                    }
                    Err(_) => self.refuse(span, "this array"),
                },
                _ => {
                    self.expected(id, "one element behind `(as const ...)`");
                    None
                }
            },
            None => {
                let indexed = self.indexed(head);
                match functions::apply_indexed(&mut self.pool, &indexed, &args) {
                    Ok(made) => Some(made),
                    Err(functions::Refused::Because(why)) => {
                        self.report.error(Code::E0302, span, why);
                        None
                    }
                    Err(_) => self.refuse(span, &format!("`{}`", indexed.join(" "))),
                }
            }
        }?;
        values.push(made);
        Some(())
    }

    fn refuse(&mut self, span: Span, what: &str) -> Option<TermId> {
        self.unsupported(span, what);
        None
    }

    /// `(_ extract 7 0)` without `_`.
    fn indexed(&self, id: Id) -> Vec<&'a str> {
        let parts: Vec<&str> = self.tree.children(id).map(|c| self.tree.text(c)).collect();
        if parts.first() == Some(&"_") { parts[1..].to_vec() } else { parts }
    }

    fn call(&mut self, name: &str, params: &[SymbolId], body: TermId, args: Vec<TermId>, span: Span) -> Option<TermId> {
        let mut map = FxHashMap::default();
        let fits = params.len() == args.len();
        for (&p, mut arg) in params.iter().zip(args) {
            let (wanted, found) = (self.pool.symbol(p).sort, self.pool.sort(arg));
            if wanted == Sort::Real && found == Sort::Int {
                arg = functions::to_real(&mut self.pool, arg);
            } else if wanted != found {
                self.report.error(Code::E0301, span, format!("an argument of `{name}` has the wrong sort"));
                return None;
            }
            map.insert(p, arg);
        }
        if !fits {
            self.report.error(Code::E0304, span, format!("`{name}` takes {} arguments", params.len()));
            return None;
        }
        Some(self.pool.substitute(body, &map))
    }

    fn cond(&mut self, id: Id, branches: usize, values: &mut Vec<TermId>) -> Option<()> {
        let mut result = values.pop()?;
        for _ in 1..branches {
            let (value, condition) = (values.pop()?, values.pop()?);
            match functions::apply(&mut self.pool, "ite", &[condition, value, result]) {
                Ok(made) => result = made,
                Err(_) => {
                    self.report.error(Code::E0302, self.tree.span(id), "the branches of this `cond` do not fit");
                    return None;
                }
            }
        }
        values.push(result);
        Some(())
    }
}
