//! What ran in a check, why, and what it contributed.

use std::time::Duration;

use crate::portfolio::Part;

/// Which engines ran in a check, for `--stats` and the JSON report.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// The profile of the model, in words.
    pub model: String,
    /// The plan that was used; empty if the engines were named, or if none was needed.
    pub plan: String,
    /// What the plan is made for.
    pub about: String,
    /// What each engine did, in the order of the portfolio.
    pub engines: Vec<EngineAccount>,
}

/// What an engine did.
#[derive(Clone, Debug)]
pub struct EngineAccount {
    /// Which one.
    pub engine: String,
    /// Its part in the plan.
    pub part: Part,
    /// How many of the claims it can decide.
    pub claims: usize,
    /// When it had its first turn.
    pub began: Option<Duration>,
    /// How many turns it had.
    pub turns: u64,
    /// Their total duration.
    pub used: Duration,
    /// How many claims were settled by its answers.
    pub settled: usize,
    /// How many facts it published.
    pub facts: u64,
    /// How its work ended.
    pub ending: EngineEnding,
}

/// How an engine's work ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineEnding {
    /// It never had a turn.
    NotNeeded,
    /// The check ended first.
    Stopped,
    /// It had nothing more to do.
    Finished,
    /// It panicked.
    Broke,
}

impl EngineEnding {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            EngineEnding::NotNeeded => "not needed",
            EngineEnding::Stopped => "stopped",
            EngineEnding::Finished => "finished",
            EngineEnding::Broke => "broke",
        }
    }
}

impl Schedule {
    /// Adds the work of a later phase.
    pub(crate) fn add(&mut self, later: Schedule) {
        if self.plan.is_empty() {
            (self.model, self.plan, self.about) = (later.model, later.plan, later.about);
        }
        for account in later.engines {
            match self.engines.iter_mut().find(|a| a.engine == account.engine) {
                Some(earlier) => {
                    earlier.claims += account.claims;
                    earlier.began = earlier.began.or(account.began);
                    earlier.turns += account.turns;
                    earlier.used += account.used;
                    earlier.settled += account.settled;
                    earlier.facts += account.facts;
                    earlier.ending = account.ending;
                }
                None => self.engines.push(account),
            }
        }
    }
}
