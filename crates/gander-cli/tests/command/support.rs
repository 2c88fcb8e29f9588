//! Running the built command in a folder of its own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use gander::engines::engines;
use gander::smt::Solvers;
use tempfile::TempDir;

/// What a run of the command gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Asserts that standard output has each of these texts.
    #[track_caller]
    pub fn prints(&self, texts: &[&str]) {
        texts.iter().for_each(|t| assert!(self.out.contains(t), "`{t}` in\n{}", self.out));
    }

    /// Asserts that standard error has each of these texts.
    #[track_caller]
    pub fn complains(&self, texts: &[&str]) {
        texts.iter().for_each(|t| assert!(self.err.contains(t), "`{t}` in\n{}", self.err));
    }

    /// The output as JSON, after validating it against a published schema.
    pub fn validated(&self, schema: &str) -> serde_json::Value {
        let value = serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("{e}: {} {}", self.out, self.err));
        validate(std::slice::from_ref(&value), &[schema]);
        value
    }
}

/// Validates values against the first of the published schemas, which may refer to the others.
pub fn validate(values: &[serde_json::Value], schemas: &[&str]) {
    let mut compiler = boon::Compiler::new();
    for schema in schemas {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(schema);
        let published = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        compiler.add_resource(schema, published).unwrap();
    }
    let mut compiled = boon::Schemas::new();
    let index = compiler.compile(schemas[0], &mut compiled).unwrap();
    for value in values {
        if let Err(error) = compiled.validate(value, index) {
            panic!("{error:#} in {value:#}");
        }
    }
}

/// What `gander check` gives for a model in a file of this name.
pub fn check(name: &str, model: &str) -> Ran {
    Folder::with(name, model).run(&["check", name])
}

/// A folder that is removed at the end.
pub struct Folder {
    pub path: PathBuf,
    /// Removes the folder when it is dropped.
    _folder: TempDir,
}

impl Folder {
    pub fn new() -> Folder {
        let folder = tempfile::Builder::new().prefix("gander-command-").tempdir().unwrap();
        Folder { path: folder.path().to_path_buf(), _folder: folder }
    }

    /// A folder with one file.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Folder {
        let folder = Folder::new();
        folder.write(name, content);
        folder
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path.join(name), content).unwrap();
    }

    /// Writes a program that can be run. Another process does it: while this one has a program open
    /// for writing, so have the children that other tests start, and it could not be run ("text
    /// file busy").
    pub fn write_program(&self, name: &str, content: impl AsRef<[u8]>) {
        let text = self.path.join(format!("{name}.text"));
        fs::write(&text, content).unwrap();
        let made = Command::new("install")
            .args(["-m", "755"])
            .arg(&text)
            .arg(self.path.join(name))
            .status();
        assert!(made.unwrap().success());
        fs::remove_file(text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap()
    }

    /// Names of the files in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.path)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gander"));
        command.args(args).current_dir(&self.path).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).output().unwrap())
    }

    pub fn run_with_input(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The command may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input);
        ran(child.wait_with_output().unwrap())
    }
}

/// What a child gave, which must end within a time that is far longer than it needs.
pub fn within(bound: Duration, child: Child) -> Output {
    let pid = child.id().to_string();
    let (done, ended) = channel();
    std::thread::spawn(move || {
        let _ = done.send(child.wait_with_output());
    });
    ended.recv_timeout(bound).map(Result::unwrap).unwrap_or_else(|_| {
        let _ = Command::new("kill").args(["-KILL", &pid]).status();
        panic!("still running after {bound:?}");
    })
}

fn ran(output: std::process::Output) -> Ran {
    let text = |bytes: Vec<u8>| without_chance(&String::from_utf8(bytes).unwrap());
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Times and the names of engines are no part of what is tested.
fn without_chance(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |l| (l, "\n"));
        let time = body.strip_suffix(" s").and_then(|b| b.rsplit_once(", "));
        let body = match time {
            Some((rest, number)) if number.parse::<f64>().is_ok() => rest,
            _ => body,
        };
        // Several engines find the same answer; who is first is a matter of luck.
        let by = engines().iter().find_map(|e| body.strip_suffix(&format!(", {}", e.name)));
        out.push_str(by.unwrap_or(body));
        out.push_str(end);
    }
    out
}

/// Returns from a test if z3 is missing, and logs that under the name of the test.
macro_rules! needs_z3 {
    () => {
        fn here() {}
        // The path of `here` ends with the name of the test and its own.
        let path = std::any::type_name_of_val(&here);
        if !crate::support::have_z3(path.rsplit("::").nth(1).unwrap_or(path)) {
            return;
        }
    };
}

/// True if z3 is there. If not, the test is logged as skipped.
pub fn have_z3(test: &str) -> bool {
    let there = Solvers::from_environment().z3().is_some();
    if !there {
        skip(test, "z3 was not found: run `gander setup`");
    }
    there
}

/// Skips loudly: prints, and adds a line to the file that `GANDER_SKIP_LOG` names.
pub fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(log) = std::env::var_os("GANDER_SKIP_LOG") {
        let file = fs::OpenOptions::new().create(true).append(true).open(Path::new(&log));
        file.and_then(|mut f| f.write_all(line.as_bytes())).unwrap();
    }
}

/// A counter: everything about it is determined, so every solver gives the same runs.
pub const COUNTER: &str = "\
spec Counter
var x: int
var seen: bool
start -> Low { x == 0, not seen }
node Low {
  up when x < 3 { x := x + 1 }
  rise -> High when x == 3 { seen := true }
}
node High {
  down -> Low { x := 0 }
}
always    small:   x <= 3
always    unseen:  not seen
reachable high:    in High
reachable twice:   rise then rise
reachable far:     x > 3
";
