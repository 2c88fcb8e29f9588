//! Proofs and the parts they rest on: IVC_UC.
//!
//! A proof is a set R of formulas, the claim's among them, that is k-inductive: every run of fewer than k steps fulfils R
//! throughout, and R in k successive states implies R in the next. [`Explainer::reduce`] makes of a proof a small one, and of
//! the refutations behind it a set of parts from which it still follows: minimise k, reduce the invariants, minimise the core
//! (algorithms 4 to 7 of E. Ghassabani, Inductive Validity Cores, 2020). Solvers' cores are not minimal, so each is
//! made smaller by asking again without one of its members.

use std::sync::Arc;

use gander_system::{Evidence, NodeFormulas, NodeId, System, Verdict};
use gander_term::{Importer, Op, Pool, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::explainer::{Explainer, Stop};
use crate::path::{Found, From, Grounds, Path, Wanted, WatchId};
use crate::set::PartSet;
use crate::witness::{Witness, broken_at};

/// Formulas that are k-inductive together in the relaxation with these parts.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    pub k: u32,
    pub formulas: Vec<WatchId>,
    pub parts: PartSet,
    /// The laws that it rests on, by their position; none if that is not known.
    pub laws: Option<PartSet>,
    /// What engines found, where it could not be reduced.
    pub given: Option<Evidence>,
}

/// What became of candidates for a proof.
pub(crate) enum Tried {
    /// These are k-inductive, the claim's formula among them.
    Inductive(Vec<WatchId>),
    /// The claim is broken by a run of the relaxation.
    Broken(Witness, u32),
    /// They do not prove it.
    NotEnough,
}

/// What a path breaks.
enum Dropped {
    Nothing,
    Others,
    Property,
}

/// How formulas are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Thoroughness {
    /// Those that refutations happen to use.
    AsUsed,
    /// Leaving out one after the other.
    OneByOne,
}

/// The parts behind refutations, and the laws.
#[derive(Clone)]
pub(crate) struct Used {
    pub parts: PartSet,
    pub laws: PartSet,
}

impl Used {
    fn of(grounds: Grounds) -> Used {
        Used { parts: grounds.parts, laws: grounds.laws }
    }

    /// What either is behind.
    pub(crate) fn and(&self, other: &Used) -> Used {
        Used { parts: self.parts.union(&other.parts), laws: self.laws.union(&other.laws) }
    }

    fn by(cases: &[Used]) -> Used {
        let all = cases.iter().cloned().reduce(|a, b| a.and(&b));
        all.unwrap_or_else(|| Used { parts: PartSet::none(0), laws: PartSet::none(0) })
    }
}

/// How many members of a core are tried one by one.
const FEW: usize = 400;

