//! Which abstractions to give up: those that an unproved claim depends on.
//!
//! A claim depends on the streams that it mentions, on those that their equations mention, and on
//! those that occur in an assumption together with one of them. The choice does not affect
//! soundness: calls that are not chosen stay abstract.

use std::collections::BTreeSet;

use gander_lang::lustre::ClaimSource;
use gander_system::{ClaimKind, Dataflow, Instant, System, VarId};
use gander_term::TermId;

use super::facts::Part;

/// The abstracted nodes whose calls are replaced by bodies to prove open claims; all of them if the
/// claims depend on none.
pub(super) fn to_replace(part: &Part, open: &[&ClaimSource]) -> Vec<String> {
    let mut chosen: BTreeSet<&str> = BTreeSet::new();
    let calls: Vec<(&str, &str)> = part
        .instances
        .iter()
        .filter(|(_, node)| part.abstracted.contains(node))
        .map(|(path, node)| (path.as_str(), node.as_str()))
        .collect();
    let mut terms = Vec::new();
    for source in open {
        match part.claim(source).map(|(_, claim)| &claim.kind) {
            Some(ClaimKind::Always(term)) => terms.push(term.term()),
            // A claim inside an abstracted call.
            _ => chosen.extend(
                calls.iter().filter(|(path, _)| source.instance.starts_with(path)).map(|&(_, n)| n),
            ),
        }
    }
    if let Some(flow) = Dataflow::of(&part.system) {
        let root = &part.system.name();
        let prefixes: Vec<(String, &str)> =
            calls.iter().map(|&(path, node)| (format!("{root}{path}."), node)).collect();
        for stream in cone(&part.system, &flow, &terms) {
            let name = &part.system.var(stream).name;
            chosen.extend(
                prefixes
                    .iter()
                    .filter(|(prefix, _)| name.starts_with(prefix))
                    .map(|&(_, node)| node),
            );
        }
    }
    if chosen.is_empty() {
        return part.abstracted.clone();
    }
    part.abstracted.iter().filter(|node| chosen.contains(node.as_str())).cloned().collect()
}

/// The streams that formulas about a state depend on.
fn cone(system: &System, flow: &Dataflow, terms: &[TermId]) -> Vec<VarId> {
    let mut seen = vec![false; system.vars().len()];
    let mut stack: Vec<VarId> =
        terms.iter().flat_map(|&t| flow.mentioned(Instant::First, t).now).collect();
    let assumptions: Vec<Vec<VarId>> = system
        .assumptions()
        .iter()
        .map(|a| flow.mentioned(Instant::First, a.term.term()).now)
        .collect();
    let mut together: Vec<Vec<usize>> = vec![Vec::new(); system.vars().len()];
    for (a, streams) in assumptions.iter().enumerate() {
        for s in streams {
            together[s.index()].push(a);
        }
    }
    let mut used = vec![false; assumptions.len()];
    let mut found = Vec::new();
    while let Some(stream) = stack.pop() {
        if std::mem::replace(&mut seen[stream.index()], true) {
            continue;
        }
        found.push(stream);
        for instant in [Instant::First, Instant::Later] {
            let uses = flow.uses(instant, stream);
            stack.extend(uses.now.into_iter().chain(uses.before));
        }
        for &a in &together[stream.index()] {
            if !std::mem::replace(&mut used[a], true) {
                stack.extend(&assumptions[a]);
            }
        }
    }
    found
}
