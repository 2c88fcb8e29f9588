//! `gander bench`: engines and other tools side by side on the user's own models.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use gander::engines::{Cancellation, engines};
use gander::process::guard::Guarded;
use gander_bench::comparison::formats::{csv, svg, table};
use gander_bench::comparison::{Comparison, ComparisonResult, Contender, run as run_comparison};
use gander_bench::jobs::schedule::Progress;
use gander_bench::results::record::{Ending, JobRecord};
use gander_io::write::{Target, replace, temporary_folder};

use super::args::BenchArgs;
use super::inputs::{find_solvers, find_tools};
use crate::process::{ENDED_BY_SIGNAL, Output, WRONG, cancel_on_signal};

pub fn run(args: &BenchArgs, output: &mut Output) -> u8 {
    match measure(args, output) {
        Ok(code) => code,
        Err(message) => {
            output.error(&message);
            WRONG
        }
    }
}

fn measure(args: &BenchArgs, output: &mut Output) -> Result<u8, String> {
    let contenders = contenders(args, output)?;
    let program =
        std::env::current_exe().map_err(|e| format!("this program cannot be found: {e}"))?;
    let temporary = match &args.out {
        Some(_) => None,
        None => Some(
            temporary_folder("gander-bench-")
                .map_err(|e| format!("a temporary folder cannot be made: {e}"))?,
        ),
    };
    let folder = match (&args.out, &temporary) {
        (Some(folder), _) => folder.clone(),
        (None, temporary) => temporary.as_ref().map(|t| t.path().to_path_buf()).unwrap_or_default(),
    };
    let guarded = args.out.is_none().then(|| Guarded::folder(&folder));
    let comparison = Comparison {
        files: args.files.iter().map(PathBuf::from).collect(),
        contenders,
        version: version(&program),
        program,
        time: args.timeout,
        memory_mb: args.memory,
        rounds: args.repeat,
        workers: args.jobs,
        folder,
    };
    let cancellation = Cancellation::new();
    cancel_on_signal(&cancellation);
    let result = run_comparison(&comparison, &cancellation, &show_progress);
    drop(temporary);
    drop(guarded);
    let result = result?;
    report(args, &result, output)?;
    let crashed = result.cells.iter().flatten().flatten().any(|c| c.ending == Ending::Crashed);
    Ok(if cancellation.is_cancelled() {
        output.write_err("interrupted: this is what was measured so far");
        ENDED_BY_SIGNAL
    } else {
        u8::from(crashed || !result.disagreements().is_empty())
    })
}

/// The version of the program with its size and age, which tell builds of the same version apart.
fn version(program: &std::path::Path) -> String {
    let data = program.metadata().ok();
    let size = data.as_ref().map_or(0, std::fs::Metadata::len);
    let age = data.and_then(|d| d.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok());
    format!("{} {size} {}", env!("CARGO_PKG_VERSION"), age.map_or(0, |a| a.as_secs()))
}

/// The portfolio, then engines, then tools, in the order of the command line.
fn contenders(args: &BenchArgs, output: &mut Output) -> Result<Vec<Contender>, String> {
    let words = |words: &[&str]| words.iter().map(|w| w.to_string()).collect::<Vec<String>>();
    let mut all = vec![Contender { label: "gander".to_string(), arguments: Vec::new() }];
    for name in &args.engine {
        if !engines().iter().any(|e| e.name == name) {
            let known: Vec<&str> = engines().iter().map(|e| e.name).collect();
            return Err(format!("there is no engine `{name}`; engines are {}", known.join(", ")));
        }
        all.push(Contender { label: name.clone(), arguments: words(&["--engine", name]) });
    }
    let solvers = find_solvers(&args.solvers)?;
    for entrant in find_tools(&args.with, &args.tool, &solvers, output)? {
        let name = entrant.tool.name();
        let program = format!("{name}={}", entrant.program.display());
        let arguments = words(&["--engine", "none", "--with", name, "--tool", &program]);
        // An engine and a tool may have the same name.
        let taken = all.iter().any(|c| c.label == name);
        all.push(Contender {
            label: if taken { format!("{name} (tool)") } else { name.to_string() },
            arguments,
        });
    }
    for (name, program) in &args.solvers.solver {
        for contender in &mut all {
            contender
                .arguments
                .extend(["--solver".to_string(), format!("{name}={}", program.display())]);
        }
    }
    Ok(all)
}

/// Prints progress if standard error is a terminal; errors are ignored.
fn show_progress(progress: Progress, record: &JobRecord) {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let (done, total) = (progress.done, progress.total);
        let file = record.key.file.rsplit('/').next().unwrap_or_default();
        let file = gander_text::shown(file);
        let _ =
            writeln!(err, "[{done}/{total}] {file}, {}: {:.2} s", record.key.tool, record.seconds);
    }
}

fn report(args: &BenchArgs, result: &ComparisonResult, output: &mut Output) -> Result<(), String> {
    output.put(&table(result));
    output.flush();
    let mut files: Vec<(PathBuf, String, Target)> = Vec::new();
    files.extend(
        args.csv
            .clone()
            .map(|path| csv(result).map(|text| (path, text, Target::Named)))
            .transpose()?,
    );
    files.extend(args.svg.clone().map(|path| (path, svg(result), Target::Named)));
    if let Some(folder) = &args.out {
        files.push((folder.join("table.txt"), table(result), Target::Managed));
        files.push((folder.join("results.csv"), csv(result)?, Target::Managed));
        files.push((folder.join("plot.svg"), svg(result), Target::Managed));
    }
    for (path, text, target) in files {
        replace(&path, text.as_bytes(), target).map_err(|e| e.to_string())?;
    }
    Ok(())
}
