//! Structural claims: added to every control graph (docs/semantics.md, section 3).
//!
//! | claim | for |
//! |---|---|
//! | `can enable t` | every transition; in a composed system, every transition of an instance |
//! | `no sinkhole n` | every node that is not final and has a leaving transition; in a composed system, every such node of an instance |
//! | `satisfiable start s` | every start |
//! | `completable t` | every transition whose effect has a constraint, unless it is causal |
//!
//! A dataflow program (one with streams) has no control graph of its author. If it has assertions,
//! assumptions or cyclic equations, it gets the claim `a run exists`: without a run all other
//! claims hold vacuously. In a file with several roots the name of the root is in front of it:
//! `top.a run exists`. A script has rules and no graph ([`Structure::Undrawn`]); it gets `a run
//! exists` too. A file of another tool ([`Structure::Foreign`]) gets no structural claims.
//!
//! Front-ends name unnamed starts `start`, `start 2` and so on; their claims are `satisfiable
//! start`, `satisfiable start 2`.

use gander_term::{Pool, TermId};
use rustc_hash::FxHashSet;

use crate::claim::{Claim, ClaimId, ClaimKind, ClaimOrigin, Goal};
use crate::formula::{ChoiceTerm, StateTerm};
use crate::origin::Span;
use crate::passes::enabled_when;
use crate::system::{Effect, Move, NodeId, StartId, Structure, System, TransitionId};

impl System {
    /// This system with its structural claims after the written ones.
    ///
    /// A structural claim that exists already, written or from an earlier call, is not added again.
    /// A number is appended to a name that another claim has.
    pub fn with_structural_claims(&self) -> System {
        self.clone().and_structural_claims()
    }

    /// The same without a copy of the system.
    pub fn and_structural_claims(mut self) -> System {
        let mut adding = Adding::to(&self.claims);
        if self.structure == Structure::Foreign {
            return self;
        }
        if self.structure == Structure::Undrawn || self.vars.iter().any(|v| v.stream.is_some()) {
            // One of several starts is enough, and no claim of this kind says that.
            if self.starts.len() > 1 && self.structure == Structure::Undrawn {
                return self;
            }
            let constrained = !self.certainly_has_a_run();
            for (i, s) in self.starts.iter().enumerate().filter(|_| constrained) {
                let kind = ClaimKind::StartSatisfiable(StartId::from(i));
                adding.claim(&self.run_words(), "exists", kind, s.span);
            }
            let added = adding.finish();
            self.claims.extend(added);
            return self;
        }
        // With a start named `2`, the claim `satisfiable start 2` would be ambiguous.
        let numbers = self.starts.iter().any(|s| is_number(&s.name));
        for (i, s) in self.starts.iter().enumerate() {
            let words =
                if is_unnamed(&s.name) && !numbers { "satisfiable" } else { "satisfiable start" };
            adding.claim(words, &s.name, ClaimKind::StartSatisfiable(StartId::from(i)), s.span);
        }
        for (i, t) in self.transitions.iter().enumerate() {
            let id = TransitionId::from(i);
            if self.instances.is_empty() {
                adding.claim("can enable", &t.name, ClaimKind::CanEnable(id), t.span);
            }
            if !t.causal && t.effect.iter().any(|e| matches!(e, Effect::Constrain { .. })) {
                adding.claim("completable", &t.name, ClaimKind::Completable(id), t.span);
            }
        }
        if self.instances.is_empty() {
            for (i, n) in self.nodes.iter().enumerate() {
                let id = NodeId::from(i);
                if n.is_final || self.leaving(id).is_empty() {
                    continue;
                }
                match self.final_condition {
                    None => {
                        adding.claim("no sinkhole", &n.name, ClaimKind::NoSinkhole(id), n.span);
                    }
                    Some(ends) => {
                        let mut pool = Pool::fork(&self.pool);
                        let here = self.node_constant(&mut pool, id);
                        let location = pool.var(self.location);
                        let here = pool.eq(location, here);
                        let some = self.some_enabled(&mut pool);
                        let kind = sinkhole_claim(&mut pool, here, Some(ends), some);
                        self.pool = pool.freeze();
                        adding.claim("no sinkhole", &n.name, kind, n.span);
                    }
                }
            }
        } else {
            let mut pool = Pool::fork(&self.pool);
            self.claims_of_instances(&mut pool, &mut adding);
            let added = adding.finish();
            self.pool = pool.freeze();
            self.claims.extend(added);
            return self;
        }
        let added = adding.finish();
        self.claims.extend(added);
        self
    }

