//! Shorter lassos: fewer steps to the loop and around it.
//!
//! A lasso is a run whose last state equals an earlier one, from which it is repeated. It gets
//! shorter in two ways:
//!
//! - it is *closed earlier*: two states are equal, or a step can be taken such that they are, by
//!   other values of what the step chooses;
//! - groups of steps are left out, as in [`super::RunReducer::without_steps`], before the loop and
//!   in it.
//!
//! Each candidate is checked for what the claim asks of an infinite run (docs/semantics.md, section
//! 5, kind 8): where the formula holds, and fairness. Whether a transition of a fairness constraint
//! can be taken is decided only where that needs no search: at another node, or by the guard of a
//! transition without parameters.

use std::sync::Arc;
use std::time::Instant;

use gander_system::{ClaimKind, FairnessId, FairnessKind, Run, State, StateTerm, TransitionId};
use rustc_hash::FxHashMap;

use super::end::{End, Others};
use super::machine::Machine;
use super::{Effort, Flat, RunReducer};
use crate::concrete::limits::LIMITS;
use crate::concrete::stepping::formula::Formula;

/// Where the formula of a claim has to be true.
enum Extent {
    Throughout,
    InLoop,
    /// From some state on that satisfies this formula.
    Since(Box<Formula>),
}

/// A fairness constraint.
enum Fair {
    Justice(Box<Formula>),
    Weak(Vec<TransitionId>),
    Strong(Vec<TransitionId>),
}

/// What a lasso must be like to decide a claim.
struct Requirement {
    /// The formula, with the truth value that it must have.
    formula: Option<(Formula, bool)>,
    extent: Extent,
    fair: Vec<Fair>,
}

/// A run whose last state is the state after `back` steps.
struct Lasso {
    flat: Flat,
    back: usize,
}

impl RunReducer {
    /// A lasso with fewer steps that decides the claim, and the number of steps to its loop; `None`
    /// if none was found.
    pub(crate) fn shorter_lasso(
        &mut self,
        kind: &ClaimKind,
        run: &Run,
        back_to: u64,
        effort: Effort,
    ) -> Option<(Run, u64)> {
        let required = Requirement::of(&mut self.machine, kind)?;
        let mut end = End::Same { last: None, others: Others::Ordered };
        let flat = self.flat(&mut end, run)?;
        let (length, back) = (flat.steps.len(), usize::try_from(back_to).ok()?);
        if back >= length || flat.states[back] != flat.states[length] {
            return None;
        }
        self.machine.work_done = 0;
        let mut search = Search { machine: &mut self.machine, required, effort };
        let mut best = Lasso { flat, back };
        while let Some(shorter) = search.shorter(&best) {
            best = shorter;
        }
        (best.flat.steps.len() < length).then(|| (best.flat.into_run(), best.back as u64))
    }
}

impl Requirement {
    /// For a claim of this kind; `None` if no lasso decides it, or a formula cannot be compiled.
    fn of(machine: &mut Machine, kind: &ClaimKind) -> Option<Requirement> {
        let formula = |p: &StateTerm| machine.compile(p.term());
        let (formula, extent, under): (_, _, &[FairnessId]) = match kind {
            ClaimKind::InfiniteRun => (None, Extent::Throughout, &[]),
            ClaimKind::ExistsAlways(p) => (Some((formula(p)?, true)), Extent::Throughout, &[]),
            ClaimKind::Eventually { goal, under } => {
                (Some((formula(goal)?, false)), Extent::Throughout, under)
            }
            ClaimKind::AlwaysEventually { goal, under } => {
                (Some((formula(goal)?, false)), Extent::InLoop, under)
            }
            ClaimKind::LeadsTo { from, to, under } => {
                (Some((formula(to)?, false)), Extent::Since(Box::new(formula(from)?)), under)
            }
            _ => return None,
        };
        let system = Arc::clone(&machine.system);
        let constraint = |f: &FairnessId| match &system.fairness().get(f.index())?.kind {
            FairnessKind::Justice(p) => {
                machine.compile(p.term()).map(|p| Fair::Justice(Box::new(p)))
            }
            FairnessKind::Weak(list) => Some(Fair::Weak(list.clone())),
            FairnessKind::Strong(list) => Some(Fair::Strong(list.clone())),
        };
        let fair = under.iter().map(constraint).collect::<Option<_>>()?;
        Some(Requirement { formula, extent, fair })
    }
}

