//! Inductive invariants: one obligation for every start, transition and bad condition.
//!
//! With `A` the assumptions: *start* and `A` imply `I`; `I`, `A`, a step and `A'` imply `I'`; `I` and `A` exclude what is
//! bad. Obligations are first refuted together; if that fails, each on its own, so a failure names the place.

use gander_system::{NodeFormulas, StartId};
use gander_term::{Importer, Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::bad::Bad;
use crate::case::{Case, Obligation};
use crate::rejection::{Rejection, wrong};
use crate::relation::{Relation, admissible};

/// The formulas of evidence in the pool of the check: one for every node, over state variables only.
pub(crate) fn bring(case: &mut Case<'_>, formulas: &NodeFormulas) -> Result<Vec<TermId>, Rejection> {
    let nodes = &case.system.nodes;
    if formulas.by_node.len() != nodes.len() {
        let count = formulas.by_node.len();
        return Err(wrong(format!("there are {count} formulas for {} nodes", nodes.len())));
    }
    let mut importer = Importer::new();
    let mut here = Vec::with_capacity(nodes.len());
    for (node, &t) in nodes.iter().zip(formulas.by_node.iter()) {
        let t = bring_term(case, &mut importer, &formulas.pool, t, &format!("the formula of node `{}`", node.name))?;
        if case.pool.sort(t) != Sort::Bool {
            return Err(wrong(format!("what is said of node `{}` is no formula", node.name)));
        }
        here.push(t);
    }
    Ok(here)
}

/// A term of evidence in the pool of the check, over state variables only; `what` names it in messages.
pub(crate) fn bring_term(
    case: &mut Case<'_>,
    importer: &mut Importer,
    pool: &Pool,
    t: TermId,
    what: &str,
) -> Result<TermId, Rejection> {
    if t.index() >= pool.len() {
        return Err(wrong("a formula is not one of its pool"));
    }
    let t = importer.import(&mut case.pool, pool, t).map_err(|e| wrong(format!("{what}: {e}")))?;
    let known = |s: SymbolId| case.system.vars.iter().any(|v| v.current == s);
    if let Some(&s) = case.pool.free_symbols(&[t]).iter().find(|&&s| !known(s)) {
        return Err(wrong(format!("{what} speaks of `{}`, no state variable", case.pool.symbol(s).name)));
    }
    if has_stray_bound_symbol(&case.pool, t) {
        return Err(wrong(format!("{what} has a loose bound symbol")));
    }
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
pub(crate) fn check_invariant(case: &mut Case<'_>, by_node: &[TermId], bad: &Bad) -> Result<(), Rejection> {
    let obligations = invariant_obligations(case, by_node, bad);
    case.refute_all(&obligations)
}

/// What must have no solution if the formulas are an inductive invariant that excludes what is bad.
pub(crate) fn invariant_obligations(case: &mut Case<'_>, by_node: &[TermId], bad: &Bad) -> Vec<Obligation> {
    let system = case.system;
    let mut obligations = Vec::new();
    for (i, start) in system.starts.iter().enumerate() {
        let constraint = system.start_term(&mut case.pool, StartId::from(i));
        let assumptions = admissible(case, start.target);
        let broken = case.pool.not(by_node[start.target.index()]);
        let formula = case.pool.and([constraint, assumptions, broken]);
        obligations.push((formula, format!("the invariant does not hold after `{}`", start.name)));
    }
    for t in system.transition_ids() {
        let (source, target) = (system.transition(t).source, system.transition(t).target);
        // Nothing to keep.
        if case.pool.as_bool(by_node[target.index()]) == Some(true)
            || case.pool.as_bool(by_node[source.index()]) == Some(false)
        {
            continue;
        }
        let relation = Relation::new(case, t);
        let broken = case.pool.not(by_node[target.index()]);
        let broken = relation.behind(case, broken);
        let before = admissible(case, source);
        let formula = case.pool.and([by_node[source.index()], before, relation.formula, broken]);
        obligations.push((formula, format!("`{}` does not keep the invariant", system.transition(t).name)));
    }
    exclusion_obligations(case, by_node, bad, &mut obligations);
    obligations
}

/// Checks that no admissible state (or step from one) that satisfies the formulas is bad.
pub(crate) fn check_exclusion(case: &mut Case<'_>, by_node: &[TermId], bad: &Bad) -> Result<(), Rejection> {
    let mut obligations = Vec::new();
    exclusion_obligations(case, by_node, bad, &mut obligations);
    case.refute_all(&obligations)
}

fn exclusion_obligations(case: &mut Case<'_>, by_node: &[TermId], bad: &Bad, obligations: &mut Vec<Obligation>) {
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
