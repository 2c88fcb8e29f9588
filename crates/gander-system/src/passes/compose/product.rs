//! The product of control graphs, restricted to reachable tuples of nodes, ignoring data.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{ComposeError, ComposeLimits, Sync};
use crate::system::{GateId, NodeId, StartId, System, TransitionId};

/// A transition of the product: each listed instance takes its transition, the others stay.
pub(super) struct Move {
    pub(super) source: usize,
    pub(super) target: usize,
    /// The synchronisation; `None` for a step of one instance.
    pub(super) sync: Option<usize>,
    pub(super) parts: Vec<(usize, TransitionId)>,
}

pub(super) struct Product {
    pub(super) tuples: Vec<Vec<NodeId>>,
    /// A start of each instance, and the tuple they enter.
    pub(super) starts: Vec<(Vec<StartId>, usize)>,
    pub(super) moves: Vec<Move>,
}

struct Exploration<'a> {
    instances: &'a [(&'a str, &'a System)],
    limits: ComposeLimits,
    index: FxHashMap<Vec<NodeId>, usize>,
    product: Product,
}

/// A synchronisation with resolved gates.
type ResolvedSync = Vec<(usize, GateId)>;

pub(super) fn explore(
    instances: &[(&str, &System)],
    syncs: &[Sync],
    limits: ComposeLimits,
) -> Result<Product, ComposeError> {
    let syncs = resolve(instances, syncs)?;
    let mut synced: Vec<FxHashSet<GateId>> = vec![FxHashSet::default(); instances.len()];
    for &(i, gate) in syncs.iter().flatten() {
        synced[i].insert(gate);
    }
    let product = Product { tuples: Vec::new(), starts: Vec::new(), moves: Vec::new() };
    let mut e = Exploration { instances, limits, index: FxHashMap::default(), product };
    e.starts()?;
    let mut next = 0;
    while next < e.product.tuples.len() {
        e.single_steps(next, &synced)?;
        for (number, sync) in syncs.iter().enumerate() {
            e.joint_steps(next, number, sync)?;
        }
        next += 1;
    }
    Ok(e.product)
}

fn resolve(
    instances: &[(&str, &System)],
    syncs: &[Sync],
) -> Result<Vec<ResolvedSync>, ComposeError> {
    let mut resolved = Vec::new();
    for (number, sync) in syncs.iter().enumerate() {
        let mut parts = Vec::new();
        let mut seen = FxHashSet::default();
        for (i, gate) in &sync.parts {
            let Some((name, system)) = instances.get(*i) else {
                return Err(ComposeError::UnknownInstance { sync: number, instance: *i });
            };
            if !seen.insert(*i) {
                return Err(ComposeError::TwiceInSync { sync: number, instance: name.to_string() });
            }
            let Some(g) = system.gates.iter().position(|g| g == gate) else {
                return Err(ComposeError::UnknownGate {
                    sync: number,
                    instance: name.to_string(),
                    gate: gate.clone(),
                });
            };
            parts.push((*i, GateId::from(g)));
        }
        if parts.is_empty() {
            return Err(ComposeError::EmptySync { sync: number });
        }
        if syncs[..number].iter().any(|s| s.name == sync.name && s.parts == sync.parts) {
            return Err(ComposeError::SameSync { sync: number });
        }
        resolved.push(parts);
    }
    Ok(resolved)
}

impl Exploration<'_> {
    fn tuple(&mut self, nodes: Vec<NodeId>) -> Result<usize, ComposeError> {
        if let Some(&i) = self.index.get(&nodes) {
            return Ok(i);
        }
        if self.product.tuples.len() >= self.limits.nodes {
            return Err(ComposeError::TooManyNodes(self.limits.nodes));
        }
        let i = self.product.tuples.len();
        self.product.tuples.push(nodes.clone());
        self.index.insert(nodes, i);
        Ok(i)
    }

    fn starts(&mut self) -> Result<(), ComposeError> {
        let choices: Vec<usize> = self.instances.iter().map(|(_, s)| s.starts.len()).collect();
        let mut combinations = CartesianProduct::new(choices);
        while let Some(picked) = combinations.next() {
            if self.product.starts.len() >= self.limits.transitions {
                return Err(ComposeError::TooManyTransitions(self.limits.transitions));
            }
            let starts: Vec<StartId> = picked.iter().map(|&i| StartId::from(i)).collect();
            let nodes = self
                .instances
                .iter()
                .zip(&starts)
                .map(|((_, s), i)| s.starts[i.index()].target)
                .collect();
            let target = self.tuple(nodes)?;
            self.product.starts.push((starts, target));
        }
        Ok(())
    }

    fn single_steps(
        &mut self,
        source: usize,
        synced: &[FxHashSet<GateId>],
    ) -> Result<(), ComposeError> {
        let instances = self.instances;
        for (i, (_, system)) in instances.iter().enumerate() {
            for &t in system.leaving(self.product.tuples[source][i]) {
                if system.transition(t).gate.is_some_and(|g| synced[i].contains(&g)) {
                    continue;
                }
                self.take(source, None, vec![(i, t)])?;
            }
        }
        Ok(())
    }

    fn joint_steps(
        &mut self,
        source: usize,
        number: usize,
        sync: &ResolvedSync,
    ) -> Result<(), ComposeError> {
        let able: Vec<Vec<TransitionId>> = sync
            .iter()
            .map(|&(i, gate)| {
                let system = self.instances[i].1;
                let leaving = system.leaving(self.product.tuples[source][i]).iter().copied();
                leaving.filter(|&t| system.transition(t).gate == Some(gate)).collect()
            })
            .collect();
        let mut combinations = CartesianProduct::new(able.iter().map(Vec::len).collect());
        while let Some(picked) = combinations.next() {
            let parts = sync
                .iter()
                .zip(picked)
                .zip(&able)
                .map(|((&(i, _), &k), able)| (i, able[k]))
                .collect();
            self.take(source, Some(number), parts)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        source: usize,
        sync: Option<usize>,
        parts: Vec<(usize, TransitionId)>,
    ) -> Result<(), ComposeError> {
        if self.product.moves.len() >= self.limits.transitions {
            return Err(ComposeError::TooManyTransitions(self.limits.transitions));
        }
        let mut nodes = self.product.tuples[source].clone();
        for &(i, t) in &parts {
            nodes[i] = self.instances[i].1.transition(t).target;
        }
        let target = self.tuple(nodes)?;
        self.product.moves.push(Move { source, target, sync, parts });
        Ok(())
    }
}

/// Enumerates a Cartesian product of ranges, the last one varying fastest.
struct CartesianProduct {
    choices: Vec<usize>,
    picked: Vec<usize>,
    fresh: bool,
}

impl CartesianProduct {
    fn new(choices: Vec<usize>) -> CartesianProduct {
        CartesianProduct { picked: vec![0; choices.len()], choices, fresh: true }
    }

    fn next(&mut self) -> Option<&[usize]> {
        if self.fresh {
            self.fresh = false;
            return (!self.choices.contains(&0)).then_some(&self.picked);
        }
        for i in (0..self.picked.len()).rev() {
            self.picked[i] += 1;
            if self.picked[i] < self.choices[i] {
                return Some(&self.picked);
            }
            self.picked[i] = 0;
        }
        None
    }
}
