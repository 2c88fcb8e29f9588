//! Lint candidates, and the claims that decide them (docs/findings.md).
//!
//! A candidate is found by a syntactic analysis of the system. Whether it is a finding depends on
//! the runs: each candidate becomes a claim of a copy of the system, which is decided and checked
//! like any other claim. So every finding has checked evidence.
//!
//! | candidate | claim | a finding if it |
//! |---|---|---|
//! | division by zero in a step | `reachable` the step with a divisor of zero | holds |
//! | division by zero in a claim | `reachable` a state with a divisor of zero | holds |
//! | a node that no run reaches | `reachable in Node` | fails |
//! | a condition that is always true | `always condition in Node` | holds |
//! | two transitions of one gate | `reachable` a step of one where the other is enabled | holds |
//! | a node invariant of the user | `always invariant in Node` | fails |
//! | the condition of a claim | `reachable condition` | fails |
//! | an operation that is not defined | `reachable` a state that reads its value | holds |
//!
//! In a composed system a node, a condition or an invariant of a specification occurs in every
//! instance of it: the claim is about all of them.

mod divisors;
mod undefined;

use gander_term::{Importer, Op, Pool, Simplifier, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::claim::{Claim, ClaimId, ClaimKind, ClaimOrigin, Goal};
use crate::evidence::NodeFormulas;
use crate::formula::{ChoiceTerm, StateTerm};
use crate::origin::{Element, ElementId, ElementInfo, ElementKind, ElementName, Span};
use crate::system::{Effect, NodeId, Param, Range, Structure, System, TransitionId};
use divisors::zero_divisors;
pub use undefined::Reads;

/// A possible mistake in a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LintCandidate {
    /// A divisor in a step may be zero when the step is taken.
    DivisionInStep {
        /// The part of the guard or effect.
        element: ElementId,
        /// The divisor as text.
        divisor: String,
        /// The transitions, each with the formula that the division matters and its divisor is
        /// zero. Several in a composed system.
        cases: Vec<(TransitionId, TermId)>,
    },
    /// A divisor in the formula of a claim may be zero.
    DivisionInClaim {
        /// The claim.
        claim: ClaimId,
        /// The divisor as text.
        divisor: String,
        /// The formula that the division matters and its divisor is zero.
        case: TermId,
    },
    /// No run may reach the node.
    NeverReached {
        /// Its name.
        name: String,
        /// Where it is written.
        span: Option<Span>,
        /// The node; none for a node of an instance.
        node: Option<NodeId>,
        /// For each instance of a composed system: the formula that it is at the node.
        instances: Vec<StateTerm>,
    },
    /// The condition may hold whenever a run is at one of the nodes.
    AlwaysTrue {
        /// The part of the guard.
        element: ElementId,
        /// The transition; the first of several in a composed system.
        transition: TransitionId,
        /// The condition at the nodes that the transition leaves.
        cases: Vec<Condition>,
    },
    /// Both transitions of a pair may be enabled in one state with the same parameters. Several
    /// pairs in a composed system.
    Overlap(Vec<(TransitionId, TransitionId)>),
    /// A node invariant of the user may be wrong.
    WrongHint {
        /// The nodes, each with the element; several in a composed system.
        places: Vec<(NodeId, ElementId)>,
    },
    /// The condition of a claim may never hold: its number in [`System::conditions`].
    NeverProvided(usize),
    /// A dataflow program may read the value of an operation that is not defined: its number in
    /// [`System::undefined_values`], and when it does.
    ReadsUndefined(usize, Reads),
}

/// A condition of a transition at the node that it leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The node.
    pub node: NodeId,
    /// In a composed system: the formula that the instances that move are at the nodes that they
    /// leave.
    pub place: Option<TermId>,
    /// The condition for all parameters within their ranges.
    pub term: TermId,
    /// The condition for some parameters.
    pub samples: Vec<TermId>,
}

