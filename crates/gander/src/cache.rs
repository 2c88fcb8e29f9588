//! The proof cache: evidence kept in a folder from run to run.
//!
//! An entry is an evidence file (docs/evidence.md) under a name made of the content that it is about: the text of the model and
//! the claim. Beside it is the newest entry for a model of this file name and a claim of this name, whatever its text was: after
//! an edit its formulas are tried as candidates. Nothing in the folder is trusted: what is read is evidence like any
//! engine's, and counts only if `gander-certify` accepts it for this model. So a forged, torn or outdated entry costs the time
//! of a check, and runs that share a folder never disturb each other (entries are replaced as a whole).

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{Certified, CheckLimits, Checker};
use gander_engines::{Cancellation, CheckConfig, CheckReport, Event, Observer, Outcome};
use gander_explain::{ExplainConfig, Prover, reprove};
use gander_io::read::{self, Links};
use gander_io::write::{Target, create_folder, replace};
use gander_system::{ClaimId, Decided, System, Verdict, read_evidence_text, write_evidence};
use gander_text::shown_path;

/// Larger entries are not read.
const LARGEST: u64 = 64 << 20;
/// What the check of one entry may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// What old formulas may take to be tried.
const TRIAL: Duration = Duration::from_secs(2);
/// One entry may take one part in so many of the time that is left.
const CACHE_PART: u32 = 4;
/// Who is said to have found what comes from the cache.
const NAME: &str = "cache";

/// See the module's documentation.
pub(crate) struct ProofCache<'s> {
    folder: &'s Path,
    source: &'s str,
    file_name: &'s str,
}

/// Only the checker: no engine is asked.
struct OnlyChecker<'c>(&'c mut Checker);

impl Prover for OnlyChecker<'_> {
    fn prove(&mut self, _: &Arc<System>, _: ClaimId, _: Duration) -> Verdict {
        Verdict::Unknown { explored_through: None, why: Vec::new() }
    }

    fn certify(&mut self, system: &System, claim: ClaimId, verdict: &Verdict) -> Result<(), String> {
        self.0.check(system, claim, verdict).map(drop).map_err(|e| e.to_string())
    }
}

