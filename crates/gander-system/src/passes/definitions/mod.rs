//! Definitions: variables that are functions of others in every state.
//!
//! A variable x is *defined* by the term t over the variables of one state if every start has the
//! conjunct `x == t` and every transition the conjunct `x' == t'`, where t' is t over the next
//! state. In a Lustre program these are the equations without memory: usually most of them. The new
//! system has t instead of x, so its states consist of memory and choices. Cyclic definitions are
//! broken: some of their variables remain.
//!
//! States of the new system, with the defined values added, are the states of the old one in which
//! the definitions hold, and all reachable states are among these, so the pass is exact. An
//! invariant is mapped back by adding the definitions, which starts and transitions establish.

use gander_term::{Pool, Substitution, SymbolId, TermId, Value, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::builder::BuildError;
use crate::claim::FairnessId;
use crate::evidence::{Evidence, Leg, NodeFormulas, Run, State, Step};
use crate::origin::ElementId;
use crate::passes::Restore;
use crate::passes::copying::{ClaimCopy, Copying, ParamSymbols, Placement};
use crate::system::{Effect, Role, StartId, System, VarId};

/// A system without its defined variables; made by [`definitions`].
#[derive(Clone, Debug)]
pub struct Definitions {
    /// The new system: same nodes, starts, transitions and claims.
    pub system: System,
    old: System,
    /// The defined variables with their terms in the old system's pool (or a fork of it), each
    /// after those that its term mentions.
    defined: Vec<(VarId, TermId)>,
    /// The fork that the terms are in.
    pool: std::sync::Arc<Pool>,
    origins: Vec<Option<ElementId>>,
}

/// The system without its defined variables; `None` if it has none.
pub fn definitions(system: &System) -> Result<Option<Definitions>, BuildError> {
    let demands: usize = system.transitions.iter().map(|t| t.effect.len()).sum();
    if demands == 0
        || !system
            .transitions
            .iter()
            .flat_map(|t| &t.effect)
            .any(|e| matches!(e, Effect::Constrain { .. }))
    {
        return Ok(None);
    }
    let mut pool = Pool::fork(&system.pool);
    let found = Found::in_system(&mut pool, system);
    if found.defined.is_empty() {
        return Ok(None);
    }
    rebuild(system, pool, found).map(Some)
}

/// Definitions, and the terms that state them.
struct Found {
    defined: Vec<(VarId, TermId)>,
    /// The conjuncts of starts and effects that state a definition.
    stated: FxHashSet<TermId>,
}

impl Found {
    fn in_system(pool: &mut Pool, system: &System) -> Found {
        let none = Found { defined: Vec::new(), stated: FxHashSet::default() };
        let (Some(first), false) = (system.transitions.first(), system.starts.is_empty()) else {
            return none;
        };
        let state = |v: &VarId| system.var(*v).role == Role::State;
        let next: FxHashMap<SymbolId, VarId> =
            system.var_ids().filter(state).map(|v| (system.var(v).next, v)).collect();
        let current: FxHashMap<SymbolId, VarId> =
            system.var_ids().filter(state).map(|v| (system.var(v).current, v)).collect();
        let nexts: FxHashSet<SymbolId> = system.vars.iter().map(|v| v.next).collect();
        // Candidates come from the first transition; other transitions and starts must have them
        // too.
        let mut back = {
            let map = system.vars.iter().map(|v| (v.next, pool.var(v.current))).collect();
            Substitution::new(pool, &map)
        };
        let mut terms: Vec<Option<TermId>> = vec![None; system.vars.len()];
        let mut stated = FxHashSet::default();
        for e in &first.effect {
            let Effect::Constrain { relation, .. } = *e else { continue };
            let Some((v, value)) = pool.equation_for(relation.term(), &next, None) else {
                continue;
            };
            let symbols = pool.free_symbols(&[value]);
            let own = system.var(v).next;
            if terms[v.index()].is_none() && symbols.iter().all(|s| nexts.contains(s) && *s != own)
            {
                terms[v.index()] = Some(back.apply(pool, value));
                stated.insert(relation.term());
            }
        }
        for t in &system.transitions[1..] {
            let mut present = vec![false; system.vars.len()];
            for e in &t.effect {
                let Effect::Constrain { relation, .. } = *e else { continue };
                let Some((v, value)) = pool.equation_for(relation.term(), &next, None) else {
                    continue;
                };
                if terms[v.index()].is_some() && Some(back.apply(pool, value)) == terms[v.index()] {
                    present[v.index()] = true;
                    stated.insert(relation.term());
                }
            }
            keep_only(&mut terms, &present);
        }
        for s in &system.starts {
            let mut present = vec![false; system.vars.len()];
            for e in &s.constraint {
                let Some((v, value)) = pool.equation_for(e.term.term(), &current, None) else {
                    continue;
                };
                if terms[v.index()] == Some(value) {
                    present[v.index()] = true;
                    stated.insert(e.term.term());
                }
            }
            keep_only(&mut terms, &present);
        }
        let defined = in_order(pool, &current, &terms);
        // Conjuncts of definitions that are not used remain.
        let used: FxHashSet<VarId> = defined.iter().map(|d| d.0).collect();
        stated.retain(|&t| {
            let v = pool
                .equation_for(t, &next, None)
                .or_else(|| pool.equation_for(t, &current, None))
                .map(|d| d.0);
            v.is_some_and(|v| used.contains(&v))
        });
        Found { defined, stated }
    }
}

fn keep_only(terms: &mut [Option<TermId>], present: &[bool]) {
    for (term, present) in terms.iter_mut().zip(present) {
        if !present {
            *term = None;
        }
    }
}

/// The definitions, each after those that it uses; some of the cyclic ones are left out.
fn in_order(
    pool: &Pool,
    current: &FxHashMap<SymbolId, VarId>,
    terms: &[Option<TermId>],
) -> Vec<(VarId, TermId)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
        Dropped,
    }
    let mut marks = vec![Mark::New; terms.len()];
    let mut order = Vec::new();
    for root in 0..terms.len() {
        let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(v) = next.take()
                && marks[v] == Mark::New
                && let Some(t) = terms[v]
            {
                let uses = pool.free_symbols(&[t]);
                let uses = uses.iter().filter_map(|s| current.get(s)).map(|v| v.index()).collect();
                marks[v] = Mark::Open;
                stack.push((v, uses));
            }
            let Some((v, uses)) = stack.last_mut() else { break };
            match uses.pop() {
                // The cycle is broken here: v remains a variable.
                Some(u) if marks[u] == Mark::Open => {
                    marks[*v] = Mark::Dropped;
                    stack.pop();
                }
                Some(u) => next = Some(u),
                None => {
                    let v = *v;
                    if let Some(t) = terms[v] {
                        marks[v] = Mark::Done;
                        order.push((VarId::from(v), t));
                    }
                    stack.pop();
                }
            }
        }
    }
    order
}

