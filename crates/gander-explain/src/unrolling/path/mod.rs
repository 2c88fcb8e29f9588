//! Paths of a system and of all its relaxations, in one solver session.
//!
//! Every part has an activation literal: the session contains `part -> formula` for each of its
//! elements, at the start and at every step and state of the unrolled path. A query assumes the
//! literals of the kept parts, so one session answers queries about all relaxations, and the
//! unsatisfiable core names the parts used. While the first proof is reduced, every constraint has
//! its own literal instead, and constraints are asserted only when they seem to be needed
//! ([`crate::unrolling::cone`]).
//!
//! The location is the symbol `@node`, copied for each step like any variable. Step `i` has a
//! literal that requires a step there. Without it the step is unconstrained, so the unrolling does
//! not restrict shorter paths.

mod query;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_smt::{CoreSession, Literal, Placement, SessionConfig, Solver, Solvers, Template};
use gander_system::{ElementId, System};
use gander_term::{Features, Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::parts::Parts;
use crate::parts::set::PartSet;
use crate::proof::first::KnownGrounds;
use crate::unrolling::cone::{Centre, Cone};
use crate::unrolling::constraints::{Constraints, Owner, When, local};

pub(crate) use query::{From, Grounds, PathAnswer, PathQuery, Values};

/// A formula over one state. The session gets its literals when a query first uses it.
pub(crate) struct Watched {
    pub term: TermId,
    template: Option<Template>,
    at: Vec<Literal>,
}

/// Identifies a watched formula.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct WatchId(pub usize);

/// Which constraints are asserted before a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Encoding {
    /// All allowed ones.
    Full,
    /// Only those asserted so far: refutations are valid, but a path that is found may violate
    /// other constraints.
    Partial,
}

/// What has an activation literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Activation {
    /// Every constraint: refutations name the constraints they use.
    PerConstraint,
    /// Every part: queries have fewer assumptions.
    PerPart,
}

/// What a literal activates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Activated {
    Constraint(usize),
    Part(usize),
}

/// The unrolled path; see the module documentation.
pub(crate) struct Path {
    pub system: Arc<System>,
    pub pool: Pool,
    constraints: Arc<Constraints>,
    solvers: Arc<Solvers>,
    solver: Solver,
    features: Features,
    cancellation: Cancellation,
    session: CoreSession,
    /// The session of an absorbed narrower path, for reuse by the next one.
    spare: Option<CoreSession>,
    placement: Arc<FxHashMap<SymbolId, Placement>>,
    /// The parts and constraints that may be asserted.
    pub available: PartSet,
    allowed: PartSet,
    pub encoding: Encoding,
    activation: Activation,
    literals: FxHashMap<Activated, Literal>,
    activated: FxHashMap<Literal, Activated>,
    /// By constraint: its compiled formula, and whether it is asserted.
    templates: Vec<Option<Template>>,
    is_asserted: Vec<bool>,
    asserted: Vec<u32>,
    from_start: Option<Literal>,
    step_literals: Vec<Literal>,
    watched: Vec<Watched>,
    known: FxHashMap<TermId, WatchId>,
    goals: FxHashMap<(Vec<WatchId>, u32), Literal>,
    /// Grounds for watched formulas in the whole system, and the number of rings that the last of
    /// them needed.
    pub known_grounds: KnownGrounds,
    pub rings: u32,
    /// No query starts after this time.
    pub deadline: Option<Instant>,
    /// Time limit of one query.
    pub query_timeout: Option<Duration>,
    /// Number of queries.
    pub queries: u64,
    /// Number of queries that the solver did not decide.
    pub unanswered: u64,
}

/// What distinguishes a derived path from its original.
struct PathSpec {
    available: PartSet,
    allowed: PartSet,
    solver: Solver,
    session: Option<CoreSession>,
    pool: Pool,
}

