//! Kind 2 and JKind: the program they get, and their answers about its properties.

use gander_export::{Format, NameMap, Options, Selection, Written, write};
use gander_process::{Ending, Finished};
use gander_system::System;
use gander_term::{IBig, RBig, Sort, Value};
use gander_tool_output::lustre::{Answer, Property, Stream};

use crate::evidence::Candidate;
use crate::tool::{Says, Stop, ToolContext};
use crate::trace::{Moment, Trace};

/// Instants of a counterexample at most.
const MAX_INSTANTS: usize = 1_000_000;

/// The open claims as a Lustre program.
pub(super) fn program(context: &ToolContext<'_>) -> Result<Written, Stop> {
    let open = context.open();
    let written =
        write(context.system, Format::Lustre, Options::default(), Selection::Only(&open))?;
    if written.names.claims().is_empty() {
        return Err(Stop::Cannot("none of the claims can be written in Lustre".to_string()));
    }
    Ok(written)
}

/// Answers the claim of every decided property.
pub(super) fn answer(
    context: &mut ToolContext<'_>,
    names: &NameMap,
    said: &Finished,
    properties: &[Property],
) -> Result<(), Stop> {
    let mut none = true;
    for property in properties {
        let is_true = match property.answer {
            Answer::Valid => true,
            Answer::Falsifiable => false,
            Answer::Reachable | Answer::Unreachable | Answer::Unknown => continue,
        };
        // An element with a malformed counterexample is not an answer.
        let Some(streams) = &property.counterexample else { continue };
        none = false;
        let Some(claim) = names.claim(&property.name) else { continue };
        let mut evidence = Vec::new();
        if is_true {
            evidence.extend(property.k.map(|k| Candidate::Inductive { k }));
        } else {
            evidence.extend(trace(context.system, names, streams).map(Candidate::Trace));
        }
        context.answer(claim.claim, Says::of(is_true, claim.opposite), &evidence);
    }
    if none || said.ending != Ending::Exited { Err(context.no_answer(said)) } else { Ok(()) }
}

/// The moments of a counterexample. `None` if a value cannot be parsed.
fn trace(system: &System, names: &NameMap, streams: &[Stream]) -> Option<Trace> {
    let last = streams.iter().flat_map(|s| s.values.iter().map(|(i, _)| *i)).max()?;
    if last >= MAX_INSTANTS {
        return None;
    }
    let mut moments = vec![Moment::default(); last + 1];
    for stream in streams {
        for (i, text) in &stream.values {
            let parse = |sort| parse_value(names, sort, text);
            moments[*i].put_named(system, names, &stream.name, parse)?;
        }
    }
    Some(Trace { moments, back_to: None })
}

/// A value as Kind 2 and JKind print it.
fn parse_value(names: &NameMap, sort: Sort, text: &str) -> Option<Value> {
    match sort {
        Sort::Bool => match text {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        Sort::Int => text.parse::<IBig>().ok().map(Value::Int),
        Sort::Real => rational(text).map(Value::Real),
        Sort::Enum(id) => {
            names.value(text).filter(|(of, _)| *of == id).map(|(id, k)| Value::Enum(id, k))
        }
        _ => None,
    }
}

/// `3`, `-1/2`, `1.25`.
pub(super) fn rational(text: &str) -> Option<RBig> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (IBig::from(-1), rest),
        None => (IBig::ONE, text),
    };
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    let (top, bottom) = match text.split_once('.') {
        Some((whole, part)) if digits(whole) && digits(part) && part.len() <= 1000 => {
            (format!("{whole}{part}").parse::<IBig>().ok()?, IBig::from(10).pow(part.len()))
        }
        Some(_) => return None,
        None => {
            let (top, bottom) = text.split_once('/').unwrap_or((text, "1"));
            if !digits(top) || !digits(bottom) {
                return None;
            }
            (top.parse::<IBig>().ok()?, bottom.parse::<IBig>().ok()?)
        }
    };
    (bottom != IBig::ZERO).then(|| RBig::from(sign * top) / RBig::from(bottom))
}
