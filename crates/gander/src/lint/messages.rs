//! Findings as diagnostics.

use gander_certify::Gap;
use gander_lang::{Code, Diagnostic, Span};
use gander_report::TraceView;
use gander_report::describe::{action_text, state_values, trace_view};
use gander_system::{
    ClaimId, ElementId, Evidence, IndexedArray, Leg, LintCandidate, NodeFormulas, NodeId, Reads,
    Run, StreamKind, System, TransitionId, Undefined, VarId,
};
use gander_term::Value;

use super::HintStatus;
use crate::explain::ReasonSearch;

/// Runs with at most this many steps are described step by step.
const MAX_STEPS: usize = 8;
/// Characters of a formula that are shown.
const MAX_FORMULA: usize = 160;

/// The code and the place of the diagnostic for a candidate.
pub(super) fn heading(system: &System, candidate: &LintCandidate) -> (Code, Span) {
    let place = |span: Option<Span>| span.unwrap_or(Span::at(0));
    let element = |e: &ElementId| place(system.elements()[e.index()].span);
    match candidate {
        LintCandidate::DivisionInStep { element: e, .. } => (Code::W0810, element(e)),
        LintCandidate::DivisionInClaim { claim, .. } => {
            (Code::W0810, place(system.claims()[claim.index()].span))
        }
        LintCandidate::NeverReached { span, .. } => (Code::W0811, place(*span)),
        LintCandidate::AlwaysTrue { element: e, .. } => (Code::W0812, element(e)),
        LintCandidate::Overlap(pairs) => (
            Code::W0813,
            place(pairs.first().and_then(|(_, second)| system.transition(*second).span)),
        ),
        LintCandidate::NeverProvided(number) => {
            (Code::W0817, place(system.conditions()[*number].span))
        }
        LintCandidate::ReadsUndefined(number, _) => {
            let value = &system.undefined_values()[*number];
            (undefined_code(value.operation), place(value.span))
        }
        LintCandidate::WrongHint { places } => {
            (Code::W0815, places.first().map_or(Span::at(0), |(_, hint)| element(hint)))
        }
    }
}

fn undefined_code(operation: Undefined) -> Code {
    match operation {
        Undefined::Index => Code::W0818,
        Undefined::Division => Code::W0810,
    }
}

/// Writes the diagnostics.
pub(super) struct Messages<'a> {
    /// The system with a claim for each candidate. Runs are runs of it.
    pub system: &'a System,
    /// The system of the author.
    pub source: &'a System,
}

