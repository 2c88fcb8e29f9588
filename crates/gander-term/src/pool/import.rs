//! Importing terms of one pool into another.
//!
//! Symbols and enumerations are matched by name. A bound symbol of the other pool becomes a fresh
//! bound symbol. Forks of one base share its ids, so terms of the base are not copied.

use rustc_hash::FxHashMap;

use crate::array::ArrayValue;
use crate::op::Op;
use crate::pool::{NameClash, Pool, SymbolId, TermId};
use crate::sort::{EnumId, Sort};
use crate::value::Value;
use gander_runtime::check_cancelled;

/// Imports many terms of one pool into another: shared subterms are copied once, and each bound
/// symbol of the source is mapped to one symbol. An importer must always be used with the same pair
/// of pools.
#[derive(Clone, Debug, Default)]
pub struct Importer {
    terms: FxHashMap<TermId, TermId>,
    bound: FxHashMap<SymbolId, SymbolId>,
    enums: FxHashMap<EnumId, EnumId>,
}

impl Importer {
    /// An empty importer.
    pub fn new() -> Importer {
        Importer::default()
    }

    /// The term of `to` that corresponds to `t` of `from`; names are matched.
    pub fn import(&mut self, to: &mut Pool, from: &Pool, t: TermId) -> Result<TermId, NameClash> {
        let shared = to.shared_terms(from);
        let mut stack = vec![t];
        let mut args = Vec::new();
        while let Some(&t) = stack.last() {
            if self.known(t, shared).is_some() {
                stack.pop();
                continue;
            }
            let before = stack.len();
            check_cancelled();
            stack.extend(from.args(t).iter().filter(|&&a| self.known(a, shared).is_none()));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            args.clear();
            args.extend(from.args(t).iter().map(|&a| self.known(a, shared).unwrap_or(a)));
            let new = match from.op(t) {
                Op::Symbol(s) => {
                    let s = self.symbol(to, from, s)?;
                    to.var(s)
                }
                Op::Const(v) => {
                    let v = self.value(to, from, from.value(v))?;
                    to.constant(v)
                }
                op => {
                    let sort = self.sort(to, from, from.sort(t))?;
                    let op = match (op, sort) {
                        (Op::ConstArray(_), Sort::Array(array)) => Op::ConstArray(array),
                        _ => op,
                    };
                    to.intern(op, sort, &args)
                }
            };
            self.terms.insert(t, new);
        }
        Ok(self.known(t, shared).unwrap_or(t))
    }

    /// The symbol of `to` that corresponds to `s` of `from`.
    pub fn symbol(
        &mut self,
        to: &mut Pool,
        from: &Pool,
        s: SymbolId,
    ) -> Result<SymbolId, NameClash> {
        if s.index() < to.shared_symbols(from) {
            return Ok(s);
        }
        if let Some(&known) = self.bound.get(&s) {
            return Ok(known);
        }
        let symbol = from.symbol(s);
        let sort = self.sort(to, from, symbol.sort)?;
        if !symbol.bound {
            return to.declare(&symbol.name, sort);
        }
        let fresh = to.declare_bound(&symbol.name, sort);
        self.bound.insert(s, fresh);
        Ok(fresh)
    }

    /// The sort of `to` that corresponds to `sort` of `from`.
    pub fn sort(&mut self, to: &mut Pool, from: &Pool, sort: Sort) -> Result<Sort, NameClash> {
        let e = match sort {
            Sort::Bool | Sort::Int | Sort::Real | Sort::String | Sort::BitVec(_) => {
                return Ok(sort);
            }
            // Recurses over nested arrays only, whose depth is limited.
            Sort::Array(array) => {
                let (index, element) = (array.index(), array.element());
                let (there, of) = (self.sort(to, from, index)?, self.sort(to, from, element)?);
                return Ok(to.array_sort(there, of).unwrap_or(sort));
            }
            Sort::Enum(e) => e,
        };
        if let Some(&known) = self.enums.get(&e) {
            return Ok(Sort::Enum(known));
        }
        let enumeration = from.enumeration(e);
        let variants: Vec<&str> = enumeration.variants.iter().map(String::as_str).collect();
        let id = to.declare_enum(&enumeration.name, &variants)?;
        self.enums.insert(e, id);
        Ok(Sort::Enum(id))
    }

    /// The value of `to` that corresponds to `value` of `from`.
    pub fn value(&mut self, to: &mut Pool, from: &Pool, value: &Value) -> Result<Value, NameClash> {
        match value {
            Value::Enum(e, i) => match self.sort(to, from, Sort::Enum(*e))? {
                Sort::Enum(id) => Ok(Value::Enum(id, *i)),
                _ => Ok(value.clone()),
            },
            Value::Array(a) => {
                let Sort::Array(sort) = self.sort(to, from, value.sort())? else {
                    return Ok(value.clone());
                };
                if sort == a.sort() {
                    return Ok(value.clone());
                }
                let default = self.value(to, from, a.default())?;
                let mut elements = Vec::with_capacity(a.exceptions().len());
                for (i, v) in a.exceptions() {
                    elements.push((self.value(to, from, i)?, self.value(to, from, v)?));
                }
                Ok(ArrayValue::new(sort, default, elements)
                    .map_or_else(|| value.clone(), Value::array))
            }
            Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::Str(_) | Value::BitVec(_) => {
                Ok(value.clone())
            }
        }
    }

