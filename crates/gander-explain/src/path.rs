//! Paths of all relaxations of a system at once, in one solver session.
//!
//! Every part has a literal that activates it: the session knows `part -> formula` for each of its elements, at the start and
//! at every step and state of an unrolled path. A question assumes the literals of the parts that are kept, so one session
//! answers about as many relaxations as one likes, and the core of a refutation says which parts it used. A path that is asked for a first
//! proof has a literal for every law instead, so that its refutations say which laws they used, and it is told of laws only as these
//! seem to be needed ([`crate::cone`]).
//!
//! The location is the symbol `@node`, copied for each step like any variable. Step `i` has a literal of its own that demands
//! a step there; without it nothing is said of the step, so that short paths are not restricted by what follows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_smt::{
    Answer, CoreSession, Limits, Literal, Placement, SessionConfig, Solver, Solvers, StepSymbol, Template,
};
use gander_system::{ElementId, System};
use gander_term::{Features, Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cone::{Centre, Cone};
use crate::first::Shown;
use crate::laws::{Law, Laws, Owner, When, local};
use crate::parts::Parts;
use crate::set::PartSet;

/// Where a path begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum From {
    /// In a start state.
    Start,
    /// Anywhere.
    Anywhere,
}

/// A formula over one state, known to the session once it is asked about.
pub(crate) struct Watched {
    pub term: TermId,
    template: Option<Template>,
    at: Vec<Literal>,
}

/// A watched formula.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct WatchId(pub usize);

/// What a refuted question rests on.
#[derive(Clone, Debug)]
pub(crate) struct Grounds {
    pub parts: PartSet,
    /// Laws, by their position.
    pub laws: PartSet,
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

/// Which laws a path knows of when it is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sight {
    /// All that it may know.
    Whole,
    /// Those that it was told: what it refutes is refuted, but the paths that it finds may break others.
    Told,
}

/// What has a literal of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Detail {
    /// Every law: refutations tell which they use.
    Laws,
    /// Every part: questions are shorter.
    Parts,
}

/// Whom a literal activates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Actor {
    Law(usize),
    Part(usize),
}

/// The unrolled path; see the module's documentation.
pub(crate) struct Path {
    pub system: Arc<System>,
    pub pool: Pool,
    laws: Arc<Laws>,
    solvers: Arc<Solvers>,
    solver: Solver,
    features: Features,
    cancellation: Cancellation,
    session: CoreSession,
    /// A session that a narrower path had, for the next one.
    spare: Option<CoreSession>,
    placement: Arc<FxHashMap<SymbolId, Placement>>,
    /// The parts and the laws that it may know.
    pub available: PartSet,
    allowed: PartSet,
    pub sight: Sight,
    detail: Detail,
    literals: FxHashMap<Actor, Literal>,
    actors: FxHashMap<Literal, Actor>,
    /// By law: its text, and whether the solver was told.
    templates: Vec<Option<Template>>,
    is_told: Vec<bool>,
    told: Vec<u32>,
    from_start: Option<Literal>,
    step_here: Vec<Literal>,
    watched: Vec<Watched>,
    known: FxHashMap<TermId, WatchId>,
    goals: FxHashMap<(Vec<WatchId>, u32), Literal>,
    /// Why watched formulas hold in the whole system, and how many rings around their cones that took.
    pub shown: Shown,
    pub rings: u32,
    /// No question is asked behind this time.
    pub deadline: Option<Instant>,
    /// What one question may take.
    pub patience: Option<Duration>,
    /// How many questions were asked.
    pub questions: u64,
    /// How many of them got no answer.
    pub unanswered: u64,
}

/// What a path is made of.
struct Making {
    available: PartSet,
    allowed: PartSet,
    solver: Solver,
    session: Option<CoreSession>,
    pool: Pool,
}

