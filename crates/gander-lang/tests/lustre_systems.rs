//! Systems of Lustre texts: names, streams, claims, diagnostics.

use gander_lang::{Code, Severity, lustre};
use gander_system::{ClaimKind, Role, StreamKind, System};

fn load(text: &str) -> gander_lang::Loaded {
    lustre::load(text, "model.lus")
}

fn system(text: &str) -> System {
    let loaded = load(text);
    let errors: Vec<String> = loaded.errors().map(|d| d.message.clone()).collect();
    loaded.system.unwrap_or_else(|| panic!("{errors:?}"))
}

fn messages(text: &str) -> Vec<String> {
    load(text).errors().map(|d| format!("{} {}", d.code.as_str(), d.message)).collect()
}

fn claims(system: &System) -> Vec<&str> {
    system.claims().iter().map(|c| c.name.as_str()).collect()
}

#[test]
fn every_lustre_code_has_an_example_that_causes_it() {
    let mut examples = 0;
    for entry in gander_lang::codes::CATALOGUE
        .iter()
        .filter(|e| e.language == "lustre" && !e.example.is_empty())
    {
        examples += 1;
        let loaded = load(entry.example);
        if entry.code.takes_a_check() {
            assert!(
                loaded.diagnostics.is_empty() && loaded.system.is_some(),
                "{}",
                entry.code.as_str()
            );
            continue;
        }
        let found: Vec<Code> = loaded.diagnostics.iter().map(|d| d.code).collect();
        assert!(found.contains(&entry.code), "{}: found {found:?}", entry.code.as_str());
        let warning = entry.code.severity() == Severity::Warning;
        assert_eq!(loaded.errors().count() == 0, warning, "{}", entry.code.as_str());
        assert_eq!(loaded.system.is_some(), warning, "{}", entry.code.as_str());
    }
    assert!(examples > 20);
}

#[test]
fn streams_of_instances_have_paths_and_kinds() {
    let s = system(
        "node sub(x: int) returns (y: int); var z: int; let z = x; y = 0 -> pre z; tel
         node top(a: int) returns (b, c: int); let b = sub(a); c = sub(sub(a)); tel",
    );
    let names: Vec<&str> = s.vars().iter().map(|v| v.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "a",
            "b",
            "c",
            "top.sub#1.x",
            "top.sub#1.y",
            "top.sub#3.x",
            "top.sub#3.y",
            "top.sub#2.x",
            "top.sub#2.y",
            "top.sub#1.z",
            "top.sub#3.z",
            "top.sub#2.z"
        ]
    );
    let kind = |name: &str| s.vars().iter().find(|v| v.name == name).and_then(|v| v.stream);
    assert_eq!(kind("a"), Some(StreamKind::Input));
    assert_eq!(kind("top.sub#2.y"), Some(StreamKind::Output));
    assert_eq!(kind("top.sub#2.z"), Some(StreamKind::Local));
    assert_eq!(s.vars()[0].role, Role::Input);
    // A guarded `pre` needs no additional variable.
    assert!(!names.iter().any(|n| n.contains('@')));
}

#[test]
fn equations_are_named_elements() {
    let s =
        system("node top(a: int) returns (b: int); let b = 0 -> pre a; --%PROPERTY b >= 0;\ntel");
    let names: Vec<String> = (0..s.elements().len())
        .map(|e| s.element_name(gander_system::ElementId(e as u32)))
        .collect();
    assert_eq!(names, ["b at first", "b"]);
    assert_eq!(claims(&s), ["b >= 0"]);
}

#[test]
fn several_roots_are_several_systems() {
    let loaded = load(
        "node one(a: bool) returns (p: bool); let p = a; --%PROPERTY p;\ntel
         node idle(a: bool) returns (p: bool); let p = a; tel
         node two(a: bool) returns (p: bool); let p = a; --%PROPERTY p;\ntel",
    );
    let first = loaded.system.expect("it has claims");
    assert_eq!((first.name(), claims(&first)), ("one", vec!["one.p"]));
    let names: Vec<(&str, Vec<&str>)> =
        loaded.others.iter().map(|s| (s.name(), claims(s))).collect();
    assert_eq!(names, [("two", vec!["two.p"])]);
}

#[test]
fn reachability_becomes_a_reachable_claim() {
    let s = system(
        "node top(a: int) returns (b: int); let b = a; check reachable \"seven\" b = 7; tel",
    );
    assert!(matches!(s.claims()[0].kind, ClaimKind::Reachable(_)));
    assert_eq!(s.claims()[0].name, "seven");
}

