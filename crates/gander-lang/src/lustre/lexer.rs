//! Text to tokens. Layout and comments are dropped; annotations (`--%PROPERTY`, `(*@contract`) are
//! tokens.
//!
//! What is a comment is what both JKind and Kind 2 skip, or what one of them skips and the other
//! does not know: `-- …`, `// …`, `(* … *)`, `/* … */`. A block comment does not nest. `--@ …` is a
//! comment in both tools; `--% WORD` with a blank is one, too. An annotation with an unknown word,
//! or with a blank before a known one, gets a warning, because such a property would otherwise
//! vanish without a word.
//!
//! Words of the language are not told apart here: the parser reads them by their place.

use gander_runtime::check_cancelled;
use gander_text::Cursor;

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;

/// Texts have at most so many tokens; it bounds the memory for any text.
pub const MAX_TOKENS: usize = 12_000_000;
/// Literals have at most so many letters, and exponents are at most as large.
const MAX_LITERAL: usize = 10_000;
/// How many errors of the lexer are kept.
const MAX_ERRORS: usize = 101;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Word,
    /// `12`, `0x1F`, `0b101`
    Int,
    /// `1.5`, `1e-3`, `0x1p-3`
    Real,
    Text,
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Comma,
    Semicolon,
    Colon,
    ColonColon,
    Assign,
    Dot,
    DotDot,
    /// `.%`
    DotPercent,
    At,
    Tick,
    /// `?`
    Question,
    Hash,
    Caret,
    Bar,
    BarBar,
    And2,
    Bang,
    Equals,
    /// `==`, which is not an operator
    EqEq,
    NotEq,
    /// `!=`, which is not an operator
    BangEq,
    Less,
    LessEq,
    Greater,
    GreaterEq,
    Plus,
    PlusPlus,
    Minus,
    Star,
    Slash,
    Arrow,
    /// `=>`
    Implies,
    /// `==>`
    LazyImplies,
    /// `--%PROPERTY`, `--!PROPERTY`
    Property,
    /// `--%MAIN`, `--!MAIN`
    Main,
    /// `--%IVC`
    Ivc,
    /// `--%REALIZABLE`
    Realizable,
    /// `(*%PROPERTY`, `/*!PROPERTY`
    OpenProperty,
    /// `(*%MAIN`, `/*!MAIN`
    OpenMain,
    /// `(*@contract`, `/*@contract`
    OpenContract,
    /// `*)` or `*/` of an annotation
    CloseAnnotation,
    /// Something that was reported.
    Stray,
    /// Behind the last token.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its first byte.
    pub start: u32,
    /// The byte behind its last.
    pub end: u32,
}

/// Cuts a text into tokens. A text with more than [`MAX_TOKENS`] is an error and no tokens.
pub fn lex(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let room = (text.len() / 4).min(MAX_TOKENS);
    let mut lexer = Lexer {
        cursor: Cursor::new(text),
        tokens: Vec::with_capacity(room),
        open_string: false,
        diagnostics: Vec::new(),
    };
    lexer.cursor.skip_byte_order_mark();
    while !lexer.cursor.is_at_end() {
        check_cancelled();
        lexer.token();
        if lexer.tokens.len() > MAX_TOKENS {
            let message =
                format!("the file is too large: it has more than {MAX_TOKENS} words and symbols");
            return (Vec::new(), vec![Diagnostic::new(Code::E0102, Span::at(0), message)]);
        }
    }
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    tokens: Vec<Token>,
    /// Whether a string without an end was seen. From then on a string ends on its line, so that
    /// the work is linear.
    open_string: bool,
    diagnostics: Vec<Diagnostic>,
}

fn is_start(c: char) -> bool {
    c == '_' || c == '~' || unicode_ident::is_xid_start(c)
}

fn is_continue(c: char) -> bool {
    c == '~' || unicode_ident::is_xid_continue(c)
}

/// What stands behind `--%` or `(*%`: the words that have a meaning there.
const ANNOTATIONS: [&str; 4] = ["PROPERTY", "MAIN", "IVC", "REALIZABLE"];
/// What a contract begins with in lines of Kind 2 that begin with `--@`.
const CONTRACT_WORDS: [&str; 7] =
    ["contract", "assume", "guarantee", "require", "ensure", "mode", "import"];

/// The annotation that a misspelt word stands for.
fn near_annotation(word: &str) -> Option<&'static str> {
    let upper = word.to_ascii_uppercase();
    let known = ANNOTATIONS.iter().copied();
    known.clone().find(|known| *known == upper).or_else(|| nearest(&upper, known))
}

