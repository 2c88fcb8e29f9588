//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use gander::StructuralChecks;
use gander::certify::Trust;
use gander::engines::{InductionOptions, PathOrder};
use gander::lang::{Code, Severity};

const EXAMPLES: &str = "\
Examples:
  gander check --setup bank.sts        fetch missing solvers, then decide every claim
  gander check --property solvent *.sts
  gander check --json bank.sts | jq '.results[] | select(.verdict != \"holds\")'
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
    #[command(subcommand)]
    pub command: Command,
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
    /// Check a saved proof or run against its model
    Certify(CertifyArgs),
    /// Measure engines and other tools side by side on your models
    Bench(Box<BenchArgs>),
    /// Format models
    Fmt(FmtArgs),
    /// Step through a model by hand, by script or at random
    Simulate(SimulateArgs),
    /// Draw the control graph of a model
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
}

const CHECK_EXAMPLES: &str = "\
Examples:
  gander check bank.sts
  gander check --property solvent --property rich --timeout 10 bank.sts
  gander check --checks none --engine bmc bank.sts
  gander check --second-opinion z3 --save-evidence proofs bank.sts
  gander check --all --save-traces runs pump.lus
  gander check --with nusmv,z3 --timeout 60 pump.script
  gander check - < bank.sts";

#[derive(ClapArgs, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Models; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Print JSON (docs/json.md), one object a file
    #[arg(long)]
    pub json: bool,
    /// Decide only the claim with this name; may be given several times
    #[arg(long, short, value_name = "NAME")]
    pub property: Vec<String>,
    /// Use only this engine; may be given several times; with --with also `none`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub engine: Vec<String>,
    /// Let other tools take part, with commas between (`gander doctor` lists them), or all that are found; what they
    /// say counts if its evidence passes our check (docs/racing.md)
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', conflicts_with = "modular")]
    pub with: Vec<String>,
    /// The program of a tool, for example nusmv=/opt/NuSMV/bin/NuSMV; may be given several times
    #[arg(long, value_name = "NAME=PATH", value_parser = tool)]
    pub tool: Vec<(String, PathBuf)>,
    /// Which engines to use on which models (docs/portfolio.md); `gander engines --portfolio` prints the default
    #[arg(long, value_name = "FILE", conflicts_with = "engine")]
    pub portfolio: Option<PathBuf>,
    /// Say afterwards which engines ran, why, for how long, and what each contributed
    #[arg(long)]
    pub explain_schedule: bool,
    /// Give up on a file after so many seconds
    #[arg(long, short, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Engines that work at the same time
    #[arg(long, short, value_name = "N", value_parser = at_least_one)]
    pub jobs: Option<usize>,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Memory that gander and its solvers may use together; three fifths of what the machine or its control group has if not given
    #[arg(long, value_name = "MB", value_parser = megabytes)]
    pub memory: Option<u64>,
    /// Print only what does not hold
    #[arg(long, short)]
    pub quiet: bool,
    /// Keep every conversation with a solver as an .smt2 file in this folder, named by engine and claim (`all` if it
    /// serves several), for example bmc-solvent-runs-0.smt2; proof obligations all go to solvers then
    #[arg(long, value_name = "DIR")]
    pub log_smt: Option<PathBuf>,
    /// A solver that must agree with each verdict
    #[arg(long, value_name = "SOLVER")]
    pub second_opinion: Option<String>,
    /// What a verdict may rest on beside proofs that gander verifies: `one` solver, `two` solvers that agree, or nothing
    /// (`proof`). Otherwise it is unknown. Without this option two solvers are asked where two can be, and the report names the
    /// verdicts that rest on one
    #[arg(long, value_name = "one|two|proof", value_parser = trust)]
    pub trust: Option<Trust>,
    /// Fetch missing solvers first
    #[arg(long)]
    pub setup: bool,
    /// Keep the evidence for every verdict as a file in this folder
    #[arg(long, value_name = "DIR")]
    pub save_evidence: Option<PathBuf>,
    /// Keep every run of a Lustre model in this folder, as MODEL.CLAIM.csv (a row for each step; `gander simulate
    /// --inputs` reads it back) and MODEL.CLAIM.vcd (for waveform viewers)
    #[arg(long, value_name = "DIR")]
    pub save_traces: Option<PathBuf>,
    /// Keep proofs and runs in this folder, and look there first; what is found is always checked again (docs/cache.md)
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Show every stream in the runs of a Lustre model, not only what matters for the property, and every warning, not
    /// only the first two of a kind
    #[arg(long)]
    pub all: bool,
    /// Structural checks: all, none, or some of dead, sinkhole, start, relation with commas between
    #[arg(long, default_value = "all", value_name = "KINDS", value_parser = checks)]
    pub checks: StructuralChecks,
    /// Warnings to leave out: codes with commas between, or all, which also saves the time to look for them
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = allowed)]
    pub allow: Vec<Allowed>,
    /// With `warnings`: a warning makes the exit code 1, if it would be 0 or 3
    #[arg(long, value_enum, value_name = "WHAT")]
    pub deny: Option<Deny>,
    /// Bounded model checking and induction go no deeper than this
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u32>,
    /// What induction may assume and try, with commas between: loop-free, compress, abstract, no-restart, forward, from=K; or none
    #[arg(long, value_name = "OPTIONS", value_parser = induction)]
    pub induction: Option<InductionOptions>,
    /// Which path the engine `paths` follows next: a shortest one, or the newest one
    #[arg(long, value_enum, default_value_t = PathOrderArg::BreadthFirst, value_name = "ORDER")]
    pub paths: PathOrderArg,
    /// Lustre: look at nodes with contracts alone, and let their contracts stand for them where that is enough
    #[arg(long, alias = "compositional")]
    pub modular: bool,
    #[command(flatten)]
    pub solvers: SolverArgs,
    /// How much of runs to show
    #[arg(long, value_enum, default_value_t = TraceArg::Changes, value_name = "HOW")]
    pub trace: TraceArg,
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
            Command::Impact(args) => Some(&args.limits),
            Command::Check(_) | Command::Bench(_) | Command::Engines(_) | Command::Doctor(_) | Command::Setup(_) => {
                None
            }
        }
    }
}

