//! Gaussian elimination over exact rationals: linear equalities that points satisfy.
//!
//! Points are rows `(x1, ..., xn, 1)`; the vectors `c` with `c * row = 0` for every row are the
//! equalities `c1 x1 + ... + cn xn + c0 = 0` that hold in all of them (Karr 1976 computes them
//! for a program without points).

use gander_term::{IBig, RBig};

use crate::arith::number::{gcd, lcm};

/// A matrix in reduced row echelon form.
#[derive(Debug, Default)]
pub(crate) struct Echelon {
    width: usize,
    /// Rows with the position of their first non-zero, which is 1; in the order of these positions.
    rows: Vec<(usize, Vec<RBig>)>,
}

impl Echelon {
    pub(crate) fn new(width: usize) -> Echelon {
        Echelon { width, rows: Vec::new() }
    }

    /// Adds a row; true if it is independent of those before.
    pub(crate) fn add(&mut self, mut row: Vec<RBig>) -> bool {
        for (pivot, known) in &self.rows {
            if row[*pivot] != RBig::ZERO {
                let factor = row[*pivot].clone();
                subtract(&mut row, &factor, known);
            }
        }
        let Some(pivot) = row.iter().position(|v| *v != RBig::ZERO) else { return false };
        let lead = row[pivot].clone();
        row.iter_mut().for_each(|v| *v = &*v / &lead);
        for (_, known) in &mut self.rows {
            if known[pivot] != RBig::ZERO {
                let factor = known[pivot].clone();
                subtract(known, &factor, &row);
            }
        }
        let at = self.rows.partition_point(|(p, _)| *p < pivot);
        self.rows.insert(at, (pivot, row));
        true
    }

    /// True if no equality is left.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() == self.width
    }

    /// A basis of the vectors that are orthogonal to every row, with whole numbers without a common
    /// factor.
    pub(crate) fn orthogonal(&self) -> Vec<Vec<IBig>> {
        let is_pivot = |column: usize| self.rows.iter().any(|(p, _)| *p == column);
        let mut basis = Vec::new();
        for free in (0..self.width).filter(|&c| !is_pivot(c)) {
            let mut vector = vec![RBig::ZERO; self.width];
            vector[free] = RBig::ONE;
            for (pivot, row) in &self.rows {
                vector[*pivot] = -row[free].clone();
            }
            basis.push(whole(&vector));
        }
        basis
    }
}

fn subtract(from: &mut [RBig], factor: &RBig, row: &[RBig]) {
    for (v, r) in from.iter_mut().zip(row) {
        if *r != RBig::ZERO {
            *v = &*v - factor * r;
        }
    }
}

/// A multiple of a vector that has whole numbers without a common factor.
fn whole(vector: &[RBig]) -> Vec<IBig> {
    let mut multiple = IBig::ONE;
    for v in vector {
        multiple = lcm(&multiple, &IBig::from(v.denominator().clone()));
    }
    let numbers: Vec<IBig> = vector
        .iter()
        .map(|v| v.numerator() * (&multiple / IBig::from(v.denominator().clone())))
        .collect();
    let common = numbers.iter().fold(IBig::ZERO, |acc, n| gcd(&acc, n));
    if common == IBig::ZERO { numbers } else { numbers.into_iter().map(|n| n / &common).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[i32]) -> Vec<RBig> {
        values.iter().map(|&v| RBig::from(v)).collect()
    }

    #[test]
    fn finds_the_equalities_of_some_points() {
        // 2x - y = 0 and x + z = 7.
        let mut echelon = Echelon::new(4);
        for x in 0..5 {
            echelon.add(row(&[x, 2 * x, 7 - x, 1]));
        }
        assert!(!echelon.is_full());
        let found = echelon.orthogonal();
        assert_eq!(found.len(), 2);
        for x in 10..12 {
            for equality in &found {
                let point = [x, 2 * x, 7 - x, 1].map(IBig::from);
                let sum = equality.iter().zip(&point).fold(IBig::ZERO, |acc, (c, v)| acc + c * v);
                assert_eq!(sum, IBig::ZERO, "{equality:?}");
                assert_eq!(equality.iter().fold(IBig::ZERO, |acc, n| gcd(&acc, n)), IBig::ONE);
            }
        }
    }

    #[test]
    fn rationals_become_whole() {
        // 3x = 2y.
        let mut echelon = Echelon::new(3);
        assert!(echelon.add(row(&[2, 3, 1])));
        assert!(echelon.add(row(&[4, 6, 1])));
        assert!(!echelon.add(row(&[6, 9, 1])));
        let found = echelon.orthogonal();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].iter().map(|n| n.to_string()).collect::<Vec<_>>(), ["-3", "2", "0"]);
    }

    #[test]
    fn points_in_general_position_have_no_common_equation() {
        let mut echelon = Echelon::new(3);
        for point in [[0, 0, 1], [1, 0, 1], [0, 1, 1]] {
            echelon.add(row(&point));
        }
        assert!(echelon.is_full());
        assert!(echelon.orthogonal().is_empty());
    }
}
