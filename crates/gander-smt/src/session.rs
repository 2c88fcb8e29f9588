//! Sessions: an incremental conversation about terms.
//!
//! Symbols, enumerations and definitions are declared when first used. What is declared or asserted after a
//! [`Session::push`] is gone after its [`Session::pop`]. Failures while asserting are kept and given as the answer to
//! the next query, so that callers look in one place.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use gander_term::{EnumId, Features, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashSet;

use gander_runtime::Cancellation;

use crate::answer::Reason;
use crate::conversation::{Conversation, Habit, Home, Shelf};
use crate::dialect::{EnumStyle, Solver, SolverKind};
use crate::names;
use crate::print;
use crate::process::{Owner, Process, ProcessLimits, SolverProcesses};
use crate::template::{Placement, Template};

static SESSIONS: AtomicU64 = AtomicU64::new(0);

/// How a session is set up.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// Bytes of memory that the solver may use.
    pub memory: Option<u64>,
    /// Bytes that the solver may print for one query.
    pub output_limit: usize,
    /// Seed for the solver's choices.
    pub seed: Option<u32>,
    /// Ends the solver when it is cancelled.
    pub cancellation: Cancellation,
    /// Counts the solver with others of the same user.
    pub processes: SolverProcesses,
}

impl Default for SessionConfig {
    fn default() -> SessionConfig {
        SessionConfig {
            memory: None,
            output_limit: 64 << 20,
            seed: None,
            cancellation: Cancellation::new(),
            processes: SolverProcesses::default(),
        }
    }
}

impl SessionConfig {
    pub(crate) fn owner(&self) -> Owner {
        Owner { cancellation: self.cancellation.clone(), processes: self.processes.clone() }
    }
}

/// Whether a solver is told that it will be asked for cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cores {
    Kept,
    NotKept,
}

/// A truth variable of a session, or its negation: an assumption of [`Session::check`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Literal {
    pub(crate) number: u32,
    pub(crate) positive: bool,
}

impl Literal {
    pub(crate) fn push_to(self, out: &mut String) {
        use std::fmt::Write as _;
        let _ = if self.positive { write!(out, "a{}@!", self.number) } else { write!(out, "(not a{}@!)", self.number) };
    }
}

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal { positive: !self.positive, ..self }
    }
}

/// A symbol, or its copy at a step, whose value a model is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StepSymbol {
    /// The symbol.
    pub symbol: SymbolId,
    /// The step; `None` for the rigid symbol.
    pub step: Option<u32>,
}

impl StepSymbol {
    /// The symbol itself.
    pub fn rigid(symbol: SymbolId) -> StepSymbol {
        StepSymbol { symbol, step: None }
    }

    /// The copy at a step.
    pub fn at(symbol: SymbolId, step: u32) -> StepSymbol {
        StepSymbol { symbol, step: Some(step) }
    }
}

const DEAD_LITERAL: &str = "a literal whose scope was left";

/// What is said to a solver first: options and logic.
pub(crate) fn introduction(solver: &Solver, cores: Cores, seed: Option<u32>) -> String {
    let mut out = String::from("(set-option :print-success false)\n(set-option :produce-models true)\n");
    if cores == Cores::Kept {
        out.push_str("(set-option :produce-unsat-assumptions true)\n");
    }
    if let Some(seed) = seed {
        out.push_str(&format!("(set-option :random-seed {seed})\n"));
    }
    if let Some(logic) = solver.logic() {
        out.push_str(&format!("(set-logic {logic})\n"));
    }
    out
}

/// What the last query gave, as long as nothing was said since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    Nothing,
    Sat,
    Unsat(Vec<Literal>),
}

/// What a scope brought, to be taken back by `pop`.
#[derive(Debug, Default)]
struct Scope {
    symbols: Vec<StepSymbol>,
    enums: Vec<EnumId>,
    literals: Vec<Literal>,
    reals: usize,
    powers: usize,
    unsupported: usize,
    features: Features,
}