/// Terms of candidates are in this pool, a fork of the system's.
#[derive(Debug)]
pub struct LintCandidates {
    pool: Pool,
    /// The candidates.
    pub list: Vec<LintCandidate>,
    /// Candidates that occur at too many nodes of a composed system to be decided.
    pub too_large: Vec<LintCandidate>,
}

impl System {
    /// The lint candidates, from syntax alone. For a system whose control graph was not drawn by an
    /// author, such as a dataflow program, only the conditions of claims and operations that are
    /// not defined are candidates.
    pub fn candidates(&self) -> LintCandidates {
        let pool = Pool::fork(&self.pool);
        let mut found = LintCandidates { pool, list: Vec::new(), too_large: Vec::new() };
        found.list.extend((0..self.conditions.len()).map(LintCandidate::NeverProvided));
        for (i, value) in self.undefined.iter().enumerate() {
            if let Some(reads) = undefined::reads(self, &mut found.pool, &value.var) {
                found.list.push(LintCandidate::ReadsUndefined(i, reads));
            }
        }
        if self.structure != Structure::Drawn || self.vars.iter().any(|v| v.stream.is_some()) {
            return found;
        }
        found.hints(self);
        found.divisions(self);
        found.nodes(self);
        found.conditions(self);
        found.overlaps(self);
        found
    }

    /// This system with one claim for each candidate, in the same order, instead of its own claims.
    /// The lemmas, formulas that were proved about it, become hints beside those of the user.
    pub fn with_lint_claims(
        &self,
        candidates: LintCandidates,
        lemmas: &[&NodeFormulas],
    ) -> (System, Vec<LintCandidate>) {
        let LintCandidates { mut pool, list, .. } = candidates;
        let mut claims: Vec<Claim> =
            list.iter().enumerate().map(|(i, s)| self.lint_claim(&mut pool, i, s)).collect();
        let mut system = self.clone();
        for (candidate, claim) in list.iter().zip(&mut claims) {
            if let LintCandidate::ReadsUndefined(_, reads) = candidate {
                let read = reads.goal(&mut system, &mut pool);
                claim.kind = ClaimKind::Reachable(vec![Goal::State(read)]);
            }
        }
        for lemma in lemmas {
            let mut importer = Importer::new();
            for (node, &formula) in system.nodes.iter_mut().zip(lemma.by_node.iter()) {
                let Ok(term) = importer.import(&mut pool, &lemma.pool, formula) else { continue };
                if pool.as_bool(term).is_some() {
                    continue;
                }
                let id = ElementId(system.elements.len() as u32);
                let name = ElementName::Given(format!("{} lemma", node.name).into());
                system.elements.push(ElementInfo { name, kind: ElementKind::Hint, span: None });
                node.hints.push(Element { id, term: StateTerm(term) });
            }
        }
        system.pool = pool.freeze();
        system.claims = claims;
        (system, list)
    }

