//! Requests and responses of HTTP/1.1, as far as a page on the same machine needs them.
//!
//! A connection carries one request without a body, and one response. The head of the request has
//! a limited size and must arrive within a limited time, however slowly its bytes come.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::limits::{DRAIN_TIME, DRAINED_BYTES, HEAD_BYTES, HEAD_TIME, HEADERS, RESPONSE_TIME};

/// The head of a request.
#[derive(Debug, Default)]
pub struct Request {
    /// `GET` and so on.
    pub method: String,
    /// The part of the target before `?`.
    pub path: String,
    /// The part of the target behind `?`; empty if there is none.
    pub query: String,
    headers: Vec<(String, Vec<u8>)>,
    /// Bytes that came behind the head.
    pub rest: Vec<u8>,
}

impl Request {
    /// The value of a header that the request has exactly once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        let (_, value) = found.next()?;
        match found.next() {
            None => std::str::from_utf8(value).ok().map(str::trim),
            Some(_) => None,
        }
    }

    /// True if the request has the header at least once.
    pub fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
    }

    /// True if the header is a list with this word.
    pub fn lists(&self, name: &str, word: &str) -> bool {
        let words = |value: &str| value.split(',').any(|w| w.trim().eq_ignore_ascii_case(word));
        self.header(name).is_some_and(words)
    }

    /// A parameter of the query that it has exactly once.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let values = || {
            let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(n, _)| *n == name).map(|(_, value)| value)
        };
        values().next().filter(|_| values().count() == 1)
    }

    /// True if a body follows, or seems to.
    pub fn has_body(&self) -> bool {
        self.has("transfer-encoding")
            || (self.has("content-length") && self.header("content-length") != Some("0"))
    }
}

/// Why there is no request.
#[derive(Debug)]
pub enum Unread {
    /// The connection broke, was closed or was too slow: no response is sent.
    Gone,
    /// It is refused.
    Refused(Response),
}

/// Reads the head of a request.
pub fn read_request(stream: &mut TcpStream) -> Result<Request, Unread> {
    let deadline = Instant::now() + HEAD_TIME;
    let mut bytes = Vec::new();
    let mut part = [0u8; 4096];
    loop {
        if let Some(request) = parse(&bytes)? {
            return Ok(request);
        }
        if bytes.len() >= HEAD_BYTES {
            return Err(Unread::Refused(Response::text(431, "The request is too long.\n")));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Unread::Refused(Response::text(408, "The request took too long.\n")));
        }
        stream.set_read_timeout(Some(left)).map_err(|_| Unread::Gone)?;
        match stream.read(&mut part) {
            Ok(0) => return Err(Unread::Gone),
            Ok(n) => bytes.extend_from_slice(&part[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(_) => return Err(Unread::Gone),
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Option<Request>, Unread> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let wrong = || Unread::Refused(Response::text(400, "This is no request.\n"));
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(wrong()),
    };
    let target = head.path.ok_or_else(wrong)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(Some(Request {
        method: head.method.unwrap_or_default().to_string(),
        path: path.to_string(),
        query: query.to_string(),
        headers: head.headers.iter().map(|h| (h.name.to_string(), h.value.to_vec())).collect(),
        rest: bytes[length..].to_vec(),
    }))
}

/// A response with all of its body.
#[derive(Debug)]
pub struct Response {
    status: u16,
    content_type: &'static str,
    extra: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

/// The page loads only from this server and runs only its own script file; other pages cannot show
/// it in a frame; its address, which has the token, is not sent elsewhere; nothing is kept on disk.
/// Styles are set by the editor component, so inline styles are allowed.
const SECURITY: [(&str, &str); 8] = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("Cache-Control", "no-store"),
];

impl Response {
    /// A response with a file.
    pub fn file(content_type: &'static str, body: Vec<u8>) -> Response {
        Response { status: 200, content_type, extra: Vec::new(), body }
    }

    /// A response with a sentence.
    pub fn text(status: u16, text: &str) -> Response {
        let content_type = "text/plain; charset=utf-8";
        Response { status, content_type, extra: Vec::new(), body: text.as_bytes().to_vec() }
    }

    /// With this status.
    pub fn with_status(mut self, status: u16) -> Response {
        self.status = status;
        self
    }

    /// With one more header.
    pub fn with(mut self, name: &'static str, value: String) -> Response {
        self.extra.push((name, value));
        self
    }

    /// Sends the response and closes the connection. Errors are not reported: the client is gone.
    pub fn send(&self, stream: &mut TcpStream, with_body: bool) {
        let mut bytes = self.head().into_bytes();
        if with_body {
            bytes.extend_from_slice(&self.body);
        }
        let sent = stream
            .set_write_timeout(Some(RESPONSE_TIME))
            .and_then(|()| stream.write_all(&bytes))
            .and_then(|()| stream.shutdown(Shutdown::Write));
        if sent.is_ok() {
            drain(stream);
        }
        let _ = stream.shutdown(Shutdown::Both);
    }

    fn head(&self) -> String {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
            self.status,
            reason(self.status),
            self.content_type,
            self.body.len()
        );
        let extra = self.extra.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in SECURITY.into_iter().chain(extra) {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        head
    }
}

/// Reads some of what the client still sends: closing a connection with unread bytes would take
/// back the response.
fn drain(stream: &mut TcpStream) {
    let deadline = Instant::now() + DRAIN_TIME;
    let mut part = [0u8; 8192];
    let mut left = DRAINED_BYTES;
    while left > 0 {
        let time = deadline.saturating_duration_since(Instant::now());
        if time < Duration::from_millis(1) || stream.set_read_timeout(Some(time)).is_err() {
            return;
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(n) => left = left.saturating_sub(n),
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        101 => "Switching Protocols",
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Request {
        parse(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn parameters_and_headers_that_occur_twice_do_not_count() {
        let one = request("GET /a?token=x&b=1 HTTP/1.1\r\nHost: h\r\nhost: i\r\nOrigin: o\r\n\r\n");
        assert_eq!((one.path.as_str(), one.parameter("token")), ("/a", Some("x")));
        assert_eq!((one.header("host"), one.header("ORIGIN")), (None, Some("o")));
        assert!(one.has("Host"));
        assert_eq!(request("GET /?token=x&token=y HTTP/1.1\r\n\r\n").parameter("token"), None);
    }

    #[test]
    fn any_sign_of_a_body_is_seen() {
        for header in ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: x"] {
            assert!(request(&format!("GET / HTTP/1.1\r\n{header}\r\n\r\n")).has_body(), "{header}");
        }
        assert!(!request("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n").has_body());
        assert!(!request("GET / HTTP/1.1\r\n\r\n").has_body());
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert!(parse(b"GET / HTTP/1.1\r\nHo").unwrap().is_none());
        for wrong in ["\0\0\0", "GET /\x01 HTTP/1.1\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        let many = "A: b\r\n".repeat(HEADERS + 1);
        assert!(parse(format!("GET / HTTP/1.1\r\n{many}\r\n").as_bytes()).is_err());
    }
}
