//! What people type out of habit from other languages: each has a message with the right form, and
//! the mistakes behind it are reported, too.

use gander_lang::{Code, Diagnostic, Severity, language_of};

fn diagnostics(file: &str, text: &str) -> Vec<Diagnostic> {
    let language = language_of(file).expect("a language");
    (language.load)(text, file).diagnostics
}

/// The text has exactly these errors, in order, each with a help that contains the given text.
fn hints(file: &str, text: &str, expected: &[&str]) {
    let errors: Vec<Diagnostic> =
        diagnostics(file, text).into_iter().filter(|d| d.severity() == Severity::Error).collect();
    let shown: Vec<String> = errors
        .iter()
        .map(|d| format!("{}: {} / {}", d.code.as_str(), d.message, d.helps.join("; ")))
        .collect();
    assert_eq!(errors.len(), expected.len(), "{text}\n{}", shown.join("\n"));
    for (error, expected) in shown.iter().zip(expected) {
        assert!(error.contains(expected), "{text}\n`{expected}` is not in\n{error}");
    }
}

/// A `.sts` model with a claim, and a second mistake behind it.
fn claim(formula: &str, hint: &str) {
    let text = format!(
        "spec A\nvar x, y: int\nvar a, b: bool\nvar s: string\nstart {{ x == 0, y == 0, a, b, s == \"\" }}\nalways p: {formula}\nalways q: x = 1\n"
    );
    hints("m.sts", &text, &[hint, "write `==`"]);
}

/// A `.sts` model with an effect, and a second mistake behind it.
fn effect(effect: &str, hint: &str) {
    let text = format!(
        "spec A\nvar x: int\nvar a: array[int] of int\nstart {{ x == 0 }}\nstep go {{ {effect} }}\nalways q: x = 1\n"
    );
    hints("m.sts", &text, &[hint, "write `==`"]);
}

#[test]
fn an_arrow_with_two_lines_is_no_implication() {
    claim("a => b", "write `->` for an implication, `>=` for at least");
}

#[test]
fn other_spellings_of_leads_to_get_a_fix() {
    let text =
        "spec A\nvar a, b: bool\nstart { a, b }\np: a ~> b\nq: a leadsto b\nalways r: a = b\n";
    hints("m.sts", text, &["write `leads to`", "write `leads to`", "write `==`"]);
}

#[test]
fn upper_case_connectives_get_a_fix() {
    claim("a AND b", "lower case: `and`");
    claim("a OR b", "lower case: `or`");
    claim("x > 0 Or y > 0", "lower case: `or`");
    claim("NOT a", "lower case: `not`");
    let fine = "spec A\nvar a, b: bool\nstart { a, b }\nalways p: a && !b || a\n";
    assert!(diagnostics("m.sts", fine).iter().all(|d| d.severity() == Severity::Warning));
    // A gate may have such a name.
    let gate =
        "spec A var x: int start -> N { x == 0 } node N { go when x > 0 OR -> N } always p: x == 0";
    hints("m.sts", gate, &[]);
}

#[test]
fn increments_are_assignments() {
    effect("x += 1", "write `x := x + …`");
    effect("x -= 1", "write `x := x - …`");
    effect("x++", "write `x := x + 1`");
    effect("x--", "write `x := x - 1`");
}

#[test]
fn unequal_is_written_with_a_bang() {
    claim("x <> y", "write `!=`");
    claim("x /= y", "write `!=`");
}

#[test]
fn a_choice_is_if_then_else() {
    claim("(a ? x : y) == 0", "a choice is written `if c then a else b`");
    claim("a ? a : b", "a choice is written `if c then a else b`");
}

#[test]
fn strings_have_double_quotes() {
    claim("s == 'abc'", "write `\"abc\"`");
}

#[test]
fn a_declaration_begins_with_var() {
    let text = "spec A\nint x = 0;\nbool b;\nvar y: int\nstart { y == 0 }\nalways q: y = 1\n";
    hints("m.sts", text, &["write `var x: int`", "write `var b: bool`", "write `==`"]);
}

#[test]
fn an_element_is_assigned_through_its_array() {
    effect("a[0] := 1", "write `a := a[0 := …]`");
    effect("a[x + 1] := 1", "write `a := a[x + 1 := …]`");
}

#[test]
fn a_guard_with_if_gets_a_fix() {
    let text =
        "spec A\nvar x: int\nstart { x == 0 }\nstep go if x > 0 { x := 1 }\nalways q: x = 1\n";
    hints("m.sts", text, &["write `when`", "write `==`"]);
}

