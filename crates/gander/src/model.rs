//! A model as a value: parse it once, check it any number of times.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use gander_engines::{Cancellation, NullObserver, Observer, Outcome};
use gander_lang::lustre::Modules;
use gander_lang::{Allowance, Diagnostic};
use gander_report::describe::{LabelUnit, graph_views};
use gander_report::{
    CheckView, DiagnosticView, GraphView, Paint, SourceMap, check_text, diagnostic_texts,
    diagnostic_views, file_json,
};
use gander_system::{Claim, Evidence, Run, System, Verdict};

use crate::check::{Checked, check_model};
use crate::decide::CheckContext;
use crate::explain::{ExplainOptions, Explained, FoundCore, explain_model};
use crate::load::{LoadOptions, load};
use crate::options::CheckOptions;
use crate::settled::VerdictObserver;

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

/// A model that was loaded. It owns its source text and that of the files it includes.
#[derive(Debug)]
pub struct Model {
    pub(crate) source: Arc<SourceMap>,
    /// Errors and warnings of the front-end, in the order of the text.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Warnings that the author allows in parts of the text.
    pub(crate) allowances: Vec<Allowance>,
    /// The nodes behind the systems, for modular analysis; none if the language has no nodes.
    pub(crate) modules: Option<Modules>,
    /// How it was loaded.
    pub(crate) load: LoadOptions,
    /// Empty if there are errors.
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
        diagnostic_texts(&self.diagnostics, Paint::Plain).iter().try_for_each(|d| f.write_str(d))
    }
}

impl std::error::Error for ParseError {}

impl Model {
    /// Parses a text. Warnings do not prevent that; [`Model::diagnostics`] has them.
    pub fn parse(text: &str, language: Language) -> Result<Model, ParseError> {
        Model::parse_named(text, &format!("model.{}", language.extension()))
    }

    /// Parses the text of a file. The extension of its name says the language, `.sts` if it says
    /// none; files that it includes are read from its folder.
    pub fn parse_named(text: &str, file_name: &str) -> Result<Model, ParseError> {
        let model = load(text, file_name, &LoadOptions::default());
        if model.systems.is_empty() {
            return Err(ParseError { diagnostics: model.diagnostics() });
        }
        Ok(model)
    }

    /// Errors and warnings of the front-end, in the order of the text.
    pub fn diagnostics(&self) -> Vec<DiagnosticView> {
        diagnostic_views(&self.diagnostics, &self.source)
    }

    /// The text of the model and of the files that it includes.
    pub fn source(&self) -> &Arc<SourceMap> {
        &self.source
    }

    /// The systems of the model: none if there are errors, several for the root nodes of a Lustre
    /// file. They have structural claims, unless [`LoadOptions`] leaves these out.
    pub fn systems(&self) -> &[Arc<System>] {
        &self.systems
    }

    /// By system: its control graphs, one for each instance of a composition. Labels are the text
    /// of `.sts` models and scripts, and formulas in other languages.
    pub fn graphs(&self) -> Vec<Vec<GraphView>> {
        let (text, unit) = match gander_lang::language_of(self.source.name()).map(|l| l.name) {
            None | Some("sts") => (self.source.text(), LabelUnit::Element),
            Some("script") => (self.source.text(), LabelUnit::Rule),
            Some(_) => ("", LabelUnit::Element),
        };
        self.systems.iter().map(|system| graph_views(system, text, unit)).collect()
    }

    /// The nodes behind the systems; none if the language has no nodes.
    pub fn modules(&self) -> Option<&Modules> {
        self.modules.as_ref()
    }

    /// Decides the claims. Blocks until all are decided, every engine has given up, or the time is
    /// over.
    pub fn check(&self, options: &CheckOptions) -> Report {
        self.check_with(options, &Cancellation::new(), &NullObserver)
    }

    /// [`Model::check`] that can be cancelled, and that reports progress to an observer.
    pub fn check_with(
        &self,
        options: &CheckOptions,
        cancel: &Cancellation,
        observer: &dyn Observer,
    ) -> Report {
        let started = Instant::now();
        let context =
            CheckContext { cancel, observer, announce: &|_, _| {}, verdicts: None, started };
        Report { checked: check_model(self, options, &context) }
    }

    /// [`Model::check_with`] that gives verdicts to `verdicts` as they are settled.
    pub fn check_settling(
        &self,
        options: &CheckOptions,
        cancel: &Cancellation,
        observer: &dyn Observer,
        verdicts: &dyn VerdictObserver,
    ) -> Checked {
        let started = Instant::now();
        let verdicts = Some(verdicts);
        let context = CheckContext { cancel, observer, announce: &|_, _| {}, verdicts, started };
        check_model(self, options, &context)
    }

    /// The diagnostics of the front-end as it gave them. Their spans refer to the text of
    /// [`Model::source`].
    pub fn front_end_diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Proves the properties and explains why they hold. `found` is called with each core.
    pub fn explain_with(
        &self,
        options: &ExplainOptions,
        cancel: &Cancellation,
        observer: &dyn Observer,
        found: FoundCore<'_>,
    ) -> Explained {
        explain_model(self, options, cancel, observer, found, Instant::now())
    }
}

/// The verdicts of a check.
#[derive(Debug)]
pub struct Report {
    checked: Checked,
}

impl Report {
    /// The claims in the order of the model, with those that are unknown. Claims of a Lustre file
    /// that hold by the contracts of its nodes ([`crate::Analysis::Modular`]) are in
    /// [`Report::view`] only.
    pub fn claims(&self) -> impl Iterator<Item = ClaimReport<'_>> {
        self.checked.systems.iter().flat_map(|(system, report)| {
            report.outcomes.iter().map(move |outcome| ClaimReport { system, outcome })
        })
    }

    /// The claim with this name.
    pub fn claim(&self, name: &str) -> Option<ClaimReport<'_>> {
        self.claims().find(|c| c.name() == name)
    }

    /// What the command shows.
    pub fn view(&self) -> &CheckView {
        &self.checked.view
    }

    /// As the command prints it with `--json` (docs/json.md).
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
        &self.system.claims()[self.outcome.claim.index()]
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

    /// The engine, the time, and what the verdict rests on.
    pub fn outcome(&self) -> &'r Outcome {
        self.outcome
    }
}
