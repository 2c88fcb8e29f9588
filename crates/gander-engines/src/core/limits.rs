//! The memory that an engine may use.

use gander_smt::memory::machine_memory;

use crate::core::CheckConfig;

/// Without a limit, an engine uses one part in so many of the machine's memory.
const SHARE_OF_MEMORY: u64 = 4;

/// With a limit, an engine uses one part in so many of it.
const SHARE_OF_LIMIT: u64 = 2;

/// Used if the memory of the machine is not known.
const USUAL_MEMORY: u64 = 1 << 30;

/// Bytes for one engine that keeps states: a share of the limit of the check, or of the machine's memory.
pub(crate) fn own_memory(config: &CheckConfig) -> u64 {
    let given = config.memory.map(|m| m / SHARE_OF_LIMIT);
    given.or_else(|| Some(machine_memory()? / SHARE_OF_MEMORY)).unwrap_or(USUAL_MEMORY)
}

/// Bytes for the terms of all claims of an engine together.
pub(crate) struct Room(pub u64);

impl Room {
    /// One part in so many of the engine's memory.
    pub(crate) fn part(config: &CheckConfig, parts: u64) -> Room {
        Room(own_memory(config) / parts)
    }

    /// Whether there is room for another claim beside those with these weights: it will be about as large as they are.
    pub(crate) fn has_for_another(&self, weights: impl ExactSizeIterator<Item = u64>) -> bool {
        let count = weights.len() as u64;
        let weight: u64 = weights.sum();
        count == 0 || weight + weight / count <= self.0
    }
}

/// The obstacle of a claim that was set aside for another one.
pub(crate) fn set_aside(why: &str) -> String {
    format!("{why}; set aside, as there is no memory for all claims together")
}
