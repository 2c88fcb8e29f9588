//! Finds the parts of a model that force the end of a run.
//!
//! The transitions and the chosen values of the run are fixed. A set of parts is *sufficient* if
//! every sequence of states with these choices that satisfies the parts has the same end. It is
//! *minimal* if no part can be removed. Frames, and what a front-end added, are always kept, as for
//! validity cores.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_smt::{Answer, CoreSession, Limits, Literal, Placement, SessionConfig, Solvers};
use gander_system::{ElementId, System};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::choices::DefinitionTable;
use super::ending::{Ending, Place};
use super::fixed::placement;
use super::flat::FlatRun;
use super::search::local;
use super::smooth::value_of;
use crate::parts::set::PartSet;
use crate::parts::{PartKind, Parts};

/// Up to this number of parts, each is removed by itself, without the help of solver cores.
const MAX_SINGLE_REMOVALS: usize = 150;

/// Parts that force the end of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forced {
    /// The parts.
    pub by: PartSet,
    /// True if none of them can be removed.
    pub minimal: bool,
}

/// A formula at a position that is asserted with its part, or always.
struct Demand {
    part: Option<usize>,
    at: u32,
    formula: TermId,
}

/// Finds a minimal sufficient set; `None` if the solver does not confirm that all parts are
/// sufficient.
pub(crate) fn forced(
    system: &Arc<System>,
    base: &Arc<Pool>,
    (table, parts): (&DefinitionTable, &Parts),
    run: &FlatRun,
    (ending, places): (&Ending, &[Place]),
    (solvers, cancellation, deadline): (&Solvers, Cancellation, Instant),
) -> Option<Forced> {
    let mut pool = Pool::fork(base);
    let demands = demands(system, &mut pool, parts, run);
    let chosen = chosen_values(system, &mut pool, table, run);
    let missed = missed_goals(system, &mut pool, run, places);
    let continuations = continuations(system, &mut pool, parts, run, ending);
    let mut about: Vec<TermId> = demands.iter().map(|d| d.formula).collect();
    about.extend(chosen.iter().chain(&missed).map(|c| c.1));
    about.extend(continuations.iter().flatten().map(|d| d.formula));
    let solver = solvers.choose(pool.features(&about))?;
    let session =
        solvers.core_session(solver, SessionConfig { cancellation, ..SessionConfig::default() });
    let mut queries = PartQueries {
        system,
        pool,
        session,
        placement: placement(system),
        parts: Vec::new(),
        deadline,
    };
    queries.parts = (0..parts.len()).map(|_| queries.session.literal()).collect();
    for d in demands {
        queries.assert(d.part, None, d.at, d.formula);
    }
    for (at, t) in chosen {
        queries.assert(None, None, at, t);
    }
    queries.assert_different_end(missed, continuations);
    queries.minimal(parts)
}

/// What the start and the steps of the run require, and the assumptions in its states.
fn demands(system: &System, pool: &mut Pool, parts: &Parts, run: &FlatRun) -> Vec<Demand> {
    let mut demands: Vec<Demand> = Vec::new();
    let mut add = |id: ElementId, at: usize, formula: TermId| {
        demands.push(Demand { part: parts.part_of(id), at: at as u32, formula });
    };
    for e in &system.starts()[run.start.index()].constraint {
        add(e.id, 0, e.term.term());
    }
    for i in 0..run.states.len() {
        for a in system.assumptions() {
            let t = system.at_node(pool, a.term, run.node(system, i));
            add(a.id, i, t);
        }
        let Some((t, _)) = run.steps.get(i) else { continue };
        for (id, t) in step_elements(system, pool, *t) {
            add(id, i, t);
        }
    }
    demands
}

