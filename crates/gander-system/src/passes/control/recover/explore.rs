//! Exploration of places: nodes with values of the control variables, and the steps between them.

use std::collections::VecDeque;

use gander_runtime::Cancellation;
use gander_term::{Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::residue::{Reducer, all_values, forced};
use crate::system::{Effect, NodeId, Role, StartId, System, TransitionId, VarId};

/// The number of places.
const MAX_PLACES: usize = 300;
/// The number of steps between places, and of cases of one step.
const MAX_EDGES: usize = 2_000;
/// The total size of the steps between places, relative to the steps of the system.
const GROWTH: usize = 4;
/// The number of terms that all attempts may visit.
const MAX_WORK: usize = 400_000;
/// A variable with more values is data.
const MAX_VALUES: usize = 64;

/// A node, and a value for every control variable.
pub(super) type Place = (NodeId, Vec<TermId>);

/// A start at a place, and its other conjuncts.
pub(super) struct Begin {
    pub of: StartId,
    pub place: usize,
    pub conjuncts: Vec<TermId>,
}

/// Values of the symbols, and the conjuncts that remain.
type Case = (Vec<TermId>, Vec<TermId>);

/// A step between places, and the conjuncts of its transition that remain.
pub(super) struct Edge {
    pub of: TransitionId,
    pub from: usize,
    pub to: usize,
    pub conjuncts: Vec<TermId>,
}

pub(super) struct Explored {
    pub control: Vec<VarId>,
    pub places: Vec<Place>,
    pub starts: Vec<Begin>,
    pub edges: Vec<Edge>,
}

/// Why an attempt failed.
enum Failure {
    /// Too much work for any choice of variables.
    GiveUp,
    /// This variable is data.
    Data(usize),
    /// Too many places or too large steps; the worst variable is dropped.
    TooMuch,
}

struct Attempt<'a> {
    system: &'a System,
    pool: &'a mut Pool,
    reducer: &'a mut Reducer,
    control: &'a [VarId],
    steps: &'a [Vec<TermId>],
    cancellation: &'a Cancellation,
    /// By control variable: the number of times that its value was split into cases.
    guessed: Vec<usize>,
    /// By control variable: the values seen.
    values: Vec<FxHashSet<TermId>>,
    ids: FxHashMap<Place, usize>,
    places: Vec<Place>,
    queue: VecDeque<usize>,
}

/// The places of a system for the largest set of control variables that was found; `None` if there
/// are too few places.
pub(super) fn explore(
    system: &System,
    pool: &mut Pool,
    cancellation: &Cancellation,
) -> Option<Explored> {
    let mut reducer = Reducer::default();
    let steps = system
        .transition_ids()
        .map(|t| relation(system, pool, &mut reducer, t))
        .collect::<Vec<_>>();
    // Shared subterms count for each conjunct, as they do for steps between places.
    let size: usize = steps.iter().flatten().map(|&t| pool.postorder(&[t]).len()).sum();
    let mut control = candidates(system, pool, &steps);
    while !control.is_empty() {
        let nothing = vec![0; control.len()];
        let mut attempt = Attempt {
            system,
            pool,
            reducer: &mut reducer,
            control: &control,
            steps: &steps,
            cancellation,
            guessed: nothing,
            values: vec![FxHashSet::default(); control.len()],
            ids: FxHashMap::default(),
            places: Vec::new(),
            queue: VecDeque::new(),
        };
        match attempt.run(size) {
            Ok((starts, edges)) => {
                let places = std::mem::take(&mut attempt.places);
                return (places.len() >= system.nodes.len() + 3).then_some(Explored {
                    control,
                    places,
                    starts,
                    edges,
                });
            }
            Err(Failure::GiveUp) => return None,
            Err(Failure::Data(v)) => {
                control.remove(v);
            }
            Err(Failure::TooMuch) => {
                let badness = |v: &usize| {
                    (attempt.values[*v].len() > 2, attempt.guessed[*v], attempt.values[*v].len())
                };
                let worst = (0..control.len()).max_by_key(badness)?;
                control.remove(worst);
            }
        }
    }
    None
}

