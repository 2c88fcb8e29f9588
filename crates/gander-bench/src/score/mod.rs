//! Compares answers with the verdicts that the manifest expects.
//!
//! Every row has a score, and every file has one. A file is violated if one of its properties is,
//! and valid if all of them are. Some tools answer only about whole files, so this makes all tools
//! comparable. Of several rounds the median counts (of an even number the slower of the two in the
//! middle), but a wrong round always counts.
//!
//! PAR-2 is the mean time of a file; an unsolved file counts as twice the time limit. PAR-2 and the
//! number of solved files are about files with a known verdict only.

pub mod compare;

use std::collections::HashMap;

use crate::manifest::{Benchmark, Suite};
use crate::results::folder::Contents;
use crate::results::record::{Ending, JobRecord, PropertyAnswer};
use crate::verdict::{Expected, Verdict};

/// The score of an answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Score {
    /// The expected answer.
    Solved,
    /// The opposite of the expected answer.
    Wrong,
    /// An answer where the verdict is not known.
    Extra,
    /// The input was rejected by mistake.
    Unsupported,
    /// Out of time.
    Timeout,
    /// Out of memory.
    Memout,
    /// No answer, and a crash.
    Crash,
    /// The tool finished and did not mention the property.
    NotReported,
    /// The tool finished and does not know.
    GaveUp,
}

/// A tool in the comparison.
#[derive(Clone, PartialEq, Debug)]
pub struct Contender {
    /// Its name.
    pub label: String,
    /// Version and hash; empty for recorded ones.
    pub build: String,
    /// Whether its answers were taken elsewhere.
    pub is_recorded: bool,
}

/// The answer of a tool about a row.
#[derive(Clone, PartialEq, Debug)]
pub struct RowResult {
    /// The answer.
    pub verdict: Verdict,
    /// Its score.
    pub score: Score,
    /// Seconds to the answer.
    pub seconds: f64,
    /// Details, if the tool answers about properties.
    pub answer: Option<PropertyAnswer>,
}

/// The answer of a tool about a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Attempt {
    /// The answer about the file as a whole.
    pub verdict: Verdict,
    /// Its score.
    pub score: Score,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// In the order of the rows.
    pub rows: Vec<RowResult>,
    /// The job; `None` if recorded.
    pub record: Option<JobRecord>,
    /// Rounds contradict each other.
    pub unstable: bool,
}

/// The scores of all tools on all files.
#[derive(Debug)]
pub struct Scoreboard {
    /// The files and rows.
    pub suite: Suite,
    /// Seconds.
    pub time_limit: f64,
    /// The tools: first those that were run, then the recorded ones.
    pub contenders: Vec<Contender>,
    /// For each contender and file, in their orders; `None` if there was no job.
    pub attempts: Vec<Vec<Option<Attempt>>>,
}

/// A line of a table.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Summary {
    /// Attempted.
    pub total: usize,
    /// Attempted, and the verdict is known.
    pub known: usize,
    /// As expected.
    pub solved: usize,
    /// Of those, valid.
    pub solved_valid: usize,
    /// Of those, invalid.
    pub solved_invalid: usize,
    /// Opposite to the expected answer.
    pub wrong: usize,
    /// Answered without a known verdict.
    pub extra: usize,
    /// Rejected.
    pub unsupported: usize,
    /// Out of time.
    pub timeouts: usize,
    /// Out of memory.
    pub memouts: usize,
    /// Crashed, with or without an answer.
    pub crashes: usize,
    /// Finished without an answer.
    pub gave_up: usize,
    /// Solved by no other tool in the table.
    pub unique: usize,
    /// Mean seconds; unsolved files count as twice the limit.
    pub par2: f64,
    /// Median seconds of solved files.
    pub median_seconds: Option<f64>,
    /// Most seconds of a solved file.
    pub max_seconds: Option<f64>,
    /// Median seconds from start to exit of attempted files.
    pub median_all_seconds: Option<f64>,
    /// Most memory of a job.
    pub peak_mb: Option<f64>,
}

