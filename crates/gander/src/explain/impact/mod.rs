//! Impact of an edit: which verdicts about the old model carry over to the new one.
//!
//! Nothing is inferred from the form of the edit: a verdict survives only if its evidence passes
//! its check on the new model. The validity core of the old proof gives the reason: if none of its
//! elements changed, the proof still holds. Elements of the two versions are matched by structure
//! ([`structure`]); evidence about variables that were renamed is renamed, too.

mod structure;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker, Rejection};
use gander_engines::{Cancellation, NullObserver, Outcome};
use gander_explain::{ExplainConfig, Granularity, Parts, Prover, Request, Wish, reprove};
use gander_report::{DiagnosticView, ExplainView, NO_RUN, VerdictView};
use gander_smt::Solvers;
use gander_system::{
    ClaimId, ClaimOrigin, Decided, EvidenceFileError, System, Verdict, read_evidence,
    write_evidence,
};

use self::structure::{compare, renamed_evidence};
use super::cores::{ExplainOptions, explain_model};
use crate::check::check_model;
use crate::decide::{CheckContext, has_no_run};
use crate::load::load_within;
use crate::model::Model;
use crate::options::{CheckOptions, Findings, StructuralChecks};
use crate::present::{load_stopped_text, nothing_to_decide_diagnostic};

/// Time limits for checking one piece of evidence, and for trying old formulas.
const CHECK_TIME: Duration = Duration::from_secs(30);
const TRIAL: Duration = Duration::from_secs(5);

/// The name of the format of [`ImpactReport::json`].
const IMPACT_SCHEMA: &str = "gander-impact/1";
/// Stands for what is no element among the names of what changed.
const REST: &str = "declarations and control graph";

/// What happens to a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The old evidence passes its check on the new model.
    Survives,
    /// The old invariants that still hold prove it on the new model.
    ProvedAgain,
    /// It has to be decided again.
    Open,
}

/// The impact of an edit on one property of the new model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Impact {
    /// The property.
    pub property: String,
    /// The word for its old verdict; none if it is new.
    pub before: Option<&'static str>,
    /// What happens to it.
    pub fate: Fate,
    /// Why, in words.
    pub why: String,
}

/// The impact of an edit on the properties of a model.
#[derive(Clone, Debug, Default)]
pub struct ImpactReport {
    /// By property of the new model.
    pub impacts: Vec<Impact>,
    /// Names of elements that were changed, added or removed.
    pub changed: Vec<String>,
    /// Variables that have another name in the new model and are otherwise the same.
    pub renamed: BTreeMap<String, String>,
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

