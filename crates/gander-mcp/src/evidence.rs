//! The evidence of a session, by the hash of its content.
//!
//! A handle is `sha256:` and the SHA-256 of the file that `certify` writes with `save_as`, so the
//! two can be compared. Evidence that was found longest ago is dropped first.

use std::collections::VecDeque;
use std::sync::Arc;

use gander_io::programs::Sha256;
use gander_report::ClaimView;
use gander_system::Provenance;
use serde_json::Value;

use crate::limits::McpLimits;

/// A piece of evidence.
#[derive(Debug)]
pub struct Evidence {
    /// Its name.
    pub handle: String,
    /// The SHA-256 of the text of the model that it was found for.
    pub model_sha256: String,
    /// The content of its file (docs/evidence.md).
    pub file: String,
}

impl Evidence {
    /// The evidence of a verdict about a text.
    pub fn of(claim: &ClaimView, model_sha256: &str) -> Option<Evidence> {
        let saved = &claim.verdict.evidence()?.saved;
        let mut file = saved.as_object()?.clone();
        let basis = claim.basis.as_ref();
        let provenance = Provenance {
            model_sha256: model_sha256.to_string(),
            producer: format!("gander {}", env!("CARGO_PKG_VERSION")),
            engine: claim.engine.clone().unwrap_or_default(),
            rests_on: basis.map_or("checked", |b| b.ground).to_string(),
            // Versions are recorded where a solver is trusted, by `check --save-evidence`.
            solvers: Vec::new(),
        };
        file.insert("provenance".to_string(), provenance.to_json());
        let file = format!("{}\n", Value::Object(file));
        let handle = format!("sha256:{}", Sha256::of(file.as_bytes()));
        Some(Evidence { handle, model_sha256: model_sha256.to_string(), file })
    }
}

/// The evidence that is kept.
#[derive(Debug, Default)]
pub struct EvidenceStore {
    kept: VecDeque<Arc<Evidence>>,
    bytes: usize,
}

impl EvidenceStore {
    /// Keeps evidence; gives its handle.
    pub fn keep(&mut self, evidence: Evidence, limits: &McpLimits) -> String {
        let handle = evidence.handle.clone();
        if let Some(at) = self.kept.iter().position(|e| e.handle == handle) {
            // It becomes the most recent one.
            let same = self.kept.remove(at);
            self.kept.extend(same);
            return handle;
        }
        self.bytes += evidence.file.len();
        self.kept.push_back(Arc::new(evidence));
        while self.kept.len() > 1
            && (self.kept.len() > limits.evidence || self.bytes > limits.evidence_bytes)
        {
            let oldest = self.kept.pop_front();
            self.bytes -= oldest.map_or(0, |e| e.file.len());
        }
        handle
    }

    /// The evidence with a handle.
    pub fn get(&self, handle: &str) -> Option<Arc<Evidence>> {
        self.kept.iter().find(|e| e.handle == handle).map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(n: usize) -> Evidence {
        let file = format!("{n:10}");
        let handle = format!("sha256:{}", Sha256::of(file.as_bytes()));
        Evidence { handle, model_sha256: String::new(), file }
    }

    #[test]
    fn the_oldest_evidence_is_forgotten_first() {
        let limits = McpLimits { evidence: 3, evidence_bytes: 1000, ..McpLimits::default() };
        let mut store = EvidenceStore::default();
        let handles: Vec<String> = (0..3).map(|n| store.keep(evidence(n), &limits)).collect();
        // The first one is found again, so the second one is the oldest.
        assert_eq!(store.keep(evidence(0), &limits), handles[0]);
        store.keep(evidence(3), &limits);
        assert!(store.get(&handles[0]).is_some() && store.get(&handles[1]).is_none());
        assert!(store.get(&handles[2]).is_some());
        let limits = McpLimits { evidence_bytes: 15, ..limits };
        let last = store.keep(evidence(4), &limits);
        assert_eq!((store.kept.len(), store.bytes), (1, 10));
        assert!(store.get(&last).is_some());
    }
}
