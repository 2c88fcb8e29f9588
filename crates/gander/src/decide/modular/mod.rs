//! Modular analysis: nodes are checked alone, and proved contracts replace the bodies of called
//! nodes.
//!
//! Callees come first. A node whose promises are all proved is *abstracted* where it is called: its
//! outputs are arbitrary values that satisfy the contract. A claim that is not proved this way is
//! tried again with the abstracted calls that it depends on replaced by bodies, one level of calls
//! at a time. Claims that are still open are decided in the system as the front-end produced it. So
//! a claim never fails because of an abstraction, and every run is a run of the program.

mod cone;
mod facts;
mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gander_certify::Basis;
use gander_engines::{Cancellation, CheckConfig, CheckReport, Event, Observer};
use gander_lang::lustre::{ClaimRole, ClaimSource, Modules};
use gander_system::{ClaimId, System, Verdict};
use serde_json::Value;

use facts::{Fact, Facts, Part};

pub use tree::{CONTRACT_TREE, check_contract_tree, is_contract_tree};

/// Time limit for one abstracted system if the user gives none.
const STAGE: Duration = Duration::from_secs(10);

/// A claim that holds by a contract tree.
#[derive(Debug)]
pub(crate) struct Proved {
    /// The claim, of the system as the front-end produced it.
    pub(crate) claim: ClaimId,
    /// The system in which it was proved, with the claim there and the verdict.
    pub(crate) system: Arc<System>,
    pub(crate) own_claim: ClaimId,
    pub(crate) verdict: Verdict,
    pub(crate) engine: String,
    /// What all proofs of the tree rest on.
    pub(crate) basis: Basis,
    /// The time since the analysis began.
    pub(crate) elapsed: Duration,
    /// The node in which it was proved, if it is not the root.
    pub(crate) shown_in: Option<String>,
    /// The nodes that are abstracted in the proof.
    pub(crate) abstracted: Vec<String>,
    /// The contract tree in its file form.
    pub(crate) file: Value,
}

/// What an analysis found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Claims that hold by contract trees.
    pub(crate) proved: Vec<Proved>,
    /// Verdicts about the other claims.
    pub(crate) report: CheckReport,
    /// Internal errors while nodes were checked alone.
    pub(crate) internal_errors: Vec<String>,
    /// Contracts that could not replace the bodies of their nodes.
    pub(crate) unused: Vec<UnusedContract>,
}

/// A contract that does not replace the body of its node where it is called.
#[derive(Debug)]
pub(crate) struct UnusedContract {
    /// The node.
    pub(crate) node: String,
    /// Its promises that could not be proved of the node alone.
    pub(crate) unproved: Vec<String>,
}

/// Decides the claims of `system` that `config` names. The system is that of the node of its name.
pub(crate) fn analyse(
    modules: &Modules,
    system: &Arc<System>,
    config: &CheckConfig,
    cancel: &Cancellation,
    observer: &dyn Observer,
) -> Found {
    let started = Instant::now();
    let stages = Stages { observer, working: AtomicBool::new(false), last: AtomicBool::new(false) };
    let mut analysis = Analysis {
        facts: Facts::new(modules),
        config,
        cancel,
        observer: &stages,
        deadline: config.timeout.and_then(|t| started.checked_add(t)),
        internal_errors: Vec::new(),
    };
    let mut usable: Vec<String> = Vec::new();
    let mut unused = Vec::new();
    for node in modules.candidates(system.name()) {
        if cancel.is_cancelled() {
            break;
        }
        analysis.analyse_node(&node, &usable, None);
        match analysis.facts.unproved_promises(&node) {
            Some(open) if open.is_empty() => usable.push(node),
            Some(unproved) => unused.push(UnusedContract { node, unproved }),
            None => {}
        }
    }
    let whole = analysis.facts.whole(system.name());
    let wanted: Vec<(ClaimId, ClaimSource)> = match &whole {
        Some(whole) if !usable.is_empty() => {
            let same = |id: &ClaimId| {
                system.claims().get(id.index()).map(|c| &c.name)
                    == Some(&whole.system.claims()[id.index()].name)
            };
            let named = whole.always().filter(|(id, _)| config.claims.contains(id) && same(id));
            named.map(|(id, source)| (id, source.clone())).collect()
        }
        _ => Vec::new(),
    };
    if !wanted.is_empty() {
        analysis.analyse_node(system.name(), &usable, Some(&wanted));
    }
    let elapsed = started.elapsed();
    let mut proved = Vec::new();
    for (claim, source) in wanted {
        match analysis.proved(system, claim, &source, elapsed) {
            Some(Ok(found)) => proved.push(found),
            Some(Err(problem)) => analysis.internal_errors.push(problem),
            None => {}
        }
    }
    let internal_errors = analysis.internal_errors;
    let left: Vec<ClaimId> = config
        .claims
        .iter()
        .copied()
        .filter(|c| !proved.iter().any(|p: &Proved| p.claim == *c))
        .collect();
    let report = if left.is_empty() {
        CheckReport::default()
    } else {
        let timeout = config
            .timeout
            .map(|t| t.saturating_sub(started.elapsed()).max(Duration::from_millis(1)));
        let config = CheckConfig { claims: left, timeout, ..config.clone() };
        stages.last.store(true, Ordering::SeqCst);
        gander_engines::check(system, &config, cancel, &stages)
    };
    Found { proved, report, internal_errors, unused }
}

