//! Analysis node by node: what is abstracted, what is refined, and that contract trees are checked.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gander::certify::{CheckLimits, Checker, Rejection};
use gander::report::{CheckView, ClaimView};
use gander::smt::Solvers;
use gander::{Analysis, CheckOptions, LoadOptions, check_contract_tree, check_source, load};
use serde_json::{Value, json};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/lustre")
}

fn model(name: &str) -> String {
    std::fs::read_to_string(corpus().join(name)).unwrap()
}

/// True if z3 is there. If not, the tests say so where people look.
fn have_z3() -> bool {
    let there = Solvers::from_environment().z3().is_some();
    if !there {
        let test = std::thread::current().name().unwrap_or("modular").to_string();
        let line = format!("SKIPPED {test}: z3 was not found: run `gander setup`\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
        if let Some(log) = std::env::var_os("GANDER_SKIP_LOG") {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(Path::new(&log));
            file.and_then(|mut f| f.write_all(line.as_bytes())).unwrap();
        }
    }
    there
}

fn view(source: &str, analysis: Analysis) -> CheckView {
    let options = CheckOptions {
        analysis,
        timeout: Some(Duration::from_secs(20)),
        ..CheckOptions::default()
    };
    let view = check_source(source, "model.lus", &options);
    assert!(view.internal_errors.is_empty(), "{:?}", view.internal_errors);
    view
}

fn claim<'v>(view: &'v CheckView, name: &str) -> &'v ClaimView {
    view.claims.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no claim {name}"))
}

fn saved(claim: &ClaimView) -> Value {
    claim.verdict.evidence().unwrap().saved.clone()
}

fn certify(source: &str, tree: &Value) -> Result<String, Rejection> {
    let model = load(source, "model.lus", &LoadOptions::default());
    let mut checker = Checker::new(&Arc::new(Solvers::from_environment()), CheckLimits::default());
    check_contract_tree(model.modules().unwrap(), tree, &mut checker).map(|(claim, _)| claim)
}

#[test]
fn contracts_that_are_strong_enough_stand_for_their_nodes() {
    if !have_z3() {
        return;
    }
    let source = model("holds/modular_strong.lus");
    let view = view(&source, Analysis::Modular);
    assert!(view.claims.iter().all(|c| c.verdict.word() == "holds"));
    assert_eq!(claim(&view, "ok").abstracted, ["sum", "bounded"]);
    assert_eq!(claim(&view, "top.sum#1.bounded#2.low").shown_in.as_deref(), Some("bounded"));
    for c in view.claims.iter().filter(|c| !c.abstracted.is_empty() || c.shown_in.is_some()) {
        assert_eq!(certify(&source, &saved(c)).unwrap(), c.name);
    }
}

#[test]
fn a_contract_that_is_too_weak_gives_way_to_the_body() {
    if !have_z3() {
        return;
    }
    let source = model("holds/modular_weak.lus");
    let view = view(&source, Analysis::Modular);
    assert!(claim(&view, "n >= 0").abstracted.contains(&"counter".to_string()));
    let refined = claim(&view, "true -> n - pre n <= 2");
    assert_eq!(
        (refined.verdict.word(), &refined.abstracted[..]),
        ("holds", &["clamp".to_string()][..])
    );
    assert_eq!(certify(&source, &saved(refined)).unwrap(), refined.name);
}

/// Only what a claim depends on is replaced by its body.
#[test]
fn nodes_that_a_claim_does_not_depend_on_stay_abstract() {
    if !have_z3() {
        return;
    }
    let source = "
        node weak(x: int) returns (y: int);
        (*@contract guarantee y >= 0; *)
        let y = if x < 0 then 1 else 2; tel
        node other(x: int) returns (y: int);
        (*@contract guarantee y >= 0; *)
        let y = if x < 0 then -x else x; tel
        node top(x: int) returns (a, b: int);
        let
          a = weak(x);
          b = other(x) + weak(x);
          --%PROPERTY a <= 2;
          --%PROPERTY b >= 1;
        tel";
    let view = view(source, Analysis::Modular);
    assert!(view.claims.iter().all(|c| c.verdict.word() == "holds"));
    let bound = claim(&view, "b >= 1");
    assert!(!bound.abstracted.contains(&"weak".to_string()));
    let only = CheckOptions {
        properties: vec!["a <= 2".to_string()],
        analysis: Analysis::Modular,
        timeout: Some(Duration::from_secs(20)),
        ..CheckOptions::default()
    };
    let view = check_source(source, "model.lus", &only);
    assert_eq!(
        (view.claims.len(), &claim(&view, "a <= 2").abstracted[..]),
        (1, &["other".to_string()][..])
    );
}

