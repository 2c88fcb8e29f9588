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
    let text = "MODULE main VAR x : 0..3; ASSIGN init(x) := 0; next(x) := case x = 3 : 1; TRUE : x + 1; esac; \
        LTLSPEC NAME again := G F x = 0; LTLSPEC NAME often := G F x = 2; INVARSPEC NAME never := x != 3;";
    let system = load(text, "m.smv");
    let account = alone(&nusmv, &system, TIME);
    let told = answers(&system, &account);
    assert!(told.iter().any(|t| t == "again fails checked"), "{told:?}, {}", account.ending);
    assert!(told.iter().any(|t| t == "never fails checked"), "{told:?}, {}", account.ending);
    assert!(told.iter().any(|t| t.starts_with("often holds")), "{told:?}, {}", account.ending);
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
