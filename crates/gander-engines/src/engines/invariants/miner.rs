//! The miner of one system: samples, levels, and proved lemmas.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_system::{ClaimId, Evidence, NodeFormulas, NodeId, System};
use gander_term::TermId;
use rustc_hash::FxHashSet;

use crate::core::{Cursor, EngineContext, Fact, Method, ProvedInvariant, portable};
use crate::encode::batch::Batch;
use crate::encode::question::Question;
use crate::encode::view::View;

use super::copies::has_copies;
use super::limits::LIMITS;
use super::mining::{Level, mine, words};
use super::phases::has_phases;
use super::samples::Samples;
use crate::candidates::candidate::Candidate;
use crate::candidates::houdini::{FilterResult, Houdini};
use crate::candidates::octagon_analysis::OctagonAnalysis;

/// What is tried, one after the other: a level and a depth of induction.
const ROUNDS: [(Level, u32); 13] = [
    (Level::Copies, 1),
    (Level::Phases, 1),
    (Level::Plain, 1),
    (Level::Octagons, 1),
    (Level::Plain, 2),
    (Level::Guarded, 1),
    (Level::Guarded, 2),
    (Level::Wide, 1),
    (Level::Plain, 3),
    (Level::Wide, 2),
    (Level::Guarded, 3),
    (Level::Plain, 5),
    (Level::Wide, 3),
];

/// A claim that may follow from invariants.
struct Goal {
    question: Question,
    /// Formulas that exclude all targets.
    exclusion: Vec<Candidate>,
    open: bool,
}

/// The current stage of a round.
enum Stage {
    /// Random runs give states.
    Sampling,
    /// Candidates are made from these states.
    Mining,
    /// The octagon analysis runs.
    WideningOctagons(OctagonAnalysis),
    /// Houdini drops candidates.
    Filtering,
}

/// See the module's documentation.
pub(super) struct Miner {
    view: View,
    nodes: Vec<NodeId>,
    goals: Vec<Goal>,
    samples: Option<Samples>,
    houdini: Houdini,
    stage: Stage,
    round: usize,
    /// The greatest depth of induction that a lemma needed.
    k: u32,
    cursor: Cursor,
    used: Duration,
    failure: Option<String>,
    over: bool,
}

impl Miner {
    pub(super) fn new(batch: Batch) -> Miner {
        let Batch { mut view, questions, features } = batch;
        let nodes = view.encoding.reachable_nodes();
        let claims: Vec<ClaimId> = questions.iter().map(|q| q.claim).collect();
        let mut goals = Vec::new();
        for question in questions {
            let Some(exclusion) = view.question_builder.exclusion(&mut view.encoding, &question)
            else {
                continue;
            };
            let candidates = exclusion.into_iter().filter(|(n, _)| nodes.binary_search(n).is_ok());
            let exclusion = candidates.map(|(node, formula)| Candidate { node, formula }).collect();
            goals.push(Goal { question, exclusion, open: true });
        }
        Miner {
            view,
            nodes,
            goals,
            samples: None,
            houdini: Houdini::new(features, claims),
            stage: Stage::Sampling,
            round: 0,
            k: 1,
            cursor: Cursor::default(),
            used: Duration::ZERO,
            failure: None,
            over: false,
        }
    }

