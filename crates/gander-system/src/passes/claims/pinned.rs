//! Claims whose meaning does not change when elements are removed.
//!
//! A validity core is the set of elements that a claim rests on: elements are removed, which adds
//! runs. This is well-defined if the meaning of the claim does not change, and if more runs can
//! only make it fail. *Always P* is such a claim. Claims about guards and effects are restated here
//! so that they have this property (docs/semantics.md, validity cores). Every element of the new
//! system has its element of the old one as its origin; elements without an origin are *pinned*,
//! that is, not removed.
//!
//! | claim | becomes | pinned |
//! |---|---|---|
//! | steps and chains of goals that no run meets | the chain system ([`chain`]) | nothing |
//! | t is never enabled | `@trap` is unreachable: a new node that a copy of t without effect enters | nothing |
//! | start s has no state | always false, in the system with the start s only | nothing |
//! | t can be completed | `@trap` is unreachable: a copy of t enters it where the effect has no solution | guard and effect of that copy |
//! | no sinkhole, no deadlock | always: some guard holds; some step can be completed | these formulas |
//! | about maximal runs | the same; where the old system is stuck, a run may go to a copy of the node and end there | when a run is stuck; with fairness constraints, their transitions and the assumptions |
//!
//! *Always possible P* has no such form: more runs can make it true or false.

use std::fmt;

