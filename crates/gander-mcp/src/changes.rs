//! What changed between two texts of a document: claims that were removed or say something else,
//! assumptions that were added, and parts of the model.
//!
//! Texts are compared in the text form of the system ([`System::to_text`]), in which definitions,
//! constants and ranges are expanded. So a claim counts as changed if only a definition that it
//! uses was changed. Whether a claim became weaker is not decided: every claim that changed counts
//! as possibly weaker. A formula that is too long to be compared as a whole counts as changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gander::Model;
use gander_io::programs::Sha256;
use gander_system::{ClaimOrigin, System};
use serde_json::{Value, json};

/// Longer lines of a system's text are cut off, so they cannot be compared.
const LONGEST_COMPARED: usize = 10_000;
/// Characters of a line that are shown.
const LONGEST_SHOWN: usize = 400;

/// The parts of a text that are compared.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The SHA-256 of the text.
    pub sha256: String,
    /// That of the text with all files that it includes.
    pub sources_sha256: String,
    /// By name: what a written claim says.
    claims: BTreeMap<String, String>,
    /// Assumptions, ranges of inputs and fairness constraints.
    assumptions: BTreeSet<String>,
    /// The other lines: declarations, starts, transitions.
    rest: BTreeSet<String>,
}

impl Snapshot {
    /// The parts of a model.
    pub fn of(model: &Model, sha256: &str) -> Snapshot {
        let sources_sha256 = Sha256::of(model.source().text().as_bytes()).to_string();
        let sha256 = sha256.to_string();
        let mut snapshot = Snapshot { sha256, sources_sha256, ..Snapshot::default() };
        for system in model.systems() {
            snapshot.add(system);
        }
        snapshot
    }

    fn add(&mut self, system: &Arc<System>) {
        for claim in system.claims().iter().filter(|c| c.origin != ClaimOrigin::Structural) {
            let limit = system.step_limit().map_or(String::new(), |n| format!(" within {n} steps"));
            let condition = system.conditions().iter().find(|c| c.claim == claim.name);
            let under = condition.map_or(String::new(), |c| format!(" provided {}", c.text));
            let says = format!("{}{limit}{under}", system.claim_text(&claim.kind));
            self.claims.insert(claim.name.clone(), says);
        }
        // An assertion in a called node is assumed in one reading of the language only.
        if let Some(narrow) = system.narrow_reading() {
            let text = narrow.to_text();
            let assumed = text.lines().filter(|line| is_assumption(line));
            self.assumptions.extend(assumed.map(str::to_string));
        }
        if let Some(ambiguity) = system.ambiguity() {
            self.assumptions.insert(format!("readings of the language: {}", ambiguity.text));
        }
        let mut within = String::new();
        for line in system.to_text().lines() {
            let inner = line.starts_with(' ');
            if !inner {
                within = line.to_string();
            }
            if is_assumption(line) {
                self.assumptions.insert(line.to_string());
            } else if !line.starts_with("claim ") {
                let place =
                    if inner { format!("{within}: {}", line.trim()) } else { line.to_string() };
                self.rest.insert(place);
            }
        }
    }

    /// What is different in `new`.
    pub fn changes_to(&self, new: &Snapshot) -> Changes {
        let minus = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
            a.iter().filter(|line| !b.contains(*line) || is_cut(line)).cloned().collect()
        };
        let mut changes = Changes {
            from: self.sha256.clone(),
            from_sources: self.sources_sha256.clone(),
            assumptions_added: minus(&new.assumptions, &self.assumptions),
            assumptions_removed: minus(&self.assumptions, &new.assumptions),
            model_added: minus(&new.rest, &self.rest),
            model_removed: minus(&self.rest, &new.rest),
            ..Changes::default()
        };
        for (name, says) in &self.claims {
            match new.claims.get(name) {
                None => changes.claims_removed.push((name.clone(), says.clone())),
                Some(now) if now != says || is_cut(now) => {
                    changes.claims_changed.push((name.clone(), says.clone(), now.clone()));
                }
                Some(_) => {}
            }
        }
        let added = new.claims.iter().filter(|(name, _)| !self.claims.contains_key(*name));
        changes.claims_added = added.map(|(n, s)| (n.clone(), s.clone())).collect();
        changes
    }
}

/// True for the lines of a system that say what is taken for granted.
fn is_assumption(line: &str) -> bool {
    ["assume ", "fairness ", "input "].iter().any(|word| line.starts_with(word))
}

/// True if the text may be cut off.
fn is_cut(line: &str) -> bool {
    line.chars().count() >= LONGEST_COMPARED
}

/// What is different in a later text.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The SHA-256 of the earlier text.
    pub from: String,
    /// That of the earlier text with all files that it included.
    pub from_sources: String,
    /// Names, and what they said.
    claims_removed: Vec<(String, String)>,
    /// Names, what they said, and what they say now.
    claims_changed: Vec<(String, String, String)>,
    claims_added: Vec<(String, String)>,
    assumptions_added: Vec<String>,
    assumptions_removed: Vec<String>,
    model_added: Vec<String>,
    model_removed: Vec<String>,
}

