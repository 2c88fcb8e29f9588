//! The parts of a model that force a run to end as it does.
//!
//! The transitions and the chosen values of the run are given. Parts are *enough* if with them alone every value that the end
//! depends on is what it is: no sequence of states with these choices that fulfils the parts ends otherwise. A set is
//! *minimal* if none can be left out. Frames, and what a front-end added, are always there, as for validity cores.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_smt::{Answer, CoreSession, Limits, Literal, Placement, SessionConfig, Solvers};
use gander_system::{Effect, ElementId, System};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::choices::Giving;
use super::ending::{Ending, Place};
use super::fixed::placement;
use super::flat::FlatRun;
use super::search::local;
use super::smooth::value_of;
use crate::parts::{PartKind, Parts};
use crate::set::PartSet;

/// As long as there are no more parts, each is left out by itself.
const FEW_PARTS: usize = 150;

/// Parts that force the end of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forced {
    /// The parts.
    pub by: PartSet,
    /// None of them can be left out.
    pub minimal: bool,
}

/// A formula that is there with its part, or always; at a position.
struct Demand {
    part: Option<usize>,
    at: u32,
    formula: TermId,
}

/// Finds a minimal set of parts; none if the solver does not show that all parts are enough.
pub(crate) fn forced(
    system: &Arc<System>,
    base: &Arc<Pool>,
    (giving, parts): (&Giving, &Parts),
    run: &FlatRun,
    (ending, places): (&Ending, &[Place]),
    (solvers, cancellation, deadline): (&Solvers, Cancellation, Instant),
) -> Option<Forced> {
    let mut pool = Pool::fork(base);
    let last = run.states.len() - 1;
    let mut demands: Vec<Demand> = Vec::new();
    let mut add = |id: ElementId, at: usize, formula: TermId| {
        demands.push(Demand { part: parts.part_of(id), at: at as u32, formula });
    };
    for e in &system.starts[run.start.index()].constraint {
        add(e.id, 0, e.term.term());
    }
    for i in 0..=last {
        for a in &system.assumptions {
            let t = system.at_node(&mut pool, a.term, run.node(system, i));
            add(a.id, i, t);
        }
        let Some((t, _)) = run.steps.get(i) else { continue };
        for (id, t) in step_elements(system, &mut pool, *t) {
            add(id, i, t);
        }
    }
    let mut chosen: Vec<(u32, TermId)> = Vec::new();
    for c in giving.choices(system, run) {
        let symbol = match c {
            super::Choice::Var(_, v) => system.var(v).current,
            super::Choice::Param(i, p) => system.transition(run.steps[i as usize].0).params[p as usize].symbol,
        };
        let (symbol, value) = (pool.var(symbol), pool.constant(value_of(run, c)));
        chosen.push((c.at(), pool.eq(symbol, value)));
    }
    // What would make it end otherwise: a goal is missed, or a step leads on with what its parts demand of it.
    let mut missed: Vec<(u32, TermId)> = Vec::new();
    for p in places {
        let here = system.node_constant(&mut pool, run.node(system, p.at as usize));
        let formula = pool.substitute(p.formula, &FxHashMap::from_iter([(system.location, here)]));
        missed.push((p.at, pool.not(formula)));
    }
    let mut ways_on: Vec<Vec<(Option<usize>, u32, TermId)>> = Vec::new();
    if matches!(ending, Ending::Sinkhole(_) | Ending::Deadlock) {
        for &t in system.leaving(run.node(system, last)) {
            let transition = system.transition(t);
            let mut way: Vec<(Option<usize>, u32, TermId)> = Vec::new();
            if matches!(ending, Ending::Sinkhole(_)) {
                way.extend(transition.guard.iter().map(|g| (parts.part_of(g.id), last as u32, g.term.term())));
            } else {
                for (id, f) in step_elements(system, &mut pool, t) {
                    way.push((parts.part_of(id), last as u32, f));
                }
                for a in &system.assumptions {
                    let f = system.at_node(&mut pool, a.term, transition.target);
                    way.push((parts.part_of(a.id), last as u32 + 1, f));
                }
            }
            ways_on.push(way);
        }
    }
    let mut about: Vec<TermId> = demands.iter().map(|d| d.formula).collect();
    about.extend(chosen.iter().chain(&missed).map(|c| c.1));
    about.extend(ways_on.iter().flatten().map(|w| w.2));
    let solver = solvers.choose(pool.features(&about))?;
    let session = solvers.core_session(solver, SessionConfig { cancellation, ..SessionConfig::default() });
    let mut asker = Asker { system, pool, session, placement: placement(system), parts: Vec::new(), deadline };
    asker.parts = (0..parts.len()).map(|_| asker.session.literal()).collect();
    for d in demands {
        asker.demand(d.part, None, d.at, d.formula);
    }
    for (at, t) in chosen {
        asker.demand(None, None, at, t);
    }
    let mut otherwise: Vec<Literal> = Vec::new();
    for (at, t) in missed {
        let literal = asker.session.literal();
        asker.demand(None, Some(literal), at, t);
        otherwise.push(literal);
    }
    for way in ways_on {
        let literal = asker.session.literal();
        for (part, at, t) in way {
            asker.demand(part, Some(literal), at, t);
        }
        otherwise.push(literal);
    }
    asker.session.assert_clause(&otherwise);
    asker.minimal(parts)
}

