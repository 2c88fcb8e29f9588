//! Settings and limits of a service.

use std::time::Duration;

use gander::CheckOptions;

/// Settings of a service.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// How documents are checked. [`CheckOptions::properties`] is replaced by the selection of each
    /// check; [`CheckOptions::cache`] is the folder of results that the command line uses with
    /// `--cache`; [`CheckOptions::load`] also says how documents are read.
    pub check: CheckOptions,
    /// How many checks run at the same time, each of another document.
    pub workers: usize,
    /// Where the text of an included file comes from.
    pub included: IncludedTexts,
    /// Limits.
    pub limits: ServiceLimits,
}

impl Default for ServiceConfig {
    fn default() -> ServiceConfig {
        let check =
            CheckOptions { timeout: Some(Duration::from_secs(60)), ..CheckOptions::default() };
        let (included, limits) = (IncludedTexts::default(), ServiceLimits::default());
        ServiceConfig { check, workers: 2, included, limits }
    }
}

/// Where the text of an included file comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IncludedTexts {
    /// From the file, as for the command line.
    #[default]
    Files,
    /// From the open document of that file, if there is one, also if it was not saved.
    OpenDocuments,
}

/// Limits of what a service keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServiceLimits {
    /// Bytes of the text of a document.
    pub document_bytes: usize,
    /// Bytes of the texts of all documents.
    pub all_bytes: usize,
    /// Open documents.
    pub documents: usize,
    /// Checks that wait or run.
    pub checks: usize,
    /// Results that are kept for a document.
    pub results: usize,
    /// Bytes of evidence in its file form that are kept for a document. Further results keep their
    /// verdict and what is shown of it.
    pub evidence_bytes: usize,
    /// Events that a subscriber has not taken. When there are more, they are dropped, and
    /// [`crate::Event::Lagged`] says so.
    pub events: usize,
}

impl Default for ServiceLimits {
    fn default() -> ServiceLimits {
        ServiceLimits {
            document_bytes: 16 << 20,
            all_bytes: 64 << 20,
            documents: 256,
            checks: 256,
            results: 10_000,
            evidence_bytes: 64 << 20,
            events: 10_000,
        }
    }
}
