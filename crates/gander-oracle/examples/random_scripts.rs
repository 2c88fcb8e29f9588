//! Compares random scripts with their meaning by brute force: `random_scripts [COUNT] [FIRST SEED]`.

#[path = "../tests/scripts/mod.rs"]
mod scripts;

fn main() -> std::process::ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|a| a.parse::<u64>().ok());
    let count = numbers.next().unwrap_or(5_000);
    let first = numbers.next().unwrap_or(0);
    let mut tally = scripts::Tally::default();
    let mut seed = first;
    while (tally.scripts as u64) < count {
        if let Err(message) = scripts::compare(seed, &mut tally) {
            eprintln!("{message}");
            return std::process::ExitCode::FAILURE;
        }
        seed += 1;
    }
    println!("{tally:?}, seeds {first} to {seed}");
    std::process::ExitCode::SUCCESS
}