#[test]
fn a_range_in_brackets_gets_a_fix() {
    let text = "spec A\nvar x: int [0..3]\nstart { x == 0 }\nstep s(n: int [1..2]) { x := n }\nalways q: x = 1\n";
    hints("m.sts", text, &["write `int 0..3`", "write `int 1..2`", "write `==`"]);
}

#[test]
fn a_quantifier_has_a_sort_and_a_dot() {
    claim("forall k in 0..3: k > x", "write `forall k: int 0..3. p`");
    claim("forall k: int 0..3: k > x", "write `forall k: int 0..3. p`");
}

#[test]
fn the_kind_of_a_claim_stands_before_its_name() {
    let text =
        "spec A\nvar x: int\nstart { x == 0 }\nalways q: eventually x > 0\nalways r: x = 1\n";
    hints("m.sts", text, &["write `always eventually q: …`", "write `==`"]);
}

#[test]
fn claims_of_other_languages_are_all_reported() {
    let text = "spec A\nvar x: int\nstart { x == 0 }\ninvariant x >= 0\nproperty x >= 0\nassert (x >= 0)\nnever x < 0\nalways r: x = 1\n";
    hints(
        "m.sts",
        text,
        &[
            "written `always`; the claims are",
            "written `always`",
            "written `always`",
            "`always not p`",
            "write `==`",
        ],
    );
}

#[test]
fn a_start_that_leaves_a_range_open_is_a_warning() {
    let text = "spec A\nvar turn: int 0..1\nvar x: int\nstart { x == 0 }\nstep s { x := turn, turn := 0 }\nalways p: x == x\n";
    let found = diagnostics("m.sts", text);
    let codes: Vec<Code> = found.iter().map(|d| d.code).collect();
    assert_eq!(codes, [Code::W0808], "{found:?}");
    assert!(found[0].message.contains("`start` leaves `turn` open"), "{found:?}");
    let given = text.replace("start { x == 0 }", "start { x == 0, turn == 0 }");
    assert!(diagnostics("m.sts", &given).is_empty());
}

#[test]
fn a_script_has_signs_for_connectives_and_no_implication() {
    let script = |formula: &str| {
        format!(
            "VARS:\n int x;\n int y;\nINIT:\n x = 0;\n y = 0;\nTRANS:\n ? x > 0 -> x = 1;\nSAFE: {formula}\nREACH: x > 0 ) 1\n"
        )
    };
    hints("m.script", &script("x >= 0 and y >= 0"), &["write `&`", ""]);
    hints("m.script", &script("x >= 0 or y >= 0"), &["write `|`", ""]);
    hints("m.script", &script("x > 0 -> y > 0"), &["write `!a | b`", ""]);
    hints("m.script", &script("x > 0 => y > 0"), &["write `!a | b`", ""]);
}

#[test]
fn an_annotation_with_a_blank_is_a_warning() {
    for annotation in ["--% PROPERTY y = 1;", "--%  MAIN;", "(*% PROPERTY y = 1; *)"] {
        let text = format!(
            "node N(x: int) returns (y: int);\nlet\n  y = x;\n  {annotation}\n  --%PROPERTY y = x;\ntel\n"
        );
        let found = diagnostics("m.lus", &text);
        assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::W0820], "{text}");
        assert!(found[0].message.contains("is a comment, because of the blank"), "{found:?}");
    }
    let comment = "node N(x: int) returns (y: int);\nlet\n  y = x;\n  --% properties follow\n  --%PROPERTY y = x;\ntel\n";
    assert!(diagnostics("m.lus", comment).is_empty());
}

#[test]
fn an_automaton_is_refused_with_what_expresses_it() {
    let text = "node N(x: bool) returns (y: int);\nlet\n  automaton\n    initial state A: let y = 1; tel until if x restart B;\n    state B: let y = 2; tel\n  returns y;\ntel\nnode M(x: int) returns (y: int);\nlet\n  y = x == 1;\ntel\n";
    let found = diagnostics("m.lus", text);
    let automaton = found.iter().find(|d| d.code == Code::E0510).expect("automata");
    assert!(automaton.helps.join(" ").contains("an `enum` for the state"), "{automaton:?}");
    assert!(found.iter().any(|d| d.code == Code::E0130), "{found:?}");
}
