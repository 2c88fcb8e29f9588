//! Included files: when they are compared with those that the analysis of a document has read, and
//! what follows if they differ.
//!
//! An analysis is about a text and the files that it included then. Nothing tells the service that
//! such a file changed, so they are compared when a result is about to be relied on: before a check
//! begins, and when an adapter asks. The thread that parses compares. If they differ, the document
//! gets a new [`Revision`] with the same text, as if it had been changed: it is parsed again, and
//! results are not current any more.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use gander::{LoadOptions, includes_changed, may_include};
use gander_runtime::lock;

use crate::analysis::Analysis;
use crate::checks::CheckRequest;
use crate::config::IncludedTexts;
use crate::document::{Document, Revision, Uri};
use crate::events::Event;
use crate::state::{Entry, Shared, State};

/// The comparisons of a document.
#[derive(Debug, Default)]
pub(crate) struct Includes {
    /// How many were asked for.
    asked: u64,
    /// How many of them were made.
    made: u64,
    /// Check the document if it was renewed.
    check: Option<CheckRequest>,
    /// The revision that it got because files differed, until that is checked.
    renewed: Option<Revision>,
}

impl Includes {
    /// True if no comparison is missing.
    pub(crate) fn is_compared(&self) -> bool {
        self.has_compared(self.asked)
    }

    /// True if this comparison was made.
    pub(crate) fn has_compared(&self, number: u64) -> bool {
        number <= self.made
    }

    /// Included files were read after this many comparisons had been asked for.
    pub(crate) fn compared(&mut self, asked: u64) {
        self.made = self.made.max(asked);
    }

    /// A check of this revision begins.
    pub(crate) fn is_checked(&mut self, revision: Revision) {
        self.renewed.take_if(|renewed| *renewed == revision);
    }
}

impl Entry {
    /// Asks for a comparison; gives its number. A document that includes nothing needs none.
    pub(crate) fn ask_for_comparison(&mut self) -> u64 {
        if may_include(&self.document.text, &self.document.file_name) {
            self.includes.asked += 1;
        }
        self.includes.asked
    }
}

impl Shared {
    pub(crate) fn ask_for_comparison(&self, uri: &Uri) {
        if let Some(entry) = lock(&self.state).documents.get_mut(uri) {
            entry.ask_for_comparison();
        }
        self.changed.notify_all();
    }

    pub(crate) fn ask_for_comparisons(&self, check: Option<&CheckRequest>) {
        for entry in lock(&self.state).documents.values_mut() {
            let before = entry.includes.asked;
            if entry.ask_for_comparison() > before {
                entry.includes.check = check.cloned();
            }
        }
        self.changed.notify_all();
    }

    /// The text of a document was changed, or it was closed: others may include it.
    pub(crate) fn text_changed(&self, state: &mut State, uri: &Uri) {
        if self.config().included == IncludedTexts::OpenDocuments {
            for (other, entry) in &mut state.documents {
                if other != uri {
                    entry.ask_for_comparison();
                }
            }
        }
    }

    /// How a document is loaded now, and the comparisons that were asked for until now.
    pub(crate) fn load_options(&self, document: &Document) -> (LoadOptions, u64) {
        let config = self.config();
        let mut options = config.check.load.clone();
        let state = lock(&self.state);
        let asked = state.documents.get(&document.uri).map_or(0, |entry| entry.includes.asked);
        if config.included == IncludedTexts::OpenDocuments
            && may_include(&document.text, &document.file_name)
        {
            let others = state.documents.values().map(|entry| Arc::clone(&entry.document));
            let others: Vec<Arc<Document>> = others.filter(|d| d.uri != document.uri).collect();
            drop(state);
            let unsaved = |d: Arc<Document>| {
                let path = Path::new(&d.file_name).canonicalize().ok()?;
                Some((path, Arc::clone(&d.text)))
            };
            let unsaved: BTreeMap<_, _> = others.into_iter().filter_map(unsaved).collect();
            options.unsaved = Arc::new(unsaved);
        }
        (options, asked)
    }

    /// Compares the included files with those of an analysis; renews the document if they differ.
    pub(crate) fn compare_includes(&self, analysis: &Analysis) {
        let document = &analysis.document;
        let (options, asked) = self.load_options(document);
        let differ = || analysis.model.as_ref().is_some_and(|m| includes_changed(m, &options));
        // A panic is reported when the text is parsed again.
        let differ = catch_unwind(AssertUnwindSafe(differ)).unwrap_or(true);
        let mut state = lock(&self.state);
        let state = &mut *state;
        let entry = state.documents.get_mut(&document.uri);
        let Some(entry) = entry.filter(|e| e.document.revision == document.revision) else {
            return;
        };
        entry.includes.compared(asked);
        if !differ {
            return self.check_if_renewed(state, &document.uri);
        }
        state.revisions += 1;
        let revision = Revision(state.revisions);
        let (uri, name) = (document.uri.clone(), document.file_name.clone());
        let text = Arc::clone(&document.text);
        let renewed = Arc::new(Document::new(uri, name, document.version, revision, text));
        entry.document = Arc::clone(&renewed);
        entry.includes.renewed = Some(revision);
        self.renew_checks(state, &renewed);
        self.send(Event::Outdated { document: renewed });
    }

    /// Checks a document that was renewed, if that was asked for and all comparisons were made.
    pub(crate) fn check_if_renewed(&self, state: &mut State, uri: &Uri) {
        let Some(entry) = state.documents.get_mut(uri) else { return };
        if !entry.includes.is_compared() {
            return;
        }
        let is_renewed = entry.includes.renewed == Some(entry.document.revision);
        if let Some(request) = entry.includes.check.take().filter(|_| is_renewed) {
            // If the queue is full, it is checked when that is asked for again.
            let _ = self.enqueue_in(state, uri, request);
        }
    }
}
