//! Commands out, answers in: one solver process and its state of health.
//!
//! Before a query the solver is told to `echo` a fresh marker, and the answer is what comes after that marker: a
//! solver that says too much or too little is found out and never mistaken for answering the next query. After any
//! failure the process is gone and the reason is kept.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use gander_text::shown_path;

use crate::answer::{Limits, Reason};
use crate::dialect::Solver;
use gander_runtime::lock;

use crate::process::{Owner, Process, ProcessLimits, Stop};
use crate::sexpr::{Scanner, Sexpr, shortened};

/// Commands are handed to the solver in portions of about this size, so that it can read while we write.
const PORTION: usize = 64 << 10;

/// Markers are this and a number.
const MARKER: &str = "gander-";

/// Processes kept of each kind.
const MOST_SHELVED: usize = 4;

/// What a process was told in its first conversation and does not forget by `reset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Habit {
    Plain,
    Cores,
    Horn,
}

/// Processes whose conversation is over, for the next one with the same solver and habit; the first word to them must be
/// `reset`.
pub(crate) type Shelf = Arc<Mutex<Vec<(Solver, Habit, Process)>>>;

/// Where a process goes when its conversation is over.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub shelf: Shelf,
    pub solver: Solver,
    pub habit: Habit,
}

impl Home {
    pub(crate) fn take(&self) -> Option<Process> {
        let mut shelf = lock(&self.shelf);
        let at = shelf.iter().position(|(s, h, p)| *s == self.solver && *h == self.habit && p.is_alive())?;
        Some(shelf.swap_remove(at).2)
    }

    fn put(&self, process: Process) {
        let mut shelf = lock(&self.shelf);
        if shelf.iter().filter(|(s, h, _)| *s == self.solver && *h == self.habit).count() < MOST_SHELVED {
            shelf.push((self.solver.clone(), self.habit, process));
        }
    }
}

pub(crate) struct Conversation {
    process: Option<Process>,
    failure: Option<Reason>,
    owner: Owner,
    limits: ProcessLimits,
    /// Commands that are not yet in the log.
    pending: String,
    /// So many bytes of `pending` were said to the process by somebody else.
    said: usize,
    /// Commands on their way to the solver, of which `sent` bytes are gone.
    outbox: Vec<u8>,
    sent: usize,
    markers: u64,
    /// The marker that the answer to the next query comes after.
    marker: Option<String>,
    log: Option<Box<dyn Write + Send>>,
    home: Option<Home>,
}

impl Conversation {
    /// A conversation with a process that is ready for it, or with a new one.
    pub(crate) fn start(solver: &Solver, limits: ProcessLimits, owner: Owner, ready: Option<Process>) -> Conversation {
        let mut conversation = Conversation {
            process: None,
            failure: None,
            owner,
            limits,
            pending: String::new(),
            said: 0,
            outbox: Vec::new(),
            sent: 0,
            markers: 0,
            marker: None,
            log: None,
            home: None,
        };
        match ready {
            Some(mut process) => {
                process.serve(limits, &conversation.owner);
                conversation.process = Some(process);
            }
            None => conversation.restart(solver),
        }
        conversation
    }

    /// Ends the process, if there is one, and starts a fresh one.
    pub(crate) fn restart(&mut self, solver: &Solver) {
        self.process = None;
        self.failure = None;
        self.marker = None;
        self.clear();
        if self.owner.cancellation.is_cancelled() {
            self.failure = Some(Reason::Interrupted);
            return;
        }
        let arguments = solver.arguments(self.limits.memory);
        let started =
            solver.verify().and_then(|()| Process::spawn(&solver.program, &arguments, self.limits, &self.owner));
        match started {
            Ok(process) => self.process = Some(process),
            Err(e) => {
                self.failure = Some(Reason::NotStarted(format!("{}: {e}", shown_path(&solver.program))));
            }
        }
    }

    /// [`Conversation::start`] with a process from its home, if there is one, which will go there in the end.
    /// True if it had another conversation before and was told to forget it.
    pub(crate) fn at_home(home: Home, limits: ProcessLimits, owner: Owner) -> (Conversation, bool) {
        let used = home.take();
        let again = used.is_some();
        let mut conversation = Conversation::start(&home.solver, limits, owner, used);
        if again {
            conversation.commands().push_str("(reset)\n");
        }
        conversation.home = Some(home);
        (conversation, again)
    }

    /// The process, which no further word is said to.
    pub(crate) fn take_process(&mut self) -> Option<Process> {
        self.process.take()
    }

