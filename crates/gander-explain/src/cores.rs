//! The questions that are asked about the cores of a claim, and their answers.

use gander_system::Verdict;

use crate::explainer::{Adequacy, Explainer, Stop};
use crate::hitting::{minimal_hitting_sets, smallest_hitting_set};
use crate::map::Map;
use crate::proof::Proof;
use crate::relax::{relaxed, relaxed_to};
use crate::set::PartSet;

/// Which cores are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wish {
    /// One, small but perhaps not minimal (IVC_UC).
    #[default]
    One,
    /// One that is minimal (IVC_UCBF).
    Minimal,
    /// One with as few members as any.
    Smallest,
    /// All minimal ones, each told as it is found (Grow-Shrink).
    All,
    /// All minimal ones, known at the end (MARCO): sets in between need not be minimal.
    AllOffline,
}

/// What else is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Request {
    /// Which cores.
    pub cores: Wish,
    /// Also the parts without which the claim is lost (algorithm 15).
    pub must: bool,
    /// Also the minimal sets of parts that cannot all be missing.
    pub cut_sets: bool,
}

/// A core.
#[derive(Clone, Debug)]
pub struct Core {
    /// The parts.
    pub parts: PartSet,
    /// The verdict about the relaxed system, with its evidence.
    pub verdict: Verdict,
    /// Known to be minimal.
    pub minimal: bool,
    /// Why the check of the evidence did not succeed, if it did not.
    pub unchecked: Option<String>,
}

/// What is known of the cores of a claim.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The cores that were found.
    pub cores: Vec<Core>,
    /// Parts known to be in every core.
    pub must: PartSet,
    /// Parts in some core that was found, and not known to be in every one.
    pub may: PartSet,
    /// The cores are all minimal cores there are.
    pub complete: bool,
    /// Some set that nobody could decide was taken for inadequate, or the time was over: cores may be larger than
    /// necessary, and some may be missing.
    pub approximate: bool,
    /// The minimal sets of parts that cannot all be missing, if they were asked for and all cores are known.
    pub cut_sets: Option<Vec<PartSet>>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// More cut sets than this nobody reads.
const MOST_CUT_SETS: usize = 20_000;
/// Branches of the search for a smallest hitting set.
const BRANCHES: u64 = 2_000_000;

/// Called with each core as it is found.
pub type CoreSink<'s> = &'s mut dyn FnMut(&Core, &crate::parts::Parts);

