//! The origin of an evidence file.

use serde_json::{Value, json};

use super::EvidenceFileError;
use super::read::Object;

/// How a file was made. Checkers ignore it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// The SHA-256 of the text of the model, in hexadecimal digits.
    pub model_sha256: String,
    /// The program that made the file, with its version.
    pub producer: String,
    /// The engine that found the evidence.
    pub engine: String,
    /// The basis of its acceptance: `checked`, `two-solvers` or `one-solver`.
    pub rests_on: String,
    /// The solvers whose answers counted, with their versions.
    pub solvers: Vec<(String, String)>,
}

impl Provenance {
    /// The value of the key `provenance`.
    pub fn to_json(&self) -> Value {
        let solver =
            |(name, version): &(String, String)| json!({ "name": name, "version": version });
        json!({
            "model_sha256": self.model_sha256,
            "producer": self.producer,
            "engine": self.engine,
            "rests_on": self.rests_on,
            "solvers": self.solvers.iter().map(solver).collect::<Vec<_>>(),
        })
    }

    /// Reads the key `provenance` of a file, if it has one.
    pub fn of_file(file: &Value) -> Result<Option<Provenance>, EvidenceFileError> {
        let Some(value) = file.get("provenance") else { return Ok(None) };
        let object = Object::of(value, "provenance")?;
        object.only(&["model_sha256", "producer", "engine", "rests_on", "solvers"])?;
        let text = |key: &str| object.text(key).map(str::to_string);
        let mut solvers = Vec::new();
        let Some(list) = object.get("solvers")?.as_array() else {
            return object.wrong("solvers", "this must be a list");
        };
        for (i, solver) in list.iter().enumerate() {
            let solver = Object::of(solver, &format!("provenance.solvers[{i}]"))?;
            solver.only(&["name", "version"])?;
            solvers.push((solver.text("name")?.to_string(), solver.text("version")?.to_string()));
        }
        Ok(Some(Provenance {
            model_sha256: text("model_sha256")?,
            producer: text("producer")?,
            engine: text("engine")?,
            rests_on: text("rests_on")?,
            solvers,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provenance_is_read_strictly() {
        let made = Provenance {
            model_sha256: "00".into(),
            producer: "gander 0.1.0".into(),
            engine: "pdr".into(),
            rests_on: "two-solvers".into(),
            solvers: vec![("z3".into(), "Z3 version 5".into())],
        };
        let file = json!({ "provenance": made.to_json() });
        assert_eq!(Provenance::of_file(&file), Ok(Some(made)));
        assert_eq!(Provenance::of_file(&json!({})), Ok(None));
        let mut wrong = file.clone();
        wrong["provenance"]["trusted"] = json!(true);
        assert!(Provenance::of_file(&wrong).is_err());
        let mut wrong = file.clone();
        wrong["provenance"]["solvers"][0]["version"] = json!(5);
        assert!(Provenance::of_file(&wrong).is_err());
        assert!(Provenance::of_file(&json!({ "provenance": "me" })).is_err());
    }
}
