//! The numeric limits of the search for candidates.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Depth of a subterm of the model that is taken as a candidate term.
    pub term_depth: u32,

    /// Time for one query of Houdini. A candidate whose query takes longer is dropped.
    pub houdini_query: Duration,
    /// Candidates whose violation one query asks for.
    pub houdini_chunk: usize,
    /// Queries of Houdini that fail before it gives up.
    pub houdini_failures: usize,

    /// Variables of an octagon. Its size is quadratic in them, its closure cubic.
    pub octagon_variables: usize,
    /// Models that widen the octagons before the analysis gives up.
    pub octagon_models: usize,
    /// Values of mode variables that states are told apart by.
    pub octagon_modes: usize,
    /// Nodes of a control graph that is analysed.
    pub octagon_nodes: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    term_depth: 60,
    houdini_query: Duration::from_millis(1500),
    houdini_chunk: 400,
    houdini_failures: 40,
    octagon_variables: 6,
    octagon_models: 120,
    octagon_modes: 6,
    octagon_nodes: 12,
};
