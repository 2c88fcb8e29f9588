//! A solver that misbehaves makes one query unknown, in all these ways.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gander_runtime::Cancellation;
use gander_smt::{
    Answer, CoreSession, Limits, Reason, Session, SessionConfig, Solver, SolverKind, StepSymbol,
};
use gander_term::{Pool, Sort, TermId, Value};

const PLENTY: Limits = Limits { time: Some(Duration::from_secs(60)) };
const LITTLE: Limits = Limits { time: Some(Duration::from_millis(300)) };

fn fake(way: &str) -> Solver {
    let mut solver = Solver::new(SolverKind::Other, env!("CARGO_BIN_EXE_gander-fake-solver"));
    solver.extra_arguments.push(way.to_string());
    solver
}

/// A file that the fake solver creates when it has misbehaved once.
fn once() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name =
        format!("gander-fake-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    std::env::temp_dir().join(name)
}

fn formula(pool: &mut Pool) -> TermId {
    let x = pool.variable("x", Sort::Int);
    let five = pool.int(5);
    pool.eq(x, five)
}

fn is_running(id: u32) -> bool {
    let pid = rustix::process::Pid::from_raw(id as i32).unwrap();
    rustix::process::test_kill_process(pid).is_ok()
}

/// Expects this reason as the answer, and an answer of the same session after a restart.
fn costs_one_query(way: &str, limits: Limits, expected: impl Fn(&Reason) -> bool) {
    let file = once();
    let mut solver = fake(way);
    solver.extra_arguments.push(format!("--once={}", file.display()));
    let config = SessionConfig { output_limit: 1 << 20, ..SessionConfig::default() };
    let mut session = CoreSession::start(&solver, config);
    let process = session.process_id().unwrap();
    let mut pool = Pool::new();
    let f = formula(&mut pool);
    let x = StepSymbol::rigid(pool.find_symbol("x").unwrap());
    session.assert(&pool, f);
    let assumption = session.literal();
    let reason = match session.check(&[assumption], limits) {
        Answer::Unknown(reason) => reason,
        Answer::Sat => session.values(&pool, &[x], limits).expect_err(way),
        Answer::Unsat => match session.core(limits) {
            Err(reason) => reason,
            // The fault is noticed before the next answer.
            Ok(_) => panic!("{way}: a core"),
        },
    };
    assert!(expected(&reason), "{way}: {reason:?}");
    if session.failure().is_some() {
        assert!(!is_running(process), "{way}: left running");
        assert_eq!(session.failure(), Some(&reason), "{way}");
        // A failed session keeps its reason.
        session.assert(&pool, f);
        assert_eq!(session.check(&[], limits), Answer::Unknown(reason), "{way}");
    }
    session.restart();
    session.assert(&pool, f);
    assert_eq!(session.check(&[], PLENTY), Answer::Sat, "{way}");
    assert_eq!(session.values(&pool, &[x], PLENTY), Ok(vec![Value::int(5)]), "{way}");
    std::fs::remove_file(file).unwrap();
}

fn is_garbage(reason: &Reason) -> bool {
    matches!(reason, Reason::Garbage(_))
}

fn is_death(reason: &Reason) -> bool {
    matches!(reason, Reason::Died(_))
}

#[test]
fn a_solver_that_dies_makes_the_query_unknown() {
    costs_one_query(
        "dies at start",
        PLENTY,
        |r| matches!(r, Reason::Died(how) if how.contains('7')),
    );
    costs_one_query(
        "dies at check",
        PLENTY,
        |r| matches!(r, Reason::Died(how) if how.contains("last words")),
    );
    costs_one_query("dies in the middle", PLENTY, is_death);
    costs_one_query("closes its output", PLENTY, is_death);
}

#[test]
fn a_solver_that_hangs_makes_the_query_unknown() {
    costs_one_query("hangs", LITTLE, |r| *r == Reason::Timeout);
    costs_one_query("stops in the middle", LITTLE, |r| *r == Reason::Timeout);
    costs_one_query("never reads", LITTLE, |r| *r == Reason::Timeout);
}

#[test]
fn a_solver_that_floods_makes_the_query_unknown() {
    costs_one_query("floods", PLENTY, is_garbage);
    costs_one_query("floods inside an answer", PLENTY, is_garbage);
}

#[test]
fn a_flood_of_error_output_is_dropped() {
    let mut session = Session::start(&fake("floods errors"), SessionConfig::default());
    assert_eq!(session.check(&[], PLENTY), Answer::Sat);
}

#[test]
fn unexpected_output_makes_the_query_unknown() {
    costs_one_query("prints garbage", PLENTY, is_garbage);
    costs_one_query("prints bytes", PLENTY, is_garbage);
    costs_one_query("nests deep", PLENTY, is_garbage);
    costs_one_query("closes a parenthesis too many", PLENTY, is_garbage);
    costs_one_query("complains", PLENTY, |r| matches!(r, Reason::SolverError(_)));
    costs_one_query("says it is out of memory", PLENTY, |r| *r == Reason::Memory);
    costs_one_query(
        "gives up",
        PLENTY,
        |r| matches!(r, Reason::Incomplete(why) if why == "I am tired"),
    );
}

