//! Files that ask nothing: their own outcome, never a success (docs/semantics.md, section 4).

use std::sync::Arc;

use gander_engines::CheckConfig;
use gander_lang::language_of;
use gander_report::{DiagnosticView, Severity};
use gander_system::System;

use crate::check::{CheckOptions, StructuralChecks};
use crate::no_run::is_run_claim;

/// The code of the message.
pub const NOTHING_TO_DECIDE: &str = "nothing-to-decide";

/// The message if there is nothing to decide: no system has a claim that was asked for. That a run exists is a
/// condition of the other claims; alone it is something to decide only for those who ask for structural checks.
pub(crate) fn nothing_to_decide(
    file_name: &str,
    systems: &[Arc<System>],
    configs: &[CheckConfig],
    options: &CheckOptions,
) -> Option<DiagnosticView> {
    let chosen = !options.properties.is_empty() || matches!(options.checks, StructuralChecks::Kinds(_));
    let counts =
        |system: &System, config: &CheckConfig| config.claims.iter().any(|&c| chosen || !is_run_claim(system, c));
    if systems.iter().zip(configs).any(|(system, config)| counts(system, config)) {
        return None;
    }
    let left_out = systems.iter().any(|s| s.claims.iter().any(|c| options.checks.leave_out(c)));
    Some(message(file_name, left_out))
}

/// The message about a file without claims; `left_out` says that it has structural ones, which were not asked for.
pub(crate) fn message(file_name: &str, left_out: bool) -> DiagnosticView {
    let message = "there is nothing to decide: the file has no property".to_string();
    let language = language_of(file_name).map_or("sts", |l| l.name);
    let mut help = vec![how_to_claim(language).to_string()];
    if left_out {
        help.push("its structural checks were not asked for; `--property NAME` names one".to_string());
    }
    let mut rendered = format!("error: {message}\n");
    for h in &help {
        rendered.push_str(&format!("  = help: {h}\n"));
    }
    DiagnosticView {
        code: NOTHING_TO_DECIDE.to_string(),
        severity: Severity::Error,
        message,
        place: None,
        help,
        rendered,
    }
}

/// How a property is written.
fn how_to_claim(language: &str) -> &'static str {
    match language {
        "lustre" => "a property is written `--%PROPERTY name;` or `check \"name\" formula;`, or is part of a contract",
        "script" => "a goal is written `SAFE: formula`, `REACH: formula` or in another way of docs/script.md",
        "vmt" => "a property is a formula annotated with `:invar-property` or `:live-property`",
        "horn" => "a property is a clause whose head is `false`",
        "btor2" => "a property is a line `bad` or `justice`; perhaps the file was cut off",
        "mcmt" => "a property is written `(query system formula)`",
        "smv" => "a property is written `INVARSPEC`, `CTLSPEC` or `LTLSPEC`",
        _ => "a property is written `always name: formula`, or in another way of docs/language.md",
    }
}
