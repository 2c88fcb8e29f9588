//! Rendered diagnostics of Lustre files.

use expect_test::{Expect, expect};
use gander_lang::{RenderStyle, SourceFile, lustre, render_all};

fn check(text: &str, expected: Expect) {
    let parsed = lustre::parse(text);
    let source = SourceFile::new("model.lus", text);
    expected.assert_eq(&render_all(&parsed.diagnostics, &source, RenderStyle::default()));
}

const COUNTER: &str = "type Point = struct { x: int; y: int };
const LIMIT: int = 10;
node counter(tick: bool; reset: bool) returns (count: int; ok: bool);
var before: int;
    p: Point;
let
  before = 0 -> pre count;
  count = if reset then 0 else if tick then before + 1 else before;
  p = Point { x = 1; y = 2 };
  ok = (count >= 0) and not (count > LIMIT);
  assert before < 100;
  --%PROPERTY ok;
tel
node main(t: bool) returns (ok: bool);
let
  ok = counter(t, false) > 0;
tel
";

#[test]
fn the_correct_counter_has_no_diagnostics() {
    check(COUNTER, expect![""]);
}

macro_rules! changes {
    ($($name:ident $right:literal $wrong:literal $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            assert!(COUNTER.contains($right), "{}", $right);
            check(&COUNTER.replacen($right, $wrong, 1), $expected);
        })*
    };
}

