//! Random small systems with claims, reproducible from a seed.
//!
//! A system has one to five nodes, most of them in a ring so that some claims take several steps;
//! one to four variables of all sorts; inputs, parameters, every kind of effect, assumptions,
//! fairness, and claims of every kind. The oracle explores it during generation: a system that is
//! not finite is discarded and another one generated, and claims are drawn several times so that
//! about as many hold as fail, and enough of them take several steps.

mod claims;
mod compositions;
mod terms;
mod transitions;
mod variables;

use std::sync::Arc;

use gander_system::{NodeId, Role, System, SystemBuilder, TransitionId};
use gander_term::{EnumId, Op, Pool, Sort, SymbolId, TermId};

use crate::random::Random;
use crate::{Answer, Limits, Reachable, decide};
use terms::Terms;
use variables::Variable;

pub use terms::Flavour;

/// The size of systems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// At most a dozen reachable states, one or two variables: a solver decides each claim in
    /// milliseconds.
    Few,
    /// A few hundred reachable states.
    Usual,
}

/// The structure of a system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One control graph.
    Single,
    /// The composition of two instances of small systems, often synchronised on a gate.
    Composed,
    /// The composition of two or three instances, some of one specification, where one reads
    /// variables of another; often synchronised on gates.
    Linked,
    /// Two or three instances of one small system, which are often symmetric.
    Family,
}

/// The main subject of systems and claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emphasis {
    /// Everything.
    Everything,
    /// The five checks: safety, dead transitions, sinkholes, starts and relations without solution.
    /// Starts are over- and under-constrained more often, transitions have parameters, quantified
    /// guards and constraints, and there are no claims about liveness.
    FiveChecks,
}

/// What to generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How large.
    pub size: Size,
    /// How it is made.
    pub shape: Shape,
    /// Which operators occur; random if `None`: most systems are linear, some have strings,
    /// quantifiers or non-linear terms.
    pub flavour: Option<Flavour>,
    /// True if some variables are functions of others, as in a dataflow program. Effects are
    /// constraints then.
    pub definitions: bool,
    /// The main subject.
    pub emphasis: Emphasis,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            size: Size::Usual,
            shape: Shape::Single,
            flavour: None,
            definitions: false,
            emphasis: Emphasis::Everything,
        }
    }
}

impl Settings {
    /// Small systems for solver-based engines.
    pub fn few_states() -> Settings {
        Settings { size: Size::Few, ..Settings::default() }
    }

    /// The same in linear arithmetic over bools, enumerations, ints and reals only.
    pub fn linear(self) -> Settings {
        Settings { flavour: Some(LINEAR), ..self }
    }

    /// The same with bit-vectors of a few bits; most variables are such.
    pub fn bit_vectors(self) -> Settings {
        Settings { flavour: Some(BIT_VECTORS), ..self }
    }

    /// The same with arrays over few indices; most variables are such.
    pub fn arrays(self) -> Settings {
        Settings { flavour: Some(ARRAYS), ..self }
    }

    /// The same with variables that are functions of others.
    pub fn definitions(self) -> Settings {
        Settings { definitions: true, ..self }
    }

    /// The same, but compositions.
    pub fn composed(self) -> Settings {
        Settings { shape: Shape::Composed, ..self }
    }

    /// The same, but compositions where one instance reads variables of another.
    pub fn linked(self) -> Settings {
        Settings { shape: Shape::Linked, ..self }
    }

    /// The same, but compositions of instances of one system.
    pub fn family(self) -> Settings {
        Settings { shape: Shape::Family, ..self }
    }

    /// The same with emphasis on the five checks.
    pub fn five_checks(self) -> Settings {
        Settings { emphasis: Emphasis::FiveChecks, ..self }
    }

    fn most_states(self) -> usize {
        match (self.size, self.shape) {
            (Size::Few, Shape::Single | Shape::Composed) => 12,
            (Size::Few, Shape::Linked) => 32,
            (Size::Few, Shape::Family) => 64,
            (Size::Usual, _) => 300,
        }
    }

    fn looks_at_checks(self) -> bool {
        self.emphasis == Emphasis::FiveChecks
    }