    fn lint_claim(&self, pool: &mut Pool, number: usize, candidate: &LintCandidate) -> Claim {
        let step = |choices: Vec<(TransitionId, TermId)>| {
            let choices = choices.into_iter().map(|(t, term)| (t, ChoiceTerm(term))).collect();
            ClaimKind::Reachable(vec![Goal::Step { gate: None, choices }])
        };
        let within = |nodes: &[NodeId], pool: &mut Pool| {
            let place = pool.var(self.location);
            let here: Vec<TermId> = nodes
                .iter()
                .map(|&n| {
                    let n = self.node_constant(pool, n);
                    pool.eq(place, n)
                })
                .collect();
            pool.or(here)
        };
        let kind = match candidate {
            LintCandidate::DivisionInStep { cases, .. } => step(cases.clone()),
            LintCandidate::NeverProvided(number) => {
                ClaimKind::Reachable(vec![Goal::State(self.conditions[*number].condition)])
            }
            // `with_lint_claims` replaces it: the formula may need a variable.
            LintCandidate::ReadsUndefined(_, reads) => {
                ClaimKind::Reachable(vec![Goal::State(StateTerm(reads.first))])
            }
            LintCandidate::DivisionInClaim { case, .. } => {
                ClaimKind::Reachable(vec![Goal::State(StateTerm(*case))])
            }
            LintCandidate::NeverReached { node, instances, .. } => {
                let mut here: Vec<TermId> = instances.iter().map(|at| at.term()).collect();
                here.extend(node.map(|n| within(&[n], pool)));
                let here = pool.or(here);
                ClaimKind::Reachable(vec![Goal::State(StateTerm(here))])
            }
            LintCandidate::AlwaysTrue { cases, .. } => {
                let parts: Vec<TermId> = cases
                    .iter()
                    .map(|c| {
                        let here = within(&[c.node], pool);
                        let here = pool.and([here].into_iter().chain(c.place));
                        pool.implies(here, c.term)
                    })
                    .collect();
                ClaimKind::Always(StateTerm(pool.and(parts)))
            }
            LintCandidate::Overlap(pairs) => {
                step(pairs.iter().map(|&(a, b)| (a, self.overlap_term(pool, a, b))).collect())
            }
            LintCandidate::WrongHint { places } => {
                let mut parts = Vec::new();
                for &(node, element) in places {
                    let Some(hint) = self.node(node).hints.iter().find(|h| h.id == element) else {
                        continue;
                    };
                    let here = within(&[node], pool);
                    parts.push(pool.implies(here, hint.term.term()));
                }
                ClaimKind::Always(StateTerm(pool.and(parts)))
            }
        };
        let name = format!("candidate {number}");
        Claim { text: name.clone(), name, kind, origin: ClaimOrigin::Structural, span: None }
    }

    /// The guard of the second transition over the parameters of the first.
    fn overlap_term(&self, pool: &mut Pool, first: TransitionId, second: TransitionId) -> TermId {
        let guard = self.guard_term(pool, second);
        let own = &self.transition(first).params;
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        for p in &self.transition(second).params {
            if let Some(same) = own.iter().find(|o| o.name == p.name) {
                map.insert(p.symbol, pool.var(same.symbol));
            }
        }
        pool.substitute(guard, &map)
    }
}

