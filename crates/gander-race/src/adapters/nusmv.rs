//! NuSMV: BDDs; finite systems.

use super::smv_session::{Commands, ask, is_infinite, written};
use crate::tool::{Call, Stop, Tool, ToolContext};

/// The adapter.
pub(super) struct NuSmv;

impl Tool for NuSmv {
    fn name(&self) -> &'static str {
        "nusmv"
    }

    fn about(&self) -> &'static str {
        "BDD-based model checker of finite systems; safety and liveness, with traces"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["NuSMV", "nusmv", "NuSMVa_linux64"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["-h"]
    }

    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop> {
        let written = written(context)?;
        if is_infinite(&written.text) {
            let why = "NuSMV needs a range for every number, one that certainly holds";
            return Err(Stop::Cannot(why.to_string()));
        }
        let commands = Commands {
            build: "go",
            invariant: "check_invar",
            temporal: "check_ltlspec",
            states: Some("print_reachable_states"),
        };
        // Some builds have their libraries in the folder of the program.
        let mut libraries = context
            .program()
            .parent()
            .map(|p| p.to_string_lossy().into_owned())
            .unwrap_or_default();
        if let Ok(others) = std::env::var("LD_LIBRARY_PATH") {
            libraries = format!("{others}:{libraries}");
        }
        let environment = vec![("LD_LIBRARY_PATH".to_string(), libraries)];
        ask(context, &written, &commands, Call { environment, ..Call::default() })
    }
}
