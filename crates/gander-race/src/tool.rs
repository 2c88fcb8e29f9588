//! The contract for adapters.
//!
//! An adapter takes a [`Seat`], which knows the system and the claims that are still open. It writes the system with
//! `gander_export::write`, runs its program ([`Seat::run`]), and answers ([`Seat::answer`]) for each claim that the output
//! speaks of, with whatever evidence it gives. It is strict: an answer is one that the tool documents, complete, about a
//! property that was asked; everything else is no answer. What it cannot ask is a [`Stop::Cannot`] in words.

use std::time::Duration;

use gander_export::Refusal;

pub use crate::seat::Seat;

/// What an adapter is.
pub trait Tool: Sync {
    /// The word for it on the command line.
    fn name(&self) -> &'static str;
    /// What it is for, in one line.
    fn about(&self) -> &'static str;
    /// The names that its program may have on the PATH, the best first.
    fn programs(&self) -> &'static [&'static str];
    /// Arguments that make it say its version.
    fn version(&self) -> &'static [&'static str];
    /// How its memory can be limited.
    fn memory(&self) -> Memory {
        Memory::AddressSpace
    }
    /// Asks about the open claims and answers; returns when there is nothing more to say.
    fn play(&self, seat: &mut Seat<'_>) -> Result<(), Stop>;
}

/// How the memory of a program can be limited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// By its address space.
    AddressSpace,
    /// By an option of its own: a Java machine reserves more than it uses.
    Own,
}

/// What a tool says of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Says {
    /// That it holds.
    Holds,
    /// That it fails.
    Fails,
}

impl Says {
    /// Of a property: true if the tool calls it true; `opposite` if the claim is the contrary of the property.
    pub fn of(is_true: bool, opposite: bool) -> Says {
        if is_true != opposite { Says::Holds } else { Says::Fails }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Says::Holds => "holds",
            Says::Fails => "fails",
        }
    }
}

/// A call of a program, in a folder of its own.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Files to write, by name.
    pub files: Vec<(String, String)>,
    /// Arguments.
    pub arguments: Vec<String>,
    /// Further variables of the environment.
    pub environment: Vec<(String, String)>,
    /// It may take no longer.
    pub most: Option<Duration>,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// By itself.
    Exited,
    /// There was no time left.
    OutOfTime,
    /// It was not needed any more.
    Stopped,
    /// It wrote more than we take.
    Flood,
}

/// What a program said.
#[derive(Clone, Debug)]
pub struct Said {
    /// Standard output.
    pub stdout: String,
    /// The beginning of standard error.
    pub stderr: String,
    /// The exit code, unless a signal ended it.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How it ended.
    pub ending: Ending,
    /// How long it took.
    pub elapsed: Duration,
}

impl Said {
    /// What a person should know about output that is no answer: the first words of the tool about it.
    pub fn complaint(&self) -> String {
        let line = |text: &str| text.lines().map(str::trim).find(|l| !l.is_empty()).map(str::to_string);
        let text = line(&self.stderr).or_else(|| line(&self.stdout)).unwrap_or_else(|| "nothing".to_string());
        let text: String = text.chars().filter(|c| !c.is_control()).take(160).collect();
        match (self.signal, self.exit) {
            (Some(signal), _) => format!("it was ended by signal {signal} and said: {text}"),
            (None, Some(code)) if code != 0 => format!("it ended with exit code {code} and said: {text}"),
            _ => format!("it gave no answer that is understood; it said: {text}"),
        }
    }
}

/// Why an adapter stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It is not needed any more.
    NotNeeded,
    /// There is no time left.
    OutOfTime,
    /// The system cannot be given to this tool, or the tool does not work; in words.
    Cannot(String),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::Cannot(refusal.0)
    }
}
