//! The registry of languages, by file name extension.

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use crate::diagnostics::span::Span;
use crate::lustre::Modules;
use gander_system::System;

/// The result of a front-end.
#[derive(Debug)]
pub struct Loaded {
    /// The system, unless there are errors.
    pub system: Option<System>,
    /// Further systems, checked separately: the other root nodes of a Lustre file.
    pub others: Vec<System>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Warnings that the author allows. Those of the front-end itself are already removed.
    pub allowances: Vec<Allowance>,
    /// The nodes of the systems, for modular analysis; `None` if the language has no nodes with
    /// contracts.
    pub modules: Option<Modules>,
}

impl Loaded {
    /// The errors among the diagnostics.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error)
    }
}

/// A kind of warning that the author allows in a part of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowance {
    /// The kind.
    pub code: Code,
    /// The part of the text.
    pub region: Span,
}

impl Allowance {
    /// True if the diagnostic is allowed.
    pub fn covers(&self, diagnostic: &Diagnostic) -> bool {
        let at = diagnostic.primary.span.start;
        self.code == diagnostic.code && self.region.start <= at && at <= self.region.end
    }
}

/// Formats a text; returns the errors of a text that cannot be parsed.
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
    /// Formats a text; `None` if the language has no formatter.
    pub format: Option<Formatter>,
}

/// Every language.
pub const LANGUAGES: &[Language] = &[
    Language {
        name: "sts",
        extensions: &["sts"],
        load: crate::sts::load,
        format: Some(crate::sts::format),
    },
    Language {
        name: "lustre",
        extensions: &["lus", "ec"],
        load: crate::lustre::load,
        format: None,
    },
    Language {
        name: "script",
        extensions: &["script", "umc"],
        load: crate::script::load,
        format: Some(crate::script::format),
    },
    Language { name: "vmt", extensions: &["vmt"], load: crate::vmt::load, format: None },
    Language {
        name: "horn",
        extensions: &["smt2", "horn", "chc"],
        load: crate::horn::load,
        format: None,
    },
    Language {
        name: "btor2",
        extensions: &["btor2", "btor"],
        load: crate::btor2::load,
        format: None,
    },
    Language { name: "mcmt", extensions: &["mcmt"], load: crate::mcmt::load, format: None },
    Language { name: "smv", extensions: &["smv"], load: crate::smv::load, format: None },
];

/// The language of a file, by the extension of its name.
pub fn language_of(file_name: &str) -> Option<&'static Language> {
    let (_, extension) = file_name.rsplit_once('.')?;
    LANGUAGES.iter().find(|language| {
        language.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension))
    })
}

/// The language of a text: by the extension of the file name, and for the standard input, `-`, by
/// the text.
pub fn language_for(file_name: &str, text: &str) -> Option<&'static Language> {
    match file_name {
        "-" => language_of_text(text),
        _ => language_of(file_name),
    }
}

/// Lines of a text that are looked at to guess its language.
const LOOKED_AT: usize = 2000;

/// A guess from the first line that only one language has; `None` for none.
fn language_of_text(text: &str) -> Option<&'static Language> {
    let named = |name: &str| LANGUAGES.iter().find(|l| l.name == name);
    let script = ["VARS:", "INIT:", "TRANS:", "PROCESS", "MAXSTEPS"];
    for line in text.lines().take(LOOKED_AT).map(str::trim) {
        let mut words = line.split_whitespace();
        let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let header = second.contains('(') || words.next().is_some_and(|w| w.starts_with('('));
        let guess = match first {
            "spec" | "system" => "sts",
            "node" | "function" if header || second == "imported" => "lustre",
            "MODULE" => "smv",
            "(set-logic" if second.starts_with("HORN") => "horn",
            "(declare-rel" | "(rule" => "horn",
            "(define-state-type" | "(define-transition-system" => "mcmt",
            _ if first.starts_with('(') && line.contains(":next ") => "vmt",
            _ if script.iter().any(|w| first.starts_with(w)) => "script",
            _ if first.bytes().all(|b| b.is_ascii_digit()) && second == "sort" => "btor2",
            _ => continue,
        };
        return named(guess);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_the_standard_input_is_guessed_from_the_text() {
        for (text, name) in [
            ("-- a node\nnode N(x: int) returns (y: int);\nlet y = x; tel", "lustre"),
            ("node imported M(x: int) returns (y: int);", "lustre"),
            ("// c\nspec A\nvar x: int\nnode N {\n}", "sts"),
            ("MODULE main\nVAR x: boolean;", "smv"),
            ("(set-logic HORN)\n", "horn"),
            ("(declare-datatypes () ((N a b)))\n(declare-rel R (N))", "horn"),
            ("(define-fun s0 () Int (! x :next xn))", "vmt"),
            ("(define-state-type S ((x Int)))", "mcmt"),
            ("VARS:\n int x;\nINIT:\n x = 0;", "script"),
            ("1 sort bitvec 1\n", "btor2"),
        ] {
            assert_eq!(language_for("-", text).map(|l| l.name), Some(name), "{text}");
        }
        assert!(language_for("-", "var x: int").is_none());
        assert_eq!(language_for("m.sts", "MODULE main").map(|l| l.name), Some("sts"));
    }
}
