//! Types: what type expressions stand for, how values are laid out in scalars, and what declarations promise.

pub(in crate::lustre::elaborate) mod datatypes;
pub(in crate::lustre::elaborate) mod layout;
pub(in crate::lustre::elaborate) mod machine;
pub(in crate::lustre::elaborate) mod refine;
pub(in crate::lustre::elaborate) mod resolve;
