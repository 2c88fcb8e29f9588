//! Compositions compared with an explicit product of the reachable states.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gander_oracle::{Limits, Reachable, Settings, generate_with};
use gander_system::passes::{ComposeLimits, Sync, compose};
use gander_system::{Role, System, TransitionId};

/// A reachable pair of states: the nodes, and all values.
type Pair = (Vec<u32>, Vec<gander_term::Value>);

fn gate(system: &System, t: TransitionId) -> Option<&str> {
    system.transition(t).gate.map(|g| system.gates()[g.index()].as_str())
}

/// The reachable pairs of states of two systems without inputs, by docs/semantics.md, section 6,
/// with their distance and successors.
fn product(systems: [&System; 2], syncs: &[Sync]) -> BTreeMap<Pair, (u64, BTreeSet<Pair>)> {
    let graphs = systems.map(|s| Reachable::explore(s, s.pool(), Limits::default()).unwrap());
    let pair = |a: usize, b: usize| -> Pair {
        let (x, y) = (&graphs[0].states[a], &graphs[1].states[b]);
        (vec![x.0.0, y.0.0], x.1.iter().chain(&y.1).cloned().collect())
    };
    let alone = |i: usize, t: TransitionId| {
        let lists = |s: &Sync, g: &str| s.members.iter().any(|p| p.0 == i && p.1 == g);
        gate(systems[i], t).is_none_or(|g| !syncs.iter().any(|s| lists(s, g)))
    };
    let mut found: BTreeMap<Pair, (u64, BTreeSet<Pair>)> = BTreeMap::new();
    let mut queue: VecDeque<(usize, usize, u64)> = VecDeque::new();
    for a in graphs[0].start_states() {
        queue.extend(graphs[1].start_states().map(|b| (a, b, 0)));
    }
    while let Some((a, b, distance)) = queue.pop_front() {
        if found.contains_key(&pair(a, b)) {
            continue;
        }
        let mut next: Vec<(usize, usize)> = Vec::new();
        next.extend(
            graphs[0].steps(a).filter(|(c, _)| alone(0, c.transition)).map(|(_, n)| (n, b)),
        );
        next.extend(
            graphs[1].steps(b).filter(|(c, _)| alone(1, c.transition)).map(|(_, n)| (a, n)),
        );
        for s in syncs {
            let with = |i: usize, state: usize| {
                let wanted = s.members[i].1.as_str();
                let steps = graphs[i].steps(state);
                steps
                    .filter(|(c, _)| gate(systems[i], c.transition) == Some(wanted))
                    .map(|(_, n)| n)
                    .collect::<Vec<_>>()
            };
            let (first, second) = (with(0, a), with(1, b));
            next.extend(first.iter().flat_map(|&n| second.iter().map(move |&m| (n, m))));
        }
        let after = next.iter().map(|&(n, m)| pair(n, m)).collect();
        found.insert(pair(a, b), (distance, after));
        queue.extend(next.into_iter().map(|(n, m)| (n, m, distance + 1)));
    }
    found
}

/// A state of the composition as a pair: the nodes are the values of variables.
fn as_pair(system: &System, values: &[gander_term::Value]) -> Pair {
    let (mut nodes, mut rest) = (vec![0, 0], Vec::new());
    for (i, value) in values.iter().enumerate() {
        let place = system.instances().iter().position(|x| x.location == Some(i.into()));
        match (place, value) {
            (Some(at), gander_term::Value::Enum(_, n)) => nodes[at] = *n,
            _ => rest.push(value.clone()),
        }
    }
    (nodes, rest)
}

#[test]
fn compositions_have_the_states_and_steps_of_the_product() {
    let (mut synchronised, mut merged) = (0, 0);
    for seed in 0..300 {
        let made =
            [2 * seed, 2 * seed + 1].map(|s| generate_with(s, Settings::few_states().linear()));
        let systems = [&*made[0].system, &*made[1].system];
        if systems.iter().any(|s| s.vars().iter().any(|v| v.role == Role::Input)) {
            continue;
        }
        let gates = systems.map(|s| s.gates().first().cloned());
        let syncs = match gates {
            [Some(a), Some(b)] if seed % 3 != 0 => {
                synchronised += 1;
                let members = vec![(0, a), (1, b)];
                vec![Sync { name: "both".to_string(), members, ..Sync::default() }]
            }
            _ => Vec::new(),
        };
        // Every third time, one transition stands for all combinations.
        let combinations = if seed % 3 == 1 { 0 } else { 64 };
        let limits = ComposeLimits { combinations, ..ComposeLimits::default() };
        let instances = [("x", systems[0]), ("y", systems[1])];
        // Two different enumerations of one name cannot be composed.
        let Ok((builder, _)) = compose("pair", &instances, &syncs, &[], limits) else {
            continue;
        };
        let system = builder.finish();
        let graph = match Reachable::explore(&system, system.pool(), Limits::default()) {
            Ok(graph) => graph,
            // A guard bounds the parameters of a case only where the case is taken.
            Err(_) if combinations == 0 => continue,
            Err(refusal) => panic!("seed {seed}: {refusal:?}"),
        };
        merged += usize::from(combinations == 0);
        let name = |s: usize| as_pair(&system, &graph.states[s].1);
        let expected = product(systems, &syncs);
        let found: BTreeMap<Pair, (u64, BTreeSet<Pair>)> = (0..graph.states.len())
            .map(|s| (name(s), (graph.distance[s], graph.steps(s).map(|(_, n)| name(n)).collect())))
            .collect();
        // Enumeration values of different pools have different ids.
        let text = |m: &BTreeMap<Pair, (u64, BTreeSet<Pair>)>| without_ids(&format!("{m:?}"));
        if text(&expected) != text(&found) {
            let both = systems.map(gander_oracle::describe);
            panic!(
                "seed {seed}, {syncs:?}\n{}\n{}\n{}",
                both[0],
                both[1],
                gander_oracle::describe(&system)
            );
        }
    }
    assert!(synchronised > 50 && merged > 20, "{synchronised} {merged}");
}

fn without_ids(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("EnumId(") {
        out.push_str(&rest[..at]);
        rest = rest[at..].split_once(')').map_or("", |(_, after)| after);
    }
    out + rest
}

#[test]
fn generated_compositions_have_claims_of_both_kinds() {
    let (mut hold, mut fail, mut long) = (0, 0, 0);
    for seed in 0..100 {
        let made = generate_with(seed, Settings::default().composed());
        assert!(made.system.instances().len() == 2);
        for a in &made.answers {
            hold += usize::from(a.holds);
            fail += usize::from(!a.holds);
            long += usize::from(a.length.is_some_and(|n| n >= 4));
        }
    }
    assert!(hold * 4 >= hold + fail && fail * 8 >= hold + fail, "{hold} hold, {fail} fail");
    assert!(long >= 50, "{long} long runs");
}
