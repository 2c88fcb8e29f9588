//! Breaking off long work: loops look out for a stop sign, and the work that heeds it ends at the next look.
//!
//! [`StopSign::heed`] runs a piece of work on this thread under a sign. Loops that may be long (over terms, over the
//! values of a quantifier, over transitions) call [`look_out`]. When a sign is up, that call does not return: the stack is
//! unwound to the `heed` of this sign, which returns [`Stopped`]. What the work had half done is gone with it, so nothing can be concluded
//! from it; that is why such loops do not just return early. Outside of any `heed`, and as long as no sign is up, a look costs
//! about as much as counting down a number. The limit on memory ([`crate::memory`]) is a sign to all work: the innermost `heed`
//! returns then.
//!
//! Salsa's cancellation, as used by rust-analyzer, is the model. The unwinding is not a panic: no hook runs, and it
//! never leaves `heed`. Signs belong to a thread; one that the work starts has none, unless it is given them ([`StopSign::here`]).

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::memory;

/// Every so many looks the signs are really looked at.
const LOOKS: u32 = 512;

/// How often somebody who waits for work on another thread looks at the sign, and how long it waits for the work when it is up.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
const LAST_MOMENT: Duration = Duration::from_millis(5);

/// The stack of such a thread: that of the first thread of a program.
const STACK: usize = 8 << 20;

thread_local! {
    /// Looks until the signs are looked at.
    static LEFT: Cell<u32> = const { Cell::new(LOOKS) };
    /// The signs that work on this thread heeds, outermost first.
    static SIGNS: RefCell<Vec<StopSign>> = const { RefCell::new(Vec::new()) };
}

/// Why work was broken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// Its sign went up.
    Asked,
    /// The limit on memory was reached.
    OutOfMemory,
}

/// What asks work to stop; see the module's documentation. Clones are the same sign.
#[derive(Clone, Debug, Default)]
pub struct StopSign {
    flag: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
    /// Looks that are left before it goes up.
    countdown: Option<Arc<AtomicU64>>,
    /// It is up if one of these is.
    others: Vec<StopSign>,
}

impl StopSign {
    /// A sign that is up when the flag is set.
    pub fn when(flag: &Arc<AtomicBool>) -> StopSign {
        StopSign { flag: Some(Arc::clone(flag)), ..StopSign::default() }
    }

    /// The same sign, which goes up at this time, too.
    pub fn until(self, deadline: Option<Instant>) -> StopSign {
        StopSign { deadline, ..self }
    }

    /// All the signs that this thread heeds, for a thread that takes over a part of its work. When that part was broken off, a
    /// [`look_closely`] here breaks off the whole.
    pub fn here() -> StopSign {
        StopSign { others: SIGNS.with_borrow(Vec::clone), ..StopSign::default() }
    }

    /// A sign that goes up at the look after so many: for tests that stop work at a chosen point.
    #[doc(hidden)]
    pub fn after_looks(looks: u64) -> StopSign {
        StopSign { countdown: Some(Arc::new(AtomicU64::new(looks))), ..StopSign::default() }
    }

    /// True if work that heeds it should stop.
    pub fn is_up(&self) -> bool {
        self.flag.as_ref().is_some_and(|flag| flag.load(Ordering::SeqCst))
            || self.deadline.is_some_and(|end| Instant::now() >= end)
            || self.countdown.as_ref().is_some_and(|left| left.load(Ordering::SeqCst) == 0)
            || self.others.iter().any(StopSign::is_up)
    }

    /// Does the work, or the part of it before the sign goes up.
    ///
    /// Whatever the work was changing when it was broken off may be half changed. The caller must drop that.
    pub fn heed<T>(&self, work: impl FnOnce() -> T) -> Result<T, Stopped> {
        SIGNS.with_borrow_mut(|signs| signs.push(self.clone()));
        LEFT.set(0);
        let result = catch_unwind(AssertUnwindSafe(work));
        SIGNS.with_borrow_mut(|signs| drop(signs.pop()));
        result.map_err(|payload| {
            // A panic is not ours, nor is what a sign further out has set off.
            match payload.downcast_ref::<Stopped>() {
                Some(Stopped::OutOfMemory) => Stopped::OutOfMemory,
                Some(Stopped::Asked) if self.is_up() => Stopped::Asked,
                _ => resume_unwind(payload),
            }
        })
    }

    /// [`StopSign::heed`] on a thread of its own, for work that makes much: breaking it off takes no time, but freeing what it has made may, and
    /// nobody waits for that.
    pub fn heed_apart<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Stopped> {
        let all = StopSign { others: vec![self.clone(), StopSign::here()], ..StopSign::default() };
        let (sender, result) = channel();
        let work = Arc::new(Mutex::new(Some(work)));
        let theirs = Arc::clone(&work);
        let apart = move || {
            let work = theirs.lock().unwrap_or_else(PoisonError::into_inner).take();
            let done = work.map(|work| catch_unwind(AssertUnwindSafe(|| all.heed(work))));
            // Nobody may be there any more.
            let _ = sender.send(done);
        };
        if thread::Builder::new().name("apart".into()).stack_size(STACK).spawn(apart).is_err() {
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            return work.map_or(Err(Stopped::Asked), |work| self.heed(work));
        }
        loop {
            let is_up = self.is_up();
            match result.recv_timeout(if is_up { LAST_MOMENT } else { BETWEEN_LOOKS }) {
                Ok(Some(Ok(done))) => {
                    // If it was broken off for a sign further out, this does not return.
                    if matches!(done, Err(Stopped::Asked)) && !self.is_up() {
                        look_closely();
                    }
                    return done;
                }
                Ok(Some(Err(panic))) => resume_unwind(panic),
                Err(RecvTimeoutError::Timeout) if !is_up => look_closely(),
                Ok(None) | Err(_) => return Err(Stopped::Asked),
            }
        }
    }
}