impl Score {
    fn of(expected: Expected, verdict: Verdict, ending: Ending) -> Score {
        let unanswered = match ending {
            Ending::Finished => Score::GaveUp,
            Ending::Rejected => Score::Unsupported,
            Ending::Timeout => Score::Timeout,
            Ending::Memout => Score::Memout,
            Ending::Crashed => Score::Crash,
        };
        match (expected, verdict) {
            (Expected::Error, _) => match ending {
                Ending::Rejected => Score::Solved,
                Ending::Finished => Score::Wrong,
                _ if verdict.is_decided() => Score::Wrong,
                _ => unanswered,
            },
            (_, Verdict::Unknown) => unanswered,
            (Expected::Unknown, _) => Score::Extra,
            (Expected::Valid, Verdict::Valid) | (Expected::Invalid, Verdict::Invalid) => {
                Score::Solved
            }
            (Expected::Valid, Verdict::Invalid) | (Expected::Invalid, Verdict::Valid) => {
                Score::Wrong
            }
        }
    }

    /// The score of the same answer after the time limit: a right answer does not count, a wrong
    /// one stays wrong.
    fn after_time_limit(self) -> Score {
        match self {
            Score::Solved | Score::Extra => Score::Timeout,
            other => other,
        }
    }

    /// A word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Score::Solved => "solved",
            Score::Wrong => "WRONG",
            Score::Extra => "extra",
            Score::Unsupported => "unsupported",
            Score::Timeout => "timeout",
            Score::Memout => "memout",
            Score::Crash => "CRASH",
            Score::NotReported => "not reported",
            Score::GaveUp => "gave up",
        }
    }
}

/// The answer about a property of the manifest among those of a tool: with the same name, or, if it
/// is unique, with the name after a path of node instances or before a position in square brackets,
/// as some tools print. A path of gander (`top.sub#1.p`) is the path of JKind `sub~0.p`.
pub fn answer_for<'a>(property: &str, answers: &'a [PropertyAnswer]) -> Option<&'a PropertyAnswer> {
    if let Some(exact) = answers.iter().find(|a| a.name == property) {
        return Some(exact);
    }
    if let Some(same) = answers.iter().find(|a| jkind_path(&a.name).as_deref() == Some(property)) {
        return Some(same);
    }
    let plain = |name: &str| {
        name.split('[').next() == Some(property) || name.rsplit('.').next() == Some(property)
    };
    let mut close = answers.iter().filter(|a| plain(&a.name));
    close.next().filter(|_| close.next().is_none())
}

/// `top.sub#1.x` as JKind writes it: `sub~0.x`.
fn jkind_path(name: &str) -> Option<String> {
    let (_, path) = name.split_once('.').filter(|(_, path)| path.contains('#'))?;
    let parts = path.split('.').map(|part| match part.rsplit_once('#') {
        Some((node, number)) => {
            Some(format!("{node}~{}", number.parse::<u32>().ok()?.checked_sub(1)?))
        }
        None => Some(part.to_string()),
    });
    Some(parts.collect::<Option<Vec<String>>>()?.join("."))
}

