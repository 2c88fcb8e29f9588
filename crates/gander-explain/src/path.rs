//! Paths of all relaxations of a system at once, in one solver session.
//!
//! Every part has a literal that activates it: the session knows `part -> formula` for each of its elements, at the start and
//! at every step and state of an unrolled path. A question assumes the literals of the parts that are kept, so one session
//! answers about as many relaxations as one likes, and the core of a refutation says which parts it used.
//!
//! The location is the symbol `@node`, copied for each step like any variable. Step `i` has a literal of its own that demands
//! a step there; without it nothing is said of the step, so that short paths are not restricted by what follows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_smt::{
    Answer, CoreSession, Killer, Limits, Literal, Placement, SessionConfig, Solver, Solvers, StepSymbol, Template,
};
use gander_system::{NodeId, System};
use gander_term::{Features, Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::parts::Parts;
use crate::set::PartSet;

/// Where a path begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum From {
    /// In a start state.
    Start,
    /// Anywhere.
    Anywhere,
}

/// A formula that every state or step fulfils while its part is there.
struct Demand {
    part: Option<usize>,
    template: Template,
}

/// A formula over one state, known to the session once it is asked about.
pub(crate) struct Watched {
    pub term: TermId,
    template: Option<Template>,
    at: Vec<Literal>,
}

/// What starts, states and steps fulfil, each formula with its part.
struct Laws {
    first: Vec<(Option<usize>, TermId)>,
    state: Vec<(Option<usize>, TermId)>,
    step: Vec<(Option<usize>, TermId)>,
    some_start: TermId,
    some_step: TermId,
}

/// A watched formula.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct WatchId(pub usize);

/// What a refuted question rests on.
#[derive(Clone, Debug)]
pub(crate) struct Grounds {
    pub parts: PartSet,
    /// Watched formulas that were assumed.
    pub watched: Vec<WatchId>,
}

/// The answer to a question about a path.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// There is such a path.
    Path,
    /// There is none.
    None(Grounds),
    /// Not known.
    Unknown,
}

/// A question about a path.
pub(crate) struct Wanted<'w> {
    pub kept: &'w PartSet,
    pub from: From,
    pub steps: u32,
    /// Formulas that hold in all states but the last.
    pub along: &'w [WatchId],
    /// Formulas of which one is false in the last state.
    pub broken: &'w [WatchId],
}

/// The symbols of a path, and who is asked.
struct Scene {
    placement: FxHashMap<SymbolId, Placement>,
    starts: Vec<SymbolId>,
    takes: Vec<SymbolId>,
    solvers: Arc<Solvers>,
    solver: Solver,
    features: Features,
    killer: Killer,
}

/// The unrolled path; see the module's documentation.
pub(crate) struct Path {
    pub system: Arc<System>,
    pub pool: Pool,
    laws: Arc<Laws>,
    solvers: Arc<Solvers>,
    solver: Solver,
    features: Features,
    killer: Killer,
    session: CoreSession,
    placement: FxHashMap<SymbolId, Placement>,
    /// The parts that it knows.
    pub available: PartSet,
    parts: Vec<Literal>,
    first: Vec<Demand>,
    state: Vec<Demand>,
    step: Vec<Demand>,
    some_start: Template,
    some_step: Template,
    starts: Vec<SymbolId>,
    takes: Vec<SymbolId>,
    from_start: Option<Literal>,
    step_here: Vec<Literal>,
    watched: Vec<Watched>,
    known: FxHashMap<TermId, WatchId>,
    goals: FxHashMap<(Vec<WatchId>, u32), Literal>,
    /// No question is asked behind this time.
    pub deadline: Option<Instant>,
    /// What one question may take.
    pub patience: Option<Duration>,
    /// How many questions were asked.
    pub questions: u64,
    /// How many of them got no answer.
    pub unanswered: u64,
}