#[test]
fn messages_say_what_is_wrong() {
    assert_eq!(
        messages("node top(a: int; r: real) returns (b: real); let b = a * r; tel"),
        ["E1401 `*` between an `int` and a `real`"]
    );
    assert_eq!(
        messages("node top(a: int) returns (b: bool); let b = a; tel"),
        ["E1401 `b` is a `bool`, but its definition is an `int`"]
    );
    assert_eq!(
        messages(
            "node a(x: bool) returns (y: bool); let y = b(x); tel node b(x: bool) returns (y: bool); let y = a(x); tel"
        ),
        ["E1305 recursive call: a -> b -> a"]
    );
}

/// The codes of the errors with their lines.
fn places(text: &str) -> Vec<(&'static str, usize)> {
    let line = |d: &gander_lang::Diagnostic| {
        text[..d.primary.span.start as usize].matches('\n').count() + 1
    };
    load(text).errors().map(|d| (d.code.as_str(), line(d))).collect()
}

#[test]
fn a_wrong_call_hides_no_errors_and_causes_none() {
    // The bodies of `m`, `p` and `q` are elaborated once, although every call of them is wrong.
    let text = "\
node m(x: int) returns (y: int);
let y = x + true; tel
node p(x: int) returns (y: int);
let y = q(z); tel
node q(x: bool) returns (y: int);
let y = x; tel
node good(x: int) returns (y: int);
let y = x; tel
node n(b: bool) returns (y, z, u, v: int);
let y = m(b);
z = p(1, 2);
u = m(b, b);
v = good(b);
tel
";
    let found = places(text);
    assert_eq!(
        found,
        [
            ("E1401", 2),
            ("E1303", 4),
            ("E1401", 6),
            ("E1401", 10),
            ("E1402", 11),
            ("E1402", 12),
            ("E1401", 13)
        ]
    );
    // A node that needs constants or types from a call cannot be elaborated alone.
    let text = "\
node sum(const n: int; x: int^n) returns (y: int);
let y = x[n - 1]; tel
node same<T>(x: T) returns (y: T);
let y = x; tel
node top(b: bool) returns (y: int; z: int);
let
y = sum(3, b);
z = same(b, b);
tel
";
    assert_eq!(places(text), [("E1401", 7), ("E1402", 8)]);
}

#[test]
fn operators_of_other_languages_get_a_help() {
    let help = |word: &str, operator: &str| {
        format!(
            "write `{word}`: `{operator}` works on the bits of machine integers, and binds tighter than comparisons"
        )
    };
    for (operator, help) in [("&&", help("and", "&&")), ("||", help("or", "||"))] {
        let text = format!("node top(a, b: bool) returns (c: bool); let c = a {operator} b; tel");
        let loaded = load(&text);
        let errors: Vec<_> = loaded.errors().collect();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].message, format!("`{operator}` takes machine integers, not `bool`"));
        assert_eq!(errors[0].helps, [help]);
    }
    // Parsed as `a >= (0 && a) <= 4`, and as `a >= (0 && true)`.
    for wrong in ["a >= 0 && a <= 4", "a >= 0 && true"] {
        let text = format!("node top(a: int) returns (c: bool); let c = {wrong}; tel");
        let loaded = load(&text);
        assert!(loaded.errors().next().is_some_and(|d| d.helps == [help("and", "&&")]), "{wrong}");
    }
}

#[test]
fn unread_includes_are_reported() {
    let text = "include \"types.lus\"\nnode top(a: int) returns (c: int); let c = a; tel";
    assert_eq!(
        messages(text),
        [
            "E1308 the file cannot be included: only a model that is read from a file can include others"
        ]
    );
}

#[test]
fn places_in_included_files_are_shown_with_their_file() {
    let (main, part) =
        ("node top(a: T) returns (c: int); let c = a + b; tel", "-- types\ntype T = inte;");
    let text = format!("{main}\n{part}");
    let loaded = load(&text);
    let source = gander_lang::SourceFile::new("main.lus", &text)
        .with_part(main.len() as u32 + 1, "types.lus");
    let shown =
        gander_lang::render_all(&loaded.diagnostics, &source, gander_lang::RenderStyle::default());
    assert!(shown.contains("--> types.lus:2:10\n"), "{shown}");
    assert!(shown.contains("2 | type T = inte;\n"), "{shown}");
    assert_eq!(source.place(4).0, "main.lus");
}

