//! Messages over standard input and output.
//!
//! The reader of `lsp_server` ends at the first message that is not well-formed, and allocates as
//! much memory as a header says. This one answers such a message with an error of JSON-RPC and goes
//! on. It ends only if it cannot know where the next message begins.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::bounded;
use gander_text::json::without_lone_surrogates;
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

/// Bytes of a message. A document may have 16 MB; its JSON is larger.
const MESSAGE_BYTES: u64 = 64 << 20;
/// Bytes of the header of a message.
const HEADER_BYTES: u64 = 64 << 10;
/// Messages that wait in each direction.
const WAITING: usize = 64;

/// The threads of a connection.
pub(crate) struct Threads {
    /// Why the input cannot be read further.
    lost: Arc<OnceLock<String>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until everything was written; the connection must have been dropped. The thread that
    /// reads does not keep it waiting. Says why the input ended, if that was an error.
    pub(crate) fn join(self) -> Result<(), String> {
        // A panic of the thread has been reported already.
        let written = self.writer.join().unwrap_or(Ok(()));
        match self.lost.get() {
            Some(why) => Err(why.clone()),
            None => written.map_err(|e| e.to_string()),
        }
    }
}

/// Starts the threads that read and write.
pub(crate) fn connect(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<(Connection, Threads)> {
    let (to_server, receiver) = bounded::<Message>(WAITING);
    let (sender, from_server) = bounded::<Message>(WAITING);
    let output = Arc::new(Mutex::new(output));
    let answers = Arc::clone(&output);
    let write = move || {
        for message in from_server {
            let mut value = serde_json::to_value(message)?;
            value["jsonrpc"] = "2.0".into();
            write_message(&mut *output.lock().unwrap_or_else(PoisonError::into_inner), &value)?;
        }
        Ok(())
    };
    let lost = Arc::new(OnceLock::new());
    let lost_by_reader = Arc::clone(&lost);
    let read = move || {
        let mut input = BufReader::new(input);
        loop {
            let answer = match next_message(&mut input) {
                Next::Message(message) => {
                    let is_exit =
                        matches!(&message, Message::Notification(n) if n.method == "exit");
                    if to_server.send(message).is_err() || is_exit {
                        return;
                    }
                    continue;
                }
                Next::Ignored => continue,
                Next::End => return,
                Next::Wrong(answer) => answer,
                Next::Lost(why) => {
                    let answer = error(&Value::Null, ErrorCode::ParseError, &why);
                    // Set before the channel is closed.
                    let _ = lost_by_reader.set(why);
                    answer
                }
            };
            let mut output = answers.lock().unwrap_or_else(PoisonError::into_inner);
            // A client that reads nothing is gone.
            let _ = write_message(&mut *output, &answer);
            if lost_by_reader.get().is_some() {
                return;
            }
        }
    };
    thread::Builder::new().name("lsp-read".into()).spawn(read)?;
    let writer = thread::Builder::new().name("lsp-write".into()).spawn(write)?;
    Ok((Connection { sender, receiver }, Threads { lost, writer }))
}

/// What the input has next.
enum Next {
    Message(Message),
    /// No message of the protocol, with the answer to it.
    Wrong(Value),
    /// A response that cannot be read; nothing waits for it.
    Ignored,
    /// The end of the input.
    End,
    /// Where the next message begins is not known, for this reason.
    Lost(String),
}

fn next_message(input: &mut impl BufRead) -> Next {
    let length = match content_length(input) {
        Ok(Some(length)) => length,
        Ok(None) => return Next::End,
        Err(why) => return Next::Lost(why),
    };
    let mut content = Vec::new();
    match input.take(length).read_to_end(&mut content) {
        Ok(read) if read as u64 == length => message_of(&content),
        _ => Next::End,
    }
}

/// The length of the next message; none at the end of the input.
fn content_length(input: &mut impl BufRead) -> Result<Option<u64>, String> {
    let mut input = input.take(HEADER_BYTES);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        match input.read_until(b'\n', &mut line) {
            Ok(0) if input.limit() > 0 => return Ok(None),
            Ok(_) if line.last() == Some(&b'\n') => {}
            Ok(_) if input.limit() > 0 => return Ok(None),
            Ok(_) => return Err("the header of a message is too long".to_string()),
            Err(_) => return Ok(None),
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            return match length {
                Some(length) => Ok(Some(length)),
                None => Err("the header of a message has no Content-Length".to_string()),
            };
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            let number = value.trim().parse::<u64>().ok().filter(|n| *n <= MESSAGE_BYTES);
            length = Some(number.ok_or_else(|| {
                let value: String = value.trim().chars().take(40).collect();
                format!(
                    "Content-Length is `{}`; a message has at most {MESSAGE_BYTES} bytes",
                    gander_text::visible(&value)
                )
            })?);
        }
    }
}

