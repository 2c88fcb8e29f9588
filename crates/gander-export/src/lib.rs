//! Writes systems in the languages of other tools: `gander export`.
//!
//! Every function is pure: it takes a system and returns a text. Names are adapted to the language
//! and stay readable; a comment at the top maps changed names back. What a language cannot express
//! is refused ([`Refusal`]) or, if it is a claim, omitted and listed in the same comment. Nothing is
//! dropped silently. docs/formats.md says what each format can express.
//!
//! - `encode`: systems in the shape that an output language needs, for example without a control
//!   graph;
//! - `text`: names and terms as text, with definitions for shared and long subterms;
//! - `formats`: one module for each output language.
//!
//! ```
//! use gander_export::{Format, Options, export};
//!
//! let source = "spec Counter
//!     var x: int
//!     start { x == 0 }
//!     step up when x < 3 { x := x + 1 }
//!     always small: x <= 3
//! ";
//! let system = gander_lang::sts::load(source, "counter.sts").system.unwrap();
//! let smv = export(&system, Format::Smv, Options::default())?;
//! assert!(smv.contains("VAR x : integer;"));
//! assert!(smv.contains("INVARSPEC NAME small := (x <= 3);"));
//! # Ok::<(), gander_export::Refusal>(())
//! ```

mod encode;
mod formats;
mod text;

use std::fmt;

use gander_system::{ClaimId, System};

use encode::flat::Flat;
use formats::{btor2, horn, lustre, script, smt2, smv, sts, uppaal, vmt};

pub use text::name_map::{NameMap, Place, WrittenClaim};

/// An output language.
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
    /// Every format, with its name on the command line.
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

/// Options of the formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The number of steps of an unrolling.
    pub depth: u32,
    /// The dialect of Horn clauses.
    pub horn: HornDialect,
}

/// The dialect of Horn clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HornDialect {
    /// The form of CHC-COMP: `sat` means that all claims hold.
    #[default]
    Standard,
    /// `(rule …)` and `(query error)`, for Z3's fixed-point engine: `unsat` means that all claims
    /// hold.
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

/// An exported text, with the map of its names.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text.
    pub text: String,
    /// Maps names in the text to the system.
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

/// Writes the system with all its claims.
pub fn export(system: &System, format: Format, options: Options) -> Result<String, Refusal> {
    write(system, format, options, Selection::All).map(|written| written.text)
}

/// Writes the system with some of its claims. The name map is for reading the answers of a tool; in
/// languages with a control graph it covers claims only.
pub fn write(
    system: &System,
    format: Format,
    options: Options,
    selection: Selection<'_>,
) -> Result<Written, Refusal> {
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
        Format::Smt2 => flat(&[], &|f| smt2::write(f, options.depth)),
        Format::Btor2 => flat(&[], &btor2::write),
        Format::Lustre => flat(lustre::WORDS, &lustre::write),
    }
}
