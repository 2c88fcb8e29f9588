//! Bounded arguments: k-induction and diameters over step sequences of the whole control graph.
//!
//! A sequence of states has a copy of every state variable, and of `@node`, for each position;
//! consecutive states are related by the disjunction of the transitions. The definitions are in
//! docs/semantics.md, section 5, kinds 3 and 4, after Sheeran, Singh and Stalmarck, "Checking
//! safety properties using induction and a SAT-solver" (2000). Engines unroll with their own code.

use gander_system::{NodeId, StartId};
use gander_term::{SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::discharge::{CheckContext, Line};
use crate::evidence::invariant::check_exclusion;
use crate::formula::bad::Bad;
use crate::rejection::{Rejection, undecided, wrong};

/// The parameters of a k-induction: what its step case assumes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Induction {
    pub k: u32,
    pub loop_free: bool,
    pub no_restart: bool,
}

/// Checks a k-inductive invariant.
pub(crate) fn check_k_induction(
    cx: &mut CheckContext<'_>,
    how: Induction,
    by_node: &[TermId],
    bad: &Bad,
) -> Result<(), Rejection> {
    if how.k == 0 {
        return Err(wrong("k-induction begins with k = 1"));
    }
    let k = within_limit(cx, how.k, how.loop_free)?;
    check_exclusion(cx, by_node, bad)?;

    let mut base = Sequence::new();
    let mut script = Vec::new();
    let start = base.start(cx, 0);
    script.push(Line::Assert(start));
    for i in 0..k {
        cx.check_cancelled()?;
        if i > 0 {
            let step = base.step(cx, i - 1);
            script.push(Line::Assert(step));
        }
        let broken = base.by_node(cx, i, by_node);
        let broken = cx.pool.not(broken);
        script.push(Line::Refute(
            broken,
            format!("a run of {i} steps breaks the k-inductive invariant"),
        ));
    }
    cx.refute_script(&script)?;

    let (memory, everything) = (memory(cx), vec![true; cx.system.vars().len()]);
    let mut path = Sequence::new();
    let mut script = Vec::new();
    for i in 0..=k {
        cx.check_cancelled()?;
        let admissible = path.admissible(cx, i);
        script.push(Line::Assert(admissible));
        if i > 0 {
            let step = path.step(cx, i - 1);
            script.push(Line::Assert(step));
        }
        if i > 0 && how.no_restart {
            let start = path.start(cx, i);
            let restart = cx.pool.not(start);
            script.push(Line::Assert(restart));
        }
        if how.loop_free {
            // The last state counts as distinct if any variable differs.
            let compared = if i < k { &memory } else { &everything };
            script.extend((0..i).map(|j| Line::Assert(path.differ(cx, j, i, compared))));
        }
        let holds = path.by_node(cx, i, by_node);
        if i < k {
            script.push(Line::Assert(holds));
        } else {
            let broken = cx.pool.not(holds);
            script.push(Line::Refute(broken, format!("the invariant is not {k}-inductive")));
        }
    }
    cx.refute_script(&script)
}

/// Checks that no loop-free run has more than `k` steps, and no run of at most `k` steps is bad.
pub(crate) fn check_diameter(
    cx: &mut CheckContext<'_>,
    k: u32,
    bad: &Bad,
) -> Result<(), Rejection> {
    let k = within_limit(cx, k, true)?;
    let mut run = Sequence::new();
    let mut script = Vec::new();
    let start = run.start(cx, 0);
    script.push(Line::Assert(start));
    for i in 0..=k {
        cx.check_cancelled()?;
        if i > 0 {
            let step = run.step(cx, i - 1);
            script.push(Line::Assert(step));
        }
        let met = run.bad(cx, i, bad);
        script.push(Line::Refute(met, format!("a run of {i} steps meets what must not be met")));
    }
    let step = run.step(cx, k);
    script.push(Line::Assert(step));
    let (memory, everything) = (memory(cx), vec![true; cx.system.vars().len()]);
    for i in 0..=k + 1 {
        cx.check_cancelled()?;
        let compared = if i <= k { &memory } else { &everything };
        script.extend((0..i).map(|j| Line::Assert(run.differ(cx, j, i, compared))));
    }
    let longer = cx.pool.tt();
    script.push(Line::Refute(longer, format!("there is a loop-free run of {} steps", k + 1)));
    cx.refute_script(&script)
}

