//! The result of a check as text for people: one line per claim, then what explains it.

pub(crate) mod diagnostic;
mod fold;
mod gradual;
pub(crate) mod paint;
mod proof;
mod schedule;
pub(crate) mod stream_table;
pub(crate) mod trace;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use gander_text::{message, shown, shown_path};

use crate::view::{
    CheckView, ClaimView, ConstraintView, Origin, ShownEvidence, ToolView, TraceView, VerdictView,
};
use gradual::ShownRuns;
use paint::Paint;
use proof::{induction_text, invariant_lines};
use schedule::schedule_text;
use stream_table::{PLAIN_WIDTH, StreamScope, StreamTable, stream_table};
use trace::{Shared, TraceDetail, trace_table, trace_table_from};

pub use gradual::GradualText;

/// How much is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// A line for every claim, and the runs that decide claims.
    #[default]
    Normal,
    /// Only a line for each claim that does not hold.
    Quiet,
}

/// How to show a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CheckText {
    /// How much.
    pub detail: Detail,
    /// How much of runs.
    pub trace: TraceDetail,
    /// With colour or not.
    pub paint: Paint,
    /// Which streams of runs of dataflow programs.
    pub streams: StreamScope,
    /// Columns of the terminal, if there is one.
    pub width: Option<usize>,
    /// How many files are checked in this run of the command; with several, each is named.
    pub files: usize,
}

/// Why a claim is vacuous.
pub const NO_RUN: &str = "the system has no run";

const MARGIN: usize = 9;
const WIDEST_NAME: usize = 40;
/// Shorter times are not shown, in seconds.
const WORTH_MENTIONING: f64 = 0.5;

/// The result of a check without its diagnostics.
pub fn check_text(view: &CheckView, how: CheckText) -> String {
    check_text_without(view, how, &BTreeSet::new())
}

/// [`check_text`] without the lines about claims that were shown already.
fn check_text_without(view: &CheckView, how: CheckText, shown: &BTreeSet<String>) -> String {
    let mut out = String::new();
    match how.detail {
        Detail::Quiet => quiet(&mut out, view, how.paint, shown),
        Detail::Normal => normal(&mut out, view, how, shown),
    }
    for error in &view.internal_errors {
        let _ = writeln!(out, "{} {error}", how.paint.bad("internal error:"));
    }
    if how.detail == Detail::Normal {
        for tool in &view.tools {
            let _ = writeln!(out, "{}", how.paint.faint(&tool_line(tool)));
        }
    }
    for schedule in &view.schedules {
        out.push_str(&schedule_text(schedule));
    }
    if let Some(text) = view.nothing_claimed_text() {
        let file = match how.detail {
            Detail::Quiet => format!("{}: ", shown_file(&view.file)),
            Detail::Normal => String::new(),
        };
        let _ = writeln!(out, "{file}{}", how.paint.open(text));
    }
    out
}

fn shown_file(file: &str) -> String {
    shown_path(Path::new(file))
}

fn quiet(out: &mut String, view: &CheckView, paint: Paint, shown: &BTreeSet<String>) {
    for claim in view.claims.iter().filter(|c| !shown.contains(&c.name)) {
        quiet_line(out, &view.file, claim, paint);
    }
}

/// A line about a claim that does not hold.
fn quiet_line(out: &mut String, file: &str, claim: &ClaimView, paint: Paint) {
    let word = claim.verdict.word();
    if word != "holds" {
        let (file, name) = (shown_file(file), shown(&claim.name));
        let _ = writeln!(out, "{file}: {} {name}", paint.verdict(word));
    }
}

/// True of claims with lines of their own. Structural claims that hold are counted; vacuous ones
/// are not mentioned.
fn is_listed(claim: &ClaimView) -> bool {
    let quiet = matches!(claim.verdict, VerdictView::Holds(_) | VerdictView::Vacuous);
    claim.origin != Origin::Structural || !quiet
}

