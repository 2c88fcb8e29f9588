//! Supporting invariants: those of the candidate formulas that are inductive together.
//!
//! After Flanagan and Leino (*Houdini, an annotation assistant for ESC/Java*, 2001): all candidates are assumed of every
//! node; models of starts and steps that violate some of them throw these out, until none is left to be thrown out.

use gander_system::{NodeFormulas, StartId, System};
use gander_term::{Pool, TermId, Value, evaluate};

use super::prover::{Model, Prover};
use super::step::Steps;
use crate::board::{Cursor, Fact};
use crate::engine::Desk;

/// No more facts are taken from the board.
const MOST_FACTS: usize = 40;

/// By node: the conjunction of the candidates for it that hold there always; nothing if solvers did not answer.
pub(super) fn invariant(
    desk: &Desk,
    prover: &mut Prover,
    system: &System,
    pool: &mut Pool,
    candidates: Vec<Vec<TermId>>,
) -> Option<Vec<TermId>> {
    let mut kept = candidates;
    for (i, start) in system.starts.iter().enumerate() {
        let constraint = system.start_term(pool, StartId::from(i));
        let admissible = system.assumption_term(pool, start.target);
        let before = pool.and([constraint, admissible]);
        let here = kept[start.target.index()].clone();
        kept[start.target.index()] = sift(desk, prover, pool, before, &here, &|_, t| t)?;
    }
    let steps: Vec<Steps> = system.transition_ids().map(|t| Steps::of(system, pool, t)).collect();
    loop {
        let mut changed = false;
        for (t, step) in system.transition_ids().zip(&steps) {
            let (source, target) = (system.transition(t).source, system.transition(t).target);
            let admissible = system.assumption_term(pool, source);
            let before = pool.and(kept[source.index()].iter().copied().chain([admissible, step.formula]));
            let here = kept[target.index()].clone();
            let left = sift(desk, prover, pool, before, &here, &|pool, t| step.behind(pool, t))?;
            if left.len() < here.len() {
                kept[target.index()] = left;
                changed = true;
            }
        }
        if !changed {
            return Some(kept.into_iter().map(|list| pool.and(list)).collect());
        }
    }
}

/// What other engines have proved of the system as it was given and is inductive, by node, since the cursor.
pub(super) fn proved(desk: &Desk, cursor: &mut Cursor) -> Vec<NodeFormulas> {
    let mut found = Vec::new();
    for fact in desk.board().news(cursor) {
        let Fact::Invariant(known) = &*fact else { continue };
        if known.k == 1 && found.len() < MOST_FACTS {
            found.extend(desk.about_given(known.formulas.clone()));
        }
    }
    found
}

/// Those formulas that follow.
fn sift(
    desk: &Desk,
    prover: &mut Prover,
    pool: &mut Pool,
    before: TermId,
    formulas: &[TermId],
    place: &dyn Fn(&mut Pool, TermId) -> TermId,
) -> Option<Vec<TermId>> {
    let mut left: Vec<(TermId, TermId)> = formulas.iter().map(|&t| (t, place(pool, t))).collect();
    while !left.is_empty() {
        let all = pool.and(left.iter().map(|(_, t)| *t));
        let broken = pool.not(all);
        let question = pool.and([before, broken]);
        match prover.solve(desk, pool, question)? {
            None => break,
            Some(model) => {
                let count = left.len();
                left.retain(|(_, t)| holds(pool, *t, &model));
                if left.len() == count {
                    return None;
                }
            }
        }
    }
    Some(left.into_iter().map(|(t, _)| t).collect())
}

/// The formula is true in the model, as far as the model says.
fn holds(pool: &Pool, t: TermId, model: &Model) -> bool {
    let value = |s| model.iter().find(|(m, _)| *m == s).map(|(_, v)| v.clone());
    evaluate(pool, t, &value) == Ok(Value::Bool(true))
}
