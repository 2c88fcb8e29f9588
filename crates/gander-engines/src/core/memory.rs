//! The memory that an engine may use.

use gander_process::memory::machine_memory;

use super::limits::LIMITS;
use crate::core::CheckConfig;

/// Bytes that one engine may use for states: a share of the check's limit, or of the machine's
/// memory.
pub(crate) fn own_memory(config: &CheckConfig) -> u64 {
    let given = config.memory.map(|m| m / LIMITS.limit_share);
    given.or_else(|| Some(machine_memory()? / LIMITS.memory_share)).unwrap_or(LIMITS.usual_memory)
}

/// The memory budget in bytes for the terms of all claims of an engine.
pub(crate) struct TermBudget(pub u64);

impl TermBudget {
    /// The engine's memory divided by `parts`.
    pub(crate) fn part(config: &CheckConfig, parts: u64) -> TermBudget {
        TermBudget(own_memory(config) / parts)
    }

    /// True if another claim fits beside claims of these weights. Its weight is estimated as their
    /// mean.
    pub(crate) fn fits_another(&self, weights: impl ExactSizeIterator<Item = u64>) -> bool {
        let count = weights.len() as u64;
        let weight: u64 = weights.sum();
        count == 0 || weight + weight / count <= self.0
    }
}

/// The obstacle of a claim whose terms were dropped to free memory for another claim. `why` is the
/// obstacle of the claim until then.
pub(crate) fn set_aside(why: &str) -> String {
    format!("{why}; set aside, as there is no memory for all claims together")
}
