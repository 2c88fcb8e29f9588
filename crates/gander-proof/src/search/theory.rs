//! Linear arithmetic for the search: the general simplex algorithm of Dutertre and de Moura
//! (CAV 2006), with bounds that are undone on backtracking.
//!
//! Columns are numbers and linear forms; a form that is not a single number has a row in the
//! tableau. Not trusted: the verifier rejects a wrong explanation. `None` means overflow, or that
//! the budget is used up.

use gander_linear::{DeltaRational, Ratio};
use rustc_hash::FxHashMap;

use crate::literal::Literal;

/// A bound of a column, and the literal that states it.
#[derive(Clone, Copy, Debug)]
struct Bound {
    at: DeltaRational,
    by: Literal,
}

#[derive(Clone, Debug, Default)]
struct Column {
    value: Option<DeltaRational>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    /// The row in which it is basic.
    row: Option<usize>,
}

impl Column {
    fn value(&self) -> DeltaRational {
        self.value.unwrap_or(DeltaRational::ZERO)
    }
}

/// Factors by column, in order.
type Sparse = Vec<(u32, Ratio)>;

#[derive(Clone, Debug)]
struct Row {
    basic: u32,
    /// The basic column as a linear combination of non-basic ones.
    of: Sparse,
}

/// Literals with contradictory bounds, and their factors.
pub(super) type Conflict = Vec<(Literal, Ratio)>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Lower,
    Upper,
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Simplex {
    columns: Vec<Column>,
    rows: Vec<Row>,
    forms: FxHashMap<Vec<(u32, i128)>, u32>,
    /// By column: its linear form over numbers.
    definitions: Vec<Vec<(u32, i128)>>,
    /// By column: true if its values are integers.
    integral: Vec<bool>,
    /// The replaced bounds, for undoing.
    trail: Vec<(u32, Side, Option<Bound>)>,
    pub(super) work: u64,
}

impl Simplex {
    /// Numbers are the first columns; the flags say which of them are ints.
    pub(super) fn new(ints: Vec<bool>, work: u64) -> Simplex {
        let definitions = (0..ints.len() as u32).map(|n| vec![(n, 1)]).collect();
        Simplex {
            columns: vec![Column::default(); ints.len()],
            definitions,
            integral: ints,
            work,
            ..Simplex::default()
        }
    }

    fn spend(&mut self, some: usize) -> Option<()> {
        gander_runtime::check_cancelled();
        self.work = self.work.checked_sub(some as u64 + 1)?;
        Some(())
    }

    /// The column of a form.
    pub(super) fn column(&mut self, form: &[(u32, i128)]) -> Option<u32> {
        if let [(n, 1)] = *form {
            return Some(n);
        }
        if let Some(&c) = self.forms.get(form) {
            return Some(c);
        }
        let new = self.columns.len() as u32;
        let (mut of, mut value): (Sparse, DeltaRational) = (Vec::new(), DeltaRational::ZERO);
        for &(n, factor) in form {
            let factor = Ratio::new(factor, 1)?;
            value = value.plus(self.columns[n as usize].value().times(factor)?)?;
            of = match self.columns[n as usize].row {
                Some(row) => merged(&of, &self.rows[row].of, factor)?,
                None => merged(&of, &[(n, Ratio::ONE)], factor)?,
            };
        }
        self.spend(of.len())?;
        self.columns.push(Column {
            value: Some(value),
            row: Some(self.rows.len()),
            ..Column::default()
        });
        self.rows.push(Row { basic: new, of });
        self.integral.push(form.iter().all(|(n, _)| self.integral[*n as usize]));
        self.definitions.push(form.to_vec());
        self.forms.insert(form.to_vec(), new);
        Some(new)
    }

