//! Reduces a proof and finds the parts it uses: IVC_UC.
//!
//! A proof is a set R of formulas, including the claim's, that is k-inductive: R holds in every
//! state that is fewer than k steps from a start, and R in k successive states implies R in the
//! next. [`Explainer::reduce`] minimises k, reduces the invariants and minimises the core
//! (algorithms 4 to 7 of E. Ghassabani, Inductive Validity Cores, 2020). Solvers' cores are not
//! minimal, so members are removed one by one with further queries.

pub(crate) mod first;
pub(crate) mod reuse;

use std::sync::Arc;

use gander_system::{Evidence, NodeFormulas, NodeId, System, Verdict};
use gander_term::{Importer, Op, Pool, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::explainer::{Explainer, Stop};
use crate::parts::set::PartSet;
use crate::unrolling::path::{From, Grounds, Path, PathAnswer, PathQuery, WatchId};
use crate::unrolling::witness::{Witness, violated_at};

/// Formulas that together are k-inductive in the relaxation with these parts.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    pub k: u32,
    pub formulas: Vec<WatchId>,
    pub parts: PartSet,
    /// Positions of the constraints it uses; `None` if not known.
    pub constraints: Option<PartSet>,
    /// The evidence of an engine, if it could not be reduced to formulas.
    pub given: Option<Evidence>,
}

/// The result of an induction attempt.
pub(crate) enum Tried {
    /// These formulas, including the claim's, are k-inductive.
    Inductive(Vec<WatchId>),
    /// A run of the relaxation violates the claim.
    Violated(Witness, u32),
    /// The candidates do not prove the claim.
    NotEnough,
}

/// Which candidates a path violates.
enum Dropped {
    Nothing,
    Others,
    Property,
}

/// How thoroughly formulas are removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Thoroughness {
    /// Keep those that a refutation uses.
    AsUsed,
    /// Also try to remove each of them.
    OneByOne,
}

/// The parts and constraints that refutations use.
#[derive(Clone)]
pub(crate) struct Used {
    pub parts: PartSet,
    pub constraints: PartSet,
}

impl Used {
    fn of(grounds: Grounds) -> Used {
        Used { parts: grounds.parts, constraints: grounds.constraints }
    }

    /// The union of both.
    pub(crate) fn union(&self, other: &Used) -> Used {
        Used {
            parts: self.parts.union(&other.parts),
            constraints: self.constraints.union(&other.constraints),
        }
    }

    fn union_of(cases: &[Used]) -> Used {
        let all = cases.iter().cloned().reduce(|a, b| a.union(&b));
        all.unwrap_or_else(|| Used { parts: PartSet::none(0), constraints: PartSet::none(0) })
    }
}

/// Formulas are removed one by one only from sets of at most this size.
const MAX_SINGLE_REMOVALS: usize = 400;