/// By variable: true if the guard or the effect of some transition reads its current value. States
/// that agree in their node and these variables have the same next states.
fn memory(cx: &mut CheckContext<'_>) -> Vec<bool> {
    let system = cx.system;
    let mut read: FxHashSet<SymbolId> = FxHashSet::default();
    for t in system.transition_ids() {
        let guard = system.guard_term(&mut cx.pool, t);
        let effect = system.effect_term(&mut cx.pool, t);
        read.extend(cx.pool.free_symbols(&[guard, effect]));
    }
    system.vars().iter().map(|v| read.contains(&v.current)).collect()
}

/// The depth, if the formulas are not too large: every step has all transitions, and distinct
/// states are compared pairwise.
fn within_limit(cx: &CheckContext<'_>, k: u32, distinct: bool) -> Result<usize, Rejection> {
    let system = cx.system;
    let parts: usize =
        system.transitions().iter().map(|t| 1 + t.guard.len() + t.effect.len()).sum();
    let steps = u64::from(k) + 1;
    let pairs = if distinct { steps.saturating_mul(steps) / 2 } else { 0 };
    let size = (steps.saturating_mul(parts as u64))
        .saturating_add(pairs.saturating_mul(system.vars().len() as u64 + 1));
    if size > cx.limits.unrolled {
        return Err(undecided(format!("a bounded argument of depth {k} is too large")));
    }
    Ok(k as usize)
}

/// A state of the sequence: its node and the values of its variables.
struct Position {
    node: TermId,
    values: Vec<TermId>,
}

struct Sequence {
    positions: Vec<Position>,
}

impl Sequence {
    fn new() -> Sequence {
        Sequence { positions: Vec::new() }
    }