impl Attempt {
    /// Scores one job.
    pub fn of_job(benchmark: &Benchmark, record: &JobRecord) -> Attempt {
        // Success without any property is not an answer about a named property.
        let answers_only_files = record.properties.is_empty() && !record.vacuous;
        let time_limit = record.key.time_limit_ms as f64 / 1000.0;
        let mut rows = Vec::new();
        for row in &benchmark.rows {
            let answer = row.property.as_deref().and_then(|p| answer_for(p, &record.properties));
            let verdict = match (&row.property, answer) {
                (Some(_), Some(a)) => a.verdict,
                (Some(_), None) if answers_only_files => part_of(record.verdict, benchmark),
                (Some(_), None) => Verdict::Unknown,
                (None, _) => record.verdict,
            };
            let mut score = Score::of(row.expected, verdict, record.ending);
            if score == Score::GaveUp && row.property.is_some() && answer.is_none() {
                score = Score::NotReported;
            }
            let seconds = answer.and_then(|a| a.seconds).unwrap_or(record.seconds);
            let printed = if answers_only_files {
                Some(record.seconds)
            } else {
                answer.and_then(|a| a.seconds)
            };
            if printed.is_some_and(|t| t > time_limit) {
                score = score.after_time_limit();
            }
            rows.push(RowResult { verdict, score, seconds, answer: answer.cloned() });
        }
        let has_whole_row = benchmark.rows.iter().any(|r| r.property.is_none());
        let verdict = if has_whole_row || answers_only_files {
            record.verdict
        } else {
            Verdict::of_all(rows.iter().map(|r| r.verdict)).unwrap_or(Verdict::Unknown)
        };
        let mut score = Score::of(benchmark.expected(), verdict, record.ending);
        if time_of_verdict(verdict, record).is_some_and(|t| t > time_limit) {
            score = score.after_time_limit();
        }
        let mut attempt = Attempt {
            verdict,
            score,
            seconds: record.seconds,
            rows,
            record: Some(record.clone()),
            unstable: false,
        };
        attempt.one_wrong_row_spoils_the_file();
        attempt
    }

    /// Scores a recorded answer.
    pub fn of_recorded(
        benchmark: &Benchmark,
        verdict: Verdict,
        seconds: f64,
        time_limit: f64,
    ) -> Attempt {
        let verdict = if seconds > time_limit { Verdict::Unknown } else { verdict };
        // A recorded answer has no reason for giving up.
        let ending = if seconds >= time_limit * 0.95 { Ending::Timeout } else { Ending::Finished };
        let row = |expected, verdict| RowResult {
            verdict,
            score: recorded_score(expected, verdict, ending),
            seconds,
            answer: None,
        };
        let rows = benchmark
            .rows
            .iter()
            .map(|r| {
                row(
                    r.expected,
                    if r.property.is_none() { verdict } else { part_of(verdict, benchmark) },
                )
            })
            .collect();
        let score = recorded_score(benchmark.expected(), verdict, ending);
        let mut attempt = Attempt { verdict, score, seconds, rows, record: None, unstable: false };
        attempt.one_wrong_row_spoils_the_file();
        attempt
    }

    fn one_wrong_row_spoils_the_file(&mut self) {
        if self.rows.iter().any(|r| r.score == Score::Wrong) {
            self.score = Score::Wrong;
        }
    }

    /// Its seconds in the sum of PAR-2.
    pub fn cost(&self, time_limit: f64) -> f64 {
        if self.score == Score::Solved { self.seconds.min(time_limit) } else { 2.0 * time_limit }
    }

    /// The round that counts.
    fn of_rounds(mut rounds: Vec<Attempt>, time_limit: f64) -> Option<Attempt> {
        let says = |v| {
            rounds.iter().any(|a: &Attempt| a.verdict == v || a.rows.iter().any(|r| r.verdict == v))
        };
        let unstable =
            rounds.len() > 1 && says(Verdict::Valid) && says(Verdict::Invalid) && differ(&rounds);
        rounds.sort_by(|a, b| a.cost(time_limit).total_cmp(&b.cost(time_limit)));
        let wrong = rounds.iter().position(|a| a.score == Score::Wrong);
        let middle = wrong.unwrap_or(rounds.len() / 2);
        let mut chosen = (!rounds.is_empty()).then(|| rounds.swap_remove(middle))?;
        chosen.unstable = unstable;
        Some(chosen)
    }
}

/// The time of the verdict on the file, if the tool prints times: that of the first violation, or
/// of the last proof. So a tool may answer in time and still work on other properties at the limit.
fn time_of_verdict(verdict: Verdict, record: &JobRecord) -> Option<f64> {
    if record.properties.is_empty() {
        return Some(record.seconds);
    }
    let times = record.properties.iter().filter(|p| p.verdict == verdict).filter_map(|p| p.seconds);
    match verdict {
        Verdict::Invalid => times.reduce(f64::min),
        Verdict::Valid => times.reduce(f64::max),
        Verdict::Unknown => None,
    }
}

