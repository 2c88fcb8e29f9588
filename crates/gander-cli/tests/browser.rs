//! The pages that `gander explain` and `gander report` write, in a real browser: scripts run,
//! clicks and keys do what they should, nothing is reported on the console.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gander::smt::Solvers;
use tempfile::TempDir;

const SWITCH: &str = include_str!("../../../examples/lustre/altitude_switch.lus");

const PUMP: &str = "\
node pump(go, stop: bool; speed: int) returns (total: int; small: bool);
let
  assert 0 <= speed and speed <= 10;
  total = if go and not stop then speed + (0 -> pre total) else 0;
  small = total < 15;
  --%PROPERTY small;
tel
";

const BANK: &str = "\
spec Bank
// <script>window.hacked = true</script>
var balance: int
start { balance == 50 }
step withdraw(amount: int) when amount > 0 and amount <= balance { balance := balance - amount - 1 }
always solvent: balance >= 0
reachable poor: balance == 3
";

/// A folder that is removed at the end.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::Builder::new().prefix("gander-browser-").tempdir().unwrap())
    }

    /// Runs the command, which must write a page.
    fn page(&self, model: &str, source: &str, args: &[&str]) -> PathBuf {
        self.page_of("explain", model, source, args)
    }

    fn page_of(&self, command: &str, model: &str, source: &str, args: &[&str]) -> PathBuf {
        fs::write(self.0.path().join(model), source).unwrap();
        let page = self.0.path().join(format!("{model}.html"));
        let sub_command = command;
        let mut command = Command::new(env!("CARGO_BIN_EXE_gander"));
        command
            .arg(sub_command)
            .args(args)
            .arg(&page)
            .arg(model)
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(page.is_file(), "{}", String::from_utf8_lossy(&output.stderr));
        page
    }
}

fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(log) = std::env::var_os("GANDER_SKIP_LOG") {
        let file = fs::OpenOptions::new().create(true).append(true).open(Path::new(&log));
        file.and_then(|mut f| f.write_all(line.as_bytes())).unwrap();
    }
}

/// A browser; none, said loudly, if there is none or no solver to make pages with.
fn browser(test: &str) -> Option<&'static str> {
    if Solvers::from_environment().z3().is_none() {
        skip(test, "z3 was not found: run `gander setup`");
        return None;
    }
    let works = |program: &&str| {
        let version = Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        version.is_ok_and(|s| s.success())
    };
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(works);
    if found.is_none() {
        skip(test, "no Chromium was found: `apt-get install chromium`");
    }
    found
}

