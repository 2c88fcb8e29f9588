//! The monitor variables of a liveness-to-safety system: fairness, rounds, and a saved state.

use gander_term::{Sort, TermId, Value};

use super::{Aspect, Stage, Work};
use crate::builder::{BuildError, TransitionDraft};
use crate::claim::FairnessKind;
use crate::passes::enabled::can_step;
use crate::system::{NodeId, Role, TransitionId, VarId};

/// The kind of a transition of a liveness-to-safety system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StepKind {
    /// From free to free.
    Free,
    /// From free to pending.
    Begin,
    /// From pending to pending.
    Stay,
    /// From pending to pending; saves the state it leaves.
    Save,
    /// From pending to answered.
    Answer,
}

impl StepKind {
    pub(super) fn stages(self) -> (Stage, Stage) {
        match self {
            StepKind::Free => (Stage::Free, Stage::Free),
            StepKind::Begin => (Stage::Free, Stage::Pending),
            StepKind::Stay | StepKind::Save => (Stage::Pending, Stage::Pending),
            StepKind::Answer => (Stage::Pending, Stage::Answered),
        }
    }
}

/// A saved state.
pub(super) struct Memory {
    pub(super) saved: VarId,
    /// True if a round was completed since then. Without constraints every step is a round, so it
    /// is not needed.
    since: Option<VarId>,
    place: VarId,
    /// Variables, each with its copy.
    old: Vec<(VarId, VarId)>,
}

/// The variables of the monitor.
pub(super) struct Monitor {
    /// By constraint: true if it was hit in this round. Empty if there are fewer than two.
    pub(super) seen: Vec<VarId>,
    /// By constraint: the flag `@never` of a strong one.
    never: Vec<Option<VarId>>,
    pub(super) round: Option<VarId>,
    count: Option<(VarId, u32)>,
    pub(super) memory: Option<Memory>,
    /// True if the aspect is about rounds.
    counts_rounds: bool,
}

impl Monitor {
    pub(super) fn new(work: &mut Work<'_>, aspect: &Aspect) -> Result<Monitor, BuildError> {
        let counts_rounds = *aspect != Aspect::Stuck;
        let mut monitor = Monitor {
            seen: Vec::new(),
            never: Vec::new(),
            round: None,
            count: None,
            memory: None,
            counts_rounds,
        };
        if !counts_rounds {
            return Ok(monitor);
        }
        let under = work.asked.under.clone();
        for (i, f) in under.iter().enumerate() {
            let never = match &work.copy.from.fairness[f.index()].kind {
                FairnessKind::Strong(set) => Some(never_again(work, i, set)?),
                FairnessKind::Justice(_) | FairnessKind::Weak(_) => None,
            };
            monitor.never.push(never);
        }
        if under.len() > 1 {
            for i in 0..under.len() {
                monitor.seen.push(flag(work, &format!("@seen{}", i + 1))?);
            }
        }
        match aspect {
            Aspect::Stuck => {}
            Aspect::Rounds => {
                if !under.is_empty() {
                    monitor.round = Some(flag(work, "@round")?);
                }
            }
            Aspect::AtMost(k) => {
                let count = work.copy.to.var("@count", Sort::Int, Role::State, None, None)?;
                monitor.count = Some((count, *k));
            }
            Aspect::Repetition(_) => {
                let present: Vec<VarId> = work.copy.to.so_far().var_ids().collect();
                let location = work.copy.to.so_far().location;
                let place = work.copy.to.pool.symbol(location).sort;
                let place = work.copy.to.var("@place", place, Role::State, None, None)?;
                let mut old = Vec::new();
                for v in present {
                    let (name, sort) = (
                        work.copy.to.so_far().var(v).name.clone(),
                        work.copy.to.so_far().var(v).sort,
                    );
                    old.push((
                        v,
                        work.copy.to.var(&format!("@old_{name}"), sort, Role::State, None, None)?,
                    ));
                }
                let saved = flag(work, "@saved")?;
                let since = if under.is_empty() { None } else { Some(flag(work, "@since")?) };
                monitor.memory = Some(Memory { saved, since, place, old });
            }
        }
        Ok(monitor)
    }

