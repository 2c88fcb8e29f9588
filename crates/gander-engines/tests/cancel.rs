//! Every engine ends when it is cancelled, whatever it is doing. `benches/core.py cancel` measures
//! how fast.

mod models;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use gander_engines::{Cancellation, Event, NullObserver, Observer, check, engines};
use gander_system::{System, Verdict};
use models::{Model, config};

/// Far longer than cancellation should take, far shorter than the work would.
const BOUND: Duration = Duration::from_secs(10);

/// The claim holds, and every engine can continue forever: runs get longer, and no k suffices.
fn endless() -> Arc<System> {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.int("y");
    m.start("go", 0, "x == 0 and y == 0");
    m.step("inc", 0, 0, &[], "true", &["x := x + 1", "y := y + x"]);
    m.always("apart", "y != 1000005");
    m.finish()
}

/// A first query that solvers do not finish: sums of three cubes.
fn one_hard_query() -> Arc<System> {
    let mut m = Model::new(&["A"]);
    for name in ["x", "y", "z"] {
        m.int(name);
    }
    m.start("go", 0, "true");
    m.step("move", 0, 0, &[], "true", &["x' == y", "y' == z", "z' == x"]);
    m.always("no sum", "x * x * x + y * y * y + z * z * z != 114");
    m.finish()
}

/// Many formulas to encode for every step, and many claims.
fn large() -> Arc<System> {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.start("go", 0, "x == 0");
    for i in 0..1500 {
        m.step(&format!("t{i}"), 0, 0, &[], &format!("x != {i}"), &[&format!("x := x + {i}")]);
        m.always(&format!("c{i}"), &format!("x != 0 - 5 - {i}"));
    }
    m.finish()
}

/// Cancels some time after the engines begin to work.
struct CancelsAfter {
    token: Cancellation,
    after: Duration,
}

impl Observer for CancelsAfter {
    fn event(&self, e: &Event) {
        if matches!(e, Event::Working) {
            let (token, after) = (self.token.clone(), self.after);
            std::thread::spawn(move || {
                std::thread::sleep(after);
                token.cancel();
            });
        }
    }
}

#[test]
fn every_engine_ends_after_cancel() {
    for (what, system) in
        [("endless", endless()), ("one hard query", one_hard_query()), ("large", large())]
    {
        for info in engines() {
            for after in [0, 20, 400].map(Duration::from_millis) {
                let mut config = config(&system);
                config.engines = Some(vec![info.name.to_string()]);
                let (done, ended) = channel();
                let of_thread = Arc::clone(&system);
                let token = Cancellation::new();
                let observer = CancelsAfter { token: token.clone(), after };
                std::thread::spawn(move || {
                    let _ = done.send(check(&of_thread, &config, &token, &observer));
                });
                let report = ended.recv_timeout(after + BOUND).unwrap_or_else(|e| {
                    panic!("{} on `{what}`, cancelled after {after:?}: {e}", info.name);
                });
                // The check returns at once, but the engines must also end and release everything.
                let end = Instant::now() + BOUND;
                while Arc::strong_count(&system) > 1 {
                    assert!(
                        Instant::now() < end,
                        "{} on `{what}`, cancelled after {after:?}: still at work",
                        info.name
                    );
                    std::thread::sleep(Duration::from_millis(1));
                }
                assert!(
                    report.internal_errors.is_empty(),
                    "{}: {:?}",
                    info.name,
                    report.internal_errors
                );
                for outcome in &report.outcomes {
                    // All claims hold or are undecided.
                    assert!(
                        !matches!(outcome.verdict, Verdict::Fails(_)),
                        "{} on `{what}`",
                        info.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_check_cancelled_before_it_begins_is_unknown() {
    let system = one_hard_query();
    for info in engines() {
        let mut config = config(&system);
        config.engines = Some(vec![info.name.to_string()]);
        let token = Cancellation::new();
        token.cancel();
        let report = check(&system, &config, &token, &NullObserver);
        let Verdict::Unknown { why, .. } = &report.outcomes[0].verdict else {
            panic!("{}: who decided?", info.name)
        };
        assert_eq!(why.len(), 1, "{}: {why:?}", info.name);
    }
}
