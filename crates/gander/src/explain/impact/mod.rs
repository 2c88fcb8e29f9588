//! Impact of an edit: which verdicts about the old model carry over to the new one.
//!
//! Nothing is inferred from the form of the edit: a verdict survives only if its evidence passes
//! its check on the new model. The validity core of the old proof gives the reason: if none of its
//! elements changed, the proof still holds. Elements of the two versions are matched by structure
//! ([`structure`]); evidence about variables that were renamed is renamed, too.

mod matching;
mod report;
mod structure;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker, Rejection};
use gander_engines::{Cancellation, NullObserver, Outcome};
use gander_explain::{CoreSelection, ExplainConfig, Granularity, Parts, Request, reprove};
use gander_report::{ClaimView, Completeness, DiagnosticView, ExplainView, NO_RUN, VerdictView};
use gander_smt::Solvers;
use gander_system::{
    Claim, ClaimId, Decided, EvidenceFileError, System, Verdict, read_evidence, write_evidence,
};

use self::matching::{counterparts, is_compared, property};
pub use self::report::{Fate, Impact, ImpactReport, RemovedProperty};
use self::structure::{
    Difference, compare, is_about_derived_system, rename_in_file, renamed_evidence,
};
use super::cores::{ExplainOptions, explain_verdicts};
use crate::check::{Checked, check_model};
use crate::decide::{CheckContext, CheckerOnly, has_no_run};
use crate::load::load_within;
use crate::model::Model;
use crate::options::{CheckOptions, Findings, StructuralChecks};
use crate::present::{load_stopped_text, nothing_to_decide_diagnostic};

/// Time limits for checking one piece of evidence, and for trying old formulas.
const CHECK_TIME: Duration = Duration::from_secs(30);
const TRIAL: Duration = Duration::from_secs(5);

/// The part of the time for deciding the old model.
const VERDICT_SHARE: f64 = 0.6;

/// Among the names of what changed, this stands for everything that is not an element.
const REST: &str = "declarations and control graph";

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
    let time = TimeLimit::new(options.timeout);
    let (old, new) = match load_versions(old, new, &options, &time, cancel) {
        Ok(models) => models,
        Err(why) => return why.report(),
    };
    options.timeout = time.left().map(|left| left.mul_f64(VERDICT_SHARE));
    let context = CheckContext {
        cancel,
        observer: &NullObserver,
        announce: &|_, _| {},
        verdicts: None,
        started: Instant::now(),
    };
    let checked = check_model(&old, &options, &context);
    if checked.systems.is_empty() {
        return NotCompared::Rejected(checked.view.diagnostics).report();
    }
    if new.systems.iter().all(|s| !s.claims().iter().any(is_compared)) {
        let diagnostic = nothing_to_decide_diagnostic(new.source().name(), true);
        return NotCompared::Rejected(vec![diagnostic]).report();
    }
    options.timeout = time.left();
    let cores = one_core_each(&old, &checked, &options, cancel);
    let mut checker = Checker::new(&solvers, CheckLimits::default());
    checker.set_cancellation(cancel.clone());
    let comparison = Comparison {
        old: &old,
        checked: &checked,
        cores,
        solvers: &solvers,
        memory: options.memory,
        time: &time,
        cancel,
    };
    let mut report = ImpactReport::default();
    comparison.compare(&new, &mut checker, &mut report);
    let is_at_limit = comparison.is_over() || checked.view.stopped.is_some();
    report.stopped = match time.limit {
        _ if report.completeness() == Completeness::Exact => None,
        _ if cancel.is_cancelled() => Some("stopped: this is what is known so far".to_string()),
        Some(limit) if is_at_limit => Some(format!(
            "incomplete: stopped by the time limit of {} s; a longer one (--timeout) may help",
            limit.as_secs_f64()
        )),
        _ => Some("incomplete: the check of some evidence was not finished".to_string()),
    };
    report
}

/// The user's time limit.
struct TimeLimit {
    limit: Option<Duration>,
    /// When it ends.
    end: Option<Instant>,
}

