//! Files that another tool would reject, or that define something twice, are errors. A file read
//! with another meaning than intended would get a verdict about another model.

use gander_lang::{Severity, language_of};

/// The messages of the errors of a text.
fn errors(text: &str, file: &str) -> Vec<String> {
    let loaded = (language_of(file).expect("a known language").load)(text, file);
    let errors: Vec<String> = loaded.errors().map(|e| e.message.clone()).collect();
    assert_eq!(loaded.system.is_none(), !errors.is_empty(), "{file}: {text}");
    errors
}

#[track_caller]
fn rejected(file: &str, text: &str, part: &str) {
    let found = errors(text, file);
    assert!(
        found.iter().any(|e| e.contains(part)),
        "{file}: expected `{part}`, found {found:?} in\n{text}"
    );
}

/// A four-bit counter, with `line` in place of line `at`, or appended if there is no such line.
fn counter(at: &str, line: &str) -> String {
    let lines = [
        "1 sort bitvec 4",
        "2 sort bitvec 1",
        "3 zero 1",
        "4 input 1 i",
        "5 state 1 x",
        "6 init 1 5 3",
        "7 one 1",
        "8 add 1 5 7",
        "9 next 1 5 8",
        "10 eq 2 5 4",
        "11 bad 10 p",
    ];
    let mut text = String::new();
    for old in lines {
        let replaced = old.split(' ').next() == Some(at);
        text += if replaced { line } else { old };
        text += "\n";
    }
    if at.is_empty() {
        text += line;
        text += "\n";
    }
    text
}

