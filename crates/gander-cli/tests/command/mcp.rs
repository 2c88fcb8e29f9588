//! `gander mcp`, driven over its pipes by a client: answers, schemas, and bad input.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{COUNTER, Folder};

/// Far longer than an answer needs.
const LONG: Duration = Duration::from_secs(240);

/// No engine decides it soon: the invariant is not linear.
const HARD: &str = "\
spec Hard
var x: int
var y: int
start { x == 0, y == 0 }
step s { x := x + 1, y := y + 2 * x + 1 }
always never: y != 1000000007 * 1000000009
always first: x >= 0
";

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    last: u64,
    /// Answers that came before they were asked for.
    early: BTreeMap<u64, Value>,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// A server on this folder, after the handshake.
    fn new(folder: &Folder, args: &[&str]) -> Client {
        let mut client = Client::without_handshake(folder, args);
        let info = client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(info["result"]["serverInfo"]["name"], "gander", "{info}");
        assert!(info["result"]["capabilities"]["tools"].is_object(), "{info}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    fn without_handshake(folder: &Folder, args: &[&str]) -> Client {
        let mut child = folder
            .command(&["mcp"])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line);
                let value =
                    value.unwrap_or_else(|e| json!({ "no-json": line, "why": e.to_string() }));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Client { child, input, lines, last: 0, early: BTreeMap::new() }
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request; gives its number.
    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string());
        id
    }

    /// The next message.
    fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(LONG).expect("no answer came");
        assert!(line.get("no-json").is_none(), "{line}");
        assert_eq!(line["jsonrpc"], "2.0", "{line}");
        line
    }

    /// The answer to a request.
    fn end(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.early.remove(&id) {
                return answer;
            }
            let line = self.next();
            if let Some(id) = line["id"].as_u64() {
                self.early.insert(id, line);
            }
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.end(id)
    }

    fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// What a tool answers: the structured content, after validating it.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        let answer = self.end(id);
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{answer:#}");
        let content = result["structuredContent"].clone();
        assert_eq!(result["content"][0]["text"], content["text"], "{answer:#}");
        self.validate(tool, &content);
        content
    }

    /// Why a tool has no answer.
    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.begin_call(tool, arguments);
        let answer = self.end(id);
        assert_eq!(answer["result"]["isError"], true, "{answer:#}");
        let content = &answer["result"]["structuredContent"];
        self.validate(tool, content);
        content["error"].as_str().unwrap().to_string()
    }

    /// Validates an answer against the schema that the tool has.
    #[track_caller]
    fn validate(&mut self, tool: &str, content: &Value) {
        let tools = self.request("tools/list", json!({}));
        let tools = tools["result"]["tools"].as_array().unwrap().clone();
        let info = tools.iter().find(|t| t["name"] == tool).unwrap();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource("tool.json", info["outputSchema"].clone()).unwrap();
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile("tool.json", &mut schemas).unwrap();
        if let Err(error) = schemas.validate(content, index) {
            panic!("{error:#} in {content:#}");
        }
    }
}

fn sts(model: &str) -> Value {
    json!({ "model": model, "language": "sts" })
}

fn with(mut object: Value, more: Value) -> Value {
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

/// The claim of an answer.
#[track_caller]
fn claim<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let claims = answer["claims"].as_array().unwrap();
    claims.iter().find(|c| c["claim"] == name).unwrap_or_else(|| panic!("{name} in {answer:#}"))
}

fn sha256(text: &str) -> String {
    gander_io::programs::Sha256::of(text.as_bytes()).to_string()
}

#[test]
fn the_tools_have_schemas_for_arguments_and_answers() {
    let folder = Folder::new();
    let mut client = Client::new(&folder, &[]);
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
    let expected =
        ["check", "explain", "counterexample", "simulate_step", "suggest_next_step", "certify"];
    assert_eq!(names, expected);
    for tool in tools {
        for (key, name) in [("inputSchema", "in.json"), ("outputSchema", "out.json")] {
            let mut compiler = boon::Compiler::new();
            compiler.add_resource(name, tool[key].clone()).unwrap();
            compiler.compile(name, &mut boon::Schemas::new()).unwrap();
        }
        assert_eq!(tool["annotations"]["readOnlyHint"], tool["name"] != "certify", "{tool:#}");
    }
}