/// The document behind an address, after its scripts ran.
fn dom(browser: &str, folder: &Folder, page: &Path, hash: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let profile =
        folder.0.path().join(format!("profile-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--dump-dom", &format!("file://{}{hash}", page.display())])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let complaints = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        err.read_to_end(&mut bytes).map(|_| String::from_utf8_lossy(&bytes).into_owned())
    });
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(180) {
            let _ = child.kill();
            panic!("the browser did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let (text, complaints) = (reader.join().unwrap().unwrap(), complaints.join().unwrap().unwrap());
    let console: Vec<&str> = complaints.lines().filter(|l| l.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    text
}

#[test]
fn the_timeline_answers_clicks_and_keys() {
    let Some(browser) = browser("the_timeline_answers_clicks_and_keys") else { return };
    let folder = Folder::new();
    let page = folder.page("pump.lus", PUMP, &["--contrast", "--html"]);
    let text = fs::read_to_string(&page).unwrap();
    assert!(
        !text.contains("http:") && !text.contains("https:") && !text.contains("src="),
        "it needs nothing else"
    );
    // A click on a column.
    let shown = dom(browser, &folder, &page, "#select=1");
    assert!(shown.contains("data-ready=\"yes\"") && shown.contains("data-errors=\"0\""), "{shown}");
    assert!(shown.contains("data-step=\"1\"") && shown.contains("<h3>Step 1</h3>"), "{shown}");
    assert!(shown.contains("class=\"forced\""), "what forces it is marked in the source: {shown}");
    // The end is chosen at first; a key goes to the step before.
    let shown = dom(browser, &folder, &page, "#key=ArrowLeft&point=1");
    assert!(shown.contains("data-step=\"0\""), "{shown}");
    assert!(shown.contains("data-element=\"e") && shown.contains(" here\""), "{shown}");
}

#[test]
fn nothing_of_the_model_is_a_script() {
    let Some(browser) = browser("nothing_of_the_model_is_a_script") else { return };
    let folder = Folder::new();
    let page = folder.page("bank.sts", BANK, &["--html"]);
    let shown = dom(browser, &folder, &page, "#run=1");
    assert!(shown.contains("data-ready=\"yes\"") && shown.contains("data-run=\"1\""), "{shown}");
    assert!(shown.contains("&lt;script&gt;window.hacked"), "{shown}");
    assert!(!shown.contains("<script>window.hacked"), "{shown}");
}

#[test]
fn the_matrix_marks_the_core_of_a_property() {
    let Some(browser) = browser("the_matrix_marks_the_core_of_a_property") else { return };
    let folder = Folder::new();
    let page = folder.page("switch.lus", SWITCH, &["--matrix", "html", "-o"]);
    // The page has no test of its own for clicks: one is added at its end.
    let text = fs::read_to_string(&page).unwrap();
    let click = "<script>document.querySelector('th[data-p] button').click()</script></body>";
    fs::write(&page, text.replace("</body>", click)).unwrap();
    let shown = dom(browser, &folder, &page, "");
    assert!(shown.contains("<b id=\"what\">on_p</b>"), "{shown}");
    assert!(shown.contains("<th data-p=\"0\" class=\"on\">"), "{shown}");
}

#[test]
fn mutants_that_no_property_kills_are_highlighted() {
    let Some(browser) = browser("mutants_that_no_property_kills_are_highlighted") else { return };
    let folder = Folder::new();
    let tank = "spec Tank\nvar level: int\nstart { level == 0 }\nstep fill(by: int) when by < 3 and level < 10 { level := level + 1 }\n\
                always safe: level <= 10\n";
    let page = folder.page("tank.sts", tank, &["--mutation=html", "-o"]);
    let count = "<script>document.body.dataset.counts=['tbody tr.first','td.unnoticed','td.fate.killed','th small']\
                 .map(function(s){return document.querySelectorAll(s).length>0}).join()</script></body>";
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("</body>", count)).unwrap();
    let shown = dom(browser, &folder, &page, "");
    assert!(shown.contains("data-counts=\"true,true,true,true\""), "{shown}");
    assert!(
        shown.contains("<code>by &lt; 3</code>"),
        "parameters have the names that the author gave them: {shown}"
    );
}

const DOOR: &str = "\
spec Door
// <script>window.hacked = true</script>
var opened: int
start -> Shut { opened == 0 }
node Shut { open -> Open { opened := opened + 1 } }
node Open { close -> Shut }
always rarely: opened < 3
always counted: opened >= 0
";

#[test]
fn a_report_marks_the_chosen_step_on_the_graph() {
    let Some(browser) = browser("a_report_marks_the_chosen_step_on_the_graph") else { return };
    let folder = Folder::new();
    let page = folder.page_of("report", "door.sts", DOOR, &["-o"]);
    let text = fs::read_to_string(&page).unwrap();
    assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("src="));
    let act = "<script>document.querySelector('.run thead [data-at=\"1\"]').click();\
        var run=document.querySelector('.run');run.focus();\
        document.dispatchEvent(new KeyboardEvent('keydown',{key:'ArrowRight',bubbles:true}));\
        document.body.dataset.now=document.querySelectorAll('.path .now').length</script></body>";
    fs::write(&page, text.replace("</body>", act)).unwrap();
    let shown = dom(browser, &folder, &page, "");
    assert!(shown.contains("data-ready=\"yes\"") && shown.contains("data-errors=\"0\""), "{shown}");
    assert!(
        shown.contains("data-step=\"2\"") && shown.contains("<h4>Step 2 close Shut</h4>"),
        "{shown}"
    );
    assert!(shown.contains("data-now=\"2\""), "an edge and a node: {shown}");
    assert!(!shown.contains("<script>window.hacked"), "{shown}");
}
