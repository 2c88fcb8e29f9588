//! Finds shorter and smoother lassos.
//!
//! A lasso of `n` steps back to state `l` is a run of `n` steps whose last state equals state `l`.
//! What the claim requires of it (docs/semantics.md, section 5, kind 8) is a condition on its
//! states: on all of them, on those of the loop, or on those after some state. Lengths are tried in
//! ascending order, and for each length all states to return to. Justice requires one state of the
//! loop to satisfy a formula; lassos under fairness of transitions are not simplified.

use gander_smt::{Answer, Literal};
use gander_system::{ClaimKind, FairnessId, FairnessKind, System};
use gander_term::{Pool, TermId};

use super::choices::DefinitionTable;
use super::flat::FlatRun;
use super::search::Search;
use super::smooth::{Smoother, smooth_towards};

/// The conditions on the states of a lasso.
#[derive(Clone, Debug, Default)]
pub(crate) struct LassoGoal {
    /// In every state.
    everywhere: Option<TermId>,
    /// In every state of the loop.
    around: Option<TermId>,
    /// The second formula holds in every state from some state with the first formula on.
    since: Option<(TermId, TermId)>,
    /// Each holds in some state of the loop.
    justice: Vec<TermId>,
}

/// A lasso.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub run: FlatRun,
    pub back_to: u32,
}

impl LassoGoal {
    /// The conditions on a lasso for a claim of this kind; `None` if it must be fair to
    /// transitions.
    pub(crate) fn of(system: &System, pool: &mut Pool, kind: &ClaimKind) -> Option<LassoGoal> {
        let mut shows = LassoGoal::default();
        let under: &[FairnessId] = match kind {
            ClaimKind::InfiniteRun => &[],
            ClaimKind::ExistsAlways(p) => {
                shows.everywhere = Some(p.term());
                &[]
            }
            ClaimKind::Eventually { goal, under } => {
                shows.everywhere = Some(pool.not(goal.term()));
                under
            }
            ClaimKind::AlwaysEventually { goal, under } => {
                shows.around = Some(pool.not(goal.term()));
                under
            }
            ClaimKind::LeadsTo { from, to, under } => {
                let without = pool.not(to.term());
                shows.around = Some(without);
                shows.since = Some((from.term(), without));
                under
            }
            _ => return None,
        };
        for f in under {
            match system.fairness().get(f.index())?.kind {
                FairnessKind::Justice(p) => shows.justice.push(p.term()),
                FairnessKind::Weak(_) | FairnessKind::Strong(_) => return None,
            }
        }
        Some(shows)
    }

    /// The assumptions for a lasso of this length that returns to this state.
    fn hard(&self, search: &mut Search, steps: u32, back_to: u32) -> Vec<Literal> {
        let mut all = search.length(steps);
        let closed = closing(search, steps - back_to);
        let closed = search.compile(closed);
        all.push(search.literal_at(&closed, back_to));
        for (formula, from) in [(self.everywhere, 0), (self.around, back_to)] {
            let Some(formula) = formula else { continue };
            let template = search.compile(formula);
            all.extend((from..=steps).map(|i| search.literal_at(&template, i)));
        }
        if let Some((from, without)) = self.since {
            let (from, without) = (search.compile(from), search.compile(without));
            let stays: Vec<Literal> = (0..=steps).map(|i| search.literal_at(&without, i)).collect();
            let mut some = Vec::new();
            for k in 0..=steps {
                let here = search.session.literal();
                let begins = search.literal_at(&from, k);
                search.session.assert_clause(&[!here, begins]);
                for &stay in &stays[k as usize..] {
                    search.session.assert_clause(&[!here, stay]);
                }
                some.push(here);
            }
            all.push(one_of(search, some));
        }
        for &p in &self.justice {
            let template = search.compile(p);
            let some: Vec<Literal> =
                (back_to..=steps).map(|i| search.literal_at(&template, i)).collect();
            all.push(one_of(search, some));
        }
        all
    }
}

/// A literal that implies one of these.
fn one_of(search: &mut Search, mut literals: Vec<Literal>) -> Literal {
    let some = search.session.literal();
    literals.push(!some);
    search.session.assert_clause(&literals);
    some
}

/// A state equals the one `distance` steps later.
fn closing(search: &mut Search, distance: u32) -> TermId {
    let system = std::sync::Arc::clone(&search.system);
    let mut same = Vec::new();
    for v in system.vars() {
        let later = search.later(v.current, distance);
        let (a, b) = (search.pool.var(v.current), search.pool.var(later));
        same.push(search.pool.eq(a, b));
    }
    if system.nodes().len() > 1 {
        let later = search.later(system.location(), distance);
        let (a, b) = (search.pool.var(system.location()), search.pool.var(later));
        same.push(search.pool.eq(a, b));
    }
    search.pool.and(same)
}

/// Searches for the shortest lasso of fewer than `than` steps. The flag is true if no lasso is
/// shorter than the result, or than `than` if none is found.
pub(crate) fn shorter(search: &mut Search, shows: &LassoGoal, than: u32) -> (Option<Loop>, bool) {
    let mut least = true;
    for steps in 1..than {
        for back_to in 0..steps {
            if search.deadline_passed() || !search.is_alive() {
                return (None, false);
            }
            let hard = shows.hard(search, steps, back_to);
            match search.check(&hard) {
                Answer::Unsat => {}
                Answer::Sat => match search.read(steps) {
                    Some(run) => return (Some(Loop { run, back_to }), least),
                    None => least = false,
                },
                Answer::Unknown(_) => least = false,
            }
        }
    }
    (None, least)
}

/// Searches for a lasso of the same shape with the fewest changes.
pub(crate) fn smoother(
    search: &mut Search,
    shows: &LassoGoal,
    table: &DefinitionTable,
    lasso: &Loop,
) -> Option<Smoother> {
    let steps = lasso.run.len();
    let hard = shows.hard(search, steps, lasso.back_to);
    smooth_towards(search, table, hard, steps)
}
