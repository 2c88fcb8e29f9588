//! What a check found, as JSON. docs/json.md describes every field, docs/gander.schema.json is its
//! JSON Schema.

use serde_json::{Map, Value, json};

use crate::text::NO_RUN;
use crate::view::diagnostic::{DiagnosticView, Place};
use crate::view::{
    CheckView, ClaimView, ClaimedView, Conjunct, ConstraintView, EngineView, InductionView,
    InvariantView, NodeInvariant, ScheduleView, SequenceEnd, ToolView, TraceRow, VerdictView,
};

/// The name of the format; an incompatible change gets a new name.
pub const SCHEMA: &str = "gander/1";

/// The name of the format of a stream.
pub const STREAM_SCHEMA: &str = "gander-stream/1";

/// A line of a stream: an event of a check (docs/json.md).
#[derive(Clone, Copy, Debug)]
pub enum StreamLine<'a> {
    /// The check of a file begins.
    Start,
    /// The claims of a system, with their names and kinds, are about to be decided.
    System {
        /// The name of the system.
        name: &'a str,
        /// Names and kinds.
        claims: &'a [(String, &'static str)],
    },
    /// A claim as the report has it.
    Result(&'a ClaimView),
    /// What is being tried.
    Progress {
        /// Time from the beginning.
        seconds: f64,
        /// Claims with a verdict.
        settled: usize,
        /// Claims without one.
        open: usize,
        /// What each engine said last.
        engines: &'a [(String, String)],
    },
    /// The check of a file is over. The rest of its report.
    End {
        /// The report.
        view: &'a CheckView,
        /// The exit code for this file.
        exit_code: u8,
    },
    /// The command is over.
    Exit(u8),
}

/// The object for one line of a stream, about this file.
pub fn stream_json(file: &str, line: StreamLine<'_>) -> Value {
    let rounded = |seconds: f64| (seconds * 1e6).round() / 1e6;
    match line {
        StreamLine::Start => json!({ "event": "start", "schema": STREAM_SCHEMA, "file": file }),
        StreamLine::System { name, claims } => {
            let claim = |(name, kind): &(String, &str)| json!({ "claim": name, "kind": kind });
            json!({
                "event": "system",
                "file": file,
                "system": name,
                "claims": claims.iter().map(claim).collect::<Vec<_>>(),
            })
        }
        StreamLine::Result(claim) => {
            json!({ "event": "result", "file": file, "result": claim_json(claim) })
        }
        StreamLine::Progress { seconds, settled, open, engines } => {
            let engine = |(name, text): &(String, String)| json!({ "engine": name, "text": text });
            json!({
                "event": "progress",
                "file": file,
                "seconds": rounded(seconds),
                "settled": settled,
                "open": open,
                "engines": engines.iter().map(engine).collect::<Vec<_>>(),
            })
        }
        StreamLine::End { view, exit_code } => {
            let mut object = json!({
                "event": "end",
                "file": file,
                "seconds": rounded(view.seconds),
                "exit_code": exit_code,
            });
            add_rest(&mut object, view);
            object
        }
        StreamLine::Exit(code) => json!({ "event": "exit", "exit_code": code }),
    }
}

/// The object for one file.
pub fn file_json(view: &CheckView) -> Value {
    let mut object = json!({
        "schema": SCHEMA,
        "file": view.file,
        "results": view.claims.iter().map(claim_json).collect::<Vec<_>>(),
    });
    add_rest(&mut object, view);
    object
}

/// Adds the fields of a report beside its results.
fn add_rest(object: &mut Value, view: &CheckView) {
    let mut diagnostics: Vec<Value> = view.diagnostics.iter().map(diagnostic_json).collect();
    for claim in &view.claims {
        diagnostics.extend(
            claim
                .warnings
                .iter()
                .map(|w| plain_json("verdict", "warning", &format!("{}: {w}", claim.name))),
        );
    }
    diagnostics.extend(
        view.internal_errors.iter().map(|message| plain_json("internal", "error", message)),
    );
    diagnostics.extend(
        view.disagreements.iter().map(|message| plain_json("disagreement", "error", message)),
    );
    diagnostics.extend(view.stopped.iter().map(|message| plain_json("stopped", "note", message)));
    diagnostics.extend(
        view.nothing_claimed_text().map(|text| plain_json("nothing-claimed", "error", text)),
    );
    let Some(map) = object.as_object_mut() else { return };
    map.insert("diagnostics".to_string(), Value::Array(diagnostics));
    let schedules = view.schedules.iter().map(schedule_json).collect();
    map.insert("schedules".to_string(), schedules);
    if !view.tools.is_empty() {
        map.insert("tools".to_string(), view.tools.iter().map(tool_json).collect());
    }
}

fn tool_json(tool: &ToolView) -> Value {
    json!({
        "tool": tool.tool,
        "answers": tool.answers,
        "checked": tool.checked,
        "seconds": (tool.seconds * 1e6).round() / 1e6,
        "ending": tool.ending,
    })
}

fn claimed_json(claimed: &ClaimedView) -> Value {
    json!({
        "tool": claimed.tool,
        "says": claimed.says,
        "seconds": (claimed.seconds * 1e6).round() / 1e6,
        "why": claimed.why,
        "disagrees": claimed.disagrees,
    })
}

