//! The catalogue of diagnostics: every code with a title, an explanation and an example.
//!
//! Codes are stable: a code is never reused for something else. `E` is an error, `W` a
//! warning. The example of each entry is the smallest file that causes it; a test loads
//! every one of them.

use crate::diagnostics::diagnostic::Severity;

/// An entry of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The code, for example `E0202`.
    pub code: Code,
    /// The title, in a few words.
    pub title: &'static str,
    /// Why it is reported, and what to do.
    pub explanation: &'static str,
    /// The language of the example; other languages may use the code too.
    pub language: &'static str,
    /// A file that causes it; empty where a file would be too large to show.
    pub example: &'static str,
}

/// An example is a `.sts` file unless its entry names another language.
macro_rules! language {
    () => {
        "sts"
    };
    ($language:ident) => {
        stringify!($language)
    };
}

macro_rules! catalogue {
    ($($code:ident $title:literal $explanation:literal $($language:ident)? $example:literal)*) => {
        /// The code of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Code { $($code,)* }

        /// Every code, in order.
        pub const CATALOGUE: &[Entry] = &[$(Entry {
            code: Code::$code,
            title: $title,
            explanation: $explanation,
            language: language!($($language)?),
            example: $example,
        },)*];

        impl Code {
            /// The code as it is shown.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$code => stringify!($code),)* }
            }
        }
    };
}

impl Code {
    /// The severity of its diagnostics.
    pub fn severity(self) -> Severity {
        if self.as_str().starts_with('E') { Severity::Error } else { Severity::Warning }
    }

    /// True if finding it requires a check, not only reading the file.
    pub fn takes_a_check(self) -> bool {
        matches!(
            self,
            Code::W0810
                | Code::W0811
                | Code::W0812
                | Code::W0813
                | Code::W0815
                | Code::W0816
                | Code::W0817
                | Code::W0818
                | Code::W0819
        )
    }

    /// The code with this text.
    pub fn find(text: &str) -> Option<Code> {
        CATALOGUE.iter().map(|entry| entry.code).find(|code| code.as_str() == text)
    }

    /// Its entry in the catalogue.
    pub fn entry(self) -> &'static Entry {
        &CATALOGUE[self as usize]
    }
}

