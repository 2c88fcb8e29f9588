//! Explanations as JSON; docs/explain.md describes every field, docs/gander-explain.schema.json is
//! its JSON Schema.

use serde_json::{Map, Value, json};

use super::coverage::coverage;
use super::{Completeness, CoreStatus, ExplainView, ExplainedView, UnexplainedView};
use crate::explained_runs::run_json;

/// The name of the format; an incompatible change gets a new name.
pub const EXPLAIN_SCHEMA: &str = "gander-explain/1";

/// The object for one file with all its systems.
pub fn explain_json(views: &[ExplainView]) -> Value {
    let results: Vec<Value> =
        views.iter().flat_map(|v| v.results.iter().map(|r| result(v, r))).collect();
    let without: Vec<Value> =
        views.iter().flat_map(|v| v.unexplained.iter().map(no_core)).collect();
    let completeness = views.iter().map(ExplainView::completeness).max().unwrap_or_default();
    let mut object = json!({
        "schema": EXPLAIN_SCHEMA,
        "completeness": completeness.word(),
        "results": results,
        "without_core": without,
    });
    let runs: Vec<Value> =
        views.iter().flat_map(|v| v.runs.iter().map(|r| run_json(&v.elements, r))).collect();
    if !runs.is_empty() {
        object["runs"] = runs.into();
    }
    object
}

/// Coverage scores with bounds, one object for each length of runs.
pub fn coverage_json(view: &ExplainView) -> Value {
    let one = |view: ExplainView| {
        let c = coverage(&view);
        let properties: Vec<Value> = c
            .properties
            .iter()
            .map(|p| {
                json!({ "property": p.property, "ivc": p.ivc.json(), "may": p.may.json(),
                        "must": p.must.json() })
            })
            .collect();
        let owners: Vec<Value> = c
            .owners
            .iter()
            .map(|(name, share)| json!({ "owner": name, "covered": share.json() }))
            .collect();
        json!({
            "completeness": c.completeness.word(),
            "properties": properties,
            "model": c.model.json(),
            "owners": owners,
            "uncovered": names(&view, &c.uncovered),
            "open": names(&view, &c.open),
        })
    };
    view.by_bound().into_iter().map(one).collect()
}

fn no_core(u: &UnexplainedView) -> Value {
    let mut object = json!({ "property": u.property, "status": u.status.word(), "why": u.why });
    if let Some(bound) = u.bound {
        object["bound"] = json!(bound);
    }
    object
}

fn names(view: &ExplainView, elements: &[usize]) -> Value {
    json!(elements.iter().map(|&e| view.elements[e].name.as_str()).collect::<Vec<_>>())
}

fn status(status: CoreStatus) -> &'static str {
    match status {
        CoreStatus::Minimal => "minimal",
        CoreStatus::Enough => "enough",
        CoreStatus::Unchecked => "unchecked",
    }
}

fn result(view: &ExplainView, r: &ExplainedView) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_string(), value);
    put("property", json!(r.property));
    // A bounded core needs no verdict.
    if r.bound.is_none() {
        put("verdict", json!(r.proves.word()));
    }
    if !r.about.is_empty() {
        put("about", names(view, &r.about));
    }
    put("cores", r.cores.iter().map(|c| names(view, &c.elements)).collect());
    put("core_status", r.cores.iter().map(|c| json!(status(c.status))).collect());
    put("must", names(view, &r.must));
    put("may", names(view, &r.may));
    put("complete", json!(r.complete));
    if r.all_requested {
        put("found", json!(r.minimal()));
    }
    put("completeness", json!(r.completeness.word()));
    put("approximate", json!(r.completeness != Completeness::Exact));
    if !r.notes.is_empty() {
        put("notes", json!(r.notes));
    }
    if let Some(cuts) = &r.cut_sets {
        put("cut_sets", cuts.iter().map(|c| names(view, c)).collect());
    }
    if let Some(bound) = r.bound {
        put("bound", json!(bound));
    }
    if let Some(core) = &r.at_bound {
        put("at_bound", names(view, &core.elements));
        put("at_bound_status", json!(status(core.status)));
    }
    Value::Object(object)
}
