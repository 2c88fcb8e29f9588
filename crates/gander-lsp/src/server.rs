//! The connection: initialization, documents, and which handler answers what.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use gander_process::guard::Guarded;
use gander_service::{CheckRequest, Encoding, IncludedTexts, Refusal};
use gander_service::{Service, ServiceConfig, Uri};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::commands::COMMANDS;
use crate::convert::{encoding_of, file_name_of, replaced, uri_of};
use crate::notify::forward;
use crate::settings::{CheckWhen, Settings};
use crate::tokens::{MODIFIERS, TYPES};
use crate::transport;

/// What the command line gives.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The settings of the service. The time limit comes from the settings of the editor.
    pub service: ServiceConfig,
    /// The folder of results. If not given, they are kept for this session only.
    pub cache: Option<PathBuf>,
}

/// Why a connection ended without a proper shutdown.
#[derive(Debug)]
pub struct ServerError(String);

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServerError {}

/// What a handler answers.
pub(crate) type Answer = Result<Value, Wrong>;

/// Why a request is not answered with a result.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Wrong {
        Wrong { code, message: message.into() }
    }

    pub(crate) fn params(message: impl fmt::Display) -> Wrong {
        Wrong::new(ErrorCode::InvalidParams, message.to_string())
    }

    /// The request makes sense but cannot be done.
    pub(crate) fn failed(message: impl fmt::Display) -> Wrong {
        Wrong::new(ErrorCode::RequestFailed, message.to_string())
    }
}

impl From<Refusal> for Wrong {
    fn from(refusal: Refusal) -> Wrong {
        Wrong::failed(refusal)
    }
}

/// What the client can do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientAbilities {
    pub(crate) progress: bool,
    pub(crate) refresh_lenses: bool,
    pub(crate) refresh_inlays: bool,
    pub(crate) watch_files: bool,
}

/// The sending side of a connection, shared with the thread that forwards events.
#[derive(Clone)]
pub(crate) struct Client {
    sender: lsp_sender::Sender,
    pub(crate) encoding: Encoding,
    pub(crate) abilities: ClientAbilities,
    requests: Arc<AtomicI32>,
}

/// The type of the sender, which `lsp_server` takes from a crate that it does not export.
mod lsp_sender {
    use std::sync::Arc;

    use lsp_server::Message;

    pub(super) type Sender = Arc<dyn Fn(Message) + Send + Sync>;
}

impl Client {
    pub(crate) fn notify(&self, method: &str, params: Value) {
        (self.sender)(Message::Notification(Notification { method: method.to_string(), params }));
    }

    /// Sends a request whose response does not matter.
    pub(crate) fn request(&self, method: &str, params: Value) {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let id = RequestId::from(format!("gander-{number}"));
        (self.sender)(Message::Request(Request { id, method: method.to_string(), params }));
    }

    pub(crate) fn respond(&self, id: RequestId, answer: Answer) {
        let response = match answer {
            Ok(result) => Response::new_ok(id, result),
            Err(wrong) => Response::new_err(id, wrong.code as i32, wrong.message),
        };
        (self.sender)(Message::Response(response));
    }

    pub(crate) fn show(&self, kind: u32, message: &str) {
        self.notify("window/showMessage", json!({ "type": kind, "message": message }));
    }
}

/// A connection that is served.
pub(crate) struct Server {
    pub(crate) service: Arc<Service>,
    pub(crate) client: Client,
    pub(crate) settings: Settings,
    /// Cancelled requests that another thread answers.
    pub(crate) cancelled: Arc<Mutex<BTreeSet<RequestId>>>,
    /// Requests that another thread answers.
    pub(crate) pending: Arc<Mutex<BTreeSet<RequestId>>>,
}