#[test]
fn wrong_values_and_cores_are_rejected() {
    costs_one_query("gives a value of the wrong sort", PLENTY, is_garbage);
    costs_one_query("gives too few values", PLENTY, is_garbage);
    costs_one_query("gives no pairs", PLENTY, is_garbage);
    costs_one_query("invents a core", PLENTY, is_garbage);
    costs_one_query("talks nonsense as a core", PLENTY, is_garbage);
}

#[test]
fn an_additional_answer_is_not_taken_for_the_next_one() {
    let mut session = Session::start(&fake("answers twice"), SessionConfig::default());
    assert_eq!(session.check(&[], PLENTY), Answer::Unsat);
    let next = session.check(&[], PLENTY);
    assert!(matches!(next, Answer::Unknown(Reason::Garbage(_))), "{next:?}");
}

#[test]
fn a_missing_program_is_reported() {
    let mut session =
        Session::start(&Solver::new(SolverKind::Z3, "/no/such/program"), SessionConfig::default());
    assert!(matches!(session.check(&[], PLENTY), Answer::Unknown(Reason::NotStarted(_))));
}

#[test]
fn much_text_to_a_solver_that_does_not_read_does_not_block() {
    let mut session = Session::start(&fake("never reads"), SessionConfig::default());
    let mut pool = Pool::new();
    for i in 0..50_000 {
        let x = pool.variable(&format!("variable number {i}"), Sort::Bool);
        session.assert(&pool, x);
    }
    assert_eq!(session.check(&[], LITTLE), Answer::Unknown(Reason::Timeout));
}

#[test]
fn killing_from_another_thread_ends_a_query_without_limits() {
    for way in ["hangs", "never reads", "stops in the middle"] {
        let cancellation = Cancellation::new();
        let config =
            SessionConfig { cancellation: cancellation.clone(), ..SessionConfig::default() };
        let mut session = Session::start(&fake(way), config);
        let process = session.process_id().unwrap();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            cancellation.cancel();
        });
        assert_eq!(session.check(&[], Limits::NONE), Answer::Unknown(Reason::Interrupted), "{way}");
        thread.join().unwrap();
        assert!(!is_running(process), "{way}");
    }
}

/// If this program is killed in the middle of a query, the limit on processor time ends the solver.
#[cfg(target_os = "linux")]
#[test]
fn a_working_solver_has_a_limit_on_processor_time_with_or_without_a_deadline() {
    let limit = |process: u32| {
        let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
        let line = limits.lines().find(|l| l.starts_with("Max cpu time")).unwrap();
        line.split_ascii_whitespace().nth(3).unwrap().parse::<u64>().ok()
    };
    for (limits, longest) in
        [(Limits::NONE, 400), (PLENTY, 70), (Limits::time(Duration::from_secs(4000)), 400)]
    {
        let cancellation = Cancellation::new();
        let config =
            SessionConfig { cancellation: cancellation.clone(), ..SessionConfig::default() };
        let mut session = Session::start(&fake("hangs"), config);
        let process = session.process_id().unwrap();
        assert_eq!(limit(process), None, "there is nothing to do yet");
        let thread = std::thread::spawn(move || session.check(&[], limits));
        let found = loop {
            if let Some(seconds) = limit(process) {
                break seconds;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        cancellation.cancel();
        assert_eq!(thread.join().unwrap(), Answer::Unknown(Reason::Interrupted));
        assert!(found > 10 && found < longest, "{found}");
    }
}

#[test]
fn a_script_that_ignores_signals_dies_with_its_children() {
    let mut solver = Solver::new(SolverKind::Other, "/bin/sh");
    solver.extra_arguments =
        ["-c", "trap '' TERM INT HUP; sleep 3600; sleep 3600"].map(String::from).into();
    let mut session = Session::start(&solver, SessionConfig::default());
    let process = session.process_id().unwrap();
    assert_eq!(session.check(&[], LITTLE), Answer::Unknown(Reason::Timeout));
    assert!(!is_running(process));
    let group = rustix::process::Pid::from_raw(process as i32).unwrap();
    // The sleeping child exists until the system has reaped it.
    for _ in 0..200 {
        if rustix::process::test_kill_process_group(group).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // In a container without an init process, orphans stay as zombies.
    let stat =
        std::process::Command::new("ps").args(["-o", "stat=", "-g", &process.to_string()]).output();
    if let Ok(output) = stat {
        let states = String::from_utf8_lossy(&output.stdout);
        assert!(
            states.lines().all(|l| l.trim().is_empty() || l.trim().starts_with('Z')),
            "{states}"
        );
    }
}

#[test]
fn a_dropped_session_leaves_no_process() {
    let session = Session::start(&fake("hangs"), SessionConfig::default());
    let process = session.process_id().unwrap();
    assert!(is_running(process));
    drop(session);
    assert!(!is_running(process));
}
