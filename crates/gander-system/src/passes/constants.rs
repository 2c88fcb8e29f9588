//! Constant propagation.
//!
//! Variable x has the constant c if every start demands `x == c` and every transition, unless its guard is false, keeps x
//! or assigns it a value that is c, where the constants found are known. The set of these equations is the greatest one
//! that is inductive in this sense: it is found by starting with all that the starts demand and taking out what some
//! transition breaks.
//!
//! The new system has no constant variables, and no transitions whose guard is false. Its states, with the constants
//! put back, are the states of the old one in which the equations hold, and all reachable ones are among these; so the
//! pass is exact. An invariant is lifted by adding the equations, which makes it inductive on its own.

use gander_term::{Op, Pool, Simplifier, Substitution, TermId, Value};
use rustc_hash::FxHashMap;

use crate::builder::BuildError;
use crate::claim::FairnessId;
use crate::evidence::{Leg, NodeFormulas, Run, State, Step};
use crate::origin::ElementId;
use crate::passes::Restore;
use crate::passes::copying::{ClaimCopy, Copying, ParamSymbols, Placement};
use crate::system::{Effect, StartId, System, TransitionId, VarId};

/// A system without constant variables; made by [`constants`].
#[derive(Clone, Debug)]
pub struct Constants {
    /// The new system: same nodes, same starts, same claims.
    pub system: System,
    /// By old variable: its constant.
    values: Vec<Option<Value>>,
    /// By old variable: the equation, in the old system's pool or a fork of it.
    symbols: Vec<gander_term::SymbolId>,
    /// By new transition: the old one.
    transitions: Vec<TransitionId>,
    origins: Vec<Option<ElementId>>,
}

/// The system without the variables that are constant, and without the transitions that this shows to be dead.
pub fn constants(system: &System) -> Result<Constants, BuildError> {
    let mut values = demanded(system);
    let mut pool = Pool::fork(&system.pool);
    let alive = loop {
        let mut folding = Folding::new(&mut pool, system, &values);
        let alive: Vec<bool> = system.transition_ids().map(|t| !folding.is_dead(&mut pool, system, t)).collect();
        let broken: Vec<VarId> = system
            .var_ids()
            .filter(|&v| values[v.index()].as_ref().is_some_and(|c| folding.breaks(&mut pool, system, &alive, v, c)))
            .collect();
        if broken.is_empty() {
            break alive;
        }
        for v in broken {
            values[v.index()] = None;
        }
    };
    rebuild(system, values, &alive)
}

/// The values that all starts demand.
fn demanded(system: &System) -> Vec<Option<Value>> {
    let mut values: Vec<Option<Value>> = vec![None; system.vars.len()];
    for (i, start) in system.starts.iter().enumerate() {
        let mut here: FxHashMap<gander_term::SymbolId, Value> = FxHashMap::default();
        let mut stack: Vec<TermId> = start.constraint.iter().map(|e| e.term.term()).collect();
        while let Some(t) = stack.pop() {
            match system.pool.op(t) {
                Op::And => stack.extend_from_slice(system.pool.args(t)),
                _ => {
                    if let Some((symbol, value)) = equation(&system.pool, t) {
                        here.insert(symbol, value);
                    }
                }
            }
        }
        for (v, known) in system.vars.iter().zip(&mut values) {
            let found = here.remove(&v.current);
            if i == 0 {
                *known = found;
            } else if *known != found {
                *known = None;
            }
        }
    }
    values
}

/// What a term of the form `x == c`, `c == x`, `x` or `not x` demands.
pub(crate) fn equation(pool: &Pool, t: TermId) -> Option<(gander_term::SymbolId, Value)> {
    match (pool.op(t), pool.args(t)) {
        (Op::Symbol(s), _) => Some((s, Value::Bool(true))),
        (Op::Not, &[a]) => Some((pool.as_symbol(a)?, Value::Bool(false))),
        (Op::Eq, &[a, b]) => match (pool.as_symbol(a), pool.as_symbol(b)) {
            (Some(s), None) => Some((s, pool.as_constant(b)?)),
            (None, Some(s)) => Some((s, pool.as_constant(a)?)),
            _ => None,
        },
        _ => None,
    }
}

