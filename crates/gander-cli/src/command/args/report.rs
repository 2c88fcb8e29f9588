//! The options of `gander report`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::values::at_least_one;
use super::{LimitArgs, SolverArgs};

const REPORT_EXAMPLES: &str = "\
Examples:
  gander report bank.sts -o bank.html
  gander report --cores all pump.lus -o pump.html      all minimal cores: exact coverage
  gander report --timeout 60 pump.lus -o pump.html     what is not finished is marked as a bound

Exit codes: those of check (0 every claim holds, 1 some claim fails, 2 wrong input, 3 nothing fails
but something is unknown, 4 internal error); 3 also if --cores is given and its cores are not
finished.";

#[derive(ClapArgs, Debug)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportArgs {
    /// The model; `-` is the standard input
    pub file: String,
    /// The page to write; the standard output by default
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The cores of what is proved, which coverage is computed from: none, one minimal core of each
    /// claim (the default; coverage is then a lower bound), or all
    #[arg(long, value_enum, value_name = "WHICH")]
    pub cores: Option<CoresArg>,
    /// Report only on the claim with this name; may be given several times
    #[arg(long, short, value_name = "NAME")]
    pub property: Vec<String>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Keep proofs in this folder, and look there first; what is found is always checked again
    /// (docs/cache.md)
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Threads that work at the same time; as many as there are processors if not given
    #[arg(long, short, value_name = "N", value_parser = at_least_one)]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub solvers: SolverArgs,
}

/// Which cores a report has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum CoresArg {
    None,
    One,
    All,
}
