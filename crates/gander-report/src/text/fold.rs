//! Repeated steps of a run as one row, like the repetitions that engines find.
//!
//! A group of up to [`LONGEST_GROUP`] steps that is taken several times in succession, with the
//! same transitions, parameters and other chosen values, becomes a repetition: the last time is
//! shown, with what changed since the row before the repetition. So all that is left out can be
//! computed from what is shown. One step that is repeated until all is as before it, for example a
//! round of a loop, is not folded if it is short: nothing of it would be shown.

use crate::view::{RepeatView, TraceRow, TraceView};

/// Steps of a group that is repeated.
const LONGEST_GROUP: usize = 4;
/// A repetition takes at least this many steps; fewer are easier to read one by one.
const FEWEST_STEPS: usize = 6;
/// A repetition of fewer steps is not folded if nothing of it would be shown.
const SHORT: usize = 40;
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
        let before = &rows[at - 1].values;
        let is_lost =
            group == 1 && rows[at].values != *before && rows[at + rounds - 1].values == *before;
        if is_lost && rounds < SHORT {
            kept.extend_from_slice(&rows[at..at + rounds]);
            at += rounds;
            continue;
        }
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
    let same = |a: &TraceRow, b: &TraceRow| {
        a.action == b.action && a.node == b.node && a.chosen == b.chosen
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn run(inputs: &[&str]) -> TraceView {
        let row = |(i, input): (usize, &&str)| {
            let pair = |name: &str, value: String| (name.to_string(), value);
            let values = vec![pair("n", i.to_string()), pair("input", input.to_string())];
            TraceRow {
                step: i as u64,
                action: if i == 0 { "start" } else { "step" }.to_string(),
                changes: values.clone(),
                chosen: vec![pair("input", input.to_string())],
                values,
                ..TraceRow::default()
            }
        };
        TraceView {
            length: inputs.len() as u64 - 1,
            rows: inputs.iter().enumerate().map(row).collect(),
            ..TraceView::default()
        }
    }

    #[test]
    fn a_round_of_a_loop_is_not_folded_to_nothing() {
        let mut lasso = run(&["a"; 9]);
        lasso.back_to = Some(0);
        for (row, n) in lasso.rows.iter_mut().zip([0, 1, 2, 3, 4, 3, 2, 1, 0]) {
            row.values[0].1 = n.to_string();
        }
        assert_eq!(folded(&lasso).map(|t| t.rows.len()), None);
    }

    fn shown(inputs: &[&str]) -> Option<Vec<u64>> {
        folded(&run(inputs)).map(|t| t.rows.iter().map(|r| r.step).collect())
    }

    #[test]
    fn steps_with_other_inputs_are_not_folded() {
        assert_eq!(shown(&["a"; 9]), Some(vec![0, 8]));
        assert_eq!(shown(&["a", "a", "b", "a", "b", "b", "a", "a", "b"]), None);
        let groups = ["a", "a", "b", "a", "b", "a", "b", "a", "b"];
        assert_eq!(shown(&groups), Some(vec![0, 7, 8]));
        // The first round is compared with the others, too.
        let first = ["a", "b", "a", "a", "a", "a", "a", "a", "a"];
        assert_eq!(shown(&first), Some(vec![0, 1, 8]));
    }
}
