//! Names of the files that a check writes, and the file form of internal errors.

use std::path::{Path, PathBuf};

use gander_io::file_names::{model_part, part};
use gander_io::write::{Target, WriteError, replace};
use serde_json::{Value, json};

/// The name of the file that holds the evidence for a claim of a model: different for different
/// models and claims.
pub fn evidence_file_name(model: &str, claim: &str) -> String {
    format!("{}.{}.evidence.json", model_part(model), part(claim))
}

/// The name of the file with the run that decides a claim, in the format of this extension.
pub fn trace_file_name(model: &str, claim: &str, extension: &str) -> String {
    format!("{}.{}.{extension}", model_part(model), part(claim))
}

/// Everything that is needed to reproduce an internal error: a verdict that did not pass its check.
#[derive(Clone, Debug)]
pub struct InternalErrorFile {
    /// The name of the model's file.
    pub file: String,
    /// The model.
    pub model: String,
    /// The engine.
    pub engine: String,
    /// What is wrong with it.
    pub problem: String,
    /// The evidence in its file form; null if the engine panicked.
    pub evidence: Value,
}

/// The value of `schema` in such a file.
const SCHEMA: &str = "gander-internal-error/1";

impl InternalErrorFile {
    /// The content of the file.
    pub fn to_json(&self) -> Value {
        json!({
            "schema": SCHEMA,
            "version": env!("CARGO_PKG_VERSION"),
            "file": self.file,
            "engine": self.engine,
            "problem": self.problem,
            "model": self.model,
            "evidence": self.evidence,
        })
    }

    /// Reads the content of such a file; none if it is something else.
    pub fn from_json(text: &str) -> Option<InternalErrorFile> {
        let value: Value = serde_json::from_str(text).ok()?;
        if value.get("schema")?.as_str()? != SCHEMA {
            return None;
        }
        let string = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_string);
        Some(InternalErrorFile {
            file: string("file")?,
            model: string("model")?,
            engine: string("engine")?,
            problem: string("problem")?,
            evidence: value.get("evidence").cloned().unwrap_or(Value::Null),
        })
    }

    /// Writes the file into a folder, under an unused name.
    pub fn save(&self, folder: &Path, claim: &str) -> Result<PathBuf, WriteError> {
        let stem = format!("gander-internal-error-{}-{}", part(&self.engine), part(claim));
        let mut path = folder.join(format!("{stem}.json"));
        let mut n = 2;
        while path.symlink_metadata().is_ok() {
            path = folder.join(format!("{stem}-{n}.json"));
            n += 1;
        }
        let mut content = serde_json::to_vec_pretty(&self.to_json()).unwrap_or_default();
        content.push(b'\n');
        replace(&path, &content, Target::Managed)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_file_names() {
        assert_eq!(evidence_file_name("bank.sts", "small"), "bank.small.evidence.json");
        assert_eq!(evidence_file_name("-", "p"), "stdin.p.evidence.json");
        let names = [
            ("m.sts", "p/q"),
            ("m.sts", "p q"),
            ("m.sts", "p_q"),
            ("x/m.sts", "p_q"),
            ("y/m.sts", "p_q"),
        ];
        let files: std::collections::BTreeSet<String> =
            names.iter().map(|(m, c)| evidence_file_name(m, c)).collect();
        assert_eq!(files.len(), names.len(), "{files:?}");
    }

    #[test]
    fn internal_errors_read_back() {
        let e = InternalErrorFile {
            file: "m.sts".into(),
            model: "spec A".into(),
            engine: "bmc".into(),
            problem: "wrong".into(),
            evidence: json!({ "a": 1 }),
        };
        let back = InternalErrorFile::from_json(&e.to_json().to_string()).unwrap();
        assert_eq!((back.model, back.evidence), (e.model, e.evidence));
        assert!(
            InternalErrorFile::from_json("{}").is_none()
                && InternalErrorFile::from_json("spec").is_none()
        );
    }
}
