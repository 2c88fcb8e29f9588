//! Front-ends of the gander model checker: source text in, system and diagnostics out.
//!
//! One module a language ([`sts`], [`lustre`], [`script`], and those of other tools: [`vmt`], [`chc`], [`btor2`], [`mcmt`], [`smv`]); spans, diagnostics and their rendering are
//! shared. Invariants of this crate:
//! - a front-end never panics and never fails silently: without a system there is an error;
//! - it accumulates errors, and an error has no follow-ups;
//! - every diagnostic has a code of the [`codes::CATALOGUE`].

pub mod btor2;
pub mod chc;
pub mod codes;
mod diagnostic;
mod language;
pub mod lustre;
mod machine;
pub mod mcmt;
mod render;
mod report;
pub mod script;
mod smtlib;
pub mod smv;
mod span;
pub mod sts;
mod suggest;
pub mod vmt;

pub use codes::Code;
pub use diagnostic::{Diagnostic, Fix, Label, Severity};
pub use language::{Allowance, Formatter, LANGUAGES, Language, Loaded, language_of};
pub use render::{Colour, RenderStyle, SourceFile, render, render_all};
pub use span::{LineIndex, Position, Span};
pub use suggest::nearest;
