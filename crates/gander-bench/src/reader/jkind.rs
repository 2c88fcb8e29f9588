//! JKind: its XML, or the lines of its text output.

use gander_tool_output::jkind;

use super::{Output, Reading, add, first_message, property_answer};

pub(super) fn read(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    let properties = match output.stdout.contains("<Property ") {
        true => jkind::parse_xml(output.stdout),
        false => jkind::parse_text(output.stdout),
    };
    for property in properties {
        add(&mut reading.properties, property_answer(property));
    }
    reading.out_of_memory =
        [output.stdout, output.stderr].iter().any(|t| t.contains("java.lang.OutOfMemoryError"));
    reading.internal_error = output.stderr.contains("Exception in thread");
    if reading.properties.is_empty() && !matches!(output.exit, None | Some(0)) {
        let marks = ["rror", "expecting", "not supported", "nsupported"];
        let message =
            first_message(output.stdout, &marks).or_else(|| first_message(output.stderr, &marks));
        reading.rejected = message;
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;

    fn output(exit: i32, stdout: &str) -> Output<'_> {
        Output { exit: Some(exit), stdout, stderr: "", source: "" }
    }

    #[test]
    fn a_property_that_is_reported_twice_counts_once() {
        let text = "VALID PROPERTIES: [a, b] || pdr || K = 1\nINVALID PROPERTY: c || bmc || K = 2\n\
                    VALID PROPERTIES: [a, b]\nUNKNOWN PROPERTIES: [d]\n";
        let all: Vec<_> =
            read(&output(0, text)).properties.into_iter().map(|p| (p.name, p.verdict)).collect();
        let expected = [
            ("a", Verdict::Valid),
            ("b", Verdict::Valid),
            ("c", Verdict::Invalid),
            ("d", Verdict::Unknown),
        ];
        assert_eq!(all, expected.map(|(n, v)| (n.to_string(), v)));
        let xml = "<Property name=\"p\"><Answer source=\"bmc\">falsifiable</Answer></Property>";
        assert_eq!(read(&output(0, xml)).verdict(), Verdict::Invalid);
    }

    #[test]
    fn a_file_with_errors_is_rejected() {
        let reading = read(&output(255, "Type error at line 3:7 expected int, but found bool\n"));
        assert!(reading.rejected.unwrap().message.starts_with("Type error at line 3:7"));
        assert!(read(&output(0, "no errors here\n")).rejected.is_none());
    }
}