use gander_term::{Importer, Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::builder::BuildError;
use crate::claim::{Claim, ClaimId, ClaimKind, ClaimOrigin, FairnessKind, Goal};
use crate::evidence::{Evidence, NodeFormulas};
use crate::formula::StateTerm;
use crate::origin::ElementId;
use crate::passes::copying::{ClaimCopy, Copying, ParamSymbols, Placement, rename};
use crate::passes::relocate::Relocation;
use crate::passes::{ChainError, DecidingRuns, Restore, chain};
use crate::system::{Effect, NodeId, StartId, System, TransitionId};

/// Returns a formula equivalent to `exists symbols. formula`, without a quantifier if possible.
pub type Eliminate<'e> = &'e mut dyn FnMut(&mut Pool, &[SymbolId], TermId) -> TermId;

/// Why a claim cannot be pinned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PinError {
    /// More runs can make it true or false.
    NotMonotone,
    /// There is no such claim.
    NoClaim,
    /// Names clash.
    Build(BuildError),
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PinError::NotMonotone => write!(f, "more runs can make it true as well as false"),
            PinError::NoClaim => write!(f, "there is no such claim"),
            PinError::Build(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for PinError {}

impl From<BuildError> for PinError {
    fn from(e: BuildError) -> PinError {
        PinError::Build(e)
    }
}

/// How evidence about the old claim relates to the new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EvidenceMapping {
    /// Unchanged.
    AsItIs,
    /// It is the evidence inside of [`Evidence::OfChain`].
    FromChain,
    /// Formulas of old nodes, and `false` at the new ones.
    NewNodesUnreachable,
    /// A refutation is the invariant `false`.
    Refuted,
    /// Not at all.
    Nothing,
}

/// A system with one pinned claim.
#[derive(Clone, Debug)]
pub struct Pinned {
    /// The system; its only claim is the first.
    pub system: System,
    /// In words: what of the model is part of the claim and never removed; `None` if nothing is.
    pub note: Option<&'static str>,
    origins: Vec<Option<ElementId>>,
    carry: EvidenceMapping,
}

const GUARDS: &str =
    "what the claim itself says of guards is that of the model as written, whatever is removed";
const STEPS: &str = "what the claim itself says of guards and effects is that of the model as written, whatever is removed";
const ENDS: &str = "where runs end is read off the model as written, whatever is removed";
const FAIR: &str = "where runs end, and what they are fair to, is read off the model as written; assumptions and transitions with \
                    fairness count as part of the claim";

/// The claim `of`, pinned. The same arguments always give the same system.
pub fn pinned(system: &System, of: ClaimId, eliminate: Eliminate<'_>) -> Result<Pinned, PinError> {
    let claim = system.claims.get(of.index()).ok_or(PinError::NoClaim)?;
    match &claim.kind {
        ClaimKind::Always(_) => Ok(unchanged(system, claim.clone())),
        ClaimKind::Reachable(goals) => match &goals[..] {
            [Goal::State(_)] => Ok(unchanged(system, claim.clone())),
            _ => of_chain(system, of, goals.len()),
        },
        ClaimKind::CanEnable(t) => trap(system, claim, *t, None),
        ClaimKind::Completable(t) => {
            let mut pool = Pool::fork(&system.pool);
            let (open, effect) = effect_formula(&mut pool, system, *t);
            let some = eliminate(&mut pool, &open, effect);
            let none = pool.not(some);
            trap(system, claim, *t, Some((&pool, none)))
        }
        ClaimKind::NoSinkhole(n) => {
            let mut pool = Pool::fork(&system.pool);
            let mut ways = Vec::new();
            for &t in system.leaving(*n) {
                let guard = system.guard_term(&mut pool, t);
                let params: Vec<SymbolId> =
                    system.transition(t).params.iter().map(|p| p.symbol).collect();
                ways.push(eliminate(&mut pool, &params, guard));
            }
            let some = pool.or(ways);
            let formula = at_node(system, &mut pool, *n, some);
            Ok(always(system, claim, pool, formula, GUARDS))
        }
        ClaimKind::NoDeadlock => {
            let mut pool = Pool::fork(&system.pool);
            let mut parts = Vec::new();
            for n in system.node_ids().filter(|&n| !system.node(n).is_final) {
                let some = some_step(&mut pool, system, n, eliminate);
                parts.push(at_node(system, &mut pool, n, some));
            }
            let formula = pool.and(parts);
            Ok(always(system, claim, pool, formula, STEPS))
        }
        ClaimKind::StartSatisfiable(s) => alone(system, claim, *s),
        ClaimKind::AlwaysPossible(_) => Err(PinError::NotMonotone),
        ClaimKind::InfiniteRun
        | ClaimKind::ExistsAlways(_)
        | ClaimKind::Eventually { .. }
        | ClaimKind::AlwaysEventually { .. }
        | ClaimKind::LeadsTo { .. } => about_runs(system, claim, eliminate),
    }
}

impl Pinned {
    /// The old element of an element; `None` if it must not be removed.
    pub fn element(&self, e: ElementId) -> Option<ElementId> {
        self.origins.get(e.index()).copied().flatten()
    }

    /// Evidence about the old claim as evidence about this one; `None` if it does not carry over.
    pub fn evidence(&self, old: &Evidence) -> Option<Evidence> {
        match (self.carry, old) {
            (EvidenceMapping::AsItIs, old) => Some(old.clone()),
            (EvidenceMapping::FromChain, Evidence::OfChain(inner)) => Some((**inner).clone()),
            (EvidenceMapping::NewNodesUnreachable, Evidence::Invariant(old)) => {
                self.padded(old).map(Evidence::Invariant)
            }
            (EvidenceMapping::Refuted, _) => {
                let mut pool = Pool::fork(&self.system.pool);
                let by_node = vec![pool.ff(); self.system.nodes.len()];
                Some(Evidence::Invariant(NodeFormulas {
                    pool: pool.freeze(),
                    by_node: by_node.into(),
                }))
            }
            _ => None,
        }
    }

    /// Evidence whose formulas may be useful candidates; it need not be right for this claim.
    pub fn hint(&self, old: &Evidence) -> Option<Evidence> {
        match (self.carry, old) {
            (
                EvidenceMapping::NewNodesUnreachable,
                Evidence::KInductive { k, invariant, loop_free, no_restart },
            ) => {
                let invariant = self.padded(invariant)?;
                let (loop_free, no_restart) = (*loop_free, *no_restart);
                Some(Evidence::KInductive {
                    k: k.saturating_add(1),
                    invariant,
                    loop_free,
                    no_restart,
                })
            }
            _ => self.evidence(old),
        }
    }

    /// The formulas of the old nodes, which come first, and `false` at the new ones.
    fn padded(&self, old: &NodeFormulas) -> Option<NodeFormulas> {
        let mut pool = Pool::fork(&self.system.pool);
        let mut importer = Importer::new();
        let terms: Result<Vec<TermId>, _> =
            old.by_node.iter().map(|&t| importer.import(&mut pool, &old.pool, t)).collect();
        let mut by_node = terms.ok()?;
        by_node.resize(self.system.nodes.len(), pool.ff());
        Some(NodeFormulas { pool: pool.freeze(), by_node: by_node.into() })
    }
}

/// Every element is its own origin.
fn identity(system: &System) -> Vec<Option<ElementId>> {
    (0..system.elements.len()).map(|i| Some(ElementId(i as u32))).collect()
}

fn unchanged(system: &System, claim: Claim) -> Pinned {
    let system = System { claims: vec![claim], ..system.clone() };
    Pinned { origins: identity(&system), system, note: None, carry: EvidenceMapping::AsItIs }
}

/// The same system with the claim *always formula*.
fn always(
    system: &System,
    claim: &Claim,
    pool: Pool,
    formula: TermId,
    note: &'static str,
) -> Pinned {
    let claim = Claim { kind: ClaimKind::Always(StateTerm(formula)), ..claim.clone() };
    let system = System { pool: pool.freeze(), claims: vec![claim], ..system.clone() };
    Pinned { origins: identity(&system), system, note: Some(note), carry: EvidenceMapping::AsItIs }
}

fn of_chain(system: &System, of: ClaimId, goals: usize) -> Result<Pinned, PinError> {
    let made = chain(system, of).map_err(|e| match e {
        ChainError::NotAChain => PinError::NoClaim,
        ChainError::Build(e) => PinError::Build(e),
    })?;
    let origins =
        (0..made.system.elements.len()).map(|i| made.element(ElementId(i as u32))).collect();
    // For a single step goal an invariant carries over: the last stage is unreachable.
    let carry =
        if goals == 1 { EvidenceMapping::NewNodesUnreachable } else { EvidenceMapping::FromChain };
    Ok(Pinned { system: made.system, note: None, origins, carry })
}

/// `@node == n -> formula`
fn at_node(system: &System, pool: &mut Pool, n: NodeId, formula: TermId) -> TermId {
    let (place, here) = (pool.var(system.location), system.node_constant(pool, n));
    let here = pool.eq(place, here);
    pool.implies(here, formula)
}

/// The open next values of a transition, and the formula of its effect; assumptions about the next
/// state are not included.
fn effect_formula(pool: &mut Pool, system: &System, id: TransitionId) -> (Vec<SymbolId>, TermId) {
    let (next, relations) = next_values(pool, system, id);
    let open = system.vars.iter().filter(|v| !next.contains_key(&v.next)).map(|v| v.next).collect();
    let effect = pool.and(relations);
    (open, pool.substitute(effect, &next))
}

fn next_values(
    pool: &mut Pool,
    system: &System,
    id: TransitionId,
) -> (FxHashMap<SymbolId, TermId>, Vec<TermId>) {
    let mut next = FxHashMap::default();
    let mut relations = Vec::new();
    for e in &system.transition(id).effect {
        match *e {
            Effect::Assign { var, value, .. } => {
                next.insert(system.var(var).next, value.term());
            }
            Effect::Keep { var, .. } => {
                next.insert(system.var(var).next, pool.var(system.var(var).current));
            }
            Effect::Constrain { relation, .. } => relations.push(relation.term()),
        }
    }
    (next, relations)
}

/// The formula that some step leaves a state at the node.
fn some_step(pool: &mut Pool, system: &System, n: NodeId, eliminate: Eliminate<'_>) -> TermId {
    let mut ways = Vec::new();
    for &t in system.leaving(n) {
        let transition = system.transition(t);
        let (next, mut parts) = next_values(pool, system, t);
        parts.extend(transition.guard.iter().map(|g| g.term.term()));
        let there: FxHashMap<SymbolId, TermId> =
            system.vars.iter().map(|v| (v.current, pool.var(v.next))).collect();
        let admissible = system.assumption_term(pool, transition.target);
        parts.push(pool.substitute(admissible, &there));
        let step = pool.and(parts);
        let step = pool.substitute(step, &next);
        let mut open: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
        open.extend(system.vars.iter().map(|v| v.next).filter(|s| !next.contains_key(s)));
        ways.push(eliminate(pool, &open, step));
    }
    pool.or(ways)
}

/// A copy of a system with further nodes after the old ones.
struct Work<'a> {
    copy: Copying<'a>,
    /// By new node: the old one.
    nodes: Vec<NodeId>,
}

