//! Octagons: bounds of `x`, `-x`, `x + y`, `x - y` and `-x - y`.
//!
//! After Miné, *The octagon abstract domain* (2006). Each variable `x_k` stands as `V_2k = x_k` and
//! `V_2k+1 = -x_k`; the entry `(i, j)` bounds `V_j - V_i`. So a bound of `x_k` alone is half of the
//! entry `(2k + 1, 2k)`. An octagon here is grown by states and widened to thresholds; it is not
//! kept closed, as closing between widenings can keep them from ending.

use gander_term::RBig;

use crate::arith::limits::LIMITS;

/// See the module's documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Octagon {
    variables: usize,
    /// By row and column; none: not bounded.
    entries: Vec<Option<RBig>>,
    raises: Vec<u8>,
}

/// `sign * x_first + sign * x_second <= bound`, or without the second.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bound {
    pub first: (usize, bool),
    pub second: Option<(usize, bool)>,
    pub bound: RBig,
}

impl Octagon {
    /// The least octagon around a point.
    pub(crate) fn point(values: &[RBig]) -> Octagon {
        let size = 2 * values.len();
        let mut octagon = Octagon {
            variables: values.len(),
            entries: vec![None; size * size],
            raises: vec![0; size * size],
        };
        for i in 0..size {
            for j in 0..size {
                octagon.entries[i * size + j] = Some(&signed(values, j) - &signed(values, i));
            }
        }
        octagon
    }

    fn size(&self) -> usize {
        2 * self.variables
    }

    /// Grows to include a point, exactly.
    pub(crate) fn include(&mut self, values: &[RBig]) {
        self.raise(values, |_, seen| Some(seen));
    }

    /// Grows to include a point; a bound that was raised often goes to the next threshold, and
    /// beyond the last it is given up. Thresholds are bounds of single variables and of sums alike,
    /// in order.
    pub(crate) fn widen(&mut self, values: &[RBig], thresholds: &[RBig]) {
        let size = self.size();
        let raises = std::mem::take(&mut self.raises);
        let mut raised = raises.clone();
        self.raise(values, |at, seen| {
            raised[at] = raised[at].saturating_add(1);
            if raises[at] < LIMITS.octagon_exact_raises {
                return Some(seen);
            }
            // A bound of one variable is doubled in its entry.
            let unary = at / size == (at % size) ^ 1;
            let factor = RBig::from(if unary { 2 } else { 1 });
            thresholds.iter().map(|t| t * &factor).find(|t| *t >= seen)
        });
        self.raises = raised;
    }

    fn raise(&mut self, values: &[RBig], mut to: impl FnMut(usize, RBig) -> Option<RBig>) {
        let size = self.size();
        for i in 0..size {
            for j in (0..size).filter(|&j| j != i) {
                let at = i * size + j;
                let seen = &signed(values, j) - &signed(values, i);
                if self.entries[at].as_ref().is_some_and(|bound| *bound < seen) {
                    self.entries[at] = to(at, seen);
                }
            }
        }
    }

    /// The tightest octagon with the same points (over the rationals): strong closure.
    #[must_use]
    pub(crate) fn closed(&self) -> Octagon {
        let (mut closed, size) = (self.clone(), self.size());
        let half = RBig::from(2);
        for k in 0..size {
            for i in 0..size {
                for j in 0..size {
                    closed.lower(i, j, sum(closed.entry(i, k), closed.entry(k, j)));
                }
            }
        }
        for i in 0..size {
            for j in 0..size {
                let unary = sum(closed.entry(i, i ^ 1), closed.entry(j ^ 1, j));
                closed.lower(i, j, unary.map(|u| u / &half));
            }
        }
        closed
    }

    fn entry(&self, i: usize, j: usize) -> Option<&RBig> {
        self.entries[i * self.size() + j].as_ref()
    }

    fn lower(&mut self, i: usize, j: usize, bound: Option<RBig>) {
        let size = self.size();
        let entry = &mut self.entries[i * size + j];
        if let Some(bound) = bound
            && entry.as_ref().is_none_or(|old| bound < *old)
        {
            *entry = Some(bound);
        }
    }

    /// The bounds, each once.
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        let half = RBig::from(2);
        let mut bounds = Vec::new();
        for i in 0..self.size() {
            for j in 0..self.size() {
                let Some(bound) = self.entry(i, j) else { continue };
                let (minus, plus) = ((i / 2, i % 2 == 1), (j / 2, j % 2 == 0));
                if i == j ^ 1 {
                    bounds.push(Bound { first: plus, second: None, bound: bound / &half });
                } else if i / 2 < j / 2 {
                    // `V_j - V_i` is `V_(i^1) - V_(j^1)`: the other half says the same.
                    bounds.push(Bound { first: minus, second: Some(plus), bound: bound.clone() });
                }
            }
        }
        bounds
    }
}

