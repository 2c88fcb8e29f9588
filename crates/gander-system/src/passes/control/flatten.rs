//! Flattening: the control graph becomes a variable.
//!
//! The flat system has one node, and the old node as a last state variable, of the enumeration of
//! nodes. The variable uses the symbol of the old location, so formulas about the old node need no
//! change. A start also requires the target, a guard the source, and an effect assigns the target.
//! States correspond one to one.
//!
//! *No sinkhole* and, if some nodes are final and some are not, *no deadlock* are about single
//! nodes: they become *always* claims with quantifiers.

use gander_term::{Pool, SymbolId, TermId, Value};

use crate::builder::BuildError;
use crate::claim::{ClaimKind, FairnessId};
use crate::evidence::{Leg, NodeFormulas, Run, State, Step};
use crate::location::fold_symbol;
use crate::origin::ElementId;
use crate::passes::Restore;
use crate::passes::copying::{ClaimCopy, Copying, ParamSymbols, Placement};
use crate::passes::enabled::{can_step, enabled};
use crate::system::{NodeId, Role, StartId, System, VarId};

/// A system with one node; made by [`flatten`].
#[derive(Clone, Debug)]
pub struct Flat {
    /// The new system: same transitions, starts, claims; one more variable.
    pub system: System,
    /// The variable that holds the old node; the last one.
    pub node_var: VarId,
    symbol: SymbolId,
    nodes: usize,
    origins: Vec<Option<ElementId>>,
}

/// The system with one node only.
pub fn flatten(system: &System) -> Result<Flat, BuildError> {
    // If the only node of the old system had the same name, the two locations would be one symbol.
    let mut name = "@all".to_string();
    while system.nodes.iter().any(|n| n.name == name) {
        name.insert(0, '@');
    }
    let mut copy = Copying::new(system, &[(&name, None)])?;
    let only = NodeId(0);
    copy.copy_vars(|_| true)?;
    let location = system.pool.symbol(system.location);
    let (node_name, sort) = (location.name.clone(), location.sort);
    let node_var = copy.to.var(&node_name, sort, Role::State, None, None)?;
    copy.copy_assumptions(|_, t| t)?;
    if system.nodes.iter().all(|n| n.is_final) {
        copy.to.set_final(only);
    }
    for n in system.node_ids() {
        let here = at(&mut copy.to.pool, system, n);
        copy.copy_hints(n, only, |pool, t| pool.implies(here, t))?;
    }
    for (i, s) in system.starts.iter().enumerate() {
        let here = at(&mut copy.to.pool, system, s.target);
        copy.copy_start_with(StartId::from(i), only, |_, t| t, &[here])?;
    }
    for t in system.transition_ids() {
        let old = system.transition(t);
        let at_target =
            Placement { name: &old.name, source: only, target: only, symbols: ParamSymbols::Same };
        let (mut draft, mut renaming) = copy.begin(t, &at_target, |_, t| t)?;
        let here = at(&mut copy.to.pool, system, old.source);
        copy.to.guard(&mut draft, here, None)?;
        copy.came_from(None);
        copy.copy_effect(t, &mut draft, &mut renaming, |_, t| t)?;
        let there = system.node_constant(&mut copy.to.pool, old.target);
        copy.to.assign(&mut draft, node_var, there, None)?;
        copy.came_from(None);
        copy.end(draft)?;
    }
    let transitions: Vec<_> = system.transition_ids().map(Some).collect();
    let mut fairness = Vec::new();
    for f in 0..system.fairness.len() {
        fairness.push(Some(copy.copy_fairness(
            FairnessId::from(f),
            &mut |_, t| t,
            &transitions,
        )?));
    }
    let mixed = system.nodes.iter().any(|n| n.is_final) && !system.nodes.iter().all(|n| n.is_final);
    for c in &system.claims {
        let kind = match c.kind {
            ClaimKind::NoSinkhole(n) => {
                let formula = no_sinkhole(&mut copy.to.pool, system, n);
                ClaimKind::Always(copy.to.state_formula(formula, &c.name)?)
            }
            ClaimKind::NoDeadlock if mixed => {
                let formula = no_deadlock(&mut copy.to.pool, system);
                ClaimKind::Always(copy.to.state_formula(formula, &c.name)?)
            }
            ref kind => {
                let mut with = ClaimCopy {
                    state: &mut |_, t| t,
                    step: &mut |_, t| t,
                    transitions: &transitions,
                    fairness: &fairness,
                };
                copy.copy_kind(kind, &mut with)?
            }
        };
        copy.add_claim(c, kind)?;
    }
    let nodes = system.nodes.len();
    Ok(Flat {
        node_var,
        symbol: system.location,
        nodes,
        origins: copy.origins,
        system: copy.to.finish(),
    })
}

