//! Texts made from the grammar, with words of the language as names and any layout between the
//! tokens: formatting keeps the tree, and formatting again changes nothing.

use gander_lang::sts::syntax::{SyntaxKind as K, SyntaxNode};
use gander_lang::sts::{self, parse};
use gander_runtime::Random;
use std::fmt::Write;

/// Names, most of them words that mean something elsewhere.
const NAMES: &[&str] = &[
    "x",
    "Open",
    "start",
    "input",
    "var",
    "node",
    "final",
    "step",
    "always",
    "any",
    "no",
    "can",
    "fair",
    "under",
    "leads",
    "to",
    "with",
    "sync",
    "system",
    "spec",
    "enum",
    "assume",
    "possible",
    "invariant",
    "reachable",
    "run",
    "deadlock",
    "enable",
    "int",
    "tau",
    "const",
    "define",
    "eventually",
    "weakly",
    "infinite",
    "min",
];
const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "^", "++", "==", "!=", "<", "<=", ">", "and", "or", "&&", "||", "->",
    "implies", "<->", "div", "mod",
];

/// Writes a text from the grammar, token by token; the layout comes between them.
struct Writer {
    random: Random,
    out: String,
    /// How many tokens a text may still have.
    budget: usize,
    /// Whether line ends and comments may stand anywhere, or only where the author of the text
    /// wants them.
    wild: bool,
}

impl Writer {
    fn put(&mut self, token: &str) {
        let layout = match self.random.below(if self.wild { 24 } else { 60 }) {
            0 => "\n",
            1 => "\n\n\n",
            2 => " // c\n",
            3 => " /* c */ ",
            4 => "\n// c\n",
            5 => "\n/* c\n d */\n",
            6 => "\t\r\n   ",
            _ => " ",
        };
        self.out.push_str(layout);
        self.out.push_str(token);
        self.budget = self.budget.saturating_sub(1);
    }

    fn puts(&mut self, tokens: &str) {
        tokens.split(' ').for_each(|token| self.put(token));
    }