    /// The claims of a composed system about the control graphs of its instances.
    fn claims_of_instances(&self, pool: &mut Pool, adding: &mut Adding<'_>) {
        let some = self.some_enabled(pool);
        let always = pool.tt();
        for instance in &self.instances {
            for t in &instance.transitions {
                let name = format!("{}.{}", instance.name, t.name);
                let kind = match t.moves[..] {
                    [] => {
                        let never = StateTerm(pool.ff());
                        ClaimKind::Reachable(vec![Goal::State(never)])
                    }
                    [Move { transition, condition: None, .. }] => ClaimKind::CanEnable(transition),
                    _ if t.moves.iter().all(|m| self.can_complete(m.transition)) => {
                        let choice =
                            |m: &Move| (m.transition, m.condition.unwrap_or(ChoiceTerm(always)));
                        let choices = t.moves.iter().map(choice).collect();
                        ClaimKind::Reachable(vec![Goal::Step { gate: None, choices }])
                    }
                    _ => {
                        let enabled = t.moves.iter().map(|m| {
                            let condition = m.condition.map(|c| c.term());
                            enabled_when(pool, self.transition(m.transition), condition)
                        });
                        let enabled: Vec<TermId> = enabled.collect();
                        let enabled = StateTerm(pool.or(enabled));
                        ClaimKind::Reachable(vec![Goal::State(enabled)])
                    }
                };
                adding.claim("can enable", &name, kind, t.span);
            }
            // That some instance can move is no property of all of them: see the semantics.
            if !self.sizes.is_empty() {
                continue;
            }
            for (i, n) in instance.nodes.iter().enumerate() {
                let leaves = instance.transitions.iter().any(|t| t.source == i);
                if n.is_final || self.nodes[0].is_final || !leaves {
                    continue;
                }
                let name = format!("{}.{}", instance.name, n.name);
                let kind = sinkhole_claim(pool, n.at.term(), self.final_condition, some);
                adding.claim("no sinkhole", &name, kind, n.span);
                if let Some(claim) = adding.claims.last_mut() {
                    let place = format!("{} at {}", instance.name, n.name);
                    claim.text = format!("some transition is enabled with {place}");
                }
            }
        }
    }

    /// True if every step of the transition can be completed where its guard holds.
    fn can_complete(&self, t: TransitionId) -> bool {
        let t = self.transition(t);
        self.assumptions.is_empty()
            && (t.causal || !t.effect.iter().any(|e| matches!(e, Effect::Constrain { .. })))
    }

    /// The formula that some transition is enabled.
    fn some_enabled(&self, pool: &mut Pool) -> TermId {
        let all: Vec<TermId> = self
            .transitions
            .iter()
            .map(|t| {
                let enabled = enabled_when(pool, t, None);
                let here = self.node_constant(pool, t.source);
                let location = pool.var(self.location);
                let here = if self.nodes.len() > 1 { pool.eq(location, here) } else { pool.tt() };
                pool.and([here, enabled])
            })
            .collect();
        pool.or(all)
    }

    /// True for dataflow programs with acyclic equations and without assumptions: nothing restricts
    /// their runs.
    pub fn certainly_has_a_run(&self) -> bool {
        self.structure == Structure::Drawn
            && self.vars.iter().any(|v| v.stream.is_some())
            && self.assumptions.is_empty()
            && self.transitions.iter().all(|t| t.causal)
    }

    /// What the claim that a run exists is about: a run, of the root if the file has several (their
    /// starts are named after them).
    fn run_words(&self) -> String {
        match &self.starts[..] {
            [s] if !is_unnamed(&s.name) && self.vars.iter().any(|v| v.stream.is_some()) => {
                format!("{}.a run", s.name)
            }
            _ => "a run".to_string(),
        }
    }

