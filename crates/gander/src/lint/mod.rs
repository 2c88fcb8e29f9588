//! Lint: findings about a model that was decided (docs/findings.md), as diagnostics.
//!
//! Candidates of the system are decided like claims, with what is known from its verdicts: nodes
//! and conditions that some run has shown are not examined again, and proved invariants are lemmas
//! for the rest. The time is limited ([`TIME`]); undecided candidates are counted, so that what is
//! not reported and not counted was searched for and not found.

mod contracts;
mod known;
mod messages;
mod undecided;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker};
use gander_engines::{Cancellation, CheckConfig, CheckReport, NullObserver};
use gander_lang::{Allowance, Code, Diagnostic};
use gander_system::{
    ClaimId, Element, Evidence, LintCandidate, LintCandidates, NodeFormulas, NodeId, Span,
    StateTerm, Structure, System, Verdict,
};
use gander_term::{Importer, Pool, TermId};
use rustc_hash::FxHashSet;

use crate::decide::{CheckContext, Decision, RunExistence};
use crate::model::Model;
use crate::options::{CheckOptions, Findings};
use known::Known;
pub(crate) use known::next_values;
use messages::Messages;
pub(crate) use undecided::Undecided;

/// Time limit for all candidates.
pub(crate) const TIME: Duration = Duration::from_secs(1);
/// Time for counting candidates if none is left for deciding them.
const COUNTING_TIME: Duration = Duration::from_millis(100);
/// Time limit for each query about the contract of an imported node.
const CONTRACT_TIME: Duration = Duration::from_secs(2);
/// Candidates that are decided at most.
const MAX_CANDIDATES: usize = 200;
/// Proved invariants that are used as lemmas.
const MAX_LEMMAS: usize = 6;
/// Proved invariants that invariants of the author are checked relative to.
const MAX_KNOWN: usize = 12;

/// What the search for findings gave.
#[derive(Debug, Default)]
pub(crate) struct LintReport {
    /// The findings, in the order of the text.
    pub(crate) found: Vec<Diagnostic>,
    /// What was not decided.
    pub(crate) undecided: Undecided,
}

/// Findings about the system of a decision. None if only some claims were selected, or if the
/// system has no run.
pub(crate) fn lint(
    model: &Model,
    decision: &Decision,
    config: &CheckConfig,
    options: &CheckOptions,
    context: &CheckContext<'_>,
) -> LintReport {
    if options.findings == Findings::LeftOut {
        return LintReport::default();
    }
    let mut all = broken_contracts(model, decision, config, options, context);
    if config.claims.is_empty()
        || matches!(decision.runs, RunExistence::Missing)
        || !options.properties.is_empty()
    {
        return all;
    }
    let lint = Lint {
        system: &decision.system,
        report: &decision.report,
        runs: &decision.runs,
        config,
        allowances: &model.allowances,
        allowed: &options.allow,
        time: context.left(options.timeout),
    };
    let deadline = options.timeout.and_then(|t| context.started.checked_add(t));
    let deadline = deadline.map(|d| d.max(Instant::now() + COUNTING_TIME));
    let limited = context.cancel.with_deadline(deadline);
    match limited.run_cancellable(|| findings(&lint, context.cancel)) {
        Ok(searched) => {
            all.found.extend(searched.found);
            all.undecided.add(&searched.undecided);
        }
        Err(_) => all.undecided.stop_counting(),
    }
    all
}

/// Contracts of imported nodes that cannot be kept. Claims that hold may hold because of them, so
/// they are reported whatever was selected.
fn broken_contracts(
    model: &Model,
    decision: &Decision,
    config: &CheckConfig,
    options: &CheckOptions,
    context: &CheckContext<'_>,
) -> LintReport {
    let Some(modules) = &model.modules else { return LintReport::default() };
    if options.allow.contains(&Code::W0819) {
        return LintReport::default();
    }
    let time = match context.cancel.is_cancelled() {
        true => Duration::ZERO,
        false => context.left(options.timeout).map_or(CONTRACT_TIME, |t| t.min(CONTRACT_TIME)),
    };
    let asked = contracts::Asked { solvers: &config.solvers, time };
    contracts::contradictory_contracts(modules, decision.system.name(), &asked)
}

/// What is linted, and with what knowledge.
struct Lint<'a> {
    system: &'a Arc<System>,
    /// Its verdicts.
    report: &'a CheckReport,
    /// Whether it has a run.
    runs: &'a RunExistence,
    /// How they were decided.
    config: &'a CheckConfig,
    /// What the author allows in the text.
    allowances: &'a [Allowance],
    /// What the user allows.
    allowed: &'a [Code],
    /// What is left of the user's time limit.
    time: Option<Duration>,
}

