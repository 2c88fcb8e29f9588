//! A checker with an optional second opinion: a second checker that asks one given solver only. A
//! verdict is accepted if both checkers accept it.

use std::sync::Arc;

use gander_runtime::Cancellation;
use gander_smt::{Records, Solvers, in_file_name};
use gander_system::{ClaimId, System, Verdict};

use crate::rejection::{Rejection, undecided};
use crate::{Certified, CheckLimits, Checker, Refutations};

/// See the module's documentation. Use one for many checks: it keeps its solver processes.
#[derive(Debug)]
pub struct Panel {
    first: Checker,
    second: Option<Second>,
    records: Option<Records>,
}

#[derive(Debug)]
struct Second {
    solver: String,
    /// Asks that solver only; `None` if it was not found.
    checker: Option<Checker>,
}

impl Panel {
    /// A panel whose first checker asks the solvers that suit each query; `second` names the solver
    /// of the second opinion.
    pub fn new(solvers: &Arc<Solvers>, limits: CheckLimits, second: Option<&str>) -> Panel {
        let second = second.map(|name| {
            let checker = Checker::with_solver(solvers, limits, name);
            Second { solver: name.to_string(), checker }
        });
        Panel { first: Checker::new(solvers, limits), second, records: None }
    }

    /// Records every solver session.
    pub fn record(&mut self, records: Records) {
        self.records = Some(records);
    }

    /// [`Checker::remember`].
    pub fn remember(&mut self, system: &Arc<System>) {
        self.checkers().for_each(|c| c.remember(system));
    }

    /// [`Checker::set_cancellation`].
    pub fn set_cancellation(&mut self, cancellation: &Cancellation) {
        self.checkers().for_each(|c| c.set_cancellation(cancellation.clone()));
    }

    /// [`Checker::share_refutations`], for the first checker.
    pub fn share_refutations(&mut self, refutations: &Arc<Refutations>) {
        self.first.share_refutations(refutations);
    }

    fn checkers(&mut self) -> impl Iterator<Item = &mut Checker> {
        std::iter::once(&mut self.first)
            .chain(self.second.as_mut().and_then(|s| s.checker.as_mut()))
    }

    /// Checks a verdict, each opinion within these limits. The result is that of the first checker
    /// if all accept the verdict. `by` is the engine or tool that found it, for the names of
    /// records.
    pub fn check(
        &mut self,
        system: &System,
        limits: CheckLimits,
        by: Option<&str>,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<Certified, Rejection> {
        let mut outcomes = self.check_all(system, limits, by, &[(claim, verdict)]);
        outcomes.pop().unwrap_or_else(|| Err(undecided("nothing was checked")))
    }

    /// [`Panel::check`] for several verdicts about one system, each with its own outcome; the time
    /// limit is for all verdicts together.
    pub fn check_all(
        &mut self,
        system: &System,
        limits: CheckLimits,
        by: Option<&str>,
        verdicts: &[(ClaimId, &Verdict)],
    ) -> Vec<Result<Certified, Rejection>> {
        if let Some(records) = &self.records {
            let claims: Vec<ClaimId> = verdicts.iter().map(|(claim, _)| *claim).collect();
            let about: Vec<String> = ["certify".to_string()]
                .into_iter()
                .chain(by.map(str::to_string))
                .chain([claims_in_file_name(system, &claims)])
                .collect();
            let (records, about) = (records.clone(), about.join("-"));
            let log: crate::LogSink =
                Arc::new(move |solver: &str| Some(records.begin(&format!("{about}-{solver}"))));
            self.checkers().for_each(|c| c.set_log(Arc::clone(&log)));
        }
        self.checkers().for_each(|c| c.set_limits(limits));
        let mut outcomes = self.first.check_all(system, verdicts);
        let Some(Second { solver, checker }) = &mut self.second else { return outcomes };
        // Only accepted verdicts need a second opinion.
        let accepted: Vec<usize> = (0..outcomes.len()).filter(|i| outcomes[*i].is_ok()).collect();
        let again: Vec<(ClaimId, &Verdict)> = accepted.iter().map(|i| verdicts[*i]).collect();
        let opinions = match checker {
            Some(checker) => checker.check_all(system, &again),
            None => {
                let missing = format!("the solver `{solver}` for a second opinion was not found");
                accepted.iter().for_each(|i| outcomes[*i] = Err(undecided(missing.clone())));
                return outcomes;
            }
        };
        for (i, opinion) in accepted.into_iter().zip(opinions) {
            let said = |why: String| format!("second opinion by {solver}: {why}");
            match opinion {
                Ok(_) => {}
                Err(Rejection::Wrong(why)) => outcomes[i] = Err(Rejection::Wrong(said(why))),
                Err(Rejection::Undecided(why)) => {
                    outcomes[i] = Err(Rejection::Undecided(said(why)))
                }
            }
        }
        outcomes
    }
}

/// The claims as part of a file name: the name of the only one, `all` for several.
pub fn claims_in_file_name(system: &System, claims: &[ClaimId]) -> String {
    match claims {
        [claim] => in_file_name(&system.claims()[claim.index()].name),
        _ => "all".to_string(),
    }
}
