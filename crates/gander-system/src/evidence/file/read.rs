//! Strict reader of evidence in JSON.

use gander_term::{Importer, Pool, Sort, SymbolId, Value as TermValue, parse_term, parse_value};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::sharing::Expansion;
use super::{
    Decided, EVIDENCE_SCHEMA, EvidenceFile, EvidenceFileError, MAX_FORMULA_CHARS, MAX_REPEAT_DEPTH,
    Provenance,
};
use crate::claim::ClaimId;
use crate::evidence::{Evidence, Leg, NodeFormulas, Run, State, Step};
use crate::passes::{chain, outside};
use crate::system::{NodeId, StartId, System, TransitionId};

pub(super) type Read<T> = Result<T, EvidenceFileError>;

/// Reads the text of an evidence file about `system`.
pub fn read_evidence_text(system: &System, text: &str) -> Read<EvidenceFile> {
    let json: Value = serde_json::from_str(text)
        .map_err(|e| EvidenceFileError::new("", format!("this is not JSON: {e}")))?;
    read_evidence(system, &json)
}

/// Reads an evidence file about `system`.
pub fn read_evidence(system: &System, json: &Value) -> Read<EvidenceFile> {
    let file = Object::of(json, "")?;
    let schema = file.text("schema")?;
    if schema != EVIDENCE_SCHEMA {
        return file.wrong("schema", format!("the schema is `{schema}`, not `{EVIDENCE_SCHEMA}`"));
    }
    file.only(&["schema", "system", "claim", "verdict", "evidence", "provenance"])?;
    Provenance::of_file(json)?;
    let name = file.text("system")?;
    if name != system.name {
        return file.wrong(
            "system",
            format!("the file is about `{name}`, the system is `{}`", system.name),
        );
    }
    let name = file.text("claim")?;
    let Some(claim) = system.claims.iter().position(|c| c.name == name) else {
        return file.wrong("claim", format!("the system has no claim `{name}`"));
    };
    let verdict = match file.text("verdict")? {
        "holds" => Decided::Holds,
        "fails" => Decided::Fails,
        other => return file.wrong("verdict", format!("`{other}` is neither `holds` nor `fails`")),
    };
    let claim = ClaimId::from(claim);
    let evidence = evidence(system, claim, &file.object("evidence")?, Nested::No)?;
    Ok(EvidenceFile { claim, verdict, evidence })
}

/// Whether the evidence is nested: about a system derived from the given one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nested {
    No,
    Inside,
}

pub(super) fn evidence(
    system: &System,
    claim: ClaimId,
    e: &Object<'_>,
    nested: Nested,
) -> Read<Evidence> {
    match e.text("kind")? {
        "run" => {
            e.only(&["kind", "start", "first", "steps"])?;
            Names::of(system).run(e).map(Evidence::Run)
        }
        "invariant" => {
            e.only(&["kind", "definitions", "formulas"])?;
            formulas(system, e).map(Evidence::Invariant)
        }
        "k-inductive" => {
            e.only(&["kind", "k", "loop_free", "no_restart", "definitions", "formulas"])?;
            let k = e.small("k")?;
            if k == 0 {
                return e.wrong("k", "`k` is at least 1");
            }
            let (loop_free, no_restart) = (e.truth("loop_free")?, e.truth("no_restart")?);
            Ok(Evidence::KInductive { k, invariant: formulas(system, e)?, loop_free, no_restart })
        }
        "diameter" => {
            e.only(&["kind", "k"])?;
            Ok(Evidence::Diameter { k: e.small("k")? })
        }
        "closed-set" => {
            e.only(&["kind", "states"])?;
            Ok(Evidence::ClosedSet { states: e.count("states")? })
        }
        "outside" if nested == Nested::No => {
            e.only(&["kind", "definitions", "formulas", "evidence"])?;
            let trap = formulas(system, e)?;
            let Some(without) = outside(system, &trap) else {
                return e.wrong("formulas", "they are of another system");
            };
            let proof =
                Box::new(evidence(&without, claim, &e.object("evidence")?, Nested::Inside)?);
            Ok(Evidence::Outside { trap, proof })
        }
        "refutation" => {
            e.only(&["kind"])?;
            Ok(Evidence::Refutation)
        }
        "chain" if nested == Nested::No => {
            e.only(&["kind", "evidence"])?;
            let of = chain(system, claim).or_else(|error| e.wrong("kind", error.to_string()))?;
            let inner = evidence(&of.system, ClaimId(0), &e.object("evidence")?, Nested::Inside)?;
            Ok(Evidence::OfChain(Box::new(inner)))
        }
        "lasso" | "recurrent" | "no-such-run" | "possible" | "impossible"
            if nested == Nested::No =>
        {
            super::live_read::live(system, claim, e)
        }
        other => e.wrong("kind", format!("`{other}` is no kind of evidence here")),
    }
}

