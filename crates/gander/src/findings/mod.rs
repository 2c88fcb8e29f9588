//! Findings that lint a model (docs/findings.md): candidates of the system, settled like claims.
//!
//! They are looked for once the claims are decided, with what is known from that: nodes and conditions that some run has
//! shown already are not asked for again, and proved invariants help with the rest. There is little time for them
//! ([`TIME`]); what is not decided is not mentioned.

mod messages;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker};
use gander_engines::{Cancellation, CheckConfig, CheckReport, NullObserver};
use gander_lang::{Allowance, Code, Diagnostic};
use gander_system::{
    ClaimId, Condition, Effect, Element, Evidence, Leg, LintCandidate, NodeFormulas, NodeId, Run, Span, State,
    StateTerm, Step, System, Verdict,
};
use gander_term::{Pool, TermId, Value, evaluate};

use messages::Messages;

/// How long candidates are looked into.
const TIME: Duration = Duration::from_secs(1);
/// How many are.
const MOST: usize = 200;
/// States of known runs that conditions are tried on.
const MOST_STATES: usize = 2000;
/// Proved invariants that are used as lemmas.
const MOST_LEMMAS: usize = 6;

/// What findings are looked for in.
pub(crate) struct Lint<'a> {
    pub system: &'a Arc<System>,
    /// What is known of it.
    pub report: &'a CheckReport,
    /// How that was found out.
    pub config: &'a CheckConfig,
    /// What the author lets be.
    pub allowances: &'a [Allowance],
    /// What the user lets be.
    pub allowed: &'a [Code],
    /// What is left of the user's time.
    pub time: Option<Duration>,
}

