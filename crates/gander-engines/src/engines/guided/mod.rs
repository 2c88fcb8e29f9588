//! Directed search over explicit states: what looks nearer to a goal is followed first, with restarts.
//!
//! A state is as far from a goal as the goal has conjuncts that are not true in it; or, in every second attempt, as far as the
//! numbers that are compared differ ([`distance`]). The state that is nearest, of several one at random, is expanded
//! next ([`search`]). An attempt ends when it has seen so many states, and the next one begins anew: attempts that go astray
//! go far astray (Gomes, Selman and Kautz, *Boosting combinatorial search through randomization*, 1998). Their lengths
//! rise and fall, and each round of them is longer than the one before.
//!
//! Finds runs, no proofs, and not the shortest ones; often where there are far too many states for a search in order.
//!
//! Edelkamp, Lluch Lafuente and Leue, *Directed explicit model checking with HSF-SPIN* (2001).

mod distance;
mod search;

use std::time::{Duration, Instant};

use gander_system::{ClaimId, ClaimKind};

use crate::concrete::compiled::machine::Machine;
use crate::concrete::stepping::random::Random;
use crate::core::limits::own_memory;
use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::question::Question;
use crate::encode::targets::{Targets, question_targets};
use crate::encode::view::View;

use distance::{Distance, Grading};
use search::{End, Search};

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "guided",
    about: "directed search: states that look nearer to a goal first, with restarts; finds runs only",
    decides: |kind: &ClaimKind| matches!(kind, ClaimKind::Always(_) | ClaimKind::Reachable(_)),
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Guided::new(context)),
};

/// Time of one piece of work.
const SLICE: Duration = Duration::from_millis(40);

/// States of the shortest attempt, attempts of a round, and how much longer each is than the one before.
const SHORTEST: f64 = 500.0;
const ROUND: u32 = 12;
const LONGER: f64 = 1.3;

/// Rounds without success after which others may have the time.
const MOST_ROUNDS: u32 = 12;

/// A claim that is searched for.
struct Goal {
    question: Question,
    /// To each of its targets.
    distances: Vec<Distance>,
    attempts: u32,
    open: bool,
}

/// What a search works on.
struct Ground {
    view: View,
    machine: Machine,
    goals: Vec<Goal>,
    random: Random,
    /// The most states that fit into memory.
    most: usize,
}

/// See the module's documentation.
struct Guided {
    ground: Option<Ground>,
    begun: bool,
    /// The goal that is being searched for.
    search: Option<(usize, Search)>,
    obstacle: String,
}

impl Guided {
    fn new(_: &EngineContext) -> Guided {
        Guided { ground: None, begun: false, search: None, obstacle: "nothing was tried".into() }
    }

    fn prepare(&mut self, context: &EngineContext) {
        self.begun = true;
        match Ground::new(context) {
            Ok(ground) => self.ground = Some(ground),
            Err(why) => self.obstacle = why,
        }
    }
}

impl Ground {
    fn new(context: &EngineContext) -> Result<Ground, String> {
        let mut view = View::plain(context);
        let kinds = &context.system().claims;
        let mut found: Vec<(Question, Targets)> = Vec::new();
        for &claim in context.claims() {
            let kind = &kinds[claim.index()].kind;
            if View::needs_chain(kind) || !context.is_open(claim) {
                continue;
            }
            let Some(question) = view.question(claim) else { continue };
            let mut targets = Targets::default();
            question_targets(&mut view, kind, &question, 0, &mut targets);
            found.push((question, targets));
        }
        let system = std::sync::Arc::clone(&view.encoding.system);
        let (mut machine, _) = Machine::new(
            &system,
            &mut view.encoding.pool,
            &Targets::default(),
            context.cancellation(),
            #[cfg(test)]
            context.config().options.bug,
        )?;
        let mut goals = Vec::new();
        for (question, targets) in found {
            let mut distances = Vec::new();
            for target in targets.states.iter().filter(|t| t.choices.is_empty()) {
                distances.push(Distance::new(&mut machine, &mut view.encoding.pool, target)?);
            }
            let open = !distances.is_empty();
            goals.push(Goal { question, distances, attempts: 0, open });
        }
        let memory = own_memory(context.config()) / 4;
        let params = system.transitions.iter().map(|t| t.params.len()).max().unwrap_or(0);
        let most = memory / (8 * (system.vars.len() + params) as u64 + 128);
        Ok(Ground { view, machine, goals, random: Random::new(context.config().seed ^ 0x601d), most: most as usize })
    }

    /// The next attempt: for the open goal with the fewest.
    fn attempt(&mut self) -> Option<(usize, Search)> {
        for goal in &mut self.goals {
            goal.open &= goal.attempts < ROUND * MOST_ROUNDS;
        }
        let open = (0..self.goals.len()).filter(|&g| self.goals[g].open);
        let at = open.min_by_key(|&g| self.goals[g].attempts)?;
        let goal = &mut self.goals[at];
        let (round, place) = (goal.attempts / ROUND, goal.attempts % ROUND);
        let states = SHORTEST * LONGER.powi(place as i32) * f64::from(1u32 << round);
        let grading = if goal.attempts.is_multiple_of(2) { Grading::Count } else { Grading::Difference };
        goal.attempts += 1;
        Some((at, Search::new((states as usize).min(self.most), grading)))
    }
}

impl Engine for Guided {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        if !self.begun {
            self.prepare(context);
        }
        let Some(ground) = &mut self.ground else { return Advance::Finished };
        for goal in &mut ground.goals {
            goal.open &= context.is_open(goal.question.claim);
        }
        let until = Instant::now() + SLICE;
        while Instant::now() < until {
            if context.is_cancelled() {
                return Advance::Finished;
            }
            let Some((at, mut search)) =
                self.search.take().filter(|s| ground.goals[s.0].open).or_else(|| ground.attempt())
            else {
                return Advance::Finished;
            };
            let goal = &mut ground.goals[at];
            let stop = context.cancellation().with_deadline(Some(until));
            match search.go_on(&ground.machine, &mut goal.distances, &mut ground.random, &stop) {
                Ok(End::Later) => self.search = Some((at, search)),
                Ok(End::Astray) => self.obstacle = format!("{} attempts found nothing", goal.attempts),
                Ok(End::Everywhere) => {
                    goal.open = false;
                    self.obstacle = "no state that can be reached meets it".into();
                }
                Ok(End::Met(run)) => {
                    goal.open = false;
                    if let Some(verdict) = ground.view.met(&goal.question, run) {
                        context.propose(goal.question.claim, verdict);
                    }
                }
                Err(trouble) => {
                    goal.open = false;
                    self.obstacle = trouble.describe(&context.system().pool);
                }
            }
        }
        Advance::Again
    }

    fn obstacle(&self, _: ClaimId) -> Option<String> {
        Some(self.obstacle.clone())
    }
}
