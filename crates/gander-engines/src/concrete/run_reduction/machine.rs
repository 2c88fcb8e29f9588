//! Starts and transitions compiled for run_reduction.

use std::sync::Arc;

use gander_system::{Effect, StartId, State, System, TransitionId};
use gander_term::{Op, Pool, SymbolId, TermId, Value};
use rustc_hash::FxHashSet;

use super::super::stepping::formula::{Formula, Moment, Scope, Workspace};
use super::super::stepping::order::order;

/// Where the value of a variable after a start or step comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    Kept,
    Chosen,
    Computed,
}

/// A compiled start or transition.
struct Entry {
    origins: Vec<Origin>,
    /// Variables that are computed, each after those that it uses.
    computed: Vec<(usize, Formula)>,
    /// Conditions before the values are computed, and after that.
    guard: Option<Formula>,
    relation: Option<Formula>,
}

/// A system compiled as far as runs need it.
pub(super) struct Machine {
    pub system: Arc<System>,
    /// Values computed so far.
    pub work_done: u64,
    pool: Pool,
    scope: Scope,
    work: Workspace,
    /// `None`: not compiled yet; `Some(None)`: cannot be compiled.
    transitions: Vec<Option<Option<Entry>>>,
    starts: Vec<Option<Option<Entry>>>,
    /// By node: the assumptions; `Some(None)` if there are none.
    assumptions: Vec<Option<Option<Formula>>>,
    read: Option<Vec<bool>>,
}

impl Machine {
    pub(super) fn new(system: &Arc<System>) -> Machine {
        Machine {
            system: Arc::clone(system),
            work_done: 0,
            pool: Pool::fork(system.pool()),
            scope: Scope::new(system),
            work: Workspace::default(),
            transitions: system.transitions().iter().map(|_| None).collect(),
            starts: system.starts().iter().map(|_| None).collect(),
            assumptions: system.nodes().iter().map(|_| None).collect(),
            read: None,
        }
    }

    /// A formula of the system over one state and parameters.
    pub(super) fn compile(&self, term: TermId) -> Option<Formula> {
        Formula::new(&self.scope, self.system.pool(), &[term])
    }

    /// The truth of a formula in a state, with parameters.
    pub(super) fn truth(&mut self, f: &Formula, state: &State, params: &[Value]) -> Option<bool> {
        self.work_done += 1;
        let at = Moment { node: state.node, current: &state.values, params, next: &[] };
        f.truth(at, &mut self.work)
    }

    /// By variable: some step reads its value before the step.
    pub(super) fn read(&mut self) -> &[bool] {
        let system = Arc::clone(&self.system);
        let pool = &mut self.pool;
        self.read.get_or_insert_with(|| {
            let mut roots = Vec::new();
            for t in system.transition_ids() {
                roots.extend([system.guard_term(pool, t), system.effect_term(pool, t)]);
            }
            let used: FxHashSet<SymbolId> = pool.free_symbols(&roots).into_iter().collect();
            system.vars().iter().map(|v| used.contains(&v.current)).collect()
        })
    }

    /// True if the variable is chosen by the start or the transition that enters the state.
    pub(super) fn chooses(&mut self, by: Entering, var: usize) -> bool {
        self.prepare(by);
        let entry = match by {
            Entering::Start(s) => &self.starts[s.index()],
            Entering::Step(t) => &self.transitions[t.index()],
        };
        matches!(entry, Some(Some(e)) if e.origins[var] == Origin::Chosen)
    }

    /// The state that a start enters with these chosen values.
    pub(super) fn start(&mut self, s: StartId, chosen: &[Value]) -> Option<State> {
        self.prepare(Entering::Start(s));
        let node = self.system.starts()[s.index()].target;
        let entry = self.starts[s.index()].as_ref()?.as_ref()?;
        let mut values = chosen.to_vec();
        for (var, formula) in &entry.computed {
            let at = Moment { node, current: &values, params: &[], next: &[] };
            values[*var] = formula.values(at, &mut self.work)?.first()?.clone();
        }
        let at = Moment { node, current: &values, params: &[], next: &[] };
        let fits = match &entry.relation {
            Some(relation) => relation.truth(at, &mut self.work)?,
            None => true,
        };
        self.work_done += values.len() as u64;
        let state = State { node, values };
        (fits && self.admissible(&state)?).then_some(state)
    }

