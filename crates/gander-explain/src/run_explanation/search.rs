//! Searches for runs of a given length in one solver session.
//!
//! Step `i` of the unrolled run takes exactly one transition; `@node` is copied for each state like
//! a variable. Step `i` offers only transitions whose source is reachable in `i` steps of the
//! control graph. A sequence of goals has a Boolean variable "met so far" for each goal. It can be
//! true only if a step or state meets the goal and the goals before it are met.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_smt::{
    Answer, CoreSession, Limits, Literal, Placement, SessionConfig, Solvers, StepSymbol, Template,
};
use gander_system::{NodeId, StartId, System, TransitionId};
use gander_term::{Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ending::{Stage, at_node};
use super::flat::FlatRun;

/// The unrolled run; see the module documentation.
pub(crate) struct Search {
    pub system: Arc<System>,
    pub pool: Pool,
    pub session: CoreSession,
    placement: FxHashMap<SymbolId, Placement>,
    pub takes: Vec<SymbolId>,
    begins: Vec<SymbolId>,
    /// By transition: what holds if it is taken.
    moves: Vec<Template>,
    state: Vec<Template>,
    /// The constraints on the goals.
    chain: Chain,
    /// By number of steps: the nodes that the control graph can reach.
    layers: Vec<Vec<bool>>,
    here: Vec<Literal>,
    goals: FxHashMap<u32, Literal>,
    /// No query starts after this time.
    pub deadline: Instant,
}

enum Chain {
    State(Box<Template>),
    Step(Box<Template>),
    /// Several goals: the variable of the last one, and the constraints at the first state and at
    /// each step.
    Many(Box<Many>),
}

struct Many {
    last: Template,
    first: Template,
    later: Template,
}

impl Chain {
    fn compile(terms: ChainTerms, compile: &mut dyn FnMut(TermId) -> Template) -> Chain {
        match terms {
            ChainTerms::State(t) => Chain::State(Box::new(compile(t))),
            ChainTerms::Step(t) => Chain::Step(Box::new(compile(t))),
            ChainTerms::Many(last, first, later) => Chain::Many(Box::new(Many {
                last: compile(last),
                first: compile(first),
                later: compile(later),
            })),
        }
    }
}

impl Search {
    pub(crate) fn new(
        system: &Arc<System>,
        base: &Arc<Pool>,
        stages: &[Stage],
        solvers: &Solvers,
        cancellation: Cancellation,
    ) -> Result<Search, String> {
        let mut pool = Pool::fork(base);
        let symbols = RunSymbols::declare(system, &mut pool, stages.len());
        let first = start_terms(system, &mut pool, &symbols.begins);
        let moves = step_terms(system, &mut pool, &symbols);
        let state: Vec<TermId> =
            system.assumptions().iter().map(|a| local(system, &mut pool, a.term.term())).collect();
        let chain = chain_terms(system, &mut pool, stages, &symbols.takes, &symbols.met);
        let mut about: Vec<TermId> = first.iter().chain(&moves).chain(&state).copied().collect();
        match &chain {
            ChainTerms::State(t) | ChainTerms::Step(t) => about.push(*t),
            ChainTerms::Many(a, b, c) => about.extend([*a, *b, *c]),
        }
        let solver =
            solvers.choose(pool.features(&about)).ok_or("no solver for such formulas was found")?;
        let mut session = solvers
            .core_session(solver, SessionConfig { cancellation, ..SessionConfig::default() });
        let RunSymbols { placement, takes, begins, .. } = symbols;
        let of = |s: SymbolId| placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let mut compile = |t: TermId| session.compile(&pool, t, &of);
        let moves = moves.into_iter().map(&mut compile).collect();
        let state: Vec<Template> = state.into_iter().map(&mut compile).collect();
        let chain = Chain::compile(chain, &mut compile);
        for t in first {
            let t = session.compile(&pool, t, &of);
            session.assert_at(&pool, &t, 0);
        }
        let mut search = Search {
            system: Arc::clone(system),
            pool,
            session,
            placement,
            takes,
            begins,
            moves,
            state,
            chain,
            layers: Vec::new(),
            here: Vec::new(),
            goals: FxHashMap::default(),
            deadline: Instant::now(),
        };
        search.state_at(0);
        if let Chain::Many(many) = &search.chain {
            search.session.assert_at(&search.pool, &many.first, 0);
        }
        let mut reached = vec![false; system.nodes().len()];
        system.starts().iter().for_each(|s| reached[s.target.index()] = true);
        search.layers.push(reached);
        Ok(search)
    }

    fn state_at(&mut self, state: u32) {
        for t in &self.state {
            self.session.assert_at(&self.pool, t, state);
        }
    }

    /// Compiles a formula over a state, a step and the variables for the transitions taken.
    pub(crate) fn compile(&mut self, t: TermId) -> Template {
        let t = local(&self.system, &mut self.pool, t);
        let of = |s: SymbolId| self.placement.get(&s).copied().unwrap_or(Placement::Rigid);
        self.session.compile(&self.pool, t, &of)
    }

    /// A symbol for the value of another one `distance` steps later.
    pub(crate) fn later(&mut self, symbol: SymbolId, distance: u32) -> SymbolId {
        let sort = self.pool.symbol(symbol).sort;
        let later = self.pool.declare_fresh("@later", sort);
        self.placement.insert(later, Placement::At { symbol, offset: distance });
        later
    }

    pub(crate) fn literal_at(&mut self, template: &Template, step: u32) -> Literal {
        self.session.literal_at(&self.pool, template, step)
    }

    /// Unrolls the run to at least `steps` steps.
    fn unroll(&mut self, steps: u32) {
        while (self.here.len() as u32) < steps {
            let i = self.here.len();
            let system = Arc::clone(&self.system);
            let leaving: Vec<usize> = system
                .transitions()
                .iter()
                .enumerate()
                .filter(|(_, t)| self.layers[i][t.source.index()])
                .map(|(t, _)| t)
                .collect();
            let mut next = vec![false; system.nodes().len()];
            for &t in &leaving {
                next[system.transitions()[t].target.index()] = true;
                self.session.assert_at(&self.pool, &self.moves[t], i as u32);
            }
            self.layers.push(next);
            let taken: Vec<SymbolId> = leaving.iter().map(|&t| self.takes[t]).collect();
            let others = (0..self.takes.len())
                .filter(|t| !self.layers[i][system.transitions()[*t].source.index()]);
            let mut none: Vec<TermId> = Vec::new();
            for t in others {
                let take = self.pool.var(self.takes[t]);
                none.push(self.pool.not(take));
            }
            if !none.is_empty() {
                let none = self.pool.and(none);
                let none = self.compile(none);
                self.session.assert_at(&self.pool, &none, i as u32);
            }
            let one = exactly_one(&mut self.pool, &taken);
            let one = self.compile(one);
            let here = self.session.literal();
            self.session.assert_if_at(&self.pool, here, &one, i as u32);
            self.here.push(here);
            self.state_at(i as u32 + 1);
            if let Chain::Many(many) = &self.chain {
                self.session.assert_at(&self.pool, &many.later, i as u32);
            }
        }
    }

    /// The assumptions for a run of this length with the wanted end; `None` if no run is that
    /// short.
    pub(crate) fn ending(&mut self, steps: u32) -> Option<Vec<Literal>> {
        let mut all = self.length(steps);
        if let Some(&goal) = self.goals.get(&steps) {
            all.push(goal);
            return Some(all);
        }
        let goal = match &self.chain {
            Chain::State(t) => self.session.literal_at(&self.pool, t, steps),
            Chain::Step(t) => self.session.literal_at(&self.pool, t, steps.checked_sub(1)?),
            Chain::Many(many) => self.session.literal_at(&self.pool, &many.last, steps),
        };
        self.goals.insert(steps, goal);
        all.push(goal);
        Some(all)
    }

    /// The assumptions for a run of this length.
    pub(crate) fn length(&mut self, steps: u32) -> Vec<Literal> {
        self.unroll(steps);
        self.here[..steps as usize].to_vec()
    }

    pub(crate) fn deadline_passed(&self) -> bool {
        Instant::now() >= self.deadline
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits::time(
            self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)),
        )
    }

    pub(crate) fn check(&mut self, assumptions: &[Literal]) -> Answer {
        let limits = self.limits();
        self.session.check(assumptions, limits)
    }

    /// True if the session has not failed.
    pub(crate) fn is_alive(&self) -> bool {
        self.session.failure().is_none()
    }

    /// The run that was found; `None` if the solver does not give its values.
    pub(crate) fn read(&mut self, steps: u32) -> Option<FlatRun> {
        let system = Arc::clone(&self.system);
        let mut symbols: Vec<StepSymbol> = Vec::new();
        for i in 0..=steps {
            symbols.extend(system.vars().iter().map(|v| StepSymbol::at(v.current, i)));
        }
        for i in 0..steps {
            symbols.extend(self.takes.iter().map(|&t| StepSymbol::at(t, i)));
        }
        symbols.extend(self.begins.iter().map(|&s| StepSymbol::at(s, 0)));
        let values = self.values(&symbols)?;
        let is_true =
            |s: SymbolId, i: u32| values.get(&StepSymbol::at(s, i)) == Some(&Value::Bool(true));
        let start = self.begins.iter().position(|&s| is_true(s, 0))?;
        let mut taken = Vec::new();
        let mut node = system.starts()[start].target;
        for i in 0..steps {
            let here =
                |t: &usize| system.transitions()[*t].source == node && is_true(self.takes[*t], i);
            let t = (0..self.takes.len()).find(here)?;
            node = system.transitions()[t].target;
            taken.push(t);
        }
        let mut params: Vec<StepSymbol> = Vec::new();
        for (i, &t) in taken.iter().enumerate() {
            params.extend(
                system.transitions()[t].params.iter().map(|p| StepSymbol::at(p.symbol, i as u32)),
            );
        }
        let param_values = self.values(&params)?;
        let states: Option<Vec<Vec<Value>>> = (0..=steps)
            .map(|i| {
                system
                    .vars()
                    .iter()
                    .map(|v| values.get(&StepSymbol::at(v.current, i)).cloned())
                    .collect()
            })
            .collect();
        let steps: Option<Vec<(TransitionId, Vec<Value>)>> = taken
            .iter()
            .enumerate()
            .map(|(i, &t)| {
                let list = system.transitions()[t].params.iter();
                let list: Option<Vec<Value>> = list
                    .map(|p| param_values.get(&StepSymbol::at(p.symbol, i as u32)).cloned())
                    .collect();
                Some((TransitionId::from(t), list?))
            })
            .collect();
        Some(FlatRun {
            start: StartId::from(start),
            first_node: system.starts()[start].target,
            states: states?,
            steps: steps?,
        })
    }

    fn values(&mut self, symbols: &[StepSymbol]) -> Option<FxHashMap<StepSymbol, Value>> {
        if symbols.is_empty() {
            return Some(FxHashMap::default());
        }
        let limits = self.limits();
        let values = self.session.values(&self.pool, symbols, limits).ok()?;
        Some(symbols.iter().copied().zip(values).collect())
    }

    /// Literals that require the start and the transitions of this run.
    pub(crate) fn same_transitions(&mut self, run: &FlatRun) -> Vec<Literal> {
        self.unroll(run.len());
        let begin = self.begins[run.start.index()];
        let mut all = vec![self.symbol_literal(begin, 0)];
        for (i, (t, _)) in run.steps.iter().enumerate() {
            let take = self.takes[t.index()];
            all.push(self.symbol_literal(take, i as u32));
        }
        all
    }

    fn symbol_literal(&mut self, symbol: SymbolId, step: u32) -> Literal {
        let var = self.pool.var(symbol);
        let template = self.compile(var);
        self.literal_at(&template, step)
    }
}