impl TimeLimit {
    /// A time limit that begins now.
    fn new(limit: Option<Duration>) -> TimeLimit {
        TimeLimit { limit, end: limit.and_then(|t| Instant::now().checked_add(t)) }
    }

    /// The time that is left; never zero.
    fn left(&self) -> Option<Duration> {
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        self.end.map(|end| left(end).max(Duration::from_millis(1)))
    }

    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// Why two versions cannot be compared.
enum NotCompared {
    /// Loading was stopped.
    Stopped(String),
    /// A model was rejected.
    Rejected(Vec<DiagnosticView>),
}

impl NotCompared {
    fn report(self) -> ImpactReport {
        let mut report = ImpactReport::default();
        match self {
            NotCompared::Stopped(text) => report.stopped = Some(text),
            NotCompared::Rejected(diagnostics) => report.diagnostics = diagnostics,
        }
        report
    }
}

/// The old and the new model. Errors in the old one are reported when it is checked.
fn load_versions(
    old: (&str, &str),
    new: (&str, &str),
    options: &CheckOptions,
    time: &TimeLimit,
    cancel: &Cancellation,
) -> Result<(Model, Model), NotCompared> {
    let load = |(text, name): (&str, &str), limit: Option<Duration>| {
        load_within(text, name, &options.load, limit, cancel)
            .map_err(|stopped| NotCompared::Stopped(load_stopped_text(stopped)))
    };
    let new = load(new, time.limit)?;
    if new.systems.is_empty() {
        return Err(NotCompared::Rejected(new.diagnostics()));
    }
    Ok((load(old, time.left())?, new))
}

/// By system of the old model and by property: the names of the elements of one core.
fn one_core_each(
    old: &Model,
    checked: &Checked,
    options: &CheckOptions,
    cancel: &Cancellation,
) -> Vec<BTreeMap<String, Vec<String>>> {
    let explaining = ExplainOptions {
        check: options.clone(),
        request: Request { cores: CoreSelection::One, ..Request::default() },
        ignore_annotations: true,
        runs: None,
        ..ExplainOptions::default()
    };
    let found = &mut |_: &str, _: &[String]| {};
    let started = Instant::now();
    let explained =
        explain_verdicts(old, &explaining, Some(checked), cancel, &NullObserver, found, started);
    explained.views.iter().map(cores).collect()
}

/// What is known of the old model, and the limits.
struct Comparison<'c> {
    old: &'c Model,
    checked: &'c Checked,
    /// By system of the old model and by property: the names of the elements of its core.
    cores: Vec<BTreeMap<String, Vec<String>>>,
    solvers: &'c Arc<Solvers>,
    memory: Option<u64>,
    time: &'c TimeLimit,
    cancel: &'c Cancellation,
}

/// A property of the new model, its counterpart in the old model, and what changed between their
/// systems.
struct Pair<'p> {
    system: &'p Arc<System>,
    claim: ClaimId,
    lacks_run: bool,
    /// The position of the old system.
    old: usize,
    old_claim: usize,
    difference: &'p SystemDifference,
}

/// What changed between a system and its counterpart.
struct SystemDifference {
    structure: Difference,
    /// Names of elements of the old system that are not in the new one.
    gone: BTreeSet<String>,
    /// Names of elements of the new system that are not in the old one.
    new: Vec<String>,
}

