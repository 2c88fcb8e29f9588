//! The progress line of a long check on the terminal. It appears after half a second.
//!
//! The line and the signal handler are set up when engines begin to work: most small checks end
//! before. Until then Ctrl-C ends the process, which has nothing to report yet.

use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gander::engines::{Cancellation, Event, Observer};

use super::interrupt::cancel_on_signal;

const SILENCE: Duration = Duration::from_millis(500);
const BETWEEN: Duration = Duration::from_millis(150);
/// Columns of a terminal that does not say how many it has.
const USUAL_WIDTH: usize = 79;
/// Names of open claims that are shown.
const OPEN_NAMES: usize = 2;
/// Longer names of claims are shortened.
const LONGEST_NAME: usize = 24;

#[derive(Debug, Default)]
struct State {
    settled: usize,
    facts: usize,
    /// Names of the claims that are being decided, if they are known, and of those that are
    /// settled.
    claims: Vec<String>,
    done: HashSet<String>,
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

    /// These claims are about to be decided.
    pub fn claims(&self, names: impl Iterator<Item = String>) {
        let mut state = lock(&self.shared.state);
        state.claims = names.collect();
        state.done.clear();
    }

    /// The claim has its verdict.
    pub fn settled(&self, claim: &str) {
        lock(&self.shared.state).done.insert(claim.to_string());
    }

    /// The line, for a thread that prints beside it.
    pub fn line(&self) -> ProgressLine {
        ProgressLine(Arc::clone(&self.shared))
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

/// The line, for a thread that prints beside it.
#[derive(Clone, Debug)]
pub struct ProgressLine(Arc<Shared>);

impl ProgressLine {
    /// Prints while the line is hidden. The line comes back by itself.
    pub fn print_instead(&self, print: impl FnOnce()) {
        let mut state = lock(&self.0.state);
        if state.shown {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
            state.shown = false;
        }
        print();
    }
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
            let line = line(&state, file, started.elapsed(), width());
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
        }
    }
    if state.shown {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
    }
}

/// Columns for the line: the last one stays empty, so that no terminal wraps the line.
fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    let columns = size.map(|s| usize::from(s.ws_col)).filter(|&columns| columns > 1);
    columns.map_or(USUAL_WIDTH, |columns| columns - 1)
}

fn line(state: &State, file: &str, elapsed: Duration, width: usize) -> String {
    let settled = match state.claims.len() {
        0 => format!("{} settled", state.settled),
        all => format!("{} of {all} settled", state.done.len()),
    };
    let mut parts = vec![format!("{file}: {:.1} s", elapsed.as_secs_f64()), settled];
    let short = |name: &String| gander_text::shortened(name, LONGEST_NAME).into_owned();
    let mut open = state.claims.iter().filter(|name| !state.done.contains(*name));
    let mut names: Vec<String> = open.by_ref().take(OPEN_NAMES).map(short).collect();
    if open.next().is_some() {
        names.push("...".to_string());
    }
    if !names.is_empty() {
        parts.push(format!("trying {}", names.join(", ")));
    }
    parts.extend(state.engines.iter().map(|(name, text)| format!("{name} {text}")));
    if state.facts > 0 {
        parts.push(format!("{} facts", state.facts));
    }
    let line: String = parts
        .join(" | ")
        .chars()
        .map(|c| if gander_text::is_hidden(c) { ' ' } else { c })
        .collect();
    if line.chars().count() <= width {
        line
    } else {
        line.chars().take(width.saturating_sub(3)).chain("...".chars()).take(width).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_a_terminal() {
        let mut state = State { settled: 2, facts: 3, ..State::default() };
        state.engines.push(("bmc".into(), "depth 12".into()));
        let after = Duration::from_millis(1250);
        assert_eq!(
            line(&state, "a.sts", after, 79),
            "a.sts: 1.2 s | 2 settled | bmc depth 12 | 3 facts"
        );
        state.claims = ["rich", "top", "safe", "live", "dead"].map(String::from).to_vec();
        state.done = ["top", "dead"].map(String::from).into();
        assert_eq!(
            line(&state, "a.sts", after, 100),
            "a.sts: 1.2 s | 2 of 5 settled | trying rich, safe, ... | bmc depth 12 | 3 facts"
        );
        state.engines.push(("x".into(), "y".repeat(100)));
        for width in [1, 20, 79, 120] {
            assert_eq!(line(&state, "a.sts", after, width).chars().count(), width);
        }
    }
}
