//! Checks: causality, uses of `pre` and `->`, and the dialect of a program.

pub(in crate::lustre::elaborate) mod causality;
pub(in crate::lustre::elaborate) mod dialect;
pub(in crate::lustre::elaborate) mod memory;
