//! Scripts: the examples of docs/script.md, the files in examples/script, the resulting systems,
//! and invalid input.

use expect_test::{Expect, expect};
use gander_lang::{Code, RenderStyle, SourceFile, render_all, script};
use gander_runtime::Random;

fn shown(text: &str) -> String {
    let loaded = script::load(text, "model.script");
    render_all(&loaded.diagnostics, &SourceFile::new("model.script", text), RenderStyle::default())
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&shown(text));
}

#[test]
fn every_example_of_the_manual_behaves_as_it_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/script.md");
    let page = std::fs::read_to_string(path).expect("docs/script.md is there");
    let mut checked = 0;
    for part in page.split("```script").skip(1) {
        let (info, rest) = part.split_once('\n').expect("a fence ends its line");
        let (text, _) = rest.split_once("```").expect("a fence is closed");
        checked += 1;
        let loaded = script::load(text, "example.script");
        let codes: Vec<Code> = loaded.diagnostics.iter().map(|d| d.code).collect();
        match info.trim().strip_prefix("error ") {
            None => assert!(codes.is_empty(), "{}", shown(text)),
            Some(code) => assert_eq!(codes, [Code::find(code).expect(code)], "{}", shown(text)),
        }
    }
    assert!(checked > 5, "only {checked} examples were found");
}

#[test]
fn every_example_file_loads() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/script");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("the examples are there").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("an example can be read");
        let loaded = script::load(&text, &entry.file_name().to_string_lossy());
        assert!(loaded.diagnostics.is_empty(), "{:?}\n{}", entry.path(), shown(&text));
        assert!(loaded.system.is_some_and(|s| !s.claims().is_empty()));
        files += 1;
    }
    assert!(files >= 8, "only {files} examples");
}

#[test]
fn processes_are_instances_and_states_are_nodes() {
    let text = "VARS: int c : 0..9; proc P = p; proc Q = p; INIT: c = 0; PROGRAM: P >: Q REACH: Q.state == Q.B
        PROCESS p: VARS: state A, B; INIT: state = A; TRANS: A -> B { c = c + 1 };";
    let loaded = script::load(text, "two.script");
    let system = loaded.system.expect("it loads");
    let nodes: Vec<&str> = system.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(nodes, ["P@A (Q@A)", "P@B (Q@A)", "Q@B (P@A)", "Q@B (P@B)"]);
    let steps: Vec<&str> = system.gates().iter().map(String::as_str).collect();
    assert_eq!(steps, ["P.rule1", "Q.rule1"]);
    assert_eq!(system.name(), "two");
}

#[test]
fn bounded_and_other_goals_give_two_systems() {
    let text = "MAXSTEPS: 4 VARS: int x; INIT: x = 0; TRANS: x = x + 1; REACH: x == 3 INF:";
    let loaded = script::load(text, "m.script");
    let bounded = loaded.system.expect("it loads");
    assert_eq!(bounded.claims()[0].text, "REACH: x == 3 (up to MAXSTEPS 4)");
    assert_eq!(bounded.vars().len(), 2);
    assert_eq!(loaded.others.len(), 1);
    assert_eq!(
        (loaded.others[0].claims()[0].name.as_str(), loaded.others[0].vars().len()),
        ("INF", 1)
    );
}

