//! Inductive invariants: one obligation for every start, transition and bad condition.
//!
//! With `A` the assumptions: *start* and `A` imply `I`; `I`, `A`, a step and `A'` imply `I'`; `I`
//! and `A` exclude bad states and steps. Obligations are refuted in batches first, and one by one
//! if that fails, so that a failure names its place.

use std::sync::Arc;

use gander_system::{NodeFormulas, StartId, TransitionId};
use gander_term::{Importer, Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::conjuncts::Conjuncts;
use crate::discharge::{CheckContext, Obligation};
use crate::formula::bad::Bad;
use crate::formula::relation::{Relation, admissible};
use crate::rejection::{Rejection, wrong};

/// Imports the formulas of evidence into the pool of the check: one for every node, over state
/// variables only.
pub(crate) fn import_formulas(
    cx: &mut CheckContext<'_>,
    formulas: &NodeFormulas,
) -> Result<Arc<[TermId]>, Rejection> {
    if let Some(list) = cx.known.list(formulas) {
        return Ok(list);
    }
    let nodes = cx.system.nodes();
    if formulas.by_node.len() != nodes.len() {
        let count = formulas.by_node.len();
        return Err(wrong(format!("there are {count} formulas for {} nodes", nodes.len())));
    }
    let mut importer = Importer::new();
    let mut here = Vec::with_capacity(nodes.len());
    for (node, &t) in nodes.iter().zip(formulas.by_node.iter()) {
        let what = || format!("the formula of node `{}`", node.name);
        let t = import_term(cx, &mut importer, &formulas.pool, t, &what)?;
        if cx.pool.sort(t) != Sort::Bool {
            return Err(wrong(format!("what is said of node `{}` is no formula", node.name)));
        }
        here.push(t);
    }
    let here: Arc<[TermId]> = here.into();
    cx.known.keep_list(formulas, &here);
    Ok(here)
}

/// Imports a term of evidence over state variables into the pool of the check; `what` names it in
/// messages.
pub(crate) fn import_term(
    cx: &mut CheckContext<'_>,
    importer: &mut Importer,
    pool: &Pool,
    t: TermId,
    what: &dyn Fn() -> String,
) -> Result<TermId, Rejection> {
    if t.index() >= pool.len() {
        return Err(wrong("a formula is not one of its pool"));
    }
    let t =
        importer.import(&mut cx.pool, pool, t).map_err(|e| wrong(format!("{}: {e}", what())))?;
    if cx.known.fit.contains(&t) {
        return Ok(t);
    }
    if let Some(&s) = cx.pool.free_symbols(&[t]).iter().find(|s| !cx.known.variables.contains(s)) {
        return Err(wrong(format!(
            "{} speaks of `{}`, no state variable",
            what(),
            cx.pool.symbol(s).name
        )));
    }
    if has_stray_bound_symbol(&cx.pool, t) {
        return Err(wrong(format!("{} has a loose bound symbol", what())));
    }
    cx.known.fit.insert(t);
    Ok(t)
}

/// True if a symbol of a quantifier occurs outside of it.
fn has_stray_bound_symbol(pool: &Pool, root: TermId) -> bool {
    let mut loose: FxHashMap<TermId, Vec<SymbolId>> = FxHashMap::default();
    for t in pool.postorder(&[root]) {
        let mut symbols: Vec<SymbolId> = match pool.op(t) {
            Op::Symbol(s) if pool.symbol(s).bound => vec![s],
            _ => pool
                .args(t)
                .iter()
                .flat_map(|a| loose.get(a).into_iter().flatten().copied())
                .collect(),
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

/// Checks that the formulas are an inductive invariant that excludes bad states and steps.
pub(crate) fn check_invariant(
    cx: &mut CheckContext<'_>,
    by_node: &Arc<[TermId]>,
    bad: &Bad,
) -> Result<(), Rejection> {
    match cx.known.is_inductive(by_node) {
        Some(support) => cx.rest_on(support),
        None => {
            let before = std::mem::take(&mut cx.support);
            let (obligations, shown) = induction_obligations(cx, by_node);
            cx.refute_all(&obligations)?;
            shown.keep(cx, by_node);
            cx.rest_on(before);
        }
    }
    check_exclusion(cx, by_node, bad)
}

/// The facts to record when all obligations of an induction are discharged.
#[derive(Default)]
pub(crate) struct Shown {
    starts_within: Vec<(StartId, TermId)>,
    kept: Vec<Kept>,
}

/// The number of single induction steps in the cache.
const MAX_STEPS: usize = 20_000_000;

impl Shown {
    fn keep(self, cx: &mut CheckContext<'_>, by_node: &Arc<[TermId]>) {
        let (known, support) = (&mut cx.known, cx.support);
        if known.kept.len() + self.kept.len() <= MAX_STEPS {
            known
                .starts_within
                .extend(self.starts_within.into_iter().map(|start| (start, support)));
            known.kept.extend(self.kept.into_iter().map(|kept| (kept, support)));
        }
        known.keep_inductive(by_node, support);
    }
}

/// The obligations that starts satisfy the formulas and transitions preserve them, without those
/// already discharged.
pub(crate) fn induction_obligations(
    cx: &mut CheckContext<'_>,
    by_node: &[TermId],
) -> (Vec<Obligation>, Shown) {
    let system = cx.system;
    let (mut obligations, mut shown) = (Vec::new(), Shown::default());
    for (i, start) in system.starts().iter().enumerate() {
        let holds = by_node[start.target.index()];
        if let Some(&support) = cx.known.starts_within.get(&(StartId::from(i), holds)) {
            cx.rest_on(support);
            continue;
        }
        shown.starts_within.push((StartId::from(i), holds));
        let constraint = system.start_term(&mut cx.pool, StartId::from(i));
        let assumptions = admissible(cx, start.target);
        let broken = cx.pool.not(holds);
        let formula = cx.pool.and([constraint, assumptions, broken]);
        obligations.push((formula, format!("the invariant does not hold after `{}`", start.name)));
    }
    let (preservation, kept) = preservation_obligations(cx, by_node);
    obligations.extend(preservation);
    shown.kept = kept;
    (obligations, shown)
}

/// A transition that leads from every state of the first formula to a state of the second.
type Kept = (TransitionId, TermId, TermId);

/// The obligations that transitions preserve the formulas, without those already discharged and
/// those that few conjuncts of a large formula discharge in this process; and the facts that they
/// show.
pub(crate) fn preservation_obligations(
    cx: &mut CheckContext<'_>,
    by_node: &[TermId],
) -> (Vec<Obligation>, Vec<Kept>) {
    let system = cx.system;
    let (mut obligations, mut kept) = (Vec::new(), Vec::new());
    let mut conjuncts: FxHashMap<TermId, Conjuncts> = FxHashMap::default();
    for t in system.transition_ids() {
        let (source, target) = (system.transition(t).source, system.transition(t).target);
        let (before, after) = (by_node[source.index()], by_node[target.index()]);
        if cx.pool.as_bool(after) == Some(true) || cx.pool.as_bool(before) == Some(false) {
            continue;
        }
        if let Some(&support) = cx.known.kept.get(&(t, before, after)) {
            cx.rest_on(support);
            continue;
        }
        kept.push((t, before, after));
        let relation = Relation::new(cx, t);
        for f in [before, after] {
            conjuncts.entry(f).or_insert_with(|| Conjuncts::of(&cx.pool, f));
        }
        let broken = conjuncts[&after].broken_by(cx, &relation, &conjuncts[&before]);
        if cx.pool.as_bool(broken) == Some(false)
            || conjuncts[&before].exclude(cx, &relation, broken)
        {
            continue;
        }
        let assumptions = admissible(cx, source);
        let formula = cx.pool.and([before, assumptions, relation.formula, broken]);
        obligations.push((
            formula,
            format!("`{}` does not keep the invariant", system.transition(t).name),
        ));
    }
    (obligations, kept)
}

/// Checks that no admissible state (or step from one) that satisfies the formulas is bad.
pub(crate) fn check_exclusion(
    cx: &mut CheckContext<'_>,
    by_node: &[TermId],
    bad: &Bad,
) -> Result<(), Rejection> {
    let mut obligations = Vec::new();
    exclusion_obligations(cx, by_node, bad, &mut obligations);
    cx.refute_all(&obligations)
}

/// The obligations that the formulas exclude bad states and steps.
pub(crate) fn exclusion_obligations(
    cx: &mut CheckContext<'_>,
    by_node: &[TermId],
    bad: &Bad,
    obligations: &mut Vec<Obligation>,
) {
    let system = cx.system;
    for &(n, formula) in &bad.states {
        let before = admissible(cx, n);
        let formula = cx.pool.and([by_node[n.index()], before, formula]);
        let what = format!(
            "the invariant does not exclude what it has to at node `{}`",
            system.node(n).name
        );
        obligations.push((formula, what));
    }
    for &(t, formula) in &bad.steps {
        let source = system.transition(t).source;
        let relation = Relation::new(cx, t);
        let before = admissible(cx, source);
        let formula = cx.pool.and([by_node[source.index()], before, relation.formula, formula]);
        let what =
            format!("the invariant does not exclude the steps of `{}`", system.transition(t).name);
        obligations.push((formula, what));
    }
}
