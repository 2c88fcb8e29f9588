//! Sessions: an incremental conversation about terms.
//!
//! Symbols, enumerations and definitions are declared when first used. [`Session::pop`] removes the
//! declarations and assertions since [`Session::push`]. Failures while asserting become the answer
//! to the next query, so that callers handle them in one place.

pub(crate) mod answer;
pub(crate) mod conversation;
pub(crate) mod core_session;
mod query;
pub(crate) mod records;

use std::io::Write;

use gander_term::smtlib::{self, EnumStyle};
use gander_term::{EnumId, Features, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashSet;

use gander_runtime::Cancellation;

use crate::session::answer::Reason;
use crate::session::conversation::{Conversation, PoolKey, ProcessPool, Profile};
use crate::smtlib::print;
use crate::smtlib::template::{Placement, SessionId, Template};
use crate::solver::dialect::{Solver, SolverKind};
use gander_process::{ChildSet, Interactive, InteractiveLimits, Owner};

/// The configuration of a session.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// Bytes of memory that the solver may use.
    pub memory: Option<u64>,
    /// Bytes that the solver may print for one query.
    pub output_limit: usize,
    /// Random seed of the solver.
    pub seed: Option<u32>,
    /// Kills the solver when it is cancelled.
    pub cancellation: Cancellation,
    /// The set that counts the solver's memory.
    pub processes: ChildSet,
}

impl Default for SessionConfig {
    fn default() -> SessionConfig {
        SessionConfig {
            memory: None,
            output_limit: 64 << 20,
            seed: None,
            cancellation: Cancellation::new(),
            processes: ChildSet::default(),
        }
    }
}

impl SessionConfig {
    pub(crate) fn owner(&self) -> Owner {
        Owner { cancellation: self.cancellation.clone(), children: self.processes.clone() }
    }
}

/// Whether cores are enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cores {
    Kept,
    NotKept,
}

/// A Boolean variable of a session, or its negation: an assumption of [`Session::check`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Literal {
    pub(crate) number: u32,
    pub(crate) positive: bool,
}

impl Literal {
    pub(crate) fn push_to(self, out: &mut String) {
        use std::fmt::Write as _;
        let _ = if self.positive {
            write!(out, "a{}@!", self.number)
        } else {
            write!(out, "(not a{}@!)", self.number)
        };
    }
}

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal { positive: !self.positive, ..self }
    }
}

/// A symbol, or its copy at a step.
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

/// The first commands of a session: options and logic.
pub(crate) fn introduction(solver: &Solver, cores: Cores, seed: Option<u32>) -> String {
    let mut out =
        String::from("(set-option :print-success false)\n(set-option :produce-models true)\n");
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

/// The answer to the last query, if no command was given since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    Nothing,
    Sat,
    Unsat(Vec<Literal>),
}

/// What was added in a scope; `pop` removes it.
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
/// All terms of a session must come from one pool or a chain of its forks: in sibling forks, equal
/// ids are different terms.
pub struct Session {
    pub(crate) conversation: Conversation,
    pub(crate) solver: Solver,
    config: SessionConfig,
    cores: Cores,
    id: SessionId,
    templates: u32,
    instances: u64,
    literals: u32,
    scopes: Vec<Scope>,
    declared: FxHashSet<StepSymbol>,
    enums: FxHashSet<EnumId>,
    live_literals: FxHashSet<Literal>,
    /// Names of declared real symbols, which may have irrational values.
    pub(crate) reals: Vec<String>,
    /// Conditions under which the exponent of a power is beyond the written cases.
    pub(crate) powers: Vec<String>,
    pub(crate) unsupported: Vec<String>,
    pub(crate) features: Features,
    pub(crate) last: Last,
    /// Scopes that were opened to repair the last model; they are left before the next command.
    pub(crate) repairs: u32,
    /// The time limit that the solver keeps itself, in milliseconds.
    pub(crate) soft_limit: Option<u32>,
    /// A query was sent whose answer was not read.
    pub(crate) begun: bool,
}

impl Session {
    /// Starts a solver. If that fails, the first query returns the reason.
    pub fn start(solver: &Solver, config: SessionConfig) -> Session {
        Session::with(solver, config, Cores::NotKept, None)
    }

