//! Records of jobs, and the results file.
//!
//! The results file has one JSON object a line and only grows. A line is written in one piece when
//! its job ends, so a run that is killed loses only the jobs that were running. An incomplete last
//! line is dropped when the file is opened.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use gander_io::read::{self, Links, ReadError};
use gander_io::write;
use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// Everything that a job's outcome may depend on. Two jobs with the same key are the same job.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct JobKey {
    /// The path in the manifest.
    pub file: String,
    /// A hash of the file's content.
    pub content: String,
    /// The label of the tool.
    pub tool: String,
    /// Version of the tool and hash of its program.
    pub build: String,
    /// The arguments before file and limits are filled in.
    pub arguments: String,
    /// Time limit in milliseconds.
    pub time_limit_ms: u64,
    /// Memory limit in megabytes.
    pub memory_limit_mb: u64,
    /// Which repetition, from zero.
    pub round: u32,
}

/// How a job ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// By itself, with or without an answer.
    Finished,
    /// By itself, because it does not accept the input.
    Rejected,
    /// Out of time: stopped at the limit, or by itself just before it.
    Timeout,
    /// Out of memory.
    Memout,
    /// By a signal, a panic or an internal error.
    Crashed,
}

/// The answer of a tool about a property.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PropertyAnswer {
    /// The name that the tool prints.
    pub name: String,
    /// The answer.
    pub verdict: Verdict,
    /// The engine that found it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Seconds to the answer, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Steps explored without a decision, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explored_through: Option<u64>,
    /// The answer of another tool (`--with`) without evidence that could be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Verdict>,
    /// What stopped each engine, if known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<Reason>,
}

/// What stopped an engine.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// The engine.
    pub engine: String,
    /// Its message.
    pub reason: String,
}

/// Why a tool does not accept an input.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Diagnostic {
    /// A stable code, or a word for the kind of error if the tool has no codes.
    pub code: String,
    /// The message.
    pub message: String,
    /// The line, from one.
    pub line: Option<u64>,
}

/// The record of a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobRecord {
    /// Which job.
    pub key: JobKey,
    /// How it ended.
    pub ending: Ending,
    /// The exit code, unless it ended by a signal.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Wall-clock seconds from start to exit.
    pub seconds: f64,
    /// Processor seconds of the process and the children it waited for.
    pub cpu_seconds: f64,
    /// The most memory seen, all processes of the job together.
    pub peak_mb: f64,
    /// The answer about the file as a whole.
    pub verdict: Verdict,
    /// Success was reported without any property.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vacuous: bool,
    /// The answers about properties; empty if the tool answers only about files.
    pub properties: Vec<PropertyAnswer>,
    /// Why the input was rejected.
    pub diagnostic: Option<Diagnostic>,
    /// The end of its error output, if it crashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
}

/// The results file, opened for appending.
pub struct Results {
    file: File,
    /// The jobs in the file.
    pub known: HashSet<JobKey>,
}

/// The contents of a results file.
#[derive(Default, Debug)]
pub struct Loaded {
    /// In the order of the file.
    pub records: Vec<JobRecord>,
    /// Numbers, from one, of complete lines that are not records.
    pub bad_lines: Vec<usize>,
    /// Bytes up to the end of the last complete line.
    pub complete: u64,
}

impl Loaded {
    /// Reads a results file; one that does not exist is empty.
    pub fn read(path: &Path) -> io::Result<Loaded> {
        match read::bytes(path, Links::Refuse, u64::MAX - 1) {
            Ok(bytes) => Ok(Loaded::parse(&bytes)),
            Err(ReadError::Missing) => Ok(Loaded::default()),
            Err(ReadError::Io(e)) => Err(e),
            Err(e) => Err(io::Error::other(e.to_string())),
        }
    }

    /// Reads the bytes of a results file.
    pub fn parse(bytes: &[u8]) -> Loaded {
        let complete = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let mut loaded = Loaded { complete: complete as u64, ..Loaded::default() };
        for (i, line) in bytes[..complete].split(|b| *b == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(record) => loaded.records.push(record),
                Err(_) => loaded.bad_lines.push(i + 1),
            }
        }
        loaded
    }
}

