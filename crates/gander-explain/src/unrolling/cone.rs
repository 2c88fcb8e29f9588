//! The cone of influence of formulas: the constraints that they depend on.
//!
//! The *cone* of a set of formulas contains the constraints that define their variables, those that
//! define the variables of these constraints, and so on. Rings surround it: the first ring contains
//! the restrictions (constraints that define nothing, such as assertions) on variables of the cone,
//! each with its own cone; the next ring those on the variables added by the first, and so on. A
//! variable on which most restrictions depend adds none.
//!
//! This is a heuristic for what a proof needs. A refutation from these constraints is valid for the
//! whole system, but a path that satisfies them may not be a path of the system.

use gander_system::VarId;
use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::unrolling::constraints::{Constraints, When, defined_symbol};

/// A restriction on states that one or more constraints imply together: `assert a`, or, with the
/// definition `a == (b and c)`, the restriction to `b`.
pub(crate) struct Restriction {
    /// True if it restricts the first state of a run, false if it restricts the state after a step.
    first: bool,
    /// The constraints that imply it.
    by: Vec<u32>,
    /// The variables it depends on, without those that most restrictions depend on.
    on: Vec<VarId>,
}

/// A variable is ignored by restrictions if more than this number of them depend on it, and more
/// than one in [`POPULAR_DIVISOR`].
const MIN_POPULAR: usize = 8;
const POPULAR_DIVISOR: usize = 5;

/// Limits the variables visited to compute what restrictions depend on. After it, restrictions
/// depend on nothing.
const MAX_VISITS: usize = 4_000_000;

/// Limits the rings around a cone. After it, all constraints are used.
pub(crate) const MAX_RINGS: u32 = 3;

/// The restrictions on states.
pub(crate) fn restrictions(constraints: &Constraints, pool: &Pool) -> Vec<Restriction> {
    let mut found = Vec::new();
    for (when, first) in [(When::First, true), (When::Step, false)] {
        let (definition, mut restrictions) = (definitions(constraints, when), Vec::new());
        let symbols = if first { &constraints.current } else { &constraints.next };
        for (i, constraint) in constraints.list.iter().enumerate() {
            let here = constraint.when == When::State
                || (constraint.when == when && constraint.defines.is_none());
            if here && constraint.element.is_some() {
                divide(
                    constraints,
                    pool,
                    &definition,
                    symbols,
                    (i as u32, constraint.said),
                    &mut restrictions,
                );
            }
        }
        let mut supports = Supports {
            constraints,
            definition: &definition,
            visited: vec![0; constraints.about.len()],
            query: 0,
            visits: 0,
        };
        let supports: Vec<Vec<VarId>> =
            restrictions.iter().map(|(_, vars)| supports.of(vars)).collect();
        let mut dependent = vec![0usize; constraints.about.len()];
        supports.iter().flatten().for_each(|v| dependent[v.index()] += 1);
        let most = MIN_POPULAR.max(restrictions.len() / POPULAR_DIVISOR);
        for ((by, _), mut on) in restrictions.into_iter().zip(supports) {
            on.retain(|v| dependent[v.index()] <= most);
            found.push(Restriction { first, by, on });
        }
    }
    found
}

/// By variable: the constraint that defines it, if there is exactly one.
fn definitions(constraints: &Constraints, when: When) -> Vec<Option<u32>> {
    let mut definition = vec![None; constraints.about.len()];
    let mut several = vec![false; constraints.about.len()];
    for (i, constraint) in
        constraints.list.iter().enumerate().filter(|(_, constraint)| constraint.when == when)
    {
        if let Some(v) = constraint.defines {
            several[v.index()] |= definition[v.index()].replace(i as u32).is_some();
        }
    }
    definition.iter_mut().zip(several).filter(|(_, several)| *several).for_each(|(d, _)| *d = None);
    definition
}

