//! Limits of what a server keeps and accepts.

/// Limits of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct McpLimits {
    /// Bytes of a message. Longer ones are refused, and skipped.
    pub message_bytes: usize,
    /// Bytes of the text of a model.
    pub model_bytes: usize,
    /// Documents whose earlier texts are kept for comparison.
    pub documents: usize,
    /// Pieces of evidence that are kept.
    pub evidence: usize,
    /// Bytes of evidence that are kept.
    pub evidence_bytes: usize,
    /// Bytes of evidence or of a run in an answer; longer ones are named by their handle only.
    pub shown_bytes: usize,
    /// Claims and changes of each kind that are listed in an answer.
    pub listed: usize,
    /// Simulations that are open.
    pub simulations: usize,
    /// Calls that wait for another one.
    pub waiting: usize,
}

impl Default for McpLimits {
    fn default() -> McpLimits {
        McpLimits {
            message_bytes: 8 << 20,
            model_bytes: 4 << 20,
            documents: 32,
            evidence: 2_000,
            evidence_bytes: 64 << 20,
            shown_bytes: 200_000,
            listed: 400,
            simulations: 16,
            waiting: 16,
        }
    }
}
