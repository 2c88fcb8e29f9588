//! `gander impact`.

use gander::engines::Cancellation;
use gander::report::Severity;
use gander::{CheckOptions, Fate, impact};

use gander_text::{message, shown};

use super::args::ImpactArgs;
use super::output::Output;
use super::reading::{read_model, solvers_for};
use super::watchdog::UNKNOWN;
use super::{WRONG, interrupt};

pub fn run(args: &ImpactArgs, output: &mut Output) -> u8 {
    compared(args, output).unwrap_or_else(|code| code)
}

fn compared(args: &ImpactArgs, output: &mut Output) -> Result<u8, u8> {
    let (old, new) = (read_model(&args.old, output)?, read_model(&args.new, output)?);
    let solvers = solvers_for(&args.solvers, output)?;
    let options = CheckOptions {
        timeout: args.limits.timeout,
        memory: args.limits.memory,
        solvers: Some(solvers),
        cache: args.cache.clone(),
        paint: output.paint_err(),
        ..CheckOptions::default()
    };
    let cancel = Cancellation::new();
    interrupt::cancel_on_signal(&cancel);
    let report = impact((&old, &args.old), (&new, &args.new), &options, &cancel);
    for d in report.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        output.complain(&d.rendered);
    }
    if report.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Err(WRONG);
    }
    if let Some(stopped) = &report.stopped {
        output.error(stopped);
        return Err(UNKNOWN);
    }
    let paint = output.paint_out();
    let width = report.impacts.iter().map(|i| shown(&i.property).chars().count()).max().unwrap_or(0);
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
    let changed = if report.changed.is_empty() { "none".to_string() } else { report.changed.join(", ") };
    output.put(&format!("\nelements changed: {changed}\n"));
    Ok(u8::from(report.impacts.iter().any(|i| i.fate == Fate::Open)))
}
