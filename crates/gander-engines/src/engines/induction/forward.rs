//! The forward check: is there a run of `k` steps with pairwise distinct states?
//!
//! If not, every target that a run meets is met by a loop-free run of at most `k - 1` steps. All
//! states but the last are compared by the variables that determine later states (path
//! compression): a run that returns to the same values can be shortened. Distinctness is added
//! lazily.

use gander_smt::{Answer, Limits, Literal, Solver};
use gander_system::ClaimId;

use crate::core::{EngineContext, Purpose};
use crate::encode::encoding::Encoding;
use crate::encode::question::Place;
use crate::encode::unrolling::{Origin, Unrolling};

/// See the module's documentation.
pub(super) struct Forward {
    solver: Option<Solver>,
    purpose: Purpose,
    path: Option<Unrolling>,
    /// The solver failed at a depth. Deeper ones are harder.
    given_up: bool,
}

impl Forward {
    pub(super) fn new(solvers: &[Solver], claims: &[ClaimId]) -> Forward {
        let purpose = Purpose { part: "diameter", claims: claims.to_vec() };
        Forward { solver: solvers.first().cloned(), purpose, path: None, given_up: false }
    }

    /// Whether there is a loop-free run of `k` steps; `None` if unknown.
    pub(super) fn has_run(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        k: u32,
        limits: Limits,
    ) -> Option<bool> {
        if self.given_up {
            return None;
        }
        let answer = self.try_run(e, context, k, limits);
        self.given_up = answer.is_none();
        answer
    }

    fn try_run(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        k: u32,
        limits: Limits,
    ) -> Option<bool> {
        if self.path.is_none() {
            let session = context.session(self.solver.as_ref()?, &self.purpose);
            self.path = Some(Unrolling::new(e, session, Origin::Starts));
        }
        let path = self.path.as_mut()?;
        while path.length() < k {
            path.extend(e);
        }
        let nodes = e.reachable_nodes();
        let at_some_node = path.at_some_node(e, k);
        let query: Literal = path.session.literal();
        path.assert_if_at(e, query, at_some_node, k);
        loop {
            match path.check(&[query], limits) {
                Answer::Unsat => return Some(false),
                Answer::Unknown(_) => return None,
                Answer::Sat => {}
            }
            let found = path.path(e, Place::Anywhere, k).ok()?;
            let mut refined = false;
            let (memory, everything) =
                (e.compared(context.config().options.induction.compress), e.everything());
            for j in 1..found.states.len() {
                let compared = if j < k as usize { &memory } else { &everything };
                let (states, same) = (&found.states, super::step_case::same);
                if let Some(i) = (0..j).find(|&i| same(&states[i], &states[j], compared)) {
                    let term = e.distinct(&nodes, (j - i) as u32, compared);
                    path.assert_at(e, term, i as u32);
                    refined = true;
                }
            }
            if !refined {
                return Some(true);
            }
        }
    }
}
