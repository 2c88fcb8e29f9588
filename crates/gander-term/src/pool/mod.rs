//! The pool: interned, typed terms as `Copy` ids.
//!
//! Equal terms of a pool have equal ids. Children are interned before their parents, so ids are a
//! topological order. A pool can be frozen and forked: a fork sees every term of its base under the
//! same id and appends its own terms. So an engine thread needs no lock, and a search gives the
//! same ids in every run. [`Pool::import`] exchanges terms between sibling forks.
//!
//! Names are declared and looked up in the form of [`gander_text::visible`], so no name in a pool
//! contains a control character or an invisible character.

mod build;
pub(crate) mod import;
pub(crate) mod inspect;
mod store;
pub(crate) mod substitute;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use gander_text::visible;
use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::op::{Op, SortError};
use crate::sort::{EnumId, Enumeration, Sort};
use crate::value::Value;
use gander_runtime::check_cancelled;
use store::{Store, term_hash};

/// A term of a [`Pool`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TermId(pub(crate) u32);

impl TermId {
    /// Position in the pool; children come before their parents.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A named variable of a [`Pool`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SymbolId(pub(crate) u32);

impl SymbolId {
    /// Position in the order of declaration.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An interned constant of a [`Pool`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValueId(pub(crate) u32);

/// A variable: its name is unique in the pool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The full name, without quotes.
    pub name: String,
    /// The sort.
    pub sort: Sort,
    /// True for a variable that only occurs bound by a quantifier.
    pub bound: bool,
}

/// A name was declared before with another meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameClash {
    /// The name.
    pub name: String,
}

impl std::fmt::Display for NameClash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is declared already, with another sort", self.name)
    }
}

impl std::error::Error for NameClash {}

/// A set of interned terms: see the crate's documentation for its invariants.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    base: Option<Arc<Pool>>,
    first: u32,
    first_symbol: u32,
    first_value: u32,
    first_enum: u32,
    store: Store,
    symbols: Vec<Symbol>,
    symbol_names: HashTable<u32>,
    values: Vec<Value>,
    value_ids: HashTable<u32>,
    enums: Vec<Enumeration>,
}

fn hash_of(x: impl Hash) -> u64 {
    let mut h = FxHasher::default();
    x.hash(&mut h);
    // hashbrown takes its tag from the top bits, which the last multiplication of FxHasher mixes
    // best.
    h.finish()
}

impl Pool {
    /// An empty pool.
    pub fn new() -> Pool {
        Pool::default()
    }

    /// Freezes the pool, so that it can be shared and forked.
    pub fn freeze(self) -> Arc<Pool> {
        Arc::new(self)
    }

    /// A pool that sees all of `base` under the same ids and can grow.
    pub fn fork(base: &Arc<Pool>) -> Pool {
        Pool {
            first: base.len() as u32,
            first_symbol: base.symbol_count() as u32,
            first_value: base.first_value + base.values.len() as u32,
            first_enum: base.first_enum + base.enums.len() as u32,
            base: Some(Arc::clone(base)),
            ..Pool::default()
        }
    }

    /// The number of terms, those of the base included.
    pub fn len(&self) -> usize {
        self.first as usize + self.store.len()
    }

    /// True if there is no term.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of symbols, those of the base included.
    pub fn symbol_count(&self) -> usize {
        self.first_symbol as usize + self.symbols.len()
    }

    /// The number of leading term ids that both pools share through a common base.
    pub(crate) fn shared_terms(&self, other: &Pool) -> usize {
        self.common_base(other).map_or(0, |base| base.len())
    }

    /// The number of leading symbol ids that both pools share through a common base.
    pub(crate) fn shared_symbols(&self, other: &Pool) -> usize {
        self.common_base(other).map_or(0, |base| base.symbol_count())
    }

