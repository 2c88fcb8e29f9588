//! Limits on time and memory hold for every input and command. Child processes and temporary files
//! do not outlive the command.
//!
//! Bounds on wall-clock time are generous: they only distinguish commands that end from those that
//! do not.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{COUNTER, Folder, within};

/// Far longer than any of these runs may take.
const FAR: Duration = Duration::from_secs(120);

/// Runs a command, which must end; its exit code and output.
fn run(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let child = folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = within(FAR, child);
    let text =
        [output.stdout, output.stderr].map(|t| String::from_utf8_lossy(&t).into_owned()).concat();
    (output.status.code(), text)
}

/// A chain of functions that each call the next one twice: expanded, the claim has 2^44 terms.
fn doubling_sts() -> String {
    let mut text = String::from("spec D\nvar x: int\ndefine d0(y: int): int = y + 1\n");
    for i in 1..45 {
        writeln!(text, "define d{i}(y: int): int = d{0}(d{0}(y))", i - 1).unwrap();
    }
    text + "start { x == 0 }\nstep s { x := x + 1 }\nalways a: d44(x) > 0\n"
}

fn doubling_vmt() -> String {
    let mut text = String::from(
        "(declare-fun x () Int)\n(declare-fun y () Int)\n(define-fun d0 ((a Int)) Int (+ a 1))\n",
    );
    for i in 1..45 {
        writeln!(text, "(define-fun d{i} ((a Int)) Int (d{0} (d{0} a)))", i - 1).unwrap();
    }
    text + "(define-fun sv () Int (! x :next y))\n(define-fun i () Bool (! (= x 0) :init true))\n\
            (define-fun t () Bool (! (= y x) :trans true))\n\
            (define-fun p () Bool (! (> (d44 x) 0) :invar-property 0))\n"
}

/// Nodes that call others twice.
fn doubling_lus() -> String {
    let mut text = String::from("node d0(x: int) returns (y: int); let y = x + 1; tel\n");
    for i in 1..30 {
        writeln!(
            text,
            "node d{i}(x: int) returns (y: int); let y = d{0}(x) + d{0}(x + 1); tel",
            i - 1
        )
        .unwrap();
    }
    text + "node main(x: int) returns (ok: bool); let ok = d29(x) > x; --%PROPERTY ok;\n--%MAIN\ntel\n"
}

/// Nodes that call each other in a chain.
fn chain(length: usize) -> String {
    let mut text = String::from("node n0(x: int) returns (y: int); let y = x + 1; tel\n");
    for i in 1..length {
        writeln!(text, "node n{i}(x: int) returns (y: int); let y = n{}(x) + 1; tel", i - 1)
            .unwrap();
    }
    writeln!(
        text,
        "node main(x: int) returns (ok: bool); let ok = n{}(x) > x; --%PROPERTY ok;",
        length - 1
    )
    .unwrap();
    text + "--%MAIN\ntel\n"
}

/// Without the limit these grow until the machine has no memory left.
#[cfg(target_os = "linux")]
#[test]
fn reading_ends_at_the_memory_limit() {
    for (file, text) in
        [("d.sts", doubling_sts()), ("d.vmt", doubling_vmt()), ("d.lus", doubling_lus())]
    {
        let folder = Folder::with(file, text);
        let (code, said) = run(&folder, &["check", "--json", "--memory", "60", file]);
        assert_eq!(code, Some(3), "{file}: {said}");
        let json: serde_json::Value = serde_json::from_str(&said).unwrap();
        let reason = "stopped at the memory limit of 60 MB while the model was being read";
        let note = &json["diagnostics"][0];
        assert_eq!(note["code"], "stopped", "{json}");
        assert!(note["message"].as_str().is_some_and(|s| s.contains(reason)), "{json}");
    }
}

/// The other commands that read models.
#[cfg(target_os = "linux")]
#[test]
fn every_command_ends_at_the_memory_limit() {
    let folder = Folder::with("d.sts", doubling_sts());
    for args in [
        &["check", "--memory", "60", "d.sts"][..],
        &["export", "--to", "sts", "--memory", "60", "d.sts"],
        &["graph", "--memory", "60", "d.sts"],
        &["simulate", "--random", "3", "--memory", "60", "d.sts"],
        &["certify", "--memory", "60", "d.sts", "d.sts"],
        &["explain", "--memory", "60", "d.sts"],
        &["impact", "--memory", "60", "d.sts", "d.sts"],
    ] {
        let (code, said) = run(&folder, args);
        assert_eq!(code, Some(3), "{args:?}: {said}");
        assert!(said.contains("memory limit of 60 MB"), "{args:?}: {said}");
    }
}

/// The same inputs under a limit on time.
#[test]
fn reading_ends_at_the_time_limit() {
    for (file, text) in
        [("d.sts", doubling_sts()), ("d.vmt", doubling_vmt()), ("d.lus", doubling_lus())]
    {
        let folder = Folder::with(file, text);
        for args in [
            &["check", "-t", "0.5", file][..],
            &["export", "--to", "sts", "-t", "0.5", file],
            &["graph", "-t", "0.5", file],
            &["simulate", "--random", "3", "-t", "0.5", file],
            &["certify", "-t", "0.5", file, file],
            &["explain", "-t", "0.5", file],
            &["impact", "-t", "0.5", file, file],
        ] {
            let begun = Instant::now();
            let (code, said) = run(&folder, args);
            assert_eq!(code, Some(3), "{args:?}: {said}");
            assert!(said.contains("time limit of 0.5 s"), "{args:?}: {said}");
            assert!(begun.elapsed() < Duration::from_secs(30), "{args:?}");
        }
    }
}

