//! A solver that misbehaves on purpose.
fn main() {}
