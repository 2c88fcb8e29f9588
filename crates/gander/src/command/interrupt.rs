//! Ctrl-C: the first asks for an orderly end, the second ends at once.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use gander::engines::CancelToken;

/// What shells expect of a program that Ctrl-C ended.
const ENDED_BY_SIGNAL: i32 = 130;

/// Cancels the token at the first signal. The first call counts, for the rest of the program.
pub fn cancel_on_signal(token: &CancelToken) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_handler(token));
}

fn set_handler(token: &CancelToken) {
    let token = token.clone();
    let signals = AtomicU32::new(0);
    // Without a handler Ctrl-C just ends the program, which is good enough.
    let _ = ctrlc::set_handler(move || {
        if signals.fetch_add(1, Ordering::SeqCst) == 0 {
            token.cancel();
        } else {
            end_at_once();
        }
    });
}

#[allow(clippy::exit)]
fn end_at_once() {
    std::process::exit(ENDED_BY_SIGNAL);
}
