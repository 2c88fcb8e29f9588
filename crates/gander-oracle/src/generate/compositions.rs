//! Random compositions (docs/semantics.md, section 6), by the pass of `gander-system`.

use gander_system::passes::{Sync, compose};
use gander_system::{System, TransitionId};
use gander_term::Value;

use super::variables::Variable;
use super::{GeneratedSystem, Maker, Settings, Shape, Size};
use crate::random::Random;
use crate::{Limits, Reachable};

/// A composition of two instances with claims about the whole, and some of the instances' own.
pub(super) fn make(
    mut random: Random,
    settings: Settings,
    seed: u64,
    depth: u64,
    limits: Limits,
) -> Option<GeneratedSystem> {
    let first = component(&mut random, settings, limits)?;
    let second = if random.chance(40) { first.clone() } else { component(&mut random, settings, limits)? };
    let syncs = synchronisations(&mut random, &first, &second);
    let composed = compose("composed", &[("x", &first), ("y", &second)], &syncs).ok()?;
    let builder = composed.builder;
    let graph = Reachable::explore(builder.so_far(), &builder.pool, limits).ok()?;
    let mut maker = Maker::new(random, settings);
    maker.nodes = builder.so_far().nodes.len();
    maker.enums = builder.pool.enumerations().filter(|&e| !builder.pool.enumeration(e).name.starts_with('@')).collect();
    let system = builder.so_far();
    maker.transitions = (0..system.transitions.len()).map(TransitionId::from).collect();
    let variable = |id| {
        let v = system.var(id);
        // No transition is made any more, so the domain is of no interest.
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
    if first.gates.is_empty() || second.gates.is_empty() {
        return syncs;
    }
    for i in 0..random.weighted(&[30, 50, 20]) {
        let parts = vec![(0, random.pick(&first.gates).clone()), (1, random.pick(&second.gates).clone())];
        syncs.push(Sync { name: format!("both{i}"), parts });
    }
    syncs
}
