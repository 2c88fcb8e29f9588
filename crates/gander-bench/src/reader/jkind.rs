//! Reads JKind: its XML, or the lines of its text output.

use super::{Output, Reading, add, answer, first_message};
use crate::verdict::Verdict;

pub(super) fn read(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    if output.stdout.contains("<Property ") {
        read_xml(output.stdout, &mut reading);
    } else {
        read_text(output.stdout, &mut reading);
    }
    reading.out_of_memory = [output.stdout, output.stderr].iter().any(|t| t.contains("java.lang.OutOfMemoryError"));
    reading.internal_error = output.stderr.contains("Exception in thread");
    if reading.properties.is_empty() && !matches!(output.exit, None | Some(0)) {
        let marks = ["rror", "expecting", "not supported", "nsupported"];
        let message = first_message(output.stdout, &marks).or_else(|| first_message(output.stderr, &marks));
        reading.rejected = message;
    }
    reading
}

/// Elements are flat enough to be found by their tags; only complete properties count.
fn read_xml(text: &str, reading: &mut Reading) {
    for part in text.split("<Property ").skip(1) {
        let Some((body, _)) = part.split_once("</Property>") else { continue };
        let Some(name) = between(body, "name=\"", "\"") else { continue };
        let Some((tag, verdict)) = element(body, "Answer") else { continue };
        let verdict = match verdict.trim() {
            "valid" => Verdict::Valid,
            "falsifiable" => Verdict::Invalid,
            _ => Verdict::Unknown,
        };
        let mut new = answer(&unescaped(name), verdict);
        new.engine = between(tag, "source=\"", "\"").map(str::to_string);
        new.seconds = element(body, "Runtime").and_then(|(_, s)| s.trim().parse().ok());
        add(&mut reading.properties, new);
    }
}

/// `VALID PROPERTIES: [a, b] || …`, `INVALID PROPERTY: c || …`, `UNKNOWN PROPERTIES: [d]`.
fn read_text(text: &str, reading: &mut Reading) {
    for line in text.lines() {
        let Some((head, rest)) = line.split_once(':') else { continue };
        let verdict = match head.trim() {
            "VALID PROPERTY" | "VALID PROPERTIES" => Verdict::Valid,
            "INVALID PROPERTY" | "INVALID PROPERTIES" => Verdict::Invalid,
            "UNKNOWN PROPERTY" | "UNKNOWN PROPERTIES" => Verdict::Unknown,
            _ => continue,
        };
        let mut fields = rest.split("||").map(str::trim);
        let names = fields.next().unwrap_or_default();
        let names = names.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(names);
        let engine = fields.next().map(str::to_string);
        for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            let mut new = answer(name, verdict);
            new.engine = engine.clone();
            add(&mut reading.properties, new);
        }
    }
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
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(exit: i32, stdout: &str) -> Output<'_> {
        Output { exit: Some(exit), stdout, stderr: "", source: "" }
    }

    #[test]
    fn xml() {
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
    <Counterexample><Signal name="d" type="int"/></Counterexample>
  </Property>
  <Property name="e"><Answer>unknown</Answer></Property>
  <Property name="f"><Answer source="pdr">val"#;
        let all: Vec<_> =
            read(&output(0, text)).properties.into_iter().map(|p| (p.name, p.verdict, p.engine, p.seconds)).collect();
        assert_eq!(
            all,
            [
                ("a<b".into(), Verdict::Valid, Some("k-induction".into()), Some(0.352)),
                ("c".into(), Verdict::Invalid, Some("bmc".into()), Some(1.0)),
                ("e".into(), Verdict::Unknown, None, None),
            ]
        );
    }

    #[test]
    fn text() {
        let text = "  JKind 4.6.1\n++++\nVALID PROPERTIES: [a, b] || pdr || K = 1 || Time = 0.3s\n++++\n\
                    INVALID PROPERTY: c || bmc || K = 2 || Time = 1s\n    SUMMARY\nVALID PROPERTIES: [a, b]\n\
                    UNKNOWN PROPERTIES: [d]\n";
        let all: Vec<_> = read(&output(0, text)).properties.into_iter().map(|p| (p.name, p.verdict)).collect();
        let expected = [("a", Verdict::Valid), ("b", Verdict::Valid), ("c", Verdict::Invalid), ("d", Verdict::Unknown)];
        assert_eq!(all, expected.map(|(n, v)| (n.to_string(), v)));
    }

    #[test]
    fn errors_reject() {
        let reading = read(&output(255, "Type error at line 3:7 expected int, but found bool\n"));
        assert!(reading.rejected.unwrap().message.starts_with("Type error at line 3:7"));
        assert!(read(&output(0, "no errors here\n")).rejected.is_none());
    }
}
