//! Evaluation of one term, directly from the definition.

use rustc_hash::FxHashMap;

use crate::op::Op;
use crate::pool::{Pool, SymbolId, TermId};
use crate::sort::Sort;
use crate::value::{IBig, Value};
use gander_runtime::check_cancelled;

use super::domain::{Bound, Domain, domains};
use super::{EvalError, MAX_INSTANCES, MAX_QUANTIFIER_DEPTH, apply};

/// The value of `t`; `assignment` gives the values of its free symbols.
pub fn evaluate(
    pool: &Pool,
    t: TermId,
    assignment: &dyn Fn(SymbolId) -> Option<Value>,
) -> Result<Value, EvalError> {
    Evaluator { pool, assignment, bound: Vec::new(), fuel: MAX_INSTANCES }.value(t)
}

struct Evaluator<'a> {
    pool: &'a Pool,
    assignment: &'a dyn Fn(SymbolId) -> Option<Value>,
    /// The values of the symbols bound by the surrounding quantifiers, innermost last.
    bound: Vec<(SymbolId, Value)>,
    fuel: u64,
}

impl Evaluator<'_> {
    /// Recurses over nested quantifiers only, whose depth is limited.
    fn value(&mut self, root: TermId) -> Result<Value, EvalError> {
        let mut known: FxHashMap<TermId, Value> = FxHashMap::default();
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            check_cancelled();
            if known.contains_key(&t) {
                stack.pop();
                continue;
            }
            let value = match self.pool.op(t) {
                Op::Symbol(s) => self.symbol(s)?,
                Op::Bool(b) => Value::Bool(b),
                Op::Const(v) => self.pool.value(v).clone(),
                Op::Forall | Op::Exists => self.quantifier(t)?,
                op => {
                    let before = stack.len();
                    let args = self.pool.args(t);
                    stack.extend(args.iter().filter(|a| !known.contains_key(a)));
                    if stack.len() > before {
                        continue;
                    }
                    let values: Vec<Value> = args.iter().map(|a| known[a].clone()).collect();
                    apply(op, &values)?
                }
            };
            stack.pop();
            known.insert(t, value);
        }
        Ok(known.remove(&root).expect("the root was evaluated last"))
    }

    fn symbol(&self, s: SymbolId) -> Result<Value, EvalError> {
        if let Some((_, v)) = self.bound.iter().rev().find(|(b, _)| *b == s) {
            return Ok(v.clone());
        }
        let v = (self.assignment)(s).ok_or(EvalError::Unassigned(s))?;
        if v.sort() == self.pool.symbol(s).sort { Ok(v) } else { Err(EvalError::WrongSort(s)) }
    }

    fn quantifier(&mut self, t: TermId) -> Result<Value, EvalError> {
        let (domains, exists) = domains(self.pool, t);
        let domains = domains.ok_or(EvalError::Unbounded)?;
        let body = *self.pool.args(t).last().expect("a quantifier has a body");
        let base = self.bound.len();
        if base + domains.len() > MAX_QUANTIFIER_DEPTH {
            return Err(EvalError::Unbounded);
        }
        let mut ranges = Vec::new();
        for (s, d) in &domains {
            ranges.push((*s, self.range(d)?));
        }
        if ranges.iter().any(|(_, (low, high))| low > high) {
            return Ok(Value::Bool(!exists));
        }
        for (s, (low, _)) in &ranges {
            self.bound.push((*s, self.element(*s, low)));
        }
        let mut at: Vec<IBig> = ranges.iter().map(|(_, (low, _))| low.clone()).collect();
        let found = loop {
            self.fuel = self.fuel.checked_sub(1).ok_or(EvalError::Unbounded)?;
            if self.value(body)? == Value::Bool(exists) {
                break true;
            }
            // Advance like an odometer, the last symbol fastest.
            let mut i = at.len();
            loop {
                if i == 0 {
                    break;
                }
                i -= 1;
                let (s, (low, high)) = &ranges[i];
                if at[i] < *high {
                    at[i] += 1;
                    self.bound[base + i].1 = self.element(*s, &at[i]);
                    i = usize::MAX;
                    break;
                }
                at[i] = low.clone();
                self.bound[base + i].1 = self.element(*s, low);
            }
            if i != usize::MAX {
                break false;
            }
        };
        self.bound.truncate(base);
        Ok(Value::Bool(found == exists))
    }

    /// The first and last value of a domain.
    fn range(&mut self, d: &Domain) -> Result<(IBig, IBig), EvalError> {
        match d {
            Domain::Finite(n) => Ok((IBig::ZERO, IBig::from(*n) - 1)),
            Domain::Between { lower, upper } => {
                let mut value = |b: &Bound| {
                    let mut total = IBig::ZERO;
                    for (terms, sign) in [(&b.plus, 1), (&b.minus, -1)] {
                        for &t in terms {
                            if let Value::Int(i) = self.value(t)? {
                                total += i * sign;
                            }
                        }
                    }
                    Ok::<_, EvalError>(total)
                };
                let (mut low, mut high) = (None, None);
                for b in lower {
                    let i = value(b)? + i32::from(b.strict);
                    low = Some(low.map_or(i.clone(), |l: IBig| l.max(i)));
                }
                for b in upper {
                    let i = value(b)? - i32::from(b.strict);
                    high = Some(high.map_or(i.clone(), |h: IBig| h.min(i)));
                }
                low.zip(high).ok_or(EvalError::Unbounded)
            }
        }
    }

    fn element(&self, s: SymbolId, i: &IBig) -> Value {
        let index = || u32::try_from(i).unwrap_or(0);
        match self.pool.symbol(s).sort {
            Sort::Bool => Value::Bool(index() == 1),
            Sort::Enum(e) => Value::Enum(e, index()),
            Sort::BitVec(width) => Value::bits(width, i.clone()),
            _ => Value::Int(i.clone()),
        }
    }
}
