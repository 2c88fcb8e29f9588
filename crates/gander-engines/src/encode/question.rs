//! Questions: claims as questions about the reachability of target states and steps.
//!
//! A [`Question`] lists targets: a formula over a state (and, existentially, parameters) with the
//! place where it is to be met. The claim is decided one way by a run that meets a target, and the
//! other way by a proof that no run does. For such proofs, [`QuestionBuilder::exclusion`] gives a
//! formula per node, without parameters, that excludes all targets. Quantified parts (such as "no
//! guard is satisfiable") are eliminated where that is cheap; otherwise they stay.

use std::collections::BTreeMap;
use std::sync::Arc;

use gander_system::Evidence;
use gander_system::{
    ClaimId, ClaimKind, Effect, Goal, NodeId, StartId, StateTerm, System, TransitionId, Verdict,
};
use gander_term::{Simplifier, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::arith::eliminate::eliminate;
use crate::encode::encoding::Encoding;

/// Where a target is met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    /// In a state at any node.
    Anywhere,
    /// In a state at this node.
    At(NodeId),
    /// By a step of this transition; the formula is over the state before the step and its
    /// parameters.
    Taking(TransitionId),
    /// In a start state of this start.
    Beginning(StartId),
}

/// A target of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub place: Place,
    /// Over state variables and shared parameters.
    pub formula: TermId,
    /// A variable of each state that implies the target. For a target transition, the flag is in
    /// the state after the step.
    pub flag: SymbolId,
    /// `flag`, seen from the state before a step.
    flag_later: Option<SymbolId>,
}

impl Target {
    /// A target at this place.
    pub(crate) fn new(e: &mut Encoding, place: Place, formula: TermId, name: &str) -> Target {
        let flag = e.stepwise(name, gander_term::Sort::Bool);
        let flag_later = matches!(place, Place::Taking(_)).then(|| e.one_later(flag));
        Target { place, formula, flag, flag_later }
    }

    /// The implication from the flag, to be asserted in the flag's state, or for a target
    /// transition in the state before the step. `nodes` are the possible nodes of the state where
    /// it is asserted. `None` if the target cannot be met there.
    pub(crate) fn meaning(&self, e: &mut Encoding, nodes: &[NodeId]) -> Option<TermId> {
        let (flag, body) = match self.place {
            Place::Anywhere => {
                let here: Vec<TermId> = nodes.iter().map(|&n| e.at(n)).collect();
                if here.is_empty() {
                    return None;
                }
                let at_some_node = e.pool.or(here);
                (self.flag, e.pool.and([at_some_node, self.formula]))
            }
            Place::At(n) => {
                nodes.binary_search(&n).ok()?;
                let here = e.at(n);
                (self.flag, e.pool.and([here, self.formula]))
            }
            Place::Taking(t) => {
                let source = e.system.transition(t).source;
                nodes.binary_search(&source).ok()?;
                let take = e.take(t);
                (self.flag_later?, e.pool.and([take, self.formula]))
            }
            Place::Beginning(s) => {
                let begin = e.begin_symbol(s);
                let begin = e.pool.var(begin);
                (self.flag, e.pool.and([begin, self.formula]))
            }
        };
        let flag = e.pool.var(flag);
        Some(e.pool.implies(flag, body))
    }
}

/// The effect of a run that meets a target on the claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetMeaning {
    Proves,
    Refutes,
}

/// A claim as a question.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub claim: ClaimId,
    pub meaning: TargetMeaning,
    pub targets: Vec<Target>,
}

impl Question {
    /// The verdict that a run to a target gives.
    pub(crate) fn met(&self, evidence: Evidence) -> Verdict {
        match self.meaning {
            TargetMeaning::Proves => Verdict::Holds(evidence),
            TargetMeaning::Refutes => Verdict::Fails(evidence),
        }
    }

    /// The verdict if no run meets a target.
    pub(crate) fn never_met(&self, evidence: Evidence) -> Verdict {
        match self.meaning {
            TargetMeaning::Proves => Verdict::Fails(evidence),
            TargetMeaning::Refutes => Verdict::Holds(evidence),
        }
    }
}

