//! A report that is printed in parts: each claim when it is settled, then the rest.

use std::collections::BTreeSet;

use super::trace::{Shared, TraceDetail};
use super::{
    CheckText, Detail, check_text_without, claim_lines, file_line, is_listed, names_width,
    quiet_line,
};
use crate::view::{CheckView, ClaimView, ShownEvidence, TraceRow, TraceView};

/// Runs that were shown already. A later run with the same beginning is shown from where it
/// differs.
#[derive(Default)]
pub(super) struct ShownRuns<'a> {
    runs: Vec<(&'a str, &'a TraceView)>,
}

/// Earlier runs that a run is compared with at most.
const MAX_RUNS: usize = 30;
/// The least number of common steps that are left out.
const FEWEST_SHARED: usize = 3;

impl<'a> ShownRuns<'a> {
    /// The common beginning with an earlier run. Adds the run to the earlier ones.
    pub(super) fn common_beginning(
        &mut self,
        claim: &'a str,
        trace: &'a TraceView,
        how: CheckText,
    ) -> Option<Shared<'a>> {
        if how.trace == TraceDetail::Full || trace.streams.is_some() || !trace.repeats.is_empty() {
            return None;
        }
        let shared = |(name, earlier): &(&'a str, &'a TraceView)| {
            let same = |(a, b): &(&TraceRow, &TraceRow)| a == b;
            let rows = trace.rows.iter().zip(&earlier.rows).take_while(same).count();
            // The last step is always shown, and so is the start of the loop.
            let most =
                trace.back_to.map_or(usize::MAX, |back| back as usize).min(trace.rows.len() - 1);
            Shared { rows: rows.min(most), with: name }
        };
        let recent = self.runs.iter().rev().take(MAX_RUNS);
        let best = recent.map(shared).max_by_key(|s| s.rows).filter(|s| s.rows > FEWEST_SHARED);
        self.runs.push((claim, trace));
        best
    }
}

/// Makes the text of a report in parts. The parts have the lines of
/// [`check_text`](super::check_text), each once.
#[derive(Debug)]
pub struct GradualText {
    how: CheckText,
    file: String,
    width: usize,
    /// Claims with a run that were shown, the newest last.
    recent: Vec<ClaimView>,
    shown: BTreeSet<String>,
}

impl GradualText {
    /// For the report about a file.
    pub fn new(file: &str, how: CheckText) -> GradualText {
        let (recent, shown) = (Vec::new(), BTreeSet::new());
        GradualText { how, file: file.to_string(), width: 0, recent, shown }
    }

    /// Claims with these names will come; the column of names gets room for them.
    pub fn expect<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        self.width = self.width.max(names_width(names.into_iter()));
    }

    /// The lines about a claim. None about claims that the report counts only.
    pub fn claim(&mut self, claim: ClaimView) -> String {
        let mut out = String::new();
        if self.how.detail == Detail::Quiet {
            quiet_line(&mut out, &self.file, &claim, self.how.paint);
            self.shown.insert(claim.name);
            return out;
        }
        if !is_listed(&claim) {
            return out;
        }
        if self.shown.is_empty() {
            file_line(&mut out, &self.file, self.how);
        }
        let mut runs = ShownRuns::default();
        for earlier in &self.recent {
            if let Some(trace) = trace_of(earlier) {
                runs.common_beginning(&earlier.name, trace, self.how);
            }
        }
        claim_lines(&mut out, &claim, self.width, self.how, &mut runs);
        self.shown.insert(claim.name.clone());
        if trace_of(&claim).is_some() {
            if self.recent.len() == MAX_RUNS {
                self.recent.remove(0);
            }
            self.recent.push(claim);
        }
        out
    }

    /// The rest of the report.
    pub fn rest(&self, view: &CheckView) -> String {
        check_text_without(view, self.how, &self.shown)
    }
}

fn trace_of(claim: &ClaimView) -> Option<&TraceView> {
    match &claim.verdict.evidence()?.shown {
        ShownEvidence::Trace(trace) => Some(trace),
        _ => None,
    }
}
