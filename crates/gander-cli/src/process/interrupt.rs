//! Ctrl-C: the first cancels the work, the second ends the process at once.

use std::sync::atomic::{AtomicU32, Ordering};

use gander::engines::Cancellation;

use super::state::{HANDLER, add_token, cancel_all};

/// The exit code that shells expect of a program that Ctrl-C ended.
pub const ENDED_BY_SIGNAL: u8 = 130;

/// Cancels the token at the first signal, for the rest of the program.
pub fn cancel_on_signal(token: &Cancellation) {
    add_token(token);
    HANDLER.call_once(set_handler);
}

fn set_handler() {
    let signals = AtomicU32::new(0);
    // If no handler can be set, Ctrl-C ends the process, which is acceptable.
    let _ = ctrlc::set_handler(move || {
        if signals.fetch_add(1, Ordering::SeqCst) == 0 {
            cancel_all();
        } else {
            end_at_once();
        }
    });
}

#[allow(clippy::exit)]
fn end_at_once() {
    std::process::exit(i32::from(ENDED_BY_SIGNAL));
}
