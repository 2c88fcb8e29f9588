//! The process-wide state of the command.
//!
//! A signal handler and the watchdog thread do not run below the code that they observe, so what
//! they need is static. All statics of the command are here.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use gander::engines::Cancellation;

/// What the first signal cancels: a set-up, then the check behind it.
static TOKENS: Mutex<Vec<Cancellation>> = Mutex::new(Vec::new());

/// Sets the signal handler once.
pub(super) static HANDLER: Once = Once::new();

/// The mode of the terminal before a line is edited, while it is.
static TERMINAL: Mutex<Option<rustix::termios::Termios>> = Mutex::new(None);

/// Writes to standard output that are under way.
static WRITING: AtomicU32 = AtomicU32::new(0);

/// Lets [`cancel_all`] cancel the token.
pub(super) fn add_token(token: &Cancellation) {
    TOKENS.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
}

/// Cancels all tokens.
pub(super) fn cancel_all() {
    TOKENS.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Cancellation::cancel);
}

/// Does work that writes to standard output.
pub(super) fn while_writing(work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    WRITING.fetch_add(1, Ordering::SeqCst);
    let result = work();
    WRITING.fetch_sub(1, Ordering::SeqCst);
    result
}

/// True while standard output is being written, which may have to wait for its reader.
pub(super) fn is_writing() -> bool {
    WRITING.load(Ordering::SeqCst) > 0
}

/// Remembers the mode of the terminal, which is about to be changed.
pub fn remember_terminal() {
    let mode = rustix::termios::tcgetattr(io::stdin()).ok();
    *TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = mode;
}

/// The terminal is in the mode again that was remembered.
pub fn terminal_is_restored() {
    *TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Restores the mode of the terminal before the process ends.
pub(super) fn restore_terminal() {
    if let Some(mode) = TERMINAL.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // A failure cannot be reported any more.
        let _ =
            rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &mode);
    }
}