/// Equations for the chosen values of the run, with their positions.
fn chosen_values(
    system: &System,
    pool: &mut Pool,
    table: &DefinitionTable,
    run: &FlatRun,
) -> Vec<(u32, TermId)> {
    let mut chosen = Vec::new();
    for c in table.choices(system, run) {
        let symbol = match c {
            super::Choice::Var(_, v) => system.var(v).current,
            super::Choice::Param(i, p) => {
                system.transition(run.steps[i as usize].0).params[p as usize].symbol
            }
        };
        let (symbol, value) = (pool.var(symbol), pool.constant(value_of(run, c)));
        chosen.push((c.at(), pool.eq(symbol, value)));
    }
    chosen
}

/// The negated goals, with their positions.
fn missed_goals(
    system: &System,
    pool: &mut Pool,
    run: &FlatRun,
    places: &[Place],
) -> Vec<(u32, TermId)> {
    let mut missed = Vec::new();
    for p in places {
        let here = system.node_constant(pool, run.node(system, p.at as usize));
        let formula =
            pool.substitute(p.formula, &FxHashMap::from_iter([(system.location(), here)]));
        missed.push((p.at, pool.not(formula)));
    }
    missed
}

/// The ways to continue a run that is stuck: what each step from its last state requires. A way out
/// of a sinkhole is an enabled transition.
fn continuations(
    system: &System,
    pool: &mut Pool,
    parts: &Parts,
    run: &FlatRun,
    ending: &Ending,
) -> Vec<Vec<Demand>> {
    let last = run.states.len() - 1;
    let at = last as u32;
    let mut continuations: Vec<Vec<Demand>> = Vec::new();
    if !matches!(ending, Ending::Sinkhole(_) | Ending::Deadlock) {
        return continuations;
    }
    for &t in system.leaving(run.node(system, last)) {
        let transition = system.transition(t);
        let mut way: Vec<Demand> = Vec::new();
        if matches!(ending, Ending::Sinkhole(_)) {
            way.extend(transition.guard.iter().map(|g| Demand {
                part: parts.part_of(g.id),
                at,
                formula: g.term.term(),
            }));
        } else {
            for (id, formula) in step_elements(system, pool, t) {
                way.push(Demand { part: parts.part_of(id), at, formula });
            }
            for a in system.assumptions() {
                let formula = system.at_node(pool, a.term, transition.target);
                way.push(Demand { part: parts.part_of(a.id), at: at + 1, formula });
            }
        }
        continuations.push(way);
    }
    continuations
}

/// The elements of a step: guard and effect.
fn step_elements(
    system: &System,
    pool: &mut Pool,
    t: gander_system::TransitionId,
) -> Vec<(ElementId, TermId)> {
    let transition = system.transition(t);
    let mut all: Vec<(ElementId, TermId)> =
        transition.guard.iter().map(|g| (g.id, g.term.term())).collect();
    for e in &transition.effect {
        all.push((e.id(), system.effect_part(pool, e)));
    }
    all
}

struct PartQueries<'s> {
    system: &'s System,
    pool: Pool,
    session: CoreSession,
    placement: FxHashMap<SymbolId, Placement>,
    parts: Vec<Literal>,
    deadline: Instant,
}

