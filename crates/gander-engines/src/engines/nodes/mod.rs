//! Node invariants: a set of states per node of the control graph, exact where possible.
//!
//! After *Static Analysis of Symbolic Transition Systems with Goose*. Strongly connected components
//! of the control graph are analysed in topological order. Outside cycles, the deduction rule
//! (strongest postcondition) is exact. A cyclic component is closed by repeated images; if that
//! reaches a fixpoint, it is exact too. Otherwise the invariants are conjunctions that every step
//! preserves (the triple rule), in later rounds also octagons. Invariants are projected onto the
//! variables that are live at their node ([`relevance`]).
//!
//! Each set records whether it is exact, so a state that only satisfies an over-approximation is
//! never taken for reachable. Runs are traced back through exact sets ([`visits`]). One invariant
//! serves all claims.

mod analysis;
mod branch;
mod components;
mod image;
mod limits;
mod literals;
mod octagons;
mod pieces;
mod relevance;
mod settle;
mod strengthen;
mod visits;

use std::time::Instant;

use gander_system::{ClaimId, ClaimKind};

use crate::core::{Advance, Cursor, Engine, EngineContext, EngineInfo, Fact, ProvedInvariant};
use crate::encode::question::is_question;
use crate::encode::view::View;

use analysis::{Analysis, Budget};
use branch::Branch;
use limits::LIMITS;
use settle::Decided;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "nodes",
    about: "invariants of nodes, component by component: exact outside cycles and where cycles close",
    decides,
    // Runs are mostly shortest; then the published bounds show it.
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Nodes::new(context)),
};

fn decides(kind: &ClaimKind) -> bool {
    is_question(kind)
}

/// See the module's documentation.
struct Nodes {
    jobs: Vec<Job>,
    obstacles: Vec<(ClaimId, String)>,
    cursor: Cursor,
    begun: bool,
}

/// One system to analyse: the given one, or the one that tracks a claim's chain of goals.
struct Job {
    chain: Option<ClaimId>,
    claims: Vec<ClaimId>,
    analysis: Option<Analysis>,
    /// Components that are closed in parallel.
    branches: Vec<Branch>,
    /// Analyses of finished branches, for reuse.
    free: Vec<Analysis>,
    /// The next question to decide.
    next: usize,
    undecided: Vec<(ClaimId, String)>,
    round: u32,
    over: bool,
}

impl Nodes {
    fn new(_: &EngineContext) -> Nodes {
        Nodes { jobs: Vec::new(), obstacles: Vec::new(), cursor: Cursor::default(), begun: false }
    }

    fn begin(&mut self, context: &EngineContext) {
        let system = context.system();
        let (chains, plain): (Vec<ClaimId>, Vec<ClaimId>) = context
            .claims()
            .iter()
            .partition(|c| View::needs_chain(&system.claims()[c.index()].kind));
        let job = |chain, claims| Job {
            chain,
            claims,
            analysis: None,
            branches: Vec::new(),
            free: Vec::new(),
            next: 0,
            undecided: Vec::new(),
            round: 0,
            over: false,
        };
        if !plain.is_empty() {
            self.jobs.push(job(None, plain));
        }
        self.jobs.extend(chains.into_iter().map(|c| job(Some(c), vec![c])));
    }
}

impl Engine for Nodes {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        if !std::mem::replace(&mut self.begun, true) {
            self.begin(context);
        }
        let begun = Instant::now();
        while begun.elapsed() < LIMITS.turn && !context.is_cancelled() {
            // Prefer the job with the fewest rounds.
            let open = self.jobs.iter_mut().filter(|j| !j.over).min_by_key(|j| j.round);
            let Some(job) = open else { return Advance::Finished };
            if let Err(why) = job.work(context, &mut self.cursor) {
                job.over = true;
                self.obstacles.extend(job.claims.iter().map(|&c| (c, why.clone())));
            }
        }
        Advance::Again
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let known = self.obstacles.iter().find(|(c, _)| *c == claim);
        let undecided = || self.jobs.iter().flat_map(|j| &j.undecided).find(|(c, _)| *c == claim);
        if let Some((_, why)) = known.or_else(undecided) {
            return Some(why.clone());
        }
        let job = self.jobs.iter().find(|j| j.claims.contains(&claim))?;
        let (done, all) = job.analysis.as_ref()?.progress();
        Some(format!("{done} of {all} components of the control graph are analysed"))
    }
}

