//! The context of an adapter: the open claims, running its program, and checking its answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{Certified, CheckLimits, Panel, Rejection, Trust};
use gander_process::{Batch, Capture, Ending, Environment, Excess, Finished, MemoryLimit};
use gander_runtime::Cancellation;
use gander_smt::{Records, Solvers};
use gander_system::{ClaimId, System, Verdict};

use crate::evidence::{Candidate, verdict};
use crate::find::FoundTool;
use crate::folder::Folder;
use crate::rebuild::Rebuilder;
use crate::tool::{Call, Memory, Says, Stop, complaint};

/// Additional time, after the deadline, for checking the evidence of answers that came in time.
const GRACE: Duration = Duration::from_millis(200);

/// Bytes that a program may write to its standard output.
const MAX_OUTPUT: usize = 64 << 20;

/// Bytes of a program's error output that are kept for messages.
const KEPT_ERRORS: usize = 16 << 10;

/// How tools are run on a system.
#[derive(Clone, Debug)]
pub struct RaceConfig {
    /// The claims to decide.
    pub claims: Vec<ClaimId>,
    /// The solvers that check evidence.
    pub solvers: Arc<Solvers>,
    /// Tools are stopped at this time.
    pub deadline: Option<Instant>,
    /// Bytes of memory that a program may use.
    pub memory: Option<u64>,
    /// A second solver that has to accept evidence.
    pub second_opinion: Option<String>,
    /// What verdicts must be based on.
    pub trust: Trust,
    /// The folder for logs of solver sessions.
    pub log_smt: Option<PathBuf>,
    /// Stops the tools when it is cancelled.
    pub cancellation: Cancellation,
}

/// The status of an answer.
#[derive(Clone, Debug)]
pub enum Standing {
    /// Its evidence was accepted: the verdict, and what it is based on.
    Checked(Box<Verdict>, Certified),
    /// It is only claimed, for this reason.
    Claimed(String),
}

/// An answer of a tool.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The claim.
    pub claim: ClaimId,
    /// The answer.
    pub says: Says,
    /// Time from the start of the tool.
    pub elapsed: Duration,
    /// Whether its evidence was accepted.
    pub standing: Standing,
}

/// The answers of a tool, and how it ended.
#[derive(Clone, Debug)]
pub struct ToolReport {
    /// The tool.
    pub tool: String,
    /// Its answers.
    pub answers: Vec<Answered>,
    /// How it ended, for reports.
    pub ending: String,
    /// How long it took.
    pub elapsed: Duration,
}

/// See the module's documentation.
pub struct ToolContext<'a> {
    /// The system.
    pub system: &'a Arc<System>,
    found: &'a FoundTool,
    config: &'a RaceConfig,
    is_open: &'a (dyn Fn(ClaimId) -> bool + Sync),
    tell: &'a (dyn Fn(&Answered) + Sync),
    begin: Instant,
    panel: Panel,
    answers: Vec<Answered>,
}

/// Runs a tool until it has no more answers. `is_open` says whether a claim still needs an answer;
/// `tell` is called with each answer.
pub fn run_tool(
    found: &FoundTool,
    system: &Arc<System>,
    config: &RaceConfig,
    is_open: &(dyn Fn(ClaimId) -> bool + Sync),
    tell: &(dyn Fn(&Answered) + Sync),
) -> ToolReport {
    let begin = Instant::now();
    let mut panel =
        Panel::new(&config.solvers, CheckLimits::default(), config.second_opinion.as_deref());
    panel.set_cancellation(&config.cancellation);
    if let Some(folder) = &config.log_smt {
        panel.record(Records::new(folder.clone()));
    }
    let mut context =
        ToolContext { system, found, config, is_open, tell, begin, panel, answers: Vec::new() };
    let ending = match found.tool.check(&mut context) {
        Ok(()) => "finished".to_string(),
        Err(Stop::NotNeeded) => "stopped, as it was not needed any more".to_string(),
        Err(Stop::OutOfTime) => "stopped by the time limit".to_string(),
        Err(Stop::Cannot(why)) => why,
    };
    ToolReport {
        tool: found.tool.name().to_string(),
        answers: context.answers,
        ending,
        elapsed: begin.elapsed(),
    }
}

