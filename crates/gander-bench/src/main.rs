//! The `gander-bench` command: runs, reports, compares. See docs/bench.md.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand};
use gander_bench::jobs::schedule::{Limits, Plan, Progress, jobs, run_all};
use gander_bench::jobs::tool::{Catalogue, Tool};
use gander_bench::manifest::{Sample, Selection, Suite};
use gander_bench::report;
use gander_bench::results::folder::{Folder, Request};
use gander_bench::results::record::{Ending, JobRecord, Results};
use gander_bench::results::recorded;
use gander_bench::score::Scoreboard;
use gander_bench::score::compare::{Pair, compare, pairs};
use gander_io::read::{self, Links};
use gander_process::guard;
use gander_runtime::Cancellation;
use regex::Regex;

/// Runs model checkers over a manifest of models with known verdicts, scores and compares them.
#[derive(Parser, Debug)]
#[command(name = "gander-bench", version, max_term_width = 100)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run tools over a manifest, then report; a second run goes on where the first one stopped
    Run(Box<RunArgs>),
    /// Write the report of a folder of results
    Report {
        /// The folder
        dir: PathBuf,
    },
    /// Say what changed from one folder of results to another
    Compare {
        /// The earlier folder
        before: PathBuf,
        /// The later folder
        after: PathBuf,
        /// Compare these tools: the label in the first folder, and the one in the second
        #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"])]
        tools: Vec<String>,
    },
    /// List the known tools and whether they are there
    Tools(ToolArgs),
}

#[derive(ClapArgs, Debug)]
struct ToolArgs {
    /// A TOML file with further tools; may be given several times
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// A variant of a tool, for example `deep=gander --engine bmc --max-depth 500`; may be given
    /// several times
    #[arg(long, value_name = "LABEL=TOOL ARG…")]
    variant: Vec<String>,
    /// The program of a tool, for example `gander=target/release/gander`; may be given several
    /// times
    #[arg(long, value_name = "TOOL=PATH")]
    program: Vec<String>,
}

#[derive(ClapArgs, Debug)]
struct RunArgs {
    /// The manifest, a TSV file
    manifest: PathBuf,
    /// The tools to run, by label, with commas between; the first one is the one reports are about
    #[arg(long, value_delimiter = ',', default_value = "gander", value_name = "LABELS")]
    tools: Vec<String>,
    #[command(flatten)]
    catalogue: ToolArgs,
    /// The folder for results and report
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The folder that paths are relative to, if not that of the manifest
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Seconds that a job may take
    #[arg(long, default_value_t = 20.0, value_name = "SECONDS", value_parser = positive)]
    timeout: f64,
    /// Resident memory that a job may use, all of its processes together
    #[arg(long, default_value_t = 2048, value_name = "MB")]
    memory: u64,
    /// Jobs at the same time
    #[arg(long, short, default_value_t = 1, value_name = "N", value_parser = at_least_one)]
    jobs: u32,
    /// Run every job so often; the median counts
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = at_least_one)]
    repeat: u32,
    /// Only files whose path matches
    #[arg(long, value_name = "REGEX")]
    filter: Option<Regex>,
    /// Only files of this set or below this folder; may be given several times
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Only files of this language; may be given several times
    #[arg(long, value_name = "NAME")]
    language: Vec<String>,
    /// Only so many files, chosen at random
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Which random choice
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// A CSV file with recorded answers of peers; may be given several times
    #[arg(long, value_name = "FILE")]
    recorded: Vec<PathBuf>,
    /// The time limit of the recorded answers
    #[arg(long, default_value_t = 20.0, value_name = "SECONDS", value_parser = positive)]
    recorded_limit: f64,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1e6 => Ok(x),
        _ => Err("a number of seconds above zero is needed".into()),
    }
}

fn at_least_one(text: &str) -> Result<u32, String> {
    text.parse::<u32>()
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| "a whole number above zero is needed".into())
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == guard::GUARD) {
        guard::serve(std::io::stdin());
        return ExitCode::SUCCESS;
    }
    guard::enable();
    let outcome = match Args::parse().command {
        Command::Run(args) => run(&args),
        Command::Report { dir } => write_report(&Folder::new(&dir)),
        Command::Compare { before, after, tools } => compare_folders(&before, &after, &tools),
        Command::Tools(args) => list_tools(&args),
    };
    guard::dismiss();
    match outcome {
        Ok(code) => code,
        Err(message) => {
            say(&format!("gander-bench: {message}"));
            ExitCode::from(2)
        }
    }
}

