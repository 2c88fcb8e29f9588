//! Candidates for invariants: that a claim's targets are never met, or a hint of the user.

use std::sync::Arc;

use gander_system::{ClaimId, ClaimKind, NodeId};
use gander_term::TermId;

use crate::core::EngineContext;
use crate::encode::question::{Place, Question, Target};
use crate::encode::view::View;

/// The origin of a candidate.
pub(super) enum Source {
    Claim(Question),
    Hint,
}

/// A possible invariant.
pub(super) struct Candidate {
    pub source: Source,
    pub targets: Vec<Target>,
    /// By node: a formula that excludes all targets. `None` if it would need quantifiers that the
    /// claim does not have; then the candidate can be a conclusion but not a hypothesis.
    pub exclusion: Option<Vec<(NodeId, TermId)>>,
    /// No run with fewer steps meets a target.
    pub clear: u32,
    pub open: bool,
    pub why: Option<String>,
}

impl Candidate {
    /// The candidate that no target of a question is ever met.
    pub(super) fn claimed(view: &mut View, question: Question) -> Candidate {
        let exclusion = view.question_builder.exclusion_as_written(&mut view.encoding, &question);
        Candidate::new(question.targets.clone(), exclusion, Source::Claim(question))
    }

    /// The candidate that a hint holds at its node.
    pub(super) fn hinted(view: &mut View, node: NodeId, hint: TermId) -> Candidate {
        let not = view.encoding.pool.not(hint);
        let target = Target::new(&mut view.encoding, Place::At(node), not, "hint");
        Candidate::new(vec![target], Some(vec![(node, hint)]), Source::Hint)
    }

    fn new(
        targets: Vec<Target>,
        exclusion: Option<Vec<(NodeId, TermId)>>,
        source: Source,
    ) -> Candidate {
        Candidate { source, targets, exclusion, clear: 0, open: true, why: None }
    }

    /// The claim, unless it is a hint.
    pub(super) fn claim(&self) -> Option<ClaimId> {
        match &self.source {
            Source::Claim(q) => Some(q.claim),
            Source::Hint => None,
        }
    }
}

/// The hints of the user, by node, and the *always* claims that are symmetric to claims of the
/// engine.
pub(super) fn hints(context: &EngineContext, view: &mut View) -> Vec<(NodeId, TermId)> {
    let system = Arc::clone(&view.encoding.system);
    let deferred = if view.is_plain() { context.deferred() } else { &[] };
    let e = &mut view.encoding;
    let mut hints = Vec::new();
    for n in system.node_ids() {
        for hint in &system.node(n).hints {
            hints.push((n, system.at_node(&mut e.pool, hint.term, n)));
        }
        for claim in deferred {
            if let ClaimKind::Always(p) = system.claims()[claim.index()].kind
                && !e.pool.has_quantifier(p.term())
            {
                hints.push((n, system.at_node(&mut e.pool, p, n)));
            }
        }
    }
    hints
}
