//! Compares random scripts with their meaning by brute force: `random_scripts [COUNT] [FIRST
//! SEED]`.

use std::io::Write;

#[path = "../tests/scripts/mod.rs"]
mod scripts;

fn main() -> std::io::Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|a| a.parse::<u64>().ok());
    let count = numbers.next().unwrap_or(5_000);
    let first = numbers.next().unwrap_or(0);
    let mut tally = scripts::Tally::default();
    let mut seed = first;
    while (tally.scripts as u64) < count {
        scripts::compare(seed, &mut tally).map_err(std::io::Error::other)?;
        seed += 1;
    }
    writeln!(std::io::stdout(), "{tally:?}, seeds {first} to {seed}")
}
