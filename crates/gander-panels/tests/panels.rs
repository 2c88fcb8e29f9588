//! Requests of panels and their answers, without a protocol.

use gander_panels::Panels;
use serde_json::{Value, json};

const ACCOUNT: &str = "\
spec Account
// <script>alert(1)</script>
var balance: int
start -> Open { balance == 50 }
node Open {
  deposit(amount: int) when amount > 0 { balance := balance + amount }
  withdraw(amount: int) when amount > 0 and amount <= balance + 1 { balance := balance - amount }
  freeze -> Frozen
}
node Frozen { thaw -> Open }
always solvent: balance >= 0
";

const COUNTER: &str = "\
node counter(up: bool) returns (n: int; small: bool);
let
  n = (0 -> pre n) + (if up then 1 else 0);
  small = n < 3;
  --%PROPERTY small;
tel
";

fn ask(request: &str, name: &str, text: &str, more: Value) -> Result<Value, String> {
    let mut params = json!({ "name": name, "text": text });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    Panels::default().answer(request, &params).unwrap()
}

fn account(request: &str, more: Value) -> Result<Value, String> {
    ask(request, "account.sts", ACCOUNT, more)
}

/// The cells of a row of a timeline.
fn cells(timeline: &Value, row: &str) -> Vec<String> {
    let groups = timeline["groups"].as_array().unwrap();
    let rows = groups.iter().flat_map(|g| g["rows"].as_array().unwrap());
    let found = rows.filter(|r| r["name"] == row).flat_map(|r| r["cells"].as_array().unwrap());
    found.map(|c| c.as_str().unwrap().to_string()).collect()
}

#[test]
fn unknown_requests_are_not_answered_and_wrong_ones_are_refused() {
    let panels = Panels::default();
    assert!(panels.answer("none", &json!({})).is_none());
    for request in Panels::REQUESTS {
        for params in [
            json!(null),
            json!([]),
            json!({ "name": "a.sts" }),
            json!({ "name": 1, "text": 2 }),
            json!({ "name": "a.sts", "text": "spec A\nvar x: nothing\n" }),
            json!({ "name": "a.sts", "text": ACCOUNT, "system": "Other" }),
        ] {
            let answer = panels.answer(request, &params).unwrap();
            // An export takes the first system, whatever is named.
            assert!(answer.is_err() || request == "export", "{request} {params}");
        }
    }
}

#[test]
fn the_picture_says_what_it_stands_for() {
    let graph = account("graph", json!({})).unwrap();
    let svg = graph["graphs"][0]["svg"].as_str().unwrap();
    assert_eq!(graph["graphs"][0]["nodes"], json!(["Open", "Frozen"]));
    assert_eq!(graph["transitions"].as_array().unwrap().len(), 4);
    for id in 0..4 {
        assert!(svg.contains(&format!("data-transitions=\"{id}\"")), "{id}: {svg}");
    }
    assert!(svg.contains("data-node=\"0\"") && svg.contains("data-node=\"1\""), "{svg}");
    assert!(svg.contains("amount &lt;= balance + 1"), "the guard is a title: {svg}");
    assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    // A dataflow program has no control graph to look at.
    let none = ask("graph", "counter.lus", COUNTER, json!({})).unwrap();
    assert_eq!(none["graphs"], json!([]));
}

