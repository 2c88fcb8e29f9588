//! The proof cache: evidence kept in a folder from run to run.
//!
//! An entry is an evidence file (docs/evidence.md) named by a hash of the text of the model and the
//! claim. A second entry, named by a hash of the file name and the claim, holds the newest evidence
//! for any text: after an edit, its formulas are candidates. The folder is not trusted: evidence
//! from it counts only if `gander-certify` accepts it for this model, so a forged, incomplete or
//! outdated entry costs only the time of a check. Entries are replaced as a whole, so processes can
//! share a folder.
//!
//! Before the folder, evidence in memory is looked at, if there is any ([`EarlierVerdicts`]). It is
//! checked in the same way.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{Certified, CheckLimits, Checker};
use gander_engines::{
    Cancellation, CheckConfig, CheckReport, Event, Observer, Outcome, shortest_by_itself,
};
use gander_explain::{ExplainConfig, Prover, reprove};
use gander_io::read::{self, Links};
use gander_io::write::{Target, create_folder, replace};
use gander_report::SourceMap;
use gander_system::{ClaimId, Decided, System, Verdict, read_evidence_text, write_evidence};
use gander_text::shown_path;

use super::earlier::EarlierVerdicts;

/// Bytes of the largest entry that is read or written.
const LARGEST: u64 = 64 << 20;
/// Time limit for checking one entry.
const CHECK_TIME: Duration = Duration::from_secs(10);
/// Time limit for trying the formulas of an outdated entry.
const TRIAL_TIME: Duration = Duration::from_secs(2);
/// Checking one entry takes at most the remaining time divided by this.
const CACHE_PART: u32 = 4;
/// The engine name of verdicts from the cache.
const NAME: &str = "cache";

/// The cache entries of one model.
pub(crate) struct ProofCache<'s> {
    folder: Option<&'s Path>,
    earlier: Option<&'s EarlierVerdicts>,
    source: &'s SourceMap,
}

/// A prover that runs no engine and only checks.
pub(crate) struct CheckerOnly<'c>(pub(crate) &'c mut Checker);

impl Prover for CheckerOnly<'_> {
    fn prove(&mut self, _: &Arc<System>, _: ClaimId, _: Duration) -> Verdict {
        Verdict::Unknown { explored_through: None, why: Vec::new() }
    }

    fn certify(
        &mut self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<(), String> {
        self.0.check(system, claim, verdict).map(drop).map_err(|e| e.to_string())
    }
}

fn path(folder: &Path, kind: &str, content: &[&str]) -> PathBuf {
    // Two hashes make collisions rare. A collision would only cost a check.
    let hash = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, kind, content).hash(&mut hasher);
        hasher.finish()
    };
    folder.join(format!("{kind}-{:016x}{:016x}.json", hash(0), hash(1)))
}