#[test]
fn missing_colons_and_question_marks_are_reported() {
    check(
        "VARS:\n  int sum;\n  int at 0..2;\nTRANS:\n  sum == 3 -> sum = 2;\nINF:\n",
        expect![[r#"
        error[E0110]: `:` is missing between `at` and its range
         --> model.script:3:10
          |
        3 |   int at 0..2;
          |          ^
          = help: write `:`

        error[E0110]: a guard begins with `?`
         --> model.script:5:3
          |
        5 |   sum == 3 -> sum = 2;
          |   ^
          = help: write `? guard -> x = value;`
    "#]],
    );
}

#[test]
fn undeclared_and_restricted_names_are_reported() {
    check(
        "VARS:\n  int truck : 0..MAX;\n  const int MAX = 20;\n  nondet int amount;\nINIT:\n  truckload = MAX;\nTRANS:\n  truck = truck - amuont;\n  amount, MAX = 1, 2;\nSAFE: truck + 1\n",
        expect![[r#"
            error[E0202]: there is no `truckload` here
             --> model.script:6:3
              |
            6 |   truckload = MAX;
              |   ^^^^^^^^^
              = help: declare it in `VARS`: `int truckload;`

            error[E0202]: there is no `amuont` here
             --> model.script:8:19
              |
            8 |   truck = truck - amuont;
              |                   ^^^^^^
              = help: did you mean `amount`?

            error[E0403]: `amount` is `nondet`: it has a new value after every step and cannot be updated
             --> model.script:9:3
              |
            9 |   amount, MAX = 1, 2;
              |   ^^^^^^
              = help: declare it without `nondet`

            error[E0403]: `MAX` is a constant
             --> model.script:9:11
              |
            9 |   amount, MAX = 1, 2;
              |           ^^^
              = help: declare it as a variable

            error[E0301]: this is an int, and a bool is needed
              --> model.script:10:7
               |
            10 | SAFE: truck + 1
               |       ^^^^^^^^^
        "#]],
    );
}

#[test]
fn wrong_blocks_and_programs_are_reported() {
    check(
        "VARS:\n  proc P = proces;\nPROGRAM:\n  P || Q\nSAFETY:\n  P.x > 0\nPROCESS process:\n  VARS: int x;\n  TRANS: x = 1;\n",
        expect![[r#"
            error[E0116]: there is no block `SAFETY`
             --> model.script:5:1
              |
            5 | SAFETY:
              | ^^^^^^
              = help: did you mean `SAFE`?
        "#]],
    );
}

#[test]
fn unknown_instances_and_processes_are_reported() {
    check(
        "VARS:\n  proc P = proces;\nPROGRAM:\n  P || Q\nSAFE:\n  R.x > 0\nPROCESS process:\n  VARS: int x;\n  TRANS: x = 1;\n",
        expect![[r#"
            error[E0701]: there is no process `proces`
             --> model.script:2:12
              |
            2 |   proc P = proces;
              |            ^^^^^^
              = help: did you mean `process`?

            error[E0702]: there is no instance `Q`
             --> model.script:4:8
              |
            4 |   P || Q
              |        ^
        "#]],
    );
}

/// Truncated texts and garbage: no panic, and an error if there is no system.
#[test]
fn every_text_is_handled() {
    let text = include_str!("../../../examples/script/choice.script");
    let cuts = (0..text.len()).step_by(7).filter_map(|end| text.get(..end));
    let mut texts: Vec<String> = cuts.map(str::to_string).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut random = Random::new(12345);
    for _ in 0..300 {
        let mut mixed = String::new();
        for _ in 0..40 {
            mixed.push_str(random.pick(&words));
            mixed.push(' ');
        }
        texts.push(mixed);
    }
    texts.push("VARS: int x; TRANS: x = ".to_string() + &"(".repeat(100_000));
    texts.push("VARS: int x; TRANS: x = ".to_string() + &"-".repeat(100_000) + "1;");
    texts.push("PROGRAM: ".to_string() + &"(".repeat(100_000));
    for text in texts {
        let loaded = script::load(&text, "bad.script");
        assert!(loaded.system.is_some() || loaded.errors().count() > 0, "{text}");
    }
}

#[test]
fn long_formulas_load() {
    let sum = "x + ".repeat(50_000) + "1";
    let text = format!("VARS: int x; INIT: x = 0; TRANS: x = {sum}; SAFE: x >= 0");
    assert!(script::load(&text, "long.script").system.is_some());
}

#[test]
fn several_names_in_a_declaration_are_one_error() {
    check(
        "VARS: bool mail, milk; nondet int n, m : 0..3; INIT: mail = false; TRANS: milk = true;\nREACH: mail & milk",
        expect![[r#"
            error[E0110]: every variable has a declaration of its own
             --> model.script:1:16
              |
            1 | VARS: bool mail, milk; nondet int n, m : 0..3; INIT: mail = false; TRANS: milk = true;
              |                ^
              = help: write `; bool`

            error[E0110]: every variable has a declaration of its own
             --> model.script:1:36
              |
            1 | VARS: bool mail, milk; nondet int n, m : 0..3; INIT: mail = false; TRANS: milk = true;
              |                                    ^
              = help: write `; nondet int`
        "#]],
    );
}

#[test]
fn a_goal_that_stays_possible_is_written_in_two_ways() {
    let text = "VARS: int x : 0..3; POSSIBLE: 1; INIT: x = 0; TRANS: x = x + 1;";
    assert!(script::load(text, "m.script").system.is_none());
    let text = "MAXSTEPS: 9 VARS: int x : 0..3; INIT: x = 0; TRANS: x = x + 1; \
                POSSIBLE back: x == 0 CHECK: A[] E<> x == 3 & x > 1 CHECK: A[] x < 4";
    let loaded = script::load(text, "m.script");
    let kinds: Vec<String> = loaded
        .system
        .iter()
        .chain(&loaded.others)
        .flat_map(|s| s.claims().iter().map(|c| format!("{}: {}", c.name, c.kind.word())))
        .collect();
    // `MAXSTEPS` bounds only the last one.
    assert_eq!(kinds, ["CHECK 2: always", "back: always-possible", "CHECK 1: always-possible"]);
}
