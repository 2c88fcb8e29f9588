//! Z3's engine for Horn clauses (Spacer: Komuravelli, Gurfinkel and Chaki, CAV 2014).
//!
//! A model of the clauses is an invariant. If there is none, the clauses are asked again in the
//! dialect of rules, for which Z3 prints a derivation: its ground facts `(state 0 1)` are the
//! states of a run.

use std::collections::HashMap;

use gander_export::{HornDialect, NameMap, Place, Written};
use gander_process::Ending;
use gander_smt::read_value;
use gander_system::{ClaimId, System};
use gander_term::smtlib::{Sexpr, Tree, TreeConfig};
use gander_tool_output::horn::Status;

use super::horn_answer::{ask, clauses};
use crate::tool::{Call, Stop, Tool, ToolContext};
use crate::trace::{Moment, Trace, sort_of};

/// The adapter.
pub(super) struct Z3;

impl Tool for Z3 {
    fn name(&self) -> &'static str {
        "z3"
    }

    fn about(&self) -> &'static str {
        "Horn engine Spacer: property-directed reachability over arithmetic; invariants and traces"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["z3"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["--version"]
    }

    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop> {
        let call = |context: &ToolContext<'_>, written: &Written| {
            call(context, format!("{}(get-model)\n", written.text))
        };
        ask(context, &call, &derivation)
    }
}

fn call(context: &ToolContext<'_>, text: String) -> Call {
    let mut arguments: Vec<String> =
        context.seconds_left().map(|s| format!("-T:{s}")).into_iter().collect();
    // Inlined or sliced predicates would be missing in models and derivations.
    for option in ["inline_eager", "inline_linear", "inline_linear_branch", "slice", "coi"] {
        arguments.push(format!("fp.xform.{option}=false"));
    }
    arguments.push("clauses.smt2".to_string());
    Call { files: vec![("clauses.smt2".to_string(), text)], arguments, ..Call::default() }
}

/// A trace that violates the claim.
fn derivation(context: &mut ToolContext<'_>, claim: ClaimId) -> Result<Option<Trace>, Stop> {
    let written = clauses(context.system, &[claim], HornDialect::Rules)?;
    let call = call(context, format!("(set-option :fp.engine spacer)\n{}", written.text));
    let said = context.run(&call)?;
    if said.ending != Ending::Exited {
        return Err(context.no_answer(&said));
    }
    let Some((Status::Sat, proof)) = Status::first(&said.stdout) else { return Ok(None) };
    Ok(Tree::parse_one(proof.as_bytes(), TreeConfig::SOLVER)
        .ok()
        .and_then(|proof| read_trace(context.system, &written.names, proof.root())))
}

/// The states of a derivation, the initial state first.
fn read_trace(system: &System, names: &NameMap, proof: Sexpr<'_>) -> Option<Trace> {
    let places: Vec<Place> = names
        .places()
        .iter()
        .map(|(_, p)| *p)
        .filter(|p| !matches!(p, Place::Param { .. }))
        .collect();
    let mut moments = Vec::new();
    for fact in facts(proof)? {
        let mut moment = Moment::default();
        let items = fact.list().unwrap_or_default();
        let arguments = items.get(1..).unwrap_or(&[]);
        if arguments.len() != places.len() {
            return None;
        }
        for (place, value) in places.iter().zip(arguments) {
            let value = read_value(system.pool(), sort_of(system, *place), *value)?;
            moment.put(system, *place, value).then_some(())?;
        }
        moments.push(moment);
    }
    moments.reverse();
    (!moments.is_empty()).then_some(Trace { moments, back_to: None })
}

/// The conclusions `(state …)` along a derivation, the last state first. A derivation is `((_
/// hyper-res …) premise … conclusion)`; one of its premises is the derivation of the state before.
fn facts(proof: Sexpr<'_>) -> Option<Vec<Sexpr<'_>>> {
    let (mut names, mut body) = (HashMap::new(), proof);
    while let Some([word, bindings, inner]) = body.elements()
        && word.atom() == Some("let")
    {
        for binding in bindings.list()? {
            let [name, bound] = binding.elements()?;
            names.insert(name.atom()?, bound);
        }
        body = inner;
    }
    // A name may be bound to another name, but not to itself.
    let resolve = |e: Sexpr<'_>| {
        let mut found = e.atom().and_then(|name| names.get(name).copied())?;
        for _ in 0..names.len() {
            match found.atom().and_then(|name| names.get(name).copied()) {
                Some(next) => found = next,
                None => break,
            }
        }
        Some(found)
    };
    let is_step = |e: &Sexpr<'_>| match e.list().as_deref() {
        Some([head, ..]) => {
            head.atom() == Some("mp")
                || head
                    .list()
                    .is_some_and(|h| h.get(1).and_then(|word| word.atom()) == Some("hyper-res"))
        }
        _ => false,
    };
    let is_state = |e: Sexpr<'_>| match e.list() {
        Some(items) => items.first().and_then(|head| head.atom()) == Some("state"),
        None => e.atom() == Some("state"),
    };
    let mut found = Vec::new();
    let mut at = Some(body);
    // Bounds the loop if bindings are cyclic.
    let mut left = 1_000_000;
    while let Some(step) = at {
        let items = step.list()?;
        let (&conclusion, premises) = items.get(1..)?.split_last()?;
        let conclusion = resolve(conclusion).unwrap_or(conclusion);
        if is_state(conclusion) {
            found.push(conclusion);
        }
        at = premises.iter().map(|&p| resolve(p).unwrap_or(p)).find(is_step);
        left -= 1;
        if left == 0 {
            return None;
        }
    }
    Some(found)
}
