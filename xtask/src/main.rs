//! Project tasks.
//!
//! `cargo xtask test` sets up the solvers, checks formatting, lints and dependencies, and runs the
//! fast tier of every test. `cargo xtask test --full` runs the full tier of random tests, the
//! tests in a browser and with NuSMV, the end-to-end tests once more without yices, and the tests
//! of the editor extension. Both print what was skipped and one line of totals at the end.

mod dependencies;
mod editor;
mod release;
mod width;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use gander_io::programs;

const USAGE: &str = "\
cargo xtask test          set up the solvers, then run lints and tests; random tests do little
cargo xtask test --full   what that leaves out: longer random tests, a browser, NuSMV, a pass without yices, the editor extension
cargo xtask deny          check licences, sources and advisories of the dependencies (deny.toml)
cargo xtask release       build the release binary and check that it is static-PIE and holds no build paths
cargo xtask page          bundle the page of `gander serve` (needs npm); the bundle is committed
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
        ["page"] => build_page(),
        ["setup"] => setup().map(|()| {
            set_up_browser();
            set_up_page();
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
    /// Reads `test result: ok. 12 passed; 0 failed; 1 ignored; …` of cargo and
    /// `Summary [ 1.2s] 13 tests run: 12 passed (1 slow), 1 failed, 2 skipped` of nextest.
    fn add(&mut self, line: &str) {
        let line = line.trim();
        let counts = match (line.strip_prefix("test result: "), line.split_once(" tests run: ")) {
            (Some(rest), _) => rest,
            (None, Some((before, rest))) if before.starts_with("Summary [") => rest,
            _ => return,
        };
        for part in counts.split(['.', ';', ',']) {
            let mut words = part.split_whitespace();
            if let (Some(Ok(n)), Some(what)) = (words.next().map(str::parse::<u64>), words.next()) {
                match what {
                    "passed" => self.passed += n,
                    "failed" => self.failed += n,
                    "ignored" | "skipped" => self.ignored += n,
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

/// The folder of the page's sources.
fn page_folder() -> PathBuf {
    root().join("editors").join("page")
}

/// Runs npm in the folder of the page.
fn npm(args: &[&str]) -> Result<(), String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let npm = programs::find("npm", &path).ok_or("npm was not found")?;
    let mut command = Command::new(npm);
    command.args(args).current_dir(page_folder()).stdout(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("npm {} failed ({status})", args.join(" "))),
        Err(e) => Err(format!("npm could not be started: {e}")),
    }
}

/// Bundles the page into the assets of `gander-serve`.
fn build_page() -> Result<(), String> {
    npm(&["ci", "--ignore-scripts"])?;
    npm(&["run", "build"])
}

/// Installs what the tests of the page need. Without it, they are skipped and reported as such.
fn set_up_page() {
    if page_folder().join("node_modules").join("playwright-core").is_dir() {
        return;
    }
    println!("== packages for the tests of the page ==");
    if let Err(why) = npm(&["ci", "--ignore-scripts"]) {
        println!("{why}: the tests of the page are skipped");
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
        set_up_page();
        tools.extend(install_nusmv().map(|path| ("GANDER_TOOL_NUSMV", path)));
    }
    let tier = match extent {
        Extent::Fast => "fast",
        Extent::Full => "full",
    };
    tools.push(("GANDER_TESTS", tier.to_string()));
    let skipped = skip_log()?;
    if extent == Extent::Fast {
        run(cargo(&["fmt", "--all", "--", "--check"]), "formatting")?;
        run(
            cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]),
            "lints",
        )?;
        width::check()?;
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
        let hidden = [("GANDER_YICES", "none"), ("GANDER_TESTS", "fast")];
        if let Err(e) = run_tests(
            &["--package", "gander", "--package", "gander-cli", "--tests"],
            &hidden,
            &skipped,
            &mut totals,
        ) {
            failures.push(format!("without yices: {e}"));
        }
        if let Err(e) = editor::test_extension(&skipped, &mut totals) {
            failures.push(format!("the editor extension: {e}"));
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

/// Runs tests with `cargo nextest` if it is installed, which leaves doc tests to `cargo test`.
fn run_tests(
    args: &[&str],
    env: &[(&str, &str)],
    skipped: &Path,
    totals: &mut Totals,
) -> Result<(), String> {
    let mut run = |subcommand: &[&str]| {
        let words = [subcommand, args].concat();
        println!("== cargo {} ==", words.join(" "));
        let mut command = cargo(&words);
        command.envs(env.iter().copied()).env("GANDER_SKIP_LOG", skipped);
        count_tests(command, totals)
    };
    let path = env::var_os("PATH").unwrap_or_default();
    if programs::find("cargo-nextest", &path).is_none() {
        return run(&["test", "--no-fail-fast"]);
    }
    let tests = run(&["nextest", "run", "--no-fail-fast"]);
    // `--tests` selects no doc tests.
    let docs = if args.contains(&"--tests") { Ok(()) } else { run(&["test", "--doc"]) };
    tests.and(docs)
}

/// Runs a test runner, passes its output on, and adds its counts to the totals.
fn count_tests(mut command: Command, totals: &mut Totals) -> Result<(), String> {
    // cargo prints its summaries to the standard output, nextest to the standard error.
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("the tests could not be started: {e}"))?;
    let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("the test runner has no output".into());
    };
    let errors = std::thread::spawn(move || {
        let mut counted = Totals::default();
        for_each_line(err, |line| {
            counted.add(line);
            let _ = writeln!(std::io::stderr(), "{line}");
        });
        counted
    });
    for_each_line(out, |line| {
        totals.add(line);
        let _ = writeln!(std::io::stdout(), "{line}");
    });
    let counted = errors.join().map_err(|_| "the output of the tests was lost".to_string())?;
    totals.passed += counted.passed;
    totals.failed += counted.failed;
    totals.ignored += counted.ignored;
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("tests failed ({status})")),
        Err(e) => Err(format!("the test runner was lost: {e}")),
    }
}

fn for_each_line(stream: impl std::io::Read, mut line: impl FnMut(&str)) {
    for bytes in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        line(&String::from_utf8_lossy(&bytes));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_both_test_runners_are_counted() {
        let mut totals = Totals::default();
        totals.add("test result: ok. 12 passed; 1 failed; 2 ignored; 0 measured; 3 filtered out;");
        totals.add("     Summary [   1.250s] 7 tests run: 5 passed (1 slow), 2 failed, 4 skipped");
        totals.add("test a_test_with 99 passed ... ok");
        assert_eq!((totals.passed, totals.failed, totals.ignored), (17, 3, 6));
    }
}
