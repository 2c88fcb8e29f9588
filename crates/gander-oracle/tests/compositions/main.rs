//! Compositions compared with an interpreter of docs/semantics.md, section 6: the states, steps and
//! claims of what the pass makes of them, and of what the language makes of them.

mod families;

use std::collections::{BTreeMap, BTreeSet};

use gander_oracle::compositions::{
    Composition, Features, Rules, State, States, composition, constant_input, peer_input,
};
use gander_oracle::{Limits, Reachable, Refusal, Tier, decide_claim};
use gander_system::passes::{ComposeError, ComposeLimits, Link, Read, Sync, compose};
use gander_system::{ClaimKind, System, VarId};
use gander_term::{IBig, Value};

/// The most states of a composition that is compared.
const LIMIT: usize = 600;

/// The most work of the oracle on one composed system. Conditional steps need much more than the
/// others, and this is enough for most of them.
const WORK: u64 = 4_000_000;

/// States with their distance and successors.
type Graph = BTreeMap<State, (u64, BTreeSet<State>)>;

fn graph_of(states: &States) -> Graph {
    let next = |joints: &[gander_oracle::compositions::Joint]| {
        joints.iter().flat_map(|j| &j.successors).cloned().collect()
    };
    states.found.iter().map(|(s, (d, joints))| (s.clone(), (*d, next(joints)))).collect()
}

/// A state of the composed system, by instance.
fn as_state(composition: &Composition, system: &System, values: &[Value]) -> State {
    let int = |v: &Value| match v {
        Value::Int(i) => i64::try_from(i).unwrap(),
        other => panic!("{other:?}"),
    };
    let instance = |i: usize| {
        let name = composition.name(i);
        let part = system.instances().iter().find(|x| x.name == name).unwrap();
        let node = match part.location.map(|at| &values[at.index()]) {
            Some(Value::Enum(_, n)) => {
                let name = &part.nodes[*n as usize].name;
                composition.spec_of(i).nodes.iter().position(|n| n.name == *name).unwrap()
            }
            _ => 0,
        };
        let value = |v: &gander_oracle::compositions::Variable| {
            let full = format!("{name}.{}", v.name);
            let at = system.vars().iter().position(|x| x.name == full).unwrap();
            int(&values[at])
        };
        (node, composition.spec_of(i).vars.iter().map(value).collect())
    };
    (0..composition.instances.len()).map(instance).collect()
}

/// The graph of a composed system, and the answers to its claims.
struct Explored {
    graph: Graph,
    answers: BTreeMap<String, bool>,
    /// The kinds of refused claims.
    refused: usize,
    /// The number of starts that can be satisfied.
    started: usize,
    /// Whether all claims *completable* hold.
    completable: bool,
}

fn explore(composition: &Composition, system: System) -> Result<Explored, Refusal> {
    let system = system.and_structural_claims();
    let limits = Limits { work: WORK, ..Limits::default() };
    let reachable = Reachable::explore(&system, system.pool(), limits)?;
    let name = |s: usize| as_state(composition, &system, &reachable.states[s].1);
    let after = |s: usize| reachable.steps(s).map(|(_, n)| name(n)).collect();
    let graph =
        (0..reachable.states.len()).map(|s| (name(s), (reachable.distance[s], after(s)))).collect();
    let mut explored =
        Explored { graph, answers: BTreeMap::new(), refused: 0, started: 0, completable: true };
    for claim in system.claims() {
        match decide_claim(&system, system.pool(), &reachable, &claim.kind, limits) {
            Ok(answer) => {
                match claim.kind {
                    ClaimKind::StartSatisfiable(_) => explored.started += usize::from(answer.holds),
                    ClaimKind::Completable(_) => explored.completable &= answer.holds,
                    _ => {}
                }
                explored.answers.insert(claim.name.clone(), answer.holds);
            }
            Err(_) => explored.refused += 1,
        }
    }
    Ok(explored)
}

/// The differences between what the section says and what was explored; empty if there is none.
fn differences(states: &States, expected: &BTreeMap<String, bool>, found: &Explored) -> String {
    let mut text = String::new();
    let graph = graph_of(states);
    if graph != found.graph {
        let only = |a: &Graph, b: &Graph| {
            a.iter().find(|(s, x)| b.get(*s) != Some(x)).map(|(s, x)| format!("{s:?}: {x:?}"))
        };
        text += &format!(
            "expected {} states, found {}\nexpected {:?}\nfound    {:?}\n",
            graph.len(),
            found.graph.len(),
            only(&graph, &found.graph),
            only(&found.graph, &graph)
        );
    }
    for (name, answer) in expected {
        if let Some(other) = found.answers.get(name).filter(|a| *a != answer) {
            text += &format!("{name}: expected {answer}, found {other}\n");
        }
    }
    text
}