    /// This system with a claim that holds iff it has a run, and that claim. With one start and no
    /// entry it is that the start is satisfiable, which may exist already; otherwise it is that
    /// some state is reachable, other than at the entry.
    pub fn and_run_claim(mut self) -> (System, ClaimId) {
        let kind = match (self.starts.len(), self.entry) {
            (1, None) => ClaimKind::StartSatisfiable(StartId::from(0)),
            (_, entry) => {
                let mut pool = Pool::fork(&self.pool);
                let somewhere = match entry {
                    None => pool.tt(),
                    Some(entry) => {
                        let (here, there) =
                            (pool.var(self.location), self.node_constant(&mut pool, entry));
                        pool.ne(here, there)
                    }
                };
                self.pool = pool.freeze();
                ClaimKind::Reachable(vec![Goal::State(StateTerm(somewhere))])
            }
        };
        let structural = |c: &Claim| c.origin == ClaimOrigin::Structural && c.kind == kind;
        if let Some(at) = self.claims.iter().position(structural) {
            return (self, ClaimId::from(at));
        }
        let span = self.starts.first().and_then(|s| s.span);
        let mut adding = Adding { present: FxHashSet::default(), ..Adding::to(&self.claims) };
        adding.claim(&self.run_words(), "exists", kind, span);
        let added = adding.finish();
        self.claims.extend(added);
        let id = ClaimId::from(self.claims.len() - 1);
        (self, id)
    }
}

/// True if the claim says that a run exists.
pub fn is_run_claim(claim: &Claim) -> bool {
    let name = claim.name.as_str();
    claim.origin == ClaimOrigin::Structural
        && (name == RUN_EXISTS || name.strip_suffix(RUN_EXISTS).is_some_and(|s| s.ends_with('.')))
}

/// The name of the claim that a run exists.
const RUN_EXISTS: &str = "a run exists";

/// The claim that where `here` holds some transition is enabled, or a run may end.
fn sinkhole_claim(
    pool: &mut Pool,
    here: TermId,
    may_end: Option<StateTerm>,
    some_enabled: TermId,
) -> ClaimKind {
    let elsewhere = pool.not(here);
    let formula = pool.or([elsewhere, some_enabled].into_iter().chain(may_end.map(|f| f.term())));
    ClaimKind::Always(StateTerm(formula))
}

