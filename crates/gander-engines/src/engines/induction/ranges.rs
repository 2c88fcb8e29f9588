//! Conjectures that ints stay in the ranges in which the formulas of the system keep them
//! ([`crate::arith::ranges`]), and that this excludes the targets of claims.
//!
//! A claim about a system of many independent parts often rests on one of them: that some part can
//! always move, for example. Its targets are then a conjunction over independent variables, which
//! ranges exclude iff they exclude one of its parts. So only the variables of that part, and those
//! that they depend on, are in the invariant: the evidence and its check are small.

use gander_system::{NodeFormulas, NodeId};
use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::dependencies::Dependencies;
use super::limits::LIMITS;
use crate::arith::interval::Interval;
use crate::arith::ranges::{bounds, ranges};
use crate::core::portable;
use crate::encode::encoding::Encoding;

/// The ranges of the ints of a system.
pub(super) struct Ranges {
    by_variable: Vec<Option<(IBig, IBig)>>,
    dependencies: Dependencies,
}

impl Ranges {
    /// `None` if no variable has a range.
    pub(super) fn of(e: &mut Encoding) -> Option<Ranges> {
        let system = e.system.clone();
        let by_variable = ranges(&system);
        let some = by_variable.iter().any(Option::is_some);
        some.then(|| Ranges { by_variable, dependencies: Dependencies::of(&system, &mut e.pool) })
    }

    /// The invariant that these variables, or all, are in their ranges, at the nodes that are
    /// reachable in the control graph. `None` if they have none.
    pub(super) fn invariant(
        &self,
        e: &mut Encoding,
        nodes: &[NodeId],
        variables: Option<&[usize]>,
    ) -> Option<NodeFormulas> {
        let system = e.system.clone();
        let mut parts = Vec::new();
        for (i, (var, range)) in system.vars().iter().zip(&self.by_variable).enumerate() {
            let Some((least, greatest)) = range else { continue };
            if variables.is_some_and(|some| some.binary_search(&i).is_err()) {
                continue;
            }
            let current = e.pool.var(var.current);
            let least = e.pool.constant(Value::Int(least.clone()));
            let greatest = e.pool.constant(Value::Int(greatest.clone()));
            parts.push(e.pool.le(least, current));
            parts.push(e.pool.le(current, greatest));
        }
        if parts.is_empty() {
            return None;
        }
        let (inside, nowhere) = (e.pool.and(parts), e.pool.ff());
        let reached = |n: NodeId| nodes.binary_search(&n).is_ok();
        let by_node: Vec<TermId> =
            system.node_ids().map(|n| if reached(n) { inside } else { nowhere }).collect();
        portable(&system, &e.pool, &by_node).ok()
    }

    /// The variables whose ranges imply the formulas, with all that they depend on. `None` if that
    /// is not seen. A formula is divided into parts without common variables, of which one must
    /// hold.
    pub(super) fn needed(
        &self,
        pool: &mut Pool,
        by_node: &[(NodeId, TermId)],
    ) -> Option<Vec<usize>> {
        let mut needed = Vec::new();
        for &(_, formula) in by_node {
            let conjuncts = denied(pool, formula);
            let parts = independent_parts(pool, conjuncts);
            let excluded = |part: &Vec<TermId>| self.excluded(pool, part);
            needed.extend(parts.iter().find_map(excluded)?);
        }
        Some(self.dependencies.closure(&needed))
    }

    /// The variables of a conjunction, if it has no solution in their ranges: the bounds that it
    /// gives leave nothing, or so few values that all can be tried.
    fn excluded(&self, pool: &Pool, conjuncts: &[TermId]) -> Option<Vec<usize>> {
        let symbols = pool.free_symbols(conjuncts);
        let said = bounds(pool, conjuncts.iter().copied());
        let said: FxHashMap<SymbolId, Interval<IBig>> =
            said.into_iter().filter_map(|(t, span)| Some((pool.as_symbol(t)?, span))).collect();
        let mut variables = Vec::new();
        let mut choices: Vec<(SymbolId, Vec<Value>)> = Vec::new();
        let mut combinations = 1_usize;
        for s in symbols {
            let v = self.dependencies.position(s)?;
            variables.push(v);
            let values = match (pool.symbol(s).sort, &self.by_variable[v]) {
                (Sort::Bool, _) => vec![Value::Bool(false), Value::Bool(true)],
                (Sort::Int, Some((least, greatest))) => {
                    let mut span = said.get(&s).cloned().unwrap_or_default();
                    span = span.meet(&Interval::closed(least.clone(), greatest.clone()));
                    if span.is_empty() {
                        return Some(vec![v]);
                    }
                    let (from, to) = (span.lower?.value, span.upper?.value);
                    let count = usize::try_from(&to - &from).ok()?.checked_add(1)?;
                    if count > LIMITS.tried_values {
                        return None;
                    }
                    (0..count).map(|i| Value::Int(&from + IBig::from(i))).collect()
                }
                _ => return None,
            };
            combinations = combinations.saturating_mul(values.len());
            if combinations > LIMITS.tried_values {
                return None;
            }
            choices.push((s, values));
        }
        let has_solution = (0..combinations).any(|mut at| {
            let mut chosen: FxHashMap<SymbolId, &Value> = FxHashMap::default();
            for (s, values) in &choices {
                chosen.insert(*s, &values[at % values.len()]);
                at /= values.len();
            }
            let look_up = |s: SymbolId| chosen.get(&s).map(|v| (*v).clone());
            // What cannot be computed may be true.
            conjuncts.iter().all(|&t| evaluate(pool, t, &look_up) != Ok(Value::Bool(false)))
        });
        (!has_solution).then_some(variables)
    }
}

