//! What to check, and how.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gander_certify::Trust;
use gander_engines::{EngineOptions, Portfolio};
use gander_lang::Code;
use gander_race::FoundTool;
use gander_smt::Solvers;
use gander_system::{Claim, ClaimKind, ClaimOrigin};

use crate::decide::EarlierVerdicts;
use crate::load::LoadOptions;

/// Which structural checks are made (docs/semantics.md, section 3).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum StructuralChecks {
    /// All of them, without an explicit request: for a file without written claims they are no
    /// success (docs/semantics.md, section 4).
    #[default]
    Implied,
    /// All of them, by request.
    All,
    /// None.
    None,
    /// Those of these kinds, by [`ClaimKind::word`].
    Kinds(Vec<String>),
}

impl StructuralChecks {
    /// The words for the kinds.
    pub const KINDS: [&'static str; 4] =
        ["start-satisfiable", "can-enable", "completable", "no-sinkhole"];

    /// True of a structural claim that is decided only if it is named.
    pub(crate) fn leave_out(&self, claim: &Claim) -> bool {
        claim.origin == ClaimOrigin::Structural && !self.include(&claim.kind)
    }

    fn include(&self, kind: &ClaimKind) -> bool {
        // In a composed system, structural claims about instances are of these kinds.
        let word = match kind {
            ClaimKind::Reachable(_) => "can-enable",
            ClaimKind::Always(_) => "no-sinkhole",
            kind => kind.word(),
        };
        match self {
            StructuralChecks::Implied | StructuralChecks::All => true,
            StructuralChecks::None => false,
            StructuralChecks::Kinds(words) => words.iter().any(|w| w == word),
        }
    }
}

/// How the claims of a program with several nodes are decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Analysis {
    /// Every call is replaced by the body of the called node.
    #[default]
    Whole,
    /// Nodes with contracts are checked alone. A proved contract replaces the body of its node
    /// where that suffices.
    Modular,
}

/// Whether verdicts come with their evidence in its file form (docs/evidence.md).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FileForm {
    /// They do.
    #[default]
    Included,
    /// They do not, which saves the time to write it.
    LeftOut,
}

/// Whether a model is linted (docs/findings.md).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Findings {
    /// It is, unless only some claims are to be decided.
    #[default]
    Sought,
    /// It is not.
    LeftOut,
}

/// What to check, and how.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// How the text of the model is loaded.
    pub load: LoadOptions,
    /// Names of the claims to decide; all if empty.
    pub properties: Vec<String>,
    /// Which structural checks to make.
    pub checks: StructuralChecks,
    /// Whether to lint the model.
    pub findings: Findings,
    /// Warnings to leave out.
    pub allow: Vec<Code>,
    /// Names of the engines to use; those of the portfolio if empty.
    pub engines: Vec<String>,
    /// Which engines to use on which models; the built-in portfolio if not given.
    pub portfolio: Option<Portfolio>,
    /// Whether the view says what ran and why.
    pub explain_schedule: bool,
    /// Whether the view shows the invariants of proofs.
    pub show_invariants: bool,
    /// Whether the view shows a counterexample to induction for each claim that is not decided.
    pub induction_counterexamples: bool,
    /// The time limit. It counts from the beginning of loading.
    pub timeout: Option<Duration>,
    /// How many engines work at the same time; as many as there are processors if not given.
    pub jobs: Option<usize>,
    /// Seed of everything that is random.
    pub seed: u64,
    /// Bytes of memory that this process and its solvers may use together. Only solvers and engines
    /// know this limit; [`gander_process::memory::enforce`] sets one for everything.
    pub memory: Option<u64>,
    /// The solvers to use; found by [`Solvers::from_environment`] if not given.
    pub solvers: Option<Arc<Solvers>>,
    /// An existing folder that every solver conversation is logged to.
    pub log_smt: Option<PathBuf>,
    /// The name of a solver that must agree with each verdict.
    pub second_opinion: Option<String>,
    /// What verdicts have to rest on.
    pub trust: Trust,
    /// Settings of single engines.
    pub engine_options: EngineOptions,
    /// Whether the view holds evidence in its file form.
    pub file_form: FileForm,
    /// How calls of nodes with contracts are analysed.
    pub analysis: Analysis,
    /// A folder that keeps evidence from run to run (docs/cache.md).
    pub cache: Option<PathBuf>,
    /// What earlier checks in this process found out about versions of the same model.
    pub earlier: Option<Arc<EarlierVerdicts>>,
    /// Other tools that take part (docs/racing.md).
    pub tools: Vec<FoundTool>,
}
