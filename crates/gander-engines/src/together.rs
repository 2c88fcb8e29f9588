//! Which claims are worked on together: those that the solver for the system can take, over one view of it. A claim that
//! needs another solver would take the others there, which is slower for them; so it goes alone.

use gander_smt::Solvers;
use gander_system::ClaimId;
use gander_term::{Features, TermId};

use crate::engine::Desk;
use crate::question::Question;
use crate::search::system_features;
use crate::view::View;

/// Questions that are asked over one view, and what they ask of a solver, the system included.
pub(crate) struct Together {
    pub view: View,
    pub questions: Vec<Question>,
    pub features: Features,
}

impl Together {
    /// All claims of an engine: those of the system itself together, each chain of goals alone; and the claims that cannot
    /// be asked, with the reasons.
    pub(crate) fn all(desk: &Desk) -> (Vec<Together>, Vec<(ClaimId, String)>) {
        let system = desk.system();
        let (chains, plain): (Vec<ClaimId>, Vec<ClaimId>) =
            desk.claims().iter().partition(|c| View::needs_chain(&system.claims[c.index()].kind));
        let mut all = if plain.is_empty() { Vec::new() } else { Together::of(desk, &plain) };
        let mut obstacles = Vec::new();
        for claim in chains {
            match View::chain(desk, claim) {
                Ok(view) => all.push(Together::alone(view, claim)),
                Err(why) => obstacles.push((claim, why)),
            }
        }
        (all, obstacles)
    }

    /// Claims of the system itself: one for those that the solver for the system can take, one for each of the others.
    pub(crate) fn of(desk: &Desk, claims: &[ClaimId]) -> Vec<Together> {
        let solvers: &Solvers = &desk.config().solvers;
        let mut view = View::plain(desk);
        let base = system_features(&mut view.encoding);
        let chosen = solvers.choose(base);
        let (mut questions, mut alone, mut all) = (Vec::new(), Vec::new(), base);
        for &claim in claims {
            let Some(question) = view.question(claim) else { continue };
            let features = base.join(question_features(&view, &question));
            if solvers.choose(features) == chosen {
                questions.push(question);
                all = all.join(features);
            } else {
                alone.push(claim);
            }
        }
        let first = (!questions.is_empty()).then_some(Together { view, questions, features: all });
        first.into_iter().chain(alone.into_iter().map(|c| Together::alone(View::plain(desk), c))).collect()
    }

    /// One claim.
    pub(crate) fn alone(mut view: View, claim: ClaimId) -> Together {
        let base = system_features(&mut view.encoding);
        let question = view.question(claim);
        let features = question.as_ref().map_or(base, |q| base.join(question_features(&view, q)));
        Together { view, questions: question.into_iter().collect(), features }
    }
}

fn question_features(view: &View, question: &Question) -> Features {
    let formulas: Vec<TermId> = question.targets.iter().map(|t| t.formula).collect();
    view.encoding.pool.features(&formulas)
}
