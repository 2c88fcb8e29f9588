//! SMT-LIB 2: one reader of S-expressions, one reader and one printer of terms.
//!
//! Front-ends read files with it, sessions talk to solvers, exports write files. [`Tree`] holds
//! S-expressions and their positions, [`TermReader`] turns them into terms, [`push_operator`]
//! prints an operator with the meaning of docs/semantics.md. No function recurses over the input.

mod functions;
mod literal;
mod names;
mod print;
mod scanner;
mod terms;
mod tree;

pub use functions::to_real;
pub use literal::{bits, push_int, push_real, push_string, rational, unescape};
pub use names::{Encoded, declare_enum, encode, enum_sort, enum_variant};
pub use print::{Dialect, EnumStyle, Piece, Unprintable, push_operator, push_value, sort_name};
pub use scanner::Scanner;
pub use terms::{Annotation, Atom, Meaning, Mention, Problem, ProblemKind, Reading, TermReader};
pub use tree::{
    Id, Kind, Malformed, Sexpr, SyntaxError, SyntaxErrorKind, Tree, TreeConfig, shortened,
};