    /// [`Session::start`] with a process that was started before and received the first commands,
    /// if there is one.
    pub(crate) fn with(
        solver: &Solver,
        config: SessionConfig,
        cores: Cores,
        ready: Option<Interactive>,
    ) -> Session {
        let limits = InteractiveLimits { memory: config.memory, output: config.output_limit };
        let is_introduced = ready.is_some();
        let conversation = Conversation::start(solver, limits, config.owner(), ready);
        let mut session = Session::of(conversation, solver, config, cores);
        session.introduce();
        if is_introduced {
            session.conversation.skip_pending();
        }
        session
    }

    /// [`Session::start`] with a process from a pool, to which it returns afterwards.
    pub(crate) fn pooled(
        solver: &Solver,
        config: SessionConfig,
        cores: Cores,
        processes: ProcessPool,
    ) -> Session {
        let limits = InteractiveLimits { memory: None, output: config.output_limit };
        let profile = if cores == Cores::Kept { Profile::Cores } else { Profile::Plain };
        let key = PoolKey { processes, solver: solver.clone(), profile };
        let (conversation, again) = Conversation::pooled(key, limits, config.owner());
        let mut session = Session::of(conversation, solver, config, cores);
        session.introduce();
        if again && solver.kind == SolverKind::Z3 {
            // A reset does not remove Z3's time limit.
            session.tell_soft_limit(None);
        }
        session
    }

