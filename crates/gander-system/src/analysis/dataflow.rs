//! The equations of systems that are dataflow programs: every variable is a stream.
//!
//! A dataflow system has one start and one transition. A start constraint `x == e` *defines* the
//! stream x at the first instant, an effect `x' == e` at later ones. Streams without an equation
//! are *free*: inputs, arbitrary values, values before the first instant. The program is *causal*
//! if the dependencies within an instant are acyclic; then the values of the free streams determine
//! the others, by evaluation in the order of dependencies. Cyclic equations are constraints and are
//! not evaluated.

use std::sync::Arc;

use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::origin::{ElementId, ElementName};
use crate::system::{Effect, System, VarId};

/// Which equations apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instant {
    /// The first instant: equations are over current symbols.
    First,
    /// A later instant: equations are over next symbols (this instant) and current symbols (the
    /// instant before).
    Later,
}

/// The equations of a dataflow system. Their terms are in [`Dataflow::pool`].
#[derive(Clone, Debug)]
pub struct Dataflow {
    pool: Arc<Pool>,
    first: Equations,
    later: Equations,
    current: FxHashMap<SymbolId, VarId>,
    next: FxHashMap<SymbolId, VarId>,
}

#[derive(Clone, Debug)]
struct Equations {
    /// By variable.
    terms: Vec<Option<TermId>>,
    /// Defined variables, each after those that it uses at the same instant; `None` if they are
    /// cyclic.
    order: Option<Vec<VarId>>,
}

/// What a stream depends on: streams at the same instant and at the one before.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    /// At the same instant.
    pub now: Vec<VarId>,
    /// At the instant before.
    pub before: Vec<VarId>,
}

impl Dataflow {
    /// The equations of a system. `None` if it is no dataflow program: if it has constraints other
    /// than equations and assumptions, or two equations for one stream.
    pub fn of(system: &System) -> Option<Dataflow> {
        let ([start], [step]) = (&system.starts[..], &system.transitions[..]) else { return None };
        let is_stream = |v: &crate::system::StateVar| v.stream.is_some();
        let bare = step.params.is_empty() && step.guard.is_empty();
        if system.vars.is_empty() || !system.vars.iter().all(is_stream) || !bare {
            return None;
        }
        let mut pool = Pool::fork(&system.pool);
        let current: FxHashMap<SymbolId, VarId> =
            system.var_ids().map(|v| (system.var(v).current, v)).collect();
        let next: FxHashMap<SymbolId, VarId> =
            system.var_ids().map(|v| (system.var(v).next, v)).collect();
        let names: FxHashMap<&str, VarId> =
            system.var_ids().map(|v| (system.var(v).name.as_str(), v)).collect();
        let named = |e: ElementId| match &system.elements[e.index()].name {
            ElementName::Given(name) => {
                names.get(name.strip_suffix(" at first").unwrap_or(name)).copied()
            }
            _ => None,
        };
        let mut first = vec![None; system.vars.len()];
        // `x = x` has been simplified to true.
        let demands = |t: TermId| system.pool.as_bool(t) != Some(true);
        for e in start.constraint.iter().filter(|e| demands(e.term.term())) {
            let (v, value) = pool.equation_for(e.term.term(), &current, named(e.id))?;
            define(&mut first, v, value)?;
        }
        let mut later = vec![None; system.vars.len()];
        for e in &step.effect {
            match *e {
                Effect::Assign { var, value, .. } => define(&mut later, var, value.term())?,
                Effect::Keep { var, .. } => {
                    define(&mut later, var, pool.var(system.var(var).current))?
                }
                Effect::Constrain { relation, .. } if !demands(relation.term()) => {}
                Effect::Constrain { id, relation } => {
                    let (v, value) = pool.equation_for(relation.term(), &next, named(id))?;
                    define(&mut later, v, value)?;
                }
            }
        }
        let first = Equations { order: in_order(&pool, &current, &first), terms: first };
        let later = Equations { order: in_order(&pool, &next, &later), terms: later };
        Some(Dataflow { pool: pool.freeze(), first, later, current, next })
    }

