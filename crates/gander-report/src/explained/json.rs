//! Explanations as JSON; docs/explain.md describes every field, docs/gander-explain.schema.json is its JSON Schema.

use serde_json::{Map, Value, json};

use super::{ExplainView, ExplainedView};
use crate::why::run_json;

/// The name of the form; a change that could break a reader changes it.
pub const EXPLAIN_SCHEMA: &str = "gander-explain/1";

/// The object for one file.
pub fn explain_json(view: &ExplainView) -> Value {
    let results: Vec<Value> = view.results.iter().map(|r| result(view, r)).collect();
    let mut object = json!({ "schema": EXPLAIN_SCHEMA, "results": results });
    if !view.runs.is_empty() {
        object["runs"] = view.runs.iter().map(|r| run_json(&view.elements, r)).collect();
    }
    object
}

fn names(view: &ExplainView, elements: &[usize]) -> Value {
    json!(elements.iter().map(|&e| view.elements[e].name.as_str()).collect::<Vec<_>>())
}

fn result(view: &ExplainView, r: &ExplainedView) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_string(), value);
    put("property", json!(r.property));
    put("cores", r.cores.iter().map(|c| names(view, c)).collect());
    put("must", names(view, &r.must));
    put("may", names(view, &r.may));
    put("complete", json!(r.complete));
    if let Some(found) = r.found {
        put("found", json!(found));
    }
    put("approximate", json!(r.approximate));
    if let Some(cuts) = &r.cut_sets {
        put("cut_sets", cuts.iter().map(|c| names(view, c)).collect());
    }
    if let Some(bound) = r.bound {
        put("bound", json!(bound));
    }
    if let Some(core) = &r.at_bound {
        put("at_bound", names(view, core));
    }
    Value::Object(object)
}