    /// The state after a step with these chosen values; `None` if that is no step.
    pub(super) fn step(
        &mut self,
        from: &State,
        t: TransitionId,
        params: &[Value],
        chosen: &[Value],
    ) -> Option<State> {
        if self.system.transition(t).source != from.node {
            return None;
        }
        self.prepare(Entering::Step(t));
        self.work_done += 1;
        let target = self.system.transition(t).target;
        let entry = self.transitions[t.index()].as_ref()?.as_ref()?;
        let at = Moment { node: from.node, current: &from.values, params, next: &[] };
        if let Some(guard) = &entry.guard
            && !guard.truth(at, &mut self.work)?
        {
            return None;
        }
        let mut next: Vec<Value> = entry
            .origins
            .iter()
            .enumerate()
            .map(|(i, o)| if *o == Origin::Chosen { &chosen[i] } else { &from.values[i] }.clone())
            .collect();
        for (var, formula) in &entry.computed {
            let at = Moment { node: from.node, current: &from.values, params, next: &next };
            next[*var] = formula.values(at, &mut self.work)?.first()?.clone();
        }
        let at = Moment { node: from.node, current: &from.values, params, next: &next };
        if let Some(relation) = &entry.relation
            && !relation.truth(at, &mut self.work)?
        {
            return None;
        }
        self.work_done += next.len() as u64;
        let state = State { node: target, values: next };
        self.admissible(&state)?.then_some(state)
    }

    /// True if a transition certainly cannot be taken in a state: it is of another node, or it has
    /// no parameters and its guard is false.
    pub(super) fn is_disabled(&mut self, state: &State, t: TransitionId) -> bool {
        let transition = self.system.transition(t);
        if transition.source != state.node {
            return true;
        }
        if !transition.params.is_empty() {
            return false;
        }
        self.prepare(Entering::Step(t));
        self.work_done += 1;
        let Some(Some(entry)) = &self.transitions[t.index()] else { return false };
        let Some(guard) = &entry.guard else { return false };
        let at = Moment { node: state.node, current: &state.values, params: &[], next: &[] };
        guard.truth(at, &mut self.work) == Some(false)
    }

    fn admissible(&mut self, state: &State) -> Option<bool> {
        if self.system.assumptions().is_empty() {
            return Some(true);
        }
        let slot = &mut self.assumptions[state.node.index()];
        if slot.is_none() {
            let term = self.system.assumption_term(&mut self.pool, state.node);
            let none = self.pool.as_bool(term) == Some(true);
            *slot = Some(match none {
                true => None,
                false => Some(Formula::new(&self.scope, &self.pool, &[term])?),
            });
        }
        let at = Moment { node: state.node, current: &state.values, params: &[], next: &[] };
        match slot.as_ref()? {
            Some(formula) => formula.truth(at, &mut self.work),
            None => Some(true),
        }
    }

    fn prepare(&mut self, by: Entering) {
        match by {
            Entering::Step(t) if self.transitions[t.index()].is_none() => {
                let entry = self.compile_transition(t);
                self.transitions[t.index()] = Some(entry);
            }
            Entering::Start(s) if self.starts[s.index()].is_none() => {
                let entry = self.compile_start(s);
                self.starts[s.index()] = Some(entry);
            }
            _ => {}
        }
    }

    fn compile_transition(&mut self, t: TransitionId) -> Option<Entry> {
        let system = Arc::clone(&self.system);
        let mut origins = vec![Origin::Chosen; system.vars().len()];
        let (mut computed, mut relations) = (Vec::new(), Vec::new());
        for part in &system.transition(t).effect {
            match *part {
                Effect::Assign { var, value, .. } => {
                    origins[var.index()] = Origin::Computed;
                    let formula = Formula::new(&self.scope, &self.pool, &[value.term()])?;
                    computed.push((var.index(), formula));
                }
                Effect::Keep { var, .. } => origins[var.index()] = Origin::Kept,
                Effect::Constrain { relation, .. } => relations.push(relation.term()),
            }
        }
        let next = |i: usize| system.vars()[i].next;
        self.solve(&relations, &next, &mut origins, &mut computed)?;
        let guard = system.guard_term(&mut self.pool, t);
        let relation = self.pool.and(relations);
        Some(Entry {
            origins,
            computed,
            guard: self.condition(guard)?,
            relation: self.condition(relation)?,
        })
    }