/// Terms with constants put in and simplified.
struct Folding {
    substitution: Substitution,
    simplifier: Simplifier,
}

impl Folding {
    fn new(pool: &mut Pool, system: &System, values: &[Option<Value>]) -> Folding {
        let mut map = FxHashMap::default();
        for (v, value) in system.vars.iter().zip(values) {
            if let Some(value) = value {
                map.insert(v.current, pool.constant(value.clone()));
            }
        }
        Folding { substitution: Substitution::new(pool, &map), simplifier: Simplifier::new() }
    }

    /// The term itself if it has none of the constants, so that it still looks as it was written.
    fn fold(&mut self, pool: &mut Pool, t: TermId) -> TermId {
        let new = self.substitution.apply(pool, t);
        if new == t { t } else { self.simplifier.simplify(pool, new) }
    }

    fn is_dead(&mut self, pool: &mut Pool, system: &System, t: TransitionId) -> bool {
        let guard = system.guard_term(pool, t);
        let guard = self.substitution.apply(pool, guard);
        let guard = self.simplifier.simplify(pool, guard);
        pool.as_bool(guard) == Some(false)
    }

    /// True if some living transition may change the variable.
    fn breaks(&mut self, pool: &mut Pool, system: &System, alive: &[bool], v: VarId, c: &Value) -> bool {
        system.transition_ids().filter(|t| alive[t.index()]).any(|t| {
            let treated = system.transition(t).effect.iter().find_map(|e| match *e {
                Effect::Keep { var, .. } if var == v => Some(None),
                Effect::Assign { var, value, .. } if var == v => Some(Some(value.term())),
                _ => None,
            });
            match treated {
                Some(None) => false,
                Some(Some(value)) => {
                    let value = self.substitution.apply(pool, value);
                    let value = self.simplifier.simplify(pool, value);
                    pool.as_constant(value).as_ref() != Some(c)
                }
                None => true,
            }
        })
    }
}

fn rebuild(system: &System, values: Vec<Option<Value>>, alive: &[bool]) -> Result<Constants, BuildError> {
    let nodes: Vec<(&str, _)> = system.nodes.iter().map(|n| (n.name.as_str(), n.span)).collect();
    let mut copy = Copying::new(system, &nodes)?;
    let mut folding = Folding::new(&mut copy.to.pool, system, &values);
    copy.copy_vars(|v| values[v.index()].is_none())?;
    copy.copy_assumptions(|pool, t| folding.fold(pool, t))?;
    for n in system.node_ids() {
        if system.node(n).is_final {
            copy.to.set_final(n);
        }
        copy.copy_hints(n, n, |pool, t| folding.fold(pool, t))?;
    }
    for (i, s) in system.starts.iter().enumerate() {
        copy.copy_start(StartId::from(i), s.target, |pool, t| folding.fold(pool, t))?;
    }
    let mut kept = Vec::new();
    let mut renumbered = vec![None; system.transitions.len()];
    for t in system.transition_ids().filter(|t| alive[t.index()]) {
        let old = system.transition(t);
        let at = Placement { name: &old.name, source: old.source, target: old.target, symbols: ParamSymbols::Same };
        let (mut draft, mut renaming) = copy.begin(t, &at, |pool, t| folding.fold(pool, t))?;
        copy.copy_effect(t, &mut draft, &mut renaming, |pool, t| folding.fold(pool, t))?;
        renumbered[t.index()] = Some(copy.end(draft)?);
        kept.push(t);
    }
    let mut fairness = Vec::new();
    for f in 0..system.fairness.len() {
        let new = copy.copy_fairness(FairnessId::from(f), &mut |pool, t| folding.fold(pool, t), &renumbered)?;
        fairness.push(Some(new));
    }
    let mut step_folding = Folding::new(&mut copy.to.pool, system, &values);
    for c in &system.claims {
        let mut with = ClaimCopy {
            state: &mut |pool, t| folding.fold(pool, t),
            step: &mut |pool, t| step_folding.fold(pool, t),
            transitions: &renumbered,
            fairness: &fairness,
        };
        let kind = copy.copy_kind(&c.kind, &mut with)?;
        copy.add_claim(c, kind)?;
    }
    let symbols = system.vars.iter().map(|v| v.current).collect();
    Ok(Constants { values, symbols, transitions: kept, origins: copy.origins, system: copy.to.finish() })
}

