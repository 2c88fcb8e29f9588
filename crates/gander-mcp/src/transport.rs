//! Messages over blocking streams: one JSON text on each line.
//!
//! The stream transport of the protocol library silently drops lines that are not JSON or are too
//! long, so that a client would wait for ever. Here they are answered with the error codes of
//! JSON-RPC, and the connection goes on. One thread reads and one writes; the runtime itself does
//! no input or output.

use std::borrow::Cow;
use std::future::{self, Future};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use gander_runtime::Cancellation;
use gander_text::json::without_lone_surrogates;
use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// JSON-RPC: the text is no JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: the message is no request.
const INVALID_REQUEST: i32 = -32600;
/// The largest number of messages that were read and wait.
const WAITING: usize = 64;

/// The messages of a client, and the answers to it.
pub struct Lines {
    incoming: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    outgoing: Option<Sender<Vec<u8>>>,
    /// Cancelled at the end of the input: no client is left to read answers.
    stop: Cancellation,
}

/// The thread that writes.
pub struct Writer(JoinHandle<()>);

impl Writer {
    /// Waits until everything was written; the transport must have been dropped. The thread that
    /// reads does not keep it waiting.
    pub fn join(self) {
        // A panic of the thread has been reported already.
        let _ = self.0.join();
    }
}

/// Starts the threads.
pub fn connect(
    input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
    longest: usize,
    stop: Cancellation,
) -> io::Result<(Lines, Writer)> {
    let (outgoing, lines): (Sender<Vec<u8>>, Receiver<Vec<u8>>) = channel();
    let (sender, incoming) = mpsc::channel(WAITING);
    let writer = thread::Builder::new().name("mcp-write".into()).spawn(move || {
        for line in lines {
            if output.write_all(&line).and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    })?;
    let answers = outgoing.clone();
    thread::Builder::new().name("mcp-read".into()).spawn(move || {
        let mut reader = Reader { input: BufReader::new(input), line: Vec::new(), longest };
        while let Some(line) = reader.next() {
            let message = match line {
                Line::Text(text) => match read_message(text) {
                    Ok(message) => message,
                    Err(None) => continue,
                    Err(Some(answer)) => {
                        let _ = answers.send(line_of(&answer));
                        continue;
                    }
                },
                Line::TooLong => {
                    let why = format!("a message has at most {longest} bytes");
                    let _ = answers.send(line_of(&error(&Value::Null, INVALID_REQUEST, &why)));
                    continue;
                }
            };
            if sender.blocking_send(message).is_err() {
                return;
            }
        }
    })?;
    Ok((Lines { incoming, outgoing: Some(outgoing), stop }, Writer(writer)))
}

fn line_of(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// The message; otherwise the answer to the line, if it needs one.
fn read_message(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Option<Value>> {
    let value: Value = serde_json::from_slice(line)
        .or_else(|_| {
            // Halves of characters become U+FFFD.
            serde_json::from_str(&without_lone_surrogates(&String::from_utf8_lossy(line)))
        })
        .map_err(|e| Some(error(&Value::Null, PARSE_ERROR, &format!("no JSON: {e}"))))?;
    let id = value.get("id").cloned();
    let is_call = value.get("method").is_some_and(Value::is_string);
    serde_json::from_value(value).map_err(|e| match id {
        // A notification that is not known needs no answer.
        None if is_call => None,
        id => {
            let id = id.filter(|id| id.is_string() || id.is_number()).unwrap_or_default();
            Some(error(&id, INVALID_REQUEST, &format!("no message of the protocol: {e}")))
        }
    })
}

/// A line of the input.
enum Line<'l> {
    Text(&'l [u8]),
    TooLong,
}

/// Reads lines; a line that is too long is skipped without being kept.
struct Reader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
}

impl<R: Read> Reader<R> {
    /// The next line that is not empty; none at the end of the input.
    fn next(&mut self) -> Option<Line<'_>> {
        loop {
            self.line.clear();
            let limit = self.longest as u64 + 1;
            let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.line).ok()?;
            if read == 0 {
                return None;
            }
            if self.line.last() != Some(&b'\n') && read as u64 == limit {
                self.skip_line();
                return Some(Line::TooLong);
            }
            if self.line.iter().any(|b| !b.is_ascii_whitespace()) {
                break;
            }
        }
        Some(Line::Text(&self.line))
    }

    /// Skips the rest of the line, or of the input.
    fn skip_line(&mut self) {
        while let Ok(buffer) = self.input.fill_buf() {
            let end = buffer.iter().position(|&b| b == b'\n');
            let used = end.map_or(buffer.len(), |at| at + 1);
            self.input.consume(used);
            if end.is_some() || used == 0 {
                return;
            }
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "lines".into()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = serde_json::to_value(item).map(|message| line_of(&message));
        let sent = match (line, &self.outgoing) {
            (Ok(line), Some(outgoing)) => outgoing.send(line).map_err(|_| closed()),
            (Err(e), _) => Err(e.into()),
            (_, None) => Err(closed()),
        };
        future::ready(sent)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.incoming.recv().await;
        if message.is_none() {
            self.stop.cancel();
        }
        message
    }

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        self.outgoing = None;
        self.incoming.close();
        future::ready(Ok(()))
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client has closed the connection")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, longest: usize) -> Vec<Option<String>> {
        let mut reader = Reader {
            input: BufReader::with_capacity(4, text.as_bytes()),
            line: Vec::new(),
            longest,
        };
        let mut found = Vec::new();
        while let Some(line) = reader.next() {
            found.push(match line {
                Line::Text(text) => Some(String::from_utf8_lossy(text).trim_end().to_string()),
                Line::TooLong => None,
            });
        }
        found
    }

    #[test]
    fn long_lines_are_skipped_and_the_next_one_is_read() {
        let some = |s: &str| Some(s.to_string());
        assert_eq!(lines("abc\n\n  \nde", 3), [some("abc"), some("de")]);
        assert_eq!(lines("abcdefghij\nxyz\n", 3), [None, some("xyz")]);
        assert_eq!(lines("abcd", 3), [None]);
        assert_eq!(lines("", 3), []);
    }

    #[test]
    fn text_that_is_no_message_is_answered_if_it_needs_an_answer() {
        let answer = |text: &str| read_message(text.as_bytes()).map(drop).unwrap_err();
        assert_eq!(answer("{").unwrap()["error"]["code"], PARSE_ERROR);
        assert_eq!(answer("[1]").unwrap()["error"]["code"], INVALID_REQUEST);
        let wrong = answer(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":3}"#).unwrap();
        assert_eq!(wrong["id"], 7);
        assert!(answer(r#"{"jsonrpc":"2.0","method":"notifications/x","params":3}"#).is_none());
        // Half of a character is replaced, and the rest of the message is kept.
        let half = r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"\ud83e"}}"#;
        assert!(read_message(half.as_bytes()).is_ok());
        let deep = "[".repeat(100_000);
        assert_eq!(answer(&deep).unwrap()["error"]["code"], PARSE_ERROR);
    }
}
