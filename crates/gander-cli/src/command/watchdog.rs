//! Ends the command if its limits on time and memory are not kept otherwise.
//!
//! Long loops check the limits themselves (`gander_runtime::check_cancelled`), and the command then reports what is known. The
//! watchdog is the fallback for code that does not check, or not often enough: a thread that ends the process a tenth after
//! the time limit, and soon after too much memory is in use, with the reason. The guard ends solvers that are still running,
//! and removes half-written files (`gander_smt::guard`).
//!
//! Time during which standard output is being written does not count: its reader may be slow.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gander_runtime::memory;

use super::args::LimitArgs;
use super::output::{Output, is_writing};

/// Exit code of a command that did not come to an end.
pub const UNKNOWN: u8 = 3;

/// How often the watchdog looks.
const LOOK: Duration = Duration::from_millis(50);

/// How long after the time limit it ends the process: one part in so many, and a constant for short limits.
const TIME_PART: u32 = 10;
const TIME_MORE: Duration = Duration::from_millis(300);

/// If more than the limit on memory and one part in so many of it is in use for [`PATIENCE`], the process ends; it ends
/// at once if it is more than the second part.
const MEMORY_PARTS: [u64; 2] = [16, 4];
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the last words may take; nobody may read them.
const LAST_WORDS: Duration = Duration::from_millis(200);

type LastWords = Box<dyn FnOnce(&str) + Send>;

/// Watches as long as it is not dropped.
pub struct Watchdog {
    last_words: Arc<Mutex<Option<LastWords>>>,
    over: Arc<AtomicBool>,
}

impl Watchdog {
    /// Watches the time from now on, and the limit on memory of this process. `last_words` are said before the process
    /// ends; they are given the reason.
    pub fn start(timeout: Option<Duration>, last_words: impl FnOnce(&str) + Send + 'static) -> Watchdog {
        let last_words: Arc<Mutex<Option<LastWords>>> = Arc::new(Mutex::new(Some(Box::new(last_words))));
        let over = Arc::new(AtomicBool::new(false));
        let watch = Watch { timeout, begun: Instant::now(), exceeded: None };
        let (words, ended) = (Arc::clone(&last_words), Arc::clone(&over));
        // Without a thread for it, only loops that check the limits keep them.
        let _ = thread::Builder::new().name("watchdog".into()).spawn(move || watch.run(&words, &ended));
        Watchdog { last_words, over }
    }

    /// [`Watchdog::start`] for a command that has nothing to say but why it ended.
    pub fn plain(limits: &LimitArgs) -> Watchdog {
        Watchdog::start(limits.timeout, |reason| Output::new().error(reason))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // If it has decided to end the process, nothing may come after its last words.
        if self.last_words.lock().unwrap_or_else(PoisonError::into_inner).take().is_none() {
            loop {
                thread::park();
            }
        }
    }
}

struct Watch {
    timeout: Option<Duration>,
    begun: Instant,
    /// Since when too much memory is in use.
    exceeded: Option<Instant>,
}

impl Watch {
    fn run(mut self, last_words: &Mutex<Option<LastWords>>, over: &AtomicBool) {
        loop {
            thread::sleep(LOOK);
            if over.load(Ordering::SeqCst) {
                return;
            }
            let Some(reason) = self.reason() else { continue };
            let Some(words) = last_words.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
            let saying = thread::Builder::new().spawn(move || words(&reason));
            let until = Instant::now() + LAST_WORDS;
            if let Ok(saying) = saying {
                while !saying.is_finished() && Instant::now() < until {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            end();
        }
    }

    /// Why the process has to end.
    fn reason(&mut self) -> Option<String> {
        if let Some(limit) = self.timeout
            && self.begun.elapsed() > limit.saturating_add(limit / TIME_PART).saturating_add(TIME_MORE)
            && !is_writing()
        {
            return Some(format!("stopped by the time limit of {} s", limit.as_secs_f64()));
        }
        let (limit, used) = (memory::limit()?, memory::in_use()?);
        let [more, much] = MEMORY_PARTS.map(|part| limit.saturating_add(limit / part));
        if used <= more {
            self.exceeded = None;
            return None;
        }
        let since = *self.exceeded.get_or_insert_with(Instant::now);
        (used > much || since.elapsed() > PATIENCE).then(|| out_of_memory(limit))
    }
}

/// The reason of a command that ended for memory.
pub fn out_of_memory(limit: u64) -> String {
    format!("stopped at the memory limit of {} MB", limit >> 20)
}

#[allow(clippy::exit)]
fn end() -> ! {
    std::process::exit(i32::from(UNKNOWN));
}
