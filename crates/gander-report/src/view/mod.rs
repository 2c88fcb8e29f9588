//! The result of a check as plain data.

pub(crate) mod diagnostic;
pub(crate) mod graph;
pub(crate) mod repetition;
pub(crate) mod streams;

use diagnostic::{DiagnosticView, Place, Severity};
use streams::{StreamRepeat, StreamsView};

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

/// One step of a run, and the state after it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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
    /// The variables whose value the step leaves open, with the value: inputs above all.
    pub chosen: Vec<(String, String)>,
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
    /// The number of steps, counting every repetition.
    pub length: u64,
    /// Start and steps; of a repeated part the last round.
    pub rows: Vec<TraceRow>,
    /// Parts that are repeated, outermost first.
    pub repeats: Vec<RepeatView>,
    /// True if there is more than one node.
    pub show_nodes: bool,
    /// What the last state shows, in words.
    pub ending: Option<String>,
    /// Further lines on what follows.
    pub remarks: Vec<String>,
    /// The run can be continued for ever from its last state.
    pub goes_on: bool,
    /// The run is infinite: its last state equals the state after this many steps, and what follows
    /// that state repeats.
    pub back_to: Option<u64>,
    /// The run of a dataflow program; it then has no rows.
    pub streams: Option<Box<StreamsView>>,
}

impl TraceView {
    /// The repetitions, by the numbers of their steps.
    pub fn step_repeats(&self) -> Vec<StreamRepeat> {
        let repeat = |which: usize| {
            let r = self.repeats[which];
            let last = self.rows.get((r.first_row + r.rows).checked_sub(1)?)?.step;
            let first = (last + 1).saturating_sub(r.times.saturating_mul(self.once(which)));
            Some(StreamRepeat { first, last, times: r.times, growth: Vec::new() })
        };
        (0..self.repeats.len()).filter_map(repeat).collect()
    }

    /// The number of steps of one round of a repetition.
    fn once(&self, which: usize) -> u64 {
        let whole = self.repeats[which];
        let end = whole.first_row + whole.rows;
        let (mut steps, mut row) = (0u64, whole.first_row);
        while row < end {
            let inner = (which + 1..self.repeats.len()).find(|&i| {
                let r = self.repeats[i];
                r.rows > 0 && r.first_row == row && r.first_row + r.rows <= end
            });
            match inner {
                Some(i) => {
                    let times = self.repeats[i].times;
                    steps = steps.saturating_add(times.saturating_mul(self.once(i)));
                    row += self.repeats[i].rows;
                }
                None => {
                    steps = steps.saturating_add(1);
                    row += 1;
                }
            }
        }
        steps
    }
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
    /// Every run without a repeated state was explored.
    Diameter {
        /// The greatest length of such a run.
        k: u32,
    },
    /// Every reachable state was explored.
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
    /// Evidence about the runs outside of a set of states from which the goal is unreachable.
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

/// Why a transition is never enabled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadView {
    /// The node that it leaves; empty if there is only one.
    pub node: String,
    /// Why the guard never holds there.
    pub known: DeadBecause,
    /// The conditions of its guard that this contradicts, with assumptions of the model; empty if
    /// no run comes to the node.
    pub guard: Vec<String>,
}

/// Why a guard never holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeadBecause {
    /// Every reachable state at the node satisfies this formula.
    Invariant(String),
    /// All reachable states were enumerated, this many.
    Enumeration(u64),
}

impl DeadView {
    /// The reason in words.
    pub fn text(&self) -> String {
        let place = if self.node.is_empty() { String::new() } else { format!(" at {}", self.node) };
        let guard = self.guard.join(" and ");
        let known = match &self.known {
            DeadBecause::Invariant(known) => known.as_str(),
            DeadBecause::Enumeration(0) => "false",
            DeadBecause::Enumeration(states) if self.guard.iter().all(|g| g == "true") => {
                let place = if place.is_empty() { " there" } else { &place };
                return format!(
                    "never: every reachable state was looked at ({states}), and none is{place}"
                );
            }
            DeadBecause::Enumeration(states) => {
                return format!(
                    "never: every reachable state was looked at ({states}), and none{place} \
                     satisfies its guard: {guard}"
                );
            }
        };
        let no_run = matches!(self.known, DeadBecause::Enumeration(0));
        match (known, self.node.as_str()) {
            _ if no_run => "never, because there is no run".to_string(),
            ("false", "") => "never, because there is no run".to_string(),
            ("false", node) => format!("never, because no run comes to {node}"),
            ("true", _) if self.guard.is_empty() => "never".to_string(),
            ("true", _) => format!("never, because its guard has no solution: {guard}"),
            (known, _) if self.guard.is_empty() => {
                format!("never, because{place} always {known}")
            }
            (known, _) => format!(
                "never, because{place} always {known}, which contradicts its guard: {guard}"
            ),
        }
    }
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
    /// The claim holds vacuously: the system has no run.
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

