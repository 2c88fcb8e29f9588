//! Strongly connected components of the control graph, in the order of the condensation: each after all that lead to it.

use gander_system::{NodeId, System, TransitionId, members, strongly_connected_components};

/// A strongly connected component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Component {
    /// Its nodes, in order.
    pub nodes: Vec<NodeId>,
    /// Some transition of it leads back into it.
    pub cyclic: bool,
}

/// The components that the control graph reaches from the starts, each after all that lead to it.
pub(super) fn components(system: &System) -> Vec<Component> {
    let target = |t: &TransitionId| system.transition(*t).target;
    let roots = system.starts.iter().map(|s| s.target.index());
    let successor = |n: usize, k: usize| system.leaving(NodeId::from(n)).get(k).map(|t| target(t).index());
    let number = strongly_connected_components(system.nodes.len(), roots, successor);
    let component = |nodes: Vec<usize>| {
        let leads_back =
            |&n: &usize| system.leaving(NodeId::from(n)).iter().any(|t| nodes.contains(&target(t).index()));
        let cyclic = nodes.len() > 1 || nodes.iter().any(leads_back);
        Component { nodes: nodes.into_iter().map(NodeId::from).collect(), cyclic }
    };
    // Edges between components lead to smaller numbers.
    members(&number).into_iter().rev().map(component).collect()
}

/// Which components are done, and which can be begun: those that nothing undone leads to.
#[derive(Debug)]
pub(super) struct Order {
    /// By node: its component, if some run may reach it.
    component: Vec<Option<usize>>,
    /// By component: transitions that enter it from components that are not done.
    awaited: Vec<usize>,
    begun: Vec<bool>,
    /// All before this one are begun.
    next: usize,
    done: usize,
}

impl Order {
    pub(super) fn new(system: &System, components: &[Component]) -> Order {
        let mut component = vec![None; system.nodes.len()];
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

    /// The other components that transitions of a component lead to, one for each.
    fn behind(&self, system: &System, components: &[Component], c: usize) -> Vec<usize> {
        let leaving = components[c].nodes.iter().flat_map(|&n| system.leaving(n));
        leaving.filter_map(|&t| self.component[system.transition(t).target.index()]).filter(|&d| d != c).collect()
    }

    /// How many are done.
    pub(super) fn done(&self) -> usize {
        self.done
    }

    /// The first component that can be begun and is one of the wanted.
    pub(super) fn ready(&mut self, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        while self.begun.get(self.next) == Some(&true) {
            self.next += 1;
        }
        // Most of the time this is the first one.
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
        components(system).into_iter().map(|c| (c.nodes.iter().map(|n| n.0).collect(), c.cyclic)).collect()
    }

    #[test]
    fn cycles_are_one_component_and_come_after_what_leads_to_them() {
        let system = graph(6, &[(0, 1), (1, 2), (2, 1), (2, 3), (0, 3), (3, 3), (5, 3)]);
        assert_eq!(parts(&system), [(vec![0], false), (vec![1, 2], true), (vec![3], true)]);
    }

    #[test]
    fn a_component_closed_by_a_long_way_round_is_one() {
        let system = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 1), (2, 4), (4, 0)]);
        assert_eq!(parts(&system), [(vec![0, 1, 2, 3, 4], true)]);
    }

    #[test]
    fn components_wait_for_all_that_lead_to_them() {
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
    fn long_chains_cost_no_stack() {
        let edges: Vec<(u32, u32)> = (0..20_000).map(|n| (n, n + 1)).collect();
        let system = graph(20_001, &edges);
        let found = components(&system);
        assert_eq!(found.len(), 20_001);
        assert!(found.iter().enumerate().all(|(i, c)| c.nodes == [NodeId(i as u32)] && !c.cyclic));
    }
}
