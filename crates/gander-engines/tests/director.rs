//! The director with engines that misbehave.

mod models;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::time::Duration;

use gander_engines::{
    Advance, Cancellation, Engine, EngineAccount, EngineContext, EngineEnding, EngineInfo, Event,
    NullObserver, Observer, check, check_with, engines,
};
use gander_runtime::check_cancelled_now;
use gander_system::{ClaimId, ClaimKind, Evidence, NodeFormulas, System, Verdict};
use gander_term::Pool;
use models::{Model, config};

/// Counts up forever; `x != 30` fails late, `x >= 0` holds.
fn counter() -> Arc<System> {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.start("go", 0, "x == 0");
    m.step("inc", 0, 0, &[], "true", &["x := x + 1"]);
    m.always("never three", "x != 3");
    m.always("not negative", "x >= 0");
    m.finish()
}

fn by_name(name: &str) -> EngineInfo {
    *engines().iter().find(|e| e.name == name).unwrap()
}

struct Panics;

impl Engine for Panics {
    fn advance(&mut self, _: &EngineContext) -> Advance {
        let nothing: Option<u32> = None;
        if nothing.is_none() {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
        Advance::Finished
    }

    fn obstacle(&self, _: ClaimId) -> Option<String> {
        None
    }
}

/// Proposes that everything holds because `true` is an invariant.
struct Lies;

impl Engine for Lies {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        for &claim in context.claims() {
            let mut pool = Pool::fork(context.system().pool());
            let by_node = context.system().node_ids().map(|_| pool.tt()).collect();
            let formulas = NodeFormulas { pool: pool.freeze(), by_node };
            context.propose(claim, Verdict::Holds(Evidence::Invariant(formulas)));
        }
        Advance::Finished
    }

    fn obstacle(&self, _: ClaimId) -> Option<String> {
        None
    }
}

fn info(name: &'static str, open: fn(&EngineContext) -> Box<dyn Engine>) -> EngineInfo {
    EngineInfo {
        name,
        about: "",
        decides: |_| true,
        finds_shortest: true,
        begins_at_once: false,
        open,
    }
}

#[test]
fn a_panic_ends_only_that_engine() {
    let system = counter();
    let portfolio = [info("panics", |_| Box::new(Panics)), by_name("bmc"), by_name("induction")];
    let report =
        check_with(&system, &config(&system), &Cancellation::new(), &NullObserver, &portfolio);
    assert_eq!(report.internal_errors.len(), 1);
    assert!(report.internal_errors[0].problem.contains("on purpose"));
    assert!(
        matches!(&report.outcomes[0].verdict, Verdict::Fails(Evidence::Run(r)) if r.length() == 3)
    );
    assert!(matches!(&report.outcomes[1].verdict, Verdict::Holds(_)));
}

#[test]
fn a_wrong_answer_is_an_internal_error_and_never_shown() {
    let system = counter();
    let portfolio = [info("lies", |_| Box::new(Lies)), by_name("bmc"), by_name("induction")];
    let report =
        check_with(&system, &config(&system), &Cancellation::new(), &NullObserver, &portfolio);
    // The other engines may decide a claim before the lie about it.
    assert!(report.internal_errors.iter().all(|e| e.engine == "lies"));
    assert!(report.outcomes.iter().all(|o| o.engine != "lies"));
    assert!(matches!(report.outcomes[0].verdict, Verdict::Fails(_)));
    let alone = [info("lies", |_| Box::new(Lies) as Box<dyn Engine>)];
    let report = check_with(&system, &config(&system), &Cancellation::new(), &NullObserver, &alone);
    assert_eq!(report.internal_errors.len(), 2);
    assert!(report.outcomes.iter().all(|o| matches!(o.verdict, Verdict::Unknown { .. })));
}

/// Conjectures that `x >= 0` is an invariant that proves everything.
struct Guesses;

