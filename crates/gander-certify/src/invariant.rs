//! Inductive invariants: one obligation for every start, transition and bad condition.
//!
//! With `A` the assumptions: *start* and `A` imply `I`; `I`, `A`, a step and `A'` imply `I'`; `I` and `A` exclude what is
//! bad. Obligations are first refuted together; if that fails, each on its own, so a failure names the place.

use std::sync::Arc;

use gander_system::{NodeFormulas, StartId, TransitionId};
use gander_term::{Importer, Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::bad::Bad;
use crate::case::{Case, Obligation};
use crate::rejection::{Rejection, wrong};
use crate::relation::{Relation, admissible};

/// The formulas of evidence in the pool of the check: one for every node, over state variables only.
pub(crate) fn bring(case: &mut Case<'_>, formulas: &NodeFormulas) -> Result<Arc<[TermId]>, Rejection> {
    if let Some(list) = case.known.list(formulas) {
        return Ok(list);
    }
    let nodes = &case.system.nodes;
    if formulas.by_node.len() != nodes.len() {
        let count = formulas.by_node.len();
        return Err(wrong(format!("there are {count} formulas for {} nodes", nodes.len())));
    }
    let mut importer = Importer::new();
    let mut here = Vec::with_capacity(nodes.len());
    for (node, &t) in nodes.iter().zip(formulas.by_node.iter()) {
        let what = || format!("the formula of node `{}`", node.name);
        let t = bring_term(case, &mut importer, &formulas.pool, t, &what)?;
        if case.pool.sort(t) != Sort::Bool {
            return Err(wrong(format!("what is said of node `{}` is no formula", node.name)));
        }
        here.push(t);
    }
    let here: Arc<[TermId]> = here.into();
    case.known.keep_list(formulas, &here);
    Ok(here)
}

/// A term of evidence in the pool of the check, over state variables only; `what` names it in messages.
pub(crate) fn bring_term(
    case: &mut Case<'_>,
    importer: &mut Importer,
    pool: &Pool,
    t: TermId,
    what: &dyn Fn() -> String,
) -> Result<TermId, Rejection> {
    if t.index() >= pool.len() {
        return Err(wrong("a formula is not one of its pool"));
    }
    let t = importer.import(&mut case.pool, pool, t).map_err(|e| wrong(format!("{}: {e}", what())))?;
    if case.known.fit.contains(&t) {
        return Ok(t);
    }
    if let Some(&s) = case.pool.free_symbols(&[t]).iter().find(|s| !case.known.variables.contains(s)) {
        return Err(wrong(format!("{} speaks of `{}`, no state variable", what(), case.pool.symbol(s).name)));
    }
    if has_stray_bound_symbol(&case.pool, t) {
        return Err(wrong(format!("{} has a loose bound symbol", what())));
    }
    case.known.fit.insert(t);
    Ok(t)
}

/// A symbol made for a quantifier stands outside of it.
fn has_stray_bound_symbol(pool: &Pool, root: TermId) -> bool {
    let mut loose: FxHashMap<TermId, Vec<SymbolId>> = FxHashMap::default();
    for t in pool.postorder(&[root]) {
        let mut symbols: Vec<SymbolId> = match pool.op(t) {
            Op::Symbol(s) if pool.symbol(s).bound => vec![s],
            _ => pool.args(t).iter().flat_map(|a| loose.get(a).into_iter().flatten().copied()).collect(),
        };
        if matches!(pool.op(t), Op::Forall | Op::Exists)
            && let Some((_, bound)) = pool.args(t).split_last()
        {
            symbols.retain(|s| !bound.iter().any(|&b| pool.as_symbol(b) == Some(*s)));
        }
        if !symbols.is_empty() {
            symbols.sort_unstable();
            symbols.dedup();
            loose.insert(t, symbols);
        }
    }
    loose.contains_key(&root)
}

/// Checks that the formulas are an inductive invariant that excludes what is bad.
pub(crate) fn check_invariant(case: &mut Case<'_>, by_node: &Arc<[TermId]>, bad: &Bad) -> Result<(), Rejection> {
    match case.known.is_inductive(by_node) {
        Some(support) => case.rest_on(support),
        None => {
            let before = std::mem::take(&mut case.support);
            let (obligations, shown) = induction_obligations(case, by_node);
            case.refute_all(&obligations)?;
            shown.keep(case, by_node);
            case.rest_on(before);
        }
    }
    check_exclusion(case, by_node, bad)
}

/// What is shown when all obligations of an induction are discharged.
#[derive(Default)]
pub(crate) struct Shown {
    begun: Vec<(StartId, TermId)>,
    kept: Vec<Kept>,
}

/// Single steps of inductions that are remembered.
const MOST_STEPS: usize = 20_000_000;

impl Shown {
    fn keep(self, case: &mut Case<'_>, by_node: &Arc<[TermId]>) {
        let (known, support) = (&mut case.known, case.support);
        if known.kept.len() + self.kept.len() <= MOST_STEPS {
            known.begun.extend(self.begun.into_iter().map(|begun| (begun, support)));
            known.kept.extend(self.kept.into_iter().map(|kept| (kept, support)));
        }
        known.keep_inductive(by_node, support);
    }
}

/// What must have no solution if starts satisfy the formulas and transitions keep them, without what is known.
pub(crate) fn induction_obligations(case: &mut Case<'_>, by_node: &[TermId]) -> (Vec<Obligation>, Shown) {
    let system = case.system;
    let (mut obligations, mut shown) = (Vec::new(), Shown::default());
    for (i, start) in system.starts.iter().enumerate() {
        let holds = by_node[start.target.index()];
        if let Some(&support) = case.known.begun.get(&(StartId::from(i), holds)) {
            case.rest_on(support);
            continue;
        }
        shown.begun.push((StartId::from(i), holds));
        let constraint = system.start_term(&mut case.pool, StartId::from(i));
        let assumptions = admissible(case, start.target);
        let broken = case.pool.not(holds);
        let formula = case.pool.and([constraint, assumptions, broken]);
        obligations.push((formula, format!("the invariant does not hold after `{}`", start.name)));
    }
    let (keeping, kept) = keeping_obligations(case, by_node);
    obligations.extend(keeping);
    shown.kept = kept;
    (obligations, shown)
}

/// A step of a transition that was shown to lead from a formula to a formula.
type Kept = (TransitionId, TermId, TermId);

/// What must have no solution if transitions keep the formulas, without what is known; and what is shown then.
pub(crate) fn keeping_obligations(case: &mut Case<'_>, by_node: &[TermId]) -> (Vec<Obligation>, Vec<Kept>) {
    let system = case.system;
    let (mut obligations, mut kept) = (Vec::new(), Vec::new());
    for t in system.transition_ids() {
        let (source, target) = (system.transition(t).source, system.transition(t).target);
        let (before, behind) = (by_node[source.index()], by_node[target.index()]);
        // Nothing to keep.
        if case.pool.as_bool(behind) == Some(true) || case.pool.as_bool(before) == Some(false) {
            continue;
        }
        if let Some(&support) = case.known.kept.get(&(t, before, behind)) {
            case.rest_on(support);
            continue;
        }
        kept.push((t, before, behind));
        let relation = Relation::new(case, t);
        let broken = case.pool.not(behind);
        let broken = relation.behind(case, broken);
        let assumptions = admissible(case, source);
        let formula = case.pool.and([before, assumptions, relation.formula, broken]);
        obligations.push((formula, format!("`{}` does not keep the invariant", system.transition(t).name)));
    }
    (obligations, kept)
}

/// Checks that no admissible state (or step from one) that satisfies the formulas is bad.
pub(crate) fn check_exclusion(case: &mut Case<'_>, by_node: &[TermId], bad: &Bad) -> Result<(), Rejection> {
    let mut obligations = Vec::new();
    exclusion_obligations(case, by_node, bad, &mut obligations);
    case.refute_all(&obligations)
}

/// What must have no solution if the formulas exclude what is bad.
pub(crate) fn exclusion_obligations(
    case: &mut Case<'_>,
    by_node: &[TermId],
    bad: &Bad,
    obligations: &mut Vec<Obligation>,
) {
    let system = case.system;
    for &(n, formula) in &bad.states {
        let before = admissible(case, n);
        let formula = case.pool.and([by_node[n.index()], before, formula]);
        let what = format!("the invariant does not exclude what it has to at node `{}`", system.node(n).name);
        obligations.push((formula, what));
    }
    for &(t, formula) in &bad.steps {
        let source = system.transition(t).source;
        let relation = Relation::new(case, t);
        let before = admissible(case, source);
        let formula = case.pool.and([by_node[source.index()], before, relation.formula, formula]);
        let what = format!("the invariant does not exclude the steps of `{}`", system.transition(t).name);
        obligations.push((formula, what));
    }
}