/// The conjuncts of the negation of a formula.
fn denied(pool: &mut Pool, formula: TermId) -> Vec<TermId> {
    let mut conjuncts = Vec::new();
    let mut stack = vec![(formula, false)];
    while let Some((t, positive)) = stack.pop() {
        match (pool.op(t), positive) {
            (Op::Not, _) => stack.push((pool.args(t)[0], !positive)),
            (Op::And, true) | (Op::Or, false) => {
                stack.extend(pool.args(t).iter().rev().map(|&a| (a, positive)));
            }
            (Op::Implies, false) => {
                let args = pool.args(t);
                stack.extend([(args[1], false), (args[0], true)]);
            }
            _ => conjuncts.push(if positive { t } else { pool.not(t) }),
        }
    }
    conjuncts
}

/// The conjuncts in groups that share no symbol, small groups first.
fn independent_parts(pool: &Pool, conjuncts: Vec<TermId>) -> Vec<Vec<TermId>> {
    // Disjoint sets: each conjunct leads to another one of its group, in the end to the root.
    let mut parents: Vec<usize> = (0..conjuncts.len()).collect();
    fn root(parents: &mut [usize], mut at: usize) -> usize {
        while parents[at] != at {
            parents[at] = parents[parents[at]];
            at = parents[at];
        }
        at
    }
    let mut owner: FxHashMap<SymbolId, usize> = FxHashMap::default();
    for (i, &t) in conjuncts.iter().enumerate() {
        for s in pool.free_symbols(&[t]) {
            let other = *owner.entry(s).or_insert(i);
            let (a, b) = (root(&mut parents, i), root(&mut parents, other));
            parents[a] = b;
        }
    }
    let mut groups: FxHashMap<usize, Vec<TermId>> = FxHashMap::default();
    for (i, &t) in conjuncts.iter().enumerate() {
        groups.entry(root(&mut parents, i)).or_default().push(t);
    }
    let mut groups: Vec<Vec<TermId>> = groups.into_values().collect();
    groups.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::{Role, SystemBuilder};
    use gander_term::parse_term;
    use std::sync::Arc;

    /// The names of the variables that are needed for `formula`, in a system of two counters:
    /// `x` from 0 to 3, `y` from 0 to 3 and never below `z`, which nothing bounds.
    fn needed(formula: &str) -> Option<Vec<String>> {
        let mut b = SystemBuilder::new("s", Pool::new(), &[("N", None)]).unwrap();
        let vars = ["x", "y", "z"].map(|n| b.var(n, Sort::Int, Role::State, None, None).unwrap());
        let zero = parse_term(&mut b.pool, "x == 0 and y == 0").unwrap();
        b.start("go", NodeId(0), &[(zero, None)], None).unwrap();
        let rules = [("x < 3", 0, "x + 1"), ("y < 3 and z < y", 1, "y + 1"), ("true", 2, "z - 1")];
        for (i, (guard, changed, value)) in rules.into_iter().enumerate() {
            let name = format!("t{i}");
            let mut rule = b.transition(&name, None, NodeId(0), NodeId(0), None).unwrap();
            let guard = parse_term(&mut b.pool, guard).unwrap();
            let value = parse_term(&mut b.pool, value).unwrap();
            b.guard(&mut rule, guard, None).unwrap();
            b.assign(&mut rule, vars[changed], value, None).unwrap();
            b.add(rule).unwrap();
        }
        let mut e = Encoding::new(&Arc::new(b.finish()));
        let formula = parse_term(&mut e.pool, formula).unwrap();
        let ranges = Ranges::of(&mut e).unwrap();
        let found = ranges.needed(&mut e.pool, &[(NodeId(0), formula)])?;
        Some(found.into_iter().map(|v| ["x", "y", "z"][v].to_string()).collect())
    }

    #[test]
    fn one_independent_part_is_enough() {
        assert_eq!(needed("z > 0 or x <= 3 or y < 2").unwrap(), ["x"]);
        assert_eq!(needed("not (y != 0 and y != 1 and y != 2 and y != 3)").unwrap(), ["y", "z"]);
        assert_eq!(needed("x < 3 or x == 3 or z == 1").unwrap(), ["x"]);
        assert_eq!(needed("x + y <= 6").unwrap(), ["x", "y", "z"]);
        assert_eq!(needed("x < 3 or y < 3"), None);
        assert_eq!(needed("z <= 3"), None);
    }
}
