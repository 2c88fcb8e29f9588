//! Computes cores of a claim: one, a minimal one, a smallest one, or all of them, with the parts in
//! every core and the cut sets.
//!
//! The algorithms are those of E. Ghassabani, Inductive Validity Cores (2020). Every core is
//! checked on the relaxed system before it is returned.

pub(crate) mod bounded;
pub(crate) mod hitting_sets;
mod necessity;
mod unexplored;

use gander_system::Verdict;

use crate::cores::hitting_sets::{minimal_hitting_sets, smallest_hitting_set};
use crate::cores::unexplored::UnexploredSets;
use crate::explainer::{Adequacy, Explainer, Stop};
use crate::parts::relax::relaxed;
use crate::parts::set::PartSet;
use crate::proof::Proof;

/// Which cores to compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CoreSelection {
    /// One, small but perhaps not minimal (IVC_UC).
    #[default]
    One,
    /// One that is minimal (IVC_UCBF).
    Minimal,
    /// One that is minimal, by leaving out one part after the other with a new proof each time
    /// (IVC_BF). Unsatisfiable cores are not used, so this is for comparisons.
    BruteForce,
    /// One with the least number of parts.
    Smallest,
    /// All minimal ones, each reported when it is found (Grow-Shrink).
    All,
    /// All minimal ones, reported at the end (MARCO): intermediate sets need not be minimal.
    AllOffline,
}

/// What to compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Request {
    /// Which cores.
    pub cores: CoreSelection,
    /// Also the parts that are in every core (algorithm 15).
    pub must: bool,
    /// Also the minimal cut sets: no core is left when all parts of one are removed.
    pub cut_sets: bool,
}

/// A core.
#[derive(Clone, Debug)]
pub struct Core {
    /// The parts.
    pub parts: PartSet,
    /// The verdict about the relaxed system, with its evidence; *unknown* for a bounded core, which
    /// proves nothing about longer runs.
    pub verdict: Verdict,
    /// Known to be minimal.
    pub minimal: bool,
    /// Why the check of the evidence did not succeed, if it did not.
    pub unchecked: Option<String>,
}

/// The cores of a claim, as far as they are known.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The cores that were found.
    pub cores: Vec<Core>,
    /// Parts known to be in every core.
    pub must: PartSet,
    /// Parts in some minimal core that was found, and not known to be in every one.
    pub may: PartSet,
    /// True if these are all minimal cores.
    pub complete: bool,
    /// True if some set was not decided, or the time limit was reached: cores may be larger than
    /// necessary, and some may be missing.
    pub approximate: bool,
    /// True if the time limit was reached, or the work was cancelled.
    pub stopped: bool,
    /// The minimal cut sets, if they were requested and all cores are known.
    pub cut_sets: Option<Vec<PartSet>>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Limits the number of cut sets. If there are more, none is reported.
const MAX_CUT_SETS: usize = 20_000;
/// Limits the branches of one search for a smallest hitting set.
const MAX_BRANCHES: u64 = 2_000_000;

/// Called with each core as it is found.
pub type CoreSink<'s> = &'s mut dyn FnMut(&Core, &crate::parts::Parts);