/// True for claims that are questions about reachability.
pub(crate) fn is_question(kind: &ClaimKind) -> bool {
    match kind {
        ClaimKind::Always(_)
        | ClaimKind::CanEnable(_)
        | ClaimKind::NoSinkhole(_)
        | ClaimKind::StartSatisfiable(_)
        | ClaimKind::Completable(_)
        | ClaimKind::NoDeadlock => true,
        ClaimKind::Reachable(goals) => !goals.is_empty(),
        ClaimKind::InfiniteRun
        | ClaimKind::Eventually { .. }
        | ClaimKind::AlwaysEventually { .. }
        | ClaimKind::LeadsTo { .. }
        | ClaimKind::AlwaysPossible(_)
        | ClaimKind::ExistsAlways(_) => false,
    }
}

/// Creates questions from claims, with a cache of enabledness formulas.
#[derive(Debug, Default)]
pub(crate) struct QuestionBuilder {
    simplifier: Simplifier,
    enabled: FxHashMap<TransitionId, TermId>,
    completes: FxHashMap<TransitionId, TermId>,
    /// Transitions from this index on are shortcuts for steps of the others, and are ignored in
    /// formulas about enabledness.
    shortcuts_from: Option<usize>,
}

impl QuestionBuilder {
    /// For a system whose transitions from `first` on are shortcuts.
    pub(crate) fn without_shortcuts(first: usize) -> QuestionBuilder {
        QuestionBuilder { shortcuts_from: Some(first), ..QuestionBuilder::default() }
    }

    fn leaving(&self, system: &System, n: NodeId) -> Vec<TransitionId> {
        let own = |t: &TransitionId| self.shortcuts_from.is_none_or(|first| t.index() < first);
        system.leaving(n).iter().copied().filter(own).collect()
    }

    /// The question of a claim. `None` for other kinds of claims, and for chains of goals, whose
    /// question is about the chain system.
    pub(crate) fn question(&mut self, e: &mut Encoding, claim: ClaimId) -> Option<Question> {
        let system = Arc::clone(&e.system);
        let mut targets: Vec<(Place, TermId)> = Vec::new();
        let meaning = match &system.claims()[claim.index()].kind {
            ClaimKind::Always(p) => {
                self.states(e, *p, false, &mut targets);
                TargetMeaning::Refutes
            }
            ClaimKind::Reachable(goals) => {
                let [goal] = &goals[..] else { return None };
                match goal {
                    Goal::State(p) => self.states(e, *p, true, &mut targets),
                    Goal::Step { choices, .. } => {
                        for &(t, formula) in choices {
                            targets.push((Place::Taking(t), e.with_shared(t, formula.term())));
                        }
                    }
                }
                TargetMeaning::Proves
            }
            ClaimKind::CanEnable(t) => {
                let guard = system.guard_term(&mut e.pool, *t);
                targets.push((Place::At(system.transition(*t).source), e.with_shared(*t, guard)));
                TargetMeaning::Proves
            }
            ClaimKind::NoSinkhole(n) => {
                let stuck: Vec<TermId> = self
                    .leaving(&system, *n)
                    .into_iter()
                    .map(|t| {
                        let enabled = self.enabled(e, t);
                        e.pool.not(enabled)
                    })
                    .collect();
                targets.push((Place::At(*n), e.pool.and(stuck)));
                TargetMeaning::Refutes
            }
            ClaimKind::StartSatisfiable(s) => {
                targets.push((Place::Beginning(*s), e.pool.tt()));
                TargetMeaning::Proves
            }
            ClaimKind::Completable(t) => {
                let guard = system.guard_term(&mut e.pool, *t);
                let effect = relations(&system, e, *t);
                let next: Vec<SymbolId> = next_symbols(&system, e, effect);
                let can = exists(e, &next, effect);
                let cannot = e.pool.not(can);
                let both = e.pool.and([guard, cannot]);
                targets.push((Place::At(system.transition(*t).source), e.with_shared(*t, both)));
                TargetMeaning::Refutes
            }
            ClaimKind::NoDeadlock => {
                for n in system.node_ids().filter(|&n| !system.node(n).is_final) {
                    let stuck: Vec<TermId> = self
                        .leaving(&system, n)
                        .into_iter()
                        .map(|t| {
                            let completes = self.completes(e, t);
                            e.pool.not(completes)
                        })
                        .collect();
                    targets.push((Place::At(n), e.pool.and(stuck)));
                }
                TargetMeaning::Refutes
            }
            _ => return None,
        };
        let targets = targets
            .into_iter()
            .filter_map(|(place, formula)| {
                let formula = self.simplifier.simplify(&mut e.pool, formula);
                let possible = e.pool.as_bool(formula) != Some(false);
                possible.then(|| Target::new(e, place, formula, &format!("met.{}", claim.0)))
            })
            .collect();
        Some(Question { claim, meaning, targets })
    }

