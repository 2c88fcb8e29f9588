//! What a check found, as plain data.

use crate::streams::StreamsView;

/// How serious a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The input cannot be checked.
    Error,
    /// The input can be checked, but something is odd.
    Warning,
    /// Something worth knowing.
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
    /// What to do about it, and other remarks.
    pub help: Vec<String>,
    /// The message with its source lines, as shown to people.
    pub rendered: String,
}

/// Why a claim is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The author wrote it.
    Written,
    /// The declared range of a variable.
    Range,
    /// A structural check that every control graph gets.
    Structural,
}

/// One step of a run, and the state behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceRow {
    /// The number of steps taken so far; 0 is the start.
    pub step: u64,
    /// The transition with its parameters, or the start.
    pub action: String,
    /// The node that is entered.
    pub node: String,
    /// Variables whose value is new, with the value. In row 0: all of them.
    pub changes: Vec<(String, String)>,
    /// Every variable with its value.
    pub values: Vec<(String, String)>,
}

/// A part of a run that is repeated: its rows are shown once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepeatView {
    /// Index of the first of its rows.
    pub first_row: usize,
    /// The number of its rows.
    pub rows: usize,
    /// How often it is taken.
    pub times: u64,
}

/// A run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceView {
    /// The number of steps, repetitions counted out.
    pub length: u64,
    /// Start and steps. Of a repeated part the last round.
    pub rows: Vec<TraceRow>,
    /// Parts that are repeated, outermost first.
    pub repeats: Vec<RepeatView>,
    /// True if there is more than one node.
    pub show_nodes: bool,
    /// What the last state shows, in words.
    pub ending: Option<String>,
    /// Further lines on what follows.
    pub remarks: Vec<String>,
    /// From its last state on the run can go on for ever.
    pub goes_on: bool,
    /// The run goes on for ever: its last state is the one behind this many steps, and what follows that one repeats.
    pub back_to: Option<u64>,
    /// The run of a dataflow program; it then has no rows.
    pub streams: Option<Box<StreamsView>>,
}

/// Evidence, as shown to people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShownEvidence {
    /// A run.
    Trace(TraceView),
    /// A formula for each node.
    Invariant {
        /// Induction depth; 1 is an ordinary inductive invariant.
        k: u32,
        /// Only over paths without a repeated state.
        loop_free: bool,
        /// Nodes and formulas.
        by_node: Vec<(String, String)>,
    },
    /// Every run without a repeated state was looked at.
    Diameter {
        /// The greatest length of such a run.
        k: u32,
    },
    /// Every reachable state was looked at.
    ClosedSet {
        /// Their number.
        states: u64,
    },
    /// A formula has no solution.
    Refutation {
        /// Which, in words.
        why: String,
    },
    /// Something else, in words.
    Argument {
        /// In a few words.
        summary: String,
        /// At length.
        lines: Vec<String>,
    },
    /// Evidence about the runs outside of a set from which nothing can be met any more.
    Outside(Box<ShownEvidence>),
    /// Evidence about the chain of goals of the claim.
    OfChain(Box<ShownEvidence>),
}

impl ShownEvidence {
    /// The run, if it is one.
    pub fn trace(&self) -> Option<&TraceView> {
        match self {
            ShownEvidence::Trace(trace) => Some(trace),
            _ => None,
        }
    }
}

/// Evidence that was checked.
#[derive(Clone, PartialEq, Debug)]
pub struct EvidenceView {
    /// As shown to people.
    pub shown: ShownEvidence,
    /// As saved to a file.
    pub saved: serde_json::Value,
}

/// What stopped an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObstacleView {
    /// The engine.
    pub engine: String,
    /// What stopped it, and what would help.
    pub reason: String,
}

/// The answer to a claim.
#[derive(Clone, PartialEq, Debug)]
pub enum VerdictView {
    /// It holds.
    Holds(EvidenceView),
    /// It fails.
    Fails(EvidenceView),
    /// It was not decided.
    Unknown {
        /// No run of at most this many steps decides it.
        explored_through: Option<u32>,
        /// What stopped each engine.
        why: Vec<ObstacleView>,
    },
    /// The system has no run: the claim holds, but only because there is nothing that it is about.
    Vacuous,
}

impl VerdictView {
    /// The word in text and JSON.
    pub fn word(&self) -> &'static str {
        match self {
            VerdictView::Holds(_) => "holds",
            VerdictView::Fails(_) => "fails",
            VerdictView::Unknown { .. } => "unknown",
            VerdictView::Vacuous => "vacuous",
        }
    }

    /// The evidence, if the claim was decided and its verdict counts.
    pub fn evidence(&self) -> Option<&EvidenceView> {
        match self {
            VerdictView::Holds(e) | VerdictView::Fails(e) => Some(e),
            VerdictView::Unknown { .. } | VerdictView::Vacuous => None,
        }
    }

    /// True if nobody decided the claim.
    pub fn is_open(&self) -> bool {
        matches!(self, VerdictView::Unknown { .. })
    }
}

