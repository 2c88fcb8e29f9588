//! JKind: its XML (`-xml_to_stdout`), or the lines of its text output.

use crate::lustre::{Answer, Property, Stream};

/// Parses the complete `Property` elements of XML. They are flat enough to be found by their tags.
pub fn parse_xml(text: &str) -> Vec<Property> {
    let parts = text.split("<Property ").skip(1);
    parts
        .filter_map(|part| part.split_once("</Property>"))
        .filter_map(|(body, _)| property(body))
        .collect()
}

fn property(body: &str) -> Option<Property> {
    let name = between(body, "name=\"", "\"")?;
    let (tag, answer) = element(body, "Answer")?;
    let answer = match answer.trim() {
        "valid" => Answer::Valid,
        "falsifiable" => Answer::Falsifiable,
        _ => Answer::Unknown,
    };
    Some(Property {
        engine: between(tag, "source=\"", "\"").map(str::to_string),
        seconds: element(body, "Runtime").and_then(|(_, s)| s.trim().parse().ok()),
        k: element(body, "K").and_then(|(_, k)| k.trim().parse().ok()),
        counterexample: body.split("<Signal ").skip(1).map(stream).collect(),
        ..Property::new(unescaped(name), answer)
    })
}

fn stream(part: &str) -> Option<Stream> {
    let (signal, _) = part.split_once("</Signal>")?;
    let mut values = Vec::new();
    for value in signal.split("<Value ").skip(1) {
        let (value, _) = value.split_once("</Value>")?;
        let (tag, text) = value.split_once('>')?;
        // Older versions call it `time`.
        let instant = between(tag, "instant=\"", "\"").or_else(|| between(tag, "time=\"", "\""))?;
        values.push((instant.parse().ok()?, text.trim().to_string()));
    }
    Some(Stream { name: between(signal, "name=\"", "\"")?.to_string(), values })
}

/// Parses text output: `VALID PROPERTIES: [a, b] || …`, `INVALID PROPERTY: c || …`, `UNKNOWN
/// PROPERTIES: [d]`. A property may occur several times.
pub fn parse_text(text: &str) -> Vec<Property> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((head, rest)) = line.split_once(':') else { continue };
        let answer = match head.trim() {
            "VALID PROPERTY" | "VALID PROPERTIES" => Answer::Valid,
            "INVALID PROPERTY" | "INVALID PROPERTIES" => Answer::Falsifiable,
            "UNKNOWN PROPERTY" | "UNKNOWN PROPERTIES" => Answer::Unknown,
            _ => continue,
        };
        let mut fields = rest.split("||").map(str::trim);
        let names = fields.next().unwrap_or_default();
        let names = names.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(names);
        let engine = fields.next().map(str::to_string);
        for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            found.push(Property { engine: engine.clone(), ..Property::new(name, answer) });
        }
    }
    found
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

/// The inside of a start tag and the text up to the end tag.
fn element<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let (_, rest) = text.split_once(&format!("<{name}"))?;
    let (tag, rest) = rest.split_once('>')?;
    Some((tag, rest.split_once(&format!("</{name}>"))?.0))
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_elements_of_xml_are_parsed() {
        let text = r#"<?xml version="1.0"?>
<Results xmlns:xsi="x">
  <Progress source="bmc" trueFor="3"/>
  <Property name="a&lt;b">
    <Runtime unit="sec">0.352</Runtime>
    <Answer source="k-induction">valid</Answer>
    <K>1</K>
  </Property>
  <Property name="c">
    <Runtime unit="sec">1</Runtime>
    <Answer source="bmc">falsifiable</Answer>
    <Counterexample><Signal name="d" type="int"><Value instant="0">4</Value></Signal></Counterexample>
  </Property>
  <Property name="e"><Answer>unknown</Answer>
    <Counterexample><Signal name="d" type="int"/></Counterexample>
  </Property>
  <Property name="f"><Answer source="pdr">val"#;
        let all = parse_xml(text);
        let [a, c, e] = &all[..] else { panic!("{all:?}") };
        assert_eq!((a.name.as_str(), a.answer, a.k), ("a<b", Answer::Valid, Some(1)));
        assert_eq!((a.engine.as_deref(), a.seconds), (Some("k-induction"), Some(0.352)));
        let d = Stream { name: "d".to_string(), values: vec![(0, "4".to_string())] };
        assert_eq!((c.answer, &c.counterexample), (Answer::Falsifiable, &Some(vec![d])));
        assert_eq!((e.answer, &e.counterexample), (Answer::Unknown, &None));
    }

    #[test]
    fn lines_of_text_are_parsed() {
        let text = "  JKind 4.6.1\n++++\nVALID PROPERTIES: [a, b] || pdr || K = 1 || Time = 0.3s\n++++\n\
                    INVALID PROPERTY: c || bmc || K = 2 || Time = 1s\n    SUMMARY\nVALID PROPERTIES: [a, b]\n\
                    UNKNOWN PROPERTIES: [d]\n";
        let all: Vec<_> = parse_text(text).into_iter().map(|p| (p.name, p.answer)).collect();
        let expected = [
            ("a", Answer::Valid),
            ("b", Answer::Valid),
            ("c", Answer::Falsifiable),
            ("a", Answer::Valid),
            ("b", Answer::Valid),
            ("d", Answer::Unknown),
        ];
        assert_eq!(all, expected.map(|(n, a)| (n.to_string(), a)));
    }
}
