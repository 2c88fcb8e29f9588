//! Systems that are products of independent parts.

use gander_system::{Effect, System};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

/// The number of groups of variables such that no transition is about two of them, and some
/// transition assigns a variable of each. If each of these changes a value and no assumption
/// couples the groups, `n` groups have at least `2^n` states together. One for a system with a
/// control graph, whose nodes are common to all.
pub(super) fn independent_parts(system: &System) -> usize {
    if system.nodes().len() > 1 {
        return 1;
    }
    let pool: &Pool = system.pool();
    let vars = system.vars().iter().enumerate();
    let positions: FxHashMap<SymbolId, usize> =
        vars.flat_map(|(i, v)| [(v.current, i), (v.next, i)]).collect();
    // Disjoint sets: each variable leads to another one of its group, in the end to the root.
    let mut parents: Vec<usize> = (0..system.vars().len()).collect();
    let root = |parents: &mut Vec<usize>, mut at: usize| {
        while parents[at] != at {
            parents[at] = parents[parents[at]];
            at = parents[at];
        }
        at
    };
    let mut changes = vec![false; system.vars().len()];
    for transition in system.transitions() {
        let mut terms: Vec<TermId> = transition.guard.iter().map(|g| g.term.term()).collect();
        let mut common = None;
        for part in &transition.effect {
            match *part {
                Effect::Assign { var, value, .. } => {
                    changes[var.index()] = true;
                    terms.push(value.term());
                    let at = root(&mut parents, var.index());
                    let first = *common.get_or_insert(at);
                    parents[at] = root(&mut parents, first);
                }
                Effect::Constrain { relation, .. } => terms.push(relation.term()),
                Effect::Keep { .. } => {}
            }
        }
        for symbol in pool.free_symbols(&terms) {
            let Some(&v) = positions.get(&symbol) else { continue };
            let at = root(&mut parents, v);
            let first = *common.get_or_insert(at);
            parents[at] = root(&mut parents, first);
        }
    }
    let mut groups: Vec<usize> =
        (0..parents.len()).filter(|&v| changes[v]).map(|v| root(&mut parents, v)).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::{NodeId, Role, SystemBuilder};
    use gander_term::{Sort, parse_term};

    /// The parts of a system of three ints, with a rule for each guard and assignment.
    fn parts(rules: &[(&str, usize, &str)]) -> usize {
        let mut b = SystemBuilder::new("s", Pool::new(), &[("N", None)]).unwrap();
        let vars = ["x", "y", "z"].map(|n| b.var(n, Sort::Int, Role::State, None, None).unwrap());
        let zero = parse_term(&mut b.pool, "x == 0 and y == 0 and z == 0").unwrap();
        b.start("go", NodeId(0), &[(zero, None)], None).unwrap();
        for (i, &(guard, changed, value)) in rules.iter().enumerate() {
            let name = format!("t{i}");
            let mut rule = b.transition(&name, None, NodeId(0), NodeId(0), None).unwrap();
            let guard = parse_term(&mut b.pool, guard).unwrap();
            let value = parse_term(&mut b.pool, value).unwrap();
            b.guard(&mut rule, guard, None).unwrap();
            b.assign(&mut rule, vars[changed], value, None).unwrap();
            b.add(rule).unwrap();
        }
        independent_parts(&b.finish())
    }

    #[test]
    fn variables_of_one_transition_are_one_part() {
        let alone = [("x < 3", 0, "x + 1"), ("y < 3", 1, "y + 1"), ("z < 3", 2, "z + 1")];
        assert_eq!(parts(&alone), 3);
        assert_eq!(parts(&alone[..2]), 2);
        assert_eq!(parts(&[alone[0], alone[1], ("x < y", 2, "0")]), 1);
        assert_eq!(parts(&[alone[0], ("z < 3", 1, "z"), alone[2]]), 2);
    }
}
