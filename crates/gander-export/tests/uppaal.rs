//! UPPAAL: one template for each process, and refusals that name the reason.

use gander_export::{Format, Options, export};

fn written(text: &str, file: &str) -> Result<String, String> {
    let language = gander_lang::language_of(file).expect("a known language");
    let loaded = (language.load)(text, file);
    let errors: Vec<String> = loaded.errors().map(|e| e.message.clone()).collect();
    let system = loaded.system.unwrap_or_else(|| panic!("{errors:?}"));
    export(&system, Format::Uppaal, Options::default()).map_err(|e| e.to_string())
}

const TWO: &str = "VARS: int n : 0..5; proc P = p; proc Q = q; INIT: n = 0; PROGRAM: P || Q SAFE: n < 5 REACH: P.y == 2 \
    PROCESS p: VARS: int y : 0..2; state A, B; INIT: y = 0; state = A; TRANS: A -> B { y = y + 1 }; B -> A { n = n + 1 }; \
    PROCESS q: VARS: state C, D; INIT: state = C; TRANS: C -> D { n = n - 1 }; D -> C { n = 0 };";

/// True if every opened tag is closed, in order.
fn is_balanced(xml: &str) -> bool {
    let mut open = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find('<') {
        let Some(end) = rest[at..].find('>') else { return false };
        let tag = &rest[at + 1..at + end];
        rest = &rest[at + end + 1..];
        if tag.starts_with(['?', '!']) || tag.ends_with('/') {
            continue;
        }
        match tag.strip_prefix('/') {
            Some(name) => {
                if open.pop() != Some(name) {
                    return false;
                }
            }
            None => open.push(tag.split(' ').next().unwrap_or_default()),
        }
    }
    open.is_empty()
}

#[test]
fn each_process_is_a_template() {
    let xml = written(TWO, "two.script").unwrap();
    assert!(is_balanced(&xml), "{xml}");
    assert_eq!(xml.matches("<template>").count(), 2, "{xml}");
    for part in [
        "<name>P</name>",
        "<name>Q</name>",
        "int[0,5] n = 0;",
        "int[0,2] P_y = 0;",
        "<label kind=\"assignment\">P_y = (P_y + 1)</label>",
        "system P, Q;",
        "<formula>A[] (n &lt; 5)</formula><comment>SAFE</comment>",
        "<formula>E&lt;&gt; (P_y == 2)</formula><comment>REACH</comment>",
    ] {
        assert!(xml.contains(part), "{part}\n{xml}");
    }
    // Each has two locations and two edges, not those of the product.
    assert_eq!(
        (xml.matches("<location ").count(), xml.matches("<transition>").count()),
        (4, 4),
        "{xml}"
    );
}

/// Processes without `state` have one location each.
#[test]
fn each_process_without_states_is_a_template() {
    let text = "VARS: int n : 0..5; proc P = p; proc Q = p; INIT: n = 0; PROGRAM: P || Q SAFE: n < 5 INF: \
        PROCESS p: VARS: int y : 0..2; INIT: y = 0; TRANS: y, n = y + 1, n + 1; ? n > 3 -> n = 0;";
    let xml = written(text, "two.script").unwrap();
    assert!(is_balanced(&xml), "{xml}");
    let count = |what: &str| xml.matches(what).count();
    assert_eq!(
        (count("<template>"), count("<location "), count("<transition>")),
        (2, 2, 4),
        "{xml}"
    );
    assert!(xml.contains("system P, Q;") && xml.contains("E[] ((P.main &amp;&amp;"), "{xml}");
    // One with states and one without.
    let mixed = TWO.replace(
        "state C, D; INIT: state = C; TRANS: C -> D { n = n - 1 }; D -> C { n = 0 };",
        "bool b; INIT: b = false; TRANS: n, b = n - 1, !b; ? b -> n = 0;",
    );
    let xml = written(&mixed, "two.script").unwrap();
    let count = |what: &str| xml.matches(what).count();
    assert_eq!(
        (count("<template>"), count("<location "), count("<transition>")),
        (2, 3, 4),
        "{xml}"
    );
}

/// Instances that never move together are processes; a synchronisation makes them one.
#[test]
fn instances_without_synchronisations_are_templates() {
    let spec = "spec A var x: bool start { x } step up { x := not x } ";
    let apart = format!("{spec} system S = a: A[2] always p: a[0].x");
    let xml = written(&apart, "apart.sts").unwrap();
    assert_eq!(xml.matches("<template>").count(), 2, "{xml}");
    let joined = format!("{spec} system S = a: A[2] sync both (a[0].up, a[1].up) always p: a[0].x");
    let xml = written(&joined, "joined.sts").unwrap();
    assert_eq!(xml.matches("<template>").count(), 1, "{xml}");
}

