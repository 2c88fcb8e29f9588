//! `gander lsp` as a process: messages that are not well-formed, exit codes, what it leaves behind.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    temporary: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start() -> Server {
        let temporary = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_gander"))
            .arg("lsp")
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut server = Server { child, input, output: BufReader::new(output), temporary };
        let params = json!({
            "capabilities": {}, "initializationOptions": { "check": "manual" },
        });
        let info = server.request(0, "initialize", params);
        assert_eq!(info["result"]["serverInfo"]["name"], "gander");
        server.notify("initialized", json!({}));
        server
    }

    fn send_bytes(&mut self, content: &[u8]) {
        let header = format!("Content-Length: {}\r\n\r\n", content.len());
        self.input.write_all(&[header.as_bytes(), content].concat()).unwrap();
        self.input.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_bytes(message.to_string().as_bytes());
    }

    /// Sends a request; gives the next response.
    fn request(&mut self, id: u32, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_bytes(message.to_string().as_bytes());
        self.response()
    }

    fn response(&mut self) -> Value {
        loop {
            let mut length = None;
            loop {
                let mut line = String::new();
                assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
                match line.trim().strip_prefix("Content-Length: ") {
                    Some(value) => length = Some(value.parse().unwrap()),
                    None if line.trim().is_empty() => break,
                    None => {}
                }
            }
            let mut content = vec![0; length.unwrap()];
            self.output.read_exact(&mut content).unwrap();
            let message: Value = serde_json::from_slice(&content).unwrap();
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    fn code(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "the server did not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn folders(&self) -> usize {
        let entries = fs::read_dir(self.temporary.path()).unwrap();
        entries
            .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().contains("gander-lsp"))
            .count()
    }
}

#[test]
fn malformed_messages_are_answered_and_the_server_goes_on() {
    let mut server = Server::start();
    let uri = "file:///tmp/a.sts";
    let document = json!({ "uri": uri, "languageId": "sts", "version": 1, "text": "spec S\n" });
    server.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let change = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didChange\",\"params\":{{\
         \"textDocument\":{{\"uri\":\"{uri}\",\"version\":2}},\
         \"contentChanges\":[{{\"text\":\"spec Sp // \\ud83e\\n\"}}]}}}}"
    );
    server.send_bytes(change.as_bytes());
    for (content, code) in
        [(&b"{\"a\":"[..], -32700), (b"\"\xff", -32700), (b"[]", -32600), (b"7", -32600)]
    {
        server.send_bytes(content);
        let answer = server.response();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null));
    }
    let about = json!({ "textDocument": { "uri": uri } });
    let symbols = server.request(1, "textDocument/documentSymbol", about);
    assert_eq!(symbols["result"][0]["name"], "Sp", "{symbols}");
    assert_eq!(server.request(2, "shutdown", Value::Null)["result"], Value::Null);
    let refused = server.request(3, "textDocument/hover", json!({}));
    assert_eq!(refused["error"]["code"], -32600);
    server.notify("exit", Value::Null);
    assert_eq!(server.code(), Some(0));
    assert_eq!(server.folders(), 0);
}

#[test]
fn a_length_that_makes_no_sense_ends_the_server_with_a_message() {
    for length in ["-5", "99999999999999999"] {
        let mut server = Server::start();
        let header = format!("Content-Length: {length}\r\n\r\n{{}}");
        server.input.write_all(header.as_bytes()).unwrap();
        let answer = server.response();
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
        assert_eq!(server.code(), Some(2));
        let mut errors = String::new();
        server.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(errors.contains(&format!("Content-Length is `{length}`")), "{errors}");
    }
}

#[test]
fn a_killed_server_leaves_no_folder() {
    let mut server = Server::start();
    // When it answers this, it has set up everything.
    assert!(server.request(1, "textDocument/hover", json!({}))["error"].is_object());
    assert_eq!(server.folders(), 1);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let begun = Instant::now();
    while server.folders() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "the folder is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}
