//! A tool's place in a race: what it may ask, run and answer, and what becomes of its answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{Certified, CheckLimits, Panel, Rejection, Trust};
use gander_runtime::Cancellation;
use gander_smt::{Records, Solvers};
use gander_system::{ClaimId, System, Verdict};

use crate::child::{self, Job};
use crate::evidence::{Candidate, verdict};
use crate::find::Entrant;
use crate::folder::Folder;
use crate::rebuild::Rebuilder;
use crate::tool::{Call, Ending, Memory, Said, Says, Stop};

/// Answers that came in time are looked at for this much longer, all together.
const GRACE: Duration = Duration::from_millis(200);

/// What a race is about.
#[derive(Clone, Debug)]
pub struct RaceConfig {
    /// The claims to decide.
    pub claims: Vec<ClaimId>,
    /// The solvers that check evidence.
    pub solvers: Arc<Solvers>,
    /// When it is over.
    pub deadline: Option<Instant>,
    /// Bytes of memory that a program may use.
    pub memory: Option<u64>,
    /// The solver that has to accept evidence too.
    pub second_opinion: Option<String>,
    /// What verdicts have to rest on.
    pub trust: Trust,
    /// The folder that conversations with solvers are recorded in.
    pub log_smt: Option<PathBuf>,
    /// Ends it.
    pub cancellation: Cancellation,
}

/// What became of an answer.
#[derive(Clone, Debug)]
pub enum Standing {
    /// Its evidence was accepted: this is the verdict, and what it rests on.
    Checked(Box<Verdict>, Certified),
    /// It is only claimed; why.
    Claimed(String),
}

/// An answer of a tool.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The claim.
    pub claim: ClaimId,
    /// What the tool says.
    pub says: Says,
    /// Time from the beginning of the race.
    pub elapsed: Duration,
    /// What became of it.
    pub standing: Standing,
}

/// What a tool did.
#[derive(Clone, Debug)]
pub struct Account {
    /// The tool.
    pub tool: String,
    /// Its answers.
    pub answers: Vec<Answered>,
    /// How it ended, in words.
    pub ending: String,
    /// How long it took.
    pub elapsed: Duration,
}

/// See the module's documentation.
pub struct Seat<'a> {
    /// The system.
    pub system: &'a Arc<System>,
    entrant: &'a Entrant,
    config: &'a RaceConfig,
    is_open: &'a (dyn Fn(ClaimId) -> bool + Sync),
    tell: &'a (dyn Fn(&Answered) + Sync),
    begin: Instant,
    panel: Panel,
    answers: Vec<Answered>,
}

/// Lets a tool take part until it has nothing more to say. `is_open` says whether a claim still wants an answer; `tell`
/// is told of each as it comes.
pub fn enter(
    entrant: &Entrant,
    system: &Arc<System>,
    config: &RaceConfig,
    is_open: &(dyn Fn(ClaimId) -> bool + Sync),
    tell: &(dyn Fn(&Answered) + Sync),
) -> Account {
    let begin = Instant::now();
    let mut panel = Panel::new(&config.solvers, CheckLimits::default(), config.second_opinion.as_deref());
    panel.set_cancellation(&config.cancellation);
    if let Some(folder) = &config.log_smt {
        panel.record(Records::new(folder.clone()));
    }
    let mut seat = Seat { system, entrant, config, is_open, tell, begin, panel, answers: Vec::new() };
    let ending = match entrant.tool.play(&mut seat) {
        Ok(()) => "finished".to_string(),
        Err(Stop::NotNeeded) => "stopped, as it was not needed any more".to_string(),
        Err(Stop::OutOfTime) => "stopped by the time limit".to_string(),
        Err(Stop::Cannot(why)) => why,
    };
    Account { tool: entrant.tool.name().to_string(), answers: seat.answers, ending, elapsed: begin.elapsed() }
}