impl Path {
    /// The path of length zero; `about` are formulas that will be watched, so that a solver is chosen that knows them.
    pub(crate) fn new(
        system: &Arc<System>,
        parts: &Parts,
        solvers: &Arc<Solvers>,
        killer: Killer,
        about: &[TermId],
        pool: Pool,
    ) -> Result<Path, String> {
        let mut pool = pool;
        let many = system.nodes.len() > 1;
        let mut placement = FxHashMap::default();
        let mut here = |s: SymbolId| {
            placement.insert(s, Placement::At { symbol: s, offset: 0 });
        };
        for v in &system.vars {
            here(v.current);
        }
        here(system.location);
        let next_node = pool.declare_fresh("@next", pool.symbol(system.location).sort);
        let begins: Vec<SymbolId> = (0..system.starts.len())
            .map(|i| pool.declare_fresh(&format!("@begin.{i}"), gander_term::Sort::Bool))
            .collect();
        let takes: Vec<SymbolId> = (0..system.transitions.len())
            .map(|i| pool.declare_fresh(&format!("@take.{i}"), gander_term::Sort::Bool))
            .collect();
        begins.iter().chain(&takes).for_each(|&s| here(s));
        for t in &system.transitions {
            t.params.iter().for_each(|p| here(p.symbol));
        }
        for v in &system.vars {
            placement.insert(v.next, Placement::At { symbol: v.current, offset: 1 });
        }
        placement.insert(next_node, Placement::At { symbol: system.location, offset: 1 });

        let mut state: Vec<(Option<usize>, TermId)> = Vec::new();
        let mut step: Vec<(Option<usize>, TermId)> = Vec::new();
        let mut first: Vec<(Option<usize>, TermId)> = Vec::new();
        for a in &system.assumptions {
            let term = local(system, &mut pool, a.term.term(), many);
            state.push((parts.part_of(a.id), term));
        }
        for (s, &begin) in system.starts.iter().zip(&begins) {
            let begin = pool.var(begin);
            if many {
                let at = at_node(system, &mut pool, system.location, s.target);
                first.push((None, pool.implies(begin, at)));
            }
            for e in &s.constraint {
                first.push((parts.part_of(e.id), pool.implies(begin, e.term.term())));
            }
        }
        for (t, &take) in system.transitions.iter().zip(&takes) {
            let take = pool.var(take);
            if many {
                let at = at_node(system, &mut pool, system.location, t.source);
                let to = at_node(system, &mut pool, next_node, t.target);
                let both = pool.and([at, to]);
                step.push((None, pool.implies(take, both)));
            }
            for e in &t.guard {
                step.push((parts.part_of(e.id), pool.implies(take, e.term.term())));
            }
            for e in &t.effect {
                let (gander_system::Effect::Assign { id, .. }
                | gander_system::Effect::Constrain { id, .. }
                | gander_system::Effect::Keep { id, .. }) = *e;
                let term = system.effect_part(&mut pool, e);
                step.push((parts.part_of(id), pool.implies(take, term)));
            }
        }
        let some_step = {
            let all: Vec<TermId> = takes.iter().map(|&s| pool.var(s)).collect();
            pool.or(all)
        };
        let some_start = {
            let all: Vec<TermId> = begins.iter().map(|&s| pool.var(s)).collect();
            pool.or(all)
        };
        let mut all: Vec<TermId> = state.iter().chain(&step).chain(&first).map(|(_, t)| *t).collect();
        all.extend([some_step, some_start]);
        all.extend(about);
        let features = pool.features(&all);
        let solver = solvers.choose(features).ok_or("no solver for such formulas was found")?.clone();
        let laws = Arc::new(Laws { first, state, step, some_start, some_step });
        let everything = PartSet::all(parts.len());
        let scene = Scene { placement, starts: begins, takes, solvers: Arc::clone(solvers), solver, features, killer };
        Ok(Path::begun(Arc::clone(system), pool, laws, scene, &everything))
    }

    /// A path that knows only some of the parts, with the same watched formulas: its questions are about sets of these, and smaller.
    pub(crate) fn narrowed(&self, available: &PartSet) -> Path {
        self.again(available, self.solver.clone())
    }

    /// True if its solver is one for these formulas too, and has answered all questions.
    pub(crate) fn understands(&self, pool: &Pool, about: &[TermId]) -> bool {
        self.features.join(pool.features(about)) == self.features && self.unanswered == 0
    }

    /// True if it knows all parts, and its solver is alive.
    pub(crate) fn is_whole(&self) -> bool {
        self.available.len() == self.available.universe() && self.session.failure().is_none()
    }

    /// The same path with another solver; none if there is no other for such formulas.
    pub(crate) fn elsewhere(&self) -> Option<Path> {
        let able = |s: &&Solver| s.name != self.solver.name && s.supports(self.features);
        let other = self.solvers.all().into_iter().find(able)?.clone();
        Some(self.again(&self.available, other))
    }

    fn again(&self, available: &PartSet, solver: Solver) -> Path {
        let scene = Scene {
            placement: self.placement.clone(),
            starts: self.starts.clone(),
            takes: self.takes.clone(),
            solvers: Arc::clone(&self.solvers),
            solver,
            features: self.features,
            killer: self.killer.clone(),
        };
        let (system, pool, laws) = (Arc::clone(&self.system), self.pool.clone(), Arc::clone(&self.laws));
        let mut path = Path::begun(system, pool, laws, scene, available);
        let watched = |w: &Watched| Watched { term: w.term, template: None, at: Vec::new() };
        path.watched = self.watched.iter().map(watched).collect();
        path.known.clone_from(&self.known);
        (path.deadline, path.patience) = (self.deadline, self.patience);
        path
    }

