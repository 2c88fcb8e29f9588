//! What happens in a service, and how subscribers receive it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use gander_runtime::lock;

use crate::checks::{CheckEnding, CheckId};
use crate::diagnostics::DocumentDiagnostic;
use crate::document::{Document, Uri};
use crate::results::{ClaimRecord, Explanation};

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The diagnostics of a document are these. Sent when a version was parsed, and when a check of
    /// it found or withdrew some.
    Diagnostics {
        /// The document, at the version that they are about.
        document: Arc<Document>,
        /// All diagnostics.
        diagnostics: Arc<[DocumentDiagnostic]>,
    },
    /// A check begins.
    CheckStarted {
        /// Which one.
        check: CheckId,
        /// The document, at the version that is checked.
        document: Arc<Document>,
    },
    /// These claims of a system are about to be decided.
    Claims {
        /// The check.
        check: CheckId,
        /// The document.
        document: Arc<Document>,
        /// The name of the system.
        system: String,
        /// Names and kinds of the claims.
        claims: Vec<(String, &'static str)>,
    },
    /// A claim was settled, or its system was decided without it. Final for this check.
    Verdict {
        /// The check.
        check: CheckId,
        /// The document.
        document: Arc<Document>,
        /// The result.
        record: Arc<ClaimRecord>,
    },
    /// The progress of a check. At most ten of these are sent in a second.
    Progress {
        /// The check.
        check: CheckId,
        /// The document.
        document: Arc<Document>,
        /// Time from the beginning of the check.
        elapsed: Duration,
        /// Claims with a verdict.
        settled: usize,
        /// Claims without one.
        open: usize,
        /// What each engine said last.
        engines: Vec<(String, String)>,
    },
    /// A property was explained ([`crate::CheckWork::Explain`]).
    Explained {
        /// The check.
        check: CheckId,
        /// The document.
        document: Arc<Document>,
        /// Why its properties hold, or how they fail.
        explanation: Arc<Explanation>,
    },
    /// A check is over. Sent once for each check that was accepted.
    CheckEnded {
        /// Which one.
        check: CheckId,
        /// The document.
        document: Arc<Document>,
        /// How it ended.
        ending: CheckEnding,
    },
    /// A file that a document includes was changed, so that results are not current any more,
    /// although the version is the same.
    Outdated {
        /// The document.
        document: Arc<Document>,
    },
    /// A document was closed.
    Closed(Uri),
    /// Earlier events were dropped because this subscriber did not take them. What holds now must
    /// be read from the service.
    Lagged,
}

#[derive(Debug, Default)]
struct Mailbox {
    events: VecDeque<Arc<Event>>,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Channel {
    mailbox: Mutex<Mailbox>,
    arrived: Condvar,
}

/// Receives the events of a service, from the time of [`crate::Service::subscribe`] on. Drop it to
/// end the subscription.
#[derive(Debug)]
pub struct Subscription {
    channel: Arc<Channel>,
}

impl Subscription {
    /// The next event. Waits for at most this long; none if the time is over or the service was
    /// stopped and all events were taken.
    pub fn next(&self, timeout: Duration) -> Option<Arc<Event>> {
        let end = Instant::now().checked_add(timeout);
        let mut mailbox = lock(&self.channel.mailbox);
        loop {
            if let Some(event) = mailbox.events.pop_front() {
                return Some(event);
            }
            let left = end.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            if mailbox.is_closed || left.is_zero() {
                return None;
            }
            let waited = self.channel.arrived.wait_timeout(mailbox, left);
            mailbox = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    /// True once the service was stopped and all events were taken.
    pub fn is_over(&self) -> bool {
        let mailbox = lock(&self.channel.mailbox);
        mailbox.is_closed && mailbox.events.is_empty()
    }
}

/// The subscribers of a service.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    channels: Mutex<Vec<Arc<Channel>>>,
    is_closed: Mutex<bool>,
}

impl Subscribers {
    pub(crate) fn subscribe(&self) -> Subscription {
        let channel = Arc::new(Channel::default());
        lock(&self.channels).push(Arc::clone(&channel));
        if *lock(&self.is_closed) {
            lock(&channel.mailbox).is_closed = true;
        }
        Subscription { channel }
    }

    /// Gives an event to every subscriber; one that has not taken `limit` events loses them.
    pub(crate) fn send(&self, event: Event, limit: usize) {
        let event = Arc::new(event);
        let mut channels = lock(&self.channels);
        // A channel that only this list holds has lost its subscription.
        channels.retain(|channel| Arc::strong_count(channel) > 1);
        for channel in channels.iter() {
            let mut mailbox = lock(&channel.mailbox);
            if mailbox.events.len() >= limit.max(2) {
                mailbox.events.clear();
                mailbox.events.push_back(Arc::new(Event::Lagged));
            }
            mailbox.events.push_back(Arc::clone(&event));
            channel.arrived.notify_all();
        }
    }

    pub(crate) fn close(&self) {
        *lock(&self.is_closed) = true;
        for channel in lock(&self.channels).iter() {
            lock(&channel.mailbox).is_closed = true;
            channel.arrived.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscriber_that_takes_nothing_is_told_that_events_are_lost() {
        let subscribers = Subscribers::default();
        let (slow, gone) = (subscribers.subscribe(), subscribers.subscribe());
        drop(gone);
        for n in 0..25 {
            subscribers.send(Event::Closed(Uri::new(&n.to_string())), 10);
            assert!(lock(&slow.channel.mailbox).events.len() <= 10);
        }
        assert!(matches!(*slow.next(Duration::ZERO).unwrap(), Event::Lagged));
        let mut last = None;
        while let Some(event) = slow.next(Duration::ZERO) {
            last = Some(event);
        }
        assert!(matches!(&*last.unwrap(), Event::Closed(uri) if uri.as_str() == "24"));
        assert!(!slow.is_over());
        subscribers.close();
        assert!(slow.is_over() && subscribers.subscribe().is_over());
    }
}