impl Job {
    /// Does a small unit of work.
    fn work(&mut self, context: &EngineContext, cursor: &mut Cursor) -> Result<(), String> {
        let Some(analysis) = &mut self.analysis else {
            self.claims.retain(|&c| context.is_open(c));
            if self.claims.is_empty() {
                self.over = true;
                return Ok(());
            }
            self.analysis = Some(self.open(context, cursor)?);
            self.next = 0;
            return Ok(());
        };
        if !analysis.is_complete() {
            if self.branches.is_empty() {
                analysis.work(context);
            } else {
                self.free.extend(branch::work_in_parallel(
                    analysis,
                    &mut self.branches,
                    context,
                    LIMITS.turn,
                ));
            }
            self.begin_branch(context, cursor);
            let Some(analysis) = &mut self.analysis else { return Ok(()) };
            if analysis.is_complete() {
                analysis.visits.store_runs();
                if analysis.view.is_plain() {
                    publish(context, analysis);
                }
            }
            return Ok(());
        }
        let Some(question) = analysis.questions.get(self.next) else {
            // All questions were tried.
            self.round += 1;
            let claims: Vec<ClaimId> = self.undecided.iter().map(|(c, _)| *c).collect();
            let final_round =
                analysis.is_closed() || self.round >= context.config().options.nodes.rounds;
            self.over = claims.is_empty() || final_round;
            if !self.over {
                self.claims = claims;
                self.undecided.clear();
                self.analysis = None;
                self.free.clear();
            }
            return Ok(());
        };
        let claim = question.claim;
        if context.is_open(claim)
            && let Decided::No(why) = analysis.decide(context, self.next)
        {
            if context.is_cancelled() {
                return Ok(());
            }
            self.undecided.push((claim, why));
        }
        self.next += 1;
        Ok(())
    }

    /// Starts to close another component in parallel, if the current one takes long.
    fn begin_branch(&mut self, context: &EngineContext, cursor: &mut Cursor) {
        let workers = match context.config().jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        };
        if self.branches.len() + 1 >= workers || context.is_cancelled() {
            return;
        }
        let alone = context.config().options.nodes.alone;
        let Some(c) = self.analysis.as_mut().and_then(|a| a.next_parallel_component(alone)) else {
            return;
        };
        let other = self.free.pop().map_or_else(|| self.open(context, cursor), Ok);
        let (Ok(other), Some(analysis)) = (other, &mut self.analysis) else { return };
        self.branches.extend(Branch::new(analysis, other, context, c));
    }

    fn open(&self, context: &EngineContext, cursor: &mut Cursor) -> Result<Analysis, String> {
        let mut view = match self.chain {
            Some(claim) => View::chain(context, claim)?,
            None => View::plain(context),
        };
        let questions = self.claims.iter().filter_map(|&c| view.question(c)).collect();
        let mut lemmas = vec![Vec::new(); view.encoding.system.nodes().len()];
        if self.round > 0 {
            // Read all facts again, because each analysis has a separate term pool.
            *cursor = Cursor::default();
            for fact in context.blackboard().facts_since(cursor) {
                let Fact::Invariant(found) = &*fact else { continue };
                let inductive = found.k == 1
                    && !found.loop_free
                    && !found.no_restart
                    && found.engine != INFO.name;
                if inductive && let Some(by_node) = view.lemma(found) {
                    for (n, t) in by_node {
                        lemmas[n.index()].push(t);
                    }
                }
            }
        }
        Ok(Analysis::new(view, questions, Budget::of_round(self.round), lemmas))
    }
}

/// Publishes the invariants.
fn publish(context: &EngineContext, analysis: &mut Analysis) {
    let Some(formulas) = analysis.invariants() else { return };
    let says = |t: &gander_term::TermId| formulas.pool.as_bool(*t) != Some(true);
    if !formulas.by_node.iter().any(says) {
        return;
    }
    let (k, loop_free, no_restart) = (1, false, false);
    let text = format!("invariants of {} nodes", formulas.by_node.len());
    let engine = INFO.name.to_string();
    context.publish(
        Fact::Invariant(ProvedInvariant { formulas, k, loop_free, no_restart, engine }),
        text,
    );
}
