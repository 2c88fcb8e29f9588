//! Pieces: sets of states at nodes, and how they were derived.
//!
//! A piece is a conjunction at a node. It is exact if a run leads to each of its states (up to the
//! values of irrelevant variables). It covers if it is a disjunct of the node's invariant, which is
//! the disjunction of the covering pieces. The invariant is exact if all of them are.
//!
//! Invariant: every state that a run of `k` steps reaches is in a covering piece of depth at most
//! `k`. So depths give lower bounds on the length of runs.

use gander_system::{NodeId, StartId, TransitionId};
use gander_term::{Pool, TermId};

use super::literals::{Facts, implies};

/// How a piece was derived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Derivation {
    Start(StartId),
    /// As the image of the piece with this index.
    Step(usize, TransitionId),
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub node: NodeId,
    pub conjuncts: Vec<TermId>,
    pub facts: Facts,
    pub exact: bool,
    pub covers: bool,
    pub derivations: Vec<Derivation>,
    pub depth: u32,
    /// Another piece, which may be deeper, contains all its states.
    pub contained: bool,
    /// In a component that is being closed: its images are computed or queued.
    pub followed: bool,
    /// The index of a visited state in it.
    pub visited: Option<usize>,
}

/// The pieces of all nodes.
#[derive(Default)]
pub(super) struct Pieces {
    pub all: Vec<Piece>,
    /// By node: its pieces, without those that were joined.
    pub at: Vec<Vec<usize>>,
}

impl Pieces {
    pub(super) fn new(nodes: usize) -> Pieces {
        Pieces { all: Vec::new(), at: vec![Vec::new(); nodes] }
    }

    /// The covering pieces at a node that no other piece contains.
    pub(super) fn covering(&self, n: NodeId) -> impl Iterator<Item = usize> + '_ {
        self.at[n.index()].iter().copied().filter(|&p| self.all[p].covers && !self.all[p].contained)
    }

    /// The invariant of a node.
    pub(super) fn invariant(&self, pool: &mut Pool, n: NodeId) -> TermId {
        let parts: Vec<TermId> =
            self.covering(n).map(|p| pool.and(self.all[p].conjuncts.iter().copied())).collect();
        pool.or(parts)
    }

    /// A piece at the node of `new` that syntactically contains it and is exact and covering if
    /// `new` is.
    pub(super) fn containing(&self, pool: &Pool, new: &Piece) -> Option<usize> {
        self.at[new.node.index()].iter().copied().find(|&p| {
            let old = &self.all[p];
            (old.exact || !new.exact)
                && (old.covers || !new.covers)
                && implies(pool, &new.facts, &new.conjuncts, &old.conjuncts)
        })
    }

    /// Adds a piece.
    pub(super) fn add(&mut self, piece: Piece) -> usize {
        let at = self.all.len();
        self.at[piece.node.index()].push(at);
        self.all.push(piece);
        at
    }

    /// True if every covering piece at the node is exact.
    pub(super) fn is_exact(&self, n: NodeId) -> bool {
        self.covering(n).all(|p| self.all[p].exact)
    }
}
