//! Diagnostics of a front-end: a code, a place, a message, and suggestions.
//!
//! Invariant: a front-end never fails silently. If it returns no system, at least one
//! of its diagnostics is an [`Severity::Error`].

use crate::Span;
use crate::diagnostics::codes::Code;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The model can be used, but probably does not mean what the author intended.
    Warning,
    /// The model cannot be used.
    Error,
}

impl Severity {
    /// The word shown in messages.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place in the source with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark; may be empty.
    pub text: String,
}

/// An edit that fixes the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What to replace; empty to insert.
    pub span: Span,
    /// The new text.
    pub replacement: String,
}

/// One message of a front-end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its entry in the catalogue.
    pub code: Code,
    /// The main message: what is wrong.
    pub message: String,
    /// The place that is wrong.
    pub primary: Label,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// Background, one sentence each.
    pub notes: Vec<String>,
    /// What to write instead, one sentence each.
    pub helps: Vec<String>,
    /// The edit for the help, if it can be applied mechanically.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A diagnostic at a place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            message: with_articles(message.into()),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            fix: None,
        }
    }

    /// The severity, determined by the code.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Adds a remark at the primary place.
    pub fn here(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = with_articles(text.into());
        self
    }

    /// Points at another place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: with_articles(text.into()) });
        self
    }

    /// Adds background information.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(with_articles(text.into()));
        self
    }

    /// Adds advice on what to write instead.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.helps.push(with_articles(text.into()));
        self
    }

    /// Sets the edit that fixes the problem.
    pub fn fix(mut self, span: Span, replacement: impl Into<String>) -> Diagnostic {
        self.fix = Some(Fix { span, replacement: replacement.into() });
        self
    }

    /// Adds "did you mean" with an edit, if there is a near name.
    pub fn did_you_mean(self, nearest: Option<&str>) -> Diagnostic {
        match nearest {
            Some(name) => {
                let span = self.primary.span;
                self.help(format!("did you mean `{name}`?")).fix(span, name)
            }
            None => self,
        }
    }
}

/// The text with `an` before a quoted word that begins with a vowel: "an `int`". Messages are made
/// of parts, and the part with the article does not know the word.
fn with_articles(text: String) -> String {
    let is_vowel = |c: char| matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o');
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("a `") {
        let begins = !rest[..at].ends_with(char::is_alphanumeric);
        let behind = rest[at + 3..].chars().next();
        out.push_str(&rest[..at + 1]);
        if begins && behind.is_some_and(is_vowel) && !in_quotes(&text, text.len() - rest.len() + at)
        {
            out.push('n');
        }
        out.push_str(" `");
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    out
}

/// True if the place is inside of backquotes.
fn in_quotes(text: &str, at: usize) -> bool {
    text[..at].matches('`').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::with_articles;

    #[test]
    fn articles_fit_the_quoted_word() {
        let fitted = |text: &str| with_articles(text.to_string());
        assert_eq!(fitted("`+` between a `int` and a `real`"), "`+` between an `int` and a `real`");
        assert_eq!(fitted("a `enum` is not a `uint8`"), "an `enum` is not a `uint8`");
        assert_eq!(fitted("write `a` or `b`; area `i`"), "write `a` or `b`; area `i`");
        assert_eq!(fitted("is a bool, not a `int`"), "is a bool, not an `int`");
    }
}
