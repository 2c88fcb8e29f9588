//! Commands: check, explain, simulate, and what is known.

use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use gander_lang::Span;
use gander_service::{
    CheckRequest, CheckWork, Covered, Refusal, Selection, SimulationRequest, Uri, simulation_json,
    state_json,
};
use lsp_server::{ErrorCode, RequestId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::convert::range_json;
use crate::notify::explained;
use crate::server::{Server, Wrong, read};

/// The commands of `workspace/executeCommand`.
pub(crate) const COMMANDS: &[&str] = &[
    "gander.check",
    "gander.explain",
    "gander.cancel",
    "gander.simulate",
    "gander.state",
    "gander.result",
    "gander.explanation",
    "gander.coverage",
];

/// How often a waiting request checks for cancellation.
const POLL: Duration = Duration::from_millis(20);

#[derive(Deserialize)]
struct Command {
    command: String,
    #[serde(default)]
    arguments: Vec<Value>,
}

/// The second argument of `gander.simulate`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Simulate {
    claim: Option<String>,
    system: usize,
    seed: u64,
    simulation: Option<u64>,
    /// `step`, `random`, `undo` or `reset`.
    r#do: String,
    transition: String,
}

impl Server {
    /// Executes a command. `None` if a thread will respond.
    pub(crate) fn execute(&mut self, id: RequestId, params: Value) -> Result<Option<Value>, Wrong> {
        let Command { command, arguments } = read(params)?;
        let uri = arguments.first().and_then(Value::as_str);
        let uri = Uri::new(uri.ok_or_else(|| Wrong::params("the first argument is a document"))?);
        let second = arguments.get(1).cloned().unwrap_or(Value::Null);
        let claim = second.as_str().map(str::to_string);
        let named = || claim.clone().ok_or_else(|| Wrong::params("the second argument is a claim"));
        let document = self.service.document(&uri).ok_or(Refusal::NotOpen)?;
        match command.as_str() {
            "gander.check" | "gander.explain" => {
                let analysis = self.service.analysis(&uri).filter(|a| a.is_checkable());
                if let (Some(claim), Some(analysis)) = (&claim, analysis)
                    && !analysis.claims.iter().any(|c| c.name == *claim)
                {
                    return Err(Wrong::failed(format!("there is no claim `{claim}`")));
                }
                let selection = claim.map_or(Selection::All, |c| Selection::Claims(vec![c]));
                let work = match command.as_str() {
                    "gander.explain" => CheckWork::Explain,
                    _ => CheckWork::Decide,
                };
                let request = CheckRequest { selection, work, ..CheckRequest::default() };
                let check = self.service.check(&uri, request)?;
                Ok(Some(json!({ "check": check.0 })))
            }
            "gander.cancel" => {
                self.service.cancel_all(&uri);
                Ok(Some(Value::Null))
            }
            "gander.state" => {
                let mut state = state_json(&self.service, &uri).unwrap_or(Value::Null);
                // Evidence may be large; `gander.result` has that of one claim.
                state["report"] = Value::Null;
                for claim in state["claims"].as_array_mut().into_iter().flatten() {
                    if claim["known"].is_object() {
                        claim["known"]["result"]["evidence"] = Value::Null;
                    }
                }
                Ok(Some(state))
            }
            "gander.result" => {
                let record = self.service.verdict(&uri, &named()?);
                Ok(Some(record.map_or(Value::Null, |(r, _)| gander_report::claim_json(&r.view))))
            }
            "gander.explanation" => {
                let claim = named()?;
                let (text, elements) = explained(&self.service, &uri, &claim, &self.client);
                Ok(Some(json!({ "claim": claim, "text": text, "elements": elements })))
            }
            "gander.coverage" => {
                let one = |(span, covered): (Span, Covered)| {
                    let word = match covered {
                        Covered::Yes => "covered",
                        Covered::Open => "unknown",
                        Covered::NotFound => "no-found-core",
                        Covered::No => "uncovered",
                    };
                    json!({
                        "range": range_json(&document, span, self.client.encoding),
                        "covered": word,
                    })
                };
                Ok(Some(self.service.coverage(&uri).into_iter().map(one).collect()))
            }
            "gander.simulate" => {
                let wanted = match second {
                    Value::Null => Simulate::default(),
                    Value::String(claim) => Simulate { claim: Some(claim), ..Simulate::default() },
                    other => read(other)?,
                };
                self.simulate(id, &uri, wanted).map(|()| None)
            }
            other => {
                let message = format!("there is no command `{other}`");
                Err(Wrong::new(ErrorCode::InvalidParams, message))
            }
        }
    }

    /// Answers on a thread, because a solver may be needed.
    fn simulate(&self, id: RequestId, uri: &Uri, wanted: Simulate) -> Result<(), Wrong> {
        let Simulate { claim, system, seed, simulation, r#do, transition } = wanted;
        let request = match (simulation, r#do.as_str()) {
            (None, _) => SimulationRequest::Begin { claim, system, seed },
            (Some(simulation), "step") => SimulationRequest::Step { simulation, transition },
            (Some(simulation), "random") => SimulationRequest::Random { simulation },
            (Some(simulation), "undo") => SimulationRequest::Undo { simulation },
            (Some(simulation), "reset") => SimulationRequest::Reset { simulation },
            (Some(_), other) => {
                return Err(Wrong::params(format!("a simulation cannot do `{other}`")));
            }
        };
        let task = self.service.simulate(uri, request)?;
        let (service, client) = (Arc::downgrade(&self.service), self.client.clone());
        let (pending, cancelled) = (Arc::clone(&self.pending), Arc::clone(&self.cancelled));
        pending.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        let uri = uri.clone();
        let answer_later = move || {
            let answer = loop {
                match task.wait(POLL) {
                    Ok(Some(Ok(view))) => {
                        let document = service.upgrade().and_then(|s| s.document(&uri));
                        break match document {
                            Some(document) => Ok(simulation_json(&view, &document)),
                            None => Err(Wrong::from(Refusal::NotOpen)),
                        };
                    }
                    Ok(Some(Err(why))) => break Err(Wrong::failed(why)),
                    Ok(None) => break Err(Wrong::failed("the simulation was stopped")),
                    Err(_) => {
                        let all = cancelled.lock().unwrap_or_else(PoisonError::into_inner);
                        if all.contains(&id) || service.strong_count() == 0 {
                            let code = ErrorCode::RequestCanceled;
                            break Err(Wrong::new(code, "cancelled"));
                        }
                    }
                }
            };
            pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            cancelled.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            client.respond(id, answer);
        };
        let thread = thread::Builder::new().name("simulate".into()).spawn(answer_later);
        thread.map(drop).map_err(Wrong::failed)
    }
}