impl Engine for Guesses {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let mut pool = Pool::fork(context.system().pool());
        let not_negative = gander_term::parse_term(&mut pool, "x >= 0").unwrap();
        let formulas = NodeFormulas { pool: pool.freeze(), by_node: vec![not_negative].into() };
        let verdict = Verdict::Holds(Evidence::Invariant(formulas));
        context.conjecture(context.claims().iter().map(|&claim| (claim, verdict.clone())));
        Advance::Finished
    }

    fn obstacle(&self, _: ClaimId) -> Option<String> {
        None
    }
}

#[test]
fn a_conjecture_counts_if_it_is_right_and_is_no_error_if_it_is_wrong() {
    let system = counter();
    let at_once = EngineInfo { begins_at_once: true, ..info("guesses", |_| Box::new(Guesses)) };
    for portfolio in [[info("guesses", |_| Box::new(Guesses))], [at_once]] {
        let report =
            check_with(&system, &config(&system), &Cancellation::new(), &NullObserver, &portfolio);
        assert!(report.internal_errors.is_empty());
        assert!(matches!(report.outcomes[0].verdict, Verdict::Unknown { .. }));
        assert!(matches!(report.outcomes[1].verdict, Verdict::Holds(_)));
        assert_eq!(report.outcomes[1].engine, "guesses");
    }
}

/// Conjectures several proofs of each claim, one of them twice.
struct Repeats;

impl Engine for Repeats {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let mut pool = Pool::fork(context.system().pool());
        let by_node =
            ["x >= 0", "x >= 1", "x >= 0"].map(|t| gander_term::parse_term(&mut pool, t).unwrap());
        let pool = pool.freeze();
        let guess = |t| {
            Evidence::Invariant(NodeFormulas { pool: Arc::clone(&pool), by_node: vec![t].into() })
        };
        let verdicts = by_node.map(|t| Verdict::Holds(guess(t)));
        context.conjecture(
            context.claims().iter().flat_map(|&c| verdicts.iter().map(move |v| (c, v.clone()))),
        );
        context.conjecture([]);
        Advance::Finished
    }

    fn obstacle(&self, _: ClaimId) -> Option<String> {
        None
    }
}

#[derive(Default)]
struct CountsSettled(AtomicU32);