pub(super) fn formulas(system: &System, e: &Object<'_>) -> Read<NodeFormulas> {
    // Names of definitions are declared in a separate pool.
    let mut pool = Pool::fork(&system.pool);
    let mut clean = Pool::fork(&system.pool);
    let mut importer = Importer::new();
    let mut allowed: FxHashSet<SymbolId> = system.vars.iter().map(|v| v.current).collect();
    let mut expansion = Expansion::default();
    let mut chars = 0;
    let mut read = |pool: &mut Pool, text: &str, path: String, allowed: &FxHashSet<SymbolId>| {
        chars += text.len();
        if chars > MAX_FORMULA_CHARS {
            return Err(EvidenceFileError::new(path, "the formulas are too long"));
        }
        let t = parse_term(pool, text)
            .map_err(|error| EvidenceFileError::new(&path, error.to_string()))?;
        match pool.free_symbols(&[t]).into_iter().find(|s| !allowed.contains(s)) {
            Some(s) => {
                let name = &pool.symbol(s).name;
                Err(EvidenceFileError::new(path, format!("`{name}` is not a state variable")))
            }
            None => Ok(t),
        }
    };
    if let Some(list) = e.fields.get("definitions") {
        for (i, definition) in array(list, &e.path_to("definitions"))?.iter().enumerate() {
            let d = Object::of(definition, &format!("{}[{i}]", e.path_to("definitions")))?;
            d.only(&["name", "is"])?;
            let name = d.text("name")?;
            if name.is_empty() || pool.find_symbol(name).is_some() {
                return d.wrong(
                    "name",
                    format!("`{name}` cannot be defined: it has a meaning already"),
                );
            }
            let t = read(&mut pool, d.text("is")?, d.path_to("is"), &allowed)?;
            let t = expansion.apply(&mut pool, t);
            let sort = pool.sort(t);
            let symbol =
                pool.declare(name, sort).or_else(|clash| d.wrong("name", clash.to_string()))?;
            allowed.insert(symbol);
            let name = pool.var(symbol);
            expansion.define(name, t);
        }
    }
    let given = e.object("formulas")?;
    let mut by_node = Vec::with_capacity(system.nodes.len());
    for n in &system.nodes {
        let t = read(&mut pool, given.text(&n.name)?, given.path_to(&n.name), &allowed)?;
        let t = expansion.apply(&mut pool, t);
        if pool.sort(t) != Sort::Bool {
            return given.wrong(&n.name, "this is not a formula");
        }
        let t = importer
            .import(&mut clean, &pool, t)
            .or_else(|clash| given.wrong(&n.name, clash.to_string()))?;
        by_node.push(t);
    }
    let known: FxHashSet<&str> = system.nodes.iter().map(|n| n.name.as_str()).collect();
    given.only_in(&known)?;
    Ok(NodeFormulas { pool: clean.freeze(), by_node: by_node.into() })
}

/// The names of a system, for reading runs.
pub(super) struct Names<'a> {
    system: &'a System,
    transitions: FxHashMap<&'a str, TransitionId>,
}

