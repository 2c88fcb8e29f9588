//! A report: the verdicts of a model with the proofs and runs behind them, as one page.
//!
//! The claims are decided first. Then cores of what is proved and simplified runs of what is not
//! are computed for the same verdicts, in the time that is left.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_engines::{Cancellation, Observer};
use gander_explain::{CoreSelection, Request};
use gander_report::describe::graph_path;
use gander_report::{CheckView, CoresShown, GraphPathView, PageClaim, PageView};
use gander_system::{Run, System, Verdict, read_evidence};

use crate::check::{Checked, check_model};
use crate::decide::CheckContext;
use crate::explain::{ExplainOptions, Explained, explain_verdicts};
use crate::load::load_within;
use crate::model::Model;
use crate::options::{CheckOptions, FileForm};
use crate::present::load_stopped_text;
use crate::simulate::run_of_evidence;

/// What to report, and how.
#[derive(Clone, Debug)]
pub struct PageOptions {
    /// How the claims are decided. The time limit is for the whole report.
    pub check: CheckOptions,
    /// Which cores of proved claims to compute.
    pub cores: CoresShown,
    /// Time limit of the engines for one relaxation of the model.
    pub share: Duration,
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions {
            check: CheckOptions::default(),
            cores: CoresShown::default(),
            share: ExplainOptions::default().share,
        }
    }
}

/// The part of the time limit for the verdicts; the rest is for explanations.
const VERDICT_SHARE: f64 = 0.6;

/// Decides the claims of a source text and collects what a report shows.
pub fn report_source(
    text: &str,
    file_name: &str,
    options: &PageOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
) -> PageView {
    let started = Instant::now();
    match load_within(text, file_name, &options.check.load, options.check.timeout, cancel) {
        Ok(model) => report_model(&model, options, cancel, observer, started),
        Err(stopped) => {
            let mut check = CheckView::rejected(file_name, Vec::new());
            check.stopped = Some(load_stopped_text(stopped));
            page(check, text, options)
        }
    }
}

fn page(check: CheckView, source: &str, options: &PageOptions) -> PageView {
    PageView {
        claims: check.claims.iter().map(|_| PageClaim::default()).collect(),
        check,
        explained: Vec::new(),
        cores: options.cores,
        notices: Vec::new(),
        graphs: Vec::new(),
        source: source.to_string(),
        producer: format!("gander {}", env!("CARGO_PKG_VERSION")),
    }
}

fn report_model(
    model: &Model,
    options: &PageOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
    started: Instant,
) -> PageView {
    let all = options.check.timeout;
    let check_options = CheckOptions {
        timeout: all.map(|t| t.mul_f64(VERDICT_SHARE)),
        file_form: FileForm::LeftOut,
        ..options.check.clone()
    };
    let context = CheckContext { cancel, observer, announce: &|_, _| {}, verdicts: None, started };
    let mut checked = check_model(model, &check_options, &context);
    if let (Some(stopped), Some(all)) = (&mut checked.view.stopped, all)
        && !cancel.is_cancelled()
    {
        *stopped = format!(
            "stopped by the time limit of {} s, of which {} s were for verdicts",
            all.as_secs_f64(),
            all.mul_f64(VERDICT_SHARE).as_secs_f64()
        );
    }
    let explained = explain(model, options, &checked, cancel, observer, started);
    let mut view = page(checked.view.clone(), model.source().own_text(), options);
    if let Some(explained) = explained {
        let known = |e: &String| view.check.internal_errors.contains(e);
        let new: Vec<String> =
            explained.internal_errors.into_iter().filter(|e| !known(e)).collect();
        view.check.internal_errors.extend(new);
        view.notices = explained.notices;
        view.explained = explained.views;
    }
    view.graphs = model.graphs();
    view.claims = page_claims(&view, &checked);
    view
}

/// Explains the verdicts; none if there is nothing to explain.
fn explain(
    model: &Model,
    options: &PageOptions,
    checked: &Checked,
    cancel: &Cancellation,
    observer: &dyn Observer,
    started: Instant,
) -> Option<Explained> {
    // Nothing is proved of a system without a run; other systems of the file may have one.
    let nothing_runs = checked.without_run.iter().all(|is_without| *is_without);
    if nothing_runs || checked.systems.is_empty() || cancel.is_cancelled() {
        return None;
    }
    let cores =
        if options.cores == CoresShown::All { CoreSelection::All } else { CoreSelection::Minimal };
    let options = ExplainOptions {
        check: options.check.clone(),
        request: Request { cores, ..Request::default() },
        share: options.share,
        ..ExplainOptions::default()
    };
    Some(explain_verdicts(
        model,
        &options,
        Some(checked),
        cancel,
        observer,
        &mut |_, _| {},
        started,
    ))
}

/// Where each claim was written, and the run that is shown for it.
fn page_claims(view: &PageView, checked: &Checked) -> Vec<PageClaim> {
    let mut about: Vec<PageClaim> = Vec::new();
    let mut from = 0;
    for claim in &view.check.claims {
        // The claims of a view are in the order of the systems.
        let of = |s: &usize| {
            let (system, _) = &checked.systems[*s];
            system.claims().iter().any(|c| c.name == claim.name)
        };
        let found = (from..checked.systems.len()).chain(0..from).find(of);
        let Some(s) = found else {
            about.push(PageClaim::default());
            continue;
        };
        from = s;
        let (system, report) = &checked.systems[s];
        let written = system.claims().iter().find(|c| c.name == claim.name).and_then(|c| c.span);
        let own = view.source.len();
        let span = written.map(|s| (s.start as usize, s.end as usize)).filter(|s| s.1 <= own);
        let explained = view.explained.get(s);
        let run = explained.and_then(|v| v.runs.iter().find(|r| r.property == claim.name));
        let path = match run {
            Some(run) => explained_path(system, &run.evidence),
            None => report
                .outcomes
                .iter()
                .find(|o| system.claims()[o.claim.index()].name == claim.name)
                .and_then(|o| run_of(&o.verdict))
                .and_then(graph_path),
        };
        about.push(PageClaim { system: Some(s), span, path });
    }
    about
}

/// The path of an explained run, which the view has in its file form.
fn explained_path(system: &Arc<System>, evidence: &serde_json::Value) -> Option<GraphPathView> {
    let file = read_evidence(system, evidence).ok()?;
    run_of_evidence(&file.evidence).and_then(graph_path)
}

fn run_of(verdict: &Verdict) -> Option<&Run> {
    match verdict {
        Verdict::Holds(evidence) | Verdict::Fails(evidence) => run_of_evidence(evidence),
        Verdict::Unknown { .. } => None,
    }
}
