//! Writer of evidence about maximal runs, and about what is always possible.

use gander_term::{Pool, TermId};
use serde_json::{Map, Value, json};

use super::write::{evidence_json, formulas_json, kind, run_json};
use super::{EvidenceFileError, MAX_FORMULA_CHARS};
use crate::claim::ClaimId;
use crate::evidence::{Choices, Evidence, NodeTerms, Rounds};
use crate::passes::{Aspect, liveness_to_safety};
use crate::system::System;

type Written<T> = Result<T, EvidenceFileError>;

fn wrong<T>(path: &str, message: &str) -> Written<T> {
    Err(EvidenceFileError::new(path, message))
}

pub(super) fn live_json(system: &System, claim: ClaimId, evidence: &Evidence) -> Written<Value> {
    match evidence {
        Evidence::Lasso { run, back_to } => {
            let mut object = run_json(system, run)?;
            object["kind"] = json!("lasso");
            object["back_to"] = json!(back_to);
            Ok(object)
        }
        Evidence::Recurrent { run, set, choices } => {
            let mut object = kind("recurrent");
            object.insert("run".into(), run_json(system, run)?);
            formulas_json(system, set, &mut object)?;
            object.insert("choices".into(), choices_json(system, choices)?);
            Ok(Value::Object(object))
        }
        Evidence::NoSuchRun { stuck, rounds } => {
            let mut object = kind("no-such-run");
            if let Some(stuck) = stuck {
                object.insert("stuck".into(), about(system, claim, &Aspect::Stuck, stuck)?);
            }
            object.insert("rounds".into(), rounds_json(system, claim, rounds)?);
            Ok(Value::Object(object))
        }
        Evidence::Possible { set, proof, ranks, choices } => {
            let mut object = kind("possible");
            formulas_json(system, set, &mut object)?;
            object.insert("ranks".into(), ranks_json(system, ranks)?);
            object.insert("choices".into(), choices_json(system, choices)?);
            object.insert("evidence".into(), inner(system, proof)?);
            Ok(Value::Object(object))
        }
        Evidence::Impossible { run, proof } => Ok(json!({
            "kind": "impossible",
            "run": run_json(system, run)?,
            "evidence": inner(system, proof)?,
        })),
        _ => wrong("evidence", "this is not evidence about maximal runs"),
    }
}

/// Evidence about a derived system with the same nodes and variables.
fn inner(system: &System, evidence: &Evidence) -> Written<Value> {
    if is_nested(evidence) {
        return wrong("evidence", "evidence about systems made of the given one cannot be nested");
    }
    evidence_json(system, ClaimId(0), evidence)
}

/// Evidence about a liveness-to-safety system.
fn about(system: &System, claim: ClaimId, aspect: &Aspect, evidence: &Evidence) -> Written<Value> {
    let of = liveness_to_safety(system, claim, aspect)
        .map_err(|e| EvidenceFileError::new("evidence", e.to_string()))?;
    inner(&of.system, evidence)
}

fn is_nested(evidence: &Evidence) -> bool {
    matches!(
        evidence,
        Evidence::OfChain(_)
            | Evidence::Outside { .. }
            | Evidence::Lasso { .. }
            | Evidence::Recurrent { .. }
            | Evidence::NoSuchRun { .. }
            | Evidence::Possible { .. }
            | Evidence::Impossible { .. }
    )
}

fn rounds_json(system: &System, claim: ClaimId, rounds: &Rounds) -> Written<Value> {
    match rounds {
        Rounds::AtMost { k, proof } => {
            let proof = about(system, claim, &Aspect::AtMost(*k), proof)?;
            Ok(json!({ "kind": "at-most", "k": k, "evidence": proof }))
        }
        Rounds::NoRepetition { bounds, proof } => {
            let mut shown = Map::new();
            for (v, bounds) in system.vars.iter().zip(bounds) {
                if let Some((low, high)) = bounds {
                    shown.insert(
                        v.name.clone(),
                        json!({ "low": low.to_string(), "high": high.to_string() }),
                    );
                }
            }
            let proof = about(system, claim, &Aspect::Repetition(bounds.clone()), proof)?;
            Ok(json!({ "kind": "no-repetition", "bounds": shown, "evidence": proof }))
        }
        Rounds::Ranking { invariant, ranks } => {
            let of = liveness_to_safety(system, claim, &Aspect::Rounds)
                .map_err(|e| EvidenceFileError::new("evidence.rounds", e.to_string()))?;
            let mut object = kind("ranking");
            formulas_json(&of.system, invariant, &mut object)?;
            object.insert("ranks".into(), ranks_json(&of.system, ranks)?);
            Ok(Value::Object(object))
        }
    }
}

fn shown(pool: &Pool, t: TermId) -> Written<Value> {
    let text = pool.display(t).to_string();
    if text.len() > MAX_FORMULA_CHARS / 4 {
        return wrong("evidence", "a term is too large to be written");
    }
    Ok(json!(text))
}

fn ranks_json(system: &System, ranks: &NodeTerms) -> Written<Value> {
    if ranks.by_node.len() != system.nodes.len() {
        return wrong("evidence.ranks", "there must be ranks for each node");
    }
    let mut object = Map::new();
    for (node, terms) in system.nodes.iter().zip(&ranks.by_node) {
        let terms: Written<Vec<Value>> = terms.iter().map(|&t| shown(&ranks.pool, t)).collect();
        object.insert(node.name.clone(), Value::Array(terms?));
    }
    Ok(Value::Object(object))
}

fn choices_json(system: &System, choices: &Choices) -> Written<Value> {
    let mut list = Vec::new();
    for c in &choices.list {
        let Some(t) = system.transitions.get(c.transition.index()) else {
            return wrong("evidence.choices", "there is an unknown transition");
        };
        let mut object = Map::new();
        object.insert("transition".into(), json!(t.name));
        object.insert("when".into(), shown(&choices.pool, c.when)?);
        let params = t.params.iter().map(|p| p.name.as_str()).zip(&c.params);
        let next = system.vars.iter().map(|v| v.name.as_str()).zip(&c.next);
        for (key, values) in [("params", params.collect::<Vec<_>>()), ("next", next.collect())] {
            let mut given = Map::new();
            for (name, value) in values {
                if let Some(value) = value {
                    given.insert(name.to_string(), shown(&choices.pool, *value)?);
                }
            }
            if !given.is_empty() {
                object.insert(key.into(), Value::Object(given));
            }
        }
        list.push(Value::Object(object));
    }
    Ok(Value::Array(list))
}
