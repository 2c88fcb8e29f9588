//! Invariants of proofs, and counterexamples to induction, as text.

use std::fmt::Write;

use gander_text::message;

use crate::view::{Conjunct, InductionView, InvariantView, NodeInvariant, SequenceEnd};

use super::paint::Paint;
use super::trace::trace_table;
use super::{CheckText, MARGIN};

/// An invariant, node by node.
pub(super) fn invariant_lines(view: &InvariantView, paint: Paint) -> Vec<String> {
    let (k, loop_free, no_restart, nodes, left_out) = match view {
        InvariantView::Formulas { k, loop_free, no_restart, nodes, left_out } => {
            (*k, *loop_free, *no_restart, nodes, *left_out)
        }
        InvariantView::Other(text) => return vec![paint.faint(text)],
    };
    let kind = if k == 1 { "inductive".to_string() } else { format!("{k}-inductive") };
    let mut lines =
        vec![paint.faint(&format!("every reachable state satisfies this {kind} invariant:"))];
    let width = nodes.iter().map(|n| n.node.chars().count()).max().unwrap_or(0);
    for node in nodes {
        lines.extend(node_lines(node, width, paint));
    }
    if k > 1 {
        lines.push(paint.faint(&format!(
            "{k}-inductive: it holds in runs of fewer than {k} steps, and if it holds in {k} \
             successive states{}, it holds in the next one",
            assumed(loop_free, no_restart)
        )));
    }
    if left_out > 0 {
        let conjuncts = if left_out == 1 { "conjunct" } else { "conjuncts" };
        lines.push(paint.faint(&format!(
            "left out: {left_out} {conjuncts} that the proof does not need; the rest was checked again"
        )));
    }
    lines
}

/// What the step case of k-induction assumes of the states.
fn assumed(loop_free: bool, no_restart: bool) -> &'static str {
    match (loop_free, no_restart) {
        (false, false) => "",
        (true, false) => " of a path without a repeated state",
        (false, true) => " of a path that does not return to a start state",
        (true, true) => " of a path without a repeated state that does not return to a start state",
    }
}

fn node_lines(node: &NodeInvariant, width: usize, paint: Paint) -> Vec<String> {
    let place = |first: bool| match (width, first) {
        (0, _) => "  ".to_string(),
        (_, true) => format!("  at {:<width$}  ", node.node),
        (_, false) => " ".repeat(width + 7),
    };
    if node.unreachable {
        return vec![format!("{}{}", place(true), paint.faint("no run comes here"))];
    }
    if node.conjuncts.is_empty() {
        return vec![format!("{}{}", place(true), paint.faint("any state"))];
    }
    let line = |(i, c): (usize, &Conjunct)| {
        let mark = if c.of_claim { paint.faint("  (the claim)") } else { String::new() };
        format!("{}{}{mark}", place(i == 0), message(&c.text))
    };
    node.conjuncts.iter().enumerate().map(line).collect()
}

/// A counterexample to induction.
pub(super) fn induction_text(view: &InductionView, how: CheckText) -> String {
    let (margin, paint) = (" ".repeat(MARGIN), how.paint);
    let mut out = String::new();
    let (k, ends, trace, known, advice) = match view {
        InductionView::Counterexample { k, ends, trace, known, advice } => {
            (*k, *ends, trace, known, advice)
        }
        InductionView::None(why) => {
            let text = format!("no counterexample to induction is shown: {why}");
            let _ = writeln!(out, "{margin}{}", paint.faint(&text));
            return out;
        }
    };
    let states = match k {
        1 => "state 0".to_string(),
        2 => "states 0 and 1".to_string(),
        _ => format!("states 0 to {}", k - 1),
    };
    let text = match ends {
        SequenceEnd::Violation => {
            format!("{k}-induction does not prove it: true in {states}, false in state {k}")
        }
        SequenceEnd::Goal => {
            format!("{k}-induction does not refute it: false in {states}, true in state {k}")
        }
    };
    let _ = writeln!(out, "{margin}{}", paint.open(&text));
    let _ = writeln!(
        out,
        "{margin}{}",
        paint.open("these states may be unreachable: this is not a run from a start")
    );
    if !known.is_empty() {
        let text = format!("proved claims hold in all of them: {}", known.join(", "));
        let _ = writeln!(out, "{margin}{}", paint.faint(&text));
    }
    out.push_str(&trace_table(trace, how.trace, MARGIN, paint));
    for advice in advice {
        let _ = writeln!(out, "{margin}{advice}");
    }
    out
}
