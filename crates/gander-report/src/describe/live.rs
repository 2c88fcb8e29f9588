//! Evidence about liveness and about what is always possible, as shown to people.

use std::sync::Arc;

use gander_system::passes::{Aspect, LivenessToSafety, Stage, liveness_to_safety};
use gander_system::{
    Choice, Choices, Claim, ClaimId, ClaimKind, Evidence, NodeFormulas, NodeTerms, Rounds, Run,
    System, VarId,
};
use gander_term::{Pool, Simplifier};

use super::LONGEST_FORMULA;
use super::live_example::example;
use super::trace::trace_view;
use crate::view::{ShownEvidence, TraceView};

/// Nodes whose ranks or formulas are shown at most.
const NODES_SHOWN: usize = 12;

pub(super) fn live(system: &System, claim: &Claim, evidence: &Evidence) -> ShownEvidence {
    match evidence {
        Evidence::Lasso { run, back_to } => lasso(system, run, *back_to),
        Evidence::Recurrent { run, set, choices } => {
            let mut view = trace_view(system, run, None);
            view.goes_on = true;
            view.remarks = staying(system, &simplified_set(set), &simplified_choices(choices));
            view.remarks.extend(example(system, set, choices, run));
            ShownEvidence::Trace(view)
        }
        Evidence::NoSuchRun { rounds, .. } => no_such_run(system, claim, rounds),
        Evidence::Possible { ranks, .. } => {
            let mut lines = vec![
                "from every reachable state some step brings it nearer, by the rank".to_string(),
            ];
            let names: Vec<&str> = system.nodes().iter().map(|n| n.name.as_str()).collect();
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

/// The pattern in which a run goes on for ever: at each node of the set the states that it stays
/// in, and the step that is taken, with the states that it is taken in and its parameters.
fn staying(system: &System, set: &NodeFormulas, choices: &Choices) -> Vec<String> {
    let mut lines = Vec::new();
    let mut nodes = 0;
    for n in system.node_ids() {
        let here: Vec<&Choice> = choices
            .list
            .iter()
            .filter(|c| system.transition(c.transition).source == n)
            .filter(|c| choices.pool.as_bool(c.when) != Some(false))
            .collect();
        let formula = set.by_node[n.index()];
        if here.is_empty() || set.pool.as_bool(formula) == Some(false) {
            continue;
        }
        nodes += 1;
        if nodes > NODES_SHOWN {
            continue;
        }
        let place = if system.nodes().len() > 1 {
            format!("at {}, ", system.node(n).name)
        } else {
            String::new()
        };
        let states = match set.pool.as_bool(formula) {
            Some(true) => "in every state".to_string(),
            _ => {
                let shown = set.pool.display_bounded(formula, LONGEST_FORMULA);
                format!("in every state with {shown}")
            }
        };
        if let [only] = here[..]
            && is_everywhere(set, choices, formula, only)
        {
            lines.push(format!("  {place}{states}: {}", step_text(system, choices, only)));
            continue;
        }
        lines.push(format!("  {place}{states}:"));
        for choice in here {
            let when = choices.pool.display_bounded(choice.when, LONGEST_FORMULA);
            let step = step_text(system, choices, choice);
            lines.push(match choices.pool.as_bool(choice.when) {
                Some(true) => format!("    {step}"),
                _ => format!("    if {when}: {step}"),
            });
        }
    }
    if lines.is_empty() {
        return vec!["from here it can go on for ever".to_string()];
    }
    lines.insert(0, "from here it can go on for ever, by such a step again and again:".to_string());
    if nodes > NODES_SHOWN {
        let more = nodes - NODES_SHOWN;
        let noun = if more == 1 { "node" } else { "nodes" };
        lines.push(format!("  ... and {more} more {noun} (--json has them)"));
    }
    lines.push(if leaves_a_choice(system, choices) {
        "  in each of these states, such a step can be chosen so that it leads to such a state again"
            .to_string()
    } else {
        "  each of these steps leads to such a state again".to_string()
    });
    lines
}

/// True if a parameter or a next value is left open, so that not every step of the pattern stays in
/// its states.
fn leaves_a_choice(system: &System, choices: &Choices) -> bool {
    choices.list.iter().any(|choice| {
        let transition = system.transition(choice.transition);
        let open = |v: &VarId| choice.next.get(v.index()).is_none_or(Option::is_none);
        choice.params.iter().any(Option::is_none)
            || system.var_ids().filter(|&v| !transition.determines(v)).any(|v| open(&v))
    })
}

fn simplified_set(set: &NodeFormulas) -> NodeFormulas {
    let mut pool = Pool::clone(&set.pool);
    let mut simplifier = Simplifier::new();
    let by_node = set.by_node.iter().map(|&t| simplifier.simplify(&mut pool, t)).collect();
    NodeFormulas { pool: Arc::new(pool), by_node }
}

fn simplified_choices(choices: &Choices) -> Choices {
    let mut pool = Pool::clone(&choices.pool);
    let mut simplifier = Simplifier::new();
    let mut list = choices.list.clone();
    for choice in &mut list {
        choice.when = simplifier.simplify(&mut pool, choice.when);
        for t in choice.params.iter_mut().chain(&mut choice.next).flatten() {
            *t = simplifier.simplify(&mut pool, *t);
        }
    }
    Choices { pool: Arc::new(pool), list }
}

/// True if a choice is for all states of the set at its node.
fn is_everywhere(
    set: &NodeFormulas,
    choices: &Choices,
    formula: gander_term::TermId,
    choice: &Choice,
) -> bool {
    choices.pool.as_bool(choice.when) == Some(true)
        || choices.pool.display(choice.when).to_string() == set.pool.display(formula).to_string()
}

/// A step with the values that are chosen for it, as formulas over the state before it.
fn step_text(system: &System, choices: &Choices, choice: &Choice) -> String {
    let transition = system.transition(choice.transition);
    let text = |t| choices.pool.display_bounded(t, LONGEST_FORMULA).to_string();
    let params: Vec<String> =
        choice.params.iter().map(|p| p.map_or_else(|| "some value".to_string(), text)).collect();
    let mut step = super::trace::action_with(system, choice.transition, &params);
    // Variables that the effect leaves open.
    let mut open = Vec::new();
    for v in system.var_ids() {
        if transition.determines(v) {
            continue;
        }
        if let Some(Some(value)) = choice.next.get(v.index()) {
            open.push(format!("{}' = {}", system.var(v).name, text(*value)));
        }
    }
    if !open.is_empty() {
        let more = open.len().saturating_sub(NODES_SHOWN);
        open.truncate(NODES_SHOWN);
        if more > 0 {
            open.push(format!("{more} more (--json has them)"));
        }
        step.push_str(&format!(" with {}", open.join(", ")));
    }
    step
}

fn no_such_run(system: &System, claim: &Claim, rounds: &Rounds) -> ShownEvidence {
    let fair = match &claim.kind {
        ClaimKind::Eventually { under, .. }
        | ClaimKind::AlwaysEventually { under, .. }
        | ClaimKind::LeadsTo { under, .. } => !under.is_empty(),
        _ => false,
    };
    // The evidence for `p leads to q` is about runs after a state with `p`.
    let without = match claim.kind {
        ClaimKind::LeadsTo { .. } => "waiting for it",
        _ => "without it",
    };
    let (summary, mut lines) = match rounds {
        Rounds::AtMost { k, .. } if fair => (
            format!(
                "at most {} before it, each with every fairness condition met",
                rounds_text(*k)
            ),
            vec![format!(
                "a round is complete when every fairness condition was met since the one before; \
                 no run completes more than {} {without}",
                rounds_text(*k)
            )],
        ),
        Rounds::AtMost { k, .. } if matches!(claim.kind, ClaimKind::InfiniteRun) => (
            format!("at most {}", steps(*k)),
            vec![format!("no run goes on for more than {}", steps(*k))],
        ),
        Rounds::AtMost { k, .. } if matches!(claim.kind, ClaimKind::ExistsAlways(_)) => (
            format!("at most {}", steps(*k)),
            vec![format!("no run satisfies it for more than {}", steps(*k))],
        ),
        // After the last step without it comes a step with it.
        Rounds::AtMost { k, .. } => (
            format!("within {}", steps(k.saturating_add(1))),
            vec![format!("no run goes on for more than {} {without}", steps(*k))],
        ),
        Rounds::NoRepetition { .. } => {
            let line = "there are finitely many states, and no run";
            let (summary, run) = match claim.kind {
                ClaimKind::InfiniteRun => {
                    ("no loop".to_string(), "comes to one of them twice".to_string())
                }
                ClaimKind::ExistsAlways(_) => (
                    "no loop in which it always holds".to_string(),
                    "with it comes to one of them twice".to_string(),
                ),
                _ if fair => (
                    format!("no fair loop {without}"),
                    format!(
                        "{without} comes back to one of them after every fairness condition was met"
                    ),
                ),
                _ => {
                    (format!("no loop {without}"), format!("{without} comes to one of them twice"))
                }
            };
            (summary, vec![format!("{line} {run}")])
        }
        Rounds::Ranking { ranks, .. } => {
            let each = if fair {
                "whenever fairness strikes, and it never increases:"
            } else {
                "with each step:"
            };
            let lines = vec![format!("a run that went on for ever would decrease its rank {each}")];
            let of = claim_id(system, claim)
                .and_then(|id| liveness_to_safety(system, id, &Aspect::Rounds).ok());
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
    system.claims().iter().position(|c| c.name == claim.name).map(ClaimId::from)
}

fn rounds_text(k: u32) -> String {
    if k == 1 { "1 round".to_string() } else { format!("{k} rounds") }
}

fn steps(k: u32) -> String {
    if k == 1 { "1 step".to_string() } else { format!("{k} steps") }
}

/// The pending nodes by their names in the original system, with their ranks.
fn ranks_by_node(of: &LivenessToSafety, ranks: &NodeTerms) -> Vec<String> {
    let names: Vec<&str> = of
        .system
        .nodes()
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
            // Constants order the nodes. Names that the liveness-to-safety system adds are unknown
            // to the reader.
            let symbols = ranks.pool.free_symbols(&[t]);
            if symbols.is_empty()
                || symbols.iter().any(|&s| ranks.pool.symbol(s).name.starts_with('@'))
            {
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
        let parts: Vec<String> = tuple
            .iter()
            .map(|&t| ranks.pool.display_bounded(t, LONGEST_FORMULA).to_string())
            .collect();
        lines.push(format!("  at {name}  ({})", parts.join(", ")));
    }
    let more = lines.len().saturating_sub(NODES_SHOWN);
    lines.truncate(NODES_SHOWN);
    if more > 0 {
        lines.push(format!("  ... and {more} more nodes (--json has them)"));
    }
    lines
}
