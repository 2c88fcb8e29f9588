//! Arrays of unknown size, definitions of all elements of an array, and functions inlined as terms.

pub(in crate::lustre::elaborate) mod induction;
pub(in crate::lustre::elaborate) mod open_arrays;
pub(in crate::lustre::elaborate) mod pure;