/// A claim and its answer.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimView {
    /// The name.
    pub name: String,
    /// The kind, one word.
    pub kind: String,
    /// The claim as written, or in words.
    pub text: String,
    /// Why it is there.
    pub origin: Origin,
    /// The answer.
    pub verdict: VerdictView,
    /// Who found the answer.
    pub engine: Option<String>,
    /// Time from the start of the check to the checked answer.
    pub seconds: f64,
    /// What the reader should know although the verdict stands.
    pub warnings: Vec<String>,
    /// Nodes for which their contracts stand in the proof.
    pub abstracted: Vec<String>,
    /// Of what can never happen: nodes, and what always holds there that excludes it. Empty if that is not known.
    pub because: Vec<(String, String)>,
    /// Of a start that no state satisfies: constraints that contradict each other. Empty if they are not known.
    pub contradiction: Vec<ConstraintView>,
    /// The node whose proof it is, if it is not the whole that was checked.
    pub shown_in: Option<String>,
    /// The author bounds runs to so many steps, and the answer is about all of these: no more is known of longer ones.
    pub within: Option<String>,
    /// What other tools say of it without evidence that could be checked.
    pub claimed: Vec<ClaimedView>,
    /// What the verdict rests on; none if it is unknown.
    pub basis: Option<BasisView>,
}

/// What a verdict rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BasisView {
    /// `checked`, `two-solvers` or `one-solver`.
    pub ground: &'static str,
    /// The solvers whose answers count.
    pub solvers: Vec<String>,
    /// Why it is one solver, where two would have been asked.
    pub why_one: Option<String>,
}

/// What another tool says of a claim; it is no verdict.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimedView {
    /// The tool.
    pub tool: String,
    /// `holds` or `fails`.
    pub says: String,
    /// Time from the start of the check.
    pub seconds: f64,
    /// Why it is no verdict.
    pub why: String,
    /// It is the contrary of the verdict, or of what another tool says.
    pub disagrees: bool,
}

/// What another tool did in a check.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolView {
    /// The tool.
    pub tool: String,
    /// How many claims it answered.
    pub answers: usize,
    /// How many of its answers became verdicts or agree with them by evidence that was checked.
    pub checked: usize,
    /// How long it took.
    pub seconds: f64,
    /// How it ended, in words.
    pub ending: String,
}

/// A constraint of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConstraintView {
    /// As it is written.
    pub text: String,
    /// Where.
    pub place: Option<Place>,
}

/// What a check of one file found.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckView {
    /// The file as the user named it.
    pub file: String,
    /// Claims with answers, in the order of the file.
    pub claims: Vec<ClaimView>,
    /// Messages about the input.
    pub diagnostics: Vec<DiagnosticView>,
    /// Messages about claims whose evidence failed its check: an error of the tool, never a verdict.
    pub internal_errors: Vec<String>,
    /// Why the check ended early, if it did.
    pub stopped: Option<String>,
    /// Time the check took.
    pub seconds: f64,
    /// What ran and why, for each system of the file, if that was asked for.
    pub schedules: Vec<ScheduleView>,
    /// What other tools did, if some were asked.
    pub tools: Vec<ToolView>,
    /// Where tools contradict a verdict or each other.
    pub disagreements: Vec<String>,
}

/// What ran in a check, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct ScheduleView {
    /// What the model is like.
    pub model: String,
    /// The plan that was used and what it is made for; none if engines were named or the first ones were enough.
    pub plan: Option<(String, String)>,
    /// What each engine did.
    pub engines: Vec<EngineView>,
}

/// What an engine did in a check.
#[derive(Clone, PartialEq, Debug)]
pub struct EngineView {
    /// Which one.
    pub engine: String,
    /// Its share of the time.
    pub share: f64,
    /// How long it leaves others alone, in seconds.
    pub after: f64,
    /// How many of the claims it can decide.
    pub claims: usize,
    /// When its first turn began, in seconds.
    pub began: Option<f64>,
    /// How many turns it had.
    pub turns: u64,
    /// How long these were altogether, in seconds.
    pub used: f64,
    /// How many claims it settled.
    pub settled: usize,
    /// How many facts it published.
    pub facts: u64,
    /// How its work ended, in words.
    pub ending: String,
}

impl CheckView {
    /// A view of a file that could not be checked.
    pub fn rejected(file: &str, diagnostics: Vec<DiagnosticView>) -> CheckView {
        CheckView {
            file: file.to_string(),
            claims: Vec::new(),
            diagnostics,
            internal_errors: Vec::new(),
            stopped: None,
            seconds: 0.0,
            schedules: Vec::new(),
            tools: Vec::new(),
            disagreements: Vec::new(),
        }
    }

    /// True if the input is wrong.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// The exit code of docs/semantics.md, section 4.
    pub fn exit_code(&self) -> u8 {
        let any = |word: &str| self.claims.iter().any(|c| c.verdict.word() == word);
        if !self.internal_errors.is_empty() {
            4
        } else if self.has_errors() {
            2
        } else if !self.disagreements.is_empty() {
            5
        } else if any("fails") || any("vacuous") {
            1
        } else if any("unknown") || self.stopped.is_some() {
            3
        } else {
            0
        }
    }
}
