//! Shortcuts: added transitions that have the effect of several steps.
//!
//! The new system has the same variables, nodes, starts, transitions and claims with the same ids,
//! and the shortcuts after the transitions. The caller guarantees that every shortcut has the
//! effect of some steps, and maps runs back by replacing shortcuts with these steps.

use gander_term::{Importer, Pool, SymbolId, TermId};

use crate::builder::BuildError;
use crate::claim::FairnessId;
use crate::passes::copying::{ClaimCopy, Copying, ParamSymbols, Placement};
use crate::system::{NodeId, StartId, System};

/// A transition to be added. Its terms are over the variables of the system and its own parameters,
/// in a fork of the system's pool.
#[derive(Clone, Debug)]
pub struct Shortcut {
    /// The name, unique among transitions.
    pub name: String,
    /// Where it leaves from.
    pub source: NodeId,
    /// Where it goes.
    pub target: NodeId,
    /// Names and symbols of the parameters; no two transitions share a symbol.
    pub params: Vec<(String, SymbolId)>,
    /// The guard, a conjunction.
    pub guard: Vec<TermId>,
    /// By variable: the value after it.
    pub values: Vec<TermId>,
}

/// The system with shortcuts, whose terms are in `pool`.
pub fn with_shortcuts(
    system: &System,
    pool: &Pool,
    shortcuts: &[Shortcut],
) -> Result<System, BuildError> {
    let nodes: Vec<(&str, _)> = system.nodes.iter().map(|n| (n.name.as_str(), n.span)).collect();
    let mut copy = Copying::new(system, &nodes)?;
    copy.copy_vars(|_| true)?;
    copy.copy_assumptions(|_, t| t)?;
    for n in system.node_ids().filter(|&n| system.node(n).is_final) {
        copy.to.set_final(n);
    }
    for (i, s) in system.starts.iter().enumerate() {
        copy.copy_start(StartId::from(i), s.target, |_, t| t)?;
    }
    for t in system.transition_ids() {
        let old = system.transition(t);
        let at = Placement {
            name: &old.name,
            source: old.source,
            target: old.target,
            symbols: ParamSymbols::Same,
        };
        let (mut draft, mut renaming) = copy.begin(t, &at, |_, t| t)?;
        copy.copy_effect(t, &mut draft, &mut renaming, |_, t| t)?;
        copy.end(draft)?;
    }
    let clash = |e: gander_term::NameClash| BuildError::Duplicate(e.to_string());
    let mut importer = Importer::new();
    for s in shortcuts {
        let mut draft = copy.to.transition(&s.name, None, s.source, s.target, None)?;
        for (name, symbol) in &s.params {
            let symbol = importer.symbol(&mut copy.to.pool, pool, *symbol).map_err(clash)?;
            copy.to.param_as(&mut draft, name, symbol, None)?;
        }
        for &g in &s.guard {
            let term = importer.import(&mut copy.to.pool, pool, g).map_err(clash)?;
            copy.to.guard(&mut draft, term, None)?;
        }
        for (v, &value) in system.var_ids().zip(&s.values) {
            let value = importer.import(&mut copy.to.pool, pool, value).map_err(clash)?;
            if copy.to.pool.as_symbol(value) == Some(system.var(v).current) {
                copy.to.keep(&mut draft, v);
            } else {
                copy.to.assign(&mut draft, v, value, None)?;
            }
        }
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
    for c in &system.claims {
        let mut with = ClaimCopy {
            state: &mut |_, t| t,
            step: &mut |_, t| t,
            transitions: &transitions,
            fairness: &fairness,
        };
        let kind = copy.copy_kind(&c.kind, &mut with)?;
        copy.add_claim(c, kind)?;
    }
    Ok(copy.to.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::SystemBuilder;
    use crate::system::{Effect, Role};
    use gander_term::{Sort, parse_term};
    use std::sync::Arc;

    #[test]
    fn shortcuts_are_added_after_the_transitions() {
        let mut b = SystemBuilder::new("counter", Pool::new(), &[("N", None)]).unwrap();
        let x = b.var("x", Sort::Int, Role::State, None, None).unwrap();
        let zero = parse_term(&mut b.pool, "x == 0").unwrap();
        b.start("go", NodeId(0), &[(zero, None)], None).unwrap();
        let mut draft = b.transition("up", None, NodeId(0), NodeId(0), None).unwrap();
        let more = parse_term(&mut b.pool, "x + 1").unwrap();
        b.assign(&mut draft, x, more, None).unwrap();
        b.add(draft).unwrap();
        let system = b.finish();
        let mut pool = Pool::fork(&Arc::clone(&system.pool));
        let n = pool.declare_fresh("n", Sort::Int);
        let (guard, value) =
            (parse_term(&mut pool, "n >= 1").unwrap(), parse_term(&mut pool, "x + n").unwrap());
        let shortcut = Shortcut {
            name: "up many".into(),
            source: NodeId(0),
            target: NodeId(0),
            params: vec![("n".into(), n)],
            guard: vec![guard],
            values: vec![value],
        };
        let new = with_shortcuts(&system, &pool, &[shortcut]).unwrap();
        assert_eq!(new.transitions.len(), 2);
        assert_eq!(new.transition(0.into()).name, "up");
        assert!(matches!(new.transition(1.into()).effect[..], [Effect::Assign { .. }]));
        assert_eq!(new.leaving(NodeId(0)).len(), 2);
    }
}
