//! The runs along a fixed sequence of transitions, as a formula over their choices.
//!
//! Definitions are asserted. Everything else (guards, assumptions, other constraints, and the end
//! of the run) is a *condition*. A query assumes that some condition is violated. So a query that
//! fixes choices, or bounds them, is unsatisfiable iff all such choices give runs with the same
//! end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_smt::{
    Answer, CoreSession, Limits, Literal, Placement, SessionConfig, Solvers, StepSymbol,
};
use gander_system::System;
use gander_term::{Pool, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::choices::{Choice, DefinitionTable};
use super::ending::{Ending, Extent, Place, is_true, step_formula};
use super::flat::FlatRun;
use super::search::local;

/// A condition on a run: a formula over the state after `at` steps and the step that leaves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub at: u32,
    pub formula: TermId,
    /// True if the formula must be false: a step that would continue the run.
    pub refused: bool,
}

/// The formula of the runs along a sequence of transitions; see the module documentation.
pub(crate) struct Fixed {
    pub system: Arc<System>,
    pub pool: Pool,
    pub conditions: Vec<Condition>,
    session: CoreSession,
    placement: FxHashMap<SymbolId, Placement>,
    some_broken: Literal,
    run: FlatRun,
    pub deadline: Instant,
}

/// The conditions on runs along the same transitions, in order.
pub(crate) fn conditions(
    system: &System,
    pool: &mut Pool,
    table: &DefinitionTable,
    run: &FlatRun,
    (ending, places): (&Ending, &[Place]),
) -> Vec<Condition> {
    let mut conditions = Vec::new();
    let mut add = |at: usize, formula: TermId, refused: bool| {
        conditions.push(Condition { at: at as u32, formula, refused });
    };
    let last = run.states.len() - 1;
    for &(_, t) in &table.starts[run.start.index()].rest {
        add(0, t, false);
    }
    for i in 0..=last {
        let node = run.node(system, i);
        for a in system.assumptions() {
            let t = system.at_node(pool, a.term, node);
            add(i, t, false);
        }
        if let Some((t, _)) = run.steps.get(i) {
            table.transitions[t.index()].rest.iter().for_each(|&(_, f)| add(i, f, false));
        }
    }
    for p in places {
        let here = system.node_constant(pool, run.node(system, p.at as usize));
        let formula =
            pool.substitute(p.formula, &FxHashMap::from_iter([(system.location(), here)]));
        add(p.at as usize, formula, false);
    }
    let how = match ending {
        Ending::Sinkhole(_) => Some(Extent::Enabled),
        Ending::Deadlock => Some(Extent::Completed),
        Ending::Goals(_) => None,
    };
    if let Some(how) = how {
        for &t in system.leaving(run.node(system, last)) {
            let leads_on = step_formula(system, pool, t, how);
            add(last, leads_on, true);
        }
    }
    conditions.retain(|c| pool.as_bool(c.formula) != Some(!c.refused));
    conditions
}

/// Evaluates the conditions on states and steps of the run. Conditions on steps after its end are
/// not evaluated.
pub(crate) fn meets(system: &System, pool: &Pool, run: &FlatRun, conditions: &[Condition]) -> bool {
    conditions
        .iter()
        .filter(|c| !c.refused)
        .all(|c| is_true(system, pool, run, c.at as usize, c.formula))
}

