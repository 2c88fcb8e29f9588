//! Static analyses of systems: equations of dataflow programs, lint candidates, strongly connected
//! components, symmetries of composed systems.

mod dataflow;
mod lint;
mod scc;
mod symmetry;

pub use dataflow::{Dataflow, Instant, Uses};
pub use lint::{Condition, LintCandidate, LintCandidates, Reads};
pub use scc::{members, strongly_connected_components};
pub use symmetry::{Automorphism, Symmetries};
