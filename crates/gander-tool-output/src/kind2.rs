//! Kind 2 (`kind2 -json`): an array of objects, printed one after the other while it works.

use serde_json::{Deserializer, Value};

use crate::lustre::{Answer, Property, Stream};

/// The output of Kind 2.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Output {
    /// Answers about properties. Whether a mode can be active (`NonVacuityCheck`) is not one.
    pub properties: Vec<Property>,
    /// Messages.
    pub log: Vec<LogEntry>,
}

/// A message of Kind 2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogEntry {
    /// `error`, `fatal`, `warn`, `info` and others.
    pub level: String,
    /// The part of Kind 2 that it comes from.
    pub source: Option<String>,
    /// The message.
    pub message: String,
    /// The line of the program, from one.
    pub line: Option<u64>,
}

/// Parses the complete objects.
pub fn parse(text: &str) -> Output {
    let mut output = Output::default();
    for object in objects(text) {
        match object["objectType"].as_str() {
            Some("property") => output.properties.extend(property(&object)),
            Some("log") => output.log.push(log_entry(&object)),
            _ => {}
        }
    }
    output
}

/// The complete objects of an array that may be cut short.
fn objects(text: &str) -> Vec<Value> {
    if let Ok(Value::Array(all)) = serde_json::from_str(text) {
        return all;
    }
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let mut stream = Deserializer::from_str(&rest[start..]).into_iter::<Value>();
        let Some(Ok(object)) = stream.next() else { break };
        found.push(object);
        rest = &rest[start + stream.byte_offset()..];
    }
    found
}

fn property(object: &Value) -> Option<Property> {
    if object["source"] == "NonVacuityCheck" {
        return None;
    }
    let answer = match object["answer"]["value"].as_str() {
        Some("valid") => Answer::Valid,
        Some("falsifiable") => Answer::Falsifiable,
        Some("reachable") => Answer::Reachable,
        Some("unreachable") => Answer::Unreachable,
        _ => Answer::Unknown,
    };
    // The first block has the streams of the main node.
    let blocks = object["counterExample"].as_array().map_or(&[][..], Vec::as_slice);
    let all = blocks.first().and_then(|b| b["streams"].as_array()).map_or(&[][..], Vec::as_slice);
    Some(Property {
        engine: object["answer"]["source"].as_str().map(str::to_string),
        seconds: object["runtime"]["value"].as_f64(),
        k: object["k"].as_u64().and_then(|k| u32::try_from(k).ok()),
        counterexample: Some(all.iter().filter_map(stream).collect()),
        ..Property::new(object["name"].as_str()?, answer)
    })
}

fn stream(stream: &Value) -> Option<Stream> {
    let mut values = Vec::new();
    for pair in stream["instantValues"].as_array()? {
        let [instant, value] = &pair.as_array()?[..] else { return None };
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Object(_) => format!("{}/{}", value["num"], value["den"]),
            other => other.to_string(),
        };
        values.push((usize::try_from(instant.as_u64()?).ok()?, text));
    }
    Some(Stream { name: stream["name"].as_str()?.to_string(), values })
}

fn log_entry(object: &Value) -> LogEntry {
    LogEntry {
        level: object["level"].as_str().unwrap_or_default().to_string(),
        source: object["source"].as_str().map(str::to_string),
        message: object["value"].as_str().unwrap_or_default().to_string(),
        line: object["line"].as_u64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[
{"objectType": "log", "level": "info", "source": "parse", "value": "kind2 v3"},
{"objectType": "property", "name": "OK", "source": "PropAnnot", "runtime": {"unit": "sec", "value": 0.25},
 "k": 2, "answer": {"source": "ind", "value": "valid"}}
,
{"objectType": "property", "name": "m[l16c3]", "source": "NonVacuityCheck", "answer": {"value": "unreachable"}},
{"objectType": "property", "name": "g", "source": "Guarantee", "answer": {"source": "bmc", "value": "falsifiable"},
 "counterExample": [{"name": "x } {", "streams": [
   {"name": "a", "instantValues": [[0, true], [1, {"num": 1, "den": 2}]]}, {"name": "b", "instantValues": [0]}]}]}
]"#;

    #[test]
    fn properties_and_messages_are_parsed() {
        let output = parse(TEXT);
        let [ok, g] = &output.properties[..] else { panic!("{output:?}") };
        assert_eq!((ok.name.as_str(), ok.answer), ("OK", Answer::Valid));
        assert_eq!((ok.engine.as_deref(), ok.seconds, ok.k), (Some("ind"), Some(0.25), Some(2)));
        assert_eq!((g.name.as_str(), g.answer), ("g", Answer::Falsifiable));
        let values = vec![(0, "true".to_string()), (1, "1/2".to_string())];
        assert_eq!(g.counterexample, Some(vec![Stream { name: "a".to_string(), values }]));
        assert_eq!(output.log[0].message, "kind2 v3");
    }

    #[test]
    fn properties_before_the_cut_are_parsed() {
        for end in 0..TEXT.len() {
            let output = parse(&TEXT[..end]);
            assert!(output.properties.len() <= 2);
            assert!(output.properties.first().is_none_or(|p| p.answer == Answer::Valid));
        }
        let end = TEXT.find("\n,").unwrap();
        assert_eq!(parse(&TEXT[..end]).properties.len(), 1);
    }
}
