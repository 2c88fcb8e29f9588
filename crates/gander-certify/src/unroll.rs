//! Bounded arguments: k-induction and diameters over step sequences of the whole control graph.
//!
//! A sequence of states has a copy of every state variable, and of `@node`, for each position; consecutive ones are
//! related by the disjunction of the transitions. Definitions: docs/semantics.md, section 5, kinds 3 and 4. After
//! Sheeran, Singh and Stalmarck, "Checking safety properties using induction and a SAT-solver" (2000).

use gander_system::{NodeId, StartId};
use gander_term::{SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bad::Bad;
use crate::case::{Case, Line};
use crate::invariant::check_exclusion;
use crate::rejection::{Rejection, undecided, wrong};

/// What the step case of a k-induction may assume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Induction {
    pub k: u32,
    pub loop_free: bool,
    pub no_restart: bool,
}

/// Checks a k-inductive invariant.
pub(crate) fn check_k_induction(
    case: &mut Case<'_>,
    how: Induction,
    by_node: &[TermId],
    bad: &Bad,
) -> Result<(), Rejection> {
    if how.k == 0 {
        return Err(wrong("k-induction begins with k = 1"));
    }
    let k = within_limit(case, how.k, how.loop_free)?;
    check_exclusion(case, by_node, bad)?;

    let mut base = Sequence::new();
    let mut script = Vec::new();
    let start = base.start(case, 0);
    script.push(Line::Assert(start));
    for i in 0..k {
        case.look_up()?;
        if i > 0 {
            let step = base.step(case, i - 1);
            script.push(Line::Assert(step));
        }
        let broken = base.by_node(case, i, by_node);
        let broken = case.pool.not(broken);
        script.push(Line::Refute(broken, format!("a run of {i} steps breaks the k-inductive invariant")));
    }
    case.refute_in_turn(&script)?;

    let (memory, everything) = (memory(case), vec![true; case.system.vars.len()]);
    let mut path = Sequence::new();
    let mut script = Vec::new();
    for i in 0..=k {
        case.look_up()?;
        let admissible = path.admissible(case, i);
        script.push(Line::Assert(admissible));
        if i > 0 {
            let step = path.step(case, i - 1);
            script.push(Line::Assert(step));
        }
        if i > 0 && how.no_restart {
            let start = path.start(case, i);
            let restart = case.pool.not(start);
            script.push(Line::Assert(restart));
        }
        if how.loop_free {
            // What the last state remembers does not matter: it is where the claim is looked at.
            let compared = if i < k { &memory } else { &everything };
            script.extend((0..i).map(|j| Line::Assert(path.differ(case, j, i, compared))));
        }
        let holds = path.by_node(case, i, by_node);
        if i < k {
            script.push(Line::Assert(holds));
        } else {
            let broken = case.pool.not(holds);
            script.push(Line::Refute(broken, format!("the invariant is not {k}-inductive")));
        }
    }
    case.refute_in_turn(&script)
}

/// Checks that no loop-free run has more than `k` steps, and no run of at most `k` steps is bad.
pub(crate) fn check_diameter(case: &mut Case<'_>, k: u32, bad: &Bad) -> Result<(), Rejection> {
    let k = within_limit(case, k, true)?;
    let mut run = Sequence::new();
    let mut script = Vec::new();
    let start = run.start(case, 0);
    script.push(Line::Assert(start));
    for i in 0..=k {
        case.look_up()?;
        if i > 0 {
            let step = run.step(case, i - 1);
            script.push(Line::Assert(step));
        }
        let met = run.bad(case, i, bad);
        script.push(Line::Refute(met, format!("a run of {i} steps meets what must not be met")));
    }
    let step = run.step(case, k);
    script.push(Line::Assert(step));
    let (memory, everything) = (memory(case), vec![true; case.system.vars.len()]);
    for i in 0..=k + 1 {
        case.look_up()?;
        let compared = if i <= k { &memory } else { &everything };
        script.extend((0..i).map(|j| Line::Assert(run.differ(case, j, i, compared))));
    }
    let longer = case.pool.tt();
    script.push(Line::Refute(longer, format!("there is a loop-free run of {} steps", k + 1)));
    case.refute_in_turn(&script)
}

