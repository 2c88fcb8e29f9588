//! Random edits of the models of the corpus: no panic, no stale diagnostic, no growing memory.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use gander_oracle::Tier;
use gander_runtime::Random;
use serde_json::{Value, json};
use support::Editor;

/// Bytes of the largest model that is edited.
const LARGEST: u64 = 6_000;
/// Edits of a model before the next one.
const EDITS: usize = 25;

fn corpus() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().and_then(gander_lang::language_of).is_some()
                && fs::metadata(&path).unwrap().len() <= LARGEST
                && fs::read_to_string(&path).is_ok()
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A place at the border of a character.
fn somewhere(random: &mut Random, text: &str) -> usize {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A place and the text to put there.
fn edit(random: &mut Random, text: &str) -> (usize, usize, String) {
    let start = somewhere(random, text);
    let few = |random: &mut Random| {
        let mut end = (start + random.below(12)).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        end
    };
    const PIECES: &[&str] = &[
        " ",
        "\n",
        "x",
        "0",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ":",
        "=",
        "->",
        ":=",
        "'",
        "\"",
        "/*",
        "*/",
        "--",
        "//",
        "(*",
        "always ",
        "node ",
        "let ",
        "tel ",
        "if ",
        "pre ",
        "PROCESS ",
        "é🦆",
        "\u{202e}",
        "\r",
        "-- \n",
        ".",
        "..",
        "99999999999999999999",
        "and ",
        "leads to ",
        "start ",
    ];
    match random.below(6) {
        // Type a little.
        0 | 1 => (start, start, random.pick(PIECES).to_string()),
        // Delete a little.
        2 => (start, few(random), String::new()),
        // Copy something to here.
        3 => {
            let from = somewhere(random, text);
            let mut to = (from + random.below(60)).min(text.len());
            while !text.is_char_boundary(to) {
                to += 1;
            }
            (start, start, text[from..to].to_string())
        }
        // Replace a little.
        4 => {
            let end = few(random);
            (start, end, random.pick(PIECES).to_string())
        }
        // Delete the rest of the line.
        _ => {
            let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
            (start, end, String::new())
        }
    }
}

/// A position in UTF-16 units, as the test counts them; lines end as in the protocol.
fn position(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let (mut line, mut start) = (0, 0);
    let bytes = text.as_bytes();
    for (i, byte) in before.bytes().enumerate() {
        if byte == b'\n' || (byte == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
            line += 1;
            start = i + 1;
        }
    }
    json!({ "line": line, "character": before[start..].encode_utf16().count() })
}

fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Requests whose answers do not matter.
fn ask(editor: &mut Editor, random: &mut Random, uri: &str, text: &str) {
    let at = position(text, somewhere(random, text));
    let about = json!({ "textDocument": { "uri": uri }, "position": at });
    let mut params = about.clone();
    let methods = [
        "hover",
        "definition",
        "documentHighlight",
        "completion",
        "signatureHelp",
        "documentSymbol",
        "foldingRange",
        "semanticTokens/full",
        "codeLens",
        "references",
        "rename",
        "selectionRange",
        "codeAction",
        "inlayHint",
        "formatting",
        "prepareRename",
    ];
    let method = random.pick(&methods);
    if matches!(method, "references" | "codeAction") {
        params["context"] = json!({ "includeDeclaration": true, "diagnostics": [] });
    }
    params["newName"] = json!("renamed");
    params["positions"] = json!([at]);
    params["range"] = json!({ "start": at, "end": position(text, text.len()) });
    params["options"] = json!({ "tabSize": 2, "insertSpaces": true });
    if let Err(error) = editor.request(&format!("textDocument/{method}"), params) {
        // Only requests that cannot be done fail: a rename, or formatting of a broken text.
        assert_eq!(error["code"], -32803, "{method} {error}\n{text}");
    }
}

#[test]
fn no_panic_no_stale_diagnostic_and_no_growing_memory() {
    let files = corpus();
    let mut random = Random::new(20);
    let edits = Tier::amount(400, 10_000);
    let settings = json!({ "check": "manual", "timeLimitSeconds": 1 });
    let mut editor = Editor::start(settings.clone());
    let mut memory = None;
    let mut done = 0;
    while done < edits {
        let path = &files[random.below(files.len())];
        let uri = format!("file://{}", path.to_str().unwrap());
        let mut text = fs::read_to_string(path).unwrap();
        editor.open(&uri, &text);
        if random.below(8) == 0 {
            editor.command("gander.check", json!([uri, null])).unwrap();
        }
        let mut version = 1;
        for _ in 0..EDITS {
            version += 1;
            done += 1;
            let (start, end, new) = edit(&mut random, &text);
            let range = json!({ "start": position(&text, start), "end": position(&text, end) });
            // Between `\r` and `\n` there is no place.
            let splits = |at: usize| text[..at].ends_with('\r') && text[at..].starts_with('\n');
            let change = if splits(start) || splits(end) {
                text.replace_range(start..end, &new);
                json!([{ "text": text }])
            } else {
                text.replace_range(start..end, &new);
                json!([{ "range": range, "text": new }])
            };
            editor.change(&uri, version, change);
            if random.below(4) == 0 {
                ask(&mut editor, &mut random, &uri, &text);
            }
        }
        let published = editor.diagnostics(&uri, version)["diagnostics"].clone();
        for d in published.as_array().unwrap() {
            assert_ne!(d["code"], "internal", "{d}\n{text}");
        }
        // A fresh server says the same about the text.
        if random.below(2) == 0 {
            let mut fresh = Editor::start(settings.clone());
            fresh.open(&uri, &text);
            let expected = fresh.diagnostics(&uri, 1)["diagnostics"].clone();
            assert_eq!(published, expected, "{uri}\n{text}");
            fresh.end();
        }
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        editor.wait_for("textDocument/publishDiagnostics", |p| {
            p["uri"] == uri.as_str() && p.get("version").is_none()
        });
        for (method, params) in editor.drain() {
            assert!(method != "window/showMessage" || params["type"] != 1, "{params}");
            assert_ne!(params["ending"], "broke", "{params}");
        }
        if done >= edits / 4 && memory.is_none() {
            memory = resident_bytes();
        }
    }
    if let (Some(before), Some(after)) = (memory, resident_bytes()) {
        let limit = before + before / 2 + (64 << 20);
        assert!(after < limit, "{} MB, then {} MB", before >> 20, after >> 20);
    }
    editor.end();
}
