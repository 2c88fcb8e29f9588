//! The parts of a composed system as keys: two parts have the same key iff they are the same up to
//! the order of conjuncts and the symbols of parameters.
//!
//! The parameters of transitions are replaced by placeholders with their names, so that equal
//! transitions have equal keys.

use gander_term::{Pool, Sort, Substitution, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::normal::Normal;
use crate::claim::{ClaimKind, FairnessId, FairnessKind, Goal};
use crate::system::{Effect, Range, Role, System, TransitionId, VarId};

/// A state variable, without its name.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct VarKey {
    sort: Sort,
    role: Role,
    range: Option<Range>,
}

/// A transition.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct TransitionKey {
    place: (u32, u32, bool),
    /// Placeholders of its parameters, sorted.
    pub(super) params: Vec<SymbolId>,
    /// The conjunction of its guard.
    pub(super) guard: TermId,
    /// Assigned variables and their values, sorted.
    pub(super) assigned: Vec<(VarId, TermId)>,
    /// The conjunction of its constraints.
    pub(super) constraint: TermId,
    /// Variables that it does not keep, sorted.
    pub(super) unkept: Vec<VarId>,
}

/// A claim or a fairness constraint: its kind, and ids of its terms, transitions and so on.
pub(super) type Key = Vec<u32>;

/// See the module's documentation.
pub(super) struct Parts<'a> {
    pub(super) system: &'a System,
    pub(super) pool: Pool,
    pub(super) normal: Normal,
    /// The assumptions, their conjunction.
    pub(super) assumptions: TermId,
    pub(super) final_condition: Option<TermId>,
    pub(super) starts: Vec<(u32, TermId)>,
    pub(super) transitions: Vec<TransitionKey>,
    /// By transition: the placeholders of its parameters, in their order.
    pub(super) params: Vec<Vec<SymbolId>>,
    /// By key: transitions, in their order.
    pub(super) by_key: FxHashMap<TransitionKey, Vec<TransitionId>>,
    /// Placeholders by name and sort.
    placeholders: FxHashMap<(String, Sort), SymbolId>,
    /// Parameters to placeholders.
    to_placeholders: Substitution,
    /// By claim: its step goals' formulas with placeholders.
    pub(super) claim_keys: FxHashMap<Key, Vec<usize>>,
    pub(super) fairness_keys: FxHashMap<Key, Vec<usize>>,
}

/// How symbols, transitions and fairness constraints are renamed; the identity if empty.
#[derive(Default)]
pub(super) struct Renamed<'r> {
    pub(super) terms: Option<&'r mut Substitution>,
    pub(super) transitions: Option<&'r [TransitionId]>,
    pub(super) fairness: Option<&'r [Option<FairnessId>]>,
}

impl Renamed<'_> {
    fn transition(&self, t: TransitionId) -> TransitionId {
        self.transitions.map_or(t, |list| list[t.index()])
    }

    fn fairness(&self, f: FairnessId) -> Option<FairnessId> {
        self.fairness.map_or(Some(f), |list| list[f.index()])
    }
}

