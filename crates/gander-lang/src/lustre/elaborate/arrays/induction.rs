//! Well-foundedness of definitions `A[i] = e` in which elements depend on elements of the same
//! arrays.
//!
//! In `A[i] = if i = 0 then 0 else A[i - 1]` the array depends on itself at the same instant, but
//! each element depends only on earlier elements. As in Kind 2, a set of mutually dependent
//! definitions is accepted if every dependency cycle leads from an element to an element of the
//! same array with a smaller index. Reads outside the array's bounds do not count as reads of
//! elements, so no chain of dependencies is infinite.
//!
//! Several indices are compared lexicographically: the definitions are accepted if every cycle
//! decreases the first index; or if no read increases it, and the reads that keep it are accepted
//! by the remaining indices.

use gander_system::{members, strongly_connected_components};
use gander_term::{Op, TermId, Value};

use crate::lustre::elaborate::arrays::open_arrays::Binder;
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::StreamId;

/// The largest known difference between indices; a larger one counts as unknown.
const MAX_OFFSET: i64 = 1_000_000_000;

/// The work (arrays times reads) spent on one set of definitions; larger sets are refused.
const MAX_WORK: usize = 10_000_000;

/// A read of an element of one array in the definition of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lustre::elaborate) struct Reading {
    pub(in crate::lustre::elaborate) from: usize,
    pub(in crate::lustre::elaborate) to: usize,
    /// By index: the index that is read minus the index that is defined. `None` if a difference is
    /// unknown, or the whole array is read.
    pub(in crate::lustre::elaborate) offsets: Option<Vec<i64>>,
}

impl Model<'_> {
    /// The stream and index differences if a term is an element of an array stream at known
    /// distances from the indices `over`.
    pub(in crate::lustre::elaborate) fn element_read(
        &self,
        term: TermId,
        over: &[Binder],
        stream_of: impl Fn(TermId) -> Option<StreamId>,
    ) -> Option<(StreamId, Vec<i64>)> {
        let pool = &self.builder.pool;
        let mut indices = Vec::new();
        let mut base = term;
        while pool.op(base) == Op::Select && indices.len() < over.len() {
            indices.push(pool.args(base)[1]);
            base = pool.args(base)[0];
        }
        indices.reverse();
        if indices.len() != over.len() || over.is_empty() {
            return None;
        }
        let stream = stream_of(base)?;
        if self.defined_over(stream).len() != over.len() {
            return None;
        }
        let offsets: Option<Vec<i64>> =
            indices.iter().zip(over).map(|(&i, b)| self.distance(i, b.term)).collect();
        Some((stream, offsets?))
    }

    /// The constant that `term` adds to `index`.
    fn distance(&self, term: TermId, index: TermId) -> Option<i64> {
        let pool = &self.builder.pool;
        let number = |t: TermId| match pool.as_constant(t) {
            Some(Value::Int(i)) => i64::try_from(&i).ok().filter(|i| i.abs() <= MAX_OFFSET),
            _ => None,
        };
        match (pool.op(term), pool.args(term)) {
            _ if term == index => Some(0),
            (Op::Add, &[a, b]) if a == index => number(b),
            (Op::Add, &[a, b]) if b == index => number(a),
            (Op::Sub, &[a, b]) if a == index => number(b).map(|n| -n),
            _ => None,
        }
    }
}

/// True if a set of mutually dependent definitions is well-founded.
pub(in crate::lustre::elaborate) fn is_well_founded(readings: &[&Reading]) -> bool {
    let mut edges: Vec<(usize, usize, &[i64])> = Vec::new();
    for reading in readings {
        match &reading.offsets {
            Some(offsets) => edges.push((reading.from, reading.to, offsets)),
            None => return false,
        }
    }
    let dimensions = edges.iter().map(|(_, _, o)| o.len()).max().unwrap_or(0);
    if edges.iter().any(|(_, _, o)| o.len() != dimensions) {
        return false;
    }
    for d in 0..dimensions {
        if decreases_on_every_cycle(&edges, d) {
            return true;
        }
        if edges.iter().any(|(_, _, o)| o[d] > 0) {
            return false;
        }
        edges.retain(|(_, _, o)| o[d] == 0);
        if edges.is_empty() {
            return true;
        }
    }
    false
}

