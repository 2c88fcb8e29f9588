//! The facts of a case, closed under conjunction and negation. Trusted.

use gander_term::{Op, Pool, Sort, TermId};
use rustc_hash::FxHashMap;

use crate::proof::Fact;

/// Facts that are assumed together.
pub(crate) struct Facts<'p> {
    pub(crate) pool: &'p Pool,
    /// In order of insertion.
    pub(crate) list: Vec<Fact>,
    /// The truth value of each formula that is a fact.
    values: FxHashMap<TermId, bool>,
    /// Some formula holds and fails.
    pub(crate) clash: bool,
}

/// A point to which facts can be undone.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    length: usize,
    clash: bool,
}

impl<'p> Facts<'p> {
    pub(crate) fn new(pool: &'p Pool) -> Facts<'p> {
        Facts { pool, list: Vec::new(), values: FxHashMap::default(), clash: false }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { length: self.list.len(), clash: self.clash }
    }

    /// Removes the facts after the mark.
    pub(crate) fn undo(&mut self, mark: Mark) {
        for fact in self.list.drain(mark.length..) {
            if let Fact::Holds(t) | Fact::Fails(t) = fact {
                self.values.remove(&t);
            }
        }
        self.clash = mark.clash;
    }

    /// The truth value of a formula, if it is known.
    pub(crate) fn value(&self, t: TermId) -> Option<bool> {
        match self.pool.op(t) {
            Op::Bool(b) => Some(b),
            Op::Not => self.values.get(self.pool.args(t).first()?).map(|b| !b),
            _ => self.values.get(&t).copied(),
        }
    }

    /// Adds a fact, and what follows from it without case splits.
    pub(crate) fn assume(&mut self, fact: Fact) {
        let mut stack = match fact {
            Fact::Holds(t) => vec![(t, true)],
            Fact::Fails(t) => vec![(t, false)],
            other => {
                self.list.push(other);
                return;
            }
        };
        while let Some((t, truth)) = stack.pop() {
            let op = self.pool.op(t);
            match op {
                Op::Not => {
                    stack.extend(self.pool.args(t).iter().map(|&a| (a, !truth)));
                    continue;
                }
                Op::Bool(b) => {
                    self.clash |= b != truth;
                    continue;
                }
                _ => {}
            }
            match self.values.get(&t) {
                Some(&known) => {
                    self.clash |= known != truth;
                    continue;
                }
                None => self.values.insert(t, truth),
            };
            self.list.push(if truth { Fact::Holds(t) } else { Fact::Fails(t) });
            match (op, self.pool.args(t)) {
                (Op::And, args) if truth => stack.extend(args.iter().map(|&a| (a, true))),
                (Op::Or, args) if !truth => stack.extend(args.iter().map(|&a| (a, false))),
                (Op::Implies, &[a, b]) if !truth => stack.extend([(a, true), (b, false)]),
                _ => {}
            }
        }
    }

    /// True if this is one of the facts.
    pub(crate) fn contains(&self, fact: &Fact) -> bool {
        match *fact {
            Fact::Holds(t) => self.values.get(&t) == Some(&true),
            Fact::Fails(t) => self.values.get(&t) == Some(&false),
            _ => self.list.contains(fact),
        }
    }

    /// The alternatives of a fact: if it holds, all facts of one of these lists hold. `None` if it
    /// has no alternatives.
    pub(crate) fn alternatives(&self, fact: &Fact) -> Option<Vec<Vec<Fact>>> {
        let (t, truth) = match *fact {
            Fact::Holds(t) => (t, true),
            Fact::Fails(t) => (t, false),
            _ => return None,
        };
        let is = |t: TermId, truth: bool| if truth { Fact::Holds(t) } else { Fact::Fails(t) };
        Some(match (self.pool.op(t), self.pool.args(t), truth) {
            (Op::Or, args, true) | (Op::And, args, false) => {
                args.iter().map(|&a| vec![is(a, truth)]).collect()
            }
            (Op::Implies, &[a, b], true) => vec![vec![is(a, false)], vec![is(b, true)]],
            (Op::Ite, &[c, a, b], _) => {
                vec![vec![is(c, true), is(a, truth)], vec![is(c, false), is(b, truth)]]
            }
            (Op::Eq, &[a, b], _) if self.pool.sort(a) == Sort::Bool => {
                vec![vec![is(a, true), is(b, truth)], vec![is(a, false), is(b, !truth)]]
            }
            (Op::Eq, &[a, _], false) if is_number(self.pool.sort(a)) => {
                vec![vec![Fact::Less(t)], vec![Fact::Greater(t)]]
            }
            _ => return None,
        })
    }
}

pub(crate) fn is_number(sort: Sort) -> bool {
    matches!(sort, Sort::Int | Sort::Real)
}
