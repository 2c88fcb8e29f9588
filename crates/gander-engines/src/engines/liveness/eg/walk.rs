//! A walk through the states from which a run can go on for ever.
//!
//! At each state the first move is taken that leads to such a state, and what it chooses is chosen
//! in the same way every time. So if a state comes again, the walk is a lasso.

use gander_runtime::Cancellation;
use gander_system::{Evidence, Leg, Run, StartId, State, Step, System};
use gander_term::{Sort, Value};
use rustc_hash::FxHashMap;

use super::super::limits::LIMITS;
use super::Work;
use super::moves::Move;
use crate::arith::polyhedron::{Pick, Polyhedron, Row, point};

impl Move {
    /// What holds of the state that it leaves and of what it chooses, if it leads to the
    /// polyhedron.
    pub(super) fn rows_to(&self, goal: &Polyhedron) -> Option<Vec<Row>> {
        let mut rows = self.rows.clone();
        for row in &goal.rows {
            rows.push(row.substituted(&self.next, self.dimensions)?);
        }
        Some(rows)
    }
}

/// A step that was taken: values of the variables, then of what was chosen.
struct Taken {
    node: usize,
    number: usize,
    values: Vec<i64>,
    /// The variables behind it; what is an input there is chosen anew.
    behind: Vec<i64>,
}

impl Work {
    /// A lasso in the last level, which is stable.
    pub(super) fn lasso(&self, cancellation: &Cancellation, system: &System) -> Option<Evidence> {
        let walks = [Pick::Greatest, Pick::Least]
            .into_iter()
            .filter_map(|pick| self.walk(cancellation, system, pick));
        walks.min_by_key(
            |w| if let Evidence::Lasso { run, .. } = w { run.length() } else { u64::MAX },
        )
    }

    fn walk(&self, cancellation: &Cancellation, system: &System, pick: Pick) -> Option<Evidence> {
        let begin =
            |b: &super::Beginning| Some((b.start?, b.node, self.step(b.node, &b.rows, &[], pick)?));
        let (start, mut node, mut taken) = self.beginnings.iter().find_map(begin)?;
        let mut met: FxHashMap<(usize, Vec<i64>), usize> = FxHashMap::default();
        let mut steps = Vec::new();
        while steps.len() < LIMITS.eg_walk_steps && !cancellation.is_cancelled() {
            let memory = self.memory(&taken.values, system.vars().len());
            if let Some(&back_to) = met.get(&(node, memory.clone())) {
                return self.evidence(system, start, &steps, back_to);
            }
            met.insert((node, memory), steps.len());
            node = self.moves[taken.node][taken.number].target;
            let next = self.step(node, &[], &taken.behind, pick)?;
            steps.push(taken);
            taken = next;
        }
        None
    }

    /// The values that later steps depend on.
    fn memory(&self, values: &[i64], vars: usize) -> Vec<i64> {
        (0..vars).filter(|v| !self.inputs.contains(v)).map(|v| values[v]).collect()
    }

    /// A step from a state at `node` with the rows, or with the values, if there are some, of the
    /// variables that are no inputs.
    fn step(&self, node: usize, at: &[Row], fixed: &[i64], pick: Pick) -> Option<Taken> {
        let goals = self.levels.last()?;
        let is_fixed = |d: usize| d < fixed.len() && !self.inputs.contains(&d);
        for (number, this) in self.moves[node].iter().enumerate() {
            for &goal in &goals[this.target] {
                let mut rows = this.rows_to(&self.all[goal].rows)?;
                for row in at {
                    let mut row = row.clone();
                    row.coefficients.resize(this.dimensions, 0);
                    rows.push(row);
                }
                for row in &mut rows {
                    for d in (0..fixed.len()).filter(|&d| is_fixed(d)) {
                        let c = std::mem::take(&mut row.coefficients[d]);
                        row.constant = row.constant.checked_add(c.checked_mul(fixed[d])?)?;
                    }
                }
                if let Some(mut values) = point(rows, this.dimensions, pick) {
                    for d in (0..fixed.len()).filter(|&d| is_fixed(d)) {
                        values[d] = fixed[d];
                    }
                    let behind = this.next.iter().map(|n| n.at(&values)).collect::<Option<_>>()?;
                    return Some(Taken { node, number, values, behind });
                }
            }
        }
        None
    }

    /// The lasso of some steps whose last leads to the state before the step `back_to`.
    fn evidence(
        &self,
        system: &System,
        start: StartId,
        steps: &[Taken],
        back_to: usize,
    ) -> Option<Evidence> {
        let state = |taken: &Taken| -> Option<Vec<Value>> {
            system.vars().iter().zip(&taken.values).map(|(v, &x)| value(v.sort, x)).collect()
        };
        let first = State { node: steps.first()?.node.into(), values: state(steps.first()?)? };
        let mut legs = Vec::new();
        for (i, taken) in steps.iter().enumerate() {
            let this = &self.moves[taken.node][taken.number];
            let sorts = system
                .transition(this.transition)
                .params
                .iter()
                .map(|p| system.pool().symbol(p.symbol).sort);
            let params = sorts
                .zip(&this.params)
                .map(|(s, &d)| value(s, taken.values[d]))
                .collect::<Option<_>>()?;
            let behind = steps.get(i + 1).unwrap_or(&steps[back_to]);
            legs.push(Leg::Step(Step {
                transition: this.transition,
                params,
                next: Some(state(behind)?),
            }));
        }
        Some(Evidence::Lasso {
            run: Run { start, first, legs: legs.into() },
            back_to: back_to as u64,
        })
    }
}

fn value(sort: Sort, x: i64) -> Option<Value> {
    match sort {
        Sort::Bool => Some(Value::Bool(x != 0)),
        Sort::Enum(id) => Some(Value::Enum(id, u32::try_from(x).ok()?)),
        Sort::Int => Some(Value::Int(x.into())),
        _ => None,
    }
}
