//! The service: what adapters call.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gander_report::CheckView;
use gander_runtime::lock;

use crate::analysis::Analysis;
use crate::checks::{CheckEnding, CheckId, CheckRequest};
use crate::config::ServiceConfig;
use crate::diagnostics::DocumentDiagnostic;
use crate::document::{Document, Refusal, Revision, Uri};
use crate::events::Subscription;
use crate::results::{ClaimRecord, Explanation, Freshness};
use crate::simulation::Simulations;
use crate::state::Shared;

/// Bytes of the stack of the threads.
const STACK: usize = 16 << 20;

/// Open documents, a queue of checks, and results; see the documentation of the crate. Dropping it
/// cancels all work.
#[derive(Debug)]
pub struct Service {
    shared: Arc<Shared>,
    simulations: Arc<Simulations>,
    threads: Vec<JoinHandle<()>>,
}

impl Service {
    /// Starts the threads: one that parses, and [`ServiceConfig::workers`] that check.
    pub fn start(config: ServiceConfig) -> Service {
        let workers = config.workers.max(1);
        let shared = Arc::new(Shared::new(config));
        let mut threads = Vec::new();
        let mut spawn = |name: String, body: fn(&Shared)| {
            let shared = Arc::clone(&shared);
            let builder = thread::Builder::new().name(name).stack_size(STACK);
            // If no thread can be started, documents can be opened but are not parsed.
            threads.extend(builder.spawn(move || body(&shared)));
        };
        spawn("parse".into(), Shared::parse_documents);
        for n in 0..workers {
            spawn(format!("check-{n}"), Shared::run_checks);
        }
        Service { shared, simulations: Arc::default(), threads }
    }

