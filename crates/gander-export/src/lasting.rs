//! Temporal claims for languages that know one question about infinite runs: does one have these formulas infinitely often?
//!
//! *Eventually P* is broken by a run that has no `P`: one that never sees it. *P leads to Q* is broken from a position with `P` on
//! which no `Q` follows: a variable guesses that position once and waits from then on, until `Q` shows that it was wrong. *Always
//! eventually P* is *true leads to P*. *Infinite run* is the contrary of *eventually no guard holds*. Runs that end repeat their last state, and are fair to everything.

use gander_term::{Sort, TermId};

use crate::flat::{Flat, Property, Var};

/// A claim that is broken by an infinite run with all of these infinitely often, and by no other.
pub(crate) struct Lasting {
    pub name: String,
    pub original: String,
    pub again: Vec<TermId>,
}

/// What the variables that watch runs say about first states and steps.
#[derive(Default)]
pub(crate) struct Watch {
    pub first: Vec<TermId>,
    pub step: Vec<TermId>,
}

impl Flat {
    /// The temporal claims, if every state has a next one in the text. Adds variables that watch runs, a parameter for each guess, and
    /// to the relation that states where no guard holds repeat. Claims with more formulas than `most` are not among them.
    pub(crate) fn lasting(&mut self, most: usize) -> Vec<Lasting> {
        let mut found = Vec::new();
        if !self.completable {
            return found;
        }
        for (name, original, property) in self.claims.clone() {
            let again = match property {
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
            found.push(Lasting { name, original, again });
        }
        self.repeats |= !found.is_empty();
        self.written = found.iter().map(|l| l.original.clone()).collect();
        found
    }

    /// A bool that watches, by its current and next value; false at first.
    fn watching(&mut self, name: &str) -> (TermId, TermId) {
        let name = self.names.fit(name);
        let (current, next) =
            (self.pool.declare_fresh(&name, Sort::Bool), self.pool.declare_fresh(&format!("{name}'"), Sort::Bool));
        self.vars.push(Var { name, sort: Sort::Bool, current, next, range: None });
        let (now, then) = (self.pool.var(current), self.pool.var(next));
        let off = self.pool.not(now);
        self.watch.first.push(off);
        (now, then)
    }

    /// The goal was not seen so far, and the first constraint holds; the others.
    fn unseen(&mut self, name: &str, goal: TermId, under: &[TermId]) -> Vec<TermId> {
        let (seen, then) = self.watching(&format!("{name}_seen"));
        let known = self.pool.or([seen, goal]);
        self.watch.step.push(self.pool.eq(then, known));
        let ended = self.ended();
        let mut again: Vec<TermId> = under.iter().map(|&j| self.pool.or([j, ended])).collect();
        let unseen = self.pool.not(seen);
        // What was seen stays seen, so both are true again and again if they are together.
        let first = again.first().copied().unwrap_or_else(|| self.pool.tt());
        let first = self.pool.and([unseen, first]);
        again.splice(..again.len().min(1), [first]);
        again
    }

    /// It waits, since a position with `from` that was guessed, for `to`.
    fn waiting(&mut self, name: &str, from: TermId, to: TermId) -> TermId {
        let (waits, waits_then) = self.watching(&format!("{name}_waits"));
        let (wrong, wrong_then) = self.watching(&format!("{name}_wrong"));
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
        self.watch.step.extend(steps);
        waits
    }
}
