//! Decides the claims of the systems of a model: from claims to checked verdicts.
//!
//! [`plan`] turns options into a configuration for each system, or refuses them. [`decide`] runs
//! the engines (with the proof cache, beside other tools, or node by node), compares the readings
//! of the language, and finds out whether the system has a run. Its result is a [`Decision`]: data,
//! no text for people.

mod ambiguity;
mod cache;
mod configure;
mod earlier;
mod modular;
mod nothing;
mod race;
mod ranges;
mod run_existence;
mod sizes;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_engines::{Cancellation, CheckConfig, CheckReport, Observer};
use gander_system::{ClaimId, System};

use crate::model::Model;
use crate::options::{Analysis, CheckOptions};
use crate::settled::VerdictObserver;
pub(crate) use cache::CheckerOnly;
use cache::ProofCache;
use run_existence::Runs;

pub use ambiguity::ambiguity_of;
pub(crate) use configure::UsageError;
pub use earlier::EarlierVerdicts;
pub use modular::{CONTRACT_TREE, check_contract_tree, is_contract_tree};
pub(crate) use modular::{Proved, UnusedContract};
pub use nothing::NOTHING_TO_DECIDE;
pub(crate) use nothing::nothing_claimed;
pub(crate) use race::Raced;
pub use ranges::with_proved_ranges;
pub(crate) use run_existence::{has_a_run_within, is_run_claim, shows_a_run};
pub use run_existence::{has_no_run, needs_a_run};

/// What cancels and observes a check.
#[derive(Clone, Copy)]
pub(crate) struct CheckContext<'c> {
    pub(crate) cancel: &'c Cancellation,
    pub(crate) observer: &'c dyn Observer,
    /// Called before the claims of a system are decided.
    pub(crate) announce: &'c dyn Fn(&Arc<System>, &[ClaimId]),
    /// Receives verdicts as they are settled.
    pub(crate) verdicts: Option<&'c dyn VerdictObserver>,
    /// The time limit counts from here.
    pub(crate) started: Instant,
}

impl CheckContext<'_> {
    /// The time that is left of a limit.
    pub(crate) fn left(&self, limit: Option<Duration>) -> Option<Duration> {
        limit.map(|t| t.saturating_sub(self.started.elapsed()))
    }
}

/// Why no claim of a model is decided.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// An option does not make sense for this model, or at all.
    Usage(UsageError),
    /// No claim was selected.
    NothingToDecide {
        /// There are structural claims, which were not selected.
        left_out: bool,
    },
}

/// Whether a system has a run.
#[derive(Debug)]
pub(crate) enum RunExistence {
    /// It has.
    Exists,
    /// It has none, so what holds holds vacuously.
    Missing,
    /// It was not decided, for this reason.
    Undecided(String),
}

/// What was decided about a system.
#[derive(Debug)]
pub(crate) struct Decision {
    /// The system. If it was shown to have no run, it has a claim about that.
    pub(crate) system: Arc<System>,
    /// The verdicts, without those of `proved`.
    pub(crate) report: CheckReport,
    /// Claims that hold by contract trees.
    pub(crate) proved: Vec<Proved>,
    /// Contracts that did not replace the bodies of their nodes.
    pub(crate) unused_contracts: Vec<UnusedContract>,
    /// Internal errors while nodes were checked alone.
    pub(crate) modular_errors: Vec<String>,
    /// Whether the system has a run.
    pub(crate) runs: RunExistence,
    /// What other tools did.
    pub(crate) tools: Raced,
    /// Why the proof cache could not be written.
    pub(crate) cache_problems: Vec<String>,
}

/// A configuration for each system of the model.
pub(crate) fn plan(model: &Model, options: &CheckOptions) -> Result<Vec<CheckConfig>, Refusal> {
    let configs = configure::configure_all(&model.systems, options).map_err(Refusal::Usage)?;
    if nothing::nothing_to_decide(&model.systems, &configs, options) {
        let left_out = |s: &Arc<System>| s.claims().iter().any(|c| options.checks.leave_out(c));
        return Err(Refusal::NothingToDecide { left_out: model.systems.iter().any(left_out) });
    }
    Ok(configs)
}

/// Decides the claims that `config` names.
pub(crate) fn decide(
    model: &Model,
    system: &Arc<System>,
    config: &CheckConfig,
    options: &CheckOptions,
    context: &CheckContext<'_>,
) -> Decision {
    let mut decision = Decision {
        system: Arc::clone(system),
        report: CheckReport::default(),
        proved: Vec::new(),
        unused_contracts: Vec::new(),
        modular_errors: Vec::new(),
        runs: RunExistence::Exists,
        tools: Raced::default(),
        cache_problems: Vec::new(),
    };
    if config.claims.is_empty() {
        return decision;
    }
    let begun = Instant::now();
    let modules = model.modules.as_ref().filter(|_| options.analysis == Analysis::Modular);
    match modules {
        Some(modules) => {
            let found = modular::analyse(modules, system, config, context.cancel, context.observer);
            decision.report = found.report;
            decision.proved = found.proved;
            decision.unused_contracts = found.unused;
            decision.modular_errors = found.internal_errors;
        }
        None if system.sizes().is_empty() => {
            run_engines(model, config, options, context, &mut decision);
        }
        None => {
            let timeout = config.timeout.map(|t| t.mul_f64(sizes::SHARE));
            let proof = CheckConfig { timeout, ..config.clone() };
            run_engines(model, &proof, options, context, &mut decision);
            let left = config.timeout.map(|t| t.saturating_sub(begun.elapsed()));
            sizes::show_sizes(model, config, left, context, &mut decision);
        }
    }
    ambiguity::reconcile(system, config, context.cancel, begun, &mut decision.report);
    let left = context.left(options.timeout);
    let runs = run_existence::runs(system, &decision.report, config, context.cancel, left);
    decision.runs = match runs {
        Runs::Exist => RunExistence::Exists,
        Runs::Lacking => RunExistence::Missing,
        Runs::Shown(with_claim, outcome) => {
            decision.system = with_claim;
            decision.report.outcomes.push(*outcome);
            RunExistence::Missing
        }
        Runs::Undecided { why, internal_errors } => {
            decision.report.internal_errors.extend(internal_errors);
            RunExistence::Undecided(why)
        }
    };
    decision
}

/// Runs the engines beside other tools, behind the proof cache if there is one.
fn run_engines(
    model: &Model,
    config: &CheckConfig,
    options: &CheckOptions,
    context: &CheckContext<'_>,
    decision: &mut Decision,
) {
    let (system, mut problems) = (Arc::clone(&decision.system), Vec::new());
    let ours = |config: &CheckConfig, cancel: &Cancellation, observer: &dyn Observer| {
        let (folder, earlier) = (options.cache.as_deref(), options.earlier.as_deref());
        if folder.is_none() && earlier.is_none() {
            return gander_engines::check(&system, config, cancel, observer);
        }
        let cache = ProofCache::new(folder, earlier, model.source());
        let (report, found) = cache.check(&system, config, cancel, observer);
        problems = found;
        report
    };
    let (cancel, observer) = (context.cancel, context.observer);
    // Tools get the system with declared ranges as types, as far as these are proved.
    let ranged = if options.tools.is_empty() {
        Arc::clone(&system)
    } else {
        ranges::proved_in_part_of(&system, config, cancel)
    };
    (decision.report, decision.tools) =
        race::race(&ranged, config, &options.tools, cancel, observer, ours);
    decision.cache_problems = problems;
}
