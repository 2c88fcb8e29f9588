//! Systems in the languages of other tools: `gander export`.
//!
//! Every function is pure: a system in, a text out. Names are made fit for the language and stay readable; a comment at the
//! top maps those that changed back. What a language cannot say is refused ([`Refusal`]) or, if it is a claim, left out
//! and listed in the same comment. docs/formats.md says what each format can express.
//!
//! - [`flat`]: a system as variables, first states, steps and properties, for languages without a control graph;
//! - [`printing`]: terms as text, with definitions for what is shared or long;
//! - one module a format.

mod flat;
mod horn;
mod names;
mod printing;
mod script;
mod smtlib;
mod smv;
mod sts;
mod unrolling;
mod vmt;

use std::fmt;

use gander_system::System;

/// A language that can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// gander's own language.
    Sts,
    /// The script language; for systems whose steps are guarded updates.
    Script,
    /// SMV, for nuXmv, and for NuSMV if the system is finite.
    Smv,
    /// Horn clauses.
    Horn,
    /// VMT-LIB.
    Vmt,
    /// An unrolling as an SMT-LIB query.
    Smt2,
}

impl Format {
    /// Every format, with the word for it.
    pub const ALL: &[(&str, Format)] = &[
        ("sts", Format::Sts),
        ("script", Format::Script),
        ("smv", Format::Smv),
        ("horn", Format::Horn),
        ("vmt", Format::Vmt),
        ("smt2", Format::Smt2),
    ];
}

/// What can be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The number of steps of an unrolling.
    pub depth: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { depth: 10 }
    }
}

/// Why a system cannot be written in a language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl From<gander_system::BuildError> for Refusal {
    fn from(error: gander_system::BuildError) -> Refusal {
        Refusal(error.to_string())
    }
}

/// The system in a language.
pub fn export(system: &System, format: Format, options: Options) -> Result<String, Refusal> {
    match format {
        Format::Sts => sts::write(system),
        Format::Script => script::write(system),
        Format::Smv => smv::write(flat::Flat::of(system)?),
        Format::Horn => horn::write(flat::Flat::of(system)?),
        Format::Vmt => vmt::write(flat::Flat::of(system)?),
        Format::Smt2 => unrolling::write(flat::Flat::of(system)?, options.depth),
    }
}
