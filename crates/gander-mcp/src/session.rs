//! What a server keeps from call to call: the service with the latest text of each document, the
//! parts of earlier texts, evidence, and simulations.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gander::lang::language_of;
use gander::smt::Solvers;
use gander::{Language, Model, load_within};
use gander_io::programs::Sha256;
use gander_report::{CheckView, DiagnosticView};
use gander_runtime::{Cancellation, lock};
use gander_service::{
    CheckEnding, CheckRequest, CheckWork, Event, Explanation, IncludedTexts, Selection, Service,
    ServiceConfig, ServiceLimits, Uri,
};

use crate::McpConfig;
use crate::arguments::Arguments;
use crate::changes::{Changes, Snapshot};
use crate::evidence::EvidenceStore;
use crate::files;
use crate::tools::simulate::Simulations;

/// How often a waiting call checks for cancellation.
const PERIOD: Duration = Duration::from_millis(20);
/// Time for a check to end after its time limit or its cancellation.
const GRACE: Duration = Duration::from_secs(30);
/// Time for the text of a file to be read, which an edit is compared with.
const READ_TIME: Duration = Duration::from_secs(20);

/// The languages of models, and the names that calls use.
pub const LANGUAGES: [(&str, Language); 8] = [
    ("sts", Language::Sts),
    ("lustre", Language::Lustre),
    ("script", Language::Script),
    ("smv", Language::Smv),
    ("vmt", Language::Vmt),
    ("horn", Language::Horn),
    ("btor2", Language::Btor2),
    ("mcmt", Language::Mcmt),
];

/// Which earlier results for the same text are reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reuse {
    /// Those of a check that decided every claim.
    Decided,
    /// Also those of a check that had at least the time limit of this call.
    Last,
}

/// Why a call has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The call is wrong or cannot be served, for this reason.
    Refused(String),
    /// The client cancelled it.
    Cancelled,
}

impl From<String> for Failure {
    fn from(why: String) -> Failure {
        Failure::Refused(why)
    }
}

/// The text that a call is about.
#[derive(Debug)]
pub struct Text {
    /// Identifies the document, whose texts are compared.
    pub document: String,
    /// The path of its file; of a text without a file, the name that it would have.
    pub file: PathBuf,
    /// The text.
    pub text: String,
    /// Its SHA-256.
    pub sha256: String,
    /// The text of the file, if the call gives both.
    on_disk: Option<String>,
}

/// The earlier texts of a document.
#[derive(Debug)]
struct History {
    first: Snapshot,
    last: Snapshot,
    used: u64,
}

/// How a text differs from earlier ones.
#[derive(Debug, Default)]
pub struct Compared {
    /// Compared with the one before; none if there is none or it is the same.
    pub previous: Option<Changes>,
    /// Compared with the first one of the session, or with the file.
    pub first: Option<Changes>,
}

/// A text that was checked.
#[derive(Debug)]
pub struct CheckedText {
    /// The text.
    pub text: Text,
    /// Its model.
    pub model: Arc<Model>,
    /// The result.
    pub view: CheckView,
    /// Against earlier texts.
    pub compared: Compared,
}

/// A text without a model.
#[derive(Debug)]
pub struct RejectedText {
    /// The text.
    pub text: Text,
    /// What is wrong with it.
    pub diagnostics: Vec<DiagnosticView>,
}

/// What a server keeps.
#[derive(Debug)]
pub struct Session {
    /// The settings.
    pub config: McpConfig,
    /// The solvers of checks of evidence and of simulations.
    pub solvers: Arc<Solvers>,
    /// Evidence.
    pub evidence: Mutex<EvidenceStore>,
    /// Simulations.
    pub simulations: Mutex<Simulations>,
    service: Service,
    documents: Mutex<(BTreeMap<String, History>, u64)>,
    version: Mutex<i64>,
    /// By document: the time limit of the last check.
    had: Mutex<BTreeMap<String, Duration>>,
}

impl Session {
    pub fn new(mut config: McpConfig) -> Session {
        let solvers = config.check.solvers.take();
        let solvers = solvers.unwrap_or_else(|| Arc::new(Solvers::from_environment()));
        config.check.solvers = Some(Arc::clone(&solvers));
        let mut check = config.check.clone();
        // For `suggest_next_step`; this takes time only for claims that stay open.
        check.induction_counterexamples = true;
        let limits = ServiceLimits {
            document_bytes: config.limits.model_bytes,
            documents: config.limits.documents,
            ..ServiceLimits::default()
        };
        Session {
            service: Service::start(ServiceConfig {
                check,
                workers: 1,
                // An edit that is not written must not change what another document means.
                included: IncludedTexts::Files,
                limits,
            }),
            config,
            solvers,
            evidence: Mutex::default(),
            simulations: Mutex::default(),
            documents: Mutex::default(),
            version: Mutex::default(),
            had: Mutex::default(),
        }
    }