catalogue! {
    E0101 "not a text file"
        "The file contains a NUL byte, so it is not a text that someone wrote. Perhaps the wrong file was named. Name the text of the model instead."
        "spec A \0"
    E0102 "file too large"
        "Files of more than 32 MiB are not read: a model of a hundred thousand transitions is a fifth of that. Nor are files of more than 6 million words and symbols. Split the model, or generate a smaller one."
        ""
    E0103 "stray character"
        "A character that has no meaning in the language. Operators are written with ASCII signs or words: `and` or `&&`, `or` or `||`, `not` or `!`, `->`, `<=`, `!=`. Remove the character, or write the operator that the message suggests."
        "spec A var x: bool start { x & x }"
    E0104 "string not closed"
        "A string begins and ends with `\"` on one line. A line break inside is written \\n. Add the quote."
        "spec A var x: string start { x == \"abc }"
    E0105 "comment not closed"
        "A comment that begins with `/*` ends with `*/`. Comments do not nest. A comment that begins with `//` ends with the line. Add the end of the comment."
        "spec A /* and so on"
    E0106 "unknown escape"
        "Inside a string a backslash begins an escape: \\n, \\t, \\r, \\\\, \\\" or \\u{20AC} with the number of a code point. Write one of these escapes, or `\\\\` for a backslash."
        "spec A var x: string start { x == \"a\\q\" }"
    E0107 "malformed number"
        "A number is digits with at most one decimal point between them: 42, 0.05, 1_000. There is no exponent and no hexadecimal form. A name begins with a letter. Write the digits alone, or a name that begins with a letter."
        "spec A var x: int start { x == 12abc }"
    E0110 "something else was expected"
        "The text does not follow the grammar at this place. The message says what could have stood there. Write that, or correct what stands before it."
        "spec A var x int"
    E0111 "nested too deeply"
        "Expressions may be nested 256 levels deep. Chains such as `a + b + c` count as one level, however long they are. Give parts a name with `define`."
        ""
    E0112 "`=` where `==` was meant"
        "Equality is `==` and assignment is `:=`. A single `=` only stands behind the name of a constant, a definition or a system."
        "spec A var x: int start { x = 1 }"
    E0113 "reserved word used as a name"
        "The words and, or, not, implies, iff, div, mod, if, then, else, true, false, forall, exists, in and when cannot be names, because formulas could not be read otherwise. All other words of the language can be."
        "spec A var mod: int start { true }"
    E0114 "misplaced `:=`"
        "An assignment `x := e` stands in the effect of a transition and has the plain name of a state variable on its left, without a prime."
        "spec A var x: int start { x == 0 } step up { x' := x + 1 }"
    E0115 "bracket not closed"
        "A parenthesis or brace was opened and something else follows where it should be closed. Close it, or remove the opening bracket."
        "spec A var x: int start { (x == 0 }"
    E0116 "not a declaration"
        "A file is a sequence of declarations (spec, enum, const, var, input, define, assume, start, node, step, fair, system) and claims (always, reachable, eventually and so on). This word begins none of them. Correct the word, or write the declaration that the message suggests."
        "spec A vra x: int"
    E0117 "too many errors"
        "Only the first 100 syntax errors of a file are shown. Correct those first; the others may be consequences."
        ""
    E0119 "target behind the guard"
        "A transition is written `gate(parameters) -> Target when guard { effect }`. Behind `when` an arrow is an implication, so the target has to come first."
        "spec A var x: int start -> N { x == 0 } node N { go when x == 0 -> M } node M"

    E0130 "operator of another language"
        "Lustre writes equality `=` and inequality `<>`; the connectives of truth values are `and`, `or`, `xor`, `not` and `=>`."
        lustre "node N(x: int) returns (y: bool); let y = x == 1; tel"
    E0131 "definition with another sign than `=`"
        "Equations, constants, types and the fields of a record are given with `=`. `:=` only stands in an update, `r{f := e}` and `a[i := e]`."
        lustre "node N(x: int) returns (y: int); let y := x; tel"
    E0132 "declarations separated by a comma"
        "Names that share a type are separated by commas, declarations with different types by semicolons: `a, b: int; c: bool`. So are the fields of a record."
        lustre "node N(x: int, b: bool) returns (y: int); let y = x; tel"
    E0133 "word of Lustre used as a name"
        "The words node, function, returns, var, let, tel, const, type, assert, if, then, else, not, and, or, xor, div, mod, pre, true, false, int, bool, real, subrange, of, struct, enum and condact cannot be names. All other words can be, also those of Kind 2, such as mode."
        lustre "node N(type: int) returns (y: int); let y = 1; tel"
    E0134 "body not closed"
        "The body of a node begins with `let` and ends with `tel`. Something that cannot be in a body, such as the next node, stands where `tel` is missing."
        lustre "node N(x: int) returns (y: int); let y = x; node M() returns (z: int); let z = 1; tel"

    E0201 "name declared twice"
        "Within a specification every variable, constant, definition, input, sort and enumeration value has its own name; so have nodes, transition labels, starts and claims among themselves. Rename one of the two."
        "spec A var x: int var x: bool start { true }"
    E0202 "unknown name"
        "A formula mentions a name that is not declared as a variable, constant, input, definition, parameter or enumeration value. Declare it, or correct its spelling."
        "spec A var x: int start { y == 0 }"
    E0203 "unknown node"
        "A target, a start or a claim mentions a node that the specification does not have. Declare the node, or correct its name."
        "spec A var x: int start -> Opne { x == 0 } node Open"
    E0204 "unknown sort"
        "The sorts are bool, int, real, string and the enumerations that the specification declares. Write one of them, or declare the enumeration."
        "spec A var x: integer start { true }"
    E0205 "unknown gate, transition or start"
        "A claim or a fairness names a gate, a transition or a start that the specification does not have. Correct the name, or add the transition or start."
        "spec A var x: int start { x == 0 } step up { x := x + 1 } reachable r: upp with true"
    E0206 "unknown function"
        "The functions are min, max, abs, to_real, to_int and the definitions with parameters. Write one of them, or declare a definition with parameters."
        "spec A var x: int start { x == sqrt(4) }"
    E0207 "circular definition"
        "A definition or constant mentions itself, directly or through others, so it has no meaning. Write one of them without the others."
        "spec A var x: int define a = b define b = a start { a == x }"
    E0208 "name of another kind"
        "The name exists, but it names something that has no value, such as a node, a gate or a sort; or it names a value where a node or gate is needed. Write a name of the right kind."
        "spec A var x: int start -> N { N == x } node N"
    E0209 "unknown fairness"
        "`under` names a fairness that is not declared with `fair NAME: …`, `weakly fair NAME: …` or `strongly fair NAME: …`. Declare it, or correct its name."
        "spec A var x: int start { x == 0 } step up { x := x + 1 } fair f: x > 0 eventually e: x > 9 under g"
    E0210 "ambiguous name"
        "The name stands for several things here: a value of two enumerations, or a gate of several transitions where one is needed. Say which: `Sort.Value`, `Node.gate`, or give the transition a label."
        "spec A enum P { X, Y } enum Q { X, Z } var p: P start { p == Y and X == X }"
    E0211 "no such warning"
        "`allow` names codes of warnings, as they are shown in brackets: `allow W0812`. Errors cannot be allowed."
        "spec A var x: int start { x == 0 } allow W9999"
    E0212 "unknown field or constructor"
        "A record or data sort has no field, or a data sort no constructor, of this name. `p.x` is the field `x` of `p`; `s is Circle` asks for the constructor. Write one of the names that the declaration has."
        "spec A record P { x: int } var p: P start { p.y == 0 } always r: p.x == 0"

    E0301 "wrong sort"
        "An expression has another sort than its place needs: a guard, a constraint or a claim is a bool, an assigned value has the sort of its variable. An int is accepted where a real is needed; nothing else is converted by itself."
        "spec A var x: int start { x := 1 > 0 } step s { x := true }"
    E0302 "operator applied to the wrong sorts"
        "Arithmetic and `<` take numbers, `and` takes bools, `++` takes strings, `==` takes two values of one sort."
        "spec A var x: int var b: bool start { x + b == 1 }"
    E0303 "division of two ints"
        "`/` is the exact quotient of reals. For ints write `div` (rounds so that the remainder is never negative), or make one side a real: `to_real(a) / b`."
        "spec A var x: int start { x / 2 == 1 }"
    E0304 "wrong number of arguments"
        "A function or a definition with parameters is given as many arguments as it has parameters; min and max take two or more. Add or remove arguments."
        "spec A var x: int start { abs(x, 1) == 1 }"
    E0305 "exponent not allowed"
        "The exponent of `^` is an int that is not negative. Write a literal such as `x ^ 2`."
        "spec A var x: int start { x ^ -1 == 1 }"
    E0306 "range on a sort without order"
        "Only ints and reals can have a range `low..high`. Remove the range, or state it as a claim or an assumption."
        "spec A var x: bool 0..1 start { true }"
    E0307 "not a constant"
        "The value of a constant and the bounds of a range must be known before the first step: literals, constants, and operators on them. Write such a value, or use a `define` for an expression over variables."
        "spec A var x: int const c: int = x start { true }"
    E0308 "empty range"
        "The lower bound of a range is above its upper bound, so no value is possible. Exchange or correct the bounds."
        "spec A var x: int 10..0 start { true }"
    E0309 "unclear chain of comparisons"
        "`0 <= i <= 3` means `0 <= i and i <= 3`. A chain must point in one direction, and `!=`, or `==` between truth values, cannot be chained: use parentheses or `and`."
        "spec A var x: int start { 0 < x > 3 }"
    E0310 "incomplete record or match"
        "A record is written with all of its fields, each once; a `match` has a case for every constructor, or `else`, and no case that is never taken. Add what is missing, or remove the case."
        "spec A record P { x: int, y: int } var p: P start { p == P{x: 0} } always r: p.x == 0"

    E0401 "assigned twice"
        "All assignments of an effect happen at once, so each variable can be assigned only once in it. Combine the two assignments into one."
        "spec A var x: int start { x == 0 } step s { x := 1, x := 2 }"
    E0402 "assigned and constrained"
        "A variable that is assigned, `x := e`, has its next value already. It cannot be constrained through its primed name, `x' > x`, or freed with `any x` in the same effect. Keep either the assignment or the constraint."
        "spec A var x: int start { x == 0 } step s { x := 1, x' > 0 }"
    E0403 "cannot be changed"
        "Only state variables, declared with `var`, can be assigned, primed or freed. Constants and definitions never change; parameters and inputs are chosen anew in each step. Declare a `var`, or remove the assignment."
        "spec A var x: int const c: int = 1 start { x == 0 } step s { c := 2 }"
    E0404 "prime not allowed here"
        "A primed variable is the value after a step. It has a meaning in the effect of a transition only: not in guards, starts, claims, assumptions or definitions. Remove the prime, or move the formula into an effect."
        "spec A var x: int start { x' == 0 }"
    E0405 "`in` not allowed here"
        "`in Node` asks which node the system is in. It has a meaning in claims, fairness, assumptions and definitions for them; a transition or an invariant is already written inside its node."
        "spec A var x: int start -> N { x == 0 } node N { go when in N }"
    E0406 "parameter used outside its step"
        "A parameter has a value during a step of its transition only. A start, an invariant or a claim about states cannot mention it; `reachable gate with formula` can. Inputs of SMV and VMT-LIB are such parameters."
        "spec A var x: int start { x == 0 } step put(n: int) { x := n } always p: n > 0"
    E0407 "assignment in a start"
        "A start says what holds at the beginning. There is no value before, so nothing is assigned: write `x == 0`. What a start does not mention has any value."
        "spec A var x: int start { x := 0 }"

    E0501 "no start"
        "A specification without a start has no runs, and every claim about it would be empty. Write `start { … }`, or `start -> Node { … }`."
        "spec A var x: int step s { x := 1 } always p: x == 1"
    E0502 "nodes and steps mixed"
        "A specification either has nodes, with its transitions inside them and starts that lead to one, or it has no nodes, with `step` at the top level and starts without a target. Move the steps into nodes, or remove the nodes."
        "spec A var x: int start { x == 0 } node N"
    E0503 "enumeration without values"
        "An enumeration needs at least one value. Write one: `enum E { A }`."
        "spec A enum E { } start { true }"
    E0504 "several specifications and no system"
        "A file with several specifications says with `system Name = a: Spec1 || b: Spec2` what is to be checked."
        "spec A start { true } spec B start { true }"
    E0505 "empty file"
        "The file declares nothing. Write a specification: `spec Name`, variables, a start, steps and claims."
        "// nothing yet"
    E0506 "declaration in the wrong place"
        "Behind `system` only claims, fairness and definitions over its instances may follow; variables, nodes and steps belong to a `spec`. Move the declaration before `system`, into its `spec`."
        "spec A start { true } system S = a: A var x: int"
    E0507 "sort that contains itself"
        "The fields of a record or data sort are, or contain, values of the sort itself, so a value would have no end. Values have a fixed number of parts. Use a list for a sequence, `list[8] of T` or `list of T`; for a linked structure use an array of records whose fields are indices of other elements."
        "spec A data Tree { Leaf, Fork(left: Tree, right: Tree) } var t: Tree start { t == Leaf } always r: t is Leaf"
    E0508 "sort without or with too many parts"
        "A record needs a field, a data sort a constructor, and the limit of a list is at least 1. Each field, and each element that a list with a limit can have, is a part; a value has at most 1000 parts. Use fewer, or a list without a limit or an array."
        "spec A var q: list[0] of int start { length(q) == 0 } always r: length(q) == 0"

    E0510 "construct not supported"
        "The construct is known, but it has no meaning here yet. The message names it; one message is given for each kind of construct. docs/lustre.md and docs/formats.md list what is supported. Write the model without it."
        lustre "node N(x: int) returns (y: set<int>); let y = {x}; tel"

    E0601 "`with` without a gate"
        "`with` gives a condition on the parameters of a gate, so a gate stands before it: `reachable big: deposit with amount > 500`. For a condition on states write `and`."
        "spec A var x: int start { x == 0 } reachable r: x > 0 with x < 3"
    E0602 "no fairness declared"
        "`under fairness` means all declared fairness, and there is none. Declare one, `fair f: p`, or remove `under fairness`."
        "spec A var x: int start { x == 0 } step s { x := x + 1 } eventually e: x > 3 under fairness"

    E0701 "unknown specification"
        "A system names a specification that is not in the file. Correct the name, or add the specification."
        "spec A start { true } system S = a: B"
    E0702 "unknown instance"
        "The part before the dot is not an instance of the system, or the instance does not have what is behind the dot. Correct the name."
        "spec A var x: int start { x == 0 } system S = a: A always p: b.x == 0"
    E0703 "cannot be synchronised"
        "A synchronisation joins gates of different instances, each of which exists in its specification. Name such gates."
        "spec A start { true } step go system S = a: A || b: A sync both(a.go, b.come)"

    E0704 "system too large"
        "The number of instances, synchronisations, transitions times variables, or copies that quantifiers over families make is above a limit. Use fewer instances. A specification has such a limit too: the number of its variables times that of its transitions."
        "spec A start { true } system S = a: A[1_000_000_000]"
    E0705 "wrong index of a family"
        "The instances of a family `f: A[4]` are `f[0]` to `f[3]`. An index of a quantifier or of a synchronisation ranges over one family: the one after `in`, or the one that it selects from."
        "spec A var x: int start { x == 0 } system S = a: A[2] always p: a[2].x == 0"
    E0706 "wrong references"
        "An instance is given as many arguments as its specification names in its header, in the same order: instances of the specifications named there, and values of the sorts."
        "spec A var x: int start { x == 0 } spec B(a: A) start { true } step go when a.x > 0 system S = a: A || b: B"

    E0901 "cannot be built"
        "The model passed all checks of the language, but a system could not be made of it. This is a defect of gander: please report it with the file."
        ""

    E1301 "name declared twice"
        "Types, constants, nodes and contracts of a file, the variables and constants of a node, the values of enumerations and the fields of a record each have their own names. Rename one of the two."
        lustre "node N(x: int; x: bool) returns (y: int); let y = 1; tel"
    E1302 "unknown type"
        "The type is not declared in the file and is not one of the built-in ones. Declare the type, or correct its name."
        lustre "node N(x: integer) returns (y: int); let y = 1; tel"
    E1303 "unknown name"
        "The name is not a variable of the node, a constant or the value of an enumeration; behind a point it is not a field of the record. Declare it, or correct its spelling."
        lustre "node N(speed: int) returns (y: int); let y = sped; tel"
    E1304 "unknown node or contract"
        "What is called or imported is not declared in the file. Declare it, or correct its name."
        lustre "node N(x: int) returns (y: int); let y = M(x); tel"
    E1305 "recursive call"
        "A call is replaced by the body of what it calls, so nodes must not call each other in a circle. Write memory with `pre` instead of recursion."
        lustre "node N(x: int) returns (y: int); let y = N(x); tel"
    E1306 "defined by itself"
        "The definition of a constant or type leads back to itself. Write one of them without the other."
        lustre "const A = B + 1; const B = A; node N(x: int) returns (y: int); let y = A; tel"
    E1307 "nothing to analyse"
        "The file has no node with a body. Add a node with `let … tel`."
        lustre "const A = 1;"
    E1308 "file cannot be included"
        "`include` names a file beside this one. It must exist, be readable, and not include this one in turn. Correct the path, or allow its folder with `--include-dir`."
        lustre "include \"types.lus\" node N(x: int) returns (y: int); let y = x; tel"
    E1401 "wrong type"
        "Operators, equations and calls take values of certain types, and nothing is converted silently: `real(x)` turns an int into a real."
        lustre "node N(x: int) returns (y: bool); let y = x; tel"
    E1402 "wrong number"
        "A call has as many arguments as the node has inputs, and an equation as many variables on its left as values on its right. Add or remove some."
        lustre "node M(x: int) returns (y: int); let y = x; tel node N(x: int) returns (y: int); let y = M(x, x); tel"
    E1403 "incomplete"
        "A record needs a value for every field, a type or node with type parameters a type for each. Add what is missing."
        lustre "type R = struct { a: int; b: int }; node N(x: int) returns (y: R); let y = R {a = x}; tel"
    E1404 "not constant"
        "The value of a constant and the size of an array do not change during a run, and the index on the left of an equation must be a number, or a new name for all indices. Write a number or a constant."
        lustre "node N(x: int) returns (y: int^x); let y = y; tel"
    E1405 "out of range"
        "An index is outside of its array, a constant outside of its type, or an array has no element. Correct the index, the value or the size."
        lustre "node N(x: int^3) returns (y: int); let y = x[3]; tel"
    E1407 "clocks do not fit"
        "Streams that are put together have the same clock; the arms of a merge are sampled on the values of its clock. Sample both with `when`, or hold one with `current`."
        lustre "node N(x: int; c: bool) returns (y: int); let y = x + (x when c); tel"
    E1502 "defined twice"
        "Every variable has one equation. Remove one, or choose between the two with `if`."
        lustre "node N(x: int) returns (y: int); let y = x; y = 1; tel"
    E1503 "cannot be defined"
        "An input is given by the caller, and a constant by its declaration: an equation cannot define it. Define another variable."
        lustre "node N(x: int) returns (y: int); let x = 1; y = x; tel"
    E1504 "depends on itself"
        "The value of a stream, or of a variable of an SMV file, depends on its own value at the same instant, so the equations do not say what it is. The message shows the cycle; `pre` somewhere in it refers to the instant before instead. Kind 2 refuses such programs; in those that JKind would read it is a warning, W1704."
        lustre "node N(a: int) returns (x, y: int); (*@contract guarantee x = y + a; *) let x = y + a; y = x; tel"
    E1505 "memory in a function"
        "A function has no memory: no `pre`, no `->`, no call of a node. Declare a `node` instead."
        lustre "function F(x: int) returns (y: int); let y = 0 -> pre x; tel"
    E1506 "unguarded `pre` in a contract"
        "The first value of a `pre` that no `->` guards is arbitrary, and a contract must not depend on that. Only `pre` of an output is taken, with a warning. Guard it: `init -> pre x`."
        lustre "node N(x: int) returns (y: int); (*@contract guarantee y >= pre x; *) let y = x; tel"
    E1507 "an assumption depends on an output"
        "An assumption of a node is about its inputs and about what its outputs were at earlier instants. Of its outputs at the same instant it must not speak: the caller has no say in them, and the node would assume what it should show."
        lustre "node N(x: int) returns (y: int); (*@contract assume y > 0; guarantee y > 0; *) let y = x; tel"
    E1602 "model too large"
        "Calls are inlined and arrays become scalars; the number of streams or operations that this gives is above the limit. Use smaller arrays or fewer instances."
        lustre "node N(x: int^10000000) returns (y: int); let y = 1; tel"

    W0801 "never used"
        "The declaration is not used by any formula, so it can be removed, or something was forgotten. A name that begins with `_` is not reported."
        "spec A var x: int var y: int start { x == 0 } always p: x == 0"
    W0802 "node cannot be entered"
        "No path of transitions leads from a start to this node, whatever the guards say. Add a transition to it, or remove the node."
        "spec A start -> N {} node N { again } node Lost { back -> N } always p: in N"
    W0803 "nothing is claimed"
        "The file makes no claim. Only the structural checks (dead transitions, sinkholes and so on) have something to say about it. Write a claim, such as `always name: formula`."
        "spec A var x: int start { x == 0 } step s { x := x + 1 }"
    W0804 "hidden name"
        "A parameter or a quantified variable has the name of a declaration, which cannot be used in its scope. Rename the parameter."
        "spec A var x: int start { x == 0 } step s(x: int) always p: x == 0"
    W0805 "variable never changes"
        "No transition assigns, constrains or frees the variable, so it keeps the value it has at the start. If that is meant, a `const` says so, unless the start leaves its value open."
        "spec A var x: int var y: int start { x == 0, y == 1 } step s { x := x + y } always p: x >= 0"
    W0806 "runs end here"
        "The node has no transitions and is not `final`, so every run that enters it stops, and `no deadlock` fails. If it is meant to be an end, write `final node`."
        "spec A start -> N {} node N { go -> M } node M always p: in {N, M}"
    W0807 "claim of a part not checked"
        "A claim of a specification that speaks of a whole, such as `no deadlock`, has no meaning for one instance of a system. Ask it of the system."
        "spec A var x: int start { x == 0 } step up { x := x + 1 } no deadlock system S = a: A || b: A always p: a.x >= 0"

    W0808 "start leaves a range open"
        "A start does not mention a variable that has a range, so its first value is arbitrary, and the claim that it stays in its range fails there. A range is a claim, not an assumption. Write the first value in the start, `x == 0`, or its bounds, `0 <= x, x <= 3`."
        "spec A var x: int 0..3 var y: int start { y == 0 } step s { x := 1, y := x } always p: y == y"

    W0810 "division by zero"
        "Some run takes this step, or comes to a state that this formula speaks of, with a divisor of zero. The quotient is then 0 and the remainder the dividend (in Lustre both are any value), which is hardly meant. The message shows the run. A condition such as `d != 0` in the guard, or `if d != 0 then x / d else 0`, avoids it."
        "spec A var x: real start { x == 1 } step halve(d: real) when d >= 0 { x := x / d } always p: x >= 0"
    W0811 "node is never reached"
        "Transitions lead to the node, but no run ever takes one of them: a guard on the way is never true. That is proved. Claims about the node hold vacuously. Correct the guard on the way, or remove the node."
        "spec A var x: int start -> N { x == 0 } node N { go -> M when x > 0 down { x := x - 1 } } node M { back -> N } always p: x <= 0"
    W0812 "condition is always true"
        "This part of the guard holds in every reachable state at the node, so it never keeps the transition from being taken. That is proved. Perhaps another condition was meant; or it is there for safety, and `allow W0812` says so."
        "spec A var x: int start -> N { x == 0 } node N { up when x >= 0 { x := x + 1 } } always p: x >= 0"
    W0813 "choice is not determined"
        "Two transitions with one gate can be taken in the same state with the same parameters, so the gate does not say what happens. The message shows a run to such a state. Make the guards exclude each other, or write `allow W0813` if the choice is meant."
        "spec A var x: int start -> N { x == 0 } node N { small: up when x < 9 { x := x + 1 } big: up when x > 3 { x := x + 2 } } always p: x >= 0"
    W0814 "variable is never read"
        "No guard, constraint, assumption or claim reads the variable, nor does the value of another one: whatever it holds makes no difference. A name that begins with `_` is not reported. Remove it, or begin its name with `_`."
        "spec A var x: int var y: int start { x == 0, y == 0 } step s { x := x + 1, y := y + 1 } always p: x >= 0"
    W0815 "invariant is not true"
        "A run leads to a state at the node that does not satisfy the invariant. The message shows the step that breaks it. The check goes on without this invariant. Correct it, or remove it."
        "spec A var x: int start -> N { x == 0 } node N { invariant x <= 2 up { x := x + 1 } } always p: x >= 0"
    W0816 "invariant is not inductive"
        "A state that satisfies the invariants of its node, and all that is known at other nodes, has a step to one that does not satisfy this one. No run has to lead to the first of these states, so the invariant may be true; the message says so if it was proved. It does not prove itself: add an invariant that excludes the first state, as the message shows it. The check goes on without this invariant."
        "spec A var x: int var y: int start -> N { x == 0, y == 0 } node N { invariant x >= 0 up { x := x + y, y := y + 1 } } always p: x >= 0"
    W0817 "condition never holds"
        "A property is claimed provided that a condition holds, and no run comes to a state in which it does: the property is vacuous. Kind 2 checks the same beside every such property. Correct the condition, or remove the property."
        lustre "node N(x: int) returns (y: int); let y = x * x; check y > 0 provided y < 0; tel"

    W0818 "index outside of the array"
        "Some run reads an element of an array with an index that is outside of it. The element is then any value; in JKind it is the last element. The message shows the run. A condition on the index, as in `if 0 <= i and i < 3 then a[i] else 0`, avoids it."
        lustre "node N(i: int; a: int^3) returns (y: int); let y = a[i]; check y = y; tel"

    W0819 "contract that cannot be kept"
        "For some inputs that satisfy the assumptions of an imported node, no outputs satisfy its guarantees. The guarantees are assumed, so runs that call it with such inputs do not exist in the model, and claims may hold because of that, if some call can pass them. A solver finds this for the first two instants of the node; the message shows the inputs. Weaken a guarantee, or exclude the inputs with an assumption."
        lustre "node imported M(x: int) returns (y: int); (*@contract guarantee y > x; guarantee y < 5; *) node N(x: int) returns (y: int); let y = M(x); check y < 5; tel"

    W0820 "unknown annotation"
        "A line that begins with `--%` and a word is an annotation: --%PROPERTY, --%MAIN, --%IVC or --%REALIZABLE. A line with another word is skipped, as Kind 2 does; a misspelt property would not be checked. Correct the word, or write a plain comment, `-- …`."
        lustre "node N(x: int) returns (y: int); let y = x; --%PROPETY y = x;\ntel"
    W0821 "read differently by JKind and Kind 2"
        "The two tools read this differently. In JKind a minus in front of an operand binds tighter than `div` and `mod`, in Kind 2 it does not: -7 div 2 is (-7) div 2 = -4 in one and -(7 div 2) = -3 in the other. It is read as in JKind. Parentheses make the meaning plain. JKind ignores an `assert` in a called node, and Kind 2 assumes it; a claim that holds only with it is `unknown`. Write it in the main node."
        lustre "node N(x: int) returns (y: int); let y = -x div 2; tel"

    W1701 "unguarded `pre`"
        "The value of `pre x` at the first instant is arbitrary. `init -> pre x` gives it one."
        lustre "node N(x: int) returns (y: int); let y = pre x; --%PROPERTY y = 0;\ntel"
    W1702 "never defined"
        "An output or local variable has no equation, so its value is arbitrary at every instant. Write an equation for it, or make it an input."
        lustre "node N(x: int) returns (y: int); let --%PROPERTY y = x;\ntel"
    W1703 "nothing is claimed"
        "The file has no property, guarantee or range to check. Write one, such as `--%PROPERTY e;` or `check e;`."
        lustre "node N(x: int) returns (y: int); let y = x; tel"
    W1704 "equations taken as constraints"
        "The value of a stream depends on its own value at the same instant. The message shows the cycle; `pre` somewhere in it refers to the instant before instead. As in JKind the equations are constraints: the streams have any values that satisfy all of them, at every instant. If there are none, no run exists, and every claim about all runs is vacuous: the claim `a run exists` fails then. Kind 2 refuses such programs."
        lustre "node N(a: int) returns (x, y: int); let x = y + a; y = 2 * x; --%PROPERTY x = -a;\ntel"
}