#[test]
fn wrong_uses_of_datatypes_are_reported() {
    let text = |body: &str| {
        format!(
            "datatype D<T> = A | B(f: T); node top(d: D<int>; i: int) returns (x: int); let {body} tel"
        )
    };
    let leaves_out = "E1401 the patterns of this `match` leave some values out";
    for (body, message) in [
        ("x = match d with A: 1 end;", leaves_out),
        ("x = match B(d) with B(A): 1 | A: 2 end;", leaves_out),
        ("x = match i with _: 1 end;", "E1401 `match` takes a value of a datatype, not an `int`"),
        (
            "x = match d with B(y): y | A: true end;",
            "E1401 the arms of a `match` have different types: `int` and `bool`",
        ),
        (
            "x = if d = A then 1 else 2;",
            "E1403 the type parameter `T` of `A` does not follow from the arguments",
        ),
        ("x = match d with B: 1 | _: 2 end;", "E1402 `B` has 1 fields, not 0"),
    ] {
        assert_eq!(messages(&text(body)), [message], "{body}");
    }
    for body in [
        "x = match B(d) with B(A): 1 | B(B(y)): y | A: 2 end;",
        "x = match d with A: i | B(i): i end; check d = A@<int> or d <> A@<int>;",
    ] {
        assert_eq!(messages(&text(body)), [""; 0], "{body}");
    }
}

/// The messages about cycles, including warnings.
fn cycles(text: &str) -> Vec<String> {
    let is_cycle = |code: &str| code == "E1504" || code == "W1704";
    let diagnostics = load(text).diagnostics;
    let found = diagnostics.iter().filter(|d| is_cycle(d.code.as_str()));
    found.map(|d| format!("{} {}", d.code.as_str(), d.message)).collect()
}

#[test]
fn cycles_are_reported_with_their_streams() {
    assert_eq!(
        cycles("node top(a: int) returns (x, y, z: int); let x = y; y = z + a; z = 1 -> x; tel"),
        ["W1704 `x` depends on itself at the same instant: x -> y -> z -> x"]
    );
    assert_eq!(
        cycles(
            "node f(x: int) returns (y: int); let y = x + 1; tel node top(a: int) returns (b: int); let b = f(b); tel"
        ),
        ["W1704 `b` depends on itself at the same instant: b -> top.f#1.y -> top.f#1.x -> b"]
    );
    // No cycle through `pre`, nor between elements of an array.
    assert!(
        cycles(
            "node top(a: int) returns (b: int^3); let b[i] = if i = 0 then a else b[i - 1]; tel"
        )
        .is_empty()
    );
}

#[test]
fn a_cycle_is_an_error_if_only_kind2_accepts_the_program() {
    let error = ["E1504 `x` depends on itself at the same instant: x -> y -> x"];
    for text in [
        "node top(a: int) returns (x, y: int); (*@contract guarantee x = x; *) let x = y; y = x; tel",
        "const c: int; node top(a: int) returns (x, y: int); let x = y + c; y = x; tel",
        "node top(a: int8) returns (x, y: int); let x = y; y = x; tel",
        "node top(a: bool) returns (x, y: int); let x = y; if a then y = x; else y = 0; fi tel",
        "node top(const a: int) returns (x, y: int); let x = y + a; y = x; tel",
        "node top(a: bool) returns (x, y: bool); let x = y; y = x or #(a, x); tel",
        "function f(a: int) returns (b: int); let b = a; tel node top(a: int) returns (x, y: int); let x = y; y = x; tel",
    ] {
        assert_eq!(cycles(text), error, "{text}");
    }
}

#[test]
fn equations_in_a_cycle_are_constraints() {
    let s = system(
        "node top(a: int) returns (x, y: int); let x = x; y = y + a; --%PROPERTY a = 0;\ntel",
    );
    assert!(!s.transitions()[0].causal);
    // `x = x` does not determine `x`, and must not keep its value either.
    assert!(
        !s.transitions()[0].effect.iter().any(|e| matches!(e, gander_system::Effect::Keep { .. }))
    );
    assert!(claims(&s.with_structural_claims()).contains(&"a run exists"));
    let s = system("node top(a: int) returns (x: int); let x = a; --%PROPERTY a = 0;\ntel");
    assert!(s.transitions()[0].causal);
    assert!(!claims(&s.with_structural_claims()).contains(&"a run exists"));
}

#[test]
fn an_expression_with_a_million_operators_loads() {
    let mut text = String::from("node top(a, b: bool) returns (c: bool; n: int); let c = a");
    for _ in 0..100_000 {
        text.push_str(" and b or not a => b");
    }
    text.push_str("; n = 0");
    for _ in 0..200_000 {
        text.push_str(" + 1");
    }
    text.push_str("; --%PROPERTY c;\ntel");
    assert!(load(&text).system.is_some());
}

