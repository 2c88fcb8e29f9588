//! The options of `gander explain`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};

use super::values::{at_least_one, depths, seconds};
use super::{LimitArgs, SolverArgs, TraceArg};

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  gander explain E0202                     what a message means
  gander explain pump.lus                  one core for each property that holds, the run for each that fails
  gander explain --contrast --html pump.html pump.lus
  gander explain --all --json pump.lus     all minimal cores
  gander explain --matrix html -o pump.html pump.lus
  gander explain --coverage pump.lus       what no requirement covers

Exit codes: 0 every property is explained, by a core or by the run that shows it; 1 some property fails;
2 wrong input; 3 something is unknown or incomplete, or no core is defined for a property that no run
shows; 4 internal error.";

#[derive(ClapArgs, Debug)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct ExplainArgs {
    /// A model: why its properties hold. Or a code of a message, for example E0202; a list of all
    /// codes if it is left out
    #[arg(value_name = "FILE or CODE")]
    pub target: Option<String>,
    /// Explain only the property with this name; may be given several times
    #[arg(long, short, value_name = "NAME")]
    pub property: Vec<String>,
    /// A core from which nothing can be left out
    #[arg(long, conflicts_with_all = ["all", "smallest"])]
    pub minimal: bool,
    /// The algorithm of the literature for one core: `uc` reduces the proof by unsatisfiable cores
    /// (the default), `bf` leaves out one element after the other and proves the property anew,
    /// `ucbf` does both (as `--minimal`), `must` is `uc` with `--must`
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["all", "smallest", "minimal"])]
    pub algorithm: Option<AlgorithmArg>,
    /// A core with as few elements as any
    #[arg(long, conflicts_with = "all")]
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
    /// Cores for runs of at most K steps, or for each number of steps in a range such as
    /// 0..5; nothing needs to be proved
    #[arg(long, value_name = "K", value_parser = depths,
          conflicts_with_all = ["vacuity", "contrast", "html", "save_traces"])]
    pub bounded: Option<RangeInclusive<u32>>,
    /// Also look whether properties say less than they seem to: no run, or a left side that never
    /// holds
    #[arg(long, conflicts_with = "json")]
    pub vacuity: bool,
    /// Print JSON (docs/explain.md)
    #[arg(long)]
    pub json: bool,
    /// The traceability matrix, elements by properties
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["json", "vacuity", "cut_sets"])]
    pub matrix: Option<MatrixArg>,
    /// Coverage scores, and the elements that no property touches; with --json also in JSON. With
    /// --cut-sets and --vacuity what these find is printed below
    #[arg(long, conflicts_with = "matrix")]
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
    /// Keep the runs that decide properties in this folder, as MODEL.CLAIM.csv (a row for each
    /// step) and MODEL.CLAIM.vcd (for waveform viewers)
    #[arg(long, value_name = "DIR")]
    pub save_traces: Option<PathBuf>,
    /// How much of runs to show; `full` shows every step and every stream
    #[arg(long, value_enum, default_value_t = TraceArg::Changes, value_name = "HOW")]
    pub trace: TraceArg,
    /// Every instance of a node, a process or a specification has its own elements
    #[arg(long)]
    pub instances: bool,
    /// How finely the model is divided: whole equations and conditions; or also their conjuncts; or
    /// these, the branches of conditional expressions and the two sides of an arrow; or every
    /// operation, every constant and every use of a variable
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub granularity: GranularityArg,
    /// Small mistakes are made in the model: which of them do the properties notice?
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "text",
          conflicts_with_all = ["json", "matrix", "coverage", "bounded", "vacuity", "must", "cut_sets"])]
    pub mutation: Option<MutationArg>,
    /// What engines have for one mistake
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "mutation")]
    pub mutant_time: Option<Duration>,
    /// Continue from what an earlier run said with --json: its cores are tried first, and always
    /// checked again
    #[arg(long, value_name = "FILE", conflicts_with = "bounded")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Keep proofs in this folder, and look there first; what is found is always checked again
    /// (docs/cache.md)
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Use only this engine, for the verdicts and for sets of elements; may be given several times
    #[arg(long, short, value_name = "NAME")]
    pub engine: Vec<String>,
    /// How long engines try to decide one set of elements
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub share: Option<Duration>,
    /// Threads that work at the same time; as many as there are processors if not given
    #[arg(long, short, value_name = "N", value_parser = at_least_one)]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

/// The algorithms of E. Ghassabani, Inductive Validity Cores (2020).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlgorithmArg {
    /// IVC_UC
    Uc,
    /// IVC_BF
    Bf,
    /// IVC_UCBF
    Ucbf,
    /// IVC_MUST
    Must,
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
    /// Also every operation, every constant and every use of a variable
    Operations,
}

/// How mutants are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MutationArg {
    Text,
    Json,
    Csv,
    Html,
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
