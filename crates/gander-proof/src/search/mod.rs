//! The search: conflict-driven clause learning with linear arithmetic as its theory. Not trusted.
//!
//! Every clause has a number, which the proof uses: first those of the encoding, then lemmas and
//! learned clauses. The hints of a learned clause are the clauses that it was resolved from, in the
//! order of propagation.

mod heap;
mod theory;

use gander_linear::{DeltaRational, Ratio};
use gander_term::{IBig, Pool, RBig, Sort, TermId, Value, evaluate};

use crate::Answer;
use crate::encode::{Atom, Encoding, Meaning};
use crate::literal::Literal;
use crate::proof::{Proof, Step};
use heap::Heap;
use theory::{Conflict, Side, Simplex};

/// The number of conflicts before the first restart; later restarts come after multiples of it
/// (Luby's sequence).
const RESTART: u64 = 64;

/// The number of branches on an int with a fractional value.
const MAX_BRANCHES: usize = 400;

/// Searches for a refutation or a model. Also returns the work that was done.
pub(crate) fn search(pool: &Pool, formula: TermId, encoding: Encoding, work: u64) -> (Answer, u64) {
    let mut search = Search::new(encoding, work);
    let answer = match search.run() {
        Some(Verdict::Refuted) => {
            Answer::Refuted(Proof { atoms: search.new_atoms, steps: search.steps })
        }
        Some(Verdict::Model) => search.model(pool, formula).map_or(Answer::Unknown, Answer::Model),
        None => Answer::Unknown,
    };
    (answer, work - search.simplex.work)
}

enum Verdict {
    Refuted,
    Model,
}

/// An atom for the simplex algorithm: its column, the upper bound if the variable is true, and the
/// lower bound if it is false.
#[derive(Clone, Copy, Debug)]
struct Column {
    column: u32,
    upper: DeltaRational,
    lower: DeltaRational,
}

struct Search {
    clauses: Vec<Vec<Literal>>,
    watches: Vec<Vec<u32>>,
    atoms: Vec<Option<Atom>>,
    columns: Vec<Option<Column>>,
    symbols: Vec<(TermId, Meaning)>,
    bounds: crate::encode::Bounds,
    values: Vec<Option<bool>>,
    phases: Vec<bool>,
    levels: Vec<u32>,
    reasons: Vec<Option<u32>>,
    trail: Vec<Literal>,
    /// By decision level: the length of the trail, and the mark of the theory.
    limits: Vec<(usize, usize)>,
    propagated: usize,
    /// The number of literals of the trail that the theory has.
    in_theory: usize,
    heap: Heap,
    simplex: Simplex,
    steps: Vec<Step>,
    new_atoms: Vec<Atom>,
    /// By variable: the unit clause of its value at level 0.
    units: Vec<Option<u32>>,
    branches: usize,
    /// By variable: visited while a clause is learned; all false otherwise.
    seen: Vec<bool>,
}

impl Search {
    fn new(encoding: Encoding, work: u64) -> Search {
        let Encoding { clauses, atoms, bounds, symbols } = encoding;
        let n = atoms.len();
        Search {
            clauses,
            watches: vec![Vec::new(); 2 * n],
            columns: vec![None; n],
            simplex: Simplex::new(
                (0..bounds.len() as u32).map(|n| bounds.is_int(n)).collect(),
                work,
            ),
            atoms,
            symbols,
            bounds,
            values: vec![None; n],
            phases: vec![false; n],
            levels: vec![0; n],
            reasons: vec![None; n],
            trail: Vec::new(),
            limits: Vec::new(),
            propagated: 0,
            in_theory: 0,
            heap: Heap::new(n),
            steps: Vec::new(),
            new_atoms: Vec::new(),
            units: vec![None; n],
            branches: 0,
            seen: vec![false; n],
        }
    }

    fn spend(&mut self, some: usize) -> Option<()> {
        self.simplex.work = self.simplex.work.checked_sub(some as u64 + 1)?;
        Some(())
    }