    fn compile_start(&mut self, s: StartId) -> Option<Entry> {
        let system = Arc::clone(&self.system);
        let mut origins = vec![Origin::Chosen; system.vars().len()];
        let mut computed = Vec::new();
        let terms: Vec<TermId> =
            system.starts()[s.index()].constraint.iter().map(|c| c.term.term()).collect();
        let current = |i: usize| system.vars()[i].current;
        self.solve(&terms, &current, &mut origins, &mut computed)?;
        let whole = self.pool.and(terms);
        Some(Entry { origins, computed, guard: None, relation: self.condition(whole)? })
    }

    /// Compiles a condition; the inner `None` means that it is always true.
    #[allow(clippy::option_option)]
    fn condition(&self, term: TermId) -> Option<Option<Formula>> {
        if self.pool.as_bool(term) == Some(true) {
            return Some(None);
        }
        Formula::new(&self.scope, &self.pool, &[term]).map(Some)
    }

    /// Finds equations that compute variables that are open so far.
    fn solve(
        &mut self,
        constraints: &[TermId],
        symbol: &dyn Fn(usize) -> SymbolId,
        origins: &mut [Origin],
        computed: &mut Vec<(usize, Formula)>,
    ) -> Option<()> {
        let open: Vec<usize> =
            (0..origins.len()).filter(|&i| origins[i] == Origin::Chosen).collect();
        let symbols: Vec<SymbolId> = open.iter().map(|&i| symbol(i)).collect();
        let mut conjuncts = Vec::new();
        let mut stack: Vec<TermId> = constraints.iter().rev().copied().collect();
        while let Some(t) = stack.pop() {
            match self.pool.op(t) {
                Op::And => stack.extend(self.pool.args(t).iter().rev()),
                _ => conjuncts.push(t),
            }
        }
        let mut later: FxHashSet<SymbolId> = symbols.iter().copied().collect();
        for placed in order(&self.pool, &symbols, &conjuncts) {
            let s = symbols[placed.at];
            if let [conjunct] = placed.conjuncts[..]
                && let Some(value) = definition(&self.pool, conjunct, s, &later)
            {
                let value = match value {
                    Solution::Term(t) => t,
                    Solution::Truth(b) => self.pool.constant(Value::Bool(b)),
                };
                let formula = Formula::new(&self.scope, &self.pool, &[value])?;
                origins[open[placed.at]] = Origin::Computed;
                computed.push((open[placed.at], formula));
            }
            later.remove(&s);
        }
        Some(())
    }
}

/// What enters a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entering {
    Start(StartId),
    Step(TransitionId),
}

enum Solution {
    Term(TermId),
    Truth(bool),
}

/// The value that a conjunct gives to a symbol, over symbols that are not `later`.
fn definition(
    pool: &Pool,
    conjunct: TermId,
    symbol: SymbolId,
    later: &FxHashSet<SymbolId>,
) -> Option<Solution> {
    let is = |t: TermId| pool.as_symbol(t) == Some(symbol);
    let known = |t: TermId| pool.free_symbols(&[t]).iter().all(|s| !later.contains(s));
    match (pool.op(conjunct), pool.args(conjunct)) {
        (Op::Symbol(s), _) if s == symbol => Some(Solution::Truth(true)),
        (Op::Not, &[a]) if is(a) => Some(Solution::Truth(false)),
        (Op::Eq, &[a, b]) if is(a) && known(b) => Some(Solution::Term(b)),
        (Op::Eq, &[a, b]) if is(b) && known(a) => Some(Solution::Term(a)),
        _ => None,
    }
}