impl Messages<'_> {
    fn place(&self, element: ElementId) -> Span {
        self.source.elements()[element.index()].span.unwrap_or(Span::at(0))
    }

    pub fn division_in_step(&self, element: ElementId, divisor: &str, run: &Run) -> Diagnostic {
        let divisor = as_written(divisor);
        let trace = trace_view(self.system, run, None);
        let last = trace.rows.last().map_or("", |r| r.action.as_str());
        Diagnostic::new(
            Code::W0810,
            self.place(element),
            format!("`{divisor}` can be zero here, and it is divided by"),
        )
        .here(format!("zero in the step {last}"))
        .note(run_sentence(&trace))
        .help(match divisor.contains('\'') {
            true => format!("demand `{divisor} != 0` before"),
            false => format!("exclude it in the guard: `{divisor} != 0`"),
        })
    }

    pub fn division_in_claim(&self, claim: ClaimId, divisor: &str, run: &Run) -> Diagnostic {
        let divisor = as_written(divisor);
        let span = self.source.claims()[claim.index()].span.unwrap_or(Span::at(0));
        let trace = trace_view(self.system, run, None);
        Diagnostic::new(
            Code::W0810,
            span,
            format!("`{divisor}` can be zero, and this claim divides by it"),
        )
        .note(run_sentence(&trace))
        .help(format!("say what is to hold then: `{divisor} != 0 -> ...`"))
    }

    pub fn never_reached(
        &self,
        name: &str,
        span: Option<Span>,
        node: Option<NodeId>,
        evidence: &Evidence,
    ) -> Diagnostic {
        let span = span.unwrap_or(Span::at(0));
        let mut diagnostic =
            Diagnostic::new(Code::W0811, span, format!("no run reaches the node `{name}`"));
        let invariant = match evidence {
            Evidence::Invariant(formulas) | Evidence::KInductive { invariant: formulas, .. } => {
                Some(formulas)
            }
            _ => None,
        };
        let mut quoted: Vec<Span> = Vec::new();
        // Without solvers: what small proofs do not shorten is shown as it is.
        let mut reasons = ReasonSearch::new(None);
        for &t in node.iter().flat_map(|&n| self.source.entering(n)) {
            let transition = self.source.transition(t);
            if quoted.len() == 3 || node == Some(transition.source) {
                continue;
            }
            let known = invariant.and_then(|f| self.formula(f, transition.source));
            if let (Some(known), Some(at)) =
                (known, transition.span.filter(|at| !quoted.contains(at)))
            {
                quoted.push(at);
                let dead = invariant.and_then(|f| reasons.dead(self.system, f, t));
                let label = match dead {
                    Some(dead) => dead.text().replacen("never,", "never taken,", 1),
                    None => {
                        let before = &self.source.node(transition.source).name;
                        format!("never taken: at {before} always {known}")
                    }
                };
                diagnostic = diagnostic.label(at, label);
            }
        }
        diagnostic.help("a guard on the way is never true; correct it, or remove the node")
    }

    pub fn never_provided(&self, number: usize) -> Diagnostic {
        let condition = &self.source.conditions()[number];
        let span = condition.span.unwrap_or(Span::at(0));
        let message = format!(
            "`{}` is provided that `{}`, which never holds",
            condition.claim, condition.text
        );
        Diagnostic::new(Code::W0817, span, message)
            .note("so the property says nothing: it holds in every run, whatever else happens")
    }

    /// The run ends at an instant that reads the value of an operation that is not defined there.
    pub fn reads_undefined(&self, number: usize, reads: Reads, run: &Run) -> Diagnostic {
        let value = &self.source.undefined_values()[number];
        let (text, span) = (&value.text, value.span.unwrap_or(Span::at(0)));
        let (message, help) = match value.operation {
            Undefined::Index => {
                let any = "the element is then any value (in JKind the last element): choose with a condition on the index";
                match &value.array {
                    Some(IndexedArray { text: array, size }) => (
                        format!(
                            "the index `{text}` can be outside of `{array}`, which has {size} {}",
                            if *size == 1 { "element" } else { "elements" }
                        ),
                        format!(
                            "{any}, as in `if 0 <= {0} and {0} < {size} then {array}[{text}] else ...`",
                            operand(text)
                        ),
                    ),
                    None => {
                        (format!("the index `{text}` can be outside of the array here"), any.into())
                    }
                }
            }
            Undefined::Division => (
                format!("`{text}` can be zero here, and it is divided by"),
                format!(
                    "the result is then any value: choose with a condition on the divisor, as in `if {} <> 0 then ... else ...`",
                    operand(text)
                ),
            ),
        };
        let pool = self.system.pool();
        let read = pool.free_symbols(&[reads.first, reads.later]);
        let shown = |v: &VarId| {
            let var = self.source.var(*v);
            var.stream != Some(StreamKind::Internal)
                && var.name != value.var
                && (read.contains(&var.current) || read.contains(&var.next))
        };
        let vars: Vec<VarId> = self.source.var_ids().filter(shown).collect();
        Diagnostic::new(undefined_code(value.operation), span, message)
            .note(self.instants(run, &vars))
            .help(help)
    }

    /// The values of some streams at the instants of a run.
    fn instants(&self, run: &Run, vars: &[VarId]) -> String {
        let mut states = vec![Some(&run.first.values)];
        for leg in &run.legs {
            states.push(match leg {
                Leg::Step(step) => step.next.as_ref(),
                Leg::Repeat { .. } => None,
            });
        }
        let shown = |values: &Vec<Value>| {
            let list = vars.iter().map(|&v| {
                let value = self.source.show_value(v, &values[v.index()]);
                format!("{} = {value}", self.source.var(v).name)
            });
            list.collect::<Vec<_>>().join(", ")
        };
        let length = run.length();
        let whole: Option<Vec<String>> = states.iter().map(|s| s.map(&shown)).collect();
        match whole {
            Some(whole) if whole.len() <= MAX_STEPS => {
                let each = whole.iter().enumerate().map(|(i, s)| format!("step {i}: {s}"));
                format!("a run: {}", each.collect::<Vec<_>>().join("; "))
            }
            _ => {
                let last = states.last().copied().flatten().map(shown).unwrap_or_default();
                format!("a run of {length} steps; at the last: {last}")
            }
        }
    }

    fn formula(&self, formulas: &NodeFormulas, node: NodeId) -> Option<String> {
        let term = *formulas.by_node.get(node.index())?;
        match formulas.pool.as_bool(term) {
            Some(true) => None,
            _ => Some(formulas.pool.display_bounded(term, MAX_FORMULA).to_string()),
        }
    }

    pub fn always_true(&self, element: ElementId, transition: TransitionId) -> Diagnostic {
        let transition = self.source.transition(transition);
        let node = &self.source.node(transition.source).name;
        let name = &transition.name;
        let message = match self.source.instances().is_empty() {
            true => format!("this condition of `{name}` is always true at `{node}`"),
            false => {
                format!("this condition of `{name}` is always true, wherever other instances are")
            }
        };
        Diagnostic::new(Code::W0812, self.place(element), message)
            .note("every reachable state at the node satisfies it, so it never keeps the transition from being taken")
            .help("remove it, or correct it; `allow W0812` in the node says that it is there for safety")
    }

    /// The run takes the first transition of one of the pairs, where the second is enabled as well.
    pub fn overlap(&self, pairs: &[(TransitionId, TransitionId)], run: &Run) -> Option<Diagnostic> {
        let Some(Leg::Step(step)) = run.legs.last() else { return None };
        let &(first, second) = pairs.iter().find(|(first, _)| *first == step.transition)?;
        let (a, b) = (self.source.transition(first), self.source.transition(second));
        let gate = a.gate.map_or("", |g| self.source.gates()[g.index()].as_str());
        let mut trace = trace_view(self.system, run, None);
        let last = trace.rows.pop().map(|r| r.action).unwrap_or_default();
        let mut diagnostic = Diagnostic::new(
            Code::W0813,
            b.span.unwrap_or(Span::at(0)),
            format!(
                "`{}` and `{}` can both be taken with the gate `{gate}` in one state",
                a.name, b.name
            ),
        )
        .note(format!(
            "{}; then {}, or the same by `{}`",
            run_sentence(&trace),
            last,
            b.name
        ));
        if let Some(span) = a.span {
            diagnostic = diagnostic.label(span, "the other one");
        }
        let help = "make the guards exclude each other, or write `allow W0813` in the node if the choice is meant";
        Some(diagnostic.help(help))
    }

    /// The node, or in a composed system the instance, that has the invariant.
    fn owner(&self, node: NodeId, element: ElementId) -> String {
        let name = self.source.element_name(element);
        match name.split_once(": ") {
            Some((instance, _)) if !self.source.instances().is_empty() => instance.to_string(),
            _ => self.source.node(node).name.clone(),
        }
    }

    /// The run ends at one of the places, in a state that violates the invariant.
    pub fn wrong_hint(&self, places: &[(NodeId, ElementId)], run: &Run) -> Option<Diagnostic> {
        let last = run
            .legs
            .last()
            .map_or(run.first.node, |leg| last_node(self.source, leg, run.first.node));
        let &(node, element) = places.iter().find(|(n, _)| *n == last).or(places.first())?;
        let name = self.owner(node, element);
        let trace = trace_view(self.system, run, None);
        let at = if self.source.instances().is_empty() { "at" } else { "of the instance" };
        let message = format!("this invariant is not true {at} `{name}`, so it is not used");
        let mut diagnostic = Diagnostic::new(Code::W0815, self.place(element), message);
        if let Some(Leg::Step(step)) = run.legs.last()
            && let Some(span) = self.source.transition(step.transition).span
        {
            diagnostic = diagnostic.label(span, "this step breaks it");
        }
        let help = "correct it, or remove it: claims are proved without invariants as well";
        Some(diagnostic.note(run_sentence(&trace)).help(help))
    }

    pub fn gap(
        &self,
        node: NodeId,
        element: ElementId,
        gap: &Gap,
        status: HintStatus,
    ) -> Diagnostic {
        let name = self.owner(node, element);
        let action = action_text(self.source, gap.transition, &gap.params);
        let values = |state: &gander_system::State| {
            let list = state_values(self.source, &state.values);
            list.into_iter().map(|(n, v)| format!("{n} = {v}")).collect::<Vec<_>>().join(", ")
        };
        let proved = status == HintStatus::Proved;
        let message = match proved {
            true => format!("this invariant of `{name}` is true, but not inductive by itself"),
            false => {
                format!("this invariant of `{name}` is not inductive, so it is not used alone")
            }
        };
        let mut diagnostic = Diagnostic::new(Code::W0816, self.place(element), message);
        if let Some(span) = self.source.transition(gap.transition).span {
            diagnostic = diagnostic.label(
                span,
                match proved {
                    true => "this step would break it",
                    false => "this step may break it",
                },
            );
        }
        diagnostic
            .note(format!("{action} leads from {} to {}", values(&gap.before), values(&gap.after)))
            .note(match proved {
                true => "no run reaches the first of these states: gander found invariants that exclude it",
                false => "perhaps no run reaches the first of these states: an invariant that excludes it would help",
            })
    }
}

