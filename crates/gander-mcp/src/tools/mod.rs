//! The tools, with the schemas of their arguments and answers (docs/mcp.md).

pub(crate) mod certify;
pub(crate) mod counterexample;
pub(crate) mod explain;
pub(crate) mod simulate;
pub(crate) mod suggest;

use serde_json::{Map, Value, json};

use crate::session::LANGUAGES;
use simulate::ACTIONS;

/// A tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToolInfo {
    /// Its name in the protocol.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does.
    pub description: &'static str,
    /// It changes no file.
    pub is_read_only: bool,
}

/// All tools.
pub const TOOLS: [ToolInfo; 6] = [
    ToolInfo {
        name: "check",
        title: "Decide all claims of a model",
        description: "Decides every claim of a model: holds, fails, unknown or vacuous, each with \
            evidence that was checked independently. Always all claims, so that none can be left \
            out. The answer names the SHA-256 of the text that was checked, what is assumed, and \
            what was removed or changed against earlier texts of the document. `unknown` is \
            neither a proof nor a counterexample; `vacuous` shows nothing. To check an edit of a \
            file before it is written, give both `path` and `model`.",
        is_read_only: true,
    },
    ToolInfo {
        name: "explain",
        title: "Explain a verdict",
        description: "Explains one claim: the parts of the model that a proof needs, or a \
            simplified run with the parts that force it.",
        is_read_only: true,
    },
    ToolInfo {
        name: "counterexample",
        title: "Show the run that decides a claim",
        description: "The run that refutes a claim, or that shows a claim about reachability. If \
            the claim is unknown there is none, which does not mean that none exists.",
        is_read_only: true,
    },
    ToolInfo {
        name: "simulate_step",
        title: "Step through a model",
        description: "Begins a simulation of a model, takes a step, or goes back. Answers with \
            the state, the claims that are false in it, and the possible steps.",
        is_read_only: true,
    },
    ToolInfo {
        name: "suggest_next_step",
        title: "What to try for a claim that is unknown",
        description: "For a claim that was not decided: what stopped each engine, a counterexample \
            to induction (states of which none is known to be reachable), and what to try. \
            Suggestions that would change the claim say so.",
        is_read_only: true,
    },
    ToolInfo {
        name: "certify",
        title: "Check evidence again, and save it",
        description: "Checks evidence against the text of a model again: a handle of this session, \
            or evidence that you have. `save_as` saves accepted evidence in a new file below the \
            folder of the server; its SHA-256 is the handle.",
        is_read_only: false,
    },
];

/// The tool with a name.
pub fn tool(name: &str) -> Option<&'static ToolInfo> {
    TOOLS.iter().find(|tool| tool.name == name)
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

impl ToolInfo {
    /// The names of its arguments.
    pub fn arguments(&self) -> Vec<&'static str> {
        let own: &[&'static str] = match self.name {
            "explain" | "counterexample" | "suggest_next_step" => &["claim"],
            "simulate_step" => &[
                "action",
                "simulation",
                "system",
                "start",
                "values",
                "seed",
                "evidence_handle",
                "transition",
                "params",
                "next",
                "steps",
            ],
            "certify" => &["evidence_handle", "evidence", "save_as"],
            _ => &[],
        };
        let shared = ["model", "language", "path", "document", "timeout_seconds"];
        shared.iter().chain(own).copied().collect()
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        let all = object(argument_schemas());
        let names = self.arguments();
        let properties: Map<String, Value> = names
            .iter()
            .filter_map(|name| Some((name.to_string(), all.get(*name)?.clone())))
            .collect();
        let required: &[&str] = match self.name {
            "explain" | "counterexample" | "suggest_next_step" => &["claim"],
            "simulate_step" => &["action"],
            _ => &[],
        };
        object(json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }))
    }

    /// The JSON Schema of its answers.
    pub fn output_schema(&self) -> Map<String, Value> {
        let mut properties = object(json!({
            "schema": { "const": "gander-mcp/1" },
            "text": string("What a person would see"),
            "error": string("Why the call has no answer"),
            "document": string("The document"),
            "model_sha256": string("SHA-256 of the text that the answer is about"),
            "conclusion": string("`rejected`: the text has errors, so nothing was checked"),
            "diagnostics": list(open(), "Messages about the text (docs/json.md)"),
        }));
        properties.extend(object(match self.name {
            "check" => check_fields(),
            "explain" => json!({
                "claim": string("The claim"),
                "explanation": nullable("object", "docs/gander-explain.schema.json; null if it is too long"),
                "notices": list(json!({ "type": "string" }), "Notices"),
            }),
            "counterexample" => json!({
                "claim": claim(),
                "role": { "enum": ["counterexample", "witness", "none", "unknown"] },
                "run": nullable("object", "The run as an evidence file (docs/evidence.md)"),
                "steps": list(open(), "Its steps: number, action, node, changes, line of the transition"),
            }),
            "simulate_step" => json!({
                "simulation": { "type": "integer", "description": "For further calls" },
                "system": string("The system"),
                "step": { "type": "integer", "description": "Steps taken so far" },
                "node": string("Where the system is"),
                "values": { "type": "object", "additionalProperties": { "type": "string" } },
                "choices": list(open(), "Transitions: parameters, an example, or why not"),
                "violated": list(json!({ "type": "string" }), "Claims `always` that are false here"),
                "step_limit": nullable("string", "The limit of the model that the run has reached"),
            }),
            "suggest_next_step" => json!({
                "claim": claim(),
                "obstacles": nullable("array", "What stopped each engine"),
                "induction_counterexample": nullable("object", "docs/json.md, `induction`"),
                "suggestions": list(json!({
                    "type": "object",
                    "required": ["kind", "text", "changes_claim"],
                    "properties": {
                        "kind": { "type": "string" },
                        "text": { "type": "string" },
                        "changes_claim": { "type": "boolean", "description": "It decides another question" },
                    },
                }), "What to try"),
            }),
            _ => json!({
                "result": { "enum": ["accepted", "rejected", "undecided"] },
                "claim": string("The claim"),
                "verdict": { "enum": ["holds", "fails"] },
                "why": string("The result in words"),
                "evidence_handle": nullable("string", "The handle, if it was given"),
                "made_for_this_text": { "type": "boolean" },
                "warnings": list(json!({ "type": "string" }), "Warnings of the check"),
                "saved_as": nullable("string", "The file, if it was saved"),
            }),
        }));
        object(json!({
            "type": "object",
            "properties": properties,
            "required": ["schema", "text"],
            "additionalProperties": false,
        }))
    }
}