#[test]
fn verdicts_are_those_of_the_command() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let mut client = Client::new(&folder, &["--folder", "."]);
    let answer = client.call("check", json!({ "path": "counter.sts" }));
    assert_eq!(answer["conclusion"], "some-claim-fails", "{answer:#}");
    assert_eq!(answer["model_sha256"], sha256(COUNTER));
    let command = folder.run(&["check", "--json", "counter.sts"]).validated("gander.schema.json");
    for result in command["results"].as_array().unwrap() {
        let name = result["claim"].as_str().unwrap();
        let ours = claim(&answer, name);
        for field in ["verdict", "kind", "length", "shortest", "rests_on"] {
            assert_eq!(ours[field], result[field], "{name}: {field}");
        }
    }
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains("Fails: `unseen`, `far`") && text.contains(&sha256(COUNTER)), "{text}");
    // What a person would see of the command is in the text.
    assert!(text.contains("small") && text.contains("holds"), "{text}");
    assert_eq!(claim(&answer, "small")["means"], "shown, by evidence that was checked");
}

/// Models of each language and folder of the corpus: the command and the server must decide them
/// alike.
#[test]
fn verdicts_about_the_corpus_are_those_of_the_command() {
    needs_z3!();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut models = Vec::new();
    for language in ["sts", "lustre", "script", "smv", "vmt", "horn", "btor2", "mcmt"] {
        for folder in ["holds", "fails", "error"] {
            let files = fs::read_dir(corpus.join(language).join(folder)).into_iter().flatten();
            let mut files: Vec<PathBuf> = files.map(|e| e.unwrap().path()).collect();
            files.sort();
            models.extend(files.into_iter().filter(|f| f.is_file()).take(2));
        }
    }
    assert!(models.len() > 20, "{models:?}");
    let folder = Folder::new();
    let mut client = Client::new(&folder, &["--timeout", "20"]);
    for model in models {
        let name = model.file_name().unwrap().to_str().unwrap();
        fs::copy(&model, folder.path.join(name)).unwrap();
        let command = folder.run(&["check", "--json", "-t", "20", name]);
        let command = command.validated("gander.schema.json");
        let answer = client.call("check", json!({ "path": name }));
        let ours: BTreeMap<&str, &str> = (answer["claims"].as_array().into_iter().flatten())
            .map(|c| (c["claim"].as_str().unwrap(), c["verdict"].as_str().unwrap()))
            .collect();
        let results = command["results"].as_array().unwrap();
        assert_eq!(ours.len(), results.len(), "{name}: {answer:#}");
        for result in results {
            let (claim, verdict) = (&result["claim"], result["verdict"].as_str().unwrap());
            let own = ours[claim.as_str().unwrap()];
            // Which claims are open at the time limit may differ.
            let open = own == "unknown" || verdict == "unknown";
            assert!(open || own == verdict, "{name}: {claim}: {own} and {verdict}");
        }
        if answer["conclusion"] == "all-claims-hold" {
            let is_refuted = |r: &Value| r["verdict"] == "fails" || r["verdict"] == "vacuous";
            assert!(!results.is_empty() && !results.iter().any(is_refuted), "{name}");
        }
    }
}

#[test]
fn an_agent_is_told_what_its_edit_removed_weakened_or_assumed() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let mut client = Client::new(&folder, &[]);
    let edit = |from: &str, to: &str| {
        let text = COUNTER.replace(from, to);
        assert_ne!(text, COUNTER);
        json!({ "path": "counter.sts", "model": text })
    };
    // The file is the text before the first edit.
    let removed = client.call("check", edit("always    unseen:  not seen\n", ""));
    let changes = &removed["changes"]["since_first"];
    assert_eq!(changes["from_model_sha256"], sha256(COUNTER), "{removed:#}");
    assert_eq!(changes["claims_removed"][0]["claim"], "unseen");
    assert_eq!(changes["may_be_weaker"], true);
    assert!(removed["text"].as_str().unwrap().contains("WARNING: Compared with"), "{removed:#}");
    // Checking the same text again does not make the removal undone.
    let again = client.call("check", edit("always    unseen:  not seen\n", ""));
    assert_eq!(again["changes"]["since_previous"], Value::Null);
    assert_eq!(again["changes"]["since_first"]["claims_removed"][0]["claim"], "unseen");
    assert!(!again["warnings"].as_array().unwrap().is_empty(), "{again:#}");
    let weaker = client.call("check", edit("unseen:  not seen", "unseen: not seen or x <= 3"));
    assert_eq!(weaker["changes"]["since_first"]["claims_changed"][0]["claim"], "unseen");
    let assumed = client.call("check", edit("start ->", "assume not seen\nstart ->"));
    assert_eq!(assumed["changes"]["since_first"]["counts"]["assumptions_added"], 1, "{assumed:#}");
    assert_eq!(assumed["assumptions"], json!(["assume not seen"]));
    let text = assumed["text"].as_str().unwrap();
    assert!(text.contains("Assumed, not shown:\n  assume not seen"), "{text}");
    // The file was not written.
    assert_eq!(folder.read("counter.sts"), COUNTER);
    // An edit of the model alone is no warning, but is listed.
    let guard = client.call("check", edit("x < 3", "x < 2"));
    assert_eq!(guard["warnings"], json!([]), "{guard:#}");
    assert!(guard["changes"]["since_first"]["counts"]["model_added"].as_u64().unwrap() > 0);
}

