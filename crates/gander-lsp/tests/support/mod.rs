//! An editor over a connection in memory.

#![allow(dead_code)]

use std::collections::VecDeque;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gander_lsp::{ServerError, ServerOptions, run};
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};

const WAIT: Duration = Duration::from_secs(120);

/// An editor and the server that it talks to.
pub struct Editor {
    connection: Connection,
    server: Option<JoinHandle<Result<(), ServerError>>>,
    notifications: VecDeque<(String, Value)>,
    last: i32,
}

impl Editor {
    /// A server with these settings.
    pub fn start(settings: Value) -> Editor {
        Editor::start_with(json!({}), settings)
    }

    /// A server for a client with these capabilities.
    pub fn start_with(capabilities: Value, settings: Value) -> Editor {
        let (theirs, connection) = Connection::memory();
        let server = thread::spawn(move || run(theirs, ServerOptions::default()));
        let server = Some(server);
        let mut editor = Editor { connection, server, notifications: VecDeque::new(), last: 0 };
        let params = json!({ "capabilities": capabilities, "initializationOptions": settings });
        let result = editor.request("initialize", params).unwrap();
        assert_eq!(result["serverInfo"]["name"], "gander");
        editor.notify("initialized", json!({}));
        editor
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        let notification = Notification { method: method.to_string(), params };
        self.connection.sender.send(Message::Notification(notification)).unwrap();
    }

    /// Receives one message; answers requests of the server.
    fn receive(&mut self, end: Instant) -> Message {
        let left = end.saturating_duration_since(Instant::now());
        let message = self.connection.receiver.recv_timeout(left).expect("a message in time");
        if let Message::Request(request) = &message {
            self.notifications.push_back((request.method.clone(), request.params.clone()));
            let response = lsp_server::Response::new_ok(request.id.clone(), Value::Null);
            self.connection.sender.send(Message::Response(response)).unwrap();
        }
        message
    }

    /// Sends a request and waits for its answer. Notifications are kept.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.last += 1;
        let id = RequestId::from(self.last);
        let request = Request { id: id.clone(), method: method.to_string(), params };
        self.connection.sender.send(Message::Request(request)).unwrap();
        let end = Instant::now() + WAIT;
        loop {
            match self.receive(end) {
                Message::Response(response) if response.id == id => {
                    let value = serde_json::to_value(response).unwrap();
                    return match value.get("error") {
                        Some(error) => Err(error.clone()),
                        None => Ok(value["result"].clone()),
                    };
                }
                Message::Notification(n) => self.notifications.push_back((n.method, n.params)),
                _ => {}
            }
        }
    }

    /// Executes a command.
    pub fn command(&mut self, name: &str, arguments: Value) -> Result<Value, Value> {
        let params = json!({ "command": name, "arguments": arguments });
        self.request("workspace/executeCommand", params)
    }

    /// Waits for a notification; those of other methods are kept, others of the method dropped.
    pub fn wait_for(&mut self, method: &str, matches: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + WAIT;
        let mut kept = VecDeque::new();
        loop {
            let (found, params) = match self.notifications.pop_front() {
                Some(next) => next,
                None => match self.receive(end) {
                    Message::Notification(n) => (n.method, n.params),
                    _ => continue,
                },
            };
            if found == method && matches(&params) {
                kept.append(&mut self.notifications);
                self.notifications = kept;
                return params;
            }
            if found != method {
                kept.push_back((found, params));
            }
        }
    }

    /// The next diagnostics of a version.
    pub fn diagnostics(&mut self, uri: &str, version: i64) -> Value {
        self.wait_for("textDocument/publishDiagnostics", |p| {
            p["uri"] == uri && p["version"] == version
        })
    }

    /// The notifications that are there already.
    pub fn drain(&mut self) -> Vec<(String, Value)> {
        while let Ok(message) = self.connection.receiver.try_recv() {
            if let Message::Notification(n) = message {
                self.notifications.push_back((n.method, n.params));
            }
        }
        self.notifications.drain(..).collect()
    }

    pub fn open(&self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "gander", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn change(&self, uri: &str, version: i64, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    /// Ends the conversation in order.
    pub fn end(mut self) {
        self.request("shutdown", Value::Null).unwrap();
        self.notify("exit", Value::Null);
        self.joined().expect("an end in order");
    }

    /// Waits for the end of the server.
    pub fn joined(mut self) -> Result<(), ServerError> {
        self.server.take().unwrap().join().expect("no panic")
    }
}