impl Comparison<'_> {
    /// True if the time is over or the comparison was cancelled.
    fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.time.is_over()
    }

    fn compare(&self, new: &Model, checker: &mut Checker, report: &mut ImpactReport) {
        let counterparts = counterparts(self.old, new);
        let old_parts: Vec<Parts> = self.old.systems.iter().map(|s| parts(self.old, s)).collect();
        let new_parts: Vec<Parts> = new.systems.iter().map(|s| parts(new, s)).collect();
        let difference = |j: usize, i: usize| {
            let (old, new) =
                ((&*self.old.systems[j], &old_parts[j]), (&*new.systems[i], &new_parts[i]));
            SystemDifference::of(old, new)
        };
        let mut changed: BTreeSet<String> = BTreeSet::new();
        let mut kept: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (i, system) in new.systems.iter().enumerate() {
            let own = counterparts[i].map(|j| (j, difference(j, i)));
            match &own {
                None => changed.extend(new_parts[i].list.iter().map(|p| p.name.clone())),
                Some((_, own)) => {
                    changed.extend(own.gone.iter().chain(&own.new).cloned());
                    report.renamed.extend(own.structure.renamed.clone());
                }
            }
            let lacks_run = has_no_run(system, self.solvers);
            for (n, claim) in system.claims().iter().enumerate().filter(|(_, c)| is_compared(c)) {
                let here = own.as_ref().and_then(|(j, own)| {
                    Some((*j, own.counterpart(&self.old.systems[*j], claim, n)?))
                });
                // A property can move from one system to another: a script lost its `MAXSTEPS`.
                let moved = || {
                    let old = self.old.systems.iter().enumerate();
                    old.filter(|(j, _)| {
                        let own = counterparts.iter().position(|c| *c == Some(*j));
                        own.is_none_or(|own| property(&new.systems[own], &claim.name).is_none())
                    })
                    .find_map(|(j, old)| Some((j, property(old, &claim.name)?)))
                };
                let Some((j, old_claim)) = here.or_else(moved) else {
                    report.added.push(claim.name.clone());
                    report.impacts.push(Impact {
                        property: claim.name.clone(),
                        before: None,
                        fate: Fate::Open,
                        why: "it is new".to_string(),
                        completeness: Completeness::Exact,
                    });
                    continue;
                };
                kept.insert((j, old_claim));
                let other;
                let difference = match &own {
                    Some((own, difference)) if *own == j => difference,
                    _ => {
                        other = difference(j, i);
                        &other
                    }
                };
                let claim = ClaimId::from(n);
                let pair = Pair { system, claim, lacks_run, old: j, old_claim, difference };
                if pair.is_edited() {
                    report.edited.push(pair.name().to_string());
                }
                report.impacts.push(self.fate(&pair, checker));
            }
        }
        for (j, old) in self.old.systems.iter().enumerate() {
            if !counterparts.contains(&Some(j)) {
                changed.extend(old_parts[j].list.iter().map(|p| p.name.clone()));
            }
            for (n, claim) in old.claims().iter().enumerate().filter(|(_, c)| is_compared(c)) {
                if !kept.contains(&(j, n)) {
                    let (property, before) = (claim.name.clone(), self.word(j, n));
                    report.removed.push(RemovedProperty { property, before });
                }
            }
        }
        report.changed = changed.into_iter().collect();
    }

    /// The verdict about a property of the old model.
    fn outcome(&self, system: usize, claim: usize) -> Option<&Outcome> {
        let (_, report) = self.checked.systems.get(system)?;
        report.outcomes.iter().find(|o| o.claim.index() == claim)
    }

    /// The word for the verdict about a property of the old model.
    fn word(&self, system: usize, claim: usize) -> &'static str {
        let name = &self.old.systems[system].claims()[claim].name;
        let is_vacuous = |c: &ClaimView| c.name == *name && c.verdict == VerdictView::Vacuous;
        match self.outcome(system, claim).map(|o| &o.verdict) {
            Some(Verdict::Holds(_)) if self.checked.view.claims.iter().any(is_vacuous) => "vacuous",
            Some(Verdict::Holds(_)) => "holds",
            Some(Verdict::Fails(_)) => "fails",
            Some(Verdict::Unknown { .. }) | None => "unknown",
        }
    }

    /// Limits for work that takes at most this long.
    fn limits(&self, most: Duration) -> CheckLimits {
        CheckLimits {
            total: Some(self.time.left().map_or(most, |left| left.min(most))),
            memory: self.memory,
            ..CheckLimits::default()
        }
    }

    /// What happens to a property that both models have.
    fn fate(&self, pair: &Pair<'_>, checker: &mut Checker) -> Impact {
        let word = self.word(pair.old, pair.old_claim);
        let impact = |fate: Fate, why: String, completeness: Completeness| Impact {
            property: pair.name().to_string(),
            before: Some(word),
            fate,
            why,
            completeness,
        };
        let open = |why: &str| impact(Fate::Open, why.to_string(), Completeness::Exact);
        // A question that was not answered might have been without the limits.
        let cut_short = |why: String| impact(Fate::Open, why, Completeness::Unfinished);
        let outcome = match self.outcome(pair.old, pair.old_claim) {
            _ if word == "vacuous" => {
                return open("the system had no run before, so it was not proved");
            }
            Some(outcome) if word != "unknown" => outcome,
            _ if self.checked.view.stopped.is_some() => {
                return cut_short("it was not decided before".to_string());
            }
            _ => return open("it was not decided before"),
        };
        let carried = carried_evidence(&self.old.systems[pair.old], outcome, pair)
            .and_then(|json| read_evidence(pair.system, &json));
        let verdict = match carried {
            Ok(file) => match file.verdict {
                Decided::Holds => Verdict::Holds(file.evidence),
                Decided::Fails => Verdict::Fails(file.evidence),
            },
            Err(e) => {
                return open(&format!("the old evidence does not fit the new model: {e}"));
            }
        };
        if word == "holds" && pair.lacks_run {
            return open(&format!("{NO_RUN} any more, so it would hold for nothing"));
        }
        let core = self.cores.get(pair.old).and_then(|c| c.get(pair.old_name(self.old)));
        let reason = Reason::new(pair, core);
        checker.set_limits(self.limits(CHECK_TIME));
        let checked_again = checker.check(pair.system, pair.claim, &verdict);
        let undecided = matches!(checked_again, Err(Rejection::Undecided(_)));
        if checked_again.is_ok() {
            return impact(Fate::Survives, reason.survives(), Completeness::Exact);
        }
        let config =
            ExplainConfig { timeout: self.limits(TRIAL).total, ..ExplainConfig::new(self.solvers) };
        match reprove(pair.system, pair.claim, &verdict, config, &mut CheckerOnly(checker)) {
            // Evidence may contain more than its core needs.
            Some(_) => match reason.unchanged() {
                Some(why) => impact(Fate::Survives, why, Completeness::Exact),
                None => {
                    let why = "what is left of the old invariants proves it again".to_string();
                    impact(Fate::ProvedAgain, why, Completeness::Exact)
                }
            },
            None if undecided => cut_short("the check of its evidence was not finished".into()),
            None if self.is_over() => cut_short(reason.lost()),
            None => open(&reason.lost()),
        }
    }
}

