//! The kinds of bugs: wrong systems, and wrong answers.

use gander_system::passes::mutants;
use gander_system::{
    Ambiguity, ClaimKind, ElementId, ElementKind, Evidence, Leg, NodeFormulas, NodeId, NodeTerms,
    Rounds, Run, StateTerm, System, SystemBuilder, Verdict,
};
use gander_term::{Op, Pool, RBig, Sort, TermId, Value};

use super::Bug;

/// The system without the elements of a kind.
fn without(system: &System, kind: ElementKind) -> Option<System> {
    Some(system.relaxed(|e| system.elements()[e.index()].kind != kind))
}

/// Effects do not keep the variables that they keep.
pub(super) struct DroppedFrame;

impl Bug for DroppedFrame {
    fn system(system: &System) -> Option<System> {
        without(system, ElementKind::Frame)
    }
}

/// Guards are not looked at.
pub(super) struct DroppedGuard;

impl Bug for DroppedGuard {
    fn system(system: &System) -> Option<System> {
        without(system, ElementKind::Guard)
    }
}

/// Runs begin in any state of a start node.
pub(super) struct DroppedStart;

impl Bug for DroppedStart {
    fn system(system: &System) -> Option<System> {
        without(system, ElementKind::Start)
    }
}

/// Assumptions are not looked at.
pub(super) struct DroppedAssumption;

impl Bug for DroppedAssumption {
    fn system(system: &System) -> Option<System> {
        without(system, ElementKind::Assumption)
    }
}

/// An operator is taken for another one, or a constant is off by one.
pub(super) struct WrongOperator;

impl Bug for WrongOperator {
    fn system(system: &System) -> Option<System> {
        (0..system.elements().len()).rev().find_map(|e| {
            let found = mutants(system, &[ElementId(e as u32)]);
            found.list.first().map(|mutant| found.applied(system, mutant))
        })
    }
}

/// The system under an additional assumption, a term of its pool.
fn assuming(system: &System, formula: StateTerm) -> Option<System> {
    let text = "seeded".to_string();
    system.clone().with_ambiguity(Ambiguity { formula, text }).narrow_reading()
}

/// The engine assumes what it is to show.
pub(super) struct CircularProof;

impl Bug for CircularProof {
    fn system(system: &System) -> Option<System> {
        system.claims().iter().find_map(|c| match c.kind {
            ClaimKind::Always(formula) => assuming(system, formula),
            _ => None,
        })
    }
}

/// States in which some guard does not hold are lost.
pub(super) struct LostStates;

impl Bug for LostStates {
    fn system(system: &System) -> Option<System> {
        let nodes: Vec<_> = system.nodes().iter().map(|n| (n.name.as_str(), None)).collect();
        let mut scope =
            SystemBuilder::new(system.name(), Pool::fork(system.pool()), &nodes).ok()?;
        for v in system.vars() {
            scope.var(&v.name, v.sort, v.role, None, None).ok()?;
        }
        let mut guards = system.transitions().iter().flat_map(|t| &t.guard);
        let formula = guards.find_map(|g| scope.state_formula(g.term.term(), "guard").ok())?;
        assuming(system, formula)
    }
}

/// Runs need not be fair.
pub(super) struct DroppedFairness;

impl Bug for DroppedFairness {
    fn system(system: &System) -> Option<System> {
        let mut claims = system.claims().to_vec();
        for claim in &mut claims {
            if let ClaimKind::Eventually { under, .. }
            | ClaimKind::AlwaysEventually { under, .. }
            | ClaimKind::LeadsTo { under, .. } = &mut claim.kind
            {
                under.clear();
            }
        }
        Some(system.clone().with_claims(claims))
    }
}

/// The depth that was searched is taken for one more than it is.
pub(super) struct OffByOneDepth;

impl Bug for OffByOneDepth {
    const EXTRA_DEPTH: u32 = 1;
}

/// The verdict with changed evidence.
fn changed(verdict: Verdict, change: impl FnOnce(Evidence) -> Evidence) -> Option<Verdict> {
    Some(match verdict {
        Verdict::Holds(evidence) => Verdict::Holds(change(evidence)),
        Verdict::Fails(evidence) => Verdict::Fails(change(evidence)),
        unknown @ Verdict::Unknown { .. } => unknown,
    })
}

/// The verdict with a changed run.
fn changed_run(verdict: Verdict, change: impl FnOnce(&mut Run)) -> Option<Verdict> {
    changed(verdict, |mut evidence| {
        if let Evidence::Run(run) = &mut evidence {
            change(run);
        }
        evidence
    })
}

/// The verdict with a changed invariant.
fn changed_invariant(
    verdict: Verdict,
    change: impl FnOnce(&mut Pool, &mut Vec<TermId>),
) -> Option<Verdict> {
    changed(verdict, |mut evidence| {
        if let Evidence::Invariant(formulas)
        | Evidence::KInductive { invariant: formulas, .. }
        | Evidence::Outside { trap: formulas, .. } = &mut evidence
        {
            let mut pool = Pool::fork(&formulas.pool);
            let mut by_node = formulas.by_node.to_vec();
            change(&mut pool, &mut by_node);
            *formulas = NodeFormulas { pool: pool.freeze(), by_node: by_node.into() };
        }
        evidence
    })
}

