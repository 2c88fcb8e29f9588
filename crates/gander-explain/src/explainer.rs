//! One claim, its relaxations, and what is known of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_smt::Solvers;
use gander_system::{ClaimId, ClaimKind, Evidence, System, Verdict};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::parts::Parts;
use crate::path::{Found, From, Path, Sight, Values, Wanted, WatchId};
use crate::proof::{Proof, Tried, candidates_of};
use crate::relax::relaxed;
use crate::set::PartSet;
use crate::subject::{Lasting, Subject};
use crate::witness::{Witness, invariant_of, is_proof, why_no_core};

/// Who decides claims and checks evidence for this crate, which knows no engine.
pub trait Prover {
    /// Decides a claim of a system within a time; evidence was checked.
    fn prove(&mut self, system: &Arc<System>, claim: ClaimId, time: Duration) -> Verdict;

    /// Checks that the evidence in a verdict shows what it says; else why it does not.
    fn certify(&mut self, system: &System, claim: ClaimId, verdict: &Verdict) -> Result<(), String>;

    /// Another one that can be asked at the same time on another thread; none if there is none.
    fn helper(&self) -> Option<Box<dyn Prover + Send>> {
        None
    }

    /// A formula that is equivalent to `exists symbols. formula`; better without a quantifier, which few solvers understand.
    fn eliminate(&mut self, pool: &mut Pool, symbols: &[SymbolId], formula: TermId) -> TermId {
        let mut bound = Vec::new();
        let mut map = FxHashMap::default();
        for &s in symbols {
            let (name, sort) = (pool.symbol(s).name.clone(), pool.symbol(s).sort);
            bound.push(pool.declare_bound(&name, sort));
            map.insert(s, pool.var(bound[bound.len() - 1]));
        }
        let formula = pool.substitute(formula, &map);
        pool.exists(&bound, formula)
    }
}

/// What the work may cost.
#[derive(Clone, Debug)]
pub struct ExplainConfig {
    /// The solvers to ask.
    pub solvers: Arc<Solvers>,
    /// When to give up and say what is known.
    pub timeout: Option<Duration>,
    /// How long engines work on one relaxation for which known invariants do not decide.
    pub share: Duration,
    /// Ends the work from another thread.
    pub cancellation: Cancellation,
}

impl ExplainConfig {
    /// With these solvers, without a limit on the whole.
    pub fn new(solvers: &Arc<Solvers>) -> ExplainConfig {
        ExplainConfig {
            solvers: Arc::clone(solvers),
            timeout: None,
            share: Duration::from_secs(2),
            cancellation: Cancellation::new(),
        }
    }
}

/// What a solver was told of a system, for the explainers of several claims one after the other.
pub struct Told {
    path: Path,
    parts: Parts,
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Told").field("system", &self.path.system.name).finish_non_exhaustive()
    }
}

/// What one worker tells another.
pub(crate) struct Known {
    lemmas: Vec<WatchId>,
    depth: u32,
    config: ExplainConfig,
    inadequate: Vec<PartSet>,
    adequate: Vec<PartSet>,
    undecided: Vec<PartSet>,
}

/// Why the work ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The time is over, or somebody ended it.
    Late,
}

/// Whether parts are enough to prove the claim.
#[derive(Clone, Debug)]
pub(crate) enum Adequacy {
    /// They are; a proof that may rest on fewer.
    Adequate(Proof),
    /// They are not; a set that has all of them and is not enough is remembered.
    Inadequate,
    /// Nobody knows.
    Undecided,
}

/// The longest runs that are looked for before invariants are tried, and before engines are asked.
const SHORT: u32 = 2;
const LONGER: u32 = 6;
/// How many shares of time a question about the first proof may take; later ones have one.
const FIRST_PATIENCE: u32 = 5;
/// The part of the time left that engines may use for one relaxation.
const PART_OF_REST: u32 = 8;
/// The deepest induction that is tried before engines are asked.
const DEEP: u32 = 5;
/// How many shares of time a claim gets if nobody set a limit and every question goes to engines.
const PATIENCE_WITH_ENGINES: u32 = 15;

