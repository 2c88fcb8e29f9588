//! Visited states: concrete states with the runs that lead to them, as a tree.
//!
//! To reach a state of an exact piece, its predecessors are computed backwards: the piece is an
//! image, so the state has a predecessor in the source piece, and so on to a start. Each is one
//! small query. The run is then computed forwards, which gives values to the variables that the
//! pieces do not mention. If the backward search meets a visited state, the run to that state is
//! its prefix.

use std::sync::Arc;

use gander_system::{Leg, Legs, NodeId, Run, StartId, State, Step, TransitionId};
use gander_term::{SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::image::Images;
use super::limits::LIMITS;
use super::pieces::{Derivation, Pieces};
use super::relevance::Relevance;
use crate::arith::eliminate::bound_of;
use crate::core::EngineContext;
use crate::encode::encoding::Encoding;
use crate::encode::query::{Query, Solved, first_value};

/// Values of some symbols.
pub(super) type Values = FxHashMap<SymbolId, Value>;

/// A visited state.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    pub state: State,
    /// The previous visit, the transition and its parameters; `None` at a start.
    pub before: Option<(usize, TransitionId, Vec<Value>)>,
    pub start: StartId,
    /// The first visit of its run.
    pub first: usize,
    pub length: u32,
}

/// All visited states. Runs share their prefixes.
#[derive(Default)]
pub(super) struct Visits {
    pub all: Vec<Visit>,
    /// By visit, after `store_runs`: a long run through it.
    written: Vec<Legs>,
}

/// The context for finding runs.
pub(super) struct Guide<'a> {
    pub context: &'a EngineContext,
    pub e: &'a mut Encoding,
    pub images: &'a mut Images,
    pub query: &'a mut Query,
    pub relevance: &'a Relevance,
    pub pieces: &'a Pieces,
}

impl Visits {
    /// Materialises the runs to all visited states. Each is a prefix of a long run, which is stored
    /// once.
    pub(super) fn store_runs(&mut self) {
        let count = self.all.len();
        // By visit: the length of the longest continuation, and its next visit.
        let mut longest: Vec<(u32, Option<usize>)> = vec![(0, None); count];
        for v in (0..count).rev() {
            if let Some((before, ..)) = self.all[v].before {
                let far = longest[v].0 + 1;
                if longest[before].1.is_none() || far > longest[before].0 {
                    longest[before] = (far, Some(v));
                }
            }
        }
        let heads: Vec<usize> = (0..count)
            .filter(|&v| {
                self.all[v].before.as_ref().is_none_or(|(before, ..)| longest[*before].1 != Some(v))
            })
            .collect();
        let legs: usize = heads.iter().map(|&v| (self.all[v].length + longest[v].0) as usize).sum();
        if legs > LIMITS.shared_legs {
            return;
        }
        let mut written = vec![Legs::new(); count];
        for head in heads {
            let mut end = head;
            while let Some(next) = longest[end].1 {
                end = next;
            }
            let whole = self.legs(end);
            let mut at = head;
            loop {
                written[at] = whole.clone();
                match longest[at].1 {
                    Some(next) => at = next,
                    None => break,
                }
            }
        }
        self.written = written;
    }

    /// The run to a visited state.
    pub(super) fn run(&self, end: usize) -> Run {
        let legs = match self.written.get(end) {
            Some(whole) => whole.prefix(self.all[end].length as usize),
            None => self.legs(end),
        };
        let first = &self.all[self.all[end].first];
        Run { start: first.start, first: first.state.clone(), legs }
    }

    fn legs(&self, end: usize) -> Legs {
        let mut legs = Vec::with_capacity(self.all[end].length as usize);
        let mut at = end;
        while let Some((before, transition, params)) = &self.all[at].before {
            let next = Some(self.all[at].state.values.clone());
            legs.push(Leg::Step(Step { transition: *transition, params: params.clone(), next }));
            at = *before;
        }
        legs.reverse();
        legs.into()
    }

    /// The values of a visited state, by symbol.
    pub(super) fn values(&self, e: &Encoding, at: usize) -> Values {
        e.system
            .vars()
            .iter()
            .map(|v| v.current)
            .zip(self.all[at].state.values.iter().cloned())
            .collect()
    }

    /// Visits a start state with the wanted values.
    pub(super) fn begin(&mut self, g: &mut Guide, s: StartId, wanted: &Values) -> Option<usize> {
        let system = Arc::clone(&g.e.system);
        let node = system.starts()[s.index()].target;
        let constraint = system.start_term(&mut g.e.pool, s);
        let assumption = g.images.assumption(g.e, node);
        let both = g.e.pool.and([constraint, assumption]);
        let (formula, known) = substitute_values(g, both, wanted);
        let values = solve(g, &[formula])?;
        let symbols = system.vars().iter().map(|v| v.current);
        let state = symbols.map(|s| value_in(g.e, s, &[&known, &values])).collect();
        let start = s;
        let first = self.all.len();
        self.all.push(Visit {
            state: State { node, values: state },
            before: None,
            start,
            first,
            length: 0,
        });
        Some(self.all.len() - 1)
    }

