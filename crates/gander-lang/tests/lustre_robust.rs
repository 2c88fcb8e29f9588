//! For every text: no panic, an error if there is no result, linear work without recursion.

use gander_lang::lustre::{lexer, parse};
use gander_lang::{Code, RenderStyle, Severity, SourceFile, render};

const SAMPLE: &str = include_str!("sample.lus");

/// Parses a text and checks the properties that hold for every text.
fn codes(text: &str) -> Vec<Code> {
    let parsed = parse(text);
    let source = SourceFile::new("test.lus", text);
    for diagnostic in &parsed.diagnostics {
        assert!(text.get(diagnostic.primary.span.range()).is_some(), "{diagnostic:?}");
        assert!(
            render(diagnostic, &source, RenderStyle::default()).contains(diagnostic.code.as_str())
        );
    }
    for expr in &parsed.file.exprs {
        assert!(text.get(expr.span.range()).is_some(), "{expr:?}");
    }
    parsed.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn is_error(code: &Code) -> bool {
    code.severity() == Severity::Error
}

#[test]
fn texts_truncated_at_every_byte_are_handled() {
    for end in (0..SAMPLE.len()).filter(|end| SAMPLE.is_char_boundary(*end)) {
        codes(&SAMPLE[..end]);
    }
}

#[test]
fn texts_with_a_token_removed_doubled_or_swapped_are_handled() {
    let (tokens, _) = lexer::lex(SAMPLE);
    for (at, token) in tokens.iter().enumerate() {
        let (start, end) = (token.start as usize, token.end as usize);
        codes(&format!("{}{}", &SAMPLE[..start], &SAMPLE[end..]));
        codes(&format!("{}{}{}", &SAMPLE[..end], &SAMPLE[start..end], &SAMPLE[end..]));
        let other = tokens[(at * 7 + 13) % tokens.len()];
        let other = &SAMPLE[other.start as usize..other.end as usize];
        codes(&format!("{}{other}{}", &SAMPLE[..start], &SAMPLE[end..]));
    }
}

#[test]
fn a_missing_token_causes_few_errors() {
    let (tokens, _) = lexer::lex(SAMPLE);
    let (mut total, mut worst) = (0, (0, *tokens.first().expect("there are tokens")));
    for token in &tokens {
        let text = format!("{} {}", &SAMPLE[..token.start as usize], &SAMPLE[token.end as usize..]);
        let errors = codes(&text).iter().filter(|code| is_error(code)).count();
        total += errors;
        if errors > worst.0 {
            worst = (errors, *token);
        }
    }
    assert!(worst.0 <= 8, "{worst:?} errors for one missing token");
    assert!(total <= tokens.len() * 3 / 2, "{total} errors for {} missing tokens", tokens.len());
}

#[test]
fn empty_binary_and_large_texts_are_handled() {
    assert_eq!(codes(""), [Code::E0505]);
    assert_eq!(codes(" \n-- only a comment\n"), [Code::E0505]);
    assert_eq!(codes("node N\0"), [Code::E0101]);
    assert!(codes("\u{1}\u{2}\u{7f}\u{fffd}").contains(&Code::E0103));
    assert_eq!(codes(&" ".repeat(33 << 20)), [Code::E0102]);
    assert_eq!(codes(&";".repeat(lexer::MAX_TOKENS + 1)), [Code::E0102]);
}

#[test]
fn garbage_has_few_errors() {
    for garbage in
        ["$ } ) node 3 \"\n", "\\\"\n", "(* ", "let ", "node N(", "--%FOO\n", "if ", "(*@contract "]
    {
        assert!(codes(&garbage.repeat(100_000)).len() <= 101, "{garbage}");
    }
}

#[test]
fn deep_expressions_need_no_call_stack() {
    let count = 60_000;
    let nests = [
        ("(", "1", ")"),
        ("- ", "1", ""),
        ("not ", "true", ""),
        ("pre ", "x", ""),
        ("[", "1", "]"),
        ("'(1, ", "1", ")"),
        ("f(", "1", ")"),
        ("1 + (2 * (", "1", "))"),
        ("if a then ", "1", " else 2"),
        ("if a then 1 else ", "2", ""),
        ("if ", "a", " then b else c"),
        ("when a then 1 else ", "2", ""),
        ("1 -> ", "1", ""),
        ("a => ", "1", ""),
        ("a and ", "1", ""),
        ("T { f = ", "1", " }"),
        ("a[", "1", "]"),
        ("", "a", "[1]"),
        ("", "a", ".f"),
        ("", "a", "{f := 1}"),
        ("", "a", "[1 := 2]"),
        ("", "a", " when c"),
        ("a ^ ", "1", ""),
        ("condact(c, f(", "1", "), 0)"),
        ("condact(", "c", ", f(1), 0)"),
        ("(activate f every ", "c", ")(1)"),
        ("(restart f every c)(", "1", ")"),
        ("merge(c; 1; ", "2", ")"),
        ("merge c (true -> ", "2", ") (false -> 0)"),
        ("forall (i: int) ", "true", ""),
        ("int8 ", "1", ""),
        ("#(", "a", ")"),
    ];
    for (open, middle, close) in nests {
        let text = format!(
            "node N() returns (x: int);\nlet\n  x = {}{middle}{};\ntel\n",
            open.repeat(count),
            close.repeat(count)
        );
        assert_eq!(codes(&text), [], "{open}{middle}{close}");
        // Unclosed.
        codes(&text[..text.len() / 2]);
    }
}

#[test]
fn the_nesting_of_types_and_blocks_is_limited() {
    let count = 100_000;
    for (open, middle, close) in [
        ("[", "int", "]"),
        ("subtype { n: ", "int", " | n > 0 }"),
        ("T<", "int", ">"),
        ("struct { f: ", "int", " }"),
    ] {
        let text = format!(
            "type A = {}{middle}{};\ntype B = int;\n",
            open.repeat(count),
            close.repeat(count)
        );
        assert_eq!(codes(&text)[0], Code::E0111, "{open}");
    }
    let sizes = format!("type A = int{};", "^2".repeat(count));
    assert_eq!(codes(&sizes), []);
    for open in ["if a then x = 1; else ", "frame (x) let ", "cond | a: ", "when a then "] {
        let text = format!("node N() returns (x: int);\nlet\n{}", open.repeat(count));
        assert_eq!(codes(&text)[0], Code::E0111, "{open}");
    }
    let any = format!("node N() returns (x: int); let x = {}1;", "any {x: int | ".repeat(count));
    assert_eq!(codes(&any)[0], Code::E0111);
}

#[test]
fn line_ends_tabs_and_byte_order_marks_are_accepted() {
    for text in
        [SAMPLE.replace('\n', "\r\n"), format!("\u{feff}{SAMPLE}"), SAMPLE.replace("  ", "\t")]
    {
        assert_eq!(codes(&text), []);
    }
}

#[test]
fn every_syntax_code_has_an_example_that_causes_it() {
    let mut checked = 0;
    for entry in gander_lang::codes::CATALOGUE {
        let code = entry.code.as_str();
        let syntax = code < "E0200" || code == "E0510" || ("W0820".."W0830").contains(&code);
        if entry.language != "lustre" || !syntax {
            continue;
        }
        checked += 1;
        assert_eq!(codes(entry.example), [entry.code], "{}", entry.example);
    }
    assert!(checked >= 8, "{checked}");
}