    /// Adds the states with `p` (or without it) as targets.
    fn states(
        &mut self,
        e: &mut Encoding,
        p: StateTerm,
        with: bool,
        targets: &mut Vec<(Place, TermId)>,
    ) {
        let system = Arc::clone(&e.system);
        let sign = |e: &mut Encoding, t: TermId| if with { t } else { e.pool.not(t) };
        if !e.pool.free_symbols(&[p.term()]).contains(&system.location()) {
            let formula = sign(e, p.term());
            targets.push((Place::Anywhere, formula));
            return;
        }
        for n in system.node_ids() {
            let here = system.at_node(&mut e.pool, p, n);
            let formula = sign(e, here);
            targets.push((Place::At(n), formula));
        }
    }

    /// `exists parameters. guard`
    fn enabled(&mut self, e: &mut Encoding, t: TransitionId) -> TermId {
        if let Some(&known) = self.enabled.get(&t) {
            return known;
        }
        let system = Arc::clone(&e.system);
        let guard = system.guard_term(&mut e.pool, t);
        let params: Vec<SymbolId> = system.transition(t).params.iter().map(|p| p.symbol).collect();
        let term = exists(e, &params, guard);
        self.enabled.insert(t, term);
        term
    }

    /// `exists parameters, next state. guard and effect and assumptions about the next state`
    fn completes(&mut self, e: &mut Encoding, t: TransitionId) -> TermId {
        if let Some(&known) = self.completes.get(&t) {
            return known;
        }
        let tt = e.pool.tt();
        let term = step_exists(e, t, tt);
        self.completes.insert(t, term);
        term
    }

    /// By node: a formula that excludes all targets of the question. `None` if it needs quantifiers
    /// that could not be eliminated.
    pub(crate) fn exclusion(
        &mut self,
        e: &mut Encoding,
        q: &Question,
    ) -> Option<Vec<(NodeId, TermId)>> {
        let exclusion = self.exclusion_as_written(e, q)?;
        (!exclusion.iter().any(|&(_, none)| e.pool.has_quantifier(none))).then_some(exclusion)
    }

    /// As [`QuestionBuilder::exclusion`], but quantifiers of the claim itself are allowed. `None`
    /// if others are needed.
    pub(crate) fn exclusion_as_written(
        &mut self,
        e: &mut Encoding,
        q: &Question,
    ) -> Option<Vec<(NodeId, TermId)>> {
        let system = Arc::clone(&e.system);
        let mut everywhere = Vec::new();
        // Whether remaining quantifiers may come from here and not from the claim.
        let mut introduced = false;
        // Most questions concern only a few of the nodes.
        let mut bad: BTreeMap<usize, Vec<TermId>> = BTreeMap::new();
        for target in &q.targets {
            match target.place {
                Place::Anywhere => everywhere.push(target.formula),
                Place::At(n) => {
                    let choices: Vec<SymbolId> = self.choices(e, target.formula);
                    let without = eliminate(&mut e.pool, &choices, target.formula)?;
                    introduced |= !choices.is_empty();
                    bad.entry(n.index()).or_default().push(without);
                }
                Place::Taking(t) => {
                    // Replace shared parameters by the transition's own, to complete the step.
                    let own = own_params(e, t, target.formula);
                    let term = step_exists(e, t, own);
                    introduced = true;
                    bad.entry(system.transition(t).source.index()).or_default().push(term);
                }
                Place::Beginning(_) => return None,
            }
        }
        let elsewhere = self.none_of(e, everywhere.clone());
        let mut exclusion = Vec::new();
        let nodes: Vec<usize> = if everywhere.is_empty() {
            bad.keys().copied().collect()
        } else {
            (0..system.nodes().len()).collect()
        };
        for n in nodes {
            let none = match bad.remove(&n) {
                None => elsewhere,
                Some(mut parts) => {
                    parts.extend_from_slice(&everywhere);
                    self.none_of(e, parts)
                }
            };
            if e.pool.as_bool(none) != Some(true) {
                exclusion.push((NodeId::from(n), none));
            }
        }
        let foreign = introduced && exclusion.iter().any(|&(_, none)| e.pool.has_quantifier(none));
        (!foreign).then_some(exclusion)
    }

