//! Readers turn the output of a tool into answers, messages and an ending.
//!
//! The parsers for output of other tools are in `gander-tool-output`. Unknown text gives no
//! verdict. Output may be incomplete, because jobs are killed; answers before the cut count.

mod gander;
mod horn;
mod jkind;
mod kind2;
mod text;

use gander_process as process;
use gander_process::Finished;
use gander_tool_output::lustre::{self, Property};
use serde::{Deserialize, Serialize};

use crate::results::record::{Diagnostic, Ending, JobKey, JobRecord, PropertyAnswer};
use crate::verdict::Verdict;

/// The form of a tool's output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// `gander check --json`.
    Gander,
    /// `kind2 -json`.
    Kind2,
    /// `jkind -xml_to_stdout`, or its text.
    Jkind,
    /// `sat` and `unsat` of a solver of Horn clauses.
    Horn,
    /// NuSMV and nuXmv.
    Nusmv,
    /// `mikino check`.
    Mikino,
}

/// The output of a process, and its input.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// The exit code, unless it ended by a signal.
    pub exit: Option<i32>,
    /// Standard output.
    pub stdout: &'a str,
    /// Standard error.
    pub stderr: &'a str,
    /// The text of the file that it was given.
    pub source: &'a str,
}

/// The result of reading.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reading {
    /// The answer about the file as a whole, if the tool gives one; otherwise it follows from the
    /// properties.
    pub whole: Option<Verdict>,
    /// Answers about properties.
    pub properties: Vec<PropertyAnswer>,
    /// The tool does not accept the input.
    pub rejected: Option<Diagnostic>,
    /// The tool reports an internal error.
    pub internal_error: bool,
    /// The tool reports that it ran out of memory.
    pub out_of_memory: bool,
    /// The tool reports success and no property.
    pub vacuous: bool,
}

impl Reader {
    /// Reads output.
    pub fn read(self, output: &Output<'_>) -> Reading {
        match self {
            Reader::Gander => gander::read(output),
            Reader::Kind2 => kind2::read(output),
            Reader::Jkind => jkind::read(output),
            Reader::Horn => horn::read(output),
            Reader::Nusmv => text::read_nusmv(output),
            Reader::Mikino => text::read_mikino(output),
        }
    }
}

impl Reading {
    /// The answer about the file as a whole.
    pub fn verdict(&self) -> Verdict {
        let parts = || Verdict::of_all(self.properties.iter().map(|p| p.verdict));
        self.whole.or_else(parts).unwrap_or(Verdict::Unknown)
    }

    /// The record of the job.
    pub fn into_record(self, key: JobKey, finish: &Finished) -> JobRecord {
        let ending = self.ending(finish, key.time_limit_ms as f64 / 1000.0);
        let last_words = (ending == Ending::Crashed).then(|| tail(&finish.stderr, &finish.stdout));
        JobRecord {
            ending,
            exit: finish.exit,
            signal: finish.signal,
            seconds: rounded(finish.elapsed.as_secs_f64()),
            cpu_seconds: rounded(finish.cpu_time.as_secs_f64()),
            peak_mb: rounded(finish.peak_memory as f64 / (1 << 20) as f64),
            verdict: self.verdict(),
            vacuous: self.vacuous,
            properties: self.properties,
            diagnostic: self.rejected,
            last_words,
            key,
        }
    }

    fn ending(&self, finish: &Finished, time_limit: f64) -> Ending {
        match finish.ending {
            process::Ending::Memory => return Ending::Memout,
            process::Ending::Deadline | process::Ending::Cancelled => return Ending::Timeout,
            process::Ending::Exited | process::Ending::Flood => {}
        }
        if self.out_of_memory {
            Ending::Memout
        } else if finish.signal.is_some()
            || self.internal_error
            || matches!(finish.exit, Some(101 | 126 | 127))
        {
            Ending::Crashed
        } else if self.rejected.is_some() {
            Ending::Rejected
        } else if !self.verdict().is_decided() && finish.elapsed.as_secs_f64() >= time_limit * 0.95
        {
            Ending::Timeout
        } else {
            Ending::Finished
        }
    }
}

