//! Z3's engine for Horn clauses (Spacer: Komuravelli, Gurfinkel and Chaki, CAV 2014).
//!
//! A model of the clauses is an invariant. Where there is none, the clauses are asked again in the dialect of rules, in
//! which Z3 prints a derivation: its ground facts `(state 0 1)` are the states of a run.

use std::collections::HashMap;

use gander_export::{HornDialect, NameMap, Place, Written};
use gander_smt::{Sexpr, read_value};
use gander_system::{ClaimId, System};

use super::horn_answer::{ask, clauses};
use crate::tool::{Call, Ending, Seat, Stop, Tool};
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

    fn play(&self, seat: &mut Seat<'_>) -> Result<(), Stop> {
        let call = |seat: &Seat<'_>, written: &Written| call(seat, format!("{}(get-model)\n", written.text));
        ask(seat, &call, &derivation)
    }
}

fn call(seat: &Seat<'_>, text: String) -> Call {
    let mut arguments: Vec<String> = seat.seconds_left().map(|s| format!("-T:{s}")).into_iter().collect();
    // What is inlined or sliced away would be missing in models and derivations.
    for option in ["inline_eager", "inline_linear", "inline_linear_branch", "slice", "coi"] {
        arguments.push(format!("fp.xform.{option}=false"));
    }
    arguments.push("clauses.smt2".to_string());
    Call { files: vec![("clauses.smt2".to_string(), text)], arguments, ..Call::default() }
}

/// A trace to what breaks the claim.
fn derivation(seat: &mut Seat<'_>, claim: ClaimId) -> Result<Option<Trace>, Stop> {
    let written = clauses(seat.system, &[claim], HornDialect::Rules)?;
    let call = call(seat, format!("(set-option :fp.engine spacer)\n{}", written.text));
    let said = seat.run(&call)?;
    if said.ending != Ending::Exited {
        return Err(seat.no_answer(&said));
    }
    let Some(("sat", proof)) = said.stdout.split_once('\n').map(|(first, rest)| (first.trim(), rest)) else {
        return Ok(None);
    };
    Ok(Sexpr::parse(proof.as_bytes()).ok().and_then(|proof| read_trace(seat.system, &written.names, &proof)))
}

/// The states of a derivation, the first one first.
fn read_trace(system: &System, names: &NameMap, proof: &Sexpr) -> Option<Trace> {
    let places: Vec<Place> =
        names.places().iter().map(|(_, p)| *p).filter(|p| !matches!(p, Place::Param { .. })).collect();
    let mut moments = Vec::new();
    for fact in facts(proof)? {
        let mut moment = Moment::default();
        let arguments = fact.list().map_or(&[][..], |items| &items[1..]);
        if arguments.len() != places.len() {
            return None;
        }
        for (place, value) in places.iter().zip(arguments) {
            let value = read_value(&system.pool, sort_of(system, *place), value)?;
            moment.put(system, *place, value).then_some(())?;
        }
        moments.push(moment);
    }
    moments.reverse();
    (!moments.is_empty()).then_some(Trace { moments, back_to: None })
}

/// The conclusions `(state …)` along a derivation, the last one first. A derivation is `((_ hyper-res …) premise …
/// conclusion)`, and one of the premises of each is the one before.
fn facts(proof: &Sexpr) -> Option<Vec<&Sexpr>> {
    let (mut names, mut body) = (HashMap::new(), proof);
    while let Some([word, bindings, inner]) = body.list()
        && word.atom() == Some("let")
    {
        for binding in bindings.list()? {
            let [name, bound] = binding.list()? else { return None };
            names.insert(name.atom()?, bound);
        }
        body = inner;
    }
    // A name may stand for a name, but not for itself.
    let resolve = |e: &'_ Sexpr| -> Option<&Sexpr> {
        let mut found = e.atom().and_then(|name| names.get(name).copied())?;
        for _ in 0..names.len() {
            match found.atom().and_then(|name| names.get(name).copied()) {
                Some(next) => found = next,
                None => break,
            }
        }
        Some(found)
    };
    let is_step = |e: &Sexpr| match e.list() {
        Some([head, ..]) => {
            head.atom() == Some("mp")
                || head.list().is_some_and(|h| h.get(1).and_then(Sexpr::atom) == Some("hyper-res"))
        }
        _ => false,
    };
    let is_state = |e: &Sexpr| match e {
        Sexpr::List(items) => items.first().and_then(Sexpr::atom) == Some("state"),
        other => other.atom() == Some("state"),
    };
    let mut found = Vec::new();
    let mut at = Some(body);
    // Names are bound once, so a derivation is at most as long as it is printed.
    let mut left = 1_000_000;
    while let Some(step) = at {
        let items = step.list()?;
        let (conclusion, premises) = items[1..].split_last()?;
        let conclusion = resolve(conclusion).unwrap_or(conclusion);
        if is_state(conclusion) {
            found.push(conclusion);
        }
        at = premises.iter().map(|p| resolve(p).unwrap_or(p)).find(|p| is_step(p));
        left -= 1;
        if left == 0 {
            return None;
        }
    }
    Some(found)
}
