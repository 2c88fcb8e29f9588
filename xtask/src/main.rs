//! Project tasks.
//!
//! `cargo xtask test` sets up the solvers, checks formatting, lints and dependencies, and runs
//! every test in its fast tier. `cargo xtask test --full` runs the full tier of random tests, the
//! tests in a browser and with NuSMV, and the end-to-end tests once more without yices. Both print
//! what was skipped and one line of totals at the end.

mod dependencies;
mod release;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use gander_io::programs;

const USAGE: &str = "\
cargo xtask test          set up the solvers, then run lints and tests; random tests do little
cargo xtask test --full   what that leaves out: longer random tests, a browser, NuSMV, and a pass without yices
cargo xtask deny          check licences, sources and advisories of the dependencies (deny.toml)
cargo xtask release       build the release binary and check that it is static-PIE and holds no build paths
cargo xtask setup         only set up the solvers, a browser, and NuSMV for the tests
";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["test"] => test(Extent::Fast),
        ["test", "--full"] => test(Extent::Full),
        ["deny"] => dependencies::dependencies(),
        ["release"] => release::release(),
        ["setup"] => setup().map(|()| {
            set_up_browser();
            drop(install_nusmv());
        }),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Extent {
    Fast,
    Full,
}

/// Totals of the summary lines of a test runner.
#[derive(Default)]
struct Totals {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Totals {
    /// Reads `test result: ok. 12 passed; 0 failed; 1 ignored; …`.
    fn add(&mut self, line: &str) {
        let Some(rest) = line.trim().strip_prefix("test result: ") else { return };
        for part in rest.split(['.', ';']) {
            let mut words = part.split_whitespace();
            if let (Some(Ok(n)), Some(what)) = (words.next().map(str::parse::<u64>), words.next()) {
                match what {
                    "passed" => self.passed += n,
                    "failed" => self.failed += n,
                    "ignored" => self.ignored += n,
                    _ => {}
                }
            }
        }
    }
}

fn setup() -> Result<(), String> {
    run(
        cargo(&["run", "--quiet", "--package", "gander-cli", "--", "setup"]),
        "set-up of the solvers",
    )
}

/// Installs a browser for the tests of pages, if none is found and that is possible. Without one,
/// these tests are skipped and reported as such.
fn set_up_browser() {
    let found = |program: &str| programs::find(program, &env::var_os("PATH").unwrap_or_default());
    let works = |program: &str| {
        let Some(program) = found(program) else { return false };
        let quiet = Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        quiet.is_ok_and(|s| s.success())
    };
    if ["chromium", "chromium-browser", "google-chrome"].into_iter().any(works) {
        return;
    }
    println!("== set-up of a browser ==");
    let Some(apt) = found("apt-get") else {
        println!("there is no apt-get to install chromium with: the tests of pages are skipped");
        return;
    };
    if let Err(why) = install_system_package(&apt, "chromium") {
        println!("{why}: the tests of pages are skipped");
    }
}

/// Installs a package of the system with apt-get.
fn install_system_package(apt: &Path, package: &str) -> Result<(), String> {
    let mut install = Command::new(apt);
    install.args(["install", "--yes", "--no-install-recommends", package]).stdout(Stdio::null());
    install.env("DEBIAN_FRONTEND", "noninteractive");
    match install.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{package} could not be installed ({status})")),
        Err(e) => Err(format!("apt-get could not be started ({e})")),
    }
}

/// Installs NuSMV from a Python package for the tests of `check --with`, unless it is already
/// installed or named by `GANDER_TOOL_NUSMV`. Without it, these tests are skipped and reported as
/// such.
fn install_nusmv() -> Option<String> {
    if let Ok(named) = env::var("GANDER_TOOL_NUSMV") {
        return Some(named);
    }
    let folder = root().join("target").join("peers");
    let program =
        || find_below(&folder, "NuSMVa_linux64").map(|p| p.to_string_lossy().into_owned());
    if program().is_none() {
        println!("== NuSMV for the tests ==");
        if !install_package(&folder, "pyboolnet") {
            println!("it cannot be had: the tests that need it are skipped");
        }
    }
    let program = program()?;
    if !nusmv_starts(&program) {
        println!("== a library for NuSMV ==");
        let apt = programs::find("apt-get", &env::var_os("PATH").unwrap_or_default());
        match apt.map(|apt| install_system_package(&apt, "libtinfo5")) {
            Some(Ok(())) if nusmv_starts(&program) => {}
            Some(Err(why)) => println!("{why}"),
            _ => {}
        }
        if !nusmv_starts(&program) {
            println!("NuSMV does not start: the tests that need it are skipped");
            return None;
        }
    }
    Some(program)
}