impl Path {
    /// A path of length zero. The solver is chosen to support the formulas in `about`, which will
    /// be watched.
    pub(crate) fn new(
        system: &Arc<System>,
        parts: &Parts,
        solvers: &Arc<Solvers>,
        cancellation: Cancellation,
        about: &[TermId],
        mut pool: Pool,
    ) -> Result<Path, String> {
        let constraints = Constraints::of(system, parts, &mut pool);
        let mut placement = FxHashMap::default();
        let mut here = |s: SymbolId| {
            placement.insert(s, Placement::At { symbol: s, offset: 0 });
        };
        system.vars().iter().for_each(|v| here(v.current));
        here(system.location());
        constraints.begins.iter().chain(&constraints.takes).for_each(|&s| here(s));
        for t in system.transitions() {
            t.params.iter().for_each(|p| here(p.symbol));
        }
        for v in system.vars() {
            placement.insert(v.next, Placement::At { symbol: v.current, offset: 1 });
        }
        placement
            .insert(constraints.next_node, Placement::At { symbol: system.location(), offset: 1 });
        let mut all = constraints.terms();
        all.extend(about);
        let features = pool.features(&all);
        let solver =
            solvers.choose(features).ok_or("no solver for such formulas was found")?.clone();
        let session = solvers.core_session(
            &solver,
            SessionConfig { cancellation: cancellation.clone(), ..SessionConfig::default() },
        );
        let mut path = Path {
            system: Arc::clone(system),
            pool,
            available: PartSet::all(parts.len()),
            allowed: PartSet::all(constraints.list.len()),
            encoding: Encoding::Full,
            activation: Activation::PerConstraint,
            templates: (0..constraints.list.len()).map(|_| None).collect(),
            is_asserted: vec![false; constraints.list.len()],
            constraints: Arc::new(constraints),
            solvers: Arc::clone(solvers),
            solver,
            features,
            cancellation,
            session,
            spare: None,
            placement: Arc::new(placement),
            literals: FxHashMap::default(),
            activated: FxHashMap::default(),
            asserted: Vec::new(),
            from_start: None,
            step_literals: Vec::new(),
            watched: Vec::new(),
            known: FxHashMap::default(),
            goals: FxHashMap::default(),
            known_grounds: KnownGrounds::default(),
            rings: 0,
            deadline: None,
            query_timeout: None,
            queries: 0,
            unanswered: 0,
        };
        path.assert_base();
        Ok(path)
    }

    /// A path restricted to some of the parts, with the same watched formulas: its queries are
    /// smaller. It owns the pool until [`Path::absorb`].
    pub(crate) fn narrowed(&mut self, available: &PartSet) -> Path {
        let allowed = self.allowed.clone();
        self.narrowed_to(available, &allowed)
    }

    /// [`Path::narrowed`], also restricted to some constraints: paths that it finds may not be
    /// paths of the system.
    pub(crate) fn narrowed_to(&mut self, available: &PartSet, constraints: &PartSet) -> Path {
        let mut session = self.spare.take();
        if let Some(session) = &mut session {
            session.reset();
        }
        let pool = std::mem::replace(&mut self.pool, Pool::new());
        let allowed = self.constraints_of(available, constraints);
        let solver = self.solver.clone();
        self.derive(PathSpec { available: available.clone(), allowed, solver, session, pool })
    }

    /// The same path with its own solver session, for another worker.
    pub(crate) fn duplicate(&self) -> Path {
        self.with_solver(self.solver.clone())
    }

    /// The same path with a different solver; `None` if no other solver supports the formulas.
    pub(crate) fn with_other_solver(&self) -> Option<Path> {
        let able = |s: &&Solver| s.name != self.solver.name && s.supports(self.features);
        let solver = self.solvers.all().into_iter().find(able)?.clone();
        Some(self.with_solver(solver))
    }

    fn with_solver(&self, solver: Solver) -> Path {
        let (available, allowed) = (self.available.clone(), self.allowed.clone());
        self.derive(PathSpec { available, allowed, solver, session: None, pool: self.pool.clone() })
    }

    /// Those of the allowed constraints that belong to these parts, or to no part.
    fn constraints_of(&self, parts: &PartSet, constraints: &PartSet) -> PartSet {
        let is_one = |i: usize| match self.constraints.list[i].owner {
            Owner::Part(p) => parts.has(p) && constraints.has(i),
            Owner::NoPart => constraints.has(i),
            Owner::Graph => true,
        };
        PartSet::of(constraints.universe(), self.allowed.iter().filter(|&i| is_one(i)))
    }

    /// True if its solver supports these formulas too, and has decided every query.
    pub(crate) fn supports(&self, pool: &Pool, about: &[TermId]) -> bool {
        self.features.join(pool.features(about)) == self.features && self.unanswered == 0
    }

    /// True if all constraints are allowed and the session has not failed.
    pub(crate) fn is_whole(&self) -> bool {
        self.allowed.len() == self.allowed.universe() && self.session.failure().is_none()
    }

