//! The proof cache in trouble: many runs at once, a full disk, entries that are torn while they are
//! read.

use std::process::Stdio;

use crate::support::{Folder, Ran};

const MODEL: &str = "
spec Counter
var x: int
var y: int
start { x == 0  y == 0 }
step up { x := x + 1  y := y + 1 }
step rest { x := x + 0 }
always same: x >= y
always together: x == y
";

const CHECK: [&str; 6] = ["check", "--json", "--checks", "none", "--cache", "cache"];

fn verdicts(out: &str) -> Vec<(String, String, String)> {
    let value: serde_json::Value =
        serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out}"));
    let text = |v: &serde_json::Value| v.as_str().unwrap_or_default().to_string();
    let results = value["results"].as_array().unwrap();
    results.iter().map(|r| (text(&r["claim"]), text(&r["verdict"]), text(&r["engine"]))).collect()
}

fn holds(ran: &Ran) {
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let found = verdicts(&ran.out);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|(_, verdict, _)| verdict == "holds"), "{found:?}");
}

fn checked(folder: &Folder, file: &str) -> Ran {
    let args: Vec<&str> = CHECK.into_iter().chain([file]).collect();
    folder.run(&args)
}

#[test]
fn runs_at_the_same_time_share_a_cache() {
    needs_z3!();
    let folder = Folder::with("m.sts", MODEL);
    let other = MODEL.replace("y + 1", "y + 2");
    std::fs::create_dir(folder.path.join("wrong")).unwrap();
    folder.write("wrong/m.sts", &other);
    // The same names, different models: each writes what the other reads as the newest entry.
    for _ in 0..2 {
        let children: Vec<_> = (0..4)
            .map(|i| {
                let file = if i % 2 == 0 { "m.sts" } else { "wrong/m.sts" };
                let args: Vec<&str> = CHECK.into_iter().chain([file]).collect();
                let mut command = folder.command(&args);
                (i, command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
            })
            .collect();
        for (i, child) in children {
            let output = child.wait_with_output().unwrap();
            let found = verdicts(&String::from_utf8_lossy(&output.stdout));
            let expected = if i % 2 == 0 { "holds" } else { "fails" };
            assert!(found.iter().all(|(_, verdict, _)| verdict == expected), "{i}: {found:?}");
        }
    }
    let names = std::fs::read_dir(folder.path.join("cache")).unwrap();
    let left: Vec<String> =
        names.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(!left.iter().any(|n| n.ends_with(".new")), "{left:?}");
    // Afterwards the entries are whole.
    let again = checked(&folder, "m.sts");
    holds(&again);
    assert!(verdicts(&again.out).iter().all(|(_, _, engine)| engine == "cache"), "{}", again.out);
}

#[cfg(unix)]
#[test]
fn a_full_disk_costs_the_cache_and_nothing_else() {
    needs_z3!();
    let folder = Folder::with("m.sts", MODEL);
    holds(&checked(&folder, "m.sts"));
    let entries: Vec<_> =
        std::fs::read_dir(folder.path.join("cache")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(entries.len() >= 4, "{entries:?}");
    // Every entry is a device that is always full: writing says that no space is left.
    for path in &entries {
        std::fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink("/dev/full", path).unwrap();
    }
    let ran = checked(&folder, "m.sts");
    holds(&ran);
    assert!(verdicts(&ran.out).iter().all(|(_, _, engine)| engine != "cache"), "{}", ran.out);
    assert!(
        ran.err.is_empty() || ran.err.contains("the proof cache cannot be written"),
        "{}",
        ran.err
    );
    // No byte can be written into any file.
    let line = format!(
        "trap '' XFSZ; ulimit -f 0; exec '{}' check --checks none --cache cache2 m.sts",
        folder.command(&[]).get_program().to_string_lossy()
    );
    let mut command = std::process::Command::new("sh");
    let output = command.args(["-c", &line]).current_dir(&folder.path).output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out} {err}");
    assert!(err.contains("the proof cache cannot be written"), "{out} {err}");
    let left = std::fs::read_dir(folder.path.join("cache2")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "torn files are left");
}

#[test]
fn an_entry_of_another_model_is_a_candidate_and_no_verdict() {
    needs_z3!();
    let folder = Folder::with("m.sts", MODEL);
    holds(&checked(&folder, "m.sts"));
    // After a small edit the old invariants are tried first, and prove it.
    folder.write("m.sts", MODEL.replace("x := x + 0", "x := x + 0  y := y"));
    let edited = checked(&folder, "m.sts");
    holds(&edited);
    assert!(verdicts(&edited.out).iter().all(|(_, _, engine)| engine == "cache"), "{}", edited.out);
    // Where they prove nothing, engines do, and find the truth.
    folder.write("m.sts", MODEL.replace("x := x + 0", "x := x + 1"));
    let found = verdicts(&checked(&folder, "m.sts").out);
    let of = |claim: &str| found.iter().find(|(c, ..)| c == claim).map(|(_, v, _)| v.as_str());
    assert_eq!((of("same"), of("together")), (Some("holds"), Some("fails")), "{found:?}");
    // A folder in place of an entry, and an entry that is not text.
    for entry in std::fs::read_dir(folder.path.join("cache")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::write(&path, [0xff, 0xfe, 0x00, 0x80]).unwrap();
    }
    folder.write("m.sts", MODEL);
    holds(&checked(&folder, "m.sts"));
    for entry in std::fs::read_dir(folder.path.join("cache")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
    }
    holds(&checked(&folder, "m.sts"));
}
