//! Parsers for the output of other model checkers, one module a tool or output format.
//!
//! They turn text into answers about properties, and counterexamples into names and values that are
//! still text. `gander-race` maps these to the variables of a system; `gander-bench` counts the
//! answers.
//!
//! Invariants:
//! - an answer is one that the tool documents; other text is not an answer;
//! - output may be cut short at any byte, because tools are killed: complete answers before the cut
//!   are found, incomplete ones are not;
//! - no text makes a parser panic.
//!
//! ```
//! use gander_tool_output::horn::{Dialect, Status};
//!
//! let dialect = Dialect::of("(declare-rel bad ())\n(query bad)");
//! let (status, _) = Status::first("unsat\n").expect("an answer");
//! assert_eq!(status.is_safe(dialect), Some(true));
//! // Cut short: no answer.
//! assert_eq!(Status::first("uns"), None);
//! ```

pub mod btor2;
pub mod horn;
pub mod jkind;
pub mod kind2;
pub mod lustre;
pub mod mikino;
pub mod smv;
pub mod uppaal;