/// True if the program prints its help: a missing library keeps it from starting.
fn nusmv_starts(program: &str) -> bool {
    let mut command = Command::new(program);
    if let Some(folder) = Path::new(program).parent() {
        command.env("LD_LIBRARY_PATH", folder);
    }
    let output = command.arg("-h").stdin(Stdio::null()).output();
    output.is_ok_and(|o| [o.stdout, o.stderr].concat().windows(5).any(|text| text == b"Usage"))
}

/// Creates a virtual environment with a package. Python runs isolated (`-I`) and outside the
/// current folder, so that it runs no code from there.
fn install_package(folder: &Path, package: &str) -> bool {
    let python = programs::find("python3", &env::var_os("PATH").unwrap_or_default());
    let Some(python) = python else { return false };
    if fs::create_dir_all(folder).is_err() {
        return false;
    }
    let succeeds =
        |command: &mut Command| command.current_dir(folder).status().is_ok_and(|s| s.success());
    succeeds(Command::new(python).args(["-I", "-m", "venv"]).arg(folder))
        && succeeds(
            Command::new(folder.join("bin/python"))
                .args(["-I", "-m", "pip", "install", "--quiet", package]),
        )
}

/// Finds a file with this name below a folder.
fn find_below(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|t| t.is_dir());
            if is_folder {
                open.push(entry.path());
            } else if entry.file_name() == name {
                return Some(entry.path());
            }
        }
    }
    None
}

fn test(extent: Extent) -> Result<(), String> {
    let clock = Instant::now();
    setup()?;
    let mut tools: Vec<(&str, String)> = Vec::new();
    if extent == Extent::Full {
        set_up_browser();
        tools.extend(install_nusmv().map(|path| ("GANDER_TOOL_NUSMV", path)));
        tools.push(("GANDER_TESTS", "full".to_string()));
    }
    let skipped = skip_log()?;
    if extent == Extent::Fast {
        run(cargo(&["fmt", "--all", "--", "--check"]), "formatting")?;
        run(
            cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]),
            "lints",
        )?;
        dependencies::dependencies()?;
    }
    let mut totals = Totals::default();
    let mut failures = Vec::new();
    let tools: Vec<(&str, &str)> =
        tools.iter().map(|(name, value)| (*name, value.as_str())).collect();
    if let Err(e) = run_tests(&["--workspace"], &tools, &skipped, &mut totals) {
        failures.push(e);
    }
    if extent == Extent::Full {
        println!("\n== once more without yices ==");
        let hidden = [("GANDER_YICES", "none")];
        if let Err(e) = run_tests(
            &["--package", "gander", "--package", "gander-cli", "--tests"],
            &hidden,
            &skipped,
            &mut totals,
        ) {
            failures.push(format!("without yices: {e}"));
        }
    }
    println!("\n{:.0} s in all", clock.elapsed().as_secs_f64());
    let skips = report_skips(&skipped);
    println!(
        "{} passed, {} failed, {} skipped",
        totals.passed,
        totals.failed,
        totals.ignored + skips
    );
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

fn cargo(args: &[&str]) -> Command {
    let mut c = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    c.args(args).current_dir(root());
    c
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn run(mut command: Command, what: &str) -> Result<(), String> {
    println!("== {what} ==");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what} failed ({status})")),
        Err(e) => Err(format!("{what} could not be started: {e}")),
    }
}

fn run_tests(
    args: &[&str],
    env: &[(&str, &str)],
    skipped: &Path,
    totals: &mut Totals,
) -> Result<(), String> {
    println!("== cargo test {} ==", args.join(" "));
    let mut command = cargo(&["test", "--no-fail-fast"]);
    command
        .args(args)
        .envs(env.iter().copied())
        .env("GANDER_SKIP_LOG", skipped)
        .stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("cargo test could not be started: {e}"))?;
    let Some(out) = child.stdout.take() else { return Err("cargo test has no output".into()) };
    for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        totals.add(&line);
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("tests failed ({status})")),
        Err(e) => Err(format!("cargo test was lost: {e}")),
    }
}

fn skip_log() -> Result<PathBuf, String> {
    let path = root().join("target").join("skipped-tests.log");
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(|e| e.to_string())?;
    fs::write(&path, "").map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

fn report_skips(log: &Path) -> u64 {
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    lines.sort_unstable();
    lines.dedup();
    if lines.is_empty() {
        println!("nothing was skipped");
    } else {
        println!("{} skipped:", lines.len());
        for line in &lines {
            println!("  {line}");
        }
    }
    lines.len() as u64
}
