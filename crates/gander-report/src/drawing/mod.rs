//! Drawings of control graphs: DOT for Graphviz, JSON, and SVG with a layout of our own.

mod dot;
mod json;
mod layout;
mod svg;

pub use dot::{to_dot, to_dot_all};
pub use json::graphs_json;
pub use layout::TooLarge;
pub(crate) use svg::{inline_svg, path_svg};
pub use svg::{panel_svg, to_svg, to_svg_all};