    /// The required distances of the furthest state, one of which is chosen.
    fn depths(self) -> &'static [u64] {
        match (self.size, self.shape) {
            (Size::Few, Shape::Single) => &[0, 2, 3, 4, 4, 5],
            (Size::Few, Shape::Composed | Shape::Linked | Shape::Family) => &[0, 2, 3, 4],
            (Size::Usual, _) => &[0, 2, 4, 5, 6, 7, 8, 10],
        }
    }
}

const LINEAR: Flavour = Flavour {
    strings: false,
    nonlinear: false,
    quantifiers: false,
    bit_vectors: false,
    arrays: false,
};

const ARRAYS: Flavour = Flavour { arrays: true, ..LINEAR };

const BIT_VECTORS: Flavour = Flavour { bit_vectors: true, ..LINEAR };

/// A system, and the oracle's answers to its claims.
#[derive(Clone, Debug)]
pub struct GeneratedSystem {
    /// The seed that makes it.
    pub seed: u64,
    /// The system.
    pub system: Arc<System>,
    /// The answers, in the order of the claims.
    pub answers: Vec<Answer>,
    /// The number of its reachable states.
    pub states: usize,
}

/// The system of a seed, with the usual settings.
pub fn generate(seed: u64) -> GeneratedSystem {
    generate_with(seed, Settings::default())
}

/// The system of a seed with these settings.
pub fn generate_with(seed: u64, settings: Settings) -> GeneratedSystem {
    let limits = Limits { states: settings.most_states(), work: 2_000_000 };
    // Draw the depth once, so that repeated attempts do not favour shallow systems.
    let depth = *Random::new(seed, u64::MAX).pick(settings.depths());
    let mut attempt = 0;
    // Terminates, as a constant fraction of the attempts succeeds for all settings.
    loop {
        let random = Random::new(seed, attempt);
        let made = match settings.shape {
            Shape::Single => Maker::new(random, settings).make(seed, depth, limits),
            Shape::Composed => compositions::make(random, settings, seed, depth, limits),
            Shape::Linked => compositions::make_linked(random, settings, seed, depth, limits),
            Shape::Family => compositions::make_family(random, settings, seed, depth, limits),
        };
        if let Some(made) = made {
            return made;
        }
        attempt += 1;
    }
}

struct Maker {
    random: Random,
    settings: Settings,
    flavour: Flavour,
    builder: SystemBuilder,
    nodes: usize,
    enums: Vec<EnumId>,
    variables: Vec<Variable>,
    defined: Vec<Defined>,
    /// Variables of another instance that guards, effects and claims read.
    linked: Vec<SymbolId>,
    transitions: Vec<TransitionId>,
}

/// A Boolean variable that is a function of others.
#[derive(Clone, Copy)]
struct Defined {
    current: SymbolId,
    /// `d == t` in the current state, and in the next one.
    now: TermId,
    then: TermId,
}

impl Maker {
    fn new(mut random: Random, settings: Settings) -> Maker {
        let flavour = settings.flavour.unwrap_or_else(|| match random.below(100) {
            0..30 if settings.looks_at_checks() => Flavour { quantifiers: true, ..LINEAR },
            0..47 => LINEAR,
            47..55 => BIT_VECTORS,
            55..75 => Flavour { strings: true, ..LINEAR },
            75..85 => Flavour { quantifiers: true, ..LINEAR },
            85..92 => Flavour { nonlinear: true, ..LINEAR },
            _ => Flavour { strings: true, nonlinear: true, quantifiers: true, ..LINEAR },
        });
        let mut pool = Pool::new();
        let mut enums = Vec::new();
        if random.chance(60) {
            let names = ["Red", "Green", "Blue", "Black"];
            let n = 2 + random.below(3);
            enums.push(pool.declare_enum("Colour", &names[..n]).expect("declared once"));
        }
        let nodes = match settings.size {
            Size::Few => 1 + random.below(4),
            Size::Usual => 1 + random.below(5),
        };
        let names: Vec<String> = (0..nodes).map(|i| format!("N{i}")).collect();
        let names: Vec<(&str, _)> = names.iter().map(|n| (n.as_str(), None)).collect();
        let builder =
            SystemBuilder::new("random", pool, &names).expect("nodes have different names");
        Maker {
            random,
            settings,
            flavour,
            builder,
            nodes,
            enums,
            variables: Vec::new(),
            defined: Vec::new(),
            linked: Vec::new(),
            transitions: Vec::new(),
        }
    }