/// The width of the column of names.
fn names_width<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    names.map(|n| n.chars().count()).filter(|&w| w <= WIDEST_NAME).max().unwrap_or(0)
}

/// The line that names a file, if several are checked.
fn file_line(out: &mut String, file: &str, how: CheckText) {
    if how.files > 1 {
        let _ = writeln!(out, "{}", how.paint.bold(&shown_file(file)));
    }
}

fn normal(out: &mut String, view: &CheckView, how: CheckText, shown: &BTreeSet<String>) {
    if !view.has_errors() && shown.is_empty() {
        file_line(out, &view.file, how);
    }
    let listed = |c: &&ClaimView| is_listed(c);
    let width = names_width(view.claims.iter().filter(listed).map(|c| c.name.as_str()));
    let mut shown_runs = ShownRuns::default();
    for claim in view.claims.iter().filter(listed).filter(|c| !shown.contains(&c.name)) {
        claim_lines(out, claim, width, how, &mut shown_runs);
    }
    let sound: Vec<&ClaimView> = view
        .claims
        .iter()
        .filter(|c| !listed(c) && !matches!(c.verdict, VerdictView::Vacuous))
        .collect();
    if !sound.is_empty() {
        let noun = if sound.len() == 1 { "structural check" } else { "structural checks" };
        let kinds = structural_counts(&sound);
        let kinds =
            if sound.len() > 1 && !kinds.is_empty() { format!(": {kinds}") } else { String::new() };
        let _ = writeln!(out, "{}    {} {noun}{kinds}", how.paint.verdict("holds"), sound.len());
    }
    if let Some(note) = one_solver_note(view) {
        let _ = writeln!(out, "{}", how.paint.faint(&note));
    }
    if let Some(stopped) = &view.stopped {
        let _ = writeln!(out, "{}", how.paint.open(stopped));
    }
    let listed_count = view.claims.iter().filter(listed).count();
    if listed_count > 1 && view.claims.iter().any(|c| c.verdict.word() != "holds") {
        let _ = writeln!(out, "{}", counts_line([view]));
    }
}

/// The verdicts that rest on one solver although two were requested.
fn one_solver_note(view: &CheckView) -> Option<String> {
    let alone = |c: &&ClaimView| c.basis.as_ref().is_some_and(|b| b.why_one.is_some());
    let alone: Vec<&ClaimView> = view.claims.iter().filter(alone).collect();
    let basis = alone.first()?.basis.as_ref()?;
    let (why, solvers) = (basis.why_one.as_ref()?, basis.solvers.join(", "));
    let which = match alone[..] {
        [one] if view.claims.len() > 1 => format!("the verdict on {} rests", one.name),
        [_] => "the verdict rests".to_string(),
        _ => format!("{} verdicts rest", alone.len()),
    };
    // Obligations of one verdict may rest on different solvers.
    Some(match basis.solvers.len() {
        1 => format!("{which} on one solver, {solvers}: {why}"),
        _ => format!("{which} in parts on a single solver (of {solvers}): {why}"),
    })
}

