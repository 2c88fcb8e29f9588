use serde_json::Value;

use crate::support::{COUNTER, Folder, Ran};

fn validated(ran: &Ran) -> Value {
    ran.validated("gander.schema.json")
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn one_file_is_an_object() {
    needs_z3!();
    let ran = Folder::with("counter.sts", COUNTER).run(&["check", "--json", "counter.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let value = validated(&ran);
    assert_eq!(keys(&value), ["schema", "file", "results", "diagnostics", "schedules"]);
    assert_eq!(value["schedules"].as_array().map(Vec::len), Some(0));
    assert_eq!(value["file"], "counter.sts");
    let results = value["results"].as_array().unwrap();
    let expected = [
        "claim",
        "kind",
        "verdict",
        "engine",
        "seconds",
        "length",
        "shortest",
        "explored_through",
        "why",
        "rests_on",
        "abstracted",
        "evidence",
    ];
    assert_eq!(keys(&results[0]), expected);
    let find = |name: &str| results.iter().find(|r| r["claim"] == name).unwrap();
    assert_eq!(
        (find("small")["verdict"].as_str(), find("small")["length"].as_u64()),
        (Some("holds"), None)
    );
    assert_eq!(
        (find("unseen")["verdict"].as_str(), find("unseen")["length"].as_u64()),
        (Some("fails"), Some(4))
    );
    assert_eq!(
        (find("high")["kind"].as_str(), find("high")["length"].as_u64()),
        (Some("reachable"), Some(4))
    );
    assert_eq!(
        (find("twice")["kind"].as_str(), find("twice")["length"].as_u64()),
        (Some("chain"), Some(9))
    );
    assert_eq!(find("far")["verdict"], "fails");
    assert!(results.iter().any(|r| r["kind"] == "no-sinkhole"));
}

#[test]
fn several_files_are_an_array() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write("bad.sts", "spec A vra x: int");
    let ran = folder.run(&[
        "check",
        "--json",
        "-p",
        "small",
        "counter.sts",
        "bad.sts",
        "none.sts",
        "counter.sts",
    ]);
    assert_eq!((ran.code, ran.err.as_str()), (2, ""));
    let value = validated(&ran);
    let files = value.as_array().unwrap();
    assert_eq!(files.len(), 3);
    assert_eq!(files[0]["results"].as_array().unwrap().len(), 1);
    assert_eq!(files[1]["results"].as_array().unwrap().len(), 0);
    let diagnostic = &files[1]["diagnostics"][0];
    assert_eq!(
        (diagnostic["code"].as_str(), diagnostic["line"].as_u64()),
        (Some("E0116"), Some(1))
    );
    assert_eq!(diagnostic["column"], 8);
    assert_eq!(files[2]["diagnostics"][0]["code"], "no-file");
}

#[test]
fn errors_are_json_too() {
    let folder = Folder::with("counter.sts", COUNTER);
    for (args, code) in [
        (&["none.sts"][..], "no-file"),
        (&["."], "directory"),
        (&["-p", "smal", "counter.sts"], "usage"),
        (&["--engine", "bmd", "counter.sts"], "usage"),
        (&["--second-opinion", "missing", "counter.sts"], "usage"),
        (&["--solver", "z3=/nowhere", "counter.sts"], "usage"),
        (&["--log-smt", "counter.sts/x", "counter.sts"], "usage"),
    ] {
        let ran = folder.run(&[&["check", "--json"][..], args].concat());
        assert_eq!((ran.code, ran.err.as_str()), (2, ""), "{args:?}");
        let value = validated(&ran);
        let codes: Vec<&str> = value["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|d| d["code"].as_str())
            .collect();
        assert!(codes.contains(&code), "{args:?}: {codes:?}");
    }
}

#[test]
fn unknown_has_reasons() {
    needs_z3!();
    let model = "spec L var x: int start { x == 0 } step up { x := x + 1 } eventually big: x > 9";
    let ran = Folder::with("m.sts", model)
        .run(&["check", "--json", "--checks", "none", "--engine", "bmc", "m.sts"]);
    assert_eq!(ran.code, 3);
    let value = validated(&ran);
    let result = &value["results"][0];
    assert_eq!(
        (result["verdict"].as_str(), result["kind"].as_str()),
        (Some("unknown"), Some("eventually"))
    );
    assert!(!result["why"].as_array().unwrap().is_empty());
}

#[test]
fn a_lasso_says_where_it_repeats() {
    needs_z3!();
    let model = "spec L var x: int start { x == 0 } step up when x < 3 { x := x + 1 } step back when x == 3 { x := 2 }
        eventually far: x > 9";
    let ran = Folder::with("m.sts", model).run(&["check", "--json", "--checks", "none", "m.sts"]);
    assert_eq!(ran.code, 1);
    let value = validated(&ran);
    let result = &value["results"][0];
    let evidence = &result["evidence"]["evidence"];
    assert_eq!(evidence["kind"].as_str(), Some("lasso"), "{evidence}");
    assert!(evidence["back_to"].as_u64() < result["length"].as_u64(), "{result}");
}

/// The schema rejects output with a verdict that it does not list.
#[test]
#[should_panic(expected = "verdict")]
fn the_schema_rejects_an_unknown_verdict() {
    let out = r#"{"schema":"gander/1","file":"f","diagnostics":[],"results":[{"claim":"c","kind":"always","verdict":"maybe",
        "engine":null,"seconds":0,"length":null,"explored_through":null,"why":[],"abstracted":[],"evidence":null}]}"#;
    validated(&Ran { code: 0, out: out.to_string(), err: String::new() });
}

