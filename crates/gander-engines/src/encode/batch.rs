//! Batches: the claims that an engine works on together, over one view of the system. A claim whose
//! formulas need another solver than the system forms a separate batch, so that it does not slow
//! down the others.

use gander_smt::Solvers;
use gander_system::ClaimId;
use gander_term::{Features, TermId};

use crate::core::EngineContext;
use crate::encode::forward_search::system_features;
use crate::encode::question::Question;
use crate::encode::view::View;

/// Questions over one view, and the features that a solver must support for them and the system.
pub(crate) struct Batch {
    pub view: View,
    pub questions: Vec<Question>,
    pub features: Features,
}

impl Batch {
    /// The batches of all claims of an engine: the claims of the system itself, and each chain of
    /// goals separately. Also returns the claims that have no question, with the reasons.
    pub(crate) fn all(context: &EngineContext) -> (Vec<Batch>, Vec<(ClaimId, String)>) {
        let system = context.system();
        let (chains, plain): (Vec<ClaimId>, Vec<ClaimId>) = context
            .claims()
            .iter()
            .filter(|c| context.is_open(**c))
            .partition(|c| View::needs_chain(&system.claims()[c.index()].kind));
        let mut all = if plain.is_empty() { Vec::new() } else { Batch::of(context, &plain) };
        let mut obstacles = Vec::new();
        for claim in chains {
            match View::chain(context, claim) {
                Ok(view) => all.push(Batch::alone(view, claim)),
                Err(why) => obstacles.push((claim, why)),
            }
        }
        (all, obstacles)
    }

    /// The batches of claims of the system itself: one for those that the system's solver supports,
    /// and one for each of the others.
    pub(crate) fn of(context: &EngineContext, claims: &[ClaimId]) -> Vec<Batch> {
        let solvers: &Solvers = &context.config().solvers;
        let mut view = View::plain(context);
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
        let first = (!questions.is_empty()).then_some(Batch { view, questions, features: all });
        first
            .into_iter()
            .chain(alone.into_iter().map(|c| Batch::alone(View::plain(context), c)))
            .collect()
    }

    /// The batch of one claim.
    pub(crate) fn alone(mut view: View, claim: ClaimId) -> Batch {
        let base = system_features(&mut view.encoding);
        let question = view.question(claim);
        let features = question.as_ref().map_or(base, |q| base.join(question_features(&view, q)));
        Batch { view, questions: question.into_iter().collect(), features }
    }
}

fn question_features(view: &View, question: &Question) -> Features {
    let formulas: Vec<TermId> = question.targets.iter().map(|t| t.formula).collect();
    view.encoding.pool.features(&formulas)
}
