//! `gander bench`: gander's engines and other tools side by side on the user's models.
//!
//! A contender is a way to call `gander check`: with its portfolio, with one engine, or with one
//! other tool alone. The tool then gets the model as gander exports it, and its answers are checked
//! as in `gander check --with`. So all contenders are measured from the same file to an answer.
//! Jobs, limits and readers are those of the benchmark of manifests. The right verdicts are not
//! known here, so contenders are compared with each other.

pub mod formats;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use gander_io::write::{create_folder, scratch_folder};
use gander_runtime::{Cancellation, lock};
use gander_text::shown_path;

use crate::jobs::schedule::{Limits, Plan, Progress, jobs, run_all};
use crate::jobs::tool::Tool;
use crate::manifest::{Benchmark, Row, Suite};
use crate::reader::Reader;
use crate::results::record::{Ending, JobRecord, PropertyAnswer, Results};
use crate::verdict::{Expected, Verdict};

/// A way to call `gander check`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contender {
    /// Its name in tables.
    pub label: String,
    /// Additional arguments.
    pub arguments: Vec<String>,
}

/// What to measure, and how.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The models.
    pub files: Vec<PathBuf>,
    /// The contenders.
    pub contenders: Vec<Contender>,
    /// The `gander` program.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
    /// Time for one job.
    pub time: Duration,
    /// Megabytes for one job.
    pub memory_mb: u64,
    /// How often each job is run.
    pub rounds: u32,
    /// How many jobs run at the same time.
    pub workers: usize,
    /// The folder for results; jobs that it has are not run again.
    pub folder: PathBuf,
}

/// The result of a contender on a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// The answers of the first round.
    pub answers: Vec<PropertyAnswer>,
    /// Wall-clock seconds: the median, the least and the greatest.
    pub seconds: (f64, f64, f64),
    /// The most memory.
    pub peak_mb: f64,
    /// The worst ending of all rounds.
    pub ending: Ending,
    /// Whether a round has other answers than the first.
    pub unsteady: bool,
    /// Why the file was rejected.
    pub problem: Option<String>,
}

impl Cell {
    /// How many claims have a checked answer.
    pub fn decided(&self) -> usize {
        self.answers.iter().filter(|a| a.verdict.is_decided()).count()
    }

    /// How many claims have an answer at all.
    pub fn answered(&self) -> usize {
        self.answers.iter().filter(|a| a.verdict.is_decided() || a.claimed.is_some()).count()
    }

    /// True if every claim has an answer, checked or not.
    pub fn is_complete(&self) -> bool {
        !self.answers.is_empty() && self.answered() == self.answers.len()
    }
}

/// The result of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparisonResult {
    /// Names of the files, as they were given.
    pub files: Vec<String>,
    /// Names of the contenders.
    pub contenders: Vec<String>,
    /// By file, by contender; `None` if the job was not run.
    pub cells: Vec<Vec<Option<Cell>>>,
    /// The time limit in seconds.
    pub limit: f64,
    /// How often each job was run.
    pub rounds: u32,
}

