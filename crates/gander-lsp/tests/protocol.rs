//! Conversations with the server over a connection in memory.

mod support;

use serde_json::{Value, json};
use support::Editor;

const COUNTER: &str = "\
spec Counter
// How often it was pressed.
var x: int
define double = 2 * x
start -> Idle { x == 0 }
node Idle {
  press when x < 3 { x := x + 1 }
  reset when x == 3 { x := 0 }
}
always small: x <= 3
always wrong: double <= 4
";

fn place(text: &str, what: &str) -> Value {
    let at = text.find(what).unwrap();
    let line = text[..at].matches('\n').count();
    let column = at - text[..at].rfind('\n').map_or(0, |n| n + 1);
    json!({ "line": line, "character": column })
}

fn at(uri: &str, text: &str, what: &str) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": place(text, what) })
}

fn about(uri: &str) -> Value {
    json!({ "textDocument": { "uri": uri } })
}

#[test]
fn a_model_is_checked_explained_and_repaired() {
    let mut editor = Editor::start(json!({ "check": "manual" }));
    let uri = "file:///tmp/counter.sts";
    editor.open(uri, COUNTER);
    let published = editor.diagnostics(uri, 1);
    assert_eq!(published["diagnostics"], json!([]));
    editor.command("gander.check", json!([uri, null])).unwrap();
    let verdict = editor.wait_for("gander/verdict", |p| p["result"]["claim"] == "wrong");
    assert_eq!(verdict["result"]["verdict"], "fails");
    assert_eq!(verdict["range"]["start"]["line"], 10);
    assert_eq!(verdict["steps"].as_array().unwrap().len(), 4);
    let ended = editor.wait_for("gander/check", |p| p["state"] == "ended");
    assert_eq!((&ended["ending"], &ended["exit_code"]), (&json!("finished"), &json!(1)));
    let published = editor.diagnostics(uri, 1);
    let all = published["diagnostics"].as_array().unwrap();
    let wrong = all.iter().find(|d| d["code"] == "verdict").unwrap();
    assert_eq!((&wrong["severity"], &wrong["data"]["claim"]), (&json!(1), &json!("wrong")));
    let related = wrong["relatedInformation"].as_array().unwrap();
    assert_eq!(related[1]["location"]["range"]["start"]["line"], 6);
    assert!(related[1]["message"].as_str().unwrap().contains("press"));

    editor.command("gander.explain", json!([uri, "small"])).unwrap();
    let explained = editor.wait_for("gander/explained", |p| p["claim"] == "small");
    assert!(!explained["elements"].as_array().unwrap().is_empty(), "{explained}");
    editor.wait_for("gander/check", |p| p["state"] == "ended");
    let hover = editor.request("textDocument/hover", at(uri, COUNTER, "small:")).unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("holds") && text.contains("Its proof "), "{text}");
    let hover = editor.request("textDocument/hover", at(uri, COUNTER, "press when")).unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("Proofs of `small` rest on it."), "{text}");
    let covered = editor.command("gander.coverage", json!([uri])).unwrap();
    let words: Vec<&Value> = covered.as_array().unwrap().iter().map(|c| &c["covered"]).collect();
    // Other minimal cores may exist, so no element is said to be uncovered.
    assert!(words.iter().any(|w| **w == "covered"), "{covered}");
    assert!(words.iter().any(|w| **w == "no-found-core"), "{covered}");
    assert!(words.iter().all(|w| **w != "uncovered"), "{covered}");

    let fixed = COUNTER.replace("double <= 4", "double <= 6");
    editor.change(uri, 2, json!([{ "text": fixed }]));
    assert_eq!(editor.diagnostics(uri, 2)["diagnostics"], json!([]));
    let state = editor.command("gander.state", json!([uri])).unwrap();
    assert_eq!(state["claims"][0]["known"]["is_current"], false);
    editor.command("gander.check", json!([uri, "wrong"])).unwrap();
    let verdict = editor.wait_for("gander/verdict", |p| p["result"]["claim"] == "wrong");
    assert_eq!(verdict["result"]["verdict"], "holds");
    editor.end();
}