    fn derive(&self, spec: PathSpec) -> Path {
        let PathSpec { available, allowed, solver, session, pool } = spec;
        let config = || SessionConfig {
            cancellation: self.cancellation.clone(),
            ..SessionConfig::default()
        };
        let session = session.unwrap_or_else(|| self.solvers.core_session(&solver, config()));
        let watched = |w: &Watched| Watched { term: w.term, template: None, at: Vec::new() };
        let mut path = Path {
            system: Arc::clone(&self.system),
            pool,
            constraints: Arc::clone(&self.constraints),
            solvers: Arc::clone(&self.solvers),
            solver,
            features: self.features,
            cancellation: self.cancellation.clone(),
            session,
            spare: None,
            placement: Arc::clone(&self.placement),
            available,
            allowed,
            encoding: Encoding::Full,
            activation: Activation::PerPart,
            literals: FxHashMap::default(),
            activated: FxHashMap::default(),
            templates: (0..self.constraints.list.len()).map(|_| None).collect(),
            is_asserted: vec![false; self.constraints.list.len()],
            asserted: Vec::new(),
            from_start: None,
            step_literals: Vec::new(),
            watched: self.watched.iter().map(watched).collect(),
            known: self.known.clone(),
            goals: FxHashMap::default(),
            known_grounds: KnownGrounds::default(),
            rings: 0,
            deadline: self.deadline,
            query_timeout: self.query_timeout,
            queries: 0,
            unanswered: 0,
        };
        path.assert_base();
        path
    }

    /// Takes back the pool and the watched formulas of a path that was narrowed from this one. This
    /// path must not have changed meanwhile.
    pub(crate) fn absorb(&mut self, narrowed: Path) {
        self.queries += narrowed.queries;
        self.pool = narrowed.pool;
        self.known = narrowed.known;
        let new = narrowed.watched.into_iter().skip(self.watched.len());
        self.watched.extend(new.map(|w| Watched { term: w.term, template: None, at: Vec::new() }));
        if narrowed.session.failure().is_none() && narrowed.solver.name == self.solver.name {
            self.spare = Some(narrowed.session);
        }
    }

    /// Asserts what every path satisfies: some start, and the control graph.
    fn assert_base(&mut self) {
        let (constraints, placement) = (Arc::clone(&self.constraints), Arc::clone(&self.placement));
        let of = |s: SymbolId| placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let some_start = self.session.compile(&self.pool, constraints.some_start, &of);
        let from_start = self.session.literal();
        self.session.assert_if_at(&self.pool, from_start, &some_start, 0);
        self.from_start = Some(from_start);
        let graph =
            (0..constraints.list.len()).filter(|&i| constraints.list[i].owner == Owner::Graph);
        graph.for_each(|i| self.assert_constraint(i));
    }

    /// The elements behind these constraints.
    pub(crate) fn elements(&self, constraints: &PartSet) -> FxHashSet<ElementId> {
        constraints.iter().filter_map(|i| self.constraints.list[i].element).collect()
    }

    /// The number of allowed constraints that belong to these parts, or to no part.
    pub(crate) fn size_of(&self, parts: &PartSet, constraints: &PartSet) -> usize {
        self.constraints_of(parts, constraints).len()
    }

    /// The number of constraints in the next query.
    pub(crate) fn size(&self) -> usize {
        match self.encoding {
            Encoding::Full => self.allowed.len(),
            Encoding::Partial => self.asserted.len(),
        }
    }

    /// The empty set of constraints.
    pub(crate) fn no_constraints(&self) -> PartSet {
        PartSet::none(self.allowed.universe())
    }

    /// Asserts the constraints in the cone of the formulas and in the given number of rings.
    /// Returns the lemmas that belong to it.
    pub(crate) fn assert_cone(
        &mut self,
        goal: &[WatchId],
        steps: u32,
        lemmas: &[WatchId],
        rings: u32,
    ) -> Vec<WatchId> {
        let cone = self.cone(goal, steps, lemmas, rings);
        cone.constraints.into_iter().for_each(|i| self.assert_constraint(i as usize));
        cone.lemmas.into_iter().map(|i| lemmas[i]).collect()
    }

    fn cone(&self, goal: &[WatchId], steps: u32, lemmas: &[WatchId], rings: u32) -> Cone {
        let terms = |list: &[WatchId]| list.iter().map(|&w| self.formula(w)).collect::<Vec<_>>();
        let (goal, lemmas) = (terms(goal), terms(lemmas));
        Cone::around(
            &self.constraints,
            &self.pool,
            &Centre { goal: &goal, steps, lemmas: &lemmas, rings },
        )
    }