impl<'a> Work<'a> {
    fn new(system: &'a System, more: &[(String, NodeId)]) -> Result<Work<'a>, BuildError> {
        let mut nodes: Vec<(&str, _)> =
            system.nodes.iter().map(|n| (n.name.as_str(), n.span)).collect();
        nodes.extend(more.iter().map(|(name, _)| (name.as_str(), None)));
        let mut copy = Copying::new(system, &nodes)?;
        copy.copy_vars(|_| true)?;
        let nodes = system.node_ids().chain(more.iter().map(|m| m.1)).collect();
        Ok(Work { copy, nodes })
    }

    /// Rewrites formulas about nodes: a new node counts as the old one that it is a copy of.
    fn relocation(&self) -> Relocation<impl FnMut(&mut Pool, NodeId) -> TermId + use<'a>> {
        let (location, nodes) = (self.copy.to.so_far().location, self.nodes.clone());
        Relocation::new(self.copy.from, move |pool: &mut Pool, old: NodeId| {
            let places = (0..nodes.len()).filter(|&i| nodes[i] == old);
            let parts: Vec<TermId> =
                places.map(|i| is_at(pool, location, NodeId::from(i))).collect();
            pool.or(parts)
        })
    }

    /// Copies everything but claims and fairness.
    fn copy_all(&mut self) -> Result<(), BuildError> {
        let system = self.copy.from;
        let mut relocation = self.relocation();
        self.copy.copy_assumptions(|pool, t| relocation.apply(pool, t))?;
        for (i, &old) in self.nodes.clone().iter().enumerate() {
            if system.node(old).is_final {
                self.copy.to.set_final(NodeId::from(i));
            }
        }
        for (i, s) in system.starts.iter().enumerate() {
            self.copy.copy_start(StartId::from(i), s.target, |_, t| t)?;
        }
        for t in system.transition_ids() {
            let old = system.transition(t);
            let symbols = ParamSymbols::Same;
            let at = Placement { name: &old.name, source: old.source, target: old.target, symbols };
            let (mut draft, mut renaming) = self.copy.begin(t, &at, |_, t| t)?;
            self.copy.copy_effect(t, &mut draft, &mut renaming, |_, t| t)?;
            if old.causal {
                self.copy.to.set_causal(&mut draft);
            }
            self.copy.end(draft)?;
        }
        Ok(())
    }