/// The elements of a step: guard and effect.
fn step_elements(system: &System, pool: &mut Pool, t: gander_system::TransitionId) -> Vec<(ElementId, TermId)> {
    let transition = system.transition(t);
    let mut all: Vec<(ElementId, TermId)> = transition.guard.iter().map(|g| (g.id, g.term.term())).collect();
    for e in &transition.effect {
        let (Effect::Assign { id, .. } | Effect::Constrain { id, .. } | Effect::Keep { id, .. }) = *e;
        all.push((id, system.effect_part(pool, e)));
    }
    all
}

struct Asker<'s> {
    system: &'s System,
    pool: Pool,
    session: CoreSession,
    placement: FxHashMap<SymbolId, Placement>,
    parts: Vec<Literal>,
    deadline: Instant,
}

impl Asker<'_> {
    /// Demands a formula while the part is there and the literal is true.
    fn demand(&mut self, part: Option<usize>, when: Option<Literal>, at: u32, formula: TermId) {
        let t = local(self.system, &mut self.pool, formula);
        if self.pool.as_bool(t) == Some(true) {
            return;
        }
        let of = |s: SymbolId| self.placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let template = self.session.compile(&self.pool, t, &of);
        match (part.map(|p| self.parts[p]), when) {
            (None, None) => self.session.assert_at(&self.pool, &template, at),
            (Some(l), None) | (None, Some(l)) => self.session.assert_if_at(&self.pool, l, &template, at),
            (Some(a), Some(b)) => {
                let holds = self.session.literal_at(&self.pool, &template, at);
                self.session.assert_clause(&[!a, !b, holds]);
            }
        }
    }

    /// Asks if these parts are enough.
    fn enough(&mut self, kept: &PartSet) -> Enough {
        if Instant::now() >= self.deadline || self.session.failure().is_some() {
            return Enough::Unknown;
        }
        let assumptions: Vec<Literal> = kept.iter().map(|p| self.parts[p]).collect();
        let left = self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let limits = Limits::time(left);
        match self.session.check(&assumptions, limits) {
            Answer::Unsat => {}
            Answer::Sat => return Enough::No,
            Answer::Unknown(_) => return Enough::Unknown,
        }
        let Ok(core) = self.session.core(limits) else { return Enough::Unknown };
        let mut used = PartSet::none(self.parts.len());
        kept.iter().filter(|&p| core.contains(&self.parts[p])).for_each(|p| used.insert(p));
        Enough::Yes(used)
    }

    /// Leaves out what can be: first what only lets the run happen (assumptions, guards), then what makes it happen. Of few
    /// parts the result does not depend on the solver, as its cores are not used.
    fn minimal(&mut self, parts: &Parts) -> Option<Forced> {
        let all = PartSet::all(parts.len());
        let Enough::Yes(core) = self.enough(&all) else { return None };
        let few = parts.len() <= FEW_PARTS;
        let by = if few { all } else { core };
        let rank = |p: usize| match parts.list[p].kind {
            PartKind::Assumption => 0,
            PartKind::Guard => 1,
            PartKind::Start => 2,
            PartKind::Effect | PartKind::Equation | PartKind::Call => 3,
        };
        let mut members: Vec<usize> = by.iter().collect();
        members.sort_by_key(|&p| rank(p));
        Some(reduced(by, &members, few, &mut |kept| self.enough(kept)))
    }
}

/// Whether parts are enough.
enum Enough {
    /// They are; those that a refutation uses.
    Yes(PartSet),
    No,
    Unknown,
}

/// Leaves out members in this order. The result is minimal if each of those that stay is known to be needed.
fn reduced(mut by: PartSet, members: &[usize], few: bool, enough: &mut dyn FnMut(&PartSet) -> Enough) -> Forced {
    let mut minimal = true;
    for &p in members {
        if !by.has(p) {
            continue;
        }
        let without = by.without(p);
        match enough(&without) {
            Enough::Yes(used) => by = if few { without } else { used },
            Enough::No => {}
            Enough::Unknown => minimal = false,
        }
    }
    Forced { by, minimal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_be_needed_makes_no_minimal_set() {
        // 0 is needed, 1 is not; of 2 the solver does not know.
        let mut unsure = |kept: &PartSet| match (kept.has(0), kept.has(2)) {
            (false, _) => Enough::No,
            (true, false) => Enough::Unknown,
            (true, true) => Enough::Yes(kept.clone()),
        };
        let found = reduced(PartSet::all(3), &[0, 1, 2], true, &mut unsure);
        assert_eq!(found, Forced { by: PartSet::of(3, [0, 2]), minimal: false });
        let mut sure = |kept: &PartSet| if kept.has(0) { Enough::Yes(kept.clone()) } else { Enough::No };
        let found = reduced(PartSet::all(3), &[0, 1, 2], true, &mut sure);
        assert_eq!(found, Forced { by: PartSet::of(3, [0]), minimal: true });
    }
}
