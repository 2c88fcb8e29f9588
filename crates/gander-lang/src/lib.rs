//! Front-ends of the gander model checker: source text in, system and diagnostics out.
//!
//! One module per language: [`sts`], [`lustre`], [`script`], and languages of other tools: [`vmt`],
//! [`horn`], [`btor2`], [`mcmt`], [`smv`]. [`LANGUAGES`] lists them; [`language_of`] finds one by
//! file name. Spans, diagnostics and their rendering are shared.
//!
//! ```
//! use gander_lang::{RenderStyle, SourceFile, language_of, render};
//!
//! let language = language_of("counter.lus").unwrap();
//! let text = "node main() returns (n: int);
//! let
//!   n = 0 -> pre n + 1;
//!   --%PROPERTY n >= 0;
//! tel;
//! ";
//! let loaded = (language.load)(text, "counter.lus");
//! assert_eq!(loaded.errors().count(), 0);
//! assert_eq!(loaded.system.unwrap().claims().len(), 1);
//!
//! // Without a system there is at least one error.
//! let wrong = "node main() returns (n: int);\nlet n = m; tel\n";
//! let loaded = (language.load)(wrong, "wrong.lus");
//! assert!(loaded.system.is_none());
//! let error = loaded.errors().next().unwrap();
//! let source = SourceFile::new("wrong.lus", wrong);
//! assert!(render(error, &source, RenderStyle::default()).contains("wrong.lus:2:9"));
//! ```
//!
//! Invariants of this crate:
//! - a front-end never panics and never fails silently: without a system there is an error;
//! - it accumulates errors, and one mistake does not cause follow-up errors;
//! - every diagnostic has a code of the [`codes::CATALOGUE`].

pub mod btor2;
mod diagnostics;
pub mod horn;
pub mod ide;
mod language;
pub mod lustre;
mod machine;
pub mod mcmt;
pub mod script;
mod smtlib;
pub mod smv;
pub mod sts;
pub mod vmt;

pub use diagnostics::codes::{self, Code};
pub use diagnostics::diagnostic::{Diagnostic, Fix, Label, Severity};
pub use diagnostics::render::{Colour, RenderStyle, SourceFile, render, render_all};
pub use diagnostics::span::{LineIndex, Position, Span};
pub use diagnostics::suggest::nearest;
pub use language::{Allowance, Formatter, LANGUAGES, Language, Loaded, language_for, language_of};