    /// The time limit of a call.
    pub fn timeout(&self, arguments: &Arguments<'_>) -> Result<Duration, String> {
        let longest = self.config.longest_timeout;
        Ok(arguments.seconds("timeout_seconds", longest)?.unwrap_or(self.config.timeout))
    }

    /// The text that the arguments of a call name.
    pub fn text(&self, arguments: &Arguments<'_>) -> Result<Text, String> {
        let (model, path) = (arguments.text("model")?, arguments.text("path")?);
        let language = arguments.text("language")?;
        let named = |name: &str| LANGUAGES.iter().find(|(n, _)| *n == name).map(|(_, l)| *l);
        let language = match language {
            None => None,
            Some(name) => Some(named(name).ok_or_else(|| {
                let known: Vec<&str> = LANGUAGES.iter().map(|(n, _)| *n).collect();
                format!(
                    "there is no language `{}`; there are {}",
                    gander_text::shown(name),
                    known.join(", ")
                )
            })?),
        };
        let folder = &self.config.folder;
        let (file, text, on_disk) = match (model, path) {
            (None, None) => return Err("give `model`, the text, or `path`, its file".to_string()),
            (None, Some(path)) => {
                let (file, text) = files::read_model(folder, path)?;
                (file, text, None)
            }
            (Some(text), Some(path)) => {
                let on_disk = files::read_model(folder, path).ok().map(|(_, text)| text);
                (files::resolve(folder, path)?, text.to_string(), on_disk)
            }
            (Some(text), None) => {
                let language = language.ok_or("with `model`, give `language`, too")?;
                (folder.join(format!("model.{}", language.extension())), text.to_string(), None)
            }
        };
        if path.is_some()
            && let Some(language) = language
        {
            let known = language_of(&file.to_string_lossy()).map(|l| l.name);
            let asked = LANGUAGES.iter().find(|(_, l)| *l == language).map(|(n, _)| *n);
            if known != asked {
                return Err(
                    "the ending of `path` says another language than `language`".to_string()
                );
            }
        }
        let most = self.config.limits.model_bytes;
        if text.len() > most {
            return Err(format!("the model has {} bytes; at most {most} are read", text.len()));
        }
        let document = arguments.text("document")?.or(path).unwrap_or("model");
        let document = document.chars().take(200).collect();
        let sha256 = Sha256::of(text.as_bytes()).to_string();
        Ok(Text { document, file, text, sha256, on_disk })
    }

    /// Opens the text in the service and waits for its model.
    pub fn model(
        &self,
        text: &Text,
        timeout: Duration,
        cancel: &Cancellation,
    ) -> Result<Result<Arc<Model>, Vec<DiagnosticView>>, Failure> {
        let uri = Uri::new(&text.document);
        let known = self.service.document(&uri);
        let file = text.file.to_string_lossy();
        if known.is_some_and(|d| *d.text == *text.text && d.file_name == file) {
            self.service.compare_includes(&uri);
        } else {
            let mut version = lock(&self.version);
            *version += 1;
            self.evict_oldest(&uri);
            let opened = self.service.open(uri.clone(), &file, *version, text.text.clone());
            opened.map_err(|e| Failure::Refused(e.to_string()))?;
        }
        let end = Instant::now() + timeout;
        let analysis = loop {
            if cancel.is_cancelled() {
                let _ = self.service.close(&uri);
                return Err(Failure::Cancelled);
            }
            if let Some(analysis) = self.service.wait_until_parsed(&uri, PERIOD) {
                break analysis;
            }
            if Instant::now() > end {
                let _ = self.service.close(&uri);
                let why = "the time limit was reached while the model was read";
                return Err(Failure::Refused(why.to_string()));
            }
        };
        Ok(match &analysis.model {
            Some(model) if !model.systems().is_empty() => Ok(Arc::clone(model)),
            Some(model) => Err(model.diagnostics()),
            None => {
                let messages = analysis.diagnostics.iter();
                return Err(Failure::Refused(
                    messages.map(|d| d.message.clone()).collect::<Vec<_>>().join("\n"),
                ));
            }
        })
    }

    /// Closes a document if there would be too many.
    fn evict_oldest(&self, wanted: &Uri) {
        let open = self.service.documents();
        if open.len() >= self.config.limits.documents && !open.contains(wanted) {
            let (documents, _) = &*lock(&self.documents);
            let age = |uri: &Uri| documents.get(uri.as_str()).map_or(0, |h| h.used);
            if let Some(oldest) = open.iter().min_by_key(|uri| age(uri)) {
                let _ = self.service.close(oldest);
            }
        }
    }