#[test]
fn a_simulation_takes_moves_with_values() {
    let begun = account("simulate", json!({ "moves": [] })).unwrap();
    assert_eq!(cells(&begun["timeline"], "balance"), ["50"]);
    let choices = begun["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 3);
    assert_eq!(choices[0]["parameters"][0]["name"], "amount");
    // The moves of the answer, and one more.
    let mut moves = begun["moves"].as_array().unwrap().clone();
    let withdraw = choices[1]["action"].clone();
    moves.push(json!({ "action": withdraw, "values": { "amount": "51" } }));
    let next = account("simulate", json!({ "moves": moves })).unwrap();
    assert_eq!(cells(&next["timeline"], "balance"), ["50", "-1"]);
    assert_eq!(next["failing"], json!(["solvent"]));
    assert_eq!((&next["problem"], next["moves"].as_array().unwrap().len()), (&Value::Null, 2));
    assert_eq!(next["timeline"]["steps"][1]["range"]["line"], json!(7));
    // The same moves give the same run.
    let again = account("simulate", json!({ "moves": next["moves"] })).unwrap();
    assert_eq!(again["timeline"], next["timeline"]);
}

#[test]
fn a_move_that_is_not_possible_is_a_problem_and_costs_nothing() {
    for values in [json!({ "amount": "52" }), json!({ "amount": "x" }), json!({ "other": "1" })] {
        let moves = json!([{ "action": "Open.withdraw", "values": values }]);
        let begun = account("simulate", json!({ "moves": [] })).unwrap();
        let action = &begun["choices"][1]["action"];
        let moves = json!([{ "action": action, "values": moves[0]["values"] }]);
        let answer = account("simulate", json!({ "moves": moves })).unwrap();
        assert!(answer["problem"].is_string(), "{values}");
        assert_eq!(cells(&answer["timeline"], "balance"), ["50"]);
    }
    let moves = json!([{ "action": "nothing", "values": {} }]);
    assert!(account("simulate", json!({ "moves": moves })).unwrap()["problem"].is_string());
    for wrong in
        [json!([1]), json!([{ "values": {} }]), json!([{ "action": "a", "values": { "b": 1 } }])]
    {
        assert!(account("simulate", json!({ "moves": wrong })).is_err(), "{wrong}");
    }
    let many: Vec<Value> = vec![json!({ "action": "a", "values": {} }); 3_000];
    assert!(account("simulate", json!({ "moves": many })).is_err());
}

#[test]
fn random_steps_are_bounded_and_repeatable() {
    let some = account("simulate", json!({ "moves": [], "random": 10, "seed": 7 })).unwrap();
    assert_eq!(some["timeline"]["steps"].as_array().unwrap().len(), 11);
    let replayed = account("simulate", json!({ "moves": some["moves"] })).unwrap();
    assert_eq!(replayed["timeline"], some["timeline"]);
    let stuck = "spec S\nvar x: int\nstart { x == 0 }\nstep up when x < 2 { x := x + 1 }\n";
    let all = ask("simulate", "s.sts", stuck, json!({ "moves": [], "random": 1000000 })).unwrap();
    assert_eq!(all["timeline"]["steps"].as_array().unwrap().len(), 3);
    assert!(all["problem"].as_str().unwrap().contains("No further step"), "{all}");
}

#[test]
fn a_dataflow_program_is_simulated_by_instants() {
    let begun = ask("simulate", "counter.lus", COUNTER, json!({ "moves": [] })).unwrap();
    assert_eq!(begun["choices"][0]["parameters"][0]["name"], "up");
    let moves: Vec<Value> = vec![json!({ "action": "step", "values": { "up": "true" } }); 3];
    let run = ask("simulate", "counter.lus", COUNTER, json!({ "moves": moves })).unwrap();
    assert_eq!(cells(&run["timeline"], "n"), ["1", "2", "3"]);
    assert_eq!(run["failing"].as_array().unwrap().len(), 1);
}

fn evidence(last: &str) -> Value {
    json!({
        "schema": "gander-evidence/1", "system": "Account", "claim": "solvent", "verdict": "fails",
        "evidence": {
            "kind": "run", "start": "start",
            "first": { "node": "Open", "values": { "balance": "50" } },
            "steps": [{
                "transition": "Open.withdraw", "params": { "amount": "51" },
                "next": { "balance": last }
            }],
        },
    })
}

#[test]
fn a_run_is_replayed_before_it_is_shown() {
    // Starts and transitions have the names of the system.
    let graph = account("graph", json!({})).unwrap();
    let name = graph["transitions"][1]["name"].as_str().unwrap().to_string();
    let named = |mut evidence: Value| {
        evidence["evidence"]["steps"][0]["transition"] = json!(name);
        evidence
    };
    let shown = account("run", json!({ "evidence": named(evidence("-1")) })).unwrap();
    assert_eq!(cells(&shown, "balance"), ["50", "-1"]);
    assert_eq!(
        (&shown["steps"][1]["transition"], &shown["steps"][1]["node"]),
        (&json!(1), &json!("Open"))
    );
    for wrong in [named(evidence("0")), json!({}), json!(null), json!([1, { "a": "b" }])] {
        assert!(account("run", json!({ "evidence": wrong })).is_err());
    }
}

#[test]
fn exports_are_written_or_refused() {
    let smv = account("export", json!({ "format": "smv" })).unwrap();
    assert!(smv["text"].as_str().unwrap().contains("MODULE main"));
    let dot = account("export", json!({ "format": "dot" })).unwrap();
    assert!(dot["text"].as_str().unwrap().starts_with("digraph"));
    assert!(account("export", json!({ "format": "word" })).is_err());
    assert!(account("export", json!({})).is_err());
}