/// `@node == n` of the old system.
fn at(pool: &mut Pool, system: &System, n: NodeId) -> TermId {
    let (here, place) = (system.node_constant(pool, n), pool.var(system.location));
    pool.eq(place, here)
}

fn no_sinkhole(pool: &mut Pool, system: &System, n: NodeId) -> TermId {
    let some: Vec<TermId> =
        system.leaving(n).iter().map(|&t| enabled(pool, system.transition(t))).collect();
    let (here, some) = (at(pool, system, n), pool.or(some));
    pool.implies(here, some)
}

fn no_deadlock(pool: &mut Pool, system: &System) -> TermId {
    let mut all = Vec::new();
    for n in system.node_ids().filter(|&n| !system.node(n).is_final) {
        let some: Vec<TermId> =
            system.leaving(n).iter().map(|&t| can_step(pool, system, t)).collect();
        let (here, some) = (at(pool, system, n), pool.or(some));
        all.push(pool.implies(here, some));
    }
    pool.and(all)
}

impl Flat {
    fn split(&self, values: &[Value]) -> Option<(NodeId, Vec<Value>)> {
        match values.split_last()? {
            (Value::Enum(_, n), rest) if (*n as usize) < self.nodes => {
                Some((NodeId(*n), rest.to_vec()))
            }
            _ => None,
        }
    }

    /// Recurses into repetitions, which engines nest a few levels deep.
    fn old_legs(&self, legs: &[Leg]) -> Option<Vec<Leg>> {
        legs.iter()
            .map(|leg| match leg {
                Leg::Repeat { times, body } => {
                    Some(Leg::Repeat { times: *times, body: self.old_legs(body)? })
                }
                Leg::Step(s) => {
                    let next = match &s.next {
                        Some(values) => Some(self.split(values)?.1),
                        None => None,
                    };
                    Some(Leg::Step(Step { next, ..s.clone() }))
                }
            })
            .collect()
    }
}

impl Restore for Flat {
    fn run(&self, run: &Run) -> Option<Run> {
        let (node, values) = self.split(&run.first.values)?;
        Some(Run {
            start: run.start,
            first: State { node, values },
            legs: self.old_legs(&run.legs)?.into(),
        })
    }

