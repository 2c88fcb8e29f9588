//! Reader of evidence about maximal runs, and about what is always possible.

use gander_term::{Importer, Pool, Sort, SymbolId, TermId, parse_term};
use rustc_hash::FxHashSet;
use serde_json::Value;

use super::read::{Names, Nested, Object, Read, array, evidence, formulas};
use super::{EvidenceFileError, MAX_FORMULA_CHARS};
use crate::claim::ClaimId;
use crate::evidence::{Choice, Choices, Evidence, NodeTerms, Rounds};
use crate::passes::{Aspect, liveness_to_safety};
use crate::system::{System, TransitionId};

pub(super) fn live(system: &System, claim: ClaimId, e: &Object<'_>) -> Read<Evidence> {
    match e.text("kind")? {
        "lasso" => {
            e.only(&["kind", "start", "first", "steps", "back_to"])?;
            let Some(back_to) = e.get("back_to")?.as_u64() else {
                return e.wrong("back_to", "this must be a whole number");
            };
            Ok(Evidence::Lasso { run: Names::of(system).run(e)?, back_to })
        }
        "recurrent" => {
            e.only(&["kind", "run", "definitions", "formulas", "choices"])?;
            Ok(Evidence::Recurrent {
                run: run(system, e)?,
                set: formulas(system, e)?,
                choices: choices(system, e)?,
            })
        }
        "no-such-run" => {
            e.only(&["kind", "stuck", "rounds"])?;
            let stuck = match e.fields.get("stuck") {
                None => None,
                Some(_) => Some(about(system, claim, &Aspect::Stuck, e, "stuck")?),
            };
            Ok(Evidence::NoSuchRun { stuck, rounds: rounds(system, claim, &e.object("rounds")?)? })
        }
        "possible" => {
            e.only(&["kind", "definitions", "formulas", "ranks", "choices", "evidence"])?;
            Ok(Evidence::Possible {
                set: formulas(system, e)?,
                proof: inner(system, e, "evidence")?,
                ranks: ranks(system, e)?,
                choices: choices(system, e)?,
            })
        }
        "impossible" => {
            e.only(&["kind", "run", "evidence"])?;
            Ok(Evidence::Impossible { run: run(system, e)?, proof: inner(system, e, "evidence")? })
        }
        other => e.wrong("kind", format!("`{other}` is no kind of evidence here")),
    }
}

fn run(system: &System, e: &Object<'_>) -> Read<crate::evidence::Run> {
    let run = e.object("run")?;
    run.only(&["kind", "start", "first", "steps"])?;
    if run.text("kind")? != "run" {
        return run.wrong("kind", "this must be a run");
    }
    Names::of(system).run(&run)
}

fn inner(system: &System, e: &Object<'_>, key: &str) -> Read<Box<Evidence>> {
    evidence(system, ClaimId(0), &e.object(key)?, Nested::Inside).map(Box::new)
}

fn about(
    system: &System,
    claim: ClaimId,
    aspect: &Aspect,
    e: &Object<'_>,
    key: &str,
) -> Read<Box<Evidence>> {
    let of = liveness_to_safety(system, claim, aspect)
        .or_else(|error| e.wrong(key, error.to_string()))?;
    inner(&of.system, e, key)
}

fn rounds(system: &System, claim: ClaimId, e: &Object<'_>) -> Read<Rounds> {
    match e.text("kind")? {
        "at-most" => {
            e.only(&["kind", "k", "evidence"])?;
            let k = e.small("k")?;
            Ok(Rounds::AtMost {
                k,
                proof: about(system, claim, &Aspect::AtMost(k), e, "evidence")?,
            })
        }
        "no-repetition" => {
            e.only(&["kind", "bounds", "evidence"])?;
            let given = e.object("bounds")?;
            let known: FxHashSet<&str> = system.vars.iter().map(|v| v.name.as_str()).collect();
            given.only_in(&known)?;
            let mut bounds = Vec::new();
            for v in &system.vars {
                if !given.fields.contains_key(&v.name) {
                    bounds.push(None);
                    continue;
                }
                let of = given.object(&v.name)?;
                of.only(&["low", "high"])?;
                let number = |key: &str| {
                    let text = of.text(key)?;
                    text.parse::<gander_term::IBig>()
                        .or_else(|_| of.wrong(key, "this must be a whole number"))
                };
                bounds.push(Some((number("low")?, number("high")?)));
            }
            let proof = about(system, claim, &Aspect::Repetition(bounds.clone()), e, "evidence")?;
            Ok(Rounds::NoRepetition { bounds, proof })
        }
        "ranking" => {
            e.only(&["kind", "definitions", "formulas", "ranks"])?;
            let of = liveness_to_safety(system, claim, &Aspect::Rounds)
                .or_else(|error| e.wrong("kind", error.to_string()))?;
            Ok(Rounds::Ranking {
                invariant: formulas(&of.system, e)?,
                ranks: ranks(&of.system, e)?,
            })
        }
        other => e.wrong("kind", format!("`{other}` is no reason for finitely many rounds")),
    }
}

