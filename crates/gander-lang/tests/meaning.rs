//! The systems of `.sts` texts: precedence, coercions, frames, goals.

use expect_test::{Expect, expect};
use gander_lang::sts;
use gander_system::{ClaimKind, System};

fn load(text: &str) -> System {
    let loaded = sts::load(text, "test.sts");
    loaded.system.unwrap_or_else(|| panic!("{text}\n{:#?}", loaded.diagnostics))
}

const NAMES: &str = "spec A
enum E { P, Q }
var a, b, c: bool
var i, j, k: int
var r, s: real
var t, u: string
var e: E
var v, w: bits8
define half(x: real): real = x / 2
start { true }
";

/// Pairs of formulas that give the same term.
#[test]
fn precedence_and_coercions_are_as_documented() {
    let same = [
        ("-i^2 == 4", "((-i)^2) == 4"),
        ("-2^2 == 4", "((-2)^2) == 4"),
        ("2^3^2 == i", "2^(3^2) == i"),
        ("2 * i^2 + 1 == 0", "((2 * (i^2)) + 1) == 0"),
        ("i - j - k == 0", "((i - j) - k) == 0"),
        ("i - (j - k) == 0", "i - ((j - k)) == 0"),
        ("i div 2 * 3 % 4 == 0", "(((i div 2) * 3) % 4) == 0"),
        ("i mod 2 == i % 2", "(i mod 2) == (i mod 2)"),
        ("!a == b", "(!a) == b"),
        ("not a == b", "not (a == b)"),
        ("not a and b", "(not a) and b"),
        ("!a == b or c", "((!a) == b) or c"),
        ("i < j == a", "(i < j) == a"),
        ("a or b and c", "a or (b and c)"),
        ("a || b && c", "a or (b and c)"),
        ("a -> b -> c", "a -> (b -> c)"),
        ("a -> b or c", "a implies (b || c)"),
        ("a <-> b -> c", "a iff (b -> c)"),
        ("a <-> b <-> c", "(a == b) == c"),
        ("0 <= i <= 3", "0 <= i and i <= 3"),
        ("3 > i >= j > 0", "3 > i and i >= j and j > 0"),
        ("i == j == k", "i == j and j == k"),
        ("r == i", "r == to_real(i)"),
        ("r + i + 1 == 0.5", "r + to_real(i) + 1.0 == 0.5"),
        ("r < 1/3", "r < (1/3)"),
        ("min(i, 2, j) == 0", "(min(i, (2), j)) == 0"),
        ("half(i) == r", "to_real(i) / 2.0 == r"),
        ("if a then b else r == 0", "if a then b else (r == 0)"),
        ("(if a then i else r) == s", "(if a then to_real(i) else r) == s"),
        ("t ++ u ++ \"x\" == t", "(t ++ u ++ \"x\") == t"),
        ("e == E.P", "e == P"),
        ("forall x: int 0..3. x >= i and a", "forall x: int 0..3. (x >= i and a)"),
        ("-(-i) == -i", "(-(-i)) == (-i)"),
        ("1_000 == i", "1000 == i"),
        ("v + w + 1 == 255", "bvadd(bvadd(v, w), 1) == -1"),
        ("v - w * 2 == -v", "bvsub(v, bvmul(w, 2)) == bvneg(v)"),
        ("0 <= v < w", "bvule(0, v) and bvult(v, w)"),
        ("v > w == a", "bvugt(v, w) == a"),
    ];
    for (left, right) in same {
        let system = load(&format!("{NAMES}always p: {left}\nalways q: {right}\n"));
        let term = |name: &str| match &system.find_claim(name).unwrap().kind {
            ClaimKind::Always(formula) => system.pool().display(formula.term()).to_string(),
            other => panic!("{other:?}"),
        };
        // Bound variables of two quantifiers differ in the number after their name.
        let plain = |text: String| text.replace(['~', '`'], "").replace(char::is_numeric, "");
        assert_eq!(plain(term("p")), plain(term("q")), "{left}");
    }
}

#[test]
fn numbers_beside_a_bit_vector_become_bit_vectors() {
    let system = load(&format!(
        "{NAMES}always p: (if a then 3 else v) == w and v != -1 and extract(3, 0, v) == 7\n"
    ));
    let ClaimKind::Always(formula) = system.claims()[0].kind else { panic!() };
    expect!["(if a then 3u8 else v) == w and v != 255u8 and extract(3, 0, v) == 7u4"]
        .assert_eq(&system.pool().display(formula.term()).to_string());
}

