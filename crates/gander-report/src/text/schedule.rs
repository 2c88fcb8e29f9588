//! The schedule of a check as a table: which engines ran, and why.

use std::fmt::Write;

use crate::view::{EngineView, ScheduleView};

/// The table; one line for each engine, in the order of the portfolio.
pub fn schedule_text(schedule: &ScheduleView) -> String {
    let mut out = String::new();
    if schedule.model.is_empty() {
        out.push_str("schedule: the engines that were named, or that begin at once\n");
    } else {
        let _ = writeln!(out, "schedule: {}", schedule.model);
    }
    if let Some((name, about)) = &schedule.plan {
        let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
        let _ = writeln!(out, "plan {name}{about}");
    }
    let head =
        ["engine", "share", "claims", "began", "turns", "time", "settled", "facts", "ending"]
            .map(String::from);
    let rows: Vec<[String; 9]> =
        std::iter::once(head).chain(schedule.engines.iter().map(row)).collect();
    let widths: Vec<usize> =
        (0..9).map(|i| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0)).collect();
    for row in &rows {
        let mut line = String::from(" ");
        for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Words to the left, numbers to the right.
            let _ = if i == 0 || i == 8 {
                write!(line, " {cell:<width$} ")
            } else {
                write!(line, " {cell:>width$} ")
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn row(e: &EngineView) -> [String; 9] {
    [
        e.engine.clone(),
        e.share.to_string(),
        e.claims.to_string(),
        e.began.map_or("-".to_string(), time),
        e.turns.to_string(),
        time(e.used),
        e.settled.to_string(),
        e.facts.to_string(),
        e.ending.clone(),
    ]
}

fn time(seconds: f64) -> String {
    if seconds >= 1.0 { format!("{seconds:.2} s") } else { format!("{:.1} ms", seconds * 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let engine = |name: &str, began| EngineView {
            engine: name.to_string(),
            share: 0.5,
            after: 0.0,
            claims: 3,
            began,
            turns: 12,
            used: 1.25,
            settled: 1,
            facts: 0,
            ending: "stopped".to_string(),
        };
        let schedule = ScheduleView {
            model: "1 node".to_string(),
            plan: Some(("general".to_string(), "every other model".to_string())),
            engines: vec![engine("bmc", Some(0.0012)), engine("induction", None)],
        };
        assert_eq!(
            schedule_text(&schedule),
            "schedule: 1 node\n\
             plan general (every other model)\n  \
             engine     share  claims   began  turns    time  settled  facts  ending\n  \
             bmc          0.5       3  1.2 ms     12  1.25 s        1      0  stopped\n  \
             induction    0.5       3       -     12  1.25 s        1      0  stopped\n"
        );
    }
}
