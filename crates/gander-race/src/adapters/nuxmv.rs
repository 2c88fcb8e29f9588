//! nuXmv: like NuSMV on finite systems, IC3 with a solver on infinite ones.

use super::smv_session::{Commands, ask, is_infinite, written};
use crate::tool::{Call, Stop, Tool, ToolContext};

/// The adapter.
pub(super) struct NuXmv;

impl Tool for NuXmv {
    fn name(&self) -> &'static str {
        "nuxmv"
    }

    fn about(&self) -> &'static str {
        "symbolic model checker of finite and infinite systems (IC3); safety and liveness, with traces"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["nuXmv", "nuxmv"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["-h"]
    }

    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop> {
        let written = written(context)?;
        let commands = if is_infinite(&written.text) {
            Commands {
                build: "go_msat",
                invariant: "check_invar_ic3",
                temporal: "check_ltlspec_ic3",
                states: None,
            }
        } else {
            Commands {
                build: "go",
                invariant: "check_invar",
                temporal: "check_ltlspec",
                states: None,
            }
        };
        ask(context, &written, &commands, Call::default())
    }
}
