//! The folder of a run: the request and the results.
//!
//! `request.json` has the rows, tools, limits and recorded peers of the last run; `results.jsonl`
//! has every job ever run into this folder. A report shows the jobs of the request. So runs with
//! other tools or limits can use the same folder, and repeating an earlier request runs nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gander_io::read::{self, Links};
use gander_io::write::{Target, create_folder, replace};
use gander_text::shown_path;
use serde::{Deserialize, Serialize};

use crate::jobs::tool::ToolId;
use crate::manifest::Suite;
use crate::results::record::{JobRecord, Loaded};
use crate::results::recorded::RecordedAnswer;

/// Bytes of a request file at most.
const LARGEST: u64 = 1 << 30;

/// The request of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The files and rows.
    pub suite: Suite,
    /// The tools that were found.
    pub tools: Vec<ToolId>,
    /// Messages about requested tools that were not found.
    pub missing: Vec<String>,
    /// Time limit in milliseconds.
    pub time_limit_ms: u64,
    /// Memory limit in megabytes.
    pub memory_limit_mb: u64,
    /// Repetitions.
    pub rounds: u32,
    /// Jobs at the same time.
    pub workers: usize,
    /// Recorded answers of other tools.
    pub recorded: Vec<RecordedAnswer>,
    /// The time limit of the recorded answers in seconds.
    pub recorded_limit: f64,
}

/// A folder with results.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// The contents of a folder.
#[derive(Debug)]
pub struct Contents {
    /// The request.
    pub request: Request,
    /// For each tool of the request and file, the rounds that were run, in order.
    pub jobs: HashMap<(usize, String), Vec<JobRecord>>,
    /// Lines of the results file that could not be read.
    pub bad_lines: Vec<usize>,
}

impl Folder {
    /// The folder at a path.
    pub fn new(path: &Path) -> Folder {
        Folder { path: path.to_path_buf() }
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The results file.
    pub fn results(&self) -> PathBuf {
        self.file("results.jsonl")
    }

    /// Writes the request.
    pub fn save(&self, request: &Request) -> Result<(), String> {
        let text = serde_json::to_string(request).map_err(|e| e.to_string())?;
        self.write("request.json", &(text + "\n"))
    }

    /// Writes a file, and makes its folder.
    pub fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.file(name);
        if let Some(parent) = path.parent() {
            create_folder(parent).map_err(|e| format!("{}: {e}", shown_path(&path)))?;
        }
        replace(&path, text.as_bytes(), Target::Managed).map_err(|e| e.to_string())
    }

    /// Reads the folder.
    pub fn load(&self) -> Result<Contents, String> {
        let path = self.file("request.json");
        let problem = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let text = read::text(&path, Links::Refuse, LARGEST).map_err(|e| problem(&e))?;
        let request: Request = serde_json::from_str(&text).map_err(|e| problem(&e))?;
        let results = self.results();
        let loaded = Loaded::read(&results).map_err(|e| format!("{}: {e}", results.display()))?;
        Ok(Contents::new(request, loaded))
    }
}

impl Contents {
    /// Selects the records of the request. If there are two for one job, because the file changed,
    /// the later one counts.
    pub fn new(request: Request, loaded: Loaded) -> Contents {
        let places: HashMap<&ToolId, usize> =
            request.tools.iter().enumerate().map(|(i, t)| (t, i)).collect();
        let mut jobs: HashMap<(usize, String), Vec<JobRecord>> = HashMap::new();
        for record in loaded.records {
            let k = &record.key;
            let id = ToolId {
                label: k.tool.clone(),
                build: k.build.clone(),
                arguments: k.arguments.clone(),
            };
            let Some(&tool) = places.get(&id) else { continue };
            if k.time_limit_ms != request.time_limit_ms
                || k.memory_limit_mb != request.memory_limit_mb
                || k.round >= request.rounds
            {
                continue;
            }
            let rounds = jobs.entry((tool, k.file.clone())).or_default();
            match rounds.iter_mut().find(|r| r.key.round == record.key.round) {
                Some(old) => *old = record,
                None => rounds.push(record),
            }
        }
        for rounds in jobs.values_mut() {
            rounds.sort_by_key(|r| r.key.round);
        }
        drop(places);
        Contents { request, jobs, bad_lines: loaded.bad_lines }
    }
}