impl PartQueries<'_> {
    /// Asserts a formula under the part's literal and the given one.
    fn assert(&mut self, part: Option<usize>, when: Option<Literal>, at: u32, formula: TermId) {
        let t = local(self.system, &mut self.pool, formula);
        if self.pool.as_bool(t) == Some(true) {
            return;
        }
        let of = |s: SymbolId| self.placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let template = self.session.compile(&self.pool, t, &of);
        match (part.map(|p| self.parts[p]), when) {
            (None, None) => self.session.assert_at(&self.pool, &template, at),
            (Some(l), None) | (None, Some(l)) => {
                self.session.assert_if_at(&self.pool, l, &template, at)
            }
            (Some(a), Some(b)) => {
                let holds = self.session.literal_at(&self.pool, &template, at);
                self.session.assert_clause(&[!a, !b, holds]);
            }
        }
    }

    /// Asserts that the run ends differently: some goal is missed, or some step satisfies what its
    /// parts require and continues the run.
    fn assert_different_end(
        &mut self,
        missed: Vec<(u32, TermId)>,
        continuations: Vec<Vec<Demand>>,
    ) {
        let mut otherwise: Vec<Literal> = Vec::new();
        for (at, t) in missed {
            let literal = self.session.literal();
            self.assert(None, Some(literal), at, t);
            otherwise.push(literal);
        }
        for way in continuations {
            let literal = self.session.literal();
            for d in way {
                self.assert(d.part, Some(literal), d.at, d.formula);
            }
            otherwise.push(literal);
        }
        self.session.assert_clause(&otherwise);
    }

    /// Queries whether these parts are sufficient.
    fn sufficiency(&mut self, kept: &PartSet) -> Sufficiency {
        if Instant::now() >= self.deadline || self.session.failure().is_some() {
            return Sufficiency::Unknown;
        }
        let assumptions: Vec<Literal> = kept.iter().map(|p| self.parts[p]).collect();
        let left =
            self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let limits = Limits::time(left);
        match self.session.check(&assumptions, limits) {
            Answer::Unsat => {}
            Answer::Sat => return Sufficiency::No,
            Answer::Unknown(_) => return Sufficiency::Unknown,
        }
        let Ok(core) = self.session.core(limits) else { return Sufficiency::Unknown };
        let mut used = PartSet::none(self.parts.len());
        kept.iter().filter(|&p| core.contains(&self.parts[p])).for_each(|p| used.insert(p));
        Sufficiency::Yes(used)
    }

    /// Removes parts: first those that only permit the run (assumptions, guards), then those that
    /// determine it. For few parts solver cores are not used, so the result does not depend on the
    /// solver.
    fn minimal(&mut self, parts: &Parts) -> Option<Forced> {
        let all = PartSet::all(parts.len());
        let Sufficiency::Yes(core) = self.sufficiency(&all) else { return None };
        let few = parts.len() <= MAX_SINGLE_REMOVALS;
        let by = if few { all } else { core };
        let rank = |p: usize| match parts.list[p].kind {
            PartKind::Assumption => 0,
            PartKind::Guard => 1,
            PartKind::Start => 2,
            PartKind::Effect | PartKind::Equation | PartKind::Call => 3,
        };
        let mut members: Vec<usize> = by.iter().collect();
        members.sort_by_key(|&p| rank(p));
        Some(reduced(by, &members, few, &mut |kept| self.sufficiency(kept)))
    }
}

/// Whether a set of parts is sufficient.
enum Sufficiency {
    /// It is; the parts that the refutation uses.
    Yes(PartSet),
    No,
    Unknown,
}

/// Removes members in this order. The result is minimal if each remaining one is known to be
/// necessary.
fn reduced(
    mut by: PartSet,
    members: &[usize],
    few: bool,
    enough: &mut dyn FnMut(&PartSet) -> Sufficiency,
) -> Forced {
    let mut minimal = true;
    for &p in members {
        if !by.has(p) {
            continue;
        }
        let without = by.without(p);
        match enough(&without) {
            Sufficiency::Yes(used) => by = if few { without } else { used },
            Sufficiency::No => {}
            Sufficiency::Unknown => minimal = false,
        }
    }
    Forced { by, minimal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_not_known_to_be_necessary_makes_the_set_not_minimal() {
        // 0 is necessary, 1 is not; 2 is undecided.
        let mut unsure = |kept: &PartSet| match (kept.has(0), kept.has(2)) {
            (false, _) => Sufficiency::No,
            (true, false) => Sufficiency::Unknown,
            (true, true) => Sufficiency::Yes(kept.clone()),
        };
        let found = reduced(PartSet::all(3), &[0, 1, 2], true, &mut unsure);
        assert_eq!(found, Forced { by: PartSet::of(3, [0, 2]), minimal: false });
        let mut sure = |kept: &PartSet| {
            if kept.has(0) { Sufficiency::Yes(kept.clone()) } else { Sufficiency::No }
        };
        let found = reduced(PartSet::all(3), &[0, 1, 2], true, &mut sure);
        assert_eq!(found, Forced { by: PartSet::of(3, [0]), minimal: true });
    }
}
