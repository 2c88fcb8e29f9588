//! From systems and verdicts to view-models.

mod cone;
mod diagnostic;
mod family_values;
mod graph;
mod instance_graph;
mod live;
mod live_example;
mod streams;
mod syntax;
mod trace;

use gander_system::{
    Claim, ClaimKind, ClaimOrigin, Dataflow, Evidence, NodeFormulas, Structure, System, Verdict,
};

use crate::view::{
    ClaimView, EvidenceView, ObstacleView, Origin, ShownEvidence, TraceView, VerdictView,
};

pub use diagnostic::diagnostic_views;
pub use family_values::{family_text, instance_values};
pub use graph::{LabelUnit, call_graph_view, graph_path, graph_view, graph_views};
pub use streams::{focus, instance_and_name, stream_sort, streams_view};
pub use syntax::{Syntax, formula_text};
pub use trace::{
    action_text, action_with, action_with_values, shown_steps, start_text, state_values,
    trace_streams, trace_view,
};

/// Characters of a formula that are shown; saved evidence has the whole formula.
const LONGEST_FORMULA: usize = 400;

/// Assumptions that are named at most; the others are counted.
const MAX_NAMES: usize = 8;

/// A claim with its answer.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The answer.
    pub verdict: &'a Verdict,
    /// The engine that found it; empty if it is unknown.
    pub engine: &'a str,
    /// How long it took.
    pub seconds: f64,
    /// Warnings about the verdict.
    pub warnings: &'a [String],
    /// If the evidence is a finite run or a lasso: whether none is shorter, as far as that is
    /// known.
    pub shortest: Option<bool>,
    /// The equations, if the system is a dataflow program.
    pub flow: Option<&'a Dataflow>,
}

