//! For every text: no panic, an error if there is no system, bounded work.

use gander_lang::{Code, Severity, sts};

const SAMPLE: &str = include_str!("sample.sts");
const EVERYTHING: &str = include_str!("everything.sts");

/// Loads a text and checks the properties that hold for every text.
fn load(text: &str) -> gander_lang::Loaded {
    let loaded = sts::load(text, "test.sts");
    let failed = loaded.errors().next().is_some();
    assert_eq!(
        loaded.system.is_none(),
        failed,
        "no system without an error, no error with a system: {text:?}"
    );
    for diagnostic in &loaded.diagnostics {
        let source = gander_lang::SourceFile::new("test.sts", text);
        let shown = gander_lang::render(diagnostic, &source, gander_lang::RenderStyle::default());
        assert!(shown.contains(diagnostic.code.as_str()));
        assert!(diagnostic.primary.span.end as usize <= text.len());
    }
    assert_eq!(sts::parse(text).root().text().to_string(), text, "the tree keeps every byte");
    loaded
}

fn codes(text: &str) -> Vec<Code> {
    load(text).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn samples_load_without_diagnostics() {
    for text in [SAMPLE, EVERYTHING] {
        let errors: Vec<String> = load(text).errors().map(|error| format!("{error:?}")).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    assert!(load(SAMPLE).diagnostics.is_empty());
}

#[test]
fn texts_truncated_at_every_byte_are_handled() {
    for text in [SAMPLE, EVERYTHING] {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            load(&text[..end]);
        }
    }
}

#[test]
fn texts_with_a_token_removed_or_doubled_are_handled() {
    let (tokens, _) = sts::lexer::lex(EVERYTHING);
    let mut at = 0;
    for token in tokens {
        let end = at + token.length as usize;
        let without = format!("{}{}", &EVERYTHING[..at], &EVERYTHING[end..]);
        let doubled =
            format!("{}{}{}", &EVERYTHING[..end], &EVERYTHING[at..end], &EVERYTHING[end..]);
        load(&without);
        load(&doubled);
        at = end;
    }
}

#[test]
fn empty_and_binary_texts_are_errors() {
    assert_eq!(codes(""), [Code::E0505]);
    assert_eq!(codes(" \n\t// only a comment\n"), [Code::E0505]);
    assert_eq!(codes("spec A\0\u{1}\u{2}"), [Code::E0101]);
    assert!(codes("\u{1}\u{2}\u{7f}\u{fffd}").contains(&Code::E0103));
}

#[test]
fn too_large_texts_are_refused() {
    let large = "x".repeat(50 << 20);
    let loaded = sts::load(&large, "large.sts");
    assert_eq!(loaded.diagnostics[0].code, Code::E0102);
    assert_eq!(sts::format(&large).unwrap_err()[0].code, Code::E0102);
}

#[test]
fn too_many_tokens_are_refused() {
    let mut sum = "spec S\nvar a: int\nstart { a == 0 }\nalways p: 0 < a".to_owned();
    sum.push_str(&"+a".repeat(sts::lexer::MAX_TOKENS / 2));
    let parsed = sts::parse(&sum);
    assert_eq!(parsed.root().text(), sum.as_str());
    assert_eq!(codes(&sum), [Code::E0102]);
    assert_eq!(sts::format(&sum).unwrap_err()[0].code, Code::E0102);
}

#[test]
fn too_many_variables_and_transitions_are_refused() {
    let mut text = "spec S\nstart {}\n".to_owned();
    for at in 0..4_000 {
        text.push_str(&format!("var v{at}: int\nstep s{at} {{ v{at} := 1 }}\n"));
    }
    text.push_str("reachable s1\ncan enable s2\n");
    assert_eq!(codes(&text), [Code::E0704]);
}

#[test]
fn a_large_file_of_garbage_has_few_errors() {
    let garbage = "@ } ) spec 3 \"\n".repeat(100_000);
    assert!(sts::load(&garbage, "garbage.sts").diagnostics.len() <= 101);
}

#[test]
fn deep_nesting_is_one_error() {
    let count = 100_000;
    let nests = [
        ("(", "1", ")"),
        ("-", "1", ""),
        ("!", "true", ""),
        ("not ", "true", ""),
        ("abs(", "1", ")"),
        ("1 + (2 * (", "1", "))"),
        ("if true then (", "1", ") else 2"),
        ("forall x: int. ", "true", ""),
        ("((1 + 1) * 1 - ", "1", ")"),
    ];
    for (open, middle, close) in nests {
        let text = format!(
            "spec A\nalways p: {}{middle}{}\nalways q: true\n",
            open.repeat(count),
            close.repeat(count)
        );
        let codes = codes(&text);
        assert_eq!(codes, [Code::E0111], "{open}");
    }
    // Also without the closing brackets.
    let text = format!("spec A\nalways p: {}", "(".repeat(count));
    assert_eq!(codes(&text)[0], Code::E0111);
}

#[test]
fn left_nesting_is_bounded_too() {
    // Every precedence level once, as the first operand of the next, 200 times.
    let mut text = "a".to_owned();
    for _ in 0..200 {
        text = format!("({text} ^ 1 * 1 + 1 < 1 == true and true or true -> true <-> true)");
    }
    let text = format!("spec A var a: int start {{ true }} always p: {text}");
    assert!(codes(&text).contains(&Code::E0111));
}

#[test]
fn long_chains_are_not_deep() {
    let chain = vec!["x"; 50_000].join(" + ");
    let ands = vec!["x > 0"; 50_000].join(" and ");
    let elses = "if x > 1 then 1 else ".repeat(20_000);
    let text = format!(
        "spec A\nvar x: int\nstart {{ x == 0 }}\nalways p: {chain} == 0\nalways q: {ands}\nalways r: ({elses} 0) == x\n"
    );
    assert!(codes(&text).is_empty(), "{:?}", codes(&text));
}

#[test]
fn long_chains_of_definitions_load() {
    let mut text = "spec A\nvar x: int\nstart { d0 == 0 }\nalways p: x == 0\n".to_owned();
    for at in 0..20_000 {
        text.push_str(&format!("define d{at} = d{} + d{}\n", at + 1, at + 1));
    }
    text.push_str("define d20000 = x\n");
    assert!(codes(&text).is_empty());
}

#[test]
fn line_ends_tabs_and_byte_order_marks_are_accepted() {
    let windows = SAMPLE.replace('\n', "\r\n");
    let marked = format!("\u{feff}{SAMPLE}");
    let tabs = SAMPLE.replace("  ", "\t");
    for text in [windows, marked, tabs] {
        assert!(load(&text).diagnostics.is_empty());
        let formatted = sts::format(&text).unwrap();
        assert_eq!(formatted, sts::format(SAMPLE).unwrap());
    }
}

#[test]
fn every_code_has_an_example_that_causes_it() {
    for entry in gander_lang::codes::CATALOGUE {
        assert_eq!(Code::find(entry.code.as_str()), Some(entry.code));
        assert_eq!(entry.code.entry().title, entry.title);
        assert!(!entry.explanation.is_empty());
        if entry.example.is_empty() || entry.language != "sts" {
            continue;
        }
        if entry.code.takes_a_check() {
            assert_eq!(codes(entry.example), [], "{}", entry.code.as_str());
            continue;
        }
        let found = codes(entry.example);
        assert!(
            found.contains(&entry.code),
            "{}: {:?} gives {found:?}",
            entry.code.as_str(),
            entry.example
        );
        let warning = entry.code.severity() == Severity::Warning;
        let errors = load(entry.example).errors().count();
        assert_eq!(errors == 0, warning, "{}", entry.code.as_str());
    }
}

#[test]
fn errors_have_no_follow_ups() {
    // One mistake each, in a file that mentions the name often.
    let slips = [
        ("var balance: real", "var balance: rael", Code::E0204),
        ("var balance: real", "var balanc: real", Code::E0202),
        ("amount > 0 and", "amuont > 0 and", Code::E0202),
        ("balance == 50 ", "balance = 50 ", Code::E0112),
        ("balance == 50 ", "balance == \"50 ", Code::E0104),
        ("-> Frozen", "-> Forzen", Code::E0203),
        ("balance - amount", "balance - status", Code::E0302),
    ];
    for (right, wrong, code) in slips {
        let text = SAMPLE.replacen(right, wrong, 1);
        let codes: Vec<Code> = load(&text).errors().map(|error| error.code).collect();
        assert!(
            !codes.is_empty() && codes.iter().all(|found| *found == code),
            "{wrong}: {codes:?}"
        );
    }
}

#[test]
fn an_enumeration_without_values_is_one_error() {
    assert_eq!(
        codes("spec A enum E { } var e: E start { e == Red } step go { e := Green }"),
        [Code::E0503]
    );
}

const SYSTEM: &str = "spec Account
enum Status { Open, Shut }
var balance: int
var status: Status
start -> Active { balance == 10, status == Open }
node Active {
  withdraw(amount: int 1..10) when amount <= balance { balance := balance - amount }
  deposit(amount: int 1..10) { balance := balance + amount }
  shut -> Done { status := Shut }
}
final node Done
always solvent: balance >= 0
fair open: status == Open

system Bank = a: Account || b: Account
  sync transfer(a.withdraw, b.deposit)

define total = a.balance + b.balance
always kept: total >= 0
always some: a in Active or b in {Active, Done}
reachable moved: transfer with a.amount == b.amount then b.withdraw with amount > 3
reachable closed: a.status == Shut and in b.Done
eventually e: a.balance == 0 under a.open
fair g: b.balance > 0
always eventually f: b.balance == 0 under fairness
no deadlock
";

#[test]
fn a_system_of_two_instances_loads() {
    let loaded = load(SYSTEM);
    assert!(loaded.diagnostics.is_empty(), "{:#?}", loaded.diagnostics);
    let system = loaded.system.unwrap();
    let names: Vec<&str> = system.vars().iter().map(|var| var.name.as_str()).collect();
    assert_eq!(names, ["a", "a.balance", "a.status", "b", "b.balance", "b.status"]);
    let claims: Vec<&str> = system.claims().iter().map(|claim| claim.name.as_str()).collect();
    assert!(claims.starts_with(&["a.solvent", "b.solvent", "kept"]), "{claims:?}");
    assert_eq!(sts::format(&sts::format(SYSTEM).unwrap()).unwrap(), sts::format(SYSTEM).unwrap());
}

/// It is about a whole system, with a final condition as well as without.
#[test]
fn no_deadlock_of_an_instance_is_not_carried_over() {
    for ends in ["", "final when n == 3\n"] {
        let spec = format!("spec A\nvar n: int\nstart {{ n == 0 }}\n{ends}");
        let text = format!(
            "{spec}step up when n < 3 {{ n := n + 1 }}\nno deadlock\n\
             system S = a: A || b: A\nalways p: a.n + b.n <= 6\n"
        );
        let system = load(&text).system.unwrap();
        assert!(system.find_claim("a.no deadlock").is_none(), "{text}");
        assert!(system.find_claim("p").is_some());
    }
}

#[test]
fn mistakes_in_a_system_are_reported() {
    let slips = [
        ("a: Account", "a: Acount", Code::E0701),
        ("b: Account", "a: Account", Code::E0703),
        ("b.deposit)", "b.deposits)", Code::E0703),
        ("b.deposit)", "c.deposit)", Code::E0703),
        ("b.deposit)", "a.deposit)", Code::E0703),
        ("= a.balance +", "= a.balanc +", Code::E0702),
        ("= a.balance +", "= c.balance +", Code::E0702),
        ("a in Active", "a in Actve", Code::E0203),
        ("a in Active", "in Active", Code::E0203),
        ("transfer with", "transfr with", Code::E0205),
        ("under a.open", "under a.opn", Code::E0209),
        ("a.status == Shut", "a.status == 3", Code::E0302),
        ("no deadlock", "var x: int", Code::E0506),
        ("no deadlock", "system Other = a: Account", Code::E0504),
    ];
    for (right, wrong, code) in slips {
        let text = SYSTEM.replacen(right, wrong, 1);
        let codes: Vec<Code> = load(&text).errors().map(|error| error.code).collect();
        assert!(codes.contains(&code), "{wrong}: {codes:?}");
    }
}

#[test]
fn a_system_that_is_too_large_is_refused() {
    let spec = "spec A\nstart -> N { true }\nnode N { go -> M }\nnode M { go -> N }\n";
    let families = ["a: A[1_000_000_000]", "a: A[9_000] || b: A[9_000]", "a: A[5_000]"];
    for family in families {
        let text = format!("{spec}system S = {family}\nno deadlock\n");
        assert_eq!(codes(&text), [Code::E0704], "{family}");
    }
    let all = "always all: forall i, j, k in a. a[i] == a[j] or a[k] in N";
    let text = format!("{spec}system S = a: A[200]\n{all}\n");
    assert_eq!(codes(&text), [Code::E0704]);
    // A broadcast by each instance to all others.
    let text = format!("{spec}system S = a: A[1_000] sync all forall i (a[i].go) to (a.go)\n");
    assert_eq!(codes(&text), [Code::E0704]);
}

#[test]
fn the_number_of_errors_is_limited() {
    let mut text = "spec A\nvar x: int\nstart { x == 0 }\n".to_owned();
    for at in 0..1000 {
        text.push_str(&format!("step s{at} {{ x := unknown{at} }}\n"));
    }
    let codes = codes(&text);
    assert_eq!(codes.len(), 101);
    assert_eq!(codes.last(), Some(&Code::E0117));
}

#[test]
fn the_number_of_consecutive_indices_is_limited() {
    for more in ["[0]", "[0 := 1]", " ?", "[0", "[a"] {
        let text = format!(
            "spec A\nvar a: array[int] of int\nalways p: a{} == a\nalways q: true\n",
            more.repeat(200_000)
        );
        let found = codes(&text);
        assert!(!found.is_empty(), "{more}");
        if more.ends_with(']') {
            assert_eq!(found, [Code::E0111], "{more}");
        }
        // Parentheses around each part do not allow more indices.
        let part = format!("{})", more.repeat(250));
        let (open, parts) = ("(".repeat(200), part.repeat(200));
        let text = format!("spec A\nvar a: array[int] of int\nalways p: {open}a{parts} == a\n");
        assert!(!codes(&text).is_empty(), "{more}");
    }
}