#[test]
fn updates_are_simultaneous() {
    let xml = written(
        "VARS: int a : 0..3; int b : 0..3; INIT: a = 0; b = 1; TRANS: a, b = b, a; SAFE: a < 2",
        "s.script",
    );
    let xml = xml.unwrap();
    assert!(xml.contains("new_a = b, new_b = a, a = new_a, b = new_b"), "{xml}");
    assert!(xml.contains("meta int[0,3] new_a;"), "{xml}");
}

#[test]
fn a_start_that_leaves_values_open_selects_them_first() {
    let xml = written(
        "VARS: int a : 0..3; bool f; INIT: a > 1; TRANS: a = a + 1; LIVENESS: a == 3",
        "s.script",
    )
    .unwrap();
    assert!(is_balanced(&xml), "{xml}");
    assert!(
        xml.contains("<committed/>") && xml.contains("first_a : int[0,3], first_f : int[0,1]"),
        "{xml}"
    );
    assert!(xml.contains("<formula>Start.Chosen --&gt; (a == 3)</formula>"), "{xml}");
}

#[test]
fn unsupported_features_are_refused_by_name() {
    for (text, words) in [
        (
            "spec S var x: int start { x == 0 } step s { x := x + 1 } always p: x < 3",
            "`x`, an int without a range",
        ),
        (
            "spec S var x: real start { x == 0 } step s { x := x + 1 } always p: x < 3",
            "`x`, which is of sort real",
        ),
        (
            "spec S var x: bits8 start { x == 0 } step s { x := x } always p: x < 3",
            "`x`, which is of sort",
        ),
        (
            "spec S var b: bool start { b } step s { b' or b } always p: b",
            "whose effect is a constraint",
        ),
        ("spec S var b: bool start { b } assume b step s { b := b } always p: b", "an assumption"),
    ] {
        let refusal = written(text, "s.sts").unwrap_err();
        assert!(
            refusal.contains(words) && refusal.ends_with("cannot be written for UPPAAL"),
            "{text}: {refusal}"
        );
    }
}

#[test]
fn arithmetic_that_might_overflow_is_refused() {
    let model =
        |value: &str| format!("VARS: int a : 0..30000; INIT: a = 0; TRANS: {value}; SAFE: a < 5");
    for fine in
        ["a = a * a % 7", "a = a * a - a * a", "a = a * 70000 % 7", "a = (a + 2147000000) % 7"]
    {
        let text = written(&model(fine), "s.script");
        assert!(text.is_ok(), "{fine}: {text:?}");
    }
    for wide in
        ["a = a * a * a % 7", "a = a * 80000 % 7", "a = (a + 2147483000) % 7", "a = a % 2000000000"]
    {
        let refusal = written(&model(wide), "s.script").unwrap_err();
        assert!(refusal.contains("more than 32 bits"), "{wide}: {refusal}");
    }
    // A claim is left out.
    let text = written(
        "VARS: int a : 0..30000; INIT: a = 0; TRANS: a = 1; SAFE: a * a * a >= 0",
        "s.script",
    )
    .unwrap();
    assert!(text.contains("// left out: the claim `SAFE`"), "{text}");
}

#[test]
fn a_contradictory_start_has_no_run() {
    let ints =
        |start: &str| format!("VARS: int x : 0..3; INIT: {start}; TRANS: x = 0; SAFE: x < 3");
    let bools =
        "spec S var b: bool start { b and not b } step s { b := b } always p: b".to_string();
    let all = [
        (ints("x == 0; x == 1"), "s.script"),
        (ints("x == 1; x == 0"), "s.script"),
        (bools, "s.sts"),
    ];
    for (text, file) in all {
        let xml = written(&text, file).unwrap();
        assert!(
            xml.contains("<committed/>") && xml.contains("<label kind=\"guard\">false</label>"),
            "{text}\n{xml}"
        );
        assert!(xml.contains("A[] (Start.Chosen imply "), "{xml}");
    }
    // The same value twice is not a contradiction.
    let xml = written(&ints("x == 0; 0 == x"), "s.script").unwrap();
    assert!(!xml.contains("Start"), "{xml}");
}

#[test]
fn claims_that_depend_on_the_existence_of_a_start_are_omitted() {
    let model = |start: &str| {
        format!(
            "spec S var b: bool var c: bool start {{ {start} }} step s {{ b := c; c := b }} eventually p: b"
        )
    };
    for open in ["b and not b", "b == c"] {
        let xml = written(&model(open), "s.sts").unwrap();
        assert!(
            xml.contains("// left out: the claim `p`") && !xml.contains("A&lt;&gt;"),
            "{open}\n{xml}"
        );
    }
    let xml = written(&model("b"), "s.sts").unwrap();
    assert!(xml.contains("A&lt;&gt; "), "{xml}");
}
