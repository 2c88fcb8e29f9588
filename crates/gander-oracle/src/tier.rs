//! The amount of work of random tests.
//!
//! `cargo test` runs the quick tier: each crate in well under a minute. `cargo xtask test` sets
//! `GANDER_TESTS=fast`, and `cargo xtask test --full` sets `GANDER_TESTS=full`.

use std::io::Write;

/// Which tests run, from few to all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// One crate while it is edited.
    Quick,
    /// The whole workspace before a commit.
    Fast,
    /// Long runs of every test.
    Full,
}

/// The quick tier tries the cases of the fast tier divided by this.
const QUICK_DIVISOR: u64 = 5;

impl Tier {
    /// The tier that `GANDER_TESTS` selects.
    pub fn current() -> Tier {
        match std::env::var("GANDER_TESTS").as_deref() {
            Ok("full") => Tier::Full,
            Ok("fast") => Tier::Fast,
            _ => Tier::Quick,
        }
    }

    /// The number of cases: `fast` or `full` by the current tier, or a part of `fast`.
    pub fn amount(fast: u64, full: u64) -> u64 {
        match Tier::current() {
            Tier::Quick => fast.div_ceil(QUICK_DIVISOR),
            Tier::Fast => fast,
            Tier::Full => full,
        }
    }

    /// True in the full tier. In other tiers the test is listed as skipped, in the file named by
    /// `GANDER_SKIP_LOG`.
    pub fn is_full(test: &str) -> bool {
        Tier::is_at_least(Tier::Full, test, "cargo xtask test --full")
    }

    /// True in the fast and the full tier; listed as skipped otherwise.
    pub fn is_fast(test: &str) -> bool {
        Tier::is_at_least(Tier::Fast, test, "cargo xtask test")
    }

    fn is_at_least(least: Tier, test: &str, command: &str) -> bool {
        if Tier::current() >= least {
            return true;
        }
        if let Some(path) = std::env::var_os("GANDER_SKIP_LOG")
            && let Ok(mut log) = std::fs::OpenOptions::new().create(true).append(true).open(path)
        {
            // If this fails, only the summary lacks a line.
            let _ = writeln!(log, "{test}: runs with `{command}`");
        }
        false
    }
}
