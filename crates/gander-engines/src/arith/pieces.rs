//! Where the solutions of a formula for one unknown can lie: a union of intervals with terms as
//! ends.
//!
//! The union contains every value of `x` for which the formula can be true; it is all of the sort
//! where nothing is seen. Conjunctions meet, disjunctions join, literals that are linear in an int
//! `x` give one end or both, and an equation with a term gives a point, whatever the sort.

use gander_term::{Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashSet;

use crate::arith::eliminate::{int_bounds, solution_of};
use crate::arith::limits::LIMITS;

/// From the greatest of the lower ends to the least of the upper ones; without an end where there
/// is none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Piece {
    pub lower: Vec<TermId>,
    pub upper: Vec<TermId>,
}

impl Piece {
    pub(crate) fn is_bounded(&self) -> bool {
        !self.lower.is_empty() && !self.upper.is_empty()
    }
}

/// The intervals of `x` that `t` allows. Ends mention nothing that is open.
pub(crate) fn pieces(
    pool: &mut Pool,
    x: SymbolId,
    t: TermId,
    open: &FxHashSet<SymbolId>,
) -> Vec<Piece> {
    signed_pieces(pool, x, t, true, open, LIMITS.pieces_depth)
}

/// The intervals that `t` allows, or its negation if it is not `positive`. Recursion is bounded by
/// `depth`.
fn signed_pieces(
    pool: &mut Pool,
    x: SymbolId,
    t: TermId,
    positive: bool,
    open: &FxHashSet<SymbolId>,
    depth: u32,
) -> Vec<Piece> {
    let everything = vec![Piece::default()];
    let Some(depth) = depth.checked_sub(1) else { return everything };
    if let Some(b) = pool.as_bool(t) {
        return if b == positive { everything } else { Vec::new() };
    }
    let args = pool.args(t).to_vec();
    let bools = args.first().is_some_and(|&a| pool.sort(a) == Sort::Bool);
    match (pool.op(t), positive) {
        (Op::Not, _) => signed_pieces(pool, x, args[0], !positive, open, depth),
        (Op::And, true) | (Op::Or, false) => {
            let mut all = everything;
            for a in args {
                let found = signed_pieces(pool, x, a, positive, open, depth);
                all = meet(&all, &found);
            }
            all
        }
        (Op::Or, true) | (Op::And, false) => {
            let mut all = Vec::new();
            for a in args {
                all.extend(signed_pieces(pool, x, a, positive, open, depth));
            }
            join(all)
        }
        (Op::Implies, true) => {
            let mut all = signed_pieces(pool, x, args[0], false, open, depth);
            all.extend(signed_pieces(pool, x, args[1], true, open, depth));
            join(all)
        }
        (Op::Implies, false) => {
            let a = signed_pieces(pool, x, args[0], true, open, depth);
            let b = signed_pieces(pool, x, args[1], false, open, depth);
            meet(&a, &b)
        }
        (Op::Ite, _) => {
            let mut all = Vec::new();
            for (test, branch) in [(true, args[1]), (false, args[2])] {
                let c = signed_pieces(pool, x, args[0], test, open, depth);
                let b = signed_pieces(pool, x, branch, positive, open, depth);
                all.extend(meet(&c, &b));
            }
            join(all)
        }
        (Op::Eq, _) if bools && pool.symbol(x).sort != Sort::Bool => {
            let mut all = Vec::new();
            for first in [true, false] {
                let a = signed_pieces(pool, x, args[0], first, open, depth);
                let b = signed_pieces(pool, x, args[1], first == positive, open, depth);
                all.extend(meet(&a, &b));
            }
            join(all)
        }
        _ => {
            let literal = if positive { t } else { pool.not(t) };
            vec![of_literal(pool, x, literal, open)]
        }
    }
}

fn of_literal(pool: &mut Pool, x: SymbolId, literal: TermId, open: &FxHashSet<SymbolId>) -> Piece {
    let known =
        |pool: &Pool, t: &TermId| pool.free_symbols(&[*t]).iter().all(|s| !open.contains(s));
    let ends = match solution_of(pool, x, literal) {
        Some(e) => (Some(e), Some(e)),
        None => match int_bounds(pool, x, literal) {
            Some(b) => (b.lower, b.upper),
            None => (None, None),
        },
    };
    let lower = ends.0.filter(|t| known(pool, t)).into_iter().collect();
    let upper = ends.1.filter(|t| known(pool, t)).into_iter().collect();
    Piece { lower, upper }
}

/// What lies in both unions; one of them if there would be too many pieces.
pub(crate) fn meet(a: &[Piece], b: &[Piece]) -> Vec<Piece> {
    if a.len() * b.len() > LIMITS.pieces {
        let bounded = |p: &[Piece]| p.iter().all(Piece::is_bounded);
        return if bounded(b) && !bounded(a) { b.to_vec() } else { a.to_vec() };
    }
    let both = |p: &Piece, q: &Piece| {
        let mut piece = p.clone();
        piece.lower.extend(q.lower.iter().filter(|t| !p.lower.contains(t)));
        piece.upper.extend(q.upper.iter().filter(|t| !p.upper.contains(t)));
        piece
    };
    let mut all: Vec<Piece> = Vec::new();
    for piece in a.iter().flat_map(|p| b.iter().map(move |q| both(p, q))) {
        if !all.contains(&piece) {
            all.push(piece);
        }
    }
    all
}

/// A union; everything if it has too many pieces.
fn join(mut all: Vec<Piece>) -> Vec<Piece> {
    let mut unique: Vec<Piece> = Vec::new();
    for piece in all.drain(..) {
        if piece == Piece::default() {
            return vec![piece];
        }
        if !unique.contains(&piece) {
            unique.push(piece);
        }
    }
    if unique.len() > LIMITS.pieces { vec![Piece::default()] } else { unique }
}

/// Formulas with nested conjunctions opened, each once.
pub(crate) fn flatten(pool: &Pool, formulas: &[TermId]) -> Vec<TermId> {
    let mut seen = FxHashSet::default();
    let mut flat = Vec::new();
    let mut stack: Vec<TermId> = formulas.iter().rev().copied().collect();
    while let Some(t) = stack.pop() {
        if pool.op(t) == Op::And {
            stack.extend(pool.args(t).iter().rev());
        } else if pool.as_bool(t) != Some(true) && seen.insert(t) {
            flat.push(t);
        }
    }
    flat
}