    /// None of the formulas holds.
    fn none_of(&mut self, e: &mut Encoding, parts: Vec<TermId>) -> TermId {
        let some = e.pool.or(parts);
        let none = e.pool.not(some);
        self.simplifier.simplify(&mut e.pool, none)
    }

    /// The shared parameters in a formula.
    fn choices(&self, e: &Encoding, formula: TermId) -> Vec<SymbolId> {
        let system = &e.system;
        let is_var = |s: SymbolId| system.vars().iter().any(|v| v.current == s);
        e.pool.free_symbols(&[formula]).into_iter().filter(|&s| !is_var(s)).collect()
    }
}

/// Replaces shared parameters in a formula by the parameters of `t`.
pub(crate) fn own_params(e: &mut Encoding, t: TransitionId, formula: TermId) -> TermId {
    let system = Arc::clone(&e.system);
    let shared = e.params(t);
    let mut map = FxHashMap::default();
    for (p, s) in system.transition(t).params.iter().zip(shared) {
        map.insert(s, e.pool.var(p.symbol));
    }
    e.pool.substitute(formula, &map)
}

/// The constraints of an effect, with assigned and kept values substituted for next variables.
fn relations(system: &System, e: &mut Encoding, t: TransitionId) -> TermId {
    let parts = system.transition(t).effect.iter().filter_map(|part| match part {
        Effect::Constrain { relation, .. } => Some(relation.term()),
        _ => None,
    });
    let relation = e.pool.and(parts);
    let known = known_next(system, e, t);
    e.pool.substitute(relation, &known)
}

/// The next values that an effect defines.
fn known_next(system: &System, e: &mut Encoding, t: TransitionId) -> FxHashMap<SymbolId, TermId> {
    let mut known = FxHashMap::default();
    for part in &system.transition(t).effect {
        match *part {
            Effect::Assign { var, value, .. } => {
                known.insert(system.var(var).next, value.term());
            }
            Effect::Keep { var, .. } => {
                known.insert(system.var(var).next, e.pool.var(system.var(var).current));
            }
            Effect::Constrain { .. } => {}
        }
    }
    known
}

/// The next variables in a formula.
fn next_symbols(system: &System, e: &Encoding, formula: TermId) -> Vec<SymbolId> {
    let free = e.pool.free_symbols(&[formula]);
    system.vars().iter().map(|v| v.next).filter(|s| free.binary_search(s).is_ok()).collect()
}

/// `exists parameters, next state. guard and also and effect and assumptions about the next state`
fn step_exists(e: &mut Encoding, t: TransitionId, also: TermId) -> TermId {
    let system = Arc::clone(&e.system);
    let transition = system.transition(t);
    let guard = system.guard_term(&mut e.pool, t);
    let relation = relations(&system, e, t);
    let assumption = system.assumption_term(&mut e.pool, transition.target);
    let mut next = known_next(&system, e, t);
    for v in system.vars() {
        let primed = e.pool.var(v.next);
        let value = next.remove(&v.next).unwrap_or(primed);
        next.insert(v.current, value);
    }
    next.retain(|s, _| system.vars().iter().any(|v| v.current == *s));
    let assumption = e.pool.substitute(assumption, &next);
    let body = e.pool.and([guard, also, relation, assumption]);
    let mut bound: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
    bound.extend(next_symbols(&system, e, body));
    exists(e, &bound, body)
}

/// `exists symbols. body`, without the quantifier if it can be eliminated.
fn exists(e: &mut Encoding, symbols: &[SymbolId], body: TermId) -> TermId {
    if let Some(without) = eliminate(&mut e.pool, symbols, body) {
        return without;
    }
    let free = e.pool.free_symbols(&[body]);
    let mut map = FxHashMap::default();
    let mut bound = Vec::new();
    for &s in symbols.iter().filter(|s| free.contains(s)) {
        let symbol = e.pool.symbol(s);
        let (name, sort) = (symbol.name.clone(), symbol.sort);
        let b = e.pool.declare_bound(&name, sort);
        map.insert(s, e.pool.var(b));
        bound.push(b);
    }
    let body = e.pool.substitute(body, &map);
    e.pool.exists(&bound, body)
}
