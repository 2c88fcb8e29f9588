//! The file form of verdicts with their evidence: JSON, described in docs/evidence.md.
//!
//! Everything goes by name, so a file outlives the process that wrote it: nodes, transitions, starts, variables and
//! parameters by their names, values and formulas in the text form of terms. Reading is strict: a name that the system
//! does not have, a missing variable, a wrong sort, an unknown key is an error with the path to it. What was read is
//! well-formed but not yet believed: checking is the business of `gander-certify`.

mod live_read;
mod live_write;
mod provenance;
mod read;
mod sharing;
mod write;

use std::fmt;

use crate::claim::ClaimId;
use crate::evidence::Evidence;

pub use provenance::Provenance;
pub use read::{read_evidence, read_evidence_text};
pub use write::{evidence_json, write_evidence};

/// The value of `schema` in every file.
pub const EVIDENCE_SCHEMA: &str = "gander-evidence/1";

/// How deep repetitions may be nested in a file.
pub const MAX_REPEAT_DEPTH: usize = 40;

/// How many characters the formulas of one file may have.
pub const MAX_FORMULA_CHARS: usize = 1 << 28;

/// A claim's verdict as a file gives it.
#[derive(Clone, Debug)]
pub struct EvidenceFile {
    /// The claim.
    pub claim: ClaimId,
    /// Whether it holds or fails.
    pub verdict: Decided,
    /// What shows it.
    pub evidence: Evidence,
}

/// A verdict that carries evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decided {
    /// The claim holds.
    Holds,
    /// The claim fails.
    Fails,
}

impl Decided {
    /// The word in the file.
    pub fn word(self) -> &'static str {
        match self {
            Decided::Holds => "holds",
            Decided::Fails => "fails",
        }
    }
}

/// Why a file could not be read, or evidence not be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EvidenceFileError {
    /// Where, as in `evidence.steps[3].params.amount`; empty for the whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl EvidenceFileError {
    fn new(path: impl Into<String>, message: impl Into<String>) -> EvidenceFileError {
        EvidenceFileError { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for EvidenceFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { write!(f, "{}", self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for EvidenceFileError {}

#[cfg(test)]
mod tests;