struct Search<'m> {
    machine: &'m mut Machine,
    required: Requirement,
    effort: Effort,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.machine.work_done > self.effort.values && Instant::now() >= self.effort.until
    }

    /// A lasso with fewer steps than this one.
    fn shorter(&mut self, lasso: &Lasso) -> Option<Lasso> {
        self.with_equal_states(lasso)
            .or_else(|| self.without_groups(lasso))
            .or_else(|| self.closed_by_other_values(lasso))
    }

    /// The lasso up to the first state that equals an earlier one, where that decides the claim.
    fn with_equal_states(&mut self, lasso: &Lasso) -> Option<Lasso> {
        let flat = &lasso.flat;
        let mut seen: FxHashMap<&State, Vec<usize>> = FxHashMap::default();
        for (j, state) in flat.states[..flat.steps.len()].iter().enumerate() {
            let earlier = seen.entry(state).or_default();
            for &back in earlier.iter().rev() {
                if self.is_over() {
                    return None;
                }
                if let Some(found) = self.accepted(flat.prefix(j), back) {
                    return Some(found);
                }
            }
            earlier.push(j);
        }
        None
    }

    /// The lasso up to a step that can lead to an earlier state, if it chooses other values.
    fn closed_by_other_values(&mut self, lasso: &Lasso) -> Option<Lasso> {
        let flat = &lasso.flat;
        for j in 1..flat.steps.len() {
            let (from, (t, params)) = (&flat.states[j - 1], &flat.steps[j - 1]);
            for back in (0..j).rev() {
                let wanted = &flat.states[back];
                if wanted.node != flat.states[j].node {
                    continue;
                }
                if self.is_over() {
                    return None;
                }
                let to = self.machine.step(from, *t, params, &wanted.values);
                if to.as_ref() != Some(wanted) {
                    continue;
                }
                let mut closed = flat.prefix(j - 1);
                closed.push(*t, Arc::clone(params), wanted.clone(), 0);
                if let Some(found) = self.accepted(closed, back) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// The lasso without a group of steps, large groups first.
    fn without_groups(&mut self, lasso: &Lasso) -> Option<Lasso> {
        let length = lasso.flat.steps.len();
        let mut group = length / 2;
        while group > 0 {
            let stride = if length <= LIMITS.rerun_every_place { 1 } else { group };
            for at in (0..length.saturating_sub(group)).step_by(stride) {
                if self.is_over() {
                    return None;
                }
                if let Some(found) = self.dropped(lasso, at, group) {
                    return Some(found);
                }
            }
            group /= 2;
        }
        None
    }

    /// The lasso without the steps from `at` on, `count` of them.
    fn dropped(&mut self, lasso: &Lasso, at: usize, count: usize) -> Option<Lasso> {
        let flat = &lasso.flat;
        let chosen = |i: usize| &flat.states[i + 1].values;
        let (t, params) = flat.steps.get(at + count)?;
        // Most candidates fail at once, so nothing is copied before the first step.
        let first = self.machine.step(&flat.states[at], *t, params, chosen(at + count))?;
        let mut short = flat.prefix(at);
        short.push(*t, Arc::clone(params), first, 0);
        for i in at + count + 1..flat.steps.len() {
            let here = short.steps.len();
            let (t, params) = &flat.steps[i];
            let next = match short.states[here] == flat.states[i] {
                true => flat.states[i + 1].clone(),
                false => self.machine.step(&short.states[here], *t, params, chosen(i))?,
            };
            short.push(*t, Arc::clone(params), next, 0);
        }
        let last = &short.states[short.steps.len()];
        let closes = |back: &usize| &short.states[*back] == last;
        let all: Vec<usize> = (0..short.steps.len()).rev().filter(closes).collect();
        all.into_iter().find_map(|back| self.accepted(short.clone(), back))
    }

    /// The lasso, if it decides the claim.
    fn accepted(&mut self, flat: Flat, back: usize) -> Option<Lasso> {
        let lasso = Lasso { flat, back };
        self.decides(&lasso)?.then_some(lasso)
    }

    /// `None` if a formula cannot be evaluated.
    fn decides(&mut self, lasso: &Lasso) -> Option<bool> {
        let Search { machine, required, .. } = self;
        let (flat, back) = (&lasso.flat, lasso.back);
        let (mut broken, mut triggered) = (None, false);
        for (i, state) in flat.states.iter().enumerate() {
            let kept = match &required.formula {
                Some((formula, truth)) => machine.truth(formula, state, &[])? == *truth,
                None => true,
            };
            if !kept {
                (broken, triggered) = (Some(i), false);
            } else if let Extent::Since(from) = &required.extent {
                triggered = triggered || machine.truth(from, state, &[])?;
            }
        }
        let stays = match &required.extent {
            Extent::Throughout => broken.is_none(),
            Extent::InLoop => broken.is_none_or(|b| b < back),
            Extent::Since(_) => broken.is_none_or(|b| b < back) && triggered,
        };
        if !stays {
            return Some(false);
        }
        let (states, steps) = (&flat.states[back..], &flat.steps[back..]);
        let takes = |list: &[TransitionId]| steps.iter().any(|(t, _)| list.contains(t));
        for fair in &required.fair {
            let mut met = match fair {
                Fair::Justice(_) => false,
                Fair::Weak(list) | Fair::Strong(list) => takes(list),
            };
            if !met {
                met = matches!(fair, Fair::Strong(_));
                for state in states {
                    match fair {
                        Fair::Justice(p) => met = met || machine.truth(p, state, &[])?,
                        Fair::Weak(list) => met = met || disabled(machine, state, list),
                        Fair::Strong(list) => met = met && disabled(machine, state, list),
                    }
                }
            }
            if !met {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// True if it is plain that none of the transitions can be taken.
fn disabled(machine: &mut Machine, state: &State, list: &[TransitionId]) -> bool {
    list.iter().all(|&t| machine.is_disabled(state, t))
}

#[cfg(test)]
mod tests {
    use gander_certify::{CheckLimits, Checker};
    use gander_smt::Solvers;
    use gander_system::{
        ClaimId, ClaimOrigin, Evidence, NodeId, Role, System, SystemBuilder, Verdict,
    };
    use gander_term::{Pool, Sort, Value, parse_term};

    use super::*;

    /// `x` goes up and down between 0 and 9, `y` is any of 0 to 5 at each state, and `up` is
    /// treated weakly fairly by the last claim.
    fn counter() -> Arc<System> {
        let mut b = SystemBuilder::new("counter", Pool::new(), &[("N", None)]).unwrap();
        let n = NodeId(0);
        let x = b.var("x", Sort::Int, Role::State, None, None).unwrap();
        b.var("y", Sort::Int, Role::Input, None, None).unwrap();
        let term = |b: &mut SystemBuilder, text: &str| parse_term(&mut b.pool, text).unwrap();
        let zero = term(&mut b, "x == 0");
        b.start("start", n, &[(zero, None)], None).unwrap();
        let mut up = None;
        for (name, guard, value) in [("up", "x < 9", "x + 1"), ("down", "x > 0", "x - 1")] {
            let mut draft = b.transition(name, None, n, n, None).unwrap();
            up.get_or_insert(draft.id());
            let (guard, value) = (term(&mut b, guard), term(&mut b, value));
            b.guard(&mut draft, guard, None).unwrap();
            b.assign(&mut draft, x, value, None).unwrap();
            b.add(draft).unwrap();
        }
        let formula = |b: &mut SystemBuilder, text: &str| {
            let t = parse_term(&mut b.pool, text).unwrap();
            b.state_formula(t, "a claim").unwrap()
        };
        let (ten, three, one) =
            (formula(&mut b, "x == 10"), formula(&mut b, "x == 3"), formula(&mut b, "x == 1"));
        let high = b.fairness("high", FairnessKind::Justice(three), None).unwrap();
        let weak = b.fairness("weak", FairnessKind::Weak(vec![up.unwrap()]), None).unwrap();
        for (name, kind) in [
            ("ten", ClaimKind::Eventually { goal: ten, under: vec![] }),
            ("often ten", ClaimKind::AlwaysEventually { goal: ten, under: vec![high] }),
            ("three to one", ClaimKind::LeadsTo { from: three, to: one, under: vec![] }),
            ("fair", ClaimKind::AlwaysEventually { goal: ten, under: vec![weak] }),
        ] {
            b.claim(name, kind, ClaimOrigin::Written, name, None).unwrap();
        }
        Arc::new(b.finish())
    }

    /// The lasso that goes up (`+`) and down (`-`) with `y` as given after the sign, made shorter:
    /// its steps, and the number of those before the loop.
    fn shortened(claim: usize, steps: &str, back_to: u64) -> String {
        let system = counter();
        let state = |x: i32, y: i32| vec![Value::int(x), Value::int(y)];
        let first = State { node: NodeId(0), values: state(0, 0) };
        let mut x = 0;
        let legs = steps.split(' ').map(|step| {
            let (sign, y) = step.split_at(1);
            x += if sign == "+" { 1 } else { -1 };
            gander_system::Leg::Step(gander_system::Step {
                transition: TransitionId::from(usize::from(sign == "-")),
                params: Vec::new(),
                next: Some(state(x, y.parse().unwrap())),
            })
        });
        let run = Run { start: 0.into(), first, legs: legs.collect() };
        let solvers = Arc::new(Solvers::from_environment());
        let mut checker = Checker::new(&solvers, CheckLimits::default());
        let mut check = |run: &Run, back_to: u64| {
            let verdict = Verdict::Fails(Evidence::Lasso { run: run.clone(), back_to });
            checker.check(&system, ClaimId::from(claim), &verdict).expect("a lasso that decides")
        };
        check(&run, back_to);
        let mut reducer = RunReducer::new(&system).unwrap();
        let effort = Effort { values: 100_000, until: Instant::now() };
        let kind = &system.claims()[claim].kind;
        let Some((run, back_to)) = reducer.shorter_lasso(kind, &run, back_to, effort) else {
            return "as it was".to_string();
        };
        check(&run, back_to);
        let mut text = String::new();
        for (i, leg) in run.legs.iter().enumerate() {
            let gander_system::Leg::Step(step) = leg else { continue };
            text.push_str(if i as u64 == back_to { "(" } else { "" });
            text.push_str(if step.transition.index() == 0 { "+" } else { "-" });
        }
        text + ")"
    }

    #[test]
    fn needless_steps_before_the_loop_and_in_it_are_left_out() {
        assert_eq!(shortened(0, "+0 +0 -0 +0 +0 -0 -0 +0", 2), "(+-)");
        assert_eq!(shortened(0, "+0 -0", 0), "as it was");
    }

    #[test]
    fn a_lasso_is_shortened_where_other_inputs_close_its_loop() {
        assert_eq!(shortened(0, "+1 -2 +3 -4 +5 -0", 0), "(+-)");
    }

    #[test]
    fn what_the_claim_asks_of_the_loop_is_kept() {
        // Justice: the loop has a state with x == 3.
        assert_eq!(shortened(1, "+0 -0 +0 +0 +0 +0 -0 -0 +0 +0 -0", 5), "++(+-)");
        // The loop and the steps since x == 3 avoid x == 1.
        assert_eq!(shortened(2, "+0 -0 +0 +0 +0 +0 -0 +0", 6), "++(+-)");
        // Weak fairness: a step up in the loop.
        assert_eq!(shortened(3, "+0 +0 +0 -0 +0 -0", 2), "(+-)");
    }
}