impl<'a> Names<'a> {
    pub(super) fn of(system: &'a System) -> Names<'a> {
        let transitions = system
            .transitions
            .iter()
            .enumerate()
            .map(|(i, t)| (t.name.as_str(), TransitionId::from(i)))
            .collect();
        Names { system, transitions }
    }

    pub(super) fn run(&self, e: &Object<'_>) -> Read<Run> {
        let name = e.text("start")?;
        let Some(start) = self.system.starts.iter().position(|s| s.name == name) else {
            return e.wrong("start", format!("the system has no start `{name}`"));
        };
        let first = e.object("first")?;
        first.only(&["node", "values"])?;
        let name = first.text("node")?;
        let Some(node) = self.system.nodes.iter().position(|n| n.name == name) else {
            return first.wrong("node", format!("the system has no node `{name}`"));
        };
        let first =
            State { node: NodeId::from(node), values: self.state(&first.object("values")?)? };
        let legs = self.legs(e.get("steps")?, &e.path_to("steps"), 0)?;
        Ok(Run { start: StartId::from(start), first, legs: legs.into() })
    }

    fn state(&self, o: &Object<'_>) -> Read<Vec<TermValue>> {
        values(&self.system.pool, o, self.system.vars.iter().map(|v| (v.name.as_str(), v.sort)))
    }

    /// Recurses into repetitions, at most [`MAX_REPEAT_DEPTH`] deep.
    fn legs(&self, json: &Value, path: &str, depth: usize) -> Read<Vec<Leg>> {
        if depth > MAX_REPEAT_DEPTH {
            let message = format!("repetitions are nested more than {MAX_REPEAT_DEPTH} deep");
            return Err(EvidenceFileError::new(path, message));
        }
        let mut legs = Vec::new();
        for (i, leg) in array(json, path)?.iter().enumerate() {
            let leg = Object::of(leg, &format!("{path}[{i}]"))?;
            if leg.fields.contains_key("repeat") {
                leg.only(&["repeat", "body"])?;
                let times = match leg.get("repeat")?.as_u64() {
                    Some(n) if n > 0 => n,
                    _ => return leg.wrong("repeat", "this must be a whole number of at least 1"),
                };
                let body = self.legs(leg.get("body")?, &leg.path_to("body"), depth + 1)?;
                legs.push(Leg::Repeat { times, body });
            } else {
                legs.push(Leg::Step(self.step(&leg)?));
            }
        }
        Ok(legs)
    }

    fn step(&self, o: &Object<'_>) -> Read<Step> {
        o.only(&["transition", "params", "next"])?;
        let name = o.text("transition")?;
        let Some(&transition) = self.transitions.get(name) else {
            return o.wrong("transition", format!("the system has no transition `{name}`"));
        };
        let declared = &self.system.transition(transition).params;
        let params = if o.fields.contains_key("params") || !declared.is_empty() {
            values(
                &self.system.pool,
                &o.object("params")?,
                declared.iter().map(|p| (p.name.as_str(), p.sort)),
            )?
        } else {
            Vec::new()
        };
        let next = if o.fields.contains_key("next") {
            Some(self.state(&o.object("next")?)?)
        } else {
            None
        };
        Ok(Step { transition, params, next })
    }
}

/// Reads an object with exactly these names as keys.
fn values<'a>(
    pool: &Pool,
    o: &Object<'_>,
    names: impl Iterator<Item = (&'a str, Sort)>,
) -> Read<Vec<TermValue>> {
    let mut found = Vec::with_capacity(o.fields.len());
    let mut known = FxHashSet::default();
    for (name, sort) in names {
        known.insert(name);
        let value =
            parse_value(pool, sort, o.text(name)?).or_else(|e| o.wrong(name, e.to_string()))?;
        found.push(value);
    }
    o.only_in(&known)?;
    Ok(found)
}

pub(super) fn array<'a>(json: &'a Value, path: &str) -> Read<&'a Vec<Value>> {
    json.as_array().ok_or_else(|| EvidenceFileError::new(path, "this must be an array"))
}

/// A JSON object and its path.
pub(super) struct Object<'a> {
    pub(super) fields: &'a Map<String, Value>,
    path: String,
}

impl<'a> Object<'a> {
    pub(super) fn of(json: &'a Value, path: &str) -> Read<Object<'a>> {
        match json.as_object() {
            Some(fields) => Ok(Object { fields, path: path.to_string() }),
            None => Err(EvidenceFileError::new(path, "this must be an object")),
        }
    }

    pub(super) fn path_to(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn wrong<T>(&self, key: &str, message: impl Into<String>) -> Read<T> {
        Err(EvidenceFileError::new(self.path_to(key), message))
    }

    pub(super) fn get(&self, key: &str) -> Read<&'a Value> {
        match self.fields.get(key) {
            Some(v) => Ok(v),
            None => self.wrong(key, "this is missing"),
        }
    }

    pub(super) fn object(&self, key: &str) -> Read<Object<'a>> {
        Object::of(self.get(key)?, &self.path_to(key))
    }

    pub(super) fn text(&self, key: &str) -> Read<&'a str> {
        match self.get(key)?.as_str() {
            Some(s) => Ok(s),
            None => self.wrong(key, "this must be a string"),
        }
    }

    pub(super) fn truth(&self, key: &str) -> Read<bool> {
        match self.get(key)?.as_bool() {
            Some(b) => Ok(b),
            None => self.wrong(key, "this must be true or false"),
        }
    }

    fn count(&self, key: &str) -> Read<u64> {
        match self.get(key)?.as_u64() {
            Some(n) => Ok(n),
            None => self.wrong(key, "this must be a whole number below 2^64"),
        }
    }

    pub(super) fn small(&self, key: &str) -> Read<u32> {
        match self.get(key)?.as_u64().and_then(|n| u32::try_from(n).ok()) {
            Some(n) => Ok(n),
            None => self.wrong(key, "this must be a whole number below 2^32"),
        }
    }

    pub(super) fn only(&self, keys: &[&str]) -> Read<()> {
        match self.fields.keys().find(|k| !keys.contains(&k.as_str())) {
            Some(k) => self.wrong(k, "this key means nothing here"),
            None => Ok(()),
        }
    }

    pub(super) fn only_in(&self, keys: &FxHashSet<&str>) -> Read<()> {
        match self.fields.keys().find(|k| !keys.contains(k.as_str())) {
            Some(k) => self.wrong(k, "the system has nothing of this name here"),
            None => Ok(()),
        }
    }
}