    /// Takes a step from a visited state to a state with the wanted values (by current symbol);
    /// `also` is a condition on the parameters.
    pub(super) fn step(
        &mut self,
        g: &mut Guide,
        from: usize,
        t: TransitionId,
        wanted: &Values,
        also: Option<TermId>,
    ) -> Option<usize> {
        let system = Arc::clone(&g.e.system);
        let target = system.transition(t).target;
        let step = g.images.step(g.e, t);
        let before = self.values(g.e, from);
        let mut next_wanted: Values = Values::default();
        for v in system.vars() {
            if let Some(value) = wanted.get(&v.current) {
                next_wanted.insert(v.next, value.clone());
            }
        }
        // The conditions of the step, the wanted next values, and the assumptions at the target.
        let mut parts = vec![step.conditions];
        parts.extend(also);
        for (i, v) in system.vars().iter().enumerate() {
            if let Some(value) = next_wanted.get(&v.next)
                && g.e.pool.as_symbol(step.next[i]) != Some(v.next)
            {
                let value = g.e.pool.constant(value.clone());
                parts.push(g.e.pool.eq(step.next[i], value));
            }
        }
        let assumption = g.images.assumption(g.e, target);
        let behind: FxHashMap<SymbolId, TermId> =
            system.vars().iter().zip(&step.next).map(|(v, &n)| (v.current, n)).collect();
        parts.push(g.e.pool.substitute(assumption, &behind));
        let body = g.e.pool.and(parts);
        let mut known = before;
        known.extend(next_wanted);
        let (formula, _) = substitute_values(g, body, &known);
        let found = match guess(g, &step.params, formula) {
            Some(found) => found,
            None => solve(g, &[formula])?,
        };
        let mut values = Vec::with_capacity(system.vars().len());
        for &next in &step.next {
            let look = |s: SymbolId| {
                let value = known.get(&s).or_else(|| found.get(&s)).cloned();
                Some(value.unwrap_or_else(|| first_value(g.e.pool.symbol(s).sort)))
            };
            values.push(evaluate(&g.e.pool, next, &look).ok()?);
        }
        let params = step.params.iter().map(|&p| value_in(g.e, p, &[&found])).collect();
        let (start, first, length) =
            (self.all[from].start, self.all[from].first, self.all[from].length + 1);
        let before = Some((from, t, params));
        self.all.push(Visit {
            state: State { node: target, values },
            before,
            start,
            first,
            length,
        });
        Some(self.all.len() - 1)
    }

    /// Visits a state of an exact piece with these values of its relevant variables.
    pub(super) fn reach(&mut self, g: &mut Guide, piece: usize, values: Values) -> Option<usize> {
        // Go backwards to a start or to a suitable visited state.
        let (mut at, mut wanted) = (piece, values);
        let mut later: Vec<(TransitionId, Values)> = Vec::new();
        let (mut distance, mut next_try) = (0u64, 0u64);
        let mut visited = loop {
            if g.context.is_cancelled() {
                return None;
            }
            let p = &g.pieces.all[at];
            let matter = |s: &SymbolId| matters(g.e, g.relevance, p.node, *s);
            wanted.retain(|s, _| matter(s));
            if let Some(v) = p.visited
                && self.agrees(g.e, v, &wanted)
            {
                break v;
            }
            let derivations = p.derivations.clone();
            // A visited state of the source piece may have a suitable step. Try this at
            // exponentially growing distances only.
            let try_visited = distance == next_try;
            if try_visited {
                next_try = next_try * 2 + 1;
            }
            distance += 1;
            let mut found = None;
            for derivation in derivations {
                match derivation {
                    Derivation::Start(s) => {
                        if let Some(v) = self.begin(g, s, &wanted) {
                            found = Some(Predecessor::Visited(v));
                            break;
                        }
                    }
                    Derivation::Step(before, t) => {
                        if try_visited
                            && let Some(v) = g.pieces.all[before].visited
                            && let Some(v) = self.step(g, v, t, &wanted, None)
                        {
                            found = Some(Predecessor::Visited(v));
                            break;
                        }
                        if let Some(values) = predecessor(g, before, t, &wanted) {
                            found = Some(Predecessor::Piece(before, t, values));
                            break;
                        }
                    }
                }
            }
            match found? {
                Predecessor::Visited(v) => break v,
                Predecessor::Piece(before, t, values) => {
                    later.push((t, std::mem::replace(&mut wanted, values)));
                    at = before;
                }
            }
        };
        while let Some((t, wanted)) = later.pop() {
            visited = self.step(g, visited, t, &wanted, None)?;
        }
        Some(visited)
    }

    fn agrees(&self, e: &Encoding, at: usize, wanted: &Values) -> bool {
        let state = &self.all[at].state;
        let vars = e.system.vars().iter().zip(&state.values);
        vars.into_iter().all(|(v, value)| wanted.get(&v.current).is_none_or(|w| w == value))
    }
}

