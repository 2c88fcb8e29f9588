//! Answers as they come: `--json-stream`, and text on a terminal.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{COUNTER, Folder, skip, validate, within};

/// The first claim is easy. The second needs the factors of a product of two primes, which takes
/// longer than the test.
const EASY_AND_HARD: &str = "\
spec Mixed
var x: int
var y: int
start { x == 0, y == 0 }
step s { x := x + 1, y := y + 2 * x + 1 }
always hard: y != 1000000007 * 1000000009
always easy: x >= 0
";

/// The lines of a stream, each validated.
fn lines(text: &str) -> Vec<Value> {
    let parsed = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    let lines: Vec<Value> = text.lines().map(parsed).collect();
    validate(&lines, &["gander-stream.schema.json", "gander.schema.json"]);
    lines
}

/// What does not depend on time and on which engine was first.
fn without_chance(mut result: Value) -> Value {
    for field in ["seconds", "engine", "evidence", "rests_on", "shortest"] {
        result[field] = Value::Null;
    }
    result
}

/// The report that the lines about a file make up.
fn report(lines: &[Value], file: &str) -> Value {
    let about = |event: &str| {
        let event = json!(event);
        lines.iter().filter(move |l| l["event"] == event && l["file"] == file)
    };
    let end = about("end").next().unwrap();
    json!({
        "schema": "gander/1",
        "file": file,
        "results": about("result").map(|l| l["result"].clone()).collect::<Vec<_>>(),
        "diagnostics": end["diagnostics"],
        "schedules": end["schedules"],
    })
}

/// The results of a report by name, for comparison.
fn comparable(mut report: Value) -> Value {
    let mut results: Vec<Value> =
        report["results"].as_array().unwrap().iter().cloned().map(without_chance).collect();
    results.sort_by_key(|r| r["claim"].to_string());
    report["results"] = Value::Array(results);
    report
}

#[test]
fn the_lines_make_up_the_report() {
    needs_z3!();
    let vacuous = "spec V var x: int start { x > 1, x < 1 } step s {} always a: x > 0";
    let lustre = "node m(a: bool) returns (ok: bool);\nvar n: int;\nlet n = 0 -> pre n + 1; ok = n >= 0;\n--%PROPERTY ok;\ntel";
    let unknown = "spec U var x: int start { x == 0 } step s { x := x + 1 } eventually e: x > 9";
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write("vacuous.sts", vacuous);
    folder.write("count.lus", lustre);
    folder.write("unknown.sts", unknown);
    folder.write("bad.sts", "spec A vra x: int");
    let files = ["counter.sts", "vacuous.sts", "count.lus", "unknown.sts", "bad.sts", "none.sts"];
    for file in files {
        for more in [&[][..], &["--show-invariants"], &["--engine", "bmc,induction"]] {
            let run = |format| folder.run(&[&["check", format][..], more, &[file]].concat());
            let (streamed, whole) = (run("--json-stream"), run("--json"));
            assert_eq!((streamed.code, streamed.err.as_str()), (whole.code, ""), "{file}");
            let lines = lines(&streamed.out);
            let mut made = report(&lines, file);
            validate(std::slice::from_ref(&made), &["gander.schema.json"]);
            let mut whole: Value = whole.validated("gander.schema.json");
            if more.contains(&"--show-invariants") {
                // Which proof is found is a matter of luck.
                for report in [&mut made, &mut whole] {
                    for result in report["results"].as_array_mut().unwrap() {
                        result.as_object_mut().unwrap().remove("invariant");
                    }
                }
            }
            assert_eq!(comparable(made), comparable(whole), "{file} {more:?}");
            assert_eq!(lines[0]["event"], "start");
            let code = json!(streamed.code);
            assert_eq!(lines[lines.len() - 2]["exit_code"], code);
            assert_eq!(lines[lines.len() - 1], json!({ "event": "exit", "exit_code": code }));
        }
    }
}