impl Constants {
    /// The constant variables of the old system and their values.
    pub fn learned(&self) -> impl Iterator<Item = (VarId, &Value)> {
        self.values.iter().enumerate().filter_map(|(i, v)| Some((VarId::from(i), v.as_ref()?)))
    }

    fn old_values(&self, new: &[Value]) -> Option<Vec<Value>> {
        let mut new = new.iter().cloned();
        let old: Option<Vec<Value>> =
            self.values.iter().map(|c| c.as_ref().map_or_else(|| new.next(), |c| Some(c.clone()))).collect();
        old.filter(|_| new.next().is_none())
    }

    /// Recurses into repetitions, which nest as deep as an engine compresses: a few levels.
    fn old_legs(&self, legs: &[Leg]) -> Option<Vec<Leg>> {
        legs.iter()
            .map(|leg| match leg {
                Leg::Repeat { times, body } => Some(Leg::Repeat { times: *times, body: self.old_legs(body)? }),
                Leg::Step(s) => {
                    let next = match &s.next {
                        Some(values) => Some(self.old_values(values)?),
                        None => None,
                    };
                    let transition = *self.transitions.get(s.transition.index())?;
                    Some(Leg::Step(Step { transition, params: s.params.clone(), next }))
                }
            })
            .collect()
    }
}

impl Restore for Constants {
    fn run(&self, run: &Run) -> Option<Run> {
        let first = State { node: run.first.node, values: self.old_values(&run.first.values)? };
        Some(Run { start: run.start, first, legs: self.old_legs(&run.legs)?.into() })
    }

    fn invariant(&self, invariant: &NodeFormulas) -> Option<NodeFormulas> {
        let mut pool = Pool::fork(&invariant.pool);
        let mut learned = Vec::new();
        for (v, c) in self.learned() {
            let (x, c) = (pool.var(self.symbols[v.index()]), pool.constant(c.clone()));
            learned.push(pool.eq(x, c));
        }
        let by_node = invariant.by_node.iter().map(|&i| pool.and(learned.iter().copied().chain([i]))).collect();
        Some(NodeFormulas { pool: pool.freeze(), by_node })
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn element(&self, element: ElementId) -> Option<ElementId> {
        self.origins.get(element.index()).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Model, ints, named, replay, step};
    use crate::{ClaimKind, Evidence, Goal, NodeId, Role};
    use gander_term::Sort;

    /// `limit` and `twice` are constant, `x` counts, `off` guards a dead transition that would change `limit`.
    fn counter() -> System {
        let mut m = Model::new("Counter", &["Run", "Done"]);
        m.var("limit", Sort::Int);
        m.var("x", Sort::Int);
        m.var("twice", Sort::Int);
        m.var("off", Sort::Bool);
        m.builder.var("day", Sort::Int, Role::Input, None, None).unwrap();
        m.start("Run", &["limit == 3 and x == 0", "6 == twice", "not off"]);
        m.step("Run", "count", "Run", &[], &["x < limit"], &["x := x + 1", "twice := limit + limit"]);
        m.step("Run", "raise", "Run", &[], &["off"], &["limit := limit + 1"]);
        m.step("Run", "stop", "Done", &[], &["x == limit"], &["x' >= x"]);
        m.always("x <= limit + twice");
        m.claim("dead", ClaimKind::CanEnable(TransitionId(1)));
        m.claim("fine", ClaimKind::Completable(TransitionId(1)));
        let goal = m.step_goal(TransitionId(1), "x == limit");
        m.claim("goal", ClaimKind::Reachable(vec![goal]));
        m.finish()
    }

    #[test]
    fn constants_and_dead_transitions_go() {
        let s = counter();
        let c = constants(&s).unwrap();
        let vars: Vec<&str> = c.system.vars.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(vars, ["x", "day"]);
        assert_eq!(c.learned().count(), 3);
        let names: Vec<&str> = c.system.transitions.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["Run.count", "Run.stop"]);
        let ClaimKind::Always(p) = c.system.claims[0].kind else { panic!("always") };
        assert_eq!(c.system.pool.display(p.term()).to_string(), "x <= 9");
        assert!(matches!(c.system.claims[1].kind, ClaimKind::Reachable(_)));
        assert!(matches!(c.system.claims[2].kind, ClaimKind::Always(_)));
        let ClaimKind::Reachable(goals) = &c.system.claims[3].kind else { panic!("reachable") };
        assert!(matches!(&goals[..], [Goal::Step { choices, .. }] if choices.is_empty()));
    }

