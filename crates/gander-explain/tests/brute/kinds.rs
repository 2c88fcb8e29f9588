//! Random small systems with claims of every kind that has cores; adequacy of sets of parts by
//! enumeration of all states.
//!
//! Written from docs/semantics.md, section 7: what a claim says about guards, effects and ends of
//! runs is evaluated on the whole system; the runs are those of the relaxation.

use gander_explain::{PartSet, Parts};
use gander_runtime::Random;
use gander_system::{
    ClaimKind, ClaimOrigin, Effect, ElementId, FairnessKind, Goal, NodeId, Role, StartId, System,
    SystemBuilder, TransitionId, VarId,
};
use gander_term::{Pool, Sort, SymbolId, TermId, Value, evaluate};
use std::collections::{BTreeSet, HashMap, VecDeque};

use super::{Odds, formula, random_transition};

/// A random system with one claim, `p`, of a random kind.
pub fn random_claim(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x5eed_0000);
    let count = 1 + random.below(2);
    let nodes: &[(&str, Option<gander_system::Span>)] = &[("A", None), ("B", None)][..count];
    let mut b = SystemBuilder::new("random", Pool::new(), nodes).unwrap();
    let vars: Vec<VarId> = (0..2)
        .map(|i| {
            let role = if i == 1 && random.chance(20) { Role::Input } else { Role::State };
            b.var(&format!("v{i}"), Sort::Bool, role, None, None).unwrap()
        })
        .collect();
    let symbols: Vec<(SymbolId, SymbolId)> =
        vars.iter().map(|&v| (b.so_far().var(v).current, b.so_far().var(v).next)).collect();
    let here: Vec<TermId> = symbols.iter().map(|(s, _)| b.pool.var(*s)).collect();
    let there: Vec<TermId> = symbols.iter().map(|(_, s)| b.pool.var(*s)).collect();
    let node = |random: &mut Random| NodeId(random.below(nodes.len()) as u32);
    let conjuncts: Vec<(TermId, Option<gander_system::Span>)> = (0..1 + random.below(3))
        .map(|_| (formula(&mut random, &mut b.pool, &here, 1), None))
        .collect();
    let target = node(&mut random);
    b.start("s0", target, &conjuncts, None).unwrap();
    let mut made = Vec::new();
    for t in 0..2 + random.below(2) {
        let (source, target) = (node(&mut random), node(&mut random));
        let odds = Odds { param: 20, guards: 3, effects: 5 };
        made.push(random_transition(
            &mut b,
            &mut random,
            t,
            (source, target),
            (&vars, &here, &there),
            odds,
        ));
    }
    if random.chance(20) {
        let formula = formula(&mut random, &mut b.pool, &here, 1);
        let formula = b.state_formula(formula, "a").unwrap();
        b.assumption("a", formula, None);
    }
    let mut under = Vec::new();
    if random.chance(40) {
        let some = made[random.below(made.len())];
        let kind = match random.below(3) {
            0 => {
                let formula = formula(&mut random, &mut b.pool, &here, 1);
                FairnessKind::Justice(b.state_formula(formula, "f").unwrap())
            }
            1 => FairnessKind::Weak(vec![some]),
            _ => FairnessKind::Strong(vec![some]),
        };
        under.push(b.fairness("f", kind, None).unwrap());
    }
    let state = |b: &mut SystemBuilder, random: &mut Random| {
        let mut formula = formula(random, &mut b.pool, &here, 1);
        if random.chance(30) {
            let location = b.so_far().location();
            let Sort::Enum(sort) = b.pool.symbol(location).sort else { panic!("an enumeration") };
            let (place, at) = (b.pool.var(location), b.pool.constant(Value::Enum(sort, 0)));
            let at = b.pool.eq(place, at);
            formula = b.pool.or([formula, at]);
        }
        b.state_formula(formula, "p").unwrap()
    };
    let kind = match random.below(11) {
        0 | 1 => {
            let step = |b: &mut SystemBuilder, random: &mut Random| {
                let t = made[random.below(made.len())];
                let formula = formula(random, &mut b.pool, &here, 1);
                b.step_goal(None, &[(t, formula)], "goal").unwrap()
            };
            let mut goals = vec![step(&mut b, &mut random)];
            if random.chance(60) {
                goals.insert(0, Goal::State(state(&mut b, &mut random)));
            }
            ClaimKind::Reachable(goals)
        }
        2 => ClaimKind::CanEnable(made[random.below(made.len())]),
        3 => {
            let sources: Vec<NodeId> =
                made.iter().map(|t| b.so_far().transitions()[t.index()].source).collect();
            ClaimKind::NoSinkhole(sources[random.below(sources.len())])
        }
        4 => ClaimKind::Completable(made[random.below(made.len())]),
        5 => ClaimKind::NoDeadlock,
        6 => ClaimKind::StartSatisfiable(StartId(0)),
        7 => ClaimKind::InfiniteRun,
        8 => ClaimKind::ExistsAlways(state(&mut b, &mut random)),
        9 => ClaimKind::Eventually { goal: state(&mut b, &mut random), under },
        _ => {
            let (from, to) = (state(&mut b, &mut random), state(&mut b, &mut random));
            if random.chance(50) {
                ClaimKind::LeadsTo { from, to, under }
            } else {
                ClaimKind::AlwaysEventually { goal: to, under }
            }
        }
    };
    b.claim("p", kind, ClaimOrigin::Written, "p", None).unwrap();
    b.finish()
}