#[test]
fn the_examples_of_the_manual_have_the_listed_errors() {
    let page = include_str!("../../../docs/lustre.md");
    let mut examples = 0;
    for part in page.split("\n```lustre").skip(1) {
        let (head, rest) = part.split_once('\n').expect("a fence ends its line");
        let (text, _) = rest.split_once("\n```").expect("a fence is closed");
        let found: Vec<String> = load(text).errors().map(|d| d.code.as_str().to_string()).collect();
        let wanted: Vec<String> = head.split_whitespace().map(str::to_string).collect();
        assert_eq!(found, wanted, "{text}");
        examples += 1;
    }
    assert!(examples >= 5);
}

#[test]
fn contracts_may_mention_modes_and_past_outputs() {
    let text = "contract inner(on: bool) returns (y: int); let mode low ( require on; ensure y <= 9; ); tel\n\
                node top(x: int) returns (y: int);\n\
                (*@contract assume x >= pre y; mode small ( require x < 5; ); import inner(::small) returns (y);\n\
                guarantee ::inner::low = ::small; *)\n\
                let y = x; tel";
    let s = system(text);
    assert!(claims(&s).contains(&"guarantee[1]"), "{:?}", claims(&s));
    let warnings = load(text).diagnostics;
    assert_eq!(warnings.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::W1701]);
    // Only Kind 2 accepts the program, so its `pre` has one reading.
    let two = "node top(x: int) returns (y: bool); (*@contract guarantee y; *) let y = pre x = pre x; tel";
    assert!(system(two).ambiguity().is_none());
    let two = "node top(x: int) returns (y: bool); let y = pre x = pre x; --%PROPERTY y;\ntel";
    assert!(system(two).ambiguity().is_some());
}

#[test]
fn unguarded_pre_of_an_expression_has_two_readings() {
    let ambiguity = |y: &str| {
        let sub = "node sub(a: bool) returns (b: bool); let b = pre (a or not a); tel";
        let s = system(&format!(
            "{sub}\nnode top(x: bool) returns (y: bool); let y = {y}; --%PROPERTY y;\ntel"
        ));
        s.ambiguity().map(|d| s.pool().display(d.formula.term()).to_string().replace('`', ""))
    };
    assert_eq!(ambiguity("pre true").as_deref(), Some("pre#1@before"));
    assert_eq!(ambiguity("pre (not x)").as_deref(), Some("pre#1@before <-> not x@before"));
    for two_readings in ["sub(x)", "pre sub(x)", "pre (pre true)"] {
        assert!(ambiguity(two_readings).is_some(), "{two_readings}");
    }
    for one_reading in [
        "pre x",
        "x -> pre true",
        "pre (x -> pre x)",
        "condact(x, sub(x), true)",
        "pre (x -> pre (not x))",
    ] {
        assert_eq!(ambiguity(one_reading), None, "{one_reading}");
    }
}

#[test]
fn assumptions_must_not_depend_on_current_outputs() {
    let contract = |items: &str| {
        messages(&format!(
            "node top(x: int) returns (y: int); (*@contract {items} guarantee y > 0; *) let y = x; tel"
        ))
    };
    assert_eq!(contract("assume y > 0;"), ["E1507 an assumption depends on the output `y`"]);
    assert_eq!(
        contract("var g: int = y + 1; assume x > g;"),
        ["E1507 an assumption depends on the output `y`"]
    );
    assert_eq!(contract("assume x > (0 -> pre y);"), [""; 0]);
    assert_eq!(contract("var g: int = 0 -> pre y; assume x > g;"), [""; 0]);
    assert_eq!(contract("assume forall (y: subrange [0, 2] of int) x > y;"), [""; 0]);
}

#[test]
fn arrays_of_unknown_size_are_arrays_of_the_logic() {
    let s = system(
        "const n: int; type R = struct { x: int; b: bool };
         node top(const m: int; a: R^n; k: int) returns (c: int^3^m; d: R);
         let c[i][j] = if i = 0 then j else c[i - 1][j]; d = a[k]; check d.x = 0; tel",
    );
    let named = s.vars().iter().filter(|v| !v.name.starts_with("outside"));
    let sorts: Vec<String> =
        named.map(|v| format!("{}: {}", v.name, v.sort.name(s.pool()))).collect();
    assert_eq!(
        sorts,
        [
            "n: int",
            "m: int",
            "a.x: array[int] of int",
            "a.b: array[int] of bool",
            "k: int",
            "c[0]: array[int] of int",
            "c[1]: array[int] of int",
            "c[2]: array[int] of int",
            "d.x: int",
            "d.b: bool",
        ]
    );
    assert!(s.transitions()[0].causal);
}

