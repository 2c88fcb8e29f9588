//! Checks of a program before it is lowered: causality, memory operators, the dialect.

pub(in crate::lustre::elaborate) mod causality;
pub(in crate::lustre::elaborate) mod dialect;
pub(in crate::lustre::elaborate) mod memory;
