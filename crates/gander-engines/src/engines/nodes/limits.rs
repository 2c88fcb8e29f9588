//! The numeric limits of node invariants.

use std::time::Duration;

use crate::candidates::candidate_terms::MaxTerms;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Time for one question of the analysis.
    pub query: Duration,
    /// Time of the first round; each further round has four times as much.
    pub first_round: Duration,
    /// Images of a component in the first round; each further round has four times as many.
    pub first_images: usize,
    /// Pieces at a node; more are joined to one that is not exact.
    pub pieces: usize,
    /// Derivations of a piece that are remembered.
    pub derivations: usize,
    /// Pieces of different depths that are kept apart.
    pub depth_pieces: usize,

    /// Simplified terms that are cached.
    pub simplified_terms: usize,
    /// Disjuncts of an image that are split.
    pub disjuncts: usize,
    /// Conjuncts of a piece; larger conjunctions are weakened.
    pub conjuncts: usize,

    /// Terms of a sum whose bounds are compared.
    pub sum_terms: usize,

    /// Duration of one turn, approximately.
    pub turn: Duration,

    /// Candidate terms of the octagon analysis.
    pub octagon_terms: MaxTerms,
    /// Claims whose formulas give candidate terms to the octagon analysis.
    pub octagon_claims: usize,
    /// Candidates of the octagon analysis at all nodes together.
    pub octagon_candidates: usize,

    /// Time for one question about a claim.
    pub settle_query: Duration,

    /// Candidates for strengthening at one node.
    pub candidates: usize,
    /// Time for one question about a candidate.
    pub strengthen_query: Duration,
    /// Time for all questions about candidates.
    pub strengthen: Duration,

    /// Time for one question about a step.
    pub step_query: Duration,
    /// Values that are tried for a parameter before a solver is asked.
    pub guesses: usize,
    /// Legs that are written for sharing between runs.
    pub shared_legs: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    query: Duration::from_secs(2),
    first_round: Duration::from_millis(250),
    first_images: 12,
    pieces: 16,
    derivations: 200,
    depth_pieces: 4,
    simplified_terms: 100_000,
    disjuncts: 12,
    conjuncts: 48,
    sum_terms: 32,
    turn: Duration::from_millis(30),
    octagon_terms: MaxTerms { truths: 16, numbers: 12 },
    octagon_claims: 64,
    octagon_candidates: 240,
    settle_query: Duration::from_secs(2),
    candidates: 96,
    strengthen_query: Duration::from_millis(300),
    strengthen: Duration::from_secs(3),
    step_query: Duration::from_secs(3),
    guesses: 24,
    shared_legs: 2_000_000,
};
