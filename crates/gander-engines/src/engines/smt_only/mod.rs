//! SMT-only model checking: reachability as one question to a solver, for teaching (Rütz 2013, section 4.2).
//!
//! A claim becomes the question whether a list of states exists that is a run to a target ([`gander_smt::PathQuery`]). The length of the
//! list is not given: the solver unfolds it. Nothing else is done here. If there is a list, the run of that length is
//! read off an unrolling. If there is none, the solver has no proof to show, so what could be one is conjectured: that
//! no run is longer than a few steps, or that the targets are met nowhere. The checker decides.
//!
//! The engine is in no plan of the portfolio: everything it can do others do faster. docs/engines.md says what it cannot.

use std::time::Duration;

use gander_smt::{Limits, PathAnswer, PathQuery, Reason, Solver};
use gander_system::{ClaimId, Evidence};

use crate::core::retry::{Attempt, Attempts};
use crate::core::{Advance, Engine, EngineContext, EngineInfo, Purpose, portable};
use crate::encode::batch::Batch;
use crate::encode::forward_search::{Found, Search};
use crate::encode::horn_clauses::clauses;
use crate::encode::question::{Place, Question, is_question};
use crate::encode::view::View;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "smt-only",
    about: "one question over lists of states, for teaching: the solver alone searches",
    decides: is_question,
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(SmtOnly(Attempts::new(context))),
};

/// Time for the first attempt at a claim, and how much longer each further one may take.
const FIRST_ATTEMPT: Duration = Duration::from_secs(1);
const LONGER: u32 = 4;

/// Bounds on the length of runs that are conjectured.
const BOUNDS: [u32; 8] = [0, 1, 2, 4, 8, 16, 32, 64];

/// A claim and where the work on it stands.
struct Handed {
    view: View,
    question: Question,
    search: Search,
    patience: Duration,
    over: bool,
    why: Option<String>,
}

/// See the module's documentation.
struct SmtOnly(Attempts<Handed>);

impl Attempt for Handed {
    fn open(context: &EngineContext, claim: ClaimId) -> Result<Option<Handed>, String> {
        let view = View::of_claim(context, claim)?;
        let Batch { view, mut questions, features } = Batch::alone(view, claim);
        let Some(question) = questions.pop() else { return Ok(None) };
        let search = Search::new(features, Purpose { part: "run", claims: vec![claim] });
        Ok(Some(Handed { view, question, search, patience: FIRST_ATTEMPT, over: false, why: None }))
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
        match query.solve(&e.pool, &made.predicates, &made.clauses, Limits::time(self.patience)) {
            Ok(PathAnswer::Steps(n)) => self.run(context, n),
            Ok(PathAnswer::None) => self.never(context),
            Err(Reason::Interrupted) => {}
            Err(Reason::Timeout) => {
                let time = self.patience.as_secs();
                self.why = Some(format!("the solver found no list and no end to the search within {time} s"));
                self.patience *= LONGER;
            }
            Err(reason) => self.stop(reason.to_string()),
        }
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn why(&self) -> Option<String> {
        self.why.clone()
    }

    fn weight(&self) -> u64 {
        self.view.encoding.weight()
    }
}

impl Handed {
    /// A list of so many steps leads to a target, or to a step that is one.
    fn run(&mut self, context: &EngineContext, steps: u32) {
        let targets = self.question.targets.clone();
        let now: Vec<usize> = (0..targets.len()).collect();
        for depth in [steps, steps + 1] {
            match self.search.ask(&mut self.view.encoding, context, &targets, &now, depth, Limits::NONE) {
                Found::Met(_, path) => {
                    if let Some(verdict) = path.into_run().and_then(|run| self.view.met(&self.question, run)) {
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

    /// No list leads to a target.
    fn never(&mut self, context: &EngineContext) {
        let e = &mut self.view.encoding;
        let mut proofs: Vec<Evidence> = BOUNDS.iter().map(|&k| Evidence::Diameter { k }).collect();
        let anything = vec![e.pool.tt(); e.system.nodes.len()];
        if let Ok(anything) = portable(&e.system, &e.pool, &anything) {
            proofs.insert(0, Evidence::Invariant(anything));
        }
        let (claim, question, view) = (self.question.claim, &self.question, &self.view);
        context.conjecture(proofs.into_iter().map(|p| (claim, question.never_met(view.proof(p)))));
        self.stop("the solver says that there is no run, but gives no proof that could be checked".into());
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