    /// True if the claim was not decided.
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
    /// The engine or tool that found the answer.
    pub engine: Option<String>,
    /// Time from the start of the check to the checked answer.
    pub seconds: f64,
    /// Warnings about the verdict.
    pub warnings: Vec<String>,
    /// If the evidence is a finite run or a lasso: true if none is shorter, false if a shorter one
    /// may exist. `None` for other evidence.
    pub shortest: Option<bool>,
    /// Nodes that are abstracted by their contracts in the proof.
    pub abstracted: Vec<String>,
    /// For a dead transition: what excludes its guard. Empty if that is unknown.
    pub because: Vec<DeadView>,
    /// For an unsatisfiable start: constraints that contradict each other. Empty if they are
    /// unknown.
    pub contradiction: Vec<ConstraintView>,
    /// The node that the proof is about, if it is not the root.
    pub shown_in: Option<String>,
    /// The bound on the steps of runs that the author set. The answer covers only runs within it.
    pub within: Option<String>,
    /// Answers of other tools without checked evidence.
    pub claimed: Vec<ClaimedView>,
    /// What the verdict rests on; none if it is unknown.
    pub basis: Option<BasisView>,
    /// The invariant that proves the verdict, if it was requested.
    pub invariant: Option<InvariantView>,
    /// For a claim that was not decided: why induction does not prove it, if that was requested.
    pub induction: Option<InductionView>,
}

/// The invariant of a proof, in the syntax of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InvariantView {
    /// A formula for each node.
    Formulas {
        /// Induction depth; 1 is an ordinary inductive invariant.
        k: u32,
        /// The step case assumes that states are pairwise distinct.
        loop_free: bool,
        /// The step case assumes that no state but the first is a start state.
        no_restart: bool,
        /// Nodes in the order of the model; a single node has no name.
        nodes: Vec<NodeInvariant>,
        /// Conjuncts that were left out because the proof does not need them. What is left was
        /// checked again.
        left_out: usize,
    },
    /// The proof is not an invariant: what it is, in words.
    Other(String),
}

/// The invariant at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeInvariant {
    /// The node; empty if it is the only one.
    pub node: String,
    /// The conjuncts; none if every state is allowed.
    pub conjuncts: Vec<Conjunct>,
    /// No run reaches the node.
    pub unreachable: bool,
}

/// A conjunct of an invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conjunct {
    /// In the syntax of the model, or in gander's text form if the language cannot express it.
    pub text: String,
    /// It is part of the claim itself; the others are lemmas.
    pub of_claim: bool,
}

/// What is special about the last state of a counterexample to induction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SequenceEnd {
    /// It violates the formula of an *always* claim.
    Violation,
    /// It satisfies the formula of a *reachable* claim.
    Goal,
}

/// Why induction does not prove a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InductionView {
    /// A sequence of states, of which none is known to be reachable.
    Counterexample {
        /// The number of steps, which is the induction depth that fails.
        k: u32,
        /// What the last state has, and the others have not.
        ends: SequenceEnd,
        /// The states.
        trace: TraceView,
        /// Claims that were proved and hold in all these states.
        known: Vec<String>,
        /// What the reader may try.
        advice: Vec<String>,
    },
    /// There is none to show: why.
    None(String),
}

/// What a verdict rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BasisView {
    /// `checked`, `two-solvers` or `one-solver`.
    pub ground: &'static str,
    /// The solvers whose answers count.
    pub solvers: Vec<String>,
    /// Why it is one solver, where two were requested.
    pub why_one: Option<String>,
}

/// An answer of another tool, which is no verdict.
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
    /// It contradicts the verdict or the answer of another tool.
    pub disagrees: bool,
}

/// What another tool did in a check.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolView {
    /// The tool.
    pub tool: String,
    /// How many claims it answered.
    pub answers: usize,
    /// How many of its answers have checked evidence.
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

/// The result of a check of one file.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckView {
    /// The file as the user named it.
    pub file: String,
    /// Claims with answers, in the order of the file.
    pub claims: Vec<ClaimView>,
    /// Messages about the input.
    pub diagnostics: Vec<DiagnosticView>,
    /// Messages about claims whose evidence failed its check: errors of gander, never verdicts.
    pub internal_errors: Vec<String>,
    /// Why the check ended early, if it did.
    pub stopped: Option<String>,
    /// The file has no written claims, and structural checks were not requested.
    pub nothing_claimed: bool,
    /// Time the check took.
    pub seconds: f64,
    /// What ran and why, for each system of the file, if requested.
    pub schedules: Vec<ScheduleView>,
    /// What other tools did, if some took part.
    pub tools: Vec<ToolView>,
    /// Where tools contradict a verdict or each other.
    pub disagreements: Vec<String>,
}

/// What ran in a check, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct ScheduleView {
    /// Features of the model.
    pub model: String,
    /// The plan and its purpose; none if engines were named or the first ones sufficed.
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
    /// Its start-up delay, in seconds.
    pub after: f64,
    /// How many of the claims it can decide.
    pub claims: usize,
    /// When its first turn began, in seconds.
    pub began: Option<f64>,
    /// How many turns it had.
    pub turns: u64,
    /// Their total time, in seconds.
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
            nothing_claimed: false,
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

    /// Why the file is no success although nothing fails: it claims nothing.
    pub fn nothing_claimed_text(&self) -> Option<&'static str> {
        let shown = self.nothing_claimed && self.exit_code() == 2;
        shown.then_some(
            "the file claims nothing, and structural checks alone are no success (exit code 2); \
             `gander check --checks all` accepts them",
        )
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
        } else if self.nothing_claimed {
            2
        } else if any("unknown") || self.stopped.is_some() {
            3
        } else {
            0
        }
    }
}
