//! The encoding of a system as formulas over one and two states, with Boolean variables for nodes,
//! starts and transitions.
//!
//! Besides the state variables, state `i` of an unrolling has a variable `at n` for each node, and
//! step `i` has a variable `take t` for each transition; state 0 has `begin s` for each start. All
//! formulas are implications from left to right:
//!
//! - `take t -> at source and at' target and guard and effect`
//! - `at' n -> take t1 or ... or take tm` for the transitions `ti` that enter `n`
//! - `begin s -> constraint`, `at n -> begin s1 or ...` for the starts that enter `n` (in state 0)
//! - `at n -> assumptions at n`
//!
//! No formula says that only one `at n` holds, and none is needed: if `at n` holds, the second and
//! third kind give a transition or start that leads there, and so on back to the beginning. So a
//! model contains a run to each node whose `at n` is true, and every run is a model. Queries ask
//! for one `at n`, and the run is read backwards. Transitions share parameter variables of equal
//! sort, because a run takes only one transition per step.

use std::sync::Arc;

use gander_smt::Placement;
use gander_system::{NodeId, StartId, System, TransitionId};
use gander_term::{Pool, Sort, Substitution, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;

/// The formulas of a system, in a separate pool; see the module's documentation.
#[derive(Debug)]
pub(crate) struct Encoding {
    pub system: Arc<System>,
    pub pool: Pool,
    at: Vec<SymbolId>,
    at_next: Vec<SymbolId>,
    take: Vec<SymbolId>,
    begin: Vec<SymbolId>,
    /// Shared parameter variables, by sort and position.
    shared: FxHashMap<(Sort, usize), SymbolId>,
    params: Vec<Option<Vec<SymbolId>>>,
    placement: FxHashMap<SymbolId, Placement>,
    relations: Vec<Option<TermId>>,
    /// Symbols for the values of variables a number of steps later.
    later: FxHashMap<(SymbolId, u32), SymbolId>,
    /// See [`Encoding::memory`].
    memory: Option<Arc<[bool]>>,
    assumptions: Vec<Option<TermId>>,
    /// Values of constants: the formulas describe only runs with these.
    pub narrowing: Option<crate::encode::narrowing::Narrowing>,
}

impl Encoding {
    pub(crate) fn new(system: &Arc<System>) -> Encoding {
        let mut pool = Pool::fork(system.pool());
        let mut placement = FxHashMap::default();
        for v in system.vars() {
            placement.insert(v.current, Placement::At { symbol: v.current, offset: 0 });
            placement.insert(v.next, Placement::At { symbol: v.current, offset: 1 });
        }
        let (mut at, mut at_next) = (Vec::new(), Vec::new());
        for n in 0..system.nodes().len() {
            let here = pool.declare_fresh(&format!("at.{n}"), Sort::Bool);
            let next = pool.declare_fresh(&format!("at.{n}'"), Sort::Bool);
            placement.insert(here, Placement::At { symbol: here, offset: 0 });
            placement.insert(next, Placement::At { symbol: here, offset: 1 });
            at.push(here);
            at_next.push(next);
        }
        let mut stepwise = |pool: &mut Pool, name: String| {
            let s = pool.declare_fresh(&name, Sort::Bool);
            placement.insert(s, Placement::At { symbol: s, offset: 0 });
            s
        };
        let take = (0..system.transitions().len())
            .map(|t| stepwise(&mut pool, format!("take.{t}")))
            .collect();
        let begin =
            (0..system.starts().len()).map(|s| stepwise(&mut pool, format!("begin.{s}"))).collect();
        Encoding {
            system: Arc::clone(system),
            pool,
            at,
            at_next,
            take,
            begin,
            shared: FxHashMap::default(),
            params: vec![None; system.transitions().len()],
            placement,
            relations: vec![None; system.transitions().len()],
            later: FxHashMap::default(),
            memory: None,
            assumptions: vec![None; system.nodes().len()],
            narrowing: None,
        }
    }

    /// The approximate size in bytes, without the parts shared with the system.
    pub(crate) fn weight(&self) -> u64 {
        let base = self.system.pool();
        let terms = self.pool.len().saturating_sub(base.len()) as u64;
        let symbols = self.pool.symbol_count().saturating_sub(base.symbol_count()) as u64;
        terms * LIMITS.bytes_of_term + symbols * LIMITS.bytes_of_symbol
    }

    /// The position of a symbol in an unrolling.
    pub(crate) fn placement(&self, s: SymbolId) -> Placement {
        self.placement.get(&s).copied().unwrap_or(Placement::Rigid)
    }

    /// The formula with the values of the constants substituted.
    pub(crate) fn narrowed(&mut self, formula: TermId) -> TermId {
        match &mut self.narrowing {
            Some(narrowing) => narrowing.apply(&mut self.pool, formula),
            None => formula,
        }
    }

    /// Whether the formulas have quantifiers after the constants are substituted.
    pub(crate) fn leaves_quantifiers(&mut self) -> bool {
        let system = Arc::clone(&self.system);
        for t in system.transition_ids() {
            self.relation(t);
        }
        for s in 0..system.starts().len() {
            self.start(StartId::from(s));
        }
        for n in system.node_ids() {
            self.assumption(n);
        }
        self.narrowing.as_ref().is_some_and(|n| n.left)
    }

    /// Declares a variable that each step has.
    pub(crate) fn stepwise(&mut self, name: &str, sort: Sort) -> SymbolId {
        let s = self.pool.declare_fresh(name, sort);
        self.placement.insert(s, Placement::At { symbol: s, offset: 0 });
        s
    }

    /// A symbol for the value of a step variable one step later.
    pub(crate) fn one_later(&mut self, s: SymbolId) -> SymbolId {
        let (name, sort) = (format!("{}'", self.pool.symbol(s).name), self.pool.symbol(s).sort);
        let next = self.pool.declare_fresh(&name, sort);
        self.placement.insert(next, Placement::At { symbol: s, offset: 1 });
        next
    }

    /// A symbol for the value of a step variable a number of steps later.
    pub(crate) fn later(&mut self, s: SymbolId, distance: u32) -> SymbolId {
        if distance == 0 {
            return s;
        }
        if let Some(&twin) = self.later.get(&(s, distance)) {
            return twin;
        }
        let (name, sort) = (self.pool.symbol(s).name.clone(), self.pool.symbol(s).sort);
        let twin = self.pool.declare_fresh(&format!("{name}+{distance}"), sort);
        self.placement.insert(twin, Placement::At { symbol: s, offset: distance });
        self.later.insert((s, distance), twin);
        twin
    }

    pub(crate) fn at_symbol(&self, n: NodeId) -> SymbolId {
        self.at[n.index()]
    }

    pub(crate) fn take_symbol(&self, t: TransitionId) -> SymbolId {
        self.take[t.index()]
    }

    pub(crate) fn begin_symbol(&self, s: StartId) -> SymbolId {
        self.begin[s.index()]
    }

    /// `at n`
    pub(crate) fn at(&mut self, n: NodeId) -> TermId {
        self.pool.var(self.at[n.index()])
    }

    /// `take t`
    pub(crate) fn take(&mut self, t: TransitionId) -> TermId {
        self.pool.var(self.take[t.index()])
    }

    /// The shared variables for the parameters of a transition.
    pub(crate) fn params(&mut self, t: TransitionId) -> Vec<SymbolId> {
        if let Some(known) = &self.params[t.index()] {
            return known.clone();
        }
        let mut used: FxHashMap<Sort, usize> = FxHashMap::default();
        let mut symbols = Vec::new();
        for p in &Arc::clone(&self.system).transition(t).params {
            let position = used.entry(p.sort).or_insert(0);
            let key = (p.sort, *position);
            *position += 1;
            let symbol = match self.shared.get(&key) {
                Some(&s) => s,
                None => {
                    let name = format!("par.{}.{}", self.pool_sort_name(p.sort), key.1);
                    let s = self.stepwise(&name, p.sort);
                    self.shared.insert(key, s);
                    s
                }
            };
            symbols.push(symbol);
        }
        self.params[t.index()] = Some(symbols.clone());
        symbols
    }

    fn pool_sort_name(&self, sort: Sort) -> String {
        sort.name(&self.pool).to_string()
    }

    /// Replaces a transition's parameters in a term by the shared variables.
    pub(crate) fn with_shared(&mut self, t: TransitionId, term: TermId) -> TermId {
        let symbols = self.params(t);
        if symbols.is_empty() {
            return term;
        }
        let system = Arc::clone(&self.system);
        let mut map = FxHashMap::default();
        for (p, s) in system.transition(t).params.iter().zip(symbols) {
            map.insert(p.symbol, self.pool.var(s));
        }
        Substitution::new(&mut self.pool, &map).apply(&mut self.pool, term)
    }

    /// `take t -> at source and at' target and guard and effect`
    pub(crate) fn relation(&mut self, t: TransitionId) -> TermId {
        if let Some(known) = self.relations[t.index()] {
            return known;
        }
        let system = Arc::clone(&self.system);
        let transition = system.transition(t);
        let guard = system.guard_term(&mut self.pool, t);
        let effect = system.effect_term(&mut self.pool, t);
        let both = self.pool.and([guard, effect]);
        let both = self.with_shared(t, both);
        let target = transition.target;
        let (here, there) =
            (self.at(transition.source), self.pool.var(self.at_next[target.index()]));
        let body = self.pool.and([here, there, both]);
        let body = match self.narrowing.as_ref().map(|n| n.then) {
            Some(sizes) => {
                let body = self.narrowed(body);
                self.pool.and([body, sizes])
            }
            None => body,
        };
        let take = self.take(t);
        let relation = self.pool.implies(take, body);
        self.relations[t.index()] = Some(relation);
        relation
    }

    /// `take t -> at source and at' target and guard`
    pub(crate) fn skeleton(&mut self, t: TransitionId) -> TermId {
        let system = Arc::clone(&self.system);
        let transition = system.transition(t);
        let guard = system.guard_term(&mut self.pool, t);
        let guard = self.with_shared(t, guard);
        let target = transition.target;
        let (here, there) =
            (self.at(transition.source), self.pool.var(self.at_next[target.index()]));
        let body = self.pool.and([here, there, guard]);
        let take = self.take(t);
        self.pool.implies(take, body)
    }

    /// `at' n -> take t1 or ...` for these transitions.
    pub(crate) fn entered_by(&mut self, n: NodeId, transitions: &[TransitionId]) -> TermId {
        let takes: Vec<TermId> = transitions.iter().map(|&t| self.take(t)).collect();
        let some = self.pool.or(takes);
        let there = self.pool.var(self.at_next[n.index()]);
        self.pool.implies(there, some)
    }

    /// `at n -> begin s1 or ...` for the starts that enter the node.
    pub(crate) fn begun_by(&mut self, n: NodeId) -> TermId {
        let system = Arc::clone(&self.system);
        let entering = system.starts().iter().enumerate().filter(|(_, s)| s.target == n);
        let begins: Vec<TermId> = entering.map(|(i, _)| self.pool.var(self.begin[i])).collect();
        let some = self.pool.or(begins);
        let here = self.at(n);
        self.pool.implies(here, some)
    }

    /// `begin s -> at target and constraint`
    pub(crate) fn start(&mut self, s: StartId) -> TermId {
        let system = Arc::clone(&self.system);
        let constraint = system.start_term(&mut self.pool, s);
        let here = self.at(system.starts()[s.index()].target);
        let constraint = match self.narrowing.as_ref().map(|n| n.now) {
            Some(sizes) => {
                let constraint = self.narrowed(constraint);
                self.pool.and([constraint, sizes])
            }
            None => constraint,
        };
        let body = self.pool.and([here, constraint]);
        let begin = self.pool.var(self.begin[s.index()]);
        self.pool.implies(begin, body)
    }

    /// `at n -> assumptions at n`
    pub(crate) fn assumption(&mut self, n: NodeId) -> TermId {
        if let Some(known) = self.assumptions[n.index()] {
            return known;
        }
        let system = Arc::clone(&self.system);
        let assumption = system.assumption_term(&mut self.pool, n);
        let assumption = self.narrowed(assumption);
        let here = self.at(n);
        let term = self.pool.implies(here, assumption);
        self.assumptions[n.index()] = Some(term);
        term
    }

    /// True in the start states at `n` (without assumptions).
    pub(crate) fn is_start(&mut self, n: NodeId) -> TermId {
        let system = Arc::clone(&self.system);
        let here: Vec<usize> =
            (0..system.starts().len()).filter(|&s| system.starts()[s].target == n).collect();
        let parts: Vec<TermId> =
            here.into_iter().map(|s| system.start_term(&mut self.pool, StartId::from(s))).collect();
        self.pool.or(parts)
    }

    /// By variable: whether a step reads its current value. States that agree on the node and on
    /// these variables have the same successors.
    pub(crate) fn memory(&mut self) -> Arc<[bool]> {
        if let Some(known) = &self.memory {
            return Arc::clone(known);
        }
        let system = Arc::clone(&self.system);
        let mut read: FxHashSet<SymbolId> = FxHashSet::default();
        for t in system.transition_ids() {
            let guard = system.guard_term(&mut self.pool, t);
            let effect = system.effect_term(&mut self.pool, t);
            read.extend(self.pool.free_symbols(&[guard, effect]));
        }
        let memory: Arc<[bool]> = system.vars().iter().map(|v| read.contains(&v.current)).collect();
        self.memory = Some(Arc::clone(&memory));
        memory
    }

    /// The variables that distinguish the states of a path, except the last: with path compression,
    /// only those that steps read.
    pub(crate) fn compared(&mut self, compress: bool) -> Arc<[bool]> {
        if compress { self.memory() } else { self.everything() }
    }

    /// Every variable.
    pub(crate) fn everything(&self) -> Arc<[bool]> {
        self.system.vars().iter().map(|_| true).collect()
    }

    /// A state and the one `distance` steps later differ in their node (of `nodes`) or in a
    /// compared variable.
    pub(crate) fn distinct(
        &mut self,
        nodes: &[NodeId],
        distance: u32,
        compared: &[bool],
    ) -> TermId {
        let system = Arc::clone(&self.system);
        let later = |e: &mut Encoding, s: SymbolId| {
            let twin = e.later(s, distance);
            (e.pool.var(s), e.pool.var(twin))
        };
        let mut same_node = Vec::new();
        for &n in nodes {
            let (here, there) = later(self, self.at[n.index()]);
            same_node.push(self.pool.and([here, there]));
        }
        let mut differs = Vec::new();
        for (v, _) in
            self.tells_apart(&system).into_iter().zip(compared).filter(|(_, compared)| **compared)
        {
            let (here, there) = later(self, v);
            differs.push(self.pool.ne(here, there));
        }
        let same_node = self.pool.or(same_node);
        let differs = self.pool.or(differs);
        self.pool.implies(same_node, differs)
    }

    /// The variables that distinguish states: all of them.
    fn tells_apart(&self, system: &System) -> Vec<SymbolId> {
        system.vars().iter().map(|v| v.current).collect()
    }

    /// The state at any of these nodes is not a start state.
    pub(crate) fn no_restart(&mut self, nodes: &[NodeId]) -> TermId {
        let mut parts = Vec::new();
        for &n in nodes {
            let start = self.is_start(n);
            let (here, not) = (self.at(n), self.pool.not(start));
            parts.push(self.pool.implies(here, not));
        }
        self.pool.and(parts)
    }

    /// The nodes that are reachable in the control graph.
    pub(crate) fn reachable_nodes(&self) -> Vec<NodeId> {
        let system = &self.system;
        let mut seen = vec![false; system.nodes().len()];
        let mut stack: Vec<NodeId> = system.starts().iter().map(|s| s.target).collect();
        while let Some(n) = stack.pop() {
            if !std::mem::replace(&mut seen[n.index()], true) {
                stack.extend(system.leaving(n).iter().map(|&t| system.transition(t).target));
            }
        }
        system.node_ids().filter(|n| seen[n.index()]).collect()
    }

    /// The nodes that one step can lead to from these, sorted.
    pub(crate) fn successors(&self, nodes: &[NodeId]) -> Vec<NodeId> {
        let system = &self.system;
        let mut next: Vec<NodeId> = nodes
            .iter()
            .flat_map(|&n| system.leaving(n))
            .map(|&t| system.transition(t).target)
            .collect();
        next.sort_unstable();
        next.dedup();
        next
    }

    /// The transitions that lead from one of `sources` to `n`.
    pub(crate) fn entering(&self, n: NodeId, sources: &[NodeId]) -> Vec<TransitionId> {
        let all = self.system.entering(n).iter().copied();
        all.filter(|&t| sources.binary_search(&self.system.transition(t).source).is_ok()).collect()
    }
}
