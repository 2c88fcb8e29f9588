//! Load: source text to [`Model`].
//!
//! A model owns its [`SourceMap`]: the text and the included files are read once, and every later
//! stage refers to them by spans.

mod include;
mod input;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_lang::lustre::{Conditionals, Program, with_included};
use gander_lang::{Code, Diagnostic, Span, language_for, language_of};
use gander_report::{IncludedFile, SourceMap};
use gander_runtime::{Cancellation, Stopped};
use gander_system::System;
use gander_term::IBig;

use crate::model::Model;
use include::{IncludeFolders, identity_of};

pub use input::{InputError, read_input};

/// How a text is loaded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoadOptions {
    /// Folders that included files may be in, besides the folder of the model.
    pub include_folders: Vec<PathBuf>,
    /// Whether systems get structural claims.
    pub structural_claims: StructuralClaims,
    /// Lustre: the only root node.
    pub main: Option<String>,
    /// Lustre: how conditional expressions become terms.
    pub conditionals: Conditionals,
    /// `.sts`: values of constants that are declared without one.
    pub constants: Vec<(String, i64)>,
    /// Texts in place of those of included files, by canonical path: what an editor has not saved.
    pub unsaved: Arc<BTreeMap<PathBuf, Arc<str>>>,
}

/// Whether systems get the claims of docs/semantics.md, section 3.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StructuralClaims {
    /// They do.
    #[default]
    Added,
    /// They have only the claims of the author.
    LeftOut,
}

/// Why a text was not loaded within the limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadStopped {
    /// The memory limit of the process was reached.
    MemoryLimit,
    /// This time limit was reached.
    TimeLimit(Duration),
    /// The load was cancelled.
    Cancelled,
}

/// Texts with more bytes, and all under a time limit, are parsed on a separate thread, so that
/// cancellation does not wait for deallocation.
const LARGE: usize = 1 << 18;

/// Loads a text. The extension of the file name says the language, for the standard input the text
/// itself; `.sts` if they say none. A model with errors has no system.
pub fn load(text: &str, file_name: &str, options: &LoadOptions) -> Model {
    if options.main.is_some() && language_for(file_name, text).is_none_or(|l| l.name != "lustre") {
        let message = "only Lustre models have root nodes to choose from";
        let diagnostic = Diagnostic::new(Code::E1304, Span::at(0), message);
        let help = "leave out `--main`, or the option `main` of the library";
        let source = Arc::new(SourceMap::new(file_name, text));
        return rejected(source, vec![diagnostic.help(help)]);
    }
    if !options.constants.is_empty()
        && language_for(file_name, text).is_some_and(|l| l.name != "sts")
    {
        let message = "only `.sts` models have constants without a value";
        let diagnostic = Diagnostic::new(Code::E0307, Span::at(0), message);
        let help = "leave out `--const`, or the option `constants` of the library";
        let source = Arc::new(SourceMap::new(file_name, text));
        return rejected(source, vec![diagnostic.help(help)]);
    }
    let program = program_of(text, file_name, options);
    let whole = program.as_ref().map_or(text, |p| p.text.as_str());
    let loaded = match language_for(file_name, text) {
        Some(language) if language.name == "lustre" => {
            let options = gander_lang::lustre::LoadOptions {
                conditionals: options.conditionals,
                main: options.main.clone(),
            };
            gander_lang::lustre::load_with(whole, &options)
        }
        Some(language) if language.name != "sts" => (language.load)(whole, file_name),
        _ => {
            let given = options.constants.iter().map(|(name, n)| (name.clone(), IBig::from(*n)));
            let given: Vec<(String, IBig)> = given.collect();
            gander_lang::sts::load_with(whole, file_name, &given)
        }
    };
    let (source, unread) = match program {
        None => (SourceMap::new(file_name, text), Vec::new()),
        Some(Program { text: whole, parts, diagnostics }) => {
            let included = parts.into_iter().map(|p| IncludedFile { start: p.start, name: p.name });
            let included = included.collect();
            (SourceMap::with_included(file_name, text, whole, included), diagnostics)
        }
    };
    let source = Arc::new(source);
    if !unread.is_empty() {
        // Other errors may be consequences of a missing file.
        return rejected(source, unread);
    }
    // The others are there only if the first is.
    let claimed = |system: System| match options.structural_claims {
        StructuralClaims::Added => system.and_structural_claims(),
        StructuralClaims::LeftOut => system,
    };
    let systems = loaded.system.into_iter().chain(loaded.others);
    Model {
        source,
        diagnostics: loaded.diagnostics,
        allowances: loaded.allowances,
        modules: loaded.modules,
        load: options.clone(),
        systems: systems.map(|s| Arc::new(claimed(s))).collect(),
    }
}

fn rejected(source: Arc<SourceMap>, diagnostics: Vec<Diagnostic>) -> Model {
    Model {
        source,
        diagnostics,
        allowances: Vec::new(),
        modules: None,
        load: LoadOptions::default(),
        systems: Vec::new(),
    }
}

/// [`load`] with a time limit, and within the memory limit of the process.
pub fn load_within(
    text: &str,
    file_name: &str,
    options: &LoadOptions,
    timeout: Option<Duration>,
    cancel: &Cancellation,
) -> Result<Model, LoadStopped> {
    let limited = cancel.with_deadline(timeout.and_then(|t| Instant::now().checked_add(t)));
    let loaded = if text.len() < LARGE && timeout.is_none() {
        limited.run_cancellable(|| load(text, file_name, options))
    } else {
        let (text, file_name, options) = (text.to_string(), file_name.to_string(), options.clone());
        limited.run_cancellable_on_thread(move || load(&text, &file_name, &options))
    };
    loaded.map_err(|stopped| match (stopped, timeout) {
        (Stopped::OutOfMemory, _) => LoadStopped::MemoryLimit,
        (Stopped::Cancelled, Some(limit)) if !cancel.is_cancelled() => {
            LoadStopped::TimeLimit(limit)
        }
        (Stopped::Cancelled, _) => LoadStopped::Cancelled,
    })
}

/// True if a text may include files: its language has `include`, and the word occurs.
pub fn may_include(text: &str, file_name: &str) -> bool {
    language_of(file_name).is_some_and(|l| l.name == "lustre") && text.contains("include")
}

/// True if the files that a model includes are not what they were when it was loaded with these
/// options.
pub fn includes_changed(model: &Model, options: &LoadOptions) -> bool {
    match program_of(model.source.own_text(), model.source.name(), options) {
        None => false,
        Some(now) => {
            let is_unread = !now.diagnostics.is_empty();
            now.text != model.source.text() || is_unread && now.diagnostics != model.diagnostics
        }
    }
}

/// The files of a Lustre program that includes others.
fn program_of(text: &str, file_name: &str, options: &LoadOptions) -> Option<Program> {
    language_of(file_name).filter(|l| l.name == "lustre")?;
    let folders = IncludeFolders::of(file_name, options);
    with_included(text, file_name, &identity_of(file_name), &mut |by, path| folders.read(by, path))
}
