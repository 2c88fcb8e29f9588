//! Writer of evidence in JSON.

use gander_term::{Pool, Value as TermValue};
use serde_json::{Map, Value, json};

use super::sharing::share;
use super::{Decided, EVIDENCE_SCHEMA, EvidenceFileError, MAX_FORMULA_CHARS, MAX_REPEAT_DEPTH};
use crate::claim::ClaimId;
use crate::evidence::{Evidence, Leg, NodeFormulas, Run, Verdict};
use crate::passes::{chain, outside};
use crate::system::System;

/// The file of a decided claim of `system`, which must be the system of the evidence.
pub fn write_evidence(
    system: &System,
    claim: ClaimId,
    verdict: &Verdict,
) -> Result<Value, EvidenceFileError> {
    let (word, evidence) = match verdict {
        Verdict::Holds(e) => (Decided::Holds.word(), e),
        Verdict::Fails(e) => (Decided::Fails.word(), e),
        Verdict::Unknown { .. } => {
            return Err(EvidenceFileError::new("", "an unknown verdict has no evidence"));
        }
    };
    let name = match system.claims.get(claim.index()) {
        Some(c) => &c.name,
        None => return Err(EvidenceFileError::new("", "the system has no such claim")),
    };
    Ok(json!({
        "schema": EVIDENCE_SCHEMA,
        "system": system.name,
        "claim": name,
        "verdict": word,
        "evidence": evidence_json(system, claim, evidence)?,
    }))
}

/// The `evidence` part of a file.
pub fn evidence_json(
    system: &System,
    claim: ClaimId,
    evidence: &Evidence,
) -> Result<Value, EvidenceFileError> {
    Ok(match evidence {
        Evidence::Run(run) => run_json(system, run)?,
        Evidence::Invariant(i) => {
            let mut object = kind("invariant");
            formulas_json(system, i, &mut object)?;
            Value::Object(object)
        }
        Evidence::KInductive { k, invariant, loop_free, no_restart } => {
            let mut object = kind("k-inductive");
            object.insert("k".into(), json!(k));
            object.insert("loop_free".into(), json!(loop_free));
            object.insert("no_restart".into(), json!(no_restart));
            formulas_json(system, invariant, &mut object)?;
            Value::Object(object)
        }
        Evidence::Diameter { k } => json!({ "kind": "diameter", "k": k }),
        Evidence::ClosedSet { states } => json!({ "kind": "closed-set", "states": states }),
        Evidence::Outside { trap, proof } => {
            let mut object = kind("outside");
            formulas_json(system, trap, &mut object)?;
            let without = outside(system, trap);
            let without = without.ok_or_else(|| {
                EvidenceFileError::new("evidence.formulas", "they are of another system")
            })?;
            if matches!(**proof, Evidence::Outside { .. } | Evidence::OfChain(_)) {
                return Err(EvidenceFileError::new(
                    "evidence",
                    "evidence about runs outside of a set cannot be nested",
                ));
            }
            object.insert("evidence".into(), evidence_json(&without, claim, proof)?);
            Value::Object(object)
        }
        Evidence::Refutation => json!({ "kind": "refutation" }),
        Evidence::Lasso { .. }
        | Evidence::Recurrent { .. }
        | Evidence::NoSuchRun { .. }
        | Evidence::Possible { .. }
        | Evidence::Impossible { .. } => super::live_write::live_json(system, claim, evidence)?,
        Evidence::OfChain(inner) => {
            if matches!(**inner, Evidence::OfChain(_)) {
                return Err(EvidenceFileError::new(
                    "evidence",
                    "evidence of a chain cannot be nested",
                ));
            }
            let c = chain(system, claim)
                .map_err(|e| EvidenceFileError::new("evidence", e.to_string()))?;
            json!({ "kind": "chain", "evidence": evidence_json(&c.system, ClaimId(0), inner)? })
        }
    })
}

pub(super) fn kind(word: &str) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("kind".into(), json!(word));
    object
}

pub(super) fn formulas_json(
    system: &System,
    f: &NodeFormulas,
    to: &mut Map<String, Value>,
) -> Result<(), EvidenceFileError> {
    if f.by_node.len() != system.nodes.len() {
        return Err(EvidenceFileError::new(
            "evidence.formulas",
            "there must be one formula for each node",
        ));
    }
    let shared = share(Pool::fork(&f.pool), &f.by_node);
    if shared.size > MAX_FORMULA_CHARS / 4 {
        return Err(EvidenceFileError::new(
            "evidence.formulas",
            "the formulas are too large to be written",
        ));
    }
    if !shared.definitions.is_empty() {
        let definitions: Vec<Value> = shared
            .definitions
            .iter()
            .map(|(name, t)| json!({ "name": name, "is": shared.pool.display(*t).to_string() }))
            .collect();
        to.insert("definitions".into(), Value::Array(definitions));
    }
    let mut formulas = Map::new();
    for (node, t) in system.nodes.iter().zip(&shared.formulas) {
        formulas.insert(node.name.clone(), json!(shared.pool.display(*t).to_string()));
    }
    to.insert("formulas".into(), Value::Object(formulas));
    Ok(())
}

pub(super) fn run_json(system: &System, run: &Run) -> Result<Value, EvidenceFileError> {
    let wrong = |what: &str| EvidenceFileError::new("evidence", format!("the run has {what}"));
    let start = system.starts.get(run.start.index()).ok_or_else(|| wrong("an unknown start"))?;
    let node = system.nodes.get(run.first.node.index()).ok_or_else(|| wrong("an unknown node"))?;
    Ok(json!({
        "kind": "run",
        "start": start.name,
        "first": { "node": node.name, "values": state_values(system, &run.first.values)? },
        "steps": legs_json(system, &run.legs, 0)?,
    }))
}

fn state_values(system: &System, values: &[TermValue]) -> Result<Value, EvidenceFileError> {
    named_values(system, system.vars.iter().map(|v| v.name.as_str()), values)
}

fn named_values<'a>(
    system: &System,
    names: impl ExactSizeIterator<Item = &'a str>,
    values: &[TermValue],
) -> Result<Value, EvidenceFileError> {
    if names.len() != values.len() {
        return Err(EvidenceFileError::new("evidence", "the run has a wrong number of values"));
    }
    let object =
        names.zip(values).map(|(n, v)| (n.to_string(), json!(system.pool.show_value(v)))).collect();
    Ok(Value::Object(object))
}

fn legs_json(system: &System, legs: &[Leg], depth: usize) -> Result<Value, EvidenceFileError> {
    if depth > MAX_REPEAT_DEPTH {
        return Err(EvidenceFileError::new(
            "evidence.steps",
            "repetitions are nested too deeply to be written",
        ));
    }
    let mut list = Vec::with_capacity(legs.len());
    for leg in legs {
        match leg {
            Leg::Repeat { times, body } => {
                list.push(json!({ "repeat": times, "body": legs_json(system, body, depth + 1)? }));
            }
            Leg::Step(step) => {
                let t = system.transitions.get(step.transition.index()).ok_or_else(|| {
                    EvidenceFileError::new("evidence.steps", "the run has an unknown transition")
                })?;
                let mut object = Map::new();
                object.insert("transition".into(), json!(t.name));
                if !t.params.is_empty() {
                    let params = named_values(
                        system,
                        t.params.iter().map(|p| p.name.as_str()),
                        &step.params,
                    )?;
                    object.insert("params".into(), params);
                }
                if let Some(next) = &step.next {
                    object.insert("next".into(), state_values(system, next)?);
                }
                list.push(Value::Object(object));
            }
        }
    }
    Ok(Value::Array(list))
}
