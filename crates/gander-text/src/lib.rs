//! Text from hostile sources, made safe to show.
//!
//! - [`visible`]: names, paths, messages: no control characters, no hidden characters, bounded length;
//! - [`csv`]: cells that a spreadsheet does not take for formulas.
//!
//! Pure functions without dependencies, so that every crate can use them.

pub mod csv;
pub mod visible;

pub use visible::{is_hidden, message, on_one_line, shortened, shown, shown_path, visible, visible_lines};
