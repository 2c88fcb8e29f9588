//! The options of `gander bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;

use super::SolverArgs;
use super::values::{at_least_one, seconds, tool};

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
    /// Keep all results in this folder (table.txt, results.csv, plot.svg, results.jsonl); the same
    /// command goes on where it was stopped
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub solvers: SolverArgs,
}
