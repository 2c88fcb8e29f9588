//! Models as other texts: formatted, drawn, or in the language of another tool.

pub mod export;
pub mod fmt;
pub mod graph;