/// The score of a recorded answer. Rejections are not recorded, so a tool without an answer about
/// wrong input is not wrong.
fn recorded_score(expected: Expected, verdict: Verdict, ending: Ending) -> Score {
    match (expected, Score::of(expected, verdict, ending)) {
        (Expected::Error, Score::Wrong) if !verdict.is_decided() => Score::GaveUp,
        (_, score) => score,
    }
}

/// Whether two rounds contradict each other.
fn differ(rounds: &[Attempt]) -> bool {
    let contrary = |a: Verdict, b: Verdict| a.is_decided() && b.is_decided() && a != b;
    let first = &rounds[0];
    rounds.iter().any(|r| {
        rounds.iter().any(|s| contrary(r.verdict, s.verdict))
            || (0..first.rows.len())
                .any(|i| rounds.iter().any(|s| contrary(r.rows[i].verdict, s.rows[i].verdict)))
    })
}

/// The verdict on a named row that follows from the verdict on the file.
fn part_of(whole: Verdict, benchmark: &Benchmark) -> Verdict {
    match whole {
        Verdict::Invalid if benchmark.rows.len() > 1 => Verdict::Unknown,
        other => other,
    }
}

impl Scoreboard {
    /// Scores the contents of a results folder.
    pub fn new(contents: &Contents) -> Scoreboard {
        let request = &contents.request;
        let time_limit = request.time_limit_ms as f64 / 1000.0;
        let (mut contenders, mut attempts) = (Vec::new(), Vec::new());
        for (i, tool) in request.tools.iter().enumerate() {
            contenders.push(Contender {
                label: tool.label.clone(),
                build: tool.build.clone(),
                is_recorded: false,
            });
            let of_file = |b: &Benchmark| {
                let rounds = contents.jobs.get(&(i, b.path.clone()))?;
                Attempt::of_rounds(
                    rounds.iter().map(|r| Attempt::of_job(b, r)).collect(),
                    time_limit,
                )
            };
            attempts.push(request.suite.benchmarks.iter().map(of_file).collect());
        }
        type Answers<'a> = HashMap<&'a str, (Verdict, f64)>;
        let mut recorded: Vec<(&str, Answers<'_>)> = Vec::new();
        for a in &request.recorded {
            let place = recorded.iter().position(|(t, _)| *t == a.tool).unwrap_or_else(|| {
                recorded.push((&a.tool, HashMap::new()));
                recorded.len() - 1
            });
            recorded[place].1.insert(&a.file, (a.verdict, a.seconds));
        }
        for (tool, answers) in recorded {
            contenders.push(Contender {
                label: tool.to_string(),
                build: String::new(),
                is_recorded: true,
            });
            let of_file = |b: &Benchmark| {
                let (verdict, seconds) = answers.get(b.path.as_str())?;
                Some(Attempt::of_recorded(b, *verdict, *seconds, time_limit))
            };
            attempts.push(request.suite.benchmarks.iter().map(of_file).collect());
        }
        Scoreboard { suite: request.suite.clone(), time_limit, contenders, attempts }
    }

    /// The contenders that were run here.
    pub fn live(&self) -> Vec<usize> {
        (0..self.contenders.len()).filter(|c| !self.contenders[*c].is_recorded).collect()
    }

    /// A line for each of the contenders, about these files.
    pub fn summarise_files(&self, contenders: &[usize], files: &[usize]) -> Vec<Summary> {
        let solves = |c: usize, f: usize| {
            self.attempts[c][f].as_ref().is_some_and(|a| a.score == Score::Solved)
        };
        let line = |&c: &usize| {
            let mut tally = Tally::new(self.time_limit);
            for &f in files {
                let Some(a) = &self.attempts[c][f] else { continue };
                let crashed = a.record.as_ref().is_some_and(|r| r.ending == Ending::Crashed);
                let expected = self.suite.benchmarks[f].expected();
                tally.add(expected, a.score, a.seconds, crashed);
                tally.peak(a.record.as_ref().map(|r| r.peak_mb));
                let alone = solves(c, f) && !contenders.iter().any(|&d| d != c && solves(d, f));
                tally.summary.unique += usize::from(alone);
            }
            tally.finish()
        };
        contenders.iter().map(line).collect()
    }

    /// A line for each of the contenders, about the rows of these files.
    pub fn summarise_rows(&self, contenders: &[usize], files: &[usize]) -> Vec<Summary> {
        let solves = |c: usize, f: usize, r: usize| {
            self.attempts[c][f].as_ref().is_some_and(|a| a.rows[r].score == Score::Solved)
        };
        let line = |&c: &usize| {
            let mut tally = Tally::new(self.time_limit);
            for &f in files {
                let Some(a) = &self.attempts[c][f] else { continue };
                let crashed = a.record.as_ref().is_some_and(|r| r.ending == Ending::Crashed);
                for (i, row) in a.rows.iter().enumerate() {
                    tally.add(
                        self.suite.benchmarks[f].rows[i].expected,
                        row.score,
                        row.seconds,
                        crashed,
                    );
                    let alone =
                        solves(c, f, i) && !contenders.iter().any(|&d| d != c && solves(d, f, i));
                    tally.summary.unique += usize::from(alone);
                }
                tally.peak(a.record.as_ref().map(|r| r.peak_mb));
            }
            tally.finish()
        };
        contenders.iter().map(line).collect()
    }
}

struct Tally {
    summary: Summary,
    time_limit: f64,
    solved: Vec<f64>,
    all: Vec<f64>,
    cost: f64,
}

impl Tally {
    fn new(time_limit: f64) -> Tally {
        Tally {
            summary: Summary::default(),
            time_limit,
            solved: Vec::new(),
            all: Vec::new(),
            cost: 0.0,
        }
    }

