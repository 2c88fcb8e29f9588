//! Simulation: random and guided concrete runs.
//!
//! States and steps are computed without a solver, in a few microseconds each. Values of parameters
//! are drawn from the bounds in guards and from constants of the model. The first runs are short
//! and take each transition once from each state, so that targets near the start are found with
//! short runs before any solver starts. Then half of the runs start anew and half continue an
//! earlier run that took a transition or reached a node for the first time. If there are many
//! claims, the first piece of work also covers transitions ([`cover`]). The same seed gives the
//! same runs. A run found here need not be shortest, so the director may wait for a shorter one.

mod cover;
mod limits;
mod watch;

use std::collections::VecDeque;

use gander_system::{ClaimId, ClaimKind, Evidence, Leg, Run, StartId, State, Step, TransitionId};

use crate::core::{Advance, Engine, EngineContext, EngineInfo, Fact};
use crate::encode::question::is_question;
use crate::encode::view::View;

use crate::concrete::stepping::formula::{Scope, Workspace};
use crate::concrete::stepping::machine::{Machine, Taken};
use crate::concrete::stepping::random::Random;
use limits::LIMITS;
use watch::{Positions, Watch};

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "simulate",
    about: "simulation: random and guided concrete runs",
    decides: |kind: &ClaimKind| is_question(kind),
    finds_shortest: false,
    begins_at_once: true,
    open: |context| Box::new(Simulation::new(context)),
};

/// A run, with all its states.
#[derive(Clone)]
struct Trail {
    start: StartId,
    first: State,
    taken: Vec<Taken>,
}

impl Trail {
    fn end(&self) -> &State {
        self.taken.last().map_or(&self.first, |t| &t.state)
    }

    fn run(&self) -> Run {
        let legs = self.taken.iter().map(|t| {
            Leg::Step(Step {
                transition: t.transition,
                params: t.params.clone(),
                next: Some(t.state.values.clone()),
            })
        });
        Run { start: self.start, first: self.first.clone(), legs: legs.collect() }
    }
}

/// See the module's documentation.
struct Simulation {
    machine: Machine,
    watches: Vec<Watch>,
    unwatched: Vec<ClaimId>,
    random: Random,
    work: Workspace,
    kept: Vec<Trail>,
    /// How often each transition was taken and each node was visited.
    taken: Vec<u64>,
    visited: Vec<u64>,
    published: usize,
    steps: u64,
    last_news: u64,
    begun: bool,
}

impl Simulation {
    fn new(context: &EngineContext) -> Simulation {
        let system = context.system();
        let scope = Scope::new(system);
        let mut view = View::plain(context);
        let (mut watches, mut unwatched) = (Vec::new(), Vec::new());
        let positions: Positions =
            system.vars().iter().enumerate().map(|(i, v)| (v.current, i)).collect();
        for &claim in context.claims() {
            match Watch::new(system, &scope, &positions, &mut view, claim) {
                Some(watch) => watches.push(watch),
                None => unwatched.push(claim),
            }
        }
        Simulation {
            machine: Machine::new(system, &scope),
            watches,
            unwatched,
            random: Random::new(context.config().seed),
            work: Workspace::default(),
            kept: Vec::new(),
            taken: vec![0; system.transitions().len()],
            visited: vec![0; system.nodes().len()],
            published: 0,
            steps: 0,
            last_news: 0,
            begun: false,
        }
    }

    /// Searches breadth first from one state of each start, and tries each transition once from
    /// each state.
    fn explore_near_starts(&mut self, context: &EngineContext, most: u64) {
        let mut trails = VecDeque::new();
        for s in 0..self.machine.system.starts().len() {
            for w in &mut self.watches {
                w.reset();
            }
            trails.extend(self.start(context, StartId::from(s)));
        }
        while let Some(trail) = trails.pop_front() {
            let from = trail.end().clone();
            for t in self.machine.system.leaving(from.node).to_vec() {
                if self.steps >= most || context.is_cancelled() {
                    return;
                }
                self.steps += 1;
                let Some(taken) = self.machine.take(t, &from, &mut self.random) else { continue };
                self.follow(&trail);
                let mut longer = trail.clone();
                longer.taken.push(taken);
                self.record_step(context, &longer, &from);
                trails.push_back(longer);
            }
        }
    }

    /// Simulates one run.
    fn run(&mut self, context: &EngineContext) {
        let longest = context.config().options.simulation.longest_run as usize;
        let Some(mut trail) = self.begin(context) else { return };
        while trail.taken.len() < longest && !context.is_cancelled() {
            let from = trail.end().clone();
            let Some(taken) = self.choose(&from) else { break };
            self.steps += 1;
            trail.taken.push(taken);
            self.record_step(context, &trail, &from);
            if self.steps.is_multiple_of(64) && self.watches.iter().all(|w| !w.open) {
                return;
            }
        }
        if self.random.one_in(8) {
            self.keep(context, &trail);
        }
    }