fn string(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn open() -> Value {
    json!({ "type": "object" })
}

fn list(items: Value, description: &str) -> Value {
    json!({ "type": "array", "items": items, "description": description })
}

fn nullable(kind: &str, description: &str) -> Value {
    json!({ "type": [kind, "null"], "description": description })
}

/// A claim of an answer: the object of docs/json.md, and what is added.
fn claim() -> Value {
    json!({
        "type": "object",
        "required": ["claim", "kind", "verdict", "text", "origin", "means", "evidence_handle"],
        "properties": {
            "claim": { "type": "string" },
            "kind": { "type": "string" },
            "verdict": { "enum": ["holds", "fails", "unknown", "vacuous"] },
            "text": { "type": "string" },
            "origin": { "enum": ["written", "range", "structural"] },
            "means": { "type": "string" },
            "evidence_handle": { "type": ["string", "null"] },
        },
    })
}

fn check_fields() -> Value {
    let changes = json!({
        "type": ["object", "null"],
        "required": ["from_model_sha256", "from_sources_sha256", "may_be_weaker", "counts"],
        "properties": { "may_be_weaker": { "type": "boolean" } },
    });
    json!({
        "conclusion": {
            "enum": [
                "all-claims-hold", "some-claim-fails", "vacuous", "undecided", "nothing-claimed",
                "rejected", "disagreement", "internal-error",
            ],
            "description": "The worst of all claims",
        },
        "summary": string("The conclusion in a sentence"),
        "counts": { "type": "object", "additionalProperties": { "type": "integer" } },
        "claims": list(claim(), "The claims, those that do not hold first"),
        "claims_left_out": { "type": "integer" },
        "assumptions": list(json!({ "type": "string" }), "Assumed, not shown"),
        "bounds": list(json!({ "type": "string" }), "What the check does not cover"),
        "warnings": list(json!({ "type": "string" }), "Claims that were removed or may be weaker"),
        "changes": {
            "type": "object",
            "required": ["since_previous", "since_first"],
            "properties": { "since_previous": changes, "since_first": changes },
        },
        "internal_errors": list(json!({ "type": "string" }), "Evidence that failed its check"),
        "stopped": nullable("string", "Why the check ended early"),
        "seconds": { "type": "number" },
        "sources_sha256": string("SHA-256 of the text with all files that it includes"),
    })
}

fn argument_schemas() -> Value {
    let languages: Vec<&str> = LANGUAGES.iter().map(|(name, _)| *name).collect();
    let values = |description: &str| {
        json!({
            "type": "object",
            "additionalProperties": { "type": ["string", "number", "boolean"] },
            "description": description,
        })
    };
    let natural =
        |description: &str| json!({ "type": "integer", "minimum": 0, "description": description });
    json!({
        "model": string("The text of the model. With `path`: an edit of that file, which is not written"),
        "language": {
            "enum": languages,
            "description": "The language of `model`; not needed with `path`",
        },
        "path": string("A file below the folder of the server, relative to it"),
        "document": string("The name under which texts are compared; by default `path`, or `model`"),
        "timeout_seconds": {
            "type": "number", "exclusiveMinimum": 0, "description": "The time limit of the call",
        },
        "claim": string("The name of a claim"),
        "action": { "enum": ACTIONS, "description": "What to do: `begin` needs a model, the others `simulation`" },
        "simulation": natural("The number that `begin` gave"),
        "system": string("With `begin`: the system, if the model has several"),
        "start": string("With `begin`: the start, if there are several"),
        "values": values("With `begin`: values of variables in the first state"),
        "seed": natural("With `begin`: the seed of random choices"),
        "evidence_handle": string("Evidence of this session; with `begin`, a run to begin with"),
        "evidence": { "type": "object", "description": "Evidence in its file form (docs/evidence.md)" },
        "save_as": string("A new file for accepted evidence, ending with .evidence.json"),
        "transition": string("With `take`: the transition, or its gate"),
        "params": values("With `take`: values of parameters; others are chosen"),
        "next": values("With `take`: next values of variables that the effect leaves open"),
        "steps": natural("With `back`: how many steps, by default 1"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_has_a_schema() {
        let all = object(argument_schemas());
        for tool in &TOOLS {
            for name in tool.arguments() {
                assert!(all.contains_key(name), "{}: {name}", tool.name);
            }
            let schema = tool.input_schema();
            for required in schema["required"].as_array().unwrap() {
                assert!(schema["properties"].get(required.as_str().unwrap()).is_some());
            }
        }
    }
}
