//! Messages about source text: their codes, places, suggestions and rendering.

pub mod codes;
pub(crate) mod diagnostic;
pub(crate) mod render;
pub(crate) mod report;
pub(crate) mod span;
pub(crate) mod suggest;
