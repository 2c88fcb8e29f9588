//! Repeated steps of a run as one row, like the repetitions that engines find.
//!
//! A group of up to [`LONGEST_GROUP`] steps that is taken several times in succession, with the same
//! transitions and parameters, becomes a repetition: the last time is shown, with what changed
//! since the row before the repetition.

use crate::view::{RepeatView, TraceRow, TraceView};

/// Steps of a group that is repeated.
const LONGEST_GROUP: usize = 4;
/// A repetition takes at least this many steps; fewer are easier to read one by one.
const FEWEST_STEPS: usize = 6;
/// And it has at least this many rounds.
const FEWEST_ROUNDS: usize = 3;

/// The run with repeated steps folded; `None` if there are none, or repetitions are folded already.
pub(super) fn folded(trace: &TraceView) -> Option<TraceView> {
    if !trace.repeats.is_empty() || trace.rows.len() <= FEWEST_STEPS {
        return None;
    }
    let rows = &trace.rows;
    // The state that the loop of a lasso begins with keeps its row.
    let border = trace.back_to.and_then(|back| rows.iter().position(|r| r.step == back));
    let mut kept: Vec<TraceRow> = vec![rows[0].clone()];
    let mut repeats = Vec::new();
    let mut at = 1;
    while at < rows.len() {
        let end = match border {
            Some(border) if at <= border => border + 1,
            _ => rows.len(),
        };
        let Some((group, rounds)) = repetition(&rows[at..end]) else {
            kept.push(rows[at].clone());
            at += 1;
            continue;
        };
        repeats.push(RepeatView { first_row: kept.len(), rows: group, times: rounds as u64 });
        let last = at + group * (rounds - 1);
        // What changed in all rounds together.
        let before = &rows[at - 1];
        for (i, row) in rows[last..last + group].iter().enumerate() {
            let mut row = row.clone();
            if i == 0 {
                row.changes = row
                    .values
                    .iter()
                    .filter(|pair| !before.values.contains(pair))
                    .cloned()
                    .collect();
            }
            kept.push(row);
        }
        at = last + group;
    }
    (!repeats.is_empty()).then(|| TraceView { rows: kept, repeats, ..trace.clone() })
}

/// The group of steps that these rows begin with several times, and how often: the one that takes
/// the most rows, of these the shortest.
fn repetition(rows: &[TraceRow]) -> Option<(usize, usize)> {
    let same = |a: &TraceRow, b: &TraceRow| a.action == b.action && a.node == b.node;
    let mut best: Option<(usize, usize)> = None;
    for group in 1..=LONGEST_GROUP.min(rows.len()) {
        let equal = (group..rows.len()).take_while(|&i| same(&rows[i], &rows[i - group])).count();
        let rounds = 1 + equal / group;
        let enough = rounds >= FEWEST_ROUNDS && rounds * group >= FEWEST_STEPS;
        if enough && best.is_none_or(|(g, r)| rounds * group > r * g) {
            best = Some((group, rounds));
        }
    }
    best
}
