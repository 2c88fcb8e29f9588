//! Static analyses of systems: equations of dataflow programs, lint candidates, strongly connected
//! components.

mod dataflow;
mod lint;
mod scc;

pub use dataflow::{Dataflow, Instant, Uses};
pub use lint::{Condition, LintCandidate, LintCandidates, Reads};
pub use scc::{members, strongly_connected_components};
