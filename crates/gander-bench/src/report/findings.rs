//! Lists of rows and files that need attention.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::cell;
use crate::results::record::Ending;
use crate::score::{Attempt, Score, Scoreboard};
use crate::verdict::{Expected, Verdict};

/// Names listed before the rest is only counted.
const NAMES: usize = 8;

/// Rows where a tool contradicts the manifest, another tool or itself.
pub(super) fn disagreements(scoreboard: &Scoreboard) -> String {
    let mut lines = String::new();
    let mut count = 0;
    for (f, b) in scoreboard.suite.benchmarks.iter().enumerate() {
        for (i, row) in b.rows.iter().enumerate() {
            let of_row = |a: &Attempt| (a.rows[i].verdict, a.rows[i].score, a.unstable);
            count += disagreement(
                scoreboard,
                f,
                row.property.as_deref(),
                row.expected,
                &row.evidence,
                of_row,
                &mut lines,
            );
        }
        // Tools may contradict each other about the whole file and not about any row.
        let rows_agree = b.rows.iter().all(|r| r.property.is_some());
        let wrong_row = |a: &Attempt| a.rows.iter().any(|r| r.score == Score::Wrong);
        let shown = scoreboard.attempts.iter().any(|t| t[f].as_ref().is_some_and(wrong_row));
        if rows_agree && !shown && b.rows.len() > 1 {
            let evidence = "follows from its rows";
            let of_file = |a: &Attempt| (a.verdict, a.score, a.unstable);
            count += disagreement(scoreboard, f, None, b.expected(), evidence, of_file, &mut lines);
        }
    }
    if count == 0 {
        return "\n## Disagreements\n\nNone.\n".into();
    }
    format!(
        "\n## Disagreements ({count})\n\nA tool contradicts the manifest, another tool or itself.\n\n\
         | file | property | expected | evidence | verdicts |\n|---|---|---|---|---|\n{lines}"
    )
}

fn disagreement(
    scoreboard: &Scoreboard,
    file: usize,
    property: Option<&str>,
    expected: Expected,
    evidence: &str,
    result: impl Fn(&Attempt) -> (Verdict, Score, bool),
    lines: &mut String,
) -> usize {
    let (mut valid, mut invalid, mut bad) = (false, false, false);
    let mut words = Vec::new();
    for (c, contender) in scoreboard.contenders.iter().enumerate() {
        let Some(a) = &scoreboard.attempts[c][file] else { continue };
        let (verdict, score, unstable) = result(a);
        valid |= verdict == Verdict::Valid;
        invalid |= verdict == Verdict::Invalid;
        bad |= score == Score::Wrong || unstable;
        let mut word = format!("{}: {verdict}", contender.label);
        if score == Score::Wrong {
            word = format!("**{word}**");
        }
        if unstable {
            word += " (rounds differ)";
        }
        words.push(word);
    }
    if !(bad || valid && invalid) {
        return 0;
    }
    let _ = writeln!(
        lines,
        "| {} | {} | {expected} | {} | {} |",
        cell(&scoreboard.suite.benchmarks[file].path),
        cell(property.unwrap_or("-")),
        cell(evidence),
        cell(&words.join("; "))
    );
    1
}

/// The number of right answers by engine, if tools print the engine.
pub(super) fn engines(scoreboard: &Scoreboard) -> String {
    let mut lines = String::new();
    for &c in &scoreboard.live() {
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for row in scoreboard.attempts[c].iter().flatten().flat_map(|a| &a.rows) {
            let Some(engine) = row.answer.as_ref().and_then(|a| a.engine.as_deref()) else {
                continue;
            };
            let count = counts.entry(engine).or_default();
            match (row.score, row.verdict) {
                (Score::Solved | Score::Extra, Verdict::Valid) => count.0 += 1,
                (Score::Solved | Score::Extra, Verdict::Invalid) => count.1 += 1,
                _ => {}
            }
        }
        for (engine, (valid, invalid)) in counts {
            let label = cell(&scoreboard.contenders[c].label);
            let _ = writeln!(lines, "| {label} | {} | {valid} | {invalid} |", cell(engine));
        }
    }
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\n## Named properties by engine\n\nSolved or extra.\n\n| tool | engine | valid | invalid |\n|---|---|--:|--:|\n{lines}"
    )
}

pub(super) fn crashes(scoreboard: &Scoreboard) -> String {
    let mut lines = String::new();
    let mut count = 0;
    for (f, b) in scoreboard.suite.benchmarks.iter().enumerate() {
        for (c, contender) in scoreboard.contenders.iter().enumerate() {
            let Some(record) = scoreboard.attempts[c][f].as_ref().and_then(|a| a.record.as_ref())
            else {
                continue;
            };
            if record.ending != Ending::Crashed {
                continue;
            }
            count += 1;
            let how = match (record.signal, record.exit) {
                (Some(signal), _) => format!("signal {signal}"),
                (None, Some(exit)) => format!("exit {exit}"),
                (None, None) => "?".into(),
            };
            let words: String =
                record.last_words.as_deref().unwrap_or_default().chars().take(300).collect();
            let _ = writeln!(
                lines,
                "| {} | {} | {how} | {} |",
                cell(&b.path),
                cell(&contender.label),
                cell(&words)
            );
        }
    }
    if count == 0 {
        return "\n## Crashes\n\nNone.\n".into();
    }
    format!(
        "\n## CRASHES ({count})\n\n| file | tool | how | last words |\n|---|---|---|---|\n{lines}"
    )
}

