//! Lustre, as JKind and Kind 2 users write it. docs/lustre.md has the meaning of every construct.

pub mod ast;