/// Explains why one claim holds; made with the verdict that it does.
pub struct Explainer<'p> {
    pub(crate) path: Path,
    pub(crate) parts: Parts,
    pub(crate) claim: ClaimId,
    /// What every state must satisfy; none for claims about infinite runs, which only engines decide.
    pub(crate) property: Option<WatchId>,
    /// What a person should know of the claim.
    pub(crate) note: Option<&'static str>,
    /// By how many steps the paths that are asked about are longer than the runs that they stand for.
    pub(crate) longer: u32,
    lasting: Lasting,
    pub(crate) last_values: Option<Values>,
    /// Formulas that some proof used.
    lemmas: Vec<WatchId>,
    /// Depths of inductions that succeeded.
    depth: u32,
    pub(crate) prover: &'p mut dyn Prover,
    config: ExplainConfig,
    /// Sets known not to be enough, none below another.
    pub(crate) inadequate: Vec<PartSet>,
    /// Sets known to be enough, none above another.
    adequate: Vec<PartSet>,
    /// Sets that nobody could decide: the search passes over them and what is in them, but nothing is known of them.
    pub(crate) undecided: Vec<PartSet>,
    /// Those that were found since somebody last looked.
    pub(crate) news: Vec<PartSet>,
    /// Some answer was a guess because nobody knew.
    pub(crate) guessed: bool,
    /// The evidence that the explainer was made with.
    given: Option<Evidence>,
    /// What is said to be a core; nothing is believed of it.
    suggested: Option<PartSet>,
}