/// What is wrong with the model, in the order of the text.
pub(crate) fn findings(lint: &Lint<'_>, cancel: &Cancellation) -> Vec<Diagnostic> {
    let system = lint.system;
    let mut candidates = system.candidates();
    if candidates.list.is_empty() || cancel.is_cancelled() || lint.time.is_some_and(|t| t.is_zero()) {
        return Vec::new();
    }
    let begun = Instant::now();
    let time = lint.time.map_or(TIME, |t| t.min(TIME));
    let known = Known::of(system, lint.report);
    let open: Vec<bool> =
        candidates.list.iter().map(|s| lint.wanted(s) && known.leaves_open(system, candidates.pool(), s)).collect();
    let mut at = 0;
    candidates.list.retain(|_| {
        at += 1;
        open[at - 1]
    });
    candidates.list.truncate(MOST);
    if candidates.list.is_empty() {
        return Vec::new();
    }
    let lemmas: Vec<&NodeFormulas> = invariants(lint.report).take(MOST_LEMMAS).collect();
    let (asked, list) = system.with_lint_claims(candidates, &lemmas);
    let asked = Arc::new(asked);
    let mut config = lint.config.clone();
    config.claims = (0..list.len()).map(ClaimId::from).collect();
    config.timeout = Some(time);
    config.log_smt = None;
    config.second_opinion = None;
    let answers = gander_engines::check(&asked, &config, cancel, &NullObserver);
    let verdict = |i: usize| answers.outcomes.iter().find(|o| o.claim.index() == i).map(|o| &o.verdict);
    let unreached: Vec<NodeId> = list
        .iter()
        .enumerate()
        .filter_map(|(i, s)| match (s, verdict(i)) {
            (LintCandidate::NeverReached { nodes, .. }, Some(Verdict::Fails(_))) => Some(nodes.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    let say = Messages { system: &asked, source: system };
    let mut found = Vec::new();
    for (i, candidate) in list.iter().enumerate() {
        let Some(verdict) = verdict(i) else { continue };
        found.extend(match (candidate, verdict) {
            (LintCandidate::DivisionInStep { element, divisor, .. }, Verdict::Holds(Evidence::Run(run))) => {
                Some(say.division_in_step(*element, divisor, run))
            }
            (LintCandidate::DivisionInClaim { claim, divisor, .. }, Verdict::Holds(Evidence::Run(run))) => {
                Some(say.division_in_claim(*claim, divisor, run))
            }
            (LintCandidate::NeverProvided(number), Verdict::Fails(_)) => Some(say.never_provided(*number)),
            (LintCandidate::NeverReached { name, span, nodes }, Verdict::Fails(evidence)) => {
                Some(say.never_reached(name, *span, nodes, evidence))
            }
            (LintCandidate::AlwaysTrue { element, transition, cases }, Verdict::Holds(_))
                if cases.iter().any(|c| known.visited[c.node.index()] && !unreached.contains(&c.node)) =>
            {
                Some(say.always_true(*element, *transition))
            }
            (LintCandidate::Overlap(pairs), Verdict::Holds(Evidence::Run(run))) => say.overlap(pairs, run),
            (LintCandidate::WrongHint { places }, Verdict::Fails(Evidence::Run(run))) => say.wrong_hint(places, run),
            _ => None,
        });
    }
    let wrong = |node: NodeId, hint: &Element<StateTerm>| {
        list.iter().enumerate().any(|(i, s)| {
            matches!(s, LintCandidate::WrongHint { places } if places.contains(&(node, hint.id)))
                && matches!(verdict(i), Some(Verdict::Fails(_)))
        })
    };
    let left = time.saturating_sub(begun.elapsed()).max(Duration::from_millis(100));
    found.extend(gaps(lint, &say, left, &wrong));
    found.retain(|d| !lint.is_allowed(d));
    found.sort_by_key(|d| d.primary.span.start);
    found
}

impl Lint<'_> {
    fn is_allowed(&self, diagnostic: &Diagnostic) -> bool {
        self.allowed.contains(&diagnostic.code) || self.allowances.iter().any(|a| a.covers(diagnostic))
    }

    /// False if nobody would hear of it.
    fn wanted(&self, candidate: &LintCandidate) -> bool {
        let (code, span) = messages::heading(self.system, candidate);
        // Whether an invariant is inductive is another question, with another code.
        code == Code::W0815 || !self.is_allowed(&Diagnostic::new(code, span, ""))
    }
}

/// The invariants of the author's that no run breaks, but some step does.
fn gaps(
    lint: &Lint<'_>,
    say: &Messages<'_>,
    time: Duration,
    wrong: &dyn Fn(NodeId, &Element<StateTerm>) -> bool,
) -> Vec<Diagnostic> {
    let system = lint.system;
    if system.nodes.iter().all(|n| n.hints.is_empty()) || lint.allowed.contains(&Code::W0816) {
        return Vec::new();
    }
    let mut pool = Pool::fork(&system.pool);
    let by_node: Vec<TermId> = system
        .node_ids()
        .map(|n| {
            let good: Vec<TermId> =
                system.node(n).hints.iter().filter(|&h| !wrong(n, h)).map(|h| h.term.term()).collect();
            pool.and(good)
        })
        .collect();
    let formulas = NodeFormulas { pool: pool.freeze(), by_node: by_node.into() };
    let limits = CheckLimits { query: Some(time), total: Some(time), ..CheckLimits::default() };
    let mut checker = Checker::new(&lint.config.solvers, limits);
    let begun = Instant::now();
    let mut found = Vec::new();
    // In a composed system an invariant is one of many nodes; one step that breaks it is enough.
    let mut told: Vec<Option<Span>> = Vec::new();
    for n in system.node_ids() {
        for hint in system.node(n).hints.iter().filter(|&h| !wrong(n, h)) {
            let span = system.elements[hint.id.index()].span;
            if begun.elapsed() >= time {
                return found;
            }
            if told.contains(&span) {
                continue;
            }
            if let Ok(Some(gap)) = checker.gap(system, &formulas, n, hint.term.term()) {
                told.push(span);
                found.push(say.gap(n, hint.id, &gap));
            }
        }
    }
    found
}

/// The inductive invariants that were proved.
fn invariants(report: &CheckReport) -> impl Iterator<Item = &NodeFormulas> {
    report.outcomes.iter().filter_map(|o| match &o.verdict {
        Verdict::Holds(Evidence::Invariant(formulas)) | Verdict::Fails(Evidence::Invariant(formulas)) => Some(formulas),
        _ => None,
    })
}

/// What the runs of a report have shown.
struct Known {
    visited: Vec<bool>,
    states: Vec<State>,
}

impl Known {
    fn of(system: &System, report: &CheckReport) -> Known {
        let mut known = Known { visited: vec![false; system.nodes.len()], states: Vec::new() };
        for outcome in &report.outcomes {
            let run = match &outcome.verdict {
                Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run)) => run,
                Verdict::Holds(Evidence::Lasso { run, .. } | Evidence::Recurrent { run, .. })
                | Verdict::Fails(Evidence::Lasso { run, .. } | Evidence::Recurrent { run, .. }) => run,
                _ => continue,
            };
            known.add(system, run);
        }
        known
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
                    // Which round it is nobody says: the values are those of the last one, or not known.
                    values = None;
                    open.push(body.iter());
                }
                Some(Leg::Step(step)) => {
                    let node = system.transition(step.transition).target;
                    self.visited[node.index()] = true;
                    values = step.next.clone().or_else(|| next_values(system, step, values.as_deref()?));
                    if let Some(values) = values.as_ref().filter(|_| self.states.len() < MOST_STATES) {
                        self.states.push(State { node, values: values.clone() });
                    }
                }
            }
        }
    }

    /// False if a run has shown that the candidate is wrong.
    fn leaves_open(&self, system: &System, pool: &Pool, candidate: &LintCandidate) -> bool {
        match candidate {
            LintCandidate::NeverReached { nodes, .. } => !nodes.iter().any(|n| self.visited[n.index()]),
            LintCandidate::AlwaysTrue { cases, .. } => {
                let refuted = |c: &Condition| {
                    let conditions = || std::iter::once(&c.term).chain(&c.samples);
                    let mut here = self.states.iter().filter(|s| s.node == c.node);
                    here.any(|s| conditions().any(|&t| has_value(system, pool, t, s, false)))
                };
                cases.iter().any(|c| self.visited[c.node.index()]) && !cases.iter().any(refuted)
            }
            LintCandidate::NeverProvided(number) => {
                let condition = system.conditions[*number].condition.term();
                !self.states.iter().any(|s| has_value(system, pool, condition, s, true))
            }
            _ => true,
        }
    }
}

/// The values behind a step whose effect gives all of them.
pub(crate) fn next_values(system: &System, step: &Step, before: &[Value]) -> Option<Vec<Value>> {
    let transition = system.transition(step.transition);
    let mut after: Vec<Option<Value>> = vec![None; system.vars.len()];
    let look = |s| {
        let var = system.vars.iter().position(|v| v.current == s).map(|i| &before[i]);
        let param = || transition.params.iter().position(|p| p.symbol == s).and_then(|i| step.params.get(i));
        var.or_else(param).cloned()
    };
    for effect in &transition.effect {
        match *effect {
            Effect::Assign { var, value, .. } => {
                after[var.index()] = evaluate(&system.pool, value.term(), &look).ok();
            }
            Effect::Keep { var, .. } => after[var.index()] = before.get(var.index()).cloned(),
            Effect::Constrain { .. } => {}
        }
    }
    after.into_iter().collect()
}

/// Whether a condition is known to be true, or false, in a state.
fn has_value(system: &System, pool: &Pool, condition: TermId, state: &State, value: bool) -> bool {
    let look = |s| system.vars.iter().position(|v| v.current == s).map(|i| state.values[i].clone());
    evaluate(pool, condition, &look) == Ok(Value::Bool(value))
}
