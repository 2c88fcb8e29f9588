//! The formatter: one layout for every script; it changes only layout.
//!
//! It walks tokens and comments in order and decides what separates each two: nothing, a space, or
//! a line end with an indentation. Words that start a block start a line. Statements written on one
//! line within a block stay on one line, and line ends within a formula are kept. Blank lines are
//! kept between statements, at most one in a row.
//!
//! Formatting is idempotent and keeps the tokens.

use super::lexer::{Kind, Token, scan};
use super::parser::{HEADERS, parse};
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;

/// Formats a script; for a text with syntax errors, returns the errors.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    if let Some(diagnostic) = crate::sts::unreadable(source) {
        return Err(vec![diagnostic]);
    }
    let mut report = Report::default();
    parse(source, &mut report);
    if report.has_errors() {
        return Err(report.loaded(Vec::new()).diagnostics);
    }
    let tokens = scan(source, &mut Report::default());
    let mut printer = Printer::new(source, &tokens);
    for at in 0..tokens.len() - 1 {
        printer.token(at);
    }
    printer.out.push('\n');
    Ok(printer.out)
}

const INDENT: usize = 2;
const CONTINUATION: usize = 4;

/// The content of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// The keyword and everything before its colon.
    Header,
    /// Declarations, initial values, rules: each ends with `;`.
    Statements,
    /// A formula, a number, a program.
    Formula,
}

struct Printer<'a> {
    source: &'a str,
    tokens: &'a [Token],
    out: String,
    content: Content,
    /// The keyword of the current block.
    word: &'a str,
    within_process: bool,
    within_braces: bool,
    /// The next token starts a statement, or closes its braces.
    fresh: bool,
    /// The position of the last token that is not a comment.
    last: Option<usize>,
    /// True if no space follows the last token, a prefix operator.
    prefix: bool,
}

