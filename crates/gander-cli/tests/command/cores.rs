//! `gander explain`: granularity of elements, mutants, continued searches, properties without
//! cores.

use serde_json::Value;

use crate::support::Folder;

const BRANCHES: &str = "node top(a: bool; b: int) returns (ok, both: bool);
var x: int; y: bool; n: int;
let
  x = if a then 1 else b;
  ok = a => x = 1;
  y = a and b > 3;
  both = y => b > 3;
  n = 0 -> if a then pre n + 1 else pre n;
  --%PROPERTY ok;
  --%PROPERTY both;
  --%PROPERTY n >= 0;
tel
";

fn cores(folder: &Folder, args: &[&str]) -> Vec<(String, Vec<String>)> {
    let all: Vec<&str> = ["explain", "--all", "--json"].iter().chain(args).copied().collect();
    let ran = folder.run(&all);
    let value: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {} {}", ran.out, ran.err));
    let names = |v: &Value| {
        let mut names: Vec<String> =
            v.as_array().unwrap().iter().map(|n| n.as_str().unwrap().to_string()).collect();
        names.sort();
        names
    };
    let results = value["results"].as_array().unwrap();
    results
        .iter()
        .map(|r| (r["property"].as_str().unwrap().to_string(), names(&r["cores"][0])))
        .collect()
}

fn core_of(found: &[(String, Vec<String>)], property: &str) -> Vec<String> {
    found
        .iter()
        .find(|(p, _)| p == property)
        .unwrap_or_else(|| panic!("{property} in {found:?}"))
        .1
        .clone()
}

#[test]
fn conjuncts_and_branches_are_elements() {
    needs_z3!();
    let folder = Folder::with("b.lus", BRANCHES);
    let whole = cores(&folder, &["b.lus"]);
    assert_eq!(core_of(&whole, "ok"), ["ok", "x"]);
    assert_eq!(core_of(&whole, "both"), ["both", "y"]);
    let conjuncts = cores(&folder, &["--granularity", "conjuncts", "b.lus"]);
    assert_eq!(core_of(&conjuncts, "ok"), ["ok", "x"]);
    assert_eq!(core_of(&conjuncts, "both"), ["both", "y", "y: conjunct 2"]);
    let branches = cores(&folder, &["--granularity", "branches", "b.lus"]);
    assert_eq!(core_of(&branches, "ok"), ["ok", "x", "x: then"]);
    assert_eq!(
        core_of(&branches, "n >= 0"),
        ["n: first", "n: later", "n: later, else", "n: later, then"],
        "{branches:?}"
    );
    let text = folder.run(&["explain", "--granularity", "branches", "-p", "ok", "b.lus"]).out;
    assert!(text.contains("x: then  line 4     1\n"), "{text}");
}

#[test]
fn branches_of_effects_are_elements() {
    needs_z3!();
    let model = "
spec Branches
var x: int
var up: bool
start { x == 0  up }
step go { x := if up then x + 1 else x + 2 }
step turn { up := false  x := if up then x else 0 - 1 }
always rising: up implies x >= 0
";
    let found = cores(&Folder::with("m.sts", model), &["--granularity", "branches", "m.sts"]);
    let core = core_of(&found, "rising");
    assert!(core.contains(&"go x :=: then".to_string()), "{core:?}");
    assert!(!core.contains(&"go x :=: else".to_string()), "{core:?}");
}