/// Splits a constraint into conjuncts. A Boolean variable that must be true is replaced by its
/// definition, if that is a conjunction or a variable of the same state.
fn divide(
    constraints: &Constraints,
    pool: &Pool,
    definition: &[Option<u32>],
    here: &FxHashMap<SymbolId, VarId>,
    (constraint, said): (u32, TermId),
    found: &mut Vec<(Vec<u32>, Vec<VarId>)>,
) {
    let var = |t: TermId| {
        pool.as_symbol(t)
            .and_then(|s| constraints.current.get(&s).or_else(|| constraints.next.get(&s)).copied())
    };
    let mut visited: FxHashSet<VarId> = FxHashSet::default();
    let mut stack = vec![(said, vec![constraint])];
    while let Some((t, by)) = stack.pop() {
        if pool.op(t) == Op::And {
            stack.extend(pool.args(t).iter().map(|&a| (a, by.clone())));
            continue;
        }
        let defining = var(t).and_then(|v| definition[v.index()].map(|d| (v, d)));
        if let Some((v, d)) = defining {
            let said = constraints.list[d as usize].said;
            let value = match (pool.op(said), pool.args(said)) {
                (Op::Eq, &[a, b]) if var(a) == Some(v) => Some(b),
                (Op::Eq, &[a, b]) if var(b) == Some(v) => Some(a),
                _ => None,
            };
            // A value of the previous state is not restricted by the current one.
            let is_here = |e: TermId| pool.as_symbol(e).is_some_and(|s| here.contains_key(&s));
            if let Some(value) = value.filter(|&e| pool.op(e) == Op::And || is_here(e)) {
                if visited.insert(v) {
                    let mut by = by;
                    by.push(d);
                    stack.push((value, by));
                }
                continue;
            }
        }
        let symbols = pool.free_symbols(&[t]);
        let known = |s| constraints.current.get(s).or_else(|| constraints.next.get(s)).copied();
        found.push((by, symbols.iter().filter_map(known).collect()));
    }
}

/// Computes the variables that others depend on within one state.
struct Supports<'l> {
    constraints: &'l Constraints,
    definition: &'l [Option<u32>],
    /// By variable: the last query in which it was visited.
    visited: Vec<u32>,
    query: u32,
    visits: usize,
}

impl Supports<'_> {
    /// The given variables and those they depend on; empty after [`MAX_VISITS`].
    fn of(&mut self, vars: &[VarId]) -> Vec<VarId> {
        if self.visits > MAX_VISITS {
            return Vec::new();
        }
        self.query += 1;
        let query = self.query;
        let mut all: Vec<VarId> = Vec::new();
        let mut at = 0;
        let mut add = |v: VarId, all: &mut Vec<VarId>| {
            if std::mem::replace(&mut self.visited[v.index()], query) != query {
                all.push(v);
            }
        };
        vars.iter().for_each(|&v| add(v, &mut all));
        while let Some(&v) = all.get(at) {
            at += 1;
            if let Some(d) = self.definition[v.index()] {
                self.constraints.list[d as usize].here.iter().for_each(|&w| add(w, &mut all));
            }
        }
        self.visits += all.len();
        all
    }
}

/// The formulas whose cone is computed.
pub(crate) struct Centre<'c> {
    /// Formulas over one state.
    pub goal: &'c [TermId],
    /// The length of the paths that may violate them.
    pub steps: u32,
    /// Formulas that may be assumed of earlier states.
    pub lemmas: &'c [TermId],
    /// The number of rings.
    pub rings: u32,
}

/// The cone of formulas with its rings; see the module documentation.
pub(crate) struct Cone {
    /// Positions of constraints, ascending.
    pub constraints: Vec<u32>,
    /// Positions of the lemmas that belong to the cone, ascending.
    pub lemmas: Vec<usize>,
}

impl Cone {
    /// Computes the cone of the formulas and the rings around it.
    pub(crate) fn around(constraints: &Constraints, pool: &Pool, centre: &Centre<'_>) -> Cone {
        let vars = |t: TermId| -> Vec<VarId> {
            pool.free_symbols(&[t])
                .iter()
                .filter_map(|s| constraints.current.get(s).copied())
                .collect()
        };
        let n = constraints.about.len();
        let mut search = Search {
            constraints,
            reached: FxHashSet::default(),
            after: Worklist::new(n),
            before: Worklist::new(n),
            first: Worklist::new(n),
            // Intermediate states are both after a step and before one.
            long: centre.steps > 1,
        };
        for &t in centre.goal {
            vars(t).into_iter().for_each(|v| {
                search.after.add(v);
                search.before.add(v);
                search.first.add(v);
            });
        }
        let is_var = |s| constraints.current.contains_key(&s);
        let candidates: Vec<(Option<VarId>, Vec<VarId>)> = centre
            .lemmas
            .iter()
            .map(|&t| {
                (
                    defined_symbol(pool, t, is_var)
                        .and_then(|s| constraints.current.get(&s).copied()),
                    vars(t),
                )
            })
            .collect();
        let mut defining: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
        for (i, (v, _)) in candidates.iter().enumerate() {
            if let Some(v) = v {
                defining.entry(*v).or_default().push(i);
            }
        }
        let mut chosen = vec![false; candidates.len()];
        for ring in 0..=centre.rings.min(MAX_RINGS) {
            if ring > 0 {
                // Lemmas may give the earlier value of a variable that a step defines.
                for v in search.add_ring() {
                    defining.get(&v).into_iter().flatten().for_each(|&i| chosen[i] = true);
                }
            }
            loop {
                search.process_after();
                let Some(v) = search.before.pop() else { break };
                // A lemma that defines a variable makes it known from the variables that the lemma
                // mentions.
                for &i in defining.get(&v).into_iter().flatten() {
                    chosen[i] = true;
                    candidates[i].1.iter().for_each(|&w| search.before.add(w));
                }
                search.restrict(v);
            }
            search.process_start();
        }
        for (i, (_, mentioned)) in candidates.iter().enumerate() {
            chosen[i] |= mentioned.iter().all(|v| search.before.seen[v.index()]);
        }
        let lemmas = (0..candidates.len()).filter(|&i| chosen[i]).collect();
        let mut constraints: Vec<u32> = search.reached.into_iter().collect();
        constraints.sort_unstable();
        Cone { constraints, lemmas }
    }
}

