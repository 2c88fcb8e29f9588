//! SMT-only model checking: reachability as a single solver query, for teaching (Rütz 2013, section
//! 4.2).
//!
//! A claim becomes the question whether a list of states exists that is a run to a target
//! ([`gander_smt::PathQuery`]). The length of the list is unbounded: the solver unfolds it. If
//! there is a list, the run of that length is read off an unrolling. If there is none, the solver
//! gives no proof, so the engine conjectures simple ones: that no run is longer than a few steps,
//! or that `true` is an invariant that excludes the targets. The checker decides.
//!
//! No portfolio plan includes this engine, because others are always faster. docs/engines.md
//! describes its limits.

mod limits;

use std::time::Duration;

use gander_smt::{Limits, PathAnswer, PathQuery, Reason, Solver};
use gander_system::{ClaimId, Evidence};

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
    name: "smt-only",
    about: "one question over lists of states, for teaching: the solver alone searches",
    decides: is_question,
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(SmtOnly(RetryQueue::new(context))),
};

/// The state of the work on one claim.
struct ListClaim {
    view: View,
    question: Question,
    search: Search,
    time_limit: Duration,
    over: bool,
    why: Option<String>,
}

/// See the module's documentation.
struct SmtOnly(RetryQueue<ListClaim>);

impl RetriedClaim for ListClaim {
    fn open(context: &EngineContext, claim: ClaimId) -> Result<Option<ListClaim>, String> {
        let view = View::of_claim(context, claim)?;
        let Batch { view, mut questions, features } = Batch::alone(view, claim);
        let Some(question) = questions.pop() else { return Ok(None) };
        let search = Search::new(features, Purpose { part: "run", claims: vec![claim] });
        Ok(Some(ListClaim {
            view,
            question,
            search,
            time_limit: LIMITS.first_attempt,
            over: false,
            why: None,
        }))
    }

    fn claim(&self) -> ClaimId {
        self.question.claim
    }

    fn advance(&mut self, context: &EngineContext, solver: &Solver) {
        if self.question.targets.iter().any(|t| matches!(t.place, Place::Beginning(_))) {
            // A start state is a list of one element.
            return self.run(context, 0);
        }
        let e = &mut self.view.encoding;
        let made = clauses(e, &self.question);
        let purpose = Purpose { part: "lists", claims: vec![self.question.claim] };
        let mut query = context.path_query(solver, &purpose);
        match query.solve(&e.pool, &made.predicates, &made.clauses, Limits::time(self.time_limit)) {
            Ok(PathAnswer::Steps(n)) => self.run(context, n),
            Ok(PathAnswer::None) => self.never(context),
            Err(Reason::Interrupted) => {}
            Err(Reason::Timeout) => {
                let time = self.time_limit.as_secs();
                self.why = Some(format!(
                    "the solver found no list and no end to the search within {time} s"
                ));
                self.time_limit *= LIMITS.attempt_growth;
            }
            Err(reason) => self.stop(reason.to_string()),
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

impl ListClaim {
    /// Finds the run for a list of `steps` steps to a target, or to a step that is one.
    fn run(&mut self, context: &EngineContext, steps: u32) {
        let targets = self.question.targets.clone();
        let now: Vec<usize> = (0..targets.len()).collect();
        for depth in [steps, steps + 1] {
            match self.search.ask(
                &mut self.view.encoding,
                context,
                &targets,
                &now,
                depth,
                Limits::NONE,
            ) {
                Found::Met(_, path) => {
                    if let Some(verdict) =
                        path.into_run().and_then(|run| self.view.met(&self.question, run))
                    {
                        context.propose(self.question.claim, verdict);
                    }
                    self.over = true;
                    return;
                }
                Found::Nothing => {}
                Found::Unknown(Reason::Interrupted) => return,
                Found::Unknown(reason) => return self.stop(reason.to_string()),
            }
        }
        if self.question.targets.iter().all(|t| matches!(t.place, Place::Beginning(_))) {
            context.propose(self.question.claim, self.question.never_met(Evidence::Refutation));
        }
        self.stop("the solver's list is no run".into());
    }

    /// Conjectures proofs that no target is reachable.
    fn never(&mut self, context: &EngineContext) {
        let e = &mut self.view.encoding;
        let mut proofs: Vec<Evidence> =
            LIMITS.bounds.iter().map(|&k| Evidence::Diameter { k }).collect();
        let anything = vec![e.pool.tt(); e.system.nodes().len()];
        if let Ok(anything) = portable(&e.system, &e.pool, &anything) {
            proofs.insert(0, Evidence::Invariant(anything));
        }
        let (claim, question, view) = (self.question.claim, &self.question, &self.view);
        context.conjecture(proofs.into_iter().map(|p| (claim, question.never_met(view.proof(p)))));
        self.stop(
            "the solver says that there is no run, but gives no proof that could be checked".into(),
        );
    }

    fn stop(&mut self, why: String) {
        self.over = true;
        self.why = Some(why);
    }
}

impl Engine for SmtOnly {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let solver = context.config().solvers.z3().filter(|s| PathQuery::is_supported(s)).cloned();
        self.0.advance(context, solver.as_ref())
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        self.0.obstacle(claim)
    }
}