impl Path {
    /// The path of length zero; `about` are formulas that will be watched, so that a solver is chosen that knows them.
    pub(crate) fn new(
        system: &Arc<System>,
        parts: &Parts,
        solvers: &Arc<Solvers>,
        cancellation: Cancellation,
        about: &[TermId],
        mut pool: Pool,
    ) -> Result<Path, String> {
        let laws = Laws::of(system, parts, &mut pool);
        let mut placement = FxHashMap::default();
        let mut here = |s: SymbolId| {
            placement.insert(s, Placement::At { symbol: s, offset: 0 });
        };
        system.vars.iter().for_each(|v| here(v.current));
        here(system.location);
        laws.begins.iter().chain(&laws.takes).for_each(|&s| here(s));
        for t in &system.transitions {
            t.params.iter().for_each(|p| here(p.symbol));
        }
        for v in &system.vars {
            placement.insert(v.next, Placement::At { symbol: v.current, offset: 1 });
        }
        placement.insert(laws.next_node, Placement::At { symbol: system.location, offset: 1 });
        let mut all = laws.terms();
        all.extend(about);
        let features = pool.features(&all);
        let solver = solvers.choose(features).ok_or("no solver for such formulas was found")?.clone();
        let session = solvers
            .core_session(&solver, SessionConfig { cancellation: cancellation.clone(), ..SessionConfig::default() });
        let mut path = Path {
            system: Arc::clone(system),
            pool,
            available: PartSet::all(parts.len()),
            allowed: PartSet::all(laws.list.len()),
            sight: Sight::Whole,
            detail: Detail::Laws,
            templates: (0..laws.list.len()).map(|_| None).collect(),
            is_told: vec![false; laws.list.len()],
            laws: Arc::new(laws),
            solvers: Arc::clone(solvers),
            solver,
            features,
            cancellation,
            session,
            spare: None,
            placement: Arc::new(placement),
            literals: FxHashMap::default(),
            actors: FxHashMap::default(),
            told: Vec::new(),
            from_start: None,
            step_here: Vec::new(),
            watched: Vec::new(),
            known: FxHashMap::default(),
            goals: FxHashMap::default(),
            shown: Shown::default(),
            rings: 0,
            deadline: None,
            patience: None,
            questions: 0,
            unanswered: 0,
        };
        path.begin();
        Ok(path)
    }

    /// A path that knows only some of the parts, with the same watched formulas: its questions are about sets of these, and
    /// smaller. It has the pool until it is given back ([`Path::absorb`]).
    pub(crate) fn narrowed(&mut self, available: &PartSet) -> Path {
        let allowed = self.allowed.clone();
        self.narrowed_to(available, &allowed)
    }

    /// [`Path::narrowed`] that knows only some of the laws too: what it finds may be no path of the system.
    pub(crate) fn narrowed_to(&mut self, available: &PartSet, laws: &PartSet) -> Path {
        let mut session = self.spare.take();
        if let Some(session) = &mut session {
            session.reset();
        }
        let pool = std::mem::replace(&mut self.pool, Pool::new());
        let allowed = self.laws_of(available, laws);
        let solver = self.solver.clone();
        self.made(Making { available: available.clone(), allowed, solver, session, pool })
    }

    /// The same path with a solver of its own, for another worker.
    pub(crate) fn doubled(&self) -> Path {
        self.with_solver(self.solver.clone())
    }

    /// The same path with another solver; none if there is no other for such formulas.
    pub(crate) fn elsewhere(&self) -> Option<Path> {
        let able = |s: &&Solver| s.name != self.solver.name && s.supports(self.features);
        let solver = self.solvers.all().into_iter().find(able)?.clone();
        Some(self.with_solver(solver))
    }

    fn with_solver(&self, solver: Solver) -> Path {
        let (available, allowed) = (self.available.clone(), self.allowed.clone());
        self.made(Making { available, allowed, solver, session: None, pool: self.pool.clone() })
    }

