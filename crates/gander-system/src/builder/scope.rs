//! Scopes: which symbols a term may mention at its place.

use gander_term::{Op, Pool, SymbolId, TermId};

use crate::system::{TransitionId, VarId};

/// The meaning of a symbol in a system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    Unknown,
    Current,
    Next(VarId),
    Location,
    Param(TransitionId),
}

/// The place of a term, which decides what it may mention beside current variables.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// A formula about a state.
    State,
    /// A formula about a state that does not mention the node.
    Values,
    /// A term over a state and the parameters of a transition.
    Choice(TransitionId),
    /// A term over a state, the next one and the parameters of a transition.
    Step(TransitionId),
}

impl Place {
    fn allows(self, m: Meaning) -> bool {
        match m {
            Meaning::Unknown => false,
            Meaning::Current => true,
            Meaning::Next(_) => matches!(self, Place::Step(_)),
            Meaning::Location => matches!(self, Place::State),
            Meaning::Param(t) => matches!(self, Place::Choice(u) | Place::Step(u) if t == u),
        }
    }
}

const SEEN: u8 = 1;
const LOCATION: u8 = 2;
const NEXT: u8 = 4;
const UNKNOWN: u8 = 8;
const PARAM: u8 = 16;
/// Parameters of several transitions.
const MIXED: u8 = 32;

/// The meanings that occur in a term.
#[derive(Clone, Copy, Default, Debug)]
struct Scope {
    bits: u8,
    /// The transition whose parameters occur, if `PARAM`.
    param: u32,
}

impl Scope {
    fn with(self, other: Scope) -> Scope {
        let differ = self.bits & other.bits & PARAM != 0 && self.param != other.param;
        let mixed = if differ { MIXED } else { 0 };
        let param = if self.bits & PARAM != 0 { self.param } else { other.param };
        Scope { bits: self.bits | other.bits | mixed, param }
    }

    fn fits(self, place: Place) -> bool {
        let forbidden = match place {
            Place::State => NEXT | PARAM,
            Place::Values => NEXT | PARAM | LOCATION,
            Place::Choice(_) => NEXT | LOCATION,
            Place::Step(_) => LOCATION,
        };
        if self.bits & (forbidden | UNKNOWN | MIXED) != 0 {
            return false;
        }
        match place {
            Place::Choice(t) | Place::Step(t) => self.bits & PARAM == 0 || self.param == t.0,
            Place::State | Place::Values => true,
        }
    }
}

/// The meaning of every symbol, and a cache of the scopes of terms.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    meaning: Vec<Meaning>,
    /// By term; shared subterms are visited once.
    by_term: Vec<Scope>,
}

impl Scopes {
    /// Gives a symbol a meaning; returns the one that it had.
    pub(crate) fn declare(&mut self, s: SymbolId, meaning: Meaning) -> Meaning {
        if self.meaning.len() <= s.index() {
            self.meaning.resize(s.index() + 1, Meaning::Unknown);
        }
        std::mem::replace(&mut self.meaning[s.index()], meaning)
    }

    pub(crate) fn meaning(&self, s: SymbolId) -> Meaning {
        self.meaning.get(s.index()).copied().unwrap_or(Meaning::Unknown)
    }

    /// A symbol of the term that its place does not allow.
    pub(crate) fn offender(&mut self, pool: &Pool, t: TermId, place: Place) -> Option<SymbolId> {
        if self.scope(pool, t).fits(place) {
            return None;
        }
        pool.free_symbols(&[t]).into_iter().find(|&s| !place.allows(self.meaning(s)))
    }

    fn scope(&mut self, pool: &Pool, t: TermId) -> Scope {
        if self.by_term.len() < pool.len() {
            self.by_term.resize(pool.len().max(2 * self.by_term.len()), Scope::default());
        }
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            if self.by_term[top.index()].bits & SEEN != 0 {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack
                .extend(pool.args(top).iter().filter(|a| self.by_term[a.index()].bits & SEEN == 0));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let mut scope = match pool.op(top) {
                Op::Symbol(s) => self.symbol(pool, s),
                _ => pool
                    .args(top)
                    .iter()
                    .fold(Scope::default(), |acc, a| acc.with(self.by_term[a.index()])),
            };
            scope.bits |= SEEN;
            self.by_term[top.index()] = scope;
        }
        self.by_term[t.index()]
    }

    fn symbol(&self, pool: &Pool, s: SymbolId) -> Scope {
        let bits = |bits| Scope { bits, param: 0 };
        match self.meaning(s) {
            Meaning::Current => bits(0),
            Meaning::Next(_) => bits(NEXT),
            Meaning::Location => bits(LOCATION),
            Meaning::Param(t) => Scope { bits: PARAM, param: t.0 },
            Meaning::Unknown if pool.symbol(s).bound => bits(0),
            Meaning::Unknown => bits(UNKNOWN),
        }
    }
}
