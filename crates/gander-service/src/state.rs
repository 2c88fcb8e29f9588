//! What the threads of a service share.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use gander::EarlierVerdicts;
use gander_runtime::{Cancellation, lock};

use crate::analysis::{Analysis, analyse};
use crate::checks::{CheckEnding, CheckId, Queue};
use crate::config::ServiceConfig;
use crate::diagnostics::{DocumentDiagnostic, of_verdict};
use crate::document::{Document, Refusal, Revision, Uri};
use crate::events::{Event, Subscribers};
use crate::includes::Includes;
use crate::results::Results;

/// What the thread that parses does next.
enum ParseTask {
    Parse(Arc<Document>, Cancellation),
    /// Whether the included files are those of this analysis.
    Compare(Arc<Analysis>),
}

/// An open document with what is known of it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) document: Arc<Document>,
    /// The analysis of the document, or of an earlier version while this one is parsed.
    pub(crate) analysis: Option<Arc<Analysis>>,
    /// Stops the parse that is under way.
    parsing: Option<Cancellation>,
    pub(crate) includes: Includes,
    pub(crate) results: Results,
    /// What checks found out about versions of this document, and the last of these checks.
    pub(crate) earlier: Option<(CheckId, Arc<EarlierVerdicts>)>,
    /// What checks of this text found beside verdicts.
    pub(crate) findings: Option<(Revision, Vec<DocumentDiagnostic>)>,
    /// The diagnostics that were sent last.
    sent: Option<(Revision, Arc<[DocumentDiagnostic]>)>,
}

impl Entry {
    /// The analysis of the latest text.
    pub(crate) fn current_analysis(&self) -> Option<&Arc<Analysis>> {
        self.analysis.as_ref().filter(|a| a.document.revision == self.document.revision)
    }

    /// The same, if included files were compared with it since that was last asked for.
    pub(crate) fn compared_analysis(&self) -> Option<&Arc<Analysis>> {
        self.current_analysis().filter(|_| self.includes.is_compared())
    }

    /// The diagnostics of the latest text; none while it is parsed.
    pub(crate) fn diagnostics(&self) -> Option<Arc<[DocumentDiagnostic]>> {
        let analysis = self.current_analysis()?;
        let revision = self.document.revision;
        let is_current = |of: &Revision| *of == revision;
        let of_checks = self.findings.as_ref().filter(|(of, _)| is_current(of)).map(|(_, d)| d);
        let records = || {
            let claims = analysis.claims.iter();
            let records = claims.filter_map(|claim| self.results.record(&claim.name));
            records.filter(|r| is_current(&r.revision)).filter_map(|r| of_verdict(r))
        };
        if of_checks.is_none() && records().next().is_none() {
            return Some(Arc::clone(&analysis.diagnostics));
        }
        let base = of_checks.map_or(&*analysis.diagnostics, |found| found);
        let mut all: Vec<DocumentDiagnostic> = base.to_vec();
        all.extend(records());
        all.sort_by_key(|d| d.span.map_or((0, 0), |s| (s.start, s.end)));
        Some(all.into())
    }
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) documents: HashMap<Uri, Entry>,
    pub(crate) queue: Queue,
    bytes: usize,
    pub(crate) revisions: u64,
    pub(crate) is_stopping: bool,
}

/// The state, and what wakes the threads.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Condvar,
    pub(crate) config: Mutex<Arc<ServiceConfig>>,
    pub(crate) subscribers: Subscribers,
}

