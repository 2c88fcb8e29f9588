//! Recovery of control: variables that hold a program counter become nodes.
//!
//! Files of other tools often have programs with one node, whose program counter is a number or
//! some bits. A *control variable* is one whose next value is determined by the current values of
//! the control variables. A *place* is a node with values of the control variables. The new system
//! has a node for each place that is reachable in the control graph, and transitions between places
//! with what remains of a step for these values: usually a guard and assignments. It is built only
//! if the transitions together do not become much larger; this separates control from data.
//!
//! States of the new system, with the values of control variables added, are states of the old one,
//! and all reachable states are among these, so the pass is exact. An invariant is mapped back to
//! the disjunction over places; that there is no other place is inductive.

mod explore;
mod residue;

use gander_runtime::Cancellation;
use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::builder::BuildError;
use crate::claim::{ClaimKind, Goal};
use crate::evidence::{Leg, NodeFormulas, Run, State, Step};
use crate::location::fold_symbol;
use crate::origin::ElementId;
use crate::passes::Restore;
use crate::passes::copying::{Copying, ParamSymbols, Placement, rename};
use crate::system::{Effect, NodeId, Role, StartId, Structure, System, TransitionId, VarId};

use explore::{Edge, Explored, explore};
use residue::Reducer;

/// Runs with more steps are not mapped back, as repetitions are unfolded.
const LONGEST_RUN: u64 = 200_000;

/// A system with a node for each place of a program; made by [`recover_control`].
#[derive(Clone, Debug)]
pub struct Recovered {
    /// The new system: same claims; fewer variables, more nodes.
    pub system: System,
    old: System,
    /// By new node.
    places: Vec<Place>,
    /// By new start.
    starts: Vec<StartId>,
    /// By new transition.
    transitions: Vec<TransitionId>,
    origins: Vec<Option<ElementId>>,
}

/// The place of a new node.
#[derive(Clone, Debug)]
struct Place {
    node: NodeId,
    /// The values of the control variables.
    values: FxHashMap<VarId, Value>,
}

/// The system with nodes for its places. `None` if there are no useful control variables, if the
/// search is cancelled, or if the pass does not apply: it handles files of other tools with claims
/// about states only.
pub fn recover_control(
    system: &System,
    cancellation: &Cancellation,
) -> Result<Option<Recovered>, BuildError> {
    let about_states = |kind: &ClaimKind| match kind {
        ClaimKind::Always(_) => true,
        ClaimKind::Reachable(goals) => matches!(goals[..], [Goal::State(_)]),
        _ => false,
    };
    let plain = system.structure == Structure::Foreign
        && system.fairness.is_empty()
        && system.conditions.is_empty()
        && system.ambiguity.is_none()
        && system.step_limit.is_none()
        && system.claims.iter().all(|c| about_states(&c.kind));
    if !plain {
        return Ok(None);
    }
    let mut pool = Pool::fork(&system.pool);
    match explore(system, &mut pool, cancellation) {
        Some(explored) => Build::new(system, pool, explored)?.finish().map(Some),
        None => Ok(None),
    }
}

struct Build<'a> {
    copy: Copying<'a>,
    explored: Explored,
    reducer: Reducer,
    places: Vec<Place>,
    starts: Vec<StartId>,
    transitions: Vec<TransitionId>,
}