/// A worklist of variables: those reached, and those not yet processed.
struct Worklist {
    seen: Vec<bool>,
    open: Vec<VarId>,
}

impl Worklist {
    fn new(n: usize) -> Worklist {
        Worklist { seen: vec![false; n], open: Vec::new() }
    }

    fn add(&mut self, v: VarId) {
        if !std::mem::replace(&mut self.seen[v.index()], true) {
            self.open.push(v);
        }
    }

    fn pop(&mut self) -> Option<VarId> {
        self.open.pop()
    }
}

struct Search<'l> {
    constraints: &'l Constraints,
    reached: FxHashSet<u32>,
    /// Variables of states after a step.
    after: Worklist,
    /// Variables of the state before the steps.
    before: Worklist,
    /// Variables of a start state.
    first: Worklist,
    long: bool,
}

impl Search<'_> {
    /// Adds the restrictions on variables reached so far. Returns the variables whose definitions
    /// restrict the state before the steps.
    fn add_ring(&mut self) -> Vec<VarId> {
        let constraints = self.constraints;
        let (after, before, first) =
            (self.after.seen.clone(), self.before.seen.clone(), self.first.seen.clone());
        let mut defined = Vec::new();
        for restriction in &constraints.restrictions {
            let about = |seen: &[bool]| restriction.on.iter().any(|v| seen[v.index()]);
            if about(if restriction.first { &first } else { &after }) {
                self.reached.extend(&restriction.by);
                let list = if restriction.first { &mut self.first } else { &mut self.after };
                restriction.on.iter().for_each(|&v| list.add(v));
            }
            if !restriction.first && about(&before) {
                defined.extend(
                    restriction.by.iter().filter_map(|&i| constraints.list[i as usize].defines),
                );
                restriction.on.iter().for_each(|&v| self.before.add(v));
            }
        }
        defined
    }

    /// Processes the variables of states after a step.
    fn process_after(&mut self) {
        while let Some(v) = self.after.pop() {
            for &i in &self.constraints.about[v.index()] {
                let constraint = &self.constraints.list[i as usize];
                let applies = constraint.when != When::First
                    && (constraint.defines.is_some() || constraint.here.contains(&v));
                if applies {
                    self.reach(i);
                }
            }
        }
    }

    fn reach(&mut self, i: u32) {
        let constraint = &self.constraints.list[i as usize];
        self.reached.insert(i);
        constraint.here.iter().for_each(|&w| self.after.add(w));
        for &w in &constraint.before {
            self.before.add(w);
            if self.long {
                self.after.add(w);
            }
        }
    }

    /// Adds the constraints that restrict the state before the steps, or the steps from it, through
    /// one variable of that state.
    fn restrict(&mut self, v: VarId) {
        if self.long {
            self.first.add(v);
        }
        for &i in &self.constraints.about[v.index()] {
            let constraint = &self.constraints.list[i as usize];
            match constraint.when {
                When::First => {}
                When::State => {
                    self.reached.insert(i);
                    constraint.here.iter().for_each(|&w| self.before.add(w));
                }
                When::Step if constraint.defines.is_none() => self.reach(i),
                When::Step => {}
            }
        }
    }

    /// Processes the variables of a start state.
    fn process_start(&mut self) {
        while let Some(v) = self.first.pop() {
            for &i in &self.constraints.about[v.index()] {
                let constraint = &self.constraints.list[i as usize];
                if constraint.when != When::Step {
                    self.reached.insert(i);
                    constraint.here.iter().for_each(|&w| self.first.add(w));
                }
            }
        }
    }
}
