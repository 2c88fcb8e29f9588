//! Lint: findings about a model that was decided (docs/findings.md), as diagnostics.
//!
//! Candidates of the system are decided like claims, with what is known from its verdicts: nodes and
//! conditions that some run has shown are not examined again, and proved invariants are lemmas for
//! the rest. The time is limited ([`TIME`]); undecided candidates are counted, so that what is not
//! reported and not counted was searched for and not found.

mod contracts;
mod messages;
mod undecided;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker};
use gander_engines::{Cancellation, CheckConfig, CheckReport, NullObserver};
use gander_lang::{Allowance, Code, Diagnostic};
use gander_system::{
    ClaimId, Condition, Effect, Element, Evidence, Leg, LintCandidate, NodeFormulas, NodeId, Run,
    Span, State, StateTerm, Step, System, Verdict,
};
use gander_term::{Importer, Pool, TermId, Value, evaluate};

use crate::decide::{CheckContext, Decision, RunExistence};
use crate::model::Model;
use crate::options::{CheckOptions, Findings};
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
/// States of known runs that conditions are evaluated in.
const MAX_STATES: usize = 2000;
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

fn findings(lint: &Lint<'_>, cancel: &Cancellation) -> LintReport {
    let system = lint.system;
    let mut candidates = system.candidates();
    let mut undecided = Undecided::default();
    for candidate in &candidates.too_large {
        lint.leave_open(&mut undecided, candidate);
    }
    if candidates.list.is_empty() {
        return LintReport { found: Vec::new(), undecided };
    }
    let begun = Instant::now();
    let time = lint.time.map_or(TIME, |t| t.min(TIME));
    let mut known = Known::of(system, lint.report, lint.runs);
    let open: Vec<bool> = candidates
        .list
        .iter()
        .map(|s| lint.wanted(s) && known.leaves_open(system, candidates.pool(), s))
        .collect();
    let mut at = 0;
    candidates.list.retain(|_| {
        at += 1;
        open[at - 1]
    });
    let decided = if time.is_zero() || cancel.is_cancelled() { 0 } else { MAX_CANDIDATES };
    for candidate in candidates.list.iter().skip(decided) {
        lint.leave_open(&mut undecided, candidate);
        // Nor is it decided whether the invariant is inductive.
        if decided == 0 && matches!(candidate, LintCandidate::WrongHint { .. }) {
            let (_, span) = messages::heading(system, candidate);
            lint.leave_open_at(&mut undecided, Code::W0816, span);
        }
    }
    candidates.list.truncate(decided);
    if candidates.list.is_empty() {
        return LintReport { found: Vec::new(), undecided };
    }
    let lemmas: Vec<&NodeFormulas> = invariants(lint.report).take(MAX_LEMMAS).collect();
    let (asked, list) = system.with_lint_claims(candidates, &lemmas);
    let asked = Arc::new(asked);
    let mut config = lint.config.clone();
    config.claims = (0..list.len()).map(ClaimId::from).collect();
    config.timeout = Some(time);
    config.log_smt = None;
    config.second_opinion = None;
    let answers = gander_engines::check(&asked, &config, cancel, &NullObserver);
    let verdict =
        |i: usize| answers.outcomes.iter().find(|o| o.claim.index() == i).map(|o| &o.verdict);
    let unreached: Vec<NodeId> = list
        .iter()
        .enumerate()
        .filter_map(|(i, s)| match (s, verdict(i)) {
            (LintCandidate::NeverReached { nodes, .. }, Some(Verdict::Fails(_))) => {
                Some(nodes.clone())
            }
            _ => None,
        })
        .flatten()
        .collect();
    known.visit(system, &answers);
    let messages = Messages { system: &asked, source: system };
    let mut found = Vec::new();
    for (i, candidate) in list.iter().enumerate() {
        let Some(verdict) = verdict(i) else {
            lint.leave_open(&mut undecided, candidate);
            continue;
        };
        found.extend(match (candidate, verdict) {
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
            (LintCandidate::NeverReached { name, span, nodes }, Verdict::Fails(evidence)) => {
                Some(messages.never_reached(name, *span, nodes, evidence))
            }
            (LintCandidate::AlwaysTrue { element, transition, cases }, Verdict::Holds(_)) => {
                // A condition at a node that no run reaches is no finding.
                if cases.iter().any(|c| known.visited[c.node.index()]) {
                    Some(messages.always_true(*element, *transition))
                } else {
                    if !cases.iter().all(|c| unreached.contains(&c.node)) {
                        lint.leave_open(&mut undecided, candidate);
                    }
                    None
                }
            }
            (LintCandidate::Overlap(pairs), Verdict::Holds(Evidence::Run(run))) => {
                messages.overlap(pairs, run)
            }
            (LintCandidate::WrongHint { places }, Verdict::Fails(Evidence::Run(run))) => {
                messages.wrong_hint(places, run)
            }
            (_, Verdict::Unknown { .. }) => {
                lint.leave_open(&mut undecided, candidate);
                None
            }
            _ => None,
        });
    }
    let status = |node: NodeId, hint: &Element<StateTerm>| {
        let about = |s: &LintCandidate| matches!(s, LintCandidate::WrongHint { places } if places.contains(&(node, hint.id)));
        let verdicts = list.iter().enumerate().filter(|(_, s)| about(s)).map(|(i, _)| verdict(i));
        let mut status = HintStatus::Undecided;
        for v in verdicts {
            match v {
                Some(Verdict::Fails(_)) => return HintStatus::Wrong,
                Some(Verdict::Holds(_)) => status = HintStatus::Proved,
                _ => {}
            }
        }
        status
    };
    let known: Vec<&NodeFormulas> =
        invariants(lint.report).chain(invariants(&answers)).take(MAX_KNOWN).collect();
    let left = time.saturating_sub(begun.elapsed()).max(Duration::from_millis(100));
    let gaps = gaps(lint, &messages, left, &known, &status);
    found.extend(gaps.found);
    undecided.add(&gaps.undecided);
    found.retain(|d| !lint.is_allowed(d));
    found.sort_by_key(|d| d.primary.span.start);
    LintReport { found, undecided }
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
    fn wanted(&self, candidate: &LintCandidate) -> bool {
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
    if system.nodes().iter().all(|n| n.hints.is_empty()) || lint.allowed.contains(&Code::W0816) {
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
    let mut told: Vec<Option<Span>> = Vec::new();
    let mut open: Vec<Option<Span>> = Vec::new();
    for n in system.node_ids() {
        let mut by_node = all.clone();
        by_node[n.index()] = own[n.index()];
        let formulas = NodeFormulas { pool: pool.clone(), by_node: by_node.into() };
        for hint in &system.node(n).hints {
            let status = status(n, hint);
            let span = system.elements()[hint.id.index()].span;
            if status == HintStatus::Wrong || told.contains(&span) {
                continue;
            }
            if begun.elapsed() >= time {
                open.push(span);
                continue;
            }
            match checker.gap(system, &formulas, n, hint.term.term()) {
                Ok(None) => {}
                Ok(Some(gap)) => {
                    told.push(span);
                    found.push(messages.gap(n, hint.id, &gap, status));
                }
                Err(_) => open.push(span),
            }
        }
    }
    let mut undecided = Undecided::default();
    open.retain(|span| !told.contains(span));
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

/// What the runs of a report have shown.
struct Known {
    visited: Vec<bool>,
    states: Vec<State>,
}

impl Known {
    fn of(system: &System, report: &CheckReport, runs: &RunExistence) -> Known {
        let mut known = Known { visited: vec![false; system.nodes().len()], states: Vec::new() };
        if let ([start], RunExistence::Exists) = (system.starts(), runs) {
            known.visited[start.target.index()] = true;
        }
        known.visit(system, report);
        known
    }

    /// Adds the runs of a report.
    fn visit(&mut self, system: &System, report: &CheckReport) {
        for outcome in &report.outcomes {
            let run = match &outcome.verdict {
                Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run)) => run,
                Verdict::Holds(Evidence::Lasso { run, .. } | Evidence::Recurrent { run, .. })
                | Verdict::Fails(Evidence::Lasso { run, .. } | Evidence::Recurrent { run, .. }) => {
                    run
                }
                _ => continue,
            };
            self.add(system, run);
        }
    }

    fn add(&mut self, system: &System, run: &Run) {
        self.visited[run.first.node.index()] = true;
        self.states.push(run.first.clone());
        let mut values = Some(run.first.values.clone());
        let mut open: Vec<std::slice::Iter<'_, Leg>> = vec![run.legs.iter()];
        while let Some(legs) = open.last_mut() {
            match legs.next() {
                None => drop(open.pop()),
                Some(Leg::Repeat { body, .. }) => {
                    // The values of a single round are unknown.
                    values = None;
                    open.push(body.iter());
                }
                Some(Leg::Step(step)) => {
                    let node = system.transition(step.transition).target;
                    self.visited[node.index()] = true;
                    values =
                        step.next.clone().or_else(|| next_values(system, step, values.as_deref()?));
                    if let Some(values) = values.as_ref().filter(|_| self.states.len() < MAX_STATES)
                    {
                        self.states.push(State { node, values: values.clone() });
                    }
                }
            }
        }
    }

    /// False if a run has shown that the candidate is wrong.
    fn leaves_open(&self, system: &System, pool: &Pool, candidate: &LintCandidate) -> bool {
        match candidate {
            LintCandidate::NeverReached { nodes, .. } => {
                !nodes.iter().any(|n| self.visited[n.index()])
            }
            LintCandidate::AlwaysTrue { cases, .. } => {
                let refuted = |c: &Condition| {
                    let conditions = || std::iter::once(&c.term).chain(&c.samples);
                    let mut here = self.states.iter().filter(|s| s.node == c.node);
                    here.any(|s| conditions().any(|&t| has_value(system, pool, t, s, false)))
                };
                !cases.iter().any(refuted)
            }
            LintCandidate::NeverProvided(number) => {
                let condition = system.conditions()[*number].condition.term();
                !self.states.iter().any(|s| has_value(system, pool, condition, s, true))
            }
            _ => true,
        }
    }
}

/// The values after a step, if its effect assigns all of them.
pub(crate) fn next_values(system: &System, step: &Step, before: &[Value]) -> Option<Vec<Value>> {
    let transition = system.transition(step.transition);
    let mut after: Vec<Option<Value>> = vec![None; system.vars().len()];
    let look = |s| {
        let var = system.vars().iter().position(|v| v.current == s).map(|i| &before[i]);
        let param = || {
            transition.params.iter().position(|p| p.symbol == s).and_then(|i| step.params.get(i))
        };
        var.or_else(param).cloned()
    };
    for effect in &transition.effect {
        match *effect {
            Effect::Assign { var, value, .. } => {
                after[var.index()] = evaluate(system.pool(), value.term(), &look).ok();
            }
            Effect::Keep { var, .. } => after[var.index()] = before.get(var.index()).cloned(),
            Effect::Constrain { .. } => {}
        }
    }
    after.into_iter().collect()
}

/// True if a condition evaluates to `value` in a state.
fn has_value(system: &System, pool: &Pool, condition: TermId, state: &State, value: bool) -> bool {
    let look =
        |s| system.vars().iter().position(|v| v.current == s).map(|i| state.values[i].clone());
    evaluate(pool, condition, &look) == Ok(Value::Bool(value))
}
