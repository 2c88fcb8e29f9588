//! Cancelling: one call stops whatever hangs on a token, solver children included.
//!
//! A token is a flag and a list of actions. [`CancelToken::cancel`] sets the flag and runs every action once; an action
//! registered later runs at once. Solver sessions register their [`Killer`], so an engine that waits for a solver
//! is woken by the death of the child. Tokens form a tree: cancelling a parent cancels its children. Work that heeds
//! [`CancelToken::sign`] ends in the middle of a long loop.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gander_smt::Killer;
use gander_term::stop::StopSign;

type Action = Box<dyn FnOnce() + Send>;

/// A request to stop; see the module's documentation. Clones are the same token.
#[derive(Clone, Default)]
pub struct CancelToken {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    cancelled: Arc<AtomicBool>,
    actions: Mutex<Vec<Action>>,
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("cancelled", &self.is_cancelled()).finish()
    }
}

/// Locks a mutex whose data stays meaningful if a holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CancelToken {
    /// A token that nobody has cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Stops everything that hangs on the token. Calling it again does nothing.
    pub fn cancel(&self) {
        self.inner.cancelled.store(true, Ordering::SeqCst);
        // Actions run without the lock: they may cancel or register further tokens.
        let actions = std::mem::take(&mut *lock(&self.inner.actions));
        for action in actions {
            action();
        }
    }

    /// True once [`CancelToken::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancelled.load(Ordering::SeqCst)
    }

    /// The sign that is up once the token is cancelled.
    pub fn sign(&self) -> StopSign {
        StopSign::when(&self.inner.cancelled)
    }

    /// Runs `action` when the token is cancelled; now, if it is already.
    pub fn on_cancel(&self, action: impl FnOnce() + Send + 'static) {
        lock(&self.inner.actions).push(Box::new(action));
        if self.is_cancelled() {
            self.cancel();
        }
    }

    /// A token that is cancelled with this one, and can be cancelled alone.
    pub fn child(&self) -> CancelToken {
        let child = CancelToken::new();
        let weak = Arc::downgrade(&child.inner);
        self.on_cancel(move || {
            if let Some(inner) = weak.upgrade() {
                CancelToken { inner }.cancel();
            }
        });
        child
    }

    /// Kills the children of `killer` when the token is cancelled.
    pub fn kills(&self, killer: &Killer) {
        let killer = killer.clone();
        self.on_cancel(move || killer.kill());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn actions_run_once_also_when_late() {
        let token = CancelToken::new();
        let count = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&count);
        token.on_cancel(move || {
            seen.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(count.load(Ordering::SeqCst), 0);
        token.cancel();
        token.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        let seen = Arc::clone(&count);
        token.on_cancel(move || {
            seen.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn children_follow_parents_only() {
        let parent = CancelToken::new();
        let (a, b) = (parent.child(), parent.child());
        a.cancel();
        assert!(a.is_cancelled() && !parent.is_cancelled() && !b.is_cancelled());
        parent.cancel();
        assert!(b.is_cancelled() && parent.child().is_cancelled());
    }

    #[test]
    fn killers_are_tripped() {
        let token = CancelToken::new();
        let killer = Killer::new();
        token.kills(&killer);
        assert!(!killer.is_tripped());
        token.cancel();
        assert!(killer.is_tripped());
    }
}