impl<'a> Parts<'a> {
    pub(super) fn of(system: &'a System) -> Parts<'a> {
        let mut pool = Pool::fork(&system.pool);
        let truth = pool.tt();
        let to_placeholders = Substitution::new(&mut pool, &FxHashMap::default());
        let mut parts = Parts {
            system,
            pool,
            normal: Normal::default(),
            assumptions: truth,
            final_condition: None,
            starts: Vec::new(),
            transitions: Vec::new(),
            params: Vec::new(),
            by_key: FxHashMap::default(),
            placeholders: FxHashMap::default(),
            to_placeholders,
            claim_keys: FxHashMap::default(),
            fairness_keys: FxHashMap::default(),
        };
        parts.assumptions = parts.junction(system.assumptions.iter().map(|a| a.term.term()));
        parts.final_condition =
            system.final_condition.map(|f| parts.normal.of(&mut parts.pool, f.term()));
        for start in &system.starts {
            let term = parts.junction(start.constraint.iter().map(|e| e.term.term()));
            parts.starts.push((start.target.0, term));
        }
        for t in system.transition_ids() {
            let key = parts.transition(t);
            parts.by_key.entry(key.clone()).or_default().push(t);
            parts.transitions.push(key);
        }
        for f in 0..system.fairness.len() {
            if let Some(key) = parts.fairness_key(&system.fairness[f].kind, &mut Renamed::default())
            {
                parts.fairness_keys.entry(key).or_default().push(f);
            }
        }
        for c in 0..system.claims.len() {
            if let Some(key) = parts.claim_key(&system.claims[c].kind, &mut Renamed::default()) {
                parts.claim_keys.entry(key).or_default().push(c);
            }
        }
        parts
    }

    pub(super) fn var_key(&self, v: VarId) -> VarKey {
        let var = self.system.var(v);
        VarKey { sort: var.sort, role: var.role, range: var.range.clone() }
    }

    /// The normal form of the conjunction of terms, with placeholders for parameters.
    fn junction(&mut self, terms: impl Iterator<Item = TermId>) -> TermId {
        let terms: Vec<TermId> =
            terms.map(|t| self.to_placeholders.apply(&mut self.pool, t)).collect();
        let all = self.pool.and(terms);
        self.normal.of(&mut self.pool, all)
    }

    /// The placeholder of a parameter with this name and sort.
    pub(super) fn placeholder(&mut self, name: &str, sort: Sort) -> SymbolId {
        let pool = &mut self.pool;
        *self
            .placeholders
            .entry((name.to_string(), sort))
            .or_insert_with(|| pool.declare_fresh(&format!("?{name}"), sort))
    }

    /// All placeholders so far, with their names and sorts.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = (&str, Sort, SymbolId)> {
        self.placeholders.iter().map(|((name, sort), symbol)| (name.as_str(), *sort, *symbol))
    }

    fn transition(&mut self, t: TransitionId) -> TransitionKey {
        let system = self.system;
        let transition = system.transition(t);
        let mut params = Vec::with_capacity(transition.params.len());
        for p in &transition.params {
            let placeholder = self.placeholder(&p.name, p.sort);
            let term = self.pool.var(placeholder);
            self.to_placeholders.also(&mut self.pool, p.symbol, term);
            params.push(placeholder);
        }
        let guard = self.junction(transition.guard.iter().map(|g| g.term.term()));
        let constraint = self.junction(transition.effect.iter().filter_map(|e| match e {
            Effect::Constrain { relation, .. } => Some(relation.term()),
            _ => None,
        }));
        let mut kept = vec![false; system.vars.len()];
        let mut assigned = Vec::new();
        for e in &transition.effect {
            match *e {
                Effect::Assign { var, value, .. } => {
                    assigned.push((var, self.junction_of_value(value.term())));
                }
                Effect::Keep { var, .. } => kept[var.index()] = true,
                Effect::Constrain { .. } => {}
            }
        }
        assigned.sort_unstable();
        let unkept = system.var_ids().filter(|v| !kept[v.index()]).collect();
        let mut sorted = params.clone();
        sorted.sort_unstable();
        self.params.push(params);
        let place = (transition.source.0, transition.target.0, transition.causal);
        TransitionKey { place, params: sorted, guard, assigned, constraint, unkept }
    }

    fn junction_of_value(&mut self, value: TermId) -> TermId {
        let value = self.to_placeholders.apply(&mut self.pool, value);
        self.normal.of(&mut self.pool, value)
    }

    /// The normal form of a renamed term that may have parameters.
    fn term(&mut self, t: TermId, renamed: &mut Renamed<'_>) -> TermId {
        let t = self.junction_of_value(t);
        match &mut renamed.terms {
            Some(terms) => {
                let t = terms.apply(&mut self.pool, t);
                self.normal.of(&mut self.pool, t)
            }
            None => t,
        }
    }

