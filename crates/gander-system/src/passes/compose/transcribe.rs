//! Translation of terms of an instance into the variables of the composition.

use gander_term::{ArrayValue, EnumId, NameClash, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::system::{NodeId, System};

/// Translates terms of one specification into the pool of a composition, for one instance.
///
/// Terms without parameters are translated once. Terms with parameters differ from copy to copy of
/// a transition: [`Transcriber::for_parameters`] begins another copy.
pub(super) struct Transcriber<'a> {
    from: &'a System,
    instance: &'a str,
    symbols: FxHashMap<SymbolId, TermId>,
    bound: FxHashMap<SymbolId, SymbolId>,
    enums: FxHashMap<EnumId, EnumId>,
    done: FxHashMap<TermId, TermId>,
    params: FxHashMap<SymbolId, TermId>,
    with_params: FxHashMap<TermId, TermId>,
    /// The enumeration of the nodes of the specification.
    nodes: Option<EnumId>,
}

impl<'a> Transcriber<'a> {
    pub(super) fn new(from: &'a System, instance: &'a str) -> Transcriber<'a> {
        Transcriber {
            from,
            instance,
            symbols: FxHashMap::default(),
            bound: FxHashMap::default(),
            enums: FxHashMap::default(),
            done: FxHashMap::default(),
            params: FxHashMap::default(),
            with_params: FxHashMap::default(),
            nodes: None,
        }
    }

    /// The enumeration of the nodes of the specification, `Specification.Node`.
    pub(super) fn node_sort(&mut self, pool: &mut Pool) -> Result<EnumId, NameClash> {
        if let Some(known) = self.nodes {
            return Ok(known);
        }
        let variants: Vec<&str> = self.from.nodes.iter().map(|n| n.name.as_str()).collect();
        let new = match pool.declare_enum(&format!("{}.Node", self.from.name), &variants) {
            Ok(id) => id,
            Err(_) => pool.declare_enum(&format!("{}.Node", self.instance), &variants)?,
        };
        self.nodes = Some(new);
        if let Sort::Enum(old) = self.from.pool.symbol(self.from.location).sort {
            self.enums.insert(old, new);
        }
        Ok(new)
    }

    /// A node of the specification as a value.
    pub(super) fn node_value(
        &mut self,
        pool: &mut Pool,
        node: NodeId,
    ) -> Result<TermId, NameClash> {
        let sort = self.node_sort(pool)?;
        Ok(pool.constant(Value::Enum(sort, node.0)))
    }

    /// The formula that the instance is at this node.
    pub(super) fn at(&mut self, pool: &mut Pool, node: NodeId) -> Result<TermId, NameClash> {
        let value = self.node_value(pool, node)?;
        match self.symbols.get(&self.from.location) {
            Some(&location) => Ok(pool.eq(location, value)),
            None => Ok(pool.tt()),
        }
    }

    /// Sets the term for a symbol.
    pub(super) fn symbol(&mut self, old: SymbolId, new: TermId) {
        self.symbols.insert(old, new);
    }

    /// Sets the terms for the parameters of the next transition.
    pub(super) fn for_parameters(&mut self, params: impl Iterator<Item = (SymbolId, TermId)>) {
        self.params = params.collect();
        self.with_params.clear();
    }

    /// The sort in the composition. If specifications have different enumerations with the same
    /// name, the later one is prefixed with its specification, or with its instance.
    pub(super) fn sort(&mut self, pool: &mut Pool, sort: Sort) -> Result<Sort, NameClash> {
        let e = match sort {
            Sort::Enum(e) => e,
            // Recurses over nested arrays only, whose depth is limited.
            Sort::Array(array) => {
                let (index, element) =
                    (self.sort(pool, array.index())?, self.sort(pool, array.element())?);
                return Ok(pool.array_sort(index, element).unwrap_or(sort));
            }
            Sort::Bool | Sort::Int | Sort::Real | Sort::String | Sort::BitVec(_) => {
                return Ok(sort);
            }
        };
        if let Some(&known) = self.enums.get(&e) {
            return Ok(Sort::Enum(known));
        }
        let enumeration = self.from.pool.enumeration(e);
        let variants: Vec<&str> = enumeration.variants.iter().map(String::as_str).collect();
        let name = &enumeration.name;
        let new = match pool.declare_enum(name, &variants) {
            Ok(id) => id,
            Err(_) => match pool.declare_enum(&format!("{}.{name}", self.from.name), &variants) {
                Ok(id) => id,
                Err(_) => pool.declare_enum(&format!("{}.{name}", self.instance), &variants)?,
            },
        };
        self.enums.insert(e, new);
        Ok(Sort::Enum(new))
    }

    pub(super) fn value(&mut self, pool: &mut Pool, value: Value) -> Result<Value, NameClash> {
        match value {
            Value::Enum(e, i) => match self.sort(pool, Sort::Enum(e))? {
                Sort::Enum(new) => Ok(Value::Enum(new, i)),
                _ => Ok(Value::Enum(e, i)),
            },
            Value::Array(a) => {
                let Sort::Array(sort) = self.sort(pool, Sort::Array(a.sort()))? else {
                    return Ok(Value::Array(a));
                };
                let default = self.value(pool, a.default().clone())?;
                let mut elements = Vec::with_capacity(a.exceptions().len());
                for (i, v) in a.exceptions() {
                    elements.push((self.value(pool, i.clone())?, self.value(pool, v.clone())?));
                }
                Ok(ArrayValue::new(sort, default, elements).map_or(Value::Array(a), Value::array))
            }
            Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::Str(_) | Value::BitVec(_) => {
                Ok(value)
            }
        }
    }

    /// The term in the composition.
    pub(super) fn apply(&mut self, pool: &mut Pool, t: TermId) -> Result<TermId, NameClash> {
        let from = self.from;
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            if self.known(top).is_some() {
                stack.pop();
                continue;
            }
            if let Some(n) = self.compared_node(top) {
                let here = self.at(pool, n)?;
                self.done.insert(top, here);
                continue;
            }
            let before = stack.len();
            stack.extend(from.pool.args(top).iter().filter(|&&a| self.known(a).is_none()));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let old = from.pool.args(top);
            let local = old.iter().any(|a| self.with_params.contains_key(a));
            let args: Vec<TermId> = old.iter().map(|&a| self.known(a).unwrap_or(a)).collect();
            match from.pool.op(top) {
                Op::Symbol(s) => self.symbol_term(pool, top, s)?,
                Op::Bool(b) => {
                    self.done.insert(top, pool.constant(Value::Bool(b)));
                }
                Op::Const(v) => {
                    let value = self.value(pool, from.pool.value(v).clone())?;
                    self.done.insert(top, pool.constant(value));
                }
                op => {
                    let op = match op {
                        Op::ConstArray(array) => match self.sort(pool, Sort::Array(array))? {
                            Sort::Array(here) => Op::ConstArray(here),
                            _ => op,
                        },
                        _ => op,
                    };
                    let new = pool.mk(op, &args).expect("the copied arguments have the same sorts");
                    let memo = if local { &mut self.with_params } else { &mut self.done };
                    memo.insert(top, new);
                }
            }
        }
        Ok(self.known(t).unwrap_or(t))
    }

    fn known(&self, t: TermId) -> Option<TermId> {
        self.done.get(&t).or_else(|| self.with_params.get(&t)).copied()
    }

    fn symbol_term(&mut self, pool: &mut Pool, t: TermId, s: SymbolId) -> Result<(), NameClash> {
        if let Some(&param) = self.params.get(&s) {
            self.with_params.insert(t, param);
            return Ok(());
        }
        let new = match self.symbols.get(&s) {
            Some(&new) => new,
            None => {
                let symbol = self.from.pool.symbol(s);
                let sort = self.sort(pool, symbol.sort)?;
                let new = match self.bound.get(&s) {
                    Some(&new) => new,
                    None if symbol.bound => pool.declare_bound(&symbol.name, sort),
                    // Impossible for a well-formed system; the builder would reject the symbol.
                    None => pool.declare_fresh(&symbol.name, sort),
                };
                self.bound.insert(s, new);
                pool.var(new)
            }
        };
        self.done.insert(t, new);
        Ok(())
    }

    /// `n` if the term is `@node == n`.
    fn compared_node(&self, t: TermId) -> Option<NodeId> {
        let pool = &self.from.pool;
        let [a, b] = *pool.args(t) else { return None };
        if pool.op(t) != Op::Eq {
            return None;
        }
        let here = Some(self.from.location);
        let constant = match (pool.as_symbol(a), pool.as_symbol(b)) {
            (x, _) if x == here => b,
            (_, y) if y == here => a,
            _ => return None,
        };
        match pool.as_constant(constant) {
            Some(Value::Enum(_, i)) => Some(NodeId(i)),
            _ => None,
        }
    }
}

/// Makes names unique by appending numbers.
pub(super) fn make_unique(names: &mut [String]) {
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for name in names {
        let stem = name.clone();
        let mut n = 2;
        while !seen.insert(name.clone()) {
            *name = format!("{stem} ({n})");
            n += 1;
        }
    }
}
