//! Infinite runs: around a loop (lassos), or within a recurrent set of states.
//!
//! What an infinite run must satisfy, for each claim and direction, is derived here from
//! docs/semantics.md, section 3, without the passes that engines use.

use std::collections::HashSet;

use gander_system::{Choices, NodeId};
use gander_system::{
    ClaimKind, FairnessId, FairnessKind, NodeFormulas, Run, State, StateTerm, TransitionId,
};
use gander_term::Value;

use crate::discharge::CheckContext;
use crate::evidence::choices::{StepRequirement, check_choices};
use crate::evidence::invariant::import_formulas;
use crate::evidence::replay::{Observer, replay};
use crate::evidence::run::Formula;
use crate::evidence::{Direction, unfit};
use crate::formula::eliminate;
use crate::formula::relation::{Relation, admissible, can_step};
use crate::formula::{Compiled, Situation};
use crate::rejection::{Rejection, undecided, wrong};

/// The number of states of a loop that are checked for fairness.
const MAX_STATES: usize = 1 << 20;

/// Where a run has to satisfy a formula.
enum Extent {
    /// In all of its states.
    Throughout,
    /// In all states of the loop.
    InLoop,
    /// From some state on that satisfies this formula.
    Since(StateTerm),
}

/// What an infinite run must satisfy to decide a claim.
struct Requirement<'k> {
    /// A formula and the truth value that it must have.
    formula: Option<(StateTerm, bool)>,
    extent: Extent,
    under: &'k [FairnessId],
}

impl<'k> Requirement<'k> {
    fn of(kind: &'k ClaimKind, direction: Direction) -> Option<Requirement<'k>> {
        let (formula, extent, under) = match (kind, direction) {
            (ClaimKind::InfiniteRun, Direction::Holds) => (None, Extent::Throughout, &[][..]),
            (ClaimKind::ExistsAlways(p), Direction::Holds) => {
                (Some((*p, true)), Extent::Throughout, &[][..])
            }
            (ClaimKind::Eventually { goal, under }, Direction::Fails) => {
                (Some((*goal, false)), Extent::Throughout, &under[..])
            }
            (ClaimKind::AlwaysEventually { goal, under }, Direction::Fails) => {
                (Some((*goal, false)), Extent::InLoop, &under[..])
            }
            (ClaimKind::LeadsTo { from, to, under }, Direction::Fails) => {
                (Some((*to, false)), Extent::Since(*from), &under[..])
            }
            _ => return None,
        };
        Some(Requirement { formula, extent, under })
    }
}

/// Observes a run whose states from number `back_to` on are repeated.
struct LoopObserver {
    formula: Option<(Formula, bool)>,
    trigger: Option<Formula>,
    back_to: u64,
    position: u64,
    /// The number of the last state where the formula has the wrong truth value.
    broken: Option<u64>,
    /// True if some state since then satisfied the trigger.
    triggered: bool,
    /// The first state of the loop.
    home: Option<State>,
    /// The states and the transitions of the loop; states only if there are fairness constraints.
    states: HashSet<State>,
    taken: HashSet<TransitionId>,
    keep_states: bool,
}

impl LoopObserver {
    fn new(
        cx: &CheckContext<'_>,
        required: &Requirement<'_>,
        back_to: u64,
    ) -> Result<LoopObserver, Rejection> {
        let formula = match required.formula {
            Some((f, truth)) => Some((Formula::of(cx, f)?, truth)),
            None => None,
        };
        let trigger = match required.extent {
            Extent::Since(f) => Some(Formula::of(cx, f)?),
            Extent::Throughout | Extent::InLoop => None,
        };
        Ok(LoopObserver {
            formula,
            trigger,
            back_to,
            position: 0,
            broken: None,
            triggered: false,
            home: None,
            states: HashSet::new(),
            taken: HashSet::new(),
            keep_states: !required.under.is_empty(),
        })
    }

    /// An error unless the formula holds where it has to.
    fn expect_kept(&self, extent: &Extent) -> Result<(), Rejection> {
        let kept = match extent {
            Extent::Throughout => self.broken.is_none(),
            Extent::InLoop => self.broken.is_none_or(|b| b < self.back_to),
            Extent::Since(_) => self.broken.is_none_or(|b| b < self.back_to) && self.triggered,
        };
        if kept { Ok(()) } else { Err(wrong("the run does not stay where it would have to")) }
    }
}

impl Observer for LoopObserver {
    fn state(&mut self, cx: &mut CheckContext<'_>, state: &State) -> Result<(), Rejection> {
        let kept = match &mut self.formula {
            Some((f, truth)) => f.holds(cx, state)? == *truth,
            None => true,
        };
        if !kept {
            self.broken = Some(self.position);
            self.triggered = false;
        } else if let Some(trigger) = &mut self.trigger {
            self.triggered |= trigger.holds(cx, state)?;
        }
        if self.position == self.back_to {
            self.home = Some(state.clone());
        }
        if self.position >= self.back_to && self.keep_states {
            if self.states.len() >= MAX_STATES {
                return Err(undecided("the loop has too many states to look at"));
            }
            self.states.insert(state.clone());
        }
        self.position += 1;
        Ok(())
    }

