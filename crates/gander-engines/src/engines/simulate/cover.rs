//! Runs that cover transitions: each visits as many as it can, and settles the claims that it
//! decides on the way.
//!
//! A run takes, of the transitions that leave its node, one that was taken least often. A
//! transition that could not be taken is tried again when a variable that its guard reads has
//! changed. A claim is evaluated when the node or a variable that it reads has changed. When a run
//! brings no news, the next one branches off an earlier state at whose node some transition was
//! never taken.
//!
//! The proposed run is a slice (Weiser 1981) of the covering run. Backwards from the deciding
//! state, it has the last steps that wrote the values that are read later; from there, it goes back
//! to the first visit of the same node since these values were written. The slice is computed again
//! from the start, step by step.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use gander_system::{
    ClaimId, ClaimKind, ClaimOrigin, Effect, Evidence, Leg, NodeId, Run, StartId, State, Step,
    System, TransitionId, Verdict,
};
use gander_term::Pool;
use rustc_hash::FxHashMap;

use super::Simulation;
use super::limits::LIMITS;
use super::watch::{Positions, Reads, variables};
use crate::concrete::stepping::machine::Taken;
use crate::core::EngineContext;

/// What a transition reads and writes.
struct Access {
    /// Variables that the guard reads.
    guard: Vec<usize>,
    /// Variables on which it depends whether it can be taken.
    enabling: Vec<usize>,
    /// Variables that the guard, the effect and the assumptions of the target read.
    all: Vec<usize>,
    /// Variables that it does not keep.
    written: Vec<usize>,
    /// The effect assigns or keeps every variable.
    functional: bool,
}

/// Where watches and claims are looked up.
struct Index {
    access: Vec<Access>,
    /// By transition: claims that it can be enabled.
    can_enable: Vec<Vec<usize>>,
    /// By transition: watches with a condition of this step.
    by_step: Vec<Vec<usize>>,
    /// By node: watches that are evaluated there; those of all nodes.
    by_node: Vec<Vec<usize>>,
    everywhere: Vec<usize>,
    /// By variable: watches that read it.
    by_variable: Vec<Vec<usize>>,
    /// Watches that read many variables.
    wide: Vec<usize>,
}

/// A covering run.
#[derive(Clone)]
struct Covering {
    start: StartId,
    first: Arc<State>,
    steps: Vec<Arc<Taken>>,
}

impl Covering {
    fn state(&self, at: usize) -> &State {
        at.checked_sub(1).map_or(&self.first, |i| &self.steps[i].state)
    }

    fn end(&self) -> &State {
        self.state(self.steps.len())
    }
}

/// By node: the states of a run there. By variable: the steps that wrote it.
#[derive(Default)]
struct History {
    visits: FxHashMap<NodeId, Vec<usize>>,
    writes: FxHashMap<usize, Vec<usize>>,
}

impl History {
    fn of(run: &Covering, access: &[Access]) -> History {
        let mut history = History::default();
        history.visits.entry(run.first.node).or_default().push(0);
        for at in 0..run.steps.len() {
            history.add(run, access, at);
        }
        history
    }

    /// Adds a step of the run.
    fn add(&mut self, run: &Covering, access: &[Access], at: usize) {
        let taken = &run.steps[at];
        self.visits.entry(taken.state.node).or_default().push(at + 1);
        let before = run.state(at);
        for &v in &access[taken.transition.index()].written {
            if before.values[v] != taken.state.values[v] {
                self.writes.entry(v).or_default().push(at);
            }
        }
    }