    /// Those of the laws that it may know and that belong to these parts, or to none.
    fn laws_of(&self, parts: &PartSet, laws: &PartSet) -> PartSet {
        let is_one = |i: usize| match self.laws.list[i].owner {
            Owner::Part(p) => parts.has(p) && laws.has(i),
            Owner::NoPart => laws.has(i),
            Owner::Graph => true,
        };
        PartSet::of(laws.universe(), self.allowed.iter().filter(|&i| is_one(i)))
    }

    /// True if its solver is one for these formulas too, and has answered all questions.
    pub(crate) fn understands(&self, pool: &Pool, about: &[TermId]) -> bool {
        self.features.join(pool.features(about)) == self.features && self.unanswered == 0
    }

    /// True if it knows all parts, and its solver is alive.
    pub(crate) fn is_whole(&self) -> bool {
        self.allowed.len() == self.allowed.universe() && self.session.failure().is_none()
    }

    fn made(&self, making: Making) -> Path {
        let Making { available, allowed, solver, session, pool } = making;
        let config = || SessionConfig { cancellation: self.cancellation.clone(), ..SessionConfig::default() };
        let session = session.unwrap_or_else(|| self.solvers.core_session(&solver, config()));
        let watched = |w: &Watched| Watched { term: w.term, template: None, at: Vec::new() };
        let mut path = Path {
            system: Arc::clone(&self.system),
            pool,
            laws: Arc::clone(&self.laws),
            solvers: Arc::clone(&self.solvers),
            solver,
            features: self.features,
            cancellation: self.cancellation.clone(),
            session,
            spare: None,
            placement: Arc::clone(&self.placement),
            available,
            allowed,
            sight: Sight::Whole,
            detail: Detail::Parts,
            literals: FxHashMap::default(),
            actors: FxHashMap::default(),
            templates: (0..self.laws.list.len()).map(|_| None).collect(),
            is_told: vec![false; self.laws.list.len()],
            told: Vec::new(),
            from_start: None,
            step_here: Vec::new(),
            watched: self.watched.iter().map(watched).collect(),
            known: self.known.clone(),
            goals: FxHashMap::default(),
            shown: Shown::default(),
            rings: 0,
            deadline: self.deadline,
            patience: self.patience,
            questions: 0,
            unanswered: 0,
        };
        path.begin();
        path
    }

    /// Takes over what was watched in a path that was narrowed from this one and not changed since.
    pub(crate) fn absorb(&mut self, narrowed: Path) {
        self.questions += narrowed.questions;
        self.pool = narrowed.pool;
        self.known = narrowed.known;
        let new = narrowed.watched.into_iter().skip(self.watched.len());
        self.watched.extend(new.map(|w| Watched { term: w.term, template: None, at: Vec::new() }));
        if narrowed.session.failure().is_none() && narrowed.solver.name == self.solver.name {
            self.spare = Some(narrowed.session);
        }
    }

    /// Says what every path fulfils.
    fn begin(&mut self) {
        let (laws, placement) = (Arc::clone(&self.laws), Arc::clone(&self.placement));
        let of = |s: SymbolId| placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let some_start = self.session.compile(&self.pool, laws.some_start, &of);
        let from_start = self.session.literal();
        self.session.assert_if_at(&self.pool, from_start, &some_start, 0);
        self.from_start = Some(from_start);
        let graph = (0..laws.list.len()).filter(|&i| laws.list[i].owner == Owner::Graph);
        graph.for_each(|i| self.tell(i));
    }

    /// The elements that these laws are.
    pub(crate) fn elements(&self, laws: &PartSet) -> FxHashSet<ElementId> {
        laws.iter().filter_map(|i| self.laws.list[i].element).collect()
    }

    /// How many of the laws it may know belong to these parts, or to none.
    pub(crate) fn size_of(&self, parts: &PartSet, laws: &PartSet) -> usize {
        self.laws_of(parts, laws).len()
    }

    /// How many laws it was told, or will be when it is next asked.
    pub(crate) fn size(&self) -> usize {
        match self.sight {
            Sight::Whole => self.allowed.len(),
            Sight::Told => self.told.len(),
        }
    }