impl LintCandidates {
    /// The pool of the terms.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    fn hints(&mut self, system: &System) {
        let mut by_place: FxHashMap<Span, usize> = FxHashMap::default();
        for n in system.node_ids() {
            for h in &system.node(n).hints {
                let Some(span) = system.elements[h.id.index()].span else { continue };
                let at = by_place.entry(span).or_insert(self.list.len());
                match self.list.get_mut(*at) {
                    Some(LintCandidate::WrongHint { places }) if places.len() < MAX_PLACES => {
                        places.push((n, h.id));
                    }
                    _ => {
                        *at = self.list.len();
                        self.list.push(LintCandidate::WrongHint { places: vec![(n, h.id)] });
                    }
                }
            }
        }
    }

    fn divisions(&mut self, system: &System) {
        let current: FxHashSet<SymbolId> = system.vars.iter().map(|v| v.current).collect();
        let mut by_place: FxHashMap<(Option<Span>, String), usize> = FxHashMap::default();
        for t in system.transition_ids() {
            let transition = system.transition(t);
            let guard = transition.guard.iter().map(|g| (g.id, g.term.term()));
            let effect = transition.effect.iter().filter_map(|e| match *e {
                Effect::Assign { id, value, .. } => Some((id, value.term())),
                Effect::Constrain { id, relation } => Some((id, relation.term())),
                Effect::Keep { .. } => None,
            });
            let parts: Vec<(ElementId, TermId)> = guard.chain(effect).collect();
            for (element, term) in parts {
                for (divisor, case) in zero_divisors(&mut self.pool, term) {
                    let case = self.before_step(system, t, case);
                    let free = self.pool.free_symbols(&[case]);
                    let known = |s: &SymbolId| {
                        current.contains(s) || transition.params.iter().any(|p| p.symbol == *s)
                    };
                    if !free.iter().all(known) {
                        continue;
                    }
                    let divisor = self.shown(transition.name.as_str(), divisor);
                    let span = system.elements[element.index()].span;
                    let at = *by_place.entry((span, divisor.clone())).or_insert(self.list.len());
                    match self.list.get_mut(at) {
                        Some(LintCandidate::DivisionInStep { cases, .. }) => cases.push((t, case)),
                        _ => {
                            let cases = vec![(t, case)];
                            self.list.push(LintCandidate::DivisionInStep {
                                element,
                                divisor,
                                cases,
                            });
                        }
                    }
                }
            }
        }
        for (i, claim) in system.claims.iter().enumerate() {
            for term in claim.terms() {
                for (divisor, case) in zero_divisors(&mut self.pool, term) {
                    let free = self.pool.free_symbols(&[case]);
                    if free.iter().all(|s| current.contains(s) || *s == system.location) {
                        let divisor = self.pool.display_bounded(divisor, LONGEST).to_string();
                        self.list.push(LintCandidate::DivisionInClaim {
                            claim: ClaimId::from(i),
                            divisor,
                            case,
                        });
                    }
                }
            }
        }
    }

    /// The formula about the state before a step that some step satisfies `case`.
    fn before_step(&mut self, system: &System, t: TransitionId, case: TermId) -> TermId {
        let is_next = |s: &SymbolId| system.vars.iter().any(|v| v.next == *s);
        if !self.pool.free_symbols(&[case]).iter().any(is_next) {
            return case;
        }
        let mut given: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut parts = vec![case];
        for e in &system.transition(t).effect {
            match *e {
                Effect::Assign { var, value, .. } => {
                    given.insert(system.var(var).next, value.term());
                }
                Effect::Keep { var, .. } => {
                    let same = self.pool.var(system.var(var).current);
                    given.insert(system.var(var).next, same);
                }
                Effect::Constrain { relation, .. } => parts.push(relation.term()),
            }
        }
        let assumed = system.assumption_term(&mut self.pool, system.transition(t).target);
        let later: FxHashMap<SymbolId, TermId> =
            system.vars.iter().map(|v| (v.current, self.pool.var(v.next))).collect();
        parts.push(self.pool.substitute(assumed, &later));
        let whole = self.pool.and(parts);
        let whole = self.pool.substitute(whole, &given);
        let chosen: Vec<SymbolId> =
            self.pool.free_symbols(&[whole]).into_iter().filter(is_next).collect();
        let (mut bound, mut names) = (Vec::new(), FxHashMap::default());
        for s in chosen {
            let (name, sort) = (self.pool.symbol(s).name.clone(), self.pool.symbol(s).sort);
            let b = self.pool.declare_bound(&name, sort);
            names.insert(s, self.pool.var(b));
            bound.push(b);
        }
        let whole = self.pool.substitute(whole, &names);
        self.pool.exists(&bound, whole)
    }

    /// A term as text, with parameters without the name of their transition.
    fn shown(&self, transition: &str, t: TermId) -> String {
        self.pool.display_bounded(t, LONGEST).to_string().replace(&format!("{transition}."), "")
    }

    fn nodes(&mut self, system: &System) {
        let reached = reachable_in_graph(system);
        let drawn =
            system.node_ids().filter(|&n| system.node(n).span.is_some() && system.nodes.len() > 1);
        let one = |n: NodeId| LintCandidate::NeverReached {
            name: system.node(n).name.clone(),
            span: system.node(n).span,
            node: Some(n),
            instances: Vec::new(),
        };
        self.list.extend(drawn.filter(|n| reached[n.index()]).map(one));
        // A node of a specification, in all its instances.
        let mut by_place: FxHashMap<Span, usize> = FxHashMap::default();
        let drawn = system.instances.iter().filter(|i| i.nodes.len() > 1);
        for node in drawn.flat_map(|i| &i.nodes) {
            let Some(span) = node.span else { continue };
            let at = *by_place.entry(span).or_insert(self.list.len());
            match self.list.get_mut(at) {
                Some(LintCandidate::NeverReached { instances, .. }) => instances.push(node.at),
                _ => self.list.push(LintCandidate::NeverReached {
                    name: node.name.clone(),
                    span: Some(span),
                    node: None,
                    instances: vec![node.at],
                }),
            }
        }
    }

    fn conditions(&mut self, system: &System) {
        let mut by_place: FxHashMap<(Option<Span>, Option<TermId>), usize> = FxHashMap::default();
        // Spans of conditions that have a case without a claim, which may be false.
        let mut not_always: FxHashSet<Span> = FxHashSet::default();
        for t in system.transition_ids() {
            let transition = system.transition(t);
            let places = control_of(system, t);
            let place = (!places.is_empty()).then(|| self.pool.and(places));
            for g in &transition.guard {
                let info = &system.elements[g.id.index()];
                let term = g.term.term();
                let free = self.pool.free_symbols(&[term]);
                if info.kind != ElementKind::Guard {
                    continue;
                }
                if free.is_empty() {
                    let term = Simplifier::new().simplify(&mut self.pool, term);
                    not_always.extend(info.span.filter(|_| self.pool.as_bool(term) != Some(true)));
                    continue;
                }
                let own: Vec<&Param> =
                    transition.params.iter().filter(|p| free.contains(&p.symbol)).collect();
                // Participants of a joint step that share a parameter may all declare its range.
                if !system.instances.is_empty()
                    && let [p] = *own.as_slice()
                    && is_range_of(&self.pool, term, p.symbol)
                {
                    not_always.extend(info.span);
                    continue;
                }
                let Some((term, samples)) = self.for_all_parameters(term, &own) else {
                    not_always.extend(info.span);
                    continue;
                };
                let case = Condition { node: transition.source, place, term, samples };
                // Cases with the same span are one condition.
                let key = (info.span, info.span.is_none().then_some(term));
                let at = *by_place.entry(key).or_insert(self.list.len());
                match self.list.get_mut(at) {
                    Some(LintCandidate::AlwaysTrue { cases, .. }) if cases.contains(&case) => {}
                    Some(LintCandidate::AlwaysTrue { cases, .. }) => cases.push(case),
                    _ => self.list.push(LintCandidate::AlwaysTrue {
                        element: g.id,
                        transition: t,
                        cases: vec![case],
                    }),
                }
            }
        }
        self.list.retain(|s| match s {
            LintCandidate::AlwaysTrue { element, .. } => {
                let span = system.elements[element.index()].span;
                !span.is_some_and(|span| not_always.contains(&span))
            }
            _ => true,
        });
        let large = |s: &mut LintCandidate| matches!(s, LintCandidate::AlwaysTrue { cases, .. } if cases.len() > MAX_PLACES);
        self.too_large.extend(self.list.extract_if(.., large));
    }

    /// The condition for all parameters within their ranges, and for some samples; `None` if it is
    /// certainly false for some parameters, or cannot be decided.
    fn for_all_parameters(
        &mut self,
        condition: TermId,
        params: &[&Param],
    ) -> Option<(TermId, Vec<TermId>)> {
        if params.is_empty() {
            return Some((condition, Vec::new()));
        }
        if params.iter().any(|p| matches!(p.sort, Sort::String | Sort::Array(_))) {
            return None;
        }
        if params
            .iter()
            .any(|p| p.range.is_none() && takes_any_value(&self.pool, condition, p.symbol))
        {
            return None;
        }
        let mut samples = Vec::new();
        for turn in 0..SAMPLES.len() {
            let mut chosen: FxHashMap<SymbolId, TermId> = FxHashMap::default();
            for p in params {
                let value = sample(&self.pool, p, turn);
                let value = self.pool.constant(value);
                chosen.insert(p.symbol, value);
            }
            let sample = self.pool.substitute(condition, &chosen);
            let sample = Simplifier::new().simplify(&mut self.pool, sample);
            if self.pool.as_bool(sample) == Some(false) {
                return None;
            }
            if !samples.contains(&sample) {
                samples.push(sample);
            }
        }
        if let Some(corners) = self.corners(condition, params) {
            return Some((corners, samples));
        }
        let (mut bound, mut names, mut ranges) = (Vec::new(), FxHashMap::default(), Vec::new());
        for p in params {
            let b = self.pool.declare_bound(&p.name, p.sort);
            let x = self.pool.var(b);
            names.insert(p.symbol, x);
            bound.push(b);
            if let Some(range) = &p.range {
                let [low, high] = ends(p.sort, range).map(|end| self.pool.constant(end));
                ranges.push(self.pool.le(low, x));
                ranges.push(self.pool.le(x, high));
            }
        }
        let body = self.pool.substitute(condition, &names);
        let within = self.pool.and(ranges);
        let body = self.pool.implies(within, body);
        Some((self.pool.forall(&bound, body), samples))
    }

    /// The condition at the ends of the ranges of its parameters. `None` if that is not equivalent:
    /// it is for a comparison that is linear in each parameter, as that holds between two values
    /// where it holds at both.
    fn corners(&mut self, condition: TermId, params: &[&Param]) -> Option<TermId> {
        let is_comparison = matches!(self.pool.op(condition), Op::Lt | Op::Le | Op::Gt | Op::Ge);
        if !is_comparison || params.len() > MAX_PARAMETERS {
            return None;
        }
        let mut corners = vec![condition];
        for p in params {
            let range = p.range.as_ref().filter(|_| is_linear(&self.pool, condition, p.symbol))?;
            let ends = ends(p.sort, range).map(|end| self.pool.constant(end));
            let mut both = Vec::new();
            for corner in corners {
                for end in ends {
                    let there =
                        self.pool.substitute(corner, &FxHashMap::from_iter([(p.symbol, end)]));
                    both.push(there);
                }
            }
            corners = both;
        }
        let all = self.pool.and(corners);
        Some(Simplifier::new().simplify(&mut self.pool, all))
    }

    fn overlaps(&mut self, system: &System) {
        let mut by_place: FxHashMap<(Span, Span), usize> = FxHashMap::default();
        for n in system.node_ids() {
            let leaving = system.leaving(n);
            // In a composed system, both must leave the same nodes of the instances.
            let mut by_gate: FxHashMap<_, Vec<TransitionId>> = FxHashMap::default();
            for &t in leaving {
                if let Some(gate) = system.transition(t).gate {
                    by_gate.entry((gate, control_of(system, t))).or_default().push(t);
                }
            }
            let mut groups: Vec<Vec<TransitionId>> =
                by_gate.into_values().filter(|list| list.len() > 1).collect();
            groups.sort();
            for list in groups {
                for (i, &a) in list.iter().enumerate() {
                    for &b in list[i + 1..].iter().filter(|&&b| same_params(system, a, b)) {
                        self.overlap(system, &mut by_place, a, b);
                    }
                }
            }
        }
    }

    fn overlap(
        &mut self,
        system: &System,
        by_place: &mut FxHashMap<(Span, Span), usize>,
        a: TransitionId,
        b: TransitionId,
    ) {
        let (Some(first), Some(second)) = (system.transition(a).span, system.transition(b).span)
        else {
            return;
        };
        // Joint steps of several instances may have a common span.
        if first == second {
            return;
        }
        let at = by_place.entry((first, second)).or_insert(self.list.len());
        match self.list.get_mut(*at) {
            Some(LintCandidate::Overlap(pairs)) if pairs.len() < MAX_PLACES => pairs.push((a, b)),
            _ => {
                *at = self.list.len();
                self.list.push(LintCandidate::Overlap(vec![(a, b)]));
            }
        }
    }
}

