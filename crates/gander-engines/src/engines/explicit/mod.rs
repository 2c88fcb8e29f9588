//! Explicit-state model checking: breadth-first search over packed states, with compiled steps, on
//! all processors.
//!
//! Variables are Booleans, enumeration values, bit-vectors of at most 64 bits, or ints. Ints need
//! no range; if infinitely many states are reachable, the search ends at the memory limit.
//! Parameters, inputs and next values that an effect leaves open are enumerated if equations
//! determine them or if they have finite sorts or bounds ([`crate::concrete::compiled::plan`]);
//! otherwise the obstacle names them before the search starts. Questions about reachability are
//! decided during the search, with shortest runs; `always possible` is decided on the complete
//! graph by backward search. A proof is an [`Evidence::ClosedSet`], whose checker enumerates the
//! states again. States that are too far from a goal for the remaining steps are pruned
//! ([`crate::concrete::step_lower_bound`]). A product of dozens of independent parts has too many
//! states; the search for runs in it gets a small part of the memory ([`product`]).
//!
//! After Holzmann, *The model checker SPIN* (1997), for compact states, and Holzmann and Bosnacki,
//! *The design of a multicore extension of the SPIN model checker* (2007), for parallel search.
//! Here the results do not depend on the number of threads.

mod limits;
mod product;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use gander_system::{ClaimId, ClaimKind, Evidence, NodeFormulas, Verdict};

use crate::concrete::step_lower_bound::goal_out_of_reach;
use crate::core::memory::own_memory;
use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::question::{Place, Question, is_question};
use crate::encode::targets::{Targets, question_targets, state_targets};
use crate::encode::view::View;

use crate::concrete::compiled::machine::Machine;
use crate::concrete::states::explore::{Explorer, Met, Phase, Resources, Stop};
use crate::concrete::states::graph::Graph;
use limits::LIMITS;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "explicit",
    about: "explicit states: every reachable state of a finite system, breadth first",
    decides: |kind: &ClaimKind| is_question(kind) || matches!(kind, ClaimKind::AlwaysPossible(_)),
    finds_shortest: true,
    begins_at_once: false,
    open: |context| Box::new(Explicit::new(context)),
};

/// How a claim is decided.
enum Method {
    /// A target is met, or never met.
    Question(Question),
    /// Every state can reach the goal.
    Possible,
}

/// A claim of an exploration. Its index is the index of its goal.
struct ClaimSearch {
    claim: ClaimId,
    method: Method,
    open: bool,
}

/// Claims that one exploration decides, and the states that it need not enter.
struct Waiting {
    claims: Vec<ClaimId>,
    trap: Option<NodeFormulas>,
}

/// Claims that one exploration decides.
struct Group {
    view: View,
    claim_searches: Vec<ClaimSearch>,
    explorer: Option<Explorer>,
    /// The states that were found, also after the explorer is gone.
    states: usize,
    reported: u32,
}

/// See the module's documentation.
struct Explicit {
    /// Explorations to do; the last comes first. These are claims with pruned states, one each;
    /// then all other claims of the system together; then each claim that needs a chain of goals.
    waiting: Vec<Waiting>,
    group: Option<Group>,
    obstacles: Vec<(ClaimId, String)>,
    resources: Resources,
}

impl Explicit {
    fn new(context: &EngineContext) -> Explicit {
        let claims = context.system().claims();
        let chained = |c: &ClaimId| View::needs_chain(&claims[c.index()].kind);
        let (chains, mut plain): (Vec<ClaimId>, Vec<ClaimId>) =
            context.claims().iter().copied().partition(chained);
        let one = |claim: ClaimId, trap| Waiting { claims: vec![claim], trap };
        let mut waiting: Vec<Waiting> = chains.into_iter().rev().map(|c| one(c, None)).collect();
        let bounded = context.config().options.uses(crate::core::Method::StepLowerBounds);
        let trap = |c: ClaimId| {
            bounded.then(|| goal_out_of_reach(context.system(), &claims[c.index()].kind)).flatten()
        };
        let mut alone: Vec<Waiting> =
            plain.iter().filter_map(|&c| Some(one(c, Some(trap(c)?)))).collect();
        if alone.len() > LIMITS.single_claims {
            alone.clear();
        }
        plain.retain(|c| !alone.iter().any(|w| w.claims.contains(c)));
        if !plain.is_empty() {
            waiting.push(Waiting { claims: plain, trap: None });
        }
        waiting.extend(alone.into_iter().rev());
        Explicit { waiting, group: None, obstacles: Vec::new(), resources: resources(context) }
    }

