//! NuSMV accepts systems exported to SMV, and its answers are those of the brute-force oracle.

#![allow(clippy::print_stdout, reason = "prints the number of comparisons")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use gander_export::{Format, Options, Selection, Written, write};
use gander_oracle::{Limits, Reachable, Settings, decide, generate_with};
use gander_system::{Range, Role, StateVar, Structure, System};
use gander_term::Sort;
use support::{Folder, load, real};

const LIMITS: Limits = Limits { states: 2_000, work: 2_000_000 };

/// The system with the ranges that its variables have in all runs.
fn bounded(system: &System) -> Option<System> {
    let reached = Reachable::explore(system, system.pool(), LIMITS).ok()?;
    if reached.states.is_empty() {
        return None;
    }
    let range = |i: usize, v: &StateVar| {
        let ints = || reached.states.iter().filter_map(|(_, values)| values[i].as_int());
        let (low, high) = (ints().min()?.clone(), ints().max()?.clone());
        (v.sort == Sort::Int && v.role == Role::State).then_some(Range { low, high })
    };
    Some(system.clone().with_ranges(range).with_structure(Structure::Undrawn))
}

/// The answers of NuSMV about the properties of a text, by name.
fn ask(program: &Path, written: &Written) -> BTreeMap<String, bool> {
    let folder = Folder::new();
    let mut commands =
        String::from("set on_failure_script_quits 0\nset default_trace_plugin 0\ngo\n");
    for claim in written.names.claims() {
        commands += &format!("echo CLAIM {0}\ncheck_property -P \"{0}\"\n", claim.name);
    }
    commands += "quit\n";
    std::fs::write(folder.0.join("m.smv"), &written.text).expect("a file");
    std::fs::write(folder.0.join("commands"), commands).expect("a file");
    let libraries = program.parent().unwrap_or(Path::new("/"));
    let output = Command::new(program)
        .args(["-source", "commands", "m.smv"])
        .current_dir(&folder.0)
        .env("LD_LIBRARY_PATH", libraries)
        .stdin(Stdio::null())
        .output()
        .expect("NuSMV can be run");
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut found = BTreeMap::new();
    let mut claim = None;
    for line in out.lines() {
        if let Some(name) = line.trim().strip_prefix("CLAIM ") {
            claim = Some(name.trim().to_string());
        } else if let Some(name) = claim.as_ref().filter(|_| line.starts_with("--")) {
            if line.trim_end().ends_with("is true") {
                found.insert(name.clone(), true);
            } else if line.trim_end().ends_with("is false") {
                found.insert(name.clone(), false);
            }
        }
    }
    assert_eq!(found.len(), written.names.claims().len(), "{out}{err}\n{}", written.text);
    found
}

/// Compares the claims of a system that SMV can express; returns their number.
fn compare(program: &Path, system: &System, what: &str) -> usize {
    let Ok(written) = write(system, Format::Smv, Options::default(), Selection::All) else {
        return 0;
    };
    // Only nuXmv has unbounded numbers and fractions.
    let unbounded = [": integer;", ": real;", "f'"].iter().any(|word| written.text.contains(word));
    let Ok(answers) = decide(system, LIMITS) else { return 0 };
    if unbounded || written.names.claims().is_empty() {
        return 0;
    }
    let theirs = ask(program, &written);
    let mut compared = 0;
    for claim in written.names.claims() {
        let Some(ours) = answers[claim.claim.index()].as_ref().ok().map(|a| a.holds) else {
            continue;
        };
        let text = &written.text;
        assert_eq!(
            ours,
            theirs[&claim.name] != claim.opposite,
            "{what}, claim {}\n{text}",
            claim.name
        );
        compared += 1;
    }
    compared
}

#[test]
fn shifts_of_btor2_are_accepted() {
    let Some(nusmv) = real("nusmv") else { return };
    for word in ["sll", "srl", "sra"] {
        let text = format!(
            "1 sort bitvec 4\n2 sort bitvec 1\n3 constd 1 9\n4 state 1 x\n5 init 1 4 3\n6 input 1 by\n7 {word} 1 4 6\n\
             8 next 1 4 7\n9 constd 1 12\n10 {word} 1 4 9\n11 eq 2 4 10\n12 bad 11 gone\n13 constd 1 2\n14 {word} 1 4 13\n\
             15 eq 2 14 13\n16 bad 15 two\n"
        );
        let system = load(&text, "m.btor2");
        assert_eq!(compare(&nusmv.program, &system, word), 2);
    }
}

#[test]
fn random_systems_have_the_same_answers() {
    let Some(nusmv) = real("nusmv") else { return };
    let mut compared = 0;
    for settings in [
        Settings::few_states(),
        Settings::few_states().linear(),
        Settings::few_states().bit_vectors(),
    ] {
        for seed in 0..40 {
            let made = generate_with(seed, settings);
            let Some(system) = bounded(&made.system) else { continue };
            compared += compare(&nusmv.program, &system, &format!("seed {seed}"));
        }
    }
    println!("{compared} claims compared");
    assert!(compared > 100, "{compared}");
}