impl Explainer<'_> {
    /// The greatest k-inductive subset of the candidates that has the claim's formula, in a
    /// relaxation (Houdini).
    pub(crate) fn try_candidates(
        &mut self,
        kept: &PartSet,
        k: u32,
        candidates: &[WatchId],
    ) -> Result<Tried, Stop> {
        let Some(property) = self.property else { return Ok(Tried::NotEnough) };
        let mut left = vec![property];
        left.extend(candidates.iter().copied().filter(|&c| c != property));
        // If the claim does not follow from all candidates, it does not follow from a subset.
        let query =
            PathQuery { kept, from: From::Anywhere, steps: k, along: &left, violated: &[property] };
        if !matches!(self.query(&query)?, PathAnswer::Refuted(_)) {
            return Ok(Tried::NotEnough);
        }
        for steps in 0..k {
            loop {
                let query =
                    PathQuery { kept, from: From::Start, steps, along: &[], violated: &left };
                match self.query(&query)? {
                    PathAnswer::Refuted(_) => break,
                    PathAnswer::Unknown => return Ok(Tried::NotEnough),
                    PathAnswer::Exists => match self.drop_violated(steps, &mut left) {
                        Dropped::Others => {}
                        Dropped::Nothing => return Ok(Tried::NotEnough),
                        Dropped::Property => {
                            return Ok(match self.witness(kept, steps) {
                                Some(w) => Tried::Violated(w, steps),
                                None => Tried::NotEnough,
                            });
                        }
                    },
                }
            }
        }
        loop {
            let query =
                PathQuery { kept, from: From::Anywhere, steps: k, along: &left, violated: &left };
            match self.query(&query)? {
                PathAnswer::Refuted(_) => return Ok(Tried::Inductive(left)),
                PathAnswer::Unknown => return Ok(Tried::NotEnough),
                PathAnswer::Exists => match self.drop_violated(k, &mut left) {
                    Dropped::Others => {}
                    Dropped::Nothing | Dropped::Property => return Ok(Tried::NotEnough),
                },
            }
        }
    }

    /// Removes the candidates that are false at the end of the path just found. The claim's
    /// formula, which is first, is never removed.
    fn drop_violated(&mut self, steps: u32, left: &mut Vec<WatchId>) -> Dropped {
        let Ok(values) = self.path.values(steps) else { return Dropped::Nothing };
        let terms: Vec<TermId> = left.iter().map(|&w| self.path.formula(w)).collect();
        let violated = violated_at(&self.path.system, &self.path.pool, &values, steps, &terms);
        self.last_values = Some(values);
        if violated[0] {
            return Dropped::Property;
        }
        let mut flags = violated.iter();
        left.retain(|_| flags.next() == Some(&false));
        if violated.contains(&true) { Dropped::Others } else { Dropped::Nothing }
    }

    /// The run of the path last read, if it violates the claim.
    fn witness(&mut self, kept: &PartSet, steps: u32) -> Option<Witness> {
        let values = self.last_values.take()?;
        self.checked_witness(kept, &values, steps)
    }

    /// A small proof from formulas that are k-inductive in the relaxation.
    ///
    /// The first pass keeps what refutations use. Formulas are removed one by one only on a path
    /// restricted to that, as queries that find a path of a large model are slow.
    pub(crate) fn reduce(
        &mut self,
        kept: &PartSet,
        k: u32,
        formulas: &[WatchId],
    ) -> Result<Option<Proof>, Stop> {
        let k = self.minimise_k(kept, k, formulas)?;
        let Some(formulas) = self.reduce_invariants(kept, k, formulas, Thoroughness::AsUsed)?
        else {
            return Ok(None);
        };
        let Some(cases) = self.cases(kept, k, &formulas)? else { return Ok(None) };
        self.refine(k, &formulas, Used::union_of(&cases))
    }

    /// A small proof from k-inductive formulas and from what their cases use.
    pub(crate) fn refine(
        &mut self,
        k: u32,
        formulas: &[WatchId],
        rough: Used,
    ) -> Result<Option<Proof>, Stop> {
        let fine = self.within_used(&rough, |e| {
            let k = e.minimise_k(&rough.parts, k, formulas)?;
            let fewer = e.reduce_invariants(&rough.parts, k, formulas, Thoroughness::OneByOne)?;
            let formulas = fewer.unwrap_or_else(|| formulas.to_vec());
            let used = e.minimise_core(&rough.parts, k, &formulas)?;
            Ok(used.map(|used| (k, formulas, used)))
        })?;
        let (k, formulas, used) = fine.unwrap_or((k, formulas.to_vec(), rough));
        Ok(Some(Proof {
            k,
            formulas,
            parts: used.parts,
            constraints: Some(used.constraints),
            given: None,
        }))
    }

    /// Runs `work` on a path restricted to these constraints, if that is much smaller. Paths found
    /// there may not be paths of the system.
    fn within_used<T>(&mut self, used: &Used, work: impl FnOnce(&mut Self) -> T) -> T {
        let small = self.path.size_of(&used.parts, &used.constraints);
        if self.path.size() < small + small / 4 + 10 {
            return work(self);
        }
        let narrow = self.path.narrowed_to(&used.parts, &used.constraints);
        self.with_path(narrow, work)
    }

    fn with_path<T>(&mut self, narrow: Path, work: impl FnOnce(&mut Self) -> T) -> T {
        let wide = std::mem::replace(&mut self.path, narrow);
        let result = work(self);
        let narrow = std::mem::replace(&mut self.path, wide);
        self.path.absorb(narrow);
        result
    }

    /// Runs `work` on a path restricted to these parts, if that is much smaller.
    pub(crate) fn within<T>(&mut self, parts: &PartSet, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.path.available.len() < parts.len() + parts.len() / 2 + 10 {
            return work(self);
        }
        let narrow = self.path.narrowed(parts);
        self.with_path(narrow, work)
    }

    /// The least k for which the step case is refuted (algorithm 5).
    fn minimise_k(&mut self, kept: &PartSet, most: u32, formulas: &[WatchId]) -> Result<u32, Stop> {
        for k in 1..most {
            let query = PathQuery {
                kept,
                from: From::Anywhere,
                steps: k,
                along: formulas,
                violated: formulas,
            };
            if let PathAnswer::Refuted(_) = self.query(&query)? {
                return Ok(k);
            }
        }
        Ok(most)
    }

    /// The formulas that the claim's step case uses, those that theirs use, and so on (algorithm
    /// 6).
    fn reduce_invariants(
        &mut self,
        kept: &PartSet,
        k: u32,
        all: &[WatchId],
        how: Thoroughness,
    ) -> Result<Option<Vec<WatchId>>, Stop> {
        let Some(property) = self.property else { return Ok(None) };
        let mut needed = vec![property];
        if all.len() == 1 {
            return Ok(Some(needed));
        }
        loop {
            let Some(used) = self.used_formulas(kept, k, all, &needed, how)? else {
                return Ok(None);
            };
            let before = needed.len();
            for w in used {
                if !needed.contains(&w) {
                    needed.push(w);
                }
            }
            if needed.len() == before {
                return Ok(Some(needed));
            }
        }
    }

    /// Formulas that imply `goal` one step later. `goal` itself is always included.
    fn used_formulas(
        &mut self,
        kept: &PartSet,
        k: u32,
        all: &[WatchId],
        goal: &[WatchId],
        how: Thoroughness,
    ) -> Result<Option<Vec<WatchId>>, Stop> {
        let mut along = all.to_vec();
        loop {
            let query =
                PathQuery { kept, from: From::Anywhere, steps: k, along: &along, violated: goal };
            let PathAnswer::Refuted(grounds) = self.query(&query)? else { return Ok(None) };
            let mut smaller: Vec<WatchId> = goal.to_vec();
            smaller.extend(grounds.watched.into_iter().filter(|w| !goal.contains(w)));
            if smaller.len() >= along.len() {
                break;
            }
            along = smaller;
            if how == Thoroughness::AsUsed {
                return Ok(Some(along));
            }
        }
        if how == Thoroughness::AsUsed {
            return Ok(Some(along));
        }
        let mut i = 0;
        while i < along.len() && along.len() <= MAX_SINGLE_REMOVALS {
            if goal.contains(&along[i]) {
                i += 1;
                continue;
            }
            let fewer: Vec<WatchId> = along.iter().copied().filter(|w| *w != along[i]).collect();
            let query =
                PathQuery { kept, from: From::Anywhere, steps: k, along: &fewer, violated: goal };
            match self.query(&query)? {
                PathAnswer::Refuted(grounds) => {
                    along = fewer;
                    along.retain(|w| goal.contains(w) || grounds.watched.contains(w));
                    i = i.min(along.len());
                }
                _ => i += 1,
            }
        }
        Ok(Some(along))
    }

    /// What the base and step cases use. No single part of it can be removed with these formulas
    /// (algorithm 7).
    ///
    /// Only the cases that use a part are queried again without it.
    fn minimise_core(
        &mut self,
        kept: &PartSet,
        k: u32,
        formulas: &[WatchId],
    ) -> Result<Option<Used>, Stop> {
        let Some(mut cases) = self.cases(kept, k, formulas)? else { return Ok(None) };
        let (mut core, mut before) = (Used::union_of(&cases), kept.len());
        while core.parts.len() < before
            && let Some(fewer) = self.cases(&core.parts, k, formulas)?
        {
            before = core.parts.len();
            if Used::union_of(&fewer).parts.len() < before {
                core = Used::union_of(&fewer);
                cases = fewer;
            }
        }
        let members: Vec<usize> = core.parts.iter().collect();
        'parts: for p in members {
            if !core.parts.has(p) || self.is_must(p) {
                continue;
            }
            let fewer = core.parts.without(p);
            let mut without = cases.clone();
            for (case, used) in without.iter_mut().enumerate() {
                if used.parts.has(p) {
                    match self.case(&fewer, k, formulas, case)? {
                        Some(smaller) => *used = smaller,
                        None => continue 'parts,
                    }
                }
            }
            cases = without;
            core = Used::union_of(&cases);
        }
        Ok(Some(core))
    }

    /// What the refutation of a case uses: case 0 is the step, case `i` the runs of `i - 1` steps.
    fn case(
        &mut self,
        kept: &PartSet,
        k: u32,
        formulas: &[WatchId],
        case: usize,
    ) -> Result<Option<Used>, Stop> {
        let query = match case.checked_sub(1) {
            None => PathQuery {
                kept,
                from: From::Anywhere,
                steps: k,
                along: formulas,
                violated: formulas,
            },
            Some(steps) => PathQuery {
                kept,
                from: From::Start,
                steps: steps as u32,
                along: &[],
                violated: formulas,
            },
        };
        Ok(match self.query(&query)? {
            PathAnswer::Refuted(grounds) => Some(Used::of(grounds)),
            PathAnswer::Exists | PathAnswer::Unknown => None,
        })
    }

    /// What the step case and each base case use; `None` if the formulas are not k-inductive or a
    /// query is not decided.
    fn cases(
        &mut self,
        kept: &PartSet,
        k: u32,
        formulas: &[WatchId],
    ) -> Result<Option<Vec<Used>>, Stop> {
        let Some(step) = self.case(kept, k, formulas, 0)? else { return Ok(None) };
        let mut used = step.parts.clone();
        let mut cases = vec![step];
        for steps in 1..=k as usize {
            // Try the parts already used first.
            let mut base = self.case(&used, k, formulas, steps)?;
            if base.is_none() && used != *kept {
                base = self.case(kept, k, formulas, steps)?;
            }
            let Some(base) = base else { return Ok(None) };
            used = used.union(&base.parts);
            cases.push(base);
        }
        Ok(Some(cases))
    }

    /// The verdict about the relaxation, with the proof as evidence.
    pub(crate) fn evidence(&self, proof: &Proof) -> Verdict {
        if let Some(given) = &proof.given {
            return self.proved(given.clone());
        }
        let system = &self.path.system;
        let mut pool = Pool::fork(system.pool());
        let mut importer = Importer::new();
        let terms: Vec<TermId> = proof
            .formulas
            .iter()
            .filter_map(|&w| importer.import(&mut pool, &self.path.pool, self.path.formula(w)).ok())
            .collect();
        let by_node: Vec<TermId> = system
            .node_ids()
            .map(|n| {
                let here = system.node_constant(&mut pool, n);
                let map = FxHashMap::from_iter([(system.location(), here)]);
                let parts: Vec<TermId> = terms.iter().map(|&t| pool.substitute(t, &map)).collect();
                pool.and(parts)
            })
            .collect();
        let invariant = NodeFormulas { pool: pool.freeze(), by_node: by_node.into() };
        let evidence = if proof.k == 1 {
            Evidence::Invariant(invariant)
        } else {
            Evidence::KInductive { k: proof.k, invariant, loop_free: false, no_restart: false }
        };
        self.proved(evidence)
    }
}

