//! Differences between solvers: programs, arguments, features, enumerations.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gander_term::Features;
use gander_term::smtlib::EnumStyle;

use crate::setup::check_program;

/// The kind of a solver program. An unknown one is a plain SMT-LIB 2 solver.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum SolverKind {
    /// Z3: everything.
    Z3,
    /// yices-smt2: linear arithmetic and bit-vectors.
    Yices,
    /// cvc5: everything.
    Cvc5,
    /// MathSAT 5: linear and non-linear arithmetic, bit-vectors.
    MathSat,
    /// OpenSMT 2: linear arithmetic.
    OpenSmt,
    /// Bitwuzla: bit-vectors.
    Bitwuzla,
    /// Any other SMT-LIB 2 solver that reads commands from standard input.
    Other,
}

impl SolverKind {
    /// Every kind with a known program name.
    pub const NAMED: [SolverKind; 6] = [
        SolverKind::Z3,
        SolverKind::Yices,
        SolverKind::Cvc5,
        SolverKind::MathSat,
        SolverKind::OpenSmt,
        SolverKind::Bitwuzla,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SolverKind::Z3 => "z3",
            SolverKind::Yices => "yices",
            SolverKind::Cvc5 => "cvc5",
            SolverKind::MathSat => "mathsat",
            SolverKind::OpenSmt => "opensmt",
            SolverKind::Bitwuzla => "bitwuzla",
            SolverKind::Other => "other",
        }
    }

    /// The kind with this name, or whose program has this name.
    pub fn from_name(name: &str) -> Option<SolverKind> {
        SolverKind::NAMED.into_iter().find(|k| k.name() == name || k.program() == name)
    }

    /// The name of its program.
    pub fn program(self) -> &'static str {
        match self {
            SolverKind::Yices => "yices-smt2",
            other => other.name(),
        }
    }

    fn arguments(self, memory: Option<u64>) -> Vec<String> {
        let mut args: Vec<&str> = Vec::new();
        match self {
            SolverKind::Z3 => args.extend(["-in", "-smt2"]),
            SolverKind::Yices => args.push("--incremental"),
            SolverKind::Cvc5 => args.extend(["--incremental", "--lang=smt2"]),
            SolverKind::MathSat => args.push("-input=smt2"),
            SolverKind::OpenSmt => args.push("-"),
            SolverKind::Bitwuzla | SolverKind::Other => {}
        }
        let mut args: Vec<String> = args.into_iter().map(String::from).collect();
        if let (SolverKind::Z3, Some(bytes)) = (self, memory) {
            // Z3 then ends its query with an answer; the limit on the process is a fallback.
            args.push(format!("-memory:{}", (bytes >> 20).max(16)));
        }
        args
    }

    pub(crate) fn enums(self) -> EnumStyle {
        match self {
            SolverKind::Z3 | SolverKind::Cvc5 | SolverKind::Other => EnumStyle::Datatypes,
            SolverKind::Yices
            | SolverKind::MathSat
            | SolverKind::OpenSmt
            | SolverKind::Bitwuzla => EnumStyle::Ints,
        }
    }

    /// The first feature that it lacks, for messages.
    pub fn lacks(self, features: Features) -> Option<&'static str> {
        let full = matches!(self, SolverKind::Z3 | SolverKind::Cvc5 | SolverKind::Other);
        if features.strings && !full {
            Some("strings")
        } else if features.arrays && !full {
            // Yices, MathSAT, OpenSMT and Bitwuzla lack constant arrays, or enumerations, or print
            // values in other forms.
            Some("arrays")
        } else if features.quantifiers && !full {
            Some("quantifiers")
        } else if features.nonlinear && matches!(self, SolverKind::Yices | SolverKind::OpenSmt) {
            Some("non-linear arithmetic")
        } else if (features.ints || features.reals || features.enums)
            && self == SolverKind::Bitwuzla
        {
            Some("arithmetic")
        } else if features.bit_vectors && self == SolverKind::OpenSmt {
            Some("bit-vectors")
        } else if features.bit_vectors_of_64 && self == SolverKind::Yices {
            // Yices 2.6.5 answers sat to x = 3, bvnot(bvsub(bvor(x, 1), c)) != c - 4 at 64 bits,
            // for any c; at other widths it is right.
            Some("bit-vectors of 64 bits")
        } else if features.bit_vector_conversions && !full {
            Some("conversions between bit-vectors and integers")
        } else {
            None
        }
    }
}

/// A solver program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solver {
    /// Its kind.
    pub kind: SolverKind,
    /// Its name: that of its kind, unless the user gave another.
    pub name: Arc<str>,
    /// The program.
    pub program: PathBuf,
    /// Arguments besides those of the kind.
    pub extra_arguments: Vec<String>,
    /// For Yices: whether sessions support bit-vectors. That makes it slower by a third on
    /// arithmetic, and must be set before the first formula. [`crate::Solvers::choose`] sets it.
    pub bit_vectors: bool,
    /// The SHA-256 that the program must have: that of a solver from the cache.
    pub pinned: Option<&'static str>,
}

impl Solver {
    /// A program of a known kind.
    pub fn new(kind: SolverKind, program: impl AsRef<Path>) -> Solver {
        let program = program.as_ref().to_path_buf();
        let bit_vectors = kind != SolverKind::Yices;
        Solver {
            kind,
            name: Arc::from(kind.name()),
            program,
            extra_arguments: Vec::new(),
            bit_vectors,
            pinned: None,
        }
    }

    /// The same program, for sessions with these features.
    #[must_use]
    pub fn for_features(&self, features: Features) -> Solver {
        Solver { bit_vectors: self.bit_vectors || features.bit_vectors, ..self.clone() }
    }

    /// Checks the digest of a pinned program before it is started. Other programs pass.
    pub fn verify(&self) -> io::Result<()> {
        // One list for the process, because hashing the 30 MB of Z3 again for every `Solvers` would
        // be slow.
        static VERIFIED: Mutex<Vec<(PathBuf, &'static str)>> = Mutex::new(Vec::new());
        let Some(pinned) = self.pinned else { return Ok(()) };
        // Other threads wait, so that no program is hashed twice.
        let mut verified = VERIFIED.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.iter().any(|(program, digest)| *program == self.program && *digest == pinned) {
            return Ok(());
        }
        check_program(&self.program, pinned)?;
        verified.push((self.program.clone(), pinned));
        Ok(())
    }

    /// The logic to set; Z3 is faster without one.
    pub(crate) fn logic(&self) -> Option<&'static str> {
        match self.kind {
            SolverKind::Z3 => None,
            SolverKind::Yices if self.bit_vectors => Some("ALL"),
            SolverKind::Yices | SolverKind::OpenSmt => Some("QF_LIRA"),
            SolverKind::Cvc5 | SolverKind::MathSat | SolverKind::Bitwuzla | SolverKind::Other => {
                Some("ALL")
            }
        }
    }

    /// The arguments that make it read commands from standard input.
    pub fn arguments(&self, memory: Option<u64>) -> Vec<String> {
        let mut arguments = self.kind.arguments(memory);
        arguments.extend(self.extra_arguments.iter().cloned());
        arguments
    }

    /// The first feature that it lacks, for messages.
    pub fn lacks(&self, features: Features) -> Option<&'static str> {
        let missing =
            (features.bit_vectors && !self.bit_vectors).then_some("bit-vectors in this session");
        self.kind.lacks(features).or(missing)
    }

    /// True if it supports formulas with these features.
    pub fn supports(&self, features: Features) -> bool {
        self.lacks(features).is_none()
    }
}
