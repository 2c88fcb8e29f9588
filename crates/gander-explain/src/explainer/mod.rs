//! The explainer of one claim: which sets of parts are known to be adequate, inadequate or
//! undecided.

mod adequacy;
mod prover;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_system::{ClaimId, ClaimKind, Evidence, System, Verdict};
use gander_term::{Pool, TermId};

use crate::parts::Parts;
use crate::parts::set::PartSet;
use crate::proof::candidates_of;
use crate::subject::{SessionReuse, Subject};
use crate::unrolling::path::{Path, PathAnswer, PathQuery, Values, WatchId};
use crate::unrolling::witness::{invariant_of, is_proof, why_no_core};

pub(crate) use adequacy::Adequacy;
pub use prover::{ExplainConfig, Prover};

/// A solver session with the constraints of a system asserted, for the explainers of several claims
/// in turn.
pub struct SharedSession {
    path: Path,
    parts: Parts,
}

impl std::fmt::Debug for SharedSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedSession")
            .field("system", &self.path.system.name())
            .finish_non_exhaustive()
    }
}

/// What one worker passes to another.
pub(crate) struct SharedKnowledge {
    lemmas: Vec<WatchId>,
    depth: u32,
    config: ExplainConfig,
    inadequate: Vec<PartSet>,
    adequate: Vec<PartSet>,
    undecided: Vec<PartSet>,
    lengths: Option<Lengths>,
}

/// The least and greatest number of steps of paths that bounded cores are about.
pub(crate) type Lengths = (u32, u32);

/// Why the work ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The deadline has passed, or the work was cancelled.
    OutOfTime,
}

/// Time limit of one query for the first proof, in multiples of [`ExplainConfig::share`]; later
/// queries have one share.
const FIRST_PROOF_SHARES: u32 = 5;
/// Time limit for a claim that only engines decide, in shares, if the caller set no limit.
const ENGINE_ONLY_SHARES: u32 = 15;

/// The error of [`Explainer::for_bounded`] for claims that have no bounded cores.
pub const NOT_BOUNDED: &str =
    "bounded cores are for claims that a run of finitely many steps decides";

/// Explains why one claim is decided as it is, from the checked verdict.
pub struct Explainer<'p> {
    pub(crate) path: Path,
    pub(crate) parts: Parts,
    pub(crate) claim: ClaimId,
    /// The invariant that proves the claim; `None` for claims about infinite runs, which only
    /// engines decide.
    pub(crate) property: Option<WatchId>,
    /// A note on the claim for the user.
    pub(crate) note: Option<&'static str>,
    /// The number of steps by which queried paths are longer than the runs of the model.
    pub(crate) extra_steps: u32,
    /// For bounded cores: a set of parts is adequate if it excludes violating paths of these
    /// lengths.
    pub(crate) lengths: Option<Lengths>,
    reuse: SessionReuse,
    pub(crate) last_values: Option<Values>,
    /// Formulas that some proof used.
    lemmas: Vec<WatchId>,
    /// The k of the initial evidence, or 1.
    depth: u32,
    pub(crate) prover: &'p mut dyn Prover,
    config: ExplainConfig,
    /// Known inadequate sets; none is a subset of another.
    pub(crate) inadequate: Vec<PartSet>,
    /// Known adequate sets; none is a superset of another.
    pub(crate) adequate: Vec<PartSet>,
    /// Undecided sets. The search skips them and their subsets, and concludes nothing from them.
    pub(crate) undecided: Vec<PartSet>,
    /// Inadequate and undecided sets found since the enumeration last read this list.
    pub(crate) unread: Vec<PartSet>,
    /// True if some set was not decided, or a search limit was reached: cores may be larger than
    /// necessary.
    pub(crate) approximate: bool,
    /// The evidence given to the constructor.
    given: Option<Evidence>,
    /// A suggested core. It is checked like any other set.
    suggested: Option<PartSet>,
}

impl<'p> Explainer<'p> {
    /// Prepares to explain one claim. `verdict` is the checked verdict about the system itself.
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

    /// [`Explainer::new`] with the session of an explainer of another claim ([`Explainer::end`]).
    /// The session is reused if it is about the same system and parts, so the constraints are
    /// asserted once for many claims.
    pub fn continuing(
        shared: &mut Option<SharedSession>,
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
        let kind = &system.claims()[claim.index()].kind;
        let (Verdict::Holds(evidence) | Verdict::Fails(evidence)) = verdict else {
            return Err("it was not decided".into());
        };
        if !is_proof(kind, verdict) {
            return Err("it is shown by a run, which rests on no element".into());
        }
        let subject = Subject::of(system, parts, claim, Some(evidence), prover)?;
        Explainer::make(shared, subject, config, prover)
    }

