//! What panels beside an editor show of a model: the control graph, runs as rows of values, a
//! simulation, and the model in another language.
//!
//! [`Panels::answer`] takes a request by name, so that every protocol can offer the same ones
//! (docs/page.md). Each request has the text that it is about, and a simulation has all its moves,
//! so no answer depends on earlier requests. [`Panels`] only keeps the model of the last text, as
//! long as the files that it includes do not change.
//!
//! Invariants: nothing here panics on input; a run is replayed before it is shown, and a simulation
//! only shows states of runs of the system; a request has a limited number of steps.
//!
//! ```
//! use gander_panels::Panels;
//! use serde_json::json;
//!
//! let text = "spec S
//! var x: int
//! start -> A { x == 0 }
//! node A { up -> B }
//! node B { down -> A }";
//! let answer = Panels::default().answer("graph", &json!({ "name": "s.sts", "text": text }));
//! let graph = answer.expect("there is this request").expect("the text has no errors");
//! assert_eq!(graph["graphs"][0]["nodes"], json!(["A", "B"]));
//! ```

mod export;
mod graph;
mod run;
mod simulate;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use gander::{LoadOptions, Model, includes_changed, load_within};
use gander_runtime::{Cancellation, lock};
use gander_smt::Solvers;
use gander_system::{Span, System};
use serde_json::{Value, json};

/// Time for a text to be read.
const READ_TIME: Duration = Duration::from_secs(20);

/// Bytes of a text.
const TEXT_BYTES: usize = 16 << 20;

/// Answers requests; keeps the model of the last one.
#[derive(Default)]
pub struct Panels {
    last: Mutex<Option<Arc<Model>>>,
    solvers: OnceLock<Arc<Solvers>>,
}

/// What a request is about.
struct Context<'r> {
    params: &'r Value,
    model: Arc<Model>,
    solvers: &'r Arc<Solvers>,
}

impl Panels {
    /// The requests, without the prefix of the protocol.
    pub const REQUESTS: [&'static str; 4] = ["graph", "run", "simulate", "export"];

    /// Answers a request; none if there is none of this name. The parameters are an object with
    /// the `name` of the file, which says its language and where it includes files from, and its
    /// `text`. An error is a sentence for the user.
    pub fn answer(&self, request: &str, params: &Value) -> Option<Result<Value, String>> {
        if !Panels::REQUESTS.contains(&request) {
            return None;
        }
        let solvers = self.solvers.get_or_init(|| Arc::new(Solvers::from_environment()));
        Some(self.model(params).and_then(|model| {
            let context = Context { params, model, solvers };
            match request {
                "graph" => graph::graph_json(&context),
                "run" => run::run_of_evidence(&context),
                "simulate" => simulate::simulate(&context),
                _ => export::export(&context),
            }
        }))
    }

    fn model(&self, params: &Value) -> Result<Arc<Model>, String> {
        let word = |name: &str| params.get(name).and_then(Value::as_str);
        let name = word("name").ok_or("the request names no file")?;
        let text = word("text").ok_or("the request has no text")?;
        if text.len() > TEXT_BYTES {
            return Err("the text is too large".to_string());
        }
        let is_it = |m: &Arc<Model>| m.source().name() == name && m.source().own_text() == text;
        let last = lock(&self.last).clone().filter(is_it);
        if let Some(model) = last.filter(|m| !includes_changed(m, &LoadOptions::default())) {
            return Ok(model);
        }
        let cancel = Cancellation::new().with_deadline(Some(Instant::now() + READ_TIME));
        let model = load_within(text, name, &LoadOptions::default(), None, &cancel)
            .map_err(|_| "the text could not be read in time".to_string())?;
        let model = Arc::new(model);
        *lock(&self.last) = Some(Arc::clone(&model));
        Ok(model)
    }
}

impl<'r> Context<'r> {
    fn word(&self, name: &str) -> Option<&'r str> {
        self.params.get(name).and_then(Value::as_str)
    }

    /// All systems of the model; an error if it has errors.
    fn systems(&self) -> Result<&[Arc<System>], String> {
        let systems = self.model.systems();
        if systems.is_empty() { Err("the model has errors".to_string()) } else { Ok(systems) }
    }

    /// The position of the system that is named, else of the first.
    fn system_index(&self) -> Result<usize, String> {
        let name = self.word("system");
        let found = self.systems()?.iter().position(|s| name.is_none_or(|name| s.name() == name));
        found.ok_or_else(|| "the model has no such system".to_string())
    }

    fn system(&self) -> Result<Arc<System>, String> {
        Ok(Arc::clone(&self.systems()?[self.system_index()?]))
    }

    /// The range of a span of the text, as in docs/json.md; null if it is in another file.
    fn range(&self, span: Option<Span>) -> Value {
        let text = self.model.source().own_text();
        let Some(span) = span else { return Value::Null };
        let at = |offset: u32| {
            let before = text.get(..offset as usize)?;
            let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
            let begin = before.rfind('\n').map_or(0, |at| at + 1);
            Some((line, before[begin..].chars().count() + 1))
        };
        match (at(span.start), at(span.end)) {
            (Some((line, column)), Some((end_line, end_column))) => json!({
                "start": span.start, "end": span.end, "line": line, "column": column,
                "end_line": end_line, "end_column": end_column,
            }),
            _ => Value::Null,
        }
    }
}