/// By variable: does the guard or the effect of some transition read its value in the state that is left? States that
/// agree in node and memory have the same next states.
fn memory(case: &mut Case<'_>) -> Vec<bool> {
    let system = case.system;
    let mut read: FxHashSet<SymbolId> = FxHashSet::default();
    for t in system.transition_ids() {
        let guard = system.guard_term(&mut case.pool, t);
        let effect = system.effect_term(&mut case.pool, t);
        read.extend(case.pool.free_symbols(&[guard, effect]));
    }
    system.vars.iter().map(|v| read.contains(&v.current)).collect()
}

/// The depth, if the argument does not become too large: every step has all transitions, and distinct states are
/// compared pairwise.
fn within_limit(case: &Case<'_>, k: u32, distinct: bool) -> Result<usize, Rejection> {
    let system = case.system;
    let parts: usize = system.transitions.iter().map(|t| 1 + t.guard.len() + t.effect.len()).sum();
    let steps = u64::from(k) + 1;
    let pairs = if distinct { steps.saturating_mul(steps) / 2 } else { 0 };
    let size = (steps.saturating_mul(parts as u64)).saturating_add(pairs.saturating_mul(system.vars.len() as u64 + 1));
    if size > case.limits.unrolled {
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

    fn position(&mut self, case: &mut Case<'_>, i: usize) -> &Position {
        let system = case.system;
        while self.positions.len() <= i {
            let at = self.positions.len();
            let copy = |case: &mut Case<'_>, s: SymbolId| {
                let (name, sort) = (format!("{}@{at}", case.pool.symbol(s).name), case.pool.symbol(s).sort);
                let s = case.pool.declare_fresh(&name, sort);
                case.pool.var(s)
            };
            // With one node there is nothing to choose.
            let node = match system.nodes.len() {
                1 => system.node_constant(&mut case.pool, NodeId(0)),
                _ => copy(case, system.location),
            };
            let values = system.vars.iter().map(|v| copy(case, v.current)).collect();
            self.positions.push(Position { node, values });
        }
        &self.positions[i]
    }

    /// The copies at `i` for the current symbols and `@node`.
    fn current(&mut self, case: &mut Case<'_>, i: usize) -> FxHashMap<SymbolId, TermId> {
        let system = case.system;
        let p = self.position(case, i);
        let mut map: FxHashMap<SymbolId, TermId> =
            system.vars.iter().zip(&p.values).map(|(v, &copy)| (v.current, copy)).collect();
        map.insert(system.location, p.node);
        map
    }

    fn at_node(&mut self, case: &mut Case<'_>, i: usize, n: NodeId) -> TermId {
        let node = self.position(case, i).node;
        let n = case.system.node_constant(&mut case.pool, n);
        case.pool.eq(node, n)
    }

    fn admissible(&mut self, case: &mut Case<'_>, i: usize) -> TermId {
        let map = self.current(case, i);
        let all: Vec<TermId> = case.system.assumptions.iter().map(|a| a.term.term()).collect();
        let all = case.pool.and(all);
        case.pool.substitute(all, &map)
    }

    /// State `i` is a start state; assumptions included.
    fn start(&mut self, case: &mut Case<'_>, i: usize) -> TermId {
        let system = case.system;
        let map = self.current(case, i);
        let mut ways = Vec::new();
        for (s, start) in system.starts.iter().enumerate() {
            let here = self.at_node(case, i, start.target);
            let constraint = system.start_term(&mut case.pool, StartId::from(s));
            let constraint = case.pool.substitute(constraint, &map);
            ways.push(case.pool.and([here, constraint]));
        }
        let some = case.pool.or(ways);
        let admissible = self.admissible(case, i);
        case.pool.and([some, admissible])
    }

    /// Copies for a step from `i` to `i + 1`: current and next symbols, and parameters of the step's own.
    fn step_map(&mut self, case: &mut Case<'_>, i: usize, params: &[SymbolId]) -> FxHashMap<SymbolId, TermId> {
        let mut map = self.current(case, i);
        let next = &self.position(case, i + 1).values;
        map.extend(case.system.vars.iter().zip(next).map(|(v, &copy)| (v.next, copy)));
        for &p in params {
            let (name, sort) = (format!("{}@{i}", case.pool.symbol(p).name), case.pool.symbol(p).sort);
            let copy = case.pool.declare_fresh(&name, sort);
            map.insert(p, case.pool.var(copy));
        }
        map
    }

    /// Transition `t` leads from state `i` to state `i + 1`, where `extra` holds of state and parameters.
    fn taken(
        &mut self,
        case: &mut Case<'_>,
        i: usize,
        t: gander_system::TransitionId,
        extra: Option<TermId>,
    ) -> TermId {
        let system = case.system;
        let transition = system.transition(t);
        let params: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
        let map = self.step_map(case, i, &params);
        let guard = system.guard_term(&mut case.pool, t);
        let effect = system.effect_term(&mut case.pool, t);
        let formula = case.pool.and([guard, effect].into_iter().chain(extra));
        let formula = case.pool.substitute(formula, &map);
        let from = self.at_node(case, i, transition.source);
        let to = self.at_node(case, i + 1, transition.target);
        case.pool.and([from, to, formula])
    }

    /// A step leads from state `i` to state `i + 1`, which is admissible.
    fn step(&mut self, case: &mut Case<'_>, i: usize) -> TermId {
        let ways: Vec<TermId> = case.system.transition_ids().map(|t| self.taken(case, i, t, None)).collect();
        let some = case.pool.or(ways);
        let admissible = self.admissible(case, i + 1);
        case.pool.and([some, admissible])
    }

    /// State `i` satisfies the formula of its node.
    fn by_node(&mut self, case: &mut Case<'_>, i: usize, formulas: &[TermId]) -> TermId {
        let map = self.current(case, i);
        let mut parts = Vec::new();
        for n in case.system.node_ids() {
            let here = self.at_node(case, i, n);
            let formula = case.pool.substitute(formulas[n.index()], &map);
            parts.push(case.pool.implies(here, formula));
        }
        case.pool.and(parts)
    }

    /// States `i` and `j` differ in their node or in some of the `compared` variables.
    fn differ(&mut self, case: &mut Case<'_>, i: usize, j: usize, compared: &[bool]) -> TermId {
        self.position(case, i.max(j));
        let (a, b) = (&self.positions[i], &self.positions[j]);
        let mut parts = vec![case.pool.ne(a.node, b.node)];
        for ((&x, &y), _) in a.values.iter().zip(&b.values).zip(compared).filter(|(_, compared)| **compared) {
            parts.push(case.pool.ne(x, y));
        }
        case.pool.or(parts)
    }

    /// State `i`, or a step that leaves it, is bad.
    fn bad(&mut self, case: &mut Case<'_>, i: usize, bad: &Bad) -> TermId {
        let map = self.current(case, i);
        let mut ways = Vec::new();
        for &(n, formula) in &bad.states {
            let here = self.at_node(case, i, n);
            // Parameters stay as they are: no other assertion mentions them, so they are free for this question.
            let formula = case.pool.substitute(formula, &map);
            ways.push(case.pool.and([here, formula]));
        }
        for &(t, formula) in &bad.steps {
            let taken = self.taken(case, i, t, Some(formula));
            let admissible = self.admissible(case, i + 1);
            ways.push(case.pool.and([taken, admissible]));
        }
        case.pool.or(ways)
    }
}