/// Serves standard input and output until the client ends.
pub fn run_stdio(options: ServerOptions) -> Result<(), ServerError> {
    let connected = transport::connect(std::io::stdin(), std::io::stdout());
    let (connection, threads) = connected.map_err(|e| ServerError(e.to_string()))?;
    let ended = run(connection, options);
    // Why the input ended says more than that it ended.
    threads.join().map_err(ServerError).and(ended)
}

/// Serves a connection until the client ends it: `Ok` after `shutdown` and `exit`.
pub fn run(connection: Connection, options: ServerOptions) -> Result<(), ServerError> {
    let failed = |e: &dyn fmt::Display| ServerError(e.to_string());
    let (id, params) = connection.initialize_start().map_err(|e| match e {
        e if e.channel_is_disconnected() => {
            ServerError("the connection was closed before `initialize`".to_string())
        }
        e => failed(&e),
    })?;
    let params: lsp_types::InitializeParams = match serde_json::from_value(params) {
        Ok(params) => params,
        Err(error) => {
            let code = ErrorCode::InvalidParams as i32;
            let response = Response::new_err(id, code, error.to_string());
            let _ = connection.sender.send(response.into());
            return Err(failed(&error));
        }
    };
    let (encoding, encoding_name) = encoding_of(&params.capabilities);
    let result = json!({
        "capabilities": capabilities(encoding_name),
        "serverInfo": { "name": "gander", "version": env!("CARGO_PKG_VERSION") },
    });
    // The notification `initialized` is handled like others.
    connection.sender.send(Response::new_ok(id, result).into()).map_err(|e| failed(&e))?;

    let given = params.initialization_options.unwrap_or(Value::Null);
    let (settings, wrong) = Settings::default().updated(&given);
    let session = match options.cache {
        Some(_) => None,
        None => tempfile::Builder::new().prefix("gander-lsp-").tempdir().ok(),
    };
    // Also removed if this process is killed.
    let _guarded = session.as_ref().map(|folder| Guarded::folder(folder.path()));
    let mut config = options.service;
    config.included = IncludedTexts::OpenDocuments;
    config.check.cache =
        options.cache.or_else(|| session.as_ref().map(|folder| folder.path().to_path_buf()));
    config.check.timeout = Some(settings.time_limit());
    let service = Arc::new(Service::start(config));
    let sender = connection.sender.clone();
    let client = Client {
        // Sending fails only when the connection is over.
        sender: Arc::new(move |message| drop(sender.send(message))),
        encoding,
        abilities: abilities(&params.capabilities),
        requests: Arc::default(),
    };
    if let Some(wrong) = wrong {
        client.show(2, &wrong);
    }
    let forwarding = {
        let (events, client) = (service.subscribe(), client.clone());
        let weak = Arc::downgrade(&service);
        thread::Builder::new().name("events".into()).spawn(move || forward(&events, &client, &weak))
    };
    let mut server =
        Server { service, client, settings, cancelled: Arc::default(), pending: Arc::default() };
    let ended = server.serve(&connection);
    drop(server);
    if let Ok(forwarding) = forwarding {
        // A panic of the thread was reported already.
        let _ = forwarding.join();
    }
    drop(session);
    ended
}

fn abilities(capabilities: &lsp_types::ClientCapabilities) -> ClientAbilities {
    let workspace = capabilities.workspace.as_ref();
    ClientAbilities {
        progress: capabilities.window.as_ref().and_then(|w| w.work_done_progress).unwrap_or(false),
        refresh_lenses: workspace
            .and_then(|w| w.code_lens.as_ref())
            .and_then(|c| c.refresh_support)
            .unwrap_or(false),
        refresh_inlays: workspace
            .and_then(|w| w.inlay_hint.as_ref())
            .and_then(|c| c.refresh_support)
            .unwrap_or(false),
        watch_files: workspace
            .and_then(|w| w.did_change_watched_files.as_ref())
            .and_then(|c| c.dynamic_registration)
            .unwrap_or(false),
    }
}

