//! Events of the service as notifications.

use std::sync::Weak;
use std::time::Duration;

use gander_service::{
    CheckEnding, CheckId, Document, Event, Freshness, Service, Subscription, Uri, event_json,
};
use serde_json::{Value, json};

use crate::convert::{publish_json, range_json};
use crate::server::Client;

/// How long one wait for an event takes.
const WAIT: Duration = Duration::from_secs(3600);

/// Forwards events until the service ends.
pub(crate) fn forward(events: &Subscription, client: &Client, service: &Weak<Service>) {
    while !events.is_over() {
        if let Some(event) = events.next(WAIT) {
            send(&event, client, service);
        }
    }
}

fn token(check: CheckId) -> String {
    format!("gander/check/{}", check.0)
}

fn send(event: &Event, client: &Client, service: &Weak<Service>) {
    let publish = |value: Value| client.notify("textDocument/publishDiagnostics", value);
    match event {
        Event::Diagnostics { document, diagnostics } => {
            publish(publish_json(document, diagnostics, client.encoding));
        }
        Event::Outdated { document } => {
            let value = json!({ "uri": document.uri.as_str(), "version": document.version });
            client.notify("gander/outdated", value);
            refresh(client);
        }
        Event::Closed(uri) => publish(json!({ "uri": uri.as_str(), "diagnostics": [] })),
        Event::CheckStarted { check, document } => {
            check_state(client, *check, document, json!({ "state": "started" }));
            if client.abilities.progress {
                let token = token(*check);
                client.request("window/workDoneProgress/create", json!({ "token": token }));
                let name = document.uri.as_str().rsplit('/').next().unwrap_or("");
                let value = json!({
                    "kind": "begin", "title": format!("gander: {name}"), "cancellable": true,
                });
                client.notify("$/progress", json!({ "token": token, "value": value }));
            }
        }
        Event::Claims { check, document, system, claims } => {
            let claims: Vec<Value> =
                claims.iter().map(|(name, kind)| json!({ "claim": name, "kind": kind })).collect();
            let more = json!({ "state": "deciding", "system": system, "claims": claims });
            check_state(client, *check, document, more);
        }
        Event::Progress { check, settled, open, engines, .. } => {
            if client.abilities.progress {
                let said = engines.last().map(|(engine, text)| format!("; {engine}: {text}"));
                let text = format!("{settled} of {} claims", settled + open);
                let message = text + &said.unwrap_or_default();
                let value = json!({ "kind": "report", "message": message });
                client.notify("$/progress", json!({ "token": token(*check), "value": value }));
            }
        }
        Event::Verdict { document, record, .. } => {
            let mut value = event_json(event);
            // Evidence may be large; `gander.result` has it.
            value["result"]["evidence"] = Value::Null;
            value["range"] = ranged(document, record.span, client);
            let steps = record.steps.iter().map(|step| {
                json!({ "range": ranged(document, Some(step.span), client), "text": step.text })
            });
            value["steps"] = steps.collect();
            client.notify("gander/verdict", value);
        }
        Event::Explained { check, document, explanation } => {
            let Some(service) = service.upgrade() else { return };
            for result in explanation.views.iter().flat_map(|v| &v.results) {
                let claim = &result.property;
                let (text, elements) = explained(&service, &document.uri, claim, client);
                let value = json!({
                    "uri": document.uri.as_str(), "version": document.version, "check": check.0,
                    "claim": claim, "text": text, "elements": elements,
                });
                client.notify("gander/explained", value);
            }
        }
        Event::CheckEnded { check, document, ending } => {
            let mut value = event_json(event);
            value["state"] = "ended".into();
            check_state(client, *check, document, value);
            if client.abilities.progress {
                let message = match ending {
                    CheckEnding::Finished { seconds, .. } => format!("done in {seconds:.1} s"),
                    CheckEnding::Rejected => "the text has errors".to_string(),
                    CheckEnding::Superseded => "the text was changed".to_string(),
                    CheckEnding::Cancelled => "cancelled".to_string(),
                    CheckEnding::Broke(_) => "gander failed".to_string(),
                };
                let value = json!({ "kind": "end", "message": message });
                client.notify("$/progress", json!({ "token": token(*check), "value": value }));
            }
            if let CheckEnding::Broke(why) = ending {
                client.show(1, &format!("a check failed inside; please report it: {why}"));
            }
            refresh(client);
        }
        Event::Lagged => {
            let Some(service) = service.upgrade() else { return };
            for uri in service.documents() {
                if let (Some(document), Some(diagnostics)) =
                    (service.document(&uri), service.diagnostics(&uri))
                {
                    publish(publish_json(&document, &diagnostics, client.encoding));
                }
            }
        }
    }
}

/// Has lenses and hints asked for again.
fn refresh(client: &Client) {
    if client.abilities.refresh_lenses {
        client.request("workspace/codeLens/refresh", Value::Null);
    }
    if client.abilities.refresh_inlays {
        client.request("workspace/inlayHint/refresh", Value::Null);
    }
}

fn ranged(document: &Document, span: Option<gander_lang::Span>, client: &Client) -> Value {
    span.map_or(Value::Null, |span| range_json(document, span, client.encoding))
}

fn check_state(client: &Client, check: CheckId, document: &Document, more: Value) {
    let mut value = json!({
        "uri": document.uri.as_str(), "version": document.version, "check": check.0,
    });
    if let (Some(all), Value::Object(more)) = (value.as_object_mut(), more) {
        all.extend(more);
    }
    client.notify("gander/check", value);
}

/// The explanation of a claim in Markdown, and the places of its core.
pub(crate) fn explained(
    service: &Service,
    uri: &Uri,
    claim: &str,
    client: &Client,
) -> (String, Vec<Value>) {
    let text = service.claim_text(uri, claim);
    let mut elements = Vec::new();
    if let (Some((explanation, Freshness::Current)), Some(document)) =
        (service.explanation(uri, claim), service.document(uri))
    {
        for view in &explanation.views {
            let results = view.results.iter().filter(|r| r.property == claim);
            let core = results.filter_map(|r| r.cores.first()).flat_map(|c| &c.elements);
            for element in core.map(|e| &view.elements[*e]) {
                let span = element
                    .span
                    .map(|(start, end)| gander_lang::Span::new(start as u32, end as u32));
                elements.push(json!({
                    "name": element.name, "kind": element.kind,
                    "range": ranged(&document, span, client),
                }));
            }
        }
    }
    (text, elements)
}
