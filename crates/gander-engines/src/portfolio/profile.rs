//! The properties of a model that the choice of a plan depends on. All are cheap to compute.

use std::fmt;

use gander_system::{ClaimId, ClaimKind, Effect, System};
use gander_term::{IBig, Pool, Sort, TermId};

use crate::arith::ranges::ranges;

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelProfile {
    /// Every variable, parameter and input has finitely many values, by its sort.
    pub finite: bool,
    /// Every variable, parameter and input has finitely many values, by its sort or as formulas
    /// keep it in a small range.
    pub ranged: bool,
    /// No product of variables, no division by one.
    pub linear: bool,
    /// The control graph has a cycle.
    pub cycles: bool,
    /// Some variable is a number.
    pub numbers: bool,
    /// Some claim is not about the reachability of states or steps.
    pub liveness: bool,
    /// Some claim is.
    pub safety: bool,
    /// Nodes of the control graph.
    pub nodes: usize,
    /// Variables, inputs included.
    pub variables: usize,
    /// Transitions.
    pub transitions: usize,
}

impl ModelProfile {
    /// Looks at a system and the claims that are asked.
    pub fn of(system: &System, claims: &[ClaimId]) -> ModelProfile {
        let parameters = system
            .transitions()
            .iter()
            .flat_map(|t| t.params.iter().map(|p| system.pool().symbol(p.symbol).sort));
        let mut sorts = system.vars().iter().map(|v| v.sort).chain(parameters);
        let is_liveness = |c: &&ClaimId| is_liveness(&system.claims()[c.index()].kind);
        let liveness = claims.iter().filter(is_liveness).count();
        ModelProfile {
            finite: sorts.all(|s| s.is_finite()),
            ranged: is_ranged(system),
            linear: !Pool::fork(system.pool()).features(&formulas(system)).nonlinear,
            cycles: has_cycle(system),
            numbers: system.vars().iter().any(|v| matches!(v.sort, Sort::Int | Sort::Real)),
            liveness: liveness > 0,
            safety: liveness < claims.len(),
            nodes: system.nodes().len(),
            variables: system.vars().len(),
            transitions: system.transitions().len(),
        }
    }
}

/// Ranges with more values are large.
const LARGEST_RANGE: i32 = 4096;

fn is_ranged(system: &System) -> bool {
    let small = |low: &IBig, high: &IBig| high - low < IBig::from(LARGEST_RANGE);
    let mut params = system.transitions().iter().flat_map(|t| &t.params);
    params.all(|p| match p.sort {
        Sort::Int => p.range.as_ref().is_some_and(|r| small(&r.low, &r.high)),
        sort => sort.is_finite(),
    }) && system.vars().iter().all(|v| v.sort == Sort::Int || v.sort.is_finite())
        && system.vars().iter().zip(ranges(system)).all(|(v, range)| match range {
            Some((low, high)) => small(&low, &high),
            None => v.sort != Sort::Int,
        })
}

/// True for claims that no finite run decides in both directions.
fn is_liveness(kind: &ClaimKind) -> bool {
    !matches!(
        kind,
        ClaimKind::Always(_)
            | ClaimKind::Reachable(_)
            | ClaimKind::CanEnable(_)
            | ClaimKind::NoSinkhole(_)
            | ClaimKind::StartSatisfiable(_)
            | ClaimKind::Completable(_)
            | ClaimKind::NoDeadlock
    )
}

/// Guards, effects, starts and assumptions.
fn formulas(system: &System) -> Vec<TermId> {
    let mut terms: Vec<TermId> = Vec::new();
    for t in system.transitions() {
        terms.extend(t.guard.iter().map(|g| g.term.term()));
        terms.extend(t.effect.iter().filter_map(|part| match part {
            Effect::Assign { value, .. } => Some(value.term()),
            Effect::Constrain { relation, .. } => Some(relation.term()),
            Effect::Keep { .. } => None,
        }));
    }
    terms.extend(system.starts().iter().flat_map(|s| s.constraint.iter().map(|c| c.term.term())));
    terms.extend(system.assumptions().iter().map(|a| a.term.term()));
    terms
}