/// State variables whose sort has few values, and numbers that every step either keeps or sets to a
/// constant.
fn candidates(system: &System, pool: &Pool, steps: &[Vec<TermId>]) -> Vec<VarId> {
    let number = |v: VarId| matches!(system.var(v).sort, Sort::Int | Sort::Real | Sort::BitVec(_));
    let next: FxHashMap<SymbolId, VarId> =
        system.var_ids().filter(|&v| number(v)).map(|v| (system.var(v).next, v)).collect();
    let mut data: FxHashSet<VarId> = FxHashSet::default();
    for part in pool.postorder(&steps.concat()) {
        for &arg in pool.args(part) {
            let Some(&v) = pool.as_symbol(arg).and_then(|s| next.get(&s)) else { continue };
            let plain = |other: TermId| {
                other == arg
                    || pool.as_constant(other).is_some()
                    || pool.as_symbol(other) == Some(system.var(v).current)
            };
            if pool.op(part) != Op::Eq || !pool.args(part).iter().all(|&other| plain(other)) {
                data.insert(v);
            }
        }
    }
    let few = |v: VarId| matches!(system.var(v).sort, Sort::Bool | Sort::Enum(_));
    let control = |v: &VarId| {
        system.var(*v).role == Role::State && (few(*v) || number(*v) && !data.contains(v))
    };
    system.var_ids().filter(control).collect()
}

/// Guard and effect of a transition as one conjunction.
fn relation(
    system: &System,
    pool: &mut Pool,
    reducer: &mut Reducer,
    t: TransitionId,
) -> Vec<TermId> {
    let transition = system.transition(t);
    let mut terms: Vec<TermId> = transition.guard.iter().map(|e| e.term.term()).collect();
    for e in &transition.effect {
        terms.push(match *e {
            Effect::Assign { var, value, .. } => {
                let next = pool.var(system.var(var).next);
                pool.eq(next, value.term())
            }
            Effect::Keep { var, .. } => {
                let (next, now) =
                    (pool.var(system.var(var).next), pool.var(system.var(var).current));
                pool.eq(next, now)
            }
            Effect::Constrain { relation, .. } => relation.term(),
        });
    }
    reducer.conjuncts(pool, terms).unwrap_or_else(|| vec![pool.ff()])
}

