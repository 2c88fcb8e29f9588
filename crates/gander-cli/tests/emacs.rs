//! The language server driven end to end by a real Emacs, with the configuration that people paste;
//! and the configurations name the languages as gander does.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
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
mode gander-sts-mode
managed t
gander [verdict]: `wrong` fails: a run of 3 steps shows it
check t
an error is shown
";

fn editors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors").canonicalize().unwrap()
}

#[test]
fn emacs_shows_verdicts_and_errors() {
    const TEST: &str = "emacs_shows_verdicts_and_errors";
    // Eglot is part of Emacs 29, and a package before.
    let eglot = "(progn (package-initialize) (require 'eglot))";
    let there = Command::new("emacs").args(["--batch", "--no-site-file", "--eval", eglot]).output();
    if !there.is_ok_and(|o| o.status.success()) {
        return skip(
            TEST,
            "Emacs with Eglot was not found: `apt-get install emacs-nox elpa-eglot`",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let (model, out) = (folder.path().join("counter.sts"), folder.path().join("out.txt"));
    std::fs::write(&model, MODEL).unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_BIN_EXE_gander")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(program.to_path_buf()).chain(std::env::split_paths(&path));
    let mut child = Command::new("emacs")
        .args(["--batch", "--no-site-file", "-l"])
        .arg(here.join("tests/emacs.el"))
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("HOME", folder.path())
        // The cache of solvers is below the home folder.
        .envs(gander::smt::setup::cache_folder().map(|cache| ("GANDER_CACHE", cache)))
        .env("GANDER_TEST_CONFIGURATION", editors().join("emacs/gander.el"))
        .env("GANDER_TEST_MODEL", &model)
        .env("GANDER_TEST_OUT", &out)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
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
    assert_eq!(said, EXPECTED, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn configurations_have_the_extensions_of_the_languages() {
    let helix = std::fs::read_to_string(editors().join("helix/languages.toml")).unwrap();
    let emacs = std::fs::read_to_string(editors().join("emacs/gander.el")).unwrap();
    for language in ["sts", "lustre", "script"] {
        let known = gander::lang::LANGUAGES.iter().find(|l| l.name == language).unwrap();
        let quoted: Vec<String> = known.extensions.iter().map(|e| format!("\"{e}\"")).collect();
        let line = format!("file-types = [{}]", quoted.join(", "));
        let block = helix.split("[[language]]").find(|b| b.contains(&line));
        let block = block.unwrap_or_else(|| panic!("no language has {line}"));
        assert!(block.contains(&format!("name = \"{language}\"")), "{block}");
        assert!(block.contains("language-servers = [\"gander\"]"), "{block}");
        let extensions = match known.extensions {
            [one] => one.to_string(),
            several => format!("\\\\({}\\\\)", several.join("\\\\|")),
        };
        let line = format!("'(\"\\\\.{extensions}\\\\'\" . gander-{language}-mode)");
        assert!(emacs.contains(&line), "no mode for {line}");
    }
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
