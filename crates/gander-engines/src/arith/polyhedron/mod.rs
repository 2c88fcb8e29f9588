//! Polyhedra over ints: conjunctions of rows `sum of c * x + k >= 0`.
//!
//! Rows are divided by the common divisor of their coefficients and rounded; those that follow from
//! the others are dropped (`simplex.rs`). `projection.rs` removes dimensions.
//!
//! Coefficients are 64-bit numbers, as these operations are repeated often. Where a number does not
//! fit, functions return `None` or [`Outcome::GivenUp`].

mod projection;
mod simplex;

use crate::arith::limits::LIMITS;

pub(crate) use projection::{Pick, point, project};
pub(crate) use simplex::{Point, Tableau};

/// `sum of coefficients[i] * x[i] + constant >= 0`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Row {
    pub coefficients: Vec<i64>,
    pub constant: i64,
}

impl Row {
    /// The row that is left when `x` is a sum over other dimensions: `next[i]` in place of
    /// dimension `i`.
    pub(crate) fn substituted(&self, next: &[Row], dimensions: usize) -> Option<Row> {
        let mut sum = Row { coefficients: vec![0; dimensions], constant: self.constant };
        for (&c, value) in self.coefficients.iter().zip(next).filter(|(c, _)| **c != 0) {
            sum = sum.plus(1, value, c)?;
        }
        Some(sum)
    }

    /// `a * self + b * other`
    pub(crate) fn plus(&self, a: i64, other: &Row, b: i64) -> Option<Row> {
        let entry = |x: i64, y: i64| {
            i64::try_from(i128::from(x) * i128::from(a) + i128::from(y) * i128::from(b)).ok()
        };
        let pairs = self.coefficients.iter().zip(&other.coefficients);
        let coefficients = pairs.map(|(&x, &y)| entry(x, y)).collect::<Option<_>>()?;
        Some(Row { coefficients, constant: entry(self.constant, other.constant)? })
    }

    /// What its negation says on ints.
    pub(crate) fn negated(&self) -> Option<Row> {
        let coefficients =
            self.coefficients.iter().map(|c| c.checked_neg()).collect::<Option<_>>()?;
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
    pub(crate) fn at(&self, x: &[i64]) -> Option<i64> {
        let sum = self.coefficients.iter().zip(x).try_fold(0i128, |sum, (&c, &x)| {
            sum.checked_add(i128::from(c).checked_mul(i128::from(x))?)
        })?;
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
pub(crate) struct Polyhedron {
    pub rows: Vec<Row>,
}

/// Rows in normal form, the tightest of each direction; none if they exclude each other as they
/// stand.
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
pub(crate) enum Outcome<T> {
    Done(T),
    /// They have no solution.
    Empty,
    /// It is too much.
    GivenUp,
}

impl Polyhedron {
    /// The polyhedron of some rows.
    pub(crate) fn of(rows: impl IntoIterator<Item = Row>) -> Outcome<Polyhedron> {
        let Some(rows) = normal(rows) else { return Outcome::Empty };
        if rows.len() > LIMITS.polyhedron_rows {
            return Outcome::GivenUp;
        }
        match without_idle(rows) {
            Some(Some(rows)) => Outcome::Done(Polyhedron { rows }),
            Some(None) => Outcome::Empty,
            None => Outcome::GivenUp,
        }
    }

    /// True if all of its points are points of the other one, for certain. Else a point, if it was
    /// looked for.
    pub(crate) fn is_within(
        &self,
        tableau: &Tableau,
        points: &mut Vec<Point>,
        other: &Polyhedron,
    ) -> Option<bool> {
        let stays = |row: &&Row| {
            !self
                .rows
                .iter()
                .any(|r| r.coefficients == row.coefficients && r.constant <= row.constant)
        };
        let left: Vec<Row> =
            other.rows.iter().filter(stays).map(Row::negated).collect::<Option<_>>()?;
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
                if points.len() < LIMITS.polyhedron_points {
                    points.push(both.point()?);
                }
                return Some(false);
            }
        }
        Some(true)
    }

    /// The tableau of its rows.
    pub(crate) fn tableau(&self, dimensions: usize) -> Option<Tableau> {
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
    Some(Some(
        rows.into_iter()
            .enumerate()
            .filter(|(i, _)| !tableau.is_lifted(*i))
            .map(|(_, r)| r)
            .collect(),
    ))
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
    fn implied_rows_are_removed() {
        let rows = [row(&[1, 0], 0), row(&[0, 1], 0), row(&[1, 1], 0), row(&[2, 0], 1)];
        let p = done(Polyhedron::of(rows));
        assert_eq!(p.rows, [row(&[0, 1], 0), row(&[1, 0], 0)]);
        assert!(matches!(
            Polyhedron::of([row(&[1, 1], -3), row(&[-1, 0], 1), row(&[0, -1], 1)]),
            Outcome::Empty
        ));
    }

    #[test]
    fn inclusion_is_decided() {
        let square = done(Polyhedron::of([
            row(&[1, 0], 0),
            row(&[0, 1], 0),
            row(&[-1, 0], 4),
            row(&[0, -1], 4),
        ]));
        let triangle = done(Polyhedron::of([row(&[1, 0], 0), row(&[0, 1], 0), row(&[-1, -1], 4)]));
        let wide = done(Polyhedron::of([row(&[-1, -1], 8)]));
        let within = |a: &Polyhedron, b: &Polyhedron| {
            a.is_within(&a.tableau(2).unwrap(), &mut Vec::new(), b).unwrap()
        };
        assert!(within(&triangle, &square) && !within(&square, &triangle));
        assert!(within(&square, &wide) && !within(&wide, &square));
    }
}
