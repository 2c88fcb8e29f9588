//! Hostile folders: planted links, pipes and devices, names that collide, full disks.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{COUNTER, Folder, within};

fn make_pipe(folder: &Folder, name: &str) {
    let made = Command::new("mkfifo").arg(folder.path.join(name)).status();
    assert!(made.unwrap().success());
}

/// What the command gave; it must not wait for anything.
fn at_once(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let mut command = folder.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = within(Duration::from_secs(60), command.spawn().unwrap());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn pipes_devices_and_folders_end_in_an_error_at_once() {
    let folder = Folder::with("counter.sts", COUNTER);
    make_pipe(&folder, "pipe.sts");
    make_pipe(&folder, "pipe.json");
    make_pipe(&folder, "pipe.lus");
    make_pipe(&folder, "pipe.toml");
    fs::create_dir(folder.path.join("folder.sts")).unwrap();
    symlink("/dev/zero", folder.path.join("zero.sts")).unwrap();
    folder.write(
        "includes.lus",
        "include \"pipe.lus\"\nnode main(x: bool) returns (y: bool); let y = x; --%PROPERTY y or not y;\ntel\n",
    );
    folder.write(
        "folder.lus",
        "include \"folder.sts\"\nnode main(x: bool) returns (y: bool); let y = x; --%PROPERTY y or not y;\ntel\n",
    );
    for (args, expected) in [
        (&["check", "pipe.sts"][..], "this is a pipe, not a regular file"),
        (&["check", "--timeout", "1", "pipe.sts"], "this is a pipe, not a regular file"),
        (&["check", "zero.sts"], "this is a device, not a regular file"),
        (&["check", "/dev/zero"], "this is a device, not a regular file"),
        (&["check", "folder.sts"], "this is a directory, not a file"),
        (&["check", "includes.lus"], "this is a pipe, not a regular file"),
        (&["check", "folder.lus"], "this is a directory, not a file"),
        (&["certify", "pipe.sts", "pipe.json"], "this is a pipe, not a regular file"),
        (&["certify", "counter.sts", "pipe.json"], "this is a pipe, not a regular file"),
        (&["certify", "counter.sts", "/dev/zero"], "this is a device, not a regular file"),
        (&["explain", "pipe.sts"], "this is a pipe, not a regular file"),
        (&["impact", "counter.sts", "pipe.sts"], "this is a pipe, not a regular file"),
        (&["simulate", "pipe.sts"], "this is a pipe, not a regular file"),
        (
            &["simulate", "counter.sts", "--script", "pipe.sts"],
            "this is a pipe, not a regular file",
        ),
        (
            &["simulate", "counter.sts", "--script", "/dev/zero"],
            "this is a device, not a regular file",
        ),
        (&["graph", "pipe.sts"], "this is a pipe, not a regular file"),
        (&["export", "--to", "smv", "pipe.sts"], "this is a pipe, not a regular file"),
        (&["fmt", "pipe.sts"], "this is a pipe, not a regular file"),
        (
            &["check", "--portfolio", "pipe.toml", "counter.sts"],
            "this is a pipe, not a regular file",
        ),
        (&["bench", "--timeout", "5", "pipe.sts"], "this is a pipe, not a regular file"),
    ] {
        let (code, err) = at_once(&folder, args);
        assert_eq!(code, Some(2), "{args:?}: {err}");
        assert!(err.contains(expected), "{args:?}: {err}");
    }
}

#[test]
fn a_pipe_that_the_shell_hands_over_is_read() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let ran =
        folder.run_with_input(&["check", "--property", "small", "/dev/stdin"], COUNTER.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn cached_pipes_and_links_are_passed_over() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let args = ["check", "--property", "small", "--cache", "cache", "counter.sts"];
    assert_eq!(folder.run(&args).code, 0);
    let entries: Vec<_> =
        fs::read_dir(folder.path.join("cache")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(!entries.is_empty());
    folder.write("victim", "old");
    for entry in &entries {
        fs::remove_file(entry).unwrap();
        let made = Command::new("mkfifo").arg(entry).status();
        assert!(made.unwrap().success());
    }
    let (code, err) = at_once(&folder, &args);
    // The entry cannot be written either: that is worth a warning, and no more.
    assert_eq!(code, Some(0), "{err}");
    for entry in &entries {
        fs::remove_file(entry).unwrap();
        symlink(folder.path.join("victim"), entry).unwrap();
    }
    assert_eq!(folder.run(&args).code, 0);
    assert_eq!(folder.read("victim"), "old");
    assert!(entries.iter().all(|e| fs::symlink_metadata(e).unwrap().is_file()));
}

#[test]
fn planted_links_are_not_written_through() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write("victim", "old");
    folder
        .write("main.lus", "node main(x: bool) returns (y: bool); let y = x; check \"p\" y; tel\n");
    let plant = |name: &str| {
        let path = folder.path.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).unwrap();
        }
        symlink(folder.path.join("victim"), path).unwrap();
    };
    // In folders that we fill a link is replaced.
    for (link, args) in [
        (
            "proofs/counter.small.evidence.json",
            &["check", "--save-evidence", "proofs", "counter.sts"][..],
        ),
        ("runs/main+lus.p.csv", &["check", "--save-traces", "runs", "main.lus"]),
        ("why/main+lus.p.vcd", &["explain", "--save-traces", "why", "main.lus"]),
        ("bench/results.csv", &["bench", "--timeout", "5", "--out", "bench", "counter.sts"]),
    ] {
        plant(link);
        let ran = folder.run(args);
        assert_eq!(folder.read("victim"), "old", "{args:?}");
        let planted = fs::symlink_metadata(folder.path.join(link)).unwrap();
        assert!(planted.is_file(), "{args:?}: {} {}", ran.out, ran.err);
    }
    plant("smt/certify-small-0.smt2");
    for n in 0..20 {
        for name in ["bmc", "induction", "pdr", "check"] {
            plant(&format!("smt/{name}-small-{n}.smt2"));
        }
    }
    folder.run(&["check", "--log-smt", "smt", "--property", "small", "counter.sts"]);
    assert_eq!(folder.read("victim"), "old");
    plant("bench2/results.jsonl");
    assert_eq!(folder.run(&["bench", "--timeout", "5", "--out", "bench2", "counter.sts"]).code, 2);
    assert_eq!(folder.read("victim"), "old");
    // A link that the user names is refused.
    for (link, args) in [
        ("o.smv", &["export", "--to", "sts", "counter.sts", "-o", "o.smv"][..]),
        ("o.svg", &["graph", "counter.sts", "-o", "o.svg"]),
        ("o.html", &["explain", "counter.sts", "--html", "o.html"]),
        ("o.txt", &["explain", "counter.sts", "-o", "o.txt"]),
        ("o.csv", &["bench", "--timeout", "5", "--csv", "o.csv", "counter.sts"]),
    ] {
        plant(link);
        let ran = folder.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(ran.err.contains("symbolic link"), "{args:?}: {}", ran.err);
    }
    plant("run.txt");
    let ran = folder.run_with_input(&["simulate", "counter.sts"], b"random 2\nsave run.txt\n");
    assert!(ran.err.contains("symbolic link"), "{}", ran.err);
    assert_eq!(folder.read("victim"), "old");
}

