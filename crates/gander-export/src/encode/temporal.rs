//! Reduces temporal claims to one kind of query: is there an infinite run that satisfies each of
//! these formulas infinitely often?
//!
//! *Eventually P* is violated by a run without `P`. *P leads to Q* is violated from a state with
//! `P` after which `Q` never holds: a monitor variable guesses that state once and waits from then
//! on, until `Q` shows that the guess was wrong. *Always eventually P* is *true leads to P*.
//! *Infinite run* is the negation of *eventually no guard holds*. Runs that end repeat their last
//! state, and satisfy every fairness constraint.

use gander_term::{Sort, TermId};

use crate::encode::flat::{Flat, Property, Var};

/// A claim that is violated exactly by the infinite runs that satisfy all these formulas infinitely
/// often.
pub(crate) struct RecurrenceClaim {
    pub name: String,
    pub original: String,
    pub recurring: Vec<TermId>,
}

/// The constraints of the monitor variables on first states and steps.
#[derive(Default)]
pub(crate) struct Monitors {
    pub first: Vec<TermId>,
    pub step: Vec<TermId>,
}

impl Flat {
    /// The temporal claims, if every state has a successor in the text. Adds monitor variables, a
    /// parameter for each guess, and self-loops for states where no guard holds. Claims with more
    /// than `most` fairness constraints are omitted.
    pub(crate) fn recurrence_claims(&mut self, most: usize) -> Vec<RecurrenceClaim> {
        let mut found = Vec::new();
        if !self.completable {
            return found;
        }
        for (name, original, property) in self.claims.clone() {
            let recurring = match property {
                Property::Always(_) | Property::Reachable(_) => continue,
                Property::Eventually(_, under) if under.len() > most => continue,
                Property::Eventually(goal, under) => self.unseen(&name, goal, &under),
                Property::AlwaysEventually(goal) => {
                    let any = self.pool.tt();
                    vec![self.waiting(&name, any, goal)]
                }
                Property::LeadsTo(from, to) => vec![self.waiting(&name, from, to)],
                Property::InfiniteRun(ended) => self.unseen(&name, ended, &[]),
            };
            found.push(RecurrenceClaim { name, original, recurring });
        }
        self.repeats |= !found.is_empty();
        self.written = found.iter().map(|l| l.original.clone()).collect();
        found
    }

    /// Adds a Boolean monitor variable that is false at first; returns its current and next value.
    fn monitor(&mut self, name: &str) -> (TermId, TermId) {
        let name = self.names.fit(name);
        let (current, next) = (
            self.pool.declare_fresh(&name, Sort::Bool),
            self.pool.declare_fresh(&format!("{name}'"), Sort::Bool),
        );
        self.vars.push(Var { name, sort: Sort::Bool, current, next, range: None });
        let (now, then) = (self.pool.var(current), self.pool.var(next));
        let off = self.pool.not(now);
        self.monitors.first.push(off);
        (now, then)
    }

    /// The formulas that recur iff the goal never holds: "not seen so far", joined with the first
    /// fairness constraint, and the other constraints.
    fn unseen(&mut self, name: &str, goal: TermId, under: &[TermId]) -> Vec<TermId> {
        let (seen, then) = self.monitor(&format!("{name}_seen"));
        let known = self.pool.or([seen, goal]);
        self.monitors.step.push(self.pool.eq(then, known));
        let ended = self.ended();
        let mut recurring: Vec<TermId> = under.iter().map(|&j| self.pool.or([j, ended])).collect();
        let unseen = self.pool.not(seen);
        // `seen` never becomes false again, so both recur iff their conjunction does.
        let first = recurring.first().copied().unwrap_or_else(|| self.pool.tt());
        let first = self.pool.and([unseen, first]);
        recurring.splice(..recurring.len().min(1), [first]);
        recurring
    }

    /// True while the monitor waits for `to`, since a guessed state with `from`.
    fn waiting(&mut self, name: &str, from: TermId, to: TermId) -> TermId {
        let (waits, waits_then) = self.monitor(&format!("{name}_waits"));
        let (wrong, wrong_then) = self.monitor(&format!("{name}_wrong"));
        let guess = self.names.fit(&format!("{name}_guess"));
        let symbol = self.pool.declare_fresh(&guess, Sort::Bool);
        self.params.push((guess, Sort::Bool, symbol));
        self.param_ranges.push(None);
        let now = self.pool.var(symbol);
        let begins = self.pool.and([now, from]);
        let either = self.pool.or([waits, begins]);
        let (right, open) = (self.pool.not(wrong), self.pool.not(to));
        let goes_on = self.pool.and([right, either, open]);
        let came = self.pool.and([waits, to]);
        let was_wrong = self.pool.or([wrong, came]);
        let steps = [self.pool.eq(waits_then, goes_on), self.pool.eq(wrong_then, was_wrong)];
        self.monitors.step.extend(steps);
        waits
    }
}
