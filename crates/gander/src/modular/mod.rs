//! Analysis node by node: contracts stand for the nodes that have them.
//!
//! Nodes are looked at alone, callees first. A node whose promises all hold is *abstracted* where it is called: its
//! outputs are arbitrary but keep the contract. What cannot be shown so is tried again with the abstracted calls replaced
//! by bodies, those that it depends on, one level of calls at a time; what is left in the end is decided in the system as the front-end produced it.
//! So a claim never fails because of an abstraction, and every run that is shown is a run of the program.

mod book;
mod cone;
mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gander_certify::Basis;
use gander_engines::{Cancellation, CheckConfig, CheckReport, Event, Observer};
use gander_lang::lustre::{ClaimRole, ClaimSource, Modules};
use gander_report::{DiagnosticView, Severity};
use gander_system::{ClaimId, System, Verdict};
use serde_json::Value;

use book::{Book, Fact, Part};

pub use tree::{CONTRACT_TREE, check_contract_tree, is_contract_tree};

/// Time for one system that is not the last if no time limit is given.
const STAGE: Duration = Duration::from_secs(10);

/// A claim that holds by a contract tree.
#[derive(Debug)]
pub(crate) struct Proved {
    /// The claim, of the system as the front-end produced it.
    pub(crate) claim: ClaimId,
    /// The system in which it was shown, with the claim there and the answer.
    pub(crate) system: Arc<System>,
    pub(crate) own_claim: ClaimId,
    pub(crate) verdict: Verdict,
    pub(crate) engine: String,
    /// What the verdict rests on, with all that the tree is made of.
    pub(crate) basis: Basis,
    /// The time from the beginning.
    pub(crate) elapsed: Duration,
    /// The node in which it was shown, if it is not the root.
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
    /// Answers to the other ones.
    pub(crate) report: CheckReport,
    /// What went wrong inside while nodes were looked at alone.
    pub(crate) internal_errors: Vec<String>,
    /// What the reader should know.
    pub(crate) notes: Vec<DiagnosticView>,
}

/// Decides the claims that `config` names, of `system`, which is that of the node of the same name.
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
        book: Book::new(modules),
        config,
        cancel,
        observer: &stages,
        deadline: config.timeout.and_then(|t| started.checked_add(t)),
        internal_errors: Vec::new(),
    };
    let mut usable: Vec<String> = Vec::new();
    let mut notes = Vec::new();
    for node in modules.candidates(&system.name) {
        if cancel.is_cancelled() {
            break;
        }
        analysis.look_at(&node, &usable, None);
        match analysis.book.unproved_promises(&node) {
            Some(open) if open.is_empty() => usable.push(node),
            Some(open) => notes.push(unused(&node, &open)),
            None => {}
        }
    }
    let whole = analysis.book.whole(&system.name);
    let wanted: Vec<(ClaimId, ClaimSource)> = match &whole {
        Some(whole) if !usable.is_empty() => {
            let same = |id: &ClaimId| {
                system.claims.get(id.index()).map(|c| &c.name) == Some(&whole.system.claims[id.index()].name)
            };
            let named = whole.always().filter(|(id, _)| config.claims.contains(id) && same(id));
            named.map(|(id, source)| (id, source.clone())).collect()
        }
        _ => Vec::new(),
    };
    if !wanted.is_empty() {
        analysis.look_at(&system.name, &usable, Some(&wanted));
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
    let left: Vec<ClaimId> =
        config.claims.iter().copied().filter(|c| !proved.iter().any(|p: &Proved| p.claim == *c)).collect();
    let report = if left.is_empty() {
        CheckReport::default()
    } else {
        let timeout = config.timeout.map(|t| t.saturating_sub(started.elapsed()).max(Duration::from_millis(1)));
        let config = CheckConfig { claims: left, timeout, ..config.clone() };
        stages.last.store(true, Ordering::SeqCst);
        gander_engines::check(system, &config, cancel, &stages)
    };
    Found { proved, report, internal_errors, notes }
}