    fn position(&mut self, cx: &mut CheckContext<'_>, i: usize) -> &Position {
        let system = cx.system;
        while self.positions.len() <= i {
            let at = self.positions.len();
            let copy = |cx: &mut CheckContext<'_>, s: SymbolId| {
                let (name, sort) =
                    (format!("{}@{at}", cx.pool.symbol(s).name), cx.pool.symbol(s).sort);
                let s = cx.pool.declare_fresh(&name, sort);
                cx.pool.var(s)
            };
            let node = match system.nodes().len() {
                1 => system.node_constant(&mut cx.pool, NodeId(0)),
                _ => copy(cx, system.location()),
            };
            let values = system.vars().iter().map(|v| copy(cx, v.current)).collect();
            self.positions.push(Position { node, values });
        }
        &self.positions[i]
    }

    /// The copies at `i` for the current symbols and `@node`.
    fn current(&mut self, cx: &mut CheckContext<'_>, i: usize) -> FxHashMap<SymbolId, TermId> {
        let system = cx.system;
        let p = self.position(cx, i);
        let mut map: FxHashMap<SymbolId, TermId> =
            system.vars().iter().zip(&p.values).map(|(v, &copy)| (v.current, copy)).collect();
        map.insert(system.location(), p.node);
        map
    }

    fn at_node(&mut self, cx: &mut CheckContext<'_>, i: usize, n: NodeId) -> TermId {
        let node = self.position(cx, i).node;
        let n = cx.system.node_constant(&mut cx.pool, n);
        cx.pool.eq(node, n)
    }

    fn admissible(&mut self, cx: &mut CheckContext<'_>, i: usize) -> TermId {
        let map = self.current(cx, i);
        let all: Vec<TermId> = cx.system.assumptions().iter().map(|a| a.term.term()).collect();
        let all = cx.pool.and(all);
        cx.pool.substitute(all, &map)
    }

    /// State `i` is a start state; assumptions included.
    fn start(&mut self, cx: &mut CheckContext<'_>, i: usize) -> TermId {
        let system = cx.system;
        let map = self.current(cx, i);
        let mut ways = Vec::new();
        for (s, start) in system.starts().iter().enumerate() {
            let here = self.at_node(cx, i, start.target);
            let constraint = system.start_term(&mut cx.pool, StartId::from(s));
            let constraint = cx.pool.substitute(constraint, &map);
            ways.push(cx.pool.and([here, constraint]));
        }
        let some = cx.pool.or(ways);
        let admissible = self.admissible(cx, i);
        cx.pool.and([some, admissible])
    }

    /// Copies for a step from `i` to `i + 1`: current and next symbols, and fresh parameters.
    fn step_map(
        &mut self,
        cx: &mut CheckContext<'_>,
        i: usize,
        params: &[SymbolId],
    ) -> FxHashMap<SymbolId, TermId> {
        let mut map = self.current(cx, i);
        let next = &self.position(cx, i + 1).values;
        map.extend(cx.system.vars().iter().zip(next).map(|(v, &copy)| (v.next, copy)));
        for &p in params {
            let (name, sort) = (format!("{}@{i}", cx.pool.symbol(p).name), cx.pool.symbol(p).sort);
            let copy = cx.pool.declare_fresh(&name, sort);
            map.insert(p, cx.pool.var(copy));
        }
        map
    }

    /// Transition `t` leads from state `i` to state `i + 1`, where `extra` holds of state and
    /// parameters.
    fn take_step(
        &mut self,
        cx: &mut CheckContext<'_>,
        i: usize,
        t: gander_system::TransitionId,
        extra: Option<TermId>,
    ) -> TermId {
        let system = cx.system;
        let transition = system.transition(t);
        let params: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
        let map = self.step_map(cx, i, &params);
        let guard = system.guard_term(&mut cx.pool, t);
        let effect = system.effect_term(&mut cx.pool, t);
        let formula = cx.pool.and([guard, effect].into_iter().chain(extra));
        let formula = cx.pool.substitute(formula, &map);
        let from = self.at_node(cx, i, transition.source);
        let to = self.at_node(cx, i + 1, transition.target);
        cx.pool.and([from, to, formula])
    }

    /// A step leads from state `i` to state `i + 1`, which is admissible.
    fn step(&mut self, cx: &mut CheckContext<'_>, i: usize) -> TermId {
        let ways: Vec<TermId> =
            cx.system.transition_ids().map(|t| self.take_step(cx, i, t, None)).collect();
        let some = cx.pool.or(ways);
        let admissible = self.admissible(cx, i + 1);
        cx.pool.and([some, admissible])
    }

    /// State `i` satisfies the formula of its node.
    fn by_node(&mut self, cx: &mut CheckContext<'_>, i: usize, formulas: &[TermId]) -> TermId {
        let map = self.current(cx, i);
        let mut parts = Vec::new();
        for n in cx.system.node_ids() {
            let here = self.at_node(cx, i, n);
            let formula = cx.pool.substitute(formulas[n.index()], &map);
            parts.push(cx.pool.implies(here, formula));
        }
        cx.pool.and(parts)
    }

    /// States `i` and `j` differ in their node or in some of the `compared` variables.
    fn differ(
        &mut self,
        cx: &mut CheckContext<'_>,
        i: usize,
        j: usize,
        compared: &[bool],
    ) -> TermId {
        self.position(cx, i.max(j));
        let (a, b) = (&self.positions[i], &self.positions[j]);
        let mut parts = vec![cx.pool.ne(a.node, b.node)];
        for ((&x, &y), _) in
            a.values.iter().zip(&b.values).zip(compared).filter(|(_, compared)| **compared)
        {
            parts.push(cx.pool.ne(x, y));
        }
        cx.pool.or(parts)
    }

    /// State `i`, or a step that leaves it, is bad.
    fn bad(&mut self, cx: &mut CheckContext<'_>, i: usize, bad: &Bad) -> TermId {
        let map = self.current(cx, i);
        let mut ways = Vec::new();
        for &(n, formula) in &bad.states {
            let here = self.at_node(cx, i, n);
            // Parameters are not copied: no other assertion mentions them, so they are existential.
            let formula = cx.pool.substitute(formula, &map);
            ways.push(cx.pool.and([here, formula]));
        }
        for &(t, formula) in &bad.steps {
            let taken = self.take_step(cx, i, t, Some(formula));
            let admissible = self.admissible(cx, i + 1);
            ways.push(cx.pool.and([taken, admissible]));
        }
        cx.pool.or(ways)
    }
}