    fn finish(self, note: Option<&'static str>, carry: EvidenceMapping) -> Pinned {
        Pinned { origins: self.copy.origins, system: self.copy.to.finish(), note, carry }
    }
}

fn is_at(pool: &mut Pool, location: SymbolId, n: NodeId) -> TermId {
    let gander_term::Sort::Enum(sort) = pool.symbol(location).sort else {
        unreachable!("a location is of an enum")
    };
    let (place, here) = (pool.var(location), pool.constant(gander_term::Value::Enum(sort, n.0)));
    pool.eq(place, here)
}

/// Adds the node `@trap` and a copy of the transition that enters it without changing a variable,
/// where the guard and `also` hold. With `also` the guard of the copy is pinned.
fn trap(
    system: &System,
    claim: &Claim,
    t: TransitionId,
    also: Option<(&Pool, TermId)>,
) -> Result<Pinned, PinError> {
    let old = system.transition(t);
    let mut work = Work::new(system, &[("@trap".to_string(), old.source)])?;
    work.copy_all()?;
    let trap = NodeId::from(system.nodes.len());
    let copy = &mut work.copy;
    let before = copy.origins.len();
    let at =
        Placement { name: "@trap", source: old.source, target: trap, symbols: ParamSymbols::Fresh };
    let (mut draft, mut renaming) = copy.begin(t, &at, |_, t| t)?;
    if let Some((pool, formula)) = also {
        let imported = Importer::new().import(&mut copy.to.pool, pool, formula);
        let formula = imported.map_err(|_| PinError::NoClaim)?;
        let formula = rename(&mut renaming, &mut copy.to.pool, formula);
        copy.to.guard(&mut draft, formula, None)?;
        copy.came_from(None);
        copy.origins[before..].fill(None);
    }
    for v in copy.vars.clone().into_iter().flatten() {
        copy.to.keep(&mut draft, v);
    }
    copy.end(draft)?;
    let location = copy.to.so_far().location;
    let there = is_at(&mut copy.to.pool, location, trap);
    let kind = match claim.kind {
        ClaimKind::Completable(_) => {
            let never = copy.to.pool.not(there);
            ClaimKind::Always(copy.to.state_formula(never, "the trap")?)
        }
        _ => ClaimKind::Reachable(vec![Goal::State(copy.to.state_formula(there, "the trap")?)]),
    };
    copy.to.claim(&claim.name, kind, ClaimOrigin::Written, &claim.text, claim.span)?;
    Ok(work.finish(also.map(|_| STEPS), EvidenceMapping::NewNodesUnreachable))
}

/// The system with this start only and the claim *always false*.
fn alone(system: &System, claim: &Claim, s: StartId) -> Result<Pinned, PinError> {
    let mut work = Work::new(system, &[])?;
    let mut relocation = work.relocation();
    let copy = &mut work.copy;
    copy.copy_assumptions(|pool, t| relocation.apply(pool, t))?;
    copy.copy_start(s, system.starts[s.index()].target, |_, t| t)?;
    let never = copy.to.pool.ff();
    let kind = ClaimKind::Always(copy.to.state_formula(never, "no start")?);
    copy.to.claim(&claim.name, kind, ClaimOrigin::Written, &claim.text, claim.span)?;
    Ok(work.finish(None, EvidenceMapping::Refuted))
}