    /// Takes over what was watched in a path that was narrowed from this one and not changed since.
    pub(crate) fn absorb(&mut self, narrowed: Path) {
        self.questions += narrowed.questions;
        self.pool = narrowed.pool;
        self.known = narrowed.known;
        let new = narrowed.watched.into_iter().skip(self.watched.len());
        self.watched.extend(new.map(|w| Watched { term: w.term, template: None, at: Vec::new() }));
    }

    fn begun(system: Arc<System>, pool: Pool, laws: Arc<Laws>, scene: Scene, available: &PartSet) -> Path {
        let Scene { placement, starts, takes, solvers, solver, features, killer } = scene;
        let config = SessionConfig { killer: killer.clone(), ..SessionConfig::default() };
        let mut session = solvers.core_session(&solver, config);
        let of = |s: SymbolId| placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let demands = |list: &[(Option<usize>, TermId)], session: &mut CoreSession| -> Vec<Demand> {
            let here = list.iter().filter(|(part, _)| part.is_none_or(|p| available.has(p)));
            here.map(|&(part, t)| Demand { part, template: session.compile(&pool, t, &of) }).collect()
        };
        let first = demands(&laws.first, &mut session);
        let state = demands(&laws.state, &mut session);
        let step = demands(&laws.step, &mut session);
        let some_step = session.compile(&pool, laws.some_step, &of);
        let some_start = session.compile(&pool, laws.some_start, &of);
        let mut path = Path {
            system,
            pool,
            laws,
            solvers,
            solver,
            features,
            killer,
            session,
            placement,
            available: available.clone(),
            parts: Vec::new(),
            first,
            state,
            step,
            some_start,
            some_step,
            starts,
            takes,
            from_start: None,
            step_here: Vec::new(),
            watched: Vec::new(),
            known: FxHashMap::default(),
            goals: FxHashMap::default(),
            deadline: None,
            patience: None,
            questions: 0,
            unanswered: 0,
        };
        path.begin();
        path
    }

    /// Says what a path of no steps fulfils.
    fn begin(&mut self) {
        self.parts = (0..self.available.universe()).map(|_| self.session.literal()).collect();
        let from_start = self.session.literal();
        self.session.assert_if_at(&self.pool, from_start, &self.some_start, 0);
        self.from_start = Some(from_start);
        let (first, state) = (std::mem::take(&mut self.first), std::mem::take(&mut self.state));
        self.demand_at(&first, 0);
        self.demand_at(&state, 0);
        (self.first, self.state) = (first, state);
    }

    fn demand_at(&mut self, demands: &[Demand], step: u32) {
        for d in demands {
            match d.part {
                Some(p) => self.session.assert_if_at(&self.pool, self.parts[p], &d.template, step),
                None => self.session.assert_at(&self.pool, &d.template, step),
            }
        }
    }

    /// Makes the path at least so long.
    fn unroll(&mut self, steps: u32) {
        while (self.step_here.len() as u32) < steps {
            let i = self.step_here.len() as u32;
            let literal = self.session.literal();
            self.session.assert_if_at(&self.pool, literal, &self.some_step, i);
            self.step_here.push(literal);
            let (state, step) = (std::mem::take(&mut self.state), std::mem::take(&mut self.step));
            self.demand_at(&step, i);
            self.demand_at(&state, i + 1);
            (self.state, self.step) = (state, step);
        }
    }

    /// Watches a formula over one state.
    pub(crate) fn watch(&mut self, term: TermId) -> WatchId {
        if let Some(&id) = self.known.get(&term) {
            return id;
        }
        let here = local(&self.system, &mut self.pool, term, self.system.nodes.len() > 1);
        let id = WatchId(self.watched.len());
        self.watched.push(Watched { term: here, template: None, at: Vec::new() });
        self.known.insert(term, id);
        id
    }

    /// The formula that is watched.
    pub(crate) fn formula(&self, id: WatchId) -> TermId {
        self.watched[id.0].term
    }

    fn literal(&mut self, id: WatchId, step: u32) -> Literal {
        let watched = &mut self.watched[id.0];
        let of = |s: SymbolId| self.placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let template = match watched.template.take() {
            Some(template) => template,
            None => self.session.compile(&self.pool, watched.term, &of),
        };
        while (watched.at.len() as u32) <= step {
            let i = watched.at.len() as u32;
            watched.at.push(self.session.literal_at(&self.pool, &template, i));
        }
        watched.template = Some(template);
        watched.at[step as usize]
    }

