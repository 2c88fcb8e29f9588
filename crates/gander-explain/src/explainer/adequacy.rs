//! Decides whether a set of parts is adequate: whether the claim follows from these parts alone.
//!
//! A violating run shows that a set is inadequate, a k-inductive proof that it is adequate. Short
//! runs are searched for first, then induction with the known lemmas is tried, then engines are
//! asked. A run counts only if evaluation confirms it or the prover has checked it.

use std::sync::Arc;
use std::time::Instant;

use gander_system::{Evidence, Verdict};

use super::{Explainer, Stop};
use crate::parts::relax::relaxed;
use crate::parts::set::PartSet;
use crate::proof::{Proof, Tried, candidates_of};
use crate::unrolling::path::{Encoding, From, PathAnswer, PathQuery, Values, WatchId};
use crate::unrolling::witness::{Witness, is_proof};

/// Whether a set of parts suffices to prove the claim.
#[derive(Clone, Debug)]
pub(crate) enum Adequacy {
    /// It does; the proof may use fewer parts.
    Adequate(Proof),
    /// It does not; an inadequate superset is remembered.
    Inadequate,
    /// Not decided.
    Undecided,
}

/// Longest violating runs searched for before induction is tried (`SHORT_RUN`) and before engines
/// are asked (`LONG_RUN`).
const SHORT_RUN: u32 = 2;
const LONG_RUN: u32 = 6;
/// Engines get at most the remaining time divided by this for one relaxation.
const ENGINE_TIME_DIVISOR: u32 = 8;
/// Largest k of the k-inductions tried before engines are asked.
const MAX_K: u32 = 5;

