//! Who may use the server: checks that come before anything else is done with a request.
//!
//! A foreign web page can make a browser send requests to this machine. Such a request has another
//! `Origin`, or another `Host` (a name that was made to resolve to this machine), and no token. So
//! every request must name this server, come from its page or from the address bar, and have the
//! token. Only the start page, which has no secrets, needs no token.

use crate::http::{Request, Response};
use crate::token::Token;

/// What a request must match.
#[derive(Clone)]
pub struct Access {
    /// Values of `Host` that mean this server.
    hosts: [String; 2],
    token: Token,
}

impl Access {
    /// Access to the server on this port.
    pub fn new(port: u16, token: Token) -> Access {
        Access { hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")], token }
    }

    /// The token.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// The response to a request that does not come from the page or the address bar, or that has
    /// a body.
    pub fn refusal(&self, request: &Request) -> Option<Response> {
        if !self.is_host(request.header("host")) {
            return Some(Response::text(421, "This server has another name.\n"));
        }
        if request.has("origin") && !self.is_own_origin(request) {
            return Some(Response::text(403, "Requests of other pages are refused.\n"));
        }
        // Browsers say where a request comes from. To open the address from elsewhere is allowed:
        // the token decides.
        let is_foreign = |site: &str| !matches!(site, "same-origin" | "none");
        let is_opened = request.header("sec-fetch-mode") == Some("navigate");
        if request.has("sec-fetch-site")
            && request.header("sec-fetch-site").is_none_or(is_foreign)
            && !is_opened
        {
            return Some(Response::text(403, "Requests of other pages are refused.\n"));
        }
        if request.has_body() {
            return Some(Response::text(413, "Requests with a body are refused.\n"));
        }
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            let refusal = Response::text(405, "Only GET and HEAD are allowed.\n");
            return Some(refusal.with("Allow", "GET, HEAD".to_string()));
        }
        None
    }

    /// True if the origin of a request is the page of this server.
    pub fn is_own_origin(&self, request: &Request) -> bool {
        let host = request.header("origin").and_then(|origin| origin.strip_prefix("http://"));
        host.is_some() && self.is_host(host)
    }

    /// True if the request has the token.
    pub fn has_token(&self, request: &Request) -> bool {
        request.parameter("token").is_some_and(|given| self.token.matches(given))
    }

    fn is_host(&self, host: Option<&str>) -> bool {
        host.is_some_and(|host| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)))
    }
}