impl<'a> Printer<'a> {
    fn new(source: &'a str, tokens: &'a [Token]) -> Printer<'a> {
        Printer {
            source,
            tokens,
            out: String::new(),
            content: Content::Statements,
            word: "",
            within_process: false,
            within_braces: false,
            fresh: true,
            last: None,
            prefix: false,
        }
    }

    fn text(&self, at: usize) -> &'a str {
        &self.source[self.tokens[at].span.range()]
    }

    fn is(&self, at: usize, sign: &str) -> bool {
        matches!(self.tokens[at].kind, Kind::Sign(s) if s == sign)
    }

    fn is_comment(&self, at: usize) -> bool {
        matches!(self.tokens[at].kind, Kind::LineComment | Kind::BlockComment)
    }

    fn header(&self, at: usize) -> Option<&'static str> {
        let text = (self.tokens[at].kind == Kind::Ident).then(|| self.text(at))?;
        HEADERS.iter().copied().find(|header| *header == text)
    }

    fn token(&mut self, at: usize) {
        let header = self.header(at);
        if let Some(word) = header {
            self.word = word;
            self.content = Content::Header;
            self.within_process = match word {
                "PROCESS" => true,
                "VARS" | "INIT" | "TRANS" => self.within_process,
                _ => false,
            };
        }
        let closes = self.within_braces && self.is(at, "}");
        self.fresh |= closes;
        self.gap(at, header.is_some());
        self.out.push_str(&self.text(at).trim_end().replace("\r\n", "\n"));
        if self.is_comment(at) {
            return;
        }
        self.prefix = self.is(at, "!")
            || (self.is(at, "-") && self.last.is_none_or(|last| !self.ends_operand(last)));
        self.last = Some(at);
        self.fresh = false;
        if self.content == Content::Header && self.is(at, ":") {
            let statements = matches!(self.word, "VARS" | "INIT" | "TRANS");
            self.content = if statements { Content::Statements } else { Content::Formula };
            self.fresh = statements;
        } else if self.is(at, "{") {
            self.within_braces = true;
            self.fresh = true;
        } else if closes {
            self.within_braces = false;
        } else if self.is(at, ";") {
            self.fresh = self.content == Content::Statements;
        }
    }

    /// Writes the separator before a token.
    fn gap(&mut self, at: usize, header: bool) {
        let Some(before) = at.checked_sub(1) else { return };
        let between = &self.source
            [self.tokens[before].span.end as usize..self.tokens[at].span.start as usize];
        let newlines = between.bytes().filter(|byte| *byte == b'\n').count();
        let sticks = !self.fresh
            && (self.is(at, ";") || self.is(at, ",") || self.is(at, ":") || self.is(at, "{"));
        let broken =
            header || (newlines > 0 && !sticks) || self.tokens[before].kind == Kind::LineComment;
        if !broken {
            if self.spaced(before, at) {
                self.out.push(' ');
            }
            return;
        }
        // A comment is laid out like the token after it.
        let next = (at..self.tokens.len()).find(|&next| !self.is_comment(next)).unwrap_or(at);
        let new_block = self.tokens[next].kind == Kind::End || self.header(next).is_some();
        let opened = self.last == Some(before) && (self.is(before, "{") || self.is(before, ":"));
        if newlines > 1
            && (self.fresh || new_block)
            && !opened
            && !(self.within_braces && self.is(at, "}"))
        {
            self.out.push('\n');
        }
        self.out.push('\n');
        let indentation = match self.header(next) {
            Some("VARS" | "INIT" | "TRANS") if self.within_process => INDENT,
            Some(_) => 0,
            None if self.tokens[next].kind == Kind::End => 0,
            None => self.within_block(next),
        };
        self.out.extend(std::iter::repeat_n(' ', indentation));
    }

    /// The indentation of a line within a block that starts with this token.
    fn within_block(&self, next: usize) -> usize {
        let block = if self.within_process && self.word != "PROCESS" { INDENT } else { 0 };
        match self.content {
            Content::Header | Content::Formula => block + INDENT,
            Content::Statements => {
                let braces = if self.within_braces && !self.is(next, "}") { INDENT } else { 0 };
                let rest = if self.fresh || self.is(next, "}") { 0 } else { CONTINUATION };
                block + INDENT + braces + rest
            }
        }
    }

    fn spaced(&self, before: usize, at: usize) -> bool {
        if self.is_comment(before) || self.is_comment(at) {
            return true;
        }
        let quantifier =
            |at: usize| self.is(at, "<") && at + 1 < self.tokens.len() && self.is(at + 1, ">");
        let tight_before =
            [")", ",", ";", ".", "..", "[", "]"].iter().any(|sign| self.is(at, sign));
        let tight_behind = ["(", ".", "..", "["].iter().any(|sign| self.is(before, sign));
        let colon = self.is(at, ":") && self.content == Content::Header;
        let empty = self.is(before, "{") && self.is(at, "}");
        !(self.prefix
            || tight_before
            || tight_behind
            || colon
            || empty
            || quantifier(at)
            || quantifier(before))
    }

    /// True if a minus after this token is a subtraction.
    fn ends_operand(&self, at: usize) -> bool {
        match self.tokens[at].kind {
            Kind::Ident | Kind::Number => true,
            _ => self.is(at, ")"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(source: &str, expected: Expect) {
        expected.assert_eq(&format(source).expect("it parses"));
    }

    /// The texts of tokens and comments, without layout.
    fn tokens(source: &str) -> Vec<String> {
        let text =
            |t: &Token| source[t.span.range()].split_whitespace().collect::<Vec<_>>().join(" ");
        scan(source, &mut Report::default()).iter().map(text).collect()
    }

    #[test]
    fn blocks_and_statements_are_laid_out() {
        check(
            "MAXSTEPS:5 VARS:\nint x:0..N-1; const int N=3;\n\n\n nondet bool b;INIT: x=0 ; TRANS:\n?x<2&!b->x=x+1;x=-x;\n\
             REACH r:x==2&( x>-1|b )\nCHECK: E <> x == 1  SAFE:x\n>=0\n&x<9",
            expect![[r#"
                MAXSTEPS: 5
                VARS:
                  int x : 0..N - 1; const int N = 3;

                  nondet bool b;
                INIT: x = 0;
                TRANS:
                  ? x < 2 & !b -> x = x + 1; x = -x;
                REACH r: x == 2 & (x > -1 | b)
                CHECK: E<> x == 1
                SAFE: x
                  >= 0
                  & x < 9
            "#]],
        );
    }

    #[test]
    fn processes_states_and_comments_are_laid_out() {
        check(
            "// what it is\r\nVARS: int c : 0..9; // the count\n/* two\n   lines */ proc P = p;\nPROGRAM:\nP\n  // asked\nREACH: P.state==P . B\n\n\
             PROCESS p:\nVARS:\nstate A,B;\n// begin\nTRANS:\n  // up\n? c<3 : A->B{c=c+1};\n B -> A {\n\n? c > 0\n-> c = c - 1\n\n}; A->A{}; ;\n// over",
            expect![[r#"
                // what it is
                VARS: int c : 0..9; // the count
                  /* two
                   lines */ proc P = p;
                PROGRAM:
                  P
                // asked
                REACH: P.state == P.B

                PROCESS p:
                  VARS:
                    state A, B;
                  // begin
                  TRANS:
                    // up
                    ? c < 3 : A -> B { c = c + 1 };
                    B -> A {
                      ? c > 0
                          -> c = c - 1
                    }; A -> A {};;
                // over
            "#]],
        );
    }

    #[test]
    fn errors_are_returned_and_only_layout_changes() {
        assert_eq!(format("VARS: int x 0..2;").expect_err("a slip").len(), 1);
        let mut texts = Vec::new();
        let mut folders =
            vec![concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/script").into()];
        folders.push(std::path::PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../corpus/script/holds"
        )));
        for folder in folders {
            for entry in std::fs::read_dir(folder).expect("the folder is there").flatten() {
                texts.push(std::fs::read_to_string(entry.path()).expect("a script can be read"));
            }
        }
        assert!(texts.len() > 10);
        let mut random = gander_runtime::Random::new(7);
        for text in texts {
            for layout in 0..8 {
                // First the text as it is, then with random layout between the tokens.
                let mut wild = String::new();
                for token in scan(&text, &mut Report::default()) {
                    let gaps = [
                        " ",
                        " ",
                        "  ",
                        "\n",
                        "\n\n\n",
                        "\t",
                        " // c\n",
                        " /* c */ ",
                        "\n// c\n\n",
                        "\r\n",
                    ];
                    wild.push_str(&text[token.span.range()]);
                    wild.push_str(if token.kind == Kind::LineComment {
                        "\n"
                    } else {
                        random.pick(&gaps)
                    });
                }
                let source = if layout == 0 { &text } else { &wild };
                let once = format(source).expect("it parses");
                assert_eq!(tokens(source), tokens(&once), "{source}");
                assert_eq!(format(&once).expect("it parses again"), once, "{source}");
                assert!(
                    once.lines().all(|line| line.trim_end() == line || line.contains("/*")),
                    "{once}"
                );
            }
        }
    }
}