    /// The steps that lead to the state at `end`, as far as the variables that are read there
    /// depend on them.
    fn slice(
        &self,
        run: &Covering,
        access: &[Access],
        end: usize,
        reads: impl IntoIterator<Item = usize>,
    ) -> Vec<usize> {
        let mut needed: BTreeSet<usize> = reads.into_iter().collect();
        let (mut kept, mut at) = (Vec::new(), end);
        loop {
            // The state after the last step that wrote a needed value.
            let written = needed.iter().filter_map(|v| {
                let writes = self.writes.get(v)?;
                let before = writes.partition_point(|&w| w < at);
                before.checked_sub(1).map(|i| writes[i] + 1)
            });
            let since = written.max().unwrap_or(0);
            let visits = self.visits.get(&run.state(at).node).map_or(&[][..], Vec::as_slice);
            at = visits.get(visits.partition_point(|&v| v < since)).map_or(at, |&v| v.min(at));
            if at == 0 {
                kept.reverse();
                return kept;
            }
            at -= 1;
            let step = &access[run.steps[at].transition.index()];
            for v in &step.written {
                needed.remove(v);
            }
            needed.extend(&step.all);
            kept.push(at);
        }
    }
}

impl Index {
    fn new(simulation: &Simulation, context: &EngineContext) -> Index {
        let system = context.system();
        let positions: Positions =
            system.vars().iter().enumerate().map(|(i, v)| (v.current, i)).collect();
        let mut pool = Pool::fork(system.pool());
        let access: Vec<Access> =
            system.transition_ids().map(|t| Access::of(system, &positions, &mut pool, t)).collect();
        let count = system.transitions().len();
        let mut index = Index {
            access,
            can_enable: vec![Vec::new(); count],
            by_step: vec![Vec::new(); count],
            by_node: vec![Vec::new(); system.nodes().len()],
            everywhere: Vec::new(),
            by_variable: vec![Vec::new(); system.vars().len()],
            wide: Vec::new(),
        };
        for (w, watch) in simulation.watches.iter().enumerate().filter(|(_, w)| w.open) {
            let claim: ClaimId = watch.question.claim;
            if let ClaimKind::CanEnable(t) = system.claims()[claim.index()].kind {
                // Settled by taking it.
                index.can_enable[t.index()].push(w);
                continue;
            }
            match &watch.reads {
                Some(Reads::Steps(steps)) => {
                    steps.iter().for_each(|(t, _)| index.by_step[t.index()].push(w));
                }
                Some(Reads::State(variables)) => {
                    if variables.len() > LIMITS.wide {
                        index.wide.push(w);
                        continue;
                    }
                    index.everywhere.push(w);
                    variables.iter().for_each(|&v| index.by_variable[v].push(w));
                }
                Some(Reads::Nodes(nodes)) => {
                    if nodes.iter().any(|(_, variables)| variables.len() > LIMITS.wide) {
                        index.wide.push(w);
                        continue;
                    }
                    nodes.iter().for_each(|(n, _)| index.by_node[n.index()].push(w));
                    let all: BTreeSet<usize> =
                        nodes.iter().flat_map(|(_, variables)| variables).copied().collect();
                    all.into_iter().for_each(|v| index.by_variable[v].push(w));
                }
                None => {}
            }
        }
        index
    }
}

impl Access {
    fn of(system: &System, positions: &Positions, pool: &mut Pool, t: TransitionId) -> Access {
        let transition = system.transition(t);
        let mut terms: Vec<_> = transition.guard.iter().map(|g| g.term.term()).collect();
        let guard = variables(positions, pool, &terms);
        let mut kept = vec![false; system.vars().len()];
        let mut assigned = vec![false; system.vars().len()];
        let mut related = false;
        for part in &transition.effect {
            match *part {
                Effect::Assign { var, value, .. } => {
                    assigned[var.index()] = true;
                    terms.push(value.term());
                }
                Effect::Keep { var, .. } => kept[var.index()] = true,
                Effect::Constrain { relation, .. } => {
                    related = true;
                    terms.push(relation.term());
                }
            }
        }
        let mut all = variables(positions, pool, &terms);
        if !system.assumptions().is_empty() {
            let assumed = system.assumption_term(pool, transition.target);
            all.extend(variables(positions, pool, &[assumed]));
        }
        let vars = 0..kept.len();
        let functional = !related && vars.clone().all(|v| kept[v] || assigned[v]);
        let by_guard = functional && system.assumptions().is_empty();
        let enabling = if by_guard { guard.clone() } else { all.clone() };
        Access { guard, enabling, all, written: vars.filter(|&v| !kept[v]).collect(), functional }
    }
}

