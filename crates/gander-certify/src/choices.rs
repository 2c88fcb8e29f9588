//! Steps that are chosen by formulas: in every state of a set some choice applies, and what it chooses is a step that
//! serves its aim.
//!
//! With `A` the assumptions, `S` the set, `P` what is already enough: `A`, `S` and not `P` imply that some choice of the node
//! applies; and where a choice applies, the transition with the given parameters and next values is a step that serves the
//! aim. Values that are not given are existential.

use gander_system::{Choices, NodeTerms};
use gander_term::{Importer, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::case::Case;
use crate::eliminate;
use crate::invariant::bring_term;
use crate::rejection::{Rejection, wrong};
use crate::relation::{Relation, admissible};

/// What a chosen step is for. Formulas and ranks are by node.
pub(crate) enum Aim<'a> {
    /// It leads into the set.
    Stay(&'a [TermId]),
    /// From states of the set without `done` it makes the ranks smaller.
    Descend { set: &'a [TermId], done: &'a [TermId], ranks: &'a [Vec<TermId>] },
}

impl Aim<'_> {
    /// Where a step has to be chosen, at a node.
    fn wherever(&self, case: &mut Case<'_>, n: usize) -> TermId {
        match self {
            Aim::Stay(set) => set[n],
            Aim::Descend { set, done, .. } => {
                let open = case.pool.not(done[n]);
                case.pool.and([set[n], open])
            }
        }
    }

    /// What has to hold of a step, over what the relation is over.
    fn served(&self, case: &mut Case<'_>, relation: &Relation, source: usize, target: usize) -> TermId {
        match self {
            Aim::Stay(set) => relation.behind(case, set[target]),
            Aim::Descend { ranks, .. } => {
                let next: Vec<TermId> = ranks[target].iter().map(|&r| relation.behind(case, r)).collect();
                smaller(case, &ranks[source], &next)
            }
        }
    }
}

/// `next` is smaller than `now` in the order of tuples: some component is not negative and decreases by at least 1, and
/// those before it do not increase.
///
/// That cannot go on for ever: with every component `r` replaced by the greatest integer not above `max(r, -1)`, tuples
/// of integers of at least -1 become smaller lexicographically.
pub(crate) fn smaller(case: &mut Case<'_>, now: &[TermId], next: &[TermId]) -> TermId {
    let mut ways = Vec::new();
    let mut before = Vec::new();
    for (&r, &s) in now.iter().zip(next) {
        let (zero, one) = match case.pool.sort(r) {
            Sort::Real => (case.pool.real(gander_term::RBig::ZERO), case.pool.real(gander_term::RBig::ONE)),
            _ => (case.pool.int(0), case.pool.int(1)),
        };
        let bounded = case.pool.le(zero, r);
        let less = case.pool.sub(r, one);
        let decreases = case.pool.le(s, less);
        let kept = before.clone();
        ways.push(case.pool.and(kept.into_iter().chain([bounded, decreases])));
        before.push(case.pool.le(s, r));
    }
    case.pool.or(ways)
}

/// No component increases.
pub(crate) fn no_greater(case: &mut Case<'_>, now: &[TermId], next: &[TermId]) -> TermId {
    let parts: Vec<TermId> = now.iter().zip(next).map(|(&r, &s)| case.pool.le(s, r)).collect();
    case.pool.and(parts)
}

/// Ranks in the pool of the check: numbers over state variables, of the same sorts at all nodes that `used` picks.
pub(crate) fn bring_ranks(
    case: &mut Case<'_>,
    ranks: &NodeTerms,
    used: &dyn Fn(usize) -> bool,
) -> Result<Vec<Vec<TermId>>, Rejection> {
    if ranks.by_node.len() != case.system.nodes.len() {
        return Err(wrong("there must be ranks for each node"));
    }
    let mut importer = Importer::new();
    let mut here: Vec<Vec<TermId>> = Vec::new();
    let mut sorts: Option<Vec<Sort>> = None;
    for (n, terms) in ranks.by_node.iter().enumerate() {
        let mut tuple = Vec::new();
        for &t in terms {
            let t = bring_term(case, &mut importer, &ranks.pool, t, &|| "a rank".to_string())?;
            if !case.pool.sort(t).is_numeric() {
                return Err(wrong("a rank is not a number"));
            }
            tuple.push(t);
        }
        if used(n) {
            let these: Vec<Sort> = tuple.iter().map(|&t| case.pool.sort(t)).collect();
            if sorts.get_or_insert_with(|| these.clone()) != &these {
                return Err(wrong("ranks of different nodes cannot be compared"));
            }
        }
        here.push(tuple);
    }
    Ok(here)
}

/// Checks that choices serve their aim.
pub(crate) fn check_choices(case: &mut Case<'_>, choices: &Choices, aim: &Aim<'_>) -> Result<(), Rejection> {
    let system = case.system;
    let mut importer = Importer::new();
    let mut applies: Vec<Vec<TermId>> = vec![Vec::new(); system.nodes.len()];
    let mut obligations = Vec::new();
    for choice in &choices.list {
        let Some(transition) = system.transitions.get(choice.transition.index()) else {
            return Err(wrong("a choice is of a transition that the system has not got"));
        };
        if choice.params.len() != transition.params.len() || choice.next.len() != system.vars.len() {
            return Err(wrong(format!("a choice of `{}` has a wrong number of values", transition.name)));
        }
        let when = bring_term(case, &mut importer, &choices.pool, choice.when, &|| "a choice".to_string())?;
        if case.pool.sort(when) != Sort::Bool {
            return Err(wrong("what says where a choice applies is no formula"));
        }
        let relation = Relation::new(case, choice.transition);
        let mut given: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let params = transition.params.iter().map(|p| (p.symbol, p.sort)).zip(&choice.params);
        let next = system.vars.iter().map(|v| (v.next, v.sort)).zip(&choice.next);
        for ((symbol, sort), value) in params.chain(next) {
            let Some(value) = *value else { continue };
            if !relation.params.contains(&symbol) && !relation.open.contains(&symbol) {
                return Err(wrong(format!("a choice of `{}` gives a value that its effect gives", transition.name)));
            }
            let value = bring_term(case, &mut importer, &choices.pool, value, &|| "a choice".to_string())?;
            if case.pool.sort(value) != sort {
                return Err(wrong(format!("a choice of `{}` has a value of another sort", transition.name)));
            }
            given.insert(symbol, value);
        }
        let (source, target) = (transition.source.index(), transition.target.index());
        applies[source].push(when);
        let served = aim.served(case, &relation, source, target);
        let step = case.pool.and([relation.formula, served]);
        let step = case.pool.substitute(step, &given);
        let open: Vec<SymbolId> = relation.choices().into_iter().filter(|s| !given.contains_key(s)).collect();
        let step = eliminate::exists(&mut case.pool, &open, step);
        let no_step = case.pool.not(step);
        let assumptions = admissible(case, transition.source);
        let wherever = aim.wherever(case, source);
        let formula = case.pool.and([assumptions, wherever, when, no_step]);
        obligations.push((formula, format!("a choice of `{}` does not lead where it should", transition.name)));
    }
    for n in system.node_ids() {
        let some = case.pool.or(applies[n.index()].iter().copied());
        let none = case.pool.not(some);
        let assumptions = admissible(case, n);
        let wherever = aim.wherever(case, n.index());
        let formula = case.pool.and([assumptions, wherever, none]);
        obligations.push((formula, format!("no choice applies in some state at node `{}`", system.node(n).name)));
    }
    case.refute_all(&obligations)
}
