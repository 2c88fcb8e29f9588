//! NuSMV and nuXmv: a script of commands, with a line of ours before and behind each answer, and traces that show
//! every variable in every state (`default_trace_plugin 1`).

use gander_export::{Format, NameMap, Options, Selection, Written, write};
use gander_system::System;
use gander_term::{BitVec, IBig, Sort, Value};

use super::lustre_answer::rational;
use crate::evidence::Candidate;
use crate::tool::{Call, Ending, Said, Says, Seat, Stop};
use crate::trace::{Moment, Trace};

/// How the answers are asked for.
pub(super) struct Commands {
    /// Builds the model.
    pub build: &'static str,
    /// Checks an invariant by name.
    pub invariant: &'static str,
    /// Checks a temporal property by name.
    pub temporal: &'static str,
    /// Says how many states are reachable, if it can.
    pub states: Option<&'static str>,
}

/// The open claims as SMV.
pub(super) fn written(seat: &Seat<'_>) -> Result<Written, Stop> {
    let open = seat.open();
    let written = write(seat.system, Format::Smv, Options::default(), Selection::Only(&open))?;
    if written.names.claims().is_empty() {
        return Err(Stop::Cannot("none of the claims can be written in SMV".to_string()));
    }
    Ok(written)
}

/// True if some variable has infinitely many values.
pub(super) fn is_infinite(text: &str) -> bool {
    let declares = |l: &str| l.starts_with("VAR ") || l.starts_with("IVAR ");
    text.lines().any(|l| declares(l) && (l.ends_with(" : integer;") || l.ends_with(" : real;")))
}

/// Asks about every claim of a text, one after the other, and answers.
pub(super) fn ask(seat: &mut Seat<'_>, written: &Written, commands: &Commands, call: Call) -> Result<(), Stop> {
    let mut script = format!("set default_trace_plugin 1\nread_model -i model.smv\n{}\n", commands.build);
    for claim in written.names.claims() {
        let command = if claim.temporal { commands.temporal } else { commands.invariant };
        let name = &claim.name;
        script.push_str(&format!("echo gander-begin {name}\n{command} -P \"{name}\"\necho gander-end {name}\n"));
    }
    if let Some(command) = commands.states {
        script.push_str(&format!("echo gander-begin-states\n{command}\necho gander-end-states\n"));
    }
    script.push_str("quit\n");
    let mut call = call;
    call.files = vec![("model.smv".to_string(), written.text.clone()), ("commands".to_string(), script)];
    call.arguments.extend(["-source".to_string(), "commands".to_string()]);
    let said = seat.run(&call)?;
    let answers = read(seat.system, &written.names, &said);
    let states = commands.states.and_then(|_| read_states(&said.stdout)).map(Candidate::States);
    let none = answers.is_empty();
    for (name, is_true, trace) in answers {
        let Some(claim) = written.names.claim(&name) else { continue };
        let evidence: Vec<Candidate> = trace.map(Candidate::Trace).or_else(|| states.clone()).into_iter().collect();
        seat.answer(claim.claim, Says::of(is_true, claim.opposite), &evidence);
    }
    if none || said.ending != Ending::Exited { Err(seat.no_answer(&said)) } else { Ok(()) }
}

/// The lines between two of ours; none if one of them is missing.
fn block<'t>(text: &'t str, begin: &str, end: &str) -> Option<Vec<&'t str>> {
    let mut lines = text.lines().map(str::trim).skip_while(|l| *l != begin);
    lines.next()?;
    let mut found = Vec::new();
    for line in lines {
        if line == end {
            return Some(found);
        }
        found.push(line);
    }
    None
}

/// What the program says of each property by name: whether it is true, and a trace if it is not.
fn read(system: &System, names: &NameMap, said: &Said) -> Vec<(String, bool, Option<Trace>)> {
    let mut found = Vec::new();
    for claim in names.claims() {
        let name = &claim.name;
        let lines = block(&said.stdout, &format!("gander-begin {name}"), &format!("gander-end {name}"));
        if let Some((is_true, trace)) = lines.and_then(|lines| read_answer(system, names, &lines)) {
            found.push((name.clone(), is_true, trace));
        }
    }
    found
}

/// The number of reachable states: `reachable states: 5 (2^2.32193) out of 12 (2^3.58496)`.
fn read_states(text: &str) -> Option<u64> {
    let lines = block(text, "gander-begin-states", "gander-end-states")?;
    let line = lines.iter().find_map(|l| l.strip_prefix("reachable states: "))?;
    line.split(' ').next()?.parse().ok()
}

/// One answer: `-- invariant … is true`, or `is false` with a trace. A line that is not known makes it no answer.
fn read_answer(system: &System, names: &NameMap, lines: &[&str]) -> Option<(bool, Option<Trace>)> {
    let mut lines = lines.iter().copied().filter(|l| !l.is_empty());
    let first = lines.next()?;
    let about = first.strip_prefix("-- invariant ").or_else(|| first.strip_prefix("-- specification "))?;
    if about.ends_with(" is true") {
        return lines.next().is_none().then_some((true, None));
    }
    if !about.ends_with(" is false") {
        return None;
    }
    let (mut trace, mut loops, mut input) = (Trace::default(), Vec::new(), Moment::default());
    let mut in_input = false;
    for line in lines {
        if line.starts_with("-- as demonstrated by") || line.starts_with("Trace ") {
            continue;
        }
        if line.starts_with("-- Loop starts here") {
            loops.push(trace.moments.len());
        } else if line.starts_with("-> State:") {
            trace.moments.push(std::mem::take(&mut input));
            in_input = false;
        } else if line.starts_with("-> Input:") {
            in_input = true;
        } else {
            let (name, value) = line.split_once(" = ")?;
            let moment = if in_input { &mut input } else { trace.moments.last_mut()? };
            moment.put_named(system, names, name, |sort| read_value(names, sort, value))?;
        }
    }
    let last = trace.moments.len().checked_sub(1);
    trace.back_to = loops.into_iter().rev().find(|l| last.is_some_and(|last| *l < last));
    Some((false, last.map(|_| trace)))
}

/// A value as SMV writes it.
fn read_value(names: &NameMap, sort: Sort, text: &str) -> Option<Value> {
    match sort {
        Sort::Bool => match text {
            "TRUE" => Some(Value::Bool(true)),
            "FALSE" => Some(Value::Bool(false)),
            _ => None,
        },
        Sort::Int => text.parse::<IBig>().ok().map(Value::Int),
        // f'1/3, -f'1/3
        Sort::Real => rational(&text.replacen("f'", "", 1)).map(Value::Real),
        Sort::Enum(id) => names.value(text).filter(|(of, _)| *of == id).map(|(id, k)| Value::Enum(id, k)),
        Sort::BitVec(width) => {
            // 0ud4_3
            let (bits, number) = text.strip_prefix("0ud")?.split_once('_')?;
            let number: IBig = number.parse().ok().filter(|n| *n >= IBig::ZERO)?;
            let fits = number < IBig::ONE << width.bits() as usize;
            (bits.parse() == Ok(width.bits()) && fits).then(|| Value::BitVec(BitVec::wrap(width, number)))
        }
        _ => None,
    }
}