    /// Decides all claims of a text.
    pub fn check(
        &self,
        text: Text,
        reuse: Reuse,
        timeout: Duration,
        cancel: &Cancellation,
    ) -> Result<Result<CheckedText, RejectedText>, Failure> {
        let started = Instant::now();
        let model = match self.model(&text, timeout, cancel)? {
            Ok(model) => model,
            Err(diagnostics) => return Ok(Err(RejectedText { text, diagnostics })),
        };
        let compared = self.compare(&text, &model, cancel);
        let uri = Uri::new(&text.document);
        let had = lock(&self.had).get(&text.document).copied();
        let is_good = |view: &CheckView| {
            view.exit_code() != 3 || reuse == Reuse::Last && had.is_some_and(|had| had >= timeout)
        };
        let view = match self.service.report(&uri).filter(is_good) {
            Some(view) => view,
            None => {
                let left = timeout.saturating_sub(started.elapsed());
                let request =
                    CheckRequest { timeout: Some(left.max(PERIOD)), ..CheckRequest::default() };
                self.run(&uri, request, timeout, cancel)?;
                lock(&self.had).insert(text.document.clone(), timeout);
                let report = self.service.report(&uri);
                report.ok_or_else(|| {
                    Failure::Refused("the results were lost; repeat the call".into())
                })?
            }
        };
        Ok(Ok(CheckedText { text, model, view, compared }))
    }

    /// Explains a claim of a text whose model is open.
    pub fn explain(
        &self,
        text: &Text,
        claim: &str,
        timeout: Duration,
        cancel: &Cancellation,
    ) -> Result<Arc<Explanation>, Failure> {
        let uri = Uri::new(&text.document);
        let request = CheckRequest {
            selection: Selection::Claims(vec![claim.to_string()]),
            work: CheckWork::Explain,
            timeout: Some(timeout),
            ..CheckRequest::default()
        };
        let explained = self.run(&uri, request, timeout, cancel)?;
        explained
            .ok_or_else(|| Failure::Refused("there is no explanation of this claim".to_string()))
    }

    /// Runs a check to its end; gives the explanation, if that was its work.
    fn run(
        &self,
        uri: &Uri,
        request: CheckRequest,
        timeout: Duration,
        cancel: &Cancellation,
    ) -> Result<Option<Arc<Explanation>>, Failure> {
        let events = self.service.subscribe();
        let refused = |e: gander_service::Refusal| Failure::Refused(e.to_string());
        let check = self.service.check(uri, request).map_err(refused)?;
        let end = Instant::now() + timeout + GRACE;
        let mut asked = false;
        let mut explained = None;
        loop {
            if (cancel.is_cancelled() || Instant::now() > end) && !asked {
                self.service.cancel(check);
                asked = true;
            }
            let Some(event) = events.next(PERIOD) else {
                if events.is_over() || Instant::now() > end + GRACE {
                    return Err(Failure::Refused("the check did not end".to_string()));
                }
                continue;
            };
            match &*event {
                Event::Explained { check: of, explanation, .. } if *of == check => {
                    explained = Some(Arc::clone(explanation));
                }
                Event::CheckEnded { check: of, ending, .. } if *of == check => {
                    return match ending {
                        _ if cancel.is_cancelled() => Err(Failure::Cancelled),
                        CheckEnding::Finished { .. } => Ok(explained),
                        CheckEnding::Broke(why) => Err(Failure::Refused(format!(
                            "gander failed inside, and has no verdict: {why}"
                        ))),
                        CheckEnding::Cancelled | CheckEnding::Superseded => Err(Failure::Refused(
                            "the check was stopped before it had a result".to_string(),
                        )),
                        CheckEnding::Rejected => {
                            Err(Failure::Refused("the model has errors".into()))
                        }
                    };
                }
                _ => {}
            }
        }
    }

    /// Compares a text with the earlier ones, and remembers it.
    fn compare(&self, text: &Text, model: &Model, cancel: &Cancellation) -> Compared {
        let now = Snapshot::of(model, &text.sha256);
        let (documents, clock) = &mut *lock(&self.documents);
        *clock += 1;
        let history = documents.remove(&text.document).or_else(|| {
            // For an edit of a file, the first text is that of the file.
            let on_disk = text.on_disk.as_ref()?;
            let file = text.file.to_string_lossy();
            let load = &self.config.check.load;
            let model = load_within(on_disk, &file, load, Some(READ_TIME), cancel).ok()?;
            let model = Some(model).filter(|model| !model.systems().is_empty())?;
            let first = Snapshot::of(&model, &Sha256::of(on_disk.as_bytes()).to_string());
            Some(History { last: first.clone(), first, used: *clock })
        });
        let compared = history.as_ref().map_or(Compared::default(), |history| {
            let to = |old: &Snapshot| {
                (old.sources_sha256 != now.sources_sha256).then(|| old.changes_to(&now))
            };
            Compared { previous: to(&history.last), first: to(&history.first) }
        });
        let first = history.map_or_else(|| now.clone(), |history| history.first);
        documents.insert(text.document.clone(), History { first, last: now, used: *clock });
        while documents.len() > self.config.limits.documents {
            let oldest = documents.iter().min_by_key(|(_, h)| h.used).map(|(name, _)| name.clone());
            if let Some(name) = oldest {
                documents.remove(&name);
                lock(&self.had).remove(&name);
            }
        }
        compared
    }
}