#[test]
fn an_agent_is_told_what_changed_in_an_included_file() {
    needs_z3!();
    let main = "include \"lib.lus\"\nnode main(x: int) returns (ok: bool);\n\
                let ok = lib(x) > x; --%PROPERTY ok;\ntel\n";
    let lib =
        |rest: &str| format!("node lib(x: int) returns (y: int);\nlet y = x + 1; {rest}\ntel\n");
    let folder = Folder::with("main.lus", main);
    folder.write("lib.lus", lib("--%PROPERTY y <> x;"));
    let mut client = Client::new(&folder, &[]);
    let call = || json!({ "path": "main.lus" });
    let first = client.call("check", call());
    assert_eq!(first["conclusion"], "all-claims-hold", "{first:#}");
    folder.write("lib.lus", lib(""));
    let removed = client.call("check", call());
    let changes = &removed["changes"]["since_previous"];
    assert_eq!(changes["counts"]["claims_removed"], 1, "{removed:#}");
    assert_eq!(changes["from_sources_sha256"], first["sources_sha256"]);
    assert_eq!(removed["model_sha256"], first["model_sha256"]);
    assert!(removed["text"].as_str().unwrap().contains("1 claim was removed"), "{removed:#}");
    folder.write("lib.lus", lib("assert x > 10;"));
    let assumed = client.call("check", call());
    let added = &assumed["changes"]["since_previous"]["counts"]["assumptions_added"];
    assert!(added.as_u64().unwrap() > 0, "{assumed:#}");
    assert!(!assumed["warnings"].as_array().unwrap().is_empty(), "{assumed:#}");
    // The same text with the same files is no change.
    let again = client.call("check", call());
    assert_eq!(again["changes"]["since_previous"], Value::Null);
    // Another assertion, when the readings differ already.
    folder.write("lib.lus", lib("assert x > 10; assert x < 20;"));
    let more = client.call("check", call());
    let added = &more["changes"]["since_previous"]["counts"]["assumptions_added"];
    assert!(added.as_u64().unwrap() > 0, "{more:#}");
}

#[test]
fn unknown_and_vacuous_are_never_called_proofs() {
    needs_z3!();
    let folder = Folder::new();
    let mut client = Client::new(&folder, &["--timeout", "2"]);
    let answer = client.call("check", sts(HARD));
    assert_eq!(answer["conclusion"], "undecided", "{answer:#}");
    let never = claim(&answer, "never");
    assert_eq!((&never["verdict"], &never["evidence_handle"]), (&json!("unknown"), &Value::Null));
    assert!(never["means"].as_str().unwrap().starts_with("not decided"), "{never:#}");
    assert!(answer["summary"].as_str().unwrap().contains("neither a proof nor a counterexample"));
    let none = client.call("counterexample", with(sts(HARD), json!({ "claim": "never" })));
    assert_eq!((&none["role"], &none["run"]), (&json!("unknown"), &Value::Null), "{none:#}");
    let suggested = client.call("suggest_next_step", with(sts(HARD), json!({ "claim": "never" })));
    let suggestions = suggested["suggestions"].as_array().unwrap();
    assert!(suggestions.iter().any(|s| s["kind"] == "time"), "{suggested:#}");
    for suggestion in suggestions {
        let restricts = suggestion["kind"] == "restrict";
        assert_eq!(suggestion["changes_claim"], restricts, "{suggestion:#}");
    }
    assert!(suggested["induction_counterexample"].is_object(), "{suggested:#}");
    let vacuous = "spec V\nvar x: int\nstart { x == 0, x == 1 }\nstep s\nalways p: x == 5\n";
    let answer = client.call("check", sts(vacuous));
    assert_ne!(answer["conclusion"], "all-claims-hold", "{answer:#}");
    assert_eq!(claim(&answer, "p")["verdict"], "vacuous");
    let nothing = client.call("check", sts("spec N\nvar x: int\nstart { x == 0 }\nstep s\n"));
    assert_eq!(nothing["conclusion"], "nothing-claimed", "{nothing:#}");
}

