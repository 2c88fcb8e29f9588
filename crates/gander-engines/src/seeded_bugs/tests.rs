//! Each engine with bugs: every bug is noticed, by the checker or by comparison with the oracle.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_oracle::{
    GeneratedSystem, OpenRun, OpenSystem, Settings, Tier, generate, generate_open, generate_with,
};
use gander_smt::Solvers;
use gander_system::{
    ClaimId, ClaimKind, ClaimOrigin, Evidence, NodeId, Role, System, SystemBuilder, Verdict,
};
use gander_term::{Pool, Sort, Value, parse_term};

use super::bugs::*;
use super::{SeededBug, bug, engine, engines};
use crate::{Cancellation, CheckConfig, CheckReport, EngineInfo, NullObserver, check_with};

/// Random systems that are tried for one bug.
const MAX_SEEDS: u64 = 400;

/// An engine, or the same with a bug.
fn with(name: &str, seeded: Option<SeededBug>) -> EngineInfo {
    let info = engine(name);
    seeded.map_or(info, |b| (b.seed)(info))
}

fn config(solvers: &Arc<Solvers>, claims: Vec<ClaimId>) -> CheckConfig {
    let mut config = CheckConfig::new(Arc::clone(solvers), claims);
    config.jobs = 1;
    config.timeout = Some(Duration::from_secs(5));
    config.options.max_depth = Some(3);
    config.options.induction.max_k = Some(5);
    config.options.invariants.max_rounds = Some(4);
    config
}

fn all_claims(system: &System) -> Vec<ClaimId> {
    (0..system.claims().len()).map(ClaimId::from).collect()
}

fn run(system: &Arc<System>, config: &CheckConfig, engines: &[EngineInfo]) -> CheckReport {
    check_with(system, config, &Cancellation::new(), &NullObserver, engines)
}

fn refused(report: &CheckReport) -> Option<String> {
    report.internal_errors.first().map(|e| format!("the checker: {}", e.problem))
}

/// How a bug is noticed on a system, if it is.
fn noticed(
    solvers: &Arc<Solvers>,
    made: &GeneratedSystem,
    engines: &[EngineInfo],
) -> Option<String> {
    let report = run(&made.system, &config(solvers, all_claims(&made.system)), engines);
    if let Some(how) = refused(&report) {
        return Some(how);
    }
    for (outcome, expected) in report.outcomes.iter().zip(&made.answers) {
        let (holds, evidence) = match &outcome.verdict {
            Verdict::Holds(e) => (true, e),
            Verdict::Fails(e) => (false, e),
            Verdict::Unknown { explored_through, .. } => {
                let explored = |n: u64| explored_through.is_some_and(|d| n <= u64::from(d));
                if expected.length.is_some_and(explored) {
                    return Some("the oracle: a run within the depth that was explored".into());
                }
                continue;
            }
        };
        let length = match evidence {
            Evidence::Run(run) => Some(run.length()),
            _ => None,
        };
        let shortest = engines.iter().all(|e| e.finds_shortest || e.name == "induction");
        let wrong_length = length < expected.length || (shortest && length != expected.length);
        if holds != expected.holds || (length.is_some() && wrong_length) {
            return Some("the oracle: another answer".into());
        }
    }
    None
}

/// Every bug is noticed on some system on which nothing is wrong without it.
fn are_noticed<S>(
    bugs: &[SeededBug],
    generate: impl Fn(u64) -> S,
    noticed: impl Fn(&S, Option<SeededBug>) -> Option<String>,
) {
    for &bug in bugs {
        let caught = (0..MAX_SEEDS).find_map(|seed| {
            let made = generate(seed);
            noticed(&made, Some(bug)).map(|_| made)
        });
        let made = caught.unwrap_or_else(|| panic!("{} is not caught", bug.name));
        assert_eq!(noticed(&made, None), None, "nothing is wrong without {}", bug.name);
    }
}

/// Every bug is noticed in these engines on random systems; only the full tier looks.
fn are_caught(test: &str, names: &[&str], bugs: &[SeededBug]) {
    if !Tier::is_full(test) {
        return;
    }
    let solvers = Arc::new(Solvers::from_environment());
    are_noticed(bugs, generate, |made, bug| {
        let engines: Vec<EngineInfo> = names.iter().map(|n| with(n, bug)).collect();
        noticed(&solvers, made, &engines)
    });
}

#[test]
fn bugs_of_simulation_are_caught() {
    are_caught(
        "bugs_of_simulation_are_caught",
        &["simulate"],
        &[bug::<DroppedGuard>(), bug::<WrongValue>(), bug::<LostStep>()],
    );
}