fn rebuild(system: &System, mut pool: Pool, found: Found) -> Result<Definitions, BuildError> {
    let Found { defined, stated } = found;
    let is_defined: FxHashSet<VarId> = defined.iter().map(|d| d.0).collect();
    let nodes: Vec<(&str, _)> = system.nodes.iter().map(|n| (n.name.as_str(), n.span)).collect();
    let mut copy = Copying::new(system, &nodes)?;
    // Terms of `pool` are imported into the new pool, which is a fork of the same base.
    let mut forward = {
        let map = system.vars.iter().map(|v| (v.current, pool.var(v.next))).collect();
        Substitution::new(&mut pool, &map)
    };
    let primed: Vec<TermId> = defined.iter().map(|&(_, t)| forward.apply(&mut pool, t)).collect();
    let mut importer = gander_term::Importer::new();
    let mut unfold = Substitution::new(&mut copy.to.pool, &FxHashMap::default());
    for (&(v, t), later) in defined.iter().zip(primed) {
        for (symbol, term) in [(system.var(v).current, t), (system.var(v).next, later)] {
            let term = importer
                .import(&mut copy.to.pool, &pool, term)
                .map_err(|e| BuildError::Duplicate(e.to_string()))?;
            let term = unfold.apply(&mut copy.to.pool, term);
            unfold.also(&mut copy.to.pool, symbol, term);
        }
    }
    let mut rewrite = |pool: &mut Pool, t: TermId| {
        if stated.contains(&t) { pool.tt() } else { unfold.apply(pool, t) }
    };
    copy.copy_vars(|v| !is_defined.contains(&v))?;
    copy.copy_assumptions(&mut rewrite)?;
    for n in system.node_ids() {
        if system.node(n).is_final {
            copy.to.set_final(n);
        }
        copy.copy_hints(n, n, &mut rewrite)?;
    }
    for (i, s) in system.starts.iter().enumerate() {
        copy.copy_start(StartId::from(i), s.target, &mut rewrite)?;
    }
    for t in system.transition_ids() {
        let old = system.transition(t);
        let at = Placement {
            name: &old.name,
            source: old.source,
            target: old.target,
            symbols: ParamSymbols::Same,
        };
        let (mut draft, mut renaming) = copy.begin(t, &at, &mut rewrite)?;
        copy.copy_effect(t, &mut draft, &mut renaming, &mut rewrite)?;
        copy.end(draft)?;
    }
    // In claims and fairness, a formula that states a definition is not replaced by true.
    let rewrite = std::cell::RefCell::new(|pool: &mut Pool, t: TermId| unfold.apply(pool, t));
    let transitions: Vec<_> = system.transition_ids().map(Some).collect();
    let mut fairness = Vec::new();
    for f in 0..system.fairness.len() {
        let mut state = |pool: &mut Pool, t: TermId| (rewrite.borrow_mut())(pool, t);
        fairness.push(Some(copy.copy_fairness(FairnessId::from(f), &mut state, &transitions)?));
    }
    for c in &system.claims {
        let mut with = ClaimCopy {
            state: &mut |pool, t| (rewrite.borrow_mut())(pool, t),
            step: &mut |pool, t| (rewrite.borrow_mut())(pool, t),
            transitions: &transitions,
            fairness: &fairness,
        };
        let kind = copy.copy_kind(&c.kind, &mut with)?;
        copy.add_claim(c, kind)?;
    }
    Ok(Definitions {
        old: system.clone(),
        defined,
        pool: pool.freeze(),
        origins: copy.origins,
        system: copy.to.finish(),
    })
}