#[test]
fn btor2_is_read_as_strictly_as_it_is_defined() {
    assert_eq!(errors(&counter("", "; the end"), "m.btor2"), Vec::<String>::new());
    for (at, line, part) in [
        // Numbers of lines.
        ("", "11 bad 10 q", "defined twice"),
        ("", "3 ones 1", "defined twice"),
        ("8", "80 add 1 5 7\n8 add 1 5 7", "out of order"),
        ("3", "03 zero 1", "not the number of a line"),
        ("3", "-3 zero 1", "not the number of a line"),
        ("3", "+3 zero 1", "not the number of a line"),
        ("3", "x zero 1", "not the number of a line"),
        ("3", "0 zero 1", "not the number of a line"),
        ("", "99999999999999 ones 1", "too large"),
        ("3", "3", "expected an operator"),
        // `init` and `next`.
        ("7", "7 init 1 5 3", "initialised twice"),
        ("", "12 init 1 5 3", "initialised twice"),
        ("", "12 next 1 5 5", "two `next` lines"),
        ("6", "6 init 1 4 3", "not a state"),
        ("9", "9 next 1 4 8", "not a state"),
        ("9", "9 next 1 -5 8", "not a state"),
        ("6", "6 init 1 -5 3", "not a state"),
        ("6", "6 init 1 5 4", "depends on an input"),
        ("6", "6 init 1 5 -4", "depends on an input"),
        ("", "12 state 1 y\n13 zero 1\n14 init 1 12 13", "defined behind it"),
        ("", "12 not 1 4\n13 state 1 y\n14 init 1 13 12", "depends on an input"),
        ("9", "9 next 2 5 8", "different sorts"),
        ("6", "6 init 2 5 3", "different sorts"),
        // Constants.
        ("3", "3 const 1 00000", "does not fit"),
        ("3", "3 const 1 000", "does not fit"),
        ("3", "3 const 1 0002", "not a number"),
        ("3", "3 const 1 -000", "not a number"),
        ("3", "3 const 1", "expected a number"),
        ("3", "3 constd 1 16", "does not fit"),
        ("3", "3 constd 1 -9", "does not fit"),
        ("3", "3 constd 1 +1", "not a number"),
        ("3", "3 constd 1 1x", "not a number"),
        ("3", "3 constd 1 -", "not a number"),
        ("3", "3 consth 1 10", "does not fit"),
        ("3", "3 consth 1 g", "not a number"),
        ("3", "3 consth 1 -1", "not a number"),
        ("3", "3 constd 1 3 junk", "does not belong"),
        ("3", "3 const 1 0011 0", "does not belong"),
        ("3", "3 consth 1 f f", "does not belong"),
        // Words after a complete line.
        ("3", "3 zero 1 name more", "does not belong"),
        ("8", "8 add 1 5 7 sum more", "does not belong"),
        ("11", "11 bad 10 p q", "does not belong"),
        ("1", "1 sort bitvec 4 nibble more", "does not belong"),
        ("8", "8 not 1 5 7 8", "does not belong"),
        // Operands.
        ("8", "8 add 1 5", "expected a number"),
        ("8", "8 add 1 5 70", "no node"),
        ("8", "8 add 1 5 11", "no node"),
        ("8", "8 add 1 5 1", "no node"),
        ("8", "8 add 1 05 7", "not the number of a line"),
        ("8", "8 add 1 5 0", "not the number of a line"),
        ("8", "8 add 2 5 7", "gives 4 bits"),
        ("8", "8 add 3 5 7", "no sort"),
        ("8", "8 add -1 5 7", "no sort"),
        ("8", "8 plus 1 5 7", "not supported"),
        ("8", "8 slice 1 5 0 3", "do not exist"),
        ("8", "8 slice 1 5 4 1", "do not exist"),
        ("8", "8 slice 1 5 03 0", "expected a number"),
        ("8", "8 slice 1 5 -1 0", "expected a number"),
        ("8", "8 uext 1 5 -0", "expected a number"),
        ("10", "10 implies 2 5 7", "not supported"),
        ("11", "11 bad 5", "takes one bit"),
        ("11", "11 constraint 5", "takes one bit"),
        ("11", "11 fair 5", "takes one bit"),
        ("11", "11 justice 0", "at least one condition"),
        ("11", "11 justice 2 10", "expected a number"),
        ("11", "11 justice -1 10", "expected a number"),
        ("1", "1 sort bitvec 0", "1 to 65536 bits"),
        ("1", "1 sort bitvec 04", "expected a number"),
        ("1", "1 sort bitvec -4", "expected a number"),
        ("1", "1 sort vector 4", "expected `bitvec` or `array`"),
        ("", "12 sort array 1 2\n13 state 12 a\n14 init 12 13 8", "different sorts"),
        ("", "12 sort array 1 1\n13 state 12 a\n14 init 12 13 -7", "initialised with a constant"),
        ("", "12 sort array 1 1\n13 state 12 a\n14 init 12 13 5", "initialised with a constant"),
    ] {
        rejected("m.btor2", &counter(at, line), part);
    }
    // A truncated file.
    let text = counter("", "; the end");
    let cut = &text[..text.len() - "p\n; the end\n".len()];
    rejected("m.btor2", cut, "no line end");
    // A minus inverts the bits of an operand; constants at their limits.
    for (at, line) in [
        ("8", "8 add 1 -5 7"),
        ("3", "3 constd 1 -8"),
        ("3", "3 constd 1 15"),
        ("3", "3 consth 1 0f"),
        ("3", "3 const 1 1111 ; all"),
        ("8", "8 add 1 5 7 sum ; all"),
        ("8", "  8\tadd 1  5 7\r"),
    ] {
        assert_eq!(errors(&counter(at, line), "m.btor2"), Vec::<String>::new(), "{line}");
    }
}

const VMT: &str = "(declare-fun x () Int)\n(declare-fun x.next () Int)\n(define-fun .sv0 () Int (! x :next x.next))\n\
    (define-fun .init () Bool (! (= x 0) :init true))\n(define-fun .trans () Bool (! (= x.next x) :trans true))\n\
    (define-fun p () Bool (! (>= x 0) :invar-property 0))\n";

