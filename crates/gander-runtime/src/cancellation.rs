//! Cancellation: one type for every way of stopping work.
//!
//! A [`Cancellation`] is cancelled by a call of [`Cancellation::cancel`], by its deadline, or with
//! its parent. Work learns of it in three ways:
//! - [`Cancellation::run_cancellable`] runs work on this thread. Loops in it that may be long (over
//!   terms, over the values of a quantifier, over transitions) call [`check_cancelled`]. Once
//!   cancelled, that call does not return: the stack unwinds to `run_cancellable`, which returns
//!   [`Stopped`]. Incomplete results are dropped, so nothing is concluded from them.
//! - [`Cancellation::is_cancelled`] is for code that stops in its own way.
//! - [`Cancellation::on_cancel`] registers an action, such as killing a solver. A deadline runs no
//!   actions: code that waits for a solver passes the deadline to it.
//!
//! Salsa's cancellation, as used by rust-analyzer, is the model. The unwinding is not a panic: no
//! hook runs, and it never leaves `run_cancellable`. The check costs about as much as decrementing
//! a counter. A thread that takes over a part of the work runs it under [`Cancellation::current`]
//! of the first thread. The memory limit ([`crate::memory`]) stops work in the same way; then the
//! innermost `run_cancellable` returns.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::memory;

/// Calls of [`check_cancelled`] between two real checks: about 10 ms, if 20 microseconds pass
/// between two calls.
const CALLS_PER_CHECK: u32 = 512;

/// How often a thread that waits for another thread checks for cancellation.
const POLL: Duration = Duration::from_millis(5);
/// How long it still waits for a result after cancellation.
const LAST_WAIT: Duration = Duration::from_millis(5);

/// Bytes of stack of a thread for work, as many as the main thread has.
const STACK: usize = 8 << 20;

thread_local! {
    /// Calls until the next real check.
    static CALLS_LEFT: Cell<u32> = const { Cell::new(CALLS_PER_CHECK) };
    /// The cancellations that apply to work on this thread, outermost first.
    static RUNNING_UNDER: RefCell<Vec<Cancellation>> = const { RefCell::new(Vec::new()) };
}

/// Why work stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// It was cancelled, or its deadline passed.
    Cancelled,
    /// The memory limit was reached.
    OutOfMemory,
}

type Action = Box<dyn FnOnce() + Send>;

/// A request to stop; see the module's documentation. Clones are the same request.
#[derive(Clone, Default)]
pub struct Cancellation {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    flag: AtomicBool,
    deadline: Option<Instant>,
    /// This is cancelled if one of these is.
    parents: Vec<Cancellation>,
    /// Calls of [`Cancellation::is_cancelled`] left until it is, for tests.
    countdown: Option<AtomicU64>,
    actions: Mutex<Actions>,
    /// Registrations with the parents, made with the first action.
    links: OnceLock<Vec<CancelGuard>>,
}

#[derive(Default)]
struct Actions {
    next: u64,
    list: Vec<(u64, Action)>,
}

/// An action that is registered as long as this is not dropped.
#[must_use]
pub struct CancelGuard {
    of: Weak<Inner>,
    number: u64,
}

impl fmt::Debug for CancelGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelGuard").finish_non_exhaustive()
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        if let Some(inner) = self.of.upgrade() {
            let mut actions = lock(&inner.actions);
            let removed = actions
                .list
                .iter()
                .position(|(n, _)| *n == self.number)
                .map(|at| actions.list.swap_remove(at));
            // Dropping an action may run any code, so release the lock first.
            drop(actions);
            drop(removed);
        }
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation").field("is_cancelled", &self.is_cancelled()).finish()
    }
}

