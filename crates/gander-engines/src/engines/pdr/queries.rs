//! The solver queries of PDR, in one session over two consecutive states.
//!
//! State 0 and state 1 are related by a step. Each level has an activation literal for its lemmas
//! in state 0; frame `i` is queried by assuming the literals of levels `i` and above. Level 0 is
//! the start states. Each literal of a cube is defined once as a Boolean variable for state 0 and
//! once for state 1, which keeps clauses and assumptions short.

use std::sync::Arc;

use gander_smt::{Answer, CoreSession, Limits, Literal, Reason, StepSymbol, Template};
use gander_system::{NodeId, StartId, TransitionId};
use gander_term::{SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::encode::encoding::Encoding;
use crate::encode::question::{Place, Target};

use super::implicant::Model;

/// The level of lemmas that are inductive together.
pub(super) const FOREVER: usize = usize::MAX;

/// See the module's documentation.
pub(super) struct Queries {
    pub session: CoreSession,
    templates: FxHashMap<TermId, Template>,
    literals: FxHashMap<(TermId, u32), Literal>,
    levels: Vec<Literal>,
    forever: Literal,
    /// Literals by target flag, for targets whose meaning is asserted.
    targets: FxHashMap<SymbolId, Vec<Literal>>,
    limits: Limits,
    /// The number of clauses and literals sent to the session.
    pub asserted: usize,
}

/// The states that a step may leave in a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relative<'a> {
    /// The frame of the state before the step.
    pub level: usize,
    /// A cube at a node that excludes the state before the step.
    pub outside: Option<(NodeId, &'a [TermId])>,
}

impl Queries {
    pub(super) fn new(
        e: &mut Encoding,
        mut session: CoreSession,
        nodes: &[NodeId],
        limits: Limits,
    ) -> Queries {
        let forever = session.literal();
        let starts = session.literal();
        let mut queries = Queries {
            session,
            templates: FxHashMap::default(),
            literals: FxHashMap::default(),
            levels: vec![starts],
            forever,
            targets: FxHashMap::default(),
            limits,
            asserted: 0,
        };
        for s in 0..e.system.starts().len() {
            let start = e.start(StartId::from(s));
            queries.assert_if(e, starts, start, 0);
        }
        for &n in nodes {
            let begun = e.begun_by(n);
            queries.assert_if(e, starts, begun, 0);
            let assumption = e.assumption(n);
            queries.assert(e, assumption, 0);
            queries.assert(e, assumption, 1);
            for t in e.system.leaving(n).to_vec() {
                let relation = e.relation(t);
                queries.assert(e, relation, 0);
            }
            let transitions = e.entering(n, nodes);
            let entered = e.entered_by(n, &transitions);
            queries.assert(e, entered, 0);
        }
        // Declare all symbols whose values models are queried for.
        for v in Arc::clone(&e.system).vars() {
            queries.session.declare(&e.pool, StepSymbol::at(v.current, 0));
            queries.session.declare(&e.pool, StepSymbol::at(v.current, 1));
        }
        queries
    }

    fn template(&mut self, e: &Encoding, formula: TermId) -> Template {
        let session = &mut self.session;
        self.templates
            .entry(formula)
            .or_insert_with(|| session.compile(&e.pool, formula, &|s| e.placement(s)))
            .clone()
    }

    fn assert(&mut self, e: &Encoding, formula: TermId, step: u32) {
        if e.pool.as_bool(formula) != Some(true) {
            let template = self.template(e, formula);
            self.session.assert_at(&e.pool, &template, step);
        }
    }

    fn assert_if(&mut self, e: &Encoding, literal: Literal, formula: TermId, step: u32) {
        if e.pool.as_bool(formula) != Some(true) {
            let template = self.template(e, formula);
            self.session.assert_if_at(&e.pool, literal, &template, step);
        }
    }

    /// A Boolean variable defined as a formula in state 0 or state 1.
    pub(super) fn literal(&mut self, e: &mut Encoding, formula: TermId, state: u32) -> Literal {
        if let Some(&known) = self.literals.get(&(formula, state)) {
            return known;
        }
        let negated = e.pool.not(formula);
        if let Some(&known) = self.literals.get(&(negated, state)) {
            return !known;
        }
        self.asserted += 1;
        let session = &mut self.session;
        let template = session.compile(&e.pool, formula, &|s| e.placement(s));
        let literal = session.literal_at(&e.pool, &template, state);
        self.literals.insert((formula, state), literal);
        literal
    }

    fn at(&mut self, e: &mut Encoding, node: NodeId, state: u32) -> Literal {
        let at = e.at(node);
        self.literal(e, at, state)
    }

    /// The activation literal of a level.
    fn level(&mut self, level: usize) -> Literal {
        if level == FOREVER {
            return self.forever;
        }
        while self.levels.len() <= level {
            let literal = self.session.literal();
            self.levels.push(literal);
        }
        self.levels[level]
    }

    /// The assumptions that activate frame `level`.
    fn frame(&mut self, level: usize) -> Vec<Literal> {
        let mut frame = vec![self.forever];
        if level != FOREVER {
            self.level(level);
            frame.extend_from_slice(&self.levels[level..]);
        }
        frame
    }

    /// Adds the lemma that at the node, not all literals of the cube hold.
    pub(super) fn add(&mut self, e: &mut Encoding, node: NodeId, cube: &[TermId], level: usize) {
        self.asserted += 1;
        let mut clause = vec![!self.level(level)];
        clause.push(!self.at(e, node, 0));
        for &l in cube {
            let literal = self.literal(e, l, 0);
            clause.push(!literal);
        }
        self.session.assert_clause(&clause);
    }

    fn check(&mut self, assumptions: &[Literal]) -> Result<bool, Reason> {
        match self.session.check(assumptions, self.limits) {
            Answer::Sat => Ok(true),
            Answer::Unsat => Ok(false),
            Answer::Unknown(reason) => Err(reason),
        }
    }

    /// Queries whether a step leads from a frame into a cube. If not, returns the literals of the
    /// unsatisfiable core.
    pub(super) fn step_into(
        &mut self,
        e: &mut Encoding,
        from: Relative<'_>,
        node: NodeId,
        cube: &[TermId],
    ) -> Result<Option<Vec<TermId>>, Reason> {
        let mut assumptions = self.frame(from.level);
        let mut dead = None;
        if let Some((node, outside)) = from.outside {
            let literal = self.session.literal();
            let mut clause = vec![!literal, !self.at(e, node, 0)];
            for &l in outside {
                clause.push(!self.literal(e, l, 0));
            }
            self.session.assert_clause(&clause);
            self.asserted += 1;
            assumptions.push(literal);
            dead = Some(literal);
        }
        assumptions.push(self.at(e, node, 1));
        let primed: Vec<Literal> = cube.iter().map(|&l| self.literal(e, l, 1)).collect();
        assumptions.extend_from_slice(&primed);
        let result = if self.check(&assumptions)? { None } else { Some(self.core(cube, &primed)?) };
        if let (Some(dead), Some(_)) = (dead, &result) {
            self.session.assert_clause(&[!dead]);
        }
        Ok(result)
    }

    fn core(&mut self, cube: &[TermId], literals: &[Literal]) -> Result<Vec<TermId>, Reason> {
        let core = self.session.core(self.limits)?;
        Ok(cube.iter().zip(literals).filter(|(_, l)| core.contains(l)).map(|(t, _)| *t).collect())
    }

    /// Queries whether a cube contains a start state. If not, returns the literals of the core.
    pub(super) fn starts_in(
        &mut self,
        e: &mut Encoding,
        node: NodeId,
        cube: &[TermId],
    ) -> Result<Option<Vec<TermId>>, Reason> {
        let mut assumptions = self.frame(0);
        assumptions.push(self.at(e, node, 0));
        let now: Vec<Literal> = cube.iter().map(|&l| self.literal(e, l, 0)).collect();
        assumptions.extend_from_slice(&now);
        if self.check(&assumptions)? { Ok(None) } else { Ok(Some(self.core(cube, &now)?)) }
    }

    /// A literal for "the target is met in state `state`", or by the step from it. `None` if it
    /// cannot be met there.
    fn target(
        &mut self,
        e: &mut Encoding,
        target: &Target,
        nodes: &[NodeId],
        state: u32,
    ) -> Option<Literal> {
        let known = self.targets.get(&target.flag).and_then(|l| l.get(state as usize)).copied();
        if known.is_some() {
            return known;
        }
        let meaning = target.meaning(e, nodes)?;
        let later = u32::from(matches!(target.place, Place::Taking(_)));
        let flag = e.pool.var(target.flag);
        let mut both = Vec::new();
        // A target transition is taken from state 0: there is no step from state 1.
        for s in 0..(2 - later) {
            self.assert(e, meaning, s);
            both.push(self.literal(e, flag, s + later));
        }
        self.targets.insert(target.flag, both.clone());
        both.get(state as usize).copied()
    }

    /// Queries whether a target is met in a state of the frame, or by a step from one.
    pub(super) fn meets(
        &mut self,
        e: &mut Encoding,
        level: usize,
        target: &Target,
        nodes: &[NodeId],
    ) -> Result<bool, Reason> {
        let literal = self.target(e, target, nodes, 0);
        self.check_in_frame(level, literal)
    }

    /// Queries whether a step from the frame leads to a target state.
    pub(super) fn steps_to(
        &mut self,
        e: &mut Encoding,
        level: usize,
        target: &Target,
        nodes: &[NodeId],
    ) -> Result<bool, Reason> {
        let literal = self.target(e, target, nodes, 1);
        self.check_in_frame(level, literal)
    }

    /// Queries whether the literal is true in some state of the frame; without one it never is.
    fn check_in_frame(&mut self, level: usize, literal: Option<Literal>) -> Result<bool, Reason> {
        let Some(literal) = literal else { return Ok(false) };
        let mut assumptions = self.frame(level);
        assumptions.push(literal);
        self.check(&assumptions)
    }

    /// The first of the nodes at which the last model is in `state`.
    pub(super) fn node(
        &mut self,
        e: &Encoding,
        nodes: &[NodeId],
        state: u32,
    ) -> Result<NodeId, Reason> {
        self.first(e, nodes, |n| StepSymbol::at(e.at_symbol(n), state), "a model that is nowhere")
    }

    /// The first item whose symbol is true in the last model. A single item is returned without a
    /// query.
    fn first<T: Copy>(
        &mut self,
        e: &Encoding,
        of: &[T],
        symbol: impl Fn(T) -> StepSymbol,
        none: &str,
    ) -> Result<T, Reason> {
        if let [only] = of {
            return Ok(*only);
        }
        let asked: Vec<StepSymbol> = of.iter().map(|&t| symbol(t)).collect();
        let values = self.session.values(&e.pool, &asked, self.limits)?;
        let found = values.iter().position(|v| *v == Value::Bool(true));
        found.map(|i| of[i]).ok_or_else(|| Reason::Garbage(none.into()))
    }

    /// The first of the transitions that the last model takes.
    pub(super) fn taken_transition(
        &mut self,
        e: &Encoding,
        transitions: &[TransitionId],
    ) -> Result<TransitionId, Reason> {
        self.first(
            e,
            transitions,
            |t| StepSymbol::at(e.take_symbol(t), 0),
            "a model that takes no step",
        )
    }

    /// The first of the starts with which the last model begins.
    pub(super) fn taken_start(
        &mut self,
        e: &Encoding,
        starts: &[StartId],
    ) -> Result<StartId, Reason> {
        self.first(
            e,
            starts,
            |s| StepSymbol::at(e.begin_symbol(s), 0),
            "a model that begins nowhere",
        )
    }

    /// The values of both states, of the step's parameters, and of the pairs in `later`: a
    /// parameter in state 1, and the symbol that represents it in formulas over both states.
    pub(super) fn model(
        &mut self,
        e: &Encoding,
        params: &[SymbolId],
        later: impl Iterator<Item = (SymbolId, SymbolId)>,
    ) -> Result<Model, Reason> {
        let mut asked: Vec<(StepSymbol, SymbolId)> = Vec::new();
        for v in e.system.vars() {
            asked.push((StepSymbol::at(v.current, 0), v.current));
            asked.push((StepSymbol::at(v.current, 1), v.next));
        }
        asked.extend(params.iter().map(|&p| (StepSymbol::at(p, 0), p)));
        asked.extend(later.map(|(p, later)| (StepSymbol::at(p, 1), later)));
        let symbols: Vec<StepSymbol> = asked.iter().map(|a| a.0).collect();
        let values = self.session.values(&e.pool, &symbols, self.limits)?;
        Ok(asked.into_iter().map(|a| a.1).zip(values).collect())
    }

    /// Queries for a step of `t` from the state `values` to a state in which all of `also` hold.
    pub(super) fn step_from(
        &mut self,
        e: &mut Encoding,
        values: &[Value],
        t: TransitionId,
        also: &[TermId],
    ) -> Result<bool, Reason> {
        let system = Arc::clone(&e.system);
        let mut assumptions = vec![];
        let mut equations = Vec::new();
        for (v, value) in system.vars().iter().zip(values) {
            let (x, c) = (e.pool.var(v.current), e.pool.constant(value.clone()));
            equations.push(e.pool.eq(x, c));
        }
        let here = e.pool.and(equations);
        let take = e.take(t);
        for (formula, state) in [(here, 0), (take, 0)] {
            if e.pool.as_bool(formula) != Some(true) {
                assumptions.push(self.literal(e, formula, state));
            }
        }
        for &l in also {
            assumptions.push(self.literal(e, l, 1));
        }
        self.check(&assumptions)
    }

    /// Queries whether a target is met in the state `values`, or by a step of `t` from it.
    pub(super) fn meets_from(
        &mut self,
        e: &mut Encoding,
        values: &[Value],
        t: Option<TransitionId>,
        target: &Target,
        nodes: &[NodeId],
    ) -> Result<bool, Reason> {
        let system = Arc::clone(&e.system);
        let state = u32::from(t.is_some() && !matches!(target.place, Place::Taking(_)));
        let Some(literal) = self.target(e, target, nodes, state) else { return Ok(false) };
        let mut equations = Vec::new();
        for (v, value) in system.vars().iter().zip(values) {
            let (x, c) = (e.pool.var(v.current), e.pool.constant(value.clone()));
            equations.push(e.pool.eq(x, c));
        }
        let mut formulas = vec![e.pool.and(equations)];
        formulas.extend(t.map(|t| e.take(t)));
        let mut assumptions = vec![literal];
        for formula in formulas {
            if e.pool.as_bool(formula) != Some(true) {
                assumptions.push(self.literal(e, formula, 0));
            }
        }
        self.check(&assumptions)
    }
}