/// Nodes are taken for the ones after them.
pub(super) struct WrongNode;

impl Bug for WrongNode {
    fn answer(system: &System, verdict: Verdict) -> Option<Verdict> {
        let verdict = changed_invariant(verdict, |_, by_node| by_node.rotate_left(1))?;
        changed_run(verdict, |run| {
            run.first.node = NodeId::from((run.first.node.index() + 1) % system.nodes().len());
        })
    }
}

/// The first variable of the first state has another value.
pub(super) struct WrongValue;

impl Bug for WrongValue {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        changed_run(verdict, |run| {
            let Some(value) = run.first.values.first_mut() else { return };
            *value = match std::mem::replace(value, Value::Bool(false)) {
                Value::Bool(b) => Value::Bool(!b),
                Value::Int(i) => Value::int(i + 1),
                Value::Real(r) => Value::Real(r + RBig::ONE),
                other => other,
            };
        })
    }
}

/// The last step of a run is left out.
pub(super) struct LostStep;

impl Bug for LostStep {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        changed_run(verdict, |run| run.legs = run.legs.prefix(run.legs.len().saturating_sub(1)))
    }
}

/// A loop is done one round less often.
pub(super) struct LostRound;

impl Bug for LostRound {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        changed_run(verdict, |run| {
            let repeats = run.legs.to_mut().iter_mut().find_map(|leg| match leg {
                Leg::Repeat { times, .. } if *times > 1 => Some(times),
                _ => None,
            });
            if let Some(times) = repeats {
                *times -= 1;
            }
        })
    }
}

/// Answers with a run of odd length are lost.
pub(super) struct LostAnswer;

impl Bug for LostAnswer {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        match &verdict {
            Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run))
                if run.length() % 2 == 1 =>
            {
                None
            }
            _ => Some(verdict),
        }
    }
}

/// A proof by induction, or the enumeration of states, is taken to need one less.
pub(super) struct ShallowProof;

impl Bug for ShallowProof {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        changed(verdict, |mut evidence| {
            match &mut evidence {
                Evidence::KInductive { k, .. } if *k > 1 => *k -= 1,
                Evidence::Diameter { k } if *k > 0 => *k -= 1,
                Evidence::ClosedSet { states } if *states > 0 => *states -= 1,
                _ => {}
            }
            evidence
        })
    }
}

/// Invariants lose a conjunct at every node.
pub(super) struct LostConjunct;

impl Bug for LostConjunct {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        changed_invariant(verdict, |pool, by_node| {
            for formula in by_node {
                let conjuncts = match pool.op(*formula) {
                    Op::And => pool.args(*formula).to_vec(),
                    _ => vec![*formula],
                };
                *formula = pool.and(conjuncts[1..].iter().copied());
            }
        })
    }
}

/// Invariants need not hold in start states: those of a start node hold nowhere.
pub(super) struct ForgottenStart;

impl Bug for ForgottenStart {
    fn answer(system: &System, verdict: Verdict) -> Option<Verdict> {
        let Some(start) = system.starts().first() else { return Some(verdict) };
        changed_invariant(verdict, |pool, by_node| by_node[start.target.index()] = pool.ff())
    }
}

/// A loop begins one state later than it does.
pub(super) struct LateLoop;

impl Bug for LateLoop {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        changed(verdict, |mut evidence| {
            if let Evidence::Lasso { back_to, .. } = &mut evidence {
                *back_to += 1;
            }
            evidence
        })
    }
}

/// There is one round less than there may be.
pub(super) struct FewerRounds;

impl Bug for FewerRounds {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        changed(verdict, |mut evidence| {
            if let Evidence::NoSuchRun { rounds: Rounds::AtMost { k, .. }, .. } = &mut evidence {
                *k = k.saturating_sub(1);
            }
            evidence
        })
    }
}

/// That runs may end is forgotten.
pub(super) struct ForgottenEnds;

impl Bug for ForgottenEnds {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        changed(verdict, |mut evidence| {
            if let Evidence::NoSuchRun { stuck, .. } = &mut evidence {
                *stuck = None;
            }
            evidence
        })
    }
}

/// Ranks never decrease.
pub(super) struct ConstantRanks;

impl Bug for ConstantRanks {
    fn answer(_: &System, verdict: Verdict) -> Option<Verdict> {
        changed(verdict, |mut evidence| {
            if let Evidence::NoSuchRun { rounds: Rounds::Ranking { ranks, .. }, .. }
            | Evidence::Possible { ranks, .. } = &mut evidence
            {
                let mut pool = Pool::fork(&ranks.pool);
                let mut by_node = ranks.by_node.clone();
                for rank in by_node.iter_mut().flatten() {
                    *rank = match pool.sort(*rank) {
                        Sort::Real => pool.real(RBig::ZERO),
                        _ => pool.int(0),
                    };
                }
                *ranks = NodeTerms { pool: pool.freeze(), by_node };
            }
            evidence
        })
    }
}
