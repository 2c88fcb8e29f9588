//! Ends the process if it exceeds its limits on time and memory.
//!
//! Long loops check the limits themselves (`gander_runtime::check_cancelled`), and the command then
//! reports what is known. The watchdog is the fallback for code that does not check, or not often
//! enough: a thread that ends the process with the reason, a tenth after the time limit, and soon
//! after too much memory is in use. The guard ends solvers that are still running, and removes
//! half-written files (`gander_process::guard`).
//!
//! Time during which standard output is being written does not count: its reader may be slow.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gander_runtime::memory;

use super::UNKNOWN;
use super::output::Output;
use super::state::{is_writing, restore_terminal};
use crate::command::LimitArgs;

/// How often the watchdog checks the limits.
const INTERVAL: Duration = Duration::from_millis(50);

/// The process ends after the time limit plus this fraction of it plus this constant.
const TIME_FRACTION: u32 = 10;
const TIME_MARGIN: Duration = Duration::from_millis(300);

/// The process ends if memory use exceeds the limit by the first fraction of it for
/// [`MEMORY_GRACE`], and at once if it exceeds the limit by the second fraction.
const MEMORY_FRACTIONS: [u64; 2] = [16, 4];
const MEMORY_GRACE: Duration = Duration::from_secs(2);

/// Time limit for writing the final message: its reader may be slow.
const MESSAGE_TIME: Duration = Duration::from_millis(200);

type FinalMessage = Box<dyn FnOnce(&str) + Send>;

/// Watches until it is dropped.
pub struct Watchdog {
    final_message: Arc<Mutex<Option<FinalMessage>>>,
    over: Arc<AtomicBool>,
}

impl Watchdog {
    /// Watches the time from now on, and the memory limit of this process. `final_message` is
    /// called with the reason before the process ends.
    pub fn start(
        timeout: Option<Duration>,
        final_message: impl FnOnce(&str) + Send + 'static,
    ) -> Watchdog {
        let final_message: Arc<Mutex<Option<FinalMessage>>> =
            Arc::new(Mutex::new(Some(Box::new(final_message))));
        let over = Arc::new(AtomicBool::new(false));
        let watch = Watch { timeout, begun: Instant::now(), exceeded: None };
        let (message, ended) = (Arc::clone(&final_message), Arc::clone(&over));
        // If the thread cannot be started, only loops that check the limits stop at them.
        let _ = thread::Builder::new()
            .name("watchdog".into())
            .spawn(move || watch.run(&message, &ended));
        Watchdog { final_message, over }
    }

    /// [`Watchdog::start`] for a command whose final message is the reason alone.
    pub fn plain(limits: &LimitArgs) -> Watchdog {
        Watchdog::start(limits.timeout, |reason| Output::new().error(reason))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // If the watchdog is ending the process, nothing may follow its final message.
        if self.final_message.lock().unwrap_or_else(PoisonError::into_inner).take().is_none() {
            loop {
                thread::park();
            }
        }
    }
}

struct Watch {
    timeout: Option<Duration>,
    begun: Instant,
    /// Since when memory use exceeds the limit.
    exceeded: Option<Instant>,
}

impl Watch {
    fn run(mut self, final_message: &Mutex<Option<FinalMessage>>, over: &AtomicBool) {
        loop {
            thread::sleep(INTERVAL);
            if over.load(Ordering::SeqCst) {
                return;
            }
            let Some(reason) = self.reason() else { continue };
            let Some(message) = final_message.lock().unwrap_or_else(PoisonError::into_inner).take()
            else {
                return;
            };
            let writing = thread::Builder::new().spawn(move || message(&reason));
            let until = Instant::now() + MESSAGE_TIME;
            if let Ok(writing) = writing {
                while !writing.is_finished() && Instant::now() < until {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            end();
        }
    }

    /// Why the process has to end.
    fn reason(&mut self) -> Option<String> {
        if let Some(limit) = self.timeout
            && self.begun.elapsed()
                > limit.saturating_add(limit / TIME_FRACTION).saturating_add(TIME_MARGIN)
            && !is_writing()
        {
            return Some(format!("stopped by the time limit of {} s", limit.as_secs_f64()));
        }
        let (limit, used) = (memory::limit()?, memory::in_use()?);
        let [more, much] = MEMORY_FRACTIONS.map(|part| limit.saturating_add(limit / part));
        if used <= more {
            self.exceeded = None;
            return None;
        }
        let since = *self.exceeded.get_or_insert_with(Instant::now);
        (used > much || since.elapsed() > MEMORY_GRACE).then(|| memory_limit_text(limit))
    }
}

/// The reason if the memory limit was reached.
pub fn memory_limit_text(limit: u64) -> String {
    format!("stopped at the memory limit of {} MB", limit >> 20)
}

#[allow(clippy::exit)]
fn end() -> ! {
    restore_terminal();
    std::process::exit(i32::from(UNKNOWN));
}