impl<'s> ProofCache<'s> {
    pub(crate) fn new(folder: &'s Path, source: &'s str, file_name: &'s str) -> ProofCache<'s> {
        ProofCache { folder, source, file_name }
    }

    /// The entry for exactly this model and claim.
    fn entry(&self, system: &System, claim: ClaimId) -> PathBuf {
        self.path("proof", &[self.source, &system.name, &system.claims[claim.index()].name])
    }

    /// The newest entry for a claim of this name of a file of this name.
    fn newest(&self, system: &System, claim: ClaimId) -> PathBuf {
        let file = Path::new(self.file_name).file_name().and_then(|n| n.to_str()).unwrap_or(self.file_name);
        self.path("newest", &[file, &system.name, &system.claims[claim.index()].name])
    }

    fn path(&self, kind: &str, content: &[&str]) -> PathBuf {
        // Two numbers: entries that meet by chance would only cost a check, but let them be rare.
        let hash = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, kind, content).hash(&mut hasher);
            hasher.finish()
        };
        self.folder.join(format!("{kind}-{:016x}{:016x}.json", hash(0), hash(1)))
    }

    fn read(&self, path: &Path, system: &System, claim: ClaimId) -> Option<Verdict> {
        let text = read::text(path, Links::Refuse, LARGEST).ok()?;
        let file = read_evidence_text(system, &text).ok()?;
        (file.claim == claim).then_some(match file.verdict {
            Decided::Holds => Verdict::Holds(file.evidence),
            Decided::Fails => Verdict::Fails(file.evidence),
        })
    }

    /// Decides the claims: by what is in the cache where that passes its check, by engines else. Keeps what is new. Also what a
    /// person should know.
    pub(crate) fn check(
        &self,
        system: &Arc<System>,
        config: &CheckConfig,
        cancel: &Cancellation,
        observer: &dyn Observer,
    ) -> (CheckReport, Vec<String>) {
        let begun = Instant::now();
        let end = config.timeout.and_then(|t| begun.checked_add(t));
        // What was kept may be hard to check, or made to be so: engines have most of the time.
        let left = || end.map(|end| end.saturating_duration_since(Instant::now()) / CACHE_PART);
        let patience = || left().map_or(PATIENCE, |left| left.min(PATIENCE));
        let limits =
            CheckLimits { total: Some(PATIENCE), memory: config.memory, trust: config.trust, ..CheckLimits::default() };
        let mut known: Vec<Outcome> = Vec::new();
        // Without a folder there is nothing to look for.
        if self.folder.is_dir() {
            let new_checker = || {
                let mut checker = Checker::new(&config.solvers, limits);
                checker.set_cancellation(cancel.clone());
                checker
            };
            let mut checker = new_checker();
            for &claim in &config.claims {
                if cancel.is_cancelled() || patience().is_zero() {
                    break;
                }
                checker.set_limits(CheckLimits { total: Some(patience()), ..limits });
                let trial =
                    ExplainConfig { timeout: Some(patience().min(TRIAL)), ..ExplainConfig::new(&config.solvers) };
                let sign = cancel.with_deadline(Instant::now().checked_add(patience() * 2));
                let recalled = sign.run_cancellable(|| self.recall(system, claim, trial, &mut checker));
                if recalled.is_err() {
                    // It was broken off in the middle of something.
                    checker = new_checker();
                }
                if let Ok(Some((verdict, Certified { warnings, basis, .. }))) = recalled {
                    let elapsed = begun.elapsed();
                    let outcome = Outcome { claim, verdict, engine: NAME.to_string(), elapsed, warnings, basis };
                    observer.event(&Event::Settled(outcome.clone()));
                    known.push(outcome);
                }
            }
        }
        let mut rest = config.clone();
        rest.claims.retain(|c| !known.iter().any(|o| o.claim == *c));
        rest.timeout = config.timeout.map(|t| t.saturating_sub(begun.elapsed()).max(Duration::from_millis(1)));
        let mut report = if rest.claims.is_empty() {
            CheckReport::default()
        } else {
            gander_engines::check(system, &rest, cancel, observer)
        };
        let mut problems = Vec::new();
        for outcome in &report.outcomes {
            if let Err(problem) = self.keep(system, outcome) {
                problems = vec![format!("the proof cache cannot be written: {problem}")];
            }
        }
        report.outcomes.extend(known);
        report.outcomes.sort_by_key(|o| config.claims.iter().position(|c| *c == o.claim));
        (report, problems)
    }

    /// A verdict from the cache that passed its check.
    fn recall(
        &self,
        system: &Arc<System>,
        claim: ClaimId,
        trial: ExplainConfig,
        checker: &mut Checker,
    ) -> Option<(Verdict, Certified)> {
        if let Some(verdict) = self.read(&self.entry(system, claim), system, claim)
            && let Ok(certified) = checker.check(system, claim, &verdict)
        {
            return Some((verdict, certified));
        }
        let old = self.read(&self.newest(system, claim), system, claim)?;
        if let Ok(certified) = checker.check(system, claim, &old) {
            return Some((old, certified));
        }
        let verdict = reprove(system, claim, &old, trial, &mut OnlyChecker(checker))?;
        let certified = checker.check(system, claim, &verdict).ok()?;
        Some((verdict, certified))
    }

    fn keep(&self, system: &System, outcome: &Outcome) -> Result<(), String> {
        let Ok(file) = write_evidence(system, outcome.claim, &outcome.verdict) else { return Ok(()) };
        let content = serde_json::to_vec(&file).map_err(|e| e.to_string())?;
        if content.len() as u64 > LARGEST {
            return Ok(());
        }
        create_folder(self.folder).map_err(|e| format!("{}: {e}", shown_path(self.folder)))?;
        for path in [self.entry(system, outcome.claim), self.newest(system, outcome.claim)] {
            replace(&path, &content, Target::Cached).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}
