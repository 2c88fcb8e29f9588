//! The report at the end of a check: the last answers are settled, and each undecided claim gets
//! the obstacles of the engines that could decide it.

use std::time::Instant;

use gander_certify::Basis;
use gander_process::memory::usual_limit;
use gander_system::{ClaimId, Obstacle, System, Verdict};

use super::limits::LIMITS;
use super::short_runs::ShorteningEffort;
use super::worker_pool::WorkerPool;
use super::{Director, Ending};
use crate::core::{CheckConfig, CheckReport, EngineInfo, Message, Outcome};
use crate::engines::engines as all_engines;

impl Director<'_> {
    /// Makes the report, with the obstacles of the engines for undecided claims.
    pub(super) fn report(&mut self, ending: Ending) -> CheckReport {
        self.is_ending = true;
        // Answers that still wait for shorter runs, and late messages.
        let late: Vec<Message> = self.messages.try_iter().collect();
        for message in late {
            if let Message::Proposal(p) = message {
                self.ready.push(*p);
            }
        }
        if ending != Ending::Settled {
            self.certifier.begin_grace_period(ending);
            self.effort = if ending == Ending::Cancelled {
                ShorteningEffort::Skip
            } else {
                ShorteningEffort::Quick
            };
            self.ready.extend(std::mem::take(&mut self.deferred).into_iter().map(|(_, p)| p));
            self.release_waiting(|_| true);
            while self.transfer_some() {}
        }
        let elapsed = self.started.elapsed();
        let [cancelled, limited, ended] = LIMITS.last_obstacles;
        let asked_until = Instant::now()
            + match ending {
                Ending::Cancelled => cancelled,
                Ending::OutOfTime | Ending::OutOfMemory => limited,
                Ending::Settled | Ending::Exhausted => ended,
            };
        let mut outcomes = Vec::with_capacity(self.outcomes.len());
        for (at, outcome) in self.outcomes.iter_mut().enumerate() {
            let claim = self.config.claims[at];
            outcomes.push(outcome.take().unwrap_or_else(|| {
                let mut why = std::mem::take(&mut self.obstacles[at]);
                // What an automorphism says of one claim of an orbit is true of the others.
                let worked_on = self.orbits.worked_on(claim);
                if Instant::now() < asked_until {
                    why.extend(obstacles(self.system, self.config, self.pool, worked_on, ending));
                } else {
                    why.push(general_obstacle(self.config, ending));
                }
                let verdict =
                    Verdict::Unknown { explored_through: self.blackboard.bound(worked_on), why };
                Outcome {
                    claim,
                    verdict,
                    engine: String::new(),
                    elapsed,
                    warnings: Vec::new(),
                    basis: Basis::default(),
                    shortest: None,
                }
            }));
        }
        self.schedule.engines = self.pool.accounts();
        for account in &mut self.schedule.engines {
            account.settled = outcomes.iter().filter(|o| o.engine == account.engine).count();
            account.facts = self.facts.get(account.engine.as_str()).copied().unwrap_or(0);
        }
        let internal_errors = std::mem::take(&mut self.internal_errors);
        CheckReport {
            outcomes,
            internal_errors,
            schedule: std::mem::take(&mut self.schedule),
            out_of_time: ending == Ending::OutOfTime,
        }
    }
}

/// The obstacle of each engine for an undecided claim.
fn obstacles(
    system: &System,
    config: &CheckConfig,
    pool: &WorkerPool,
    claim: ClaimId,
    ending: Ending,
) -> Vec<Obstacle> {
    let (engines, broken) = pool.obstacles(claim, &out_of_memory(config));
    let mut why = broken;
    let no_engine = engines.is_empty() && why.is_empty();
    why.extend(engines.into_iter().map(|(engine, reason)| {
        let reason = reason.unwrap_or_else(|| general_reason(config, ending));
        Obstacle { engine, reason }
    }));
    if no_engine {
        let kind = &system.claims()[claim.index()].kind;
        let takes_part = |e: &&EngineInfo| match &config.engines {
            Some(names) => names.iter().any(|n| n == e.name),
            None => true,
        };
        let decided_by_some = all_engines().iter().filter(takes_part).any(|e| (e.decides)(kind));
        let kind = kind.word();
        let reason = match &config.engines {
            Some(chosen) if chosen.is_empty() => "no engine takes part".to_string(),
            // The check ended before an engine got the claim.
            _ if decided_by_some => general_reason(config, ending),
            Some(_) => format!("none of the chosen engines decides `{kind}` claims"),
            None => format!("no engine of the portfolio decides `{kind}` claims"),
        };
        why.push(Obstacle { engine: "portfolio".into(), reason });
    }
    why
}

/// The obstacle of an engine that reports none.
fn general_reason(config: &CheckConfig, ending: Ending) -> String {
    match ending {
        // The limit of this check is what was left of the user's, so it is not named.
        Ending::OutOfTime => "stopped by the time limit".to_string(),
        Ending::Cancelled => "cancelled".to_string(),
        Ending::OutOfMemory => out_of_memory(config),
        _ => "found nothing".to_string(),
    }
}

/// The obstacle of an engine that was stopped for memory.
fn out_of_memory(config: &CheckConfig) -> String {
    match config.memory.or_else(gander_runtime::memory::limit).or_else(usual_limit) {
        Some(bytes) => format!("stopped at the memory limit of {} MB", bytes >> 20),
        None => "stopped at the memory limit".to_string(),
    }
}

/// One obstacle for all engines, if there is no time to collect theirs.
fn general_obstacle(config: &CheckConfig, ending: Ending) -> Obstacle {
    let engine = match config.engines.as_deref() {
        Some([one]) => one.clone(),
        _ => "portfolio".to_string(),
    };
    Obstacle { engine, reason: general_reason(config, ending) }
}