    pub(super) fn value(&self, c: u32) -> DeltaRational {
        self.columns[c as usize].value()
    }

    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Undoes bounds. Values stay: they satisfy the remaining bounds.
    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            let Some((c, side, old)) = self.trail.pop() else { return };
            match side {
                Side::Lower => self.columns[c as usize].lower = old,
                Side::Upper => self.columns[c as usize].upper = old,
            }
        }
    }

    /// Adds a bound of a column.
    pub(super) fn bound(
        &mut self,
        c: u32,
        side: Side,
        at: DeltaRational,
        by: Literal,
    ) -> Option<Result<(), Conflict>> {
        self.spend(1)?;
        let column = &mut self.columns[c as usize];
        let (same, other) = match side {
            Side::Lower => (&mut column.lower, column.upper),
            Side::Upper => (&mut column.upper, column.lower),
        };
        let (tighter, conflict) = match side {
            Side::Lower => (
                same.map_or(Some(true), |old| old.at.is_less(at))?,
                other.map_or(Some(false), |upper| upper.at.is_less(at))?,
            ),
            Side::Upper => (
                same.map_or(Some(true), |old| at.is_less(old.at))?,
                other.map_or(Some(false), |lower| at.is_less(lower.at))?,
            ),
        };
        if !tighter {
            return Some(Ok(()));
        }
        if conflict {
            let other = other?;
            return Some(Err(vec![(by, Ratio::ONE), (other.by, Ratio::ONE)]));
        }
        self.trail.push((c, side, *same));
        *same = Some(Bound { at, by });
        let outside = match side {
            Side::Lower => column.value().is_less(at)?,
            Side::Upper => at.is_less(column.value())?,
        };
        if outside && column.row.is_none() {
            let by = at.minus(column.value())?;
            self.move_by(c, by)?;
        }
        Some(Ok(()))
    }

    /// Changes the value of a non-basic column, and of the basic ones that depend on it.
    fn move_by(&mut self, c: u32, by: DeltaRational) -> Option<()> {
        let column = &mut self.columns[c as usize];
        column.value = Some(column.value().plus(by)?);
        self.spend(self.rows.len())?;
        for row in &self.rows {
            if let Some(factor) = factor_of(&row.of, c) {
                let basic = &mut self.columns[row.basic as usize];
                basic.value = Some(basic.value().plus(by.times(factor)?)?);
            }
        }
        Some(())
    }

    /// The violated bound of a column, if there is one.
    fn violated(&self, c: u32) -> Option<Option<(Side, Bound)>> {
        let column = &self.columns[c as usize];
        if let Some(lower) = column.lower
            && column.value().is_less(lower.at)?
        {
            return Some(Some((Side::Lower, lower)));
        }
        if let Some(upper) = column.upper
            && upper.at.is_less(column.value())?
        {
            return Some(Some((Side::Upper, upper)));
        }
        Some(None)
    }

    /// Finds values within all bounds, or a conflict.
    pub(super) fn solve(&mut self) -> Option<Result<(), Conflict>> {
        loop {
            self.spend(self.rows.len())?;
            // Bland's rule, for termination: the first column with a violated bound.
            let mut worst: Option<(usize, u32, Side, Bound)> = None;
            for (at, row) in self.rows.iter().enumerate() {
                if worst.is_none_or(|(_, basic, ..)| row.basic < basic)
                    && let Some((side, bound)) = self.violated(row.basic)?
                {
                    worst = Some((at, row.basic, side, bound));
                }
            }
            let Some((at, _, side, bound)) = worst else { return Some(Ok(())) };
            let mut entering = None;
            for &(c, factor) in &self.rows[at].of {
                let column = &self.columns[c as usize];
                let up = (factor.signum() > 0) == (side == Side::Lower);
                let free = match (up, column.lower, column.upper) {
                    (true, _, Some(upper)) => column.value().is_less(upper.at)?,
                    (false, Some(lower), _) => lower.at.is_less(column.value())?,
                    _ => true,
                };
                if free {
                    entering = Some(c);
                    break;
                }
            }
            match entering {
                Some(c) => self.pivot(at, c, bound.at)?,
                None => return Some(Err(self.explain(at, side, bound)?)),
            }
        }
    }

    /// The GCD test, as in Z3: a form of ints whose value the fixed columns force to be a fraction,
    /// and the floor of that value.
    pub(super) fn forced_fraction(&self) -> Option<(Vec<(u32, i128)>, i128)> {
        self.rows.iter().find_map(|row| self.forced_by(row))
    }

    fn forced_by(&self, row: &Row) -> Option<(Vec<(u32, i128)>, i128)> {
        let fixed = |c: u32| {
            let column = &self.columns[c as usize];
            match (column.lower, column.upper) {
                (Some(lower), Some(upper)) if lower.at == upper.at && lower.at.beside.is_zero() => {
                    Some(lower.at.value)
                }
                _ => None,
            }
        };
        // The basic column minus the open columns equals the sum of the fixed ones.
        let (mut open, mut value) = (vec![(row.basic, Ratio::ONE)], Ratio::ZERO);
        for &(c, factor) in &row.of {
            match fixed(c) {
                Some(at) => value = value.plus(at.times(factor)?)?,
                None => open.push((c, factor.negated())),
            }
        }
        if open.iter().any(|(c, _)| !self.integral[*c as usize]) {
            return None;
        }
        let mut scale: i128 = 1;
        for (_, factor) in &open {
            let denominator = factor.denominator();
            scale = scale.checked_mul(denominator / gcd(scale, denominator))?;
        }
        let scaled =
            |f: Ratio| f.times(Ratio::new(scale, 1)?).filter(|f| f.is_integral()).map(Ratio::floor);
        let mut divisor = 0;
        for (_, factor) in &open {
            divisor = gcd(divisor, scaled(*factor)?);
        }
        let value = value.times(Ratio::new(scale, divisor)?)?;
        if value.is_integral() {
            return None;
        }
        let mut form: Vec<(u32, i128)> = Vec::new();
        for (c, factor) in open {
            let factor = scaled(factor)? / divisor;
            for &(n, f) in &self.definitions[c as usize] {
                let f = f.checked_mul(factor)?;
                match form.iter_mut().find(|(m, _)| *m == n) {
                    Some((_, sum)) => *sum = sum.checked_add(f)?,
                    None => form.push((n, f)),
                }
            }
        }
        form.retain(|(_, f)| *f != 0);
        form.sort_unstable();
        (!form.is_empty()).then(|| (form, value.floor()))
    }

    fn explain(&self, at: usize, side: Side, bound: Bound) -> Option<Conflict> {
        let mut conflict = vec![(bound.by, Ratio::ONE)];
        for &(c, factor) in &self.rows[at].of {
            let column = &self.columns[c as usize];
            let up = (factor.signum() > 0) == (side == Side::Lower);
            let limit = if up { column.upper } else { column.lower }?;
            conflict.push((limit.by, factor.abs()));
        }
        Some(conflict)
    }

    /// Pivots: the basic column of a row gets the value and leaves the basis, the entering column
    /// is changed accordingly and becomes basic.
    fn pivot(&mut self, at: usize, entering: u32, to: DeltaRational) -> Option<()> {
        let basic = self.rows[at].basic;
        let inverse = factor_of(&self.rows[at].of, entering)?.inverse()?;
        let by = to.minus(self.columns[basic as usize].value())?.times(inverse)?;
        self.move_by(entering, by)?;
        // entering = (basic - the others) / factor
        let mut solved: Sparse = Vec::with_capacity(self.rows[at].of.len());
        for &(c, f) in &self.rows[at].of {
            if c != entering {
                solved.push((c, f.times(inverse)?.negated()));
            }
        }
        let place = solved.partition_point(|(c, _)| *c < basic);
        solved.insert(place, (basic, inverse));
        for i in 0..self.rows.len() {
            if i == at {
                continue;
            }
            if let Some(factor) = factor_of(&self.rows[i].of, entering) {
                let mut without = std::mem::take(&mut self.rows[i].of);
                without.retain(|(c, _)| *c != entering);
                self.rows[i].of = merged(&without, &solved, factor)?;
                self.spend(2 * self.rows[i].of.len())?;
            }
        }
        self.rows[at] = Row { basic: entering, of: solved };
        self.columns[basic as usize].row = None;
        self.columns[entering as usize].row = Some(at);
        Some(())
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

fn factor_of(of: &Sparse, c: u32) -> Option<Ratio> {
    of.binary_search_by_key(&c, |(c, _)| *c).ok().map(|at| of[at].1)
}

/// The sum of a row and a multiple of another one.
fn merged(a: &[(u32, Ratio)], b: &[(u32, Ratio)], factor: Ratio) -> Option<Sparse> {
    let mut sum = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let (left, right) = (a.get(i).map(|x| x.0), b.get(j).map(|x| x.0));
        let (c, total) = match (left, right) {
            (Some(c), Some(d)) if c == d => {
                i += 1;
                j += 1;
                (c, a[i - 1].1.plus(b[j - 1].1.times(factor)?)?)
            }
            (Some(c), other) if other.is_none_or(|d| c < d) => {
                i += 1;
                (c, a[i - 1].1)
            }
            (_, Some(d)) => {
                j += 1;
                (d, b[j - 1].1.times(factor)?)
            }
            _ => return None,
        };
        if !total.is_zero() {
            sum.push((c, total));
        }
    }
    Some(sum)
}