fn capabilities(encoding: &str) -> Value {
    json!({
        "positionEncoding": encoding,
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "documentFormattingProvider": true,
        "inlayHintProvider": true,
        "renameProvider": { "prepareProvider": true },
        "codeLensProvider": { "resolveProvider": false },
        "codeActionProvider": { "codeActionKinds": ["quickfix"] },
        "completionProvider": { "triggerCharacters": ["."] },
        "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
        "executeCommandProvider": { "commands": COMMANDS },
        "semanticTokensProvider": {
            "legend": { "tokenTypes": TYPES, "tokenModifiers": MODIFIERS },
            "full": true,
            "range": true,
        },
    })
}

/// The parameters of a message.
pub(crate) fn read<T: DeserializeOwned>(params: Value) -> Result<T, Wrong> {
    serde_json::from_value(params).map_err(Wrong::params)
}

impl Server {
    fn serve(&mut self, connection: &Connection) -> Result<(), ServerError> {
        for message in &connection.receiver {
            match message {
                Message::Request(request) => {
                    if request.method == "shutdown" {
                        self.client.respond(request.id, Ok(Value::Null));
                        return self.wait_for_exit(connection);
                    }
                    self.request(request);
                }
                Message::Notification(notification) => {
                    if notification.method == "exit" {
                        return Err(ServerError("the client ended without a shutdown".into()));
                    }
                    let handle = AssertUnwindSafe(|| self.notification(notification));
                    match catch_unwind(handle) {
                        Ok(Ok(())) => {}
                        Ok(Err(wrong)) => self.client.show(2, &wrong.message),
                        Err(_) => self.client.show(1, "gander failed to handle a notification"),
                    }
                }
                Message::Response(_) => {}
            }
        }
        Err(ServerError("the connection was closed".to_string()))
    }

    /// Refuses requests after `shutdown`, until the client ends.
    fn wait_for_exit(&self, connection: &Connection) -> Result<(), ServerError> {
        for message in &connection.receiver {
            match message {
                Message::Request(request) => {
                    let why = "the server was shut down";
                    self.client
                        .respond(request.id, Err(Wrong::new(ErrorCode::InvalidRequest, why)));
                }
                Message::Notification(n) if n.method == "exit" => return Ok(()),
                Message::Notification(_) | Message::Response(_) => {}
            }
        }
        Err(ServerError("the connection was closed without `exit`".to_string()))
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let this = AssertUnwindSafe(&mut *self);
        let handle = || {
            let this = this;
            match method.as_str() {
                "workspace/executeCommand" => this.0.execute(id.clone(), params),
                _ => this.0.answer(&method, params).map(Some),
            }
        };
        let answer = match catch_unwind(AssertUnwindSafe(handle)) {
            // A thread will respond.
            Ok(Ok(None)) => return,
            Ok(Ok(Some(value))) => Ok(value),
            Ok(Err(wrong)) => Err(wrong),
            Err(_) => {
                let message = "gander failed to answer this request; please report it";
                Err(Wrong::new(ErrorCode::InternalError, message))
            }
        };
        self.client.respond(id, answer);
    }

