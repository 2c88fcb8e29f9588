//! Bugs that tests put into engines, to show that each kind of bug is caught.
//!
//! A bug is a decorator around an engine ([`Buggy`]): the engine works on a wrong system, or its
//! answers are changed on their way to the director. The director, the checker and the oracle see
//! the right system, so they must notice. The modules of the engines know nothing of this.

mod bugs;
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use gander_system::{ClaimId, System, Verdict};

use crate::core::{Advance, Engine, EngineContext, EngineInfo, Message, Proposal, Reduction};
use crate::engines::engines;

/// A kind of bug.
trait Bug: Send + 'static {
    /// The wrong system that the engine works on; none if it works on the right one. Variables,
    /// nodes, starts, transitions and claims have the same ids in both.
    fn system(_: &System) -> Option<System> {
        None
    }

    /// The answer that an answer becomes; none if it is lost.
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        Some(verdict)
    }

    /// By how much the depth that was searched is overstated.
    const EXTRA_DEPTH: u32 = 0;
}

/// A bug, to be put into any engine.
#[derive(Clone, Copy)]
struct SeededBug {
    name: &'static str,
    seed: fn(EngineInfo) -> EngineInfo,
}

/// A bug by its type.
fn bug<B: Bug>() -> SeededBug {
    SeededBug {
        name: std::any::type_name::<B>(),
        seed: |info| EngineInfo { open: open::<B>, ..info },
    }
}

/// The entry of an engine in the list of engines.
fn engine(name: &str) -> EngineInfo {
    *engines().iter().find(|e| e.name == name).expect("there is an engine with this name")
}

/// An engine with a bug.
struct Buggy<B> {
    engine: Box<dyn Engine>,
    /// The context that the engine sees.
    context: EngineContext,
    /// What the engine says.
    heard: Receiver<Message>,
    /// The overstated depths, by claim of the context.
    depths: Vec<Option<u32>>,
    bug: PhantomData<B>,
}

fn open<B: Bug>(outer: &EngineContext) -> Box<dyn Engine> {
    let (messages, heard) = channel();
    let reduction = match B::system(&outer.reduction.given) {
        Some(wrong) => Reduction::of(&Arc::new(wrong), &outer.cancellation),
        None => outer.reduction.clone(),
    };
    let context = EngineContext {
        engine: outer.engine,
        shortest: outer.shortest,
        reduction,
        config: Arc::clone(&outer.config),
        claims: outer.claims.clone(),
        deferred: Arc::clone(&outer.deferred),
        blackboard: Arc::clone(&outer.blackboard),
        settled: Arc::clone(&outer.settled),
        cancellation: outer.cancellation.clone(),
        processes: outer.processes.clone(),
        records: None,
        messages,
        nested_check: outer.nested_check,
    };
    Box::new(Buggy::<B> {
        engine: (engine(outer.engine).open)(&context),
        depths: vec![None; context.claims.len()],
        context,
        heard,
        bug: PhantomData,
    })
}

impl<B: Bug> Buggy<B> {
    fn with_bug(&self, outer: &EngineContext, proposal: Proposal) -> Option<Proposal> {
        let verdict = B::answer(outer.given(), proposal.verdict)?;
        Some(Proposal { verdict, ..proposal })
    }

    fn pass_on(&self, outer: &EngineContext) {
        for message in self.heard.try_iter() {
            let message = match message {
                Message::Proposal(p) => match self.with_bug(outer, *p) {
                    Some(p) => Message::Proposal(Box::new(p)),
                    None => continue,
                },
                Message::Conjectures(all, likelihood) => Message::Conjectures(
                    all.into_iter().filter_map(|p| self.with_bug(outer, p)).collect(),
                    likelihood,
                ),
                other => other,
            };
            // The director may be gone.
            let _ = outer.messages.send(message);
        }
    }

    fn overstate_depths(&mut self) {
        for (&claim, known) in self.context.claims.iter().zip(&mut self.depths) {
            let depth = self.context.blackboard.bound(claim);
            if let Some(depth) = depth.filter(|d| known.is_none_or(|k| *d > k)) {
                self.context.blackboard.raise_bound(claim, depth + B::EXTRA_DEPTH);
                *known = Some(depth + B::EXTRA_DEPTH);
            }
        }
    }
}

impl<B: Bug> Engine for Buggy<B> {
    fn advance(&mut self, outer: &EngineContext) -> Advance {
        let advance = self.engine.advance(&self.context);
        self.overstate_depths();
        self.pass_on(outer);
        advance
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        self.engine.obstacle(claim)
    }
}