    fn invariant(&self, invariant: &NodeFormulas) -> Option<NodeFormulas> {
        let mut pool = Pool::fork(&invariant.pool);
        let &[flat] = &invariant.by_node[..] else { return None };
        let gander_term::Sort::Enum(sort) = pool.symbol(self.symbol).sort else { return None };
        let by_node = (0..self.nodes as u32)
            .map(|n| {
                let here = pool.constant(Value::Enum(sort, n));
                fold_symbol(&mut pool, flat, self.symbol, here)
            })
            .collect();
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
    use crate::testing::{account, named, replay};
    use crate::{Evidence, TransitionId};

    fn flat_account() -> (System, Flat) {
        let mut m = account();
        m.assume("@node == @Node.Frozen -> balance < 100");
        m.always("@node == @Node.Closed -> balance == 0");
        m.claim("sink", ClaimKind::NoSinkhole(NodeId(1)));
        m.claim("dead", ClaimKind::NoDeadlock);
        m.claim("enable", ClaimKind::CanEnable(TransitionId(4)));
        let s = m.finish();
        let f = flatten(&s).unwrap();
        (s, f)
    }

    fn values(f: &Flat, ints: &[i64], node: u32) -> Vec<Value> {
        let gander_term::Sort::Enum(sort) = f.system.var(f.node_var).sort else {
            panic!("an enumeration")
        };
        ints.iter().map(|&i| Value::int(i)).chain([Value::Enum(sort, node)]).collect()
    }

    #[test]
    fn runs_are_mapped_back() {
        let (s, f) = flat_account();
        assert_eq!(f.system.nodes.len(), 1);
        let step = |name: &str, params: &[i64], next: Vec<Value>| {
            Leg::Step(Step {
                transition: named(&f.system, name),
                params: params.iter().map(|&i| Value::int(i)).collect(),
                next: Some(next),
            })
        };
        let run = Run {
            start: StartId(0),
            first: State { node: NodeId(0), values: values(&f, &[50, 1, 0], 0) },
            legs: vec![
                step("Open.deposit", &[9], values(&f, &[59, 1, 2], 0)),
                step("Open.freeze", &[], values(&f, &[59, 1, 3], 1)),
            ]
            .into(),
        };
        replay(&f.system, &run).unwrap();
        let back = replay(&s, &f.run(&run).unwrap()).unwrap();
        assert_eq!(back.last().unwrap().node, NodeId(1));
        // A transition of another node cannot be taken.
        let mut wrong = run.clone();
        wrong.legs.push(step("Open.freeze", &[], values(&f, &[59, 1, 3], 1)));
        assert!(replay(&f.system, &wrong).is_err());
        // The assumption is still about the old node.
        let mut rich = run;
        rich.legs.to_mut()[0] = step("Open.deposit", &[90], values(&f, &[140, 1, 2], 0));
        rich.legs.to_mut()[1] = step("Open.freeze", &[], values(&f, &[140, 1, 3], 1));
        assert!(replay(&f.system, &rich).unwrap_err().starts_with("assumption"));
    }

    #[test]
    fn invariants_are_split_by_node() {
        let (_, f) = flat_account();
        let mut pool = Pool::fork(&f.system.pool);
        let text = "if `@node` == `@Node`.Open then balance > 0 else balance == 0";
        let i = gander_term::parse_term(&mut pool, text).unwrap();
        let flat =
            Evidence::Invariant(NodeFormulas { pool: pool.freeze(), by_node: vec![i].into() });
        let Some(Evidence::Invariant(old)) = f.evidence(&flat) else { panic!("an invariant") };
        let shown: Vec<String> =
            old.by_node.iter().map(|&t| old.pool.display(t).to_string()).collect();
        assert_eq!(shown, ["balance > 0", "balance == 0", "balance == 0"]);
    }

    #[test]
    fn claims_about_nodes_become_always() {
        let (_, f) = flat_account();
        let shown = |name: &str| match f.system.find_claim(name).unwrap().kind {
            ClaimKind::Always(p) => f.system.pool.display(p.term()).to_string(),
            ref other => panic!("{other:?}"),
        };
        assert_eq!(
            shown("sink"),
            "`@node` == `@Node`.`Frozen` -> balance >= fee or day mod 2 == 0"
        );
        assert!(!shown("dead").contains("Closed"));
        assert!(matches!(f.system.find_claim("enable").unwrap().kind, ClaimKind::CanEnable(_)));
    }

    #[test]
    fn flattening_twice_is_possible() {
        let (_, f) = flat_account();
        let twice = flatten(&f.system).unwrap();
        assert_eq!(twice.system.vars.len(), f.system.vars.len() + 1);
    }
}
