//! Installs z3 and yices-smt2 into the cache: `cargo run -p gander-smt --example setup`.
#![allow(clippy::print_stdout)]

use gander_smt::setup;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cache = setup::cache_folder().ok_or(setup::SetupError::NoCacheFolder)?;
    for kind in setup::SOLVERS {
        println!("{:?}", setup::install(&cache, kind, &gander_runtime::Cancellation::new())?);
    }
    Ok(())
}