/// True if the control graph has a cycle.
fn has_cycle(system: &System) -> bool {
    // Kahn's algorithm: remove nodes without predecessors until none is left.
    let mut entering = vec![0usize; system.nodes().len()];
    for t in system.transitions() {
        entering[t.target.index()] += 1;
    }
    let mut free: Vec<_> = system.node_ids().filter(|n| entering[n.index()] == 0).collect();
    let mut taken = 0;
    while let Some(n) = free.pop() {
        taken += 1;
        for &t in system.leaving(n) {
            let target = system.transition(t).target;
            entering[target.index()] -= 1;
            if entering[target.index()] == 0 {
                free.push(target);
            }
        }
    }
    taken < system.nodes().len()
}

impl fmt::Display for ModelProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        let domain = match (self.finite, self.ranged) {
            (true, _) => "finite",
            (false, true) => "small ranges",
            (false, false) => "infinite",
        };
        let arithmetic = match (self.numbers, self.linear) {
            (false, _) => "no numbers",
            (true, true) => "linear",
            (true, false) => "non-linear",
        };
        let cycles = if self.cycles { "with cycles" } else { "without cycles" };
        let claims = match (self.safety, self.liveness) {
            (true, true) => "safety and liveness claims",
            (false, true) => "liveness claims",
            _ => "safety claims",
        };
        write!(
            f,
            "{}, {} {cycles}, {}, {domain}, {arithmetic}, {claims}",
            count(self.nodes, "node"),
            count(self.transitions, "transition"),
            count(self.variables, "variable"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::{NodeId, Role, SystemBuilder};
    use gander_term::parse_term;

    fn chain_of(nodes: u32, back: bool) -> SystemBuilder {
        let names: Vec<String> = (0..nodes).map(|n| format!("N{n}")).collect();
        let names: Vec<(&str, _)> = names.iter().map(|n| (n.as_str(), None)).collect();
        let mut b = SystemBuilder::new("s", Pool::new(), &names).unwrap();
        b.start("go", NodeId(0), &[], None).unwrap();
        let last = nodes - 1;
        let ways = (0..last).map(|n| (n, n + 1)).chain(back.then_some((last, 0)));
        for (from, to) in ways {
            let step = b
                .transition(&format!("{from}to{to}"), None, NodeId(from), NodeId(to), None)
                .unwrap();
            b.add(step).unwrap();
        }
        b
    }

    #[test]
    fn a_profile_says_whether_the_control_graph_has_cycles() {
        for nodes in 2..5 {
            for back in [false, true] {
                let system = chain_of(nodes, back).finish();
                assert_eq!(ModelProfile::of(&system, &[]).cycles, back, "{nodes} nodes");
            }
        }
    }

    #[test]
    fn numbers_make_infinite_and_products_non_linear() {
        let mut b = chain_of(2, false);
        b.var("ready", Sort::Bool, Role::State, None, None).unwrap();
        assert!(ModelProfile::of(&b.finish(), &[]).finite);
        let mut b = chain_of(2, true);
        b.var("x", Sort::Int, Role::State, None, None).unwrap();
        b.var("y", Sort::Int, Role::State, None, None).unwrap();
        let mut draft = b.transition("multiply", None, NodeId(0), NodeId(0), None).unwrap();
        let product = parse_term(&mut b.pool, "x * y > 3").unwrap();
        b.guard(&mut draft, product, None).unwrap();
        b.add(draft).unwrap();
        let profile = ModelProfile::of(&b.finish(), &[]);
        assert!(!profile.finite && !profile.linear && profile.numbers);
        assert_eq!(
            profile.to_string(),
            "2 nodes, 3 transitions with cycles, 2 variables, infinite, non-linear, safety claims"
        );
    }
}
