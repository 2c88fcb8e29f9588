//! The system under construction: its streams, and how they become starts, steps and claims.

pub(in crate::lustre::elaborate) mod finish;
pub(in crate::lustre::elaborate) mod model;
pub(in crate::lustre::elaborate) mod streams;