#[test]
fn evidence_is_saved_and_certified_by_its_handle() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let mut client = Client::new(&folder, &[]);
    let file = json!({ "path": "counter.sts" });
    let answer = client.call("check", file.clone());
    let handle = claim(&answer, "small")["evidence_handle"].as_str().unwrap().to_string();
    let save = json!({ "evidence_handle": handle, "save_as": "small.evidence.json" });
    let saved = client.call("certify", with(file.clone(), save.clone()));
    assert_eq!(saved["result"], "accepted", "{saved:#}");
    assert_eq!(handle, format!("sha256:{}", sha256(&folder.read("small.evidence.json"))));
    // The command accepts the file, too.
    let certified = folder.run(&["certify", "counter.sts", "small.evidence.json"]);
    assert_eq!(certified.code, 0, "{certified:?}");
    // A file is never overwritten, and nothing is written elsewhere.
    assert!(client.refused("certify", with(file.clone(), save)).contains("exists already"));
    for path in ["../x.evidence.json", "counter.sts", "/tmp/x.evidence.json"] {
        let arguments = json!({ "evidence_handle": handle, "save_as": path });
        client.refused("certify", with(file.clone(), arguments));
    }
    // Evidence for one text is checked against the text of the call.
    let wrong = COUNTER.replace("x < 3", "x < 4");
    let other = json!({ "evidence_handle": handle });
    let other = client.call("certify", with(sts(&wrong), other));
    assert_eq!(
        (&other["result"], &other["made_for_this_text"]),
        (&json!("rejected"), &json!(false))
    );
    // Forged evidence is rejected.
    let mut forged: Value = serde_json::from_str(&folder.read("small.evidence.json")).unwrap();
    forged["claim"] = json!("unseen");
    let forged = client.call("certify", with(file.clone(), json!({ "evidence": forged })));
    assert_eq!(forged["result"], "rejected", "{forged:#}");
    client.refused("certify", with(file, json!({ "evidence_handle": "sha256:0" })));
}

#[test]
fn runs_and_explanations_are_shown() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let mut client = Client::new(&folder, &[]);
    let of = |name: &str| json!({ "path": "counter.sts", "claim": name });
    let run = client.call("counterexample", of("unseen"));
    assert_eq!(run["role"], "counterexample", "{run:#}");
    assert_eq!(run["run"]["evidence"]["kind"], "run");
    let steps = run["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 5);
    assert_eq!((&steps[4]["action"], &steps[4]["line"]), (&json!("rise"), &json!(7)), "{run:#}");
    assert_eq!(client.call("counterexample", of("high"))["role"], "witness");
    assert_eq!(client.call("counterexample", of("small"))["role"], "none");
    let explained = client.call("explain", of("small"));
    let core = &explained["explanation"]["results"][0]["cores"][0];
    assert!(core.as_array().is_some_and(|c| !c.is_empty()), "{explained:#}");
    assert!(client.refused("explain", of("smell")).contains("there is no claim `smell`"));
    assert!(client.refused("counterexample", of("smell")).contains("small"));
}

#[test]
fn a_simulation_grows_step_by_step() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let mut client = Client::new(&folder, &[]);
    let begun = client.call("simulate_step", json!({ "path": "counter.sts", "action": "begin" }));
    assert_eq!(begun["values"], json!({ "x": "0", "seen": "false" }), "{begun:#}");
    let of = |action: &str| json!({ "simulation": begun["simulation"], "action": action });
    let rise = with(of("take"), json!({ "transition": "rise" }));
    assert!(client.refused("simulate_step", rise.clone()).contains("not enabled"));
    for _ in 0..3 {
        client.call("simulate_step", with(of("take"), json!({ "transition": "up" })));
    }
    let high = client.call("simulate_step", rise);
    assert_eq!((&high["node"], &high["step"]), (&json!("High"), &json!(4)), "{high:#}");
    assert_eq!(high["violated"], json!(["unseen"]));
    let back = client.call("simulate_step", with(of("back"), json!({ "steps": 2 })));
    assert_eq!(back["values"]["x"], "2", "{back:#}");
    assert_eq!(client.call("simulate_step", of("random"))["step"], 3);
    // From the run of a counterexample.
    let answer = client.call("check", json!({ "path": "counter.sts" }));
    let handle = &claim(&answer, "unseen")["evidence_handle"];
    let replay = json!({ "path": "counter.sts", "action": "begin", "evidence_handle": handle });
    assert_eq!(client.call("simulate_step", replay)["node"], "High");
    let parameters =
        "spec P\nvar x: real\nstart { x == 0 }\nstep add(n: real) when n > 0 { x := x + n }\n";
    let begun = client.call("simulate_step", with(sts(parameters), json!({ "action": "begin" })));
    let take = json!({ "simulation": begun["simulation"], "action": "take", "transition": "add",
                       "params": { "n": "1/3" } });
    assert_eq!(client.call("simulate_step", take)["values"]["x"], "1/3");
    client.refused("simulate_step", json!({ "simulation": 999, "action": "random" }));
    client.refused("simulate_step", json!({ "action": "jump" }));
}