#[test]
fn bugs_of_bounded_model_checking_are_caught() {
    are_caught(
        "bugs_of_bounded_model_checking_are_caught",
        &["bmc"],
        &[
            bug::<OffByOneDepth>(),
            bug::<DroppedFrame>(),
            bug::<DroppedAssumption>(),
            bug::<DroppedStart>(),
            bug::<WrongNode>(),
            bug::<WrongOperator>(),
        ],
    );
}

#[test]
fn bugs_of_induction_are_caught() {
    are_caught(
        "bugs_of_induction_are_caught",
        &["bmc", "induction"],
        &[
            bug::<CircularProof>(),
            bug::<ShallowProof>(),
            bug::<LostStates>(),
            bug::<DroppedAssumption>(),
        ],
    );
}

#[test]
fn bugs_of_node_invariants_are_caught() {
    are_caught(
        "bugs_of_node_invariants_are_caught",
        &["nodes"],
        &[
            bug::<DroppedGuard>(),
            bug::<DroppedFrame>(),
            bug::<DroppedAssumption>(),
            bug::<ForgottenStart>(),
            bug::<LostConjunct>(),
        ],
    );
}

#[test]
fn bugs_of_explicit_search_are_caught() {
    are_caught(
        "bugs_of_explicit_search_are_caught",
        &["explicit"],
        &[
            bug::<DroppedFrame>(),
            bug::<WrongNode>(),
            bug::<DroppedAssumption>(),
            bug::<LostStates>(),
            bug::<ShallowProof>(),
        ],
    );
}

#[test]
fn bugs_of_directed_search_are_caught() {
    are_caught(
        "bugs_of_directed_search_are_caught",
        &["guided"],
        &[bug::<DroppedFrame>(), bug::<WrongNode>(), bug::<DroppedAssumption>()],
    );
}

#[test]
fn bugs_of_diagrams_are_caught() {
    are_caught(
        "bugs_of_diagrams_are_caught",
        &["bdd"],
        &[bug::<DroppedAssumption>(), bug::<LostStates>(), bug::<WrongNode>()],
    );
}

#[test]
fn bugs_of_the_search_for_invariants_are_caught() {
    are_caught(
        "bugs_of_the_search_for_invariants_are_caught",
        &["invariants"],
        &[bug::<ForgottenStart>(), bug::<LostConjunct>(), bug::<LostStates>()],
    );
}

#[test]
fn bugs_of_property_directed_reachability_are_caught() {
    are_caught(
        "bugs_of_property_directed_reachability_are_caught",
        &["pdr"],
        &[
            bug::<ForgottenStart>(),
            bug::<LostConjunct>(),
            bug::<LostStates>(),
            bug::<DroppedAssumption>(),
        ],
    );
}

#[test]
fn bugs_of_horn_clauses_are_caught() {
    are_caught("bugs_of_horn_clauses_are_caught", &["horn"], &[bug::<DroppedFrame>()]);
}

/// The invariants of Horn clauses are conjectures: the director drops those that the checker
/// refutes, so a bug in them costs answers and is no internal error.
#[test]
fn wrong_invariants_of_horn_clauses_are_dropped() {
    if !Tier::is_full("wrong_invariants_of_horn_clauses_are_dropped") {
        return;
    }
    let solvers = Arc::new(Solvers::from_environment());
    let open_claims = |made: &GeneratedSystem, bug| {
        let config = config(&solvers, all_claims(&made.system));
        let report = run(&made.system, &config, &[with("horn", bug)]);
        assert_eq!(report.internal_errors.len(), 0);
        report.outcomes.iter().filter(|o| matches!(o.verdict, Verdict::Unknown { .. })).count()
    };
    let buggy = Some(bug::<ForgottenStart>());
    let lost = (0..12).filter(|&seed| {
        let made = generate(seed);
        assert_eq!(noticed(&solvers, &made, &[with("horn", buggy)]), None, "seed {seed}");
        open_claims(&made, buggy) > open_claims(&made, None)
    });
    assert_ne!(lost.count(), 0, "no invariant is dropped");
}

/// Invariants of families of any size are conjectures, too.
#[test]
fn wrong_invariants_of_families_are_dropped() {
    let text = include_str!("../../../../corpus/sts/holds/any_size_lock.sts");
    let system = Arc::new(gander_lang::sts::load(text, "lock.sts").system.unwrap());
    let claim = system.find_claim("exclusive").unwrap().name.clone();
    let solvers = Arc::new(Solvers::from_environment());
    let verdict = |bug| {
        let is_claim = |c: &ClaimId| system.claims()[c.index()].name == claim;
        let claims = all_claims(&system).into_iter().filter(is_claim).collect();
        let mut config = config(&solvers, claims);
        config.timeout = Some(Duration::from_secs(60));
        let mut report = run(&system, &config, &[with("indexed", bug)]);
        assert_eq!(refused(&report), None);
        report.outcomes.remove(0).verdict
    };
    assert!(matches!(verdict(None), Verdict::Holds(Evidence::Invariant(_))));
    for bug in [bug::<ForgottenStart>(), bug::<LostConjunct>()] {
        let found = verdict(Some(bug));
        assert!(matches!(found, Verdict::Unknown { .. }), "{}: {found:?}", bug.name);
    }
}