/// In a composed system: the conditions on the nodes of instances in the guard of a transition.
fn control_of(system: &System, t: TransitionId) -> Vec<TermId> {
    let control =
        |g: &&Element<ChoiceTerm>| system.elements[g.id.index()].kind == ElementKind::Control;
    system.transition(t).guard.iter().filter(control).map(|g| g.term.term()).collect()
}

/// [`LintCandidates::corners`] handles at most this many parameters.
const MAX_PARAMETERS: usize = 3;

/// True if the difference of the two sides is the symbol, or its negation, plus a term without it.
/// Then some value of the symbol makes the comparison false, whatever the other values are.
fn takes_any_value(pool: &Pool, comparison: TermId, symbol: SymbolId) -> bool {
    if !matches!(pool.op(comparison), Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq) {
        return false;
    }
    let mut found = 0;
    let mut stack: Vec<TermId> = pool.args(comparison).to_vec();
    while let Some(t) = stack.pop() {
        match pool.op(t) {
            Op::Symbol(s) if s == symbol && matches!(pool.sort(t), Sort::Int | Sort::Real) => {
                found += 1
            }
            Op::Add | Op::Sub | Op::Neg | Op::ToReal => stack.extend(pool.args(t)),
            _ if pool.free_symbols(&[t]).contains(&symbol) => return false,
            _ => {}
        }
    }
    found == 1
}

