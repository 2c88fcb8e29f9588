//! Runs are made short and their numbers simple before they are checked and reported.

mod models;

use std::sync::{Arc, Mutex};

use gander_engines::{
    Advance, Cancellation, CheckReport, Engine, EngineContext, EngineInfo, NullObserver, Outcome,
    check_with, engines,
};
use gander_system::{
    ClaimId, ClaimOrigin, Evidence, Leg, NodeId, Role, Run, StartId, State, Step, System,
    SystemBuilder, TransitionId, Verdict,
};
use gander_term::{Pool, RBig, Sort, Value, parse_term};
use models::{Model, config};

/// Proposes the runs that a test puts here, one for each claim.
struct Proposes;

static PROPOSED: Mutex<Vec<(String, Vec<Verdict>)>> = Mutex::new(Vec::new());

impl Engine for Proposes {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let all = PROPOSED.lock().unwrap();
        let (_, verdicts) = all.iter().find(|(n, _)| *n == context.system().name()).unwrap();
        for (&claim, verdict) in context.claims().iter().zip(verdicts) {
            context.propose_given(claim, verdict.clone());
        }
        Advance::Finished
    }

    fn obstacle(&self, _: ClaimId) -> Option<String> {
        None
    }
}

const PROPOSES: EngineInfo = EngineInfo {
    name: "proposes",
    about: "",
    decides: |_| true,
    finds_shortest: false,
    begins_at_once: false,
    open: |_| Box::new(Proposes),
};

/// Checks the claims with one engine, which proposes these verdicts, and perhaps others.
fn checked(system: &Arc<System>, verdicts: Vec<Verdict>, others: &[EngineInfo]) -> CheckReport {
    PROPOSED.lock().unwrap().push((system.name().to_string(), verdicts));
    let engines: Vec<EngineInfo> = others.iter().copied().chain([PROPOSES]).collect();
    let report = check_with(system, &config(system), &Cancellation::new(), &NullObserver, &engines);
    assert!(report.internal_errors.is_empty(), "{:?}", report.internal_errors);
    report
}

fn run_of(outcome: &Outcome) -> &Run {
    match &outcome.verdict {
        Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run)) => run,
        other => panic!("{other:?}"),
    }
}

/// A run that takes these transitions without parameters from a state.
fn taking(first: State, transitions: &[u32]) -> Run {
    let step =
        |&t: &u32| Leg::Step(Step { transition: TransitionId(t), params: Vec::new(), next: None });
    Run { start: StartId(0), first, legs: transitions.iter().map(step).collect() }
}

/// x counts up and down, y toggles.
fn counter(name: &str) -> Arc<System> {
    let mut m = Model { b: SystemBuilder::new(name, Pool::new(), &[("A", None)]).unwrap() };
    m.int("x");
    m.bool("y");
    m.start("go", 0, "x == 0 and not y");
    m.step("inc", 0, 0, &[], "x < 10", &["x := x + 1"]);
    m.step("dec", 0, 0, &[], "x > 0", &["x := x - 1"]);
    m.step("toggle", 0, 0, &[], "true", &["y := not y"]);
    m.always("below three", "x < 3");
    m.reachable("up and down", &["x == 2", "x == 1"]);
    m.finish()
}

fn nothing_counted() -> State {
    State { node: NodeId(0), values: vec![Value::int(0), Value::Bool(false)] }
}

#[test]
fn cycles_and_needless_steps_are_removed() {
    let system = counter("cycles");
    let (inc, dec, toggle) = (0, 1, 2);
    // 120 steps that come back to the start, then three with a needless one between them.
    let mut steps = [inc, toggle, dec, toggle].repeat(30);
    steps.extend([inc, toggle, inc, inc]);
    let fails = Verdict::Fails(Evidence::Run(taking(nothing_counted(), &steps)));
    let mut steps = [inc, dec].repeat(20);
    steps.extend([toggle, inc, inc, toggle, dec]);
    let holds = Verdict::Holds(Evidence::Run(taking(nothing_counted(), &steps)));
    let report = checked(&system, vec![fails.clone(), holds.clone()], &[]);
    let lengths: Vec<u64> = report.outcomes.iter().map(|o| run_of(o).length()).collect();
    assert_eq!(lengths, [3, 3]);
    // No engine has searched the shorter runs.
    assert_eq!(report.outcomes.iter().map(|o| o.shortest).collect::<Vec<_>>(), [Some(false); 2]);
}