    fn common_base<'a>(&'a self, other: &Pool) -> Option<&'a Pool> {
        let mut mine = self.base.as_deref();
        while let Some(m) = mine {
            let mut theirs = Some(other);
            while let Some(t) = theirs {
                if std::ptr::eq(m, t) {
                    return mine;
                }
                theirs = t.base.as_deref();
            }
            mine = m.base.as_deref();
        }
        None
    }

    fn base(&self) -> &Pool {
        self.base.as_deref().expect("an id below `first` belongs to the base")
    }

    /// The store of the pool in the chain of bases that contains a term, and the term's position
    /// there.
    #[inline]
    fn locate(&self, t: TermId) -> (&Store, u32) {
        let mut pool = self;
        while t.0 < pool.first {
            pool = pool.base();
        }
        (&pool.store, t.0 - pool.first)
    }

    /// The operator of a term.
    #[inline]
    pub fn op(&self, t: TermId) -> Op {
        let (store, position) = self.locate(t);
        store.entry(position).op
    }

    /// The arguments of a term.
    #[inline]
    pub fn args(&self, t: TermId) -> &[TermId] {
        let (store, position) = self.locate(t);
        store.args(position)
    }

    /// The sort of a term.
    #[inline]
    pub fn sort(&self, t: TermId) -> Sort {
        let (store, position) = self.locate(t);
        store.entry(position).sort
    }

    /// A symbol's name and sort.
    pub fn symbol(&self, s: SymbolId) -> &Symbol {
        let mut pool = self;
        while s.0 < pool.first_symbol {
            pool = pool.base();
        }
        &pool.symbols[(s.0 - pool.first_symbol) as usize]
    }

    /// A constant's value.
    pub fn value(&self, v: ValueId) -> &Value {
        let mut pool = self;
        while v.0 < pool.first_value {
            pool = pool.base();
        }
        &pool.values[(v.0 - pool.first_value) as usize]
    }

    /// A declared enumeration.
    pub fn enumeration(&self, e: EnumId) -> &Enumeration {
        let mut pool = self;
        while e.0 < pool.first_enum {
            pool = pool.base();
        }
        &pool.enums[(e.0 - pool.first_enum) as usize]
    }

    /// Every declared enumeration.
    pub fn enumerations(&self) -> impl Iterator<Item = EnumId> + use<> {
        (0..self.first_enum + self.enums.len() as u32).map(EnumId)
    }

    /// The enumeration with this name.
    pub fn find_enum(&self, name: &str) -> Option<EnumId> {
        let name = visible(name);
        self.enumerations().find(|&e| self.enumeration(e).name == *name)
    }

    /// Declares an enumeration; an equal declaration gives the same id.
    pub fn declare_enum(&mut self, name: &str, variants: &[&str]) -> Result<EnumId, NameClash> {
        let name = visible(name).into_owned();
        let variants: Vec<String> = variants.iter().map(|v| visible(v).into_owned()).collect();
        if let Some(id) = self.find_enum(&name) {
            return if self.enumeration(id).variants == variants {
                Ok(id)
            } else {
                Err(NameClash { name })
            };
        }
        let id = EnumId(self.first_enum + self.enums.len() as u32);
        self.enums.push(Enumeration { name, variants });
        Ok(id)
    }

    /// The symbol with this name.
    pub fn find_symbol(&self, name: &str) -> Option<SymbolId> {
        let name: &str = &visible(name);
        let hash = hash_of(name);
        let mut pool = self;
        loop {
            let found = pool
                .symbol_names
                .find(hash, |&i| pool.symbols[(i - pool.first_symbol) as usize].name == name);
            if let Some(&i) = found {
                return Some(SymbolId(i));
            }
            pool = pool.base.as_deref()?;
        }
    }

    /// Declares a free variable; an equal declaration gives the same id.
    pub fn declare(&mut self, name: &str, sort: Sort) -> Result<SymbolId, NameClash> {
        match self.find_symbol(name) {
            Some(id) if self.symbol(id).sort == sort && !self.symbol(id).bound => Ok(id),
            Some(_) => Err(NameClash { name: visible(name).into_owned() }),
            None => Ok(self.new_symbol(visible(name).into_owned(), sort, false)),
        }
    }

    /// Declares a free variable under an unused name: `name`, or `name` with a number appended.
    pub fn declare_fresh(&mut self, name: &str, sort: Sort) -> SymbolId {
        let name = self.unused_name(name);
        self.new_symbol(name, sort, false)
    }

    /// Declares a variable for a quantifier to bind, under an unused name. No two quantifiers share
    /// a bound variable, so substitution cannot capture.
    pub fn declare_bound(&mut self, name: &str, sort: Sort) -> SymbolId {
        let name = self.unused_name(name);
        self.new_symbol(name, sort, true)
    }

    fn unused_name(&self, name: &str) -> String {
        let name: &str = &visible(name);
        if self.find_symbol(name).is_none() {
            return name.to_string();
        }
        // Remove an earlier number, so that names do not grow when they pass through several pools.
        let name = match name.rsplit_once('~') {
            Some((stem, n)) if !stem.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => stem,
            _ => name,
        };
        // Start at the number of symbols, where collisions are rare.
        let mut n = self.symbol_count();
        loop {
            let candidate = format!("{name}~{n}");
            if self.find_symbol(&candidate).is_none() {
                return candidate;
            }
            n += 1;
        }
    }

    fn new_symbol(&mut self, name: String, sort: Sort, bound: bool) -> SymbolId {
        let id = self.first_symbol + self.symbols.len() as u32;
        let hash = hash_of(name.as_str());
        self.symbols.push(Symbol { name, sort, bound });
        let (symbols, first) = (&self.symbols, self.first_symbol);
        self.symbol_names
            .insert_unique(hash, id, |&i| hash_of(symbols[(i - first) as usize].name.as_str()));
        SymbolId(id)
    }

    /// The term that is this variable.
    pub fn var(&mut self, s: SymbolId) -> TermId {
        let sort = self.symbol(s).sort;
        self.intern(Op::Symbol(s), sort, &[])
    }

    /// The constant `value`.
    pub fn constant(&mut self, value: Value) -> TermId {
        let sort = value.sort();
        if let Value::Bool(b) = value {
            return self.intern(Op::Bool(b), sort, &[]);
        }
        let id = self.intern_value(value);
        self.intern(Op::Const(id), sort, &[])
    }

    fn intern_value(&mut self, value: Value) -> ValueId {
        let hash = hash_of(&value);
        let mut pool: &Pool = self;
        loop {
            let found = pool
                .value_ids
                .find(hash, |&i| pool.values[(i - pool.first_value) as usize] == value);
            if let Some(&i) = found {
                return ValueId(i);
            }
            match pool.base.as_deref() {
                Some(base) => pool = base,
                None => break,
            }
        }
        let id = self.first_value + self.values.len() as u32;
        self.values.push(value);
        let (values, first) = (&self.values, self.first_value);
        self.value_ids.insert_unique(hash, id, |&i| hash_of(&values[(i - first) as usize]));
        ValueId(id)
    }

    /// The value of a constant term.
    pub fn as_constant(&self, t: TermId) -> Option<Value> {
        match self.op(t) {
            Op::Bool(b) => Some(Value::Bool(b)),
            Op::Const(v) => Some(self.value(v).clone()),
            _ => None,
        }
    }

    /// The symbol of a term that is a variable.
    pub fn as_symbol(&self, t: TermId) -> Option<SymbolId> {
        match self.op(t) {
            Op::Symbol(s) => Some(s),
            _ => None,
        }
    }

    /// The term `op(args)` without simplification; checks sorts.
    pub fn mk(&mut self, op: Op, args: &[TermId]) -> Result<TermId, SortError> {
        let sort = self.sort_of(op, args)?;
        Ok(self.intern(op, sort, args))
    }

    fn sort_of(&self, op: Op, args: &[TermId]) -> Result<Sort, SortError> {
        match op {
            Op::Symbol(s) if args.is_empty() => return Ok(self.symbol(s).sort),
            Op::Bool(_) if args.is_empty() => return Ok(Sort::Bool),
            Op::Const(v) if args.is_empty() => return Ok(self.value(v).sort()),
            Op::Forall | Op::Exists => {
                let ok = args.split_last().is_some_and(|(&body, bound)| {
                    self.sort(body) == Sort::Bool
                        && !bound.is_empty()
                        && bound
                            .iter()
                            .all(|&b| self.as_symbol(b).is_some_and(|s| self.symbol(s).bound))
                });
                if ok {
                    return Ok(Sort::Bool);
                }
                let found = args.iter().map(|&a| self.sort(a)).collect();
                return Err(SortError { op, found, expected: "bound variables and a bool" });
            }
            _ => {}
        }
        // Nearly all terms have few arguments; avoid the allocation for them.
        let mut few = [Sort::Bool; 4];
        if args.len() <= few.len() {
            for (s, &a) in few.iter_mut().zip(args) {
                *s = self.sort(a);
            }
            op.result_sort(&few[..args.len()])
        } else {
            op.result_sort(&args.iter().map(|&a| self.sort(a)).collect::<Vec<_>>())
        }
    }

    /// The term `op(args)`, whose sort is known to be `sort`.
    pub(crate) fn intern(&mut self, op: Op, sort: Sort, args: &[TermId]) -> TermId {
        check_cancelled();
        let hash = term_hash(op, args);
        let mut pool: &Pool = self;
        loop {
            if let Some(position) = pool.store.find(hash, op, args) {
                return TermId(pool.first + position);
            }
            match pool.base.as_deref() {
                // The base has no term with an argument outside the base.
                Some(base) if args.iter().all(|a| a.0 < pool.first) => pool = base,
                _ => break,
            }
        }
        TermId(self.first + self.store.insert(hash, op, sort, args))
    }

    /// The terms below and including `roots`, each once, children before parents.
    pub fn postorder(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut order = Vec::new();
        let mut stack: Vec<(TermId, bool)> = roots.iter().rev().map(|&r| (r, false)).collect();
        while let Some((t, done)) = stack.pop() {
            check_cancelled();
            if done {
                order.push(t);
            } else if seen.insert(t) {
                stack.push((t, true));
                stack.extend(self.args(t).iter().rev().map(|&a| (a, false)));
            }
        }
        order
    }
}