#[test]
fn unsupported_uses_of_arrays_of_unknown_size_are_reported() {
    let of = |body: &str| {
        messages(&format!(
            "const n: int; node f(x: int) returns (y: int); let y = 0 -> pre x; tel
             node top(k: int; x: int^n) returns (a: int^n); {body}"
        ))
    };
    let first = |body: &str| of(body).into_iter().next().unwrap_or_default();
    assert!(
        first("let a[0] = 1; tel")
            .starts_with("E1404 the elements of an array of unknown size are defined together")
    );
    assert!(
        first("let a[i] = f(x[i]); tel")
            .starts_with("E0510 a call with an index of an array of unknown size")
    );
    assert!(
        first("let a[i] = any@<int>; tel").starts_with("E0510 `any` or `choose` in the definition")
    );
    assert!(
        first("var b: int^k; let a = x; tel")
            .starts_with("E1404 the size of an array must be a constant")
    );
    assert!(
        first("var b: int^(n + 1); let a = b; tel")
            .contains("`a` is an `int^n`, but its definition is an `int^(n + 1)`")
    );
    assert!(first("let a = [1, 2]; tel").contains("`int^n`"));
    assert_eq!(
        first("let a[i] = a[i]; tel"),
        "E1504 `a` depends on itself at the same instant: a -> a"
    );
    assert_eq!(
        first("let a[i] = if i = n - 1 then 0 else a[i + 1]; tel"),
        "E1504 `a` depends on itself at the same instant: a -> a"
    );
    assert_eq!(of("let a[i] = f(k) + x[i] + (if i < 2 then 0 else a[i - 2]); tel"), [""; 0]);
    assert_eq!(of("let a = x[k := 1]; tel"), [""; 0]);
}

#[test]
fn pre_of_an_element_is_an_array_of_streams() {
    let s = system(
        "node top(const n: int; x: int^n) returns (a: int^n);
         let a[i] = 0 -> pre (0 -> pre x[i]); check a = a; tel",
    );
    let names: Vec<&str> = s.vars().iter().map(|v| v.name.as_str()).collect();
    // `pre x[i]` reads the array itself; its value at the second instant needs a separate stream.
    assert_eq!(names, ["n", "x", "a", "pre#2"]);
}

/// The number of terms in the system of an equation `z = EXPR`.
fn terms_of(ty: &str, expr: &str) -> usize {
    system(&format!("node top(x, y: {ty}) returns (z: {ty}); let z = {expr}; check z = z; tel"))
        .pool()
        .len()
}

#[test]
fn a_long_sum_is_one_term() {
    let sum = |n: usize| format!("x{}", " + y - x".repeat(n));
    // Independent of the length: only the operands are terms.
    assert_eq!(terms_of("int", &sum(500)), terms_of("int", &sum(5000)));
    assert_eq!(terms_of("real", &sum(500)), terms_of("real", &sum(5000)));
    // Machine integers wrap around at every step.
    assert!(terms_of("int8", &sum(5000)) > terms_of("int8", &sum(500)) + 4500);
    let s = system(&format!(
        "node top(x, y: int) returns (z: int); let z = {}; check z = y; tel",
        sum(300)
    ));
    let z = s.vars()[2].current;
    let value = |symbol| {
        if symbol == z {
            None
        } else {
            Some(gander_term::Value::int(if symbol == s.vars()[0].current { 7 } else { 5 }))
        }
    };
    let defined = s.starts()[0].constraint.iter().map(|c| c.term.term()).find_map(|t| {
        let args = s.pool().args(t);
        args.iter().find(|&&a| s.pool().as_symbol(a).is_none()).copied()
    });
    let found = gander_term::evaluate(s.pool(), defined.unwrap(), &value).unwrap();
    assert_eq!(found, gander_term::Value::int(7 + 300 * (5 - 7)));
}

#[test]
fn a_long_sum_with_a_mistake_is_one_error() {
    let text = format!(
        "node top(x: int; b: bool) returns (z: int); let z = x{} + b + x; tel",
        " + x".repeat(300)
    );
    assert_eq!(messages(&text), ["E1401 `+` between an `int` and a `bool`"]);
}
