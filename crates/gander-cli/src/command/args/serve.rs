//! The arguments of `gander serve`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{SolverArgs, megabytes};

const EXAMPLES: &str = "\
Examples:
  gander serve                  opens a page with examples
  gander serve bank.sts         opens a page with this file, and saves it
  gander serve --no-open        only prints the address";

#[derive(ClapArgs, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// The model that the page shows first; the page can save it
    pub file: Option<PathBuf>,
    /// The port to listen on; 7411 if it is free, else any
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Keep results in this folder, shared with `gander check --cache DIR`; if not given, they are
    /// kept while the server runs
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Engines that work at the same time in a check; as many as there are processors if not given
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// Memory that gander and its solvers may use together; three fifths of what the machine or its
    /// control group has if not given
    #[arg(long, value_name = "MB", value_parser = megabytes)]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub solvers: SolverArgs,
}
