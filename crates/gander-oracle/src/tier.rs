//! The amount of work of random tests.
//!
//! `cargo test` and `cargo xtask test` run the fast tier; `cargo xtask test --full` sets
//! `GANDER_TESTS=full` and runs the full tier.

use std::io::Write;

/// Which tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tier {
    /// Short runs, for development.
    Fast,
    /// Long runs of every test.
    Full,
}

impl Tier {
    /// The tier that `GANDER_TESTS` selects.
    pub fn current() -> Tier {
        if std::env::var_os("GANDER_TESTS").is_some_and(|v| v == "full") {
            Tier::Full
        } else {
            Tier::Fast
        }
    }

    /// Returns `fast` or `full`, by the current tier.
    pub fn amount(fast: u64, full: u64) -> u64 {
        match Tier::current() {
            Tier::Fast => fast,
            Tier::Full => full,
        }
    }

    /// True in the full tier. In the fast tier the test is listed as skipped, in the file named by
    /// `GANDER_SKIP_LOG`.
    pub fn is_full(test: &str) -> bool {
        if Tier::current() == Tier::Full {
            return true;
        }
        if let Some(path) = std::env::var_os("GANDER_SKIP_LOG")
            && let Ok(mut log) = std::fs::OpenOptions::new().create(true).append(true).open(path)
        {
            // If this fails, only the summary lacks a line.
            let _ = writeln!(log, "{test}: runs with `cargo xtask test --full`");
        }
        false
    }
}
