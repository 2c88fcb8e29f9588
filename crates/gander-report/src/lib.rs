//! Reports of the gander model checker: text, JSON and graphs from plain view-models.
//!
//! A *view-model* ([`CheckView`], [`GraphView`]) is plain data: strings and numbers, no ids, no
//! terms. [`describe`] turns a system and its verdicts into view-models. Pure functions turn
//! view-models into text, JSON, DOT and SVG. Only diagnostics also hold their source text, which is
//! needed to show its lines.
//!
//! Invariants of this crate:
//! - nothing here prints, reads a clock or a file, or asks a solver;
//! - equal view-models give equal output, byte for byte;
//! - text and JSON are made of the same view-model.
//!
//! ```
//! use gander_report::{GraphNodeView, GraphView, StartView, to_dot};
//!
//! let open = GraphNodeView { name: "Open".to_string(), ..GraphNodeView::default() };
//! let graph = GraphView {
//!     name: "Account".to_string(),
//!     nodes: vec![open],
//!     starts: vec![StartView::default()],
//!     edges: Vec::new(),
//! };
//! let dot = to_dot(&graph);
//! assert!(dot.starts_with("digraph \"Account\" {") && dot.contains("n0 [label=\"Open\"]"));
//! ```

pub mod describe;
mod drawing;
mod explained;
mod explained_runs;
mod files;
mod html;
mod json;
mod report_page;
mod text;
mod view;

pub use describe::diagnostic_views;
pub use drawing::{TooLarge, graphs_json, panel_svg, to_dot, to_dot_all, to_svg, to_svg_all};
pub use explained::{
    Completeness, CoreStatus, CoreView, Coverage, EXPLAIN_SCHEMA, ElementView, ExplainView,
    ExplainedView, IncludedText, Mark, MutantFate, MutantView, MutationScore, MutationView, NoCore,
    ONLY_ANNOTATED, PropertyCoverage, Proves, Share, UnexplainedView, VacuityView, core_text,
    coverage, coverage_json, coverage_text, explain_json, explain_text, marks, matrix_csv,
    matrix_html, matrix_text, mutation_csv, mutation_html, mutation_json, mutation_text, whatever,
};
pub use explained_runs::{
    CellMark, ContrastView, DifferenceView, FreeView, LeastView, RunText, RunView, TimelineCell,
    TimelineGroup, TimelineRow, TimelineStep, TimelineView, run_json, run_text, runs_html,
};
pub use files::{streams_csv, streams_vcd};
pub use json::{
    SCHEMA, STREAM_SCHEMA, StreamLine, claim_json, diagnostic_json, file_json, stream_json,
};
pub use report_page::{CoresShown, PageClaim, PageView, report_html};
pub use text::diagnostic::diagnostic_texts;
pub use text::paint::Paint;
pub use text::stream_table::{PLAIN_WIDTH, StreamScope, StreamTable, stream_table};
pub use text::trace::{TraceDetail, trace_table};
pub use text::{CheckText, Detail, GradualText, NO_RUN, check_text, counts_line, worst_exit_code};
pub use view::diagnostic::{Annotated, DiagnosticView, IncludedFile, Place, Severity, SourceMap};
pub use view::graph::{EdgeView, GraphNodeView, GraphPathView, GraphView, StartView};
pub use view::streams::{
    GroupKind, Growth, StreamGroup, StreamRepeat, StreamRow, StreamSort, StreamsView,
};
pub use view::{
    BasisView, CheckView, ClaimView, ClaimedView, Conjunct, ConstraintView, DeadBecause, DeadView,
    EngineView, EvidenceView, InductionView, InvariantView, NodeInvariant, ObstacleView, Origin,
    RepeatView, ScheduleView, SequenceEnd, ShownEvidence, ToolView, TraceRow, TraceView,
    VerdictView,
};