/// Locks a mutex whose data stays meaningful if a holder panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cancellation {
    /// A request that is not cancelled.
    pub fn new() -> Cancellation {
        Cancellation::default()
    }

    fn below(parents: Vec<Cancellation>, deadline: Option<Instant>) -> Cancellation {
        Cancellation { inner: Arc::new(Inner { parents, deadline, ..Inner::default() }) }
    }

    /// Registers with the parents, so that the actions of this run when a parent is cancelled.
    fn links(&self) -> Vec<CancelGuard> {
        let link = |parent: &Cancellation| {
            let weak = Arc::downgrade(&self.inner);
            parent.on_cancel_while(move || {
                if let Some(inner) = weak.upgrade() {
                    Cancellation { inner }.cancel();
                }
            })
        };
        self.inner.parents.iter().map(link).collect()
    }

    /// A child: it is cancelled with this one, and can be cancelled alone.
    pub fn child(&self) -> Cancellation {
        Cancellation::below(vec![self.clone()], None)
    }

    /// A child that is also cancelled at this time.
    pub fn with_deadline(&self, deadline: Option<Instant>) -> Cancellation {
        Cancellation::below(vec![self.clone()], deadline)
    }

    /// A child of all cancellations that apply to this thread, for a thread that takes over a part
    /// of the work. After that part was stopped, [`check_cancelled_now`] on this thread stops the
    /// whole.
    pub fn current() -> Cancellation {
        Cancellation::below(RUNNING_UNDER.with_borrow(Vec::clone), None)
    }

    /// Cancelled at the check with this number: for tests that stop work at a chosen point.
    #[doc(hidden)]
    pub fn after_checks(checks: u64) -> Cancellation {
        let countdown = Some(AtomicU64::new(checks));
        Cancellation { inner: Arc::new(Inner { countdown, ..Inner::default() }) }
    }

    /// Stops the work, and runs the actions. Further calls do nothing.
    pub fn cancel(&self) {
        self.inner.flag.store(true, Ordering::SeqCst);
        // Actions run without the lock, because they may cancel or register others.
        let actions = std::mem::take(&mut lock(&self.inner.actions).list);
        for (_, action) in actions {
            action();
        }
    }

    /// True once the work should stop.
    pub fn is_cancelled(&self) -> bool {
        self.inner.flag.load(Ordering::SeqCst)
            || self.inner.deadline.is_some_and(|end| Instant::now() >= end)
            || self.inner.countdown.as_ref().is_some_and(|left| {
                let before =
                    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
                before.is_ok_and(|n| n == 1) || before.is_err()
            })
            || self.inner.parents.iter().any(Cancellation::is_cancelled)
    }

    /// Runs `action` when [`Cancellation::cancel`] is called for this or a parent, or now if it was
    /// called.
    pub fn on_cancel(&self, action: impl FnOnce() + Send + 'static) {
        self.register(Box::new(action));
    }

    /// [`Cancellation::on_cancel`] until the guard is dropped.
    pub fn on_cancel_while(&self, action: impl FnOnce() + Send + 'static) -> CancelGuard {
        let number = self.register(Box::new(action));
        CancelGuard { of: Arc::downgrade(&self.inner), number }
    }

    fn register(&self, action: Action) -> u64 {
        let mut actions = lock(&self.inner.actions);
        let number = actions.next;
        actions.next += 1;
        actions.list.push((number, action));
        drop(actions);
        self.inner.links.get_or_init(|| self.links());
        // `cancel` may have been called before the action was in the list.
        if self.inner.flag.load(Ordering::SeqCst) {
            self.cancel();
        }
        number
    }

    /// Does the work until it is finished or stopped.
    ///
    /// Data that the work was changing when it was stopped may be inconsistent: the caller must
    /// drop it.
    pub fn run_cancellable<T>(&self, work: impl FnOnce() -> T) -> Result<T, Stopped> {
        RUNNING_UNDER.with_borrow_mut(|all| all.push(self.clone()));
        CALLS_LEFT.set(0);
        let result = catch_unwind(AssertUnwindSafe(work));
        RUNNING_UNDER.with_borrow_mut(|all| drop(all.pop()));
        result.map_err(|payload| {
            // Panics, and cancellations of the surrounding work, are passed on.
            match payload.downcast_ref::<Stopped>() {
                Some(Stopped::OutOfMemory) => Stopped::OutOfMemory,
                Some(Stopped::Cancelled) if self.is_cancelled() => Stopped::Cancelled,
                _ => resume_unwind(payload),
            }
        })
    }

    /// [`Cancellation::run_cancellable`] on a separate thread, for work that allocates much:
    /// stopping it is immediate, and the caller does not wait for deallocation.
    pub fn run_cancellable_on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let all = Cancellation::below(vec![self.clone(), Cancellation::current()], None);
        let (sender, result) = channel();
        let work = Arc::new(Mutex::new(Some(work)));
        let theirs = Arc::clone(&work);
        let on_thread = move || {
            let work = lock(&theirs).take();
            let done =
                work.map(|work| catch_unwind(AssertUnwindSafe(|| all.run_cancellable(work))));
            // The caller may have gone.
            let _ = sender.send(done);
        };
        if thread::Builder::new()
            .name("cancellable".into())
            .stack_size(STACK)
            .spawn(on_thread)
            .is_err()
        {
            let work = lock(&work).take();
            return work.map_or(Err(Stopped::Cancelled), |work| self.run_cancellable(work));
        }
        loop {
            let is_cancelled = self.is_cancelled();
            match result.recv_timeout(if is_cancelled { LAST_WAIT } else { POLL }) {
                Ok(Some(Ok(done))) => {
                    // This does not return if the surrounding work was cancelled.
                    if matches!(done, Err(Stopped::Cancelled)) && !self.is_cancelled() {
                        check_cancelled_now();
                    }
                    return done;
                }
                Ok(Some(Err(panic))) => resume_unwind(panic),
                Err(RecvTimeoutError::Timeout) if !is_cancelled => check_cancelled_now(),
                Ok(None) | Err(_) => return Err(Stopped::Cancelled),
            }
        }
    }
}

