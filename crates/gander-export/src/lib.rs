//! Systems in the languages of other tools: `gander export`.
//!
//! Every function is pure: a system in, a text out. Names are made fit for the language and stay readable; a comment at the
//! top maps those that changed back. What a language cannot say is refused ([`Refusal`]) or, if it is a claim, left out
//! and listed in the same comment. docs/formats.md says what each format can express.
//!
//! - [`flat`]: a system as variables, first states, steps and properties, for languages without a control graph;
//! - [`printing`]: terms as text, with definitions for what is shared or long;
//! - one module a format.

mod bounds;
mod btor2;
mod flat;
mod horn;
mod lasting;
mod lustre;
mod names;
mod printing;
mod processes;
mod script;
mod smtlib;
mod smv;
mod sts;
mod unrolling;
mod uppaal;
mod vmt;
mod way_back;

use std::fmt;

use gander_system::{ClaimId, System};

use flat::Flat;

pub use way_back::{NameMap, Place, WrittenClaim};

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
    /// BTOR2, for finite systems.
    Btor2,
    /// Lustre, for Kind 2 and JKind.
    Lustre,
    /// UPPAAL's XML, a template for each process.
    Uppaal,
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
        ("btor2", Format::Btor2),
        ("lustre", Format::Lustre),
        ("uppaal", Format::Uppaal),
    ];
}

/// What can be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The number of steps of an unrolling.
    pub depth: u32,
    /// How Horn clauses are written.
    pub horn: HornDialect,
}

/// How Horn clauses are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HornDialect {
    /// As in competitions: `sat` means that all claims hold.
    #[default]
    Standard,
    /// `(rule …)` and `(query error)`, as Z3's fixed-point engine reads them: `unsat` means that all claims hold.
    Rules,
}

/// Which claims are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection<'a> {
    /// All of them.
    All,
    /// These.
    Only(&'a [ClaimId]),
}

impl Selection<'_> {
    fn includes(self, claim: ClaimId) -> bool {
        match self {
            Selection::All => true,
            Selection::Only(claims) => claims.contains(&claim),
        }
    }
}

/// A text, and what its names stand for.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text.
    pub text: String,
    /// The map back.
    pub names: NameMap,
}

impl Default for Options {
    fn default() -> Options {
        Options { depth: 10, horn: HornDialect::Standard }
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
    write(system, format, options, Selection::All).map(|written| written.text)
}

/// The system with some of its claims in a language, and the map back for names, for tools that answer. Languages with a
/// control graph have the map back for claims only.
pub fn write(system: &System, format: Format, options: Options, selection: Selection<'_>) -> Result<Written, Refusal> {
    let flat = |words: &[&str], write: &dyn Fn(&mut Flat) -> Result<String, Refusal>| {
        let mut flat = Flat::of(system, selection, words)?;
        let text = write(&mut flat)?;
        Ok(Written { text, names: flat.name_map() })
    };
    match format {
        Format::Sts => sts::write(system, selection),
        Format::Script => script::write(system, selection),
        Format::Uppaal => {
            let (text, claims) = uppaal::write(system, selection)?;
            Ok(Written { text, names: NameMap { claims, ..NameMap::default() } })
        }
        Format::Smv => flat(&[], &smv::write),
        Format::Horn => flat(&[], &|f| horn::write(f, options.horn)),
        Format::Vmt => flat(&[], &vmt::write),
        Format::Smt2 => flat(&[], &|f| unrolling::write(f, options.depth)),
        Format::Btor2 => flat(&[], &btor2::write),
        Format::Lustre => flat(lustre::WORDS, &lustre::write),
    }
}
