//! Explained runs as JSON; docs/explain.md describes every field.

use serde_json::{Value, json};

use super::{FreeView, LeastView, RunView};
use crate::explained::ElementView;

/// The object for one run.
pub fn run_json(elements: &[ElementView], run: &RunView) -> Value {
    let names =
        |list: &[usize]| -> Vec<&str> { list.iter().map(|&e| elements[e].name.as_str()).collect() };
    json!({
        "property": run.property,
        "verdict": run.verdict,
        "length": least(&run.length),
        "changes": run.changes.as_ref().map(least),
        "free": run.free.iter().map(free).collect::<Vec<Value>>(),
        "maximal": run.maximal,
        "follows": follows(run),
        "forced_by": run.forced.as_deref().map(names),
        "forced_minimal": run.forced_minimal,
        "contrast": run.contrast.as_ref().map(|c| json!({
            "same_transitions": c.same_transitions,
            "differing": c.differing,
            "of": c.of,
            "least": c.least,
            "differences": c.differences.iter().map(|d| json!({
                "step": d.step,
                "name": d.name,
                "chosen": d.chosen,
                "here": d.here,
                "there": d.there,
            })).collect::<Vec<Value>>(),
        })),
        "notes": run.notes,
        "evidence": run.evidence,
    })
}

fn least(l: &LeastView) -> Value {
    json!({ "count": l.count, "found": l.before, "least": l.least })
}

fn free(f: &FreeView) -> Value {
    let bound = |b: &Option<(String, bool)>| {
        b.as_ref().map(|(value, open)| json!({ "value": value, "open": open }))
    };
    json!({
        "step": f.step,
        "name": f.name,
        "value": f.value,
        "any": f.any,
        "low": bound(&f.low),
        "high": bound(&f.high),
    })
}

/// Computed values that depend on values that can be changed.
fn follows(run: &RunView) -> Vec<Value> {
    let Some(timeline) = &run.timeline else { return Vec::new() };
    let mut all = Vec::new();
    for row in timeline.groups.iter().flat_map(|g| &g.rows) {
        for (step, cell) in timeline.steps.iter().zip(&row.cells) {
            if cell.mark == super::CellMark::Varies {
                all.push(
                    json!({ "step": step.number, "name": row.full_name, "value": cell.value }),
                );
            }
        }
    }
    all
}