    fn of(
        conversation: Conversation,
        solver: &Solver,
        config: SessionConfig,
        cores: Cores,
    ) -> Session {
        Session {
            conversation,
            solver: solver.clone(),
            config,
            cores,
            id: SessionId::default(),
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

    /// Logs the conversation as a script that can be run again; answers are comments. Call it
    /// before the first assertion.
    pub fn set_log(&mut self, log: Box<dyn Write + Send>) {
        self.conversation.set_log(log);
    }

    /// The solver.
    pub fn solver(&self) -> &Solver {
        &self.solver
    }

    /// The number of the solver's process.
    pub fn process_id(&self) -> Option<u32> {
        self.conversation.process_id()
    }

    /// Why the session failed; only [`Session::restart`] makes it usable again.
    pub fn failure(&self) -> Option<&Reason> {
        self.conversation.failure()
    }

    /// Forgets everything but compiled templates, and starts a new process.
    pub fn restart(&mut self) {
        self.forget();
        self.conversation.restart(&self.solver);
        self.conversation.log_reset();
        self.introduce();
    }

    /// Forgets everything but compiled templates; keeps the process unless it failed.
    pub fn reset(&mut self) {
        if self.conversation.failure().is_some() || self.begun {
            return self.restart();
        }
        let limited = self.soft_limit.is_some();
        self.forget();
        self.conversation.commands().push_str("(reset)\n");
        self.introduce();
        if limited {
            // A reset does not remove Z3's time limit.
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

    /// Adds the first commands.
    fn introduce(&mut self) {
        let text = introduction(&self.solver, self.cores, self.config.seed);
        self.conversation.commands().push_str(&text);
    }

    /// Call it before adding commands: they invalidate the last model.
    pub(crate) fn discard_model(&mut self) {
        if self.repairs > 0 {
            let pops = self.repairs;
            self.repairs = 0;
            self.conversation.commands().push_str(&format!("(pop {pops})\n"));
        }
        self.last = Last::Nothing;
    }

    /// Compiles a formula to be instantiated at steps; `placement` maps its symbols to step copies.
    pub fn compile(
        &mut self,
        pool: &Pool,
        term: TermId,
        placement: &dyn Fn(SymbolId) -> Placement,
    ) -> Template {
        self.templates += 1;
        let template = print::compile(pool, &self.solver, term, placement, self.templates);
        Template { session: self.id.clone(), ..template }
    }

    /// Asserts a formula over rigid symbols.
    pub fn assert(&mut self, pool: &Pool, formula: TermId) {
        let template = self.compile(pool, formula, &|_| Placement::Rigid);
        self.assert_at(pool, &template, 0);
    }

    /// Asserts an instance.
    pub fn assert_at(&mut self, pool: &Pool, template: &Template, step: u32) {
        if let Some(instance) = self.instantiate(pool, template, step) {
            let out = self.conversation.commands();
            out.push_str("(assert ");
            template.root.fill(out, step, instance);
            out.push_str(")\n");
            self.conversation.send_large();
        }
    }

    /// A new Boolean variable, usually to activate assertions.
    pub fn literal(&mut self) -> Literal {
        self.discard_model();
        self.literals += 1;
        let literal = Literal { number: self.literals, positive: true };
        self.live_literals.insert(literal);
        if let Some(scope) = self.scopes.last_mut() {
            scope.literals.push(literal);
        }
        let out = self.conversation.commands();
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
        self.discard_model();
        if literals.iter().any(|&l| !self.is_live(l)) {
            self.unsupported.push(DEAD_LITERAL.into());
            return;
        }
        let out = self.conversation.commands();
        out.push_str("(assert (or false");
        for literal in literals {
            out.push(' ');
            literal.push_to(out);
        }
        out.push_str("))\n");
    }

    fn relate(
        &mut self,
        relation: &str,
        pool: &Pool,
        literal: Literal,
        template: &Template,
        step: u32,
    ) {
        if !self.is_live(literal) {
            self.unsupported.push(DEAD_LITERAL.into());
        } else if let Some(instance) = self.instantiate(pool, template, step) {
            let out = self.conversation.commands();
            out.push_str("(assert (");
            out.push_str(relation);
            out.push(' ');
            literal.push_to(out);
            out.push(' ');
            template.root.fill(out, step, instance);
            out.push_str("))\n");
            self.conversation.send_large();
        }
    }

    pub(crate) fn is_live(&self, literal: Literal) -> bool {
        self.live_literals.contains(&Literal { positive: true, ..literal })
    }

    /// Opens a scope.
    pub fn push(&mut self) {
        self.discard_model();
        self.scopes.push(Scope {
            reals: self.reals.len(),
            powers: self.powers.len(),
            unsupported: self.unsupported.len(),
            features: self.features,
            ..Scope::default()
        });
        self.conversation.commands().push_str("(push 1)\n");
    }

    /// Leaves the innermost scope, if there is one.
    pub fn pop(&mut self) {
        self.discard_model();
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
        self.conversation.commands().push_str("(pop 1)\n");
    }

    /// The number of open scopes.
    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Declares the symbols of an instance and writes its definitions; returns its number.
    fn instantiate(&mut self, pool: &Pool, template: &Template, step: u32) -> Option<u64> {
        self.discard_model();
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
            let symbol = StepSymbol {
                symbol: used.symbol,
                step: used.offset.map(|o| step.saturating_add(o)),
            };
            if self.declared.contains(&symbol) {
                continue;
            }
            let mut name = String::new();
            used.name.fill(&mut name, step, 0);
            self.declare_named(pool, symbol, used.sort, name);
        }
        self.instances += 1;
        let instance = self.instances;
        template.definitions.fill(self.conversation.commands(), step, instance);
        for power in &template.powers {
            let mut beyond = String::new();
            power.beyond.fill(&mut beyond, step, instance);
            self.powers.push(beyond);
        }
        Some(instance)
    }

    /// Declares a symbol or its copy at a step, so that a model has a value for it that is also
    /// right for later assertions. Symbols in assertions are declared automatically.
    pub fn declare(&mut self, pool: &Pool, symbol: StepSymbol) {
        if self.declared.contains(&symbol) {
            return;
        }
        self.discard_model();
        let sort = pool.symbol(symbol.symbol).sort;
        for id in sort.enumerations() {
            self.declare_enum(pool, id);
        }
        let name = self.name(pool, symbol);
        self.declare_named(pool, symbol, sort, name);
    }

    pub(crate) fn name(&self, pool: &Pool, symbol: StepSymbol) -> String {
        let encoded = smtlib::encode(&pool.symbol(symbol.symbol).name);
        match symbol.step {
            None => encoded.rigid(),
            Some(step) => encoded.at(step),
        }
    }

    /// A new name.
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
        let out = self.conversation.commands();
        out.push_str("(declare-fun ");
        out.push_str(&name);
        out.push_str(" () ");
        out.push_str(&smtlib::sort_name(pool, enums, sort));
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
        let text = smtlib::declare_enum(pool.enumeration(id));
        self.conversation.commands().push_str(&text);
    }
}