    /// No law, out of all.
    pub(crate) fn no_laws(&self) -> PartSet {
        PartSet::none(self.allowed.universe())
    }

    /// Tells the solver the laws in the cone of formulas and so many rings around it; gives those among the lemmas that belong to it.
    pub(crate) fn tell_cone(&mut self, goal: &[WatchId], steps: u32, lemmas: &[WatchId], rings: u32) -> Vec<WatchId> {
        let cone = self.cone(goal, steps, lemmas, rings);
        cone.laws.into_iter().for_each(|i| self.tell(i as usize));
        cone.lemmas.into_iter().map(|i| lemmas[i]).collect()
    }

    fn cone(&self, goal: &[WatchId], steps: u32, lemmas: &[WatchId], rings: u32) -> Cone {
        let terms = |list: &[WatchId]| list.iter().map(|&w| self.formula(w)).collect::<Vec<_>>();
        let (goal, lemmas) = (terms(goal), terms(lemmas));
        Cone::around(&self.laws, &self.pool, &Centre { goal: &goal, steps, lemmas: &lemmas, rings })
    }

    /// Tells the solver a law, if that is not done and the path may know it.
    fn tell(&mut self, law: usize) {
        if self.is_told[law] || !self.allowed.has(law) {
            return;
        }
        self.is_told[law] = true;
        self.told.push(law as u32);
        let steps = self.step_here.len() as u32;
        match self.laws.list[law].when {
            When::First => self.demand(law, 0),
            When::State => (0..=steps).for_each(|i| self.demand(law, i)),
            When::Step => (0..steps).for_each(|i| self.demand(law, i)),
        }
    }

    /// Tells the solver all laws that it may know.
    pub(crate) fn tell_all(&mut self) {
        if self.told.len() < self.allowed.len() {
            (0..self.laws.list.len()).for_each(|i| self.tell(i));
        }
    }

    /// Begins again with a literal for each part instead of each law.
    fn leave_laws_to_parts(&mut self) {
        if self.detail == Detail::Laws {
            self.detail = Detail::Parts;
            self.session.reset();
            self.say_again();
        }
    }

    /// Says what a law demands at a step.
    fn demand(&mut self, law: usize, step: u32) {
        let laws = Arc::clone(&self.laws);
        let template = match self.templates[law].take() {
            Some(template) => template,
            None => {
                let of = |s: SymbolId| self.placement.get(&s).copied().unwrap_or(Placement::Rigid);
                self.session.compile(&self.pool, laws.list[law].term, &of)
            }
        };
        let actor = match (laws.list[law].owner, self.detail) {
            (Owner::Graph, _) | (Owner::NoPart, Detail::Parts) => None,
            (Owner::Part(p), Detail::Parts) => Some(Actor::Part(p)),
            (Owner::Part(_) | Owner::NoPart, Detail::Laws) => Some(Actor::Law(law)),
        };
        match actor {
            None => self.session.assert_at(&self.pool, &template, step),
            Some(actor) => {
                let literal = match self.literals.get(&actor) {
                    Some(&literal) => literal,
                    None => {
                        let literal = self.session.literal();
                        self.literals.insert(actor, literal);
                        self.actors.insert(literal, actor);
                        literal
                    }
                };
                self.session.assert_if_at(&self.pool, literal, &template, step);
            }
        }
        self.templates[law] = Some(template);
    }

    /// Makes the path at least so long.
    fn unroll(&mut self, steps: u32) {
        while (self.step_here.len() as u32) < steps {
            let i = self.step_here.len() as u32;
            let literal = self.session.literal();
            let (laws, placement) = (Arc::clone(&self.laws), Arc::clone(&self.placement));
            let of = |s: SymbolId| placement.get(&s).copied().unwrap_or(Placement::Rigid);
            let some_step = self.session.compile(&self.pool, laws.some_step, &of);
            self.session.assert_if_at(&self.pool, literal, &some_step, i);
            self.step_here.push(literal);
            for law in self.told.clone() {
                match laws.list[law as usize].when {
                    When::First => {}
                    When::State => self.demand(law as usize, i + 1),
                    When::Step => self.demand(law as usize, i),
                }
            }
        }
    }

