//! The contract for adapters.
//!
//! An adapter takes a [`ToolContext`], which has the system and the open claims. It writes the
//! system with `gander_export::write`, runs its program ([`ToolContext::run`]), and answers each
//! claim that the output decides ([`ToolContext::answer`]), with the evidence in the output. It is
//! strict: an answer is complete, documented by the tool, and about a property that was asked;
//! other output is not an answer. If the tool does not support the system, the adapter returns
//! [`Stop::Cannot`].

use std::time::Duration;

use gander_export::Refusal;
use gander_process::Finished;

pub use crate::context::ToolContext;

/// An adapter for one tool.
pub trait Tool: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// A description in one line.
    fn about(&self) -> &'static str;
    /// The names that its program may have on the PATH, the best first.
    fn programs(&self) -> &'static [&'static str];
    /// Arguments that make it print its version.
    fn version(&self) -> &'static [&'static str];
    /// How its memory can be limited.
    fn memory(&self) -> Memory {
        Memory::AddressSpace
    }
    /// Runs the program on the open claims and records its answers.
    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop>;
}

/// How the memory of a program can be limited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// By its address space.
    AddressSpace,
    /// By an option of the program: a Java machine reserves more than it uses.
    Own,
}

/// The answer of a tool about a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Says {
    /// It holds.
    Holds,
    /// It fails.
    Fails,
}

impl Says {
    /// From the answer about a property; `opposite` if the claim is the negation of the property.
    pub fn of(is_true: bool, opposite: bool) -> Says {
        if is_true != opposite { Says::Holds } else { Says::Fails }
    }

    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Says::Holds => "holds",
            Says::Fails => "fails",
        }
    }
}

/// A run of a program in its own scratch folder.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Files to write, by name.
    pub files: Vec<(String, String)>,
    /// Arguments.
    pub arguments: Vec<String>,
    /// Further variables of the environment.
    pub environment: Vec<(String, String)>,
    /// A time limit, if it is shorter than that of the race.
    pub most: Option<Duration>,
}

/// Describes output that is not an answer: how the program ended and the first line it printed.
pub(crate) fn complaint(said: &Finished) -> String {
    let line = |text: &str| text.lines().map(str::trim).find(|l| !l.is_empty()).map(str::to_string);
    let text =
        line(&said.stderr).or_else(|| line(&said.stdout)).unwrap_or_else(|| "nothing".to_string());
    let text: String = text.chars().filter(|c| !c.is_control()).take(160).collect();
    match (said.signal, said.exit) {
        (Some(signal), _) => format!("it was ended by signal {signal} and said: {text}"),
        (None, Some(code)) if code != 0 => {
            format!("it ended with exit code {code} and said: {text}")
        }
        _ => format!("it gave no answer that is understood; it said: {text}"),
    }
}

/// Why an adapter stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Its answers are not needed any more.
    NotNeeded,
    /// The deadline passed.
    OutOfTime,
    /// The tool does not support the system, or does not work, for this reason.
    Cannot(String),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::Cannot(refusal.0)
    }
}