    #[test]
    fn runs_get_their_constants_back() {
        let s = counter();
        let c = constants(&s).unwrap();
        let (count, stop) = (named(&c.system, "Run.count"), named(&c.system, "Run.stop"));
        let mut legs: Vec<Leg> = (1..=3).map(|x| step(count, &[], &[x, 7])).collect();
        legs.push(step(stop, &[], &[5, 1]));
        let run = Run { start: StartId(0), first: State { node: NodeId(0), values: ints(&[0, 9]) }, legs: legs.into() };
        replay(&c.system, &run).unwrap();
        let states = replay(&s, &c.run(&run).unwrap()).unwrap();
        assert_eq!(states.last().unwrap().values[0], Value::int(3));
        let short = Run { first: State { node: NodeId(0), values: ints(&[0]) }, ..run };
        assert!(c.run(&short).is_none());
    }

    #[test]
    fn invariants_say_what_was_learned() {
        let s = counter();
        let c = constants(&s).unwrap();
        let mut pool = Pool::fork(&c.system.pool);
        let i = gander_term::parse_term(&mut pool, "x <= 3").unwrap();
        let tt = pool.tt();
        let new = Evidence::Invariant(NodeFormulas { pool: pool.freeze(), by_node: vec![i, tt].into() });
        let Some(Evidence::Invariant(old)) = c.evidence(&new) else { panic!("an invariant") };
        let shown = |i: usize| old.pool.display(old.by_node[i]).to_string();
        assert_eq!(shown(0), "limit == 3 and twice == 6 and not off and x <= 3");
        assert_eq!(shown(1), "limit == 3 and twice == 6 and not off");
    }

    #[test]
    fn what_a_start_leaves_open_is_no_constant() {
        let mut m = Model::new("Two", &["A"]);
        m.var("x", Sort::Int);
        m.var("y", Sort::Int);
        m.start("A", &["x == 1", "y == 1"]);
        m.start("A", &["x == 2", "y == 1"]);
        m.step("A", "go", "A", &[], &["y == 1"], &["any y"]);
        let s = m.finish();
        assert_eq!(constants(&s).unwrap().learned().count(), 0);
    }

    #[test]
    fn broken_constants_take_others_with_them() {
        // y follows x, x changes in the second round only.
        let mut m = Model::new("Follow", &["A"]);
        m.var("x", Sort::Int);
        m.var("y", Sort::Int);
        m.var("z", Sort::Int);
        m.start("A", &["x == 1", "y == 1", "z == 1"]);
        m.step("A", "copy", "A", &[], &[], &["y := x"]);
        m.step("A", "shift", "A", &[], &["y == z"], &["x := z + 1"]);
        let s = m.finish();
        let c = constants(&s).unwrap();
        let learned: Vec<VarId> = c.learned().map(|(v, _)| v).collect();
        assert_eq!(learned, [VarId(2)]);
    }
}
