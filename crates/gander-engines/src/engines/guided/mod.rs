//! Directed explicit-state search: best-first, with random restarts.
//!
//! The distance of a state from a goal is the number of the goal's conjuncts that are false in it;
//! every second attempt uses the differences of the compared numbers instead ([`distance`]). The
//! nearest state is expanded next; ties are broken at random ([`search`]). An attempt ends after a
//! number of states, and the next one starts anew, because search costs are heavy-tailed (Gomes,
//! Selman and Kautz, *Boosting combinatorial search through randomization*, 1998). Within a round,
//! each attempt is longer than the one before; each round starts longer than the last.
//!
//! After Edelkamp, Lluch Lafuente and Leue, *Directed explicit model checking with HSF-SPIN*
//! (2001). Finds runs, not proofs, and not shortest runs, often where breadth-first search would
//! need too many states.

mod distance;
mod limits;
mod search;

use std::time::Instant;

use gander_system::{ClaimId, ClaimKind};

use crate::concrete::compiled::machine::Machine;
use crate::concrete::stepping::random::Random;
use crate::core::memory::own_memory;
use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::question::Question;
use crate::encode::targets::{Targets, question_targets};
use crate::encode::view::View;

use distance::{Distance, Grading};
use limits::LIMITS;
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

/// A claim to search for.
struct Goal {
    question: Question,
    /// The distances to its targets.
    distances: Vec<Distance>,
    attempts: u32,
    open: bool,
}

/// The compiled system and the goals.
struct SearchSpace {
    view: View,
    machine: Machine,
    goals: Vec<Goal>,
    random: Random,
    /// The most states that fit in the memory limit.
    most: usize,
}

/// See the module's documentation.
struct Guided {
    space: Option<SearchSpace>,
    begun: bool,
    /// The index of the current goal, and its attempt.
    search: Option<(usize, Search)>,
    obstacle: String,
}

impl Guided {
    fn new(_: &EngineContext) -> Guided {
        Guided { space: None, begun: false, search: None, obstacle: "nothing was tried".into() }
    }

    fn prepare(&mut self, context: &EngineContext) {
        self.begun = true;
        match SearchSpace::new(context) {
            Ok(space) => self.space = Some(space),
            Err(why) => self.obstacle = why,
        }
    }
}

impl SearchSpace {
    fn new(context: &EngineContext) -> Result<SearchSpace, String> {
        let mut view = View::plain(context);
        let kinds = context.system().claims();
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
        let params = system.transitions().iter().map(|t| t.params.len()).max().unwrap_or(0);
        let most = memory / (8 * (system.vars().len() + params) as u64 + 128);
        Ok(SearchSpace {
            view,
            machine,
            goals,
            random: Random::new(context.config().seed ^ 0x601d),
            most: most as usize,
        })
    }

    /// The next attempt, for the open goal with the fewest attempts.
    fn attempt(&mut self) -> Option<(usize, Search)> {
        for goal in &mut self.goals {
            goal.open &= goal.attempts < LIMITS.attempts * LIMITS.rounds;
        }
        let open = (0..self.goals.len()).filter(|&g| self.goals[g].open);
        let at = open.min_by_key(|&g| self.goals[g].attempts)?;
        let goal = &mut self.goals[at];
        let (round, place) = (goal.attempts / LIMITS.attempts, goal.attempts % LIMITS.attempts);
        let states = LIMITS.first_states
            * LIMITS.attempt_growth.powi(place as i32)
            * f64::from(1u32 << round);
        let grading =
            if goal.attempts.is_multiple_of(2) { Grading::Count } else { Grading::Difference };
        goal.attempts += 1;
        Some((at, Search::new((states as usize).min(self.most), grading)))
    }
}

impl Engine for Guided {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        if !self.begun {
            self.prepare(context);
        }
        let Some(space) = &mut self.space else { return Advance::Finished };
        for goal in &mut space.goals {
            goal.open &= context.is_open(goal.question.claim);
        }
        let until = Instant::now() + LIMITS.slice;
        while Instant::now() < until {
            if context.is_cancelled() {
                return Advance::Finished;
            }
            let Some((at, mut search)) =
                self.search.take().filter(|s| space.goals[s.0].open).or_else(|| space.attempt())
            else {
                return Advance::Finished;
            };
            let goal = &mut space.goals[at];
            let stop = context.cancellation().with_deadline(Some(until));
            match search.resume(&space.machine, &mut goal.distances, &mut space.random, &stop) {
                Ok(End::Later) => self.search = Some((at, search)),
                Ok(End::Astray) => {
                    self.obstacle = format!("{} attempts found nothing", goal.attempts)
                }
                Ok(End::Everywhere) => {
                    goal.open = false;
                    self.obstacle = "no state that can be reached meets it".into();
                }
                Ok(End::Met(run)) => {
                    goal.open = false;
                    if let Some(verdict) = space.view.met(&goal.question, run) {
                        context.propose(goal.question.claim, verdict);
                    }
                }
                Err(error) => {
                    goal.open = false;
                    self.obstacle = error.describe(context.system().pool());
                }
            }
        }
        Advance::Again
    }

    fn obstacle(&self, _: ClaimId) -> Option<String> {
        Some(self.obstacle.clone())
    }
}