impl Args {
    /// The arguments of `gander check FILE…` without any option, read without the general parser: for a small model
    /// that one would take a tenth of all time.
    pub fn plain_check(mut given: impl Iterator<Item = OsString>) -> Option<Args> {
        given.next()?;
        if given.next()? != "check" {
            return None;
        }
        let is_file = |text: &String| !text.is_empty() && !text.starts_with('-');
        let files: Option<Vec<String>> = given.map(|g| g.into_string().ok().filter(is_file)).collect();
        let files = files.filter(|files| !files.is_empty())?;
        let command = Command::Check(Box::new(CheckArgs::plain(files)));
        Some(Args { color: Colour::Auto, include_dir: Vec::new(), command })
    }
}

impl CheckArgs {
    /// Every option as it is when it is not given.
    fn plain(files: Vec<String>) -> CheckArgs {
        CheckArgs {
            files,
            json: false,
            property: Vec::new(),
            engine: Vec::new(),
            with: Vec::new(),
            tool: Vec::new(),
            portfolio: None,
            explain_schedule: false,
            timeout: None,
            jobs: None,
            seed: 0,
            memory: None,
            quiet: false,
            log_smt: None,
            second_opinion: None,
            trust: None,
            setup: false,
            save_evidence: None,
            save_traces: None,
            cache: None,
            all: false,
            checks: StructuralChecks::All,
            allow: Vec::new(),
            deny: None,
            max_depth: None,
            induction: None,
            paths: PathOrderArg::BreadthFirst,
            modular: false,
            solvers: SolverArgs::default(),
            trace: TraceArg::Changes,
        }
    }
}

/// A warning to leave out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allowed {
    All,
    One(Code),
}

fn allowed(text: &str) -> Result<Allowed, String> {
    if text == "all" || text == "warnings" {
        return Ok(Allowed::All);
    }
    match Code::find(&text.to_ascii_uppercase()) {
        Some(code) if code.severity() == Severity::Warning => Ok(Allowed::One(code)),
        Some(_) => Err("an error cannot be allowed".to_string()),
        None => Err("neither all nor the code of a warning (`gander explain` lists them)".to_string()),
    }
}

/// What makes the exit code tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Deny {
    Warnings,
}

/// How much of a run to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TraceArg {
    Changes,
    Full,
}