#[test]
fn a_node_that_breaks_its_guarantee_is_not_abstracted() {
    if !have_z3() {
        return;
    }
    let view = view(&model("fails/modular_broken.lus"), Analysis::Modular);
    assert!(view.claims.iter().all(|c| c.abstracted.is_empty()));
    assert!(claim(&view, "ok").verdict.evidence().unwrap().shown.trace().is_some());
    let note = view.diagnostics.iter().find(|d| d.code == "contract").unwrap();
    assert!(
        note.message.contains("`broken`") && note.message.contains("`small`"),
        "{}",
        note.message
    );
}

#[test]
fn an_assumption_that_a_call_breaks_fails_by_a_run_of_the_program() {
    if !have_z3() {
        return;
    }
    let view = view(&model("fails/modular_call.lus"), Analysis::Modular);
    let broken = claim(&view, "top.half#1.even");
    assert_eq!(broken.verdict.word(), "fails");
    assert_eq!(broken.verdict.evidence().unwrap().shown.trace().unwrap().length, 1);
    assert_eq!(claim(&view, "top.half#1.exact").verdict.word(), "holds");
}

#[test]
fn nodes_that_assume_what_the_other_guarantees_prove_nothing_by_themselves() {
    if !have_z3() {
        return;
    }
    let circular = view(&model("fails/modular_feedback.lus"), Analysis::Modular);
    assert_eq!(claim(&circular, "p >= 0").verdict.word(), "fails");
    assert_eq!(claim(&circular, "top.b#1.x is positive").verdict.word(), "fails");
    let grounded = view(&model("holds/modular_support.lus"), Analysis::Modular);
    assert!(grounded.claims.iter().all(|c| c.verdict.word() == "holds"));
}

/// A called node that runs only sometimes, and one that begins anew.
const CLOCKED: &str = r#"
node count(go: bool) returns (n: int);
(*@contract
  guarantee "not negative" n >= 0;
  guarantee "first" (n = 0) -> true;
*)
let
  n = 0 -> pre n + (if go then 1 else 0);
tel

node top(go, on, again: bool) returns (n, m: int);
let
  n = condact(on, count(go), 0);
  m = (restart count every again)(go);
  --%PROPERTY n >= 0;
  --%PROPERTY again => m = 0;
  --%PROPERTY n <= 3;
tel
"#;

#[test]
fn contracts_stand_for_nodes_that_run_sometimes_or_begin_anew() {
    if !have_z3() {
        return;
    }
    let view = view(CLOCKED, Analysis::Modular);
    for name in ["n >= 0", "again => m = 0"] {
        assert_eq!(
            (claim(&view, name).verdict.word(), claim(&view, name).abstracted.len()),
            ("holds", 1),
            "{name}"
        );
    }
    let shown = claim(&view, "n <= 3").verdict.evidence().unwrap().shown.trace().unwrap().length;
    assert_eq!((claim(&view, "n <= 3").verdict.word(), shown), ("fails", 4));
}

/// The range of an input is assumed in the proof of a node, so the contract must not speak where it
/// is left.
#[test]
fn ranges_of_inputs_are_assumptions_of_a_contract() {
    if !have_z3() {
        return;
    }
    let view = view(&model("fails/modular_ranges.lus"), Analysis::Modular);
    assert!(
        view.claims.iter().all(|c| c.verdict.word() == "fails" || c.kind == "start-satisfiable")
    );
}

#[test]
fn the_two_analyses_never_contradict_each_other() {
    if !have_z3() {
        return;
    }
    let mut models = 0;
    for folder in ["holds", "fails"] {
        for entry in std::fs::read_dir(corpus().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let source = std::fs::read_to_string(&path).unwrap();
            if !source.contains("contract") {
                continue;
            }
            models += 1;
            let (whole, modular) =
                (view(&source, Analysis::Whole), view(&source, Analysis::Modular));
            let names = |v: &CheckView| v.claims.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&whole), names(&modular), "{}", path.display());
            for (a, b) in whole.claims.iter().zip(&modular.claims) {
                let words = (a.verdict.word(), b.verdict.word());
                let contradiction = matches!(words, ("holds", "fails") | ("fails", "holds"));
                assert!(!contradiction, "{}: {} {words:?}", path.display(), a.name);
            }
        }
    }
    assert!(models >= 8, "only {models} models");
}

