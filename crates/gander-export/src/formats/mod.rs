//! One module for each output language.

pub(crate) mod btor2;
pub(crate) mod horn;
pub(crate) mod lustre;
pub(crate) mod script;
pub(crate) mod smt2;
pub(crate) mod smv;
pub(crate) mod sts;
pub(crate) mod uppaal;
pub(crate) mod vmt;
