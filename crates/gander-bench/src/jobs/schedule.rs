//! The order of jobs, and running them.
//!
//! Jobs are ordered by round, then by file. The tools take turns in going first, so that noise of
//! the machine (a warm cache, another user) affects all of them alike. Jobs in the results file are
//! not run again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gander_io::read::{self, Links};
use gander_process::{Batch, Ending, Environment, MemoryLimit};
use gander_runtime::{Cancellation, lock};
use gander_text::shown_path;

use crate::jobs::tool::Tool;
use crate::manifest::Suite;
use crate::reader::Output;
use crate::results::record::{JobKey, JobRecord, Results, fingerprint};

/// Bytes of a model at most.
const LARGEST: u64 = 1 << 32;

/// Bytes of the largest file that a job may write.
const LARGEST_FILE: u64 = 1 << 30;

/// The limits of a job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Duration,
    /// Additional time for a tool that gets its time limit as an argument, to print its answers.
    pub grace: Duration,
    /// Resident memory of all processes of the job together.
    pub memory_mb: u64,
}

/// How to run.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The files.
    pub suite: &'a Suite,
    /// The folder that their paths are relative to.
    pub root: &'a Path,
    /// The tools, in the order of tables.
    pub tools: &'a [Tool],
    /// Limits of each job.
    pub limits: Limits,
    /// How often each job is run.
    pub rounds: u32,
    /// How many jobs run at the same time.
    pub workers: usize,
    /// A folder for what tools write while they run.
    pub scratch: &'a Path,
}

/// A job that is to be run.
#[derive(Debug)]
pub struct Job<'a> {
    /// Its key.
    pub key: JobKey,
    /// The tool.
    pub tool: &'a Tool,
    /// The file, an absolute path.
    pub file: PathBuf,
}

/// The jobs of a plan in the order in which they run. Fails if a file cannot be read.
pub fn jobs<'a>(plan: &Plan<'a>) -> Result<Vec<Job<'a>>, String> {
    let root =
        std::fs::canonicalize(plan.root).map_err(|e| format!("{}: {e}", plan.root.display()))?;
    let mut contents = Vec::new();
    for b in &plan.suite.benchmarks {
        let path = root.join(&b.path);
        let bytes = model(&path).map_err(|e| format!("{}: {e}", shown_path(&path)))?;
        contents.push((path, fingerprint(&bytes)));
    }
    let mut jobs = Vec::new();
    for round in 0..plan.rounds {
        for (i, (b, (path, content))) in plan.suite.benchmarks.iter().zip(&contents).enumerate() {
            for turn in 0..plan.tools.len() {
                let tool = &plan.tools[(i + round as usize + turn) % plan.tools.len()];
                if !tool.takes(&b.language) {
                    continue;
                }
                let id = tool.id();
                let key = JobKey {
                    file: b.path.clone(),
                    content: content.clone(),
                    tool: id.label,
                    build: id.build,
                    arguments: id.arguments,
                    time_limit_ms: plan.limits.time.as_millis() as u64,
                    memory_limit_mb: plan.limits.memory_mb,
                    round,
                };
                jobs.push(Job { key, tool, file: path.clone() });
            }
        }
    }
    Ok(jobs)
}

/// The progress of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Jobs done now.
    pub done: usize,
    /// Jobs to do.
    pub total: usize,
}

/// Runs the jobs that `results` does not have. `watch` is called after each job.
pub fn run_all(
    plan: &Plan<'_>,
    jobs: &[Job<'_>],
    results: &mut Results,
    cancellation: &Cancellation,
    watch: &(dyn Fn(Progress, &JobRecord) + Sync),
) -> io::Result<()> {
    let todo: Vec<&Job<'_>> = jobs.iter().filter(|j| !results.known.contains(&j.key)).collect();
    let total = todo.len();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let shared = Mutex::new(results);
    let work = |worker: usize| -> io::Result<()> {
        let folder = plan.scratch.join(format!("worker-{worker}"));
        std::fs::create_dir_all(&folder)?;
        while let Some(job) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(record) = run_one(plan, job, &folder, cancellation)? else { return Ok(()) };
            let mut results = lock(&shared);
            results.append(&record)?;
            drop(results);
            watch(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total }, &record);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..plan.workers.max(1)).map(|w| scope.spawn(move || work(w))).collect();
        let mut outcome = Ok(());
        for worker in workers {
            let ended =
                worker.join().unwrap_or_else(|_| Err(io::Error::other("a worker panicked")));
            outcome = outcome.and(ended);
        }
        outcome
    })
}

