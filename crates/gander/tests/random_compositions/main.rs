//! Engines and exports decide random compositions with families, shared parameters and broadcast
//! as docs/semantics.md, section 6, says. The example `random_compositions` compares more of them.

mod comparison;

use std::sync::Arc;
use std::time::Duration;

use comparison::{READ, Tally, by_engine, by_horn_queries, by_language, by_unrolling, case};
use gander_engines::engines;
use gander_export::Format;
use gander_oracle::Tier;
use gander_smt::Solvers;

/// Each seed takes one engine, so that all have their turn.
#[test]
fn engines_decide_compositions_as_the_section_says() {
    let solvers = Arc::new(Solvers::from_environment().kept_running());
    let names: Vec<&str> = engines().iter().map(|e| e.name).chain(["all"]).collect();
    let mut tally = Tally::default();
    for seed in 0..Tier::amount(120, 400) {
        let Some(case) = case(seed).unwrap() else { continue };
        let engine = names[seed as usize % names.len()];
        by_engine(&case, engine, Duration::from_secs(1), &solvers, &mut tally).unwrap();
    }
    assert!(tally.agreed_hold.min(tally.agreed_fail) >= 2 * tally.compositions, "{tally:?}");
}

#[test]
fn exported_compositions_keep_their_answers() {
    let solvers = Arc::new(Solvers::from_environment().kept_running());
    for language in READ {
        let mut tally = Tally::default();
        for seed in 0..Tier::amount(40, 160) {
            let Some(case) = case(seed).unwrap() else { continue };
            let time = Duration::from_millis(if seed % 8 == 0 { 1_000 } else { 0 });
            by_language(&case, *language, &solvers, time, &mut tally).unwrap();
        }
        // Few compositions are guarded updates only, as scripts are, and texts with inputs that
        // have no bounds are decided for some seeds only.
        let least = match language.0 {
            Format::Sts => tally.compositions,
            Format::Script => 0,
            _ => 1,
        };
        assert!(tally.agreed_hold.min(tally.agreed_fail) >= least, "{language:?}: {tally:?}");
    }
}

#[test]
fn z3_agrees_about_exported_compositions() {
    let Some(program) = Solvers::from_environment().z3().map(|s| s.program.clone()) else { return };
    let (mut queries, mut unrollings) = (Tally::default(), Tally::default());
    for seed in 0..Tier::amount(30, 90) {
        let Some(case) = case(seed).unwrap() else { continue };
        by_horn_queries(&case, &program, &mut queries).unwrap();
        by_unrolling(&case, &program, &mut unrollings).unwrap();
    }
    assert!(queries.agreed_hold.min(queries.agreed_fail) > 0, "{queries:?}");
    assert!(unrollings.agreed_hold + unrollings.agreed_fail > 0, "{unrollings:?}");
}
