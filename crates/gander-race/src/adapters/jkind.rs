//! JKind: k-induction and property-directed reachability on Lustre. It says what it proved as XML.

use super::lustre_answer::{About, answer, program};
use crate::tool::{Call, Memory, Seat, Stop, Tool};

/// The adapter.
pub(super) struct JKind;

impl Tool for JKind {
    fn name(&self) -> &'static str {
        "jkind"
    }

    fn about(&self) -> &'static str {
        "Lustre model checker: k-induction, PDR, invariant generation; safety, with traces"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["jkind"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["-version"]
    }

    fn memory(&self) -> Memory {
        Memory::Own
    }

    fn play(&self, seat: &mut Seat<'_>) -> Result<(), Stop> {
        let written = program(seat)?;
        let mut arguments = vec!["-xml_to_stdout".to_string()];
        if let Some(seconds) = seat.seconds_left() {
            arguments.extend(["-timeout".to_string(), seconds.to_string()]);
        }
        arguments.push("model.lus".to_string());
        let memory = seat.memory_mb().map(|mb| ("JAVA_TOOL_OPTIONS".to_string(), format!("-Xmx{mb}m")));
        let call = Call {
            files: vec![("model.lus".to_string(), written.text.clone())],
            arguments,
            environment: memory.into_iter().collect(),
            most: None,
        };
        let said = seat.run(&call)?;
        let told = read(&said.stdout);
        answer(seat, &written.names, &said, told)
    }
}

/// The complete `Property` elements. They are flat enough to be found by their tags.
fn read(text: &str) -> Vec<About> {
    let parts = text.split("<Property ").skip(1);
    parts.filter_map(|part| part.split_once("</Property>")).filter_map(|(body, _)| property(body)).collect()
}

fn property(body: &str) -> Option<About> {
    let name = between(body, "name=\"", "\"")?.to_string();
    let is_true = match content(body, "Answer")?.trim() {
        "valid" => true,
        "falsifiable" => false,
        _ => return None,
    };
    let k = content(body, "K").and_then(|k| k.trim().parse().ok());
    let mut streams = Vec::new();
    for part in body.split("<Signal ").skip(1) {
        let (signal, _) = part.split_once("</Signal>")?;
        let mut values = Vec::new();
        for value in signal.split("<Value ").skip(1) {
            let (value, _) = value.split_once("</Value>")?;
            let (tag, text) = value.split_once('>')?;
            // Older versions call it `time`.
            let instant = between(tag, "instant=\"", "\"").or_else(|| between(tag, "time=\"", "\""))?;
            values.push((instant.parse().ok()?, text.trim().to_string()));
        }
        streams.push((between(signal, "name=\"", "\"")?.to_string(), values));
    }
    Some(About { name, is_true, k, streams })
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

/// What is inside of an element.
fn content<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}"))?;
    let (_, rest) = rest.split_once('>')?;
    Some(rest.split_once(&format!("</{name}>"))?.0)
}
