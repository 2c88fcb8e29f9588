//! Ctrl-C: the first asks for an orderly end, the second ends at once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use gander::engines::Cancellation;

/// What shells expect of a program that Ctrl-C ended.
pub const ENDED_BY_SIGNAL: i32 = 130;

/// What the first signal cancels: a set-up, then the check behind it.
static TOKENS: Mutex<Vec<Cancellation>> = Mutex::new(Vec::new());

/// Cancels the token at the first signal, for the rest of the program.
pub fn cancel_on_signal(token: &Cancellation) {
    static ONCE: Once = Once::new();
    TOKENS.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
    ONCE.call_once(set_handler);
}

fn set_handler() {
    let signals = AtomicU32::new(0);
    // Without a handler Ctrl-C just ends the program, which is good enough.
    let _ = ctrlc::set_handler(move || {
        if signals.fetch_add(1, Ordering::SeqCst) == 0 {
            TOKENS.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Cancellation::cancel);
        } else {
            end_at_once();
        }
    });
}

#[allow(clippy::exit)]
fn end_at_once() {
    std::process::exit(ENDED_BY_SIGNAL);
}
