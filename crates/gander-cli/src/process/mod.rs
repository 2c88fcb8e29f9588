//! The process: standard streams, signals, limits, progress.

mod interrupt;
mod output;
mod progress;
mod state;
mod watchdog;

pub use interrupt::{ENDED_BY_SIGNAL, cancel_on_signal};
pub use output::Output;
pub use progress::{Progress, ProgressLine};
pub use state::{remember_terminal, terminal_is_restored};
pub use watchdog::{Watchdog, memory_limit_text};

/// Exit code for wrong input or usage.
pub const WRONG: u8 = 2;

/// Exit code of a command that reached a limit.
pub const UNKNOWN: u8 = 3;