    /// The pool of the terms.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    fn at(&self, instant: Instant) -> &Equations {
        match instant {
            Instant::First => &self.first,
            Instant::Later => &self.later,
        }
    }

    /// True if no stream depends on its own value at the same instant.
    pub fn is_causal(&self, instant: Instant) -> bool {
        self.at(instant).order.is_some()
    }

    /// The right side of the equation of a stream.
    pub fn equation(&self, instant: Instant, var: VarId) -> Option<TermId> {
        self.at(instant).terms[var.index()]
    }

    /// True if no equation defines the stream.
    pub fn is_free(&self, instant: Instant, var: VarId) -> bool {
        self.equation(instant, var).is_none()
    }

    /// The stream that this one is equal to at every instant, if its equations say so.
    pub fn repeats(&self, var: VarId) -> Option<VarId> {
        let symbol = |i| self.equation(i, var).and_then(|t| self.pool.as_symbol(t));
        let first = self.current.get(&symbol(Instant::First)?)?;
        let later = self.next.get(&symbol(Instant::Later)?)?;
        (first == later).then_some(*first)
    }

    /// The streams that the equation of a stream mentions.
    pub fn uses(&self, instant: Instant, var: VarId) -> Uses {
        let Some(term) = self.equation(instant, var) else { return Uses::default() };
        self.mentioned(instant, term)
    }

    /// The streams that a term mentions.
    pub fn mentioned(&self, instant: Instant, term: TermId) -> Uses {
        let mut uses = Uses::default();
        for s in self.pool.free_symbols(&[term]) {
            match (self.next.get(&s), self.current.get(&s), instant) {
                (Some(&v), _, _) | (None, Some(&v), Instant::First) => uses.now.push(v),
                (None, Some(&v), Instant::Later) => uses.before.push(v),
                (None, None, _) => {}
            }
        }
        uses
    }

    /// The values of all streams at an instant. `free` gives the values of free streams; `before`
    /// has the values at the instant before, `None` at the first instant. The error is a stream
    /// without a value; if the equations are cyclic, no defined stream has one.
    pub fn values(
        &self,
        before: Option<&[Value]>,
        free: impl Fn(VarId) -> Option<Value>,
    ) -> Result<Vec<Value>, VarId> {
        let instant = if before.is_some() { Instant::Later } else { Instant::First };
        let equations = self.at(instant);
        let mut values: Vec<Option<Value>> = equations
            .terms
            .iter()
            .enumerate()
            .map(|(v, t)| if t.is_none() { free(VarId::from(v)) } else { None })
            .collect();
        for &v in equations.order.iter().flatten() {
            let Some(term) = equations.terms[v.index()] else { continue };
            let look = |s: SymbolId| match before {
                None => self.current.get(&s).and_then(|u| values[u.index()].clone()),
                Some(old) => match self.next.get(&s) {
                    Some(u) => values[u.index()].clone(),
                    None => self.current.get(&s).and_then(|u| old.get(u.index()).cloned()),
                },
            };
            let value = evaluate(&self.pool, term, &look).map_err(|_| v)?;
            values[v.index()] = Some(value);
        }
        values.into_iter().enumerate().map(|(v, value)| value.ok_or(VarId::from(v))).collect()
    }
}

/// Records an equation; `None` if the stream has one already, as no constraint may be dropped.
fn define(terms: &mut [Option<TermId>], v: VarId, value: TermId) -> Option<()> {
    terms[v.index()].replace(value).is_none().then_some(())
}

/// Defined variables, each after those that it uses; `None` if they are cyclic.
fn in_order(
    pool: &Pool,
    of: &FxHashMap<SymbolId, VarId>,
    terms: &[Option<TermId>],
) -> Option<Vec<VarId>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; terms.len()];
    let mut order = Vec::new();
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    for root in 0..terms.len() {
        let mut visit = Some(root);
        loop {
            if let Some(v) = visit.take() {
                match (marks[v], terms[v]) {
                    (Mark::Open, _) => return None,
                    (Mark::New, Some(t)) => {
                        let symbols = pool.free_symbols(&[t]);
                        marks[v] = Mark::Open;
                        stack.push((
                            v,
                            symbols.iter().filter_map(|s| of.get(s)).map(|v| v.index()).collect(),
                        ));
                    }
                    _ => {}
                }
            }
            let Some((v, uses)) = stack.last_mut() else { break };
            match uses.pop() {
                Some(u) => visit = Some(u),
                None => {
                    marks[*v] = Mark::Done;
                    order.push(VarId::from(*v));
                    stack.pop();
                }
            }
        }
    }
    Some(order)
}
