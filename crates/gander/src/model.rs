//! A model as a value: parse it once, check it any number of times.

use std::fmt;
use std::sync::Arc;

use gander_engines::{Cancellation, NullObserver, Observer, Outcome};
use gander_lang::lustre::Program;
use gander_lang::{Colour, Diagnostic, Loaded, RenderStyle, SourceFile, language_of, render};
use gander_report::describe::diagnostic_view;
use gander_report::{CheckView, DiagnosticView, Paint, check_text, file_json};
use gander_system::{Claim, Evidence, Run, System, Verdict};

use crate::check::{CheckOptions, Checked, decide, program_of};

/// A modelling language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    /// gander's own language (docs/language.md).
    Sts,
    /// Lustre, as JKind and Kind 2 read it (docs/lustre.md).
    Lustre,
    /// Scripts of guarded rules (docs/script.md).
    Script,
    /// SMV, as NuSMV reads it (docs/formats.md, and for those below).
    Smv,
    /// VMT-LIB.
    Vmt,
    /// Constrained Horn clauses in SMT-LIB.
    Horn,
    /// BTOR2.
    Btor2,
    /// MCMT, the language of Sally.
    Mcmt,
}

impl Language {
    /// The usual extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Sts => "sts",
            Language::Lustre => "lus",
            Language::Script => "script",
            Language::Smv => "smv",
            Language::Vmt => "vmt",
            Language::Horn => "smt2",
            Language::Btor2 => "btor2",
            Language::Mcmt => "mcmt",
        }
    }
}

/// A model that was parsed. It owns its source text and that of the files it includes.
#[derive(Debug)]
pub struct Model {
    pub(crate) file_name: String,
    /// The text as it was given.
    pub(crate) source: String,
    /// The files of a Lustre program that includes others, as one text.
    program: Option<Program>,
    /// What the front-end says; its systems are in `systems`.
    pub(crate) loaded: Loaded,
    pub(crate) systems: Vec<Arc<System>>,
}

/// Why a text is not a model.
#[derive(Debug)]
pub struct ParseError {
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<DiagnosticView>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics.iter().try_for_each(|d| f.write_str(&d.rendered))
    }
}

impl std::error::Error for ParseError {}

impl Model {
    /// Parses a text. Warnings do not prevent that; [`Model::diagnostics`] has them.
    pub fn parse(text: &str, language: Language) -> Result<Model, ParseError> {
        Model::parse_named(text, &format!("model.{}", language.extension()))
    }

    /// Parses the text of a file. The extension of its name says the language, `.sts` if it says none; files that it
    /// includes are read from beside it.
    pub fn parse_named(text: &str, file_name: &str) -> Result<Model, ParseError> {
        let model = Model::load(text, file_name);
        if model.systems.is_empty() {
            return Err(ParseError { diagnostics: model.diagnostics(Paint::Plain) });
        }
        Ok(model)
    }

    /// [`Model::parse_named`]; a model with errors has no system.
    pub(crate) fn load(text: &str, file_name: &str) -> Model {
        let (program, mut loaded) = read(text, file_name);
        // The others are there only if the first is.
        let systems = loaded.system.take().into_iter().chain(std::mem::take(&mut loaded.others));
        let systems = systems.map(|s| Arc::new(s.and_structural_claims())).collect();
        Model { file_name: file_name.to_string(), source: text.to_string(), program, loaded, systems }
    }

    /// Errors and warnings of the front-end, in the order of the text.
    pub fn diagnostics(&self, paint: Paint) -> Vec<DiagnosticView> {
        self.show(&self.loaded.diagnostics, paint)
    }

    /// Diagnostics with the lines that they are about.
    pub(crate) fn show(&self, diagnostics: &[Diagnostic], paint: Paint) -> Vec<DiagnosticView> {
        shown(diagnostics, &self.source, self.program.as_ref(), &self.file_name, paint)
    }

    /// The systems of the model, with their structural claims: one, or one for each root node of a Lustre file.
    pub fn systems(&self) -> &[Arc<System>] {
        &self.systems
    }

    /// Decides the claims. Blocks until all are decided, every engine has given up, or the time is over.
    pub fn check(&self, options: &CheckOptions) -> Report {
        self.check_with(options, &Cancellation::new(), &NullObserver)
    }

