//! Evaluates terms, and enumerates the values of unknown variables that satisfy a conjunction.
//!
//! Given a conjunction of literals and a list of unknowns, [`Evaluator::search`] visits every
//! solution. It repeatedly picks an unknown with a finite set of candidates and tries each of them.
//! The candidates of `x` come from the literals whose other variables are known: `x == e`, `low <=
//! x and x <= high` for ints, a disjunction each of whose sides bounds `x`, and all values of
//! `bool` and of an enumeration. Each literal must hold, so every solution is among the candidates
//! and the search is exact. If no unknown has a finite set of candidates, the search is refused; no
//! domain is guessed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gander_system::System;
use gander_term::{ArraySort, ArrayValue, IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::Refusal;
use crate::decide::arithmetic::{apply, order};

/// Limits the nesting of terms, and with it the recursion.
const DEEPEST: usize = 400;
/// Limits the range of candidates of one int.
const WIDEST: i64 = 4096;

/// Values of variables by slot; a slot is the index of a symbol.
#[derive(Clone, Debug)]
pub(crate) struct Env(pub Vec<Option<Value>>);

/// The state in which the unprimed variables of a formula are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    /// The current state.
    Here,
    /// The next state, also for `@node`. Used for assumptions on the next state.
    After,
}

/// A formula or its negation, read in one of the two states.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    term: TermId,
    positive: bool,
    view: View,
    /// The slots it reads.
    slots: Rc<[usize]>,
}

/// What a set of literals implies about the values of one unknown.
#[derive(Default)]
struct Narrowed {
    low: Option<Bound>,
    high: Option<Bound>,
    values: Option<Vec<Value>>,
}

struct Bound {
    value: Value,
    strict: bool,
}

/// Called with every solution; returning true ends the search.
pub(crate) type Visit<'v> = &'v mut dyn FnMut(&mut Env) -> Result<bool, Refusal>;