impl Lexer<'_> {
    fn push(&mut self, kind: Kind, length: usize) {
        let place = self.cursor.range(length);
        self.tokens.push(Token { kind, start: place.start, end: place.end });
        self.cursor.bump(length);
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
    }

    fn span(&self, length: usize) -> Span {
        self.cursor.range(length).into()
    }

    fn token(&mut self) {
        use Kind as K;
        let next = self.cursor.byte(1);
        let (kind, length) = match self.cursor.byte(0) {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0c => {
                let blank = |b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0c);
                self.cursor.bump(self.cursor.run_bytes(1, blank));
                return;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'~' => return self.word(),
            b'0'..=b'9' => return self.number(),
            b'.' if next.is_ascii_digit() => return self.number(),
            b'"' => return self.string(),
            b'-' if next == b'-' => return self.dashes(),
            b'/' if next == b'/' => return self.line_comment(),
            b'(' if next == b'*' => return self.block("*)"),
            b'/' if next == b'*' => return self.block("*/"),
            b'*' if next == b')' || next == b'/' => (K::CloseAnnotation, 2),
            b'(' => (K::LParen, 1),
            b')' => (K::RParen, 1),
            b'[' => (K::LBracket, 1),
            b']' => (K::RBracket, 1),
            b'{' => (K::LBrace, 1),
            b'}' => (K::RBrace, 1),
            b',' => (K::Comma, 1),
            b';' => (K::Semicolon, 1),
            b':' if next == b'=' => (K::Assign, 2),
            b':' if next == b':' => (K::ColonColon, 2),
            b':' => (K::Colon, 1),
            b'.' if next == b'.' => (K::DotDot, 2),
            b'.' if next == b'%' => (K::DotPercent, 2),
            b'.' => (K::Dot, 1),
            b'@' => (K::At, 1),
            b'\'' => (K::Tick, 1),
            b'#' => (K::Hash, 1),
            b'?' => (K::Question, 1),
            b'^' => (K::Caret, 1),
            b'|' if next == b'|' => (K::BarBar, 2),
            b'|' => (K::Bar, 1),
            b'&' if next == b'&' => (K::And2, 2),
            b'!' if next == b'=' => (K::BangEq, 2),
            b'!' => (K::Bang, 1),
            b'=' if next == b'=' && self.cursor.byte(2) == b'>' => (K::LazyImplies, 3),
            b'=' if next == b'=' => (K::EqEq, 2),
            b'=' if next == b'>' => (K::Implies, 2),
            b'=' => (K::Equals, 1),
            b'<' if next == b'>' => (K::NotEq, 2),
            b'<' if next == b'=' => (K::LessEq, 2),
            b'<' => (K::Less, 1),
            b'>' if next == b'=' => (K::GreaterEq, 2),
            b'>' => (K::Greater, 1),
            b'+' if next == b'+' => (K::PlusPlus, 2),
            b'+' => (K::Plus, 1),
            b'-' if next == b'>' => (K::Arrow, 2),
            b'-' => (K::Minus, 1),
            b'*' => (K::Star, 1),
            b'/' => (K::Slash, 1),
            _ => {
                let first = self.cursor.peek().unwrap_or('\0');
                if is_start(first) {
                    return self.word();
                }
                if first.is_whitespace() {
                    self.cursor.bump(first.len_utf8());
                    return;
                }
                return self.stray(first);
            }
        };
        self.push(kind, length);
    }

    /// A word. Older JKind files have `!` inside of words, but `x!=y` is meant to be a comparison.
    fn word(&mut self) {
        let bytes = self.cursor.rest().as_bytes();
        let mut length = 0;
        while length < bytes.len() {
            let byte = bytes[length];
            let inner = byte == b'!' && bytes.get(length + 1) != Some(&b'=');
            if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'~' || inner {
                length += 1;
            } else if byte.is_ascii() {
                break;
            } else {
                let longer = self.cursor.run(length, is_continue);
                if longer == length {
                    break;
                }
                length = longer;
            }
        }
        self.push(Kind::Word, length);
    }

    fn line_comment(&mut self) {
        self.cursor.bump(self.cursor.line());
    }

    /// `--`: an annotation or a comment.
    fn dashes(&mut self) {
        let mark = self.cursor.byte(2);
        if mark == b'@' {
            // Kind 2 reads contracts in such lines.
            let end = self.cursor.run_bytes(3, |b| b.is_ascii_alphanumeric() || b == b'_');
            let word = &self.cursor.rest()[3..end];
            if CONTRACT_WORDS.contains(&word)
                || nearest(word, CONTRACT_WORDS.iter().copied()).is_some()
            {
                self.skipped_contract(word, end);
            }
            return self.line_comment();
        }
        if mark != b'%' && mark != b'!' {
            return self.line_comment();
        }
        let end = self.cursor.run_bytes(3, |b| b.is_ascii_alphanumeric() || b == b'_');
        let word = &self.cursor.rest()[3..end];
        let kind = match word {
            "PROPERTY" => Kind::Property,
            "MAIN" => Kind::Main,
            "IVC" if mark == b'%' => Kind::Ivc,
            "REALIZABLE" if mark == b'%' => Kind::Realizable,
            _ => {
                // `--!` begins comments, too.
                if !word.is_empty() && (mark == b'%' || near_annotation(word).is_some()) {
                    self.unknown_annotation(word, end);
                }
                self.annotation_after_blank(3);
                return self.line_comment();
            }
        };
        self.push(kind, end);
    }

    fn skipped_contract(&mut self, word: &str, length: usize) {
        let shown: String = word.chars().take(40).collect();
        let diagnostic = Diagnostic::new(
            Code::W0820,
            self.span(length),
            format!("`--@{shown}` is not an annotation that is known here: the line is skipped"),
        );
        self.report(diagnostic.help("a contract is written `(*@contract … *)`"));
    }

    /// Warns of a word that has no meaning behind `--%`, `(*%` and the like.
    fn unknown_annotation(&mut self, word: &str, length: usize) {
        let near = near_annotation(word);
        let opening = self.cursor.rest()[..3].to_string();
        let what = if opening.starts_with("--") { "line" } else { "comment" };
        let shown: String = word.chars().take(40).collect();
        let diagnostic = Diagnostic::new(
            Code::W0820,
            self.span(length),
            format!(
                "`{opening}{shown}` is not an annotation that is known here: the {what} is skipped"
            ),
        );
        let span = Span::new(self.span(3).end, self.span(length).end);
        let diagnostic = match near {
            Some(near) => {
                diagnostic.help(format!("did you mean `{opening}{near}`?")).fix(span, near)
            }
            None => diagnostic.help("a comment is written `-- …`, with a blank"),
        };
        self.report(diagnostic);
    }

    /// Warns of an annotation with blanks before its word, which is a comment for both tools.
    fn annotation_after_blank(&mut self, opening: usize) {
        let from = self.cursor.run_bytes(opening, |b| b == b' ' || b == b'\t');
        let end = self.cursor.run_bytes(from, |b| b.is_ascii_alphanumeric() || b == b'_');
        let rest = self.cursor.rest();
        let (mark, word) = (rest[..opening].to_string(), rest[from..end].to_string());
        if from == opening || !ANNOTATIONS.contains(&word.as_str()) {
            return;
        }
        let message = format!("`{mark} {word}` is a comment, because of the blank");
        let blanks = Span::new(self.span(opening).end, self.span(from).end);
        let diagnostic = Diagnostic::new(Code::W0820, self.span(end), message)
            .help(format!("write `{mark}{word}`"))
            .fix(blanks, "");
        self.report(diagnostic);
    }

    /// `(*` or `/*`: an annotation or a comment.
    fn block(&mut self, close: &str) {
        let rest = self.cursor.rest();
        if rest[2..].starts_with("@contract") {
            return self.push(Kind::OpenContract, 2 + "@contract".len());
        }
        if self.cursor.byte(2) == b'@' {
            let end = self.cursor.run_bytes(3, |b| b.is_ascii_alphanumeric() || b == b'_');
            if nearest(&rest[3..end], ["contract"]).is_some() {
                let opening = &rest[..3];
                let message = format!(
                    "`{}` is not an annotation that is known here: the comment is skipped",
                    &rest[..end]
                );
                let span = Span::new(self.span(3).end, self.span(end).end);
                let diagnostic = Diagnostic::new(Code::W0820, self.span(end), message)
                    .help(format!("did you mean `{opening}contract`?"));
                self.report(diagnostic.fix(span, "contract"));
            }
        }
        if matches!(self.cursor.byte(2), b'%' | b'!') {
            let end = self.cursor.run_bytes(3, |b| b.is_ascii_alphanumeric() || b == b'_');
            match &rest[3..end] {
                "PROPERTY" => return self.push(Kind::OpenProperty, end),
                "MAIN" => return self.push(Kind::OpenMain, end),
                word if near_annotation(word).is_some() => self.unknown_annotation(word, end),
                _ => self.annotation_after_blank(3),
            }
        }
        match self.cursor.through(2, close) {
            Some(length) => {
                self.cursor.bump(length);
            }
            None => {
                let diagnostic =
                    Diagnostic::new(Code::E0105, self.span(2), "this comment is never closed")
                        .here("opened here")
                        .help(format!("end it with `{close}`"));
                self.report(diagnostic);
                self.cursor.bump(rest.len());
            }
        }
    }

    fn number(&mut self) {
        let rest = self.cursor.rest().as_bytes();
        let at = |index: usize| rest.get(index).copied().unwrap_or(0);
        let digits = |from: usize, belongs: fn(&u8) -> bool| {
            from + rest[from.min(rest.len())..].iter().take_while(|byte| belongs(byte)).count()
        };
        let exponent = |from: usize, marks: [u8; 2]| {
            let sign = usize::from(matches!(at(from + 1), b'+' | b'-'));
            if marks.contains(&at(from)) && at(from + 1 + sign).is_ascii_digit() {
                digits(from + 1 + sign, u8::is_ascii_digit)
            } else {
                from
            }
        };
        let mut kind = Kind::Int;
        let mut end;
        if at(0) == b'0' && at(1) == b'x' && (at(2).is_ascii_hexdigit() || at(2) == b'.') {
            end = digits(2, u8::is_ascii_hexdigit);
            if at(end) == b'.' && at(end + 1) != b'.' {
                kind = Kind::Real;
                end = digits(end + 1, u8::is_ascii_hexdigit);
            }
            let powered = exponent(end, *b"pP");
            if powered > end {
                kind = Kind::Real;
                end = powered;
            }
        } else if at(0) == b'0' && at(1) == b'b' && matches!(at(2), b'0' | b'1') {
            end = digits(2, u8::is_ascii_digit);
        } else {
            end = digits(0, u8::is_ascii_digit);
            if at(end) == b'.' && at(end + 1).is_ascii_digit() {
                kind = Kind::Real;
                end = digits(end + 1, u8::is_ascii_digit);
            } else if at(end) == b'.' && exponent(end + 1, *b"eE") > end + 1 {
                kind = Kind::Real;
                end += 1;
            }
            let powered = exponent(end, *b"eE");
            if powered > end {
                kind = Kind::Real;
                end = powered;
            }
        }
        let whole = self.cursor.run(end, is_continue);
        let open_point =
            kind == Kind::Int && at(whole) == b'.' && !matches!(at(whole + 1), b'.' | b'%');
        let problem = if whole > MAX_LITERAL {
            Some(format!("a number has at most {MAX_LITERAL} digits"))
        } else if whole > end {
            Some("a number is digits, perhaps with a decimal point and an exponent: `42`, `0.05`, `1e-3`, `0x1F`; a name begins with a letter".to_owned())
        } else if open_point
            && !is_start(self.cursor.rest()[whole + 1..].chars().next().unwrap_or(' '))
        {
            Some(format!(
                "digits stand behind a decimal point: `{}.0`",
                &self.cursor.rest()[..whole]
            ))
        } else {
            None
        };
        if let Some(help) = problem {
            let length = whole + usize::from(open_point);
            let shown: String = self.cursor.rest()[..length].chars().take(40).collect();
            let diagnostic = Diagnostic::new(
                Code::E0107,
                self.span(length),
                format!("`{shown}` is not a number"),
            )
            .help(help);
            self.report(diagnostic);
            return self.push(Kind::Stray, length);
        }
        self.push(kind, whole);
    }

    fn string(&mut self) {
        let bytes = self.cursor.rest().as_bytes();
        let mut at = 1;
        while at < bytes.len() && bytes[at] != b'"' && !(self.open_string && bytes[at] == b'\n') {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        if bytes.get(at) == Some(&b'"') {
            return self.push(Kind::Text, at + 1);
        }
        self.open_string = true;
        let diagnostic = Diagnostic::new(Code::E0104, self.span(1), "this string is never closed")
            .here("opened here")
            .help("end it with `\"`");
        self.report(diagnostic);
        // The rest of the line is lost with it, but not the rest of the file.
        let line = self.cursor.line();
        self.push(Kind::Stray, line);
    }

    fn stray(&mut self, first: char) {
        let known = |c: char| {
            c.is_ascii_whitespace()
                || c.is_ascii_alphanumeric()
                || is_start(c)
                || "\"(){}[],;:.@'#^|&!=<>+-*/".contains(c)
        };
        let length = self.cursor.run(first.len_utf8(), |c| !known(c));
        let shown: String = self.cursor.rest()[..length].chars().take(10).collect();
        let mut diagnostic = Diagnostic::new(
            Code::E0103,
            self.span(length),
            format!("`{shown}` means nothing here"),
        );
        let instead = match shown.as_str() {
            "&" | "∧" => Some("and"),
            "∨" => Some("or"),
            "¬" => Some("not"),
            "≤" => Some("<="),
            "≥" => Some(">="),
            "≠" => Some("<>"),
            "→" => Some("->"),
            "⇒" => Some("=>"),
            "%" => Some("mod"),
            _ => None,
        };
        if let Some(instead) = instead {
            let span = diagnostic.primary.span;
            diagnostic = diagnostic.help(format!("write `{instead}`")).fix(span, instead);
        }
        self.report(diagnostic);
        self.push(Kind::Stray, length);
    }
}

/// The value of a string literal, escapes resolved as Kind 2 does.
pub fn unescape(literal: &str) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            (c, false) => out.push(c),
        }
    }
    out
}