    fn terms(&mut self, symbols: Vec<SymbolId>) -> Terms<'_> {
        Terms {
            pool: &mut self.builder.pool,
            random: &mut self.random,
            flavour: self.flavour,
            symbols,
            enums: &self.enums,
        }
    }

    fn make(mut self, seed: u64, depth: u64, limits: Limits) -> Option<GeneratedSystem> {
        let graph = self.body(limits)?;
        self.finish(&graph, seed, depth, limits)
    }

    /// Generates everything except claims.
    fn body(&mut self, limits: Limits) -> Option<Reachable> {
        self.specification();
        Reachable::explore(self.builder.so_far(), &self.builder.pool, limits).ok()
    }

    fn specification(&mut self) {
        self.declare_variables();
        if self.settings.definitions {
            self.define_variables();
        }
        for n in 0..self.nodes {
            if self.random.chance(12) {
                self.builder.set_final(NodeId::from(n));
            }
        }
        self.assumptions();
        let starts = if self.random.chance(20) { 2 } else { 1 };
        for i in 0..starts {
            self.start(i);
        }
        self.control_graph();
    }

    /// Adds claims with the oracle's answers.
    fn finish(
        mut self,
        graph: &Reachable,
        seed: u64,
        depth: u64,
        limits: Limits,
    ) -> Option<GeneratedSystem> {
        if depth > 0 && graph.distance.iter().max().is_none_or(|&furthest| furthest < depth) {
            return None;
        }
        let written = 4 + self.random.below(5);
        self.claims(written, graph, limits).ok()?;
        let system = self.builder.finish().with_structural_claims();
        let answers =
            decide(&system, limits).ok()?.into_iter().collect::<Result<Vec<_>, _>>().ok()?;
        Some(GeneratedSystem {
            seed,
            system: Arc::new(system),
            answers,
            states: graph.states.len(),
        })
    }

    fn declare_variables(&mut self) {
        let (count, most) = match self.settings.size {
            Size::Few => (1 + self.random.below(2), 6),
            Size::Usual => (1 + self.random.below(4), 8),
        };
        for i in 0..count {
            // At least one variable is not an input.
            let role = if i > 0 && self.random.chance(20) { Role::Input } else { Role::State };
            let sort = variables::sort(&mut self.random, self.flavour, &self.enums);
            let v = variables::declare(&mut self.builder, &mut self.random, i, sort, role, most);
            self.variables.push(v);
        }
    }

    /// Adds variables that are functions of earlier ones.
    fn define_variables(&mut self) {
        let count = 1 + self.random.below(3);
        for i in 0..count {
            let symbols = self.currents();
            let term = self.terms(symbols).boolean(1);
            let all = self.builder.so_far().vars().to_vec();
            let primed = all.iter().map(|v| (v.current, self.builder.pool.var(v.next))).collect();
            let later = self.builder.pool.substitute(term, &primed);
            let id = self
                .builder
                .var(&format!("d{i}"), Sort::Bool, Role::State, None, None)
                .expect("names are fresh");
            let (current, next) =
                (self.builder.so_far().var(id).current, self.builder.so_far().var(id).next);
            let (x, y) = (self.builder.pool.var(current), self.builder.pool.var(next));
            let mut terms = self.terms(Vec::new());
            let (now, then) = (terms.mk(Op::Eq, &[x, term]), terms.mk(Op::Eq, &[y, later]));
            self.defined.push(Defined { current, now, then });
        }
    }

    fn control_graph(&mut self) {
        let mut pairs = Vec::new();
        for n in 0..self.nodes {
            if self.random.chance(92) {
                pairs.push((n, (n + 1) % self.nodes));
            }
        }
        let further = self.random.below(4);
        for _ in 0..further {
            let source = self.random.below(self.nodes);
            // Only edges back or self-loops: shortcuts would make every state near.
            let target = if self.random.chance(70) {
                self.random.below(source + 1)
            } else {
                self.random.below(self.nodes)
            };
            pairs.push((source, target));
        }
        for (i, (source, target)) in pairs.into_iter().enumerate() {
            let t = self.transition(i, NodeId::from(source), NodeId::from(target));
            self.transitions.push(t);
        }
    }
}