impl Explainer<'_> {
    /// A core from the given evidence; the whole model if the proof cannot be reduced.
    pub(crate) fn first_core(&mut self) -> Result<Option<Proof>, Stop> {
        if let Some(parts) = self.suggested.take()
            && let Adequacy::Adequate(proof) = self.adequacy(&parts)?
        {
            return Ok(Some(proof));
        }
        let first = self.reduced_first()?;
        if let Some(first) = &first {
            let parts = first.parts.clone();
            self.remember_adequate(&parts);
        }
        self.path.query_timeout = Some(self.config.share);
        if first.is_some() {
            return Ok(first);
        }
        let all = self.all();
        if let Adequacy::Adequate(proof) = self.adequacy(&all)? {
            return Ok(Some(proof));
        }
        Ok(self.given.clone().map(|given| Proof {
            k: 0,
            formulas: Vec::new(),
            parts: all,
            constraints: None,
            given: Some(given),
        }))
    }

    /// A core by brute force (algorithm 3), and whether it is known to be minimal.
    pub(crate) fn brute_force(&mut self) -> Result<(Proof, bool), Stop> {
        self.path.query_timeout = Some(self.config.share);
        let all = self.all();
        let members: Vec<usize> = all.iter().collect();
        let given = self.given.clone();
        let (k, formulas, constraints) = (0, Vec::new(), None);
        let mut proof = Proof { k, formulas, parts: all, constraints, given };
        if let Adequacy::Adequate(repeated) = self.adequacy(&proof.parts)? {
            proof = Proof { parts: proof.parts, ..repeated };
        }
        let mut minimal = true;
        for p in members {
            let fewer = proof.parts.without(p);
            match self.adequacy(&fewer)? {
                // The proof may need fewer parts; these are left out in their turn.
                Adequacy::Adequate(found) => proof = Proof { parts: fewer, ..found },
                Adequacy::Inadequate => {}
                Adequacy::Undecided => minimal = false,
            }
        }
        Ok((proof, minimal))
    }

    fn reduced_first(&mut self) -> Result<Option<Proof>, Stop> {
        if self.lemmas.is_empty() {
            return Ok(None);
        }
        let Some(property) = self.property else { return Ok(None) };
        let (all, depth) = (self.all(), self.depth);
        let mut formulas = vec![property];
        formulas.extend(self.lemmas.iter().copied().filter(|w| *w != property));
        self.path.encoding = Encoding::Partial;
        let proof = self.reduce_first(depth, &formulas);
        self.path.encoding = Encoding::Full;
        let proof = proof?;
        if proof.is_some() || self.path.unanswered == 0 {
            return Ok(proof);
        }
        let Some(other) = self.path.with_other_solver() else { return Ok(None) };
        self.path = other;
        self.reduce(&all, depth, &formulas)
    }

    /// Decides whether the parts are adequate. Sets already known are not queried again; new
    /// results are remembered.
    pub(crate) fn adequacy(&mut self, kept: &PartSet) -> Result<Adequacy, Stop> {
        let found = self.decide_adequacy(kept)?;
        if let Adequacy::Adequate(proof) = &found {
            let parts = proof.parts.clone();
            self.remember_adequate(&parts);
        }
        Ok(found)
    }

    fn decide_adequacy(&mut self, kept: &PartSet) -> Result<Adequacy, Stop> {
        if self.inadequate.iter().any(|set| kept.is_subset(set)) {
            return Ok(Adequacy::Inadequate);
        }
        if self.undecided.iter().any(|set| kept.is_subset(set)) {
            return Ok(Adequacy::Undecided);
        }
        if let Some(lengths) = self.lengths {
            return self.bounded_adequacy(kept, lengths);
        }
        if self.property.is_none() {
            return self.by_engines(kept);
        }
        for steps in 0..=SHORT_RUN {
            if let Some(found) = self.find_violation(kept, steps)? {
                return Ok(found);
            }
        }
        let lemmas = self.lemmas.clone();
        if let Some(found) = self.try_induction(kept, self.depth, &lemmas)? {
            return Ok(found);
        }
        // After one share of time, leave the decision to engines.
        let begun = Instant::now();
        for steps in SHORT_RUN + 1..=LONG_RUN {
            if begun.elapsed() >= self.config.share {
                break;
            }
            if let Some(found) = self.find_violation(kept, steps)? {
                return Ok(found);
            }
        }
        let known = self.depth;
        for k in (1..=MAX_K).filter(|&k| k != known) {
            if begun.elapsed() >= self.config.share {
                break;
            }
            if let Some(found) = self.try_induction(kept, k, &lemmas)? {
                return Ok(found);
            }
        }
        self.by_engines(kept)
    }

    fn try_induction(
        &mut self,
        kept: &PartSet,
        k: u32,
        lemmas: &[WatchId],
    ) -> Result<Option<Adequacy>, Stop> {
        match self.try_candidates(kept, k, lemmas)? {
            Tried::Inductive(formulas) => {
                Ok(self.reduce(kept, k, &formulas)?.map(Adequacy::Adequate))
            }
            Tried::Violated(witness, steps) => {
                Ok(Some(self.grow_inadequate(kept, witness, steps)?))
            }
            Tried::NotEnough => Ok(None),
        }
    }

    /// Searches for a violating run of this many steps.
    fn find_violation(&mut self, kept: &PartSet, steps: u32) -> Result<Option<Adequacy>, Stop> {
        let Some(property) = self.property else { return Ok(None) };
        let violated = [property];
        let query = PathQuery { kept, from: From::Start, steps, along: &[], violated: &violated };
        let PathAnswer::Exists = self.query(&query)? else { return Ok(None) };
        let Ok(values) = self.path.values(steps) else { return Ok(None) };
        match self.checked_witness(kept, &values, steps) {
            Some(witness) => self.grow_inadequate(kept, witness, steps).map(Some),
            None => Ok(None),
        }
    }

    /// The run of a path, if evaluation confirms that it is a run of the relaxation and violates
    /// the claim.
    pub(crate) fn checked_witness(
        &mut self,
        kept: &PartSet,
        values: &Values,
        steps: u32,
    ) -> Option<Witness> {
        let witness = Witness::read(&self.path.system, values, steps)?;
        self.accept(kept, witness)
    }

    fn accept(&self, kept: &PartSet, witness: Witness) -> Option<Witness> {
        let (system, pool) = (&self.path.system, &self.path.pool);
        let satisfied = witness.satisfied(system, pool, &self.parts)?;
        let fits = satisfied.rest && kept.is_subset(&satisfied.parts);
        let violates =
            self.property.is_none_or(|p| witness.violates(system, pool, self.path.formula(p)));
        (fits && violates).then_some(witness)
    }

    /// Grows a set that a run shows to be inadequate, by the other parts that hold along the run,
    /// or along other violating runs of the same length.
    pub(crate) fn grow_inadequate(
        &mut self,
        kept: &PartSet,
        witness: Witness,
        steps: u32,
    ) -> Result<Adequacy, Stop> {
        let satisfied = |e: &Self, w: &Witness| {
            w.satisfied(&e.path.system, &e.path.pool, &e.parts)
                .map_or_else(|| kept.clone(), |f| f.parts)
        };
        let mut grown = satisfied(self, &witness);
        let violated: Vec<WatchId> = self.property.into_iter().collect();
        // For claims about infinite runs, a finite path shows nothing.
        let most = if violated.is_empty() { 0 } else { grown.universe() };
        let candidates: Vec<usize> =
            grown.complement().intersection(&self.path.available).iter().take(most).collect();
        for p in candidates {
            if grown.has(p) {
                continue;
            }
            let more = grown.with(p);
            // A superset of an adequate set has no violating run.
            if self.adequate.iter().any(|set| set.is_subset(&more)) {
                continue;
            }
            let query = PathQuery {
                kept: &more,
                from: From::Start,
                steps,
                along: &[],
                violated: &violated,
            };
            if let PathAnswer::Exists = self.query(&query)?
                && let Ok(values) = self.path.values(steps)
                && let Some(witness) = self.checked_witness(&more, &values, steps)
            {
                grown = satisfied(self, &witness);
            }
        }
        self.remember_inadequate(&grown);
        Ok(Adequacy::Inadequate)
    }

    pub(crate) fn remember_inadequate(&mut self, set: &PartSet) {
        self.inadequate.retain(|known| !known.is_subset(set));
        self.inadequate.push(set.clone());
        self.unread.push(set.clone());
    }

    pub(crate) fn remember_adequate(&mut self, set: &PartSet) {
        if !self.adequate.iter().any(|known| known.is_subset(set)) {
            self.adequate.retain(|known| !set.is_subset(known));
            self.adequate.push(set.clone());
        }
    }

    /// Marks a set as undecided: the search continues as if it were inadequate, but concludes
    /// nothing from it.
    pub(crate) fn mark_undecided(&mut self, set: &PartSet) {
        self.undecided.push(set.clone());
        self.unread.push(set.clone());
    }

    /// Asks the prover about the relaxation.
    fn by_engines(&mut self, kept: &PartSet) -> Result<Adequacy, Stop> {
        let system = Arc::new(relaxed(&self.path.system, &self.parts, kept));
        let left = self.path.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        let time =
            left.map_or(self.config.share, |l| (l / ENGINE_TIME_DIVISOR).min(self.config.share));
        if time.is_zero() || self.config.cancellation.is_cancelled() {
            return Err(Stop::OutOfTime);
        }
        let verdict = self.prover.prove(&system, self.claim, time);
        let is_proof = is_proof(self.kind(), &verdict);
        match verdict {
            Verdict::Holds(evidence) | Verdict::Fails(evidence) if is_proof => {
                let proof = self.reduce_evidence(kept, &evidence)?;
                Ok(Adequacy::Adequate(proof))
            }
            Verdict::Holds(Evidence::Run(run) | Evidence::Lasso { run, .. })
            | Verdict::Fails(Evidence::Run(run) | Evidence::Lasso { run, .. }) => {
                let steps = run.length().min(u64::from(u32::MAX)) as u32;
                match self.accept(kept, Witness { run }) {
                    Some(witness) if steps <= 50 => self.grow_inadequate(kept, witness, steps),
                    Some(witness) => {
                        let parts =
                            witness.satisfied(&self.path.system, &self.path.pool, &self.parts);
                        let grown = parts.map_or_else(|| kept.clone(), |f| f.parts);
                        self.remember_inadequate(&grown);
                        Ok(Adequacy::Inadequate)
                    }
                    // The prover has checked a run that omits values.
                    None => {
                        self.remember_inadequate(kept);
                        Ok(Adequacy::Inadequate)
                    }
                }
            }
            // The prover has checked this run into a recurrent set.
            Verdict::Holds(_) | Verdict::Fails(_) => {
                self.remember_inadequate(kept);
                Ok(Adequacy::Inadequate)
            }
            Verdict::Unknown { .. } => {
                self.approximate = true;
                Ok(Adequacy::Undecided)
            }
        }
    }

    /// Adds the formulas of a proof that engines found as lemmas, and reduces the proof.
    fn reduce_evidence(&mut self, kept: &PartSet, evidence: &Evidence) -> Result<Proof, Stop> {
        let system = Arc::clone(&self.path.system);
        let found = candidates_of(&system, &mut self.path.pool, evidence);
        if self.property.is_some()
            && let Some((k, terms)) = found
        {
            let formulas: Vec<WatchId> = terms.into_iter().map(|t| self.path.watch(t)).collect();
            self.add_lemmas(formulas.clone());
            if let Tried::Inductive(formulas) = self.try_candidates(kept, k, &formulas)?
                && let Some(proof) = self.reduce(kept, k, &formulas)?
            {
                return Ok(proof);
            }
        }
        // The set is adequate, but its evidence has no formulas to reduce.
        Ok(Proof {
            k: 0,
            formulas: Vec::new(),
            parts: kept.clone(),
            constraints: None,
            given: Some(evidence.clone()),
        })
    }
}