/// Files that were rejected by mistake, by tool and message.
pub(super) fn rejections(scoreboard: &Scoreboard) -> String {
    let mut out = String::from("\n## Rejected files\n");
    let mut any = false;
    for &c in &scoreboard.live() {
        let mut groups: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for (f, b) in scoreboard.suite.benchmarks.iter().enumerate() {
            let Some(a) = &scoreboard.attempts[c][f] else { continue };
            let Some(d) = a.record.as_ref().and_then(|r| r.diagnostic.as_ref()) else { continue };
            if b.expected() == Expected::Error {
                continue;
            }
            let place = d.line.map(|l| format!(":{l}")).unwrap_or_default();
            let key = (d.code.clone(), general(&d.message));
            groups.entry(key).or_default().push(format!("{}{place}", b.path));
        }
        if groups.is_empty() {
            continue;
        }
        any = true;
        let total: usize = groups.values().map(Vec::len).sum();
        let _ = write!(
            out,
            "\n### {} ({total})\n\n| n | code | message | files |\n|--:|---|---|---|\n",
            scoreboard.contenders[c].label
        );
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
        for ((code, message), files) in groups {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                files.len(),
                cell(&code),
                cell(&message),
                cell(&few(&files))
            );
        }
    }
    if !any {
        out += "\nNone.\n";
    }
    out
}

/// The first line of a message, with `#` for each number, so that equal messages are counted
/// together.
fn general(message: &str) -> String {
    let first: String = message.lines().next().unwrap_or_default().chars().take(200).collect();
    let mut out = String::new();
    let mut in_digits = false;
    for c in first.chars() {
        if c.is_ascii_digit() {
            if !in_digits {
                out.push('#');
            }
            in_digits = true;
        } else {
            in_digits = false;
            out.push(c);
        }
    }
    out
}

pub(super) fn vacuous(scoreboard: &Scoreboard) -> String {
    let mut lines = String::new();
    for (f, b) in scoreboard.suite.benchmarks.iter().enumerate() {
        for (c, contender) in scoreboard.contenders.iter().enumerate() {
            if scoreboard.attempts[c][f]
                .as_ref()
                .and_then(|a| a.record.as_ref())
                .is_some_and(|r| r.vacuous)
            {
                let _ = writeln!(
                    lines,
                    "- {}: {} (expected {})",
                    contender.label,
                    b.path,
                    b.expected()
                );
            }
        }
    }
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\n## Success without any property\n\nCounted as valid; are properties lost?\n\n{lines}"
    )
}

/// Rows that no contender or not every contender solved, with the reasons.
pub(super) fn unsolved(scoreboard: &Scoreboard) -> String {
    let live = scoreboard.live();
    let mut out = String::from("\n## Unsolved\n");
    let mut any = false;
    for (f, b) in scoreboard.suite.benchmarks.iter().enumerate() {
        let mut notes = String::new();
        for &c in &live {
            let Some(a) = &scoreboard.attempts[c][f] else { continue };
            if matches!(a.score, Score::Unsupported | Score::Crash) {
                continue;
            }
            let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (i, row) in b.rows.iter().enumerate() {
                let open = matches!(
                    a.rows[i].score,
                    Score::Timeout | Score::Memout | Score::GaveUp | Score::NotReported
                );
                if open {
                    let name = row.property.clone().unwrap_or_else(|| "-".into());
                    groups
                        .entry(reasons(a, i))
                        .or_default()
                        .push(format!("{name} ({})", row.expected));
                }
            }
            for (why, names) in groups {
                let _ = writeln!(
                    notes,
                    "  - {}: {}: {why}",
                    scoreboard.contenders[c].label,
                    few(&names)
                );
            }
        }
        if !notes.is_empty() {
            any = true;
            let _ = write!(out, "\n- {} (expected {})\n{notes}", b.path, b.expected());
        }
    }
    if !any {
        out += "\nNothing.\n";
    }
    out
}

fn reasons(attempt: &Attempt, row: usize) -> String {
    let result = &attempt.rows[row];
    let mut words = vec![result.score.word().to_string()];
    // A row about the whole file is open because some of its properties are.
    let whole: Vec<_> = match (&result.answer, &attempt.record) {
        (Some(answer), _) => vec![answer],
        (None, Some(record)) => {
            record.properties.iter().filter(|p| !p.verdict.is_decided()).take(3).collect()
        }
        (None, None) => Vec::new(),
    };
    for answer in whole {
        if let Some(depth) = answer.explored_through {
            words.push(format!("explored through {depth}"));
        }
        for why in &answer.why {
            words.push(format!("{}: {}", why.engine, general(&why.reason)));
        }
    }
    words.dedup();
    words.join("; ").replace('\n', " ")
}

fn few(names: &[String]) -> String {
    let shown = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMES) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}