/// Runs a comparison. `watch` is called after each job.
pub fn run(
    comparison: &Comparison,
    cancellation: &Cancellation,
    watch: &(dyn Fn(Progress, &JobRecord) + Sync),
) -> Result<ComparisonResult, String> {
    let mut suite = Suite::default();
    let mut paths = Vec::new();
    for file in &comparison.files {
        let path = std::fs::canonicalize(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let path = path.to_string_lossy().into_owned();
        let row = Row { property: None, expected: Expected::Unknown, evidence: String::new() };
        let benchmark = Benchmark {
            path: path.clone(),
            language: String::new(),
            set: String::new(),
            rows: vec![row],
        };
        if !paths.contains(&path) {
            suite.benchmarks.push(benchmark);
        }
        paths.push(path);
    }
    let tools: Vec<Tool> = comparison.contenders.iter().map(|c| tool(comparison, c)).collect();
    let problem = |e: std::io::Error| format!("{}: {e}", shown_path(&comparison.folder));
    create_folder(&comparison.folder).map_err(problem)?;
    // With a random name, because another run may use the folder at the same time.
    let scratch_folder = scratch_folder(&comparison.folder, "scratch-").map_err(problem)?;
    let scratch = scratch_folder.path().to_path_buf();
    let plan = Plan {
        suite: &suite,
        root: Path::new("/"),
        tools: &tools,
        limits: Limits {
            time: comparison.time,
            grace: Duration::from_secs_f64(1.0 + comparison.time.as_secs_f64() * 0.05),
            memory_mb: comparison.memory_mb,
        },
        rounds: comparison.rounds,
        workers: comparison.workers,
        scratch: &scratch,
    };
    let jobs = jobs(&plan)?;
    let (mut results, loaded) =
        Results::open(&comparison.folder.join("results.jsonl")).map_err(problem)?;
    let done = Mutex::new(loaded.records);
    let note = |progress: Progress, record: &JobRecord| {
        lock(&done).push(record.clone());
        watch(progress, record);
    };
    run_all(&plan, &jobs, &mut results, cancellation, &note).map_err(problem)?;
    drop(scratch_folder);
    let records = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let wanted = |r: &&JobRecord, path: &str, tool: &Tool| {
        r.key.file == path && r.key.tool == tool.label && jobs.iter().any(|j| j.key == r.key)
    };
    let cell = |path: &String, tool: &Tool| {
        let rounds: Vec<&JobRecord> = records.iter().filter(|r| wanted(r, path, tool)).collect();
        summary(&rounds)
    };
    Ok(ComparisonResult {
        files: comparison.files.iter().map(|f| f.to_string_lossy().into_owned()).collect(),
        contenders: comparison.contenders.iter().map(|c| c.label.clone()).collect(),
        cells: paths
            .iter()
            .map(|path| tools.iter().map(|tool| cell(path, tool)).collect())
            .collect(),
        limit: comparison.time.as_secs_f64(),
        rounds: comparison.rounds,
    })
}

fn tool(comparison: &Comparison, contender: &Contender) -> Tool {
    let words = ["check", "--json", "--checks", "none", "--allow", "all", "--timeout", "{timeout}"];
    let template = words.iter().map(|w| w.to_string()).chain(contender.arguments.iter().cloned());
    Tool {
        label: contender.label.clone(),
        program: comparison.program.clone(),
        template: template.chain(["{file}".to_string()]).collect(),
        reader: Reader::Gander,
        build: comparison.version.clone(),
        languages: Vec::new(),
        environment: Vec::new(),
    }
}

/// The summary of several rounds.
fn summary(rounds: &[&JobRecord]) -> Option<Cell> {
    let first = rounds.first()?;
    let mut seconds: Vec<f64> = rounds.iter().map(|r| r.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let verdicts = |r: &JobRecord| -> Vec<(String, Verdict)> {
        r.properties.iter().map(|p| (p.name.clone(), p.verdict)).collect()
    };
    let rank = |e: Ending| match e {
        Ending::Finished => 0,
        Ending::Rejected => 1,
        Ending::Timeout => 2,
        Ending::Memout => 3,
        Ending::Crashed => 4,
    };
    Some(Cell {
        answers: first.properties.clone(),
        seconds: (seconds[seconds.len() / 2], seconds[0], seconds[seconds.len() - 1]),
        peak_mb: rounds.iter().map(|r| r.peak_mb).fold(0.0, f64::max),
        ending: rounds.iter().map(|r| r.ending).max_by_key(|e| rank(*e))?,
        unsteady: rounds.iter().any(|r| verdicts(r) != verdicts(first)),
        problem: first.diagnostic.as_ref().map(|d| d.message.clone()),
    })
}

impl ComparisonResult {
    /// The contradictions between contenders, for reports.
    pub fn disagreements(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (file, row) in self.files.iter().zip(&self.cells) {
            let mut said: Vec<(&str, Verdict, &str)> = Vec::new();
            for (label, cell) in self.contenders.iter().zip(row) {
                for answer in cell.iter().flat_map(|c| &c.answers) {
                    let verdict = if answer.verdict.is_decided() {
                        Some(answer.verdict)
                    } else {
                        answer.claimed
                    };
                    let Some(verdict) = verdict else { continue };
                    match said
                        .iter()
                        .find(|(name, other, _)| *name == answer.name && *other != verdict)
                    {
                        Some((_, other, by)) => found.push(format!(
                            "{file}: `{}` {} according to {by}, {} according to {label}",
                            answer.name,
                            word(*other),
                            word(verdict)
                        )),
                        None => said.push((&answer.name, verdict, label)),
                    }
                }
            }
        }
        found
    }
}

/// The verdict as gander prints it.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "holds",
        Verdict::Invalid => "fails",
        Verdict::Unknown => "unknown",
    }
}