enum Predecessor {
    Visited(usize),
    Piece(usize, TransitionId, Values),
}

fn matters(e: &Encoding, relevance: &Relevance, n: NodeId, s: SymbolId) -> bool {
    e.system.vars().iter().position(|v| v.current == s).is_some_and(|i| relevance.matters(n, i))
}

/// The values of a state of the piece from which a step of `t` leads to the wanted values.
fn predecessor(g: &mut Guide, piece: usize, t: TransitionId, wanted: &Values) -> Option<Values> {
    let system = Arc::clone(&g.e.system);
    let step = g.images.step(g.e, t);
    let target = system.transition(t).target;
    let mut parts = g.pieces.all[piece].conjuncts.clone();
    parts.push(step.conditions);
    for (i, v) in system.vars().iter().enumerate() {
        if let Some(value) = wanted.get(&v.current) {
            let value = g.e.pool.constant(value.clone());
            parts.push(g.e.pool.eq(step.next[i], value));
        }
    }
    let assumption = g.images.assumption(g.e, target);
    let behind = system.vars().iter().zip(&step.next).map(|(v, &n)| (v.current, n)).collect();
    parts.push(g.e.pool.substitute(assumption, &behind));
    let body = g.e.pool.and(parts);
    let body = g.images.simplify(&mut g.e.pool, body);
    let mut values = solve(g, &[body])?;
    let node = g.pieces.all[piece].node;
    for (i, v) in system.vars().iter().enumerate() {
        if g.relevance.matters(node, i) {
            values.entry(v.current).or_insert_with(|| first_value(v.sort));
        }
    }
    values.retain(|s, _| matters(g.e, g.relevance, node, *s));
    Some(values)
}

/// Substitutes values into a formula. Returns it simplified, with the values.
fn substitute_values(g: &mut Guide, formula: TermId, values: &Values) -> (TermId, Values) {
    let map: FxHashMap<SymbolId, TermId> =
        values.iter().map(|(&s, v)| (s, g.e.pool.constant(v.clone()))).collect();
    let formula = g.e.pool.substitute(formula, &map);
    (g.images.simplify(&mut g.e.pool, formula), values.clone())
}

/// Values of the free symbols that satisfy all formulas.
pub(super) fn solve(g: &mut Guide, formulas: &[TermId]) -> Option<Values> {
    if formulas.iter().any(|&f| g.e.pool.as_bool(f) == Some(false)) {
        return None;
    }
    let symbols = g.e.pool.free_symbols(formulas);
    if symbols.is_empty() && formulas.iter().all(|&f| g.e.pool.as_bool(f) == Some(true)) {
        return Some(Values::default());
    }
    match g.query.solve(g.context, &g.e.pool, formulas, &symbols, LIMITS.step_query) {
        Solved::Model(values) => Some(symbols.into_iter().zip(values).collect()),
        _ => None,
    }
}

/// True if some values of its free symbols satisfy the formula.
pub(super) fn can_choose(g: &mut Guide, formula: TermId) -> bool {
    let free = g.e.pool.free_symbols(&[formula]);
    guess(g, &free, formula).is_some() || solve(g, &[formula]).is_some()
}

/// Finds values by trial for a formula over at most one parameter, near its bounds.
fn guess(g: &mut Guide, params: &[SymbolId], formula: TermId) -> Option<Values> {
    let free = g.e.pool.free_symbols(&[formula]);
    if !free.iter().all(|s| params.contains(s)) || free.len() > 1 {
        return None;
    }
    let Some(&p) = free.first() else {
        return (g.e.pool.as_bool(formula) == Some(true)).then(Values::default);
    };
    let sort = g.e.pool.symbol(p).sort;
    let mut guesses = vec![first_value(sort)];
    if sort.is_numeric() {
        for c in super::image::flat(&g.e.pool, formula) {
            let Some(end) = bound_of(&mut g.e.pool, p, c).and_then(|t| g.e.pool.as_constant(t))
            else {
                continue;
            };
            match &end {
                Value::Int(i) => guesses.extend([0, 1, -1].map(|d| Value::int(i.clone() + d))),
                Value::Real(r) => {
                    guesses.extend(
                        [0, 1, -1].map(|d| Value::Real(r.clone() + gander_term::RBig::from(d))),
                    );
                }
                _ => {}
            }
        }
    }
    guesses.truncate(LIMITS.guesses);
    let pool = &g.e.pool;
    let fits =
        |v: &Value| evaluate(pool, formula, &|_| Some(v.clone())).ok() == Some(Value::Bool(true));
    let value = guesses.into_iter().find(fits)?;
    Some(Values::from_iter([(p, value)]))
}

fn value_in(e: &Encoding, s: SymbolId, places: &[&Values]) -> Value {
    let found = places.iter().find_map(|p| p.get(&s)).cloned();
    found.unwrap_or_else(|| first_value(e.pool.symbol(s).sort))
}
