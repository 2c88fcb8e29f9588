//! What an edit does to proofs: which verdicts about the old model carry over to the new one.
//!
//! Nothing is inferred from what the edit looks like: a verdict survives only if its evidence, read against the new model, passes its
//! check there. The validity core of the old proof says why: if none of its elements changed, it had to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker};
use gander_engines::{Cancellation, NullObserver};
use gander_explain::{ExplainConfig, Prover, Request, Wish, reprove};
use gander_report::{DiagnosticView, ExplainView, NO_RUN, VerdictView};
use gander_smt::Solvers;
use gander_system::{ClaimId, ClaimOrigin, Decided, System, Verdict, read_evidence, write_evidence};

use crate::check::{CheckOptions, Findings, StructuralChecks, check_loaded, load, reading_stopped};
use crate::explain::{ExplainOptions, explain_source};
use crate::no_run::has_no_run;
use crate::nothing;

/// What the check of one piece of evidence may take, and what old formulas may take to be tried.
const CHECK_TIME: Duration = Duration::from_secs(30);
const TRIAL: Duration = Duration::from_secs(5);

/// What becomes of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The old evidence passes its check on the new model.
    Survives,
    /// What is left of the old invariants proves it on the new model.
    ProvedAgain,
    /// It has to be decided again.
    Open,
}

/// What an edit does to one property of the new model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Impact {
    /// The property.
    pub property: String,
    /// Its old verdict, in a word; none if it is new.
    pub before: Option<&'static str>,
    /// What becomes of it.
    pub fate: Fate,
    /// Why, in words.
    pub why: String,
}

/// What an edit does to the properties of a model.
#[derive(Clone, Debug, Default)]
pub struct ImpactReport {
    /// By property of the new model.
    pub impacts: Vec<Impact>,
    /// Names of elements that were changed, added or removed.
    pub changed: Vec<String>,
    /// Errors in either text.
    pub diagnostics: Vec<DiagnosticView>,
    /// Why nothing could be compared within the limits.
    pub stopped: Option<String>,
}

struct OnlyChecker<'c>(&'c mut Checker);

impl Prover for OnlyChecker<'_> {
    fn prove(&mut self, _: &Arc<System>, _: ClaimId, _: Duration) -> Verdict {
        Verdict::Unknown { explored_through: None, why: Vec::new() }
    }

    fn certify(&mut self, system: &System, claim: ClaimId, verdict: &Verdict) -> Result<(), String> {
        self.0.check(system, claim, verdict).map(drop).map_err(|e| e.to_string())
    }
}

