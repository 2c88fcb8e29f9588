//! S-expressions to terms, with an explicit stack: `let`s nested a hundred thousand deep are common
//! in files.
//!
//! Ints become reals where an operator has arguments of both sorts, as printers of these languages
//! are careless about it. In files, a quotient whose divisor is not a constant other than zero is
//! refused, as SMT-LIB lets a quotient by zero be anything, unless its value is not used then:
//! `(ite (= d 0) e (div a d))`.

use super::functions::{self, Refused};
use super::literal;
use super::tree::{Id, Kind, Tree};
use crate::{ArraySort, IBig, Pool, Sort, SymbolId, TermId, Value, Width};
use gander_runtime::check_cancelled;
use rustc_hash::{FxHashMap, FxHashSet};

/// Whose text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A file: terms whose meaning SMT-LIB leaves open are refused. Terms are not simplified.
    File,
    /// The output of a solver about formulas that gander wrote: quotients have gander's meaning,
    /// strings and testers of variants are read, conjunctions and disjunctions are simplified.
    Solver,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A term.
    Term(TermId),
    /// A defined function.
    Function {
        /// The symbols in the body that stand for the arguments.
        params: Vec<SymbolId>,
        /// The value.
        body: TermId,
    },
    /// An unknown predicate of a Horn system.
    Predicate(usize),
}

/// An occurrence of an unknown predicate; in terms a fresh symbol stands for it.
#[derive(Clone, Debug)]
pub struct Atom {
    /// Its position in [`TermReader::predicates`].
    pub predicate: usize,
    /// What it is applied to.
    pub args: Vec<TermId>,
    /// The symbol that stands for it.
    pub symbol: SymbolId,
}

/// An annotation.
#[derive(Clone, Debug)]
pub struct Annotation<'t> {
    /// What is annotated.
    pub term: TermId,
    /// `:keyword`
    pub key: &'t str,
    /// The value, if there is one.
    pub value: Option<Id>,
}

/// What a term mentions by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mention<'t> {
    /// A variable.
    Symbol(SymbolId),
    /// A defined function.
    Function(&'t str),
}

/// The kind of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProblemKind {
    /// Something else is expected in this place.
    Syntax,
    /// A number or bit-vector that is none.
    Literal,
    /// A name that is not in scope: the text of the node.
    UnknownName,
    /// A term of another sort is needed.
    Sort,
    /// An operator cannot be applied to these terms.
    Operator,
    /// The number or sorts of arguments do not fit a declaration.
    Arguments,
    /// A construct that has no meaning here.
    Unsupported,
}

/// Why a node cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The kind of the problem.
    pub kind: ProblemKind,
    /// The node.
    pub at: Id,
    /// A sentence.
    pub message: String,
}

impl Problem {
    fn new(kind: ProblemKind, at: Id, message: impl Into<String>) -> Problem {
        Problem { kind, at, message: message.into() }
    }

    /// Something else is expected.
    fn expected(at: Id, what: &str) -> Problem {
        Problem::new(ProblemKind::Syntax, at, format!("expected {what}"))
    }

    /// A construct that has no meaning here.
    fn unsupported(at: Id, what: &str) -> Problem {
        Problem::new(ProblemKind::Unsupported, at, format!("{what} is not supported"))
    }

    fn refused(at: Id, refused: Refused, what: &str) -> Problem {
        match refused {
            Refused::Unknown => Problem::unsupported(at, what),
            Refused::Because(why) => Problem::new(ProblemKind::Operator, at, why),
            Refused::Unsupported(what) => Problem::unsupported(at, what),
        }
    }
}

/// Reads terms in a scope.
pub struct TermReader<'t> {
    tree: &'t Tree<'t>,
    reading: Reading,
    /// What names stand for.
    pub scope: FxHashMap<&'t str, Meaning>,
    /// Declared sorts.
    pub sorts: FxHashMap<&'t str, Sort>,
    /// The name and the sorts of the arguments of each predicate.
    pub predicates: Vec<(String, Vec<Sort>)>,
    /// The occurrences of predicates in the terms read so far.
    pub atoms: Vec<Atom>,
    /// The annotations of the terms read since the list was last emptied.
    pub annotations: Vec<Annotation<'t>>,
    /// What the terms mention that were read since the list was last emptied, even if nothing of it
    /// is left in their values.
    pub mentioned: Vec<Mention<'t>>,
    /// Quotients whose value is used only where the divisor is not zero.
    guarded: FxHashSet<Id>,
}