    /// An explainer for bounded cores only; the claim needs no proof.
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
        if invariant_of(&subject.system, &mut Pool::fork(subject.system.pool()), subject.claim)
            .is_none()
        {
            return Err(NOT_BOUNDED.into());
        }
        Explainer::make(&mut None, subject, config, prover)
    }

    fn make(
        shared: &mut Option<SharedSession>,
        subject: Subject,
        config: ExplainConfig,
        prover: &'p mut dyn Prover,
    ) -> Result<Explainer<'p>, String> {
        let Subject { system, parts, claim, given, note, extra_steps, reuse } = subject;
        let system = &system;
        let fits =
            |t: &mut SharedSession| Arc::ptr_eq(&t.path.system, system) && t.parts.same(&parts);
        let mut earlier = shared.take_if(fits).map(|t| t.path);
        let mut pool = match &mut earlier {
            Some(path) => std::mem::replace(&mut path.pool, Pool::new()),
            None => Pool::fork(system.pool()),
        };
        let property = invariant_of(system, &mut pool, claim);
        let hint = given.hint.as_ref().or(given.exact.as_ref()).filter(|_| property.is_some());
        let found = hint.and_then(|e| candidates_of(system, &mut pool, e));
        let mut about: Vec<TermId> = property.into_iter().collect();
        about.extend(found.iter().flat_map(|(_, terms)| terms));
        let mut path = match earlier.filter(|path| path.supports(&pool, &about)) {
            Some(mut path) => {
                path.pool = pool;
                path
            }
            None => Path::new(
                system,
                &parts,
                &config.solvers,
                config.cancellation.clone(),
                &about,
                pool,
            )?,
        };
        let timeout = match property {
            Some(_) => config.timeout,
            None => config.timeout.or(Some(config.share.saturating_mul(ENGINE_ONLY_SHARES))),
        };
        path.deadline = timeout.and_then(|t| Instant::now().checked_add(t));
        path.query_timeout = Some(config.share.saturating_mul(FIRST_PROOF_SHARES));
        let watched = property.map(|p| path.watch(p));
        let (depth, lemmas) = match found {
            Some((k, terms)) => (k, terms.into_iter().map(|t| path.watch(t)).collect()),
            None => (1, Vec::new()),
        };
        let (inadequate, adequate, undecided) = (Vec::new(), Vec::new(), Vec::new());
        let lengths = None;
        let known =
            SharedKnowledge { lemmas, depth, config, inadequate, adequate, undecided, lengths };
        let mut explainer = Explainer::worker(path, parts, claim, watched, known, prover);
        (explainer.given, explainer.note, explainer.extra_steps, explainer.reuse) =
            (given.exact, note, extra_steps, reuse);
        Ok(explainer)
    }

    /// An explainer with the knowledge of another, and its own path and prover.
    pub(crate) fn worker(
        path: Path,
        parts: Parts,
        claim: ClaimId,
        property: Option<WatchId>,
        known: SharedKnowledge,
        prover: &'p mut dyn Prover,
    ) -> Explainer<'p> {
        Explainer {
            path,
            parts,
            claim,
            property,
            note: None,
            extra_steps: 0,
            lengths: known.lengths,
            reuse: SessionReuse::ThisClaim,
            last_values: None,
            lemmas: known.lemmas,
            depth: known.depth,
            prover,
            config: known.config,
            inadequate: known.inadequate,
            adequate: known.adequate,
            undecided: known.undecided,
            unread: Vec::new(),
            approximate: false,
            given: None,
            suggested: None,
        }
    }

    /// The knowledge to pass to a second worker.
    pub(crate) fn knowledge(&self) -> SharedKnowledge {
        SharedKnowledge {
            lemmas: self.lemmas.clone(),
            depth: self.depth,
            config: self.config.clone(),
            inadequate: self.inadequate.clone(),
            adequate: self.adequate.clone(),
            undecided: self.undecided.clone(),
            lengths: self.lengths,
        }
    }

    /// Adds formulas that some proof used.
    pub(crate) fn add_lemmas(&mut self, lemmas: Vec<WatchId>) {
        for f in lemmas {
            if !self.lemmas.contains(&f) {
                self.lemmas.push(f);
            }
        }
    }

    /// Ends the work, and keeps the solver session for a later claim.
    pub fn end(self, shared: &mut Option<SharedSession>) {
        if self.reuse == SessionReuse::ManyClaims && self.path.is_whole() {
            *shared = Some(SharedSession { path: self.path, parts: self.parts });
        }
    }

    /// The parts of the model.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The number of solver queries.
    pub fn questions(&self) -> u64 {
        self.path.queries
    }

    /// A note on the claim for the user.
    pub fn note(&self) -> Option<&'static str> {
        self.note
    }

    /// Suggests a core, for example from a saved result. It is tried first, and counts only if it
    /// is adequate.
    pub fn suggest(&mut self, parts: PartSet) {
        self.suggested = Some(parts);
    }

    /// True if some set was not decided, or a search limit was reached: cores may be larger than
    /// necessary.
    pub fn is_approximate(&self) -> bool {
        self.approximate
    }

    /// Formulas that some proof used.
    pub(crate) fn lemmas(&self) -> &[WatchId] {
        &self.lemmas
    }

    /// The k of the first proof.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Time limit for the engines on one relaxation.
    pub(crate) fn share(&self) -> Duration {
        self.config.share
    }

    pub(crate) fn all(&self) -> PartSet {
        PartSet::all(self.parts.len())
    }

    pub(crate) fn query(&mut self, query: &PathQuery<'_>) -> Result<PathAnswer, Stop> {
        if self.path.deadline_passed() || self.config.cancellation.is_cancelled() {
            return Err(Stop::OutOfTime);
        }
        Ok(self.path.query(query))
    }

    fn kind(&self) -> &ClaimKind {
        &self.path.system.claims()[self.claim.index()].kind
    }

    /// The verdict with this evidence that is a proof for claims of this kind.
    pub(crate) fn proved(&self, evidence: Evidence) -> Verdict {
        let holds = Verdict::Holds(evidence);
        if is_proof(self.kind(), &holds) {
            return holds;
        }
        let Verdict::Holds(evidence) = holds else { return holds };
        Verdict::Fails(evidence)
    }

    /// True if each part is known to be necessary in this set.
    pub(crate) fn is_minimal(&self, parts: &PartSet) -> bool {
        let lost = |fewer: &PartSet| self.inadequate.iter().any(|set| fewer.is_subset(set));
        parts.iter().all(|p| lost(&parts.without(p)))
    }

    /// True if the whole model without the part is known to be inadequate.
    pub(crate) fn is_must(&self, part: usize) -> bool {
        self.inadequate.iter().any(|set| !set.has(part) && set.len() + 1 == set.universe())
    }
}
