//! The variable order: variables that occur in the same formula are placed close together.
//!
//! After Aloul, Markov and Sakallah, *FORCE: a fast and easy-to-implement variable-ordering
//! heuristic* (2003): in each round, every formula moves its variables towards the centre of their
//! positions. The best order found is used.

use super::limits::LIMITS;

/// An order of `count` variables such that the members of each group are close together.
pub(super) fn order(count: usize, groups: &[Vec<usize>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut best = (span(&order, groups), order.clone());
    for _ in 0..LIMITS.order_rounds {
        let place = places(&order);
        let mut pull = vec![(0.0, 0u32); count];
        for group in groups.iter().filter(|g| g.len() > 1) {
            let middle = group.iter().map(|&v| place[v] as f64).sum::<f64>() / group.len() as f64;
            for &v in group {
                pull[v].0 += middle;
                pull[v].1 += 1;
            }
        }
        let target = |v: usize| match pull[v] {
            (_, 0) => place[v] as f64,
            (sum, n) => sum / f64::from(n),
        };
        order.sort_by(|&a, &b| target(a).total_cmp(&target(b)).then(place[a].cmp(&place[b])));
        let now = span(&order, groups);
        if now < best.0 {
            best = (now, order.clone());
        } else if now > best.0 * 2 {
            break;
        }
    }
    best.1
}

fn places(order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    for (i, &v) in order.iter().enumerate() {
        place[v] = i;
    }
    place
}

/// The sum over all groups of the distance between their outermost members.
fn span(order: &[usize], groups: &[Vec<usize>]) -> u64 {
    let place = places(order);
    let of = |g: &Vec<usize>| {
        let (low, high) =
            g.iter().fold((usize::MAX, 0), |(l, h), &v| (l.min(place[v]), h.max(place[v])));
        high.saturating_sub(low) as u64
    };
    groups.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn related_variables_are_placed_close_together() {
        // A shuffled chain.
        let groups: Vec<Vec<usize>> = (0..39).map(|i| vec![i * 7 % 40, (i + 1) * 7 % 40]).collect();
        let found = order(40, &groups);
        let mut sorted = found.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..40).collect::<Vec<_>>());
        let before: Vec<usize> = (0..40).collect();
        assert!(span(&found, &groups) * 2 < span(&before, &groups), "{found:?}");
    }
}