/// If the names of streams contained the path of all calls around them, their total size would be
/// quadratic in the length of the chain.
#[cfg(target_os = "linux")]
#[test]
fn a_chain_of_calls_takes_memory_in_proportion() {
    let folder = Folder::with("chain.lus", chain(3000));
    let (code, said) = run(
        &folder,
        &["check", "--memory", "300", "-t", "60", "--engine", "simulate", "chain.lus"],
    );
    // The engine decides nothing, but loading the file once took 400 MB.
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("unknown  ok"), "{said}");
}

/// Engines are stopped one by one, and the known results are printed.
#[cfg(target_os = "linux")]
#[test]
fn engines_end_at_the_memory_limit() {
    needs_z3!();
    let mut text = String::from("spec V\n");
    for i in 0..20_000 {
        writeln!(text, "var v{i}: int").unwrap();
    }
    text += "start { v0 == 0 }\nstep s { v0 := v0 + v1 * v1 }\nalways a: v0 != 123456789\n";
    let folder = Folder::with("v.sts", text);
    let (code, said) =
        run(&folder, &["check", "--memory", "150", "-t", "90", "--allow", "all", "v.sts"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("memory limit of 150 MB"), "{said}");
}

/// Evidence that says `k = 60000` is read and refused or given up in time, from a file and from the
/// cache.
#[test]
fn evidence_with_a_large_k_ends_in_time() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let (_, said) = run(
        &folder,
        &["check", "--save-evidence", "e", "--cache", "c", "-p", "small", "counter.sts"],
    );
    let evidence = serde_json::json!({ "kind": "k-inductive", "k": 60_000, "loop_free": false, "no_restart": false,
        "formulas": { "Low": "x <= 3", "High": "x <= 3" } });
    let change = |path: &std::path::Path| {
        let mut json: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        json["evidence"] = evidence.clone();
        std::fs::write(path, json.to_string()).unwrap();
    };
    let files = |name: &str| -> Vec<std::path::PathBuf> {
        std::fs::read_dir(folder.path.join(name)).unwrap().map(|e| e.unwrap().path()).collect()
    };
    let saved = files("e");
    assert_eq!(saved.len(), 1, "{said}");
    for file in saved.iter().chain(&files("c")) {
        change(file);
    }
    let begun = Instant::now();
    let file = saved[0].to_string_lossy().into_owned();
    let (code, said) = run(&folder, &["certify", "-t", "1", "counter.sts", &file]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("ran out of time"), "{said}");
    // Engines have time left.
    let (code, said) =
        run(&folder, &["check", "-t", "10", "--cache", "c", "-p", "small", "counter.sts"]);
    assert_eq!(code, Some(0), "{said}");
    // This once took 26 s with a limit of 2 s.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Processes with this word in their command line.
#[cfg(target_os = "linux")]
fn processes_with(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(line) = std::fs::read(entry.path().join("cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(word) {
            found.push(line);
        }
    }
    found
}

/// A solver behind a wrapper script that works for ever is gone soon after `kill -9` of the
/// command, and so is the program that the wrapper has started.
#[cfg(target_os = "linux")]
#[test]
fn nothing_outlives_a_command_that_was_killed() {
    for signal in ["-KILL", "-TERM", "-INT", "-HUP"] {
        let folder = Folder::with("m.sts", COUNTER);
        let word = folder.path.join("busy").to_string_lossy().into_owned();
        // It answers what it is asked at the start, and then works: a shell that starts another
        // one.
        folder.write_program(
            "wrapper",
            format!(
                "#!/bin/sh\ncase \"$1\" in *version*) echo 'Z3 version 4.13.0'; exit;; esac\n\
                 /bin/sh -c 'while :; do :; done' '{word}' &\nexec /bin/sh -c 'while :; do :; done' '{word}'\n"
            ),
        );
        let wrapper = format!("z3={}", folder.path.join("wrapper").display());
        let mut child = folder
            .command(&[
                "check",
                "--engine",
                "bmc",
                "--solver",
                &wrapper,
                "--solver",
                "yices=none",
                "m.sts",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while processes_with(&word).len() < 2 {
            assert!(begun.elapsed() < FAR, "the solver never began");
            assert!(child.try_wait().unwrap().is_none(), "the command ended by itself");
            std::thread::sleep(Duration::from_millis(20));
        }
        // The guard hears of a solver when it has worked for a moment.
        std::thread::sleep(Duration::from_millis(500));
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let status = child.wait().unwrap();
        let begun = Instant::now();
        while !processes_with(&word).is_empty() {
            let left = processes_with(&word);
            assert!(begun.elapsed() < Duration::from_secs(5), "{signal} ({status}): {left:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
