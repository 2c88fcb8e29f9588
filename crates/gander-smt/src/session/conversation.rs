//! Commands to one solver process, and its answers.
//!
//! Before a query the solver gets the command to `echo` a new marker, and the answer is the
//! expression after that marker. So additional or missing output is detected, and is never taken
//! for the answer to the next query. After a failure the process is killed and the reason is kept.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use gander_term::smtlib::{Scanner, Sexpr, Tree, TreeConfig, shortened};
use gander_text::shown_path;

use crate::session::answer::{Limits, Reason};
use crate::solver::dialect::Solver;
use gander_runtime::lock;

use gander_process::{Interactive, InteractiveLimits, Owner, Stop};

/// Bytes of pending commands that are sent at once, so that the solver reads while further commands
/// are written.
const PORTION: usize = 64 << 10;

/// The beginning of markers; a number follows.
const MARKER: &str = "gander-";

/// Idle processes that are kept for each solver and profile.
const MAX_POOLED: usize = 4;

/// The options of a process that survive `reset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Profile {
    Plain,
    Cores,
    Horn,
}

/// Idle processes, for the next conversation with the same solver and profile. The first command to
/// them must be `reset`.
pub(crate) type ProcessPool = Arc<Mutex<Vec<(Solver, Profile, Interactive)>>>;

/// The pool that a process comes from and returns to, and its solver and profile.
#[derive(Clone, Debug)]
pub(crate) struct PoolKey {
    pub processes: ProcessPool,
    pub solver: Solver,
    pub profile: Profile,
}

impl PoolKey {
    pub(crate) fn take(&self) -> Option<Interactive> {
        let mut processes = lock(&self.processes);
        let at = processes
            .iter()
            .position(|(s, f, p)| *s == self.solver && *f == self.profile && p.is_alive())?;
        Some(processes.swap_remove(at).2)
    }

    fn put(&self, process: Interactive) {
        let mut processes = lock(&self.processes);
        let same =
            |(s, f, _): &&(Solver, Profile, Interactive)| *s == self.solver && *f == self.profile;
        if processes.iter().filter(same).count() < MAX_POOLED {
            processes.push((self.solver.clone(), self.profile, process));
        }
    }
}

pub(crate) struct Conversation {
    process: Option<Interactive>,
    failure: Option<Reason>,
    owner: Owner,
    limits: InteractiveLimits,
    /// Commands that are not yet in the log.
    pending: String,
    /// Bytes of `pending` that the process received before this conversation.
    already_sent: usize,
    /// Commands for the solver, of which `sent` bytes were sent.
    outbox: Vec<u8>,
    sent: usize,
    markers: u64,
    /// The marker before the answer to the next query.
    marker: Option<String>,
    log: Option<Box<dyn Write + Send>>,
    pool_key: Option<PoolKey>,
}

