//! The command line.

mod bench;
mod check;
mod explain;
mod report;
mod serve;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use gander::certify::Trust;
use gander_export::DefaultRange;

pub use bench::BenchArgs;
pub use check::{Allowed, CheckArgs, TraceArg};
pub use explain::{AlgorithmArg, AllArg, ExplainArgs, GranularityArg, MatrixArg, MutationArg};
pub use report::{CoresArg, ReportArgs};
pub use serve::ServeArgs;
use values::{megabytes, seconds, solver, trust};

const EXAMPLES: &str = "\
Examples:
  gander check --setup bank.sts        fetch missing solvers, then decide every claim
  gander check --property solvent *.sts
  gander check --json bank.sts | jq '.results[] | select(.verdict != \"holds\")'
  gander report bank.sts -o bank.html  a page with verdicts, proofs, runs and coverage
  gander simulate bank.sts             step through the model
  gander graph bank.sts -o bank.svg    draw its control graph

Exit codes of check: 0 every claim holds, 1 some claim fails, 2 wrong input, 3 nothing fails but
something is unknown, 4 internal error (an answer did not pass its check and is not shown),
5 another tool (--with) contradicts a verdict, or two tools each other.";

/// A model checker for symbolic transition systems: prove it, break it, see why.
#[derive(Parser, Debug)]
#[command(name = "gander", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    /// Whether to use colour
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
    /// Let Lustre models include files below this folder, too; may be given several times
    #[arg(long, global = true, value_name = "DIR")]
    pub include_dir: Vec<PathBuf>,
    /// Of Lustre models, analyse only this node; other languages have no root nodes
    #[arg(long, global = true, value_name = "NODE")]
    pub main: Option<String>,
    /// Give a constant a value that the model declares without one; may be given several times
    #[arg(long = "const", global = true, value_name = "NAME=VALUE", value_parser = constant)]
    pub constants: Vec<(String, i64)>,
    #[command(subcommand)]
    pub command: Command,
}

/// `N=3`
fn constant(text: &str) -> Result<(String, i64), String> {
    let wrong = || "expected a name and a whole number, as in `N=3`".to_string();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let value: i64 = value.trim().parse().map_err(|_| wrong())?;
    if name.trim().is_empty() { Err(wrong()) } else { Ok((name.trim().to_string(), value)) }
}

/// When to use colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Decide the claims of models
    Check(Box<CheckArgs>),
    /// Write a page with verdicts, proofs, runs, coverage, findings and the marked source
    Report(Box<ReportArgs>),
    /// Check a saved proof or run against its model
    Certify(CertifyArgs),
    /// Measure engines and other tools side by side on your models
    Bench(Box<BenchArgs>),
    /// Format models
    Fmt(FmtArgs),
    /// Step through a model by hand, by script or at random
    Simulate(SimulateArgs),
    /// Open a page in the browser: an editor with verdicts, runs and a simulator
    Serve(ServeArgs),
    /// Draw the control graph of a model, or the call graph of a Lustre file
    Graph(GraphArgs),
    /// Write a model in the language of another tool
    Export(ExportArgs),
    /// List the engines and what each is for
    Engines(EnginesArgs),
    /// List the solvers found and test them
    Doctor(DoctorArgs),
    /// Fetch the solvers into the cache folder
    Setup(SetupArgs),
    /// Explain why the properties of a model hold, or the code of a message
    Explain(ExplainArgs),
    /// Say which proofs survive an edit of a model, and why
    Impact(ImpactArgs),
    /// Serve an editor over standard input and output (language server protocol)
    Lsp(LspArgs),
    /// Serve agents over the Model Context Protocol, on the standard streams
    Mcp(McpArgs),
}

impl Command {
    /// The limits of a command that has one for all that it does.
    pub fn limits(&self) -> Option<&LimitArgs> {
        match self {
            Command::Certify(args) => Some(&args.limits),
            Command::Fmt(args) => Some(&args.limits),
            Command::Simulate(args) => Some(&args.limits),
            Command::Graph(args) => Some(&args.limits),
            Command::Export(args) => Some(&args.limits),
            Command::Explain(args) => Some(&args.limits),
            Command::Report(args) => Some(&args.limits),
            Command::Impact(args) => Some(&args.limits),
            Command::Check(_)
            | Command::Serve(_)
            | Command::Bench(_)
            | Command::Engines(_)
            | Command::Doctor(_)
            | Command::Lsp(_)
            | Command::Mcp(_)
            | Command::Setup(_) => None,
        }
    }
}

