//! Why evidence is not accepted.

use std::fmt;

/// Evidence that was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// The evidence does not show the verdict: an engine, a tool or the file is wrong, and the
    /// verdict may be wrong too.
    Wrong(String),
    /// The check was not finished: a solver gave up, a limit was reached, or the check was
    /// cancelled.
    Undecided(String),
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Wrong(why) => write!(f, "the evidence is wrong: {why}"),
            Rejection::Undecided(why) => write!(f, "the evidence could not be checked: {why}"),
        }
    }
}

impl std::error::Error for Rejection {}

/// The check was cancelled.
pub(crate) const INTERRUPTED: &str = "the check was interrupted";

/// The memory limit was reached.
pub(crate) const OUT_OF_MEMORY: &str = "the check reached the memory limit";

/// The time limit of the whole check was reached.
pub(crate) const OUT_OF_TIME: &str = "the check ran out of time";

pub(crate) fn wrong(why: impl Into<String>) -> Rejection {
    Rejection::Wrong(why.into())
}

pub(crate) fn undecided(why: impl Into<String>) -> Rejection {
    Rejection::Undecided(why.into())
}