impl Observer for CountsSettled {
    fn event(&self, e: &Event) {
        if matches!(e, Event::Settled(_)) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[test]
fn a_claim_is_settled_once() {
    let system = counter();
    let settled = CountsSettled::default();
    let portfolio = [info("repeats", |_| Box::new(Repeats))];
    let report = check_with(&system, &config(&system), &Cancellation::new(), &settled, &portfolio);
    assert!(matches!(report.outcomes[0].verdict, Verdict::Unknown { .. }));
    assert!(matches!(report.outcomes[1].verdict, Verdict::Holds(_)));
    assert_eq!(settled.0.load(Ordering::SeqCst), 1);
}

#[test]
fn engines_that_begin_at_once_are_checked_like_others() {
    let system = counter();
    let at_once = |name, open| EngineInfo { begins_at_once: true, ..info(name, open) };
    let portfolio = [
        at_once("panics", |_| Box::new(Panics)),
        at_once("lies", |_| Box::new(Lies)),
        at_once("guesses", |_| Box::new(Guesses)),
        by_name("bmc"),
    ];
    let report =
        check_with(&system, &config(&system), &Cancellation::new(), &NullObserver, &portfolio);
    assert_eq!(report.internal_errors.len(), 3);
    assert!(
        matches!(&report.outcomes[0].verdict, Verdict::Fails(Evidence::Run(r)) if r.length() == 3)
    );
    assert!(matches!(&report.outcomes[1].verdict, Verdict::Holds(_)));
    assert_eq!(report.outcomes[1].engine, "guesses");
    let cancel = Cancellation::new();
    cancel.cancel();
    let report = check_with(&system, &config(&system), &cancel, &NullObserver, &portfolio);
    assert!(report.outcomes.iter().all(|o| matches!(o.verdict, Verdict::Unknown { .. })));
}

/// A claim that no engine decides, so the search goes on forever.
fn endless() -> Arc<System> {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.int("y");
    m.start("go", 0, "x == 0 and y == 0");
    m.step("inc", 0, 0, &[], "true", &["x := x + 1", "y := y + x"]);
    // The claim holds, because y is a triangular number, but it is not k-inductive for any k, and
    // no linear invariant implies it.
    m.always("apart", "y != 1000005");
    m.finish()
}

/// Cancels after a few progress events.
struct CancelsAfterProgress {
    token: Cancellation,
    heard: AtomicU32,
}

impl Observer for CancelsAfterProgress {
    fn event(&self, e: &Event) {
        if matches!(e, Event::Progress { .. }) && self.heard.fetch_add(1, Ordering::SeqCst) == 5 {
            self.token.cancel();
        }
    }
}

#[test]
fn cancellation_reports_what_is_known() {
    let system = endless();
    let token = Cancellation::new();
    let observer = CancelsAfterProgress { token: token.clone(), heard: AtomicU32::new(0) };
    let report = check(&system, &config(&system), &token, &observer);
    let Verdict::Unknown { explored_through, why } = &report.outcomes[0].verdict else {
        panic!("not decidable here")
    };
    assert!(explored_through.is_some());
    let taking_part = &report.schedule.engines;
    let is_named = |name: &str| why.iter().filter(|o| o.engine == name).count() == 1;
    // An engine that has nothing to do reports no obstacle.
    let silent = |a: &EngineAccount| {
        a.ending == EngineEnding::Finished && !why.iter().any(|o| o.engine == a.engine)
    };
    assert!(
        taking_part.len() > 3 && taking_part.iter().all(|a| is_named(&a.engine) || silent(a)),
        "{why:?}"
    );
    // These are for families and arrays of any size.
    let not_concerned = ["indexed", "sizes"];
    let is_wrong = |a: &&EngineAccount| silent(a) && !not_concerned.contains(&a.engine.as_str());
    assert_eq!(taking_part.iter().filter(is_wrong).count(), 0, "{why:?}");
    assert!(report.internal_errors.is_empty());
}

#[test]
fn a_time_limit_ends_with_unknown() {
    let system = endless();
    let mut config = config(&system);
    config.timeout = Some(Duration::from_millis(300));
    let report = check(&system, &config, &Cancellation::new(), &NullObserver);
    assert!(matches!(&report.outcomes[0].verdict, Verdict::Unknown { .. }));
}

#[test]
fn unsupported_kinds_are_reported() {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.start("go", 0, "x == 0");
    m.step("inc", 0, 0, &[], "true", &["x := x + 1"]);
    m.claim("for ever", ClaimKind::InfiniteRun);
    let system = m.finish();
    let mut config = config(&system);
    assert!(matches!(
        check(&system, &config, &Cancellation::new(), &NullObserver).outcomes[0].verdict,
        Verdict::Holds(_)
    ));
    config.engines = Some(vec!["bmc".into(), "pdr".into()]);
    let report = check(&system, &config, &Cancellation::new(), &NullObserver);
    let Verdict::Unknown { why, .. } = &report.outcomes[0].verdict else {
        panic!("neither decides this")
    };
    assert!(why.iter().any(|w| w.reason.contains("infinite-run")), "{why:?}");
}

#[test]
fn a_check_without_claims_has_an_empty_report() {
    let system = counter();
    let mut config = config(&system);
    config.claims.clear();
    let report = check(&system, &config, &Cancellation::new(), &NullObserver);
    assert!(report.outcomes.is_empty() && report.internal_errors.is_empty());
}

#[test]
fn without_a_solver_claims_are_unknown_with_the_reason() {
    let system = counter();
    let mut config = config(&system);
    config.solvers = Arc::new(gander_smt::Solvers::find(gander_smt::Search::default()));
    config.engines = Some(vec!["bmc".into(), "induction".into()]);
    let report = check(&system, &config, &Cancellation::new(), &NullObserver);
    let Verdict::Unknown { why, .. } = &report.outcomes[0].verdict else {
        panic!("there is no solver")
    };
    assert!(why.iter().any(|w| w.reason.contains("no solver")), "{why:?}");
}

/// Blocks until it is cancelled.
struct Stuck;

impl Engine for Stuck {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        while !context.is_cancelled() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Advance::Finished
    }

    fn obstacle(&self, _: ClaimId) -> Option<String> {
        None
    }
}

#[test]
fn blocked_engines_do_not_block_others() {
    let system = counter();
    let mut config = config(&system);
    config.jobs = 0;
    config.timeout = Some(Duration::from_secs(100));
    let stuck = |name| info(name, |_| Box::new(Stuck));
    let names = ["stuck a", "stuck b", "stuck c", "stuck d"];
    let many: Vec<EngineInfo> =
        names.into_iter().map(stuck).chain([by_name("bmc"), by_name("induction")]).collect();
    let report = check_with(&system, &config, &Cancellation::new(), &NullObserver, &many);
    assert!(matches!(&report.outcomes[0].verdict, Verdict::Fails(_)));
    assert!(matches!(&report.outcomes[1].verdict, Verdict::Holds(_)));
    let accounts = &report.schedule.engines;
    assert!(accounts.iter().all(|a| a.began.is_some() && a.turns > 0), "{accounts:?}");
    assert_eq!(accounts.iter().map(|a| a.settled).sum::<usize>(), 2);
}

#[test]
fn the_portfolio_selects_the_engines() {
    let system = counter();
    let mut config = config(&system);
    let portfolio = "[[plan]]\nname = 'ours'\nengines.bmc = {}\nengines.induction = { share = 2, after = 0.01 }\n";
    config.portfolio = Some(gander_engines::Portfolio::parse(portfolio).unwrap());
    let report = check(&system, &config, &Cancellation::new(), &NullObserver);
    assert!(report.outcomes.iter().all(|o| !matches!(o.verdict, Verdict::Unknown { .. })));
    assert_eq!(report.schedule.plan, "ours");
    assert_eq!(
        report.schedule.model,
        "1 node, 1 transition with cycles, 1 variable, infinite, linear, safety claims"
    );
    let names: Vec<&str> = report.schedule.engines.iter().map(|a| a.engine.as_str()).collect();
    assert_eq!(names, ["bmc", "induction"]);
}

#[test]
fn a_long_run_does_not_wait_for_a_shorter_one() {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.start("go", 0, "x == 0");
    m.step("inc", 0, 0, &[], "true", &["x := x + 1"]);
    m.always("never far", "x != 100000");
    let system = m.finish();
    let mut config = config(&system);
    let limit = Duration::from_secs(600);
    (config.timeout, config.options.shorter_run_wait) = (Some(limit), Duration::from_secs(3600));
    let report = check_with(
        &system,
        &config,
        &Cancellation::new(),
        &NullObserver,
        &[by_name("bmc"), by_name("accelerate")],
    );
    assert!(
        matches!(&report.outcomes[0].verdict, Verdict::Fails(Evidence::Run(r)) if r.length() == 100_000)
    );
    assert!(report.outcomes[0].elapsed < limit, "it waited until the end");
}

#[cfg(target_os = "linux")]
#[test]
fn a_check_that_uses_too_much_memory_ends() {
    // More than the limit, which a process with one test might not use otherwise.
    let in_use = std::hint::black_box(vec![1u8; 8 << 20]);
    let system = counter();
    let mut config = config(&system);
    (config.timeout, config.memory) = (Some(Duration::from_secs(600)), Some(1 << 20));
    let report = check_with(
        &system,
        &config,
        &Cancellation::new(),
        &NullObserver,
        &[info("stuck", |_| Box::new(Stuck))],
    );
    let Verdict::Unknown { why, .. } = &report.outcomes[0].verdict else { panic!("{report:?}") };
    assert_eq!(why[0].reason, "stopped at the memory limit of 1 MB");
    drop(in_use);
}

/// Finishes its first turn and is cancelled in the second.
struct CancelledInSecondTurn {
    turns: u32,
}

impl Engine for CancelledInSecondTurn {
    fn advance(&mut self, _: &EngineContext) -> Advance {
        if self.turns == 0 {
            // The director does not collect obstacles from an engine that has hardly worked.
            std::thread::sleep(Duration::from_millis(150));
            self.turns = 1;
            return Advance::Again;
        }
        // The obstacle of an unfinished turn must not be reported.
        self.turns = 2;
        loop {
            std::thread::sleep(Duration::from_millis(1));
            check_cancelled_now();
        }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        Some(format!("turn {}, claim {}", self.turns, claim.index()))
    }
}

#[test]
fn a_cancelled_engine_reports_its_last_finished_turn() {
    let system = counter();
    let mut config = config(&system);
    config.timeout = Some(Duration::from_millis(600));
    let engine = info("broken off", |_| Box::new(CancelledInSecondTurn { turns: 0 }));
    let report = check_with(&system, &config, &Cancellation::new(), &NullObserver, &[engine]);
    for (i, outcome) in report.outcomes.iter().enumerate() {
        let Verdict::Unknown { why, .. } = &outcome.verdict else { panic!("{report:?}") };
        assert_eq!(why[0].reason, format!("turn 1, claim {i}"));
    }
}

/// Blocks in `drop` until the test opens the gate.
struct Heavy(Arc<Gate>);

#[derive(Default)]
struct Gate {
    /// Whether the gate is open, and the number of drops that have passed it.
    state: Mutex<(bool, u32)>,
    changed: Condvar,
}

impl Gate {
    /// Waits until this many have passed, at most a minute. Returns how many have.
    fn passed(&self, count: u32) -> u32 {
        let minute = Duration::from_secs(60);
        self.changed
            .wait_timeout_while(self.state.lock().unwrap(), minute, |s| s.1 < count)
            .unwrap()
            .0
            .1
    }
}

impl Drop for Heavy {
    fn drop(&mut self) {
        let minute = Duration::from_secs(60);
        let state = self.0.state.lock().unwrap();
        let (mut state, waited) =
            self.0.changed.wait_timeout_while(state, minute, |s| !s.0).unwrap();
        // A drop that timed out does not count.
        state.1 += u32::from(!waited.timed_out());
        self.0.changed.notify_all();
    }
}

static GATE: LazyLock<Arc<Gate>> = LazyLock::new(Arc::default);

/// Owns a heavy value, and holds another one while it is being cancelled.
struct OwnsHeavy {
    _own: Heavy,
    how: Advance,
}

impl Engine for OwnsHeavy {
    fn advance(&mut self, _: &EngineContext) -> Advance {
        if self.how == Advance::Finished {
            std::thread::sleep(Duration::from_millis(200));
            return Advance::Finished;
        }
        let _at_hand = Heavy(Arc::clone(&GATE));
        loop {
            std::thread::sleep(Duration::from_millis(1));
            check_cancelled_now();
        }
    }

    fn obstacle(&self, _: ClaimId) -> Option<String> {
        None
    }
}

#[test]
fn a_check_does_not_wait_for_deallocation() {
    let broken_off = info("broken off", |_| {
        Box::new(OwnsHeavy { _own: Heavy(Arc::clone(&GATE)), how: Advance::Again })
    });
    let finished = info("finished", |_| {
        Box::new(OwnsHeavy { _own: Heavy(Arc::clone(&GATE)), how: Advance::Finished })
    });
    let system = counter();
    let mut config = config(&system);
    (config.timeout, config.jobs) = (Some(Duration::from_millis(500)), 2);
    let report =
        check_with(&system, &config, &Cancellation::new(), &NullObserver, &[broken_off, finished]);
    assert!(report.outcomes.iter().all(|o| matches!(o.verdict, Verdict::Unknown { .. })));
    assert_eq!(GATE.passed(0), 0, "it was waited for");
    GATE.state.lock().unwrap().0 = true;
    GATE.changed.notify_all();
    assert_eq!(GATE.passed(3), 3);
}
