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
