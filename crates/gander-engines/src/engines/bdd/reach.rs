//! Breadth-first reachability: sets of states by depth ("rings"), and the runs and proofs from
//! them.

use std::sync::Arc;

use gander_system::{Leg, NodeId, Run, StartId, State, Step, System, TransitionId};
use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value, evaluate};
use oxidd::BooleanFunction;
use rustc_hash::{FxHashMap, FxHashSet};

use super::encode::bits_for;
use super::formula::Writer;
use super::limits::LIMITS;
use super::manager::{Bdd, BddManager, Halt, Work};
use super::order::order;
use super::relation::{ParamValue, Relation, RelationBuilder, VarBits};
use crate::encode::targets::Targets;

/// A goal that was met: at a depth, in a state at a node or by a step from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    pub goal: usize,
    pub depth: usize,
    node: NodeId,
    /// Position in `targets.steps`.
    step: Option<usize>,
}

/// A target as a set of states.
struct TargetStates {
    goal: usize,
    node: Option<NodeId>,
    states: Bdd,
    step: Option<(usize, Relation)>,
}

/// A system as BDDs, and its reachable states so far.
pub(super) struct Reach {
    pub manager: BddManager,
    system: Arc<System>,
    pub bits: Vec<VarBits>,
    starts: Vec<Bdd>,
    relations: Vec<Relation>,
    target_states: Vec<TargetStates>,
    stuck: Vec<usize>,
    /// By depth and node: the states that are first reached there.
    rings: Vec<Vec<Bdd>>,
    pub reached: Vec<Bdd>,
}

/// Allocates the bits of each variable, in the computed order.
fn lay_out(
    manager: &mut BddManager,
    system: &System,
    pool: &Pool,
    targets: &Targets,
    widths: &[usize],
) -> Work<Vec<VarBits>> {
    let both = |(i, v): (usize, &gander_system::StateVar)| [(v.current, i), (v.next, i)];
    let places: FxHashMap<SymbolId, usize> =
        system.vars().iter().enumerate().flat_map(both).collect();
    let place = |s: SymbolId| places.get(&s).copied();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group = |terms: &[TermId], and: Option<usize>| {
        let mut g: Vec<usize> =
            pool.free_symbols(terms).into_iter().filter_map(place).chain(and).collect();
        g.sort_unstable();
        g.dedup();
        if g.len() > 1 && g.len() <= LIMITS.order_group {
            groups.push(g);
        }
    };
    for t in system.transitions() {
        for g in &t.guard {
            group(&[g.term.term()], None);
        }
        for e in &t.effect {
            match e {
                gander_system::Effect::Assign { var, value, .. } => {
                    group(&[value.term()], Some(var.index()))
                }
                gander_system::Effect::Constrain { relation, .. } => {
                    group(&[relation.term()], None)
                }
                gander_system::Effect::Keep { .. } => {}
            }
        }
    }
    for s in system.starts() {
        for c in &s.constraint {
            group(&[c.term.term()], None);
        }
    }
    // Variables that a claim compares are usually related in the reachable states.
    for atom in targets.states.iter().flat_map(|t| comparisons(pool, t.formula)) {
        group(&[atom], None);
    }
    let mut bits = vec![VarBits { now: Vec::new(), next: Vec::new() }; system.vars().len()];
    for v in order(system.vars().len(), &groups) {
        for _ in 0..widths[v] {
            bits[v].now.push(manager.fresh()?);
            bits[v].next.push(manager.fresh()?);
        }
        // The highest bit is on top.
        bits[v].now.reverse();
        bits[v].next.reverse();
    }
    Ok(bits)
}

/// The atoms of a formula.
fn comparisons(pool: &Pool, formula: TermId) -> Vec<TermId> {
    let (mut found, mut seen, mut stack) = (Vec::new(), FxHashSet::default(), vec![formula]);
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match pool.op(t) {
            Op::And | Op::Or | Op::Not | Op::Implies => stack.extend(pool.args(t)),
            Op::Ite if pool.sort(t) == Sort::Bool => stack.extend(pool.args(t)),
            _ => found.push(t),
        }
    }
    found.reverse();
    found
}

/// The initial number of bits of each variable.
pub(super) fn first_widths(system: &System) -> Result<Vec<usize>, String> {
    let width = |v: &gander_system::StateVar| match v.sort {
        Sort::Bool => Ok(1),
        Sort::Enum(id) => Ok(bits_for(system.pool().enumeration(id).variants.len())),
        Sort::BitVec(w) if w.bits() <= 64 => Ok(w.bits() as usize),
        Sort::Int => Ok(v.range.as_ref().map_or(LIMITS.first_bits, |r| {
            let size = |i: &IBig| {
                i64::try_from(i).map_or(64, |n| 65 - n.unsigned_abs().leading_zeros() as usize)
            };
            size(&r.low).max(size(&r.high)).clamp(1, LIMITS.int_bits)
        })),
        sort => Err(format!(
            "`{}` is of sort {}, which has no bits here",
            v.name,
            sort.name(system.pool())
        )),
    };
    system.vars().iter().map(width).collect()
}

