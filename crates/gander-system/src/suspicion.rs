//! What a lint suspects, and the claims that settle it (docs/findings.md).
//!
//! A suspicion is found by looking at the text of the system; whether it is right is a question about its runs. Each has
//! a claim, in a copy of the system, that is decided like any other: with evidence, which is checked. So a finding is
//! never a guess.
//!
//! | suspicion | claim | right if it |
//! |---|---|---|
//! | division by zero in a step | `reachable` the step with a divisor of zero | holds |
//! | division by zero in a claim | `reachable` a state with a divisor of zero | holds |
//! | a node that no run reaches | `reachable in Node` | fails |
//! | a condition that is always true | `always condition in Node` | holds |
//! | two transitions of one gate | `reachable` a step of one where the other is enabled | holds |
//! | an invariant of the author's | `always invariant in Node` | fails |
//!
//! Divisors below a quantifier, or that speak of the next state, are not looked at.

use gander_term::{Importer, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::claim::{Claim, ClaimId, ClaimKind, ClaimOrigin, Goal};
use crate::evidence::NodeFormulas;
use crate::formula::{ChoiceTerm, StateTerm};
use crate::origin::{Element, ElementId, ElementInfo, ElementKind, ElementName, Span};
use crate::system::{Effect, NodeId, Structure, System, TransitionId};

/// What may be wrong with a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Suspicion {
    /// A divisor in a step may be zero when the step is taken.
    DivisionInStep {
        /// The part of the guard or effect.
        element: ElementId,
        /// The divisor as people read it.
        divisor: String,
        /// Where it would be: transitions, and when the division matters and its divisor is zero. Several in a composed
        /// system.
        cases: Vec<(TransitionId, TermId)>,
    },
    /// A divisor in the formula of a claim may be zero.
    DivisionInClaim {
        /// The claim.
        claim: ClaimId,
        /// The divisor as people read it.
        divisor: String,
        /// When the division matters and its divisor is zero.
        case: TermId,
    },
    /// No run may reach the node.
    NeverReached(NodeId),
    /// The condition may hold whenever a run is at one of the nodes.
    AlwaysTrue {
        /// The part of the guard.
        element: ElementId,
        /// The transition; the first of several in a composed system.
        transition: TransitionId,
        /// The condition.
        condition: TermId,
        /// The nodes that the transition leaves.
        nodes: Vec<NodeId>,
    },
    /// Both transitions may be enabled at once, with the same parameters.
    Overlap(TransitionId, TransitionId),
    /// The invariant that the author gave may not be true.
    WrongHint {
        /// Where it was given.
        node: NodeId,
        /// Which.
        element: ElementId,
    },
}

/// Terms of suspicions are in this pool, a fork of the system's.
#[derive(Debug)]
pub struct Suspicions {
    pool: Pool,
    /// What is suspected.
    pub list: Vec<Suspicion>,
}

