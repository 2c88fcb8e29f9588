//! The general simplex algorithm of Dutertre and de Moura (CAV 2006), with explanations.
//!
//! Every row of the search bounds a *column*: a variable, or a linear form, which then has a line
//! in the tableau. Non-basic columns are within their bounds. A basic column outside of its bounds
//! is exchanged with a non-basic one (Bland's rule); if there is none, its line and the bounds in
//! it are the explanation.
//!
//! Not trusted: the verifier rejects a wrong explanation. `None` means overflow, or that the budget
//! is used up.

use gander_term::TermId;

use crate::ratio::{DeltaRational, Ratio};
use crate::rows::{Row, Sign};

/// A bound of a column: `factor` times the row says that the column minus a lower bound, or an
/// upper bound minus the column, is not negative.
#[derive(Clone, Copy, Debug)]
struct Bound {
    at: DeltaRational,
    row: usize,
    factor: Ratio,
}

#[derive(Clone, Debug)]
struct Column {
    value: DeltaRational,
    lower: Option<Bound>,
    upper: Option<Bound>,
}

/// The basic column as a linear combination of the others; factors of basic columns are zero.
#[derive(Clone, Debug)]
struct TableLine {
    basic: usize,
    of: Vec<Ratio>,
}

/// Rows with factors whose sum is a contradiction.
pub(crate) type Explanation = Vec<(usize, Ratio)>;

/// The bounds, and the current values; [`Simplex::solve`] makes the values satisfy the bounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simplex {
    /// Terms, with their columns.
    variables: Vec<(TermId, usize)>,
    /// Forms (coefficients by term), with their columns.
    forms: Vec<(Vec<(TermId, Ratio)>, usize)>,
    columns: Vec<Column>,
    lines: Vec<TableLine>,
    /// The explanation, if the bounds of one column are contradictory.
    broken: Option<Explanation>,
}

impl Simplex {
    /// The value of a variable.
    pub(crate) fn value(&self, t: TermId) -> Option<DeltaRational> {
        self.variables.iter().find(|(v, _)| *v == t).map(|(_, c)| self.columns[*c].value)
    }