impl Shared {
    pub(crate) fn new(config: ServiceConfig) -> Shared {
        Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            config: Mutex::new(Arc::new(config)),
            subscribers: Subscribers::default(),
        }
    }

    pub(crate) fn config(&self) -> Arc<ServiceConfig> {
        Arc::clone(&lock(&self.config))
    }

    pub(crate) fn send(&self, event: Event) {
        self.subscribers.send(event, self.config().limits.events);
    }

    /// Replaces or adds a text.
    pub(crate) fn put(
        &self,
        uri: Uri,
        file_name: Option<&str>,
        version: i64,
        text: String,
    ) -> Result<Revision, Refusal> {
        let limits = self.config().limits;
        let mut state = lock(&self.state);
        let state = &mut *state;
        if state.is_stopping {
            return Err(Refusal::Stopped);
        }
        let old = state.documents.get(&uri).map(|entry| &entry.document);
        let (old_bytes, file_name) = match (old, file_name) {
            (None, None) => return Err(Refusal::NotOpen),
            (Some(old), None) if version <= old.version => {
                return Err(Refusal::OldVersion { current: old.version });
            }
            (Some(old), None) => (old.text.len(), old.file_name.clone()),
            (old, Some(name)) => (old.map_or(0, |old| old.text.len()), name.to_string()),
        };
        if text.len() > limits.document_bytes {
            return Err(Refusal::TooLarge { limit: limits.document_bytes });
        }
        let bytes = state.bytes - old_bytes + text.len();
        if bytes > limits.all_bytes {
            return Err(Refusal::TooLarge { limit: limits.all_bytes });
        }
        if old.is_none() && state.documents.len() >= limits.documents {
            return Err(Refusal::TooMany { what: "open documents", limit: limits.documents });
        }
        state.bytes = bytes;
        state.revisions += 1;
        let revision = Revision(state.revisions);
        let document =
            Document::new(uri.clone(), file_name, version, revision, Arc::from(text.as_str()));
        let document = Arc::new(document);
        match state.documents.get_mut(&uri) {
            Some(entry) => {
                if let Some(parsing) = entry.parsing.take() {
                    parsing.cancel();
                }
                entry.document = document;
            }
            None => {
                let entry = Entry {
                    document,
                    analysis: None,
                    parsing: None,
                    includes: Includes::default(),
                    results: Results::default(),
                    earlier: None,
                    findings: None,
                    sent: None,
                };
                state.documents.insert(uri.clone(), entry);
            }
        }
        self.drop_checks(state, |job| job.uri == uri, CheckEnding::Superseded);
        self.text_changed(state, &uri);
        self.changed.notify_all();
        Ok(revision)
    }

    /// Forgets a document.
    pub(crate) fn remove(&self, uri: &Uri) -> Result<(), Refusal> {
        let mut state = lock(&self.state);
        let Some(entry) = state.documents.remove(uri) else { return Err(Refusal::NotOpen) };
        state.bytes -= entry.document.text.len();
        if let Some(parsing) = &entry.parsing {
            parsing.cancel();
        }
        self.drop_checks(&mut state, |job| job.uri == *uri, CheckEnding::Superseded);
        self.text_changed(&mut state, uri);
        self.send(Event::Closed(uri.clone()));
        self.changed.notify_all();
        Ok(())
    }

    /// Sends the diagnostics of a document if they are not those that were sent last.
    pub(crate) fn publish(&self, entry: &mut Entry) {
        let Some(diagnostics) = entry.diagnostics() else { return };
        let revision = entry.document.revision;
        let is_same = |(of, sent): &(Revision, Arc<[DocumentDiagnostic]>)| {
            *of == revision && *sent == diagnostics
        };
        if entry.sent.as_ref().is_some_and(is_same) {
            return;
        }
        entry.sent = Some((revision, Arc::clone(&diagnostics)));
        self.send(Event::Diagnostics { document: Arc::clone(&entry.document), diagnostics });
    }

    /// Parses documents that were changed, until the service stops. The latest change goes first.
    /// If there is none, compares included files.
    pub(crate) fn parse_documents(&self) {
        while let Some(task) = self.next_parse() {
            match task {
                ParseTask::Parse(document, cancel) => self.parse(&document, &cancel),
                ParseTask::Compare(analysis) => self.compare_includes(&analysis),
            }
            self.changed.notify_all();
        }
    }

    fn next_parse(&self) -> Option<ParseTask> {
        let mut state = lock(&self.state);
        loop {
            if state.is_stopping {
                return None;
            }
            let wanting = state
                .documents
                .values_mut()
                .filter(|entry| entry.current_analysis().is_none() && entry.parsing.is_none());
            if let Some(entry) = wanting.max_by_key(|entry| entry.document.revision) {
                let cancel = Cancellation::new();
                entry.parsing = Some(cancel.clone());
                return Some(ParseTask::Parse(Arc::clone(&entry.document), cancel));
            }
            let mut parsed = state.documents.values();
            let unsure = parsed.find_map(|entry| {
                entry.current_analysis().filter(|_| !entry.includes.is_compared())
            });
            if let Some(analysis) = unsure {
                return Some(ParseTask::Compare(Arc::clone(analysis)));
            }
            state = self.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
    }

    fn parse(&self, document: &Arc<Document>, cancel: &Cancellation) {
        let (options, asked) = self.load_options(document);
        let analysis = analyse(document, &options, cancel);
        let mut state = lock(&self.state);
        let entry = state.documents.get_mut(&document.uri);
        let Some(entry) = entry.filter(|e| e.document.revision == document.revision) else {
            return;
        };
        entry.parsing = None;
        let Some(analysis) = analysis else { return };
        if analysis.is_checkable() {
            let names: HashSet<&str> = analysis.claims.iter().map(|c| c.name.as_str()).collect();
            entry.results.retain(|record| names.contains(record.view.name.as_str()));
        }
        entry.analysis = Some(Arc::new(analysis));
        entry.includes.compared(asked);
        self.publish(entry);
        self.check_if_renewed(&mut state, &document.uri);
    }

    /// See [`crate::Service::wait_until_parsed`].
    pub(crate) fn wait_until_parsed(&self, uri: &Uri, timeout: Duration) -> Option<Arc<Analysis>> {
        let end = Instant::now() + timeout;
        let mut state = lock(&self.state);
        loop {
            if let Some(analysis) = state.documents.get(uri)?.compared_analysis() {
                return Some(Arc::clone(analysis));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || state.is_stopping {
                return None;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    pub(crate) fn stop(&self) {
        let mut state = lock(&self.state);
        state.is_stopping = true;
        for entry in state.documents.values() {
            if let Some(parsing) = &entry.parsing {
                parsing.cancel();
            }
        }
        self.drop_checks(&mut state, |_| true, CheckEnding::Cancelled);
        self.changed.notify_all();
    }
}
