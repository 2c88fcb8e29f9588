//! Whose turn it is: the thread that works on diagrams goes on only while the engine has its turn.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

const WAIT: u8 = 0;
const GO: u8 = 1;
const STOP: u8 = 2;

/// See the module's documentation. Once stopped it stays so.
#[derive(Debug, Default)]
pub(super) struct PauseControl {
    word: AtomicU8,
    lock: Mutex<()>,
    changed: Condvar,
}

impl PauseControl {
    fn say(&self, word: u8) {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if self.word.load(Ordering::Relaxed) != STOP {
            self.word.store(word, Ordering::Relaxed);
        }
        drop(guard);
        self.changed.notify_all();
    }

    /// The other thread may go on.
    pub(super) fn go(&self) {
        self.say(GO);
    }

    /// The other thread is to pause when it next looks.
    pub(super) fn wait(&self) {
        self.say(WAIT);
    }

    /// The other thread is to end when it next looks.
    pub(super) fn stop(&self) {
        self.say(STOP);
    }

    /// Pauses as long as it has to; false if it is to end.
    #[inline]
    pub(super) fn may_go_on(&self) -> bool {
        match self.word.load(Ordering::Relaxed) {
            GO => true,
            STOP => false,
            _ => self.pause(),
        }
    }

    #[cold]
    fn pause(&self) -> bool {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.word.load(Ordering::Relaxed) == WAIT {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.word.load(Ordering::Relaxed) == GO
    }
}