impl Reach {
    /// Encodes a system. Returns also the targets that cannot be encoded, with the reasons.
    pub(super) fn new(
        mut manager: BddManager,
        system: &Arc<System>,
        pool: &mut Pool,
        targets: &Targets,
        widths: &[usize],
    ) -> Work<(Reach, Vec<(usize, String)>)> {
        let bits = lay_out(&mut manager, system, pool, targets, widths)?;
        let mut builder = RelationBuilder::new(&mut manager, system, pool, &bits);
        let mut starts = Vec::new();
        for s in 0..system.starts().len() {
            starts.push(builder.start(StartId::from(s))?);
        }
        let mut relations = Vec::new();
        for t in system.transition_ids() {
            relations.push(builder.relation(t, None)?);
        }
        let (mut target_states, mut blind) = (Vec::new(), Vec::new());
        for target in &targets.states {
            let states = match builder.state_with(&target.choices, target.formula) {
                Err(Halt::Obstacle(why)) => {
                    // Try to eliminate the choices.
                    match crate::arith::eliminate::eliminate(
                        builder.pool,
                        &target.choices,
                        target.formula,
                    ) {
                        Some(without) => match builder.state(without) {
                            Err(Halt::Obstacle(_)) => Err(why),
                            other => Ok(other?),
                        },
                        None => Err(why),
                    }
                }
                other => Ok(other?),
            };
            match states {
                Ok(states) => target_states.push(TargetStates {
                    goal: target.goal,
                    node: target.node,
                    states,
                    step: None,
                }),
                Err(why) => blind.push((target.goal, why)),
            }
        }
        for (i, target) in targets.steps.iter().enumerate() {
            match builder.relation(target.transition, Some(target.formula)) {
                Err(Halt::Obstacle(why)) => blind.push((target.goal, why)),
                other => {
                    let relation = other?;
                    let tt = builder.manager.constant(true);
                    let states = relation.pre_image(builder.manager, &tt)?;
                    let (goal, node) = (target.goal, Some(relation.source));
                    target_states.push(TargetStates {
                        goal,
                        node,
                        states,
                        step: Some((i, relation)),
                    });
                }
            }
        }
        let mut first: Vec<Bdd> = vec![manager.constant(false); system.nodes().len()];
        for (start, states) in system.starts().iter().zip(&starts) {
            let at = &mut first[start.target.index()];
            *at = manager.or(at, states)?;
        }
        let reach = Reach {
            manager,
            system: Arc::clone(system),
            bits,
            starts,
            relations,
            target_states,
            stuck: targets.stuck.clone(),
            reached: first.clone(),
            rings: vec![first],
        };
        Ok((reach, blind))
    }

    /// The depth of the last ring.
    pub(super) fn depth(&self) -> usize {
        self.rings.len() - 1
    }

    /// Fails if a step from the last ring leads to a value that does not fit its variable's bits:
    /// the relation does not contain that step.
    pub(super) fn check_room(&self) -> Work<()> {
        let ring = &self.rings[self.depth()];
        for r in &self.relations {
            for (var, overflow) in &r.overflow {
                if self.manager.and(&ring[r.source.index()], overflow)?.satisfiable() {
                    return Err(Halt::Widen(*var));
                }
            }
        }
        Ok(())
    }

    /// The open goals that are met in the last ring.
    pub(super) fn met_goals(&self, open: &[bool]) -> Work<Vec<Met>> {
        let (depth, ring) = (self.depth(), &self.rings[self.depth()]);
        let mut met = Vec::new();
        let mut open = open.to_vec();
        for target in &self.target_states {
            for node in self.system.node_ids() {
                if !open[target.goal] || target.node.is_some_and(|n| n != node) {
                    continue;
                }
                if self.manager.and(&ring[node.index()], &target.states)?.satisfiable() {
                    open[target.goal] = false;
                    met.push(Met {
                        goal: target.goal,
                        depth,
                        node,
                        step: target.step.as_ref().map(|s| s.0),
                    });
                }
            }
        }
        if self.stuck.iter().any(|&g| open[g]) {
            for node in self.system.node_ids().filter(|&n| !self.system.node(n).is_final) {
                if self.stuck_at(node, &ring[node.index()])?.satisfiable() {
                    met.extend(self.stuck.iter().filter(|&&g| open[g]).map(|&goal| Met {
                        goal,
                        depth,
                        node,
                        step: None,
                    }));
                    break;
                }
            }
        }
        Ok(met)
    }