#[test]
fn vmt_allows_one_formula_of_each_kind() {
    assert_eq!(errors(VMT, "m.vmt"), Vec::<String>::new());
    for (line, part) in [
        ("(define-fun .init2 () Bool (! (= x 1) :init true))", "a second one"),
        ("(define-fun .trans2 () Bool (! (= x.next x) :trans true))", "a second one"),
        ("(define-fun q () Bool (! (>= x 1) :invar-property 0))", "the number 0"),
        ("(define-fun q () Bool (! (>= x 1) :live-property 0))", "the number 0"),
        ("(define-fun q () Bool (! (>= x 1) :invar-property))", "expected the number"),
        ("(define-fun q () Bool (! (>= x 1) :invar-property one))", "expected the number"),
        ("(define-fun p () Bool (! (>= x 1) :invar-property 1))", "defined twice"),
        ("(define-fun x () Int 3)", "defined twice"),
        ("(declare-fun x () Int)", "declared twice"),
        ("(declare-fun p () Bool)", "declared twice"),
        ("(define-fun .sv1 () Int (! x :next x.next))", "one next value"),
        (
            "(define-fun q () Bool (! (let ((y 1 2)) (= x y)) :invar-property 1))",
            "a name and a term",
        ),
        ("(assert (> x 0))", "not supported"),
    ] {
        rejected("m.vmt", &format!("{VMT}{line}\n"), part);
    }
    let primed = VMT.replace("(= x 0) :init", "(= x.next 0) :init");
    rejected("m.vmt", &primed, "is a next value");
    // Two numbers give two properties.
    let two = format!("{VMT}(define-fun q () Bool (! (>= x 1) :invar-property 1))\n");
    assert_eq!(errors(&two, "m.vmt"), Vec::<String>::new());
}

#[test]
fn a_misspelt_annotation_of_vmt_is_reported() {
    let text = VMT.replace(":invar-property", ":invar-propety");
    let loaded = (language_of("m.vmt").expect("VMT").load)(&text, "m.vmt");
    let warning = loaded
        .diagnostics
        .iter()
        .find(|d| d.message.contains(":invar-propety"))
        .expect("a warning");
    assert_eq!(warning.severity(), Severity::Warning);
    assert!(format!("{warning:?}").contains("`:invar-property`"), "{warning:?}");
    let named = VMT.replace(":invar-property 0", ":named first :invar-property 0");
    let loaded = (language_of("m.vmt").expect("VMT").load)(&named, "m.vmt");
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
}

#[test]
fn mcmt_defines_a_name_once() {
    let text = "(define-state-type T ((x Int) (b Bool)) ((i Int)))\n(define-constant c 3)\n(define-states I T (= x c))\n\
        (define-transition N T (= x' (+ x input.i)))\n(define-transition-system S T I N)\n(query S (> x 0))\n";
    assert_eq!(errors(text, "m.mcmt"), Vec::<String>::new());
    for line in [
        "(define-state-type T ((y Int)))",
        "(define-constant c 4)",
        "(define-states I T (= x 4))",
        "(define-transition N T (= x' x))",
        "(define-states N T (= x 4))",
        "(define-transition-system S T I N)",
        "(define-state-type U ((y Int) (y Int)))",
        "(define-state-type U ((y Int)) ((j Int) (j Bool)))",
    ] {
        rejected("m.mcmt", &format!("{text}{line}\n"), "twice");
    }
    // A set of states of another type has other variables.
    let other =
        format!("{text}(define-state-type U ((y Int)))\n(define-transition-system R U I true)\n");
    rejected("m.mcmt", &other, "there is no `I` here");
}

#[test]
fn horn_clauses_declare_a_name_once() {
    let text = "(set-logic HORN)\n(declare-fun P (Int) Bool)\n(define-fun big ((x Int)) Bool (> x 7))\n\
        (assert (forall ((x Int)) (=> (= x 0) (P x))))\n(assert (forall ((x Int)) (=> (and (P x) (big x)) false)))\n";
    assert_eq!(errors(text, "m.smt2"), Vec::<String>::new());
    for (line, part) in [
        ("(declare-fun P (Int Int) Bool)", "declared twice"),
        ("(declare-rel P (Int))", "declared twice"),
        ("(declare-var P Int)", "declared twice"),
        ("(define-fun P ((x Int)) Bool true)", "defined twice"),
        ("(define-fun big ((x Int)) Bool (> x 8))", "defined twice"),
        ("(declare-var y Int)\n(declare-var y Bool)", "declared twice"),
        ("(assert true true)", "one formula"),
    ] {
        rejected("m.smt2", &format!("{text}{line}\n"), part);
    }
    // Declaring the same variable for several clauses is common.
    assert_eq!(
        errors(&format!("{text}(declare-var y Int)\n(declare-var y Int)\n"), "m.smt2"),
        Vec::<String>::new()
    );
}