    /// The variables, in order of insertion.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (TermId, DeltaRational)> + '_ {
        self.variables.iter().map(|(t, c)| (*t, self.columns[*c].value))
    }

    /// Adds a row with variables; explanations refer to it by this number.
    pub(crate) fn add(&mut self, row: &Row, number: usize, work: &mut u64) -> Option<()> {
        let mut form = Vec::with_capacity(row.coefficients.len());
        for (t, c) in &row.coefficients {
            form.push((*t, Ratio::of(c)?));
        }
        let scale = form.first()?.1;
        let per_scale = scale.inverse()?;
        for (_, c) in &mut form {
            *c = c.times(per_scale)?;
        }
        // scale * form + constant has the sign.
        let at = Ratio::of(&row.constant)?.times(per_scale)?.negated();
        let column = self.column(form, work)?;
        let near = |beside: Ratio| DeltaRational { value: at, beside };
        let strict = if row.sign == Sign::Positive { Ratio::ONE } else { Ratio::ZERO };
        if row.sign == Sign::Zero || scale.signum() > 0 {
            self.bound_below(
                column,
                Bound { at: near(strict), row: number, factor: per_scale },
                work,
            )?;
        }
        if row.sign == Sign::Zero || scale.signum() < 0 {
            let factor = per_scale.negated();
            self.bound_above(
                column,
                Bound { at: near(strict.negated()), row: number, factor },
                work,
            )?;
        }
        Some(())
    }

    /// The column of a form whose first coefficient is 1.
    fn column(&mut self, form: Vec<(TermId, Ratio)>, work: &mut u64) -> Option<usize> {
        if let [(t, _)] = form[..] {
            return Some(self.variable(t));
        }
        if let Some((_, c)) = self.forms.iter().find(|(f, _)| *f == form) {
            return Some(*c);
        }
        let parts: Vec<(usize, Ratio)> =
            form.iter().map(|(t, c)| (self.variable(*t), *c)).collect();
        let new = self.new_column();
        let mut of = vec![Ratio::ZERO; self.columns.len()];
        let mut value = DeltaRational::ZERO;
        for (column, factor) in parts {
            value = value.plus(self.columns[column].value.times(factor)?)?;
            match self.lines.iter().find(|l| l.basic == column) {
                Some(line) => {
                    for (sum, c) in of.iter_mut().zip(&line.of).filter(|(_, c)| !c.is_zero()) {
                        *sum = sum.plus(c.times(factor)?)?;
                    }
                    spend(work, line.of.len())?;
                }
                None => of[column] = of[column].plus(factor)?,
            }
        }
        self.columns[new].value = value;
        self.lines.push(TableLine { basic: new, of });
        self.forms.push((form, new));
        Some(new)
    }

    fn variable(&mut self, t: TermId) -> usize {
        if let Some((_, c)) = self.variables.iter().find(|(v, _)| *v == t) {
            return *c;
        }
        let c = self.new_column();
        self.variables.push((t, c));
        c
    }

    fn new_column(&mut self) -> usize {
        self.columns.push(Column { value: DeltaRational::ZERO, lower: None, upper: None });
        for line in &mut self.lines {
            line.of.push(Ratio::ZERO);
        }
        self.columns.len() - 1
    }

    fn bound_below(&mut self, c: usize, bound: Bound, work: &mut u64) -> Option<()> {
        let column = &mut self.columns[c];
        if let Some(old) = column.lower
            && !old.at.is_less(bound.at)?
        {
            return Some(());
        }
        column.lower = Some(bound);
        self.move_into_bounds(c, bound.at, work)
    }

    fn bound_above(&mut self, c: usize, bound: Bound, work: &mut u64) -> Option<()> {
        let column = &mut self.columns[c];
        if let Some(old) = column.upper
            && !bound.at.is_less(old.at)?
        {
            return Some(());
        }
        column.upper = Some(bound);
        self.move_into_bounds(c, bound.at, work)
    }

    /// After a new bound of a column: records contradictory bounds, and moves a non-basic column
    /// into its bounds.
    fn move_into_bounds(&mut self, c: usize, to: DeltaRational, work: &mut u64) -> Option<()> {
        let column = &self.columns[c];
        if let (Some(lower), Some(upper)) = (column.lower, column.upper)
            && upper.at.is_less(lower.at)?
        {
            self.broken = Some(vec![(lower.row, lower.factor), (upper.row, upper.factor)]);
            return Some(());
        }
        let basic = self.lines.iter().any(|l| l.basic == c);
        if !basic && (self.below(c)? || self.above(c)?) {
            let by = to.minus(self.columns[c].value)?;
            self.move_by(c, by, work)?;
        }
        Some(())
    }

    fn below(&self, c: usize) -> Option<bool> {
        let column = &self.columns[c];
        column.lower.map_or(Some(false), |l| column.value.is_less(l.at))
    }

    fn above(&self, c: usize) -> Option<bool> {
        let column = &self.columns[c];
        column.upper.map_or(Some(false), |u| u.at.is_less(column.value))
    }

    /// Changes the value of a non-basic column, and of the basic ones that depend on it.
    fn move_by(&mut self, c: usize, by: DeltaRational, work: &mut u64) -> Option<()> {
        self.columns[c].value = self.columns[c].value.plus(by)?;
        for line in &self.lines {
            if !line.of[c].is_zero() {
                self.columns[line.basic].value =
                    self.columns[line.basic].value.plus(by.times(line.of[c])?)?;
            }
        }
        spend(work, self.lines.len())
    }

    /// Finds values within all bounds, or an explanation why there are none.
    pub(crate) fn solve(&mut self, work: &mut u64) -> Option<Result<(), Explanation>> {
        if let Some(broken) = &self.broken {
            return Some(Err(broken.clone()));
        }
        loop {
            spend(work, 1 + self.lines.len())?;
            let mut worst: Option<(usize, usize)> = None;
            for (at, line) in self.lines.iter().enumerate() {
                if worst.is_none_or(|(_, basic)| line.basic < basic)
                    && (self.below(line.basic)? || self.above(line.basic)?)
                {
                    worst = Some((at, line.basic));
                }
            }
            let Some((at, basic)) = worst else { return Some(Ok(())) };
            let rise = self.below(basic)?;
            let column = &self.columns[basic];
            let bound = if rise { column.lower } else { column.upper }?;
            let mut entering = None;
            for (c, factor) in self.lines[at].of.iter().enumerate().filter(|(_, f)| !f.is_zero()) {
                let column = &self.columns[c];
                // The direction in which this column moves the basic one towards its bound.
                let up = (factor.signum() > 0) == rise;
                let limit = if up { column.upper } else { column.lower };
                let free = match limit {
                    None => true,
                    Some(limit) if up => column.value.is_less(limit.at)?,
                    Some(limit) => limit.at.is_less(column.value)?,
                };
                if free {
                    entering = Some(c);
                    break;
                }
            }
            match entering {
                Some(c) => self.exchange(at, c, bound.at, work)?,
                None => return Some(Err(self.explain(at, rise, bound)?)),
            }
        }
    }

    /// The bound of the basic column, and the bounds of the others that block it.
    fn explain(&self, at: usize, rise: bool, bound: Bound) -> Option<Explanation> {
        let mut explanation = vec![(bound.row, bound.factor)];
        for (c, factor) in self.lines[at].of.iter().enumerate().filter(|(_, f)| !f.is_zero()) {
            let up = (factor.signum() > 0) == rise;
            let limit = if up { self.columns[c].upper } else { self.columns[c].lower }?;
            explanation.push((limit.row, limit.factor.times(factor.abs())?));
        }
        Some(explanation)
    }

    /// Pivots: the basic column of a line gets the value and leaves the basis, the entering column
    /// is changed accordingly and becomes basic.
    fn exchange(
        &mut self,
        at: usize,
        entering: usize,
        to: DeltaRational,
        work: &mut u64,
    ) -> Option<()> {
        let basic = self.lines[at].basic;
        let inverse = self.lines[at].of[entering].inverse()?;
        let by = to.minus(self.columns[basic].value)?.times(inverse)?;
        self.move_by(entering, by, work)?;
        // entering = (basic - the others) / factor
        let mut solved = Vec::with_capacity(self.lines[at].of.len());
        for (c, f) in self.lines[at].of.iter().enumerate() {
            solved.push(match c {
                _ if c == entering => Ratio::ZERO,
                _ if c == basic => inverse,
                _ => f.times(inverse)?.negated(),
            });
        }
        for (i, line) in self.lines.iter_mut().enumerate() {
            let factor = line.of[entering];
            if i == at || factor.is_zero() {
                continue;
            }
            line.of[entering] = Ratio::ZERO;
            for (sum, s) in line.of.iter_mut().zip(&solved).filter(|(_, s)| !s.is_zero()) {
                *sum = sum.plus(s.times(factor)?)?;
            }
            spend(work, solved.len())?;
        }
        spend(work, solved.len())?;
        self.lines[at] = TableLine { basic: entering, of: solved };
        Some(())
    }
}

/// Takes work from the budget.
pub(crate) fn spend(work: &mut u64, some: usize) -> Option<()> {
    *work = work.checked_sub(some as u64)?;
    Some(())
}
