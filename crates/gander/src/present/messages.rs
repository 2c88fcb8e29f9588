//! Messages about a model as a whole.

use std::sync::Arc;
use std::time::Duration;

use gander_lang::language_of;
use gander_report::{DiagnosticView, Severity};
use gander_system::{ClaimOrigin, Structure, System};

use crate::decide::{NOTHING_TO_DECIDE, Refusal, UnusedContract};
use crate::lint::{self, Undecided};
use crate::load::LoadStopped;
use crate::model::Model;
use crate::options::{CheckOptions, StructuralChecks};

/// Promises that the warning about an unused contract names.
const MAX_PROMISES: usize = 3;

pub(super) fn cache_warning(problem: &str) -> DiagnosticView {
    DiagnosticView::plain("cache", Severity::Warning, problem, [])
}

/// Claims that hold may hold vacuously.
pub(super) fn run_undecided_warning(system: &System, why: &str) -> DiagnosticView {
    let message = format!(
        "it was not decided whether `{}` has a run ({why}); if it has none, the claims that hold are vacuous",
        system.name()
    );
    DiagnosticView::plain("run-undecided", Severity::Warning, message, [])
}

/// Says which findings were searched for without an answer.
pub(super) fn undecided_findings_note(undecided: &Undecided) -> Option<DiagnosticView> {
    let message = undecided.sentence()?;
    let help = format!(
        "findings are searched for after the claims are decided, for {} s at most; `--allow CODES` leaves codes out",
        lint::TIME.as_secs()
    );
    Some(DiagnosticView::plain("findings-undecided", Severity::Note, message, [help]))
}

/// Says which of the named structural checks are not made, because no control graph was drawn.
pub(super) fn checks_without_subject_note(
    model: &Model,
    options: &CheckOptions,
) -> Option<DiagnosticView> {
    let StructuralChecks::Kinds(kinds) = &options.checks else { return None };
    let drawn = |s: &Arc<System>| s.structure() == Structure::Drawn;
    if model.systems.is_empty() || model.systems.iter().any(drawn) {
        return None;
    }
    let made = |kind: &String| {
        let claims = || model.systems.iter().flat_map(|s| s.claims());
        claims().any(|c| c.origin == ClaimOrigin::Structural && c.kind.word() == kind)
    };
    let word = |kind: &String| match kind.as_str() {
        "can-enable" => "dead",
        "no-sinkhole" => "sinkhole",
        "completable" => "relation",
        _ => "start",
    };
    let missing: Vec<&str> = kinds.iter().filter(|k| !made(k)).map(word).collect();
    if missing.is_empty() {
        return None;
    }
    let message = format!(
        "`--checks {}` checks nothing here: it is about the transitions and nodes of a drawn control graph, and this file has none",
        missing.join(",")
    );
    Some(DiagnosticView::plain("checks", Severity::Note, message, []))
}

pub(super) fn unused_contract_warning(contract: &UnusedContract) -> DiagnosticView {
    let UnusedContract { node, unproved } = contract;
    let promises: Vec<String> =
        unproved.iter().take(MAX_PROMISES).map(|p| format!("`{p}`")).collect();
    let more = if unproved.len() > MAX_PROMISES { " and others" } else { "" };
    let message = format!(
        "the contract of `{node}` does not stand for it where it is called: {}{more} could not be proved of the node alone",
        promises.join(", ")
    );
    DiagnosticView::plain("contract", Severity::Warning, message, [])
}

pub(super) fn time_limit_text(limit: Duration) -> String {
    format!(
        "stopped by the time limit of {} s: a longer one (--timeout), or invariants in nodes as hints, may help",
        limit.as_secs_f64()
    )
}

/// Why a model was not loaded.
pub(crate) fn load_stopped_text(stopped: LoadStopped) -> String {
    match stopped {
        LoadStopped::MemoryLimit => format!(
            "stopped at the memory limit of {} MB while the model was being read: a larger one (--memory) may help",
            gander_runtime::memory::limit().unwrap_or(0) >> 20
        ),
        LoadStopped::TimeLimit(limit) => format!(
            "stopped by the time limit of {} s while the model was being read",
            limit.as_secs_f64()
        ),
        LoadStopped::Cancelled => "stopped while the model was being read".to_string(),
    }
}

/// Why no claim of a model is decided.
pub(crate) fn refusal_diagnostic(model: &Model, refusal: Refusal) -> DiagnosticView {
    match refusal {
        Refusal::Usage(error) => {
            DiagnosticView::plain("usage", Severity::Error, error.message, error.help)
        }
        Refusal::NothingToDecide { left_out } => {
            nothing_to_decide_diagnostic(model.source().name(), left_out)
        }
    }
}

/// The diagnostic about a model without selected claims; `left_out` says that it has structural
/// claims, which were not selected.
pub(crate) fn nothing_to_decide_diagnostic(file_name: &str, left_out: bool) -> DiagnosticView {
    let language = language_of(file_name).map_or("sts", |l| l.name);
    let mut help = vec![how_to_claim(language).to_string()];
    if left_out {
        help.push(
            "its structural checks were not asked for; `--property NAME` names one".to_string(),
        );
    }
    let message = "there is nothing to decide: the file has no property";
    DiagnosticView::plain(NOTHING_TO_DECIDE, Severity::Error, message, help)
}

/// How a property is written in a language.
fn how_to_claim(language: &str) -> &'static str {
    match language {
        "lustre" => {
            "a property is written `--%PROPERTY name;` or `check \"name\" formula;`, or is part of a contract"
        }
        "script" => {
            "a goal is written `SAFE: formula`, `REACH: formula` or in another way of docs/script.md"
        }
        "vmt" => "a property is a formula annotated with `:invar-property` or `:live-property`",
        "horn" => "a property is a clause whose head is `false`",
        "btor2" => "a property is a line `bad` or `justice`; perhaps the file was cut off",
        "mcmt" => "a property is written `(query system formula)`",
        "smv" => "a property is written `INVARSPEC`, `CTLSPEC` or `LTLSPEC`",
        _ => "a property is written `always name: formula`, or in another way of docs/language.md",
    }
}
