//! A line on the terminal that says how far a long check is. Nothing is shown in the first half second.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gander::engines::{Event, Observer};

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

/// Watches a check. The line is there only if standard error is a terminal.
#[derive(Debug)]
pub struct Progress {
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    /// Begins to watch the check of a file.
    pub fn start(file: &str) -> Progress {
        let shared = Arc::new(Shared::default());
        let thread = std::io::stderr().is_terminal().then(|| {
            let name = std::path::Path::new(file).file_name().map_or(file.into(), |n| n.to_string_lossy());
            let (shared, file) = (Arc::clone(&shared), name.into_owned());
            std::thread::spawn(move || show(&shared, &file))
        });
        Progress { shared, thread }
    }

    /// Takes the line away.
    pub fn finish(mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).over = true;
        self.shared.news.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to take away.
            let _ = thread.join();
        }
    }
}

impl Observer for Progress {
    fn event(&self, e: &Event) {
        if self.thread.is_none() {
            return;
        }
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        match e {
            Event::Settled(_) => state.settled += 1,
            Event::Fact { .. } => state.facts += 1,
            Event::Progress { engine, text, .. } => match state.engines.iter_mut().find(|(name, _)| name == engine) {
                Some((_, at)) => at.clone_from(text),
                None => state.engines.push((engine.clone(), text.clone())),
            },
            Event::InternalError(_) => {}
        }
    }
}

fn show(shared: &Shared, file: &str) {
    let started = Instant::now();
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
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
    let mut parts = vec![format!("{file}: {:.1} s", elapsed.as_secs_f64()), format!("{} settled", state.settled)];
    parts.extend(state.engines.iter().map(|(name, text)| format!("{name} {text}")));
    if state.facts > 0 {
        parts.push(format!("{} facts", state.facts));
    }
    let line: String = parts.join(" | ").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= WIDTH { line } else { line.chars().take(WIDTH - 3).chain("...".chars()).collect() }
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
