//! Passes that restate a claim: as a claim of another kind, or about other runs.

mod chain;
mod liveness_to_safety;
mod pinned;
mod restart;

pub use chain::{Chain, ChainError, chain};
pub use liveness_to_safety::{
    Aspect, Begin, DecidingRuns, Finding, LivenessToSafety, LivenessToSafetyError, Stage,
    liveness_to_safety,
};
pub use pinned::{Eliminate, PinError, Pinned, pinned};
pub use restart::{outside, started_at, within};
