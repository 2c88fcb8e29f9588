//! Fair cycles: decides claims about maximal runs of finite systems on the graph of all states.
//!
//! The liveness-to-safety system of the claim is explored state by state. A run of the kind asked
//! for exists iff a pending state is stuck (if finite runs count), or some strongly connected
//! component of pending states has a cycle and a state that completes a round: a cycle through that
//! state is a lasso, which is fair because the round is complete (Vardi and Wolper 1986; components
//! after Tarjan 1972). Otherwise only components without a cycle complete rounds, so the longest
//! path through the components bounds the number of rounds. This bound, with the states of the
//! system that counts to it, is the proof.
//!
//! It gives up at once on systems that are not finite, and beyond `Limits::cycle_states` states.

use std::sync::Arc;

use gander_system::passes::{Aspect, LivenessToSafety, Stage, liveness_to_safety};
use gander_system::{ClaimId, ClaimKind, Evidence, Leg, Rounds, StateTerm, System, Verdict};
use gander_term::{Pool, TermId};

use super::limits::LIMITS;
use super::strategies::Found;
use crate::concrete::compiled::machine::Machine;
use crate::concrete::states::explore::{Explorer, Met, Phase, Resources, Stop};
use crate::concrete::states::graph::{Edges, Graph};
use crate::core::EngineContext;
use crate::core::memory::own_memory;
use crate::encode::targets::{StateTarget, Targets};

/// The liveness-to-safety system to explore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SearchedSystem {
    Stuck,
    Rounds,
    AtMost(u32),
}

/// See the module's documentation.
pub(super) struct FairCycleSearch {
    system: Arc<System>,
    claim: ClaimId,
    searched: SearchedSystem,
    now: Option<(LivenessToSafety, Explorer)>,
}

impl FairCycleSearch {
    /// A search on the liveness-to-safety systems of a claim; `finite` says whether finite runs
    /// count.
    pub(super) fn new(system: &System, claim: ClaimId, finite: bool) -> FairCycleSearch {
        let searched = if finite { SearchedSystem::Stuck } else { SearchedSystem::Rounds };
        FairCycleSearch { system: Arc::new(system.clone()), claim, searched, now: None }
    }

    /// Does a unit of work.
    pub(super) fn advance(&mut self, context: &EngineContext) -> Found {
        match self.piece(context) {
            Ok(found) => found,
            Err(why) => Found::Nothing(why),
        }
    }

    fn piece(&mut self, context: &EngineContext) -> Result<Found, String> {
        let Some((of, mut explorer)) = self.now.take() else {
            self.now = Some(self.open(context)?);
            return Ok(Found::More);
        };
        let mut met = Vec::new();
        let cancelled = context.cancellation();
        let open = [self.searched != SearchedSystem::Rounds];
        for _ in 0..LIMITS.cycle_pieces {
            let phase = match explorer.advance(&open, cancelled, &mut met) {
                Ok(phase) => phase,
                Err(Stop::Cancelled) => return Ok(Found::More),
                Err(_) => return Err(String::new()),
            };
            if let Some(met) = met.first() {
                return self.met(&of, &explorer, met);
            }
            if phase == Phase::Complete {
                return self.complete(context, &of, explorer);
            }
            if explorer.states() > LIMITS.cycle_states {
                return Err(String::new());
            }
        }
        self.now = Some((of, explorer));
        Ok(Found::More)
    }