type Env = HashMap<SymbolId, Value>;
/// A node and the values of variables as bits.
type Place = (u32, usize);

/// The states and steps of a relaxation.
struct Graph {
    starts: Vec<Place>,
    /// Reachable states and the steps from each: transition, parameters, next state.
    steps: HashMap<Place, Vec<(usize, usize, Place)>>,
}

struct Brute<'s> {
    system: &'s System,
    parts: &'s Parts,
}

impl Brute<'_> {
    fn states(&self) -> usize {
        1 << self.system.vars().len()
    }

    fn env(&self, place: Place) -> Env {
        let mut env: Env = HashMap::new();
        for (i, v) in self.system.vars().iter().enumerate() {
            env.insert(v.current, Value::Bool(place.1 >> i & 1 == 1));
        }
        let Sort::Enum(sort) = self.system.pool().symbol(self.system.location()).sort else {
            panic!("an enumeration")
        };
        env.insert(self.system.location(), Value::Enum(sort, place.0));
        env
    }

    fn truth(&self, t: TermId, env: &Env) -> bool {
        evaluate(self.system.pool(), t, &|s| env.get(&s).cloned()) == Ok(Value::Bool(true))
    }

    fn at(&self, t: TermId, place: Place) -> bool {
        self.truth(t, &self.env(place))
    }

    fn keeps(&self, kept: Option<&PartSet>, e: ElementId) -> bool {
        kept.is_none_or(|k| self.parts.keeps(k, e))
    }

    fn exists(&self, kept: Option<&PartSet>, place: Place) -> bool {
        self.system
            .assumptions()
            .iter()
            .all(|a| !self.keeps(kept, a.id) || self.at(a.term.term(), place))
    }

    fn choices(&self, t: usize) -> usize {
        1 << self.system.transitions()[t].params.len()
    }

    fn with_params(&self, t: usize, p: usize, place: Place) -> Env {
        let mut env = self.env(place);
        for (i, q) in self.system.transitions()[t].params.iter().enumerate() {
            env.insert(q.symbol, Value::Bool(p >> i & 1 == 1));
        }
        env
    }

    fn enabled(&self, kept: Option<&PartSet>, t: usize, p: usize, place: Place) -> bool {
        let transition = &self.system.transitions()[t];
        let env = self.with_params(t, p, place);
        transition.source.0 == place.0
            && transition
                .guard
                .iter()
                .all(|g| !self.keeps(kept, g.id) || self.truth(g.term.term(), &env))
    }

    fn effect(
        &self,
        kept: Option<&PartSet>,
        t: usize,
        p: usize,
        place: Place,
        next: usize,
    ) -> bool {
        let mut env = self.with_params(t, p, place);
        for (i, v) in self.system.vars().iter().enumerate() {
            env.insert(v.next, Value::Bool(next >> i & 1 == 1));
        }
        self.system.transitions()[t].effect.iter().all(|e| match *e {
            Effect::Assign { id, var, value } => {
                let value = self.truth(value.term(), &env);
                !self.keeps(kept, id) || value == (next >> var.index() & 1 == 1)
            }
            Effect::Keep { id, var } => {
                !self.keeps(kept, id) || (place.1 ^ next) >> var.index() & 1 == 0
            }
            Effect::Constrain { id, relation } => {
                !self.keeps(kept, id) || self.truth(relation.term(), &env)
            }
        })
    }

    fn steps(&self, kept: Option<&PartSet>, place: Place) -> Vec<(usize, usize, Place)> {
        let mut found = Vec::new();
        for (t, transition) in self.system.transitions().iter().enumerate() {
            for p in (0..self.choices(t)).filter(|&p| self.enabled(kept, t, p, place)) {
                for next in 0..self.states() {
                    let there = (transition.target.0, next);
                    if self.effect(kept, t, p, place, next) && self.exists(kept, there) {
                        found.push((t, p, there));
                    }
                }
            }
        }
        found
    }

    /// The states within `depth` steps of a start, or all of them. The steps from the last states
    /// are omitted.
    fn graph(&self, kept: Option<&PartSet>, depth: Option<usize>) -> Graph {
        let mut graph = Graph { starts: Vec::new(), steps: HashMap::new() };
        for s in self.system.starts() {
            for v in 0..self.states() {
                let place = (s.target.0, v);
                let fits = s
                    .constraint
                    .iter()
                    .all(|e| !self.keeps(kept, e.id) || self.at(e.term.term(), place));
                if fits && self.exists(kept, place) {
                    graph.starts.push(place);
                }
            }
        }
        let mut open: VecDeque<(Place, usize)> = graph.starts.iter().map(|&s| (s, 0)).collect();
        while let Some((place, at)) = open.pop_front() {
            if graph.steps.contains_key(&place) {
                continue;
            }
            let steps = if depth == Some(at) { Vec::new() } else { self.steps(kept, place) };
            open.extend(steps.iter().map(|s| (s.2, at + 1)));
            graph.steps.insert(place, steps);
        }
        graph
    }

    /// True if a run of the relaxation, with at most `depth` steps, meets the goals in order.
    fn meets(&self, kept: Option<&PartSet>, goals: &[Goal], depth: Option<usize>) -> bool {
        let graph = self.graph(kept, None);
        let mut seen: BTreeSet<(Place, usize)> = BTreeSet::new();
        let mut level: Vec<(Place, usize)> = graph.starts.iter().map(|&s| (s, 0)).collect();
        let mut at = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            while let Some((s, met)) = level.pop() {
                if !seen.insert((s, met)) {
                    continue;
                }
                if met == goals.len() {
                    return true;
                }
                if let Goal::State(p) = &goals[met]
                    && self.at(p.term(), s)
                {
                    level.push((s, met + 1));
                }
                for &(t, p, there) in &graph.steps[&s] {
                    next.push((there, met));
                    if let Goal::Step { choices, .. } = &goals[met] {
                        let env = self.with_params(t, p, s);
                        if choices.iter().any(|(u, f)| u.index() == t && self.truth(f.term(), &env))
                        {
                            next.push((there, met + 1));
                        }
                    }
                }
            }
            if depth == Some(at) {
                break;
            }
            at += 1;
            level = next;
        }
        false
    }

    /// No step of the system as written leaves the state.
    fn stuck(&self, place: Place) -> bool {
        self.steps(None, place).is_empty()
    }

    fn completable(&self, list: &[TransitionId], place: Place) -> bool {
        self.steps(None, place).iter().any(|s| list.iter().any(|t| t.index() == s.0))
    }

    /// True if some infinite fair run stays in these states from some position on.
    fn goes_on(&self, graph: &Graph, within: &BTreeSet<Place>, fair: &[&FairnessKind]) -> bool {
        let reach = |from: Place| -> BTreeSet<Place> {
            let mut seen = BTreeSet::new();
            let mut open = vec![from];
            while let Some(s) = open.pop() {
                for (_, _, next) in &graph.steps[&s] {
                    if within.contains(next) && seen.insert(*next) {
                        open.push(*next);
                    }
                }
            }
            seen
        };
        let reached: HashMap<Place, BTreeSet<Place>> =
            within.iter().map(|&s| (s, reach(s))).collect();
        for s in within {
            if !reached[s].contains(s) {
                continue;
            }
            let component: BTreeSet<Place> =
                reached[s].iter().copied().filter(|q| reached[q].contains(s)).collect();
            let takes = |list: &[TransitionId]| {
                component.iter().any(|q| {
                    graph.steps[q].iter().any(|(t, _, next)| {
                        component.contains(next) && list.iter().any(|u| u.index() == *t)
                    })
                })
            };
            let mut smaller: Option<BTreeSet<Place>> = None;
            let met = fair.iter().all(|f| match f {
                FairnessKind::Justice(p) => component.iter().any(|q| self.at(p.term(), *q)),
                FairnessKind::Weak(list) => {
                    takes(list) || component.iter().any(|q| !self.completable(list, *q))
                }
                FairnessKind::Strong(list) => {
                    let fits = takes(list) || component.iter().all(|q| !self.completable(list, *q));
                    if !fits {
                        let left =
                            component.iter().copied().filter(|q| !self.completable(list, *q));
                        smaller = Some(left.collect());
                    }
                    fits
                }
            });
            if met
                || smaller
                    .is_some_and(|s| s.len() < component.len() && self.goes_on(graph, &s, fair))
            {
                return true;
            }
        }
        false
    }

    /// True if some maximal fair run of the relaxation reaches one of the states and satisfies the
    /// formula from then on.
    fn stays(
        &self,
        graph: &Graph,
        begin: &[Place],
        stay: &dyn Fn(Place) -> bool,
        fair: &[&FairnessKind],
        finite: bool,
    ) -> bool {
        let mut seen: BTreeSet<Place> = begin.iter().copied().filter(|&s| stay(s)).collect();
        let mut open: Vec<Place> = seen.iter().copied().collect();
        while let Some(s) = open.pop() {
            for (_, _, next) in &graph.steps[&s] {
                if stay(*next) && seen.insert(*next) {
                    open.push(*next);
                }
            }
        }
        (finite && seen.iter().any(|&s| self.stuck(s))) || self.goes_on(graph, &seen, fair)
    }

    /// True if the parts are adequate for runs of at most `depth` steps.
    fn enough(&self, kept: &PartSet, depth: Option<usize>) -> bool {
        let kept = Some(kept);
        let graph = self.graph(kept, depth);
        let fair = |under: &[gander_system::FairnessId]| -> Vec<&FairnessKind> {
            under.iter().map(|f| &self.system.fairness()[f.index()].kind).collect()
        };
        let all: Vec<Place> = graph.steps.keys().copied().collect();
        match &self.system.claims()[0].kind {
            ClaimKind::Reachable(goals) => !self.meets(kept, goals, depth),
            ClaimKind::CanEnable(t) => {
                let t = t.index();
                !all.iter().any(|&s| (0..self.choices(t)).any(|p| self.enabled(kept, t, p, s)))
            }
            ClaimKind::NoSinkhole(n) => all.iter().filter(|s| s.0 == n.0).all(|&s| {
                (0..self.system.transitions().len())
                    .any(|t| (0..self.choices(t)).any(|p| self.enabled(None, t, p, s)))
            }),
            ClaimKind::Completable(t) => {
                let t = t.index();
                all.iter().all(|&s| {
                    (0..self.choices(t))
                        .filter(|&p| self.enabled(None, t, p, s))
                        .all(|p| (0..self.states()).any(|next| self.effect(None, t, p, s, next)))
                })
            }
            ClaimKind::NoDeadlock => all.iter().all(|&s| !self.stuck(s)),
            ClaimKind::StartSatisfiable(_) => graph.starts.is_empty(),
            ClaimKind::InfiniteRun => !self.stays(&graph, &graph.starts, &|_| true, &[], false),
            ClaimKind::ExistsAlways(p) => {
                !self.stays(&graph, &graph.starts, &|s| self.at(p.term(), s), &[], true)
            }
            ClaimKind::Eventually { goal, under } => !self.stays(
                &graph,
                &graph.starts,
                &|s| !self.at(goal.term(), s),
                &fair(under),
                true,
            ),
            ClaimKind::AlwaysEventually { goal, under } => {
                !self.stays(&graph, &all, &|s| !self.at(goal.term(), s), &fair(under), true)
            }
            ClaimKind::LeadsTo { from, to, under } => {
                let begin: Vec<Place> =
                    all.iter().copied().filter(|&s| self.at(from.term(), s)).collect();
                !self.stays(&graph, &begin, &|s| !self.at(to.term(), s), &fair(under), true)
            }
            other => panic!("{other:?}"),
        }
    }

    /// Parts that belong to the claim: those of transitions with fairness, and then assumptions.
    fn pinned(&self) -> PartSet {
        let n = self.parts.len();
        let mut pinned = PartSet::none(n);
        let (ClaimKind::Eventually { under, .. }
        | ClaimKind::AlwaysEventually { under, .. }
        | ClaimKind::LeadsTo { under, .. }) = &self.system.claims()[0].kind
        else {
            return pinned;
        };
        for f in under {
            let (FairnessKind::Weak(list) | FairnessKind::Strong(list)) =
                &self.system.fairness()[f.index()].kind
            else {
                continue;
            };
            let mut pin = |e: ElementId| {
                if let Some(p) = self.parts.part_of(e) {
                    pinned.insert(p);
                }
            };
            self.system.assumptions().iter().for_each(|a| pin(a.id));
            for t in list {
                let t = self.system.transition(*t);
                t.guard.iter().for_each(|g| pin(g.id));
                t.effect.iter().for_each(|e| match *e {
                    Effect::Assign { id, .. }
                    | Effect::Constrain { id, .. }
                    | Effect::Keep { id, .. } => pin(id),
                });
            }
        }
        pinned
    }
}