/// The counts of structural checks, by kind.
pub(crate) fn structural_counts(claims: &[&ClaimView]) -> String {
    let kinds = [
        ("start-satisfiable", "start is satisfiable", "starts are satisfiable"),
        ("can-enable", "transition can be enabled", "transitions can be enabled"),
        ("completable", "effect can be completed", "effects can be completed"),
        ("no-sinkhole", "node has no sinkhole", "nodes have no sinkhole"),
    ];
    let parts = kinds.iter().filter_map(|(kind, one, many)| {
        // In a composed system, structural claims about instances are of other kinds.
        let is = |c: &&&ClaimView| {
            c.kind == *kind
                || (*kind == "can-enable" && c.kind == "reachable")
                || (*kind == "no-sinkhole" && c.kind == "always")
        };
        match claims.iter().filter(is).count() {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {many}")),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// How many claims hold, fail and are unknown, in words.
pub fn counts_line<'a>(views: impl IntoIterator<Item = &'a CheckView>) -> String {
    let (mut holds, mut fails, mut unknown, mut vacuous) = (0, 0, 0, 0);
    for claim in views.into_iter().flat_map(|v| &v.claims) {
        match claim.verdict {
            VerdictView::Holds(_) => holds += 1,
            VerdictView::Fails(_) => fails += 1,
            VerdictView::Unknown { .. } => unknown += 1,
            VerdictView::Vacuous => vacuous += 1,
        }
    }
    let mut parts = Vec::new();
    if holds > 0 {
        parts.push(format!("{holds} {}", if holds == 1 { "holds" } else { "hold" }));
    }
    if fails > 0 {
        parts.push(format!("{fails} {}", if fails == 1 { "fails" } else { "fail" }));
    }
    if unknown > 0 {
        parts.push(format!("{unknown} unknown"));
    }
    if vacuous > 0 {
        parts.push(format!("{vacuous} vacuous"));
    }
    if parts.is_empty() { "no claims".to_string() } else { parts.join(", ") }
}

/// The worst of several exit codes: 4 before 2 before 5 before 1 before 3 before 0.
pub fn worst_exit_code(codes: impl IntoIterator<Item = u8>) -> u8 {
    let rank = |code: u8| match code {
        0 => 0,
        3 => 1,
        1 => 2,
        5 => 3,
        2 => 4,
        _ => 5,
    };
    codes.into_iter().max_by_key(|&c| rank(c)).unwrap_or(0)
}

fn claim_lines<'a>(
    out: &mut String,
    claim: &'a ClaimView,
    width: usize,
    how: CheckText,
    shown_runs: &mut ShownRuns<'a>,
) {
    let paint = how.paint;
    let word = claim.verdict.word();
    let gap = " ".repeat(MARGIN - word.len());
    let name_width = claim.name.chars().count();
    let summary = summary(claim);
    let name = paint.bold(&shown(&claim.name));
    if summary.is_empty() {
        let _ = writeln!(out, "{}{gap}{name}", paint.verdict(word));
    } else {
        let missing = " ".repeat(width.saturating_sub(name_width));
        let _ =
            writeln!(out, "{}{gap}{name}{missing}  {}", paint.verdict(word), paint.faint(&summary));
    }
    let margin = " ".repeat(MARGIN);
    if word != "holds" && claim.text != claim.name && !claim.text.is_empty() {
        let _ = writeln!(out, "{margin}{}", message(&claim.text));
    }
    for warning in &claim.warnings {
        let _ = writeln!(out, "{margin}{} {}", paint.open("warning:"), message(warning));
    }
    match &claim.verdict {
        VerdictView::Holds(evidence) => {
            // The run of a structural claim is not shown.
            if let ShownEvidence::Trace(trace) = &evidence.shown
                && (!trace.rows.is_empty() || trace.streams.is_some())
            {
                run_lines(out, &claim.name, trace, how, shown_runs);
            }
        }
        VerdictView::Fails(evidence) => match &evidence.shown {
            ShownEvidence::Trace(trace) => run_lines(out, &claim.name, trace, how, shown_runs),
            _ if !claim.because.is_empty() => {
                for dead in &claim.because {
                    let _ = writeln!(out, "{margin}{}", dead.text());
                }
            }
            _ if claim.invariant.is_some() => {}
            shown => {
                for line in reason(shown, claim.within.as_deref())
                    .into_iter()
                    .chain(contradiction_lines(&claim.contradiction))
                {
                    let _ = writeln!(out, "{margin}{line}");
                }
            }
        },
        VerdictView::Unknown { explored_through, why } => {
            if let Some(depth) = explored_through {
                let _ = writeln!(
                    out,
                    "{margin}not decided by any run of up to {}",
                    steps(u64::from(*depth))
                );
            }
            for obstacle in why {
                let _ = writeln!(out, "{margin}{}: {}", obstacle.engine, obstacle.reason);
            }
        }
        VerdictView::Vacuous => {
            let _ = writeln!(out, "{margin}{NO_RUN}, so this is not proved of anything");
        }
    }
    if let Some(invariant) = &claim.invariant {
        for line in invariant_lines(invariant, paint) {
            let _ = writeln!(out, "{margin}{line}");
        }
    }
    if let Some(induction) = &claim.induction {
        out.push_str(&induction_text(induction, how));
    }
    // Tools that agree with a verdict are not mentioned.
    for claimed in claim.claimed.iter().filter(|c| word == "unknown" || c.disagrees) {
        let text = format!("claimed by {}: {} ({})", claimed.tool, claimed.says, claimed.why);
        let _ = writeln!(
            out,
            "{margin}{}",
            if claimed.disagrees { paint.bad(&text) } else { paint.open(&text) }
        );
    }
}

/// A line about a tool.
fn tool_line(tool: &ToolView) -> String {
    let noun = if tool.answers == 1 { "answer" } else { "answers" };
    let counts = match tool.answers {
        0 => "no answer".to_string(),
        n => format!("{n} {noun}, {} checked", tool.checked),
    };
    let ending =
        if tool.ending == "finished" { String::new() } else { format!("; {}", tool.ending) };
    format!("{}: {counts}, {:.1} s{ending}", tool.tool, tool.seconds)
}

/// Constraints that contradict each other, each with its line.
pub(crate) fn contradiction_lines(constraints: &[ConstraintView]) -> Vec<String> {
    let mut lines = match constraints {
        [] => return Vec::new(),
        [_] => vec!["this one alone has no solution:".to_string()],
        _ => vec!["these contradict each other:".to_string()],
    };
    let place = |c: &ConstraintView| {
        c.place.as_ref().map_or_else(String::new, |p| format!("line {}", p.line))
    };
    let width = constraints.iter().map(|c| place(c).chars().count()).max().unwrap_or(0);
    lines.extend(
        constraints.iter().map(|c| {
            format!("  {:<width$}  {}", place(c), message(&c.text)).trim_end().to_string()
        }),
    );
    lines
}

/// A run, without what it shares with earlier ones.
fn run_lines<'a>(
    out: &mut String,
    claim: &'a str,
    trace: &'a TraceView,
    how: CheckText,
    shown_runs: &mut ShownRuns<'a>,
) {
    // Repeated steps are folded where that is shorter than what is not shared.
    let folded = if how.trace == TraceDetail::Full { None } else { fold::folded(trace) };
    let rows = |shared: &Shared<'_>| trace.rows.len() - shared.rows;
    match shown_runs.common_beginning(claim, trace, how) {
        Some(shared) if folded.as_ref().is_none_or(|f| f.rows.len() > rows(&shared)) => {
            out.push_str(&trace_table_from(trace, shared, how.trace, MARGIN, how.paint))
        }
        _ => out.push_str(&run_table(trace, how)),
    }
}

/// A run in the form of the kind of model.
fn run_table(trace: &TraceView, how: CheckText) -> String {
    let Some(streams) = &trace.streams else {
        let folded = if how.trace == TraceDetail::Full { None } else { fold::folded(trace) };
        return trace_table(folded.as_ref().unwrap_or(trace), how.trace, MARGIN, how.paint);
    };
    let table = StreamTable {
        detail: how.trace,
        scope: how.streams,
        width: how.width.unwrap_or(PLAIN_WIDTH),
        indent: MARGIN,
        paint: how.paint,
        ..StreamTable::default()
    };
    let mut text = stream_table(streams, table);
    if let Some(ending) = &trace.ending {
        let _ = writeln!(text, "{}{}", " ".repeat(MARGIN), how.paint.faint(ending));
    }
    text
}

/// Why no run decides the claim; `within` is the bound on the steps of runs that the author set.
pub(crate) fn reason(shown: &ShownEvidence, within: Option<&str>) -> Vec<String> {
    match shown {
        ShownEvidence::Trace(_) => Vec::new(),
        ShownEvidence::Invariant { by_node, .. } if by_node.is_empty() => {
            vec!["no run does it: an invariant excludes it (--json has it)".to_string()]
        }
        // Nothing needs to be known of reachable states.
        ShownEvidence::Invariant { by_node, k: 1, .. }
            if by_node.iter().all(|(_, f)| f == "true") =>
        {
            vec![match by_node.len() {
                0 | 1 => "no run does it: its condition has no solution".to_string(),
                _ => "no run does it: its condition has no solution at any place that the control \
                      leads to"
                    .to_string(),
            }]
        }
        ShownEvidence::Invariant { by_node, .. } => {
            let mut lines = vec![match within {
                None => "no run does it, because every reachable state satisfies".to_string(),
                Some(n) => format!(
                    "no run of at most {n} steps does it, because every state of these runs \
                     satisfies"
                ),
            }];
            let width = by_node.iter().map(|(n, _)| n.chars().count()).max().unwrap_or(0);
            for (node, formula) in by_node.iter().take(12) {
                let missing = " ".repeat(width - node.chars().count());
                lines.push(if node.is_empty() {
                    format!("  {formula}")
                } else {
                    format!("  at {node}{missing}  {formula}")
                });
            }
            if by_node.len() > 12 {
                lines
                    .push(format!("  ... and {} more nodes (--json has them)", by_node.len() - 12));
            }
            lines
        }
        ShownEvidence::Diameter { k } => {
            vec![format!(
                "every run without a repeated state was looked at (at most {})",
                steps(u64::from(*k))
            )]
        }
        ShownEvidence::ClosedSet { states: 0 } => {
            vec!["the system has no run, so no state is reachable".to_string()]
        }
        ShownEvidence::ClosedSet { states } => {
            vec![match within {
                None => format!("every reachable state was looked at ({states})"),
                Some(n) => format!("every state within {n} steps was looked at ({states})"),
            }]
        }
        ShownEvidence::Refutation { why } => vec![why.clone()],
        ShownEvidence::Argument { lines, .. } => lines.clone(),
        ShownEvidence::Outside(inner) => match &**inner {
            ShownEvidence::ClosedSet { states } => {
                vec![format!(
                    "every reachable state was looked at but those that are too far from it ({states})"
                )]
            }
            other => reason(other, within),
        },
        ShownEvidence::OfChain(inner) => vec![chain_reason(inner)],
    }
}

/// Why no run meets a chain of goals. The evidence is about states with the number of goals met so
/// far, so its numbers are not those of the model.
fn chain_reason(inner: &ShownEvidence) -> String {
    match inner {
        ShownEvidence::ClosedSet { .. } => {
            "no run meets the goals in this order: every reachable state was looked at, with every \
             number of goals met before it"
                .to_string()
        }
        ShownEvidence::Diameter { .. } => {
            "no run meets the goals in this order: every run was followed until a state and the \
             number of goals met were the same again"
                .to_string()
        }
        _ => "no run meets the goals in this order: an invariant of the states and the number of \
              goals met so far excludes it (--json has it)"
            .to_string(),
    }
}

/// The text after the name: how the claim was decided, and the time if it was long.
pub(crate) fn summary(claim: &ClaimView) -> String {
    let mut parts = Vec::new();
    if let Some(evidence) = claim.verdict.evidence() {
        // "Within n steps" is what searches say of their own bounds.
        parts.extend(claim.within.as_ref().map(|n| format!("up to MAXSTEPS {n}")));
        parts.extend(evidence_summary(&evidence.shown, &claim.verdict, claim.shortest));
        parts.extend(claim.shown_in.as_ref().map(|node| format!("of {node} alone")));
        parts.extend(abstraction_summary(&claim.abstracted));
        parts.extend(claim.engine.clone());
    }
    if !parts.is_empty() && claim.seconds >= WORTH_MENTIONING {
        parts.push(format!("{:.1} s", claim.seconds));
    }
    parts.join(", ")
}

/// The nodes whose contracts replace their bodies.
fn abstraction_summary(nodes: &[String]) -> Option<String> {
    let (last, others) = nodes.split_last()?;
    Some(match others {
        [] => format!("with {last} abstracted by its contract"),
        _ => format!("with {} and {last} abstracted by their contracts", others.join(", ")),
    })
}

/// Added to the length of a run that is not known to be shortest.
fn may_be_shorter(shortest: Option<bool>) -> &'static str {
    if shortest == Some(false) { " (a shorter run may exist)" } else { "" }
}

