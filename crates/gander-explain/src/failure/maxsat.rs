//! As many wishes as possible (partial MaxSAT, all weights one): OLL (B. Andres, B. Kaufmann, O. Matheis, T. Schaub,
//! Unsatisfiability-based optimization in clasp, 2012; A. Morgado, C. Dodaro, J. Marques-Silva, Core-guided MaxSAT with soft cardinality
//! constraints, 2014).
//!
//! All wishes are assumed. As long as that is refused, the core of the refusal costs one: its members are replaced by "at most one of
//! them fails", a wish about the output of a totalizer over them, whose next output is the wish if that one fails too.
//! The invariant is that every solution fails at least as many wishes as were paid for.

use gander_smt::{Answer, Literal};
use rustc_hash::FxHashMap;

use super::search::Search;

/// Cores with more members are not looked into: their totalizer would be too large.
const LARGEST_CORE: usize = 300;
/// How often a core is asked about again to make it smaller.
const SHRINKS: usize = 3;

/// The outcome of an optimisation; the last answer of the session was a solution that is one of these.
pub(crate) struct Best {
    /// Assuming these (with what is demanded) keeps solutions that good.
    pub assumptions: Vec<Literal>,
    /// No solution fails fewer wishes.
    pub least: bool,
}

/// What an optimisation found.
pub(crate) enum Fulfilled {
    /// A solution.
    Best(Best),
    /// What is demanded has no solution.
    Impossible,
    /// Nothing was found in time.
    Unknown,
}

struct Sum {
    /// Output `k` is true if more than `k` members are.
    outputs: Vec<Literal>,
}

/// Fulfils as many wishes as it can.
pub(crate) fn fulfil(search: &mut Search, demanded: &[Literal], wishes: &[Literal]) -> Fulfilled {
    let mut active: Vec<Literal> = wishes.to_vec();
    let mut sums: Vec<Sum> = Vec::new();
    let mut of_sum: FxHashMap<Literal, (usize, usize)> = FxHashMap::default();
    loop {
        let mut assumptions = demanded.to_vec();
        assumptions.extend(&active);
        match search.check(&assumptions) {
            Answer::Sat => return Fulfilled::Best(Best { assumptions: active, least: true }),
            Answer::Unknown(_) => break,
            Answer::Unsat => {}
        }
        let Some(core) = shrunk_core(search, demanded, &active) else { break };
        if core.is_empty() {
            return Fulfilled::Impossible;
        }
        if core.len() > LARGEST_CORE || !search.is_well() {
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
            // The first output is paid for: one of them fails.
            active.push(!outputs[1]);
            of_sum.insert(!outputs[1], (sums.len(), 1));
            sums.push(Sum { outputs });
        }
    }
    greedily(search, demanded, wishes).map_or(Fulfilled::Unknown, Fulfilled::Best)
}

/// Members of the active wishes that cannot be fulfilled together.
fn shrunk_core(search: &mut Search, demanded: &[Literal], active: &[Literal]) -> Option<Vec<Literal>> {
    let limits = search.limits();
    let members = |core: Vec<Literal>| -> Vec<Literal> { core.into_iter().filter(|l| active.contains(l)).collect() };
    let mut core = members(search.session.core(limits).ok()?);
    for _ in 0..SHRINKS {
        if core.len() <= 1 || search.is_late() {
            break;
        }
        let mut assumptions = demanded.to_vec();
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

/// Wish by wish, in the time that is left.
fn greedily(search: &mut Search, demanded: &[Literal], wishes: &[Literal]) -> Option<Best> {
    if !search.is_well() {
        return None;
    }
    let mut held: Vec<Literal> = Vec::new();
    for &wish in wishes {
        if search.is_late() {
            break;
        }
        let mut assumptions = demanded.to_vec();
        assumptions.extend(&held);
        assumptions.push(wish);
        if search.check(&assumptions) == Answer::Sat {
            held.push(wish);
        }
        if !search.is_well() {
            return None;
        }
    }
    let mut assumptions = demanded.to_vec();
    assumptions.extend(&held);
    (search.check(&assumptions) == Answer::Sat).then_some(Best { assumptions: held, least: false })
}

/// Outputs of which number `k` is true if more than `k` of the literals are (the other direction is not needed).
fn totalizer(search: &mut Search, literals: &[Literal]) -> Vec<Literal> {
    let mut level: Vec<Vec<Literal>> = literals.iter().map(|&l| vec![l]).collect();
    while level.len() > 1 {
        let mut above = Vec::new();
        for pair in level.chunks(2) {
            let [a, b] = pair else {
                above.extend(pair.iter().cloned());
                continue;
            };
            let outputs: Vec<Literal> = (0..a.len() + b.len()).map(|_| search.session.literal()).collect();
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
