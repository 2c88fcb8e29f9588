//! The numeric limits that all engines share.
//!
//! They were chosen by hand. The shares of memory leave room for the other engines, the solvers and
//! the checker, which run at the same time.

/// See [`LIMITS`].
pub(super) struct Limits {
    /// Reachable states kept on the blackboard. They only guide other engines.
    pub states_kept: usize,

    /// Without a memory limit, an engine uses one part in this many of the memory of the machine.
    pub memory_share: u64,
    /// With a memory limit, an engine uses one part in this many of it.
    pub limit_share: u64,
    /// Bytes of an engine if the memory of the machine is not known.
    pub usual_memory: u64,

    /// The terms of all claims of an engine take at most one part in this many of its memory.
    pub claims_memory_share: u64,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    states_kept: 4096,
    memory_share: 4,
    limit_share: 2,
    usual_memory: 1 << 30,
    claims_memory_share: 8,
};
