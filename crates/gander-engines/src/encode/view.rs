//! The systems that claims are asked of: the given one, for a chain of goals the chain system of the claim, or the runs of
//! the given one that stay outside of a trap.

use std::sync::Arc;

use gander_system::passes::{self, Chain, Restore};
use gander_system::{ClaimId, ClaimKind, Evidence, Goal, NodeFormulas, NodeId, Run, System, Verdict};
use gander_term::{Importer, TermId};

use crate::core::{Blackboard, EngineContext, ProvedInvariant};
use crate::encode::encoding::Encoding;
use crate::encode::question::{Asker, Question};

/// A system with its encoding, and the map back to the one that was given.
pub(crate) struct View {
    pub encoding: Encoding,
    pub asker: Asker,
    chain: Option<ChainView>,
    /// What runs stay outside of.
    trap: Option<NodeFormulas>,
}

struct ChainView {
    chain: Chain,
    claim: ClaimId,
    /// Steps of the chain system that take no time, in every run that meets all goals.
    internal: u32,
}

impl View {
    /// The system itself.
    pub(crate) fn plain(context: &EngineContext) -> View {
        View { encoding: encode(context, context.system()), asker: Asker::default(), chain: None, trap: None }
    }

    /// The chain system of a claim.
    pub(crate) fn chain(context: &EngineContext, claim: ClaimId) -> Result<View, String> {
        let system = context.system();
        let chain = passes::chain(system, claim).map_err(|e| e.to_string())?;
        let of_chain = Arc::new(chain.system.clone());
        let internal = match &system.claims[claim.index()].kind {
            ClaimKind::Reachable(goals) => goals.iter().filter(|g| matches!(g, Goal::State(_))).count() as u32,
            _ => 0,
        };
        let encoding = encode(context, &of_chain);
        Ok(View { encoding, asker: Asker::default(), chain: Some(ChainView { chain, claim, internal }), trap: None })
    }

    /// The runs outside of a set that no step leaves, and in which no target of the claims that are asked is met.
    pub(crate) fn outside(context: &EngineContext, trap: NodeFormulas) -> Result<View, String> {
        let system = passes::outside(context.system(), &trap).ok_or("the runs outside cannot be told apart")?;
        let encoding = encode(context, &Arc::new(system));
        Ok(View { encoding, asker: Asker::default(), chain: None, trap: Some(trap) })
    }

    /// The system that a claim is asked of.
    pub(crate) fn of_claim(context: &EngineContext, claim: ClaimId) -> Result<View, String> {
        match View::needs_chain(&context.system().claims[claim.index()].kind) {
            true => View::chain(context, claim),
            false => Ok(View::plain(context)),
        }
    }

    /// True if the claim must be asked of its chain system.
    pub(crate) fn needs_chain(kind: &ClaimKind) -> bool {
        matches!(kind, ClaimKind::Reachable(goals) if goals.len() > 1)
    }

    /// The question of a claim of the given system.
    pub(crate) fn question(&mut self, claim: ClaimId) -> Option<Question> {
        let here = if self.chain.is_some() { ClaimId(0) } else { claim };
        let question = self.asker.question(&mut self.encoding, here)?;
        Some(Question { claim, ..question })
    }

    /// A run as one of the given system.
    pub(crate) fn run(&self, run: Run) -> Option<Run> {
        match &self.chain {
            Some(c) => c.chain.run(&run),
            None => Some(run),
        }
    }

    /// Evidence other than a run as evidence about the given system.
    pub(crate) fn proof(&self, evidence: Evidence) -> Evidence {
        match (&self.chain, &self.trap) {
            (Some(_), _) => Evidence::OfChain(Box::new(evidence)),
            (None, Some(trap)) => Evidence::Outside { trap: trap.clone(), proof: Box::new(evidence) },
            (None, None) => evidence,
        }
    }

    /// The verdict of a run that meets a target of the question.
    pub(crate) fn met(&self, question: &Question, run: Run) -> Option<Verdict> {
        Some(question.met(Evidence::Run(self.run(run)?)))
    }

    /// Tells the blackboard that no run of at most `depth` steps here meets a target of the claim.
    pub(crate) fn raise_bound(&self, blackboard: &Blackboard, claim: ClaimId, depth: u32) {
        match &self.chain {
            None => blackboard.raise_bound(claim, depth),
            Some(c) => {
                debug_assert_eq!(c.claim, claim);
                if let Some(old) = depth.checked_sub(c.internal) {
                    blackboard.raise_bound(claim, old);
                }
            }
        }
    }

    /// The depth that the blackboard knows to be without a target, in steps of this system.
    pub(crate) fn bound(&self, blackboard: &Blackboard, claim: ClaimId) -> Option<u32> {
        let internal = self.chain.as_ref().map_or(0, |c| c.internal);
        match blackboard.bound(claim) {
            Some(bound) => Some(bound + internal),
            None => internal.checked_sub(1),
        }
    }

    /// An invariant of the given system as one of this system, by node; none if it does not carry over.
    pub(crate) fn lemma(&mut self, found: &ProvedInvariant) -> Option<Vec<(NodeId, TermId)>> {
        let e = &mut self.encoding;
        let formulas = &found.formulas;
        let mut importer = Importer::new();
        let mut by_node = Vec::new();
        for n in e.system.node_ids() {
            // Nodes of a chain system are those of the given one, once for each stage.
            let old = n.index() % formulas.by_node.len().max(1);
            let t = importer.import(&mut e.pool, &formulas.pool, *formulas.by_node.get(old)?).ok()?;
            by_node.push((n, t));
        }
        // The internal steps of a chain system make states repeat, but keep what they satisfy.
        let inductive = found.k == 1 && !found.loop_free && !found.no_restart;
        (self.chain.is_none() || inductive).then_some(by_node)
    }

    /// True for the system itself.
    pub(crate) fn is_plain(&self) -> bool {
        self.chain.is_none() && self.trap.is_none()
    }
}

#[cfg(not(test))]
fn encode(_: &EngineContext, system: &Arc<System>) -> Encoding {
    Encoding::new(system)
}

#[cfg(test)]
fn encode(context: &EngineContext, system: &Arc<System>) -> Encoding {
    let mut encoding = Encoding::new(system);
    encoding.bug = context.config().options.bug;
    encoding
}
