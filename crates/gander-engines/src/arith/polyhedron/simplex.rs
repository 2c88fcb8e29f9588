//! Whether rows have a rational solution: the simplex algorithm of Dutertre and de Moura (CAV 2006)
//! for rows with lower bounds only, on ints with a common denominator (Bareiss 1968), so that
//! nothing is rounded and no fraction reduced.
//!
//! Nothing is given where a number has more than 63 bits.

use super::Row;

/// Columns are the dimensions, then one for each row; a basic column is a combination of the
/// others.
#[derive(Clone, Debug)]
pub(crate) struct Tableau {
    dimensions: usize,
    /// The bound from below of each row's column; none if it was lifted.
    bounds: Vec<Option<i64>>,
    /// The columns that are not basic, as many as dimensions.
    free: Vec<usize>,
    /// Their values.
    values: Vec<i64>,
    /// Basic columns.
    basic: Vec<usize>,
    /// Line by line, for each basic column the factors of the free ones, times the denominator.
    factors: Vec<i64>,
    denominator: i64,
}

/// A point with a common denominator.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    numerators: Vec<i64>,
    denominator: i64,
}

impl Point {
    /// True if it satisfies a row.
    pub(crate) fn meets(&self, row: &Row) -> Option<bool> {
        let start = row.constant.checked_mul(self.denominator)?;
        Some(sum_of_products(start, &row.coefficients, &self.numerators)? >= 0)
    }
}

fn sum_of_products(start: i64, a: &[i64], b: &[i64]) -> Option<i64> {
    a.iter().zip(b).try_fold(start, |sum, (&a, &b)| {
        if a == 0 { Some(sum) } else { sum.checked_add(a.checked_mul(b)?) }
    })
}

impl Tableau {
    pub(crate) fn new(dimensions: usize) -> Tableau {
        Tableau {
            dimensions,
            bounds: Vec::new(),
            free: (0..dimensions).collect(),
            values: vec![0; dimensions],
            basic: Vec::new(),
            factors: Vec::new(),
            denominator: 1,
        }
    }

    fn line(&self, at: usize) -> &[i64] {
        &self.factors[at * self.dimensions..(at + 1) * self.dimensions]
    }

    /// Takes in a row.
    pub(crate) fn add(&mut self, row: &Row) -> Option<()> {
        let mut line = vec![0i64; self.dimensions];
        for (sum, &column) in line.iter_mut().zip(&self.free) {
            if column < self.dimensions {
                *sum = row.coefficients[column].checked_mul(self.denominator)?;
            }
        }
        for (at, &column) in self.basic.iter().enumerate().filter(|(_, c)| **c < self.dimensions) {
            let factor = row.coefficients[column];
            if factor != 0 {
                for (sum, c) in line.iter_mut().zip(self.line(at)) {
                    *sum = sum.checked_add(c.checked_mul(factor)?)?;
                }
            }
        }
        self.basic.push(self.dimensions + self.bounds.len());
        self.factors.extend(line);
        self.bounds.push(Some(row.constant.checked_neg()?));
        Some(())
    }

    /// The row that came at this place counts no longer.
    pub(crate) fn lift(&mut self, row: usize) {
        self.bounds[row] = None;
    }

    pub(crate) fn is_lifted(&self, row: usize) -> bool {
        self.bounds[row].is_none()
    }

    fn bound(&self, column: usize) -> Option<i64> {
        column.checked_sub(self.dimensions).and_then(|row| self.bounds[row])
    }

    /// The values that were found.
    pub(crate) fn point(&self) -> Option<Point> {
        let mut numerators = vec![0; self.dimensions];
        for (&column, value) in self.free.iter().zip(&self.values) {
            if column < self.dimensions {
                numerators[column] = value.checked_mul(self.denominator)?;
            }
        }
        for (at, &column) in self.basic.iter().enumerate() {
            if column < self.dimensions {
                numerators[column] = sum_of_products(0, self.line(at), &self.values)?;
            }
        }
        Some(Point { numerators, denominator: self.denominator })
    }

    /// Looks for values that satisfy all rows.
    pub(crate) fn is_feasible(&mut self) -> Option<bool> {
        loop {
            // Bland's rule: the first column that is too small, and the first that can give way.
            let mut worst: Option<usize> = None;
            for (at, &column) in self.basic.iter().enumerate() {
                let Some(bound) = self.bound(column) else { continue };
                if worst.is_some_and(|w| self.basic[w] < column) {
                    continue;
                }
                if sum_of_products(0, self.line(at), &self.values)?
                    < bound.checked_mul(self.denominator)?
                {
                    worst = Some(at);
                }
            }
            let Some(at) = worst else { return Some(true) };
            let line = self.line(at);
            let gives_way = |place: &usize| {
                let at_bound =
                    self.bound(self.free[*place]).is_some_and(|b| self.values[*place] <= b);
                line[*place] > 0 || (line[*place] < 0 && !at_bound)
            };
            let Some(place) = (0..self.free.len()).filter(gives_way).min_by_key(|&p| self.free[p])
            else {
                return Some(false);
            };
            self.pivot(at, place)?;
        }
    }