/// Decides the candidates of the system, and reports those that are findings.
fn findings(lint: &Lint<'_>, cancel: &Cancellation) -> LintReport {
    let system = lint.system;
    let mut undecided = Undecided::default();
    let mut candidates = system.candidates();
    for candidate in &candidates.too_large {
        lint.leave_open(&mut undecided, candidate);
    }
    if candidates.list.is_empty() {
        return LintReport { found: Vec::new(), undecided };
    }
    let begun = Instant::now();
    let time = lint.time.map_or(TIME, |t| t.min(TIME));
    let mut known = Known::of(system, lint.report, lint.runs);
    let most = if time.is_zero() || cancel.is_cancelled() { 0 } else { MAX_CANDIDATES };
    let left = select(lint, &known, &mut candidates, most);
    let mut mentioned = Mentioned::default();
    if candidates.list.is_empty() {
        for candidate in left.iter().filter(|c| mentioned.is_new(system, c)) {
            lint.leave_open(&mut undecided, candidate);
            // Nor is it decided whether the invariant is inductive.
            if matches!(candidate, LintCandidate::WrongHint { .. }) {
                let (_, span) = messages::heading(system, candidate);
                lint.leave_open_at(&mut undecided, Code::W0816, span);
            }
        }
        return LintReport { found: Vec::new(), undecided };
    }
    let decided = DecidedCandidates::of(lint, candidates, time, cancel);
    known.visit(system, &decided.report);
    let messages = Messages { system: &decided.system, source: system };
    let (mut found, open) = decided.findings(lint, &known, &messages, &mut mentioned);
    for candidate in open.into_iter().chain(&left) {
        if mentioned.is_new(system, candidate) {
            lint.leave_open(&mut undecided, candidate);
        }
    }
    let invariants: Vec<&NodeFormulas> =
        invariants(lint.report).chain(invariants(&decided.report)).take(MAX_KNOWN).collect();
    let left = time.saturating_sub(begun.elapsed()).max(Duration::from_millis(100));
    let status = |node: NodeId, hint: &Element<StateTerm>| decided.hint_status(node, hint);
    let gaps = gaps(lint, &messages, left, &invariants, &status);
    found.extend(gaps.found);
    undecided.add(&gaps.undecided);
    found.retain(|d| !lint.is_allowed(d));
    found.sort_by_key(|d| d.primary.span.start);
    LintReport { found, undecided }
}

/// Keeps the candidates to decide, at most `most`: those that are wanted and that no known run
/// refutes. Returns the rest of them.
fn select(
    lint: &Lint<'_>,
    known: &Known,
    candidates: &mut LintCandidates,
    most: usize,
) -> Vec<LintCandidate> {
    let open: Vec<bool> = candidates
        .list
        .iter()
        .map(|s| lint.is_reported(s) && known.leaves_open(lint.system, candidates.pool(), s))
        .collect();
    let mut at = 0;
    candidates.list.retain(|_| {
        at += 1;
        open[at - 1]
    });
    candidates.list.split_off(most.min(candidates.list.len()))
}

/// Candidates with their verdicts.
struct DecidedCandidates {
    /// The system with a claim for each candidate.
    system: Arc<System>,
    list: Vec<LintCandidate>,
    report: CheckReport,
}

impl DecidedCandidates {
    /// Decides candidates like claims. Proved invariants are lemmas.
    fn of(
        lint: &Lint<'_>,
        candidates: LintCandidates,
        time: Duration,
        cancel: &Cancellation,
    ) -> DecidedCandidates {
        let lemmas: Vec<&NodeFormulas> = invariants(lint.report).take(MAX_LEMMAS).collect();
        let (system, list) = lint.system.with_lint_claims(candidates, &lemmas);
        let system = Arc::new(system);
        let mut config = lint.config.clone();
        config.claims = (0..list.len()).map(ClaimId::from).collect();
        config.timeout = Some(time);
        config.log_smt = None;
        config.second_opinion = None;
        let report = gander_engines::check(&system, &config, cancel, &NullObserver);
        DecidedCandidates { system, list, report }
    }

    fn verdict(&self, candidate: usize) -> Option<&Verdict> {
        let outcome = self.report.outcomes.iter().find(|o| o.claim.index() == candidate);
        outcome.map(|o| &o.verdict)
    }

    /// The nodes that no run reaches.
    fn unreached(&self) -> Vec<NodeId> {
        let node = |(i, candidate): (usize, &LintCandidate)| match (candidate, self.verdict(i)) {
            (LintCandidate::NeverReached { node, .. }, Some(Verdict::Fails(_))) => *node,
            _ => None,
        };
        self.list.iter().enumerate().filter_map(node).collect()
    }

