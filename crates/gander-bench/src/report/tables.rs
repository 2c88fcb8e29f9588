//! Tables: solved files and times by tool.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::cell;
use crate::results::folder::Contents;
use crate::score::{Scoreboard, Summary};

pub(super) fn introduction(contents: &Contents, scoreboard: &Scoreboard) -> String {
    let request = &contents.request;
    let rows: usize = scoreboard.suite.benchmarks.iter().map(|b| b.rows.len()).sum();
    let mut out = String::from("# Benchmark report\n\n");
    let _ = writeln!(
        out,
        "{} files, {rows} rows; limits of a job: {} s, {} MB; rounds: {}; jobs at a time: {}.\n",
        scoreboard.suite.benchmarks.len(),
        scoreboard.time_limit,
        request.memory_limit_mb,
        request.rounds,
        request.workers
    );
    for tool in &request.tools {
        let _ = writeln!(out, "- {}: {}; `{}`", tool.label, tool.build, tool.arguments);
    }
    for missing in &request.missing {
        let _ = writeln!(out, "- **not run**: {missing}");
    }
    let done: usize = contents.jobs.values().map(Vec::len).sum();
    let gaps: usize = scoreboard
        .live()
        .iter()
        .map(|&c| scoreboard.attempts[c].iter().filter(|a| a.is_none()).count())
        .sum();
    let _ = writeln!(
        out,
        "\n{done} jobs done. Pairs of tool and file without a job (other language, or not run yet): {gaps}."
    );
    if !contents.bad_lines.is_empty() {
        let _ = writeln!(
            out,
            "\n**Lines of the results file that cannot be read: {:?}.**",
            contents.bad_lines
        );
    }
    out
}

pub(super) fn overall(scoreboard: &Scoreboard) -> String {
    let all: Vec<usize> = (0..scoreboard.suite.benchmarks.len()).collect();
    let live = scoreboard.live();
    let mut out = String::from("\n## Files\n\n");
    out += &table(scoreboard, &live, &scoreboard.summarise_files(&live, &all));
    out += "\n## Properties (rows of the manifest)\n\n";
    out += &table(scoreboard, &live, &scoreboard.summarise_rows(&live, &all));
    out += "\nknown: the expected verdict is known. extra: answered though nothing is known. PAR-2: mean seconds, unsolved \
            counting twice the limit. unique: solved by no other tool of the table. crashes count whatever was answered \
            before. median and max are of what is solved; exit is the median from start to exit of all jobs.\n";
    out
}

pub(super) fn by_set(scoreboard: &Scoreboard) -> String {
    let sets: BTreeSet<(&str, &str)> =
        scoreboard.suite.benchmarks.iter().map(|b| (b.language.as_str(), b.set.as_str())).collect();
    let live = scoreboard.live();
    let mut out = format!("\n## Files by set\n\n{}", head(&["set", "tool"]));
    for (language, set) in sets {
        let files: Vec<usize> = (0..scoreboard.suite.benchmarks.len())
            .filter(|&f| {
                scoreboard.suite.benchmarks[f].language == language
                    && scoreboard.suite.benchmarks[f].set == set
            })
            .collect();
        for (c, s) in live.iter().zip(scoreboard.summarise_files(&live, &files)) {
            out += &line(&[&format!("{language}: {set}"), &scoreboard.contenders[*c].label], &s);
        }
    }
    out
}

/// Recorded contenders that answered the same files, with these files.
pub(super) fn recorded_groups(scoreboard: &Scoreboard) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for c in (0..scoreboard.contenders.len()).filter(|c| scoreboard.contenders[*c].is_recorded) {
        let files: Vec<usize> = (0..scoreboard.suite.benchmarks.len())
            .filter(|f| scoreboard.attempts[c][*f].is_some())
            .collect();
        match groups.iter_mut().find(|(_, same)| *same == files) {
            Some((contenders, _)) => contenders.push(c),
            None if files.is_empty() => {}
            None => groups.push((vec![c], files)),
        }
    }
    groups
}

pub(super) fn recorded(contents: &Contents, scoreboard: &Scoreboard) -> String {
    let mut out = String::new();
    for (recorded, files) in recorded_groups(scoreboard) {
        let contenders: Vec<usize> = scoreboard.live().into_iter().chain(recorded).collect();
        let _ = write!(out, "\n## Beside recorded peers ({} files)\n\n", files.len());
        out += &table(scoreboard, &contenders, &scoreboard.summarise_files(&contenders, &files));
        let limit = contents.request.recorded_limit;
        let _ = write!(out, "\nRecorded elsewhere, with a limit of {limit} s");
        if limit < scoreboard.time_limit {
            out += ", which is less than the tools had that were run here";
        }
        out += "; answers later than the limit of this run do not count.\n";
    }
    out
}

const COLUMNS: [&str; 18] = [
    "n",
    "known",
    "solved",
    "valid",
    "invalid",
    "**wrong**",
    "**crashes**",
    "unsupported",
    "timeout",
    "memout",
    "gave up",
    "extra",
    "unique",
    "PAR-2 s",
    "median s",
    "max s",
    "exit s",
    "peak MB",
];

