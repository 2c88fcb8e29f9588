//! Answers about properties of Lustre programs, as Kind 2 and JKind give them.

/// The answer about a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It holds.
    Valid,
    /// It is violated.
    Falsifiable,
    /// A state that should be reachable is.
    Reachable,
    /// A state that should be reachable is not.
    Unreachable,
    /// Neither was shown.
    Unknown,
}

/// What a tool says about a property.
#[derive(Clone, PartialEq, Debug)]
pub struct Property {
    /// Its name in the program.
    pub name: String,
    /// The answer.
    pub answer: Answer,
    /// The engine that found it.
    pub engine: Option<String>,
    /// Seconds to the answer.
    pub seconds: Option<f64>,
    /// The number of instants of a proof by induction.
    pub k: Option<u32>,
    /// The streams of the counterexample; empty if there is none, `None` if it is malformed.
    pub counterexample: Option<Vec<Stream>>,
}

impl Property {
    pub(crate) fn new(name: impl Into<String>, answer: Answer) -> Property {
        Property {
            name: name.into(),
            answer,
            engine: None,
            seconds: None,
            k: None,
            counterexample: Some(Vec::new()),
        }
    }
}

/// The values of a variable in a counterexample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// The variable.
    pub name: String,
    /// Instants, and the values at them as text.
    pub values: Vec<(usize, String)>,
}