    /// The basic column of a line, set to its bound, changes places with a free one.
    fn pivot(&mut self, at: usize, place: usize) -> Option<()> {
        let (n, d) = (self.dimensions, self.denominator);
        let mut line = self.line(at).to_vec();
        let pivot = line[place];
        let sign = pivot.signum();
        // leaving * d = sum of line * free, so entering * pivot = leaving * d - the others.
        for (i, c) in line.iter_mut().enumerate() {
            *c = if i == place { d } else { c.checked_neg()? };
        }
        for (i, other) in self.factors.chunks_exact_mut(n).enumerate() {
            let factor = other[place];
            if i == at || (factor == 0 && pivot.checked_mul(sign)? == d) {
                continue;
            }
            for (j, c) in other.iter_mut().enumerate() {
                *c = if j == place {
                    factor.checked_mul(sign)?
                } else {
                    // Exact, as all of these are minors of the first tableau.
                    let sum = c.checked_mul(pivot)?.checked_add(factor.checked_mul(line[j])?)?;
                    if d == 1 { sum.checked_mul(sign)? } else { (sum / d).checked_mul(sign)? }
                };
            }
        }
        // The denominator stays positive.
        for (to, c) in self.factors[at * n..(at + 1) * n].iter_mut().zip(&line) {
            *to = c.checked_mul(sign)?;
        }
        self.denominator = pivot.checked_abs()?;
        let leaving = std::mem::replace(&mut self.basic[at], self.free[place]);
        self.values[place] = self.bound(leaving)?;
        self.free[place] = leaving;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feasible(rows: &[(&[i64], i64)]) -> bool {
        let mut tableau = Tableau::new(rows[0].0.len());
        for (coefficients, constant) in rows {
            tableau.add(&Row { coefficients: coefficients.to_vec(), constant: *constant }).unwrap();
        }
        tableau.is_feasible().unwrap()
    }

    #[test]
    fn contradictory_rows_are_infeasible() {
        assert!(feasible(&[(&[1, 1], -3), (&[-1, 0], 2), (&[0, -1], 2)]));
        assert!(!feasible(&[(&[1, 1], -5), (&[-1, 0], 2), (&[0, -1], 2)]));
        // 3x + 2y >= 7, x - y >= 1, x <= 1: y <= 0, so 3x + 2y is 3 at most.
        assert!(!feasible(&[(&[3, 2], -7), (&[1, -1], -1), (&[-1, 0], 1)]));
        assert!(feasible(&[(&[3, 2], -3), (&[1, -1], -1), (&[-1, 0], 1)]));
    }

    #[test]
    fn fractions_are_solutions() {
        assert!(feasible(&[(&[2, 3], -1), (&[-2, -3], 1), (&[5, -7], -1), (&[-5, 7], 1)]));
        assert!(!feasible(&[(&[2, 3], -1), (&[-2, -3], 1), (&[4, 6], -3)]));
    }

    #[test]
    fn random_rows_agree_with_elimination() {
        let mut random = gander_runtime::Random::new(7);
        let mut next = |n: i64| random.between(-n, n);
        let (mut yes, mut no) = (0, 0);
        for _ in 0..2_000 {
            let rows: Vec<Row> = (0..5)
                .map(|_| Row { coefficients: (0..3).map(|_| next(3)).collect(), constant: next(6) })
                .collect();
            let mut tableau = Tableau::new(3);
            rows.iter().for_each(|r| tableau.add(r).unwrap());
            let feasible = tableau.is_feasible().unwrap();
            assert_eq!(feasible, rational(rows.clone(), 3), "{rows:?}");
            if feasible {
                assert!(rows.iter().all(|r| tableau.point().unwrap().meets(r).unwrap()));
                yes += 1;
            } else {
                no += 1;
            }
        }
        assert!(yes > 100 && no > 100);
    }

    /// By Fourier and Motzkin, without rounding.
    fn rational(mut rows: Vec<Row>, dimensions: usize) -> bool {
        for d in 0..dimensions {
            let (with, mut rest): (Vec<Row>, Vec<Row>) =
                rows.into_iter().partition(|r| r.coefficients[d] != 0);
            for l in with.iter().filter(|r| r.coefficients[d] > 0) {
                for h in with.iter().filter(|r| r.coefficients[d] < 0) {
                    rest.push(l.plus(-h.coefficients[d], h, l.coefficients[d]).unwrap());
                }
            }
            rows = rest;
        }
        rows.iter().all(|r| r.constant >= 0)
    }
}