/// The conjuncts of the formulas in evidence, as formulas over `@node`, and the k for which they
/// are inductive.
pub(crate) fn candidates_of(
    system: &Arc<System>,
    pool: &mut Pool,
    evidence: &Evidence,
) -> Option<(u32, Vec<TermId>)> {
    let (k, formulas) = match evidence {
        Evidence::Invariant(formulas) => (1, formulas),
        Evidence::KInductive { k, invariant, .. } => (*k, invariant),
        _ => return None,
    };
    let mut importer = Importer::new();
    let (mut found, mut met) = (Vec::new(), FxHashSet::default());
    for (n, &formula) in formulas.by_node.iter().enumerate() {
        let formula = importer.import(pool, &formulas.pool, formula).ok()?;
        for part in conjuncts(pool, formula) {
            let part = if system.nodes().len() == 1 {
                part
            } else {
                let (at, node) =
                    (pool.var(system.location()), system.node_constant(pool, NodeId::from(n)));
                let here = pool.eq(at, node);
                pool.implies(here, part)
            };
            if pool.as_bool(part) != Some(true) && met.insert(part) {
                found.push(part);
            }
        }
    }
    Some((k, found))
}

/// The conjuncts of a formula.
fn conjuncts(pool: &Pool, formula: TermId) -> Vec<TermId> {
    let mut stack = vec![formula];
    let mut parts = Vec::new();
    while let Some(t) = stack.pop() {
        match pool.op(t) {
            Op::And => stack.extend(pool.args(t).iter().rev()),
            _ => parts.push(t),
        }
    }
    parts
}