    /// The findings, each once, and the candidates that are not decided.
    fn findings(
        &self,
        lint: &Lint<'_>,
        known: &Known,
        messages: &Messages<'_>,
        mentioned: &mut Mentioned,
    ) -> (Vec<Diagnostic>, Vec<&LintCandidate>) {
        let unreached = self.unreached();
        let (mut found, mut open) = (Vec::new(), Vec::new());
        for (i, candidate) in self.list.iter().enumerate() {
            let finding = match (candidate, self.verdict(i)) {
                (_, None | Some(Verdict::Unknown { .. })) => {
                    open.push(candidate);
                    None
                }
                (
                    LintCandidate::AlwaysTrue { element, transition, cases },
                    Some(Verdict::Holds(_)),
                ) => {
                    // A condition at a node that no run reaches is no finding.
                    let pool = self.system.pool();
                    let reached = cases.iter().any(|c| known.has_been_at(lint.system, pool, c));
                    if !reached && !cases.iter().all(|c| unreached.contains(&c.node)) {
                        open.push(candidate);
                    }
                    reached.then(|| messages.always_true(*element, *transition))
                }
                (_, Some(verdict)) => finding(candidate, verdict, messages),
            };
            found.extend(finding.filter(|_| mentioned.is_new(lint.system, candidate)));
        }
        (found, open)
    }

    /// What the verdicts say about an invariant of the author at a node.
    fn hint_status(&self, node: NodeId, hint: &Element<StateTerm>) -> HintStatus {
        let about = |s: &LintCandidate| matches!(s, LintCandidate::WrongHint { places } if places.contains(&(node, hint.id)));
        let verdicts =
            self.list.iter().enumerate().filter(|(_, s)| about(s)).map(|(i, _)| self.verdict(i));
        let mut status = HintStatus::Undecided;
        for v in verdicts {
            match v {
                Some(Verdict::Fails(_)) => return HintStatus::Wrong,
                Some(Verdict::Holds(_)) => status = HintStatus::Proved,
                _ => {}
            }
        }
        status
    }
}

/// The finding that the verdict about a candidate shows, if it shows one.
fn finding(
    candidate: &LintCandidate,
    verdict: &Verdict,
    messages: &Messages<'_>,
) -> Option<Diagnostic> {
    match (candidate, verdict) {
        (
            LintCandidate::DivisionInStep { element, divisor, .. },
            Verdict::Holds(Evidence::Run(run)),
        ) => Some(messages.division_in_step(*element, divisor, run)),
        (
            LintCandidate::DivisionInClaim { claim, divisor, .. },
            Verdict::Holds(Evidence::Run(run)),
        ) => Some(messages.division_in_claim(*claim, divisor, run)),
        (LintCandidate::NeverProvided(number), Verdict::Fails(_)) => {
            Some(messages.never_provided(*number))
        }
        (LintCandidate::ReadsUndefined(number, reads), Verdict::Holds(Evidence::Run(run))) => {
            Some(messages.reads_undefined(*number, *reads, run))
        }
        (LintCandidate::NeverReached { name, span, node, .. }, Verdict::Fails(evidence)) => {
            Some(messages.never_reached(name, *span, *node, evidence))
        }
        (LintCandidate::Overlap(pairs), Verdict::Holds(Evidence::Run(run))) => {
            messages.overlap(pairs, run)
        }
        (LintCandidate::WrongHint { places }, Verdict::Fails(Evidence::Run(run))) => {
            messages.wrong_hint(places, run)
        }
        _ => None,
    }
}

/// The finding that several candidates may be about, each at other places: two transitions, or an
/// invariant, by their spans; `None` if no other candidate is about the same.
fn shared_finding(system: &System, candidate: &LintCandidate) -> Option<(Span, Option<Span>)> {
    match candidate {
        LintCandidate::Overlap(pairs) => {
            let &(first, second) = pairs.first()?;
            Some((system.transition(first).span?, system.transition(second).span))
        }
        LintCandidate::WrongHint { places } => {
            Some((system.elements()[places.first()?.1.index()].span?, None))
        }
        _ => None,
    }
}

/// Findings that were reported or counted.
#[derive(Default)]
struct Mentioned(FxHashSet<(Span, Option<Span>)>);

impl Mentioned {
    /// True the first time that a finding is mentioned.
    fn is_new(&mut self, system: &System, candidate: &LintCandidate) -> bool {
        shared_finding(system, candidate).is_none_or(|finding| self.0.insert(finding))
    }
}

