//! The real NuSMV, Z3 and cvc5, if they are on this machine.

mod support;

use std::time::Duration;

use support::{COUNTER, PROCESSES, alone, answers, load, real};

const TIME: Duration = Duration::from_secs(60);

#[test]
fn z3_gives_invariants_and_derivations_that_pass() {
    let Some(z3) = real("z3") else { return };
    let system = load(COUNTER, "c.sts");
    let report = alone(&z3, &system, TIME);
    let found = answers(&system, &report);
    for expected in
        ["small holds checked", "tiny fails checked", "five holds checked", "nine fails checked"]
    {
        assert!(found.iter().any(|t| t == expected), "{expected}: {found:?}, {}", report.ending);
    }
}

#[test]
fn z3_copes_with_nodes_enumerations_and_parameters() {
    let Some(z3) = real("z3") else { return };
    let text = "
        spec Door
        enum Mode { Day, Night }
        var mode: Mode
        var seen: int
        start -> Closed { mode == Day  seen == 0 }
        node Closed {
          open(by: int 1..2) -> Open when mode == Day { seen := seen + by }
          dusk when mode == Day { mode := Night }
        }
        node Open { close -> Closed }
        always shut: seen >= 0
        always few: seen < 4
    ";
    let system = load(text, "d.sts");
    let report = alone(&z3, &system, TIME);
    let found = answers(&system, &report);
    for expected in ["shut holds checked", "few fails checked"] {
        assert!(found.iter().any(|t| t == expected), "{expected}: {found:?}, {}", report.ending);
    }
}

#[test]
fn nusmv_gives_traces_and_states_that_pass() {
    let Some(nusmv) = real("nusmv") else { return };
    let system = load(PROCESSES, "p.script");
    let report = alone(&nusmv, &system, TIME);
    let found = answers(&system, &report);
    assert!(found.len() >= 2, "{found:?}, {}", report.ending);
    assert!(found.iter().all(|t| t.ends_with(" holds checked")), "{found:?}");
}

#[test]
fn nusmv_gives_loops_that_pass() {
    let Some(nusmv) = real("nusmv") else { return };
    // A loop, and a run that ends: SMV repeats its last state.
    let loops = "VARS: int x : 0..3; INIT: x = 0; TRANS: ? x < 3 -> x = x + 1; ? x == 3 -> x = 1; LIVENESS: x == 0";
    let ends = "VARS: int x : 0..3; INIT: x = 0; TRANS: x = x + 1; LIVENESS: x == 0";
    for text in [loops, ends] {
        let system = load(text, "m.script");
        let report = alone(&nusmv, &system, TIME);
        let found = answers(&system, &report);
        assert!(
            found.iter().any(|t| t == "LIVENESS fails checked"),
            "{found:?}, {}",
            report.ending
        );
    }
    let holds = "VARS: int x : 0..3; INIT: x = 0; TRANS: ? x < 3 -> x = x + 1; ? x == 3 -> x = 1; LIVENESS: x == 2";
    let system = load(holds, "m.script");
    let found = answers(&system, &alone(&nusmv, &system, TIME));
    assert!(found.iter().any(|t| t.starts_with("LIVENESS holds")), "{found:?}");
}

#[test]
fn nusmv_refuses_ints_without_a_range() {
    let Some(nusmv) = real("nusmv") else { return };
    let report = alone(
        &nusmv,
        &load("spec S var x: int start { x == 0 } step s { x := x + 1 } always p: x < 3", "s.sts"),
        TIME,
    );
    assert!(
        report.answers.is_empty() && report.ending.contains("needs a range"),
        "{}",
        report.ending
    );
}

#[test]
fn cvc5_finds_runs_that_pass() {
    let Some(cvc5) = real("cvc5") else { return };
    let system = load(COUNTER, "c.sts");
    let report = alone(&cvc5, &system, TIME);
    let found = answers(&system, &report);
    for expected in ["tiny fails checked", "five holds checked"] {
        assert!(found.iter().any(|t| t == expected), "{expected}: {found:?}, {}", report.ending);
    }
    assert!(!found.iter().any(|t| t.starts_with("small") || t.starts_with("nine")), "{found:?}");
}