/// The view of a claim with its answer. `saved` is the evidence in its file form, if there is any.
pub fn claim_view(system: &System, answered: Answered<'_>, saved: serde_json::Value) -> ClaimView {
    let Answered { claim, verdict, engine, seconds, warnings, shortest, flow } = answered;
    // A run of the bounded system is a run of the unbounded one.
    let about_all_runs =
        !matches!(verdict, Verdict::Holds(Evidence::Run(_)) | Verdict::Fails(Evidence::Run(_)));
    let about_all_runs = about_all_runs && claim.origin == ClaimOrigin::Written;
    let view = |direction, evidence| EvidenceView {
        shown: shown(system, claim, flow, direction, evidence),
        saved,
    };
    ClaimView {
        name: claim.name.clone(),
        kind: claim.kind.word().to_string(),
        text: claim.text.clone(),
        origin: match claim.origin {
            ClaimOrigin::Written => Origin::Written,
            ClaimOrigin::Range(_) => Origin::Range,
            ClaimOrigin::Structural => Origin::Structural,
        },
        verdict: match verdict {
            Verdict::Holds(evidence) => VerdictView::Holds(view(Direction::Holds, evidence)),
            Verdict::Fails(evidence) => VerdictView::Fails(view(Direction::Fails, evidence)),
            Verdict::Unknown { explored_through, why } => VerdictView::Unknown {
                explored_through: *explored_through,
                why: why
                    .iter()
                    .map(|o| ObstacleView { engine: o.engine.clone(), reason: o.reason.clone() })
                    .collect(),
            },
        },
        engine: (!engine.is_empty()).then(|| engine.to_string()),
        seconds,
        warnings: warnings.to_vec(),
        shortest,
        abstracted: Vec::new(),
        because: Vec::new(),
        contradiction: Vec::new(),
        shown_in: None,
        within: system.step_limit().filter(|_| about_all_runs).map(ToString::to_string),
        claimed: Vec::new(),
        basis: None,
        invariant: None,
        induction: None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Holds,
    Fails,
}

fn shown(
    system: &System,
    claim: &Claim,
    flow: Option<&Dataflow>,
    direction: Direction,
    evidence: &Evidence,
) -> ShownEvidence {
    match evidence {
        // Structural checks that hold are counted, not shown, because there may be many.
        Evidence::Run(run)
            if claim.origin == ClaimOrigin::Structural && direction == Direction::Holds =>
        {
            ShownEvidence::Trace(TraceView { length: run.length(), ..TraceView::default() })
        }
        Evidence::Run(run) => {
            let streams = flow.and_then(|flow| streams_view(system, flow, run, focus(&claim.kind)));
            let ending = ending(system, claim);
            ShownEvidence::Trace(match streams {
                Some(streams) => TraceView {
                    length: run.length(),
                    ending,
                    streams: Some(Box::new(streams)),
                    ..TraceView::default()
                },
                None => trace_view(system, run, ending),
            })
        }
        Evidence::Invariant(_)
            if claim.origin == ClaimOrigin::Structural && direction == Direction::Holds =>
        {
            ShownEvidence::Invariant { k: 1, loop_free: false, by_node: Vec::new() }
        }
        Evidence::Invariant(formulas) => {
            ShownEvidence::Invariant { k: 1, loop_free: false, by_node: by_node(system, formulas) }
        }
        Evidence::KInductive { k, invariant, loop_free, .. } => ShownEvidence::Invariant {
            k: *k,
            loop_free: *loop_free,
            by_node: by_node(system, invariant),
        },
        Evidence::Diameter { k } => ShownEvidence::Diameter { k: *k },
        Evidence::ClosedSet { states } => ShownEvidence::ClosedSet { states: *states },
        Evidence::Refutation => ShownEvidence::Refutation { why: no_solution(system, claim) },
        Evidence::Lasso { .. }
        | Evidence::Recurrent { .. }
        | Evidence::NoSuchRun { .. }
        | Evidence::Possible { .. }
        | Evidence::Impossible { .. } => live::live(system, claim, evidence),
        // Evidence about a derived system: its formulas are not shown.
        Evidence::OfChain(inner) => {
            ShownEvidence::OfChain(Box::new(without_formulas(system, claim, inner)))
        }
        Evidence::Outside { proof, .. } => {
            ShownEvidence::Outside(Box::new(without_formulas(system, claim, proof)))
        }
    }
}

fn without_formulas(system: &System, claim: &Claim, evidence: &Evidence) -> ShownEvidence {
    match evidence {
        Evidence::KInductive { k, loop_free, .. } => {
            ShownEvidence::Invariant { k: *k, loop_free: *loop_free, by_node: Vec::new() }
        }
        Evidence::Diameter { k } => ShownEvidence::Diameter { k: *k },
        Evidence::ClosedSet { states } => ShownEvidence::ClosedSet { states: *states },
        Evidence::Refutation => ShownEvidence::Refutation { why: no_solution(system, claim) },
        _ => ShownEvidence::Invariant { k: 1, loop_free: false, by_node: Vec::new() },
    }
}

/// What cannot be satisfied, in words.
fn no_solution(system: &System, claim: &Claim) -> String {
    let ClaimKind::StartSatisfiable(start) = claim.kind else {
        return "its formula has no solution".to_string();
    };
    let dataflow = system.vars().iter().any(|v| v.stream.is_some());
    let demands = match dataflow {
        true if system.transitions().iter().all(|t| t.causal) => None,
        true => Some("the equations"),
        false if system.starts()[start.index()].constraint.is_empty() => None,
        false => Some("its constraints"),
    };
    let what = if dataflow { "no first instant satisfies" } else { "no state satisfies" };
    let mut names: Vec<String> = Vec::new();
    for assumption in system.assumptions() {
        let name = system.element_name(assumption.id);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let assumed = (!names.is_empty()).then(|| format!("the assumptions: {}", names.join(", ")));
    let parts: Vec<String> = demands.map(str::to_string).into_iter().chain(assumed).collect();
    match parts.is_empty() {
        true => "its formula has no solution".to_string(),
        false => format!("{what} {}", parts.join(" and ")),
    }
}

/// Formulas with the names of their nodes; a single node is not named.
fn by_node(system: &System, formulas: &NodeFormulas) -> Vec<(String, String)> {
    let name = |n: &gander_system::Node| {
        if system.nodes().len() > 1 { n.name.clone() } else { String::new() }
    };
    let syntax = match system.structure() {
        _ if system.vars().iter().any(|v| v.stream.is_some()) => Syntax::Lustre,
        Structure::Undrawn => Syntax::Script,
        Structure::Drawn | Structure::Foreign => Syntax::Sts,
    };
    system
        .nodes()
        .iter()
        .zip(formulas.by_node.iter())
        .map(|(n, &t)| {
            let text = formula_text(&formulas.pool, t, syntax)
                .filter(|text| text.chars().count() <= LONGEST_FORMULA)
                .unwrap_or_else(|| formulas.pool.display_bounded(t, LONGEST_FORMULA).to_string());
            (name(n), family_text(system, text))
        })
        .collect()
}

/// What the last state of a run shows, if the claim does not say it.
fn ending(system: &System, claim: &Claim) -> Option<String> {
    match claim.kind {
        ClaimKind::NoSinkhole(n) => Some(format!(
            "here no transition of {} is enabled, whatever its parameters",
            system.node(n).name
        )),
        ClaimKind::Completable(t) => Some(format!(
            "here {} is enabled, but no next state satisfies its effect",
            system.transition(t).name
        )),
        ClaimKind::NoDeadlock => Some("here no step is possible".to_string()),
        ClaimKind::Eventually { .. }
        | ClaimKind::AlwaysEventually { .. }
        | ClaimKind::LeadsTo { .. }
        | ClaimKind::ExistsAlways(_) => Some("here the run ends: no step is possible".to_string()),
        ClaimKind::CanEnable(t) => Some(format!("here {} is enabled", system.transition(t).name)),
        _ => None,
    }
}
