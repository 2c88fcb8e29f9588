//! Programs that are missing, hang, crash, print garbage or flood: no answer, no processes or
//! folders are left, and the ending says why.

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use gander_race::{ToolSearch, find, run_tool, tools};
use gander_smt::Solvers;
use support::{COUNTER, Folder, PROCESSES, alone, config, found_tool, load, skip};

/// Whether a process exists and is more than a zombie.
fn is_alive(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z') && !rest.starts_with('X'))
}

/// Scratch folders of tools that exist now.
fn scratch_folders() -> Vec<String> {
    let entries = std::fs::read_dir(std::env::temp_dir()).expect("a folder for temporary files");
    entries
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|n| n.starts_with("gander-race-"))
        .collect()
}

/// Every adapter gets no answer from this program, and an ending with these words.
fn costs_only_its_answers(body: &str, words: &str) {
    let folder = Folder::new();
    let program = folder.program(body);
    for tool in tools() {
        let (text, file) = if ["nusmv", "nuxmv", "pono", "uppaal"].contains(&tool.name()) {
            (PROCESSES, "p.script")
        } else {
            (COUNTER, "c.sts")
        };
        let system = load(text, file);
        let report = alone(&found_tool(tool.name(), &program), &system, Duration::from_secs(2));
        assert!(report.answers.is_empty(), "{}: {:?}", tool.name(), report.answers);
        assert!(report.ending.contains(words), "{}: {}", tool.name(), report.ending);
    }
}

#[test]
fn a_program_that_crashes_gives_no_answer() {
    costs_only_its_answers("echo sat; kill -SEGV $$", "signal 11");
}

#[test]
fn a_program_that_prints_garbage_gives_no_answer() {
    costs_only_its_answers(
        "echo 'hello (('; echo 'bits \\000\\377'; exit 0",
        "no answer that is understood",
    );
    costs_only_its_answers("exit 0", "no answer that is understood");
    costs_only_its_answers("echo broken >&2; exit 9", "exit code 9 and said: broken");
}

#[test]
fn a_program_that_floods_is_stopped() {
    costs_only_its_answers("exec yes sat", "wrote too much");
}

#[test]
fn a_program_that_cannot_be_started_is_reported() {
    let system = load(COUNTER, "c.sts");
    let report =
        alone(&found_tool("z3", Path::new("/no/such/program")), &system, Duration::from_secs(5));
    assert!(report.ending.starts_with("it could not be started"), "{}", report.ending);
}

#[test]
fn a_program_that_hangs_ends_with_all_that_it_started() {
    let folder = Folder::new();
    let pids = folder.0.join("pids");
    // A child in its group, and one that has left it.
    let body = format!(
        "sleep 1000 & echo $! >> '{0}'; setsid sleep 1000 & echo $! >> '{0}'; sleep 1000",
        pids.display()
    );
    let program = folder.program(&body);
    let system = load(COUNTER, "c.sts");
    let report = alone(&found_tool("z3", &program), &system, Duration::from_secs(1));
    assert!(report.answers.is_empty());
    assert_eq!(report.ending, "stopped by the time limit");
    let started = std::fs::read_to_string(&pids).expect("it was started");
    assert_eq!(started.lines().count(), 2);
    // A killed process is listed until it is reaped.
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while started.lines().any(is_alive) && std::time::Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!started.lines().any(is_alive), "{started}");
}

#[test]
fn a_program_that_leaves_children_behind_leaves_none() {
    let folder = Folder::new();
    let pids = folder.0.join("pids");
    let program = folder
        .program(&format!("(setsid sleep 1000 & echo $! >> '{}')\necho unknown", pids.display()));
    let system = load(COUNTER, "c.sts");
    let report = alone(&found_tool("golem", &program), &system, Duration::from_secs(20));
    assert!(report.answers.is_empty());
    let started = std::fs::read_to_string(&pids).expect("it was started");
    assert!(!started.lines().any(is_alive), "{started}");
}

#[test]
fn a_program_that_is_not_needed_any_more_ends() {
    let folder = Folder::new();
    let program = folder.program("exec sleep 1000");
    let system = load(COUNTER, "c.sts");
    let config = config(&system, Duration::from_secs(500));
    let begin = Instant::now();
    let report = std::thread::scope(|scope| {
        let cancellation = config.cancellation.clone();
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            cancellation.cancel();
        });
        run_tool(&found_tool("cvc5", &program), &system, &config, &|_| true, &|_| {})
    });
    assert_eq!(report.ending, "stopped, as it was not needed any more");
    // Generous for slow machines: the program would have slept for 1000 s.
    assert!(begin.elapsed() < Duration::from_secs(400));
}

#[test]
fn folders_are_removed() {
    let folder = Folder::new();
    let seen = folder.0.join("seen");
    let program = folder.program(&format!(
        "pwd > '{}'; touch more; mkdir deep; touch deep/file; echo unknown",
        seen.display()
    ));
    let system = load(COUNTER, "c.sts");
    alone(&found_tool("golem", &program), &system, Duration::from_secs(20));
    let place = std::fs::read_to_string(&seen).expect("it was started");
    let name = Path::new(place.trim()).file_name().expect("a name").to_string_lossy().into_owned();
    assert!(name.starts_with("gander-race-"), "{name}");
    assert!(!scratch_folders().contains(&name));
}

#[test]
fn the_limit_on_memory_holds() {
    // The limit is set after the program was started, so the program waits a moment.
    let folder = Folder::new();
    let program = folder
        .program("sleep 1; ulimit -v > limit; read kb < limit; test \"$kb\" = 524288 && echo unsat || echo unknown");
    if !cfg!(target_os = "linux") {
        skip("memory is limited on Linux only");
        return;
    }
    let system =
        load("spec S var x: int start { x == 0 } step s { x := x + 1 } always p: x < 3", "s.sts");
    let mut config = config(&system, Duration::from_secs(20));
    config.memory = Some(512 << 20);
    let report = run_tool(&found_tool("golem", &program), &system, &config, &|_| true, &|_| {});
    assert_eq!(report.answers.len(), 1, "{}", report.ending);
}

#[test]
fn a_tool_that_is_not_there_or_hidden_is_missing() {
    let solvers = Solvers::find(gander_smt::Search::default());
    let search = ToolSearch {
        named: vec![("z3".to_string(), "none".into())],
        path: Some("/no/such/folder".into()),
    };
    for tool in tools() {
        let Err(missing) = find(*tool, &search, &solvers) else {
            panic!("{} is not there", tool.name())
        };
        let words = if tool.name() == "z3" { "hidden" } else { "on the PATH" };
        assert!(missing.looked_for.contains(words), "{missing:?}");
    }
    let search =
        ToolSearch { named: vec![("nusmv".to_string(), "/etc/passwd".into())], path: None };
    let Err(missing) = find(tools()[0], &search, &solvers) else {
        panic!("/etc/passwd is no program")
    };
    assert!(missing.looked_for.contains("is no program"), "{missing:?}");
}