#[test]
fn bugs_of_backward_search_are_caught() {
    are_caught(
        "bugs_of_backward_search_are_caught",
        &["backward"],
        &[bug::<DroppedGuard>(), bug::<LostStates>(), bug::<WrongOperator>()],
    );
}

#[test]
fn bugs_of_path_search_are_caught() {
    are_caught(
        "bugs_of_path_search_are_caught",
        &["paths"],
        &[bug::<DroppedGuard>(), bug::<LostStates>(), bug::<LostStep>()],
    );
}

#[test]
fn bugs_of_conjectured_bounds_are_caught() {
    are_caught(
        "bugs_of_conjectured_bounds_are_caught",
        &["smt-only"],
        &[bug::<DroppedGuard>(), bug::<WrongValue>()],
    );
}

/// How a bug in the search with small sizes is noticed on a system with arrays of an open size, if
/// it is.
fn noticed_in_open(solvers: &Arc<Solvers>, open: &OpenSystem, sizes: EngineInfo) -> Option<String> {
    let mut config = config(solvers, all_claims(&open.system));
    config.jobs = 0;
    config.timeout = Some(Duration::from_secs(10));
    let begun = Instant::now();
    let report = run(&open.system, &config, &[sizes]);
    let in_time = config.timeout.is_none_or(|t| begun.elapsed() < t);
    if let Some(how) = refused(&report) {
        return Some(how);
    }
    for (i, outcome) in report.outcomes.iter().enumerate() {
        let (holds, run) = match &outcome.verdict {
            Verdict::Holds(Evidence::Run(run)) => (true, run),
            Verdict::Fails(Evidence::Run(run)) => (false, run),
            _ => {
                let kind = &open.system.claims()[i].kind;
                let due = open.shortest(i).is_some_and(|(_, length)| length <= 3);
                if in_time && (sizes.decides)(kind) && due {
                    return Some("the oracle: a run that was not found".into());
                }
                continue;
            }
        };
        let size = match &run.first.values[open.sizes[0].index()] {
            Value::Int(n) => i64::try_from(n).ok(),
            _ => None,
        };
        if !open.agrees(i, OpenRun { holds, size, length: run.length() }) {
            return Some("the oracle: another run".into());
        }
    }
    None
}

#[test]
fn bugs_of_small_sizes_are_caught() {
    if !Tier::is_full("bugs_of_small_sizes_are_caught") {
        return;
    }
    let solvers = Arc::new(Solvers::from_environment().kept_running());
    let bugs = [bug::<LostAnswer>(), bug::<WrongOperator>(), bug::<WrongValue>()];
    are_noticed(&bugs, generate_open, |open, bug| {
        noticed_in_open(&solvers, open, with("sizes", bug))
    });
}

/// A system with one node, int variables with their effects, and one transition.
fn one_loop(
    vars: &[(&str, &str)],
    start: &str,
    guard: &str,
    claims: impl FnOnce(&mut SystemBuilder),
) -> Arc<System> {
    let mut b = SystemBuilder::new("loop", Pool::new(), &[("N", None)]).unwrap();
    let ids: Vec<_> = vars
        .iter()
        .map(|(name, _)| b.var(name, Sort::Int, Role::State, None, None).unwrap())
        .collect();
    let begin = parse_term(&mut b.pool, start).unwrap();
    b.start("go", NodeId(0), &[(begin, None)], None).unwrap();
    let mut draft = b.transition("step", None, NodeId(0), NodeId(0), None).unwrap();
    let guard = parse_term(&mut b.pool, guard).unwrap();
    b.guard(&mut draft, guard, None).unwrap();
    for (&var, (_, value)) in ids.iter().zip(vars) {
        let value = parse_term(&mut b.pool, value).unwrap();
        b.assign(&mut draft, var, value, None).unwrap();
    }
    b.add(draft).unwrap();
    claims(&mut b);
    Arc::new(b.finish())
}

/// A counter with a copy of its value a step before, and a limit.
fn counter() -> Arc<System> {
    one_loop(&[("x", "x + 1"), ("old", "x")], "x == 0 and old == 0", "x < 100", |b| {
        for text in ["x < 60", "old < 50", "x < 150", "x >= 0"] {
            let formula = parse_term(&mut b.pool, text).unwrap();
            let formula = b.state_formula(formula, "claim").unwrap();
            b.claim(text, ClaimKind::Always(formula), ClaimOrigin::Written, text, None).unwrap();
        }
    })
}

