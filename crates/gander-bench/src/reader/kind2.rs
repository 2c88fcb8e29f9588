//! Reads `kind2 -json`: an array of objects, printed one after the other while it works.

use serde_json::Value;

use super::{Output, Reading, add, answer, first_message};
use crate::record::Diagnostic;
use crate::verdict::Verdict;

pub(super) fn read(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    for object in objects(output.stdout) {
        match object["objectType"].as_str() {
            Some("property") => read_property(&object, &mut reading),
            Some("log") => read_log(&object, &mut reading),
            _ => {}
        }
    }
    if reading.properties.is_empty() && output.exit == Some(2) && reading.rejected.is_none() {
        reading.rejected = first_message(output.stderr, &["Error", "error"]);
    }
    if !reading.properties.is_empty() {
        reading.rejected = None;
    }
    reading
}

fn read_property(object: &Value, reading: &mut Reading) {
    let Some(name) = object["name"].as_str() else { return };
    // Whether a mode can be active says nothing about what must hold.
    if object["source"] == "NonVacuityCheck" {
        return;
    }
    let verdict = match object["answer"]["value"].as_str() {
        Some("valid" | "reachable") => Verdict::Valid,
        Some("falsifiable" | "unreachable") => Verdict::Invalid,
        _ => Verdict::Unknown,
    };
    let mut new = answer(name, verdict);
    new.engine = object["answer"]["source"].as_str().map(str::to_string);
    new.seconds = object["runtime"]["value"].as_f64();
    add(&mut reading.properties, new);
}

fn read_log(object: &Value, reading: &mut Reading) {
    let message = object["value"].as_str().unwrap_or_default();
    match object["level"].as_str() {
        Some("error" | "fatal") => {
            if message.starts_with("Runtime failure") || message.contains("Fatal error: exception") {
                reading.internal_error = true;
            } else if reading.rejected.is_none() {
                let code = object["source"].as_str().unwrap_or("error").to_string();
                let line = object["line"].as_u64();
                reading.rejected = Some(Diagnostic { code, message: message.trim().to_string(), line });
            }
        }
        _ => reading.out_of_memory |= message.contains("Out of memory"),
    }
}

/// The complete objects of an array that may be cut short.
fn objects(text: &str) -> Vec<Value> {
    if let Ok(Value::Array(all)) = serde_json::from_str(text) {
        return all;
    }
    let mut found = Vec::new();
    let mut rest = text.trim_start().strip_prefix('[').unwrap_or(text);
    while let Some(start) = rest.find('{') {
        let mut stream = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(object)) => {
                found.push(object);
                rest = &rest[start + stream.byte_offset()..];
            }
            _ => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[
{"objectType": "log", "level": "info", "source": "parse", "value": "kind2 v3"},
{"objectType": "property", "name": "OK", "source": "PropAnnot", "runtime": {"unit": "sec", "value": 0.25},
 "answer": {"source": "ind", "value": "valid"}}
,
{"objectType": "property", "name": "m[l16c3]", "source": "NonVacuityCheck", "answer": {"value": "unreachable"}},
{"objectType": "property", "name": "g", "source": "Guarantee", "answer": {"source": "bmc", "value": "falsifiable"},
 "counterExample": [{"name": "x } {", "values": []}]}
]"#;

    fn output(stdout: &str) -> Output<'_> {
        Output { exit: Some(0), stdout, stderr: "", source: "" }
    }

    #[test]
    fn properties_are_read() {
        let reading = read(&output(TEXT));
        let all: Vec<_> = reading.properties.iter().map(|p| (p.name.as_str(), p.verdict, p.seconds)).collect();
        assert_eq!(all, [("OK", Verdict::Valid, Some(0.25)), ("g", Verdict::Invalid, None)]);
        assert_eq!(reading.verdict(), Verdict::Invalid);
    }

    #[test]
    fn what_comes_before_the_cut_counts() {
        for end in 0..TEXT.len() {
            let reading = read(&output(&TEXT[..end]));
            assert!(reading.properties.len() <= 2);
            assert!(reading.properties.first().is_none_or(|p| p.name == "OK" && p.verdict == Verdict::Valid));
        }
        let end = TEXT.find("\n,").unwrap();
        assert_eq!(read(&output(&TEXT[..end])).properties.len(), 1);
    }

    #[test]
    fn parse_errors_reject() {
        let text =
            r#"[{"objectType":"log","level":"error","source":"parse","line":3,"column":4,"value":"Syntax error"}]"#;
        let reading = read(&output(text));
        assert_eq!(
            reading.rejected,
            Some(Diagnostic { code: "parse".into(), message: "Syntax error".into(), line: Some(3) })
        );
        assert_eq!(reading.verdict(), Verdict::Unknown);
    }
}
