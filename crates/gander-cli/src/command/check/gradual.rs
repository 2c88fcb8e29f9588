//! Verdicts on the terminal as they are settled.
//!
//! A short check prints its report at once, in the order of the file. In a longer one, what is
//! settled by then is printed after [`AT_ONCE`], and every further claim when it is settled; the
//! rest of the report comes at the end.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gander::VerdictObserver;
use gander::engines::{Cancellation, Event, Observer};
use gander::report::{CheckText, ClaimView, GradualText};
use gander::system::{ClaimId, ClaimOrigin, System};

use super::json_lines::JsonLines;
use crate::process::{Output, Progress, ProgressLine};

/// A check that ends within this time prints its report at once.
const AT_ONCE: Duration = Duration::from_millis(40);

enum Message {
    /// Names of claims that may get lines.
    Expect(Vec<String>),
    Claim(Box<ClaimView>),
}

/// Prints on a thread of its own, so that a slow terminal does not delay the check.
pub(super) struct GradualPrinter {
    sender: Sender<Message>,
    thread: Option<JoinHandle<GradualText>>,
}

impl GradualPrinter {
    /// Begins to print the report about a file. Without a thread, all of it is printed at the end.
    pub(super) fn start(
        file: &str,
        form: CheckText,
        line: ProgressLine,
        output: Output,
    ) -> GradualPrinter {
        let (sender, receiver) = channel();
        let text = GradualText::new(file, form);
        let begun = Instant::now();
        let thread = std::thread::Builder::new()
            .name("printer".into())
            .spawn(move || print(&receiver, text, begun, &line, output))
            .ok();
        GradualPrinter { sender, thread }
    }

    fn send(&self, message: Message) {
        // Without the thread, the report is printed at the end.
        let _ = self.sender.send(message);
    }

    /// Waits until everything is printed. The result makes the rest of the report; none if nothing
    /// was printed.
    pub(super) fn finish(self) -> Option<GradualText> {
        drop(self.sender);
        self.thread?.join().ok()
    }
}

fn print(
    messages: &Receiver<Message>,
    mut text: GradualText,
    begun: Instant,
    line: &ProgressLine,
    mut output: Output,
) -> GradualText {
    let mut early: Vec<ClaimView> = Vec::new();
    let mut order: Vec<String> = Vec::new();
    let mut print = |text: &mut GradualText, claims: Vec<ClaimView>| {
        let lines: String = claims.into_iter().map(|c| text.claim(c)).collect();
        if !lines.is_empty() {
            line.print_instead(|| {
                output.put(&lines);
                output.flush();
            });
        }
    };
    loop {
        let wait = AT_ONCE.saturating_sub(begun.elapsed());
        let message = if wait.is_zero() {
            early.sort_by_cached_key(|c| order.iter().position(|name| *name == c.name));
            print(&mut text, std::mem::take(&mut early));
            messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            messages.recv_timeout(wait)
        };
        match message {
            Ok(Message::Expect(names)) => {
                text.expect(names.iter().map(String::as_str));
                order.extend(names);
            }
            Ok(Message::Claim(claim)) => early.push(*claim),
            Err(RecvTimeoutError::Timeout) => {}
            // What was not printed yet is part of the rest.
            Err(RecvTimeoutError::Disconnected) => return text,
        }
    }
}

/// Observes a check for all who show something of it while it runs.
pub(super) struct Listener<'a> {
    pub(super) progress: Progress,
    pub(super) lines: Option<&'a JsonLines>,
    pub(super) printer: Option<&'a GradualPrinter>,
    pub(super) cancel: &'a Cancellation,
}

impl Listener<'_> {
    /// True if verdicts are shown, or counted on the terminal, before the check is over.
    pub(super) fn needs_verdicts(&self) -> bool {
        self.lines.is_some() || self.printer.is_some() || std::io::stderr().is_terminal()
    }
}

impl Observer for Listener<'_> {
    fn event(&self, event: &Event) {
        self.progress.event(event);
        if let Some(lines) = self.lines {
            lines.event(event);
        }
    }
}

impl VerdictObserver for Listener<'_> {
    fn begin(&self, system: &System, claims: &[ClaimId]) {
        let all = || claims.iter().map(|c| &system.claims()[c.index()]);
        self.progress.claims(all().map(|c| c.name.clone()));
        if let Some(lines) = self.lines {
            lines.system(system, claims);
        }
        if let Some(printer) = self.printer {
            let written = all().filter(|c| c.origin != ClaimOrigin::Structural);
            printer.send(Message::Expect(written.map(|c| c.name.clone()).collect()));
        }
    }

    fn settled(&self, claim: &ClaimView) {
        self.progress.settled(&claim.name);
        if let Some(printer) = self.printer {
            printer.send(Message::Claim(Box::new(claim.clone())));
        }
        if let Some(lines) = self.lines {
            lines.result(claim);
            if lines.is_closed() {
                self.cancel.cancel();
            }
        }
    }
}
