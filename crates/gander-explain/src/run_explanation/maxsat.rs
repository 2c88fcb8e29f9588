//! Partial MaxSAT with unit weights: OLL (B. Andres, B. Kaufmann, O. Matheis, T. Schaub,
//! Unsatisfiability-based optimization in clasp, 2012; A. Morgado, C. Dodaro, J. Marques-Silva,
//! Core-guided MaxSAT with soft cardinality constraints, 2014).
//!
//! All soft literals are assumed. While that is unsatisfiable, each core costs one: its members are
//! replaced by "at most one of them fails", a soft literal for the output of a totalizer over them;
//! if that fails too, the next output replaces it. Invariant: every solution violates at least as
//! many soft literals as the cost so far.

use gander_smt::{Answer, Literal};
use rustc_hash::FxHashMap;

use super::search::Search;

/// Larger cores stop the optimisation, as their totalizer would be too large.
const MAX_CORE: usize = 300;
/// Limits the repeated queries that reduce one core.
const MAX_CORE_REPEATS: usize = 3;

/// A solution. The session's last answer is a model of it.
pub(crate) struct Best {
    /// Together with the hard literals, these assumptions admit only solutions as good as this one.
    pub assumptions: Vec<Literal>,
    /// True if no solution violates fewer soft literals.
    pub least: bool,
}

/// The outcome of an optimisation.
pub(crate) enum Optimum {
    /// A solution.
    Best(Best),
    /// The hard literals are unsatisfiable.
    Impossible,
    /// No solution was found in time.
    Unknown,
}

struct Sum {
    /// Output `k` is true if more than `k` members are.
    outputs: Vec<Literal>,
}

/// Satisfies the hard literals and as many soft literals as possible.
pub(crate) fn maximise(search: &mut Search, hard: &[Literal], soft: &[Literal]) -> Optimum {
    let mut active: Vec<Literal> = soft.to_vec();
    let mut sums: Vec<Sum> = Vec::new();
    let mut of_sum: FxHashMap<Literal, (usize, usize)> = FxHashMap::default();
    loop {
        let mut assumptions = hard.to_vec();
        assumptions.extend(&active);
        match search.check(&assumptions) {
            Answer::Sat => return Optimum::Best(Best { assumptions: active, least: true }),
            Answer::Unknown(_) => break,
            Answer::Unsat => {}
        }
        let Some(core) = shrunk_core(search, hard, &active) else { break };
        if core.is_empty() {
            return Optimum::Impossible;
        }
        if core.len() > MAX_CORE || !search.is_alive() {
            break;
        }
        active.retain(|l| !core.contains(l));
        for literal in &core {
            if let Some(&(sum, k)) = of_sum.get(literal)
                && let Some(&output) = sums[sum].outputs.get(k + 1)
            {
                active.push(!output);
                of_sum.insert(!output, (sum, k + 1));
            }
        }
        if core.len() > 1 {
            let failed: Vec<Literal> = core.iter().map(|&l| !l).collect();
            let outputs = totalizer(search, &failed);
            // The cost of the first output is counted: at least one member fails.
            active.push(!outputs[1]);
            of_sum.insert(!outputs[1], (sums.len(), 1));
            sums.push(Sum { outputs });
        }
    }
    greedily(search, hard, soft).map_or(Optimum::Unknown, Optimum::Best)
}

/// Active soft literals that cannot be satisfied together with the hard ones.
fn shrunk_core(search: &mut Search, hard: &[Literal], active: &[Literal]) -> Option<Vec<Literal>> {
    let limits = search.limits();
    let members = |core: Vec<Literal>| -> Vec<Literal> {
        core.into_iter().filter(|l| active.contains(l)).collect()
    };
    let mut core = members(search.session.core(limits).ok()?);
    for _ in 0..MAX_CORE_REPEATS {
        if core.len() <= 1 || search.deadline_passed() {
            break;
        }
        let mut assumptions = hard.to_vec();
        assumptions.extend(&core);
        if search.check(&assumptions) != Answer::Unsat {
            break;
        }
        let limits = search.limits();
        let smaller = members(search.session.core(limits).ok()?);
        if smaller.len() >= core.len() {
            break;
        }
        core = smaller;
    }
    Some(core)
}

/// Adds soft literals one by one, in the remaining time.
fn greedily(search: &mut Search, hard: &[Literal], soft: &[Literal]) -> Option<Best> {
    if !search.is_alive() {
        return None;
    }
    let mut held: Vec<Literal> = Vec::new();
    for &soft_literal in soft {
        if search.deadline_passed() {
            break;
        }
        let mut assumptions = hard.to_vec();
        assumptions.extend(&held);
        assumptions.push(soft_literal);
        if search.check(&assumptions) == Answer::Sat {
            held.push(soft_literal);
        }
        if !search.is_alive() {
            return None;
        }
    }
    let mut assumptions = hard.to_vec();
    assumptions.extend(&held);
    (search.check(&assumptions) == Answer::Sat).then_some(Best { assumptions: held, least: false })
}

/// Outputs such that output `k` is true if more than `k` of the literals are; the converse is not
/// needed.
fn totalizer(search: &mut Search, literals: &[Literal]) -> Vec<Literal> {
    let mut level: Vec<Vec<Literal>> = literals.iter().map(|&l| vec![l]).collect();
    while level.len() > 1 {
        let mut above = Vec::new();
        for pair in level.chunks(2) {
            let [a, b] = pair else {
                above.extend(pair.iter().cloned());
                continue;
            };
            let outputs: Vec<Literal> =
                (0..a.len() + b.len()).map(|_| search.session.literal()).collect();
            for i in 0..=a.len() {
                for j in 0..=b.len() {
                    let Some(sum) = (i + j).checked_sub(1) else { continue };
                    let mut clause = vec![outputs[sum]];
                    clause.extend(i.checked_sub(1).map(|i| !a[i]));
                    clause.extend(j.checked_sub(1).map(|j| !b[j]));
                    search.session.assert_clause(&clause);
                }
            }
            above.push(outputs);
        }
        level = above;
    }
    level.pop().unwrap_or_default()
}
