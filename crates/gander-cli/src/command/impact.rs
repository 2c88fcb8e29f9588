//! `gander impact`.

use gander::engines::Cancellation;
use gander::report::Completeness;
use gander::{CheckOptions, Fate, Impact, ImpactReport, LoadOptions, impact};

use gander_text::{message, shown};

use super::args::ImpactArgs;
use super::inputs::{read_model, solvers_for};
use crate::process::{Output, UNKNOWN, WRONG, cancel_on_signal};

pub fn run(args: &ImpactArgs, load: LoadOptions, output: &mut Output) -> u8 {
    compared(args, load, output).unwrap_or_else(|code| code)
}

fn compared(args: &ImpactArgs, load: LoadOptions, output: &mut Output) -> Result<u8, u8> {
    let (old, new) = (read_model(&args.old, output)?, read_model(&args.new, output)?);
    let solvers = solvers_for(&args.solvers, output)?;
    let options = CheckOptions {
        load,
        timeout: args.limits.timeout,
        memory: args.limits.memory,
        solvers: Some(solvers),
        cache: args.cache.clone(),
        ..CheckOptions::default()
    };
    let cancel = Cancellation::new();
    cancel_on_signal(&cancel);
    let report = impact((&old, &args.old), (&new, &args.new), &options, &cancel);
    if output.write_errors(&report.diagnostics) {
        return Err(WRONG);
    }
    if args.json {
        output.put_json(&format!("{}\n", report.json()));
    }
    let code = exit_code(&report);
    if let Some(stopped) = report.stopped.as_ref().filter(|_| report.impacts.is_empty()) {
        output.error(stopped);
        return Err(code);
    }
    if args.json {
        return Ok(code);
    }
    let paint = output.paint_out();
    let width =
        report.impacts.iter().map(|i| shown(&i.property).chars().count()).max().unwrap_or(0);
    for i in &report.impacts {
        let word = match i.fate {
            Fate::Survives => paint.good("survives     "),
            Fate::ProvedAgain => paint.good("proved again "),
            Fate::Open => paint.open("to be decided"),
        };
        let name = shown(&i.property);
        let pad = " ".repeat(width - name.chars().count());
        let before = i.before.map_or(String::new(), |b| format!("{b} before; "));
        output.put(&format!("{word}  {}{pad}  {before}{}\n", paint.bold(&name), message(&i.why)));
    }
    let changed =
        if report.changed.is_empty() { "none".to_string() } else { report.changed.join(", ") };
    output.put(&format!("\nelements changed: {changed}\n"));
    if !report.renamed.is_empty() {
        let pairs: Vec<String> = report
            .renamed
            .iter()
            .map(|(old, new)| format!("{} is now {}", shown(old), shown(new)))
            .collect();
        output.put(&format!("renamed: {}\n", pairs.join(", ")));
    }
    let removed = report.removed.iter().map(|r| format!("{} ({} before)", r.property, r.before));
    let properties = [
        ("edited", report.edited.clone()),
        ("added", report.added.clone()),
        ("removed", removed.collect()),
    ];
    for (word, names) in properties.into_iter().filter(|(_, names)| !names.is_empty()) {
        let names: Vec<String> = names.iter().map(|n| shown(n).into_owned()).collect();
        output.put(&format!("properties {word}: {}\n", names.join(", ")));
    }
    if let Some(stopped) = &report.stopped {
        output.put(&format!("{}\n", paint.open(&message(stopped))));
    }
    Ok(code)
}

/// 1 if some property has to be decided again however long the comparison takes, 3 if the
/// comparison was stopped.
fn exit_code(report: &ImpactReport) -> u8 {
    let is_lost = |i: &Impact| i.fate == Fate::Open && i.completeness != Completeness::Unfinished;
    if report.impacts.iter().any(is_lost) {
        1
    } else if report.completeness() != Completeness::Exact {
        UNKNOWN
    } else {
        0
    }
}