/// True if the sum of the offsets in `dimension` is negative on every cycle. Searches for a cycle
/// of positive length as Bellman and Ford do; scaling makes a cycle with sum zero positive.
fn decreases_on_every_cycle(edges: &[(usize, usize, &[i64])], dimension: usize) -> bool {
    let mut streams: Vec<usize> = edges.iter().flat_map(|e| [e.0, e.1]).collect();
    streams.sort_unstable();
    streams.dedup();
    let count = streams.len();
    if count.saturating_mul(edges.len()) > MAX_WORK {
        return false;
    }
    let position = |s: usize| streams.binary_search(&s).unwrap_or(0);
    let mut longest = vec![0i128; count];
    for _ in 0..=count {
        let mut changed = false;
        for &(from, to, offsets) in edges {
            let (from, to) = (position(from), position(to));
            let length = longest[from] + i128::from(offsets[dimension]) * (count as i128 + 1) + 1;
            if length > longest[to] {
                longest[to] = length;
                changed = true;
            }
        }
        if !changed {
            return true;
        }
    }
    false
}

/// The strongly connected components of a graph; the successors of `s` are `next[s]`.
pub(in crate::lustre::elaborate) fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    members(&strongly_connected_components(next.len(), 0..next.len(), |s, k| {
        next[s].get(k).copied()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(from: usize, to: usize, offsets: &[i64]) -> Reading {
        Reading { from, to, offsets: Some(offsets.to_vec()) }
    }

    fn accepts(readings: &[Reading]) -> bool {
        is_well_founded(&readings.iter().collect::<Vec<_>>())
    }

    #[test]
    fn an_element_may_depend_on_those_before_it() {
        assert!(accepts(&[reading(0, 0, &[-1])]));
        assert!(accepts(&[reading(0, 0, &[-1]), reading(0, 0, &[-3])]));
        assert!(!accepts(&[reading(0, 0, &[0])]));
        assert!(!accepts(&[reading(0, 0, &[1])]));
        assert!(!accepts(&[reading(0, 0, &[-1]), reading(0, 0, &[0])]));
        assert!(!accepts(&[reading(0, 0, &[-1]), Reading { from: 0, to: 0, offsets: None }]));
    }

    #[test]
    fn every_cycle_as_a_whole_must_decrease() {
        // The examples of Kind 2's manual.
        let refused = [reading(0, 1, &[1]), reading(1, 2, &[-1]), reading(2, 0, &[0])];
        assert!(!accepts(&refused));
        let accepted =
            [reading(0, 1, &[1]), reading(1, 2, &[-1]), reading(2, 0, &[-1]), reading(2, 1, &[0])];
        assert!(accepts(&accepted));
    }

    #[test]
    fn several_indices_are_compared_lexicographically() {
        assert!(accepts(&[reading(0, 0, &[-1, 5]), reading(0, 0, &[0, -1])]));
        assert!(!accepts(&[reading(0, 0, &[1, -1])]));
        assert!(!accepts(&[reading(0, 0, &[0, -1]), reading(0, 0, &[0, 1])]));
        assert!(!accepts(&[reading(0, 0, &[0, 0])]));
    }

    #[test]
    fn members_of_a_component_reach_each_other() {
        let mut found = components(&[vec![1], vec![2, 3], vec![0], vec![4], vec![3], vec![]]);
        for c in &mut found {
            c.sort_unstable();
        }
        found.sort();
        assert_eq!(found, [vec![0, 1, 2], vec![3, 4], vec![5]]);
    }
}
