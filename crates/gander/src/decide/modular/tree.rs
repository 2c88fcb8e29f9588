//! Contract trees: the evidence of a modular analysis (docs/semantics.md, section 5, kind 9).
//!
//! A tree is written as a list of parts, callees first. A part is a system of a node, given by the
//! node and the nodes that are abstracted in it, and evidence for claims of that system. To check
//! it, each system is built again from the source.

use gander_certify::{Basis, Certified, Checker, Rejection};
use gander_lang::lustre::Modules;
use gander_system::{
    ClaimId, Decided, EVIDENCE_SCHEMA, Provenance, System, Verdict, read_evidence, write_evidence,
};
use serde_json::{Value, json};

use super::facts::{Fact, Facts};

/// The word for the kind of evidence.
pub const CONTRACT_TREE: &str = "contract-tree";

/// True if a saved file has a contract tree.
pub fn is_contract_tree(file: &Value) -> bool {
    file.pointer("/evidence/kind").and_then(Value::as_str) == Some(CONTRACT_TREE)
}

/// Checks a saved contract tree against the nodes of a source. Returns the name of the claim as
/// well.
pub fn check_contract_tree(
    modules: &Modules,
    file: &Value,
    checker: &mut Checker,
) -> Result<(String, Certified), Rejection> {
    let mut certified = Certified::default();
    let mut check = |system: &System, claim: ClaimId, verdict: &Verdict| {
        let part = checker.check(system, claim, verdict)?;
        certified.queries += part.queries;
        certified.certificates += part.certificates;
        certified.basis.join(&part.basis);
        for warning in part.warnings {
            if !certified.warnings.contains(&warning) {
                certified.warnings.push(warning);
            }
        }
        Ok(())
    };
    let claim = check_tree(&mut Facts::new(modules), file, &mut check)?;
    Ok((claim, certified))
}

/// Checks evidence for a claim of a system.
pub(super) type EvidenceCheck<'a> =
    dyn FnMut(&System, ClaimId, &Verdict) -> Result<(), Rejection> + 'a;

/// Checks a tree; `facts` must be empty.
pub(super) fn check_tree(
    facts: &mut Facts<'_>,
    file: &Value,
    check: &mut EvidenceCheck<'_>,
) -> Result<String, Rejection> {
    only(file, &["schema", "system", "claim", "verdict", "evidence", "provenance"], "")?;
    Provenance::of_file(file).map_err(|e| wrong(e.to_string()))?;
    let schema = text(file, "schema", "")?;
    if schema != EVIDENCE_SCHEMA {
        return Err(wrong(format!("the schema is `{schema}`, not `{EVIDENCE_SCHEMA}`")));
    }
    if text(file, "verdict", "")? != "holds" {
        return Err(wrong("a contract tree can only show that a claim holds"));
    }
    let root = text(file, "system", "")?;
    if !facts.roots().iter().any(|r| r == root) {
        return Err(wrong(format!("`{root}` is no root of the program")));
    }
    let name = text(file, "claim", "")?;
    let tree = &file["evidence"];
    only(tree, &["kind", "parts"], "evidence")?;
    if !is_contract_tree(file) {
        return Err(wrong("the evidence is not a contract tree"));
    }
    for (i, part) in list(tree, "parts", "evidence")?.iter().enumerate() {
        check_part(facts, part, &format!("evidence.parts[{i}]"), check)?;
    }
    let whole = facts.whole(root).ok_or_else(|| wrong(format!("there is no node `{root}`")))?;
    let source = whole
        .system
        .claims()
        .iter()
        .position(|c| c.name == name)
        .and_then(|i| whole.sources[i].clone());
    let source = source.ok_or_else(|| wrong(format!("`{root}` has no claim `{name}`")))?;
    match facts.implied_by(root, &source) {
        Some(_) => Ok(name.to_string()),
        None => Err(wrong(format!("the parts do not show `{name}`"))),
    }
}

