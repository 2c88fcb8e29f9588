//! Polyhedra over ints: conjunctions of rows `sum of c * x + k >= 0`, and what is left of them when dimensions are projected away.
//!
//! Fourier and Motzkin: every row that bounds a dimension from below is paired with every one that bounds it from above. On
//! ints that is exact if one of the two coefficients is 1 (Pugh, *The Omega test*, 1991); else the outcome may be too large,
//! which is said. Rows are divided by the common divisor of their coefficients and rounded.
//!
//! Numbers of more than 63 bits end it: every function gives nothing then.

use super::simplex::{Point, Tableau};

/// More rows than this are not dealt with.
const MOST_ROWS: usize = 200;

/// Points of a polyhedron that are kept.
const MOST_POINTS: usize = 12;

/// `sum of coefficients[i] * x[i] + constant >= 0`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Row {
    pub coefficients: Vec<i64>,
    pub constant: i64,
}

impl Row {
    /// The row that is left when `x` is a sum over other dimensions: `next[i]` in place of dimension `i`.
    pub(super) fn substituted(&self, next: &[Row], dimensions: usize) -> Option<Row> {
        let mut sum = Row { coefficients: vec![0; dimensions], constant: self.constant };
        for (&c, value) in self.coefficients.iter().zip(next).filter(|(c, _)| **c != 0) {
            sum = sum.plus(1, value, c)?;
        }
        Some(sum)
    }

    /// `a * self + b * other`
    pub(super) fn plus(&self, a: i64, other: &Row, b: i64) -> Option<Row> {
        let entry = |x: i64, y: i64| i64::try_from(i128::from(x) * i128::from(a) + i128::from(y) * i128::from(b)).ok();
        let pairs = self.coefficients.iter().zip(&other.coefficients);
        let coefficients = pairs.map(|(&x, &y)| entry(x, y)).collect::<Option<_>>()?;
        Some(Row { coefficients, constant: entry(self.constant, other.constant)? })
    }

    /// What its negation says on ints.
    pub(super) fn negated(&self) -> Option<Row> {
        let coefficients = self.coefficients.iter().map(|c| c.checked_neg()).collect::<Option<_>>()?;
        Some(Row { coefficients, constant: self.constant.checked_neg()?.checked_sub(1)? })
    }

    /// The same on ints, as tight as can be.
    fn rounded(mut self) -> Row {
        let divisor = self.coefficients.iter().fold(0, |d, &c| common_divisor(d, c.unsigned_abs()));
        if let Ok(d) = i64::try_from(divisor)
            && d > 1
        {
            self.coefficients.iter_mut().for_each(|c| *c /= d);
            self.constant = self.constant.div_euclid(d);
        }
        self
    }

    fn is_constant(&self) -> bool {
        self.coefficients.iter().all(|&c| c == 0)
    }

