//! Systems compiled for enumerating start states and successors of packed states.

pub(crate) mod code;
pub(crate) mod layout;
pub(crate) mod machine;
pub(crate) mod plan;