    /// `None` if the budget is used up or numbers are too large.
    fn run(&mut self) -> Option<Verdict> {
        for v in 0..self.atoms.len() {
            self.prepare(v)?;
        }
        for number in 0..self.clauses.len() {
            self.spend(self.clauses[number].len())?;
            if !self.attach(number as u32) {
                return Some(Verdict::Refuted);
            }
        }
        let (mut conflicts, mut restarts) = (0, 1);
        let mut allowed = RESTART * luby(restarts);
        loop {
            match self.propagate()? {
                Some(conflict) => {
                    conflicts += 1;
                    if self.learn(conflict)? {
                        return Some(Verdict::Refuted);
                    }
                    if conflicts >= allowed {
                        restarts += 1;
                        (conflicts, allowed) = (0, RESTART * luby(restarts));
                        self.backtrack(0);
                    }
                }
                None => match self.decide()? {
                    Decision::Made => {}
                    Decision::Complete => return Some(Verdict::Model),
                },
            }
        }
    }

    /// Adds the form of an atom to the simplex tableau.
    fn prepare(&mut self, v: usize) -> Option<()> {
        let Some(atom) = self.atoms[v].clone() else { return Some(()) };
        let form = atom
            .form
            .iter()
            .map(|(n, c)| Some((*n, i128::try_from(c).ok()?)))
            .collect::<Option<Vec<_>>>()?;
        let column = self.simplex.column(&form)?;
        let near = |holds: bool| -> Option<DeltaRational> {
            let row = self.bounds.row(&atom, holds);
            let sign = if holds { RBig::ONE } else { -RBig::ONE };
            let beside = match (row.strict, holds) {
                (false, _) => Ratio::ZERO,
                (true, true) => Ratio::ONE.negated(),
                (true, false) => Ratio::ONE,
            };
            Some(DeltaRational { value: Ratio::of(&(row.constant * sign))?, beside })
        };
        self.columns[v] = Some(Column { column, upper: near(true)?, lower: near(false)? });
        Some(())
    }

    fn value(&self, l: Literal) -> Option<bool> {
        self.values[l.variable()].map(|v| v == l.is_positive())
    }

    fn level(&self) -> u32 {
        self.limits.len() as u32
    }

    /// Watches a clause at level 0; false if the clauses are refuted.
    fn attach(&mut self, number: u32) -> bool {
        let clause = &self.clauses[number as usize];
        match clause[..] {
            [] => false,
            [unit] => match self.value(unit) {
                Some(true) => true,
                Some(false) => {
                    let hints = vec![self.unit_of(unit.variable()), number];
                    self.log(Step::Learned { clause: Vec::new(), hints });
                    false
                }
                None => {
                    self.assign(unit, Some(number));
                    true
                }
            },
            [a, b, ..] => {
                self.watches[a.code()].push(number);
                self.watches[b.code()].push(number);
                true
            }
        }
    }

    fn log(&mut self, step: Step) -> u32 {
        let (Step::Lemma { clause, .. } | Step::Learned { clause, .. }) = &step;
        self.clauses.push(clause.clone());
        self.steps.push(step);
        (self.clauses.len() - 1) as u32
    }

    fn assign(&mut self, l: Literal, reason: Option<u32>) {
        let v = l.variable();
        self.values[v] = Some(l.is_positive());
        self.phases[v] = l.is_positive();
        self.levels[v] = self.level();
        self.reasons[v] = reason;
        self.trail.push(l);
    }

    /// Propagates clauses and theory bounds to a fixed point. Returns the number of a violated
    /// clause, if there is one.
    #[allow(clippy::option_option)]
    fn propagate(&mut self) -> Option<Option<u32>> {
        loop {
            if let Some(conflict) = self.propagate_units()? {
                return Some(Some(conflict));
            }
            if self.in_theory == self.trail.len() {
                return Some(None);
            }
            if let Some(conflict) = self.update_theory()? {
                return Some(Some(self.lemma(conflict)));
            }
        }
    }

