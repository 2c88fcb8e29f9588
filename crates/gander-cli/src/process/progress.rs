//! The progress line of a long check on the terminal. It appears after half a second.
//!
//! The line and the signal handler are set up when engines begin to work: most small checks end
//! before. Until then Ctrl-C ends the process, which has nothing to report yet.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gander::engines::{Cancellation, Event, Observer};

use super::interrupt::cancel_on_signal;

const SILENCE: Duration = Duration::from_millis(500);
const BETWEEN: Duration = Duration::from_millis(150);
const WIDTH: usize = 78;

#[derive(Debug, Default)]
struct State {
    settled: usize,
    facts: usize,
    engines: Vec<(String, String)>,
    over: bool,
    shown: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

/// Observes a check. The line is shown only if standard error is a terminal.
#[derive(Debug)]
pub struct Progress {
    shared: Arc<Shared>,
    file: String,
    cancel: Cancellation,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Progress {
    /// Begins to observe the check of a file that the token cancels.
    pub fn start(file: &str, cancel: &Cancellation) -> Progress {
        let name =
            std::path::Path::new(file).file_name().map_or(file.into(), |n| n.to_string_lossy());
        let (shared, file) = (Arc::default(), name.into_owned());
        Progress { shared, file, cancel: cancel.clone(), thread: Mutex::default() }
    }

    /// Sets up the line and the signal handler.
    fn show(&self) {
        cancel_on_signal(&self.cancel);
        if std::io::stderr().is_terminal() {
            let (shared, file) = (Arc::clone(&self.shared), self.file.clone());
            *lock(&self.thread) = Some(std::thread::spawn(move || show(&shared, &file)));
        }
    }

    /// Removes the line.
    pub fn finish(self) {
        lock(&self.shared.state).over = true;
        self.shared.news.notify_all();
        if let Some(thread) = lock(&self.thread).take() {
            // If the thread panicked, there is no line to remove.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Progress {
    fn event(&self, e: &Event) {
        let mut state = lock(&self.shared.state);
        match e {
            Event::Working => self.show(),
            Event::Settled(_) => state.settled += 1,
            Event::Fact { .. } => state.facts += 1,
            Event::Progress { engine, text, .. } => {
                match state.engines.iter_mut().find(|(name, _)| name == engine) {
                    Some((_, at)) => at.clone_from(text),
                    None => state.engines.push((engine.clone(), text.clone())),
                }
            }
            Event::InternalError(_) => {}
        }
    }
}

fn show(shared: &Shared, file: &str) {
    let started = Instant::now();
    let mut state = lock(&shared.state);
    let mut wait = SILENCE;
    loop {
        state = shared.news.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        if state.over {
            break;
        }
        if started.elapsed() >= SILENCE {
            wait = BETWEEN;
            state.shown = true;
            let line = line(&state, file, started.elapsed());
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
        }
    }
    if state.shown {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
    }
}

fn line(state: &State, file: &str, elapsed: Duration) -> String {
    let mut parts = vec![
        format!("{file}: {:.1} s", elapsed.as_secs_f64()),
        format!("{} settled", state.settled),
    ];
    parts.extend(state.engines.iter().map(|(name, text)| format!("{name} {text}")));
    if state.facts > 0 {
        parts.push(format!("{} facts", state.facts));
    }
    let line: String = parts
        .join(" | ")
        .chars()
        .map(|c| if gander_text::is_hidden(c) { ' ' } else { c })
        .collect();
    if line.chars().count() <= WIDTH {
        line
    } else {
        line.chars().take(WIDTH - 3).chain("...".chars()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_a_terminal() {
        let mut state = State { settled: 2, facts: 3, ..State::default() };
        state.engines.push(("bmc".into(), "depth 12".into()));
        assert_eq!(
            line(&state, "a.sts", Duration::from_millis(1250)),
            "a.sts: 1.2 s | 2 settled | bmc depth 12 | 3 facts"
        );
        state.engines.push(("x".into(), "y".repeat(100)));
        assert_eq!(line(&state, "a.sts", Duration::ZERO).chars().count(), WIDTH);
    }
}