/// Compares two versions of a model: text and file name of each.
pub fn impact(old: (&str, &str), new: (&str, &str), options: &CheckOptions, cancel: &Cancellation) -> ImpactReport {
    let mut options = CheckOptions { checks: StructuralChecks::None, findings: Findings::LeftOut, ..options.clone() };
    let solvers = options.solvers.get_or_insert_with(|| Arc::new(Solvers::from_environment())).clone();
    let mut report = ImpactReport::default();
    let begun = Instant::now();
    let end = options.timeout.and_then(|t| begun.checked_add(t));
    let left = || end.map(|end| end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
    let (text, name, paint) = (new.0.to_string(), new.1.to_string(), options.paint);
    let read = cancel.with_deadline(end).run_cancellable_on_thread(move || load(&text, &name, paint));
    let (loaded, diagnostics) = match read {
        Ok(read) => read,
        Err(stopped) => {
            report.stopped = Some(reading_stopped(stopped, &options, cancel));
            return report;
        }
    };
    let Some(first) = loaded.system else {
        report.diagnostics = diagnostics;
        return report;
    };
    let systems: Vec<Arc<System>> =
        std::iter::once(first).chain(loaded.others).map(|s| Arc::new(s.and_structural_claims())).collect();
    options.timeout = left();
    let checked = check_loaded(old.0, old.1, &options, cancel, &NullObserver);
    if checked.system.is_none() {
        report.diagnostics = checked.view.diagnostics;
        report.stopped = checked.view.stopped;
        return report;
    }
    let request = Request { cores: Wish::One, ..Request::default() };
    options.timeout = left();
    let explaining = ExplainOptions { check: options.clone(), request, ..ExplainOptions::default() };
    let before = explain_source(old.0, old.1, &explaining, cancel, &NullObserver, &mut |_, _| {});
    let bounded = ExplainOptions { bounded: Some(0), ..explaining };
    let after = explain_source(new.0, new.1, &bounded, cancel, &NullObserver, &mut |_, _| {});
    report.changed = changed(&texts(&before.views), &texts(&after.views));
    let cores = cores(&before.views);
    let limits = |most: Duration| CheckLimits {
        total: Some(left().map_or(most, |left| left.min(most))),
        memory: options.memory,
        ..CheckLimits::default()
    };
    let mut checker = Checker::new(&solvers, limits(CHECK_TIME));
    checker.set_cancellation(cancel.clone());
    if systems.iter().all(|s| s.claims.iter().all(|c| c.origin == ClaimOrigin::Structural)) {
        report.diagnostics = vec![nothing::message(new.1, true)];
        return report;
    }
    for system in &systems {
        let lacks_run = has_no_run(system, &solvers);
        for (i, claim) in system.claims.iter().enumerate() {
            if claim.origin == ClaimOrigin::Structural {
                continue;
            }
            let found = checked.systems().find_map(|(old, report)| {
                let outcome = report.outcomes.iter().find(|o| old.claims[o.claim.index()].name == claim.name)?;
                Some((old, outcome))
            });
            let open = |why: String, before| Impact { property: claim.name.clone(), before, fate: Fate::Open, why };
            let Some((old_system, outcome)) = found else {
                report.impacts.push(open("it is new".into(), None));
                continue;
            };
            let vacuous = checked.view.claims.iter().any(|c| c.name == claim.name && c.verdict == VerdictView::Vacuous);
            if vacuous {
                report
                    .impacts
                    .push(open("the system had no run before, so it was not proved".to_string(), Some("vacuous")));
                continue;
            }
            let word = match outcome.verdict {
                Verdict::Holds(_) => "holds",
                Verdict::Fails(_) => "fails",
                Verdict::Unknown { .. } => {
                    report.impacts.push(open("it was not decided before".into(), Some("unknown")));
                    continue;
                }
            };
            let id = ClaimId::from(i);
            let carried = write_evidence(old_system, outcome.claim, &outcome.verdict)
                .and_then(|json| read_evidence(system, &json));
            let verdict = match carried {
                Ok(file) if file.claim == id => match file.verdict {
                    Decided::Holds => Verdict::Holds(file.evidence),
                    Decided::Fails => Verdict::Fails(file.evidence),
                },
                Ok(_) => {
                    report.impacts.push(open("the claim is another one".into(), Some(word)));
                    continue;
                }
                Err(e) => {
                    let why = format!("the old evidence does not fit the new model: {e}");
                    report.impacts.push(open(why, Some(word)));
                    continue;
                }
            };
            let core = cores.get(&claim.name);
            let touched: Vec<&String> =
                core.iter().flat_map(|c| c.iter()).filter(|n| report.changed.contains(n)).collect();
            let touched_text = touched.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ");
            let unchanged = core
                .filter(|_| touched.is_empty())
                .map(|core| format!("none of the {} elements that its proof rests on changed", core.len()));
            let carried = |fate: Fate, why: String| Impact {
                property: claim.name.clone(),
                before: Some(word),
                fate,
                why: unchanged.clone().unwrap_or(why),
            };
            checker.set_limits(limits(CHECK_TIME));
            let impact = if word == "holds" && lacks_run {
                open(format!("{NO_RUN} any more, so it would hold for nothing"), Some(word))
            } else if checker.check(system, id, &verdict).is_ok() {
                let why = match core {
                    Some(_) => format!("its proof passes its check although {touched_text} changed"),
                    None => "its evidence passes its check on the new model".to_string(),
                };
                carried(Fate::Survives, why)
            } else {
                let config = ExplainConfig { timeout: limits(TRIAL).total, ..ExplainConfig::new(&solvers) };
                match reprove(system, id, &verdict, config, &mut OnlyChecker(&mut checker)) {
                    // Evidence has more in it than its core needs.
                    Some(_) if unchanged.is_some() => carried(Fate::Survives, String::new()),
                    Some(_) => carried(Fate::ProvedAgain, "what is left of the old invariants proves it again".into()),
                    None if touched.is_empty() => {
                        open("its evidence does not pass its check any more".into(), Some(word))
                    }
                    None => open(format!("its proof rests on what changed: {touched_text}"), Some(word)),
                }
            };
            report.impacts.push(impact);
        }
    }
    report
}

/// By name: the text of each element.
fn texts(views: &[ExplainView]) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for view in views {
        for e in &view.elements {
            let text = e.span.and_then(|(a, b)| view.source.get(a..b)).unwrap_or_default();
            let words: Vec<&str> = text.split_whitespace().collect();
            texts.insert(e.name.clone(), words.join(" "));
        }
    }
    texts
}

fn changed(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<String> = old.iter().filter(|(n, t)| new.get(*n) != Some(t)).map(|(n, _)| n.clone()).collect();
    names.extend(new.keys().filter(|n| !old.contains_key(*n)).cloned());
    names.sort();
    names
}

/// By property: the names of the elements of its core.
fn cores(views: &[ExplainView]) -> BTreeMap<String, Vec<String>> {
    let mut cores = BTreeMap::new();
    for view in views {
        for r in &view.results {
            if let Some(core) = r.cores.first() {
                cores.insert(r.property.clone(), core.iter().map(|&e| view.elements[e].name.clone()).collect());
            }
        }
    }
    cores
}