#[test]
fn mutants_are_killed_in_three_languages() {
    needs_z3!();
    let sts = "
spec Tank
var level: int
start { level == 0 }
step fill when level < 10 { level := level + 1 }
step drain when level > 0 { level := level - 1 }
always safe: level <= 10
";
    let script =
        "VARS:\n  int x;\nINIT:\n  x = 0;\nTRANS:\n  ? x < 5 -> x = x + 1;\nSAFE: x <= 5\n";
    for (name, model, noticed) in [
        ("tank.sts", sts, "10 becomes 11"),
        ("b.lus", BRANCHES, "1 becomes 2"),
        ("s.script", script, "5 becomes 6"),
    ] {
        let folder = Folder::with(name, model);
        let ran = folder.run(&["explain", "--mutation=json", "--mutant-time", "60", name]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{name}: {}", ran.out);
        let value: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(value["schema"], "gander-mutation/1");
        let system = &value["systems"][0];
        let mutants = system["mutants"].as_array().unwrap();
        let fate = |what: &str| {
            mutants.iter().find(|m| m["mutation"] == what).map(|m| m["together"].clone())
        };
        assert_eq!(fate(noticed), Some("killed".into()), "{name}: {value:#}");
        assert!(mutants.iter().any(|m| m["together"] == "survived"), "{name}: {value:#}");
        assert_eq!(system["disagreements"], serde_json::json!([]), "{name}");
        let score = &system["score"];
        let sum = ["killed", "survived", "undecided"]
            .map(|k| score[k].as_u64().unwrap())
            .iter()
            .sum::<u64>();
        assert_eq!(sum as usize, mutants.len());
    }
    let folder = Folder::with("tank.sts", sts);
    let csv = folder.run(&["explain", "--mutation=csv", "tank.sts"]).out;
    assert!(csv.starts_with("element,line,mutation,safe,together\n"), "{csv}");
    let page = folder.run(&["explain", "--mutation=html", "tank.sts"]).out;
    assert!(
        page.contains("class=\"fate killed\"")
            && page.ends_with("</html>\n")
            && !page.contains("http"),
        "{page}"
    );
    let text = folder.run(&["explain", "--mutation", "tank.sts"]).out;
    assert!(text.starts_with("mutants: ") && text.contains("by node or transition"), "{text}");
    // Without time for engines, mutants that the old proof does not settle stay undecided.
    let text = folder.run(&["explain", "--mutation", "--mutant-time", "0", "tank.sts"]);
    assert!(text.out.contains("undecided") || text.code == 2, "{} {}", text.out, text.err);
}

#[test]
fn a_core_from_a_saved_result_is_minimised_again() {
    needs_z3!();
    let switch = include_str!("../../../../examples/lustre/altitude_switch.lus");
    let folder = Folder::with("s.lus", switch);
    let minimal = |from: &str| -> Vec<String> {
        let ran = folder.run(&["explain", "--minimal", "--json", "--from", from, "s.lus"]);
        let value: Value = serde_json::from_str(&ran.out)
            .unwrap_or_else(|e| panic!("{e}: {} {}", ran.out, ran.err));
        let core = value["results"][0]["cores"][0].as_array().unwrap();
        assert_eq!(value["results"][0]["approximate"], false);
        core.iter().map(|n| n.as_str().unwrap().to_string()).collect()
    };
    let said = |core: &str| {
        format!(
            "{{\"schema\":\"gander-explain/1\",\"results\":[{{\"property\":\"on_p\",\"cores\":[[{core}]]}}]}}"
        )
    };
    // The search can continue from either core; unnecessary elements are left out.
    for below in ["a1_below", "a2_below"] {
        folder
            .write("from.json", said(&format!("\"{below}\",\"below\",\"doi_on\",\"on_p\",\"d1\"")));
        assert_eq!(minimal("from.json"), [below, "below", "doi_on", "on_p"]);
    }
    // Forged, truncated or missing cores are ignored.
    let whole = said("\"on_p\"");
    for content in [
        said(""),
        said("\"on_p\""),
        said("\"missing\""),
        whole[..40].to_string(),
        String::new(),
        "[]".into(),
    ] {
        folder.write("from.json", &content);
        let core = minimal("from.json");
        assert!(
            core.len() == 4 && core[1..] == ["below", "doi_on", "on_p"],
            "{core:?} from {content}"
        );
    }
    assert_eq!(minimal("nowhere.json").len(), 4);
}

#[test]
fn several_roots_are_one_page() {
    needs_z3!();
    let model = "node one(a: int) returns (p: bool);
let
  p = a * 2 = a + a;
  --%PROPERTY p;
tel
node two(b: int) returns (q: bool);
let
  q = b <= b;
  --%PROPERTY q;
tel
";
    let folder = Folder::with("r.lus", model);
    let page = folder.run(&["explain", "--matrix", "html", "r.lus"]).out;
    assert_eq!(page.matches("<!doctype html>").count(), 1, "{page}");
    assert!(page.contains("<button>p</button>") || page.contains("p</button>"), "{page}");
    assert!(page.contains("q</button>"), "{page}");
}

#[test]
fn claims_of_all_kinds_have_cores_or_say_why_not() {
    needs_z3!();
    let model = "
spec Account
var x: int
start { x == 0 }
step up when x < 3 { x := x + 1 }
step never when x > 5 { x := 0 }
step rest when x >= 3 { }
always small: x <= 3
reachable three: x == 3
reachable order: x == 2 then up with x == 1
eventually done: x == 3
no deadlock
always possible reset: x == 3
";
    let folder = Folder::with("m.sts", model);
    let ran = folder.run(&["explain", "m.sts"]);
    let text = &ran.out;
    assert!(text.starts_with("three: holds after 3 steps; no run is shorter"), "{text}");
    assert!(
        text.contains(
            "reset: no core: not for this kind: more runs can make it true as well as false"
        ),
        "{text}"
    );
    let found = cores(&folder, &["-p", "order", "-p", "done", "-p", "no deadlock", "m.sts"]);
    // The start is not needed: after `x == 2` no step leads back to 1.
    assert_eq!(core_of(&found, "order"), ["never guard 1", "up guard 1", "up x :="]);
    // Only `up` can be taken again and again below 3. Its guard is not needed.
    assert_eq!(
        core_of(&found, "done"),
        ["never guard 1", "rest guard 1", "start constraint 1", "up x :="]
    );
    // For every number, some guard holds.
    assert_eq!(core_of(&found, "no deadlock"), [] as [&str; 0], "{found:?}");
    let claims = folder.run(&["check", "--json", "m.sts"]).out;
    let value: Value = serde_json::from_str(&claims).unwrap();
    let results = value["results"].as_array().unwrap();
    let failed = |r: &&Value| r["verdict"] == "fails" && r["claim"] != "order";
    let dead = results.iter().find(failed).and_then(|r| r["claim"].as_str()).unwrap();
    assert!(dead.contains("never"), "{dead}");
    let why = cores(&folder, &["-p", dead, "m.sts"]);
    assert_eq!(
        core_of(&why, dead),
        ["never guard 1", "start constraint 1", "up guard 1", "up x :="]
    );
}

#[test]
fn a_bound_on_steps_is_one_element() {
    needs_z3!();
    let script =
        "MAXSTEPS: 3\nVARS:\n  int x;\nINIT:\n  x = 0;\nTRANS:\n  x = x + 1;\nSAFE: x <= 3\n";
    let ran = Folder::with("s.script", script).run(&["explain", "--minimal", "s.script"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let line =
        ran.out.lines().find(|l| l.contains("MAXSTEPS")).unwrap_or_else(|| panic!("{}", ran.out));
    assert!(line.contains("line 1"), "{line}");
    assert_eq!(ran.out.matches("MAXSTEPS").count(), 1, "{}", ran.out);
}

#[test]
fn each_range_of_a_shared_parameter_is_an_element() {
    needs_z3!();
    let model = "spec Giver
var x: int
start { x == 0 }
step give(n: int 1..4) { x := x + n }
spec Taker
var y: int
start { y == 0 }
step take(n: int 2..3) { y := y - n }
system Both = a: Giver || b: Taker[2] sync move(n) forall i (a.give, b[i].take)
always p: a.x >= 0
";
    let ran = Folder::with("both.sts", model).run(&["explain", "--all=offline", "both.sts"]);
    ran.prints(&[
        // What is written once is one element for both takers, but for their first values.
        "p: 2 minimal cores among ",
        "that is all there are\n",
        "line 4     n: int 1..4\n",
        "line 8     n: int 2..3\n",
    ]);
    assert_eq!(ran.out.matches("n: int 2..3").count(), 1, "{}", ran.out);
}

#[test]
fn a_value_that_is_fixed_after_a_free_one_is_shown() {
    needs_z3!();
    let model = "spec Up
var x: int
input w: int 0..2
start { x == 0 }
step up { x := x + 1 }
reachable r: up with x == 2 and w == 2
";
    let ran = Folder::with("up.sts", model).run(&["explain", "-p", "r", "up.sts"]);
    ran.prints(&[
        "1  up     x = 1, w = any\n",
        "2  up     x = 2, w = 2\n",
        "3  up     x = 3, w = any\n",
    ]);
}

#[test]
fn mutants_of_lustre_are_in_its_words() {
    needs_z3!();
    let model = "node sub(a: int) returns (b: int);
let
  b = if a < 3 then a else 3;
tel
node top(x: int; go: bool) returns (y: int; seen: bool);
let
  assert x < 9;
  y = sub(x);
  seen = go or (false -> pre seen);
  --%PROPERTY y <= 3;
tel
";
    let ran = Folder::with("m.lus", model).run(&["explain", "--mutation", "m.lus"]);
    // Formulas without the paths of instances, primes and quotes within quotes.
    ran.prints(&[
        "`a < 3` becomes `a <= 3`\n",
        "`x < 9` becomes `x <= 9`\n",
        "`go or pre seen` becomes `go and pre seen`, in later states only\n",
    ]);
    assert!(!ran.out.contains("sub#1") && !ran.out.contains('\''), "{}", ran.out);
    // Streams of two instances keep the paths that tell them apart.
    let model = "node sub(a: int) returns (b: int);
let
  b = if a < 3 then a else 3;
tel
node top(x: int) returns (y: int; p: bool);
let
  y = sub(x) + sub(-x);
  p = y <= 100 or x > 0;
  --%PROPERTY p;
tel
";
    let ran = Folder::with("m.lus", model).run(&["explain", "--mutation", "m.lus"]);
    ran.prints(&["sub#1.b + top.sub#2.b` becomes `top.sub#1.b - top.sub#2.b`\n"]);
}