impl Explainer<'_> {
    /// The greatest k-inductive subset of the candidates that has the claim's formula, in a relaxation (Houdini).
    pub(crate) fn try_candidates(&mut self, kept: &PartSet, k: u32, candidates: &[WatchId]) -> Result<Tried, Stop> {
        let Some(property) = self.property else { return Ok(Tried::NotEnough) };
        let mut left = vec![property];
        left.extend(candidates.iter().copied().filter(|&c| c != property));
        // What does not follow from all of them does not follow from some.
        let wanted = Wanted { kept, from: From::Anywhere, steps: k, along: &left, broken: &[property] };
        if !matches!(self.ask(&wanted)?, Found::None(_)) {
            return Ok(Tried::NotEnough);
        }
        for steps in 0..k {
            loop {
                let wanted = Wanted { kept, from: From::Start, steps, along: &[], broken: &left };
                match self.ask(&wanted)? {
                    Found::None(_) => break,
                    Found::Unknown => return Ok(Tried::NotEnough),
                    Found::Path => match self.drop_broken(steps, &mut left) {
                        Dropped::Others => {}
                        Dropped::Nothing => return Ok(Tried::NotEnough),
                        Dropped::Property => {
                            return Ok(match self.witness(kept, steps) {
                                Some(w) => Tried::Broken(w, steps),
                                None => Tried::NotEnough,
                            });
                        }
                    },
                }
            }
        }
        loop {
            let wanted = Wanted { kept, from: From::Anywhere, steps: k, along: &left, broken: &left };
            match self.ask(&wanted)? {
                Found::None(_) => return Ok(Tried::Inductive(left)),
                Found::Unknown => return Ok(Tried::NotEnough),
                Found::Path => match self.drop_broken(k, &mut left) {
                    Dropped::Others => {}
                    Dropped::Nothing | Dropped::Property => return Ok(Tried::NotEnough),
                },
            }
        }
    }

    /// Takes out what the path that was found breaks at its end. The claim's formula is the first, and stays.
    fn drop_broken(&mut self, steps: u32, left: &mut Vec<WatchId>) -> Dropped {
        let Ok(values) = self.path.values(steps) else { return Dropped::Nothing };
        let terms: Vec<TermId> = left.iter().map(|&w| self.path.formula(w)).collect();
        let broken = broken_at(&self.path.system, &self.path.pool, &values, steps, &terms);
        self.last_values = Some(values);
        if broken[0] {
            return Dropped::Property;
        }
        let mut flags = broken.iter();
        left.retain(|_| flags.next() == Some(&false));
        if broken.contains(&true) { Dropped::Others } else { Dropped::Nothing }
    }

    /// The run of the path that was last read, if it breaks the claim.
    fn witness(&mut self, kept: &PartSet, steps: u32) -> Option<Witness> {
        let values = self.last_values.take()?;
        self.checked_witness(kept, &values, steps)
    }

    /// A small proof from formulas that are k-inductive in the relaxation.
    ///
    /// A first look takes what refutations happen to use; the questions one by one are asked where only that is known, as a
    /// path that has all of a large model in it takes long to be found.
    pub(crate) fn reduce(&mut self, kept: &PartSet, k: u32, formulas: &[WatchId]) -> Result<Option<Proof>, Stop> {
        let k = self.minimise_k(kept, k, formulas)?;
        let Some(formulas) = self.reduce_invariants(kept, k, formulas, Thoroughness::AsUsed)? else { return Ok(None) };
        let Some(cases) = self.cases(kept, k, &formulas)? else { return Ok(None) };
        self.refine(k, &formulas, Used::by(&cases))
    }

    /// A small proof from formulas that are k-inductive, and what their cases rest on.
    pub(crate) fn refine(&mut self, k: u32, formulas: &[WatchId], rough: Used) -> Result<Option<Proof>, Stop> {
        let fine = self.within_used(&rough, |e| {
            let k = e.minimise_k(&rough.parts, k, formulas)?;
            let fewer = e.reduce_invariants(&rough.parts, k, formulas, Thoroughness::OneByOne)?;
            let formulas = fewer.unwrap_or_else(|| formulas.to_vec());
            let used = e.minimise_core(&rough.parts, k, &formulas)?;
            Ok(used.map(|used| (k, formulas, used)))
        })?;
        let (k, formulas, used) = fine.unwrap_or((k, formulas.to_vec(), rough));
        Ok(Some(Proof { k, formulas, parts: used.parts, laws: Some(used.laws), given: None }))
    }

    /// Does something with a path that knows only these laws, if that is worth it. The paths that it finds may be none of the system.
    fn within_used<T>(&mut self, used: &Used, work: impl FnOnce(&mut Self) -> T) -> T {
        let small = self.path.size_of(&used.parts, &used.laws);
        if self.path.size() < small + small / 4 + 10 {
            return work(self);
        }
        let narrow = self.path.narrowed_to(&used.parts, &used.laws);
        self.on(narrow, work)
    }

    fn on<T>(&mut self, narrow: Path, work: impl FnOnce(&mut Self) -> T) -> T {
        let wide = std::mem::replace(&mut self.path, narrow);
        let result = work(self);
        let narrow = std::mem::replace(&mut self.path, wide);
        self.path.absorb(narrow);
        result
    }

    /// Does something with a path that knows only these parts, if that is worth it.
    pub(crate) fn within<T>(&mut self, parts: &PartSet, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.path.available.len() < parts.len() + parts.len() / 2 + 10 {
            return work(self);
        }
        let narrow = self.path.narrowed(parts);
        self.on(narrow, work)
    }

    /// The least k for which the step case stands (algorithm 5).
    fn minimise_k(&mut self, kept: &PartSet, most: u32, formulas: &[WatchId]) -> Result<u32, Stop> {
        for k in 1..most {
            let wanted = Wanted { kept, from: From::Anywhere, steps: k, along: formulas, broken: formulas };
            if let Found::None(_) = self.ask(&wanted)? {
                return Ok(k);
            }
        }
        Ok(most)
    }

    /// Formulas that prove the claim, those that prove these, and so on (algorithm 6).
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
            let Some(used) = self.used_formulas(kept, k, all, &needed, how)? else { return Ok(None) };
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

    /// A set of formulas that imply `goal` one step later; those that are needed anyway are free.
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
            let wanted = Wanted { kept, from: From::Anywhere, steps: k, along: &along, broken: goal };
            let Found::None(grounds) = self.ask(&wanted)? else { return Ok(None) };
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
        while i < along.len() && along.len() <= FEW {
            if goal.contains(&along[i]) {
                i += 1;
                continue;
            }
            let fewer: Vec<WatchId> = along.iter().copied().filter(|w| *w != along[i]).collect();
            let wanted = Wanted { kept, from: From::Anywhere, steps: k, along: &fewer, broken: goal };
            match self.ask(&wanted)? {
                Found::None(grounds) => {
                    along = fewer;
                    along.retain(|w| goal.contains(w) || grounds.watched.contains(w));
                    i = i.min(along.len());
                }
                _ => i += 1,
            }
        }
        Ok(Some(along))
    }

    /// What the base and step cases use; no part of it can be left out with these formulas (algorithm 7).
    ///
    /// A part that only some cases use is left out if these can do without it.
    fn minimise_core(&mut self, kept: &PartSet, k: u32, formulas: &[WatchId]) -> Result<Option<Used>, Stop> {
        let Some(mut cases) = self.cases(kept, k, formulas)? else { return Ok(None) };
        let (mut core, mut before) = (Used::by(&cases), kept.len());
        while core.parts.len() < before
            && let Some(fewer) = self.cases(&core.parts, k, formulas)?
        {
            before = core.parts.len();
            if Used::by(&fewer).parts.len() < before {
                core = Used::by(&fewer);
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
            core = Used::by(&cases);
        }
        Ok(Some(core))
    }

    /// What is behind the refutation of a case: the step, or (from one on) the runs of `case - 1` steps.
    fn case(&mut self, kept: &PartSet, k: u32, formulas: &[WatchId], case: usize) -> Result<Option<Used>, Stop> {
        let wanted = match case.checked_sub(1) {
            None => Wanted { kept, from: From::Anywhere, steps: k, along: formulas, broken: formulas },
            Some(steps) => Wanted { kept, from: From::Start, steps: steps as u32, along: &[], broken: formulas },
        };
        Ok(match self.ask(&wanted)? {
            Found::None(grounds) => Some(Used::of(grounds)),
            Found::Path | Found::Unknown => None,
        })
    }

    /// What is behind the step case and behind each base case; none if the formulas are not k-inductive.
    fn cases(&mut self, kept: &PartSet, k: u32, formulas: &[WatchId]) -> Result<Option<Vec<Used>>, Stop> {
        let Some(step) = self.case(kept, k, formulas, 0)? else { return Ok(None) };
        let mut used = step.parts.clone();
        let mut cases = vec![step];
        for steps in 1..=k as usize {
            // What is used anyway is preferred.
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

    /// The proof as evidence about the relaxation.
    pub(crate) fn evidence(&self, proof: &Proof) -> Verdict {
        if let Some(given) = &proof.given {
            return self.proved(given.clone());
        }
        let system = &self.path.system;
        let mut pool = Pool::fork(&system.pool);
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
                let map = FxHashMap::from_iter([(system.location, here)]);
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

/// The conjuncts of the formulas behind evidence, as formulas over `@node`, and the depth at which they are inductive.
pub(crate) fn candidates_of(system: &Arc<System>, pool: &mut Pool, evidence: &Evidence) -> Option<(u32, Vec<TermId>)> {
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
            let part = if system.nodes.len() == 1 {
                part
            } else {
                let (at, node) = (pool.var(system.location), system.node_constant(pool, NodeId::from(n)));
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