/// What the pass makes of a composition without conditions and without questions for nodes.
fn composed(composition: &Composition, combinations: usize) -> Result<System, ComposeError> {
    let parts: Vec<System> = (0..composition.instances.len())
        .map(|i| {
            let text = composition.specification_text(i);
            let loaded = gander_lang::sts::load(&text, "part.sts");
            loaded.system.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics))
        })
        .collect();
    let names: Vec<String> = (0..parts.len()).map(|i| composition.name(i)).collect();
    let instances: Vec<(&str, &System)> = names.iter().map(String::as_str).zip(&parts).collect();
    let var = |i: usize, name: &str| {
        VarId::from(parts[i].vars().iter().position(|v| v.name == name).unwrap())
    };
    let mut links = Vec::new();
    for (i, instance) in composition.instances.iter().enumerate() {
        for (c, &value) in instance.constants.iter().enumerate() {
            let read = Read::Constant(Value::Int(IBig::from(value)));
            links.push(Link { reader: (i, var(i, &constant_input(c))), read });
        }
        for (p, &of) in instance.peers.iter().enumerate() {
            for v in &composition.spec_of(of).vars {
                let read = Read::Variable(of, var(of, &v.name));
                links.push(Link { reader: (i, var(i, &peer_input(p, &v.name))), read });
            }
        }
    }
    let syncs: Vec<Sync> = (composition.syncs.iter())
        .map(|s| Sync {
            name: s.name.clone(),
            shared: s.shared.clone(),
            members: s.members.clone(),
            receivers: s.receivers.clone(),
            span: None,
        })
        .collect();
    let limits = ComposeLimits { combinations, ..ComposeLimits::default() };
    let (mut builder, mut whole) = compose("whole", &instances, &syncs, &links, limits)?;
    whole.add_claims(&mut builder)?;
    Ok(builder.finish())
}

/// Counts what was compared, so that the tests do not become empty.
#[derive(Default, Debug)]
struct Seen {
    cases: u64,
    too_large: u64,
    refused: u64,
    synchronised: u64,
    broadcasts: u64,
    shared: u64,
    /// Synchronisations with indices that are taken, and claims with quantifiers over families.
    indexed: u64,
    quantified: u64,
    holds: u64,
    fails: u64,
    refused_claims: usize,
}

impl Seen {
    fn count(&mut self, composition: &Composition, states: &States, found: &Explored) {
        self.cases += 1;
        let joint = states.found.values().flat_map(|(_, joints)| joints);
        let mut syncs: Vec<_> = joint.filter_map(|j| Some((j.sync?, j.parts.len()))).collect();
        syncs.sort_unstable();
        syncs.dedup();
        self.synchronised += u64::from(!syncs.is_empty());
        let taken = |s: &usize| syncs.iter().any(|t| t.0 == *s);
        let all = || (0..composition.syncs.len()).filter(taken).map(|s| &composition.syncs[s]);
        self.shared += u64::from(all().any(|s| !s.shared.is_empty()));
        // A synchronisation in which sometimes more instances take part, sometimes fewer.
        self.broadcasts += u64::from(syncs.windows(2).any(|w| w[0].0 == w[1].0));
        let indexed = |name: &str| {
            composition.patterns.iter().any(|p| p.name == name && !p.indices.is_empty())
        };
        self.indexed += u64::from(all().any(|s| indexed(&s.name)));
        let text = composition.text();
        let of_whole = text.split("system Whole").nth(1).unwrap_or_default();
        let claims = of_whole.lines().filter(|l| l.starts_with(['a', 'r']));
        let quantifiers = ["forall", "exists", "count", "sum "];
        let has = |line: &str| quantifiers.iter().any(|word| line.contains(&format!("({word}")));
        self.quantified += claims.filter(|l| has(l)).count().min(1) as u64;
        self.holds += found.answers.values().filter(|a| **a).count() as u64;
        self.fails += found.answers.values().filter(|a| !**a).count() as u64;
        self.refused_claims += found.refused;
    }

    /// This number of seeds gives enough cases of each kind.
    fn assert_enough(&self, seeds: u64) {
        let enough = self.cases * 2 >= seeds
            && self.synchronised * 6 >= seeds
            && self.shared * 8 >= seeds
            && self.broadcasts * 50 >= seeds
            && self.holds.min(self.fails) >= seeds
            && self.refused_claims == 0;
        assert!(enough, "{self:?} of {seeds}");
    }
}