    #[allow(clippy::option_option)]
    fn propagate_units(&mut self) -> Option<Option<u32>> {
        while self.propagated < self.trail.len() {
            let wrong = !self.trail[self.propagated];
            self.propagated += 1;
            let watching = std::mem::take(&mut self.watches[wrong.code()]);
            self.spend(watching.len())?;
            let (mut kept, mut conflict) = (Vec::with_capacity(watching.len()), None);
            for (i, &number) in watching.iter().enumerate() {
                let clause = &mut self.clauses[number as usize];
                // The watched literals are the first two.
                if clause[0] == wrong {
                    clause.swap(0, 1);
                }
                let first = clause[0];
                let value = |values: &[Option<bool>], l: Literal| {
                    values[l.variable()].map(|v| v == l.is_positive())
                };
                if value(&self.values, first) == Some(true) {
                    kept.push(number);
                    continue;
                }
                let other =
                    (2..clause.len()).find(|&k| value(&self.values, clause[k]) != Some(false));
                if let Some(k) = other {
                    clause.swap(1, k);
                    let watched = clause[1];
                    self.watches[watched.code()].push(number);
                    continue;
                }
                kept.push(number);
                if value(&self.values, first) == Some(false) {
                    kept.extend_from_slice(&watching[i + 1..]);
                    conflict = Some(number);
                    break;
                }
                self.assign(first, Some(number));
            }
            self.watches[wrong.code()] = kept;
            if conflict.is_some() {
                return Some(conflict);
            }
        }
        Some(None)
    }

    /// Gives the new literals of the trail to the theory.
    #[allow(clippy::option_option)]
    fn update_theory(&mut self) -> Option<Option<Conflict>> {
        let mut some = false;
        while self.in_theory < self.trail.len() {
            let l = self.trail[self.in_theory];
            self.in_theory += 1;
            let Some(column) = self.columns[l.variable()] else { continue };
            some = true;
            let (side, at) = if l.is_positive() {
                (Side::Upper, column.upper)
            } else {
                (Side::Lower, column.lower)
            };
            if let Err(conflict) = self.simplex.bound(column.column, side, at, l)? {
                return Some(Some(conflict));
            }
        }
        Some(if some { self.simplex.solve()?.err() } else { None })
    }

    /// Logs the lemma of a theory conflict.
    fn lemma(&mut self, conflict: Conflict) -> u32 {
        let clause: Vec<Literal> = conflict.iter().map(|(l, _)| !*l).collect();
        let factors = conflict.iter().map(|(_, f)| f.exact()).collect();
        let number = self.log(Step::Lemma { clause, factors });
        self.watch_latest(number);
        number
    }

    /// Watches the two literals of a clause that were assigned last; all have values.
    fn watch_latest(&mut self, number: u32) {
        let levels = &self.levels;
        let clause = &mut self.clauses[number as usize];
        if clause.len() < 2 {
            return;
        }
        for at in 0..2 {
            let latest =
                (at..clause.len()).max_by_key(|&k| levels[clause[k].variable()]).unwrap_or(at);
            clause.swap(at, latest);
        }
        let (a, b) = (clause[0], clause[1]);
        self.watches[a.code()].push(number);
        self.watches[b.code()].push(number);
    }

    /// The unit clause of the value of a variable at level 0; derived if there is none.
    fn unit_of(&mut self, v: usize) -> u32 {
        if let Some(unit) = self.units[v] {
            return unit;
        }
        // Derive the reasons first, without recursion.
        let mut open = vec![v];
        while let Some(&v) = open.last() {
            if self.units[v].is_some() {
                open.pop();
                continue;
            }
            let Some(reason) = self.reasons[v] else {
                // Not assigned at level 0: a bug, which the verification finds.
                self.units[v] = Some(0);
                continue;
            };
            let others: Vec<usize> = self.clauses[reason as usize]
                .iter()
                .map(|l| l.variable())
                .filter(|&o| o != v)
                .collect();
            let missing: Vec<usize> =
                others.iter().copied().filter(|&o| self.units[o].is_none()).collect();
            if !missing.is_empty() {
                open.extend(missing);
                continue;
            }
            if others.is_empty() {
                self.units[v] = Some(reason);
            } else {
                let mut hints: Vec<u32> = others.iter().filter_map(|&o| self.units[o]).collect();
                hints.push(reason);
                let literal = Literal::new(v, self.values[v] == Some(true));
                let unit = self.log(Step::Learned { clause: vec![literal], hints });
                self.units[v] = Some(unit);
            }
            open.pop();
        }
        self.units[v].unwrap_or(0)
    }

