//! The files of the page. They are part of the program, so no name of a request is ever a path of
//! this machine.

use crate::http::Response;
use crate::token::Token;

const HTML: &str = include_str!("../assets/page.html");
const SCRIPT: &str = include_str!("../assets/page.js");
const STYLE: &str = include_str!("../assets/page.css");
const ENTRANCE: &str = include_str!("../assets/entrance.html");
const ENTRANCE_SCRIPT: &str = include_str!("../assets/entrance.js");
const ICON: &str = include_str!("../assets/icon.svg");
const LICENCES: &str = include_str!("../assets/LICENCES.txt");

/// What stands for the token in the HTML.
const TOKEN: &str = "{{token}}";

/// The file of this name, for a request with the token.
pub fn with_token(path: &str, token: &Token) -> Option<Response> {
    let file = |content_type, text: &str| Response::file(content_type, text.as_bytes().to_vec());
    Some(match path {
        "/" => file("text/html; charset=utf-8", &HTML.replace(TOKEN, token.text())),
        "/page.js" => file("text/javascript; charset=utf-8", SCRIPT),
        "/page.css" => file("text/css; charset=utf-8", STYLE),
        "/licences.txt" => file("text/plain; charset=utf-8", LICENCES),
        _ => return None,
    })
}

/// The file of this name, for a request without the token: the page that asks for the address.
pub fn without_token(path: &str) -> Option<Response> {
    let file = |content_type, text: &str| Response::file(content_type, text.as_bytes().to_vec());
    Some(match path {
        "/" => file("text/html; charset=utf-8", ENTRANCE).with_status(403),
        "/entrance.js" => file("text/javascript; charset=utf-8", ENTRANCE_SCRIPT),
        "/icon.svg" => file("image/svg+xml", ICON),
        _ => return None,
    })
}
