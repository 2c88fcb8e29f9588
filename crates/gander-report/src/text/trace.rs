//! A run as a table: step, transition with parameters, node, and what changed.

use gander_text::shown;

use crate::text::paint::Paint;
use crate::view::{RepeatView, TraceView};

/// How much of a run is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TraceDetail {
    /// Only what changed; the middle of a long run and of long values is left out.
    #[default]
    Changes,
    /// Every variable in every state, every step.
    Full,
}

/// Rows at either end of a long run that are always shown.
const ENDS: usize = 20;
/// Values longer than this are shortened.
const LONGEST_VALUE: usize = 60;
/// A repetition of several steps is written out up to this many characters.
const LONGEST_REPETITION: usize = 72;
/// Wider transitions do not count for the width of their column.
const WIDEST_ACTION: usize = 48;

/// The common beginning of a run and an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shared<'a> {
    /// The number of common rows.
    pub rows: usize,
    /// The claim of the earlier run.
    pub with: &'a str,
}

/// The run as lines of text, each indented by `indent` spaces and ended by a line end.
pub fn trace_table(trace: &TraceView, detail: TraceDetail, indent: usize, paint: Paint) -> String {
    trace_table_from(trace, Shared { rows: 0, with: "" }, detail, indent, paint)
}

/// [`trace_table`] without the rows that are shared with an earlier run.
pub(crate) fn trace_table_from(
    trace: &TraceView,
    shared: Shared<'_>,
    detail: TraceDetail,
    indent: usize,
    paint: Paint,
) -> String {
    let shown: Vec<usize> = match detail {
        TraceDetail::Full => (0..trace.rows.len()).collect(),
        TraceDetail::Changes if trace.rows.len() <= 2 * ENDS + 1 => (0..trace.rows.len()).collect(),
        TraceDetail::Changes => {
            (0..ENDS).chain(trace.rows.len() - ENDS..trace.rows.len()).collect()
        }
    };
    let shown: Vec<usize> = shown.into_iter().filter(|&i| i >= shared.rows).collect();
    let actions: Vec<String> = (0..trace.rows.len()).map(|i| action_and_times(trace, i)).collect();
    let width_of = |text: &dyn Fn(usize) -> usize, least: usize| {
        shown.iter().map(|&i| text(i)).filter(|&w| w <= WIDEST_ACTION).max().unwrap_or(0).max(least)
    };
    let node_width = |i: usize| trace.rows[i].node.chars().count();
    let table = Table {
        trace,
        detail,
        paint,
        margin: " ".repeat(indent),
        number: trace.length.to_string().len(),
        action: width_of(&|i| actions[i].chars().count(), 4),
        node: if trace.show_nodes { width_of(&node_width, 4) } else { 0 },
        actions: &actions,
    };
    table.render(&shown, shared)
}

struct Table<'a> {
    trace: &'a TraceView,
    detail: TraceDetail,
    paint: Paint,
    margin: String,
    number: usize,
    /// By row: the transition, with its number of repetitions if it is repeated alone.
    actions: &'a [String],
    action: usize,
    node: usize,
}