    fn add(&mut self, expected: Expected, score: Score, seconds: f64, crashed: bool) {
        let s = &mut self.summary;
        s.total += 1;
        s.crashes += usize::from(crashed);
        self.all.push(seconds);
        if expected != Expected::Unknown {
            s.known += 1;
            self.cost += if score == Score::Solved {
                seconds.min(self.time_limit)
            } else {
                2.0 * self.time_limit
            };
        }
        match score {
            Score::Solved => {
                s.solved += 1;
                s.solved_valid += usize::from(expected == Expected::Valid);
                s.solved_invalid += usize::from(expected == Expected::Invalid);
                self.solved.push(seconds);
            }
            Score::Wrong => s.wrong += 1,
            Score::Extra => s.extra += 1,
            Score::Unsupported => s.unsupported += 1,
            Score::Timeout => s.timeouts += 1,
            Score::Memout => s.memouts += 1,
            Score::Crash => {}
            Score::NotReported | Score::GaveUp => s.gave_up += 1,
        }
    }

    fn peak(&mut self, mb: Option<f64>) {
        if let Some(mb) = mb {
            self.summary.peak_mb = Some(self.summary.peak_mb.map_or(mb, |old| old.max(mb)));
        }
    }

    fn finish(mut self) -> Summary {
        self.summary.par2 =
            if self.summary.known == 0 { 0.0 } else { self.cost / self.summary.known as f64 };
        self.summary.max_seconds = self.solved.iter().copied().reduce(f64::max);
        self.summary.median_seconds = median(&mut self.solved);
        self.summary.median_all_seconds = median(&mut self.all);
        self.summary
    }
}

/// The median; of an even number the mean of the two in the middle.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { None } else { Some((values[(n - 1) / 2] + values[n / 2]) / 2.0) }
}

#[cfg(test)]
mod tests;
