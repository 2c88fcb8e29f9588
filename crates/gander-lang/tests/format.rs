//! The formatter is idempotent, keeps comments and does not change the meaning.

use expect_test::expect;
use gander_lang::sts;

const SAMPLE: &str = include_str!("sample.sts");
const EVERYTHING: &str = include_str!("everything.sts");

/// A description of a system without source positions.
fn meaning(text: &str) -> String {
    let system =
        sts::load(text, "test.sts").system.unwrap_or_else(|| panic!("does not load: {text}"));
    let pool = system.pool();
    let show = |term| pool.display(term).to_string();
    let mut out = String::new();
    for start in system.starts() {
        let parts: Vec<String> =
            start.constraint.iter().map(|part| show(part.term.term())).collect();
        out += &format!("start {} {:?} {parts:?}\n", start.name, start.target);
    }
    for t in system.transition_ids() {
        let transition = system.transition(t);
        let guard: Vec<String> =
            transition.guard.iter().map(|part| show(part.term.term())).collect();
        let mut fork = gander_term::Pool::fork(pool);
        let effect = system.effect_term(&mut fork, t);
        let effect = fork.display(effect).to_string();
        out += &format!(
            "{} {:?} {:?} {guard:?} {effect}\n",
            transition.name, transition.source, transition.target
        );
    }
    for claim in system.claims() {
        out += &format!("{} {:?}\n", claim.name, claim.kind);
    }
    out
}

fn comments(text: &str) -> Vec<String> {
    let tokens = sts::parse(text)
        .root()
        .descendants_with_tokens()
        .filter_map(|element| element.into_token());
    tokens
        .filter(|token| token.kind().is_comment())
        .map(|token| token.text().trim_end().to_owned())
        .collect()
}

fn check(text: &str) {
    let once = sts::format(text).unwrap();
    assert_eq!(sts::format(&once).unwrap(), once, "formatting again changes nothing");
    assert_eq!(comments(text), comments(&once));
    if sts::load(text, "test.sts").system.is_some() {
        assert_eq!(meaning(text), meaning(&once));
    }
}

#[test]
fn formatting_the_samples_keeps_their_meaning() {
    check(SAMPLE);
    check(EVERYTHING);
}

#[test]
fn formatting_any_layout_keeps_the_meaning() {
    // Line ends, comments and blanks between tokens, wherever the text still parses.
    let (tokens, _) = sts::lexer::lex(EVERYTHING);
    for (turn, layout) in ["\n", " // c\n", " /* c */ ", "\n\n\n  "].into_iter().enumerate() {
        let mut at = 0;
        for (number, token) in tokens.iter().enumerate() {
            let text = format!("{}{layout}{}", &EVERYTHING[..at], &EVERYTHING[at..]);
            at += token.length as usize;
            // Each token boundary once; each layout at a quarter of them.
            if number % 4 == turn && sts::parse(&text).diagnostics.is_empty() {
                check(&text);
            }
        }
    }
}

#[test]
fn texts_with_errors_are_not_formatted() {
    assert!(sts::format("spec A start { x = }").is_err());
    assert_eq!(sts::format("").unwrap(), "");
}

#[test]
fn an_untidy_text_is_laid_out() {
    let messy = "// head\n\n\n\nspec   A\nvar x:int   -1 .. 3;  var y : bool\nenum E{P,Q}\n\nenum F {\nR\nS }\nstart  {x==0;y==false\n}\nstep go( n : int 1..2 )when n>x&&!y{x:=x+n;y:=true}   // trailing\nstep stay{ // why\n\n   x' == - 2^2 // negative\n\n   y' == (x>0   // inner\n     and y),\n -1 < x'\n}\nalways   p :x>=0  in {main}\n  reachable q:x>1\n    and y then go   with n==2\n";
    check(messy);
    expect![[r#"
        // head

        spec A
        var x: int -1..3
        var y: bool
        enum E { P, Q }

        enum F {
          R,
          S,
        }
        start {
          x == 0
          y == false
        }
        step go(n: int 1..2) when n > x && !y { x := x + n, y := true } // trailing
        step stay { // why
          x' == (-2)^2 // negative

          y' == (x > 0 // inner
              and y),
          -1 < x'
        }
        always p: x >= 0 in {main}
        reachable q: x > 1
            and y then go with n == 2
    "#]]
    .assert_eq(&sts::format(messy).unwrap());
}

#[test]
fn the_sample_is_laid_out() {
    expect![[r#"
        spec BankAccount

        enum Status { Open, Frozen, Closed }
        var balance: real
        var status: Status

        start -> Open { balance == 50, status == Open }

        node Open {
          deposit(amount: real) when amount > 0 { balance := balance + amount }
          withdraw(amount: real) when amount > 0 and amount <= balance { balance := balance - amount }
          freeze -> Frozen { status := Frozen }
          close -> Closed when balance == 0 { status := Closed }
        }
        node Frozen { unfreeze -> Open { status := Open } }
        final node Closed

        always solvent: balance >= 0
        reachable rich: balance > 1000 in Open
        reachable top_up: deposit with amount > 500 and balance == 50
        eventually closes: in Closed
        always marked: in Frozen -> status == Frozen
    "#]]
    .assert_eq(&sts::format(SAMPLE).unwrap());
}
