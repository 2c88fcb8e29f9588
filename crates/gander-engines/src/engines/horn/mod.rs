//! Constrained Horn clauses for the Horn solver of Z3 (Spacer; Komuravelli, Gurfinkel and Chaki,
//! *SMT-based model checking for recursive programs*, 2014).
//!
//! Each node has a predicate over its states; the clauses say that the predicates contain the start
//! states, are closed under steps, and exclude the targets. A solution is an inductive invariant.
//! If there is none, some run meets a target, and a bounded search finds it depth by depth. The
//! time limit starts short and grows with each attempt.

mod limits;

use std::time::Duration;

use gander_smt::{Horn, HornAnswer, Limits, Reason, Solver};
use gander_system::{ClaimId, Evidence};
use gander_term::TermId;

use crate::core::retry::{RetriedClaim, RetryQueue};
use crate::core::{Advance, Engine, EngineContext, EngineInfo, Purpose, portable};
use crate::encode::batch::Batch;
use crate::encode::forward_search::{Found, Search};
use crate::encode::horn_clauses::clauses;
use crate::encode::question::{Place, Question, is_question};
use crate::encode::view::View;
use limits::LIMITS;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "horn",
    about: "the Horn engine of z3: invariants, one predicate a node",
    decides: is_question,
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(HornEngine(RetryQueue::new(context))),
};

/// See the module's documentation.
struct HornEngine(RetryQueue<HornClaim>);

/// The state of the work on one claim.
struct HornClaim {
    view: View,
    question: Question,
    search: Search,
    time_limit: Duration,
    /// The next depth to search, once it is known that some run meets a target.
    depth: Option<u32>,
    over: bool,
    why: Option<String>,
}

impl RetriedClaim for HornClaim {
    fn open(context: &EngineContext, claim: ClaimId) -> Result<Option<HornClaim>, String> {
        let view = View::of_claim(context, claim)?;
        let Batch { view, mut questions, features } = Batch::alone(view, claim);
        let Some(question) = questions.pop() else { return Ok(None) };
        let search = Search::new(features, Purpose { part: "runs", claims: vec![claim] });
        // A target in a start state needs no clauses.
        let depth = is_about_starts(&question).then_some(0);
        let (over, why) = (false, None);
        Ok(Some(HornClaim {
            view,
            question,
            search,
            time_limit: LIMITS.first_attempt,
            depth,
            over,
            why,
        }))
    }

    fn claim(&self) -> ClaimId {
        self.question.claim
    }

    fn advance(&mut self, context: &EngineContext, solver: &Solver) {
        match self.depth {
            Some(depth) => self.search_depth(context, depth),
            None => self.solve_clauses(context, solver),
        }
    }

    fn time_limit(&self) -> Duration {
        self.time_limit
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn obstacle(&self) -> Option<String> {
        self.why.clone()
    }

    fn weight(&self) -> u64 {
        self.view.encoding.weight()
    }
}

impl HornClaim {
    /// Solves the clauses.
    fn solve_clauses(&mut self, context: &EngineContext, solver: &Solver) {
        let e = &mut self.view.encoding;
        let made = clauses(e, &self.question);
        let purpose = Purpose { part: "clauses", claims: vec![self.question.claim] };
        let mut horn: Horn = context.horn(solver, &purpose);
        match horn.solve(
            &mut e.pool,
            &made.predicates,
            &made.clauses,
            Limits::time(self.time_limit),
        ) {
            Ok(HornAnswer::Satisfied(formulas)) => {
                let mut by_node: Vec<TermId> = e.system.node_ids().map(|_| e.pool.ff()).collect();
                for (n, formula) in made.nodes.iter().zip(formulas) {
                    by_node[n.index()] = formula;
                }
                if let Ok(invariant) = portable(&e.system, &e.pool, &by_node) {
                    let proof = self.view.proof(Evidence::Invariant(invariant));
                    // The solver may interpret a formula differently, so this is a conjecture for
                    // the checker to decide.
                    context.conjecture([(self.question.claim, self.question.never_met(proof))]);
                }
                self.stop("the solver's invariant could not be confirmed".into());
            }
            Ok(HornAnswer::Contradictory) => {
                self.why =
                    Some("a run exists, but none was found yet; more time would help".into());
                self.depth = Some(0);
            }
            Err(Reason::Interrupted) => {}
            Err(Reason::Timeout) => {
                self.why = Some(format!("no invariant within {} s", self.time_limit.as_secs()));
                self.time_limit *= LIMITS.attempt_growth;
            }
            Err(reason) => self.stop(reason.to_string()),
        }
    }

    /// Searches for a run of `depth` steps.
    fn search_depth(&mut self, context: &EngineContext, depth: u32) {
        let now: Vec<usize> = (0..self.question.targets.len()).collect();
        let targets = self.question.targets.clone();
        let limits = Limits::time(LIMITS.run_query);
        match self.search.ask(&mut self.view.encoding, context, &targets, &now, depth, limits) {
            Found::Met(_, path) => {
                if let Some(verdict) =
                    path.into_run().and_then(|run| self.view.met(&self.question, run))
                {
                    context.propose(self.question.claim, verdict);
                }
                self.over = true;
            }
            Found::Nothing if is_about_starts(&self.question) => {
                context.propose(self.question.claim, self.question.never_met(Evidence::Refutation));
                self.over = true;
            }
            Found::Nothing => {
                self.view.raise_bound(context.blackboard(), self.question.claim, depth);
                self.depth = Some(depth + 1);
            }
            Found::Unknown(Reason::Interrupted) => {}
            Found::Unknown(reason) => {
                self.stop(format!("a run exists, stopped at depth {depth}: {reason}"))
            }
        }
    }

    fn stop(&mut self, why: String) {
        self.over = true;
        self.why = Some(why);
    }
}

/// True if targets can only be met in start states.
fn is_about_starts(question: &Question) -> bool {
    !question.targets.is_empty()
        && question.targets.iter().all(|t| matches!(t.place, Place::Beginning(_)))
}

impl Engine for HornEngine {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let solver = context.config().solvers.z3().filter(|s| Horn::is_supported(s)).cloned();
        self.0.advance(context, solver.as_ref())
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        self.0.obstacle(claim)
    }
}
