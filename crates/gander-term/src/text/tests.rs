use super::*;
use crate::bits::Width;
use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;
use crate::value::{IBig, RBig, Value};

fn pool() -> Pool {
    let mut p = Pool::new();
    for name in ["p", "q", "r"] {
        p.variable(name, Sort::Bool);
    }
    for name in ["x", "y", "z", "a.n'"] {
        p.variable(name, Sort::Int);
    }
    for name in ["u", "v"] {
        p.variable(name, Sort::Real);
    }
    p.variable("s", Sort::String);
    let e = p.declare_enum("Status", &["Open", "half open", "Closed"]).unwrap();
    p.variable("status", Sort::Enum(e));
    p
}

/// Parses `text`, checks that it prints as `expected`, and that `expected` parses to the same term.
fn reads(p: &mut Pool, text: &str, expected: &str) -> TermId {
    let t = parse_term(p, text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(p.display(t).to_string(), expected);
    assert_eq!(parse_term(p, expected).unwrap(), t, "{expected}");
    t
}

fn same(p: &mut Pool, text: &str) {
    reads(p, text, text);
}

#[test]
fn printing_uses_as_few_parentheses_as_precedence_allows() {
    let p = &mut pool();
    same(p, "p and q or r -> p <-> q");
    same(p, "p and (q or r)");
    same(p, "(p -> q) -> r -> p");
    same(p, "p <-> (q <-> r)");
    same(p, "x + y * z - x");
    same(p, "x - (y - z)");
    same(p, "x - y - z");
    same(p, "x + y + z");
    same(p, "(x + y) + z");
    same(p, "x + (y + z)");
    same(p, "x - y + z");
    same(p, "x * y div z mod x * y");
    same(p, "x div (y * z)");
    same(p, "(x ^ y) ^ z");
    same(p, "x ^ (y ^ z)");
    same(p, "not p and not not q");
    same(p, "not (x < y)");
    same(p, "not (x != y) and x != y");
    same(p, "not (p <-> q)");
    same(p, "x < y and x + 1 >= a.n'");
    same(p, "u / v / v * u");
    same(p, "s ++ \"a\" ++ s == \"\"");
    same(p, "min(x, y, 3) <= abs(x) + max(x, y)");
    same(p, "to_int(u + to_real(x)) == x");
    same(p, "if p then x else if q then y else z");
    same(p, "if (if p then q else r) then (if p then x else y) else z");
    same(p, "(if p then x else y) + 1 < 2");
    same(p, "p and (if p then q else r)");
    same(p, "status == Status.Open or status != Status.Closed or status == `Status`.`half open`");
}

#[test]
fn alternative_spellings_are_parsed() {
    let p = &mut pool();
    reads(p, "!p && q || r implies p", "not p and q or r -> p");
    reads(p, "x % 3 = 1", "x mod 3 == 1");
    reads(p, "x^y^z", "x ^ (y ^ z)");
    reads(p, "p == q", "p <-> q");
    reads(p, "p != q", "not (p <-> q)");
    reads(p, "-x ^ 2", "(-x) ^ 2");
    reads(p, "0.5 + 2/4", "1/2 + 1/2");
}

#[test]
fn negative_and_rational_constants_differ_from_operators() {
    let p = &mut pool();
    let t = reads(p, "-3", "-3");
    assert_eq!(p.as_constant(t), Some(Value::int(-3)));
    let t = reads(p, "-(3)", "-(3)");
    assert_eq!(p.op(t), Op::Neg);
    reads(p, "- 3", "-(3)");
    same(p, "-(-3)");
    same(p, "-(-x)");
    same(p, "x - -3");
    reads(p, "x -3", "x - 3");
    same(p, "(-2) ^ 2");
    same(p, "-(x ^ 2)");
    let t = reads(p, "1/3", "1/3");
    assert_eq!(p.as_constant(t), Some(Value::Real(RBig::from_parts(IBig::from(1), 3u8.into()))));
    let t = reads(p, "1.0 / 3.0", "1.0 / 3.0");
    assert_eq!(p.op(t), Op::Div);
    same(p, "-1/3 * u + 1/3 <= 3.0");
    same(p, "u * (1/3) ^ 2");
    same(p, "-(1/3)");
}

#[test]
fn quantifiers_bind_fresh_symbols() {
    let p = &mut pool();
    let t =
        parse_term(p, "forall k: int, b: Status. 0 <= k -> exists x: real. x > u and b == status")
            .unwrap();
    let text = p.display(t).to_string();
    let tilde = text.find("exists x~").expect("x is taken");
    assert!(text.starts_with("forall k: int, b: Status. 0 <= k -> (exists x~"), "{text}");
    assert!(tilde > 0);
    let again = parse_term(p, &text).unwrap();
    assert_ne!(again, t);
    let free: Vec<_> = p.free_symbols(&[again]).iter().map(|&s| p.symbol(s).name.clone()).collect();
    assert_eq!(free, ["u", "status"]);
    // After the quantifier the name denotes the free symbol again.
    let t = parse_term(p, "(exists x: int. x == 0) and x == 1").unwrap();
    let inner = p.args(p.args(t)[1])[0];
    assert_eq!(p.as_symbol(inner), p.find_symbol("x"));
}

#[test]
fn names_that_are_not_plain_are_quoted() {
    let mut p = pool();
    for name in [
        "and",
        "two words",
        "",
        "9",
        "`",
        "a\\b\n",
        "Status.Open",
        "x.",
        "é.ß''",
        "x~1",
        "x~",
        "int",
    ] {
        let t = p.variable(name, Sort::Bool);
        let text = p.display(t).to_string();
        assert_eq!(parse_term(&mut p, &text), Ok(t), "{name:?} printed as {text}");
        let plain = ["é.ß''", "x~1"].contains(&name);
        assert_eq!(text.starts_with('`'), !plain, "{text}");
    }
    for (sort, variant) in [("A.B", "c"), ("A", "B.c"), ("and", "or"), ("x'", "y"), ("", "")] {
        let e = p.declare_enum(sort, &[variant]).unwrap();
        let t = p.constant(Value::Enum(e, 0));
        let text = p.display(t).to_string();
        assert_eq!(parse_term(&mut p, &text), Ok(t), "{text}");
    }
}

#[test]
fn errors_say_where_and_what() {
    let mut p = pool();
    for (text, offset, message) in [
        ("", 0, "a term was expected"),
        ("x +", 3, "a term was expected"),
        ("x + p", 2, "`+` takes two or more ints, or two or more reals, not int, bool"),
        ("(x", 0, "this is never closed"),
        ("x)", 1, "nothing is open that `)` could belong to"),
        ("x y", 2, "an operator was expected"),
        ("w", 0, "`w` is not declared"),
        ("\"a", 0, "this quote is never closed"),
        ("\"\\q\"", 1, "an escape is one of \\\\ \\\" \\` \\n \\t \\r \\u{...}"),
        ("if p then x", 0, "this is never closed"),
        ("forall k: thing. p", 10, "a sort was expected"),
        ("1/0", 0, "a fraction cannot have the denominator 0"),
        ("x # y", 2, "`#` means nothing here"),
        ("min(x)", 0, "`min` takes two or more ints, or two or more reals, not int"),
    ] {
        assert_eq!(parse_term(&mut p, text), Err(ParseError::new(offset, message)), "{text}");
    }
}

#[test]
fn displayed_values_are_parsed_back() {
    let p = pool();
    let e = p.find_enum("Status").unwrap();
    let third = Value::Real(RBig::from_parts(IBig::from(-1), 3u8.into()));
    for (v, text) in [
        (Value::Bool(true), "true"),
        (Value::int(-12), "-12"),
        (Value::whole(3), "3"),
        (third, "-1/3"),
        (Value::str("a\"b\u{1}\n"), r#""a\"b\u{1}\n""#),
        (Value::Enum(e, 1), "half open"),
    ] {
        assert_eq!(p.show_value(&v), text);
        assert_eq!(parse_value(&p, v.sort(), text), Ok(v));
    }
    assert_eq!(parse_value(&p, Sort::Real, "0.25"), parse_value(&p, Sort::Real, "1/4"));
    for (sort, text) in
        [(Sort::Int, "1/2"), (Sort::Int, "x"), (Sort::Bool, "-true"), (Sort::Int, "1 2")]
    {
        assert!(parse_value(&p, sort, text).is_err(), "{text}");
    }
    assert!(parse_value(&p, Sort::Enum(e), "Ajar").is_err());
}

#[test]
fn bounded_display_is_truncated() {
    let mut p = pool();
    let mut t = p.variable("x", Sort::Int);
    for _ in 0..100 {
        t = p.add(t, t);
    }
    let text = p.display_bounded(t, 50).to_string();
    assert_eq!(text.chars().count(), 51);
    assert!(text.ends_with('…'));
    let x = p.variable("x", Sort::Int);
    assert_eq!(p.display_bounded(x, 1).to_string(), "x");
}

#[test]
fn deep_terms_are_printed_and_parsed() {
    let mut p = pool();
    let mut t = p.variable("p", Sort::Bool);
    let q = p.variable("q", Sort::Bool);
    for i in 0..1_000_000 {
        t = match i % 3 {
            0 => p.mk(Op::Not, &[t]).unwrap(),
            1 => p.mk(Op::And, &[q, t]).unwrap(),
            _ => p.mk(Op::Implies, &[t, q]).unwrap(),
        };
    }
    let text = p.display(t).to_string();
    assert_eq!(parse_term(&mut p, &text), Ok(t));
    let open = "(".repeat(100_000);
    assert!(parse_term(&mut p, &open).is_err());
}

#[test]
fn bit_vectors_are_functions_and_sized_literals() {
    let p = &mut pool();
    for (name, width) in [("a", Width::W8), ("b", Width::W8), ("bvadd", Width::W8)] {
        p.variable(name, Sort::BitVec(width));
    }
    same(p, "bvadd(a, bvmul(b, 255u8)) == 0u8");
    same(p, "bvult(a, b) and not bvsge(a, b)");
    same(p, "extract(7, 4, concat(a, b)) == zero_extend(3, extract(0, 0, a))");
    same(p, "int_to_bv(8, x + 1) == a");
    same(p, "ubv_to_int(a) + sbv_to_int(b) < 3");
    same(p, "bvadd == bvneg(bvadd)");
    let t = parse_term(p, "forall k: bits8, l: bits65536. k == a").unwrap();
    let text = p.display(t).to_string();
    assert_eq!(text, "forall k: bits8, l: bits65536. k == a");
    reads(p, "bvadd (a, b)", "bvadd(a, b)");
    for (text, message) in [
        ("300u8 == a", "does not fit"),
        ("0u0 == a", "1 to 65536"),
        ("0u65537 == a", "1 to 65536"),
        ("bvadd(a, 1u9)", "one width"),
        ("bvadd(a)", "one width"),
        ("extract(8, 0, a)", "has the bits"),
        ("extract(0, 1, a)", "has the bits"),
        ("extract(a, 1, a)", "small number"),
        ("zero_extend(65536, a)", "65536"),
        ("int_to_bv(0, x)", "1 to 65536"),
        ("forall k: bits0. p", "1 to 65536"),
        ("bvfoo(a)", "no function"),
        ("a + b", "takes two or more ints"),
        ("a < b", "takes two ints"),
    ] {
        let error = parse_term(p, text).expect_err(text);
        assert!(error.message.contains(message), "{text}: {}", error.message);
    }
    p.declare_enum("bits8", &["A"]).unwrap();
    let t = parse_term(p, "exists k: `bits8`, l: bits8. k == bits8.A and l == a").unwrap();
    let text = p.display(t).to_string();
    assert!(text.contains(": `bits8`") && text.contains(": bits8. "), "{text}");
    let sort = Sort::BitVec(Width::W8);
    assert_eq!(parse_value(p, sort, "-1"), Ok(Value::bits(Width::W8, 255)));
    assert_eq!(parse_value(p, sort, "5u8"), Ok(Value::bits(Width::W8, 5)));
    assert!(parse_value(p, sort, "5u9").is_err() && parse_value(p, sort, "256").is_err());
}

#[test]
fn printed_arrays_are_parsed_back() {
    let mut p = Pool::new();
    let e = p.declare_enum("Colour", &["Red", "deep blue"]).unwrap();
    let ints = p.array_sort(Sort::Int, Sort::Int).unwrap();
    let rows = p.array_sort(Sort::Enum(e), ints).unwrap();
    p.variable("a", ints);
    p.variable("m", rows);
    p.variable("i", Sort::Int);
    p.variable("array", Sort::Int);
    for text in [
        "a[i]",
        "-a[i + 1] + a[a[i]]",
        "a[i := i + 1][0]",
        "m[Colour.Red][i := 2]",
        "(if i == 0 then a else a[0 := 1])[i]",
        "array[int](i)[`array`]",
        "array[int]{-1: 5, 2: -6, else: 0}",
        "array[Colour](a) == m",
        "array[Colour]{Colour.Red: array[int]{else: 1}, else: array[int]{1: 2, else: 0}} != m",
        "forall x: array[Colour] of array[int] of int. x == m",
    ] {
        let t = parse_term(&mut p, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let shown = p.display(t).to_string();
        if !text.starts_with("forall") {
            assert_eq!(shown, text);
        }
        let again = parse_term(&mut p, &shown).unwrap_or_else(|e| panic!("{shown}: {e}"));
        assert!(again == t || text.starts_with("forall"), "{shown}");
    }
    for wrong in [
        "a[",
        "a[]",
        "a[1 :=]",
        "a[1, 2]",
        "a[true]",
        "i[0]",
        "array[int]{1: i, else: 0}",
        "array[int]{else: not true}",
        "array[int]{}",
        "a[0 := true]",
        "a]",
    ] {
        assert!(parse_term(&mut p, wrong).is_err(), "{wrong}");
    }
    let deep = "array[int]{else: ".repeat(100_000);
    assert!(parse_term(&mut p, &deep).is_err());
    let deep = "forall x: ".to_string() + &"array[int] of ".repeat(100_000) + "int. true";
    assert!(parse_term(&mut p, &deep).is_err());
    for text in ["{else: {else: 3}}", "{`deep blue`: {else: 3}, else: {1: 2, else: 0}}"] {
        let v = parse_value(&p, rows, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(p.show_value(&v), text);
    }
    // Both variants are exceptions of equal frequency: the smaller element becomes the default.
    let v =
        parse_value(&p, rows, "{`deep blue`: {else: 4}, Red: {else: 3}, else: {else: 9}}").unwrap();
    assert_eq!(p.show_value(&v), "{`deep blue`: {else: 4}, else: {else: 3}}");
    for wrong in [
        "{}",
        "{else: 1}",
        "{Red: {else: 1}}",
        "{else: {else: 1}} 2",
        "{Green: {else: 1}, else: {else: 0}}",
    ] {
        assert!(parse_value(&p, rows, wrong).is_err(), "{wrong}");
    }
}
