//! `gander report`.

use gander::report::{CoresShown, PageView, Severity, counts_line, report_html};
use gander::{CheckOptions, LoadOptions, PageOptions, report_source};
use gander_io::write::{Target, replace};
use gander_runtime::Cancellation;
use gander_text::shown_path;

use super::args::{CoresArg, ReportArgs};
use super::inputs::{read_model, solvers_for};
use crate::process::{Output, Progress, UNKNOWN, WRONG};

pub fn run(args: &ReportArgs, load: LoadOptions, output: &mut Output) -> u8 {
    report(args, load, output).unwrap_or_else(|code| code)
}

fn report(args: &ReportArgs, load: LoadOptions, output: &mut Output) -> Result<u8, u8> {
    let source = read_model(&args.file, output)?;
    let solvers = solvers_for(&args.solvers, output)?;
    solvers.prepare();
    let options = PageOptions {
        check: CheckOptions {
            load,
            properties: args.property.clone(),
            timeout: args.limits.timeout,
            memory: args.limits.memory,
            solvers: Some(solvers),
            cache: args.cache.clone(),
            jobs: args.jobs,
            ..CheckOptions::default()
        },
        cores: match args.cores {
            Some(CoresArg::None) => CoresShown::None,
            Some(CoresArg::One) | None => CoresShown::One,
            Some(CoresArg::All) => CoresShown::All,
        },
        ..PageOptions::default()
    };
    let cancel = Cancellation::new();
    let progress = Progress::start(&args.file, &cancel);
    let view = report_source(&source, &args.file, &options, &cancel, &progress);
    progress.finish();
    let errors = view.check.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    output.write_diagnostics(errors);
    view.check.internal_errors.iter().for_each(|e| output.error(e));
    write(&view, args, output)?;
    Ok(match view.check.exit_code() {
        0 if args.cores.is_some() && view.cores_missing() => UNKNOWN,
        code => code,
    })
}

/// Writes the page, and says in a line what it is about.
fn write(view: &PageView, args: &ReportArgs, output: &mut Output) -> Result<(), u8> {
    let html = report_html(view);
    let Some(path) = &args.output else {
        output.put_document(&html);
        return Ok(());
    };
    if let Err(error) = replace(path, html.as_bytes(), Target::Named) {
        output.error(&error.to_string());
        return Err(WRONG);
    }
    let counts = match view.check.has_errors() {
        true => "the model has errors".to_string(),
        false => counts_line([&view.check]),
    };
    output.put(&format!("{}: {counts}\n", shown_path(path)));
    let notes = view.check.stopped.as_deref().into_iter().chain(view.check.nothing_claimed_text());
    for note in notes {
        let text = output.paint_out().open(note);
        output.put(&format!("{text}\n"));
    }
    Ok(())
}
