//! Explained runs against brute force: fewest steps, fewest changes, freedoms, nearest contrasting
//! run.

mod runs;

use std::collections::HashMap;
use std::sync::Arc;

use gander_certify::{CheckLimits, Checker};
use gander_explain::run_explanation::{
    Choice, Contrasting, Freedom, RunChecker, RunExplanation, RunRequest, explain_run,
};
use gander_explain::{ExplainConfig, Granularity, Parts};
use gander_runtime::Random;
use gander_smt::Solvers;
use gander_system::{ClaimId, Evidence, Run, System, Verdict};
use gander_term::Value;
use runs::{Aim, Walk, World, random_system};

struct Certify(Checker);

impl RunChecker for Certify {
    fn certify(
        &mut self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<(), String> {
        self.0.check(system, claim, verdict).map(drop).map_err(|e| e.to_string())
    }

    fn replay(&mut self, system: &System, run: &Run) -> Result<(), String> {
        self.0.replay(system, run).map_err(|e| e.to_string())
    }
}

const STEPS: usize = 3;

/// Explains a run that decides the claim and compares the result with enumeration; false if there
/// is nothing to compare.
fn agrees(checker: &mut Certify, solvers: &Arc<Solvers>, seed: u64) -> bool {
    let system = Arc::new(random_system(seed));
    let world = World::new(&system);
    let Some(all) = world.walks(STEPS, 20_000) else { return false };
    // Runs that decide the claim at their end and not before.
    let broken: Vec<&Walk> =
        all.iter().filter(|w| world.shown_behind(w) == Some(w.steps.len())).collect();
    if broken.is_empty() {
        return false;
    }
    let mut random = Random::new(seed + 1);
    let given = broken[random.below(broken.len())];
    let claim = ClaimId::from(system.claims().len() - 1);
    let evidence = Evidence::Run(world.run(given));
    let verdict = if world.shows_that_it_holds() {
        Verdict::Holds(evidence)
    } else {
        Verdict::Fails(evidence)
    };
    let parts = Parts::of(&system, "", Granularity::Written);
    let config =
        ExplainConfig { share: std::time::Duration::from_secs(60), ..ExplainConfig::new(solvers) };
    let request = RunRequest { contrast: Contrasting::Sought };
    let explained =
        explain_run(&system, &parts, (claim, &verdict), request, &config, checker).unwrap();
    let what = format!("seed {seed}: {:?} {:?}", world.aim, explained.notes);

    let shortest = broken.iter().map(|w| w.steps.len()).min().unwrap();
    assert!(explained.length.least, "{what}");
    assert_eq!(explained.length.steps, shortest as u64, "{what}");
    assert_eq!(explained.length.before, given.steps.len() as u64, "{what}");

    let of_length = || broken.iter().filter(|w| w.steps.len() == shortest);
    let fewest = of_length().map(|w| world.changes(w)).min().unwrap();
    let changes = explained.changes.unwrap();
    let walk = world.walk(&explained.run);
    assert!(changes.least, "{what}");
    assert_eq!(changes.count, fewest, "{what}");
    assert_eq!(world.changes(&walk), fewest, "{what}");
    assert!(broken.contains(&&walk), "{what}: {walk:?}");

    free_values(&world, &walk, &explained, &what);
    assert!(explained.forced.as_ref().is_some_and(|f| f.minimal), "{what}");
    nearest(&world, &all, &walk, &explained, &what);
    true
}

/// The values that a freedom allows.
fn allowed(own: &Value, freedom: &Freedom) -> Vec<Value> {
    match own {
        Value::Bool(_) => {
            [false, true].map(Value::Bool).into_iter().filter(|v| freedom.allows(own, v)).collect()
        }
        _ => {
            // Chosen numbers are between 0 and 2, so `Any` means these.
            let all = if *freedom == Freedom::Any { 0..3 } else { -2..6 };
            all.map(Value::int).filter(|v| freedom.allows(own, v)).collect()
        }
    }
}

/// The run along the same transitions with these choices; `None` if there is none.
fn rerun(world: &World<'_>, walk: &Walk, choices: &HashMap<Choice, Value>) -> Option<Walk> {
    let value = |c: Choice, own: &Value| choices.get(&c).unwrap_or(own).clone();
    let state = |i: usize| -> Vec<Value> {
        let vars = world.system.var_ids();
        vars.map(|v| value(Choice::Var(i as u32, v), &walk.states[i][v.index()])).collect()
    };
    // Starts of these systems define constants only, which no choice changes.
    let mut other = Walk { states: vec![state(0)], steps: Vec::new() };
    if !world.is_start(&other.states[0]) {
        return None;
    }
    for (i, (t, params)) in walk.steps.iter().enumerate() {
        let params: Vec<Value> = params
            .iter()
            .enumerate()
            .map(|(p, v)| value(Choice::Param(i as u32, p as u32), v))
            .collect();
        let next = world.step(&other.states[i], *t, &params, &state(i + 1))?;
        other.states.push(next);
        other.steps.push((*t, params));
    }
    Some(other)
}

/// True if the run with these choices decides the claim as the given one does, with each goal at
/// the same step.
fn ends_alike(world: &World<'_>, walk: &Walk, choices: &HashMap<Choice, Value>) -> bool {
    let Some(other) = rerun(world, walk, choices) else { return false };
    let places = world.places(walk).unwrap();
    match &world.aim {
        Aim::Break(_) => world
            .places(&Walk { states: vec![other.states[places[0]].clone()], steps: Vec::new() })
            .is_some(),
        Aim::Meet(goals) => goals.iter().zip(&places).all(|(g, &at)| world.meets(&other, g, at)),
        Aim::Sinkhole(_) | Aim::Deadlock => world.places(&other).is_some(),
    }
}

/// All combinations of values of the choices, up to a limit.
fn combinations(
    lists: &[(Choice, Vec<Value>)],
    most: usize,
) -> Option<Vec<HashMap<Choice, Value>>> {
    let count = lists.iter().try_fold(1usize, |n, (_, l)| n.checked_mul(l.len()))?;
    if count > most {
        return None;
    }
    let mut all = vec![HashMap::new()];
    for (choice, values) in lists {
        all = all
            .into_iter()
            .flat_map(|m: HashMap<Choice, Value>| {
                values.iter().map(move |v| {
                    let mut m = m.clone();
                    m.insert(*choice, v.clone());
                    m
                })
            })
            .collect();
    }
    Some(all)
}

fn free_values(world: &World<'_>, walk: &Walk, explained: &RunExplanation, what: &str) {
    let own = |c: Choice| match c {
        Choice::Var(i, v) => walk.states[i as usize][v.index()].clone(),
        Choice::Param(i, p) => walk.steps[i as usize].1[p as usize].clone(),
    };
    let lists: Vec<(Choice, Vec<Value>)> =
        explained.freedoms.iter().map(|(c, f)| (*c, allowed(&own(*c), f))).collect();
    let Some(all) = combinations(&lists, 4_000) else { return };
    let mut varied: HashMap<(u32, usize), bool> = HashMap::new();
    for choices in &all {
        assert!(
            ends_alike(world, walk, choices),
            "{what}: {choices:?} of {:?}",
            explained.freedoms
        );
        let other = rerun(world, walk, choices).unwrap();
        for (i, (t, _)) in walk.steps.iter().enumerate() {
            let open = world.open(*t);
            for v in (0..open.len()).filter(|&v| !open[v]) {
                *varied.entry((i as u32 + 1, v)).or_default() |=
                    other.states[i + 1][v] != walk.states[i + 1][v];
            }
        }
    }
    for ((i, v), differs) in varied {
        let reported = explained.varying.iter().any(|(j, w)| *j == i && w.index() == v);
        assert_eq!(reported, differs, "{what}: variable {v} behind {i} steps");
    }
    assert!(explained.maximal, "{what}");
    // No single freedom can be widened.
    for (at, (choice, freedom)) in explained.freedoms.iter().enumerate() {
        let own = own(*choice);
        let more: Vec<Value> = match (&own, freedom) {
            (_, Freedom::Any) => continue,
            (Value::Bool(b), _) => vec![Value::Bool(!b)],
            (Value::Int(_), _) => {
                let inside = allowed(&own, freedom);
                let (Some(low), Some(high)) = (inside.iter().min(), inside.iter().max()) else {
                    continue;
                };
                let (Value::Int(low), Value::Int(high)) = (low, high) else { continue };
                let one = gander_term::IBig::from(1);
                // Only values between -1 and 5 are enumerated.
                let ends = [low - one.clone(), high + one];
                ends.into_iter()
                    .filter(|n| (0..3).any(|k| *n == k.into()))
                    .map(Value::Int)
                    .collect()
            }
            _ => continue,
        };
        for value in more {
            let mut wider = lists.clone();
            wider[at].1 = vec![value.clone()];
            let Some(all) = combinations(&wider, 4_000) else { continue };
            let breaks = all.iter().any(|choices| !ends_alike(world, walk, choices));
            assert!(
                breaks,
                "{what}: {choice:?} could be {value:?} as well: {:?}",
                explained.freedoms
            );
        }
    }
}

/// The number of choices of the first run that differ in the second, which takes the same
/// transitions.
fn distance(world: &World<'_>, a: &Walk, b: &Walk) -> usize {
    let mut count = 0;
    // At the start, every variable that no constraint equates with a constant is chosen; the others
    // have equal values anyway.
    count += a.states[0].iter().zip(&b.states[0]).filter(|(x, y)| x != y).count();
    for (i, ((t, p), (_, q))) in a.steps.iter().zip(&b.steps).enumerate() {
        count += p.iter().zip(q).filter(|(x, y)| x != y).count();
        let open = world.open(*t);
        count += (0..open.len())
            .filter(|&v| open[v] && a.states[i + 1][v] != b.states[i + 1][v])
            .count();
    }
    count
}

fn nearest(world: &World<'_>, all: &[Walk], walk: &Walk, explained: &RunExplanation, what: &str) {
    if matches!(&world.aim, Aim::Meet(goals) if goals.len() > 1) {
        assert!(explained.contrast.is_none(), "{what}");
        return;
    }
    let good = |w: &&Walk| w.steps.len() == walk.steps.len() && world.is_contrast(w);
    let good: Vec<&Walk> = all.iter().filter(good).collect();
    let along = |w: &&&Walk| w.steps.iter().map(|s| s.0).eq(walk.steps.iter().map(|s| s.0));
    let least = good.iter().filter(along).map(|w| distance(world, walk, w)).min();
    match (&explained.contrast, least) {
        (None, least) => {
            assert!(good.is_empty() && least.is_none(), "{what}");
        }
        (Some(contrast), Some(least)) => {
            assert!(contrast.same_way && contrast.least, "{what}");
            let other = world.walk(&contrast.run);
            assert!(good.contains(&&other), "{what}: {other:?}");
            assert_eq!(contrast.differing.len(), least, "{what}");
            assert_eq!(distance(world, walk, &other), least, "{what}");
        }
        (Some(contrast), None) => {
            assert!(!contrast.same_way, "{what}");
            assert!(good.contains(&&world.walk(&contrast.run)), "{what}");
        }
    }
}

#[test]
fn explanations_of_random_runs_agree_with_brute_force() {
    let solvers = Arc::new(Solvers::from_environment().kept_running());
    if solvers.all().is_empty() {
        return;
    }
    let wanted = std::env::var("GANDER_RANDOM_RUNS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(|| gander_oracle::Tier::amount(60, 600) as usize);
    let mut checker = Certify(Checker::new(&solvers, CheckLimits::default()));
    let compared = (0..).filter(|&seed| agrees(&mut checker, &solvers, seed)).take(wanted).count();
    assert_eq!(compared, wanted);
}
