//! Kind 2 (`kind2 -json`).

use gander_tool_output::kind2::{self, LogEntry};

use super::{Output, Reading, add, first_message, property_answer};
use crate::results::record::Diagnostic;

pub(super) fn read(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    let parsed = kind2::parse(output.stdout);
    for property in parsed.properties {
        add(&mut reading.properties, property_answer(property));
    }
    for entry in parsed.log {
        read_log(entry, &mut reading);
    }
    if reading.properties.is_empty() && output.exit == Some(2) && reading.rejected.is_none() {
        reading.rejected = first_message(output.stderr, &["Error", "error"]);
    }
    if !reading.properties.is_empty() {
        reading.rejected = None;
    }
    reading
}

fn read_log(entry: LogEntry, reading: &mut Reading) {
    let message = entry.message.trim();
    match entry.level.as_str() {
        "error" | "fatal" => {
            if entry.message.starts_with("Runtime failure")
                || message.contains("Fatal error: exception")
            {
                reading.internal_error = true;
            } else if reading.rejected.is_none() {
                let code = entry.source.unwrap_or_else(|| "error".to_string());
                reading.rejected =
                    Some(Diagnostic { code, message: message.to_string(), line: entry.line });
            }
        }
        _ => reading.out_of_memory |= message.contains("Out of memory"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;

    fn output(stdout: &str) -> Output<'_> {
        Output { exit: Some(0), stdout, stderr: "", source: "" }
    }

    #[test]
    fn properties_have_verdicts() {
        let text = r#"[
{"objectType": "property", "name": "OK", "runtime": {"unit": "sec", "value": 0.25}, "answer": {"value": "valid"}},
{"objectType": "property", "name": "r", "answer": {"value": "reachable"}},
{"objectType": "property", "name": "g", "source": "Guarantee", "answer": {"source": "bmc", "value": "falsifiable"}}"#;
        let reading = read(&output(text));
        let all: Vec<_> =
            reading.properties.iter().map(|p| (p.name.as_str(), p.verdict, p.seconds)).collect();
        assert_eq!(
            all,
            [
                ("OK", Verdict::Valid, Some(0.25)),
                ("r", Verdict::Valid, None),
                ("g", Verdict::Invalid, None)
            ]
        );
        assert_eq!(reading.verdict(), Verdict::Invalid);
    }

    #[test]
    fn a_file_with_parse_errors_is_rejected() {
        let text = r#"[{"objectType":"log","level":"error","source":"parse","line":3,"column":4,"value":"Syntax error"}]"#;
        let reading = read(&output(text));
        assert_eq!(
            reading.rejected,
            Some(Diagnostic {
                code: "parse".into(),
                message: "Syntax error".into(),
                line: Some(3)
            })
        );
        assert_eq!(reading.verdict(), Verdict::Unknown);
    }
}