impl Seat<'_> {
    /// The claims that still want an answer from this tool.
    pub fn open(&self) -> Vec<ClaimId> {
        let answered = |c: &ClaimId| self.answers.iter().any(|a| a.claim == *c);
        self.config.claims.iter().copied().filter(|c| (self.is_open)(*c) && !answered(c)).collect()
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.entrant.program
    }

    /// The time that is left.
    pub fn time_left(&self) -> Option<Duration> {
        self.config.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }

    /// The time that is left in whole seconds, for tools that want to be told; at least one.
    pub fn seconds_left(&self) -> Option<u64> {
        self.time_left().map(|t| t.as_secs_f64().ceil().max(1.0) as u64)
    }

    /// Megabytes of memory that the program may use.
    pub fn memory_mb(&self) -> Option<u64> {
        self.config.memory.map(|bytes| (bytes >> 20).max(1))
    }

    /// Runs the program in a folder of its own. Output of a program that was ended is there as far as it came, unless
    /// it was a flood.
    pub fn run(&mut self, call: &Call) -> Result<Said, Stop> {
        if self.config.cancellation.is_cancelled() {
            return Err(Stop::NotNeeded);
        }
        let cannot = |e: std::io::Error| Stop::Cannot(format!("it could not be started: {e}"));
        let folder = Folder::new(self.entrant.tool.name()).map_err(cannot)?;
        for (name, text) in &call.files {
            std::fs::write(folder.path().join(name), text).map_err(cannot)?;
        }
        let own = call.most.and_then(|most| Instant::now().checked_add(most));
        let memory = match self.entrant.tool.memory() {
            Memory::AddressSpace => self.config.memory,
            Memory::Own => None,
        };
        let said = child::run(&Job {
            program: &self.entrant.program,
            arguments: &call.arguments,
            environment: &call.environment,
            folder: folder.path(),
            deadline: [own, self.config.deadline].into_iter().flatten().min(),
            memory,
            cancellation: &self.config.cancellation,
        })
        .map_err(cannot)?;
        match said.ending {
            Ending::Flood => Err(Stop::Cannot("it wrote too much and was stopped".to_string())),
            _ => Ok(said),
        }
    }

    /// What to stop with after output that is no answer.
    pub fn no_answer(&self, said: &Said) -> Stop {
        match said.ending {
            Ending::Stopped => Stop::NotNeeded,
            Ending::OutOfTime => Stop::OutOfTime,
            Ending::Exited | Ending::Flood => Stop::Cannot(said.complaint()),
        }
    }

    /// When looking at evidence has to be over: what was said in time gets a short look.
    fn end(&self) -> Option<Instant> {
        self.config.deadline.and_then(|deadline| deadline.checked_add(GRACE))
    }

    /// Takes an answer: its evidence is checked, the first that is accepted counts. Only the first answer to a claim is heard.
    pub fn answer(&mut self, claim: ClaimId, says: Says, evidence: &[Candidate]) {
        if !self.config.claims.contains(&claim) || self.answers.iter().any(|a| a.claim == claim) {
            return;
        }
        let standing = self.judge(claim, says, evidence);
        let answered = Answered { claim, says, elapsed: self.begin.elapsed(), standing };
        (self.tell)(&answered);
        self.answers.push(answered);
    }

    fn judge(&mut self, claim: ClaimId, says: Says, evidence: &[Candidate]) -> Standing {
        let kind = &self.system.claims[claim.index()].kind;
        let mut why = "it gives no evidence".to_string();
        let config = self.config;
        let mut rebuilder = Rebuilder::new(self.system, &config.solvers, &config.cancellation, self.end());
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
                Err(Rejection::Wrong(reason)) => why = format!("its evidence is wrong: {reason}"),
                Err(Rejection::Undecided(reason)) => why = format!("its evidence could not be checked: {reason}"),
            }
        }
        Standing::Claimed(why)
    }

    /// Has a verdict checked, twice if a second opinion is wanted.
    fn certify(&mut self, claim: ClaimId, verdict: &Verdict) -> Result<Certified, Rejection> {
        let left = self.end().map(|end| end.saturating_duration_since(Instant::now()));
        let limits =
            CheckLimits { total: left, memory: self.config.memory, trust: self.config.trust, ..CheckLimits::default() };
        self.panel.check(self.system, limits, Some(self.entrant.tool.name()), claim, verdict)
    }
}