/// Evaluates the terms of one system.
pub(crate) struct Evaluator<'a> {
    pub pool: &'a Pool,
    next_of: FxHashMap<usize, usize>,
    /// The symbols of slots that can be unknowns.
    symbols: RefCell<FxHashMap<usize, SymbolId>>,
    free: RefCell<FxHashMap<TermId, Rc<[usize]>>>,
    fuel: Cell<u64>,
    depth: Cell<usize>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator that gives up after about `work` operations.
    pub fn new(pool: &'a Pool, system: &System, work: u64) -> Evaluator<'a> {
        let mut next_of: FxHashMap<usize, usize> =
            system.vars().iter().map(|v| (v.current.index(), v.next.index())).collect();
        next_of.insert(system.location().index(), pool.symbol_count());
        let variables = system.vars().iter().flat_map(|v| [v.current, v.next]);
        let parameters =
            system.transitions().iter().flat_map(|t| t.params.iter().map(|p| p.symbol));
        let symbols = variables.chain(parameters).map(|s| (s.index(), s)).collect();
        let symbols = RefCell::new(symbols);
        Evaluator {
            pool,
            next_of,
            symbols,
            free: RefCell::default(),
            fuel: Cell::new(work),
            depth: Cell::new(0),
        }
    }

    /// An environment without any value.
    pub fn empty_env(&self) -> Env {
        Env(vec![None; self.pool.symbol_count() + 1])
    }

    fn slot(&self, s: SymbolId, view: View) -> usize {
        match view {
            View::Here => s.index(),
            View::After => self.next_of.get(&s.index()).copied().unwrap_or(s.index()),
        }
    }

    /// The slot that holds the node of the next state.
    pub fn next_location(&self) -> usize {
        self.pool.symbol_count()
    }

    fn spend(&self) -> Result<(), Refusal> {
        match self.fuel.get().checked_sub(1) {
            Some(left) => {
                self.fuel.set(left);
                Ok(())
            }
            None => Err(Refusal::TooMuchWork),
        }
    }

    /// Runs `body` one level deeper.
    fn deeper<T>(&self, body: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
        if self.depth.get() >= DEEPEST {
            return Err(Refusal::TooDeep);
        }
        self.depth.set(self.depth.get() + 1);
        let result = body();
        self.depth.set(self.depth.get() - 1);
        result
    }

    /// The value of a term all of whose variables have values.
    pub fn value(&self, env: &mut Env, t: TermId, view: View) -> Result<Value, Refusal> {
        self.spend()?;
        self.deeper(|| {
            let args = self.pool.args(t);
            let op = self.pool.op(t);
            match op {
                Op::Symbol(s) => env.0[self.slot(s, view)]
                    .clone()
                    .ok_or_else(|| Refusal::Unbounded(self.pool.symbol(s).name.clone())),
                Op::Bool(b) => Ok(Value::Bool(b)),
                Op::Const(v) => Ok(self.pool.value(v).clone()),
                Op::Not => Ok(Value::Bool(!self.truth(env, args[0], view)?)),
                Op::And => {
                    for &a in args {
                        if !self.truth(env, a, view)? {
                            return Ok(Value::Bool(false));
                        }
                    }
                    Ok(Value::Bool(true))
                }
                Op::Or => {
                    for &a in args {
                        if self.truth(env, a, view)? {
                            return Ok(Value::Bool(true));
                        }
                    }
                    Ok(Value::Bool(false))
                }
                Op::Implies => Ok(Value::Bool(
                    !self.truth(env, args[0], view)? || self.truth(env, args[1], view)?,
                )),
                Op::Ite => {
                    let branch = if self.truth(env, args[0], view)? { args[1] } else { args[2] };
                    self.value(env, branch, view)
                }
                Op::Exists => Ok(Value::Bool(self.some_instance(env, args, view, true)?)),
                Op::Forall => Ok(Value::Bool(!self.some_instance(env, args, view, false)?)),
                _ => {
                    let values = args
                        .iter()
                        .map(|&a| self.value(env, a, view))
                        .collect::<Result<Vec<_>, _>>()?;
                    apply(op, &values)
                }
            }
        })
    }

    /// The truth of a formula all of whose variables have values.
    pub fn truth(&self, env: &mut Env, t: TermId, view: View) -> Result<bool, Refusal> {
        match self.value(env, t, view)? {
            Value::Bool(b) => Ok(b),
            _ => Err(Refusal::IllSorted),
        }
    }

    /// Whether some values of the bound variables give the body of a quantifier the truth value
    /// `positive`.
    fn some_instance(
        &self,
        env: &mut Env,
        bound_and_body: &[TermId],
        view: View,
        positive: bool,
    ) -> Result<bool, Refusal> {
        let Some((&body, bound)) = bound_and_body.split_last() else {
            return Err(Refusal::IllSorted);
        };
        let slots: Vec<usize> = bound
            .iter()
            .filter_map(|&b| self.pool.as_symbol(b))
            .map(|s| self.slot(s, View::Here))
            .collect();
        // A quantifier occurs within itself only through sharing; then its variables already have
        // values.
        let before: Vec<Option<Value>> = slots.iter().map(|&s| env.0[s].take()).collect();
        let mut literals = Vec::new();
        self.flatten(body, positive, view, &mut literals);
        let found = self.exists(env, &slots, &literals);
        for (s, v) in slots.iter().zip(before) {
            env.0[*s] = v;
        }
        found
    }

    /// The literals of a conjunction.
    pub fn flatten(&self, t: TermId, positive: bool, view: View, out: &mut Vec<Literal>) {
        let mut stack = vec![(t, positive)];
        while let Some((t, positive)) = stack.pop() {
            let args = self.pool.args(t);
            match (self.pool.op(t), positive) {
                (Op::Not, _) => stack.push((args[0], !positive)),
                (Op::And, true) | (Op::Or, false) => {
                    stack.extend(args.iter().rev().map(|&a| (a, positive)))
                }
                (Op::Implies, false) => stack.extend([(args[1], false), (args[0], true)]),
                _ => out.push(Literal { term: t, positive, view, slots: self.free_slots(t, view) }),
            }
        }
    }

    fn free_slots(&self, t: TermId, view: View) -> Rc<[usize]> {
        let mut free = self.free.borrow_mut();
        if !free.contains_key(&t) {
            for u in self.pool.postorder(&[t]) {
                if free.contains_key(&u) {
                    continue;
                }
                let args = self.pool.args(u);
                let mut slots: Vec<usize> = match self.pool.op(u) {
                    Op::Symbol(s) => {
                        self.symbols.borrow_mut().insert(s.index(), s);
                        vec![s.index()]
                    }
                    Op::Forall | Op::Exists => {
                        let (body, bound) = args.split_last().expect("a quantifier has a body");
                        let bound: Vec<usize> =
                            bound.iter().flat_map(|b| free[b].iter().copied()).collect();
                        free[body].iter().copied().filter(|s| !bound.contains(s)).collect()
                    }
                    _ => args.iter().flat_map(|a| free[a].iter().copied()).collect(),
                };
                slots.sort_unstable();
                slots.dedup();
                free.insert(u, slots.into());
            }
        }
        match view {
            View::Here => Rc::clone(&free[&t]),
            View::After => {
                free[&t].iter().map(|s| self.next_of.get(s).copied().unwrap_or(*s)).collect()
            }
        }
    }

    fn is_known(&self, env: &Env, t: TermId, view: View) -> bool {
        self.free_slots(t, view).iter().all(|&s| env.0[s].is_some())
    }

    /// True if the conjunction has a solution. Unknowns that it does not mention may have any
    /// value.
    pub fn exists(
        &self,
        env: &mut Env,
        unknowns: &[usize],
        literals: &[Literal],
    ) -> Result<bool, Refusal> {
        let mentioned: Vec<usize> = unknowns
            .iter()
            .copied()
            .filter(|u| literals.iter().any(|l| l.slots.contains(u)))
            .collect();
        self.search(env, &mentioned, literals, &mut |_| Ok(true))
    }

    /// Visits every solution of the conjunction; true if the visitor ended the search. Unknowns
    /// have no value before and after.
    pub fn search(
        &self,
        env: &mut Env,
        unknowns: &[usize],
        literals: &[Literal],
        visit: Visit<'_>,
    ) -> Result<bool, Refusal> {
        let mut pending = Vec::new();
        for l in literals {
            if l.slots.iter().all(|&s| env.0[s].is_some()) {
                if self.truth(env, l.term, l.view)? != l.positive {
                    return Ok(false);
                }
            } else {
                pending.push(l.clone());
            }
        }
        if unknowns.is_empty() {
            return match pending.first() {
                None => visit(env),
                Some(_) => Err(Refusal::IllSorted),
            };
        }
        for (i, &u) in unknowns.iter().enumerate() {
            let Some(candidates) = self.candidates(env, u, &pending)? else { continue };
            let rest: Vec<usize> =
                unknowns.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, &u)| u).collect();
            for value in candidates {
                self.spend()?;
                env.0[u] = Some(value);
                let ended = self.deeper(|| self.search(env, &rest, &pending, visit));
                env.0[u] = None;
                if ended? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        Err(Refusal::Unbounded(self.name_of(unknowns[0])))
    }

    fn symbol_of(&self, slot: usize) -> Option<&gander_term::Symbol> {
        self.symbols.borrow().get(&slot).map(|&s| self.pool.symbol(s))
    }

    fn name_of(&self, slot: usize) -> String {
        self.symbol_of(slot).map_or_else(String::new, |s| s.name.clone())
    }

    /// A finite superset of the values that the unknown has in solutions; `None` if the literals
    /// give none.
    fn candidates(
        &self,
        env: &mut Env,
        slot: usize,
        literals: &[Literal],
    ) -> Result<Option<Vec<Value>>, Refusal> {
        let mut narrowed = Narrowed::default();
        for l in literals {
            if l.slots.contains(&slot) {
                self.narrow(env, slot, l.term, l.positive, l.view, &mut narrowed)?;
            }
        }
        self.finite(slot, narrowed)
    }

    fn finite(&self, slot: usize, narrowed: Narrowed) -> Result<Option<Vec<Value>>, Refusal> {
        if let Some(mut values) = narrowed.values {
            values.sort();
            values.dedup();
            return Ok(Some(values));
        }
        let Some(symbol) = self.symbol_of(slot) else { return Ok(None) };
        let within = match symbol.sort {
            Sort::Bool => return Ok(Some(vec![Value::Bool(false), Value::Bool(true)])),
            Sort::BitVec(width) if width.bits() <= 12 => {
                return Ok(Some(
                    (0..1u32 << width.bits()).map(|i| Value::bits(width, i)).collect(),
                ));
            }
            Sort::Array(array) => return Ok(all_arrays(array)),
            Sort::Enum(e) => {
                let n = self.pool.enumeration(e).variants.len() as u32;
                return Ok(Some((0..n).map(|i| Value::Enum(e, i)).collect()));
            }
            _ => narrowed.low.zip(narrowed.high),
        };
        match within {
            Some((
                Bound { value: Value::Int(low), strict: above },
                Bound { value: Value::Int(high), strict: below },
            )) => {
                let mut i = if above { low + IBig::ONE } else { low };
                let last = if below { high - IBig::ONE } else { high };
                if last.clone() - &i > IBig::from(WIDEST) {
                    return Err(Refusal::TooMuchWork);
                }
                let mut values = Vec::new();
                while i <= last {
                    values.push(Value::Int(i.clone()));
                    i += IBig::ONE;
                }
                Ok(Some(values))
            }
            Some((low, high)) => Ok(match order(&low.value, &high.value)? {
                std::cmp::Ordering::Greater => Some(Vec::new()),
                std::cmp::Ordering::Equal if low.strict || high.strict => Some(Vec::new()),
                std::cmp::Ordering::Equal => Some(vec![low.value]),
                std::cmp::Ordering::Less => None,
            }),
            None => Ok(None),
        }
    }

    /// Adds what a literal implies about the unknown.
    fn narrow(
        &self,
        env: &mut Env,
        slot: usize,
        t: TermId,
        positive: bool,
        view: View,
        out: &mut Narrowed,
    ) -> Result<(), Refusal> {
        self.spend()?;
        let args = self.pool.args(t);
        let op = self.pool.op(t);
        self.deeper(|| match (op, positive) {
            (Op::Not, _) => self.narrow(env, slot, args[0], !positive, view, out),
            (Op::And, true) | (Op::Or, false) => {
                args.iter().try_for_each(|&a| self.narrow(env, slot, a, positive, view, out))
            }
            (Op::Or, true) | (Op::And, false) => {
                let sides: Vec<(TermId, bool)> = args.iter().map(|&a| (a, positive)).collect();
                self.narrow_by_cases(env, slot, &sides, view, out)
            }
            (Op::Implies, true) => {
                self.narrow_by_cases(env, slot, &[(args[0], false), (args[1], true)], view, out)
            }
            (Op::Implies, false) => {
                self.narrow(env, slot, args[0], true, view, out)?;
                self.narrow(env, slot, args[1], false, view, out)
            }
            (Op::Ite, _) if self.is_known(env, args[0], view) => {
                let branch = if self.truth(env, args[0], view)? { args[1] } else { args[2] };
                self.narrow(env, slot, branch, positive, view, out)
            }
            (Op::Eq, true) => {
                for (x, e) in [(args[0], args[1]), (args[1], args[0])] {
                    if out.values.is_none()
                        && self.is_slot(slot, x, view)
                        && self.is_known(env, e, view)
                    {
                        out.values = Some(vec![self.value(env, e, view)?]);
                    }
                }
                Ok(())
            }
            (Op::Lt | Op::Le | Op::Gt | Op::Ge, _) => {
                let (x_below, x_above) = match (op, positive) {
                    (Op::Lt, true) | (Op::Ge, false) => (Some(true), None),
                    (Op::Le, true) | (Op::Gt, false) => (Some(false), None),
                    (Op::Gt, true) | (Op::Le, false) => (None, Some(true)),
                    _ => (None, Some(false)),
                };
                if self.is_slot(slot, args[0], view) && self.is_known(env, args[1], view) {
                    self.bound(env, args[1], view, x_below, x_above, out)
                } else if self.is_slot(slot, args[1], view) && self.is_known(env, args[0], view) {
                    self.bound(env, args[0], view, x_above, x_below, out)
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        })
    }

    /// The unknown is below (above) the value of `e`, strictly or not.
    fn bound(
        &self,
        env: &mut Env,
        e: TermId,
        view: View,
        below: Option<bool>,
        above: Option<bool>,
        out: &mut Narrowed,
    ) -> Result<(), Refusal> {
        let value = self.value(env, e, view)?;
        // Keep the tightest bound on each side.
        if let Some(strict) = below {
            let tighter = match &out.high {
                Some(old) => order(&value, &old.value)?.then(old.strict.cmp(&strict)).is_lt(),
                None => true,
            };
            if tighter {
                out.high = Some(Bound { value: value.clone(), strict });
            }
        }
        if let Some(strict) = above {
            let tighter = match &out.low {
                Some(old) => order(&value, &old.value)?.then(strict.cmp(&old.strict)).is_gt(),
                None => true,
            };
            if tighter {
                out.low = Some(Bound { value, strict });
            }
        }
        Ok(())
    }

    fn is_slot(&self, slot: usize, t: TermId, view: View) -> bool {
        self.pool.as_symbol(t).is_some_and(|s| self.slot(s, view) == slot)
    }

    /// One of the sides holds: if each gives finitely many candidates, so does their union.
    fn narrow_by_cases(
        &self,
        env: &mut Env,
        slot: usize,
        sides: &[(TermId, bool)],
        view: View,
        out: &mut Narrowed,
    ) -> Result<(), Refusal> {
        if out.values.is_some() {
            return Ok(());
        }
        let mut union = Vec::new();
        for &(side, positive) in sides {
            if self.is_known(env, side, view) {
                if self.truth(env, side, view)? == positive {
                    return Ok(());
                }
                continue;
            }
            let mut narrowed = Narrowed::default();
            self.narrow(env, slot, side, positive, view, &mut narrowed)?;
            match self.finite(slot, narrowed)? {
                Some(values) => union.extend(values),
                None => return Ok(()),
            }
        }
        out.values = Some(union);
        Ok(())
    }
}
/// Every array whose indices and elements are bools or bit-vectors of at most two bits; `None` for
/// other sorts.
fn all_arrays(sort: ArraySort) -> Option<Vec<Value>> {
    let few = |sort: Sort| match sort {
        Sort::Bool => Some([false, true].map(Value::Bool).to_vec()),
        Sort::BitVec(width) if width.bits() <= 2 => {
            Some((0..1u32 << width.bits()).map(|i| Value::bits(width, i)).collect::<Vec<_>>())
        }
        _ => None,
    };
    let (indices, elements) = (few(sort.index())?, few(sort.element())?);
    let mut arrays = vec![ArrayValue::constant(sort, elements[0].clone())?];
    for i in &indices {
        let mut more = Vec::new();
        for a in &arrays {
            for v in &elements {
                let mut written = a.exceptions().to_vec();
                written.push((i.clone(), v.clone()));
                more.push(ArrayValue::new(sort, a.default().clone(), written)?);
            }
        }
        arrays = more;
    }
    Some(arrays.into_iter().map(Value::array).collect())
}