/// True for the names that front-ends give to unnamed starts.
fn is_unnamed(start: &str) -> bool {
    match start.strip_prefix("start") {
        Some("") => true,
        Some(rest) => rest.strip_prefix(' ').is_some_and(is_number),
        None => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The subject of a structural claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum About {
    Enable(TransitionId),
    Sinkhole(NodeId),
    Start(StartId),
    Complete(TransitionId),
}

impl About {
    fn of(kind: &ClaimKind) -> Option<About> {
        match *kind {
            ClaimKind::CanEnable(t) => Some(About::Enable(t)),
            ClaimKind::NoSinkhole(n) => Some(About::Sinkhole(n)),
            ClaimKind::StartSatisfiable(s) => Some(About::Start(s)),
            ClaimKind::Completable(t) => Some(About::Complete(t)),
            _ => None,
        }
    }
}

/// Collects structural claims. Their names differ from each other, as their subjects do; only
/// clashes with existing claims are resolved.
struct Adding<'a> {
    names: FxHashSet<&'a str>,
    present: FxHashSet<About>,
    claims: Vec<Claim>,
    /// Positions in `claims` of those with a name of an existing claim.
    clashing: Vec<usize>,
}

impl<'a> Adding<'a> {
    fn to(claims: &'a [Claim]) -> Adding<'a> {
        Adding {
            names: claims.iter().map(|c| c.name.as_str()).collect(),
            present: claims.iter().filter_map(|c| About::of(&c.kind)).collect(),
            claims: Vec::new(),
            clashing: Vec::new(),
        }
    }

    fn claim(&mut self, words: &str, subject: &str, kind: ClaimKind, span: Option<Span>) {
        if !self.present.is_empty()
            && About::of(&kind).is_some_and(|about| self.present.contains(&about))
        {
            return;
        }
        let name = format!("{words} {subject}");
        if self.names.contains(name.as_str()) {
            self.clashing.push(self.claims.len());
        }
        self.claims.push(Claim {
            text: name.clone(),
            name,
            kind,
            origin: ClaimOrigin::Structural,
            span,
        });
    }

    fn finish(mut self) -> Vec<Claim> {
        if self.clashing.is_empty() {
            return self.claims;
        }
        let mut taken: FxHashSet<String> = self.claims.iter().map(|c| c.name.clone()).collect();
        taken.extend(self.names.iter().map(|n| n.to_string()));
        for i in self.clashing {
            let stem = self.claims[i].name.clone();
            let mut n = 2;
            let mut name = format!("{stem} ({n})");
            while !taken.insert(name.clone()) {
                n += 1;
                name = format!("{stem} ({n})");
            }
            self.claims[i].name = name;
        }
        self.claims
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Role, SystemBuilder};
    use gander_term::Sort;

    /// Nodes Open (leaving: deposit, freeze), Frozen (nothing leaves), Closed (final); freeze has a
    /// constraint.
    fn account() -> SystemBuilder {
        let nodes = [("Open", None), ("Frozen", None), ("Closed", None)];
        let mut b = SystemBuilder::new("Account", Pool::new(), &nodes).unwrap();
        let (open, frozen, closed) = (NodeId(0), NodeId(1), NodeId(2));
        b.set_final(closed);
        let x = b.var("x", Sort::Int, Role::State, None, None).unwrap();
        b.start("start", open, &[], None).unwrap();
        let gate = b.gate("deposit");
        let mut t = b.transition("Open.deposit", Some(gate), open, open, None).unwrap();
        let one = b.pool.int(1);
        b.assign(&mut t, x, one, None).unwrap();
        b.add(t).unwrap();
        let mut t = b.transition("Open.freeze", None, open, frozen, None).unwrap();
        let (x0, x1) = (b.so_far().var(x).current, b.so_far().var(x).next);
        let (x0, x1) = (b.pool.var(x0), b.pool.var(x1));
        let grows = b.pool.lt(x0, x1);
        b.constrain(&mut t, grows, None).unwrap();
        b.add(t).unwrap();
        let t = b.transition("Closed.stay", None, closed, closed, None).unwrap();
        b.add(t).unwrap();
        b
    }

    fn names(s: &System) -> Vec<&str> {
        s.claims.iter().map(|c| c.name.as_str()).collect()
    }

    #[test]
    fn each_kind_of_claim_is_added_to_its_subjects() {
        let s = account().finish().with_structural_claims();
        let expected = [
            "satisfiable start",
            "can enable Open.deposit",
            "can enable Open.freeze",
            "completable Open.freeze",
            "can enable Closed.stay",
            "no sinkhole Open",
        ];
        assert_eq!(names(&s), expected);
        assert!(s.claims.iter().all(|c| c.origin == ClaimOrigin::Structural));
        assert_eq!(names(&s.with_structural_claims()), expected);
    }

    #[test]
    fn claims_of_starts_are_named_by_start() {
        let mut b = account();
        for name in ["rich", "start 2", "starter"] {
            b.start(name, NodeId(0), &[], None).unwrap();
        }
        let s = b.finish().with_structural_claims();
        let expected = [
            "satisfiable start",
            "satisfiable start rich",
            "satisfiable start 2",
            "satisfiable start starter",
        ];
        assert_eq!(names(&s)[..4], expected);
        let mut b = account();
        b.start("start 2", NodeId(0), &[], None).unwrap();
        b.start("2", NodeId(0), &[], None).unwrap();
        let s = b.finish().with_structural_claims();
        let unique: FxHashSet<_> = names(&s).into_iter().collect();
        assert_eq!(unique.len(), s.claims.len());
    }

    #[test]
    fn existing_claims_are_not_added_again_and_names_are_unique() {
        let mut b = account();
        let written = ClaimOrigin::Written;
        b.claim("mine", ClaimKind::CanEnable(TransitionId(0)), written, "mine", None).unwrap();
        b.claim("no sinkhole Open", ClaimKind::NoDeadlock, written, "no deadlock", None).unwrap();
        let s = b.finish().with_structural_claims();
        assert!(s.find_claim("can enable Open.deposit").is_none());
        let renamed = s.find_claim("no sinkhole Open (2)").unwrap();
        assert_eq!(renamed.kind, ClaimKind::NoSinkhole(NodeId(0)));
        let unique: FxHashSet<_> = names(&s).into_iter().collect();
        assert_eq!(unique.len(), s.claims.len());
    }
}