#[test]
fn numbers_are_exact() {
    let system = load(&format!(
        "{NAMES}always p: r < 1/3 and s > 0.05 and i != -123456789012345678901234567890\n"
    ));
    let ClaimKind::Always(formula) = system.claims()[0].kind else { panic!() };
    expect!["r < 1/3 and s > 1/20 and i != -123456789012345678901234567890"]
        .assert_eq(&system.pool().display(formula.term()).to_string());
}

/// A textual description of a system.
fn words(system: &System) -> String {
    let mut pool = gander_term::Pool::fork(system.pool());
    let mut out = String::new();
    for start in system.starts() {
        let parts: Vec<String> = start
            .constraint
            .iter()
            .map(|part| pool.display(part.term.term()).to_string())
            .collect();
        out += &format!(
            "start {} -> {}: {}\n",
            start.name,
            system.node(start.target).name,
            parts.join("; ")
        );
    }
    for id in system.transition_ids() {
        let t = system.transition(id);
        let guard: Vec<String> =
            t.guard.iter().map(|part| pool.display(part.term.term()).to_string()).collect();
        let effect: Vec<_> =
            t.effect.iter().map(|part| system.effect_part(&mut pool, part)).collect();
        let effect: Vec<String> =
            effect.into_iter().map(|part| pool.display(part).to_string()).collect();
        let gate = t.gate.map_or("(internal)", |gate| system.gates()[gate.index()].as_str());
        let (source, target) = (&system.node(t.source).name, &system.node(t.target).name);
        out += &format!(
            "{} [{gate}] {source} -> {target}: {} | {}\n",
            t.name,
            guard.join("; "),
            effect.join("; ")
        );
    }
    for a in system.assumptions() {
        out += &format!("assume {}\n", pool.display(a.term.term()));
    }
    for claim in system.claims() {
        out += &format!("{}: {} ({:?})\n", claim.kind.word(), claim.name, claim.origin);
    }
    out
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&words(&load(text)));
}

#[test]
fn frames_and_transition_names_are_resolved() {
    check(
        "spec S\nvar x, y: int 0..9\ninput i: int 1..2\nstart first -> N { x == 0 and y == 0 }\nstart -> M { x == 1 }\n\
         node N {\n  go(n: int 1..3) -> M when n > x and y == 0 { x := x + n }\n  go { any y }\n  slip: go { x' > x, y' == y + i }\n  tau -> N\n  only -> M { i' == 1 }\n}\nfinal node M { go }\n",
        expect![[r#"
            start first -> N: x == 0; y == 0
            start start -> M: x == 1
            N.go [go] N -> M: 1 <= N.go.n and N.go.n <= 3; N.go.n > x; y == 0 | x' == x + N.go.n; y' == y
            N.go#2 [go] N -> N:  | x' == x
            slip [go] N -> N:  | x' > x; y' == y + i
            tau [(internal)] N -> N:  | x' == x; y' == y
            only [only] N -> M:  | i' == 1; x' == x; y' == y
            M.go [go] M -> M:  | x' == x; y' == y
            assume 1 <= i and i <= 2
            always: range of x (Range(VarId(0)))
            always: range of y (Range(VarId(1)))
        "#]],
    );
}

#[test]
fn goals_name_states_and_transitions() {
    let system = load(
        "spec S\nvar x: int\nstart -> N { x == 0 }\nnode N { up(n: int) -> M { x := x + n } }\nnode M { up(n: int) -> N { x := x - n }\n  up }\n\
         reachable a: up with n > 2\nreachable b: up in M\nreachable c: up\nreachable d: N.up\nreachable e: x > 2 in M then in N\n",
    );
    let goals = |name: &str| match &system.find_claim(name).unwrap().kind {
        ClaimKind::Reachable(goals) => goals
            .iter()
            .map(|goal| match goal {
                gander_system::Goal::State(formula) => {
                    system.pool().display(formula.term()).to_string()
                }
                gander_system::Goal::Step { choices, .. } => {
                    let list: Vec<&str> = choices
                        .iter()
                        .map(|(id, _)| system.transition(*id).name.as_str())
                        .collect();
                    list.join(" ")
                }
            })
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    // Of the transitions with the gate, only those with the parameter count.
    assert_eq!(goals("a"), ["N.up M.up"]);
    assert_eq!(goals("b"), ["M.up M.up#2"]);
    assert_eq!(goals("c"), ["N.up M.up M.up#2"]);
    assert_eq!(goals("d"), ["N.up"]);
    assert_eq!(goals("e"), ["`@node` == `@Node`.`M` and x > 2", "`@node` == `@Node`.`N`"]);
}
