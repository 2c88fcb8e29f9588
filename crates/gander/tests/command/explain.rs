use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Folder, Ran, have_z3};

const SWITCH: &str = include_str!("../../../../examples/lustre/altitude_switch.lus");
const ACCOUNT: &str = include_str!("../../../../examples/bank_account.sts");

/// Parses the output of a run after validating it against the published schema.
fn validated(ran: &Ran) -> Value {
    let value: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {} {}", ran.out, ran.err));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gander-explain.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("gander-explain.schema.json", schema).unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile("gander-explain.schema.json", &mut schemas).unwrap();
    if let Err(error) = schemas.validate(&value, index) {
        panic!("{error:#} in {value:#}");
    }
    value
}

#[test]
fn the_altitude_switch_has_two_cores() {
    if !have_z3("the_altitude_switch_has_two_cores") {
        return;
    }
    let folder = Folder::with("switch.lus", SWITCH);
    let ran = folder.run(&["explain", "--all", "--json", "switch.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let mut value = validated(&ran);
    let cores = value["results"][0]["cores"].as_array_mut().unwrap();
    cores.sort_by_key(Value::to_string);
    assert_eq!(
        value,
        json!({
            "schema": "gander-explain/1",
            "results": [{
                "property": "on_p",
                "cores": [["a1_below", "below", "doi_on", "on_p"], ["a2_below", "below", "doi_on", "on_p"]],
                "must": ["below", "doi_on", "on_p"],
                "may": ["a1_below", "a2_below"],
                "complete": true,
                "approximate": false,
            }],
        })
    );
    let bounded = validated(&folder.run(&["explain", "--bounded", "3", "--json", "switch.lus"]));
    assert_eq!(bounded["results"][0]["bound"], 3);
    assert_eq!(bounded["results"][0]["cores"][0].as_array().map(Vec::len), Some(4));
    let cuts = validated(&folder.run(&["explain", "--cut-sets", "--json", "switch.lus"]));
    assert_eq!(cuts["results"][0]["cut_sets"].as_array().map(Vec::len), Some(4));
}

#[test]
fn matrices_and_coverage() {
    if !have_z3("matrices_and_coverage") {
        return;
    }
    let folder = Folder::with("switch.lus", SWITCH);
    let csv = folder.run(&["explain", "--matrix", "csv", "switch.lus"]).out;
    assert!(csv.starts_with("element,kind,line,on_p\na1_below,equation,16,may\n"), "{csv}");
    assert!(csv.contains("below,equation,20,must\n") && csv.contains("d2,equation,24,\n"), "{csv}");
    let text = folder.run(&["explain", "--coverage", "switch.lus"]).out;
    assert!(text.contains("MODEL: 5 of 10 elements, 50.0 %"), "{text}");
    assert!(text.contains("not covered by any requirement:\n    a1_above"), "{text}");
    let ran = folder.run(&["explain", "--matrix", "html", "-o", "switch.html", "switch.lus"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let page = folder.read("switch.html");
    assert!(page.contains("<button>on_p</button>") && page.contains("alt1 &lt; Threshold"), "{page}");
    assert!(!page.contains("http"), "the page needs nothing else");
}

#[test]
fn guards_and_effects_are_elements() {
    if !have_z3("guards_and_effects_are_elements") {
        return;
    }
    let folder = Folder::with("bank.sts", ACCOUNT);
    let ran = folder.run(&["explain", "--minimal", "-p", "solvent", "bank.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for name in ["start constraint 1", "deposit guard 1", "withdraw guard 2", "withdraw balance :="] {
        assert!(ran.out.contains(name), "{}", ran.out);
    }
    assert!(!ran.out.contains("freeze"), "{}", ran.out);
    let ran = folder.run(&["explain", "nowhere.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no such file"), "{}", ran.err);
}