/// The symbols of an unrolled run, and where each is placed in it.
struct RunSymbols {
    placement: FxHashMap<SymbolId, Placement>,
    /// By transition: it is taken.
    takes: Vec<SymbolId>,
    /// By start: the run begins with it.
    begins: Vec<SymbolId>,
    met: Met,
}

impl RunSymbols {
    /// Declares the symbols for a sequence of this many goals.
    fn declare(system: &System, pool: &mut Pool, goals: usize) -> RunSymbols {
        let mut placement = FxHashMap::default();
        for v in system.vars() {
            placement.insert(v.current, Placement::At { symbol: v.current, offset: 0 });
            placement.insert(v.next, Placement::At { symbol: v.current, offset: 1 });
        }
        let at = |s: SymbolId| Placement::At { symbol: s, offset: 0 };
        placement.insert(system.location(), at(system.location()));
        let next_node = pool.declare_fresh("@next", pool.symbol(system.location()).sort);
        placement.insert(next_node, Placement::At { symbol: system.location(), offset: 1 });
        for t in system.transitions() {
            placement.extend(t.params.iter().map(|p| (p.symbol, at(p.symbol))));
        }
        let mut fresh = |pool: &mut Pool, name: String| {
            let s = pool.declare_fresh(&name, Sort::Bool);
            placement.insert(s, at(s));
            s
        };
        let takes: Vec<SymbolId> =
            (0..system.transitions().len()).map(|i| fresh(pool, format!("@take.{i}"))).collect();
        let begins: Vec<SymbolId> =
            (0..system.starts().len()).map(|i| fresh(pool, format!("@begin.{i}"))).collect();
        let now: Vec<SymbolId> = match goals {
            0 | 1 => Vec::new(),
            n => (0..n).map(|i| fresh(pool, format!("@met.{i}"))).collect(),
        };
        let next: Vec<SymbolId> = now
            .iter()
            .map(|&m| {
                let s = pool.declare_fresh("@met.next", Sort::Bool);
                placement.insert(s, Placement::At { symbol: m, offset: 1 });
                s
            })
            .collect();
        RunSymbols { placement, takes, begins, met: Met { now, next, next_node } }
    }
}

