//! What a front-end tells the author: a code, a place, what is wrong, what to write.
//!
//! Invariant: a front-end never fails silently. If it returns no system, at least one
//! of its diagnostics is an [`Severity::Error`].

use crate::Span;
use crate::codes::Code;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The model can be used, but probably does not say what was meant.
    Warning,
    /// The model cannot be used.
    Error,
}

impl Severity {
    /// The word people read.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place in the source and what to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to say about it; may be empty.
    pub text: String,
}

/// An edit that mends the source.
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
    /// The sentence at the top: what is wrong.
    pub message: String,
    /// The place that is wrong.
    pub primary: Label,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// Background, one sentence each.
    pub notes: Vec<String>,
    /// What to write instead, one sentence each.
    pub helps: Vec<String>,
    /// The edit behind the help, where it can be made without thinking.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A diagnostic at a place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            fix: None,
        }
    }

    /// How much it matters; a property of its code.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Says something right at the primary place.
    pub fn here(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Points at another place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds background.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Says what to write instead.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.helps.push(text.into());
        self
    }

    /// Gives the edit that mends it.
    pub fn fix(mut self, span: Span, replacement: impl Into<String>) -> Diagnostic {
        self.fix = Some(Fix { span, replacement: replacement.into() });
        self
    }

    /// "Did you mean" with the edit, if there is a near name.
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