impl Lint<'_> {
    fn is_allowed(&self, diagnostic: &Diagnostic) -> bool {
        self.allowed.contains(&diagnostic.code)
            || self.allowances.iter().any(|a| a.covers(diagnostic))
    }

    /// Counts a candidate as undecided, unless the finding is allowed.
    fn leave_open(&self, undecided: &mut Undecided, candidate: &LintCandidate) {
        let (code, span) = messages::heading(self.system, candidate);
        self.leave_open_at(undecided, code, span);
    }

    fn leave_open_at(&self, undecided: &mut Undecided, code: Code, span: Span) {
        if !self.is_allowed(&Diagnostic::new(code, span, "")) {
            undecided.count(code);
        }
    }

    /// False if the finding is allowed.
    fn is_reported(&self, candidate: &LintCandidate) -> bool {
        let (code, span) = messages::heading(self.system, candidate);
        // The candidate also decides W0816, whether the invariant is inductive.
        code == Code::W0815 || !self.is_allowed(&Diagnostic::new(code, span, ""))
    }
}

/// What is known of an invariant of the author.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HintStatus {
    /// A run violates it.
    Wrong,
    /// Every reachable state satisfies it.
    Proved,
    /// Neither was shown.
    Undecided,
}

/// The author's invariants that no run violates and that are not inductive: some step from a state
/// that satisfies the author's invariants, and what is known at other nodes, breaks them.
fn gaps(
    lint: &Lint<'_>,
    messages: &Messages<'_>,
    time: Duration,
    known: &[&NodeFormulas],
    status: &dyn Fn(NodeId, &Element<StateTerm>) -> HintStatus,
) -> LintReport {
    let system = lint.system;
    // Hints of other systems are those of a front-end, not of the author.
    if system.structure() != Structure::Drawn
        || system.vars().iter().any(|v| v.stream.is_some())
        || system.nodes().iter().all(|n| n.hints.is_empty())
        || lint.allowed.contains(&Code::W0816)
    {
        return LintReport::default();
    }
    let mut pool = Pool::fork(system.pool());
    // By node: the author's invariants alone, and together with what is known.
    let mut own: Vec<TermId> = Vec::new();
    let mut all: Vec<TermId> = Vec::new();
    for n in system.node_ids() {
        let hints = system.node(n).hints.iter();
        let hints = hints.filter(|&h| status(n, h) != HintStatus::Wrong).map(|h| h.term.term());
        let hints = pool.and(hints.collect::<Vec<_>>());
        let mut parts = vec![hints];
        for formulas in known {
            let Some(&formula) = formulas.by_node.get(n.index()) else { continue };
            parts.extend(Importer::new().import(&mut pool, &formulas.pool, formula).ok());
        }
        own.push(hints);
        all.push(pool.and(parts));
    }
    let pool = pool.freeze();
    let limits = CheckLimits { query: Some(time), total: Some(time), ..CheckLimits::default() };
    let mut checker = Checker::new(&lint.config.solvers, limits);
    let begun = Instant::now();
    let mut found = Vec::new();
    // In a composed system many nodes have the same invariant; one step that breaks it is reported.
    let mut reported: Vec<Option<Span>> = Vec::new();
    let mut open: Vec<Option<Span>> = Vec::new();
    for n in system.node_ids() {
        let mut by_node = all.clone();
        by_node[n.index()] = own[n.index()];
        let formulas = NodeFormulas { pool: pool.clone(), by_node: by_node.into() };
        for hint in &system.node(n).hints {
            let status = status(n, hint);
            let span = system.elements()[hint.id.index()].span;
            if status == HintStatus::Wrong || reported.contains(&span) {
                continue;
            }
            if begun.elapsed() >= time {
                open.push(span);
                continue;
            }
            match checker.gap(system, &formulas, n, hint.term.term()) {
                Ok(None) => {}
                Ok(Some(gap)) => {
                    reported.push(span);
                    found.push(messages.gap(n, hint.id, &gap, status));
                }
                Err(_) => open.push(span),
            }
        }
    }
    let mut undecided = Undecided::default();
    open.retain(|span| !reported.contains(span));
    open.sort();
    open.dedup();
    for span in open {
        lint.leave_open_at(&mut undecided, Code::W0816, span.unwrap_or(Span::at(0)));
    }
    LintReport { found, undecided }
}

/// The inductive invariants that were proved.
fn invariants(report: &CheckReport) -> impl Iterator<Item = &NodeFormulas> {
    report.outcomes.iter().filter_map(|o| match &o.verdict {
        Verdict::Holds(Evidence::Invariant(formulas))
        | Verdict::Fails(Evidence::Invariant(formulas)) => Some(formulas),
        _ => None,
    })
}
