//! Changes that make a system smaller.

use gander_system::{ClaimKind, Effect, FairnessKind, Goal, System};
use gander_term::{Op, Pool, Sort, TermId};

/// The position of a term in a system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Conjunct of a start.
    Start(usize, usize),
    /// Assumption.
    Assumption(usize),
    /// Conjunct of a guard.
    Guard(usize, usize),
    /// Part of an effect.
    Effect(usize, usize),
    /// Formula of a claim: the first, or the second of *leads to*; a goal of a chain.
    Claim(usize, usize),
    /// Justice constraint.
    Fairness(usize),
}

/// What a term becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Simpler {
    /// True or false.
    Truth(bool),
    /// A part of itself.
    Part(TermId),
}

/// One change that makes a system smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cut {
    /// Removes all claims except one.
    OnlyClaim(usize),
    /// Removes a claim.
    Claim(usize),
    /// Removes a transition, and claims about it.
    Transition(usize),
    /// Removes a start, and claims about it.
    Start(usize),
    /// Removes a fairness constraint everywhere.
    Fairness(usize),
    /// Makes a node not final.
    Final(usize),
    /// Removes an assumption.
    Assumption(usize),
    /// Replaces a variable by a constant: one that occurs in the starts, or a default one of its
    /// sort.
    Variable(usize, Option<TermId>),
    /// Replaces a parameter by a constant.
    Parameter(usize, usize),
    /// Removes a conjunct of a guard.
    Guard(usize, usize),
    /// Removes a part of an effect; the variable is kept instead.
    Effect(usize, usize),
    /// Removes a goal of a chain.
    Goal(usize, usize),
    /// Replaces a term by a simpler one.
    Replace(Place, Simpler),
}

impl Cut {
    /// Every cut of a system, larger ones first.
    pub fn all(system: &System) -> Vec<Cut> {
        let mut cuts = Vec::new();
        if system.claims().len() > 1 {
            cuts.extend((0..system.claims().len()).map(Cut::OnlyClaim));
            cuts.extend((0..system.claims().len()).map(Cut::Claim));
        }
        cuts.extend((0..system.transitions().len()).map(Cut::Transition));
        cuts.extend((0..system.vars().len()).map(|v| Cut::Variable(v, None)));
        for constant in start_constants(system) {
            let sort = system.pool().sort(constant);
            let fitting = (0..system.vars().len()).filter(|&v| system.vars()[v].sort == sort);
            cuts.extend(fitting.map(|v| Cut::Variable(v, Some(constant))));
        }
        if system.starts().len() > 1 {
            cuts.extend((0..system.starts().len()).map(Cut::Start));
        }
        cuts.extend((0..system.fairness().len()).map(Cut::Fairness));
        cuts.extend((0..system.assumptions().len()).map(Cut::Assumption));
        for (t, transition) in system.transitions().iter().enumerate() {
            cuts.extend((0..transition.params.len()).map(|p| Cut::Parameter(t, p)));
            cuts.extend((0..transition.guard.len()).map(|g| Cut::Guard(t, g)));
            for (e, effect) in transition.effect.iter().enumerate() {
                if !matches!(effect, Effect::Keep { .. }) {
                    cuts.push(Cut::Effect(t, e));
                }
            }
        }
        cuts.extend(
            (0..system.nodes().len()).filter(|&n| system.nodes()[n].is_final).map(Cut::Final),
        );
        for (c, claim) in system.claims().iter().enumerate() {
            if let ClaimKind::Reachable(goals) = &claim.kind
                && goals.len() > 1
            {
                cuts.extend((0..goals.len()).map(|g| Cut::Goal(c, g)));
            }
        }
        for (place, term) in places(system) {
            cuts.extend(simpler(system.pool(), term).into_iter().map(|s| Cut::Replace(place, s)));
        }
        cuts
    }
}

fn start_constants(system: &System) -> Vec<TermId> {
    let roots: Vec<TermId> =
        system.starts().iter().flat_map(|s| s.constraint.iter().map(|c| c.term.term())).collect();
    let terms = system.pool().postorder(&roots).into_iter();
    terms.filter(|&t| matches!(system.pool().op(t), Op::Bool(_) | Op::Const(_))).collect()
}

/// Every term of a system that can be simplified, with its position.
fn places(system: &System) -> Vec<(Place, TermId)> {
    let mut all = Vec::new();
    for (c, claim) in system.claims().iter().enumerate() {
        let formulas = match &claim.kind {
            ClaimKind::Always(p) | ClaimKind::AlwaysPossible(p) | ClaimKind::ExistsAlways(p) => {
                vec![(0, p.term())]
            }
            ClaimKind::Eventually { goal, .. } | ClaimKind::AlwaysEventually { goal, .. } => {
                vec![(0, goal.term())]
            }
            ClaimKind::LeadsTo { from, to, .. } => vec![(0, from.term()), (1, to.term())],
            ClaimKind::Reachable(goals) => {
                let state = |(i, g): (usize, &Goal)| match g {
                    Goal::State(p) => Some((i, p.term())),
                    Goal::Step { .. } => None,
                };
                goals.iter().enumerate().filter_map(state).collect()
            }
            _ => Vec::new(),
        };
        all.extend(formulas.into_iter().map(|(i, t)| (Place::Claim(c, i), t)));
    }
    for (t, transition) in system.transitions().iter().enumerate() {
        for (e, effect) in transition.effect.iter().enumerate() {
            match effect {
                Effect::Assign { value, .. } => all.push((Place::Effect(t, e), value.term())),
                Effect::Constrain { relation, .. } => {
                    all.push((Place::Effect(t, e), relation.term()))
                }
                Effect::Keep { .. } => {}
            }
        }
        all.extend(
            transition.guard.iter().enumerate().map(|(g, e)| (Place::Guard(t, g), e.term.term())),
        );
    }
    for (s, start) in system.starts().iter().enumerate() {
        all.extend(
            start.constraint.iter().enumerate().map(|(c, e)| (Place::Start(s, c), e.term.term())),
        );
    }
    all.extend(
        system.assumptions().iter().enumerate().map(|(a, e)| (Place::Assumption(a), e.term.term())),
    );
    for (f, fairness) in system.fairness().iter().enumerate() {
        if let FairnessKind::Justice(p) = &fairness.kind {
            all.push((Place::Fairness(f), p.term()));
        }
    }
    all
}

/// The simpler terms: subterms of the same sort, near the root first, and the truth values.
fn simpler(pool: &Pool, t: TermId) -> Vec<Simpler> {
    if matches!(pool.op(t), Op::Bool(_) | Op::Const(_)) {
        return Vec::new();
    }
    let mut all = Vec::new();
    if pool.sort(t) == Sort::Bool {
        all.extend([Simpler::Truth(true), Simpler::Truth(false)]);
    }
    let mut level = vec![t];
    for _ in 0..3 {
        // The body of a quantifier may mention its bound variable.
        level = level
            .into_iter()
            .filter(|&u| !matches!(pool.op(u), Op::Forall | Op::Exists))
            .flat_map(|u| pool.args(u).iter().copied())
            .collect();
        all.extend(
            level.iter().filter(|&&u| pool.sort(u) == pool.sort(t)).map(|&u| Simpler::Part(u)),
        );
    }
    all.dedup();
    all
}
