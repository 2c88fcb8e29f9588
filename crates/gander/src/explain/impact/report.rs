//! The impact of an edit as plain data, and as JSON.

use std::collections::BTreeMap;

use gander_report::{Completeness, DiagnosticView};

/// The name of the format of [`ImpactReport::json`].
const IMPACT_SCHEMA: &str = "gander-impact/1";

/// What happens to a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The old evidence passes its check on the new model.
    Survives,
    /// The old invariants that still hold prove it on the new model.
    ProvedAgain,
    /// It has to be decided again.
    Open,
}

impl Fate {
    /// The word for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Fate::Survives => "survives",
            Fate::ProvedAgain => "proved again",
            Fate::Open => "to be decided",
        }
    }
}

/// The impact of an edit on one property of the new model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Impact {
    /// The property.
    pub property: String,
    /// The word for its old verdict; none if it is new.
    pub before: Option<&'static str>,
    /// What happens to it.
    pub fate: Fate,
    /// Why, in words.
    pub why: String,
    /// Unfinished if it may have another fate without the limits.
    pub completeness: Completeness,
}

/// A property of the old model that the new one does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemovedProperty {
    /// The property.
    pub property: String,
    /// The word for its old verdict.
    pub before: &'static str,
}

/// The impact of an edit on the properties of a model.
#[derive(Clone, Debug, Default)]
pub struct ImpactReport {
    /// By property of the new model.
    pub impacts: Vec<Impact>,
    /// Properties that both models have, and that say something else in the new one.
    pub edited: Vec<String>,
    /// Properties that only the new model has.
    pub added: Vec<String>,
    /// Properties that only the old model has.
    pub removed: Vec<RemovedProperty>,
    /// Names of elements that were changed, added or removed.
    pub changed: Vec<String>,
    /// Variables that have another name in the new model and are otherwise the same.
    pub renamed: BTreeMap<String, String>,
    /// Errors in either text.
    pub diagnostics: Vec<DiagnosticView>,
    /// What stopped the comparison before all fates were known. Without impacts, nothing was
    /// compared.
    pub stopped: Option<String>,
}

impl ImpactReport {
    /// Whether every fate is known.
    pub fn completeness(&self) -> Completeness {
        let least = match self.stopped {
            Some(_) => Completeness::Unfinished,
            None => Completeness::Exact,
        };
        self.impacts.iter().map(|i| i.completeness).max().unwrap_or_default().max(least)
    }

    /// The report as JSON (docs/explain.md).
    pub fn json(&self) -> serde_json::Value {
        let property = |i: &Impact| {
            serde_json::json!({ "property": i.property, "before": i.before, "fate": i.fate.word(),
                                "why": i.why, "completeness": i.completeness.word() })
        };
        let removed =
            |r: &RemovedProperty| serde_json::json!({ "property": r.property, "before": r.before });
        serde_json::json!({
            "schema": IMPACT_SCHEMA,
            "completeness": self.completeness().word(),
            "properties": self.impacts.iter().map(property).collect::<Vec<_>>(),
            "edited": self.edited,
            "added": self.added,
            "removed": self.removed.iter().map(removed).collect::<Vec<_>>(),
            "changed": self.changed,
            "renamed": self.renamed,
            "stopped": self.stopped,
        })
    }
}