#[test]
fn smv_and_scripts_define_a_name_once() {
    let smv = "MODULE main\nVAR x : 0..3;\nASSIGN init(x) := 0; next(x) := x;\nDEFINE d := x;\nINVARSPEC x = 0;\n";
    assert_eq!(errors(smv, "m.smv"), Vec::<String>::new());
    for line in [
        "VAR x : boolean;",
        "IVAR x : boolean;",
        "VAR d : boolean;",
        "DEFINE d := 1;",
        "DEFINE x := 1;",
        "ASSIGN init(x) := 1;",
        "ASSIGN next(x) := 1;",
        "ASSIGN x := 1;",
    ] {
        assert!(!errors(&format!("{smv}{line}\n"), "m.smv").is_empty(), "{line}");
    }
    // Several of these sections are conjoined.
    let more = "INIT x = 0; INIT x < 2; TRANS next(x) = x; TRANS TRUE; INVAR x < 3; INVAR TRUE;";
    assert_eq!(errors(&format!("{smv}{more}\n"), "m.smv"), Vec::<String>::new());
    let script = "VARS:\n  int x;\nINIT:\n  x = 0;\nTRANS:\n  x = x + 1;\nSAFE p: x >= 0\n";
    assert_eq!(errors(script, "m.script"), Vec::<String>::new());
    for (old, new) in [
        ("  int x;", "  int x;\n  bool x;"),
        ("SAFE p: x >= 0\n", "SAFE p: x >= 0\nSAFE p: x >= 1\n"),
        ("  x = x + 1;", "  x, x = 1, 2;"),
    ] {
        assert!(!errors(&script.replace(old, new), "m.script").is_empty(), "{new}");
    }
}

#[test]
fn mcmt_conditions_have_branches() {
    let text = |value: &str| {
        format!(
            "(define-state-type T ((x Int)))\n(define-states I T (= x {value}))\n\
             (define-transition N T (= x' x))\n(define-transition-system S T I N)\n\
             (query S (> x 0))\n"
        )
    };
    assert_eq!(errors(&text("(cond ((> 1 0) 2) (else 3))"), "m.mcmt"), Vec::<String>::new());
    rejected("m.mcmt", &text("(cond)"), "`cond` has branches");
    rejected("m.mcmt", &text("(cond ((> 1 0) 2))"), "`else` is the last branch");
}

#[test]
fn datatypes_are_enumerations_with_names_of_their_own() {
    let text = "(declare-datatypes () ((N a b) (M c)))\n(declare-rel R (N Int))\n\
        (declare-var n (N))\n(declare-var x (Int))\n(rule (R a 0))\n\
        (rule (=> (and (R n x) (= n a)) (R b (+ x 1))))\n(query R)\n";
    assert_eq!(errors(text, "m.smt2"), Vec::<String>::new());
    for (line, part) in [
        ("(declare-datatypes () ((N d e)))", "declared twice"),
        ("(declare-datatypes () ((Int d e)))", "declared twice"),
        ("(declare-datatypes () ((O d d)))", "declared twice"),
        ("(declare-datatypes () ((O a d)))", "declared twice"),
        ("(declare-var b Int)", "declared twice"),
        ("(declare-datatypes () ((O (d (f Int)))))", "a datatype with fields"),
        ("(declare-datatypes (T) ((O d)))", "a datatype with parameters"),
        ("(declare-datatypes ((O 1)) (((d))))", "a datatype with parameters"),
        ("(declare-datatypes ((O 0)) ((par (T) ((d)))))", "a datatype with parameters"),
        ("(declare-datatypes ((O 0) (P 0)) (((d))))", "constructors for each datatype"),
        ("(declare-datatypes () ((O)))", "a datatype with constructors"),
        ("(declare-datatype O)", "expected"),
        ("(declare-var y O)", "the sort `O`"),
        ("(rule (=> (and (R n x) (= n c)) (R n x)))", "="),
        ("(rule (=> (and (R n x) (is-c n)) (R n x)))", "is-c"),
        ("(query S)", "there is no `S`"),
    ] {
        rejected("m.smt2", &format!("{text}{line}\n"), part);
    }
}

#[test]
fn the_other_language_called_mcmt_is_named() {
    let text = "; mutual exclusion\n\n  :comment two processes\n:local at int\n:initial\n";
    rejected("m.mcmt", text, "the MCMT of Ghilardi and Ranise");
    let sally = "; :comment\n(define-state-type S ((x Int)))\n\
        (define-transition-system T S (= x 0) (= x' x))\n(query T (= x 0))\n";
    assert_eq!(errors(sally, "m.mcmt"), Vec::<String>::new());
}