/// An incremental conversation with one solver process; see the module's documentation.
///
/// All terms that a session sees must come from one pool and its forks' common line: ids of sibling forks mean
/// different things.
pub struct Session {
    pub(crate) talk: Conversation,
    pub(crate) solver: Solver,
    config: SessionConfig,
    cores: Cores,
    id: u64,
    templates: u32,
    instances: u64,
    literals: u32,
    scopes: Vec<Scope>,
    declared: FxHashSet<StepSymbol>,
    enums: FxHashSet<EnumId>,
    live_literals: FxHashSet<Literal>,
    /// Names of declared real symbols: those that could turn out irrational.
    pub(crate) reals: Vec<String>,
    /// Conditions under which a power is beyond what was written out.
    pub(crate) powers: Vec<String>,
    pub(crate) unsupported: Vec<String>,
    pub(crate) features: Features,
    pub(crate) last: Last,
    /// Scopes of our own around the last model, to be left before anything else is said.
    pub(crate) repairs: u32,
    /// The time limit, in milliseconds, that the solver was told.
    pub(crate) soft_limit: Option<u32>,
    /// A question was sent whose answer was not read yet.
    pub(crate) begun: bool,
}

impl Session {
    /// Starts a solver. If that fails, the first query tells.
    pub fn start(solver: &Solver, config: SessionConfig) -> Session {
        Session::with(solver, config, Cores::NotKept, None)
    }

    /// [`Session::start`], with a process that is ready if there is one.
    pub(crate) fn with(solver: &Solver, config: SessionConfig, cores: Cores, ready: Option<Process>) -> Session {
        let limits = ProcessLimits { memory: config.memory, output: config.output_limit };
        let talk = Conversation::start(solver, limits, config.owner(), ready);
        let mut session = Session::of(talk, solver, config, cores);
        session.introduce();
        session.talk.skip_what_was_said();
        session
    }

    /// [`Session::start`] with a process that may have served another session, and will serve others afterwards.
    pub(crate) fn shelved(solver: &Solver, config: SessionConfig, cores: Cores, shelf: Shelf) -> Session {
        let limits = ProcessLimits { memory: None, output: config.output_limit };
        let habit = if cores == Cores::Kept { Habit::Cores } else { Habit::Plain };
        let home = Home { shelf, solver: solver.clone(), habit };
        let (talk, again) = Conversation::at_home(home, limits, config.owner());
        let mut session = Session::of(talk, solver, config, cores);
        session.introduce();
        if again && solver.kind == SolverKind::Z3 {
            // Z3 keeps its limit over a reset.
            session.tell_soft_limit(None);
        }
        session
    }

    fn of(talk: Conversation, solver: &Solver, config: SessionConfig, cores: Cores) -> Session {
        Session {
            talk,
            solver: solver.clone(),
            config,
            cores,
            id: SESSIONS.fetch_add(1, Ordering::Relaxed),
            templates: 0,
            instances: 0,
            literals: 0,
            scopes: Vec::new(),
            declared: FxHashSet::default(),
            enums: FxHashSet::default(),
            live_literals: FxHashSet::default(),
            reals: Vec::new(),
            powers: Vec::new(),
            unsupported: Vec::new(),
            features: Features::default(),
            last: Last::Nothing,
            repairs: 0,
            soft_limit: None,
            begun: false,
        }
    }

    /// Records the conversation as a file that the solver can be given again; answers are comments.
    ///
    /// To be called before anything is asserted.
    pub fn set_log(&mut self, log: Box<dyn Write + Send>) {
        self.talk.set_log(log);
    }

    /// The solver that is asked.
    pub fn solver(&self) -> &Solver {
        &self.solver
    }

    /// The number of the solver's process.
    pub fn process_id(&self) -> Option<u32> {
        self.talk.process_id()
    }

    /// Why the session is dead, if it is: nothing but [`Session::restart`] helps then.
    pub fn failure(&self) -> Option<&Reason> {
        self.talk.failure()
    }

    /// Forgets everything but compiled templates, with a fresh process.
    pub fn restart(&mut self) {
        self.forget();
        self.talk.restart(&self.solver);
        self.talk.log_reset();
        self.introduce();
    }

    /// Forgets everything but compiled templates; keeps the process if it is well.
    pub fn reset(&mut self) {
        if self.talk.failure().is_some() || self.begun {
            return self.restart();
        }
        let limited = self.soft_limit.is_some();
        self.forget();
        self.talk.commands().push_str("(reset)\n");
        self.introduce();
        if limited {
            // Z3 keeps its limit over a reset.
            self.tell_soft_limit(None);
        }
    }

    fn forget(&mut self) {
        self.scopes.clear();
        self.declared.clear();
        self.enums.clear();
        self.live_literals.clear();
        self.reals.clear();
        self.powers.clear();
        self.unsupported.clear();
        self.features = Features::default();
        self.last = Last::Nothing;
        self.repairs = 0;
        self.soft_limit = None;
        self.begun = false;
    }