#[test]
fn files_outside_of_the_folder_are_not_read() {
    let folder = Folder::with("secret.sts", "spec Secret");
    fs::create_dir(folder.path.join("models")).unwrap();
    symlink(folder.path.join("secret.sts"), folder.path.join("models/link.sts")).unwrap();
    let mut client = Client::new(&folder, &["--folder", "models"]);
    let absolute = folder.path.join("secret.sts");
    for path in ["../secret.sts", absolute.to_str().unwrap(), "link.sts", "none.sts", "/dev/zero"] {
        let why = client.refused("check", json!({ "path": path }));
        assert!(!why.contains("Secret"), "{why}");
    }
    let include = "include \"../secret.lus\"\nnode n() returns (x: bool);\nlet x = true; tel\n";
    folder.write("secret.lus", "node s() returns (y: bool);\nlet y = true; tel\n");
    let answer = client.call("check", json!({ "model": include, "language": "lustre" }));
    assert_eq!(answer["conclusion"], "rejected", "{answer:#}");
}

#[test]
fn bad_input_costs_nothing_but_an_answer() {
    let folder = Folder::new();
    let mut client = Client::new(&folder, &[]);
    client.send("{ this is no json");
    assert_eq!(client.next()["error"]["code"], -32700);
    let half = r#"{"jsonrpc":"2.0","id":899,"method":"tools/call","params":{"name":"check","#;
    let half = half.to_string() + r#""arguments":{"model":"spec S \ud83e","language":"sts"}}}"#;
    client.send(&half);
    assert_eq!(client.end(899)["result"]["structuredContent"]["conclusion"], "rejected");
    client.send("[1, 2]");
    assert_eq!(client.next()["error"]["code"], -32600);
    client.send(r#"{"jsonrpc":"2.0","id":900,"method":"tools/call","params":7}"#);
    assert!(client.end(900)["error"].is_object());
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/unheard-of","params":{}}"#);
    client.send(&"[".repeat(200_000));
    assert_eq!(client.next()["error"]["code"], -32700);
    let unheard = client.request("tools/unheard-of", json!({}));
    assert!(unheard["error"].is_object(), "{unheard}");
    let unknown = client.request("tools/call", json!({ "name": "prove", "arguments": {} }));
    assert!(
        unknown["error"]["message"].as_str().unwrap().contains("there is no tool"),
        "{unknown}"
    );
    // A message of more than 8 MiB is refused as a whole, a model of more than 4 MiB by its call.
    let huge = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":901,\"method\":\"x\",\"params\":\"{}\"}}",
        "x".repeat(9 << 20)
    );
    client.send(&huge);
    assert_eq!(client.next()["error"]["code"], -32600);
    let large = format!("spec S // {}", "x".repeat(5 << 20));
    assert!(client.refused("check", sts(&large)).contains("at most"));
    for (arguments, expected) in [
        (json!({}), "give `model`"),
        (json!({ "model": "spec S" }), "give `language`"),
        (json!({ "model": "spec S", "language": "cobol" }), "there is no language"),
        (json!({ "model": 5, "language": "sts" }), "must be a string"),
        (json!({ "model": "spec S", "langauge": "sts" }), "there is no argument `langauge`"),
        (with(sts("spec S"), json!({ "timeout_seconds": -1 })), "number of seconds"),
        (with(sts("spec S"), json!({ "timeout_seconds": 1e9 })), "number of seconds"),
        (with(sts("spec S"), json!({ "claims": ["p"] })), "there is no argument `claims`"),
    ] {
        let why = client.refused("check", arguments);
        assert!(why.contains(expected), "{why}");
    }
    let wrong = client.call("check", sts("spec S\nvar x: int\nstart { y == 0 }\nalways p: x"));
    assert_eq!(wrong["conclusion"], "rejected", "{wrong:#}");
    assert!(wrong["diagnostics"].as_array().unwrap().iter().any(|d| d["code"] == "E0202"));
    // Names of the model cannot put escape sequences into the text.
    let hostile = "spec S\nvar x: int\nstart { x == 0 }\nalways p: x == \"\u{1b}[31m\"";
    let hostile = client.call("check", sts(hostile));
    assert!(!hostile["text"].as_str().unwrap().contains('\u{1b}'), "{hostile:#}");
}

