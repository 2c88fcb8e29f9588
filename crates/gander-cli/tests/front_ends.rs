//! The command, the language server, the page and the server for agents say the same about the
//! models of the corpus. Each is the program, in a process of its own, as people run it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use gander_oracle::Tier;
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// The time limit of a check in seconds; claims that are open then are not compared.
const LIMIT: f64 = 2.0;
/// Far longer than an answer needs.
const WAIT: Duration = Duration::from_secs(120);
/// Bytes of the largest model.
const LARGEST: u64 = 12_000;

/// By claim: the result (docs/json.md); none if the text was rejected.
type Results = Option<BTreeMap<String, Value>>;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").canonicalize().unwrap()
}

/// A sample in the order of the paths; the whole corpus in the full tier.
fn models() -> Vec<PathBuf> {
    let mut folders = vec![corpus()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().and_then(gander::lang::language_of).is_some()
                && fs::metadata(&path).unwrap().len() <= LARGEST
                && fs::read_to_string(&path).is_ok()
            {
                files.push(path);
            }
        }
    }
    files.sort();
    let wanted = usize::try_from(Tier::amount(30, u64::MAX)).unwrap_or(usize::MAX);
    let step = files.len().div_ceil(wanted.min(files.len()));
    files.into_iter().step_by(step).collect()
}

fn by_claim<'v>(results: impl Iterator<Item = &'v Value>) -> BTreeMap<String, Value> {
    results.map(|r| (r["claim"].as_str().unwrap().to_string(), r.clone())).collect()
}

fn of_command(path: &Path) -> Results {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gander"));
    command.args(["check", "--json", "--timeout", &LIMIT.to_string()]).arg(path);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = by_claim(report["results"].as_array().unwrap().iter());
    // Without a claim there is nothing to decide, but the text is a model.
    (output.status.code() != Some(2) || !results.is_empty()).then_some(results)
}

/// A server in a process, which is killed at the end.
struct Process(Child);

impl Process {
    fn start(args: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gander"));
        command.args(args).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Process(command.spawn().unwrap())
    }

    fn pipes(&mut self) -> (ChildStdin, BufReader<ChildStdout>) {
        (self.0.stdin.take().unwrap(), BufReader::new(self.0.stdout.take().unwrap()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How messages of the language server are carried.
enum Carrier {
    Pipes(ChildStdin, BufReader<ChildStdout>),
    Socket(Box<WebSocket<TcpStream>>),
}

impl Carrier {
    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        match self {
            Carrier::Pipes(input, _) => {
                write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
                input.flush().unwrap();
            }
            Carrier::Socket(socket) => socket.send(Message::text(text)).unwrap(),
        }
    }

    fn receive(&mut self) -> Value {
        match self {
            Carrier::Pipes(_, output) => {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    assert!(output.read_line(&mut line).unwrap() > 0, "the server has ended");
                    match line.trim().split_once(": ") {
                        Some(("Content-Length", number)) => length = number.parse().unwrap(),
                        Some(_) => {}
                        None => break,
                    }
                }
                let mut content = vec![0; length];
                output.read_exact(&mut content).unwrap();
                serde_json::from_slice(&content).unwrap()
            }
            Carrier::Socket(socket) => loop {
                if let Message::Text(text) = socket.read().unwrap() {
                    return serde_json::from_str(&text).unwrap();
                }
            },
        }
    }
}

/// An editor, or a page.
struct Editor {
    carrier: Carrier,
    requests: u64,
    _process: Process,
}

impl Editor {
    fn over_pipes() -> Editor {
        let mut process = Process::start(&["lsp"]);
        let (input, output) = process.pipes();
        Editor::begin(Carrier::Pipes(input, output), process)
    }

    fn over_a_socket() -> Editor {
        let mut process = Process::start(&["serve", "--no-open", "--port", "0"]);
        let (_, mut output) = process.pipes();
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        let (host, token) =
            address.trim().strip_prefix("http://").unwrap().split_once("/?").unwrap();
        let mut request = format!("ws://{host}/socket?{token}").into_client_request().unwrap();
        request.headers_mut().insert("Origin", format!("http://{host}").parse().unwrap());
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(WAIT)).unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        Editor::begin(Carrier::Socket(Box::new(socket)), process)
    }

    fn begin(carrier: Carrier, process: Process) -> Editor {
        let mut editor = Editor { carrier, requests: 0, _process: process };
        let settings = json!({ "check": "manual", "timeLimitSeconds": LIMIT });
        let params = json!({ "capabilities": {}, "initializationOptions": settings });
        let id = editor.request("initialize", params);
        while editor.carrier.receive()["id"] != id {}
        editor.notify("initialized", json!({}));
        editor
    }

    fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.carrier.send(&message);
    }