impl Definitions {
    /// The variables that the new system does not have.
    pub fn defined(&self) -> impl Iterator<Item = VarId> + '_ {
        self.defined.iter().map(|d| d.0)
    }

    fn old_values(&self, new: &[Value]) -> Option<Vec<Value>> {
        let mut values: Vec<Option<Value>> = vec![None; self.old.vars.len()];
        let mut new = new.iter();
        let is_defined: FxHashSet<VarId> = self.defined().collect();
        for v in self.old.var_ids().filter(|v| !is_defined.contains(v)) {
            values[v.index()] = Some(new.next()?.clone());
        }
        if new.next().is_some() {
            return None;
        }
        let of: FxHashMap<SymbolId, VarId> =
            self.old.var_ids().map(|v| (self.old.var(v).current, v)).collect();
        for &(v, t) in &self.defined {
            let look = |s: SymbolId| of.get(&s).and_then(|v| values[v.index()].clone());
            let value = evaluate(&self.pool, t, &look).ok()?;
            values[v.index()] = Some(value);
        }
        values.into_iter().collect()
    }

    /// Recurses into repetitions, which engines nest a few levels deep.
    fn old_legs(&self, legs: &[Leg]) -> Option<Vec<Leg>> {
        legs.iter()
            .map(|leg| match leg {
                Leg::Repeat { times, body } => {
                    Some(Leg::Repeat { times: *times, body: self.old_legs(body)? })
                }
                Leg::Step(s) => {
                    let next = Some(self.old_values(s.next.as_ref()?)?);
                    Some(Leg::Step(Step {
                        transition: s.transition,
                        params: s.params.clone(),
                        next,
                    }))
                }
            })
            .collect()
    }
}

impl Restore for Definitions {
    fn run(&self, run: &Run) -> Option<Run> {
        let first = State { node: run.first.node, values: self.old_values(&run.first.values)? };
        Some(Run { start: run.start, first, legs: self.old_legs(&run.legs)?.into() })
    }

    fn invariant(&self, invariant: &NodeFormulas) -> Option<NodeFormulas> {
        let mut pool = Pool::fork(&invariant.pool);
        let mut importer = gander_term::Importer::new();
        let mut equations = Vec::with_capacity(self.defined.len());
        for &(v, t) in &self.defined {
            let x = pool.var(self.old.var(v).current);
            let t = importer.import(&mut pool, &self.pool, t).ok()?;
            equations.push(pool.eq(x, t));
        }
        let by_node = invariant
            .by_node
            .iter()
            .map(|&i| pool.and(equations.iter().copied().chain([i])))
            .collect();
        Some(NodeFormulas { pool: pool.freeze(), by_node })
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn element(&self, element: ElementId) -> Option<ElementId> {
        self.origins.get(element.index()).copied().flatten()
    }

    fn evidence(&self, evidence: &Evidence) -> Option<Evidence> {
        match evidence {
            // The chain system of the old system has the same definitions in every stage.
            Evidence::OfChain(inner) => Some(Evidence::OfChain(Box::new(self.evidence(inner)?))),
            Evidence::Run(run) => self.run(run).map(Evidence::Run),
            Evidence::Invariant(i) => self.invariant(i).map(Evidence::Invariant),
            Evidence::KInductive { k, invariant, loop_free, no_restart } => {
                let invariant = self.invariant(invariant)?;
                Some(Evidence::KInductive {
                    k: *k,
                    invariant,
                    loop_free: *loop_free,
                    no_restart: *no_restart,
                })
            }
            Evidence::Diameter { k } => Some(Evidence::Diameter { k: *k }),
            Evidence::ClosedSet { states } => Some(Evidence::ClosedSet { states: *states }),
            Evidence::Outside { trap, proof } => Some(Evidence::Outside {
                trap: self.invariant(trap)?,
                proof: Box::new(self.evidence(proof)?),
            }),
            Evidence::Refutation => Some(Evidence::Refutation),
            Evidence::Lasso { run, back_to } => {
                Some(Evidence::Lasso { run: self.run(run)?, back_to: *back_to })
            }
            // From corresponding states, equally many states are reachable.
            Evidence::Impossible { run, proof } => match **proof {
                Evidence::ClosedSet { .. } => {
                    Some(Evidence::Impossible { run: self.run(run)?, proof: proof.clone() })
                }
                _ => None,
            },
            // Engines find these on the system of the front-end.
            Evidence::Recurrent { .. } | Evidence::NoSuchRun { .. } | Evidence::Possible { .. } => {
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