impl Pair<'_> {
    fn name(&self) -> &str {
        &self.system.claims()[self.claim.index()].name
    }

    fn old_name<'m>(&self, old: &'m Model) -> &'m str {
        &old.systems[self.old].claims()[self.old_claim].name
    }

    /// True if the property says something else in the new model.
    fn is_edited(&self) -> bool {
        let structure = &self.difference.structure;
        structure.old_claims[self.old_claim] != structure.new_claims[self.claim.index()]
    }
}

impl SystemDifference {
    fn of(old: (&System, &Parts), new: (&System, &Parts)) -> SystemDifference {
        let structure = compare(old, new);
        let missing = |parts: &Parts, same: &[bool]| -> Vec<String> {
            let all = parts.list.iter().zip(same).filter(|(_, same)| !**same);
            all.map(|(p, _)| p.name.clone()).collect()
        };
        let mut gone: BTreeSet<String> = missing(old.1, &structure.old).into_iter().collect();
        if !structure.same_rest {
            gone.insert(REST.to_string());
        }
        let new = missing(new.1, &structure.new);
        SystemDifference { structure, gone, new }
    }

    /// The property of the old system that has the name of this one, or that had it before its
    /// variable was renamed.
    fn counterpart(&self, old: &System, claim: &Claim, position: usize) -> Option<usize> {
        property(old, &claim.name).or_else(|| {
            old.claims().iter().zip(&self.structure.old_claims).position(|(c, signature)| {
                is_compared(c)
                    && self.structure.renamed.get(&c.name) == Some(&claim.name)
                    && *signature == self.structure.new_claims[position]
            })
        })
    }
}