    /// The events from now on.
    pub fn subscribe(&self) -> Subscription {
        self.shared.subscribers.subscribe()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn simulations(&self) -> &Arc<Simulations> {
        &self.simulations
    }

    /// The settings.
    pub fn config(&self) -> Arc<ServiceConfig> {
        self.shared.config()
    }

    /// Changes the settings; checks that run are not affected. The number of workers stays.
    pub fn configure(&self, change: impl FnOnce(&mut ServiceConfig)) {
        let mut config = lock(&self.shared.config);
        change(Arc::make_mut(&mut config));
    }

    /// Opens a document. One of the same name that is open already is replaced, whatever its
    /// version. The extension of the file name says the language; included files are read from the
    /// folder of the file.
    pub fn open(
        &self,
        uri: Uri,
        file_name: &str,
        version: i64,
        text: String,
    ) -> Result<Revision, Refusal> {
        self.shared.put(uri, Some(file_name), version, text)
    }

    /// Replaces the text of an open document. Checks of the earlier text are dropped.
    pub fn change(&self, uri: &Uri, version: i64, text: String) -> Result<Revision, Refusal> {
        self.shared.put(uri.clone(), None, version, text)
    }

    /// Compares the files that a document includes with those that were read, and reads them again
    /// if they differ: then earlier results are not current any more, as after a change of the
    /// text. A check begins with this, too.
    pub fn compare_includes(&self, uri: &Uri) {
        self.shared.ask_for_comparison(uri);
    }

    /// [`Service::compare_includes`] for all documents. Those that were read again since they were
    /// last checked are checked, if a request is given.
    pub fn compare_all_includes(&self, check: Option<&CheckRequest>) {
        self.shared.ask_for_comparisons(check);
    }

    /// Closes a document: its checks and results are dropped.
    pub fn close(&self, uri: &Uri) -> Result<(), Refusal> {
        self.simulations.forget(uri);
        self.shared.remove(uri)
    }

    /// The names of the open documents.
    pub fn documents(&self) -> Vec<Uri> {
        let mut uris: Vec<Uri> = lock(&self.shared.state).documents.keys().cloned().collect();
        uris.sort();
        uris
    }

    /// A document as it is now.
    pub fn document(&self, uri: &Uri) -> Option<Arc<Document>> {
        Some(Arc::clone(&lock(&self.shared.state).documents.get(uri)?.document))
    }

    /// The model of the latest text; none while it is parsed.
    pub fn analysis(&self, uri: &Uri) -> Option<Arc<Analysis>> {
        Some(Arc::clone(lock(&self.shared.state).documents.get(uri)?.current_analysis()?))
    }

    /// The diagnostics of the latest text, with those of checks of it; none while it is parsed.
    pub fn diagnostics(&self, uri: &Uri) -> Option<Arc<[DocumentDiagnostic]>> {
        lock(&self.shared.state).documents.get(uri)?.diagnostics()
    }

    /// The results of claims, also of earlier versions, ordered by name.
    pub fn verdicts(&self, uri: &Uri) -> Vec<(Arc<ClaimRecord>, Freshness)> {
        let state = lock(&self.shared.state);
        let Some(entry) = state.documents.get(uri) else { return Vec::new() };
        let freshness = |of: Revision| match of == entry.document.revision {
            true => Freshness::Current,
            false => Freshness::Outdated,
        };
        entry.results.records().map(|r| (Arc::clone(r), freshness(r.revision))).collect()
    }

    /// The result of a claim.
    pub fn verdict(&self, uri: &Uri, claim: &str) -> Option<(Arc<ClaimRecord>, Freshness)> {
        let state = lock(&self.shared.state);
        let entry = state.documents.get(uri)?;
        let record = entry.results.record(claim)?;
        let is_current = record.revision == entry.document.revision;
        let freshness = if is_current { Freshness::Current } else { Freshness::Outdated };
        Some((Arc::clone(record), freshness))
    }

    /// The explanation of a property, and whether it is about the latest text.
    pub fn explanation(&self, uri: &Uri, claim: &str) -> Option<(Arc<Explanation>, Freshness)> {
        let state = lock(&self.shared.state);
        let entry = state.documents.get(uri)?;
        let found = Arc::clone(entry.results.explanation(claim)?);
        let is_current = found.revision == entry.document.revision;
        Some((found, if is_current { Freshness::Current } else { Freshness::Outdated }))
    }

    /// The explanations of the latest text, by property.
    pub fn explanations(&self, uri: &Uri) -> Vec<(String, Arc<Explanation>)> {
        let state = lock(&self.shared.state);
        let Some(entry) = state.documents.get(uri) else { return Vec::new() };
        let current = entry.results.explanations();
        let current = current.filter(|(_, e)| e.revision == entry.document.revision);
        current.map(|(name, e)| (name.clone(), Arc::clone(e))).collect()
    }

    /// The report of the last check of all claims, as the command has it; none if the text was
    /// changed since, or if results of it were dropped.
    pub fn report(&self, uri: &Uri) -> Option<CheckView> {
        let state = lock(&self.shared.state);
        let entry = state.documents.get(uri)?;
        entry.results.report(entry.document.revision)
    }

    /// Puts a check of the latest text into the queue. The newest check goes first, once the text
    /// is parsed. An equal check that waits is not repeated.
    pub fn check(&self, uri: &Uri, request: CheckRequest) -> Result<CheckId, Refusal> {
        self.shared.enqueue(uri, request)
    }

    /// The checks that wait (`false`) or run (`true`).
    pub fn checks(&self) -> Vec<(CheckId, Uri, bool)> {
        lock(&self.shared.state).queue.list()
    }

    /// Cancels a check, if it has not ended.
    pub fn cancel(&self, check: CheckId) {
        self.shared.cancel_check(check);
    }

    /// Cancels all checks of a document.
    pub fn cancel_all(&self, uri: &Uri) {
        self.shared.cancel_checks_of(uri);
    }

    /// Waits until every document is parsed, with its included files as they are now if that was
    /// asked for, and no check waits or runs. False if that takes longer
    /// than this.
    pub fn wait_until_idle(&self, timeout: Duration) -> bool {
        let end = Instant::now() + timeout;
        let mut state = lock(&self.shared.state);
        loop {
            let is_parsed = state.documents.values().all(|e| e.compared_analysis().is_some());
            if is_parsed && state.queue.is_empty() {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || state.is_stopping {
                return false;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    /// Waits until the latest text of a document is parsed, after a comparison of included files if
    /// that was asked for. None if that takes longer than this.
    pub fn wait_until_parsed(&self, uri: &Uri, timeout: Duration) -> Option<Arc<Analysis>> {
        self.shared.wait_until_parsed(uri, timeout)
    }

    /// Waits until a check has ended. False if that takes longer than this.
    pub fn wait_until_ended(&self, check: CheckId, timeout: Duration) -> bool {
        let end = Instant::now() + timeout;
        let mut state = lock(&self.shared.state);
        loop {
            if !state.queue.list().iter().any(|(id, ..)| *id == check) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.stop();
        for thread in self.threads.drain(..) {
            // A panic of a thread has been reported already.
            let _ = thread.join();
        }
        // Checks that ran have sent their ends.
        self.shared.subscribers.close();
    }
}

// Stated here because adapters share a service between threads.
const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Service>();
    let _ = CheckEnding::Rejected;
};