#[test]
fn a_cancelled_call_makes_room_for_the_next_one() {
    needs_z3!();
    let folder = Folder::new();
    let mut client = Client::new(&folder, &["--timeout", "300"]);
    let begun = Instant::now();
    let first = client.begin_call("check", sts(HARD));
    std::thread::sleep(Duration::from_millis(1500));
    // Another call waits for its turn, and can be cancelled while it waits.
    let waiting = client.begin_call("check", with(sts(HARD), json!({ "document": "other" })));
    client.notify("notifications/cancelled", json!({ "requestId": waiting }));
    client.notify("notifications/cancelled", json!({ "requestId": first, "reason": "test" }));
    let next = client.call("check", with(sts(COUNTER), json!({ "document": "next" })));
    assert_eq!(next["conclusion"], "some-claim-fails", "{next:#}");
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    assert!(!client.early.contains_key(&first) && !client.early.contains_key(&waiting));
    // A cancelled check leaves no result behind that would be taken for one.
    let again = client.call("check", with(sts(HARD), json!({ "timeout_seconds": 2 })));
    assert_eq!(again["conclusion"], "undecided", "{again:#}");
}

#[test]
fn a_cancelled_check_stops_looking_for_counterexamples_to_induction() {
    needs_z3!();
    let hard = "spec Hard\nvar x: int\nvar y: int\nvar z: int\nstart { x > 2, y > 2, z > 2 }\n\
                step s { x := x * y + z, y := y * z + x, z := z * x + y }\n\
                always p: x * x * x + y * y * y != z * z * z\n";
    let folder = Folder::new();
    let mut client = Client::new(&folder, &["--timeout", "300"]);
    let easy = |document: &str| with(sts(COUNTER), json!({ "document": document }));
    let begun = Instant::now();
    client.call("check", easy("alone"));
    let alone = begun.elapsed();
    let first = client.begin_call("check", sts(hard));
    std::thread::sleep(Duration::from_millis(1500));
    client.notify("notifications/cancelled", json!({ "requestId": first }));
    let begun = Instant::now();
    client.call("check", easy("next"));
    // That search takes five seconds if nothing stops it.
    let waited = begun.elapsed();
    // The machine may have become slower in the meantime.
    let begun = Instant::now();
    client.call("check", easy("last"));
    let alone = alone.max(begun.elapsed());
    assert!(waited < alone * 2 + Duration::from_secs(3), "{waited:?} after {alone:?}");
}

#[test]
fn the_server_ends_with_its_input() {
    let folder = Folder::new();
    for hard in [false, true] {
        let mut client = Client::new(&folder, &["--timeout", "300"]);
        if hard {
            client.begin_call("check", sts(HARD));
            std::thread::sleep(Duration::from_millis(500));
        }
        drop(client.input.take());
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = client.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "the server did not end");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.code(), Some(0));
    }
    let mut silent = Client::without_handshake(&folder, &[]);
    drop(silent.input.take());
    assert_eq!(silent.child.wait().unwrap().code(), Some(0));
}

#[test]
fn wrong_settings_are_refused_at_the_start() {
    let folder = Folder::with("file", "");
    for args in [
        &["mcp", "--folder", "none"][..],
        &["mcp", "--folder", "file"],
        &["mcp", "--timeout", "50", "--longest-timeout", "20"],
        &["mcp", "--timeout", "soon"],
    ] {
        let ran = folder.run(args);
        assert!(ran.code == 2 && ran.out.is_empty() && !ran.err.is_empty(), "{args:?}: {ran:?}");
    }
    assert!(
        Command::new(env!("CARGO_BIN_EXE_gander"))
            .args(["mcp", "--help"])
            .output()
            .unwrap()
            .status
            .success()
    );
}