    /// Options and logic.
    fn introduce(&mut self) {
        let text = introduction(&self.solver, self.cores, self.config.seed);
        self.talk.commands().push_str(&text);
    }

    /// Something is about to be said: the last model is gone.
    pub(crate) fn speak(&mut self) {
        if self.repairs > 0 {
            let pops = self.repairs;
            self.repairs = 0;
            self.talk.commands().push_str(&format!("(pop {pops})\n"));
        }
        self.last = Last::Nothing;
    }

    /// Compiles a formula to be instantiated at steps; `placement` says which symbols stand where.
    pub fn compile(&mut self, pool: &Pool, term: TermId, placement: &dyn Fn(SymbolId) -> Placement) -> Template {
        self.templates += 1;
        print::compile(pool, &self.solver, term, placement, (self.id, self.templates))
    }

    /// Asserts a formula over rigid symbols.
    pub fn assert(&mut self, pool: &Pool, formula: TermId) {
        let template = self.compile(pool, formula, &|_| Placement::Rigid);
        self.assert_at(pool, &template, 0);
    }

    /// Asserts an instance.
    pub fn assert_at(&mut self, pool: &Pool, template: &Template, step: u32) {
        if let Some(instance) = self.instantiate(pool, template, step) {
            let out = self.talk.commands();
            out.push_str("(assert ");
            template.root.fill(out, step, instance);
            out.push_str(")\n");
            self.talk.send_large();
        }
    }

    /// A fresh truth variable, usually to activate assertions.
    pub fn literal(&mut self) -> Literal {
        self.speak();
        self.literals += 1;
        let literal = Literal { number: self.literals, positive: true };
        self.live_literals.insert(literal);
        if let Some(scope) = self.scopes.last_mut() {
            scope.literals.push(literal);
        }
        let out = self.talk.commands();
        out.push_str("(declare-fun ");
        literal.push_to(out);
        out.push_str(" () Bool)\n");
        literal
    }

    /// Asserts that `literal` implies a formula over rigid symbols.
    pub fn assert_if(&mut self, pool: &Pool, literal: Literal, formula: TermId) {
        let template = self.compile(pool, formula, &|_| Placement::Rigid);
        self.assert_if_at(pool, literal, &template, 0);
    }

    /// Asserts that `literal` implies an instance.
    pub fn assert_if_at(&mut self, pool: &Pool, literal: Literal, template: &Template, step: u32) {
        self.relate("=>", pool, literal, template, step);
    }

    /// A literal that is true exactly if a formula over rigid symbols is.
    pub fn literal_for(&mut self, pool: &Pool, formula: TermId) -> Literal {
        let template = self.compile(pool, formula, &|_| Placement::Rigid);
        self.literal_at(pool, &template, 0)
    }

    /// A literal that is true exactly if an instance is.
    pub fn literal_at(&mut self, pool: &Pool, template: &Template, step: u32) -> Literal {
        let literal = self.literal();
        self.relate("=", pool, literal, template, step);
        literal
    }

    /// Asserts that at least one of the literals is true.
    pub fn assert_clause(&mut self, literals: &[Literal]) {
        self.speak();
        if literals.iter().any(|&l| !self.is_live(l)) {
            self.unsupported.push(DEAD_LITERAL.into());
            return;
        }
        let out = self.talk.commands();
        out.push_str("(assert (or false");
        for literal in literals {
            out.push(' ');
            literal.push_to(out);
        }
        out.push_str("))\n");
    }

    fn relate(&mut self, relation: &str, pool: &Pool, literal: Literal, template: &Template, step: u32) {
        if !self.is_live(literal) {
            self.unsupported.push(DEAD_LITERAL.into());
        } else if let Some(instance) = self.instantiate(pool, template, step) {
            let out = self.talk.commands();
            out.push_str("(assert (");
            out.push_str(relation);
            out.push(' ');
            literal.push_to(out);
            out.push(' ');
            template.root.fill(out, step, instance);
            out.push_str("))\n");
            self.talk.send_large();
        }
    }

    pub(crate) fn is_live(&self, literal: Literal) -> bool {
        self.live_literals.contains(&Literal { positive: true, ..literal })
    }