/// `V_i`
fn signed(values: &[RBig], i: usize) -> RBig {
    if i.is_multiple_of(2) { values[i / 2].clone() } else { -values[i / 2].clone() }
}

fn sum(a: Option<&RBig>, b: Option<&RBig>) -> Option<RBig> {
    Some(a? + b?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(values: &[i32]) -> Vec<RBig> {
        values.iter().map(|&v| RBig::from(v)).collect()
    }

    fn show(octagon: &Octagon) -> Vec<String> {
        let sign = |(v, plus): (usize, bool)| {
            format!("{}{}", if plus { "+" } else { "-" }, ["x", "y", "z"][v])
        };
        let text = |b: &Bound| {
            format!("{}{} <= {}", sign(b.first), b.second.map(sign).unwrap_or_default(), b.bound)
        };
        octagon.bounds().iter().map(text).collect()
    }

    fn holds(octagon: &Octagon, values: &[RBig]) -> bool {
        let term =
            |(v, plus): (usize, bool)| if plus { values[v].clone() } else { -values[v].clone() };
        octagon.bounds().iter().all(|b| {
            let second = b.second.map(term).unwrap_or(RBig::ZERO);
            term(b.first) + second <= b.bound
        })
    }

    #[test]
    fn the_hull_of_two_points_has_tight_bounds() {
        let mut octagon = Octagon::point(&point(&[0, 0]));
        octagon.include(&point(&[2, 1]));
        let shown = show(&octagon);
        for expected in
            ["+x <= 2", "-x <= 0", "+y <= 1", "-x+y <= 0", "+x-y <= 1", "+x+y <= 3", "-x-y <= 0"]
        {
            assert!(shown.contains(&expected.to_string()), "{expected} is not in {shown:?}");
        }
        assert!(holds(&octagon, &point(&[1, 1])) && !holds(&octagon, &point(&[0, 1])));
    }

    #[test]
    fn widening_ends_and_thresholds_are_tried() {
        let mut octagon = Octagon::point(&point(&[0]));
        let thresholds = point(&[0, 10, 20]);
        let mut tops = Vec::new();
        for x in 1..40 {
            if !holds(&octagon, &point(&[x])) {
                octagon.widen(&point(&[x]), &thresholds);
                tops.push(show(&octagon).into_iter().find(|b| b.starts_with("+x <=")));
            }
        }
        let tops: Vec<String> = tops.into_iter().map(|t| t.unwrap_or("none".into())).collect();
        assert_eq!(tops, ["+x <= 1", "+x <= 2", "+x <= 10", "+x <= 20", "none"]);
    }

    #[test]
    fn closure_finds_what_follows_and_keeps_every_point() {
        // x <= y, y <= 3, nothing about x alone.
        let mut octagon = Octagon::point(&point(&[0, 0]));
        for x in -3..=3 {
            for y in x..=3 {
                octagon.include(&point(&[x, y]));
            }
        }
        let size = octagon.size();
        // Forget the upper bound of x: entry (1, 0).
        octagon.entries[size] = None;
        assert!(!show(&octagon).contains(&"+x <= 3".to_string()));
        let closed = octagon.closed();
        assert!(show(&closed).contains(&"+x <= 3".to_string()), "{:?}", show(&closed));
        for x in -5..=5 {
            for y in -5..=5 {
                let p = point(&[x, y]);
                assert_eq!(holds(&octagon, &p), holds(&closed, &p), "({x}, {y})");
            }
        }
    }

    #[test]
    fn strong_closure_joins_single_bounds() {
        // x <= 1 and y <= 2 give x + y <= 3.
        let mut octagon = Octagon::point(&point(&[1, 2]));
        octagon.include(&point(&[0, 0]));
        octagon.include(&point(&[1, 0]));
        octagon.include(&point(&[0, 2]));
        let at = 2; // Row 0 + ..: `-V_0 + V_2` is y - x; `V_2 - V_1` is x + y.
        let size = octagon.size();
        octagon.entries[size + at] = None;
        octagon.entries[3 * size] = None;
        assert!(!show(&octagon).contains(&"+x+y <= 3".to_string()));
        assert!(show(&octagon.closed()).contains(&"+x+y <= 3".to_string()));
    }
}