impl Args {
    /// The arguments of `gander check FILE…` without any option, read without the general parser:
    /// for a small model that one would take a tenth of all time.
    pub fn plain_check(mut given: impl Iterator<Item = OsString>) -> Option<Args> {
        given.next()?;
        if given.next()? != "check" {
            return None;
        }
        let is_file = |text: &String| !text.is_empty() && !text.starts_with('-');
        let files: Option<Vec<String>> =
            given.map(|g| g.into_string().ok().filter(is_file)).collect();
        let files = files.filter(|files| !files.is_empty())?;
        let command = Command::Check(Box::new(CheckArgs::plain(files)));
        Some(Args {
            color: Colour::Auto,
            include_dir: Vec::new(),
            main: None,
            constants: Vec::new(),
            command,
        })
    }
}

/// Limits of the whole command. At a limit it ends with exit code 3, and says what is known.
#[derive(ClapArgs, Clone, Debug, Default)]
pub struct LimitArgs {
    /// Give up after this many seconds
    #[arg(long, short, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Memory that gander and its solvers may use together; three fifths of what the machine or its
    /// control group has if not given
    #[arg(long, value_name = "MB", value_parser = megabytes)]
    pub memory: Option<u64>,
}

/// Which solvers to use.
#[derive(ClapArgs, Debug, Default)]
pub struct SolverArgs {
    /// The program of a solver, for example z3=/opt/z3/bin/z3; may be given several times
    #[arg(long, value_name = "NAME=PATH", value_parser = solver)]
    pub solver: Vec<(String, PathBuf)>,
}

