//! NuSMV and nuXmv: a script of commands that echoes a line before and after each answer, and
//! prints traces with every variable in every state (`default_trace_plugin 1`).

use gander_export::{Format, NameMap, Options, Selection, Written, write};
use gander_process::{Ending, Finished};
use gander_system::System;
use gander_term::{BitVec, IBig, Sort, Value};
use gander_tool_output::smv;

use super::lustre_answer::rational;
use crate::evidence::Candidate;
use crate::tool::{Call, Says, Stop, ToolContext};
use crate::trace::{Moment, Trace};

/// The commands of a tool.
pub(super) struct Commands {
    /// Builds the model.
    pub build: &'static str,
    /// Checks an invariant by name.
    pub invariant: &'static str,
    /// Checks a temporal property by name.
    pub temporal: &'static str,
    /// Prints the number of reachable states, if the tool can.
    pub states: Option<&'static str>,
}

/// The open claims as SMV.
pub(super) fn written(context: &ToolContext<'_>) -> Result<Written, Stop> {
    let open = context.open();
    let written = write(context.system, Format::Smv, Options::default(), Selection::Only(&open))?;
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

/// Runs the tool on every claim of the text, one after the other, and records the answers.
pub(super) fn ask(
    context: &mut ToolContext<'_>,
    written: &Written,
    commands: &Commands,
    call: Call,
) -> Result<(), Stop> {
    let mut script =
        format!("set default_trace_plugin 1\nread_model -i model.smv\n{}\n", commands.build);
    for claim in written.names.claims() {
        let command = if claim.temporal { commands.temporal } else { commands.invariant };
        let name = &claim.name;
        script.push_str(&format!(
            "echo gander-begin {name}\n{command} -P \"{name}\"\necho gander-end {name}\n"
        ));
    }
    if let Some(command) = commands.states {
        script.push_str(&format!("echo gander-begin-states\n{command}\necho gander-end-states\n"));
    }
    script.push_str("quit\n");
    let mut call = call;
    call.files =
        vec![("model.smv".to_string(), written.text.clone()), ("commands".to_string(), script)];
    call.arguments.extend(["-source".to_string(), "commands".to_string()]);
    let said = context.run(&call)?;
    let answers = parse_answers(context.system, &written.names, &said);
    let states = commands
        .states
        .and_then(|_| smv::block(&said.stdout, "gander-begin-states", "gander-end-states"))
        .and_then(|lines| smv::reachable_states(&lines))
        .map(Candidate::States);
    let none = answers.is_empty();
    for (name, is_true, trace) in answers {
        let Some(claim) = written.names.claim(&name) else { continue };
        let evidence: Vec<Candidate> =
            trace.map(Candidate::Trace).or_else(|| states.clone()).into_iter().collect();
        context.answer(claim.claim, Says::of(is_true, claim.opposite), &evidence);
    }
    if none || said.ending != Ending::Exited { Err(context.no_answer(&said)) } else { Ok(()) }
}

/// The answers by the names of properties: whether each is true, and a trace if it is not.
fn parse_answers(
    system: &System,
    names: &NameMap,
    said: &Finished,
) -> Vec<(String, bool, Option<Trace>)> {
    let mut found = Vec::new();
    for claim in names.claims() {
        let name = &claim.name;
        let lines = smv::block(
            &said.stdout,
            &format!("gander-begin {name}"),
            &format!("gander-end {name}"),
        );
        if let Some((is_true, trace)) = lines.and_then(|lines| parse_answer(system, names, &lines))
        {
            found.push((name.clone(), is_true, trace));
        }
    }
    found
}

/// One answer: `-- invariant … is true`, or `is false` with a trace. An unknown line makes it no
/// answer.
fn parse_answer(system: &System, names: &NameMap, lines: &[&str]) -> Option<(bool, Option<Trace>)> {
    let mut lines = lines.iter().copied().filter(|l| !l.is_empty());
    if smv::answer(lines.next()?)?.is_true? {
        return lines.next().is_none().then_some((true, None));
    }
    let found = smv::counterexample(lines)?;
    let mut trace = Trace { moments: Vec::new(), back_to: found.back_to };
    for state in &found.states {
        let mut moment = Moment::default();
        for (name, value) in state.inputs.iter().chain(&state.values) {
            moment.put_named(system, names, name, |sort| parse_value(names, sort, value))?;
        }
        trace.moments.push(moment);
    }
    Some((false, (!trace.moments.is_empty()).then_some(trace)))
}

/// A value as NuSMV prints it.
fn parse_value(names: &NameMap, sort: Sort, text: &str) -> Option<Value> {
    match sort {
        Sort::Bool => match text {
            "TRUE" => Some(Value::Bool(true)),
            "FALSE" => Some(Value::Bool(false)),
            _ => None,
        },
        Sort::Int => text.parse::<IBig>().ok().map(Value::Int),
        // f'1/3, -f'1/3
        Sort::Real => rational(&text.replacen("f'", "", 1)).map(Value::Real),
        Sort::Enum(id) => {
            names.value(text).filter(|(of, _)| *of == id).map(|(id, k)| Value::Enum(id, k))
        }
        Sort::BitVec(width) => {
            // 0ud4_3
            let (bits, number) = text.strip_prefix("0ud")?.split_once('_')?;
            let number: IBig = number.parse().ok().filter(|n| *n >= IBig::ZERO)?;
            let fits = number < IBig::ONE << width.bits() as usize;
            (bits.parse() == Ok(width.bits()) && fits)
                .then(|| Value::BitVec(BitVec::wrap(width, number)))
        }
        _ => None,
    }
}
