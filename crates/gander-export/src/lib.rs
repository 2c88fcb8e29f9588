//! Writes systems in the languages of other tools: `gander export`.
//!
//! Every function is pure: it takes a system and returns a text. Names are adapted to the language
//! and stay readable; a comment at the top maps changed names back. What a language cannot express
//! is refused ([`Refusal`]) or, if it is a claim, omitted and listed in the same comment. Nothing
//! is dropped silently. docs/formats.md says what each format can express.
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

use gander_system::{ClaimId, Range, System, VarId};
use gander_term::{Pool, SymbolId, TermId};

use encode::flat::{Flat, StructuralClaims};
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
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The number of steps of an unrolling.
    pub depth: u32,
    /// The dialect of Horn clauses.
    pub horn: HornDialect,
    /// Eliminates the parameters of guards and the next values of effects, for claims about them.
    /// Without it, such claims are not written.
    pub eliminate: Option<Eliminate>,
    /// For SMV, BTOR2 and UPPAAL: the range of ints without one. The text lists it as an
    /// assumption.
    pub default_range: Option<DefaultRange>,
}

/// A range that ints without one get. A step that would leave it is disabled, as in scripts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DefaultRange {
    /// The least value.
    pub low: i32,
    /// The greatest value.
    pub high: i32,
}

impl DefaultRange {
    /// The default range of scripts.
    pub const OF_SCRIPTS: DefaultRange = DefaultRange { low: -1023, high: 1024 };

    /// The system with the range, and the assumptions as sentences.
    fn apply(self, system: &System) -> (System, Vec<String>) {
        let DefaultRange { low, high } = self;
        let range = Range { low: low.into(), high: high.into() };
        let (system, vars) = system.with_default_range(&range);
        let name = |v: VarId| system.var(v).name.replace(['\n', '\r'], " ");
        let notes = vars.into_iter().map(|v| {
            format!(
                "assumption: `{}` has no range and gets {low}..{high}; steps that would leave it are disabled",
                name(v)
            )
        });
        let notes = notes.collect();
        (system, notes)
    }
}

/// A formula without the symbols that is equivalent to `exists symbols. body`, if one is found.
pub type Eliminate = fn(&mut Pool, &[SymbolId], TermId) -> Option<TermId>;

/// The dialect of Horn clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HornDialect {
    /// The form of CHC-COMP: `sat` means that all claims hold.
    #[default]
    Standard,
    /// `(rule …)` and `(query error)`, for Z3's fixed-point engine: `unsat` means that all claims
    /// hold.
    Rules,
    /// Rules, and a query for each claim. Only these have structural claims: most of these hold by
    /// a run, so they are of no use in a question about all claims together.
    Queries,
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
    /// What the text assumes beyond the system, as sentences.
    pub assumptions: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { depth: 10, horn: HornDialect::Standard, eliminate: None, default_range: None }
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
    let ranged;
    let (system, assumptions) = match (format, options.default_range) {
        (Format::Smv | Format::Btor2 | Format::Uppaal, Some(range)) => {
            let assumptions;
            (ranged, assumptions) = range.apply(system);
            (&ranged, assumptions)
        }
        _ => (system, Vec::new()),
    };
    let structural = match (format, options.horn) {
        (Format::Horn, HornDialect::Queries) => StructuralClaims::Written,
        _ => StructuralClaims::LeftOut,
    };
    let flat = |words: &[&str], write: &dyn Fn(&mut Flat) -> Result<String, Refusal>| {
        let mut flat = Flat::of(system, selection, words, structural, options.eliminate)?;
        flat.assume(&assumptions);
        let text = write(&mut flat)?;
        Ok(Written { text, names: flat.name_map(), assumptions: assumptions.clone() })
    };
    match format {
        Format::Sts => sts::write(system, selection),
        Format::Script => script::write(system, selection),
        Format::Uppaal => {
            let (text, claims) = uppaal::write(system, selection, &assumptions)?;
            let names = NameMap { claims, ..NameMap::default() };
            Ok(Written { text, names, assumptions: assumptions.clone() })
        }
        Format::Smv => flat(&[], &smv::write),
        Format::Horn => flat(&[], &|f| horn::write(f, options.horn)),
        Format::Vmt => flat(&[], &vmt::write),
        Format::Smt2 => flat(&[], &|f| smt2::write(f, options.depth)),
        Format::Btor2 => flat(&[], &btor2::write),
        Format::Lustre => flat(lustre::WORDS, &lustre::write),
    }
}