/// Counts one piece of work, and ends the work if a sign is up that it heeds. For pieces of up to about 20 microseconds.
#[inline]
pub fn look_out() {
    let now = LEFT.with(|left| match left.get().checked_sub(1) {
        Some(fewer) => {
            left.set(fewer);
            false
        }
        None => true,
    });
    if now {
        look_closely();
    }
}

/// [`look_out`] for larger pieces of work: looks at once.
#[cold]
pub fn look_closely() {
    look_for(0);
}

/// [`look_closely`] before this many bytes are allocated at once, which is time to look whether there is room for them.
#[cold]
pub fn look_before_allocating(bytes: u64) {
    look_for(bytes);
}

fn look_for(bytes: u64) {
    let heeds = SIGNS.with_borrow(|signs| !signs.is_empty());
    // While a stack is being unwound, what cleans up behind it runs to its end.
    let calm = !std::thread::panicking();
    if heeds && calm && memory::must_break_off(bytes) {
        LEFT.set(LOOKS);
        resume_unwind(Box::new(Stopped::OutOfMemory));
    }
    let (up, counted) = SIGNS.with_borrow(|signs| {
        let counted = signs.iter().filter_map(|s| s.countdown.as_ref());
        let counted = counted.fold(false, |_, left| {
            let _ = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
            true
        });
        (signs.iter().any(StopSign::is_up), counted)
    });
    LEFT.set(if counted { 0 } else { LOOKS });
    if up && calm {
        resume_unwind(Box::new(Stopped::Asked));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_to(n: u64, seen: &Cell<u64>) {
        for _ in 0..n {
            look_out();
            seen.set(seen.get() + 1);
        }
    }

    #[test]
    fn work_ends_at_the_chosen_look() {
        let seen = Cell::new(0);
        assert_eq!(StopSign::after_looks(10).heed(|| count_to(1000, &seen)), Err(Stopped::Asked));
        assert_eq!(seen.get(), 9);
        assert_eq!(StopSign::after_looks(10).heed(|| count_to(9, &seen)), Ok(()));
        count_to(5000, &seen);
    }

    #[test]
    fn a_flag_is_seen_soon() {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Cell::new(0);
        let work = || {
            count_to(10_000, &seen);
            flag.store(true, Ordering::SeqCst);
            count_to(10_000, &seen);
        };
        assert_eq!(StopSign::when(&flag).heed(work), Err(Stopped::Asked));
        assert!(seen.get() <= 10_000 + u64::from(LOOKS), "{}", seen.get());
    }

    #[test]
    fn a_deadline_ends_what_would_never_end() {
        let past = StopSign::default().until(Some(Instant::now()));
        let endless = || {
            loop {
                look_out();
            }
        };
        assert_eq!(past.heed(endless), Err(Stopped::Asked));
    }

    #[test]
    fn work_apart_is_like_work_here_but_nobody_waits_for_what_it_leaves() {
        assert_eq!(StopSign::default().heed_apart(|| 5), Ok(5));
        let panic = catch_unwind(|| StopSign::default().heed_apart(|| resume_unwind(Box::new("a panic"))));
        let panic: Result<Result<(), Stopped>, _> = panic;
        assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"a panic"));
        // Taking it apart lasts until the test has its answer.
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
                look_out();
            }
        };
        for outer in [false, true] {
            let ((go, gone), (end, ended)) = (channel(), channel());
            let (heavy, flag) = (Heavy(gone, end), Arc::new(AtomicBool::new(false)));
            let sign = StopSign::when(&flag);
            let work = move || endless(heavy);
            let up = Arc::clone(&flag);
            thread::spawn(move || up.store(true, Ordering::SeqCst));
            let stopped: Result<(), Stopped> = if outer {
                sign.heed(|| StopSign::default().heed_apart(work).unwrap_or(()))
            } else {
                sign.heed_apart(work)
            };
            assert_eq!(stopped, Err(Stopped::Asked));
            go.send(()).unwrap();
            assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(true));
        }
    }

    #[test]
    fn signs_nest() {
        let (outer, inner) = (StopSign::after_looks(5), StopSign::after_looks(100));
        let seen = Cell::new(0);
        let result = outer.heed(|| {
            let _ = inner.heed(|| count_to(1000, &seen));
            // The sign of the inner work was not up: it is the whole that ends.
            seen.set(0);
        });
        assert_eq!((result, seen.get()), (Err(Stopped::Asked), 4));
        let result = StopSign::after_looks(1000).heed(|| {
            let ended = StopSign::after_looks(5).heed(|| count_to(100, &seen));
            count_to(10, &seen);
            ended
        });
        assert_eq!(result, Ok(Err(Stopped::Asked)));
    }

    #[test]
    fn panics_pass_through_and_cleaning_up_is_not_disturbed() {
        struct Cleans<'a>(&'a Cell<u64>);
        impl Drop for Cleans<'_> {
            fn drop(&mut self) {
                count_to(2000, self.0);
            }
        }
        let seen = Cell::new(0);
        let work = || {
            let _cleans = Cleans(&seen);
            look_closely();
        };
        assert_eq!(StopSign::after_looks(1).heed(work), Err(Stopped::Asked));
        assert_eq!(seen.get(), 2000);
        let panic = || StopSign::after_looks(1000).heed(|| resume_unwind(Box::new("a panic")));
        let caught: Result<Result<(), Stopped>, _> = catch_unwind(panic);
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"a panic"));
    }
}