/// Prints progress and errors to standard error; failures are ignored.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn print(text: &str) -> Result<(), String> {
    let text = gander_text::visible_lines(text) + "\n";
    std::io::stdout().write_all(text.as_bytes()).map_err(|e| e.to_string())
}

fn catalogue(args: &ToolArgs) -> Result<Catalogue, String> {
    let mut catalogue = Catalogue::default();
    for path in &args.config {
        let problem = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let text = read::text(path, Links::Follow, u64::MAX - 1).map_err(|e| problem(&e))?;
        catalogue.add_file(&text).map_err(|e| problem(&e))?;
    }
    for variant in &args.variant {
        catalogue.add_variant(variant)?;
    }
    for program in &args.program {
        catalogue.set_program(program)?;
    }
    Ok(catalogue)
}

fn list_tools(args: &ToolArgs) -> Result<ExitCode, String> {
    let catalogue = catalogue(args)?;
    let mut out = String::new();
    for label in catalogue.labels() {
        out += &match catalogue.resolve(label) {
            Ok(tool) => format!("{label}: {} ({})\n", tool.build, tool.program.display()),
            Err(missing) => format!("{label}: not there: {missing}\n"),
        };
    }
    print(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// The tools that were found, and messages about the others.
fn find_tools(args: &RunArgs) -> Result<(Vec<Tool>, Vec<String>), String> {
    let catalogue = catalogue(&args.catalogue)?;
    let mut labels = args.tools.clone();
    for (label, _) in args.catalogue.variant.iter().filter_map(|v| v.split_once('=')) {
        if !labels.iter().any(|l| l == label.trim()) {
            labels.push(label.trim().to_string());
        }
    }
    let (mut tools, mut missing) = (Vec::new(), Vec::new());
    for label in &labels {
        if !catalogue.labels().contains(&label.as_str()) {
            return Err(format!(
                "no tool is called `{label}`; there are {}",
                catalogue.labels().join(", ")
            ));
        }
        match catalogue.resolve(label) {
            Ok(tool) => tools.push(tool),
            Err(reason) => {
                say(&format!("SKIPPED: {reason}"));
                missing.push(reason);
            }
        }
    }
    if tools.is_empty() {
        return Err("none of the tools is there".into());
    }
    Ok((tools, missing))
}

fn run(args: &RunArgs) -> Result<ExitCode, String> {
    let mut suite = Suite::load(&args.manifest)?;
    let sample = args.sample.map(|size| Sample { size, seed: args.seed });
    suite.select(&Selection {
        filter: args.filter.clone(),
        sets: args.set.clone(),
        languages: args.language.clone(),
        sample,
    });
    if suite.benchmarks.is_empty() {
        return Err("the selection leaves no file".into());
    }
    let (tools, missing) = find_tools(args)?;
    let mut answers = Vec::new();
    for path in &args.recorded {
        answers.extend(recorded::load(path)?);
    }
    let problem = |e: &dyn std::fmt::Display| format!("{}: {e}", args.out.display());
    std::fs::create_dir_all(&args.out).map_err(|e| problem(&e))?;
    let out = std::fs::canonicalize(&args.out).map_err(|e| problem(&e))?;
    let folder = Folder::new(&out);
    let request = Request {
        tools: tools.iter().map(Tool::id).collect(),
        missing,
        time_limit_ms: (args.timeout * 1000.0).round() as u64,
        memory_limit_mb: args.memory,
        rounds: args.repeat,
        workers: args.jobs as usize,
        recorded: answers,
        recorded_limit: args.recorded_limit,
        suite,
    };
    folder.save(&request)?;

    let manifest_folder =
        args.manifest.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let scratch = folder.file("scratch");
    let plan = Plan {
        suite: &request.suite,
        root: args.root.as_deref().unwrap_or(manifest_folder),
        tools: &tools,
        limits: Limits {
            time: Duration::from_millis(request.time_limit_ms),
            grace: Duration::from_secs_f64(1.0 + args.timeout * 0.05),
            memory_mb: args.memory,
        },
        rounds: args.repeat,
        workers: args.jobs as usize,
        scratch: &scratch,
    };
    let jobs = jobs(&plan)?;
    let (mut results, loaded) = Results::open(&folder.results()).map_err(|e| problem(&e))?;
    for line in &loaded.bad_lines {
        say(&format!(
            "gander-bench: line {line} of the results file cannot be read and is ignored"
        ));
    }
    let known = jobs.iter().filter(|j| results.known.contains(&j.key)).count();
    say(&format!("{} jobs, {known} of them done already", jobs.len()));
    let cancellation = Cancellation::new();
    let on_signal = cancellation.clone();
    ctrlc::set_handler(move || on_signal.cancel()).map_err(|e| e.to_string())?;
    run_all(&plan, &jobs, &mut results, &cancellation, &show_progress).map_err(|e| problem(&e))?;
    if cancellation.is_cancelled() {
        say("interrupted; the same command goes on from here");
        return Ok(ExitCode::from(130));
    }
    write_report(&folder)
}

fn show_progress(progress: Progress, record: &JobRecord) {
    let ending = match record.ending {
        Ending::Finished => record.verdict.to_string(),
        Ending::Rejected => {
            let d = record.diagnostic.as_ref();
            format!("rejected: {}", d.map(|d| d.message.as_str()).unwrap_or_default())
        }
        Ending::Timeout => format!("{} (timeout)", record.verdict),
        Ending::Memout => format!("{} (memout)", record.verdict),
        Ending::Crashed => "CRASHED".into(),
    };
    say(&format!(
        "[{}/{}] {} {}: {ending}, {:.2} s, {:.0} MB",
        progress.done,
        progress.total,
        record.key.tool,
        record.key.file,
        record.seconds,
        record.peak_mb
    ));
}

/// Writes the report. The exit code is 1 if an answer is wrong or a tool crashed.
fn write_report(folder: &Folder) -> Result<ExitCode, String> {
    for name in report::write(folder)? {
        say(&format!("wrote {}", folder.file(&name).display()));
    }
    let scoreboard = Scoreboard::new(&folder.load()?);
    let all: Vec<usize> = (0..scoreboard.suite.benchmarks.len()).collect();
    let live = scoreboard.live();
    let mut bad = false;
    for (c, s) in live.iter().zip(scoreboard.summarise_files(&live, &all)) {
        bad |= s.wrong > 0 || s.crashes > 0;
        print(&format!(
            "{}: {} of {} solved, {} wrong, {} crashes, {} unsupported, {} extra, PAR-2 {:.3} s\n",
            scoreboard.contenders[*c].label,
            s.solved,
            s.known,
            s.wrong,
            s.crashes,
            s.unsupported,
            s.extra,
            s.par2
        ))?;
    }
    Ok(if bad { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn compare_folders(before: &Path, after: &Path, tools: &[String]) -> Result<ExitCode, String> {
    let before = Scoreboard::new(&Folder::new(before).load()?);
    let after = Scoreboard::new(&Folder::new(after).load()?);
    let find = |scoreboard: &Scoreboard, label: &str| {
        let place = scoreboard.contenders.iter().position(|c| c.label == label);
        place.ok_or_else(|| format!("no tool is called `{label}` there"))
    };
    let pairs = match tools {
        [old, new] => vec![Pair { before: find(&before, old)?, after: find(&after, new)? }],
        _ => pairs(&before, &after),
    };
    if pairs.is_empty() {
        return Err("the folders have no tool in common; name two with --tools".into());
    }
    let mut bad = false;
    for pair in pairs {
        let change = compare(&before, &after, pair);
        bad |= !change.newly_wrong.is_empty();
        let label = |scoreboard: &Scoreboard, c: usize| scoreboard.contenders[c].label.clone();
        print(&change.markdown(&label(&before, pair.before), &label(&after, pair.after)))?;
    }
    Ok(if bad { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