/// The index of the part about a node.
fn part_of(tree: &Value, node: &str) -> usize {
    tree["evidence"]["parts"].as_array().unwrap().iter().position(|p| p["node"] == node).unwrap()
}

#[test]
fn tampered_contract_trees_are_rejected() {
    if !have_z3() {
        return;
    }
    let source = model("holds/modular_strong.lus");
    let found = view(&source, Analysis::Modular);
    let good = saved(claim(&found, "ok"));
    assert_eq!(certify(&source, &good).unwrap(), "ok");
    let (bounded, sum, top) =
        (part_of(&good, "bounded"), part_of(&good, "sum"), part_of(&good, "top"));
    let rejected = |what: &str, tree: &Value| match certify(&source, tree) {
        Err(Rejection::Wrong(why)) => why,
        other => panic!("{what}: {other:?}"),
    };

    let mut tree = good.clone();
    let proofs = tree["evidence"]["parts"][bounded]["proofs"].as_array_mut().unwrap();
    assert!(proofs.len() >= 2);
    proofs.pop();
    let why = rejected("a proof is dropped", &tree);
    assert!(why.contains("`bounded` is abstracted, but its"), "{why}");

    let mut tree = good.clone();
    tree["evidence"]["parts"].as_array_mut().unwrap().remove(sum);
    rejected("a part is dropped", &tree);

    let mut tree = good.clone();
    tree["evidence"]["parts"].as_array_mut().unwrap().swap(sum, top);
    rejected("a node is abstracted before it is proved", &tree);

    let mut tree = good.clone();
    let parts = tree["evidence"]["parts"].as_array_mut().unwrap();
    let (a, b) = (
        parts[bounded]["proofs"][0]["evidence"].clone(),
        parts[top]["proofs"][0]["evidence"].clone(),
    );
    parts[top]["proofs"][0]["evidence"] = a;
    parts[bounded]["proofs"][0]["evidence"] = b;
    rejected("evidence is swapped", &tree);

    let mut tree = good.clone();
    tree["evidence"]["parts"][bounded]["proofs"][0]["evidence"] =
        json!({ "kind": "invariant", "formulas": { "bounded": "true" } });
    rejected("evidence says nothing", &tree);

    let mut tree = good.clone();
    tree["evidence"]["parts"][sum]["abstracted"] = json!(["bounded", "sum"]);
    rejected("a node is abstracted in its own proof", &tree);

    let mut tree = good.clone();
    tree["claim"] = json!("top.sum#1.bounded#1.assume[1]");
    rejected("another claim", &tree);

    let mut tree = good;
    tree["system"] = json!("sum");
    rejected("a node that is no root", &tree);

    // A node that does not keep its contract cannot be abstracted, whatever the file says.
    let source = model("fails/modular_broken.lus");
    let forged = json!({
        "schema": "gander-evidence/1", "system": "top", "claim": "ok", "verdict": "holds",
        "evidence": { "kind": "contract-tree", "parts": [
            { "node": "top", "abstracted": ["broken"], "proofs": [
                { "schema": "gander-evidence/1", "system": "top", "claim": "ok", "verdict": "holds",
                  "evidence": { "kind": "invariant", "formulas": { "top": "ok" } } } ] } ] },
    });
    match certify(&source, &forged) {
        Err(Rejection::Wrong(why)) => {
            assert!(why.contains("`broken` is abstracted, but its `small`"), "{why}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_example_of_the_documentation_is_a_contract_tree() {
    if !have_z3() {
        return;
    }
    let page = include_str!("../../../docs/evidence.md");
    let (_, rest) = page.split_once("### `contract-tree`").unwrap();
    let tree: Value = serde_json::from_str(rest.split("```").nth(1).unwrap()).unwrap();
    let source = "
        node sub(x: int) returns (y: int);
        (*@contract guarantee y >= 0; *)
        let y = if x < 0 then -x else x; tel
        node top(x: int) returns (ok: bool);
        let
          ok = sub(x) >= 0;
          --%PROPERTY ok;
        tel";
    assert_eq!(certify(source, &tree).unwrap(), "ok");
}