/// What acceleration makes of the counter: a word for each claim, and what the checker refused.
fn accelerated(solvers: &Arc<Solvers>, seeded: Option<SeededBug>) -> (Vec<String>, Option<String>) {
    let system = counter();
    let mut config = config(solvers, all_claims(&system));
    config.timeout = Some(Duration::from_secs(20));
    config.options.max_depth = Some(6);
    let report = run(&system, &config, &[with("accelerate", seeded)]);
    let word = |verdict: &Verdict| match verdict {
        Verdict::Holds(_) => "holds".to_string(),
        Verdict::Fails(Evidence::Run(run)) => format!("fails after {}", run.length()),
        Verdict::Fails(_) => "fails".to_string(),
        Verdict::Unknown { .. } => "not decided".to_string(),
    };
    (report.outcomes.iter().map(|o| word(&o.verdict)).collect(), refused(&report))
}

#[test]
fn bugs_of_acceleration_are_caught() {
    if !Tier::is_full("bugs_of_acceleration_are_caught") {
        return;
    }
    let solvers = Arc::new(Solvers::from_environment());
    let (right, problem) = accelerated(&solvers, None);
    assert_eq!(right[..2], ["fails after 60", "fails after 51"]);
    assert!(right[2..].iter().all(|w| w == "holds" || w == "not decided"), "{right:?}");
    assert_eq!(problem, None);
    for seeded in [bug::<LostRound>(), bug::<LostStep>(), bug::<WrongOperator>()] {
        let (words, problem) = accelerated(&solvers, Some(seeded));
        assert!(problem.is_some(), "{} is not caught: {words:?}", seeded.name);
    }
}

/// How a bug is noticed in the liveness claims of a random system, if it is.
fn noticed_in_liveness(
    solvers: &Arc<Solvers>,
    made: &GeneratedSystem,
    liveness: EngineInfo,
) -> Option<String> {
    let mut claims = all_claims(&made.system);
    claims.retain(|c| (liveness.decides)(&made.system.claims()[c.index()].kind));
    if claims.is_empty() {
        return None;
    }
    let mut config = config(solvers, claims);
    config.timeout = Some(Duration::from_secs(2));
    config.options.max_depth = Some(8);
    config.options.induction.max_k = Some(8);
    let report = run(&made.system, &config, &[liveness]);
    let wrong = report.outcomes.iter().any(|o| {
        let expected = made.answers[o.claim.index()].holds;
        matches!((&o.verdict, expected), (Verdict::Holds(_), false) | (Verdict::Fails(_), true))
    });
    refused(&report).or_else(|| wrong.then(|| "the oracle: another answer".to_string()))
}

#[test]
fn bugs_of_liveness_are_caught() {
    let solvers = Arc::new(Solvers::from_environment());
    let bugs = [
        bug::<LateLoop>(),
        bug::<DroppedFairness>(),
        bug::<FewerRounds>(),
        bug::<ForgottenEnds>(),
        bug::<LostStates>(),
    ];
    let generate = |seed| generate_with(seed, Settings::few_states());
    are_noticed(&bugs, generate, |made, bug| {
        noticed_in_liveness(&solvers, made, with("liveness", bug))
    });
}

/// Only ranks show that a counter without an upper bound comes to 0.
#[test]
fn wrong_ranks_are_caught() {
    let system = one_loop(&[("x", "x - 1")], "x >= 0", "x > 0", |b| {
        let goal = parse_term(&mut b.pool, "x == 0").unwrap();
        let goal = b.state_formula(goal, "claim").unwrap();
        let kind = ClaimKind::Eventually { goal, under: Vec::new() };
        b.claim("ends", kind, ClaimOrigin::Written, "ends", None).unwrap();
    });
    let solvers = Arc::new(Solvers::from_environment());
    let mut config = config(&solvers, all_claims(&system));
    config.timeout = Some(Duration::from_secs(10));
    let report = run(&system, &config, &[with("liveness", None)]);
    assert!(matches!(report.outcomes[0].verdict, Verdict::Holds(_)), "{:?}", report.outcomes[0]);
    assert_eq!(refused(&report), None);
    let report = run(&system, &config, &[with("liveness", Some(bug::<ConstantRanks>()))]);
    assert!(refused(&report).is_some());
}

/// Every engine has a test above.
#[test]
fn every_engine_is_given_bugs() {
    let tests = include_str!("tests.rs");
    for info in engines() {
        let name = format!("\"{}\"", info.name);
        assert!(tests.contains(&name), "{} has no seeded bugs", info.name);
    }
}
