//! Mutants: a model with a small mistake in one place.
//!
//! A mutation changes one part of the source, which may be several elements (an equation at the
//! first instant and later, in every instance of its node): a constant is off by one or becomes 0,
//! 1 or -1, a variable of sort bool is stuck at a value, an operator
//! is replaced by another of its class, a condition is negated, an update is dropped, a start value
//! or a constraint is dropped. These are the mutations of T. Budd (1980) that E. Ghassabani,
//! Inductive Validity Cores (2020), section 6.2, uses, applied to the formulas of a system.
//!
//! Invariant: a mutant differs from its system in the elements of the mutation only, so its runs
//! are runs of the system without them.

use std::sync::Arc;

use gander_term::{IBig, Op, Pool, RBig, Sort, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::formula::{ChoiceTerm, StateTerm, StepTerm};
use crate::origin::ElementId;
use crate::system::{Effect, System};

/// The change of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    Formula(TermId),
    Dropped,
}

/// A mistake. Terms are those of [`Mutants::pool`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// A constant or an operation becomes another one.
    Replaced(TermId, TermId),
    /// A formula is negated.
    Negated(TermId),
    /// The condition of a conditional is negated.
    ConditionNegated(TermId),
    /// A variable keeps its value.
    Kept,
    /// A constraint is left out.
    LeftOut,
    /// A variable has this value.
    Stuck(bool),
}

/// The states that a mistake is about, if its part of the source is about more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// The first state.
    First,
    /// All later ones.
    Later,
}

/// A mutation of a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutant {
    /// The mistake.
    pub mistake: Mistake,
    /// The element that its terms are of.
    pub element: ElementId,
    /// When it is made, if its part is about first and later states and the mistake is not.
    pub moment: Option<Moment>,
    changes: Vec<(ElementId, Change)>,
}

/// Mutants of a system, and the terms that they need.
#[derive(Clone, Debug)]
pub struct Mutants {
    /// The mutants.
    pub list: Vec<Mutant>,
    /// The terms of mistakes.
    pub pool: Arc<Pool>,
}

/// The formula of an element.
#[derive(Clone, Copy)]
enum Place {
    /// A constraint; it can be dropped.
    Constraint(TermId),
    /// The next value of a variable, or its equation; and the same for an unchanged variable.
    Update(TermId, TermId),
}

/// An element, its formula, and the subterms that can be changed.
type Member = (ElementId, Place, Vec<TermId>);

