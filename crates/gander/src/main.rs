//! The `gander` command.
fn main() {}
