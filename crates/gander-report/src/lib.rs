//! Reports of the gander model checker: text, JSON and graphs from plain view-models.
//!
//! A *view-model* ([`CheckView`], [`GraphView`]) is plain data: strings and numbers, no ids, no terms. What turns a
//! system and its verdicts into a view-model is in [`describe`]; what turns a view-model into text, JSON, DOT or SVG
//! are pure functions of it.
//!
//! Invariants of this crate:
//! - nothing here prints, reads a clock or a file, or asks a solver;
//! - equal view-models give equal output, byte for byte;
//! - text and JSON are made of the same view-model, so neither knows more than the other.

pub mod describe;
mod dot;
mod explained;
mod graph;
mod json;
mod layout;
mod schedule_text;
mod stream_table;
mod streams;
mod style;
mod svg;
mod text;
mod trace_files;
mod trace_text;
mod view;
mod why;

pub use dot::to_dot;
pub use explained::{
    Coverage, EXPLAIN_SCHEMA, ElementView, ExplainView, ExplainedView, IncludedText, Mark, MutantFate, MutantView,
    MutationScore, MutationView, VacuityView, core_text, coverage, coverage_text, explain_json, explain_text, marks,
    matrix_csv, matrix_html, matrix_text, mutation_csv, mutation_html, mutation_json, mutation_text,
};
pub use graph::{EdgeView, GraphNodeView, GraphView, StartView};
pub use json::{SCHEMA, diagnostic_json, file_json};
pub use layout::TooLarge;
pub use stream_table::{PLAIN_WIDTH, StreamScope, StreamTable, stream_table};
pub use streams::{GroupKind, StreamGroup, StreamRepeat, StreamRow, StreamSort, StreamsView};
pub use style::Paint;
pub use svg::to_svg;
pub use text::{CheckText, Detail, NO_RUN, check_text, counts_line, worst_exit_code};
pub use trace_files::{streams_csv, streams_vcd};
pub use trace_text::{TraceDetail, trace_table};
pub use view::{
    BasisView, CheckView, ClaimView, ClaimedView, ConstraintView, DiagnosticView, EngineView, EvidenceView,
    ObstacleView, Origin, Place, RepeatView, ScheduleView, Severity, ShownEvidence, ToolView, TraceRow, TraceView,
    VerdictView,
};
pub use why::{
    CellMark, ContrastView, DifferenceView, FreeView, LeastView, RunText, RunView, TimelineCell, TimelineGroup,
    TimelineRow, TimelineStep, TimelineView, run_json, run_text, runs_html,
};