    fn notification(&mut self, notification: Notification) -> Result<(), Wrong> {
        let Notification { method, params } = notification;
        match method.as_str() {
            "initialized" if self.client.abilities.watch_files => {
                let watchers = gander_lang::LANGUAGES.iter().flat_map(|l| l.extensions);
                let watchers: Vec<Value> =
                    watchers.map(|e| json!({ "globPattern": format!("**/*.{e}") })).collect();
                let registration = json!({
                    "id": "gander-files",
                    "method": "workspace/didChangeWatchedFiles",
                    "registerOptions": { "watchers": watchers },
                });
                let params = json!({ "registrations": [registration] });
                self.client.request("client/registerCapability", params);
            }
            "workspace/didChangeWatchedFiles" => self.check_includes(),
            "textDocument/didOpen" => {
                let params: lsp_types::DidOpenTextDocumentParams = read(params)?;
                let document = params.text_document;
                let uri = uri_of(&document.uri);
                let name = file_name(uri.as_str(), &document.language_id);
                let version = i64::from(document.version);
                self.service.open(uri.clone(), &name, version, document.text)?;
                if self.settings.check != CheckWhen::Manual {
                    self.service.check(&uri, CheckRequest::default())?;
                }
            }
            "textDocument/didChange" => {
                let params: lsp_types::DidChangeTextDocumentParams = read(params)?;
                let uri = uri_of(&params.text_document.uri);
                let document = self.service.document(&uri).ok_or(Refusal::NotOpen)?;
                let mut text = document.text.to_string();
                for change in params.content_changes {
                    text = match change.range {
                        Some(range) => replaced(&text, range, &change.text, self.client.encoding),
                        None => change.text,
                    };
                }
                let version = i64::from(params.text_document.version);
                self.service.change(&uri, version, text)?;
                if self.settings.check == CheckWhen::Idle {
                    let delay = self.settings.idle();
                    let request = CheckRequest { delay, ..CheckRequest::default() };
                    self.service.compare_all_includes(Some(&request));
                    self.service.check(&uri, request)?;
                }
            }
            "textDocument/didSave" => {
                let params: lsp_types::DidSaveTextDocumentParams = read(params)?;
                self.check_includes();
                if self.settings.check != CheckWhen::Manual {
                    let uri = uri_of(&params.text_document.uri);
                    self.service.check(&uri, CheckRequest::default())?;
                }
            }
            "textDocument/didClose" => {
                let params: lsp_types::DidCloseTextDocumentParams = read(params)?;
                self.service.close(&uri_of(&params.text_document.uri))?;
            }
            "workspace/didChangeConfiguration" => {
                let given = params.get("settings").unwrap_or(&Value::Null);
                let (settings, wrong) = self.settings.updated(given);
                let limit = settings.time_limit();
                self.service.configure(|config| config.check.timeout = Some(limit));
                self.settings = settings;
                if let Some(wrong) = wrong {
                    return Err(Wrong::params(wrong));
                }
            }
            "window/workDoneProgress/cancel" => {
                let token = params.get("token").and_then(Value::as_str).unwrap_or("");
                let number = token.strip_prefix("gander/check/").and_then(|n| n.parse().ok());
                if let Some(number) = number {
                    self.service.cancel(gander_service::CheckId(number));
                }
            }
            "$/cancelRequest" => {
                let id = match params.get("id") {
                    Some(Value::String(id)) => RequestId::from(id.clone()),
                    Some(id) => RequestId::from(id.as_i64().unwrap_or(-1) as i32),
                    None => return Ok(()),
                };
                let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
                if pending.contains(&id) {
                    let cancelled = self.cancelled.lock();
                    cancelled.unwrap_or_else(PoisonError::into_inner).insert(id);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Files changed: reads included files again, and checks the documents that include them unless
    /// the user decides about checks.
    fn check_includes(&self) {
        let check = CheckRequest::default();
        let is_wanted = self.settings.check != CheckWhen::Manual;
        self.service.compare_all_includes(is_wanted.then_some(&check));
    }

    /// The document that a request is about.
    pub(crate) fn document(
        &self,
        uri: &lsp_types::Uri,
    ) -> Result<(Uri, Arc<gander_service::Document>), Wrong> {
        let uri = uri_of(uri);
        let document = self.service.document(&uri).ok_or(Refusal::NotOpen)?;
        Ok((uri, document))
    }
}

/// The name of the file of a document. If its extension says no language, that of the language id
/// of the editor is added.
fn file_name(uri: &str, language: &str) -> String {
    let name = file_name_of(uri);
    if gander_lang::language_of(&name).is_some() {
        return name;
    }
    let known = gander_lang::LANGUAGES.iter().find(|l| l.name == language);
    match known.and_then(|l| l.extensions.first()) {
        Some(extension) => format!("{name}.{extension}"),
        None => name,
    }
}