/// The mutants of elements that come from one part of the source.
pub fn mutants(system: &System, elements: &[ElementId]) -> Mutants {
    let mut pool = Pool::fork(&system.pool);
    let places = places(system, &mut pool);
    let mut list: Vec<Mutant> = Vec::new();
    // Elements with the same operators are changed together, at the n-th site of each.
    let mut forms: Vec<(Vec<&'static str>, Vec<Member>)> = Vec::new();
    for &e in elements {
        let Some(&place) = places.get(&e) else { continue };
        let (Place::Constraint(formula) | Place::Update(formula, _)) = place;
        let sites = sites(&pool, formula);
        let form: Vec<&'static str> = sites.iter().map(|&s| pool.op(s).name()).collect();
        match forms.iter_mut().find(|(known, _)| *known == form) {
            Some((_, members)) => members.push((e, place, sites)),
            None => forms.push((form, vec![(e, place, sites)])),
        }
    }
    for (_, members) in &forms {
        let Some((_, _, first)) = members.first() else { continue };
        for n in 0..first.len() {
            for way in 0..WAYS {
                let mut mistake = None;
                let mut changes = Vec::new();
                for (e, place, sites) in members {
                    let (Place::Constraint(formula) | Place::Update(formula, _)) = *place;
                    if let Some((found, new)) = replacement(&mut pool, sites[n], way) {
                        let changed = replaced(&mut pool, formula, sites[n], new);
                        if changed != formula {
                            mistake.get_or_insert((found, *e));
                            changes.push((*e, Change::Formula(changed)));
                        }
                    }
                }
                if let Some((mistake, element)) = mistake
                    && !list.iter().any(|m| m.changes == changes)
                {
                    list.push(Mutant { mistake, element, moment: None, changes });
                }
            }
        }
        let whole: Vec<(ElementId, Change)> = members
            .iter()
            .filter_map(|(e, place, _)| match *place {
                Place::Constraint(_) => Some((*e, Change::Dropped)),
                Place::Update(formula, before) => {
                    (before != formula).then_some((*e, Change::Formula(before)))
                }
            })
            .collect();
        if let Some(&(element, _)) = whole.first() {
            let forgotten = whole.iter().all(|(_, c)| matches!(c, Change::Formula(_)));
            let mistake = if forgotten { Mistake::Kept } else { Mistake::LeftOut };
            list.push(Mutant { mistake, element, moment: None, changes: whole });
        }
    }
    list.extend(stuck(system, &mut pool, elements, &list));
    set_moments(system, elements, &mut list);
    Mutants { list, pool: pool.freeze() }
}

/// Sets when mistakes are made.
fn set_moments(system: &System, elements: &[ElementId], list: &mut [Mutant]) {
    let starts: FxHashSet<ElementId> =
        system.starts.iter().flat_map(|s| &s.constraint).map(|e| e.id).collect();
    let is_first = |e: &ElementId| starts.contains(e);
    if elements.iter().all(is_first) || !elements.iter().any(is_first) {
        return;
    }
    for mutant in list {
        let mut changed = mutant.changes.iter().map(|(e, _)| e);
        mutant.moment = if changed.clone().all(is_first) {
            Some(Moment::First)
        } else if !changed.any(is_first) {
            Some(Moment::Later)
        } else {
            None
        };
    }
}

/// Stuck-at faults: a variable of sort bool has the same value whenever one of the elements
/// determines it. Elements that determine no such variable stay as they are.
fn stuck(
    system: &System,
    pool: &mut Pool,
    elements: &[ElementId],
    known: &[Mutant],
) -> Vec<Mutant> {
    let signals = signals(system);
    let mut found: Vec<Mutant> = Vec::new();
    for value in [true, false] {
        let mut changes = Vec::new();
        for &e in elements {
            let Some((formula, signal)) = signals.get(&e) else { continue };
            let constant = if value { pool.tt() } else { pool.ff() };
            let new = match signal {
                Signal::Value => constant,
                Signal::Equation(x) => pool.eq(*x, constant),
            };
            if new != *formula {
                changes.push((e, Change::Formula(new)));
            }
        }
        if let Some(&(element, _)) = changes.first()
            && !known.iter().any(|m| m.changes == changes)
        {
            let mistake = Mistake::Stuck(value);
            found.push(Mutant { mistake, element, moment: None, changes });
        }
    }
    found
}

/// How an element determines a variable of sort bool.
#[derive(Clone, Copy)]
enum Signal {
    /// Its formula is the value.
    Value,
    /// Its formula is an equation of this variable and the value.
    Equation(TermId),
}

/// By element: its formula, and how it determines a variable of sort bool.
fn signals(system: &System) -> FxHashMap<ElementId, (TermId, Signal)> {
    let pool = &system.pool;
    let is_variable = |t: TermId| {
        let known = |s| system.vars.iter().any(|v| v.current == s || v.next == s);
        pool.sort(t) == Sort::Bool && pool.as_symbol(t).is_some_and(known)
    };
    let equation = |t: TermId| match (pool.op(t), pool.args(t)) {
        (Op::Eq, &[a, b]) => [a, b].into_iter().find(|x| is_variable(*x)).map(Signal::Equation),
        _ => None,
    };
    let mut found = FxHashMap::default();
    for e in system.starts.iter().flat_map(|s| &s.constraint) {
        found.extend(equation(e.term.term()).map(|s| (e.id, (e.term.term(), s))));
    }
    for e in system.transitions.iter().flat_map(|t| &t.effect) {
        match *e {
            Effect::Assign { id, value, .. } if pool.sort(value.term()) == Sort::Bool => {
                found.insert(id, (value.term(), Signal::Value));
            }
            Effect::Constrain { id, relation } => {
                let term = relation.term();
                found.extend(equation(term).map(|s| (id, (term, s))));
            }
            _ => {}
        }
    }
    found
}

/// The largest number of ways to change a site.
const WAYS: usize = 5;
/// The values that every number is replaced by, in the ways behind the first two.
const CONSTANTS: [i32; 3] = [0, 1, -1];
/// The number of sites of one formula that are changed; deeper ones are not.
const MAX_SITES: usize = 24;

impl Mutants {
    /// The system with one of the mutations.
    pub fn applied(&self, system: &System, mutant: &Mutant) -> System {
        let changes: FxHashMap<ElementId, Change> = mutant.changes.iter().copied().collect();
        let formula = |e: ElementId| match changes.get(&e) {
            Some(Change::Formula(t)) => Some(*t),
            _ => None,
        };
        let stays = |e: ElementId| changes.get(&e) != Some(&Change::Dropped);
        let mut mutated = system.clone();
        mutated.certain_ranges.clear();
        mutated.pool = Arc::clone(&self.pool);
        for start in &mut mutated.starts {
            start.constraint.retain(|e| stays(e.id));
            start
                .constraint
                .iter_mut()
                .for_each(|e| e.term = formula(e.id).map_or(e.term, StateTerm));
        }
        mutated.assumptions.retain(|e| stays(e.id));
        mutated
            .assumptions
            .iter_mut()
            .for_each(|e| e.term = formula(e.id).map_or(e.term, StateTerm));
        for t in &mut mutated.transitions {
            t.guard.retain(|e| stays(e.id));
            t.guard.iter_mut().for_each(|e| e.term = formula(e.id).map_or(e.term, ChoiceTerm));
            t.effect.retain(|e| stays(e.id()));
            for e in &mut t.effect {
                match e {
                    Effect::Assign { id, value, .. } => {
                        *value = formula(*id).map_or(*value, ChoiceTerm)
                    }
                    Effect::Constrain { id, relation } => {
                        *relation = formula(*id).map_or(*relation, StepTerm)
                    }
                    Effect::Keep { .. } => {}
                }
            }
        }
        mutated
    }
}

/// By element: its formula.
fn places(system: &System, pool: &mut Pool) -> FxHashMap<ElementId, Place> {
    let mut places: FxHashMap<ElementId, Place> = FxHashMap::default();
    let next: FxHashMap<_, _> = system.vars.iter().map(|v| (v.next, v.current)).collect();
    for s in &system.starts {
        places.extend(s.constraint.iter().map(|e| (e.id, Place::Constraint(e.term.term()))));
    }
    places.extend(system.assumptions.iter().map(|e| (e.id, Place::Constraint(e.term.term()))));
    for t in &system.transitions {
        places.extend(t.guard.iter().map(|e| (e.id, Place::Constraint(e.term.term()))));
        for e in &t.effect {
            match *e {
                Effect::Assign { id, var, value } => {
                    let before = pool.var(system.var(var).current);
                    places.insert(id, Place::Update(value.term(), before));
                }
                Effect::Constrain { id, relation } => {
                    let term = relation.term();
                    let defined = match (system.pool.op(term), system.pool.args(term)) {
                        (Op::Eq, &[a, b]) => [a, b].into_iter().find_map(|x| {
                            let symbol = system.pool.as_symbol(x)?;
                            Some((x, *next.get(&symbol)?))
                        }),
                        _ => None,
                    };
                    let place = match defined {
                        Some((x, current)) => {
                            let current = pool.var(current);
                            Place::Update(term, pool.eq(x, current))
                        }
                        None => Place::Constraint(term),
                    };
                    places.insert(id, place);
                }
                Effect::Keep { .. } => {}
            }
        }
    }
    places
}

/// The subterms that can be changed.
fn sites(pool: &Pool, formula: TermId) -> Vec<TermId> {
    let mut stack = vec![formula];
    let mut found: Vec<TermId> = Vec::new();
    while let Some(t) = stack.pop() {
        if found.contains(&t) || found.len() >= MAX_SITES {
            continue;
        }
        match pool.op(t) {
            Op::Forall | Op::Exists | Op::Symbol(_) | Op::Bv(_) => continue,
            _ => {}
        }
        found.push(t);
        stack.extend(pool.args(t).iter().rev());
    }
    found
}

/// A mutation of a site: the mistake, and the new term.
fn replacement(pool: &mut Pool, site: TermId, way: usize) -> Option<(Mistake, TermId)> {
    let args: Vec<TermId> = pool.args(site).to_vec();
    let op = pool.op(site);
    let other = match (op, way) {
        (Op::Const(v), _) => {
            let value = match (pool.value(v).clone(), way) {
                (Value::Int(i), 0) => Value::int(i + IBig::ONE),
                (Value::Int(i), 1) => Value::int(i - IBig::ONE),
                (Value::Int(_), 2..) => Value::int(CONSTANTS[way - 2]),
                (Value::Real(r), 0) => Value::Real(r + RBig::ONE),
                (Value::Real(r), 1) => Value::Real(r - RBig::ONE),
                (Value::Real(_), 2..) => Value::whole(IBig::from(CONSTANTS[way - 2])),
                _ => return None,
            };
            let new = pool.constant(value);
            return Some((Mistake::Replaced(site, new), new));
        }
        (Op::Bool(b), 0) => {
            let new = if b { pool.ff() } else { pool.tt() };
            return Some((Mistake::Replaced(site, new), new));
        }
        (Op::Ite, 0) => {
            let &[c, a, b] = &args[..] else { return None };
            let not = pool.not(c);
            let new = pool.mk(Op::Ite, &[not, a, b]).ok()?;
            return Some((Mistake::ConditionNegated(c), new));
        }
        (Op::And, 0) => Op::Or,
        (Op::Or, 0) => Op::And,
        (Op::Implies, 0) => Op::And,
        (Op::Add, 0) => Op::Sub,
        (Op::Sub, 0) => Op::Add,
        (Op::Mul, 0) => Op::Add,
        (Op::Lt, 0) => Op::Le,
        (Op::Le, 0) => Op::Lt,
        (Op::Gt, 0) => Op::Ge,
        (Op::Ge, 0) => Op::Gt,
        (Op::Min, 0) => Op::Max,
        (Op::Max, 0) => Op::Min,
        (Op::Eq | Op::Not, 0) if pool.sort(site) == Sort::Bool => {
            // The equality of an equation for a variable is not mutated.
            if op == Op::Eq
                && args.iter().any(|&a| pool.as_symbol(a).is_some())
                && pool.args(site).len() == 2
            {
                return None;
            }
            let new = if op == Op::Not { args[0] } else { pool.not(site) };
            return Some((Mistake::Negated(site), new));
        }
        (Op::Lt | Op::Le | Op::Gt | Op::Ge, 1) => {
            let new = pool.not(site);
            return Some((Mistake::Negated(site), new));
        }
        _ => return None,
    };
    let new = pool.mk(other, &args).ok()?;
    Some((Mistake::Replaced(site, new), new))
}

/// A formula with another term in place of one of its subterms.
fn replaced(pool: &mut Pool, formula: TermId, old: TermId, new: TermId) -> TermId {
    let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
    map.insert(old, new);
    for t in pool.postorder(&[formula]) {
        if map.contains_key(&t) || matches!(pool.op(t), Op::Forall | Op::Exists) {
            continue;
        }
        let args: Vec<TermId> = pool.args(t).to_vec();
        if args.iter().any(|a| map.contains_key(a)) {
            let args: Vec<TermId> =
                args.iter().map(|a| map.get(a).copied().unwrap_or(*a)).collect();
            if let Ok(rebuilt) = pool.mk(pool.op(t), &args) {
                map.insert(t, rebuilt);
            }
        }
    }
    map.get(&formula).copied().unwrap_or(formula)
}