    fn add_obstacles(&mut self, claims: impl IntoIterator<Item = ClaimId>, why: &str) {
        self.obstacles.extend(claims.into_iter().map(|c| (c, why.to_string())));
    }

    /// Prepares an exploration for claims.
    fn open(&mut self, context: &EngineContext, claims: Vec<ClaimId>, trap: Option<NodeFormulas>) {
        match Group::new(context, &claims, trap, self.resources) {
            Ok((group, obstacles)) => {
                self.obstacles.extend(obstacles);
                self.group = Some(group);
            }
            Err(why) => self.add_obstacles(claims, &why),
        }
    }

    fn stopped(&mut self, context: &EngineContext, group: &Group, stop: Stop) {
        let states = group.states;
        let why = match stop {
            Stop::Cancelled => return,
            Stop::Memory => {
                format!(
                    "memory: the limit is reached with {states} states; a larger one (--memory) may help"
                )
            }
            Stop::StepError(t) => {
                format!("{}, after {states} states", t.describe(context.system().pool()))
            }
        };
        let open: Vec<ClaimId> =
            group.claim_searches.iter().filter(|a| a.open).map(|a| a.claim).collect();
        self.add_obstacles(open, &why);
    }
}

impl Engine for Explicit {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let Some(mut group) = self.group.take() else {
            let Some(next) = self.waiting.pop() else { return Advance::Finished };
            let claims: Vec<ClaimId> =
                next.claims.into_iter().filter(|&c| context.is_open(c)).collect();
            if !claims.is_empty() && !context.is_cancelled() {
                self.open(context, claims, next.trap);
            }
            return if context.is_cancelled() { Advance::Finished } else { Advance::Again };
        };
        match group.advance(context, self.resources) {
            Ok(Phase::More) => self.group = Some(group),
            Ok(Phase::Complete) => {}
            Err(stop) => self.stopped(context, &group, stop),
        }
        if context.is_cancelled() { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let own = self.obstacles.iter().find(|(c, _)| *c == claim).map(|(_, why)| why.clone());
        own.or_else(|| {
            let group = self.group.as_ref()?;
            let is_open = group.claim_searches.iter().any(|a| a.claim == claim && a.open);
            let explorer = group.explorer.as_ref()?;
            is_open.then(|| format!("{} states so far", explorer.states()))
        })
    }
}

impl Group {
    /// Returns as error a description of what is not finite.
    fn new(
        context: &EngineContext,
        claims: &[ClaimId],
        trap: Option<NodeFormulas>,
        resources: Resources,
    ) -> Result<(Group, Vec<(ClaimId, String)>), String> {
        let kinds = context.system().claims();
        let chain = claims.iter().find(|c| View::needs_chain(&kinds[c.index()].kind));
        let mut view = match (chain, trap) {
            (Some(&claim), _) => View::chain(context, claim)?,
            (None, Some(trap)) => View::outside(context, trap)?,
            (None, None) => View::plain(context),
        };
        let (mut claim_searches, mut targets): (Vec<ClaimSearch>, Targets) =
            (Vec::new(), Targets::default());
        for &claim in claims {
            if context.is_cancelled() {
                return Err("interrupted".into());
            }
            let goal = claim_searches.len();
            let method = match &kinds[claim.index()].kind {
                ClaimKind::AlwaysPossible(p) => {
                    state_targets(&mut view, *p, goal, &mut targets);
                    Method::Possible
                }
                kind => {
                    let Some(question) = view.question(claim) else { continue };
                    question_targets(&mut view, kind, &question, goal, &mut targets);
                    Method::Question(question)
                }
            };
            claim_searches.push(ClaimSearch { claim, method, open: true });
        }
        let system = Arc::clone(&view.encoding.system);
        let (machine, blind) =
            Machine::new(&system, &mut view.encoding.pool, &targets, context.cancellation())?;
        let mut obstacles = Vec::new();
        for (goal, why) in blind {
            claim_searches[goal].open = false;
            obstacles.push((claim_searches[goal].claim, why));
        }
        let explorer = Explorer::new(machine, resources);
        Ok((
            Group { view, claim_searches, explorer: Some(explorer), states: 0, reported: 0 },
            obstacles,
        ))
    }