    /// A literal that demands that one of the formulas is false at a step.
    fn goal(&mut self, broken: &[WatchId], step: u32) -> Literal {
        if let [one] = broken {
            return !self.literal(*one, step);
        }
        let key = (broken.to_vec(), step);
        if let Some(&literal) = self.goals.get(&key) {
            return literal;
        }
        let mut clause: Vec<Literal> = broken.iter().map(|&b| !self.literal(b, step)).collect();
        let literal = self.session.literal();
        clause.push(!literal);
        self.session.assert_clause(&clause);
        self.goals.insert(key, literal);
        literal
    }

    fn limits(&self) -> Limits {
        let left = self.deadline.map(|d| d.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
        match left.into_iter().chain(self.patience).min() {
            Some(time) => Limits::time(time),
            None => Limits::NONE,
        }
    }

    /// True if the time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// Asks for a path.
    pub(crate) fn ask(&mut self, wanted: &Wanted<'_>) -> Found {
        if self.is_late() {
            return Found::Unknown;
        }
        self.unroll(wanted.steps);
        let mut assumptions: Vec<Literal> = Vec::new();
        let mut meaning: FxHashMap<Literal, WatchId> = FxHashMap::default();
        if !wanted.broken.is_empty() {
            assumptions.push(self.goal(wanted.broken, wanted.steps));
        }
        if wanted.from == From::Start {
            assumptions.extend(self.from_start);
        }
        assumptions.extend(&self.step_here[..wanted.steps as usize]);
        for i in 0..wanted.steps {
            for &w in wanted.along {
                let literal = self.literal(w, i);
                meaning.insert(literal, w);
                assumptions.push(literal);
            }
        }
        assumptions.extend(wanted.kept.iter().map(|p| self.parts[p]));
        self.questions += 1;
        let limits = self.limits();
        match self.session.check(&assumptions, limits) {
            Answer::Sat => Found::Path,
            Answer::Unknown(_) => {
                self.unanswered += 1;
                self.recover();
                Found::Unknown
            }
            Answer::Unsat => match self.session.core(limits) {
                Ok(core) => {
                    let mut parts = PartSet::none(self.parts.len());
                    let mut watched = Vec::new();
                    for literal in core {
                        if let Some(p) = self.parts.iter().position(|l| *l == literal) {
                            parts.insert(p);
                        } else if let Some(&w) = meaning.get(&literal)
                            && !watched.contains(&w)
                        {
                            watched.push(w);
                        }
                    }
                    Found::None(Grounds { parts, watched })
                }
                Err(_) => {
                    self.recover();
                    Found::Unknown
                }
            },
        }
    }

    /// After a solver broke: everything is said again to a new one when it is next asked.
    fn recover(&mut self) {
        if self.session.failure().is_some() {
            self.session.restart();
            self.step_here.clear();
            self.goals.clear();
            self.watched.iter_mut().for_each(|w| w.at.clear());
            self.begin();
        }
    }

    /// The values of a path that was found.
    pub(crate) fn values(&mut self, steps: u32) -> Result<Values, String> {
        let mut symbols = Vec::new();
        for i in 0..=steps {
            symbols.extend(self.system.vars.iter().map(|v| StepSymbol::at(v.current, i)));
            symbols.push(StepSymbol::at(self.system.location, i));
        }
        for i in 0..steps {
            symbols.extend(self.takes.iter().map(|&t| StepSymbol::at(t, i)));
            for t in &self.system.transitions {
                symbols.extend(t.params.iter().map(|p| StepSymbol::at(p.symbol, i)));
            }
        }
        symbols.extend(self.starts.iter().map(|&s| StepSymbol::at(s, 0)));
        let limits = self.limits();
        let values = self.session.values(&self.pool, &symbols, limits).map_err(|r| r.to_string())?;
        let values = symbols.into_iter().zip(values).collect();
        Ok(Values { values, starts: self.starts.clone(), takes: self.takes.clone() })
    }
}

/// The values of symbols at the steps of a path.
pub(crate) struct Values {
    pub values: FxHashMap<StepSymbol, gander_term::Value>,
    pub starts: Vec<SymbolId>,
    pub takes: Vec<SymbolId>,
}

impl Values {
    pub(crate) fn is_true(&self, symbol: SymbolId, step: u32) -> bool {
        self.values.get(&StepSymbol::at(symbol, step)) == Some(&gander_term::Value::Bool(true))
    }
}

/// `symbol == node`
fn at_node(system: &System, pool: &mut Pool, symbol: SymbolId, node: NodeId) -> TermId {
    let (symbol, node) = (pool.var(symbol), system.node_constant(pool, node));
    pool.eq(symbol, node)
}

/// A formula without `@node` if there is only one node.
fn local(system: &System, pool: &mut Pool, term: TermId, many: bool) -> TermId {
    if many || !pool.free_symbols(&[term]).contains(&system.location) {
        return term;
    }
    let here = system.node_constant(pool, NodeId(0));
    let map = FxHashMap::from_iter([(system.location, here)]);
    pool.substitute(term, &map)
}
