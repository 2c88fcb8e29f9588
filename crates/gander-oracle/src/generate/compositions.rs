//! Random compositions (docs/semantics.md, section 6), by the pass of `gander-system`.

use gander_system::passes::{ComposeLimits, Link, Read, Sync, compose};
use gander_system::{Role, System, SystemBuilder, TransitionId, VarId};
use gander_term::{Sort, Value};

use super::variables::Variable;
use super::{GeneratedSystem, Maker, Settings, Shape, Size};
use crate::random::Random;
use crate::{Limits, Reachable};

/// A composition of two instances, with claims about the whole and some of the instances' claims.
pub(super) fn make(
    mut random: Random,
    settings: Settings,
    seed: u64,
    depth: u64,
    limits: Limits,
) -> Option<GeneratedSystem> {
    let first = component(&mut random, settings, limits)?;
    let second =
        if random.chance(40) { first.clone() } else { component(&mut random, settings, limits)? };
    let syncs = synchronisations(&mut random, &first, &second);
    let builder = composed("composed", &[("x", &first), ("y", &second)], &syncs, &[])?;
    with_claims(builder, random, settings, seed, depth, limits)
}

/// The composition with the claims of its instances.
fn composed(
    name: &str,
    instances: &[(&str, &System)],
    syncs: &[Sync],
    links: &[Link],
) -> Option<SystemBuilder> {
    let limits = ComposeLimits::default();
    let (mut builder, mut composed) = compose(name, instances, syncs, links, limits).ok()?;
    composed.add_claims(&mut builder).ok()?;
    Some(builder)
}

/// A composition of two or three instances of one or two specifications, of which the second reads
/// variables of the first.
pub(super) fn make_linked(
    mut random: Random,
    settings: Settings,
    seed: u64,
    depth: u64,
    limits: Limits,
) -> Option<GeneratedSystem> {
    let first = component(&mut random, settings, limits)?;
    let (reader, read) = reading(&mut random, settings, &first);
    let links_of = |at: usize, of: usize| {
        read.iter()
            .map(move |&(input, var)| Link { reader: (at, input), read: Read::Variable(of, var) })
            .collect::<Vec<_>>()
    };
    let mut instances = vec![("x", &first), ("y", &reader)];
    let mut links = links_of(1, 0);
    match random.weighted(&[45, 20, 15, 20]) {
        0 => {}
        1 => instances.push(("z", &first)),
        2 => {
            instances.push(("z", &reader));
            links.extend(links_of(2, 0));
        }
        // Each instance reads its own partner.
        _ => {
            instances.extend([("z", &first), ("u", &reader)]);
            links.extend(links_of(3, 2));
        }
    }
    let mut syncs = synchronisations(&mut random, &first, &reader);
    if instances.len() > 2 && random.chance(40) {
        let third = instances[2].1;
        let pairs = synchronisations(&mut random, &first, third);
        syncs.extend(pairs.into_iter().map(|s| Sync {
            name: format!("{}z", s.name),
            members: to_third(s.members),
            ..s
        }));
    }
    let builder = composed("linked", &instances, &syncs, &links)?;
    with_claims(builder, random, settings, seed, depth, limits)
}

/// A composition of two or three instances of one system: not synchronised, in a ring, or each one
/// with each other one. Sometimes one synchronisation is left out, so that instances look
/// symmetric and are not.
pub(super) fn make_family(
    mut random: Random,
    settings: Settings,
    seed: u64,
    depth: u64,
    limits: Limits,
) -> Option<GeneratedSystem> {
    let member = component(&mut random, settings, limits)?;
    let count = 2 + random.weighted(&[50, 50]);
    let names: Vec<String> = (0..count).map(|i| format!("x[{i}]")).collect();
    let instances: Vec<(&str, &System)> = names.iter().map(|n| (n.as_str(), &member)).collect();
    let pairs: Vec<(usize, usize)> = match random.weighted(&[30, 40, 30]) {
        0 => Vec::new(),
        1 => (0..count).map(|i| (i, (i + 1) % count)).collect(),
        _ => (0..count)
            .flat_map(|i| (0..count).map(move |j| (i, j)))
            .filter(|p| p.0 != p.1)
            .collect(),
    };
    let mut syncs = Vec::new();
    for pattern in synchronisations(&mut random, &member, &member) {
        for &(i, j) in &pairs {
            let place = |parts: &[(usize, String)]| -> Vec<(usize, String)> {
                parts.iter().map(|(at, gate)| ([i, j][*at], gate.clone())).collect()
            };
            let name = format!("{} {i} {j}", pattern.name);
            let (members, receivers) = (place(&pattern.members), place(&pattern.receivers));
            syncs.push(Sync { name, members, receivers, ..Sync::default() });
        }
    }
    if !syncs.is_empty() && random.chance(20) {
        let out = random.below(syncs.len());
        syncs.remove(out);
    }
    let builder = composed("family", &instances, &syncs, &[])?;
    with_claims(builder, random, settings, seed, depth, limits)
}

