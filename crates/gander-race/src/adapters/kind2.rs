//! Kind 2: several engines on Lustre; its output is JSON.

use gander_tool_output::kind2;

use super::lustre_answer::{answer, program};
use crate::tool::{Call, Stop, Tool, ToolContext};

/// The adapter.
pub(super) struct Kind2;

impl Tool for Kind2 {
    fn name(&self) -> &'static str {
        "kind2"
    }

    fn about(&self) -> &'static str {
        "Lustre model checker: k-induction, IC3, invariant generation; safety, with traces"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["kind2"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["--version"]
    }

    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop> {
        let written = program(context)?;
        let mut arguments = vec!["-json".to_string(), "--lus_main".to_string(), "main".to_string()];
        if let Some(seconds) = context.seconds_left() {
            arguments.extend(["--timeout".to_string(), seconds.to_string()]);
        }
        arguments.push("model.lus".to_string());
        let files = vec![("model.lus".to_string(), written.text.clone())];
        let said = context.run(&Call { files, arguments, ..Call::default() })?;
        answer(context, &written.names, &said, &kind2::parse(&said.stdout).properties)
    }
}
