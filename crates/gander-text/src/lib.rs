//! Text from hostile sources, read and made safe to show.
//!
//! - [`Cursor`]: a position in a text, for lexers;
//! - `visible`: names, paths, messages: no control characters, no hidden characters, bounded
//!   length;
//! - [`csv`]: cells that a spreadsheet does not take for formulas.
//!
//! Pure functions without dependencies, so that every crate can use them.

pub mod csv;
mod cursor;
pub mod visible;

pub use cursor::Cursor;
pub use visible::{
    is_hidden, message, on_one_line, shortened, shown, shown_path, visible, visible_lines,
};