struct Analysis<'a> {
    book: Book<'a>,
    config: &'a CheckConfig,
    cancel: &'a Cancellation,
    observer: &'a Stages<'a>,
    deadline: Option<Instant>,
    internal_errors: Vec<String>,
}

impl Analysis<'_> {
    /// Looks at a node with the calls of `usable` nodes abstracted, and with fewer of them until everything is shown or
    /// no abstraction is left. Of the root only what `wanted` needs is asked, and never without abstraction.
    fn look_at(&mut self, node: &str, usable: &[String], wanted: Option<&[(ClaimId, ClaimSource)]>) {
        let Some(whole) = self.book.whole(node) else { return };
        let goals: Vec<ClaimSource> = match wanted {
            Some(wanted) => wanted.iter().map(|(_, source)| source.clone()).collect(),
            None => whole.always().map(|(_, source)| source.clone()).collect(),
        };
        let is_root = wanted.is_some();
        let mut abstracted = usable.to_vec();
        loop {
            let Some(part) = self.book.part(node, &abstracted) else { return };
            if is_root && part.abstracted.is_empty() || self.cancel.is_cancelled() {
                return;
            }
            // What callers keep is needed for claims inside of what they call.
            let asked: Vec<ClaimId> = part
                .always()
                .filter(|(_, s)| !is_root || s.role.is_of_caller() || goals.contains(s))
                .filter(|(_, s)| self.book.why(node, s).is_none())
                .map(|(id, _)| id)
                .collect();
            if !self.decide(node, &part, asked) {
                return;
            }
            let is_open = |s: &&ClaimSource| s.role != ClaimRole::Modes && self.book.why(node, s).is_none();
            let open: Vec<&ClaimSource> = goals.iter().filter(is_open).collect();
            if open.is_empty() || part.abstracted.is_empty() {
                return;
            }
            let replaced = cone::to_replace(&part, &open);
            abstracted.retain(|name| !replaced.contains(name));
        }
    }

    /// Asks the engines about claims of a part, and takes down what holds. False if the time is over.
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
            let claim = &part.system.claims[e.claim.index()].name;
            self.internal_errors.push(format!("{}, node `{node}`, claim `{claim}`: {}", e.engine, e.problem));
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
                // A claim that the node does not have without abstraction is of no use.
                let _ = self.book.establish(fact);
            }
        }
        true
    }

    /// The contract tree for a claim of the root, if it follows from what is known. The tree is checked as a saved one is,
    /// but for the evidence in it, which was checked when it was found.
    fn proved(
        &mut self,
        system: &Arc<System>,
        claim: ClaimId,
        source: &ClaimSource,
        elapsed: Duration,
    ) -> Option<Result<Proved, String>> {
        let facts = self.book.why(&system.name, source)?;
        let name = &system.claims[claim.index()].name;
        let tree = tree::write_tree(&mut self.book, system, name, &facts)?;
        let mut checked = self.book.forget();
        if let Err(problem) = tree::check_tree(&mut checked, &tree.file, &mut |_, _, _| Ok(())) {
            return Some(Err(format!("the contract tree for `{name}` did not pass its check: {problem}")));
        }
        let main = self.book.facts[facts[0]].clone();
        Some(Ok(Proved {
            claim,
            system: Arc::clone(&main.part.system),
            own_claim: main.claim,
            verdict: main.verdict,
            engine: main.engine,
            basis: tree.basis,
            elapsed,
            shown_in: (main.node != system.name).then_some(main.node),
            abstracted: tree.abstracted,
            file: tree.file,
        }))
    }
}

/// Several checks that look like one: claims that are settled on the way are not those that were asked for.
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

fn unused(node: &str, open: &[String]) -> DiagnosticView {
    let promises: Vec<String> = open.iter().take(3).map(|p| format!("`{p}`")).collect();
    let more = if open.len() > 3 { " and others" } else { "" };
    let message = format!(
        "the contract of `{node}` does not stand for it where it is called: {}{more} could not be proved of the node alone",
        promises.join(", ")
    );
    DiagnosticView {
        code: "contract".to_string(),
        severity: Severity::Warning,
        rendered: format!("warning: {message}\n"),
        message,
        place: None,
        help: Vec::new(),
    }
}