fn check_pass(combinations: usize, first: u64, count: u64) -> Seen {
    let mut seen = Seen::default();
    for seed in first..first + count {
        let whole = composition(seed, Features::default());
        let Some(states) = States::of(&whole, Rules::Section, LIMIT) else {
            seen.too_large += 1;
            continue;
        };
        let show = || format!("seed {seed}, combinations {combinations}\n{}", whole.text());
        let system = match composed(&whole, combinations) {
            Ok(system) => system,
            Err(error) => panic!("{error}: {}", show()),
        };
        let found = match explore(&whole, system) {
            Ok(found) => found,
            Err(Refusal::Unbounded(_) | Refusal::TooMuchWork) => {
                seen.refused += 1;
                continue;
            }
            Err(refusal) => panic!("{refusal}: {}", show()),
        };
        let expected: BTreeMap<String, bool> = (states.decide(&whole).into_iter())
            // These are claims of the language.
            .filter(|(name, _)| name.contains('.'))
            .collect();
        let mut wrong = differences(&states, &expected, &found);
        if combinations > 0 {
            let started = states.started.iter().filter(|s| **s).count();
            if started != found.started {
                wrong += &format!("expected {started} starts, found {}\n", found.started);
            }
            if states.all_completable() != found.completable {
                wrong += &format!("expected completable {}\n", states.all_completable());
            }
        }
        assert!(wrong.is_empty(), "{wrong}{}", show());
        seen.count(&whole, &states, &found);
    }
    seen
}

#[test]
fn the_pass_has_the_states_steps_and_claims_of_the_section() {
    let count = Tier::amount(1_000, 10_000);
    check_pass(64, 0, count).assert_enough(count);
}

/// The two declared ranges of the shared parameter of this composition are at one offset of their
/// texts; both apply.
#[test]
fn ranges_at_one_offset_of_two_texts_both_apply() {
    check_pass(64, 1_673, 1);
}

#[test]
fn conditional_steps_have_the_states_steps_and_claims_of_the_section() {
    let count = Tier::amount(1_000, 10_000);
    check_pass(0, 0, count).assert_enough(count);
}

fn check_language(features: Features, count: u64) -> Seen {
    let mut seen = Seen::default();
    for seed in 0..count {
        let whole = composition(seed, features);
        let Some(states) = States::of(&whole, Rules::Section, LIMIT) else {
            seen.too_large += 1;
            continue;
        };
        let text = whole.text();
        let loaded = gander_lang::sts::load(&text, "whole.sts");
        let Some(system) = loaded.system else {
            panic!("seed {seed}: {:?}\n{text}", loaded.diagnostics)
        };
        let found = match explore(&whole, system) {
            Ok(found) => found,
            Err(Refusal::Unbounded(_) | Refusal::TooMuchWork) => {
                seen.refused += 1;
                continue;
            }
            Err(refusal) => panic!("{refusal}: seed {seed}\n{text}"),
        };
        let expected = states.decide(&whole);
        let wrong = differences(&states, &expected, &found);
        assert!(wrong.is_empty(), "{wrong}seed {seed}\n{text}");
        seen.count(&whole, &states, &found);
    }
    seen
}

#[test]
fn the_language_has_the_states_steps_and_claims_of_the_section() {
    let count = Tier::amount(1_000, 10_000);
    check_language(Features { families: false, ..Features::ALL }, count).assert_enough(count);
}

#[test]
fn families_have_the_states_steps_and_claims_of_the_section() {
    let count = Tier::amount(1_000, 10_000);
    let seen = check_language(Features::ALL, count);
    seen.assert_enough(count);
    assert!(seen.indexed * 12 >= count && seen.quantified * 4 >= count, "{seen:?}");
}

/// An interpreter with wrong rules must differ from what the language makes of some composition.
#[test]
fn wrong_rules_are_detected() {
    for rules in [
        Rules::ReceiversMayRefuse,
        Rules::ReceiversMustReceive,
        Rules::NothingIsShared,
        Rules::FirstRangeOfShared,
        Rules::AloneAsWell,
        Rules::ConditionDecidesWhoReceives,
    ] {
        let mut detected = 0;
        for seed in 0..400 {
            let whole = composition(seed, Features { families: false, ..Features::ALL });
            let Some(right) = States::of(&whole, Rules::Section, LIMIT) else { continue };
            let Some(wrong) = States::of(&whole, rules, LIMIT) else { continue };
            if graph_of(&right) == graph_of(&wrong) {
                continue;
            }
            let system = gander_lang::sts::load(&whole.text(), "whole.sts").system.unwrap();
            let Ok(found) = explore(&whole, system) else { continue };
            detected += usize::from(!differences(&wrong, &wrong.decide(&whole), &found).is_empty());
            if detected == 3 {
                break;
            }
        }
        assert!(detected == 3, "{rules:?} was detected {detected} times");
    }
}
