//! Evidence from PDR: runs from chains of obligations, invariants from lemmas of level [`FOREVER`].

use gander_smt::Reason;
use gander_system::{NodeFormulas, NodeId, StartId, State};
use gander_term::{SymbolId, TermId};

use crate::core::{EngineContext, Fact, ProvedInvariant, portable};
use crate::encode::question::Place;
use crate::encode::unrolling::Path;

use super::implicant::Model;
use super::prover::{Outcome, Prover, QueryFailure};
use super::queries::FOREVER;

impl Prover {
    fn state(&self, node: NodeId, model: &Model, next: bool) -> Result<State, QueryFailure> {
        let symbol = |v: &gander_system::StateVar| if next { v.next } else { v.current };
        let values =
            self.view.encoding.system.vars().iter().map(|v| model.get(&symbol(v)).cloned());
        let values = values.collect::<Option<Vec<_>>>();
        values
            .map(|values| State { node, values })
            .ok_or_else(|| Reason::Garbage("a value is missing".into()).into())
    }

    /// A path of one state: the start state of the last model, at a node.
    fn begin_path(&mut self, node: NodeId) -> Result<Path, QueryFailure> {
        let Some(queries) = &mut self.queries else {
            return Err(Reason::NotAvailable("model").into());
        };
        let e = &mut self.view.encoding;
        let starts: Vec<StartId> = (0..e.system.starts().len())
            .map(StartId::from)
            .filter(|s| e.system.starts()[s.index()].target == node)
            .collect();
        let start = queries.taken_start(e, &starts)?;
        let model = queries.model(e, &[], std::iter::empty())?;
        let first = self.state(node, &model, false)?;
        Ok(Path { start: Some(start), states: vec![first], steps: Vec::new() })
    }

    /// Appends the step of the last model.
    fn continue_path(
        &mut self,
        path: &mut Path,
        t: gander_system::TransitionId,
    ) -> Result<(), QueryFailure> {
        let Some(queries) = &mut self.queries else {
            return Err(Reason::NotAvailable("model").into());
        };
        let e = &mut self.view.encoding;
        let params: Vec<SymbolId> = e.params(t);
        let target = e.system.transition(t).target;
        let model = queries.model(e, &params, std::iter::empty())?;
        let values = params.iter().map(|p| model[p].clone()).collect();
        let state = self.state(target, &model, true)?;
        path.steps.push((t, values));
        path.states.push(state);
        Ok(())
    }

    /// The run of the last model; its first state, or the step from it, meets target `i`.
    pub(super) fn run_of_start(&mut self, i: usize) -> Result<Path, QueryFailure> {
        let place = self.targets[i].place;
        let Some(queries) = &mut self.queries else {
            return Err(Reason::NotAvailable("model").into());
        };
        let e = &mut self.view.encoding;
        let node = match place {
            Place::At(n) => n,
            Place::Taking(t) => e.system.transition(t).source,
            Place::Beginning(s) => e.system.starts()[s.index()].target,
            Place::Anywhere => queries.node(e, &self.nodes, 0)?,
        };
        let mut path = self.begin_path(node)?;
        match place {
            Place::Taking(t) => self.continue_path(&mut path, t)?,
            // The model may satisfy several starts; the target determines which one.
            Place::Beginning(s) => path.start = Some(s),
            Place::At(_) | Place::Anywhere => {}
        }
        Ok(path)
    }

    /// The run to the target from the start state in the last model, which is in an obligation's
    /// cube. The solver finds one step per obligation; it exists because every state of a cube has
    /// a step into the parent's cube.
    pub(super) fn run_from(&mut self, at: usize) -> Result<Path, QueryFailure> {
        let mut path = self.begin_path(self.obligations[at].node)?;
        let mut at = at;
        let broken =
            || QueryFailure::Solver(Reason::Garbage("a step that was there is gone".into()));
        loop {
            let ob = self.obligations[at].clone();
            let Some(values) = path.states.last().map(|s| s.values.clone()) else {
                return Err(broken());
            };
            let Some(queries) = &mut self.queries else {
                return Err(Reason::NotAvailable("model").into());
            };
            let e = &mut self.view.encoding;
            let there = match ob.parent {
                Some(parent) => {
                    let cube = self.obligations[parent].cube.clone();
                    queries.step_from(e, &values, ob.transition, &cube)?
                }
                None => {
                    let target = self.targets[ob.target];
                    queries.meets_from(e, &values, Some(ob.transition), &target, &self.nodes)?
                }
            };
            if !there {
                return Err(broken());
            }
            self.continue_path(&mut path, ob.transition)?;
            match ob.parent {
                Some(parent) => at = parent,
                None => return Ok(path),
            }
        }
    }

    pub(super) fn propose_run(&mut self, context: &EngineContext, path: Path) -> Outcome {
        if let Some(verdict) = path.into_run().and_then(|run| self.view.met(&self.question, run)) {
            context.propose(self.question.claim, verdict);
        }
        Outcome::Over
    }

    /// The conjunction of the inductive lemmas, by node. Publishes it on the blackboard.
    pub(super) fn invariant(
        &mut self,
        context: &EngineContext,
    ) -> Result<Option<NodeFormulas>, QueryFailure> {
        let e = &mut self.view.encoding;
        let mut parts: Vec<Vec<TermId>> = vec![Vec::new(); e.system.nodes().len()];
        for l in self.frames.lemmas.iter().filter(|l| l.level == FOREVER) {
            let all = e.pool.and(l.cube.iter().copied());
            parts[l.node.index()].push(e.pool.not(all));
        }
        let mut by_node = Vec::new();
        for (n, parts) in parts.into_iter().enumerate() {
            let reachable = self.nodes.binary_search(&NodeId::from(n)).is_ok();
            by_node.push(if reachable { e.pool.and(parts) } else { e.pool.ff() });
        }
        let Ok(formulas) = portable(&e.system, &e.pool, &by_node) else { return Ok(None) };
        if self.view.is_plain() {
            let engine = context.engine.to_string();
            let fact = ProvedInvariant {
                formulas: formulas.clone(),
                k: 1,
                loop_free: false,
                no_restart: false,
                engine,
            };
            context.publish(
                Fact::Invariant(fact),
                format!("{} lemmas of a proof", self.frames.lemmas.len()),
            );
        }
        Ok(Some(formulas))
    }
}