impl<'a> Build<'a> {
    fn new(system: &'a System, pool: Pool, explored: Explored) -> Result<Build<'a>, BuildError> {
        let place = |(node, values): &(NodeId, Vec<TermId>)| {
            let value = |t: &TermId| pool.as_constant(*t).expect("places have constants");
            Place {
                node: *node,
                values: explored.control.iter().copied().zip(values.iter().map(value)).collect(),
            }
        };
        let places = explored.places.iter().map(place).collect();
        let name = |(i, (node, _)): (usize, &(NodeId, Vec<TermId>))| {
            format!("{}@{i}", system.node(*node).name)
        };
        let names: Vec<String> = explored.places.iter().enumerate().map(name).collect();
        let nodes: Vec<(&str, _)> = names.iter().map(|n| (n.as_str(), None)).collect();
        let copy = Copying::in_pool(system, pool, &nodes)?;
        Ok(Build {
            copy,
            explored,
            reducer: Reducer::default(),
            places,
            starts: Vec::new(),
            transitions: Vec::new(),
        })
    }

    fn finish(mut self) -> Result<Recovered, BuildError> {
        let system = self.copy.from;
        let control: FxHashSet<VarId> = self.explored.control.iter().copied().collect();
        self.copy.copy_vars(|v| !control.contains(&v))?;
        self.copy.to.set_structure(system.structure);
        for a in &system.assumptions {
            let term = self.by_place(a.term.term());
            let formula = self.copy.to.state_formula(term, "assumption")?;
            self.copy.to.assumption(&system.element_name(a.id), formula, None);
            self.copy.came_from(Some(a.id));
        }
        for i in 0..self.places.len() {
            let (node, values) = (self.places[i].node, self.values(i));
            if system.node(node).is_final {
                self.copy.to.set_final(NodeId::from(i));
            }
            self.copy.copy_hints(node, NodeId::from(i), |pool, t| fold(pool, t, &values))?;
        }
        for begin in std::mem::take(&mut self.explored.starts) {
            let name = format!("{}@{}", system.starts[begin.of.index()].name, self.starts.len());
            let conjuncts: Vec<_> = begin.conjuncts.into_iter().map(|t| (t, None)).collect();
            self.copy.to.start(&name, NodeId::from(begin.place), &conjuncts, None)?;
            self.copy.came_from(None);
            self.starts.push(begin.of);
        }
        for edge in std::mem::take(&mut self.explored.edges) {
            self.edge(edge)?;
        }
        for c in &system.claims {
            let mut rewritten = |p: crate::formula::StateTerm| {
                let term = self.by_place(p.term());
                self.copy.to.state_formula(term, &c.name)
            };
            let kind = match &c.kind {
                ClaimKind::Always(p) => ClaimKind::Always(rewritten(*p)?),
                ClaimKind::Reachable(goals) => match goals[..] {
                    [Goal::State(p)] => ClaimKind::Reachable(vec![Goal::State(rewritten(p)?)]),
                    _ => unreachable!("only claims about states are taken"),
                },
                _ => unreachable!("only claims about states are taken"),
            };
            self.copy.add_claim(c, kind)?;
        }
        Ok(Recovered {
            old: system.clone(),
            places: self.places,
            starts: self.starts,
            transitions: self.transitions,
            origins: self.copy.origins,
            system: self.copy.to.finish(),
        })
    }

    /// The values of old symbols at a place: the location and the control variables.
    fn values(&mut self, place: usize) -> Vec<(SymbolId, TermId)> {
        let system = self.copy.from;
        let at = system.node_constant(&mut self.copy.to.pool, self.places[place].node);
        let mut values = vec![(system.location, at)];
        for (&v, value) in &self.places[place].values {
            values.push((system.var(v).current, self.copy.to.pool.constant(value.clone())));
        }
        values
    }

    /// A formula about states of the old system as one about states of the new one.
    fn by_place(&mut self, t: TermId) -> TermId {
        let location = self.copy.to.so_far().location;
        let mut all = Vec::new();
        for i in 0..self.places.len() {
            let values = self.values(i);
            let pool = &mut self.copy.to.pool;
            let here = fold(pool, t, &values);
            if pool.as_bool(here) != Some(true) {
                let gander_term::Sort::Enum(nodes) = pool.symbol(location).sort else { continue };
                let (place, at) = (pool.constant(Value::Enum(nodes, i as u32)), pool.var(location));
                let at = pool.eq(at, place);
                all.push(pool.implies(at, here));
            }
        }
        self.copy.to.pool.and(all)
    }

    fn edge(&mut self, edge: Edge) -> Result<(), BuildError> {
        let system = self.copy.from;
        let next: FxHashSet<SymbolId> = system.vars.iter().map(|v| v.next).collect();
        let assignable: FxHashSet<SymbolId> = system
            .var_ids()
            .filter(|&v| system.var(v).role == Role::State && self.copy.vars[v.index()].is_some())
            .map(|v| system.var(v).next)
            .collect();
        let solved =
            self.reducer.solved(&mut self.copy.to.pool, edge.conjuncts, &assignable, &next);
        let Some((values, rest)) = solved else { return Ok(()) };
        let name = format!("{}@{}", system.transition(edge.of).name, self.transitions.len());
        let (source, target) = (NodeId::from(edge.from), NodeId::from(edge.to));
        let placement = Placement { name: &name, source, target, symbols: ParamSymbols::Fresh };
        let (mut draft, mut renaming) =
            self.copy.begin(edge.of, &placement, |pool, _| pool.tt())?;
        for t in rest {
            let t = rename(&mut renaming, &mut self.copy.to.pool, t);
            if self.copy.to.pool.free_symbols(&[t]).iter().any(|s| next.contains(s)) {
                self.copy.to.constrain(&mut draft, t, None)?;
            } else {
                self.copy.to.guard(&mut draft, t, None)?;
            }
        }
        for v in system.var_ids() {
            let (var, Some(new)) = (system.var(v), self.copy.vars[v.index()]) else { continue };
            match values.get(&var.next) {
                Some(&value) if self.copy.to.pool.as_symbol(value) == Some(var.current) => {
                    self.copy.to.keep(&mut draft, new);
                }
                Some(&value) => {
                    let value = rename(&mut renaming, &mut self.copy.to.pool, value);
                    self.copy.to.assign(&mut draft, new, value, None)?;
                }
                None if var.role == Role::State => self.copy.to.free(&mut draft, new),
                None => {}
            }
        }
        self.copy.end(draft)?;
        self.transitions.push(edge.of);
        Ok(())
    }
}

/// A formula with constants for symbols, folded.
fn fold(pool: &mut Pool, t: TermId, values: &[(SymbolId, TermId)]) -> TermId {
    values.iter().fold(t, |t, &(symbol, value)| fold_symbol(pool, t, symbol, value))
}

impl Recovered {
    /// The old state of a new one.
    fn old_values(&self, node: NodeId, new: &[Value]) -> Option<Vec<Value>> {
        let place = self.places.get(node.index())?;
        let mut new = new.iter().cloned();
        let values: Option<Vec<Value>> = self
            .old
            .var_ids()
            .map(|v| place.values.get(&v).cloned().or_else(|| new.next()))
            .collect();
        if new.next().is_some() { None } else { values }
    }

