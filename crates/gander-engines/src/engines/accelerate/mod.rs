//! Loop acceleration: one step for any number of rounds of a loop.
//!
//! This is bounded model checking over a system to which accelerated loops are added. Paths are
//! unrolled step by step. Where a path returns to a node, the steps in between are a loop body; if
//! the body has a closed form ([`closed_form`]), it is added to the system as a transition with a
//! parameter for the number of rounds (a learned loop). A violation a million steps away may then
//! be two or three steps away. A body may contain learned loops, so nested loops are learned from
//! the inside out. In a system with one node (a Lustre program), the control is in the values;
//! there the cube of a step along a path ([`cube`]), an implicant of the step, takes the place of a
//! transition.
//!
//! After Frohn and Giesl, *ADCL: acceleration driven clause learning* (2023) and *Accelerated
//! bounded model checking* (2024); closed forms and their guards as in Frohn, *A calculus for
//! modular loop acceleration* (2020).
//!
//! Learned loops are under-approximations: each step of one is a number of rounds with the same
//! choices. So a run is stored, and replayed, as nested repetitions. Loops also suggest invariants
//! ([`proof`]).

mod closed_form;
mod cube;
mod front;
mod functional_step;
mod group;
mod limits;
mod literal;
mod loops;
mod proof;
mod stride;
#[cfg(test)]
mod tests;

use gander_system::ClaimId;

use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::batch::Batch;
use crate::encode::question::is_question;

use group::Group;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "accelerate",
    about: "loops in closed form: deep runs in few steps",
    decides: is_question,
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Accelerate::new(context)),
};

/// See the module's documentation.
struct Accelerate {
    groups: Vec<Group>,
    /// Why the work on a claim stopped.
    obstacles: Vec<(ClaimId, String)>,
}

impl Accelerate {
    fn new(context: &EngineContext) -> Accelerate {
        let (all, obstacles) = Batch::all(context);
        let groups = all.into_iter().map(Group::new).collect();
        Accelerate { groups, obstacles }
    }
}

impl Engine for Accelerate {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let max = context.config().options.max_depth;
        for group in &mut self.groups {
            group.forget_settled(context);
            if let Some(max) = max.filter(|&max| group.depth() > group.view.depth(max)) {
                let why = format!("found nothing within {max} steps and loops, which is the limit");
                self.obstacles.extend(group.claims().map(|c| (c, why.clone())));
                group.stop();
            }
        }
        self.groups.retain(|g| !g.is_over());
        // The group with the least time used, so that a hard group does not block the others.
        let Some(at) = (0..self.groups.len()).min_by_key(|&i| self.groups[i].used()) else {
            return Advance::Finished;
        };
        let group = &mut self.groups[at];
        let why = group.advance(context);
        let lost = std::mem::take(&mut group.lost);
        let problem = "found a run with loops that could not be written down";
        self.obstacles.extend(lost.into_iter().map(|c| (c, problem.to_string())));
        if let Some(why) = why {
            let claims: Vec<ClaimId> = group.claims().collect();
            self.obstacles.extend(claims.into_iter().map(|c| (c, why.clone())));
            group.stop();
        }
        self.groups.retain(|g| !g.is_over());
        if self.groups.is_empty() { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let known =
            self.obstacles.iter().rev().find(|(c, _)| *c == claim).map(|(_, why)| why.clone());
        known.or_else(|| {
            let group = self.groups.iter().find(|g| g.claims().any(|c| c == claim))?;
            Some(format!(
                "found nothing within {} steps and loops ({} loops learned)",
                group.depth(),
                group.loops()
            ))
        })
    }
}
