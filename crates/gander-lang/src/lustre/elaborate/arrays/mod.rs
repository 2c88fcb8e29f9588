//! Arrays whose size is open, and definitions of all their elements at once.

pub(in crate::lustre::elaborate) mod induction;
pub(in crate::lustre::elaborate) mod open_arrays;
pub(in crate::lustre::elaborate) mod pure;
