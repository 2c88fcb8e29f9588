//! Diagnostics as data, with the text that they are about.
//!
//! A [`DiagnosticView`] holds no rendered text: [`crate::diagnostic_texts`] renders it when it is
//! printed.

use std::sync::Arc;

use gander_lang::{Diagnostic, SourceFile};

/// How serious a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The input cannot be checked.
    Error,
    /// The input can be checked, but it may not say what its author means.
    Warning,
    /// Additional information.
    Note,
}

impl Severity {
    /// The word in text and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

impl From<gander_lang::Severity> for Severity {
    fn from(severity: gander_lang::Severity) -> Severity {
        match severity {
            gander_lang::Severity::Warning => Severity::Warning,
            gander_lang::Severity::Error => Severity::Error,
        }
    }
}

/// A range in a source text; lines and columns count from one, columns in characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file, if it is one that the named file includes.
    pub file: Option<String>,
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column behind the last character.
    pub end_column: u32,
}

/// A message about the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiagnosticView {
    /// A stable code.
    pub code: String,
    /// How serious it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where; none if it is about the file as a whole.
    pub place: Option<Place>,
    /// Notes, and what to do about it.
    pub help: Vec<String>,
    /// The source lines to show with it; none if it is about the file as a whole.
    pub annotated: Option<Annotated>,
}

/// A diagnostic of a front-end with the text that its spans refer to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotated {
    /// The diagnostic with all its labels.
    pub diagnostic: Diagnostic,
    /// The text.
    pub source: Arc<SourceMap>,
}

impl DiagnosticView {
    /// A message about a file as a whole.
    pub fn plain(
        code: &str,
        severity: Severity,
        message: impl Into<String>,
        help: impl IntoIterator<Item = String>,
    ) -> DiagnosticView {
        DiagnosticView {
            code: code.to_string(),
            severity,
            message: message.into(),
            place: None,
            help: help.into_iter().collect(),
            annotated: None,
        }
    }
}

/// The text of a model and of the files that it includes.
///
/// All files are one text: the model's own, then the included ones in the order of their starts.
/// An offset below the length of the model's own text refers to that text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceMap {
    name: String,
    own: String,
    /// All files, with the include statements blanked; none if nothing is included.
    whole: Option<String>,
    included: Vec<IncludedFile>,
}

/// A file that a model includes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IncludedFile {
    /// Where it begins in the text of all files.
    pub start: u32,
    /// Its name, relative to the working directory like that of the model.
    pub name: String,
}

impl SourceMap {
    /// A model that includes nothing.
    pub fn new(name: &str, text: &str) -> SourceMap {
        let (name, own) = (name.to_string(), text.to_string());
        SourceMap { name, own, whole: None, included: Vec::new() }
    }

    /// A model with included files; `whole` is the text of all files.
    pub fn with_included(
        name: &str,
        text: &str,
        whole: String,
        included: Vec<IncludedFile>,
    ) -> SourceMap {
        SourceMap { whole: Some(whole), included, ..SourceMap::new(name, text) }
    }

    /// The name of the model's file as the user gave it; `-` is the standard input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The model's own text.
    pub fn own_text(&self) -> &str {
        &self.own
    }

    /// The text of all files; spans refer to it.
    pub fn text(&self) -> &str {
        self.whole.as_deref().unwrap_or(&self.own)
    }

    /// The included file that an offset is in; none if it is in the model's own text.
    pub fn included_at(&self, offset: usize) -> Option<&IncludedFile> {
        self.included.iter().rev().find(|file| file.start as usize <= offset)
    }

    /// The form that places are looked up in and diagnostics are rendered from.
    pub fn file(&self) -> SourceFile<'_> {
        let shown = if self.name == "-" { "<stdin>" } else { &self.name };
        self.included
            .iter()
            .fold(SourceFile::new(shown, self.text()), |file, p| file.with_part(p.start, &p.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_behind_the_own_text_are_in_included_files() {
        let included = vec![
            IncludedFile { start: 4, name: "a".into() },
            IncludedFile { start: 7, name: "b".into() },
        ];
        let source = SourceMap::with_included("m", "abc", "abc\nde\nf".into(), included);
        let name = |at| source.included_at(at).map(|f| f.name.as_str());
        assert_eq!([0, 3, 4, 6, 7].map(name), [None, None, Some("a"), Some("a"), Some("b")]);
        assert_eq!(source.file().place(7).0, "b");
    }
}
