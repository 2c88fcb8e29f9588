//! Strongly connected components of a directed graph: Tarjan, *Depth-First Search and Linear Graph
//! Algorithms* (1972), with an explicit stack.
//!
//! `gander-certify` and `gander-oracle` do not use this module: they have their own algorithms, so
//! that a mistake here is found there.

/// By node: the number of its component; `None` for nodes that are not reachable from a root. Edges
/// between components lead to smaller numbers. `successor(n, k)` is the k-th successor of `n`,
/// counted from 0.
pub fn strongly_connected_components(
    nodes: usize,
    roots: impl IntoIterator<Item = usize>,
    successor: impl Fn(usize, usize) -> Option<usize>,
) -> Vec<Option<u32>> {
    const NEW: u32 = u32::MAX;
    let mut component: Vec<Option<u32>> = vec![None; nodes];
    let (mut index, mut low) = (vec![NEW; nodes], vec![NEW; nodes]);
    let (mut next, mut count) = (0, 0);
    // `open`: nodes whose component is not complete. `path`: nodes of the search path, each with
    // the number of its next successor.
    let (mut open, mut path): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    for root in roots {
        if index[root] == NEW {
            path.push((root, 0));
        }
        while let Some((n, at)) = path.last_mut() {
            let n = *n;
            if index[n] == NEW {
                (index[n], low[n]) = (next, next);
                next += 1;
                open.push(n);
            }
            if let Some(to) = successor(n, *at) {
                *at += 1;
                if index[to] == NEW {
                    path.push((to, 0));
                } else if component[to].is_none() {
                    low[n] = low[n].min(index[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(before, _)) = path.last() {
                low[before] = low[before].min(low[n]);
            }
            if low[n] == index[n] {
                while let Some(member) = open.pop() {
                    component[member] = Some(count);
                    if member == n {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    component
}

/// The nodes of each component, by its number.
pub fn members(component: &[Option<u32>]) -> Vec<Vec<usize>> {
    let count = component.iter().flatten().max().map_or(0, |&last| last as usize + 1);
    let mut members = vec![Vec::new(); count];
    for (n, c) in component.iter().enumerate() {
        if let Some(c) = c {
            members[*c as usize].push(n);
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(graph: &[Vec<usize>]) -> Vec<Option<u32>> {
        strongly_connected_components(graph.len(), 0..graph.len(), |n, k| graph[n].get(k).copied())
    }

    #[test]
    fn edges_lead_to_components_with_equal_or_smaller_numbers() {
        let graph = [vec![1], vec![2], vec![1, 3], vec![3], vec![0]];
        let component = of(&graph);
        assert_eq!(component[1], component[2]);
        assert!(
            component[4] > component[0]
                && component[0] > component[1]
                && component[2] > component[3]
        );
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn components_are_the_nodes_that_reach_each_other() {
        let graph = [vec![1], vec![2, 3], vec![0], vec![4], vec![3], vec![]];
        let mut found = members(&of(&graph));
        found.sort();
        assert_eq!(found, [vec![0, 1, 2], vec![3, 4], vec![5]]);
    }

    #[test]
    fn unreachable_nodes_have_no_component() {
        let graph = [vec![1], vec![], vec![0]];
        let component = strongly_connected_components(3, [0], |n, k| graph[n].get(k).copied());
        assert!(component[0].is_some() && component[1].is_some() && component[2].is_none());
    }

    #[test]
    fn a_long_path_needs_no_deep_stack() {
        let component = strongly_connected_components(1_000_000, [0], |n, k| {
            (k == 0 && n < 999_999).then_some(n + 1)
        });
        assert_eq!(component[0], Some(999_999));
    }
}