    /// Opens a scope.
    pub fn push(&mut self) {
        self.speak();
        self.scopes.push(Scope {
            reals: self.reals.len(),
            powers: self.powers.len(),
            unsupported: self.unsupported.len(),
            features: self.features,
            ..Scope::default()
        });
        self.talk.commands().push_str("(push 1)\n");
    }

    /// Leaves the innermost scope; nothing happens if there is none.
    pub fn pop(&mut self) {
        self.speak();
        let Some(scope) = self.scopes.pop() else { return };
        for s in &scope.symbols {
            self.declared.remove(s);
        }
        for e in &scope.enums {
            self.enums.remove(e);
        }
        for l in &scope.literals {
            self.live_literals.remove(l);
        }
        self.reals.truncate(scope.reals);
        self.powers.truncate(scope.powers);
        self.unsupported.truncate(scope.unsupported);
        self.features = scope.features;
        self.talk.commands().push_str("(pop 1)\n");
    }

    /// The number of open scopes.
    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Declares what an instance needs and writes its definitions; gives its number.
    fn instantiate(&mut self, pool: &Pool, template: &Template, step: u32) -> Option<u64> {
        self.speak();
        let objection = if template.session != self.id {
            Some("a template of another session".to_string())
        } else if template.sort != Sort::Bool {
            Some("an assertion that is no truth value".to_string())
        } else {
            template.unsupported.clone()
        };
        if let Some(objection) = objection {
            self.unsupported.push(objection);
            return None;
        }
        self.features = self.features.join(template.features);
        for &e in &template.enums {
            self.declare_enum(pool, e);
        }
        for used in &template.uses {
            let symbol = StepSymbol { symbol: used.symbol, step: used.offset.map(|o| step.saturating_add(o)) };
            if self.declared.contains(&symbol) {
                continue;
            }
            let mut name = String::new();
            used.name.fill(&mut name, step, 0);
            self.declare_named(pool, symbol, used.sort, name);
        }
        self.instances += 1;
        let instance = self.instances;
        template.definitions.fill(self.talk.commands(), step, instance);
        for power in &template.powers {
            let mut beyond = String::new();
            power.beyond.fill(&mut beyond, step, instance);
            self.powers.push(beyond);
        }
        Some(instance)
    }

    /// Declares a symbol or its copy at a step, so that a model has a value for it that is right for later
    /// assertions too. What assertions mention is declared without asking.
    pub fn declare(&mut self, pool: &Pool, symbol: StepSymbol) {
        if self.declared.contains(&symbol) {
            return;
        }
        self.speak();
        let sort = pool.symbol(symbol.symbol).sort;
        for id in sort.enumerations() {
            self.declare_enum(pool, id);
        }
        let name = self.name(pool, symbol);
        self.declare_named(pool, symbol, sort, name);
    }

    pub(crate) fn name(&self, pool: &Pool, symbol: StepSymbol) -> String {
        let encoded = names::encode(&pool.symbol(symbol.symbol).name);
        match symbol.step {
            None => encoded.rigid(),
            Some(step) => encoded.at(step),
        }
    }

    /// A name that nothing else has.
    pub(crate) fn helper_name(&mut self) -> String {
        self.instances += 1;
        format!("r{}@!", self.instances)
    }

    pub(crate) fn is_declared(&self, symbol: StepSymbol) -> bool {
        self.declared.contains(&symbol)
    }

    fn declare_named(&mut self, pool: &Pool, symbol: StepSymbol, sort: Sort, name: String) {
        self.declared.insert(symbol);
        if let Some(scope) = self.scopes.last_mut() {
            scope.symbols.push(symbol);
        }
        let enums = self.solver.kind.enums();
        let out = self.talk.commands();
        out.push_str("(declare-fun ");
        out.push_str(&name);
        out.push_str(" () ");
        out.push_str(&print::sort_name(pool, enums, sort));
        out.push_str(")\n");
        match sort {
            Sort::Enum(id) if enums == EnumStyle::Ints => {
                let last = pool.enumeration(id).variants.len().saturating_sub(1);
                out.push_str(&format!("(assert (and (<= 0 {name}) (<= {name} {last})))\n"));
            }
            Sort::Real => self.reals.push(name),
            _ => {}
        }
    }

    fn declare_enum(&mut self, pool: &Pool, id: EnumId) {
        if self.solver.kind.enums() == EnumStyle::Ints || !self.enums.insert(id) {
            return;
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.enums.push(id);
        }
        let text = names::declare_enum(pool.enumeration(id));
        self.talk.commands().push_str(&text);
    }
}