struct Analysis<'a> {
    facts: Facts<'a>,
    config: &'a CheckConfig,
    cancel: &'a Cancellation,
    observer: &'a Stages<'a>,
    deadline: Option<Instant>,
    internal_errors: Vec<String>,
}

impl Analysis<'_> {
    /// Checks a node with the calls of `usable` nodes abstracted, then with fewer abstractions,
    /// until everything is proved or none is left. For the root, only what `wanted` needs is
    /// checked, and never without abstraction.
    fn analyse_node(
        &mut self,
        node: &str,
        usable: &[String],
        wanted: Option<&[(ClaimId, ClaimSource)]>,
    ) {
        let Some(whole) = self.facts.whole(node) else { return };
        let goals: Vec<ClaimSource> = match wanted {
            Some(wanted) => wanted.iter().map(|(_, source)| source.clone()).collect(),
            None => whole.always().map(|(_, source)| source.clone()).collect(),
        };
        let is_root = wanted.is_some();
        let mut abstracted = usable.to_vec();
        loop {
            let Some(part) = self.facts.part(node, &abstracted) else { return };
            if is_root && part.abstracted.is_empty() || self.cancel.is_cancelled() {
                return;
            }
            // Claims inside called nodes need what their callers guarantee.
            let asked: Vec<ClaimId> = part
                .always()
                .filter(|(_, s)| !is_root || s.role.is_of_caller() || goals.contains(s))
                .filter(|(_, s)| self.facts.implied_by(node, s).is_none())
                .map(|(id, _)| id)
                .collect();
            if !self.decide(node, &part, asked) {
                return;
            }
            let is_open = |s: &&ClaimSource| {
                s.role != ClaimRole::Modes && self.facts.implied_by(node, s).is_none()
            };
            let open: Vec<&ClaimSource> = goals.iter().filter(is_open).collect();
            if open.is_empty() || part.abstracted.is_empty() {
                return;
            }
            let replaced = cone::to_replace(&part, &open);
            abstracted.retain(|name| !replaced.contains(name));
        }
    }

    /// Runs the engines on claims of a part, and records what holds. False if the time is over.
    fn decide(&mut self, node: &str, part: &Arc<Part>, asked: Vec<ClaimId>) -> bool {
        if asked.is_empty() {
            return true;
        }
        let timeout = match self.deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()) / 4,
            None => STAGE,
        };
        if timeout.is_zero() {
            return false;
        }
        let config = CheckConfig { claims: asked, timeout: Some(timeout), ..self.config.clone() };
        let report = gander_engines::check(&part.system, &config, self.cancel, self.observer);
        for e in &report.internal_errors {
            let claim = &part.system.claims()[e.claim.index()].name;
            self.internal_errors
                .push(format!("{}, node `{node}`, claim `{claim}`: {}", e.engine, e.problem));
        }
        for outcome in report.outcomes {
            if let Verdict::Holds(_) = outcome.verdict {
                let fact = Fact {
                    node: node.to_string(),
                    claim: outcome.claim,
                    part: Arc::clone(part),
                    verdict: outcome.verdict,
                    engine: outcome.engine,
                    basis: outcome.basis,
                };
                // A claim that exists only with abstraction is dropped.
                let _ = self.facts.establish(fact);
            }
        }
        true
    }

    /// The contract tree for a claim of the root, if the facts imply it. The tree is checked like a
    /// saved one, except for its evidence, which was checked when it was found.
    fn proved(
        &mut self,
        system: &Arc<System>,
        claim: ClaimId,
        source: &ClaimSource,
        elapsed: Duration,
    ) -> Option<Result<Proved, String>> {
        let facts = self.facts.implied_by(system.name(), source)?;
        let name = &system.claims()[claim.index()].name;
        let tree = tree::write_tree(&mut self.facts, system, name, &facts)?;
        let mut checked = self.facts.forget();
        if let Err(problem) = tree::check_tree(&mut checked, &tree.file, &mut |_, _, _| Ok(())) {
            return Some(Err(format!(
                "the contract tree for `{name}` did not pass its check: {problem}"
            )));
        }
        let main = self.facts.list[facts[0]].clone();
        Some(Ok(Proved {
            claim,
            system: Arc::clone(&main.part.system),
            own_claim: main.claim,
            verdict: main.verdict,
            engine: main.engine,
            basis: tree.basis,
            elapsed,
            shown_in: (main.node != system.name()).then_some(main.node),
            abstracted: tree.abstracted,
            file: tree.file,
        }))
    }
}

/// Makes several checks look like one: only claims that the last check settles are reported.
struct Stages<'a> {
    observer: &'a dyn Observer,
    working: AtomicBool,
    last: AtomicBool,
}

impl Observer for Stages<'_> {
    fn event(&self, e: &Event) {
        match e {
            Event::Working if self.working.swap(true, Ordering::SeqCst) => {}
            Event::Working | Event::Progress { .. } => self.observer.event(e),
            _ if self.last.load(Ordering::SeqCst) => self.observer.event(e),
            _ => {}
        }
    }
}
