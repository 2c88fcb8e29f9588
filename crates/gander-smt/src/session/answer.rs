//! Answers to queries, and limits of queries.

use std::fmt;
use std::time::Duration;

use gander_text::visible;

/// The answer to a satisfiability query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Satisfiable; the session can be asked for values.
    Sat,
    /// Unsatisfiable; the session can be asked for a core.
    Unsat,
    /// Neither is known.
    Unknown(Reason),
}

/// Why a query has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The time limit of the query passed.
    Timeout,
    /// The memory limit of the session was reached.
    Memory,
    /// It was cancelled.
    Interrupted,
    /// The program could not be started, for this reason.
    NotStarted(String),
    /// The solver process ended: its status and last output.
    Died(String),
    /// The solver printed something unexpected, or too much.
    Garbage(String),
    /// The solver reported an error.
    SolverError(String),
    /// The solver gave up, for this reason.
    Incomplete(String),
    /// There may be models, but none with rational values was found.
    Irrational,
    /// The solver does not support this.
    Unsupported(String),
    /// The last answer does not allow this: a model after `unsat`, a core after `sat`.
    NotAvailable(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Timeout => write!(f, "the solver ran out of time"),
            Reason::Memory => write!(f, "the solver ran out of memory"),
            Reason::Interrupted => write!(f, "the solver was interrupted"),
            Reason::NotStarted(why) => {
                write!(f, "the solver could not be started: {}", visible(why))
            }
            Reason::Died(how) => write!(f, "the solver died: {}", visible(how)),
            Reason::Garbage(what) => write!(f, "the solver made no sense: {}", visible(what)),
            Reason::SolverError(what) => {
                write!(f, "the solver reported an error: {}", visible(what))
            }
            Reason::Incomplete(why) if why.is_empty() => write!(f, "the solver gave up"),
            Reason::Incomplete(why) => write!(f, "the solver gave up: {}", visible(why)),
            Reason::Irrational => write!(f, "no model with rational values was found"),
            Reason::Unsupported(what) => write!(f, "the solver does not support {}", visible(what)),
            Reason::NotAvailable(what) => write!(f, "there is no {what} to ask for"),
        }
    }
}

impl std::error::Error for Reason {}

/// Limits of one query.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Time from sending the query to the end of its answer.
    pub time: Option<Duration>,
}

impl Limits {
    /// No limits.
    pub const NONE: Limits = Limits { time: None };

    /// A time limit.
    pub fn time(time: Duration) -> Limits {
        Limits { time: Some(time) }
    }
}
