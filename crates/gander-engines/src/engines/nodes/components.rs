//! Strongly connected components of the control graph in topological order.

use gander_system::{NodeId, System, TransitionId, members, strongly_connected_components};

/// A strongly connected component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Component {
    /// Sorted.
    pub nodes: Vec<NodeId>,
    /// True if some transition stays inside the component.
    pub cyclic: bool,
}

/// The components that are reachable from the starts, in topological order.
pub(super) fn components(system: &System) -> Vec<Component> {
    let target = |t: &TransitionId| system.transition(*t).target;
    let roots = system.starts().iter().map(|s| s.target.index());
    let successor =
        |n: usize, k: usize| system.leaving(NodeId::from(n)).get(k).map(|t| target(t).index());
    let number = strongly_connected_components(system.nodes().len(), roots, successor);
    let component = |nodes: Vec<usize>| {
        let leads_back = |&n: &usize| {
            system.leaving(NodeId::from(n)).iter().any(|t| nodes.contains(&target(t).index()))
        };
        let cyclic = nodes.len() > 1 || nodes.iter().any(leads_back);
        Component { nodes: nodes.into_iter().map(NodeId::from).collect(), cyclic }
    };
    // Edges between components lead to smaller numbers.
    members(&number).into_iter().rev().map(component).collect()
}

/// Which components are done, and which can begin: those whose predecessors are all done.
#[derive(Debug)]
pub(super) struct Order {
    /// By node: its component, if it is reachable.
    component: Vec<Option<usize>>,
    /// By component: the number of entering transitions from components that are not done.
    awaited: Vec<usize>,
    begun: Vec<bool>,
    /// All components before this index have begun.
    next: usize,
    done: usize,
}

impl Order {
    pub(super) fn new(system: &System, components: &[Component]) -> Order {
        let mut component = vec![None; system.nodes().len()];
        for (c, part) in components.iter().enumerate() {
            part.nodes.iter().for_each(|n| component[n.index()] = Some(c));
        }
        let mut order = Order {
            component,
            awaited: vec![0; components.len()],
            begun: vec![false; components.len()],
            next: 0,
            done: 0,
        };
        for c in 0..components.len() {
            for d in order.behind(system, components, c) {
                order.awaited[d] += 1;
            }
        }
        order
    }

    /// The target components of a component's leaving transitions, with repetitions.
    fn behind(&self, system: &System, components: &[Component], c: usize) -> Vec<usize> {
        let leaving = components[c].nodes.iter().flat_map(|&n| system.leaving(n));
        leaving
            .filter_map(|&t| self.component[system.transition(t).target.index()])
            .filter(|&d| d != c)
            .collect()
    }

    /// The number of finished components.
    pub(super) fn done(&self) -> usize {
        self.done
    }

    /// The first component that can begin and satisfies `wanted`.
    pub(super) fn ready(&mut self, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        while self.begun.get(self.next) == Some(&true) {
            self.next += 1;
        }
        // Usually the first one.
        (self.next..self.begun.len()).find(|&c| !self.begun[c] && self.awaited[c] == 0 && wanted(c))
    }

    pub(super) fn begin(&mut self, c: usize) {
        self.begun[c] = true;
    }

    pub(super) fn finish(&mut self, system: &System, components: &[Component], c: usize) {
        self.done += 1;
        for d in self.behind(system, components, c) {
            self.awaited[d] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::SystemBuilder;
    use gander_term::Pool;

    fn graph(nodes: u32, edges: &[(u32, u32)]) -> System {
        let names: Vec<String> = (0..nodes).map(|n| format!("N{n}")).collect();
        let names: Vec<(&str, _)> = names.iter().map(|n| (n.as_str(), None)).collect();
        let mut b = SystemBuilder::new("s", Pool::new(), &names).unwrap();
        b.start("go", NodeId(0), &[], None).unwrap();
        for (i, &(from, to)) in edges.iter().enumerate() {
            let step = b.transition(&format!("{i}"), None, NodeId(from), NodeId(to), None).unwrap();
            b.add(step).unwrap();
        }
        b.finish()
    }

    fn parts(system: &System) -> Vec<(Vec<u32>, bool)> {
        components(system)
            .into_iter()
            .map(|c| (c.nodes.iter().map(|n| n.0).collect(), c.cyclic))
            .collect()
    }

    #[test]
    fn cycles_are_one_component_after_their_predecessors() {
        let system = graph(6, &[(0, 1), (1, 2), (2, 1), (2, 3), (0, 3), (3, 3), (5, 3)]);
        assert_eq!(parts(&system), [(vec![0], false), (vec![1, 2], true), (vec![3], true)]);
    }

    #[test]
    fn a_long_cycle_is_one_component() {
        let system = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 1), (2, 4), (4, 0)]);
        assert_eq!(parts(&system), [(vec![0, 1, 2, 3, 4], true)]);
    }

    #[test]
    fn components_wait_for_all_predecessors() {
        let system = graph(4, &[(0, 1), (0, 2), (1, 1), (2, 2), (1, 3), (2, 3), (2, 3)]);
        let parts = components(&system);
        let at = |n: u32| parts.iter().position(|c| c.nodes == [NodeId(n)]).unwrap();
        let mut order = Order::new(&system, &parts);
        let any = |_: usize| true;
        assert_eq!(order.ready(any), Some(at(0)));
        order.begin(at(0));
        assert_eq!(order.ready(any), None);
        order.finish(&system, &parts, at(0));
        order.begin(at(1));
        assert_eq!(order.ready(any), Some(at(2)));
        order.begin(at(2));
        order.finish(&system, &parts, at(2));
        assert_eq!(order.ready(any), None);
        order.finish(&system, &parts, at(1));
        assert_eq!(order.ready(any), Some(at(3)));
        assert_eq!(order.ready(|c| parts[c].cyclic), None);
        assert_eq!(order.done(), 3);
    }

    #[test]
    fn long_chains_do_not_overflow_the_stack() {
        let edges: Vec<(u32, u32)> = (0..20_000).map(|n| (n, n + 1)).collect();
        let system = graph(20_001, &edges);
        let found = components(&system);
        assert_eq!(found.len(), 20_001);
        assert!(found.iter().enumerate().all(|(i, c)| c.nodes == [NodeId(i as u32)] && !c.cyclic));
    }
}