    fn request(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.carrier.send(&message);
        id
    }

    fn results(&mut self, path: &Path, text: &str) -> Results {
        let uri = format!("file://{}", path.display());
        let document = json!({ "uri": uri, "languageId": "", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let params = json!({ "command": "gander.check", "arguments": [uri, null] });
        self.request("workspace/executeCommand", params);
        let mut results = Vec::new();
        let is_model = loop {
            let message = self.carrier.receive();
            let params = &message["params"];
            if message["method"] == "gander/verdict" && params["uri"] == uri.as_str() {
                results.push(params["result"].clone());
            } else if message["method"] == "gander/check" && params["state"] == "ended" {
                break params["ending"] != "rejected";
            }
        };
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        is_model.then(|| by_claim(results.iter()))
    }
}

/// A client of the server for agents.
struct Agent {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    _process: Process,
}

impl Agent {
    fn start() -> Agent {
        let folder = corpus();
        let limit = LIMIT.to_string();
        let args = ["mcp", "--folder", folder.to_str().unwrap(), "--timeout", &limit];
        let mut process = Process::start(&args);
        let (input, output) = process.pipes();
        let mut agent = Agent { input, output, last: 0, _process: process };
        let info = json!({ "name": "test", "version": "1" });
        let version = "2025-06-18";
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
        agent.request("initialize", params);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        writeln!(agent.input, "{ready}").unwrap();
        agent
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            let mut answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer["result"].take();
            }
        }
    }

    fn results(&mut self, path: &Path) -> Results {
        let path = path.strip_prefix(corpus()).unwrap();
        let arguments = json!({ "path": path });
        let answer = self.request("tools/call", json!({ "name": "check", "arguments": arguments }));
        let content = &answer["structuredContent"];
        assert_eq!(answer["isError"], false, "{answer:#}");
        let results = by_claim(content["claims"].as_array()?.iter());
        (content["conclusion"] != "rejected").then_some(results)
    }
}

/// The fields of a result that docs/json.md describes for all front ends. Evidence is sent when it
/// is asked for; agents get a handle of it, and more words.
fn fields(result: &Value) -> BTreeSet<&str> {
    const OWN: [&str; 5] = ["evidence", "text", "origin", "means", "evidence_handle"];
    let names = result.as_object().unwrap().keys().map(String::as_str);
    names.filter(|name| !OWN.contains(name)).collect()
}

#[test]
fn all_front_ends_agree_on_the_corpus() {
    let (mut editor, mut page) = (Editor::over_pipes(), Editor::over_a_socket());
    let mut agent = Agent::start();
    let (mut models_compared, mut claims_compared) = (0, 0);
    let models = models();
    for path in &models {
        let text = fs::read_to_string(path).unwrap();
        let first = of_command(path);
        let others = [
            ("language server", editor.results(path, &text)),
            ("page", page.results(path, &text)),
            ("agents", agent.results(path)),
        ];
        for (name, other) in others {
            let place = format!("{}: {name}", path.display());
            let (Some(first), Some(other)) = (&first, &other) else {
                assert_eq!(first.is_some(), other.is_some(), "{place}");
                continue;
            };
            models_compared += 1;
            assert!(other.keys().eq(first.keys()), "{place}: {first:#?} {other:#?}");
            for (claim, result) in other {
                let expected = &first[claim];
                assert_eq!(result["kind"], expected["kind"], "{place}: {claim}");
                // Which claims are open at the time limit may differ.
                let is_open = |r: &Value| r["verdict"] == "unknown";
                if !is_open(result) && !is_open(expected) {
                    assert_eq!(fields(result), fields(expected), "{place}: {claim}");
                    assert_eq!(result["verdict"], expected["verdict"], "{place}: {claim}");
                    claims_compared += 1;
                }
            }
        }
    }
    assert!(models_compared >= models.len() && claims_compared >= models.len(), "too few models");
}
