//! The script language: update transition systems and process models with goals for several model
//! checkers.
//!
//! The language is defined in "a unified approach to model checking", section 3 and appendix I.
//! docs/script.md is the reference and states how gander reads it where the source contradicts
//! itself. The pipeline: text, tokens (`lexer`), syntax (`parser`), names and terms (`check`),
//! system (`lower`).
//!
//! A process is an instance in the control graph. A node is a combination of the processes'
//! `state`s and the progress of the operators of `PROGRAM`. Variables are named `P.x` and steps
//! `P.rule2`, so a trace names the process that moves.

mod check;
mod expressions;
mod format;
pub(crate) mod lexer;
mod lower;
pub(crate) mod parser;
mod program;
pub(crate) mod syntax;
mod terms;

pub use format::format;

use crate::diagnostics::report::Report;
use crate::language::Loaded;

/// Reads a script.
pub fn load(source: &str, file_name: &str) -> Loaded {
    let mut report = Report::default();
    if let Some(diagnostic) = crate::sts::unreadable(source) {
        report.add(diagnostic);
        return report.loaded(Vec::new());
    }
    let script = parser::parse(source, &mut report);
    if report.has_errors() {
        return report.loaded(Vec::new());
    }
    let systems = check::check(&script, source, file_name, &mut report);
    report.loaded(systems)
}