/// An expression of Lustre as the operand of a comparison.
fn operand(text: &str) -> String {
    let is_sum = |c: char| c.is_alphanumeric() || "_. +-*".contains(c);
    let is_word = |word: &str| matches!(word, "if" | "pre" | "when" | "fby" | "current" | "mod");
    match text.chars().all(is_sum) && !text.contains("->") && !text.split(' ').any(is_word) {
        true => text.to_string(),
        false => format!("({text})"),
    }
}

/// The node behind a leg of a run.
fn last_node(system: &System, leg: &Leg, before: NodeId) -> NodeId {
    let mut leg = leg;
    loop {
        match leg {
            Leg::Step(step) => return system.transition(step.transition).target,
            Leg::Repeat { body, .. } => match body.last() {
                Some(inner) => leg = inner,
                None => return before,
            },
        }
    }
}

/// A divisor without an inserted `to_real`.
fn as_written(divisor: &str) -> &str {
    divisor
        .strip_prefix("to_real(")
        .and_then(|d| d.strip_suffix(')'))
        .filter(|d| !d.contains('('))
        .unwrap_or(divisor)
}

/// A run in a sentence.
fn run_sentence(trace: &TraceView) -> String {
    let shown: Vec<String> = trace
        .rows
        .iter()
        .map(|row| {
            let values: Vec<String> =
                row.changes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            if values.is_empty() {
                row.action.clone()
            } else {
                format!("{} gives {}", row.action, values.join(", "))
            }
        })
        .collect();
    let count = shown.len();
    if trace.repeats.is_empty() && count <= MAX_STEPS {
        return format!("a run: {}", shown.join("; "));
    }
    let last = shown.last().cloned().unwrap_or_default();
    let noun = if trace.length == 1 { "step" } else { "steps" };
    format!("a run of {} {noun}; the last: {last}", trace.length)
}
