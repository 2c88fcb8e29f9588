//! Tests of the editor extension (editors/vscode), if node and its packages can be had.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use gander_io::programs;

use crate::{Totals, root};

/// Time for one step: to fetch the packages, to run the tests.
const LONGEST: Duration = Duration::from_secs(900);

/// Fetches the packages of the extension and runs its tests, end to end if code-server is there.
/// What is missing is recorded as skipped.
pub fn test_extension(skipped: &Path, totals: &mut Totals) -> Result<(), String> {
    println!("\n== the editor extension ==");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let npm = programs::find("node", &path).and_then(|_| programs::find("npm", &path));
    let Some(npm) = npm else {
        return skip(skipped, "node and npm were not found");
    };
    let folder = root().join("editors").join("vscode");
    let step = |program: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(&folder).env("GANDER_SKIP_LOG", skipped);
        bounded(command)
    };
    if let Err(why) = step(&npm, &["ci", "--no-audit", "--no-fund"]) {
        return skip(skipped, &format!("its packages cannot be had ({why})"));
    }
    for script in ["test", "e2e"] {
        let output = step(&npm, &["run", script])?;
        let before = totals.passed;
        output.lines().for_each(|line| add(totals, line));
        // Without Chromium the end-to-end tests are recorded as skipped.
        if script == "test" && totals.passed == before {
            return Err("no test of the extension was run".to_string());
        }
    }
    Ok(())
}

/// Adds a line such as `# pass 12` of the summary of node's test runner. Skipped tests have
/// recorded themselves.
fn add(totals: &mut Totals, line: &str) {
    let mut words = line.split_whitespace();
    if let (Some("#"), Some(what), Some(Ok(n)), None) =
        (words.next(), words.next(), words.next().map(str::parse::<u64>), words.next())
    {
        match what {
            "pass" => totals.passed += n,
            "fail" => totals.failed += n,
            _ => {}
        }
    }
}

fn skip(log: &Path, why: &str) -> Result<(), String> {
    let line = format!("SKIPPED editors/vscode: {why}\n");
    print!("{line}");
    let file = OpenOptions::new().create(true).append(true).open(log);
    file.and_then(|mut f| f.write_all(line.as_bytes())).map_err(|e| e.to_string())
}

/// Runs a command for at most [`LONGEST`], and passes its output on.
fn bounded(mut command: Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("{name} could not be started: {e}"))?;
    let output = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is shown.
        let _ = output.map(|mut o| o.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let end = Instant::now() + LONGEST;
    let status = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => break status,
            None if Instant::now() > end => {
                // Its children end with their pipes.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{name} did not end in {} s", LONGEST.as_secs()));
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    };
    let text = reader.join().unwrap_or_default();
    print!("{text}");
    if status.success() { Ok(text) } else { Err(format!("{name} failed ({status})")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_node_are_counted() {
        let mut totals = Totals::default();
        for line in [
            "# tests 9",
            "# pass 7",
            "# fail 2",
            "# skipped 1",
            "# Subtest: pass 3",
            "ok 1 - pass 5",
        ] {
            add(&mut totals, line);
        }
        assert_eq!((totals.passed, totals.failed, totals.ignored), (7, 2, 0));
    }
}
