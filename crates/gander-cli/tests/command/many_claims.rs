//! Systems of many independent parts.

use std::fmt::Write;

use crate::support::Folder;

/// Loops that count to 1, 2 or 3 and go back to 0.
fn loops(count: usize) -> String {
    let mut model = "spec Loops\n".to_string();
    let all = || 0..count;
    all().for_each(|i| writeln!(model, "var x{i}: int").unwrap());
    let zero: Vec<String> = all().map(|i| format!("x{i} == 0")).collect();
    writeln!(model, "start {{ {} }}", zero.join(" ")).unwrap();
    for i in all() {
        let bound = 1 + i % 3;
        writeln!(model, "step up{i} when x{i} < {bound} {{ x{i} := x{i} + 1 }}").unwrap();
        writeln!(model, "step wrap{i} when x{i} == {bound} {{ x{i} := 0 }}").unwrap();
        writeln!(model, "step never{i} when x{i} > {bound} {{ x{i} := 0 }}").unwrap();
    }
    model
}

/// A run has only the steps of the part that its claim is about.
#[test]
fn runs_of_many_claims_are_about_their_part() {
    let folder = Folder::with("loops.sts", loops(90));
    let args = ["check", "--json", "--engine", "simulate", "--timeout", "10", "--allow", "all"];
    let value = folder.run(&[&args[..], &["loops.sts"]].concat()).validated("gander.schema.json");
    for result in value["results"].as_array().unwrap() {
        let Some(name) = result["claim"].as_str().unwrap().strip_prefix("can enable ") else {
            continue;
        };
        let (kind, number) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap());
        let bound = 1 + number.parse::<u64>().unwrap() % 3;
        let expected = match kind {
            "up" => (Some("holds"), Some(0)),
            "wrap" => (Some("holds"), Some(bound)),
            _ => (Some("unknown"), None),
        };
        let found = (result["verdict"].as_str(), result["length"].as_u64());
        assert_eq!(found, expected, "{name}");
    }
}

/// One invariant shows that all of these are never taken.
#[test]
fn dead_parts_are_proved_together() {
    needs_z3!();
    let folder = Folder::with("loops.sts", loops(40));
    let args = ["check", "--json", "--engine", "simulate,induction", "--timeout", "60"];
    let args = [&args[..], &["--allow", "all", "loops.sts"]].concat();
    let ran = folder.run(&args);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let value = ran.validated("gander.schema.json");
    for result in value["results"].as_array().unwrap() {
        let dead = result["claim"].as_str().unwrap().contains("never");
        let expected = if dead { "fails" } else { "holds" };
        assert_eq!(result["verdict"], expected, "{}", result["claim"]);
    }
}

/// `easy` is inductive, but not together with `bounded`, which is over the same variable, and the
/// queries about all three have products of variables.
#[test]
fn a_claim_that_is_inductive_by_itself_does_not_wait_for_others() {
    needs_z3!();
    let model = "\
spec Products
var x, y, z, n: int
input u: int 0..100
start { x == 1, y == 1, z == 1, n == 0 }
step grow when u > 1 { x := x * y + u, y := y * z + 1, z := z + x * u, n := n + 1 }
step square { x := y * y - z, z := z * z + u, n := n + 2 }
step back when n > 50 { x := 0, n := n - 3 }
always product: x * y != z * 7919 + 13
always bounded: n <= 1000
always easy: n >= 0 - 10
";
    let folder = Folder::with("products.sts", model);
    let ran = folder.run(&["check", "--checks", "none", "--timeout", "5", "products.sts"]);
    assert!(ran.out.contains("holds    easy"), "{}", ran.out);
}