impl Conversation {
    /// A conversation with a process that was started before, or with a new one.
    pub(crate) fn start(
        solver: &Solver,
        limits: InteractiveLimits,
        owner: Owner,
        ready: Option<Interactive>,
    ) -> Conversation {
        let mut conversation = Conversation {
            process: None,
            failure: None,
            owner,
            limits,
            pending: String::new(),
            already_sent: 0,
            outbox: Vec::new(),
            sent: 0,
            markers: 0,
            marker: None,
            log: None,
            pool_key: None,
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

    /// Kills the process, if there is one, and starts a new one.
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
        let started = solver.verify().and_then(|()| {
            Interactive::spawn(&solver.program, &arguments, self.limits, &self.owner)
        });
        match started {
            Ok(process) => self.process = Some(process),
            Err(e) => {
                self.failure =
                    Some(Reason::NotStarted(format!("{}: {e}", shown_path(&solver.program))));
            }
        }
    }

    /// [`Conversation::start`] with an idle process of the pool, if there is one. The process
    /// returns to the pool at the end. True if the process was used before; it is reset.
    pub(crate) fn pooled(
        pool_key: PoolKey,
        limits: InteractiveLimits,
        owner: Owner,
    ) -> (Conversation, bool) {
        let used = pool_key.take();
        let again = used.is_some();
        let mut conversation = Conversation::start(&pool_key.solver, limits, owner, used);
        if again {
            conversation.commands().push_str("(reset)\n");
        }
        conversation.pool_key = Some(pool_key);
        (conversation, again)
    }

    /// Takes the process away; the conversation is over.
    pub(crate) fn take_process(&mut self) -> Option<Interactive> {
        self.process.take()
    }

    pub(crate) fn failure(&self) -> Option<&Reason> {
        self.failure.as_ref()
    }

    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Interactive::id)
    }

    pub(crate) fn set_log(&mut self, log: Box<dyn Write + Send>) {
        self.log = Some(log);
    }

    /// The text of pending commands; append to it.
    pub(crate) fn commands(&mut self) -> &mut String {
        &mut self.pending
    }

    /// The process has received the pending commands before: they are logged but not sent again.
    pub(crate) fn skip_pending(&mut self) {
        self.already_sent = self.pending.len();
    }

    /// Sends what the solver accepts without waiting, if much is pending.
    pub(crate) fn send_large(&mut self) {
        if self.pending.len() >= PORTION {
            self.post();
            if let Some(process) = &mut self.process {
                // The next query reports a failure.
                self.sent += process.offer(&self.outbox[self.sent..]);
            }
        }
    }

    /// Sends what the solver accepts without waiting; the next query sends the rest.
    pub(crate) fn send_available(&mut self) {
        self.set_spare(false);
        self.post();
        if let Some(process) = &mut self.process {
            self.sent += process.offer(&self.outbox[self.sent..]);
        }
    }

    /// Logs the pending commands and moves them to the outbox.
    fn post(&mut self) {
        if self.failure.is_none() {
            self.write_log_commands();
            if self.sent == self.outbox.len() {
                self.outbox.clear();
                self.sent = 0;
            }
            self.outbox.extend_from_slice(&self.pending.as_bytes()[self.already_sent..]);
        }
        self.pending.clear();
        self.already_sent = 0;
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

    /// Adds a marker before the next command. Do not use it before `get-unsat-assumptions`: Yices
    /// 2.6.5 forgets the names of assumptions when it reads a string.
    pub(crate) fn mark(&mut self) {
        self.markers += 1;
        let marker = format!("{MARKER}{}", self.markers);
        self.pending.push_str("(echo \"");
        self.pending.push_str(&marker);
        self.pending.push_str("\")\n");
        self.marker = Some(marker);
    }

    /// Sends the pending commands and reads the answer to the last one, the only one with an
    /// answer.
    pub(crate) fn query(&mut self, limits: Limits) -> Result<Tree<'static>, Reason> {
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
        self.set_spare(self.pool_key.is_some());
        answer
    }

    fn set_spare(&self, spare: bool) {
        if let Some(process) = &self.process {
            process.set_spare(spare);
        }
    }

    fn read_answer(
        &mut self,
        mut marker: Option<String>,
        deadline: Option<Instant>,
    ) -> Result<Tree<'static>, Reason> {
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
            let reply = match Tree::parse_one(&process.output()[range], TreeConfig::SOLVER) {
                Ok(reply) => reply,
                Err(e) => return Err(self.fail(Reason::Garbage(format!("it printed {}", e.0)))),
            };
            let expression = reply.root();
            if let Some(message) = error_message(expression) {
                return Err(self.fail(error_reason(message)));
            }
            match marker.take() {
                None => {
                    if let Some(log) = &mut self.log {
                        let text = String::from_utf8_lossy(&process.output()[start..end]);
                        let _ = writeln!(log, "; {}", text.trim().replace('\n', "\n; "));
                    }
                    process.discard_output(end);
                    return Ok(reply);
                }
                Some(m)
                    if expression.atom() == Some(m.as_str())
                        || expression.string().as_ref() == Some(&m) => {}
                Some(_) => {
                    return Err(
                        self.fail(Reason::Garbage(format!("`{expression}` without being asked")))
                    );
                }
            }
        }
    }

    /// Kills the process and keeps the reason.
    pub(crate) fn fail(&mut self, reason: Reason) -> Reason {
        self.process = None;
        self.clear();
        self.failure = Some(reason.clone());
        reason
    }

    fn clear(&mut self) {
        self.pending.clear();
        self.already_sent = 0;
        self.outbox.clear();
        self.sent = 0;
    }

    fn fail_for(&mut self, stop: Stop) -> Reason {
        let reason = match stop {
            Stop::Timeout => Reason::Timeout,
            Stop::Interrupted => Reason::Interrupted,
            Stop::Flood => {
                Reason::Garbage(format!("more than {} bytes of output", self.limits.output))
            }
            Stop::Memory => Reason::Memory,
            Stop::Closed => self.exit_reason(),
        };
        self.fail(reason)
    }

    /// Why the process closed its output.
    fn exit_reason(&mut self) -> Reason {
        if self.owner.cancellation.is_cancelled() {
            return Reason::Interrupted;
        }
        let Some(process) = &mut self.process else {
            return Reason::Died("it was not running".into());
        };
        let by_deadline = process.is_limited_by_deadline();
        let status = process.exit_status();
        let errors = process.error_text();
        let output = format!("{}{errors}", String::from_utf8_lossy(process.output()));
        // A solver may reach its memory limit while it loads its libraries.
        let loading = output.contains("failed to map segment");
        if self.limits.memory.is_some() && (loading || is_about_memory(&output)) {
            return Reason::Memory;
        }
        // The limit on processor time is set from the time limit of the query.
        const SIGXCPU: i32 = 24;
        match status {
            Some(s) if s.signal() == Some(SIGXCPU) && by_deadline => Reason::Timeout,
            Some(s) if s.signal() == Some(SIGXCPU) => {
                Reason::Died("it exceeded its limit of processor time between two queries".into())
            }
            Some(s) => Reason::Died(with_output(&s.to_string(), &output)),
            None => Reason::Died(with_output("it closed its output", &output)),
        }
    }

    fn write_log_commands(&mut self) {
        if let Some(log) = &mut self.log {
            for line in self.pending.split_inclusive('\n').filter(|l| !l.starts_with("(echo ")) {
                // A failure to write the log must not stop the query.
                let _ = log.write_all(line.as_bytes());
            }
        }
    }

    /// Logs that the solver was restarted.
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
        // Work that was cancelled may have sent an incomplete command.
        let is_complete = self.failure.is_none()
            && self.sent == self.outbox.len()
            && self.marker.is_none()
            && !std::thread::panicking();
        if let (Some(pool_key), Some(mut process), true) =
            (&self.pool_key, self.process.take(), is_complete)
            && process.leave(&self.owner)
        {
            pool_key.put(process);
        }
    }
}

fn with_output(how: &str, output: &str) -> String {
    let output = output.trim();
    if output.is_empty() {
        how.to_string()
    } else {
        format!("{how}; it said: {}", shortened(output))
    }
}

/// The message of `(error "...")`.
fn error_message(expression: Sexpr<'_>) -> Option<String> {
    let items = expression.list()?;
    let (head, rest) = items.split_first()?;
    if head.atom() != Some("error") {
        return None;
    }
    if let [message] = rest
        && let Some(message) = message.string()
    {
        return Some(message);
    }
    Some(rest.iter().map(Sexpr::to_string).collect::<Vec<_>>().join(" "))
}

/// True if a message of a solver says that memory is exhausted.
fn is_about_memory(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["out of memory", "bad_alloc", "memory exhausted", "cannot allocate memory"]
        .iter()
        .any(|m| message.contains(m))
}

fn error_reason(message: String) -> Reason {
    if is_about_memory(&message) {
        Reason::Memory
    } else {
        Reason::SolverError(shortened(&message))
    }
}
