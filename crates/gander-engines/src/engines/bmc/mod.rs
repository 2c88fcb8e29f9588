//! Bounded model checking: searches for a run of 0, 1, 2, ... steps that meets a target.
//!
//! After Biere, Cimatti, Clarke and Zhu, *Symbolic model checking without BDDs* (1999), with all
//! claims over one unrolling. Depths are searched in order, so the first run found for a claim is a
//! shortest one. A depth without a run is published as a bound. If the control graph has no path of
//! a depth, no run is longer, and the remaining claims are proved by this diameter.

mod group;
mod limits;

use gander_system::ClaimId;

use crate::core::{Advance, Engine, EngineContext, EngineInfo, steps};
use crate::encode::batch::Batch;
use crate::encode::question::is_question;

use group::Group;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "bmc",
    about: "bounded model checking: shortest runs, depth by depth",
    decides: is_question,
    finds_shortest: true,
    begins_at_once: false,
    open: |context| Box::new(Bmc::new(context)),
};

/// See the module's documentation.
struct Bmc {
    groups: Vec<Group>,
    /// Why the work on a claim stopped.
    obstacles: Vec<(ClaimId, String)>,
}

impl Bmc {
    fn new(context: &EngineContext) -> Bmc {
        let (all, obstacles) = Batch::all(context);
        let groups = all.into_iter().map(Group::new).collect();
        Bmc { groups, obstacles }
    }
}

impl Engine for Bmc {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let max = context.config().options.max_depth;
        for group in &mut self.groups {
            group.forget_settled(context);
            if let Some(max) = max.filter(|&max| group.is_beyond(max)) {
                let why = format!("found nothing within {}, which is the limit", steps(max));
                self.obstacles.extend(group.claims().map(|c| (c, why.clone())));
                group.stop();
            }
        }
        self.groups.retain(|g| !g.is_over());
        // The group with the least time used, so that a hard group does not block the others.
        let Some(at) = (0..self.groups.len()).min_by_key(|&i| self.groups[i].used()) else {
            return Advance::Finished;
        };
        let (more, obstacles) = self.groups[at].search(context);
        self.groups.extend(more);
        self.obstacles.extend(obstacles);
        self.groups.retain(|g| !g.is_over());
        if self.groups.is_empty() { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let known =
            self.obstacles.iter().rev().find(|(c, _)| *c == claim).map(|(_, why)| why.clone());
        known.or_else(|| {
            let group = self.groups.iter().find(|g| g.claims().any(|c| c == claim))?;
            Some(format!("found nothing within {}", steps(group.searched()?)))
        })
    }
}
