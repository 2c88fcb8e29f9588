//! The language server driven end to end by a real Neovim, with the configuration that people
//! paste.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const MODEL: &str = "\
spec Counter
var x: int
start { x == 0 }
step press when x < 3 { x := x + 1 }
step reset when x == 3 { x := 0 }
always small: x <= 3
always wrong: x <= 2
";

const EXPECTED: &str = "\
small holds
wrong fails
line 7: `wrong` fails: a run of 3 steps shows it
hover variable
definition on line 2
action did you mean `always`?
always wrong: x <= 3
small holds
wrong holds
0 diagnostics
always wrong: count <= 3
a core in the quickfix list
1 states
the window shows the step
the model has the focus
";

#[test]
fn neovim_finds_a_bug_and_repairs_it() {
    let there = Command::new("nvim").arg("--version").output();
    if !there.is_ok_and(|o| o.status.success()) {
        skip("neovim_finds_a_bug_and_repairs_it", "nvim was not found");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (model, out) = (folder.path().join("counter.sts"), folder.path().join("out.txt"));
    std::fs::write(&model, MODEL).unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = here.join("../../editors/neovim").canonicalize().unwrap();
    let mut child = Command::new("nvim")
        .args(["--headless", "--clean", "--cmd"])
        .arg(format!("set runtimepath^={}", runtime.display()))
        .args(["-c", &format!("luafile {}", here.join("tests/neovim.lua").display())])
        // Reached only after an error.
        .args(["-c", "cquit"])
        .env("GANDER_TEST_BINARY", env!("CARGO_BIN_EXE_gander"))
        .env("GANDER_TEST_MODEL", &model)
        .env("GANDER_TEST_OUT", &out)
        .env("XDG_STATE_HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(300) {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let said = std::fs::read_to_string(&out).unwrap_or_default();
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut lines: Vec<&str> = said.lines().collect();
    // Verdicts come in the order in which they are settled.
    for pair in [0..2, 7..9] {
        if let Some(pair) = lines.get_mut(pair) {
            pair.sort();
        }
    }
    assert_eq!(lines.join("\n") + "\n", EXPECTED, "{errors}");
}

/// Skips loudly: prints, and adds a line to the file that `GANDER_SKIP_LOG` names.
fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(log) = std::env::var_os("GANDER_SKIP_LOG") {
        let file = OpenOptions::new().create(true).append(true).open(Path::new(&log));
        file.and_then(|mut f| f.write_all(line.as_bytes())).unwrap();
    }
}