fn message_of(content: &[u8]) -> Next {
    let value = match parse(content) {
        Ok(value) => value,
        Err(e) => {
            return Next::Wrong(error(
                &Value::Null,
                ErrorCode::ParseError,
                format!("no JSON: {e}"),
            ));
        }
    };
    let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    let is_call = value.get("method").is_some();
    let is_response = !is_call && (value.get("result").is_some() || value.get("error").is_some());
    match serde_json::from_value(value) {
        Ok(message) => Next::Message(message),
        Err(_) if is_response => Next::Ignored,
        Err(e) => {
            let why = format!("no message of the protocol: {e}");
            Next::Wrong(error(&id.unwrap_or_default(), ErrorCode::InvalidRequest, &why))
        }
    }
}

/// The JSON value of a message. Halves of characters become U+FFFD.
fn parse(content: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(content).or_else(|_| {
        let text = String::from_utf8_lossy(content);
        serde_json::from_str(&without_lone_surrogates(&text))
    })
}

fn error(id: &Value, code: ErrorCode, message: impl fmt::Display) -> Value {
    let error = json!({ "code": code as i32, "message": message.to_string() });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

fn write_message(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(content: &[u8]) -> Vec<u8> {
        [format!("Content-Length: {}\r\n\r\n", content.len()).as_bytes(), content].concat()
    }

    /// What a reader of this input gives: methods, codes of errors, and why it ended.
    fn read(input: &[u8]) -> Vec<String> {
        let mut input = BufReader::new(input);
        let mut found = Vec::new();
        loop {
            found.push(match next_message(&mut input) {
                Next::Message(Message::Notification(n)) => n.method + &n.params.to_string(),
                Next::Message(_) => "request".to_string(),
                Next::Wrong(answer) => format!("{} {}", answer["error"]["code"], answer["id"]),
                Next::Ignored => "ignored".to_string(),
                Next::End => return found,
                Next::Lost(why) => {
                    found.push(why);
                    return found;
                }
            });
        }
    }

    #[test]
    fn a_malformed_message_is_answered_and_the_next_one_is_read() {
        let fine: &[u8] = br#"{"jsonrpc":"2.0","method":"m","params":1}"#;
        let deep = "[".repeat(100_000);
        let cases: [(&[u8], &str); 8] = [
            (br#"{"jsonrpc":"2.0","method":"m","params":"\ud83e"}"#, "m\"\u{fffd}\""),
            (b"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":\"\xff\"}", "m\"\u{fffd}\""),
            (b"{\"a\":", "-32700 null"),
            (deep.as_bytes(), "-32700 null"),
            (b"[]", "-32600 null"),
            (br#"{"jsonrpc":"2.0","id":3,"method":7}"#, "-32600 3"),
            (br#"{"jsonrpc":"2.0","id":null,"result":7}"#, "ignored"),
            (b"", "-32700 null"),
        ];
        for (content, expected) in cases {
            let found = read(&[framed(content), framed(fine)].concat());
            assert_eq!(found, [expected, "m1"], "{}", String::from_utf8_lossy(content));
        }
        // Other headers and line ends are accepted.
        let other = [b"content-type: x\ncontent-length:41\n\n", fine].concat();
        assert_eq!(read(&other), ["m1"]);
    }

    #[test]
    fn a_length_that_makes_no_sense_ends_the_input_with_a_reason() {
        for length in ["-5", "99999999999999", "99999999999999999999999", "x", "67108865"] {
            let found = read(format!("Content-Length: {length}\r\n\r\n{{}}").as_bytes());
            assert!(found[0].contains(&format!("`{length}`")), "{found:?}");
        }
        assert!(read(b"hello\r\n\r\n")[0].contains("no Content-Length"));
        assert!(read(&b"x".repeat(100_000))[0].contains("too long"));
        // The client is gone in the middle of a message.
        assert_eq!(read(b"Content-Length: 60000000\r\n\r\n{"), [""; 0]);
        assert_eq!(read(b"Content-Le"), [""; 0]);
    }
}