/// True if both sides of a comparison are linear in a symbol; coefficients may be terms without it.
fn is_linear(pool: &Pool, comparison: TermId, symbol: SymbolId) -> bool {
    let mentions = |t: TermId| pool.free_symbols(&[t]).contains(&symbol);
    let mut stack: Vec<TermId> = pool.args(comparison).to_vec();
    while let Some(t) = stack.pop() {
        if !mentions(t) {
            continue;
        }
        match pool.op(t) {
            Op::Symbol(_) => {}
            Op::Add | Op::Sub | Op::Neg | Op::ToReal => stack.extend(pool.args(t)),
            Op::Mul if pool.args(t).iter().filter(|&&a| mentions(a)).count() == 1 => {
                stack.extend(pool.args(t))
            }
            _ => return false,
        }
    }
    true
}

/// The number of nodes or pairs of a composed system for one candidate. What is reported if it is
/// so at one place is divided into several candidates; what has to be so at all of them is not
/// decided.
const MAX_PLACES: usize = 256;

/// True for `low <= x and x <= high` with constant ends.
fn is_range_of(pool: &Pool, formula: TermId, x: SymbolId) -> bool {
    let is_x = |t: TermId| pool.as_symbol(t) == Some(x);
    let is_end = |t: TermId| pool.as_constant(t).is_some();
    let is_bound = |&t: &TermId| {
        matches!(pool.op(t), Op::Le | Op::Ge)
            && matches!(*pool.args(t), [a, b] if (is_x(a) && is_end(b)) || (is_end(a) && is_x(b)))
    };
    pool.op(formula) == Op::And && pool.args(formula).iter().all(is_bound)
}

