//! Rendered diagnostics of `.sts` files.

use expect_test::{Expect, expect};
use gander_lang::{Colour, RenderStyle, SourceFile, render_all, sts};

fn check(text: &str, expected: Expect) {
    let loaded = sts::load(text, "model.sts");
    let source = SourceFile::new("model.sts", text);
    expected.assert_eq(&render_all(&loaded.diagnostics, &source, RenderStyle::default()));
}

const ACCOUNT: &str = "spec Account
enum Status { Open, Frozen }
var balance: real
var status: Status
var count: int
start -> Active { balance == 50, status == Open, count == 0 }
node Active {
  deposit(amount: real) when amount > 0 { balance := balance + amount, count := count + 1 }
  freeze -> Held { status := Frozen }
}
node Held { thaw -> Active { status := Open } }
always solvent: balance >= 0 and count >= 0
always known: status == Open or status == Frozen
";

/// Checks the diagnostics of the account with one text replaced.
fn changed(right: &str, wrong: &str, expected: Expect) {
    assert!(ACCOUNT.contains(right), "{right}");
    check(&ACCOUNT.replacen(right, wrong, 1), expected);
}

#[test]
fn the_correct_account_has_no_diagnostics() {
    check(ACCOUNT, expect![""]);
}

#[test]
fn declarations_before_the_first_spec_belong_to_none() {
    let text = "enum Color { Red, Blue }\nspec A\nvar x: int\nstart { x == 0 }\n\
                step go { x := x + 1 }\nsystem S = a: A\nalways p: a.x >= 0\n";
    check(
        text,
        expect![[r#"
            error[E0501]: what is declared before the first `spec` belongs to no specification
             --> model.sts:1:1
              |
            1 | enum Color { Red, Blue }
              | ^^^^^^^^^^^^^^^^^^^^^^^^
              = help: declare it in each specification that uses it: enumerations, records and data with the same declaration are the same sort in a system
        "#]],
    );
}

macro_rules! changes {
    ($($name:ident $right:literal $wrong:literal $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            changed($right, $wrong, $expected);
        })*
    };
}

changes! {
    misspelt_variable "balance := balance + amount" "balance := balnce + amount" expect![[r#"
        error[E0202]: there is no `balnce` here
         --> model.sts:8:54
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balnce + amount, count := count + 1 }
          |                                                      ^^^^^^ not a variable, constant, definition, parameter or enumeration value
          = help: did you mean `balance`?
    "#]];
    misspelt_node "-> Held" "-> Hold" expect![[r#"
        error[E0203]: there is no node `Hold`
         --> model.sts:9:13
          |
        9 |   freeze -> Hold { status := Frozen }
          |             ^^^^
          = help: did you mean `Held`?
    "#]];
    misspelt_sort "count: int" "count: integer" expect![[r#"
        error[E0204]: there is no sort `integer`
         --> model.sts:5:12
          |
        5 | var count: integer
          |            ^^^^^^^
          = help: did you mean `int`?
    "#]];
    misspelt_word "node Held" "nod Held" expect![[r#"
        error[E0116]: `nod` does not begin a declaration or a claim
          --> model.sts:11:1
           |
        11 | nod Held { thaw -> Active { status := Open } }
           | ^^^
           = help: did you mean `node`?
    "#]];
    foreign_word "always solvent" "invariant solvent" expect![[r#"
        error[E0116]: `invariant` does not begin a declaration or a claim
          --> model.sts:12:1
           |
        12 | invariant solvent: balance >= 0 and count >= 0
           | ^^^^^^^^^
           = help: here this is written `always`; the claims are `always p`, `reachable p`, `eventually p`, `always eventually p`, `p leads to q`, `always possible p`, `exists always p`, `no deadlock` and `no sinkhole Node`
    "#]];
    foreign_comment "always solvent" "-- solvent\nalways solvent" expect![[r#"
        error[E0116]: expected a declaration or a claim, found `-`
          --> model.sts:12:1
           |
        12 | -- solvent
           | ^
           = help: comments begin with `//`
    "#]];
    single_equals "balance == 50" "balance = 50" expect![[r#"
        error[E0112]: equality is written `==`
         --> model.sts:6:27
          |
        6 | start -> Active { balance = 50, status == Open, count == 0 }
          |                           ^ a single `=` only defines constants, definitions and systems
          = help: write `==`; to give a variable a new value write `:=`
    "#]];
    assigned_in_start "balance == 50" "balance := 50" expect![[r#"
        error[E0407]: a start says what holds; nothing is assigned or freed in it
         --> model.sts:6:19
          |
        6 | start -> Active { balance := 50, status == Open, count == 0 }
          |                   ^^^^^^^^^^^^^
          = help: write `balance == …`
    "#]];
    primed_in_guard "amount > 0" "amount > 0 and balance' > 0" expect![[r#"
        error[E0404]: a guard cannot speak of `balance'`, the value after the step
         --> model.sts:8:45
          |
        8 |   deposit(amount: real) when amount > 0 and balance' > 0 { balance := balance + amount, count := count + 1 }
          |                                             ^^^^^^^^
          = help: move the condition into the effect: `{ balance' … }`
    "#]];
    primed_assignment "count := count + 1" "count' := count + 1" expect![[r#"
        error[E0114]: the left side of `:=` has no prime: it always means the next value of `count`
         --> model.sts:8:77
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balance + amount, count' := count + 1 }
          |                                                                             ^
          = help: write `count := …`, or the constraint `count' == …`
    "#]];
    assigned_twice "count := count + 1" "count := count + 1, balance := 0" expect![[r#"
        error[E0401]: `balance` is assigned twice in one effect
         --> model.sts:8:92
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balance + amount, count := count + 1, balance := 0 }
          |                                           -------                                          ^^^^^^^ assigned again here
          |                                           |
          |                                           first assigned here
          = note: all assignments of an effect happen at once and read the values before the step
          = help: join them into one, or use two transitions
    "#]];
    assigned_and_primed "count := count + 1" "count := count + 1, count' > 0" expect![[r#"
        error[E0402]: `count` is assigned, so its next value is fixed already
         --> model.sts:8:92
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balance + amount, count := count + 1, count' > 0 }
          |                                                                        -----               ^^^^^^ constrained here
          |                                                                        |
          |                                                                        assigned here
          = help: keep `count := …`, or replace it by constraints over `count'`
    "#]];
    parameter_in_claim "count >= 0" "amount >= 0" expect![[r#"
        error[E0406]: `amount` is a parameter of `deposit`, which has a value during that step only
          --> model.sts:12:34
           |
        12 | always solvent: balance >= 0 and amount >= 0
           |                                  ^^^^^^ a claim cannot mention it
           = help: to ask for such a step write `reachable NAME: deposit with amount > 0`
           = help: to speak of it later, store it in a variable in the effect
    "#]];
    parameter_assigned "count := count + 1" "amount := 1" expect![[r#"
        error[E0403]: `amount` cannot be assigned: it is a parameter, which is chosen anew in each step
         --> model.sts:8:72
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balance + amount, amount := 1 }
          |                                                                        ^^^^^^
          = help: declare `var amount` if it is to change
    "#]];
    not_a_formula "when amount > 0" "when amount" expect![[r#"
        error[E0301]: a guard is a formula, true or false, but this is a real
         --> model.sts:8:30
          |
        8 |   deposit(amount: real) when amount { balance := balance + amount, count := count + 1 }
          |                              ^^^^^^ this is a real
          = help: compare it with something, for example `amount > 0`
    "#]];
    sorts_compared "status == Open, count" "status == 1, count" expect![[r#"
        error[E0302]: `==` compares two values of one sort, but these are a value of `Status` and an int
         --> model.sts:6:41
          |
        6 | start -> Active { balance == 50, status == 1, count == 0 }
          |                                  ------ ^^ - this is an int
          |                                  |
          |                                  this is a value of `Status`
    "#]];
    wrong_value "count := count + 1" "count := balance" expect![[r#"
        error[E0301]: expected an int, found a real
         --> model.sts:8:81
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balance + amount, count := balance }
          |                                                                                 ^^^^^^^ this is a real
          = help: `to_int(…)` gives the greatest int that is not above a real
    "#]];
    int_division "count := count + 1" "count := count / 2" expect![[r#"
        error[E0303]: `/` divides reals, but both sides are ints
         --> model.sts:8:87
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balance + amount, count := count / 2 }
          |                                                                                       ^
          = help: write `count div 2` for the whole quotient, or `to_real(count) / 2` for the exact one
    "#]];
    node_as_value "balance >= 0 and" "balance >= 0 and Held and" expect![[r#"
        error[E0208]: `Held` is a node, not a value
          --> model.sts:12:34
           |
        12 | always solvent: balance >= 0 and Held and count >= 0
           |                                  ^^^^
           = help: write `in Held` to ask whether the system is there
    "#]];
    target_after_guard "freeze -> Held {" "freeze when count > 0 -> Held {" expect![[r#"
        error[E0119]: `Held` is a node, and in a guard `->` means "implies"
         --> model.sts:9:28
          |
        9 |   freeze when count > 0 -> Held { status := Frozen }
          |                            ^^^^
          = help: the target comes before the guard: `gate -> Held when guard { effect }`
    "#]];
    missing_brace "status := Frozen }\n}" "status := Frozen }\n" expect![[r#"
        error[E0115]: expected `}`, found the end of the line
         --> model.sts:9:38
          |
        7 | node Active {
          |             - to close this
        ...
        9 |   freeze -> Held { status := Frozen }
          |                                      ^ expected `}`
    "#]];
    missing_parenthesis "(amount: real)" "(amount: real" expect![[r#"
        error[E0115]: expected `)`, found `when`
         --> model.sts:8:24
          |
        8 |   deposit(amount: real when amount > 0 { balance := balance + amount, count := count + 1 }
          |          -             ^^^^ expected `)`
          |          |
          |          to close this
    "#]];
    missing_operand "count := count + 1" "count := count +" expect![[r#"
        error[E0110]: expected an expression, found `}`
         --> model.sts:8:89
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balance + amount, count := count + }
          |                                                                                         ^ expected an expression
    "#]];
    stray_sign "amount > 0" "amount ≥ 0" expect![[r#"
        error[E0103]: `≥` means nothing here
         --> model.sts:8:37
          |
        8 |   deposit(amount: real) when amount ≥ 0 { balance := balance + amount, count := count + 1 }
          |                                     ^
          = help: write `>=`
    "#]];
    mixed_chain "count >= 0" "0 <= count >= 3" expect![[r#"
        error[E0309]: a chain of comparisons must point in one direction
          --> model.sts:12:45
           |
        12 | always solvent: balance >= 0 and 0 <= count >= 3
           |                                    --       ^^
           |                                    |
           |                                    this one points the other way
           = help: write two comparisons joined by `and`
    "#]];
    unknown_function "count := count + 1" "count := mx(count, 1)" expect![[r#"
        error[E0206]: there is no function `mx`
         --> model.sts:8:81
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balance + amount, count := mx(count, 1) }
          |                                                                                 ^^
          = help: did you mean `max`?
    "#]];
    too_few_arguments "count := count + 1" "count := max(count)" expect![[r#"
        error[E0304]: `max` takes at least 2 arguments, and one is given
         --> model.sts:8:81
          |
        8 |   deposit(amount: real) when amount > 0 { balance := balance + amount, count := max(count) }
          |                                                                                 ^^^
    "#]];
    duplicate_variable "var count: int" "var count: int\nvar balance: int" expect![[r#"
        error[E0201]: `balance` is declared twice
         --> model.sts:6:5
          |
        3 | var balance: real
          |     ------- first declared here
        ...
        6 | var balance: int
          |     ^^^^^^^ declared again here
          = help: rename one of them, or remove it
    "#]];
    unused_variable "var count: int" "var count: int\nvar spare: int" expect![[r#"
        warning[W0801]: the variable `spare` is never used
         --> model.sts:6:5
          |
        6 | var spare: int
          |     ^^^^^
          = note: no guard, value, constraint or claim reads it
          = help: remove it, or begin its name with `_` if it is kept on purpose
    "#]];
    dead_end "node Held { thaw -> Active { status := Open } }" "node Held" expect![[r#"
        warning[W0806]: every run that enters the node `Held` stops there
          --> model.sts:11:6
           |
        11 | node Held
           |      ^^^^ it has no transitions and is not final
           = help: if this is the end, write `final node Held`
    "#]];
    unreachable_node "freeze -> Held { status := Frozen }" "freeze { status := Frozen }" expect![[r#"
        warning[W0802]: no path of transitions leads to the node `Held`
          --> model.sts:11:6
           |
        11 | node Held { thaw -> Active { status := Open } }
           |      ^^^^
           = help: give a transition the target `-> Held`
    "#]];
    hidden_name "amount: real) when amount" "count: real) when count" expect![[r#"
        warning[W0804]: `count` hides a declaration of the same name
         --> model.sts:8:11
          |
        5 | var count: int
          |     ----- this is hidden
        ...
        8 |   deposit(count: real) when count > 0 { balance := balance + amount, count := count + 1 }
          |           ^^^^^ this is meant from here on
          = help: rename one of them

        error[E0202]: there is no `amount` here
         --> model.sts:8:62
          |
        8 |   deposit(count: real) when count > 0 { balance := balance + amount, count := count + 1 }
          |                                                              ^^^^^^ not a variable, constant, definition, parameter or enumeration value
          = help: did you mean `count`?

        error[E0403]: `count` cannot be assigned: it is a parameter, which is chosen anew in each step
         --> model.sts:8:70
          |
        8 |   deposit(count: real) when count > 0 { balance := balance + amount, count := count + 1 }
          |                                                                      ^^^^^
          = help: declare `var count` if it is to change
    "#]];
    no_start "start -> Active { balance == 50, status == Open, count == 0 }" "" expect![[r#"
        error[E0501]: `Account` has no start, so it has no runs
         --> model.sts:1:6
          |
        1 | spec Account
          |      ^^^^^^^
          = help: say where it begins: `start -> Active { … }`
    "#]];
    reserved_word "var count: int" "var count: int\nvar then: int" expect![[r#"
        error[E0113]: `then` is a reserved word and cannot be a name
         --> model.sts:6:5
          |
        6 | var then: int
          |     ^^^^ expected the name of the variable
          = help: choose another name, for example `then_`
    "#]];
    value_given "var count: int" "var count: int = 0" expect![[r#"
        error[E0110]: a variable gets its first value in a `start`
         --> model.sts:5:16
          |
        5 | var count: int = 0
          |                ^
          = help: remove the value here and write `start { name == value }`; a value that never changes is a `const`
    "#]];
}

#[test]
fn all_errors_of_a_file_are_reported() {
    check(
        "spec S\nvar x: intt\nvar y: int\nstart -> A { 1 == true }\nnode A { go { z := 1, y := true } }\nalways fine: x >= 0 and w\n",
        expect![[r#"
            error[E0204]: there is no sort `intt`
             --> model.sts:2:8
              |
            2 | var x: intt
              |        ^^^^
              = help: did you mean `int`?

            error[E0302]: `==` compares two values of one sort, but these are an int and a bool
             --> model.sts:4:16
              |
            4 | start -> A { 1 == true }
              |              - ^^ ---- this is a bool
              |              |
              |              this is an int

            error[E0202]: there is no `z` here
             --> model.sts:5:15
              |
            5 | node A { go { z := 1, y := true } }
              |               ^ not a variable, constant, definition, parameter or enumeration value
              = help: declare it: `var z: int`, or with another sort

            error[E0301]: expected an int, found a bool
             --> model.sts:5:28
              |
            5 | node A { go { z := 1, y := true } }
              |                            ^^^^ this is a bool

            error[E0202]: there is no `w` here
             --> model.sts:6:25
              |
            6 | always fine: x >= 0 and w
              |                         ^ not a variable, constant, definition, parameter or enumeration value
              = help: declare it: `var w: int`, or with another sort
        "#]],
    );
}

#[test]
fn carets_fit_tabs_wide_and_control_characters() {
    check(
        "spec S\n\tvar größe: int\nvar 名前: string\nstart { größe == 0, 名前 == \"\u{7}漢字\" ++ nme }\n",
        expect![[r#"
        error[E0202]: there is no `nme` here
         --> model.sts:4:36
          |
        4 | start { größe == 0, 名前 == "�漢字" ++ nme }
          |                                        ^^^ not a variable, constant, definition, parameter or enumeration value
          = help: declare it: `var nme: int`, or with another sort
    "#]],
    );
}

#[test]
fn long_lines_are_cut_to_a_window() {
    let text = format!(
        "spec S\nvar x: int\nstart {{ x == 0 }}\nalways p: {} + y + {} == 0\n",
        vec!["x"; 200].join(" + "),
        vec!["x"; 200].join(" + ")
    );
    check(
        &text,
        expect![[r#"
        error[E0202]: there is no `y` here
         --> model.sts:4:811
          |
        4 | …x + x + x + x + x + x + x + x + x + x + y + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + …
          |                                          ^ not a variable, constant, definition, parameter or enumeration value
          = help: declare it: `var y: int`, or with another sort
    "#]],
    );
}

#[test]
fn colours_are_ansi_escapes() {
    let text = "spec S start { x }";
    let loaded = sts::load(text, "model.sts");
    let style = RenderStyle { colour: Colour::Always, ..RenderStyle::default() };
    let shown = render_all(&loaded.diagnostics, &SourceFile::new("model.sts", text), style);
    expect![[r#"
        ESC[1;31merror[E0202]ESC[0mESC[1m: there is no `x` hereESC[0m
         ESC[1;34m--> ESC[0mmodel.sts:1:16
        ESC[1;34m  |ESC[0m
        ESC[1;34m1 | ESC[0mspec S start { x }
        ESC[1;34m  | ESC[0m               ESC[1;31m^ESC[0mESC[1;31m not a variable, constant, definition, parameter or enumeration valueESC[0m
          ESC[1;34m= ESC[0mESC[1;36mhelp: ESC[0mdeclare it: `var x: int`, or with another sort
    "#]].assert_eq(&shown.replace('\u{1b}', "ESC"));
}