fn table(scoreboard: &Scoreboard, contenders: &[usize], lines: &[Summary]) -> String {
    let mut out = head(&["tool"]);
    for (c, s) in contenders.iter().zip(lines) {
        out += &line(&[&scoreboard.contenders[*c].label], s);
    }
    out
}

/// The head of a table whose lines begin with these columns.
fn head(names: &[&str]) -> String {
    let all: Vec<&str> = names.iter().chain(&COLUMNS).copied().collect();
    format!(
        "| {} |\n{}{}|\n",
        all.join(" | "),
        "|---".repeat(names.len()),
        "|--:".repeat(COLUMNS.len())
    )
}

fn line(names: &[&str], s: &Summary) -> String {
    let loud = |n: usize| if n == 0 { "0".to_string() } else { format!("**{n}**") };
    let mut cells: Vec<String> = names.iter().map(|n| cell(n)).collect();
    cells.extend(
        [s.total, s.known, s.solved, s.solved_valid, s.solved_invalid].map(|n| n.to_string()),
    );
    cells.extend([s.wrong, s.crashes].map(loud));
    cells.extend(
        [s.unsupported, s.timeouts, s.memouts, s.gave_up, s.extra, s.unique].map(|n| n.to_string()),
    );
    cells.push(seconds((s.known > 0).then_some(s.par2)));
    cells.extend([s.median_seconds, s.max_seconds, s.median_all_seconds].map(seconds));
    cells.push(s.peak_mb.map_or("-".into(), |m| format!("{m:.0}")));
    format!("| {} |\n", cells.join(" | "))
}

fn seconds(value: Option<f64>) -> String {
    value.map_or("-".into(), |v| format!("{v:.3}"))
}

/// A line for each row of the manifest and tool.
pub fn rows_csv(scoreboard: &Scoreboard) -> Result<String, String> {
    let head = [
        "path",
        "language",
        "set",
        "property",
        "expected",
        "tool",
        "verdict",
        "score",
        "seconds",
        "engine",
        "explored_through",
        "evidence",
    ];
    csv_text(&head, |put| {
        for (f, b) in scoreboard.suite.benchmarks.iter().enumerate() {
            for (i, row) in b.rows.iter().enumerate() {
                for (c, contender) in scoreboard.contenders.iter().enumerate() {
                    let Some(a) = &scoreboard.attempts[c][f] else { continue };
                    let result = &a.rows[i];
                    let answer = result.answer.as_ref();
                    put(&[
                        &b.path,
                        &b.language,
                        &b.set,
                        row.property.as_deref().unwrap_or("-"),
                        &row.expected.to_string(),
                        &contender.label,
                        &result.verdict.to_string(),
                        result.score.word(),
                        &format!("{:.3}", result.seconds),
                        answer.and_then(|a| a.engine.as_deref()).unwrap_or_default(),
                        &answer
                            .and_then(|a| a.explored_through)
                            .map(|n| n.to_string())
                            .unwrap_or_default(),
                        &row.evidence,
                    ])?;
                }
            }
        }
        Ok(())
    })
}

/// A line for each file and tool.
pub fn files_csv(scoreboard: &Scoreboard) -> Result<String, String> {
    let head = [
        "path",
        "language",
        "set",
        "expected",
        "tool",
        "verdict",
        "score",
        "seconds",
        "cpu_seconds",
        "peak_mb",
        "exit",
        "signal",
        "code",
        "message",
    ];
    csv_text(&head, |put| {
        for (f, b) in scoreboard.suite.benchmarks.iter().enumerate() {
            for (c, contender) in scoreboard.contenders.iter().enumerate() {
                let Some(a) = &scoreboard.attempts[c][f] else { continue };
                let record = a.record.as_ref();
                let number = |n: Option<i32>| n.map(|n| n.to_string()).unwrap_or_default();
                let diagnostic = record.and_then(|r| r.diagnostic.as_ref());
                put(&[
                    &b.path,
                    &b.language,
                    &b.set,
                    &b.expected().to_string(),
                    &contender.label,
                    &a.verdict.to_string(),
                    a.score.word(),
                    &format!("{:.3}", a.seconds),
                    &record.map(|r| format!("{:.2}", r.cpu_seconds)).unwrap_or_default(),
                    &record.map(|r| format!("{:.1}", r.peak_mb)).unwrap_or_default(),
                    &number(record.and_then(|r| r.exit)),
                    &number(record.and_then(|r| r.signal)),
                    diagnostic.map(|d| d.code.as_str()).unwrap_or_default(),
                    diagnostic.map(|d| d.message.as_str()).unwrap_or_default(),
                ])?;
            }
        }
        Ok(())
    })
}

type Put<'a> = dyn FnMut(&[&str]) -> Result<(), String> + 'a;

fn csv_text(
    head: &[&str],
    fill: impl FnOnce(&mut Put<'_>) -> Result<(), String>,
) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut put = |fields: &[&str]| {
        writer
            .write_record(fields.iter().map(|f| gander_text::csv::defused(f)))
            .map_err(|e| e.to_string())
    };
    put(head)?;
    fill(&mut put)?;
    let bytes = writer.into_inner().map_err(|e| e.to_string())?;
    String::from_utf8(bytes).map_err(|e| e.to_string())
}