/// Which path is followed next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PathOrderArg {
    BreadthFirst,
    DepthFirst,
}

impl From<PathOrderArg> for PathOrder {
    fn from(order: PathOrderArg) -> PathOrder {
        match order {
            PathOrderArg::BreadthFirst => PathOrder::BreadthFirst,
            PathOrderArg::DepthFirst => PathOrder::DepthFirst,
        }
    }
}

/// Limits of the whole command. At a limit it ends with exit code 3, and says what is known.
#[derive(ClapArgs, Clone, Debug, Default)]
pub struct LimitArgs {
    /// Give up after so many seconds
    #[arg(long, short, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Memory that gander and its solvers may use together; three fifths of what the machine or its control group has if not given
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
pub struct EnginesArgs {
    /// Print the portfolio that comes with the program: a file to start from for `check --portfolio`
    #[arg(long)]
    pub portfolio: bool,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  gander bench --with all models/*.script
  gander bench --engine bmc,pdr --with nusmv,z3 --timeout 60 --repeat 3 --svg plot.svg --csv all.csv *.sts

Exit codes: 0, 1 if contenders contradict each other or one crashed, 2 wrong input, 130 interrupted.";

#[derive(ClapArgs, Debug)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArgs {
    /// Models
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Engines that take part alone, beside the portfolio, with commas between
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub engine: Vec<String>,
    /// Other tools that take part, with commas between, or all that are found (docs/racing.md)
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    pub with: Vec<String>,
    /// The program of a tool, for example nusmv=/opt/NuSMV/bin/NuSMV; may be given several times
    #[arg(long, value_name = "NAME=PATH", value_parser = tool)]
    pub tool: Vec<(String, PathBuf)>,
    /// Seconds that a contender may take for a file
    #[arg(long, short, default_value = "20", value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Duration,
    /// Resident memory that a contender may use, all of its processes together
    #[arg(long, default_value_t = 2048, value_name = "MB")]
    pub memory: u64,
    /// Measure everything so often; the median counts
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Jobs at the same time; with more than one, times say little
    #[arg(long, short, default_value = "1", value_name = "N", value_parser = at_least_one)]
    pub jobs: usize,
    /// Write a line for each claim and contender to this file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the times into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Keep all results in this folder (table.txt, results.csv, plot.svg, results.jsonl); the same command goes on where it
    /// was stopped
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub solvers: SolverArgs,
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
    /// What acceptance may rest on beside proofs that gander verifies: `one` solver, `two` that agree, or nothing (`proof`)
    #[arg(long, value_name = "one|two|proof", value_parser = trust, conflicts_with = "second_opinion")]
    pub trust: Option<Trust>,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 all is formatted, 1 with --check: some file is not, 2 wrong input.")]
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
    /// Take so many random steps, print the run and end
    #[arg(long, value_name = "N", conflicts_with = "script")]
    pub random: Option<u64>,
    /// Lustre: take the inputs from a CSV file, whose header names them; a row for each step
    #[arg(long, value_name = "FILE", conflicts_with_all = ["script", "random"])]
    pub inputs: Option<String>,
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
    /// The format; by default what the name of the output says, else SVG
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
    /// The language: sts, script, smv, horn, vmt, smt2 (an unrolling) or dot
    #[arg(long, value_name = "LANGUAGE")]
    pub to: String,
    /// The number of steps of an unrolling
    #[arg(long, default_value_t = 10, value_name = "STEPS")]
    pub depth: u32,
    /// The file to write; the standard output by default
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

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  gander explain E0202                     what a message means
  gander explain pump.lus                  one core for each property that holds, the run for each that fails
  gander explain --contrast --html pump.html pump.lus
  gander explain --all --json pump.lus     all minimal cores
  gander explain --matrix html -o pump.html pump.lus
  gander explain --coverage pump.lus       what no requirement covers

Exit codes: 0 every property is explained, 1 some property fails, 2 wrong input, 3 something is unknown or has no
core, 4 internal error.";

#[derive(ClapArgs, Debug)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct ExplainArgs {
    /// A model: why its properties hold. Or a code of a message, for example E0202; a list of all codes if it is left out
    #[arg(value_name = "FILE or CODE")]
    pub target: Option<String>,
    /// Explain only the property with this name; may be given several times
    #[arg(long, short, value_name = "NAME")]
    pub property: Vec<String>,
    /// A core from which nothing can be left out
    #[arg(long, conflicts_with_all = ["all", "smallest", "bounded"])]
    pub minimal: bool,
    /// A core with as few elements as any
    #[arg(long, conflicts_with_all = ["all", "bounded"])]
    pub smallest: bool,
    /// All minimal cores, each printed when it is found; `offline`: at the end, often faster
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "online", value_name = "HOW")]
    pub all: Option<AllArg>,
    /// Also the elements that are in every core
    #[arg(long)]
    pub must: bool,
    /// Also the minimal cut sets: what must break for the property to fail
    #[arg(long)]
    pub cut_sets: bool,
    /// Cores for runs of at most so many steps; nothing needs to be proved
    #[arg(long, value_name = "K", conflicts_with = "all")]
    pub bounded: Option<u32>,
    /// Also look whether properties say less than they seem to: no run, or a left side that never holds
    #[arg(long, conflicts_with = "json")]
    pub vacuity: bool,
    /// Print JSON (docs/explain.md)
    #[arg(long)]
    pub json: bool,
    /// The traceability matrix, elements by properties
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub matrix: Option<MatrixArg>,
    /// Coverage scores, and the elements that no property touches
    #[arg(long, conflicts_with_all = ["json", "matrix"])]
    pub coverage: bool,
    /// Where to write to, in place of the standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// For a property that a run decides, also the nearest run that ends otherwise
    #[arg(long)]
    pub contrast: bool,
    /// Write the runs that decide properties as a page with a timeline and the source
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Keep the runs that decide properties in this folder, as MODEL.CLAIM.csv (a row for each step) and MODEL.CLAIM.vcd (for
    /// waveform viewers)
    #[arg(long, value_name = "DIR")]
    pub save_traces: Option<PathBuf>,
    /// How much of runs to show; `full` shows every step and every stream
    #[arg(long, value_enum, default_value_t = TraceArg::Changes, value_name = "HOW")]
    pub trace: TraceArg,
    /// Lustre: every instance of a node has its own elements
    #[arg(long)]
    pub instances: bool,
    /// How finely the model is divided: whole equations and conditions, or also their conjuncts, or these and the branches of conditional
    /// expressions and the two sides of an arrow
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub granularity: GranularityArg,
    /// Small mistakes are made in the model: which of them do the properties notice?
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "text",
          conflicts_with_all = ["json", "matrix", "coverage", "bounded"])]
    pub mutation: Option<MutationArg>,
    /// What engines have for one mistake
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "mutation")]
    pub mutant_time: Option<Duration>,
    /// Continue from what an earlier run said with --json: its cores are tried first, and always checked again
    #[arg(long, value_name = "FILE", conflicts_with = "bounded")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Keep proofs in this folder, and look there first; what is found is always checked again (docs/cache.md)
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// How long engines try to decide one set of elements
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub share: Option<Duration>,
    /// Threads that work at the same time; as many as there are processors if not given
    #[arg(long, short, value_name = "N", value_parser = at_least_one)]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

/// How finely a model is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GranularityArg {
    /// Equations, conjuncts of guards and starts, assignments
    #[default]
    Equations,
    /// Also conjuncts within equations and assignments
    Conjuncts,
    /// Also branches
    Branches,
}

/// How mutants are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MutationArg {
    Text,
    Json,
    Csv,
    Html,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 every proof survives, 1 some property has to be decided again, 2 wrong input.")]
pub struct ImpactArgs {
    /// The model before the edit
    pub old: String,
    /// The model after it
    pub new: String,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Keep proofs in this folder, and look there first; what is found is always checked again (docs/cache.md)
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

/// How all minimal cores are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AllArg {
    Online,
    Offline,
}

/// The form of the traceability matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum MatrixArg {
    Text,
    Csv,
    Html,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "a number of seconds was expected".to_string())?;
    match Duration::try_from_secs_f64(number) {
        Ok(d) if !d.is_zero() => Ok(d),
        _ => Err("a number of seconds above zero was expected".to_string()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number of at least 1 was expected".to_string()),
        Ok(n) => Ok(n),
    }
}

fn trust(text: &str) -> Result<Trust, String> {
    text.parse()
}

fn megabytes(text: &str) -> Result<u64, String> {
    match text.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << 20)) {
        Some(n) if n > 0 => Ok(n),
        _ => Err("a number of megabytes above zero was expected".to_string()),
    }
}

fn checks(text: &str) -> Result<StructuralChecks, String> {
    match text {
        "all" => return Ok(StructuralChecks::All),
        "none" => return Ok(StructuralChecks::None),
        _ => {}
    }
    let named = |word: &str| {
        match word {
            "dead" => "can-enable",
            "sinkhole" => "no-sinkhole",
            "start" => "start-satisfiable",
            "relation" => "completable",
            other => other,
        }
        .to_string()
    };
    let kinds: Vec<String> = text.split(',').map(|k| named(k.trim())).collect();
    match kinds.iter().find(|k| !StructuralChecks::KINDS.contains(&k.as_str())) {
        Some(k) => Err(format!(
            "`{k}` is none of all, none, dead, sinkhole, start, relation (or {})",
            StructuralChecks::KINDS.join(", ")
        )),
        None => Ok(StructuralChecks::Kinds(kinds)),
    }
}

/// The four algorithms of k-induction: without options the first, with all of them the last, which is the default.
fn induction(text: &str) -> Result<InductionOptions, String> {
    let mut options = InductionOptions {
        loop_free: false,
        compress: false,
        abstraction: false,
        no_restart: false,
        forward: false,
        ..InductionOptions::default()
    };
    if text == "none" {
        return Ok(options);
    }
    for word in text.split(',').map(str::trim) {
        match (word, word.strip_prefix("from=").map(str::parse::<u32>)) {
            ("loop-free", _) => options.loop_free = true,
            ("compress", _) => (options.loop_free, options.compress) = (true, true),
            ("abstract", _) => options.abstraction = true,
            ("no-restart", _) => options.no_restart = true,
            ("forward", _) => options.forward = true,
            (_, Some(Ok(k))) if k > 0 => options.first_k = k,
            _ => {
                return Err(format!(
                    "`{word}` is none of loop-free, compress, abstract, no-restart, forward, from=K, none"
                ));
            }
        }
    }
    Ok(options)
}

fn solver(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_string(), PathBuf::from(path))),
        _ => Err("NAME=PATH was expected, for example z3=/opt/z3/bin/z3".to_string()),
    }
}

fn tool(text: &str) -> Result<(String, PathBuf), String> {
    solver(text).map_err(|_| "NAME=PATH was expected, for example nusmv=/opt/NuSMV/bin/NuSMV".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
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
        for line in
            ["gander", "gander|check", "gander|check|-", "gander|check|a|--json", "gander|--color|never|check|a"]
        {
            assert!(Args::plain_check(words(line).into_iter()).is_none(), "{line}");
        }
        assert!(Args::plain_check(words("gander|fmt|a").into_iter()).is_none());
        assert!(Args::plain_check(words("gander|check||").into_iter()).is_none());
    }

    #[test]
    fn values_are_checked() {
        assert!(
            seconds("0").is_err() && seconds("-1").is_err() && seconds("nan").is_err() && seconds("1e300").is_err()
        );
        assert_eq!(seconds("0.5").unwrap(), Duration::from_millis(500));
        assert!(at_least_one("0").is_err() && megabytes("0").is_err() && megabytes("99999999999999999").is_err());
        assert_eq!(
            checks("can-enable,no-sinkhole").unwrap(),
            StructuralChecks::Kinds(vec!["can-enable".into(), "no-sinkhole".into()])
        );
        assert_eq!(checks("sinkhole").unwrap(), StructuralChecks::Kinds(vec!["no-sinkhole".into()]));
        assert!(checks("sinkholes").is_err());
        let plain = induction("none").unwrap();
        assert!(!plain.loop_free && !plain.no_restart && !plain.forward && plain.first_k == 1);
        let some = induction("loop-free, from=3").unwrap();
        assert!(some.loop_free && !some.no_restart && !some.forward && some.first_k == 3);
        assert!(induction("loopfree").is_err() && induction("from=0").is_err() && induction("").is_err());
        assert!(solver("z3").is_err() && solver("=x").is_err());
    }
}
