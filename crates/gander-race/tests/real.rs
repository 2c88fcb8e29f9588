//! NuSMV, Z3 and cvc5 themselves, where they are.

mod support;

use std::time::Duration;

use support::{COUNTER, PROCESSES, alone, answers, load, real};

const TIME: Duration = Duration::from_secs(60);

#[test]
fn z3_gives_invariants_and_derivations_that_pass() {
    let Some(z3) = real("z3") else { return };
    let system = load(COUNTER, "c.sts");
    let account = alone(&z3, &system, TIME);
    let told = answers(&system, &account);
    for expected in ["small holds checked", "tiny fails checked", "five holds checked", "nine fails checked"] {
        assert!(told.iter().any(|t| t == expected), "{expected}: {told:?}, {}", account.ending);
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
    let account = alone(&z3, &system, TIME);
    let told = answers(&system, &account);
    for expected in ["shut holds checked", "few fails checked"] {
        assert!(told.iter().any(|t| t == expected), "{expected}: {told:?}, {}", account.ending);
    }
}

#[test]
fn nusmv_gives_traces_and_states_that_pass() {
    let Some(nusmv) = real("nusmv") else { return };
    let system = load(PROCESSES, "p.script");
    let account = alone(&nusmv, &system, TIME);
    let told = answers(&system, &account);
    assert!(told.len() >= 2, "{told:?}, {}", account.ending);
    assert!(told.iter().all(|t| t.ends_with(" holds checked")), "{told:?}");
}

#[test]
fn nusmv_gives_loops_that_pass() {
    let Some(nusmv) = real("nusmv") else { return };
    // A loop, and a run that ends: there the state repeats in SMV.
    let loops = "VARS: int x : 0..3; INIT: x = 0; TRANS: ? x < 3 -> x = x + 1; ? x == 3 -> x = 1; LIVENESS: x == 0";
    let ends = "VARS: int x : 0..3; INIT: x = 0; TRANS: x = x + 1; LIVENESS: x == 0";
    for text in [loops, ends] {
        let system = load(text, "m.script");
        let account = alone(&nusmv, &system, TIME);
        let told = answers(&system, &account);
        assert!(told.iter().any(|t| t == "LIVENESS fails checked"), "{told:?}, {}", account.ending);
    }
    let holds = "VARS: int x : 0..3; INIT: x = 0; TRANS: ? x < 3 -> x = x + 1; ? x == 3 -> x = 1; LIVENESS: x == 2";
    let system = load(holds, "m.script");
    let told = answers(&system, &alone(&nusmv, &system, TIME));
    assert!(told.iter().any(|t| t.starts_with("LIVENESS holds")), "{told:?}");
}

#[test]
fn nusmv_says_what_it_lacks() {
    let Some(nusmv) = real("nusmv") else { return };
    let account =
        alone(&nusmv, &load("spec S var x: int start { x == 0 } step s { x := x + 1 } always p: x < 3", "s.sts"), TIME);
    assert!(account.answers.is_empty() && account.ending.contains("needs a range"), "{}", account.ending);
}

#[test]
fn cvc5_finds_runs_that_pass() {
    let Some(cvc5) = real("cvc5") else { return };
    let system = load(COUNTER, "c.sts");
    let account = alone(&cvc5, &system, TIME);
    let told = answers(&system, &account);
    for expected in ["tiny fails checked", "five holds checked"] {
        assert!(told.iter().any(|t| t == expected), "{expected}: {told:?}, {}", account.ending);
    }
    assert!(!told.iter().any(|t| t.starts_with("small") || t.starts_with("nine")), "{told:?}");
}