fn to_third(parts: Vec<(usize, String)>) -> Vec<(usize, String)> {
    parts.into_iter().map(|(at, gate)| (if at == 1 { 2 } else { at }, gate)).collect()
}

/// A specification that reads some variables of another one; also returns the inputs for them, and
/// the variables that they read.
fn reading(
    random: &mut Random,
    settings: Settings,
    other: &System,
) -> (System, Vec<(VarId, VarId)>) {
    let settings = Settings { size: Size::Few, shape: Shape::Single, ..settings };
    let mut maker = Maker::new(Random::new(random.next(), 0), settings);
    let mut read = Vec::new();
    for id in other.var_ids() {
        let var = other.var(id);
        let sort = match var.sort {
            Sort::Enum(e) => {
                let known = other.pool().enumeration(e);
                let variants: Vec<&str> = known.variants.iter().map(String::as_str).collect();
                // The name may already belong to another enumeration.
                match maker.builder.pool.declare_enum(&known.name, &variants) {
                    Ok(here) => Sort::Enum(here),
                    Err(_) => continue,
                }
            }
            // The elements may be of an enumeration.
            Sort::Array(_) => continue,
            sort => sort,
        };
        if !read.is_empty() && random.chance(30) {
            continue;
        }
        let name = format!("other.{}", var.name);
        let input =
            maker.builder.var(&name, sort, Role::Input, None, None).expect("names are fresh");
        maker.linked.push(maker.builder.so_far().var(input).current);
        read.push((input, id));
    }
    maker.specification();
    (maker.builder.finish(), read)
}

/// Adds claims about the whole.
fn with_claims(
    builder: SystemBuilder,
    random: Random,
    settings: Settings,
    seed: u64,
    depth: u64,
    limits: Limits,
) -> Option<GeneratedSystem> {
    let graph = Reachable::explore(builder.so_far(), &builder.pool, limits).ok()?;
    let mut maker = Maker::new(random, settings);
    maker.nodes = builder.so_far().nodes().len();
    maker.enums = builder
        .pool
        .enumerations()
        .filter(|&e| !builder.pool.enumeration(e).name.starts_with('@'))
        .collect();
    let system = builder.so_far();
    maker.transitions = (0..system.transitions().len()).map(TransitionId::from).collect();
    let variable = |id| {
        let v = system.var(id);
        // No further transitions are generated, so the domain is not used.
        let domain = vec![Value::Bool(false)];
        Variable { id, sort: v.sort, role: v.role, current: v.current, next: v.next, domain }
    };
    maker.variables = system.var_ids().map(variable).collect();
    maker.builder = builder;
    maker.finish(&graph, seed, depth, limits)
}

/// A small system to be composed, with a few claims.
fn component(random: &mut Random, settings: Settings, limits: Limits) -> Option<System> {
    let settings = Settings { size: Size::Few, shape: Shape::Single, ..settings };
    let mut maker = Maker::new(Random::new(random.next(), 0), settings);
    let graph = maker.body(limits)?;
    if graph.states.len() < 2 {
        return None;
    }
    maker.claims(2, &graph, limits).ok()?;
    Some(maker.builder.finish())
}

/// None, or synchronisations of gates that the two systems have.
fn synchronisations(random: &mut Random, first: &System, second: &System) -> Vec<Sync> {
    let mut syncs = Vec::new();
    if first.gates().is_empty() || second.gates().is_empty() {
        return syncs;
    }
    for i in 0..random.weighted(&[30, 50, 20]) {
        let one = (0, random.pick(first.gates()).clone());
        let other = (1, random.pick(second.gates()).clone());
        // Sometimes the second instance takes part only if it can.
        let (members, receivers) = match random.chance(25) {
            true => (vec![one], vec![other]),
            false => (vec![one, other], Vec::new()),
        };
        syncs.push(Sync { name: format!("both{i}"), members, receivers, ..Sync::default() });
    }
    syncs
}