impl Explainer<'_> {
    /// Computes what the request asks for.
    pub fn explain(&mut self, request: Request, found: CoreSink<'_>) -> Explanation {
        let n = self.parts.len();
        let mut explanation = Explanation {
            cores: Vec::new(),
            must: PartSet::none(n),
            may: PartSet::none(n),
            complete: false,
            approximate: false,
            stopped: false,
            cut_sets: None,
            notes: Vec::new(),
        };
        explanation.notes.extend(self.note.map(str::to_string));
        let stopped = self.answer(request, found, &mut explanation).is_err();
        explanation.stopped = stopped;
        if stopped {
            let minimal = explanation.cores.iter().filter(|c| c.minimal).count();
            let noun = if minimal == 1 { "core" } else { "cores" };
            explanation
                .notes
                .push(format!("the time was over: {minimal} minimal {noun} found so far"));
        }
        explanation.approximate = self.is_approximate()
            || stopped
            || explanation.cores.iter().any(|c| c.unchecked.is_some())
            || explanation.cores.is_empty();
        explanation.complete &= !explanation.approximate;
        for p in 0..n {
            if self.is_must(p) {
                explanation.must.insert(p);
            }
        }
        if explanation.complete
            && let Some(in_all) =
                explanation.cores.iter().map(|c| c.parts.clone()).reduce(|a, b| a.intersection(&b))
        {
            explanation.must = in_all;
        }
        for core in explanation.cores.iter().filter(|c| c.minimal) {
            explanation.may = explanation.may.union(&core.parts);
        }
        explanation.may = explanation.may.intersection(&explanation.must.complement());
        if request.cut_sets && explanation.complete {
            let cores: Vec<PartSet> = explanation.cores.iter().map(|c| c.parts.clone()).collect();
            explanation.cut_sets = minimal_hitting_sets(n, &cores, MAX_CUT_SETS);
            if explanation.cut_sets.is_none() {
                explanation
                    .notes
                    .push(format!("there are more than {MAX_CUT_SETS} minimal cut sets"));
                explanation.approximate = true;
            }
        } else if request.cut_sets {
            let note = "the minimal cut sets are not known, because not all minimal cores are";
            explanation.notes.push(note.to_string());
        }
        explanation
    }

    fn answer(
        &mut self,
        request: Request,
        found: CoreSink<'_>,
        out: &mut Explanation,
    ) -> Result<(), Stop> {
        if request.cores == CoreSelection::BruteForce && !request.cut_sets {
            let (proof, minimal) = self.brute_force()?;
            let core = self.core(&proof, minimal);
            found(&core, &self.parts);
            out.cores.push(core);
            if request.must {
                self.find_must(&proof)?;
            }
            return Ok(());
        }
        let Some(first) = self.first_core()? else {
            out.notes
                .push("the proof could not be repeated part by part; the whole model is the only known core".into());
            self.approximate = true;
            return Ok(());
        };
        let online = matches!(request.cores, CoreSelection::All);
        let mut deliver = |e: &mut Self, proof: &Proof, minimal: bool, out: &mut Explanation| {
            let core = e.core(proof, minimal);
            found(&core, &e.parts);
            out.cores.push(core);
        };
        // Cut sets are the minimal hitting sets of all minimal cores.
        match request.cores {
            CoreSelection::All | CoreSelection::AllOffline => {
                self.enumerate(first, online, &mut deliver, out)?
            }
            _ if request.cut_sets => self.enumerate(first, true, &mut deliver, out)?,
            CoreSelection::One => {
                let mut first = first;
                // The evidence has no formulas to reduce: ask engines again without each part.
                if first.given.is_some() {
                    out.notes.push(
                        "the proof has no formulas; what it rests on was found by proving without each element".into(),
                    );
                    let result = self.shrink(&mut first);
                    if result.is_err() {
                        deliver(self, &first, false, out);
                    }
                    result?;
                }
                let result = if request.must { self.find_must(&first).map(drop) } else { Ok(()) };
                deliver(self, &first, false, out);
                result?;
            }
            CoreSelection::Minimal | CoreSelection::BruteForce => {
                let mut proof = first;
                let result = self.shrink(&mut proof);
                let minimal = result.is_ok() && self.is_minimal(&proof.parts);
                deliver(self, &proof, minimal, out);
                result?;
                if request.must {
                    self.find_must(&proof)?;
                }
            }
            CoreSelection::Smallest => {
                let mut proof = first;
                let result = self.smallest(&mut proof);
                let exact = matches!(&result, Ok(true)) && !self.approximate;
                deliver(self, &proof, exact, out);
                if !result? {
                    self.approximate = true;
                }
                if request.must {
                    self.find_must(&proof)?;
                }
            }
        }
        // If every part of a core is in every core, it is the only minimal one.
        if let [core] = &out.cores[..]
            && core.parts.iter().all(|p| self.is_must(p))
        {
            out.complete = true;
            out.cores[0].minimal = true;
        }
        Ok(())
    }

    /// The core of a proof, with its evidence checked.
    pub(crate) fn core(&mut self, proof: &Proof, minimal: bool) -> Core {
        if self.lengths.is_some() {
            let verdict = Verdict::Unknown { explored_through: None, why: Vec::new() };
            return Core { parts: proof.parts.clone(), verdict, minimal, unchecked: None };
        }
        let verdict = self.evidence(proof);
        let unchecked = if self.is_certified_by_constraints(proof, &verdict) {
            None
        } else {
            let system = relaxed(&self.path.system, &self.parts, &proof.parts);
            self.prover.certify(&system, self.claim, &verdict).err()
        };
        Core { parts: proof.parts.clone(), verdict, minimal, unchecked }
    }

    /// True if the evidence is accepted for the system with only the elements that the proof uses.
    /// This implies that it is correct for the core, as removing elements only weakens, and the
    /// check is smaller.
    fn is_certified_by_constraints(&mut self, proof: &Proof, verdict: &Verdict) -> bool {
        let Some(constraints) = &proof.constraints else { return false };
        let elements = self.path.elements(constraints);
        let keeps = |e| elements.contains(&e) && self.parts.keeps(&proof.parts, e);
        let system = self.path.system.relaxed(keeps);
        self.prover.certify(&system, self.claim, verdict).is_ok()
    }

    /// Minimises a core: removes parts one by one while it stays adequate. On timeout the progress
    /// is kept.
    pub(crate) fn shrink(&mut self, proof: &mut Proof) -> Result<(), Stop> {
        let members: Vec<usize> = proof.parts.iter().collect();
        let known = proof.parts.clone();
        self.within(&known, |e| {
            if e.needs_second_worker(&members) {
                let (proofs, undecided) = e.check_removals(&known, &members)?;
                e.undecided.extend(undecided);
                if let Some(smaller) = proofs.into_iter().min_by_key(|p| p.parts.len()) {
                    *proof = smaller;
                }
            }
            for p in members {
                if !proof.parts.has(p) || e.is_must(p) {
                    continue;
                }
                let fewer = proof.parts.without(p);
                if let Adequacy::Adequate(smaller) = e.adequacy(&fewer)? {
                    *proof = smaller;
                }
            }
            Ok(())
        })
    }

    /// Decides for each part of a core whether it is in every core (algorithm 15). Returns the
    /// proofs that do not use some part.
    ///
    /// The queries are about the model without one part. If that is inadequate, it is a maximal
    /// inadequate set already.
    pub(crate) fn find_must(&mut self, core: &Proof) -> Result<Vec<Proof>, Stop> {
        let all = self.all();
        let members: Vec<usize> = core.parts.iter().collect();
        let (others, undecided) = self.check_removals(&all, &members)?;
        for set in undecided {
            self.mark_undecided(&set);
        }
        Ok(others)
    }

    /// A core with the least number of parts: a smallest hitting set of the known cut sets is
    /// either adequate or gives a new cut set (A. Ignatiev, A. Previti, M. Liffiton, J.
    /// Marques-Silva: Smallest MUS extraction with minimal hitting set dualization, 2015). Returns
    /// false if the search for a hitting set exceeded its limit.
    fn smallest(&mut self, best: &mut Proof) -> Result<bool, Stop> {
        self.shrink(best)?;
        loop {
            let cuts: Vec<PartSet> =
                self.inadequate.iter().chain(&self.undecided).map(PartSet::complement).collect();
            let Some(candidate) = smallest_hitting_set(self.parts.len(), &cuts, MAX_BRANCHES)
            else {
                return Ok(false);
            };
            if candidate.len() >= best.parts.len() {
                return Ok(true);
            }
            match self.adequacy(&candidate)? {
                Adequacy::Adequate(proof) => {
                    *best = proof;
                    return Ok(true);
                }
                Adequacy::Inadequate => {}
                // Continue as if it were inadequate.
                Adequacy::Undecided => self.mark_undecided(&candidate),
            }
        }
    }

    /// All minimal cores. If the work is stopped, those that were found are delivered.
    fn enumerate(
        &mut self,
        first: Proof,
        online: bool,
        deliver: &mut dyn FnMut(&mut Self, &Proof, bool, &mut Explanation),
        out: &mut Explanation,
    ) -> Result<(), Stop> {
        let mut offline: Vec<Proof> = Vec::new();
        let result = self.explore(first, online, &mut offline, deliver, out);
        let known = result.is_ok() && !self.approximate;
        for proof in &offline {
            let minimal = known || self.is_minimal(&proof.parts);
            deliver(self, proof, minimal, out);
        }
        out.complete = result.is_ok();
        result
    }

    fn explore(
        &mut self,
        first: Proof,
        online: bool,
        offline: &mut Vec<Proof>,
        deliver: &mut dyn FnMut(&mut Self, &Proof, bool, &mut Explanation),
        out: &mut Explanation,
    ) -> Result<(), Stop> {
        let mut map = UnexploredSets::new(self.parts.len());
        self.unread.clone_from(&self.inadequate);
        self.unread.extend_from_slice(&self.undecided);
        let mut waiting = vec![first];
        let mut looked_for_must = false;
        loop {
            let proof = match waiting.pop() {
                Some(proof) => Some(proof),
                None => {
                    let Some(seed) = map.maximal() else { break };
                    match self.adequacy(&seed)? {
                        Adequacy::Adequate(proof) => Some(proof),
                        Adequacy::Inadequate => None,
                        Adequacy::Undecided => {
                            self.mark_undecided(&seed);
                            None
                        }
                    }
                }
            };
            // Skip a proof whose parts contain a core that was found since.
            let proof = proof.filter(|p| !out.cores.iter().any(|c| c.parts.is_subset(&p.parts)));
            if let Some(mut proof) = proof {
                if online && let Err(stop) = self.shrink(&mut proof) {
                    // Report a core that is not minimal rather than none.
                    if out.cores.is_empty() {
                        deliver(self, &proof, false, out);
                    }
                    return Err(stop);
                }
                map.block_up(&proof.parts);
                if online {
                    let minimal = self.is_minimal(&proof.parts);
                    deliver(self, &proof, minimal, out);
                    if !std::mem::replace(&mut looked_for_must, true) {
                        waiting = self.find_must(&proof)?;
                    }
                } else {
                    offline.retain(|known| !proof.parts.is_subset(&known.parts));
                    offline.push(proof);
                }
            }
            // Block the sets found to be inadequate or undecided meanwhile.
            for set in self.unread.drain(..) {
                map.block_down(&set);
            }
        }
        Ok(())
    }
}
