//! Readers turn what a tool printed into answers.
//!
//! A reader recognises answers and says nothing else: text that it does not know gives no verdict. It must stand output
//! that was cut short, because jobs are killed, and keep the answers before the cut.

mod gander;
mod horn;
mod jkind;
mod kind2;
mod text;

use serde::{Deserialize, Serialize};

use crate::process::{Finish, Stopped};
use crate::record::{Diagnostic, Ending, JobKey, JobRecord, PropertyAnswer};
use crate::verdict::Verdict;

/// Who reads the output of a tool.
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

/// What a process left behind, and what it was given.
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

/// What a reader recognised.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reading {
    /// The answer about the file as a whole, if the tool gives one of its own; otherwise it follows from the properties.
    pub whole: Option<Verdict>,
    /// Answers about properties.
    pub properties: Vec<PropertyAnswer>,
    /// The tool does not take the input.
    pub rejected: Option<Diagnostic>,
    /// The tool reports a mistake of its own.
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

    /// What to keep of the job.
    pub fn into_record(self, key: JobKey, finish: &Finish) -> JobRecord {
        let ending = self.ending(finish, key.time_limit_ms as f64 / 1000.0);
        let last_words = (ending == Ending::Crashed).then(|| tail(&finish.stderr, &finish.stdout));
        JobRecord {
            ending,
            exit: finish.exit,
            signal: finish.signal,
            seconds: rounded(finish.seconds),
            cpu_seconds: rounded(finish.cpu_seconds),
            peak_mb: rounded(finish.peak_mb),
            verdict: self.verdict(),
            vacuous: self.vacuous,
            properties: self.properties,
            diagnostic: self.rejected,
            last_words,
            key,
        }
    }

    fn ending(&self, finish: &Finish, time_limit: f64) -> Ending {
        match finish.stopped {
            Some(Stopped::Memory) => return Ending::Memout,
            Some(Stopped::Time | Stopped::Interrupt) => return Ending::Timeout,
            None => {}
        }
        if self.out_of_memory {
            Ending::Memout
        } else if finish.signal.is_some() || self.internal_error || matches!(finish.exit, Some(101 | 126 | 127)) {
            Ending::Crashed
        } else if self.rejected.is_some() {
            Ending::Rejected
        } else if !self.verdict().is_decided() && finish.seconds >= time_limit * 0.95 {
            Ending::Timeout
        } else {
            Ending::Finished
        }
    }
}

/// Three decimals are more than the clock deserves.
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

/// Adds an answer; of two about one property the one that decides stays.
fn add(answers: &mut Vec<PropertyAnswer>, new: PropertyAnswer) {
    match answers.iter_mut().find(|a| a.name == new.name) {
        Some(old) if old.verdict.is_decided() => {}
        Some(old) => *old = new,
        None => answers.push(new),
    }
}

/// A message without a code: the first line of the text that has one of the marks.
fn first_message(text: &str, marks: &[&str]) -> Option<Diagnostic> {
    let line = text.lines().map(str::trim).find(|l| marks.iter().any(|m| l.contains(m)))?;
    Some(Diagnostic { code: "error".into(), message: line.chars().take(300).collect(), line: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(exit: Option<i32>, signal: Option<i32>, stopped: Option<Stopped>, seconds: f64) -> Finish {
        Finish {
            exit,
            signal,
            stopped,
            seconds,
            cpu_seconds: 0.0,
            peak_mb: 0.0,
            stdout: String::new(),
            stderr: String::new(),
        }
    }

    #[test]
    fn endings() {
        let nothing = Reading::default();
        let decided = Reading { whole: Some(Verdict::Valid), ..Reading::default() };
        let message = Diagnostic { code: "E1".into(), message: "no".into(), line: None };
        let rejected = Reading { rejected: Some(message), ..Reading::default() };
        assert_eq!(nothing.ending(&finish(Some(0), None, None, 1.0), 10.0), Ending::Finished);
        assert_eq!(nothing.ending(&finish(Some(0), None, None, 10.0), 10.0), Ending::Timeout);
        assert_eq!(decided.ending(&finish(Some(0), None, None, 9.9), 10.0), Ending::Finished);
        assert_eq!(nothing.ending(&finish(None, Some(9), Some(Stopped::Memory), 1.0), 10.0), Ending::Memout);
        assert_eq!(decided.ending(&finish(None, Some(9), Some(Stopped::Time), 10.0), 10.0), Ending::Timeout);
        assert_eq!(nothing.ending(&finish(None, Some(11), None, 1.0), 10.0), Ending::Crashed);
        assert_eq!(nothing.ending(&finish(Some(101), None, None, 1.0), 10.0), Ending::Crashed);
        assert_eq!(rejected.ending(&finish(Some(2), None, None, 1.0), 10.0), Ending::Rejected);
    }

    #[test]
    fn the_later_decision_wins_over_silence_only() {
        let mut all = Vec::new();
        add(&mut all, answer("p", Verdict::Unknown));
        add(&mut all, answer("p", Verdict::Invalid));
        add(&mut all, answer("p", Verdict::Unknown));
        assert_eq!(all, [answer("p", Verdict::Invalid)]);
    }
}
