//! Projection by Fourier and Motzkin: every row that bounds a dimension from below is paired with
//! every row that bounds it from above. On ints that is exact if one of the two coefficients is 1
//! (Pugh, *The Omega test*, 1991); otherwise the result may be too large, and says so.

use super::{Outcome, Row, normal};
use crate::arith::limits::LIMITS;

/// Rows without some dimensions.
#[derive(Debug)]
pub(crate) struct Projected {
    pub rows: Vec<Row>,
    /// On ints nothing was added.
    pub exact: bool,
    /// For each dimension that went, the rows before it did.
    pub stages: Vec<(usize, Vec<Row>)>,
}

/// Rows without the dimensions `away`. Those that stay keep their places.
pub(crate) fn project(rows: Vec<Row>, away: &[usize]) -> Outcome<Projected> {
    let Some(mut rows) = normal(rows) else { return Outcome::Empty };
    let (mut exact, mut stages, mut left) = (true, Vec::new(), away.to_vec());
    while !left.is_empty() {
        // The one with the fewest pairs first.
        let pairs = |d: usize| {
            let (low, high) = (count(&rows, |c| c > 0, d), count(&rows, |c| c < 0, d));
            (low * high) as i64 - (low + high) as i64
        };
        let Some(at) = (0..left.len()).min_by_key(|&i| pairs(left[i])) else { break };
        let d = left.swap_remove(at);
        stages.push((d, rows.clone()));
        let (with, mut next): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|r| r.coefficients[d] != 0);
        let (low, high): (Vec<Row>, Vec<Row>) =
            with.into_iter().partition(|r| r.coefficients[d] > 0);
        for l in &low {
            for h in &high {
                let (a, b) = (l.coefficients[d], h.coefficients[d]);
                exact &= a == 1 || b == -1;
                match b.checked_neg().and_then(|b| l.plus(b, h, a)) {
                    Some(row) => next.push(row),
                    None => return Outcome::GivenUp,
                }
            }
        }
        if next.len() > LIMITS.polyhedron_rows * 4 {
            return Outcome::GivenUp;
        }
        rows = match normal(next) {
            Some(rows) => rows,
            None => return Outcome::Empty,
        };
        if rows.len() > LIMITS.polyhedron_rows {
            return Outcome::GivenUp;
        }
    }
    Outcome::Done(Projected { rows, exact, stages })
}

fn count(rows: &[Row], which: impl Fn(i64) -> bool, d: usize) -> usize {
    rows.iter().filter(|r| which(r.coefficients[d])).count()
}

/// Which value of a range is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pick {
    Least,
    Greatest,
}

/// Ints that satisfy rows, chosen dimension by dimension; none if that leads nowhere.
pub(crate) fn point(rows: Vec<Row>, dimensions: usize, pick: Pick) -> Option<Vec<i64>> {
    let away: Vec<usize> = (0..dimensions).collect();
    let Outcome::Done(projected) = project(rows, &away) else { return None };
    let mut x = vec![0i64; dimensions];
    // Dimensions that went later do not mention those that went before.
    for (d, rows) in projected.stages.iter().rev() {
        let (mut low, mut high): (Option<i64>, Option<i64>) = (None, None);
        x[*d] = 0;
        for row in rows.iter().filter(|r| r.coefficients[*d] != 0) {
            let (c, rest) = (row.coefficients[*d], row.at(&x)?);
            if c > 0 {
                // c * x >= -rest
                let least = rest.checked_neg()?.div_euclid(c)
                    + i64::from(rest.checked_neg()?.rem_euclid(c) != 0);
                low = Some(low.map_or(least, |l| l.max(least)));
            } else {
                let most = rest.div_euclid(c.checked_neg()?);
                high = Some(high.map_or(most, |h| h.min(most)));
            }
        }
        x[*d] = match (low, high, pick) {
            (Some(l), Some(h), _) if l > h => return None,
            (Some(l), Some(_), Pick::Least) | (Some(l), None, _) => l,
            (Some(_), Some(h), Pick::Greatest) | (None, Some(h), _) => h,
            (None, None, _) => 0,
        };
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(coefficients: &[i64], constant: i64) -> Row {
        Row { coefficients: coefficients.to_vec(), constant }
    }

    fn done<T>(outcome: Outcome<T>) -> T {
        match outcome {
            Outcome::Done(t) => t,
            Outcome::Empty => panic!("empty"),
            Outcome::GivenUp => panic!("given up"),
        }
    }

    #[test]
    fn projection_is_exact_with_units_only() {
        // y = x - a, 0 <= a <= 3, y >= 2: x is at least 2, and no more is known.
        let rows = vec![row(&[1, -1], -2), row(&[0, 1], 0), row(&[0, -1], 3)];
        let p = done(project(rows, &[1]));
        assert!(p.exact);
        assert_eq!(p.rows, [row(&[1, 0], -2)]);
        // 2a <= x <= 3a
        let p = done(project(vec![row(&[1, -2], 0), row(&[-1, 3], 0)], &[1]));
        assert!(!p.exact);
    }

    #[test]
    fn points_satisfy_the_rows() {
        let rows = vec![
            row(&[1, 1, -1], -3),
            row(&[-1, 0, 0], 5),
            row(&[0, -1, 0], 4),
            row(&[0, 0, 1], -2),
        ];
        for pick in [Pick::Least, Pick::Greatest] {
            let x = point(rows.clone(), 3, pick).unwrap();
            assert!(rows.iter().all(|r| r.at(&x).unwrap() >= 0), "{x:?}");
        }
        assert_eq!(point(vec![row(&[1], -3), row(&[-1], 2)], 1, Pick::Least), None);
    }
}
