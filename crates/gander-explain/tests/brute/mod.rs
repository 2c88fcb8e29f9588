//! Random small Boolean systems, and their cores by enumeration of all sets of parts.

pub mod kinds;

use gander_explain::{PartSet, Parts};
use gander_runtime::Random;
use gander_system::{
    ClaimKind, ClaimOrigin, Effect, ElementId, NodeId, Role, System, SystemBuilder, TransitionId,
    VarId,
};
use gander_term::{Pool, Sort, SymbolId, TermId, Value, evaluate};
use std::collections::{BTreeSet, HashMap};

fn formula(random: &mut Random, pool: &mut Pool, atoms: &[TermId], depth: usize) -> TermId {
    if depth == 0 || random.chance(30) {
        let atom = atoms[random.below(atoms.len())];
        return if random.chance(40) { pool.not(atom) } else { atom };
    }
    let (a, b) = (formula(random, pool, atoms, depth - 1), formula(random, pool, atoms, depth - 1));
    match random.below(4) {
        0 => pool.and([a, b]),
        1 => pool.or([a, b]),
        2 => pool.implies(a, b),
        _ => pool.eq(a, b),
    }
}

/// The distribution of random transitions.
#[derive(Clone, Copy)]
pub struct Odds {
    /// Percentage of transitions with a parameter.
    param: usize,
    /// Upper bound (exclusive) of the number of guards.
    guards: usize,
    /// A variable is assigned in two of this many cases, and open in another one.
    effects: usize,
}

/// A random transition between two nodes, over the current and next values of variables.
fn random_transition(
    b: &mut SystemBuilder,
    random: &mut Random,
    number: usize,
    (source, target): (NodeId, NodeId),
    (vars, here, there): (&[VarId], &[TermId], &[TermId]),
    odds: Odds,
) -> TransitionId {
    let mut draft = b.transition(&format!("t{number}"), None, source, target, None).unwrap();
    let mut atoms = here.to_vec();
    if random.chance(odds.param) {
        let p = b.param(&mut draft, "p", Sort::Bool, None).unwrap();
        atoms.push(b.pool.var(p));
    }
    for _ in 0..random.below(odds.guards) {
        let guard = formula(random, &mut b.pool, &atoms, 1);
        b.guard(&mut draft, guard, None).unwrap();
    }
    let mut open = Vec::new();
    for (i, &v) in vars.iter().enumerate() {
        match random.below(odds.effects) {
            0 | 1 => {
                let value = formula(random, &mut b.pool, &atoms, 1);
                b.assign(&mut draft, v, value, None).unwrap();
            }
            2 => open.push(there[i]),
            _ => {}
        }
    }
    if !open.is_empty() {
        open.extend(&atoms);
        let relation = formula(random, &mut b.pool, &open, 2);
        b.constrain(&mut draft, relation, None).unwrap();
    }
    b.add(draft).unwrap()
}

/// A random system with one claim, `p`.
pub fn random_system(seed: u64) -> System {
    let mut random = Random::new(seed);
    let nodes: &[(&str, Option<gander_system::Span>)] =
        if random.chance(50) { &[("A", None)] } else { &[("A", None), ("B", None)] };
    let mut b = SystemBuilder::new("random", Pool::new(), nodes).unwrap();
    let vars: Vec<VarId> = (0..2 + random.below(2))
        .map(|i| {
            let role = if i == 2 && random.chance(40) { Role::Input } else { Role::State };
            b.var(&format!("v{i}"), Sort::Bool, role, None, None).unwrap()
        })
        .collect();
    let symbols: Vec<(SymbolId, SymbolId)> =
        vars.iter().map(|&v| (b.so_far().var(v).current, b.so_far().var(v).next)).collect();
    let here: Vec<TermId> = symbols.iter().map(|(s, _)| b.pool.var(*s)).collect();
    let there: Vec<TermId> = symbols.iter().map(|(_, s)| b.pool.var(*s)).collect();
    let node = |random: &mut Random| NodeId(random.below(nodes.len()) as u32);
    for s in 0..1 + usize::from(random.chance(20)) {
        let conjuncts: Vec<(TermId, Option<gander_system::Span>)> = (0..1 + random.below(2))
            .map(|_| (formula(&mut random, &mut b.pool, &here, 1), None))
            .collect();
        let target = node(&mut random);
        b.start(&format!("s{s}"), target, &conjuncts, None).unwrap();
    }
    for t in 0..1 + random.below(2) {
        let (source, target) = (node(&mut random), node(&mut random));
        let odds = Odds { param: 40, guards: 2, effects: 4 };
        random_transition(&mut b, &mut random, t, (source, target), (&vars, &here, &there), odds);
    }
    if random.chance(25) {
        let formula = formula(&mut random, &mut b.pool, &here, 1);
        let formula = b.state_formula(formula, "a").unwrap();
        b.assumption("a", formula, None);
    }
    let claim = formula(&mut random, &mut b.pool, &here, 2);
    let claim = b.state_formula(claim, "p").unwrap();
    b.claim("p", ClaimKind::Always(claim), ClaimOrigin::Written, "p", None).unwrap();
    b.finish()
}

/// An element, and its truth at (state, parameters, next state).
type Table = (ElementId, Vec<bool>);

type Env = HashMap<SymbolId, bool>;

fn truth(system: &System, t: TermId, env: &Env) -> bool {
    evaluate(system.pool(), t, &|s| env.get(&s).map(|b| Value::Bool(*b))) == Ok(Value::Bool(true))
}