fn schedule_json(schedule: &ScheduleView) -> Value {
    let rounded = |seconds: f64| (seconds * 1e6).round() / 1e6;
    let engine = |e: &EngineView| {
        json!({
            "engine": e.engine,
            "share": e.share,
            "after": e.after,
            "claims": e.claims,
            "began": e.began.map(rounded),
            "turns": e.turns,
            "seconds": rounded(e.used),
            "settled": e.settled,
            "facts": e.facts,
            "ending": e.ending,
        })
    };
    json!({
        "model": schedule.model,
        "plan": schedule.plan.as_ref().map(|(name, _)| name),
        "engines": schedule.engines.iter().map(engine).collect::<Vec<_>>(),
    })
}

/// The object for one result.
pub fn claim_json(claim: &ClaimView) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_string(), value);
    put("claim", json!(claim.name));
    put("kind", json!(claim.kind));
    put("verdict", json!(claim.verdict.word()));
    put("engine", json!(claim.engine));
    put("seconds", json!((claim.seconds * 1e6).round() / 1e6));
    let evidence = claim.verdict.evidence();
    put("length", json!(evidence.and_then(|e| e.shown.trace()).map(|t| t.length)));
    put("shortest", json!(claim.shortest.filter(|_| evidence.is_some())));
    match &claim.verdict {
        VerdictView::Unknown { explored_through, why } => {
            put("explored_through", json!(explored_through));
            let why: Vec<Value> =
                why.iter().map(|o| json!({ "engine": o.engine, "reason": o.reason })).collect();
            put("why", Value::Array(why));
        }
        VerdictView::Vacuous => {
            put("explored_through", Value::Null);
            put("why", json!([{ "engine": "start", "reason": NO_RUN }]));
        }
        _ => {
            put("explored_through", Value::Null);
            put("why", Value::Null);
        }
    }
    let rests_on = claim
        .basis
        .as_ref()
        .map(|b| json!({ "ground": b.ground, "solvers": b.solvers, "why_one": b.why_one }));
    put("rests_on", json!(rests_on));
    put("abstracted", json!(claim.abstracted));
    if let Some(steps) = &claim.within {
        put("within", json!(steps));
    }
    if !claim.claimed.is_empty() {
        put("claimed", claim.claimed.iter().map(claimed_json).collect());
    }
    if !claim.contradiction.is_empty() {
        let constraint = |c: &ConstraintView| {
            let at = |of: fn(&Place) -> u32| json!(c.place.as_ref().map(of));
            json!({
                "text": c.text, "line": at(|p| p.line), "column": at(|p| p.column),
                "end_line": at(|p| p.end_line), "end_column": at(|p| p.end_column),
            })
        };
        put("contradiction", Value::Array(claim.contradiction.iter().map(constraint).collect()));
    }
    if let Some(invariant) = &claim.invariant {
        put("invariant", invariant_json(invariant));
    }
    if let Some(induction) = &claim.induction {
        put("induction", induction_json(induction));
    }
    put("evidence", evidence.map_or(Value::Null, |e| e.saved.clone()));
    Value::Object(object)
}

fn invariant_json(view: &InvariantView) -> Value {
    let (k, loop_free, no_restart, nodes, left_out) = match view {
        InvariantView::Formulas { k, loop_free, no_restart, nodes, left_out } => {
            (k, loop_free, no_restart, nodes, left_out)
        }
        InvariantView::Other(why) => return json!({ "nodes": null, "why": why }),
    };
    let conjunct = |c: &Conjunct| json!({ "text": c.text, "of_claim": c.of_claim });
    let node = |n: &NodeInvariant| {
        json!({
            "node": n.node,
            "unreachable": n.unreachable,
            "conjuncts": n.conjuncts.iter().map(conjunct).collect::<Vec<_>>(),
        })
    };
    json!({
        "k": k,
        "loop_free": loop_free,
        "no_restart": no_restart,
        "nodes": nodes.iter().map(node).collect::<Vec<_>>(),
        "left_out": left_out,
    })
}

fn induction_json(view: &InductionView) -> Value {
    let (k, ends, trace, known, advice) = match view {
        InductionView::Counterexample { k, ends, trace, known, advice } => {
            (k, ends, trace, known, advice)
        }
        InductionView::None(why) => return json!({ "states": null, "why": why }),
    };
    let ends = match ends {
        SequenceEnd::Violation => "violation",
        SequenceEnd::Goal => "goal",
    };
    let state = |row: &TraceRow| {
        let values: Map<String, Value> =
            row.values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let action = if row.step == 0 { Value::Null } else { json!(row.action) };
        json!({ "action": action, "node": row.node, "values": values })
    };
    json!({
        "k": k,
        "ends": ends,
        "known_reachable": false,
        "proved": known,
        "states": trace.rows.iter().map(state).collect::<Vec<_>>(),
        "advice": advice,
    })
}

/// The object for one diagnostic.
pub fn diagnostic_json(d: &DiagnosticView) -> Value {
    let mut object = plain_json(&d.code, d.severity.word(), &d.message);
    if let Some(map) = object.as_object_mut() {
        if let Some(p) = &d.place {
            map.insert("file".to_string(), json!(p.file));
            map.insert("line".to_string(), json!(p.line));
            map.insert("column".to_string(), json!(p.column));
            map.insert("end_line".to_string(), json!(p.end_line));
            map.insert("end_column".to_string(), json!(p.end_column));
        }
        map.insert("help".to_string(), json!(d.help));
    }
    object
}

fn plain_json(code: &str, severity: &str, message: &str) -> Value {
    json!({
        "code": code, "severity": severity, "message": message,
        "file": null, "line": null, "column": null, "end_line": null, "end_column": null, "help": [],
    })
}