    fn certify(
        &mut self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<(), String> {
        self.0.check(system, claim, verdict).map(drop).map_err(|e| e.to_string())
    }
}

/// Compares two versions of a model: text and file name of each.
pub fn impact(
    old: (&str, &str),
    new: (&str, &str),
    options: &CheckOptions,
    cancel: &Cancellation,
) -> ImpactReport {
    let mut options = CheckOptions {
        checks: StructuralChecks::None,
        findings: Findings::LeftOut,
        ..options.clone()
    };
    let solvers =
        options.solvers.get_or_insert_with(|| Arc::new(Solvers::from_environment())).clone();
    let mut report = ImpactReport::default();
    let begun = Instant::now();
    let end = options.timeout.and_then(|t| begun.checked_add(t));
    let left = || {
        end.map(|end| end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)))
    };
    let new = match load_within(new.0, new.1, &options.load, options.timeout, cancel) {
        Ok(model) => model,
        Err(stopped) => {
            report.stopped = Some(load_stopped_text(stopped));
            return report;
        }
    };
    if new.systems.is_empty() {
        report.diagnostics = new.diagnostics();
        return report;
    }
    let old = match load_within(old.0, old.1, &options.load, left(), cancel) {
        Ok(model) => model,
        Err(stopped) => {
            report.stopped = Some(load_stopped_text(stopped));
            return report;
        }
    };
    options.timeout = left();
    let context =
        |started| CheckContext { cancel, observer: &NullObserver, announce: &|_, _| {}, started };
    let checked = check_model(&old, &options, &context(Instant::now()));
    if checked.systems.is_empty() {
        report.diagnostics = checked.view.diagnostics;
        return report;
    }
    let request = Request { cores: Wish::One, ..Request::default() };
    options.timeout = left();
    let explaining = ExplainOptions {
        check: options.clone(),
        request,
        ignore_annotations: true,
        ..ExplainOptions::default()
    };
    let before = {
        let found = &mut |_: &str, _: &[String]| {};
        explain_model(&old, &explaining, cancel, &NullObserver, found, Instant::now())
    };
    let (touched_by_edit, changed) = differences(&old, &new, &mut report.renamed);
    report.changed = changed;
    let cores = cores(&before.views);
    let limits = |most: Duration| CheckLimits {
        total: Some(left().map_or(most, |left| left.min(most))),
        memory: options.memory,
        ..CheckLimits::default()
    };
    let mut checker = Checker::new(&solvers, limits(CHECK_TIME));
    checker.set_cancellation(cancel.clone());
    if new.systems.iter().all(|s| s.claims().iter().all(|c| c.origin == ClaimOrigin::Structural)) {
        report.diagnostics = vec![nothing_to_decide_diagnostic(new.source().name(), true)];
        return report;
    }
    for system in &new.systems {
        let lacks_run = has_no_run(system, &solvers);
        for (i, claim) in system.claims().iter().enumerate() {
            if claim.origin == ClaimOrigin::Structural {
                continue;
            }
            let found = checked.systems.iter().find_map(|(old, report)| {
                let outcome = report
                    .outcomes
                    .iter()
                    .find(|o| old.claims()[o.claim.index()].name == claim.name)?;
                Some((old, outcome))
            });
            let open = |why: String, before| Impact {
                property: claim.name.clone(),
                before,
                fate: Fate::Open,
                why,
            };
            let Some((old_system, outcome)) = found else {
                report.impacts.push(open("it is new".into(), None));
                continue;
            };
            let vacuous = checked
                .view
                .claims
                .iter()
                .any(|c| c.name == claim.name && c.verdict == VerdictView::Vacuous);
            if vacuous {
                report.impacts.push(open(
                    "the system had no run before, so it was not proved".to_string(),
                    Some("vacuous"),
                ));
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
            let carried = carried_evidence(old_system, outcome, &report.renamed)
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
            let touched: Vec<&String> = core
                .iter()
                .flat_map(|c| c.iter())
                .filter(|n| touched_by_edit.contains(*n))
                .collect();
            let rest_changed = touched_by_edit.iter().find(|n| *n == REST);
            let touched: Vec<&String> =
                touched.into_iter().chain(rest_changed.filter(|_| core.is_some())).collect();
            let touched_text = touched.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ");
            let unchanged = core.filter(|_| touched.is_empty()).map(|core| match core.len() {
                0 => "its proof rests on no element".to_string(),
                1 => "the element that its proof rests on did not change".to_string(),
                n => format!("none of the {n} elements that its proof rests on changed"),
            });
            let carried = |fate: Fate, why: String| Impact {
                property: claim.name.clone(),
                before: Some(word),
                fate,
                why: unchanged.clone().unwrap_or(why),
            };
            checker.set_limits(limits(CHECK_TIME));
            let checked_again = checker.check(system, id, &verdict);
            let undecided = matches!(checked_again, Err(Rejection::Undecided(_)));
            let impact = if word == "holds" && lacks_run {
                open(format!("{NO_RUN} any more, so it would hold for nothing"), Some(word))
            } else if checked_again.is_ok() {
                let why = match core {
                    Some(_) => {
                        format!("its proof passes its check although {touched_text} changed")
                    }
                    None => "its evidence passes its check on the new model".to_string(),
                };
                carried(Fate::Survives, why)
            } else {
                let config =
                    ExplainConfig { timeout: limits(TRIAL).total, ..ExplainConfig::new(&solvers) };
                match reprove(system, id, &verdict, config, &mut OnlyChecker(&mut checker)) {
                    // Evidence may contain more than its core needs.
                    Some(_) if unchanged.is_some() => carried(Fate::Survives, String::new()),
                    Some(_) => carried(
                        Fate::ProvedAgain,
                        "what is left of the old invariants proves it again".into(),
                    ),
                    None if undecided => {
                        open("the check of its evidence was not finished".into(), Some(word))
                    }
                    None if touched.is_empty() => {
                        open("its evidence does not pass its check any more".into(), Some(word))
                    }
                    None => {
                        open(format!("its proof rests on what changed: {touched_text}"), Some(word))
                    }
                }
            };
            report.impacts.push(impact);
        }
    }
    report
}