/// What holds in the first state: the run begins with exactly one start, whose constraint holds.
fn start_terms(system: &System, pool: &mut Pool, begins: &[SymbolId]) -> Vec<TermId> {
    let mut first = Vec::new();
    for (s, &begin) in system.starts().iter().zip(begins) {
        let begin = pool.var(begin);
        let mut parts: Vec<TermId> = s.constraint.iter().map(|e| e.term.term()).collect();
        if system.nodes().len() > 1 {
            parts.push(at_node(system, pool, s.target));
        }
        let all = pool.and(parts);
        first.push(pool.implies(begin, all));
    }
    first.push(exactly_one(pool, begins));
    first
}

/// By transition: what holds if it is taken.
fn step_terms(system: &System, pool: &mut Pool, symbols: &RunSymbols) -> Vec<TermId> {
    let mut moves = Vec::new();
    for (t, &take) in system.transitions().iter().zip(&symbols.takes) {
        let take = pool.var(take);
        let mut parts: Vec<TermId> = t.guard.iter().map(|e| e.term.term()).collect();
        for e in &t.effect {
            parts.push(system.effect_part(pool, e));
        }
        if system.nodes().len() > 1 {
            parts.push(at_node(system, pool, t.source));
            let next = pool.var(symbols.met.next_node);
            let node = system.node_constant(pool, t.target);
            parts.push(pool.eq(next, node));
        }
        let all = pool.and(parts);
        moves.push(pool.implies(take, all));
    }
    moves
}

