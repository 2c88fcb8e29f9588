//! The built command with real processes: gander on three models, and scripts that misbehave.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path =
            std::env::temp_dir().join(format!("gander-bench-test-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gander-bench")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The `gander` command, built now if it is not there; it belongs to another package.
fn gander() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "gander-cli"])
        .status()
        .unwrap();
    assert!(built.success());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("debug/gander");
    assert!(path.is_file(), "{}", path.display());
    path
}

fn scores(csv: &str) -> Vec<String> {
    let mut lines: Vec<String> = csv
        .lines()
        .skip(1)
        .map(|l| {
            let fields: Vec<&str> = l.split(',').collect();
            [fields[0], fields[3], fields[5], fields[6], fields[7]].join(" ")
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn the_command_gander_is_measured_on_three_models() {
    let scratch = Scratch::new("own");
    let out = scratch.0.join("out");
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/manifest.tsv");
    let program = format!("gander={}", gander().display());
    let arguments = [
        "run",
        models.to_str().unwrap(),
        "--tools",
        "gander,kind2-that-is-not-there",
        "--config",
        scratch.0.join("tools.toml").to_str().unwrap(),
        "--variant",
        "shallow=gander --engine bmc --max-depth 1",
        "--program",
        &program,
        "--timeout",
        "60",
        "--jobs",
        "2",
        "--out",
        out.to_str().unwrap(),
    ]
    .map(str::to_string);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    scratch.write(
        "tools.toml",
        "[[tool]]\nlabel = 'kind2-that-is-not-there'\nprogram = 'no-such-kind2'\nreader = 'kind2'\n",
    );
    let first = bench(&arguments);
    let (stdout, stderr) = (text(&first.stdout), text(&first.stderr));
    assert_eq!(first.status.code(), Some(0), "{stdout}\n{stderr}");
    assert!(stderr.contains("SKIPPED: program `no-such-kind2`"), "{stderr}");
    assert!(stderr.contains("6 jobs, 0 of them done already"), "{stderr}");
    assert!(stdout.contains("gander: 3 of 3 solved, 0 wrong, 0 crashes"), "{stdout}");
    assert_eq!(
        scores(&scratch.read("out/results.csv")),
        [
            "counter.sts bounded gander valid solved",
            "counter.sts bounded shallow unknown gave up",
            "counter.sts small gander invalid solved",
            "counter.sts small shallow unknown gave up",
            "steady.sts - gander valid solved",
            "steady.sts - shallow unknown gave up",
            "wrong.sts - gander unknown solved",
            "wrong.sts - shallow unknown solved",
        ]
    );
    let report = scratch.read("out/report.md");
    assert!(report.contains("- **not run**: program `no-such-kind2`"), "{report}");
    assert!(report.contains("shallow: bounded (valid), small (invalid): gave up"), "{report}");
    assert!(scratch.read("out/plots/scatter-shallow-gander.svg").starts_with("<svg"));

    // A second run has nothing to do; after a cut in the last line it repeats that job.
    let results = scratch.read("out/results.jsonl");
    let again = bench(&arguments);
    assert!(
        text(&again.stderr).contains("6 jobs, 6 of them done already"),
        "{}",
        text(&again.stderr)
    );
    assert_eq!(scratch.read("out/results.jsonl"), results);
    scratch.write("out/results.jsonl", &results[..results.len() - 20]);
    let repaired = bench(&arguments);
    assert!(
        text(&repaired.stderr).contains("6 jobs, 5 of them done already"),
        "{}",
        text(&repaired.stderr)
    );
    assert_eq!(scratch.read("out/results.jsonl").lines().count(), 6);

    let out = out.to_str().unwrap();
    let compared = bench(&["compare", out, out, "--tools", "shallow", "gander"]);
    let compared = text(&compared.stdout);
    assert!(
        compared.contains(
            "Newly solved: 3\n- counter.sts bounded\n- counter.sts small\n- steady.sts -"
        ),
        "{compared}"
    );
    assert!(compared.contains("Lost: 0"), "{compared}");
}

/// Runs each script, by name and text, as a job of `sh`, and gives its scores.
fn scripts(scratch: &Scratch, scripts: &[(&str, &str)], options: &[&str]) -> (Output, Vec<String>) {
    let mut manifest =
        "path\tlanguage\tproperty\texpected\tsource_set\tverdict_evidence\n".to_string();
    for (name, script) in scripts {
        scratch.write(name, script);
        manifest += &format!("{name}\tsh\t-\tvalid\town\t\n");
    }
    scratch.write("manifest.tsv", &manifest);
    scratch.write(
        "tools.toml",
        "[[tool]]\nlabel='sh'\nprogram='sh'\narguments=['{file}']\nreader='horn'\n",
    );
    let path = |name: &str| scratch.0.join(name).to_str().unwrap().to_string();
    let mut arguments = vec![
        "run".to_string(),
        path("manifest.tsv"),
        "--tools=sh".into(),
        "--config".into(),
        path("tools.toml"),
    ];
    arguments.extend(["--out".to_string(), path("out")]);
    arguments.extend(options.iter().map(|o| (*o).to_string()));
    let output = bench(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let scores = scores(&scratch.read("out/results.csv"));
    (output, scores)
}

#[test]
fn crashes_and_wrong_answers_are_reported() {
    let scratch = Scratch::new("loud");
    let all = [
        ("crash", "kill -SEGV $$"),
        ("panic", "echo sat; exit 101"),
        ("right", "echo sat"),
        ("wrong", "echo unsat"),
    ];
    let (output, scores) = scripts(&scratch, &all, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).contains("sh: 2 of 4 solved, 1 wrong, 2 crashes"),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(
        scores,
        [
            "crash - sh unknown CRASH",
            "panic - sh valid solved",
            "right - sh valid solved",
            "wrong - sh invalid WRONG"
        ]
    );
    assert!(scratch.read("out/files.csv").contains(",,11,,"), "the signal is kept");
}

#[test]
fn nothing_outlives_its_job() {
    let scratch = Scratch::new("time");
    // The child leaves the process group of its parent, as solvers do, and ignores SIGTERM.
    let script = format!(
        "(set -m; sh -c 'trap \"\" TERM INT; echo $$ > {}; while :; do sleep 1; done' & ) ; while :; do sleep 1; done",
        scratch.0.join("pid").display()
    );
    let (output, scores) = scripts(&scratch, &[("forever", &script)], &["--timeout", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(scores, ["forever - sh unknown timeout"]);
    let pid = scratch.read("pid");
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    assert!(
        stat.is_err() || stat.is_ok_and(|s| s.contains(") Z ")),
        "process {pid} is still there"
    );
}

#[test]
fn memory_is_limited() {
    let scratch = Scratch::new("memory");
    let script = "head -c 400000000 /dev/zero | tail -c 300000000 | wc -c; echo sat";
    let (_, scores) =
        scripts(&scratch, &[("hungry", script)], &["--memory", "60", "--timeout", "60"]);
    assert_eq!(scores, ["hungry - sh unknown memout"]);
}

#[test]
fn jobs_are_repeated_and_sampled() {
    let scratch = Scratch::new("repeat");
    let all = [("a", "echo sat"), ("b", "echo sat"), ("c", "echo sat")];
    let (output, _) = scripts(&scratch, &all, &["--repeat", "3"]);
    assert!(
        text(&output.stderr).contains("9 jobs, 0 of them done already"),
        "{}",
        text(&output.stderr)
    );
    let (output, scores) =
        scripts(&scratch, &all, &["--repeat", "3", "--sample", "2", "--seed", "5"]);
    assert!(
        text(&output.stderr).contains("6 jobs, 6 of them done already"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(scores.len(), 2);
}

#[test]
fn errors_in_the_request_are_explained() {
    let scratch = Scratch::new("usage");
    let manifest = scratch.0.join("none.tsv");
    let out = scratch.0.join("out");
    let missing = bench(&["run", manifest.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("none.tsv"));
    let empty = bench(&["report", scratch.0.to_str().unwrap()]);
    assert_eq!(empty.status.code(), Some(2));
    assert!(text(&empty.stderr).contains("request.json"));
}