    /// Adds the steps of the old run, with their values; repetitions are unfolded.
    fn old_legs(&self, legs: &[Leg], now: &mut Vec<Value>, steps: &mut Vec<Leg>) -> Option<()> {
        for leg in legs {
            match leg {
                Leg::Repeat { times, body } => {
                    for _ in 0..*times {
                        self.old_legs(body, now, steps)?;
                    }
                }
                Leg::Step(s) => {
                    let t = self.system.transitions.get(s.transition.index())?;
                    *now = match &s.next {
                        Some(next) => next.clone(),
                        None => self.computed(s, now)?,
                    };
                    let next = Some(self.old_values(t.target, now)?);
                    let transition = *self.transitions.get(s.transition.index())?;
                    steps.push(Leg::Step(Step { transition, params: s.params.clone(), next }));
                }
            }
        }
        Some(())
    }

    /// The next values of a step that is a function of state and parameters.
    fn computed(&self, step: &Step, now: &[Value]) -> Option<Vec<Value>> {
        let system = &self.system;
        let t = system.transition(step.transition);
        let mut known: FxHashMap<SymbolId, &Value> =
            t.params.iter().map(|p| p.symbol).zip(&step.params).collect();
        known.extend(system.vars.iter().map(|v| v.current).zip(now));
        let look = |s: SymbolId| known.get(&s).map(|&v| v.clone());
        let mut next = now.to_vec();
        for e in &t.effect {
            match *e {
                Effect::Assign { var, value, .. } => {
                    next[var.index()] = evaluate(&system.pool, value.term(), &look).ok()?;
                }
                Effect::Keep { .. } => {}
                Effect::Constrain { .. } => return None,
            }
        }
        Some(next)
    }
}

impl Restore for Recovered {
    fn run(&self, run: &Run) -> Option<Run> {
        if run.length() > LONGEST_RUN {
            return None;
        }
        let place = self.places.get(run.first.node.index())?;
        let first =
            State { node: place.node, values: self.old_values(run.first.node, &run.first.values)? };
        let (mut now, mut steps) = (run.first.values.clone(), Vec::new());
        self.old_legs(&run.legs, &mut now, &mut steps)?;
        Some(Run { start: *self.starts.get(run.start.index())?, first, legs: steps.into() })
    }

    fn invariant(&self, invariant: &NodeFormulas) -> Option<NodeFormulas> {
        let mut pool = Pool::fork(&invariant.pool);
        let mut cases: Vec<Vec<TermId>> = vec![Vec::new(); self.old.nodes.len()];
        for (place, &formula) in self.places.iter().zip(invariant.by_node.iter()) {
            let mut case = Vec::new();
            for v in self.old.var_ids() {
                if let Some(value) = place.values.get(&v) {
                    let (x, value) =
                        (pool.var(self.old.var(v).current), pool.constant(value.clone()));
                    case.push(pool.eq(x, value));
                }
            }
            case.push(formula);
            cases[place.node.index()].push(pool.and(case));
        }
        let by_node = cases.into_iter().map(|cases| pool.or(cases)).collect();
        Some(NodeFormulas { pool: pool.freeze(), by_node })
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn element(&self, element: ElementId) -> Option<ElementId> {
        self.origins.get(element.index()).copied().flatten()
    }
}

#[cfg(test)]
mod tests;