    fn advance(&mut self, context: &EngineContext, resources: Resources) -> Result<Phase, Stop> {
        let Some(mut explorer) = self.explorer.take() else { return Ok(Phase::Complete) };
        for a in &mut self.claim_searches {
            a.open &= context.is_open(a.claim);
        }
        if self.claim_searches.iter().all(|a| !a.open) {
            return Ok(Phase::Complete);
        }
        let open: Vec<bool> = self
            .claim_searches
            .iter()
            .map(|a| a.open && matches!(a.method, Method::Question(_)))
            .collect();
        let mut met = Vec::new();
        let phase = explorer.advance(&open, context.cancellation(), &mut met);
        self.states = explorer.states();
        // If the exploration was stopped, some start states may be missing.
        if explorer.has_begun() && explorer.depth() == 0 && phase.is_ok() {
            self.starts(context, &explorer);
        }
        for m in &met {
            self.met(context, &explorer, m);
        }
        if phase? == Phase::More {
            self.report(context, &explorer);
            self.explorer = Some(explorer);
            return Ok(Phase::More);
        }
        self.complete(context, explorer, resources)?;
        Ok(Phase::Complete)
    }

    /// Decides claims about starts.
    fn starts(&mut self, context: &EngineContext, explorer: &Explorer) {
        for a in self.claim_searches.iter_mut().filter(|a| a.open) {
            let Method::Question(q) = &a.method else { continue };
            for target in &q.targets {
                let Place::Beginning(s) = target.place else { continue };
                let mut first = None;
                explorer.each_start(&mut |start, at| {
                    if start == s {
                        first = at;
                    }
                    first.is_some()
                });
                a.open = false;
                let verdict = match first {
                    Some(i) => {
                        let run = gander_system::Run {
                            start: s,
                            first: explorer.state(i),
                            legs: gander_system::Legs::new(),
                        };
                        self.view.met(q, run)
                    }
                    None => Some(q.never_met(Evidence::Refutation)),
                };
                if let Some(verdict) = verdict {
                    context.propose(a.claim, verdict);
                }
                break;
            }
        }
    }

    fn met(&mut self, context: &EngineContext, explorer: &Explorer, met: &Met) {
        let a = &mut self.claim_searches[met.goal];
        let Method::Question(q) = &a.method else { return };
        a.open = false;
        if let Some(verdict) = explorer.run_that_met(met).and_then(|run| self.view.met(q, run)) {
            context.propose(a.claim, verdict);
        }
    }

    fn report(&mut self, context: &EngineContext, explorer: &Explorer) {
        let depth = explorer.depth();
        if depth == self.reported {
            return;
        }
        self.reported = depth;
        for a in
            self.claim_searches.iter().filter(|a| a.open && matches!(a.method, Method::Question(_)))
        {
            self.view.raise_bound(context.blackboard(), a.claim, depth - 1);
        }
        let text =
            format!("depth {depth}, {} states, {} steps", explorer.states(), explorer.edges());
        context.progress(Some(depth), text);
    }

    /// Decides the open claims once all states are known: a target that was not met never is.
    fn complete(
        &mut self,
        context: &EngineContext,
        explorer: Explorer,
        resources: Resources,
    ) -> Result<(), Stop> {
        for a in self.claim_searches.iter_mut().filter(|a| a.open) {
            if let Method::Question(q) = &a.method {
                a.open = false;
                context.propose(a.claim, q.never_met(self.view.proof(explorer.closed())));
            }
        }
        if self.claim_searches.iter().all(|a| !a.open) {
            return Ok(());
        }
        let cancelled = context.cancellation();
        let (goals, graph) = (self.claim_searches.len(), Graph::of(&explorer));
        let edges = graph.edges(resources.memory / 2, cancelled)?;
        for (goal, a) in self.claim_searches.iter_mut().enumerate().filter(|(_, a)| a.open) {
            let reach = edges.can_reach(&graph.label(goal, goals, cancelled)?);
            a.open = false;
            // States are numbered by their distance from the start.
            let verdict = match reach.iter().position(|&r| !r) {
                None => Verdict::Holds(explorer.closed()),
                Some(lost) => {
                    let run = explorer.run_to(lost as u32).and_then(|run| self.view.run(run));
                    Verdict::Fails(match run {
                        Some(run) => {
                            let states = edges.reached_from(lost as u32);
                            Evidence::Impossible {
                                run,
                                proof: Box::new(Evidence::ClosedSet { states }),
                            }
                        }
                        None => explorer.closed(),
                    })
                }
            };
            context.propose(a.claim, verdict);
        }
        Ok(())
    }
}

/// The memory and threads from the configuration, or else all processors.
fn resources(context: &EngineContext) -> Resources {
    let config = context.config();
    let threads = match config.jobs {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        jobs => jobs,
    };
    let parts = product::independent_parts(context.system());
    let share = if parts > LIMITS.parts { LIMITS.memory_of_product } else { 1 };
    Resources { memory: own_memory(config) / share, threads }
}