/// The search for covering runs.
struct Cover<'a> {
    context: &'a EngineContext,
    index: Index,
    until: Instant,
    steps_left: usize,
    /// By transition: how often it was taken.
    taken: Vec<u32>,
    /// By variable: when it was last written, and by transition: when it could not be taken.
    written: Vec<u64>,
    refused: Vec<u64>,
    now: u64,
    /// Runs whose states later runs branch off.
    runs: Vec<Covering>,
    /// Proposed so far.
    found: usize,
}

impl Simulation {
    /// Searches for covering runs, as long as there is news and time.
    pub(super) fn cover(&mut self, context: &EngineContext) {
        let open = self.watches.iter().filter(|w| w.open).count();
        let (each, most) = LIMITS.cover_time;
        let time = (each * u32::try_from(open).unwrap_or(u32::MAX)).min(most);
        let most_steps = context.config().options.simulation.max_steps;
        let most_steps =
            most_steps.map_or(usize::MAX, |most| most.saturating_sub(self.steps) as usize);
        let system = context.system();
        let mut cover = Cover {
            context,
            index: Index::new(self, context),
            until: Instant::now() + time,
            steps_left: (LIMITS.cover_steps * (open + system.transitions().len())).min(most_steps),
            taken: vec![0; system.transitions().len()],
            written: vec![0; system.vars().len()],
            refused: vec![0; system.transitions().len()],
            now: 0,
            runs: Vec::new(),
            found: 0,
        };
        let mut vain = 0;
        while vain < LIMITS.cover_runs && !cover.is_over(self) {
            let news = cover.run(self);
            vain = if news { 0 } else { vain + 1 };
        }
    }
}

