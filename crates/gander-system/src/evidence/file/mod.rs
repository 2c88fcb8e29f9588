//! The file form of verdicts with their evidence: JSON, described in docs/evidence.md.
//!
//! Nodes, transitions, starts, variables and parameters are referred to by name, so a file does not
//! depend on the process that wrote it; values and formulas are in the text form of terms. Reading
//! is strict: an unknown name, a missing variable, a wrong sort or an unknown key is an error with
//! its path. Evidence that was read is well-formed; `gander-certify` checks whether it is right.

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

/// The nesting depth of repetitions in a file.
pub const MAX_REPEAT_DEPTH: usize = 40;

/// The number of characters of the formulas of one file.
pub const MAX_FORMULA_CHARS: usize = 1 << 28;

/// The verdict about a claim in a file.
#[derive(Clone, Debug)]
pub struct EvidenceFile {
    /// The claim.
    pub claim: ClaimId,
    /// Whether it holds or fails.
    pub verdict: Decided,
    /// The evidence.
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
    /// Its name in the file.
    pub fn word(self) -> &'static str {
        match self {
            Decided::Holds => "holds",
            Decided::Fails => "fails",
        }
    }
}

/// Why a file could not be read, or evidence could not be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EvidenceFileError {
    /// The place, as in `evidence.steps[3].params.amount`; empty for the whole file.
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
        if self.path.is_empty() {
            write!(f, "{}", self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for EvidenceFileError {}

#[cfg(test)]
mod tests;