/// What is still to be done.
enum Task<'t> {
    Visit(Id),
    /// Apply the head of a list to so many values.
    Apply(Id, usize),
    /// Bind the names of a `let` to the values behind this position.
    Bind(Id),
    Unbind(Vec<(&'t str, Option<Meaning>)>),
    Annotate(Id),
    /// `cond` of so many branches with a default.
    Cond(Id, usize),
}

impl<'t> TermReader<'t> {
    /// A reader without names in scope.
    pub fn new(tree: &'t Tree<'t>, reading: Reading) -> TermReader<'t> {
        TermReader {
            tree,
            reading,
            scope: FxHashMap::default(),
            sorts: FxHashMap::default(),
            predicates: Vec::new(),
            atoms: Vec::new(),
            annotations: Vec::new(),
            mentioned: Vec::new(),
            guarded: FxHashSet::default(),
        }
    }

    /// The sort that a node names.
    pub fn sort(&self, pool: &mut Pool, id: Id) -> Result<Sort, Problem> {
        let tree = self.tree;
        let parts = tree.list(id);
        // Z3 reads `(Int)` as `Int`.
        let alone = match parts[..] {
            [name] if self.reading == Reading::File => name,
            _ => id,
        };
        match tree.symbol(alone) {
            Some("Bool" | "bool") => return Ok(Sort::Bool),
            Some("Int" | "int") => return Ok(Sort::Int),
            Some("Real" | "real") => return Ok(Sort::Real),
            Some(name) if self.sorts.contains_key(name) => return Ok(self.sorts[name]),
            _ => {}
        }
        if let [underscore, word, width] = parts[..]
            && tree.symbol(underscore) == Some("_")
            && tree.symbol(word) == Some("BitVec")
        {
            let bits = tree.text(width).parse().ok().and_then(Width::new);
            let width = bits.ok_or_else(|| Problem::expected(width, "a number of bits"));
            return width.map(Sort::BitVec);
        }
        if let [word, index, element] = parts[..]
            && tree.symbol(word) == Some("Array")
        {
            return self.array_sort(pool, id, index, element);
        }
        let name = tree.head(id).or_else(|| tree.symbol(id)).unwrap_or("this");
        Err(Problem::unsupported(id, &format!("the sort `{name}`")))
    }

    /// `(Array Int (Array Int Bool))`; goes along the elements with a stack of its own.
    fn array_sort(&self, pool: &mut Pool, id: Id, index: Id, element: Id) -> Result<Sort, Problem> {
        let mut indices = Vec::new();
        let (mut index, mut element) = (index, element);
        let mut sort = loop {
            if self.tree.head(index) == Some("Array") {
                return Err(Problem::unsupported(index, "an array as an index"));
            }
            indices.push(self.sort(pool, index)?);
            match self.tree.list(element)[..] {
                [word, i, e] if self.tree.symbol(word) == Some("Array") => {
                    (index, element) = (i, e)
                }
                _ => break self.sort(pool, element)?,
            }
        };
        while let Some(index) = indices.pop() {
            sort = pool.array_sort(index, sort).ok_or_else(|| {
                let deep = format!("arrays nested more than {} deep", ArraySort::MAX_NESTING);
                Problem::unsupported(id, &deep)
            })?;
        }
        Ok(sort)
    }

    /// The sort in `(as const (Array Int Int))`.
    fn const_array(&self, pool: &mut Pool, head: Id) -> Result<ArraySort, Problem> {
        let [_, name, sort] = self.tree.list(head)[..] else {
            return Err(Problem::expected(head, "`(as const SORT)`"));
        };
        if self.tree.symbol(name) != Some("const") {
            let what = format!("`as {}`", self.tree.text(name));
            return Err(Problem::unsupported(head, &what));
        }
        match self.sort(pool, sort)? {
            Sort::Array(array) => Ok(array),
            _ => Err(Problem::expected(sort, "a sort of arrays")),
        }
    }

    /// The list `((x Int) (y Bool))`.
    pub fn sorted_names(
        &self,
        pool: &mut Pool,
        id: Id,
    ) -> Result<Vec<(&'t str, Sort, Id)>, Problem> {
        let mut found = Vec::new();
        for pair in self.tree.list(id) {
            let [name, sort] = self.tree.list(pair)[..] else {
                return Err(Problem::expected(pair, "a name and a sort"));
            };
            let Some(text) = self.tree.symbol(name) else {
                return Err(Problem::expected(name, "a name"));
            };
            found.push((text, self.sort(pool, sort)?, name));
        }
        Ok(found)
    }

    /// A term of a sort; an int where a real is needed becomes one.
    pub fn term_of(&mut self, pool: &mut Pool, id: Id, sort: Sort) -> Result<TermId, Problem> {
        let t = self.term(pool, id)?;
        let found = pool.sort(t);
        if found == Sort::Int && sort == Sort::Real {
            return Ok(functions::to_real(pool, t));
        }
        if found != sort {
            let (found, wanted) = (found.name(pool).into_owned(), sort.name(pool).into_owned());
            let message = format!("this has sort {found}, and {wanted} is needed");
            return Err(Problem::new(ProblemKind::Sort, id, message));
        }
        Ok(t)
    }

    /// The term of a node.
    pub fn term(&mut self, pool: &mut Pool, root: Id) -> Result<TermId, Problem> {
        let mut tasks: Vec<Task<'t>> = vec![Task::Visit(root)];
        let mut values: Vec<TermId> = Vec::new();
        while let Some(task) = tasks.pop() {
            check_cancelled();
            let done = match task {
                Task::Visit(id) => self.visit(pool, id, &mut tasks, &mut values),
                Task::Apply(id, count) => {
                    let args = values.split_off(values.len() - count);
                    self.apply(pool, id, args).map(|made| values.push(made))
                }
                Task::Bind(id) => {
                    let names: Vec<Id> = self.tree.list(id);
                    let from = values.len() - names.len();
                    let mut hidden = Vec::new();
                    for (k, pair) in names.into_iter().enumerate() {
                        let name =
                            self.tree.children(pair).next().map_or("", |n| self.tree.text(n));
                        hidden
                            .push((name, self.scope.insert(name, Meaning::Term(values[from + k]))));
                    }
                    values.truncate(from);
                    // The body is next, what ends the scope lies below it.
                    if let Some(Task::Unbind(slot)) = tasks.iter_mut().rev().nth(1) {
                        *slot = hidden;
                    }
                    Ok(())
                }
                Task::Unbind(hidden) => {
                    self.unbind(hidden);
                    Ok(())
                }
                Task::Annotate(id) => {
                    if let Some(&term) = values.last() {
                        self.annotate(id, term);
                    }
                    Ok(())
                }
                Task::Cond(id, branches) => self.cond(pool, id, branches, &mut values),
            };
            if let Err(problem) = done {
                // Names that a `let` has hidden must be found again.
                while let Some(task) = tasks.pop() {
                    if let Task::Unbind(hidden) = task {
                        self.unbind(hidden);
                    }
                }
                return Err(problem);
            }
        }
        values.pop().ok_or_else(|| Problem::expected(root, "a term"))
    }

    /// Gives names back what they stood for, the last one first.
    pub fn unbind(&mut self, hidden: Vec<(&'t str, Option<Meaning>)>) {
        for (name, before) in hidden.into_iter().rev() {
            match before {
                Some(meaning) => self.scope.insert(name, meaning),
                None => self.scope.remove(name),
            };
        }
    }

    fn annotate(&mut self, id: Id, term: TermId) {
        let parts = self.tree.list(id);
        let mut rest = parts[2..].iter().copied().peekable();
        while let Some(key) = rest.next() {
            let is_key = |id: Id| self.tree.symbol(id).is_some_and(|s| s.starts_with(':'));
            let value = rest.next_if(|v| !is_key(*v));
            self.annotations.push(Annotation { term, key: self.tree.text(key), value });
        }
    }

    fn visit(
        &mut self,
        pool: &mut Pool,
        id: Id,
        tasks: &mut Vec<Task<'t>>,
        values: &mut Vec<TermId>,
    ) -> Result<(), Problem> {
        match self.tree.kind(id) {
            Kind::List => self.visit_list(id, tasks),
            _ => {
                values.push(self.leaf(pool, id)?);
                Ok(())
            }
        }
    }

    fn visit_list(&mut self, id: Id, tasks: &mut Vec<Task<'t>>) -> Result<(), Problem> {
        let tree = self.tree;
        let syntax = |at: Id, message: &str| Problem::new(ProblemKind::Syntax, at, message);
        let mut children = tree.children(id);
        let Some(head) = children.next() else {
            return Err(Problem::expected(id, "a term, found `()`"));
        };
        match tree.symbol(head) {
            Some("let") => {
                let (Some(bindings), Some(body), None) =
                    (children.next(), children.next(), children.next())
                else {
                    return Err(syntax(id, "`let` has bindings and a body"));
                };
                tasks.push(Task::Unbind(Vec::new()));
                tasks.push(Task::Visit(body));
                tasks.push(Task::Bind(bindings));
                let from = tasks.len();
                for pair in tree.children(bindings) {
                    let mut parts = tree.children(pair);
                    let (Some(_), Some(value), None) = (parts.next(), parts.next(), parts.next())
                    else {
                        return Err(Problem::expected(pair, "a name and a term"));
                    };
                    tasks.push(Task::Visit(value));
                }
                tasks[from..].reverse();
            }
            Some("!") => {
                let Some(body) = children.next() else {
                    return Err(syntax(id, "`!` has a term and annotations"));
                };
                tasks.push(Task::Annotate(id));
                tasks.push(Task::Visit(body));
            }
            Some("cond") => {
                let branches: Vec<Id> = children.collect();
                if branches.is_empty() {
                    return Err(syntax(id, "`cond` has branches"));
                }
                tasks.push(Task::Cond(id, branches.len()));
                let from = tasks.len();
                for (k, branch) in branches.iter().enumerate() {
                    let [condition, value] = tree.list(*branch)[..] else {
                        return Err(Problem::expected(*branch, "a condition and a term"));
                    };
                    let is_else = tree.symbol(condition) == Some("else");
                    if is_else != (k + 1 == branches.len()) {
                        return Err(syntax(*branch, "`else` is the last branch of `cond`"));
                    }
                    if !is_else {
                        tasks.push(Task::Visit(condition));
                    }
                    tasks.push(Task::Visit(value));
                }
                tasks[from..].reverse();
            }
            Some(word @ ("forall" | "exists" | "match" | "lambda" | "par")) => {
                return Err(Problem::unsupported(id, &format!("`{word}`")));
            }
            Some("_") => tasks.push(Task::Apply(id, 0)),
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
        Ok(())
    }

    /// The quotient in `(ite (= d 0) e (div a d))`.
    fn guarded_quotient(&self, id: Id) -> Option<Id> {
        let [_, condition, _, quotient] = self.tree.list(id)[..] else { return None };
        let ([equals, left, zero], [_, _, divisor]) =
            (&self.tree.list(condition)[..], &self.tree.list(quotient)[..])
        else {
            return None;
        };
        let is_quotient = matches!(self.tree.head(quotient), Some("div" | "mod" | "/"));
        let is_zero = matches!(self.tree.text(*zero), "0" | "0.0");
        let applies = is_quotient && is_zero && self.tree.symbol(*equals) == Some("=");
        (applies && self.tree.is_same(*left, *divisor)).then_some(quotient)
    }

    fn leaf(&mut self, pool: &mut Pool, id: Id) -> Result<TermId, Problem> {
        let text = self.tree.text(id);
        let literal = |what: &str| {
            Problem::new(ProblemKind::Literal, id, format!("`{text}` is not a {what}"))
        };
        match self.tree.kind(id) {
            Kind::Numeral => Ok(pool.int(text.parse::<IBig>().unwrap_or_default())),
            Kind::Decimal => {
                // Some tools write `1.` for `1.0`.
                let value = literal::rational(text.strip_suffix('.').unwrap_or(text));
                let value = value.ok_or_else(|| literal("number"))?;
                Ok(pool.constant(Value::Real(value)))
            }
            Kind::Bits => {
                let value = literal::bits(text).ok_or_else(|| literal("bit-vector"))?;
                Ok(pool.constant(Value::BitVec(value)))
            }
            Kind::Text => {
                let value = self.tree.string(id).and_then(|s| literal::unescape(&s));
                match (self.reading, value) {
                    (Reading::Solver, Some(value)) => Ok(pool.constant(Value::str(&value))),
                    _ => Err(Problem::unsupported(id, "a string")),
                }
            }
            Kind::Symbol | Kind::List => match (self.scope.get(text).cloned(), text) {
                (Some(Meaning::Term(t)), _) => {
                    self.mentioned.extend(pool.as_symbol(t).map(Mention::Symbol));
                    Ok(t)
                }
                (Some(Meaning::Function { params, body }), _) if params.is_empty() => {
                    self.mentioned.push(Mention::Function(text));
                    Ok(body)
                }
                (Some(Meaning::Predicate(p)), _) => self.atom(pool, p, Vec::new(), id),
                (Some(Meaning::Function { .. }), _) => {
                    let message = format!("the function `{text}` needs arguments");
                    Err(Problem::new(ProblemKind::Arguments, id, message))
                }
                (None, "true") => Ok(pool.tt()),
                (None, "false") => Ok(pool.ff()),
                (None, _) => {
                    let message = format!("there is no `{text}` here");
                    Err(Problem::new(ProblemKind::UnknownName, id, message))
                }
            },
        }
    }

    fn atom(
        &mut self,
        pool: &mut Pool,
        predicate: usize,
        mut args: Vec<TermId>,
        id: Id,
    ) -> Result<TermId, Problem> {
        let (name, sorts) = &self.predicates[predicate];
        for (arg, sort) in args.iter_mut().zip(sorts) {
            if pool.sort(*arg) == Sort::Int && *sort == Sort::Real {
                *arg = functions::to_real(pool, *arg);
            }
        }
        if !args.iter().map(|a| pool.sort(*a)).eq(sorts.iter().copied()) {
            let message = format!("the arguments of `{name}` do not fit its declaration");
            return Err(Problem::new(ProblemKind::Arguments, id, message));
        }
        let symbol = pool.declare_fresh(&format!("@{name}"), Sort::Bool);
        self.atoms.push(Atom { predicate, args, symbol });
        Ok(pool.var(symbol))
    }

    fn apply(&mut self, pool: &mut Pool, id: Id, args: Vec<TermId>) -> Result<TermId, Problem> {
        let tree = self.tree;
        let Some(head) = tree.children(id).next() else {
            return Err(Problem::expected(id, "a term, found `()`"));
        };
        match tree.symbol(head) {
            Some("_") => {
                let indexed = self.indexed(id);
                let what = || Problem::unsupported(id, &format!("`{}`", indexed.join(" ")));
                functions::indexed_constant(pool, &indexed).ok_or_else(what)
            }
            Some(name) => match self.scope.get(name).cloned() {
                Some(Meaning::Predicate(p)) => self.atom(pool, p, args, id),
                Some(Meaning::Function { params, body }) => {
                    self.mentioned.push(Mention::Function(name));
                    call(pool, name, &params, body, args, id)
                }
                Some(Meaning::Term(_)) => {
                    let message = format!("`{name}` is not a function");
                    Err(Problem::new(ProblemKind::Arguments, id, message))
                }
                None if let (Some(variant), &[term]) =
                    (self.variant_of_tester(pool, name), &args[..])
                    && pool.sort(variant) == pool.sort(term) =>
                {
                    Ok(pool.eq(term, variant))
                }
                None if self.guarded.contains(&id) => functions::quotient(pool, name, &args)
                    .map_err(|_| Problem::unsupported(id, &format!("`{name}` of these"))),
                None => functions::apply(pool, self.reading, name, &args)
                    .map_err(|r| Problem::refused(id, r, &format!("the function `{name}`"))),
            },
            None if tree.head(head) == Some("as") => {
                let array = self.const_array(pool, head)?;
                let [element] = args[..] else {
                    return Err(Problem::expected(id, "one element behind `(as const ...)`"));
                };
                functions::everywhere(pool, array, element)
                    .map_err(|r| Problem::refused(id, r, "this array"))
            }
            None => {
                if let (Some(variant), &[term]) = (self.tested_variant(pool, head), &args[..])
                    && pool.sort(variant) == pool.sort(term)
                {
                    return Ok(pool.eq(term, variant));
                }
                let indexed = self.indexed(head);
                functions::apply_indexed(pool, &indexed, &args).map_err(|r| match r {
                    Refused::Because(_) => Problem::refused(id, r, ""),
                    _ => Problem::unsupported(id, &format!("`{}`", indexed.join(" "))),
                })
            }
        }
    }

    /// The constant in `(_ is variant)`. Z3 prints the constructor with its signature.
    fn tested_variant(&self, pool: &Pool, head: Id) -> Option<TermId> {
        let [underscore, is, variant] = self.tree.list(head)[..] else { return None };
        if (self.tree.symbol(underscore), self.tree.symbol(is)) != (Some("_"), Some("is")) {
            return None;
        }
        let name = self.tree.head(variant).or_else(|| self.tree.symbol(variant))?;
        self.variant(pool, name)
    }

    /// The constant in `is-variant`, Z3's older form.
    fn variant_of_tester(&self, pool: &Pool, name: &str) -> Option<TermId> {
        self.variant(pool, name.strip_prefix("is-")?)
    }

    /// The value of an enumeration with this name.
    fn variant(&self, pool: &Pool, name: &str) -> Option<TermId> {
        match self.scope.get(name) {
            Some(Meaning::Term(t)) => {
                matches!(pool.as_constant(*t), Some(Value::Enum(..))).then_some(*t)
            }
            _ => None,
        }
    }

    /// `(_ extract 7 0)` without `_`.
    fn indexed(&self, id: Id) -> Vec<&'t str> {
        let parts: Vec<&str> = self.tree.children(id).map(|c| self.tree.text(c)).collect();
        if parts.first() == Some(&"_") { parts[1..].to_vec() } else { parts }
    }

    fn cond(
        &mut self,
        pool: &mut Pool,
        id: Id,
        branches: usize,
        values: &mut Vec<TermId>,
    ) -> Result<(), Problem> {
        let misfit =
            || Problem::new(ProblemKind::Operator, id, "the branches of this `cond` do not fit");
        let mut result = values.pop().ok_or_else(misfit)?;
        for _ in 1..branches {
            let (Some(value), Some(condition)) = (values.pop(), values.pop()) else {
                return Err(misfit());
            };
            result = functions::apply(pool, self.reading, "ite", &[condition, value, result])
                .map_err(|_| misfit())?;
        }
        values.push(result);
        Ok(())
    }
}

/// A defined function applied to arguments.
fn call(
    pool: &mut Pool,
    name: &str,
    params: &[SymbolId],
    body: TermId,
    args: Vec<TermId>,
    id: Id,
) -> Result<TermId, Problem> {
    let mut map = FxHashMap::default();
    let fits = params.len() == args.len();
    for (&p, mut arg) in params.iter().zip(args) {
        let (wanted, found) = (pool.symbol(p).sort, pool.sort(arg));
        if wanted == Sort::Real && found == Sort::Int {
            arg = functions::to_real(pool, arg);
        } else if wanted != found {
            let message = format!("an argument of `{name}` has the wrong sort");
            return Err(Problem::new(ProblemKind::Sort, id, message));
        }
        map.insert(p, arg);
    }
    if !fits {
        let message = format!("`{name}` takes {} arguments", params.len());
        return Err(Problem::new(ProblemKind::Arguments, id, message));
    }
    Ok(pool.substitute(body, &map))
}