#[test]
fn lustre_models_have_json() {
    needs_z3!();
    let model = "\
type mode = enum { Idle, Run };
node sub(a: int) returns (b: int); let b = a + (0 -> pre b); tel
node top(x: int; m: mode) returns (y: int; r: real);
var ok, fine: bool;
let
  y = sub(x);
  r = (1.0 -> pre r) / 3.0;
  assert x = (if m = Run then 2 else 0);
  ok = y < 3;
  fine = pre r < 1.0;
  --%PROPERTY ok;
  --%PROPERTY fine;
tel
";
    let folder = Folder::with("top.lus", model);
    let ran = folder.run(&["check", "--json", "top.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let value = validated(&ran);
    let result = |name: &str| {
        value["results"].as_array().unwrap().iter().find(|r| r["claim"] == name).unwrap()
    };
    assert_eq!(result("ok")["verdict"], "fails");
    assert_eq!(result("ok")["length"], 1);
    assert_eq!(result("fine")["verdict"], "fails");
    assert!(value["diagnostics"].as_array().unwrap().iter().any(|d| d["code"] == "W1701"));
}

#[test]
fn json_has_the_schedule_if_asked_for() {
    needs_z3!();
    let ran = Folder::with("counter.sts", COUNTER).run(&[
        "check",
        "--json",
        "--explain-schedule",
        "counter.sts",
    ]);
    let value = validated(&ran);
    let engines = value["schedules"][0]["engines"].as_array().unwrap();
    let settled: u64 = engines.iter().map(|e| e["settled"].as_u64().unwrap()).sum();
    assert_eq!(settled as usize, value["results"].as_array().unwrap().len());
}

#[test]
fn claims_about_bounded_runs_are_shown_with_the_bound() {
    needs_z3!();
    let model = "MAXSTEPS: 5\nVARS:\n  int x : 0..20;\nINIT:\n  x = 0;\nTRANS:\n  x = x + 1;\nSAFE low: x < 6\nSAFE lower: x < 5\nREACH ten: x == 10\n";
    let folder = Folder::with("m.script", model);
    let text = folder.run(&["check", "m.script"]).out;
    let line = |name: &str| text.lines().find(|l| l.contains(name)).unwrap_or_default().to_string();
    assert!(
        line(" low ").starts_with("holds") && line(" low ").contains("up to MAXSTEPS 5"),
        "{text}"
    );
    assert!(
        line(" ten ").starts_with("fails") && line(" ten ").contains("up to MAXSTEPS 5"),
        "{text}"
    );
    let value = validated(&folder.run(&["check", "--json", "m.script"]));
    let within = |name: &str| {
        let results = value["results"].as_array().unwrap();
        results.iter().find(|r| r["claim"] == name).unwrap()["within"].clone()
    };
    assert_eq!((within("low"), within("ten")), (Value::from("5"), Value::from("5")));
    // A run of the bounded system is also a run of the unbounded system.
    assert_eq!(within("lower"), Value::Null);
}