/// Stops the work of this thread if it is cancelled. For loops whose rounds take up to about 20
/// microseconds: it checks once in `CALLS_PER_CHECK` calls.
#[inline]
pub fn check_cancelled() {
    let is_due = CALLS_LEFT.with(|left| match left.get().checked_sub(1) {
        Some(fewer) => {
            left.set(fewer);
            false
        }
        None => true,
    });
    if is_due {
        check_cancelled_now();
    }
}

/// [`check_cancelled`] for longer rounds: checks at every call.
#[cold]
pub fn check_cancelled_now() {
    check(0);
}

/// [`check_cancelled_now`] before an allocation of this many bytes, which count towards the memory
/// limit.
#[cold]
pub fn check_before_allocating(bytes: u64) {
    check(bytes);
}

fn check(bytes: u64) {
    let is_cancellable = RUNNING_UNDER.with_borrow(|all| !all.is_empty());
    // While the stack unwinds, destructors run to their end.
    let may_unwind = !thread::panicking();
    if is_cancellable && may_unwind && memory::must_stop(bytes) {
        CALLS_LEFT.set(CALLS_PER_CHECK);
        resume_unwind(Box::new(Stopped::OutOfMemory));
    }
    let (is_cancelled, is_counting) = RUNNING_UNDER.with_borrow(|all| {
        let is_counting = all.iter().any(|c| c.inner.countdown.is_some());
        (all.iter().any(Cancellation::is_cancelled), is_counting)
    });
    CALLS_LEFT.set(if is_counting { 0 } else { CALLS_PER_CHECK });
    if is_cancelled && may_unwind {
        resume_unwind(Box::new(Stopped::Cancelled));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_to(n: u64, seen: &Cell<u64>) {
        for _ in 0..n {
            check_cancelled();
            seen.set(seen.get() + 1);
        }
    }

    #[test]
    fn work_stops_at_the_chosen_check() {
        let seen = Cell::new(0);
        assert_eq!(
            Cancellation::after_checks(10).run_cancellable(|| count_to(1000, &seen)),
            Err(Stopped::Cancelled)
        );
        assert_eq!(seen.get(), 9);
        assert_eq!(Cancellation::after_checks(10).run_cancellable(|| count_to(9, &seen)), Ok(()));
        count_to(5000, &seen);
    }

    #[test]
    fn a_call_of_cancel_is_seen_soon() {
        let cancellation = Cancellation::new();
        let seen = Cell::new(0);
        let work = || {
            count_to(10_000, &seen);
            cancellation.cancel();
            count_to(10_000, &seen);
        };
        assert_eq!(cancellation.run_cancellable(work), Err(Stopped::Cancelled));
        assert!(seen.get() <= 10_000 + u64::from(CALLS_PER_CHECK), "{}", seen.get());
    }

    #[test]
    fn a_deadline_stops_an_endless_loop() {
        let past = Cancellation::new().with_deadline(Some(Instant::now()));
        let endless = || {
            loop {
                check_cancelled();
            }
        };
        assert_eq!(past.run_cancellable(endless), Err(Stopped::Cancelled));
    }

    #[test]
    fn the_caller_does_not_wait_for_deallocation_on_the_thread() {
        assert_eq!(Cancellation::new().run_cancellable_on_thread(|| 5), Ok(5));
        let panic = catch_unwind(|| {
            Cancellation::new().run_cancellable_on_thread(|| resume_unwind(Box::new("a panic")))
        });
        let panic: Result<Result<(), Stopped>, _> = panic;
        assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"a panic"));
        // Dropping it lasts until the test has received the result.
        struct Heavy(std::sync::mpsc::Receiver<()>, std::sync::mpsc::Sender<bool>);
        impl Drop for Heavy {
            fn drop(&mut self) {
                let in_time = self.0.recv_timeout(Duration::from_secs(60)).is_ok();
                let _ = self.1.send(in_time);
            }
        }
        let endless = |heavy: Heavy| {
            let _heavy = heavy;
            loop {
                check_cancelled();
            }
        };
        for outer in [false, true] {
            let ((go, gone), (end, ended)) = (channel(), channel());
            let (heavy, cancellation) = (Heavy(gone, end), Cancellation::new());
            let work = move || endless(heavy);
            let other = cancellation.clone();
            thread::spawn(move || other.cancel());
            let stopped: Result<(), Stopped> = if outer {
                cancellation.run_cancellable(|| {
                    Cancellation::new().run_cancellable_on_thread(work).unwrap_or(())
                })
            } else {
                cancellation.run_cancellable_on_thread(work)
            };
            assert_eq!(stopped, Err(Stopped::Cancelled));
            go.send(()).unwrap();
            assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(true));
        }
    }

    #[test]
    fn a_stop_reaches_the_work_that_was_cancelled() {
        let (outer, inner) = (Cancellation::after_checks(5), Cancellation::after_checks(100));
        let seen = Cell::new(0);
        let result = outer.run_cancellable(|| {
            let _ = inner.run_cancellable(|| count_to(1000, &seen));
            // The inner work was not cancelled, so the outer work stops.
            seen.set(0);
        });
        assert_eq!((result, seen.get()), (Err(Stopped::Cancelled), 4));
        let result = Cancellation::after_checks(1000).run_cancellable(|| {
            let ended = Cancellation::after_checks(5).run_cancellable(|| count_to(100, &seen));
            count_to(10, &seen);
            ended
        });
        assert_eq!(result, Ok(Err(Stopped::Cancelled)));
    }

    #[test]
    fn panics_pass_through_and_destructors_run_to_their_end() {
        struct Cleans<'a>(&'a Cell<u64>);
        impl Drop for Cleans<'_> {
            fn drop(&mut self) {
                count_to(2000, self.0);
            }
        }
        let seen = Cell::new(0);
        let work = || {
            let _cleans = Cleans(&seen);
            check_cancelled_now();
        };
        assert_eq!(Cancellation::after_checks(1).run_cancellable(work), Err(Stopped::Cancelled));
        assert_eq!(seen.get(), 2000);
        let panic = || {
            Cancellation::after_checks(1000).run_cancellable(|| resume_unwind(Box::new("a panic")))
        };
        let caught: Result<Result<(), Stopped>, _> = catch_unwind(panic);
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"a panic"));
    }

    #[test]
    fn actions_run_once_also_if_registered_late_and_not_after_their_guard_is_dropped() {
        let token = Cancellation::new();
        let count = Arc::new(AtomicU64::new(0));
        let counts = || {
            let seen = Arc::clone(&count);
            move || {
                seen.fetch_add(1, Ordering::SeqCst);
            }
        };
        token.on_cancel(counts());
        let _kept = token.on_cancel_while(counts());
        drop(token.on_cancel_while(counts()));
        assert_eq!(count.load(Ordering::SeqCst), 0);
        token.cancel();
        token.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 2);
        token.on_cancel(counts());
        token.child().on_cancel(counts());
        assert_eq!(count.load(Ordering::SeqCst), 4);
    }

    #[test]
    fn children_follow_parents_only() {
        let parent = Cancellation::new();
        let (a, b) = (parent.child(), parent.child());
        a.cancel();
        assert!(a.is_cancelled() && !parent.is_cancelled() && !b.is_cancelled());
        parent.cancel();
        assert!(b.is_cancelled() && parent.child().is_cancelled());
        let late = Cancellation::new().with_deadline(Some(Instant::now()));
        assert!(late.is_cancelled() && late.child().is_cancelled());
    }
}