/// Why a property has its fate, in words.
struct Reason<'r> {
    is_edited: bool,
    core: Option<&'r Vec<String>>,
    /// What changed of the core.
    touched: Vec<&'r str>,
}

impl<'r> Reason<'r> {
    fn new(pair: &Pair<'r>, core: Option<&'r Vec<String>>) -> Reason<'r> {
        let gone = &pair.difference.gone;
        let elements = core.into_iter().flatten().filter(|n| gone.contains(*n));
        let rest = gone.get(REST).filter(|_| core.is_some());
        let touched = elements.chain(rest).map(String::as_str).collect();
        Reason { is_edited: pair.is_edited(), core, touched }
    }

    /// Nothing that the proof rests on changed.
    fn unchanged(&self) -> Option<String> {
        let core = self.core.filter(|_| self.touched.is_empty() && !self.is_edited)?;
        Some(match core.len() {
            0 => "its proof rests on no element".to_string(),
            1 => "the element that its proof rests on did not change".to_string(),
            n => format!("none of the {n} elements that its proof rests on changed"),
        })
    }

    /// The old evidence passes its check.
    fn survives(&self) -> String {
        if self.is_edited {
            return "the property was edited; its old evidence shows the new one, too".to_string();
        }
        self.unchanged().unwrap_or_else(|| match self.core {
            Some(_) => {
                let touched = self.touched.join(", ");
                format!("its proof passes its check although {touched} changed")
            }
            None => "its evidence passes its check on the new model".to_string(),
        })
    }

    /// The old evidence does not pass its check.
    fn lost(&self) -> String {
        if self.is_edited {
            "the property was edited, and its old evidence does not show the new one".to_string()
        } else if self.touched.is_empty() {
            "its evidence does not pass its check any more".to_string()
        } else {
            format!("its proof rests on what changed: {}", self.touched.join(", "))
        }
    }
}

fn parts(model: &Model, system: &System) -> Parts {
    Parts::of(system, model.source().own_text(), Granularity::Written)
}

/// The file of a verdict about the old model, with the new names of the system, the property and
/// the variables.
fn carried_evidence(
    system: &System,
    outcome: &Outcome,
    pair: &Pair<'_>,
) -> Result<serde_json::Value, EvidenceFileError> {
    let renamed = &pair.difference.structure.renamed;
    let (Verdict::Holds(evidence) | Verdict::Fails(evidence)) = &outcome.verdict else {
        return write_evidence(system, outcome.claim, &outcome.verdict);
    };
    let mut file = if renamed.is_empty() {
        write_evidence(system, outcome.claim, &outcome.verdict)
    } else if is_about_derived_system(evidence) {
        write_evidence(system, outcome.claim, &outcome.verdict).map(|mut file| {
            rename_in_file(&mut file, renamed);
            file
        })
    } else {
        let verdict = match &outcome.verdict {
            Verdict::Holds(evidence) => Verdict::Holds(renamed_evidence(evidence, renamed)),
            Verdict::Fails(evidence) => Verdict::Fails(renamed_evidence(evidence, renamed)),
            unknown => unknown.clone(),
        };
        let name = |name: &str| renamed.get(name).map_or_else(|| name.to_string(), String::clone);
        write_evidence(&system.clone().renamed(name), outcome.claim, &verdict)
    }?;
    file["system"] = pair.system.name().into();
    file["claim"] = pair.name().into();
    Ok(file)
}

/// By property: the names of the elements of its core.
fn cores(view: &ExplainView) -> BTreeMap<String, Vec<String>> {
    let mut cores = BTreeMap::new();
    for r in &view.results {
        if let Some(core) = r.cores.first() {
            let names = core.elements.iter().map(|&e| view.elements[e].name.clone()).collect();
            cores.insert(r.property.clone(), names);
        }
    }
    cores
}
