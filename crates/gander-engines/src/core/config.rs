//! The configuration of a check.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gander_certify::{Refutations, Trust};
use gander_smt::Solvers;
use gander_system::ClaimId;

use super::worker_budget::WorkerBudget;
use crate::portfolio::Portfolio;

/// What to check, with which engines and solvers, and within which limits.
#[derive(Clone, Debug)]
pub struct CheckConfig {
    /// The names of the engines to use; those of the portfolio if none are given.
    pub engines: Option<Vec<String>>,
    /// The portfolio; the default one if none is given.
    pub portfolio: Option<Portfolio>,
    /// The claims to decide.
    pub claims: Vec<ClaimId>,
    /// The time limit.
    pub timeout: Option<Duration>,
    /// The number of engines that work at the same time; 0 means the number of processors.
    pub jobs: usize,
    /// Seed of everything that is random.
    pub seed: u64,
    /// Bytes of memory that this process and its solvers may use together; the limit of the process
    /// ([`gander_runtime::memory`]) or three fifths of the machine's if not given.
    pub memory: Option<u64>,
    /// The solvers to ask.
    pub solvers: Arc<Solvers>,
    /// A folder for the log of every solver session.
    pub log_smt: Option<PathBuf>,
    /// The name of a solver that must agree with each verdict.
    pub second_opinion: Option<String>,
    /// What verdicts have to rest on.
    pub trust: Trust,
    /// Counts the worker threads; checks that may overlap in time can share it.
    pub workers: WorkerBudget,
    /// Formulas that solvers refuted for earlier checks in this process, for checking answers.
    pub refutations: Option<Arc<Refutations>>,
    /// Settings of single engines.
    pub options: EngineOptions,
}

impl CheckConfig {
    /// These claims, with these solvers, without limits.
    pub fn new(solvers: Arc<Solvers>, claims: Vec<ClaimId>) -> CheckConfig {
        CheckConfig {
            engines: None,
            portfolio: None,
            claims,
            timeout: None,
            jobs: 0,
            seed: 0,
            memory: None,
            solvers,
            log_smt: None,
            second_opinion: None,
            trust: Trust::Agreement,
            workers: WorkerBudget::default(),
            refutations: None,
            options: EngineOptions::default(),
        }
    }
}

/// Settings of single engines.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The least time that a run that may not be shortest waits for a shorter one.
    pub shorter_run_wait: Duration,
    /// Number of open claims from which on easy claims are decided first: by runs that cover
    /// transitions, and by one invariant for all.
    pub many_claims: usize,
    /// Bounded model checking stops after runs of this length.
    pub max_depth: Option<u32>,
    /// Of k-induction.
    pub induction: InductionOptions,
    /// Of simulation.
    pub simulation: SimulationOptions,
    /// Of the search for invariants.
    pub invariants: InvariantOptions,
    /// Of symbolic execution along paths.
    pub paths: PathOptions,
    /// Of node invariants.
    pub nodes: NodeOptions,
    /// Of decision diagrams.
    pub bdd: BddOptions,
    /// Methods that are switched off, to measure their effect.
    pub without: Vec<Method>,
}

/// An optional method. `benches/ablation.py` measures checks with and without each of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Lower bounds on the number of steps to a goal prune explicit search
    /// (`concrete/step_lower_bound.rs`).
    StepLowerBounds,
    /// Candidate invariants about variables that are copied (`engines/invariants/copies.rs`).
    Copies,
    /// The greatest fixpoint of `EG` on polyhedra (`engines/liveness/eg`).
    PolyhedralEg,
    /// Small values for unknown sizes of arrays (`engines/sizes`).
    Sizes,
    /// The first turns of a check on the calling thread, before workers are spawned.
    StartUp,
    /// Engines work on one of several claims that are symmetric (`director/orbits.rs`).
    Symmetry,
}

impl Method {
    /// All of them, by name.
    pub const ALL: [(&'static str, Method); 6] = [
        ("step-lower-bounds", Method::StepLowerBounds),
        ("copies", Method::Copies),
        ("polyhedral-eg", Method::PolyhedralEg),
        ("sizes", Method::Sizes),
        ("start-up", Method::StartUp),
        ("symmetry", Method::Symmetry),
    ];
}

impl EngineOptions {
    /// True if the method is used.
    pub fn uses(&self, method: Method) -> bool {
        !self.without.contains(&method)
    }
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            shorter_run_wait: Duration::from_secs(2),
            many_claims: 64,
            max_depth: None,
            induction: InductionOptions::default(),
            simulation: SimulationOptions::default(),
            invariants: InvariantOptions::default(),
            paths: PathOptions::default(),
            nodes: NodeOptions::default(),
            bdd: BddOptions::default(),
            without: Vec::new(),
        }
    }
}

/// The variants of k-induction of Sheeran, Singh and Stålmarck (2000).
#[derive(Clone, Debug)]
pub struct InductionOptions {
    /// The step case considers loop-free paths only. With [`InductionOptions::forward`] this makes
    /// the engine complete on finite systems.
    pub loop_free: bool,
    /// Loop-free paths compare states, except the last, only on the variables that steps read (path
    /// compression).
    pub compress: bool,
    /// The step case starts without the effects of transitions and adds those that a model
    /// violates.
    pub abstraction: bool,
    /// The step case considers only paths that do not return to a start state.
    pub no_restart: bool,
    /// The first depth to try, at least 1.
    pub first_k: u32,
    /// The last depth to try.
    pub max_k: Option<u32>,
    /// Test whether a loop-free run of the current depth exists.
    pub forward: bool,
}

impl Default for InductionOptions {
    fn default() -> InductionOptions {
        InductionOptions {
            loop_free: true,
            compress: true,
            abstraction: false,
            no_restart: true,
            first_k: 1,
            max_k: None,
            forward: true,
        }
    }
}

/// Settings of decision diagrams.
#[derive(Clone, Debug)]
pub struct BddOptions {
    /// With at most this many reachable states a proof is a closed set, which the checker
    /// enumerates; with more it consists of formulas, which a solver checks.
    pub few_states: u64,
}

impl Default for BddOptions {
    fn default() -> BddOptions {
        BddOptions { few_states: 20_000 }
    }
}

/// Settings of simulation.
#[derive(Clone, Debug)]
pub struct SimulationOptions {
    /// The greatest length of a single run.
    pub longest_run: u32,
    /// Stop after this many steps altogether.
    pub max_steps: Option<u64>,
}

impl Default for SimulationOptions {
    fn default() -> SimulationOptions {
        SimulationOptions { longest_run: 200, max_steps: None }
    }
}

/// Settings of the search for invariants.
#[derive(Clone, Debug, Default)]
pub struct InvariantOptions {
    /// Stop after this many rounds, each with wider templates or a deeper induction than the one
    /// before.
    pub max_rounds: Option<usize>,
}

/// Settings of node invariants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeOptions {
    /// How often components without a fixpoint are retried, each time with four times the time
    /// limit.
    pub rounds: u32,
    /// Time for a component before independent components are analysed beside it.
    pub alone: Duration,
}

impl Default for NodeOptions {
    fn default() -> NodeOptions {
        NodeOptions { rounds: 4, alone: Duration::from_millis(20) }
    }
}

/// Settings of symbolic execution along paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathOptions {
    /// Which path is followed next.
    pub order: PathOrder,
}

/// Which path is followed next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PathOrder {
    /// A shortest one: runs are shortest.
    #[default]
    BreadthFirst,
    /// The newest one, of these the one that is nearest to what is looked for.
    DepthFirst,
}
