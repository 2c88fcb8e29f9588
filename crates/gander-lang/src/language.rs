//! The languages that can be read, by file name extension.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lustre::Modules;
use crate::span::Span;
use gander_system::System;

/// What a front-end makes of a text.
#[derive(Debug)]
pub struct Loaded {
    /// The system, unless there are errors.
    pub system: Option<System>,
    /// Further systems that are checked on their own: the other root nodes of a Lustre file.
    pub others: Vec<System>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Warnings that the author lets be; those of the front-end itself are left out already.
    pub allowances: Vec<Allowance>,
    /// The nodes behind the systems, for an analysis node by node; none if the language has no such nodes.
    pub modules: Option<Modules>,
}

impl Loaded {
    /// The errors among the diagnostics.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error)
    }
}

/// A kind of warning that the author lets be in a part of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowance {
    /// The kind.
    pub code: Code,
    /// Where.
    pub region: Span,
}

impl Allowance {
    /// Whether the diagnostic is let be.
    pub fn covers(&self, diagnostic: &Diagnostic) -> bool {
        let at = diagnostic.primary.span.start;
        self.code == diagnostic.code && self.region.start <= at && at <= self.region.end
    }
}

/// A text as it should be laid out, or why it cannot be read.
pub type Formatter = fn(&str) -> Result<String, Vec<Diagnostic>>;

/// A language.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// Its name.
    pub name: &'static str,
    /// The extensions of its files, without the dot.
    pub extensions: &'static [&'static str],
    /// Reads a text; the second argument is the file's name.
    pub load: fn(&str, &str) -> Loaded,
    /// Formats a text; the errors of a text that cannot be parsed. Not every language has a formatter.
    pub format: Option<Formatter>,
}

/// Every language.
pub const LANGUAGES: &[Language] = &[
    Language { name: "sts", extensions: &["sts"], load: crate::sts::load, format: Some(crate::sts::format) },
    Language { name: "lustre", extensions: &["lus", "ec"], load: crate::lustre::load, format: None },
    Language {
        name: "script",
        extensions: &["script", "umc"],
        load: crate::script::load,
        format: Some(crate::script::format),
    },
    Language { name: "vmt", extensions: &["vmt"], load: crate::vmt::load, format: None },
    Language { name: "horn", extensions: &["smt2", "horn", "chc"], load: crate::chc::load, format: None },
    Language { name: "btor2", extensions: &["btor2", "btor"], load: crate::btor2::load, format: None },
    Language { name: "mcmt", extensions: &["mcmt"], load: crate::mcmt::load, format: None },
    Language { name: "smv", extensions: &["smv"], load: crate::smv::load, format: None },
];

/// The language of a file, by the extension of its name.
pub fn language_of(file_name: &str) -> Option<&'static Language> {
    let (_, extension) = file_name.rsplit_once('.')?;
    LANGUAGES.iter().find(|language| language.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension)))
}
