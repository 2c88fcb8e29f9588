//! Types: resolving type expressions, the layout of values in scalars, and the conditions of
//! declarations (subranges, subtypes).

pub(in crate::lustre::elaborate) mod datatypes;
pub(in crate::lustre::elaborate) mod layout;
pub(in crate::lustre::elaborate) mod machine;
pub(in crate::lustre::elaborate) mod refine;
pub(in crate::lustre::elaborate) mod resolve;
