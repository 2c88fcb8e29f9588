//! Acceleration: loops done many times over in one step.
//!
//! Bounded model checking over a system that grows: paths are unrolled step by step, and where one comes back to a node, the steps
//! in between are made a loop with a parameter for the number of rounds, if they have a closed form. The loop is added as a
//! transition, *learned*, and the search goes on with it: a violation a million steps away is then two or three steps away. A
//! body may contain loops, so nested loops are learned from the inside out. A system with one node (a Lustre program) has its
//! control in its values; there the *cube* of a step along a path, what it does and demands without a choice left,
//! takes the part of a transition.
//!
//! After Frohn and Giesl, *ADCL: acceleration driven clause learning* (2023) and *Accelerated bounded model checking* (2024); closed forms
//! and their guards as in Frohn, *A calculus for modular loop acceleration* (2020).
//!
//! Learned loops are under-approximations, each of their steps is a number of rounds with the same choices: so a run is
//! written down as nested repetitions, and replayed as such. They also suggest invariants ([`proof`]).

mod closed_form;
mod cube;
mod front;
mod functional_step;
mod group;
mod linear;
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
    /// What stopped the work on a claim.
    obstacles: Vec<(ClaimId, String)>,
}

impl Accelerate {
    fn new(context: &EngineContext) -> Accelerate {
        let (all, obstacles) = Batch::all(context);
        let groups = all.into_iter().map(|t| Group::new(context, t)).collect();
        Accelerate { groups, obstacles }
    }
}

impl Engine for Accelerate {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let max = context.config().options.max_depth;
        for group in &mut self.groups {
            group.forget_settled(context);
            if let Some(max) = max.filter(|&max| group.depth() > max) {
                let why = format!("found nothing within {max} steps and loops, which is the limit");
                self.obstacles.extend(group.claims().map(|c| (c, why.clone())));
                group.stop();
            }
        }
        self.groups.retain(|g| !g.is_over());
        // The one that used least so far: a group with a hard question must not stop the others.
        let Some(at) = (0..self.groups.len()).min_by_key(|&i| self.groups[i].used()) else { return Advance::Finished };
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
        let known = self.obstacles.iter().rev().find(|(c, _)| *c == claim).map(|(_, why)| why.clone());
        known.or_else(|| {
            let group = self.groups.iter().find(|g| g.claims().any(|c| c == claim))?;
            Some(format!("found nothing within {} steps and loops ({} loops learned)", group.depth(), group.loops()))
        })
    }
}