/// All minimal cores of the claim, by enumeration of all sets; `None` if a run decides it or there
/// are too many sets.
pub fn minimal_cores_of_any(system: &System, parts: &Parts) -> Option<Vec<PartSet>> {
    minimal_cores(system, parts, None)
}

/// All minimal sets of parts that exclude every deciding run of at most `depth` steps; `None` if
/// the system has such a run, if the claim is about infinite runs, or if there are too many sets.
pub fn minimal_bounded_cores(system: &System, parts: &Parts, depth: usize) -> Option<Vec<PartSet>> {
    let of_steps = matches!(
        system.claims()[0].kind,
        ClaimKind::Reachable(_)
            | ClaimKind::CanEnable(_)
            | ClaimKind::NoSinkhole(_)
            | ClaimKind::Completable(_)
            | ClaimKind::NoDeadlock
            | ClaimKind::StartSatisfiable(_)
    );
    if of_steps { minimal_cores(system, parts, Some(depth)) } else { None }
}

fn minimal_cores(system: &System, parts: &Parts, depth: Option<usize>) -> Option<Vec<PartSet>> {
    let n = parts.len();
    let brute = Brute { system, parts };
    let pinned = brute.pinned();
    let free: Vec<usize> = (0..n).filter(|&p| !pinned.has(p)).collect();
    if free.len() > 9 || !brute.enough(&PartSet::all(n), depth) {
        return None;
    }
    let mut sets: Vec<PartSet> = (0..1usize << free.len())
        .map(|bits| {
            PartSet::of(
                n,
                free.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, p)| *p),
            )
        })
        .collect();
    sets.sort_by_key(PartSet::len);
    let mut minimal: Vec<PartSet> = Vec::new();
    for set in sets {
        if !minimal.iter().any(|m| m.is_subset(&set)) && brute.enough(&set.union(&pinned), depth) {
            minimal.push(set);
        }
    }
    minimal.sort();
    Some(minimal)
}
