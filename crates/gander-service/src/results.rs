//! The results that are kept for a document.

use std::collections::BTreeMap;
use std::sync::Arc;

use gander_report::{CheckView, ClaimView, ExplainView, VerdictView};
use gander_system::Span;

use crate::diagnostics::Related;
use crate::document::Revision;

/// The kind of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VerdictWord {
    /// It holds.
    Holds,
    /// It fails.
    Fails,
    /// It was not decided.
    Unknown,
    /// It holds only because the system has no run.
    Vacuous,
}

/// Whether a result is about the latest text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freshness {
    /// It is.
    Current,
    /// The text was changed since; the result may be wrong for it.
    Outdated,
}

/// The result of a claim.
#[derive(Clone, Debug)]
pub struct ClaimRecord {
    /// The version of the document that it is about.
    pub version: i64,
    /// The text that it is about.
    pub revision: Revision,
    /// The system of the claim.
    pub system: String,
    /// The result itself.
    pub view: Arc<ClaimView>,
    /// Where the claim is written in that text.
    pub span: Option<Span>,
    /// If its evidence is a run: the steps, at the transitions that they take.
    pub steps: Vec<Related>,
}

impl ClaimRecord {
    /// The kind of the verdict.
    pub fn word(&self) -> VerdictWord {
        match &self.view.verdict {
            VerdictView::Holds(_) => VerdictWord::Holds,
            VerdictView::Fails(_) => VerdictWord::Fails,
            VerdictView::Unknown { .. } => VerdictWord::Unknown,
            VerdictView::Vacuous => VerdictWord::Vacuous,
        }
    }

    /// The approximate number of bytes of its evidence in the file form.
    fn evidence_bytes(&self) -> usize {
        self.view.verdict.evidence().map_or(0, |e| json_size(&e.saved))
    }
}

/// The approximate number of bytes of a JSON value. Its recursion is no deeper than evidence is
/// nested.
fn json_size(value: &serde_json::Value) -> usize {
    use serde_json::Value as V;
    match value {
        V::String(text) => text.len() + 32,
        V::Array(items) => 32 + items.iter().map(json_size).sum::<usize>(),
        V::Object(map) => 32 + map.iter().map(|(k, v)| k.len() + json_size(v)).sum::<usize>(),
        _ => 32,
    }
}

/// Why properties of a document hold, or how they fail.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The version of the document.
    pub version: i64,
    /// The text.
    pub revision: Revision,
    /// One for each system that was explained.
    pub views: Vec<ExplainView>,
    /// Notices for the user.
    pub notices: Vec<String>,
}

/// The results of a document.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// By the name of the claim.
    records: BTreeMap<String, Arc<ClaimRecord>>,
    evidence_bytes: usize,
    /// The last report of all claims, with the names of the claims in place of their results.
    report: Option<(Revision, CheckView, Vec<String>)>,
    /// By the property that was explained.
    explanations: BTreeMap<String, Arc<Explanation>>,
}

impl Results {
    /// Keeps a record within the limits.
    pub(crate) fn keep(&mut self, mut record: ClaimRecord, most: usize, evidence_limit: usize) {
        if let Some(old) = self.records.remove(&record.view.name) {
            self.evidence_bytes -= old.evidence_bytes().min(self.evidence_bytes);
        }
        let bytes = record.evidence_bytes();
        if self.evidence_bytes + bytes > evidence_limit {
            let view = Arc::make_mut(&mut record.view);
            if let VerdictView::Holds(e) | VerdictView::Fails(e) = &mut view.verdict {
                e.saved = serde_json::Value::Null;
            }
        } else {
            self.evidence_bytes += bytes;
        }
        if self.records.len() >= most {
            // Which one is dropped does not matter.
            if let Some((_, old)) = self.records.pop_first() {
                self.evidence_bytes -= old.evidence_bytes().min(self.evidence_bytes);
            }
        }
        self.records.insert(record.view.name.clone(), Arc::new(record));
    }

    pub(crate) fn record(&self, name: &str) -> Option<&Arc<ClaimRecord>> {
        self.records.get(name)
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &Arc<ClaimRecord>> {
        self.records.values()
    }

    /// Forgets the results of claims that do not exist any more.
    pub(crate) fn retain(&mut self, keeps: impl Fn(&ClaimRecord) -> bool) {
        self.records.retain(|_, record| keeps(record));
        self.evidence_bytes = self.records.values().map(|r| r.evidence_bytes()).sum();
    }

    pub(crate) fn set_report(&mut self, revision: Revision, mut view: CheckView) {
        let names = view.claims.drain(..).map(|claim| claim.name).collect();
        self.report = Some((revision, view, names));
    }

    /// The report of the last check of all claims of this text. None if a result was dropped.
    pub(crate) fn report(&self, revision: Revision) -> Option<CheckView> {
        let (of, view, names) = self.report.as_ref()?;
        let record = |name: &String| {
            let record = self.records.get(name).filter(|record| record.revision == revision)?;
            Some((*record.view).clone())
        };
        let claims = names.iter().map(record).collect::<Option<Vec<_>>>()?;
        (*of == revision).then(|| CheckView { claims, ..view.clone() })
    }

    pub(crate) fn keep_explanation(&mut self, explanation: &Arc<Explanation>, most: usize) {
        for result in explanation.views.iter().flat_map(|v| &v.results) {
            if self.explanations.len() >= most {
                self.explanations.pop_first();
            }
            self.explanations.insert(result.property.clone(), Arc::clone(explanation));
        }
    }

    pub(crate) fn explanation(&self, property: &str) -> Option<&Arc<Explanation>> {
        self.explanations.get(property)
    }

    pub(crate) fn explanations(&self) -> impl Iterator<Item = (&String, &Arc<Explanation>)> {
        self.explanations.iter()
    }
}