#[test]
fn outputs_can_still_go_to_pipes_and_devices() {
    let folder = Folder::with("counter.sts", COUNTER);
    let ran = folder.run(&["graph", "counter.sts", "--format", "dot", "-o", "/dev/stdout"]);
    assert!(ran.code == 0 && ran.out.starts_with("digraph"), "{}", ran.err);
    assert_eq!(folder.run(&["graph", "counter.sts", "-o", "/dev/null"]).code, 0);
}

#[test]
fn evidence_of_different_claims_and_models_has_different_files() {
    needs_z3!();
    let folder = Folder::new();
    let long = "a".repeat(80);
    let claims = ["p/q", "p q", "p_q", &format!("{long}1"), &format!("{long}2")];
    let mut text = String::from(
        "(declare-fun x () Bool)\n(declare-fun y () Bool)\n(define-fun .x () Bool (! x :next y))\n\
         (define-fun .init () Bool (! x :init true))\n(define-fun .trans () Bool (! (= y x) :trans true))\n",
    );
    for (n, claim) in claims.iter().enumerate() {
        text.push_str(&format!(
            "(define-fun |{claim}| () Bool (! (or x (= {n} 100)) :invar-property {n}))\n"
        ));
    }
    for model in ["x/m.vmt", "y/m.vmt"] {
        fs::create_dir_all(folder.path.join(model).parent().unwrap()).unwrap();
        folder.write(model, &text);
        let ran = folder.run(&["check", "--save-evidence", "proofs", model]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let files: Vec<_> =
        fs::read_dir(folder.path.join("proofs")).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(files.len(), 2 * claims.len(), "{files:?}");
    for file in files {
        let ran = folder.run(&["certify", "x/m.vmt", &file.to_string_lossy()]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
}

#[test]
fn includes_stay_below_the_folder_of_the_model() {
    needs_z3!();
    let folder = Folder::new();
    for name in ["model/below", "library", "other"] {
        fs::create_dir_all(folder.path.join(name)).unwrap();
    }
    let secret = folder.path.join("other/secret.lus");
    folder.write("other/secret.lus", "secret words\n");
    folder.write("library/types.lus", "type T = int;\n");
    folder.write("model/below/types.lus", "type T = int;\n");
    symlink(&secret, folder.path.join("model/link.lus")).unwrap();
    symlink(folder.path.join("other"), folder.path.join("model/folder")).unwrap();
    let model = |include: &str| {
        format!(
            "include \"{include}\"\nnode main(x: T) returns (y: T); let y = x; check \"p\" y = x; tel\n"
        )
    };
    folder.write("model/good.lus", model("below/types.lus"));
    assert_eq!(folder.run(&["check", "model/good.lus"]).code, 0);
    for include in [
        "../other/secret.lus",
        &secret.to_string_lossy(),
        "link.lus",
        "folder/secret.lus",
        "below/../../other/secret.lus",
        "/etc/passwd",
    ] {
        folder.write("model/bad.lus", model(include));
        let ran = folder.run(&["check", "model/bad.lus"]);
        assert_eq!(ran.code, 2, "{include}");
        assert!(ran.err.contains("outside of the model's folder"), "{include}: {}", ran.err);
        assert!(!ran.err.contains("secret words"), "{include}: {}", ran.err);
    }
    folder.write("model/library.lus", model("../library/types.lus"));
    assert_eq!(folder.run(&["check", "model/library.lus"]).code, 2);
    assert_eq!(folder.run(&["check", "--include-dir", "library", "model/library.lus"]).code, 0);
    // The name in a file of an internal error does not choose the folder.
    let record = serde_json::json!({
        "schema": "gander-internal-error/1", "version": "0", "file": secret.with_file_name("m.lus"), "engine": "e", "problem": "p",
        "model": model("secret.lus"), "evidence": { "schema": "x" },
    });
    folder.write("record.json", record.to_string());
    let ran = folder.run(&["certify", "record.json"]);
    assert!(ran.code == 2 && !ran.err.contains("secret words"), "{}", ran.err);
}

/// Runs a command whose files may have at most so many blocks of 512 bytes.
fn on_a_full_disk(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new("sh");
    // Ignoring the signal makes a write that is too long an error, as on a full disk.
    command.args([
        "-c",
        "trap '' XFSZ; ulimit -f 0; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_gander"),
    ]);
    command
        .args(args)
        .current_dir(&folder.path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = within(Duration::from_secs(120), command.spawn().unwrap());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write("o.svg", "old");
    let (code, err) = on_a_full_disk(&folder, &["graph", "counter.sts", "-o", "o.svg"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("o.svg cannot be written"), "{err}");
    assert_eq!(
        (folder.read("o.svg"), folder.names()),
        ("old".into(), vec!["counter.sts".to_string(), "o.svg".into()])
    );
    let (code, err) = on_a_full_disk(
        &folder,
        &["check", "--property", "small", "--save-evidence", "proofs", "counter.sts"],
    );
    assert_eq!(code, Some(2), "{err}");
    let (code, _) = on_a_full_disk(
        &folder,
        &["check", "--property", "small", "--cache", "cache", "counter.sts"],
    );
    assert_eq!(code, Some(0));
    folder.write("f.sts", "spec   A\nvar x: int\nstart -> N { x == 0 }\nnode N\n");
    let (code, err) = on_a_full_disk(&folder, &["fmt", "f.sts"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(folder.read("f.sts").starts_with("spec   A"));
    for empty in ["proofs", "cache"] {
        assert_eq!(fs::read_dir(folder.path.join(empty)).unwrap().count(), 0, "{empty}");
    }
    let ran = folder.run(&["graph", "counter.sts", "-o", "/dev/full"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}

/// Every operation on a file fails in turn; see `gander_io::fault`.
#[test]
fn a_file_operation_that_fails_costs_no_verdict_and_leaves_nothing_half_written() {
    needs_z3!();
    // Release builds have no fault injection.
    if !cfg!(debug_assertions) {
        return;
    }
    for n in 1..200 {
        let folder = Folder::with("counter.sts", COUNTER);
        let mut command = folder.command(&[
            "check",
            "--save-evidence",
            "proofs",
            "--cache",
            "cache",
            "counter.sts",
        ]);
        command.env("GANDER_FAULT", n.to_string()).env("GANDER_FAULT_LOG", folder.path.join("log"));
        let output = command.output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let happened = folder.path.join("log").exists();
        match output.status.code() {
            Some(1) => assert!(
                out.contains("holds    small") && out.contains("fails    unseen"),
                "{n}: {out} {err}"
            ),
            Some(2) => assert!(happened && err.contains("injected fault"), "{n}: {out} {err}"),
            other => panic!("{n}: {other:?} {out} {err}"),
        }
        for part in ["proofs", "cache"] {
            for file in fs::read_dir(folder.path.join(part)).into_iter().flatten().flatten() {
                let text = fs::read_to_string(file.path()).unwrap();
                assert!(
                    serde_json::from_str::<serde_json::Value>(&text).is_ok(),
                    "{n}: {:?}",
                    file.path()
                );
            }
        }
        if !happened {
            assert!(n > 10, "only {n} operations");
            return;
        }
    }
    panic!("there is no end to the operations");
}
