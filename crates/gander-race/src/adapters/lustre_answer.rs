//! Answers about Lustre programs: properties by name, and counterexamples as streams of values.

use gander_export::{Format, NameMap, Options, Selection, Written, write};
use gander_system::System;
use gander_term::{IBig, RBig, Sort, Value};

use crate::evidence::Candidate;
use crate::tool::{Ending, Said, Says, Seat, Stop};
use crate::trace::{Moment, Trace};

/// What a tool says of a property.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct About {
    /// Its name in the program.
    pub name: String,
    pub is_true: bool,
    /// How many instants a proof by induction looks back.
    pub k: Option<u32>,
    /// Streams of a counterexample: name, and values at instants as text.
    pub streams: Vec<(String, Vec<(usize, String)>)>,
}

/// The open claims as a Lustre program.
pub(super) fn program(seat: &Seat<'_>) -> Result<Written, Stop> {
    let open = seat.open();
    let written = write(seat.system, Format::Lustre, Options::default(), Selection::Only(&open))?;
    if written.names.claims().is_empty() {
        return Err(Stop::Cannot("none of the claims can be written in Lustre".to_string()));
    }
    Ok(written)
}

/// Answers for every property that the program speaks of.
pub(super) fn answer(seat: &mut Seat<'_>, names: &NameMap, said: &Said, told: Vec<About>) -> Result<(), Stop> {
    let none = told.is_empty();
    for about in told {
        let Some(claim) = names.claim(&about.name) else { continue };
        let mut evidence = Vec::new();
        if about.is_true {
            evidence.extend(about.k.map(|k| Candidate::Inductive { k }));
        } else {
            evidence.extend(trace(seat.system, names, &about.streams).map(Candidate::Trace));
        }
        seat.answer(claim.claim, Says::of(about.is_true, claim.opposite), &evidence);
    }
    if none || said.ending != Ending::Exited { Err(seat.no_answer(said)) } else { Ok(()) }
}

/// The moments of a counterexample. None if a value cannot be read.
fn trace(system: &System, names: &NameMap, streams: &[(String, Vec<(usize, String)>)]) -> Option<Trace> {
    let instants = streams.iter().flat_map(|(_, values)| values.iter().map(|(i, _)| i + 1)).max()?;
    // A tool that numbers instants wildly is not believed.
    if instants > 1_000_000 {
        return None;
    }
    let mut moments = vec![Moment::default(); instants];
    for (name, values) in streams {
        for (i, text) in values {
            moments[*i].put_named(system, names, name, |sort| read_value(names, sort, text))?;
        }
    }
    Some(Trace { moments, back_to: None })
}

/// A value as Kind 2 and JKind write it.
fn read_value(names: &NameMap, sort: Sort, text: &str) -> Option<Value> {
    match sort {
        Sort::Bool => match text {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        Sort::Int => text.parse::<IBig>().ok().map(Value::Int),
        Sort::Real => rational(text).map(Value::Real),
        Sort::Enum(id) => names.value(text).filter(|(of, _)| *of == id).map(|(id, k)| Value::Enum(id, k)),
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