    /// Learns a clause from a violated one; true if it is the empty clause.
    fn learn(&mut self, mut conflict: u32) -> Option<bool> {
        // A theory conflict may belong to an earlier level.
        let latest = self.clauses[conflict as usize]
            .iter()
            .map(|l| self.levels[l.variable()])
            .max()
            .unwrap_or(0);
        self.backtrack(latest);
        if self.level() == 0 {
            let variables: Vec<usize> =
                self.clauses[conflict as usize].iter().map(|l| l.variable()).collect();
            let mut hints: Vec<u32> = variables.into_iter().map(|v| self.unit_of(v)).collect();
            hints.push(conflict);
            self.log(Step::Learned { clause: Vec::new(), hints });
            return Some(true);
        }
        let mut seen = std::mem::take(&mut self.seen);
        seen.resize(self.atoms.len(), false);
        let mut met: Vec<usize> = Vec::new();
        let (mut learned, mut used) = (vec![Literal::new(0, true)], Vec::new());
        let mut lowest: Vec<usize> = Vec::new();
        let (mut open, mut at) = (0, self.trail.len());
        loop {
            used.push(conflict);
            self.spend(self.clauses[conflict as usize].len())?;
            for k in 0..self.clauses[conflict as usize].len() {
                let l = self.clauses[conflict as usize][k];
                let v = l.variable();
                if seen[v] {
                    continue;
                }
                seen[v] = true;
                met.push(v);
                self.heap.bump(v);
                match self.levels[v] {
                    0 => lowest.push(v),
                    level if level == self.level() => open += 1,
                    _ => learned.push(l),
                }
            }
            // The literal of this level that was assigned last.
            let last = loop {
                at = at.checked_sub(1)?;
                if seen[self.trail[at].variable()]
                    && self.levels[self.trail[at].variable()] == self.level()
                {
                    break self.trail[at];
                }
            };
            open -= 1;
            if open == 0 {
                learned[0] = !last;
                break;
            }
            conflict = self.reasons[last.variable()]?;
        }
        self.heap.decay();
        met.into_iter().for_each(|v| seen[v] = false);
        self.seen = seen;
        // Clauses were used from the conflict backwards; hints are in the order of propagation.
        used.reverse();
        let mut hints: Vec<u32> = lowest.into_iter().map(|v| self.unit_of(v)).collect();
        hints.extend(used);
        let back = learned[1..].iter().map(|l| self.levels[l.variable()]).max().unwrap_or(0);
        let number = self.log(Step::Learned { clause: learned.clone(), hints });
        let asserted = learned[0];
        if learned.len() > 1 {
            self.watch_latest(number);
            // The asserted literal first.
            let clause = &mut self.clauses[number as usize];
            if clause[0] != asserted {
                clause.swap(0, 1);
            }
        }
        self.backtrack(back);
        self.assign(asserted, Some(number));
        Some(false)
    }

    fn backtrack(&mut self, level: u32) {
        if level >= self.level() {
            return;
        }
        let (length, mark) = self.limits[level as usize];
        for l in self.trail.drain(length..) {
            self.values[l.variable()] = None;
            self.reasons[l.variable()] = None;
            self.heap.insert(l.variable());
        }
        self.limits.truncate(level as usize);
        self.propagated = length;
        self.in_theory = self.in_theory.min(length);
        self.simplex.undo(mark);
    }