/// Rounds to three decimals.
fn rounded(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

fn tail(stderr: &str, stdout: &str) -> String {
    let text = if stderr.trim().is_empty() { stdout.trim() } else { stderr.trim() };
    let skip = text.chars().count().saturating_sub(1000);
    text.chars().skip(skip).collect()
}

/// An answer without details.
fn answer(name: &str, verdict: Verdict) -> PropertyAnswer {
    PropertyAnswer {
        name: name.into(),
        verdict,
        engine: None,
        seconds: None,
        explored_through: None,
        claimed: None,
        why: Vec::new(),
    }
}

/// An answer about a property of a Lustre program.
fn property_answer(property: Property) -> PropertyAnswer {
    let verdict = match property.answer {
        lustre::Answer::Valid | lustre::Answer::Reachable => Verdict::Valid,
        lustre::Answer::Falsifiable | lustre::Answer::Unreachable => Verdict::Invalid,
        lustre::Answer::Unknown => Verdict::Unknown,
    };
    PropertyAnswer {
        engine: property.engine,
        seconds: property.seconds,
        ..answer(&property.name, verdict)
    }
}

/// Adds an answer. The first answer that decides a property stays.
fn add(answers: &mut Vec<PropertyAnswer>, new: PropertyAnswer) {
    match answers.iter_mut().find(|a| a.name == new.name) {
        Some(old) if old.verdict.is_decided() => {}
        Some(old) => *old = new,
        None => answers.push(new),
    }
}

/// A message without a code: the first line that contains one of the marks.
fn first_message(text: &str, marks: &[&str]) -> Option<Diagnostic> {
    let line = text.lines().map(str::trim).find(|l| marks.iter().any(|m| l.contains(m)))?;
    Some(Diagnostic { code: "error".into(), message: line.chars().take(300).collect(), line: None })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use process::Ending::{Deadline, Exited, Memory};

    use super::*;

    fn finished(
        exit: Option<i32>,
        signal: Option<i32>,
        ending: process::Ending,
        seconds: f64,
    ) -> Finished {
        Finished {
            ending,
            exit,
            signal,
            stdout: String::new(),
            stderr: String::new(),
            elapsed: Duration::from_secs_f64(seconds),
            cpu_time: Duration::ZERO,
            peak_memory: 0,
        }
    }

    #[test]
    fn the_ending_is_decided_by_status_limits_and_answers() {
        let nothing = Reading::default();
        let decided = Reading { whole: Some(Verdict::Valid), ..Reading::default() };
        let message = Diagnostic { code: "E1".into(), message: "no".into(), line: None };
        let rejected = Reading { rejected: Some(message), ..Reading::default() };
        assert_eq!(nothing.ending(&finished(Some(0), None, Exited, 1.0), 10.0), Ending::Finished);
        assert_eq!(nothing.ending(&finished(Some(0), None, Exited, 10.0), 10.0), Ending::Timeout);
        assert_eq!(decided.ending(&finished(Some(0), None, Exited, 9.9), 10.0), Ending::Finished);
        assert_eq!(nothing.ending(&finished(None, Some(9), Memory, 1.0), 10.0), Ending::Memout);
        assert_eq!(decided.ending(&finished(None, Some(9), Deadline, 10.0), 10.0), Ending::Timeout);
        assert_eq!(nothing.ending(&finished(None, Some(11), Exited, 1.0), 10.0), Ending::Crashed);
        assert_eq!(nothing.ending(&finished(Some(101), None, Exited, 1.0), 10.0), Ending::Crashed);
        assert_eq!(rejected.ending(&finished(Some(2), None, Exited, 1.0), 10.0), Ending::Rejected);
    }

    #[test]
    fn the_first_decision_about_a_property_stays() {
        let mut all = Vec::new();
        add(&mut all, answer("p", Verdict::Unknown));
        add(&mut all, answer("p", Verdict::Invalid));
        add(&mut all, answer("p", Verdict::Unknown));
        assert_eq!(all, [answer("p", Verdict::Invalid)]);
    }
}
