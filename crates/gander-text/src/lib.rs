//! Text from hostile sources, read and made safe to show.
//!
//! - [`Cursor`]: a position in a text, for lexers;
//! - `visible`: names, paths, messages: no control characters, no hidden characters, bounded
//!   length;
//! - [`csv`]: cells that a spreadsheet does not take for formulas;
//! - [`json`]: texts of clients that are no text in Unicode.
//!
//! Pure functions without dependencies, so that every crate can use them.
//!
//! ```
//! use gander_text::{Cursor, csv, visible};
//!
//! assert_eq!(visible("a\u{1b}[8m"), "a<U+001B>[8m");
//! assert_eq!(csv::cell("=1+1"), "'=1+1");
//!
//! let mut cursor = Cursor::new("int x");
//! cursor.bump(cursor.run(0, char::is_alphabetic));
//! assert_eq!(cursor.rest(), " x");
//! ```

pub mod csv;
mod cursor;
pub mod json;
pub mod visible;

pub use cursor::Cursor;
pub use visible::{
    is_hidden, message, on_one_line, shortened, shown, shown_path, visible, visible_lines,
};