/// Runs a job; `None` if the run was cancelled meanwhile.
fn run_one(
    plan: &Plan<'_>,
    job: &Job<'_>,
    folder: &Path,
    cancellation: &Cancellation,
) -> io::Result<Option<JobRecord>> {
    if cancellation.is_cancelled() {
        return Ok(None);
    }
    let arguments = job.tool.arguments(&job.file, plan.limits.time, plan.limits.memory_mb);
    let variables = job.tool.environment.iter().map(|(k, v)| (k.into(), v.into())).collect();
    let grace = if job.tool.knows_time_limit() { plan.limits.grace } else { Duration::ZERO };
    let batch = Batch {
        arguments: arguments.into_iter().map(Into::into).collect(),
        environment: Environment { is_inherited: true, variables },
        folder: Some(folder.to_path_buf()),
        deadline: Instant::now().checked_add(plan.limits.time + grace),
        cancellation: cancellation.clone(),
        memory: MemoryLimit::Resident(plan.limits.memory_mb << 20),
        largest_file: Some(LARGEST_FILE),
        ..Batch::new(&job.tool.program)
    };
    let finished = batch.run()?;
    if finished.ending == Ending::Cancelled {
        return Ok(None);
    }
    let source = String::from_utf8_lossy(&model(&job.file)?).into_owned();
    let output = Output {
        exit: finished.exit,
        stdout: &finished.stdout,
        stderr: &finished.stderr,
        source: &source,
    };
    let mut record = job.tool.reader.read(&output).into_record(job.key.clone(), &finished);
    without_path(&mut record, &job.file);
    Ok(Some(record))
}

/// The bytes of a model, which must be a regular file: a pipe could block.
fn model(file: &Path) -> io::Result<Vec<u8>> {
    read::bytes(file, Links::Follow, LARGEST).map_err(|e| io::Error::other(e.to_string()))
}

/// Replaces the path of the file in messages: they would differ from file to file, and would show
/// the folders of this machine.
fn without_path(record: &mut JobRecord, file: &Path) {
    let path = file.to_string_lossy();
    let texts = record.diagnostic.iter_mut().map(|d| &mut d.message).chain(&mut record.last_words);
    for text in texts {
        *text = text.replace(&*path, "FILE");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Reader;

    #[test]
    fn messages_do_not_name_the_file() {
        let mut record = crate::results::record::tests::record(
            "a.smv",
            "t",
            crate::verdict::Verdict::Unknown,
            1.0,
        );
        let message = "file /x/a.smv: line 4: syntax error".to_string();
        record.diagnostic =
            Some(crate::results::record::Diagnostic { code: "error".into(), message, line: None });
        record.last_words = Some("/x/a.smv and /x/b.smv".into());
        without_path(&mut record, Path::new("/x/a.smv"));
        assert_eq!(record.diagnostic.unwrap().message, "file FILE: line 4: syntax error");
        assert_eq!(record.last_words.unwrap(), "FILE and /x/b.smv");
    }

    #[test]
    fn tools_take_turns() {
        let dir = std::env::temp_dir().join(format!("gander-bench-{}-turns", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut text =
            "path\tlanguage\tproperty\texpected\tsource_set\tverdict_evidence\n".to_string();
        for file in ["x", "y", "z"] {
            std::fs::write(dir.join(file), file).unwrap();
            text +=
                &format!("{file}\t{}\t-\tvalid\ts\t\n", if file == "z" { "other" } else { "one" });
        }
        let suite = Suite::parse(&text).unwrap();
        let tool = |label: &str, languages: Vec<String>| Tool {
            label: label.into(),
            program: "/bin/true".into(),
            template: vec!["{file}".into()],
            reader: Reader::Horn,
            build: "1".into(),
            languages,
            environment: Vec::new(),
        };
        let tools = [tool("a", Vec::new()), tool("b", vec!["one".into()])];
        let limits = Limits { time: Duration::from_secs(1), grace: Duration::ZERO, memory_mb: 100 };
        let plan = Plan {
            suite: &suite,
            root: &dir,
            tools: &tools,
            limits,
            rounds: 2,
            workers: 1,
            scratch: &dir,
        };
        let all: Vec<String> = jobs(&plan)
            .unwrap()
            .iter()
            .map(|j| format!("{}{}{}", j.key.round, j.key.file, j.key.tool))
            .collect();
        assert_eq!(all.join(" "), "0xa 0xb 0yb 0ya 0za 1xb 1xa 1ya 1yb 1za");
        std::fs::remove_file(dir.join("y")).unwrap();
        assert!(jobs(&plan).is_err());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