    pub(crate) fn failure(&self) -> Option<&Reason> {
        self.failure.as_ref()
    }

    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    pub(crate) fn set_log(&mut self, log: Box<dyn Write + Send>) {
        self.log = Some(log);
    }

    /// The text of commands that will be sent; append to it.
    pub(crate) fn commands(&mut self) -> &mut String {
        &mut self.pending
    }

    /// What was just said, the introduction, is only noted if the process has heard it before.
    pub(crate) fn skip_what_was_said(&mut self) {
        if self.process.as_ref().is_some_and(Process::is_introduced) {
            self.said = self.pending.len();
        }
    }

    /// Hands over what the solver takes without waiting, if there is much.
    pub(crate) fn send_large(&mut self) {
        if self.pending.len() >= PORTION {
            self.post();
            if let Some(process) = &mut self.process {
                // A failure will be met again by the next query.
                self.sent += process.offer(&self.outbox[self.sent..]);
            }
        }
    }

    /// Hands over what the solver takes without waiting; the next query sends the rest.
    pub(crate) fn hand_over(&mut self) {
        self.set_spare(false);
        self.post();
        if let Some(process) = &mut self.process {
            self.sent += process.offer(&self.outbox[self.sent..]);
        }
    }

    /// Moves commands from the draft to the outbox.
    fn post(&mut self) {
        if self.failure.is_none() {
            self.write_log_commands();
            if self.sent == self.outbox.len() {
                self.outbox.clear();
                self.sent = 0;
            }
            self.outbox.extend_from_slice(&self.pending.as_bytes()[self.said..]);
        }
        self.pending.clear();
        self.said = 0;
    }

    fn send(&mut self, deadline: Option<Instant>) -> Result<(), Reason> {
        self.post();
        if let Some(reason) = &self.failure {
            return Err(reason.clone());
        }
        let outcome = match &mut self.process {
            Some(process) => process.send(&self.outbox[self.sent..], deadline),
            None => Err(Stop::Closed),
        };
        self.outbox.clear();
        self.outbox.shrink_to(4 * PORTION);
        self.sent = 0;
        outcome.map_err(|stop| self.fail_for(stop))
    }

    /// Puts a marker before the command that comes next.
    ///
    /// Not before `get-unsat-assumptions`: Yices 2.6.5 forgets the names of assumptions when it reads a string.
    pub(crate) fn mark(&mut self) {
        self.markers += 1;
        let marker = format!("{MARKER}{}", self.markers);
        self.pending.push_str("(echo \"");
        self.pending.push_str(&marker);
        self.pending.push_str("\")\n");
        self.marker = Some(marker);
    }

    /// Sends what is pending and reads the answer to its last command, the only one that has an answer.
    pub(crate) fn query(&mut self, limits: Limits) -> Result<Sexpr, Reason> {
        self.set_spare(false);
        if self.owner.cancellation.is_cancelled() {
            return Err(self.fail(Reason::Interrupted));
        }
        let deadline = limits.time.and_then(|t| Instant::now().checked_add(t));
        if let Some(process) = &mut self.process {
            process.renew_lease(deadline);
        }
        let marker = self.marker.take();
        self.send(deadline)?;
        let answer = self.read_answer(marker, deadline);
        if let (Some(log), Err(reason)) = (&mut self.log, &answer) {
            let _ = writeln!(log, "; ({})", reason.to_string().replace('\n', " "));
        }
        self.set_spare(self.home.is_some());
        answer
    }

    fn set_spare(&self, spare: bool) {
        if let Some(process) = &self.process {
            process.set_spare(spare);
        }
    }

    fn read_answer(&mut self, mut marker: Option<String>, deadline: Option<Instant>) -> Result<Sexpr, Reason> {
        let mut scanner = Scanner::new();
        loop {
            let Some(process) = &mut self.process else {
                return Err(self.fail(Reason::Died("it was not running".into())));
            };
            let Some(range) = scanner.next(process.output()) else {
                match process.receive(deadline) {
                    Ok(()) => continue,
                    Err(stop) => return Err(self.fail_for(stop)),
                }
            };
            let (start, end) = (range.start, range.end);
            let expression = match Sexpr::parse(&process.output()[range]) {
                Ok(e) => e,
                Err(e) => return Err(self.fail(Reason::Garbage(format!("it printed {}", e.0)))),
            };
            if let Some(message) = error_message(&expression) {
                return Err(self.fail(error_reason(message)));
            }
            match marker.take() {
                None => {
                    if let Some(log) = &mut self.log {
                        let text = String::from_utf8_lossy(&process.output()[start..end]);
                        let _ = writeln!(log, "; {}", text.trim().replace('\n', "\n; "));
                    }
                    process.forget_output(end);
                    return Ok(expression);
                }
                Some(m) if matches!(&expression, Sexpr::Atom(a) | Sexpr::Text(a) if *a == m) => {}
                Some(_) => return Err(self.fail(Reason::Garbage(format!("`{expression}` without being asked")))),
            }
        }
    }