#[test]
fn names_are_found_renamed_and_completed() {
    let mut editor = Editor::start(json!({ "check": "manual" }));
    let uri = "file:///tmp/a.sts";
    editor.open(uri, COUNTER);
    let found = editor.request("textDocument/definition", at(uri, COUNTER, "x + 1")).unwrap();
    assert_eq!(found[0]["range"]["start"], place(COUNTER, "x: int"));
    let mut params = at(uri, COUNTER, "x: int");
    params["context"] = json!({ "includeDeclaration": false });
    let uses = editor.request("textDocument/references", params).unwrap();
    assert_eq!(uses.as_array().unwrap().len(), 8);
    let mut params = at(uri, COUNTER, "double =");
    params["newName"] = json!("twice");
    let edit = editor.request("textDocument/rename", params.clone()).unwrap();
    assert_eq!(edit["changes"][uri].as_array().unwrap().len(), 2);
    params["newName"] = json!("x");
    assert_eq!(editor.request("textDocument/rename", params).unwrap_err()["code"], -32803);
    let found = editor.request("textDocument/completion", at(uri, COUNTER, "double <=")).unwrap();
    let labels: Vec<&str> =
        found["items"].as_array().unwrap().iter().map(|i| i["label"].as_str().unwrap()).collect();
    assert!(labels.contains(&"double") && labels.contains(&"x"), "{labels:?}");
    let hover = editor.request("textDocument/hover", at(uri, COUNTER, "x + 1")).unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    for part in ["variable", "int", "How often it was pressed."] {
        assert!(text.contains(part), "{text}");
    }
    let symbols = editor.request("textDocument/documentSymbol", about(uri)).unwrap();
    assert_eq!(symbols[0]["name"], "Counter");
    let inner: Vec<&str> = symbols[0]["children"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert!(["x", "double", "Idle", "small"].iter().all(|n| inner.contains(n)), "{inner:?}");
    let folds = editor.request("textDocument/foldingRange", about(uri)).unwrap();
    assert!(folds.as_array().unwrap().iter().any(|f| f["startLine"] == 5 && f["endLine"] == 8));
    let tokens = editor.request("textDocument/semanticTokens/full", about(uri)).unwrap();
    let data = tokens["data"].as_array().unwrap();
    assert!(data.len() > 100 && data.len().is_multiple_of(5));
    // `spec`, a keyword at the beginning.
    assert_eq!(data[..5], [json!(0), json!(0), json!(4), json!(0), json!(0)]);
    let params = json!({
        "textDocument": { "uri": uri }, "positions": [place(COUNTER, "x < 3")],
    });
    let selection = editor.request("textDocument/selectionRange", params).unwrap();
    assert!(selection[0]["parent"]["parent"].is_object());
    editor.end();
}

#[test]
fn hints_are_code_actions_that_repair_the_text() {
    let mut editor = Editor::start(json!({ "check": "manual" }));
    let uri = "file:///tmp/b.lus";
    let text = "node main(level: int) returns (ok: bool);\nlet\n  ok = levl > 0;\ntel\n";
    editor.open(uri, text);
    let published = editor.diagnostics(uri, 1);
    let d = &published["diagnostics"][0];
    assert_eq!(d["range"]["start"], place(text, "levl"));
    let params = json!({
        "textDocument": { "uri": uri }, "range": d["range"], "context": { "diagnostics": [d] },
    });
    let actions = editor.request("textDocument/codeAction", params).unwrap();
    assert_eq!(actions[0]["title"], "did you mean `level`?");
    let edit = &actions[0]["edit"]["changes"][uri][0];
    editor.change(uri, 2, json!([{ "range": edit["range"], "text": edit["newText"] }]));
    let errors = editor.diagnostics(uri, 2);
    let errors = errors["diagnostics"].as_array().unwrap();
    assert!(errors.iter().all(|d| d["severity"] != 1), "{errors:?}");
    editor.end();
}

#[test]
fn texts_are_formatted_with_small_edits() {
    let mut editor = Editor::start(json!({ "check": "manual" }));
    let uri = "file:///tmp/f.sts";
    let text = COUNTER.replace("x := x + 1", "x:=x+1");
    editor.open(uri, &text);
    let params = json!({
        "textDocument": { "uri": uri }, "options": { "tabSize": 2, "insertSpaces": true },
    });
    let edits = editor.request("textDocument/formatting", params).unwrap();
    assert_eq!(edits.as_array().unwrap().len(), 1);
    assert_eq!(edits[0]["range"]["start"], json!({ "line": 6, "character": 0 }));
    assert_eq!(edits[0]["newText"], "  press when x < 3 { x := x + 1 }\n");
    editor.end();
}

#[test]
fn signatures_of_calls_are_shown() {
    let mut editor = Editor::start(json!({ "check": "manual" }));
    let uri = "file:///tmp/s.lus";
    let text = "node f(a: int; b: bool) returns (y: int);\nlet y = a; tel\n\
                node main(x: int) returns (z: int);\nlet z = f(x, true); tel\n";
    editor.open(uri, text);
    let help = editor.request("textDocument/signatureHelp", at(uri, text, "true")).unwrap();
    assert_eq!(help["signatures"][0]["label"], "f(a: int, b: bool)");
    assert_eq!(help["activeParameter"], 1);
    editor.end();
}

#[test]
fn lenses_lead_to_checks_and_simulations() {
    let mut editor = Editor::start(json!({ "check": "save" }));
    let uri = "file:///tmp/l.sts";
    editor.open(uri, COUNTER);
    // Opening checks.
    editor.wait_for("gander/check", |p| p["state"] == "ended");
    let lenses = editor.request("textDocument/codeLens", about(uri)).unwrap();
    let lenses = lenses.as_array().unwrap();
    let titled = |part: &str| {
        let title = |l: &&Value| l["command"]["title"].as_str().unwrap().contains(part);
        lenses.iter().find(title).unwrap_or_else(|| panic!("{part}: {lenses:?}"))["command"].clone()
    };
    assert_eq!(titled("holds")["command"], "gander.explain");
    let simulate = titled("simulate its run");
    let view = editor.command("gander.simulate", simulate["arguments"].clone()).unwrap();
    assert_eq!(view["rows"].as_array().unwrap().len(), 4);
    assert_eq!(view["failing"], json!(["wrong"]));
    let simulation = &view["simulation"];
    let choices = view["choices"].as_array().unwrap();
    let reset = choices.iter().find(|c| c["transition"] == "reset").unwrap();
    assert!(reset["step"].is_string(), "{choices:?}");
    let step = json!([uri, { "simulation": simulation, "do": "step", "transition": "reset" }]);
    let view = editor.command("gander.simulate", step).unwrap();
    assert_eq!(view["rows"][4]["values"]["x"], "0");
    let undo = json!([uri, { "simulation": simulation, "do": "undo" }]);
    let view = editor.command("gander.simulate", undo).unwrap();
    assert_eq!(view["rows"].as_array().unwrap().len(), 4);
    let wrong = json!([uri, { "simulation": simulation, "do": "step", "transition": "press" }]);
    assert_eq!(editor.command("gander.simulate", wrong).unwrap_err()["code"], -32803);
    editor.end();
}

#[test]
fn positions_are_in_the_units_that_the_client_knows() {
    for (encodings, expected) in [(json!(["utf-16"]), 31), (json!(["utf-8", "utf-16"]), 33)] {
        let capabilities = json!({ "general": { "positionEncodings": encodings } });
        let mut editor = Editor::start_with(capabilities, json!({ "check": "manual" }));
        let uri = "file:///tmp/u.sts";
        let text = "spec S var x: int /* 🦆 */ var yy: int\n\
                    start { x == 0, yy == 0 } step s { x := x, yy := yy } always p: yy == 0\n";
        editor.open(uri, text);
        let found = editor.request("textDocument/documentSymbol", about(uri)).unwrap();
        let inner = found[0]["children"].as_array().unwrap();
        let y = inner.iter().find(|s| s["name"] == "yy").unwrap();
        assert_eq!(y["selectionRange"]["start"]["character"], expected);
        editor.end();
    }
}

#[test]
fn other_languages_have_diagnostics_and_symbols() {
    let mut editor = Editor::start(json!({ "check": "manual" }));
    let smv = "MODULE main\nVAR x : boolean;\nASSIGN init(x) := FALSE; next(x) := !x;\n\
               INVARSPEC x | !x;\n";
    let cases = [
        ("a.smv", smv),
        ("a.btor2", "1 sort bitvec 1\n2 state 1 s\n3 bad 2\n"),
        ("a.vmt", "(define-fun s () Int (! x :next y))\n"),
        ("a.smt2", "(set-logic HORN)\n(assert wrong)\n"),
        ("a.mcmt", "(define-state-type S ((x Int)))\n"),
    ];
    for (name, text) in cases {
        let uri = format!("file:///tmp/{name}");
        editor.open(&uri, text);
        editor.diagnostics(&uri, 1);
        let symbols = editor.request("textDocument/documentSymbol", about(&uri)).unwrap();
        assert!(symbols.is_array(), "{name}");
        if name == "a.smv" {
            assert_eq!(symbols[0]["name"], "x");
        }
    }
    editor.end();
}

#[test]
fn wrong_requests_get_errors_and_the_server_goes_on() {
    let mut editor = Editor::start(json!({ "check": "manual" }));
    let uri = "file:///tmp/w.sts";
    let hover = |editor: &mut Editor| {
        editor.request("textDocument/hover", at("file:///tmp/w.sts", COUNTER, "x + 1"))
    };
    assert_eq!(hover(&mut editor).unwrap_err()["code"], -32803);
    assert_eq!(editor.request("no/method", json!({})).unwrap_err()["code"], -32601);
    assert_eq!(editor.request("textDocument/hover", json!([1])).unwrap_err()["code"], -32602);
    assert_eq!(editor.command("no.command", json!([uri])).unwrap_err()["code"], -32803);
    let other = "file:///tmp/other.sts";
    editor.open(other, COUNTER);
    editor.diagnostics(other, 1);
    for command in ["gander.check", "gander.explain"] {
        let error = editor.command(command, json!([other, "nothing"])).unwrap_err();
        assert_eq!(error["message"], "there is no claim `nothing`");
    }
    editor.notify("textDocument/didChange", json!({ "wrong": true }));
    editor.notify("textDocument/didClose", about("file:///tmp/never_opened.sts"));
    editor.notify("no/notification", json!(null));
    editor.open(uri, COUNTER);
    // An edit outside of the text is at its end.
    let far = json!({ "line": 999, "character": 9 });
    let near = json!({ "line": 0, "character": 0 });
    editor.change(uri, 2, json!([{ "range": { "start": far, "end": near }, "text": "// end" }]));
    editor.diagnostics(uri, 2);
    let far = json!({ "textDocument": { "uri": uri }, "position": far });
    for method in ["hover", "definition", "completion", "signatureHelp", "documentHighlight"] {
        editor.request(&format!("textDocument/{method}"), far.clone()).unwrap();
    }
    assert!(hover(&mut editor).is_ok());
    editor.end();
}

#[test]
fn checks_are_cancelled_by_the_editor_and_by_edits() {
    let hard = "spec Hard\nvar x: int\nvar y: int\nvar z: int\n\
                start { x > 2, y > 2, z > 2 }\n\
                step s { x := x * y + z, y := y * z + x, z := z * x + y }\n\
                always p: x * x * x + y * y * y != z * z * z\n";
    let capabilities = json!({ "window": { "workDoneProgress": true } });
    let mut editor = Editor::start_with(capabilities, json!({ "check": "manual" }));
    let uri = "file:///tmp/h.sts";
    editor.open(uri, hard);
    editor.command("gander.check", json!([uri])).unwrap();
    let begun = editor.wait_for("$/progress", |p| p["value"]["kind"] == "begin");
    editor.notify("window/workDoneProgress/cancel", json!({ "token": begun["token"] }));
    let ended = editor.wait_for("gander/check", |p| p["state"] == "ended");
    assert_eq!(ended["ending"], "cancelled");
    editor.command("gander.check", json!([uri])).unwrap();
    editor.wait_for("gander/check", |p| p["state"] == "started");
    editor.change(uri, 2, json!([{ "text": COUNTER }]));
    let ended = editor.wait_for("gander/check", |p| p["state"] == "ended");
    assert_eq!(ended["ending"], "superseded");
    editor.end();
}

#[test]
fn idle_documents_are_checked_without_a_request() {
    let mut editor = Editor::start(json!({ "check": "idle", "idleMilliseconds": 30 }));
    let uri = "file:///tmp/i.sts";
    editor.open(uri, COUNTER);
    for version in 2..6 {
        let text = format!("{COUNTER}// {version}\n");
        editor.change(uri, version, json!([{ "text": text }]));
    }
    let ended = editor.wait_for("gander/check", |p| p["state"] == "ended" && p["version"] == 5);
    assert_eq!(ended["ending"], "finished");
    editor.end();
}

#[test]
fn a_saved_file_checks_the_open_documents_that_include_it() {
    let folder = tempfile::tempdir().unwrap();
    let main = "include \"lib.lus\"\nnode main(x: int) returns (ok: bool);\n\
                let ok = inc(x) > x; --%PROPERTY ok;\ntel\n";
    let lib = |sign: &str| format!("node inc(x: int) returns (y: int);\nlet y = x {sign} 1; tel\n");
    let path = folder.path().join("lib.lus");
    std::fs::write(&path, lib("+")).unwrap();
    let uri = |name: &str| format!("file://{}", folder.path().join(name).display());
    let (main_uri, lib_uri) = (uri("main.lus"), uri("lib.lus"));
    let mut editor = Editor::start(json!({ "check": "save" }));
    let verdict = |editor: &mut Editor| {
        let of_main = |p: &Value| p["uri"] == main_uri.as_str();
        editor.wait_for("gander/verdict", of_main)["result"]["verdict"].clone()
    };
    editor.open(&main_uri, main);
    assert_eq!(verdict(&mut editor), "holds");
    editor.open(&lib_uri, &lib("+"));
    editor.change(&lib_uri, 2, json!([{ "text": lib("-") }]));
    // What the buffer says is what the editor shows, but only saving checks.
    std::fs::write(&path, lib("-")).unwrap();
    editor.notify("textDocument/didSave", about(&lib_uri));
    assert_eq!(verdict(&mut editor), "fails");
    // Another program changes the file.
    editor.notify("textDocument/didClose", about(&lib_uri));
    std::fs::write(&path, lib("+")).unwrap();
    let change = json!({ "changes": [{ "uri": lib_uri, "type": 2 }] });
    editor.notify("workspace/didChangeWatchedFiles", change);
    assert_eq!(verdict(&mut editor), "holds");
    editor.end();
}

#[test]
fn files_are_watched_if_the_client_can() {
    let capabilities =
        json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut editor = Editor::start_with(capabilities, json!({ "check": "manual" }));
    let asked = editor.wait_for("client/registerCapability", |_| true);
    let registration = &asked["registrations"][0];
    assert_eq!(registration["method"], "workspace/didChangeWatchedFiles");
    let watchers = registration["registerOptions"]["watchers"].as_array().unwrap();
    assert!(watchers.contains(&json!({ "globPattern": "**/*.lus" })), "{watchers:?}");
    editor.end();
}

#[test]
fn requests_after_a_shutdown_are_refused_until_the_exit() {
    let mut editor = Editor::start(json!({ "check": "manual" }));
    editor.request("shutdown", Value::Null).unwrap();
    editor.notify("textDocument/didSave", about("file:///tmp/x.sts"));
    for method in ["textDocument/hover", "shutdown", "initialize"] {
        assert_eq!(editor.request(method, json!({})).unwrap_err()["code"], -32600);
    }
    editor.notify("exit", Value::Null);
    assert!(editor.joined().is_ok());
}