fn check_part(
    facts: &mut Facts<'_>,
    part: &Value,
    path: &str,
    check: &mut EvidenceCheck<'_>,
) -> Result<(), Rejection> {
    only(part, &["node", "abstracted", "proofs"], path)?;
    let node = text(part, "node", path)?;
    let mut abstracted = Vec::new();
    for name in list(part, "abstracted", path)? {
        let name =
            name.as_str().ok_or_else(|| wrong(format!("{path}.abstracted: names are expected")))?;
        let open = facts.unproved_promises(name);
        let open = open.ok_or_else(|| {
            wrong(format!("{path}.abstracted: `{name}` cannot be looked at alone"))
        })?;
        if let Some(promise) = open.first() {
            return Err(wrong(format!(
                "{path}: `{name}` is abstracted, but its `{promise}` was not proved before"
            )));
        }
        abstracted.push(name.to_string());
    }
    let of = facts.part(node, &abstracted);
    let of = of.ok_or_else(|| {
        wrong(format!("{path}: there is no system of `{node}` with these nodes abstracted"))
    })?;
    // All proofs are checked before any becomes a fact: proofs of one part do not rely on each
    // other.
    let mut proved = Vec::new();
    for (i, proof) in list(part, "proofs", path)?.iter().enumerate() {
        let at = |why: String| wrong(format!("{path}.proofs[{i}]: {why}"));
        let read = read_evidence(&of.system, proof).map_err(|e| at(e.to_string()))?;
        if read.verdict != Decided::Holds {
            return Err(at("this claim fails".to_string()));
        }
        let verdict = Verdict::Holds(read.evidence);
        check(&of.system, read.claim, &verdict).map_err(|rejection| match rejection {
            Rejection::Wrong(why) => at(why),
            Rejection::Undecided(why) => Rejection::Undecided(format!("{path}.proofs[{i}]: {why}")),
        })?;
        proved.push(Fact {
            node: node.to_string(),
            claim: read.claim,
            part: of.clone(),
            verdict,
            engine: String::new(),
            basis: Basis::default(),
        });
    }
    for fact in proved {
        facts.establish(fact).map_err(|why| wrong(format!("{path}: {why}")))?;
    }
    Ok(())
}

/// A tree that proves a claim, and the nodes that are abstracted in it.
pub(super) struct Tree {
    pub(super) file: Value,
    pub(super) abstracted: Vec<String>,
    /// What its proofs rest on together.
    pub(super) basis: Basis,
}

/// The tree that proves a claim of `root` which the facts `implying` imply.
pub(super) fn write_tree(
    facts: &mut Facts<'_>,
    root: &System,
    claim: &str,
    implying: &[usize],
) -> Option<Tree> {
    let mut needed = vec![false; facts.list.len()];
    let mut stack = implying.to_vec();
    let mut abstracted: Vec<String> = Vec::new();
    while let Some(f) = stack.pop() {
        if std::mem::replace(&mut needed[f], true) {
            continue;
        }
        let part = facts.list[f].part.clone();
        for node in &part.abstracted {
            let whole = facts.whole(node)?;
            for source in whole
                .sources
                .iter()
                .flatten()
                .filter(|s| s.instance.is_empty() && s.role.is_promise())
            {
                stack.extend(facts.implied_by(node, source)?);
            }
            if !abstracted.contains(node) {
                abstracted.push(node.clone());
            }
        }
    }
    let (mut parts, mut basis): (Vec<Value>, Basis) = Default::default();
    let mut last: Option<(usize, Vec<Value>)> = None;
    let close =
        |last: &mut Option<(usize, Vec<Value>)>, parts: &mut Vec<Value>, facts: &Facts<'_>| {
            if let Some((f, proofs)) = last.take() {
                let fact = &facts.list[f];
                parts.push(
                json!({ "node": fact.node, "abstracted": fact.part.abstracted, "proofs": proofs }),
            );
            }
        };
    // Facts are in the order in which they were proved, so each follows those that it relies on.
    for f in (0..needed.len()).filter(|&f| needed[f]) {
        let fact = &facts.list[f];
        basis.join(&fact.basis);
        let proof = write_evidence(&fact.part.system, fact.claim, &fact.verdict).ok()?;
        match &mut last {
            Some((g, proofs)) if std::ptr::eq(&*facts.list[*g].part, &*fact.part) => {
                proofs.push(proof)
            }
            _ => {
                close(&mut last, &mut parts, facts);
                last = Some((f, vec![proof]));
            }
        }
    }
    close(&mut last, &mut parts, facts);
    let file = json!({
        "schema": EVIDENCE_SCHEMA,
        "system": root.name(),
        "claim": claim,
        "verdict": "holds",
        "evidence": { "kind": CONTRACT_TREE, "parts": parts },
    });
    Some(Tree { file, abstracted, basis })
}

fn wrong(why: impl Into<String>) -> Rejection {
    Rejection::Wrong(why.into())
}

fn at(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

fn text<'v>(object: &'v Value, key: &str, path: &str) -> Result<&'v str, Rejection> {
    object
        .get(key)
        .and_then(Value::as_str)
        .ok_or_else(|| wrong(format!("{}: a text is expected", at(path, key))))
}

fn list<'v>(object: &'v Value, key: &str, path: &str) -> Result<&'v [Value], Rejection> {
    let list = object.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).ok_or_else(|| wrong(format!("{}: a list is expected", at(path, key))))
}

fn only(object: &Value, keys: &[&str], path: &str) -> Result<(), Rejection> {
    let Some(fields) = object.as_object() else {
        return Err(wrong(format!("{path}: an object is expected")));
    };
    match fields.keys().find(|k| !keys.contains(&k.as_str())) {
        Some(key) => Err(wrong(format!("{}: this key has no meaning here", at(path, key)))),
        None => Ok(()),
    }
}