/// The least and the greatest value of a range of numbers.
fn ends(sort: Sort, range: &Range) -> [Value; 2] {
    [&range.low, &range.high].map(|end| match sort {
        Sort::Real => Value::whole(end.clone()),
        _ => Value::Int(end.clone()),
    })
}

/// The samples for a numeric parameter without a range.
const SAMPLES: [i32; 5] = [0, 1, -1, 1_000_003, -1_000_003];

/// The sample number `turn` of a parameter: the ends of its range, else small and large values.
fn sample(pool: &Pool, p: &Param, turn: usize) -> Value {
    match (p.sort, &p.range) {
        (sort, Some(range)) => {
            let [low, high] = ends(sort, range);
            if turn == 1 { high } else { low }
        }
        (Sort::Bool, _) => Value::Bool(turn == 1),
        (Sort::Enum(e), _) => {
            let last = pool.enumeration(e).variants.len().saturating_sub(1);
            Value::Enum(e, turn.min(last) as u32)
        }
        (Sort::BitVec(width), _) => Value::bits(width, turn as u32),
        (Sort::Real, _) => Value::Real(SAMPLES[turn].into()),
        (Sort::Int, _) => Value::int(SAMPLES[turn]),
        (sort @ (Sort::String | Sort::Array(_)), _) => sort.first_value(),
    }
}

/// Divisors are cut off after this many characters.
const LONGEST: usize = 60;