    /// Decides a variable, or branches on an int; complete if all have values.
    fn decide(&mut self) -> Option<Decision> {
        self.spend(1)?;
        while let Some(v) = self.heap.pop() {
            if self.values[v].is_none() {
                // The current values of the numbers cause no conflict.
                let positive = match self.columns[v] {
                    Some(c) => !c.upper.is_less(self.simplex.value(c.column))?,
                    None => self.phases[v],
                };
                self.push(Literal::new(v, positive));
                return Some(Decision::Made);
            }
        }
        let number = (0..self.bounds.len() as u32)
            .find(|&n| self.bounds.is_int(n) && !self.simplex.value(n).value.is_integral());
        let Some(n) = number else { return Some(Decision::Complete) };
        if self.branches >= MAX_BRANCHES {
            return None;
        }
        self.branches += 1;
        let floor = self.simplex.value(n).value.floor();
        let (form, floor) = self.simplex.forced_fraction().unwrap_or_else(|| (vec![(n, 1)], floor));
        let form = form.into_iter().map(|(n, f)| (n, IBig::from(f))).collect();
        let atom = Atom { form, bound: RBig::from(IBig::from(floor)), strict: false };
        // The atom is new: a known atom would have a value that excludes the fraction.
        let v = self.atoms.len();
        self.atoms.push(Some(atom.clone()));
        self.new_atoms.push(atom);
        self.columns.push(None);
        self.values.push(None);
        self.phases.push(false);
        self.levels.push(0);
        self.reasons.push(None);
        self.units.push(None);
        self.watches.extend([Vec::new(), Vec::new()]);
        self.heap.grow();
        self.prepare(v)?;
        self.push(Literal::new(v, true));
        Some(Decision::Made)
    }

    fn push(&mut self, decision: Literal) {
        self.limits.push((self.trail.len(), self.simplex.mark()));
        self.assign(decision, None);
    }

    /// A model of the formula, from the values of the numbers.
    fn model(&self, pool: &Pool, formula: TermId) -> Option<Vec<(gander_term::SymbolId, Value)>> {
        // Evaluating all instances of a quantifier may exceed the budget.
        if pool.has_quantifier(formula) {
            return None;
        }
        for beside in [Ratio::ONE, Ratio::new(1, 64)?, Ratio::new(1, 1 << 40)?] {
            let mut model = Vec::new();
            for (t, meaning) in &self.symbols {
                model.push((pool.as_symbol(*t)?, self.value_of(pool.sort(*t), meaning, beside)?));
            }
            let look_up =
                |s| model.iter().find(|(t, _)| *t == s).map(|(_, v): &(_, Value)| v.clone());
            if evaluate(pool, formula, &look_up) == Ok(Value::Bool(true)) {
                return Some(model);
            }
        }
        None
    }

    fn value_of(&self, sort: Sort, meaning: &Meaning, beside: Ratio) -> Option<Value> {
        Some(match meaning {
            Meaning::Truth(l) => Value::Bool(self.value(*l)?),
            Meaning::Word(word) => {
                let mut number = IBig::ZERO;
                for &l in word.iter().rev() {
                    number = number * IBig::from(2) + IBig::from(u8::from(self.value(l)?));
                }
                match sort {
                    Sort::Enum(e) => Value::Enum(e, u32::try_from(number).ok()?),
                    Sort::BitVec(width) => Value::bits(width, number),
                    _ => return None,
                }
            }
            Meaning::Number(linear) => {
                let mut sum = linear.constant.clone();
                for (n, c) in &linear.of {
                    let near = self.simplex.value(*n);
                    sum += c * near.value.plus(near.beside.times(beside)?)?.exact();
                }
                match sort {
                    Sort::Int => Value::Int(sum.floor()),
                    _ => Value::Real(sum),
                }
            }
            Meaning::Opaque => sort.first_value(),
        })
    }
}

enum Decision {
    Made,
    Complete,
}

/// Luby's sequence: 1, 1, 2, 1, 1, 2, 4, ...
fn luby(mut i: u64) -> u64 {
    loop {
        let k = 64 - i.leading_zeros();
        if i == (1 << k) - 1 {
            return 1 << (k - 1);
        }
        i -= (1 << (k - 1)) - 1;
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn restarts_follow_lubys_sequence() {
        assert_eq!(
            (1..=15).map(super::luby).collect::<Vec<_>>(),
            [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]
        );
    }
}
