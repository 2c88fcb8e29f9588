//! Random edits of the models of the corpus: no panic, no stale diagnostic or verdict, no growing
//! memory.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gander::{CheckOptions, Model};

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

/// An edit that mostly leaves a model a model: another number or operator.
fn meaningful_edit(random: &mut Random, text: &str) -> Option<(usize, usize, String)> {
    const WORDS: &[(&str, &str)] = &[
        ("<=", "<"),
        (">=", ">"),
        ("==", "<="),
        ("+", "-"),
        ("-", "+"),
        (" and ", " or "),
        (" or ", " and "),
        ("true", "false"),
        ("false", "true"),
    ];
    let mut places = Vec::new();
    for (at, c) in text.char_indices() {
        if c.is_ascii_digit() && !text[..at].ends_with(|c: char| c.is_alphanumeric()) {
            let end = text[at..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |n| at + n);
            if let Ok(number) = text[at..end].parse::<u32>() {
                places.push((at, end, number.saturating_add(1).to_string()));
                places.push((at, end, number.saturating_sub(1).to_string()));
            }
        }
        for (old, new) in WORDS.iter().filter(|(old, _)| text[at..].starts_with(old)) {
            places.push((at, at + old.len(), new.to_string()));
        }
    }
    (!places.is_empty()).then(|| places.swap_remove(random.below(places.len())))
}

/// By claim: the verdict about the latest text.
fn verdicts_of(editor: &mut Editor, uri: &str) -> BTreeMap<String, String> {
    let state = editor.command("gander.state", json!([uri])).unwrap();
    let claims = state["claims"].as_array().unwrap();
    let current = claims.iter().filter(|c| c["known"]["is_current"] == true);
    let word = |value: &Value| value.as_str().unwrap().to_string();
    current.map(|c| (word(&c["claim"]), word(&c["known"]["result"]["verdict"]))).collect()
}

#[test]
fn verdicts_after_edits_are_those_of_a_fresh_check() {
    let files = corpus();
    let mut random = Random::new(12);
    let limit = Duration::from_secs(2);
    let settings = json!({ "check": "manual", "timeLimitSeconds": limit.as_secs_f64() });
    let mut editor = Editor::start(settings);
    let (mut compared, wanted) = (0, Tier::amount(15, 300));
    while compared < wanted {
        let path = &files[random.below(files.len())];
        let uri = format!("file://{}", path.to_str().unwrap());
        let mut text = fs::read_to_string(path).unwrap();
        editor.open(&uri, &text);
        let mut checks = 0;
        for version in 2..=2 + random.below(4) as i64 {
            if random.below(2) == 0 {
                // It is stopped by the edit, or its verdicts are about an earlier text.
                editor.command("gander.check", json!([uri, null])).unwrap();
                checks += 1;
            }
            let Some((start, end, new)) = meaningful_edit(&mut random, &text) else { break };
            let range = json!({ "start": position(&text, start), "end": position(&text, end) });
            editor.change(&uri, version, json!([{ "range": range, "text": new }]));
            text.replace_range(start..end, &new);
        }
        editor.command("gander.check", json!([uri, null])).unwrap();
        for _ in 0..=checks {
            editor.wait_for("gander/check", |p| p["state"] == "ended");
        }
        let ours = verdicts_of(&mut editor, &uri);
        let options = CheckOptions { timeout: Some(limit), ..CheckOptions::default() };
        if let Ok(model) = Model::parse_named(&text, path.to_str().unwrap()) {
            let report = model.check(&options);
            // That a run exists is no claim of the model, so the state does not list it.
            let systems = model.systems().iter();
            let names: Vec<&str> =
                systems.flat_map(|s| s.claims()).map(|claim| claim.name.as_str()).collect();
            let claims = report.view().claims.iter();
            for claim in claims.filter(|claim| names.contains(&claim.name.as_str())) {
                let (own, fresh) = (ours.get(&claim.name), claim.verdict.word());
                let own = own.unwrap_or_else(|| panic!("{uri}: {}\n{text}", claim.name));
                // Which claims are open at the time limit may differ.
                let is_open = own == "unknown" || fresh == "unknown";
                assert!(is_open || own == fresh, "{uri}: {}: {own}, {fresh}\n{text}", claim.name);
            }
            compared += 1;
        } else {
            assert!(ours.is_empty(), "{uri}: {ours:?}\n{text}");
        }
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        editor.drain();
    }
    editor.end();
}