/// Reads terms over state variables into one pool.
struct Terms {
    reading: Pool,
    clean: Pool,
    importer: Importer,
    allowed: FxHashSet<SymbolId>,
    chars: usize,
}

impl Terms {
    fn of(system: &System) -> Terms {
        Terms {
            reading: Pool::fork(&system.pool),
            clean: Pool::fork(&system.pool),
            importer: Importer::new(),
            allowed: system.vars.iter().map(|v| v.current).collect(),
            chars: 0,
        }
    }

    fn read(&mut self, json: &Value, path: &str) -> Read<TermId> {
        let wrong = |message: String| EvidenceFileError::new(path, message);
        let text = json.as_str().ok_or_else(|| wrong("this must be a string".into()))?;
        self.chars += text.len();
        if self.chars > MAX_FORMULA_CHARS {
            return Err(wrong("the terms are too long".into()));
        }
        let t = parse_term(&mut self.reading, text).map_err(|e| wrong(e.to_string()))?;
        if let Some(s) =
            self.reading.free_symbols(&[t]).into_iter().find(|s| !self.allowed.contains(s))
        {
            return Err(wrong(format!(
                "`{}` is not a state variable",
                self.reading.symbol(s).name
            )));
        }
        self.importer.import(&mut self.clean, &self.reading, t).map_err(|e| wrong(e.to_string()))
    }

    fn expect(&self, t: TermId, sort: Sort, path: &str) -> Read<TermId> {
        if self.clean.sort(t) == sort {
            Ok(t)
        } else {
            Err(EvidenceFileError::new(path, "this has the wrong sort"))
        }
    }
}

fn ranks(system: &System, e: &Object<'_>) -> Read<NodeTerms> {
    let given = e.object("ranks")?;
    let mut terms = Terms::of(system);
    let mut by_node = Vec::new();
    for n in &system.nodes {
        let path = given.path_to(&n.name);
        let mut tuple = Vec::new();
        for (i, part) in array(given.get(&n.name)?, &path)?.iter().enumerate() {
            let path = format!("{path}[{i}]");
            let t = terms.read(part, &path)?;
            if !terms.clean.sort(t).is_numeric() {
                return Err(EvidenceFileError::new(path, "this is not a number"));
            }
            tuple.push(t);
        }
        by_node.push(tuple);
    }
    let known: FxHashSet<&str> = system.nodes.iter().map(|n| n.name.as_str()).collect();
    given.only_in(&known)?;
    Ok(NodeTerms { pool: terms.clean.freeze(), by_node })
}

fn choices(system: &System, e: &Object<'_>) -> Read<Choices> {
    let path = e.path_to("choices");
    let mut terms = Terms::of(system);
    let mut list = Vec::new();
    for (i, choice) in array(e.get("choices")?, &path)?.iter().enumerate() {
        let o = Object::of(choice, &format!("{path}[{i}]"))?;
        o.only(&["transition", "when", "params", "next"])?;
        let name = o.text("transition")?;
        let Some(t) = system.transitions.iter().position(|t| t.name == name) else {
            return o.wrong("transition", format!("the system has no transition `{name}`"));
        };
        let when = terms.read(o.get("when")?, &o.path_to("when"))?;
        let when = terms.expect(when, Sort::Bool, &o.path_to("when"))?;
        let t = TransitionId::from(t);
        let params: Vec<(&str, Sort)> =
            system.transition(t).params.iter().map(|p| (p.name.as_str(), p.sort)).collect();
        let next: Vec<(&str, Sort)> =
            system.vars.iter().map(|v| (v.name.as_str(), v.sort)).collect();
        let params = values(&mut terms, &o, "params", &params)?;
        let next = values(&mut terms, &o, "next", &next)?;
        list.push(Choice { transition: t, when, params, next });
    }
    Ok(Choices { pool: terms.clean.freeze(), list })
}

/// Reads the terms of an object whose keys are some of these names.
fn values(
    terms: &mut Terms,
    o: &Object<'_>,
    key: &str,
    names: &[(&str, Sort)],
) -> Read<Vec<Option<TermId>>> {
    if !o.fields.contains_key(key) {
        return Ok(vec![None; names.len()]);
    }
    let given = o.object(key)?;
    given.only_in(&names.iter().map(|(n, _)| *n).collect())?;
    let mut found = Vec::new();
    for (name, sort) in names {
        found.push(match given.fields.get(*name) {
            None => None,
            Some(json) => {
                let path = given.path_to(name);
                let t = terms.read(json, &path)?;
                Some(terms.expect(t, *sort, &path)?)
            }
        });
    }
    Ok(found)
}
