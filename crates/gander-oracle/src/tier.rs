//! How much random tests do.
//!
//! `cargo test` and `cargo xtask test` do little of each; `cargo xtask test --full` sets `GANDER_TESTS=full` and does all.

use std::io::Write;

/// Which tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tier {
    /// What a developer waits for.
    Fast,
    /// Everything.
    Full,
}

impl Tier {
    /// The tier that the environment asks for.
    pub fn current() -> Tier {
        if std::env::var_os("GANDER_TESTS").is_some_and(|v| v == "full") { Tier::Full } else { Tier::Fast }
    }

    /// The first number in the fast tier, the second one in the full tier.
    pub fn amount(fast: u64, full: u64) -> u64 {
        match Tier::current() {
            Tier::Fast => fast,
            Tier::Full => full,
        }
    }

    /// True in the full tier. In the fast tier the test is listed as skipped, in the file named by `GANDER_SKIP_LOG`.
    pub fn is_full(test: &str) -> bool {
        if Tier::current() == Tier::Full {
            return true;
        }
        if let Some(path) = std::env::var_os("GANDER_SKIP_LOG")
            && let Ok(mut log) = std::fs::OpenOptions::new().create(true).append(true).open(path)
        {
            // A missing line is only a missing line of the summary.
            let _ = writeln!(log, "{test}: runs with `cargo xtask test --full`");
        }
        false
    }
}