    /// The value of the left side, `x` being ints.
    pub(super) fn at(&self, x: &[i64]) -> Option<i64> {
        let sum = self
            .coefficients
            .iter()
            .zip(x)
            .try_fold(0i128, |sum, (&c, &x)| sum.checked_add(i128::from(c).checked_mul(i128::from(x))?))?;
        i64::try_from(sum + i128::from(self.constant)).ok()
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A conjunction of rows that has solutions, as far as is known; no row follows from the others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Polyhedron {
    pub rows: Vec<Row>,
}

/// Rows in normal form, the tightest of each direction; none if they exclude each other as they stand.
fn normal(rows: impl IntoIterator<Item = Row>) -> Option<Vec<Row>> {
    let mut list: Vec<Row> = Vec::new();
    for row in rows {
        let row = row.rounded();
        if !row.is_constant() {
            list.push(row);
        } else if row.constant < 0 {
            return None;
        }
    }
    // The tightest comes first.
    list.sort_unstable();
    list.dedup_by(|b, a| a.coefficients == b.coefficients);
    Some(list)
}

/// What became of rows that were worked on.
#[derive(Debug)]
pub(super) enum Outcome<T> {
    Done(T),
    /// They have no solution.
    Empty,
    /// It is too much.
    GivenUp,
}

impl Polyhedron {
    /// The polyhedron of some rows.
    pub(super) fn of(rows: impl IntoIterator<Item = Row>) -> Outcome<Polyhedron> {
        let Some(rows) = normal(rows) else { return Outcome::Empty };
        if rows.len() > MOST_ROWS {
            return Outcome::GivenUp;
        }
        match without_idle(rows) {
            Some(Some(rows)) => Outcome::Done(Polyhedron { rows }),
            Some(None) => Outcome::Empty,
            None => Outcome::GivenUp,
        }
    }

    /// True if all of its points are points of the other one, for certain. Else a point, if it was looked for.
    pub(super) fn is_within(&self, tableau: &Tableau, points: &mut Vec<Point>, other: &Polyhedron) -> Option<bool> {
        let stays =
            |row: &&Row| !self.rows.iter().any(|r| r.coefficients == row.coefficients && r.constant <= row.constant);
        let left: Vec<Row> = other.rows.iter().filter(stays).map(Row::negated).collect::<Option<_>>()?;
        for negation in &left {
            for point in points.iter() {
                if point.meets(negation)? {
                    return Some(false);
                }
            }
        }
        for negation in &left {
            let mut both = tableau.clone();
            both.add(negation)?;
            if both.is_feasible()? {
                if points.len() < MOST_POINTS {
                    points.push(both.point()?);
                }
                return Some(false);
            }
        }
        Some(true)
    }

    /// The tableau of its rows.
    pub(super) fn tableau(&self, dimensions: usize) -> Option<Tableau> {
        let mut tableau = Tableau::new(dimensions);
        for row in &self.rows {
            tableau.add(row)?;
        }
        tableau.is_feasible()?.then_some(tableau)
    }
}

/// The rows that do not follow from the others; none if they have no solution.
fn without_idle(rows: Vec<Row>) -> Option<Option<Vec<Row>>> {
    let mut tableau = Tableau::new(rows.first().map_or(0, |r| r.coefficients.len()));
    for row in &rows {
        tableau.add(row)?;
    }
    if !tableau.is_feasible()? {
        return Some(None);
    }
    for (i, row) in rows.iter().enumerate() {
        let mut other = tableau.clone();
        other.lift(i);
        other.add(&row.negated()?)?;
        if !other.is_feasible()? {
            tableau.lift(i);
        }
    }
    Some(Some(rows.into_iter().enumerate().filter(|(i, _)| !tableau.is_lifted(*i)).map(|(_, r)| r).collect()))
}

/// Rows without some dimensions.
#[derive(Debug)]
pub(super) struct Projected {
    pub rows: Vec<Row>,
    /// On ints nothing was added.
    pub exact: bool,
    /// For each dimension that went, the rows before it did.
    pub stages: Vec<(usize, Vec<Row>)>,
}

/// Rows without the dimensions `away`. Those that stay keep their places.
pub(super) fn project(rows: Vec<Row>, away: &[usize]) -> Outcome<Projected> {
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
        let (with, mut next): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|r| r.coefficients[d] != 0);
        let (low, high): (Vec<Row>, Vec<Row>) = with.into_iter().partition(|r| r.coefficients[d] > 0);
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
        if next.len() > MOST_ROWS * 4 {
            return Outcome::GivenUp;
        }
        rows = match normal(next) {
            Some(rows) => rows,
            None => return Outcome::Empty,
        };
        if rows.len() > MOST_ROWS {
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
pub(super) enum Pick {
    Least,
    Greatest,
}

/// Ints that satisfy rows, chosen dimension by dimension; none if that leads nowhere.
pub(super) fn point(rows: Vec<Row>, dimensions: usize, pick: Pick) -> Option<Vec<i64>> {
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
                let least = rest.checked_neg()?.div_euclid(c) + i64::from(rest.checked_neg()?.rem_euclid(c) != 0);
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
    fn rows_that_follow_go() {
        let rows = [row(&[1, 0], 0), row(&[0, 1], 0), row(&[1, 1], 0), row(&[2, 0], 1)];
        let p = done(Polyhedron::of(rows));
        assert_eq!(p.rows, [row(&[0, 1], 0), row(&[1, 0], 0)]);
        assert!(matches!(Polyhedron::of([row(&[1, 1], -3), row(&[-1, 0], 1), row(&[0, -1], 1)]), Outcome::Empty));
    }

    #[test]
    fn inclusion_is_decided() {
        let square = done(Polyhedron::of([row(&[1, 0], 0), row(&[0, 1], 0), row(&[-1, 0], 4), row(&[0, -1], 4)]));
        let triangle = done(Polyhedron::of([row(&[1, 0], 0), row(&[0, 1], 0), row(&[-1, -1], 4)]));
        let wide = done(Polyhedron::of([row(&[-1, -1], 8)]));
        let within = |a: &Polyhedron, b: &Polyhedron| a.is_within(&a.tableau(2).unwrap(), &mut Vec::new(), b).unwrap();
        assert!(within(&triangle, &square) && !within(&square, &triangle));
        assert!(within(&square, &wide) && !within(&wide, &square));
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
        let rows = vec![row(&[1, 1, -1], -3), row(&[-1, 0, 0], 5), row(&[0, -1, 0], 4), row(&[0, 0, 1], -2)];
        for pick in [Pick::Least, Pick::Greatest] {
            let x = point(rows.clone(), 3, pick).unwrap();
            assert!(rows.iter().all(|r| r.at(&x).unwrap() >= 0), "{x:?}");
        }
        assert_eq!(point(vec![row(&[1], -3), row(&[-1], 2)], 1, Pick::Least), None);
    }
}