impl Results {
    /// Opens or makes a results file, and drops an incomplete last line.
    pub fn open(path: &Path) -> io::Result<(Results, Loaded)> {
        let loaded = Loaded::read(path)?;
        let file = write::append(path)?;
        if file.metadata()?.len() > loaded.complete {
            file.set_len(loaded.complete)?;
        }
        let known = loaded.records.iter().map(|r| r.key.clone()).collect();
        Ok((Results { file, known }, loaded))
    }

    /// Adds a record; it is in the file when this returns.
    pub fn append(&mut self, record: &JobRecord) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.flush()?;
        self.known.insert(record.key.clone());
        Ok(())
    }
}

/// A hash of bytes as sixteen hexadecimal digits (FNV-1a), for detecting changes, not attacks.
pub fn fingerprint(bytes: &[u8]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for b in bytes {
        hash = (hash ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A record with this much in it.
    pub(crate) fn record(file: &str, tool: &str, verdict: Verdict, seconds: f64) -> JobRecord {
        JobRecord {
            key: JobKey {
                file: file.into(),
                content: "0".into(),
                tool: tool.into(),
                build: "1".into(),
                arguments: String::new(),
                time_limit_ms: 10_000,
                memory_limit_mb: 1000,
                round: 0,
            },
            ending: Ending::Finished,
            exit: Some(0),
            signal: None,
            seconds,
            cpu_seconds: seconds,
            peak_mb: 1.0,
            verdict,
            vacuous: false,
            properties: Vec::new(),
            diagnostic: None,
            last_words: None,
        }
    }

    fn temporary(name: &str) -> std::path::PathBuf {
        let dir = std::env::temp_dir().join(format!("gander-bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("results.jsonl");
        let _ = std::fs::remove_file(&path);
        path
    }

    #[test]
    fn an_incomplete_line_loses_one_job() {
        let path = temporary("cut");
        let (mut results, _) = Results::open(&path).unwrap();
        let (a, b) =
            (record("a", "t", Verdict::Valid, 1.0), record("b", "t", Verdict::Invalid, 2.0));
        results.append(&a).unwrap();
        results.append(&b).unwrap();
        drop(results);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();

        let (mut results, loaded) = Results::open(&path).unwrap();
        assert_eq!(loaded.records, std::slice::from_ref(&a));
        assert!(loaded.bad_lines.is_empty());
        assert!(results.known.contains(&a.key) && !results.known.contains(&b.key));
        results.append(&b).unwrap();
        drop(results);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_damaged_line_is_counted_and_the_rest_is_read() {
        let mut bytes = serde_json::to_vec(&record("a", "t", Verdict::Valid, 1.0)).unwrap();
        bytes.extend_from_slice(b"\nnonsense\n");
        bytes.extend(serde_json::to_vec(&record("b", "t", Verdict::Valid, 1.0)).unwrap());
        bytes.push(b'\n');
        let loaded = Loaded::parse(&bytes);
        assert_eq!((loaded.records.len(), loaded.bad_lines), (2, vec![2]));
    }

    #[test]
    fn limits_and_builds_make_different_jobs() {
        let one = record("a", "t", Verdict::Valid, 1.0).key;
        let known: HashSet<JobKey> = [one.clone()].into();
        assert!(known.contains(&one.clone()));
        assert!(!known.contains(&JobKey { time_limit_ms: 20_000, ..one.clone() }));
        assert!(!known.contains(&JobKey { build: "2".into(), ..one.clone() }));
        assert!(!known.contains(&JobKey { round: 1, ..one }));
    }

    #[test]
    fn fingerprints_are_those_of_fnv() {
        assert_eq!(fingerprint(b""), "cbf29ce484222325");
        assert_eq!(fingerprint(b"a"), "af63dc4c8601ec8c");
    }
}