fn evidence_summary(
    shown: &ShownEvidence,
    verdict: &VerdictView,
    shortest: Option<bool>,
) -> Option<String> {
    match shown {
        ShownEvidence::Trace(TraceView { back_to: Some(back), length, .. }) => {
            let fewer = match shortest {
                Some(false) => " (one with fewer steps may exist)",
                _ => "",
            };
            Some(format!("{}{fewer}", loop_text(*back, *length)))
        }
        ShownEvidence::Trace(trace) if trace.goes_on && trace.length == 0 => {
            Some("for ever, from the start".to_string())
        }
        ShownEvidence::Trace(trace) if trace.goes_on => {
            let fewer = match shortest {
                Some(false) => " (one with fewer steps may exist)",
                _ => "",
            };
            Some(format!("for ever, after {}{fewer}", steps(trace.length)))
        }
        ShownEvidence::Trace(trace) if trace.length == 0 => Some("at the start".to_string()),
        ShownEvidence::Trace(trace) if matches!(verdict, VerdictView::Holds(_)) => {
            Some(format!("in {}{}", steps(trace.length), may_be_shorter(shortest)))
        }
        ShownEvidence::Trace(trace) => {
            Some(format!("after {}{}", steps(trace.length), may_be_shorter(shortest)))
        }
        ShownEvidence::Invariant { k: 1, .. } => Some("inductive invariant".to_string()),
        ShownEvidence::Invariant { k, loop_free: false, .. } => {
            Some(format!("{k}-inductive invariant"))
        }
        ShownEvidence::Invariant { k, loop_free: true, .. } => {
            Some(format!("{k}-inductive invariant over loop-free paths"))
        }
        ShownEvidence::Diameter { k } => {
            Some(format!("all runs seen, at most {} without a loop", steps(u64::from(*k))))
        }
        ShownEvidence::ClosedSet { states: 0 } => Some("there is no run".to_string()),
        ShownEvidence::ClosedSet { states: 1 } => Some("the only reachable state seen".to_string()),
        ShownEvidence::ClosedSet { states } => Some(format!("all {states} reachable states seen")),
        ShownEvidence::Refutation { .. } => Some("no solution".to_string()),
        ShownEvidence::Argument { summary, .. } => Some(summary.clone()),
        ShownEvidence::Outside(inner) => match &**inner {
            ShownEvidence::ClosedSet { states } => {
                Some(format!("all {states} states seen that are not too far from it"))
            }
            other => evidence_summary(other, verdict, shortest),
        },
        ShownEvidence::OfChain(inner) => match &**inner {
            ShownEvidence::Diameter { .. } => Some("all runs seen".to_string()),
            ShownEvidence::ClosedSet { .. } => {
                Some("all states seen, with the goals met before them".to_string())
            }
            other => evidence_summary(other, verdict, shortest),
        },
    }
}

/// A lasso in one line.
fn loop_text(back_to: u64, length: u64) -> String {
    let around = format!("for ever around a loop of {}", steps(length.saturating_sub(back_to)));
    if back_to == 0 { around } else { format!("{around}, after {}", steps(back_to)) }
}

fn steps(n: u64) -> String {
    if n == 1 { "1 step".to_string() } else { format!("{n} steps") }
}
