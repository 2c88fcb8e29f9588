//! Pause control: the worker thread runs only while the engine has its turn.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

const WAIT: u8 = 0;
const GO: u8 = 1;
const STOP: u8 = 2;

/// See the module's documentation. Stopping is permanent.
#[derive(Debug, Default)]
pub(super) struct PauseControl {
    word: AtomicU8,
    lock: Mutex<()>,
    changed: Condvar,
}

impl PauseControl {
    fn set(&self, word: u8) {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if self.word.load(Ordering::Relaxed) != STOP {
            self.word.store(word, Ordering::Relaxed);
        }
        drop(guard);
        self.changed.notify_all();
    }

    /// Lets the worker thread continue.
    pub(super) fn go(&self) {
        self.set(GO);
    }

    /// Makes the worker thread pause at its next check.
    pub(super) fn wait(&self) {
        self.set(WAIT);
    }

    /// Makes the worker thread end at its next check.
    pub(super) fn stop(&self) {
        self.set(STOP);
    }

    /// Waits while paused; false if the thread is to end.
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
