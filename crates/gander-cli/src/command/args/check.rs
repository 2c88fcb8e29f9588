//! The options of `gander check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use gander::StructuralChecks;
use gander::certify::Trust;
use gander::engines::{InductionOptions, Method, PathOrder};
use gander::lang::Code;

use super::SolverArgs;
use super::values::{
    allowed, at_least_one, checks, induction, megabytes, method, seconds, tool, trust,
};

const CHECK_EXAMPLES: &str = "\
Examples:
  gander check bank.sts
  gander check --property solvent --property rich --timeout 10 bank.sts
  gander check --checks none --engine bmc bank.sts
  gander check --second-opinion z3 --save-evidence proofs bank.sts
  gander check --show-invariants bank.sts
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
    /// Print JSON as the answers come (docs/json.md): one object a line, for each claim when it is
    /// settled
    #[arg(long, conflicts_with = "json")]
    pub json_stream: bool,
    /// Decide only the claim with this name; may be given several times
    #[arg(long, short, value_name = "NAME")]
    pub property: Vec<String>,
    /// Use only this engine; may be given several times; with --with also `none`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub engine: Vec<String>,
    /// Let other tools take part, with commas between (`gander doctor` lists them), or all that are
    /// found; what they say counts if its evidence passes our check (docs/racing.md)
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', conflicts_with = "modular")]
    pub with: Vec<String>,
    /// The program of a tool, for example nusmv=/opt/NuSMV/bin/NuSMV; may be given several times
    #[arg(long, value_name = "NAME=PATH", value_parser = tool)]
    pub tool: Vec<(String, PathBuf)>,
    /// Which engines to use on which models (docs/portfolio.md); `gander engines --portfolio`
    /// prints the default
    #[arg(long, value_name = "FILE", conflicts_with = "engine")]
    pub portfolio: Option<PathBuf>,
    /// Say afterwards which engines ran, why, for how long, and what each contributed
    #[arg(long)]
    pub explain_schedule: bool,
    /// Show the invariant that proves a claim, in the language of the model, without what the proof
    /// does not need; takes up to 5 s more (docs/proofs.md)
    #[arg(long)]
    pub show_invariants: bool,
    /// For a claim that was not decided, show states from which induction fails; they may be
    /// unreachable; takes up to 5 s more (docs/proofs.md)
    #[arg(long)]
    pub induction_counterexamples: bool,
    /// Give up on a file after this many seconds; without it there is no time limit
    #[arg(long, short, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Engines that work at the same time
    #[arg(long, short, value_name = "N", value_parser = at_least_one)]
    pub jobs: Option<usize>,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Memory that gander and its solvers may use together; three fifths of what the machine or its
    /// control group has if not given
    #[arg(long, value_name = "MB", value_parser = megabytes)]
    pub memory: Option<u64>,
    /// Print only what does not hold
    #[arg(long, short)]
    pub quiet: bool,
    /// Keep every conversation with a solver as an .smt2 file in this folder, named by engine and
    /// claim (`all` if it serves several), for example bmc-solvent-runs-0.smt2; proof obligations
    /// all go to solvers then
    #[arg(long, value_name = "DIR")]
    pub log_smt: Option<PathBuf>,
    /// A solver that must agree with each verdict
    #[arg(long, value_name = "SOLVER")]
    pub second_opinion: Option<String>,
    /// What a verdict may rest on beside proofs that gander verifies: `one` solver, `two` solvers
    /// that agree, or nothing (`proof`). Otherwise it is unknown. Without this option two solvers
    /// are asked where two can be, and the report names the verdicts that rest on one
    #[arg(long, value_name = "one|two|proof", value_parser = trust)]
    pub trust: Option<Trust>,
    /// Fetch missing solvers first
    #[arg(long)]
    pub setup: bool,
    /// Keep the evidence for every verdict as a file in this folder
    #[arg(long, value_name = "DIR")]
    pub save_evidence: Option<PathBuf>,
    /// Keep every run in this folder, as MODEL.CLAIM.csv (a row for each step; for a Lustre model,
    /// `gander simulate --inputs` reads it back) and MODEL.CLAIM.vcd (for waveform viewers)
    #[arg(long, value_name = "DIR")]
    pub save_traces: Option<PathBuf>,
    /// Keep proofs and runs in this folder, and look there first; what is found is always checked
    /// again (docs/cache.md)
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Show every stream in the runs of a Lustre model, not only what matters for the property, and
    /// every warning, not only the first two of a kind
    #[arg(long)]
    pub all: bool,
    /// Structural checks: all, none, or some of dead, sinkhole, start, relation with commas
    /// between. Without this option all are made, but alone they are no success: a file without
    /// claims then has exit code 2
    #[arg(long, value_name = "KINDS", value_parser = checks)]
    pub checks: Option<StructuralChecks>,
    /// Warnings to leave out: codes with commas between, or all, which also saves the time to look
    /// for them
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = allowed)]
    pub allow: Vec<Allowed>,
    /// With `warnings`: a warning makes the exit code 1, if it would be 0 or 3
    #[arg(long, value_enum, value_name = "WHAT")]
    pub deny: Option<Deny>,
    /// Bounded model checking and induction go no deeper than this
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u32>,
    /// What induction may assume and try, with commas between: loop-free, compress, abstract,
    /// no-restart, forward, from=K; or none
    #[arg(long, value_name = "OPTIONS", value_parser = induction)]
    pub induction: Option<InductionOptions>,
    /// Methods that are not used, with commas between, to measure what they bring
    /// (docs/benchmarks.md)
    #[arg(long, value_name = "METHODS", value_delimiter = ',', value_parser = method, hide = true)]
    pub without: Vec<Method>,
    /// Which path the engine `paths` follows next: a shortest one, or the newest one
    #[arg(long, value_enum, default_value_t = PathOrderArg::BreadthFirst, value_name = "ORDER")]
    pub paths: PathOrderArg,
    /// Lustre: look at nodes with contracts alone, and let their contracts stand for them where
    /// that is enough
    #[arg(long, alias = "compositional")]
    pub modular: bool,
    #[command(flatten)]
    pub solvers: SolverArgs,
    /// How much of runs to show
    #[arg(long, value_enum, default_value_t = TraceArg::Changes, value_name = "HOW")]
    pub trace: TraceArg,
}

impl CheckArgs {
    /// The options that `check` has by default.
    pub(super) fn plain(files: Vec<String>) -> CheckArgs {
        CheckArgs {
            files,
            json: false,
            json_stream: false,
            property: Vec::new(),
            engine: Vec::new(),
            with: Vec::new(),
            tool: Vec::new(),
            portfolio: None,
            explain_schedule: false,
            show_invariants: false,
            induction_counterexamples: false,
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
            checks: None,
            allow: Vec::new(),
            deny: None,
            max_depth: None,
            induction: None,
            without: Vec::new(),
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

/// What makes the exit code 1.
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
