//! Names, positions, ranges and diagnostics in the form of the protocol.

use gander_lang::Span;
use gander_report::Severity;
use gander_service::{Document, DocumentDiagnostic, Encoding, Position, Uri};
use serde_json::{Value, json};

/// The largest number of lines of help in a message.
const MAX_HELP: usize = 5;

/// The unit of columns and its name in the protocol: bytes if the client supports them.
pub(crate) fn encoding_of(
    capabilities: &lsp_types::ClientCapabilities,
) -> (Encoding, &'static str) {
    let general = capabilities.general.as_ref();
    let known = general.and_then(|g| g.position_encodings.as_ref());
    let knows = |name: &str| known.is_some_and(|all| all.iter().any(|e| e.as_str() == name));
    if knows("utf-8") { (Encoding::Utf8, "utf-8") } else { (Encoding::Utf16, "utf-16") }
}

/// The path of a `file:` name; for other schemes its text, of which only the extension matters.
pub(crate) fn file_name_of(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_string() };
    let path = path.find('/').map_or(path, |at| &path[at..]);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let hex = |b: Option<u8>| b.and_then(|b| (b as char).to_digit(16));
        let mut ahead = rest.clone();
        match (byte, hex(ahead.next()), hex(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    // `file:///C:/x` is `C:/x`.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match text.strip_prefix('/') {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest.to_string(),
        _ => text,
    }
}

/// A position of the protocol.
pub(crate) fn position_json(document: &Document, offset: u32, encoding: Encoding) -> Value {
    let at = document.positions().position(&document.text, offset as usize, encoding);
    json!({ "line": at.line, "character": at.column })
}

/// A range of the protocol.
pub(crate) fn range_json(document: &Document, span: Span, encoding: Encoding) -> Value {
    json!({
        "start": position_json(document, span.start, encoding),
        "end": position_json(document, span.end, encoding),
    })
}

/// The byte at a position of the protocol.
pub(crate) fn offset_of(
    document: &Document,
    position: lsp_types::Position,
    encoding: Encoding,
) -> u32 {
    let position = Position { line: position.line, column: position.character };
    document.positions().offset(&document.text, position, encoding) as u32
}

/// The span of a range of the protocol.
pub(crate) fn span_of(document: &Document, range: lsp_types::Range, encoding: Encoding) -> Span {
    Span::new(offset_of(document, range.start, encoding), offset_of(document, range.end, encoding))
}

/// A text with one of its parts replaced.
pub(crate) fn replaced(
    text: &str,
    range: lsp_types::Range,
    new: &str,
    encoding: Encoding,
) -> String {
    let positions = gander_service::Positions::new(text);
    let at = |p: lsp_types::Position| {
        let position = Position { line: p.line, column: p.character };
        positions.offset(text, position, encoding)
    };
    let (start, end) = (at(range.start), at(range.end));
    let end = end.max(start);
    let mut out = String::with_capacity(text.len() + new.len());
    out.push_str(text.get(..start).unwrap_or(""));
    out.push_str(new);
    out.push_str(text.get(end..).unwrap_or(""));
    out
}

/// A diagnostic of the protocol. One about the whole document is shown on its first line.
pub(crate) fn diagnostic_json(
    document: &Document,
    d: &DocumentDiagnostic,
    encoding: Encoding,
) -> Value {
    let span = d.span.unwrap_or_else(|| {
        let first = document.text.lines().next().unwrap_or("");
        Span::new(0, first.len() as u32)
    });
    let severity = match d.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    };
    let mut message = d.message.clone();
    for help in d.help.iter().take(MAX_HELP) {
        message.push('\n');
        message.push_str(help);
    }
    let related: Vec<Value> = d
        .related
        .iter()
        .map(|r| {
            let range = range_json(document, r.span, encoding);
            json!({
                "location": { "uri": document.uri.as_str(), "range": range },
                "message": r.text,
            })
        })
        .collect();
    let mut value = json!({
        "range": range_json(document, span, encoding),
        "severity": severity,
        "code": d.code,
        "source": "gander",
        "message": message,
    });
    if !related.is_empty() {
        value["relatedInformation"] = Value::Array(related);
    }
    if let Some(claim) = &d.claim {
        value["data"] = json!({ "claim": claim });
    }
    // An unused name is shown faded.
    if d.message.contains("is never used") {
        value["tags"] = json!([1]);
    }
    value
}

/// The parameters of `textDocument/publishDiagnostics`.
pub(crate) fn publish_json(
    document: &Document,
    diagnostics: &[DocumentDiagnostic],
    encoding: Encoding,
) -> Value {
    json!({
        "uri": document.uri.as_str(),
        "version": document.version,
        "diagnostics":
            diagnostics.iter().map(|d| diagnostic_json(document, d, encoding)).collect::<Vec<_>>(),
    })
}

/// The name of a document of the service.
pub(crate) fn uri_of(uri: &lsp_types::Uri) -> Uri {
    Uri::new(uri.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_decoded() {
        assert_eq!(file_name_of("file:///tmp/a%20b/%C3%BC.sts"), "/tmp/a b/ü.sts");
        assert_eq!(file_name_of("file:///C%3A/x.lus"), "C:/x.lus");
        assert_eq!(file_name_of("file://host/x%2"), "/x%2");
        assert_eq!(file_name_of("untitled:Untitled-1.sts"), "untitled:Untitled-1.sts");
    }

    #[test]
    fn edits_replace_ranges_in_the_units_of_the_client() {
        let range = |a: (u32, u32), b: (u32, u32)| lsp_types::Range {
            start: lsp_types::Position { line: a.0, character: a.1 },
            end: lsp_types::Position { line: b.0, character: b.1 },
        };
        let text = "a🦆b\ncd";
        assert_eq!(replaced(text, range((0, 1), (0, 3)), "x", Encoding::Utf16), "axb\ncd");
        assert_eq!(replaced(text, range((0, 1), (0, 5)), "x", Encoding::Utf8), "axb\ncd");
        assert_eq!(replaced(text, range((0, 4), (1, 1)), "", Encoding::Utf16), "a🦆bd");
        // A range whose end is before its start is empty.
        assert_eq!(replaced("abc", range((0, 2), (0, 1)), "x", Encoding::Utf16), "abxc");
    }
}