    /// Ends the process and keeps the reason.
    pub(crate) fn fail(&mut self, reason: Reason) -> Reason {
        self.process = None;
        self.clear();
        self.failure = Some(reason.clone());
        reason
    }

    fn clear(&mut self) {
        self.pending.clear();
        self.said = 0;
        self.outbox.clear();
        self.sent = 0;
    }

    fn fail_for(&mut self, stop: Stop) -> Reason {
        let reason = match stop {
            Stop::Timeout => Reason::Timeout,
            Stop::Interrupted => Reason::Interrupted,
            Stop::Flood => Reason::Garbage(format!("more than {} bytes of output", self.limits.output)),
            Stop::Memory => Reason::Memory,
            Stop::Closed => self.death(),
        };
        self.fail(reason)
    }

    /// Why the process closed its output.
    fn death(&mut self) -> Reason {
        if self.owner.cancellation.is_cancelled() {
            return Reason::Interrupted;
        }
        let Some(process) = &mut self.process else {
            return Reason::Died("it was not running".into());
        };
        let by_deadline = process.is_limited_by_deadline();
        let status = process.exit_status();
        let errors = process.error_text();
        let said = format!("{}{errors}", String::from_utf8_lossy(process.output()));
        // Under a limit, a solver may not even get its libraries into memory.
        let loading = said.contains("failed to map segment");
        if self.limits.memory.is_some() && (loading || is_about_memory(&said)) {
            return Reason::Memory;
        }
        // The processor time limit stands behind the time limit of a query.
        const SIGXCPU: i32 = 24;
        match status {
            Some(s) if s.signal() == Some(SIGXCPU) && by_deadline => Reason::Timeout,
            Some(s) if s.signal() == Some(SIGXCPU) => Reason::Died("it worked for too long while nobody waited".into()),
            Some(s) => Reason::Died(with_last_words(&s.to_string(), &said)),
            None => Reason::Died(with_last_words("it closed its output", &said)),
        }
    }

    fn write_log_commands(&mut self) {
        if let Some(log) = &mut self.log {
            for line in self.pending.split_inclusive('\n').filter(|l| !l.starts_with("(echo ")) {
                // A log that cannot be written must not cost an answer.
                let _ = log.write_all(line.as_bytes());
            }
        }
    }

    /// Notes in the log that all that came before is forgotten.
    pub(crate) fn log_reset(&mut self) {
        if let Some(log) = &mut self.log {
            let _ = log.write_all(b"(reset)\n");
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.write_log_commands();
        if let Some(log) = &mut self.log {
            let _ = log.flush();
        }
        // Whoever was broken off may have been in the middle of a sentence.
        let broken_off = std::thread::panicking();
        let said = self.failure.is_none() && self.sent == self.outbox.len() && self.marker.is_none();
        let all_said = said && !broken_off;
        if let (Some(home), Some(mut process), true) = (&self.home, self.process.take(), all_said)
            && process.leave(&self.owner)
        {
            home.put(process);
        }
    }
}

fn with_last_words(how: &str, said: &str) -> String {
    let said = said.trim();
    if said.is_empty() { how.to_string() } else { format!("{how}; it said: {}", shortened(said)) }
}

/// The message of `(error "...")`.
fn error_message(expression: &Sexpr) -> Option<String> {
    match expression.list() {
        Some([head, rest @ ..]) if head.atom() == Some("error") => Some(match rest {
            [Sexpr::Text(message)] => message.clone(),
            other => other.iter().map(Sexpr::to_string).collect::<Vec<_>>().join(" "),
        }),
        _ => None,
    }
}

/// True if a solver says that it could get no more memory.
fn is_about_memory(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["out of memory", "bad_alloc", "memory exhausted", "cannot allocate memory"].iter().any(|m| message.contains(m))
}

fn error_reason(message: String) -> Reason {
    if is_about_memory(&message) { Reason::Memory } else { Reason::SolverError(shortened(&message)) }
}