    fn step(
        &mut self,
        _: &mut CheckContext<'_>,
        _: &State,
        t: TransitionId,
        _: &[Value],
    ) -> Result<(), Rejection> {
        // `position` is the number of the state after the step.
        if self.position > self.back_to {
            self.taken.insert(t);
        }
        Ok(())
    }
}

/// Checks that a run around a loop decides a claim.
pub(crate) fn check_lasso(
    cx: &mut CheckContext<'_>,
    kind: &ClaimKind,
    direction: Direction,
    run: &Run,
    back_to: u64,
) -> Result<(), Rejection> {
    let Some(required) = Requirement::of(kind, direction) else {
        return Err(unfit("a lasso", kind, direction));
    };
    let mut observer = LoopObserver::new(cx, &required, back_to)?;
    let end = replay(cx, run, &mut observer)?;
    // The last state has number `position - 1`.
    if observer.position.saturating_sub(1) <= back_to {
        return Err(wrong("the loop has no step"));
    }
    if observer.home.as_ref() != Some(&end) {
        return Err(wrong(
            "the last state of the run is not the one that it is said to come back to",
        ));
    }
    observer.expect_kept(&required.extent)?;
    for f in required.under {
        expect_fair(cx, &observer, *f)?;
    }
    Ok(())
}

/// An error unless the loop is fair.
fn expect_fair(
    cx: &mut CheckContext<'_>,
    observer: &LoopObserver,
    f: FairnessId,
) -> Result<(), Rejection> {
    let Some(fairness) = cx.system.fairness().get(f.index()) else {
        return Err(wrong("the claim refers to a fairness constraint that the system has not got"));
    };
    let fair = match &fairness.kind {
        FairnessKind::Justice(p) => {
            let mut formula = Compiled::new(cx, &[], &[p.term()])?;
            let mut met = false;
            for state in &observer.states {
                met = met || formula.all_true(cx, Situation::of(state))?;
            }
            met
        }
        FairnessKind::Weak(set) => {
            let mut met = set.iter().any(|t| observer.taken.contains(t));
            for state in &observer.states {
                met = met || !some_can_step(cx, state, set)?;
            }
            met
        }
        FairnessKind::Strong(set) => {
            let mut met = true;
            if !set.iter().any(|t| observer.taken.contains(t)) {
                for state in &observer.states {
                    met = met && !some_can_step(cx, state, set)?;
                }
            }
            met
        }
    };
    if fair { Ok(()) } else { Err(wrong(format!("the loop is not fair to `{}`", fairness.name))) }
}

fn some_can_step(
    cx: &mut CheckContext<'_>,
    state: &State,
    set: &[TransitionId],
) -> Result<bool, Rejection> {
    for &t in set {
        if cx.system.transition(t).source == state.node && can_step(cx, state, t)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks that a run into a set of states, with choices that stay in the set, decides a claim.
pub(crate) fn check_recurrent(
    cx: &mut CheckContext<'_>,
    kind: &ClaimKind,
    direction: Direction,
    run: &Run,
    set: &NodeFormulas,
    choices: &Choices,
) -> Result<(), Rejection> {
    let Some(required) = Requirement::of(kind, direction) else {
        return Err(unfit("a recurrent set", kind, direction));
    };
    let mut observer = LoopObserver::new(cx, &required, run.length())?;
    let end = replay(cx, run, &mut observer)?;
    observer.expect_kept(&required.extent)?;
    let set = import_formulas(cx, set)?;
    let mut here = Compiled::new(cx, &[], &[set[end.node.index()]])?;
    if !here.all_true(cx, Situation::of(&end))? {
        return Err(wrong("the run does not end in the set"));
    }
    let mut obligations = Vec::new();
    if let Some((formula, truth)) = required.formula {
        for n in cx.system.node_ids() {
            let formula = cx.system.at_node(&mut cx.pool, formula, n);
            let broken = if truth { cx.pool.not(formula) } else { formula };
            let inside = within(cx, &set, n);
            let outside = cx.pool.and([inside, broken]);
            let node = &cx.system.node(n).name;
            obligations.push((
                outside,
                format!("the set has states at node `{node}` where the run must not be"),
            ));
        }
    }
    cx.refute_all(&obligations)?;
    check_choices(cx, choices, &StepRequirement::Stay(&set))?;
    for f in required.under {
        expect_always_fair(cx, &set, choices, *f)?;
    }
    Ok(())
}

fn within(
    cx: &mut CheckContext<'_>,
    set: &[gander_term::TermId],
    n: NodeId,
) -> gander_term::TermId {
    let assumptions = admissible(cx, n);
    cx.pool.and([assumptions, set[n.index()]])
}

/// An error unless every run that stays in the set by these choices is fair.
fn expect_always_fair(
    cx: &mut CheckContext<'_>,
    set: &[gander_term::TermId],
    choices: &Choices,
    f: FairnessId,
) -> Result<(), Rejection> {
    let system = cx.system;
    let Some(fairness) = system.fairness().get(f.index()) else {
        return Err(wrong("the claim refers to a fairness constraint that the system has not got"));
    };
    let unfair = format!("a run that stays in the set need not be fair to `{}`", fairness.name);
    let mut obligations = Vec::new();
    match &fairness.kind {
        FairnessKind::Justice(p) => {
            for n in system.node_ids() {
                let p = system.at_node(&mut cx.pool, *p, n);
                let broken = cx.pool.not(p);
                let inside = within(cx, set, n);
                obligations.push((cx.pool.and([inside, broken]), unfair.clone()));
            }
        }
        FairnessKind::Weak(list) | FairnessKind::Strong(list) => {
            if choices.list.iter().all(|c| list.contains(&c.transition)) {
                return Ok(());
            }
            for &t in list {
                let relation = Relation::new(cx, t);
                let symbols = relation.choices();
                let possible = eliminate::exists(&mut cx.pool, &symbols, relation.formula);
                let inside = within(cx, set, system.transition(t).source);
                obligations.push((cx.pool.and([inside, possible]), unfair.clone()));
            }
        }
    }
    cx.refute_all(&obligations)
}
