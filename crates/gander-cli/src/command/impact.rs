//! `gander impact`.

use gander::engines::Cancellation;
use gander::{CheckOptions, Fate, LoadOptions, impact};

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
    if let Some(stopped) = &report.stopped {
        output.error(stopped);
        return Err(UNKNOWN);
    }
    let code = u8::from(report.impacts.iter().any(|i| i.fate == Fate::Open));
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
    Ok(code)
}