/// A claim about maximal runs: where they end, and what they are fair to, is pinned.
fn about_runs(
    system: &System,
    claim: &Claim,
    eliminate: Eliminate<'_>,
) -> Result<Pinned, PinError> {
    let asked = DecidingRuns::of(&claim.kind).ok_or(PinError::NotMonotone)?;
    let mut pool = Pool::fork(&system.pool);
    let mut stuck: Vec<(NodeId, TermId)> = Vec::new();
    for n in system.node_ids().filter(|_| asked.finite) {
        let some = some_step(&mut pool, system, n, eliminate);
        if pool.as_bool(some) != Some(true) {
            stuck.push((n, pool.not(some)));
        }
    }
    let fair: Vec<TransitionId> =
        asked.under.iter().flat_map(|f| transitions_of(&system.fairness[f.index()].kind)).collect();
    if stuck.is_empty() && fair.is_empty() {
        let kept = System { claims: vec![claim.clone()], ..system.clone() };
        return Ok(Pinned {
            origins: identity(system),
            system: kept,
            note: None,
            carry: EvidenceMapping::AsItIs,
        });
    }
    let more: Vec<(String, NodeId)> =
        stuck.iter().map(|&(n, _)| (format!("{}/stuck", system.node(n).name), n)).collect();
    let mut work = Work::new(system, &more)?;
    work.copy_all()?;
    let mut relocation = work.relocation();
    let copy = &mut work.copy;
    let mut importer = Importer::new();
    for (i, &(n, formula)) in stuck.iter().enumerate() {
        let target = NodeId::from(system.nodes.len() + i);
        let name = format!("@stuck {}", system.node(n).name);
        let mut draft = copy.to.transition(&name, None, n, target, None)?;
        let formula =
            importer.import(&mut copy.to.pool, &pool, formula).map_err(|_| PinError::NoClaim)?;
        copy.to.guard(&mut draft, formula, None)?;
        for v in copy.vars.clone().into_iter().flatten() {
            copy.to.keep(&mut draft, v);
        }
        copy.end(draft)?;
    }
    let transitions: Vec<Option<TransitionId>> = system.transition_ids().map(Some).collect();
    let mut fairness = Vec::new();
    for i in 0..system.fairness.len() {
        let wanted = asked.under.iter().find(|f| f.index() == i);
        let mut rewrite = |pool: &mut Pool, t: TermId| relocation.apply(pool, t);
        fairness.push(match wanted {
            Some(&f) => Some(copy.copy_fairness(f, &mut rewrite, &transitions)?),
            None => None,
        });
    }
    let mut state = |pool: &mut Pool, t: TermId| relocation.apply(pool, t);
    let mut step = |_: &mut Pool, t: TermId| t;
    let mut with = ClaimCopy {
        state: &mut state,
        step: &mut step,
        transitions: &transitions,
        fairness: &fairness,
    };
    let kind = copy.copy_kind(&claim.kind, &mut with)?;
    copy.to.claim(&claim.name, kind, ClaimOrigin::Written, &claim.text, claim.span)?;
    let mut made =
        work.finish(Some(if fair.is_empty() { ENDS } else { FAIR }), EvidenceMapping::Nothing);
    if !fair.is_empty() {
        pin_fair(&mut made, &fair);
    }
    Ok(made)
}

/// The transitions of a fairness constraint.
fn transitions_of(kind: &FairnessKind) -> Vec<TransitionId> {
    match kind {
        FairnessKind::Justice(_) => Vec::new(),
        FairnessKind::Weak(list) | FairnessKind::Strong(list) => list.clone(),
    }
}

/// Pins the transitions and the assumptions, so that in every relaxation the same steps of these
/// transitions can be completed.
fn pin_fair(made: &mut Pinned, fair: &[TransitionId]) {
    let mut fixed: Vec<ElementId> = made.system.assumptions.iter().map(|a| a.id).collect();
    for &t in fair {
        let t = made.system.transition(t);
        fixed.extend(t.guard.iter().map(|g| g.id));
        fixed.extend(t.effect.iter().map(|e| match *e {
            Effect::Assign { id, .. } | Effect::Constrain { id, .. } | Effect::Keep { id, .. } => {
                id
            }
        }));
    }
    for e in fixed {
        made.origins[e.index()] = None;
    }
}
