//! Reachable states: storage, breadth-first exploration, and the graph of all of them.

pub(crate) mod explore;
pub(crate) mod graph;
pub(crate) mod store;