impl<'p> Explainer<'p> {
    /// Prepares for the questions about one claim. `verdict` is the checked verdict about the system itself.
    pub fn new(
        system: &Arc<System>,
        parts: Parts,
        claim: ClaimId,
        verdict: &Verdict,
        config: ExplainConfig,
        prover: &'p mut dyn Prover,
    ) -> Result<Explainer<'p>, String> {
        Explainer::continuing(&mut None, system, parts, claim, verdict, config, prover)
    }

    /// [`Explainer::new`] with what an explainer of another claim of the system has told a solver ([`Explainer::end`]): if it fits it is
    /// taken, so that a model with many claims is said once.
    pub fn continuing(
        told: &mut Option<Told>,
        system: &Arc<System>,
        parts: Parts,
        claim: ClaimId,
        verdict: &Verdict,
        config: ExplainConfig,
        prover: &'p mut dyn Prover,
    ) -> Result<Explainer<'p>, String> {
        if let Some(why) = why_no_core(system, claim) {
            return Err(why.into());
        }
        let kind = &system.claims[claim.index()].kind;
        let (Verdict::Holds(evidence) | Verdict::Fails(evidence)) = verdict else {
            return Err("it was not decided".into());
        };
        if !is_proof(kind, verdict) {
            return Err("it is shown by a run, which rests on no element".into());
        }
        let subject = Subject::of(system, parts, claim, Some(evidence), prover)?;
        Explainer::make(told, subject, config, prover)
    }

    /// An explainer for bounded cores only: nothing needs to be proved.
    pub fn for_bounded(
        system: &Arc<System>,
        parts: Parts,
        claim: ClaimId,
        config: ExplainConfig,
        prover: &'p mut dyn Prover,
    ) -> Result<Explainer<'p>, String> {
        if let Some(why) = why_no_core(system, claim) {
            return Err(why.into());
        }
        let subject = Subject::of(system, parts, claim, None, prover)?;
        if invariant_of(&subject.system, &mut Pool::fork(&subject.system.pool), subject.claim).is_none() {
            return Err("bounded cores are for claims that a run of finitely many steps decides".into());
        }
        Explainer::make(&mut None, subject, config, prover)
    }

    fn make(
        told: &mut Option<Told>,
        subject: Subject,
        config: ExplainConfig,
        prover: &'p mut dyn Prover,
    ) -> Result<Explainer<'p>, String> {
        let Subject { system, parts, claim, given, note, longer, lasting } = subject;
        let system = &system;
        let fits = |t: &mut Told| Arc::ptr_eq(&t.path.system, system) && t.parts.same(&parts);
        let mut earlier = told.take_if(fits).map(|t| t.path);
        let mut pool = match &mut earlier {
            Some(path) => std::mem::replace(&mut path.pool, Pool::new()),
            None => Pool::fork(&system.pool),
        };
        let property = invariant_of(system, &mut pool, claim);
        let hint = given.hint.as_ref().or(given.exact.as_ref()).filter(|_| property.is_some());
        let found = hint.and_then(|e| candidates_of(system, &mut pool, e));
        let mut about: Vec<TermId> = property.into_iter().collect();
        about.extend(found.iter().flat_map(|(_, terms)| terms));
        let mut path = match earlier.filter(|path| path.understands(&pool, &about)) {
            Some(mut path) => {
                path.pool = pool;
                path
            }
            None => Path::new(system, &parts, &config.solvers, config.cancellation.clone(), &about, pool)?,
        };
        let timeout = match property {
            Some(_) => config.timeout,
            None => config.timeout.or(Some(config.share.saturating_mul(PATIENCE_WITH_ENGINES))),
        };
        path.deadline = timeout.and_then(|t| Instant::now().checked_add(t));
        path.patience = Some(config.share.saturating_mul(FIRST_PATIENCE));
        let watched = property.map(|p| path.watch(p));
        let (depth, lemmas) = match found {
            Some((k, terms)) => (k, terms.into_iter().map(|t| path.watch(t)).collect()),
            None => (1, Vec::new()),
        };
        let (inadequate, adequate, undecided) = (Vec::new(), Vec::new(), Vec::new());
        let known = Known { lemmas, depth, config, inadequate, adequate, undecided };
        let mut made = Explainer::worker(path, parts, claim, watched, known, prover);
        (made.given, made.note, made.longer, made.lasting) = (given.exact, note, longer, lasting);
        Ok(made)
    }

    /// One that knows what another knows, with a path and a prover of its own.
    pub(crate) fn worker(
        path: Path,
        parts: Parts,
        claim: ClaimId,
        property: Option<WatchId>,
        known: Known,
        prover: &'p mut dyn Prover,
    ) -> Explainer<'p> {
        Explainer {
            path,
            parts,
            claim,
            property,
            note: None,
            longer: 0,
            lasting: Lasting::ThisClaim,
            last_values: None,
            lemmas: known.lemmas,
            depth: known.depth,
            prover,
            config: known.config,
            inadequate: known.inadequate,
            adequate: known.adequate,
            undecided: known.undecided,
            news: Vec::new(),
            guessed: false,
            given: None,
            suggested: None,
        }
    }

    /// What a second worker should know.
    pub(crate) fn known(&self) -> Known {
        Known {
            lemmas: self.lemmas.clone(),
            depth: self.depth,
            config: self.config.clone(),
            inadequate: self.inadequate.clone(),
            adequate: self.adequate.clone(),
            undecided: self.undecided.clone(),
        }
    }

    /// Notes formulas that some proof used.
    pub(crate) fn know(&mut self, lemmas: Vec<WatchId>) {
        for f in lemmas {
            if !self.lemmas.contains(&f) {
                self.lemmas.push(f);
            }
        }
    }

    /// Ends the work, and leaves what the solver was told for a claim to come.
    pub fn end(self, told: &mut Option<Told>) {
        if self.lasting == Lasting::ManyClaims && self.path.is_whole() {
            *told = Some(Told { path: self.path, parts: self.parts });
        }
    }

    /// The parts that are spoken of.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// How many questions solvers were asked.
    pub fn questions(&self) -> u64 {
        self.path.questions
    }

    /// What a person should know of the claim.
    pub fn note(&self) -> Option<&'static str> {
        self.note
    }

    /// Parts that are said to be a core, for example by a saved result: they are tried first, and count if they are enough.
    pub fn suggest(&mut self, parts: PartSet) {
        self.suggested = Some(parts);
    }

    /// True if some set that nobody could decide was taken for inadequate.
    pub fn is_approximate(&self) -> bool {
        self.guessed
    }

    /// Formulas that some proof used.
    pub(crate) fn lemmas(&self) -> &[WatchId] {
        &self.lemmas
    }

    /// The depth of the induction that the first proof is.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// How long engines may work on one question.
    pub(crate) fn share(&self) -> Duration {
        self.config.share
    }

    pub(crate) fn all(&self) -> PartSet {
        PartSet::all(self.parts.len())
    }

    pub(crate) fn ask(&mut self, wanted: &Wanted<'_>) -> Result<Found, Stop> {
        if self.path.is_late() || self.config.cancellation.is_cancelled() {
            return Err(Stop::Late);
        }
        Ok(self.path.ask(wanted))
    }

    fn kind(&self) -> &ClaimKind {
        &self.path.system.claims[self.claim.index()].kind
    }

    /// The verdict that a proof is.
    pub(crate) fn proved(&self, evidence: Evidence) -> Verdict {
        let holds = Verdict::Holds(evidence);
        if is_proof(self.kind(), &holds) {
            return holds;
        }
        let Verdict::Holds(evidence) = holds else { return holds };
        Verdict::Fails(evidence)
    }

    /// True if none of the parts can be left out, for certain.
    pub(crate) fn is_minimal(&self, parts: &PartSet) -> bool {
        let lost = |fewer: &PartSet| self.inadequate.iter().any(|set| fewer.is_subset(set));
        parts.iter().all(|p| lost(&parts.without(p)))
    }

    /// True if the claim is known to be lost without the part.
    pub(crate) fn is_must(&self, part: usize) -> bool {
        self.inadequate.iter().any(|set| !set.has(part) && set.len() + 1 == set.universe())
    }

    /// A core from the proof that the explainer was made with; the whole model if there is no way to reduce it.
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
        self.path.patience = Some(self.config.share);
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
            laws: None,
            given: Some(given),
        }))
    }

    fn reduced_first(&mut self) -> Result<Option<Proof>, Stop> {
        if self.lemmas.is_empty() {
            return Ok(None);
        }
        let Some(property) = self.property else { return Ok(None) };
        let (all, depth) = (self.all(), self.depth);
        let mut formulas = vec![property];
        formulas.extend(self.lemmas.iter().copied().filter(|w| *w != property));
        self.path.sight = Sight::Told;
        let proof = self.reduce_first(depth, &formulas);
        self.path.sight = Sight::Whole;
        let proof = proof?;
        if proof.is_some() || self.path.unanswered == 0 {
            return Ok(proof);
        }
        let Some(elsewhere) = self.path.elsewhere() else { return Ok(None) };
        self.path = elsewhere;
        self.reduce(&all, depth, &formulas)
    }

    /// Whether the parts are enough. Known inadequate sets are not asked about again; new ones are remembered.
    pub(crate) fn adequacy(&mut self, kept: &PartSet) -> Result<Adequacy, Stop> {
        let found = self.looked_at(kept)?;
        if let Adequacy::Adequate(proof) = &found {
            let parts = proof.parts.clone();
            self.remember_adequate(&parts);
        }
        Ok(found)
    }

    fn looked_at(&mut self, kept: &PartSet) -> Result<Adequacy, Stop> {
        if self.inadequate.iter().any(|set| kept.is_subset(set)) {
            return Ok(Adequacy::Inadequate);
        }
        if self.undecided.iter().any(|set| kept.is_subset(set)) {
            return Ok(Adequacy::Undecided);
        }
        if self.property.is_none() {
            return self.by_engines(kept);
        }
        for steps in 0..=SHORT {
            if let Some(found) = self.short_run(kept, steps)? {
                return Ok(found);
            }
        }
        let lemmas = self.lemmas.clone();
        if let Some(found) = self.attempt(kept, self.depth, &lemmas)? {
            return Ok(found);
        }
        // What takes longer than its share is for engines, which have more than one idea.
        let begun = Instant::now();
        for steps in SHORT + 1..=LONGER {
            if begun.elapsed() >= self.config.share {
                break;
            }
            if let Some(found) = self.short_run(kept, steps)? {
                return Ok(found);
            }
        }
        let known = self.depth;
        for k in (1..=DEEP).filter(|&k| k != known) {
            if begun.elapsed() >= self.config.share {
                break;
            }
            if let Some(found) = self.attempt(kept, k, &lemmas)? {
                return Ok(found);
            }
        }
        self.by_engines(kept)
    }

    fn attempt(&mut self, kept: &PartSet, k: u32, lemmas: &[WatchId]) -> Result<Option<Adequacy>, Stop> {
        match self.try_candidates(kept, k, lemmas)? {
            Tried::Inductive(formulas) => Ok(self.reduce(kept, k, &formulas)?.map(Adequacy::Adequate)),
            Tried::Broken(witness, steps) => Ok(Some(self.not_enough(kept, witness, steps)?)),
            Tried::NotEnough => Ok(None),
        }
    }

    /// A run of so many steps that breaks the claim.
    fn short_run(&mut self, kept: &PartSet, steps: u32) -> Result<Option<Adequacy>, Stop> {
        let Some(property) = self.property else { return Ok(None) };
        let broken = [property];
        let wanted = Wanted { kept, from: From::Start, steps, along: &[], broken: &broken };
        let Found::Path = self.ask(&wanted)? else { return Ok(None) };
        let Ok(values) = self.path.values(steps) else { return Ok(None) };
        match self.checked_witness(kept, &values, steps) {
            Some(witness) => self.not_enough(kept, witness, steps).map(Some),
            None => Ok(None),
        }
    }

    /// The run behind a path, if evaluation agrees that it is one of the relaxation and breaks the claim.
    pub(crate) fn checked_witness(&mut self, kept: &PartSet, values: &Values, steps: u32) -> Option<Witness> {
        let witness = Witness::read(&self.path.system, values, steps)?;
        self.accept(kept, witness)
    }

    fn accept(&self, kept: &PartSet, witness: Witness) -> Option<Witness> {
        let (system, pool) = (&self.path.system, &self.path.pool);
        let fulfilled = witness.fulfilled(system, pool, &self.parts)?;
        let fits = fulfilled.rest && kept.is_subset(&fulfilled.parts);
        let breaks = self.property.is_none_or(|p| witness.breaks(system, pool, self.path.formula(p)));
        (fits && breaks).then_some(witness)
    }

    /// Grows a set that a run shows to be inadequate, by what the run and others of its length fulfil besides.
    fn not_enough(&mut self, kept: &PartSet, witness: Witness, steps: u32) -> Result<Adequacy, Stop> {
        let fulfilled = |e: &Self, w: &Witness| {
            w.fulfilled(&e.path.system, &e.path.pool, &e.parts).map_or_else(|| kept.clone(), |f| f.parts)
        };
        let mut grown = fulfilled(self, &witness);
        let broken: Vec<WatchId> = self.property.into_iter().collect();
        // A path of that length says nothing of an infinite run.
        let most = if broken.is_empty() { 0 } else { grown.universe() };
        let candidates: Vec<usize> = grown.complement().intersection(&self.path.available).iter().take(most).collect();
        for p in candidates {
            if grown.has(p) {
                continue;
            }
            let more = grown.with(p);
            // What is enough has no such run, and nobody needs to be asked.
            if self.adequate.iter().any(|set| set.is_subset(&more)) {
                continue;
            }
            let wanted = Wanted { kept: &more, from: From::Start, steps, along: &[], broken: &broken };
            if let Found::Path = self.ask(&wanted)?
                && let Ok(values) = self.path.values(steps)
                && let Some(witness) = self.checked_witness(&more, &values, steps)
            {
                grown = fulfilled(self, &witness);
            }
        }
        self.remember_inadequate(&grown);
        Ok(Adequacy::Inadequate)
    }

    pub(crate) fn remember_inadequate(&mut self, set: &PartSet) {
        self.inadequate.retain(|known| !known.is_subset(set));
        self.inadequate.push(set.clone());
        self.news.push(set.clone());
    }

    pub(crate) fn remember_adequate(&mut self, set: &PartSet) {
        if !self.adequate.iter().any(|known| known.is_subset(set)) {
            self.adequate.retain(|known| !set.is_subset(known));
            self.adequate.push(set.clone());
        }
    }

    /// The search goes on as if the set were inadequate, but nothing is concluded from it: it was not decided.
    pub(crate) fn pass_over(&mut self, set: &PartSet) {
        self.undecided.push(set.clone());
        self.news.push(set.clone());
    }

    /// Asks engines about the relaxation.
    fn by_engines(&mut self, kept: &PartSet) -> Result<Adequacy, Stop> {
        let system = Arc::new(relaxed(&self.path.system, &self.parts, kept));
        let left = self.path.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        let time = left.map_or(self.config.share, |l| (l / PART_OF_REST).min(self.config.share));
        if time.is_zero() || self.config.cancellation.is_cancelled() {
            return Err(Stop::Late);
        }
        let verdict = self.prover.prove(&system, self.claim, time);
        let is_proof = is_proof(self.kind(), &verdict);
        match verdict {
            Verdict::Holds(evidence) | Verdict::Fails(evidence) if is_proof => {
                let proof = self.learn(kept, &evidence)?;
                Ok(Adequacy::Adequate(proof))
            }
            Verdict::Holds(Evidence::Run(run) | Evidence::Lasso { run, .. })
            | Verdict::Fails(Evidence::Run(run) | Evidence::Lasso { run, .. }) => {
                let steps = run.length().min(u64::from(u32::MAX)) as u32;
                match self.accept(kept, Witness { run }) {
                    Some(witness) if steps <= 50 => self.not_enough(kept, witness, steps),
                    Some(witness) => {
                        let parts = witness.fulfilled(&self.path.system, &self.path.pool, &self.parts);
                        let grown = parts.map_or_else(|| kept.clone(), |f| f.parts);
                        self.remember_inadequate(&grown);
                        Ok(Adequacy::Inadequate)
                    }
                    // A run that leaves values out was checked by whoever found it.
                    None => {
                        self.remember_inadequate(kept);
                        Ok(Adequacy::Inadequate)
                    }
                }
            }
            // Checked by whoever found it: a run into a recurrent set.
            Verdict::Holds(_) | Verdict::Fails(_) => {
                self.remember_inadequate(kept);
                Ok(Adequacy::Inadequate)
            }
            Verdict::Unknown { .. } => {
                self.guessed = true;
                Ok(Adequacy::Undecided)
            }
        }
    }

    /// Notes the formulas of a proof that engines found, and makes it small.
    fn learn(&mut self, kept: &PartSet, evidence: &Evidence) -> Result<Proof, Stop> {
        let system = Arc::clone(&self.path.system);
        let found = candidates_of(&system, &mut self.path.pool, evidence);
        if self.property.is_some()
            && let Some((k, terms)) = found
        {
            let formulas: Vec<WatchId> = terms.into_iter().map(|t| self.path.watch(t)).collect();
            self.know(formulas.clone());
            if let Tried::Inductive(formulas) = self.try_candidates(kept, k, &formulas)?
                && let Some(proof) = self.reduce(kept, k, &formulas)?
            {
                return Ok(proof);
            }
        }
        // Enough, but not by formulas that could be reduced.
        Ok(Proof { k: 0, formulas: Vec::new(), parts: kept.clone(), laws: None, given: Some(evidence.clone()) })
    }
}
