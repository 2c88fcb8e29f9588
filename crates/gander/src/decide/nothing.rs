//! Models without a claim to decide, or with structural claims only: never a success
//! (docs/semantics.md, section 4).

use std::sync::Arc;

use gander_engines::CheckConfig;
use gander_system::{ClaimOrigin, System};

use super::run_existence::is_run_claim;
use crate::options::{CheckOptions, StructuralChecks};

/// True if the systems have structural claims only and these were not requested. They are decided,
/// but are no success if they hold.
pub(crate) fn nothing_claimed(systems: &[Arc<System>], options: &CheckOptions) -> bool {
    let claims = |s: &Arc<System>| s.claims().iter().any(|c| c.origin != ClaimOrigin::Structural);
    options.properties.is_empty()
        && options.checks == StructuralChecks::Implied
        && !systems.iter().any(claims)
}

/// The code of the diagnostic.
pub const NOTHING_TO_DECIDE: &str = "nothing-to-decide";

/// True if no system has a claim that was selected. The claim that a run exists is a condition of
/// the other claims; alone it counts only if claims or structural checks were selected explicitly.
pub(super) fn nothing_to_decide(
    systems: &[Arc<System>],
    configs: &[CheckConfig],
    options: &CheckOptions,
) -> bool {
    let chosen = !options.properties.is_empty()
        || matches!(options.checks, StructuralChecks::Kinds(_) | StructuralChecks::All);
    let counts = |system: &System, config: &CheckConfig| {
        config.claims.iter().any(|&c| chosen || !is_run_claim(system, c))
    };
    !systems.iter().zip(configs).any(|(system, config)| counts(system, config))
}
