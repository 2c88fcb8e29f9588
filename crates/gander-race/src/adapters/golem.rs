//! Golem: engines for linear Horn clauses (Blicha, Britikov and Sharygina, CAV 2023). Its models
//! are invariants.

use gander_export::Written;

use super::horn_answer::ask;
use crate::tool::{Call, Stop, Tool, ToolContext};

/// The adapter.
pub(super) struct Golem;

impl Tool for Golem {
    fn name(&self) -> &'static str {
        "golem"
    }

    fn about(&self) -> &'static str {
        "Horn solver (transition power abstraction and others); invariants, violations without a trace"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["golem"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["--version"]
    }

    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop> {
        let call = |_: &ToolContext<'_>, written: &Written| Call {
            files: vec![("clauses.smt2".to_string(), written.text.clone())],
            arguments: vec!["--print-witness".to_string(), "clauses.smt2".to_string()],
            ..Call::default()
        };
        ask(context, &call, &|_, _| Ok(None))
    }
}