#[derive(ClapArgs, Debug)]
pub struct LspArgs {
    /// Keep results in this folder, shared with `gander check --cache DIR`; if not given, they are
    /// kept while the server runs
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Engines that work at the same time; as many as there are processors if not given
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// Memory that gander and its solvers may use together; three fifths of what the machine or its
    /// control group has if not given
    #[arg(long, value_name = "MB", value_parser = megabytes)]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

#[derive(ClapArgs, Debug)]
pub struct EnginesArgs {
    /// Print the portfolio that comes with the program: a file to start from for `check
    /// --portfolio`
    #[arg(long)]
    pub portfolio: bool,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 accepted, 1 rejected, 2 wrong input, 3 not decided.")]
pub struct CertifyArgs {
    /// The model; or a gander-internal-error file, which holds model and evidence
    pub model: String,
    /// The evidence, as `gander check --save-evidence` writes it
    pub evidence: Option<String>,
    /// Ask only this solver
    #[arg(long, value_name = "SOLVER")]
    pub second_opinion: Option<String>,
    /// What acceptance may rest on beside proofs that gander verifies: `one` solver, `two` that
    /// agree, or nothing (`proof`)
    #[arg(long, value_name = "one|two|proof", value_parser = trust, conflicts_with = "second_opinion")]
    pub trust: Option<Trust>,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 all is formatted, 1 with --check: some file is not, 2 wrong input."
)]
pub struct FmtArgs {
    /// Models; `-` formats the standard input to the standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Change nothing; list the files that are not formatted and exit with 1 if there are any
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  gander simulate bank.sts                          step by step, with numbers to choose from
  gander simulate bank.sts --random 20 --seed 3     a random run
  echo 'deposit amount=5' | gander simulate bank.sts
  gander simulate bank.sts --script run.txt         a run that `save run.txt` wrote
  gander simulate bank.sts --replay bank.modest.evidence.json
  gander simulate pump.lus                          asks for inputs, for example level=3 open=true
  gander simulate pump.lus --inputs pump.csv        a row of inputs for each step; prints all streams";

#[derive(ClapArgs, Debug)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub struct SimulateArgs {
    /// The model
    pub file: String,
    /// Take the commands from a file; type `help` in the simulation for a list
    #[arg(long, value_name = "FILE")]
    pub script: Option<String>,
    /// Take this many random steps, print the run and end
    #[arg(long, value_name = "N", conflicts_with = "script")]
    pub random: Option<u64>,
    /// Lustre: take the inputs from a CSV file, whose header names them; a row for each step
    #[arg(long, value_name = "FILE", conflicts_with_all = ["script", "random"])]
    pub inputs: Option<String>,
    /// Begin with the run of an evidence file that `check --save-evidence` wrote; every step is
    /// evaluated again
    #[arg(long, value_name = "EVIDENCE", conflicts_with_all = ["random", "inputs"])]
    pub replay: Option<String>,
    /// Lustre: the node to run, if the file has several that no other calls; the first by default
    #[arg(long, value_name = "NAME")]
    pub root: Option<String>,
    /// Lustre: show the streams of called nodes too
    #[arg(long)]
    pub all: bool,
    /// Seed of random steps
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

#[derive(ClapArgs, Debug)]
pub struct GraphArgs {
    /// The model; `-` is the standard input
    pub file: String,
    /// The format; by default what the name of the output says (.svg, .dot, .gv, .json), else SVG
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
    /// The file to write; the standard output by default
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(ClapArgs, Debug)]
pub struct ExportArgs {
    /// The model; `-` is the standard input
    pub file: String,
    /// The language: sts, script, lustre, smv, horn, vmt, btor2, uppaal, smt2 (an unrolling) or dot
    #[arg(long, value_name = "LANGUAGE")]
    pub to: String,
    /// The number of steps of an unrolling
    #[arg(long, default_value_t = 10, value_name = "STEPS")]
    pub depth: u32,
    /// With `--to horn`: rules and a query for each claim, structural claims included, for z3
    #[arg(long)]
    pub queries: bool,
    /// For smv, btor2 and uppaal: the range of ints without one; steps that would leave it are
    /// disabled. Scripts have -1023..1024 for btor2 and uppaal
    #[arg(long, value_name = "LOW..HIGH", value_parser = values::default_range, allow_hyphen_values = true)]
    pub default_range: Option<DefaultRange>,
    /// The file to write; the standard output by default. Of a script that is two systems, the
    /// second is written beside it
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// How to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum GraphFormat {
    Svg,
    Dot,
    Json,
}

#[derive(ClapArgs, Debug)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub solvers: SolverArgs,
}

#[derive(ClapArgs, Debug)]
pub struct SetupArgs {
    /// Say nothing unless something goes wrong
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 every proof survives, 1 some property has to be decided again, 2 wrong input, 3 the comparison is incomplete, and nothing else has to be decided again."
)]
pub struct ImpactArgs {
    /// The model before the edit
    pub old: String,
    /// The model after it
    pub new: String,
    /// Print JSON (docs/explain.md)
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Keep proofs in this folder, and look there first; what is found is always checked again
    /// (docs/cache.md)
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

/// A server has a time limit for each call.
#[derive(ClapArgs, Debug)]
pub struct McpArgs {
    /// Read models, and save evidence, only below this folder; the current one by default
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// The time limit of a call that gives none
    #[arg(long, short, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    pub timeout: Duration,
    /// The longest time limit that a call may give
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "600")]
    pub longest_timeout: Duration,
    /// Memory that gander and its solvers may use together; three fifths of what the machine or its
    /// control group has if not given
    #[arg(long, value_name = "MB", value_parser = megabytes)]
    pub memory: Option<u64>,
    /// Keep proofs in this folder, and look there first; what is found is always checked again
    /// (docs/cache.md)
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_argument_definitions_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn plain_checks_are_read_as_the_parser_reads_them() {
        let words = |line: &str| line.split('|').map(OsString::from).collect::<Vec<_>>();
        for line in ["gander|check|a.sts", "gander|check|a b.lus|check|c", "x|check|help"] {
            let plain = Args::plain_check(words(line).into_iter()).unwrap();
            let parsed = Args::try_parse_from(words(line)).unwrap();
            assert_eq!(format!("{plain:?}"), format!("{parsed:?}"));
        }
        for line in [
            "gander",
            "gander|check",
            "gander|check|-",
            "gander|check|a|--json",
            "gander|--color|never|check|a",
        ] {
            assert!(Args::plain_check(words(line).into_iter()).is_none(), "{line}");
        }
        assert!(Args::plain_check(words("gander|fmt|a").into_iter()).is_none());
        assert!(Args::plain_check(words("gander|check||").into_iter()).is_none());
    }
}