impl<'s> ProofCache<'s> {
    pub(crate) fn new(
        folder: Option<&'s Path>,
        earlier: Option<&'s EarlierVerdicts>,
        source: &'s SourceMap,
    ) -> ProofCache<'s> {
        ProofCache { folder, earlier, source }
    }

    /// The entry for this text and claim.
    fn entry(&self, folder: &Path, system: &System, claim: ClaimId) -> PathBuf {
        let text = self.source.own_text();
        path(folder, "proof", &[text, system.name(), &system.claims()[claim.index()].name])
    }

    /// The newest entry for a claim of this name of a file of this name.
    fn newest(&self, folder: &Path, system: &System, claim: ClaimId) -> PathBuf {
        let name = self.source.name();
        let file = Path::new(name).file_name().and_then(|n| n.to_str()).unwrap_or(name);
        path(folder, "newest", &[file, system.name(), &system.claims()[claim.index()].name])
    }

    fn read(&self, path: &Path, system: &System, claim: ClaimId) -> Option<Verdict> {
        let text = read::text(path, Links::Refuse, LARGEST).ok()?;
        let file = read_evidence_text(system, &text).ok()?;
        (file.claim == claim).then_some(match file.verdict {
            Decided::Holds => Verdict::Holds(file.evidence),
            Decided::Fails => Verdict::Fails(file.evidence),
        })
    }

    /// Decides the claims by cached evidence that passes its check, and the rest by engines. Writes
    /// new evidence to the cache. Also returns why that failed.
    pub(crate) fn check(
        &self,
        system: &Arc<System>,
        config: &CheckConfig,
        cancel: &Cancellation,
        observer: &dyn Observer,
    ) -> (CheckReport, Vec<String>) {
        let begun = Instant::now();
        let end = config.timeout.and_then(|t| begun.checked_add(t));
        // Cached evidence may be hard to check, perhaps on purpose, so engines get most of the
        // time.
        let left = || end.map(|end| end.saturating_duration_since(Instant::now()) / CACHE_PART);
        let entry_time = || left().map_or(CHECK_TIME, |left| left.min(CHECK_TIME));
        let limits = CheckLimits {
            total: Some(CHECK_TIME),
            memory: config.memory,
            trust: config.trust,
            ..CheckLimits::default()
        };
        let mut known: Vec<Outcome> = Vec::new();
        let mut earlier = self.earlier.map_or_else(Vec::new, |e| e.fitting(system, &config.claims));
        if self.folder.is_some_and(Path::is_dir) || !earlier.is_empty() {
            let new_checker = || {
                let mut checker = Checker::new(&config.solvers, limits);
                checker.set_cancellation(cancel.clone());
                // Entries of a system share obligations.
                checker.remember(system);
                if let Some(refutations) = &config.refutations {
                    checker.share_refutations(refutations);
                }
                checker
            };
            let mut checker = new_checker();
            earlier.reverse();
            for &claim in &config.claims {
                let in_memory = earlier.pop_if(|(of, _)| *of == claim).map(|(_, verdict)| verdict);
                if cancel.is_cancelled() || entry_time().is_zero() {
                    break;
                }
                checker.set_limits(CheckLimits { total: Some(entry_time()), ..limits });
                let trial = ExplainConfig {
                    timeout: Some(entry_time().min(TRIAL_TIME)),
                    ..ExplainConfig::new(&config.solvers)
                };
                let sign = cancel.with_deadline(Instant::now().checked_add(entry_time() * 2));
                let recalled = sign.run_cancellable(|| {
                    self.recall(system, claim, in_memory.as_ref(), trial, &mut checker)
                });
                if recalled.is_err() {
                    // The cancelled checker may be in an inconsistent state.
                    checker = new_checker();
                }
                if let Ok(Some((verdict, Certified { warnings, basis, .. }))) = recalled {
                    let elapsed = begun.elapsed();
                    let outcome = Outcome {
                        claim,
                        shortest: shortest_by_itself(&verdict),
                        verdict,
                        engine: NAME.to_string(),
                        elapsed,
                        warnings,
                        basis,
                    };
                    observer.event(&Event::Settled(outcome.clone()));
                    known.push(outcome);
                }
            }
        }
        let mut rest = config.clone();
        rest.claims.retain(|c| !known.iter().any(|o| o.claim == *c));
        rest.timeout =
            config.timeout.map(|t| t.saturating_sub(begun.elapsed()).max(Duration::from_millis(1)));
        let mut report = if rest.claims.is_empty() {
            CheckReport::default()
        } else {
            gander_engines::check(system, &rest, cancel, observer)
        };
        let mut problems = Vec::new();
        for outcome in &report.outcomes {
            if let Some(Err(problem)) = self.folder.map(|folder| self.keep(folder, system, outcome))
            {
                problems = vec![format!("the proof cache cannot be written: {problem}")];
            }
        }
        if let Some(earlier) = self.earlier {
            earlier.keep(system, known.iter().chain(&report.outcomes));
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
        in_memory: Option<&Verdict>,
        trial: ExplainConfig,
        checker: &mut Checker,
    ) -> Option<(Verdict, Certified)> {
        if let Some(verdict) = in_memory
            && let Ok(certified) = checker.check(system, claim, verdict)
        {
            return Some((verdict.clone(), certified));
        }
        let folder = self.folder.filter(|folder| folder.is_dir());
        let read = |path: PathBuf| self.read(&path, system, claim);
        if let Some(verdict) = folder.and_then(|f| read(self.entry(f, system, claim)))
            && let Ok(certified) = checker.check(system, claim, &verdict)
        {
            return Some((verdict, certified));
        }
        let old = match in_memory {
            Some(verdict) => verdict.clone(),
            None => {
                let old = read(self.newest(folder?, system, claim))?;
                if let Ok(certified) = checker.check(system, claim, &old) {
                    return Some((old, certified));
                }
                old
            }
        };
        let verdict = reprove(system, claim, &old, trial, &mut CheckerOnly(checker))?;
        let certified = checker.check(system, claim, &verdict).ok()?;
        Some((verdict, certified))
    }

    fn keep(&self, folder: &Path, system: &System, outcome: &Outcome) -> Result<(), String> {
        let Ok(file) = write_evidence(system, outcome.claim, &outcome.verdict) else {
            return Ok(());
        };
        let content = serde_json::to_vec(&file).map_err(|e| e.to_string())?;
        if content.len() as u64 > LARGEST {
            return Ok(());
        }
        create_folder(folder).map_err(|e| format!("{}: {e}", shown_path(folder)))?;
        let (claim, newest) = (outcome.claim, self.newest(folder, system, outcome.claim));
        for path in [self.entry(folder, system, claim), newest] {
            replace(&path, &content, Target::Cached).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}