    fn open(&self, context: &EngineContext) -> Result<(LivenessToSafety, Explorer), String> {
        let aspect = match self.searched {
            SearchedSystem::Stuck => Aspect::Stuck,
            SearchedSystem::Rounds => Aspect::Rounds,
            SearchedSystem::AtMost(k) => Aspect::AtMost(k),
        };
        if self.system.vars().len() > LIMITS.cycle_variables {
            return Err(String::new());
        }
        let of =
            liveness_to_safety(&self.system, self.claim, &aspect).map_err(|e| e.to_string())?;
        let system = Arc::new(of.system.clone());
        let mut pool = Pool::fork(system.pool());
        let mut targets = Targets::default();
        match self.searched {
            SearchedSystem::Stuck => targets.stuck.push(0),
            SearchedSystem::Rounds => {
                if let Some(round) = of.round {
                    let round = pool.var(round);
                    targets.states = everywhere(&system, |_| round);
                }
            }
            SearchedSystem::AtMost(_) => {
                let Some(ClaimKind::Always(p)) = system.claims().first().map(|c| &c.kind) else {
                    return Err(String::new());
                };
                targets.states = everywhere(&system, |n| {
                    let here = system.at_node(&mut pool, *p, n);
                    pool.not(here)
                });
            }
        }
        Ok((of, explorer(context, &system, pool, targets)?))
    }

    /// Handles a stuck pending state, or a round beyond the bound.
    fn met(
        &mut self,
        of: &LivenessToSafety,
        explorer: &Explorer,
        met: &Met,
    ) -> Result<Found, String> {
        match self.searched {
            SearchedSystem::Stuck => {
                let run = explorer
                    .run_that_met(met)
                    .and_then(|run| of.run(&run))
                    .ok_or_else(String::new)?;
                Ok(Found::Run(Evidence::Run(run)))
            }
            // This contradicts the computed bound, so conclude nothing.
            SearchedSystem::Rounds | SearchedSystem::AtMost(_) => Err(String::new()),
        }
    }

    fn complete(
        &mut self,
        context: &EngineContext,
        of: &LivenessToSafety,
        explorer: Explorer,
    ) -> Result<Found, String> {
        match self.searched {
            SearchedSystem::Stuck => {
                self.searched = SearchedSystem::Rounds;
                Ok(Found::NotStuck(explorer.closed()))
            }
            SearchedSystem::AtMost(k) => {
                Ok(Found::Finite(Rounds::AtMost { k, proof: Box::new(explorer.closed()) }))
            }
            SearchedSystem::Rounds => self.rounds(context, of, &Graph::of(&explorer)),
        }
    }

    /// Finds a lasso that contains a round, or else the greatest number of rounds.
    fn rounds(
        &mut self,
        context: &EngineContext,
        of: &LivenessToSafety,
        graph: &Graph<'_>,
    ) -> Result<Found, String> {
        let cancelled = context.cancellation();
        let stopped = |_| String::new();
        let edges = graph.edges(own_memory(context.config()) / 4, cancelled).map_err(stopped)?;
        let pending: Vec<bool> =
            graph.states().map(|i| of.stage(graph.node(i)) == Stage::Pending).collect();
        let round = match of.round {
            Some(_) => Some(graph.label(0, 1, cancelled).map_err(stopped)?),
            None => None,
        };
        let parts = edges.components(&pending);
        let is_round = |i: u32| round.as_ref().is_none_or(|r| r[i as usize]);
        let cyclic = edges.cyclic(&parts);
        let on_cycle = |i: u32| parts[i as usize].is_some_and(|c| cyclic[c as usize]);
        if let Some(home) = graph.states().find(|&i| on_cycle(i) && is_round(i)) {
            return lasso(of, graph, &edges, &parts, home).map(Found::Run).ok_or_else(String::new);
        }
        let k = most_rounds(&edges, &parts, round.as_deref());
        self.searched = SearchedSystem::AtMost(k);
        Ok(Found::More)
    }
}

/// Decides `AG EF` on the graph of all states: can every state reach the goal? `advance` returns
/// `None` if the system is not finite and small, and `Some(None)` while there is more to do.
pub(super) struct AgEfSearch {
    explorer: Explorer,
}

impl AgEfSearch {
    pub(super) fn new(context: &EngineContext, goal: StateTerm) -> Option<AgEfSearch> {
        let system = context.given();
        if system.vars().len() > LIMITS.cycle_variables {
            return None;
        }
        let mut pool = Pool::fork(system.pool());
        let states = everywhere(system, |n| system.at_node(&mut pool, goal, n));
        Some(AgEfSearch {
            explorer: explorer(context, system, pool, Targets { states, ..Targets::default() })
                .ok()?,
        })
    }

