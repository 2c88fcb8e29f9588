//! The provenance of saved evidence.

use std::sync::Arc;

use gander::report::ClaimView;
use gander::smt::Solvers;
use gander::system::Provenance;
use gander_io::programs::Sha256;

/// The versions of solvers, each determined once.
pub struct Versions {
    solvers: Option<Arc<Solvers>>,
    known: Vec<(String, String)>,
}

impl Versions {
    /// Nothing is known yet.
    pub fn new(solvers: Option<Arc<Solvers>>) -> Versions {
        Versions { solvers, known: Vec::new() }
    }

    fn of(&mut self, name: &str) -> String {
        if let Some((_, version)) = self.known.iter().find(|(n, _)| n == name) {
            return version.clone();
        }
        let solver = self.solvers.as_ref().and_then(|solvers| solvers.by_name(name));
        let version =
            solver.and_then(|s| s.version().ok()).unwrap_or_else(|| "unknown".to_string());
        self.known.push((name.to_string(), version.clone()));
        version
    }

    /// The provenance of a file.
    pub fn provenance(&mut self, source: &str, claim: Option<&ClaimView>) -> Provenance {
        let basis = claim.and_then(|c| c.basis.as_ref());
        let solvers = basis.map(|b| b.solvers.clone()).unwrap_or_default();
        Provenance {
            model_sha256: Sha256::of(source.as_bytes()).to_string(),
            producer: format!("gander {}", env!("CARGO_PKG_VERSION")),
            engine: claim.and_then(|c| c.engine.clone()).unwrap_or_default(),
            rests_on: basis.map_or("checked", |b| b.ground).to_string(),
            solvers: solvers.into_iter().map(|name| (name.clone(), self.of(&name))).collect(),
        }
    }
}

/// A warning if evidence was made for another text of the model.
pub fn other_model(model: &str, file: &serde_json::Value) -> Option<String> {
    let made = Provenance::of_file(file).ok()??;
    let differs = made.model_sha256 != Sha256::of(model.as_bytes()).to_string();
    differs.then(|| {
        "the evidence was made for another text of the model; it is checked against this one"
            .to_string()
    })
}