    fn known(&self, t: TermId, shared: usize) -> Option<TermId> {
        if t.index() < shared { Some(t) } else { self.terms.get(&t).copied() }
    }
}

impl Pool {
    /// The term of this pool that corresponds to `t` of `other`; for many terms use [`Importer`].
    pub fn import(&mut self, other: &Pool, t: TermId) -> Result<TermId, NameClash> {
        Importer::new().import(self, other, t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn enumerations_are_matched_by_name() {
        let mut a = Pool::new();
        a.declare_enum("Colour", &["Red", "Green"]).unwrap();
        let status = a.declare_enum("Status", &["Open", "Closed"]).unwrap();
        let s = a.variable("s", Sort::Enum(status));
        let closed = a.constant(Value::Enum(status, 1));
        let t = a.eq(s, closed);
        let mut b = Pool::new();
        b.variable("pad", Sort::Bool);
        let r = b.import(&a, t).unwrap();
        let here = b.find_enum("Status").unwrap();
        let s = b.variable("s", Sort::Enum(here));
        let closed = b.constant(Value::Enum(here, 1));
        assert_eq!(r, b.eq(s, closed));
        let mut c = Pool::new();
        c.declare_enum("Status", &["Open"]).unwrap();
        assert_eq!(c.import(&a, t).unwrap_err().name, "Status");
    }

    #[test]
    fn arrays_over_enumerations_are_matched_by_name() {
        let mut a = Pool::new();
        a.declare_enum("Colour", &["Red", "Green", "Blue"]).unwrap();
        let status = a.declare_enum("Status", &["Open", "Closed"]).unwrap();
        let sort = a.array_sort(Sort::Enum(status), Sort::Int).unwrap();
        let Sort::Array(array) = sort else { panic!("an array") };
        let s = a.variable("s", sort);
        let x = a.variable("x", Sort::Int);
        let constant_array = a.mk(Op::ConstArray(array), &[x]).unwrap();
        let written = vec![(Value::Enum(status, 1), Value::int(7))];
        let constant = ArrayValue::new(array, Value::int(0), written).unwrap();
        let constant = a.constant(Value::array(constant));
        let (first, second) = (a.eq(s, constant_array), a.eq(s, constant));
        let t = a.and([first, second]);
        let mut b = Pool::new();
        let r = b.import(&a, t).unwrap();
        assert_eq!(b.display(r).to_string(), a.display(t).to_string());
        let here = b.array_sort(Sort::Enum(b.find_enum("Status").unwrap()), Sort::Int).unwrap();
        assert_eq!(b.symbol(b.find_symbol("s").unwrap()).sort, here);
        // Every imported subterm is well-sorted.
        for t in b.postorder(&[r]) {
            let (op, args) = (b.op(t), b.args(t).to_vec());
            assert_eq!(b.mk(op, &args).unwrap(), t);
        }
    }

    #[test]
    fn a_name_with_another_sort_is_a_clash() {
        let mut a = Pool::new();
        let x = a.variable("x", Sort::Int);
        let mut b = Pool::new();
        b.variable("x", Sort::Real);
        assert_eq!(b.import(&a, x).unwrap_err().name, "x");
    }

    #[test]
    fn bound_symbols_become_fresh_and_forks_share_their_base() {
        let mut base = Pool::new();
        let x = base.variable("x", Sort::Int);
        let base = Arc::new(base);
        let (mut a, mut b) = (Pool::fork(&base), Pool::fork(&base));
        let s = a.declare_bound("k", Sort::Int);
        let k = a.var(s);
        let le = a.le(k, x);
        let t = a.exists(&[s], le);
        b.variable("k", Sort::Bool);
        let mut importer = Importer::new();
        let r = importer.import(&mut b, &a, t).unwrap();
        assert_eq!(r, importer.import(&mut b, &a, t).unwrap());
        let bound = b.as_symbol(b.args(r)[0]).unwrap();
        assert!(b.symbol(bound).bound && b.symbol(bound).name != "k");
        assert_eq!(b.args(b.args(r)[1])[1], x);
    }

    #[test]
    fn deep_terms_are_imported() {
        let mut a = Pool::new();
        let mut t = a.variable("p", Sort::Bool);
        for _ in 0..1_000_000 {
            t = a.mk(Op::Not, &[t]).unwrap();
        }
        let mut b = Pool::new();
        assert_eq!(b.import(&a, t).unwrap().index(), 1_000_000);
    }
}