    /// Does a unit of work. Returns the verdict, if there is one.
    pub(super) fn advance(&mut self, context: &EngineContext) -> Option<Option<Verdict>> {
        let cancelled = context.cancellation();
        for _ in 0..LIMITS.cycle_pieces {
            if self.explorer.advance(&[false], cancelled, &mut Vec::new()).ok()? == Phase::Complete
            {
                return self.verdict(context).map(Some);
            }
            if self.explorer.states() > LIMITS.cycle_states {
                return None;
            }
        }
        Some(None)
    }

    fn verdict(&mut self, context: &EngineContext) -> Option<Verdict> {
        let cancelled = context.cancellation();
        let graph = Graph::of(&self.explorer);
        let edges = graph.edges(own_memory(context.config()) / 4, cancelled).ok()?;
        let reach = edges.can_reach(&graph.label(0, 1, cancelled).ok()?);
        // States are numbered by their distance from the start.
        let Some(lost) = reach.iter().position(|&r| !r) else {
            return Some(Verdict::Holds(self.explorer.closed()));
        };
        Some(Verdict::Fails(match self.explorer.run_to(lost as u32) {
            Some(run) => {
                let states = edges.reached_from(lost as u32);
                Evidence::Impossible { run, proof: Box::new(Evidence::ClosedSet { states }) }
            }
            None => self.explorer.closed(),
        }))
    }
}

/// An exploration of a system for one goal.
fn explorer(
    context: &EngineContext,
    system: &Arc<System>,
    mut pool: Pool,
    targets: Targets,
) -> Result<Explorer, String> {
    let made = Machine::new(system, &mut pool, &targets, context.cancellation());
    // The engine `explicit` reports what cannot be enumerated.
    let (machine, blind) = made.map_err(|_| String::new())?;
    if !blind.is_empty() {
        return Err(String::new());
    }
    let resources = Resources { memory: own_memory(context.config()) / 4, threads: 1 };
    Ok(Explorer::new(machine, resources))
}

/// A target with this formula at every node.
fn everywhere(
    system: &System,
    mut formula: impl FnMut(gander_system::NodeId) -> TermId,
) -> Vec<StateTarget> {
    let target =
        |n| StateTarget { goal: 0, node: Some(n), formula: formula(n), choices: Vec::new() };
    system.node_ids().map(target).collect()
}

/// A run to a state, followed by a cycle through it in its component.
fn lasso(
    of: &LivenessToSafety,
    graph: &Graph<'_>,
    edges: &Edges,
    parts: &[Option<u32>],
    home: u32,
) -> Option<Evidence> {
    let mut run = graph.run_to(home)?;
    let back_to = run.legs.len() as u64;
    for (from, by, to) in edges.cycle(parts, home)? {
        run.legs.push(Leg::Step(graph.step(from, by, to)?));
    }
    Some(Evidence::Lasso { run: of.run(&run)?, back_to })
}

/// The greatest number of rounds on a path, where no component has a cycle with a round. Without
/// labels, every step is a round.
fn most_rounds(edges: &Edges, parts: &[Option<u32>], round: Option<&[bool]>) -> u32 {
    let count = parts.iter().flatten().max().map_or(0, |&last| last as usize + 1);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (i, part) in parts.iter().enumerate() {
        if let Some(c) = part {
            members[*c as usize].push(i as u32);
        }
    }
    // Steps lead to components with smaller numbers.
    let mut most = vec![0u32; count];
    for c in 0..count {
        let own =
            members[c].iter().filter(|&&i| round.is_some_and(|r| r[i as usize])).count() as u32;
        let later =
            members[c].iter().flat_map(|&i| edges.from(i)).filter_map(|(to, _)| parts[to as usize]);
        let step = u32::from(round.is_none());
        most[c] = own
            + later
                .filter(|&d| d as usize != c)
                .map(|d| most[d as usize] + step)
                .max()
                .unwrap_or(0);
    }
    most.into_iter().max().unwrap_or(0)
}