    /// Asserts a constraint, if it is allowed and not asserted yet.
    fn assert_constraint(&mut self, constraint: usize) {
        if self.is_asserted[constraint] || !self.allowed.has(constraint) {
            return;
        }
        self.is_asserted[constraint] = true;
        self.asserted.push(constraint as u32);
        let steps = self.step_literals.len() as u32;
        match self.constraints.list[constraint].when {
            When::First => self.assert_at_step(constraint, 0),
            When::State => (0..=steps).for_each(|i| self.assert_at_step(constraint, i)),
            When::Step => (0..steps).for_each(|i| self.assert_at_step(constraint, i)),
        }
    }

    /// Asserts all allowed constraints.
    pub(crate) fn assert_all(&mut self) {
        if self.asserted.len() < self.allowed.len() {
            (0..self.constraints.list.len()).for_each(|i| self.assert_constraint(i));
        }
    }

    /// Resets the session to one activation literal for each part.
    fn use_part_literals(&mut self) {
        if self.activation == Activation::PerConstraint {
            self.activation = Activation::PerPart;
            self.session.reset();
            self.reassert();
        }
    }

    /// Asserts a constraint at a step.
    fn assert_at_step(&mut self, constraint: usize, step: u32) {
        let constraints = Arc::clone(&self.constraints);
        let template = match self.templates[constraint].take() {
            Some(template) => template,
            None => {
                let of = |s: SymbolId| self.placement.get(&s).copied().unwrap_or(Placement::Rigid);
                self.session.compile(&self.pool, constraints.list[constraint].term, &of)
            }
        };
        let target = match (constraints.list[constraint].owner, self.activation) {
            (Owner::Graph, _) | (Owner::NoPart, Activation::PerPart) => None,
            (Owner::Part(p), Activation::PerPart) => Some(Activated::Part(p)),
            (Owner::Part(_) | Owner::NoPart, Activation::PerConstraint) => {
                Some(Activated::Constraint(constraint))
            }
        };
        match target {
            None => self.session.assert_at(&self.pool, &template, step),
            Some(target) => {
                let literal = match self.literals.get(&target) {
                    Some(&literal) => literal,
                    None => {
                        let literal = self.session.literal();
                        self.literals.insert(target, literal);
                        self.activated.insert(literal, target);
                        literal
                    }
                };
                self.session.assert_if_at(&self.pool, literal, &template, step);
            }
        }
        self.templates[constraint] = Some(template);
    }

    /// Unrolls the path to at least `steps` steps.
    fn unroll(&mut self, steps: u32) {
        while (self.step_literals.len() as u32) < steps {
            let i = self.step_literals.len() as u32;
            let literal = self.session.literal();
            let (constraints, placement) =
                (Arc::clone(&self.constraints), Arc::clone(&self.placement));
            let of = |s: SymbolId| placement.get(&s).copied().unwrap_or(Placement::Rigid);
            let some_step = self.session.compile(&self.pool, constraints.some_step, &of);
            self.session.assert_if_at(&self.pool, literal, &some_step, i);
            self.step_literals.push(literal);
            for constraint in self.asserted.clone() {
                match constraints.list[constraint as usize].when {
                    When::First => {}
                    When::State => self.assert_at_step(constraint as usize, i + 1),
                    When::Step => self.assert_at_step(constraint as usize, i),
                }
            }
        }
    }

    /// Registers a formula over one state.
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

    /// The formula with this id.
    pub(crate) fn formula(&self, id: WatchId) -> TermId {
        self.watched[id.0].term
    }

    /// Restarts a failed session and asserts everything again.
    fn recover(&mut self) {
        if self.session.failure().is_some() {
            self.session.restart();
            self.reassert();
        }
    }

    /// Asserts everything again in an empty session.
    fn reassert(&mut self) {
        self.step_literals.clear();
        self.goals.clear();
        self.literals.clear();
        self.activated.clear();
        self.watched.iter_mut().for_each(|w| w.at.clear());
        let asserted = std::mem::take(&mut self.asserted);
        self.is_asserted.fill(false);
        self.assert_base();
        asserted.into_iter().for_each(|constraint| self.assert_constraint(constraint as usize));
    }
}
