//! The system under construction: its streams, and their translation to start, step and claims.

pub(in crate::lustre::elaborate) mod finish;
pub(in crate::lustre::elaborate) mod model;
pub(in crate::lustre::elaborate) mod streams;
