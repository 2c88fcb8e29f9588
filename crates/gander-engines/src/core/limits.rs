//! What an engine may use of the memory of a check.

use gander_smt::memory::machine_memory;

use crate::core::CheckConfig;

/// The share of the machine's memory that an engine uses if nobody says how much.
const SHARE_OF_MEMORY: u64 = 4;

/// The share of the limit of a check: nothing else may be left for others.
const SHARE_OF_LIMIT: u64 = 2;

/// What is used if the machine does not say how much memory it has.
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

/// Why a claim that gave way to another one has no answer.
pub(crate) fn set_aside(why: &str) -> String {
    format!("{why}; set aside, as there is no memory for all claims together")
}