#[test]
fn a_run_is_called_shortest_if_an_engine_searched_the_shorter_ones() {
    let system = counter("searched");
    let steps = [0, 1, 0, 0, 0];
    let run = || Evidence::Run(taking(nothing_counted(), &steps));
    let goals = Evidence::Run(taking(nothing_counted(), &[0, 0, 1]));
    let explicit = *engines().iter().find(|e| e.name == "explicit").unwrap();
    let report = checked(&system, vec![Verdict::Fails(run()), Verdict::Holds(goals)], &[explicit]);
    let lengths: Vec<u64> = report.outcomes.iter().map(|o| run_of(o).length()).collect();
    assert_eq!(lengths, [3, 3]);
    assert_eq!(report.outcomes.iter().map(|o| o.shortest).collect::<Vec<_>>(), [Some(true); 2]);
}

#[test]
fn a_wrong_run_stays_an_internal_error() {
    let system = counter("wrong");
    // The last step is not enabled.
    let run = taking(nothing_counted(), &[0, 1, 1]);
    PROPOSED
        .lock()
        .unwrap()
        .push((system.name().to_string(), vec![Verdict::Fails(Evidence::Run(run))]));
    let report =
        check_with(&system, &config(&system), &Cancellation::new(), &NullObserver, &[PROPOSES]);
    assert_eq!(report.internal_errors.len(), 1);
    assert!(matches!(report.outcomes[0].verdict, Verdict::Unknown { .. }));
}

#[test]
fn repetitions_are_cut_to_what_is_needed() {
    let mut m = Model { b: SystemBuilder::new("repeated", Pool::new(), &[("A", None)]).unwrap() };
    m.int("x");
    m.int("turns");
    m.start("go", 0, "x == 0 and turns == 0");
    m.step("inc", 0, 0, &[], "true", &["x := x + 1"]);
    m.step("turn", 0, 0, &[], "true", &["turns := turns + 1"]);
    m.always("small", "x < 120");
    let system = m.finish();
    let step = |t: u32, values: [i64; 2]| {
        let next = Some(values.map(Value::int).to_vec());
        Leg::Step(Step { transition: TransitionId(t), params: Vec::new(), next })
    };
    let legs = vec![
        Leg::Repeat { times: 17_000, body: vec![step(1, [0, 17_000])] },
        Leg::Repeat { times: 120, body: vec![step(0, [120, 17_000])] },
    ];
    let first = State { node: NodeId(0), values: vec![Value::int(0), Value::int(0)] };
    let run = Run { start: StartId(0), first, legs: legs.into() };
    let report = checked(&system, vec![Verdict::Fails(Evidence::Run(run))], &[]);
    assert_eq!(run_of(&report.outcomes[0]).length(), 120);
}

#[test]
fn long_numbers_become_simple_ones() {
    let mut b = SystemBuilder::new("account", Pool::new(), &[("A", None)]).unwrap();
    let balance = b.var("balance", Sort::Real, Role::State, None, None).unwrap();
    let zero = parse_term(&mut b.pool, "balance == 0.0").unwrap();
    b.start("go", NodeId(0), &[(zero, None)], None).unwrap();
    let gate = b.gate("deposit");
    let mut d = b.transition("deposit", Some(gate), NodeId(0), NodeId(0), None).unwrap();
    b.param(&mut d, "amount", Sort::Real, None).unwrap();
    let guard =
        parse_term(&mut b.pool, "`deposit.amount` > 149.9 and `deposit.amount` <= 1000.5").unwrap();
    b.guard(&mut d, guard, None).unwrap();
    let sum = parse_term(&mut b.pool, "balance + `deposit.amount`").unwrap();
    b.assign(&mut d, balance, sum, None).unwrap();
    b.add(d).unwrap();
    let small = parse_term(&mut b.pool, "balance < 299.9").unwrap();
    let small = b.state_formula(small, "test").unwrap();
    let kind = gander_system::ClaimKind::Always(small);
    b.claim("small", kind, ClaimOrigin::Written, "", None).unwrap();
    let system = Arc::new(b.finish());
    let amount: RBig = "725355491768777504823654443/4835703278458516698824704".parse().unwrap();
    let step = || {
        let params = vec![Value::Real(amount.clone())];
        Leg::Step(Step { transition: TransitionId(0), params, next: None })
    };
    let first = State { node: NodeId(0), values: vec![Value::Real(RBig::ZERO)] };
    let run = Run { start: StartId(0), first, legs: [step(), step()].into_iter().collect() };
    let report = checked(&system, vec![Verdict::Fails(Evidence::Run(run))], &[]);
    let run = run_of(&report.outcomes[0]);
    let params: Vec<&Value> = run
        .legs
        .iter()
        .flat_map(|leg| match leg {
            Leg::Step(step) => &step.params,
            Leg::Repeat { .. } => panic!("{leg:?}"),
        })
        .collect();
    let simple = Value::Real(RBig::from(150));
    assert_eq!(params, [&simple, &simple]);
}
