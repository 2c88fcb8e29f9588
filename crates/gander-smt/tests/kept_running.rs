//! Solver processes that serve one session after the other, or are started before their session.

mod support;

use std::time::Duration;

use gander_runtime::Cancellation;
use gander_smt::{Answer, Limits, Search, SessionConfig, SolverKind, Solvers};
use gander_term::{Pool, Sort};

const KINDS: [SolverKind; 2] = [SolverKind::Z3, SolverKind::Yices];

#[test]
fn the_next_session_gets_the_process_without_declarations_or_assertions() {
    for kind in KINDS {
        let Some(solver) = support::solver(kind, "sessions one after the other") else { continue };
        let solvers = Solvers::from_environment().kept_running();
        let mut ids = Vec::new();
        for round in 0..3 {
            let mut pool = Pool::new();
            // The same name, with another sort each time.
            let x = if round % 2 == 0 {
                pool.variable("x", Sort::Int)
            } else {
                pool.variable("x", Sort::Bool)
            };
            let zero = pool.int(0);
            let formula = if round % 2 == 0 { pool.lt(x, zero) } else { x };
            let not = pool.not(formula);
            let mut session = solvers.session(&solver, SessionConfig::default());
            ids.push(session.process_id().unwrap());
            session.assert(&pool, formula);
            assert_eq!(session.check(&[], Limits::time(Duration::from_millis(500))), Answer::Sat);
            session.push();
            session.assert(&pool, not);
            assert_eq!(session.check(&[], Limits::NONE), Answer::Unsat);
        }
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let with_cores = solvers.core_session(&solver, SessionConfig::default());
        assert_ne!(
            with_cores.process_id(),
            Some(ids[0]),
            "a session with cores needs its own beginning"
        );
        let limited = SessionConfig { memory: Some(1 << 30), ..SessionConfig::default() };
        assert_ne!(solvers.session(&solver, limited).process_id(), Some(ids[0]));
    }
}

#[test]
fn cancellation_ends_working_sessions_and_spares_idle_processes() {
    let Some(solver) = support::solver(SolverKind::Yices, "killing and keeping") else { return };
    let solvers = Solvers::from_environment().kept_running();
    let mut pool = Pool::new();
    let x = pool.variable("x", Sort::Bool);
    let cancellation = Cancellation::new();
    let config =
        || SessionConfig { cancellation: cancellation.clone(), ..SessionConfig::default() };
    let mut idle = solvers.session(&solver, config());
    idle.assert(&pool, x);
    assert_eq!(idle.check(&[], Limits::NONE), Answer::Sat);
    // This one has not answered a query yet.
    let fresh = solvers.session(&solver, config());
    let (idle_id, fresh_id) = (idle.process_id(), fresh.process_id());
    cancellation.cancel();
    drop((idle, fresh));
    let again = solvers.session(&solver, SessionConfig::default());
    assert_eq!(again.process_id(), idle_id);
    let other = solvers.session(&solver, SessionConfig::default());
    assert_ne!(other.process_id(), fresh_id);
}

#[test]
fn the_process_of_a_failed_session_is_not_reused() {
    let Some(solver) = support::solver(SolverKind::Yices, "failing and keeping") else { return };
    let solvers = Solvers::from_environment().kept_running();
    let cancellation = Cancellation::new();
    let mut session = solvers.session(
        &solver,
        SessionConfig { cancellation: cancellation.clone(), ..SessionConfig::default() },
    );
    let id = session.process_id();
    cancellation.cancel();
    assert!(matches!(session.check(&[], Limits::NONE), Answer::Unknown(_)));
    drop(session);
    assert_ne!(solvers.session(&solver, SessionConfig::default()).process_id(), id);
}

/// The commands that a solver received before its session are in the log of the session.
#[test]
fn a_prepared_solver_behaves_like_a_new_one() {
    for kind in KINDS {
        let Some(solver) = support::solver(kind, "solvers that are ready") else { continue };
        let search = Search {
            named: vec![(solver.name.to_string(), solver.program.clone())],
            ..Search::default()
        };
        let solvers = Solvers::find(search);
        let mut logs = Vec::new();
        solvers.prepare();
        for _ in 0..2 {
            let mut session = solvers.session(&solver, SessionConfig::default());
            let path = std::env::temp_dir().join(format!(
                "gander-ready-{}-{}",
                std::process::id(),
                kind.name()
            ));
            session.set_log(Box::new(std::fs::File::create(&path).unwrap()));
            let mut pool = Pool::new();
            let (n, zero) = (pool.variable("n", Sort::Real), pool.real(0));
            let (below, above) = (pool.lt(n, zero), pool.lt(zero, n));
            session.assert(&pool, below);
            assert_eq!(session.check(&[], Limits::NONE), Answer::Sat);
            session.assert(&pool, above);
            assert_eq!(session.check(&[], Limits::NONE), Answer::Unsat);
            session.reset();
            session.assert(&pool, above);
            assert_eq!(session.check(&[], Limits::NONE), Answer::Sat);
            drop(session);
            logs.push(std::fs::read_to_string(&path).unwrap());
            std::fs::remove_file(&path).unwrap();
        }
        assert_eq!(logs[0], logs[1]);
        assert!(logs[0].starts_with("(set-option"), "{}", logs[0]);
    }
}