impl Cover<'_> {
    fn is_over(&self, simulation: &Simulation) -> bool {
        self.steps_left == 0
            || Instant::now() >= self.until
            || self.context.is_cancelled()
            || simulation.watches.iter().all(|w| !w.open)
    }

    /// One covering run; true if it brought news.
    fn run(&mut self, simulation: &mut Simulation) -> bool {
        let Some(mut run) = self.branch(simulation) else { return false };
        // Another run: what could not be taken may be possible here.
        self.now += 1;
        self.written.fill(self.now);
        let mut history = History::of(&run, &self.index.access);
        let all = self.watches_at(run.end().node, None);
        let mut news = self.evaluate(simulation, &run, &history, &all);
        let vars = run.first.values.len().max(1);
        let (least, by_degree) = LIMITS.cover_steps_without_progress;
        let mut quiet = 0;
        while run.steps.len() * vars < LIMITS.cover_values {
            if run.steps.len().is_multiple_of(16) && self.is_over(simulation) {
                break;
            }
            let leaving = simulation.machine.system.leaving(run.end().node).len();
            if quiet > least + by_degree * leaving {
                break;
            }
            let Some(taken) = self.choose(simulation, run.end()) else {
                let wide = self.index.wide.clone();
                news |= self.evaluate(simulation, &run, &history, &wide);
                break;
            };
            self.steps_left = self.steps_left.saturating_sub(1);
            let at = run.steps.len();
            let t = taken.transition;
            self.taken[t.index()] += 1;
            run.steps.push(Arc::new(taken));
            history.add(&run, &self.index.access, at);
            let fresh = self.taken[t.index()] == 1;
            let before = self.found;
            self.step_taken(simulation, &run, &history, at);
            let changed = self.note_changes(&run, at);
            let watches = self.watches_at(run.end().node, Some((run.state(at).node, &changed)));
            self.evaluate(simulation, &run, &history, &watches);
            if fresh || self.found > before {
                news = true;
                quiet = 0;
            } else {
                quiet += 1;
            }
        }
        if news || simulation.random.one_in(8) {
            if self.runs.len() == LIMITS.cover_kept {
                let at = simulation.random.below(LIMITS.cover_kept);
                self.runs.swap_remove(at);
            }
            self.runs.push(run);
        }
        news
    }

    /// A run to continue: a new one, or an earlier one up to a state at whose node some transition
    /// was never taken.
    fn branch(&self, simulation: &mut Simulation) -> Option<Covering> {
        if !self.runs.is_empty() && !simulation.random.one_in(3) {
            let run = simulation.random.pick(&self.runs);
            let system = &simulation.machine.system;
            let promising = |&at: &usize| {
                system.leaving(run.state(at).node).iter().any(|t| self.taken[t.index()] == 0)
            };
            let places: Vec<usize> = (0..=run.steps.len()).filter(promising).collect();
            if !places.is_empty() {
                let at = *simulation.random.pick(&places);
                return Some(Covering { steps: run.steps[..at].to_vec(), ..run.clone() });
            }
        }
        let starts = simulation.machine.system.starts().len();
        if starts == 0 {
            return None;
        }
        let start = StartId::from(simulation.random.below(starts));
        let first = simulation.machine.start(start, &mut simulation.random)?;
        Some(Covering { start, first: Arc::new(first), steps: Vec::new() })
    }

    /// A step that is possible, by a transition that was taken least often.
    fn choose(&mut self, simulation: &mut Simulation, from: &State) -> Option<Taken> {
        let mut leaving = simulation.machine.system.leaving(from.node).to_vec();
        simulation.random.shuffle(&mut leaving);
        leaving.sort_by_key(|t| self.taken[t.index()]);
        for t in leaving {
            let changed = |v: &usize| self.written[*v] >= self.refused[t.index()];
            let access = &self.index.access[t.index()];
            if self.refused[t.index()] > 0 && !access.enabling.iter().any(changed) {
                continue;
            }
            match simulation.machine.take(t, from, &mut simulation.random) {
                Some(taken) => return Some(taken),
                None => self.refused[t.index()] = self.now + 1,
            }
        }
        None
    }

    /// Records which variables the last step changed.
    fn note_changes(&mut self, run: &Covering, at: usize) -> Vec<usize> {
        self.now += 1;
        let (before, after) = (run.state(at), run.state(at + 1));
        let written = &self.index.access[run.steps[at].transition.index()].written;
        let changed: Vec<usize> =
            written.iter().copied().filter(|&v| before.values[v] != after.values[v]).collect();
        changed.iter().for_each(|&v| self.written[v] = self.now);
        changed
    }

    /// The watches to evaluate in a state at a node: all of the node, or after a step from a node
    /// that changed these variables.
    fn watches_at(&self, node: NodeId, step: Option<(NodeId, &[usize])>) -> Vec<usize> {
        match step {
            Some((from, changed)) if from == node => {
                changed.iter().flat_map(|&v| &self.index.by_variable[v]).copied().collect()
            }
            _ => {
                let here = &self.index.by_node[node.index()];
                here.iter().chain(&self.index.everywhere).copied().collect()
            }
        }
    }

    /// Proposes answers to the watches that the last state decides; true if there are some.
    fn evaluate(
        &mut self,
        simulation: &mut Simulation,
        run: &Covering,
        history: &History,
        watches: &[usize],
    ) -> bool {
        let before = self.found;
        for &w in watches {
            let watch = &mut simulation.watches[w];
            watch.reset();
            if !watch.open || !watch.state(run.end(), &mut simulation.work) {
                continue;
            }
            let reads: Vec<usize> = match &watch.reads {
                Some(Reads::State(variables)) => variables.clone(),
                Some(Reads::Nodes(nodes)) => {
                    let here = nodes.iter().find(|(n, _)| *n == run.end().node);
                    here.map_or_else(Vec::new, |(_, variables)| variables.clone())
                }
                _ => continue,
            };
            let end = run.steps.len();
            let steps = history.slice(run, &self.index.access, end, reads);
            self.propose(simulation, w, run, &steps, end);
        }
        self.found > before
    }

    /// Proposes answers to the claims that the step at `at` decides.
    fn step_taken(
        &mut self,
        simulation: &mut Simulation,
        run: &Covering,
        history: &History,
        at: usize,
    ) {
        let taken = Arc::clone(&run.steps[at]);
        let t = taken.transition;
        let from = run.state(at);
        for w in self.index.can_enable[t.index()].clone() {
            if simulation.watches[w].open {
                let reads = self.index.access[t.index()].guard.clone();
                let steps = history.slice(run, &self.index.access, at, reads);
                self.propose(simulation, w, run, &steps, at);
            }
        }
        for w in self.index.by_step[t.index()].clone() {
            let watch = &mut simulation.watches[w];
            watch.reset();
            let values = &from.values;
            if !watch.open || !watch.step(from.node, values, t, &taken.params, &mut simulation.work)
            {
                continue;
            }
            let mut reads = self.index.access[t.index()].all.clone();
            if let Some(Reads::Steps(steps)) = &watch.reads {
                let of_step = steps.iter().filter(|(own, _)| *own == t);
                reads.extend(of_step.flat_map(|(_, variables)| variables));
            }
            let mut steps = history.slice(run, &self.index.access, at, reads);
            steps.push(at);
            self.propose(simulation, w, run, &steps, at + 1);
        }
    }

    /// Proposes the slice with these steps of a run, or the run up to `end`, as the answer.
    fn propose(
        &mut self,
        simulation: &mut Simulation,
        w: usize,
        run: &Covering,
        steps: &[usize],
        end: usize,
    ) {
        let claim = simulation.watches[w].question.claim;
        let system = self.context.system();
        let vars = run.first.values.len().max(1);
        // The states of these runs are computed again by the checker: the runs are counted, not
        // shown.
        let structural = system.claims()[claim.index()].origin == ClaimOrigin::Structural;
        let implicit = structural && !self.context.changes_runs();
        let proposed = match self.replayed(simulation, run, steps, implicit) {
            Some(sliced) => sliced,
            None if end * vars > LIMITS.proposed_values => return,
            None => Run {
                start: run.start,
                first: (*run.first).clone(),
                legs: run.steps[..end].iter().map(|taken| leg(taken, false)).collect(),
            },
        };
        let watch = &mut simulation.watches[w];
        let verdict: Verdict = watch.question.met(Evidence::Run(proposed));
        watch.open = false;
        self.found += 1;
        // While claims are settled one after the other, nothing is faster.
        self.until = self.until.max(Instant::now() + LIMITS.cover_progress);
        self.context.propose(claim, verdict);
    }

    /// Takes only these steps of a run; `None` if that is not possible.
    fn replayed(
        &self,
        simulation: &mut Simulation,
        run: &Covering,
        steps: &[usize],
        implicit: bool,
    ) -> Option<Run> {
        let mut legs = Vec::with_capacity(steps.len());
        let mut values = 0;
        let mut state = (*run.first).clone();
        for &at in steps {
            let taken = &run.steps[at];
            state = simulation.machine.repeat(taken, &state)?;
            let implicit = implicit && self.index.access[taken.transition.index()].functional;
            if !implicit {
                values += state.values.len();
            }
            if values > LIMITS.proposed_values {
                return None;
            }
            let repeated = Taken {
                transition: taken.transition,
                params: taken.params.clone(),
                state: state.clone(),
            };
            legs.push(leg(&repeated, implicit));
        }
        Some(Run { start: run.start, first: (*run.first).clone(), legs: legs.into() })
    }
}

/// A step of a run, without the state after it if the effect determines that.
fn leg(taken: &Taken, implicit: bool) -> Leg {
    Leg::Step(Step {
        transition: taken.transition,
        params: taken.params.clone(),
        next: (!implicit).then(|| taken.state.values.clone()),
    })
}
