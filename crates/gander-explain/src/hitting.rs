//! Hitting sets: cores and cut sets are each the minimal hitting sets of the other.

use crate::set::PartSet;

/// All minimal sets that meet each of `sets` (Berge's algorithm); none if there are more than `most` on the way.
pub fn minimal_hitting_sets(universe: usize, sets: &[PartSet], most: usize) -> Option<Vec<PartSet>> {
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

/// A smallest set that meets each of `sets`, by branch and bound; `budget` limits the branches.
pub(crate) fn smallest_hitting_set(universe: usize, sets: &[PartSet], mut budget: u64) -> Option<PartSet> {
    let mut best = greedy(universe, sets);
    // Each entry: what is chosen, what may not be chosen.
    let mut stack = vec![(PartSet::none(universe), PartSet::none(universe))];
    while let Some((chosen, barred)) = stack.pop() {
        budget = budget.checked_sub(1)?;
        let open: Vec<&PartSet> = sets.iter().filter(|s| s.intersection(&chosen).is_empty()).collect();
        if open.is_empty() {
            if chosen.len() < best.len() {
                best = chosen;
            }
            continue;
        }
        // Sets that have nothing in common each need a member of their own.
        let mut apart = PartSet::none(universe);
        let mut least = chosen.len();
        for s in &open {
            if s.intersection(&apart).is_empty() {
                apart = apart.union(s);
                least += 1;
            }
        }
        if least >= best.len() {
            continue;
        }
        let Some(branch) = open.iter().min_by_key(|s| s.iter().filter(|&p| !barred.has(p)).count()) else { continue };
        let mut barred = barred;
        for p in branch.iter() {
            if !barred.has(p) {
                stack.push((chosen.with(p), barred.clone()));
                barred.insert(p);
            }
        }
    }
    Some(best)
}

/// Some set that meets all: always the member that meets most of what is left.
fn greedy(universe: usize, sets: &[PartSet]) -> PartSet {
    let mut chosen = PartSet::none(universe);
    loop {
        let open: Vec<&PartSet> = sets.iter().filter(|s| s.intersection(&chosen).is_empty()).collect();
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
    fn hitting_sets_of_two_cores() {
        let cuts = minimal_hitting_sets(5, &sets(&[&[0, 2, 3], &[1, 2, 3]]), 100).unwrap();
        assert_eq!(cuts, sets(&[&[2], &[3], &[0, 1]]));
        assert_eq!(minimal_hitting_sets(5, &[], 10).unwrap(), sets(&[&[]]));
    }

    #[test]
    fn the_smallest_is_not_the_greedy_one() {
        let cuts = sets(&[&[0, 3], &[1, 3], &[0, 4], &[1, 4], &[2, 3], &[2, 4]]);
        assert_eq!(smallest_hitting_set(5, &cuts, 1000).unwrap().len(), 2);
        assert_eq!(smallest_hitting_set(5, &[], 10).unwrap().len(), 0);
    }
}
