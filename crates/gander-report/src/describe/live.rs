//! Evidence about maximal runs, and about what is always possible, for people.

use gander_system::passes::{Aspect, LivenessToSafety, Stage, liveness_to_safety};
use gander_system::{Choices, Claim, ClaimId, ClaimKind, Evidence, NodeFormulas, NodeTerms, Rounds, Run, System};

use super::LONGEST_FORMULA;
use super::trace::trace_view;
use crate::view::{ShownEvidence, TraceView};

/// Nodes whose ranks or formulas are told.
const NODES_SHOWN: usize = 12;

pub(super) fn live(system: &System, claim: &Claim, evidence: &Evidence) -> ShownEvidence {
    match evidence {
        Evidence::Lasso { run, back_to } => lasso(system, run, *back_to),
        Evidence::Recurrent { run, set, choices } => {
            let mut view = trace_view(system, run, Some("from here it can go on for ever".to_string()));
            view.goes_on = true;
            view.remarks = staying(system, set, choices);
            ShownEvidence::Trace(view)
        }
        Evidence::NoSuchRun { rounds, .. } => no_such_run(system, claim, rounds),
        Evidence::Possible { ranks, .. } => {
            let mut lines = vec!["from every reachable state some step brings it nearer, by the rank".to_string()];
            let names: Vec<&str> = system.nodes.iter().map(|n| n.name.as_str()).collect();
            lines.extend(rank_lines(&names, ranks));
            ShownEvidence::Argument { summary: "always within reach, by a rank".to_string(), lines }
        }
        Evidence::Impossible { run, .. } => {
            let what = "from here it is not possible any more, whatever the run does".to_string();
            ShownEvidence::Trace(trace_view(system, run, Some(what)))
        }
        _ => ShownEvidence::Refutation { why: super::no_solution(system, claim) },
    }
}

fn lasso(system: &System, run: &Run, back_to: u64) -> ShownEvidence {
    let view = trace_view(system, run, None);
    ShownEvidence::Trace(TraceView { back_to: Some(back_to), ..view })
}

/// Where a run stays, and by which steps.
fn staying(system: &System, set: &NodeFormulas, choices: &Choices) -> Vec<String> {
    let mut lines = Vec::new();
    for n in system.node_ids() {
        let mut ways: Vec<&str> = Vec::new();
        for c in choices.list.iter().filter(|c| system.transition(c.transition).source == n) {
            let name = system.transition(c.transition).name.as_str();
            if !ways.contains(&name) {
                ways.push(name);
            }
        }
        if ways.is_empty() {
            continue;
        }
        let formula = set.pool.display_bounded(set.by_node[n.index()], LONGEST_FORMULA);
        lines.push(format!("at {} as long as {formula}, by {}", system.node(n).name, ways.join(" or ")));
    }
    lines.truncate(NODES_SHOWN);
    if !lines.is_empty() {
        lines.push("and each of these steps leads to such a state again".to_string());
    }
    lines
}

fn no_such_run(system: &System, claim: &Claim, rounds: &Rounds) -> ShownEvidence {
    let fair = match &claim.kind {
        ClaimKind::Eventually { under, .. }
        | ClaimKind::AlwaysEventually { under, .. }
        | ClaimKind::LeadsTo { under, .. } => !under.is_empty(),
        _ => false,
    };
    let (summary, mut lines) = match rounds {
        Rounds::AtMost { k, .. } if fair => (
            format!("fairness strikes at most {} on the way", times(*k)),
            vec![format!("no run is fair more than {} without it", times(*k))],
        ),
        Rounds::AtMost { k, .. } if matches!(claim.kind, ClaimKind::InfiniteRun) => {
            (format!("at most {}", steps(*k)), vec![format!("no run goes on for more than {}", steps(*k))])
        }
        // The step behind the last one without it is one with it.
        Rounds::AtMost { k, .. } => (
            format!("within {}", steps(k.saturating_add(1))),
            vec![format!("no run goes on for more than {} without it", steps(*k))],
        ),
        Rounds::NoRepetition { .. } => (
            "no state comes again before".to_string(),
            vec!["there are finitely many states, and none of them comes again".to_string()],
        ),
        Rounds::Ranking { ranks, .. } => {
            let each = if fair { "whenever fairness strikes, and it never increases:" } else { "with each step:" };
            let lines = vec![format!("a run that went on for ever would decrease its rank {each}")];
            let of = claim_id(system, claim).and_then(|id| liveness_to_safety(system, id, &Aspect::Rounds).ok());
            (
                ranking_summary(of.as_ref(), ranks),
                [lines, of.map_or(Vec::new(), |of| ranks_by_node(&of, ranks))].concat(),
            )
        }
    };
    if !matches!(claim.kind, ClaimKind::InfiniteRun) {
        lines.push("and no run ends on the way".to_string());
    }
    ShownEvidence::Argument { summary, lines }
}

fn claim_id(system: &System, claim: &Claim) -> Option<ClaimId> {
    system.claims.iter().position(|c| c.name == claim.name).map(ClaimId::from)
}

fn times(k: u32) -> String {
    if k == 1 { "once".to_string() } else { format!("{k} times") }
}

fn steps(k: u32) -> String {
    if k == 1 { "1 step".to_string() } else { format!("{k} steps") }
}

/// The pending nodes by their old names, with their ranks.
fn ranks_by_node(of: &LivenessToSafety, ranks: &NodeTerms) -> Vec<String> {
    let names: Vec<&str> = of
        .system
        .nodes
        .iter()
        .enumerate()
        .map(|(n, node)| match of.stage(n.into()) {
            Stage::Pending => node.name.rsplit_once('/').map_or("", |(name, _)| name),
            Stage::Free | Stage::Answered => "",
        })
        .collect();
    rank_lines(&names, ranks)
}

fn ranking_summary(of: Option<&LivenessToSafety>, ranks: &NodeTerms) -> String {
    let mut texts: Vec<String> = Vec::new();
    for (n, tuple) in ranks.by_node.iter().enumerate() {
        if of.is_none_or(|of| of.stage(n.into()) != Stage::Pending) {
            continue;
        }
        for &t in tuple {
            // Constants order the nodes; what the liveness-to-safety system adds means nothing to the reader.
            let symbols = ranks.pool.free_symbols(&[t]);
            if symbols.is_empty() || symbols.iter().any(|&s| ranks.pool.symbol(s).name.starts_with('@')) {
                continue;
            }
            let text = ranks.pool.display_bounded(t, 40).to_string();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    match &texts[..] {
        [] => "by a ranking of the nodes".to_string(),
        [one] => format!("because {one} decreases"),
        _ if texts.len() <= 3 => format!("because {} decrease, in this order", texts.join(", ")),
        _ => "by a ranking".to_string(),
    }
}

fn rank_lines(names: &[&str], ranks: &NodeTerms) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, tuple) in names.iter().zip(&ranks.by_node).filter(|(name, _)| !name.is_empty()) {
        let parts: Vec<String> =
            tuple.iter().map(|&t| ranks.pool.display_bounded(t, LONGEST_FORMULA).to_string()).collect();
        lines.push(format!("  at {name}  ({})", parts.join(", ")));
    }
    let more = lines.len().saturating_sub(NODES_SHOWN);
    lines.truncate(NODES_SHOWN);
    if more > 0 {
        lines.push(format!("  ... and {more} more nodes (--json has them)"));
    }
    lines
}