changes! {
    double_equals "count >= 0" "count == 0" expect![[r#"
        error[E0130]: `==` is not an operator of Lustre
          --> model.lus:10:15
           |
        10 |   ok = (count == 0) and not (count > LIMIT);
           |               ^^
           = help: write `=`
    "#]];
    not_equal "count >= 0" "count!=0" expect![[r#"
        error[E0130]: `!=` is not an operator of Lustre
          --> model.lus:10:14
           |
        10 |   ok = (count!=0) and not (count > LIMIT);
           |              ^^
           = help: write `<>`
    "#]];
    assigned "before = 0" "before := 0" expect![[r#"
        error[E0131]: a definition is written with `=`, not `:=`
         --> model.lus:7:10
          |
        7 |   before := 0 -> pre count;
          |          ^^
          = help: write `=`
    "#]];
    ampersand "and not" "& not" expect![[r#"
        error[E0103]: `&` means nothing here
          --> model.lus:10:21
           |
        10 |   ok = (count >= 0) & not (count > LIMIT);
           |                     ^
           = help: write `and`
    "#]];
    percent "before + 1" "before % 2" expect![[r#"
        error[E0103]: `%` means nothing here
         --> model.lus:8:52
          |
        8 |   count = if reset then 0 else if tick then before % 2 else before;
          |                                                    ^
          = help: write `mod`
    "#]];
    no_semicolon "pre count;" "pre count" expect![[r#"
        error[E0110]: expected `;`, found `count`
         --> model.lus:7:26
          |
        7 |   before = 0 -> pre count
          |                          ^ expected `;`
    "#]];
    no_else "else before;" ";" expect![[r#"
        error[E0110]: expected `else`, found `;`
         --> model.lus:8:56
          |
        8 |   count = if reset then 0 else if tick then before + 1 ;
          |                                --                      ^ expected `else`
          |                                |
          |                                for this `if`
          = note: an `if` in an expression always has an `else`: a stream has a value at every instant
    "#]];
    no_then "reset then 0" "reset 0" expect![[r#"
        error[E0110]: expected `then`, found `0`
         --> model.lus:8:20
          |
        8 |   count = if reset 0 else if tick then before + 1 else before;
          |                    ^ expected `then`
    "#]];
    no_parenthesis "(count >= 0) and" "(count >= 0 and" expect![[r#"
        error[E0115]: expected `)`, found `;`
          --> model.lus:10:43
           |
        10 |   ok = (count >= 0 and not (count > LIMIT);
           |        -                                  ^ expected `)`
           |        |
           |        to close this
    "#]];
    extra_parenthesis "(count >= 0) and" "(count >= 0)) and" expect![[r#"
        error[E0110]: expected `;`, found `)`
          --> model.lus:10:20
           |
        10 |   ok = (count >= 0)) and not (count > LIMIT);
           |                    ^ expected `;`
    "#]];
    no_returns ") returns (count" ") (count" expect![[r#"
        error[E0110]: expected `returns` and the outputs, found `(`
         --> model.lus:3:39
          |
        3 | node counter(tick: bool; reset: bool) (count: int; ok: bool);
          |                                       ^ expected `returns` and the outputs
          = help: write `returns (…)`; without outputs, `returns ()`
    "#]];
    misspelt_returns ") returns (count" ") return (count" expect![[r#"
        error[E0110]: expected `returns` and the outputs, found `return`
         --> model.lus:3:39
          |
        3 | node counter(tick: bool; reset: bool) return (count: int; ok: bool);
          |                                       ^^^^^^ expected `returns` and the outputs
          = help: did you mean `returns`?
    "#]];
    no_tel "tel\nnode" "node" expect![[r#"
        error[E0134]: expected `tel`, found `node`
          --> model.lus:12:18
           |
        12 |   --%PROPERTY ok;
           |                  ^ expected `tel`
           = help: the body of a node begins with `let` and ends with `tel`
    "#]];
    no_let "let\n  before" "  before" expect![[r#"
        error[E0110]: expected `let` and the body, found `before`
         --> model.lus:5:14
          |
        3 | node counter(tick: bool; reset: bool) returns (count: int; ok: bool);
          |      ------- of this node
        ...
        5 |     p: Point;
          |              ^ expected `let` and the body
          = help: write `let … tel`, or `node imported` if it has no body
    "#]];
    comma_in_header "tick: bool; reset" "tick: bool, reset" expect![[r#"
        error[E0132]: declarations of different types are separated by `;`
         --> model.lus:3:24
          |
        3 | node counter(tick: bool, reset: bool) returns (count: int; ok: bool);
          |                        ^
          = help: write `;`
    "#]];
    no_colon "before: int" "before int" expect![[r#"
        error[E0110]: expected `:` and a type, found `int`
         --> model.lus:4:12
          |
        4 | var before int;
          |            ^^^ expected `:` and a type
    "#]];
    reserved_name "tick: bool;" "node: bool;" expect![[r#"
        error[E0133]: `node` is a word of Lustre and cannot be a name
         --> model.lus:3:14
          |
        3 | node counter(node: bool; reset: bool) returns (count: int; ok: bool);
          |              ^^^^ expected the name of a variable
          = help: choose another name, for example `node_`
    "#]];
    reserved_target "before = 0" "pre = 0" expect![[r#"
        error[E0133]: `pre` is a word of Lustre and cannot be a name
         --> model.lus:7:3
          |
        7 |   pre = 0 -> pre count;
          |   ^^^ expected an equation, `assert`, a property, or `tel`
          = help: choose another name, for example `pre_`
    "#]];
    misspelt_item "node main" "nod main" expect![[r#"
        error[E0116]: `nod` does not begin a declaration
          --> model.lus:14:1
           |
        14 | nod main(t: bool) returns (ok: bool);
           | ^^^
           = help: did you mean `node`?
    "#]];
    record_with_colon "x = 1;" "x: 1;" expect![[r#"
        error[E0131]: the fields of a record are given with `=`, not `:`
         --> model.lus:9:16
          |
        9 |   p = Point { x: 1; y = 2 };
          |                ^
          = help: write `=`
    "#]];
    record_with_comma "x = 1; y" "x = 1, y" expect![[r#"
        error[E0132]: the fields of a record are separated by `;`
         --> model.lus:9:20
          |
        9 |   p = Point { x = 1, y = 2 };
          |                    ^
          = help: write `;`
    "#]];
    error_inside_record "x = 1;" "x = ;" expect![[r#"
        error[E0110]: expected an expression, found `;`
         --> model.lus:9:19
          |
        9 |   p = Point { x = ; y = 2 };
          |                   ^ expected an expression
    "#]];
    bare_call "  assert before < 100" "  counter(t, t)" expect![[r#"
        error[E0110]: expected `=`, found `(`
          --> model.lus:11:10
           |
        11 |   counter(t, t);
           |          ^ expected `=`
           = help: the outputs of a call are given to variables: `x, y = N(…);`, without outputs `() = N(…);`
    "#]];
    statement_before_let "var before: int;\n" "var before: int;\n before = 1;" expect![[r#"
        error[E0110]: expected `let` and the body, found `before`
         --> model.lus:4:17
          |
        3 | node counter(tick: bool; reset: bool) returns (count: int; ok: bool);
          |      ------- of this node
        4 | var before: int;
          |                 ^ expected `let` and the body
          = help: write `let … tel`, or `node imported` if it has no body

        error[E0110]: expected `=`, found `:`
         --> model.lus:5:18
          |
        5 |  before = 1;    p: Point;
          |                  ^ expected `=`

        error[E0110]: expected an equation, `assert`, a property, or `tel`, found `let`
         --> model.lus:5:26
          |
        5 |  before = 1;    p: Point;
          |                          ^ expected an equation, `assert`, a property, or `tel`
    "#]];
    variable_in_body "  assert before" "  var z: int;\n  assert before" expect![[r#"
        error[E0110]: local variables and constants are declared before `let`
          --> model.lus:11:3
           |
        11 |   var z: int;
           |   ^^^
           = help: move the declaration between the header and `let`
    "#]];
    property_misspelt "--%PROPERTY ok" "--%PROPERY ok" expect![[r#"
        warning[W0820]: `--%PROPERY` is not an annotation that is known here: the line is skipped
          --> model.lus:12:3
           |
        12 |   --%PROPERY ok;
           |   ^^^^^^^^^^
           = help: did you mean `--%PROPERTY`?
    "#]];
    property_in_lower_case "--%PROPERTY ok" "--%property ok" expect![[r#"
        warning[W0820]: `--%property` is not an annotation that is known here: the line is skipped
          --> model.lus:12:3
           |
        12 |   --%property ok;
           |   ^^^^^^^^^^^
           = help: did you mean `--%PROPERTY`?
    "#]];
    open_comment "assert before < 100;" "(* assert before" expect![[r#"
        error[E0105]: this comment is never closed
          --> model.lus:11:3
           |
        11 |   (* assert before
           |   ^^ opened here
           = help: end it with `*)`
    "#]];
    open_string "--%PROPERTY ok;" "--%PROPERTY \"name ok;" expect![[r#"
        error[E0104]: this string is never closed
          --> model.lus:12:15
           |
        12 |   --%PROPERTY "name ok;
           |               ^ opened here
           = help: end it with `"`
    "#]];
    point_without_digits "+ 1 else" "+ 1. else" expect![[r#"
        error[E0107]: `1.` is not a number
         --> model.lus:8:54
          |
        8 |   count = if reset then 0 else if tick then before + 1. else before;
          |                                                      ^^
          = help: digits stand behind a decimal point: `1.0`
    "#]];
    number_with_letters "+ 1 else" "+ 1x else" expect![[r#"
        error[E0107]: `1x` is not a number
         --> model.lus:8:54
          |
        8 |   count = if reset then 0 else if tick then before + 1x else before;
          |                                                      ^^
          = help: a number is digits, perhaps with a decimal point and an exponent: `42`, `0.05`, `1e-3`, `0x1F`; a name begins with a letter
    "#]];
    minus_in_front "before + 1 else" "-before div 2 else" expect![[r#"
        warning[W0821]: JKind and Kind 2 read this minus differently
         --> model.lus:8:45
          |
        8 |   count = if reset then 0 else if tick then -before div 2 else before;
          |                                             ^^^^^^^^^^^ read as `(-a) op b`, as JKind does; Kind 2 reads `-(a op b)`
          = help: write parentheses
    "#]];
    unicode_operator "count >= 0" "count ≥ 0" expect![[r#"
        error[E0103]: `≥` means nothing here
          --> model.lus:10:15
           |
        10 |   ok = (count ≥ 0) and not (count > LIMIT);
           |               ^
           = help: write `>=`
    "#]];
    bad_subrange "x: int; y: int }" "x: subrange [0 10] of int; y: int }" expect![[r#"
        error[E0110]: expected `,` and the upper bound, found `10`
         --> model.lus:1:38
          |
        1 | type Point = struct { x: subrange [0 10] of int; y: int };
          |                                      ^^ expected `,` and the upper bound
    "#]];
    set_type "x: int; y" "x: set<int>; y" expect![[r#"
        error[E0510]: gander does not support sets
         --> model.lus:1:26
          |
        1 | type Point = struct { x: set<int>; y: int };
          |                          ^^^ the first one is here
          = help: a set of few values can be an array of bools, `bool^n`, with `s[i]` for `i in s`
    "#]];
}

#[test]
fn all_errors_of_a_file_are_reported() {
    check(
        "node a(x int) returns (y: int);\nlet\n  y == x;\n  z = (1 + ;\n  w = 1 2;\ntel\nnode (x: int) returns ();\nlet\n  \
         y = if x;\ntel\ntype T = [int;\nconst c;\nnode b() returns (z: int);\nlet\n  z = 1;\n  ) = 2;\ntel\n",
        expect![[r#"
            error[E0110]: expected `:` and a type, found `int`
             --> model.lus:1:10
              |
            1 | node a(x int) returns (y: int);
              |          ^^^ expected `:` and a type

            error[E0131]: a definition is written with `=`, not `==`
             --> model.lus:3:5
              |
            3 |   y == x;
              |     ^^
              = help: write `=`

            error[E0110]: expected an expression, found `;`
             --> model.lus:4:12
              |
            4 |   z = (1 + ;
              |            ^ expected an expression

            error[E0110]: expected `;`, found `2`
             --> model.lus:5:9
              |
            5 |   w = 1 2;
              |         ^ expected `;`

            error[E0110]: expected the name of a node, found `(`
             --> model.lus:7:6
              |
            7 | node (x: int) returns ();
              |      ^ expected the name of a node

            error[E0110]: expected `then`, found `;`
             --> model.lus:9:11
              |
            9 |   y = if x;
              |           ^ expected `then`

            error[E0115]: expected `,` or `]`, found `;`
              --> model.lus:11:14
               |
            11 | type T = [int;
               |          -   ^ expected `,` or `]`
               |          |
               |          to close this

            error[E0110]: expected `:` and a type, or `=` and a value, found `;`
              --> model.lus:12:8
               |
            12 | const c;
               |        ^ expected `:` and a type, or `=` and a value

            error[E0110]: expected an equation, `assert`, a property, or `tel`, found `)`
              --> model.lus:16:3
               |
            16 |   ) = 2;
               |   ^ expected an equation, `assert`, a property, or `tel`
        "#]],
    );
}

#[test]
fn unsupported_constructs_are_reported_once() {
    check(
        "datatype List = Nil | Cons(head: int, tail: List);\ndatatype Tree = Leaf | Fork(a, b: Tree);\nlemma l(n: int)\ncon guarantee \
         n = n; noc\nlet auto; tel\ninclude \"other.lus\"\nnode N(x: List; m: map<int, int>) returns (y: int);\nlet\n  \
         y = match x with | Nil : 0 | Cons(h, t) : match t with | Nil : h | Cons(a, b) : a end end + 1;\n  z = m[1] in \
         {1, 2};\n  automaton initial state A: let y = 1; tel returns ..;\n  w = a[0 .. 3];\n  v = x[7:0] ++ x[3:1];\n  \
         u = (x: int);\ntel\nnode M = N<int>;\n",
        expect![[r#"
            error[E0510]: gander does not support lemmas
             --> model.lus:3:1
              |
            3 | lemma l(n: int)
              | ^^^^^ the first one is here
              = help: state it as a property of a node (`check`); what is proved there is not used elsewhere

            error[E1308]: the file cannot be included: only a model that is read from a file can include others
             --> model.lus:6:1
              |
            6 | include "other.lus"
              | ^^^^^^^^^^^^^^^^^^^

            error[E0510]: gander does not support maps
             --> model.lus:7:20
              |
            7 | node N(x: List; m: map<int, int>) returns (y: int);
              |                    ^^^ the first one is here
              = help: a map with few keys can be two arrays, one of bools for the keys that are there and one of values

            error[E0510]: gander does not support sets
              --> model.lus:10:15
               |
            10 |   z = m[1] in {1, 2};
               |               ^^^^^^ the first one is here
               = help: a set of few values can be an array of bools, `bool^n`, with `s[i]` for `i in s`

            error[E0510]: gander does not support automata
              --> model.lus:11:3
               |
            11 |   automaton initial state A: let y = 1; tel returns ..;
               |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the first one is here
               = help: an `enum` for the state, `state = First -> if … then … else pre state`, and `if` or `merge` for what each state defines; `restart N every c` begins a node anew

            error[E0510]: gander does not support array slices `a[0..3]`
              --> model.lus:12:11
               |
            12 |   w = a[0 .. 3];
               |           ^^ the first one is here

            error[E0510]: gander does not support concatenation of machine integers
              --> model.lus:13:7
               |
            13 |   v = x[7:0] ++ x[3:1];
               |       ^^^^^^^^^^^^^^^^ the first one is here

            error[E0510]: gander does not support bit extraction `x[7:0]`
              --> model.lus:13:10
               |
            13 |   v = x[7:0] ++ x[3:1];
               |          ^ the first one is here

            error[E0510]: gander does not support type ascriptions `(e: T)`
              --> model.lus:14:9
               |
            14 |   u = (x: int);
               |         ^ the first one is here

            error[E0510]: gander does not support nodes that are instances of nodes (`node N = M<T>;`)
              --> model.lus:16:1
               |
            16 | node M = N<int>;
               | ^^^^^^^^^^^^^^^^ the first one is here
        "#]],
    );
}

#[test]
fn errors_in_contracts_are_reported() {
    check(
        "node N(x: int) returns (y: int);\n(*@contract\n  assume x > ;\n  guarantee y = x\n  mode m ( require x = 1 );\n  \
         ensure y;\n*)\nlet\n  y = x;\ntel\nnode M(x: int) returns (y: int);\n(*@contract\n  assume x > 0;\nlet\n  y = \
         x;\ntel\n",
        expect![[r#"
            error[E0110]: expected an expression, found `;`
             --> model.lus:3:14
              |
            3 |   assume x > ;
              |              ^ expected an expression

            error[E0110]: expected `;`, found `mode`
             --> model.lus:4:18
              |
            4 |   guarantee y = x
              |                  ^ expected `;`

            error[E0110]: expected `;`, found `)`
             --> model.lus:5:26
              |
            5 |   mode m ( require x = 1 );
              |                          ^ expected `;`

            error[E0115]: expected an item of a contract, or `*)`, found `ensure`
             --> model.lus:6:3
              |
            2 | (*@contract
              | ----------- the contract begins here
            ...
            6 |   ensure y;
              |   ^^^^^^ expected an item of a contract, or `*)`

            error[E0115]: expected an item of a contract, or `*)`, found `let`
              --> model.lus:14:1
               |
            12 | (*@contract
               | ----------- the contract begins here
            ...
            14 | let
               | ^^^ expected an item of a contract, or `*)`
        "#]],
    );
}

#[test]
fn unclosed_blocks_are_reported() {
    check(
        "node N(x: bool) returns (y: int);\nlet\n  if x then\n    y = 1;\n  else\n    y = 2;\ntel\nnode M() returns (z: \
         int);\nlet\n  frame (z) z = 1;\n  z = 2;\ntel\n",
        expect![[r#"
            error[E0110]: expected `fi`, found `tel`
             --> model.lus:6:11
              |
            3 |   if x then
              |   -- to end this block
            ...
            6 |     y = 2;
              |           ^ expected `fi`

            error[E0110]: expected `let` and the body of the frame, found `tel`
              --> model.lus:11:9
               |
            11 |   z = 2;
               |         ^ expected `let` and the body of the frame
        "#]],
    );
}

#[test]
fn a_file_without_declarations_is_an_error() {
    check(
        "-- nothing\n",
        expect![[r#"
        error[E0505]: the file declares nothing
         --> model.lus:1:1
          |
        1 | -- nothing
          | ^
          = help: a Lustre file has at least one node: `node N(x: int) returns (y: int); let y = x; tel`
    "#]],
    );
    check(
        "hello world",
        expect![[r#"
        error[E0116]: `hello` does not begin a declaration
         --> model.lus:1:1
          |
        1 | hello world
          | ^^^^^
          = help: a file declares types, constants, nodes, functions and contracts
    "#]],
    );
}

/// A thousand warnings do not become an error, and do not hide an error after them.
#[test]
fn many_warnings_do_not_become_an_error() {
    let sums = ["(-1 div 3)"; 300].join(" + ");
    let text = format!(
        "node n(x: int) returns (ok: bool);\nlet\n  ok = {sums} >= x;\n  --%PROPERTY ok;\ntel\n"
    );
    let loaded = lustre::load(&text, "n.lus");
    assert_eq!(loaded.errors().count(), 0);
    assert!(
        loaded.system.is_some() && loaded.diagnostics.len() >= 300,
        "{}",
        loaded.diagnostics.len()
    );
    let wrong = lustre::load(&text.replace(">= x;", ">= x; ok ok;"), "n.lus");
    assert!(wrong.system.is_none() && wrong.errors().all(|e| e.code != gander_lang::Code::E0117));
}
