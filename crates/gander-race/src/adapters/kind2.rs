//! Kind 2: several engines on Lustre. It says what it proved as JSON objects, one after the other.

use serde_json::Value;

use super::lustre_answer::{About, answer, program};
use crate::tool::{Call, Seat, Stop, Tool};

/// The adapter.
pub(super) struct Kind2;

impl Tool for Kind2 {
    fn name(&self) -> &'static str {
        "kind2"
    }

    fn about(&self) -> &'static str {
        "Lustre model checker: k-induction, IC3, invariant generation; safety, with traces"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["kind2"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["--version"]
    }

    fn play(&self, seat: &mut Seat<'_>) -> Result<(), Stop> {
        let written = program(seat)?;
        let mut arguments = vec!["-json".to_string(), "--lus_main".to_string(), "main".to_string()];
        if let Some(seconds) = seat.seconds_left() {
            arguments.extend(["--timeout".to_string(), seconds.to_string()]);
        }
        arguments.push("model.lus".to_string());
        let files = vec![("model.lus".to_string(), written.text.clone())];
        let said = seat.run(&Call { files, arguments, ..Call::default() })?;
        let told = read(&said.stdout);
        answer(seat, &written.names, &said, told)
    }
}

/// The properties of complete objects; the array may be cut short.
fn read(text: &str) -> Vec<About> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let mut stream = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Value>();
        let Some(Ok(object)) = stream.next() else { break };
        found.extend(property(&object));
        rest = &rest[start + stream.byte_offset()..];
    }
    found
}

fn property(object: &Value) -> Option<About> {
    if object["objectType"] != "property" || object["source"] == "NonVacuityCheck" {
        return None;
    }
    let is_true = match object["answer"]["value"].as_str()? {
        "valid" => true,
        "falsifiable" => false,
        _ => return None,
    };
    // Only the streams of the program itself; it calls nobody.
    let blocks = object["counterExample"].as_array().map_or(&[][..], Vec::as_slice);
    let all = blocks.first().and_then(|b| b["streams"].as_array()).map_or(&[][..], Vec::as_slice);
    let streams = all.iter().filter_map(stream).collect();
    let k = object["k"].as_u64().and_then(|k| u32::try_from(k).ok());
    Some(About { name: object["name"].as_str()?.to_string(), is_true, k, streams })
}

fn stream(stream: &Value) -> Option<(String, Vec<(usize, String)>)> {
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
    Some((stream["name"].as_str()?.to_string(), values))
}