    /// The states of a set at a node without an outgoing step.
    fn stuck_at(&self, node: NodeId, states: &Bdd) -> Work<Bdd> {
        let tt = self.manager.constant(true);
        let mut stuck = states.clone();
        for r in self.relations.iter().filter(|r| r.source == node) {
            if !stuck.satisfiable() {
                break;
            }
            stuck = self.manager.minus(&stuck, &r.pre_image(&self.manager, &tt)?)?;
        }
        Ok(stuck)
    }

    /// Adds a ring; false if there are no new states.
    pub(super) fn step(&mut self) -> Work<bool> {
        let ring = &self.rings[self.rings.len() - 1];
        let mut next: Vec<Bdd> = vec![self.manager.constant(false); self.system.nodes().len()];
        for r in &self.relations {
            let from = &ring[r.source.index()];
            if !from.satisfiable() {
                continue;
            }
            let image = r.image(&self.manager, from)?;
            let at = &mut next[r.target.index()];
            *at = self.manager.or(at, &image)?;
        }
        let mut has_new_states = false;
        for (states, reached) in next.iter_mut().zip(&mut self.reached) {
            *states = self.manager.minus(states, reached)?;
            *reached = self.manager.or(reached, states)?;
            has_new_states |= states.satisfiable();
        }
        if has_new_states {
            self.rings.push(next);
        }
        Ok(has_new_states)
    }

    /// Whether every reachable state can reach a state that meets the goal.
    pub(super) fn always_possible(&self, goal: usize) -> Work<bool> {
        let mut good: Vec<Bdd> = vec![self.manager.constant(false); self.system.nodes().len()];
        for target in self.target_states.iter().filter(|a| a.goal == goal) {
            for node in self.system.node_ids().filter(|n| target.node.is_none_or(|a| a == *n)) {
                let here = self.manager.and(&target.states, &self.reached[node.index()])?;
                let at = &mut good[node.index()];
                *at = self.manager.or(at, &here)?;
            }
        }
        let mut ring = good.clone();
        loop {
            let mut next: Vec<Bdd> = vec![self.manager.constant(false); good.len()];
            for r in &self.relations {
                let to = &ring[r.target.index()];
                if to.satisfiable() {
                    let before = r.pre_image(&self.manager, to)?;
                    let before = self.manager.and(&before, &self.reached[r.source.index()])?;
                    let at = &mut next[r.source.index()];
                    *at = self.manager.or(at, &before)?;
                }
            }
            let mut has_new_states = false;
            for (states, good) in next.iter_mut().zip(&mut good) {
                *states = self.manager.minus(states, good)?;
                *good = self.manager.or(good, states)?;
                has_new_states |= states.satisfiable();
            }
            if !has_new_states {
                return Ok(good == self.reached);
            }
            ring = next;
        }
    }

    /// The number of reachable states, if it fits.
    pub(super) fn states(&self) -> Option<u64> {
        let vars: Vec<u32> = self.bits.iter().flat_map(|b| b.now.iter().copied()).collect();
        self.reached.iter().try_fold(0u64, |n, r| n.checked_add(self.manager.count(r, &vars)?))
    }

    /// The reachable states as formulas, one per node; `None` if they are too large.
    pub(super) fn formulas(&self, pool: &mut Pool) -> Option<Vec<TermId>> {
        let mut writer = Writer::new(&self.manager, &self.system, pool, &self.bits);
        self.reached.iter().map(|r| writer.formula(r)).collect()
    }

    /// The run of length 0 from a start, if there is one.
    pub(super) fn start_run(&self, s: StartId) -> Option<Run> {
        let values = self.manager.pick(&self.starts[s.index()])?;
        let first = self.read(self.system.starts()[s.index()].target, &values);
        Some(Run { start: s, first, legs: gander_system::Legs::new() })
    }

    /// Decodes a state from the values of bits.
    fn read(&self, node: NodeId, values: &[bool]) -> State {
        let sorts = self.system.vars().iter().map(|v| v.sort);
        State {
            node,
            values: sorts.zip(&self.bits).map(|(s, b)| read_value(s, &b.now, values)).collect(),
        }
    }

    /// The set that contains one state.
    fn point(&self, values: &[bool]) -> Work<Bdd> {
        let bits = self.bits.iter().flat_map(|b| &b.now);
        self.manager.point(&bits.map(|&b| (b, values[b as usize])).collect::<Vec<_>>())
    }

