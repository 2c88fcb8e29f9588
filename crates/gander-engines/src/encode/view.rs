//! Views: the system that a claim's question is about. It is the reduced system itself, the chain
//! system of a claim with several goals, or the runs outside a trap.

use std::sync::Arc;

use gander_system::passes::{self, Chain, Restore};
use gander_system::{ClaimId, ClaimKind, Evidence, Goal, NodeFormulas, NodeId, Run, Verdict};
use gander_term::{Importer, TermId};

use crate::core::{Blackboard, EngineContext, ProvedInvariant};
use crate::encode::encoding::Encoding;
use crate::encode::question::{Question, QuestionBuilder};

/// A system with its encoding, and the map back to the reduced system.
pub(crate) struct View {
    pub encoding: Encoding,
    pub question_builder: QuestionBuilder,
    chain: Option<ChainView>,
    /// The set that runs stay outside of.
    trap: Option<NodeFormulas>,
}

struct ChainView {
    chain: Chain,
    claim: ClaimId,
    /// The number of internal steps (without time) in every run of the chain system that meets all
    /// goals.
    internal: u32,
}

impl View {
    /// The system itself.
    pub(crate) fn plain(context: &EngineContext) -> View {
        View {
            encoding: Encoding::new(context.system()),
            question_builder: QuestionBuilder::default(),
            chain: None,
            trap: None,
        }
    }

    /// The chain system of a claim.
    pub(crate) fn chain(context: &EngineContext, claim: ClaimId) -> Result<View, String> {
        let system = context.system();
        let chain = passes::chain(system, claim).map_err(|e| e.to_string())?;
        let of_chain = Arc::new(chain.system.clone());
        let internal = match &system.claims()[claim.index()].kind {
            ClaimKind::Reachable(goals) => {
                goals.iter().filter(|g| matches!(g, Goal::State(_))).count() as u32
            }
            _ => 0,
        };
        let encoding = Encoding::new(&of_chain);
        Ok(View {
            encoding,
            question_builder: QuestionBuilder::default(),
            chain: Some(ChainView { chain, claim, internal }),
            trap: None,
        })
    }

    /// The runs outside a set that no step leaves and that contains no target of the claims.
    pub(crate) fn outside(context: &EngineContext, trap: NodeFormulas) -> Result<View, String> {
        let system = passes::outside(context.system(), &trap)
            .ok_or("the runs outside cannot be told apart")?;
        let encoding = Encoding::new(&Arc::new(system));
        Ok(View {
            encoding,
            question_builder: QuestionBuilder::default(),
            chain: None,
            trap: Some(trap),
        })
    }

    /// The view for a claim.
    pub(crate) fn of_claim(context: &EngineContext, claim: ClaimId) -> Result<View, String> {
        match View::needs_chain(&context.system().claims()[claim.index()].kind) {
            true => View::chain(context, claim),
            false => Ok(View::plain(context)),
        }
    }

    /// True if the claim's question is about its chain system.
    pub(crate) fn needs_chain(kind: &ClaimKind) -> bool {
        matches!(kind, ClaimKind::Reachable(goals) if goals.len() > 1)
    }

    /// The question of a claim of the engine's system.
    pub(crate) fn question(&mut self, claim: ClaimId) -> Option<Question> {
        let here = if self.chain.is_some() { ClaimId(0) } else { claim };
        let question = self.question_builder.question(&mut self.encoding, here)?;
        Some(Question { claim, ..question })
    }

    /// Maps a run back to the engine's system.
    pub(crate) fn run(&self, run: Run) -> Option<Run> {
        match &self.chain {
            Some(c) => c.chain.run(&run),
            None => Some(run),
        }
    }

    /// Wraps other evidence as evidence about the engine's system.
    pub(crate) fn proof(&self, evidence: Evidence) -> Evidence {
        match (&self.chain, &self.trap) {
            (Some(_), _) => Evidence::OfChain(Box::new(evidence)),
            (None, Some(trap)) => {
                Evidence::Outside { trap: trap.clone(), proof: Box::new(evidence) }
            }
            (None, None) => evidence,
        }
    }

    /// The verdict of a run that meets a target of the question.
    pub(crate) fn met(&self, question: &Question, run: Run) -> Option<Verdict> {
        Some(question.met(Evidence::Run(self.run(run)?)))
    }

    /// Publishes that no run of at most `depth` steps in this view meets a target of the claim.
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

    /// The depth that is known to be without a target, in steps of this view.
    pub(crate) fn bound(&self, blackboard: &Blackboard, claim: ClaimId) -> Option<u32> {
        let internal = self.chain.as_ref().map_or(0, |c| c.internal);
        match blackboard.bound(claim) {
            Some(bound) => Some(bound + internal),
            None => internal.checked_sub(1),
        }
    }

    /// A number of steps of the engine's system in steps of this view: a run of that many steps
    /// that meets all goals of a chain has further internal steps.
    pub(crate) fn depth(&self, steps: u32) -> u32 {
        steps.saturating_add(self.chain.as_ref().map_or(0, |c| c.internal))
    }

    /// A number of steps of this view in steps of the engine's system, for runs that meet all
    /// goals; `None` if there is none so short.
    pub(crate) fn steps(&self, depth: u32) -> Option<u32> {
        depth.checked_sub(self.chain.as_ref().map_or(0, |c| c.internal))
    }

    /// An invariant of the engine's system as one of this view, by node; `None` if it does not
    /// carry over.
    pub(crate) fn lemma(&mut self, found: &ProvedInvariant) -> Option<Vec<(NodeId, TermId)>> {
        let e = &mut self.encoding;
        let formulas = &found.formulas;
        let mut importer = Importer::new();
        let mut by_node = Vec::new();
        for n in e.system.node_ids() {
            // A chain system has a copy of each node for each stage.
            let old = n.index() % formulas.by_node.len().max(1);
            let t =
                importer.import(&mut e.pool, &formulas.pool, *formulas.by_node.get(old)?).ok()?;
            by_node.push((n, t));
        }
        // Internal steps of a chain system repeat states, so only inductive invariants carry over.
        let inductive = found.k == 1 && !found.loop_free && !found.no_restart;
        (self.chain.is_none() || inductive).then_some(by_node)
    }

    /// True for the system itself.
    pub(crate) fn is_plain(&self) -> bool {
        self.chain.is_none() && self.trap.is_none()
    }
}
