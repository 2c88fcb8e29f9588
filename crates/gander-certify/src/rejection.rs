//! Why evidence is not accepted.

use std::fmt;

/// Evidence that was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// The evidence does not show what it is to show: somebody made a mistake, and the verdict may be wrong.
    Wrong(String),
    /// The check was not finished: a solver gave up, a limit was reached or somebody interrupted it.
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

/// Somebody used the cancellation.
pub(crate) const INTERRUPTED: &str = "the check was interrupted";
/// The limit on the time of the whole check was reached.
/// Why a check was broken off at the limit on memory.
pub(crate) const OUT_OF_MEMORY: &str = "the check reached the memory limit";

pub(crate) const OUT_OF_TIME: &str = "the check ran out of time";

pub(crate) fn wrong(why: impl Into<String>) -> Rejection {
    Rejection::Wrong(why.into())
}

pub(crate) fn undecided(why: impl Into<String>) -> Rejection {
    Rejection::Undecided(why.into())
}