    pub(super) fn fairness_key(
        &mut self,
        kind: &FairnessKind,
        renamed: &mut Renamed<'_>,
    ) -> Option<Key> {
        let list = |list: &[TransitionId], renamed: &Renamed<'_>| {
            let mut ids: Vec<u32> = list.iter().map(|t| renamed.transition(*t).0).collect();
            ids.sort_unstable();
            ids
        };
        let mut key = vec![match kind {
            FairnessKind::Justice(_) => 0,
            FairnessKind::Weak(_) => 1,
            FairnessKind::Strong(_) => 2,
        }];
        match kind {
            FairnessKind::Justice(p) => key.push(number(self.term(p.term(), renamed))),
            FairnessKind::Weak(t) | FairnessKind::Strong(t) => key.extend(list(t, renamed)),
        }
        Some(key)
    }

    /// The key of a renamed claim; `None` if it refers to something that is not renamed.
    pub(super) fn claim_key(&mut self, kind: &ClaimKind, renamed: &mut Renamed<'_>) -> Option<Key> {
        let under = |list: &[FairnessId], renamed: &Renamed<'_>| {
            let ids: Option<Vec<u32>> =
                list.iter().map(|f| renamed.fairness(*f).map(|f| f.0)).collect();
            ids.map(|mut ids| {
                ids.sort_unstable();
                ids
            })
        };
        let mut key = Vec::new();
        match kind {
            ClaimKind::Always(p) => key.extend([0, number(self.term(p.term(), renamed))]),
            ClaimKind::Reachable(goals) => {
                key.push(1);
                for goal in goals {
                    self.goal_key(goal, renamed, &mut key);
                }
            }
            ClaimKind::CanEnable(t) => key.extend([2, renamed.transition(*t).0]),
            ClaimKind::NoSinkhole(n) => key.extend([3, n.0]),
            // Starts are found by their terms, which are all different.
            ClaimKind::StartSatisfiable(s) => {
                let term = self.starts[s.index()].1;
                let term = self.term(term, renamed);
                key.extend([4, self.starts[s.index()].0, number(term)]);
            }
            ClaimKind::Completable(t) => key.extend([5, renamed.transition(*t).0]),
            ClaimKind::NoDeadlock => key.push(6),
            ClaimKind::InfiniteRun => key.push(7),
            ClaimKind::Eventually { goal, under: fair } => {
                key.extend([8, number(self.term(goal.term(), renamed))]);
                key.extend(under(fair, renamed)?);
            }
            ClaimKind::AlwaysEventually { goal, under: fair } => {
                key.extend([9, number(self.term(goal.term(), renamed))]);
                key.extend(under(fair, renamed)?);
            }
            ClaimKind::LeadsTo { from, to, under: fair } => {
                let (from, to) = (self.term(from.term(), renamed), self.term(to.term(), renamed));
                key.extend([10, number(from), number(to)]);
                key.extend(under(fair, renamed)?);
            }
            ClaimKind::AlwaysPossible(p) => key.extend([11, number(self.term(p.term(), renamed))]),
            ClaimKind::ExistsAlways(p) => key.extend([12, number(self.term(p.term(), renamed))]),
        }
        Some(key)
    }

    fn goal_key(&mut self, goal: &Goal, renamed: &mut Renamed<'_>, key: &mut Key) {
        match goal {
            Goal::State(p) => key.extend([0, number(self.term(p.term(), renamed))]),
            Goal::Step { choices, .. } => {
                let mut all = Vec::with_capacity(choices.len());
                for (t, formula) in choices {
                    let formula = self.term(formula.term(), renamed);
                    all.push((renamed.transition(*t).0, number(formula)));
                }
                all.sort_unstable();
                key.extend([1, all.len() as u32]);
                key.extend(all.into_iter().flat_map(|(t, f)| [t, f]));
            }
        }
    }

    /// By transition: the symbols that its key mentions.
    pub(super) fn symbols_of(&self, t: TransitionId) -> FxHashSet<SymbolId> {
        let key = &self.transitions[t.index()];
        let mut terms = vec![key.guard, key.constraint];
        terms.extend(key.assigned.iter().map(|a| a.1));
        let mut symbols: FxHashSet<SymbolId> = self.pool.free_symbols(&terms).into_iter().collect();
        symbols.extend(&key.params);
        symbols.extend(key.unkept.iter().map(|v| self.system.var(*v).current));
        symbols
    }
}

fn number(t: TermId) -> u32 {
    t.index() as u32
}