    /// A shortest run that meets a goal.
    pub(super) fn run(&self, met: &Met, pool: &Pool) -> Work<Option<Run>> {
        let ring = &self.rings[met.depth][met.node.index()];
        let target = self.target_states.iter().find(|a| {
            a.goal == met.goal
                && a.step.as_ref().map(|s| s.0) == met.step
                && a.node.is_none_or(|n| n == met.node)
                && self.manager.and(ring, &a.states).is_ok_and(|s| s.satisfiable())
        });
        let end = match target {
            Some(target) => self.manager.and(ring, &target.states)?,
            None => self.stuck_at(met.node, ring)?,
        };
        let Some(mut values) = self.manager.pick(&end) else { return Ok(None) };
        let mut steps: Vec<Step> = Vec::new();
        if let Some((_, relation)) = target.and_then(|a| a.step.as_ref()) {
            let from = self.point(&values)?;
            let all = relation.steps(&self.manager, &from, &self.manager.constant(true))?;
            let Some(found) = self.manager.pick(&all) else { return Ok(None) };
            let mut next = values.clone();
            for &i in &relation.changed {
                for (now, then) in self.bits[i].now.iter().zip(&self.bits[i].next) {
                    next[*now as usize] = found[*then as usize];
                }
            }
            let after = self.read(relation.target, &next);
            let before = self.read(relation.source, &values);
            let Some(step) = self.read_step(pool, relation, &found, &before, &after) else {
                return Ok(None);
            };
            steps.push(step);
        }
        let mut node = met.node;
        for depth in (0..met.depth).rev() {
            let to = self.point(&values)?;
            let mut before = None;
            for r in self.relations.iter().filter(|r| r.target == node) {
                let from = &self.rings[depth][r.source.index()];
                if !from.satisfiable() {
                    continue;
                }
                let all = r.steps(&self.manager, from, &to)?;
                if let Some(found) = self.manager.pick(&all) {
                    before = Some((r, found));
                    break;
                }
            }
            let Some((r, found)) = before else { return Ok(None) };
            let (from, after) = (self.read(r.source, &found), self.read(node, &values));
            let Some(step) = self.read_step(pool, r, &found, &from, &after) else {
                return Ok(None);
            };
            steps.push(step);
            (node, values) = (r.source, found);
        }
        steps.reverse();
        let at = self.point(&values)?;
        for (s, states) in self.starts.iter().enumerate() {
            if self.system.starts()[s].target == node
                && self.manager.and(states, &at)?.satisfiable()
            {
                let legs = steps.into_iter().map(Leg::Step).collect();
                return Ok(Some(Run {
                    start: StartId::from(s),
                    first: self.read(node, &values),
                    legs,
                }));
            }
        }
        Ok(None)
    }

    fn read_step(
        &self,
        pool: &Pool,
        r: &Relation,
        values: &[bool],
        before: &State,
        after: &State,
    ) -> Option<Step> {
        let transition: TransitionId = r.transition;
        let declared = &self.system.transition(transition).params;
        let mut params: Vec<Option<Value>> = Vec::new();
        for (p, how) in declared.iter().zip(&r.params) {
            params.push(match how {
                ParamValue::Bits(bits) => Some(read_value(p.sort, bits, values)),
                ParamValue::Term(_) => None,
            });
        }
        // A term may mention other parameters, so repeat.
        for _ in 0..declared.len() {
            for i in 0..declared.len() {
                let ParamValue::Term(t) = r.params[i] else { continue };
                if params[i].is_some() {
                    continue;
                }
                let look = |s: SymbolId| {
                    let var = |of: fn(&gander_system::StateVar) -> SymbolId| {
                        self.system.vars().iter().position(|v| of(v) == s)
                    };
                    var(|v| v.current)
                        .map(|v| before.values[v].clone())
                        .or_else(|| var(|v| v.next).map(|v| after.values[v].clone()))
                        .or_else(|| {
                            declared
                                .iter()
                                .position(|p| p.symbol == s)
                                .and_then(|p| params[p].clone())
                        })
                };
                let value = evaluate(pool, t, &look).ok();
                params[i] = value;
            }
        }
        let params = params.into_iter().collect::<Option<Vec<Value>>>()?;
        Some(Step { transition, params, next: Some(after.values.clone()) })
    }
}

fn read_value(sort: Sort, bits: &[u32], values: &[bool]) -> Value {
    let mut n: i64 = 0;
    for (i, &b) in bits.iter().enumerate() {
        if values[b as usize] && i < 64 {
            n |= 1i64 << i;
        }
    }
    if sort == Sort::Int && bits.len() < 64 && bits.last().is_some_and(|&b| values[b as usize]) {
        n -= 1i64 << bits.len();
    }
    match sort {
        Sort::Bool => Value::Bool(n != 0),
        Sort::Enum(id) => Value::Enum(id, n as u32),
        Sort::BitVec(width) => Value::bits(width, n as u64),
        _ => Value::int(n),
    }
}