    fn one_of(&mut self, words: &[&'static str]) {
        let word = words[self.random.below(words.len())];
        self.put(word);
    }

    fn name(&mut self) {
        self.one_of(NAMES);
    }

    /// Something between two elements of a block.
    fn separator(&mut self) {
        match self.random.below(8) {
            0 => {}
            1 => self.put(";"),
            2 | 3 => self.put(","),
            _ => self.out.push_str("\n  "),
        }
    }

    fn expression(&mut self, depth: u32) {
        let simple = depth == 0 || self.budget == 0;
        match if simple { self.random.below(5) } else { self.random.below(14) } {
            0 | 1 => self.name(),
            2 => self.one_of(&["1", "2.5", "\"a // \"", "true"]),
            3 => {
                self.name();
                self.out.push('\'');
            }
            4 => {
                self.put("in");
                self.name();
            }
            5 => {
                self.put("-");
                self.expression(depth - 1);
            }
            6 => {
                self.one_of(&["not", "!"]);
                self.expression(depth - 1);
            }
            7 => {
                self.put("(");
                self.expression(depth - 1);
                self.put(")");
            }
            8 => {
                self.name();
                self.out.push('(');
                self.expression(depth - 1);
                self.put(",");
                self.expression(depth - 1);
                self.put(")");
            }
            9 => {
                for word in ["if", "then", "else"] {
                    self.put(word);
                    self.expression(depth - 1);
                }
            }
            10 => {
                self.one_of(&["forall", "exists"]);
                self.parameter();
                self.put(".");
                self.expression(depth - 1);
            }
            _ => {
                for _ in 0..1 + self.random.below(3) {
                    self.expression(depth - 1);
                    self.one_of(OPERATORS);
                }
                self.expression(depth - 1);
            }
        }
    }

    fn parameter(&mut self) {
        self.name();
        self.put(":");
        self.one_of(&["int", "bool", "var"]);
        if self.random.below(3) == 0 {
            self.put("-1..2");
        }
    }

    fn effect(&mut self) {
        self.put("{");
        for _ in 0..self.random.below(5) {
            match self.random.below(4) {
                0 => {
                    self.put("any");
                    self.name();
                }
                1 => {
                    self.name();
                    self.put(":=");
                    self.expression(2);
                }
                _ => self.expression(3),
            }
            self.separator();
        }
        self.put("}");
    }

    fn transition(&mut self) {
        if self.random.below(5) == 0 {
            self.name();
            self.put(":");
        }
        self.name();
        if self.random.below(4) == 0 {
            self.out.push('(');
            self.parameter();
            self.put(")");
        }
        if self.random.below(2) == 0 {
            self.put("->");
            self.name();
        }
        if self.random.below(3) == 0 {
            self.put("when");
            self.expression(3);
        }
        if self.random.below(2) == 0 {
            self.effect();
        }
    }

    fn item(&mut self) {
        match self.random.below(16) {
            0 => {
                self.one_of(&["var", "input"]);
                self.parameter();
            }
            1 => {
                self.put("define");
                self.name();
                self.put("=");
                self.expression(3);
            }
            2 => {
                self.puts("const c =");
                self.expression(2);
            }
            3 => {
                self.put("enum");
                self.name();
                self.put("{");
                for _ in 0..1 + self.random.below(3) {
                    self.name();
                    self.one_of(&[",", "\n", ";"]);
                }
                self.put("}");
            }
            4 => {
                self.put("start");
                if self.random.below(2) == 0 {
                    self.put("->");
                    self.name();
                }
                self.effect();
            }
            5 => {
                self.put("step");
                self.transition();
            }
            6 => {
                self.puts("final node");
                self.name();
            }
            7 => {
                self.name();
                self.put(":");
                self.expression(2);
                self.puts("leads to");
                self.expression(2);
            }
            8 => self.puts("satisfiable start"),
            9 => {
                self.put("reachable");
                self.expression(2);
                self.put("with");
                self.expression(2);
                self.puts("then in");
                self.name();
            }
            10 => {
                self.one_of(&["always", "eventually", "possible", "assume", "fair"]);
                self.name();
                self.put(":");
                self.expression(3);
            }
            11 => {
                self.puts("weakly fair");
                self.name();
            }
            12 => {
                self.puts("system S = a : A || b : B sync");
                self.name();
                self.puts("( a . x , b . y )");
            }
            _ => {
                self.put("node");
                self.name();
                self.put("{");
                for _ in 0..self.random.below(5) {
                    if self.random.below(6) == 0 {
                        self.put("invariant");
                        self.expression(2);
                    } else {
                        self.transition();
                    }
                    self.separator();
                }
                self.put("}");
            }
        }
        match self.random.below(6) {
            0 => self.put(";"),
            1 => {}
            _ => self.out.push('\n'),
        }
    }
}

/// The tree without layout, separators of elements and parentheses.
fn shape(root: &SyntaxNode) -> String {
    let mut out = String::new();
    for element in root.descendants_with_tokens() {
        let parent = element.parent().map_or(K::SourceFile, |parent| parent.kind());
        match element.kind() {
            kind if kind.is_trivia() => {}
            K::ParenExpr => {}
            K::LParen | K::RParen if parent == K::ParenExpr => {}
            K::Comma | K::Semicolon
                if matches!(parent, K::SourceFile | K::EffectBlock | K::NodeBody | K::EnumDecl) => {
            }
            kind => {
                let text = element.as_token().map_or("", |token| token.text());
                let _ = writeln!(out, "{kind:?} {text}");
            }
        }
    }
    out
}

fn comments(text: &str) -> usize {
    sts::lexer::lex(text).0.iter().filter(|token| token.kind.is_comment()).count()
}

/// Checks what must hold of every text; says whether it was without errors.
fn check(text: &str) -> bool {
    let Ok(formatted) = sts::format(text) else { return false };
    let again = sts::format(&formatted).unwrap_or_else(|errors| {
        panic!("does not parse:\n{text}\n-- formatted --\n{formatted}\n{:?}", errors[0])
    });
    assert_eq!(formatted, again, "not stable:\n{text}");
    let (before, after) = (shape(&parse(text).root()), shape(&parse(&formatted).root()));
    assert!(before == after, "another tree:\n{text}\n-- formatted --\n{formatted}");
    assert_eq!(
        comments(text),
        comments(&formatted),
        "comments:\n{text}\n-- formatted --\n{formatted}"
    );
    true
}

#[test]
fn formatting_keeps_the_tree() {
    let rounds = std::env::var("GANDER_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(6_000u64);
    let mut good = 0;
    for seed in 1..=rounds {
        let random = Random::new(seed);
        let mut writer = Writer { random, out: String::new(), budget: 60, wild: seed % 2 == 0 };
        for _ in 0..1 + seed % 3 {
            writer.item();
        }
        good += u64::from(check(&writer.out));
    }
    // The generator would be of no use if most of its texts had errors.
    assert!(good * 3 > rounds, "{good} of {rounds} texts parse");
}

#[test]
fn keywords_may_start_lines_inside_braces() {
    let texts = [
        "node Frozen { unfreeze -> Open when status == input input input FROZEN { status := OPEN } }",
        "node A {\nstart -> B\n  final -> B when start { var := 1 }\nspec input -> B }",
        "step go { start\n  { x } }",
        "step go {\n  x == start, input y, any, z\n  -y, in A }",
        "always p: a; under: x leads to y; leads: x leads to y",
        "satisfiable start; p: x leads to y",
        "system S = a: A; sync: x leads to y",
    ];
    let good: Vec<bool> = texts.iter().map(|text| check(text)).collect();
    assert_eq!(good, [true, true, false, true, true, true, true]);
}

#[test]
fn a_gate_may_have_the_name_of_a_declaration() {
    let text = "spec Motor\nvar on: bool\nstart -> Idle { on == false }\nnode Idle {\n  start -> Running { on := true }\n}\n\
                node Running {\n  fair -> Idle { on := false }\n  step\n}\nreachable started: start\n";
    let loaded = sts::load(text, "motor.sts");
    assert!(
        loaded.system.is_some_and(|system| system.transitions().len() == 3),
        "{:?}",
        loaded.diagnostics
    );
    assert!(check(text));
}

#[test]
fn a_missing_brace_is_reported_at_the_next_item() {
    let text = "spec Motor\nstart -> Idle {}\nnode Idle {\n  start -> Running\n\nnode Running { stop -> Idle }\n";
    let codes: Vec<_> =
        sts::load(text, "motor.sts").diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [gander_lang::Code::E0115]);
}