impl Attempt<'_> {
    fn run(&mut self, size: usize) -> Result<(Vec<Begin>, Vec<Edge>), Failure> {
        let mut starts = Vec::new();
        for (i, start) in self.system.starts.iter().enumerate() {
            let terms: Vec<TermId> = start.constraint.iter().map(|e| e.term.term()).collect();
            let Some(terms) = self.reducer.conjuncts(self.pool, terms) else { continue };
            let symbols: Vec<SymbolId> =
                self.control.iter().map(|&v| self.system.var(v).current).collect();
            for (values, rest) in self.cases(&symbols, terms)? {
                let place = self.place(start.target, values)?;
                starts.push(Begin { of: StartId::from(i), place, conjuncts: rest });
            }
        }
        let next: Vec<SymbolId> = self.control.iter().map(|&v| self.system.var(v).next).collect();
        let mut edges: Vec<Edge> = Vec::new();
        let mut total = 0;
        while let Some(from) = self.queue.pop_front() {
            let (node, values) = self.places[from].clone();
            let here: FxHashMap<SymbolId, TermId> =
                self.control.iter().map(|&v| self.system.var(v).current).zip(values).collect();
            for &of in self.system.leaving(node) {
                if self.cancellation.is_cancelled() || self.reducer.work > MAX_WORK {
                    return Err(Failure::GiveUp);
                }
                let Some(terms) = self.reducer.with(self.pool, &self.steps[of.index()], &here)
                else {
                    continue;
                };
                let target = self.system.transition(of).target;
                for (values, conjuncts) in self.cases(&next, terms)? {
                    let to = self.place(target, values)?;
                    total += self.pool.postorder(&conjuncts).len();
                    edges.push(Edge { of, from, to, conjuncts });
                    if edges.len() > MAX_EDGES || total > GROWTH * size + 300 {
                        return Err(Failure::TooMuch);
                    }
                }
            }
        }
        Ok((starts, edges))
    }

    fn place(&mut self, node: NodeId, values: Vec<TermId>) -> Result<usize, Failure> {
        for (v, &value) in values.iter().enumerate() {
            self.values[v].insert(value);
            if self.values[v].len() > MAX_VALUES {
                return Err(Failure::Data(v));
            }
        }
        let place = (node, values);
        if let Some(&known) = self.ids.get(&place) {
            return Ok(known);
        }
        let id = self.places.len();
        if id >= MAX_PLACES {
            return Err(Failure::TooMuch);
        }
        self.ids.insert(place.clone(), id);
        self.places.push(place);
        self.queue.push_back(id);
        Ok(id)
    }

    /// The possible values of the symbols, each with the conjuncts that remain.
    fn cases(&mut self, symbols: &[SymbolId], terms: Vec<TermId>) -> Result<Vec<Case>, Failure> {
        let position: FxHashMap<SymbolId, usize> =
            symbols.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        let mut found = Vec::new();
        let mut open = vec![(vec![None; symbols.len()], terms)];
        while let Some((mut values, terms)) = open.pop() {
            if self.reducer.work > MAX_WORK || self.cancellation.is_cancelled() {
                return Err(Failure::GiveUp);
            }
            let Some(terms) = self.settle(&position, symbols, &mut values, terms) else { continue };
            let Some((unknown, mentioned)) = self.next_guess(symbols, &values, &terms) else {
                found.push((values.into_iter().flatten().collect(), terms));
                if found.len() > MAX_EDGES {
                    return Err(Failure::TooMuch);
                }
                continue;
            };
            // A variable that no conjunct mentions has an arbitrary value: it is data.
            if !mentioned {
                return Err(Failure::Data(unknown));
            }
            self.guessed[unknown] += 1;
            let sort = self.pool.symbol(symbols[unknown]).sort;
            let Some(all) = all_values(self.pool, sort) else { return Err(Failure::Data(unknown)) };
            for value in all {
                let map = FxHashMap::from_iter([(symbols[unknown], value)]);
                let Some(rest) = self.reducer.with(self.pool, &terms, &map) else { continue };
                let mut values = values.clone();
                values[unknown] = Some(value);
                open.push((values, rest));
            }
        }
        Ok(found)
    }

    /// Substitutes the values that conjuncts force, up to a fixed point; `None` if they are
    /// contradictory.
    fn settle(
        &mut self,
        position: &FxHashMap<SymbolId, usize>,
        symbols: &[SymbolId],
        values: &mut [Option<TermId>],
        mut terms: Vec<TermId>,
    ) -> Option<Vec<TermId>> {
        loop {
            terms = self.reducer.propagated(self.pool, terms)?;
            let mut map = FxHashMap::default();
            for &t in &terms {
                if let Some((s, value)) = forced(self.pool, t)
                    && let Some(&at) = position.get(&s)
                {
                    map.insert(symbols[at], value);
                    values[at] = Some(value);
                }
            }
            if map.is_empty() {
                return Some(terms);
            }
            terms = self.reducer.with(self.pool, &terms, &map)?;
        }
    }

    /// A symbol without a value, and whether the conjuncts mention it; a mentioned one is
    /// preferred.
    fn next_guess(
        &self,
        symbols: &[SymbolId],
        values: &[Option<TermId>],
        terms: &[TermId],
    ) -> Option<(usize, bool)> {
        let mentioned: FxHashSet<SymbolId> = self.pool.free_symbols(terms).into_iter().collect();
        let unknown = || (0..symbols.len()).filter(|&i| values[i].is_none());
        let found = unknown().find(|&i| mentioned.contains(&symbols[i])).map(|i| (i, true));
        found.or_else(|| unknown().next().map(|i| (i, false)))
    }
}