    pub(super) fn used(&self) -> Duration {
        self.used
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Why a claim is not decided.
    pub(super) fn obstacle(&self, claim: ClaimId) -> Option<String> {
        self.goals.iter().find(|g| g.question.claim == claim)?;
        let count = self.houdini.lemmas().len();
        let found = match count {
            0 => "no invariant found".to_string(),
            1 => "1 invariant found".to_string(),
            n => format!("{n} invariants found"),
        };
        Some(match (&self.failure, count) {
            (Some(why), _) => format!("{found}, then {why}"),
            (None, 0) => found,
            (None, 1) => "the invariant that was found does not imply it".to_string(),
            (None, n) => format!("the {n} invariants that were found do not imply it"),
        })
    }

    /// Does a unit of work.
    pub(super) fn advance(&mut self, context: &EngineContext) {
        let begun = Instant::now();
        match std::mem::replace(&mut self.stage, Stage::Mining) {
            Stage::Sampling => self.sample(context),
            Stage::Mining => self.mine(context),
            Stage::WideningOctagons(analysis) => {
                self.widen_octagons(context, analysis, begun + LIMITS.slice)
            }
            Stage::Filtering => {
                self.stage = Stage::Filtering;
                self.filter(context, begun + LIMITS.slice);
            }
        }
        self.used += begun.elapsed();
    }

    fn sample(&mut self, context: &EngineContext) {
        let system = Arc::clone(context.system());
        let first = self.samples.is_none();
        let samples =
            self.samples.get_or_insert_with(|| Samples::new(&system, context.config().seed));
        let end = Instant::now() + LIMITS.slice;
        let stop = context.cancellation().with_deadline(Some(end));
        let (steps, length) =
            if first { (LIMITS.first_steps, 60) } else { (LIMITS.more_steps, 400) };
        samples.run(steps, length, &stop);
        if first && uses_copies(context, &system) {
            // Values pass through many variables before they are compared.
            let end = end + LIMITS.long_slice;
            samples.run(
                LIMITS.long_steps,
                LIMITS.long_steps,
                &context.cancellation().with_deadline(Some(end)),
            );
        }
        for fact in context.blackboard().facts_since(&mut self.cursor) {
            if let Fact::Reachable(state) = &*fact {
                samples.add(state.clone());
            }
        }
        self.stage = Stage::Mining;
    }

    fn mine(&mut self, context: &EngineContext) {
        // The first two rounds apply to few systems and do not count.
        let most =
            context.config().options.invariants.max_rounds.map_or(ROUNDS.len(), |most| most + 2);
        let Some(&(level, k)) = ROUNDS.get(self.round).filter(|_| self.round < most) else {
            self.over = true;
            return;
        };
        let system = &self.view.encoding.system;
        let applies = match level {
            Level::Copies => uses_copies(context, system),
            Level::Phases => has_phases(system),
            _ => true,
        };
        if !applies {
            self.round += 1;
            return;
        }
        let Some(samples) = &self.samples else { return };
        let mut claimed: Vec<TermId> = Vec::new();
        for goal in &mut self.goals {
            goal.open &= context.is_open(goal.question.claim);
            if goal.open {
                claimed.extend(goal.exclusion.iter().map(|c| c.formula));
            }
        }
        let at = |n: NodeId| samples.at(n).to_vec();
        if level == Level::Octagons {
            let candidate_terms = words(&mut self.view.encoding, &claimed, level);
            match OctagonAnalysis::new(&mut self.view.encoding, &self.nodes, &candidate_terms, &at)
            {
                Some(analysis) => self.stage = Stage::WideningOctagons(analysis),
                None => self.next_round(),
            }
            return;
        }
        let candidates = mine(&mut self.view.encoding, &self.nodes, &claimed, &at, level);
        self.begin(context, candidates, k);
    }

    fn next_round(&mut self) {
        self.round += 1;
        self.stage = Stage::Sampling;
    }

    /// Runs the octagon analysis and takes the bounds of all its elements as candidates.
    fn widen_octagons(
        &mut self,
        context: &EngineContext,
        mut analysis: OctagonAnalysis,
        until: Instant,
    ) {
        let e = &mut self.view.encoding;
        loop {
            if context.is_cancelled() || Instant::now() >= until {
                self.stage = Stage::WideningOctagons(analysis);
                return;
            }
            let element = analysis.element(e);
            match self.houdini.leads_out(e, context, &element) {
                Ok(None) => break,
                Ok(Some(states)) => {
                    if states.is_empty() || !states.iter().all(|s| analysis.widen(e, s)) {
                        break;
                    }
                }
                Err(_) => break,
            }
        }
        let candidates = analysis.candidates(e);
        self.begin(context, candidates, 1);
    }

    /// Begins to filter candidates, together with the exclusions of claims.
    fn begin(&mut self, context: &EngineContext, candidates: Vec<Candidate>, k: u32) {
        let open =
            self.goals.iter().filter(|g| g.open && !context.blackboard().has_run(g.question.claim));
        let claimed: Vec<Candidate> = open.flat_map(|g| &g.exclusion).copied().collect();
        let mut candidates: Vec<Candidate> = claimed.into_iter().chain(candidates).collect();
        let mut seen: FxHashSet<Candidate> = self.houdini.lemmas().iter().copied().collect();
        candidates.retain(|c| seen.insert(*c));
        context.progress(None, format!("{} candidates", candidates.len()));
        self.houdini.begin(&self.view.encoding, candidates, k);
        self.stage = Stage::Filtering;
    }

    fn filter(&mut self, context: &EngineContext, until: Instant) {
        let (proved, implied) = match self.houdini.advance(&mut self.view.encoding, context, until)
        {
            FilterResult::More => return,
            FilterResult::Failed(why) => {
                self.failure = Some(why);
                self.over = true;
                return;
            }
            FilterResult::Done { proved, implied } => (proved, implied),
        };
        if let Some(samples) = &mut self.samples {
            for state in std::mem::take(&mut self.houdini.found) {
                if samples.add(state.clone()) {
                    context.blackboard().publish(Fact::Reachable(state));
                }
            }
        }
        let k = ROUNDS.get(self.round).map_or(1, |r| r.1);
        if !proved.is_empty() {
            self.k = self.k.max(k);
        }
        self.conclude(context, &proved, &implied);
        if !proved.is_empty() {
            let until = Instant::now() + LIMITS.redundancy_slice;
            let kept =
                self.houdini.without_redundant(&mut self.view.encoding, context, proved, until);
            if !kept.is_empty() {
                self.houdini.add_lemmas(&kept);
                self.publish(context, kept.len());
            }
        }
        self.next_round();
    }

    /// The conjunction of the lemmas and of `more`, by node.
    fn formulas(&mut self, more: &[Candidate]) -> Option<NodeFormulas> {
        let e = &mut self.view.encoding;
        let mut parts: Vec<Vec<TermId>> = vec![Vec::new(); e.system.nodes().len()];
        for c in self.houdini.lemmas().iter().chain(more) {
            parts[c.node.index()].push(c.formula);
        }
        let mut by_node = Vec::new();
        for (n, parts) in parts.into_iter().enumerate() {
            let reached = self.nodes.binary_search(&NodeId::from(n)).is_ok();
            by_node.push(if reached { e.pool.and(parts) } else { e.pool.ff() });
        }
        portable(&e.system, &e.pool, &by_node).ok()
    }

    /// Proposes the claims whose exclusions are all proved or implied.
    fn conclude(&mut self, context: &EngineContext, proved: &[Candidate], implied: &[Candidate]) {
        let lemmas = self.houdini.lemmas().iter();
        let known: FxHashSet<Candidate> = lemmas.chain(proved).chain(implied).copied().collect();
        let settled: Vec<usize> = (0..self.goals.len())
            .filter(|&g| {
                self.goals[g].open && self.goals[g].exclusion.iter().all(|c| known.contains(c))
            })
            .collect();
        if settled.is_empty() {
            return;
        }
        let Some(invariant) = self.formulas(proved) else { return };
        for g in settled {
            let goal = &mut self.goals[g];
            goal.open = false;
            let invariant = invariant.clone();
            let evidence = match self.k {
                1 => Evidence::Invariant(invariant),
                k => Evidence::KInductive { k, invariant, loop_free: false, no_restart: false },
            };
            context
                .propose(goal.question.claim, goal.question.never_met(self.view.proof(evidence)));
        }
    }

    fn publish(&mut self, context: &EngineContext, new: usize) {
        let Some(formulas) = self.formulas(&[]) else { return };
        let k = self.k;
        let engine = context.engine.to_string();
        let invariant =
            ProvedInvariant { formulas, k, loop_free: false, no_restart: false, engine };
        context.publish(Fact::Invariant(invariant), format!("{new} invariants at k = {k}"));
    }
}

/// True if candidates about copies are mined.
fn uses_copies(context: &EngineContext, system: &System) -> bool {
    context.config().options.uses(Method::Copies) && has_copies(system)
}