    /// The constraints on the monitor's variables in a start state.
    pub(super) fn start(&self, work: &mut Work<'_>, stage: Stage, target: NodeId) -> Vec<TermId> {
        let mut holds = Vec::new();
        let mut off: Vec<VarId> = self.seen.iter().copied().chain(self.round).collect();
        if stage == Stage::Free {
            off.extend(self.never.iter().flatten());
        }
        if let Some(memory) = &self.memory {
            off.push(memory.saved);
            off.extend(memory.since);
        }
        for v in off {
            let v = current(work, v);
            holds.push(work.copy.to.pool.not(v));
        }
        if let Some((count, _)) = self.count {
            let (count, zero) = (current(work, count), work.copy.to.pool.int(0));
            holds.push(work.copy.to.pool.eq(count, zero));
        }
        if let Some(memory) = &self.memory {
            for &(v, old) in &memory.old {
                let (v, old) = (current(work, v), current(work, old));
                holds.push(work.copy.to.pool.eq(old, v));
            }
            let (place, here) = (current(work, memory.place), node_value(work, target));
            holds.push(work.copy.to.pool.eq(place, here));
        }
        holds
    }

    /// Further guards of a step.
    pub(super) fn guard(
        &self,
        work: &mut Work<'_>,
        kind: StepKind,
        draft: &mut TransitionDraft,
    ) -> Result<(), BuildError> {
        if let (StepKind::Save, Some(memory)) = (kind, &self.memory) {
            let saved = current(work, memory.saved);
            let not_yet = work.copy.to.pool.not(saved);
            work.copy.to.guard(draft, not_yet, None)?;
            work.copy.came_from(None);
        }
        Ok(())
    }

    /// The effect of a step by `t` on the monitor's variables.
    pub(super) fn step(
        &self,
        work: &mut Work<'_>,
        kind: StepKind,
        t: TransitionId,
        draft: &mut TransitionDraft,
    ) -> Result<(), BuildError> {
        if !self.counts_rounds {
            return Ok(());
        }
        let staying = matches!(kind, StepKind::Stay | StepKind::Save);
        let hits = if staying { self.hits(work, t) } else { Vec::new() };
        let complete = work.copy.to.pool.and(hits.iter().copied());
        for v in self.never.iter().flatten() {
            match kind {
                StepKind::Free => {
                    let off = work.copy.to.pool.ff();
                    work.copy.to.assign(draft, *v, off, None)?;
                }
                StepKind::Begin => work.copy.to.free(draft, *v),
                StepKind::Stay | StepKind::Save | StepKind::Answer => {
                    let now = current(work, *v);
                    let next = work.copy.to.so_far().var(*v).next;
                    let next = work.copy.to.pool.var(next);
                    let remains = work.copy.to.pool.implies(now, next);
                    work.copy.to.constrain(draft, remains, None)?;
                }
            }
        }
        for (&v, i) in self.seen.iter().zip(0..) {
            let value = if staying {
                let incomplete = work.copy.to.pool.not(complete);
                work.copy.to.pool.and([incomplete, hits[i]])
            } else {
                work.copy.to.pool.ff()
            };
            work.copy.to.assign(draft, v, value, None)?;
        }
        if let Some(v) = self.round {
            let value = if staying { complete } else { work.copy.to.pool.ff() };
            work.copy.to.assign(draft, v, value, None)?;
        }
        if let Some((v, k)) = self.count {
            let count = current(work, v);
            let pool = &mut work.copy.to.pool;
            let value = if staying {
                let (k, one) = (pool.int(k), pool.int(1));
                let below = pool.le(count, k);
                let more = pool.add(count, one);
                let counts = pool.and([complete, below]);
                pool.ite(counts, more, count)
            } else {
                pool.int(0)
            };
            work.copy.to.assign(draft, v, value, None)?;
        }
        if let Some(memory) = &self.memory {
            if kind == StepKind::Save {
                let source = work.at(work.copy.from.transition(t).source, Stage::Pending);
                let (on, here) = (work.copy.to.pool.tt(), node_value(work, source));
                work.copy.to.assign(draft, memory.saved, on, None)?;
                work.copy.to.assign(draft, memory.place, here, None)?;
                for &(v, old) in &memory.old {
                    let v = current(work, v);
                    work.copy.to.assign(draft, old, v, None)?;
                }
            }
            if let (Some(since), true) = (memory.since, staying) {
                let value = if kind == StepKind::Save {
                    complete
                } else {
                    let (since, saved) = (current(work, since), current(work, memory.saved));
                    let now = work.copy.to.pool.and([saved, complete]);
                    work.copy.to.pool.or([since, now])
                };
                work.copy.to.assign(draft, since, value, None)?;
            }
        }
        Ok(())
    }

