//! UPPAAL's `verifyta`: explicit-state search over symbolic states. It prints which queries are
//! satisfied, without evidence that can be checked.

use gander_export::{Format, Options, Selection, write};
use gander_process::Ending;
use gander_tool_output::uppaal;

use crate::tool::{Call, Says, Stop, Tool, ToolContext};

/// The adapter.
pub(super) struct Uppaal;

impl Tool for Uppaal {
    fn name(&self) -> &'static str {
        "uppaal"
    }

    fn about(&self) -> &'static str {
        "explicit-state model checker of networks of automata; safety and liveness, claims only"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["verifyta"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["--version"]
    }

    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop> {
        let open = context.open();
        let written =
            write(context.system, Format::Uppaal, Options::default(), Selection::Only(&open))?;
        if written.names.claims().is_empty() {
            return Err(Stop::Cannot("none of the claims can be written for UPPAAL".to_string()));
        }
        let files = vec![("model.xml".to_string(), written.text.clone())];
        let said = context.run(&Call {
            files,
            arguments: vec!["model.xml".to_string()],
            ..Call::default()
        })?;
        let answers = if said.signal.is_some() {
            Vec::new()
        } else {
            uppaal::parse(&said.stdout, written.names.claims().len())
        };
        for (query, is_true) in &answers {
            let claim = &written.names.claims()[*query];
            context.answer(claim.claim, Says::of(*is_true, claim.opposite), &[]);
        }
        if answers.is_empty() || said.ending != Ending::Exited {
            Err(context.no_answer(&said))
        } else {
            Ok(())
        }
    }
}
