//! The numeric limits of decision diagrams.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Cases of a diagram that is written as a formula.
    pub formula_cases: usize,
    /// Parts of a conjunction that are searched for common ones.
    pub common_parts: usize,

    /// Bytes of the stack. Recursion over diagrams is as deep as there are variables.
    pub stack: usize,
    /// Time for which one piece of work waits for the thread of the diagrams.
    pub wait: Duration,
    /// Bytes of a node with its share of the tables.
    pub node_bytes: u64,
    /// Nodes of the first attempt; each further attempt has eight times as many.
    pub first_nodes: usize,
    /// Nodes, and entries of the cache, that an attempt has at least.
    pub least_nodes: usize,
    /// Nodes that an attempt has at most.
    pub most_nodes: usize,

    /// Rounds of the force-directed variable order.
    pub order_rounds: usize,
    /// Variables of a formula that pulls them together in the variable order.
    pub order_group: usize,

    /// Bits of an int variable in the first attempt.
    pub first_bits: usize,
    /// Bits of ints in the last attempt.
    pub int_bits: usize,

    /// Nodes of a part of the transition relation up to which parts are joined.
    pub part_nodes: usize,

    /// Bits of an intermediate result.
    pub vector_bits: usize,
    /// Width of bit-vectors that are multiplied.
    pub product_bits: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    formula_cases: 200_000,
    common_parts: 32,
    stack: 512 << 20,
    wait: Duration::from_millis(50),
    node_bytes: 40,
    first_nodes: 1 << 20,
    least_nodes: 1 << 12,
    most_nodes: 1 << 30,
    order_rounds: 40,
    order_group: 40,
    first_bits: 4,
    int_bits: 24,
    part_nodes: 600,
    vector_bits: 40,
    product_bits: 16,
};
