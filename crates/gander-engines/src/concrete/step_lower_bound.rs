//! A lower bound on the steps to a goal: states from which the goal is too far for the remaining
//! steps.
//!
//! If steps are counted and limited, and a goal has conjuncts of which a step makes at most one
//! true, the number of false conjuncts is a lower bound on the steps that the goal still needs. A
//! state in which it exceeds the remaining steps is hopeless, and so are all its successors; the
//! search prunes them ([`gander_system::Evidence::Outside`]). Counting open goals is a classical
//! planning heuristic. That it is admissible where no action serves two goals is a case of cost
//! partitioning: Katz and Domshlak, *Optimal additive composition of abstraction-based admissible
//! heuristics* (2008).

use gander_system::{ClaimKind, Effect, Goal, NodeFormulas, System};
use gander_term::{Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;

/// The states from which the goal of a claim cannot be reached within the step limit; `None` if
/// there is no such bound.
pub(crate) fn goal_out_of_reach(system: &System, kind: &ClaimKind) -> Option<NodeFormulas> {
    let (goal, wanted) = match kind {
        ClaimKind::Always(p) => (p.term(), false),
        ClaimKind::Reachable(goals) => match goals[..] {
            [Goal::State(p)] => (p.term(), true),
            _ => return None,
        },
        _ => return None,
    };
    let mut pool = Pool::fork(system.pool());
    let left = steps_left(system, &mut pool)?;
    let all = parts(&mut pool, goal, wanted)?;
    let parts = one_at_a_time(system, &pool, all);
    if parts.len() < 2 {
        return None;
    }
    let (zero, one) = (pool.int(0), pool.int(1));
    let mut open = zero;
    for &part in &parts {
        let more = pool.ite(part, zero, one);
        open = pool.add(open, more);
    }
    let all = pool.and(parts);
    let (far, some) = (pool.lt(left, open), pool.not(all));
    let late = pool.and([far, some]);
    Some(NodeFormulas { pool: pool.freeze(), by_node: vec![late; system.nodes().len()].into() })
}

/// The number of remaining steps, if there is a limit: every transition increments a variable and
/// requires it to be below the limit.
fn steps_left(system: &System, pool: &mut Pool) -> Option<TermId> {
    let limit = system.step_limit()?;
    let (limit, one) = (pool.int(limit.clone()), pool.int(1));
    for (i, v) in system.vars().iter().enumerate().filter(|(_, v)| v.sort == Sort::Int) {
        let steps = pool.var(v.current);
        let (more, below) = (pool.add(steps, one), pool.lt(steps, limit));
        let counts = system.transitions().iter().all(|t| {
            let adds = t
                .effect
                .iter()
                .any(|e| matches!(e, Effect::Assign { var, value, .. } if var.index() == i && value.term() == more));
            adds && t.guard.iter().any(|g| conjuncts(pool, g.term.term()).contains(&below))
        });
        if counts {
            return Some(pool.sub(limit, steps));
        }
    }
    None
}

fn conjuncts(pool: &Pool, t: TermId) -> Vec<TermId> {
    match pool.op(t) {
        Op::And => pool.args(t).to_vec(),
        _ => vec![t],
    }
}

/// The conjuncts of the goal (or of its negation, if it is wanted to be false).
fn parts(pool: &mut Pool, goal: TermId, wanted: bool) -> Option<Vec<TermId>> {
    let (mut found, mut stack) = (Vec::new(), vec![(goal, wanted)]);
    while let Some((t, wanted)) = stack.pop() {
        let args = pool.args(t).to_vec();
        match (pool.op(t), wanted) {
            (Op::Not, _) => stack.push((args[0], !wanted)),
            (Op::And, true) | (Op::Or, false) => {
                stack.extend(args.into_iter().rev().map(|a| (a, wanted)))
            }
            (Op::Implies, false) => stack.extend([(args[1], false), (args[0], true)]),
            (_, true) => found.push(t),
            (_, false) => found.push(pool.not(t)),
        }
        if found.len() + stack.len() > LIMITS.goal_parts {
            return None;
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// A subset of the parts such that no transition can make two of them true. Parts that few
/// transitions can change come first.
fn one_at_a_time(system: &System, pool: &Pool, parts: Vec<TermId>) -> Vec<TermId> {
    let place: FxHashMap<SymbolId, usize> =
        system.vars().iter().enumerate().map(|(i, v)| (v.current, i)).collect();
    // By variable: the transitions that may change it.
    let mut changes: Vec<Vec<usize>> = vec![Vec::new(); system.vars().len()];
    for (t, transition) in system.transitions().iter().enumerate() {
        let mut kept = vec![false; system.vars().len()];
        for e in &transition.effect {
            match *e {
                Effect::Keep { var, .. } => kept[var.index()] = true,
                Effect::Assign { var, value, .. } => {
                    kept[var.index()] |=
                        pool.as_symbol(value.term()) == Some(system.var(var).current);
                }
                Effect::Constrain { .. } => {}
            }
        }
        for (v, _) in kept.iter().enumerate().filter(|(_, kept)| !**kept) {
            changes[v].push(t);
        }
    }
    let mut candidates: Vec<(usize, TermId, FxHashSet<usize>)> = Vec::new();
    for part in parts {
        let of: Option<Vec<usize>> =
            pool.free_symbols(&[part]).iter().map(|s| place.get(s).copied()).collect();
        // Skip parts that mention the location, which is not a variable.
        let Some(of) = of else { continue };
        let by: FxHashSet<usize> =
            of.into_iter().flat_map(|v| changes[v].iter().copied()).collect();
        candidates.push((by.len(), part, by));
    }
    candidates.sort_by_key(|c| c.0);
    let mut taken = vec![false; system.transitions().len()];
    let mut chosen = Vec::new();
    for (_, part, by) in candidates {
        if by.iter().all(|&t| !taken[t]) {
            by.iter().for_each(|&t| taken[t] = true);
            chosen.push(part);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use gander_system::{NodeId, Role, SystemBuilder};
    use gander_term::{IBig, parse_term};

    use super::*;

    /// Switches that are turned on one by one, or several at a time, within five steps.
    fn switches(together: &[&[usize]], limit: Option<u32>) -> SystemBuilder {
        let mut b = SystemBuilder::new("switches", Pool::new(), &[("A", None)]).unwrap();
        let names = ["a", "b", "c", "d"];
        let vars: Vec<_> =
            names.iter().map(|n| b.var(n, Sort::Bool, Role::State, None, None).unwrap()).collect();
        let steps = b.var("steps", Sort::Int, Role::State, None, None).unwrap();
        if let Some(limit) = limit {
            b.set_step_limit(IBig::from(limit));
        }
        for (i, turned) in together.iter().enumerate() {
            let mut t = b.transition(&format!("t{i}"), None, NodeId(0), NodeId(0), None).unwrap();
            let guard = parse_term(&mut b.pool, "steps < 5").unwrap();
            b.guard(&mut t, guard, None).unwrap();
            let more = parse_term(&mut b.pool, "steps + 1").unwrap();
            b.assign(&mut t, steps, more, None).unwrap();
            for (v, var) in vars.iter().enumerate() {
                let on = b.pool.tt();
                match turned.contains(&v) {
                    true => b.assign(&mut t, *var, on, None).unwrap(),
                    false => b.keep(&mut t, *var),
                }
            }
            b.add(t).unwrap();
        }
        b
    }

    /// The number of parts that are counted for a goal.
    fn counted(mut b: SystemBuilder, goal: &str, reachable: bool) -> Option<usize> {
        let t = parse_term(&mut b.pool, goal).unwrap();
        let p = b.state_formula(t, "the goal").unwrap();
        let kind = if reachable {
            ClaimKind::Reachable(vec![Goal::State(p)])
        } else {
            ClaimKind::Always(p)
        };
        let late = goal_out_of_reach(&b.finish(), &kind)?;
        let open = late.pool.postorder(&[late.by_node[0]]);
        Some(open.into_iter().filter(|&t| late.pool.op(t) == Op::Ite).count())
    }

    #[test]
    fn only_parts_of_different_steps_are_counted() {
        let one = || switches(&[&[0], &[1], &[2], &[3]], Some(5));
        assert_eq!(counted(one(), "a and b and (c or not d)", true), Some(3));
        assert_eq!(counted(one(), "not (a and b) or not c", false), Some(3));
        // `a` and `b` become true in the same step.
        let two = switches(&[&[0, 1], &[2], &[3]], Some(5));
        assert_eq!(counted(two, "a and b and c and d", true), Some(3));
        let all = switches(&[&[0, 1, 2, 3]], Some(5));
        assert_eq!(counted(all, "a and b and c and d", true), None);
    }

    #[test]
    fn without_a_step_limit_no_state_is_pruned() {
        let parts = [&[0][..], &[1], &[2]];
        assert_eq!(counted(switches(&parts, None), "a and b", true), None);
        // The guards have another limit.
        assert_eq!(counted(switches(&parts, Some(6)), "a and b", true), None);
        assert_eq!(counted(switches(&parts, Some(5)), "a or b", true), None);
    }
}