/// The truth of elements, by the numbers of states and parameters.
struct Tables<'s> {
    system: &'s System,
    states: usize,
    of_state: HashMap<ElementId, Vec<bool>>,
    /// By transition: parameters, and for each element its truth at (state, parameters, next
    /// state).
    of_step: Vec<(usize, Vec<Table>)>,
    claim: Vec<bool>,
}

impl Tables<'_> {
    fn new(system: &System) -> Tables<'_> {
        let n = system.vars().len();
        let states = 1 << n;
        let env = |s: usize| -> Env {
            system.vars().iter().enumerate().map(|(i, v)| (v.current, s >> i & 1 == 1)).collect()
        };
        let table =
            |t: TermId| -> Vec<bool> { (0..states).map(|s| truth(system, t, &env(s))).collect() };
        let mut of_state = HashMap::new();
        for e in system.starts().iter().flat_map(|s| &s.constraint).chain(system.assumptions()) {
            of_state.insert(e.id, table(e.term.term()));
        }
        let ClaimKind::Always(p) = system.claims()[0].kind else { panic!("the claim is `always`") };
        let of_step = system
            .transitions()
            .iter()
            .map(|t| {
                let params = 1 << t.params.len();
                let of_term = |term: TermId| -> Vec<bool> {
                    let mut out = Vec::new();
                    for s in 0..states {
                        for p in 0..params {
                            for next in 0..states {
                                let mut env = env(s);
                                env.extend(
                                    t.params
                                        .iter()
                                        .enumerate()
                                        .map(|(i, q)| (q.symbol, p >> i & 1 == 1)),
                                );
                                env.extend(
                                    system
                                        .vars()
                                        .iter()
                                        .enumerate()
                                        .map(|(i, v)| (v.next, next >> i & 1 == 1)),
                                );
                                out.push(truth(system, term, &env));
                            }
                        }
                    }
                    out
                };
                let of_effect = |e: &Effect| -> (ElementId, Vec<bool>) {
                    let bit = |s: usize, v: VarId| s >> v.index() & 1 == 1;
                    match *e {
                        Effect::Constrain { id, relation } => (id, of_term(relation.term())),
                        Effect::Assign { id, var, value } => {
                            let values = of_term(value.term());
                            let agree = |(i, v): (usize, &bool)| *v == bit(i % states, var);
                            (id, values.iter().enumerate().map(agree).collect())
                        }
                        Effect::Keep { id, var } => {
                            let all = 0..states * params * states;
                            (
                                id,
                                all.map(|i| bit(i % states, var) == bit(i / states / params, var))
                                    .collect(),
                            )
                        }
                    }
                };
                let mut elements: Vec<(ElementId, Vec<bool>)> =
                    t.guard.iter().map(|g| (g.id, of_term(g.term.term()))).collect();
                elements.extend(t.effect.iter().map(of_effect));
                (params, elements)
            })
            .collect();
        Tables { system, states, of_state, of_step, claim: table(p.term()) }
    }

    /// True if every reachable state of the relaxation satisfies the claim.
    fn holds(&self, parts: &Parts, kept: &PartSet) -> bool {
        let exists = |s: usize| {
            self.system
                .assumptions()
                .iter()
                .all(|a| !parts.keeps(kept, a.id) || self.of_state[&a.id][s])
        };
        let mut seen: BTreeSet<(u32, usize)> = BTreeSet::new();
        let mut open = Vec::new();
        for start in self.system.starts() {
            for s in (0..self.states).filter(|&s| exists(s)) {
                let fits = start
                    .constraint
                    .iter()
                    .all(|e| !parts.keeps(kept, e.id) || self.of_state[&e.id][s]);
                if fits && seen.insert((start.target.0, s)) {
                    open.push((start.target.0, s));
                }
            }
        }
        while let Some((node, s)) = open.pop() {
            if !self.claim[s] {
                return false;
            }
            for (t, (params, elements)) in self.system.transitions().iter().zip(&self.of_step) {
                if t.source.0 != node {
                    continue;
                }
                for p in 0..*params {
                    for next in (0..self.states).filter(|&next| exists(next)) {
                        let at = (s * params + p) * self.states + next;
                        let fits =
                            elements.iter().all(|(e, table)| !parts.keeps(kept, *e) || table[at]);
                        if fits && seen.insert((t.target.0, next)) {
                            open.push((t.target.0, next));
                        }
                    }
                }
            }
        }
        true
    }
}

/// All minimal cores, by enumeration of all sets; `None` if the claim does not hold or there are
/// too many sets.
pub fn minimal_cores(system: &System, parts: &Parts) -> Option<Vec<PartSet>> {
    let n = parts.len();
    if n > 12 {
        return None;
    }
    let tables = Tables::new(system);
    if !tables.holds(parts, &PartSet::all(n)) {
        return None;
    }
    let mut sets: Vec<PartSet> = (0..1usize << n)
        .map(|bits| PartSet::of(n, (0..n).filter(|i| bits >> i & 1 == 1)))
        .collect();
    sets.sort_by_key(PartSet::len);
    let mut minimal: Vec<PartSet> = Vec::new();
    for set in sets {
        if !minimal.iter().any(|m| m.is_subset(&set)) && tables.holds(parts, &set) {
            minimal.push(set);
        }
    }
    minimal.sort();
    Some(minimal)
}