/// The variables "met so far" in a state and in the next one, and the symbol of the next node.
struct Met {
    now: Vec<SymbolId>,
    next: Vec<SymbolId>,
    next_node: SymbolId,
}

enum ChainTerms {
    State(TermId),
    Step(TermId),
    Many(TermId, TermId, TermId),
}

/// The constraints on the goals.
fn chain_terms(
    system: &System,
    pool: &mut Pool,
    stages: &[Stage],
    takes: &[SymbolId],
    met: &Met,
) -> ChainTerms {
    let step_goal = |pool: &mut Pool, choices: &[(TransitionId, TermId)]| {
        let mut some = Vec::new();
        for (t, f) in choices {
            let take = pool.var(takes[t.index()]);
            some.push(pool.and([take, *f]));
        }
        pool.or(some)
    };
    match stages {
        [] => ChainTerms::State(pool.tt()),
        [Stage::State(f)] => ChainTerms::State(local(system, pool, *f)),
        [Stage::Step(choices)] => ChainTerms::Step(step_goal(pool, choices)),
        many => {
            let (mut first, mut later) = (Vec::new(), Vec::new());
            let mut primed: FxHashMap<SymbolId, TermId> =
                system.vars().iter().map(|v| (v.current, pool.var(v.next))).collect();
            primed.insert(system.location(), pool.var(met.next_node));
            for (j, stage) in many.iter().enumerate() {
                let before = |pool: &mut Pool, list: &[SymbolId]| match j {
                    0 => pool.tt(),
                    _ => pool.var(list[j - 1]),
                };
                let (now, next) = (pool.var(met.now[j]), pool.var(met.next[j]));
                match stage {
                    Stage::State(f) => {
                        let f = local(system, pool, *f);
                        let b = before(pool, &met.now);
                        let at_first = pool.and([b, f]);
                        first.push(pool.implies(now, at_first));
                        let b = before(pool, &met.next);
                        let f_next = pool.substitute(f, &primed);
                        let by_step = pool.and([b, f_next]);
                        let either = pool.or([now, by_step]);
                        later.push(pool.implies(next, either));
                    }
                    Stage::Step(choices) => {
                        first.push(pool.not(now));
                        let b = before(pool, &met.now);
                        let goal = step_goal(pool, choices);
                        let by_step = pool.and([b, goal]);
                        let either = pool.or([now, by_step]);
                        later.push(pool.implies(next, either));
                    }
                }
            }
            let last = pool.var(met.now[met.now.len() - 1]);
            let (first, later) = (pool.and(first), pool.and(later));
            ChainTerms::Many(last, first, later)
        }
    }
}

/// Exactly one of the Boolean variables is true.
fn exactly_one(pool: &mut Pool, symbols: &[SymbolId]) -> TermId {
    let all: Vec<TermId> = symbols.iter().map(|&s| pool.var(s)).collect();
    let mut parts = vec![pool.or(all.clone())];
    // "One of those before" is a chain of shared terms. Flattened, its size would be quadratic.
    let mut before: Option<TermId> = None;
    for &x in &all {
        let Some(one) = before else {
            before = Some(x);
            continue;
        };
        let both = pool.and([one, x]);
        parts.push(pool.not(both));
        before = Some(pool.mk(Op::Or, &[one, x]).expect("both are truth values"));
    }
    pool.and(parts)
}

/// A formula without `@node` if there is only one node.
pub(crate) fn local(system: &System, pool: &mut Pool, term: TermId) -> TermId {
    let symbols: FxHashSet<SymbolId> = pool.free_symbols(&[term]).into_iter().collect();
    if system.nodes().len() > 1 || !symbols.contains(&system.location()) {
        return term;
    }
    let here = system.node_constant(pool, NodeId(0));
    pool.substitute(term, &FxHashMap::from_iter([(system.location(), here)]))
}