impl Table<'_> {
    fn render(&self, shown: &[usize], shared: Shared<'_>) -> String {
        let mut out = String::new();
        let mut last: Option<usize> = None;
        if shared.rows > 0 {
            let steps = shared.rows - 1;
            self.remark(
                &mut out,
                &match steps {
                    1 => format!("the first step as for `{}` above", shared.with),
                    _ => format!("the first {steps} steps as for `{}` above", shared.with),
                },
            );
            last = Some(steps);
        }
        for &i in shown {
            if let Some(before) = last
                && before + 1 < i
            {
                let text = steps_left_out(i - before - 1);
                self.remark(&mut out, &text);
            }
            for (which, _) in self
                .trace
                .repeats
                .iter()
                .enumerate()
                .filter(|(_, r)| r.first_row == i && r.rows > 1)
            {
                self.remark(&mut out, &format!("{}, the last time shown:", self.repetition(which)));
            }
            self.row(&mut out, i);
            if self.trace.back_to == Some(self.trace.rows[i].step) && i + 1 < self.trace.rows.len()
            {
                self.remark(&mut out, "the loop:");
            }
            last = Some(i);
        }
        if let Some(back) = self.trace.back_to {
            let text =
                format!("repeats from state {back}: the steps from there on are repeated for ever");
            self.remark(&mut out, &text);
        }
        for line in self.trace.ending.iter().chain(&self.trace.remarks) {
            self.remark(&mut out, line);
        }
        out
    }

    fn remark(&self, out: &mut String, text: &str) {
        out.push_str(&self.margin);
        out.push_str(&" ".repeat(self.number + 2));
        out.push_str(&self.paint.faint(text));
        out.push('\n');
    }

    /// `(put(n = 1) x 9; clear) x 1000`, nested like the repetitions; the number of steps if that
    /// would be too long.
    fn repetition(&self, which: usize) -> String {
        let whole = self.trace.repeats[which];
        let end = (whole.first_row + whole.rows).min(self.actions.len());
        let within: Vec<&RepeatView> = self.trace.repeats[which..]
            .iter()
            .filter(|r| r.rows > 1 && r.first_row < end)
            .collect();
        let mut text = String::new();
        for row in whole.first_row..end {
            if row > whole.first_row {
                text.push_str("; ");
            }
            text.extend(within.iter().filter(|r| r.first_row == row).map(|_| '('));
            text.push_str(&self.actions[row]);
            for r in within.iter().rev().filter(|r| r.first_row + r.rows == row + 1) {
                text.push_str(&format!(") x {}", r.times));
            }
            if text.chars().count() > LONGEST_REPETITION {
                return format!("(these {} steps) x {}", whole.rows, whole.times);
            }
        }
        text
    }

    fn row(&self, out: &mut String, number: usize) {
        let row = &self.trace.rows[number];
        let mut line = format!("{:>1$}  ", row.step, self.number);
        line.push_str(&pad(&self.actions[number], self.action));
        if self.node > 0 {
            line.push_str("  ");
            line.push_str(&pad(&row.node, self.node));
        }
        let values = match self.detail {
            TraceDetail::Changes => &row.changes,
            TraceDetail::Full => &row.values,
        };
        let values: Vec<String> = values
            .iter()
            .map(|(name, value)| format!("{} = {}", shown(name), self.shorten(value)))
            .collect();
        out.push_str(&self.margin);
        if values.is_empty() {
            out.push_str(line.trim_end());
        } else {
            out.push_str(&line);
            out.push_str("  ");
            out.push_str(&self.paint.bold(&values.join(", ")));
        }
        out.push('\n');
    }

    fn shorten(&self, value: &str) -> String {
        let length = value.chars().count();
        if self.detail == TraceDetail::Full || length <= LONGEST_VALUE {
            return value.to_string();
        }
        let head: String = value.chars().take(20).collect();
        let tail: String = value.chars().skip(length - 10).collect();
        format!("{head}...{tail} ({length} characters)")
    }
}

/// `deposit(amount = 50) x 1999`: the transition of a row with the repetitions of that row alone,
/// innermost first.
fn action_and_times(trace: &TraceView, row: usize) -> String {
    let mut text = shown(&trace.rows[row].action).into_owned();
    for r in trace.repeats.iter().rev().filter(|r| r.first_row == row && r.rows == 1) {
        text.push_str(&format!(" x {}", r.times));
    }
    text
}

/// Steps that are not shown.
pub(crate) fn steps_left_out(steps: usize) -> String {
    match steps {
        1 => "... 1 more step (--trace full shows it)".to_string(),
        n => format!("... {n} more steps (--trace full shows them)"),
    }
}

fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::TraceRow;
    use expect_test::expect;

    fn row(step: u64, action: &str, node: &str, changes: &[(&str, &str)]) -> TraceRow {
        let changes: Vec<(String, String)> =
            changes.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        let mut values = changes.clone();
        values.push(("other".to_string(), "1/3".to_string()));
        let (action, node) = (action.to_string(), node.to_string());
        TraceRow { step, action, node, changes, values, chosen: Vec::new() }
    }

    fn account() -> TraceView {
        TraceView {
            length: 2,
            rows: vec![
                row(0, "start", "Open", &[("balance", "50"), ("status", "Open")]),
                row(1, "deposit(amount = 10)", "Open", &[("balance", "60")]),
                row(2, "freeze", "Frozen", &[]),
            ],
            repeats: Vec::new(),
            show_nodes: true,
            ending: Some("here `balance < 60` is false".to_string()),
            ..TraceView::default()
        }
    }

    #[test]
    fn tables_have_only_what_changed() {
        expect![[r#"
              0  start                 Open    balance = 50, status = Open
              1  deposit(amount = 10)  Open    balance = 60
              2  freeze                Frozen
                 here `balance < 60` is false
        "#]]
        .assert_eq(&trace_table(&account(), TraceDetail::Changes, 0, Paint::Plain));
    }

    #[test]
    fn what_was_shown_is_not_shown_again() {
        let shared = Shared { rows: 2, with: "modest" };
        expect![[r#"
               the first step as for `modest` above
            2  freeze  Frozen
               here `balance < 60` is false
        "#]]
        .assert_eq(&trace_table_from(&account(), shared, TraceDetail::Changes, 0, Paint::Plain));
    }

    #[test]
    fn a_loop_is_visible() {
        let trace = TraceView { back_to: Some(1), ending: None, ..account() };
        expect![[r#"
            0  start                 Open    balance = 50, status = Open
            1  deposit(amount = 10)  Open    balance = 60
               the loop:
            2  freeze                Frozen
               repeats from state 1: the steps from there on are repeated for ever
        "#]]
        .assert_eq(&trace_table(&trace, TraceDetail::Changes, 0, Paint::Plain));
    }

    #[test]
    fn full_tables_have_every_value() {
        expect![[r#"
            0  start                 Open    balance = 50, status = Open, other = 1/3
            1  deposit(amount = 10)  Open    balance = 60, other = 1/3
            2  freeze                Frozen  other = 1/3
               here `balance < 60` is false
        "#]]
        .assert_eq(&trace_table(&account(), TraceDetail::Full, 0, Paint::Plain));
    }

    #[test]
    fn long_runs_and_values_are_shortened_unless_asked_for() {
        let rows: Vec<TraceRow> =
            (0..100).map(|i| row(i, "up", "N", &[("x", &"9".repeat(i as usize))])).collect();
        let trace = TraceView { length: 99, rows, ..TraceView::default() };
        let text = trace_table(&trace, TraceDetail::Changes, 0, Paint::Plain);
        assert!(text.contains("... 60 more steps (--trace full shows them)"), "{text}");
        assert!(
            text.contains("99  up    x = 99999999999999999999...9999999999 (99 characters)"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 41);
        assert_eq!(trace_table(&trace, TraceDetail::Full, 0, Paint::Plain).lines().count(), 100);
    }

    #[test]
    fn repetitions_are_named() {
        let trace = TraceView {
            length: 2000,
            rows: vec![row(0, "start", "N", &[("x", "0")]), row(2000, "up", "N", &[("x", "2000")])],
            repeats: vec![RepeatView { first_row: 1, rows: 1, times: 2000 }],
            ..TraceView::default()
        };
        expect![[r#"
               0  start      x = 0
            2000  up x 2000  x = 2000
        "#]]
        .assert_eq(&trace_table(&trace, TraceDetail::Changes, 0, Paint::Plain));
    }

    #[test]
    fn repetitions_of_several_steps_are_written_out_while_they_are_short() {
        let mut trace = TraceView {
            length: 9001,
            rows: [(0, "start"), (8999, "put(n = 1)"), (9000, "clear"), (9001, "close")]
                .map(|(step, action)| row(step, action, "N", &[]))
                .to_vec(),
            repeats: vec![
                RepeatView { first_row: 1, rows: 3, times: 2 },
                RepeatView { first_row: 1, rows: 2, times: 900 },
                RepeatView { first_row: 1, rows: 1, times: 9 },
            ],
            ..TraceView::default()
        };
        expect![[r#"
               0  start
                  ((put(n = 1) x 9; clear) x 900; close) x 2, the last time shown:
                  (put(n = 1) x 9; clear) x 900, the last time shown:
            8999  put(n = 1) x 9
            9000  clear
            9001  close
        "#]]
        .assert_eq(&trace_table(&trace, TraceDetail::Changes, 0, Paint::Plain));
        trace.rows[1].action = "put".repeat(40);
        let text = trace_table(&trace, TraceDetail::Changes, 0, Paint::Plain);
        assert!(text.contains("(these 2 steps) x 900, the last time shown:"), "{text}");
    }
}
