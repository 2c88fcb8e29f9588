//! Hitting sets. The minimal cores are the minimal hitting sets of the minimal cut sets, and vice
//! versa.

use crate::parts::set::PartSet;

/// All minimal hitting sets of `sets` (Berge's algorithm); `None` if more than `most` arise at any
/// step.
pub fn minimal_hitting_sets(
    universe: usize,
    sets: &[PartSet],
    most: usize,
) -> Option<Vec<PartSet>> {
    let mut found = vec![PartSet::none(universe)];
    for set in sets {
        let (hit, missed): (Vec<PartSet>, Vec<PartSet>) =
            found.into_iter().partition(|f| !f.intersection(set).is_empty());
        let mut next = hit;
        let mut extended: Vec<PartSet> = Vec::new();
        for m in &missed {
            for p in set.iter() {
                let more = m.with(p);
                if !next.iter().any(|h| h.is_subset(&more)) {
                    extended.push(more);
                }
            }
        }
        extended.sort();
        extended.dedup();
        next.extend(extended);
        if next.len() > most {
            return None;
        }
        found = next;
    }
    found.sort_by_key(|s| (s.len(), s.iter().collect::<Vec<_>>()));
    Some(found)
}

/// A smallest hitting set of `sets`, by branch and bound; `None` if more than `budget` branches are
/// needed.
pub(crate) fn smallest_hitting_set(
    universe: usize,
    sets: &[PartSet],
    mut budget: u64,
) -> Option<PartSet> {
    let mut best = greedy(universe, sets);
    // Each entry: the chosen parts, and the excluded ones.
    let mut stack = vec![(PartSet::none(universe), PartSet::none(universe))];
    while let Some((chosen, excluded)) = stack.pop() {
        budget = budget.checked_sub(1)?;
        let open: Vec<&PartSet> =
            sets.iter().filter(|s| s.intersection(&chosen).is_empty()).collect();
        if open.is_empty() {
            if chosen.len() < best.len() {
                best = chosen;
            }
            continue;
        }
        // Disjoint sets each need a member of their own.
        let mut disjoint = PartSet::none(universe);
        let mut least = chosen.len();
        for s in &open {
            if s.intersection(&disjoint).is_empty() {
                disjoint = disjoint.union(s);
                least += 1;
            }
        }
        if least >= best.len() {
            continue;
        }
        let Some(branch) =
            open.iter().min_by_key(|s| s.iter().filter(|&p| !excluded.has(p)).count())
        else {
            continue;
        };
        let mut excluded = excluded;
        for p in branch.iter() {
            if !excluded.has(p) {
                stack.push((chosen.with(p), excluded.clone()));
                excluded.insert(p);
            }
        }
    }
    Some(best)
}

/// A hitting set: repeatedly adds the part that hits most of the remaining sets.
fn greedy(universe: usize, sets: &[PartSet]) -> PartSet {
    let mut chosen = PartSet::none(universe);
    loop {
        let open: Vec<&PartSet> =
            sets.iter().filter(|s| s.intersection(&chosen).is_empty()).collect();
        let most = (0..universe).max_by_key(|&p| open.iter().filter(|s| s.has(p)).count());
        match most {
            Some(p) if open.iter().any(|s| s.has(p)) => chosen.insert(p),
            _ => return chosen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(list: &[&[usize]]) -> Vec<PartSet> {
        list.iter().map(|s| PartSet::of(5, s.iter().copied())).collect()
    }

    #[test]
    fn cut_sets_are_the_minimal_hitting_sets_of_cores() {
        let cuts = minimal_hitting_sets(5, &sets(&[&[0, 2, 3], &[1, 2, 3]]), 100).unwrap();
        assert_eq!(cuts, sets(&[&[2], &[3], &[0, 1]]));
        assert_eq!(minimal_hitting_sets(5, &[], 10).unwrap(), sets(&[&[]]));
    }

    #[test]
    fn branch_and_bound_improves_on_the_greedy_set() {
        let cuts = sets(&[&[0, 3], &[1, 3], &[0, 4], &[1, 4], &[2, 3], &[2, 4]]);
        assert_eq!(smallest_hitting_set(5, &cuts, 1000).unwrap().len(), 2);
        assert_eq!(smallest_hitting_set(5, &[], 10).unwrap().len(), 0);
    }
}
