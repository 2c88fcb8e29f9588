//! A check as a decider, for comparison with the oracle.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_engines::{Cancellation, CheckConfig, CheckReport, EngineOptions, NullObserver, check};
use gander_oracle::{Decider, Decision, OpenRun, OpenRuns, OpenSystem};
use gander_smt::Solvers;
use gander_system::{ClaimId, Evidence, System, Verdict};
use gander_term::Value;

/// Decides claims with some engines.
pub struct Portfolio {
    pub solvers: Arc<Solvers>,
    pub engines: Option<Vec<String>>,
    pub max_depth: Option<u32>,
    pub max_k: Option<u32>,
    pub max_steps: Option<u64>,
    /// For the engine `invariants`.
    pub max_rounds: Option<usize>,
    pub abstraction: bool,
    pub timeout: Duration,
    pub few_states: u64,
    /// For the engine `nodes`.
    pub node_rounds: u32,
    /// Close components in parallel from the beginning, with this many workers.
    pub components_at_once: Option<usize>,
    /// Replaces all the settings above except the time.
    pub options: Option<EngineOptions>,
    /// All internal errors.
    pub problems: Vec<String>,
    /// Claims left open, in order of seeds, for inspection.
    pub open: Vec<String>,
    /// Claims that were settled by renamed evidence.
    pub renamed: usize,
}

impl Portfolio {
    pub fn new(engines: Option<&[&str]>) -> Portfolio {
        Portfolio {
            // Most of these systems are decided faster than a solver starts.
            solvers: Arc::new(Solvers::from_environment().kept_running()),
            engines: engines.map(|names| names.iter().map(|n| n.to_string()).collect()),
            max_depth: Some(24),
            max_k: Some(24),
            max_steps: Some(3_000),
            max_rounds: Some(2),
            abstraction: false,
            timeout: Duration::from_secs(20),
            few_states: 20_000,
            node_rounds: 2,
            components_at_once: None,
            options: None,
            problems: Vec::new(),
            open: Vec::new(),
            renamed: 0,
        }
    }
}

impl Portfolio {
    /// Checks all claims; records internal errors and open claims.
    fn check(&mut self, system: &Arc<System>) -> CheckReport {
        let claims = (0..system.claims().len()).map(ClaimId::from).collect();
        let mut config = CheckConfig::new(Arc::clone(&self.solvers), claims);
        config.engines = self.engines.clone();
        config.timeout = Some(self.timeout);
        config.jobs = 1;
        config.options.shorter_run_wait = Duration::from_secs(3600);
        config.options.max_depth = self.max_depth;
        config.options.induction.max_k = self.max_k;
        config.options.induction.abstraction = self.abstraction;
        config.options.bdd.few_states = self.few_states;
        config.options.simulation.max_steps = self.max_steps;
        config.options.invariants.max_rounds = self.max_rounds;
        config.options.nodes.rounds = self.node_rounds;
        if let Some(workers) = self.components_at_once {
            config.jobs = workers;
            config.options.nodes.alone = Duration::ZERO;
        }
        if let Some(options) = &self.options {
            config.options = options.clone();
        }
        let report = check(system, &config, &Cancellation::new(), &NullObserver);
        for e in &report.internal_errors {
            self.problems.push(format!(
                "{}: {}: {}",
                e.engine,
                system.claims()[e.claim.index()].name,
                e.problem
            ));
        }
        self.renamed += report.outcomes.iter().filter(|o| o.engine == "symmetry").count();
        for o in &report.outcomes {
            if let Verdict::Unknown { why, .. } = &o.verdict {
                let claim = &system.claims()[o.claim.index()];
                let why: Vec<String> =
                    why.iter().map(|w| format!("{}: {}", w.engine, w.reason)).collect();
                self.open.push(format!(
                    "{} ({}): {}",
                    claim.name,
                    claim.kind.word(),
                    why.join("; ")
                ));
            }
        }
        report
    }

    /// The runs that decide claims of a system with arrays of unknown size.
    #[allow(dead_code)]
    pub fn runs(&mut self, open: &OpenSystem) -> OpenRuns {
        let run = |verdict: &Verdict| {
            let (holds, run) = match verdict {
                Verdict::Holds(Evidence::Run(run)) => (true, run),
                Verdict::Fails(Evidence::Run(run)) => (false, run),
                _ => return None,
            };
            let sizes: Vec<&Value> =
                open.sizes.iter().map(|v| &run.first.values[v.index()]).collect();
            let one = sizes.iter().all(|s| *s == sizes[0]);
            let size = match sizes[0] {
                Value::Int(i) if one => i64::try_from(i).ok(),
                _ => None,
            };
            Some(OpenRun { holds, size, length: run.length() })
        };
        let begun = Instant::now();
        let runs = self.check(&open.system).outcomes.iter().map(|o| run(&o.verdict)).collect();
        OpenRuns { runs, out_of_time: begun.elapsed() >= self.timeout }
    }
}

impl Decider for Portfolio {
    fn decide(&mut self, system: &Arc<System>) -> Vec<Option<Decision>> {
        let answer = |verdict: &Verdict| {
            let (holds, evidence) = match verdict {
                Verdict::Holds(e) => (true, e),
                Verdict::Fails(e) => (false, e),
                Verdict::Unknown { .. } => return None,
            };
            let length = match evidence {
                Evidence::Run(run) => Some(run.length()),
                _ => None,
            };
            Some((holds, length))
        };
        self.check(system).outcomes.iter().map(|o| answer(&o.verdict)).collect()
    }
}
