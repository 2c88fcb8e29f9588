//! What a text says: its model, its claims and the messages of the front-end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gander::{LoadOptions, LoadStopped, Model, load_within};
use gander_runtime::Cancellation;
use gander_system::{ClaimOrigin, Span};

use crate::diagnostics::{DocumentDiagnostic, of_front_end};
use crate::document::Document;

/// A claim of a model, and where it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimPlace {
    /// Its name; unique among the claims of a system.
    pub name: String,
    /// The word for its kind.
    pub kind: &'static str,
    /// Why it is there.
    pub origin: ClaimOrigin,
    /// As written, or in words.
    pub text: String,
    /// Its system.
    pub system: String,
    /// Where it is written in the document; none if in an included file or nowhere.
    pub span: Option<Span>,
}

/// The result of parsing a document.
#[derive(Debug)]
pub struct Analysis {
    /// The document.
    pub document: Arc<Document>,
    /// The model. It has no system if the text has errors. None if the text was not read.
    pub model: Option<Arc<Model>>,
    /// The claims, by system in the order of the model.
    pub claims: Vec<ClaimPlace>,
    /// The messages of the front-end.
    pub diagnostics: Arc<[DocumentDiagnostic]>,
}

impl Analysis {
    /// True if there is something to check.
    pub fn is_checkable(&self) -> bool {
        self.model.as_ref().is_some_and(|m| !m.systems().is_empty())
    }
}

/// Parses a document. None if it was cancelled.
pub(crate) fn analyse(
    document: &Arc<Document>,
    options: &LoadOptions,
    cancel: &Cancellation,
) -> Option<Analysis> {
    let load = || load_within(&document.text, &document.file_name, options, None, cancel);
    let loaded = catch_unwind(AssertUnwindSafe(load));
    let failed = |message: &str| {
        let diagnostic = DocumentDiagnostic::internal(message);
        let document = Arc::clone(document);
        Analysis { document, model: None, claims: Vec::new(), diagnostics: [diagnostic].into() }
    };
    let model = match loaded {
        Ok(Ok(model)) => model,
        Ok(Err(LoadStopped::MemoryLimit)) => {
            return Some(failed("this text was not read: the memory limit was reached"));
        }
        Ok(Err(_)) => return None,
        Err(_) => return Some(failed("gander failed while it read this text; please report it")),
    };
    let own = model.source().own_text().len() as u32;
    let claims = model.systems().iter().flat_map(|system| {
        system.claims().iter().map(|claim| ClaimPlace {
            name: claim.name.clone(),
            kind: claim.kind.word(),
            origin: claim.origin,
            text: claim.text.clone(),
            system: system.name().to_string(),
            span: claim.span.filter(|span| span.end <= own),
        })
    });
    let claims = claims.collect();
    let diagnostics = model.front_end_diagnostics().iter();
    let diagnostics = diagnostics.map(|d| of_front_end(d, model.source())).collect();
    let model = Some(Arc::new(model));
    Some(Analysis { document: Arc::clone(document), model, claims, diagnostics })
}
