//! Requests of the page that are not for the language server: the file that it was opened with,
//! examples, and what panels show.
//!
//! The requests are `page/start` (the file, the examples), `page/save` (write the file), and those
//! of the panels, for example `page/graph`. Only the file that was named on the command line is
//! read and written. It is not overwritten if it changed since the page read it, unless the page
//! sets `force`. When a page saves it, the other pages are notified (`page/saved`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gander_io::programs::Sha256;
use gander_io::read::Links;
use gander_io::write::Target;
use gander_runtime::lock;
use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use serde_json::{Value, json};

use crate::examples::EXAMPLES;
use crate::limits::FILE_BYTES;
use crate::socket::{Pushes, Routed};

/// Answers requests of panels by their name without the prefix; none if there is no such request.
pub type Panels = dyn Fn(&str, &Value) -> Option<Result<Value, String>> + Send + Sync;

/// What all pages of a server share.
pub struct Shared {
    panels: Arc<Panels>,
    file: Option<PathBuf>,
    version: String,
    /// Pages by number.
    pages: Mutex<Vec<(u64, Pushes)>>,
    /// Held while the file is compared and written.
    saving: Mutex<()>,
}

impl Shared {
    /// For pages that are opened with this file.
    pub fn new(file: Option<PathBuf>, version: String, panels: Arc<Panels>) -> Shared {
        Shared { panels, file, version, pages: Mutex::default(), saving: Mutex::default() }
    }

    /// Adds a page that was opened.
    pub fn add_page(&self, page: u64, pushes: Pushes) {
        lock(&self.pages).push((page, pushes));
    }

    /// Removes a page that was closed.
    pub fn remove_page(&self, page: u64) {
        lock(&self.pages).retain(|(number, _)| *number != page);
    }

    /// Answers what is not for the language server.
    pub fn route(&self, page: u64, message: Message) -> Routed {
        let Message::Request(request) = message else { return Routed::Server(message) };
        let response = match request.method.as_str() {
            "page/start" => Response::new_ok(request.id, self.start()),
            "page/save" => self.save(page, request),
            method if method.starts_with("page/") => {
                let panels = Arc::clone(&self.panels);
                return Routed::Later(Box::new(move || panel(&*panels, request).into()));
            }
            _ => return Routed::Server(Message::Request(request)),
        };
        Routed::Answered(Message::Response(response))
    }

    fn start(&self) -> Value {
        let examples =
            EXAMPLES.iter().map(|e| json!({ "name": e.name, "about": e.about, "text": e.text }));
        json!({
            "version": self.version,
            "file": self.file.as_deref().map(described),
            "examples": examples.collect::<Vec<_>>(),
        })
    }

    fn save(&self, page: u64, request: Request) -> Response {
        let wrong = |why: &str| {
            Response::new_err(request.id.clone(), ErrorCode::InvalidParams as i32, why.to_string())
        };
        let Some(file) = &self.file else { return wrong("the page was opened without a file") };
        let word = |name| request.params.get(name).and_then(Value::as_str);
        let Some(text) = word("text") else { return wrong("there is no text") };
        if text.len() as u64 > FILE_BYTES {
            return wrong("the text is too large");
        }
        let _saving = lock(&self.saving);
        let is_forced = request.params.get("force").and_then(Value::as_bool) == Some(true);
        let now = digest_of(file);
        if !is_forced && now.as_deref() != word("digest") {
            let id = request.id.clone();
            let result = json!({ "saved": false, "digest": now });
            return Response::new_ok(id, result);
        }
        if let Err(e) = gander_io::write::replace(file, text.as_bytes(), Target::InPlace) {
            return wrong(&e.to_string());
        }
        let digest = digest(text.as_bytes());
        let others =
            Notification::new("page/saved".to_string(), json!({ "digest": digest, "text": text }));
        for (number, pushes) in lock(&self.pages).iter() {
            if *number != page {
                pushes.push(Message::Notification(others.clone()));
            }
        }
        Response::new_ok(request.id.clone(), json!({ "saved": true, "digest": digest }))
    }
}

/// The answer to a request of a panel.
fn panel(panels: &Panels, request: Request) -> Response {
    let Request { id, method, params } = request;
    let name = method.strip_prefix("page/").unwrap_or_default();
    // A request that makes gander fail is answered, too.
    let answered = catch_unwind(AssertUnwindSafe(|| panels(name, &params)));
    match answered {
        Ok(Some(Ok(result))) => Response::new_ok(id, result),
        Ok(Some(Err(why))) => Response::new_err(id, ErrorCode::RequestFailed as i32, why),
        Ok(None) => {
            let code = ErrorCode::MethodNotFound as i32;
            Response::new_err(id, code, "there is no such request".to_string())
        }
        Err(_) => {
            let why = "gander failed to answer this request; please report it";
            Response::new_err(id, ErrorCode::InternalError as i32, why.to_string())
        }
    }
}

/// The file as the page gets it.
fn described(file: &Path) -> Value {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    match gander_io::read::text(file, Links::Follow, FILE_BYTES) {
        Ok(text) => json!({
            "name": name, "path": path.to_string_lossy(), "text": text,
            "digest": digest(text.as_bytes()),
        }),
        Err(e) => json!({ "name": name, "path": path.to_string_lossy(), "error": e.to_string() }),
    }
}

fn digest_of(file: &Path) -> Option<String> {
    gander_io::read::bytes(file, Links::Follow, FILE_BYTES).ok().map(|bytes| digest(&bytes))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::of(bytes).short(64)
}