fn same_params(system: &System, a: TransitionId, b: TransitionId) -> bool {
    let (a, b) = (&system.transition(a).params, &system.transition(b).params);
    a.len() == b.len() && a.iter().all(|p| b.iter().any(|q| p.name == q.name && p.sort == q.sort))
}

/// By node: true if some path of the control graph leads there, guards ignored.
fn reachable_in_graph(system: &System) -> Vec<bool> {
    let mut reached = vec![false; system.nodes.len()];
    let mut stack: Vec<NodeId> = system.starts.iter().map(|s| s.target).collect();
    while let Some(n) = stack.pop() {
        if !std::mem::replace(&mut reached[n.index()], true) {
            stack.extend(system.leaving(n).iter().map(|&t| system.transition(t).target));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::SystemBuilder;
    use crate::system::Role;
    use gander_term::parse_term;

    fn at_the_ends(condition: &str) -> Option<String> {
        let mut pool = Pool::new();
        pool.declare("x", Sort::Int).unwrap();
        let symbol = pool.declare("n", Sort::Int).unwrap();
        let term = parse_term(&mut pool, condition).unwrap();
        let range = Some(Range { low: 1.into(), high: 5.into() });
        let n = Param { name: "n".into(), sort: Sort::Int, symbol, range };
        let mut found = LintCandidates { pool, list: Vec::new(), too_large: Vec::new() };
        let corners = found.corners(term, &[&n])?;
        Some(found.pool.display(corners).to_string())
    }

    /// The number of candidates for a condition that is written once and becomes each of these, in
    /// one transition each.
    fn suspected(conditions: &[&str]) -> usize {
        let mut b = SystemBuilder::new("s", Pool::new(), &[("N", None)]).unwrap();
        b.var("x", Sort::Int, Role::State, None, None).unwrap();
        let zero = parse_term(&mut b.pool, "x == 0").unwrap();
        b.start("go", NodeId(0), &[(zero, None)], None).unwrap();
        for (i, condition) in conditions.iter().enumerate() {
            let mut draft =
                b.transition(&format!("t{i}"), None, NodeId(0), NodeId(0), None).unwrap();
            let term = parse_term(&mut b.pool, condition).unwrap();
            b.guard(&mut draft, term, Some(Span::new(1, 9))).unwrap();
            b.add(draft).unwrap();
        }
        b.finish()
            .candidates()
            .list
            .iter()
            .filter(|s| matches!(s, LintCandidate::AlwaysTrue { .. }))
            .count()
    }

    #[test]
    fn a_condition_with_a_false_case_is_no_candidate() {
        assert_eq!(suspected(&["x >= 0"]), 1);
        assert_eq!(suspected(&["x >= 0", "x <= 0", "1 < 2"]), 1);
        assert_eq!(suspected(&["x >= 0", "2 < 1"]), 0);
    }

    #[test]
    fn a_summand_without_range_makes_a_comparison_false() {
        let mut pool = Pool::new();
        let n = pool.declare("n", Sort::Int).unwrap();
        pool.declare("x", Sort::Int).unwrap();
        for (text, expected) in [
            ("n < 5", true),
            ("x - n <= 7", true),
            ("n - n < 5", false),
            ("n * n >= 0", false),
            ("x < 5", false),
        ] {
            let t = parse_term(&mut pool, text).unwrap();
            assert_eq!(takes_any_value(&pool, t, n), expected, "{text}");
        }
    }

    #[test]
    fn a_linear_condition_is_reduced_to_the_ends_of_ranges() {
        assert_eq!(at_the_ends("n > 0").as_deref(), Some("true"));
        assert_eq!(at_the_ends("n > 1").as_deref(), Some("false"));
        assert!(at_the_ends("x - n * x <= 7").is_some_and(|t| !t.contains('n')));
        for not_linear in ["n * n > 0", "n != 3", "n mod 2 < 1", "n < 3 or n > 4"] {
            assert_eq!(at_the_ends(not_linear), None, "{not_linear}");
        }
    }
}