    /// By constraint: the formula that a step by `t` hits it, or it was hit before in this round.
    fn hits(&self, work: &mut Work<'_>, t: TransitionId) -> Vec<TermId> {
        let system = work.copy.from;
        let source = system.transition(t).source;
        let under = work.asked.under.clone();
        let mut hits = Vec::new();
        for (i, f) in under.iter().enumerate() {
            let hit = match &system.fairness[f.index()].kind {
                FairnessKind::Justice(p) => system.at_node(&mut work.copy.to.pool, *p, source),
                FairnessKind::Weak(set) | FairnessKind::Strong(set) if set.contains(&t) => {
                    work.copy.to.pool.tt()
                }
                FairnessKind::Weak(set) => {
                    let possible = possible_at(work, set, source);
                    work.copy.to.pool.not(possible)
                }
                FairnessKind::Strong(_) => match self.never[i] {
                    Some(v) => current(work, v),
                    None => work.copy.to.pool.ff(),
                },
            };
            let before = self.seen.get(i).map(|&v| current(work, v));
            hits.push(work.copy.to.pool.or([hit].into_iter().chain(before)));
        }
        hits
    }

    /// The formula that at most `k` rounds were counted.
    pub(super) fn at_most(&self, work: &mut Work<'_>, k: u32) -> TermId {
        match self.count {
            Some((v, _)) => {
                let (count, k) = (current(work, v), work.copy.to.pool.int(k));
                work.copy.to.pool.le(count, k)
            }
            None => work.copy.to.pool.ff(),
        }
    }

    /// The formula that the state is the saved one, and a round was completed in between.
    pub(super) fn repeats(&self, work: &mut Work<'_>) -> TermId {
        let Some(memory) = &self.memory else { return work.copy.to.pool.tt() };
        let mut parts = vec![current(work, memory.saved)];
        parts.extend(memory.since.map(|v| current(work, v)));
        let location = work.copy.to.so_far().location;
        let (place, here) = (current(work, memory.place), work.copy.to.pool.var(location));
        parts.push(work.copy.to.pool.eq(here, place));
        for &(v, old) in &memory.old {
            let (v, old) = (current(work, v), current(work, old));
            parts.push(work.copy.to.pool.eq(v, old));
        }
        work.copy.to.pool.and(parts)
    }
}

/// Adds the flag of a strong constraint, with its assumption.
fn never_again(work: &mut Work<'_>, i: usize, set: &[TransitionId]) -> Result<VarId, BuildError> {
    let v = flag(work, &format!("@never{}", i + 1))?;
    for n in work.copy.from.node_ids() {
        let possible = possible_at(work, set, n);
        let never = current(work, v);
        let pool = &mut work.copy.to.pool;
        let impossible = pool.not(possible);
        let formula = pool.implies(never, impossible);
        work.assume_pending(n, formula, &format!("never{}", i + 1))?;
    }
    Ok(v)
}

/// The formula that a step of one of the transitions can be completed in a state at `n`.
fn possible_at(work: &mut Work<'_>, set: &[TransitionId], n: NodeId) -> TermId {
    let system = work.copy.from;
    let mut ways = Vec::new();
    for &t in set.iter().filter(|t| system.transition(**t).source == n) {
        ways.push(can_step(&mut work.copy.to.pool, system, t));
    }
    work.copy.to.pool.or(ways)
}

fn flag(work: &mut Work<'_>, name: &str) -> Result<VarId, BuildError> {
    work.copy.to.var(name, Sort::Bool, Role::State, None, None)
}

fn current(work: &mut Work<'_>, v: VarId) -> TermId {
    let symbol = work.copy.to.so_far().var(v).current;
    work.copy.to.pool.var(symbol)
}

fn node_value(work: &mut Work<'_>, n: NodeId) -> TermId {
    let location = work.copy.to.so_far().location;
    let Sort::Enum(sort) = work.copy.to.pool.symbol(location).sort else {
        unreachable!("a location is of an enum")
    };
    work.copy.to.pool.constant(Value::Enum(sort, n.0))
}
