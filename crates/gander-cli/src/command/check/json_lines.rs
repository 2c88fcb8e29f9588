//! `--json-stream`: an object on each line, printed when the event happens.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use gander::engines::Event;
use gander::report::{CheckView, ClaimView, StreamLine, stream_json};
use gander::system::{ClaimId, System};
use gander_runtime::lock;

use crate::process::Output;

/// Lines about progress are at least this far apart.
const BETWEEN: Duration = Duration::from_secs(1);

/// Writes lines. Clones write to the same stream; no line comes after the last one.
#[derive(Clone)]
pub(super) struct JsonLines(Arc<Mutex<State>>);

struct State {
    output: Output,
    file: String,
    started: Instant,
    open: usize,
    settled: usize,
    engines: Vec<(String, String)>,
    last_progress: Instant,
    closed: bool,
}

impl State {
    fn line(&mut self, line: StreamLine<'_>) {
        if self.closed {
            return;
        }
        let mut text = stream_json(&self.file, line).to_string();
        text.push('\n');
        self.output.put_json(&text);
        self.output.flush();
    }
}

impl JsonLines {
    /// Writes to the same stream as `output`, which must not be used before [`JsonLines::close`].
    pub(super) fn new(output: &Output) -> JsonLines {
        let now = Instant::now();
        JsonLines(Arc::new(Mutex::new(State {
            output: output.sibling(),
            file: String::new(),
            started: now,
            open: 0,
            settled: 0,
            engines: Vec::new(),
            last_progress: now,
            closed: false,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    /// The check of a file begins.
    pub(super) fn begin(&self, file: &str) {
        let (state, now) = (&mut *self.state(), Instant::now());
        state.file = file.to_string();
        (state.started, state.last_progress) = (now, now);
        (state.open, state.settled) = (0, 0);
        state.engines.clear();
        state.line(StreamLine::Start);
    }

    /// Claims of a system are about to be decided.
    pub(super) fn system(&self, system: &System, claims: &[ClaimId]) {
        let name_and_kind = |c: &ClaimId| {
            let claim = &system.claims()[c.index()];
            (claim.name.clone(), claim.kind.word())
        };
        let claims: Vec<_> = claims.iter().map(name_and_kind).collect();
        let state = &mut *self.state();
        state.open += claims.len();
        state.line(StreamLine::System { name: system.name(), claims: &claims });
    }

    /// A claim is settled, or its system is decided without it.
    pub(super) fn result(&self, claim: &ClaimView) {
        let state = &mut *self.state();
        state.open = state.open.saturating_sub(1);
        state.settled += usize::from(!claim.verdict.is_open());
        state.line(StreamLine::Result(claim));
    }

    /// Something happened; writes a line about progress now and then.
    pub(super) fn event(&self, event: &Event) {
        let Event::Progress { engine, text, .. } = event else { return };
        let state = &mut *self.state();
        match state.engines.iter_mut().find(|(name, _)| name == engine) {
            Some((_, at)) => at.clone_from(text),
            None => state.engines.push((engine.clone(), text.clone())),
        }
        if state.last_progress.elapsed() < BETWEEN {
            return;
        }
        state.last_progress = Instant::now();
        let engines = state.engines.clone();
        let (seconds, settled) = (state.started.elapsed().as_secs_f64(), state.settled);
        let open = state.open;
        state.line(StreamLine::Progress { seconds, settled, open, engines: &engines });
    }

    /// The check of the file is over.
    pub(super) fn end(&self, view: &CheckView, exit_code: u8) {
        self.state().line(StreamLine::End { view, exit_code });
    }

    /// True if the reader has closed the pipe.
    pub(super) fn is_closed(&self) -> bool {
        self.state().output.is_closed()
    }

    /// The command is over. An error of writing goes to `output`.
    pub(super) fn close(self, exit_code: u8, output: &mut Output) {
        let state = &mut *self.state();
        state.line(StreamLine::Exit(exit_code));
        state.closed = true;
        output.adopt(&mut state.output);
    }
}
