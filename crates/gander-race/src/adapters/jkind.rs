//! JKind: k-induction and property-directed reachability on Lustre; its output is XML.

use gander_tool_output::jkind;

use super::lustre_answer::{answer, program};
use crate::tool::{Call, Memory, Stop, Tool, ToolContext};

/// The adapter.
pub(super) struct JKind;

impl Tool for JKind {
    fn name(&self) -> &'static str {
        "jkind"
    }

    fn about(&self) -> &'static str {
        "Lustre model checker: k-induction, PDR, invariant generation; safety, with traces"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["jkind"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["-version"]
    }

    fn memory(&self) -> Memory {
        Memory::Own
    }

    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop> {
        let written = program(context)?;
        let mut arguments = vec!["-xml_to_stdout".to_string()];
        if let Some(seconds) = context.seconds_left() {
            arguments.extend(["-timeout".to_string(), seconds.to_string()]);
        }
        arguments.push("model.lus".to_string());
        let memory =
            context.memory_mb().map(|mb| ("JAVA_TOOL_OPTIONS".to_string(), format!("-Xmx{mb}m")));
        let call = Call {
            files: vec![("model.lus".to_string(), written.text.clone())],
            arguments,
            environment: memory.into_iter().collect(),
            most: None,
        };
        let said = context.run(&call)?;
        answer(context, &written.names, &said, &jkind::parse_xml(&said.stdout))
    }
}