impl Changes {
    /// True if the later text may claim less: a claim was removed or changed, or an assumption was
    /// added.
    pub fn may_be_weaker(&self) -> bool {
        !self.claims_removed.is_empty()
            || !self.claims_changed.is_empty()
            || !self.assumptions_added.is_empty()
    }

    /// Sentences for an answer; none if [`Changes::may_be_weaker`] is false.
    pub fn warnings(&self, since: &str) -> Vec<String> {
        let mut sentences = Vec::new();
        let quoted = |names: &mut dyn Iterator<Item = &String>| {
            names
                .take(10)
                .map(|n| format!("`{}`", gander_text::shown(n)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut say = |count: usize, one: &str, many: &str, names: String| {
            if count > 0 {
                let what = if count == 1 { one } else { many };
                sentences.push(format!("Compared with {since}, {count} {what}: {names}."));
            }
        };
        let names = quoted(&mut self.claims_removed.iter().map(|(n, _)| n));
        let (one, many) = ("claim was removed", "claims were removed");
        say(self.claims_removed.len(), one, many, names);
        let names = quoted(&mut self.claims_changed.iter().map(|(n, ..)| n));
        let one = "claim says something else and may be weaker";
        let many = "claims say something else and may be weaker";
        say(self.claims_changed.len(), one, many, names);
        let names = quoted(&mut self.assumptions_added.iter());
        let (one, many) = ("assumption was added or changed", "assumptions were added or changed");
        say(self.assumptions_added.len(), one, many, names);
        sentences
    }

    /// As in answers (docs/mcp.md); lists have at most `listed` entries.
    pub fn json(&self, listed: usize) -> Value {
        let short = |text: &str| match text.char_indices().nth(LONGEST_SHOWN) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text.to_string(),
        };
        let claim = |(name, says): &(String, String)| json!({ "claim": name, "says": short(says) });
        let changed = |(name, before, now): &(String, String, String)| json!({ "claim": name, "before": short(before), "now": short(now) });
        let lines = |all: &[String]| all.iter().take(listed).map(|l| short(l)).collect::<Vec<_>>();
        json!({
            "from_model_sha256": self.from,
            "from_sources_sha256": self.from_sources,
            "may_be_weaker": self.may_be_weaker(),
            "claims_removed": self.claims_removed.iter().take(listed).map(claim).collect::<Vec<_>>(),
            "claims_changed": self.claims_changed.iter().take(listed).map(changed).collect::<Vec<_>>(),
            "claims_added": self.claims_added.iter().take(listed).map(claim).collect::<Vec<_>>(),
            "assumptions_added": lines(&self.assumptions_added),
            "assumptions_removed": lines(&self.assumptions_removed),
            "model_added": lines(&self.model_added),
            "model_removed": lines(&self.model_removed),
            "counts": {
                "claims_removed": self.claims_removed.len(),
                "claims_changed": self.claims_changed.len(),
                "claims_added": self.claims_added.len(),
                "assumptions_added": self.assumptions_added.len(),
                "assumptions_removed": self.assumptions_removed.len(),
                "model_added": self.model_added.len(),
                "model_removed": self.model_removed.len(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander::Language;

    const BEFORE: &str = "
        spec S
        var x: int
        input i: int 0..5
        define ok = x >= 0
        start { x == 0 }
        step up when x < 10 { x := x + i }
        always p: ok
        always q: x <= 20
    ";

    fn snapshot(text: &str) -> Snapshot {
        Snapshot::of(&Model::parse(text, Language::Sts).unwrap(), text)
    }

    fn changes(from: &str, to: &str) -> Changes {
        let new = BEFORE.replacen(from, to, 1);
        assert_ne!(new, BEFORE);
        snapshot(BEFORE).changes_to(&snapshot(&new))
    }

    #[test]
    fn removed_and_changed_claims_are_found_whatever_hides_them() {
        let none = snapshot(BEFORE).changes_to(&snapshot(BEFORE));
        assert!(!none.may_be_weaker() && none.model_added.is_empty());
        let removed = changes("always q: x <= 20", "");
        assert_eq!(removed.claims_removed[0].0, "q");
        assert!(removed.warnings("it")[0].contains("1 claim was removed: `q`"));
        assert_eq!(changes("x <= 20", "x <= 200").claims_changed[0].0, "q");
        // The claim is written as before, its definition is not.
        assert_eq!(
            changes("define ok = x >= 0", "define ok = x >= 0 or x < 0").claims_changed[0].0,
            "p"
        );
        let renamed = changes("always q:", "always r:");
        assert_eq!((renamed.claims_removed.len(), renamed.claims_added.len()), (1, 1));
        assert!(changes("always q", "reachable q").may_be_weaker());
    }

    #[test]
    fn assumptions_and_guards_are_told_apart() {
        assert!(changes("input i: int 0..5", "input i: int 0..1").may_be_weaker());
        assert!(changes("start {", "assume x < 3\n start {").may_be_weaker());
        let guard = changes("x < 10", "x < 5");
        assert!(!guard.may_be_weaker() && !guard.model_added.is_empty());
        let comment = changes("spec S", "spec S // a comment");
        assert!(comment.model_added.is_empty() && comment.model_removed.is_empty());
    }
}
