//! Strongly connected components, numbered so that edges between components lead to smaller numbers.

/// By node: the number of its component. Edges out of range are a mistake of the caller and ignored.
pub(super) fn components(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let (mut after, mut before) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for (a, b) in edges.filter(|&(a, b)| a < nodes && b < nodes) {
        after[a].push(b);
        before[b].push(a);
    }
    // Kosaraju: the order in which nodes are left, then components backwards in that order.
    let mut left = Vec::with_capacity(nodes);
    let mut seen = vec![false; nodes];
    for root in 0..nodes {
        let mut stack = vec![(root, 0)];
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some((n, at)) = stack.last_mut() {
            match after[*n].get(*at) {
                Some(&next) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[next], true) {
                        stack.push((next, 0));
                    }
                }
                None => {
                    left.push(*n);
                    stack.pop();
                }
            }
        }
    }
    let mut number: Vec<Option<usize>> = vec![None; nodes];
    let mut count = 0;
    for &root in left.iter().rev() {
        if number[root].is_some() {
            continue;
        }
        let mut stack = vec![root];
        number[root] = Some(count);
        while let Some(n) = stack.pop() {
            for &b in &before[n] {
                if number[b].is_none() {
                    number[b] = Some(count);
                    stack.push(b);
                }
            }
        }
        count += 1;
    }
    // Components were found from the sources on: the first one gets the greatest number.
    number.into_iter().map(|n| count - 1 - n.unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_lead_down_or_stay() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 3), (4, 0)];
        let number = components(5, edges.into_iter());
        assert_eq!(number[1], number[2]);
        for (a, b) in edges {
            assert!(number[a] >= number[b], "{a} -> {b}: {number:?}");
        }
        assert!(number[4] > number[0] && number[0] > number[1] && number[2] > number[3]);
    }

    #[test]
    fn no_nodes() {
        assert!(components(0, std::iter::empty()).is_empty());
    }
}