impl ToolContext<'_> {
    /// The open claims that this tool has not answered.
    pub fn open(&self) -> Vec<ClaimId> {
        let answered = |c: &ClaimId| self.answers.iter().any(|a| a.claim == *c);
        self.config.claims.iter().copied().filter(|c| (self.is_open)(*c) && !answered(c)).collect()
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.found.program
    }

    /// The time until the deadline.
    pub fn time_left(&self) -> Option<Duration> {
        self.config.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }

    /// The time until the deadline in whole seconds, at least one, for options of tools.
    pub fn seconds_left(&self) -> Option<u64> {
        self.time_left().map(|t| t.as_secs_f64().ceil().max(1.0) as u64)
    }

    /// Megabytes of memory that the program may use.
    pub fn memory_mb(&self) -> Option<u64> {
        self.config.memory.map(|bytes| (bytes >> 20).max(1))
    }

    /// Runs the program in its own scratch folder. The output of a program that was stopped is
    /// incomplete; too much output is an error.
    pub fn run(&mut self, call: &Call) -> Result<Finished, Stop> {
        if self.config.cancellation.is_cancelled() {
            return Err(Stop::NotNeeded);
        }
        let cannot = |e: std::io::Error| Stop::Cannot(format!("it could not be started: {e}"));
        let folder = Folder::new(self.found.tool.name()).map_err(cannot)?;
        for (name, text) in &call.files {
            std::fs::write(folder.path().join(name), text).map_err(cannot)?;
        }
        let own = call.most.and_then(|most| Instant::now().checked_add(most));
        let memory = match (self.found.tool.memory(), self.config.memory) {
            (Memory::AddressSpace, Some(bytes)) => MemoryLimit::AddressSpace(bytes),
            (Memory::AddressSpace, None) | (Memory::Own, _) => MemoryLimit::Shared,
        };
        let variables = call.environment.iter().map(|(k, v)| (k.into(), v.into())).collect();
        let batch = Batch {
            arguments: call.arguments.iter().map(Into::into).collect(),
            environment: Environment { is_inherited: true, variables },
            folder: Some(folder.path().to_path_buf()),
            deadline: [own, self.config.deadline].into_iter().flatten().min(),
            cancellation: self.config.cancellation.clone(),
            memory,
            stdout: Capture { bytes: MAX_OUTPUT, excess: Excess::Stop },
            stderr: Capture { bytes: KEPT_ERRORS, excess: Excess::KeepFirst },
            ..Batch::new(&self.found.program)
        };
        let said = batch.run().map_err(cannot)?;
        match said.ending {
            Ending::Flood => Err(Stop::Cannot("it wrote too much and was stopped".to_string())),
            _ => Ok(said),
        }
    }

    /// Why the adapter stops after output that is not an answer.
    pub fn no_answer(&self, said: &Finished) -> Stop {
        match said.ending {
            Ending::Cancelled => Stop::NotNeeded,
            Ending::Deadline => Stop::OutOfTime,
            Ending::Exited | Ending::Memory | Ending::Flood => Stop::Cannot(complaint(said)),
        }
    }

    /// The deadline for checking evidence.
    fn end(&self) -> Option<Instant> {
        self.config.deadline.and_then(|deadline| deadline.checked_add(GRACE))
    }

    /// Records an answer. Evidence is checked in order until one is accepted. Only the first answer
    /// to a claim counts.
    pub fn answer(&mut self, claim: ClaimId, says: Says, evidence: &[Candidate]) {
        if !self.config.claims.contains(&claim) || self.answers.iter().any(|a| a.claim == claim) {
            return;
        }
        let standing = self.check_evidence(claim, says, evidence);
        let answered = Answered { claim, says, elapsed: self.begin.elapsed(), standing };
        (self.tell)(&answered);
        self.answers.push(answered);
    }

    fn check_evidence(&mut self, claim: ClaimId, says: Says, evidence: &[Candidate]) -> Standing {
        let kind = &self.system.claims()[claim.index()].kind;
        let mut why = "it gives no evidence".to_string();
        let config = self.config;
        let mut rebuilder =
            Rebuilder::new(self.system, &config.solvers, &config.cancellation, self.end());
        for candidate in evidence {
            let verdict = match verdict(self.system, kind, says, candidate, &mut rebuilder) {
                Ok(verdict) => verdict,
                Err(reason) => {
                    why = reason;
                    continue;
                }
            };
            match self.certify(claim, &verdict) {
                Ok(certified) => return Standing::Checked(Box::new(verdict), certified),
                Err(rejection) => why = rejected(candidate, &rejection),
            }
        }
        Standing::Claimed(why)
    }

    /// Has a verdict checked, by two solvers if a second opinion is configured.
    fn certify(&mut self, claim: ClaimId, verdict: &Verdict) -> Result<Certified, Rejection> {
        let left = self.end().map(|end| end.saturating_duration_since(Instant::now()));
        let limits = CheckLimits {
            total: left,
            memory: self.config.memory,
            trust: self.config.trust,
            ..CheckLimits::default()
        };
        self.panel.check(self.system, limits, Some(self.found.tool.name()), claim, verdict)
    }
}

/// Why a candidate is no evidence. That a claim is k-inductive, or that a number of states is
/// closed, is our conjecture from the tool's answer: if it is wrong, the tool is not.
fn rejected(candidate: &Candidate, rejection: &Rejection) -> String {
    match (candidate, rejection) {
        (Candidate::Trace(_) | Candidate::Invariant(_), Rejection::Wrong(reason)) => {
            format!("its evidence is wrong: {reason}")
        }
        (Candidate::Trace(_) | Candidate::Invariant(_), Rejection::Undecided(reason)) => {
            format!("its evidence could not be checked: {reason}")
        }
        (Candidate::Inductive { k }, Rejection::Wrong(_)) => {
            format!("it gives no evidence, and the claim is not {k}-inductive by itself")
        }
        (Candidate::States(_), Rejection::Wrong(_)) => {
            "it gives no evidence, and its number of states did not help to find some".to_string()
        }
        (Candidate::Inductive { .. } | Candidate::States(_), Rejection::Undecided(reason)) => {
            format!("it gives no evidence, and none was found: {reason}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_without_evidence_is_not_said_to_have_wrong_evidence() {
        let wrong = Rejection::Wrong("a step leaves it".to_string());
        let text = rejected(&Candidate::Inductive { k: 2 }, &wrong);
        assert_eq!(text, "it gives no evidence, and the claim is not 2-inductive by itself");
        let text = rejected(&Candidate::States(7), &wrong);
        assert!(text.starts_with("it gives no evidence"), "{text}");
        let open = Rejection::Undecided("out of time".to_string());
        let text = rejected(&Candidate::States(7), &open);
        assert_eq!(text, "it gives no evidence, and none was found: out of time");
    }
}