impl Fixed {
    pub(crate) fn new(
        system: &Arc<System>,
        base: &Arc<Pool>,
        table: &DefinitionTable,
        run: &FlatRun,
        end: (&Ending, &[Place]),
        (solvers, cancellation): (&Solvers, Cancellation),
    ) -> Result<Fixed, String> {
        let mut pool = Pool::fork(base);
        let conditions = conditions(system, &mut pool, table, run, end);
        let placement = placement(system);
        // The definitions, with the position where they apply.
        let mut given: Vec<(u32, TermId)> = Vec::new();
        for i in 0..run.states.len() {
            for g in &table.entering(run, i).defined {
                let var = &system.vars()[g.var];
                let symbol = if i == 0 { var.current } else { var.next };
                let symbol = pool.var(symbol);
                given.push((i.saturating_sub(1) as u32, pool.eq(symbol, g.value)));
            }
        }
        let mut about: Vec<TermId> = given.iter().map(|g| g.1).collect();
        about.extend(conditions.iter().map(|c| c.formula));
        for v in system.vars() {
            about.push(pool.var(v.current));
        }
        let solver =
            solvers.choose(pool.features(&about)).ok_or("no solver for such formulas was found")?;
        let mut session = solvers
            .core_session(solver, SessionConfig { cancellation, ..SessionConfig::default() });
        let of = |s: SymbolId| placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let mut templates = FxHashMap::default();
        let mut compiled = |session: &mut CoreSession, pool: &mut Pool, t: TermId| {
            let t = local(system, pool, t);
            templates.entry(t).or_insert_with(|| session.compile(pool, t, &of)).clone()
        };
        for (at, t) in given {
            let template = compiled(&mut session, &mut pool, t);
            session.assert_at(&pool, &template, at);
        }
        let mut broken = Vec::new();
        for c in &conditions {
            let template = compiled(&mut session, &mut pool, c.formula);
            let literal = session.literal_at(&pool, &template, c.at);
            broken.push(if c.refused { literal } else { !literal });
        }
        let some_broken = session.literal();
        broken.push(!some_broken);
        session.assert_clause(&broken);
        let (system, run, deadline) = (Arc::clone(system), run.clone(), Instant::now());
        Ok(Fixed { system, pool, conditions, session, placement, some_broken, run, deadline })
    }

    /// The symbol of a choice.
    pub(crate) fn symbol(&self, choice: Choice) -> SymbolId {
        match choice {
            Choice::Var(_, v) => self.system.var(v).current,
            Choice::Param(i, p) => {
                self.system.transition(self.run.steps[i as usize].0).params[p as usize].symbol
            }
        }
    }

    /// A literal for a formula over the state after `at` steps.
    pub(crate) fn literal(&mut self, t: TermId, at: u32) -> Literal {
        let of = |s: SymbolId| self.placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let template = self.session.compile(&self.pool, t, &of);
        self.session.literal_at(&self.pool, &template, at)
    }

    pub(crate) fn deadline_passed(&self) -> bool {
        Instant::now() >= self.deadline || self.session.failure().is_some()
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits::time(
            self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)),
        )
    }

    /// True if all choices within the assumptions give runs with the same end, false if some do
    /// not; `None` if the solver does not decide.
    pub(crate) fn all_end_alike(&mut self, assumptions: &[Literal]) -> Option<bool> {
        let limits = self.limits();
        let mut all = vec![self.some_broken];
        all.extend(assumptions);
        match self.session.check(&all, limits) {
            Answer::Unsat => Some(true),
            Answer::Sat => Some(false),
            Answer::Unknown(_) => None,
        }
    }

    /// True if the formula is shown to hold for all choices within the assumptions.
    pub(crate) fn always(&mut self, assumptions: &[Literal], formula: TermId, at: u32) -> bool {
        let literal = self.literal(formula, at);
        let mut all = assumptions.to_vec();
        all.push(!literal);
        let limits = self.limits();
        self.session.check(&all, limits) == Answer::Unsat
    }

    /// The assumptions that the last refutation uses.
    pub(crate) fn core(&mut self) -> Option<Vec<Literal>> {
        let limits = self.limits();
        self.session.core(limits).ok()
    }

    /// The value of a choice in the counterexample.
    pub(crate) fn found(&mut self, choice: Choice) -> Option<Value> {
        let symbol = StepSymbol::at(self.symbol(choice), choice.at());
        let limits = self.limits();
        self.session.values(&self.pool, &[symbol], limits).ok()?.pop()
    }
}

/// Current symbols are placed at a step, next symbols at the one after it, parameters at their
/// step.
pub(crate) fn placement(system: &System) -> FxHashMap<SymbolId, Placement> {
    let mut placement = FxHashMap::default();
    for v in system.vars() {
        placement.insert(v.current, Placement::At { symbol: v.current, offset: 0 });
        placement.insert(v.next, Placement::At { symbol: v.current, offset: 1 });
    }
    for t in system.transitions() {
        placement.extend(
            t.params.iter().map(|p| (p.symbol, Placement::At { symbol: p.symbol, offset: 0 })),
        );
    }
    placement
}
