//! Verdicts in memory, for the next check of a version of the same model.
//!
//! A program that checks a model again after each edit keeps one [`EarlierVerdicts`] for the model
//! and gives it to each check. A check looks there for evidence, before it looks into the folder of
//! [`crate::CheckOptions::cache`], and checks the evidence for the system at hand. Obligations that
//! solvers discharged before are not given to them again ([`Refutations`]).
//!
//! Evidence has ids of nodes, variables and transitions, so it is used only for systems with the
//! same ones in the same order, with its formulas translated to the terms of that system. Verdicts
//! do not depend on that: the checker trusts no evidence.
//!
//! Invariant: all evidence is for systems of the shape of `system`, and its terms are in pools that
//! fork the pool of that system. So no other system is kept alive.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use gander_certify::Refutations;
use gander_engines::Outcome;
use gander_runtime::lock;
use gander_system::{ClaimId, Evidence, NodeFormulas, System, Transition, Verdict};
use gander_term::{Importer, Pool, TermId};

/// The number of systems of a model.
const MAX_SYSTEMS: usize = 16;

/// See the module's documentation.
#[derive(Debug, Default)]
pub struct EarlierVerdicts {
    /// By the name of the system.
    systems: Mutex<BTreeMap<String, Earlier>>,
    refutations: Arc<Refutations>,
}

/// What is known of a system.
#[derive(Debug)]
struct Earlier {
    system: Arc<System>,
    /// By the name of the claim.
    verdicts: BTreeMap<String, Verdict>,
}

impl EarlierVerdicts {
    /// The formulas that solvers refuted.
    pub(crate) fn refutations(&self) -> &Arc<Refutations> {
        &self.refutations
    }

    /// Verdicts of claims with the names of these, for a system of this shape, in the order of the
    /// claims.
    pub(super) fn fitting(
        &self,
        system: &Arc<System>,
        claims: &[ClaimId],
    ) -> Vec<(ClaimId, Verdict)> {
        let mut systems = lock(&self.systems);
        let Some(earlier) = systems.get_mut(system.name()) else { return Vec::new() };
        if !earlier.translate(system) {
            systems.remove(system.name());
            return Vec::new();
        }
        let verdict = |&claim: &ClaimId| {
            let verdict = earlier.verdicts.get(&system.claims()[claim.index()].name)?;
            Some((claim, verdict.clone()))
        };
        claims.iter().filter_map(verdict).collect()
    }

    /// Keeps the verdicts that a check found.
    pub(super) fn keep<'o>(
        &self,
        system: &Arc<System>,
        outcomes: impl Iterator<Item = &'o Outcome>,
    ) {
        let mut systems = lock(&self.systems);
        if systems.len() >= MAX_SYSTEMS && !systems.contains_key(system.name()) {
            // Which one is dropped does not matter.
            systems.pop_first();
        }
        let new = || Earlier { system: Arc::clone(system), verdicts: BTreeMap::new() };
        let earlier = systems.entry(system.name().to_string()).or_insert_with(new);
        // Another check may have had another version.
        if !earlier.translate(system) {
            *earlier = new();
        }
        for outcome in outcomes {
            let name = &system.claims()[outcome.claim.index()].name;
            if is_kept(&outcome.verdict) {
                earlier.verdicts.insert(name.clone(), outcome.verdict.clone());
            } else {
                earlier.verdicts.remove(name);
            }
        }
    }
}

impl Earlier {
    /// Makes everything fit a system of the same shape. False if the system has another shape.
    fn translate(&mut self, system: &Arc<System>) -> bool {
        if Arc::ptr_eq(&self.system, system) {
            return true;
        }
        if !have_same_shape(&self.system, system) {
            return false;
        }
        let mut pool = Pool::fork(system.pool());
        let mut translation = Translation::default();
        self.verdicts.retain(|_, verdict| translation.collect(&mut pool, verdict).is_some());
        let pool = pool.freeze();
        for verdict in self.verdicts.values_mut() {
            translation.replace(&pool, verdict);
        }
        self.system = Arc::clone(system);
        true
    }
}

