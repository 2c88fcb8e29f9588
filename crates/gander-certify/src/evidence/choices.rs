//! Choices: strategies that pick a step in every state of a set.
//!
//! With `A` the assumptions, `S` the set and `P` the states where no step is needed: `A`, `S` and
//! not `P` imply that some choice of the node applies; and where a choice applies, its transition
//! with the given parameters and next values is a step that meets the requirement. Values that are
//! not given are existential.

use gander_system::{Choices, NodeTerms};
use gander_term::{Importer, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::discharge::CheckContext;
use crate::evidence::invariant::import_term;
use crate::formula::eliminate;
use crate::formula::relation::{Relation, admissible};
use crate::rejection::{Rejection, wrong};

/// What a chosen step must achieve. Formulas and ranks are by node.
pub(crate) enum StepRequirement<'a> {
    /// The step leads into the set.
    Stay(&'a [TermId]),
    /// From states of the set outside of `done`, the step makes the ranks smaller.
    Descend { set: &'a [TermId], done: &'a [TermId], ranks: &'a [Vec<TermId>] },
}

impl StepRequirement<'_> {
    /// The states at a node where a step has to be chosen.
    fn domain(&self, cx: &mut CheckContext<'_>, n: usize) -> TermId {
        match self {
            StepRequirement::Stay(set) => set[n],
            StepRequirement::Descend { set, done, .. } => {
                let open = cx.pool.not(done[n]);
                cx.pool.and([set[n], open])
            }
        }
    }

    /// What a step must satisfy, over the symbols of the relation.
    fn condition(
        &self,
        cx: &mut CheckContext<'_>,
        relation: &Relation,
        source: usize,
        target: usize,
    ) -> TermId {
        match self {
            StepRequirement::Stay(set) => relation.after_step(cx, set[target]),
            StepRequirement::Descend { ranks, .. } => {
                let next: Vec<TermId> =
                    ranks[target].iter().map(|&r| relation.after_step(cx, r)).collect();
                smaller(cx, &ranks[source], &next)
            }
        }
    }
}

/// `next` is smaller than `now` in a well-founded order of tuples: some component is not negative
/// and decreases by at least 1, and those before it do not increase.
///
/// The order is well-founded: with every component `r` replaced by the floor of `max(r, -1)`, a
/// smaller tuple is lexicographically smaller among tuples of integers of at least -1.
pub(crate) fn smaller(cx: &mut CheckContext<'_>, now: &[TermId], next: &[TermId]) -> TermId {
    let mut ways = Vec::new();
    let mut before = Vec::new();
    for (&r, &s) in now.iter().zip(next) {
        let (zero, one) = match cx.pool.sort(r) {
            Sort::Real => {
                (cx.pool.real(gander_term::RBig::ZERO), cx.pool.real(gander_term::RBig::ONE))
            }
            _ => (cx.pool.int(0), cx.pool.int(1)),
        };
        let bounded = cx.pool.le(zero, r);
        let less = cx.pool.sub(r, one);
        let decreases = cx.pool.le(s, less);
        let kept = before.clone();
        ways.push(cx.pool.and(kept.into_iter().chain([bounded, decreases])));
        before.push(cx.pool.le(s, r));
    }
    cx.pool.or(ways)
}

/// No component increases.
pub(crate) fn no_greater(cx: &mut CheckContext<'_>, now: &[TermId], next: &[TermId]) -> TermId {
    let parts: Vec<TermId> = now.iter().zip(next).map(|(&r, &s)| cx.pool.le(s, r)).collect();
    cx.pool.and(parts)
}

/// Imports ranks into the pool of the check: numbers over state variables, with the same sorts at
/// all nodes for which `used` is true.
pub(crate) fn import_ranks(
    cx: &mut CheckContext<'_>,
    ranks: &NodeTerms,
    used: &dyn Fn(usize) -> bool,
) -> Result<Vec<Vec<TermId>>, Rejection> {
    if ranks.by_node.len() != cx.system.nodes().len() {
        return Err(wrong("there must be ranks for each node"));
    }
    let mut importer = Importer::new();
    let mut here: Vec<Vec<TermId>> = Vec::new();
    let mut sorts: Option<Vec<Sort>> = None;
    for (n, terms) in ranks.by_node.iter().enumerate() {
        let mut tuple = Vec::new();
        for &t in terms {
            let t = import_term(cx, &mut importer, &ranks.pool, t, &|| "a rank".to_string())?;
            if !cx.pool.sort(t).is_numeric() {
                return Err(wrong("a rank is not a number"));
            }
            tuple.push(t);
        }
        if used(n) {
            let these: Vec<Sort> = tuple.iter().map(|&t| cx.pool.sort(t)).collect();
            if sorts.get_or_insert_with(|| these.clone()) != &these {
                return Err(wrong("ranks of different nodes cannot be compared"));
            }
        }
        here.push(tuple);
    }
    Ok(here)
}

/// Checks that chosen steps meet a requirement.
pub(crate) fn check_choices(
    cx: &mut CheckContext<'_>,
    choices: &Choices,
    requirement: &StepRequirement<'_>,
) -> Result<(), Rejection> {
    let system = cx.system;
    let mut importer = Importer::new();
    let mut applies: Vec<Vec<TermId>> = vec![Vec::new(); system.nodes().len()];
    let mut obligations = Vec::new();
    for choice in &choices.list {
        let Some(transition) = system.transitions().get(choice.transition.index()) else {
            return Err(wrong("a choice is of a transition that the system has not got"));
        };
        if choice.params.len() != transition.params.len()
            || choice.next.len() != system.vars().len()
        {
            return Err(wrong(format!(
                "a choice of `{}` has a wrong number of values",
                transition.name
            )));
        }
        let when =
            import_term(cx, &mut importer, &choices.pool, choice.when, &|| "a choice".to_string())?;
        if cx.pool.sort(when) != Sort::Bool {
            return Err(wrong("what says where a choice applies is no formula"));
        }
        let relation = Relation::new(cx, choice.transition);
        let mut given: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let params = transition.params.iter().map(|p| (p.symbol, p.sort)).zip(&choice.params);
        let next = system.vars().iter().map(|v| (v.next, v.sort)).zip(&choice.next);
        for ((symbol, sort), value) in params.chain(next) {
            let Some(value) = *value else { continue };
            if !relation.params.contains(&symbol) && !relation.open.contains(&symbol) {
                return Err(wrong(format!(
                    "a choice of `{}` gives a value that its effect gives",
                    transition.name
                )));
            }
            let value =
                import_term(cx, &mut importer, &choices.pool, value, &|| "a choice".to_string())?;
            if cx.pool.sort(value) != sort {
                return Err(wrong(format!(
                    "a choice of `{}` has a value of another sort",
                    transition.name
                )));
            }
            given.insert(symbol, value);
        }
        let (source, target) = (transition.source.index(), transition.target.index());
        applies[source].push(when);
        let condition = requirement.condition(cx, &relation, source, target);
        let step = cx.pool.and([relation.formula, condition]);
        let step = cx.pool.substitute(step, &given);
        let open: Vec<SymbolId> =
            relation.choices().into_iter().filter(|s| !given.contains_key(s)).collect();
        let step = eliminate::exists(&mut cx.pool, &open, step);
        let no_step = cx.pool.not(step);
        let assumptions = admissible(cx, transition.source);
        let domain = requirement.domain(cx, source);
        let formula = cx.pool.and([assumptions, domain, when, no_step]);
        obligations.push((
            formula,
            format!("a choice of `{}` does not lead where it should", transition.name),
        ));
    }
    for n in system.node_ids() {
        let some = cx.pool.or(applies[n.index()].iter().copied());
        let none = cx.pool.not(some);
        let assumptions = admissible(cx, n);
        let domain = requirement.domain(cx, n.index());
        let formula = cx.pool.and([assumptions, domain, none]);
        obligations.push((
            formula,
            format!("no choice applies in some state at node `{}`", system.node(n).name),
        ));
    }
    cx.refute_all(&obligations)
}
