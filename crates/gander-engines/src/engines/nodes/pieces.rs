//! Sets of states at nodes: what the analysis knows, with the ways it got to know it.
//!
//! A *piece* is a conjunction at a node. It is *exact* if some run leads to each of its states (up to the values of
//! variables that do not matter there), and it *covers* if the invariant of the node is made of it. The invariant of a node
//! is the disjunction of the pieces that cover; it is exact if all of them are.
//!
//! The depth of a piece bounds runs from below: a state that a run of `k` steps is in lies in some covering piece whose
//! depth is at most `k`.

use gander_system::{NodeId, StartId, TransitionId};
use gander_term::{Pool, TermId};

use super::literals::{Facts, implies};

/// How the states of a piece come about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Start(StartId),
    /// By a step from the piece with this number.
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
    pub ways: Vec<Way>,
    pub depth: u32,
    /// Another piece has all of its states, but may be deeper.
    pub contained: bool,
    /// In a component that is being closed: its images are taken, or will be.
    pub followed: bool,
    /// A concrete state in it with a run: its number among the visited ones.
    pub visited: Option<usize>,
}

/// What is known of the states of all nodes.
#[derive(Default)]
pub(super) struct Pieces {
    pub all: Vec<Piece>,
    /// By node: its pieces that were not made part of others.
    pub at: Vec<Vec<usize>>,
}

impl Pieces {
    pub(super) fn new(nodes: usize) -> Pieces {
        Pieces { all: Vec::new(), at: vec![Vec::new(); nodes] }
    }

    /// The pieces at a node that cover, without those that others contain.
    pub(super) fn covering(&self, n: NodeId) -> impl Iterator<Item = usize> + '_ {
        self.at[n.index()].iter().copied().filter(|&p| self.all[p].covers && !self.all[p].contained)
    }

    /// The invariant of a node.
    pub(super) fn invariant(&self, pool: &mut Pool, n: NodeId) -> TermId {
        let parts: Vec<TermId> = self.covering(n).map(|p| pool.and(self.all[p].conjuncts.iter().copied())).collect();
        pool.or(parts)
    }

    /// A piece at the node that plainly contains the states that satisfy `conjuncts` and is as good for all it is used for.
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

    /// Every covering piece at the node is exact.
    pub(super) fn is_exact(&self, n: NodeId) -> bool {
        self.covering(n).all(|p| self.all[p].exact)
    }
}