/// True of verdicts whose only terms are those of [`formulas`].
fn is_kept(verdict: &Verdict) -> bool {
    use Evidence as E;
    match verdict {
        Verdict::Holds(evidence) | Verdict::Fails(evidence) => matches!(
            evidence,
            E::Run(_)
                | E::Lasso { .. }
                | E::Invariant(_)
                | E::KInductive { .. }
                | E::Diameter { .. }
                | E::ClosedSet { .. }
                | E::Refutation
        ),
        Verdict::Unknown { .. } => false,
    }
}

/// The formulas in a verdict of a kind that is kept.
fn formulas(verdict: &mut Verdict) -> Option<&mut NodeFormulas> {
    match verdict {
        Verdict::Holds(e) | Verdict::Fails(e) => match e {
            Evidence::Invariant(formulas) => Some(formulas),
            Evidence::KInductive { invariant, .. } => Some(invariant),
            _ => None,
        },
        Verdict::Unknown { .. } => None,
    }
}

/// Formulas of evidence, and their terms in another pool. One list can be the evidence for
/// thousands of claims, and is one list afterwards.
#[derive(Default)]
struct Translation {
    lists: Vec<(NodeFormulas, Arc<[TermId]>)>,
    /// By address: the importers of the pools that the lists hold.
    importers: BTreeMap<*const Pool, Importer>,
}

impl Translation {
    fn list(&self, of: &NodeFormulas) -> Option<&Arc<[TermId]>> {
        self.lists.iter().rev().find(|(from, _)| from.is_copy_of(of)).map(|(_, list)| list)
    }

    /// Translates the formulas of a verdict; none if that is impossible.
    fn collect(&mut self, pool: &mut Pool, verdict: &mut Verdict) -> Option<()> {
        let Some(from) = formulas(verdict) else { return Some(()) };
        if self.list(from).is_none() {
            let importer = self.importers.entry(Arc::as_ptr(&from.pool)).or_default();
            let terms = from.by_node.iter().map(|&t| importer.import(pool, &from.pool, t).ok());
            let list: Arc<[TermId]> = terms.collect::<Option<Vec<_>>>()?.into();
            self.lists.push((from.clone(), list));
        }
        Some(())
    }

    fn replace(&self, pool: &Arc<Pool>, verdict: &mut Verdict) {
        if let Some(formulas) = formulas(verdict)
            && let Some(list) = self.list(formulas)
        {
            *formulas = NodeFormulas { pool: Arc::clone(pool), by_node: Arc::clone(list) };
        }
    }
}

/// True if ids of nodes, variables, starts, transitions, parameters and enumerations mean the same
/// in both systems.
fn have_same_shape(a: &System, b: &System) -> bool {
    fn all<X, Y>(a: &[X], b: &[Y], are_same: impl Fn(&X, &Y) -> bool) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| are_same(x, y))
    }
    let enumerations = |s: &System| -> Vec<_> {
        s.pool().enumerations().map(|e| s.pool().enumeration(e).clone()).collect()
    };
    let are_same_transitions = |x: &Transition, y: &Transition| {
        (&x.name, x.source, x.target) == (&y.name, y.source, y.target)
            && all(&x.params, &y.params, |p, q| {
                a.pool().symbol(p.symbol).sort == b.pool().symbol(q.symbol).sort
            })
    };
    // Sorts of enumerations are ids, so these are compared first.
    enumerations(a) == enumerations(b)
        && all(a.nodes(), b.nodes(), |x, y| x.name == y.name)
        && all(a.vars(), b.vars(), |x, y| {
            let (x, y) = (a.pool().symbol(x.current), b.pool().symbol(y.current));
            (&x.name, x.sort) == (&y.name, y.sort)
        })
        && all(a.starts(), b.starts(), |x, y| (&x.name, x.target) == (&y.name, y.target))
        && all(a.transitions(), b.transitions(), are_same_transitions)
}
