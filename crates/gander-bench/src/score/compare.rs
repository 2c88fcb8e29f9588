//! Compares two runs: newly solved, lost, faster and slower files.

use std::collections::HashMap;
use std::fmt::Write;

use crate::score::{Attempt, Score, Scoreboard, median};
use crate::verdict::Verdict;

/// A tool in the first run and a tool in the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Contender of the first run.
    pub before: usize,
    /// Contender of the second run.
    pub after: usize,
}

/// What changed from one run to the other, for one pair of tools. Files are those that both
/// attempted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Change {
    /// Files that both attempted.
    pub files: usize,
    /// Solved in both.
    pub both: usize,
    /// Properties solved in the second run only, as `file property`.
    pub gained: Vec<String>,
    /// Properties solved in the first run only, with the score they have now.
    pub lost: Vec<(String, Score)>,
    /// Wrong in the second run only.
    pub newly_wrong: Vec<String>,
    /// Valid in one and invalid in the other.
    pub contrary: Vec<String>,
    /// Median of the ratios (second by first) of the seconds of files solved in both.
    pub median_ratio: Option<f64>,
    /// Files at least twice as fast, the best first, with their seconds before and after.
    pub faster: Vec<(String, f64, f64)>,
    /// Files at least twice as slow, the worst first, with their seconds before and after.
    pub slower: Vec<(String, f64, f64)>,
}

/// Seconds; shorter times are noise and count as this.
const NOISE: f64 = 0.02;

/// Pairs contenders of the same label.
pub fn pairs(before: &Scoreboard, after: &Scoreboard) -> Vec<Pair> {
    let same = |b: usize| {
        let label = &before.contenders[b].label;
        after
            .contenders
            .iter()
            .position(|c| c.label == *label)
            .map(|after| Pair { before: b, after })
    };
    (0..before.contenders.len())
        .filter(|b| !before.contenders[*b].is_recorded)
        .filter_map(same)
        .collect()
}

/// What changed for a pair of tools.
pub fn compare(before: &Scoreboard, after: &Scoreboard, pair: Pair) -> Change {
    let places: HashMap<&str, usize> =
        after.suite.benchmarks.iter().enumerate().map(|(i, b)| (b.path.as_str(), i)).collect();
    let mut change = Change::default();
    let mut ratios = Vec::new();
    for (f, b) in before.suite.benchmarks.iter().enumerate() {
        let Some(&g) = places.get(b.path.as_str()) else { continue };
        let (Some(old), Some(new)) =
            (&before.attempts[pair.before][f], &after.attempts[pair.after][g])
        else {
            continue;
        };
        change.files += 1;
        let now = &after.suite.benchmarks[g];
        for (i, row) in b.rows.iter().enumerate() {
            let Some(j) = now.rows.iter().position(|r| r.property == row.property) else {
                continue;
            };
            let name = format!("{} {}", b.path, row.property.as_deref().unwrap_or("-"));
            change.note_row(name, old, i, new, j);
        }
        if old.score == Score::Solved && new.score == Score::Solved {
            change.both += 1;
            let ratio = new.seconds.max(NOISE) / old.seconds.max(NOISE);
            ratios.push(ratio);
            let line = (b.path.clone(), old.seconds, new.seconds);
            if ratio >= 2.0 {
                change.slower.push(line);
            } else if ratio <= 0.5 {
                change.faster.push(line);
            }
        }
    }
    change.median_ratio = median(&mut ratios);
    let ratio = |l: &(String, f64, f64)| l.2.max(NOISE) / l.1.max(NOISE);
    change.slower.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    change.faster.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    change
}

impl Change {
    fn note_row(&mut self, name: String, old: &Attempt, i: usize, new: &Attempt, j: usize) {
        let (old, new) = (&old.rows[i], &new.rows[j]);
        let good = |s: Score| matches!(s, Score::Solved | Score::Extra);
        if new.score == Score::Wrong && old.score != Score::Wrong {
            self.newly_wrong.push(name.clone());
        }
        let opposite = [(Verdict::Valid, Verdict::Invalid), (Verdict::Invalid, Verdict::Valid)];
        if opposite.contains(&(old.verdict, new.verdict)) {
            self.contrary.push(name.clone());
        }
        match (good(old.score), good(new.score)) {
            (false, true) => self.gained.push(name),
            (true, false) => self.lost.push((name, new.score)),
            _ => {}
        }
    }

    /// The change as Markdown.
    pub fn markdown(&self, before: &str, after: &str) -> String {
        let mut out = String::new();
        let title =
            if before == after { before.to_string() } else { format!("{before} → {after}") };
        let ratio = self.median_ratio.map_or("-".into(), |r| format!("{r:.2}"));
        let _ = writeln!(
            out,
            "## {title}\n\n{} files in both; {} solved in both, median ratio of seconds (second by first) {ratio}.\n",
            self.files, self.both
        );
        let mut list = |head: &str, lines: Vec<String>| {
            let _ = writeln!(out, "{head}: {}", lines.len());
            for line in lines {
                let _ = writeln!(out, "- {line}");
            }
        };
        list("**Newly wrong**", self.newly_wrong.clone());
        list("**Contrary verdicts**", self.contrary.clone());
        list("Newly solved", self.gained.clone());
        list("Lost", self.lost.iter().map(|(n, s)| format!("{n} ({})", s.word())).collect());
        let timed = |l: &Vec<(String, f64, f64)>| {
            l.iter().map(|(n, a, b)| format!("{n}: {a:.3} s, {b:.3} s")).collect()
        };
        list("At least twice as slow", timed(&self.slower));
        list("At least twice as fast", timed(&self.faster));
        out
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