impl Explainer<'_> {
    /// Answers a request.
    pub fn explain(&mut self, request: Request, found: CoreSink<'_>) -> Explanation {
        let n = self.parts.len();
        let mut explanation = Explanation {
            cores: Vec::new(),
            must: PartSet::none(n),
            may: PartSet::none(n),
            complete: false,
            approximate: false,
            cut_sets: None,
            notes: Vec::new(),
        };
        explanation.notes.extend(self.note.map(str::to_string));
        let stopped = self.fulfil(request, found, &mut explanation).is_err();
        if stopped {
            let minimal = explanation.cores.iter().filter(|c| c.minimal).count();
            let noun = if minimal == 1 { "core" } else { "cores" };
            explanation.notes.push(format!("the time was over: {minimal} minimal {noun} found so far"));
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
            && let Some(in_all) = explanation.cores.iter().map(|c| c.parts.clone()).reduce(|a, b| a.intersection(&b))
        {
            explanation.must = in_all;
        }
        for core in &explanation.cores {
            explanation.may = explanation.may.union(&core.parts);
        }
        explanation.may = explanation.may.intersection(&explanation.must.complement());
        if request.cut_sets && explanation.complete {
            let cores: Vec<PartSet> = explanation.cores.iter().map(|c| c.parts.clone()).collect();
            explanation.cut_sets = minimal_hitting_sets(n, &cores, MOST_CUT_SETS);
            if explanation.cut_sets.is_none() {
                explanation.notes.push(format!("there are more than {MOST_CUT_SETS} minimal cut sets"));
            }
        }
        explanation
    }

    fn fulfil(&mut self, request: Request, found: CoreSink<'_>, out: &mut Explanation) -> Result<(), Stop> {
        let Some(first) = self.first_core()? else {
            out.notes
                .push("the proof could not be repeated part by part; the whole model is the only known core".into());
            self.guessed = true;
            return Ok(());
        };
        let online = matches!(request.cores, Wish::All);
        let mut deliver = |e: &mut Self, proof: &Proof, minimal: bool, out: &mut Explanation| {
            let core = e.core(proof, minimal);
            found(&core, &e.parts);
            out.cores.push(core);
        };
        // Cut sets are the dual of all cores.
        match request.cores {
            Wish::All | Wish::AllOffline => self.enumerate(first, online, &mut deliver, out)?,
            _ if request.cut_sets => self.enumerate(first, true, &mut deliver, out)?,
            Wish::One => {
                let mut first = first;
                // No formulas that could be reduced: engines are asked again without each part.
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
            Wish::Minimal => {
                let mut proof = first;
                let result = self.shrink(&mut proof);
                let minimal = result.is_ok() && self.is_minimal(&proof.parts);
                deliver(self, &proof, minimal, out);
                result?;
                if request.must {
                    self.find_must(&proof)?;
                }
            }
            Wish::Smallest => {
                let mut proof = first;
                let result = self.smallest(&mut proof);
                let exact = matches!(&result, Ok(true)) && !self.guessed;
                deliver(self, &proof, exact, out);
                if !result? {
                    self.guessed = true;
                }
                if request.must {
                    self.find_must(&proof)?;
                }
            }
        }
        // A core all of which is needed is the only minimal one.
        if let [core] = &out.cores[..]
            && core.parts.iter().all(|p| self.is_must(p))
        {
            out.complete = true;
            out.cores[0].minimal = true;
        }
        Ok(())
    }

    /// The core of a proof, checked.
    pub(crate) fn core(&mut self, proof: &Proof, minimal: bool) -> Core {
        let verdict = self.evidence(proof);
        let unchecked = if self.is_certified_by_laws(proof, &verdict) {
            None
        } else {
            let system = relaxed(&self.path.system, &self.parts, &proof.parts);
            self.prover.certify(&system, self.claim, &verdict).err()
        };
        Core { parts: proof.parts.clone(), verdict, minimal, unchecked }
    }

    /// True if the evidence passes its check with nothing but the elements that the proof rests on. That shows more than has to be
    /// shown, as removing an element only weakens, and there is less to be checked.
    fn is_certified_by_laws(&mut self, proof: &Proof, verdict: &Verdict) -> bool {
        let Some(laws) = &proof.laws else { return false };
        let elements = self.path.elements(laws);
        let keeps = |e| elements.contains(&e) && self.parts.keeps(&proof.parts, e);
        let system = relaxed_to(&self.path.system, keeps);
        self.prover.certify(&system, self.claim, verdict).is_ok()
    }

    /// Takes out of a core what can be left out, one part after the other.
    /// What was achieved stands if the time is over meanwhile.
    pub(crate) fn shrink(&mut self, proof: &mut Proof) -> Result<(), Stop> {
        let members: Vec<usize> = proof.parts.iter().collect();
        let known = proof.parts.clone();
        self.within(&known, |e| {
            if e.is_worth_a_survey(&members) {
                let (proofs, undecided) = e.survey(&known, &members)?;
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

    /// Finds out for each part of a core whether the claim is lost without it (algorithm 15). Also the proofs that do without some.
    ///
    /// The model without one part is asked about: if that is not enough, nothing needs to be added to see a largest set that is not.
    pub(crate) fn find_must(&mut self, core: &Proof) -> Result<Vec<Proof>, Stop> {
        let all = self.all();
        let members: Vec<usize> = core.parts.iter().collect();
        let (others, undecided) = self.survey(&all, &members)?;
        for set in undecided {
            self.pass_over(&set);
        }
        Ok(others)
    }

    /// A core with as few parts as any: a smallest set that meets every known cut set is enough, or shows another one
    /// (A. Ignatiev, A. Previti, M. Liffiton, J. Marques-Silva: Smallest MUS extraction with minimal hitting set
    /// dualization, 2015). The flag says whether it is certainly a smallest one.
    fn smallest(&mut self, best: &mut Proof) -> Result<bool, Stop> {
        self.shrink(best)?;
        loop {
            let cuts: Vec<PartSet> = self.inadequate.iter().chain(&self.undecided).map(PartSet::complement).collect();
            let Some(candidate) = smallest_hitting_set(self.parts.len(), &cuts, BRANCHES) else {
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
                // Taken for inadequate.
                Adequacy::Undecided => self.pass_over(&candidate),
            }
        }
    }

    /// All minimal cores.
    fn enumerate(
        &mut self,
        first: Proof,
        online: bool,
        deliver: &mut dyn FnMut(&mut Self, &Proof, bool, &mut Explanation),
        out: &mut Explanation,
    ) -> Result<(), Stop> {
        let mut map = Map::new(self.parts.len());
        self.news.clone_from(&self.inadequate);
        self.news.extend_from_slice(&self.undecided);
        let mut offline: Vec<Proof> = Vec::new();
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
                            self.pass_over(&seed);
                            None
                        }
                    }
                }
            };
            // A proof that waited may be above a core that was found since.
            let proof = proof.filter(|p| !out.cores.iter().any(|c| c.parts.is_subset(&p.parts)));
            if let Some(mut proof) = proof {
                if online && let Err(stop) = self.shrink(&mut proof) {
                    // A core, if not a minimal one, is better than none.
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
            // What was found not to be enough meanwhile.
            for set in self.news.drain(..) {
                map.block_down(&set);
            }
        }
        let known = !self.guessed;
        for proof in &offline {
            let minimal = known || self.is_minimal(&proof.parts);
            deliver(self, proof, minimal, out);
        }
        out.complete = true;
        Ok(())
    }
}
