//! Open documents.

use std::fmt;
use std::sync::{Arc, OnceLock};

use gander_lang::ide::Outline;
use gander_lang::{Language, language_of};

use crate::position::Positions;

/// The name of a document: whatever the protocol uses, usually a URI.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Uri(Arc<str>);

impl Uri {
    /// A name.
    pub fn new(text: &str) -> Uri {
        Uri(text.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Identifies a text: no two texts that a service was given have the same one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Revision(pub(crate) u64);

/// A document as it was at one time.
#[derive(Debug)]
pub struct Document {
    /// Its name.
    pub uri: Uri,
    /// The name of its file, for its language, its includes and the proof cache.
    pub file_name: String,
    /// The version, as the client counts.
    pub version: i64,
    /// Identifies the text.
    pub revision: Revision,
    /// The text.
    pub text: Arc<str>,
    positions: OnceLock<Positions>,
    pub(crate) outline: OnceLock<Outline>,
}

impl Document {
    pub(crate) fn new(
        uri: Uri,
        file_name: String,
        version: i64,
        revision: Revision,
        text: Arc<str>,
    ) -> Document {
        let (positions, outline) = (OnceLock::new(), OnceLock::new());
        Document { uri, file_name, version, revision, text, positions, outline }
    }

    /// The language, by the name of the file; `.sts` if that has no known extension.
    pub fn language(&self) -> &'static Language {
        language_of(&self.file_name).unwrap_or(&gander_lang::LANGUAGES[0])
    }

    /// Lines and columns of the text.
    pub fn positions(&self) -> &Positions {
        self.positions.get_or_init(|| Positions::new(&self.text))
    }
}

/// Why the service does not do something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No document of this name is open.
    NotOpen,
    /// The version is not newer than that of the document.
    OldVersion {
        /// The version of the document.
        current: i64,
    },
    /// The text, or all texts together, would be larger than this.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The limit on their number is reached.
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The service was stopped.
    Stopped,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotOpen => f.write_str("this document is not open"),
            Refusal::OldVersion { current } => {
                write!(f, "the document already has version {current}")
            }
            Refusal::TooLarge { limit } => {
                write!(f, "the text is too large: at most {limit} bytes are allowed")
            }
            Refusal::TooMany { what, limit } => write!(f, "there are already {limit} {what}"),
            Refusal::Stopped => f.write_str("the service was stopped"),
        }
    }
}

impl std::error::Error for Refusal {}