impl System {
    /// What may be wrong, judged by the text alone. Nothing is suspected of a system without a control graph that its
    /// author drew, such as a dataflow program.
    pub fn suspicions(&self) -> Suspicions {
        let mut found = Suspicions { pool: Pool::fork(&self.pool), list: Vec::new() };
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

    /// This system with a claim for each suspicion, in the same order, instead of its own. The lemmas, formulas that
    /// were proved of it, become hints beside those of the author.
    pub fn with_suspicions(&self, suspicions: Suspicions, lemmas: &[&NodeFormulas]) -> (System, Vec<Suspicion>) {
        let Suspicions { mut pool, list } = suspicions;
        let claims: Vec<Claim> = list.iter().enumerate().map(|(i, s)| self.suspicion_claim(&mut pool, i, s)).collect();
        let mut system = self.clone();
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

    fn suspicion_claim(&self, pool: &mut Pool, number: usize, suspicion: &Suspicion) -> Claim {
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
        let kind = match suspicion {
            Suspicion::DivisionInStep { cases, .. } => step(cases.clone()),
            Suspicion::DivisionInClaim { case, .. } => ClaimKind::Reachable(vec![Goal::State(StateTerm(*case))]),
            Suspicion::NeverReached(n) => {
                let here = within(&[*n], pool);
                ClaimKind::Reachable(vec![Goal::State(StateTerm(here))])
            }
            Suspicion::AlwaysTrue { condition, nodes, .. } => {
                let here = within(nodes, pool);
                ClaimKind::Always(StateTerm(pool.implies(here, *condition)))
            }
            Suspicion::Overlap(first, second) => {
                let both = self.overlap_term(pool, *first, *second);
                step(vec![(*first, both)])
            }
            Suspicion::WrongHint { node, element } => {
                let hint = self.node(*node).hints.iter().find(|h| h.id == *element);
                let formula = hint.map_or_else(|| pool.tt(), |h| h.term.term());
                let here = within(&[*node], pool);
                ClaimKind::Always(StateTerm(pool.implies(here, formula)))
            }
        };
        let name = format!("suspicion {number}");
        Claim { text: name.clone(), name, kind, origin: ClaimOrigin::Structural, span: None }
    }

    /// The guard of the second, about the parameters of the first.
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

impl Suspicions {
    /// The pool of the terms.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    fn hints(&mut self, system: &System) {
        // In a composed system an invariant is one of very many nodes: their instances answer for it.
        let drawn = system.node_ids().filter(|&n| system.node(n).span.is_some());
        for n in drawn {
            let hints = system.node(n).hints.iter();
            self.list.extend(hints.map(|h| Suspicion::WrongHint { node: n, element: h.id }));
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
                    let free = self.pool.free_symbols(&[case]);
                    let known = |s: &SymbolId| current.contains(s) || transition.params.iter().any(|p| p.symbol == *s);
                    if !free.iter().all(known) {
                        continue;
                    }
                    let divisor = self.shown(transition.name.as_str(), divisor);
                    let span = system.elements[element.index()].span;
                    let at = *by_place.entry((span, divisor.clone())).or_insert(self.list.len());
                    match self.list.get_mut(at) {
                        Some(Suspicion::DivisionInStep { cases, .. }) => cases.push((t, case)),
                        _ => {
                            let cases = vec![(t, case)];
                            self.list.push(Suspicion::DivisionInStep { element, divisor, cases });
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
                        self.list.push(Suspicion::DivisionInClaim { claim: ClaimId::from(i), divisor, case });
                    }
                }
            }
        }
    }

    /// A term as people read it: parameters without the name of their transition.
    fn shown(&self, transition: &str, t: TermId) -> String {
        self.pool.display_bounded(t, LONGEST).to_string().replace(&format!("{transition}."), "")
    }

    fn nodes(&mut self, system: &System) {
        let reached = reached_by_graph(system);
        let drawn = system.node_ids().filter(|&n| system.node(n).span.is_some() && system.nodes.len() > 1);
        self.list.extend(drawn.filter(|n| reached[n.index()]).map(Suspicion::NeverReached));
    }

    fn conditions(&mut self, system: &System) {
        let params = |t: TransitionId| system.transition(t).params.iter().map(|p| p.symbol);
        let mut by_place: FxHashMap<(Option<Span>, TermId), usize> = FxHashMap::default();
        for t in system.transition_ids() {
            let own: FxHashSet<SymbolId> = params(t).collect();
            for g in &system.transition(t).guard {
                let info = &system.elements[g.id.index()];
                let term = g.term.term();
                let free = self.pool.free_symbols(&[term]);
                if info.kind != ElementKind::Guard || free.is_empty() || free.iter().any(|s| own.contains(s)) {
                    continue;
                }
                let source = system.transition(t).source;
                let at = *by_place.entry((info.span, term)).or_insert(self.list.len());
                match self.list.get_mut(at) {
                    Some(Suspicion::AlwaysTrue { nodes, .. }) => nodes.push(source),
                    _ => self.list.push(Suspicion::AlwaysTrue {
                        element: g.id,
                        transition: t,
                        condition: term,
                        nodes: vec![source],
                    }),
                }
            }
        }
    }

    fn overlaps(&mut self, system: &System) {
        for n in system.node_ids().filter(|&n| system.node(n).span.is_some()) {
            let leaving = system.leaving(n);
            let mut by_gate: FxHashMap<_, Vec<TransitionId>> = FxHashMap::default();
            for &t in leaving {
                if let Some(gate) = system.transition(t).gate {
                    by_gate.entry(gate).or_default().push(t);
                }
            }
            let mut groups: Vec<Vec<TransitionId>> = by_gate.into_values().filter(|list| list.len() > 1).collect();
            groups.sort();
            for list in groups {
                for (i, &a) in list.iter().enumerate() {
                    let later = list[i + 1..].iter().copied();
                    self.list.extend(later.filter(|&b| same_params(system, a, b)).map(|b| Suspicion::Overlap(a, b)));
                }
            }
        }
    }
}

/// Divisors are cut off behind this many characters.
const LONGEST: usize = 60;

fn same_params(system: &System, a: TransitionId, b: TransitionId) -> bool {
    let (a, b) = (&system.transition(a).params, &system.transition(b).params);
    a.len() == b.len() && a.iter().all(|p| b.iter().any(|q| p.name == q.name && p.sort == q.sort))
}

/// By node: some path of transitions leads there, whatever the guards say.
fn reached_by_graph(system: &System) -> Vec<bool> {
    let mut reached = vec![false; system.nodes.len()];
    let mut stack: Vec<NodeId> = system.starts.iter().map(|s| s.target).collect();
    while let Some(n) = stack.pop() {
        if !std::mem::replace(&mut reached[n.index()], true) {
            stack.extend(system.leaving(n).iter().map(|&t| system.transition(t).target));
        }
    }
    reached
}

/// The divisors of a term that are no literals, each with "its value matters and it is zero".
///
/// A part of a term matters where the parts beside it do not decide the whole: behind `d != 0 and`, in the branch of an
/// `if` that is taken.
fn zero_divisors(pool: &mut Pool, root: TermId) -> Vec<(TermId, TermId)> {
    let parts = pool.postorder(&[root]);
    if !parts.iter().any(|&t| is_division(pool.op(t))) {
        return Vec::new();
    }
    let mut matters: FxHashMap<TermId, TermId> = FxHashMap::default();
    let always = pool.tt();
    matters.insert(root, always);
    let mut found: Vec<(TermId, TermId)> = Vec::new();
    for &t in parts.iter().rev() {
        let Some(&here) = matters.get(&t) else { continue };
        let args = pool.args(t).to_vec();
        let op = pool.op(t);
        if is_division(op) && pool.as_constant(args[1]).is_none() {
            let zero = match pool.sort(args[1]) {
                Sort::Real => pool.constant(Value::Real(0.into())),
                _ => pool.int(0),
            };
            let is_zero = pool.eq(args[1], zero);
            let case = pool.and([here, is_zero]);
            match found.iter_mut().find(|(d, _)| *d == args[1]) {
                Some((_, other)) => *other = pool.or([*other, case]),
                None => found.push((args[1], case)),
            }
        }
        if matches!(op, Op::Forall | Op::Exists) {
            continue;
        }
        for (i, &arg) in args.iter().enumerate() {
            let edge = edge_condition(pool, op, &args, i);
            let there = pool.and([here, edge]);
            let all = match matters.get(&arg) {
                Some(&known) => pool.or([known, there]),
                None => there,
            };
            matters.insert(arg, all);
        }
    }
    found.retain(|(_, case)| pool.as_bool(*case) != Some(false));
    found
}

fn is_division(op: Op) -> bool {
    matches!(op, Op::Div | Op::IntDiv | Op::Mod)
}

/// When the argument matters for the value of an operator.
fn edge_condition(pool: &mut Pool, op: Op, args: &[TermId], at: usize) -> TermId {
    match (op, at) {
        (Op::Ite, 1) => args[0],
        (Op::Ite, 2) => pool.not(args[0]),
        (Op::Implies, 1) => args[0],
        // Only what stands before it guards it, as it is read.
        (Op::And, _) => pool.and(args[..at].to_vec()),
        (Op::Or, _) => {
            let before: Vec<TermId> = args[..at].iter().map(|&a| pool.not(a)).collect();
            pool.and(before)
        }
        _ => pool.tt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::account;

    fn cases(formula: &str) -> Vec<(String, String)> {
        let mut m = account();
        m.always(formula);
        let s = m.finish();
        let found = s.suspicions();
        found
            .list
            .iter()
            .filter_map(|f| match f {
                Suspicion::DivisionInClaim { divisor, case, .. } => {
                    Some((divisor.clone(), found.pool().display(*case).to_string()))
                }
                _ => None,
            })
            .collect()
    }

    fn pair(a: &str, b: &str) -> (String, String) {
        (a.to_string(), b.to_string())
    }

    #[test]
    fn a_divisor_counts_where_it_matters() {
        assert_eq!(cases("100 div balance > 1"), [pair("balance", "balance == 0")]);
        assert_eq!(cases("100 div 7 > 1"), []);
        assert_eq!(cases("balance != 0 and 100 div balance > 1"), [pair("balance", "balance != 0 and balance == 0")]);
        assert_eq!(cases("(if fee > 0 then balance mod fee else 0) >= 0"), [pair("fee", "fee > 0 and fee == 0")]);
        assert_eq!(cases("forall k: int. 1 div k >= 0"), []);
    }
}