    /// Watches a formula over one state.
    pub(crate) fn watch(&mut self, term: TermId) -> WatchId {
        if let Some(&id) = self.known.get(&term) {
            return id;
        }
        let here = local(&self.system, &mut self.pool, term);
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
        if self.sight == Sight::Whole {
            self.leave_laws_to_parts();
            self.tell_all();
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
        match self.detail {
            Detail::Parts => {
                assumptions.extend(wanted.kept.iter().filter_map(|p| self.literals.get(&Actor::Part(p))));
            }
            Detail::Laws => {
                let applies = |when: When| match when {
                    When::First => wanted.from == From::Start,
                    When::State => true,
                    When::Step => wanted.steps > 0,
                };
                let kept = |law: usize| match &self.laws.list[law] {
                    law if !applies(law.when) => false,
                    Law { owner: Owner::Part(p), .. } => wanted.kept.has(*p),
                    _ => true,
                };
                let told = self.told.iter().map(|&law| law as usize).filter(|&law| kept(law));
                assumptions.extend(told.filter_map(|law| self.literals.get(&Actor::Law(law))));
            }
        }
        self.questions += 1;
        let limits = self.limits();
        let answer = self.session.check(&assumptions, limits);
        match answer {
            Answer::Sat => Found::Path,
            Answer::Unknown(_) => {
                self.unanswered += 1;
                self.recover();
                Found::Unknown
            }
            Answer::Unsat => match self.session.core(limits) {
                Ok(core) => {
                    let mut parts = PartSet::none(self.available.universe());
                    let mut laws = PartSet::none(self.allowed.universe());
                    let mut watched = Vec::new();
                    for literal in core {
                        match self.actors.get(&literal) {
                            Some(&Actor::Part(p)) => parts.insert(p),
                            Some(&Actor::Law(law)) => {
                                laws.insert(law);
                                if let Owner::Part(p) = self.laws.list[law].owner {
                                    parts.insert(p);
                                }
                            }
                            None => watched.extend(meaning.get(&literal).filter(|w| !watched.contains(*w)).copied()),
                        }
                    }
                    if self.detail == Detail::Parts {
                        laws = self.laws_of(&parts, &self.allowed);
                    }
                    Found::None(Grounds { parts, laws, watched })
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
            self.say_again();
        }
    }

    /// Says everything again to a solver that knows nothing.
    fn say_again(&mut self) {
        self.step_here.clear();
        self.goals.clear();
        self.literals.clear();
        self.actors.clear();
        self.watched.iter_mut().for_each(|w| w.at.clear());
        let told = std::mem::take(&mut self.told);
        self.is_told.fill(false);
        self.begin();
        told.into_iter().for_each(|law| self.tell(law as usize));
    }

    /// The values of a path that was found.
    pub(crate) fn values(&mut self, steps: u32) -> Result<Values, String> {
        let mut symbols = Vec::new();
        for i in 0..=steps {
            symbols.extend(self.system.vars.iter().map(|v| StepSymbol::at(v.current, i)));
            symbols.push(StepSymbol::at(self.system.location, i));
        }
        for i in 0..steps {
            symbols.extend(self.laws.takes.iter().map(|&t| StepSymbol::at(t, i)));
            for t in &self.system.transitions {
                symbols.extend(t.params.iter().map(|p| StepSymbol::at(p.symbol, i)));
            }
        }
        symbols.extend(self.laws.begins.iter().map(|&s| StepSymbol::at(s, 0)));
        let limits = self.limits();
        let values = self.session.values(&self.pool, &symbols, limits).map_err(|r| r.to_string())?;
        let values = symbols.into_iter().zip(values).collect();
        Ok(Values { values, starts: self.laws.begins.clone(), takes: self.laws.takes.clone() })
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