    /// Records the last step of a run and the state that it led to, and checks the claims.
    fn record_step(&mut self, context: &EngineContext, trail: &Trail, from: &State) {
        let Some(t) = trail.taken.last().map(|t| t.transition) else { return };
        let end = trail.end().clone();
        let new = self.taken[t.index()] == 0 || self.visited[end.node.index()] == 0;
        self.taken[t.index()] += 1;
        self.visited[end.node.index()] += 1;
        self.watch_step(context, trail, from, t);
        self.watch_state(context, trail, &end);
        if new {
            self.last_news = self.steps;
            self.keep(context, trail);
        }
    }

    /// Replays a run in all watches.
    fn follow(&mut self, trail: &Trail) {
        let mut from = &trail.first;
        for w in self.watches.iter_mut().filter(|w| w.open) {
            w.reset();
            w.state(from, &mut self.work);
        }
        for taken in &trail.taken {
            for w in self.watches.iter_mut().filter(|w| w.open) {
                w.step(from.node, &from.values, taken.transition, &taken.params, &mut self.work);
                w.state(&taken.state, &mut self.work);
            }
            from = &taken.state;
        }
    }

    /// A new run, or a kept one to continue, with all watches up to date.
    fn begin(&mut self, context: &EngineContext) -> Option<Trail> {
        for w in &mut self.watches {
            w.reset();
        }
        let again = !self.kept.is_empty() && self.random.one_in(2);
        if again {
            let trail = self.random.pick(&self.kept).clone();
            self.follow(&trail);
            return Some(trail);
        }
        let starts = self.machine.system.starts().len();
        if starts == 0 {
            return None;
        }
        let start = StartId::from(self.random.below(starts));
        self.start(context, start)
    }

    /// A new run from this start.
    fn start(&mut self, context: &EngineContext, start: StartId) -> Option<Trail> {
        let first = self.machine.start(start, &mut self.random);
        self.steps += 1;
        let trail = Trail { start, first: first?, taken: Vec::new() };
        for w in 0..self.watches.len() {
            if self.watches[w].open && self.watches[w].started(start) {
                self.propose(context, w, &trail);
            }
        }
        self.visited[trail.first.node.index()] += 1;
        let end = trail.first.clone();
        self.watch_state(context, &trail, &end);
        Some(trail)
    }

    /// A possible step from a state; one time in three, the least taken transitions are tried
    /// first.
    fn choose(&mut self, from: &State) -> Option<Taken> {
        let mut leaving: Vec<TransitionId> = self.machine.system.leaving(from.node).to_vec();
        self.random.shuffle(&mut leaving);
        if self.random.one_in(3) {
            leaving.sort_by_key(|t| self.taken[t.index()]);
        }
        leaving.into_iter().find_map(|t| self.machine.take(t, from, &mut self.random))
    }

    fn watch_state(&mut self, context: &EngineContext, trail: &Trail, state: &State) {
        for w in 0..self.watches.len() {
            if self.watches[w].open && self.watches[w].state(state, &mut self.work) {
                self.propose(context, w, trail);
            }
        }
    }

    fn watch_step(
        &mut self,
        context: &EngineContext,
        trail: &Trail,
        from: &State,
        t: TransitionId,
    ) {
        let Some(last) = trail.taken.last() else { return };
        for w in 0..self.watches.len() {
            let watch = &mut self.watches[w];
            if watch.open && watch.step(from.node, &from.values, t, &last.params, &mut self.work) {
                self.propose(context, w, trail);
            }
        }
    }

    fn propose(&mut self, context: &EngineContext, w: usize, trail: &Trail) {
        let watch = &mut self.watches[w];
        watch.open = false;
        self.last_news = self.steps;
        context.propose(watch.question.claim, watch.question.met(Evidence::Run(trail.run())));
    }

    fn keep(&mut self, context: &EngineContext, trail: &Trail) {
        if self.published < LIMITS.published {
            self.published += 1;
            context.blackboard().publish(Fact::Reachable(trail.end().clone()));
        }
        if self.kept.len() < LIMITS.runs {
            self.kept.push(trail.clone());
        } else {
            let at = self.random.below(LIMITS.runs);
            self.kept[at] = trail.clone();
        }
    }
}

impl Engine for Simulation {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        for w in &mut self.watches {
            w.open &= context.is_open(w.question.claim);
        }
        let most = context.config().options.simulation.max_steps;
        if !self.begun {
            self.begun = true;
            self.explore_near_starts(
                context,
                most.map_or(LIMITS.first_steps, |m| m.min(LIMITS.first_steps)),
            );
            if self.watches.iter().filter(|w| w.open).count() + context.deferred().len()
                >= context.config().options.many_claims
            {
                self.cover(context);
            }
            return Advance::Again;
        }
        let until = self.steps + LIMITS.steps;
        let mut runs_without_steps = 0;
        while self.steps < until {
            let before = self.steps;
            let done = self.watches.iter().all(|w| !w.open)
                || most.is_some_and(|m| self.steps >= m)
                || self.steps - self.last_news > LIMITS.vain_steps
                || runs_without_steps > LIMITS.barren_runs;
            if done || context.is_cancelled() {
                return Advance::Finished;
            }
            self.run(context);
            runs_without_steps = if self.steps <= before + 1 { runs_without_steps + 1 } else { 0 };
        }
        Advance::Again
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        if self.unwatched.contains(&claim) {
            return Some("the claim cannot be evaluated on concrete states".into());
        }
        Some(format!("found nothing in {} steps", self.steps))
    }
}
