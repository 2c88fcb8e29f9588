//! Models without a claim to decide: an outcome of their own, never a success (docs/semantics.md,
//! section 4).

use std::sync::Arc;

use gander_engines::CheckConfig;
use gander_system::System;

use super::run_existence::is_run_claim;
use crate::options::{CheckOptions, StructuralChecks};

/// The code of the diagnostic.
pub const NOTHING_TO_DECIDE: &str = "nothing-to-decide";

/// True if no system has a claim that was selected. The claim that a run exists is a condition of
/// the other claims; alone it counts only if claims or structural checks were selected explicitly.
pub(super) fn nothing_to_decide(
    systems: &[Arc<System>],
    configs: &[CheckConfig],
    options: &CheckOptions,
) -> bool {
    let chosen =
        !options.properties.is_empty() || matches!(options.checks, StructuralChecks::Kinds(_));
    let counts = |system: &System, config: &CheckConfig| {
        config.claims.iter().any(|&c| chosen || !is_run_claim(system, c))
    };
    !systems.iter().zip(configs).any(|(system, config)| counts(system, config))
}
