//! `gander serve` in a real browser: editors/page/test/page.mjs drives Chromium with Playwright.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use gander::smt::Solvers;

fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(log) = std::env::var_os("GANDER_SKIP_LOG") {
        let file = fs::OpenOptions::new().create(true).append(true).open(Path::new(&log));
        file.and_then(|mut f| f.write_all(line.as_bytes())).unwrap();
    }
}

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found.into_iter().find(|file| file.is_file())
}

#[test]
fn the_page_works_in_a_browser() {
    const TEST: &str = "the_page_works_in_a_browser";
    if std::env::var("GANDER_TESTS").as_deref() != Ok("full") {
        return skip(TEST, "`cargo xtask test --full` runs it");
    }
    if Solvers::from_environment().z3().is_none() {
        return skip(TEST, "z3 was not found: run `gander setup`");
    }
    let Some(node) = found("node") else { return skip(TEST, "Node.js was not found") };
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let Some(browser) = browsers.into_iter().find_map(found) else {
        return skip(TEST, "no Chromium was found: `apt-get install chromium`");
    };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/page");
    if !page.join("node_modules/playwright-core").is_dir() {
        return skip(TEST, "Playwright was not found: `npm ci` in editors/page");
    }
    let folder = tempfile::Builder::new().prefix("gander-page-").tempdir().unwrap();
    let cache = folder.path().join("cache");
    let models = folder.path().join("models");
    fs::create_dir(&models).unwrap();
    let mut command = Command::new(node);
    command
        .arg(page.join("test/page.mjs"))
        .args([Path::new(env!("CARGO_BIN_EXE_gander")), &models, &browser])
        .stdin(Stdio::null());
    // Tokens are kept apart from those of the user; the solvers are those of the user.
    if let Some(solvers) = gander::smt::setup::cache_folder() {
        fs::create_dir(&cache).unwrap();
        symlink(solvers.join("solvers"), cache.join("solvers")).unwrap();
        command.env("GANDER_CACHE", &cache);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
}

/// `gander serve` with these arguments, with an empty cache, until it has printed a line.
fn started(args: &[&str], cache: &Path) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gander"));
    command.arg("serve").args(args).env("GANDER_CACHE", cache).env_remove("DISPLAY");
    command.env_remove("WAYLAND_DISPLAY").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_string())
}

#[test]
fn serve_prints_its_address_and_ends_by_a_signal() {
    let folder = tempfile::Builder::new().prefix("gander-page-").tempdir().unwrap();
    let (mut child, address) = started(&["--no-open", "--port", "0"], folder.path());
    let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
    let (port, token) = rest.split_once("/?token=").unwrap();
    assert!(token.len() == 32 && token.bytes().all(|b| b.is_ascii_hexdigit()), "{address}");
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let request = format!("GET /?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    // The port is taken.
    let mut second = Command::new(env!("CARGO_BIN_EXE_gander"));
    let second = second.args(["serve", "--no-open", "--port", port]).output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    let why = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(why.contains(&format!("cannot be served on port {port}")), "{why}");
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