/// Names of elements of the old model that are not in the new one, and names of all elements that
/// were changed, added or removed. Systems are compared by their names.
fn differences(
    old: &Model,
    new: &Model,
    renamed: &mut BTreeMap<String, String>,
) -> (BTreeSet<String>, Vec<String>) {
    let parts = |model: &Model, system: &System| {
        Parts::of(system, model.source().own_text(), Granularity::Written)
    };
    let (mut gone, mut changed) = (BTreeSet::new(), BTreeSet::new());
    let mut compared = BTreeSet::new();
    for system in &new.systems {
        let new_parts = parts(new, system);
        let same_name = old.systems.iter().find(|s| s.name() == system.name());
        let single = (old.systems.len() == 1 && new.systems.len() == 1).then(|| &old.systems[0]);
        let Some(before) = same_name.or(single) else {
            changed.extend(new_parts.list.into_iter().map(|p| p.name));
            continue;
        };
        compared.insert(before.name().to_string());
        let old_parts = parts(old, before);
        let difference = compare((before, &old_parts), (system, &new_parts));
        let lost = old_parts.list.iter().zip(&difference.old).filter(|(_, same)| !**same);
        gone.extend(lost.map(|(p, _)| p.name.clone()));
        let added = new_parts.list.iter().zip(&difference.new).filter(|(_, same)| !**same);
        changed.extend(added.map(|(p, _)| p.name.clone()));
        if !difference.same_rest {
            gone.insert(REST.to_string());
        }
        renamed.extend(difference.renamed);
    }
    for before in old.systems.iter().filter(|s| !compared.contains(s.name())) {
        gone.extend(parts(old, before).list.into_iter().map(|p| p.name));
    }
    changed.extend(gone.iter().cloned());
    (gone, changed.into_iter().collect())
}

/// The file of a verdict about the old model, with the new names of variables.
fn carried_evidence(
    system: &System,
    outcome: &Outcome,
    renamed: &BTreeMap<String, String>,
) -> Result<serde_json::Value, EvidenceFileError> {
    if renamed.is_empty() {
        return write_evidence(system, outcome.claim, &outcome.verdict);
    }
    let verdict = match &outcome.verdict {
        Verdict::Holds(evidence) => Verdict::Holds(renamed_evidence(evidence, renamed)),
        Verdict::Fails(evidence) => Verdict::Fails(renamed_evidence(evidence, renamed)),
        unknown => unknown.clone(),
    };
    let name = |name: &str| renamed.get(name).map_or_else(|| name.to_string(), String::clone);
    write_evidence(&system.clone().renamed(name), outcome.claim, &verdict)
}

impl Fate {
    /// The word for it, as in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Fate::Survives => "survives",
            Fate::ProvedAgain => "proved again",
            Fate::Open => "to be decided",
        }
    }
}

impl ImpactReport {
    /// The report as JSON (docs/explain.md).
    pub fn json(&self) -> serde_json::Value {
        let property = |i: &Impact| {
            serde_json::json!({ "property": i.property, "before": i.before, "fate": i.fate.word(),
                                "why": i.why })
        };
        serde_json::json!({
            "schema": IMPACT_SCHEMA,
            "properties": self.impacts.iter().map(property).collect::<Vec<_>>(),
            "changed": self.changed,
            "renamed": self.renamed,
            "stopped": self.stopped,
        })
    }
}

/// By property: the names of the elements of its core.
fn cores(views: &[ExplainView]) -> BTreeMap<String, Vec<String>> {
    let mut cores = BTreeMap::new();
    for view in views {
        for r in &view.results {
            if let Some(core) = r.cores.first() {
                cores.insert(
                    r.property.clone(),
                    core.elements.iter().map(|&e| view.elements[e].name.clone()).collect(),
                );
            }
        }
    }
    cores
}