#[test]
fn several_files_are_one_stream() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write("bad.sts", "spec A vra x: int");
    let ran = folder.run(&["check", "--json-stream", "counter.sts", "bad.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (2, ""));
    let lines = lines(&ran.out);
    let events = |file: &str| -> Vec<String> {
        let about = lines.iter().filter(|l| l["file"] == file && l["event"] != "progress");
        let mut events: Vec<String> =
            about.map(|l| l["event"].as_str().unwrap().to_string()).collect();
        events.dedup();
        events
    };
    assert_eq!(events("counter.sts"), ["start", "system", "result", "end"]);
    assert_eq!(events("bad.sts"), ["start", "end"]);
    let codes: Vec<&Value> = lines.iter().filter_map(|l| l.get("exit_code")).collect();
    assert_eq!(codes, [&json!(1), &json!(2), &json!(2)]);
    let ran = folder.run(&["check", "--json-stream", "--engine", "bmd", "counter.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (2, ""));
    assert_eq!(self::lines(&ran.out)[1]["diagnostics"][0]["code"], "usage");
}

/// The easy claim is there while the hard one is still being tried.
#[test]
fn an_easy_claim_does_not_wait_for_a_hard_one() {
    needs_z3!();
    let folder = Folder::with("mixed.sts", EASY_AND_HARD);
    let args = ["check", "--json-stream", "--checks", "none", "--timeout", "4", "mixed.sts"];
    let mut child = folder.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    while !text.contains("\"claim\":\"easy\",\"kind\":\"always\",\"verdict\"") {
        assert!(reader.read_line(&mut text).unwrap() > 0, "{text}");
    }
    assert!(child.try_wait().unwrap().is_none(), "{text}");
    assert!(!text.contains("\"event\":\"end\""), "{text}");
    while reader.read_line(&mut text).unwrap() > 0 {}
    let output = within(Duration::from_secs(60), child);
    assert_eq!(output.status.code(), Some(3));
    let lines = lines(&text);
    assert!(lines.iter().any(|l| l["event"] == "progress" && l["open"] == 1), "{text}");
    let verdicts: Vec<&Value> =
        lines.iter().filter(|l| l["event"] == "result").map(|l| &l["result"]["verdict"]).collect();
    assert_eq!(verdicts, ["holds", "unknown"]);
}

/// The check ends if the reader closes the stream.
#[test]
fn a_closed_stream_ends_the_check() {
    needs_z3!();
    let folder = Folder::with("mixed.sts", EASY_AND_HARD);
    let args = ["check", "--json-stream", "--checks", "none", "--timeout", "600", "mixed.sts"];
    let mut child = folder.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = within(Duration::from_secs(60), child);
    assert!(output.status.code().is_some());
}

/// What the command prints on a terminal; `None` if there is no program that makes one.
fn on_a_terminal(folder: &Folder, command: &str) -> Option<String> {
    let gander = env!("CARGO_BIN_EXE_gander");
    let output = Command::new("script")
        .args(["-q", "-e", "-c", &format!("stty cols 200; {gander} {command}"), "/dev/null"])
        .current_dir(&folder.path)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n"))
}

#[test]
fn a_terminal_shows_each_claim_once() {
    needs_z3!();
    let folder = Folder::with("mixed.sts", EASY_AND_HARD);
    folder.write("counter.sts", COUNTER);
    let Some(shown) =
        on_a_terminal(&folder, "check --checks none --engine bmc,induction --timeout 4 mixed.sts")
    else {
        return skip("a_terminal_shows_each_claim_once", "`script` was not found");
    };
    // The verdict, then the progress line, which is replaced in place, then the rest.
    let (easy, hard) = (shown.find("holds    easy").unwrap(), shown.find("unknown  hard").unwrap());
    let progress = shown.find("1 of 2 settled | trying hard | ").unwrap();
    assert!(easy < progress && progress < hard, "{shown}");
    for once in ["holds    easy", "unknown  hard", "1 holds, 1 unknown"] {
        assert_eq!(shown.matches(once).count(), 1, "{shown}");
    }
    // A longer check has the verdicts of the report in another order.
    let verdicts = |text: &str| {
        let verdict = |l: &str| {
            let line = l.rsplit('\r').next().unwrap_or(l).replace("\u{1b}[K", "");
            let words: Vec<&str> = line.split_whitespace().take(2).collect();
            line.starts_with(['h', 'f', 'u']).then(|| words.join(" "))
        };
        let mut verdicts: Vec<String> = text.lines().filter_map(verdict).collect();
        verdicts.sort();
        verdicts
    };
    let args = "check --engine bmc,induction counter.sts";
    let shown = on_a_terminal(&folder, args).unwrap();
    let plain = folder.run(&args.split(' ').collect::<Vec<_>>());
    assert_eq!(verdicts(&shown), verdicts(&plain.out));
    assert!(verdicts(&shown).len() > 5, "{shown}");
}
