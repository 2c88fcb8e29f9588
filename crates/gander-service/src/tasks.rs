//! Work that may take long, such as a step of a simulation, on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use gander_runtime::Cancellation;

/// Bytes of the stack of a task.
const STACK: usize = 16 << 20;

/// Work on another thread. Dropping it cancels the work.
#[derive(Debug)]
pub struct Task<T> {
    result: Receiver<Option<T>>,
    cancel: Cancellation,
}

impl<T: Send + 'static> Task<T> {
    /// Begins the work, which should return soon after the cancellation.
    pub fn spawn(work: impl FnOnce(&Cancellation) -> T + Send + 'static) -> Task<T> {
        let (sender, result) = sync_channel(1);
        let cancel = Cancellation::new();
        let theirs = cancel.clone();
        let body = move || {
            let done =
                catch_unwind(AssertUnwindSafe(|| theirs.run_cancellable(|| work(&theirs)).ok()));
            // The caller may have gone.
            let _ = sender.send(done.ok().flatten());
        };
        // If there is no thread, the sender is dropped, and the task ends without a result.
        let _ = thread::Builder::new().name("task".into()).stack_size(STACK).spawn(body);
        Task { result, cancel }
    }

    /// Waits for at most this long. `Err` if it is not finished; `Ok(None)` if it was cancelled or
    /// panicked.
    pub fn wait(&self, timeout: Duration) -> Result<Option<T>, Duration> {
        match self.result.recv_timeout(timeout) {
            Ok(done) => Ok(done),
            Err(RecvTimeoutError::Timeout) => Err(timeout),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_give_their_result_and_end_with_a_panic_or_a_cancellation() {
        let wait = Duration::from_secs(60);
        assert_eq!(Task::spawn(|_| 5).wait(wait), Ok(Some(5)));
        let panics: Task<u32> = Task::spawn(|_| std::panic::resume_unwind(Box::new("a panic")));
        assert_eq!(panics.wait(wait), Ok(None));
        let endless: Task<u32> = Task::spawn(|_| {
            loop {
                gander_runtime::check_cancelled();
            }
        });
        assert_eq!(endless.wait(Duration::ZERO), Err(Duration::ZERO));
        endless.cancel();
        assert_eq!(endless.wait(wait), Ok(None));
    }
}