    /// [`Model::check`] that can be cancelled, and that tells an observer what happens.
    pub fn check_with(&self, options: &CheckOptions, cancellation: &Cancellation, observer: &dyn Observer) -> Report {
        Report { checked: decide(self, options, cancellation, observer, &|_, _| {}) }
    }
}

/// What a front-end makes of a text, and the files of a Lustre program that includes others.
pub(crate) fn read(text: &str, file_name: &str) -> (Option<Program>, Loaded) {
    let program = program_of(text, file_name);
    let whole = program.as_ref().map_or(text, |p| p.text.as_str());
    let mut loaded = match language_of(file_name) {
        Some(language) => (language.load)(whole, file_name),
        None => gander_lang::sts::load(whole, file_name),
    };
    if let Some(problems) = program.as_ref().map(|p| &p.diagnostics).filter(|d| !d.is_empty()) {
        // Other errors may be consequences of a missing file.
        loaded = Loaded {
            system: None,
            others: Vec::new(),
            diagnostics: problems.clone(),
            allowances: Vec::new(),
            modules: None,
        };
    }
    (program, loaded)
}

/// Diagnostics with the lines of the text that they are about.
pub(crate) fn shown(
    diagnostics: &[Diagnostic],
    text: &str,
    program: Option<&Program>,
    file_name: &str,
    paint: Paint,
) -> Vec<DiagnosticView> {
    if diagnostics.is_empty() {
        return Vec::new();
    }
    let text = program.map_or(text, |p| p.text.as_str());
    let shown_name = if file_name == "-" { "<stdin>" } else { file_name };
    let colour = if paint == Paint::Colour { Colour::Always } else { Colour::Never };
    let style = RenderStyle { colour, ..RenderStyle::default() };
    let mut file = SourceFile::new(shown_name, text);
    for part in program.iter().flat_map(|p| &p.parts) {
        file = file.with_part(part.start, &part.name);
    }
    diagnostics.iter().map(|d| diagnostic_view(d, &file, render(d, &file, style))).collect()
}

/// The verdicts of a check.
#[derive(Debug)]
pub struct Report {
    checked: Checked,
}

impl Report {
    /// The claims that were decided, or not, in the order of the model. Claims of a Lustre file that hold by the contracts of
    /// its nodes ([`crate::Analysis::Modular`]) are in [`Report::view`] only.
    pub fn claims(&self) -> impl Iterator<Item = ClaimReport<'_>> {
        self.checked
            .systems()
            .flat_map(|(system, report)| report.outcomes.iter().map(move |outcome| ClaimReport { system, outcome }))
    }

    /// The claim with this name.
    pub fn claim(&self, name: &str) -> Option<ClaimReport<'_>> {
        self.claims().find(|c| c.name() == name)
    }

    /// What the command shows.
    pub fn view(&self) -> &CheckView {
        &self.checked.view
    }

    /// As the command prints it with `--json` (docs/check.schema.json).
    pub fn to_json(&self) -> serde_json::Value {
        file_json(&self.checked.view)
    }

    /// As the command prints it.
    pub fn to_text(&self) -> String {
        check_text(&self.checked.view, Default::default())
    }
}

/// A claim with its verdict.
#[derive(Clone, Copy, Debug)]
pub struct ClaimReport<'r> {
    system: &'r Arc<System>,
    outcome: &'r Outcome,
}

impl<'r> ClaimReport<'r> {
    /// The system that it is about.
    pub fn system(&self) -> &'r Arc<System> {
        self.system
    }

    /// The claim itself.
    pub fn claim(&self) -> &'r Claim {
        &self.system.claims[self.outcome.claim.index()]
    }

    /// Its name.
    pub fn name(&self) -> &'r str {
        &self.claim().name
    }

    /// The verdict, with its evidence.
    pub fn verdict(&self) -> &'r Verdict {
        &self.outcome.verdict
    }

    /// The evidence; none if it is unknown.
    pub fn evidence(&self) -> Option<&'r Evidence> {
        match &self.outcome.verdict {
            Verdict::Holds(evidence) | Verdict::Fails(evidence) => Some(evidence),
            Verdict::Unknown { .. } => None,
        }
    }

    /// The run that shows it, if one does: a counterexample, or a witness of what is reachable.
    pub fn run(&self) -> Option<&'r Run> {
        match self.evidence()? {
            Evidence::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Everything else: which engine, when, and what the verdict rests on.
    pub fn outcome(&self) -> &'r Outcome {
        self.outcome
    }
}
