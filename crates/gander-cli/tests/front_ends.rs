//! The library, the service, the language server and the server for agents say the same about the
//! models of the corpus. (The page is the language server over a socket.)

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use gander::CheckOptions;
use gander_lsp::ServerOptions;
use gander_mcp::{McpConfig, McpLimits};
use gander_oracle::Tier;
use gander_service::{CheckRequest, Freshness, Service, ServiceConfig, Uri};
use lsp_server::{Connection, Message, Notification, Request};
use serde_json::{Value, json};

/// The time limit of a check; claims that are open then are not compared.
const LIMIT: Duration = Duration::from_secs(2);
/// Far longer than an answer needs.
const WAIT: Duration = Duration::from_secs(120);
/// Bytes of the largest model.
const LARGEST: u64 = 12_000;

/// By claim: the verdict; none if the text was rejected.
type Verdicts = Option<BTreeMap<String, String>>;

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

fn options() -> CheckOptions {
    CheckOptions { timeout: Some(LIMIT), ..CheckOptions::default() }
}

fn of_library(path: &Path, text: &str) -> Verdicts {
    let view = gander::check_source(text, path.to_str().unwrap(), &options());
    let verdicts = view.claims.iter().map(|c| (c.name.clone(), c.verdict.word().to_string()));
    let verdicts: BTreeMap<String, String> = verdicts.collect();
    (view.exit_code() != 2 || view.nothing_claimed).then_some(verdicts)
}

fn of_service(service: &Service, path: &Path, text: &str) -> Verdicts {
    let uri = Uri::new(path.to_str().unwrap());
    service.open(uri.clone(), path.to_str().unwrap(), 1, text.to_string()).unwrap();
    let check = service.check(&uri, CheckRequest::default()).unwrap();
    assert!(service.wait_until_ended(check, WAIT), "{uri}");
    let is_model = service.analysis(&uri).unwrap().is_checkable();
    let all = service.verdicts(&uri).into_iter();
    let current = all.filter(|(_, freshness)| *freshness == Freshness::Current);
    let verdicts = current
        .map(|(record, _)| (record.view.name.clone(), record.view.verdict.word().to_string()));
    let verdicts = verdicts.collect();
    service.close(&uri).unwrap();
    is_model.then_some(verdicts)
}

/// An editor over a connection in memory.
struct Editor {
    connection: Connection,
    requests: i32,
}

impl Editor {
    fn start() -> Editor {
        let (server, connection) = Connection::memory();
        thread::spawn(move || gander_lsp::run(server, ServerOptions::default()));
        let mut editor = Editor { connection, requests: 0 };
        let settings = json!({ "check": "manual", "timeLimitSeconds": LIMIT.as_secs_f64() });
        let params = json!({ "capabilities": {}, "initializationOptions": settings });
        editor.request("initialize", params);
        editor.notify("initialized", json!({}));
        editor
    }

    fn notify(&self, method: &str, params: Value) {
        let notification = Notification { method: method.to_string(), params };
        self.connection.sender.send(notification.into()).unwrap();
    }

    fn next(&self) -> Message {
        self.connection.receiver.recv_timeout(WAIT).expect("a message in time")
    }

    fn begin(&mut self, method: &str, params: Value) {
        self.requests += 1;
        let id = self.requests.into();
        let request = Request { id, method: method.to_string(), params };
        self.connection.sender.send(request.into()).unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.begin(method, params);
        loop {
            if let Message::Response(response) = self.next() {
                return response.response_result.unwrap();
            }
        }
    }

    fn verdicts(&mut self, path: &Path, text: &str) -> Verdicts {
        let uri = format!("file://{}", path.display());
        let document = json!({ "uri": uri, "languageId": "", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let params = json!({ "command": "gander.check", "arguments": [uri, null] });
        self.begin("workspace/executeCommand", params);
        let mut verdicts = BTreeMap::new();
        let is_model = loop {
            let Message::Notification(n) = self.next() else { continue };
            let word = |value: &Value| value.as_str().unwrap().to_string();
            if n.method == "gander/verdict" {
                let result = &n.params["result"];
                verdicts.insert(word(&result["claim"]), word(&result["verdict"]));
            } else if n.method == "gander/check" && n.params["state"] == "ended" {
                break n.params["ending"] != "rejected";
            }
        };
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        is_model.then_some(verdicts)
    }
}

/// A client of the server for agents.
struct Agent {
    input: PipeWriter,
    output: BufReader<PipeReader>,
    last: u64,
}

impl Agent {
    fn start() -> Agent {
        let config = McpConfig {
            folder: corpus(),
            check: CheckOptions::default(),
            timeout: LIMIT,
            longest_timeout: WAIT,
            limits: McpLimits::default(),
        };
        let ((theirs, input), (output, answers)) = (pipe().unwrap(), pipe().unwrap());
        thread::spawn(move || gander_mcp::serve(config, theirs, answers));
        let mut agent = Agent { input, output: BufReader::new(output), last: 0 };
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

    fn verdicts(&mut self, path: &Path) -> Verdicts {
        let path = path.strip_prefix(corpus()).unwrap();
        let arguments = json!({ "path": path });
        let answer = self.request("tools/call", json!({ "name": "check", "arguments": arguments }));
        let content = &answer["structuredContent"];
        assert_eq!(answer["isError"], false, "{answer:#}");
        let claims = content["claims"].as_array()?;
        let word = |value: &Value| value.as_str().unwrap().to_string();
        let verdicts = claims.iter().map(|c| (word(&c["claim"]), word(&c["verdict"]))).collect();
        (content["conclusion"] != "rejected").then_some(verdicts)
    }
}

#[test]
fn all_front_ends_agree_on_the_corpus() {
    let service = Service::start(ServiceConfig { check: options(), ..ServiceConfig::default() });
    let (mut editor, mut agent) = (Editor::start(), Agent::start());
    let (mut models_compared, mut claims_compared) = (0, 0);
    let models = models();
    for path in &models {
        let text = fs::read_to_string(path).unwrap();
        let answers = [
            ("library", of_library(path, &text)),
            ("service", of_service(&service, path, &text)),
            ("lsp", editor.verdicts(path, &text)),
            ("mcp", agent.verdicts(path)),
        ];
        let (_, first) = &answers[0];
        for (name, other) in &answers[1..] {
            let (Some(first), Some(other)) = (first, other) else {
                assert_eq!(first.is_some(), other.is_some(), "{}: {name}", path.display());
                continue;
            };
            models_compared += 1;
            assert!(other.keys().eq(first.keys()), "{}: {name}: {answers:#?}", path.display());
            for (claim, verdict) in other {
                // Which claims are open at the time limit may differ.
                let other = &first[claim];
                let is_open = verdict == "unknown" || other == "unknown";
                assert!(is_open || verdict == other, "{}: {name}: {claim}", path.display());
                claims_compared += usize::from(!is_open);
            }
        }
    }
    assert!(models_compared >= models.len() && claims_compared >= models.len(), "too few models");
}
